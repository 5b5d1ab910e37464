//! Reversible circuits of NOT, CNOT, Toffoli and controlled-swap gates, which determine costs.
//!
//! A [`Circuit`] reports its [`counts`](Circuit::counts) (gates) and [`depth`](Circuit::depth) (steps), becomes its
//! [`inverse`](Circuit::inverse), runs on bits, one state at a time ([`run`](Circuit::run)) or 64 at once
//! ([`run_lanes`](Circuit::run_lanes)), and is printed as OpenQASM 3 or as RevLib's `.real`.
//!
//! # Building circuits
//!
//! A [`Builder`] allocates wires and records gates. A [`Word`] is a list of bits, the least significant first. A bit is
//! a wire or a constant; gates on constants are folded, so that slices, concatenations, extensions and shifts by a
//! constant cost nothing. There are two kinds of methods, always with the target last:
//!
//! - *in place*: [`xor`](Builder::xor), [`add`](Builder::add), [`add_if`](Builder::add_if),
//!   [`xor_less`](Builder::xor_less) … change their last argument and leave everything else, including ancillas, as it
//!   was;
//! - *values*: [`sum`](Builder::sum), [`mul`](Builder::mul), [`div_rem`](Builder::div_rem), [`less`](Builder::less) …
//!   return new bits, and may leave garbage on others. They belong inside [`with`](Builder::with), Bennett's combinator:
//!   it computes, uses the result, and computes backward. Afterwards everything that was allocated is zero and free
//!   again.
//!
//! A function in integer arithmetic can thus be written as a straight line. Here y += ⌊a·b/2^4⌋ + 3a for words of 8
//! bits:
//!
//! ```
//! use pendula_isa::circuit::{Builder, Role, Word};
//! let mut b = Builder::new("example");
//! let a = b.register("a", Role::Operand, 8);
//! let c = b.register("b", Role::Operand, 8);
//! let y = b.register("y", Role::Target, 8);
//! b.with(
//!     |b| {
//!         let product = b.mul(&a, &c); // 16 bits
//!         let triple = b.mul(&a, &Word::constant(3, 2)); // 10 bits
//!         b.sum(&product[4..], &triple, 8)
//!     },
//!     |b, value| b.add(value, &y),
//! );
//! let circuit = b.finish();
//! let mut lanes = circuit.lanes();
//! circuit.set(&mut lanes, "a", &[77, 200]);
//! circuit.set(&mut lanes, "b", &[19, 3]);
//! circuit.set(&mut lanes, "y", &[1, 2]);
//! circuit.run_lanes(&mut lanes).unwrap(); // an error if an ancilla were left dirty
//! assert_eq!(&circuit.get(&lanes, "y")[..2], &[(1 + 77 * 19 / 16 + 3 * 77) & 255, (2 + 200 * 3 / 16 + 3 * 200) & 255]);
//! assert_eq!(circuit.get(&lanes, "a")[0], 77);
//! ```
//!
//! Results that outlive a `with` are allocated before it. Misuse (a gate with the same wire twice, a word of the wrong
//! length, an ancilla that is kept) panics: it is an error in a generator and appears the first time the generator
//! runs.

use std::ops::{Add, AddAssign, Mul, Sub};

mod adder;
mod builder;
mod compare;
mod condition;
mod divide;
mod export;
mod live;
mod prefix;
mod product;
mod shear;
mod shift;
mod simulate;
mod table;
mod variant;
mod word;

pub use builder::Builder;
pub use prefix::{Adder, Merge, UnknownAdder};
pub use simulate::DirtyAncilla;
pub use word::{Bit, Word};

/// A wire, by number.
pub type Wire = u32;

/// A reversible gate. The target is the last wire; a controlled swap has two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Complements the wire.
    Not(Wire),
    /// Complements the second wire if the first is 1.
    Cnot(Wire, Wire),
    /// Complements the third wire if the first two are 1.
    Toffoli(Wire, Wire, Wire),
    /// Exchanges the last two wires if the first is 1.
    Cswap(Wire, Wire, Wire),
}

