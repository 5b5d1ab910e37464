//! Tests of the plain form of files of Julia: what is written, what is left out, and that every file's can be read.

use std::path::{Path, PathBuf};

use pendula_compiler::nil::fmt::format_source;
use pendula_compiler::nil::plain::plain;
use pendula_compiler::nil::read;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Severity, Sources};

/// The plain form, and the messages about it.
fn written(text: &str) -> (String, Vec<String>) {
    let made = plain("f.jl", text, &Budget::default(), false);
    let text = made.text.unwrap_or_else(|| panic!("{text}\n{:#?}", made.diagnostics));
    assert_eq!(format_source(&text).as_ref(), Ok(&text), "canonical");
    let (_, found) = read(&mut Sources::default(), "f.nil", text.clone(), &Budget::default(), true);
    assert!(
        found.iter().all(|d| d.severity == Severity::Note && d.message.contains("constructor")),
        "{text}\n{found:#?}"
    );
    (text, made.diagnostics.into_iter().map(|d| d.message).collect())
}

/// Asserts that a file has a plain form, and nothing is left out.
fn whole(text: &str, expected: &str) {
    let (found, messages) = written(text);
    assert_eq!(found, expected);
    assert!(messages.is_empty(), "{messages:#?}");
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "jl") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_of_the_repository_has_a_plain_form() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let mut all = Vec::new();
    files(&root.join("tests"), &mut all);
    files(&root.join("examples"), &mut all);
    assert!(all.len() > 30, "{}", all.len());
    let mut functions = 0;
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a text");
        functions += written(&text).0.matches("@i function").count();
    }
    assert!(functions > 100, "{functions}");
    for page in ["from-nilang.md", "nilang-tutorial.md"] {
        let text = std::fs::read_to_string(root.join("docs/src").join(page)).expect("a page");
        for block in text.split("```julia\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            written(block);
        }
    }
}

#[test]
fn comments_documentation_and_constants_are_kept_and_the_host_is_not() {
    whole(
        "# A file.

using NiLang, Test, Plots
# a plot
plot(1, 2; k = 3)

\"A rate.\"
const RATE = 0.5

module Inner
    # The square.
    sq(x)=x^2 # of itself
    @inline function both(a, b)
        # as a sum
        return a + b
    end
    \"\"\"
    Adds the square.
    \"\"\"
    @i function f(y, x)
        y+=sq(x)*RATE # with a comment
    end # the end
    mutable struct Point{T} # of the plane
        x::T
    end
    const Points{T} = Vector{Point{T}}
end
# the last line
",
        "# A file.

using NiLang

# A rate.
const RATE = 0.5

# The square.
sq(x) = x^2 # of itself

# as a sum
both(a, b) = a + b

\"\"\"
Adds the square.
\"\"\"
@i function f(y, x)
    y += sq(x) * RATE # with a comment
end # the end

mutable struct Point{T} # of the plane
    x::T
end

const Points{T} = Vector{Point{T}}

# the last line
",
    );
}

#[test]
fn names_of_several_scopes_are_told_apart() {
    whole(
        "@i function f(y, x)
    y += x
end
@testset \"a\" begin
    k = 2.0
    n, m = 3, 4
    @i function test1(y, x)
        y += k * x + n
        f(y, x)
    end
end
@testset \"b\" begin
    k = 5.0
    @i function f(y, x)
        y += k * x
    end
    @i function test1!(y, x)
        f(y, x)
        (~f)(y, x)
        g(y, x; k)
        y += f(x) + sum(t -> t * k, [x, 1.0])
    end
    @i function test1(y, x; k = 2)
        map1(f, y, x)
        y += k
    end
    @i function g(y, x; k)
        f ← 2.0
        y += x * k * f
        f → 2.0
    end
end
@i function map1(h, y, x)
    h(y, x)
end
",
        "@i function f(y, x)
    y += x
end

const k_5 = 2.0
const n = 3

@i function test1_7(y, x)
    y += k_5 * x + n
    f(y, x)
end

const k_13 = 5.0

@i function f_14(y, x)
    y += k_13 * x
end

@i function test1!(y, x)
    f_14(y, x)
    (~f_14)(y, x)
    g(y, x; k = k_13)
    y += f_14(x) + sum(t -> t * k_13, [x, 1.0])
end

@i function test1_23(y, x; k = 2)
    map1(f_14, y, x)
    y += k
end

@i function g(y, x; k)
    f ← 2.0
    y += x * k * f
    f → 2.0
end

@i function map1(h, y, x)
    h(y, x)
end
",
    );
}

