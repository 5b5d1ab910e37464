//! Short or repetitive programs that would take memory, time or the stack without bound: each is refused with the resource that it would
//! have exhausted, or takes no more work than its length.

use std::fmt::Write as _;
use std::path::Path;

use pendula::arguments::{self, ArgumentError};
use pendula::arrays;
use pendula::asm::diagnostic::{Diagnostic, Severity};
use pendula::asm::pisa::{self, import};
use pendula::asm::{assemble, object};
use pendula::compiler::compile::{Compiled, Options, compile, compile_janus};
use pendula::compiler::nil::sema::{Argument, Number};
use pendula::compiler::{ir, janus};
use pendula::hw_model::Technology;
use pendula::isa::budget::Budget;
use pendula_isa::sample;

const BODY: &str = "    y! += 1\nend\n";

fn with(budget: Budget, source: &str) -> Compiled {
    let arguments = vec![Argument::Number(Number::Int(0))];
    compile("test.nil", source.to_string(), &Options { arguments, budget, ..Options::default() })
}

/// The codes and messages of what is wrong.
fn nil(source: &str) -> Vec<(&'static str, String)> {
    with(Budget::default(), source).diagnostics.into_iter().map(|d| (d.code, d.message)).collect()
}

fn chain(mut out: String, n: usize, line: impl Fn(usize) -> String) -> String {
    for k in 1..=n {
        let _ = writeln!(out, "{}", line(k));
    }
    out
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn chains_of_structs_are_refused_with_the_depth() {
    let structs = chain("struct A0\n x::Int\nend\n".into(), 10_000, |k| format!("struct A{k}\n x::A{}\nend", k - 1));
    for order in [false, true] {
        // From either end.
        let mut parts: Vec<&str> = structs.split_inclusive("end\n").collect();
        if order {
            parts.reverse();
        }
        let found = nil(&format!("{}@i function f(y!::Int)\n{BODY}", parts.concat()));
        assert!(found.iter().all(|(code, _)| *code == "P0090"), "{found:?}");
        let first = found.first().map(|(_, message)| message.as_str());
        assert!(first.is_some_and(|m| m.ends_with("is nested more than 200 deep")), "{found:?}");
    }
    // Within the budget they are no trouble.
    let few = chain("struct A0\n x::Int\nend\n".into(), 150, |k| format!("struct A{k}\n x::A{}\nend", k - 1));
    assert_eq!(nil(&format!("{few}@i function f(y!::Int)\n{BODY}")), []);
}

#[test]
fn structs_that_double_are_refused_with_their_parts() {
    let line = |k: usize| format!("struct A{k}\n x::A{}\n y::A{}\nend", k - 1, k - 1);
    for first in ["struct A0\n x::Int\nend\n", "struct A0\nend\n"] {
        let found = nil(&format!("{}@i function f(y!::Int)\n{BODY}", chain(first.into(), 100, line)));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "P0091");
        assert!(found[0].1.ends_with("is made of more than 65536 parts"), "{found:?}");
    }
    let tuple = format!("{}Int{}", "NTuple{64,".repeat(6), "}".repeat(6));
    let found = nil(&format!("@i function g(x::{tuple})\nend\n@i function f(y!::Int)\n y! += g\nend\n"));
    assert!(!found.is_empty());
    let found = nil(&format!("@i function f(y!::{tuple})\nend\n"));
    assert_eq!(found, [("P0091", "a tuple is made of more than 65536 parts".to_string())]);
}

