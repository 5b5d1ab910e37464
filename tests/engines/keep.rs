//! Values of elementary functions, and sums, that are kept for the way back of a gradient: gradients are the interpreter's to the bit, on both code generators, also where
//! there is no memory for the values.

use pendula::isa::adjoint::{ActiveArguments, GRADIENT};
use pendula::isa::sample;
use pendula::vm::{Config, Engine, Machine, RunKind, WholeProgram as _};

use super::nil::Call;
use super::whole::{compare_there_and_back, programs, there_and_back_in_c, without_regard_to_rounding};

/// Functions that computations call: with a loop, with a computation of their own, and without.
const FUNCTIONS: &str = "
@i function loop!(y!::T, a::T, b::T) where T
    for m = 1:3
        @routine begin
            u ← zero(T)
            u += tanh(a * m)
        end
        y! += tanh(u) * b
        ~@routine
    end
end

@i function nested!(y!::T, a::T, b::T) where T
    @routine begin
        u ← zero(T)
        loop!(u, a, b)
        v ← zero(T)
        loop!(v, u, a)
    end
    y! += u * v
    ~@routine
end

@i function plain!(y!::T, a::T) where T
    y! += log1p(abs(a))
end

@i function whole!(k!::Int, a::T, b::T) where T
    @routine begin
        t ← zero(T)
        t += a * 3
    end
    t += b
    @routine begin
        e ← zero(T)
        for m = 1:2
            e += exp(t)
        end
    end
    k! += floor(Int, e)
    ~@routine
    t -= b
    ~@routine
end

@i function product!(y!::T, a::AbstractVector{T}, b::AbstractVector{T}) where T
    for i = 1:length(a)
        y! += a[i] * b[i]
    end
end

@i function mean!(y!::T, a::AbstractVector{T}, b::T) where T
    @routine begin
        s ← zero(T)
        for i = 1:length(a)
            s += a[i] * b
        end
    end
    y! += s / length(a)
    ~@routine
end

@i function slice!(y!::AbstractVector{T}, a::T) where T
    @routine begin
        u ← zero(T)
        plain!(u, a)
        u += exp(a)
    end
    y![1] += u
    ~@routine
end
";

