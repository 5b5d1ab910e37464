//! Programs that differentiate themselves.

use super::*;

/// f(x) = sin x · x², and a procedure that computes f′.
const SLOPE: &str = "
        .data
x: .WORDS 0
        .text
        proc    f                       ; r2 += f(r1)
        addsin.T r7, r1
        addmul.T r8, r1, r1
        addmul.T r2, r7, r8
        submul.T r8, r1, r1
        subsin.T r7, r1
        ret     f
        proc    slope                   ; r4 += f'(r1)
        call    f
        add.T   r3, 1
        gswap   r3, r2
        guncall f
        gswap   r4, r1
        gswap   r3, r2
        sub.T   r3, 1
        ret     slope
main:   start
        add.T   r1, [x]
";

const PLAIN: &str = "        call    f\n        finish\n";

const FIRST: &str = "        call    slope\n        finish\n";

const SECOND_OWN: &str = "
        call    slope
        add.T   r5, 1
        gswap   r5, r4
        guncall slope                   ; f at level 2 within
        gswap   r6, r1                  ; f''(r1)
        finish
";

/// A program's own gradient is the host's, to the last bit, and its own second derivative, but for a few units, the host's of reversing
/// twice; both come back.
#[test]
fn programs_that_differentiate_themselves() {
    let f: Closed = |x| x[0].sin() * x[0] * x[0];
    for (suffix, directive, ty, tolerance) in [(".q", ".fixed", Ty::Q, 1e-7), (".f", ".double", Ty::F, 1e-12)] {
        let program = |main: &str| load(&format!("{SLOPE}{main}").replace(".T", suffix).replace(".WORDS", directive));
        let [plain, first, second] = [PLAIN, FIRST, SECOND_OWN].map(program);
        for x in [0.5, -1.25, 2.0, 0.0] {
            let (_, gradient, hessian) = derivatives(f, &[x]);
            let (loss, of) = (Variable { cell: cell(2), ty }, Variable { cell: Cell::Word(0), ty });
            let at = |m: &mut Machine| m.put(VALUE, of.cell, word_of(m.env(), ty, x));
            // The host, of the plain program.
            assert_eq!(gradient::differentiable(plain.module()), Ok(()));
            let mut host = machine(&plain);
            at(&mut host);
            let one = gradient::one(host.env(), ty);
            gradient::forward(&mut host, &mut end).expect("a value");
            gradient::gradient(&mut host, loss, one, &mut end).expect("a gradient");
            // The register was loaded from the memory word.
            let by_host = host.get(GRADIENT, of.cell);
            gradient::hessian_row_by_reversing_twice(&mut host, loss, one, of, &mut end).expect("a row");
            let twice = host.get(GRADIENT, of.cell);
            gradient::hessian_row(&mut host, loss, one, of, &mut end).expect("a row");
            let row = gradient::gradient_to_f64(host.env(), ty, host.get(MIXED, of.cell));
            assert!((row - hessian[0][0]).abs() < 10.0 * tolerance, "{row} {hessian:?}");

            for (program, register, by_host, wanted) in
                [(&first, 4, by_host, gradient[0]), (&second, 6, twice, hessian[0][0])]
            {
                assert!(matches!(gradient::differentiable(program.module()), Err(gradient::Refused::UsesGradients(_))));
                let mut m = machine(program);
                at(&mut m);
                let start = m.digest();
                m.keep_dropped();
                end(&mut m).expect("a derivative");
                let own = m.get(VALUE, cell(register));
                let level = m.counts().modes.iter().map(|m| m.mode.level).max();
                assert_eq!(level, Some(if register == 4 { 1 } else { 2 }));
                if ty == Ty::Q {
                    // At level 2 the gradient words that ancillas are left with are not those that the host keeps apart: their shares
                    // cancel, but for a unit where each is rounded.
                    let units = own.abs_diff(by_host);
                    assert!(units <= if register == 4 { 0 } else { 16 }, "{x}: {units}");
                }
                let own = convert::to_f64(m.env(), ty, own);
                assert!((own - wanted).abs() < 10.0 * tolerance, "{x}: {own} {wanted}");
                let mut steps = machine(program);
                at(&mut steps);
                assert_eq!(step(&mut steps), Outcome::Finished);
                assert_eq!(steps.digest(), m.digest());
                assert_eq!((per_instruction(&steps), steps.executed()), (per_instruction(&m), m.executed()));
                m.reverse_dropped();
                m.begin(Direction::Backward);
                end(&mut m).expect("the way back");
                if ty == Ty::Q {
                    assert_eq!(m.digest(), start, "{x}");
                }
            }
        }
    }
}