#[test]
fn constants_take_no_more_than_their_lines() {
    let long = chain("const A0 = 1\n".into(), 30_000, |k| format!("const A{k} = A{} + 1", k - 1));
    assert_eq!(nil(&format!("{long}@i function f(y!::Int)\n    y! += A30000\nend\n")), []);
    let doubling = chain("const A0 = 1\n".into(), 60, |k| format!("const A{k} = A{} + A{}", k - 1, k - 1));
    assert_eq!(nil(&format!("{doubling}@i function f(y!::Int)\n    y! += A60\nend\n")), []);
    let real = chain("const A0 = 1.5\n".into(), 500, |k| format!("const A{k} = A{} * A{} - A{}", k - 1, k - 1, k - 1));
    let found = nil(&format!("{real}@i function f(y!::Int)\n    y! += floor(Int, A3)\nend\n"));
    assert_eq!(found, []);
    // What is not whole stays to be computed where it stands.
    let shifted =
        chain("const A0 = -1\n".into(), 300, |k| format!("const A{k} = (A{} >> 1) - (A{} >> 1)", k - 1, k - 1));
    assert_eq!(nil(&format!("{shifted}@i function f(y!::Int)\n    y! += A300\nend\n")), []);
    // A constant of its own name.
    let found = nil("const A = 1\nconst A = A + 1\n@i function f(y!::Int)\n    y! += A\nend\n");
    assert_eq!(found, [("P0453", "the constant `A` is made of itself".to_string())]);
    // The budget can be set from outside.
    let found = with(Budget { bytes: 10, ..Budget::default() }, &doubling).diagnostics;
    assert_eq!(
        found.iter().map(|d| (d.code, d.message.as_str())).collect::<Vec<_>>(),
        [("P0092", "`test.nil` is larger than 10 bytes")]
    );
    let few = Budget { steps: 10, ..Budget::default() };
    let found = with(few, &format!("{doubling}@i function f(y!::Int)\n    y! += A60\nend\n")).diagnostics;
    assert!(found.iter().any(|d| d.code == "P0093" && d.message.ends_with("takes more than 10 steps to compute")));
}

/// A text that stands in itself `n` times over.
fn nested(before: &str, inner: &str, after: &str, n: usize) -> String {
    format!("{}{inner}{}", before.repeat(n), after.repeat(n))
}

