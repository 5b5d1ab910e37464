//! Chooses for each routine whether to undo or to erase its results, for `--uncompute auto`. The program runs with
//! everything undone, and a second compilation erases what the energy model finds cheaper to erase. The savings are not
//! estimated: the cost of each variant is measured with the same prices.

use std::collections::BTreeSet;

use pendula_compiler::ir::effects::{blocks, undone_blocks};
use pendula_compiler::ir::{LocatedStmt, Program as Ir, Stmt};
use pendula_compiler::janus::store::Variable;
use pendula_hw_model::Technology;
use pendula_hw_model::breakeven::undoings;
use pendula_hw_model::price::{Activity, Conditions, Device, Phase, PriceError, Totals, billed_memory};
use pendula_isa::counts::Counts;
use pendula_isa::module::Module;
use pendula_vm::{ConfigError, Machine, Snapshot};

use crate::leftovers::{self, Footprint};
use crate::state::values::Place;
use crate::state::{store, values};

/// The places of a program's inputs and results.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// What comes from the host.
    pub inputs: Vec<Place>,
    /// What goes to it.
    pub results: Vec<Place>,
}

impl Shared {
    /// The two as references.
    pub fn as_refs(&self) -> (&[Place], &[Place]) {
        (&self.inputs, &self.results)
    }
}

/// The places that a program shares with the host; `variables` are those of a program in Janus.
pub fn places(module: &Module, variables: Option<&[Variable]>) -> Shared {
    match variables {
        Some(store) => Shared { inputs: store::places(module, store), results: store::places(module, store) },
        None => Shared {
            inputs: values::marked_symbols(module, |import, _| import),
            results: values::marked_symbols(module, |_, export| export),
        },
    }
}

/// What a run forward is billed for: its instructions, the memory that it touches, and the words that it leaves, which are erased. Traffic with
/// the host is left out: it is the same for all ways to compile a program.
pub fn bill(module: &Module, counts: &Counts, found: &Footprint) -> (Totals, Conditions) {
    let forward = Activity::new(Phase::Forward, counts.clone());
    let end = Activity { dirty: found.dirty, ..Activity::new(Phase::End, Counts::default()) };
    let flags = module.flags;
    let conditions = Conditions {
        memory_words: billed_memory(found.touched),
        frac: flags.format.frac().min(flags.profile.width() / 2),
        width: flags.profile.width(),
        ..Conditions::default()
    };
    (Totals::new(module, &[forward, end]), conditions)
}

/// The cost in joules of a run forward that has finished, at the frequency at which it is cheapest, and what it touched and left. The machine
/// runs it again, from `start`.
///
/// # Errors
/// The technology has no prices; the host does not have enough memory.
pub fn price(
    machine: &mut Machine<'_>,
    start: &Snapshot,
    shared: &Shared,
    technology: &Technology,
) -> Result<(f64, Footprint), UncomputeError> {
    let counts = machine.counts();
    let module = machine.program().module();
    let found = leftovers::footprint(machine, start, module, shared.as_refs())?;
    let (totals, conditions) = bill(module, &counts, &found);
    let device = Device::for_run(technology, conditions, &totals)?;
    Ok((device.total(&totals).total(), found))
}

/// Why a run has no price.
#[derive(Debug, thiserror::Error)]
pub enum UncomputeError {
    /// The technology has no prices.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// The run cannot be followed.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// The routines of a compiled program that are cheaper to erase than to undo on a technology. This follows from the
/// counts of a run forward with everything undone, and from what was seen when it was followed.
///
/// # Errors
/// The technology has no prices.
pub fn cheaper_to_erase(
    module: &Module,
    counts: &Counts,
    found: &Footprint,
    ir: &Ir,
    technology: &Technology,
) -> Result<BTreeSet<String>, PriceError> {
    let (totals, conditions) = bill(module, counts, found);
    let device = Device::for_run(technology, conditions, &totals)?;
    let mut names = BTreeSet::new();
    for f in &ir.functions {
        collect(&f.body, &mut names);
    }
    // A routine may occur at several places of the code. What is saved at one place may be lost at another.
    let mut saved = std::collections::BTreeMap::<&str, f64>::new();
    for undoing in undoings(module, counts, &found.seen.spans) {
        if let Some(name) = origin(&undoing.name, &names) {
            let choice = undoing.choice(&device);
            *saved.entry(name).or_insert(0.0) += choice.uncompute - choice.erase;
        }
    }
    Ok(saved.into_iter().filter(|(_, joules)| *joules > 0.0).map(|(name, _)| name.to_string()).collect())
}

fn collect(block: &[LocatedStmt], names: &mut BTreeSet<String>) {
    for at in block {
        let conditions = if let Stmt::With { name, .. } = &at.stmt {
            names.insert(name.clone());
            0
        } else {
            undone_blocks(&at.stmt)
        };
        blocks(&at.stmt).skip(conditions).for_each(|block| collect(block, names));
    }
}

/// The routine that a span of the assembly comes from. Spans have the routine's name, with a number if there are
/// several.
fn origin<'n>(span: &str, names: &'n BTreeSet<String>) -> Option<&'n str> {
    let of = |name: &&String| {
        span.strip_prefix(name.as_str()).is_some_and(|rest| {
            rest.is_empty()
                || rest.strip_prefix('.').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    // If several names match, the longest one wins, unless one equals the span's name.
    names.get(span).or_else(|| names.iter().filter(of).max_by_key(|n| n.len())).map(String::as_str)
}
