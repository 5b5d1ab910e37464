//! Objects, the inverter, the disassembler and `check`, on modules made by hand and by chance.

use pendula_asm::assemble::{Options, assemble};
use pendula_asm::check::{At, Finding, check};
use pendula_asm::disasm::{disassemble, listing};
use pendula_asm::invert::{InvertError, invert};
use pendula_asm::object::{self, ObjectError};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Flags, Loc, Module, Span, Symbol, SymbolKind, Variable};
use pendula_isa::num::{Format, decimal};
use pendula_isa::operand::{Operand, OperandKind};
use pendula_isa::table::Flow;
use pendula_isa::types::{Cond, Profile, Reg, Ty};
use pendula_isa::verify::verify;
use pendula_isa::{Acc, mnemonic};
use proptest::prelude::*;

// ---- modules by hand ----

fn r(n: u8) -> Operand {
    Operand::Reg(Reg::new(n).unwrap())
}

fn at(offset: i64) -> Operand {
    Operand::Mem { base: Reg::ZERO, index: Reg::ZERO, offset }
}

fn int(n: i64) -> Operand {
    Operand::Imm(n.cast_unsigned(), Ty::Int)
}

fn to(offset: i64) -> Operand {
    Operand::Label(offset)
}

fn i(mnemonic: &str, operands: &[Operand]) -> Inst {
    let family = mnemonic::lookup(mnemonic).unwrap_or_else(|| panic!("no {mnemonic}"));
    Inst::build(family, operands).unwrap_or_else(|e| panic!("{mnemonic}: {e}"))
}

fn symbol(name: &str, kind: SymbolKind, value: u64) -> Symbol {
    Symbol { name: name.to_string(), kind, value, global: false, doc: String::new() }
}

fn data(ty: Ty, len: u64, import: bool, export: bool) -> SymbolKind {
    SymbolKind::Data { ty, len, import, export }
}

fn span(name: &str, undo: bool, start: u32, end: u32) -> Span {
    Span { name: name.to_string(), undo, start, end }
}

fn program(code: Vec<Inst>) -> Module {
    Module { code, ..Module::default() }
}

/// Instructions between `start` and `finish`.
fn run(body: Vec<Inst>) -> Module {
    let mut code = vec![i("start", &[])];
    code.extend(body);
    code.push(i("finish", &[]));
    program(code)
}

