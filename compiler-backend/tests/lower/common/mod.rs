//! Helpers for tests of lowering: building the representation by hand, and
//! running modules in both directions.

#![allow(dead_code, unreachable_pub, reason = "every test file takes what it needs")]

pub mod interp;
pub mod random;

use pendula_compiler::ir::*;
use pendula_compiler::lower::{Argument, ArgumentKind, LowerError, Options, lower};
use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;
use pendula_isa::module::SymbolKind;
use pendula_isa::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::types::Reg;
use pendula_isa::{Acc, Cond, Module, Ty};
use pendula_vm::gradient::{self, Cell, Variable};
use pendula_vm::{Config, Machine, Outcome, Program as Code};

pub const INT: TableFn = TableFn::Int(int_fn::Name::Id);
pub const MUL: TableFn = TableFn::Int(int_fn::Name::Mul);
pub const QID: TableFn = TableFn::Q(q_fn::Name::Id);
pub const QMUL: TableFn = TableFn::Q(q_fn::Name::Mul);
pub const QMULADD: TableFn = TableFn::Q(q_fn::Name::Muladd);
pub const FID: TableFn = TableFn::F(f_fn::Name::Id);
pub const FMUL: TableFn = TableFn::F(f_fn::Name::Mul);
pub const FMULADD: TableFn = TableFn::F(f_fn::Name::Muladd);
pub const LID: TableFn = TableFn::L(l_fn::Name::Id);
pub const LMUL: TableFn = TableFn::L(l_fn::Name::Mul);

pub const NONE: AncillaChecks = AncillaChecks { check: false, drop: false };

/// A number as a `.q` word.
pub fn q(x: f64) -> u64 {
    ((x * 4_294_967_296.0) as i64).cast_unsigned()
}

/// The number of a `.q` word.
pub fn of_q(word: u64) -> f64 {
    word.cast_signed() as f64 / 4_294_967_296.0
}

/// A function that is being built.
pub struct Build(pub IrFunction);

impl Build {
    pub fn new(name: &str) -> Build {
        Build(IrFunction::new(name, Loc { file: 0, column: 1, line: 1 }))
    }

    pub fn param(&mut self, name: &str, ty: Ty, written: bool) -> Var {
        let var = self.0.fresh(name, ty);
        self.0.params.push(Param { var, written });
        var
    }

    pub fn var(&mut self, name: &str, ty: Ty) -> Var {
        self.0.fresh(name, ty)
    }

    pub fn vars<const N: usize>(&mut self, ty: Ty) -> [Var; N] {
        std::array::from_fn(|n| self.0.fresh(format!("v{n}"), ty))
    }

    pub fn region(&mut self, ty: Ty) -> Region {
        self.0.regions.push(RegionInfo { name: format!("a{}", self.0.regions.len()), ty });
        Region(self.0.regions.len() as u32 - 1)
    }

    pub fn body(mut self, body: Block) -> IrFunction {
        self.0.body = body;
        self.0
    }
}

/// A statement without a place in a file.
pub fn at(stmt: Stmt) -> LocatedStmt {
    stmt.at(Loc { file: 0, column: 1, line: 2 })
}

pub fn v(var: Var) -> Operand {
    Operand::Var(var)
}

pub fn c(n: i64) -> Operand {
    Operand::Const(n.cast_unsigned())
}

pub fn fl(x: f64) -> Operand {
    Operand::Const(x.to_bits())
}

pub fn mem(region: Region, base: Option<Var>, index: Option<Var>, offset: i64) -> Mem {
    Mem { base, index, offset, region }
}

pub fn place(m: Mem) -> Place {
    Place::Mem(m)
}

pub fn word(m: Mem) -> Operand {
    Operand::Mem(m)
}

pub fn update(func: TableFn, dst: Place, args: &[Operand]) -> LocatedStmt {
    let acc = if func.info().ty == Ty::L { Acc::Mul } else { Acc::Add };
    at(Stmt::Update { acc, inverse: false, func, dst, args: args.to_vec() })
}

pub fn minus(func: TableFn, dst: Place, args: &[Operand]) -> LocatedStmt {
    let acc = if func.info().ty == Ty::L { Acc::Mul } else { Acc::Add };
    at(Stmt::Update { acc, inverse: true, func, dst, args: args.to_vec() })
}

pub fn add(dst: Var, arg: Operand) -> LocatedStmt {
    update(INT, Place::Var(dst), &[arg])
}