impl Gate {
    /// The wires, controls first.
    pub fn wires(&self) -> impl Iterator<Item = Wire> + use<> {
        let (a, b, c) = match *self {
            Gate::Not(a) => (a, None, None),
            Gate::Cnot(a, b) => (a, Some(b), None),
            Gate::Toffoli(a, b, c) | Gate::Cswap(a, b, c) => (a, Some(b), Some(c)),
        };
        [Some(a), b, c].into_iter().flatten()
    }

    /// Whether the wires are distinct.
    fn is_proper(&self) -> bool {
        match *self {
            Gate::Not(_) => true,
            Gate::Cnot(a, b) => a != b,
            Gate::Toffoli(a, b, c) | Gate::Cswap(a, b, c) => a != b && a != c && b != c,
        }
    }
}

/// The number of gates of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GateCounts {
    /// NOT gates.
    pub not: u64,
    /// CNOT gates.
    pub cnot: u64,
    /// Toffoli gates.
    pub toffoli: u64,
    /// Controlled swaps.
    pub cswap: u64,
}

impl GateCounts {
    /// All gates.
    pub const fn total(self) -> u64 {
        self.not + self.cnot + self.toffoli + self.cswap
    }
}

impl Add for GateCounts {
    type Output = GateCounts;
    fn add(self, o: GateCounts) -> GateCounts {
        GateCounts {
            not: self.not + o.not,
            cnot: self.cnot + o.cnot,
            toffoli: self.toffoli + o.toffoli,
            cswap: self.cswap + o.cswap,
        }
    }
}

/// Subtracts kind by kind.
///
/// # Panics
///
/// If the result would be negative for some kind.
impl Sub for GateCounts {
    type Output = GateCounts;
    fn sub(self, o: GateCounts) -> GateCounts {
        let less = |a: u64, b: u64| a.checked_sub(b).expect("as many gates as are taken away");
        GateCounts {
            not: less(self.not, o.not),
            cnot: less(self.cnot, o.cnot),
            toffoli: less(self.toffoli, o.toffoli),
            cswap: less(self.cswap, o.cswap),
        }
    }
}

impl Mul<u64> for GateCounts {
    type Output = GateCounts;
    fn mul(self, n: u64) -> GateCounts {
        GateCounts { not: self.not * n, cnot: self.cnot * n, toffoli: self.toffoli * n, cswap: self.cswap * n }
    }
}

impl AddAssign for GateCounts {
    fn add_assign(&mut self, o: GateCounts) {
        *self = *self + o;
    }
}

impl std::iter::Sum for GateCounts {
    fn sum<I: Iterator<Item = GateCounts>>(counts: I) -> GateCounts {
        counts.fold(GateCounts::default(), Add::add)
    }
}

/// The purpose of a register of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// An operand, which is unchanged at the end.
    Operand,
    /// A word that the circuit changes.
    Target,
    /// A bit that selects the operation (a direction, an enable), unchanged at the end.
    Control,
    /// Bits that are 0 at the start. If one is 1 at the end, it signals a trap. Then the other targets are meaningless,
    /// but running the circuit backward still restores everything.
    Trap,
    /// 0 at the start and, unless a trap is signalled, at the end.
    Ancilla,
    /// A word that is erased at the end. This is the only role that a circuit cannot realize.
    Lost,
}

/// A named group of wires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The name, an identifier.
    pub name: String,
    /// Its purpose.
    pub role: Role,
    /// The wires of the word at the start, the least significant bit first.
    pub wires: Vec<Wire>,
    /// The wires of the word at the end. They differ only if a permutation of bits is wiring.
    pub after: Vec<Wire>,
}

