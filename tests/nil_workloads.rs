//! The programs of the benchmarks, `benches/workloads/*.nil`: their values and gradients are compared with published numbers, closed forms and
//! finite differences, on inputs of moderate size.

use pendula::arguments;
use pendula::compiler::compile::{Options, compile};
use pendula::compiler::nil::sema::Argument;
use pendula::compiler::passes::Switches;
use pendula::grad::to_end;
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::values::{self, Location};
use pendula::vm::gradient::forward;
use pendula::vm::{AdMode, Config, Machine, Program};

use crate::inputs::{self, Data, Sparse};

/// A program with its arguments.
struct Workload {
    program: Program,
}

/// What a run forward and back makes: results, and the gradient of their scalar product with `seed`.
struct Report {
    results: Vec<f64>,
    gradient: Vec<f64>,
}

macro_rules! workload {
    ($name:literal, $arguments:expr) => {
        workload!($name, $arguments, None)
    };
    ($name:literal, $arguments:expr, $entry:expr) => {
        Workload::new(include_str!(concat!("../benches/workloads/", $name, ".nil")), $arguments, $entry)
    };
}

fn given(data: &[Data]) -> Vec<Argument> {
    data.iter().map(Data::argument).collect()
}

impl Workload {
    fn new(source: &str, arguments: Vec<Argument>, entry: Option<&str>) -> [Workload; 2] {
        [0, 2].map(|level| {
            let entry = entry.map(str::to_string);
            let options =
                Options { arguments: arguments.clone(), entry, switches: Switches::level(level), ..Options::default() };
            let compiled = compile("workload.nil", source.to_string(), &options);
            assert!(compiled.diagnostics.is_empty(), "{:#?}", compiled.diagnostics);
            Workload { program: Program::new(compiled.module.expect("a module"), true).expect("a sound module") }
        })
    }

    /// The addresses of data symbols' words.
    fn words(&self, names: &[&str]) -> Vec<usize> {
        let place = |name: &&str| match values::find(self.program.module(), name).expect("a symbol").at {
            Location::Memory { start, len, .. } => start as usize..(start + len) as usize,
            Location::Register(_) | Location::Cell(_) => panic!("{name} is not in the data"),
        };
        names.iter().flat_map(place).collect()
    }

    /// Runs forward and back. Word i of `results` has the gradient `seed(i)`.
    fn run(&self, results: &[&str], wrt: &[&str], seed: impl Fn(usize) -> f64) -> Report {
        let mem = self.program.module().data.len() as u64 + 100_000;
        let mut machine =
            Machine::new(&self.program, &Config { mem: Some(mem), ..Config::default() }).expect("a machine");
        let number = |machine: &Machine<'_>, lane, at| f64::from_bits(machine.lane_word(lane, at));
        forward(&mut machine, &mut to_end).expect("it ends");
        let out = self.words(results);
        let values = out.iter().map(|at| number(&machine, 0, *at)).collect();
        machine.set_ad_mode(AdMode::Gradient);
        for (i, at) in out.iter().enumerate() {
            machine.set_lane_word(GRADIENT, *at, seed(i).to_bits());
        }
        machine.begin(Direction::Backward);
        to_end(&mut machine).expect("it ends");
        let gradient = self.words(wrt).into_iter().map(|at| number(&machine, GRADIENT, at)).collect();
        Report { results: values, gradient }
    }
}

/// For several results: no two have the same weight.
fn wave(i: usize) -> f64 {
    (i as f64 + 1.0).cos()
}

fn one(_: usize) -> f64 {
    1.0
}

/// How gradients are published: the sum of g_i cos(i), i from 1.
fn checksum(g: &[f64]) -> f64 {
    g.iter().enumerate().map(|(i, g)| g * wave(i)).sum()
}

/// All agree up to this part of the largest.
fn close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let size = wanted.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    for (i, (f, w)) in found.iter().zip(wanted).enumerate() {
        assert!((f - w).abs() <= tolerance * size, "{what}, {i}: {f}, not {w}");
    }
}

