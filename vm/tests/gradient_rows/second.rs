//! Second derivatives, and the transpose at both gradient levels.

use pendula_isa::Env;
use pendula_isa::adjoint::{AdMode, GRADIENT, LANES, SECOND, VALUE};
use pendula_isa::counts::Direction;
use pendula_isa::operand::Operand;
use pendula_isa::sample::{Source, share};
use pendula_isa::types::Ty;
use pendula_vm::Machine;
use pendula_vm::gradient::Cell;

use super::site::{at_points, functions, name};
use super::{MEMORY, POINTS, addresses, close, double, run, signed};
use crate::common::{between, inst, machine, mem, program, r, reg};

/// How many comparisons [`transposed`] has made.
#[derive(Default)]
struct Met {
    points: usize,
    numbers: usize,
    compared: usize,
}

/// Checks one instruction on doubles in the machine's state; the values and gradient words of `cells` are its variables.
///
/// Its effect on tangents is the derivative of its effect on values (by finite differences), and the effect of its inverse on gradient
/// words is the transpose of that. The same holds one level up, for the instruction with gradient words: tangents by
/// [`AdMode::GradientTangent`], the transpose by [`AdMode::SecondGradient`].
fn transposed(
    m: &mut Machine,
    cells: &[Cell],
    direction: Direction,
    s: &mut Source,
    met: &mut Met,
    what: &dyn Fn() -> String,
) {
    let start = m.snapshot();
    for level in [0, 1] {
        // The lanes of the differentiated program, and the AD modes above them.
        let (lanes, tangents, gradients): (&[usize], _, _) = match level {
            0 => (&[VALUE], AdMode::Tangent, AdMode::Gradient),
            _ => (&[VALUE, GRADIENT], AdMode::GradientTangent, AdMode::SecondGradient),
        };
        let plain = if level == 0 { AdMode::Plain } else { AdMode::Gradient };
        let above = |ad_mode: AdMode, lane: usize| {
            if ad_mode == AdMode::Gradient { lane + GRADIENT } else { lane + SECOND }
        };
        let variables: Vec<(usize, Cell)> = lanes.iter().flat_map(|lane| cells.iter().map(|c| (*lane, *c))).collect();
        m.restore(&start);
        let before: Vec<f64> = variables
            .iter()
            .map(|(lane, cell)| if *lane == VALUE { double(m, VALUE, *cell) } else { signed(s, 0.1, 2.0) })
            .collect();
        let set = |m: &mut Machine, at: &[f64]| {
            m.restore(&start);
            (1..LANES).for_each(|lane| m.clear_lane(lane));
            variables.iter().zip(at).for_each(|((lane, cell), x)| m.put(*lane, *cell, x.to_bits()));
        };
        let read = |m: &Machine| -> Vec<f64> { variables.iter().map(|(lane, cell)| double(m, *lane, *cell)).collect() };
        let u: Vec<f64> = before.iter().map(|_| signed(s, 0.2, 1.0)).collect();
        let w: Vec<f64> = before.iter().map(|_| signed(s, 0.2, 1.0)).collect();
        // J·u.
        set(m, &before);
        variables.iter().zip(&u).for_each(|((lane, cell), x)| m.put(lane + SECOND, *cell, x.to_bits()));
        run(m, tangents, direction).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
        let after = read(m);
        let pushed: Vec<f64> = variables.iter().map(|(lane, cell)| double(m, lane + SECOND, *cell)).collect();
        // Jᵀ·w, from there.
        (1..LANES).for_each(|lane| m.clear_lane(lane));
        variables.iter().zip(&after).for_each(|((lane, cell), x)| m.put(*lane, *cell, x.to_bits()));
        variables.iter().zip(&w).for_each(|((lane, cell), x)| m.put(above(gradients, *lane), *cell, x.to_bits()));
        run(m, gradients, direction.flip()).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
        let pulled: Vec<f64> = variables.iter().map(|(lane, cell)| double(m, above(gradients, *lane), *cell)).collect();
        let back = read(m);
        for (was, is) in before.iter().zip(&back) {
            close(*was, *is, 1e-14, 20.0 * (1.0 + after.iter().fold(0.0, |s: f64, x| s.max(x.abs()))), what);
        }
        let dot = |a: &[f64], b: &[f64]| -> (f64, f64) {
            let terms = a.iter().zip(b).map(|(a, b)| a * b);
            terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()))
        };
        let ((left, a), (right, b)) = (dot(&w, &pushed), dot(&pulled, &u));
        close(left, right, 1e-12, a + b, || format!("transpose at level {level} of {}", what()));
        // Finite differences of the run itself.
        let mut slope = |h: f64| -> Option<Vec<f64>> {
            let mut ends = Vec::new();
            for sign in [h, -h] {
                let at: Vec<f64> = before.iter().zip(&u).map(|(x, u)| x + sign * u).collect();
                set(m, &at);
                run(m, plain, direction).ok()?;
                ends.push(read(m));
            }
            Some(ends[0].iter().zip(&ends[1]).map(|(a, b)| (a - b) / (2.0 * h)).collect())
        };
        let slopes = (slope(2e-3), slope(1e-3));
        for n in 0..variables.len() {
            met.numbers += 1;
            let (Some(wide), Some(narrow)) = (&slopes.0, &slopes.1) else { continue };
            let (wide, narrow) = (wide[n], narrow[n]);
            let scale = 1.0 + narrow.abs() + after[n].abs();
            if (wide - narrow).abs() <= 1e-3 * scale {
                met.compared += 1;
                let limit = 1e-8 * scale + 1e-2 * (wide - narrow).abs();
                close((4.0 * narrow - wide) / 3.0, pushed[n], 1.0, limit, || {
                    format!("differences at level {level}, {:?}, of {}", variables[n], what())
                });
            }
        }
    }
    m.restore(&start);
    met.points += 1;
}

