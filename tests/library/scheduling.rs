//! The module `scheduling`.

use super::*;

/// 256 steps, each of which doubles.
const DOUBLING: &str = "using scheduling
@i function double!(y!, x)
    y! *= x
    y! *= 2
end
@i function main!(y!, x, k, n)
    bennett!(y!, x, double!, k, n)
end
";

#[test]
fn bennett_as_published() {
    let numbers_of = |x: &[&str]| x.iter().map(|x| Argument::Number(Number::Text((*x).to_string()))).collect();
    let types = ["ULogarithmic", "ULogarithmic", "Int", "Int"].map(String::from).to_vec();
    let options = Options { arguments: numbers_of(&["1", "1", "4", "256"]), types, ..Options::default() };
    let program_ = program(build(DOUBLING, &options));
    let mut m = machine(&program_);
    let digest = m.digest();
    assert_eq!(m.run(None), Outcome::Finished);
    assert!((numbers(&m, "y!")[0] / 2f64.powi(256) - 1.0).abs() < 1e-12);
    // Logarithms to base 2, in units of 2⁻⁵².
    assert_eq!(m.memory()[symbol(program_.module(), "y!")], 256 << 52, "exactly 2^256");
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.digest(), digest);
    // The step is called (2k − 1)ᵈ = 2401 times, forward and backward: so often its line `y! *= 2` runs.
    let line = 1 + DOUBLING.lines().position(|l| l == "    y! *= 2").expect("the line") as u32;
    let module = program_.module();
    let factor: Vec<usize> = (0..module.code.len())
        .filter(|at| module.loc(*at).is_some_and(|(file, loc)| file == "test.nil" && loc.line == line))
        .filter(|at| {
            let text = display(&module.code[*at], *at as u64, &NoNames);
            text.starts_with("mul.l") || text.starts_with("div.l")
        })
        .collect();
    assert!(!factor.is_empty());
    // If the first state is 3, all are words with the low 52 bits of its logarithm.
    let options = Options { arguments: numbers_of(&["1", "3", "4", "256"]), ..options };
    let program_ = program(build(DOUBLING, &options));
    let mut m = machine(&program_);
    let x = m.memory()[symbol(program_.module(), "x")];
    // The states that a machine holds. (A call may hand over a copy of one.)
    let states = |m: &Machine<'_>| {
        let held = m.registers().iter().chain(&m.memory()[..program_.module().data.len() + 200]);
        held.filter(|w| **w % (1 << 52) == x % (1 << 52)).collect::<BTreeSet<_>>().len()
    };
    let (mut calls, mut most) = (0, 0);
    loop {
        match m.step() {
            StepOutcome::Executed(at) if factor.contains(&(at as usize)) => {
                calls += 1;
                most = most.max(states(&m));
            }
            StepOutcome::Executed(_) => {}
            StepOutcome::Finished => break,
            StepOutcome::Trap(trap) => panic!("{trap:?}"),
        }
    }
    assert_eq!(calls, 2401);
    // x and y! count as well.
    assert_eq!(most, 14, "d (k − 1) + 2 states");
    assert_eq!(states(&m), 2, "only x and y! are left");
}

#[test]
fn bennett_of_any_number_of_steps() {
    const MAP: &str = "@i function map!(y!, x)
    y! += x
    y! -= x * x / 8
end";
    let map = |x: f64| x - x * x / 8.0;
    for (k, n) in [(2, 1), (2, 2), (2, 7), (2, 8), (3, 9), (3, 10), (3, 17), (4, 5), (5, 3), (7, 20)] {
        let args = [("y!", Arg::Real(0.5)), ("x", Arg::Real(0.25)), ("k", Arg::Int(k)), ("n", Arg::Int(n))];
        let case = Case { more: MAP, ..case("scheduling", "bennett!(y!, x, map!, k, n)", args) };
        let oracle = |a: &mut [Vec<f64>]| a[0][0] += (0..n).fold(a[1][0], |x, _| map(x));
        case.run_forward_and_back("Float64", FLOAT, &oracle);
        case.run_forward_and_back("Fixed", Tolerance { value: 1e-7, ..FIXED }, &oracle);
        case.derivatives("Float64", FLOAT, &["y!"], &oracle);
        case.derivatives("Fixed", FIXED, &["y!"], &oracle);
    }
    // Steps with a parameter and their number; vectors as states.
    const SWING: &str = "@i function swing!(y!, x, p, i)
    y![1] += x[1] + p * x[2]
    y![2] += x[2] - p * sin(x[1])
    y![2] += i * p / 8
end";
    for (k, n) in [(2, 1), (2, 4), (3, 9), (3, 11), (4, 16)] {
        let args =
            [("y!", reals(2, 1)), ("x", reals(2, 2)), ("p", Arg::Real(0.125)), ("k", Arg::Int(k)), ("n", Arg::Int(n))];
        let case = Case { more: SWING, ..case("scheduling", "bennett!(y!, x, swing!, p, k, n)", args) };
        case.differentiates(&["y!"], |a| {
            let p = a[2][0];
            let step = |x: [f64; 2], i: i64| [x[0] + p * x[1], x[1] - p * x[0].sin() + i as f64 * p / 8.0];
            let last = (1..=n).fold([a[1][0], a[1][1]], step);
            add(&mut a[0], &last);
        });
    }
    let args = [("y!", Arg::Real(0.0)), ("x", Arg::Real(0.25)), ("k", Arg::Int(1)), ("n", Arg::Int(4))];
    let one = Case { more: MAP, ..case("scheduling", "bennett!(y!, x, map!, k, n)", args) };
    assert!(matches!(one.traps("Fixed"), Fault::Assert), "a schedule of one part would not end");
}
