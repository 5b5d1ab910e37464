//! Modules made by hand, and helpers to make them.

use pendula_isa::inst::Inst;
use pendula_isa::mnemonic;
use pendula_isa::module::{Flags, Loc, Module, Span, Symbol, SymbolKind};
use pendula_isa::num::Format;
use pendula_isa::operand::Operand;
use pendula_isa::types::{Reg, Ty};

pub(super) fn r(n: u8) -> Operand {
    Operand::Reg(Reg::new(n).unwrap())
}

pub(super) fn at(offset: i64) -> Operand {
    Operand::Mem { base: Reg::ZERO, index: Reg::ZERO, offset }
}

pub(super) fn int(n: i64) -> Operand {
    Operand::Imm(n.cast_unsigned(), Ty::Int)
}

pub(super) fn to(offset: i64) -> Operand {
    Operand::Label(offset)
}

pub(super) fn i(mnemonic: &str, operands: &[Operand]) -> Inst {
    let family = mnemonic::lookup(mnemonic).unwrap_or_else(|| panic!("no {mnemonic}"));
    Inst::build(family, operands).unwrap_or_else(|e| panic!("{mnemonic}: {e}"))
}

pub(super) fn symbol(name: &str, kind: SymbolKind, value: u64) -> Symbol {
    Symbol { name: name.to_string(), kind, value, global: false, doc: String::new() }
}

pub(super) fn data(ty: Ty, len: u64, import: bool, export: bool) -> SymbolKind {
    SymbolKind::Data { ty, len, import, export }
}

pub(super) fn span(name: &str, undo: bool, start: u32, end: u32) -> Span {
    Span { name: name.to_string(), undo, start, end }
}

pub(super) fn program(code: Vec<Inst>) -> Module {
    Module { code, ..Module::default() }
}

/// Instructions between `start` and `finish`.
pub(super) fn run(body: Vec<Inst>) -> Module {
    let mut code = vec![i("start", &[])];
    code.extend(body);
    code.push(i("finish", &[]));
    program(code)
}

/// The program of the instruction set's chapter on jumps.
pub(super) fn fib() -> Module {
    let mut module = run(vec![
        i("add", &[r(3), at(0)]),
        i("inc", &[r(2)]),
        i("from.ne", &[r(4), r(0), to(4)]),
        i("add", &[r(1), r(2)]),
        i("swap", &[r(1), r(2)]),
        i("inc", &[r(4)]),
        i("jmp.ne", &[r(4), r(3), to(-4)]),
        i("sub", &[r(3), at(0)]),
    ]);
    module.data = vec![18].into();
    module.symbols = vec![
        symbol("n", data(Ty::Int, 1, true, false), 0),
        symbol("main", SymbolKind::Label, 0),
        symbol("top", SymbolKind::Label, 3),
        symbol("bottom", SymbolKind::Label, 7),
    ];
    module.symbols[1].global = true;
    module.files = vec!["fib.rasm".to_string()];
    module.locs = (0..10).map(|n| Loc { file: 0, column: 9, line: 5 + n }).collect();
    module
}

/// A module with an example of everything that a module can hold.
pub(super) fn mixed() -> Module {
    let mut module = program(vec![
        i("proc", &[to(4)]),
        i("push", &[r(1)]),
        i("xormul", &[r(2), r(3), int(0x1234_5678_9abc)]),
        i("pop", &[r(1)]),
        i("ret", &[to(-4)]),
        i("start", &[]),
        i("call", &[to(-6)]),
        i("print", &[Operand::Text(0)]),
        i("add.f", &[r(4), Operand::Imm(1.5f64.to_bits(), Ty::F)]),
        i("uncall", &[to(-9)]),
        i("finish", &[]),
    ]);
    module.data = vec![1, 0, 3 << 42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].into();
    module.symbols = vec![
        symbol("big", data(Ty::F, 8, false, true), 5),
        symbol("f", SymbolKind::Proc, 0),
        symbol("größe", data(Ty::Int, 2, true, false), 0),
        symbol("mid", data(Ty::Q, 3, true, true), 2),
        symbol("end", SymbolKind::Label, 11),
    ];
    module.symbols[1].doc = "Does nothing,\ntwice.".to_string();
    module.symbols[1].global = true;
    module.texts = vec!["hello \"you\"\n".to_string(), String::new()];
    module.spans = vec![span("a", false, 6, 9), span("b", false, 7, 7), span("a", true, 9, 10)];
    module.flags = Flags { format: Format::Q21_43, mem: Some(1 << 20), ..Flags::default() };
    module
}
