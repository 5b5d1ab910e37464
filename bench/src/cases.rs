//! The cases: the inputs of each workload at each size, and what is known of the results.

use anyhow::{Context, bail};
use pendula_compiler::compile::{Compiled, Options, compile};
use pendula_isa::Module;

use crate::inputs::{self, Data};
use crate::learning;
use crate::reference::{self, Published};
use crate::workloads::{Workload, workload};

/// The gradient words with which the results begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seed {
    /// All are 1.
    One,
    /// cos(i) for result i, counted from 1: no two results have the same weight.
    Wave,
    /// For results in pairs, 1 for the first or the second one of each pair, among this many results.
    Row(usize, usize),
}

impl Seed {
    /// The weights of `count` results.
    pub(crate) fn weights(self, count: usize) -> Vec<f64> {
        let weight = |i: usize| match self {
            Seed::One => 1.0,
            Seed::Wave => reference::wave(i),
            Seed::Row(row, of) => f64::from(u8::from(i < of && i % 2 == row)),
        };
        (0..count).map(weight).collect()
    }
}

/// A workload of one size.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub(crate) name: String,
    pub(crate) workload: &'static Workload,
    /// Its size, for reports.
    pub(crate) size: String,
    /// The number of elements that it processes: points, entries, steps.
    pub(crate) elements: u64,
    /// The arguments.
    pub(crate) data: Vec<Data>,
    pub(crate) seed: Seed,
    /// True if the Hessian is computed, too.
    pub(crate) hessian: bool,
    /// The case in which each observation has a camera and a point of its own, for the sparse Jacobian.
    pub(crate) apart: Option<Box<Case>>,
    /// The known results.
    pub(crate) published: Published,
    /// The step for finite differences, relative to each input.
    pub(crate) step: f64,
    /// The types of parameters, if they differ from those of the arguments.
    pub(crate) types: &'static [&'static str],
}

const GMM: [(&str, &str, &str); 2] = [
    ("gmm-d10", "n = 1000, d = 10, K = 25", include_str!("../../benches/workloads/data/gmm_n1000_d10_K25.txt")),
    ("gmm-d2", "n = 10000, d = 2, K = 5", include_str!("../../benches/workloads/data/gmm_n10000_d2_K5.txt")),
];
const BA: &str = include_str!("../../benches/workloads/data/ba1_n49_m7776_p31843.txt");

/// The parameter types of `leapfrog` in fixed point.
const FIXED: &[&str] = &["Matrix{Fixed43}", "Matrix{Fixed43}", "Vector{Fixed43}", "Fixed43", "Int"];

/// The dimensions of embeddings.
const DIMENSIONS: [(&str, usize); 6] = [
    ("embedding-2", 2),
    ("embedding-4", 4),
    ("embedding-5", 5),
    ("embedding-6", 6),
    ("embedding-8", 8),
    ("embedding-10", 10),
];

/// The names of all cases, each with the name of its workload.
pub fn names() -> Vec<(&'static str, &'static str)> {
    let mut out = vec![("bessel", "bessel")];
    out.extend(DIMENSIONS.map(|(name, _)| (name, "embedding")));
    out.extend(["norm", "complex-log", "sparse-dot", "sparse-matvec"].map(|name| (name, name)));
    out.extend(GMM.map(|(name, ..)| (name, "gmm")));
    out.extend([("ba", "ba"), ("leapfrog", "leapfrog"), ("leapfrog-q", "leapfrog"), ("unitary", "unitary")]);
    out.extend(learning::NAMES);
    out
}

/// The cases that these names of cases or workloads select; all if there are no names.
pub fn chosen(wanted: &[String]) -> anyhow::Result<Vec<&'static str>> {
    let known = names();
    if let Some(unknown) = wanted.iter().find(|w| !known.iter().any(|(case, family)| w == case || w == family)) {
        let all = known.iter().flat_map(|(case, family)| [*case, *family]).collect::<std::collections::BTreeSet<_>>();
        bail!("there is no workload `{unknown}`; there are {}", all.into_iter().collect::<Vec<_>>().join(", "));
    }
    let asked = |case: &str, family: &str| wanted.is_empty() || wanted.iter().any(|w| w == case || w == family);
    Ok(known.into_iter().filter(|(case, family)| asked(case, family)).map(|(case, _)| case).collect())
}

/// The size of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As published.
    Published,
    /// As published, or smaller if that takes long.
    Quick,
    /// A multiple of the base size for measuring scaling.
    Times(usize),
}

/// The names of cases that can be scaled.
pub(crate) const SCALED: [&str; 6] = ["norm", "sparse-dot", "sparse-matvec", "gmm-d10", "ba", "leapfrog"];

/// The number of steps of `leapfrog` at the base size.
pub(crate) const STEPS: usize = 10_000;

