//! Statements with others in them: computations that are undone, branches, loops and calls.

use pendula_compiler::ir::*;
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::{Generator, INDEX, Pointer, Scope, TESTS, WORDS, deeper, freeze, region_type};
use crate::common::build::id;

impl Generator {
    /// A computed ancilla, and the scope while it lives.
    pub(super) fn compute(&mut self, scope: &Scope, out: &mut Block) -> Scope {
        let mut inner = deeper(scope);
        let from = out.len();
        match self.random.below(8) {
            0 => {
                // An index.
                let v = self.f.fresh("index", Ty::Int);
                out.push(self.ancilla(v, false));
                let source = self.operand(scope, Ty::Int, None);
                let args = vec![source, Operand::Const(INDEX as u64)];
                let func = TableFn::Int(int_fn::Name::And);
                out.push(self.at(Stmt::Update { acc: Acc::Add, inverse: false, func, dst: Place::Var(v), args }));
                inner.indices.push(v);
                inner.readable.push(v);
            }
            1 | 2 if !scope.pointers.is_empty() => {
                // A pointer into an array.
                let Some(p) = self.random.pick(&scope.pointers).filter(|p| p.room > INDEX) else { return inner };
                let v = self.f.fresh("pointer", Ty::Int);
                out.push(self.ancilla(v, false));
                let add = |g: &mut Generator, what: Operand| {
                    g.at(Stmt::Update {
                        acc: Acc::Add,
                        inverse: false,
                        func: id(Ty::Int),
                        dst: Place::Var(v),
                        args: vec![what],
                    })
                };
                out.push(add(self, Operand::Var(p.var)));
                let mut room = p.room;
                if let Some(i) = self.random.pick(&scope.indices) {
                    if room > 2 * INDEX && self.random.chance(50) {
                        let args = vec![Operand::Var(i), Operand::Const(2)];
                        let func = TableFn::Int(int_fn::Name::Mul);
                        out.push(self.at(Stmt::Update {
                            acc: Acc::Add,
                            inverse: false,
                            func,
                            dst: Place::Var(v),
                            args,
                        }));
                        room -= 2 * INDEX;
                    } else {
                        out.push(add(self, Operand::Var(i)));
                        room -= INDEX;
                    }
                }
                if room > 1 && self.random.chance(40) {
                    let k = self.random.below(room as usize) as i64;
                    out.push(add(self, Operand::Const(k as u64)));
                    room -= k;
                }
                self.f.vars[v.0 as usize].points = Some(p.region);
                inner.pointers.push(Pointer { var: v, region: p.region, ty: p.ty, room });
            }
            3 => {
                // An array.
                let ty = self.ty();
                let base = self.f.fresh("local", Ty::Int);
                self.f.regions.push(RegionInfo { name: "local".into(), ty });
                let region = Region(self.f.regions.len() as u32 - 1);
                self.f.vars[base.0 as usize].points = Some(region);
                let len = Operand::Const(4);
                out.push(self.at(Stmt::Array { base, len, region, ty, free: false, checks: AncillaChecks::FULL }));
                let mut filling = scope.clone();
                filling.pointers = vec![Pointer { var: base, region, ty, room: 4 }];
                for _ in 0..self.random.below(4) {
                    if let Some(m) = self.mem(&filling, ty, true) {
                        let mut sources = scope.clone();
                        sources.pointers.retain(|p| p.region != region);
                        let stmt = self.update(&sources, Place::Mem(m), ty);
                        out.push(self.at(stmt));
                    }
                }
                inner.pointers.push(Pointer { var: base, region, ty, room: 4 });
                inner.frozen.push(region);
            }
            4 => {
                // Something else that is changed temporarily.
                let ty = self.ty();
                if let Some(v) = self.of(&scope.writable, ty) {
                    let stmt = self.update(scope, Place::Var(v), ty);
                    out.push(self.at(stmt));
                }
            }
            _ => {
                for _ in 0..1 + self.random.below(2) {
                    let ty = self.ty();
                    let v = self.f.fresh(format!("t{}", ty.letter()), ty);
                    out.push(self.ancilla(v, false));
                    for _ in 0..1 + self.random.below(2) {
                        let mut sources = inner.clone();
                        sources.readable.retain(|r| *r != v);
                        let stmt = self.update(&sources, Place::Var(v), ty);
                        out.push(self.at(stmt));
                    }
                    inner.readable.push(v);
                }
            }
        }
        freeze(&mut inner, &out[from..]);
        inner
    }

    pub(super) fn with(&mut self, scope: &Scope) -> Stmt {
        let mut compute = vec![];
        let inner = self.compute(scope, &mut compute);
        let body = self.block(&inner);
        Stmt::With { name: "with".into(), compute, body }
    }

    /// A computation and its inverse without a [`Stmt::With`].
    pub(super) fn straight(&mut self, scope: &Scope, out: &mut Block) {
        let from = out.len();
        let inner = self.compute(scope, out);
        let undone = invert::block(&out[from..]);
        out.extend(self.block(&inner));
        out.extend(undone);
    }

