//! Many gradients by one machine, of other numbers each time: each is as that of a machine of its own.

use pendula::arguments;
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome};
use pendula_codegen::cc::Rounding;

use super::nil::Call;
use super::whole::program;

/// A sum that rounding changes, one that is too large for some numbers, and a quotient that does not exist for one.
const SOURCE: &str = "@i function f!(out!, w!::AbstractVector, x, y)
    @routine begin
        s ← 0.0
        s += x * y
        s += x
    end
    out! += sin(s) + 1 / y
    for i = 1:length(w!)
        w![i] += exp(s) * y * i
    end
    ~@routine
end
";

#[test]
fn repeated_gradients_are_those_of_single_runs() {
    let call = Call { arguments: arguments::parse("0.1,[0.2,1e5,3.0],0.5,2.0").expect("arguments"), ..Call::default() };
    let (program, code) = program("repeated", SOURCE, &call, Rounding::Strict);
    assert!(code.is_some());
    let words = program.module().data.len();
    let config = Config { mem: Some(1 << 12), engine: Engine::Interpreter, ..Config::default() };
    // The result, three words, and the two numbers.
    let (x, seeds) = (4, [(0, 2f64.to_bits()), (2, 1f64.to_bits())]);
    let mut machine = Machine::new(&program, &config).expect("a machine");
    assert!(machine.repeat_forward_and_back(&seeds).is_none(), "code for whole runs was not allowed");
    machine.allow_whole(true);
    let numbers =
        [[0.5, 2.0], [-3.5, 0.25], [1e9, 2.0], [0.5, 2.0], [1.0, 0.0], [0.0, -0.0], [-1.25, 7.0], [700.0, 3.0]];
    let mut gave_up = 0;
    let mut repeated = machine.repeat_forward_and_back(&seeds).expect("code for whole runs");
    for pair in numbers {
        let pair = pair.map(f64::to_bits);
        repeated.set_words(x, &pair);
        let ran = repeated.run();
        let mut alone = Machine::new(&program, &config).expect("a machine");
        alone.set_words(x, &pair);
        let finished = alone.run(None) == Outcome::Finished;
        let between: Vec<u64> = alone.memory()[..words].to_vec();
        alone.set_ad_mode(AdMode::Gradient);
        seeds.iter().for_each(|(at, word)| alone.set_lane_word(GRADIENT, *at, *word));
        alone.begin(Direction::Backward);
        let finished = finished && alone.run(None) == Outcome::Finished;
        assert!(finished || !ran, "{pair:?}: the interpreter stops");
        if !ran {
            gave_up += 1;
            assert!(repeated.gradient_words(0..words).iter().all(|word| *word == 0), "{pair:?}");
            continue;
        }
        let carried: Vec<u64> = (0..words).map(|at| alone.lane_word(GRADIENT, at)).collect();
        assert_eq!(repeated.gradient_words(0..words), carried, "{pair:?}");
        let turned: Vec<u64> = (0..words).map(|at| repeated.midpoint_word(at)).collect();
        assert_eq!(turned, between, "{pair:?}");
    }
    assert!((2..6).contains(&gave_up), "{gave_up}");
    assert_eq!(repeated.runs() + gave_up, numbers.len() as u64);
    // As after a run, and ready for others.
    drop(repeated);
    assert_eq!((machine.ad_mode(), machine.pc(), machine.direction()), (AdMode::Gradient, None, Direction::Backward));
    machine.set_words(x, &[0.5, 2.0].map(f64::to_bits));
    assert!(machine.run_forward_and_back(&seeds));
    let again = machine.lane_word(GRADIENT, x);
    let mut fresh = Machine::new(&program, &config).expect("a machine");
    fresh.allow_whole(true);
    assert!(fresh.run_forward_and_back(&seeds));
    assert_eq!(again, fresh.lane_word(GRADIENT, x));
}

/// C code gives up where counting would go beyond the largest integer; the interpreter runs such loops, in both directions.
#[test]
fn loops_from_the_largest_integer_down_end() {
    let source = "@i function f!(out!::AbstractVector, x::AbstractVector, n::Int)
    for i = n:-1:n - 3
        @routine begin
            t ← 0.0
            t += x[n - i + 1] * 2
        end
        out![n - i + 1] += t * t
        ~@routine
    end
end
";
    for n in [i64::MAX, i64::MAX - 1, 4] {
        let args = format!("[0.0,0.5,1.0,2.0],[1.5,-2.0,0.25,3.0],{n}");
        let call = Call { arguments: arguments::parse(&args).expect("arguments"), ..Call::default() };
        let (program, code) = program("largest", source, &call, Rounding::Strict);
        assert!(code.is_some(), "{n}");
        let words = program.module().data.len();
        let config = Config { mem: Some(words as u64 + 1024), engine: Engine::Interpreter, ..Config::default() };
        let ends = [false, true].map(|whole| {
            let mut machine = Machine::new(&program, &config).expect("a machine");
            machine.allow_whole(whole);
            assert_eq!(machine.run(None), Outcome::Finished, "{n}");
            let between = machine.memory()[..words].to_vec();
            machine.set_ad_mode(AdMode::Gradient);
            (0..4).for_each(|at| machine.set_lane_word(GRADIENT, at, 1f64.to_bits()));
            machine.begin(Direction::Backward);
            assert_eq!(machine.run(None), Outcome::Finished, "{n}");
            let carried: Vec<u64> = (0..words).map(|at| machine.lane_word(GRADIENT, at)).collect();
            (between, machine.memory().to_vec(), carried)
        });
        assert_eq!(ends[0], ends[1], "{n}");
        assert!(ends[0].2[4..].iter().any(|word| *word != 0), "{n}: {:?}", ends[0].2);
    }
}
