//! Results on the way back of a gradient: what is only added to is left alone, and loops whose turns add to words of their own run forward and back turn by
//! turn. Gradients are the interpreter's to the bit, and the data is as before.

use pendula::isa::sample;

use super::forgotten::gradients;
use super::jam::vector;
use super::nil::Call;
use super::whole::{compare, compare_there_and_back, there_and_back_in_c};

/// Loops over `y!`, `z!`, `x` and `w`, which have seven words, and `s!` and `t!`; `n` is 5.
const LOOPS: &[&str] = &[
    // Words of their own, in either direction, one or more, with what is read from others.
    "for i = 1:n
        y![i] += sin(x[i]) * exp(w[i] * x[i + 1])
    end",
    "for i = n:-1:1
        y![i] -= cos(x[i] * w[i + 2]) * x[i]
        y![i] += sqrt(abs(w[i])) * x[i]
    end",
    "for i = 1:3
        y![2 * i - 1] += exp(x[i] * w[i]) * x[i]
        y![2 * i] -= exp(x[i] - w[i]) * w[i]
    end",
    // Not of their own.
    "for i = 1:n
        y![i] += sin(x[i] * w[i]) * x[i]
        y![i + 1] += cos(x[i] * w[i]) * w[i]
    end",
    "for i = 1:n
        y![k[i]] += sin(x[i] * w[i]) * x[i]
    end",
    "for i = 1:n
        y![1] += sin(x[i] * w[i]) * x[i]
    end",
    // In a function, with arrays and with a word of one.
    "for i = 1:n
        part!(y!, x, w[i], i)
    end",
    "for i = 1:n
        one!(y![i], x[i], w[i])
        one!(z![i], w[i], x[i])
    end",
    "for i = 1:n
        slice!(y![i:i + 1], x[i:i + 1])
    end",
    "for i = 1:3
        slice!(y![2 * i - 1:2 * i], x[i:i + 1])
        slice!(y![2 * i - 1:2 * i], w[i:i + 1])
    end",
    // Under conditions, and with loops of their own.
    "for i = 1:n
        if (x[i] > 0.5, ~)
            y![i] += exp(x[i] * w[i]) * x[i]
        else
            y![i] -= x[i] * w[i] * w[i]
        end
    end",
    "for i = 1:n
        for m = 1:3
            y![i] += sin(x[i] * m) * w[m]
        end
    end",
    "for i = 1:n
        @routine begin
            v ← 0.0
            for m = 1:i
                v += sin(x[m] * w[i])
            end
        end
        y![i] += v * v
        ~@routine
    end",
    // Sums in variables beside them, and afterwards.
    "for i = 1:n
        y![i] += sin(x[i] * w[i]) * x[i]
        s! += cos(x[i] * w[i]) * x[i]
    end",
    "for i = 1:n
        y![i] += sin(x[i] * w[i]) * x[i]
        s! += x[i] * w[i]
    end
    s! += exp(x[1])",
    "for i = 1:n
        y![i] += sin(x[i] * w[i]) * x[i]
    end
    s! += exp(x[1] * w[2])
    for i = 1:n
        z![i] -= exp(x[i] * w[i]) * x[i]
    end
    t! += sin(w[3])",
    "for i = 1:n
        y![i] += sin(x[i] * w[i]) * x[i]
    end
    y![2] += exp(x[1] * w[2]) * w[3]
    for i = 1:n
        y![i] += cos(x[i] * w[i]) * x[i]
    end",
    // Read once they are complete, and before.
    "for i = 1:n
        y![i] += sin(x[i] * w[i]) * x[i]
    end
    for i = 1:n
        z![i] += exp(y![i] * w[i]) * y![i]
    end
    s! += sqrt(abs(z![2]))
    t! += s! * y![3]",
    "for i = 2:n
        y![i] += sin(y![i - 1] + x[i]) * w[i]
    end
    s! += y![n]",
    "for i = 1:n
        y![i] += x[i] * w[i]
    end
    s! += y![2]
    y![2] += sin(s!)
    t! += y![2] * y![2]",
    "while (s! < 3, s! > 0)
        s! += x[1] * x[1] + 1
        y![2] += sin(s!) * w[2]
    end",
    "t! += x[2] * 2
    y![3] += t! * w[1]
    SWAP(t!, s!)
    z![1] += t! * x[1]",
];