/// The program of the instruction set's chapter on jumps.
fn fib() -> Module {
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

/// Something of everything that a module can hold.
fn mixed() -> Module {
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

#[test]
fn objects_hold_modules() {
    for module in [Module::default(), fib(), mixed()] {
        let bytes = object::write(&module).unwrap();
        assert!(object::is_object(&bytes));
        assert_eq!(object::read(&bytes), Ok(module.clone()));
        // At an address that is not aligned, too.
        let shifted = [&[0], &bytes[..]].concat();
        assert_eq!(object::read(&shifted[1..]), Ok(module));
    }
}

#[test]
fn objects_keep_what_data_is_called_in_the_source() {
    let variable = |symbol: &str, dims: &[u64], parts: &[&str]| Variable {
        symbol: symbol.to_string(),
        name: format!("own {symbol}"),
        dims: dims.to_vec(),
        parts: parts.iter().map(|part| part.to_string()).collect(),
        truths: parts.iter().map(|part| *part == "im").collect(),
    };
    let sound =
        Module { variables: vec![variable("big", &[2, 2], &["re", "im"]), variable("mid", &[3], &[])], ..mixed() };
    let bytes = object::write(&sound).expect("a sound module");
    assert_eq!(object::read(&bytes).as_ref(), Ok(&sound));
    let bad = [
        vec![variable("mid", &[2], &[])],
        vec![variable("none", &[], &[])],
        vec![variable("mid", &[3], &[]), variable("mid", &[3], &[])],
        vec![variable("big", &[u64::MAX, 8], &[])],
        vec![Variable { name: "\n".to_string(), ..variable("mid", &[3], &[]) }],
        vec![Variable { truths: vec![true; 2], ..variable("mid", &[3], &[]) }],
    ];
    for variables in bad {
        assert!(object::write(&Module { variables: variables.clone(), ..mixed() }).is_err(), "{variables:?}");
    }
}

#[test]
fn zeros_at_the_end_of_the_data_cost_nothing() {
    let mut module = fib();
    module.data.push_zeros((1 << 22) - module.data.len());
    module.symbols.push(symbol("heap", data(Ty::Q, (1 << 22) - 1, false, false), 1));
    let bytes = object::write(&module).unwrap();
    assert!(bytes.len() < 4096, "{}", bytes.len());
    assert_eq!(object::read(&bytes), Ok(module));
}

#[test]
fn modules_that_are_none_are_not_written() {
    let code = |module: &Module| object::write(module).unwrap_err().code();
    let mut module = fib();
    module.code[7].imm = -3;
    assert_eq!(code(&module), "P0309");
    let mut module = fib();
    module.code[1].small = 1;
    assert_eq!(code(&module), "P0314");
    let mut module = fib();
    module.symbols[0].name = "top".to_string();
    assert_eq!(code(&module), "P0311");
    for name in ["", "r1", "SP", "1a", ".5", "a b", "a\nb", "a-b", &"x".repeat(2000)] {
        module.symbols[0].name = name.to_string();
        assert_eq!(code(&module), "P0311", "{name:?}");
    }
    for (kind, value) in [(SymbolKind::Label, 11), (SymbolKind::Proc, 1), (data(Ty::Q, 1, false, false), 1)] {
        let mut module = fib();
        module.symbols[0] = symbol("n", kind, value);
        assert_eq!(code(&module), "P0311", "{kind:?}");
    }
    let mut module = fib();
    module.spans = vec![span("a", false, 1, 4), span("b", false, 2, 5)];
    assert_eq!(code(&module), "P0312");
    let mut module = fib();
    module.locs[3].file = 1;
    assert_eq!(code(&module), "P0313");
    let mut module = mixed();
    module.texts.clear();
    assert_eq!(code(&module), "P0310");
    let mut module = Module::default();
    module.data.push_zeros(object::DATA_LIMIT as usize + 1);
    assert_eq!(code(&module), "P0091");
    let pisa = assemble("pisa.rasm", " .profile pisa\n start\n finish\n".to_string(), &Options::default());
    let mut module = pisa.module.unwrap();
    assert!(object::write(&module).is_ok());
    module.data.push_zeros(1);
    assert_eq!(code(&module), "P0304");
    let mut module = fib();
    module.flags.mem = Some(module.data.len() as u64);
    assert!(object::write(&module).is_ok());
    module.flags.mem = module.flags.mem.and_then(|mem| mem.checked_sub(1));
    assert_eq!(code(&module), "P0304");
}

/// The place of a section's bytes in a file.
fn section(bytes: &[u8], wanted: &str) -> std::ops::Range<usize> {
    let word = |at: usize, n: usize| bytes[at..at + n].iter().rev().fold(0usize, |w, b| w << 8 | usize::from(*b));
    let header = |n: usize| word(0x28, 8) + 64 * n;
    let names = word(header(word(0x3e, 2)) + 0x18, 8);
    let found = (0..word(0x3c, 2))
        .map(header)
        .find(|&h| bytes[names + word(h, 4)..].starts_with(&[wanted.as_bytes(), &[0]].concat()));
    let h = found.unwrap();
    word(h + 0x18, 8)..word(h + 0x18, 8) + word(h + 0x20, 8)
}

#[test]
fn damaged_objects_are_refused_with_their_places() {
    let good = object::write(&mixed()).unwrap();
    let damaged = |name: &str, offset: usize, xor: u8| {
        let mut bytes = good.clone();
        bytes[section(&good, name).start + offset] ^= xor;
        object::read(&bytes).unwrap_err()
    };
    assert!(matches!(damaged(".text", 8 * 3 + 7, 1), ObjectError::Word { address: 3, .. }));
    assert!(matches!(damaged(".text", 8 * 6 + 5, 0x10), ObjectError::Structure { address: 6, .. }));
    assert!(matches!(damaged(".pendula.flags", 0, 2), ObjectError::Version { found: 0, known: 2 }));
    assert!(matches!(damaged(".pendula.flags", 2, 0x80), ObjectError::Malformed { section: ".pendula.flags", .. }));
    assert!(matches!(damaged(".pendula.texts", 0, 0x40), ObjectError::Malformed { section: ".pendula.texts", .. }));
    assert!(matches!(damaged(".pendula.spans", 1, 0x80), ObjectError::Malformed { section: ".pendula.spans", .. }));
    assert!(matches!(damaged(".symtab", 24 + 8, 1), ObjectError::Symbol { .. }));
    assert!(matches!(damaged(".pendula.symbols", 0, 1), ObjectError::Section { section: ".pendula.symbols", .. }));
    assert_eq!(object::read(b"start").unwrap_err().code(), "P0301");
    assert_eq!(object::read(&good[..40]).unwrap_err().code(), "P0302");
    let mut other = good.clone();
    other[0x12] = 62;
    assert_eq!(object::read(&other).unwrap_err().code(), "P0301");
    // A `.bss` without end asks for no memory.
    let mut huge = good.clone();
    let headers = usize::from(good[0x28]) | usize::from(good[0x29]) << 8;
    huge[headers + 64 * 4 + 0x20 + 6] = 0xff;
    assert!(matches!(object::read(&huge), Err(ObjectError::TooLarge(e)) if e.what == "section `.bss`"));
}

#[test]
fn a_constant_that_the_code_does_not_use_is_refused() {
    let mut module = fib();
    module.code[1] = i("add", &[r(3), int(1 << 40)]);
    module.code[8] = i("sub", &[r(3), int(1 << 41)]);
    let good = object::write(&module).unwrap();
    let pool = section(&good, ".rodata");
    let mut bytes = good.clone();
    bytes.copy_within(pool.start..pool.start + 8, pool.start + 8);
    // Both words name the same constant now: the second should not be there.
    assert!(matches!(object::read(&bytes), Err(ObjectError::Word { address: 8, .. } | ObjectError::Pool { .. })));
}

#[test]
fn codes_are_distinct() {
    let codes = || object::codes().chain(pendula_asm::invert::codes()).chain(pendula_asm::check::codes());
    let mut all: Vec<_> = codes().map(|(code, _)| code).collect();
    let n = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), n);
    assert!(codes().all(|(code, title)| code.len() == 5 && !title.is_empty()));
}

