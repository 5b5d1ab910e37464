//! The rows other than accumulates, one by one: every word in every lane is compared with the expected result.

use pendula_isa::Env;
use pendula_isa::adjoint::{AdMode, GRADIENT, LANES, MIXED, SECOND, VALUE};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Inst;
use pendula_isa::num::{fixed, int};
use pendula_isa::operand::Operand;
use pendula_isa::sample::{Source, share};
use pendula_isa::types::{Reg, Ty};
use pendula_vm::gradient::Cell;

use super::{
    A, B, C, CARRIAGES, MEMORY, POINTS, addresses, close, double, everything, nearest, real, register, run, signed,
    with_value,
};
use crate::common::{between, imm, inst, kind, machine, mem, program, reg};

/// All words in all lanes, for computing the expected result.
struct Words(Vec<u64>);

impl Words {
    fn index(lane: usize, cell: Cell) -> usize {
        let at = match cell {
            Cell::Register(reg) => reg.index(),
            Cell::Word(a) => Reg::COUNT + a,
        };
        lane * (Reg::COUNT + MEMORY as usize) + at
    }
    fn get(&self, lane: usize, cell: Cell) -> u64 {
        self.0[Words::index(lane, cell)]
    }
    fn set(&mut self, lane: usize, cell: Cell, word: u64) {
        self.0[Words::index(lane, cell)] = word;
    }
    fn swap(&mut self, a: (usize, Cell), b: (usize, Cell)) {
        self.0.swap(Words::index(a.0, a.1), Words::index(b.0, b.1));
    }
}

/// Runs an instruction on random words in all lanes and compares every word with the result of `change`. Returns the destroyed bits.
fn expect(
    row: &str,
    operands: &[Operand],
    ad_mode: AdMode,
    prepare: &[(Cell, u64)],
    change: impl Fn(&mut Words),
) -> u64 {
    let mut module = between([inst(row, operands)]);
    module.flags.irreversible = row == "erase";
    let program = program(module);
    let mut m = machine(&program, MEMORY);
    let mut s = Source::seeded(ad_mode as u64);
    let cells = (1..Reg::COUNT as u8).map(register).chain((0..MEMORY as usize).map(Cell::Word));
    for cell in cells {
        for lane in 0..LANES {
            // Unused lanes must not change, either. The words are moderate, and none is zero.
            m.put(lane, cell, (s.between(-(1 << 40), 1 << 40) | 1).cast_unsigned());
        }
    }
    addresses(&mut m);
    prepare.iter().for_each(|(cell, word)| m.put(VALUE, *cell, *word));
    let mut words = Words(everything(&m));
    change(&mut words);
    run(&mut m, ad_mode, Direction::Forward).unwrap_or_else(|e| panic!("{row} {ad_mode:?}: {e:?}"));
    let found = everything(&m);
    let n = Reg::COUNT + MEMORY as usize;
    for (at, (a, b)) in found.iter().zip(&words.0).enumerate() {
        assert_eq!(a, b, "{row} {ad_mode:?}: lane {} of cell {}", at / n, at % n);
    }
    m.counts().lost_bits()
}

#[test]
fn moves() {
    let memory = (mem(8, 9, 5), Cell::Word(12));
    for ad_mode in CARRIAGES {
        let all = |a, b| move |w: &mut Words| with_value(ad_mode).for_each(|lane| w.swap((lane, a), (lane, b)));
        expect("swap", &[reg(1), reg(2)], ad_mode, &[], all(A, B));
        expect("exch", &[reg(1), memory.0], ad_mode, &[], all(A, memory.1));
        let sp = register(31);
        expect("push", &[reg(1)], ad_mode, &[(sp, 16), (Cell::Word(16), 0)], |w| {
            all(A, Cell::Word(16))(w);
            w.set(VALUE, sp, 17);
        });
        expect("pop", &[reg(1)], ad_mode, &[(sp, 16), (A, 0)], |w| {
            all(A, Cell::Word(15))(w);
            w.set(VALUE, sp, 15);
        });
        expect("emit", &[reg(1)], ad_mode, &[], |w| with_value(ad_mode).for_each(|lane| w.set(lane, A, 0)));
    }
}