const FUNCTIONS: &str = "
@i function one!(y!::T, a::T, b::T) where T
    @routine begin
        u ← 0.0
        u += sin(a * b)
    end
    y! += u * u
    y! -= u / (b * b + 1)
    ~@routine
end
@i function part!(y!::Vector{Float64}, x::Vector{Float64}, b::Float64, i::Int)
    @routine begin
        u ← 0.0
        u += exp(x[i] * b)
    end
    y![i] += u * x[i + 1]
    y![i] -= u
    ~@routine
end
@i function slice!(y!::AbstractVector{Float64}, x::AbstractVector{Float64})
    @routine begin
        u ← 0.0
        u += exp(x[1] * x[2])
    end
    y![1] += u * x[1]
    y![2] -= u
    ~@routine
end
";

/// A program with loops over its results, and a call of it.
fn program(loops: &str) -> (String, Call) {
    let source = format!(
        "{FUNCTIONS}@i function f!(y!::Vector{{Float64}}, z!::Vector{{Float64}}, s!::Float64, t!::Float64, x::Vector{{Float64}}, w::Vector{{Float64}}, k::Vector{{Int}}, n::Int)
    {loops}
end
"
    );
    let numbers = |seed: usize| vector(7, seed);
    let args = format!("{},{},0.25,-0.5,{},{},[3,1,3,2,1,4,5],5", numbers(1), numbers(2), numbers(3), numbers(4));
    (source, Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() })
}

/// How many loops C code has that runs a program forward and back.
fn loops_in_c(loops: &str) -> usize {
    let (source, call) = program(loops);
    let c = there_and_back_in_c(&source, &call);
    c.text.matches("WATCH(").count() - 1
}

#[test]
fn turns_that_add_to_words_of_their_own_run_forward_and_back_at_once() {
    let words = "y![i] += sin(x[i] * w[i]) * x[i]";
    let cases = [
        (format!("for i = 1:n\n{words}\nend"), 1),
        (format!("for i = n:-1:1\n{words}\nend"), 1),
        (format!("for i = 1:2:n\n{words}\nend"), 1),
        ("for i = 1:n\npart!(y!, x, w[i], i)\nend".to_string(), 1),
        ("for i = 1:n\nslice!(y![2 * i - 1:2 * i], x[i:i + 1])\nend".to_string(), 1),
        // Two turns add to a word, or each is not known to add to words of its own.
        (format!("for i = 1:n\n{words}\ny![i + 1] += x[i]\nend"), 2),
        ("for i = 1:n\nslice!(y![i:i + 1], x[i:i + 1])\nend".to_string(), 2),
        // What comes after has to do with other results, or reads them.
        (format!("for i = 1:n\n{words}\nend\ns! += exp(x[1])"), 1),
        (format!("for i = 1:n\n{words}\nend\ns! += exp(y![1])"), 2),
    ];
    for (loops, expected) in cases {
        assert_eq!(loops_in_c(&loops), expected, "{loops}");
    }
}

#[test]
fn loops_over_results() {
    let mut finished = 0;
    for (n, loops) in sample::some(LOOPS.iter().enumerate()) {
        let (source, call) = program(loops);
        let ran = compare(&format!("loops {n}"), &source, &call);
        assert!(ran.whole, "{loops}");
        finished += usize::from(ran.finished);
    }
    assert!(finished >= sample::share(20_u8).into(), "{finished} finished");
}

