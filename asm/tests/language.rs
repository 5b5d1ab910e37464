//! The meaning of the language, feature by feature.

use crate::common;

use common::{code, data, module};
use pendula_isa::module::{Loc, SymbolKind};
use pendula_isa::num::{decimal, log};
use pendula_isa::{Format, Inst, Ty};

#[test]
fn the_program_of_the_design() {
    let m = module(
        "        .data
        .import n
n:      .word   18
        .text
main:   start
        add     r3, [n]
        inc     r2
top:    from.ne r4, r0, bottom      ; entered from above only with r4 = 0
        add     r1, r2
        swap    r1, r2
        inc     r4
bottom: jmp.ne  r4, r3, top         ; left only with r4 = r3
        sub     r3, [n]
        finish
",
    );
    assert_eq!(m.code.len(), 10);
    assert_eq!((m.code[3].imm, m.code[7].imm), (4, -4));
    assert_eq!(m.locs[3], Loc { file: 0, line: 8, column: 9 });
    assert_eq!(m.data.to_vec(), [18]);
    assert_eq!(m.files, ["test.rasm"]);
    let names: Vec<_> = m.symbols.iter().map(|s| (s.name.as_str(), s.value)).collect();
    assert_eq!(names, [("n", 0), ("main", 0), ("top", 3), ("bottom", 7)]);
    let n = SymbolKind::Data { ty: Ty::Int, len: 1, import: true, export: false };
    assert_eq!(m.symbols[0].kind, n);
}

#[test]
fn words_are_read_in_any_case_but_names_are_not() {
    assert_eq!(code("A: ADD R1, Sp\na: Inc r2 # comment\n  ADDI r1, 2"), ["add r1, sp", "inc r2", "add r1, 2"]);
    let m = module("  .DATA\nX: .Word 1\nx: .WORD 2\n .text\n add r1, [X]\n add r1, [x]");
    assert_eq!((m.code[0].imm, m.code[1].imm), (0, 1));
}

#[test]
fn a_line_may_have_labels_only_or_many() {
    let m = module("größe: b:\n\nc.$1_: inc r1\nend:");
    let places: Vec<_> = m.symbols.iter().map(|s| (s.name.as_str(), s.value)).collect();
    assert_eq!(places, [("größe", 0), ("b", 0), ("c.$1_", 0), ("end", 1)]);
}

#[test]
fn addresses_take_their_terms_in_any_order() {
    let text = " .data\n .space 5\nd: .word 0\n .text
 add r1, [r2]
 add r1, [r2+3]
 add r1, [r2 - 3]
 add r1, [3+r2]
 add r1, [r2+r3]
 add r1, [1+r2+2*3+r3-1]
 add r1, [d]
 add r1, [d+r2]
 add r1, [r2+d+1]
 add r1, [-1+d+r2]
 add r1, [(1<<3)+d]
 add r1, [7]
 add [d], r1
 exch r1, [r0+r2]
";
    let expected = [
        "[r2]",
        "[r2+3]",
        "[r2-3]",
        "[r2+3]",
        "[r2+r3]",
        "[r2+r3+6]",
        "[5]",
        "[r2+5]",
        "[r2+6]",
        "[r2+4]",
        "[13]",
        "[7]",
    ];
    let code = code(text);
    for (line, expected) in code.iter().zip(expected) {
        assert_eq!(*line, format!("add r1, {expected}"));
    }
    assert_eq!(code[12..], ["add [5], r1", "exch r1, [r2]"]);
}

#[test]
fn expressions_bind_as_in_c() {
    for (text, value) in [
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("10-4-3", 3),
        ("8|2^3&6", 8),
        ("1<<4+1", 32),
        ("-7/2", -3),
        ("-7%3", -1),
        ("~0", -1),
        ("--5", 5),
        ("-8>>1", -4),
        ("'a'+1", 98),
        ("0xffff_ffff_ffff_ffff", -1),
        ("1<<63", i64::MIN),
        ("(1<<63)*2-(1<<63)", i64::MIN),
        ("0b1010 + 0o17", 25),
        ("0x10w", 16),
    ] {
        assert_eq!(data(&format!(" .word {text}"))[0].cast_signed(), value, "{text}");
    }
}

#[test]
fn constants_may_refer_forward() {
    let text = " .equ A, B*2\n add r1, A\n .equ B, C+1\n .equ C, end - start_\n .data\nstart_: .word 1, 2, 3\nend:\n";
    assert_eq!(code(text), ["add r1, 8"]);
}

#[test]
fn a_long_chain_of_constants_costs_no_stack() {
    let mut text = String::from(" add r1, c0\n");
    for n in 0..100_000 {
        text.push_str(&format!(" .equ c{n}, c{}\n", n + 1));
    }
    text.push_str(" .equ c100000, 7\n");
    assert_eq!(code(&text), ["add r1, 7"]);
}

