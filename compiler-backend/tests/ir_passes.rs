//! Passes do not change what random programs compute, each alone and all together.

use crate::common;

use common::Random;
use common::generate::{Case, Profile, generate};
use pendula_compiler::ir::eval::{Config, Direction, EvalError, Evaluation, run};
use pendula_compiler::ir::text::{parse, print};
use pendula_compiler::ir::*;
use pendula_compiler::passes::{self, Pass, Switches};
use pendula_isa::Ty;
use pendula_isa::sample::share;

const CONFIG: Config = Config { memory: 1 << 10, max_steps: 100_000, until: None, ieee: false, trap_overflow: false };

/// A forward run, and backward runs from its end with and without gradients.
struct Runs {
    there: Evaluation,
    back: Evaluation,
    plain: Evaluation,
}

fn seeds(case: &Case, seed: u64) -> (Vec<u64>, Vec<u64>) {
    let mut random = Random(seed);
    let mut words = |types: &[Ty]| -> Vec<u64> {
        types
            .iter()
            .map(|ty| match ty {
                Ty::Int => 0,
                Ty::Q | Ty::L => (random.word() >> 31).wrapping_sub(1 << 32),
                Ty::F => (random.unit() - 0.5).to_bits(),
            })
            .collect()
    };
    (words(&case.types), words(&case.memory_types))
}

fn runs(case: &Case, program: &Program, seed: u64) -> Result<Runs, EvalError> {
    let entry = program.entry.unwrap();
    let there = run(program, entry, Direction::Forward, case.params.clone(), case.memory.clone(), None, &CONFIG)?;
    let go = |gradients| {
        run(program, entry, Direction::Backward, there.params.clone(), there.memory.clone(), gradients, &CONFIG)
    };
    let plain = go(None)?;
    let back = go(Some(seeds(case, seed)))?;
    Ok(Runs { there, back, plain })
}

/// Whether gradient words agree, up to rounding of their shares.
fn agree(ty: Ty, a: u64, b: u64) -> bool {
    match ty {
        Ty::Int => a == b,
        Ty::Q | Ty::L => {
            let (x, y) = (a as i64, b as i64);
            // A rounding error is one unit, and later factors multiply it.
            let scale = (x.unsigned_abs().max(y.unsigned_abs()) >> 16).max(1 << 14);
            x.wrapping_sub(y).unsigned_abs() <= scale
        }
        Ty::F => {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            (x - y).abs() <= 1e-6 * (1.0 + x.abs().max(y.abs()))
        }
    }
}

struct Tally {
    same: usize,
    trapped: usize,
    changed: usize,
}

fn check(what: &str, profile: Profile, cases: u64, improve: impl Fn(&mut Program)) -> Tally {
    let mut tally = Tally { same: 0, trapped: 0, changed: 0 };
    // More programs on demand.
    let from: u64 = std::env::var("PENDULA_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    for seed in from..from + share(cases) {
        let case = generate(seed, profile);
        let mut improved = case.program.clone();
        improve(&mut improved);
        tally.changed += usize::from(improved != case.program);
        let show = || format!("{what}, {seed}\n{}\n{}", print(&case.program), print(&improved));
        assert!(parse(&print(&improved)).as_ref() == Ok(&improved), "{}", show());
        let (before, after) = (runs(&case, &case.program, seed), runs(&case, &improved, seed));
        let (before, after) = match (before, after) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(EvalError::Steps { .. }), _) => continue,
            (Err(_), Err(_)) => {
                tally.trapped += 1;
                continue;
            }
            (Ok(_), Err(e)) => panic!("now traps: {e:?}\n{}", show()),
            (Err(e), Ok(_)) => panic!("no longer traps: {e:?}\n{}", show()),
        };
        tally.same += 1;
        let same = (&before.there.params, &before.there.memory) == (&after.there.params, &after.there.memory);
        assert!(same, "forward: {:?} {:?}\n{}", before.there, after.there, show());
        assert_eq!(before.there.shown, after.there.shown, "{}", show());
        let same = (&before.plain.params, &before.plain.memory) == (&after.plain.params, &after.plain.memory);
        assert!(same, "backward: {:?} {:?}\n{}", before.plain, after.plain, show());
        for run in [&after.there, &after.back, &after.plain] {
            assert_eq!((run.unchecked, run.undropped), (None, None), "{}", show());
        }
        let ((a, b), (c, d)) = (before.back.gradients.unwrap(), after.back.gradients.unwrap());
        let types = case.types.iter().chain(&case.memory_types);
        for (n, ((x, y), ty)) in a.iter().chain(&b).zip(c.iter().chain(&d)).zip(types).enumerate() {
            assert!(agree(*ty, *x, *y), "gradient {n}: {x:#x} {y:#x}\n{}", show());
        }
    }
    tally
}

fn alone(pass: Pass, least: usize) {
    let mut changed = 0;
    for profile in [Profile::ALL, Profile::EXACT] {
        let tally = check(pass.name(), profile, 700, |p| pass.run(p));
        assert!(tally.same > share(500), "{}: only {} ran", pass.name(), tally.same);
        changed += tally.changed;
    }
    // Traps stay.
    let tally = check(pass.name(), Profile::RISKY, 600, |p| pass.run(p));
    assert!(
        tally.trapped > share(100) && tally.same > share(100),
        "{}: {} trapped, {} ran",
        pass.name(),
        tally.trapped,
        tally.same
    );
    assert!(changed >= share(least), "{} changed only {changed}", pass.name());
}

#[test]
fn inline() {
    alone(Pass::Inline, 100);
}

#[test]
fn fold() {
    alone(Pass::Fold, 400);
}

#[test]
fn checks() {
    alone(Pass::Checks, 1000);
}

#[test]
fn cancel() {
    alone(Pass::Cancel, 100);
}

#[test]
fn merge() {
    alone(Pass::Merge, 30);
}

#[test]
fn hoist() {
    alone(Pass::Hoist, 100);
}

#[test]
fn strength() {
    alone(Pass::Strength, 10);
}

#[test]
fn all_of_them() {
    for profile in [Profile::ALL, Profile::EXACT] {
        for level in [1, 2] {
            let tally = check("all", profile, 700, |p| passes::run(p, &Switches::level(level)));
            assert!(tally.same > share(500));
        }
    }
    let tally = check("all", Profile::RISKY, 1000, |p| passes::run(p, &Switches::default()));
    assert!(tally.trapped > share(200) && tally.same > share(200));
}

#[test]
fn all_but_one() {
    for pass in Pass::ALL.iter().filter(|p| !p.is_of_c()) {
        let switches = Switches::default().without(*pass);
        check("all but one", Profile::ALL, 150, |p| passes::run(p, &switches));
    }
}

#[test]
fn none_changes_nothing() {
    let tally = check("none", Profile::ALL, 50, |p| passes::run(p, &Switches::NONE));
    assert_eq!(tally.changed, 0);
}
