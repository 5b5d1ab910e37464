//! Records gates, allocates wires on demand, and computes backward.

use super::live::Live;
use super::prefix::Adder;
use super::word::{Bit, Word};
use super::{Circuit, Gate, Register, Role, Wire};

/// Records a circuit. The [module](super) describes how to work with words.
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    adder: Adder,
    wires: u32,
    registers: Vec<Register>,
    gates: Vec<Gate>,
    ancillas: Vec<Wire>,
    /// Ancillas that are zero and free.
    free: Vec<Wire>,
    /// Wires in use.
    live: Live,
    /// Wires that are zero before the gate of this index.
    zeros: Vec<(usize, Wire)>,
}

impl Builder {
    /// A circuit without wires, whose carries ripple.
    pub fn new(name: &str) -> Builder {
        Builder::with_adder(name, Adder::Ripple)
    }

    /// A circuit without wires that adds, subtracts and compares words of four bits or more in this way.
    pub fn with_adder(name: &str, adder: Adder) -> Builder {
        Builder {
            name: name.to_string(),
            adder,
            wires: 0,
            registers: Vec::new(),
            gates: Vec::new(),
            ancillas: Vec::new(),
            free: Vec::new(),
            live: Live::default(),
            zeros: Vec::new(),
        }
    }

    /// How it adds words.
    pub const fn adder(&self) -> Adder {
        self.adder
    }

    /// New wires, as a named register. It may be called at any time: the wires are not ancillas and are never reused.
    pub fn register(&mut self, name: &str, role: Role, bits: usize) -> Word {
        let wires: Vec<Wire> = (0..bits).map(|_| self.new_wire()).collect();
        let word = wires.iter().map(|w| Bit::Wire(*w)).collect();
        self.registers.push(Register { name: name.to_string(), role, after: wires.clone(), wires });
        word
    }

    /// Declares that the word of a register is on other wires at the end: a permutation of bits that costs nothing.
    ///
    /// # Panics
    /// If there is no such register, or the number of bits is not its own.
    pub fn ends_at(&mut self, name: &str, word: &[Bit]) {
        let register = self.registers.iter_mut().find(|r| r.name == name).expect("a register of this name");
        assert_eq!(register.wires.len(), word.len(), "{name} has another width");
        register.after = targets(word);
    }

    /// The circuit. Wires that are still allocated count as ancillas; simulation reports them if they are not zero.
    ///
    /// # Panics
    /// If the declared wires of a word belong to another one.
    pub fn finish(self) -> Circuit {
        let Builder { name, wires, mut registers, gates, ancillas, mut zeros, .. } = self;
        if !ancillas.is_empty() {
            // At the end they are on wires that no other word uses.
            let mut taken = vec![false; wires as usize];
            for w in registers.iter().flat_map(|r| &r.after) {
                taken[*w as usize] = true;
            }
            let after = (0..wires).filter(|w| !taken[*w as usize]).collect();
            registers.push(Register { name: "ancilla".to_string(), role: Role::Ancilla, wires: ancillas, after });
        }
        zeros.sort_unstable();
        match Circuit::new(&name, registers, gates) {
            Ok(circuit) => Circuit { zeros, ..circuit },
            Err(e) => panic!("{name}: {e}"),
        }
    }

    fn new_wire(&mut self) -> Wire {
        let wire = self.wires;
        self.wires += 1;
        self.live.set(wire, true);
        wire
    }

    /// An ancilla, which is zero.
    pub fn bit(&mut self) -> Bit {
        let wire = match self.free.pop() {
            Some(w) => {
                self.live.set(w, true);
                w
            }
            None => {
                let w = self.new_wire();
                self.ancillas.push(w);
                w
            }
        };
        Bit::Wire(wire)
    }

    /// A register of one trap bit, with a name of its own: `trap`, `trap_2` and so on.
    pub fn trap(&mut self) -> Bit {
        let free = |name: &String| self.registers.iter().all(|r| r.name != *name);
        let numbered = (2..).map(|n| format!("trap_{n}"));
        let name = std::iter::once("trap".to_string()).chain(numbered).find(free).unwrap_or_default();
        self.register(&name, Role::Trap, 1)[0]
    }

