//! Proofs: what the table says is undone, what is wrong is refuted, and what stands for kernels and operations as terms is what the machine computes.
//!
//! They need a solver, z3 or cvc5. Without one they pass, unless `PENDULA_REQUIRE_SOLVER` is set.

use std::marker::PhantomData;
use std::time::Duration;

use easy_smt::{Response, SExpr};
use pendula_hw_model::circuit::Choice;
use pendula_hw_model::instruction::{Direction, InstructionCircuit, Sizes};
use pendula_isa::arith::Arith;
use pendula_isa::circuit::{Circuit, Role};
use pendula_isa::domain::Domain;
use pendula_isa::inst::Kind;
use pendula_isa::kernels::{Kernel, fixed, int, log};
use pendula_isa::mnemonic::lookup;
use pendula_isa::sample::{Source, in_turn, share, some, word};
use pendula_isa::scalar::ScalarDomain;
use pendula_isa::table::{Instruction, RowInfo, Variant, instruction};
use pendula_isa::types::{Cond, Ty};
use pendula_isa::{Env, Fault};
use pendula_prove::cases::cases;
use pendula_prove::control::{self, Pair};
use pendula_prove::kernels::DEFINED;
use pendula_prove::rows::{Body, RowBody};
use pendula_prove::run::{Job, run};
use pendula_prove::solver::Solver;
use pendula_prove::terms::Terms;
use pendula_prove::{Prover, Settings, Verdict, straight};

/// The solvers that are installed; `None`, with a word of it, if none is and none must be.
fn solvers() -> Option<Vec<Solver>> {
    let installed: Vec<Solver> = Solver::ALL.into_iter().filter(|s| s.version().is_ok()).collect();
    if installed.is_empty() {
        assert!(std::env::var_os("PENDULA_REQUIRE_SOLVER").is_none(), "no solver is installed");
        eprintln!("no solver is installed: nothing is proved");
        return None;
    }
    Some(installed)
}

fn settings(solver: Solver, width: u32) -> Settings {
    Settings { solver, width, frac: width / 2, limit: Duration::from_secs(60), scripts: None }
}

#[test]
fn everything_is_undone_at_8_bits() {
    let Some(solvers) = solvers() else { return };
    let jobs: Vec<Job> = some(straight()).map(Job::Undone).collect();
    let findings = run(&settings(solvers[0], 8), &solvers, &jobs, |_| true).expect("a solver that works");
    let mut proved = 0;
    for finding in &findings {
        match &finding.verdict {
            Verdict::Proved => proved += 1,
            Verdict::NotClaimed(why) => {
                assert!(["round", "destroys", "of a part"].iter().any(|w| why.contains(w)), "{finding:?}")
            }
            Verdict::Undecided | Verdict::Refuted(_) => panic!("{finding:?}"),
        }
    }
    assert!(proved >= share(200) && findings.len() - proved <= share(160), "{proved} of {}", findings.len());
}

/// Rows that someone might write, of which each is wrong somewhere.
macro_rules! wrong {
    ($($Name:ident of $Row:ident |$d:ident| $run:block undo $undo:block)*) => {
        $(
            #[derive(Clone, Copy, Debug)]
            struct $Name;
            impl Instruction for $Name {
                const INFO: RowInfo = instruction::$Row::INFO;
                fn run<D: Domain>($d: &mut D, _: Variant) -> Result<(), D::Stop> $run
                fn undo<D: Domain>($d: &mut D, _: Variant) -> Result<(), D::Stop> $undo
            }
        )*
    };
}

wrong! {
    // It subtracts too much.
    TooMuch of Inc |d| {
        let (a, one) = (d.operand(0)?, d.word(1));
        let sum = d.add(a, one);
        d.set(0, sum)
    } undo {
        let (a, two) = (d.operand(0)?, d.word(2));
        let difference = d.sub(a, two);
        d.set(0, difference)
    }
    // It gives the same for two words.
    Saturating of Inc |d| {
        let (a, one, most) = (d.operand(0)?, d.word(1), d.word(u64::MAX >> 1));
        let (sum, full) = (d.add(a, one), d.eq(a, most));
        let sum = d.select(full, a, sum);
        d.set(0, sum)
    } undo {
        let (a, one) = (d.operand(0)?, d.word(1));
        let difference = d.sub(a, one);
        d.set(0, difference)
    }
    // Its inverse traps where it does not.
    Unequal of Inc |d| {
        let (a, one) = (d.operand(0)?, d.word(1));
        let sum = d.add(a, one);
        d.set(0, sum)
    } undo {
        let (a, one) = (d.operand(0)?, d.word(1));
        d.require(a, Fault::Range)?;
        let difference = d.sub(a, one);
        d.set(0, difference)
    }
    // It never comes to its end, so that nothing is claimed of it.
    Idle of Inc |d| {
        let zero = d.word(0);
        d.require(zero, Fault::Range)
    } undo {
        let zero = d.word(0);
        d.require(zero, Fault::Range)
    }
    // It pushes without a check that what it exchanges is zero, and so does not come back from what is popped into.
    Unchecked of Push |d| {
        let (s, r, one) = (d.sp(), d.operand(0)?, d.word(1));
        d.load(s)?;
        d.store(s, r)?;
        let zero = d.word(0);
        d.set(0, zero)?;
        let up = d.add(s, one);
        d.set_sp(up);
        Ok(())
    } undo {
        let (s, one) = (d.sp(), d.word(1));
        let down = d.sub(s, one);
        let m = d.load(down)?;
        let zero = d.word(0);
        d.store(down, zero)?;
        d.set(0, m)?;
        d.set_sp(down);
        Ok(())
    }
}

