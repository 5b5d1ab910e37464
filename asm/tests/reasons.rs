//! Reasons of checks, `.why`: from the text to the module, through objects, disassembly and inversion.

use pendula_asm::assemble::{Assembly, Options, assemble};
use pendula_asm::disasm::disassemble;
use pendula_asm::invert::invert;
use pendula_asm::object;
use pendula_isa::module::{Module, Reason};

fn assembled(text: &str) -> Assembly {
    assemble("a.rasm", text.to_string(), &Options::default())
}

fn module(text: &str) -> Module {
    let assembly = assembled(text);
    assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

fn reasons(module: &Module) -> Vec<(u32, &str)> {
    module.reasons.iter().map(|r| (r.at, &*r.text)).collect()
}

const PROGRAM: &str = r#"
main:   start
        .routine r
        add     r1, 1
        .why    "r1 is too large"
        assert.lt r1, 10
        add     r2, r1
        .endroutine r
        .unroutine r
        .why    "r1 \"left\"; over"
        zero    r1
        finish
"#;

#[test]
fn the_next_instruction_has_the_reason_and_so_does_its_inverse() {
    let module = module(PROGRAM);
    let expected = vec![(2, "r1 is too large"), (5, "r1 is too large"), (7, "r1 \"left\"; over")];
    assert_eq!(reasons(&module), expected);
    assert_eq!((module.reason(5), module.reason(6)), (Some("r1 is too large"), None));
}

#[test]
fn objects_and_text_keep_reasons() {
    let module = module(PROGRAM);
    let bytes = object::write(&module).expect("it is sound");
    assert_eq!(object::read(&bytes).expect("it is what was written"), module);
    let again = self::module(&disassemble(&module));
    assert_eq!(reasons(&again), reasons(&module));
}

#[test]
fn reasons_go_with_their_instructions_when_a_program_is_inverted() {
    let module = module(PROGRAM);
    let inverse = invert(&module).expect("it has an inverse");
    let last = module.code.len() as u32 - 1;
    let mut expected: Vec<(u32, &str)> = reasons(&module).into_iter().map(|(at, text)| (last - at, text)).collect();
    expected.reverse();
    assert_eq!(reasons(&inverse), expected);
    assert_eq!(invert(&inverse).expect("it has an inverse"), module);
}

#[test]
fn a_reason_without_instruction_is_reported() {
    let assembly = assembled("start\n.why \"a\"\n.why \"b\"\nfinish\n.why \"c\"\n");
    let found: Vec<(&str, &str)> = assembly.diagnostics.iter().map(|d| (d.code, d.message.as_str())).collect();
    assert_eq!(found, [("P0201", "this is the reason of nothing"); 2]);
    assert_eq!(reasons(&assembly.module.expect("they are warnings")), [(1, "b")]);
    assert!(assembled("start\n.why 3\nfinish\n").module.is_none());
}

#[test]
fn damaged_reasons_are_refused() {
    let sound = module(PROGRAM);
    for reasons in [vec![(99, "past the code")], vec![(3, "twice"), (3, "twice")], vec![(4, "not in order"), (2, "")]] {
        let reasons = reasons.into_iter().map(|(at, text)| Reason { at, text: text.into() }).collect();
        assert!(object::write(&Module { reasons, ..sound.clone() }).is_err());
    }
    let bytes = object::write(&sound).expect("it is sound");
    // The bytes of the section: the number of texts, three, comes first.
    let text = b"r1 is too large";
    let at = bytes.windows(text.len()).position(|w| w == text).expect("it is there") - 2;
    for (n, byte) in [(0, 0x7f), (0, 0), (1, 0x7f), (1, 0xff), (2, 0xff)] {
        let mut bytes = bytes.clone();
        bytes[at + n] = byte;
        assert!(object::read(&bytes).is_err(), "byte {n} as {byte:#x}");
    }
}
