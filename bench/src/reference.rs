//! Reference values for the workloads' results: published numbers and closed forms, with tolerances.

use crate::inputs::Data;

/// The weight in a checksum of result or derivative i, counted from 0.
pub(crate) fn wave(i: usize) -> f64 {
    (i as f64 + 1.0).cos()
}

/// Expected numbers.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// These numbers, with a tolerance relative to the largest.
    Numbers(Vec<f64>, f64),
    /// The sum of `.1` numbers beginning at index `.0`, weighted by cos(i) with i from 1, and its tolerance.
    Sum(usize, usize, f64, f64),
    /// The sum of a square matrix weighted by cos(i) sin(j), both from 1, and its tolerance.
    Square(f64, f64),
}

/// The known results of a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Published {
    pub(crate) value: Vec<Wanted>,
    pub(crate) gradient: Vec<Wanted>,
    pub(crate) hessian: Vec<Wanted>,
}

/// A comparison.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// What is compared.
    pub(crate) what: String,
    /// The found and the expected number; of several numbers, the pair with the greatest distance.
    pub(crate) found: f64,
    pub(crate) wanted: f64,
    /// The distance between them, and its bound.
    pub(crate) error: f64,
    pub(crate) tolerance: f64,
}

impl Check {
    pub(crate) fn new(what: impl Into<String>, found: f64, wanted: f64, tolerance: f64) -> Check {
        Check { what: what.into(), found, wanted, error: (found - wanted).abs(), tolerance }
    }

    /// A check of a number that must not exceed a bound.
    pub(crate) fn at_most(what: impl Into<String>, found: f64, most: f64) -> Check {
        Check { what: what.into(), found, wanted: most, error: found, tolerance: most }
    }

    /// A check of numbers that must agree, with a tolerance relative to the largest.
    pub(crate) fn all(what: impl Into<String>, found: &[f64], wanted: &[f64], tolerance: f64) -> Check {
        let size = wanted.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let distance = |(f, w): &(&f64, &f64)| {
            let d = (*f - *w).abs();
            if d.is_nan() { f64::INFINITY } else { d }
        };
        let pairs = found.iter().zip(wanted).max_by(|a, b| distance(a).total_cmp(&distance(b)));
        let (found, wanted) = match pairs {
            Some((f, w)) if found.len() == wanted.len() => (*f, *w),
            // There is nothing to compare, or the counts differ.
            _ => (f64::NAN, f64::NAN),
        };
        Check::new(what, found, wanted, tolerance * size)
    }

    /// True if the check passes; NaN never passes.
    pub(crate) fn is_met(&self) -> bool {
        self.error <= self.tolerance
    }
}

impl Wanted {
    /// Compares the found numbers with the expected ones.
    pub(crate) fn check(&self, what: &str, found: &[f64]) -> Check {
        match self {
            Wanted::Numbers(wanted, tolerance) => Check::all(what, found, wanted, *tolerance),
            Wanted::Sum(from, count, wanted, tolerance) => {
                let part = found.get(*from..from + count).unwrap_or_default();
                let sum = if part.is_empty() { f64::NAN } else { sum(part) };
                Check::new(what, sum, *wanted, *tolerance)
            }
            Wanted::Square(wanted, tolerance) => {
                let n = found.len().isqrt().max(1);
                let row = |row: &[f64]| row.iter().enumerate().map(|(j, x)| x * (j as f64 + 1.0).sin()).sum::<f64>();
                let rows: Vec<f64> = found.chunks(n).map(row).collect();
                Check::new(what, if rows.is_empty() { f64::NAN } else { sum(&rows) }, *wanted, *tolerance)
            }
        }
    }
}

/// The published checksum of a gradient: the sum of g_i cos(i), i from 1.
pub(crate) fn sum(g: &[f64]) -> f64 {
    g.iter().enumerate().map(|(i, g)| g * wave(i)).sum()
}

fn published(value: Vec<Wanted>, gradient: Vec<Wanted>) -> Published {
    Published { value, gradient, hessian: Vec::new() }
}

/// J₂(1) and its derivative, NIST Digital Library of Mathematical Functions, 10.2; the series is cut off at 1e-8.
pub(crate) fn bessel() -> Published {
    let number = |x: f64, tolerance: f64| vec![Wanted::Numbers(vec![x], tolerance / x)];
    published(number(0.114_903_484_931_900_48, 1e-8), number(0.210_243_615_881_132_56, 1e-7))
}

