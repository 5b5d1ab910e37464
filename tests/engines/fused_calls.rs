//! Functions that call themselves and whose results are used linearly: back with gradients, C code makes such a call and takes it back
//! at once. The bits are the interpreter's.

use std::fmt::Write as _;

use pendula::arguments;
use pendula::isa::adjoint::GRADIENT;
use pendula::vm::{Config, Machine};
use pendula_isa::sample;

use super::nil::Call;
use super::whole::{compare, compare_there_and_back, programs};

/// A program, its arguments, and whether its calls are made forward and back at once.
struct Case {
    name: &'static str,
    source: String,
    args: &'static str,
    fused: bool,
}

/// A recursion to depth `n` that adds what `rest` says to a result, from calls that `calls` says, in a loop of two turns.
fn recursion(calls: &str, rest: &str) -> String {
    let mut source = String::from("@i function f!(out!, x::AbstractVector, n::Int)\n");
    source +=
        "    if (n == 0, ~)\n        out! += x[1] * x[2]\n    else\n        for i = 1:2\n            @routine begin\n";
    source += "                @zeros Float64 a b\n                w ← zeros(2)\n                v ← zeros(2)\n";
    source += "                for k = 1:2\n                    w[k] += x[k] * (i + k) / 3\n";
    source += "                    v[k] -= x[k] / (i + n)\n                end\n";
    for call in calls.split(';') {
        let _ = writeln!(source, "                {}", call.trim());
    }
    source += "            end\n";
    for line in rest.split(';') {
        let _ = writeln!(source, "            {}", line.trim());
    }
    source += "            ~@routine\n        end\n    end\nend\n";
    source
}

const ARGS: &str = "0.25,[0.75,-1.5],4";

/// A function that calls itself outside of a loop, with a result that depends on a conditional, and a way that adds once more.
const CONDITIONAL: &str = "
@i function f!(out!, x::AbstractVector, n::Int)
    if (n > 0, ~)
        @routine begin
            d ← 0.0
            y ← zeros(2)
            y[1] += x[2] * x[1]
            y[2] -= x[1] * n
            f!(d, y, n - 1)
        end
        if (n % 3 == 1, ~)
            out! += x[1] * d
            out! -= d / n
        else
            out! -= d
        end
        out! += atan(x[2])
        ~@routine
    else
        out! += exp(x[1] / 50) - x[2]
    end
end
";

fn cases() -> Vec<Case> {
    let case = |name, calls: &str, rest: &str, fused| Case { name, source: recursion(calls, rest), args: ARGS, fused };
    let one = "f!(a, w, n - 1)";
    let two = "f!(a, w, n - 1); f!(b, v, n - 1)";
    vec![
        case("one", one, "out! += a * x[1]", true),
        case("difference", one, "out! -= a / x[2]", true),
        case("plain", one, "out! += a", true),
        case("two", two, "out! += a * x[1] - b * x[2]", true),
        case("of parts", one, "out! += x[1] * (a / 3 - x[2] * (x[1] + 1)) + x[2] / (x[1] + 4) - 2 * a", true),
        case("square of parts", one, "out! += (a / 3 + x[1]) ^ 2", false),
        case("sine of parts", one, "out! += x[1] * sin(a / 3 + x[2])", false),
        case(
            "read before",
            one,
            "@routine begin; @zeros Float64 t u; t += x[1]; u += sin(t); t += a; end; out! += u * a + t; ~@routine",
            false,
        ),
        case(
            "tested before",
            one,
            "@routine begin; @zeros Float64 t u; t += x[1]; if (t > 0, ~); u += x[2]; end; t += a; end; out! += u * a + t; ~@routine",
            false,
        ),
        case(
            "added before",
            one,
            "@routine begin; @zeros Float64 t u; t += x[1]; u += t * x[2]; t += a; end; out! += x[1] * u + t / 3; ~@routine",
            true,
        ),
        case("by hand", one, "t ← 0.0; t += a; out! += t * x[1]; t -= a; t → 0.0", false),
        case("two, twice", two, "out! += a * x[1]; out! -= b * a", false),
        case("shared", "f!(a, w, n - 1); f!(b, w, n - 1)", "out! += a + b", false),
        case("used", one, "out! += a * w[1]", false),
        case("square", one, "out! += a * a / 100", false),
        case("divisor", one, "out! += x[1] / (a + 9)", false),
        case("sine", one, "out! += sin(a)", false),
        case("test", one, "if (a > 0, ~); out! += a; else; out! -= a; end", false),
        case("of both", one, "if (i == 1, ~); out! += a * x[1]; else; out! -= x[2] * a; end", true),
        Case { name: "conditional", source: CONDITIONAL.into(), args: "0.5,[0.75,-0.5],7", fused: true },
    ]
}

