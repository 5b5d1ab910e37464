//! Emits scalar expressions as statements: `dst ⊕= x` for any expression x.

use std::collections::HashMap;
use std::sync::OnceLock;

use pendula_isa::num::decimal;
use pendula_isa::scalar;
use pendula_isa::table::{TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::{Acc, Cond, Env, Ty};

use super::body::{Body, Sink};
use super::value::{Literal, ScalarExpr};
use super::{Done, Stop};
use crate::ir::{Condition, Operand, Place, Stmt, Test, identity};
use crate::nil::ast::Span;
use crate::nil::codes;
use crate::nil::types::number_name;

/// The function of the table with this name, result and argument types, and number of arguments.
pub(super) fn function(ty: Ty, from: Ty, name: &str, arity: usize) -> Option<TableFn> {
    /// Result type, argument type, name, number of arguments.
    type Key = (Ty, Ty, &'static str, usize);
    static ALL: OnceLock<HashMap<Key, TableFn>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let key = |f: &TableFn| {
            let i = f.info();
            ((i.ty, i.from, i.name, i.args.len()), *f)
        };
        TableFn::ALL.iter().map(key).collect()
    });
    // The names in the table are static; a name that is not among them has no function.
    all.iter().find(|((t, f, n, a), _)| *t == ty && *f == from && *n == name && *a == arity).map(|(_, f)| *f)
}

/// a + b and a − b of a type.
pub(super) const fn sum(ty: Ty, minus: bool) -> TableFn {
    match (ty, minus) {
        (Ty::Int, false) => TableFn::Int(int_fn::Name::Plus),
        (Ty::Int, true) => TableFn::Int(int_fn::Name::Minus),
        (Ty::Q, false) => TableFn::Q(q_fn::Name::Plus),
        (Ty::Q, true) => TableFn::Q(q_fn::Name::Minus),
        (Ty::L, false) => TableFn::L(l_fn::Name::Plus),
        (Ty::L, true) => TableFn::L(l_fn::Name::Minus),
        (Ty::F, false) => TableFn::F(f_fn::Name::Plus),
        (Ty::F, true) => TableFn::F(f_fn::Name::Minus),
    }
}

/// a·b of a type.
pub(super) const fn product(ty: Ty) -> TableFn {
    match ty {
        Ty::Int => TableFn::Int(int_fn::Name::Mul),
        Ty::Q => TableFn::Q(q_fn::Name::Mul),
        Ty::L => TableFn::L(l_fn::Name::Mul),
        Ty::F => TableFn::F(f_fn::Name::Mul),
    }
}

/// Whether `f` is the function with this name on its own type.
fn is(f: TableFn, name: &str) -> bool {
    let i = f.info();
    i.name == name && i.ty == i.from
}

impl Body<'_, '_> {
    fn env(&self) -> Env {
        Env { format: self.s.program.format, ..Env::default() }
    }

    /// A literal as a word of a type.
    pub(super) fn word(&mut self, literal: &Literal, ty: Ty, span: &Span) -> Done<u64> {
        let text = match literal {
            Literal::Int(n) => n.to_string(),
            Literal::Real(t) => t.clone(),
            Literal::Float(x) => decimal::format_f(x.to_bits()),
        };
        let format = self.s.program.format;
        let word = match ty {
            Ty::Int => match literal {
                Literal::Int(n) => {
                    i64::try_from(*n).map(i64::cast_unsigned).map_err(|_| "it does not fit 64 bits".to_string())
                }
                Literal::Real(_) | Literal::Float(_) => match text.parse::<f64>() {
                    Ok(x) if x.fract() == 0.0 && x.abs() < 9.0e18 => Ok((x as i64).cast_unsigned()),
                    _ => Err("it is not whole".to_string()),
                },
            },
            Ty::Q => decimal::parse_q(&text, format).map_err(|e| e.to_string()),
            Ty::L => decimal::parse_l(&text).map_err(|e| e.to_string()),
            Ty::F => decimal::parse_f(&text).map_err(|e| e.to_string()),
        };
        match word {
            Ok(word) => Ok(word),
            Err(why) => {
                let message = format!("{text} is no {} number: {why}", number_name(ty));
                self.fail(span, codes::LITERAL, message, "write a number of that type, or convert")
            }
        }
    }

