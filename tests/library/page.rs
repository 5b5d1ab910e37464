//! All modules together, and their page in the book.

use super::*;

#[test]
fn functions_are_values_in_expressions() {
    let body = "y! += 2 * norm(x) + dot(x, x)";
    let more = "@i function norm(s!, x)
    norm!(s!, x)
end
@i function dot(s!, x, y)
    dot!(s!, x, y)
end";
    let case = Case { more, ..case("vectors", body, [("y!", Arg::Real(0.5)), ("x", reals(3, 1))]) };
    case.differentiates(&["y!"], |a| {
        let square: f64 = a[1].iter().map(|x| x * x).sum();
        a[0][0] += 2.0 * square.sqrt() + square;
    });
}

#[test]
fn all_modules_at_once_and_own_names_first() {
    // A program's function of the same name takes the place of the library's where the program calls it, not inside the library.
    let more = "@i function mean!(m!, x::AbstractVector)
    m! += x[1]
end";
    let body = "mean!(m!, x)\n    variance!(v!, x)";
    let args = [("m!", Arg::Real(0.0)), ("v!", Arg::Real(0.0)), ("x", reals(4, 1))];
    Case { more, ..case("Pendula", body, args.clone()) }.agrees(|a| {
        a[0][0] += a[2][0];
        a[1][0] += variance(&a[2]);
    });
    case("Pendula", body, args).agrees(|a| {
        a[0][0] += mean(&a[2]);
        a[1][0] += variance(&a[2]);
    });
}

/// The functions of a module that have a docstring, by name, with it.
fn documented(text: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut parts = text.split("\"\"\"\n");
    let _head = parts.next();
    while let (Some(doc), Some(code)) = (parts.next(), parts.next()) {
        let name = code
            .strip_prefix("@i function ")
            .and_then(|c| c.split('(').next())
            .expect("a function after its docstring");
        out.insert(name.to_string(), doc.to_string());
    }
    out
}

#[test]
fn the_page_names_every_function_and_its_examples_are_real() {
    let page = include_str!("../../docs/src/library.md");
    let mut examples = 0;
    for (module, text) in MODULES {
        let section = page.split("\n## ").find(|s| s.starts_with(&format!("`{module}`"))).expect("a section");
        let rows: BTreeMap<&str, Vec<&str>> = section
            .lines()
            .filter(|l| l.starts_with("| `"))
            .map(|l| l.split(" | ").map(|c| c.trim_matches(['|', ' '])).collect::<Vec<_>>())
            .map(|cells| (cells[0].trim_matches('`').split('(').next().unwrap_or(""), cells))
            .collect();
        let documented = documented(text);
        let (named, defined): (Vec<&str>, Vec<&str>) =
            (rows.keys().copied().collect(), documented.keys().map(String::as_str).collect());
        assert_eq!(named, defined, "{module}");
        for (name, doc) in &documented {
            assert!(doc.contains("nverse"), "{name}: its docstring does not tell its inverse");
            examples += example(module, rows[name.as_str()][2]);
        }
    }
    assert!(examples > 25, "only {examples}");
}

/// Runs an example, `f!(0.0, [1.0, 2.0])` gives `3.0`: a call with literal arguments, and what the first ones become.
fn example(module: &str, cell: &str) -> usize {
    let Some((call, results)) = cell.split_once(" gives ") else { return 0 };
    let call = call.trim_matches('`');
    let (name, args) = call.split_once('(').expect("a call");
    let args = arguments::split(args.strip_suffix(')').expect("a call"), ',').expect("arguments");
    let is_value = |a: &&str| a.trim().starts_with(|c: char| c.is_ascii_digit() || "-[(".contains(c));
    let mut parameters = Vec::new();
    let mut given = Vec::new();
    for (k, arg) in args.iter().enumerate() {
        if is_value(arg) {
            parameters.push(format!("a{k}{}", if arg.trim().starts_with('(') { "::SparseMatrixCSC" } else { "" }));
            given.push(arg.trim());
        }
    }
    let passed: Vec<String> = args
        .iter()
        .enumerate()
        .map(|(k, a)| if is_value(a) { format!("a{k}") } else { a.trim().to_string() })
        .collect();
    let source = format!(
        "using {module}\n@i function double!(y!, x)\n    y! += 2 * x\nend\n@i function main!({})\n    {name}({})\nend\n",
        parameters.join(", "),
        passed.join(", ")
    );
    let options = Options { arguments: arguments::parse(&given.join(",")).expect("arguments"), ..Options::default() };
    let program = program(build(&source, &options));
    let mut machine = machine(&program);
    assert_eq!(machine.run(None), Outcome::Finished, "{call}");
    for (k, result) in results.split("`, `").enumerate() {
        let wanted: Vec<f64> = result
            .trim_matches(['`', '[', ']'])
            .split([',', ';', ' '])
            .filter(|t| !t.is_empty())
            .map(|t| t.parse().unwrap_or_else(|e| panic!("{call}: {t}: {e}")))
            .collect();
        let found = numbers(&machine, &format!("a{k}"));
        let same = found.len() == wanted.len() && found.iter().zip(&wanted).all(|(f, w)| close(*f, *w, 1e-4));
        assert!(same, "{call}: {found:?}, not {wanted:?}");
    }
    1
}