#[test]
fn wrong_rows_are_refuted() {
    let Some(solvers) = solvers() else { return };
    let variant = Variant { ty: Ty::Int, cond: Cond::Always, form: false };
    for solver in solvers {
        for width in [8, 64] {
            let mut prover = Prover::new(settings(solver, width));
            let mut refuted = |name: &str, row: &str, body: &dyn Fn(&mut Prover, Kind) -> Verdict| {
                let kind = lookup(row).expect("a mnemonic");
                match body(&mut prover, kind) {
                    Verdict::Refuted(example) => example,
                    other => panic!("{name} by {solver:?}: {other:?}"),
                }
            };
            fn verdict(prover: &mut Prover, name: &str, body: &impl Body, kind: Kind) -> Verdict {
                prover.undone(name, body, &cases(kind)).expect("a solver that works").verdict
            }
            let example = refuted("too much", "inc", &|p, k| {
                verdict(p, "too much", &RowBody::<TooMuch>(variant, PhantomData), k)
            });
            assert!(example.what.contains("does not bring"), "{example:?}");
            // The one word at which it goes wrong is found.
            let example = refuted("saturating", "inc", &|p, k| {
                verdict(p, "saturating", &RowBody::<Saturating>(variant, PhantomData), k)
            });
            let low = u64::MAX >> (64 - width);
            let most = (u64::MAX >> 1) & low;
            let a = example.before.iter().find(|(name, _)| name == "r1").map(|(_, word)| *word);
            assert!([Some(most), Some((most + 1) & low)].contains(&a), "{example:?}");
            let example =
                refuted("unequal", "inc", &|p, k| verdict(p, "unequal", &RowBody::<Unequal>(variant, PhantomData), k));
            assert!(example.what.contains("traps"), "{example:?}");
            let example = refuted("idle", "inc", &|p, k| verdict(p, "idle", &RowBody::<Idle>(variant, PhantomData), k));
            assert!(example.what.contains("nothing is claimed"), "{example:?}");
            refuted("unchecked", "push", &|p, k| {
                verdict(p, "unchecked", &RowBody::<Unchecked>(variant, PhantomData), k)
            });
            // The process goes on to prove what is right.
            assert_eq!(
                verdict(&mut prover, "inc", &lookup("inc").expect("it"), lookup("inc").expect("it")),
                Verdict::Proved
            );
        }
    }
}