#[test]
fn typed_operands_are_numbers_of_the_type() {
    let q = |text: &str| decimal::parse_q(text, Format::Q32_32).unwrap().cast_signed();
    let f = |text: &str| decimal::parse_f(text).unwrap().cast_signed();
    let l = |text: &str| decimal::parse_l(text).unwrap().cast_signed();
    for (text, word) in [
        ("add.q r1, 1", q("1")),
        ("add.q r1, -1.5", q("-1.5")),
        ("add.q r1, 1.5q", q("1.5")),
        ("add.q r1, 0x10", q("16")),
        ("add.q r1, 0x10w", 16),
        ("add.q r1, N+1", q("4")),
        ("add.q r1, X", q("2.25")),
        ("add.q r1, -X", q("-2.25")),
        ("add.f r1, 1e-3", f("1e-3")),
        ("add.f r1, -inf", f("-inf")),
        ("add.f r1, nan", f("nan")),
        ("add.f r1, -0.0", f("-0.0")),
        ("add.f r1, 0x7ff8000000000001w", 0x7ff8_0000_0000_0001),
        ("mul.l r1, 5", l("5")),
        ("addcvt.f.q r1, 0.5", q("0.5")),
        ("addcvt.i.f r1, 0.5", f("0.5")),
        ("assert.eq.q r1, 0.5", q("0.5")),
        ("zero.f r1, 1e-9", f("1e-9")),
    ] {
        let m = module(&format!(" .equ N, 3\n .equ X, 2.25q\n {text}\n"));
        assert_eq!(m.code[0].imm, word, "{text}");
    }
    // Small constants, amounts and factors are whole numbers, whatever the type.
    let m = module("a: jmp.lt.q r1, 5, b\nb: from.gt.q r1, -5, a\n rol r1, 1+2\n rmul r1, r2, 9, 10\n zero.f r1");
    assert_eq!((m.code[0].small, m.code[1].small, m.code[2].imm), (5, -5, 3));
    assert_eq!(m.code[3].imm, 9 + (10 << 14));
}

#[test]
fn formats_change_fixed_point_literals() {
    assert_eq!(module(" .format q16.48\n add.q r1, 1").code[0].imm, 1 << 48);
    let m = module(" add.q r1, 1\n .format Q21.43\n .format Q21.43\n");
    assert_eq!((m.code[0].imm, m.flags.format), (1 << 43, Format::Q21_43));
}

#[test]
fn data_objects_have_types_and_lengths() {
    let m = module(
        " .data\na: .word 1, -2, 'x', main\nb: .fixed 1, 0.5\n .word 3\nc: .double 1\nd: .log 1, 0
e: .space 2*2, q\nf: .space 1\n .fixed 1\ng: h: .word 1.5q, 2\ni: .quad 7\n .text\n .data\n .word 8\nj:\n .text\n inc r1\nmain: inc r2\n",
    );
    let one = 1u64 << 32;
    let data = m.data.to_vec();
    assert_eq!(data[..8], [1, u64::MAX - 1, 120, 1, one, one / 2, 3, 1f64.to_bits()]);
    assert_eq!(data[8..10], [0, log::ZERO]);
    let object = |name: &str| match m.symbol(name).unwrap().kind {
        SymbolKind::Data { ty, len, .. } => (m.symbol(name).unwrap().value, ty.letter(), len),
        kind => panic!("{kind:?}"),
    };
    assert_eq!(object("a"), (0, 'i', 4));
    assert_eq!(object("b"), (4, 'q', 3));
    assert_eq!(object("c"), (7, 'f', 1));
    assert_eq!(object("d"), (8, 'l', 2));
    assert_eq!(object("e"), (10, 'q', 4));
    assert_eq!(object("f"), (14, 'q', 2));
    assert_eq!(object("g"), (16, 'q', 2));
    assert_eq!(object("h"), object("g"));
    assert_eq!(object("i"), (18, 'i', 2));
    assert_eq!(object("j"), (20, 'i', 0));
    assert_eq!(data[16..20], [3 << 31, 2, 7, 8]);
}

#[test]
fn marks_on_symbols() {
    let m = module(
        " .import a\n .global p, a, l\n .data\na: .word 0\nb: .word 0\n .export a, b\n .text\n .proc-doc \"adds\"\n .proc-doc \"nothing\"
l: proc p\n ret p\n .mem 4*1024\n .irreversible\n",
    );
    let data = |import| SymbolKind::Data { ty: Ty::Int, len: 1, import, export: true };
    assert_eq!(m.symbol("a").unwrap().kind, data(true));
    assert_eq!(m.symbol("b").unwrap().kind, data(false));
    let p = m.symbol("p").unwrap();
    assert_eq!((p.kind, p.global, p.doc.as_str()), (SymbolKind::Proc, true, "adds\nnothing"));
    assert!(m.symbol("l").unwrap().global && m.symbol("a").unwrap().global && !m.symbol("b").unwrap().global);
    assert_eq!((m.flags.mem, m.flags.irreversible), (Some(4096), true));
}

#[test]
fn procedures_and_calls() {
    let m = module(" proc f\n call g\n uncall f\n ret f\n proc g\n ret g\nmain: start\n call f\n finish");
    assert_eq!(m.code.iter().map(|i| i.imm).collect::<Vec<_>>()[..6], [3, 3, -2, -3, 1, -1]);
    assert_eq!(m.code[7].imm, -7);
}

