//! Inputs of the workloads, the same for programs in Nil and in C: made by rules, from seeds, or read from the files of the benchmark ADBench.
//!
//! Arrays lie column by column. Of a complex number the real part stands before the imaginary one.

use std::f64::consts::PI;

use pendula_compiler::nil::sema::{Argument, Number};

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    /// A number.
    Real(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A whole number.
    Int(i64),
    /// An array of this shape.
    Reals(Vec<usize>, Vec<f64>),
    /// A vector of complex numbers.
    Complexes(Vec<f64>),
    /// An array of whole numbers.
    Ints(Vec<usize>, Vec<i64>),
    /// A matrix in compressed columns.
    Sparse(Sparse),
}

/// A matrix in compressed columns, indices counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sparse {
    /// Rows.
    pub(crate) m: usize,
    /// Columns.
    pub(crate) n: usize,
    /// Where columns begin, and the end.
    pub(crate) colptr: Vec<i64>,
    /// The row of each entry, ascending in a column.
    pub(crate) rowval: Vec<i64>,
    /// Entries; two numbers for each if they are complex.
    pub(crate) nzval: Vec<f64>,
}

fn floats(x: &[f64]) -> Vec<Number> {
    x.iter().map(|x| Number::Float(*x)).collect()
}

fn ints(x: &[i64]) -> Vec<Number> {
    x.iter().map(|x| Number::Int(*x)).collect()
}

impl Data {
    /// As the compiler takes it.
    pub(crate) fn argument(&self) -> Argument {
        match self {
            Data::Real(x) => Argument::Number(Number::Float(*x)),
            Data::Complex(re, im) => Argument::Tuple([re, im].map(|x| Argument::Number(Number::Float(*x))).to_vec()),
            Data::Int(n) => Argument::Number(Number::Int(*n)),
            Data::Reals(shape, x) => Argument::Array(shape.clone(), floats(x)),
            Data::Complexes(x) => Argument::Array(vec![x.len() / 2], floats(x)),
            Data::Ints(shape, n) => Argument::Array(shape.clone(), ints(n)),
            Data::Sparse(a) => {
                let size = |n: usize| Argument::Number(Number::Int(n as i64));
                let vector = |n: &[i64]| Argument::Array(vec![n.len()], ints(n));
                let values = Argument::Array(vec![a.rowval.len()], floats(&a.nzval));
                Argument::Tuple(vec![size(a.m), size(a.n), vector(&a.colptr), vector(&a.rowval), values])
            }
        }
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A multiple of 2⁻⁵³ from 0 up to, but not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From −1 up to 1.
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// So many numbers from −1 up to 1.
    pub(crate) fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.signed()).collect()
    }
}

/// A random matrix: column by column, each place holds an entry with the probability `density`, whose numbers follow at once.
pub(crate) fn sparse(m: usize, n: usize, density: f64, seed: u64, complex: bool) -> Sparse {
    let mut random = SplitMix64(seed);
    let mut a = Sparse { m, n, colptr: vec![1], rowval: Vec::new(), nzval: Vec::new() };
    for _ in 0..n {
        for i in 1..=m {
            if random.unit() < density {
                a.rowval.push(i as i64);
                let parts = if complex { 2 } else { 1 };
                a.nzval.extend(random.vector(parts));
            }
        }
        a.colptr.push(a.rowval.len() as i64 + 1);
    }
    a
}

/// `bessel.nil`: 0, an order and an argument.
pub(crate) fn bessel(order: i64, z: f64) -> Vec<Data> {
    vec![Data::Real(0.0), Data::Int(order), Data::Real(z)]
}

/// Edges of the Petersen graph, vertices counted from 0.
pub(crate) const PETERSEN: [[i64; 2]; 15] = [
    [0, 1],
    [0, 4],
    [0, 5],
    [1, 2],
    [1, 6],
    [2, 3],
    [2, 7],
    [3, 4],
    [3, 8],
    [4, 9],
    [5, 7],
    [5, 8],
    [6, 8],
    [6, 9],
    [7, 9],
];

/// `embedding.nil`: the Petersen graph in k dimensions; coordinate j of vertex i is cos(1 + i + 0.7 j²), both counted from 0.
pub(crate) fn embedding(k: usize) -> Vec<Data> {
    let x = (0..10).flat_map(|i| (0..k).map(move |j| (1.0 + i as f64 + 0.7 * (j * j) as f64).cos())).collect();
    let all = (0..10).flat_map(|i| (i + 1..10).map(move |j| [i, j]));
    let others: Vec<[i64; 2]> = all.filter(|pair| !PETERSEN.contains(pair)).collect();
    let pairs = |p: &[[i64; 2]]| Data::Ints(vec![2, p.len()], p.iter().flatten().map(|v| v + 1).collect());
    vec![Data::Real(0.0), Data::Reals(vec![k, 10], x), pairs(&PETERSEN), pairs(&others)]
}

