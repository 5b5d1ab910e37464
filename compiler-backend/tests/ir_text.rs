//! The text of the IR: printing and reading programs.

use crate::common;

use common::Random;
use common::build::*;
use common::generate::{Profile, generate};
use pendula_compiler::ir::text::{MAX_NESTING, parse, print};
use pendula_compiler::ir::*;
use pendula_isa::sample::share;
use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Acc, Cond, Format, Ty};

#[track_caller]
fn round(program: &Program) {
    let text = print(program);
    match parse(&text) {
        Ok(back) => assert!(back == *program, "{text}\n{}", print(&back)),
        Err(e) => panic!("{e}\n{text}"),
    }
}

#[test]
fn random_programs_read_back() {
    for seed in 0..share(6400) {
        round(&generate(seed, Profile::ALL).program);
    }
}

fn word(r: &mut Random) -> u64 {
    match r.below(4) {
        0 => 1 << r.below(64),
        1 => f64::to_bits([0.5, -0.0, f64::INFINITY, f64::NAN, 1e300, 5e-324][r.below(6)]),
        _ => r.word() >> r.below(64),
    }
}

fn mem(r: &mut Random) -> Mem {
    let v = |r: &mut Random| r.chance(60).then(|| Var(r.below(6) as u32));
    let (base, index) = (v(r), v(r));
    let offset = if r.chance(50) { 0 } else { word(r) as i64 };
    Mem { base, index, offset, region: Region(r.below(6) as u32) }
}

fn operand(r: &mut Random) -> Operand {
    match r.below(3) {
        0 => Operand::Const(word(r)),
        1 => Operand::Var(Var(r.below(6) as u32)),
        _ => Operand::Mem(mem(r)),
    }
}

fn condition(r: &mut Random, depth: usize) -> Condition {
    let compute = if r.chance(30) { block(r, depth + 1) } else { vec![] };
    let ty = Ty::ALL[r.below(4)];
    Condition { compute, test: Test { cond: Cond::TESTS[r.below(8)], ty, a: operand(r), b: operand(r) } }
}

fn block(r: &mut Random, depth: usize) -> Block {
    (0..r.below(5)).map(|_| statement(r, depth)).collect()
}

fn statement(r: &mut Random, depth: usize) -> LocatedStmt {
    let kinds = if depth > 3 { 9 } else { 15 };
    let var = Var(r.below(6) as u32);
    let (ty, flag) = (Ty::ALL[r.below(4)], r.chance(50));
    let checks = AncillaChecks { check: r.chance(50), drop: r.chance(50) };
    let stmt = match r.below(kinds) {
        0 | 1 => {
            let func = TableFn::ALL[r.below(TableFn::ALL.len())];
            let dst = if flag { Place::Var(var) } else { Place::Mem(mem(r)) };
            let args = func.info().args.iter().map(|_| operand(r)).collect();
            Stmt::Update { acc: Acc::ALL[r.below(3)], inverse: r.chance(50), func, dst, args }
        }
        2 => {
            let row = Row::ALL[r.below(Row::ALL.len())];
            Stmt::Permute { row, inverse: flag, ty, args: (0..r.below(4)).map(|_| operand(r)).collect() }
        }
        3 => Stmt::Ancilla { var, free: flag, checks },
        4 => Stmt::Array { base: var, len: operand(r), region: Region(r.below(6) as u32), ty, free: flag, checks },
        5 => Stmt::Call {
            func: FunctionId(r.below(3) as u32),
            inverse: flag,
            args: (0..r.below(4)).map(|_| operand(r)).collect(),
        },
        6 => {
            let why = [AssertKind::User, AssertKind::Bounds, AssertKind::Alias, AssertKind::Shape][r.below(4)];
            Stmt::Assert { test: condition(r, 9).test, why, reason: [None, Some(0), Some(1)][r.below(3)] }
        }
        7 => Stmt::Show { ty, value: operand(r) },
        8 => Stmt::Print(r.word() as u32),
        kind => structured(r, kind, depth),
    };
    let loc = if r.chance(50) { Loc::default() } else { Loc { file: 1, line: r.word() as u32, column: 7 } };
    stmt.at(loc)
}

/// A statement of a kind that has others in it.
fn structured(r: &mut Random, kind: usize, depth: usize) -> Stmt {
    let (var, flag) = (Var(r.below(6) as u32), r.chance(50));
    match kind {
        9 => Stmt::If {
            pre: condition(r, depth),
            post: condition(r, depth),
            then: block(r, depth + 1),
            otherwise: block(r, depth + 1),
        },
        10 => Stmt::While {
            pre: condition(r, depth),
            post: condition(r, depth),
            first: block(r, depth + 1),
            body: block(r, depth + 1),
        },
        11 => {
            let step = if flag {
                Step::Const(word(r) as i64)
            } else {
                Step::Var { var: Var(r.below(6) as u32), negated: r.chance(50) }
            };
            let blocks = r.pick(&[None, Some(Blocks::FromFirst), Some(Blocks::FromLast)]).flatten();
            Stmt::For { var, first: operand(r), last: operand(r), step, body: block(r, depth + 1), blocks }
        }
        12 | 13 => Stmt::With { name: "a\"b".into(), compute: block(r, depth + 1), body: block(r, depth + 1) },
        _ => Stmt::Span { name: String::new(), undo: flag, body: block(r, depth + 1) },
    }
}

