//! Sums that compiled code forgets instead of undoing them: it comes to its end exactly where the interpreter does, with the same bits.

use std::cell::Cell;
use std::sync::Arc;

use pendula::arguments;
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome, RunKind, WholeProgram as _};
use pendula_codegen::cc::Rounding;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config as Cases, TestRunner};

use super::nil::Call;
use super::whole::{compare, program};

fn call(args: &str) -> Call {
    Call { arguments: arguments::parse(args).expect("arguments"), types: Vec::new(), entry: None }
}

/// Forward in the interpreter, and by C code with and without forgetting, which tells why it does not run it. Gives whether the interpreter came to
/// its end, whether the code that forgets did, and whether the code that undoes did.
fn outcomes(what: &str, source: &str, args: &str) -> [bool; 3] {
    let (program, code) = program(what, source, &call(args), Rounding::Strict);
    let code: Arc<_> = code.expect("a program in C");
    let kind = RunKind::Run(Direction::Forward, AdMode::Plain);
    let config = Config { mem: Some(1 << 14), engine: Engine::Interpreter, ..Config::default() };
    let mut machine = Machine::new(&program, &config).expect("a machine");
    let data = machine.snapshot();
    let ends = machine.run(None) == Outcome::Finished;
    let expected = machine.snapshot();
    let top = program.module().data.len();
    let attempt = |attempt| {
        let mut memory: Vec<u64> = (0..1 << 14).map(|at| data.mem.get(at).unwrap_or(0)).collect();
        let ended = code.run(kind, attempt, &mut memory, [&mut [], &mut [], &mut []], top, &mut []);
        if ended && ends {
            let differs = (0..top).find(|at| Some(memory[*at]) != expected.mem.get(*at));
            assert_eq!(differs, None, "{what}, attempt {attempt}");
        }
        ended
    };
    [ends, attempt(0), attempt(1)]
}

const SUM: &str = "@i function f!(out!, x::AbstractVector)
    @routine begin
        s ← 0.0
        for i = 1:length(x)
            s += x[i]
        end
    end
    out! += sin(s)
    ~@routine
end
";

#[test]
fn small_sums_are_forgotten() {
    assert_eq!(outcomes("small", SUM, "0.0,[0.1,0.2,0.3]"), [true, true, true]);
    let ran = compare("small", SUM, &call("0.0,[0.1,0.2,0.3]"));
    assert!(ran.whole && ran.finished);
}

#[test]
fn sums_that_may_leave_a_rest_are_undone() {
    // Partial sums above 4·10⁷, of which the rest is small nevertheless.
    assert_eq!(outcomes("large", SUM, "0.0,[1e9,2e9]"), [true, false, true]);
    let ran = compare("large", SUM, &call("0.0,[1e9,2e9]"));
    assert!(ran.whole && ran.finished);
    // A rest that the machine does not clear: no code comes to the end.
    let args = "0.0,[0.1,1e12]";
    assert_eq!(outcomes("rest", SUM, args), [false, false, false]);
    let ran = compare("rest", SUM, &call(args));
    assert!(ran.whole && !ran.finished);
}

#[test]
fn what_is_not_finite_is_not_forgotten() {
    for args in ["0.0,[1e308,1e308]", "0.0,[1e308,1e308,-1e308]", "0.0,[-1e308,-1e308]"] {
        assert_eq!(outcomes("infinite", SUM, args), [false, false, false], "{args}");
    }
}

/// A word that is read before it is complete is undone: what was made of it is not what it is undone with.
#[test]
fn words_that_are_read_too_early_are_undone() {
    // w is 10⁷ + 0.1 where it is read, and something else in the last places when that is undone.
    let early = "@i function f!(out!, a, b)
    @routine begin
        w ← 0.0
        y ← 0.0
        w += a
        y += sin(w * 1000.0)
        w += b
    end
    out! += y
    ~@routine
end
";
    // The word that is read is complete in the same turn, or in the next.
    let by_loop = |added: &str| {
        format!(
            "@i function f!(out!, a, b)
    @routine begin
        w ← zeros(4)
        y ← zeros(4)
        for i = 1:3
            w[i] += a
            w[{added}] += b
            y[i] += sin(w[{added}] * 1000.0)
        end
    end
    out! += y[1]
    out! += y[2]
    ~@routine
end
"
        )
    };
    let (in_loop, late) = (by_loop("i + 1"), by_loop("i"));
    let by_call = "@i function add!(w!, y!, a)
    y! += sin(w! * 1000.0)
    w! += a
end

@i function f!(out!, a, b)
    @routine begin
        w ← 0.0
        y ← 0.0
        add!(w, y, a)
        add!(w, y, b)
    end
    out! += y
    ~@routine
end
";
    let lent = "@i function f!(out!, a, b)
    @routine begin
        w ← 0.0
        y ← 0.0
        w += a
        @routine begin
            w += b
        end
        y += sin(w * 1000.0)
        ~@routine
    end
    out! += y
    ~@routine
end
";
    let (mut refused, mut kept) = (0, 0);
    for n in 0..20 {
        let args = format!("0.0,{:?},{:?}", 1e6 / (f64::from(n) + 0.7), 3e5 / (f64::from(n) + 0.3));
        for source in [early, &in_loop, by_call, lent] {
            let [ends, forgets, undoes] = outcomes("early", source, &args);
            assert_eq!((forgets, undoes), (ends, ends), "{args}\n{source}");
            refused += usize::from(!ends);
        }
        let [ends, forgets, undoes] = outcomes("late", &late, &args);
        assert_eq!((ends, forgets, undoes), (true, true, true), "{args}");
        kept += 1;
    }
    assert!(refused >= 10 && kept == 20, "{refused} stopped");
}

