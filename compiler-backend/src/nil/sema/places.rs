//! The places that a statement writes, and the other places of the statement that may be the same word.

use std::collections::{HashMap, HashSet};

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond};

use super::body::{Body, Sink};
use super::value::{Product, ScalarExpr, Value};
use super::{Done, Written};
use crate::ir::effects::written_operands;
use crate::ir::{AssertKind, Block, Condition, IrFunction, LocatedStmt, Mem, Operand, Place, Region, Stmt, Test, Var};
use crate::nil::ast::Span;
use crate::nil::codes;

impl Body<'_, '_> {
    /// The places of a value that can be changed: of a variable, an element, a field, or one of these negated.
    pub(super) fn targets(&self, v: &Value) -> Option<Vec<Place>> {
        fn one(x: &ScalarExpr) -> Option<Place> {
            match x {
                ScalarExpr::Place(p) => Some(*p),
                ScalarExpr::Neg(a) | ScalarExpr::Not(a) | ScalarExpr::Viewed(_, a) => one(a),
                // The view of a logarithm: the number itself changes.
                ScalarExpr::Apply(f, args) if *f == TableFn::Q(pendula_isa::table::q_fn::Name::LogL) => {
                    one(args.first()?)
                }
                _ => None,
            }
        }
        match v {
            Value::Num(x, _) | Value::Bool(x) | Value::Tropical(x, _) => Some(vec![one(x)?]),
            Value::Complex(a, b, _) => Some(vec![one(a)?, one(b)?]),
            Value::Log(log, None) => Some(vec![one(log)?]),
            Value::Log(log, Some(sign)) => Some(vec![one(log)?, one(sign)?]),
            Value::Struct(_, parts) | Value::Tuple(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.targets(part)?);
                }
                Some(all)
            }
            Value::Array(_)
            | Value::Stacked(..)
            | Value::Elements(_)
            | Value::Function(_)
            | Value::Type(_)
            | Value::Range(..) => None,
        }
    }

    /// Refuses a statement that reads what it writes, and emits checks where this is known at run time only.
    pub(super) fn keep_apart(&mut self, writes: &[Place], reads: &[Place], span: &Span) -> Done<()> {
        for w in writes {
            if matches!(w, Place::Mem(m) if self.now.regions_read.contains(&m.region)) {
                return self.reads_its_target(span);
            }
            let address: Vec<Var> = addresses(*w).collect();
            for r in reads.iter().chain(writes) {
                let changed = match w {
                    Place::Var(v) => addresses(*r).any(|a| a == *v),
                    Place::Mem(_) => false,
                };
                let overwritten = matches!((w, r), (Place::Var(_), Place::Mem(_))) && changed;
                if overwritten || (matches!(w, Place::Var(v) if address.contains(v))) {
                    return self.reads_its_target(span);
                }
            }
            for r in reads {
                match (w, r) {
                    (Place::Var(a), Place::Var(b)) if a == b => return self.reads_its_target(span),
                    (Place::Mem(a), Place::Mem(b)) if a.region == b.region => match distinct(a, b) {
                        Some(true) => {}
                        Some(false) => return self.reads_its_target(span),
                        None => self.assert_distinct(*a, *b),
                    },
                    (Place::Var(_) | Place::Mem(_), _) => {}
                }
            }
        }
        Ok(())
    }

    fn reads_its_target<T>(&mut self, span: &Span) -> Done<T> {
        let help = "compute the value into an ancilla first, and undo that afterwards";
        self.fail(span, codes::READS_TARGET, "this statement reads what it writes", help)
    }

    /// Refuses a statement that changes two places that are the same word.
    pub(super) fn keep_all_apart(&mut self, places: &[Place], span: &Span) -> Done<()> {
        for (n, a) in places.iter().enumerate() {
            for b in &places[n + 1..] {
                match (a, b) {
                    (Place::Var(a), Place::Var(b)) if a == b => return self.same_twice(span),
                    (Place::Mem(a), Place::Mem(b)) if a.region == b.region => match distinct(a, b) {
                        Some(true) => {}
                        Some(false) => return self.same_twice(span),
                        None => self.assert_distinct(*a, *b),
                    },
                    (Place::Var(v), Place::Mem(_)) if addresses(*b).any(|a| a == *v) => return self.same_twice(span),
                    (Place::Mem(_), Place::Var(v)) if addresses(*a).any(|a| a == *v) => return self.same_twice(span),
                    (Place::Var(_) | Place::Mem(_), _) => {}
                }
            }
        }
        Ok(())
    }

    fn same_twice<T>(&mut self, span: &Span) -> Done<T> {
        self.fail(
            span,
            codes::ALIAS,
            "a variable is given twice here, and changed",
            "give different variables; copy one of them before",
        )
    }

    /// Emits a check that two words of one region are different.
    pub(super) fn assert_distinct(&mut self, a: Mem, b: Mem) {
        let terms = |m: &Mem, sign: i64| -> Vec<Product> {
            [m.base, m.index]
                .into_iter()
                .flatten()
                .map(|v| Product { factor: sign, ..Product::operand(Operand::Var(v)) })
                .collect()
        };
        let mut left = terms(&a, 1);
        let mut right = terms(&b, 1);
        left.retain(|t| right.iter().position(|u| u == t).map(|n| right.remove(n)).is_none());
        let offset = b.offset.wrapping_sub(a.offset);
        let test = match (left.as_slice(), right.as_slice()) {
            ([x], [y]) if offset == 0 => Test::int(Cond::Ne, x.of[0], y.of[0]),
            _ => {
                left.extend(right.into_iter().map(|t| Product { factor: -1, ..t }));
                let (rest, number) = self.written_out(left);
                let number = offset.wrapping_sub(number);
                let (a, number) = match rest.as_slice() {
                    [] if number != 0 => return,
                    [Product { factor: 1, of }] if of.len() == 1 => (of[0], number),
                    [Product { factor: -1, of }] if of.len() == 1 => (of[0], number.wrapping_neg()),
                    _ => (Operand::Var(self.integer_sum("apart", rest)), number),
                };
                Test::int(Cond::Ne, a, Operand::Const(number.cast_unsigned()))
            }
        };
        let array = self.f.regions.get(a.region.0 as usize).map_or("", |r| r.name.as_str());
        let reason = self.reason(format!("two elements of `{array}`, of which one is changed, are the same"));
        let stmt = Stmt::Assert { test, why: AssertKind::Alias, reason };
        if !self.now.asserts.contains(&stmt) {
            self.now.asserts.push(stmt);
        }
    }

    /// A sum in which the computed sums of this statement are expanded, so that terms of two addresses cancel out; and
    /// its constant part.
    fn written_out(&self, mut todo: Vec<Product>) -> (Vec<Product>, i64) {
        let sums: HashMap<Var, &Vec<Product>> = self.now.addresses.iter().map(|(terms, var)| (*var, terms)).collect();
        // A term with factor 0 marks what is no sum; a word of memory may have changed since.
        let plain = |t: &Product| t.factor != 0 && t.of.iter().all(|o| !matches!(o, Operand::Mem(_)));
        let (mut out, mut number) = (Vec::<Product>::new(), 0i64);
        while let Some(term) = todo.pop() {
            let sum = match term.of[..] {
                [Operand::Var(v)] => sums.get(&v).filter(|terms| terms.iter().all(plain)),
                _ => None,
            };
            if let Some(terms) = sum {
                todo.extend(terms.iter().map(|t| Product { factor: t.factor.wrapping_mul(term.factor), ..t.clone() }));
            } else if term.of.is_empty() {
                number = number.wrapping_add(term.factor);
            } else if let Some(same) = out.iter_mut().find(|t| t.of == term.of) {
                same.factor = same.factor.wrapping_add(term.factor);
            } else {
                out.push(term);
            }
        }
        out.retain(|t| t.factor != 0);
        (out, number)
    }

    /// Adds 1 to an integer place, or subtracts 1.
    pub(super) fn count(&mut self, place: Place, inverse: bool) {
        self.update(Sink::Out, Acc::Add, inverse, TableFn::Int(int_fn::Name::Id), place, vec![Operand::Const(1)]);
    }
}

