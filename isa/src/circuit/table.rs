//! Selection by a number, and tables. The selection is unary iteration, after Babbush et al., Encoding electronic spectra in quantum circuits with
//! linear T complexity, Phys. Rev. X 8, 041015 (2018).

use super::builder::Builder;
use super::word::{Bit, Word};

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

/// The coefficients of the algebraic normal form of a table: entry x is the sum, modulo 2, of those of all sets of bits within x.
fn normal_form(table: &[u128]) -> Vec<u128> {
    let mut form = table.to_vec();
    let mut bit = 1;
    while bit < form.len() {
        for n in (0..form.len()).filter(|n| n & bit != 0) {
            form[n] ^= form[n ^ bit];
        }
        bit <<= 1;
    }
    form
}

/// Toffoli gates of all products of this many bits.
const fn of_products(bits: usize) -> usize {
    (1 << bits) - 1 - bits
}

/// How many low bits of an index have their products to themselves, so that there are the fewest Toffoli gates.
fn low_bits(bits: usize, outputs: usize) -> usize {
    let gates = |low: usize| {
        2 * (of_products(low) + of_products(bits - low)) + ((1usize << (bits - low)) - 1).saturating_mul(outputs)
    };
    (0..=bits).min_by_key(|low| gates(*low)).unwrap_or(bits)
}

impl Builder {
    /// `target ^= table[index]`, of a table with an entry for each index, in algebraic normal form: the products of the low bits of the index,
    /// and of its high ones, are computed; each output is a sum of products of a high one by a sum of low ones. For an index of l + h
    /// bits and m outputs at most 2(2^l − 1 − l) + 2(2^h − 1 − h) + m(2^h − 1) Toffoli; l is the one for which these are the fewest.
    ///
    /// That a table takes a number of products that grows with the root of its size, not with its size as by
    /// [unary iteration](Builder::for_each_index), is due to Low, Kliuchnikov and Schaeffer, Trading T gates for dirty qubits in state
    /// preparation and unitary synthesis, Quantum 8, 1375 (2024), who exchange words; here sums are multiplied.
    ///
    /// # Panics
    /// If the table has another number of entries, or the target more than 128 bits.
    pub fn xor_table(&mut self, index: &[Bit], table: &[u128], target: &[Bit]) {
        let halves = index.split_at(low_bits(index.len(), target.len()));
        self.with(|b| b.products_of(halves), |b, products| b.xor_normal_form(table, products, target));
    }

    /// `table[index]`, as a value of so many bits. As [`Builder::xor_table`], except that the products are not cleared.
    ///
    /// # Panics
    /// As [`Builder::xor_table`].
    pub fn table(&mut self, index: &[Bit], table: &[u128], bits: usize) -> Word {
        let word = self.word(bits);
        let products = self.products_of(index.split_at(low_bits(index.len(), bits)));
        self.xor_normal_form(table, &products, &word);
        word
    }

    fn products_of(&mut self, (low, high): (&[Bit], &[Bit])) -> [Vec<Bit>; 2] {
        [self.products(low), self.products(high)]
    }

    /// The products of all sets of bits, as values: at n that of the bits that are 1 in n.
    fn products(&mut self, bits: &[Bit]) -> Vec<Bit> {
        let mut products = vec![Bit::ONE];
        for &bit in bits {
            for n in 0..products.len() {
                let product = if n == 0 { bit } else { self.and(products[n], bit) };
                products.push(product);
            }
        }
        products
    }

    fn xor_normal_form(&mut self, table: &[u128], [low, high]: &[Vec<Bit>; 2], target: &[Bit]) {
        assert_eq!(table.len(), low.len() * high.len(), "an entry for each index");
        assert!(target.len() <= 128, "entries have 128 bits");
        let form = normal_form(table);
        // A sum of low products. The next one is reached from it by the terms in which they differ.
        let sum = self.bit();
        let mut terms = vec![false; low.len()];
        for (&factor, row) in high.iter().zip(form.chunks(low.len())) {
            for (bit, &t) in target.iter().enumerate() {
                let wanted: Vec<bool> = row.iter().map(|coefficient| coefficient >> bit & 1 == 1).collect();
                let ones = wanted.iter().filter(|one| **one).count();
                if factor == Bit::ONE || ones <= 1 {
                    for (&product, _) in low.iter().zip(&wanted).filter(|(_, one)| **one) {
                        self.toffoli(factor, product, t);
                    }
                    continue;
                }
                self.xor_terms(low, &terms, &wanted, sum);
                self.toffoli(factor, sum, t);
                terms = wanted;
            }
        }
        self.xor_terms(low, &terms, &vec![false; low.len()], sum);
        self.release(&[sum]);
    }

    /// Changes a sum of terms into another.
    fn xor_terms(&mut self, low: &[Bit], from: &[bool], to: &[bool], sum: Bit) {
        for ((&product, from), to) in low.iter().zip(from).zip(to) {
            if from != to {
                self.cnot(product, sum);
            }
        }
    }
}
