//! Runs a kernel's circuit on many words, 64 at a time, and compares the results with those of the kernel.

use pendula_hw_model::circuit::kernels::Formats;
use pendula_hw_model::circuit::part::function_circuit;
use pendula_hw_model::circuit::{Accumulator, Circuit, Part, Role};
use pendula_isa::num::{Env, Format};
use pendula_isa::table::{Row, TableFn, Variant};
use pendula_isa::{Cond, Ty};

/// The default machine: infinities and NaN trap.
pub(crate) const ENV: Env = Env { format: Format::Q32_32, ieee: false };

/// SplitMix64: a fixed sequence, so that failures are reproducible.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A signed word. All sizes in bits are equally likely.
    pub(crate) fn sized(&mut self, width: u32) -> u64 {
        let down = 64 - width + self.word() as u32 % width;
        (self.word().cast_signed() >> down).cast_unsigned() & mask(width)
    }
}

/// The low `width` bits.
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// A word of `width` bits, sign-extended.
pub(crate) fn signed(word: u64, width: u32) -> i64 {
    (word << (64 - width)).cast_signed() >> (64 - width)
}

/// Words with few ones or few zeros, and the extremes.
pub(crate) fn edges(width: u32) -> Vec<u64> {
    let near = |bit: u32| [-1i64, 0, 1].map(|d| (1u64 << bit).wrapping_add_signed(d));
    let words = (0..width).flat_map(near).flat_map(|w| [w, w.wrapping_neg()]);
    let mut words: Vec<u64> = words.map(|w| w & mask(width)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// All words of `width` bits as arguments: all pairs of them for two.
pub(crate) fn all(width: u32, arity: usize) -> Vec<[u64; 3]> {
    let words = 0..1u64 << (width * arity as u32);
    words.map(|n| [0, width, 2 * width].map(|down| n >> down & mask(width))).collect()
}

/// So many arguments, made of random words from `draw`.
pub(crate) fn some(seed: u64, count: usize, mut draw: impl FnMut(&mut Random) -> u64) -> Vec<[u64; 3]> {
    let mut random = Random(seed);
    (0..count).map(|_| [(); 3].map(|()| draw(&mut random))).collect()
}

/// The circuit that xors.
pub(crate) fn circuit(kernel: TableFn, formats: &Formats) -> Circuit {
    function_circuit(kernel, Accumulator::Xor, *formats)
}

/// The results of the circuit for all arguments: `None` if it signals a trap. Operands, ancillas and the backward run
/// are checked, too.
pub(crate) fn run(circuit: &Circuit, cases: &[[u64; 3]]) -> Vec<Option<u64>> {
    let operands: Vec<&str> =
        circuit.registers().iter().filter(|r| r.role == Role::Operand).map(|r| r.name.as_str()).collect();
    let trap = circuit.register("trap").is_some();
    let mut values = Vec::new();
    for (at, chunk) in cases.chunks(64).enumerate() {
        let mut lanes = circuit.lanes();
        let columns: Vec<Vec<u128>> =
            (0..operands.len()).map(|i| chunk.iter().map(|x| x[i].into()).collect()).collect();
        for (name, column) in operands.iter().zip(&columns) {
            circuit.set(&mut lanes, name, column);
        }
        let before = lanes.clone();
        if let Err(dirty) = circuit.run_lanes(&mut lanes) {
            panic!("{}: {dirty}", circuit.name());
        }
        for (name, column) in operands.iter().zip(&columns) {
            assert_eq!(circuit.get(&lanes, name)[..chunk.len()], column[..], "{}: {name}", circuit.name());
        }
        let y = circuit.get(&lanes, "y");
        let traps = if trap { circuit.get(&lanes, "trap") } else { [0; 64] };
        values.extend((0..chunk.len()).map(|lane| (traps[lane] == 0).then_some(y[lane] as u64)));
        if at == 0 {
            let inverse = circuit.inverse();
            inverse.run_lanes(&mut lanes).expect("clean ancillas");
            assert_eq!(lanes, before, "{}: there and back", circuit.name());
        }
    }
    values
}

/// Checks that the kernel's circuit gives the expected results: a word, or a trap for `None`.
pub(crate) fn check(
    kernel: TableFn,
    formats: &Formats,
    cases: &[[u64; 3]],
    expected: impl Fn([u64; 3]) -> Option<u64>,
) {
    let circuit = circuit(kernel, formats);
    for (case, found) in cases.iter().zip(run(&circuit, cases)) {
        let expected = expected(*case).map(|word| word & mask(formats.fixed.width));
        assert_eq!(found, expected, "{} of {case:x?} with {formats:?}", kernel.info().name);
    }
}

/// The rotation of points of fixed-point numbers.
pub(crate) const fn rotation(frac: usize) -> Part {
    Part::Row { row: Row::Rot, variant: Variant { ty: Ty::Q, cond: Cond::Always, form: false }, frac }
}
