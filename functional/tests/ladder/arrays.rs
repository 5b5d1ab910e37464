//! Arrays, loops and sums of programs in Futhark by every stage, beside the transformation that nests.

use pendula_functional::ad::ladder::Stage;
use pendula_functional::eval::Limits;
use pendula_functional::source::{Method, Notation, Source, read};
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

const PROGRAM: &str = "
entry dot [n] (xs: [n]f64) (ys: [n]f64): f64 = reduce (+) 0 (map2 (*) xs ys)
entry norm [n] (xs: [n]f64): f64 = f64.sqrt (f64.sum (map (\\x -> x*x) xs))
entry power (x: f64) (n: i64): f64 = loop a = 1 for i < n do a * x
entry changed [n] (xs: [n]f64) (i: i64): f64 = let ys = copy xs with [i] = xs[0]*xs[1] in f64.sum ys
entry greatest [n] (xs: [n]f64): f64 = f64.maximum xs
entry products [n] (xs: [n]f64): [n]f64 = scan (*) 1 xs
entry bins [n] (xs: [n]f64): f64 =
  let h = reduce_by_index (replicate 3 0) (+) 0 [0i64, 1, 0] (take 3 xs) in h[0] * h[1]
entry squares (x: f64): f64 = (loop (a, n) = (x, 0i32) while a < 100 do (a*a, n+1)).0
type shape = #line f64 | #box (f64, f64)
entry area (x: f64): f64 =
  let s: shape = if x > 0 then #box (x, 2*x) else #line x
  in match s case #line y -> y case #box (y, z) -> y*z
entry rows [n][m] (xss: [n][m]f64): [m]f64 = map f64.sum (transpose xss)
";

#[test]
fn arrays_loops_and_constructors_by_every_stage() {
    let (budget, mut sources) = (Budget::default(), Sources::default());
    let mut none = |_: &str, _: &str| Err("no files".to_string());
    let program: Source = read(Notation::Futhark, ("program", PROGRAM), &mut sources, &mut none, &budget)
        .unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
    for (entry, arguments, value, derivatives) in [
        ("dot", "[1.0,2.0],[4.0,5.0]", "14.0f64", "([4.0f64, 5.0f64], [1.0f64, 2.0f64])"),
        ("norm", "[3.0,4.0]", "5.0f64", "[0.6000000000000001f64, 0.8f64]"),
        ("power", "3.0,4", "81.0f64", "(108.0f64, 0i64)"),
        ("changed", "[2.0,3.0,4.0],2", "11.0f64", "([4.0f64, 3.0f64, 0.0f64], 0i64)"),
        ("greatest", "[2.0,3.0,1.0]", "3.0f64", "[0.0f64, 1.0f64, 0.0f64]"),
        ("products", "[2.0,3.0,4.0]", "[2.0f64, 6.0f64, 24.0f64]", "[16.0f64, 10.0f64, 6.0f64]"),
        ("bins", "[2.0,3.0,4.0]", "18.0f64", "[3.0f64, 6.0f64, 3.0f64]"),
        ("squares", "3.0", "6561.0f64", "17496.0f64"),
        ("area", "3.0", "18.0f64", "12.0f64"),
        ("area", "-3.0", "-3.0f64", "1.0f64"),
        ("rows", "[[1.0,2.0],[3.0,4.0]]", "[4.0f64, 6.0f64]", "[[1.0f64, 1.0f64], [1.0f64, 1.0f64]]"),
    ] {
        for method in Stage::ALL.map(Method::Ladder).into_iter().chain([Method::Transform]) {
            let mut call = program.call(Some(entry), arguments, Limits::default(), &budget).expect("a call");
            let found = call.gradient(None, method).unwrap_or_else(|f| panic!("{entry} by {method:?}: {f:?}"));
            let found = (call.show(&found.value), call.show_gradient(&found.gradient));
            assert_eq!(found, (value.to_string(), derivatives.to_string()), "{entry}({arguments}) by {method:?}");
        }
    }
}