#[test]
fn disassembly_of_the_sample() {
    assert_eq!(
        disassemble(&fib()).trim_start(),
        "\
        .data
        .import n
n:      .word   18
        .text
        .global main
main:   start
        add     r3, [n]
        inc     r2
top:    from.ne r4, r0, bottom
        add     r1, r2
        swap    r1, r2
        inc     r4
bottom: jmp.ne  r4, r3, top
        sub     r3, [n]
        finish
"
    );
}

#[test]
fn disassembly_makes_labels_and_keeps_everything() {
    let mut module = mixed();
    module.symbols.retain(|s| s.name != "f");
    module.symbols.push(symbol("P0000", SymbolKind::Label, 3));
    let expected = r#"
        .format Q21.43
        .mem    1048576
        .data
        .import größe
größe:  .word   1, 0
        .import mid
        .export mid
mid:    .fixed  1.5, 0.0, 0.0
        .export big
big:    .space  8, f
        .text
        proc    P0000_
        push    r1
        xormul  r2, r3, 20015998343868
P0000:  pop     r1
        ret     P0000_
        start
        .routine a
        call    P0000_
        .routine b
        .endroutine b
        print   "hello \"you\"\n"
        add.f   r4, 1.5
        .endroutine a
        .unroutine a
        uncall  P0000_
        .endunroutine a
        finish
end:
"#;
    assert_eq!(disassemble(&module), expected.trim_start_matches('\n'));
    let mut module = fib();
    module.symbols.truncate(1);
    let text = disassemble(&module);
    assert!(text.contains("L0003:  from.ne r4, r0, L0007\n"), "{text}");
    assert!(text.contains("L0007:  jmp.ne  r4, r3, L0003\n"), "{text}");
}

#[test]
fn listings_show_lines_and_what_has_none() {
    let module = fib();
    let text = listing(&module, |file, line| (file == 0 && line != 7).then(|| format!("line {line}")));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 10);
    assert!(lines[0].starts_with("0000  ") && lines[0].ends_with("  line 5"));
    assert!(lines[2].ends_with("        inc     r2"), "{}", lines[2]);
}

