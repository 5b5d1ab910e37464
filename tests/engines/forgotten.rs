//! Sums that compiled code forgets instead of undoing them: it comes to its end exactly where the interpreter does, with the same bits.

use pendula_isa::sample;
use std::cell::Cell;

use pendula::arguments;
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome, RunKind, WholeEnd, WholeProgram as _};
use pendula_codegen::cc::Rounding;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config as Cases, TestRunner};

use super::nil::Call;
use super::whole::{compare, program, programs};

fn call(args: &str) -> Call {
    Call { arguments: arguments::parse(args).expect("arguments"), ..Call::default() }
}

/// Forward in the interpreter, and by C code and Cranelift's, with and without forgetting. Gives whether the interpreter came to its end, whether the
/// code that forgets did, and whether the code that undoes did.
fn outcomes(what: &str, source: &str, args: &str) -> [bool; 3] {
    let both = programs(what, source, &call(args));
    let config = Config { mem: Some(1 << 14), engine: Engine::Interpreter, ..Config::default() };
    let mut machine = Machine::new(&both[0].0, &config).expect("a machine");
    let data = machine.snapshot();
    let ends = machine.run(None) == Outcome::Finished;
    let expected = machine.snapshot();
    let [c, quick] = both.each_ref().map(|(program, code)| {
        let code = code.as_ref().expect("code for whole runs");
        let kind = RunKind::Run(Direction::Forward, AdMode::Plain);
        let top = program.module().data.len();
        let attempt = |attempt| {
            let mut memory: Vec<u64> = (0..1 << 14).map(|at| data.mem.get(at).unwrap_or(0)).collect();
            let end = code.run(kind, attempt, &mut memory, [&mut [], &mut [], &mut []], top, &mut []);
            let ended = matches!(end, WholeEnd::Reached(_));
            if ended && ends {
                let differs = (0..top).find(|at| Some(memory[*at]) != expected.mem.get(*at));
                assert_eq!(differs, None, "{what}, attempt {attempt}");
            }
            ended
        };
        let first = attempt(0);
        // Without limits there is no other code.
        [ends, first, attempt(1.min(code.attempts(kind) - 1))]
    });
    assert_eq!(c, quick, "{what}");
    c
}

/// The arc tangent has a value for every sum.
const SUM: &str = "@i function f!(out!, x::AbstractVector)
    @routine begin
        s ← 0.0
        for i = 1:length(x)
            s += x[i]
        end
    end
    out! += atan(s)
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

