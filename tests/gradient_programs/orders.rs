//! Jets, and all second derivatives in one run back: against closed forms, against the other ways to differentiate, there and back.

use pendula::vm::gradient::jet_lane;

use super::random::floating;
use super::*;

impl Case {
    /// The second derivatives of one sweep, and jets of order 3 along each input, against the derivatives by the closed form; with respect
    /// to logarithms where numbers are logarithmic. The machine is at the start.
    pub(super) fn check_orders(
        &self,
        m: &mut Machine,
        (loss, inputs): (Variable, &[Variable]),
        (first, second): (&[f64], &[Vec<f64>]),
    ) {
        let (env, start, name) = (m.env(), m.snapshot(), self.name);
        let near = |found: f64, wanted: f64, tolerance: f64, what: &str| {
            assert!((found - wanted).abs() <= tolerance, "{name}: {what}: {found}, wanted {wanted}");
        };
        let scale = second.iter().flatten().chain(first).fold(1.0, |s: f64, x| s.max(x.abs()));
        let word = gradient::one(env, loss.ty);
        gradient::hessian_sweep(m, loss, word, &mut end).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let cells: Vec<Cell> = inputs.iter().map(|v| v.cell).collect();
        let mut found = vec![vec![0.0; inputs.len()]; inputs.len()];
        for (i, j, x) in m.second_derivatives(&cells) {
            assert!(i <= j && x != 0.0, "{name}: {i} {j} {x}");
            (found[i][j], found[j][i]) = (x, x);
        }
        for (i, row) in found.iter().enumerate() {
            row.iter().zip(&second[i]).for_each(|(a, b)| near(*a, *b, 10.0 * self.tolerance * scale, "sweep"));
            let g = gradient::gradient_to_f64(env, inputs[i].ty, m.get(GRADIENT, inputs[i].cell));
            near(g, first[i], self.tolerance * scale, "gradient of the sweep");
        }
        for (n, of) in inputs.iter().enumerate() {
            m.restore(&start);
            let direction = [(of.cell, vec![gradient::one(env, of.ty)])];
            gradient::jets(m, &direction, 3, &mut end).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            let y = |k| gradient::gradient_to_f64(env, loss.ty, m.get(jet_lane(k), loss.cell));
            near(y(1), first[n], self.tolerance * scale, "coefficient 1");
            near(2.0 * y(2), second[n][n], 10.0 * self.tolerance * scale, "coefficient 2");
            gradient::jets_back(m, &mut end).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            if self.exact {
                assert!(m.snapshot() == start, "{name}: jets do not come back");
                for (k, v) in (1..=3).flat_map(|k| inputs.iter().map(move |v| (k, v))) {
                    let wanted = if k == 1 && v.cell == of.cell { direction[0].1[0] } else { 0 };
                    assert_eq!(m.get(jet_lane(k), v.cell), wanted, "{name}: coefficient {k}");
                }
            }
        }
        m.carry_nothing_more();
    }
}

/// The registers and words of [`floating`] programs.
fn cells() -> Vec<Cell> {
    (1..=8).map(cell).chain((0..8).map(Cell::Word)).collect()
}

/// A machine of a random program on doubles, at its start, if it comes to its end.
fn begun<'p>(program: &'p Program, s: &mut Source) -> Option<Machine<'p>> {
    let mut m = machine(program);
    for n in 1..=8 {
        m.put(VALUE, cell(n), (s.between(-1000, 1000) as f64 / 500.0 + 1e-3).to_bits());
    }
    let start = m.snapshot();
    (m.run(Some(100_000)) == Outcome::Finished).then(|| m.restore(&start)).map(|()| m)
}

/// One sweep has what forward over reverse has in a run for each word: swaps, turns, the stack, tapes, loops and procedures, forward
/// and backward.
#[test]
fn sweeps_of_random_programs_have_all_second_derivatives() {
    let (mut s, cells) = (Source::seeded(11), cells());
    let (mut met, mut entries) = (0, 0);
    for _ in 0..120 {
        let text = floating(&mut s);
        let program = load(&text);
        let Some(mut m) = begun(&program, &mut s) else { continue };
        let start = m.snapshot();
        let loss = Variable { cell: s.pick(&cells), ty: Ty::F };
        let Ok(()) = gradient::hessian_sweep(&mut m, loss, 1f64.to_bits(), &mut end) else { continue };
        let gradients: Vec<u64> = cells.iter().map(|c| m.get(GRADIENT, *c)).collect();
        let mut found = vec![vec![0.0; cells.len()]; cells.len()];
        for (i, j, x) in m.second_derivatives(&cells) {
            (found[i][j], found[j][i]) = (x, x);
            entries += 1;
        }
        for (i, of) in cells.iter().enumerate() {
            m.restore(&start);
            let variable = Variable { cell: *of, ty: Ty::F };
            gradient::hessian_row(&mut m, loss, 1f64.to_bits(), variable, &mut end).expect("a row");
            let row: Vec<f64> = cells.iter().map(|c| f64::from_bits(m.get(MIXED, *c))).collect();
            let scale = row.iter().chain(&found[i]).fold(1.0, |s: f64, x| s.max(x.abs()));
            for (j, (a, b)) in found[i].iter().zip(&row).enumerate() {
                assert!((a - b).abs() <= 1e-8 * scale, "{i} {j}: {a:e} {b:e} of {loss:?}\n{text}");
            }
            // The gradient is that of a run with gradients alone, but for the order of sums.
            for (c, g) in cells.iter().zip(&gradients) {
                let (a, b) = (f64::from_bits(*g), f64::from_bits(m.get(GRADIENT, *c)));
                assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{c:?}: {a} {b}\n{text}");
            }
        }
        met += 1;
    }
    assert!(met > 60 && entries > 500, "{met} {entries}");
}

