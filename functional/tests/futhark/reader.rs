//! What cannot be read is an error with its place and a way out; nothing panics.

use pendula_functional::fut::{blocks, value};
use pendula_isa::budget::Budget;
use pendula_isa::sample;
use proptest::prelude::*;

use super::read;

/// The code, a part of the message, what the place covers.
#[track_caller]
fn wrong(text: &str, code: &str, message: &str, at: &str) {
    let errors = read(text).expect_err("an error");
    let first = &errors[0];
    assert_eq!(first.code, code, "{first:?}");
    assert!(first.message.contains(message), "{}", first.message);
    let place = first.primary.as_ref().expect("a place");
    assert_eq!(&text[place.place.span.clone()], at, "{first:?}");
}

#[test]
fn errors_name_what_is_wrong_and_where() {
    wrong("entry f (x: f64) = x +", "P0640", "expected an expression", "");
    wrong("entry f (x: f64) = y", "P0641", "no value `y`", "y");
    wrong("entry f (x: f64) = f64.nothing x", "P0641", "no value `nothing`", "nothing");
    wrong("entry f (x: f46) = x", "P0641", "no type `f46`", "f46");
    wrong("entry f (x: f64) = x + 1i32", "P0642", "differ", "1i32");
    wrong("entry f (x: bool) = x * x", "P0642", "not among the number types", "x");
    wrong("entry f (x: f64) = if x then 1 else 2", "P0642", "differ", "x");
    wrong("entry f (p: (f64, f64)) = p.2", "P0642", "no field `2`", "2");
    wrong("def f x = x.a + 1\nentry g = f {a = 1.0}", "P0642", "of which record `a` is a field", "f");
    wrong("def f x = x x\nentry g = f", "P0642", "infinite", "x");
    wrong("module type m = {}", "P0643", "module types are not read", "module type");
    wrong("module m (p: q) = {}", "P0643", "modules with parameters are not read", "m");
    wrong("import \"nowhere\"", "P0644", "cannot read `nowhere.fut`", "\"nowhere\"");
    wrong("entry f (x: f16) = x", "P0641", "no type `f16`", "f16");
    wrong("entry f = 300u8", "P0642", "does not fit into u8", "300u8");
    wrong("entry f (x: f64) = ???", "P0643", "holes are not read", "???");
    wrong("entry f (x: i32) = let 1 = x in x", "P0642", "may not match", "1");
    wrong("entry f (x: f64) = § x", "P0640", "begins nothing", "§");
}

#[test]
fn types_that_differ_come_with_what_to_do() {
    for (text, message, help) in [
        ("entry h (x: f64) = x 3", "`'a -> 'b` and `f64`", "it is no function"),
        ("entry h (x: f64) : f64 = f64.max x", "`f64` and `f64 -> f64`", "give it the arguments that it lacks"),
        ("entry k (x: f64) = let (a, b) = x in a", "`('a, 'b)` and `f64`", "a tuple of 2 is wanted"),
        ("entry k (x: (f64, f64)) = let (a, b, c) = x in a", "`('a, 'b, 'c)`", "a tuple of 3 is wanted, not of 2"),
        ("entry k (x: (f64, f64)) : f64 = x", "`f64` and `(f64, f64)`", "choose a part"),
        ("entry k (x: f64) = f64.sum x", "`[]f64` and `f64`", "an array is wanted"),
        ("entry k (x: []f64) : f64 = x", "`f64` and `[]f64`", "compute with each by `map`"),
        ("entry k (x: []f64) = reduce (\\y -> y) 0 x", "`'a -> 'a -> 'a`", "too few parameters"),
        ("entry k (x: f64) : i64 = x", "`i64` and `f64`", "`f64.i64` and the like convert numbers"),
        ("entry k (x: (f64, i64)) : (f64, f64) = x", "`(f64, f64)` and `(f64, i64)`", "`f64` and `i64` differ in them"),
    ] {
        let errors = read(text).expect_err(text);
        assert!(errors[0].message.contains(message), "{text}: {}", errors[0].message);
        let given = pendula_functional::errors::helped(errors[0].clone()).help.expect("a help");
        assert!(given.contains(help), "{text}: {given}");
    }
}

