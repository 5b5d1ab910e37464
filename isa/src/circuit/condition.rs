//! Conditions, and access to memory.

use super::builder::Builder;
use super::word::{Bit, Word};
use crate::types::Cond;

impl Builder {
    /// `target ^= ` whether the condition holds between two integers or fixed-point numbers.
    pub fn xor_condition(&mut self, cond: Cond, x: &[Bit], z: &[Bit], target: Bit) {
        match cond {
            Cond::Always => self.not(target),
            Cond::Eq | Cond::Ne => self.xor_equal(x, z, target),
            Cond::Lt | Cond::Ge => self.xor_less_signed(x, z, target),
            Cond::Gt | Cond::Le => self.xor_less_signed(z, x, target),
            Cond::Ltu | Cond::Geu => self.xor_less(x, z, target),
        }
        if matches!(cond, Cond::Ne | Cond::Ge | Cond::Le | Cond::Geu) {
            self.not(target);
        }
    }

    /// Exchanges `r` with the word of `memory` at `address`, if `enable` is 1: for every word a controlled swap of each
    /// bit.
    pub fn exchange_memory(&mut self, enable: Bit, address: &[Bit], memory: &[Word], r: &[Bit]) {
        self.for_each_index(enable, address, memory.len(), &mut |b, i, here| b.swap_if(here, r, &memory[i]));
    }
}
