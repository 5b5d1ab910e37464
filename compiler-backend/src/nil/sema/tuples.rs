//! Statements over the parts of tuples: `t .+= u`, `SWAP.(t, u)`, and `t += u` where arrays are among the parts.

use super::Done;
use super::assign::{log_type, scalar_type};
use super::body::Body;
use super::instr::operands;
use super::value::{Value, View};
use crate::ir::Operand;
use crate::nil::ast::{self, AssignOp, Span};
use crate::nil::codes;

impl Body<'_, '_> {
    /// `t .+= e` for a tuple t: one statement for each part.
    pub(super) fn assign_parts_of(
        &mut self,
        op: AssignOp,
        parts: Vec<Value>,
        (target, value): (&ast::Expr, &ast::Expr),
        span: &Span,
    ) -> Done<()> {
        let of = parts.len();
        let places: Vec<_> = parts.iter().map(|part| self.targets(part).unwrap_or_default()).collect();
        for (n, to) in parts.into_iter().enumerate() {
            self.statement(|s| {
                (s.expected_type, s.expected_log) = (scalar_type(&to), log_type(&to));
                s.part = Some((n, of));
                let from = s.eval_point(value, true);
                (s.part, s.expected_type, s.expected_log) = (None, None, None);
                let from = from?;
                // A part does not read the others, which change before or after it.
                let mut reads = s.now.reads.clone();
                from.places(&mut |p| reads.push(p));
                for (_, others) in places.iter().enumerate().filter(|(k, _)| *k != n) {
                    s.keep_apart(others, &reads, span)?;
                }
                s.assign(op, to, from, [&target.span, &value.span], span)
            })?;
        }
        Ok(())
    }

    /// `f.(args…)` where the arguments with parts are tuples: one call for each part.
    pub(super) fn call_over_tuples(
        &mut self,
        name: &str,
        inverse: bool,
        args: &[ast::Expr],
        keywords: &[(ast::Name, ast::Expr)],
        span: &Span,
    ) -> Done<()> {
        let (mut of, mut places) = (None, Vec::new());
        for arg in args {
            let value = self.eval(arg)?;
            if let Value::Tuple(parts) = &value {
                of.get_or_insert(parts.len());
                places.extend(self.targets(&value).unwrap_or_default());
            }
        }
        let Some(of) = of else {
            let message = "a call with a point goes over arrays and tuples";
            return self.fail(span, codes::TYPE, message, "leave out the point");
        };
        if operands(name).is_some() {
            self.keep_all_apart(&places, span)?;
        }
        for n in 0..of {
            self.statement(|s| {
                s.part = Some((n, of));
                let given = s.given(args, true);
                s.part = None;
                s.call_named(name, inverse, given?, args, keywords, span)
            })?;
        }
        Ok(())
    }

    /// Refuses tuples of several lengths in one statement.
    pub(super) fn other_lengths(&mut self, [one, other]: [usize; 2], span: &Span) -> Done<Value> {
        let message = format!("tuples of {one} and of {other} parts go together here");
        self.fail(span, codes::DIMENSIONS, message, "the tuples must have one length")
    }

    /// `target op value` of tuples or structs with arrays in them: part by part, and element by element.
    pub(super) fn assign_whole(
        &mut self,
        op: AssignOp,
        to: Value,
        from: Value,
        spans: [&Span; 2],
        span: &Span,
    ) -> Done<()> {
        match (to, from) {
            (Value::Array(to), Value::Array(from)) => self.assign_array(op, &to, &from, spans, span),
            (Value::Tuple(to), Value::Tuple(from)) if to.len() == from.len() => {
                let mut pairs = to.into_iter().zip(from);
                pairs.try_for_each(|(to, from)| self.assign_whole(op, to, from, spans, span))
            }
            (Value::Struct(s, to), Value::Struct(t, from)) if s.name == t.name && to.len() == from.len() => {
                let mut pairs = to.into_iter().zip(from);
                pairs.try_for_each(|(to, from)| self.assign_whole(op, to, from, spans, span))
            }
            (to, from) => self.statement(|s| s.assign(op, to, from, spans, span)),
        }
    }

    /// The same for arrays.
    fn assign_array(&mut self, op: AssignOp, to: &View, from: &View, spans: [&Span; 2], span: &Span) -> Done<()> {
        self.statement(|s| {
            if to.region == from.region {
                s.keep_views_apart(to, from, false, span)?;
            }
            let lens: Vec<Operand> = to.dims.iter().map(|d| d.len).collect();
            s.for_each(&lens, &mut |s, indices| {
                s.statement(|s| {
                    let to = s.at(to, indices, spans[0])?;
                    s.shape.clone_from(&lens);
                    let from = s.at(from, indices, spans[1]);
                    s.shape.clear();
                    s.assign(op, to, from?, spans, span)
                })
            })
        })
    }
}

/// Whether a tuple or a struct has an array in it.
pub(super) fn contains_array(v: &Value) -> bool {
    let array = |part: &Value| matches!(part, Value::Array(_)) || contains_array(part);
    matches!(v, Value::Tuple(parts) | Value::Struct(_, parts) if parts.iter().any(array))
}
