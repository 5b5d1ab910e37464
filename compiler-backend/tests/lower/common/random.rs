//! Random programs that follow the rules of the IR: computations are undone, and conditions agree.

use pendula_compiler::ir::*;
use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::*;

mod structured;

pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 20
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// The number of words of an array.
const LEN: i64 = 8;

#[derive(Clone, Debug)]
struct Arr {
    region: Region,
    base: Var,
}

/// What statements may use where they stand.
#[derive(Clone, Default)]
struct Scope {
    read: Vec<Var>,
    write: Vec<Var>,
    /// Variables from 0 to 7.
    index: Vec<Var>,
    arrays: Vec<Arr>,
    /// Those of them that may be written.
    open: Vec<Arr>,
}

/// Sizes of a random program.
#[derive(Clone, Copy)]
pub struct Shape {
    pub functions: usize,
    pub locals: usize,
    pub params: usize,
    pub statements: usize,
    pub depth: usize,
}

struct Gen<'r> {
    rng: &'r mut Rng,
    build: Build,
    shape: Shape,
    /// Functions that may be called, with the numbers of written and unwritten scalar parameters.
    callees: Vec<(u32, usize, usize)>,
    names: usize,
    /// True for the function that a run calls, which has a third array.
    entry: bool,
}

/// A program whose functions each have `params` written words, as many that are only read, and two arrays.
pub fn random_program(rng: &mut Rng, shape: Shape) -> (Program, Vec<Argument>) {
    let mut functions = Vec::new();
    let mut callees = Vec::new();
    for n in 0..shape.functions {
        let id = (shape.functions - 1 - n) as u32;
        let small = Shape { locals: shape.locals.min(3), statements: 3, depth: 1, params: 1 + rng.below(3), ..shape };
        let own = if id == 0 { shape } else { small };
        let mut g = Gen {
            rng,
            build: Build::new(&format!("f{id}")),
            shape: own,
            callees: callees.clone(),
            names: 0,
            entry: id == 0,
        };
        let body = g.function();
        functions.push(g.build.body(body));
        callees.push((id, own.params, own.params));
    }
    functions.reverse();
    let mut arguments = Vec::new();
    for n in 0..shape.params {
        arguments.push(int(&format!("w{n}"), rng.below(2000) as i64 - 1000));
    }
    for n in 0..shape.params {
        arguments.push(int(&format!("x{n}"), rng.below(2000) as i64 - 1000));
    }
    for name in ["a!", "b!", "d!"] {
        let words: Vec<i64> = (0..LEN).map(|_| rng.below(100) as i64).collect();
        arguments.push(ints(name, &words, &[]));
    }
    (program(functions), arguments)
}

