//! Code for whole runs that comes while a run is under way: wherever that is, the run ends as it does without it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pendula::arguments::parse;
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::isa::types::Ty;
use pendula::native::NativeProgram;
use pendula::vm::gradient::{self, Cell, Variable, one};
use pendula::vm::{AdMode, Config, Engine, EngineCounts, Machine, Outcome, Program, RunKind, WholeEnd, WholeProgram};
use pendula_codegen::cc::Rounding;

use super::nil::Call;
use super::whole::program;

/// Code that is there once runs without it have been looked at so many times.
struct Late {
    code: Arc<NativeProgram>,
    left: AtomicUsize,
    /// How many runs by it are left for better code before one ends.
    again: AtomicUsize,
}

impl Late {
    fn new(code: &Arc<NativeProgram>, left: usize, again: usize) -> Arc<Late> {
        Arc::new(Late { code: code.clone(), left: AtomicUsize::new(left), again: AtomicUsize::new(again) })
    }
}

impl WholeProgram for Late {
    fn has(&self, kind: RunKind) -> bool {
        self.left.load(Ordering::Relaxed) == 0 && self.code.has(kind)
    }

    fn may_come(&self, _: RunKind) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    fn spent(&self, _: RunKind, _: Duration) {
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    }

    fn changes(&self) -> &[Range<usize>] {
        self.code.changes()
    }

    fn carries(&self) -> &[Range<usize>] {
        self.code.carries()
    }

    fn carries_in(&self, kind: RunKind) -> &[Range<usize>] {
        self.code.carries_in(kind)
    }

    fn arguments(&self) -> &[Range<usize>] {
        self.code.arguments()
    }

    fn unchecked(&self) -> &[Range<usize>] {
        self.code.unchecked()
    }

    fn keeps(&self, kind: RunKind) -> bool {
        self.code.keeps(kind)
    }

    fn is_deep(&self, kind: RunKind) -> bool {
        self.code.is_deep(kind)
    }

    fn stop_keeping(&self, kind: RunKind) {
        self.code.stop_keeping(kind);
    }

    fn attempts(&self, kind: RunKind) -> usize {
        self.code.attempts(kind)
    }

    fn run(
        &self,
        kind: RunKind,
        attempt: usize,
        memory: &mut [u64],
        lanes: [&mut [u64]; 3],
        top: usize,
        midpoint: &mut [u64],
    ) -> WholeEnd {
        let end = self.code.run(kind, attempt, memory, lanes, top, midpoint);
        let again = self.again.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |again| again.checked_sub(1));
        if again.is_ok() { WholeEnd::Again } else { end }
    }
}

/// A program of some hundred thousand instructions: sums of doubles and integers, an array, a computation that is undone.
const SWING: &str = "@i function swing!(energy!, q!, p!, n!, path!, dt, steps::Int)
    for k = 1:steps
        @routine begin
            force ← 0.0
            force += sin(q!)
        end
        p! -= force * dt
        ~@routine
        q! += p! * dt
        n! += 3
        path![1 + k % 4] += q!
    end
    energy! += p! * p!
    energy! -= cos(q!)
end
";

fn call(args: &str) -> Call {
    Call { arguments: parse(args).expect("arguments"), ..Call::default() }
}

/// The values and what they carry, the flags, the position, and how it ran.
fn state(machine: &Machine<'_>) -> (u128, String, Option<u32>, Direction) {
    (machine.digest(), format!("{:?}", machine.flags()), machine.pc(), machine.direction())
}

/// A machine that may run the program by late code, in one go or in parts.
fn machine(program: &Program) -> Machine<'_> {
    let config = Config { mem: Some(1 << 14), engine: Engine::Interpreter, ..Config::default() };
    let mut machine = Machine::new(program, &config).expect("a machine");
    machine.allow_whole(true);
    machine
}

/// Runs to the end; looks at code for the whole run after every 50,000 instructions.
fn in_parts(machine: &mut Machine<'_>) -> Outcome {
    loop {
        match machine.run_part(50_000) {
            Outcome::Limit => {}
            outcome => return outcome,
        }
    }
}

const ARGS: &str = "0.0,1.0,0.0,0,[0.0,0.0,0.0,0.0],0.001,30000";

#[test]
fn a_run_that_begins_again_ends_the_same() {
    let (mut program, code) = program("swing", SWING, &call(ARGS), Rounding::Strict);
    let code = code.expect("C");
    let mut expected = None;
    // Without code, with code that comes after so many looks, and with code that is there.
    for (looks, parts) in [(1000, false), (1000, true), (1, false), (1, true), (2, true), (6, true), (0, false)] {
        program.set_whole(Late::new(&code, looks, 0));
        let mut m = machine(&program);
        let mut states = Vec::new();
        let go = |m: &mut Machine<'_>| if parts { in_parts(m) } else { m.run(None) };
        for direction in [Direction::Forward, Direction::Backward] {
            m.begin(direction);
            assert_eq!(go(&mut m), Outcome::Finished);
            states.push(state(&m));
        }
        if (1..1000).contains(&looks) {
            // Nothing is counted of what was thrown away.
            let ran = EngineCounts { whole: 2, ..EngineCounts::default() };
            assert_eq!((m.executed(), m.engine_counts()), (0, ran), "after {looks} looks");
        }
        if looks == 1000 {
            assert!(m.executed() > 600_000, "the program is too short: {} instructions", m.executed());
        }
        let states = states.into_iter().map(|(digest, _, pc, direction)| (digest, pc, direction)).collect::<Vec<_>>();
        assert_eq!(*expected.get_or_insert_with(|| states.clone()), states, "after {looks} looks, in parts: {parts}");
    }
}

