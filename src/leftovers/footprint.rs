//! What a whole run touches and leaves.

use std::ops::Range;

use pendula_hw_model::level::Followed;
use pendula_hw_model::price::Dirty;
use pendula_isa::counts::Direction;
use pendula_isa::inst::Inst;
use pendula_isa::module::Module;
use pendula_isa::types::Reg;
use pendula_vm::{ConfigError, Machine, Snapshot, StepOutcome};

use super::touched::Touched;
use super::{ADDRESSES, Follower, NAMES, STEPS, Word};
use crate::state::values::{Location, Place};

/// What a run forward touches and leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// What each of the module's spans leaves, and what each of its instructions does.
    pub seen: Followed,
    /// The words of memory that instructions read or write, or that hold inputs and results.
    pub touched: u64,
    /// Whether these are all: the run was followed to its end.
    pub complete: bool,
    /// Words that the run leaves neither zero nor as they were, without inputs and results: they go to the host.
    pub dirty: Dirty,
    /// Whether contents were followed to the end of the run. If not, all words that were written count as dirty.
    pub followed: bool,
}

/// Follows a run forward with these values; the program's inputs and results go from and to the host. The machine stays where the run, or the
/// part of it that is followed, ends. `module` is the machine's, but may have other spans.
///
/// # Errors
/// The host does not have enough memory.
pub fn footprint(
    machine: &mut Machine<'_>,
    start: &Snapshot,
    module: &Module,
    (inputs, results): (&[Place], &[Place]),
) -> Result<Footprint, ConfigError> {
    // Resets the machine completely: no gradient words, tangents or listeners.
    machine.reset(start, start.mem.len())?;
    let mut follower = Follower::new(module, start, inputs);
    let mut touched = Touched::new(start.mem.len());
    let (mut contents, mut ended) = (true, false);
    for step in 0..ADDRESSES {
        contents = contents && step < STEPS && follower.names.count() <= NAMES;
        let Some(ran) = stepped(machine, &mut follower, contents) else {
            ended = true;
            break;
        };
        if let Some((inst, before)) = ran {
            touched.ran(&inst, &before, machine.registers());
        }
    }
    touched.add(inputs.iter().chain(results).flat_map(memory_of));
    let whole = follower.finish();
    let moved: Vec<Word> = results.iter().flat_map(words_of).collect();
    let (dirty, followed) = match whole.filter(|_| contents && ended) {
        Some(words) => (count(words.into_iter().filter(|word| !moved.contains(word))), true),
        None => {
            moved.iter().for_each(|word| touched.leave_out(*word));
            let (registers, memory) = touched.written();
            (Dirty { registers, memory }, false)
        }
    };
    let seen = Followed { spans: follower.out, instructions: follower.observer.finish(module) };
    Ok(Footprint { seen, touched: touched.memory(), complete: ended, dirty, followed })
}

/// Runs an instruction, and follows its contents if wanted. `None` at the end of the run; otherwise the instruction in the direction in which it
/// ran, with the registers before it, if it is one of the module's.
fn stepped(
    machine: &mut Machine<'_>,
    follower: &mut Follower<'_>,
    contents: bool,
) -> Option<Option<(Inst, [u64; Reg::COUNT])>> {
    let forward = machine.direction() == Direction::Forward;
    let before = *machine.registers();
    match machine.step() {
        StepOutcome::Executed(at) => {
            let Some(inst) = follower.module.code.get(at as usize) else { return Some(None) };
            if contents {
                follower.ran(at, inst, forward, (&before, machine));
            }
            Some(Some((if forward { *inst } else { inst.inverse() }, before)))
        }
        StepOutcome::Trap(_) | StepOutcome::Finished => None,
    }
}

pub(super) fn count(words: impl Iterator<Item = Word>) -> Dirty {
    let mut out = Dirty::default();
    for word in words {
        match word {
            Word::Reg(_) => out.registers += 1,
            Word::Mem(_) => out.memory += 1,
        }
    }
    out
}

pub(super) fn words_of(place: &Place) -> Vec<Word> {
    match place.at {
        Location::Register(r) => vec![Word::Reg(r.index())],
        Location::Cell(_) | Location::Memory { .. } => memory_of(place).map(Word::Mem).collect(),
    }
}

/// The words of memory that a place takes.
pub(crate) fn memory_of(place: &Place) -> Range<u64> {
    match place.at {
        Location::Register(_) => 0..0,
        Location::Cell(at) => u64::from(at)..u64::from(at) + 1,
        Location::Memory { start, len, .. } => start..start.saturating_add(len),
    }
}