    pub(super) fn counted(&mut self, scope: &Scope) -> Stmt {
        let var = self.f.fresh("i", Ty::Int);
        let mut inner = deeper(scope);
        inner.readable.push(var);
        let (a, b) = (self.random.below(4) as i64, 1 + self.random.below(3) as i64);
        let up = a + b * self.random.below(3) as i64;
        let (first, last, step) = match self.random.below(6) {
            0 => (Operand::Const(1), Operand::Var(scope.counts[0]), Step::Const(1)),
            1 => (Operand::Var(scope.counts[0]), Operand::Const(0), Step::Const(-1)),
            2 => (Operand::Const(1), Operand::Const(0), Step::Const(1)),
            3 => (Operand::Const(up.cast_unsigned()), Operand::Const(a as u64), Step::Const(-b)),
            _ => (Operand::Const(a as u64), Operand::Const(up as u64), Step::Const(b)),
        };
        if up <= INDEX {
            inner.indices.push(var);
        }
        inner.weight *= 3;
        let body = self.block(&inner);
        Stmt::For { var, first, last, step, body, blocks: None }
    }

    pub(super) fn branch(&mut self, scope: &Scope) -> Option<Stmt> {
        let ty = if self.profile.smooth { Ty::Int } else { self.ty() };
        let a = self.of(&scope.readable, ty)?;
        let b = if self.random.chance(50) { self.constant(ty) } else { Operand::Var(self.of(&scope.readable, ty)?) };
        let a = if self.random.chance(10) { self.constant(ty) } else { Operand::Var(a) };
        let test = Test { cond: self.random.pick(&TESTS)?, ty, a, b };
        let mut inner = deeper(scope);
        inner.writable.retain(|v| Operand::Var(*v) != a && Operand::Var(*v) != b);
        let mut pre = Condition::of(test);
        if ty == Ty::Int && self.random.chance(30) {
            // Compared to something computed.
            let t = self.f.fresh("c", Ty::Int);
            pre.compute.push(self.ancilla(t, false));
            pre.compute.push(self.at(Stmt::Update {
                acc: Acc::Add,
                inverse: false,
                func: id(Ty::Int),
                dst: Place::Var(t),
                args: vec![a],
            }));
            pre.test.a = Operand::Var(t);
        }
        let post = if self.random.chance(50) { pre.clone() } else { Condition::of(test) };
        let then = self.block(&inner);
        let otherwise = if self.random.chance(60) { self.block(&inner) } else { vec![] };
        Some(Stmt::If { pre, post, then, otherwise })
    }

    /// A `while` that counts.
    pub(super) fn turns(&mut self, scope: &Scope, out: &mut Block) {
        let k = self.f.fresh("k", Ty::Int);
        let mut inner = deeper(scope);
        inner.readable.push(k);
        inner.weight *= 3;
        let last = if self.random.chance(50) { Operand::Var(scope.counts[0]) } else { Operand::Const(3) };
        let test = |cond, b| Condition::of(Test { cond, ty: Ty::Int, a: Operand::Var(k), b });
        out.push(self.ancilla(k, false));
        let first = if self.random.chance(50) { self.block(&inner) } else { Vec::new() };
        let mut body = self.block(&inner);
        let add = |inverse, what| Stmt::Update {
            acc: Acc::Add,
            inverse,
            func: id(Ty::Int),
            dst: Place::Var(k),
            args: vec![what],
        };
        body.push(self.at(add(false, Operand::Const(1))));
        out.push(self.at(Stmt::While {
            pre: test(Cond::Lt, last),
            post: test(Cond::Ne, Operand::Const(0)),
            first,
            body,
        }));
        out.push(self.at(add(true, last)));
        out.push(self.ancilla(k, true));
    }

    pub(super) fn call(&mut self, scope: &Scope) -> Option<Stmt> {
        let helpers = self.program.functions.len();
        if helpers == 0 || scope.weight > 30 {
            return None;
        }
        let n = self.random.below(helpers);
        let callee = self.program.functions[n].clone();
        let (mut args, mut left, mut lent) = (vec![], scope.writable.clone(), vec![]);
        for param in callee.params.iter().filter(|p| p.written) {
            let ty = callee.ty(param.var);
            let place = if self.random.chance(15) { self.mem(scope, ty, true) } else { None };
            let arg = match place {
                Some(m) if !lent.contains(&m.region) => {
                    lent.push(m.region);
                    Operand::Mem(m)
                }
                _ => {
                    let v = self.of(&left, ty)?;
                    left.retain(|w| *w != v);
                    Operand::Var(v)
                }
            };
            args.push((param.var, arg));
        }
        for param in callee.params.iter().filter(|p| !p.written) {
            let info = &callee.vars[param.var.0 as usize];
            let arg = if info.name.starts_with("array") {
                let ty = region_type(&info.name);
                let fits = |p: &&Pointer| {
                    p.ty == ty && p.room >= WORDS && !scope.frozen.contains(&p.region) && !lent.contains(&p.region)
                };
                let fit: Vec<Var> = scope.pointers.iter().filter(fits).map(|p| p.var).collect();
                Operand::Var(self.random.pick(&fit)?)
            } else if info.name == "count" {
                if self.random.chance(50) { Operand::Var(scope.counts[0]) } else { Operand::Const(2) }
            } else {
                let fit: Vec<Var> = scope
                    .readable
                    .iter()
                    .copied()
                    .filter(|v| self.f.ty(*v) == info.ty && !args.iter().any(|(_, a)| *a == Operand::Var(*v)))
                    .collect();
                match self.random.pick(&fit) {
                    Some(v) if self.random.chance(70) => Operand::Var(v),
                    _ => self.constant(info.ty),
                }
            };
            args.push((param.var, arg));
        }
        args.sort_by_key(|(v, _)| callee.params.iter().position(|p| p.var == *v));
        let args = args.into_iter().map(|(_, a)| a).collect();
        Some(Stmt::Call { func: FunctionId(n as u32), inverse: self.random.chance(40), args })
    }
}
