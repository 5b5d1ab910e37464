//! Sums in place: the ripple-carry adder of Cuccaro, Draper, Kutin and Petrie Moulton, A new quantum ripple-carry
//! addition circuit (arXiv:quant-ph/0410184, 2004), which needs one ancilla, and the operations that use it.
//!
//! Carries ripple through the addend's own wires. If a bit of the addend is a constant, the carry is a conjunction or
//! disjunction of two bits and gets an ancilla; if the carry is known, it needs nothing.
//!
//! A [`Builder`] with another [`Adder`] has carries that look ahead instead, in words of four bits or more.

use std::collections::HashSet;

use super::builder::{Builder, targets};
use super::prefix::Adder;
use super::word::{Bit, Word, extended};

/// Bits of the shortest word in which carries look ahead.
const SHORT: usize = 4;

/// The gates and the ancilla of one carry.
struct Step {
    from: usize,
    to: usize,
    ancilla: Option<Bit>,
    x: Bit,
    carry_in: Bit,
    /// Whether it is the adder's MAJ gate on three wires.
    full: bool,
}

impl Builder {
    /// The majority of three bits, which may be left on x's wire.
    fn carry(&mut self, x: Bit, y: Bit, c: Bit) -> (Bit, Step) {
        let from = self.mark();
        let mut step = Step { from, to: from, ancilla: None, x, carry_in: c, full: false };
        let out = if x == y || x == c {
            x
        } else if y == c {
            y
        } else {
            let bits = [x, y, c];
            let mut wires = bits.into_iter().filter(|b| b.wire().is_some());
            let constant = bits.into_iter().find(|b| b.wire().is_none());
            match (constant, wires.next(), wires.next()) {
                (None, ..) => {
                    self.cnot(x, y);
                    self.cnot(x, c);
                    self.toffoli(c, y, x);
                    step.full = true;
                    x
                }
                (Some(k), Some(u), Some(v)) => {
                    let out = if k == Bit::ONE { self.or(u, v) } else { self.and(u, v) };
                    step.ancilla = Some(out);
                    out
                }
                // Two different constants: the third bit decides.
                (Some(_), u, _) => u.unwrap_or(Bit::ZERO),
            }
        };
        step.to = self.mark();
        (out, step)
    }

    /// Undoes a carry.
    fn uncarry(&mut self, step: &Step) {
        self.undo(step.from, step.to);
        if let Some(a) = step.ancilla {
            self.release(&[a]);
        }
    }

    fn looks_ahead(&self, bits: usize) -> bool {
        self.adder() != Adder::Ripple && bits >= SHORT
    }

    /// The carry into the lowest place: Cuccaro's ancilla, if two wires are added to a known 0.
    fn first_carry(&mut self, x: &[Bit], y: &[Bit], carry: Bit) -> Bit {
        let wires = x.first().zip(y.first()).is_some_and(|(x, y)| x.wire().is_some() && y.wire().is_some());
        if carry == Bit::ZERO && wires { self.bit() } else { carry }
    }

    /// The words, with copies on ancillas for wires that occur twice, so that each may be changed temporarily; and
    /// those wires with their copies.
    pub(super) fn exclusive<const N: usize>(
        &mut self,
        words: [&[Bit]; N],
        taken: &[Bit],
    ) -> ([Word; N], Vec<(Bit, Bit)>) {
        let mut seen: HashSet<Bit> = taken.iter().copied().collect();
        let mut copies = Vec::new();
        let words = words.map(|word| {
            word.iter()
                .map(|&bit| {
                    if bit.wire().is_none() || seen.insert(bit) {
                        return bit;
                    }
                    let copy = self.bit();
                    self.cnot(bit, copy);
                    copies.push((bit, copy));
                    copy
                })
                .collect()
        });
        (words, copies)
    }

    /// `y += x + carry_in` and, if there is a `carry_out`, that bit ^= the carry. x is extended with zeros, and must
    /// not share wires with y.
    ///
    /// If carries ripple, of W wires each, without carries: 2W − 2 Toffoli, 4W − 2 CNOT, 1 ancilla; with a carry out 2W and 4W + 1.
    ///
    /// # Panics
    /// If y has a constant.
    pub fn add_carry(&mut self, x: &[Bit], y: &[Bit], carry_in: Bit, carry_out: Option<Bit>) {
        let _ = targets(y);
        let n = y.len();
        let x = extended(x, n, Bit::ZERO);
        assert!(x.iter().all(|b| b.wire().is_none() || !y.contains(b)), "a word is added to itself");
        if self.looks_ahead(n) {
            return self.add_ahead(&x, y, carry_in, carry_out);
        }
        let ([x], copies) = self.exclusive([&x], &[]);
        let first = self.first_carry(&x, y, carry_in);
        let mut carry = first;
        let mut steps = Vec::with_capacity(n);
        // Without a carry out, the carry of the last place is not needed.
        for i in 0..if carry_out.is_some() { n } else { n.saturating_sub(1) } {
            let (out, step) = self.carry(x[i], y[i], carry);
            steps.push(step);
            carry = out;
        }
        match carry_out {
            Some(out) => self.cnot(carry, out),
            None if n > 0 => {
                self.cnot(x[n - 1], y[n - 1]);
                self.cnot(carry, y[n - 1]);
            }
            None => {}
        }
        for (step, &y) in steps.iter().zip(y).rev() {
            if step.full {
                // UMA: the last CNOT that undoes the carry and that of x into y cancel.
                self.toffoli(step.carry_in, y, step.x);
                self.cnot(step.x, step.carry_in);
                self.cnot(step.carry_in, y);
            } else {
                self.uncarry(step);
                self.cnot(step.x, y);
                self.cnot(step.carry_in, y);
            }
        }
        if first != carry_in {
            self.release(&[first]);
        }
        self.uncopy(&copies);
    }

