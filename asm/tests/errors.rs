//! Every error: its code, the text that it covers, and that the rest of the file is still read.

use crate::common;

use common::{errors, fails, run};
use pendula_asm::assemble::{Options, assemble};
use pendula_asm::codes::codes;
use pendula_asm::{object, pisa};
use pendula_isa::budget::Budget;

#[test]
fn what_is_no_token() {
    fails(" inc r1 ?\n add r1, x < 2", &[("P0001", "?"), ("P0001", "<")]);
    fails(" inc \\r", &[("P0001", "\\r")]);
    fails(" add r1, 12ab\n add r2, 0x\n add r2, 1.2.3", &[("P0002", "12ab"), ("P0002", "0x"), ("P0002", "1.2.3")]);
    fails(" print \"abc\n print \"\\q\"\n add r1, 'ab'", &[("P0003", "\"abc"), ("P0003", "\\q"), ("P0003", "'ab'")]);
    fails(" add r1, 18446744073709551616", &[("P0012", "18446744073709551616")]);
}

#[test]
fn syntax() {
    fails(
        " add r1 r2\n add r1, (2+3\n add r1, [r2\n exch r1, [r2*3]",
        &[("P0004", "r2"), ("P0004", ""), ("P0004", ""), ("P0004", "*")],
    );
    fails(
        " add r1,\n add r1, 2+\n add , r1\n .word\n .equ N\n .equ N,",
        &[("P0005", ""), ("P0005", ""), ("P0004", ","), ("P0005", ""), ("P0005", ""), ("P0005", "")],
    );
    fails(
        "12: inc r1\n = 3\n .text x\n .include x\n print x",
        &[("P0004", "12"), ("P0004", "="), ("P0004", "x"), ("P0004", "x"), ("P0031", "x")],
    );
    fails(" .data\n .space 4, z", &[("P0004", "z")]);
}

#[test]
fn unknown_words() {
    fails(" addmlu r1, r2, r3\n .wrod 3\n inc r1\n N = 5", &[("P0006", "addmlu"), ("P0007", ".wrod"), ("P0006", "N")]);
    let help = |text: &str| run(text).diagnostics[0].help.clone().unwrap();
    assert_eq!(help(" addmlu r1, r2, r3"), "did you mean `addmul`?");
    assert_eq!(help(" .dta"), "did you mean `.data`?");
    assert!(help(" N = 5").contains(".equ"));
}

#[test]
fn names() {
    fails(
        " add r1, x\n jmp y\n .word1: inc r1\n .export z\n call w",
        &[("P0008", "x"), ("P0008", "y"), ("P0008", "z"), ("P0008", "w")],
    );
    fails("a: inc r1\na: inc r1\n .equ a, 3\n proc a\n ret a\n", &[("P0009", "a"), ("P0009", ".equ"), ("P0009", "a")]);
    fails(
        "r1: inc r1\n .equ sp, 3\n proc r2\n ret r2",
        &[("P0010", "r1"), ("P0010", "sp"), ("P0031", "r2"), ("P0031", "r2")],
    );
    let help = |text: &str| run(text).diagnostics[0].help.clone().unwrap();
    assert_eq!(help("count: inc r1\n add r1, cuont"), "did you mean `count`?");
    assert_eq!(help("Count: inc r1\n add r1, count"), "names are case-sensitive: did you mean `Count`?");
}

#[test]
fn sections() {
    fails(" .word 3\n .data\n inc r1\n .text\n .space 4", &[("P0011", ".word"), ("P0011", "inc"), ("P0011", ".space")]);
}