#[test]
fn bessel() {
    // NIST Digital Library of Mathematical Functions, 10.2: J₂ and its derivative.
    for (z, value, slope) in [
        (0.25, 0.007_771_889_285_962_677, 0.061_850_863_035_025_51),
        (1.0, 0.114_903_484_931_900_48, 0.210_243_615_881_132_56),
        (2.5, 0.446_059_058_439_617_24, 0.140_246_855_712_580_26),
        (5.0, 0.046_565_116_277_752_214, -0.346_205_184_102_566_1),
    ] {
        for w in workload!("bessel", given(&inputs::bessel(2, z))) {
            let report = w.run(&["out!"], &["z"], one);
            // The series is cut off.
            assert!((report.results[0] - value).abs() < 1e-8, "J({z}) = {}", report.results[0]);
            assert!((report.gradient[0] - slope).abs() < 1e-7, "J'({z}) = {}", report.gradient[0]);
        }
    }
}

#[test]
fn embedding() {
    // Loss, and checksum of the gradient, computed independently.
    for (k, loss, gradient) in [
        (2, 1.039_407_923_294_573_4, 0.369_248_418_861_482_1),
        (4, 1.903_848_214_726_715_5, -0.303_641_018_491_850_55),
        (5, 1.727_751_709_147_161, 0.408_308_651_233_153_74),
        (6, 1.827_812_844_340_350_3, 0.395_313_597_938_558_1),
        (8, 2.657_167_733_006_548_6, -0.920_739_518_204_422_2),
        (10, 3.237_065_667_065_013_3, 0.106_735_194_873_349_98),
    ] {
        for w in workload!("embedding", given(&inputs::embedding(k))) {
            let report = w.run(&["loss!"], &["x"], one);
            close(&report.results, &[loss], 1e-14, "loss");
            let found = checksum(&report.gradient);
            assert!((found - gradient).abs() < 1e-13, "{k} dimensions: {found}, not {gradient}");
        }
    }
}

#[test]
fn norm_and_complex_log() {
    let arguments = inputs::norm(1000);
    let Data::Reals(_, x) = &arguments[2] else { panic!("a vector") };
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    for w in workload!("norm", given(&arguments)) {
        let report = w.run(&["norm!"], &["x"], one);
        close(&report.results, &[length], 1e-14, "norm");
        close(&report.gradient, &x.iter().map(|x| x / length).collect::<Vec<_>>(), 1e-14, "unit vector");
    }
    for w in workload!("complex-log", given(&inputs::complex_log())) {
        let (re, im) = (["y!.re"], ["y!.im"]);
        let [real, imaginary] = [&re, &im].map(|y| w.run(y, &["x.re", "x.im"], one));
        close(&[real.results[0], imaginary.results[0]], &[5_f64.ln(), (4.0_f64 / 3.0).atan()], 1e-15, "log");
        close(&real.gradient, &[0.12, 0.16], 1e-15, "real part");
        close(&imaginary.gradient, &[-0.16, 0.12], 1e-15, "imaginary part");
    }
}

/// Entries: row and column counted from 0, and where the entry stands.
fn entries(a: &Sparse) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a.n).flat_map(move |j| {
        let (from, to) = (a.colptr[j] as usize - 1, a.colptr[j + 1] as usize - 1);
        (from..to).map(move |k| (a.rowval[k] as usize - 1, j, k))
    })
}

#[test]
fn sparse_dot() {
    let arguments = inputs::sparse_dot(100, 0.1);
    let [_, Data::Sparse(a), Data::Sparse(b)] = &arguments[..] else { panic!("two matrices") };
    let mut dense = vec![[None; 2]; a.m * a.n];
    for (side, matrix) in [a, b].into_iter().enumerate() {
        entries(matrix).for_each(|(i, j, k)| dense[i + j * a.m][side] = Some(k));
    }
    let (mut sum, mut of_a, mut of_b) = (0.0, vec![0.0; a.nzval.len()], vec![0.0; b.nzval.len()]);
    for place in dense {
        if let [Some(k), Some(l)] = place {
            sum += a.nzval[k] * b.nzval[l];
            (of_a[k], of_b[l]) = (b.nzval[l], a.nzval[k]);
        }
    }
    assert!(of_a.iter().any(|x| *x != 0.0) && of_a.contains(&0.0));
    for w in workload!("sparse-dot", given(&arguments)) {
        let report = w.run(&["r!"], &["A.nzval", "B.nzval"], one);
        close(&report.results, &[sum], 1e-13, "product");
        close(&report.gradient, &[of_a.as_slice(), &of_b].concat(), 1e-14, "gradient");
    }
}

