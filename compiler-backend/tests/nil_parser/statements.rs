//! Each construct, and its syntax tree.

use pendula_compiler::nil::ast::{AssignOp, Item};

use crate::nil_parser::shape::{body, expr, function, param, read, ty, value};

#[test]
fn numbers_and_names() {
    assert_eq!(value("1_000"), "1000");
    assert_eq!(value("0x1f + 0b101 + 0o17"), "(+ (+ 0x1f 0b101) 0o17)");
    assert_eq!(value("1.5e-3 + .5 + 1. + 2E4"), "(+ (+ (+ 1.5e-3 .5) 1.) 2E4)");
    assert_eq!(value("x! + αₓ_1 + π"), "(+ (+ x! αₓ_1) π)");
    assert_eq!(value("x!=y"), "(!= x y)");
    assert_eq!(value("true && !false"), "(&& true (! false))");
}

#[test]
fn numbers_before_factors() {
    assert_eq!(value("2x"), "(* 2 x)");
    assert_eq!(value("2x^2"), "(* 2 (^ x 2))");
    assert_eq!(value("-2x'"), "(- (* 2 (' x)))");
    assert_eq!(value("1/2π"), "(/ 1 (* 2 π))");
    assert_eq!(value("2^3x"), "(^ 2 (* 3 x))");
    assert_eq!(value("1.2im + 3(x + 1)"), "(+ (* 1.2 im) (* 3 (+ x 1)))");
    assert_eq!(value("2f(x)"), "(* 2 (call f x))");
}

#[test]
fn precedence() {
    assert_eq!(value("a + b * c ^ d ^ e"), "(+ a (* b (^ c (^ d e))))");
    assert_eq!(value("-a ^ -b"), "(- (^ a (- b)))");
    assert_eq!(value("a - b - c"), "(- (- a b) c)");
    assert_eq!(value("a << 2 * b"), "(* (<< a 2) b)");
    assert_eq!(value("a | b & c ⊻ d xor e"), "(⊻ (⊻ (| a (& b c)) d) e)");
    assert_eq!(value("a || b && c == d + 1"), "(|| a (&& b (== c (+ d 1))))");
    assert_eq!(value("a ÷ b % c"), "(% (÷ a b) c)");
    assert_eq!(value("a >> 1 >>> 2"), "(>>> (>> a 1) 2)");
    assert_eq!(value("!a == b"), "(== (! a) b)");
    assert_eq!(value("√x + ~y"), "(+ (√ x) (~ y))");
    assert_eq!(value("a .* b .+ c .^ 2 ./ d .- 1"), "(.- (.+ (.* a b) (./ (.^ c 2) d)) 1)");
    assert_eq!(value("1:n-1 |> f"), "(|> (: 1 (- n 1)) f)");
    assert_eq!(value("a ≤ b && a ≠ c || a === d"), "(|| (&& (<= a b) (!= a c)) (== a d))");
}

#[test]
fn chains_of_comparisons() {
    assert_eq!(value("a < b <= c"), "(&& (< a b) (<= b c))");
    assert_eq!(value("a < b + 1 < c == d"), "(&& (&& (< a (+ b 1)) (< (+ b 1) c)) (== c d))");
    assert_eq!(value("(a < b) < c"), "(< (< a b) c)");
    assert_eq!(value("a < b && c < d"), "(&& (< a b) (< c d))");
    assert_eq!(value("(a < b < c) == d"), "(== (&& (< a b) (< b c)) d)");
}

#[test]
fn choices_and_ranges() {
    assert_eq!(value("c ? a : b"), "(? c a b)");
    assert_eq!(value("a ? b : c ? d : e"), "(? a b (? c d e))");
    assert_eq!(value("a ? b ? 1 : 2 : 3"), "(? a (? b 1 2) 3)");
    assert_eq!(value("a ? x[1:2] : y[1 : 2]"), "(? a (index x (: 1 2)) (index y (: 1 2)))");
    assert_eq!(value("a ? 1:2 : 3:4"), "(? a (: 1 2) (: 3 4))");
    assert_eq!(value("a:b:c"), "(: a b c)");
    assert_eq!(value("(a:b):c"), "(: (: a b) c)");
    assert_eq!(value("a > b ? a : b"), "(? (> a b) a b)");
}