#[test]
fn what_the_host_leaves_unsaid_is_said() {
    whole(
        "using NiLang
# `value` stays a view.
relu(x::Int) = 0
relu(x) = max(x, 0)
@i function f(y::ULogarithmic, A, n::Vector)
    if n[1] > 0
        y *= exp(2.0)
    elseif (n[1] < -1 && n[2] < 3)
        y *= exp(1.0)
    elseif (n[2] == 3, ~)
        y *= exp(3.0)
    end
    @safe counter[] += 1
    (@safe counter[] += 1; n[1] += 1)
    n[2] += n[1, 1] + relu(n[1])
    @safe @assert n[1] < 3 \"n\"
end
",
        "using NiLang

# `value` stays a view.
relu_3(x::Int) = 0
relu_3(x) = max(x, 0)

@i function f(y::ULogarithmic{Float64}, A, n::Vector)
    if (n[1] > 0, ~)
        y *= exp(2.0)
    elseif (n[1] < -1 && n[2] < 3, ~)
        y *= exp(1.0)
    elseif (n[2] == 3, ~)
        y *= exp(3.0)
    end
    (nothing; n[1] += 1)
    n[2] += n[1, 1] + relu_3(n[1])
    @safe @assert n[1] < 3 \"n\"
end
",
    );
    whole(
        "@i function f(y::ULogarithmic{T}, x::T, z::Logarithmic{S}) where {T, S <: Real}\n    y *= exp(2.0)\nend\n",
        "@i function f(y::ULogarithmic{T}, x::T, z::Logarithmic{S}) where {T <: AbstractFloat, S <: AbstractFloat}
    y *= exp(2.0)
end
",
    );
    // The format of `Fixed` is that which the host's code names, and further indices are those of NiLang.
    whole(
        "@i function f(y::Fixed, A)\n    y += A[1, 1]\nend\n@test f(Fixed43(1.0), [1.0])\n",
        "using NiLang
# `Fixed` has this format.
const FixedFormat = Fixed43

@i function f(y::Fixed, A)
    y += A[1, 1]
end
",
    );
}

#[test]
fn loops_around_eval_and_reversible_functions_of_the_host_are_written_out() {
    whole(
        "for (F, G) in [(:sine, :sin), (:cosine, :cos)]
    # Of one number.
    \"The function $G.\"
    @eval @i function $F(y, x)
        y += $G(x)
    end
    @eval twice(x, y) = $G(x) + y
end
@inline function plus(a!::Number, b)
    a! + b * 2, b
end
function minus(a!::Number, b)
    a! - b * 2, b
end
@dual plus minus
negative(b::T) where T = -b
@selfdual negative
",
        "@i function plus(a!::Number, b)
    a! += b * 2
end

@i function minus(a!::Number, b)
    a! -= b * 2
end

@i function negative(b::T) where T
    NEG(b)
end

# Of one number.
\"The function sin.\"
@i function sine(y, x)
    y += sin(x)
end

twice(x, y) = sin(x) + y

\"The function cos.\"
@i function cosine(y, x)
    y += cos(x)
end

twice(x, y) = cos(x) + y
negative(b::T) where T = -b
",
    );
}