    /// Folds an expression of constants.
    pub(super) fn fold(&self, x: ScalarExpr) -> ScalarExpr {
        match x {
            ScalarExpr::Apply(f, args) => {
                let words: Option<Vec<u64>> =
                    args.iter().map(|a| if let ScalarExpr::Const(w) = a { Some(*w) } else { None }).collect();
                if let Some(words) = words {
                    let mut all = [0; pendula_isa::table::ARITY];
                    for (to, from) in all.iter_mut().zip(words) {
                        *to = from;
                    }
                    if let Ok(word) = scalar::value(self.env(), f, all) {
                        return ScalarExpr::Const(word);
                    }
                }
                let ty = f.info().ty;
                let zero = |x: &ScalarExpr| *x == ScalarExpr::Const(0) && ty != Ty::L;
                let one = |x: &ScalarExpr| *x == ScalarExpr::Const(1) && ty == Ty::Int;
                match args.as_slice() {
                    [a, b] if is(f, "plus") && zero(b) && ty != Ty::F => a.clone(),
                    [a, b] if is(f, "plus") && zero(a) && ty != Ty::F => b.clone(),
                    [a, b] if is(f, "minus") && zero(b) && ty != Ty::F => a.clone(),
                    [a, b] if is(f, "mul") && one(b) => a.clone(),
                    [a, b] if is(f, "mul") && one(a) => b.clone(),
                    _ => ScalarExpr::Apply(f, args),
                }
            }
            other => other,
        }
    }

    /// Emits `dst ⊕= x`, where ⊕ is `acc` or, if `inverse`, its partner, and both operands have type `ty`.
    pub(super) fn accumulate(
        &mut self,
        sink: Sink,
        dst: Place,
        ty: Ty,
        acc: Acc,
        inverse: bool,
        x: ScalarExpr,
    ) -> Done<()> {
        match x {
            ScalarExpr::Lit(_) => Err(Stop),
            ScalarExpr::Const(0) => Ok(()),
            ScalarExpr::Const(w) => {
                self.update(sink, acc, inverse, identity(ty), dst, vec![Operand::Const(w)]);
                Ok(())
            }
            ScalarExpr::Place(p) => {
                self.update(sink, acc, inverse, identity(ty), dst, vec![p.into()]);
                Ok(())
            }
            ScalarExpr::Neg(a) => match (acc, ty) {
                (Acc::Add, Ty::Int | Ty::Q | Ty::F) => self.accumulate(sink, dst, ty, acc, !inverse, *a),
                (Acc::Add | Acc::Mul | Acc::Xor, _) => {
                    let t = self.negated(ty, *a)?;
                    self.update(sink, acc, inverse, identity(ty), dst, vec![t]);
                    Ok(())
                }
            },
            ScalarExpr::Apply(f, args) => self.accumulate_function(sink, dst, ty, (acc, inverse), f, args),
            ScalarExpr::Defined(definition, args) => {
                self.accumulate_defined(sink, dst, (acc, inverse), &definition, args)
            }
            ScalarExpr::Cmp(cond, of, a, b) => self.accumulate_comparison(sink, dst, acc, inverse, (cond, of, *a, *b)),
            ScalarExpr::Not(a) => {
                self.accumulate(sink, dst, ty, acc, inverse, ScalarExpr::Const(1))?;
                self.accumulate(sink, dst, ty, acc, !inverse, *a)
            }
            ScalarExpr::And(a, b) if self.is_safe(&b) => {
                let args = vec![self.put(Ty::Int, *a)?, self.put(Ty::Int, *b)?];
                self.update(sink, acc, inverse, TableFn::Int(int_fn::Name::And), dst, args);
                Ok(())
            }
            ScalarExpr::Or(a, b) if self.is_safe(&b) => {
                let args = vec![self.put(Ty::Int, *a)?, self.put(Ty::Int, *b)?];
                self.update(sink, acc, inverse, TableFn::Int(int_fn::Name::Or), dst, args);
                Ok(())
            }
            ScalarExpr::And(a, b) => self.branches(sink, dst, ty, (acc, inverse), *a, [*b, ScalarExpr::Const(0)]),
            ScalarExpr::Or(a, b) => self.branches(sink, dst, ty, (acc, inverse), *a, [ScalarExpr::Const(1), *b]),
            ScalarExpr::Choice(c, a, b) => self.branches(sink, dst, ty, (acc, inverse), *c, [*a, *b]),
            ScalarExpr::Viewed(lens, a) => self.accumulate(sink, dst, ty, acc, inverse, lens.of(*a)),
            ScalarExpr::Within(compute, x) => {
                let (body, done) = self.block(|s| s.accumulate(Sink::Out, dst, ty, acc, inverse, *x));
                done?;
                let name = self.span_name();
                self.emit(sink, Stmt::With { name, compute, body });
                Ok(())
            }
        }
    }

