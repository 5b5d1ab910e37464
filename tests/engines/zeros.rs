//! Signs of zeros. C code leaves out additions to variables that are zero, where that changes nothing but the sign of a zero which nobody sees. So
//! programs compute with zeros of both signs, and the bits are the interpreter's.

use pendula::arguments;
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::isa::types::Ty;
use pendula::vm::gradient::one;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome};
use pendula_codegen::cc::Rounding;

use super::nil::Call;
use super::whole::{compare, program};

/// Zeros that show their signs in the end: in results that are -0, in quotients, products and roots, and in what flows back from each.
const SIGNS: &str = "
@i function f!(out!::AbstractMatrix{T}, x::AbstractVector{T}, y::AbstractVector{T}) where T
    for i = 1:length(x)
        out![i, 1] += x[i] * y[i]
        out![i, 2] += x[i] * y[i] + x[i] * 2
        out![i, 3] -= x[i] - y[i] * (x[i] + y[i])
        out![i, 4] += (x[i] * y[i] - y[i] * 2) * 3 - x[i] * x[i]
        out![i, 5] += sqrt(x[i] * y[i] * (x[i] * y[i])) * y[i]
        out![i, 6] -= abs(x[i] * y[i]) * (y[i] - x[i])
        out![i, 7] += exp(x[i] * y[i]) * x[i] - sin(x[i] * y[i]) * 2
        out![i, 8] += x[i] * y[i] / (y[i] * y[i] + 1)
    end
end
";

/// The same in variables, arrays and functions, undone or forgotten, with conditionals between.
const VARIABLES: &str = "
@i function weigh!(y!::T, a::T, b::T) where T
    y! += a * b * 2
    y! -= b * a
end

@i function f!(out!::AbstractMatrix{T}, x::AbstractVector{T}, y::AbstractVector{T}) where T
    for i = 1:length(x)
        @routine begin
            @zeros T a b c d
            a += x[i] * y[i]
            b += a * y[i]
            c -= b * 2
            d += c
            d += x[i] * y[i]
        end
        out![i, 1] += a
        out![i, 2] += b
        out![i, 3] += d
        if (a > 0, ~)
            out![i, 4] += a * c
        else
            out![i, 4] -= a * c
        end
        weigh!(out![i, 5], a, c)
        ~@routine
    end
    @routine begin
        sums ← zeros(T, length(x))
        total ← zero(T)
        for i = 1:length(x)
            sums[i] += x[i] * y[i] * 3
            total += sums[i] * y[i]
        end
    end
    for i = 1:length(x)
        out![i, 6] += sums[i] * total
        out![i, 7] += sums[i] - total * 0
        out![i, 8] -= sums[i]
    end
    ~@routine
end
";

const PROGRAMS: [(&str, &str); 2] = [("expressions", SIGNS), ("variables", VARIABLES)];

/// All pairs of these numbers, and results that begin as zeros of both signs.
fn call() -> Call {
    let numbers = ["0.0", "-0.0", "1.5", "-1.5", "5e-324", "-5e-324"];
    let pairs: Vec<[&str; 2]> = numbers.iter().flat_map(|a| numbers.map(|b| [*a, b])).collect();
    let vector = |n: usize| pairs.iter().map(|pair| pair[n]).collect::<Vec<_>>().join(",");
    let row =
        |n: usize| (0..8).map(|k| if (n + k).is_multiple_of(3) { "0.0" } else { "-0.0" }).collect::<Vec<_>>().join(" ");
    let out = (0..pairs.len()).map(row).collect::<Vec<_>>().join("; ");
    let args = format!("[{out}],[{}],[{}]", vector(0), vector(1));
    Call { arguments: arguments::parse(&args).expect("arguments"), ..Call::default() }
}

#[test]
fn zeros_have_the_same_signs() {
    for (what, source) in PROGRAMS {
        let ran = compare(what, source, &call());
        assert!(ran.whole && ran.finished, "{what}");
    }
}

#[test]
fn gradient_words_that_are_negative_zero_keep_their_signs() {
    for (what, source) in PROGRAMS {
        let (program, code) = program(what, source, &call(), Rounding::Strict);
        assert!(code.is_some(), "{what}");
        let words = program.module().data.len();
        let config = Config { mem: Some(words as u64 + 16_384), engine: Engine::Interpreter, ..Config::default() };
        let carried = [false, true].map(|whole| {
            let mut machine = Machine::new(&program, &config).expect("a machine");
            machine.allow_whole(whole);
            assert_eq!(machine.run(None), Outcome::Finished);
            machine.set_ad_mode(AdMode::Gradient);
            let seeds = [(-0.0f64).to_bits(), one(machine.env(), Ty::F), 0];
            (0..words).for_each(|at| machine.set_lane_word(GRADIENT, at, seeds[at % 3]));
            machine.begin(Direction::Backward);
            assert_eq!(machine.run(None), Outcome::Finished);
            (0..words).map(|at| machine.lane_word(GRADIENT, at)).collect::<Vec<_>>()
        });
        assert!(carried[0].contains(&(-0.0f64).to_bits()), "{what}: nothing to see");
        assert_eq!(carried[0], carried[1], "{what}");
    }
}