/// A circuit: registers, which contain every wire once, and gates in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    name: String,
    wires: u32,
    registers: Vec<Register>,
    gates: Vec<Gate>,
    /// Wires that are zero before the gate of this index, in ascending order.
    zeros: Vec<(usize, Wire)>,
}

/// Why registers and gates do not form a circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CircuitError {
    /// A wire that is in no register or in two, at the start or at the end.
    #[error("wire {0} must be in exactly one register")]
    Register(Wire),
    /// A gate that names a wire twice, or one that does not exist.
    #[error("gate {index} ({gate:?}) must be on different wires of the circuit")]
    Gate {
        /// Its index.
        index: usize,
        /// The gate.
        gate: Gate,
    },
}

impl Circuit {
    /// A circuit with these registers and gates. Wires are numbered from 0 on.
    ///
    /// # Errors
    /// A wire that is not in exactly one register; a gate with the same wire twice.
    pub fn new(name: &str, registers: Vec<Register>, gates: Vec<Gate>) -> Result<Circuit, CircuitError> {
        let wires = registers.iter().map(|r| r.wires.len()).sum::<usize>();
        for place in [|r: &Register| r.wires.clone(), |r: &Register| r.after.clone()] {
            let mut seen = vec![0; wires];
            for w in registers.iter().flat_map(place) {
                *seen.get_mut(w as usize).ok_or(CircuitError::Register(w))? += 1;
            }
            if let Some(w) = seen.iter().position(|n| *n != 1) {
                return Err(CircuitError::Register(w as Wire));
            }
        }
        let proper = |g: &Gate| g.is_proper() && g.wires().all(|w| (w as usize) < wires);
        if let Some(index) = gates.iter().position(|g| !proper(g)) {
            return Err(CircuitError::Gate { index, gate: gates[index] });
        }
        Ok(Circuit { name: name.to_string(), wires: wires as u32, registers, gates, zeros: Vec::new() })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of wires.
    pub fn wires(&self) -> u32 {
        self.wires
    }

    /// The registers. Ancillas, if any, are in the last.
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// The register of this name.
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.iter().find(|r| r.name == name)
    }

    /// The number of ancillas.
    pub fn ancillas(&self) -> usize {
        self.registers.iter().filter(|r| r.role == Role::Ancilla).map(|r| r.wires.len()).sum()
    }

    /// The gates in order.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// Wires that are zero before the gate of this index, unless a trap is signalled, in ascending order of the indices.
    pub fn zeros(&self) -> &[(usize, Wire)] {
        &self.zeros
    }

    /// The number of gates of each kind.
    pub fn counts(&self) -> GateCounts {
        let mut n = GateCounts::default();
        for gate in &self.gates {
            match gate {
                Gate::Not(_) => n.not += 1,
                Gate::Cnot(..) => n.cnot += 1,
                Gate::Toffoli(..) => n.toffoli += 1,
                Gate::Cswap(..) => n.cswap += 1,
            }
        }
        n
    }

    /// The number of steps, if every gate takes one and starts as soon as its wires, including controls, are free.
    pub fn depth(&self) -> u64 {
        let mut free = vec![0; self.wires as usize];
        for gate in &self.gates {
            let end = 1 + gate.wires().map(|w| free[w as usize]).max().unwrap_or(0);
            for w in gate.wires() {
                free[w as usize] = end;
            }
        }
        free.into_iter().max().unwrap_or(0)
    }

    /// The reversed circuit, which undoes it. Every gate is its own inverse.
    pub fn inverse(&self) -> Circuit {
        let gates: Vec<Gate> = self.gates.iter().rev().copied().collect();
        let zeros = self.zeros.iter().rev().map(|(at, w)| (gates.len() - at, *w)).collect();
        let mut registers = self.registers.clone();
        for r in &mut registers {
            std::mem::swap(&mut r.wires, &mut r.after);
        }
        Circuit { name: format!("{}_inverse", self.name), wires: self.wires, registers, gates, zeros }
    }
}
