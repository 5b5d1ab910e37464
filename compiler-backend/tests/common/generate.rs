//! Random programs that are well formed by construction, and mostly run: what is read to compute something
//! that is undone later is left alone in between, indices lie within their arrays, numbers stay small.

use pendula_compiler::ir::*;
use pendula_isa::num::convert::from_f64;
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Env, Ty};

mod leaf;

use super::Random;
use super::build::id;

/// Words of every array that is given.
pub(crate) const WORDS: i64 = 16;
/// The greatest index that is added to a pointer.
const INDEX: i64 = 7;

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// The types that occur, beside integers.
    pub(crate) types: &'static [Ty],
    /// Whether results depend smoothly on floating-point inputs.
    pub(crate) smooth: bool,
    /// Roughly how many statements a function has.
    pub(crate) size: usize,
    /// How many functions beside the entry.
    pub(crate) helpers: usize,
    /// How many statements in a hundred may trap.
    pub(crate) risk: usize,
}

impl Profile {
    /// Everything.
    pub(crate) const ALL: Profile =
        Profile { types: &[Ty::Q, Ty::L, Ty::F], smooth: false, size: 30, helpers: 2, risk: 0 };
    /// Integers, fixed-point and logarithmic numbers: exact.
    pub(crate) const EXACT: Profile = Profile { types: &[Ty::Q, Ty::L], smooth: false, size: 30, helpers: 2, risk: 0 };
    /// Divisions by what may be zero, and assertions that may fail.
    pub(crate) const RISKY: Profile = Profile { risk: 20, ..Profile::ALL };
    /// Floating-point numbers.
    pub(crate) const SMOOTH: Profile = Profile { types: &[Ty::F], smooth: true, size: 24, helpers: 1, risk: 0 };
}

/// A program and what to run it on.
pub(crate) struct Case {
    /// The program.
    pub(crate) program: Program,
    /// The entry's arguments.
    pub(crate) params: Vec<u64>,
    /// Their types.
    pub(crate) types: Vec<Ty>,
    /// The memory: an array after the other.
    pub(crate) memory: Vec<u64>,
    /// How its words are read.
    pub(crate) memory_types: Vec<Ty>,
}

#[derive(Clone, Copy)]
struct Pointer {
    var: Var,
    region: Region,
    ty: Ty,
    /// Words behind it.
    room: i64,
}

/// What a statement may use.
#[derive(Clone, Default)]
struct Scope {
    readable: Vec<Var>,
    writable: Vec<Var>,
    pointers: Vec<Pointer>,
    /// Regions that may not be written.
    frozen: Vec<Region>,
    /// Integers from 0 to [`INDEX`] that do not change.
    indices: Vec<Var>,
    /// Integers from 0 to 4 that do not change.
    counts: Vec<Var>,
    depth: usize,
    /// How often a statement here runs, roughly.
    weight: usize,
}

struct Generator {
    random: Random,
    profile: Profile,
    program: Program,
    f: IrFunction,
    budget: usize,
    line: u32,
}

/// A program from a seed.
pub(crate) fn generate(seed: u64, profile: Profile) -> Case {
    let mut g = Generator {
        random: Random(seed),
        profile,
        program: Program { files: vec!["a.nil".into()], texts: vec!["so \"far\"\n".into()], ..Program::default() },
        f: empty(),
        budget: 0,
        line: 0,
    };
    for n in 0..g.random.below(profile.helpers + 1) {
        g.function(format!("helper.{n}"), false);
    }
    g.function("main".into(), true);
    let program = g.program;
    let main = &program.functions[program.functions.len() - 1];
    let mut random = Random(seed ^ 0x5eed);
    let (mut params, mut types, mut memory, mut memory_types) = (vec![], vec![], vec![], vec![]);
    for param in &main.params {
        let info = &main.vars[param.var.0 as usize];
        let word = if info.name.starts_with("array") {
            let start = memory.len() as u64;
            let ty = region_type(&info.name);
            for _ in 0..WORDS {
                memory.push(number(&mut random, ty));
                memory_types.push(ty);
            }
            start
        } else if info.name.starts_with("count") {
            random.below(5) as u64
        } else {
            number(&mut random, info.ty)
        };
        params.push(word);
        types.push(info.ty);
    }
    Case { program, params, types, memory, memory_types }
}

fn empty() -> IrFunction {
    IrFunction {
        name: String::new(),
        params: vec![],
        vars: vec![],
        regions: vec![],
        body: vec![],
        loc: Loc::default(),
        inline: false,
        names: Vec::new(),
    }
}

fn region_type(name: &str) -> Ty {
    Ty::from_letter(name.chars().last().unwrap_or('i')).unwrap_or(Ty::Int)
}

/// A small number of a type, other than zero.
pub(crate) fn number(random: &mut Random, ty: Ty) -> u64 {
    match ty {
        Ty::Int => (random.below(21) as i64 - 10).cast_unsigned(),
        Ty::Q | Ty::L | Ty::F => {
            let size = 0.25 + 1.5 * random.unit();
            let x = if random.chance(40) { -size } else { size };
            from_f64(Env::default(), ty, x).unwrap_or(0)
        }
    }
}

const TESTS: [Cond; 6] = [Cond::Eq, Cond::Ne, Cond::Lt, Cond::Le, Cond::Gt, Cond::Ge];