#[test]
fn operands() {
    assert_eq!(value("x[i, :, end-1].re'"), "(' (. (index x i : (- end 1)) re))");
    assert_eq!(value("f.(x)[1]"), "(index (call f. x) 1)");
    assert_eq!(value("f(x, y; k = 1, l)"), "(call f x y k=1 l=l)");
    assert_eq!(value("f(x, k=1)"), "(call f x k=1)");
    assert_eq!(value("f()()"), "(call (call f))");
    assert_eq!(value("Complex{T}(a, b)"), "(call Complex{T} a b)");
    assert_eq!(value("zero(Base.Array{Complex{T}, 2})"), "(call zero Array{Complex{T} 2})");
    assert_eq!(value("(a, b) + (a,) + ()"), "(+ (+ (tuple a b) (tuple a)) (tuple))");
    assert_eq!(value("[1, 2,] + []"), "(+ (array 1 2) (array))");
    assert_eq!(value("A[] + A.colptr[j+1]"), "(+ (index A) (index (. A colptr) (+ j 1)))");
    assert_eq!(value("(~f)(x) + f(~g, @skip! y)"), "(+ (call (~ f) x) (call f (~ g) (skip y)))");
    assert_eq!(value("@const a + 1"), "(const (+ a 1))");
    assert_eq!(value("@const(a) + 1"), "(+ (const a) 1)");
    assert_eq!(value("xor(a, b) + ⊻(a, b)"), "(+ (call xor a b) (call ⊻ a b))");
    assert_eq!(value("SparseArrays.getcolptr(A)[col]"), "(index (call (. SparseArrays getcolptr) A) col)");
}

