//! Embeds the Petersen graph into k dimensions so that connected vertices lie at one distance and all others at another.
//!
//! The loss is `embedding.nil`, compiled and differentiated by the library. The optimiser Adam moves ten points from random initial
//! positions. In five dimensions the loss goes to zero, with distances whose ratio is √2; in four it does not.
//!
//! ```sh
//! cargo run --release --example petersen
//! ```

use std::error::Error;

use pendula::compiler::compile::{self, compile};
use pendula::compiler::nil::sema::{Argument, Number};
use pendula::grad::{Options, grad, to_end};
use pendula::values::{self, Location};
use pendula::vm::{Config, Machine, Program};

/// The number of vertices.
const VERTICES: usize = 10;

/// The number of vertices whose position is fixed, so that the points do not all collapse into one.
const FIXED: usize = 2;

/// The graph fits if the loss is below this.
pub(crate) const FITS: f64 = 1e-8;

/// The result of a training.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trained {
    /// The last loss.
    pub(crate) loss: f64,
    /// The number of steps taken.
    pub(crate) steps: usize,
    /// The mean distance of vertices that are not connected, divided by that of connected ones.
    pub(crate) ratio: f64,
}

/// The loss for a given number of dimensions.
pub(crate) struct Embedding {
    program: Program,
    dimensions: usize,
}

impl Embedding {
    /// Compiles the loss.
    ///
    /// # Errors
    /// The errors of the compiler.
    pub(crate) fn new(dimensions: usize) -> Result<Embedding, Box<dyn Error>> {
        let zero = Number::Float(0.0);
        let points = Argument::Array(vec![dimensions, VERTICES], vec![zero.clone(); dimensions * VERTICES]);
        let options = compile::Options { arguments: vec![Argument::Number(zero), points], ..Default::default() };
        let compiled = compile("embedding.nil", include_str!("embedding.nil").to_string(), &options);
        let module = compiled.module.ok_or_else(|| format!("{:?}", compiled.diagnostics))?;
        Ok(Embedding { program: Program::new(module, true)?, dimensions })
    }

    /// Takes steps of Adam from random positions until the graph fits, at most `most` steps.
    ///
    /// # Errors
    /// If the machine stops.
    pub(crate) fn train(&self, seed: u64, most: usize) -> Result<Trained, Box<dyn Error>> {
        const RATE: f64 = 0.1;
        const FIRST: f64 = 0.9;
        const SECOND: f64 = 0.999;
        let mut machine = Machine::new(&self.program, &Config { mem: Some(1 << 14), ..Config::default() })?;
        let Location::Memory { start, .. } = values::find(self.program.module(), "x")?.at else {
            return Err("the points are not in memory".into());
        };
        let start = usize::try_from(start)?;
        let options = Options { loss: Some("loss!".into()), wrt: vec!["x".into()], ..Options::default() };

        let mut random = Random(seed);
        let mut x: Vec<f64> = (0..self.dimensions * VERTICES).map(|_| random.normal()).collect();
        let fixed = FIXED * self.dimensions;
        x[..fixed].fill(0.0);
        x[self.dimensions] = 1.0;
        let (mut mean, mut square) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        for step in 0..=most {
            for (word, x) in machine.memory_mut()[start..].iter_mut().zip(&x) {
                *word = x.to_bits();
            }
            let report = grad(&mut machine, &options, to_end).map_err(|e| format!("{e}: {e:?}"))?;
            let loss = f64::from_bits(report.losses[0].value);
            if loss < FITS || step == most {
                return Ok(Trained { loss, steps: step, ratio: self.ratio(&x) });
            }
            let gradient = report.losses[0].gradients[0].numbers();
            let passed = i32::try_from(step + 1)?;
            for (n, g) in gradient.into_iter().enumerate().skip(fixed) {
                let g = g.ok_or("a number without a derivative")?;
                mean[n] += (1.0 - FIRST) * (g - mean[n]);
                square[n] += (1.0 - SECOND) * (g * g - square[n]);
                let scale = (square[n] / (1.0 - SECOND.powi(passed))).sqrt() + 1e-8;
                x[n] -= RATE * mean[n] / (1.0 - FIRST.powi(passed)) / scale;
            }
        }
        unreachable!("the last step returns")
    }

    /// The mean distance of unconnected vertices, divided by that of connected ones.
    fn ratio(&self, x: &[f64]) -> f64 {
        let (mut near, mut far) = ((0.0, 0.0), (0.0, 0.0));
        let points: Vec<&[f64]> = x.chunks(self.dimensions).collect();
        for i in 0..VERTICES {
            for j in i + 1..VERTICES {
                let square: f64 = points[i].iter().zip(points[j]).map(|(a, b)| (a - b).powi(2)).sum();
                let sum = if connected(i, j) { &mut near } else { &mut far };
                *sum = (sum.0 + square.sqrt(), sum.1 + 1.0);
            }
        }
        (far.0 / far.1) / (near.0 / near.1)
    }
}

/// Whether the vertices i < j are connected: in the pentagon 0 to 4, by a spoke, or in the star 5 to 9.
pub(crate) fn connected(i: usize, j: usize) -> bool {
    match (i < 5, j < 5) {
        (true, true) => matches!(j - i, 1 | 4),
        (true, false) => j == i + 5,
        _ => matches!(j - i, 2 | 3),
    }
}

/// A generator of random numbers, the same in each run.
struct Random(u64);

impl Random {
    /// Between 0 and 1, both excluded.
    fn uniform(&mut self) -> f64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 12) as f64 / (1_u64 << 52) as f64 + 1.0 / (1_u64 << 53) as f64
    }

    /// With mean 0 and variance 1, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("k  start  steps  loss       l2/l1");
    for dimensions in 2..=5 {
        let embedding = Embedding::new(dimensions)?;
        for start in 1..=4 {
            let t = embedding.train(start, 1000)?;
            let fits = if t.loss < FITS { "  fits" } else { "" };
            println!("{dimensions}  {start:>5}  {:>5}  {:.3e}  {:.6}{fits}", t.steps, t.loss, t.ratio);
        }
    }
    println!("\nsqrt 2 = {:.6}", std::f64::consts::SQRT_2);
    Ok(())
}