#[test]
fn sparse_matvec() {
    let arguments = inputs::sparse_matvec(100, 0.1);
    let [_, Data::Sparse(a), Data::Complexes(x)] = &arguments[..] else { panic!("a matrix and a vector") };
    let (mut y, mut of_a, mut of_x) = (vec![0.0; 2 * a.m], vec![0.0; a.nzval.len()], vec![0.0; x.len()]);
    for (i, j, k) in entries(a) {
        let ([ar, ai], [xr, xi]) = ([a.nzval[2 * k], a.nzval[2 * k + 1]], [x[2 * j], x[2 * j + 1]]);
        let (gr, gi) = (wave(2 * i), wave(2 * i + 1));
        y[2 * i] += ar * xr - ai * xi;
        y[2 * i + 1] += ar * xi + ai * xr;
        of_a[2 * k] = gr * xr + gi * xi;
        of_a[2 * k + 1] = gi * xr - gr * xi;
        of_x[2 * j] += gr * ar + gi * ai;
        of_x[2 * j + 1] += gi * ar - gr * ai;
    }
    for w in workload!("sparse-matvec", given(&arguments)) {
        let report = w.run(&["y!"], &["A.nzval", "x"], wave);
        close(&report.results, &y, 1e-14, "product");
        close(&report.gradient, &[of_a.as_slice(), &of_x].concat(), 1e-14, "gradient");
    }
}

/// The derivative of `f` with respect to x[k], by differences of the fourth order.
fn slope(x: &[f64], k: usize, h: f64, f: &dyn Fn(&[f64]) -> f64) -> f64 {
    let at = |steps: f64| {
        let mut x = x.to_vec();
        x[k] += steps * h;
        f(&x)
    };
    (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h)
}

#[test]
fn unitary() {
    let (n, m) = (3, 8);
    let arguments = inputs::unitary(n, m);
    let [Data::Reals(_, x), Data::Reals(_, angles)] = &arguments[..] else { panic!("a matrix and a vector") };
    let turned = |numbers: &[f64]| {
        let (mut x, mut angles) = (numbers[..n * m].to_vec(), numbers[n * m..].iter());
        for j in 0..m - 1 {
            for i in (j..m - 1).rev() {
                let (s, c) = angles.next().expect("an angle").sin_cos();
                for l in 0..n {
                    let (a, b) = (x[i * n + l], x[(i + 1) * n + l]);
                    (x[i * n + l], x[(i + 1) * n + l]) = (c * a - s * b, s * a + c * b);
                }
            }
        }
        x
    };
    let all = [x.as_slice(), angles].concat();
    let gradient: Vec<f64> = (0..all.len()).map(|k| slope(&all, k, 1e-3, &|x| checksum(&turned(x)))).collect();
    for w in workload!("unitary", given(&arguments)) {
        let report = w.run(&["x!"], &["x!", "θ"], wave);
        close(&report.results, &turned(&all), 1e-14, "turned");
        close(&report.gradient, &gradient, 1e-9, "gradient");
    }
}