#[test]
fn a_gradient_that_begins_again_is_the_same() {
    let (mut program, code) = program("swing", SWING, &call(ARGS), Rounding::Strict);
    let code = code.expect("C");
    let mut expected = None;
    for looks in [1000, 1, 2, 5, 9, 12, 15, 18, 0] {
        program.set_whole(Late::new(&code, looks, 0));
        let mut m = machine(&program);
        let loss = Variable { cell: Cell::Word(0), ty: Ty::F };
        let (mut legs, seed) = (0, one(m.env(), Ty::F));
        let value = gradient::run_forward_and_back(&mut m, loss, seed, &mut |m| {
            legs += 1;
            match in_parts(m) {
                Outcome::Finished => Ok(()),
                other => Err(other),
            }
        });
        // The data is as it was, but where other code leaves what rounding left of it.
        let carried: Vec<u64> = (0..m.program().module().data.len()).map(|at| m.lane_word(GRADIENT, at)).collect();
        let found = (value, carried, m.ad_mode(), m.pc(), m.direction());
        assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "after {looks} looks");
        let whole = u64::from(looks < 1000);
        assert_eq!(m.engine_counts().whole, whole, "after {looks} looks, {legs} runs by the interpreter");
        assert!(looks == 0 || legs > 0);
        assert_ne!(m.lane_word(GRADIENT, 1), 0);
    }
}

/// A run by code that is left for better code begins with what it began with.
#[test]
fn runs_that_are_left_begin_again() {
    let (mut program, code) = program("swing", SWING, &call(ARGS), Rounding::Strict);
    let code = code.expect("C");
    let mut expected = None;
    for again in [0, 1, 3] {
        program.set_whole(Late::new(&code, 0, again));
        let mut m = machine(&program);
        let mut states = Vec::new();
        for direction in [Direction::Forward, Direction::Backward] {
            m.begin(direction);
            assert_eq!(m.run(None), Outcome::Finished);
            states.push(state(&m));
        }
        program.set_whole(Late::new(&code, 0, again));
        let mut m = machine(&program);
        assert!(m.run_forward_and_back(&[(0, 1f64.to_bits())]));
        let carried: Vec<u64> = (0..8).map(|at| m.lane_word(GRADIENT, at)).collect();
        let found = (states, state(&m), carried, m.engine_counts());
        assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "left {again} times");
    }
}

/// Code by Cranelift can be left in any turn of an outer loop, by name, and only where it is asked to be.
#[test]
fn code_by_cranelift_is_left_for_better_code() {
    use pendula::compiler::c::{Certify, Mode, Settings, form};
    use pendula::compiler::compile::{Options, compile, for_c};
    use pendula_codegen::whole::{End, leave, runs};

    let source = "@i function f!(y!::Int, n::Int)
    for i = 1:n
        for k = 1:1000
            y! ⊻= i + k
        end
    end
end
";
    let end_of = |turns: &str, others_are_left: bool| {
        let Call { arguments, .. } = call(&format!("0,{turns}"));
        let compiled = compile("f.nil", source.to_string(), &Options { arguments, ..Options::default() });
        let ir = for_c(compiled.source.expect("a program"), compiled.switches);
        let modes = [Mode::Run(Direction::Forward, AdMode::Plain)];
        let settings = Settings { fast: false, certify: Certify::Everything, keep: true, switches: compiled.switches };
        let (form, _) = form(&ir, &compiled.arguments, &modes, settings).expect("a loop form");
        let code = pendula::vm::compile_whole(&form).expect("code");
        let module = compiled.module.expect("a module");
        let mut memory: Vec<u64> = module.data.iter().chain([0; 1000]).collect();
        let top = module.data.len();
        std::thread::scope(|scope| {
            let run = scope.spawn(|| code.run(&mut memory, [&mut [], &mut [], &mut []], top, &mut []));
            while !run.is_finished() {
                if runs(code.id()) {
                    leave(if others_are_left { code.id() + 1 } else { code.id() });
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            run.join().expect("no panic")
        })
    };
    // Years.
    assert_eq!(end_of("1000000000000000", false), End::Left);
    assert_eq!(end_of("20000", true), End::Reached);
}

/// Where the code gives up, the run begins again with the engine, and stops where it would have.
#[test]
fn a_run_that_traps_traps_the_same() {
    let text = SWING.replace("energy! += p! * p!", "energy! += p! * p!\n    energy! += log(n! - 90000)");
    let (mut program, code) = program("swing", &text, &call(ARGS), Rounding::Strict);
    let code = code.expect("C");
    let mut expected = None;
    for looks in [1000, 1, 3] {
        program.set_whole(Late::new(&code, looks, 0));
        let mut m = machine(&program);
        let outcome = in_parts(&mut m);
        assert!(matches!(outcome, Outcome::Trap(_)), "{outcome:?}");
        let found = (outcome, state(&m), m.executed(), m.counts().blocks, m.engine_counts());
        assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "after {looks} looks");
    }
}

/// A run whose state is changed from outside in the middle does not begin again.
#[test]
fn a_run_that_is_changed_goes_on() {
    let (mut program, code) = program("swing", SWING, &call(ARGS), Rounding::Strict);
    let code = code.expect("C");
    let mut expected = None;
    for looks in [1000, 4] {
        program.set_whole(Late::new(&code, looks, 0));
        let mut m = machine(&program);
        assert_eq!(m.run_part(150_000), Outcome::Limit);
        m.set_lane_word(0, 0, 0.5f64.to_bits());
        assert_eq!(m.run(None), Outcome::Finished);
        let found = (state(&m), m.engine_counts().whole);
        assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "after {looks} looks");
        m.set_ad_mode(AdMode::Plain);
    }
}