    /// Ancillas, which are zero.
    pub fn word(&mut self, bits: usize) -> Word {
        (0..bits).map(|_| self.bit()).collect()
    }

    /// Releases ancillas, which must be zero (simulation checks it at this place). Constants in the word are ignored.
    ///
    /// # Panics
    /// If a wire is not an ancilla in use.
    pub fn release(&mut self, word: &[Bit]) {
        for w in word.iter().rev().filter_map(|b| b.wire()) {
            assert!(self.live.contains(w), "wire {w} is free already");
            self.live.set(w, false);
            self.free.push(w);
            self.zeros.push((self.gates.len(), w));
        }
    }

    /// Computes, uses the result, and computes backward: `using` gets the result of `compute`, whose gates then run in
    /// reverse. Afterwards everything that it allocated is zero and free again. `using` must leave what `compute` read
    /// and wrote as it was.
    ///
    /// The construction is that of Bennett, Logical reversibility of computation, IBM J. Res. Dev. 17 (1973).
    ///
    /// # Panics
    /// If `compute` declares a register or releases a wire that existed before, or if `using` keeps a wire that
    /// `compute` had used and released (allocate results before), or releases one of `compute`'s.
    pub fn with<T, R>(
        &mut self,
        compute: impl FnOnce(&mut Builder) -> T,
        using: impl FnOnce(&mut Builder, &T) -> R,
    ) -> R {
        let (start, before, registers) = (self.gates.len(), self.live.clone(), self.registers.len());
        let value = compute(self);
        assert_eq!(registers, self.registers.len(), "{}: computing declared a register", self.name);
        let (middle, within, wires) = (self.gates.len(), self.live.clone(), self.wires);
        assert!(before.is_within(&within), "{}: computing released what it did not allocate", self.name);
        let result = using(self, &value);
        let unchanged = within.is_within(&self.live) && self.live.without(&within).all(|w| w >= wires);
        assert!(unchanged, "{}: the use of a value kept or released a wire; allocate results before", self.name);
        self.gates.extend_from_within(start..middle);
        let end = self.gates.len();
        self.gates[end - (middle - start)..].reverse();
        let done: Word = within.without(&before).map(Bit::Wire).collect();
        self.release(&done);
        result
    }

    /// Runs `f` backward.
    ///
    /// # Panics
    /// If `f` keeps a wire or releases one that existed before.
    pub fn inverted(&mut self, f: impl FnOnce(&mut Builder)) {
        let (start, before, zeros) = (self.gates.len(), self.live.clone(), self.zeros.len());
        f(self);
        let same = self.live.is_within(&before) && before.is_within(&self.live);
        assert!(same, "{}: inverted code must allocate nothing", self.name);
        self.gates[start..].reverse();
        let end = self.gates.len();
        for (at, _) in &mut self.zeros[zeros..] {
            *at = start + (end - *at);
        }
    }

    /// The number of gates so far.
    pub(super) fn mark(&self) -> usize {
        self.gates.len()
    }

    /// Appends the gates between two marks, backward.
    pub(super) fn undo(&mut self, from: usize, to: usize) {
        for i in (from..to).rev() {
            self.gates.push(self.gates[i]);
        }
    }

    fn push(&mut self, gate: Gate) {
        assert!(gate.is_proper(), "{}: {gate:?} is on one wire twice", self.name);
        self.gates.push(gate);
    }

    /// Complements a bit.
    ///
    /// # Panics
    /// If it is a constant. The same holds for the targets of all gates.
    pub fn not(&mut self, target: Bit) {
        self.push(Gate::Not(wire(target)));
    }

    /// `target ^= c`.
    pub fn cnot(&mut self, c: Bit, target: Bit) {
        match c {
            Bit::Const(false) => {}
            Bit::Const(true) => self.not(target),
            Bit::Wire(c) => self.push(Gate::Cnot(c, wire(target))),
        }
    }

