//! Why an instruction has no circuit.

use pendula_isa::circuit::Adder;

/// Why an instruction has no circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCircuit {
    /// A width that is not supported.
    #[error("`{mnemonic}` has no circuit for words of {width} bits{fraction}: {requirement}")]
    Width {
        /// The instruction.
        mnemonic: String,
        /// Bits of a word.
        width: usize,
        /// What is said of fraction bits, if they matter.
        fraction: String,
        /// What is supported.
        requirement: &'static str,
    },
    /// Fraction bits without fixed-point numbers.
    #[error("`{mnemonic}` has no fixed-point numbers, so that fraction bits make no difference: leave out --frac")]
    Fraction {
        /// The instruction.
        mnemonic: String,
    },
    /// A table that is asked for where there is none.
    #[error("`{mnemonic}` has no table for words of {width} bits: {why}")]
    NoTable {
        /// The instruction.
        mnemonic: String,
        /// Bits of a word.
        width: usize,
        /// Why.
        why: &'static str,
    },
    /// An adder that is asked for where no words are added that are long enough.
    #[error(
        "`{mnemonic}` on words of {width} bits adds no words of 4 bits or more, so that there is nothing for the adder `{adder}`; leave it out"
    )]
    NoSum {
        /// The instruction.
        mnemonic: String,
        /// Bits of a word.
        width: usize,
        /// The adder.
        adder: Adder,
    },
    /// A constant amount of a shift that is not less than the width.
    #[error(
        "`{mnemonic}` by {amount} is none on words of {width} bits, where amounts are taken modulo {width}; ask for wider words"
    )]
    Amount {
        /// The instruction.
        mnemonic: String,
        /// The amount.
        amount: u64,
        /// Bits of a word.
        width: usize,
    },
    /// A step of an extension has none.
    #[error("`{mnemonic}` has no circuit, because a step of its definition has none: {why}")]
    Step {
        /// The extension.
        mnemonic: String,
        /// Why.
        why: String,
    },
    /// Its cost is that of other circuits.
    #[error(
        "`{mnemonic}` has no circuit of its own: what {kernels} computes is priced by the circuits {circuits}, which \
         take what its approximation would"
    )]
    StandIns {
        /// The instruction.
        mnemonic: String,
        /// The kernels without circuits of their own.
        kernels: String,
        /// The circuits that stand for them.
        circuits: String,
    },
    /// It rounds, so that what it replaces cannot be computed back to the last bit.
    #[error("`{mnemonic}` rounds what it changes, so that no circuit without garbage does it{instead}")]
    Rounds {
        /// The instruction.
        mnemonic: String,
        /// What has a circuit.
        instead: String,
    },
    /// It has no gates.
    #[error("`{mnemonic}` has no circuit: {why}")]
    Nothing {
        /// The instruction.
        mnemonic: String,
        /// Why.
        why: &'static str,
    },
}
