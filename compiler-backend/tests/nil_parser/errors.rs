//! Each syntax error: its code, its place and its help; and the parts that are still read.

use pendula_compiler::nil::ast::Item;
use pendula_compiler::nil::parser::parse;

use crate::nil_parser::shape::stmts;

/// The errors of a text: line (from 1), code, text at the caret.
fn errors(text: &str) -> Vec<(usize, &'static str, String)> {
    let (_, diagnostics) = parse(0, text);
    let codes = pendula_compiler::nil::codes::codes().chain(pendula_isa::budget::codes());
    let known: Vec<_> = codes.map(|(code, _)| code).collect();
    let each = |d: &pendula_isa::diagnostic::Diagnostic| {
        assert!(known.contains(&d.code) && d.help.is_some() && !d.message.contains('\n'), "{d:?}");
        let span = d.primary.as_ref().expect("a place").place.span.clone();
        (text[..span.start].matches('\n').count() + 1, d.code, text[span].to_owned())
    };
    diagnostics.iter().map(each).collect()
}

/// Checks the only error in a body.
fn one(body: &str, code: &str, at: &str) {
    let text = format!("@i function f(x)\n{body}\n    y += 1\nend\n@i function g(x)\nend\n");
    let found = errors(&text);
    let line = 2 + body.find(at).map_or(0, |n| body[..n].matches('\n').count());
    assert_eq!(found, [(line, code, at.to_owned())], "{body}");
    let (file, _) = parse(0, &text);
    assert_eq!(file.items.len(), 2, "{body}");
    let Item::Function(f) = &file.items[0] else { panic!() };
    assert!(stmts(&f.body).ends_with("(+= y 1)"), "{body}: {}", stmts(&f.body));
}

#[test]
fn characters_numbers_texts() {
    one("a += b ≈ c", "P0401", "≈");
    one("a += § + 1", "P0401", "§");
    one("a += b ∧ c", "P0401", "∧");
    one("a += 0x", "P0402", "0x");
    one("a += 1__0 + 1", "P0402", "1__0");
    one("a += 1.2.3", "P0402", "1.2.3");
    one("a += 0b12", "P0402", "0b12");
    one("a += f(\"abc", "P0403", "\"abc");
    one("@safe println(\"\\q\")", "P0403", "\\q");
    one("@safe println(\"a $ b\")", "P0403", "$");
    assert_eq!(errors("@i function f()\nx += 1\n#= open\nend")[0].1, "P0403");
}

#[test]
fn something_else_expected() {
    one("a += )", "P0404", ")");
    one(") + 1", "P0404", ")");
    one("a += f(1, ,2)", "P0404", ",");
    one("a += b c", "P0404", "c");
    one("a += (b", "P0404", "");
    one("a += [1 2]", "P0404", "2");
    one("a += x[1; 2]", "P0404", ";");
    one("~(y += 1;\nfor i = 1:2\nend;\nf(y)\n)x", "P0404", "x");
    assert_eq!(errors("@i function f()\n~(x += 1;\nf(x)\nend\n"), [(2, "P0404", "(".to_owned())]);
    one("@zeros T", "P0404", "");
    one("for i + 1\nend", "P0404", "+");
    one("for (i, j) in x\nend", "P0404", "(");
    one("a += 1:2:3:4", "P0404", "4");
    one("if\nx += 1\nend", "P0404", "");
    one("@anc a", "P0404", "");
    one("@inbounds", "P0404", "");
    one("a += if b 1 else 2 end", "P0414", "if");
}

#[test]
fn not_statements() {
    one("a + b", "P0406", "a + b");
    one("a", "P0406", "a");
    one("a || error(1)", "P0406", "a || error(1)");
    one("a == b", "P0406", "a == b");
    one("~f", "P0406", "~f");
    one("3", "P0406", "3");
    one("a = 3", "P0410", "=");
    one("a ÷= 3", "P0410", "÷=");
    one("a .= 3", "P0410", ".=");
    one("a ^= 3", "P0410", "^=");
    one("a, b = 3", "P0404", ",");
}

#[test]
fn host_constructs() {
    one("@launch a += 1", "P0411", "@launch");
    one("@show a", "P0411", "@show");
    one("a += @view x[1]", "P0411", "@view");
    one("a += ::Int", "P0413", "::");
    one("a += f(i for i in 1:2)", "P0414", "for");
    one("a += (1 => 2)", "P0414", "=>");
    one("a += x isa Int", "P0414", "isa");
    one("a += b // 2", "P0414", "//");
    one("a += f(:name)", "P0414", ":name");
    one("return x", "P0417", "return");
    one("break", "P0417", "break");
    one("let a = 1\nif b end\nend", "P0417", "let");
    one("function h(x)\nfor i = 1:2\nend\nend", "P0417", "function");
    one("try\nx += 1\ncatch e\nend", "P0417", "try");
    one("a += 1 < (2 < 3 < 4) < 5", "P0418", "(2 < 3 < 4)");
    one("f(k = 1, 2)", "P0419", "2");
    one("if (a, b, c)\nend", "P0415", "(a, b, c)");
    one("if (a, ~) && b\nend", "P0415", "(a, ~) && b");
    one("@from a while (b, c)\nend", "P0415", "c");
}

