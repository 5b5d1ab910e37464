//! Derivatives that trap, zeros that contribute nothing, and operands that carry nothing.

use pendula_isa::adjoint::{AdMode, GRADIENT, LANES, MIXED, SECOND, VALUE};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Inst;
use pendula_isa::operand::Operand;
use pendula_isa::types::Ty;
use pendula_isa::{Env, Fault};
use pendula_vm::gradient::Cell;

use super::{A, B, CARRIAGES, MEMORY, double, nearest, register, run};
use crate::common::{between, inst, kind, machine, mem, module, program, reg};

/// If a derivative does not exist or is out of range, an instruction that runs without gradients traps with them, and changes nothing. It
/// runs if all gradients involved are zero.
#[test]
fn derivatives_that_trap() {
    let f = |x: f64| x.to_bits();
    let q = |x: f64| nearest(Env::default(), Ty::Q, x);
    let (tiny, one) = (1u64, q(1.0));
    let cases: &[(&str, &[u64], Fault)] = &[
        ("addasin.f", &[f(1.0)], Fault::DivideByZero),
        ("addacos.f", &[f(-1.0)], Fault::DivideByZero),
        ("addasin.q", &[one], Fault::DivideByZero),
        ("addatan2.f", &[f(0.0), f(0.0)], Fault::DivideByZero),
        ("addatan2.q", &[0, 0], Fault::DivideByZero),
        // 2^32 has no room in Q32.32, 1/2^-1074 none among the doubles.
        ("addlog.q", &[tiny], Fault::Range),
        ("addlog2.q", &[tiny], Fault::Range),
        ("addlog.f", &[1], Fault::NotFinite),
        ("addpow.f", &[f(0.0), f(0.5)], Fault::DivideByZero),
        ("addpow.q", &[0, q(0.5)], Fault::DivideByZero),
        // The logarithm of a fixed-point zero exists; its derivative does not.
        ("mulcvt.l.q", &[tiny], Fault::Range),
    ];
    for &(mnemonic, x, _) in cases {
        let mut operands = vec![reg(1)];
        operands.extend((0..x.len() as u8).map(|n| reg(5 + n)));
        let program = program(between([inst(mnemonic, &operands)]));
        for direction in [Direction::Forward, Direction::Backward] {
            let mut m = machine(&program, MEMORY);
            x.iter().enumerate().for_each(|(n, word)| m.put(VALUE, register(5 + n as u8), *word));
            run(&mut m, AdMode::Plain, direction).unwrap_or_else(|e| panic!("{mnemonic}: {e:?}"));
            run(&mut m, AdMode::Plain, direction.flip()).unwrap_or_else(|e| panic!("{mnemonic}: {e:?}"));
            let bits = if mnemonic.ends_with(".f") { [f(0.75), f(-0.5)] } else { [q(0.75), q(-0.5)] };
            for ad_mode in CARRIAGES {
                // The operand with a derivative: the value for gradients, the argument for tangents.
                for from_value in [true, false] {
                    for lane in [GRADIENT, SECOND, MIXED] {
                        m.clear_lane(lane);
                    }
                    let lanes = ad_mode.lanes();
                    let cell = if from_value { A } else { register(5) };
                    lanes.iter().for_each(|lane| m.put(*lane, cell, bits[0]));
                    // Another word, which must not change.
                    lanes.iter().for_each(|lane| m.put(*lane, Cell::Word(3), bits[1]));
                    let digest = m.digest();
                    let done = run(&mut m, ad_mode, direction);
                    let traps = match ad_mode {
                        AdMode::Plain => false,
                        AdMode::Gradient => from_value,
                        AdMode::Tangent => !from_value,
                        AdMode::SecondGradient | AdMode::GradientTangent => true,
                    };
                    assert_eq!(done.is_err(), traps, "{mnemonic} {ad_mode:?} {from_value}: {done:?}");
                    if traps {
                        assert_eq!(m.digest(), digest, "{mnemonic} {ad_mode:?} {from_value}");
                    } else {
                        run(&mut m, ad_mode, direction.flip()).expect("what ran");
                        assert_eq!(m.digest(), digest, "{mnemonic} {ad_mode:?} {from_value}");
                    }
                }
            }
        }
    }
    for &(mnemonic, x, fault) in cases {
        let mut operands = vec![reg(1)];
        operands.extend((0..x.len() as u8).map(|n| reg(5 + n)));
        let program = program(between([inst(mnemonic, &operands)]));
        let mut m = machine(&program, MEMORY);
        x.iter().enumerate().for_each(|(n, word)| m.put(VALUE, register(5 + n as u8), *word));
        m.put(GRADIENT, A, if mnemonic.ends_with(".f") { f(0.75) } else { q(0.75) });
        assert_eq!(run(&mut m, AdMode::Gradient, Direction::Forward), Err(fault), "{mnemonic}");
    }
}