/// `leapfrog` with another number of steps, without published results.
pub(crate) fn leapfrog(steps: i64) -> Case {
    let size = format!("9 bodies, {steps} steps");
    Case { data: inputs::leapfrog(steps), size, published: Published::default(), ..case("leapfrog", Size::Quick) }
}

/// The name of a case's workload.
fn family(name: &str) -> &str {
    names().into_iter().find(|(n, _)| *n == name).map_or(name, |(_, family)| family)
}

/// A case by its name.
pub fn case(name: &str, size: Size) -> Case {
    learning::case(name, size).unwrap_or_else(|| published(name, size))
}

/// The program of a case, with its inputs as data.
///
/// # Errors
/// It does not compile.
pub fn module(name: &str, size: Size) -> anyhow::Result<Module> {
    let case = case(name, size);
    case.compile(false)?.module.with_context(|| format!("{name} does not compile"))
}

/// A case of a workload that was published with results.
fn published(name: &str, size: Size) -> Case {
    let times = if let Size::Times(n) = size { n } else { 1 };
    let new = |size: String, elements: usize, data: Vec<Data>, published: Published| Case {
        published: if times == 1 { published } else { Published::default() },
        ..Case::new(name, size, elements, data)
    };
    match family(name) {
        "bessel" => new("z = 1".into(), 1, inputs::bessel(2, 1.0), reference::bessel()),
        "embedding" => {
            let k = DIMENSIONS.iter().find(|(n, _)| *n == name).map_or(5, |(_, k)| *k);
            let hessian = matches!(k, 5 | 10);
            let published = reference::embedding(k);
            Case { hessian, ..new(format!("k = {k}"), 1, inputs::embedding(k), published) }
        }
        "norm" => {
            let n = 1000 * times;
            let data = inputs::norm(n);
            let published = reference::norm(&data);
            Case { published, ..new(format!("n = {n}"), n, data, Published::default()) }
        }
        "complex-log" => {
            let data = inputs::complex_log();
            Case { seed: Seed::Wave, ..new("3 + 4i".into(), 1, data, reference::complex_log()) }
        }
        "sparse-dot" => {
            let mut data = inputs::sparse_dot(1000, 0.05);
            for (at, seed) in [(1, 1), (2, 2)] {
                if times > 1 {
                    data[at] = Data::Sparse(inputs::sparse(1000, 1000 * times, 0.05, seed, false));
                }
            }
            let entries: Vec<usize> = data.iter().filter_map(entries).collect();
            let size = format!("1000 × {}, {} + {} entries", 1000 * times, entries[0], entries[1]);
            let entries = entries.iter().sum();
            new(size, entries, data, reference::sparse_dot())
        }
        "sparse-matvec" => {
            let mut data = inputs::sparse_matvec(1000, 0.05);
            if times > 1 {
                data[1] = Data::Sparse(inputs::sparse(1000, 1000 * times, 0.05, 3, true));
                data[2] = Data::Complexes(inputs::SplitMix64(4).vector(2000 * times));
            }
            let entries = data.iter().filter_map(entries).sum();
            let size = format!("1000 × {}, {entries} entries", 1000 * times);
            Case { seed: Seed::Wave, ..new(size, entries, data, reference::sparse_matvec()) }
        }
        "gmm" => {
            let (at, (_, size, text)) = GMM.iter().enumerate().find(|(_, (n, ..))| *n == name).unwrap_or((0, &GMM[0]));
            let mut data = inputs::gmm(text);
            let mut points = 0;
            if let Data::Reals(shape, x) = &mut data[4] {
                points = shape[1] * times;
                shape[1] = points;
                *x = x.repeat(times);
            }
            let size = if times == 1 { (*size).to_string() } else { format!("n = {points}, d = 10, K = 25") };
            new(size, points, data, reference::gmm(at))
        }
        "ba" => {
            let text = observations(times);
            let shared = |apart: bool| inputs::ba(&text, apart);
            let data = shared(false);
            let count = if let Data::Reals(shape, _) = &data[1] { shape[0] } else { 0 };
            let published = reference::ba(&data);
            let size = format!("p = {count} observations");
            let apart = (times == 1).then(|| {
                let seed = Seed::Row(0, 2 * count);
                Box::new(Case { seed, ..new(size.clone(), count, shared(true), Published::default()) })
            });
            Case { seed: Seed::Wave, apart, published, ..new(size, count, data, Published::default()) }
        }
        "leapfrog" => {
            let (steps, published) = match size {
                Size::Published => (reference::STEPS as usize, reference::leapfrog(reference::STEPS)),
                Size::Quick => (1000, reference::leapfrog(1000)),
                Size::Times(n) => (STEPS * n, Published::default()),
            };
            let data = inputs::leapfrog(steps as i64);
            let (types, published) =
                if name == "leapfrog-q" { (FIXED, Published::default()) } else { (&[][..], published) };
            let size = format!("9 bodies, {steps} steps");
            Case { seed: Seed::Wave, step: 1e-6, types, ..new(size, steps, data, published) }
        }
        _ => {
            let data = inputs::unitary(100, 100);
            Case { seed: Seed::Wave, ..new("100 × 100, 4950 angles".into(), 495_000, data, reference::unitary()) }
        }
    }
}