/// Positions and velocities after leapfrog steps: all positions, all velocities, masses, the step.
fn orbits(numbers: &[f64], steps: i64) -> Vec<f64> {
    let bodies = (numbers.len() - 1) / 5;
    let mut state = numbers[..4 * bodies].to_vec();
    let (masses, dt) = (&numbers[4 * bodies..5 * bodies], numbers[5 * bodies]);
    for _ in 0..steps {
        let drift = |state: &mut [f64]| (0..2 * bodies).for_each(|k| state[k] += state[2 * bodies + k] * dt / 2.0);
        drift(&mut state);
        for i in 0..bodies {
            for j in (0..bodies).filter(|j| *j != i) {
                let [dx, dy] = [0, 1].map(|k| state[2 * j + k] - state[2 * i + k]);
                let strength = masses[j] * dt / dx.hypot(dy).powi(3);
                state[2 * bodies + 2 * i] += strength * dx;
                state[2 * bodies + 2 * i + 1] += strength * dy;
            }
        }
        drift(&mut state);
    }
    state
}

fn energy(state: &[f64], masses: &[f64]) -> f64 {
    let (x, v) = state.split_at(2 * masses.len());
    let mut sum = 0.0;
    for i in 0..masses.len() {
        sum += masses[i] * (v[2 * i].powi(2) + v[2 * i + 1].powi(2)) / 2.0;
        for j in 0..i {
            sum -= masses[i] * masses[j] / (x[2 * i] - x[2 * j]).hypot(x[2 * i + 1] - x[2 * j + 1]);
        }
    }
    sum
}

#[test]
fn leapfrog() {
    let steps = 50;
    let arguments = inputs::leapfrog(steps);
    let [Data::Reals(_, x), Data::Reals(_, v), Data::Reals(_, gm), Data::Real(dt), _] = &arguments[..] else {
        panic!("bodies")
    };
    let all = [x.as_slice(), v, gm, &[*dt]].concat();
    let gradient: Vec<f64> = (0..all.len()).map(|k| slope(&all, k, 1e-5, &|x| checksum(&orbits(x, steps)))).collect();
    for w in workload!("leapfrog", given(&arguments)) {
        let report = w.run(&["x!", "v!"], &["x!", "v!", "gm", "dt"], wave);
        close(&report.results, &orbits(&all, steps), 1e-13, "state");
        close(&report.gradient, &gradient, 1e-7, "gradient");
        let [before, after] = [&all, &report.results].map(|s| energy(&s[..4 * gm.len()], gm));
        assert!(((after - before) / before).abs() < 1e-5, "energy {before} becomes {after}");
    }
}

/// The mixture of the file of arguments.
fn mixture() -> Vec<Argument> {
    arguments::parse(include_str!("data/gmm.args").trim()).expect("arguments")
}

fn numbers(argument: &Argument) -> Vec<f64> {
    use pendula::compiler::nil::sema::Number;
    let one = |n: &Number| match n {
        Number::Text(t) => t.parse().expect("a number"),
        Number::Int(n) => *n as f64,
        Number::Float(x) => *x,
    };
    match argument {
        Argument::Number(n) => vec![one(n)],
        Argument::Array(_, n) => n.iter().map(one).collect(),
        Argument::Tuple(parts) | Argument::List(parts) => parts.iter().flat_map(numbers).collect(),
    }
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let greatest = x.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    x.iter().map(|x| (x - greatest).exp()).sum::<f64>().ln() + greatest
}

