//! What passes make of small programs, and what all together must not change.

mod cancel;
mod checks;
mod fold;
mod hoist;
mod inline;
mod keep;
mod merge;
mod strength;

use crate::common::small::{REALS, entry_body, program, read};
use pendula_compiler::ir::eval::{self, Config, Direction};
use pendula_compiler::ir::text::print;
use pendula_compiler::ir::{Block, Program, Stmt, effects};
use pendula_compiler::passes::{Pass, Switches, run};

#[test]
fn switches() {
    assert_eq!(Switches::level(0), Switches::NONE);
    assert!(Switches::level(1).has(Pass::Fold) && !Switches::level(1).has(Pass::Hoist));
    assert!(Switches::level(2).has(Pass::Hoist) && !Switches::default().without(Pass::Hoist).has(Pass::Hoist));
    for pass in Pass::ALL {
        assert_eq!(Pass::from_name(pass.name()), Some(*pass));
        assert!(pass.doc().ends_with('.') && !pass.doc().contains('\n'));
        assert!(Switches::NONE.with(*pass).has(*pass));
    }
}

#[test]
fn effects_of_calls() {
    let text = |g: &str, main: &str| {
        let mut p = read(&format!(
            "program Q32.32\nentry main\nfun g {{\nin p: i\nregion p: f\n{g}\n}}\n\
             fun main {{\nout x: f\nin a: i\nin n: i\nvar i: i\nvar t: f\nregion m: f\n{main}\n}}"
        ));
        for pass in [Pass::Hoist, Pass::Cancel, Pass::Merge] {
            pass.run(&mut p);
        }
        entry_body(&p)
    };
    // A function that writes memory may write what is loaded in each turn.
    let load =
        "for i = 1 to 9 step 1 { with \"\" { begin t check\n t += id.f(m[a]) } do { x += id.f(t) }\n call g(a) }";
    assert!(text("p[p] += id.f(1.0)", load).starts_with("for"));
    assert!(text("assert user p ne.i 3", load).starts_with("with"));
    // A call and its undoing are nothing, unless something is shown, or it may trap.
    assert_eq!(text("", "call g(a)\nuncall g(a)"), "");
    for g in ["show.i p", "assert user p ne.i 3", "call g(p)"] {
        assert!(!text(g, "call g(a)\nuncall g(a)").is_empty(), "{g}");
    }
}

/// A product of matrices as a front end writes it: every index checked, every address computed where it is used.
const MATRICES: &str = include_str!("../../tests/data/matrices.ir");

#[test]
fn a_product_of_matrices() {
    let before = read(MATRICES);
    let mut after = before.clone();
    run(&mut after, &Switches::default());
    let text = print(&after);
    assert!(!text.contains("bounds") && !text.contains("call") && !text.contains("check"), "{text}");
    // The innermost loop: a step and a product.
    let mut innermost = &after.functions[1].body;
    let mut deepest: Option<&Block> = None;
    effects::walk(innermost, &mut |s| {
        if let Stmt::For { body, .. } = &s.stmt {
            deepest = Some(body);
        }
    });
    innermost = deepest.unwrap();
    assert_eq!(innermost.len(), 2, "{text}");
    let n = 5u64;
    let config = Config { memory: 1 << 12, max_steps: 1_000_000, ..Config::default() };
    let memory: Vec<u64> = (0..3 * n * n).map(|k| (1.0 + k as f64 / 8.0).to_bits()).collect();
    let go = |p: &Program| {
        eval::run(p, p.entry.unwrap(), Direction::Forward, vec![0, n * n, 2 * n * n, n], memory.clone(), None, &config)
            .unwrap()
    };
    let (a, b) = (go(&before), go(&after));
    assert_eq!(a.memory, b.memory);
    assert!(b.steps * 4 < a.steps, "{} and {}", a.steps, b.steps);
}

#[test]
fn floats_are_restored_as_without_passes() {
    let before = program(
        REALS,
        "begin t check drop\nx += sin.f(t)\nt += sin.f(a)\nt += mul.f(a, y)\nt -= mul.f(a, y)\nt -= sin.f(a)\nend t check drop",
    );
    let mut after = before.clone();
    run(&mut after, &Switches::default());
    let (words, config) = ([0.0, 1000.1, 0.0, 0.3, 0.0, 0.0].map(f64::to_bits).to_vec(), Config::default());
    let back = |p: &Program| {
        let out = eval::run(p, p.entry.unwrap(), Direction::Backward, words.clone(), vec![0; 8], None, &config);
        out.unwrap().params
    };
    let found = back(&before);
    assert_ne!(found[0], 0, "nothing is rounded");
    assert_eq!(found, back(&after), "{}", print(&after));
}