#[test]
fn circuits_are_decided() {
    let Some(solvers) = solvers() else { return };
    for width in [8, 16] {
        let jobs: Vec<Job> = ["add", "xorlt", "assert.le", "swap", "rol", "neg", "mul.l"]
            .into_iter()
            .map(|name| Job::Circuit(lookup(name).expect("a mnemonic")))
            .collect();
        for finding in run(&settings(solvers[0], width), &solvers, &jobs, |_| true).expect("a solver that works") {
            assert_eq!(finding.verdict, Verdict::Proved, "{finding:?}");
        }
    }
    // The circuit of something else is not the instruction's.
    let of = |name: &str| lookup(name).expect("a mnemonic");
    let sizes = Sizes { width: 8, frac: None, memory: 4 };
    let mut prover = Prover::new(settings(solvers[0], 8));
    // What undone claims rest on does not get in the way of circuits.
    let both: Vec<Job> = ["mul.l", "neg.l"]
        .into_iter()
        .flat_map(|name| {
            let kind = lookup(name).expect("a mnemonic");
            [Job::Undone(kind), Job::Circuit(kind)]
        })
        .collect();
    for finding in run(&settings(solvers[0], 8), &solvers, &both, |_| true).expect("a solver that works") {
        assert!(finding.verdict == Verdict::Proved, "{finding:?}");
    }
    // Circuits whose trap no longer arrives where it is looked for.
    for name in ["mul.l", "assert.lt"] {
        let mut circuit =
            InstructionCircuit::with(of(name), sizes, Direction::Forward, Choice::default()).expect("a circuit");
        let mut registers = circuit.circuit.registers().to_vec();
        assert!(registers.iter().any(|r| r.role == Role::Trap), "{name} has no trap");
        registers.iter_mut().filter(|r| r.role == Role::Trap).for_each(|r| r.role = Role::Control);
        let gates = circuit.circuit.gates().to_vec();
        circuit.circuit = Circuit::new("silent", registers, gates).expect("a circuit");
        let finding = prover.circuit_is(of(name), &circuit).expect("a solver that works");
        let Verdict::Refuted(example) = &finding.verdict else { panic!("{finding:?}") };
        assert!(example.what.contains("does not signal"), "{example:?}");
    }
    for (instruction, other) in [("add", "sub"), ("xorlt", "xorltu"), ("assert.lt", "assert.le"), ("rol", "ror")] {
        let circuit =
            InstructionCircuit::with(of(other), sizes, Direction::Forward, Choice::default()).expect("a circuit");
        let finding = prover.circuit_is(of(instruction), &circuit).expect("a solver that works");
        assert!(matches!(finding.verdict, Verdict::Refuted(_)), "{instruction} by the circuit of {other}: {finding:?}");
    }
}

/// Where an instruction is that a step does or undoes.
fn at(t: &mut Terms, s: &control::State<SExpr, control::Memory>) -> SExpr {
    let one = t.word(1);
    let before = t.sub(s.place, one);
    t.select(s.forward, s.place, before)
}

#[test]
fn steps_of_control_can_be_taken_back() {
    let Some(solvers) = solvers() else { return };
    // A jump that is not confirmed where it lands.
    let unconfirmed: control::Step = |t, s, pair| {
        let mut pair = *pair;
        if let Pair::Jump { at: [jump, _], holds, .. } = &mut pair {
            let here = at(t, s);
            let (here, one) = (t.eq(here, *jump), t.word(1));
            holds[1] = t.select(here, one, holds[1]);
        }
        control::step(t, s, &pair)
    };
    // A procedure that returns in the direction in which it ran, whatever called it.
    let unturned: control::Step = |t, s, pair| {
        let mut pair = *pair;
        if let Pair::Procedure { bounds: [first, last], calls } = &mut pair {
            let here = at(t, s);
            let (on_first, on_last, never) = (t.eq(here, *first), t.eq(here, *last), t.word(0));
            let ends = t.select(s.forward, on_last, on_first);
            calls.iter_mut().for_each(|call| call.flip = t.select(ends, never, call.flip));
        }
        control::step(t, s, &pair)
    };
    for solver in solvers {
        for &width in in_turn(&[8, 64], 0) {
            let mut prover = Prover::new(settings(solver, width));
            for (procedures, wrong) in [(false, unconfirmed), (true, unturned)] {
                let right = prover.control(procedures).expect("a solver that works");
                assert_eq!(right.verdict, Verdict::Proved, "{right:?}");
                let finding = prover.control_by(procedures, wrong).expect("a solver that works");
                assert!(matches!(finding.verdict, Verdict::Refuted(_)), "{finding:?}");
            }
        }
    }
}

/// What a computation on constants gives, as terms: its words, and whether it comes to its end.
fn computed(t: &mut Terms, x: &[u64], f: impl FnOnce(&mut Terms, &[SExpr]) -> Vec<SExpr>) -> (Vec<u64>, bool) {
    t.begin().expect("a solver that works");
    let x: Vec<SExpr> = x.iter().map(|word| t.word(*word)).collect();
    let mut out = f(t, &x);
    out.push(t.ok());
    let always = t.unknown_condition("always");
    assert_eq!(t.is_possible(always).expect("a solver that works"), Response::Sat);
    let mut values = t.values(&out).expect("values");
    t.forget().and_then(|()| t.end()).expect("a solver that works");
    let ok = values.pop() == Some(1);
    (values, ok)
}

fn terms(solver: Solver) -> Terms {
    let context = solver.start(Duration::from_secs(60), None, "QF_UFBV").expect("a solver that works");
    Terms::new(context, 64, Env::default().format.frac())
}

/// A kernel's function on words.
type Words = fn(Env, [u64; 4]) -> Result<([u64; 2], bool), Fault>;

