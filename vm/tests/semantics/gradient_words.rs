//! The effects of `gswap`, and of the other rows on gradient words, with values worked out by hand. Other tests check that they are
//! derivatives.

use pendula_isa::Fault;
use pendula_isa::adjoint::{GRADIENT, MIXED, SECOND};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Inst;
use pendula_isa::operand::Operand;
use pendula_isa::types::Ty;
use pendula_vm::{AdMode, Machine, Outcome};

use crate::common::{between, imm, inst, machine, mem, program, r, reg};
use crate::semantics::{f, i, q, set};

/// Runs one instruction at a gradient level. `words` are those of `r1` to `r4` in each lane, before and after; and back.
fn run_at(ad_mode: AdMode, inst: Inst, before: [[u64; 4]; 4], after: [[u64; 4]; 4]) {
    let program = program(between([inst]));
    let mut m = machine(&program, 8);
    m.set_ad_mode(ad_mode);
    for (lane, words) in before.into_iter().enumerate() {
        (1..5).zip(words).for_each(|(n, w)| m.set_lane_register(lane, r(n), w));
    }
    let digest = m.digest();
    assert_eq!(m.run(None), Outcome::Finished);
    let lanes = |m: &Machine| [0, 1, 2, 3].map(|lane| [1, 2, 3, 4].map(|n| m.lane_register(lane, r(n))));
    assert_eq!(lanes(&m), after, "{inst:?} {ad_mode:?}");
    assert_eq!(m.counts().lost_bits(), 0);
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.digest(), digest, "{inst:?} {ad_mode:?}: back to {:x?}", lanes(&m));
}

const NONE: [u64; 4] = [0; 4];

/// `gswap` accesses the gradient words one level above the current one.
#[test]
fn gswap_exchanges_with_the_next_level() {
    let gswap = inst("gswap", &[reg(1), reg(2)]);
    run_at(AdMode::Plain, gswap, [[7, 5, 0, 0], [1, 9, 0, 0], NONE, NONE], [[9, 5, 0, 0], [1, 7, 0, 0], NONE, NONE]);
    // At level 1 the values' gradients are lane 1, the gradients of level 2 of both are lanes 2 and 3: what is exchanged
    // with a gradient word takes its own gradient word along.
    run_at(
        AdMode::Gradient,
        gswap,
        [[7, 5, 0, 0], [1, 9, 0, 0], [20, 21, 0, 0], [30, 31, 0, 0]],
        [[21, 5, 0, 0], [31, 9, 0, 0], [20, 7, 0, 0], [30, 1, 0, 0]],
    );
    run_at(
        AdMode::Tangent,
        gswap,
        [[7, 5, 0, 0], [1, 9, 0, 0], [20, 21, 0, 0], [30, 31, 0, 0]],
        [[9, 5, 0, 0], [1, 7, 0, 0], [31, 21, 0, 0], [30, 20, 0, 0]],
    );
}

#[test]
fn gswap_of_memory_and_at_the_highest_level() {
    let program = program(between([inst("gswap", &[reg(1), mem(2, 3, -1)])]));
    let mut m = machine(&program, 8);
    set(&mut m, [7, 3, 2, 0]);
    m.memory_mut()[4] = 99;
    let before = m.digest();
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!((m.registers()[1], m.memory()[4], m.lane_word(GRADIENT, 4)), (0, 99, 7));
    assert_ne!(m.digest(), before);
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!((m.registers()[1], m.lane_word(GRADIENT, 4), m.digest()), (7, 0, before));

    for (ad_mode, address, fault) in [
        (AdMode::Plain, 9, Fault::Memory),
        (AdMode::SecondGradient, 4, Fault::GradientLevel),
        (AdMode::GradientTangent, 4, Fault::GradientLevel),
    ] {
        let mut m = machine(&program, 8);
        m.set_ad_mode(ad_mode);
        set(&mut m, [7, address, 1, 0]);
        let before = m.digest();
        let outcome = m.run(None);
        assert!(matches!(&outcome, Outcome::Trap(t) if t.fault == fault && t.at == 1), "{outcome:?}");
        assert_eq!(m.digest(), before);
    }
}

