//! Functions that call themselves in routines, and whose results are not used linearly: C code keeps these for the way back, so that
//! each depth does not compute again all that is deeper. Gradients are the interpreter's to the bit, on both code generators.

use pendula::isa::adjoint::GRADIENT;
use pendula::isa::sample;
use pendula::vm::{Config, Engine, Machine};

use super::nil::Call;
use super::whole::{compare_there_and_back, programs, there_and_back_in_c, without_regard_to_rounding};

/// A function that calls itself, to depth `n`: what it does there, and how many of its calls have results that are kept.
type Case = (&'static str, &'static str, usize);

/// Functions with one result.
const ONE: &[Case] = &[
    (
        "a call",
        "@routine begin
            d ← 0.0
            r!(d, x, w, n - 1)
        end
        y! += sin(d) + d * x[n]
        ~@routine",
        1,
    ),
    (
        "two calls, and elementary functions of their results",
        "@routine begin
            @zeros Float64 a b e
            r!(a, x, w, n - 1)
            r!(b, x, w, n - 2)
            e += exp(b * 0.1)
            e += tanh(a)
        end
        y! += a * b + e * w[2]
        ~@routine",
        2,
    ),
    (
        "a call in a loop, and a loop of routines",
        "for j = 1:2
            @routine begin
                d ← 0.0
                s ← 0.0
                for q = 1:2
                    r!(d, x, w, n - 2)
                end
                for q = 1:length(x)
                    s += x[q] * d
                end
            end
            y! += s * d * w[j]
            ~@routine
        end",
        1,
    ),
    (
        "a routine within, which makes the call",
        "@routine begin
            c ← 0.0
            @routine begin
                d ← 0.0
                r!(d, x, w, n - 1)
                e ← 0.0
                e += d * d
            end
            c += cos(e) * d
            ~@routine
        end
        y! += c * c + x[1]
        ~@routine",
        1,
    ),
    (
        "a call in either side of a conditional",
        "@routine begin
            d ← 0.0
            if (n % 2 == 0, ~)
                r!(d, x, w, n - 1)
            else
                r!(d, w, x, n - 1)
                d += x[1]
            end
        end
        y! += d * d
        ~@routine",
        2,
    ),
    (
        "a call that is undone, and one after it",
        "@routine begin
            @zeros Float64 a b
            (~r!)(a, x, w, n - 1)
            r!(b, x, w, n - 2)
        end
        y! += a * b + sqrt(1 + b * b)
        ~@routine",
        4,
    ),
    (
        "a result that is changed for a time",
        "@routine begin
            d ← 0.0
            r!(d, x, w, n - 1)
        end
        d += w[1]
        y! += d * d
        d -= w[1]
        ~@routine",
        0,
    ),
    (
        "a result that something was added to before",
        "@routine begin
            d ← 0.0
            d += x[2]
            r!(d, x, w, n - 1)
            d -= x[1] / 3
        end
        y! += d ^ 3
        ~@routine",
        1,
    ),
    (
        "a result that is used linearly, by a call forward and back at once",
        "@routine begin
            d ← 0.0
            r!(d, x, w, n - 1)
        end
        y! += n * d
        ~@routine",
        0,
    ),
    (
        "a result that is used linearly, and one that is not",
        "@routine begin
            d ← 0.0
            r!(d, x, w, n - 1)
        end
        y! += n * d
        ~@routine
        @routine begin
            e ← 0.0
            r!(e, x, w, n - 2)
        end
        y! += sin(e)
        ~@routine",
        0,
    ),
    (
        "an array that is made for the call",
        "@routine begin
            v ← zeros(length(x))
            for q = 1:length(x)
                v[q] += x[q] * w[q] + 0.3
            end
            d ← 0.0
            r!(d, v, w, n - 1)
        end
        for q = 1:length(x)
            y! += v[q] * sin(d)
        end
        ~@routine",
        1,
    ),
    (
        "a call that is no part of a routine",
        "@routine begin
            d ← 0.0
            r!(d, x, w, n - 2)
        end
        y! += d * d
        r!(y!, x, w, n - 1)
        ~@routine",
        0,
    ),
];

fn one(inner: &str) -> String {
    format!(
        "@i function r!(y!::Float64, x::Vector{{Float64}}, w::Vector{{Float64}}, n::Int)
    if (n <= 0, ~)
        y! += x[1] * w[2] - n
    else
        {}
    end
end
",
        inner.replace("x[n]", "x[1 + n % 3]")
    )
}

