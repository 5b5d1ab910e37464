//! Statements without others in them.

use pendula_compiler::ir::*;
use pendula_isa::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::{Generator, INDEX, Pointer, Scope, number};
use crate::common::build::id;

impl Generator {
    pub(super) fn of(&mut self, vars: &[Var], ty: Ty) -> Option<Var> {
        let fit: Vec<Var> = vars.iter().copied().filter(|v| self.f.ty(*v) == ty).collect();
        self.random.pick(&fit)
    }

    /// A word of an array.
    pub(super) fn mem(&mut self, scope: &Scope, ty: Ty, write: bool) -> Option<Mem> {
        let fits = |p: &&Pointer| p.ty == ty && !(write && scope.frozen.contains(&p.region));
        let fit: Vec<Pointer> = scope.pointers.iter().filter(fits).copied().collect();
        let p = self.random.pick(&fit)?;
        let index = if p.room > INDEX && self.random.chance(60) { self.random.pick(&scope.indices) } else { None };
        let room = p.room - if index.is_some() { INDEX } else { 0 };
        Some(Mem { base: Some(p.var), index, offset: self.random.below(room as usize) as i64, region: p.region })
    }

    pub(super) fn place(&mut self, scope: &Scope, ty: Ty) -> Option<Place> {
        if self.random.chance(30)
            && let Some(m) = self.mem(scope, ty, true)
        {
            return Some(Place::Mem(m));
        }
        self.of(&scope.writable, ty).map(Place::Var)
    }

    pub(super) fn constant(&mut self, ty: Ty) -> Operand {
        Operand::Const(number(&mut self.random, ty))
    }

    /// An operand that is neither the word `dst` nor in its array.
    pub(super) fn operand(&mut self, scope: &Scope, ty: Ty, dst: Option<Place>) -> Operand {
        if self.random.chance(25)
            && let Some(m) = self.mem(scope, ty, false)
            && !matches!(dst, Some(Place::Mem(d)) if d.region == m.region)
        {
            return Operand::Mem(m);
        }
        if self.random.chance(75)
            && let Some(v) = self.of(&scope.readable, ty)
            && dst != Some(Place::Var(v))
        {
            return Operand::Var(v);
        }
        self.constant(ty)
    }

    pub(super) fn func(&mut self, ty: Ty) -> TableFn {
        if ty == Ty::Int && self.random.chance(self.profile.risk) {
            return TableFn::Int(if self.random.chance(50) { int_fn::Name::Div } else { int_fn::Name::Rem });
        }
        let n = self.random.below(10);
        if n < 5 {
            return id(ty);
        }
        use int_fn::Name as I;
        use q_fn::Name as Q;
        match ty {
            Ty::Int => TableFn::Int(
                [I::Mul, I::And, I::Or, I::Lt, I::Eq, I::Min, I::Max, I::Shl, I::Sar, I::Mul][self.random.below(10)],
            ),
            Ty::Q => TableFn::Q([Q::Mul, Q::Muladd, Q::Min, Q::Max, Q::Sin, Q::Cos, Q::Mul][self.random.below(7)]),
            Ty::L => TableFn::L([l_fn::Name::Mul, l_fn::Name::Div, l_fn::Name::Inv][self.random.below(3)]),
            Ty::F => TableFn::F(
                [f_fn::Name::Sin, f_fn::Name::Cos, f_fn::Name::Tanh, f_fn::Name::Atan, f_fn::Name::Mul]
                    [self.random.below(5)],
            ),
        }
    }

    /// `place ⊕= …`
    pub(super) fn update(&mut self, scope: &Scope, dst: Place, ty: Ty) -> Stmt {
        let func = self.func(ty);
        let mut args: Vec<Operand> = func.info().args.iter().map(|a| self.operand(scope, a.ty, Some(dst))).collect();
        if matches!(func, TableFn::F(f_fn::Name::Mul)) {
            // Products of growing numbers would grow too fast.
            args[0] = Operand::Const((self.random.unit() - 0.5).to_bits());
        }
        let acc = match ty {
            Ty::L => Acc::Mul,
            Ty::Int if self.random.chance(15) => Acc::Xor,
            Ty::Int | Ty::Q | Ty::F => Acc::Add,
        };
        let inverse = self.random.chance(40) && acc != Acc::Xor;
        Stmt::Update { acc, inverse, func, dst, args }
    }

    pub(super) fn permutation(&mut self, scope: &Scope) -> Option<Stmt> {
        let ty = self.ty();
        let a = self.place(scope, ty)?;
        let inverse = self.random.chance(50);
        Some(match self.random.below(6) {
            0 | 1 => {
                let b = self.of(&scope.writable, ty).map(Place::Var).filter(|b| *b != a)?;
                Stmt::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args: vec![a.into(), b.into()] }
            }
            2 => Stmt::Permute { row: Row::Neg, inverse: false, ty, args: vec![a.into()] },
            3 if matches!(ty, Ty::Q | Ty::F) => {
                let b = self.of(&scope.writable, ty).map(Place::Var).filter(|b| *b != a)?;
                let angle = self.constant(ty);
                Stmt::Permute { row: Row::Rot, inverse, ty, args: vec![a.into(), b.into(), angle] }
            }
            4 if ty == Ty::Int => {
                let n = Operand::Const(self.random.below(64) as u64);
                Stmt::Permute { row: Row::Rol, inverse, ty, args: vec![a.into(), n] }
            }
            5 if ty == Ty::Int => Stmt::Permute { row: Row::Not, inverse: false, ty, args: vec![a.into()] },
            _ if ty == Ty::Int => Stmt::Permute { row: Row::Inc, inverse, ty, args: vec![a.into()] },
            _ => return None,
        })
    }

    pub(super) fn assertion(&mut self, scope: &Scope) -> Option<Stmt> {
        if self.random.chance(10 * self.profile.risk) {
            let (a, b) = (self.of(&scope.readable, Ty::Int)?, self.operand(scope, Ty::Int, None));
            let cond = [Cond::Lt, Cond::Ne, Cond::Ge, Cond::Ltu][self.random.below(4)];
            return Some(Stmt::Assert {
                test: Test { cond, ty: Ty::Int, a: Operand::Var(a), b },
                why: AssertKind::User,
                reason: None,
            });
        }
        let (a, limit) = match self.random.pick(&scope.indices) {
            Some(i) if self.random.chance(70) => (i, INDEX),
            _ => (self.random.pick(&scope.counts)?, 4),
        };
        let (cond, b) =
            [(Cond::Ge, 0), (Cond::Le, limit), (Cond::Lt, limit + 1), (Cond::Ltu, limit + 1), (Cond::Ne, -1)]
                [self.random.below(5)];
        let test = Test { cond, ty: Ty::Int, a: Operand::Var(a), b: Operand::Const(b.cast_unsigned()) };
        Some(Stmt::Assert { test, why: AssertKind::Bounds, reason: None })
    }
}