/// Kernels that are defined as terms give what their functions on words give.
#[test]
fn definitions_of_kernels_are_the_kernels() {
    let Some(solvers) = solvers() else { return };
    let mut t = terms(solvers[0]);
    let mut s = Source::seeded(5);
    let mut compare = |name: &str, of: Words| {
        let kernel = DEFINED.into_iter().find(|k| k.name == name).expect("a definition");
        let (mut values, mut faults) = (0, 0);
        for n in 0..150 {
            let mut x =
                [0; 4].map(|_| if name.starts_with("log") && n % 3 != 0 { s.word() >> 2 } else { word(&mut s) });
            if name == "int_scale" && n % 2 == 0 {
                // Factors and words of which there is a value.
                x = [x[0] >> 20, x[1] >> 30, 1 + x[2] % 1000, 1 + x[3] % 1000];
            }
            let (found, ok) = computed(&mut t, &x, |t, x| (kernel.define)(t, [x[0], x[1], x[2], x[3]]).to_vec());
            match of(Env::default(), x) {
                Ok((words, _)) => {
                    assert_eq!((&found[..], ok), (&words[..], true), "{name} of {x:x?}");
                    values += 1;
                }
                Err(fault) => {
                    assert!(!ok, "{name} of {x:x?}: {fault:?}, not {found:x?}");
                    faults += 1;
                }
            }
        }
        assert!(values > 30, "{name}: {values} values, {faults} faults");
    };
    compare("int_scale", int::Scale::words);
    compare("log_scale", log::Scale::words);
    compare("log_unscale", log::Unscale::words);
    compare("log_neg", log::Neg::words);
}

/// Rotations leave open how much a shear adds. There are amounts with which each gives what the machine gives, by every number of quarter turns.
#[test]
fn definitions_of_rotations_can_be_the_rotations() {
    let Some(solvers) = solvers() else { return };
    let mut t = terms(solvers[0]);
    for (n, angle) in [0.0, 1.0, 2.0, -1.0, -3.0, 4.5].into_iter().enumerate() {
        let env = Env::default();
        let word = |x: f64| ((x * (1u64 << env.format.frac()) as f64) as i64).cast_unsigned();
        let x = [word(3.5 + n as f64), word(-2.25), word(angle), 0];
        for (name, words) in [("fixed_rot", fixed::Rot::words(env, x)), ("fixed_irot", fixed::Irot::words(env, x))] {
            let kernel = DEFINED.into_iter().find(|k| k.name == name).expect("a definition");
            let (words, _) = words.expect("a value");
            t.begin().expect("a solver that works");
            let x = x.map(|word| t.word(word));
            let [a, b] = (kernel.define)(&mut t, x);
            let expected = words.map(|word| t.word(word));
            let same = [t.eq(a, expected[0]), t.eq(b, expected[1])];
            let same = t.and(same[0], same[1]);
            let one = t.word(1);
            let holds = t.same(same, one);
            assert_eq!(t.is_possible(holds).expect("a solver that works"), Response::Sat, "{name} by {angle}");
            t.forget().and_then(|()| t.end()).expect("a solver that works");
        }
    }
}

/// Operations on terms are those on words.
#[test]
fn operations_are_those_of_the_machine() {
    let Some(solvers) = solvers() else { return };
    /// Each operation's words, in one order for every arithmetic.
    fn all<A: Arith>(k: &mut A, a: A::V, b: A::V) -> Vec<A::V> {
        let mut out = vec![k.add(a, b), k.sub(a, b), k.mul(a, b), k.and(a, b), k.or(a, b), k.xor(a, b), k.not(a)];
        out.extend([k.shl(a, b), k.shr(a, b), k.sar(a, b), k.rol(a, b), k.ror(a, b)]);
        out.extend([k.eq(a, b), k.ne(a, b), k.lt(a, b), k.ltu(a, b), k.select(b, a, b)]);
        for pair in [k.wide_mul(a, b), k.overflowing_add(a, b), k.overflowing_sub(a, b)] {
            out.extend(pair);
        }
        for cond in Cond::TESTS {
            out.extend(k.compare(cond, Ty::Int, a, b).ok());
        }
        out
    }
    for solver in solvers {
        let mut t = terms(solver);
        let mut s = Source::seeded(9);
        for n in 0..60 {
            let a = word(&mut s);
            let b = if n % 5 == 0 { a } else { word(&mut s) };
            let (found, ok) = computed(&mut t, &[a, b], |t, x| all(t, x[0], x[1]));
            let mut plain = ScalarDomain::new(Env::default());
            assert_eq!((found, ok), (all(&mut plain, a, b), true), "{a:#x} and {b:#x} by {solver:?}");
        }
    }
}
