//! Comparisons into a bit, conjunctions of many bits, and selections.

use super::builder::Builder;
use super::word::{Bit, Word, extended};

/// The bits that are wires, each once.
fn distinct_wires(bits: &[Bit]) -> Vec<Bit> {
    let mut wires: Vec<Bit> = bits.iter().copied().filter(|b| b.wire().is_some()).collect();
    wires.sort_unstable_by_key(|b| b.wire());
    wires.dedup();
    wires
}

impl Builder {
    /// `target ^= x < z`, unsigned. Of W wires each: 2W Toffoli, 4W + 1 CNOT, 2W NOT, 1 ancilla.
    pub fn xor_less(&mut self, x: &[Bit], z: &[Bit], target: Bit) {
        let n = x.len().max(z.len());
        self.xor_borrow(&extended(x, n, Bit::ZERO), &extended(z, n, Bit::ZERO), target);
    }

    /// `target ^= x < z`, signed: unsigned with the signs exchanged.
    pub fn xor_less_signed(&mut self, x: &[Bit], z: &[Bit], target: Bit) {
        let n = x.len().max(z.len());
        let (x, z) = (Word::from(x).signed(n), Word::from(z).signed(n));
        let Some(top) = n.checked_sub(1) else { return };
        let (low_x, low_z) = (Word::from(&x[..top]), Word::from(&z[..top]));
        self.xor_borrow(&low_x.then(&z[top..]), &low_z.then(&x[top..]), target);
    }

    /// x < z, unsigned, as a value.
    pub fn less(&mut self, x: &[Bit], z: &[Bit]) -> Bit {
        let bit = self.bit();
        self.xor_less(x, z, bit);
        bit
    }

    /// x < z, signed, as a value.
    pub fn less_signed(&mut self, x: &[Bit], z: &[Bit]) -> Bit {
        let bit = self.bit();
        self.xor_less_signed(x, z, bit);
        bit
    }

    /// `target ^= ` the conjunction of bits: a tree of ANDs on ancillas, the last into the target, the others undone.
    /// For n distinct wires, n ≥ 2: 2(n − 2) + 1 Toffoli, n − 2 ancillas.
    pub fn xor_all(&mut self, bits: &[Bit], target: Bit) {
        if bits.contains(&Bit::ZERO) {
            return;
        }
        let wires = distinct_wires(bits);
        self.with(
            |b| {
                let mut level = wires;
                while level.len() > 2 {
                    // Pairs, so that the tree is flat. Two bits are left for the target's own gate.
                    let pairs = (level.len() / 2).min(level.len() - 2);
                    let ands: Vec<Bit> = (0..pairs).map(|i| b.and(level[2 * i], level[2 * i + 1])).collect();
                    level = ands.into_iter().chain(level[2 * pairs..].iter().copied()).collect();
                }
                level
            },
            |b, level| match level[..] {
                [] => b.not(target),
                [x] => b.cnot(x, target),
                [x, z, ..] => b.toffoli(x, z, target),
            },
        );
    }

    /// The conjunction of bits, as a value.
    pub fn all(&mut self, bits: &[Bit]) -> Bit {
        let bit = self.bit();
        self.xor_all(bits, bit);
        bit
    }

    /// `target ^= 1` if no bit is 1.
    pub fn xor_none(&mut self, bits: &[Bit], target: Bit) {
        if bits.contains(&Bit::ONE) {
            return;
        }
        let wires = distinct_wires(bits);
        self.complement(&wires);
        self.xor_all(&wires, target);
        self.complement(&wires);
    }

    /// Whether a word is zero, as a value.
    pub fn is_zero(&mut self, word: &[Bit]) -> Bit {
        let bit = self.bit();
        self.xor_none(word, bit);
        bit
    }

    /// The disjunction of bits, as a value.
    pub fn any(&mut self, bits: &[Bit]) -> Bit {
        let bit = self.is_zero(bits);
        self.not(bit);
        bit
    }

    /// `target ^= x == z`. The shorter word is extended with zeros. Of W wires each: 2(W − 2) + 1 Toffoli, 2W CNOT, 2W
    /// NOT.
    pub fn xor_equal(&mut self, x: &[Bit], z: &[Bit], target: Bit) {
        let n = x.len().max(z.len());
        let (x, z) = (extended(x, n, Bit::ZERO), extended(z, n, Bit::ZERO));
        let ([x, z], copies) = self.exclusive([&x, &z], &[target]);
        self.with(
            |b| {
                let mut alike = |(x, z): (&Bit, &Bit)| match (*x, *z) {
                    (Bit::Const(k), Bit::Const(l)) => Bit::Const(k == l),
                    // On z's wire.
                    (k @ Bit::Const(_), z) | (z, k) => {
                        b.cnot(k, z);
                        b.not(z);
                        z
                    }
                };
                x.iter().zip(&*z).map(&mut alike).collect::<Word>()
            },
            |b, alike| b.xor_all(alike, target),
        );
        self.uncopy(&copies);
    }

    /// x == z, as a value.
    pub fn equal(&mut self, x: &[Bit], z: &[Bit]) -> Bit {
        let bit = self.bit();
        self.xor_equal(x, z, bit);
        bit
    }

    /// `y ^= c ? x : z`: z, and the difference if c is 1. One Toffoli for each pair of wires.
    ///
    /// # Panics
    /// If c is among the bits of x or z, or the lengths differ.
    pub fn xor_select(&mut self, c: Bit, x: &[Bit], z: &[Bit], y: &[Bit]) {
        assert!(x.len() == z.len() && x.len() == y.len(), "words to choose from are of one length");
        for ((&x, &z), &y) in x.iter().zip(z).zip(y) {
            self.cnot(z, y);
            match (x, z) {
                _ if x == z => {}
                (Bit::Wire(_), Bit::Wire(_)) if c.wire().is_some() => {
                    self.cnot(x, z);
                    self.toffoli(c, z, y);
                    self.cnot(x, z);
                }
                (x, z) => {
                    self.toffoli(c, x, y);
                    self.toffoli(c, z, y);
                }
            }
        }
    }

    /// c ? x : z, as a value. The shorter word is extended with zeros.
    pub fn select(&mut self, c: Bit, x: &[Bit], z: &[Bit]) -> Word {
        let n = x.len().max(z.len());
        let y = self.word(n);
        self.xor_select(c, &extended(x, n, Bit::ZERO), &extended(z, n, Bit::ZERO), &y);
        y
    }
}