/// `norm.nil`: a vector of n numbers from −1 to 1, seed 1.
pub(crate) fn norm(n: usize) -> Vec<Data> {
    vec![Data::Real(0.0), Data::Real(0.0), Data::Reals(vec![n], SplitMix64(1).vector(n))]
}

/// `complex-log.nil`: log(3 + 4i).
pub(crate) fn complex_log() -> Vec<Data> {
    vec![Data::Complex(0.0, 0.0), Data::Complex(3.0, 4.0)]
}

/// `sparse-dot.nil`: n×n matrices, seeds 1 and 2.
pub(crate) fn sparse_dot(n: usize, density: f64) -> Vec<Data> {
    let matrix = |seed| Data::Sparse(sparse(n, n, density, seed, false));
    vec![Data::Real(0.0), matrix(1), matrix(2)]
}

/// `sparse-matvec.nil`: an n×n matrix of complex numbers, seed 3, and a vector, seed 4.
pub(crate) fn sparse_matvec(n: usize, density: f64) -> Vec<Data> {
    let a = Data::Sparse(sparse(n, n, density, 3, true));
    vec![Data::Complexes(vec![0.0; 2 * n]), a, Data::Complexes(SplitMix64(4).vector(2 * n))]
}

/// `leapfrog.nil`: the bodies of `solar-system.csv`, and so many steps of 2⁻⁹ years.
pub(crate) fn leapfrog(steps: i64) -> Vec<Data> {
    let lines = include_str!("solar-system.csv").lines().filter(|l| !l.starts_with('#'));
    let bodies: Vec<Vec<f64>> =
        lines.map(|l| l.split(',').map(|cell| cell.parse().expect("a number")).collect()).collect();
    let columns = |from: usize, to: usize| bodies.iter().flat_map(|b| b[from..to].to_vec()).collect();
    let n = bodies.len();
    vec![
        Data::Reals(vec![2, n], columns(1, 3)),
        Data::Reals(vec![2, n], columns(3, 5)),
        Data::Reals(vec![n], columns(0, 1)),
        Data::Real(1.0 / 512.0),
        Data::Int(steps),
    ]
}

/// `unitary.nil`: an n×m matrix of numbers from −1 to 1, and then m (m − 1)/2 angles from 0 to 2π, seed 5.
pub(crate) fn unitary(n: usize, m: usize) -> Vec<Data> {
    let mut random = SplitMix64(5);
    let x = random.vector(n * m);
    let angles: Vec<f64> = (0..m * (m - 1) / 2).map(|_| 2.0 * PI * random.unit()).collect();
    vec![Data::Reals(vec![n, m], x), Data::Reals(vec![angles.len()], angles)]
}

/// `gmm.nil`, from a file of ADBench: d, K and n; α; μ; icf; x; γ and m.
pub(crate) fn gmm(file: &str) -> Vec<Data> {
    let mut words = file.split_whitespace();
    let mut number = || words.next().expect("a number").parse::<f64>().expect("a number");
    let [d, k, n] = [(); 3].map(|()| number() as usize);
    let mut array = |shape: Vec<usize>| {
        let count = shape.iter().product();
        Data::Reals(shape, (0..count).map(|_| number()).collect())
    };
    let mut out = vec![Data::Real(0.0), array(vec![k]), array(vec![d, k])];
    out.extend([array(vec![d * (d + 1) / 2, k]), array(vec![d, n])]);
    out.extend([Data::Real(number()), Data::Int(number() as i64)]);
    out
}

/// `ba.nil`, from a file of ADBench: n, m and p; a camera, a point, a weight and a feature, of which all others are copies. Observation i,
/// counted from 0, is of point i mod m by camera i mod n. With `apart`, each observation has a camera and a point of its own.
pub(crate) fn ba(file: &str, apart: bool) -> Vec<Data> {
    let mut words = file.split_whitespace();
    let mut number = || words.next().expect("a number").parse::<f64>().expect("a number");
    let [n, m, p] = [(); 3].map(|()| number() as usize);
    let (n, m) = if apart { (p, p) } else { (n, m) };
    let mut copies = |rows: usize, count: usize| {
        let one: Vec<f64> = (0..rows).map(|_| number()).collect();
        Data::Reals(if rows == 1 { vec![count] } else { vec![rows, count] }, one.repeat(count))
    };
    let (cams, points, weights, features) = (copies(11, n), copies(3, m), copies(1, p), copies(2, p));
    let observed = (0..p).flat_map(|i| [i % n + 1, i % m + 1]).map(|k| k as i64).collect();
    let zeros = |shape: Vec<usize>| Data::Reals(shape.clone(), vec![0.0; shape.iter().product()]);
    vec![zeros(vec![2, p]), zeros(vec![p]), cams, points, weights, Data::Ints(vec![2, p], observed), features]
}

