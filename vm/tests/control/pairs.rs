//! Pairs of half jumps with every condition and type, as branches and as loops.

use pendula_isa::Fault;
use pendula_isa::counts::Direction;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::num::{Env, convert};
use pendula_isa::operand::Operand;
use pendula_isa::sample::{Source, number, word};
use pendula_isa::table::Row;
use pendula_isa::types::{Cond, Reg, Ty};
use pendula_vm::Outcome;

use super::{run, traps_again};
use crate::common::{State, between, imm, inst, machine, program, r, reg};

/// Whether a condition holds, or its fault: a second implementation as oracle.
fn holds(cond: Cond, ty: Ty, a: u64, b: u64) -> Result<bool, Fault> {
    use std::cmp::Ordering;
    const INVALID: u64 = 0xc000_0000_0000_0000;
    const ZERO: u64 = 0x4000_0000_0000_0000;
    // The order of a logarithmic number: its sign, and the logarithm counted away from zero.
    let place = |w: u64| match w {
        ZERO => (0, 0),
        w if w >> 63 == 0 => (1, (w << 1).cast_signed()),
        w => (-1, -(w << 1).cast_signed()),
    };
    let order = match ty {
        Ty::Int if matches!(cond, Cond::Ltu | Cond::Geu) => a.cmp(&b),
        Ty::Int | Ty::Q => a.cast_signed().cmp(&b.cast_signed()),
        Ty::L if a == INVALID || b == INVALID => return Err(Fault::BadLog),
        Ty::L => place(a).cmp(&place(b)),
        Ty::F => f64::from_bits(a).partial_cmp(&f64::from_bits(b)).ok_or(Fault::NotFinite)?,
    };
    Ok(match cond {
        Cond::Always => true,
        Cond::Eq => order == Ordering::Equal,
        Cond::Ne => order != Ordering::Equal,
        Cond::Lt | Cond::Ltu => order == Ordering::Less,
        Cond::Le => order != Ordering::Greater,
        Cond::Gt => order == Ordering::Greater,
        Cond::Ge | Cond::Geu => order != Ordering::Less,
    })
}

/// A half jump as a family, with its operands: two registers, or one and a small number.
struct Half {
    family: Kind,
    a: u8,
    b: u8,
    small: Option<i16>,
}

impl Half {
    fn parts(&self) -> (Cond, Ty) {
        match self.family {
            Kind::Row { cond, ty, .. } => (cond, ty),
            Kind::Accumulate { .. } | Kind::Extension { .. } => panic!("no jump"),
        }
    }

    fn build(&self, offset: i64) -> Inst {
        let second = self.small.map_or(reg(self.b), Operand::Small);
        let operands = match self.parts().0 {
            Cond::Always => vec![Operand::Label(offset)],
            _ => vec![reg(self.a), second, Operand::Label(offset)],
        };
        Inst::build(self.family, &operands).unwrap_or_else(|e| panic!("{e}"))
    }

    fn holds(&self, regs: &[u64; Reg::COUNT]) -> Result<bool, Fault> {
        let (cond, ty) = self.parts();
        if cond == Cond::Always {
            return Ok(true);
        }
        let b = match self.small {
            None => regs[self.b as usize],
            Some(k) => small_word(k, ty),
        };
        holds(cond, ty, regs[self.a as usize], b)
    }
}

fn small_word(k: i16, ty: Ty) -> u64 {
    let k = i64::from(k);
    match ty {
        Ty::Int => k.cast_unsigned(),
        Ty::Q => (k << 32).cast_unsigned(),
        Ty::L => convert::int_to_l(Env::default(), k.cast_unsigned()).unwrap(),
        Ty::F => (k as f64).to_bits(),
    }
}

fn halves(landing: bool) -> Vec<Kind> {
    families().filter(|k| matches!(k, Kind::Row { row: Row::Jmp, inverse, .. } if *inverse == landing)).collect()
}

/// The expected outcome, with the addresses of the trap and of the other instruction in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// The body was jumped over.
    Jumped,
    /// The body was run.
    Fell,
    Trap {
        fault: Fault,
        at: u32,
        other: Option<u32>,
        fell: bool,
    },
}