/// What a computation adds to `u`, to `v` and to the words of `a`, which it has made; how many statements of it keep values.
const COMPUTATIONS: &[(&str, usize)] = &[
    (
        "for i = 1:n
        u += exp(x[i] * 0.3)
    end",
        1,
    ),
    (
        "for i = n:-1:1
        u -= exp(x[i] * 0.3)
        a[i] += sin(w[i]) * x[i]
    end",
        2,
    ),
    // In a computation of a turn.
    (
        "for i = 1:n
        @routine begin
            t ← 0.0
            t += sin(x[i]) + cos(w[i])
        end
        a[i] += atan(t) * t
        u += t
        ~@routine
    end",
        3,
    ),
    // Other steps, and no turn at all.
    (
        "for i = 1:2:n
        a[i] += exp(w[i] * x[1])
    end
    for i = 1:k
        u += exp(w[i])
    end
    for i = k:-1:1
        v += exp(w[i])
    end",
        3,
    ),
    // Loops in loops, functions, and their inverses.
    (
        "for i = 1:n
        for m = 1:i
            a[i] += tanh(x[m] * w[i])
        end
        a[i] += exp(w[i])
    end",
        2,
    ),
    (
        "for i = 1:n
        loop!(v, x[i], w[i])
        plain!(v, x[i])
        slice!(a[i:i], x[i])
    end
    nested!(u, w[1], x[1])
    (~plain!)(u, x[2])",
        8,
    ),
    // Words of arrays that are lent.
    (
        "for i = 1:n
        nested!(a[i], w[i], x[i])
    end
    nested!(u, a[1], x[2])
    nested!(v, a[2], w[2])",
        2,
    ),
    // What a turn calls keeps values of its own, in a computation of which what is read is not the same on the way back.
    (
        "for i = 1:n
        a[i] += exp(x[i] * 0.3)
        @routine begin
            t ← 0.0
            q ← 0.0
            t += x[i] * 3
            nested!(q, t, w[i])
            t += w[i]
        end
        u += q * t
        ~@routine
    end
    nested!(v, u, x[1])",
        3,
    ),
    // Words of a computation that are changed before it ends, and are what they were but for rounding: what is read on the way back may be another number,
    // and decide otherwise.
    (
        "for i = 1:n
        @routine begin
            t ← 0.0
            t += x[i] * 3
        end
        t += w[i]
        t += x[2]
        if (t >= 0.5, ~)
            u += exp(t)
        else
            u += tanh(t)
        end
        t -= w[i]
        t -= x[2]
        ~@routine
    end",
        0,
    ),
    (
        "for i = 1:n
        @routine begin
            t ← zeros(Float64, 2)
            t[1] += x[i] * 3
        end
        @routine begin
            t[1] += w[i]
            r ← 0.0
            r += exp(t[1])
        end
        u += r
        ~@routine
        v += sin(t[1])
        ~@routine
    end",
        0,
    ),
    (
        "for i = 1:n
        @routine begin
            t ← 0.0
            r ← 0.0
            t += x[i] * 3
            r += w[i]
        end
        SWAP(t, r)
        u += exp(t)
        t += r
        v += exp(t)
        t -= r
        SWAP(t, r)
        ~@routine
    end",
        0,
    ),
    // In a function that makes an integer of it, which keeps a value for itself.
    (
        "m ← 0
    for i = 1:n
        whole!(m, x[i], w[i])
        u += exp(x[i] * 0.3)
    end
    v += exp(m * 0.001)",
        1,
    ),
    // Conditions, also of computed numbers.
    (
        "for i = 1:n
        if (x[i] > 0.2, ~)
            a[i] += exp(x[i])
        else
            loop!(u, w[i], x[i])
        end
    end
    u += a[1] * a[2]
    if (u > 0.0, ~)
        plain!(v, u)
    else
        v += exp(u)
    end",
        5,
    ),
    // A loop that ends by a condition.
    (
        "m ← 0
    while (m < 3, m != 0)
        m += 1
        plain!(u, w[m])
        u += exp(x[m] * 0.5)
    end
    a[1] += exp(m * 0.25)",
        3,
    ),
    // What is computed is used by what comes after it.
    (
        "for i = 1:n
        a[i] += exp(x[i] * 0.3)
    end
    for i = 1:n
        @routine begin
            t ← 0.0
            for m = 1:n
                t += exp(a[m] - w[i])
            end
        end
        u += log(t)
        ~@routine
    end
    loop!(v, u, x[1])",
        5,
    ),
    // A word that is added to after it was read: nothing is kept.
    (
        "for i = 2:n
        a[i] += exp(x[i] * 0.3) + tanh(a[i - 1])
        a[1] += tanh(a[i]) * w[i]
    end",
        0,
    ),
    // Sums, where they would be made again: in a variable, of words that have been made before.
    (
        "for i = 1:n
        @routine begin
            t ← 0.0
            t += w[i]
            for m = 1:i - 1
                t -= a[m] * w[m]
            end
        end
        a[i] += t / (2.0 + x[i])
        u += t * t
        ~@routine
    end",
        1,
    ),
    // In words of an array, two at once, and in blocks.
    (
        "for i = 1:n
        @routine begin
            h ← zeros(Float64, 3)
            @zeros Float64 t r p
            for q = 1:3
                for m = 1:n
                    h[q] += x[m] * w[i] * q
                end
            end
            for m = 1:n
                t += h[1] * x[m]
                r += (w[m] - h[2])^2
            end
            @simd for m = 1:n
                p += x[m] * h[3]
            end
        end
        u += t * r + p
        v += h[2] * x[i]
        a[i] += p * w[1]
        ~@routine
    end",
        4,
    ),
    // By a function; and where its caller's computation has the sum.
    (
        "for i = 1:n
        @routine begin
            @zeros Float64 t r
            product!(t, x, w)
            t += x[i]
            mean!(r, x, w[i])
        end
        a[i] += exp(t) * r
        ~@routine
    end
    mean!(u, w, x[1])
    v += a[1]",
        3,
    ),
    // In conditions, and in a loop that ends by one.
    (
        "m ← 0
    while (m < 3, m != 0)
        m += 1
        @routine begin
            t ← 0.0
            if (x[m] > 0.2, ~)
                for q = 1:n
                    t += x[q] * w[m]
                end
            else
                for q = n:-1:m
                    t -= x[q] / 3
                end
            end
        end
        u += t * x[m]
        a[m] += t
        ~@routine
    end",
        2,
    ),
    // Sums that are made once; and what turns add to other words.
    (
        "for i = 1:n
        u += x[i] * w[i]
    end
    for i = 1:n
        for m = 1:n
            a[i] += x[m] * u
        end
    end
    for i = 1:n
        @routine begin
            h ← zeros(Float64, n)
            for m = 1:n
                h[m] += x[m] * a[i]
            end
        end
        v += h[i] * h[1]
        ~@routine
    end",
        0,
    ),
    // In a computation that is not what it was: nothing is kept.
    (
        "for i = 1:n
        @routine begin
            t ← 0.0
            t += x[i]
        end
        t += w[i]
        @routine begin
            r ← 0.0
            for m = 1:n
                r += t * x[m]
            end
        end
        u += r * r
        ~@routine
        t -= w[i]
        ~@routine
    end",
        0,
    ),
    // In computations of computations, of which the way back leaves out some.
    (
        "for i = 1:n
        @routine begin
            @zeros Float64 t z
            for m = 1:n
                t += x[m] * w[i]
            end
            @routine begin
                r ← 0.0
                for m = 1:n
                    r += t * x[m]
                end
            end
            z += r * r
            ~@routine
        end
        u += z * t
        v += floor(z)
        ~@routine
    end
    for i = 1:n
        a[i] += w[i] * u
    end",
        2,
    ),
    // Nothing flows through `u`. The first loop stands there twice: for strips of turns, and for what is left of them.
    (
        "for i = 1:n
        u += floor(x[i])
        v += exp(0.5 * i)
    end
    for i = 1:n
        a[i] += exp(w[i]) * v
    end",
        3,
    ),
];