impl Generator {
    fn function(&mut self, name: String, main: bool) {
        self.f = empty();
        self.f.name = name;
        self.f.inline = self.random.chance(30);
        let mut scope = Scope { weight: 1, ..Scope::default() };
        let types: Vec<Ty> = std::iter::once(Ty::Int).chain(self.profile.types.iter().copied()).collect();
        for ty in types.iter().copied() {
            for n in 0..1 + self.random.below(2) + usize::from(main) {
                let v = self.param(format!("x{n}{}", ty.letter()), ty, true);
                scope.readable.push(v);
                scope.writable.push(v);
            }
            if self.random.chance(60) {
                let v = self.param(format!("c{}", ty.letter()), ty, false);
                scope.readable.push(v);
            }
            if main || self.random.chance(50) {
                let v = self.param(format!("array.{}", ty.letter()), Ty::Int, false);
                self.f.regions.push(RegionInfo { name: format!("array.{}", ty.letter()), ty });
                let region = Region(self.f.regions.len() as u32 - 1);
                self.f.vars[v.0 as usize].points = Some(region);
                scope.pointers.push(Pointer { var: v, region, ty, room: WORDS });
            }
        }
        let count = self.param("count".into(), Ty::Int, false);
        scope.counts.push(count);
        scope.readable.push(count);
        self.budget = self.profile.size / 2 + self.random.below(self.profile.size);
        let body = self.block(&scope);
        self.f.body = body;
        let f = std::mem::replace(&mut self.f, empty());
        self.program.functions.push(f);
        self.program.entry = Some(FunctionId(self.program.functions.len() as u32 - 1));
    }

    fn param(&mut self, name: String, ty: Ty, written: bool) -> Var {
        let var = self.f.fresh(name, ty);
        self.f.params.push(Param { var, written });
        var
    }

    fn at(&mut self, stmt: Stmt) -> At {
        self.line += 1;
        stmt.at(Loc { file: 0, column: (self.line % 40) as u16 + 1, line: self.line })
    }

    fn block(&mut self, scope: &Scope) -> Block {
        let mut out = vec![];
        for _ in 0..1 + self.random.below(4) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.statement(scope, &mut out);
        }
        out
    }

    fn ty(&mut self) -> Ty {
        let n = self.random.below(self.profile.types.len() + 1);
        self.profile.types.get(n).copied().unwrap_or(Ty::Int)
    }

    fn statement(&mut self, scope: &Scope, out: &mut Block) {
        let leaf = scope.depth >= 4 || scope.weight > 200;
        let risky = self.random.chance(self.profile.risk / 4);
        let stmt = match self.random.below(if leaf { 50 } else { 100 }) {
            _ if risky => self.assertion(scope),
            0..38 => {
                let ty = self.ty();
                self.place(scope, ty).map(|dst| self.update(scope, dst, ty))
            }
            38..46 => self.permutation(scope),
            46..48 => self.assertion(scope),
            48 => Some(Stmt::Print(0)).filter(|_| self.random.chance(20)),
            49 => {
                let ty = self.ty();
                self.of(&scope.readable, ty).map(|v| Stmt::Show { ty, value: Operand::Var(v) })
            }
            50..70 => Some(self.with(scope)),
            70..80 => Some(self.counted(scope)),
            80..86 => self.branch(scope),
            86..90 => {
                self.turns(scope, out);
                None
            }
            90..94 => {
                self.straight(scope, out);
                None
            }
            94..95 => {
                let inner = deeper(scope);
                let body = self.block(&inner);
                Some(Stmt::Span { name: "part".into(), undo: self.random.chance(50), body })
            }
            _ => self.call(scope),
        };
        if let Some(stmt) = stmt {
            let again = matches!(stmt, Stmt::Assert { .. } | Stmt::With { .. }) && self.random.chance(30);
            let at = self.at(stmt);
            out.extend(again.then(|| at.clone()));
            let back = self.random.chance(4);
            out.push(at.clone());
            if back {
                out.push(At { stmt: invert::invert(&at.stmt), loc: at.loc });
            }
        }
    }

    fn ancilla(&mut self, var: Var, free: bool) -> At {
        self.at(Stmt::Ancilla { var, free, care: AncillaChecks::FULL })
    }

    /// An ancilla that is computed, and what may be done while it lives.
    fn compute(&mut self, scope: &Scope, out: &mut Block) -> Scope {
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
                out.push(self.at(Stmt::Array { base, len, region, ty, free: false, care: AncillaChecks::FULL }));
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
                // Something else, changed for a time.
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

    fn with(&mut self, scope: &Scope) -> Stmt {
        let mut compute = vec![];
        let inner = self.compute(scope, &mut compute);
        let body = self.block(&inner);
        Stmt::With { name: "with".into(), compute, body }
    }

    /// The same without a [`Stmt::With`].
    fn straight(&mut self, scope: &Scope, out: &mut Block) {
        let from = out.len();
        let inner = self.compute(scope, out);
        let undone = invert::block(&out[from..]);
        out.extend(self.block(&inner));
        out.extend(undone);
    }

    fn counted(&mut self, scope: &Scope) -> Stmt {
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
        Stmt::For { var, first, last, step, body }
    }

    fn branch(&mut self, scope: &Scope) -> Option<Stmt> {
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
    fn turns(&mut self, scope: &Scope, out: &mut Block) {
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

    fn call(&mut self, scope: &Scope) -> Option<Stmt> {
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

fn deeper(scope: &Scope) -> Scope {
    Scope { depth: scope.depth + 1, ..scope.clone() }
}

/// What computes something that is undone later is left alone in between.
fn freeze(scope: &mut Scope, compute: &[At]) {
    for s in compute {
        if let Stmt::Update { args, dst, .. } = &s.stmt {
            for operand in args.iter().copied().chain([Operand::from(*dst)]) {
                match operand {
                    Operand::Const(_) => {}
                    Operand::Var(v) if operand != (*dst).into() => scope.writable.retain(|w| *w != v),
                    Operand::Var(_) => {}
                    Operand::Mem(m) => scope.frozen.push(m.region),
                }
            }
        }
    }
}
