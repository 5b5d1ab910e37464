//! Random programs: gradient runs are undone with all lanes, and are the transpose of tangent runs.

use super::*;

/// Every word in every lane; −0.0 as +0.0, for a sum of the two forgets which it was.
fn everything(m: &Machine) -> Vec<u64> {
    let registers = (0..Reg::COUNT as u8).map(cell);
    let cells: Vec<Cell> = registers.chain((0..MEMORY as usize).map(Cell::Word)).collect();
    let words = (0..LANES).flat_map(|lane| cells.iter().map(move |c| m.get(lane, *c)));
    words.map(|w| if w == (-0f64).to_bits() { 0 } else { w }).collect()
}

/// The programs of the sampler that do not use gradients themselves, at every level and over dual numbers, from random words in all
/// lanes: backward and forward again, bit for bit. Doubles have gradient words of ±0 there, and the sampler's programs add only
/// sums of doubles that are exact, but not of random tangents: theirs begin as zero.
#[test]
fn random_programs_come_back_with_their_lanes() {
    let (mut ran, mut kept) = ([0; 5], 0);
    for seed in 0..400 {
        let size = [3, 12, 40, 120][seed as usize % 4];
        let text = RandomProgram::new(&mut Source::seeded(seed), size).text();
        let program = load(&text);
        if gradient::differentiable(program.module()).is_err() {
            continue;
        }
        let mut s = Source::seeded(seed);
        for ad_mode in AdMode::ALL {
            let mut m = machine(&program);
            if m.run(Some(200_000)) != Outcome::Finished {
                continue;
            }
            m.set_ad_mode(ad_mode);
            for &lane in ad_mode.lanes() {
                // Those that hold words of any kind, and the arrays of integers and of fixed-point numbers.
                (1..=11).for_each(|n| m.put(lane, cell(n), word(&mut s)));
                (0..16).for_each(|n| m.put(lane, Cell::Word(n), word(&mut s)));
            }
            let before = everything(&m);
            m.keep_dropped();
            m.begin(Direction::Backward);
            if m.run(Some(200_000)) != Outcome::Finished {
                // A wrapped gradient word met a conversion.
                continue;
            }
            kept += m.dropped_words();
            m.reverse_dropped();
            m.begin(Direction::Forward);
            assert_eq!(m.run(Some(200_000)), Outcome::Finished, "seed {seed} {ad_mode:?}\n{text}");
            assert!(everything(&m) == before, "seed {seed} {ad_mode:?}\n{text}");
            ran[ad_mode as usize] += 1;
        }
    }
    assert!(ran.iter().all(|n| *n > 100) && kept > 100, "{ran:?} {kept}");
}

/// A random program on doubles: bounded functions, exchanges, turns, the stack, loops and procedures, on registers 1 to 8 and the
/// words `a[0]` to `a[7]`.
pub(super) fn floating(s: &mut Source) -> String {
    fn statement(s: &mut Source, out: &mut String, depth: u64, labels: &mut u64) {
        let mut taken = Vec::new();
        let mut reg = |s: &mut Source| loop {
            let n = 1 + s.below(8);
            if !taken.contains(&n) {
                taken.push(n);
                return format!("r{n}");
            }
        };
        let sub = s.pick(&["add", "sub"]);
        let (y, a, b) = (reg(s), reg(s), reg(s));
        let at = s.below(8);
        let _ = match s.below(if depth == 0 { 18 } else { 15 }) {
            0 | 1 => {
                writeln!(out, "        {sub}{}.f {y}, {a}", s.pick(&["sin", "cos", "tanh", "atan", "abs", "relu"]))
            }
            2 => writeln!(out, "        {sub}{}.f [a+{at}], {a}", s.pick(&["sin", "cos", "tanh", "atan"])),
            3 => writeln!(out, "        {sub}{}.f {y}, [a+{at}]", s.pick(&["sin", "tanh", ""])),
            4 => writeln!(out, "        {sub}mul.f {y}, {a}, 0.25"),
            5 => writeln!(out, "        {sub}{}.f {y}, {a}, {b}", s.pick(&["atan2", "hypot", "min", "max"])),
            // A product of bounded numbers, undone at once.
            6 => writeln!(
                out,
                "        addtanh.f r9, {a}\n        addsin.f r10, {b}\n        {sub}mul.f {y}, r9, r10\n        subsin.f r10, {b}\n        subtanh.f r9, {a}"
            ),
            7 => writeln!(
                out,
                "        addtanh.f r9, {a}\n        add.f r10, 3\n        {sub}div.f {y}, r9, r10\n        {sub}exp.f {y}, r9\n        {sub}muladd.f {y}, r9, r9, {b}\n        sub.f r10, 3\n        subtanh.f r9, {a}"
            ),
            8 => writeln!(out, "        swap {y}, {a}"),
            9 => writeln!(out, "        exch {y}, [a+{at}]"),
            10 => writeln!(out, "        neg.f {y}"),
            11 => writeln!(out, "        {} {y}, {a}, {b}", s.pick(&["rot.f", "irot.f"])),
            12 => writeln!(
                out,
                "        push {y}\n        push {a}\n        {sub}sin.f {b}, [sp-1]\n        pop {a}\n        pop {y}"
            ),
            13 => writeln!(out, "        emit {y}\n        emit {a}\n        unemit {y}\n        unemit {a}"),
            14 => writeln!(out, "        {} part", s.pick(&["call", "uncall"])),
            _ => {
                *labels += 1;
                let (n, count) = (*labels, 1 + s.below(3));
                let _ = writeln!(out, "t{n}: from.ne r20, r0, g{n}\nj{n}: jmp.eq r20, {count}, d{n}");
                for _ in 0..1 + s.below(4) {
                    statement(s, out, 1, labels);
                }
                writeln!(out, "        inc r20\ng{n}: jmp t{n}\nd{n}: from j{n}\n        sub r20, {count}")
            }
        };
    }
    let mut out = String::from("        .data\na: .double 1, -0.5, 0.25, 2, -1.5, 0.75, 0.1, -2\n        .text\n");
    let mut labels = 0;
    let mut part = String::new();
    for _ in 0..3 {
        statement(s, &mut part, 1, &mut labels);
    }
    // It does not call itself.
    let part = part.replace("        call part\n", "").replace("        uncall part\n", "");
    let _ = write!(out, "        proc part\n{part}        ret part\nmain: start\n");
    for _ in 0..5 + s.below(20) {
        statement(s, &mut out, 0, &mut labels);
    }
    out.push_str("        finish\n");
    out
}

