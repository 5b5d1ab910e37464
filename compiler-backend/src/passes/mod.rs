//! Optimization passes over the IR.
//!
//! Each pass is a module with a function `run`, and has a switch. A pass does not change what a program computes: values
//! stay the same bit for bit in both directions, and gradients stay the same up to the order in which equal shares are
//! summed. A pass may remove a trap only if it cannot happen, and does not move a trap to where it could not have
//! happened; which of several traps comes first may change. Runs with `--trap overflow`, which turns a flag of
//! fixed-point numbers into a trap, may trap elsewhere or not at all.
//!
//! All passes rely on one fact about floating-point words: undoing what was added to a word restores it to the last bit
//! if one number was added to zero, and not in general. With `--ieee` this does not hold for infinities and NaN: an
//! ancilla that held one is left as NaN if the check that would have trapped has been removed.

pub mod blocks;
mod cancel;
mod checks;
mod fold;
mod hoist;
mod in_place;
mod inline;
mod keep;
pub(crate) mod kinks;
mod merge;
mod rewrite;
mod strength;
mod table;
mod unswitch;

use tracing::field::Empty;

use crate::ir::Program;
use crate::ir::effects::{Summaries, walk};

macro_rules! passes {
    ($( $(#[doc = $doc:literal])+ $Name:ident $name:literal $level:literal $module:ident; )*) => {
        /// A pass.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Pass { $( $(#[doc = $doc])+ $Name, )* }

        impl Pass {
            /// Every pass.
            pub const ALL: &'static [Pass] = &[$( Pass::$Name, )*];

            /// Its name on the command line.
            pub const fn name(self) -> &'static str { match self { $( Pass::$Name => $name, )* } }

            /// What it does, in one line.
            pub const fn doc(self) -> &'static str {
                match self { $( Pass::$Name => concat!($($doc),+).trim_ascii(), )* }
            }

            /// The lowest optimization level at which it runs.
            pub const fn level(self) -> u8 { match self { $( Pass::$Name => $level, )* } }

            fn run_with(self, program: &mut Program, summaries: &Summaries) {
                match self { $( Pass::$Name => $module::run(program, summaries), )* }
            }
        }
    };
}

passes! {
    /// Puts the bodies of small functions, and of those that ask for it, in place of calls.
    Inline "inline" 2 inline;
    /// Computes with constants, takes addresses apart into base, index and offset, and removes what has no effect.
    Fold "fold" 1 fold;
    /// Removes checks and assertions that always hold, and drops of gradient words that are always zero.
    Checks "checks" 1 checks;
    /// Removes statements that undo each other at once.
    Cancel "cancel" 1 cancel;
    /// Joins neighbours that compute and uncompute the same.
    Merge "merge" 2 merge;
    /// Computes before a loop what is the same in each iteration.
    Hoist "hoist" 2 hoist;
    /// Keeps a word of memory that a loop uses in each iteration in a variable for the time of the loop.
    Keep "keep" 2 keep;
    /// Steps addresses from iteration to iteration instead of multiplying.
    Strength "strength" 2 strength;
    /// In C: drops computed values instead of uncomputing them, where the result is the same.
    Forget "forget" 1 in_c;
    /// In C: checks addresses and indices before a loop, not in each iteration.
    Bounds "bounds" 1 in_c;
    /// In C: keeps words of memory that stay where they are in variables during a loop.
    Scalars "scalars" 1 in_c;
    /// In C: takes gradients forward and back in one pass, without undoing what the backward half would compute again.
    Turn "turn" 1 in_c;
    /// In C: a function that is put in place of a call works on words of arrays where they are, not on copies.
    InPlace "in-place" 1 in_c;
    /// In C: decides before a loop what each turn would decide the same way.
    Unswitch "unswitch" 1 in_c;
    /// In C: makes several turns of a loop at once, side by side, where an inner loop adds up or goes through the same words in each.
    Jam "jam" 2 in_c;
}

/// Passes that [`crate::loop_form`] makes itself while it builds the loop form, and [`for_c`].
mod in_c {
    pub(super) fn run(_: &mut crate::ir::Program, _: &crate::ir::effects::Summaries) {}
}

impl Pass {
    /// Whether it is a pass of the C backend only: it does not change the programs of which instructions are made.
    pub const fn is_of_c(self) -> bool {
        matches!(
            self,
            Pass::Forget | Pass::Bounds | Pass::Scalars | Pass::Turn | Pass::InPlace | Pass::Unswitch | Pass::Jam
        )
    }

    /// The pass with this name.
    pub fn from_name(name: &str) -> Option<Pass> {
        Pass::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// Runs the pass.
    pub fn run(self, program: &mut Program) {
        let summaries = Summaries::new(program);
        self.run_with(program, &summaries);
    }
}

/// Which passes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Switches {
    on: [bool; Pass::ALL.len()],
}

impl Default for Switches {
    /// All passes.
    fn default() -> Switches {
        Switches::level(2)
    }
}

impl Switches {
    /// No pass.
    pub const NONE: Switches = Switches { on: [false; Pass::ALL.len()] };

    /// The passes of an optimization level: 0 has none, 1 has those that take little time, 2 has all.
    pub fn level(level: u8) -> Switches {
        let mut switches = Switches::NONE;
        for pass in Pass::ALL {
            switches.set(*pass, pass.level() <= level);
        }
        switches
    }

    /// Switches a pass on or off.
    pub fn set(&mut self, pass: Pass, on: bool) {
        self.on[pass as usize] = on;
    }

    /// These switches with a pass switched on.
    pub fn with(mut self, pass: Pass) -> Switches {
        self.set(pass, true);
        self
    }

    /// These switches with a pass switched off.
    pub fn without(mut self, pass: Pass) -> Switches {
        self.set(pass, false);
        self
    }

    /// Whether a pass runs.
    pub fn has(&self, pass: Pass) -> bool {
        self.on[pass as usize]
    }
}

/// The order of the passes: the results of one are often what another looks for.
const ORDER: &[Pass] = &[
    Pass::Inline,
    Pass::Checks,
    Pass::Fold,
    Pass::Merge,
    Pass::Cancel,
    Pass::Hoist,
    Pass::Fold,
    Pass::Strength,
    Pass::Hoist,
    Pass::Fold,
    Pass::Keep,
    Pass::Checks,
    Pass::Cancel,
    Pass::Fold,
];

/// Records the number of statements of a program in a span, if anyone looks at it.
fn note_size(span: &tracing::Span, field: &str, program: &Program) {
    if !span.is_disabled() {
        let mut statements = 0_u64;
        program.functions.iter().for_each(|f| walk(&f.body, &mut |_| statements += 1));
        span.record(field, statements);
    }
}

/// Runs the passes that are switched on, some of them more than once.
pub fn run(program: &mut Program, switches: &Switches) {
    let _span = tracing::debug_span!("optimise").entered();
    // Passes only improve what is known about functions, so the summaries stay valid.
    let mut summaries = Summaries::new(program);
    for pass in ORDER {
        if switches.has(*pass) {
            let span = tracing::debug_span!("pass", name = pass.name(), statements = Empty, after = Empty).entered();
            note_size(&span, "statements", program);
            pass.run_with(program, &summaries);
            note_size(&span, "after", program);
            if *pass == Pass::Inline {
                summaries = Summaries::new(program);
            }
        }
    }
}

/// Runs the passes on a program of which C is to be made, not instructions: without those that only instructions benefit from, and with the steps
/// of extensions in their place.
pub fn for_c(program: &mut Program, switches: &Switches) {
    // Calls are as they are in instructions, so that gradient words are added up in the same order.
    run(program, &switches.without(Pass::Strength).without(Pass::Keep));
    expand_extensions(program);
    if switches.has(Pass::InPlace) {
        in_place::run(program, &Summaries::new(program));
    }
    if switches.has(Pass::Unswitch) {
        unswitch::run(program, &Summaries::new(program));
    }
}

/// Puts the steps of extensions in the place of their calls.
fn expand_extensions(program: &mut Program) {
    let these: Vec<bool> = program.functions.iter_mut().map(|f| f.extension.take().is_some()).collect();
    if these.contains(&true) {
        let summaries = Summaries::new(program);
        inline::run_for(program, &summaries, Some(&these));
    }
}
