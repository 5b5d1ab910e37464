//! Whole runs compiled to C, and by Cranelift: the examples and the workloads in Nil end in the same state as in the interpreter, with the same gradient
//! words, and trap where the interpreter does.

use std::sync::Arc;

use pendula::compiler::c::{Certify, Mode, Settings, Source, write};
use pendula::compiler::compile::{Options, compile, for_c};
use pendula::compiler::ir;
use pendula::compiler::lower::Argument;
use pendula::compiler::passes::Switches;
use pendula::isa::adjoint::{ActiveArguments, GRADIENT, LANES};
use pendula::isa::counts::Direction;
use pendula::isa::num::convert::to_f64;
use pendula::isa::types::Ty;
use pendula::native::{NativeError, NativeProgram, When};
use pendula::values::{self, Location};
use pendula::vm::gradient::one;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome, Program, RunKind, Snapshot, WholeProgram};
use pendula_codegen::cc::Rounding;
use pendula_isa::sample;

use crate::common::c_compiler;

use super::nil::{Call, example_calls, workload_calls};

/// How a run went: whether C code ran it, and whether it came to its end.
pub(super) struct Ran {
    pub(super) whole: bool,
    pub(super) finished: bool,
}

/// The ways in which code for whole runs is made at once.
const MAKERS: [When; 2] = [When::AtOnce, When::AtOnceWithoutC];

/// A program, and its code for whole runs if it has any.
type Coded = (Program, Option<Arc<NativeProgram>>);

/// A program, and its C code for whole runs if it has any.
pub(super) fn program(what: &str, source: &str, call: &Call, how: Rounding) -> Coded {
    let [coded] = coded(what, source, call, how, [When::AtOnce]);
    coded
}

/// A program with C code for whole runs, and with Cranelift's: both or neither.
pub(super) fn programs(what: &str, source: &str, call: &Call) -> [Coded; 2] {
    let both = coded(what, source, call, Rounding::Strict, MAKERS);
    assert_eq!(both[0].1.is_some(), both[1].1.is_some(), "{what}");
    both
}

fn coded<const N: usize>(what: &str, source: &str, call: &Call, how: Rounding, makers: [When; N]) -> [Coded; N] {
    c_compiler();
    let Call { arguments, types, entry, extensions } = call.clone();
    let options = Options { arguments, types, entry, extensions, ..Options::default() };
    let compiled = compile(what, source.to_string(), &options);
    let module = compiled.module.unwrap_or_else(|| panic!("{what}: {:#?}", compiled.diagnostics));
    let native = compiled.source.expect("a program");
    makers.map(|when| {
        let mut program = Program::new(module.clone(), true).unwrap_or_else(|e| panic!("{what}: {e}"));
        match NativeProgram::new(native.clone(), compiled.arguments.clone(), how, compiled.switches, when) {
            Ok(code) => {
                let code = Arc::new(code);
                program.set_whole(code.clone());
                (program, Some(code))
            }
            Err(NativeError::Refused(_)) => (program, None),
            Err(error) => panic!("{what}, {when:?}: {error}"),
        }
    })
}

/// The interpreter, and machines that run each code as a whole.
fn machines(both: &[Coded; 2]) -> [Machine<'_>; 3] {
    let words = both[0].0.module().data.len();
    let config = Config { mem: Some(words as u64 + 16_384), engine: Engine::Interpreter, ..Config::default() };
    [(0, false), (0, true), (1, true)].map(|(at, whole)| {
        let mut machine = Machine::new(&both[at].0, &config).expect("a machine");
        machine.allow_whole(whole);
        machine
    })
}

/// All machines take a step, to the same end as the interpreter, which is the first. Gives whether that is the program's.
fn step(machines: &mut [Machine<'_>; 3], words: usize, step: &str) -> bool {
    let outcomes = machines.each_mut().map(|m| m.run(None));
    let carried = |m: &Machine<'_>| {
        let lanes = m.ad_mode().lanes().iter();
        lanes.flat_map(|l| (0..words).map(move |at| (*l, at))).map(|(l, at)| m.lane_word(l, at)).collect::<Vec<_>>()
    };
    let [interpreter, others @ ..] = &*machines;
    let expected = carried(interpreter);
    for (n, other) in others.iter().enumerate() {
        let what = format!("{step}, {:?}", MAKERS[n]);
        assert_eq!(outcomes[n + 1], outcomes[0], "{what}");
        assert_eq!(other.registers(), interpreter.registers(), "{what}");
        let differs = interpreter.memory().iter().zip(other.memory()).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{what}: memory");
        let found = carried(other);
        let differs = expected.iter().zip(&found).find(|(a, b)| a != b);
        assert_eq!(differs.map(|(a, b)| (f64::from_bits(*a), f64::from_bits(*b))), None, "{what}: carried words");
    }
    outcomes[0] == Outcome::Finished
}

