//! `pendula fmt --to nil`: the plain form of a file of Julia gives the same results and gradients, and what the command does.

use std::path::Path;

use pendula::compiler::nil::plain::plain;
use pendula::isa::budget::Budget;
use pendula::program::Value;

use crate::common::{command, folder};

use command::run;

/// The values after a run, and the derivatives of the file's first loss; `None` if the run fails.
type Outcome = (Option<Vec<Value>>, Option<Vec<Value>>);

/// The values after the `:` of the directives `name`.
fn directives<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    text.lines()
        .filter_map(|line| line.strip_prefix('#')?.strip_prefix(name)?.strip_prefix(':').map(str::trim))
        .collect()
}

/// Runs a program with an entry point, arguments, a loss, and the types of its parameters if they are given.
fn outcome(
    name: &str,
    text: &str,
    (entry, arguments, loss): (Option<&str>, &str, Option<&str>),
    types: &[String],
) -> Outcome {
    let program = || {
        let program = pendula::text(name, text);
        let program = if types.is_empty() { program } else { program.types(types.iter().map(String::as_str)) };
        match entry {
            Some(entry) => program.entry(entry),
            None => program,
        }
    };
    let values = |all: &[(String, Value)]| all.iter().map(|(_, v)| v.clone()).collect::<Vec<Value>>();
    let run = program().run(arguments).ok().map(|run| values(run.values()));
    let gradient = loss.and_then(|loss| program().loss(loss).grad(arguments).ok());
    (run, gradient.map(|gradient| values(gradient.values())))
}

#[test]
fn it_gives_the_same_results_and_gradients() {
    let (mut runs, mut gradients) = (0, 0);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/nil/run");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "jl") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let made = plain("f.jl", &text, &Budget::default(), false).text.expect("a plain form");
        let one = |key| directives(&text, key).first().copied();
        let loss = one("grad").and_then(|grad| grad.split_whitespace().next());
        let how = (one("entry"), one("args").unwrap_or_default(), loss);
        let types = one("types").map(|types| pendula::arguments::split(types, ',').expect("types"));
        let types: Vec<String> = types.unwrap_or_default().iter().map(|t| t.trim().to_string()).collect();
        let (before, after) = (outcome("f.jl", &text, how, &types), outcome("f.nil", &made, how, &types));
        assert!(before.0.is_some(), "{}", path.display());
        assert_eq!(format!("{before:?}"), format!("{after:?}"), "{}\n{made}", path.display());
        runs += 1;
        gradients += usize::from(before.1.is_some());
    }
    assert!(runs > 18 && gradients > 3, "{runs} {gradients}");
}

const PROGRAM: &str = "square(x) = x^2
@testset \"norms\" begin
    @i function norm2(out, x)
        if length(x) > 0
            out += square(x[1])
        end
    end
    @i function bad(out)
        out = 1
    end
end
";

#[test]
fn files_are_written_beside_theirs_and_never_replaced_unasked() {
    let folder = folder("plain");
    let path = |name: &str| folder.join(name).to_str().expect("UTF-8").to_string();
    let (file, other) = (path("norm.jl"), path("norm.nil"));
    std::fs::write(&file, PROGRAM).expect("written");
    let (code, out, err) = run(&["fmt", "--to", "nil", &file], "");
    assert!(code == 0 && out.contains("if (length(x) > 0, ~)"), "{out}{err}");
    assert!(
        err.contains("`bad` is left out: `=` forgets what was there before") && !err.contains("host code"),
        "{err}"
    );
    assert!(!Path::new(&other).exists());
    let write = |more: &[&str]| run(&[&["fmt", "--to", "nil", "--write"], more, &[&file]].concat(), "");
    assert_eq!(write(&[]).0, 0);
    assert_eq!(std::fs::read_to_string(&other).expect("a file"), out);
    assert_eq!(write(&[]).0, 0, "the same file again");
    assert_eq!(run(&["run", &other, "--args", "0.0,[3.0]"], "").1.lines().next(), Some("out = 9.0"));
    std::fs::write(&other, "# mine\n").expect("written");
    let (code, _, err) = write(&[]);
    assert!(code != 0 && err.contains("`--force` replaces it"), "{err}");
    assert_eq!(std::fs::read_to_string(&other).expect("a file"), "# mine\n");
    assert_eq!(write(&["--force"]).0, 0);
    assert_eq!(std::fs::read_to_string(&other).expect("a file"), out);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), PROGRAM);
    // What it says to programs.
    let (code, answer, _) = run(&["fmt", "--to", "nil", "--json", &file], "");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!((code, answer["files"][0]["text"].as_str()), (0, Some(out.as_str())));
    assert_eq!(answer["diagnostics"][0]["code"], "P0463");
    // What it refuses.
    let (code, out, err) = run(&["fmt", "--to", "nil", "--strict", &file], "");
    assert!(code == 1 && out.is_empty() && err.contains("error[P0463]"), "{out}{err}");
    let (code, _, err) = run(&["fmt", "--to", "nil", &other], "");
    assert!(code != 0 && err.contains("is no file of Julia"), "{err}");
    let (code, _, err) = run(&["fmt", "--to", "nil", "--check", &file], "");
    assert!(code != 0 && err.contains("cannot be used with"), "{err}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Logarithms are those of doubles, and calls find what they find in the file of Julia.
#[test]
fn what_only_the_kind_of_file_says_is_kept() {
    let text = "square(x) = k * x^2
const k = 2.0
@testset \"one\" begin
    k = 3.0
    @i function other(y, x)
        y += k * x
    end
    @i function f(y::ULogarithmic{T}, x::T, z::Logarithmic) where T
        y *= ULogarithmic(x)
        z *= y
        a ← 0.0
        a += square(x)
        other(a, x)
        y *= exp(a)
        other(a, -x)
        a -= square(x)
    end
end
@testset \"two\" begin
    @i function other(y, x)
        y -= x
    end
end
@i function other(y, x)
    y += 100 * x
end
@testset \"three\" begin
    @i function f(y::ULogarithmic{T}, x::T, z::Logarithmic) where T
        y *= exp(x)
    end
end
";
    let made = plain("f.jl", text, &Budget::default(), false);
    let plain = made.text.unwrap_or_else(|| panic!("{:#?}", made.diagnostics));
    for line in [8, 28] {
        let of = |name, text, entry: String| outcome(name, text, (Some(&entry), "1.5,2.5,0.5", Some("y.log")), &[]);
        let before = of("f.jl", text, format!("f@{line}"));
        let after = of("f.nil", &plain, format!("f_{line}"));
        assert_eq!(format!("{before:?}"), format!("{after:?}"), "{plain}");
        assert!(before.0.is_some() && before.1.is_some(), "{before:?}\n{plain}");
    }
}