/// The objective as it is written down: for d dimensions, of α, μ and icf one after the other.
fn likelihood(parameters: &[f64], x: &[f64], d: usize, gamma: f64, m: usize) -> f64 {
    let size = d * (d + 1) / 2;
    let count = parameters.len() / (1 + d + size);
    let (alpha, rest) = parameters.split_at(count);
    let (means, icf) = rest.split_at(d * count);
    let points = x.len() / d;
    // Q[i][j], lower triangular, of a distribution.
    let triangle = |k: usize| {
        let p = &icf[k * size..(k + 1) * size];
        let mut below = p[d..].iter();
        let mut q = vec![vec![0.0; d]; d];
        for j in 0..d {
            q[j][j] = p[j].exp();
            (j + 1..d).for_each(|i| q[i][j] = *below.next().expect("a number"));
        }
        q
    };
    let triangles: Vec<_> = (0..count).map(triangle).collect();
    let trace = |k: usize| icf[k * size..k * size + d].iter().sum::<f64>();
    let mut sum = -((points * d) as f64) / 2.0 * (2.0 * std::f64::consts::PI).ln();
    for point in x.chunks(d) {
        let exponent = |k: usize| {
            let row = |i: usize| -> f64 { (0..d).map(|j| triangles[k][i][j] * (point[j] - means[k * d + j])).sum() };
            alpha[k] + trace(k) - (0..d).map(|i| row(i).powi(2)).sum::<f64>() / 2.0
        };
        sum += log_sum_exp(&(0..count).map(exponent).collect::<Vec<_>>());
    }
    sum -= points as f64 * log_sum_exp(alpha);
    for (k, triangle) in triangles.iter().enumerate() {
        let squares: f64 = triangle.iter().flatten().map(|q| q * q).sum();
        sum += gamma.powi(2) / 2.0 * squares - m as f64 * trace(k);
    }
    let freedom = (d + m + 1) as f64;
    let gammas: f64 = (1..=d).map(|j| libm::lgamma(freedom / 2.0 + (1.0 - j as f64) / 2.0)).sum();
    let gammas = (d * (d - 1)) as f64 / 4.0 * std::f64::consts::PI.ln() + gammas;
    sum - count as f64 * (freedom * d as f64 * (gamma.ln() - 2_f64.ln() / 2.0) - gammas)
}

#[test]
fn mixture_of_normal_distributions() {
    let given = mixture();
    let [_, alpha, mu, icf, x, gamma, _] = &given[..] else { panic!("seven arguments") };
    let parameters = [alpha, mu, icf].map(numbers).concat();
    let (x, gamma) = (numbers(x), numbers(gamma)[0]);
    // Both parities of the degrees of freedom.
    for m in [2, 3] {
        let mut given = given.clone();
        given[6] = Data::Int(m).argument();
        let objective = |p: &[f64]| likelihood(p, &x, 10, gamma, m as usize);
        let gradient: Vec<f64> = (0..parameters.len()).map(|k| slope(&parameters, k, 1e-3, &objective)).collect();
        for w in workload!("gmm", given.clone()) {
            let report = w.run(&["loss!"], &["α", "μ", "icf"], one);
            close(&report.results, &[objective(&parameters)], 1e-13, "objective");
            close(&report.gradient, &gradient, 1e-9, "gradient");
        }
    }
}

const CAMERA: [f64; 11] = [
    -0.758453, -1.109613, -0.845551, 34.556073, 39.676747, 53.881673, 419.194514, 5.864426, -8.518870, 0.087812,
    0.002739,
];
const POINT: [f64; 3] = [7.203245, 0.001144, 3.023326];
const WEIGHT: f64 = 0.417022;
const FEATURE: [f64; 2] = [271.760969, 834.209256];

/// The Jacobian of the residuals, with respect to camera, point and weight.
const ROWS: [[f64; 15]; 2] = [
    [
        -461.446_321_001_599_36,
        178.867_928_014_445_65,
        -19.423_916_472_206_336,
        -3.061_598_342_041_029_3,
        6.392_457_556_226_443,
        -3.340_282_281_299_017,
        0.264_760_249_207_031_45,
        0.417_022,
        0.0,
        243.628_245_660_829_92,
        676.486_778_265_868_5,
        3.061_598_342_041_029_3,
        -6.392_457_556_226_443,
        3.340_282_281_299_017,
        0.242_998_781_633_673_4,
    ],
    [
        -803.743_623_364_879_2,
        -309.595_417_523_448_9,
        604.780_284_662_503_2,
        -15.049_628_170_340_549,
        6.248_486_312_079_824,
        3.219_479_951_604_925_3,
        0.838_196_085_731_330_6,
        0.0,
        0.417_022,
        771.294_945_136_633_3,
        2_141.668_061_159_955,
        15.049_628_170_340_549,
        -6.248_486_312_079_824,
        -3.219_479_951_604_925_3,
        -0.165_381_600_789_601_18,
    ],
];

