//! Objectives in C: compiled, loaded and called.
//!
//! A few lines of C after its source give every objective the same signature: an array of arrays of words, their
//! lengths, and the number of calls. The repetition is in C, so that a function of some nanoseconds can be timed. The
//! call goes through a pointer that the compiler must read each time, as if the objective were in another file.

#![expect(unsafe_code, reason = "functions of a library that was compiled from the workloads' own sources are called")]

use pendula_codegen::cc::{CcError, Compiler, Library};

use crate::cases::Workload;

/// How an objective is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contraction {
    /// The compiler's default: a product and a sum may be rounded together.
    Allowed,
    /// As written. Only this can be compared bit for bit with the engines.
    Off,
}

/// The options for every objective. Hidden functions need not be replaceable at load time.
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

type Call = unsafe extern "C" fn(*const *mut u64, *const i64, i64);

/// An objective that can be called.
pub(crate) struct Objective {
    /// The function's name.
    pub(crate) name: &'static str,
    pub(crate) contraction: Contraction,
    call: Call,
    /// The library that contains the function.
    _library: Library,
}

/// The source of an objective, followed by the entry function.
fn source(workload: &Workload, function: &str, arguments: &str) -> String {
    format!(
        "{}
#define I(k) (*(const long *)a[k])
#define D(k) (*(const double *)a[k])
__attribute__((visibility(\"default\"))) void pendula_objective(void *const *a, const long *n, long times)
{{
    (void)n;
    __typeof__(&{function}) volatile call = {function};
    for (long i = 0; i < times; i++)
        call({arguments});
}}
",
        workload.c
    )
}

impl Objective {
    /// Compiles the objectives of a workload, each in both ways.
    pub(crate) fn all(compiler: &Compiler, workload: &'static Workload) -> Result<Vec<Objective>, CcError> {
        let mut out = Vec::new();
        for &(name, arguments) in workload.objectives {
            let source = source(workload, name, arguments);
            for contraction in Contraction::ALL {
                let mut options = OPTIONS.to_vec();
                if contraction == Contraction::Off {
                    options.push("-ffp-contract=off");
                }
                let library = compiler.library_with(&format!("bench-{}", workload.name), &source, &options)?;
                let address = library.address("pendula_objective")?;
                // SAFETY: the address is that of the function at the end of `source`, which has this signature.
                let call = unsafe { std::mem::transmute::<usize, Call>(address) };
                out.push(Objective { name, contraction, call, _library: library });
            }
        }
        Ok(out)
    }

    /// Calls it `times` times. `arrays` are those of [`Case::arrays`](crate::cases::Case::arrays), of a case of this
    /// objective's workload.
    pub(crate) fn run(&self, arrays: &mut [Vec<u64>], times: u64) {
        let lengths: Vec<i64> = arrays.iter().map(|a| a.len() as i64).collect();
        let pointers: Vec<*mut u64> = arrays.iter_mut().map(Vec::as_mut_ptr).collect();
        // SAFETY: the sources in `benches/workloads` read and write these arrays only within the given lengths, from
        // which the inputs are made, and keep no pointers. The library stays loaded as long as `self` lives.
        unsafe { (self.call)(pointers.as_ptr(), lengths.as_ptr(), times.cast_signed()) }
    }
}