#[test]
fn values() {
    fails(
        " add r1, 0xffffffffffffffff+1\n add r1, -9223372036854775809",
        &[("P0012", "0xffffffffffffffff+1"), ("P0012", "-9223372036854775809")],
    );
    fails(" .equ A, 1<<63\n .equ B, A*A*A*A\n add r1, B", &[("P0012", "A*A*A")]);
    fails(
        " add r1, 1/0\n add r1, 2%(1-1)\n add r1, 1<<64\n add r1, 1>>-1",
        &[("P0013", "0"), ("P0013", "1-1"), ("P0013", "64"), ("P0013", "-1")],
    );
    fails(" .equ A, B\n .equ B, C+1\n .equ C, A\n add r1, A\n .equ D, D", &[("P0014", ".equ"), ("P0014", ".equ")]);
    fails(" add r1, 1.5\n b: jmp.lt.q r1, 1.5, a\na: from.lt r1, 2, b", &[("P0015", "1.5"), ("P0015", "1.5")]);
    fails(" add.q r1, 1.5f\n add r1, 1q\n .data\n .double 1l", &[("P0016", "1.5f"), ("P0016", "1q"), ("P0016", "1l")]);
    fails(" .equ X, 1.5q\n add.f r1, X\n add.q r1, inf", &[("P0016", "X"), ("P0008", "inf")]);
    fails(
        " add.q r1, 1e10\n add.q r1, 4294967296\n add.f r1, 1e400\n mul.l r1, 1e400",
        &[("P0017", "1e10"), ("P0017", "4294967296"), ("P0017", "1e400"), ("P0017", "1e400")],
    );
    fails(
        " add r1, 1.5+1\n add.q r1, ~1.5\n add r1, 5w+1\n add r1, -5w",
        &[("P0018", "1.5"), ("P0018", "1.5"), ("P0018", "5w"), ("P0018", "5w")],
    );
}

#[test]
fn the_wrong_sort_of_name() {
    let data = " .data\nd: .word 0\n .text\n .equ N, 3\nl: inc r1\n";
    fails(
        &format!("{data} jmp d\n call N\n .import l\n .global N\n add r1, [l]"),
        &[("P0019", "d"), ("P0019", "N"), ("P0019", "l"), ("P0019", "N"), ("P0019", "l")],
    );
    let a = run(&format!("{data} exch r1, d"));
    assert_eq!(errors(&a)[0].0, "P0031");
    assert_eq!(a.diagnostics[0].help.as_deref(), Some("a word of memory is in brackets: `[d]`"));
}

#[test]
fn addresses() {
    fails(
        " add r1, r2+1\n exch r1, [r2-r3]\n exch r1, [r2+r3+r4]\n exch r1, [(r2)]\n exch r1, []",
        &[("P0020", "r2"), ("P0020", "r3"), ("P0020", "r4"), ("P0020", "r2"), ("P0004", "]")],
    );
    fails(
        " exch r1, [0x8000000000000000]\n exch r1, [0x8000000]",
        &[("P0038", "[0x8000000000000000]"), ("P0038", "[0x8000000]")],
    );
}

#[test]
fn sizes_need_what_is_above() {
    fails(" .data\n .space N\n .equ N, 3\n .space M\n .equ M, N\n", &[("P0021", "N"), ("P0021", "M")]);
    fails(" .equ A, B\n .data\n .space A\n .equ B, 2\n .space A", &[("P0021", "B")]);
    fails(" .data\n .space -1\n .space 1.5", &[("P0023", "-1"), ("P0015", "1.5")]);
}

#[test]
fn directives() {
    fails(" .format Q32.32\n .format Q16.48\n .format Q3", &[("P0022", "Q16.48"), ("P0022", "Q3")]);
    fails(" .mem -1\n .mem 10\n .mem 20", &[("P0023", "-1"), ("P0046", ".mem")]);
    fails(" .data\n .space 11\n .mem 10", &[("P0023", "10")]);
    let a = run(" .proc-doc \"x\"\n inc r1");
    assert!(a.module.is_some());
    assert_eq!((a.diagnostics[0].code, a.diagnostics.len()), ("P0201", 1));
}

#[test]
fn macro_definitions() {
    fails(" .macro f\n inc r1", &[("P0024", ".macro")]);
    fails(
        " .endm\n .macro f a, a\n .endm\n .macro g a b\n .endm",
        &[("P0024", ".endm"), ("P0024", "a"), ("P0004", "b")],
    );
    fails(
        " .macro add\n .endm\n .macro .x\n .endm\n .MACRO f\n .endm\n .macro f\n .endm",
        &[("P0010", "add"), ("P0010", ".x"), ("P0009", "f")],
    );
}

