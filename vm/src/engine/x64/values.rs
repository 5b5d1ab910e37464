//! The locations of a block's values: registers of the host, slots of its stack, the machine's registers, or constants.
//! [`registers`](super::registers) allocates the host's registers.

use pendula_codegen::ops::{Body, Op, Test, ValueId};
use pendula_isa::adjoint::LANES;
use pendula_isa::types::Reg;

use super::Baseline;
use super::asm::{Gpr, Mem, Xmm};

/// Neither a register nor a slot.
pub(super) const NONE: u8 = u8::MAX;
pub(super) const NO_SLOT: u16 = u16::MAX;

/// The maximum number of slots: the stack check for calls relies on small frames.
pub(super) const SLOTS: u16 = 256;
/// The scratch register, for immediate use.
pub(super) const SCRATCH: Gpr = Gpr::R11;

/// The locations of a value; there may be several.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) general: u8,
    pub(super) vector: u8,
    pub(super) slot: u16,
    /// A lane's register of the machine.
    pub(super) machine_register: Option<(u8, u8)>,
    /// Another value in the same register of the machine.
    next_in_register: Option<ValueId>,
    pub(super) constant: Option<u64>,
}

const NOWHERE: At =
    At { general: NONE, vector: NONE, slot: NO_SLOT, machine_register: None, next_in_register: None, constant: None };

/// The values of a block.
pub(super) struct Values {
    pub(super) at: Vec<At>,
    /// The number of remaining uses of each value.
    pub(super) uses_left: Vec<u32>,
    /// Whether each value is used as a double.
    pub(super) doubles: Vec<bool>,
    /// Whether each value is a comparison that is fused with the branch or check that uses it.
    pub(super) fused: Vec<bool>,
    pub(super) general: [Option<ValueId>; 16],
    pub(super) vector: [Option<ValueId>; 16],
    /// Registers that the current operation needs.
    pub(super) pinned: (u16, u16),
    pub(super) next_victim: usize,
    machine_registers: [[Option<ValueId>; Reg::COUNT]; LANES],
    free: Vec<u16>,
    /// The number of slots; more than [`SLOTS`] if they do not suffice.
    pub(super) slots: u16,
}

impl Default for Values {
    fn default() -> Values {
        Values {
            at: Vec::new(),
            uses_left: Vec::new(),
            doubles: Vec::new(),
            fused: Vec::new(),
            general: [None; 16],
            vector: [None; 16],
            pinned: (0, 0),
            next_victim: 0,
            machine_registers: [[None; Reg::COUNT]; LANES],
            free: Vec::new(),
            slots: 0,
        }
    }
}

impl Values {
    /// Begins a block: counts the uses of each value by operations that are emitted.
    pub(super) fn begin(&mut self, body: &Body) {
        let n = body.ops.len();
        self.at.clear();
        self.at.resize(n, NOWHERE);
        self.uses_left.clear();
        self.uses_left.resize(n, 0);
        self.doubles.clear();
        self.doubles.resize(n, false);
        self.fused.clear();
        self.fused.resize(n, false);
        (self.general, self.vector, self.pinned) = ([None; 16], [None; 16], (0, 0));
        self.machine_registers = [[None; Reg::COUNT]; LANES];
        self.free.clear();
        self.free.extend((0..self.slots).rev());
        if let Some(branch) = body.branch {
            for test in [branch.test, branch.confirm, branch.unless] {
                if let Test::If(_, v) = test {
                    self.uses_left[v.0 as usize] += 1;
                    self.fused[v.0 as usize] = true;
                }
            }
        }
        for (n, op) in body.ops.iter().enumerate().rev() {
            if op.is_idle() && self.uses_left[n] == 0 {
                continue;
            }
            let (decides, double) = (
                matches!(op, Op::Require(_) | Op::If(_)),
                matches!(op, Op::Float(..) | Op::Sqrt(_) | Op::CompareFloat(..) | Op::Ordered(..) | Op::Canonical(_)),
            );
            for v in op.uses() {
                self.uses_left[v.0 as usize] += 1;
                self.fused[v.0 as usize] |= decides;
                self.doubles[v.0 as usize] |= double;
            }
            let fused = self.fused[n] && self.uses_left[n] == 1 && matches!(op, Op::Compare(..) | Op::CompareFloat(..));
            self.fused[n] = fused;
        }
    }

    pub(super) fn uses_left(&self, v: ValueId) -> u32 {
        self.uses_left[v.0 as usize]
    }

    pub(super) fn constant(&self, v: ValueId) -> Option<u64> {
        self.at[v.0 as usize].constant
    }

    /// A constant that fits an immediate operand.
    pub(super) fn small(&self, v: ValueId) -> Option<i32> {
        self.constant(v).and_then(|k| i32::try_from(k.cast_signed()).ok())
    }

    pub(super) fn set_constant(&mut self, v: ValueId, k: u64) {
        self.at[v.0 as usize].constant = Some(k);
    }