/// The codes of what is wrong with a program in assembly, each once.
fn assembled(text: &str, budget: Budget) -> Vec<String> {
    // Every file that is asked for is there, and asks for the next.
    let loader = |path: &Path| {
        let n: u32 = path.to_str().and_then(|p| p.strip_prefix('f')?.parse().ok()).unwrap_or(0);
        Ok(format!(" .include \"f{}\"\n", n + 1))
    };
    let options = assemble::Options { budget, loader: Some(Box::new(loader)), ..assemble::Options::default() };
    codes(&assemble::assemble("test.rasm", text.to_string(), &options).diagnostics)
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<String> {
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let mut codes: Vec<String> = errors.map(|d| d.code.to_string()).collect();
    codes.dedup();
    codes
}

fn nil_codes(text: &str, budget: Budget) -> Vec<String> {
    codes(&with(budget, text).diagnostics)
}

fn janus_codes(text: &str, budget: Budget) -> Vec<String> {
    codes(&compile_janus("test.ja", text, &Options { budget, ..Options::default() }).diagnostics)
}

fn classic_codes(text: &str, budget: Budget) -> Vec<String> {
    let janus = janus::Settings { classic: true, ..janus::Settings::default() };
    codes(&compile_janus("test.ja", text, &Options { budget, janus, ..Options::default() }).diagnostics)
}

fn pisa_codes(text: &str, budget: Budget) -> Vec<String> {
    let options = pisa::Options { budget, ..pisa::Options::default() };
    codes(&pisa::read("test.pisa", &format!("{}\n{text}", pisa::HEADER), &options).diagnostics)
}

fn import_codes(text: &str, budget: Budget) -> Vec<String> {
    let read = pisa::Options { budget, ..pisa::Options::default() };
    let options = import::Options { read, ..import::Options::default() };
    codes(&import::import("test.pisa", &format!("{}\n{text}", pisa::HEADER), &options).diagnostics)
}

fn object_codes(text: &str, budget: Budget) -> Vec<String> {
    let module = assemble::assemble("test.rasm", text.to_string(), &assemble::Options::default()).module.unwrap();
    let bytes = object::write(&module).unwrap();
    object::read_within(&bytes, &budget).err().map(|e| e.code().to_string()).into_iter().collect()
}

fn ir_codes(text: &str, budget: Budget) -> Vec<String> {
    let found = ir::text::parse_within(&format!("program Q32.32 fun f {{ {text} }}"), &budget).err();
    found.map(|e| e.exceeded.map_or(e.message, |e| e.code().to_string())).into_iter().collect()
}

fn technology_codes(text: &str, budget: Budget) -> Vec<String> {
    let found = Technology::parse_within(text, &budget).err();
    found.map(|e| e.exceeded.map_or(e.message, |e| e.code().to_string())).into_iter().collect()
}

fn argument_codes(text: &str, budget: Budget) -> Vec<String> {
    match arguments::parse_within(text, &budget) {
        Err(ArgumentError::Exceeded(e)) => vec![e.code().to_string()],
        Err(e) => vec![e.to_string()],
        Ok(_) => Vec::new(),
    }
}

/// A file of comma-separated values, of which one number is wanted.
fn csv_codes(text: &str, _: Budget) -> Vec<String> {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let found = arrays::read(file.path().to_str().unwrap(), 1).err();
    found.map(|e| e.exceeded.map_or(e.message, |e| e.code().to_string())).into_iter().collect()
}

type Reader = (&'static str, fn(&str, Budget) -> Vec<String>);

const ASSEMBLER: Reader = ("assembler", assembled);
const NIL: Reader = ("Nil", nil_codes);
const JANUS: Reader = ("Janus", janus_codes);
const CLASSIC: Reader = ("classic Janus", classic_codes);
const PISA: Reader = ("PISA", pisa_codes);
const IMPORT: Reader = ("import", import_codes);
const OBJECT: Reader = ("objects", object_codes);
const IR: Reader = ("representation", ir_codes);
const TECHNOLOGY: Reader = ("technology", technology_codes);
const ARGUMENTS: Reader = ("arguments", argument_codes);
const CSV: Reader = ("comma-separated values", csv_codes);

const DEEP: usize = 100_000;

/// Operators side by side, within parentheses: neither is much for itself.
fn high(n: usize, operator: &str) -> String {
    (0..n).fold("1".to_string(), |inner, _| format!("({inner}{})", operator.repeat(999)))
}

fn in_nil(body: &str) -> String {
    format!("@i function f(y!::Int)\n{body}\nend\n")
}

fn in_janus(body: &str) -> String {
    format!("procedure main()\n int x\n{body}\n")
}

/// What is nested without end.
fn deep() -> Vec<(Reader, &'static str, String)> {
    let in_classic = |body: &str| format!("x procedure main\n{body}\n");
    vec![
        (ASSEMBLER, "parentheses", format!(" add r1, {}", nested("(", "1", ")", DEEP))),
        (ASSEMBLER, "signs", format!(" add r1, {}1", "-".repeat(DEEP))),
        (ASSEMBLER, "a macro of itself", " .macro f\n f\n .endm\n f\n".to_string()),
        (ASSEMBLER, "a tower of files", " .include \"f0\"\n".to_string()),
        (NIL, "parentheses", in_nil(&format!("y! += {}", nested("(", "1", ")", DEEP)))),
        (NIL, "blocks", in_nil(&nested("if (true, ~)\n", "y! += 1\n", "end\n", DEEP))),
        (NIL, "operators", in_nil(&format!("y! += 1{}", " + 1".repeat(DEEP)))),
        (NIL, "types", format!("@i function f(y!::{})\nend\n", nested("Tuple{", "Int", "}", DEEP))),
        (JANUS, "parentheses", in_janus(&format!("x += {}", nested("(", "1", ")", DEEP)))),
        (JANUS, "signs", in_janus(&format!("x += {}1", "~".repeat(DEEP)))),
        (JANUS, "indices", in_janus(&format!("x += {}", nested("x[", "1", "]", DEEP)))),
        (JANUS, "blocks", in_janus(&nested("if x = 0 then ", "skip ", "fi x = 0\n", DEEP))),
        (JANUS, "lists", format!("procedure main()\n int a[] = {}\n skip", nested("{", "1", "}", DEEP))),
        (JANUS, "operators", in_janus(&format!("x += 1{}", "+1".repeat(DEEP)))),
        (JANUS, "a high tree", in_janus(&format!("x += {}", high(110, "+1")))),
        (CLASSIC, "parentheses", in_classic(&format!("x += {}", nested("(", "1", ")", DEEP)))),
        (CLASSIC, "signs", in_classic(&format!("x += {}1", "-".repeat(DEEP)))),
        (CLASSIC, "indices", in_classic(&format!("x += {}", nested("x[", "1", "]", DEEP)))),
        (CLASSIC, "a high tree", in_classic(&format!("x += {}", high(110, "+1")))),
        (IR, "blocks", nested("span \"\" {", "", "}", DEEP)),
        (TECHNOLOGY, "lists", format!("name = {}", nested("[", "1", "]", DEEP))),
        (TECHNOLOGY, "tables", format!("name = {}", nested("{a=", "1", "}", DEEP))),
        (TECHNOLOGY, "keys", format!("a{} = 1", ".a".repeat(DEEP))),
        (TECHNOLOGY, "a table's name", format!("[a{}]\nb = 1", ".a".repeat(DEEP))),
        (ARGUMENTS, "tuples", nested("(", "1", ")", DEEP)),
        (ARGUMENTS, "arrays", nested("[", "1", "]", DEEP)),
        (ARGUMENTS, "arrays of tuples", nested("[(", "1", ")]", DEEP)),
        (ARGUMENTS, "complex numbers", nested("{re:", "1", "}", DEEP)),
        (ARGUMENTS, "ranges", nested("collect(", "1:2", ")", DEEP)),
    ]
}

/// What has more parts than the default allows, or than a budget of a thousand does.
fn many() -> Vec<(Reader, &'static str, String, Budget)> {
    let few = Budget { statements: 1000, words: 1000, ..Budget::default() };
    let whole = Budget::default();
    let double = |n: usize| {
        let last = n - 1;
        format!(" .routine turn{n}\n .unroutine turn{last}\n inc r1\n .endroutine turn{n}\n .unroutine turn{n}\n")
    };
    let doubling: String = (1..40).map(double).collect();
    let structs =
        chain("struct A0\n x::Int\nend\n".into(), 100, |k| format!("struct A{k}\n x::A{}\n y::A{}\nend", k - 1, k - 1));
    vec![
        (ASSEMBLER, "data", " .data\n .space 1 << 40\n".to_string(), whole),
        (ASSEMBLER, "statements", " inc r1\n".repeat(2000), few),
        (
            ASSEMBLER,
            "inverses",
            format!(" start\n .routine turn0\n inc r1\n .endroutine turn0\n{doubling} finish\n"),
            few,
        ),
        (NIL, "structs that double", format!("{structs}{}", in_nil("y! += 1")), whole),
        (NIL, "statements", in_nil(&"y! += 1\n".repeat(2000)), few),
        (JANUS, "statements", in_janus(&"x += 1\n".repeat(2000)), few),
        (CLASSIC, "statements", format!("x procedure main\n{}", "x += 1\n".repeat(2000)), few),
        (PISA, "instructions", format!("START\n{}FINISH\n", "ADDI $1 1\n".repeat(2000)), few),
        (IMPORT, "instructions", format!("START\n{}FINISH\n", "ADDI $1 1\n".repeat(2000)), few),
        (OBJECT, "data", " .data\n .space 2000\n .text\n start\n finish\n".to_string(), few),
        (OBJECT, "code", format!(" start\n{} finish\n", " inc r1\n".repeat(2000)), few),
        (IR, "statements", "print 0 ".repeat(2000), few),
        (ARGUMENTS, "zeros", "zeros(40),zeros(1000000000000,1000000000000)".to_string(), few),
        (ARGUMENTS, "zeros without elements", "zeros(12393906174523604990,3,0)".to_string(), few),
        (ARGUMENTS, "ranges", "[0:1:1e15]".to_string(), few),
        (ARGUMENTS, "a range", "range(0, 1, length=1_000_000_000_000)".to_string(), few),
    ]
}

/// What is larger than the default allows, or than a budget of a thousand bytes does.
fn large() -> Vec<(Reader, &'static str, String, Budget)> {
    let few = Budget { bytes: 1000, ..Budget::default() };
    let whole = Budget::default();
    let double = |k: usize| format!(" .macro m{k}\n m{}\n m{}\n .endm\n", k + 1, k + 1);
    let doubling: String = (0..60).map(double).collect();
    let line = "#".repeat(2000);
    vec![
        (ASSEMBLER, "one line", line.clone(), few),
        (ASSEMBLER, "macros that double", format!(" .macro m60\n .endm\n{doubling} m0\n"), whole),
        (ASSEMBLER, "an argument that doubles", " .macro f a\n f \\a\\a\n .endm\n f x\n".to_string(), whole),
        (NIL, "one line", line.clone(), few),
        (JANUS, "one line", line.clone(), few),
        (CLASSIC, "one line", line.clone(), few),
        (PISA, "one line", line.clone(), few),
        (IMPORT, "one line", line.clone(), few),
        (OBJECT, "code", format!(" start\n{} finish\n", " inc r1\n".repeat(2000)), few),
        (IR, "one line", line.clone(), few),
        (TECHNOLOGY, "one line", line.clone(), few),
        (TECHNOLOGY, "a mebibyte", line.repeat(1 << 10), whole),
        (ARGUMENTS, "numbers", "1,".repeat(1000), few),
        (CSV, "one line", "1,".repeat(1 << 20), whole),
        (CSV, "a long number", "1".repeat(1 << 20), whole),
    ]
}

#[test]
fn every_reader_goes_by_the_budget() {
    let deep = deep().into_iter().map(|(reader, what, text)| (reader, what, text, Budget::default(), "P0090"));
    let many = many().into_iter().map(|(reader, what, text, budget)| (reader, what, text, budget, "P0091"));
    let large = large().into_iter().map(|(reader, what, text, budget)| (reader, what, text, budget, "P0092"));
    let mut wrong = Vec::new();
    for ((reader, read), what, text, budget, code) in sample::some(deep.chain(many).chain(large)) {
        let found = read(&text, budget);
        // What cannot be read to its end may lack something else, too.
        let right = found.iter().any(|c| c == code)
            && found.iter().all(|c| c == code || ["P0404", "P0055"].contains(&c.as_str()));
        if !right {
            wrong.push(format!("{reader}, {what}: {code} is expected, found {found:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_stack_lasts_for_what_is_just_within() {
    let in_classic = |body: &str| format!("x a[9] procedure main\n{body}\n");
    let texts: Vec<(Reader, String)> = vec![
        (ASSEMBLER, format!(" start\n add r1, {}\n finish\n", nested("(", "1", ")", 200))),
        (NIL, in_nil(&format!("y! += {}", nested("(", "1", ")", 90)))),
        (NIL, in_nil(&nested("if (y! > 0, ~)\n", "y! += 1\n", "end\n", 190))),
        (JANUS, in_janus(&format!("x += {}", nested("(", "1", ")", 198)))),
        (JANUS, in_janus(&format!("x += {}", nested("a[", "1", "]", 198)).replace("x +=", " int a[9]\nx +="))),
        (JANUS, in_janus(&nested("if x = 0 then ", "skip ", "fi x = 0\n", 198))),
        (JANUS, in_janus(&nested("from x = 0 do skip loop ", "skip ", "until x = 0\n", 198))),
        (JANUS, in_janus(&format!("x += {}", high(2, "+1")))),
        (JANUS, in_janus(&format!("int y x += {}", high(2, "*y")))),
        (JANUS, in_janus(&format!("int y x += {}", high(2, "&&y")))),
        (JANUS, in_janus(&format!("int y x += {}", high(2, "/y")))),
        (CLASSIC, in_classic(&format!("x += {}", nested("(", "1", ")", 198)))),
        (CLASSIC, in_classic(&format!("x += {}", nested("a[", "1", "]", 198)))),
        (CLASSIC, in_classic(&format!("x += {}", high(2, "*a[1]")))),
        (IR, nested("span \"\" {", "", "}", 200)),
        (ARGUMENTS, nested("(", "1", ")", 200)),
    ];
    // The stack that a command has.
    let run = move || {
        for ((reader, read), text) in texts {
            let found = read(&text, Budget::default());
            assert!(!found.iter().any(|c| c.starts_with("P009")), "{reader}: {found:?}: {:.60}", text);
        }
    };
    std::thread::Builder::new().stack_size(8 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn what_readers_took_before_they_take() {
    let taken: Vec<(Reader, String)> = vec![
        (ASSEMBLER, format!(" start\n add r1, {}\n finish\n", nested("(", "1", ")", 64))),
        (NIL, in_nil(&format!("y! += 1{}", " + 1".repeat(498)))),
        (NIL, in_nil(&nested("if (true, ~)\n", "y! += 1\n", "end\n", 100))),
        (JANUS, in_janus(&format!("x += {}", nested("(", "1", ")", 118)))),
        (JANUS, in_janus(&format!("x += x{}", "+1".repeat(1000)).replace("x += x", "x += 1"))),
        (JANUS, in_janus(&nested("if x = 0 then ", "skip ", "fi x = 0\n", 118))),
        (IR, nested("span \"\" {", "", "}", 200)),
        (ARGUMENTS, nested("(", "1", ")", 50)),
        (CSV, "1\n".to_string()),
    ];
    for ((reader, read), text) in taken {
        assert_eq!(read(&text, Budget::default()), Vec::<String>::new(), "{reader}");
    }
}
