//! Random words, instructions and programs, for tests and fuzzers.
//!
//! All samples are drawn from a [`Source`] of choices: either a seeded generator (the same seed gives the same sample) or the bytes of a
//! fuzzer's input. [`instruction`] makes one valid instruction of a given family; [`program`] makes the text of a reversible program that
//! terminates in both directions.

mod extension;
mod program;
mod random_program;

pub use extension::extension;
pub use program::program;
pub use random_program::RandomProgram;

use crate::Env;
use crate::inst::{FACTOR_MAX, Inst, Kind, OFFSET_MAX, OFFSET_MIN, SMALL_MAX, SMALL_MIN};
use crate::num::{Format, convert, log};
use crate::operand::{Shape, Slot};
use crate::table::Row;
use crate::types::{Acc, Cond, Reg, Ty};

/// Whether tests are to try all that they can, as long as it takes: the environment has `PENDULA_TEST_ALL`.
pub fn all() -> bool {
    std::env::var_os("PENDULA_TEST_ALL").is_some()
}

/// How many of so many cases a test tries: all of them if [`all`] says so, and otherwise a sixteenth.
pub fn share<N: std::ops::Div<Output = N> + core::convert::From<u8>>(cases: N) -> N {
    if all() { cases } else { cases / N::from(16) }
}

/// The items that a test goes through: all if [`all`] says so, and otherwise every sixteenth, from the first on.
pub fn some<T>(items: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    items.into_iter().step_by(if all() { 1 } else { 16 })
}

/// In which of these ways a test does its `n`th case: all if [`all`] says so, and otherwise one, in turn.
pub fn in_turn<T>(ways: &[T], n: usize) -> &[T] {
    let one = || n.checked_rem(ways.len()).map(|at| &ways[at..=at]);
    if all() { ways } else { one().unwrap_or(ways) }
}

/// A stream of choices.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    from: From<'a>,
}

#[derive(Clone, Debug)]
enum From<'a> {
    Seed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Source<'a> {
    /// An infinite stream of choices from a seed (SplitMix64).
    pub const fn seeded(seed: u64) -> Source<'static> {
        Source { from: From::Seed(seed) }
    }

    /// The choices encoded by the bytes. After their end, every choice is the first one.
    pub const fn bytes(bytes: &'a [u8]) -> Source<'a> {
        Source { from: From::Bytes(bytes) }
    }

    /// Whether the bytes are used up; never with a seed.
    pub fn is_empty(&self) -> bool {
        matches!(self.from, From::Bytes([]))
    }

    /// `n` bytes as a number, the first byte lowest.
    fn take(&mut self, n: usize) -> u64 {
        match &mut self.from {
            From::Seed(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                let z = z ^ (z >> 31);
                if n < 8 { z & ((1 << (8 * n)) - 1) } else { z }
            }
            From::Bytes(bytes) => {
                let (now, rest) = bytes.split_at(n.min(bytes.len()));
                *bytes = rest;
                now.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
            }
        }
    }

    /// Any word.
    pub fn word(&mut self) -> u64 {
        self.take(8)
    }

    /// A number below `n`, nearly uniform; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        match n {
            0 | 1 => 0,
            2..=0x100 => self.take(1) % n,
            0x101..=0x1_0000 => self.take(2) % n,
            _ => self.take(8) % n,
        }
    }

    /// A number from `min` to `max`.
    pub fn between(&mut self, min: i64, max: i64) -> i64 {
        min.wrapping_add_unsigned(self.below(max.abs_diff(min).saturating_add(1)))
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == n - 1
    }

    /// One of the items, of which there must be at least one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// A register.
    pub fn reg(&mut self) -> Reg {
        Reg::new(self.below(Reg::COUNT as u64) as u8).unwrap_or_default()
    }
}