    /// `target ^= c & d`.
    pub fn toffoli(&mut self, c: Bit, d: Bit, target: Bit) {
        match (c, d) {
            (Bit::Const(false), _) | (_, Bit::Const(false)) => {}
            (Bit::Const(true), other) | (other, Bit::Const(true)) => self.cnot(other, target),
            (Bit::Wire(c), Bit::Wire(d)) if c == d => self.push(Gate::Cnot(c, wire(target))),
            (Bit::Wire(c), Bit::Wire(d)) => self.push(Gate::Toffoli(c, d, wire(target))),
        }
    }

    /// Exchanges two bits if c is 1.
    pub fn cswap(&mut self, c: Bit, a: Bit, b: Bit) {
        match c {
            Bit::Const(false) => {}
            Bit::Const(true) => self.swap(&[a], &[b]),
            Bit::Wire(c) => self.push(Gate::Cswap(c, wire(a), wire(b))),
        }
    }

    /// Complements every bit.
    pub fn complement(&mut self, y: &[Bit]) {
        for &y in y {
            self.not(y);
        }
    }

    /// Complements every bit if c is 1.
    pub fn complement_if(&mut self, c: Bit, y: &[Bit]) {
        for &y in y {
            self.cnot(c, y);
        }
    }

    /// `y ^= x`. Bits of x beyond the length of y are ignored; a shorter x is extended with zeros.
    pub fn xor(&mut self, x: &[Bit], y: &[Bit]) {
        for (&x, &y) in x.iter().zip(y) {
            self.cnot(x, y);
        }
    }

    /// `y ^= x & z`.
    pub fn xor_and(&mut self, x: &[Bit], z: &[Bit], y: &[Bit]) {
        for ((&x, &z), &y) in x.iter().zip(z).zip(y) {
            self.toffoli(x, z, y);
        }
    }

    /// `y ^= !(x | z)`, for words without constants: only NOT and Toffoli gates.
    pub fn xor_nor(&mut self, x: &[Bit], z: &[Bit], y: &[Bit]) {
        for word in [x, z] {
            self.complement(word);
        }
        self.xor_and(x, z, y);
        for word in [x, z] {
            self.complement(word);
        }
    }

    /// Exchanges two words.
    ///
    /// # Panics
    /// If their lengths differ.
    pub fn swap(&mut self, x: &[Bit], y: &[Bit]) {
        assert_eq!(x.len(), y.len(), "exchanged words are of one length");
        for (&x, &y) in x.iter().zip(y) {
            self.cnot(x, y);
            self.cnot(y, x);
            self.cnot(x, y);
        }
    }

    /// Exchanges two words if c is 1.
    ///
    /// # Panics
    /// If their lengths differ.
    pub fn swap_if(&mut self, c: Bit, x: &[Bit], y: &[Bit]) {
        assert_eq!(x.len(), y.len(), "exchanged words are of one length");
        for (&x, &y) in x.iter().zip(y) {
            self.cswap(c, x, y);
        }
    }

    /// A copy, as a value.
    pub fn copy(&mut self, x: &[Bit]) -> Word {
        let y = self.word(x.len());
        self.xor(x, &y);
        y
    }

    /// The complement of a bit, as a value.
    pub fn inverse_of(&mut self, x: Bit) -> Bit {
        let y = self.bit();
        self.cnot(x, y);
        self.not(y);
        y
    }

    /// The conjunction of two bits, as a value.
    pub fn and(&mut self, x: Bit, z: Bit) -> Bit {
        let y = self.bit();
        self.toffoli(x, z, y);
        y
    }

    /// The disjunction of two bits, as a value.
    pub fn or(&mut self, x: Bit, z: Bit) -> Bit {
        let y = self.bit();
        self.cnot(x, y);
        self.cnot(z, y);
        self.toffoli(x, z, y);
        y
    }
}

/// The wire of a target.
pub(super) fn wire(bit: Bit) -> Wire {
    match bit {
        Bit::Wire(w) => w,
        Bit::Const(_) => panic!("a constant is not a target"),
    }
}

/// The wires of a target.
pub(super) fn targets(word: &[Bit]) -> Vec<Wire> {
    word.iter().map(|b| wire(*b)).collect()
}