pub fn sub(dst: Var, arg: Operand) -> LocatedStmt {
    minus(INT, Place::Var(dst), &[arg])
}

pub fn alloc(var: Var, checks: AncillaChecks) -> LocatedStmt {
    at(Stmt::Ancilla { var, free: false, checks })
}

pub fn free(var: Var, checks: AncillaChecks) -> LocatedStmt {
    at(Stmt::Ancilla { var, free: true, checks })
}

pub fn swap(a: Operand, b: Operand) -> LocatedStmt {
    permute(Row::Swap, Ty::Int, &[a, b])
}

pub fn permute(row: Row, ty: Ty, args: &[Operand]) -> LocatedStmt {
    at(Stmt::Permute { row, inverse: false, ty, args: args.to_vec() })
}

pub fn test(cond: Cond, a: Operand, b: Operand) -> Test {
    Test { cond, ty: Ty::Int, a, b }
}

pub fn when(cond: Cond, a: Operand, b: Operand) -> Condition {
    Condition::of(test(cond, a, b))
}

pub fn each(var: Var, first: Operand, last: Operand, step: Step, body: Block) -> LocatedStmt {
    at(Stmt::For { var, first, last, step, body, blocks: None })
}

pub fn with(name: &str, compute: Block, body: Block) -> LocatedStmt {
    at(Stmt::With { name: name.into(), compute, body })
}

pub fn branch(pre: Condition, post: Condition, then: Block, otherwise: Block) -> LocatedStmt {
    at(Stmt::If { pre, post, then, otherwise })
}

pub fn repeat(pre: Condition, post: Condition, body: Block) -> LocatedStmt {
    at(Stmt::While { pre, post, first: Vec::new(), body })
}

/// A loop that is left in its middle.
pub fn repeat_from(post: Condition, first: Block, pre: Condition, body: Block) -> LocatedStmt {
    at(Stmt::While { pre, post, first, body })
}

pub fn call(func: u32, args: &[Operand]) -> LocatedStmt {
    at(Stmt::Call { func: FunctionId(func), inverse: false, args: args.to_vec() })
}

pub fn uncall(func: u32, args: &[Operand]) -> LocatedStmt {
    at(Stmt::Call { func: FunctionId(func), inverse: true, args: args.to_vec() })
}

/// A program with these functions; the first is the entry.
pub fn program(functions: Vec<IrFunction>) -> Program {
    Program {
        functions,
        entry: Some(FunctionId(0)),
        texts: vec!["text".into()],
        files: vec!["test.jl".into()],
        ..Program::default()
    }
}

pub fn word_of(name: &str, ty: Ty, value: u64) -> Argument {
    Argument { name: name.into(), kind: ArgumentKind::Word { ty, value } }
}

pub fn int(name: &str, value: i64) -> Argument {
    word_of(name, Ty::Int, value.cast_unsigned())
}

pub fn array(name: &str, ty: Ty, words: &[u64], lens: &[i64]) -> Argument {
    Argument { name: name.into(), kind: ArgumentKind::Array { ty, words: words.to_vec(), lens: lens.to_vec() } }
}

pub fn ints(name: &str, words: &[i64], lens: &[i64]) -> Argument {
    let words: Vec<u64> = words.iter().map(|w| w.cast_unsigned()).collect();
    array(name, Ty::Int, &words, lens)
}

pub fn lowered(program: &Program, arguments: &[Argument]) -> Result<Module, LowerError> {
    lower(program, arguments, &Options::default())
}

/// The assembly text of a module.
pub fn text(module: &Module) -> String {
    pendula_asm::disasm::disassemble(module)
}

/// The result of a forward run.
pub struct RunResult {
    pub memory: Vec<u64>,
    pub executed: u64,
    module: Module,
}

impl RunResult {
    /// The words of a data symbol.
    pub fn words(&self, name: &str) -> Vec<i64> {
        let symbol = self.module.symbol(name).unwrap_or_else(|| panic!("no symbol {name}"));
        let SymbolKind::Data { len, .. } = symbol.kind else { panic!("{name} is no data") };
        let at = symbol.value as usize;
        self.memory[at..at + len as usize].iter().map(|w| w.cast_signed()).collect()
    }

    pub fn word(&self, name: &str) -> i64 {
        self.words(name)[0]
    }

    pub fn float(&self, name: &str) -> f64 {
        f64::from_bits(self.word(name).cast_unsigned())
    }
}