    /// The negated number, in an ancilla.
    fn negated(&mut self, ty: Ty, a: ScalarExpr) -> Done<Operand> {
        let var = self.copy(ty, a)?;
        let row = pendula_isa::table::Row::Neg;
        self.emit(Sink::Pre, Stmt::Permute { row, inverse: false, ty, args: vec![Operand::Var(var)] });
        Ok(Operand::Var(var))
    }

    fn accumulate_function(
        &mut self,
        sink: Sink,
        dst: Place,
        ty: Ty,
        (acc, inverse): (Acc, bool),
        f: TableFn,
        args: Vec<ScalarExpr>,
    ) -> Done<()> {
        let exact = matches!(ty, Ty::Int | Ty::Q) || (ty == Ty::F && self.s.settings.fast_float);
        // A sum of computed values is added part by part, where the result is the same.
        if acc == Acc::Add
            && exact
            && let [a, b] = args.as_slice()
            && (is(f, "plus") || is(f, "minus"))
        {
            // So is a sum of words of memory, of which an instruction takes only one.
            let leaves = [a.leaf(), b.leaf()];
            let memory = leaves.iter().flatten().filter(|o| matches!(o, Operand::Mem(_))).count();
            let memory = memory + usize::from(matches!(dst, Place::Mem(_)));
            if leaves.contains(&None) || memory > 1 {
                self.accumulate(sink, dst, ty, acc, inverse, a.clone())?;
                return self.accumulate(sink, dst, ty, acc, inverse ^ is(f, "minus"), b.clone());
            }
        }
        let info = f.info();
        let mut operands = Vec::with_capacity(args.len());
        for (arg, of) in args.into_iter().zip(info.args) {
            operands.push(self.put(of.ty, arg)?);
        }
        self.update(sink, acc, inverse, f, dst, operands);
        Ok(())
    }

    fn accumulate_comparison(
        &mut self,
        sink: Sink,
        dst: Place,
        acc: Acc,
        inverse: bool,
        (cond, of, a, b): (Cond, Ty, ScalarExpr, ScalarExpr),
    ) -> Done<()> {
        let (name, exchanged, complement) = match cond {
            Cond::Lt => ("lt", false, false),
            Cond::Gt => ("lt", true, false),
            Cond::Ge => ("lt", false, true),
            Cond::Le => ("lt", true, true),
            Cond::Eq => ("eq", false, false),
            Cond::Ne => ("eq", false, true),
            Cond::Ltu => ("ltu", false, false),
            Cond::Geu => ("ltu", false, true),
            Cond::Always => return self.accumulate(sink, dst, Ty::Int, acc, inverse, ScalarExpr::Const(1)),
        };
        let (a, b) = if exchanged { (b, a) } else { (a, b) };
        let Some(func) = function(Ty::Int, of, name, 2) else { return Err(Stop) };
        let args = vec![self.put(of, a)?, self.put(of, b)?];
        if complement {
            self.accumulate(sink, dst, Ty::Int, acc, inverse, ScalarExpr::Const(1))?;
        }
        self.update(sink, acc, inverse ^ complement, func, dst, args);
        Ok(())
    }

