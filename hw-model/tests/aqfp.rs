//! Buffers and splitters of flux parametrons beside those of published syntheses of the same gates.
//!
//! The published ones are `adder1` and `adder8` of the SCE benchmarks, <https://github.com/lsils/SCE-benchmarks> (`ISCAS/README.md`, commit
//! 3005081 of 2023-12-05), which adds two words and a carry: buffers, splitters and junctions as Lee, Tempia Calvino, Riener and De Micheli,
//! Technology Legalization and Optimization for Adiabatic Quantum-Flux Parametron, have them, with inputs that are split and outputs that come
//! together, as here. The gates are those of Cai et al., A Buffer and Splitter Insertion Framework for Adiabatic Quantum-Flux-Parametron
//! Superconducting Circuits, ICCD 2019.

use pendula_hw_model::circuit::Circuit;
use pendula_hw_model::network::{Aqfp, Network};
use pendula_isa::circuit::{Bit, Builder, Role};

use crate::circuits::harness::Random;

/// Of some bits: gates, buffers and splitters, junctions, levels.
const PUBLISHED: [(usize, [u64; 4]); 2] = [(1, [7, 16, 74, 8]), (8, [77, 371, 1204, 33])];

fn or(b: &mut Builder, x: Bit, z: Bit) -> Bit {
    let [x, z] = [x, z].map(|bit| {
        let inverse = b.bit();
        b.cnot(bit, inverse);
        b.not(inverse);
        inverse
    });
    let neither = b.and(x, z);
    b.not(neither);
    neither
}

/// `x` without `z`.
fn without(b: &mut Builder, x: Bit, z: Bit) -> Bit {
    let inverse = b.bit();
    b.cnot(z, inverse);
    b.not(inverse);
    b.and(x, inverse)
}

/// The published gates, for words of any length: the sum by carries that ripple, and then the carry in, which ripples, too.
fn published(width: usize) -> Circuit {
    let mut b = Builder::new("adder");
    let [x, z] = ["a", "b"].map(|name| b.register(name, Role::Operand, width));
    let first = b.register("c", Role::Operand, 1)[0];
    let sum = b.register("s", Role::Trap, width);
    let out = b.register("cout", Role::Trap, 1)[0];
    let (mut carry, mut second) = (Bit::ZERO, first);
    for place in 0..width {
        let both = b.and(x[place], z[place]);
        let any = or(&mut b, x[place], z[place]);
        let one = without(&mut b, any, both);
        // The sum without the carry in, and its carry.
        let (mut half, mut into) = (one, second);
        match place {
            0 => carry = both,
            1 => {
                into = or(&mut b, carry, second);
                let handed = b.and(any, carry);
                carry = or(&mut b, both, handed);
            }
            _ => {
                let handed = b.and(one, carry);
                let either = or(&mut b, one, carry);
                half = without(&mut b, either, handed);
                carry = or(&mut b, both, handed);
            }
        }
        second = b.and(half, second);
        // In place 1 that is not the product of what is summed.
        let product = if place == 1 { b.and(half, into) } else { second };
        let either = or(&mut b, half, into);
        let bit = without(&mut b, either, product);
        b.cnot(bit, sum[place]);
    }
    let last = or(&mut b, carry, second);
    b.cnot(last, out);
    b.finish()
}

/// The cells, after a check that they add.
fn cells(network: &Network, width: usize) -> Aqfp {
    let mut random = Random::new(3);
    let words: Vec<u64> = (0..=2 * width).map(|_| random.word()).collect();
    let found = network.simulate(&words);
    assert_eq!(found.len(), width + 1);
    for lane in 0..64 {
        let bits = |words: &[u64]| words.iter().rev().fold(0u128, |all, word| 2 * all + u128::from(word >> lane & 1));
        let sum = bits(&words[..width]) + bits(&words[width..2 * width]) + bits(&words[2 * width..]);
        assert_eq!(bits(&found), sum);
    }
    Aqfp::of(network)
}

#[test]
fn published_gates_take_the_published_buffers() {
    for (width, [gates, buffers, junctions, levels]) in PUBLISHED {
        let cells = cells(&Network::of(&published(width)), width);
        let found = [cells.majorities, cells.buffers, cells.junctions(), cells.levels];
        assert_eq!(found, [gates, buffers, junctions, levels], "{width} bits");
    }
}
