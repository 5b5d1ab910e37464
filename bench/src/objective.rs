//! Functions in C, objectives and derivatives: compiled, loaded and called.
//!
//! A few lines of C after its source give every function the same signature: an array of arrays of words, their
//! lengths, and the number of calls. The repetition is in C, so that a function of some nanoseconds can be timed. The
//! call goes through a pointer that the compiler must read each time, as if the objective were in another file.

#![expect(unsafe_code, reason = "functions of a library that was compiled from the workloads' own sources are called")]

use std::sync::Arc;

use pendula_codegen::cc::{CcError, Compiler, Library};

use crate::cases::Case;
use crate::workloads::{Function, Workload};

/// How a function is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contraction {
    /// The compiler's default: a product and a sum may be rounded together.
    Allowed,
    /// As written. Only this can be compared bit for bit with the engines.
    Off,
}

/// The options for every function. Hidden functions need not be replaceable at load time.
const OPTIONS: [&str; 5] = ["-O3", "-march=native", "-fPIC", "-shared", "-fvisibility=hidden"];

impl Contraction {
    pub(crate) const ALL: [Contraction; 2] = [Contraction::Allowed, Contraction::Off];

    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Contraction::Allowed => "contract",
            Contraction::Off => "off",
        }
    }

    /// The compiler's options that affect the code.
    pub(crate) fn options(self) -> &'static str {
        match self {
            Contraction::Allowed => "-O3 -march=native",
            Contraction::Off => "-O3 -march=native -ffp-contract=off",
        }
    }
}

/// What a function computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The results.
    Objective,
    /// The results and the gradient.
    Gradient,
    /// The results, the gradient and the Hessian.
    Hessian,
}

/// The C compilers to compare with: the system's, and gcc and clang where they are others. The environment variable `CC`
/// names a single one.
pub fn compilers() -> Result<Vec<Compiler>, CcError> {
    let mut all = vec![Compiler::find()?.clone()];
    if std::env::var("CC").is_ok_and(|name| !name.trim().is_empty()) {
        return Ok(all);
    }
    for other in ["gcc", "clang"].into_iter().filter_map(Compiler::called) {
        // The first word is the name by which it was called.
        let text = |c: &Compiler| c.version().split_once(' ').map_or(String::new(), |(_, rest)| rest.to_string());
        if all.iter().all(|c| text(c) != text(&other)) {
            all.push(other);
        }
    }
    Ok(all)
}

/// Words that begin at a multiple of 64 bytes, so that the speed of vector loops does not depend on where an allocation
/// happens to be.
pub(crate) struct Array {
    words: Vec<u64>,
    from: usize,
    len: usize,
}

impl Array {
    pub(crate) fn new(words: &[u64]) -> Array {
        let room = vec![0_u64; words.len() + 7];
        let from = room.as_ptr().align_offset(64).min(7);
        let mut array = Array { words: room, from, len: words.len() };
        array.set(words);
        array
    }

    /// Copies the words of an array of the same length.
    pub(crate) fn set(&mut self, words: &[u64]) {
        self.words[self.from..self.from + self.len].copy_from_slice(words);
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words[self.from..self.from + self.len]
    }
}

type Call = unsafe extern "C" fn(*const *mut u64, *const i64, i64);

/// A function that can be called.
pub(crate) struct Objective {
    /// Its name.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) contraction: Contraction,
    /// The compiler's version.
    pub(crate) compiler: Arc<str>,
    call: Call,
    /// The library that contains the function.
    _library: Arc<Library>,
}

/// The source of a workload, followed by an entry function for each function. `arrays` is the number of arrays without
/// those of gradients.
fn source(workload: &Workload, arrays: usize, functions: &[Function]) -> String {
    let results = arrays + workload.result_arrays.len();
    let gradients = results + workload.result_arrays.len();
    let hessian = gradients + workload.input_arrays.len();
    let entry = |(function, arguments): &Function| {
        format!(
            "__attribute__((visibility(\"default\"))) void pendula_{function}(void *const *a, const long *n, long times)
{{
    (void)n;
    __typeof__(&{function}) volatile call = {function};
    for (long i = 0; i < times; i++)
        call({arguments});
}}
"
        )
    };
    format!(
        "{}
#define I(k) (*(const long *)a[k])
#define D(k) (*(const double *)a[k])
#define Y(k) a[{arrays} + k]
#define W(k) a[{results} + k]
#define G(k) a[{gradients} + k]
#define H a[{hessian}]
{}",
        workload.c,
        functions.iter().map(entry).collect::<String>()
    )
}

impl Objective {
    /// Compiles the functions of a case, each by every compiler and in both ways.
    pub(crate) fn all(compilers: &[Compiler], case: &Case) -> Result<Vec<Objective>, CcError> {
        let workload = case.workload;
        let mut functions: Vec<(Kind, Function)> = workload.objectives.iter().map(|f| (Kind::Objective, *f)).collect();
        if !case.is_exact() {
            functions.push((Kind::Gradient, workload.gradient));
        }
        functions.extend(workload.hessian.filter(|_| case.hessian).map(|f| (Kind::Hessian, f)));
        let only: Vec<Function> = functions.iter().map(|(_, f)| *f).collect();
        let source = source(workload, case.arrays().len(), &only);
        let mut out = Vec::new();
        for compiler in compilers {
            let version: Arc<str> = compiler.version().into();
            for contraction in Contraction::ALL {
                let mut options = OPTIONS.to_vec();
                if contraction == Contraction::Off {
                    options.push("-ffp-contract=off");
                }
                let library =
                    Arc::new(compiler.library_with(&format!("bench-{}", workload.name), &source, &options)?);
                for (kind, (name, _)) in &functions {
                    let address = library.address(&format!("pendula_{name}"))?;
                    // SAFETY: the address is that of a function at the end of `source`, which has this signature.
                    let call = unsafe { std::mem::transmute::<usize, Call>(address) };
                    let (compiler, _library) = (version.clone(), library.clone());
                    out.push(Objective { name, kind: *kind, contraction, compiler, call, _library });
                }
            }
        }
        Ok(out)
    }

    /// The arrays with which it is called for a case.
    pub(crate) fn arrays(&self, case: &Case) -> Vec<Vec<u64>> {
        match self.kind {
            Kind::Objective => case.arrays(),
            Kind::Gradient => case.gradient_arrays(),
            Kind::Hessian => case.hessian_arrays(),
        }
    }

    /// Calls it `times` times. `arrays` are those of [`Objective::arrays`], for the case for which it was compiled.
    pub(crate) fn run(&self, arrays: &mut [Array], times: u64) {
        let lengths: Vec<i64> = arrays.iter().map(|a| a.len as i64).collect();
        let pointers: Vec<*mut u64> = arrays.iter_mut().map(|a| a.words[a.from..].as_mut_ptr()).collect();
        // SAFETY: the sources in `benches/workloads` read and write these arrays only within the given lengths, from
        // which the inputs are made, and keep no pointers. The library stays loaded as long as `self` lives.
        unsafe { (self.call)(pointers.as_ptr(), lengths.as_ptr(), times.cast_signed()) }
    }
}
