//! Where the values of a block are: in registers of the host, in slots of its stack, in the machine's registers, or constants.

use pendula_codegen::ops::{Body, Op, Test, V};
use pendula_isa::adjoint::LANES;
use pendula_isa::types::Reg;

use super::Baseline;
use super::asm::{Gpr, Mem, Rm, Xmm};

/// Neither a register nor a slot.
const NONE: u8 = u8::MAX;
const NO_SLOT: u16 = u16::MAX;

/// General registers for values: those that calls do not keep, but for the scratch register.
const GENERAL: [u8; 8] = [0, 1, 2, 6, 7, 8, 9, 10];
/// Vector registers for values.
const VECTOR: [u8; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
/// The most slots of a draft: calls count on units taking little of the stack.
pub(super) const SLOTS: u16 = 256;
/// For what is used at once.
pub(super) const SCRATCH: Gpr = Gpr::R11;

/// Where a value is to be found; it may be in several places.
#[derive(Clone, Copy)]
struct At {
    general: u8,
    vector: u8,
    slot: u16,
    /// A lane's register of the machine.
    home: Option<(u8, u8)>,
    /// Another value that is there too.
    neighbour: Option<V>,
    constant: Option<u64>,
}

const NOWHERE: At = At { general: NONE, vector: NONE, slot: NO_SLOT, home: None, neighbour: None, constant: None };

/// The values of a block.
pub(super) struct Values {
    at: Vec<At>,
    /// How many uses of each are still to come.
    left: Vec<u32>,
    /// Whether it is used as a double.
    pub(super) doubles: Vec<bool>,
    /// Whether it is a comparison that is made where it decides something.
    pub(super) late: Vec<bool>,
    general: [Option<V>; 16],
    vector: [Option<V>; 16],
    /// Registers that the present operation needs.
    pinned: (u16, u16),
    turn: usize,
    homes: [[Option<V>; Reg::COUNT]; LANES],
    free: Vec<u16>,
    /// How many slots there are; more than [`SLOTS`] where they do not suffice.
    pub(super) slots: u16,
}

impl Default for Values {
    fn default() -> Values {
        Values {
            at: Vec::new(),
            left: Vec::new(),
            doubles: Vec::new(),
            late: Vec::new(),
            general: [None; 16],
            vector: [None; 16],
            pinned: (0, 0),
            turn: 0,
            homes: [[None; Reg::COUNT]; LANES],
            free: Vec::new(),
            slots: 0,
        }
    }
}

impl Values {
    /// Begins a block: counts how often each value is used by what is not idle.
    pub(super) fn begin(&mut self, body: &Body) {
        let n = body.ops.len();
        self.at.clear();
        self.at.resize(n, NOWHERE);
        self.left.clear();
        self.left.resize(n, 0);
        self.doubles.clear();
        self.doubles.resize(n, false);
        self.late.clear();
        self.late.resize(n, false);
        (self.general, self.vector, self.pinned) = ([None; 16], [None; 16], (0, 0));
        self.homes = [[None; Reg::COUNT]; LANES];
        self.free.clear();
        self.free.extend((0..self.slots).rev());
        if let Some(branch) = body.branch {
            for test in [branch.test, branch.confirm, branch.unless] {
                if let Test::If(_, v) = test {
                    self.left[v.0 as usize] += 1;
                    self.late[v.0 as usize] = true;
                }
            }
        }
        for (n, op) in body.ops.iter().enumerate().rev() {
            if op.is_idle() && self.left[n] == 0 {
                continue;
            }
            let (decides, double) = (
                matches!(op, Op::Require(_) | Op::If(_)),
                matches!(op, Op::Float(..) | Op::Sqrt(_) | Op::CompareFloat(..) | Op::Ordered(..) | Op::Canonical(_)),
            );
            for v in op.uses() {
                self.left[v.0 as usize] += 1;
                self.late[v.0 as usize] |= decides;
                self.doubles[v.0 as usize] |= double;
            }
            let late = self.late[n] && self.left[n] == 1 && matches!(op, Op::Compare(..) | Op::CompareFloat(..));
            self.late[n] = late;
        }
    }

    pub(super) fn left(&self, v: V) -> u32 {
        self.left[v.0 as usize]
    }

    pub(super) fn constant(&self, v: V) -> Option<u64> {
        self.at[v.0 as usize].constant
    }

    /// A constant that fits where instructions have room for one.
    pub(super) fn small(&self, v: V) -> Option<i32> {
        self.constant(v).and_then(|k| i32::try_from(k.cast_signed()).ok())
    }

    pub(super) fn is_constant(&mut self, v: V, k: u64) {
        self.at[v.0 as usize].constant = Some(k);
    }

    pub(super) fn is_vector(&self, v: V) -> bool {
        let at = &self.at[v.0 as usize];
        at.vector != NONE && at.general == NONE
    }

    /// The value is what the machine's register holds.
    pub(super) fn is_at_home(&mut self, v: V, lane: u8, reg: u8) {
        let home = &mut self.homes[usize::from(lane)][usize::from(reg)];
        let at = &mut self.at[v.0 as usize];
        if at.home.is_none() {
            (at.home, at.neighbour) = (Some((lane, reg)), home.replace(v));
        }
    }

    /// A slot that nothing is in. Where there are too many, the draft is thrown away in the end.
    fn vacant(&mut self) -> u16 {
        self.free.pop().unwrap_or_else(|| {
            let slot = self.slots.min(SLOTS);
            self.slots = slot + 1;
            slot
        })
    }

    pub(super) fn is_home(&self, v: V, lane: u8, reg: u8) -> bool {
        self.at[v.0 as usize].home == Some((lane, reg))
    }
}

impl Baseline<'_> {
    /// Where a machine's register lies; the address may need the scratch register.
    pub(super) fn home(&mut self, lane: u8, reg: u8) -> Mem {
        let base = self.registers(usize::from(lane));
        Mem::at(base, 8 * usize::from(reg))
    }

    fn slot(n: u16) -> Mem {
        Mem::at(Gpr::RSP, 8 + 8 * usize::from(n))
    }

    /// Puts a value that is only in registers of the host into a slot.
    fn save(&mut self, v: V) {
        let n = v.0 as usize;
        let at = self.values.at[n];
        if self.values.left[n] == 0 || at.slot != NO_SLOT || at.home.is_some() || at.constant.is_some() {
            return;
        }
        let slot = self.values.vacant();
        if at.general != NONE {
            self.asm.store(Self::slot(slot), Gpr(at.general));
        } else if at.vector != NONE {
            self.asm.store_double(Self::slot(slot), Xmm(at.vector));
        }
        self.values.at[n].slot = slot;
    }

    /// Empties a general register.
    fn evict(&mut self, r: u8) {
        if let Some(v) = self.values.general[usize::from(r)].take() {
            if self.values.at[v.0 as usize].vector == NONE {
                self.save(v);
            }
            self.values.at[v.0 as usize].general = NONE;
        }
    }

    fn evict_vector(&mut self, r: u8) {
        if let Some(v) = self.values.vector[usize::from(r)].take() {
            if self.values.at[v.0 as usize].general == NONE {
                self.save(v);
            }
            self.values.at[v.0 as usize].vector = NONE;
        }
    }

    /// Saves all that is used later, and empties all registers.
    pub(super) fn flush(&mut self) {
        for r in GENERAL {
            if let Some(v) = self.values.general[usize::from(r)] {
                self.save(v);
            }
        }
        for r in VECTOR {
            if let Some(v) = self.values.vector[usize::from(r)] {
                self.save(v);
            }
        }
        self.forget();
    }

    /// Empties all registers without saving anything.
    pub(super) fn forget(&mut self) {
        for v in self.values.general.iter_mut().filter_map(Option::take) {
            self.values.at[v.0 as usize].general = NONE;
        }
        for v in self.values.vector.iter_mut().filter_map(Option::take) {
            self.values.at[v.0 as usize].vector = NONE;
        }
        self.values.pinned = (0, 0);
    }

    /// The operation has been written.
    pub(super) fn unpin(&mut self) {
        self.values.pinned = (0, 0);
    }

    /// An empty general register.
    pub(super) fn take(&mut self) -> Gpr {
        let pinned = self.values.pinned.0;
        let open = |r: &&u8| pinned >> **r & 1 == 0;
        let free = GENERAL.iter().filter(open).find(|r| self.values.general[usize::from(**r)].is_none());
        let r = match free {
            Some(r) => *r,
            None => {
                let turn = self.values.turn;
                self.values.turn = (turn + 1) % GENERAL.len();
                let all = (0..GENERAL.len()).map(|k| &GENERAL[(turn + k) % GENERAL.len()]);
                *all.clone().find(open).unwrap_or(&GENERAL[0])
            }
        };
        self.evict(r);
        self.values.pinned.0 |= 1 << r;
        Gpr(r)
    }

    pub(super) fn take_vector(&mut self) -> Xmm {
        let pinned = self.values.pinned.1;
        let open = |r: &&u8| pinned >> **r & 1 == 0;
        let free = VECTOR.iter().filter(open).find(|r| self.values.vector[usize::from(**r)].is_none());
        let r = match free {
            Some(r) => *r,
            None => {
                let turn = self.values.turn;
                self.values.turn = turn + 1;
                *VECTOR.iter().cycle().skip(turn % VECTOR.len()).take(VECTOR.len()).find(open).unwrap_or(&VECTOR[0])
            }
        };
        self.evict_vector(r);
        self.values.pinned.1 |= 1 << r;
        Xmm(r)
    }

    /// This register, empty.
    pub(super) fn claim(&mut self, r: Gpr) {
        self.evict(r.0);
        self.values.pinned.0 |= 1 << r.0;
    }

    /// Puts a word into a register, from wherever it is.
    pub(super) fn load(&mut self, to: Gpr, v: V) {
        let at = self.values.at[v.0 as usize];
        if at.general != NONE {
            if at.general != to.0 {
                self.asm.mov(to, Gpr(at.general));
            }
        } else if let Some(k) = at.constant {
            self.asm.constant(to, k);
        } else if at.vector != NONE {
            self.asm.double_to_word(to, Xmm(at.vector));
        } else if at.slot != NO_SLOT {
            self.asm.mov(to, Self::slot(at.slot));
        } else if let Some((lane, reg)) = at.home {
            let home = self.home(lane, reg);
            self.asm.mov(to, home);
        } else {
            debug_assert!(false, "{v:?} is nowhere");
        }
    }

    /// A value in a general register.
    pub(super) fn word(&mut self, v: V) -> Gpr {
        let r = self.values.at[v.0 as usize].general;
        if r != NONE {
            self.values.pinned.0 |= 1 << r;
            return Gpr(r);
        }
        let r = self.take();
        self.load(r, v);
        self.values.general[usize::from(r.0)] = Some(v);
        self.values.at[v.0 as usize].general = r.0;
        r
    }

    /// A value in a vector register.
    pub(super) fn double(&mut self, v: V) -> Xmm {
        let at = self.values.at[v.0 as usize];
        if at.vector != NONE {
            self.values.pinned.1 |= 1 << at.vector;
            return Xmm(at.vector);
        }
        let r = self.take_vector();
        self.load_double(r, v);
        self.values.vector[usize::from(r.0)] = Some(v);
        self.values.at[v.0 as usize].vector = r.0;
        r
    }

    fn load_double(&mut self, to: Xmm, v: V) {
        let at = self.values.at[v.0 as usize];
        if at.vector != NONE {
            self.asm.copy_double(to, Xmm(at.vector));
        } else if at.general != NONE {
            self.asm.word_to_double(to, Gpr(at.general));
        } else if at.constant == Some(0) {
            self.asm.clear_double(to);
        } else if let Some(k) = at.constant {
            self.asm.constant(SCRATCH, k);
            self.asm.word_to_double(to, SCRATCH);
        } else if at.slot != NO_SLOT {
            self.asm.double(to, Self::slot(at.slot));
        } else if let Some((lane, reg)) = at.home {
            let home = self.home(lane, reg);
            self.asm.double(to, home);
        } else {
            debug_assert!(false, "{v:?} is nowhere");
        }
    }

    /// Where a value lies in memory that need not be in a register.
    fn in_memory(&mut self, v: V) -> Option<Mem> {
        let at = self.values.at[v.0 as usize];
        let lies = at.general == NONE && at.vector == NONE && at.constant.is_none() && self.values.left(v) == 1;
        if !lies {
            return None;
        }
        if at.slot != NO_SLOT {
            return Some(Self::slot(at.slot));
        }
        at.home.map(|(lane, reg)| self.home(lane, reg))
    }

    /// A word as a second operand: in memory where it need not be in a register. To be used at once.
    pub(super) fn operand(&mut self, v: V) -> Rm {
        match self.in_memory(v) {
            Some(mem) => mem.into(),
            None => self.word(v).into(),
        }
    }

    /// A double as a second operand, likewise.
    pub(super) fn double_operand(&mut self, v: V) -> Rm {
        match self.in_memory(v) {
            Some(mem) => mem.into(),
            None => self.double(v).into(),
        }
    }

    /// A register that holds the word and may be overwritten.
    pub(super) fn consume(&mut self, v: V) -> Gpr {
        let at = self.values.at[v.0 as usize];
        if at.general != NONE && self.values.left(v) == 1 {
            self.values.general[usize::from(at.general)] = None;
            self.values.at[v.0 as usize].general = NONE;
            self.values.pinned.0 |= 1 << at.general;
            return Gpr(at.general);
        }
        let r = self.take();
        self.load(r, v);
        r
    }

    pub(super) fn consume_double(&mut self, v: V) -> Xmm {
        let at = self.values.at[v.0 as usize];
        if at.vector != NONE && self.values.left(v) == 1 {
            self.values.vector[usize::from(at.vector)] = None;
            self.values.at[v.0 as usize].vector = NONE;
            self.values.pinned.1 |= 1 << at.vector;
            return Xmm(at.vector);
        }
        let r = self.take_vector();
        self.load_double(r, v);
        r
    }

    /// The register holds the value from now on.
    pub(super) fn define(&mut self, v: V, r: Gpr) {
        if self.values.left(v) > 0 {
            self.values.general[usize::from(r.0)] = Some(v);
            self.values.at[v.0 as usize].general = r.0;
        }
    }

    pub(super) fn define_double(&mut self, v: V, r: Xmm) {
        if self.values.left(v) > 0 {
            self.values.vector[usize::from(r.0)] = Some(v);
            self.values.at[v.0 as usize].vector = r.0;
        }
    }

    /// The value has been used once.
    pub(super) fn used(&mut self, v: V) {
        let n = v.0 as usize;
        self.values.left[n] -= 1;
        if self.values.left[n] > 0 {
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

    /// A slot for the value, which is put there by [`Self::fill`].
    pub(super) fn reserve(&mut self, v: V) {
        self.values.at[v.0 as usize].slot = self.values.vacant();
    }

    /// Copies one value into another's slot.
    pub(super) fn fill(&mut self, to: V, from: V) {
        let slot = Self::slot(self.values.at[to.0 as usize].slot);
        let at = self.values.at[from.0 as usize];
        if at.general == NONE && at.vector != NONE {
            self.asm.store_double(slot, Xmm(at.vector));
        } else {
            // The scratch register may be what the other's address is found by, and then holds the word.
            let r = if at.general != NONE { Gpr(at.general) } else { SCRATCH };
            if r == SCRATCH {
                self.load(r, from);
            }
            self.asm.store(slot, r);
        }
    }

    /// A register of the machine is about to be overwritten: what is nowhere else must go elsewhere.
    pub(super) fn vacate(&mut self, lane: u8, reg: u8, calls: bool) {
        let mut next = self.values.homes[usize::from(lane)][usize::from(reg)].take();
        while let Some(v) = next {
            let at = self.values.at[v.0 as usize];
            if self.values.left(v) > 0 && at.slot == NO_SLOT && at.constant.is_none() {
                if at.general == NONE && at.vector == NONE {
                    self.word(v);
                }
                self.values.at[v.0 as usize].home = None;
                if calls {
                    self.save(v);
                }
            }
            self.values.at[v.0 as usize].home = None;
            next = at.neighbour;
        }
    }

    /// Writes a register of the machine.
    pub(super) fn write(&mut self, lane: u8, reg: u8, v: V) {
        if !self.values.is_home(v, lane, reg) {
            self.vacate(lane, reg, false);
            if self.values.is_vector(v) {
                let r = self.double(v);
                let home = self.home(lane, reg);
                self.asm.store_double(home, r);
            } else if let Some(k) = self.values.small(v) {
                let home = self.home(lane, reg);
                self.asm.store_constant(home, k);
            } else {
                let r = self.word(v);
                let home = self.home(lane, reg);
                self.asm.store(home, r);
            }
            self.values.is_at_home(v, lane, reg);
        }
        self.used(v);
    }
}