fn call(args: &str) -> Call {
    Call { arguments: arguments::parse(args).expect("arguments"), ..Call::default() }
}

#[test]
fn calls_at_once_have_the_same_bits() {
    // The C compiler takes a second for each; of the others, which are compiled as all functions are, a third will do for each push.
    let (fused, others): (Vec<_>, Vec<_>) = cases().into_iter().partition(|case| case.fused);
    for Case { name, source, args, .. } in
        fused.into_iter().chain(others.into_iter().step_by(if sample::all() { 1 } else { 3 }))
    {
        let ran = compare(name, &source, &call(args));
        assert!(ran.whole && ran.finished, "{name}");
    }
}

/// Numbers of many magnitudes: sums that are large are undone, by other code.
#[test]
fn calls_at_once_have_the_same_bits_for_other_numbers() {
    let numbers = ["0.0", "-0.0", "1.0", "-3.5", "1e-160", "2e5", "-7e6"];
    for Case { name, source, .. } in cases().into_iter().filter(|case| case.fused) {
        for n in sample::some(0..numbers.len() as u32) {
            for m in sample::some(0..numbers.len() as u32) {
                let (a, b) = (numbers[n as usize], numbers[m as usize]);
                compare(&format!("{name} {a} {b}"), &source, &call(&format!("0.1,[{a},{b}],3")));
            }
        }
    }
}

/// Programs of which the work grows by one factor for each depth, not by two.
/// Calls that are too deep for the stack of the thread are made on a larger one: the machine's code would take 2ⁿ times as long with such computations.
#[test]
fn calls_deeper_than_the_stack() {
    const DEPTH: u64 = 50_000;
    let source = "
@i function f!(y!::Float64, x::Float64, n::Int)
    if (n > 0, ~)
        @routine begin
            m ← n - 1
        end
        f!(y!, x, m)
        y! += x * n
        ~@routine
    end
end
";
    let given = arguments::parse(&format!("0.0,0.5,{DEPTH}")).expect("arguments");
    let call = Call { arguments: given, ..Call::default() };
    for (program, _) in &programs("deep calls", source, &call) {
        let mut machine =
            Machine::new(program, &Config { mem: Some(1 << 20), ..Config::default() }).expect("a machine");
        machine.allow_whole(true);
        // The second run has the larger stack from the beginning.
        for _ in 0..2 {
            assert!(machine.run_forward_and_back(&[(0, 1f64.to_bits())]));
            let sum = (DEPTH * (DEPTH + 1) / 2) as f64;
            assert_eq!(f64::from_bits(machine.lane_word(GRADIENT, 1)), sum);
        }
    }
}

#[test]
fn linear_results_of_recursions_are_computed_once() {
    for Case { name, source, args, fused } in cases() {
        let file = crate::common::folder("fused-calls").join(format!("{name}.nil"));
        std::fs::write(&file, &source).expect("written");
        let path = file.to_str().expect("UTF-8");
        let (code, text, err) = crate::common::command::run(&["compile", path, "--emit", "c", "--args", args], "");
        assert_eq!(code, 0, "{name}: {err}");
        assert_eq!(text.contains("f_with_gradient"), fused, "{name}\n{source}");
    }
}

/// One array given twice, to a function that is also given two: what flows to it in the call and after it has one order.
#[test]
fn arrays_that_are_given_twice() {
    let source = "
@i function f!(out!, x::AbstractVector, y::AbstractVector, n::Int)
    if (n > 0, ~)
        @routine begin
            d ← 0.0
            f!(d, y, y, n - 1)
        end
        out! += x[1] * d + x[2]
        out! -= d * y[2] / 3
        ~@routine
    else
        out! += x[1] * y[2] / 7
    end
end
";
    for args in ["0.5,[0.75,-0.5],[1.3,0.1],4", "0.1,[0.7,0.3],[0.1,-0.9],5"] {
        let ran = compare("twice", source, &call(args));
        assert!(ran.whole && ran.finished, "{args}");
    }
}

/// There is no room for logs at first, and more is made.
#[test]
fn long_loops_of_calls() {
    let source = "
@i function f!(out!, x::AbstractVector, n::Int)
    if (n == 0, ~)
        out! += x[1] * x[2]
    else
        for i = 1:300
            @routine begin
                a ← 0.0
                w ← zeros(2)
                w[1] += x[1] / i
                w[2] += x[2] * i
                f!(a, w, n - 1)
            end
            out! += a * x[1]
            ~@routine
        end
    end
end
";
    compare_there_and_back("long", source, &call("0.5,[0.001,0.002],2"));
}
