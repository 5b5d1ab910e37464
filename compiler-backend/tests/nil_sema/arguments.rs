use pendula_isa::Format;

use super::code::{AMBIGUOUS, ENTRY};
use super::{Analysis, Argument, Budget, Number, Settings, Sources, Ty, analyse, read};
use pendula_compiler::lower::{Argument as Data, ArgumentKind};
use pendula_compiler::nil::sema::argument_data;
use pendula_compiler::nil::types::{Layout, Type};

fn number(text: &str) -> Argument {
    Argument::Number(Number::Text(text.into()))
}

fn numbers(list: &[i64]) -> Vec<Number> {
    list.iter().copied().map(Number::Int).collect()
}

fn given(text: &str, arguments: Vec<Argument>) -> Analysis {
    let (inputs, _) = read(&mut Sources::default(), "test.nil", text.to_string(), &Budget::default(), false);
    analyse(&inputs, &Settings { arguments, ..Settings::default() })
}

/// The types of the parameters of a function with this head, given these arguments.
fn types(head: &str, arguments: Vec<Argument>) -> Vec<String> {
    let analysis = given(&format!("@i function f({head})\nend\n"), arguments);
    assert!(analysis.program.is_some(), "{head}: {:?}", analysis.diagnostics);
    analysis.types.iter().map(Type::to_string).collect()
}

/// The data of an argument `x` with NiLang's format of fixed-point numbers.
fn data(ty: &Type, value: &Argument) -> Result<Vec<Data>, String> {
    argument_data("x", ty, Some(value), Format::Q21_43)
}

/// The only word of a number.
fn word(ty: Ty, value: Number) -> Result<u64, String> {
    let list = data(&Type::Num(ty), &Argument::Number(value))?;
    match list.as_slice() {
        [Data { kind: ArgumentKind::Word { ty: found, value }, .. }] if *found == ty => Ok(*value),
        other => panic!("one word of {ty:?} is expected, found {other:?}"),
    }
}

#[test]
fn arguments_look_like_types() {
    for (text, ty) in [("3", "Int"), ("-3", "Int"), ("3.0", "Float64"), ("1e3", "Float64"), ("true", "Bool")] {
        assert_eq!(types("x", vec![number(text)]), [ty], "{text}");
    }
    let matrix = Argument::Array(vec![2, 1], vec![Number::Float(0.5), Number::Float(2.0)]);
    assert_eq!(types("x", vec![matrix]), ["Matrix{Float64}"]);
    // Twice as many numbers as elements are complex ones.
    assert_eq!(types("x", vec![Argument::Array(vec![2], numbers(&[1, 2, 3, 4]))]), ["Vector{Complex{Float64}}"]);
    assert_eq!(types("x", vec![Argument::Tuple(vec![number("1"), number("2")])]), ["Complex{Float64}"]);
}

#[test]
fn annotations_decide_what_arguments_are() {
    assert_eq!(types("x::Float64", vec![number("3")]), ["Float64"]);
    assert_eq!(types("x::Real", vec![number("3")]), ["Int"]);
    assert_eq!(types("x::AbstractFloat", vec![number("3")]), ["Float64"]);
    assert_eq!(types("x::Vector{Fixed}", vec![Argument::Array(vec![1], numbers(&[1]))]), ["Vector{Fixed}"]);
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let codes =
        |text: &str, arguments| -> Vec<&str> { given(text, arguments).diagnostics.iter().map(|d| d.code).collect() };
    assert_eq!(codes("@i function f(x::Vector)\nend\n", vec![number("3")]), [ENTRY]);
    assert_eq!(codes("@i function f(x, y)\nend\n", vec![number("3")]), [ENTRY]);
    let two = "@i function f(x::Int, y)\nend\n@i function f(x, y::Int)\nend\n";
    assert_eq!(codes(two, vec![number("3"), number("3")]), [AMBIGUOUS]);
    assert_eq!(codes(two, vec![number("3"), number("0.5")]), [] as [&str; 0]);
}