fn go(machine: &mut Machine<'_>, module: &Module) -> Result<(), String> {
    match machine.run(Some(50_000_000)) {
        Outcome::Finished => Ok(()),
        Outcome::Limit => Err(format!("endless\n{}", text(module))),
        Outcome::Trap(trap) => Err(format!("{trap:?}\n{}", text(module))),
    }
}

/// Checks that registers and stack are zero, except for the stack pointer.
fn check_clear(machine: &Machine<'_>, module: &Module) {
    let data = module.data.len();
    let regs = machine.registers();
    for (n, r) in regs.iter().enumerate().take(31) {
        assert_eq!(*r, 0, "r{n} is left\n{}", text(module));
    }
    assert_eq!(regs[31], data as u64, "sp\n{}", text(module));
    let left = machine.memory()[data..].iter().position(|w| *w != 0);
    assert_eq!(left, None, "the stack is not clear\n{}", text(module));
}

/// Runs a module forward and backward, and checks that everything is restored. Also checks that the module survives being
/// written as an object.
pub fn try_run(module: &Module) -> Result<RunResult, String> {
    let bytes = pendula_asm::object::write(module).map_err(|e| e.to_string())?;
    let again = pendula_asm::object::read(&bytes).map_err(|e| e.to_string())?;
    assert_eq!(again.code, module.code);
    assert_eq!(module.locs.len(), module.code.len());
    let code = Code::new(module.clone(), true).map_err(|e| e.to_string())?;
    let config = Config { mem: Some(module.data.len() as u64 + 100_000), ..Config::default() };
    let mut machine = Machine::new(&code, &config).map_err(|e| e.to_string())?;
    go(&mut machine, module)?;
    check_clear(&machine, module);
    let ran = RunResult { memory: machine.memory().to_vec(), executed: machine.executed(), module: module.clone() };
    if !module.flags.irreversible {
        machine.begin(Direction::Backward);
        go(&mut machine, module).map_err(|e| format!("backward: {e}"))?;
        check_clear(&machine, module);
        assert!(machine.memory()[..module.data.len()].iter().copied().eq(module.data.iter()), "{}", text(module));
    }
    Ok(ran)
}

/// Lowers and runs.
pub fn run(program: &Program, arguments: &[Argument]) -> RunResult {
    let module = lowered(program, arguments).unwrap_or_else(|e| panic!("{e}"));
    try_run(&module).unwrap_or_else(|e| panic!("{e}"))
}

/// The gradient words of all data words after a gradient run with the given loss, as numbers of the loss's gradient type; registers and stack must
/// carry none.
pub fn gradient_of(module: &Module, loss: &str) -> Vec<u64> {
    let symbol = module.symbol(loss).expect("the loss");
    let SymbolKind::Data { ty, .. } = symbol.kind else { panic!("{loss} is no data") };
    let code = Code::new(module.clone(), true).expect("a program");
    let config = Config { mem: Some(module.data.len() as u64 + 10_000), ..Config::default() };
    let mut machine = Machine::new(&code, &config).expect("a machine");
    let mut run = |m: &mut Machine<'_>| go(m, module);
    gradient::forward(&mut machine, &mut run).unwrap_or_else(|e| panic!("{e}"));
    let variable = Variable { cell: Cell::Word(symbol.value as usize), ty };
    let one = gradient::one(machine.env(), ty);
    gradient::gradient(&mut machine, variable, one, &mut run).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(machine.ad_mode(), AdMode::Gradient);
    for n in 0..31 {
        let r = Reg::new(n).expect("a register");
        assert_eq!(machine.lane_register(1, r), 0, "{r} carries a gradient\n{}", text(module));
    }
    let data = module.data.len();
    for at in data..data + 1000 {
        assert_eq!(machine.lane_word(1, at), 0, "stack word {at} carries a gradient\n{}", text(module));
    }
    (0..data).map(|at| machine.lane_word(1, at)).collect()
}

/// The mnemonics of a module's instructions.
pub fn mnemonics(module: &Module) -> Vec<String> {
    module.code.iter().map(|i| i.kind.mnemonic()).collect()
}

/// The mnemonics between the first `from` and the last `jmp`: the outermost loop.
pub fn loop_of(module: &Module) -> Vec<String> {
    let all = mnemonics(module);
    let first = all.iter().position(|m| m.starts_with("from")).expect("a loop");
    let last = all.iter().rposition(|m| m.starts_with("jmp")).expect("a loop");
    all[first..=last].to_vec()
}