/// Rows of a matrix, as functions are given them, and sums in two loops.
const MATRIX: &str = "@i function rows!(y!, x, n::Int)
    for j = 1:n
        for i = j:n
            y![i] += x[j] * x[i]
        end
    end
end

@i function f!(out!, x::AbstractMatrix)
    @routine begin
        y ← zeros(size(x, 1), size(x, 2))
        s ← zeros(size(x, 2))
        for k = 1:size(x, 2)
            rows!(y[:, k], x[:, k], size(x, 1))
            for j = 1:size(x, 1)
                s[k] += y[j, k]^2
            end
        end
    end
    for k = 1:size(x, 2)
        out! += s[k] / 3
    end
    ~@routine
end
";

fn number() -> impl Strategy<Value = f64> {
    let large = (-3i32..13, any::<u32>(), any::<bool>()).prop_map(|(power, digits, minus)| {
        let x = f64::from(digits) / f64::from(u32::MAX) * 10f64.powi(power);
        if minus { -x } else { x }
    });
    prop_oneof![2 => -2.0..2.0f64, 2 => large, 1 => Just(0.0)]
}

/// Code that forgets comes to an end only where the interpreter does; code that undoes exactly there.
#[test]
fn rests_are_never_larger_than_is_forgotten() {
    let config = Cases { cases: 60, failure_persistence: None, ..Cases::default() };
    let counts = [const { Cell::new(0u32) }; 3];
    let mut runner = TestRunner::new(config);
    let numbers = proptest::collection::vec(number(), 6);
    runner
        .run(&numbers, |x| {
            let list = x.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",");
            let [a, b, c, d, e, f] = x[..] else { unreachable!("six numbers") };
            let calls =
                [(SUM, format!("0.0,[{list}]")), (MATRIX, format!("0.0,[{a:?} {b:?}; {c:?} {d:?}; {e:?} {f:?}]"))];
            for (source, args) in calls {
                let [ends, forgets, undoes] = outcomes("random", source, &args);
                assert!(ends || !forgets, "{args}: forgotten, and the interpreter stops");
                assert_eq!(ends, undoes, "{args}");
                let count = &counts[if !ends {
                    0
                } else if forgets {
                    1
                } else {
                    2
                }];
                count.set(count.get() + 1);
            }
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(counts.iter().all(|n| n.get() >= 5), "{counts:?}");
}

/// Whether the interpreter comes to the end of a run back with gradients, and whether code does that runs forward and back at once.
fn gradients(what: &str, source: &str, args: &str) -> [bool; 2] {
    let (program, code) = program(what, source, &call(args), Rounding::Strict);
    assert!(code.is_some(), "{what}");
    let config = Config { mem: Some(1 << 14), engine: Engine::Interpreter, ..Config::default() };
    let mut machine = Machine::new(&program, &config).expect("a machine");
    let one = 1f64.to_bits();
    assert_eq!(machine.run(None), Outcome::Finished, "{what}");
    machine.set_ad_mode(AdMode::Gradient);
    machine.set_lane_word(GRADIENT, 0, one);
    machine.begin(Direction::Backward);
    let ends = machine.run(None) == Outcome::Finished;
    let mut fused = Machine::new(&program, &config).expect("a machine");
    fused.allow_whole(true);
    [ends, fused.run_forward_and_back(&[(0, one)])]
}

/// What words carry is looked at where it ends, also where it flows to nothing.
#[test]
fn gradient_words_that_are_not_finite_are_seen() {
    let flows = "@i function f!(out!, x, c)
    @routine begin
        u ← 0.0
        u += x * c
    end
    out! += u * c
    ~@routine
end
";
    let ends = "@i function f!(out!, x, c)
    @routine begin
        t ← 0.0
        u ← 0.0
        t += 1e-300
        u += t * c
    end
    out! += u * c
    ~@routine
end
";
    let array = "@i function f!(out!, x, c)
    @routine begin
        t ← zeros(3)
        u ← zeros(3)
        for i = 1:3
            t[i] += i * 1e-300
            u[i] += t[i] * c
        end
    end
    for i = 1:3
        out! += u[i] * c
    end
    ~@routine
end
";
    let nowhere = "@i function product!(y!, a, b)
    y! += a * b
end

@i function f!(out!, x, c)
    @routine begin
        u ← 0.0
        product!(u, 1e-300, c)
    end
    out! += u * c
    ~@routine
end
";
    let quotient = "@i function f!(out!, x, c)
    @routine begin
        u ← 0.0
        if (x > 0, ~)
            u += x / (1 / c)
        end
    end
    out! += u * c
    ~@routine
end
";
    let mut stopped = Vec::new();
    for (name, source) in
        [("flows", flows), ("ends", ends), ("array", array), ("nowhere", nowhere), ("quotient", quotient)]
    {
        assert_eq!(gradients(name, source, "0.0,0.5,3.0"), [true, true], "{name}");
        // The value is finite, and the square of c, with which the gradient is made, is not.
        let [ends, done] = gradients(name, source, "0.0,1e-300,1e160");
        assert_eq!(done, ends, "{name}");
        stopped.extend((!ends).then_some(name));
    }
    // The compiler knows what the others multiply by.
    assert!(stopped.contains(&"flows") && stopped.contains(&"array") && stopped.len() >= 3, "{stopped:?}");
}