    /// `dst ⊕=` the first value if `c` holds, else the second.
    fn branches(
        &mut self,
        sink: Sink,
        dst: Place,
        ty: Ty,
        (acc, inverse): (Acc, bool),
        c: ScalarExpr,
        [a, b]: [ScalarExpr; 2],
    ) -> Done<()> {
        let (compute, test) = self.computed(|s| s.test(c));
        let test = test?;
        let condition = Condition { compute, test };
        let mut one = |x: ScalarExpr| {
            let (block, done) = self.block(|s| s.accumulate(Sink::Out, dst, ty, acc, inverse, x));
            done.map(|()| block)
        };
        let (then, otherwise) = (one(a)?, one(b)?);
        if sink == Sink::Pre {
            self.flush_asserts();
        }
        self.emit(sink, Stmt::branch(condition, then, otherwise));
        Ok(())
    }

    /// Whether a value can be computed even if it is not used: it reads no memory and cannot trap.
    fn is_safe(&self, x: &ScalarExpr) -> bool {
        let own = match x {
            ScalarExpr::Within(..) | ScalarExpr::Viewed(..) | ScalarExpr::Defined(..) => false,
            ScalarExpr::Place(p) => matches!(p, Place::Var(_)),
            ScalarExpr::Apply(f, _) => {
                let exact = ["", "abs", "sign", "min", "max", "relu"];
                let integer = ["plus", "minus", "mul", "and", "or", "shl", "shr", "sar", "lt", "ltu", "eq"];
                let i = f.info();
                let total = exact.contains(&i.name) && i.ty != Ty::Q
                    || integer.contains(&i.name) && matches!(i.ty, Ty::Int | Ty::Q);
                total && i.ty == i.from
            }
            _ => true,
        };
        own && x.parts().all(|part| self.is_safe(part))
    }

    /// A Boolean as a comparison, whose operands are computed first.
    pub(super) fn test(&mut self, x: ScalarExpr) -> Done<Test> {
        Ok(match x {
            ScalarExpr::Cmp(cond, ty, a, b) => {
                let (a, b) = (self.put(ty, *a)?, self.put(ty, *b)?);
                Test { cond, ty, a: self.compared(ty, a)?, b: self.compared(ty, b)? }
            }
            ScalarExpr::Not(a) => self.test(*a)?.negated(),
            other => {
                let a = self.put(Ty::Int, other)?;
                Test::int(Cond::Ne, self.compared(Ty::Int, a)?, Operand::Const(0))
            }
        })
    }

    /// Copies a word of memory, or a constant that is too large for a jump, to an ancilla, so that it is fetched once
    /// and not at each jump. Comparisons carry no gradient.
    fn compared(&mut self, ty: Ty, o: Operand) -> Done<Operand> {
        let far = match o {
            Operand::Var(_) => false,
            Operand::Mem(_) => true,
            Operand::Const(w) => {
                !((-16384..16384).contains(&w.cast_signed()) && ty == Ty::Int || w == 0 && ty != Ty::L)
            }
        };
        if !far {
            return Ok(o);
        }
        let var = self.fresh("compared", ty);
        let checks = crate::ir::AncillaChecks::NONE;
        self.emit(Sink::Pre, Stmt::Ancilla { var, free: false, checks });
        // The bits are copied without arithmetic.
        self.update(Sink::Pre, Acc::Xor, false, identity(ty), Place::Var(var), vec![o]);
        Ok(Operand::Var(var))
    }
}