#[test]
fn residuals_of_an_observation() {
    // Computed independently, for the first observation of ADBench's `ba1`: residuals, and rows of the Jacobian with respect to camera, point and weight.
    let residuals = [0.101_335_837_914_437_75, -0.068_967_765_924_481_06];
    let array = |x: &[f64]| Data::Reals(vec![x.len()], x.to_vec());
    let given = given(&[array(&[0.0; 2]), array(&CAMERA), array(&POINT), Data::Real(WEIGHT), array(&FEATURE)]);
    for w in workload!("ba", given.clone(), Some("reprojection_error!")) {
        for (row, wanted) in ROWS.iter().enumerate() {
            let report = w.run(&["err!"], &["cam", "X", "w"], |i| if i == row { 1.0 } else { 0.0 });
            // A difference of numbers of some hundreds.
            report.results.iter().zip(residuals).for_each(|(f, w)| assert!((f - w).abs() < 1e-12, "{f}, not {w}"));
            close(&report.gradient, wanted, 1e-13, "row of the Jacobian");
        }
    }
}

/// Of several observations at once, each with a camera and a point of its own, two runs backward make the Jacobian; with shared ones, its columns are
/// added up.
#[test]
fn bundle_adjustment() {
    let all = [CAMERA.as_slice(), &POINT, &[WEIGHT], &FEATURE].concat();
    let text = |n: usize| format!("2 3 {n}\n{}", all.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
    let p = 6;
    for w in workload!("ba", given(&inputs::ba(&text(p), true))) {
        for (row, wanted) in ROWS.iter().enumerate() {
            let seed = |i: usize| if i < 2 * p && i % 2 == row { 1.0 } else { 0.0 };
            let report = w.run(&["err!", "werr!"], &["cams", "X", "w"], seed);
            close(&report.results[2 * p..], &[1.0 - WEIGHT * WEIGHT; 6], 1e-15, "weights");
            let block = |from: usize, to: usize| wanted[from..to].repeat(p);
            close(&report.gradient, &[block(0, 11), block(11, 14), block(14, 15)].concat(), 1e-13, "Jacobian");
        }
        let report = w.run(&["werr!"], &["w"], one);
        close(&report.gradient, &[-2.0 * WEIGHT; 6], 1e-15, "weights");
    }
    for w in workload!("ba", given(&inputs::ba(&text(p), false))) {
        let seed = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 0.0 };
        let report = w.run(&["err!"], &["cams", "X"], seed);
        let times = |n: f64, from: usize, to: usize| ROWS[0][from..to].iter().map(|x| n * x).collect::<Vec<_>>();
        let wanted = [times(3.0, 0, 11).repeat(2), times(2.0, 11, 14).repeat(3)].concat();
        close(&report.gradient, &wanted, 1e-13, "gradient of the sum");
    }
}

#[test]
fn files_of_mixtures_are_read() {
    let text = "2 1 3\n0.5\n1 2\n0.1 0.2 0.3\n1 -1\n2 -2\n3 -3\n1.5 2\n";
    let array = |shape: &[usize], x: &[f64]| Data::Reals(shape.to_vec(), x.to_vec());
    let wanted = [
        Data::Real(0.0),
        array(&[1], &[0.5]),
        array(&[2, 1], &[1.0, 2.0]),
        array(&[3, 1], &[0.1, 0.2, 0.3]),
        array(&[2, 3], &[1.0, -1.0, 2.0, -2.0, 3.0, -3.0]),
        Data::Real(1.5),
        Data::Int(2),
    ];
    assert_eq!(inputs::gmm(text), wanted);
    // One distribution: nothing but sums of logarithms of densities.
    for w in workload!("gmm", given(&inputs::gmm(text))) {
        let (x, parameters) = (numbers(&wanted[4].argument()), [0.5, 1.0, 2.0, 0.1, 0.2, 0.3]);
        close(&w.run(&["loss!"], &["α"], one).results, &[likelihood(&parameters, &x, 2, 1.5, 2)], 1e-14, "objective");
    }
}