/// Emitted words take their lanes along, and `unemit` restores them in reverse order.
#[test]
fn tapes_carry_lanes() {
    let program = program(between(
        [1, 2, 3].map(|n| inst("emit", &[reg(n)])).into_iter().chain([3, 2, 1].map(|n| inst("unemit", &[reg(n + 3)]))),
    ));
    for ad_mode in CARRIAGES {
        let mut m = machine(&program, MEMORY);
        for (n, cell) in [A, B, C].into_iter().enumerate() {
            with_value(ad_mode).for_each(|lane| m.put(lane, cell, (10 * n + lane + 1) as u64));
        }
        let digest = m.digest();
        run(&mut m, ad_mode, Direction::Forward).expect("room");
        for (n, cell) in [A, B, C].into_iter().enumerate() {
            for lane in with_value(ad_mode) {
                assert_eq!((m.get(lane, cell), m.get(lane, register(n as u8 + 4))), (0, (10 * n + lane + 1) as u64));
            }
        }
        run(&mut m, ad_mode, Direction::Backward).expect("words");
        assert_eq!(m.digest(), digest);
    }
}

#[test]
fn negations() {
    for ad_mode in CARRIAGES {
        let lanes = || ad_mode.lanes().iter().copied();
        let change = |value: fn(u64) -> u64, other: fn(u64) -> u64| {
            move |w: &mut Words| {
                w.set(VALUE, A, value(w.get(VALUE, A)));
                lanes().for_each(|lane| w.set(lane, A, other(w.get(lane, A))));
            }
        };
        let sign = |w: u64| w ^ 1 << 63;
        expect("neg", &[reg(1)], ad_mode, &[], change(u64::wrapping_neg, |g| g));
        expect("neg.q", &[reg(1)], ad_mode, &[], change(u64::wrapping_neg, u64::wrapping_neg));
        expect("neg.l", &[reg(1)], ad_mode, &[], change(sign, |g| g));
        expect("neg.f", &[reg(1)], ad_mode, &[(A, 1.5f64.to_bits())], change(sign, sign));
    }
}

/// A gradient word is multiplied by the inverse ratio, exactly, with the buffer's lane as its buffer; a tangent and the gradient of a
/// gradient word as the value is.
#[test]
fn scalings() {
    let env = Env::default();
    let (num, den) = (7, 12);
    for ad_mode in CARRIAGES {
        for (row, up) in [("rmul", true), ("rdiv", false)] {
            for registers in [false, true] {
                let mut operands = vec![reg(1), reg(2), imm(num), imm(den)];
                let mut prepare = Vec::new();
                if registers {
                    operands = vec![reg(1), reg(2), reg(5), reg(6)];
                    prepare = vec![(register(5), num.cast_unsigned()), (register(6), den.cast_unsigned())];
                }
                expect(row, &operands, ad_mode, &prepare, |w| {
                    for lane in with_value(ad_mode) {
                        let with = matches!(
                            (ad_mode, lane),
                            (_, VALUE)
                                | (AdMode::Tangent | AdMode::GradientTangent, SECOND)
                                | (AdMode::SecondGradient, MIXED)
                        );
                        let ratio = if with == up { [num, den] } else { [den, num] }.map(i64::cast_unsigned);
                        let words = [w.get(lane, A), w.get(lane, B), ratio[0], ratio[1]];
                        let [x, buf] = int::scale(env, words).expect("room");
                        // The ratio itself, within the bits that went to the buffer.
                        let wanted = words[0].cast_signed() as f64 * ratio[0] as f64 / ratio[1] as f64;
                        assert!((x.cast_signed() as f64 - wanted).abs() <= ratio[0] as f64);
                        w.set(lane, A, x);
                        w.set(lane, B, buf);
                    }
                });
            }
        }
    }
}

/// The word is exchanged with a gradient word one level up, together with its own gradient word.
#[test]
fn exchanges_with_gradient_words() {
    for (operand, cell) in [(reg(2), B), (mem(8, 9, 5), Cell::Word(12)), (reg(1), A)] {
        // The register itself is written, and may not occur twice.
        if cell == A {
            assert!(Inst::build(kind("gswap"), &[reg(1), reg(1)]).is_err());
            continue;
        }
        expect("gswap", &[reg(1), operand], AdMode::Plain, &[], |w| w.swap((VALUE, A), (GRADIENT, cell)));
        expect("gswap", &[reg(1), operand], AdMode::Gradient, &[], |w| {
            w.swap((VALUE, A), (SECOND, cell));
            w.swap((GRADIENT, A), (MIXED, cell));
        });
        expect("gswap", &[reg(1), operand], AdMode::Tangent, &[], |w| {
            w.swap((VALUE, A), (GRADIENT, cell));
            w.swap((SECOND, A), (MIXED, cell));
        });
    }
}