#[test]
fn texts_are_kept_once() {
    let m = module(" print \"a\\n\"\n print \"b; c\"\n PRINT \"a\\x0a\"\n");
    assert_eq!(m.texts, ["a\n", "b; c"]);
    assert_eq!(m.code.iter().map(|i| i.imm).collect::<Vec<_>>(), [0, 1, 0]);
}

#[test]
fn macros_are_text() {
    let text = "
        .macro  fetch r, m=n+1   ; with a default
        exch    \\r, [\\m]
        \\op\\@_x: inc \\r       ; \\r is not replaced here
        .endm
        .macro  both a, op=add
        fetch   \\a
        \\op.q   \\a, 1
        \\op     \\a, 'r'
        .endm
        .data
n:      .word   0, 0
        .text
        both    r1
        both    r2, sub
        fetch   r3, (n + 0)
"
    .replace("\\op\\@_x:", "l\\@_x:");
    let expected = [
        "exch r1, [1]",
        "inc r1",
        "add.q r1, 1.0",
        "add r1, 114",
        "exch r2, [1]",
        "inc r2",
        "sub.q r2, 1.0",
        "sub r2, 114",
        "exch r3, [0]",
        "inc r3",
    ];
    assert_eq!(code(&text), expected);
    let m = module(&text);
    assert_eq!(m.symbols.iter().filter(|s| s.name.starts_with('l') && s.name.ends_with("_x")).count(), 3);
    // The place in the macro where the instruction was written.
    assert_eq!(m.locs[0], Loc { file: 0, line: 3, column: 9 });
    assert_eq!(m.locs[1], Loc { file: 0, line: 4, column: 16 });
    // A mnemonic that is an argument was written at the use.
    assert_eq!(m.locs[6], Loc { file: 0, line: 15, column: 21 });
}

#[test]
fn macros_may_define_macros() {
    let text = " .macro outer n\n .macro inner_\\n r\n add \\r, \\n\n .endm\n .endm\n outer 5\n inner_5 r1\n";
    assert_eq!(code(text), ["add r1, 5"]);
}

fn codes_of(m: &pendula_isa::Module) -> Vec<String> {
    m.code.iter().map(|i: &Inst| i.kind.mnemonic()).collect()
}

#[test]
fn routines_are_inverted() {
    let m = module(
        "main: start
        .routine f
        add     r3, 5
top:    from.ne r4, r0, bottom
        inc     r4
        call    p
bottom: jmp.ne  r4, r3, top
        .routine g
        print   \"x\"
        rol     r1, 3
        .endroutine
        .endroutine
        add     r5, r4
        .unroutine f
        finish
        proc    p
        ret     p
",
    );
    let undo = ["ror", "print", "from.ne", "uncall", "dec", "jmp.ne", "sub"];
    assert_eq!(codes_of(&m)[9..16], undo);
    // The pair in the inverse names each other, and the call still goes to `p`.
    assert_eq!((m.code[11].imm, m.code[14].imm), (3, -3));
    assert_eq!(m.code[12].imm, 17 - 12);
    let span = |name: &str, undo, start, end| (name.to_string(), undo, start, end);
    let spans: Vec<_> = m.spans.iter().map(|s| (s.name.clone(), s.undo, s.start, s.end)).collect();
    assert_eq!(spans, [span("f", false, 1, 8), span("g", false, 6, 8), span("f", true, 9, 16), span("g", true, 9, 11)]);
    assert_eq!(m.symbol("top.undo1").unwrap().value, 14);
    assert_eq!(m.locs[9].line, 10);
}

#[test]
fn undo_spans_may_be_written_out() {
    let m = module(
        " start\n .routine f\n inc r1\n .endroutine\n .unroutine f\n dec r1\n .endunroutine\n .unroutine f\n finish\n",
    );
    assert_eq!(codes_of(&m), ["start", "inc", "dec", "dec", "finish"]);
    assert_eq!(
        m.spans.iter().map(|s| (s.undo, s.start, s.end)).collect::<Vec<_>>(),
        [(false, 1, 2), (true, 2, 3), (true, 3, 4)]
    );
}

#[test]
fn an_inverse_of_an_inverse_is_the_routine() {
    let m = module(
        " start\n .routine a\n .routine b\n inc r1\n .endroutine\n add r2, r1\n .unroutine b\n .endroutine\n .unroutine a\n finish\n",
    );
    assert_eq!(codes_of(&m), ["start", "inc", "add", "dec", "inc", "sub", "dec", "finish"]);
    let spans: Vec<_> = m.spans.iter().map(|s| (s.name.as_str(), s.undo, s.start, s.end)).collect();
    let expected = [
        ("a", false, 1, 4),
        ("b", false, 1, 2),
        ("b", true, 3, 4),
        ("a", true, 4, 7),
        ("b", false, 4, 5),
        ("b", true, 6, 7),
    ];
    assert_eq!(spans, expected);
}

#[test]
fn every_example_assembles() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "rasm") {
            module(&std::fs::read_to_string(&path).unwrap());
        }
    }
}
