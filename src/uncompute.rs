//! Chooses for each routine whether to undo or to erase its results, for `--uncompute auto`. The program runs with
//! everything undone, and a second compilation erases what the energy model finds cheaper to erase. The savings are not
//! estimated: the cost of each variant is measured with the same prices.

use std::collections::BTreeSet;

use pendula_compiler::ir::effects::{blocks, undone_blocks};
use pendula_compiler::ir::{LocatedStmt, Program as Ir, Stmt};
use pendula_hw_model::Technology;
use pendula_hw_model::breakeven::{SpanEffects, undoings};
use pendula_hw_model::price::{Activity, Conditions, Device, Phase, PriceError, Totals};
use pendula_isa::counts::Counts;
use pendula_vm::Machine;

/// The cost of a run forward in joules, from a machine's counts. The transfer from and to the host is left out: it is
/// the same for all variants.
///
/// # Errors
/// The technology has no prices.
pub fn price(machine: &Machine<'_>, technology: &Technology) -> Result<f64, PriceError> {
    let forward = Activity::new(Phase::Forward, machine.counts());
    let totals = Totals::new(machine.program().module(), &[forward]);
    Ok(device(machine, technology, &totals)?.total(&totals).total())
}

fn device<'t>(machine: &Machine<'_>, technology: &'t Technology, totals: &Totals) -> Result<Device<'t>, PriceError> {
    let flags = machine.program().module().flags;
    let conditions = Conditions {
        memory_words: machine.memory().len() as u64,
        frac: flags.format.frac().min(flags.profile.width() / 2),
        width: flags.profile.width(),
        ..Conditions::default()
    };
    Device::for_run(technology, conditions, totals)
}

/// The routines of a compiled program that are cheaper to erase than to undo on a technology. This follows from the
/// counts of a run forward with everything undone, and from what the program's spans left.
///
/// # Errors
/// The technology has no prices.
pub fn cheaper_to_erase(
    machine: &Machine<'_>,
    counts: &Counts,
    leaves: &[SpanEffects],
    ir: &Ir,
    technology: &Technology,
) -> Result<BTreeSet<String>, PriceError> {
    let forward = Activity::new(Phase::Forward, counts.clone());
    let totals = Totals::new(machine.program().module(), &[forward]);
    let device = device(machine, technology, &totals)?;
    let mut names = BTreeSet::new();
    for f in &ir.functions {
        collect(&f.body, &mut names);
    }
    // A routine may occur at several places of the code. What is saved at one place may be lost at another.
    let mut saved = std::collections::BTreeMap::<&str, f64>::new();
    for undoing in undoings(machine.program().module(), counts, leaves) {
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