#[test]
fn macro_uses() {
    let f = " .macro f a, b=1\n add \\a, \\b\n .endm\n";
    fails(&format!("{f} f r1, 2, 3+4\n f"), &[("P0025", "3+4"), ("P0025", "f")]);
    // The place is where the faulty text was written; the use of the macro is named.
    let a = run(&format!("{f} f r1, x\n .macro g\n f r2, 1.5\n .endm\n g\n"));
    assert_eq!(errors(&a).iter().map(|e| (e.0, e.1.as_str())).collect::<Vec<_>>(), [("P0008", "x"), ("P0015", "1.5")]);
    let uses: Vec<_> = a.diagnostics[1].secondary.iter().map(|l| (l.text.as_str(), l.place.span.clone())).collect();
    let text = a.sources.text(0);
    assert_eq!(uses[0].0, "in this use of the macro `f`");
    assert_eq!(&text[uses[0].1.clone()], "f");
    assert_eq!(uses[1].0, "in this use of the macro `g`");
    assert_eq!(uses[1].1.start, text.len() - 2);
}

fn with(budget: Budget) -> Options {
    Options { budget, ..Options::default() }
}

#[test]
fn endless_macros() {
    fails(" .macro f\n f\n .endm\n f\n", &[("P0090", "f")]);
    let bomb: String = (0..60).map(|n| format!(" .macro m{n}\n m{}\n m{}\n .endm\n", n + 1, n + 1)).collect();
    let options = with(Budget { bytes: 1 << 20, ..Budget::default() });
    let a = assemble("x", format!(" .macro m60\n .endm\n{bomb} m0\n"), &options);
    assert_eq!(errors(&a)[0].0, "P0092");
    let options = with(Budget { statements: 1000, ..Budget::default() });
    let lines: String = (0..40).map(|n| format!(" .macro m{n}\n m{}\n m{}\n .endm\n", n + 1, n + 1)).collect();
    let a = assemble("x", format!(" .macro m40\n inc r1\n .endm\n{lines} m0\n"), &options);
    assert_eq!(errors(&a)[0].0, "P0091");
    let a = assemble("x", format!(" .macro m60\n .endm\n{bomb} m0\n"), &Options::default());
    let found = errors(&a);
    assert_eq!(
        (found[0].0, a.diagnostics[0].message.as_str()),
        ("P0092", "what macros expand to is larger than 16777216 bytes")
    );
    // An argument that doubles in length with every use.
    fails(" .macro f a\n f \\a\\a\n .endm\n f x\n", &[("P0092", "f")]);
}