/// The extreme words of fields and number types.
pub const EDGES: [u64; 22] = [
    0,
    1,
    u64::MAX,
    i64::MAX as u64,
    i64::MIN as u64,
    OFFSET_MAX as u64,
    OFFSET_MAX as u64 + 1,
    OFFSET_MIN as u64,
    OFFSET_MIN as u64 - 1,
    u32::MAX as u64,
    1 << 32,
    1 << 43,
    1 << 48,
    1 << 52,
    log::ZERO,
    log::ZERO | 1 << 63,
    log::MAX_LOG as u64,
    0x3ff0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x0000_0000_0000_0001,
];

/// A word of any kind: random, small, of random size, at an edge, or a number of some type.
pub fn word(s: &mut Source) -> u64 {
    match s.below(8) {
        0 => s.below(64),
        1 => s.below(64).wrapping_neg(),
        2 => s.pick(&EDGES),
        3 => s.pick(&EDGES).wrapping_add_signed(s.between(-2, 2)),
        4 => {
            let shift = s.below(64);
            (s.word().cast_signed() >> shift).cast_unsigned()
        }
        5 => {
            let ty = s.pick(&Ty::ALL);
            number(ty, Format::default(), s)
        }
        _ => s.word(),
    }
}

/// A number of moderate size as a word of the type: mostly within ±16, sometimes a whole number, 0 or ±1.
pub fn number(ty: Ty, format: Format, s: &mut Source) -> u64 {
    let env = Env { format, ieee: false };
    // In units of 2^-20.
    let sixteen = 16 << 20;
    let k = match s.below(4) {
        0 => s.between(-16, 16) << 20,
        1 => s.between(-1, 1) << 20,
        _ => s.between(-sixteen, sixteen),
    };
    let word = k.cast_unsigned();
    let x = k as f64 / f64::from(1 << 20);
    match ty {
        Ty::Int => (k >> 20).cast_unsigned(),
        Ty::Q => word << (format.frac() - 20),
        Ty::F => x.to_bits(),
        Ty::L => convert::f_to_l(env, x.to_bits()).unwrap_or(log::ONE),
    }
}

/// A constant as a person or a compiler might write it: an edge of the immediate field, a number of the type, any word.
pub fn constant(ty: Ty, s: &mut Source) -> u64 {
    match s.below(4) {
        0 => number(ty, Format::default(), s),
        1 => s.between(OFFSET_MIN, OFFSET_MAX).cast_unsigned(),
        2 => s.between(-128, 127).cast_unsigned(),
        _ => word(s),
    }
}

/// A valid instruction of a family: any of its shapes or forms, any operands.
///
/// Written registers occur nowhere else in it. Labels and texts are arbitrary offsets and indices.
pub fn instruction(family: Kind, s: &mut Source) -> Inst {
    let kind = variant(family, s);
    fill(kind, s)
}

/// The family with a shape or form chosen.
pub(crate) fn variant(family: Kind, s: &mut Source) -> Kind {
    match family {
        Kind::Accumulate { acc, inverse, func, .. } => {
            let arity = func.info().args.len();
            let shapes: Vec<Shape> = Shape::ALL.into_iter().filter(|shape| shape.arity() == arity).collect();
            Kind::Accumulate { acc, inverse, func, shape: s.pick(&shapes) }
        }
        Kind::Row { row, inverse, ty, cond, .. } => {
            let label_only = matches!(row, Row::Jmp | Row::Bra) && cond == Cond::Always;
            let choice = !label_only && row.info().operands.iter().any(|k| k.has_alternative());
            Kind::Row { row, inverse, ty, cond, form: choice && s.once_in(2) }
        }
        Kind::Extension { .. } => family,
    }
}