impl Gen<'_> {
    fn function(&mut self) -> Block {
        let count = self.shape.params;
        let out: Vec<Var> = (0..count).map(|n| self.build.param(&format!("w{n}"), Ty::Int, true)).collect();
        let inputs: Vec<Var> = (0..count).map(|n| self.build.param(&format!("x{n}"), Ty::Int, false)).collect();
        let names: &[&str] = if self.entry { &["a!", "b!", "d!"] } else { &["a!", "b!"] };
        let arrays: Vec<Arr> = names
            .iter()
            .map(|n| {
                let base = self.build.param(n, Ty::Int, false);
                Arr { region: self.build.region(Ty::Int), base }
            })
            .collect();
        let a = arrays[0].clone();
        let mut scope = Scope { read: inputs.clone(), arrays: vec![a.clone()], ..Scope::default() };
        let mut compute = Vec::new();
        for _ in 0..self.shape.locals {
            let local = self.build.var("l", Ty::Int);
            compute.push(alloc(local, self.checks()));
            let from = v(*self.rng.pick(&inputs));
            compute.push(add(local, from));
            scope.read.push(local);
            scope.write.push(local);
        }
        compute.extend(self.block(&mut scope, self.shape.statements, self.shape.depth));
        let mut inner = scope.clone();
        inner.read.extend(&out);
        inner.write = out;
        inner.arrays = arrays.clone();
        inner.open = arrays[1..].to_vec();
        let body = self.block(&mut inner, self.shape.statements, self.shape.depth);
        vec![with("all", compute, body)]
    }

    fn checks(&mut self) -> AncillaChecks {
        if self.rng.chance(50) { AncillaChecks::FULL } else { NONE }
    }

    fn block(&mut self, scope: &mut Scope, count: usize, depth: usize) -> Block {
        let mut out = Vec::new();
        for _ in 0..1 + self.rng.below(count) {
            out.extend(self.stmt(scope, depth));
        }
        out
    }

    /// An operand to be read; not this variable, nor a word of this region.
    fn operand(&mut self, scope: &Scope, not: Option<Var>, region: Option<Region>) -> Operand {
        let vars: Vec<Var> = scope.read.iter().chain(&scope.index).copied().filter(|x| Some(*x) != not).collect();
        let arrays: Vec<Arr> = scope.arrays.iter().filter(|a| Some(a.region) != region).cloned().collect();
        match self.rng.below(10) {
            0 => c(self.rng.below(10) as i64 - 3),
            1 => c((self.rng.next() as i64) << 20),
            2..=5 if !arrays.is_empty() => {
                let a = self.rng.pick(&arrays).clone();
                word(self.cell(scope, &a))
            }
            _ if !vars.is_empty() => v(*self.rng.pick(&vars)),
            _ => c(5),
        }
    }

    fn cell(&mut self, scope: &Scope, array: &Arr) -> Mem {
        if scope.index.is_empty() || self.rng.chance(40) {
            return mem(array.region, Some(array.base), None, self.rng.below(LEN as usize) as i64);
        }
        let i = *self.rng.pick(&scope.index);
        if self.rng.chance(20) {
            return mem(array.region, Some(i), Some(array.base), 0);
        }
        mem(array.region, Some(array.base), Some(i), 0)
    }

    /// A place to be written.
    fn place(&mut self, scope: &Scope) -> Option<Operand> {
        if !scope.open.is_empty() && (scope.write.is_empty() || self.rng.chance(40)) {
            let a = self.rng.pick(&scope.open).clone();
            return Some(word(self.cell(scope, &a)));
        }
        (!scope.write.is_empty()).then(|| v(*self.rng.pick(&scope.write)))
    }

    fn update(&mut self, scope: &Scope) -> Block {
        use int_fn::Name::{And, Eq, Id, Lt, Max, Min, Mul, Or, Sar, Shl, Shr};
        let Some(dst) = self.place(scope) else { return Vec::new() };
        let (not, region) = match dst {
            Operand::Var(x) => (Some(x), None),
            Operand::Mem(m) => (None, Some(m.region)),
            Operand::Const(_) => (None, None),
        };
        let f = *self.rng.pick(&[Id, Id, Id, Mul, Mul, And, Or, Shl, Shr, Sar, Lt, Eq, Min, Max]);
        let func = TableFn::Int(f);
        let args = (0..func.info().args.len()).map(|_| self.operand(scope, not, region)).collect();
        let acc = if self.rng.chance(25) { Acc::Xor } else { Acc::Add };
        let inverse = acc == Acc::Add && self.rng.chance(40);
        let dst = match dst {
            Operand::Mem(m) => Place::Mem(m),
            Operand::Var(x) => Place::Var(x),
            Operand::Const(_) => return Vec::new(),
        };
        vec![at(Stmt::Update { acc, inverse, func, dst, args })]
    }

    fn permute(&mut self, scope: &Scope) -> Block {
        let (Some(a), Some(b)) = (self.place(scope), self.place(scope)) else { return Vec::new() };
        let inverse = self.rng.chance(50);
        let (row, args) = match self.rng.below(5) {
            0 => {
                let distinct = match (a, b) {
                    (Operand::Var(x), Operand::Var(y)) => x != y,
                    (Operand::Mem(x), Operand::Mem(y)) => {
                        x.region != y.region || (x.index == y.index && x.base == y.base && x.offset != y.offset)
                    }
                    _ => true,
                };
                if !distinct {
                    return Vec::new();
                }
                return vec![swap(a, b)];
            }
            1 => (Row::Neg, vec![a]),
            2 => (Row::Not, vec![a]),
            3 => (Row::Inc, vec![a]),
            _ => {
                let (not, region) = match a {
                    Operand::Var(x) => (Some(x), None),
                    Operand::Mem(m) => (None, Some(m.region)),
                    Operand::Const(_) => (None, None),
                };
                (Row::Rol, vec![a, self.operand(scope, not, region)])
            }
        };
        vec![at(Stmt::Permute { row, inverse, ty: Ty::Int, args })]
    }

    /// A condition, and the scope in which it stays as it is.
    fn condition(&mut self, scope: &Scope) -> (Condition, Scope) {
        let a = self.operand(scope, None, None);
        let b = self.operand(scope, None, None);
        let cond = *self.rng.pick(&Cond::TESTS);
        let mut inner = scope.clone();
        for o in [a, b] {
            freeze(&mut inner, &o);
        }
        if self.rng.chance(60) {
            return (when(cond, a, b), inner);
        }
        let t = self.build.var("t", Ty::Int);
        let compute = vec![alloc(t, self.checks()), add(t, a), update(MUL, Place::Var(t), &[b, c(3)])];
        let other = self.operand(&Scope { write: vec![], ..inner.clone() }, None, None);
        freeze(&mut inner, &other);
        (Condition { compute, test: test(cond, v(t), other) }, inner)
    }

    /// A new variable between 0 and 7, and its computation.
    fn bounded(&mut self, scope: &Scope) -> (Var, Block, Scope) {
        let n = self.build.var("n", Ty::Int);
        let a = self.operand(scope, None, None);
        let mut inner = scope.clone();
        freeze(&mut inner, &a);
        let and = TableFn::Int(int_fn::Name::And);
        let most = *self.rng.pick(&[1, 3, 7]);
        (n, vec![alloc(n, self.checks()), update(and, Place::Var(n), &[a, c(most)])], inner)
    }

    fn stmt(&mut self, scope: &mut Scope, depth: usize) -> Block {
        let count = self.shape.statements.min(4);
        match self.rng.below(if depth == 0 { 8 } else { 20 }) {
            0..=4 => self.update(scope),
            5 | 6 => self.permute(scope),
            7 => self.invocation(scope),
            8..=10 => {
                let (pre, mut inner) = self.condition(scope);
                let then = self.block(&mut inner.clone(), count, depth - 1);
                let otherwise = if self.rng.chance(50) { Vec::new() } else { self.block(&mut inner, count, depth - 1) };
                if self.rng.chance(20) {
                    return vec![branch(pre.clone(), pre, otherwise, then)];
                }
                vec![branch(pre.clone(), pre, then, otherwise)]
            }
            11 => self.flagged(scope, depth),
            12..=14 => self.for_loop(scope, depth),
            15 => self.while_loop(scope, depth),
            16 | 17 => self.with(scope, depth),
            18 => self.local_array(scope, depth),
            _ => {
                let n = self.names;
                self.names += 1;
                let body = self.block(scope, count, depth - 1);
                vec![at(Stmt::Span { name: format!("part{n}"), undo: false, body })]
            }
        }
    }

    fn invocation(&mut self, scope: &Scope) -> Block {
        if self.callees.is_empty() || scope.arrays.is_empty() {
            return Vec::new();
        }
        let (func, written, given) = *self.rng.pick(&self.callees.clone());
        let mut places: Vec<Operand> = scope.write.iter().map(|w| v(*w)).collect();
        for a in &scope.open {
            for offset in 0..2 {
                places.push(word(mem(a.region, Some(a.base), None, offset)));
            }
            if let Some(i) = scope.index.last() {
                // At most one word of an array has a variable address, since two might be the same word.
                places.retain(|p| !matches!(p, Operand::Mem(m) if m.region == a.region));
                places.push(word(mem(a.region, Some(a.base), Some(*i), 0)));
            }
        }
        // The callee writes its second array, which must differ from the others.
        let Some(target) = scope.open.first().cloned() else { return Vec::new() };
        let mut args = Vec::new();
        places.retain(|p| !matches!(p, Operand::Mem(m) if m.region == target.region));
        if places.len() < written {
            return Vec::new();
        }
        for _ in 0..written {
            let at = self.rng.below(places.len());
            args.push(places.swap_remove(at));
        }
        let mut rest = scope.clone();
        for a in &args {
            if let Operand::Var(x) = a {
                rest.read.retain(|r| r != x);
            }
        }
        rest.arrays.retain(|a| !scope.open.iter().any(|o| o.region == a.region));
        for _ in 0..given {
            args.push(self.operand(&rest, None, None));
        }
        let Some(source) = rest.arrays.first() else { return Vec::new() };
        args.extend([v(source.base), v(target.base)]);
        if self.rng.chance(40) { vec![uncall(func, &args)] } else { vec![call(func, &args)] }
    }
}

/// Removes what an operand reads from what may be written.
fn freeze(scope: &mut Scope, o: &Operand) {
    match o {
        Operand::Const(_) => {}
        Operand::Var(x) => scope.write.retain(|w| w != x),
        Operand::Mem(m) => {
            scope.open.retain(|a| a.region != m.region);
            scope.write.retain(|w| Some(*w) != m.base && Some(*w) != m.index);
        }
    }
}

/// Whether a variable occurs in a block, by its debug text.
fn reads(block: &Block, var: Var) -> bool {
    format!("{block:?}").contains(&format!("{var:?}"))
}
