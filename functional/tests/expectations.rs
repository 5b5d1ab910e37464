//! Expectations that programs hold: what is met, what is not, and what is no expectation.

use pendula_functional::eval::Limits;
use pendula_functional::expect::{Checked, Verdict};
use pendula_functional::source::{Method, Notation, Source, expectations, read};
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

fn checked(notation: Notation, text: &str) -> (Vec<Checked>, Sources) {
    let mut sources = Sources::default();
    let limits = (&Budget::default(), &Limits::default());
    let found = expectations(notation, ("test", text), &mut sources, &mut |_, _| Err("no file".into()), limits);
    (found.unwrap_or_else(|all| panic!("{all:#?}")), sources)
}

/// For each expectation its line, and whether it is met.
fn lines(notation: Notation, text: &str) -> Vec<(usize, bool)> {
    let (found, sources) = checked(notation, text);
    let line = |checked: &Checked| {
        let place = checked.place.as_ref().expect("a place");
        assert_eq!(sources.name(place.file), "test");
        text[..place.span.start].matches('\n').count() + 1
    };
    found.iter().map(|c| (line(c), matches!(c.verdict, Verdict::Met))).collect()
}

#[test]
fn infinity_is_met_by_infinity_only() {
    let text = "-- ==\n-- input { 5.0 } output { f64.inf }\n-- input { 5.0 } output { -f64.inf }\n\
                -- input { 5.0 } output { f64.nan }\n-- input { f64.inf } output { f64.inf }\n\
                -- input { f64.inf } output { -f64.inf }\nentry main (x: f64): f64 = x\n";
    let met = [(2, false), (3, false), (4, false), (5, true), (6, false)];
    assert_eq!(lines(Notation::Futhark, text), met);
    let text = "5\n===> 1e400\n(/ 1 0)\n===> inf\n(/ -1 0)\n===> inf\n";
    assert_eq!(lines(Notation::Vlad, text), [(1, false), (3, true), (5, false)]);
}

#[test]
fn what_begins_no_test_is_not_met() {
    let program = "entry main (x: f64): f64 = x\n";
    for (block, wanted) in [
        ("-- input { 5.0 output { 7.0 }\n", vec![(2, false)]),
        ("-- input { 5.0 } outptu { 7.0 }\n", vec![(2, true), (2, false)]),
        ("-- garbage line here\n-- input { 5.0 } output { 5.0 }\n", vec![(3, true)]),
        ("-- input { 5.0 } output { 5.0 }\n-- garbage line here\n", vec![(2, true), (3, false)]),
        ("-- { 5.0 }\n", vec![(2, false)]),
        ("-- error: type\n", vec![(2, false)]),
        ("-- tags { no_opencl }\n-- compiled input { 5.0 } output { 5.0 }\n", vec![(3, true)]),
        ("-- nobench input { 5.0 } output { 5.0 } structure { Map 1 }\n", vec![(2, true)]),
    ] {
        assert_eq!(lines(Notation::Futhark, &format!("-- ==\n{block}{program}")), wanted, "{block}");
    }
}

#[test]
fn a_program_that_is_to_be_refused_is_met_if_it_is() {
    let (found, _) = checked(Notation::Futhark, "-- ==\n-- error: differ\nentry main (x: f64): i64 = x\n");
    assert!(matches!(found[..], [Checked { verdict: Verdict::Met, .. }]), "{found:?}");
}

#[test]
fn nothing_behind_an_arrow_is_a_mistake() {
    let text = "(define (f x) x)\n(f 3) ===>\n";
    let read =
        read(Notation::Vlad, ("test", text), &mut Sources::default(), &mut |_, _| Err("no".into()), &Budget::default());
    let wrong = read.expect_err("a mistake");
    assert!(wrong.iter().any(|d| d.message.contains("===>") && d.primary.is_some()), "{wrong:#?}");
}