#[test]
fn texts() {
    let show = |t: &str| body(&format!("@safe println({t})"));
    assert_eq!(show(r#""a\tb\"\\\x41\u3b1""#), r#"(show <"a\tb\"\\Aα">)"#);
    assert_eq!(show(r#""x = $x!, $(y + 1)%""#), r#"(show <"x = " $x! ", " $(+ y 1) "%">)"#);
    assert_eq!(show(r#""$(f("in $(1)"))""#), r#"(show <$(call f <"in " $1>)>)"#);
    assert_eq!(show("\"\"\"a \"quoted\" b\"\"\""), r#"(show <"a \"quoted\" b">)"#);
    assert_eq!(show("\"\""), "(show <>)");
}

#[test]
fn assignments() {
    assert_eq!(
        body("y += a\ny -= a\ny ⊻= a\ny ∨= a\ny xor= a\ny $= a\ny *= a\ny /= a"),
        "(+= y a) (-= y a) (⊻= y a) (⊻= y a) (⊻= y a) (⊻= y a) (*= y a) (/= y a)"
    );
    assert_eq!(body("y .+= f.(x)\ny.⊻=x"), "(.+= y (call f. x)) (.⊻= y x)");
    assert_eq!(body("-x[2].re' += 1"), "(+= (- (' (. (index x 2) re))) 1)");
    assert_eq!(body("grad(a[3].value) += x * y"), "(+= (call grad (. (index a 3) value)) (* x y))");
    assert_eq!(body("x |> subarray(1:2) |> grad -= y"), "(-= (|> (|> x (call subarray (: 1 2))) grad) y)");
    assert_eq!(body("(x, y) += z; (x).re -= 1"), "(+= (tuple x y) z) (-= (. x re) 1)");
    assert_eq!(body("y += a +\n b\ny += (a\n + b)"), "(+= y (+ a b)) (+= y (+ a b))");
    assert_eq!(body("y += a\n-x += 1"), "(+= y a) (+= (- x) 1)");
}

#[test]
fn allocations() {
    assert_eq!(body("a ← 0\na <- 1\na<-1\nb <- -1"), "(← a 0) (← a 1) (← a 1) (← b (- 1))");
    assert_eq!(body("a → 0\na -> 1\na->1"), "(→ a 0) (→ a 1) (→ a 1)");
    assert_eq!(body("@anc a = zero(x)\n@deanc a = 0"), "(← a (call zero x)) (→ a 0)");
    assert_eq!(body("(a, b) ← (1, 2)\nd[k] <- 3"), "(← (tuple a b) (tuple 1 2)) (← (index d k) 3)");
    assert_eq!(body("if a<-1\nend"), "(if (< a (- 1)) [] else [])");
    assert_eq!(
        body("@zeros T a b\n@ones Complex{Float64} c; ~@zeros T a b\n~@ones T c"),
        "(zeros T a b) (ones Complex{Float64} c) (~zeros T a b) (~ones T c)"
    );
    assert_eq!(body("x ← new{T, G}(x, g)"), "(← x (call new{T G} x g))");
}

#[test]
fn calls() {
    assert_eq!(body("f(a, b; k = 1)\nf.(a)\n~f(a)\n(~f)(a)"), "(call f a b k=1) (call f. a) (uncall f a) (uncall f a)");
    assert_eq!(body("~(~f)(a)\n~~f(a)"), "(call f a) (call f a)");
    assert_eq!(
        body("f[base](s[base+1], s[base])\ng.f(a)"),
        "(call (index f base) (index s (+ base 1)) (index s base)) (call (. g f) a)"
    );
    assert_eq!(body("(f(a))\n(Int => Base.Float64)(a.re)"), "(call f a) (convert Int Float64 (. a re))");
    assert_eq!(body("(Complex{T} => T)(a)"), "(convert Complex{T} T a)");
    assert_eq!(body("f(a,\n  b,\n)"), "(call f a b)");
}

#[test]
fn blocks() {
    assert_eq!(body("begin x += 1; y -= 2 end"), "[(+= x 1) (-= y 2)]");
    assert_eq!(body("~begin\nx += 1\nend\n~(x += 1)"), "(~ [(+= x 1)]) (~ (+= x 1))");
    assert_eq!(
        body("~(x += 1;\nfor i = 1:2\ny += i\nz -= i\nend;\nf(x))\n(x += 1; f(x);)"),
        "(~ [(+= x 1) (for i (: 1 2) [(+= y i) (-= z i)]) (call f x)]) [(+= x 1) (call f x)]"
    );
    assert_eq!(
        body("~@inbounds for i=1:2\nend\n~if a\nend"),
        "(~ (@inbounds (for i (: 1 2) []))) (~ (if a [] else []))"
    );
}

#[test]
fn routines() {
    assert_eq!(
        body("@routine begin\nx += 1\nend\n~@routine\n@routine x += 1\n@routine f(x)"),
        "(routine _ [(+= x 1)]) (unroutine _) (routine _ [(+= x 1)]) (routine _ [(call f x)])"
    );
    assert_eq!(
        body("@routine r begin\nx += 1\nend\n~@routine r\n@routine r\n@routine s for i=1:2 end"),
        "(routine r [(+= x 1)]) (unroutine r) (~ (unroutine r)) (routine s [(for i (: 1 2) [])])"
    );
    assert_eq!(
        body("@routine @invcheckoff begin\nx += 1\nend\n@routine r (x += 1; y += 1)"),
        "(routine _ [(@invcheckoff [(+= x 1)])]) (routine r [(+= x 1) (+= y 1)])"
    );
}

#[test]
fn control_flow() {
    assert_eq!(
        body("if (a, b)\nx += 1\nelseif (c > 1, ~)\nx += 2\nelseif d\nelse\nx += 3\nend"),
        "(if (a, b) [(+= x 1)] ((> c 1), (> c 1)) [(+= x 2)] d [] else [(+= x 3)])"
    );
    assert_eq!(body("if (a) && b x += 1 end"), "(if (&& a b) [(+= x 1)] else [])");
    assert_eq!(body("if (a > 0 &&\n  b, k!=0) end"), "(if ((&& (> a 0) b), (!= k 0)) [] else [])");
    assert_eq!(
        body("while (a > 1, a != n)\nf(a)\nend\nwhile a end"),
        "(while ((> a 1), (!= a n)) [(call f a)]) (while a [])"
    );
    assert_eq!(body("@from a != 0 while b > 1\nx += 1\nend"), "(while ((> b 1), (! (!= a 0))) [(+= x 1)])");
    assert_eq!(
        body("for i = 1:n\nend\nfor i=n:-1:1 end\nfor i in eachindex(x) end; for i ∈ 1:2 end"),
        "(for i (: 1 n) []) (for i (: n (- 1) 1) []) (for i (call eachindex x) []) (for i (: 1 2) [])"
    );
    assert_eq!(body("for i=1:n, j in 1:i\nx += 1\nend"), "(for i (: 1 n) [(for j (: 1 i) [(+= x 1)])])");
}

#[test]
fn marks() {
    assert_eq!(
        body("@invcheckoff @inbounds x += 1\n@inline x += 1\n@simd for i = 1:2 end\n@instr f(x)"),
        "(@invcheckoff (@inbounds (+= x 1))) (@inline (+= x 1)) (@simd (for i (: 1 2) [])) (@hint (call f x))"
    );
    assert_eq!(body("@invcheckoff a ← zeros(Bool, 2n)"), "(@invcheckoff (← a (call zeros Bool (* 2 n))))");
}

#[test]
fn host_statements_that_are_kept() {
    assert_eq!(body("@safe @assert a == b"), "(assert (== a b))");
    assert_eq!(
        body("@safe @assert a == b \"no\"\n@safe @assert(a, \"no\")"),
        "(assert (== a b) <\"no\">) (assert a <\"no\">)"
    );
    assert_eq!(body("@safe a || error(\"no\")\n@safe a && error()"), "(assert a <\"no\">) (assert (! a))");
    assert_eq!(body("@safe a || b || throw(E(\"no $x\"))"), "(assert (|| a b) <\"E: \" \"no \" $x>)");
    assert_eq!(body("@safe size(B) == (m,n) || throw(E())"), "(assert (== (call size B) (tuple m n)) <\"E\">)");
    assert_eq!(body("@safe error(\"a\", b)\n@safe throw(\"c\")"), "(error <\"a\" $b>) (error <\"c\">)");
    assert_eq!(body("@safe @show a b + 1\n@safe println(\"a\", b)"), "(show a (+ b 1)) (show <\"a\"> b)");
    assert_eq!(body("@safe C[] += 1\nx += 1"), "(other \"C[] += 1\") (+= x 1)");
    assert_eq!(body("@safe if a\nwhile b end\nend\nx += 1"), "(other \"if a\\nwhile b end\\nend\") (+= x 1)");
    assert_eq!(body("@safe @assert all(i -> i > 1, a)"), "(assert (call all i -> i > 1 a))");
    assert_eq!(body("(@safe C[] += 1; x += 1)"), "[(other \"C[] += 1\") (+= x 1)]");
}

#[test]
fn heads() {
    let f = function(
        "\"\"\"\n    Says\n      something.\n\"\"\"\n@i @inline function A.f!(x, y!::Complex{T}, z::AbstractVector{<:Real} = 1; k = 2, l::Int=3)\n    where {T, S<:Real} where U\nend",
    );
    assert_eq!(f.name.text, "f!");
    assert_eq!(f.params.iter().map(param).collect::<Vec<_>>(), ["x", "y!::Complex{T}", "z::AbstractVector{Real}=1"]);
    assert_eq!(f.keywords.iter().map(param).collect::<Vec<_>>(), ["k=2", "l::Int=3"]);
    let bounds: Vec<_> = f.type_params.iter().map(|t| (t.name.text.as_str(), t.bound.as_ref().map(ty))).collect();
    assert_eq!(bounds, [("T", None), ("S", Some("Real".to_owned())), ("U", None)]);
    assert_eq!((f.inline, f.doc.as_deref(), f.instruction), (true, Some("Says\n  something."), None));
    let op = |text: &str| {
        let f = function(&format!("@i function {text}(y!, x)\nend"));
        (f.instruction, f.name.text)
    };
    assert_eq!(op("(:+=)(log)"), (Some(AssignOp::Add), "log".to_owned()));
    assert_eq!(op(":(-=)(Base.log)"), (Some(AssignOp::Sub), "log".to_owned()));
    assert_eq!(op("(:⊻=)(f)"), (Some(AssignOp::Xor), "f".to_owned()));
    assert_eq!(op("(:*=)(*)"), (Some(AssignOp::Mul), "*".to_owned()));
    assert!(function("@inline @i function f() end").inline);
}

#[test]
fn spans() {
    let text = "@i function f(x)\n  if (x > 1, ~)\n    αβ += (x + 1)\n  end\nend";
    let f = function(text);
    assert_eq!(&text[f.span.clone()], text);
    assert_eq!(&text[f.body[0].span.clone()], "if (x > 1, ~)\n    αβ += (x + 1)\n  end");
    let text = "@i function f(x)\n  for i = 1:2, j = 3:4\n  end\nend";
    let outer = &function(text).body[0];
    assert!(text[outer.span.clone()].starts_with("for i") && text[outer.span.clone()].ends_with("end"));
}

#[test]
fn structs() {
    let items = read(
        "struct P{T, S<:Real} <: Q{T}\n \"a field\"\n x::T; y\n const z::Array{S,2}\n P(x) = new(x)\n function P()\n if a end\n end\nend\nmutable struct M end\n@i struct N a end",
    );
    let Item::Struct(p) = &items.items[0] else { panic!() };
    let fields: Vec<_> = p.fields.iter().map(|(n, t)| (n.text.as_str(), t.as_ref().map(ty))).collect();
    assert_eq!(fields, [("x", Some("T".to_owned())), ("y", None), ("z", Some("Array{S 2}".to_owned()))]);
    assert_eq!((p.name.text.as_str(), p.type_params.len(), items.items.len(), items.skipped.len()), ("P", 2, 3, 3));
}

#[test]
fn constants_and_using() {
    let file = read(
        "using A, B.C: f,\n  g\nimport ..D as E\nimport F as G, .H\nconst k = 3\nn = -k^2 + 2π\nm = f(2)\nl = k + unknown\nx = [1]\nd = k > 2\n",
    );
    let names = |i: &Item| match i {
        Item::Using(names) => names.iter().map(|n| n.text.clone()).collect::<Vec<_>>().join(" "),
        Item::Const(name, e) => format!("{} = {}", name.text, expr(e)),
        Item::Function(f) => f.name.text.clone(),
        Item::Struct(s) => s.name.text.clone(),
        Item::Host(f) => f.name.text.clone(),
        Item::Alias(a) => a.name.text.clone(),
    };
    let items: Vec<_> = file.items.iter().map(names).collect();
    assert_eq!(items, ["A B.C", "", "F", "k = 3", "n = (+ (- (^ k 2)) (* 2 π))", "x = (array 1)"]);
    let skipped: Vec<_> = file.skipped.iter().map(|(what, _)| what.as_str()).collect();
    let expected = ["m", "l", "d"].map(|n| format!("the assignment to `{n}`"));
    assert_eq!(skipped, expected);
}

#[test]
fn host_code_is_skipped() {
    let text = include_str!("../corpus/host.nil");
    let file = read(text);
    assert_eq!(file.items.len(), 3);
    assert!(matches!(&file.items[1], Item::Function(f) if f.name.text == "real_one"));
    let ends = |start: &str, end: &str| {
        let found = file.skipped.iter().map(|(_, span)| &text[span.clone()]).find(|t| t.starts_with(start));
        assert!(found.is_some_and(|t| t.ends_with(end)), "{start}: {found:?}");
    };
    ends("@testset", "\nend");
    ends("s = raw", "|> length");
    ends("t = let", "a' end");
    ends("h(x)", "0\nend");
    ends("macro", "end end");
}

#[test]
fn modules_are_unwrapped() {
    let file = read("module A\nmodule B\n@i function f() end\nend\n@i function g() end\nend\n@i function h() end");
    assert_eq!((file.items.len(), file.skipped.len()), (3, 0));
}

#[test]
fn exchanges_and_what_they_exchange() {
    assert_eq!(body("x ↔ y"), "(↔ x y)");
    assert_eq!(body("a::∅ ↔ x"), "(↔ a::∅ x)");
    assert_eq!(body("(a, b)::∅ ↔ @fields x"), "(↔ (tuple a b)::∅ (fields x))");
    assert_eq!(body("x[end] ↔ (y::T)::∅"), "(↔ (index x end) (:: y T)::∅)");
}
