//! The disassembler, listings and the inverter.

use pendula_asm::disasm::{disassemble, listing};
use pendula_asm::invert::{InvertError, invert};
use pendula_isa::inst::Kind;
use pendula_isa::module::SymbolKind;
use pendula_isa::{Acc, mnemonic};

use super::modules::*;

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
fn irreversible_programs_have_no_inverse() {
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
