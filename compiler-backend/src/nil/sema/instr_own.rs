//! The language's own instructions: `SWAP`, `NEG`, `INC`, `FLIP`, `INV`, `ROT`, and their kin.

use pendula_isa::table::Row;
use pendula_isa::{Acc, Ty};

use super::assign::unchangeable;
use super::body::{Body, Sink};
use super::instr::operands;
use super::places::distinct;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::ir::{Operand, Place, Stmt, invert};
use crate::nil::ast::Span;
use crate::nil::codes;

impl Body<'_, '_> {
    /// One of the language's own instructions. Gives whether there is one with this name.
    pub(super) fn instruction_stmt(
        &mut self,
        name: &str,
        mut values: Vec<Value>,
        spans: &[Span],
        span: &Span,
    ) -> Done<bool> {
        let partner = matches!(name, "DEC" | "IROT" | "POP!" | "COPYPOP!");
        let Some(expected) = operands(name) else { return Ok(false) };
        if values.len() != expected {
            let expected = pendula_isa::diagnostic::plural(expected, "argument");
            let message = format!("`{name}` takes {expected}, found {}", values.len());
            return self.fail(span, codes::ARGUMENTS, message, "give as many");
        }
        if let ("SWAP", [Value::Array(a), Value::Array(b)], [at_a, at_b]) = (name, values.as_slice(), spans) {
            return self.exchange_arrays(a, b, [at_a, at_b], span).map(|()| true);
        }
        let changed = if expected == 3 { 2 } else { expected };
        let mut places = Vec::new();
        for (v, at) in values.iter().zip(spans).take(changed) {
            match self.targets(v) {
                Some(p) => places.push(p),
                None => {
                    let message = unchangeable(v);
                    return self.fail(
                        at,
                        codes::NOT_ASSIGNABLE,
                        message,
                        "give a variable, an element or a field; of arrays, put a point after the name",
                    );
                }
            }
        }
        let all: Vec<Place> = places.iter().flatten().copied().collect();
        for p in &all {
            self.writable(*p, span)?;
        }
        let shared = if name == "SWAP" { self.keep_swapped_apart(&places, span)? } else { Vec::new() };
        if name != "SWAP" {
            self.keep_all_apart(&all, span)?;
        }
        let reads = self.now.reads.clone();
        self.keep_apart(&all, &reads, span)?;
        for (v, at) in values.iter_mut().zip(spans).take(changed) {
            *v = self.plain(v.clone(), name, at)?;
        }
        let outer = std::mem::take(&mut self.now.out);
        let done = match name {
            "SWAP" => self.swap(&values, &places, &shared, span),
            "NEG" => self.neg_stmt(&values[0], span),
            "INC" | "DEC" => self.inc(&values[0], &all, span),
            "FLIP" => match &values[0] {
                Value::Bool(ScalarExpr::Place(p)) => {
                    self.accumulate(Sink::Out, *p, Ty::Int, Acc::Xor, false, ScalarExpr::Const(1))
                }
                other => {
                    let message = format!("`FLIP` is for truth values, found {}", other.describe());
                    self.fail(span, codes::TYPE, message, "of numbers, use `NEG` or `⊻=`")
                }
            },
            "CONJ" => match &values[0] {
                Value::Complex(_, im, Some(ty)) => self.neg_stmt(&Value::Num(im.clone(), Some(*ty)), span),
                Value::Num(..) => Ok(()),
                other => {
                    let message = format!("`CONJ` is for numbers, found {}", other.describe());
                    self.fail(span, codes::TYPE, message, "put a point after the name for arrays")
                }
            },
            "INV" => self.inv(&values[0], span),
            "ROT" | "IROT" => {
                let angle = values.pop().ok_or(Stop)?;
                self.rot(&values, angle, &all, span)
            }
            "HADAMARD" => {
                let quarter = Value::Num(ScalarExpr::Lit(Literal::Float(std::f64::consts::FRAC_PI_4)), None);
                self.neg_stmt(&values[1], span)?;
                match values.as_slice() {
                    // The real parts, and the imaginary parts.
                    [Value::Complex(a, b, s), Value::Complex(c, d, t)] => {
                        let [re, im] = [[(a, s), (c, t)], [(b, s), (d, t)]]
                            .map(|pair| pair.map(|(x, ty)| Value::Num(x.clone(), *ty)));
                        self.rot(&re, quarter.clone(), &all, span)?;
                        self.rot(&im, quarter, &all, span)
                    }
                    values => self.rot(values, quarter, &all, span),
                }
            }
            _ => {
                self.fits_stack(&values[0], span)?;
                all.iter().try_for_each(|p| self.push(*p, &values[0], name.starts_with("COPY")))
            }
        };
        let block = std::mem::replace(&mut self.now.out, outer);
        done?;
        self.now.out.extend(if partner { invert::block(&block) } else { block });
        Ok(true)
    }