#[test]
fn heads() {
    let head = |text: &str, code: &str, at: &str| {
        let text = format!("@i function {text}\n  if a\n  end\nend\n@i function g()\nend\n");
        let found = errors(&text);
        assert_eq!(found, [(1, code, at.to_owned())], "{text}");
        assert!(parse(0, &text).0.items.iter().any(|i| matches!(i, Item::Function(g) if g.name.text == "g")), "{text}");
    };
    head("(g)(x)", "P0416", "(g");
    head("f(x)::Int", "P0416", "::");
    head("f(args..., x)", "P0412", "args");
    head("f(x; k..., l)", "P0412", "k");
    head("f(x, 1)", "P0404", "1");
    head("(:==)(f)(x)", "P0416", "==");
    head("f(x) where {1}", "P0404", "1");
    assert_eq!(errors("@i f(x) = 2\n@i struct 3\nend"), [(1, "P0416", "f".to_owned()), (2, "P0404", "3".to_owned())]);
    assert_eq!(errors("@i @fast function f() end"), [(1, "P0411", "@fast".to_owned())]);
}

#[test]
fn blocks_without_end() {
    let found = errors("@i function f()\n  for i = 1:2\n    x += 1\n\n@i function g()\nend\n");
    assert_eq!(found, [(2, "P0405", "for".to_owned())]);
    // The `end` of the function closed the loop, so the loop is reported as the block without an end.
    let found = errors("@i function f()\n    for i = 1:2\n        x += 1\nend\n@i function g()\nend\n");
    assert_eq!(found, [(2, "P0405", "for".to_owned())]);
    let found = errors("@i function f()\n  if a\n");
    assert_eq!(found, [(2, "P0405", "if".to_owned())]);
    let found = errors("module A\n@i function f()\nend\n");
    assert_eq!(found, [(1, "P0405", "module".to_owned())]);
    let found = errors("function h()\n  if a\n@i function f()\n  x + 1\nend\n");
    assert_eq!(found, [(1, "P0405", "function".to_owned()), (4, "P0406", "x + 1".to_owned())]);
    assert_eq!(errors("x = f(1\n@i function f()\nend\n"), [(1, "P0404", "(".to_owned())]);
    assert_eq!(errors("end\nx = 1\nelse\n"), [(1, "P0409", "end".to_owned()), (3, "P0409", "else".to_owned())]);
    let found = errors("@i function f()\nfor i = 1:2\nelse\nx + 1\nend\nend\n");
    assert_eq!(found, [(3, "P0409", "else".to_owned()), (4, "P0406", "x + 1".to_owned())]);
}

#[test]
fn all_errors_of_a_file() {
    let text = "\
@i function f(x, y)
    x = 1
    for i = 1:n
        y += x +
        z -= f(x,
            , 3)
        return y
        if (x, ~
            x + 1
        end
    end
    x += (y + 1))
    b *= 2 3
    ~@routine r s
end
plain(x) = 3
@i function g(x)
    x ÷= 2
end
";
    let found: Vec<_> = errors(text).into_iter().map(|(line, code, _)| (line, code)).collect();
    assert_eq!(
        found,
        [
            (2, "P0410"),
            (4, "P0404"),
            (5, "P0404"),
            (7, "P0417"),
            (9, "P0404"),
            (12, "P0404"),
            (13, "P0404"),
            (14, "P0404"),
            (18, "P0410"),
        ]
    );
}

#[test]
fn no_more_than_a_hundred() {
    let text = format!("@i function f()\n{}end\n", "x = 1\n".repeat(500));
    let found = errors(&text);
    assert_eq!(found.len(), 101);
    assert_eq!(found[100].1, "P0408");
}

#[test]
fn depth_is_bounded() {
    let deep = |body: &str| {
        let found = errors(&format!("@i function f()\n{body}\nend\n@i function g()\nend\n"));
        assert_eq!(found.iter().map(|f| f.1).collect::<Vec<_>>(), ["P0090"], "{}…", &body[..20]);
    };
    let n = 100_000;
    deep(&format!("x += {}1{}", "(".repeat(n), ")".repeat(n)));
    deep(&format!("{}x{}", "(".repeat(n), ")".repeat(n)));
    deep(&format!("x += {}1{}", "f(".repeat(n), ")".repeat(n)));
    deep(&format!("x += {}1{}", "a[".repeat(n), "]".repeat(n)));
    deep(&format!("x += {}1", "-".repeat(n)));
    deep(&format!("x += 1{}", " + 1".repeat(n)));
    deep(&format!("x += 1{}", "^1".repeat(n)));
    deep(&format!("x += a{}", "'".repeat(n)));
    deep(&format!("x += a{}", " ? a : a".repeat(n)));
    deep(&format!("x += 1{}", " < 1".repeat(n)));
    deep(&format!("{}x += 1", "~".repeat(n)));
    deep(&format!("{}x += 1", "@inbounds ".repeat(n)));
    deep(&format!("x ← {}T{}", "A{".repeat(n), "}".repeat(n)));
    deep(&format!("for i = 1:2{}\nend", ", i = 1:2".repeat(1000)));
    deep(&format!("@safe println({}1{})", "\"$(".repeat(201), ")\"".repeat(201)).replace("@safe println", "x += f"));
    let found = errors(&format!("@i function f()\n{}{}\nend", "begin\n".repeat(n), "end\n".repeat(n)));
    assert_eq!(found.first().map(|f| f.1), Some("P0090"));
    assert!(found.len() < 5, "{found:?}");
}