fn program(computation: &str) -> (String, Call) {
    let source = format!(
        "{FUNCTIONS}
@i function f!(s!::Float64, t!::Float64, x::Vector{{Float64}}, w::Vector{{Float64}}, n::Int, k::Int)
    @routine begin
        u ← 0.0
        v ← 0.0
        a ← zeros(Float64, n)
        {computation}
    end
    s! += u * v + u
    for i = 1:n
        s! += a[i] * a[i]
    end
    t! -= exp(v)
    ~@routine
end
"
    );
    let args = "0.25,-0.5,[0.31,-0.72,1.1,0.05,0.66],[-0.2,0.45,0.9,-1.3,0.71],5,0";
    (source, Call { arguments: pendula::arguments::parse(args).expect("arguments"), ..Call::default() })
}

/// In how many places C code writes values that it keeps.
fn kept_in_c(source: &str, call: &Call) -> usize {
    let c = there_and_back_in_c(source, call);
    assert_eq!(c.facts.keeps, c.text.contains("    KEEP("), "{source}");
    c.text.matches("    LOGGED(value").count()
}

#[test]
fn values_are_kept() {
    for (computation, expected) in COMPUTATIONS {
        let (source, call) = program(computation);
        assert_eq!(kept_in_c(&source, &call), *expected, "{computation}");
    }
}

#[test]
fn gradients_with_kept_values() {
    for (n, (computation, _)) in sample::some(COMPUTATIONS.iter().enumerate()) {
        let (source, call) = program(computation);
        compare_there_and_back(&format!("computation {n}"), &source, &call);
        assert!(without_regard_to_rounding(&format!("computation {n}"), &source, &call), "{computation}");
    }
}

/// In a loop, where each turn has a computation that keeps values, and within another computation.
#[test]
fn computations_in_loops_and_in_others() {
    for (n, (computation, _)) in sample::some(COMPUTATIONS.iter().enumerate()) {
        let (source, call) = program(computation);
        let source = format!(
            "{}
@i function g!(s!::Float64, t!::Float64, x::Vector{{Float64}}, w::Vector{{Float64}}, n::Int, k::Int)
    for q = 1:2
        f!(s!, t!, x, w, n, k)
    end
    @routine begin
        b ← zeros(Float64, 3)
        c ← 0.0
        for q = 1:3
            f!(b[q], c, x, w, n, k)
        end
    end
    t! += b[1] * b[3] + c
    ~@routine
end
",
            source.replace("s! += a[i] * a[i]", "s! += a[i] * w[i] * 1e-3").replace("t! -= exp(v)", "t! -= sin(v)")
        );
        compare_there_and_back(&format!("computation {n} in others"), &source, &call);
        assert!(without_regard_to_rounding(&format!("computation {n} in others"), &source, &call), "{computation}");
    }
}

/// Where they would take too much memory, values are computed again; where they may take none, nothing is kept.
#[test]
fn too_little_memory() {
    let (source, call) = program(COMPUTATIONS[5].0);
    let mut gradients = Vec::new();
    for words in [1 << 10, usize::MAX, 10, 0] {
        for (program, code) in &programs("little memory", &source, &call) {
            let config = Config { mem: Some(1 << 14), engine: Engine::Interpreter, ..Config::default() };
            let mut machine = Machine::new(program, &config).expect("a machine");
            machine.allow_whole(true);
            machine.set_kept_words(words);
            assert!(machine.run_forward_and_back(&[(0, 1f64.to_bits())]), "{words} words");
            let kind = RunKind::ForwardAndBack(ActiveArguments::ALL);
            assert_eq!(code.as_ref().expect("code").keeps(kind), words >= 1 << 10, "{words} words");
            gradients.push((0..12).map(|at| machine.lane_word(GRADIENT, at)).collect::<Vec<_>>());
        }
    }
    assert!(gradients.iter().all(|g| *g == gradients[0]), "{gradients:?}");
}
