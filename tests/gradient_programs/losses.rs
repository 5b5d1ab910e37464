//! Gradient words that are dropped, and traps in a gradient run.

use super::*;

/// The words that `zero` drops are counted one by one, and only where they are not kept.
#[test]
fn dropped_gradient_words_are_lost() {
    let text = "
        .data
x:      .fixed 1.5
y:      .fixed 0
l:      .log 1.25
        .text
main:   start
        zero    r1
        add.q   r1, [x]
        zero    r2
        mulcvt.l.q r2, r1
        zero    r3
        addcvt.q.l r3, r2
        addmul.q [y], r3, r1
        subcvt.q.l r3, r2
        zero    r3
        divcvt.l.q r2, r1
        sub.q   r1, [x]
        zero    r5
        finish
";
    let program = load(text);
    let loss = variable(program.module(), "y");
    for (keep, lost, kept) in [(false, 3, 0), (true, 0, 3)] {
        let mut m = machine(&program);
        gradient::forward(&mut m, &mut end).expect("a value");
        m.set_ad_mode(AdMode::Gradient);
        let one = gradient::one(m.env(), Ty::Q);
        m.put(GRADIENT, loss.cell, one);
        let seeded = m.digest();
        if keep {
            m.keep_dropped();
        }
        gradient::gradient(&mut m, loss, one, &mut end).expect("a gradient");
        // Those of r1, r2 and r3, where they begin; not those of r3 where it ends, nor of r5.
        assert_eq!((m.counts().lost_bits(), m.dropped_words()), (64 * lost, kept));
        m.reverse_dropped();
        m.begin(Direction::Forward);
        end(&mut m).expect("the way back");
        assert_eq!(m.digest() == seeded, keep);
    }
}

/// A trap in a gradient run: it tells what words carried, the machine stands before the instruction, and every word is as the
/// instructions up to there have left it.
#[test]
fn traps_in_a_gradient_run() {
    let text = "
        .data
a:      .double 0, 0, 1, 0
y:      .double 0
        .text
main:   start
top:    from.ne r6, r0, again
test:   jmp.eq  r6, r5, done
        exch    r1, [a+r6]
        addasin.f r2, r1
        add.f   [y], r2
        subasin.f r2, r1
        exch    r1, [a+r6]
        inc     r6
again:  jmp     top
done:   from    test
        sub     r6, r5
        finish
";
    let program = load(text);
    let loss = variable(program.module(), "y");
    let five = Reg::new(5).expect("a register");
    let mut m = machine(&program);
    m.set_register(five, 4);
    let start = m.snapshot();
    gradient::forward(&mut m, &mut end).expect("angles");
    assert_eq!(convert::to_f64(m.env(), Ty::F, m.get(VALUE, loss.cell)), std::f64::consts::FRAC_PI_2);
    let (forward, there) = (m.executed(), m.snapshot());
    let one = gradient::one(m.env(), Ty::F);
    let Err(outcome) = gradient::gradient(&mut m, loss, one, &mut end) else {
        panic!("an arc sine has no derivative at 1")
    };
    let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
    let at = trap.at as usize;
    assert_eq!(
        (trap.fault, trap.ad_mode, trap.direction),
        (Fault::DivideByZero, AdMode::Gradient, Direction::Backward)
    );
    // r2 still has the gradient word of the element behind: it is not the word that ends its life that says so, but `zero`.
    assert_eq!(program.module().code[at].kind.mnemonic(), "subasin.f");
    // It stays there.
    let (digest, executed) = (m.digest(), m.executed());
    assert_eq!(m.run(None), outcome);
    assert_eq!((m.digest(), m.executed(), m.pc()), (digest, executed, Some(trap.at)));
    assert_eq!(per_instruction(&m).iter().flat_map(|(_, n)| n).sum::<u64>(), executed);
    // The one behind it has its derivative, the ones before have none yet.
    let a = |m: &Machine, n: usize| f64::from_bits(m.get(GRADIENT, Cell::Word(n)));
    assert_eq!([a(&m, 3), a(&m, 1), a(&m, 0)], [1.0, 0.0, 0.0]);
    // The same by steps, and by a limit.
    for limited in [false, true] {
        let mut again = machine(&program);
        again.restore(&there);
        again.set_ad_mode(AdMode::Gradient);
        again.put(GRADIENT, loss.cell, one);
        again.begin(Direction::Backward);
        if limited {
            assert_eq!(again.run(Some(executed - forward)), Outcome::Limit);
            assert_eq!(again.pc(), Some(trap.at));
        } else {
            assert_eq!(step(&mut again), outcome);
        }
        assert_eq!((again.digest(), again.executed()), (digest, executed - forward));
    }
    // Values alone go on to the start.
    m.set_ad_mode(AdMode::Plain);
    end(&mut m).expect("values have no traps here");
    assert!(m.snapshot() == start);
}

// ---------------------------------------------------------------------------
// Random programs