/// The rows that move, negate, turn and scale gradient words, at level 1.
#[test]
fn rows_at_level_one() {
    let run = |inst, [value, gradient]: [[u64; 4]; 2], [value_, gradient_]: [[u64; 4]; 2]| {
        run_at(AdMode::Gradient, inst, [value, gradient, NONE, NONE], [value_, gradient_, NONE, NONE]);
    };
    let two = [reg(1), reg(2)];
    run(inst("swap", &two), [[1, 2, 0, 0], [10, 20, 0, 0]], [[2, 1, 0, 0], [20, 10, 0, 0]]);
    run(inst("neg.q", &two[..1]), [[q(1.5), 0, 0, 0], [q(0.25), 0, 0, 0]], [[q(-1.5), 0, 0, 0], [q(-0.25), 0, 0, 0]]);
    run(inst("neg.f", &two[..1]), [[f(1.5), 0, 0, 0], [f(0.25), 0, 0, 0]], [[f(-1.5), 0, 0, 0], [f(-0.25), 0, 0, 0]]);
    // A logarithm's magnitude stays, and so does its gradient.
    run(inst("neg.l", &two[..1]), [[5, 0, 0, 0], [q(0.25), 0, 0, 0]], [[5 | 1 << 63, 0, 0, 0], [q(0.25), 0, 0, 0]]);
    // 1000 · 9/10; the gradient is multiplied by 10/9: 9 · 10/9.
    run(
        inst("rmul", &[reg(1), reg(2), Operand::Factor(9), Operand::Factor(10)]),
        [[1000, 0, 0, 0], [9, 0, 0, 0]],
        [[900, 0, 0, 0], [10, 0, 0, 0]],
    );
    // y += x, and effectively y -= x, for which g(x) += g(y).
    run(
        inst("add.q", &two),
        [[q(1.0), q(2.0), 0, 0], [q(0.5), q(8.0), 0, 0]],
        [[q(3.0), q(2.0), 0, 0], [q(0.5), q(7.5), 0, 0]],
    );
    run(
        inst("sub.q", &two),
        [[q(1.0), q(2.0), 0, 0], [q(0.5), q(8.0), 0, 0]],
        [[q(-1.0), q(2.0), 0, 0], [q(0.5), q(8.5), 0, 0]],
    );
    // y += a·b + c: g(a) -= g(y)·b, g(b) -= g(y)·a, g(c) -= g(y).
    run(
        inst("addmuladd.q", &[reg(1), reg(2), reg(3), reg(4)]),
        [[0, q(3.0), q(5.0), q(7.0)], [q(0.5), 0, 0, 0]],
        [[q(22.0), q(3.0), q(5.0), q(7.0)], [q(0.5), q(-2.5), q(-1.5), q(-0.5)]],
    );
    // The same argument twice takes both shares.
    run(
        inst("submul.q", &[reg(1), reg(2), reg(2)]),
        [[0, q(3.0), 0, 0], [q(0.5), 0, 0, 0]],
        [[q(-9.0), q(3.0), 0, 0], [q(0.5), q(3.0), 0, 0]],
    );
    // Discrete: by `xor`, and as integers.
    run(inst("xor.q", &two), [[1, 2, 0, 0], [q(0.5), 9, 0, 0]], [[3, 2, 0, 0], [q(0.5), 9, 0, 0]]);
    run(inst("add", &two), [[1, 2, 0, 0], [q(0.5), 9, 0, 0]], [[3, 2, 0, 0], [q(0.5), 9, 0, 0]]);
    run(inst("rol", &[reg(1), imm(8)]), [[1, 0, 0, 0], [9, 0, 0, 0]], [[256, 0, 0, 0], [9, 0, 0, 0]]);
    // No turn: the angle takes up (after a `rot` with a minus) g(b)·a − g(a)·b = 4·3 − 0.5·2.
    let (point, gradients) = ([q(3.0), q(2.0), 0, 0], [q(0.5), q(4.0), q(100.0), 0]);
    let three = [reg(1), reg(2), reg(3)];
    run(inst("rot.q", &three), [point, gradients], [point, [q(0.5), q(4.0), q(89.0), 0]]);
    run(inst("irot.q", &three), [point, gradients], [point, [q(0.5), q(4.0), q(111.0), 0]]);
}

/// `zero` drops gradient words: they are counted as destroyed, or recorded for the run back.
#[test]
fn zero_drops_gradient_words() {
    for (name, operands) in [("zero", vec![reg(1)]), ("zero.f", vec![reg(1), Operand::Imm(0, Ty::F)])] {
        let program = program(between([inst(name, &operands)]));
        for (ad_mode, lost) in
            [(AdMode::Plain, 0), (AdMode::Gradient, 64), (AdMode::SecondGradient, 192), (AdMode::GradientTangent, 64)]
        {
            let mut m = machine(&program, 8);
            m.set_ad_mode(ad_mode);
            for lane in [GRADIENT, SECOND, MIXED] {
                m.set_lane_register(lane, r(1), i(-5) + lane as u64);
            }
            let before = m.digest();
            assert_eq!(m.run(None), Outcome::Finished);
            assert_eq!(m.counts().lost_bits(), lost, "{name} {ad_mode:?}");
            for lane in ad_mode.lanes() {
                assert_eq!(m.lane_register(*lane, r(1)), 0);
            }
            // With recording, nothing is destroyed, and the run back restores them.
            let mut m = machine(&program, 8);
            m.set_ad_mode(ad_mode);
            for lane in [GRADIENT, SECOND, MIXED] {
                m.set_lane_register(lane, r(1), i(-5) + lane as u64);
            }
            m.keep_dropped();
            assert_eq!(m.run(None), Outcome::Finished);
            assert_eq!((m.counts().lost_bits(), m.dropped_words()), (0, ad_mode.lanes().len()));
            m.begin(Direction::Backward);
            m.reverse_dropped();
            assert_eq!(m.run(None), Outcome::Finished);
            assert_eq!((m.counts().lost_bits(), m.dropped_words(), m.digest()), (0, 0, before), "{name} {ad_mode:?}");
        }
    }
}

/// A tape's word takes its gradient word along, in both directions, and leaves no trace when it comes back.
#[test]
fn a_tape_has_gradient_words() {
    let program = program(between([inst("emit", &[reg(1)]), inst("emit", &[reg(2)]), inst("unemit", &[reg(3)])]));
    let mut m = machine(&program, 8);
    m.set_ad_mode(AdMode::Gradient);
    set(&mut m, [7, 8, 0, 0]);
    m.set_lane_register(GRADIENT, r(1), 70);
    m.set_lane_register(GRADIENT, r(2), 80);
    m.set_lane_register(GRADIENT, r(4), 90);
    let before = m.digest();
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!((m.output(), m.registers()[3]), (&[7][..], 8));
    assert_eq!([1, 2, 3, 4].map(|n| m.lane_register(GRADIENT, r(n))), [0, 0, 80, 90]);
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!([1, 2, 3, 4].map(|n| m.lane_register(GRADIENT, r(n))), [70, 80, 0, 90]);
    assert_eq!(m.digest(), before);
}