/// An instruction of exactly this kind, with any operands.
pub fn fill(kind: Kind, s: &mut Source) -> Inst {
    let mut inst = Inst { kind, regs: Inst::registers(&[]), imm: 0, small: 0 };
    let mut written = [false; Reg::COUNT];
    // `r0` is never written, and an instruction that moves the stack pointer does not use it as an operand.
    let mut taken = [false; Reg::COUNT];
    let moves_sp = matches!(kind, Kind::Row { row, .. } if row.info().moves_sp);
    let layout = kind.layout();
    for slot in layout {
        if let Slot::Target(f) = slot {
            let reg = free(|r| r == Reg::ZERO || (moves_sp && r == Reg::SP) || taken[r.index()], s);
            written[reg.index()] = true;
            taken[reg.index()] = true;
            inst.regs[f as usize] = reg;
        }
    }
    for (n, slot) in layout.into_iter().enumerate() {
        match slot {
            Slot::Reg(f) => {
                let sp = moves_sp;
                inst.regs[f as usize] = free(|r| written[r.index()] || (sp && r == Reg::SP), s);
            }
            Slot::Mem(f) | Slot::TargetMem(f) | Slot::MemPlain(f) | Slot::TargetMemPlain(f) => {
                let (base, index) = match s.below(4) {
                    0 => (Reg::ZERO, Reg::ZERO),
                    1 => (free(|r| written[r.index()], s), Reg::ZERO),
                    _ => (free(|r| written[r.index()], s), free(|r| written[r.index()], s)),
                };
                let (base, index) = if base == Reg::ZERO { (index, base) } else { (base, index) };
                inst.regs[f as usize] = base;
                inst.regs[f as usize + 1] = index;
                if matches!(slot, Slot::Mem(_) | Slot::TargetMem(_)) {
                    inst.imm = offset(s);
                }
            }
            Slot::Imm => inst.imm = immediate(kind, n, s),
            Slot::Small => inst.small = small(s),
            Slot::FactorNum => inst.imm |= factor(s),
            Slot::FactorDen => inst.imm |= factor(s) << 14,
            Slot::Label => inst.imm = offset(s),
            Slot::Text => inst.imm = s.between(0, OFFSET_MAX),
            Slot::None | Slot::Target(_) => {}
        }
    }
    inst
}

/// A register that is not excluded.
fn free(excluded: impl Fn(Reg) -> bool, s: &mut Source) -> Reg {
    let start = s.reg().number();
    (0..Reg::COUNT as u8)
        .filter_map(|n| Reg::new((start + n) % Reg::COUNT as u8))
        .find(|r| !excluded(*r))
        .unwrap_or_default()
}

fn offset(s: &mut Source) -> i64 {
    match s.below(4) {
        0 => 0,
        1 => s.between(-32, 32),
        2 => s.pick(&[OFFSET_MIN, OFFSET_MIN + 1, -1, 1, OFFSET_MAX - 1, OFFSET_MAX]),
        _ => s.between(OFFSET_MIN, OFFSET_MAX),
    }
}

fn small(s: &mut Source) -> i16 {
    let k = match s.below(4) {
        0 => s.pick(&[0, 1, -1, SMALL_MIN, SMALL_MAX]),
        1 => s.between(-16, 16),
        _ => s.between(SMALL_MIN, SMALL_MAX),
    };
    k as i16
}

fn factor(s: &mut Source) -> i64 {
    let max = s.pick(&[4, 20, 1000, FACTOR_MAX]);
    s.between(1, max)
}

fn immediate(kind: Kind, position: usize, s: &mut Source) -> i64 {
    if matches!(kind, Kind::Row { row: Row::Rol | Row::Rol32, .. }) {
        return s.between(0, 63);
    }
    let word = constant(kind.constant_type(position), s);
    // A multiplicative accumulate rejects a constant zero of the argument's type.
    let zero = word << 1 == 0 || word == log::ZERO;
    if zero && matches!(kind, Kind::Accumulate { acc: Acc::Mul, .. }) {
        return if kind.constant_type(position) == Ty::L { log::ONE.cast_signed() } else { 1 };
    }
    word.cast_signed()
}
