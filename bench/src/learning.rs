//! The cases of statistics and learning, of an integrated equation and of a determinant: all add one number to the first argument, and their inputs
//! are generated.

use crate::cases::{Case, Size};
use crate::inputs::{self, Data};
use crate::reference;

/// The names of the cases, each with the name of its workload.
pub(crate) const NAMES: [(&str, &str); 10] = [
    ("logsumexp-1000", "logsumexp"),
    ("logsumexp", "logsumexp"),
    ("k-means", "k-means"),
    ("least-squares", "least-squares"),
    ("logistic", "logistic"),
    ("lstm", "lstm"),
    ("attention", "attention"),
    ("matmul", "matmul"),
    ("brusselator", "brusselator"),
    ("determinant", "determinant"),
];

/// A case by its name, if it is one of these.
pub(crate) fn case(name: &str, size: Size) -> Option<Case> {
    let full = size != Size::Quick;
    let pick = |published: usize, quick: usize| if full { published } else { quick };
    let new = |size: String, n: usize, data: Vec<Data>| Case {
        published: reference::computed(name, n),
        ..Case::new(name, size, n, data)
    };
    Some(match name {
        "logsumexp" | "logsumexp-1000" => {
            let n = if name == "logsumexp" { pick(1_000_000, 100_000) } else { 1000 };
            let data = inputs::logsumexp(n);
            Case { published: reference::logsumexp(&data), ..new(format!("n = {n}"), n, data) }
        }
        "k-means" => {
            let n = pick(10_000, 1000);
            // A point that changes to another centre within the differences would be an error of theirs.
            Case { step: 1e-6, ..new(format!("n = {n}, d = 16, K = 20"), n, inputs::k_means(n, 16, 20)) }
        }
        "least-squares" => {
            let n = pick(10_000, 1000);
            new(format!("{n} × 64"), n, inputs::least_squares(n, 64))
        }
        "logistic" => {
            let n = pick(10_000, 1000);
            new(format!("{n} × 32"), n, inputs::logistic(n, 32))
        }
        "lstm" => {
            let c = pick(1024, 128);
            new(format!("l = 2, b = 14, c = {c}"), c, inputs::lstm(2, 14, c))
        }
        "attention" => {
            let (n, d) = (pick(256, 64), pick(64, 32));
            new(format!("{n} tokens, d = {d}"), n, inputs::attention(n, d))
        }
        "matmul" => {
            let n = pick(256, 64);
            new(format!("{n} × {n}"), n, inputs::matmul(n))
        }
        "brusselator" => {
            let steps = pick(1000, 100);
            new(format!("{steps} steps, 100 places"), steps, inputs::brusselator(100, steps as i64))
        }
        "determinant" => {
            let n = pick(8, 6);
            new(format!("{n} × {n}"), n, inputs::determinant(n))
        }
        _ => return None,
    })
}

/// The arrays for C that follow the arguments: sizes that lengths do not tell, and then room for what is in between.
pub(crate) fn more_arrays(workload: &str, data: &[Data]) -> Vec<Vec<u64>> {
    let shape = |i: usize| if let Some(Data::Reals(shape, _)) = data.get(i) { &shape[..] } else { &[] };
    let size = |n: usize| vec![n as u64];
    let room = |n: usize| vec![0; n];
    match (workload, shape(1)) {
        ("k-means", [d, _]) => vec![size(*d)],
        ("lstm", [b, _, l]) => {
            let count = shape(4).get(1).copied().unwrap_or(1);
            vec![size(*b), room((7 * l + 1) * b * (count - 1))]
        }
        ("attention", [d, n]) => vec![size(*d), room(3 * d * n + 2 * n * n)],
        ("matmul", [n, m]) => vec![size(*n), room(n * shape(2).get(1).copied().unwrap_or(0)), room(n * m)],
        ("brusselator", [n]) => {
            let steps = if let Some(Data::Int(steps)) = data.get(5) { *steps as usize } else { 0 };
            vec![room(2 * n * (steps + 1))]
        }
        // A minor and its gradient for each size.
        ("determinant", [n, _]) => vec![size(*n), room((1..*n).map(|m| 2 * m * m).sum())],
        _ => Vec::new(),
    }
}
