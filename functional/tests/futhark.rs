//! Futhark programs: tests in their comments, derivatives against differences, errors, sizes and depths.

use std::path::{Path, PathBuf};

use pendula_functional::core::{IntType, Value};
use pendula_functional::eval::Limits;
use pendula_functional::fut::blocks::{self, Input, Test};
use pendula_functional::fut::check::{self, Verdict};
use pendula_functional::fut::{self, Module, value};
use pendula_functional::source::Source;
use pendula_functional::value::Array;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Sources};

mod gradbench;
mod outside;
mod reader;
mod updates;

fn limits() -> Limits {
    Limits { steps: 2_000_000_000, ..Limits::default() }
}

fn read_with(text: &str, load: &mut fut::Load) -> Result<Module, Vec<Diagnostic>> {
    fut::read("test.fut", text, &mut Sources::default(), load, Budget::default())
}

fn read(text: &str) -> Result<Module, Vec<Diagnostic>> {
    read_with(text, &mut |name| Err(format!("no file `{name}`")))
}

#[track_caller]
fn module(text: &str) -> Module {
    read(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

#[track_caller]
fn call(module: &Module, entry: &str, args: Vec<Value>) -> Value {
    let found = module.entry(entry).unwrap_or_else(|| panic!("no entry point `{entry}`"));
    match module.call(found, args, limits()) {
        Ok((value, _)) => value,
        Err(failure) => panic!("{entry}: {:?}", failure.diagnostic()),
    }
}

fn reals(values: &[f64]) -> Value {
    Value::array(Array::reals(values.to_vec()))
}

fn int(n: i64) -> Value {
    Value::int(IntType::I64, n)
}

fn vector(value: &Value) -> Vec<f64> {
    (0..value.length().expect("an array"))
        .map(|n| value.element(n).expect("an element").and_then(|x| x.plain_real()).expect("a number"))
        .collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "fut") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What came of a file's cases.
#[derive(Debug, Default)]
struct Tally {
    right: usize,
    skipped: Vec<String>,
    wrong: Vec<String>,
}

fn run_file(path: &Path) -> Result<Tally, Vec<Diagnostic>> {
    let text = std::fs::read_to_string(path).expect("the file");
    let folder = path.parent().expect("a folder");
    let mut load = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.fut"))).map_err(|e| e.to_string());
    let module = read_with(&text, &mut load)?;
    let mut tally = Tally::default();
    for test in blocks::tests(&text) {
        let case = match test {
            Test::Case(case) => case,
            Test::Refused(_) => {
                tally.wrong.push("is read, and an error is expected".to_string());
                continue;
            }
            Test::Unread(_, why) => {
                tally.wrong.push(why);
                continue;
            }
        };
        let mut file = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|e| e.to_string());
        match check::run(&module, &case, limits(), Budget::default(), &mut file) {
            Verdict::Right => tally.right += 1,
            Verdict::Skipped(why) => tally.skipped.push(why),
            Verdict::Wrong(why) => {
                let input = if let Input::Values(text) = &case.input { text.trim() } else { "…" };
                tally.wrong.push(format!("{} {}: {why}", case.entry, input.chars().take(60).collect::<String>()));
            }
        }
    }
    Ok(tally)
}

#[test]
fn a_program_without_entry_points_says_how_to_make_one() {
    let source = |text: &str| Source::Futhark(module(text));
    let failure = |text: &str| source(text).run(limits()).expect_err("nothing to run");
    let none = failure("def square (x: f64): f64 = x * x");
    assert_eq!((none.code, &*none.message), ("P0627", "the program has no entry point"));
    let some = failure("entry square (x: f64): f64 = x * x");
    assert!(some.diagnostic().help.is_some_and(|help| help.ends_with(": square")));
}

#[test]
fn programs_give_what_their_comments_say() {
    let mut cases = 0;
    for path in files(&folder("fut/programs")) {
        let tally = run_file(&path).unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display()));
        assert_eq!(tally.wrong, Vec::<String>::new(), "{}", path.display());
        assert_eq!(tally.skipped, Vec::<String>::new(), "{}", path.display());
        assert!(tally.right > 0, "{}: no cases", path.display());
        cases += tally.right;
    }
    assert!(cases >= 60, "only {cases} cases");
}

/// Derivatives of `f`, in all modes, and in all mixtures of two.
const MODES: &str = "
entry value [n] (x: [n]f64) = f x
entry grad_r [n] (x: [n]f64) = vjp f x 1
entry grad_f [n] (x: [n]f64) = tabulate n (\\i -> jvp f x (replicate n 0 with [i] = 1))
entry grad_m [n] (x: [n]f64) = (mjp2 f x [1, 1]).1[1]
entry twice_ff [n] (x: [n]f64) (v: [n]f64) = tabulate n (\\i -> jvp (\\y -> jvp f y v) x (replicate n 0 with [i] = 1))
entry twice_fr [n] (x: [n]f64) (v: [n]f64) = jvp (\\y -> vjp f y 1) x v
entry twice_rf [n] (x: [n]f64) (v: [n]f64) = vjp (\\y -> jvp f y v) x 1
entry twice_rr [n] (x: [n]f64) (v: [n]f64) = vjp (\\y -> vjp f y 1) x v
";

