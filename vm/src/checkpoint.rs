//! Checkpoints: all that a machine needs to go on from where it was.

use pendula_isa::adjoint::{AdMode, LANES};
use pendula_isa::counts::Direction;
use pendula_isa::types::Reg;
use pendula_isa::words::SparseWords;

use crate::event::RoundingResidues;
use crate::lanes::{Dropped, Lane};
use crate::machine::{Machine, Position};
use crate::run::set_ad_mode;
use crate::snapshot::Snapshot;

/// A copy of a machine in the middle of a run: its values, gradient words and tangents, its position, its flags. Counts are not among them.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    values: Snapshot,
    lanes: [Words; LANES - 1],
    position: Position,
    halted: bool,
    begun: Direction,
    forward: bool,
    branch: i32,
    ad_mode: AdMode,
    dropped: Dropped,
    flags: [usize; 3],
    rests: RoundingResidues,
    lost: Vec<u64>,
}

/// A lane, with its memory as a sparse sequence.
#[derive(Clone, Debug)]
struct Words {
    regs: [u64; Reg::PLACES],
    mem: SparseWords,
    output: Vec<u64>,
}

impl Checkpoint {
    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let lanes = self.lanes.iter().map(|l| l.mem.stored() + l.output.len()).sum::<usize>();
        8 * (lanes + self.lost.len()) + self.values.bytes() + size_of::<Checkpoint>()
    }
}

impl Machine<'_> {
    /// A copy of the machine as it is between two instructions. A run that carries jets cannot be copied; their lanes are left out.
    pub fn checkpoint(&self) -> Checkpoint {
        let core = &self.core;
        let lane = |l: &Lane| Words { regs: l.regs, mem: SparseWords::from(&l.mem[..]), output: l.output.clone() };
        Checkpoint {
            values: self.snapshot(),
            lanes: std::array::from_fn(|n| lane(&core.lanes[n])),
            position: self.position,
            halted: self.halted,
            begun: self.begun,
            forward: core.forward,
            branch: core.br,
            ad_mode: core.ad_mode,
            dropped: core.dropped.clone(),
            flags: [core.overflow_op, core.carried_op, core.inexact_op],
            rests: core.rests,
            lost: core.lost.clone(),
        }
    }

    /// Continues from a copy of this machine. Counts stay as they are.
    pub fn resume(&mut self, from: &Checkpoint) {
        self.restore(&from.values);
        self.disturb();
        let core = &mut self.core;
        for (lane, words) in core.lanes.iter_mut().zip(&from.lanes) {
            lane.regs = words.regs;
            lane.output.clone_from(&words.output);
            lane.mem.resize(words.mem.len(), 0);
            words.mem.copy_to(&mut lane.mem);
        }
        core.dropped.clone_from(&from.dropped);
        [core.overflow_op, core.carried_op, core.inexact_op] = from.flags;
        core.rests = from.rests;
        core.lost.clone_from(&from.lost);
        core.br = from.branch;
        core.forward = from.forward;
        set_ad_mode(core, self.program, from.ad_mode);
        (self.position, self.halted, self.begun) = (from.position, from.halted, from.begun);
    }
}