/// `logsumexp.nil`: n numbers from −5 to 5, seed 6.
pub(crate) fn logsumexp(n: usize) -> Vec<Data> {
    let x = SplitMix64(6).vector(n).iter().map(|x| 5.0 * x).collect();
    vec![Data::Real(0.0), Data::Reals(vec![n], x)]
}

/// `k-means.nil`: n points in d dimensions and k centres of numbers from −1 to 1, seed 7.
pub(crate) fn k_means(n: usize, d: usize, k: usize) -> Vec<Data> {
    let mut random = SplitMix64(7);
    let [points, centres] = [n, k].map(|count| Data::Reals(vec![d, count], random.vector(d * count)));
    vec![Data::Real(0.0), points, centres]
}

/// `least-squares.nil`: an n×m matrix, m unknowns and n numbers on the right from −1 to 1, seed 8.
pub(crate) fn least_squares(n: usize, m: usize) -> Vec<Data> {
    let mut random = SplitMix64(8);
    let a = Data::Reals(vec![n, m], random.vector(n * m));
    let [x, b] = [m, n].map(|count| Data::Reals(vec![count], random.vector(count)));
    vec![Data::Real(0.0), a, x, b]
}

/// `lstm.nil`: parameters of l layers of b cells, extra parameters and the initial state from −1 to 1, and then a sequence of c times b
/// numbers 0 or 1, each as probable, seed 9.
pub(crate) fn lstm(l: usize, b: usize, c: usize) -> Vec<Data> {
    let mut random = SplitMix64(9);
    let mut array = |shape: Vec<usize>| {
        let count = shape.iter().product();
        Data::Reals(shape, random.vector(count))
    };
    let mut out = vec![Data::Real(0.0), array(vec![b, 8, l]), array(vec![b, 3]), array(vec![b, 2, l])];
    let sequence = (0..b * c).map(|_| if random.unit() < 0.5 { 0.0 } else { 1.0 }).collect();
    out.push(Data::Reals(vec![b, c], sequence));
    out
}

/// `brusselator.nil`: u = 1 + sin 2πx and v = 3 at n places x from 0 to 1; a = 1, b = 3 and a diffusion of 1/50, over the square of the places'
/// distance; so many steps of 1/500.
pub(crate) fn brusselator(n: usize, steps: i64) -> Vec<Data> {
    let last = (n - 1) as f64;
    let u = (0..n).map(|i| 1.0 + (2.0 * PI * i as f64 / last).sin()).collect();
    vec![
        Data::Real(0.0),
        Data::Reals(vec![n], u),
        Data::Reals(vec![n], vec![3.0; n]),
        Data::Reals(vec![3], vec![1.0, 3.0, last * last / 50.0]),
        Data::Real(1.0 / 500.0),
        Data::Int(steps),
    ]
}

/// `determinant.nil`: an n×n matrix of numbers from −1 to 1, seed 13.
pub(crate) fn determinant(n: usize) -> Vec<Data> {
    vec![Data::Real(0.0), Data::Reals(vec![n, n], SplitMix64(13).vector(n * n))]
}

/// `logistic.nil`: an n×m matrix of numbers from −1 to 1, m weights from −1 to 1, and then n classes −1 or 1, each as probable, seed 10.
pub(crate) fn logistic(n: usize, m: usize) -> Vec<Data> {
    let mut random = SplitMix64(10);
    let x = Data::Reals(vec![n, m], random.vector(n * m));
    let w = Data::Reals(vec![m], random.vector(m));
    let class = (0..n).map(|_| if random.unit() < 0.5 { -1.0 } else { 1.0 }).collect();
    vec![Data::Real(0.0), x, w, Data::Reals(vec![n], class)]
}

/// `attention.nil`: queries, keys and values of n tokens, d numbers each, from −1 to 1, seed 11.
pub(crate) fn attention(n: usize, d: usize) -> Vec<Data> {
    let mut random = SplitMix64(11);
    let mut out = vec![Data::Real(0.0)];
    out.extend((0..3).map(|_| Data::Reals(vec![d, n], random.vector(d * n))));
    out
}

/// `matmul.nil`: two n×n matrices of numbers from −1 to 1, seed 12.
pub(crate) fn matmul(n: usize) -> Vec<Data> {
    let mut random = SplitMix64(12);
    let mut out = vec![Data::Real(0.0)];
    out.extend((0..2).map(|_| Data::Reals(vec![n, n], random.vector(n * n))));
    out
}
