//! Programs of the paper and of its implementation, by every stage that can run them.

use pendula_functional::ad::ladder::{Gradient, Stage};
use pendula_functional::core::{Binary, Value};
use pendula_functional::eval::Limits;
use pendula_functional::expect::{Verdict, agree};
use pendula_functional::source::{Method, Notation, Source, expectations, read};
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;
use pendula_isa::sample;

const ALL: &[Stage] = &Stage::ALL;
/// The stages whose cost does not grow with the number of paths.
const STAGED: &[Stage] = &[Stage::D2, Stage::D3, Stage::D4, Stage::D5];
/// Those whose cost does not grow with the number of inputs.
const SPARSE: &[Stage] = &[Stage::D3, Stage::D4, Stage::D5];

fn text_of(file: &str) -> (String, String) {
    let path = format!("{}/../examples/functional/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    (path, text)
}

fn program(file: &str) -> Source {
    let (path, text) = text_of(file);
    let mut sources = Sources::default();
    let read = read(Notation::Vlad, (&path, &text), &mut sources, &mut |_, _| Err("no".into()), &Budget::default());
    read.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"))
}

/// The value and the derivatives as texts, and what a stage took.
fn by(program: &Source, entry: &str, arguments: &str, method: Method) -> (String, String, Gradient) {
    let budget = Budget::default();
    let mut call = program.call(Some(entry), arguments, Limits::default(), &budget).unwrap_or_else(|f| panic!("{f:?}"));
    let gradient = call.gradient(None, method).unwrap_or_else(|f| panic!("{entry} by {method:?}: {f:?}"));
    (gradient.value.show(), gradient.gradient.show(), gradient)
}

fn counted(program: &Source, entry: &str, arguments: &str, stage: Stage) -> Gradient {
    by(program, entry, arguments, Method::Ladder(stage)).2
}

/// The numbers of a value, in order.
fn numbers(value: &Value) -> Vec<f64> {
    let mut out = Vec::new();
    let mut rest = vec![value.clone()];
    while let Some(value) = rest.pop() {
        match value.plain_real() {
            Some(x) => out.push(x),
            None => rest.extend((0..value.arity().unwrap_or(0)).rev().filter_map(|n| value.part(n).ok().flatten())),
        }
    }
    out
}

/// Checks a value and derivatives by some stages, and by the transformation that nests.
fn check(program: &Source, entry: &str, arguments: &str, (value, derivatives): (&[f64], &[f64]), stages: &[Stage]) {
    let methods = stages.iter().map(|stage| Method::Ladder(*stage)).chain([Method::Transform]);
    for method in methods {
        let (_, _, found) = by(program, entry, arguments, method);
        for (what, wanted, found) in
            [("value", value, numbers(&found.value)), ("derivatives", derivatives, numbers(&found.gradient))]
        {
            let same = wanted.len() == found.len() && wanted.iter().zip(&found).all(|(w, f)| agree(*w, *f));
            assert!(same, "{entry}({arguments}) by {method:?}: the {what} {found:?} instead of {wanted:?}");
        }
    }
}

#[test]
fn the_examples_have_the_values_that_they_expect() {
    let folder = format!("{}/../examples/functional", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "vlad") {
            continue;
        }
        let (path, text) = text_of(&path.file_name().unwrap_or_default().to_string_lossy());
        let mut sources = Sources::default();
        let limits = (&Budget::default(), &Limits::default());
        let checked = expectations(Notation::Vlad, (&path, &text), &mut sources, &mut |_, _| Err("no".into()), limits);
        for one in checked.unwrap_or_else(|d| panic!("{path}: {d:?}")) {
            assert!(matches!(one.verdict, Verdict::Met), "{path}: {one:?}");
            count += 1;
        }
    }
    assert!(count >= 14, "{count}");
}

#[test]
fn products_and_sums() {
    let lists = program("lists.vlad");
    check(&lists, "mult", "3,4", (&[12.0], &[4.0, 3.0]), ALL);
    assert_eq!(counted(&lists, "mult", "3,4", Stage::D5).counts.nodes, 3);
    check(&program("sharing.vlad"), "product", "3,4", (&[21.0], &[10.0, 3.0]), ALL);
    assert_eq!(counted(&program("sharing.vlad"), "product", "3,4", Stage::D5).counts.nodes, 4);
}

#[test]
fn a_chain_of_doublings_takes_exponentially_many_calls_in_the_first_stage_only() {
    let sharing = program("sharing.vlad");
    for (entry, n) in [("double-5", 5), ("double-10", 10), ("double-20", 20)] {
        // It makes a million of them, a second's work.
        if n == 20 && !sample::all() {
            continue;
        }
        let value = f64::from(1 << n);
        check(&sharing, entry, "1", (&[value], &[value]), ALL);
        let of = |stage| counted(&sharing, entry, "1", stage).counts;
        assert_eq!(of(Stage::D1).backpropagators, (1 << (n + 1)) - 1);
        for stage in [Stage::D2, Stage::D3, Stage::D4] {
            assert_eq!(of(stage).backpropagators, n + 1, "{stage:?}");
        }
        assert_eq!(of(Stage::D5).nodes, n + 1);
    }
}

#[test]
fn scalar_products() {
    let lists = program("lists.vlad");
    let n = 1000;
    let (a, b): (Vec<f64>, Vec<f64>) =
        ((1..=n).map(f64::from).collect(), (0..n).map(|i| f64::from(2 * i + 3)).collect());
    let wanted = [b.clone(), a.clone()].concat();
    check(&lists, "dot", "[1...1000],[3..5...2001]", (&[668_167_500.0], &wanted), SPARSE);
    assert_eq!(counted(&lists, "dot", "[1...1000],[3..5...2001]", Stage::D5).counts.nodes, 4001);
    check(&lists, "dot", "[1,2,3],[4,5,6]", (&[32.0], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0]), ALL);
}