/// A sum of exponentials only grows: it is compared once.
#[test]
fn sums_of_exponentials() {
    let source = "@i function f!(out!, x::AbstractVector)
    @routine begin
        s ← 0.0
        for i = 1:length(x)
            s += exp(x[i])
        end
    end
    out! += log(s)
    ~@routine
end
";
    for (args, forgets) in [("0.0,[0.1,0.2,-3.0]", true), ("0.0,[18.0,1.0,2.0]", false), ("0.0,[700.0,-700.0]", false)]
    {
        let [ends, forgotten, undoes] = outcomes("exponentials", source, args);
        assert_eq!((forgotten, undoes), (forgets, ends), "{args}");
        assert!(compare("exponentials", source, &call(args)).whole, "{args}");
    }
    assert_eq!(outcomes("overflow", source, "0.0,[709.5,709.5,1.0]"), [false, false, false]);
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

/// Words that come out exactly, and a sum of what is made of them.
const MIXED: &str = "@i function squares!(y!, x)
    for i = 1:length(x)
        y![i] += x[i] * x[1] - x[i] / 3
    end
end

@i function f!(out!, x::AbstractMatrix)
    @routine begin
        y ← zeros(size(x, 1), size(x, 2))
        d ← 0.0
        s ← 0.0
        d += x[1, 1] / 7
        for k = 1:size(x, 2)
            squares!(y[:, k], x[:, k])
            for j = 1:size(x, 1)
                @routine begin
                    z ← zeros(2)
                    squares!(z, x[:, k])
                end
                s += y[j, k] + d * z[1] / 3
                ~@routine
            end
        end
    end
    out! += s * y[1, 1] / 3
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
    let config = Cases { cases: 40, failure_persistence: None, ..Cases::default() };
    let counts = [const { Cell::new(0u32) }; 3];
    let mut runner = TestRunner::new(config);
    let numbers = proptest::collection::vec(number(), 6);
    runner
        .run(&numbers, |x| {
            let list = x.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",");
            let [a, b, c, d, e, f] = x[..] else { unreachable!("six numbers") };
            let matrix = format!("0.0,[{a:?} {b:?}; {c:?} {d:?}; {e:?} {f:?}]");
            let mixed = format!("0.0,[{a:?} {b:?} {c:?}; {d:?} {e:?} {f:?}]");
            let calls = [(SUM, format!("0.0,[{list}]")), (MATRIX, matrix), (MIXED, mixed)];
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
pub(super) fn gradients(what: &str, source: &str, args: &str) -> [bool; 2] {
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

/// Steps that keep their states in one array, of which functions are given parts: one to read, one to add to.
fn steps(turns: &str, to: &str, from: &str, after: &str) -> String {
    format!(
        "@i function step!(y!::AbstractVector, x, a)
    for i = 1:length(x)
        y![i] += x[i] + a * sin(x[i]) - a * x[i] / 7 + a * cos(2 * x[i]) / 5
    end
end

@i function f!(out!, a, b, n::Int)
    @routine begin
        us ← zeros(3, n + 2)
        vs ← zeros(3, 2)
        # A function with two calls stays one.
        step!(vs[:, 1], vs[:, 2], a)
        for i = 1:3
            us[i, 1] += i * a
            us[i, n + 2] += i * b
        end
        for t = {turns}
            step!(us[:, {to}], us[:, {from}], b)
            {after}
        end
    end
    for i = 1:3
        out! += sin(1e6 * us[i, n + 1]) + us[i, 2] + vs[i, 1]
    end
    ~@routine
end
"
    )
}

/// Layers of networks in time, one upon another: each reads the one before it, and itself a turn ago.
const LAYERS: &str = "@i function layer!(h!::AbstractVector, x, h, w)
    for i = 1:length(x)
        h![i] += tanh(w * x[i] + h[i] / 3) - h[i] / 7 + w * h[i] * x[i] - w * x[i] / 9
    end
end

@i function f!(out!, x::AbstractMatrix, w, l::Int)
    @routine begin
        h ← zeros(size(x, 1), l, size(x, 2) + 1)
        g ← zeros(size(x, 1), l, size(x, 2) + 1)
        for t = 1:size(x, 2)
            layer!(h[:, 1, t + 1], x[:, t], h[:, 1, t], w)
            for k = 2:l
                layer!(h[:, k, t + 1], h[:, k - 1, t + 1], h[:, k, t], w)
            end
            layer!(g[:, 1, t + 1], h[:, l, t + 1], g[:, 1, t], w)
            for k = 2:l
                layer!(g[:, k, t + 1], g[:, k - 1, t + 1], g[:, k, t], w)
            end
        end
    end
    for i = 1:size(x, 1)
        out! += g[i, l, size(x, 2) + 1]
    end
    ~@routine
end
";

/// The functions of C code for a gradient.
fn functions(name: &str, source: &str, args: &str) -> Vec<String> {
    let file = crate::common::folder("forgotten").join(name);
    std::fs::write(&file, source).expect("written");
    let file = file.to_str().expect("UTF-8");
    let (code, text, err) = crate::common::command::run(&["compile", file, "--emit", "c", "--args", args], "");
    assert_eq!(code, 0, "{err}");
    let defined = text.lines().filter(|l| l.starts_with("static int64_t ") && l.ends_with(')'));
    let name = |l: &str| l.split(' ').nth(2).and_then(|l| l.split('(').next()).unwrap_or_default().to_string();
    defined.map(name).collect()
}

/// What a turn reads may lie in the array that it adds to, if no later turn adds to it.
#[test]
fn states_of_steps_are_forgotten() {
    let backwards = steps("n + 1:-1:2", "t", "t + 1", "");
    let two = steps("2:n", "t + 1", "t - 1", "us[1, t + 1] += us[2, t]");
    for (name, source) in sample::some([("on", steps("1:n", "t + 1", "t", "")), ("backwards", backwards), ("two", two)])
    {
        let args = "0.0,0.3,1.7,5";
        let functions = functions(&format!("{name}.nil"), &source, args);
        assert!(functions.iter().any(|f| f == "step_backward_gradient_complete"), "{name}: {functions:?}");
        assert!(!functions.iter().any(|f| f == "step_backward"), "{name}: {functions:?}");
        assert_eq!(outcomes(name, &source, args), [true, true, true], "{name}");
        let ran = compare(name, &source, &call(args));
        assert!(ran.whole && ran.finished, "{name}");
    }
    let functions = functions("layers.nil", LAYERS, "0.0,[0.1 0.2 0.3; 0.4 0.5 0.6],0.5,3");
    assert!(functions.iter().any(|f| f == "layer_backward_gradient_complete"), "{functions:?}");
    assert!(!functions.iter().any(|f| f == "layer_backward"), "{functions:?}");
    for &layers in sample::in_turn(&[1, 2, 3], 2) {
        let args = format!("0.0,[0.1 0.2 0.3; 0.4 0.5 0.6],0.5,{layers}");
        assert_eq!(outcomes("layers", LAYERS, &args), [true, true, true], "{layers} layers");
        let ran = compare("layers", LAYERS, &call(&args));
        assert!(ran.whole && ran.finished, "{layers} layers");
    }
}

/// Steps that keep their states in words of arrays, of which functions are given one by one.
fn steps_of_words(to: &str, from: &str, after: &str) -> String {
    format!(
        "@i function step!(y!, z!, x, w, a)
    @routine begin
        p ← 0.0
        q ← 0.0
        p += x * a
        p += sin(w)
        q += w / 3
        q -= p * x
    end
    y! += x
    y! += p * a - q / 5
    z! += w
    z! += q * a
    z! -= p / 9 + x * a / 7
    z! += cos(x) * p - w * a
    ~@routine
end

@i function f!(out!, a, b, n::Int)
    @routine begin
        us ← zeros(n + 2)
        vs ← zeros(n + 2)
        us[1] += a
        vs[1] += b
        for t = 1:n
            step!(us[{to}], vs[{to}], us[{from}], vs[{from}], b)
            {after}
        end
        # A function with two calls stays one.
        step!(us[n + 2], vs[n + 2], a, b, a)
    end
    out! += sin(1e6 * us[n + 1]) + vs[2] + us[2] * vs[n + 2]
    ~@routine
end
"
    )
}

#[test]
fn states_in_words_are_forgotten() {
    let args = "0.0,0.3,0.7,5";
    let cases = [
        ("words", "t + 1", "t", "", true),
        ("words_more", "t + 1", "t", "us[t + 1] += vs[t]", true),
        // What is added to after it was read is undone: by the next turn, and by the same one.
        ("words_next", "t", "t + 1", "", false),
        ("words_again", "t + 1", "t", "us[t] += a / 3", false),
    ];
    for (name, to, from, after, forgotten) in cases {
        let source = steps_of_words(to, from, after);
        let functions = functions(&format!("{name}.nil"), &source, args);
        assert_eq!(!functions.iter().any(|f| f == "step_backward"), forgotten, "{name}: {functions:?}");
        let ran = compare(name, &source, &call(args));
        assert!(ran.whole && ran.finished, "{name}");
        let [ends, forgets, _] = outcomes(name, &source, args);
        assert!(ends && forgets, "{name}");
    }
}

/// What is added to after it was read is undone, in whatever turn that is.
#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn states_that_are_read_too_early_are_undone() {
    let cases = [
        // A turn reads what the next one adds to.
        ("next", steps("1:n", "t", "t + 1", "")),
        // It adds to what it has read.
        ("again", steps("1:n", "t + 1", "t", "us[2, t] += a / 3")),
        // A turn adds to what all have read.
        ("one", steps("1:n", "t + 1", "1", "us[2, 1] += a / 3")),
    ];
    for (name, source) in cases {
        let functions = functions(&format!("{name}.nil"), &source, "0.0,0.3,1.7,5");
        assert!(functions.iter().any(|f| f == "step_backward"), "{name}: {functions:?}");
        for n in sample::some(0..6) {
            let args = format!("0.0,{:?},{:?},4", 0.3 + f64::from(n), 1.7 - f64::from(n) / 7.0);
            let [ends, forgets, undoes] = outcomes(name, &source, &args);
            assert_eq!((forgets, undoes), (ends, ends), "{name} {args}");
            assert!(compare(name, &source, &call(&args)).whole, "{name} {args}");
        }
    }
}

/// A determinant by minors, of which each is computed in a routine of its own.
const DETERMINANT: &str = "@i function det!(out!, A::AbstractMatrix, n::Int)
    if (n == 1, ~)
        out! += A[1, 1]
    else
        for j = 1:n
            @routine begin
                d ← 0.0
                B ← zeros(n - 1, n - 1)
                for c = 1:n - 1
                    for r = 1:n - 1
                        if (c < j, ~)
                            B[r, c] += A[r + 1, c]
                        else
                            B[r, c] += A[r + 1, c + 1]
                        end
                    end
                end
                det!(d, B, n - 1)
            end
            out! += A[1, j] * d * (3 - 2 * n) / n
            ~@routine
        end
    end
end
";

/// Two functions that call one another.
const MUTUAL: &str = "@i function even!(y!, x::AbstractVector, n::Int)
    @routine begin
        s ← 0.0
        if (n > 0, ~)
            odd!(s, x, n - 1)
        end
    end
    y! += sin(s) + x[n % 3 + 1] * s
    y! += cos(x[1])
    ~@routine
end

@i function odd!(y!, x::AbstractVector, n::Int)
    @routine begin
        s ← 0.0
        w ← zeros(3)
        for i = 1:3
            w[i] += x[i] * n / 7
        end
        even!(s, w, n)
    end
    y! += exp(s / 9)
    ~@routine
end

@i function f!(out!, x::AbstractVector, n::Int)
    even!(out!, x, n)
end
";

/// A routine of a function that calls itself is not undone in each of its calls.
#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn routines_with_calls_of_the_function_itself_are_forgotten() {
    let matrix = "0.0,[0.5 0.2 0.1 0.7; 0.3 0.8 0.4 0.6; 0.9 0.1 0.2 0.4; 0.7 0.5 0.3 0.2]";
    let cases = [("det", DETERMINANT, format!("{matrix},4")), ("even", MUTUAL, "0.0,[0.5,1.5,0.25],5".to_string())];
    for (name, source, args) in cases {
        let functions = functions(&format!("{name}.nil"), source, &args);
        assert!(functions.iter().any(|f| *f == format!("{name}_backward_gradient_complete")), "{functions:?}");
        assert_eq!(outcomes(name, source, &args), [true, true, true], "{name}");
        let ran = compare(name, source, &call(&args));
        assert!(ran.whole && ran.finished, "{name}");
        assert_eq!(gradients(name, source, &args), [true, true], "{name}");
    }
    // Minors that are too large to be forgotten.
    let args = "0.0,[1e5 2e5 3e5; 4e5 5e5 7e5; 3e5 1e5 9e5],3";
    let [ends, forgets, undoes] = outcomes("large", DETERMINANT, args);
    assert_eq!((forgets, undoes), (false, ends), "{args}");
    assert!(compare("large", DETERMINANT, &call(args)).whole);
}