#[test]
fn numbers_become_words() {
    let text = |t: &str| Number::Text(t.into());
    assert_eq!(word(Ty::Int, text("-2")), Ok(-2i64 as u64));
    assert_eq!(word(Ty::Int, text("0x10")), Ok(16));
    assert_eq!(word(Ty::Int, text("1_000")), Ok(1000));
    assert_eq!(word(Ty::Int, text("1e3")), Ok(1000));
    assert_eq!(word(Ty::Int, Number::Float(2.0)), Ok(2));
    assert_eq!(word(Ty::F, Number::Int(3)), Ok(3f64.to_bits()));
    assert_eq!(word(Ty::F, text("0.25")), Ok(0.25f64.to_bits()));
    // Fixed-point numbers with 43 bits of fraction.
    assert_eq!(word(Ty::Q, Number::Int(3)), Ok(3 << 43));
    assert_eq!(word(Ty::Q, text("-0.5")), Ok((-1i64 << 42) as u64));
}

#[test]
fn numbers_that_a_type_cannot_hold_are_refused() {
    let text = |t: &str| Number::Text(t.into());
    for (ty, n) in [
        (Ty::Int, text("1.5")),
        (Ty::Int, text("9223372036854775808")),
        (Ty::Int, Number::Float(0.5)),
        (Ty::F, text("abc")),
        (Ty::Q, Number::Int(1 << 40)),
        (Ty::L, text("abc")),
    ] {
        let found = word(ty, n.clone());
        assert!(found.as_ref().is_err_and(|e| e.starts_with("the argument `x` must be ")), "{n:?}: {found:?}");
    }
}

#[test]
fn logarithms_are_those_of_magnitudes() {
    let log = |signed, text: &str| {
        let list = data(&Type::Log { signed }, &number(text))?;
        Ok(list.into_iter().map(|d| (d.name, d.kind)).collect::<Vec<_>>())
    };
    let word = |name: &str, ty, value| (name.to_string(), ArgumentKind::Word { ty, value });
    assert_eq!(log(false, "1"), Ok(vec![word("x.log", Ty::F, 0)]));
    assert_eq!(log(true, "-1"), Ok(vec![word("x.log", Ty::F, 0), word("x.signbit", Ty::Int, 1)]));
    assert_eq!(log(false, "exp(1000)"), Ok(vec![word("x.log", Ty::F, 1000f64.to_bits())]));
    let negative = log(false, "-1");
    assert!(negative.as_ref().is_err_and(|e: &String| e.contains("it is negative")), "{negative:?}");
    assert!(log(false, "0").is_err());
}

#[test]
fn arrays_lie_element_by_element() {
    let complex = |dims| Type::Array { element: Box::new(Type::Complex(Ty::Int)), dims, layout: Layout::Columns };
    let words =
        |ty: &Type, lens: &[usize], items: &[i64]| match data(ty, &Argument::Array(lens.to_vec(), numbers(items))) {
            Ok(list) => match &list[0].kind {
                ArgumentKind::Array { words, lens, .. } => Ok((lens.clone(), words.clone())),
                other => panic!("no array: {other:?}"),
            },
            Err(error) => Err(error),
        };
    assert_eq!(words(&complex(1), &[2], &[1, 2, 3, 4]), Ok((vec![2], vec![1, 2, 3, 4])));
    // Real numbers for complex elements.
    assert_eq!(words(&complex(1), &[2], &[1, 2]), Ok((vec![2], vec![1, 0, 2, 0])));
    // With a dimension more for the parts, column by column: all real parts stand before the imaginary ones.
    assert_eq!(words(&complex(1), &[2, 2], &[1, 2, 3, 4]), Ok((vec![2], vec![1, 3, 2, 4])));
    let wrong = |found: Result<_, String>| found.err().unwrap_or_default();
    assert!(wrong(words(&complex(1), &[2], &[1, 2, 3])).ends_with("3 numbers for 2 elements"));
    assert!(wrong(words(&complex(2), &[2], &[1, 2])).ends_with("it has 1 dimension"));
}

#[test]
fn names_of_registers_are_told_apart() {
    let name = |name: &str| {
        let list = argument_data(name, &Type::Num(Ty::Int), None, Format::Q21_43);
        list.map(|list| list[0].name.clone())
    };
    assert_eq!(name("count"), Ok("count".to_string()));
    assert_eq!(name("r5"), Ok("r5$".to_string()));
}