#[test]
fn second_derivatives_of_doubles() {
    let env = Env::default();
    for (seed, func) in functions(|ty, from| ty == Ty::F && from == Ty::F).into_iter().enumerate() {
        let mut met = Met::default();
        at_points(env, func, share(POINTS), 200 + seed as u64, |m, site, v, s| {
            let mut cells: Vec<Cell> = site.cells[..=func.info().partials].iter().flatten().copied().collect();
            cells.dedup();
            transposed(m, &cells, site.direction, s, &mut met, &|| format!("{} at {:?}", name(func), v.numbers));
        });
        let least = if func.info().name == "pow" { 0.8 } else { 0.95 };
        assert!(met.points >= share(POINTS) && met.compared as f64 >= least * met.numbers as f64, "{}", name(func));
    }
}

/// The rows that change doubles: rotations with the angle in a register and as a constant, negations, exchanges.
#[test]
fn second_derivatives_of_other_rows() {
    let mut s = Source::seeded(300);
    let mut met = Met::default();
    let cells = [Cell::Register(r(1)), Cell::Register(r(2)), Cell::Register(r(3)), Cell::Word(12)];
    let angle = Operand::Imm(0.7f64.to_bits(), Ty::F);
    let rows = [
        inst("rot.f", &[reg(1), reg(2), reg(3)]),
        inst("irot.f", &[reg(1), reg(2), reg(3)]),
        inst("rot.f", &[reg(1), reg(2), angle]),
        inst("irot.f", &[reg(1), reg(2), angle]),
        inst("neg.f", &[reg(1)]),
        inst("swap", &[reg(1), reg(2)]),
        inst("exch", &[reg(1), mem(8, 9, 5)]),
    ];
    for row in rows {
        let program = program(between([row]));
        let mut m = machine(&program, MEMORY);
        for direction in [Direction::Forward, Direction::Backward] {
            for _ in 0..share(POINTS) {
                addresses(&mut m);
                cells.iter().for_each(|cell| m.put(VALUE, *cell, signed(&mut s, 0.1, 4.0).to_bits()));
                transposed(&mut m, &cells, direction, &mut s, &mut met, &|| format!("{row:?}"));
            }
        }
    }
    assert_eq!(met.compared, met.numbers);
}