/// The loss, and checksums of the gradient and the Hessian, computed independently.
pub(crate) fn embedding(k: usize) -> Published {
    let (loss, gradient, hessian) = match k {
        2 => (1.039_407_923_294_573_4, 0.369_248_418_861_482_1, -1.540_867_369_788_005),
        4 => (1.903_848_214_726_715_5, -0.303_641_018_491_850_55, 0.453_926_758_772_037_25),
        5 => (1.727_751_709_147_161, 0.408_308_651_233_153_74, 0.449_041_500_453_989_6),
        6 => (1.827_812_844_340_350_3, 0.395_313_597_938_558_1, -2.973_603_565_509_544),
        8 => (2.657_167_733_006_548_6, -0.920_739_518_204_422_2, 0.493_092_863_957_282_47),
        10 => (3.237_065_667_065_013_3, 0.106_735_194_873_349_98, 4.707_945_088_338_822),
        _ => return Published::default(),
    };
    let n = 10 * k;
    Published {
        value: vec![Wanted::Numbers(vec![loss], 1e-14)],
        gradient: vec![Wanted::Sum(0, n, gradient, 1e-13)],
        hessian: vec![Wanted::Square(hessian, 1e-11)],
    }
}

/// The length, and the unit vector.
pub(crate) fn norm(data: &[Data]) -> Published {
    let Some(Data::Reals(_, x)) = data.get(2) else { return Published::default() };
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let unit = x.iter().map(|x| x / length).collect();
    published(vec![Wanted::Numbers(vec![length], 1e-14)], vec![Wanted::Numbers(unit, 1e-14)])
}

/// ln 5 and arc tan 4/3, and the gradient of both, weighted.
pub(crate) fn complex_log() -> Published {
    let value = vec![5_f64.ln(), (4.0_f64 / 3.0).atan()];
    let [re, im] = [0, 1].map(wave);
    let gradient = vec![0.12 * re - 0.16 * im, 0.16 * re + 0.12 * im];
    published(vec![Wanted::Numbers(value, 1e-15)], vec![Wanted::Numbers(gradient, 1e-15)])
}

/// Computed with dense matrices.
pub(crate) fn sparse_dot() -> Published {
    let value = Wanted::Numbers(vec![0.964_645_114_086_942], 1e-13);
    published(vec![value], vec![Wanted::Sum(0, 49_721 + 49_998, 24.081_463_501_847_3, 1e-12)])
}

/// Computed with a dense matrix.
pub(crate) fn sparse_matvec() -> Published {
    let value = Wanted::Sum(0, 2000, -43.709_604_420_571_7, 1e-12);
    published(vec![value], vec![Wanted::Sum(0, 2 * 50_038 + 2000, 130.787_697_609_824, 1e-11)])
}

/// Computed independently, for the two files.
pub(crate) fn gmm(file: usize) -> Published {
    let (value, gradient, count) = [
        (-25_649.652_621_197_3, 262.481_704_649_628_7, 25 + 250 + 25 * 55),
        (-52_512.306_054_522_945, 3_558.020_158_394_376_3, 5 + 10 + 15),
    ][file.min(1)];
    let gradient = Wanted::Sum(0, count, gradient, 1e-11 * gradient);
    published(vec![Wanted::Numbers(vec![value], 1e-12)], vec![gradient])
}

/// The residuals of an observation of ADBench's `ba1`, computed independently.
pub(crate) const RESIDUALS: [f64; 2] = [0.101_335_837_914_437_75, -0.068_967_765_924_481_06];