    fn permute(&mut self, row: Row, ty: Ty, args: Vec<Operand>) {
        self.emit(Sink::Out, Stmt::Permute { row, inverse: false, ty, args });
    }

    /// Refuses to exchange places that are the same word. A word may be exchanged with itself if this is known at run
    /// time only: gives these words.
    fn keep_swapped_apart(&mut self, places: &[Vec<Place>], span: &Span) -> Done<Vec<Place>> {
        let [left, right] = places else { return Err(Stop) };
        let mut shared = Vec::new();
        self.keep_all_apart(left, span)?;
        self.keep_all_apart(right, span)?;
        for (n, a) in left.iter().enumerate() {
            for (m, b) in right.iter().enumerate() {
                match (a, b) {
                    (Place::Mem(x), Place::Mem(y)) if n == m && x.region == y.region && distinct(x, y).is_none() => {
                        shared.push(*a);
                    }
                    _ => self.keep_all_apart(&[*a, *b], span)?,
                }
            }
        }
        Ok(shared)
    }

    fn swap(&mut self, values: &[Value], places: &[Vec<Place>], shared: &[Place], span: &Span) -> Done<()> {
        if values[0].type_of() != values[1].type_of() {
            let message = format!("{} and {} cannot be exchanged", values[0].describe(), values[1].describe());
            return self.fail(span, codes::TYPE, message, "both must have one type");
        }
        let types = values[0].type_of().map_or_else(Vec::new, |t| t.word_types());
        for ((a, b), ty) in places[0].iter().zip(&places[1]).zip(types) {
            let (a, b) = (Operand::from(*a), Operand::from(*b));
            if !shared.iter().any(|p| Operand::from(*p) == a) {
                self.permute(Row::Swap, Ty::Int, vec![a, b]);
                continue;
            }
            // Two ancillas are used, so that a word that is exchanged with itself keeps its value: the second exchange
            // finds zero.
            let [s, t] = [(); 2].map(|()| self.fresh("SWAP.value", ty));
            let checks = crate::ir::AncillaChecks::NONE;
            for (var, free) in [(s, false), (t, false)] {
                self.emit(Sink::Out, Stmt::Ancilla { var, free, checks });
            }
            for (var, word) in [(s, a), (t, b), (t, a), (s, b)] {
                self.permute(Row::Swap, Ty::Int, vec![Operand::Var(var), word]);
            }
            for (var, free) in [(t, true), (s, true)] {
                self.emit(Sink::Out, Stmt::Ancilla { var, free, checks });
            }
        }
        Ok(())
    }

