//! Allocation of the host's registers to values.

use pendula_codegen::ops::ValueId;

use super::Baseline;
use super::asm::{Double, Gpr, Mem, Word, Xmm};
use super::values::{NO_SLOT, NONE, SCRATCH};

/// General registers for values: the caller-saved ones, except the scratch register.
const GENERAL: [u8; 8] = [0, 1, 2, 6, 7, 8, 9, 10];
/// Vector registers for values.
const VECTOR: [u8; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
impl Baseline<'_> {
    /// Spills a value that is only in registers of the host to a slot.
    pub(super) fn save(&mut self, v: ValueId) {
        let n = v.0 as usize;
        let at = self.values.at[n];
        if self.values.uses_left[n] == 0 || at.slot != NO_SLOT || at.machine_register.is_some() || at.constant.is_some()
        {
            return;
        }
        let slot = self.values.free_slot();
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

    /// Spills all values that are used later, and empties all registers.
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

    /// Empties all registers without spilling.
    pub(super) fn forget(&mut self) {
        for v in self.values.general.iter_mut().filter_map(Option::take) {
            self.values.at[v.0 as usize].general = NONE;
        }
        for v in self.values.vector.iter_mut().filter_map(Option::take) {
            self.values.at[v.0 as usize].vector = NONE;
        }
        self.values.pinned = (0, 0);
    }

    /// Ends an operation: its registers may be evicted again.
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
                let next_victim = self.values.next_victim;
                self.values.next_victim = (next_victim + 1) % GENERAL.len();
                let all = (0..GENERAL.len()).map(|k| &GENERAL[(next_victim + k) % GENERAL.len()]);
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
                let next_victim = self.values.next_victim;
                self.values.next_victim = next_victim + 1;
                *VECTOR
                    .iter()
                    .cycle()
                    .skip(next_victim % VECTOR.len())
                    .take(VECTOR.len())
                    .find(open)
                    .unwrap_or(&VECTOR[0])
            }
        };
        self.evict_vector(r);
        self.values.pinned.1 |= 1 << r;
        Xmm(r)
    }

    /// Empties this register and takes it.
    pub(super) fn take_exact(&mut self, r: Gpr) {
        self.evict(r.0);
        self.values.pinned.0 |= 1 << r.0;
    }

    /// Loads a word into a register, from any location.
    pub(super) fn load(&mut self, to: Gpr, v: ValueId) {
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
        } else if let Some((lane, reg)) = at.machine_register {
            let machine_register = self.machine_register(lane, reg);
            self.asm.mov(to, machine_register);
        } else {
            debug_assert!(false, "{v:?} is nowhere");
        }
    }

    /// A value in a general register.
    pub(super) fn word(&mut self, v: ValueId) -> Gpr {
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
    pub(super) fn double(&mut self, v: ValueId) -> Xmm {
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

    pub(super) fn load_double(&mut self, to: Xmm, v: ValueId) {
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
        } else if let Some((lane, reg)) = at.machine_register {
            let machine_register = self.machine_register(lane, reg);
            self.asm.double(to, machine_register);
        } else {
            debug_assert!(false, "{v:?} is nowhere");
        }
    }

    /// The memory location of a value that need not be in a register.
    fn in_memory(&mut self, v: ValueId) -> Option<Mem> {
        let at = self.values.at[v.0 as usize];
        let lies = at.general == NONE && at.vector == NONE && at.constant.is_none() && self.values.uses_left(v) == 1;
        if !lies {
            return None;
        }
        if at.slot != NO_SLOT {
            return Some(Self::slot(at.slot));
        }
        at.machine_register.map(|(lane, reg)| self.machine_register(lane, reg))
    }

    /// A word as a second operand, in memory if it need not be in a register. It must be used at once.
    pub(super) fn operand(&mut self, v: ValueId) -> Word {
        match self.in_memory(v) {
            Some(mem) => mem.into(),
            None => self.word(v).into(),
        }
    }

    /// A double as a second operand, likewise.
    pub(super) fn double_operand(&mut self, v: ValueId) -> Double {
        match self.in_memory(v) {
            Some(mem) => mem.into(),
            None => self.double(v).into(),
        }
    }

    /// A register that holds the word and may be overwritten.
    pub(super) fn consume(&mut self, v: ValueId) -> Gpr {
        let at = self.values.at[v.0 as usize];
        if at.general != NONE && self.values.uses_left(v) == 1 {
            self.values.general[usize::from(at.general)] = None;
            self.values.at[v.0 as usize].general = NONE;
            self.values.pinned.0 |= 1 << at.general;
            return Gpr(at.general);
        }
        let r = self.take();
        self.load(r, v);
        r
    }

    pub(super) fn consume_double(&mut self, v: ValueId) -> Xmm {
        let at = self.values.at[v.0 as usize];
        if at.vector != NONE && self.values.uses_left(v) == 1 {
            self.values.vector[usize::from(at.vector)] = None;
            self.values.at[v.0 as usize].vector = NONE;
            self.values.pinned.1 |= 1 << at.vector;
            return Xmm(at.vector);
        }
        let r = self.take_vector();
        self.load_double(r, v);
        r
    }
}
