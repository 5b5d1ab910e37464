//! Tests of the formatter: what it changes, that it changes nothing else, and that formatting twice is the same as
//! once.

use pendula_compiler::nil::fmt::format_source;
use pendula_compiler::nil::parser::parse;
use proptest::prelude::*;

fn formatted(text: &str) -> String {
    match format_source(text) {
        Ok(formatted) => formatted,
        Err(errors) => panic!("{text}\n{errors:#?}"),
    }
}

/// The tree of a text without source positions.
fn tree(text: &str) -> String {
    let (file, diagnostics) = parse(0, text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    let debug = format!("{file:?}");
    let mut out = String::new();
    let mut rest = debug.as_str();
    while let Some(n) = rest.find("..") {
        let (before, after) = rest.split_at(n);
        out.push_str(before.trim_end_matches(|c: char| c.is_ascii_digit()));
        rest = after[2..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out.push_str(rest);
    out
}

/// The comments and texts of a file, in order, approximately.
fn comments(text: &str) -> Vec<String> {
    text.lines().filter_map(|l| l.find('#').map(|n| l[n..].split_whitespace().collect())).collect()
}

fn check(text: &str) -> String {
    let once = formatted(text);
    assert_eq!(tree(text), tree(&once), "{text}\n---\n{once}");
    assert_eq!(comments(text), comments(&once), "{text}\n---\n{once}");
    assert_eq!(formatted(&once), once, "{text}");
    once
}

fn corpus() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../compiler-backend/tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the corpus").map(|f| f.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|f| std::fs::read_to_string(f).expect("a text")).collect()
}

/// Checks the layout of a body.
fn body(text: &str, expected: &str) {
    let found = check(&format!("@i function f(x)\n{text}\nend"));
    let indented: String = expected
        .lines()
        .map(|l| format!("    {l}\n").replace("    \n", "\n").replace("      b =#", "  b =#"))
        .collect();
    assert_eq!(found, format!("@i function f(x)\n{indented}end\n"));
}

#[test]
fn the_corpus_keeps_its_meaning() {
    for text in corpus() {
        let once = check(&text);
        assert!(once.ends_with('\n') && !once.contains("\n\n\n") && !once.contains("<- "));
    }
}

#[test]
fn squeezed_and_stretched() {
    // Removing or doubling all white space at the beginning of lines gives the same layout, except for host code.
    for text in corpus().into_iter().filter(|t| parse(0, t).0.skipped.is_empty() && !t.contains("\"\"\"")) {
        if text.contains("@safe") {
            continue;
        }
        let flat: String = text.lines().map(|l| format!("{}\n", l.trim())).collect();
        let wide: String = text.lines().map(|l| format!("\t  {}  \r\n", l.trim())).collect();
        assert_eq!(formatted(&flat), formatted(&text));
        assert_eq!(formatted(&wide), formatted(&text));
    }
}

#[test]
fn operators_and_signs() {
    body("y+=a*b-c", "y += a * b - c");
    body("y-=-a+(-b)- -c", "y -= -a + (-b) - -c");
    // Two colons would be read as `::`.
    body("y+=v[1: :]", "y += v[1: :]");
    body("y .+=f.( x,2 )", "y .+= f.(x, 2)");
    body("y+=2x ^ 2+1:n-1", "y += 2x^2 + 1:n - 1");
    body("y+=a ? 1:2 : b?c : d", "y += a ? 1:2 : b ? c : d");
    body("y+=x[1 : 2,:,end]'", "y += x[1:2, :, end]'");
    body("y+=!a&&~b||√c<d", "y += !a && ~b || √c < d");
    body("y+=1. ^2+1. +2", "y += 1. ^2 + 1. + 2");
    body("-x[1]+=1;~( y+=x )", "-x[1] += 1; ~(y += x)");
    body("f( x;k=1,l = 2 )", "f(x; k = 1, l = 2)");
    body("@inbounds  -x+=1", "@inbounds -x += 1");
    body("y+=[ 1,2 ,]+zero( V{T,2} )", "y += [1, 2,] + zero(V{T, 2})");
    body("y |>grad+=a|>value", "y |> grad += a |> value");
    body("PlusEq( * )(y,a ,b)\nPlusEq(-).(y,a,b)", "PlusEq(*)(y, a, b)\nPlusEq(-).(y, a, b)");
    body("y+=x[ begin+1 ]+x[begin:end-1]+x[min( end,2 )]", "y += x[begin + 1] + x[begin:end - 1] + x[min(end, 2)]");
    body("g(~ f,-x)\ny+=+( a,b )", "g(~f, -x)\ny += +(a, b)");
}

#[test]
fn canonical_spellings() {
    body("a<-0\na <- -1\na->0\nb xor=1\nb∨=2\nb $=3\nb .∨=4", "a ← 0\na ← -1\na → 0\nb ⊻= 1\nb ⊻= 2\nb ⊻= 3\nb .⊻= 4");
    body("if a<-1\nend", "if a < -1\nend");
    body("@safe f(x->x<-1)", "@safe f(x->x<-1)");
    body("@routine  f(x)\n@routine r  (x+=1)", "@routine f(x)\n@routine r (x += 1)");
}

#[test]
fn heads() {
    let head = |text: &str, expected: &str| assert_eq!(check(text), expected);
    head(
        "@i   function( :+= )(log)(y!::T,x) where{T<:Real,S}\nend",
        "@i function (:+=)(log)(y!::T, x) where {T <: Real, S}\nend\n",
    );
    head("@i function :( += )(*)(y! , x::A{<:B})\nend", "@i function :(+=)(*)(y!, x::A{<:B})\nend\n");
    head(
        "@i function f(x ;k=1,l::Int= 2)\nwhere T\nx+=1\nend",
        "@i function f(x; k = 1, l::Int = 2)\n        where T\n    x += 1\nend\n",
    );
    head("mutable struct A{T}<:B\nx::T\nend", "mutable struct A{T} <: B\n    x::T\nend\n");
    head("const  k=1.5e-3*2\n", "const k = 1.5e-3 * 2\n");
}

#[test]
fn lines_and_comments() {
    body("\n\n\nx+=1\n\n\n\n# one\n   # two\ny+=1#three", "\nx += 1\n\n# one\n# two\ny += 1 #three\n");
    body("x+=1+\n# why\n2*\n(3+\n4)", "x += 1 +\n    # why\n    2 *\n    (3 +\n    4)");
    body("f(#= in =#a,\nb#= a\n  b =#)", "f( #= in =# a,\n    b #= a\n  b =# )");
    body("if (a,~)# c\n# d\nelse\n# e\nend", "if (a, ~) # c\n    # d\nelse\n    # e\nend");
    assert_eq!(check("# only\n"), "# only\n");
    assert_eq!(check("\n\n"), "");
    assert_eq!(check("\n\n#= a =#\n\n\n@i function f() end # b"), "#= a =#\n\n@i function f() end # b\n");
}

#[test]
fn host_code_is_left_alone() {
    let text = "using  A,B\nmodule M\n  function g( x )\n     x=[ i for i in 1:2 ]\n  end   # end\n@i function f()\n@safe if  a\n   b( )\n end\nx+=1\nend\nend\n";
    let expected = "using  A,B\nmodule M\n  function g( x )\n     x=[ i for i in 1:2 ]\n  end # end\n@i function f()\n    @safe if  a\n   b( )\n end\n    x += 1\nend\nend\n";
    assert_eq!(check(text), expected);
}

#[test]
fn errors_are_given_back() {
    let errors = format_source("@i function f()\nx = 1\nend").expect_err("an error");
    assert_eq!(errors.len(), 1);
}

/// Expressions with and without insignificant white space.
fn expressions() -> impl Strategy<Value = String> {
    const OPS: &[&str] =
        &["+", "-", "*", "/", "^", ".^", ".+", "÷", "%", "|", "⊻", "&", "<<", "==", "<", "&&", "||", "|>"];
    let leaf = prop::sample::select(
        &["x", "y!", "2", "1.5", "2.", ".5", "2x", "2π", "π", "end", "1e-3", "true", "\"a$x\""][..],
    );
    let op = || prop::sample::select(OPS);
    let space = || prop::sample::select(&["", " ", "  ", "\n"][..]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 40, 3, move |inner| {
        prop_oneof![
            (inner.clone(), space(), op(), space(), inner.clone())
                .prop_map(|(a, s, o, t, b)| format!("{a}{s}{o}{t}{b}")),
            (prop::sample::select(&["-", "+", "!", "~", "√", "- ", "2"][..]), inner.clone())
                .prop_map(|(o, a)| format!("{o}{a}")),
            (inner.clone(), space()).prop_map(|(a, s)| format!("({s}{a}{s})")),
            (inner.clone(), inner.clone(), space()).prop_map(|(a, b, s)| format!("f({a}{s},{b}; k={a})")),
            (inner.clone(), inner.clone(), space()).prop_map(|(a, b, s)| format!("x[{a}{s}:{s}{b},{s}:]'")),
            (inner.clone(), inner.clone(), inner.clone(), space())
                .prop_map(|(a, b, c, s)| format!("{a} ? {b}{s}:{s}{c}")),
            inner.clone().prop_map(|a| format!("({a}).re")),
            inner.prop_map(|a| format!("[{a},{a}]")),
        ]
    })
}

proptest! {
    #[test]
    fn any_expression(e in expressions(), statement in 0..4) {
        let text = match statement {
            0 => format!("@i function f(x)\nx[1] += {e}\nend"),
            1 => format!("@i function f(x)\nx[{e}]<-{e};f({e})\nend"),
            2 => format!("@i function f(x)\nif ({e},~)\n-x+=1 end\nend"),
            _ => format!("@i function f(x; k={e})\n@safe @assert({e})\nend"),
        };
        if let Ok(once) = format_source(&text) {
            prop_assert_eq!(tree(&text), tree(&once), "{}\n---\n{}", text, once);
            let twice = format_source(&once);
            prop_assert_eq!(twice.as_ref(), Ok(&once));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Adding and removing insignificant white space gives the same layout, and formatting is idempotent.
    #[test]
    fn any_program(lines in prop::collection::vec(prop::sample::select(LINES), 0..12), spaces in prop::collection::vec(0usize..4, 12)) {
        let mut text = String::from("@i function f(x)\n");
        for (line, n) in lines.iter().zip(spaces) {
            text.push_str(&" ".repeat(n));
            text.push_str(line);
            text.push_str(&"\n".repeat(n.max(1)));
        }
        text.push_str("end");
        check(&text);
    }

    #[test]
    fn any_tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..12)) {
        let text = format!("@i function f(x)\n{}\nend", tokens.concat());
        if let Ok(once) = format_source(&text) {
            prop_assert_eq!(tree(&text), tree(&once), "{}\n---\n{}", text, once);
            let twice = format_source(&once);
            prop_assert_eq!(twice.as_ref(), Ok(&once));
        }
    }
}

const LINES: &[&str] = &[
    "y+=a*-b",
    "begin\n  z+=1\nend",
    "for i=1:2 x+=i end",
    "if (a<-1,~) y+=1 else y-=1 end",
    "# a comment",
    "#= b\n c =#",
    "a<-0;b->1",
    "f(x,\ny; k=1)",
    "y += 1 +\n2",
    "~(x+=1;\ny+=2)",
    "@safe @assert a==b \"no\"",
    "@safe q[ 1 ]= 2",
    "x xor= 2y^2",
    "y+=a?b : c",
    "@zeros T a  b",
    "~@routine r",
];

const TOKENS: &[&str] = &[
    "x",
    "y!",
    "f",
    "1",
    "2.",
    ".5",
    "a.b",
    "f(",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    ":",
    " : ",
    " ? ",
    "+",
    "-",
    " - ",
    "*",
    "^",
    ".^",
    "'",
    "!",
    "~",
    "√",
    "<",
    "<-",
    "->",
    "←",
    "+=",
    " += ",
    " xor= ",
    "==",
    "&&",
    "|>",
    "\n",
    "\n",
    " ",
    "# c\n",
    "#= c =#",
    "@inbounds ",
    "@const ",
    "@routine ",
    "end",
    "begin ",
    "if ",
    "for i = ",
    "{",
    "}",
    "x += ",
    "y ← ",
    "\"a\"",
    "@safe ",
    "@show ",
    "Int=>",
    "::",
    "k=",
];