/// What stops the interpreter on the way back, because rounding has changed a word, stops a run forward and back at once: nothing that may stop is left out,
/// though it changes only results.
#[test]
fn what_looks_at_rounded_words_is_not_left_out() {
    let function = |turn: &str| {
        format!(
            "@i function f!(y!::Float64, s!::Float64, x::Vector{{Float64}}, k!::Vector{{Int}})
    for i = 1:length(x)
        {turn}
        k![i] += 1
    end
    y! += s! * x[1]
    s! += 1e17
end
"
        )
    };
    let turns = [
        ("@safe @assert s! > 0.2 \"s\"", false),
        ("@safe @assert s! < 0.3 \"s\"", true),
        ("if (s! > 0.2, ~)\n y! += x[i]\n end", true),
        ("if (s! > 0.2, x[1] > 0)\n y! += x[i]\n end", false),
    ];
    for (turn, ends) in turns {
        assert_eq!(gradients(turn, &function(turn), "0.0,0.25,[0.5,0.75],[0,0]"), [ends; 2], "{turn}");
    }
    let overflows = "@i function f!(y!::Float64, z!::Float64, x::Vector{Float64}, w::Vector{Float64})
    z! += exp(x[1])
    y! += w[1] * w[1]
    x[1] += w[2]
    x[1] -= w[2]
end
";
    assert_eq!(gradients("overflow", overflows, "0.0,0.0,[709.7,1.0],[2.0,1e18]"), [false; 2]);
    assert_eq!(gradients("overflow", overflows, "0.0,0.0,[7.0,1.0],[2.0,1e18]"), [true; 2]);
    let condition = "@i function f!(t!::Float64, z!::Float64, x::Vector{Float64}, w::Vector{Float64})
    @routine begin
        v ← 0.0
        v += x[1]
    end
    if (exp(v) > 1.0, ~)
        z! += w[1] * v
    end
    @routine begin
        v += w[2]
        v += w[3]
    end
    t! += w[1] * w[1]
    ~@routine
    ~@routine
end
";
    assert_eq!(gradients("condition", condition, "0.0,0.0,[709.782712893384],[2.0,39596.413,54353.2]"), [false; 2]);
    let index = "@i function f!(s!::Float64, z!::Vector{Float64}, x::Vector{Float64}, w::Vector{Float64})
    @routine begin
        k ← 0
        k += floor(Int, x[1])
    end
    z![k] += w[3]
    ~@routine
    s! += w[1] * w[1]
    x[1] += w[2]
    x[1] -= w[2]
end
";
    assert_eq!(gradients("index", index, "0.0,[0.0,0.0],[1.25,1.0],[2.0,1e18,3.0]"), [false; 2]);
}

/// Words that are lent to computations come back rounded; what reads them later reads that, in the order of the run.
#[test]
fn words_that_are_lent_come_back_rounded() {
    let once = "@routine begin
            u ← 0.0
            u += sin(x[i])
        end
        y![i] += u * w[i]
        ~@routine";
    let lent = |turn: &str| {
        format!("for i = 1:n\n@routine begin\nx[1] += w[i]\nu ← 0.0\nu += sin(x[1])\nend\n{turn}\n~@routine\nend")
    };
    let bodies = [
        lent("y![i] += u * x[2]"),
        lent("s! += u * x[2]"),
        format!("@routine x[1] += w[1]\nfor i = 1:n\n{once}\nend\n~@routine\ns! += sin(x[1]) * w[2]"),
        format!("for i = 1:n\n{once}\nend\n@routine x[1] += w[1]\ns! += sin(x[1])\n~@routine"),
        "y![1] += sin(x[1]) * w[1]\n@routine begin\nx[1] += w[1]\nx[1] += w[2]\nend\ns! += x[1]\n~@routine".to_string(),
        "@routine begin
            v ← 0.0
            v += x[1]
        end
        @routine begin
            v += w[1]
            u ← 0.0
            u += sin(v)
        end
        s! += u * x[2]
        ~@routine
        @routine begin
            v += w[2]
            p ← 0.0
            p += sin(v)
        end
        s! += p * x[2]
        ~@routine
        ~@routine"
            .to_string(),
    ];
    for (n, body) in bodies.iter().enumerate() {
        let source = format!(
            "@i function f!(y!::Vector{{Float64}}, s!::Float64, x::Vector{{Float64}}, w::Vector{{Float64}}, n::Int)
{body}
end
"
        );
        let args = "[0.0,0.0,0.0],0.0,[0.1,0.7,0.3],[1e4,77.7,0.3],3";
        let call = Call { arguments: pendula::arguments::parse(args).expect("arguments"), ..Call::default() };
        let ran = compare(&format!("lent, {n}"), &source, &call);
        assert!(ran.whole && ran.finished, "{body}");
    }
}

