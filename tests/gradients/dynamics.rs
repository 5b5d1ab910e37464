//! Gradients of many steps: orbits, strings, gradient descent.

use super::*;

/// The program `orbit` after n steps: of p, v and dt. Its result is p and v.
fn orbit(inputs: &[Hyper], n: usize) -> [Hyper; 4] {
    let [mut px, mut py, mut vx, mut vy, dt] = inputs.try_into().expect("five");
    let kick = |px: Hyper, py: Hyper, vx: &mut Hyper, vy: &mut Hyper, dt: Hyper| {
        let pull = dt * (px * px + py * py).powf(-1.5);
        (*vx, *vy) = (*vx - px * pull, *vy - py * pull);
    };
    kick(px, py, &mut vx, &mut vy, dt * 0.5);
    for _ in 0..n {
        (px, py) = (px + vx * dt, py + vy * dt);
        kick(px, py, &mut vx, &mut vy, dt);
    }
    kick(px, py, &mut vx, &mut vy, -dt * 0.5);
    [px, py, vx, vy]
}

const ORBIT: [f64; 5] = [1.0, 0.0, 0.0, 1.1, 0.01];

/// Of the state after n steps.
const STATE: [&str; 4] = ["p[0]", "p[1]", "v[0]", "v[1]"];

#[test]
fn orbits() {
    // The fixed-point dt is not quite 0.01, and neither is 1.1.
    let at = ORBIT.map(|x| (x * 2f64.powi(43)).round_ties_even() * 2f64.powi(-43));
    let inputs = |n: usize| [format!("n={n}")];
    for (i, loss) in STATE.into_iter().enumerate() {
        // Second derivatives after half a period.
        let short = derive(|x| orbit(x, 300)[i], &at, true);
        ask("orbit", &inputs(300), loss, "p,v,dt").is(&short, [1e-10, 1e-8, 1e-5]);
        let long = derive(|x| orbit(x, 1000)[i], &at, false);
        ask("orbit", &inputs(1000), loss, "p,v,dt").is(&long, [1e-9, 1e-6, 0.0]);
    }
}

/// The gradient of the final position with respect to the initial velocity after 10^5 steps, some 160 periods.
#[test]
fn an_orbit_of_a_hundred_thousand_steps() {
    let at = ORBIT.map(|x| (x * 2f64.powi(43)).round_ties_even() * 2f64.powi(-43));
    for (i, loss) in STATE.into_iter().enumerate().take(2) {
        let along = |k: usize| {
            let mut inputs = at.map(Hyper::from);
            inputs[2 + k].a = 1.0;
            orbit(&inputs, 100_000)[i]
        };
        let oracle = Oracle { value: along(0).x, gradient: vec![along(0).a, along(1).a], hessian: None };
        assert!(oracle.gradient[1].abs() > 100.0, "the gradient grows with time");
        let inputs = ["n=100000".to_string()];
        let mut long = ask("orbit", &inputs, loss, "v");
        long.options.check = false;
        // One part in a million: 43 bits, rounded in 10⁵ steps, of an orbit whose every error grows with time.
        long.is(&oracle, [1e-6, 1e-6 * 3500.0, 0.0]);
    }
}

/// Leapfrog preserves areas: with J the derivative of the last state with respect to the first, J' Ω J = Ω. No oracle is needed.
#[test]
fn the_jacobian_of_an_orbit_is_symplectic() {
    let inputs = ["n=20000".to_string()];
    let rows: Vec<Vec<f64>> = ["p", "v"]
        .into_iter()
        .flat_map(|loss| {
            let mut ask = ask("orbit", &inputs, loss, "p,v");
            (ask.options.check, ask.options.jacobian) = (false, true);
            ask.report().losses
        })
        .map(|loss| loss.gradients.iter().flat_map(|g| g.numbers()).map(|d| d.expect("a derivative")).collect())
        .collect();
    for a in 0..4 {
        for b in 0..4 {
            let form = |i: usize| rows[i][a] * rows[i + 2][b] - rows[i + 2][a] * rows[i][b];
            let omega = f64::from(b == a + 2) - f64::from(a == b + 2);
            assert!((form(0) + form(1) - omega).abs() < 1e-5, "{a} {b}: {}", form(0) + form(1));
        }
    }
}

/// The program `wave`: of u and v.
fn wave(inputs: &[Hyper], steps: usize) -> Vec<Hyper> {
    let (mut u, mut v) = (inputs[..15].to_vec(), inputs[15..].to_vec());
    for _ in 0..steps {
        let at = |u: &[Hyper], i: usize| if (1..=15).contains(&i) { u[i - 1] } else { Hyper::default() };
        for i in 0..15 {
            v[i] = v[i] + (at(&u, i) - u[i] * 2.0 + at(&u, i + 2)) * 0.25;
        }
        for i in 0..15 {
            u[i] = u[i] + v[i];
        }
    }
    u
}

#[test]
fn plucked_string() {
    let u: Vec<f64> = (1..=15).map(|i| if i < 5 { 0.1875 * f64::from(i) } else { f64::from(16 - i) / 16.0 }).collect();
    let at: Vec<f64> = u.into_iter().chain([0.0; 15]).collect();
    for i in [0, 7] {
        let oracle = derive(|x| wave(x, 200)[i], &at, false);
        let inputs = ["steps=200".to_string()];
        ask("wave", &inputs, &format!("u[{i}]"), "u,v").is(&oracle, [1e-6, 1e-7, 0.0]);
    }
}

/// The program `momentum`: of A, b, rate, w and v.
fn momentum(inputs: &[Hyper], steps: usize) -> [Hyper; 2] {
    let (a, b, rate) = (&inputs[..4], &inputs[4..6], inputs[6]);
    let (mut w, mut v) = ([inputs[7], inputs[8]], [inputs[9], inputs[10]]);
    for _ in 0..steps {
        let gradient = [0, 1].map(|i| a[2 * i] * w[0] + a[2 * i + 1] * w[1] - b[i]);
        v = [0, 1].map(|i| v[i] * 0.9 - gradient[i] * 0.1);
        w = [0, 1].map(|i| w[i] + rate * v[i]);
    }
    w
}

#[test]
fn gradient_descent_with_momentum() {
    let at = [3.0, 1.0, 1.0, 2.0, 5.0, 5.0, 0.125, -4.0, 3.0, 0.0, 0.0];
    for (i, loss) in ["w[0]", "w[1]"].into_iter().enumerate() {
        // After one epoch something of the start is left; after three it is the minimum's, A⁻¹b, alone.
        for epochs in [1, 3] {
            let oracle = derive(|x| momentum(x, 256 * epochs)[i], &at, false);
            let inputs = [format!("epochs={epochs}")];
            ask("momentum", &inputs, loss, "A,b,rate,w,v").is(&oracle, [1e-7, 1e-6, 0.0]);
        }
    }
    let slow = momentum(&at.map(Hyper::from), 768);
    assert!((slow[0].x - 1.0).abs() < 1e-9 && (slow[1].x - 2.0).abs() < 1e-9, "{slow:?}");
}