/// Forward, back, and back with gradients; what C code did. Cranelift's does the same.
pub(super) fn compare(what: &str, source: &str, call: &Call) -> Ran {
    let both = programs(what, source, call);
    let words = both[0].0.module().data.len();
    let whole = both[0].1.is_some();
    let mut each = machines(&both);
    let start = each[0].snapshot();
    let mut finished = step(&mut each, words, &format!("{what}, forward"));
    if finished {
        if whole {
            // Whole runs count nothing.
            each[1..].iter().for_each(|m| assert_eq!(m.executed(), 0, "{what}: not run by its code"));
        }
        let end = each[0].snapshot();
        each.iter_mut().for_each(|m| m.begin(Direction::Backward));
        finished &= step(&mut each, words, &format!("{what}, backward"));
        for ad_mode in [AdMode::Gradient, AdMode::SecondGradient] {
            for m in &mut each {
                m.restore(&end);
                m.set_ad_mode(ad_mode);
                let unit = one(m.env(), Ty::F);
                for &lane in ad_mode.lanes() {
                    for at in (0..words.min(64)).step_by(lane) {
                        m.set_lane_word(lane, at, unit);
                    }
                }
                m.begin(Direction::Backward);
            }
            finished &= step(&mut each, words, &format!("{what}, {ad_mode:?}"));
        }
        if finished && whole {
            // The second time after one of its kind, which leaves gradient words.
            run_forward_and_back(&mut machines(&both), &start, &both, what);
        }
    }
    Ran { whole, finished }
}

/// Forward and back with gradients at once is as one run after the other, for a call of a program.
pub(super) fn compare_there_and_back(what: &str, source: &str, call: &Call) {
    let both = programs(what, source, call);
    assert!(both[0].1.is_some(), "{what}: no code");
    let mut each = machines(&both);
    let start = each[0].snapshot();
    run_forward_and_back(&mut each, &start, &both, what);
}