/// The derivatives of a root at 0 and of a distance at the origin are taken as 0, in every mode.
#[test]
fn derivatives_at_kinks_are_zero() {
    let f = |x: f64| x.to_bits();
    let q = |x: f64| nearest(Env::default(), Ty::Q, x);
    let cases: &[(&str, &[u64])] = &[
        ("addsqrt.f", &[f(0.0)]),
        ("addsqrt.f", &[f(-0.0)]),
        ("addsqrt.q", &[0]),
        ("addhypot.f", &[f(0.0), f(-0.0)]),
        ("addhypot.q", &[0, 0]),
    ];
    for &(mnemonic, x) in cases {
        let arguments: Vec<Cell> = (0..x.len() as u8).map(|n| register(5 + n)).collect();
        let mut operands = vec![reg(1)];
        operands.extend((0..x.len() as u8).map(|n| reg(5 + n)));
        let program = program(between([inst(mnemonic, &operands)]));
        let one = if mnemonic.ends_with(".f") { f(0.75) } else { q(0.75) };
        for ad_mode in CARRIAGES {
            for direction in [Direction::Forward, Direction::Backward] {
                let mut m = machine(&program, MEMORY);
                arguments.iter().zip(x).for_each(|(cell, word)| m.put(VALUE, *cell, *word));
                for &lane in ad_mode.lanes() {
                    arguments.iter().chain([&A]).for_each(|cell| m.put(lane, *cell, one));
                }
                run(&mut m, ad_mode, direction).unwrap_or_else(|e| panic!("{mnemonic} {ad_mode:?}: {e:?}"));
                // Neither the value's gradient words nor those of the arguments have changed.
                for &lane in ad_mode.lanes() {
                    for cell in arguments.iter().chain([&A]) {
                        assert_eq!(m.get(lane, *cell), one, "{mnemonic} {ad_mode:?} {direction:?} {cell:?}");
                    }
                }
            }
        }
    }
}

/// A negated zero is a zero: −0.0 as a gradient contributes nothing where there is no derivative.
#[test]
fn minus_zero_contributes_nothing() {
    let program = program(between([inst("addasin.f", &[reg(1), reg(5)]), inst("neg.f", &[reg(1)])]));
    for ad_mode in CARRIAGES {
        let mut m = machine(&program, MEMORY);
        m.put(VALUE, register(5), 1f64.to_bits());
        run(&mut m, AdMode::Plain, Direction::Forward).expect("an arc sine");
        run(&mut m, ad_mode, Direction::Backward).unwrap_or_else(|e| panic!("{ad_mode:?}: {e:?}"));
        // A tangent's sign is turned in the argument.
        let program = self::program(between([inst("neg.f", &[reg(5)]), inst("addasin.f", &[reg(1), reg(5)])]));
        let mut m = machine(&program, MEMORY);
        m.put(VALUE, register(5), 1f64.to_bits());
        run(&mut m, ad_mode, Direction::Forward).unwrap_or_else(|e| panic!("{ad_mode:?}: {e:?}"));
    }
}

/// `r0` and constants have no lanes: nothing is added to them, and nothing comes from them.
#[test]
fn constants_and_r0_carry_nothing() {
    let two = 2f64.to_bits();
    for ad_mode in CARRIAGES {
        let cases: [&[Operand]; 3] =
            [&[reg(1), reg(0), reg(2)], &[reg(1), reg(0), reg(0)], &[reg(1), Operand::Imm(two, Ty::F), reg(2)]];
        for operands in cases {
            let program = program(between([inst("addmul.f", operands)]));
            let mut m = machine(&program, MEMORY);
            m.put(VALUE, B, 3f64.to_bits());
            for &lane in ad_mode.lanes() {
                m.put(lane, A, 1f64.to_bits());
            }
            run(&mut m, ad_mode, Direction::Backward).expect("a product");
            for lane in 0..LANES {
                assert_eq!(m.get(lane, register(0)), 0, "{operands:?} {ad_mode:?}");
            }
            // The other factor's derivative is the constant's value.
            let constant = if matches!(operands[1], Operand::Imm(..)) { 2.0 } else { 0.0 };
            let wanted = if ad_mode == AdMode::Tangent { 0.0 } else { constant };
            assert_eq!(double(&m, ad_mode.lanes()[0], B), wanted, "{operands:?} {ad_mode:?}");
        }
        // Writing to the lanes of r0 through the interface has no effect, either.
        let program = program(module([inst("start", &[]), inst("finish", &[])]));
        let mut m = machine(&program, MEMORY);
        (0..LANES).for_each(|lane| m.put(lane, register(0), 5));
        assert!((0..LANES).all(|lane| m.get(lane, register(0)) == 0));
    }
    // The destination may not be an argument, so no rule is needed for that.
    for operands in [&[reg(1), reg(1), reg(2)], &[reg(1), reg(2), reg(1)], &[reg(0), reg(1), reg(2)]] {
        assert!(Inst::build(kind("addmul.f"), operands).is_err(), "{operands:?}");
    }
    assert!(Inst::build(kind("addmul.f"), &[mem(5, 0, 1), mem(5, 0, 1), reg(2)]).is_err());
}