    fn neg_stmt(&mut self, v: &Value, span: &Span) -> Done<()> {
        match v {
            Value::Num(ScalarExpr::Place(p), Some(ty)) => {
                self.permute(Row::Neg, *ty, vec![(*p).into()]);
                Ok(())
            }
            Value::Num(ScalarExpr::Neg(a), ty) => self.neg_stmt(&Value::Num((**a).clone(), *ty), span),
            Value::Complex(a, b, ty) => {
                self.neg_stmt(&Value::Num(a.clone(), *ty), span)?;
                self.neg_stmt(&Value::Num(b.clone(), *ty), span)
            }
            Value::Log(_, Some(sign)) if matches!(**sign, ScalarExpr::Place(_)) => {
                let ScalarExpr::Place(p) = **sign else { return Err(Stop) };
                self.accumulate(Sink::Out, p, Ty::Int, Acc::Xor, false, ScalarExpr::Const(1))
            }
            Value::Struct(_, parts) | Value::Tuple(parts) => parts.iter().try_for_each(|p| self.neg_stmt(p, span)),
            other => {
                let message = format!("`NEG` is for numbers, found {}", other.describe());
                self.fail(span, codes::TYPE, message, "of truth values, use `FLIP`")
            }
        }
    }

    fn inc(&mut self, v: &Value, places: &[Place], span: &Span) -> Done<()> {
        // Of a complex number, the real part.
        let (Value::Num(x, Some(ty)) | Value::Complex(x, _, Some(ty))) = v else {
            let message = format!("`INC` is for numbers, found {}", v.describe());
            return self.fail(span, codes::TYPE, message, "give a number");
        };
        match (ty, x) {
            (Ty::Int, ScalarExpr::Place(p)) => {
                self.count(*p, false);
                Ok(())
            }
            (Ty::L, _) => self.fail(span, codes::FORGETS, "`INC` forgets on ULogarithmic", "multiply: `x *= 2`"),
            (_, ScalarExpr::Neg(_)) | (Ty::Q | Ty::F, _) => {
                let one = self.word(&Literal::Int(1), *ty, span)?;
                let inverse = matches!(x, ScalarExpr::Neg(_));
                self.accumulate(Sink::Out, places[0], *ty, Acc::Add, inverse, ScalarExpr::Const(one))
            }
            _ => Err(Stop),
        }
    }

    /// x := 1/x.
    fn inv(&mut self, v: &Value, span: &Span) -> Done<()> {
        if let Value::Log(ScalarExpr::Place(p), _) = v {
            self.permute(Row::Neg, Ty::F, vec![(*p).into()]);
            return Ok(());
        }
        let Value::Num(ScalarExpr::Place(p), Some(ty @ (Ty::L | Ty::F))) = v else {
            let message = format!("`INV` is for ULogarithmic and Float64, found {}", v.describe());
            return self.fail(span, codes::TYPE, message, "convert the number, or compute 1/x into another variable");
        };
        self.invert_number(Sink::Out, *p, *ty)
    }

    fn rot(&mut self, values: &[Value], angle: Value, places: &[Place], span: &Span) -> Done<()> {
        let (
            Value::Num(ScalarExpr::Place(a), Some(ty @ (Ty::Q | Ty::F))),
            Value::Num(ScalarExpr::Place(b), Some(other)),
        ) = (&values[0], &values[1])
        else {
            let help = "give two variables or elements of type Fixed or Float64";
            return self.fail(span, codes::TYPE, "`ROT` turns two real numbers", help);
        };
        if ty != other {
            return self.fail(span, codes::TYPE, "`ROT` turns two numbers of one type", "convert one of them");
        }
        self.expected_type = Some(*ty);
        let angle = self.number_as(angle, *ty, span);
        self.expected_type = None;
        let angle = self.put(*ty, angle?)?;
        let mut reads = std::mem::take(&mut self.now.reads);
        match angle {
            Operand::Const(_) => {}
            Operand::Var(v) => reads.push(Place::Var(v)),
            Operand::Mem(m) => reads.push(Place::Mem(m)),
        }
        self.keep_apart(places, &reads, span)?;
        self.permute(Row::Rot, *ty, vec![(*a).into(), (*b).into(), angle]);
        Ok(())
    }
}