/// Coefficient 1 of jets is the tangent, and coefficient 2 half the second derivative along it; the run back undoes both.
#[test]
fn jets_of_random_programs_agree_with_tangents() {
    let (mut s, cells) = (Source::seeded(12), cells());
    let (mut met, mut curved) = (0, 0);
    for _ in 0..120 {
        let text = floating(&mut s);
        let program = load(&text);
        let Some(mut m) = begun(&program, &mut s) else { continue };
        let start = m.snapshot();
        let direction: Vec<(Cell, Vec<u64>)> =
            cells.iter().map(|c| (*c, vec![(s.between(-100, 100) as f64 / 100.0).to_bits()])).collect();
        let Ok(()) = gradient::jets(&mut m, &direction, 2, &mut end) else { continue };
        let jets: Vec<[f64; 2]> =
            cells.iter().map(|c| [1, 2].map(|k| f64::from_bits(m.get(jet_lane(k), *c)))).collect();
        gradient::jets_back(&mut m, &mut end).expect("a way back");
        for (c, jet) in &direction {
            let scale = jets.iter().flatten().fold(1.0, |s: f64, x| s.max(x.abs()));
            let [first, other] = [1, 2].map(|k| f64::from_bits(m.get(jet_lane(k), *c)));
            let bound = 1e-9 * scale;
            assert!((first - f64::from_bits(jet[0])).abs() < bound && other.abs() < bound, "{c:?}\n{text}");
        }
        // Tangents, then the second derivative along them by a run back with gradients.
        m.restore(&start);
        m.carry_nothing_more();
        (1..LANES).for_each(|lane| m.clear_lane(lane));
        m.set_ad_mode(AdMode::Tangent);
        direction.iter().for_each(|(c, jet)| m.put(SECOND, *c, jet[0]));
        m.begin(Direction::Forward);
        end(&mut m).expect("tangents");
        for (c, jet) in cells.iter().zip(&jets) {
            let t = f64::from_bits(m.get(SECOND, *c));
            assert!((t - jet[0]).abs() <= 1e-12 * (1.0 + t.abs()), "{c:?}: {t} {}\n{text}", jet[0]);
        }
        let at = s.below(cells.len() as u64) as usize;
        m.set_ad_mode(AdMode::GradientTangent);
        m.put(GRADIENT, cells[at], 1f64.to_bits());
        m.begin(Direction::Backward);
        end(&mut m).expect("gradients of tangents");
        let along = |(c, jet): &(Cell, Vec<u64>)| f64::from_bits(m.get(MIXED, *c)) * f64::from_bits(jet[0]);
        let terms: Vec<f64> = direction.iter().map(along).collect();
        let (sum, size) = (terms.iter().sum::<f64>(), terms.iter().map(|t| t.abs()).sum::<f64>());
        assert!((sum - 2.0 * jets[at][1]).abs() <= 1e-8 * (1.0 + size), "{sum} {}\n{text}", 2.0 * jets[at][1]);
        met += 1;
        curved += usize::from(sum != 0.0);
    }
    assert!(met > 60 && curved > 20, "{met} {curved}");
}

/// Jets of fixed-point numbers and of anything else that moves come back bit for bit, from random words in all lanes.
#[test]
fn jets_of_random_programs_come_back() {
    let mut ran = 0;
    for seed in 0..300 {
        let text = RandomProgram::new(&mut Source::seeded(seed), [3, 12, 40][seed as usize % 3]).text();
        // What `zero` drops of a jet is not kept.
        let text: String = text.lines().filter(|l| !l.contains("zero")).map(|l| format!("{l}\n")).collect();
        let Some(module) = assemble("random.rasm", text.clone(), &Options::default()).module else { continue };
        let Ok(program) = Program::new(module, true) else { continue };
        if gradient::differentiable(program.module()).is_err() {
            continue;
        }
        let mut m = machine(&program);
        if m.run(Some(200_000)) != Outcome::Finished {
            continue;
        }
        m.carry_jets(4);
        m.set_ad_mode(AdMode::Tangent);
        let mut s = Source::seeded(seed);
        for k in 1..=4 {
            (1..=11).for_each(|n| m.put(jet_lane(k), cell(n), word(&mut s) >> 40));
            (0..16).for_each(|n| m.put(jet_lane(k), Cell::Word(n), word(&mut s) >> 40));
        }
        let words = |m: &Machine| -> Vec<u64> {
            let cells = (0..Reg::COUNT as u8).map(cell).chain((0..MEMORY as usize).map(Cell::Word));
            let all = cells.flat_map(|c| (0..=4).map(move |k| (if k == 0 { VALUE } else { jet_lane(k) }, c)));
            all.map(|(lane, c)| m.get(lane, c)).map(|w| if w == (-0f64).to_bits() { 0 } else { w }).collect()
        };
        let before = words(&m);
        m.begin(Direction::Backward);
        if m.run(Some(200_000)) != Outcome::Finished {
            continue;
        }
        m.begin(Direction::Forward);
        assert_eq!(m.run(Some(200_000)), Outcome::Finished, "seed {seed}\n{text}");
        assert!(words(&m) == before, "seed {seed}\n{text}");
        ran += 1;
    }
    assert!(ran > 60, "{ran}");
}
