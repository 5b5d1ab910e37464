//! `pendula fmt --to nil`: the plain form of a file of Julia gives the same results and gradients, and what the command does.

use std::path::Path;

use pendula::compiler::nil::plain::plain;
use pendula::isa::budget::Budget;
use pendula::program::{Program, Value};

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

fn outcome(name: &str, text: &str, directives_of: &str) -> Outcome {
    let one = |key| directives(directives_of, key).first().copied();
    let with = |program: Program| match one("entry") {
        Some(entry) => program.entry(entry),
        None => program,
    };
    let arguments = one("args").unwrap_or_default();
    let values = |all: &[(String, Value)]| all.iter().map(|(_, v)| v.clone()).collect::<Vec<Value>>();
    let run = with(pendula::text(name, text)).run(arguments).ok().map(|run| values(run.values()));
    let gradient = one("grad").and_then(|grad| grad.split_whitespace().next()).and_then(|loss| {
        with(pendula::text(name, text)).loss(loss).grad(arguments).ok().map(|gradient| values(gradient.values()))
    });
    (run, gradient)
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
        let (before, after) = (outcome("f.jl", &text, &text), outcome("f.nil", &made, &text));
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
