//! The activity of a run, phase by phase, which is priced.

use std::collections::BTreeMap;

use pendula_isa::counts::{Counts, Mode};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::table::Row;

use crate::work::{CircuitUsage, erasing, registers, share};

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
                for (inst, n) in module.code.iter().zip(counts) {
                    out.execute(inst, mode.mode, n, bits);
                }
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

    /// Adds the totals of another run.
    pub fn add(&mut self, other: &Totals) {
        self.add_share(other, 1, 1);
        self.dirty.registers = self.dirty.registers.saturating_add(other.dirty.registers);
        self.dirty.memory = self.dirty.memory.saturating_add(other.dirty.memory);
        self.bits_dirty = self.bits_dirty.saturating_add(other.bits_dirty);
    }

    /// What erasing words of `bits` bits takes, one instruction each.
    pub fn erasing(dirty: Dirty, bits: u64) -> Totals {
        let mut out = Totals { bits_lost: dirty.words().saturating_mul(bits), ..Totals::default() };
        for (erase, n) in erasing(dirty.registers, dirty.memory) {
            out.execute(&erase, Mode::default(), n, bits);
        }
        out
    }

    /// Adds executions of an instruction in a mode: its circuits, its fetches, its accesses to registers, and its traffic with the host in
    /// words of `bits` bits. What it destroys is not known from its kind.
    pub fn execute(&mut self, inst: &Inst, mode: Mode, times: u64, bits: u64) {
        if times == 0 {
            return;
        }
        let usage = CircuitUsage::of(inst, mode);
        self.work.add_times(&usage, times);
        let sum = self.executed.entry(usage).or_default();
        *sum = sum.saturating_add(times);
        self.instructions = self.instructions.saturating_add(times);
        let (reads, writes) = registers(inst);
        self.register_reads = self.register_reads.saturating_add(reads.saturating_mul(times));
        self.register_writes = self.register_writes.saturating_add(writes.saturating_mul(times));
        let traffic = times.saturating_mul(bits);
        match traffic_of(inst) {
            Traffic::None => {}
            Traffic::In => self.bits_in = self.bits_in.saturating_add(traffic),
            Traffic::Out => self.bits_out = self.bits_out.saturating_add(traffic),
        }
    }

    /// Adds the fraction `part`/`whole` of another, with each number rounded.
    pub(crate) fn add_share(&mut self, other: &Totals, part: u64, whole: u64) {
        self.work.add_share(&other.work, part, whole);
        for (usage, n) in &other.executed {
            let sum = self.executed.entry(usage.clone()).or_default();
            *sum = sum.saturating_add(share(*n, part, whole));
        }
        let add = |sum: &mut u64, n: u64| *sum = sum.saturating_add(share(n, part, whole));
        add(&mut self.instructions, other.instructions);
        add(&mut self.register_reads, other.register_reads);
        add(&mut self.register_writes, other.register_writes);
        add(&mut self.bits_in, other.bits_in);
        add(&mut self.bits_out, other.bits_out);
        add(&mut self.bits_lost, other.bits_lost);
    }
}

/// Words that an instruction exchanges with the host.
enum Traffic {
    None,
    In,
    Out,
}

fn traffic_of(inst: &Inst) -> Traffic {
    match inst.kind {
        Kind::Row { row: Row::Read, .. } => Traffic::In,
        // A printed text is not a word of the program.
        Kind::Row { row: Row::Emit | Row::Show, .. } => Traffic::Out,
        Kind::Row { .. } | Kind::Accumulate { .. } | Kind::Extension { .. } => Traffic::None,
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
                match traffic_of(&module.code[at]) {
                    Traffic::None => {}
                    Traffic::In => done.read += n,
                    Traffic::Out => done.written += n,
                }
            }
        }
    }
    out
}
