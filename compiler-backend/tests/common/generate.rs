//! Random programs that are well formed by construction, and mostly run: the inputs of a computation do not change before
//! it is undone, indices lie within their arrays, and numbers stay small.

use pendula_compiler::ir::*;
use pendula_isa::num::convert::from_f64;
use pendula_isa::{Cond, Env, Ty};

mod leaf;
mod structured;

use super::Random;

/// The number of words of every array that is passed in.
pub(crate) const WORDS: i64 = 16;
/// The greatest index that is added to a pointer.
const INDEX: i64 = 7;

/// The kind of programs to generate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// The types that occur in addition to integers.
    pub(crate) types: &'static [Ty],
    /// True if results depend smoothly on floating-point inputs.
    pub(crate) smooth: bool,
    /// The approximate number of statements of a function.
    pub(crate) size: usize,
    /// The most functions in addition to the entry.
    pub(crate) helpers: usize,
    /// The percentage of statements that may trap.
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

/// A program and its input.
pub(crate) struct Case {
    /// The program.
    pub(crate) program: Program,
    /// The entry's arguments.
    pub(crate) params: Vec<u64>,
    /// Their types.
    pub(crate) types: Vec<Ty>,
    /// The memory: the arrays, one after the other.
    pub(crate) memory: Vec<u64>,
    /// The types of its words.
    pub(crate) memory_types: Vec<Ty>,
}

#[derive(Clone, Copy)]
struct Pointer {
    var: Var,
    region: Region,
    ty: Ty,
    /// The number of words from its address on.
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
    /// Approximately how often a statement here runs.
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
    IrFunction::new("", Loc::default())
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

    fn at(&mut self, stmt: Stmt) -> LocatedStmt {
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
                out.push(LocatedStmt { stmt: invert::invert(&at.stmt), loc: at.loc });
            }
        }
    }

    fn ancilla(&mut self, var: Var, free: bool) -> LocatedStmt {
        self.at(Stmt::Ancilla { var, free, checks: AncillaChecks::FULL })
    }
}

fn deeper(scope: &Scope) -> Scope {
    Scope { depth: scope.depth + 1, ..scope.clone() }
}

/// Removes the inputs of a computation from what may be written before it is undone.
fn freeze(scope: &mut Scope, compute: &[LocatedStmt]) {
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