/// Forward and back with gradients at once, twice, is as one run after the other in the interpreter, which is the first machine.
fn run_forward_and_back(machines: &mut [Machine<'_>; 3], start: &Snapshot, both: &[Coded; 2], what: &str) {
    let [plain, others @ ..] = machines;
    let mut seeds: Vec<(usize, u64)> = Vec::new();
    for place in values::marked(plain.program().module(), |_, _| true) {
        if let (Some(ty), Location::Memory { start, len, .. }) = (place.ty.gradient(), place.at) {
            seeds.extend((start..start + len.min(40)).map(|at| (at as usize, one(plain.env(), ty))));
        }
    }
    plain.restore(start);
    plain.set_ad_mode(AdMode::Plain);
    plain.begin(Direction::Forward);
    assert_eq!(plain.run(None), Outcome::Finished, "{what}");
    let between = plain.snapshot();
    plain.set_ad_mode(AdMode::Gradient);
    (1..LANES).for_each(|lane| plain.clear_lane(lane));
    seeds.iter().for_each(|(at, word)| plain.set_lane_word(GRADIENT, *at, *word));
    plain.begin(Direction::Backward);
    assert_eq!(plain.run(None), Outcome::Finished, "{what}");
    for (n, fused) in others.iter_mut().enumerate() {
        let code = both[n].1.as_ref().expect("code");
        if !code.has(RunKind::ForwardAndBack(ActiveArguments::ALL)) {
            // More operations than Cranelift gets.
            assert!(
                what.starts_with("planets.nil") && MAKERS[n] == When::AtOnceWithoutC,
                "{what}, {:?}: no code",
                MAKERS[n]
            );
            continue;
        }
        let carries = code.carries();
        assert!(seeds.iter().all(|(at, _)| carries.iter().any(|r| r.contains(at))), "{what}");
        fused.restore(start);
        for times in [1, 2] {
            let what = format!("{what}, there and back, {:?}, time {times}", MAKERS[n]);
            assert!(fused.run_forward_and_back(&seeds), "{what}: not done");
            same_after_both_ways(plain, fused, [start, &between], &what);
        }
    }
}

/// The one is where the other is, with the same gradient words, but with the data as at the start to the bit, where the other may have drifted.
fn same_after_both_ways(plain: &Machine<'_>, fused: &Machine<'_>, [start, between]: [&Snapshot; 2], what: &str) {
    assert_eq!((plain.registers(), plain.pc(), plain.direction()), (fused.registers(), fused.pc(), fused.direction()));
    assert_eq!(fused.ad_mode(), AdMode::Gradient);
    for at in 0..plain.memory().len() {
        let [now, before] = [fused.memory()[at], start.mem.get(at).unwrap_or(0)];
        assert_eq!(now, before, "{what}: word {at}");
        let [a, b] = [plain, fused].map(|m| m.lane_word(GRADIENT, at));
        assert_eq!(a, b, "{what}: word {at} carries {}, not {}", f64::from_bits(b), f64::from_bits(a));
    }
    for (at, word) in between.mem.iter().enumerate().take(plain.program().module().data.len()) {
        assert_eq!(fused.midpoint_word(at), word, "{what}: word {at} where it turned round");
    }
}

#[test]
fn examples() {
    let (mut runs, mut whole, mut finished) = (0, 0, 0);
    for (name, source, calls) in sample::some(example_calls()) {
        // The C compiler takes a second for each.
        for (n, call) in sample::in_turn(&calls, 0).iter().enumerate() {
            let ran = compare(&format!("{name}, call {n}"), &source, call);
            runs += 1;
            whole += usize::from(ran.whole);
            finished += usize::from(ran.finished);
        }
    }
    assert!(whole * 4 >= runs * 3 && finished * 4 >= runs * 3, "{runs} calls, {whole} in C, {finished} finished");
}

#[test]
fn workloads() {
    for (name, source, call) in sample::some(workload_calls()) {
        let ran = compare(&format!("workload {name}"), &source, &call);
        assert!(ran.whole && ran.finished, "{name}");
    }
}

/// Where rounding may be forgotten: gradients forward and back at once are those of the interpreter but for rounding, and the start is
/// brought back to the bit. Gives whether it could be run so.
pub(super) fn without_regard_to_rounding(what: &str, source: &str, call: &Call) -> bool {
    let (program, Some(_)) = program(what, source, call, Rounding::Fast) else { return false };
    let words = program.module().data.len();
    let config = Config { mem: Some(words as u64 + 16_384), engine: Engine::Interpreter, ..Config::default() };
    let mut plain = Machine::new(&program, &config).expect("a machine");
    let mut fused = Machine::new(&program, &config).expect("a machine");
    fused.allow_whole(true);
    let start = plain.snapshot();
    if plain.run(None) != Outcome::Finished {
        return false;
    }
    let between = plain.snapshot();
    let near = |a: u64, b: u64, ty: Ty| {
        let [x, y] = [a, b].map(|w| to_f64(plain.env(), ty, w));
        a == b || (x - y).abs() <= 1e-8 * (1.0 + x.abs().max(y.abs()))
    };
    let mut back = Machine::new(&program, &config).expect("a machine");
    for place in values::marked(program.module(), |_, export| export) {
        let (Some(carried), Location::Memory { start: at, .. }) = (place.ty.gradient(), place.at) else { continue };
        let seed = (at as usize, one(plain.env(), carried));
        back.restore(&between);
        (1..LANES).for_each(|lane| back.clear_lane(lane));
        back.set_ad_mode(AdMode::Gradient);
        back.set_lane_word(GRADIENT, seed.0, seed.1);
        back.begin(Direction::Backward);
        if back.run(None) != Outcome::Finished {
            return false;
        }
        if !fused.run_forward_and_back(&[seed]) {
            return false;
        }
        assert_eq!(fused.snapshot(), start, "{what}: the start");
        for place in values::marked(program.module(), |_, _| true) {
            let Location::Memory { start: at, len, .. } = place.at else { continue };
            for at in at as usize..(at + len) as usize {
                let (found, wanted) = (fused.midpoint_word(at), between.mem.get(at).unwrap_or(0));
                assert!(near(found, wanted, place.ty), "{what}: {} at {at} is {found:#x}, not {wanted:#x}", place.name);
                let [found, wanted] = [&fused, &back].map(|m| m.lane_word(GRADIENT, at));
                let ty = place.ty.gradient().unwrap_or(Ty::Int);
                assert!(near(found, wanted, ty), "{what}: {} at {at} carries {found:#x}, not {wanted:#x}", place.name);
            }
        }
    }
    true
}

#[test]
fn all_without_regard_to_rounding() {
    let (mut runs, mut done) = (0, 0);
    for (name, source, calls) in sample::some(example_calls()) {
        // The C compiler takes a second for each.
        for (n, call) in sample::in_turn(&calls, 0).iter().enumerate() {
            runs += 1;
            done += usize::from(without_regard_to_rounding(&format!("{name}, call {n}"), &source, call));
        }
    }
    assert!(done * 4 >= runs * 3, "{done} of {runs} calls");
    for (name, source, call) in sample::some(workload_calls()) {
        assert!(without_regard_to_rounding(&format!("workload {name}"), &source, &call), "{name}");
    }
}

/// What turns of a loop call with arguments that change there, if only by a sum of blocks of turns, and loops whose bound has no value.
#[test]
fn functions_in_loops() {
    let sums = "
        @i function f(y!::Float64, x::Vector{Float64}, n::Int)
            s ← 0.0
            for k = 1:n
                @simd for i = 1:length(x)
                    s += x[i]
                end
                y! += sin(s) + cos(x[1])
            end
            for k = n:-1:1
                @simd for i = length(x):-1:1
                    s -= x[i]
                end
            end
            s → 0.0
        end";
    let bound = "
        @i function f(y!::Int, z!::Float64, x::Float64, n::Int)
            for k = 1:n
                z! += sin(x * k)
                @routine begin
                    m ← 0
                    m += floor(Int, x * ifelse(k == 3, 1e300, 1.0))
                end
                for j = 1:m
                    y! += j ⊻ k
                end
                ~@routine
            end
        end";
    for (source, args, finishes) in
        [(sums, "0.0,[0.1,0.2,0.3],40", true), (bound, "0,0.0,1.5,2", true), (bound, "0,0.0,1.5,5", false)]
    {
        let call = Call { arguments: pendula::arguments::parse(args).expect("arguments"), ..Call::default() };
        assert_eq!(compare(args, source, &call).finished, finishes, "{args}");
    }
}

/// A variable, or a word of an array, that a function is given several times, and words that may be the same: what flows to each is added up in one
/// order.
/// Sums in loops that are not finite in between, or at the end, stop the run where they are made; those that others look at in the loop do, too.
#[test]
fn sums_that_are_not_finite() {
    let sums = "
        @i function f(y!::Float64, w!::Vector{Float64}, x::Vector{Float64})
            for i = 1:length(x)
                w![1] += x[i]
            end
            @routine begin
                s ← 0.0
                for i = 1:length(x)
                    s += x[i] * w![2]
                end
            end
            y! += s * 1e-300
            ~@routine
            for i = length(x):-1:1
                y! -= x[i] * w![3]
                w![4] += y! * w![5]
            end
        end";
    let cases = [
        ("0.0,0.0,0.0,0.0,0.0", 1e308, false),
        ("0.0,0.0,0.5,0.0,0.25", 1e3, true),
        ("-1e308,1.0,0.0,0.0,0.0", 1e308, false),
        ("-1e308,0.0,1.0,0.0,0.0", 1e308, false),
        ("-1e308,0.0,0.5,0.0,1e3", 1e308, false),
    ];
    for (w, x, finishes) in cases {
        let args = format!("0.0,[{w}],[{x:e},{x:e},-{x:e},-{x:e},1.0]");
        let call = Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() };
        assert_eq!(compare(&args, sums, &call).finished, finishes, "{args}");
    }
}

