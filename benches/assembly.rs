//! Programs in assembly beside the same in C, in the same run: `cargo bench --bench assembly [-- NAME…]`.
//!
//! `benches/assembly` has three programs of integers as one writes them by hand, and each in C twice: as C programs compute the same, and
//! (`-steps`) as the steps of the program in assembly, with what the machine checks at them. Each runs as a process of its own, start
//! and compilation included. Results must agree first.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Subject, medians};

/// A program: the constant that says how long it runs, and the value of that.
struct Case {
    name: &'static str,
    constant: &'static str,
    scaled: u64,
}

const CASES: &[Case] = &[
    Case { name: "xorshift", constant: "STEPS", scaled: 160_000_000 },
    Case { name: "sieve", constant: "ROUNDS", scaled: 4_000 },
    Case { name: "matmul", constant: "ROUNDS", scaled: 3_200 },
];

/// A way to run a program: a variant of it in C, or an engine.
#[derive(Clone, Copy, Debug)]
enum Way {
    C(&'static str),
    Engine(&'static str),
}

const WAYS: [Way; 4] = [Way::C(""), Way::C("-steps"), Way::Engine("jit"), Way::Engine("interp")];

/// What a command prints first.
fn result(mut command: Command) -> String {
    let output = command.output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().unwrap_or_default().to_string()
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let sources = &Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/assembly");
    let folder = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-assembly");
    std::fs::create_dir_all(folder).expect("a folder");
    println!("{:<10} {:>9} {:>9} {:>24} {:>18}", "program", "C", "C, steps", "jit", "interpreter");
    for case in CASES.iter().filter(|c| only.is_empty() || only.iter().any(|o| o == c.name)) {
        let name = case.name;
        for way in WAYS {
            let Way::C(variant) = way else { continue };
            let source = sources.join(format!("{name}{variant}.c"));
            let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
            let c = folder.join(format!("{name}{variant}"));
            let compiled = Command::new(compiler).arg("-O2").arg("-o").arg(&c).arg(source).status();
            assert!(compiled.is_ok_and(|s| s.success()), "{name}{variant}.c does not compile");
        }
        let command = &|way: Way| match way {
            Way::C(variant) => {
                let mut command = Command::new(folder.join(format!("{name}{variant}")));
                command.arg(case.scaled.to_string());
                command
            }
            Way::Engine(engine) => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
                command.arg("run").arg(sources.join(format!("{name}.rasm"))).args(["--engine", engine]);
                command.arg("-D").arg(format!("{}={}", case.constant, case.scaled));
                command
            }
        };
        let wanted = result(command(WAYS[0]));
        for way in &WAYS[1..] {
            assert_eq!(result(command(*way)), wanted, "{name} {way:?}");
        }
        let mut subjects: Vec<Subject<'_>> = WAYS
            .iter()
            .map(|way| Subject {
                run: Box::new(move || {
                    assert!(command(*way).output().is_ok_and(|o| o.status.success()));
                    1
                }),
            })
            .collect();
        let t = medians(&mut subjects, 5);
        println!(
            "{name:<10} {:>7.3} s {:>7.3} s {:>24} {:>18}",
            t[0],
            t[1],
            format!("{:.3} s ({:.2}, {:.2})", t[2], t[2] / t[0], t[2] / t[1]),
            format!("{:.3} s ({:.0})", t[3], t[3] / t[0]),
        );
    }
    println!("\nin parentheses: the time over that of C, and over that of the same steps in C");
}