#[track_caller]
fn near(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (x, y) in found.iter().zip(wanted) {
        assert!((x - y).abs() <= tolerance * y.abs().max(1.0), "{what}: {found:?} instead of {wanted:?}");
    }
}

/// The derivative of a function of a vector by differences of fourth order.
fn difference(x: &[f64], n: usize, f: &mut dyn FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let h = 1e-3;
    let mut at = |k: f64| {
        let mut y = x.to_vec();
        y[n] += k * h;
        f(&y)
    };
    let (a, b, c, d) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
    (0..a.len()).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * h)).collect()
}

#[test]
fn derivatives_agree_with_differences_in_every_mode() {
    let all = files(&folder("fut/derive"));
    assert!(all.len() >= 20, "only {} programs", all.len());
    for path in all {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("the file");
        let module = module(&format!("{text}\n{MODES}"));
        let x = [0.7, -1.3, 2.1, 0.4];
        let v = [0.3, 0.9, -0.5, 1.1];
        let mut value = |y: &[f64]| vec![call(&module, "value", vec![reals(y)]).plain_real().expect("a number")];
        let wanted: Vec<f64> = (0..x.len()).map(|n| difference(&x, n, &mut value)[0]).collect();
        for entry in ["grad_r", "grad_f", "grad_m"] {
            let found = vector(&call(&module, entry, vec![reals(&x)]));
            near(&found, &wanted, 1e-7, &format!("{name}, {entry}"));
        }
        let mut gradient = |y: &[f64]| vector(&call(&module, "grad_r", vec![reals(y)]));
        let mut wanted = vec![0.0; x.len()];
        for (n, dv) in v.iter().enumerate() {
            for (sum, d) in wanted.iter_mut().zip(difference(&x, n, &mut gradient)) {
                *sum += dv * d;
            }
        }
        for entry in ["twice_ff", "twice_fr", "twice_rf", "twice_rr"] {
            let found = vector(&call(&module, entry, vec![reals(&x), reals(&v)]));
            near(&found, &wanted, 1e-6, &format!("{name}, {entry}"));
        }
    }
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn arrays_of_ten_million_numbers_fit_into_four_gigabytes() {
    let module = module(
        "entry sums (n: i64) = let xs = map f64.i64 (iota n) in (f64.sum xs, xs[::-1][3], last (scan (+) 0 (take 100000 xs)))",
    );
    let result = call(&module, "sums", vec![int(10_000_000)]);
    let number = |n| result.part(n).expect("a part").and_then(|x| x.plain_real());
    assert_eq!(number(0), Some(49_999_995_000_000.0));
    assert_eq!(number(1), Some(9_999_996.0));
    assert_eq!(number(2), Some(4_999_950_000.0));
}

#[test]
fn recursion_may_be_a_million_deep() {
    let module = module("def count (n: i64) : i64 = if n == 0 then 0 else 1 + count (n - 1)\nentry deep n = count n");
    assert_eq!(call(&module, "deep", vec![int(1_000_000)]).plain_int(IntType::I64), Some(1_000_000));
}

#[test]
fn too_much_memory_is_an_error() {
    let module = module("entry big (n: i64) = f64.sum (replicate n 1.0)");
    let entry = module.entry("big").expect("an entry point");
    let few = Limits { memory: 1 << 20, ..limits() };
    let failure = module.call(entry, vec![int(1_000_000_000)], few).expect_err("too much");
    assert_eq!(failure.code, "P0621");
}

#[test]
fn values_are_printed_as_they_are_read() {
    let module = module(
        "entry id (x: ([2][3]f64, {a: i8, b: bool}, []u64, f32)) = x\n\
         type t = #none | #some f64 i32\nentry sum (x: t) = match x case #none -> #none case #some a b -> (#some (a + 1) b : t)",
    );
    let entry = module.entry("id").expect("an entry point");
    let text = "([[1.5f64, -2.0f64, 0.1f64], [1e-7f64, f64.nan, -f64.inf]], {a = -128i8, b = true}, [18446744073709551615u64], 3.0f32)";
    let argument = value::parse(text, &entry.params[0].1, Budget::default()).expect("a value");
    let (result, _) = module.call(entry, vec![argument], limits()).expect("a result");
    assert_eq!(value::print(&result, &entry.result), text);
    let entry = module.entry("sum").expect("an entry point");
    let argument = value::parse("#some 1.5 7", &entry.params[0].1, Budget::default()).expect("a value");
    let (result, _) = module.call(entry, vec![argument], limits()).expect("a result");
    assert_eq!(value::print(&result, &entry.result), "#some 2.5f64 7i32");
}