    /// `y += x`, modulo a power of two. x is extended with zeros.
    pub fn add(&mut self, x: &[Bit], y: &[Bit]) {
        self.add_carry(x, y, Bit::ZERO, None);
    }

    /// `y -= x`.
    pub fn subtract(&mut self, x: &[Bit], y: &[Bit]) {
        self.inverted(|b| b.add(x, y));
    }

    /// `y += x`, or `y -= x` if `direction` is 1: −(−y + x) by complements. 2W − 2 Toffoli, 6W − 2 CNOT.
    pub fn add_or_subtract(&mut self, direction: Bit, x: &[Bit], y: &[Bit]) {
        self.complement_if(direction, y);
        self.add(x, y);
        self.complement_if(direction, y);
    }

    /// `y += c ? x : 0`: x is masked, added and unmasked. Of W wires each, 4W − 2 Toffoli, 4W − 2 CNOT, W + 1 ancillas.
    pub fn add_if(&mut self, c: Bit, x: &[Bit], y: &[Bit]) {
        let x = &x[..x.len().min(y.len())];
        self.with(|b| b.mask(c, x), |b, masked| b.add(masked, y));
    }

    /// `y -= c ? x : 0`.
    pub fn subtract_if(&mut self, c: Bit, x: &[Bit], y: &[Bit]) {
        self.inverted(|b| b.add_if(c, x, y));
    }

    /// `y += c`, a bit.
    pub fn increment_if(&mut self, c: Bit, y: &[Bit]) {
        self.add_carry(&[], y, c, None);
    }

    /// `y = -y`.
    pub fn negate(&mut self, y: &[Bit]) {
        self.complement(y);
        self.increment_if(Bit::ONE, y);
    }

    /// `y = -y` if c is 1.
    pub fn negate_if(&mut self, c: Bit, y: &[Bit]) {
        self.complement_if(c, y);
        self.increment_if(c, y);
    }

    /// `c ? x : 0`, as a value; constant bits where the result is known.
    pub fn mask(&mut self, c: Bit, x: &[Bit]) -> Word {
        let masked = |b: &mut Builder, x: Bit| match (c, x) {
            (Bit::Const(false), _) | (_, Bit::Const(false)) => Bit::ZERO,
            (Bit::Const(true), x) => x,
            (c, Bit::Const(true)) => c,
            (c, x) => b.and(c, x),
        };
        x.iter().map(|x| masked(self, *x)).collect()
    }

    /// The low `bits` bits of x + z, as a value.
    pub fn sum(&mut self, x: &[Bit], z: &[Bit], bits: usize) -> Word {
        if self.looks_ahead(bits) {
            return self.sum_ahead(x, z, bits);
        }
        let y = self.word(bits);
        self.xor(x, &y);
        self.add(z, &y);
        y
    }

    /// The low `bits` bits of x − z, as a value. Both are extended with zeros.
    pub fn difference(&mut self, x: &[Bit], z: &[Bit], bits: usize) -> Word {
        let y = self.word(bits);
        self.xor(x, &y);
        self.subtract(z, &y);
        y
    }

    /// −x if c is 1, else x, as a value.
    pub fn negated_if(&mut self, c: Bit, x: &[Bit]) -> Word {
        let y = self.copy(x);
        self.negate_if(c, &y);
        y
    }

    /// |x| of a signed x, unsigned, as a value.
    pub fn magnitude(&mut self, x: &[Bit]) -> Word {
        self.negated_if(Word::from(x).sign(), x)
    }

    /// The borrow of x − z, that is `target ^= x < z`, unsigned and of the same length: the carry of ¬x + z, copied,
    /// and undone.
    pub(super) fn xor_borrow(&mut self, x: &[Bit], z: &[Bit], target: Bit) {
        let ([x, z], copies) = self.exclusive([x, z], &[target]);
        let complement = |b: &mut Builder, x: &[Bit]| {
            for x in x.iter().filter(|x| x.wire().is_some()) {
                b.not(*x);
            }
        };
        complement(self, &x);
        let inverse: Word = x.iter().map(|x| if let Bit::Const(k) = x { Bit::Const(!k) } else { *x }).collect();
        if self.looks_ahead(z.len()) {
            let last = z.len();
            self.with(
                |b| b.carries(&inverse, &z, Bit::ZERO, |place| place == last),
                |b, carries| b.cnot(carries[last - 1], target),
            );
            complement(self, &x);
            return self.uncopy(&copies);
        }
        let first = self.first_carry(&inverse, &z, Bit::ZERO);
        let mut carry = first;
        let mut steps = Vec::with_capacity(z.len());
        for (&x, &z) in inverse.iter().zip(&*z) {
            let (out, step) = self.carry(x, z, carry);
            steps.push(step);
            carry = out;
        }
        self.cnot(carry, target);
        for step in steps.iter().rev() {
            self.uncarry(step);
        }
        if first != Bit::ZERO {
            self.release(&[first]);
        }
        complement(self, &x);
        self.uncopy(&copies);
    }

    /// Undoes copies that [`Builder::exclusive`] made.
    pub(super) fn uncopy(&mut self, copies: &[(Bit, Bit)]) {
        for &(bit, copy) in copies.iter().rev() {
            self.cnot(bit, copy);
            self.release(&[copy]);
        }
    }
}
