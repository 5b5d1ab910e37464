//! Selection by a number: unary iteration, after Babbush et al., Encoding electronic spectra in quantum circuits with
//! linear T complexity, Phys. Rev. X 8, 041015 (2018).

use super::builder::Builder;
use super::word::Bit;

impl Builder {
    /// Calls `leaf` with every number below `count` and a bit that is 1 if `enable` is 1 and `index` is that number: a
    /// walk over a binary tree that computes one AND to enter a node and undoes it to leave. 2(count − 1) Toffoli;
    /// 2(count − 2) if `enable` is constant. If the index is not below `count`, some leaves may have the bit
    /// nevertheless.
    ///
    /// # Panics
    /// If the index has too few bits for the numbers.
    pub fn for_each_index(
        &mut self,
        enable: Bit,
        index: &[Bit],
        count: usize,
        leaf: &mut dyn FnMut(&mut Builder, usize, Bit),
    ) {
        assert!(count <= 1 << index.len(), "an index of {} bits for {count} entries", index.len());
        self.walk(enable, index, 0, count, leaf);
    }

    fn walk(
        &mut self,
        here: Bit,
        index: &[Bit],
        first: usize,
        count: usize,
        leaf: &mut dyn FnMut(&mut Builder, usize, Bit),
    ) {
        let Some((&top, low)) = index.split_last().filter(|_| count > 1) else {
            if count > 0 {
                leaf(self, first, here);
            }
            return;
        };
        let half = 1 << low.len();
        if count <= half {
            return self.walk(here, low, first, count, leaf);
        }
        if here == Bit::ONE && top.wire().is_some() {
            self.not(top);
            self.walk(top, low, first, half, leaf);
            self.not(top);
            return self.walk(top, low, first + half, count - half, leaf);
        }
        let node = self.bit();
        self.toffoli(here, top, node);
        self.cnot(here, node);
        self.walk(node, low, first, half, leaf);
        self.cnot(here, node);
        self.walk(node, low, first + half, count - half, leaf);
        self.toffoli(here, top, node);
        self.release(&[node]);
    }

    /// `target ^= table[index]` if `enable` is 1. For L entries of W bits 2(L − 1) Toffoli, and one CNOT for each one
    /// in the table, typically half of L·W, plus 2(L − 1). An index past the end reads an unspecified value.
    ///
    /// # Panics
    /// If the index has too few bits for the table.
    pub fn xor_lookup(&mut self, enable: Bit, index: &[Bit], table: &[u128], target: &[Bit]) {
        self.for_each_index(enable, index, table.len(), &mut |b, i, here| {
            for (bit, &t) in target.iter().enumerate() {
                if bit < 128 && table[i] >> bit & 1 == 1 {
                    b.cnot(here, t);
                }
            }
        });
    }
}