/// Results that are only added to are looked at in the end: what is not finite in between stays so. Functions that are called add to them, too, and
/// some are read once they are complete.
#[test]
fn results_that_are_not_finite() {
    let adds = "
        @i function square!(y!::Float64, x::Float64)
            y! += x * x
        end
        @i function squares!(w!::Vector{Float64}, x::Vector{Float64})
            for i = 1:length(x)
                w![i] += x[i]^2
            end
        end
        @i function f(y!::Float64, w!::Vector{Float64}, z!::Float64, total!::Float64, x::Vector{Float64}, k::Int)
            for i = 1:length(x)
                @routine begin
                    s ← 0.0
                    s += x[i] * 2
                end
                w![k] += s
                ~@routine
            end
            squares!(w!, x)
            square!(y!, x[1])
            y! -= x[2] * 3
            for i = 1:length(x)
                total! += x[i]
            end
            z! += sqrt(abs(total!))
        end";
    let cases = [
        ("1.0,2.0,3.0", true),
        ("1e200,2.0,3.0", false),
        ("1.0,2.0,1e200", false),
        ("1.0,1e308,3.0", false),
        ("1e-300,1e150,-1e150", true),
        ("8e307,8e307,-8e307", false),
    ];
    for (x, finishes) in cases {
        let args = format!("0.0,[0.0,0.25,0.5],0.0,0.0,[{x}],2");
        let call = Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() };
        let ran = compare(&args, adds, &call);
        assert_eq!((ran.whole, ran.finished), (true, finishes), "{args}");
    }
}

