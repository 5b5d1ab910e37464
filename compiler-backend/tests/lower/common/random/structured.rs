//! Random statements with others in them: loops, computations that are undone, local arrays.

use super::*;

impl Gen<'_> {
    /// A branch that sets a flag, which its second condition tests.
    pub(super) fn flagged(&mut self, scope: &Scope, depth: usize) -> Block {
        let (pre, mut inner) = self.condition(scope);
        let flag = self.build.var("flag", Ty::Int);
        let post = when(Cond::Ne, v(flag), c(0));
        let mut then = vec![add(flag, c(1))];
        if self.rng.chance(50) {
            then = vec![add(flag, c(2)), sub(flag, c(1))];
        }
        let compute = vec![alloc(flag, self.checks()), branch(pre, post, then, Vec::new())];
        inner.read.push(flag);
        let body = self.block(&mut inner, 3, depth - 1);
        vec![with("flagged", compute, body)]
    }

    pub(super) fn for_loop(&mut self, scope: &Scope, depth: usize) -> Block {
        let i = self.build.var("i", Ty::Int);
        let (n, compute, mut inner) = self.bounded(scope);
        let index = inner.index.clone();
        inner.index.push(i);
        let body = |g: &mut Self, inner: &mut Scope| g.block(inner, 3, depth - 1);
        match self.rng.below(9) {
            0 => {
                let body = body(self, &mut inner);
                vec![with("n", compute, vec![each(i, c(1), v(n), Step::Const(1), body)])]
            }
            1 => {
                let body = body(self, &mut inner);
                vec![with("n", compute, vec![each(i, v(n), c(0), Step::Const(-1), body)])]
            }
            2 => {
                let (m, other, _) = self.bounded(scope);
                let mut inner = scope.clone();
                inner.index.push(i);
                // Both bounds depend on what the body may not write.
                inner.write.clear();
                inner.open.clear();
                inner.write.extend(scope.write.last().filter(|w| !reads(&compute, **w) && !reads(&other, **w)));
                let body = body(self, &mut inner);
                let step = Step::Const(if self.rng.chance(50) { 1 } else { -1 });
                let compute = [compute, other].concat();
                vec![with("nm", compute, vec![each(i, v(n), v(m), step, body)])]
            }
            3 => {
                let body = body(self, &mut inner);
                vec![each(i, c(1), c(7), Step::Const(3), body)]
            }
            4 => {
                let body = body(self, &mut inner);
                vec![each(i, c(6), c(0), Step::Const(-2), body)]
            }
            5 => {
                // last = first + 3 m, with m from -1 to 2; no index, since it may be beyond.
                inner.index = index;
                inner.read.push(i);
                let last = self.build.var("last", Ty::Int);
                let mut compute = compute;
                compute.extend([alloc(last, NONE), add(last, c(2)), update(MUL, Place::Var(last), &[v(n), c(3)])]);
                compute.push(sub(last, c(3)));
                let body = body(self, &mut inner);
                vec![with("last", compute, vec![each(i, c(2), v(last), Step::Const(3), body)])]
            }
            6 | 7 => {
                // A step whose sign is known only at run time: first + step·m.
                inner.index = index;
                inner.read.push(i);
                let [step, last, first] = self.build.vars(Ty::Int);
                let k = *self.rng.pick(&[1, -1, 2, -3]);
                let negated = self.rng.chance(50);
                let mut compute = compute;
                compute.extend([alloc(step, NONE), add(step, c(k)), alloc(first, NONE), alloc(last, NONE)]);
                let start = self.rng.below(2) as i64 * 4;
                compute.extend([add(first, c(start)), add(last, c(start))]);
                let more = if self.rng.chance(30) { -1 } else { 0 };
                let by = if negated { minus } else { update };
                compute.push(by(MUL, Place::Var(last), &[v(n), v(step)]));
                compute.push(by(MUL, Place::Var(last), &[v(step), c(more)]));
                let body = body(self, &mut inner);
                let first = if self.rng.chance(50) { v(first) } else { c(start) };
                vec![with("s", compute, vec![each(i, first, v(last), Step::Var { var: step, negated }, body)])]
            }
            _ => {
                let body = body(self, &mut inner);
                let from = self.rng.below(3) as i64;
                vec![each(i, c(from), c(self.rng.below(6) as i64), Step::Const(1), body)]
            }
        }
    }

    pub(super) fn while_loop(&mut self, scope: &Scope, depth: usize) -> Block {
        let (n, compute, mut inner) = self.bounded(scope);
        let k = self.build.var("k", Ty::Int);
        inner.read.push(n);
        inner.read.push(k);
        let mut pre = when(Cond::Lt, v(k), v(n));
        let mut post = when(Cond::Ne, v(k), c(0));
        if self.rng.chance(40) {
            let t = self.build.var("t", Ty::Int);
            let compute = vec![alloc(t, self.checks()), add(t, v(n)), sub(t, v(k))];
            pre = Condition { compute, test: test(Cond::Gt, v(t), c(0)) };
        }
        if self.rng.chance(40) {
            let t = self.build.var("t", Ty::Int);
            let compute = vec![alloc(t, self.checks()), add(t, v(k)), add(t, c(100))];
            post = Condition { compute, test: test(Cond::Gt, v(t), c(100)) };
        }
        let mut body = self.block(&mut inner, 3, depth - 1);
        body.push(add(k, c(1)));
        let inner = vec![alloc(k, self.checks()), repeat(pre, post, body), sub(k, v(n)), free(k, AncillaChecks::FULL)];
        vec![with("k", compute, inner)]
    }

    pub(super) fn with(&mut self, scope: &Scope, depth: usize) -> Block {
        // What the body writes, the computation may not read.
        let mut inside = scope.clone();
        let mut body_scope = scope.clone();
        let half = self.rng.below(scope.write.len() + 1);
        let (own, others) = scope.write.split_at(half);
        body_scope.write = own.to_vec();
        inside.write = others.to_vec();
        inside.read.retain(|x| !own.contains(x));
        inside.arrays.retain(|a| !scope.open.iter().any(|o| o.region == a.region));
        inside.open.clear();
        let locals: Vec<Var> = (0..self.rng.below(4)).map(|_| self.build.var("w", Ty::Int)).collect();
        let mut compute = Vec::new();
        for l in locals {
            compute.push(alloc(l, self.checks()));
            inside.write.push(l);
            inside.read.push(l);
            body_scope.read.push(l);
        }
        compute.extend(self.block(&mut inside, 4, depth - 1));
        let body = self.block(&mut body_scope, 4, depth - 1);
        vec![with("part", compute, body)]
    }

    pub(super) fn local_array(&mut self, scope: &Scope, depth: usize) -> Block {
        let base = self.build.var("base", Ty::Int);
        let region = self.build.region(Ty::Int);
        let array = Arr { region, base };
        let len = self.build.var("len", Ty::Int);
        let known = self.rng.chance(50);
        let checks = self.checks();
        let bound = if known { c(LEN) } else { v(len) };
        let make = |free| at(Stmt::Array { base, len: bound, region, ty: Ty::Int, free, checks });
        let mut compute = if known { Vec::new() } else { vec![alloc(len, NONE), add(len, c(LEN))] };
        if self.rng.chance(50) {
            compute.push(alloc(base, AncillaChecks::FULL));
        }
        compute.push(make(false));
        let mut inside = scope.clone();
        inside.write.clear();
        inside.open = vec![array.clone()];
        inside.arrays.push(array.clone());
        compute.extend(self.block(&mut inside, 4, depth - 1));
        let mut body_scope = scope.clone();
        body_scope.arrays.push(array);
        // The computation has read everything that can be read.
        body_scope.write.clear();
        body_scope.open.clear();
        let free: Vec<Var> = scope.write.iter().copied().filter(|w| !reads(&compute, *w)).collect();
        body_scope.write = free;
        let body = self.block(&mut body_scope, 4, depth - 1);
        vec![with("array", compute, body)]
    }
}