/// Gradients are the transpose of tangents, of the run forward and of the gradient run backward.
#[test]
fn random_programs_on_doubles_are_transposed() {
    let mut s = Source::seeded(7);
    let mut cells: Vec<Cell> = (1..=8).map(cell).collect();
    cells.extend((0..8).map(Cell::Word));
    let (mut met, mut moved) = (0, 0);
    for _ in 0..300 {
        let text = floating(&mut s);
        let program = load(&text);
        let uniform = |s: &mut Source| s.between(-1000, 1000) as f64 / 500.0 + 1e-3;
        let mut m = machine(&program);
        for n in 1..=8 {
            m.put(VALUE, cell(n), uniform(&mut s).to_bits());
        }
        let start = m.snapshot();
        if m.run(Some(100_000)) != Outcome::Finished {
            continue;
        }
        let finish = m.snapshot();
        let double = |m: &Machine, lane: usize, cell: Cell| f64::from_bits(m.get(lane, cell));
        for level in [0, 1] {
            // The program that is differentiated: forward on values, or backward on values and gradient words.
            let (lanes, tangents, gradients, first): (&[usize], _, _, _) = match level {
                0 => (&[VALUE], AdMode::Tangent, AdMode::Gradient, Direction::Forward),
                _ => (&[VALUE, GRADIENT], AdMode::GradientTangent, AdMode::SecondGradient, Direction::Backward),
            };
            let up = if level == 0 { GRADIENT } else { SECOND };
            let variables: Vec<(usize, Cell)> = lanes.iter().flat_map(|l| cells.iter().map(|c| (*l, *c))).collect();
            m.restore(if level == 0 { &start } else { &finish });
            (1..LANES).for_each(|lane| m.clear_lane(lane));
            variables.iter().filter(|v| v.0 != VALUE).for_each(|v| m.put(v.0, v.1, uniform(&mut s).to_bits()));
            let u: Vec<f64> = variables.iter().map(|_| uniform(&mut s)).collect();
            let w: Vec<f64> = variables.iter().map(|_| uniform(&mut s)).collect();
            variables.iter().zip(&u).for_each(|(v, x)| m.put(v.0 + SECOND, v.1, x.to_bits()));
            m.set_ad_mode(tangents);
            m.begin(first);
            if end(&mut m).is_err() {
                break;
            }
            let pushed: Vec<f64> = variables.iter().map(|v| double(&m, v.0 + SECOND, v.1)).collect();
            let lower: Vec<f64> = variables.iter().map(|v| double(&m, v.0, v.1)).collect();
            (1..LANES).for_each(|lane| m.clear_lane(lane));
            variables.iter().zip(&lower).for_each(|(v, x)| m.put(v.0, v.1, x.to_bits()));
            variables.iter().zip(&w).for_each(|(v, x)| m.put(v.0 + up, v.1, x.to_bits()));
            m.set_ad_mode(gradients);
            m.begin(first.flip());
            if end(&mut m).is_err() {
                break;
            }
            let pulled: Vec<f64> = variables.iter().map(|v| double(&m, v.0 + up, v.1)).collect();
            let dot = |a: &[f64], b: &[f64]| {
                let terms = a.iter().zip(b).map(|(a, b)| a * b);
                terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()))
            };
            let ((left, a), (right, b)) = (dot(&w, &pushed), dot(&pulled, &u));
            assert!((left - right).abs() <= 1e-9 * (a + b), "level {level}: {left:e} {right:e} of {a:e}\n{text}");
            met += 1;
            moved += usize::from(pulled.iter().zip(&w).filter(|(a, b)| a != b).count() > 4);
        }
    }
    assert!(met > 500 && moved > 450, "{met} {moved}");
}