/// How often functions add to a result is found out once for each function, also where they call themselves.
#[test]
fn results_of_many_calls() {
    let mut source = "@i function g0!(s!::Float64, a::Float64)\ns! += a\nend\n".to_string();
    for n in 1..=24 {
        let calls = format!("g{}!(s!, a)\n", n - 1).repeat(4);
        source.push_str(&format!("@i function g{n}!(s!::Float64, a::Float64)\nif (a > {n}, ~)\n{calls}end\nend\n"));
    }
    source.push_str(
        "@i function r!(s!::Float64, x::AbstractVector{Float64}, k::Int)
    if (k > 0, ~)
        @routine begin
            j ← 0
            j += k - 1
        end
        s! += sin(x[k])
        r!(s!, x, j)
        ~@routine
    end
end
@i function f!(s!::Float64, x::Vector{Float64}, n::Int)
    for i = 1:n
        r!(s!, x, i)
        g24!(s!, x[i])
    end
end
",
    );
    let call =
        Call { arguments: pendula::arguments::parse("0.5,[0.1,0.2,0.3],3").expect("arguments"), ..Call::default() };
    let ran = compare("calls", &source, &call);
    assert!(ran.whole && ran.finished);
}

/// Turns that add several times to one word, from words of memory upward and downward: gcc 12 adds other numbers where it makes vectors of them.
#[test]
fn several_sums_a_turn() {
    let source = "@i function f!(y!::Float64, z!::Float64, t!::Vector{Float64}, x::Vector{Float64}, w::Vector{Float64}, dt::Float64, h::Float64, n::Int)
    for i = 1:n
        y! += x[2 * i] * w[2 * i]
        y! += x[2 * i - 1] * w[2 * i - 1]
    end
    for i = n:-1:1
        z! -= x[2 * i - 1] * w[2 * i - 1]
        z! -= x[2 * i] * w[2 * i]
    end
    for i = 1:n
        t![2 * i - 1] += x[2 * i - 1] * dt
        t![2 * i] += x[2 * i] * dt
    end
    for i = 1:n
        t![2 * i] += w[2 * i] * h
        t![2 * i - 1] += w[2 * i - 1] * h
    end
end
";
    let numbers = |seed: usize| vector(2 * 37, seed);
    let args = format!("0.25,-0.5,{},{},{},0.3,0.7,37", numbers(1), numbers(2), numbers(3));
    let call = Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() };
    let ran = compare("several sums", source, &call);
    assert!(ran.whole && ran.finished);
}

/// A function with an array of its own, to which it adds what it takes away again; each turn then does what is told.
fn own_array(turn: &str, functions: &str) -> String {
    format!(
        "{functions}@i function f!(s!::Float64, x::Vector{{Float64}}, w::Vector{{Float64}}, n::Int)
    u ← zeros(n)
    for j = 1:n
        @routine begin
            for i = 1:n
                u[i] += x[i] * w[j]
                u[n + 1 - i] += x[j]
            end
        end
        {turn}
        ~@routine
    end
    u → zeros(n)
end
"
    )
}

const TURNED: &str = "@i function turned!(s!::Float64, u::Vector{Float64})
    ROT(u[1], u[2], u[3])
    s! += u[1]
    IROT(u[1], u[2], u[3])
end
";
const SWAPPED: &str = "@i function swapped!(s!::Float64, u::Vector{Float64})
    SWAP(u[1], u[2])
    s! += u[1]
    SWAP(u[1], u[2])
end
";

