//! Programs whose derivatives are known in closed form: what instructions, calls, loops and ancillas do to them.

use super::*;

#[test]
fn a_square() {
    let body = "
main:   start
        add.T   r1, [x]
        addmul.T [y], r1, r1
        sub.T   r1, [x]
        finish
";
    check_both("square", body, &[("x", 1.75)], |x| x[0] * x[0]);
}

#[test]
fn an_operand_used_many_times() {
    let body = "
main:   start
        add.T   r1, [x]
        .routine all
        addmul.T r2, r1, r1             ; x²
        addmul.T r3, r2, r1             ; x³
        addsin.T r4, r1
        addmuladd.T r5, r3, r1, r4      ; x⁴ + sin x
        addmul.T r5, r2, r4             ; + x² sin x
        adddiv.T r5, r4, r3             ; + sin x / x³
        .endroutine
        add.T   [y], r5
        add.T   [y], r1
        .unroutine all
        sub.T   r1, [x]
        finish
";
    check_both("many", body, &[("x", 1.25)], |x| {
        let (x, s) = (x[0], x[0].sin());
        x * x * x * x + s + x * x * s + s / (x * x * x) + x
    });
}

#[test]
fn moves() {
    let body = "
main:   start
        exch    r1, [x]
        add.T   r2, [z]
        swap    r1, r2
        push    r1                      ; z
        push    r2                      ; x
        add.T   r5, [sp-1]
        addmul.T [y], r5, r5            ; x²
        sub.T   r5, [sp-1]
        pop     r7                      ; x
        emit    r7
        pop     r8                      ; z
        unemit  r6                      ; x
        exch    r8, [a+3]
        adddiv.T r9, r6, [a+3]          ; x/z
        addmul.T [y], r9, r6            ; x²/z
        subdiv.T r9, r6, [a+3]
        exch    r8, [a+3]
        emit    r6
        push    r8
        unemit  r7
        push    r7
        pop     r2
        pop     r1
        swap    r1, r2
        sub.T   r2, [z]
        exch    r1, [x]
        finish
";
    let cases = Case::both("moves", body, &[("x", 0.75), ("z", 1.5)], "a: .WORDS 0, 0, 0, 0\n", |x| {
        x[0] * x[0] + x[0] * x[0] / x[1]
    });
    cases.iter().for_each(Case::check);
}

#[test]
fn negations() {
    let body = "
main:   start
        add.T   r1, [x]
        neg.T   r1
        addexp.T r2, r1
        neg.T   r2
        addmul.T r3, r2, r1             ; x·exp(−x)
        neg.T   r3
        add.T   [y], r3                 ; −x·exp(−x)
        neg.T   r3
        submul.T r3, r2, r1
        neg.T   r2
        subexp.T r2, r1
        neg.T   r1
        sub.T   r1, [x]
        finish
";
    check_both("negations", body, &[("x", 0.5)], |x| -x[0] * (-x[0]).exp());
}

#[test]
fn turns() {
    let body = "
main:   start
        add.T   r1, [u]
        add.T   r2, [v]
        add.T   r3, [w]
        rot.T   r1, r2, r3
        irot.T  r2, r1, 0.25
        addmul.T r4, r1, r2
        addmul.T [y], r4, r1
        submul.T r4, r1, r2
        rot.T   r2, r1, 0.25
        irot.T  r1, r2, r3
        sub.T   r3, [w]
        sub.T   r2, [v]
        sub.T   r1, [u]
        finish
";
    let closed = |x: &[Hyper]| {
        let turn = |a: Hyper, b: Hyper, t: Hyper| (a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos());
        let (a, b) = turn(x[0], x[1], x[2]);
        let (b, a) = turn(b, a, K(-0.25));
        a * b * a
    };
    check_both("turns", body, &[("u", 1.0), ("v", -0.5), ("w", 2.5)], closed);
}

/// `rmul` scales fixed-point words; the gradient words go through `rdiv`'s ratio with a buffer of their own.
#[test]
fn scalings() {
    let body = "
main:   start
        add.q   r1, [x]
        rmul    r1, r2, 3, 7
        add     r5, 5
        add     r6, 4
        rdiv    r1, r2, r5, r6          ; 12/35 of x
        addmul.q r3, r1, r1
        addmul.q [y], r3, r1
        submul.q r3, r1, r1
        rmul    r1, r2, r5, r6
        sub     r6, 4
        sub     r5, 5
        rdiv    r1, r2, 3, 7
        sub.q   r1, [x]
        finish
";
    let [q, _] = Case::both("scalings", body, &[("x", 2.75)], "", |x| {
        let x = x[0] * K(12.0 / 35.0);
        x * x * x
    });
    q.check();
}

#[test]
fn recursion() {
    let body = "
        proc    power                   ; a[k] += x^k for k up to r3
choose: jmp.eq  r3, r0, base
        dec     r3
        call    power
        inc     r3
        add.T   r7, [a+r3-1]
        addmul.T [a+r3], r7, r1
        sub.T   r7, [a+r3-1]
leave:  jmp     over
base:   from.eq r3, r0, choose
        add.T   r8, 1
        add.T   [a], r8
        sub.T   r8, 1
over:   from.ne r3, r0, leave
        ret     power
main:   start
        add.T   r1, [x]
        add     r3, 5
        call    power
        add.T   r2, [a+r3]
        add.T   r2, [a+r3-2]
        add.T   [y], r2                 ; x⁵ + x³
        sub.T   r2, [a+r3-2]
        sub.T   r2, [a+r3]
        uncall  power
        sub     r3, 5
        sub.T   r1, [x]
        finish
";
    let cases = Case::both("recursion", body, &[("x", 1.125)], "a: .WORDS 0, 0, 0, 0, 0, 0\n", |x| {
        x[0].powf(5.0) + x[0].powf(3.0)
    });
    cases.iter().for_each(Case::check);
}

