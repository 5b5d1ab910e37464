//! The workloads: their programs in Nil, and in C their objectives and the derivatives that were written by hand.

/// A function in C and its arguments. `a[i]` is array i of [`Case::arrays`](crate::cases::Case::arrays), `n[i]` its
/// number of words, `D(i)` and `I(i)` its first word as a double and as an integer. Gradients have three more kinds of
/// arrays: `Y(i)` is what result i is written to, `W(i)` the weights with which the gradient of result i begins, and
/// `G(i)` what the gradient by input i is written to. Hessians have `H`, too, for the rows of all of them.
pub(crate) type Function = (&'static str, &'static str);

/// A program in Nil, and its objectives and derivatives in C.
#[derive(Debug)]
pub struct Workload {
    /// The name of its files.
    pub name: &'static str,
    /// What it computes.
    pub about: &'static str,
    pub(crate) nil: &'static str,
    /// The source in C.
    pub(crate) c: &'static str,
    /// The objectives in C; the fastest counts.
    pub(crate) objectives: &'static [Function],
    /// The gradient in C: it computes results and gradient from the inputs, and leaves the inputs as they are.
    pub(crate) gradient: Function,
    /// The Hessian in C, with results and gradient.
    pub(crate) hessian: Option<Function>,
    /// The results: their names in Nil.
    pub(crate) results: &'static [&'static str],
    /// The results: the indices of their arrays in C.
    pub(crate) result_arrays: &'static [usize],
    /// The inputs with respect to which gradients are taken: their names in Nil.
    pub(crate) inputs: &'static [&'static str],
    /// These inputs: the indices of their arrays in C.
    pub(crate) input_arrays: &'static [usize],
}

macro_rules! sources {
    ($name:literal) => {
        (
            include_str!(concat!("../../benches/workloads/", $name, ".nil")),
            include_str!(concat!("../../benches/workloads/", $name, ".c")),
        )
    };
}

macro_rules! workload {
    ($name:literal, $about:literal, [$($f:literal ($call:literal)),+], $d:literal ($dcall:literal) $(+ $h:literal ($hcall:literal))?, [$($result:literal)+] [$($ra:literal)+], [$($input:literal)+] [$($ia:literal)+]) => {
        Workload {
            name: $name,
            about: $about,
            nil: sources!($name).0,
            c: sources!($name).1,
            objectives: &[$(($f, $call)),+],
            gradient: ($d, $dcall),
            hessian: [$(($h, $hcall))?].first().copied(),
            results: &[$($result),+],
            result_arrays: &[$($ra),+],
            inputs: &[$($input),+],
            input_arrays: &[$($ia),+],
        }
    };
}