#[test]
fn a_matrix_times_a_vector() {
    let lists = program("lists.vlad");
    let m = 100_u32;
    let rows: Vec<String> = (0..m).map(|r| format!("[{}...{}]", r * m + 1, (r + 1) * m)).collect();
    let arguments = format!("[{}],[3..5...{}]", rows.join(","), 2 * m + 1);
    let vector: Vec<f64> = (0..m).map(|i| f64::from(2 * i + 3)).collect();
    let sums: Vec<f64> = (0..m).map(|c| (0..m).map(|r| f64::from(r * m + c + 1)).sum()).collect();
    let wanted: Vec<f64> = (0..m).flat_map(|_| vector.clone()).chain(sums).collect();
    check(&lists, "sum-mat-vec", &arguments, (&[5_117_175_000.0], &wanted), SPARSE);
    assert_eq!(counted(&lists, "sum-mat-vec", &arguments, Stage::D5).counts.nodes, 30_301);
}

#[test]
fn a_rotation_has_three_results() {
    let rotate = program("rotate.vlad");
    let wanted = [106.0, 94.0, 166.0, 32.0, 92.0, 68.0, 84.0];
    check(&rotate, "rotate", "[1,2,3],[4,5,6,7]", (&[270.0, 180.0, 342.0], &wanted), ALL);
    assert_eq!(counted(&rotate, "rotate", "[1,2,3],[4,5,6,7]", Stage::D5).counts.nodes, 47);
    let budget = Budget::default();
    for stage in ALL {
        let call = rotate.call(Some("rotate"), "[1,2,3],[4,5,6,7]", Limits::default(), &budget);
        let first = call.expect("a call").gradient(Some("[1,0,0]"), Method::Ladder(*stage)).expect("a row");
        let second = rotate.call(Some("rotate"), "[1,2,3],[4,5,6,7]", Limits::default(), &budget);
        let rest = second.expect("a call").gradient(Some("[0,1,1]"), Method::Ladder(*stage)).expect("two rows");
        let sum: Vec<f64> = numbers(&first.gradient).iter().zip(numbers(&rest.gradient)).map(|(x, y)| x + y).collect();
        assert_eq!(sum, wanted, "{stage:?}");
    }
}

#[test]
fn sums_with_many_paths() {
    let sums = program("sums.vlad");
    check(&sums, "fibonacci-sums", "1,1", (&[20_736.0], &[25_632.0, 15_840.0]), ALL);
    assert_eq!(counted(&sums, "fibonacci-sums", "1,1", Stage::D1).counts.backpropagators, 575);
    check(&sums, "eightfold-10", "3", (&[9.437_184], &[6.291_456]), STAGED);
    // Calls of the first stage: C(n) = 7 + 8 C(n − 1) for the chain, twice, and three for the product and its constant.
    let calls = |n: u32| {
        let chain = (0..n).fold(1_u64, |c, _| 7 + 8 * c);
        2 * chain + 3
    };
    assert_eq!(counted(&sums, "eightfold-2", "3", Stage::D1).counts.backpropagators, calls(2));
    assert_eq!(counted(&sums, "eightfold-3", "3", Stage::D1).counts.backpropagators, calls(3));
    assert_eq!(calls(10), 4_294_967_297);
}

#[test]
fn functions_as_values_and_recursion() {
    let closures = program("closures.vlad");
    check(&closures, "twice-f", "2,3", (&[63.0], &[57.0, 30.0]), ALL);
    check(&closures, "through-g", "2,3", (&[63.0], &[57.0, 30.0]), ALL);
    for (x, y, d) in [("0.5", 1.3, 0.6), ("5", 7.12, 0.216), ("50", 8.84, 0.036), ("500", 12.804, 0.0036)] {
        check(&closures, "f", x, (&[y], &[d]), ALL);
    }
}

/// Four particles in a force field.
const PARTICLES: &str = "[((0.5,0.1),(1,1)),((1,0.1),(1,1)),((1.5,0.1),(1,1)),((2,0.1),(1,1))]";

#[test]
fn particles_take_as_many_operations_on_the_tape_as_without_derivatives() {
    let particles = program("particles.vlad");
    for (entry, value) in [
        ("particles-1", 0.78),
        ("particles-10", 3.738_104_017_647_848_4),
        ("particles-100", 1.806_305_640_269_740_4),
        ("particles-1000", 0.001_067_623_351_290_082_7),
    ] {
        let stages = if entry == "particles-1" { ALL } else { SPARSE };
        let (_, _, reference) = by(&particles, entry, PARTICLES, Method::Transform);
        check(&particles, entry, PARTICLES, (&[value], &numbers(&reference.gradient)), stages);
    }
    let budget = Budget::default();
    let mut call = particles.call(Some("particles-1000"), PARTICLES, Limits::default(), &budget).expect("a call");
    let before = call.machine.counts();
    call.value().expect("a value");
    let primal = call.machine.counts().since(&before);
    assert_eq!(primal.arithmetic(), 68_008);
    let tape = counted(&particles, "particles-1000", PARTICLES, Stage::D5);
    assert_eq!(tape.passes[0].arithmetic() - partials(&tape), 68_008);
    let d = numbers(&tape.gradient)[0];
    assert!(agree(1.243_122_891_987e-4, d), "{d}");
}

/// What the tape's partial derivatives take while the function runs: nothing for sums and products, two quotients and a change of sign for each
/// quotient.
fn partials(gradient: &Gradient) -> u64 {
    gradient.passes[0].binary[Binary::Div as usize]
}
