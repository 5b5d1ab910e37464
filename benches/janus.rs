//! Programs in Janus of about 10^8 steps beside the same in C, in the same run: `cargo bench --bench janus [-- NAME…]`.
//!
//! The programs are those of `tests/filetests/janus/programs` with one constant made larger; `benches/janus` has the same in C, which is not
//! reversible: it overwrites, and keeps nothing. Each runs as a process of its own, start and compilation included (of the C that
//! `--engine native` makes, which is kept from run to run, only in the first turn, which is not timed). Results must agree first.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Subject, medians};

/// A program: its constant as it stands, that of the bench, how many steps that makes, and the result's name.
struct Case {
    name: &'static str,
    constant: &'static str,
    scaled: u64,
    /// Other replacements in the test program.
    instead: &'static [(&'static str, &'static str)],
    steps: f64,
    result: &'static str,
}

/// Numbers that wrap, as they do in C.
const WRAPPING: &[(&str, &str)] =
    &[("int x1, int x2", "u64 x1, u64 x2"), ("int x1 = 0", "u64 x1 = 0"), ("int x2 = 1", "u64 x2 = 1")];

/// Factors of a matrix whose sixth power is the unit matrix, so that results do not grow: words that overflow are noted, and that takes time
/// which C does not take.
const FACTORS: (&str, &str) = (
    "{{0, 2, -1, 3}, {1, 0, 4, -2}, {-3, 1, 0, 1}, {2, 2, -1, 0}}",
    "{{0, 1, 0, 0}, {-1, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, -1, 0}}",
);

/// Steps are statements run forward: updates, exchanges, calls, branches and turns of loops.
const CASES: &[Case] = &[
    Case {
        name: "fib_loop",
        constant: "int count = 90",
        scaled: 25_000_000,
        instead: WRAPPING,
        steps: 1e8,
        result: "x1",
    },
    Case { name: "lcg", constant: "int count = 200", scaled: 7_700_000, instead: &[], steps: 1e8, result: "x" },
    Case { name: "tea", constant: "int blocks = 5", scaled: 760_000, instead: &[], steps: 1e8, result: "text" },
    Case { name: "matmul", constant: "int rounds = 3", scaled: 877_000, instead: &[FACTORS], steps: 1e8, result: "x" },
];

const ENGINES: [&str; 3] = ["native", "jit", "interp"];

/// The line in which a command prints a result.
fn result(command: &mut Command, name: &str) -> String {
    let output = command.output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_result = |l: &&str| l.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '[']));
    text.lines().rfind(is_result).unwrap_or_else(|| panic!("no {name} in {text}")).to_string()
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-janus");
    std::fs::create_dir_all(&folder).expect("a folder");
    println!("{:<10} {:>9} {:>8} {:>16} {:>16} {:>16}", "program", "steps", "C", "native", "jit", "interpreter");
    for case in CASES.iter().filter(|c| only.is_empty() || only.iter().any(|o| o == c.name)) {
        let name = case.name;
        let c = folder.join(name);
        let source = root.join(format!("benches/janus/{name}.c"));
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
        let compiled = Command::new(compiler).arg("-O2").arg("-o").arg(&c).arg(source).status();
        assert!(compiled.is_ok_and(|s| s.success()), "{name}.c does not compile");
        let text = std::fs::read_to_string(root.join(format!("tests/filetests/janus/programs/{name}.ja")));
        let text = text.expect("the program");
        let (head, _) = case.constant.rsplit_once(' ').expect("a constant");
        assert!(text.contains(case.constant), "{name}");
        let mut text = text.replace(case.constant, &format!("{head} {}", case.scaled));
        for (old, new) in case.instead {
            assert!(text.contains(old), "{name}");
            text = text.replace(old, new);
        }
        let janus = folder.join(format!("{name}.ja"));
        std::fs::write(&janus, text).expect("written");

        let command = &|engine: Option<&str>| match engine {
            None => {
                let mut command = Command::new(&c);
                command.arg(case.scaled.to_string());
                command
            }
            Some(engine) => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
                command.arg("run").arg(&janus).args(["--engine", engine]);
                command
            }
        };
        let ways = [None].into_iter().chain(ENGINES.map(Some));
        let wanted = result(&mut command(None), case.result);
        for way in ways.clone() {
            assert_eq!(result(&mut command(way), case.result), wanted, "{name} {way:?}");
        }
        let mut subjects: Vec<Subject<'_>> = ways
            .map(|way| Subject {
                run: Box::new(move || {
                    assert!(command(way).output().is_ok_and(|o| o.status.success()));
                    1
                }),
            })
            .collect();
        let t = medians(&mut subjects, 5);
        let column = |n: usize| format!("{:.3} s ({:.1})", t[n], t[n] / t[0]);
        println!(
            "{name:<10} {:>9.1e} {:>6.3} s {:>16} {:>16} {:>16}",
            case.steps,
            t[0],
            column(1),
            column(2),
            column(3)
        );
    }
    println!("\nin parentheses: the time over that of C");
}