/// The number of entries of a sparse matrix.
fn entries(data: &Data) -> Option<usize> {
    if let Data::Sparse(a) = data { Some(a.rowval.len()) } else { None }
}

/// The file of `ba` with a multiple of the cameras, points and observations.
fn observations(times: usize) -> String {
    let (first, rest) = BA.split_once('\n').unwrap_or((BA, ""));
    let sizes = first.split_whitespace().map(|n| n.parse::<usize>().unwrap_or(0) * times).map(|n| n.to_string());
    format!("{}\n{rest}", sizes.collect::<Vec<_>>().join(" "))
}

impl Case {
    /// A case of which no results are known, whose results all have the weight 1.
    pub(crate) fn new(name: &str, size: String, elements: usize, data: Vec<Data>) -> Case {
        Case {
            name: name.to_string(),
            workload: workload(family(name)).expect("a workload of the table"),
            size,
            elements: elements as u64,
            data,
            seed: Seed::One,
            hessian: false,
            apart: None,
            published: Published::default(),
            step: 1e-4,
            types: &[],
        }
    }

    /// True if it computes in fixed point, so that every bit must be restored.
    pub(crate) fn is_exact(&self) -> bool {
        !self.types.is_empty()
    }

    /// Compiles the program for these arguments.
    pub(crate) fn compile(&self, fast_float: bool) -> anyhow::Result<Compiled> {
        let arguments = self.data.iter().map(Data::argument).collect();
        let types = self.types.iter().map(|t| (*t).to_string()).collect();
        let options = Options { arguments, types, fast_float, ..Options::default() };
        let name = format!("{}.nil", self.workload.name);
        let compiled = compile(&name, self.workload.nil.to_string(), &options);
        if let Some(d) = compiled.diagnostics.first() {
            bail!("{name}: {}", d.message);
        }
        Ok(compiled)
    }

    /// The compiled module.
    pub(crate) fn module(&self) -> anyhow::Result<Module> {
        self.compile(false)?.module.with_context(|| format!("{} does not compile", self.workload.name))
    }

    /// The arguments for C: an array of 64-bit words for each, and additional arrays that the call needs.
    pub(crate) fn arrays(&self) -> Vec<Vec<u64>> {
        let reals = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        let ints = |n: &[i64]| n.iter().map(|n| n.cast_unsigned()).collect::<Vec<u64>>();
        let mut out = Vec::new();
        for data in &self.data {
            match data {
                Data::Real(x) => out.push(reals(&[*x])),
                Data::Complex(re, im) => out.push(reals(&[*re, *im])),
                Data::Int(n) => out.push(ints(&[*n])),
                Data::Reals(_, x) | Data::Complexes(x) => out.push(reals(x)),
                Data::Ints(_, n) => out.push(ints(n)),
                Data::Sparse(a) => out.extend([ints(&a.colptr), ints(&a.rowval), reals(&a.nzval)]),
            }
        }
        match (self.workload.name, &self.data[..]) {
            // Working columns of zeros.
            ("sparse-dot", [_, Data::Sparse(a), ..]) => out.extend([vec![0; a.m], vec![0; a.m]]),
            // Both sizes, and room for the matrix and for the sines and cosines.
            ("unitary", [Data::Reals(shape, x), Data::Reals(_, angles)]) => {
                out.extend(shape.iter().map(|n| vec![*n as u64]));
                out.extend([vec![0; x.len()], vec![0; 2 * angles.len()]]);
            }
            (name, data) => out.extend(learning::more_arrays(name, data)),
        }
        out
    }

    /// The arguments for a gradient in C: the arrays, and then for each result one that it is written to, for each
    /// result its weights, and for each input one for its gradient.
    pub(crate) fn gradient_arrays(&self) -> Vec<Vec<u64>> {
        let mut out = self.arrays();
        let zeros = |which: &[usize]| which.iter().map(|i| vec![0; out[*i].len()]).collect::<Vec<_>>();
        let (results, gradients) = (zeros(self.workload.result_arrays), zeros(self.workload.input_arrays));
        let mut weights = self.seed.weights(results.iter().map(Vec::len).sum()).into_iter();
        let of_results: Vec<Vec<u64>> =
            results.iter().map(|r| weights.by_ref().take(r.len()).map(f64::to_bits).collect()).collect();
        out.extend(results.into_iter().chain(of_results).chain(gradients));
        out
    }

    /// The same for a Hessian, whose rows come after the gradients.
    pub(crate) fn hessian_arrays(&self) -> Vec<Vec<u64>> {
        let mut out = self.gradient_arrays();
        let inputs: usize = self.workload.input_arrays.iter().map(|i| out[*i].len()).sum();
        out.push(vec![0; inputs * inputs]);
        out
    }
}
