//! The findings of `check`.

use pendula_asm::check::{Finding, Subject, check};
use pendula_isa::inst::Inst;
use pendula_isa::module::{Module, Symbol, SymbolKind};
use pendula_isa::operand::Operand;
use pendula_isa::types::{Reg, Ty};
use pendula_isa::verify::verify;

use super::modules::*;

fn codes(module: &Module) -> Vec<(&'static str, Subject)> {
    assert_eq!(verify(module).1, []);
    check(module).into_iter().map(|f: Finding| (f.code, f.at)).collect()
}

#[test]
fn the_sample_has_no_findings() {
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
    assert_eq!(codes(&module), [("P0210", Subject::Inst(0)), ("P0211", Subject::Inst(4)), ("P0214", Subject::Inst(7))]);
    // If addresses are called, or if others may call, any procedure may run.
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
    assert_eq!(codes(&endless), [("P0212", Subject::Inst(0)), ("P0211", Subject::Inst(4))].map(|c| c));
    let wall = run(vec![i("from", &[to(2)]), i("inc", &[r(1)]), i("jmp.ne", &[r(1), r(0), to(-2)])]);
    assert!(codes(&wall).contains(&("P0213", Subject::Inst(0))), "{:?}", codes(&wall));
}

#[test]
fn stack_balance() {
    let of = |body: Vec<Inst>| codes(&run(body));
    assert_eq!(of(vec![i("push", &[r(1)]), i("pop", &[r(2)])]), []);
    assert_eq!(of(vec![i("push", &[r(1)])]), [("P0215", Subject::Inst(2))]);
    assert_eq!(of(vec![i("pop", &[r(1)]), i("push", &[r(1)])]), [("P0216", Subject::Inst(1))]);
    assert_eq!(of(vec![i("push", &[r(1)]), i("add", &[r(31), int(1)])]), []);
    // A push and a pop under the same condition: a note, but not an error.
    let branches =
        |at: &str| vec![i("jmp.eq", &[r(1), r(0), to(2)]), i(at, &[r(2)]), i("from.eq", &[r(1), r(0), to(-2)])];
    assert_eq!(of([branches("push"), branches("pop")].concat()), [("P0217", Subject::Inst(3))]);
    // A procedure that moves `sp` leaves the heights in its callers unknown; one that does not has no effect.
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
    assert_eq!(codes(&call(i("inc", &[r(1)]))), [("P0215", Subject::Inst(6))]);
    assert_eq!(codes(&call(i("sub", &[r(31), int(1)]))), []);
    assert_eq!(codes(&call(i("push", &[r(1)]))), [("P0215", Subject::Inst(2))]);
}

#[test]
fn routines() {
    let mut module = run(vec![i("inc", &[r(1)]), i("add", &[r(2), r(1)]), i("sub", &[r(2), r(1)]), i("dec", &[r(1)])]);
    module.spans = vec![span("a", false, 1, 3), span("a", true, 3, 5)];
    assert_eq!(codes(&module), []);
    module.code[4] = i("inc", &[r(1)]);
    assert_eq!(codes(&module), [("P0220", Subject::Inst(4))]);
    module.spans[1].end = 4;
    assert_eq!(codes(&module), [("P0220", Subject::Inst(3))]);
    module.spans[1].name = "b".to_string();
    assert_eq!(codes(&module), [("P0218", Subject::Inst(1)), ("P0219", Subject::Inst(3))]);
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
    assert_eq!(pair("jmp.eq", "from.ne", 3), [("P0223", Subject::Inst(1))]);
    assert_eq!(pair("jmp.ltu", "from.eq", 3), [("P0223", Subject::Inst(1))]);
    assert_eq!(pair("jmp.lt.q", "from.gt.q", 3), [("P0223", Subject::Inst(1))]);
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
    assert!(check(&module).iter().any(|f| f.code == "P0229" && f.at == Subject::Module));
}

#[test]
fn imports_that_nothing_uses() {
    let mut module = fib();
    module.symbols.push(symbol("unused", data(Ty::Q, 3, true, false), 1));
    module.data = vec![0; 4].into();
    assert_eq!(codes(&module), [("P0224", Subject::Symbol("unused".to_string()))]);
    let base = Operand::Mem { base: Reg::new(9).unwrap(), index: Reg::ZERO, offset: 0 };
    module.code[2] = i("add", &[r(2), base]);
    assert_eq!(codes(&module), []);
}