#[test]
fn inverse_of_the_sample() {
    let module = fib();
    let inverse = invert(&module).unwrap();
    let text = disassemble(&inverse);
    for line in [
        "        .export n\n",
        "        start\n",
        "bottom: from.ne r4, r3, top\n",
        "top:    jmp.ne  r4, r0, bottom\n",
        "main:   finish\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    assert_eq!(inverse.locs[0], module.locs[9]);
    assert_eq!(invert(&inverse), Ok(module));
    let inverse = invert(&mixed()).unwrap();
    assert_eq!(inverse.spans, [span("a", true, 7, 10), span("b", true, 9, 9), span("a", false, 6, 7)]);
    assert_eq!(inverse.code[6], i("uncall", &[to(-6)]));
    assert_eq!(inverse.code[9], i("call", &[to(-9)]));
}

#[test]
fn programs_that_forget_have_no_inverse() {
    let mut module = run(vec![i("erase", &[r(1)])]);
    assert!(matches!(invert(&module), Err(InvertError::Forgets { at: 1 })));
    module.flags.irreversible = true;
    assert_eq!(invert(&module), Err(InvertError::Irreversible));
    let mut module = fib();
    module.code.pop();
    assert_eq!(invert(&module).unwrap_err().code(), "P0322");
    let mut module = mixed();
    module.spans = vec![span("a", false, 2, 7)];
    assert_eq!(invert(&module).unwrap_err().code(), "P0323");
}

// ---- check ----

fn codes(module: &Module) -> Vec<(&'static str, At)> {
    assert_eq!(verify(module).1, []);
    check(module).into_iter().map(|f: Finding| (f.code, f.at)).collect()
}

#[test]
fn nothing_to_say_about_the_sample() {
    assert_eq!(check(&fib()), []);
}

#[test]
fn dead_code() {
    let module = program(vec![
        i("inc", &[r(1)]),
        i("inc", &[r(1)]),
        i("start", &[]),
        i("jmp", &[to(2)]),
        i("inc", &[r(1)]),
        i("from", &[to(-2)]),
        i("finish", &[]),
        i("proc", &[to(2)]),
        i("call", &[to(-1)]),
        i("ret", &[to(-2)]),
    ]);
    assert_eq!(codes(&module), [("P0210", At::Inst(0)), ("P0211", At::Inst(4)), ("P0214", At::Inst(7))]);
    // Where addresses are called, or others may call, any procedure may be meant.
    let mut called = module.clone();
    called.code[2 + 2] = i("callr", &[r(1)]);
    assert!(!codes(&called).iter().any(|c| c.0 == "P0214"));
    let mut global = module;
    global.symbols = vec![Symbol { global: true, ..symbol("f", SymbolKind::Proc, 7) }];
    assert!(!codes(&global).iter().any(|c| c.0 == "P0214"));
}

#[test]
fn loops_that_cannot_be_left_or_entered() {
    let endless = run(vec![i("from.eq", &[r(1), r(0), to(2)]), i("inc", &[r(1)]), i("jmp", &[to(-2)])]);
    assert_eq!(codes(&endless), [("P0212", At::Inst(0)), ("P0211", At::Inst(4))].map(|c| c));
    let wall = run(vec![i("from", &[to(2)]), i("inc", &[r(1)]), i("jmp.ne", &[r(1), r(0), to(-2)])]);
    assert!(codes(&wall).contains(&("P0213", At::Inst(0))), "{:?}", codes(&wall));
}

#[test]
fn stack_balance() {
    let of = |body: Vec<Inst>| codes(&run(body));
    assert_eq!(of(vec![i("push", &[r(1)]), i("pop", &[r(2)])]), []);
    assert_eq!(of(vec![i("push", &[r(1)])]), [("P0215", At::Inst(2))]);
    assert_eq!(of(vec![i("pop", &[r(1)]), i("push", &[r(1)])]), [("P0216", At::Inst(1))]);
    assert_eq!(of(vec![i("push", &[r(1)]), i("add", &[r(31), int(1)])]), []);
    // Pushed and popped under the same condition: worth a note, but no error.
    let branches =
        |at: &str| vec![i("jmp.eq", &[r(1), r(0), to(2)]), i(at, &[r(2)]), i("from.eq", &[r(1), r(0), to(-2)])];
    assert_eq!(of([branches("push"), branches("pop")].concat()), [("P0217", At::Inst(3))]);
    // A procedure that moves `sp` leaves its callers unknown; one that does not is no matter.
    let call = |body: Inst| {
        program(vec![
            i("proc", &[to(2)]),
            body,
            i("ret", &[to(-2)]),
            i("start", &[]),
            i("push", &[r(1)]),
            i("call", &[to(-5)]),
            i("finish", &[]),
        ])
    };
    assert_eq!(codes(&call(i("inc", &[r(1)]))), [("P0215", At::Inst(6))]);
    assert_eq!(codes(&call(i("sub", &[r(31), int(1)]))), []);
    assert_eq!(codes(&call(i("push", &[r(1)]))), [("P0215", At::Inst(2))]);
}

#[test]
fn routines() {
    let mut module = run(vec![i("inc", &[r(1)]), i("add", &[r(2), r(1)]), i("sub", &[r(2), r(1)]), i("dec", &[r(1)])]);
    module.spans = vec![span("a", false, 1, 3), span("a", true, 3, 5)];
    assert_eq!(codes(&module), []);
    module.code[4] = i("inc", &[r(1)]);
    assert_eq!(codes(&module), [("P0220", At::Inst(4))]);
    module.spans[1].end = 4;
    assert_eq!(codes(&module), [("P0220", At::Inst(3))]);
    module.spans[1].name = "b".to_string();
    assert_eq!(codes(&module), [("P0218", At::Inst(1)), ("P0219", At::Inst(3))]);
    // Jumps and calls within a routine.
    let body = |call: &str, d| {
        vec![i("jmp.lt", &[r(1), r(2), to(2)]), i(call, &[to(d)]), i("from.eq", &[r(3), Operand::Small(1), to(-2)])]
    };
    let undo = |d| {
        vec![i("jmp.eq", &[r(3), Operand::Small(1), to(2)]), i("uncall", &[to(d)]), i("from.lt", &[r(1), r(2), to(-2)])]
    };
    let mut module = run([body("call", 6), undo(3)].concat());
    module.code.extend([i("proc", &[to(1)]), i("ret", &[to(-1)])]);
    module.spans = vec![span("a", false, 1, 4), span("a", true, 4, 7)];
    assert_eq!(codes(&module), []);
}

#[test]
fn conditions() {
    let assert = |name: &str, a, b| {
        let found = codes(&run(vec![i(name, &[a, b])]));
        found.into_iter().map(|c| c.0).collect::<Vec<_>>()
    };
    let (never, always) = (["P0221"], ["P0222"]);
    assert_eq!(assert("assert.eq", r(0), int(1)), never);
    assert_eq!(assert("assert.ne", r(1), r(1)), never);
    assert_eq!(assert("assert.lt.l", r(1), r(1)), never);
    assert_eq!(assert("assert.ltu", r(1), int(0)), never);
    assert_eq!(assert("assert.eq.l", r(0), Operand::Imm(1 << 62, Ty::L)), never);
    assert_eq!(assert("assert.le", r(1), r(1)), always);
    assert_eq!(assert("assert.geu", r(1), r(0)), always);
    assert_eq!(assert("assert.lt.f", r(0), Operand::Imm(1.0f64.to_bits(), Ty::F)), always);
    assert!(assert("assert.eq.f", r(1), r(1)).is_empty());
    assert!(assert("assert.eq.l", r(1), r(1)).is_empty());
    assert!(assert("assert.geu", r(0), r(1)).is_empty());
    assert!(assert("assert.lt", r(0), r(1)).is_empty());

    let pair = |jmp: &str, from: &str, k: i16| {
        let k = Operand::Small(k);
        codes(&run(vec![i(jmp, &[r(1), k, to(2)]), i("inc", &[r(2)]), i(from, &[r(1), k, to(-2)])]))
    };
    assert_eq!(pair("jmp.eq", "from.ne", 3), [("P0223", At::Inst(1))]);
    assert_eq!(pair("jmp.ltu", "from.eq", 3), [("P0223", At::Inst(1))]);
    assert_eq!(pair("jmp.lt.q", "from.gt.q", 3), [("P0223", At::Inst(1))]);
    assert_eq!(pair("jmp.eq", "from.eq", 3), []);
    assert_eq!(pair("jmp.ltu", "from.gt", 3), []);
    assert_eq!(pair("jmp.le", "from.ge", 3), []);
}

#[test]
fn idle_instructions_and_addresses() {
    let of = |inst: Inst| codes(&run(vec![inst])).into_iter().map(|c| c.0).collect::<Vec<_>>();
    assert_eq!(of(i("add", &[r(1), int(0)])), ["P0225"]);
    assert_eq!(of(i("sub.q", &[r(1), r(0)])), ["P0225"]);
    assert_eq!(of(i("mul.l", &[r(1), r(0)])), ["P0225"]);
    assert_eq!(of(i("rol", &[r(1), int(0)])), ["P0225"]);
    assert_eq!(of(i("addshl", &[r(1), r(2), int(64)])), ["P0226"]);
    assert!(of(i("addshl", &[r(1), int(0), r(2)])).is_empty());
    assert!(of(i("add.f", &[r(1), r(0)])).is_empty());
    assert_eq!(of(i("add", &[r(1), at(-1)])), ["P0227"]);
    assert_eq!(of(i("add", &[r(1), at(7)])), ["P0228"]);
    let mut module = mixed();
    module.flags.mem = Some(5);
    assert!(check(&module).iter().any(|f| f.code == "P0229" && f.at == At::Module));
}

#[test]
fn imports_that_nothing_uses() {
    let mut module = fib();
    module.symbols.push(symbol("unused", data(Ty::Q, 3, true, false), 1));
    module.data = vec![0; 4].into();
    assert_eq!(codes(&module), [("P0224", At::Symbol("unused".to_string()))]);
    let base = Operand::Mem { base: Reg::new(9).unwrap(), index: Reg::ZERO, offset: 0 };
    module.code[2] = i("add", &[r(2), base]);
    assert_eq!(codes(&module), []);
}

// ---- modules by chance ----

/// Makes a valid module out of bytes; shorter input gives a simpler module.
struct Maker<'a> {
    bytes: &'a [u8],
    at: usize,
    module: Module,
    calls: Vec<(usize, usize)>,
    families: Vec<Kind>,
}

