//! Loops that update arrays in place: with derivatives, too, they take memory and time in proportion to their turns.

use pendula_isa::sample;

use super::{Limits, call, int, limits, module};

const LOOPS: &str = r"
def element [n] (xs: [n]f64) : f64 =
  let ys = loop ys = copy xs for i < n - 1 do
    ys with [i + 1] = ys[i] * 0.5 + ys[i + 1]
  in ys[n - 1]
def two [n] (xs: [n]f64) : f64 =
  let b = map (\x -> x * x) xs
  let (a, b) = loop (a, b) = (copy xs, b) for i < n - 1 do
    let v = if i % 2 == 0 then a[i] else b[i]
    in if i % 3 == 0 then (a with [i + 1] = v * 0.5 + a[i + 1], b) else (a, b with [i + 1] = v * 0.25 * b[i + 1])
  in a[n - 1] + b[n - 1]
def grid [n] (xs: [n]f64) : f64 =
  let g = loop g = replicate n (replicate 8 0.0) for i < n - 1 do
    g with [i + 1, i % 8] = g[i, i % 8] * 0.5 + xs[i]
  in g[n - 1, (n - 2) % 8]
def marks [n] (xs: [n]f64) : f64 =
  let (_, s) = loop (seen, s) = (replicate n false, 0.0) for i < n do
    let j = (i * 7) % n
    in if seen[j] then (seen, s) else (seen with [j] = true, s + xs[j] * xs[j])
  in s
def scattered [n] (xs: [n]f64) : f64 =
  let ys = loop ys = copy xs for i < n - 2 do
    scatter ys [i + 1, i + 2, -1] [ys[i] * 0.5, ys[i + 2] + 1.0, 7.0]
  in ys[n - 1] + ys[n - 2]
def record [n] (xs: [n]f64) : f64 =
  let r = loop r = {a = copy xs, k = 0i64, done = false} while !r.done do
    if r.k >= n - 1 then r with done = true
    else {a = r.a with [r.k + 1] = f64.sin r.a[r.k] + r.a[r.k + 1], k = r.k + 1, done = false}
  in r.a[n - 1]
def whole [n] (xs: [n]f64) : f64 =
  let c = loop c = replicate n 0i64 for i < n do c with [i] = (if i > 0 then c[i - 1] else 0) + i % 3
  in loop s = 0.0 for i < n do s + xs[i] * f64.i64 (c[i] % 5)
def inner [n] (xs: [n]f64) : f64 =
  let ys = loop ys = copy xs for i < n do
    loop ys for j < 3 do
      if j == i % 3 then ys with [i] = ys[i] * 1.5 else ys
  in f64.sum ys
def both [n] (xs: [n]f64) : f64 =
  let m = loop m = (replicate n false, replicate n 0.0) for i < n - 1 do
    if m.0[i] then m else (m.0 with [i] = true, m.1 with [i + 1] = m.1[i] * 0.5 + xs[i])
  in m.1[n - 1]
def points n = map (\i -> f64.i64 (i + 1) / f64.i64 n) (iota n)
";

const NAMES: [&str; 9] = ["element", "two", "grid", "marks", "scattered", "record", "whole", "inner", "both"];

/// One entry point for each loop and each of these texts.
fn text(entries: &[(&str, &str)]) -> String {
    let mut text = String::from(LOOPS);
    for name in NAMES {
        for (prefix, body) in entries {
            text += &format!("entry {prefix}_{name} (n: i64) : f64 = {}\n", body.replace('$', name));
        }
    }
    text
}

#[test]
fn derivatives_of_loops_that_update_agree() {
    let module = module(&text(&[
        ("vjp", r"let g = vjp $ (points n) 1.0 in f64.sum (map (\i -> g[i] * f64.i64 (1 + i % 4)) (iota n))"),
        ("jvp", r"jvp $ (points n) (map (\i -> f64.i64 (1 + i % 4)) (iota n))"),
        ("ahead", r"$ (map2 (\x i -> x + 1e-6 * f64.i64 (1 + i % 4)) (points n) (iota n))"),
        ("behind", r"$ (map2 (\x i -> x - 1e-6 * f64.i64 (1 + i % 4)) (points n) (iota n))"),
    ]));
    for name in NAMES {
        for n in [3, 9, 24] {
            let [vjp, jvp, ahead, behind] = ["vjp", "jvp", "ahead", "behind"]
                .map(|prefix| call(&module, &format!("{prefix}_{name}"), vec![int(n)]).plain_real().expect("a number"));
            let difference = (ahead - behind) / 2e-6;
            assert!((vjp - jvp).abs() <= 1e-12 * jvp.abs().max(1.0), "{name} {n}: {vjp} {jvp}");
            assert!((vjp - difference).abs() <= 1e-7 * jvp.abs().max(1.0), "{name} {n}: {vjp} {difference}");
        }
    }
}

#[test]
fn loops_that_update_take_memory_in_proportion() {
    let module =
        module(&text(&[("vjp", "f64.sum (vjp $ (points n) 1.0)"), ("jvp", "jvp $ (points n) (replicate n 1.0)")]));
    // A copy of one array a turn would take 1.6 GB; of one of half the length, 400 MB.
    let n = if sample::all() { 14_000 } else { 7_000 };
    let few = Limits { memory: 64 << 20, ..limits() };
    for name in NAMES {
        let [vjp, jvp] = ["vjp", "jvp"].map(|prefix| {
            let entry = module.entry(&format!("{prefix}_{name}")).expect("an entry point");
            match module.call(entry, vec![int(n)], few.clone()) {
                Ok((value, _)) => value.plain_real().expect("a number"),
                Err(failure) => panic!("{prefix} {name}: {:?}", failure.diagnostic()),
            }
        });
        assert!((vjp - jvp).abs() <= 1e-9 * jvp.abs(), "{name}: {vjp} {jvp}");
    }
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn second_derivatives_of_loops_that_update_agree() {
    let module = module(&text(&[
        ("rr", r"f64.sum (vjp (\x -> f64.sum (vjp $ x 1.0)) (points n) 1.0)"),
        ("fr", r"f64.sum (jvp (\x -> vjp $ x 1.0) (points n) (replicate n 1.0))"),
        ("rf", r"f64.sum (vjp (\x -> jvp $ x (replicate n 1.0)) (points n) 1.0)"),
        ("ff", r"jvp (\x -> jvp $ x (replicate n 1.0)) (points n) (replicate n 1.0)"),
    ]));
    // A copy of one array a turn would take 130 MB and more. Of these, the way back through a way back keeps one.
    let few = Limits { memory: 40 << 20, ..limits() };
    let kept = ["two", "scattered", "record", "both"];
    for name in NAMES {
        for n in [3, 10, 4000] {
            let all = ["rr", "fr", "rf", "ff"].map(|prefix| {
                let entry = module.entry(&format!("{prefix}_{name}")).expect("an entry point");
                let limits = if prefix == "rr" && kept.contains(&name) { limits() } else { few.clone() };
                let n = if prefix == "rr" && kept.contains(&name) { n.min(10) } else { n };
                match module.call(entry, vec![int(n)], limits) {
                    Ok((value, _)) => value.plain_real().expect("a number"),
                    Err(failure) => panic!("{prefix} {name} {n}: {:?}", failure.diagnostic()),
                }
            });
            let wanted = all[3];
            let all = if kept.contains(&name) && n > 10 { &all[1..] } else { &all[..] };
            assert!(all.iter().all(|x| (x - wanted).abs() <= 1e-9 * wanted.abs().max(1.0)), "{name} {n}: {all:?}");
        }
    }
}
