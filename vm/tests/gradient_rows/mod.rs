//! The effects of every row of the table on gradient words and tangents: against closed forms, against each other (a gradient is the
//! transpose of the tangents), against finite differences, and undone bit for bit. The root crate's `gradient_programs.rs` tests whole
//! programs.

mod closed_forms;
mod first;
mod round_trips;
mod rows;
mod second;
mod site;
mod traps;

use crate::common::r;
use pendula_isa::adjoint::{AdMode, LANES, VALUE};
use pendula_isa::counts::Direction;
use pendula_isa::num::convert;
use pendula_isa::sample::Source;
use pendula_isa::types::{Reg, Ty};
use pendula_isa::{Env, Fault};
use pendula_vm::gradient::Cell;
use pendula_vm::{Machine, Outcome};

/// Random points for each function and shape.
const POINTS: usize = 1_000;
/// Words of memory.
const MEMORY: u64 = 24;

const CARRIAGES: [AdMode; 4] = [AdMode::Gradient, AdMode::SecondGradient, AdMode::Tangent, AdMode::GradientTangent];

/// The number that a word stands for.
fn real(env: Env, ty: Ty, word: u64) -> f64 {
    convert::to_f64(env, ty, word)
}

/// The word nearest to a number.
fn nearest(env: Env, ty: Ty, x: f64) -> u64 {
    convert::from_f64(env, ty, x).expect("a moderate number")
}

/// The type of the gradient words of a type. That of integers is never read.
fn lane_type(ty: Ty) -> Ty {
    if ty == Ty::F { Ty::F } else { Ty::Q }
}

/// Uniform between two numbers.
fn uniform(s: &mut Source, min: f64, max: f64) -> f64 {
    min + (max - min) * (s.word() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number of either sign with a magnitude between two numbers.
fn signed(s: &mut Source, min: f64, max: f64) -> f64 {
    let x = uniform(s, min, max);
    if s.once_in(2) { -x } else { x }
}

/// The address registers of memory operands.
fn addresses(m: &mut Machine) {
    m.set_register(r(8), 3);
    m.set_register(r(9), 4);
}

/// Runs the program from one of its ends.
fn run(m: &mut Machine, ad_mode: AdMode, direction: Direction) -> Result<(), Fault> {
    m.set_ad_mode(ad_mode);
    m.begin(direction);
    match m.run(None) {
        Outcome::Finished => Ok(()),
        Outcome::Trap(trap) => Err(trap.fault),
        Outcome::Limit => unreachable!("no limit"),
    }
}

/// All words in all lanes.
fn everything(m: &Machine) -> Vec<u64> {
    let registers = (0..Reg::COUNT as u8).map(|n| Cell::Register(r(n)));
    let words = (0..MEMORY as usize).map(Cell::Word);
    let cells: Vec<Cell> = registers.chain(words).collect();
    (0..LANES).flat_map(|lane| cells.iter().map(move |c| (lane, *c))).map(|(lane, c)| m.get(lane, c)).collect()
}

fn close(a: f64, b: f64, tolerance: f64, scale: f64, what: impl Fn() -> String) {
    assert!((a - b).abs() <= tolerance * scale, "{}: {a:e} and {b:e}, scale {scale:e}", what());
}

/// A double in a lane of a cell.
fn double(m: &Machine, lane: usize, cell: Cell) -> f64 {
    f64::from_bits(m.get(lane, cell))
}

const fn register(n: u8) -> Cell {
    Cell::Register(match Reg::new(n) {
        Some(reg) => reg,
        None => Reg::ZERO,
    })
}
const A: Cell = register(1);
const B: Cell = register(2);
const C: Cell = register(3);

fn with_value(ad_mode: AdMode) -> impl Iterator<Item = usize> {
    std::iter::once(VALUE).chain(ad_mode.lanes().iter().copied())
}