/// The outcome of a pair in which `leave` is reached first; `wrong` is the fault of falling into `land`.
fn expect(leave: &Half, land: &Half, at: [u32; 2], wrong: Fault, regs: &[u64; Reg::COUNT]) -> Expected {
    match (leave.holds(regs), land.holds(regs)) {
        (Err(fault), _) => Expected::Trap { fault, at: at[0], other: None, fell: false },
        (Ok(true), Ok(true)) => Expected::Jumped,
        (Ok(true), Ok(false)) => {
            Expected::Trap { fault: Fault::WrongLanding, at: at[0], other: Some(at[1]), fell: false }
        }
        (Ok(true), Err(fault)) => Expected::Trap { fault, at: at[0], other: Some(at[1]), fell: false },
        (Ok(false), Ok(false)) => Expected::Fell,
        (Ok(false), Ok(true)) => Expected::Trap { fault: wrong, at: at[1], other: Some(at[0]), fell: true },
        (Ok(false), Err(fault)) => Expected::Trap { fault, at: at[1], other: None, fell: true },
    }
}

fn check_pair(jmp: &Half, from: &Half, body: usize, s: &mut Source, seen: &mut [usize; 4]) {
    let landing = body as u32 + 2;
    let mut code = vec![jmp.build(body as i64 + 1)];
    code.extend(std::iter::repeat_n(inst("inc", &[reg(9)]), body));
    code.push(from.build(-(body as i64) - 1));
    let program = program(between(code));
    let mut m = machine(&program, 4);
    for _ in 0..24 {
        let types = [jmp.parts().1, from.parts().1];
        for n in 1..10 {
            let w = match s.below(4) {
                0 => word(s),
                1 => number(types[n % 2], Default::default(), s),
                2 => small_word([jmp.small, from.small][n % 2].unwrap_or(1), types[n % 2]),
                _ => m.registers()[1],
            };
            m.set_register(r(n as u8), w);
        }
        let direction = s.pick(&[Direction::Forward, Direction::Backward]);
        let how = s.below(5);
        let before = State::of(&m);
        let executed = m.executed();
        m.begin(direction);
        let outcome = run(&mut m, how);
        let forward = direction == Direction::Forward;
        let (expected, step) = if forward {
            (expect(jmp, from, [1, landing], Fault::WrongEntry, &before.regs), 1)
        } else {
            (expect(from, jmp, [landing, 1], Fault::WrongEntryBack, &before.regs), u64::MAX)
        };
        let fell = matches!(expected, Expected::Fell | Expected::Trap { fell: true, .. });
        let mut after = before.clone();
        if fell {
            after.regs[9] = after.regs[9].wrapping_add(step.wrapping_mul(body as u64));
        }
        assert_eq!(State::of(&m), after, "{expected:?} {outcome:?}");
        let ran = u64::from(fell) * body as u64;
        match expected {
            Expected::Jumped | Expected::Fell => {
                assert_eq!(outcome, Outcome::Finished, "{before:?}");
                assert_eq!(m.executed() - executed, 4 + ran);
                // And the other way.
                m.begin(direction.flip());
                assert_eq!(run(&mut m, how), Outcome::Finished);
                assert_eq!(State::of(&m), before);
                assert_eq!(m.executed() - executed, 8 + 2 * ran);
                seen[usize::from(fell)] += 1;
            }
            Expected::Trap { fault, at, other, .. } => {
                let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?} instead of {expected:?}") };
                assert_eq!((trap.fault, trap.at, trap.other.map(|o| o.0)), (fault, at, other), "{how}");
                assert_eq!((trap.direction, m.pc()), (direction, Some(at)));
                assert_eq!(m.executed() - executed, if fell { 2 + ran } else { 1 });
                traps_again(&mut m, &outcome);
                seen[2 + usize::from(fell)] += 1;
            }
        }
    }
}

#[test]
fn pairs_of_every_condition_and_type() {
    let (jumps, landings) = (halves(false), halves(true));
    assert_eq!(jumps.len(), 27);
    let mut s = Source::seeded(3);
    for (n, &jmp) in jumps.iter().enumerate() {
        let mut seen = [0; 4];
        for (k, &from) in landings.iter().enumerate() {
            for form in 0..4 {
                let mut small = |on: bool| on.then(|| s.pick(&[0, 1, -1, 7, -16384, 16383]));
                let (x, y) = (small(form & 1 == 1), small(form & 2 == 2));
                let jmp = Half { family: jmp, a: 1, b: 2, small: x };
                let from = Half { family: from, a: 3, b: if (n + k) % 5 == 0 { 1 } else { 4 }, small: y };
                check_pair(&jmp, &from, (n + k) % 4, &mut s, &mut seen);
            }
        }
        assert!(seen[0] > 100 && seen[2] > 100, "{jmp:?}: {seen:?}");
        let always = matches!(jmp, Kind::Row { cond: Cond::Always, .. });
        assert!(always || (seen[1] > 100 && seen[3] > 100), "{jmp:?}: {seen:?}");
    }
}