fn program(notation: Notation, text: &str) -> Source {
    let found =
        read(notation, ("test", text), &mut Sources::default(), &mut |_, _| Err("no".into()), &Budget::default());
    found.unwrap_or_else(|all| panic!("{all:#?}"))
}

#[test]
fn an_entry_point_without_parameters_is_its_value() {
    let budget = Budget::default();
    for text in ["entry main : i32 = 1+2", "def two = 2i32\nentry main = 1 + two"] {
        let program = program(Notation::Futhark, text);
        assert!(program.is_value());
        let mut call = program.call(None, "", Limits::default(), &budget).expect("a call");
        let value = call.value().expect("a value");
        assert_eq!(call.show(&value), "3i32");
    }
    assert!(!program(Notation::Futhark, "entry main (x: f64) = x").is_value());
}

#[test]
fn a_seed_has_as_many_numbers_as_the_result() {
    let budget = Budget::default();
    let futhark = program(Notation::Futhark, "entry main (x: f64): [2]f64 = [x*x, x]");
    let vlad = program(Notation::Vlad, "(define (f x y) (cons (* x y) (+ x y)))");
    for (program, arguments, seeds, right) in [
        (&futhark, "3", ["[1]", "[1,0,5]"], ("[1,2]", "8.0f64")),
        (&vlad, "3,4", ["5", "[1,2,3]"], ("(1,2)", "(6 . 5)")),
    ] {
        let mut call = program.call(None, arguments, Limits::default(), &budget).expect("a call");
        for method in [Method::Transform, Method::Ladder(pendula_functional::ad::ladder::Stage::D5)] {
            for seed in seeds {
                let wrong = call.gradient(Some(seed), method).expect_err("another number of numbers");
                assert_eq!(wrong.code, "P0627", "{wrong:?}");
                assert!(wrong.message.contains("and the result has 2"), "{wrong:?}");
            }
            let (seed, wanted) = right;
            let gradient = call.gradient(Some(seed), method).expect("a gradient").gradient;
            assert_eq!(call.show_gradient(&gradient), wanted);
        }
    }
}

#[test]
fn a_function_has_no_gradient_of_its_own() {
    let budget = Budget::default();
    let program = program(Notation::Vlad, "(define (f x) (lambda (y) (* x y)))");
    let mut call = program.call(None, "2", Limits::default(), &budget).expect("a call");
    let wrong = call.gradient(None, Method::Transform).expect_err("a function");
    assert!(wrong.message.contains("the result holds a function"), "{wrong:?}");
    assert!(!wrong.help.as_deref().unwrap_or("").contains("transform`"), "{wrong:?}");
}

/// As many as would take minutes if each pair looked at those inside it.
#[test]
fn pairs_inside_first_parts_are_shown_one_by_one() {
    let text = "(define (nest n x) (if (= n 0) x (nest (- n 1) (cons x 1))))\n(nest 200000 0)\n";
    let outcome = program(Notation::Vlad, text).run(Limits::default()).expect("values");
    let value = outcome.values[0].value.as_ref().expect("a value");
    let shown = value.show();
    assert!(shown.starts_with(&"(".repeat(200_000)) && shown.contains("((0 . 1) . 1)"));
}