/// A procedure, its undoing, and procedures by register.
#[test]
fn calls_there_and_back() {
    let body = "
        proc    square
        addmul.T r2, r1, r1
        ret     square
        proc    wave
        add     r20, square
        callr   r20
        addsin.T r4, r2
        uncallr r20
        sub     r20, square
        ret     wave
main:   start
        add.T   r1, [x]
        call    square
        addmul.T [y], r2, r2            ; x⁴
        uncall  square
        call    wave
        add.T   [y], r4                 ; + sin x²
        uncall  wave
        sub.T   r1, [x]
        finish
";
    check_both("calls", body, &[("x", 0.875)], |x| x[0].powf(4.0) + (x[0] * x[0]).sin());
}

/// A map that is undone without anything beside it, in a loop; the sum of an array's elements by index.
#[test]
fn loops_and_arrays() {
    let body = "
        proc    steps
top:    from.ne r6, r0, again
test:   jmp.eq  r6, r5, done
        addmul.T r1, r2, 0.25
        submul.T r2, r1, r1
        add.T   r3, [a+r6]
        addmul.T r4, r3, r3
        addmul.T [s], r4, r1            ; s += a[i]²·r1
        submul.T r4, r3, r3
        sub.T   r3, [a+r6]
        inc     r6
again:  jmp     top
done:   from    test
        ret     steps
main:   start
        add.T   r1, [u]
        add.T   r2, [v]
        add     r5, 3
        call    steps
        exch    r4, [s]
        add.T   [y], r4
        addmul.T [y], r1, r2
        exch    r4, [s]
        uncall  steps
        sub     r5, 3
        sub.T   r2, [v]
        sub.T   r1, [u]
        finish
";
    let cases = Case::both("loops", body, &[("u", 0.5), ("v", 1.25)], "a: .WORDS 1, 0.5, -2\ns: .WORDS 0\n", |x| {
        let (mut u, mut v, mut s) = (x[0], x[1], K(0.0));
        for a in [1.0, 0.5, -2.0] {
            u = u + v * K(0.25);
            v = v - u * u;
            s = s + K(a * a) * u;
        }
        s + u * v
    });
    cases.iter().for_each(Case::check);
    // The array's elements as inputs.
    for mut case in cases {
        case.inputs = vec![("a", 1.0), ("a[1]", 0.5), ("a[2]", -2.0), ("u", 0.5)];
        case.text = case.text.replace("v: .fixed 0", "v: .fixed 1.25").replace("v: .double 0", "v: .double 1.25");
        case.closed = |x| {
            let (mut u, mut v, mut s) = (x[3], K(1.25), K(0.0));
            for a in &x[..3] {
                u = u + v * K(0.25);
                v = v - u * u;
                s = s + *a * *a * u;
            }
            s + u * v
        };
        case.check();
    }
}

/// `zero` at the beginning of ancillas that have gradients when the run backward comes there, in a loop, so that words dropped at one
/// instruction must come back in the right order.
#[test]
fn ancillas() {
    let body = "
main:   start
        add.T   r1, [x]
        add     r5, 3
top:    from.ne r6, r0, again
test:   jmp.eq  r6, r5, done
        zero    r3
        add.T   r3, r1
        zero    r4
        addmul.T r4, r3, r3
        zero    r7
        addsin.T r7, r4
        addmul.T [y], r7, r4            ; sin(x²)·x²
        add.T   r1, 0.5
        subsin.T r7, r4
        zero    r7
        submul.T r4, r3, r3
        sub.T   r3, r1
        add.T   r3, 0.5
        inc     r6
again:  jmp     top
done:   from    test
        sub     r6, r5
        sub     r5, 3
        sub.T   r1, 1.5
        sub.T   r1, [x]
        finish
";
    check_both("ancillas", body, &[("x", 0.375)], |x| {
        let f = |x: Hyper| (x * x).sin() * x * x;
        f(x[0]) + f(x[0] + K(0.5)) + f(x[0] + K(1.0))
    });
}

/// The same with `zero.f`, where a word is not clear to the last bit: multiplication in place, as in `bessel.rasm`.
#[test]
fn ancillas_that_are_nearly_clear() {
    let text = "
        .data
x:      .double 0
y:      .double 0
        .text
main:   start
        add.f   r1, [x]
        addsin.f r9, r1
        .routine series
        zero.f  r10, 1e-10
        add.f   r10, r1                 ; s = x
        zero.f  r12, 1e-10
        add     r5, 4
top:    from.ne r6, r0, again
test:   jmp.eq  r6, r5, done
        addmul.f r12, r10, r9           ; s := s·sin x
        subdiv.f r10, r12, r9
        zero.f  r10, 1e-10
        swap    r10, r12
        add.f   r11, r10
        inc     r6
again:  jmp     top
done:   from    test
        .endroutine
        add.f   [y], r11
        .unroutine series
        subsin.f r9, r1
        sub.f   r1, [x]
        finish
"
    .to_string();
    let closed: Closed = |x| {
        let s = x[0].sin();
        x[0] * (s + s * s + s * s * s + s * s * s * s)
    };
    let case = Case {
        name: "nearly clear",
        text,
        loss: "y",
        inputs: vec![("x", 0.7)],
        closed,
        tolerance: 1e-12,
        exact: false,
    };
    case.check();
}