#[test]
fn limits() {
    let data = with(Budget { words: 10, ..Budget::default() });
    let a = assemble("x", " .data\n .space 8\n .word 1, 2, 3\n .space 1<<62\n .word 1\n".into(), &data);
    assert_eq!(errors(&a).iter().map(|e| e.0).collect::<Vec<_>>(), ["P0091", "P0091"]);
    let a = assemble("x", " inc r1\n".repeat(100), &with(Budget { bytes: 100, ..Budget::default() }));
    assert_eq!(errors(&a)[0].0, "P0092");
    let deep = format!(" add r1, {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(errors(&run(&deep))[0].0, "P0090");
    let deep = format!(" add r1, {}1", "-".repeat(100_000));
    assert_eq!(errors(&run(&deep))[0].0, "P0090");
    // Long input that is not deep.
    let long = format!(" add r1, 0{}", "+1".repeat(100_000));
    assert_eq!(common::module(&long).code[0].imm, 100_000);
}

/// Each of these took minutes when a search was repeated.
#[test]
fn long_lines_take_linear_time() {
    let many = 1 << 18;
    for (line, code) in [
        ("\"".repeat(many), "P0004"),
        (format!(" .macro f {}z\n .endm", (0..many).map(|n| format!("p{n},")).collect::<String>()), "P0024"),
        (
            format!(" .routine a\nx: jmp {}x\n .endroutine\n{}", "x,".repeat(many), " .unroutine a\n".repeat(100)),
            "P0030",
        ),
        (format!("{}:", "x".repeat(many)).repeat(50), "P0010"),
    ] {
        let a = run(&line);
        assert_eq!(errors(&a)[0].0, code);
        assert!(a.diagnostics.iter().all(|d| d.message.len() < 500));
    }
}

#[test]
fn at_most_a_thousand_errors() {
    let a = run(&" bad r1\n".repeat(3000));
    assert_eq!(a.diagnostics.len(), 1001);
    assert_eq!(a.diagnostics[1000].code, "P0045");
}

#[test]
fn routine_marks() {
    fails(" .routine f\n inc r1\n", &[("P0040", ".routine")]);
    fails(
        " .endroutine\n .endunroutine\n .unroutine f\n",
        &[("P0040", ".endroutine"), ("P0040", ".endunroutine"), ("P0040", ".unroutine")],
    );
    fails(" .routine f\n .routine g\n .endroutine f\n .endroutine\n", &[("P0040", ".endroutine")]);
    fails(" .routine f\n .unroutine f\n .endroutine\n", &[("P0040", ".unroutine")]);
}

#[test]
fn routines_without_inverse() {
    let routine =
        |body: &str| format!(" .irreversible\n start\n .routine f\n{body}\n .endroutine\n .unroutine f\n finish\n");
    fails(&routine(" inc r1\n erase r1"), &[("P0041", ".unroutine")]);
    fails(&routine("a: jmp b\n .endroutine\nb: from a\n .routine g"), &[("P0041", ".unroutine")]);
    let a = run(" .routine f\n proc g\n ret g\n .endroutine\n .unroutine f\n");
    assert_eq!(errors(&a).iter().map(|e| e.0).collect::<Vec<_>>(), ["P0040"]);
}

#[test]
fn operands() {
    for (text, code, covered) in [
        ("add r1", "P0030", "add"),
        ("add r1, r2, r3, r4, r5, r6", "P0030", "add"),
        ("start r1", "P0030", "start"),
        ("swap r1, 5", "P0031", "5"),
        ("call 5", "P0031", "5"),
        ("jmp r1", "P0031", "r1"),
        ("show \"x\"", "P0031", "\"x\""),
        ("add r1, r1", "P0032", "r1"),
        ("add r1, [r1+3]", "P0032", "[r1+3]"),
        ("add r0, r1", "P0033", "r0"),
        ("push sp", "P0034", "sp"),
        ("add [r1], [r2]", "P0035", "[r2]"),
        ("addmul r1, 2, 3", "P0036", "3"),
        ("add [r1+1], 3", "P0036", "[r1+1]"),
        ("mul.l r1, 0", "P0037", "0"),
        ("rol r1, 64", "P0038", "64"),
        ("rmul r1, r2, 0, 5", "P0038", "0"),
        ("rmul r1, r2, r3, 5", "P0039", "5"),
    ] {
        fails(&format!("        {text}\n"), &[(code, covered)]);
    }
}

#[test]
fn pairs() {
    // A label on another instruction, on nothing, on a jump.
    fails("a: jmp b\nb: inc r1\n", &[("P0050", "b")]);
    fails("a: jmp b\nb:\n", &[("P0050", "b")]);
    fails("a: jmp b\nb: jmp a\n", &[("P0050", "b"), ("P0050", "a")]);
    // Two `from`s that name one jump, two jumps that name one `from`.
    let a = run("a: jmp b\nb: from a\nc: from a\n");
    let found = errors(&a);
    assert_eq!((found.len(), found[0].0, found[0].1.as_str()), (1, "P0050", "a"));
    assert_eq!(found[0].2, "the `jmp` at `a` names `b`, not this `from`");
    assert_eq!(a.diagnostics[0].secondary.len(), 2);
    fails("a: jmp b\nc: jmp b\nb: from a\n", &[("P0050", "b")]);
    // Consequences of another error are not reported.
    fails("a: jmp.lt r1, b\nb: from a\n", &[("P0030", "jmp.lt")]);
    fails("a: jpm b\nb: from a\n", &[("P0006", "jpm")]);
    fails(" proc f\na: jmp b\n ret f\n proc g\nb: from a\n ret g\n", &[("P0051", "b")]);
}

#[test]
fn regions() {
    fails(" proc f\n inc r1\n proc g\n ret g\n", &[("P0052", "f")]);
    fails(" ret f\n", &[("P0053", "f")]);
    fails(" proc f\n ret f\n ret f\n", &[("P0042", "f")]);
    // The `finish` has its `start`: the error is between them.
    fails(" start\n proc f\n ret f\n finish\n", &[("P0054", "proc")]);
    fails(" start\n", &[("P0055", "start")]);
    fails(" finish\n", &[("P0056", "finish")]);
    fails(" start\n finish\n start\n finish\n", &[("P0057", "start")]);
    fails("l: inc r1\n call l\n", &[("P0058", "l")]);
    fails(" erase r1\n", &[("P0059", "erase")]);
}

#[test]
fn names_have_a_length_that_objects_take() {
    let (longest, longer) = ("x".repeat(1024), "x".repeat(1025));
    let native = |name: &str| format!("{name}: start\n finish\n");
    fails(&native(&longer), &[("P0010", &longer)]);
    let pisa = |name: &str| format!(";; pendulum pal file\n{name}: START\n FINISH\n");
    let read = |name: &str| pisa::read("long.pisa", &pisa(name), &pisa::Options::default());
    let refused = read(&longer);
    assert_eq!((refused.module, refused.diagnostics[0].code), (None, "P0337"));
    let assembled = assemble("long.rasm", native(&longest), &Options::default()).module;
    for module in [assembled.unwrap(), read(&longest).module.unwrap()] {
        assert_eq!(object::read(&object::write(&module).unwrap()), Ok(module));
    }
}

#[test]
fn profiles() {
    fails(" bra.eq r1, r2, x\nx: bra.eq r1, r2, y\ny: inc r1\n", &[("P0080", "bra.eq"), ("P0080", "bra.eq")]);
    fails(" .profile pisa\n add r1, r2\n", &[("P0080", "add")]);
    fails(" .profile pisa\n xor r1, [r2]\n", &[("P0080", "xor")]);
    fails(" .profile pisa\n xor r1, 0x80000000\n", &[("P0081", "xor")]);
    fails(" .profile pisa\n add32 r0, r0\n", &[("P0032", "r0")]);
    fails(" .profile pisa\n .start x\n finish\nx:\n", &[("P0082", "x")]);
    fails(" .profile pisa\n .start x\n finish\n", &[("P0008", "x")]);
    fails(" .profile vieri\n", &[("P0023", "vieri")]);
    fails(" start\n .profile pisa\n finish\n", &[("P0023", "pisa")]);
    fails("x: start\n .start x\n finish\n", &[("P0023", ".start")]);
    fails(" .profile pisa\n .data\n .word 5\n .text\n start\n finish\n", &[("P0011", ".word")]);
    fails(" .profile pisa\n", &[("P0082", ".profile")]);
    fails(" bra x\n", &[("P0008", "x")]);
}

#[test]
fn definitions_that_come_with_the_program() {
    let with = |defines: &[(&str, &str)], text: &str| {
        let defines = defines.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        assemble("p.rasm", text.to_string(), &Options { defines, ..Options::default() })
    };
    let codes = |a: &pendula_asm::assemble::Assembly| a.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>();
    let one = with(&[("N", "5")], " .equ N, 3\n add r1, N\n");
    let five = run(" add r1, 5\n");
    assert_eq!(one.module.map(|m| m.code), five.module.map(|m| m.code), "the program's own is passed over");
    let unused = with(&[("M", "5")], " .equ N, 3\n add r1, N\n");
    assert_eq!((codes(&unused), unused.module.is_some()), (vec!["P0202"], true));
    assert_eq!(codes(&with(&[("N", "1")], "N: inc r1\n")), ["P0009"]);
    assert_eq!(codes(&with(&[("N", "1"), ("N", "2")], " add r1, N\n")), ["P0009"]);
    assert_eq!(codes(&with(&[("N", "N+1")], " add r1, N\n")), ["P0014"]);
    assert_eq!(codes(&with(&[("5", "1")], " inc r1\n")), ["P0004"]);
    // Messages claim that files exist, and they do: the program is the first.
    let broken = with(&[("N", "1")], " add r1, N\n add r1, M\n");
    let place = broken.diagnostics[0].primary.as_ref().map(|l| (l.place.file, broken.sources.name(l.place.file)));
    assert_eq!(place, Some((0, "p.rasm")));
}

#[test]
fn every_code_has_a_test() {
    let tests = [include_str!("errors.rs"), include_str!("includes.rs"), include_str!("definitions.rs")].concat();
    let missing: Vec<_> = codes().map(|(code, _)| code).filter(|code| !tests.contains(*code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
