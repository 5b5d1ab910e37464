//! The activity of a run, phase by phase, which is priced.

use std::collections::BTreeMap;

use pendula_isa::Kind;
use pendula_isa::counts::Counts;
use pendula_isa::module::Module;
use pendula_isa::table::Row;

use crate::work::{CircuitUsage, erasing, registers};

/// A part of what the host has a machine do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The forward run; its inputs are brought from the host.
    Forward,
    /// Results copied to the host's memory.
    CopyOut,
    /// The backward run.
    Backward,
    /// Gradients copied to the host's memory.
    GradientCopy,
    /// What is left at the end is erased.
    End,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Phase; 5] = [Phase::Forward, Phase::CopyOut, Phase::Backward, Phase::GradientCopy, Phase::End];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Forward => "forward",
            Phase::CopyOut => "copy out",
            Phase::Backward => "backward",
            Phase::GradientCopy => "gradient copy",
            Phase::End => "end",
        }
    }
}

/// Words that a run leaves neither zero nor as they were, as far as is known whatever they hold. To make them clean, they are erased.
///
/// The number of their bits is an upper bound of the information that this destroys: the joint entropy of words is at most their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dirty {
    /// Registers, and gradient words of registers.
    pub registers: u64,
    /// Words of memory.
    pub memory: u64,
}

impl Dirty {
    /// All words.
    pub const fn words(self) -> u64 {
        self.registers.saturating_add(self.memory)
    }

    /// The uses of circuits for erasing them: an `erase` each.
    pub(crate) fn work(self) -> CircuitUsage {
        erasing(self.registers, self.memory)
    }
}

/// The activity in a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The phase.
    pub phase: Phase,
    /// The execution counts, and the information destroyed.
    pub counts: Counts,
    /// Words brought from the host.
    pub words_in: u64,
    /// Words copied to the host.
    pub words_out: u64,
    /// Words that are erased because they were left.
    pub dirty: Dirty,
}

impl Activity {
    /// A phase in which instructions ran, and nothing else.
    pub const fn new(phase: Phase, counts: Counts) -> Activity {
        Activity { phase, counts, words_in: 0, words_out: 0, dirty: Dirty { registers: 0, memory: 0 } }
    }
}

/// The totals of a run, without places. They suffice to price the run again and again, as for a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Uses of circuits.
    pub work: CircuitUsage,
    /// Instructions executed.
    pub instructions: u64,
    /// How many of them use the same circuits.
    pub executed: BTreeMap<CircuitUsage, u64>,
    /// Register operands of these.
    pub register_reads: u64,
    /// Register operands that they change.
    pub register_writes: u64,
    /// Bits brought from the host.
    pub bits_in: u64,
    /// Bits copied to the host.
    pub bits_out: u64,
    /// Bits destroyed by instructions.
    pub bits_lost: u64,
    /// Words left dirty, which are erased at the end.
    pub dirty: Dirty,
    /// Bits of these words.
    pub bits_dirty: u64,
}

impl Totals {
    /// The totals of all phases.
    pub fn new(module: &Module, activities: &[Activity]) -> Totals {
        let mut out = Totals::default();
        let bits = u64::from(module.flags.profile.width());
        for activity in activities {
            for mode in &activity.counts.modes {
                let counts = activity.counts.per_instruction(mode, module.code.len());
                for (inst, n) in module.code.iter().zip(counts).filter(|(_, n)| *n > 0) {
                    out.execute(CircuitUsage::of(inst, mode.mode), n);
                }
            }
            for (inst, done) in module.code.iter().zip(work_by_instruction(module, &activity.counts)) {
                out.bits_in += done.read * bits;
                out.bits_out += done.written * bits;
                let (reads, writes) = registers(inst);
                out.register_reads += reads.saturating_mul(done.times);
                out.register_writes += writes.saturating_mul(done.times);
            }
            out.bits_in += activity.words_in * bits;
            out.bits_out += activity.words_out * bits;
            out.bits_lost += activity.counts.lost_bits();
            out.dirty.registers += activity.dirty.registers;
            out.dirty.memory += activity.dirty.memory;
        }
        out.bits_dirty = out.dirty.words().saturating_mul(bits);
        out
    }

    /// Adds executions of an instruction that uses these circuits.
    pub fn execute(&mut self, usage: CircuitUsage, times: u64) {
        self.instructions = self.instructions.saturating_add(times);
        self.work.add_times(&usage, times);
        let sum = self.executed.entry(usage).or_default();
        *sum = sum.saturating_add(times);
    }
}

/// What all executions of an instruction took.
#[derive(Clone, Debug, Default)]
pub(super) struct InstructionWork {
    pub(super) work: CircuitUsage,
    /// How often it was executed.
    pub(super) times: u64,
    /// Words that it read from the host's tapes.
    pub(super) read: u64,
    /// Words that it wrote to them.
    pub(super) written: u64,
}

/// The work of each instruction.
pub(super) fn work_by_instruction(module: &Module, counts: &Counts) -> Vec<InstructionWork> {
    let mut out: Vec<InstructionWork> = vec![InstructionWork::default(); module.code.len()];
    for mode in &counts.modes {
        for (at, n) in counts.per_instruction(mode, module.code.len()).into_iter().enumerate() {
            if n > 0 {
                let done = &mut out[at];
                done.times += n;
                done.work.add_times(&CircuitUsage::of(&module.code[at], mode.mode), n);
                // A printed text is not a word of the program.
                match module.code[at].kind {
                    Kind::Row { row: Row::Read, .. } => done.read += n,
                    Kind::Row { row: Row::Emit | Row::Show, .. } => done.written += n,
                    Kind::Row { .. } | Kind::Accumulate { .. } => {}
                }
            }
        }
    }
    out
}
