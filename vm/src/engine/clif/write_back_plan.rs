//! Decides when registers are written back to the machine: in each block early or only in side exits, and which registers may be
//! out of date in the machine.

use pendula_codegen::lift::registers;
use pendula_codegen::ops::Op;
use pendula_isa::adjoint::LANES;

use crate::decode::Exit;
use crate::engine::job::{Facts, Job};

/// The maximum number of stores in the side exits of a unit.
const STORES_ASIDE: usize = 400;

/// The write-back decisions for a unit.
#[derive(Default)]
pub(super) struct WriteBackPlan {
    /// For each block, the registers that may be out of date in the machine when it begins.
    pub(super) dirty: Vec<[u32; LANES]>,
    /// For each block, whether it writes registers back before a possible side exit. Otherwise it does so in the exit, which costs nothing
    /// while the block runs but takes much code if there are many exits.
    pub(super) eager: Vec<bool>,
}

impl WriteBackPlan {
    pub(super) fn new(job: &Job<'_>, facts: &Facts) -> WriteBackPlan {
        let mut write_back_plan = WriteBackPlan::default();
        write_back_plan.choose_eager(job);
        write_back_plan.find_dirty(job, facts);
        write_back_plan
    }

    /// Chooses the blocks that write registers back early: all with side exits, except those in loops, the innermost first, as long as
    /// the number of stores permits.
    fn choose_eager(&mut self, job: &Job<'_>) {
        let n = job.unit.blocks.len();
        self.eager = vec![true; n];
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|at| std::cmp::Reverse(job.unit.depth[*at]));
        let mut left = STORES_ASIDE;
        for at in order {
            let body = &job.bodies[at];
            let leaves = body.parts.iter().filter(|p| body.ops[p.range()].iter().any(Op::may_exit)).count() + 1;
            let written: usize = body.ops.iter().filter(|op| matches!(op, Op::Set(..))).count();
            let stores = leaves * (written.min(24) + 2);
            if leaves == 1 && body.branch.is_none() || (job.unit.depth[at] > 0 && stores <= left) {
                self.eager[at] = false;
                left = left.saturating_sub(stores);
            }
        }
    }

    /// Computes the registers that may be out of date in the machine at the beginning of each block.
    fn find_dirty(&mut self, job: &Job<'_>, facts: &Facts) {
        let n = job.unit.blocks.len();
        self.dirty = vec![[0; LANES]; n];
        let place = |b: u32| job.unit.place(b);
        let successors: Vec<[Option<usize>; 2]> = job
            .unit
            .blocks
            .iter()
            .map(|&b| {
                let code = &job.decoded.code[b as usize];
                match &code.exit {
                    Exit::Branch(branch) => [place(branch.to), place(branch.fall.block)],
                    Exit::Fall(to) => [place(*to), None],
                    Exit::Call { lift: false, .. } => {
                        let site = &job.decoded.calls[job.decoded.address(b, code.len - 1) as usize];
                        let after = site.as_ref().map(|s| s.after[usize::from(!job.decoded.is_forward(b))].block);
                        [after.and_then(place), None]
                    }
                    Exit::Call { .. } | Exit::CallRegister { .. } | Exit::Return { .. } | Exit::Halt => [None, None],
                    Exit::PisaBranch(_) | Exit::End | Exit::Stop(_) | Exit::OffCode => [None, None],
                }
            })
            .collect();
        let mut todo: Vec<usize> = (0..n).rev().collect();
        let mut waiting = vec![true; n];
        while let Some(at) = todo.pop() {
            waiting[at] = false;
            let out = self.after((job, facts), at, self.dirty[at]);
            for to in successors[at].into_iter().flatten() {
                let before = self.dirty[to];
                for (dirty, out) in self.dirty[to].iter_mut().zip(out) {
                    *dirty |= out;
                }
                if self.dirty[to] != before && !std::mem::replace(&mut waiting[to], true) {
                    todo.push(to);
                }
            }
        }
    }

    /// The registers that may be out of date in the machine when a block ends.
    fn after(&self, (job, facts): (&Job<'_>, &Facts), place: usize, mut dirty: [u32; LANES]) -> [u32; LANES] {
        let code = &job.decoded.code[job.unit.blocks[place] as usize];
        for part in &job.bodies[place].parts {
            for op in &job.bodies[place].ops[part.range()] {
                match *op {
                    Op::Set(lane, reg, _) => dirty[usize::from(lane)] |= 1 << reg,
                    Op::Interpret => {
                        let (read, written) = registers(job.instruction(code.first + part.k - code.head));
                        job.lanes().for_each(|lane| dirty[lane] &= !(read | written));
                    }
                    _ => {}
                }
            }
        }
        if self.eager[place] {
            return [0; LANES];
        }
        if let Exit::Call { to, lift: false, .. } = code.exit {
            let touched = facts.touched(job, to);
            for (dirty, touched) in dirty.iter_mut().zip(touched) {
                *dirty &= !touched;
            }
        }
        dirty
    }
}