/// All workloads.
pub static WORKLOADS: [Workload; 19] = [
    workload!(
        "bessel",
        "Bessel function J2, by its series to 1e-8",
        ["bessel"("a[0], I(1), a[2]")],
        "bessel_gradient"("Y(0), W(0), I(1), a[2], G(0)"),
        ["out!"][0],
        ["z"][2]
    ),
    workload!(
        "embedding",
        "loss of the Petersen graph in k dimensions",
        ["embedding"("a[0], a[1], n[1] / 10, a[2], n[2] / 2, a[3], n[3] / 2")],
        "embedding_gradient"("Y(0), W(0), a[1], G(0), n[1], n[1] / 10, a[2], n[2] / 2, a[3], n[3] / 2")
            + "embedding_hessian"("Y(0), W(0), a[1], G(0), H, n[1], n[1] / 10, a[2], n[2] / 2, a[3], n[3] / 2"),
        ["loss!"][0],
        ["x"][1]
    ),
    workload!(
        "norm",
        "length of a vector",
        ["norm"("a[0], a[1], a[2], n[2]")],
        "norm_gradient"("Y(0), W(0), a[2], G(0), n[2]"),
        ["norm!"][0],
        ["x"][2]
    ),
    workload!(
        "complex-log", "logarithm of a complex number",
        ["complex_log"("a[0], a[1]")],
        "complex_log_gradient"("Y(0), W(0), a[1], G(0)"),
        ["y!.re" "y!.im"][0], ["x.re" "x.im"][1]
    ),
    workload!(
        "sparse-dot", "scalar product of two sparse matrices",
        [
            "sparse_dot_spread"("a[0], a[7], n[1] - 1, a[1], a[2], a[3], a[4], a[5], a[6]"),
            "sparse_dot_merge"("a[0], n[1] - 1, a[1], a[2], a[3], a[4], a[5], a[6]")
        ],
        "sparse_dot_gradient"("Y(0), W(0), a[7], a[8], n[1] - 1, a[1], a[2], a[3], a[4], a[5], a[6], G(0), G(1)"),
        ["r!"][0], ["A.nzval" "B.nzval"][3 6]
    ),
    workload!(
        "sparse-matvec", "sparse matrix of complex numbers times a vector",
        ["sparse_matvec"("a[0], n[1] - 1, a[1], a[2], a[3], a[4]")],
        "sparse_matvec_gradient"("Y(0), W(0), n[0] / 2, n[1] - 1, a[1], a[2], a[3], a[4], G(0), G(1)"),
        ["y!"][0], ["A.nzval" "x"][3 4]
    ),
    workload!(
        "gmm", "log-likelihood of a Gaussian mixture (ADBench)",
        ["gmm"("a[0], a[1], a[2], a[3], a[4], n[2] / n[1], n[1], n[4] / (n[2] / n[1]), D(5), I(6)")],
        "gmm_gradient"("Y(0), W(0), a[1], a[2], a[3], a[4], G(0), G(1), G(2), n[2] / n[1], n[1], n[4] / (n[2] / n[1]), D(5), I(6)"),
        ["loss!"][0], ["α" "μ" "icf"][1 2 3]
    ),
    workload!(
        "ba", "residuals of a bundle adjustment (ADBench)",
        ["bundle_adjustment"("a[0], a[1], a[2], a[3], a[4], a[5], a[6], n[4]")],
        "bundle_adjustment_gradient"("Y(0), Y(1), W(0), W(1), a[2], a[3], a[4], a[5], a[6], G(0), G(1), G(2), n[2], n[3], n[4]"),
        ["err!" "werr!"][0 1], ["cams" "X" "w"][2 3 4]
    ),
    workload!(
        "leapfrog", "planar solar system, by leapfrog",
        ["leapfrog"("a[0], a[1], a[2], n[2], D(3), I(4)")],
        "leapfrog_gradient"("Y(0), Y(1), W(0), W(1), a[0], a[1], a[2], G(0), G(1), G(2), G(3), n[2], D(3), I(4)"),
        ["x!" "v!"][0 1], ["x!" "v!" "gm" "dt"][0 1 2 3]
    ),
    workload!(
        "unitary", "product with a unitary matrix of rotations",
        ["unitary"("a[0], I(2), I(3), a[1]")],
        "unitary_gradient"("Y(0), W(0), a[0], G(0), G(1), a[4], a[5], I(2), I(3), a[1]"),
        ["x!"][0], ["x!" "θ"][0 1]
    ),
    workload!(
        "logsumexp",
        "logarithm of a sum of exponentials",
        ["log_sum_exp"("a[0], a[1], n[1]")],
        "log_sum_exp_gradient"("Y(0), W(0), a[1], G(0), n[1]"),
        ["loss!"][0],
        ["x"][1]
    ),
    workload!(
        "k-means",
        "objective of clustering by the nearest centre",
        ["k_means"("a[0], a[1], a[2], I(3), n[1] / I(3), n[2] / I(3)")],
        "k_means_gradient"("Y(0), W(0), a[1], a[2], G(0), I(3), n[1] / I(3), n[2] / I(3)"),
        ["loss!"][0],
        ["centres"][2]
    ),
    workload!(
        "least-squares",
        "linear least squares",
        ["least_squares"("a[0], a[1], a[2], a[3], n[3], n[2]")],
        "least_squares_gradient"("Y(0), W(0), a[1], a[2], a[3], G(0), n[3], n[2]"),
        ["loss!"][0],
        ["x"][2]
    ),
    workload!(
        "logistic",
        "logistic regression",
        ["logistic"("a[0], a[1], a[2], a[3], n[3], n[2]")],
        "logistic_gradient"("Y(0), W(0), a[1], a[2], a[3], G(0), n[3], n[2]"),
        ["loss!"][0],
        ["w"][2]
    ),
    workload!(
        "lstm", "loss of a long short-term memory (ADBench)",
        ["lstm"("a[0], a[1], a[2], a[3], a[4], n[1] / (8 * I(5)), I(5), n[4] / I(5)")],
        "lstm_gradient"("Y(0), W(0), a[1], a[2], a[3], a[4], G(0), G(1), a[6], n[1] / (8 * I(5)), I(5), n[4] / I(5)"),
        ["loss!"][0], ["main" "extra"][1 2]
    ),
    workload!(
        "attention", "a head of attention",
        ["attention"("a[0], a[1], a[2], a[3], a[5], I(4), n[1] / I(4)")],
        "attention_gradient"("Y(0), W(0), a[1], a[2], a[3], G(0), G(1), G(2), a[5], I(4), n[1] / I(4)"),
        ["loss!"][0], ["Q" "K" "V"][1 2 3]
    ),
    workload!(
        "matmul", "square of a product of matrices",
        ["product"("a[0], a[1], a[2], a[4], I(3), n[1] / I(3), n[2] / (n[1] / I(3))")],
        "product_gradient"("Y(0), W(0), a[1], a[2], G(0), G(1), a[4], a[5], I(3), n[1] / I(3), n[2] / (n[1] / I(3))"),
        ["loss!"][0], ["A" "B"][1 2]
    ),
    workload!(
        "brusselator", "two reacting substances, by a Runge-Kutta method",
        ["brusselator"("a[0], a[1], a[2], a[3], n[1], D(4), I(5)")],
        "brusselator_gradient"("Y(0), W(0), a[1], a[2], a[3], G(0), G(1), G(2), a[6], n[1], D(4), I(5)"),
        ["loss!"][0], ["u" "v" "p"][1 2 3]
    ),
    workload!(
        "determinant",
        "a determinant by minors, which calls itself",
        ["determinant"("a[0], a[1], a[3], I(2)")],
        "determinant_gradient"("Y(0), W(0), a[1], G(0), a[3], I(2)"),
        ["det!"][0],
        ["A"][1]
    ),
];

/// The workload of this name.
pub(crate) fn workload(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|w| w.name == name)
}