/// The landing place before the jump: if the conditions do not change, every run traps or falls through.
#[test]
fn loops_of_every_condition_and_type() {
    let mut s = Source::seeded(4);
    for &from in &halves(true) {
        for &jmp in &halves(false) {
            let body = s.below(3) as usize;
            let from = Half { family: from, a: 1, b: 2, small: s.once_in(2).then_some(0) };
            let jmp = Half { family: jmp, a: 3, b: 4, small: s.once_in(2).then_some(1) };
            let bottom = body as u32 + 2;
            let mut code = vec![from.build(body as i64 + 1)];
            code.extend(std::iter::repeat_n(inst("inc", &[reg(9)]), body));
            code.push(jmp.build(-(body as i64) - 1));
            let program = program(between(code));
            let mut m = machine(&program, 4);
            for _ in 0..20 {
                for n in 1..10 {
                    let ty = [from.parts().1, jmp.parts().1][s.below(2) as usize];
                    let w = if s.once_in(3) { word(&mut s) } else { number(ty, Default::default(), &mut s) };
                    m.set_register(r(n), w);
                }
                let before = State::of(&m);
                let forward = s.once_in(2);
                let (first, second, at, wrong, step) = if forward {
                    (&from, &jmp, [1, bottom], Fault::WrongEntry, 1)
                } else {
                    (&jmp, &from, [bottom, 1], Fault::WrongEntryBack, u64::MAX)
                };
                m.begin(if forward { Direction::Forward } else { Direction::Backward });
                let outcome = run(&mut m, s.below(4));
                let mut after = before.clone();
                let fell = first.holds(&before.regs) == Ok(false);
                if fell {
                    after.regs[9] = after.regs[9].wrapping_add(step.wrapping_mul(body as u64));
                }
                assert_eq!(State::of(&m), after);
                let expected = match (first.holds(&before.regs), second.holds(&before.regs)) {
                    (Err(fault), _) => Some((fault, at[0], None)),
                    (Ok(true), _) => Some((wrong, at[0], Some(at[1]))),
                    (Ok(false), Err(fault)) => Some((fault, at[1], None)),
                    (Ok(false), Ok(true)) => Some((Fault::WrongLanding, at[1], Some(at[0]))),
                    (Ok(false), Ok(false)) => None,
                };
                match (&outcome, expected) {
                    (Outcome::Finished, None) => {}
                    (Outcome::Trap(t), Some(e)) => {
                        assert_eq!((t.fault, t.at, t.other.map(|o| o.0)), e);
                        traps_again(&mut m, &outcome);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

/// The example of the design document: Fibonacci numbers.
#[test]
fn a_loop_runs_as_often_as_it_says() {
    let code = [
        inst("add", &[reg(3), imm(18)]),
        inst("inc", &[reg(2)]),
        inst("from.ne", &[reg(4), reg(0), Operand::Label(4)]),
        inst("add", &[reg(1), reg(2)]),
        inst("swap", &[reg(1), reg(2)]),
        inst("inc", &[reg(4)]),
        inst("jmp.ne", &[reg(4), reg(3), Operand::Label(-4)]),
        inst("sub", &[reg(3), imm(18)]),
    ];
    let program = program(between(code));
    for how in 0..8 {
        let mut m = machine(&program, 4);
        let before = m.digest();
        assert_eq!(run(&mut m, how), Outcome::Finished);
        assert_eq!(m.registers()[1..5], [2584, 4181, 0, 18]);
        assert_eq!(m.executed(), 5 + 18 * 5);
        m.begin(Direction::Backward);
        assert_eq!(run(&mut m, how), Outcome::Finished);
        assert_eq!(m.digest(), before);
        assert_eq!(m.executed(), 2 * (5 + 18 * 5));
    }
}