/// A function with two results, and three, of which none are kept.
fn more(three: bool) -> String {
    let (result, call, zero) = if three { (", t!::Float64", ", c", "        c ← 0.0\n") } else { ("", "", "") };
    let third = if three { "    t! += c * a\n" } else { "" };
    format!(
        "@i function r!(y!::Float64, z!::Float64{result}, x::Vector{{Float64}}, n::Int)
    if (n <= 0, ~)
        y! += x[1]
        z! += x[2] * x[1]
    else
        @routine begin
            a ← 0.0
            b ← 0.0
    {zero}        r!(a, b{call}, x, n - 1)
        end
        y! += a * b + 0.5
        z! -= sin(a)
    {third}        ~@routine
    end
end
"
    )
}

/// Two functions that call one another: what they compute is not kept.
const MUTUAL: &str = "@i function r!(y!::Float64, x::Vector{Float64}, w::Vector{Float64}, n::Int)
    if (n <= 0, ~)
        y! += x[1]
    else
        @routine begin
            d ← 0.0
            other!(d, x, w, n - 1)
        end
        y! += sin(d)
        ~@routine
    end
end

@i function other!(y!::Float64, x::Vector{Float64}, w::Vector{Float64}, n::Int)
    if (n <= 0, ~)
        y! += w[1]
    else
        @routine begin
            d ← 0.0
            r!(d, w, x, n - 1)
        end
        y! += d * d
        ~@routine
    end
end
";

/// Calls it from outside: for a result, in a routine, in a routine within one, and in a loop.
const OUTSIDE: &str = "
@i function f!(l!::Float64, x::Vector{Float64}, w::Vector{Float64}, n::Int)
    r!(l!, x, w, n)
    @routine begin
        s ← 0.0
        @routine begin
            d ← 0.0
            r!(d, w, x, n - 1)
        end
        s += d * d
        ~@routine
    end
    l! += s * x[1]
    ~@routine
    for j = 1:2
        @routine begin
            d ← 0.0
            r!(d, x, w, j)
            e ← 0.0
            e += exp(d * 0.01)
        end
        l! += e * d
        ~@routine
    end
end
";

fn call(args: &str, entry: &str) -> Call {
    Call {
        arguments: pendula::arguments::parse(args).expect("arguments"),
        entry: Some(entry.to_string()),
        ..Call::default()
    }
}

const ARGS: &str = "0.25,[0.31,-0.72,1.1],[-0.2,0.45,0.9],4";

/// In how many places C code writes results of such calls.
fn kept(source: &str, call: &Call) -> usize {
    let c = there_and_back_in_c(source, call).text;
    c.lines().filter(|line| line.trim().starts_with("turned[results") && line.ends_with("= KEPT;")).count()
}

#[test]
fn results_are_kept() {
    for (name, inner, expected) in ONE {
        assert_eq!(kept(&one(inner), &call(ARGS, "r!")), *expected, "{name}");
    }
    let args = "0.25,-0.5,[0.31,-0.72,1.1],4";
    assert_eq!(kept(&more(false), &call(args, "r!")), 1);
    assert_eq!(kept(&more(true), &call(&args.replace("-0.5", "-0.5,0.1"), "r!")), 0);
    assert_eq!(kept(MUTUAL, &call(ARGS, "r!")), 0);
}

#[test]
fn gradients_of_recursions() {
    for (name, inner, _) in sample::some(ONE.iter()) {
        let source = one(inner);
        compare_there_and_back(name, &source, &call(ARGS, "r!"));
        assert!(without_regard_to_rounding(name, &source, &call(ARGS, "r!")), "{name}");
        compare_there_and_back(name, &(source + OUTSIDE), &call(ARGS, "f!"));
    }
    compare_there_and_back("mutual", MUTUAL, &call(ARGS, "r!"));
    compare_there_and_back("mutual, from outside", &format!("{MUTUAL}{OUTSIDE}"), &call(ARGS, "f!"));
    let args = "0.25,-0.5,[0.31,-0.72,1.1],4";
    compare_there_and_back("two results", &more(false), &call(args, "r!"));
    compare_there_and_back("three results", &more(true), &call(&args.replace("-0.5", "-0.5,0.1"), "r!"));
}

/// Where results would take too much memory, they are computed again.
#[test]
fn too_little_memory_for_results() {
    let (source, call) = (one(ONE[1].1), call("0.25,[0.31,-0.72,1.1],[-0.2,0.45,0.9],6", "r!"));
    let mut gradients = Vec::new();
    for words in [usize::MAX, 1 << 9, 0] {
        for (program, _) in &programs("little memory", &source, &call) {
            let config = Config { mem: Some(1 << 14), engine: Engine::Interpreter, ..Config::default() };
            let mut machine = Machine::new(program, &config).expect("a machine");
            machine.allow_whole(true);
            machine.set_kept_words(words);
            assert!(machine.run_forward_and_back(&[(0, 1f64.to_bits())]), "{words} words");
            gradients.push((0..7).map(|at| machine.lane_word(GRADIENT, at)).collect::<Vec<_>>());
        }
    }
    assert!(gradients.iter().all(|g| *g == gradients[0]), "{gradients:?}");
}
