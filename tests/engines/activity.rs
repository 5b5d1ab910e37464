//! Gradients in C with respect to some inputs: gradient words that nobody asks for are not made, and those that somebody asks for are
//! the interpreter's to the last bit.

use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::isa::types::Ty;
use pendula::values::{self, Location};
use pendula::vm::gradient::one;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome, WholeProgram};
use pendula_codegen::cc::Rounding;
use pendula_isa::sample;

use super::nil::{Call, example_calls, workload_calls};
use super::whole::program;
use pendula::arguments::parse;

/// Each of these arguments of a call alone as the independent variable, and each as the dependent one. Returns how many gradients agreed.
fn compare(what: &str, source: &str, call: &Call, most: usize) -> usize {
    let (program, Some(code)) = program(what, source, call, Rounding::Strict) else { return 0 };
    let words = program.module().data.len();
    let config = Config { mem: Some(words as u64 + 16_384), engine: Engine::Interpreter, ..Config::default() };
    let mut plain = Machine::new(&program, &config).expect("a machine");
    let mut fused = Machine::new(&program, &config).expect("a machine");
    fused.allow_whole(true);
    let start = plain.snapshot();
    if plain.run(None) != Outcome::Finished {
        return 0;
    }
    let between = plain.snapshot();
    let floats: Vec<_> = values::marked(program.module(), |_, _| true)
        .into_iter()
        .filter_map(|place| match (place.ty.gradient(), place.at) {
            (Some(ty), Location::Memory { start, len, .. }) if len > 0 => {
                Some((ty, start as usize..(start + len) as usize))
            }
            _ => None,
        })
        .collect();
    let mut agreed = 0;
    for (n, (ty, dependent)) in floats.iter().enumerate() {
        let seed = (dependent.start, one(plain.env(), *ty));
        plain.restore(&between);
        plain.set_ad_mode(AdMode::Gradient);
        plain.clear_lane(GRADIENT);
        plain.set_lane_word(GRADIENT, seed.0, seed.1);
        plain.begin(Direction::Backward);
        if plain.run(None) != Outcome::Finished {
            continue;
        }
        for m in 0..floats.len() {
            // The argument after the dependent one first.
            let (_, independent) = &floats[(n + 1 + m) % floats.len()];
            if agreed >= most {
                return agreed;
            }
            fused.restore(&start);
            fused.set_independent(Some(std::slice::from_ref(independent)));
            assert!(fused.run_forward_and_back(&[seed]), "{what}: not done");
            assert_eq!(fused.snapshot().mem, start.mem, "{what}: memory");
            for at in independent.clone() {
                let [wanted, found] = [&plain, &fused].map(|m| m.lane_word(GRADIENT, at));
                assert_eq!(found, wanted, "{what}: word {at} carries {}", f64::from_bits(found));
            }
            for at in dependent.clone() {
                assert_eq!(fused.midpoint_word(at), between.mem.get(at).unwrap_or(0), "{what}: word {at} in between");
            }
            agreed += 1;
        }
    }
    assert!(code.arguments().len() >= floats.len(), "{what}");
    agreed
}

#[test]
fn one_argument_of_each_workload() {
    for (name, source, call) in sample::some(workload_calls()) {
        assert_eq!(compare(name, &source, &call, 1), 1, "{name}");
    }
}

#[test]
#[ignore = "takes minutes"]
fn every_argument_of_examples_and_workloads() {
    let mut agreed = 0;
    for (name, source, call) in workload_calls() {
        agreed += compare(name, &source, &call, usize::MAX);
    }
    for (name, source, calls) in example_calls() {
        for call in &calls {
            agreed += compare(&name, &source, call, usize::MAX);
        }
    }
    assert!(agreed > 200, "{agreed} agreed");
}

/// Two functions that call each other's helper with different activity, an integer selection, and words that meet in swaps.
const MIXED: &str = "@i function mix!(y!::T, a::T, b::T) where T
    @routine begin
        t ← zero(T)
        t += a * b
    end
    y! += t * a
    ~@routine
end

@i function f!(u!::T, w!::T, x::AbstractVector{T}, d::AbstractVector{T}, c::T) where T
    @routine begin
        p ← zeros(T, length(x))
        q ← zero(T)
        for i = 1:length(x)
            mix!(p[i], x[i], d[i])
            if (d[i] > 0, ~)
                q += d[i] * c
            end
        end
    end
    for i = 1:length(x)
        u! += p[i] * q + max(x[i], d[i])
        w! += d[i]^2
    end
    SWAP(u!, w!)
    u! += c * w!
    ~@routine
end";

#[test]
fn calls_branches_and_swaps() {
    let call = |text: &str| Call { arguments: parse(text).expect("arguments"), ..Call::default() };
    let agreed = compare("mixed", MIXED, &call("0.5,0.25,[1.5,-2.0,0.75],[0.5,-0.25,3.0],2.0"), usize::MAX);
    assert_eq!(agreed, 25);
}

/// Only the smallest of several distances has a gradient: loops of which nothing flows back are passed over.
#[test]
fn loops_without_gradients() {
    let source = "using statistics
@i function near!(loss!::T, points::AbstractMatrix{T}, centres::AbstractMatrix{T}) where T
    for i = 1:size(points, 2)
        @routine begin
            near ← zeros(T, size(centres, 2))
            for k = 1:size(centres, 2)
                for j = 1:size(points, 1)
                    near[k] -= (points[j, i] - centres[j, k])^2
                end
            end
        end
        (~maximum!)(loss!, near)
        ~@routine
    end
end";
    let call = |text: &str| Call { arguments: parse(text).expect("arguments"), ..Call::default() };
    let text = "0.0,[0.0 1.0 5.0 6.5; 1.0 0.5 2.0 -1.0],[0.25 5.5 1.0; 1.5 0.5 0.0]";
    assert_eq!(compare("near", source, &call(text), usize::MAX), 9);
    // Three centres, of which one is twice there: the first counts.
    let text = "1.5,[0.0 1.0; 1.0 0.5],[0.25 0.25 1.0; 1.5 1.5 0.0]";
    assert_eq!(compare("near, twice", source, &call(text), usize::MAX), 9);
}

/// Types other than doubles carry what matters, too.
#[test]
fn fixed_point_and_logarithms() {
    let source = "@i function f!(y!::Fixed, x::Fixed, c::Fixed)
    for i = 1:4
        @routine begin
            t ← Fixed(0.0)
            t += x * c
        end
        y! += t * t
        ~@routine
    end
end";
    let call = Call {
        arguments: parse("0.5,1.5,2.25").expect("arguments"),
        types: vec!["Fixed".into(); 3],
        ..Call::default()
    };
    assert_eq!(compare("fixed", source, &call, usize::MAX), 9);
    assert_eq!(Ty::Q.gradient(), Some(Ty::Q));
}
