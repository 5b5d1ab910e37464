//! Derivatives of logarithmic numbers, of conversions between number systems, and of Bessel functions.

use super::*;

#[test]
fn logarithmic_numbers() {
    let text = "
        .data
x:      .log 1
z:      .log 1
y:      .log 1
        .text
main:   start
        mul.l   r1, [x]
        mul.l   r2, [z]
        zero    r3
        mulplus.l r3, r1, r2            ; x + z
        zero    r4
        mulminus.l r4, r1, r3           ; −z, by way of the difference
        mulmul.l [y], r3, r1            ; (x + z)·x
        add.q   r8, 1.5
        mulpow.l [y], r3, r8            ; (x + z)^1.5
        sub.q   r8, 1.5
        div.l   [y], r4
        neg.l   r4
        mulinv.l [y], r2
        neg.l   r4
        divminus.l r4, r1, r3
        divplus.l r3, r1, r2
        div.l   r2, [z]
        div.l   r1, [x]
        finish
"
    .to_string();
    let closed: Closed = |x| -((x[0] + x[1]) * x[0] * (x[0] + x[1]).powf(1.5) / (x[1] * x[1]));
    let inputs = vec![("x", 1.25), ("z", 0.75)];
    Case { name: "logarithms", text, loss: "y", inputs, closed, tolerance: 1e-7, exact: true }.check();
}

/// From doubles through every other type and back.
#[test]
fn conversions() {
    let text = "
        .data
x:      .double 0
w:      .fixed 0
v:      .log 1
y:      .double 0
        .text
main:   start
        addcvt.q.f r1, [x]
        addmul.q r2, r1, [w]
        zero    r3
        mulcvt.l.q r3, r2
        mul.l   r3, [v]                 ; x·w·v
        addcvt.f.l r4, r3
        addmul.f r5, r4, [x]
        addlog.q.l r6, r3
        addcvt.f.q r7, r6               ; ln(x·w·v)
        addmul.f [y], r5, r7
        subcvt.f.q r7, r6
        sublog.q.l r6, r3
        submul.f r5, r4, [x]
        subcvt.f.l r4, r3
        div.l   r3, [v]
        divcvt.l.q r3, r2
        zero    r3
        submul.q r2, r1, [w]
        subcvt.q.f r1, [x]
        finish
"
    .to_string();
    let closed: Closed = |x| {
        let p = x[0] * x[1] * x[2];
        x[0] * p * p.map([p.v.ln(), 1.0 / p.v, -1.0 / (p.v * p.v)])
    };
    let inputs = vec![("x", 1.5), ("w", 1.25), ("v", 0.875)];
    Case { name: "conversions", text, loss: "y", inputs, closed, tolerance: 1e-6, exact: false }.check();
}

// ---------------------------------------------------------------------------
// The host's engine on an example that once disagreed

#[test]
fn bessel_functions_twice() {
    let text = std::fs::read_to_string("examples/bessel.rasm").expect("the example");
    let program = load(&text);
    for (v, z) in [(2, 2.5), (0, 1.0), (5, 7.0), (1, -3.25)] {
        let mut m = Machine::new(&program, &Config::default()).expect("memory");
        let word = |name| variable(program.module(), name).cell;
        m.put(VALUE, word("v"), v);
        m.put(VALUE, word("z"), f64::to_bits(z));
        let options = pendula::grad::Options { hessian: true, check: true, ..Default::default() };
        let options = pendula::grad::Options { wrt: vec!["z".to_string()], ..options };
        let report = pendula::grad::grad(&mut m, &options, pendula::grad::to_end).expect("derivatives");
        assert!(report.agrees(), "{:?}", report.checks);
        assert!(report.hessian_difference.expect("asked for") < 1e-10, "{v} {z}: {:?}", report.hessian_difference);
        // Bessel's equation: z² y″ + z y′ + (z² − v²) y = 0.
        let y = f64::from_bits(report.losses[0].value);
        let first = report.losses[0].gradients[0].number().expect("a derivative");
        let second = report.hessian.expect("asked for")[0][0].expect("a derivative");
        let rest = z * z * second + z * first + (z * z - (v * v) as f64) * y;
        assert!(rest.abs() < 1e-10, "{v} {z}: {rest:e}");
    }
}

// ---------------------------------------------------------------------------
// Programs that differentiate themselves