impl Maker<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes.get(self.at - 1).copied().unwrap_or(0)
    }

    fn below(&mut self, n: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % n
    }

    fn word(&mut self) -> u64 {
        match self.byte() % 5 {
            0 => u64::from(self.byte()),
            1 => u64::from(self.byte()).wrapping_neg(),
            2 => f64::from(self.byte()).to_bits(),
            3 => {
                // Beside a decimal of few digits, whose neighbours' texts are the hardest to tell from it.
                let short = format!("{}.{}", self.byte(), self.byte());
                let word = decimal::parse_q(&short, self.module.flags.format).expect("a number");
                word.wrapping_add(u64::from(self.byte() % 5)).wrapping_sub(2)
            }
            _ => (0..8).fold(0, |w, _| w << 8 | u64::from(self.byte())),
        }
    }

    fn reg(&mut self) -> Operand {
        r(self.byte() % 32)
    }

    fn mem(&mut self) -> Operand {
        let (base, index) = (Reg::new(self.byte() % 32).unwrap(), Reg::new(self.byte() % 4).unwrap());
        Operand::Mem { base, index, offset: i64::from(self.byte()) - 16 }
    }

    fn constant(&mut self, ty: Ty) -> Operand {
        Operand::Imm(self.word(), ty)
    }

    fn operand(&mut self, n: usize, family: Kind) -> Option<Operand> {
        let kind = family.operand_kind(n)?;
        let ty = family.constant_type(n);
        Some(match (kind, self.byte() % 3) {
            (OperandKind::Target | OperandKind::Source, _) => self.reg(),
            (OperandKind::Memory, _) | (OperandKind::TargetOrMemory, 0) => self.mem(),
            (OperandKind::Value, 0) if matches!(family, Kind::Accumulate { .. }) => self.mem(),
            (OperandKind::Value, 1) | (OperandKind::Tolerance | OperandKind::Constant, _) => self.constant(ty),
            (OperandKind::Amount, 0) => Operand::Imm(u64::from(self.byte() % 64), Ty::Int),
            (OperandKind::Factor, _) => Operand::Factor(u16::from(self.byte()) + 1),
            (OperandKind::Small, 0) => Operand::Small(i16::from(self.byte()) - 100),
            (OperandKind::Label, _) => to(0),
            (OperandKind::Text, _) => Operand::Text(u32::from(self.byte() % 2)),
            (OperandKind::TargetOrMemory | OperandKind::Value | OperandKind::Amount | OperandKind::Small, _) => {
                self.reg()
            }
        })
    }

    fn straight(&mut self) {
        for _ in 0..8 {
            let n = self.below(self.families.len());
            let family = self.families[n];
            let operands: Vec<Operand> = (0..4).map_while(|n| self.operand(n, family)).collect();
            if let Ok(inst) = Inst::build(family, &operands) {
                self.module.code.push(inst);
                return;
            }
        }
        self.module.code.push(i("inc", &[r(1)]));
    }

    fn half(&mut self, from: bool) -> usize {
        let conds: Vec<Cond> = [Cond::Always].into_iter().chain(Cond::TESTS).collect();
        let (cond, ty) = (conds[self.below(conds.len())], Ty::ALL[self.below(4)]);
        let name = if from { "from" } else { "jmp" };
        let ty = if cond == Cond::Always || !cond.accepts(ty) { Ty::Int } else { ty };
        let inst = match cond {
            Cond::Always => i(name, &[to(0)]),
            _ => {
                let a = self.reg();
                let b = if self.byte().is_multiple_of(2) {
                    self.reg()
                } else {
                    Operand::Small(i16::from(self.byte()) * 64 - 100)
                };
                i(&format!("{name}.{}{}", cond.name(), ty.suffix()), &[a, b, to(0)])
            }
        };
        self.module.code.push(inst);
        self.module.code.len() - 1
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..self.below(6) {
            if self.byte().is_multiple_of(5) {
                let name = format!("l{}", self.module.symbols.len());
                let mut label = symbol(&name, SymbolKind::Label, self.module.code.len() as u64);
                label.global = self.byte().is_multiple_of(4);
                self.module.symbols.push(label);
            }
            match self.byte() % 10 {
                0 if depth > 0 => {
                    let loops = self.byte().is_multiple_of(2);
                    let first = self.half(loops);
                    self.block(depth - 1);
                    let second = self.half(!loops);
                    let distance = (second - first) as i64;
                    self.module.code[first].imm = distance;
                    self.module.code[second].imm = -distance;
                }
                1 if depth > 0 => {
                    let n = self.module.spans.len();
                    let start = self.module.code.len() as u32;
                    let undo = self.byte().is_multiple_of(2);
                    let name = ["s", "t", "u", "v", "w"][depth % 5];
                    self.module.spans.push(span(name, undo, start, start));
                    self.block(depth - 1);
                    self.module.spans[n].end = self.module.code.len() as u32;
                }
                2 => {
                    let (name, callee) = (["call", "uncall", "gcall", "guncall"][self.below(4)], self.below(4));
                    self.calls.push((self.module.code.len(), callee));
                    self.module.code.push(i(name, &[to(0)]));
                }
                3 => {
                    let reg = r(self.byte() % 31);
                    self.module.code.push(i("callr", &[reg]));
                }
                _ => self.straight(),
            }
        }
    }
}

