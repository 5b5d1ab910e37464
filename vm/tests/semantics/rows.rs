//! The straight-line instructions other than accumulates, except for rotations
//! a point and what gradient words do.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use pendula_isa::Fault;
use pendula_isa::counts::Direction;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::operand::Operand;
use pendula_isa::sample::{Source, word};
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Cond, Profile, Reg, Ty};
use pendula_vm::{Event, Outcome};

use crate::common::{self, State, between, imm, inst, machine, mem, program, r, reg};
use crate::semantics::{L_BAD, L_ZERO, MAX, f, i, l, q, set};

/// A row: mnemonic, operands; r1…r4 before and after, or the fault.
type Case = (&'static str, Vec<Operand>, [u64; 4], Result<[u64; 4], Fault>);

fn rows() -> Vec<Case> {
    let two = || vec![reg(1), reg(2)];
    let one = || vec![reg(1)];
    let three = || vec![reg(1), reg(2), reg(3)];
    let angle_q = |x| vec![reg(1), reg(2), Operand::Imm(q(x), Ty::Q)];
    let angle_f = |x| vec![reg(1), reg(2), Operand::Imm(f(x), Ty::F)];
    let four = || vec![reg(1), reg(2), reg(3), reg(4)];
    let factors = |num, den| vec![reg(1), reg(2), imm(num), imm(den)];
    let tolerance = |x| vec![reg(1), Operand::Imm(f(x), Ty::F)];
    let bad = Fault::FactorOverflow;
    vec![
        ("swap", two(), [1, 2, 3, 4], Ok([2, 1, 3, 4])),
        ("neg", one(), [5, 0, 0, 0], Ok([i(-5), 0, 0, 0])),
        ("neg", one(), [1 << 63, 0, 0, 0], Ok([1 << 63, 0, 0, 0])),
        ("neg.q", one(), [q(1.5), 0, 0, 0], Ok([q(-1.5), 0, 0, 0])),
        ("neg.q", one(), [1 << 63, 0, 0, 0], Ok([1 << 63, 0, 0, 0])),
        ("neg.l", one(), [l(false, -2.5), 0, 0, 0], Ok([l(true, -2.5), 0, 0, 0])),
        ("neg.l", one(), [L_ZERO, 0, 0, 0], Ok([L_ZERO, 0, 0, 0])),
        ("neg.l", one(), [L_BAD, 0, 0, 0], Err(Fault::BadLog)),
        ("neg.f", one(), [f(0.0), 0, 0, 0], Ok([f(-0.0), 0, 0, 0])),
        ("neg.f", one(), [f(f64::INFINITY), 0, 0, 0], Ok([f(f64::NEG_INFINITY), 0, 0, 0])),
        ("not", one(), [0xff, 0, 0, 0], Ok([!0xff, 0, 0, 0])),
        ("rol", vec![reg(1), imm(4)], [0xf000_0000_0000_0001, 0, 0, 0], Ok([0x1f, 0, 0, 0])),
        ("ror", vec![reg(1), imm(4)], [0x1f, 0, 0, 0], Ok([0xf000_0000_0000_0001, 0, 0, 0])),
        ("rol", two(), [1, 65, 0, 0], Ok([2, 65, 0, 0])),
        ("ror", two(), [1, u64::MAX, 0, 0], Ok([2, u64::MAX, 0, 0])),
        ("inc", one(), [u64::MAX, 0, 0, 0], Ok([0, 0, 0, 0])),
        ("dec", one(), [0, 0, 0, 0], Ok([u64::MAX, 0, 0, 0])),
        ("add8", two(), [127, 1, 0, 0], Ok([i(-128), 1, 0, 0])),
        ("sub8", two(), [i(-128), 1, 0, 0], Ok([127, 1, 0, 0])),
        ("add8", vec![reg(1), imm(256)], [5, 0, 0, 0], Ok([5, 0, 0, 0])),
        ("add16", two(), [32767, 2, 0, 0], Ok([i(-32767), 2, 0, 0])),
        ("sub16", two(), [0, 32768, 0, 0], Ok([i(-32768), 32768, 0, 0])),
        ("add32", two(), [i(-1), 1, 0, 0], Ok([0, 1, 0, 0])),
        ("sub32", two(), [i(-(1 << 31)), 1, 0, 0], Ok([(1 << 31) - 1, 1, 0, 0])),
        // What stands above the integer's bits is told apart by them before and after.
        ("add32", two(), [1 << 40 | 0x7fff_ffff, 1, 0, 0], Ok([!(1 << 40) & !0x7fff_ffff, 1, 0, 0])),
        ("addu8", two(), [255, 1, 0, 0], Ok([0, 1, 0, 0])),
        ("subu8", two(), [0x300, 1, 0, 0], Ok([0x3ff, 1, 0, 0])),
        ("addu16", two(), [65535, 65535, 0, 0], Ok([65534, 65535, 0, 0])),
        ("subu16", two(), [0, 1, 0, 0], Ok([65535, 1, 0, 0])),
        ("addu32", two(), [0xffff_ffff, 2, 0, 0], Ok([1, 2, 0, 0])),
        ("subu32", two(), [1, 2, 0, 0], Ok([0xffff_ffff, 2, 0, 0])),
        ("neg32", one(), [5, 0, 0, 0], Ok([i(-5), 0, 0, 0])),
        ("neg32", one(), [i(-(1 << 31)), 0, 0, 0], Ok([i(-(1 << 31)), 0, 0, 0])),
        ("rol32", vec![reg(1), imm(4)], [i(-0x0fff_ffff), 0, 0, 0], Ok([0x1f, 0, 0, 0])),
        ("ror32", vec![reg(1), imm(4)], [0x1f, 0, 0, 0], Ok([i(-0x0fff_ffff), 0, 0, 0])),
        ("rol32", two(), [1, 31, 0, 0], Ok([i(-(1 << 31)), 31, 0, 0])),
        ("ror32", two(), [2, 33, 0, 0], Ok([1, 33, 0, 0])),
        // 1000 · 9/10: nothing is left over. 1003: the 3 goes to the buffer, and its remainder by 9 comes back.
        ("rmul", factors(9, 10), [1000, 0, 0, 0], Ok([900, 0, 0, 0])),
        ("rmul", factors(9, 10), [1003, 0, 0, 0], Ok([903, 0, 0, 0])),
        ("rmul", factors(9, 10), [1009, 1, 0, 0], Ok([901, 2, 0, 0])),
        ("rdiv", factors(9, 10), [901, 2, 0, 0], Ok([1009, 1, 0, 0])),
        ("rmul", factors(1, 2), [i(-7), 0, 0, 0], Ok([i(-4), 1, 0, 0])),
        ("rdiv", factors(1, 2), [i(-4), 1, 0, 0], Ok([i(-7), 0, 0, 0])),
        ("rmul", four(), [7, i(-1), 3, 2], Ok([11, i(-1), 3, 2])),
        ("rmul", four(), [7, 0, 0, 2], Err(Fault::BadFactor)),
        ("rdiv", four(), [7, 0, 3, i(-1)], Err(Fault::BadFactor)),
        ("rmul", factors(2, 1), [1 << 62, 0, 0, 0], Err(bad)),
        ("rmul", factors(1, 2), [1, 1 << 62, 0, 0], Err(bad)),
        ("assert.eq", two(), [5, 5, 0, 0], Ok([5, 5, 0, 0])),
        ("assert.eq", two(), [5, 6, 0, 0], Err(Fault::Assert)),
        ("assert.lt", vec![reg(1), imm(0)], [i(-1), 0, 0, 0], Ok([i(-1), 0, 0, 0])),
        ("assert.ltu", vec![reg(1), imm(0)], [i(-1), 0, 0, 0], Err(Fault::Assert)),
        ("assert.gt.l", two(), [l(true, 1.0), l(true, 2.0), 0, 0], Ok([l(true, 1.0), l(true, 2.0), 0, 0])),
        ("assert.ge.l", two(), [L_ZERO, L_BAD, 0, 0], Err(Fault::BadLog)),
        ("assert.eq.f", two(), [f(0.0), f(-0.0), 0, 0], Ok([f(0.0), f(-0.0), 0, 0])),
        ("assert.ne.f", two(), [f(f64::NAN), f(1.0), 0, 0], Err(Fault::NotFinite)),
        ("zero", one(), [0; 4], Ok([0; 4])),
        ("zero", one(), [1, 0, 0, 0], Err(Fault::NotZero)),
        ("zero.f", one(), [f(-0.0), 0, 0, 0], Ok([0; 4])),
        ("zero.f", one(), [f(1e-300), 0, 0, 0], Err(Fault::NotZero)),
        ("zero.f", tolerance(1e-9), [f(-1e-9), 0, 0, 0], Ok([0; 4])),
        ("zero.f", tolerance(1e-9), [f(1.1e-9), 0, 0, 0], Err(Fault::NotZero)),
        // No turn at all; half a turn of the origin.
        ("rot.q", three(), [q(3.0), i(-1), 0, 0], Ok([q(3.0), i(-1), 0, 0])),
        ("irot.q", three(), [1 << 63, q(0.5), 0, 9], Ok([1 << 63, q(0.5), 0, 9])),
        ("rot.q", angle_q(3.0), [0, 0, 5, 0], Ok([0, 0, 5, 0])),
        ("rot.f", three(), [f(3.0), f(-0.5), f(0.0), 0], Ok([f(3.0), f(-0.5), f(0.0), 0])),
        ("irot.f", three(), [f(3.0), f(-0.5), f(0.0), 0], Ok([f(3.0), f(-0.5), f(0.0), 0])),
        ("rot.f", three(), [f(1.0), f(f64::NAN), f(0.0), 0], Err(Fault::NotFinite)),
        ("irot.f", three(), [f(1.0), f(1.0), f(f64::INFINITY), 0], Err(Fault::NotFinite)),
        ("rot.f", angle_f(std::f64::consts::FRAC_PI_4), [f(-1.7e308), f(1.7e308), 0, 0], Err(Fault::NotFinite)),
        // The gradient word is 0; what it becomes is tested with the gradient words.
        ("gswap", two(), [7, 5, 0, 0], Ok([0, 5, 0, 0])),
        ("show", one(), [7, 0, 0, 0], Ok([7, 0, 0, 0])),
        ("show.f", one(), [f(f64::NAN), 0, 0, 0], Ok([f(f64::NAN), 0, 0, 0])),
        ("print", vec![Operand::Text(0)], [1, 2, 3, 4], Ok([1, 2, 3, 4])),
    ]
}

#[test]
fn rows_do_what_was_worked_out_by_hand() {
    for (mnemonic, operands, before, want) in rows() {
        let mut module = between([inst(mnemonic, &operands)]);
        module.texts.push(String::new());
        let program = program(module);
        let mut m = machine(&program, 8);
        set(&mut m, before);
        let state = State::of(&m);
        let outcome = m.run(None);
        let mut expected = state.clone();
        match want {
            Ok(after) => {
                assert_eq!(outcome, Outcome::Finished, "{mnemonic} {before:x?}");
                expected.regs[1..5].copy_from_slice(&after);
            }
            Err(fault) => assert!(
                matches!(&outcome, Outcome::Trap(t) if t.fault == fault && t.at == 1),
                "{mnemonic} {before:x?}: {outcome:?}"
            ),
        }
        assert_eq!(State::of(&m), expected, "{mnemonic} {before:x?}");
    }
}

#[test]
fn every_row_is_in_a_test_of_values() {
    let mut here: BTreeSet<String> = rows().iter().map(|(name, ..)| name.to_string()).collect();
    // In tests of their own, below or in `rows.rs`.
    here.extend(
        ["exch", "push", "pop", "emit", "unemit", "read", "unread", "erase", "show.q", "show.l"].map(String::from),
    );
    for family in families().filter(|k| k.flow() == Flow::Straight && k.belongs_to(Profile::Native)) {
        let Kind::Row { row, .. } = family else { continue };
        let name = family.mnemonic();
        // Conditions are tested together.
        assert!(row == Row::Assert || here.contains(&name), "`{name}` has no value worked out by hand");
    }
}

#[test]
fn every_condition_on_every_type() {
    let words = |ty| -> [u64; 3] {
        // Ascending.
        match ty {
            Ty::Int => [i(-5), 0, 7],
            Ty::Q => [q(-0.5), 0, q(0.25)],
            Ty::L => [l(true, -3.0), L_ZERO, l(false, -3.0)],
            Ty::F => [f(-1e300), f(-0.0), f(5e-324)],
        }
    };
    for ty in Ty::ALL {
        for cond in Cond::TESTS.into_iter().filter(|c| c.accepts(ty)) {
            let kind = Kind::Row { row: Row::Assert, inverse: false, ty, cond, form: false };
            for (p, a) in words(ty).into_iter().enumerate() {
                for (k, b) in words(ty).into_iter().enumerate() {
                    // As unsigned, the negative number is the largest.
                    let (x, y) = if cond.name().ends_with('u') { ((p + 2) % 3, (k + 2) % 3) } else { (p, k) };
                    let holds = match cond.name() {
                        "eq" => x == y,
                        "ne" => x != y,
                        "lt" | "ltu" => x < y,
                        "le" => x <= y,
                        "gt" => x > y,
                        "ge" | "geu" => x >= y,
                        other => panic!("{other}"),
                    };
                    for second in [reg(2), Operand::Imm(b, ty)] {
                        let program = program(between([Inst::build(kind, &[reg(1), second]).unwrap()]));
                        for direction in [Direction::Forward, Direction::Backward] {
                            let mut m = machine(&program, 8);
                            set(&mut m, [a, b, 0, 0]);
                            m.begin(direction);
                            let outcome = m.run(None);
                            let held = match &outcome {
                                Outcome::Finished => true,
                                Outcome::Trap(t) if t.fault == Fault::Assert => false,
                                other => panic!("{other:?}"),
                            };
                            assert_eq!(held, holds, "{} {a:#x} {b:#x}", kind.mnemonic());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn scaling_is_exact() {
    let mut s = Source::seeded(31);
    let mut ran = 0;
    for n in 0..20_000 {
        let constant = n % 2 == 0;
        let most = if constant { 16383 } else { MAX };
        let [num, den] = [0, 1].map(|_| match s.below(3) {
            0 => s.between(1, 20),
            1 => s.between(1, 16383),
            _ => s.between(1, most),
        });
        let [x, buf] = [0, 1].map(|_| (word(&mut s).cast_signed() >> s.below(60)).cast_unsigned());
        let inverse = s.once_in(2);
        let name = if inverse { "rdiv" } else { "rmul" };
        let program = program(between([if constant {
            inst(name, &[reg(1), reg(2), imm(num), imm(den)])
        } else {
            inst(name, &[reg(1), reg(2), reg(3), reg(4)])
        }]));
        let mut m = machine(&program, 8);
        set(&mut m, [x, buf, i(num), i(den)]);
        let (n, d) = if inverse { (den, num) } else { (num, den) };
        let (n, d) = (i128::from(n), i128::from(d));
        // The design's formula, in integers of 128 bits.
        let (x_, b_) = (i128::from(x.cast_signed()), i128::from(buf.cast_signed()));
        let b1 = b_ * d + x_.rem_euclid(d);
        let (x1, b2) = (x_.div_euclid(d) * n + b1.rem_euclid(n), b1.div_euclid(n));
        let outcome = m.run(None);
        match (i64::try_from(x1), i64::try_from(b2)) {
            (Ok(x1), Ok(b2)) => {
                assert_eq!(outcome, Outcome::Finished);
                assert_eq!(m.registers()[1..3], [i(x1), i(b2)]);
                ran += 1;
            }
            _ => assert!(matches!(outcome, Outcome::Trap(t) if t.fault == Fault::FactorOverflow)),
        }
    }
    assert!(ran > 5_000, "{ran}");
}

#[test]
fn memory_and_stack() {
    let code = between([
        inst("exch", &[reg(1), mem(2, 3, -4)]),
        inst("push", &[reg(1)]),
        inst("push", &[reg(4)]),
        inst("pop", &[reg(1)]),
    ]);
    let program = program(code);
    let mut m = machine(&program, 8);
    set(&mut m, [11, 3, 2, 44]);
    m.memory_mut()[1] = 99;
    m.set_register(Reg::SP, 4);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.registers()[1..5], [44, 3, 2, 0]);
    assert_eq!(m.memory(), [0, 11, 0, 0, 99, 0, 0, 0]);
    assert_eq!(m.registers()[31], 5);

    // The ends of the memory.
    for (name, sp, r1, fault) in [
        ("push", 8, 5, Fault::Memory),
        ("push", u64::MAX, 5, Fault::Memory),
        ("push", 3, 5, Fault::PushOnto),
        ("pop", 0, 0, Fault::Memory),
        ("pop", 9, 0, Fault::Memory),
        ("pop", 4, 1, Fault::PopInto),
    ] {
        let program = common::program(between([inst(name, &[reg(1)])]));
        let mut m = machine(&program, 8);
        m.memory_mut()[3] = 1;
        m.set_register(r(1), r1);
        m.set_register(Reg::SP, sp);
        let before = m.digest();
        let outcome = m.run(None);
        assert!(matches!(&outcome, Outcome::Trap(t) if t.fault == fault), "{name} {sp}: {outcome:?}");
        assert_eq!(m.digest(), before);
    }
    for (base, index, offset, inside) in [
        (0, 0, 0, true),
        (0, 0, 7, true),
        (0, 0, 8, false),
        (0, 0, -1, false),
        (5, 2, 0, true),
        (5, 3, 0, false),
        (u64::MAX, 1, 0, true),
        (u64::MAX, 9, -8, true),
        (1 << 63, 1 << 63, 3, true),
        (1 << 32, 0, 0, false),
        (1 << 61, 0, 0, false),
    ] {
        for (name, operands) in [
            ("exch", vec![reg(1), mem(2, 3, offset)]),
            ("add", vec![reg(1), mem(2, 3, offset)]),
            ("add", vec![mem(2, 3, offset), reg(1)]),
            ("addmul", vec![reg(1), mem(2, 3, offset), reg(4)]),
        ] {
            let program = common::program(between([inst(name, &operands)]));
            let mut m = machine(&program, 8);
            set(&mut m, [1, base, index, 1]);
            let outcome = m.run(None);
            assert_eq!(outcome == Outcome::Finished, inside, "{name} {base:#x} {index:#x} {offset}");
            assert!(inside || matches!(outcome, Outcome::Trap(t) if t.fault == Fault::Memory));
        }
    }
}

#[test]
fn tapes() {
    let code = between([
        inst("emit", &[reg(1)]),
        inst("read", &[reg(2)]),
        inst("emit", &[reg(2)]),
        inst("unread", &[reg(3)]),
        inst("unemit", &[reg(4)]),
    ]);
    let program = program(code);
    let mut m = machine(&program, 8);
    set(&mut m, [7, 0b0110, 1, 0]);
    m.set_input(vec![0b1010, 5], 0);
    let before = m.digest();
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.registers()[1..5], [0, 0, 1 ^ 0b1010, 0b1100]);
    assert_eq!((m.output(), m.words_read()), (&[7][..], 0));
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.digest(), before);

    for (name, r1, output, input, read, fault) in [
        ("unemit", 0, 0, 0, 0, Fault::NoOutput),
        ("unemit", 1, 1, 0, 0, Fault::UnemitInto),
        ("emit", 1, 8, 0, 0, Fault::TapeFull),
        ("read", 0, 0, 0, 0, Fault::NoInput),
        ("read", 0, 0, 3, 3, Fault::NoInput),
        ("unread", 0, 0, 3, 0, Fault::NothingRead),
    ] {
        let program = common::program(between([inst(name, &[reg(1)])]));
        let mut m = machine(&program, 8);
        m.set_register(r(1), r1);
        m.set_output(vec![3; output]);
        m.set_input(vec![4; input], read);
        let before = m.digest();
        let outcome = m.run(None);
        assert!(matches!(&outcome, Outcome::Trap(t) if t.fault == fault), "{name}: {outcome:?}");
        assert_eq!(m.digest(), before);
    }
}

#[test]
fn what_a_program_shows_it_shows_running_forward() {
    let mut module = between([
        inst("print", &[Operand::Text(1)]),
        inst("show", &[reg(1)]),
        inst("show.q", &[reg(2)]),
        inst("show.l", &[reg(3)]),
        inst("show.f", &[reg(4)]),
    ]);
    module.texts = vec!["a".to_string(), "b".to_string()];
    let program = program(module);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let mut m = machine(&program, 8);
    set(&mut m, [1, 2, 3, 4]);
    m.on_event(move |event| sink.lock().unwrap().push(event));
    assert_eq!(m.run(None), Outcome::Finished);
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    let expected =
        [Event::Print(1), Event::Show(Ty::Int, 1), Event::Show(Ty::Q, 2), Event::Show(Ty::L, 3), Event::Show(Ty::F, 4)];
    assert_eq!(*seen.lock().unwrap(), expected);
}

/// The integer in the low bits of a word after something was added to it, and the word that it makes of the old one.
fn narrow_sum(name: &str, a: u64, b: u64) -> u64 {
    let back = name.starts_with("sub");
    macro_rules! sum {
        ($Int:ty) => {{
            let (old, b) = (a as $Int, b as $Int);
            let new = if back { old.wrapping_sub(b) } else { old.wrapping_add(b) };
            a ^ old as u64 ^ new as u64
        }};
    }
    match &name[3..] {
        "8" => sum!(i8),
        "16" => sum!(i16),
        "32" => sum!(i32),
        "u8" => sum!(u8),
        "u16" => sum!(u16),
        "u32" => sum!(u32),
        other => panic!("{other}"),
    }
}

#[test]
fn narrow_integers_are_those_of_the_host() {
    let mut source = Source::seeded(31);
    let names = ["8", "16", "32", "u8", "u16", "u32"];
    let sums = names.iter().flat_map(|n| [format!("add{n}"), format!("sub{n}")]);
    for name in sums.chain(["neg32", "rol32", "ror32"].map(String::from)) {
        let operands = if name == "neg32" { vec![reg(1)] } else { vec![reg(1), reg(2)] };
        let program = program(between([inst(&name, &operands)]));
        for _ in 0..300 {
            let (a, b) = (word(&mut source), word(&mut source));
            let low = a as i32;
            let turned = |k: u32| a ^ low as u64 ^ k.cast_signed() as u64;
            let want = match name.as_str() {
                "neg32" => turned(low.wrapping_neg().cast_unsigned()),
                "rol32" => turned(low.cast_unsigned().rotate_left((b % 32) as u32)),
                "ror32" => turned(low.cast_unsigned().rotate_right((b % 32) as u32)),
                name => narrow_sum(name, a, b),
            };
            let mut m = machine(&program, 8);
            set(&mut m, [a, b, 0, 0]);
            assert_eq!(m.run(None), Outcome::Finished);
            assert_eq!(m.registers()[1], want, "{name} {a:#x} {b:#x}");
            m.begin(Direction::Backward);
            assert_eq!(m.run(None), Outcome::Finished);
            assert_eq!(m.registers()[1], a, "{name} {a:#x} {b:#x}");
        }
    }
}