    pub(super) fn is_vector(&self, v: ValueId) -> bool {
        let at = &self.at[v.0 as usize];
        at.vector != NONE && at.general == NONE
    }

    /// Records that the machine's register holds the value.
    pub(super) fn set_machine_register(&mut self, v: ValueId, lane: u8, reg: u8) {
        let machine_register = &mut self.machine_registers[usize::from(lane)][usize::from(reg)];
        let at = &mut self.at[v.0 as usize];
        if at.machine_register.is_none() {
            (at.machine_register, at.next_in_register) = (Some((lane, reg)), machine_register.replace(v));
        }
    }

    /// A free slot. If there are too many slots, the code is discarded in the end.
    pub(super) fn free_slot(&mut self) -> u16 {
        self.free.pop().unwrap_or_else(|| {
            let slot = self.slots.min(SLOTS);
            self.slots = slot + 1;
            slot
        })
    }

    pub(super) fn is_in_machine_register(&self, v: ValueId, lane: u8, reg: u8) -> bool {
        self.at[v.0 as usize].machine_register == Some((lane, reg))
    }
}

impl Baseline<'_> {
    /// The address of a register of the machine; it may use the scratch register.
    pub(super) fn machine_register(&mut self, lane: u8, reg: u8) -> Mem {
        let base = self.registers(usize::from(lane));
        Mem::at(base, 8 * usize::from(reg))
    }

    pub(super) fn slot(n: u16) -> Mem {
        Mem::at(Gpr::RSP, 8 + 8 * usize::from(n))
    }

    /// Records that the register holds the value.
    pub(super) fn define(&mut self, v: ValueId, r: Gpr) {
        if self.values.uses_left(v) > 0 {
            self.values.general[usize::from(r.0)] = Some(v);
            self.values.at[v.0 as usize].general = r.0;
        }
    }

    pub(super) fn define_double(&mut self, v: ValueId, r: Xmm) {
        if self.values.uses_left(v) > 0 {
            self.values.vector[usize::from(r.0)] = Some(v);
            self.values.at[v.0 as usize].vector = r.0;
        }
    }

    /// Counts one use of the value.
    pub(super) fn used(&mut self, v: ValueId) {
        let n = v.0 as usize;
        self.values.uses_left[n] -= 1;
        if self.values.uses_left[n] > 0 {
            return;
        }
        let at = &mut self.values.at[n];
        if at.general != NONE {
            self.values.general[usize::from(at.general)] = None;
            at.general = NONE;
        }
        if at.vector != NONE {
            self.values.vector[usize::from(at.vector)] = None;
            at.vector = NONE;
        }
        if at.slot != NO_SLOT {
            self.values.free.push(at.slot);
            at.slot = NO_SLOT;
        }
    }

    /// Reserves a slot for the value, for [`Self::fill`].
    pub(super) fn reserve(&mut self, v: ValueId) {
        self.values.at[v.0 as usize].slot = self.values.free_slot();
    }

    /// Copies one value into another's slot.
    pub(super) fn fill(&mut self, to: ValueId, from: ValueId) {
        let slot = Self::slot(self.values.at[to.0 as usize].slot);
        let at = self.values.at[from.0 as usize];
        if at.general == NONE && at.vector != NONE {
            self.asm.store_double(slot, Xmm(at.vector));
        } else {
            // Loading may use the scratch register for the address first; it then holds the word.
            let r = if at.general != NONE { Gpr(at.general) } else { SCRATCH };
            if r == SCRATCH {
                self.load(r, from);
            }
            self.asm.store(slot, r);
        }
    }

    /// Before a register of the machine is overwritten: moves values that are only there elsewhere.
    pub(super) fn spill_from_machine_register(&mut self, lane: u8, reg: u8, calls: bool) {
        let mut next = self.values.machine_registers[usize::from(lane)][usize::from(reg)].take();
        while let Some(v) = next {
            let at = self.values.at[v.0 as usize];
            if self.values.uses_left(v) > 0 && at.slot == NO_SLOT && at.constant.is_none() {
                if at.general == NONE && at.vector == NONE {
                    self.word(v);
                }
                self.values.at[v.0 as usize].machine_register = None;
                if calls {
                    self.save(v);
                }
            }
            self.values.at[v.0 as usize].machine_register = None;
            next = at.next_in_register;
        }
    }

    /// Writes a register of the machine.
    pub(super) fn write(&mut self, lane: u8, reg: u8, v: ValueId) {
        if !self.values.is_in_machine_register(v, lane, reg) {
            self.spill_from_machine_register(lane, reg, false);
            if self.values.is_vector(v) {
                let r = self.double(v);
                let machine_register = self.machine_register(lane, reg);
                self.asm.store_double(machine_register, r);
            } else if let Some(k) = self.values.small(v) {
                let machine_register = self.machine_register(lane, reg);
                self.asm.store_constant(machine_register, k);
            } else {
                let r = self.word(v);
                let machine_register = self.machine_register(lane, reg);
                self.asm.store(machine_register, r);
            }
            self.values.set_machine_register(v, lane, reg);
        }
        self.used(v);
    }
}
