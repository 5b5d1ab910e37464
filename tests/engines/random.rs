//! Random programs in Nil and in the IR, from the generators of the compiler's tests.

use pendula_compiler::compile::{Options, compile};
use pendula_compiler::lower::lower;
use pendula_compiler::passes::Switches;
use pendula_isa::sample::{Source, share};
use pendula_vm::AdMode;

use super::lockstep;

/// Writes a line of the program.
macro_rules! emit {
    ($g:ident, $($part:tt)*) => {{
        let text = format!($($part)*);
        $g.line(text)
    }};
}

#[path = "../../compiler-backend/tests/nil_random/control.rs"]
mod control;
#[path = "../../compiler-backend/tests/nil_random/expr.rs"]
mod expr;
#[path = "../../compiler-backend/tests/nil_random/functions.rs"]
mod functions;
#[path = "../../compiler-backend/tests/nil_random/generate.rs"]
mod generate;
#[path = "../../compiler-backend/tests/nil_random/model.rs"]
mod model;
#[path = "../../compiler-backend/tests/nil_random/stmt.rs"]
mod stmt;

#[path = "../../compiler-backend/tests/lower/common/mod.rs"]
mod lowering;

/// The types of the generator.
mod oracle {
    use pendula_compiler::nil::sema::Argument;

    /// A program, and arguments of the same shape for several runs.
    pub(crate) struct Case {
        pub(crate) text: String,
        pub(crate) types: Vec<String>,
        pub(crate) runs: Vec<Vec<Argument>>,
        #[allow(dead_code, reason = "runs backward begin where runs forward end")]
        pub(crate) anywhere: bool,
    }
}

/// A random program in Nil.
pub(crate) fn nil_program(seed: u64, smooth: bool) -> oracle::Case {
    generate::program(seed, smooth)
}

/// Values alone, and something else with them.
fn ad_modes(seed: u64) -> [AdMode; 2] {
    [AdMode::Plain, Source::seeded(seed).pick(&AdMode::ALL[1..])]
}

#[test]
fn nil() {
    let (mut finished, mut count) = (0, 0);
    for seed in 0..share(24 * 4) {
        let case = generate::program(seed, seed % 4 == 0);
        for arguments in case.runs.iter().take(1) {
            let switches = Switches::level(if seed % 3 == 0 { 0 } else { 2 });
            let options =
                Options { arguments: arguments.clone(), types: case.types.clone(), switches, ..Options::default() };
            let compiled = compile("random.nil", case.text.clone(), &options);
            let module = compiled.module.unwrap_or_else(|| panic!("seed {seed}: {:#?}", compiled.diagnostics));
            finished += lockstep(&format!("seed {seed}\n{}", case.text), module, &ad_modes(seed));
            count += 2;
        }
    }
    assert!(finished > count / 2, "of {count} runs only {finished} came to their ends");
}

#[test]
fn representation() {
    use lowering::random::{Rng, Shape, random_program};
    let shapes = [
        Shape { functions: 2, locals: 6, params: 3, statements: 5, depth: 4 },
        Shape { functions: 5, locals: 8, params: 4, statements: 10, depth: 2 },
        Shape { functions: 3, locals: 60, params: 3, statements: 12, depth: 3 },
    ];
    let (mut finished, mut count) = (0, 0);
    for (n, shape) in shapes.into_iter().enumerate() {
        for k in 0..share(16) {
            let seed = 7000 + 100 * n as u64 + k;
            let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let (program, arguments) = random_program(&mut rng, shape);
            let module =
                lower(&program, &arguments, &Default::default()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            finished += lockstep(&format!("representation, seed {seed}"), module, &ad_modes(seed));
            count += 2;
        }
    }
    assert!(finished > count / 2, "of {count} runs only {finished} came to their ends");
}