fn make(bytes: &[u8]) -> Module {
    let families = mnemonic::families()
        .filter(|k| k.flow() == Flow::Straight && k.belongs_to(Profile::Native) && !k.is_irreversible())
        .collect();
    let mut m = Maker { bytes, at: 0, module: Module::default(), calls: Vec::new(), families };
    m.module.texts = vec!["one".to_string(), "zwö\u{7}\n".to_string()];
    m.module.flags = Flags {
        format: Format::ALL[m.below(3)],
        irreversible: false,
        mem: if m.byte().is_multiple_of(2) { None } else { Some(m.word() >> 24 | 4096) },
        ..Flags::default()
    };
    for n in 0..m.below(5) {
        let value = m.module.data.len() as u64;
        let len = m.below(20) + 1;
        for _ in 0..len {
            let word = if m.byte().is_multiple_of(3) { m.word() } else { 0 };
            m.module.data.push(word);
        }
        let bits = m.byte();
        let kind = data(Ty::ALL[usize::from(bits % 4)], len as u64, bits & 4 != 0, bits & 8 != 0);
        let global = bits & 16 != 0;
        m.module.symbols.push(Symbol { global, ..symbol(&format!("d{n}"), kind, value) });
    }
    let mut procs = Vec::new();
    let main = m.below(5);
    for n in 0..5 {
        if n == main {
            m.module.code.push(i("start", &[]));
            m.block(3);
            m.module.code.push(i("finish", &[]));
            continue;
        }
        let start = m.module.code.len();
        m.module.code.push(i("proc", &[to(0)]));
        m.block(2);
        let len = (m.module.code.len() - start) as i64;
        m.module.code[start].imm = len;
        m.module.code.push(i("ret", &[to(-len)]));
        procs.push(start);
        let mut proc = symbol(&format!("f{n}"), SymbolKind::Proc, start as u64);
        proc.global = m.byte().is_multiple_of(2);
        proc.doc = ["", "What it\ndoes."][m.below(2)].to_string();
        m.module.symbols.push(proc);
    }
    for (at, callee) in std::mem::take(&mut m.calls) {
        m.module.code[at].imm = procs[callee] as i64 - at as i64;
    }
    if m.byte().is_multiple_of(2) {
        m.module.files = vec!["a.rasm".to_string(), "b.rasm".to_string()];
        let mut line = 1;
        for _ in 0..m.module.code.len() {
            line += u32::from(m.byte() % 4);
            let loc = Loc { file: u16::from(m.byte().is_multiple_of(16)), column: u16::from(m.byte()), line };
            m.module.locs.push(loc);
        }
    }
    m.module
}