#[test]
fn depth_is_limited_by_the_budget() {
    let deep = format!("entry f (x: f64) = {}x{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(read(&deep).expect_err("too deep")[0].code, "P0090");
    let types = format!("entry f (x: {}f64) = 1", "[]".repeat(5000));
    assert_eq!(read(&types).expect_err("too deep")[0].code, "P0090");
    let chain = format!("entry f (x: f64) = x{}", " + x".repeat(20_000));
    assert_eq!(read(&chain).expect_err("too high")[0].code, "P0090");
    let long = format!("entry f (x: f64) = x{}", " + x".repeat(5000));
    assert!(read(&long).is_ok());
    let lets = format!("entry f (x: f64) = {} in x", "let x = x + 1\n".repeat(5000));
    assert!(read(&lets).is_ok());
}

#[test]
fn types_and_sizes_that_grow_are_limited() {
    let mut types = "type t0 = i32\n".to_string();
    let mut lets = "entry f (x0: i32) =\n".to_string();
    for n in 1..100 {
        types.push_str(&format!("type t{n} = (t{0}, t{0})\n", n - 1));
        lets.push_str(&format!("  let x{n} = (x{0}, x{0})\n", n - 1));
    }
    assert_eq!(read(&types).expect_err("too large")[0].code, "P0091");
    assert_eq!(read(&format!("{lets}  in 1")).expect_err("too large")[0].code, "P0091");
    let calls = format!("def d x = (x, x)\nentry f (x: i32) = {}x{}", "d (".repeat(40), ")".repeat(40));
    assert_eq!(read(&calls).expect_err("too large")[0].code, "P0091");
    let sum = format!("1{}", " + 1".repeat(5000));
    assert!(read(&format!("entry f = replicate ({sum}) 1.0")).is_ok());
    assert!(read(&format!("entry f (x: [{sum}]f64) = x[0]")).is_ok());
}

#[test]
fn importing_oneself_is_an_error() {
    let errors = super::read_with("import \"a\"", &mut |_| Ok("import \"a\"".to_string())).expect_err("a circle");
    assert_eq!((errors[0].code, errors[0].message.contains("imports itself")), ("P0644", true));
}

/// Pieces of programs, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "entry", "def", "let", "in", "f", "x", "y", "(", ")", "[", "]", "{", "}", ",", "=", "->", "\\", "+", "-", "*",
        "|>", "<|", "1", "2.5", "i32", "f64", ".", "..", "..<", "if", "then", "else", "loop", "for", "while", "do",
        "<", "match", "case", "#a", "#b", "with", ":", ":>", "'", "type", "module", "open", "import", "\"a\"", "map",
        "reduce", "vjp", "`", "#[", "_", "true", "...", "?", "~", "local", "val", "assert", "\n", "-- c\n",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..60).prop_map(|all| all.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if sample::all() { 300 } else { 100 }))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = read(&text);
        let _ = blocks::tests(&text);
        let ty = pendula_functional::fut::ValueType::Array(Box::new(pendula_functional::fut::ValueType::Prim(pendula_functional::fut::Prim::F64)));
        let _ = value::parse(&text, &ty, Budget::default());
    }

    #[test]
    fn random_pieces_never_panic(text in pieces()) {
        let _ = read(&text);
        let _ = read(&format!("entry f x y = {text}"));
        let _ = blocks::tests(&format!("-- ==\n-- {text}"));
    }
}

#[test]
fn missing_arguments_and_those_too_many_are_told_with_all_types() {
    let module = super::module("entry g (x: f64) (n: i64) (v: []f64) (p: (f64, bool)) = x\nentry h (x: f64) = x");
    let read = |entry: &str, text: &str| {
        let types: Vec<_> = module.entry(entry).expect("an entry point").params.iter().map(|(_, ty)| ty).collect();
        value::parse_all(text, &types, Budget::default())
            .map(|all| all.len())
            .map_err(|wrong| wrong.diagnostic(text).message)
    };
    let all = "4 values are wanted, of the types `f64`, `i64`, `[]f64`, `(f64, bool)`";
    assert_eq!(read("g", ""), Err(format!("{all}, and 0 are given: another is missing at the end of the value")));
    assert_eq!(read("g", "1.5,"), Err(format!("{all}, and one is given: another is missing at the end of the value")));
    let given = "1.5, 2, [1.0], (1.0, true)";
    assert_eq!(read("g", &format!("{given}, 7")), Err(format!("{all}: there is one too many at `, 7`")));
    assert_eq!(
        read("h", "1.0 2.0"),
        Err("one value is wanted, of the type `f64`: there is one too many at `2.0`".into())
    );
    assert_eq!(read("g", given), Ok(4));
}