#[test]
fn integers_that_do_not_fit_are_refused() {
    let budget = Budget::default();
    for (ty, most, more) in [
        ("i8", "127", "128"),
        ("i32", "2147483647", "2147483648"),
        ("i64", "9223372036854775807", "9223372036854775808"),
        ("u8", "255", "256"),
        ("u64", "18446744073709551615", "-1"),
    ] {
        let program = program(Notation::Futhark, &format!("entry main (x: {ty}): {ty} = x"));
        assert!(program.call(None, most, Limits::default(), &budget).is_ok());
        let wrong = program.call(None, more, Limits::default(), &budget).expect_err(more);
        assert!(wrong.message.contains(&format!("does not fit into {ty}")), "{wrong:?}");
        // Bits may be written, as Futhark's own data do.
        for bits in ["0xff".to_string(), format!("255{ty}"), format!("-1{ty}")] {
            assert!(program.call(None, &bits, Limits::default(), &budget).is_ok(), "{bits}");
        }
    }
    for text in [
        "entry main (b: bool): i8 = 128i8",
        "entry main (b: bool): i8 = -129i8",
        "entry main (b: bool): u8 = 256u8",
        "entry main (b: bool): i32 = 4000000000",
    ] {
        let found =
            read(Notation::Futhark, ("test", text), &mut Sources::default(), &mut |_, _| Err("no".into()), &budget);
        assert!(found.expect_err(text)[0].message.contains("does not fit into"));
    }
    for (text, wanted) in [
        ("entry main (b: bool): i8 = -128i8", "-128i8"),
        ("entry main (b: bool): i8 = - (-128)", "-128i8"),
        ("entry main (b: bool): i64 = -9223372036854775808", "-9223372036854775808i64"),
        ("entry main (b: bool): u64 = 18446744073709551615", "18446744073709551615u64"),
        ("entry main (b: bool): u8 = -1", "255u8"),
        ("entry main (b: bool): f64 = -3", "-3.0f64"),
    ] {
        let program = program(Notation::Futhark, text);
        let mut call = program.call(None, "true", Limits::default(), &budget).expect("a call");
        let value = call.value().expect("a value");
        assert_eq!(call.show(&value), wanted, "{text}");
    }
}

#[test]
fn a_zero_has_a_sign_to_copy() {
    let program = program(Notation::Futhark, "entry main (x: f64) (y: f64): f64 = f64.copysign x y");
    let budget = Budget::default();
    for (arguments, wanted) in [("3, -0.0", "-3.0f64"), ("-3, 0.0", "3.0f64"), ("3, -2", "-3.0f64")] {
        let mut call = program.call(None, arguments, Limits::default(), &budget).expect("a call");
        let value = call.value().expect("a value");
        assert_eq!(call.show(&value), wanted, "{arguments}");
    }
    let slope = |text: &str, arguments: &str| {
        let program = self::program(Notation::Futhark, text);
        let mut call = program.call(None, arguments, Limits::default(), &budget).expect("a call");
        let value = call.value().expect("a value");
        call.show(&value)
    };
    for (arguments, wanted) in [("3, -0.0", "-1.0f64"), ("-3, 2.0", "-1.0f64"), ("-3, -2", "1.0f64")] {
        for derivative in ["vjp", "jvp"] {
            let text = format!("entry main (x: f64) (y: f64): f64 = {derivative} (\\x -> f64.copysign x y) x 1");
            assert_eq!(slope(&text, arguments), wanted, "{derivative} {arguments}");
        }
    }
}

#[test]
fn files_that_include_each_other_are_told() {
    let mut load = |_: &str, name: &str| {
        let other = if name == "one" { "two" } else { "one" };
        Ok((name.to_string(), format!("(include \"{other}\")")))
    };
    let text = "(include \"one\")";
    let found = read(Notation::Vlad, ("test", text), &mut Sources::default(), &mut load, &Budget::default());
    let wrong = found.expect_err("a cycle");
    assert!(wrong[0].message.contains("includes itself"), "{wrong:#?}");
}

#[test]
fn rows_of_an_array_have_one_length() {
    let budget = Budget::default();
    for text in [
        "entry main (n: i64): [][]i32 = [[1,2],[3]]",
        "entry main (n: i64): [][]i32 = map (\\i -> replicate i 1) [1,2,3]",
        "entry main (n: i64): [][]i32 = concat [[1,2]] [[3]]",
        "entry main (n: i64): [][][]i32 = [[[1],[2]],[[1,2],[3,4]]]",
        "entry main (n: i64): [][]i32 = [[1,2],[3,4]] with [0] = [7]",
    ] {
        let program = program(Notation::Futhark, text);
        let mut call = program.call(None, "3", Limits::default(), &budget).expect("a call");
        let wrong = call.value().expect_err(text);
        assert_eq!(wrong.code, "P0619", "{text}: {wrong:?}");
    }
}
