//! `rot` and `irot`, against the sines and cosines of tables.

use pendula_isa::counts::Direction;
use pendula_isa::num::Format;
use pendula_isa::operand::Operand;
use pendula_isa::sample::{Source, number, word};
use pendula_isa::types::Ty;
use pendula_vm::Outcome;

use crate::common::{between, inst, machine, program, reg};
use crate::semantics::{f, set};

/// An angle with its cosine and sine.
const ANGLES: [(f64, f64, f64); 8] = [
    (1.0, 0.5403023058681398, 0.8414709848078965),
    (-1.0, 0.5403023058681398, -0.8414709848078965),
    (2.0, -0.4161468365471424, 0.9092974268256817),
    (0.5, 0.8775825618903728, 0.479425538604203),
    (3.0, -0.9899924966004454, 0.1411200080598672),
    (-4.0, -0.6536436208636119, 0.7568024953079282),
    (100.0, 0.8623188722876839, -0.5063656411097588),
    (1073741824.0, 0.786707122941188, -0.6173264150460422),
];

const POINTS: [(f64, f64); 5] = [(1.0, 0.0), (0.0, 1.0), (3.0, 4.0), (-0.25, 1000.5), (-20000.0, -7.0)];

/// Rotates a point with the angle in a register and as a constant; both give the same words.
fn turned(name: &str, format: Format, ty: Ty, [a, b, angle]: [u64; 3]) -> [u64; 2] {
    let results = [reg(3), Operand::Imm(angle, ty)].map(|third| {
        let mut module = between([inst(name, &[reg(1), reg(2), third])]);
        module.flags.format = format;
        let program = program(module);
        let mut m = machine(&program, 4);
        set(&mut m, [a, b, angle, 0]);
        assert_eq!(m.run(None), Outcome::Finished);
        assert_eq!(m.registers()[3], angle);
        [m.registers()[1], m.registers()[2]]
    });
    assert_eq!(results[0], results[1]);
    results[0]
}

#[test]
fn fixed_points_turn_by_angles_of_tables() {
    for format in Format::ALL {
        let one = 2f64.powi(format.frac() as i32);
        let word = |x: f64| ((x * one) as i64).cast_unsigned();
        for (angle, cos, sin) in ANGLES.into_iter().filter(|(angle, ..)| angle * one < 9e18) {
            for (a, b) in POINTS {
                for (name, sin) in [("rot.q", sin), ("irot.q", -sin)] {
                    let got = turned(name, format, Ty::Q, [word(a), word(b), word(angle)]);
                    let want = [a * cos - b * sin, a * sin + b * cos];
                    for (got, want) in got.into_iter().zip(want) {
                        // The table has 16 digits; a turn is within 2.5 units.
                        let bound = 2.5 / one + 4e-16 * (a.abs() + b.abs());
                        let got = got.cast_signed() as f64 / one;
                        assert!((got - want).abs() <= bound, "{name} ({a}, {b}) by {angle}: {got}, not {want}");
                    }
                }
            }
        }
    }
}

#[test]
fn doubles_turn_by_angles_of_tables() {
    for (angle, cos, sin) in ANGLES {
        for (a, b) in POINTS {
            for (name, sin) in [("rot.f", sin), ("irot.f", -sin)] {
                let got = turned(name, Format::Q32_32, Ty::F, [f(a), f(b), f(angle)]).map(f64::from_bits);
                let want = [a * cos - b * sin, a * sin + b * cos];
                for (got, want) in got.into_iter().zip(want) {
                    let bound = 4.0 * f64::EPSILON * a.hypot(b);
                    assert!((got - want).abs() <= bound, "{name} ({a}, {b}) by {angle}: {got:e}, not {want:e}");
                }
            }
        }
    }
}

/// Fixed-point rotations are undone exactly for any words, even with overflow; rotations by opposite angles are `irot` and `rot`.
#[test]
fn fixed_point_turns_come_back_bit_for_bit() {
    let mut s = Source::seeded(41);
    let mut wrapped = 0;
    for n in 0..20_000 {
        let format = s.pick(&Format::ALL);
        let [a, b, angle] = [0, 1, 2].map(|_| match s.below(2) {
            0 => number(Ty::Q, format, &mut s),
            _ => word(&mut s),
        });
        let name = if n % 2 == 0 { "rot.q" } else { "irot.q" };
        let mut module = between([inst(name, &[reg(1), reg(2), reg(3)])]);
        module.flags.format = format;
        let program = program(module);
        let mut m = machine(&program, 4);
        set(&mut m, [a, b, angle, 0]);
        let before = m.digest();
        assert_eq!(m.run(None), Outcome::Finished);
        let there = [m.registers()[1], m.registers()[2]];
        if m.flags().overflow.is_none() {
            // The distance from the origin stays.
            let size = |x: [u64; 2]| (x[0].cast_signed() as f64).hypot(x[1].cast_signed() as f64);
            let (was, is) = (size([a, b]), size(there));
            assert!((was - is).abs() <= 4.0 + 1e-15 * was, "{a:#x} {b:#x} {angle:#x}: {was} {is}");
        } else {
            wrapped += 1;
        }
        m.begin(Direction::Backward);
        assert_eq!(m.run(None), Outcome::Finished);
        assert_eq!(m.digest(), before);
        let other = if n % 2 == 0 { "irot.q" } else { "rot.q" };
        assert_eq!(turned(other, format, Ty::Q, [there[0], there[1], angle]), [a, b]);
    }
    assert!((100..15_000).contains(&wrapped), "{wrapped}");
}