/// Words of a function's own array that are added to, turned or negated, for a time or for good, are looked at where the array ends: what is not finite stays so.
#[test]
fn arrays_of_which_words_stay_not_finite_are_looked_at_where_they_end() {
    let cases = [
        ("s! += u[1] * w[j]", "", true),
        ("s! += sin(u[j]) * w[j]\nu[2] += x[j]\ns! += u[2]\nu[2] -= x[j]", "", true),
        ("SWAP(u[1], u[2])\ns! += u[1]\nSWAP(u[1], u[2])", "", false),
        ("turned!(s!, u)", TURNED, true),
        ("swapped!(s!, u)", SWAPPED, false),
        ("ROT(u[1], u[3], x[j])\ns! += u[1]\nIROT(u[1], u[3], x[j])", "", true),
        ("NEG(u[2])\ns! += u[1] * u[2]\nNEG(u[2])", "", true),
        ("s! += x[j]\nROT(u[2], x[j], w[j])\ns! += x[j]\nIROT(u[2], x[j], w[j])", "", false),
        ("while (s! < 3, s! != 0.25)\ns! += u[1] * u[1] + 1\nend", "", false),
    ];
    let call = |x: &str| {
        let arguments = pendula::arguments::parse(&format!("0.25,{x},[0.5,-1.25,2.0],3")).expect("arguments");
        Call { arguments, ..Call::default() }
    };
    for (turn, functions, late) in cases {
        let c = there_and_back_in_c(&own_array(turn, functions), &call("[0.75,1.5,-0.5]")).text;
        let looks = c.lines().any(|line| line.trim().starts_with("CHECK(F("));
        assert_eq!(looks, !late, "{turn}");
    }
    for (turn, functions, _) in sample::some(cases) {
        // Sums that are too large in between.
        for x in ["[0.75,1.5,-0.5]", "[1e308,1.7e308,1e308]"] {
            let ran = compare(&format!("{turn}, {x}"), &own_array(turn, functions), &call(x));
            assert!(ran.whole, "{turn}, {x}");
            assert!(ran.finished == x.contains("0.75,") || turn.contains("while"), "{turn}, {x}");
        }
    }
}

/// So are words of an argument that are turned and negated.
#[test]
fn arguments_of_which_words_stay_not_finite() {
    let source = "@i function f!(x!::Matrix{Float64}, w::Vector{Float64})
    for j = 1:size(x!, 2) - 1
        for i = 1:size(x!, 1)
            ROT(x![i, j], x![i, j + 1], w[j])
            x![i, j + 1] -= w[j]
        end
        NEG(x![1, j])
    end
end
";
    for (x, finishes) in [("[0.5 1.5 -2.0; 0.25 -0.75 1.0]", true), ("[1.7e308 1.7e308 1.0; 0.25 -0.75 1.0]", false)] {
        let arguments = pendula::arguments::parse(&format!("{x},[0.78,-1.1]")).expect("arguments");
        let call = Call { arguments, ..Call::default() };
        let c = there_and_back_in_c(source, &call).text;
        let turns = c.split("static int64_t f_there_and_back").last().unwrap_or_default();
        let looks = turns.lines().any(|line| line.trim().starts_with("CHECK("));
        assert!(turns.contains("WATCH(") && !looks, "{turns}");
        let ran = compare(x, source, &call);
        assert!(ran.whole && ran.finished == finishes, "{x}");
    }
}

/// Neighbouring words of which one gets a difference of products and the other a sum are rounded as the interpreter does. Vectors of gcc would round once
/// (with `PENDULA_TEST_C=-O3`).
#[test]
fn differences_of_products_are_rounded_twice() {
    let source = "@i function f!(y!::Vector{Float64}, x::Vector{Float64}, w::Vector{Float64})
    ROT(y![1], y![2], w[1])
    IROT(y![3], y![4], w[2])
    @routine begin
        @zeros Float64 a b c d
        a += x[1] * w[1]
        a -= x[2]
        b += x[3] * w[2]
        b += x[4]
        c += x[1] * x[3] - w[1]
        d += x[2] * x[4] + w[2]
    end
    y![5] += a
    y![6] += b
    y![7] += c
    y![8] += d
    ~@routine
end
";
    for n in 0..3 {
        let x = vector(4, n);
        let args = format!("{},{x},{}", vector(8, n + 7), vector(2, n + 3));
        let call = Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() };
        assert!(compare(&format!("products {n}"), source, &call).finished, "{args}");
        compare_there_and_back(&format!("products {n}"), source, &call);
    }
}
