//! The host's global stacks: `PUSH!(x)`, `POP!(x)`, and the stacks for values of one type each.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::Done;
use super::body::{Body, Sink};
use super::value::{Value, mem};
use crate::ir::{AssertKind, LocatedStmt, Mem, Operand, Place, Region, Stmt, Test, identity};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::Type;

/// The number of words that the stack of `PUSH!` has room for.
const STACK: u64 = 1 << 16;

impl Body<'_, '_> {
    /// The number of the host's global stack that an expression names.
    pub(super) fn global_stack(&mut self, e: &ast::Expr) -> Option<usize> {
        let name = match &e.kind {
            ExprKind::Name(name) if self.scopes.find(name).is_none() => name,
            ExprKind::Skip(inner) | ExprKind::Const(inner) => return self.global_stack(inner),
            ExprKind::Field(module, name) if self.is_module(module) => &name.text,
            _ => return None,
        };
        let kind = name.strip_suffix("_STACK")?;
        let known = ["GLOBAL", "FLOAT64", "FLOAT32", "INT64", "INT32", "COMPLEXF64", "COMPLEXF32", "BOOL"];
        let kind = *known.iter().find(|known| **known == kind)?;
        if kind == "GLOBAL" {
            return Some(0);
        }
        let others = &mut self.s.stacks;
        let at = others.iter().position(|other| *other == kind).unwrap_or_else(|| {
            others.push(kind);
            others.len() - 1
        });
        Some(at + 1)
    }

    /// Moves a word to one of the program's stacks; with `copy`, copies it.
    pub(super) fn push(&mut self, p: Place, v: &Value, copy: bool) -> Done<()> {
        let first = self.stack as i64 * STACK.cast_signed();
        self.s.program.stack = self.s.program.stack.max(first.cast_unsigned() + STACK);
        let ty = super::assign::scalar_type(v).unwrap_or(Ty::Int);
        let region = self.stack_region();
        let counter = mem(None, None, first, region);
        // The count has a region of its own, so that the words above it are in another one.
        let words = Region(region.0 + 1);
        let one = |m: Mem| Place::Mem(m);
        let count = self.fresh("stack", Ty::Int);
        let checks = crate::ir::AncillaChecks::NONE;
        let id = TableFn::Int(int_fn::Name::Id);
        let take = vec![
            Stmt::Ancilla { var: count, free: false, checks },
            Stmt::Update {
                acc: Acc::Add,
                inverse: false,
                func: id,
                dst: Place::Var(count),
                args: vec![Operand::Mem(counter)],
            },
        ];
        let top = Mem { base: Some(count), index: None, offset: first + 1, region: words };
        let room = Test::int(Cond::Lt, Operand::Var(count), Operand::Const(STACK - 1));
        let clear = Test::int(Cond::Eq, Operand::Mem(top), Operand::Const(0));
        let full = self.reason(format!("the stack is full: it holds {} words", STACK - 1));
        let empty = self.reason("the stack is empty".to_string());
        let used = self.reason("the word above the stack is not zero".to_string());
        let mut body = vec![Stmt::Assert { test: room, why: AssertKind::Bounds, reason: full }];
        body.push(Stmt::Assert { test: clear, why: AssertKind::User, reason: used });
        body.push(if copy {
            let (acc, func) = (super::accumulator(ty), identity(ty));
            Stmt::Update { acc, inverse: false, func, dst: one(top), args: vec![p.into()] }
        } else {
            Stmt::Permute {
                row: pendula_isa::table::Row::Swap,
                inverse: false,
                ty: Ty::Int,
                args: vec![p.into(), Operand::Mem(top)],
            }
        });
        if !copy && self.checks {
            // The inverse moves the word back to the variable, which must be zero.
            let reason = self.reason("the variable that takes a word from the stack must be zero before".to_string());
            body.push(Stmt::Assert { test: Test { a: p.into(), ..clear }, why: AssertKind::User, reason });
        }
        let loc = self.loc;
        let at = |s: Vec<Stmt>| -> Vec<LocatedStmt> { s.into_iter().map(|s| s.at(loc)).collect() };
        self.emit(Sink::Out, Stmt::With { name: self.span_name(), compute: at(take), body: at(body) });
        self.count(one(counter), false);
        // The inverse begins with this.
        let some = Test::int(Cond::Ge, Operand::Mem(counter), Operand::Const(1));
        self.emit(Sink::Out, Stmt::Assert { test: some, why: AssertKind::Bounds, reason: empty });
        Ok(())
    }

    /// Refuses a value that the host's stack for one type does not take.
    pub(super) fn fits_stack(&mut self, v: &Value, span: &Span) -> Done<()> {
        let Some(kind) = self.stack.checked_sub(1).and_then(|n| self.s.stacks.get(n)).copied() else { return Ok(()) };
        let wanted = match kind {
            _ if kind.starts_with("FLOAT") => Type::Num(Ty::F),
            _ if kind.starts_with("INT") => Type::Num(Ty::Int),
            _ if kind.starts_with("COMPLEX") => Type::Complex(Ty::F),
            _ => Type::Bool,
        };
        if v.type_of().as_ref() == Some(&wanted) {
            return Ok(());
        }
        let message = format!("`{kind}_STACK` is for {wanted}, found {}", v.describe());
        self.fail(span, codes::TYPE, message, "use the stack of its type, or `GLOBAL_STACK`")
    }

    /// The region of the stack's count; the region of its words is the next one.
    fn stack_region(&mut self) -> Region {
        let name = match self.stack {
            0 => "stack".to_string(),
            n => format!("stack {n}"),
        };
        if let Some(n) = self.f.regions.iter().position(|r| r.name == name && r.ty == Ty::Int) {
            return Region(n as u32);
        }
        let first = self.region(&name, Ty::Int);
        self.region(&format!("{name} words"), Ty::Int);
        first
    }
}