/// A program with every kind of statement, and with unusual words, names and places.
fn odd(random: &mut Random) -> Program {
    const NAMES: [&str; 14] =
        ["x", "x", "if", "show.f", "", "a b", "\"", "θ", "x.re", "_", "p%1", "\\\n\u{7}", "dot.2", "0"];
    let mut b = Builder::new("");
    b.function.name = NAMES[random.below(NAMES.len())].into();
    for _ in 0..6 {
        let ty = Ty::ALL[random.below(4)];
        let name = NAMES[random.below(NAMES.len())];
        if random.chance(50) {
            b.param(name, ty, random.chance(50))
        } else {
            b.var(name, ty)
        };
        b.region(name, ty);
    }
    if random.chance(30) {
        b.function.params.reverse();
    }
    if random.chance(50) {
        b.function.loc = Loc { file: random.word() as u16, line: random.word() as u32, column: random.word() as u16 };
    }
    b.function.inline = random.chance(50);
    b.function.body = block(random, 0);
    Program {
        functions: vec![b.function.clone(), Builder::new("other").function, b.function],
        entry: [None, Some(FunctionId(1)), Some(FunctionId(2))][random.below(3)],
        format: Format::ALL[random.below(3)],
        texts: vec!["\u{1}\\\"é".into()],
        reasons: vec!["an \"index\"".into(), String::new()],
        files: vec!["a b".into(), String::new()],
        stack: random.word() >> random.below(64),
        ..Program::default()
    }
}

#[test]
fn odd_programs_read_back() {
    let mut random = Random(7);
    for _ in 0..share(16_000) {
        round(&odd(&mut random));
    }
}

#[test]
fn a_program_as_people_read_it() {
    let text = r#"program Q32.32
file "dot.nil"
entry dot

fun dot @0:1:1 {
    out y: f
    in a: i
    in n: i
    var i: i
    var t: f
    region a: f
    for @0:2:3 i = 1 to n step 1 {
        with @0:3:5 "load" {
            begin t check drop
            t += id.f(a[a + i -1]) @0:3:9
        } do {
            y += mul.f(t, 0.5)
        }
        if given {
            begin i check
        } i eq.i -3 {
            apply rot.f(y, t, 0.25)
        } else {
            apply ~rol.i(i, 3)
        } post 1.5 lt.f y
    }
}
"#;
    let program = parse(text).unwrap();
    assert_eq!(print(&program), text);
    assert_eq!(statements(&program.functions[0].body), 10 - 1);
}

#[test]
fn errors_say_where() {
    for (text, line, column) in [
        ("", 1, 1),
        ("program Q1.1", 1, 9),
        ("program Q32.32\nfun f {\n  x += id.f(y)\n}", 3, 3),
        ("program Q32.32\nfun f {\n  out x: f\n  x += id.f(1.5i)\n}", 4, 13),
        ("program Q32.32\nfun f {\n  out x: f\n  x += nix.f(1)\n}", 4, 8),
        ("program Q32.32\nfun f {\n  out x: f\n  out x: f\n x += id.f(1)\n}", 5, 2),
        ("program Q32.32\nentry g", 2, 7),
        ("program Q32.32\nfun f {", 2, 8),
        ("program Q32.32\ntext \"a", 2, 8),
    ] {
        let e = parse(text).unwrap_err();
        assert_eq!((e.line, e.column), (line, column), "{text}: {e}");
    }
}

#[test]
fn nothing_makes_it_panic() {
    let mut random = Random(3);
    let mut samples: Vec<String> = (0..20).map(|seed| print(&generate(seed, Profile::ALL).program)).collect();
    samples.push(print(&odd(&mut random)));
    for _ in 0..share(16_000) {
        let text = &samples[random.below(samples.len())];
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..1 + random.below(3) {
            let at = random.below(chars.len());
            match random.below(4) {
                0 => chars.truncate(at),
                1 => drop(chars.remove(at)),
                2 => chars.insert(at, ['{', '}', '"', '%', '[', '-', '9', 'é', '\\', '@', '.'][random.below(11)]),
                _ => {
                    let other = random.below(chars.len());
                    chars.swap(at, other);
                }
            }
            if chars.is_empty() {
                break;
            }
        }
        let text: String = chars.into_iter().collect();
        if let Ok(program) = parse(&text) {
            round(&program);
        }
    }
    let deep = |n: u32| {
        let n = n as usize;
        format!("program Q32.32 fun f {{ {} {} }}", "span \"\" {".repeat(n), "}".repeat(n))
    };
    assert!(parse(&deep(MAX_NESTING)).is_ok());
    let found = parse(&deep(MAX_NESTING + 1)).unwrap_err();
    assert_eq!(found.exceeded.map(|e| e.code()), Some("P0090"));
    assert_eq!(found.message, "this block is nested more than 200 deep");
    assert!(parse(&deep(100_000)).is_err());
    assert!(parse("program Q32.32 fun f { if given { print 0").is_err());
}