fn bytes(n: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..n)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn write_then_read_is_the_identity(tape in bytes(1500)) {
        let module = make(&tape);
        prop_assert_eq!(verify(&module).1, vec![]);
        let file = object::write(&module).unwrap();
        prop_assert_eq!(object::read(&file), Ok(module));
    }

    #[test]
    fn disassembly_assembles_to_the_same(tape in bytes(1500)) {
        let module = make(&tape);
        let text = disassemble(&module);
        let assembly = assemble("module.rasm", text.clone(), &Options::default());
        let errors: Vec<_> = assembly.diagnostics.iter().map(|d| (&d.message, &d.primary)).collect();
        let Some(again) = assembly.module else { panic!("{errors:?}\n{text}") };
        // Texts are numbered in the order of their use.
        let code = |m: &Module| m.code.iter().map(|i| if i.kind.mnemonic() == "print" { Inst { imm: 0, ..*i } } else { *i }).collect::<Vec<_>>();
        prop_assert_eq!(code(&again), code(&module));
        prop_assert_eq!(&again.data, &module.data);
        prop_assert_eq!(again.flags, module.flags);
        // Names that the disassembler made up are new.
        for symbol in &module.symbols {
            prop_assert_eq!(again.symbol(&symbol.name), Some(symbol));
        }
        let spans = |m: &Module| {
            let mut all: Vec<_> = m.spans.iter().map(|s| (s.start, s.end, s.undo, s.name.clone())).collect();
            all.sort();
            all
        };
        prop_assert_eq!(spans(&again), spans(&module));
        prop_assert_eq!(disassemble(&again), text);
    }

    #[test]
    fn inverting_twice_is_the_identity(tape in bytes(1500)) {
        let module = make(&tape);
        let inverse = invert(&module).unwrap();
        prop_assert_eq!(verify(&inverse).1, vec![]);
        prop_assert!(object::write(&inverse).is_ok());
        prop_assert_eq!(invert(&inverse), Ok(module));
    }

    #[test]
    fn random_bytes_do_no_harm(noise in bytes(600)) {
        let mut file = noise;
        prop_assert!(object::read(&file).is_err());
        let head = &object::write(&fib()).unwrap()[..64];
        file.splice(0..file.len().min(64), head.iter().copied());
        let _ = object::read(&file);
    }

    /// A damaged object is refused, or holds a module like any other.
    #[test]
    fn damaged_objects_do_no_harm(tape in bytes(600), hits in proptest::collection::vec((any::<u32>(), any::<u8>()), 1..8), cut in any::<u16>()) {
        let mut file = object::write(&make(&tape)).unwrap();
        for (at, value) in hits {
            let len = file.len();
            file[at as usize % len] ^= value;
        }
        if cut.is_multiple_of(4) {
            file.truncate(usize::from(cut) % file.len());
        }
        if let Ok(module) = object::read(&file) {
            let again = object::write(&module).unwrap();
            let _ = (check(&module), disassemble(&module), invert(&module));
            prop_assert_eq!(object::read(&again), Ok(module));
        }
    }

    /// Nothing panics on modules that no assembler made.
    #[test]
    fn broken_modules_do_no_harm(tape in bytes(600), hits in proptest::collection::vec((any::<u16>(), -9i64..9), 1..8)) {
        let mut module = make(&tape);
        for (n, by) in hits {
            let at = usize::from(n) % module.code.len();
            module.code[at].imm = if n.is_multiple_of(7) { 1 << 40 } else { module.code[at].imm + by };
            let at = usize::from(n) % module.symbols.len();
            module.symbols[at].value = module.symbols[at].value.wrapping_add_signed(by);
            if let Some(span) = module.spans.first_mut() {
                span.end = span.end.wrapping_add_signed(by as i32);
            }
        }
        let _ = (check(&module), disassemble(&module), invert(&module), object::write(&module));
        let _ = listing(&module, |_, line| (line.is_multiple_of(2)).then(String::new));
    }
}

#[test]
fn accumulators_have_the_partner_bit_only() {
    // The inverter relies on it.
    for kind in mnemonic::families() {
        assert_eq!(kind.inverse().inverse(), kind);
        if let Kind::Accumulate { acc: Acc::Xor, .. } = kind {
            assert_eq!(kind.inverse(), kind);
        }
    }
}