/// Their Jacobian with respect to camera, point and weight.
pub(crate) const ROWS: [[f64; 15]; 2] = [
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

/// The residuals of all observations, which are equal, and the sum of their gradients by camera and point.
pub(crate) fn ba(data: &[Data]) -> Published {
    let [_, _, Data::Reals(cams, _), Data::Reals(points, _), Data::Reals(_, w), Data::Ints(_, observed), _] = data
    else {
        return Published::default();
    };
    let p = w.len();
    let weights: Vec<f64> = w.iter().map(|w| 1.0 - w * w).collect();
    let value = [RESIDUALS.repeat(p), weights].concat();
    let (mut of_cams, mut of_points) = (vec![0.0; cams[0] * cams[1]], vec![0.0; points[0] * points[1]]);
    let mut of_weights = vec![0.0; p];
    for (i, pair) in observed.chunks_exact(2).enumerate() {
        let seeds = [wave(2 * i), wave(2 * i + 1)];
        let part = |k: usize| seeds[0] * ROWS[0][k] + seeds[1] * ROWS[1][k];
        let [camera, point] = [pair[0], pair[1]].map(|k| k as usize - 1);
        (0..11).for_each(|k| of_cams[11 * camera + k] += part(k));
        (0..3).for_each(|k| of_points[3 * point + k] += part(11 + k));
        of_weights[i] = part(14) - 2.0 * w[i] * wave(2 * p + i);
    }
    let gradient = [of_cams, of_points, of_weights].concat();
    // Residuals are differences of numbers in the hundreds.
    published(vec![Wanted::Numbers(value, 1.2e-12)], vec![Wanted::Numbers(gradient, 1e-12)])
}

/// Row r of the Jacobian's blocks, if each of p observations has a camera and a point of its own.
pub(crate) fn jacobian(row: usize, p: usize) -> Wanted {
    let part = |from: usize, to: usize| ROWS[row][from..to].repeat(p);
    Wanted::Numbers([part(0, 11), part(11, 14), part(14, 15)].concat(), 1e-12)
}

/// The published number of steps of `leapfrog`.
pub(crate) const STEPS: u64 = 100_000;

/// Positions and velocities after this many steps, and the gradient after a thousand, which finite differences confirm
/// to 1e-7. After a hundred thousand steps, phases amplify rounding.
pub(crate) fn leapfrog(steps: u64) -> Published {
    let all =
        |x: f64, v: f64, tolerance: f64| vec![Wanted::Sum(0, 18, x, tolerance), Wanted::Sum(18, 18, v, tolerance)];
    match steps {
        1000 => published(
            all(-15.872_676_530_470_4, -22.297_390_009_028, 1e-11),
            vec![Wanted::Sum(0, 46, 88_689.013_132_564_6, 1e-4)],
        ),
        STEPS => published(all(-26.984_849_174_719_5, -0.749_028_957_586_655, 1e-6), Vec::new()),
        _ => Published::default(),
    }
}

/// The energy of bodies with these masses (times the gravitational constant), positions and velocities, two numbers for
/// each.
pub(crate) fn energy(masses: &[f64], x: &[f64], v: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, mass) in masses.iter().enumerate() {
        sum += mass * (v[2 * i].powi(2) + v[2 * i + 1].powi(2)) / 2.0;
        for j in 0..i {
            sum -= mass * masses[j] / (x[2 * i] - x[2 * j]).hypot(x[2 * i + 1] - x[2 * j + 1]);
        }
    }
    sum
}

/// Computed by C and, for small matrices, compared with finite differences.
pub(crate) fn unitary() -> Published {
    published(
        vec![Wanted::Sum(0, 10_000, -22.034_581_795_656_6, 1e-12)],
        vec![Wanted::Sum(0, 14_950, 409.107_087_862_105, 1e-11)],
    )
}

/// The logarithm of the sum of exponentials, and the softmax.
pub(crate) fn logsumexp(data: &[Data]) -> Published {
    let Some(Data::Reals(_, x)) = data.get(1) else { return Published::default() };
    let sum: f64 = x.iter().map(|x| x.exp()).sum();
    let shares = x.iter().map(|x| x.exp() / sum).collect();
    published(vec![Wanted::Numbers(vec![sum.ln()], 1e-13)], vec![Wanted::Numbers(shares, 1e-12)])
}

/// The loss of a case of this size, computed with numpy in extended precision, by array operations; determinants with rational numbers, by elimination.
pub(crate) fn computed(name: &str, size: usize) -> Published {
    let loss = match (name, size) {
        ("k-means", 10_000) => 57_711.701_175_444_69,
        ("k-means", 1000) => 5_592.856_052_416_541,
        ("least-squares", 10_000) => 39_185.357_694_822_34,
        ("least-squares", 1000) => 2_648.099_926_508_081,
        ("logistic", 10_000) => 10_139.447_645_539_249,
        ("logistic", 1000) => 1_026.653_084_232_492_1,
        ("lstm", 1024) => 1.409_668_422_395_163_4,
        ("lstm", 128) => 1.393_913_103_597_236_3,
        ("attention", 256) => 12.833_582_779_319_254,
        ("attention", 64) => 6.740_751_036_716_056,
        ("matmul", 256) => 932_042.260_134_983_7,
        ("matmul", 64) => 14_124.882_201_416_334,
        ("brusselator", 1000) => 472.219_596_788_353_2,
        ("brusselator", 100) => 495.099_742_174_034_65,
        ("determinant", 8) => -0.073_893_950_809_131_08,
        ("determinant", 6) => 0.054_699_142_270_413_725,
        _ => return Published::default(),
    };
    published(vec![Wanted::Numbers(vec![loss], 1e-12)], Vec::new())
}