#[test]
fn arguments_that_are_given_several_times() {
    let lines = "    y! += sin(u * 0.7) * v\n    y! -= cos(v) * w\n    y! += w / (2.5 + u)\n".repeat(12);
    let calls = [
        ("h!(y!, a, a, a, x)", 0),
        ("h!(y!, z[1], z[1], z[1], x)", 0),
        ("h!(y!, z[k], z[n - k + 1], z[k], x)", 1),
        ("~h!(y!, z[k + 1], z[k], z[2], x)", 0),
    ];
    for (body, n) in calls {
        let source = format!(
            "@i function h!(y!::Float64, u::Float64, v::Float64, w::Float64, x::Vector{{Float64}})
{lines}    for k = 1:length(x)
        y! += x[k] * u
    end
end
@i function f(y!::Float64, a::Float64, x::Vector{{Float64}}, z::Vector{{Float64}}, n::Int)
    for k = 1:n
        {body}
    end
end
"
        );
        let args = ["0.0,1.3,[0.1,3.3],[0.7,0.1,0.2,0.3],3", "0.1,0.7,[0.3,0.2],[0.45,-0.9,1.7],2"];
        for args in sample::in_turn(&args, n) {
            let arguments = pendula::arguments::parse(args).expect("arguments");
            let call = Call { arguments, entry: Some("f".into()), ..Call::default() };
            let ran = compare(&format!("{body} {args}"), &source, &call);
            assert!(ran.whole && ran.finished, "{body} {args}");
        }
    }
}

/// Variables may be named as what C has of its own.
#[test]
fn names_that_mean_something_in_c() {
    let source = "
        @i function f(y!::Float64, watch::Float64, room::Float64, begin_0::Float64, vector::Vector{Float64}, nth::Float64)
            @simd for i = 1:length(vector)
                y! += vector[i] * nth
            end
            for watched = 1:length(vector)
                y! += watch * vector[watched] + room * begin_0
            end
        end";
    let arguments = pendula::arguments::parse("0.0,1.5,2.0,3.0,[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0],0.5");
    let call = Call { arguments: arguments.expect("arguments"), ..Call::default() };
    compare_there_and_back("names", source, &call);
}

/// The C code that runs a program forward and back, with all that it may forget and keep.
pub(super) fn there_and_back_in_c(source: &str, call: &Call) -> Source {
    let (ir, arguments, switches) = form_for_c(source, call);
    let settings = Settings { fast: false, certify: Certify::Everything, keep: true, switches };
    write(&ir, &arguments, &[Mode::ForwardAndBack(ActiveArguments::ALL)], settings).expect("C")
}

/// A program as it is written in C, its arguments, and what the compiler is to do.
pub(super) fn form_for_c(source: &str, call: &Call) -> (ir::Program, Vec<Argument>, Switches) {
    let options = Options { arguments: call.arguments.clone(), ..Options::default() };
    let compiled = compile("there and back", source.to_string(), &options);
    (for_c(compiled.source.expect("a program"), compiled.switches), compiled.arguments, compiled.switches)
}