/// `zero`, `zero.f` and `erase` clear what a word carries, and count it: 64 bits for every word other than zero, tangents apart.
#[test]
fn drops() {
    for ad_mode in CARRIAGES {
        let clear = |w: &mut Words| with_value(ad_mode).for_each(|lane| w.set(lane, A, 0));
        let counted = match ad_mode {
            AdMode::Plain | AdMode::Tangent => 0,
            AdMode::Gradient | AdMode::GradientTangent => 1,
            AdMode::SecondGradient => 3,
        };
        assert_eq!(expect("zero", &[reg(1)], ad_mode, &[(A, 0)], clear), 64 * counted);
        assert_eq!(expect("zero.f", &[reg(1)], ad_mode, &[(A, 0)], clear), 64 * counted);
        let tolerance = Operand::Imm(1f64.to_bits(), Ty::F);
        assert_eq!(
            expect("zero.f", &[reg(1), tolerance], ad_mode, &[(A, 0.5f64.to_bits())], clear),
            64 * (counted + 1)
        );
        assert_eq!(expect("erase", &[reg(1)], ad_mode, &[], clear), 64 * (counted + 1));
        let memory = |w: &mut Words| with_value(ad_mode).for_each(|lane| w.set(lane, Cell::Word(12), 0));
        assert_eq!(expect("erase", &[mem(8, 9, 5)], ad_mode, &[], memory), 64 * (counted + 1));
    }
    // A gradient word that is zero is not lost.
    let program = program(between([inst("zero", &[reg(1)])]));
    let mut m = machine(&program, MEMORY);
    run(&mut m, AdMode::SecondGradient, Direction::Forward).expect("a clear register");
    assert_eq!(m.counts().lost_bits(), 0);
}

/// Level 1 of a turn, by the kernels: effective `irot` adds g(b)·a − g(a)·b of the words before it to the angle's gradient word,
/// `rot` takes away that of the words after it.
#[test]
fn turns_of_fixed_point() {
    let env = Env::default();
    let q = |x: f64| nearest(env, Ty::Q, x);
    let angle = q(0.7);
    for constant in [false, true] {
        let operands = [reg(1), reg(2), if constant { Operand::Imm(angle, Ty::Q) } else { reg(3) }];
        for (row, turn) in
            [("rot.q", fixed::rot as fn(Env, u64, u64, u64) -> ([u64; 2], bool)), ("irot.q", fixed::irot)]
        {
            expect(row, &operands, AdMode::Gradient, &[(C, angle)], |w| {
                let share = |w: &Words| {
                    let product = |x: Cell, y: Cell| fixed::mul(env, w.get(GRADIENT, x), w.get(VALUE, y)).0;
                    product(B, A).wrapping_sub(product(A, B))
                };
                let before = share(w);
                for lane in [VALUE, GRADIENT] {
                    let ([a, b], _) = turn(env, w.get(lane, A), w.get(lane, B), angle);
                    w.set(lane, A, a);
                    w.set(lane, B, b);
                }
                let after = share(w);
                if !constant {
                    let g = w.get(GRADIENT, C);
                    w.set(GRADIENT, C, if row == "rot.q" { g.wrapping_sub(after) } else { g.wrapping_add(before) });
                }
            });
        }
    }
}

/// In every AD mode a turn does to fixed-point words what it does to doubles, but for roundings, and they come back bit for bit.
/// Of words up to 4, each of at most eight steps is off by at most 16 units.
#[test]
fn turns_of_fixed_point_are_those_of_doubles() {
    let env = Env::default();
    let mut s = Source::seeded(600);
    for (row, back) in [("rot", false), ("rot", true), ("irot", false), ("irot", true)] {
        for ad_mode in CARRIAGES {
            let programs =
                [".q", ".f"].map(|ty| program(between([inst(&format!("{row}{ty}"), &[reg(1), reg(2), reg(3)])])));
            let mut machines = programs.each_ref().map(|p| machine(p, MEMORY));
            for _ in 0..share(POINTS) {
                for cell in [A, B, C] {
                    for lane in with_value(ad_mode) {
                        let word = nearest(env, Ty::Q, signed(&mut s, 0.0, 4.0));
                        machines[0].put(lane, cell, word);
                        machines[1].put(lane, cell, real(env, Ty::Q, word).to_bits());
                    }
                }
                let direction = if back { Direction::Backward } else { Direction::Forward };
                let digest = machines[0].digest();
                for m in &mut machines {
                    run(m, ad_mode, direction).expect("a turn");
                }
                for cell in [A, B, C] {
                    for lane in with_value(ad_mode) {
                        let [x, y] = [real(env, Ty::Q, machines[0].get(lane, cell)), double(&machines[1], lane, cell)];
                        close(x, y, 1.0, 128.0 / f64::from(32).exp2(), || {
                            format!("{row} {ad_mode:?}: lane {lane} of {cell:?}")
                        });
                    }
                }
                run(&mut machines[0], ad_mode, direction.flip()).expect("a turn");
                assert_eq!(machines[0].digest(), digest);
            }
        }
    }
}