/// The variables in the address of a place.
pub(super) fn addresses(p: Place) -> impl Iterator<Item = Var> {
    let vars = match p {
        Place::Var(_) => [None, None],
        Place::Mem(m) => [m.base, m.index],
    };
    vars.into_iter().flatten()
}

/// Whether two words of one region are different; `None` if this is unknown.
pub(super) fn distinct(a: &Mem, b: &Mem) -> Option<bool> {
    let parts = |m: &Mem| {
        let mut v = [m.base, m.index];
        v.sort_unstable();
        v
    };
    (parts(a) == parts(b)).then_some(a.offset != b.offset)
}

/// The variables that a block reads or writes, and whether it reads or writes memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses<'w> {
    pub(super) reads: HashSet<Var>,
    pub(super) writes: HashSet<Var>,
    /// The regions that are written.
    pub(super) regions: HashSet<Region>,
    /// The regions that are read.
    pub(super) loads: HashSet<Region>,
    /// Whether it contains a call, which may write memory that is not listed here.
    pub(super) calls: bool,
    written: &'w [Written],
}

impl<'w> Uses<'w> {
    pub(super) fn of(block: &Block, written: &'w [Written]) -> Uses<'w> {
        let mut u = Uses { written, ..Uses::default() };
        u.block(block);
        u
    }

    pub(super) fn of_stmt(stmt: &Stmt, written: &'w [Written]) -> Uses<'w> {
        let mut u = Uses { written, ..Uses::default() };
        u.stmt(stmt);
        u
    }

    pub(super) fn of_condition(c: &Condition, written: &'w [Written]) -> Uses<'w> {
        let mut u = Uses { written, ..Uses::default() };
        u.condition(c);
        u
    }

    fn read(&mut self, o: Operand) {
        match o {
            Operand::Const(_) => {}
            Operand::Var(v) => {
                self.reads.insert(v);
            }
            Operand::Mem(m) => {
                self.loads.insert(m.region);
                self.reads.extend([m.base, m.index].into_iter().flatten());
            }
        }
    }

    /// Whether it reads something that the other changes.
    pub(super) fn depends_on(&self, other: &Uses<'_>) -> bool {
        !self.reads.is_disjoint(&other.writes)
            || !self.loads.is_disjoint(&other.regions)
            || (other.calls && !self.loads.is_empty())
    }

    fn write(&mut self, p: Place) {
        match p {
            Place::Var(v) => {
                self.writes.insert(v);
            }
            Place::Mem(m) => {
                self.regions.insert(m.region);
                self.reads.extend([m.base, m.index].into_iter().flatten());
            }
        }
    }

    fn condition(&mut self, c: &Condition) {
        self.block(&c.compute);
        self.read(c.test.a);
        self.read(c.test.b);
    }

    fn block(&mut self, block: &[LocatedStmt]) {
        for at in block {
            self.stmt(&at.stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Update { dst, args, .. } => {
                self.write(*dst);
                args.iter().for_each(|a| self.read(*a));
            }
            Stmt::Permute { row, args, .. } => {
                let written = written_operands(*row);
                for (n, a) in args.iter().enumerate() {
                    self.read(*a);
                    match a {
                        _ if n >= written => {}
                        Operand::Const(_) => {}
                        Operand::Var(v) => self.write(Place::Var(*v)),
                        Operand::Mem(m) => self.write(Place::Mem(*m)),
                    }
                }
            }
            Stmt::Call { func, args, .. } => {
                self.calls = true;
                let written = self.written.get(func.0 as usize);
                for (n, a) in args.iter().enumerate() {
                    self.read(*a);
                    match (a, written.and_then(|w| w.params.get(n))) {
                        (Operand::Var(v), Some(true)) => self.write(Place::Var(*v)),
                        (Operand::Mem(m), Some(true)) => self.write(Place::Mem(*m)),
                        _ => {}
                    }
                }
            }
            Stmt::Ancilla { var, .. } => self.write(Place::Var(*var)),
            Stmt::Array { base, len, .. } => {
                self.write(Place::Var(*base));
                self.read(*len);
            }
            Stmt::If { pre, post, then, otherwise } => {
                self.condition(pre);
                self.condition(post);
                self.block(then);
                self.block(otherwise);
            }
            Stmt::While { pre, post, first, body } => {
                self.condition(pre);
                self.condition(post);
                self.block(first);
                self.block(body);
            }
            Stmt::For { var, first, last, step, body, .. } => {
                self.write(Place::Var(*var));
                self.read(*first);
                self.read(*last);
                if let crate::ir::Step::Var { var, .. } = step {
                    self.read(Operand::Var(*var));
                }
                self.block(body);
            }
            Stmt::With { compute, body, .. } => {
                self.block(compute);
                self.block(body);
            }
            Stmt::Span { body, .. } => self.block(body),
            Stmt::Assert { test, .. } => {
                self.read(test.a);
                self.read(test.b);
            }
            Stmt::Show { value, .. } => self.read(*value),
            Stmt::Print(_) => {}
        }
    }
}

/// The parameters and regions that a function's own statements write, and its calls of functions that are known.
pub(super) fn written(f: &IrFunction, known: &[Written]) -> Written {
    let uses = Uses::of(&f.body, known);
    Written {
        params: f.params.iter().map(|p| uses.writes.contains(&p.var)).collect(),
        regions: (0..f.regions.len()).map(|n| uses.regions.contains(&Region(n as u32))).collect(),
    }
}
