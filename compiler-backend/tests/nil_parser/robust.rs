//! Robustness: for any text, the parser does not panic, it terminates, and spans are inside of the text.

use pendula_compiler::nil::ast::Item;
use pendula_compiler::nil::parser::parse;
use proptest::prelude::*;

use crate::nil_parser::shape::stmts;

fn corpus() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../compiler-backend/tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the corpus").map(|f| f.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|f| std::fs::read_to_string(f).expect("a text")).collect()
}

/// Parses a text, and checks the properties that hold for every text.
fn check(text: &str) {
    let (file, diagnostics) = parse(3, text);
    assert!(diagnostics.len() <= 101);
    for d in &diagnostics {
        let places = d.primary.iter().chain(&d.secondary).map(|l| &l.place);
        for place in places {
            assert!(place.file == 3 && text.get(place.span.clone()).is_some(), "{d:?}");
        }
    }
    for (_, span) in &file.skipped {
        assert!(text.get(span.clone()).is_some());
    }
    for item in &file.items {
        if let Item::Function(f) = item {
            assert!(text.get(f.span.clone()).is_some());
            let _ = stmts(&f.body);
        }
    }
}

#[test]
fn the_corpus_has_no_errors() {
    let corpus = corpus();
    assert!(corpus.len() >= 19);
    for text in corpus {
        let (_, diagnostics) = parse(0, &text);
        assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    }
}

#[test]
fn corpus_cut_off() {
    for text in corpus() {
        for n in (0..text.len()).filter(|n| text.is_char_boundary(*n)) {
            check(&text[..n]);
        }
    }
}

#[test]
fn corpus_with_lines_left_out() {
    for text in corpus() {
        let lines: Vec<&str> = text.lines().collect();
        for n in 0..lines.len() {
            let rest: Vec<&str> = lines.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, l)| *l).collect();
            check(&rest.join("\n"));
        }
    }
}

#[test]
fn long_files_take_linear_time() {
    let n = 200_000;
    for text in [
        "\"$(".repeat(n),
        "\"\n".repeat(n),
        "'".repeat(n),
        "#=".repeat(n),
        "begin\n@i function f() end\n".repeat(n / 10),
        format!("@i function f()\n{}", "begin\n".repeat(n)),
        format!("@i function f()\n{}", "f(\n".repeat(n)),
        format!("@i function f()\n{}", "x += f(1, \n".repeat(n)),
        format!("@i function f(x)\n{}end", "@safe x[\n".repeat(n)),
        format!("@i function f(x)\n{}end", "x += \"$(x)$(x)\"; ".repeat(n / 10)),
        format!("x = {}", "1 + ".repeat(n)),
        "x = f(\n".repeat(n),
        "end\n".repeat(n),
        format!("@i function f(x)\n{}end", "x += a.b[1] * 2y\n".repeat(n)),
    ] {
        check(&text);
    }
}

const TOKENS: &[&str] = &[
    "@i",
    "function",
    "end",
    "if",
    "else",
    "elseif",
    "while",
    "for",
    "begin",
    "struct",
    "module",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "::",
    ".",
    "...",
    "?",
    "->",
    "=>",
    "←",
    "→",
    "<-",
    "=",
    "+=",
    ".+=",
    "⊻=",
    "xor=",
    "÷=",
    "+",
    "-",
    "*",
    "^",
    "<",
    "==",
    "&&",
    "||",
    "|>",
    "~",
    "!",
    "√",
    "'",
    "∈",
    "in",
    "where",
    "<:",
    "x",
    "y!",
    "f",
    "T",
    "1",
    "2.5",
    "0x",
    "\"",
    "\"a\"",
    "\"$(",
    "\"\"\"",
    "#",
    "#=",
    "=#",
    "\n",
    "\n",
    "\n",
    " ",
    "@routine",
    "~@routine",
    "@safe",
    "@assert",
    "@zeros",
    "@from",
    "@anc",
    "@inbounds",
    "@skip!",
    "using",
    "const",
    "true",
    "let",
    "do",
    "quote",
    "§",
    "`",
    "xor",
    "mutable",
    "@i function f(x)\n",
    "x += 1\n",
    "y += ",
    "(:+=)",
    "f(x, ",
    "if (a, ~)\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        check(&text);
        check(&format!("@i function f(x)\n{text}\nend"));
    }

    #[test]
    fn any_tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..120), spaces in any::<u128>()) {
        let mut text = String::new();
        for (n, token) in tokens.iter().enumerate() {
            text.push_str(token);
            if spaces >> (n % 128) & 1 == 1 {
                text.push(' ');
            }
        }
        check(&text);
        check(&format!("@i function f(x)\n{text}\nend"));
    }
}