#[test]
fn what_cannot_be_written_is_named_with_the_reason() {
    let (text, messages) = written(
        "const k = 1
@i function bad(y, x::Complex)
    y = x
end
@i function bad(y, x)
    y += x
end
@i function twice(y)
    y += 1
end
@i function twice(y)
    y += 2
end
@i function alone(y)
    y = 1
end
exp(x::Float64) = x
@i function uses(y, x)
    y += exp(x)
end
@testset \"a\" begin
    k = 2
    k = 3
    @i function reads(y)
        y += k
    end
    @i function reads_none(y, k)
        y += k
    end
end
@i function untyped(y::Int)
    y += \"text\"
end
",
    );
    let expected = "const k = 1

# left out: `bad` (line 2): `=` forgets what was there before
@i function bad(y, x::Complex)
    @safe error(\"`bad` is left out: `=` forgets what was there before\")
end

@i function bad(y, x)
    y += x
end

# left out: `twice` (line 8): the definition in line 11 takes its place

@i function twice(y)
    y += 2
end

# left out: `alone` (line 14): `=` forgets what was there before

# left out: `uses` (line 18): it uses `exp`, which the host defines again for some types

# left out: `reads` (line 24): the host gives `k` several values, and which one it has is not known here

@i function reads_none(y, k)
    y += k
end
";
    assert!(text.starts_with(expected), "{text}");
    let (_, last) = text.split_at(expected.len());
    assert!(last.starts_with("\n# left out: `untyped` (line 31): ") && last.lines().count() == 2, "{last}");
    for name in ["bad", "alone", "uses", "reads", "untyped"] {
        let begins = format!("`{name}` is left out: ");
        assert_eq!(messages.iter().filter(|m| m.starts_with(&begins)).count(), 1, "{name}: {messages:#?}");
    }
    assert!(!messages.iter().any(|m| m.contains("twice")), "{messages:#?}");
    // Strictly, nothing is written.
    let made = plain("f.jl", "@i function f(y)\n    y = 1\nend\n", &Budget::default(), true);
    assert!(made.text.is_none() && made.diagnostics.iter().any(|d| d.severity == Severity::Error), "{made:#?}");
}

/// Definitions of objects that are called have no name that could tell their scopes apart.
#[test]
fn a_call_finds_no_other_definition_in_the_place_of_one_that_is_left_out() {
    let (text, _) = written(
        "struct Add{T}
    by::T
end
@testset \"a\" begin
    @i function (a::Add)(y)
        y += a.by
    end
end
@testset \"b\" begin
    @i function (a::Add)(y)
        y += 2 * a.by
    end
end
@i function f($x)
    x += 1
end
@i function f(y, x)
    y += x
end
@i function sin(y, $x)
    y += x
end
@i function g(y, x)
    sin(y, x)
end
@i function h(y, x)
    y += cos(x)
end
",
    );
    let left_out: Vec<&str> = text.lines().filter(|line| line.starts_with("# left out")).collect();
    assert_eq!(left_out.len(), 6, "{text}");
    assert_eq!(text.matches("@i function").count(), 1, "{text}");
    assert!(
        text.contains("@i function h(y, x)") && text.contains("`g` (line 23): it uses `sin`, which is left out"),
        "{text}"
    );
}

/// In a program in Nil, functions that are one expression have a meaning, unless they have a built-in name.
#[test]
fn programs_have_functions_that_are_one_expression() {
    use pendula_compiler::nil::sema::{Settings, analyse};
    let errors = |text: &str| {
        let (inputs, mut found) = read(&mut Sources::default(), "f.nil", text.to_string(), &Budget::default(), true);
        found.extend(analyse(&inputs, &Settings::default()).diagnostics);
        found.retain(|d| d.severity == Severity::Error);
        found.into_iter().map(|d| d.message).collect::<Vec<_>>()
    };
    let f = "@i function f(y::Float64, x::Float64)\n    y += sq(x)\nend\n";
    assert_eq!(errors(&format!("sq(x) = x^2\n{f}")), [""; 0]);
    assert_eq!(errors(f).len(), 1);
    // The built-in function stays what it is: of two arguments there is none.
    let f = f.replace("sq(x)", "exp(x, x)");
    assert_eq!(errors(&format!("exp(x, y) = x + y\n{f}")).len(), 1);
    let f = f.replace("exp(x, x)", "exp(P(x))");
    assert_eq!(errors(&format!("struct P\n    x::Float64\nend\nexp(p::P) = p.x\n{f}")), [""; 0]);
    // So are names of types.
    let g = "const Real = Vector{Int}\nconst Pair = Complex{Float64}\n@i function f(y::Real, z::Pair)\n    y += z.re\nend\n";
    assert_eq!(errors(&format!("{g}@i function main(y::Float64, z::Pair)\n    f(y, z)\nend\n")), [""; 0]);
}
