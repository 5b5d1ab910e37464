//! The help of every command fits a terminal, and its examples run.

use std::process::Command;

use pendula_isa::sample;

use super::folder;
use crate::common::{builds_circuits, has_solver};

fn help(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pendula")).args(args).env("COLUMNS", "80").output().expect("it runs");
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The commands, and `pendula` itself.
fn commands() -> Vec<String> {
    let text = help(&["-h"]);
    let list = text.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    let names =
        list.filter(|l| l.starts_with("  ") && !l.starts_with("   ")).filter_map(|l| l.split_whitespace().next());
    let names: Vec<String> = names.filter(|n| *n != "help").map(str::to_string).collect();
    assert!(names.len() > 14, "{text}");
    std::iter::once(String::new()).chain(names).collect()
}

/// The lines under `Examples:`.
fn examples(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|l| *l != "Examples:").skip(1);
    lines.take_while(|l| !l.is_empty()).map(|l| l.trim().to_string()).collect()
}

#[test]
fn every_help_fits_a_terminal_and_ends_with_two_examples() {
    for command in commands() {
        for flag in ["-h", "--help"] {
            let args: Vec<&str> = [command.as_str(), flag].into_iter().filter(|a| !a.is_empty()).collect();
            let text = help(&args);
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{args:?}: {line}");
            }
            let examples = examples(&text);
            assert_eq!(examples.len(), 2, "{args:?}: {text}");
            let last = text.trim_end().lines().last().map(str::trim);
            assert_eq!(last, examples.last().map(String::as_str), "{args:?}: they stand at the end");
            for example in examples {
                assert!(example.starts_with(&format!("pendula {command}")), "{args:?}: {example}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn the_examples_in_the_help_run() {
    let folder = folder("examples");
    let root = env!("CARGO_MANIFEST_DIR");
    for name in ["examples", "benches", "tests"] {
        std::os::unix::fs::symlink(format!("{root}/{name}"), folder.join(name)).expect("a link");
    }
    // Without a solver, nothing can be proved.
    for command in commands().into_iter().filter(|command| command != "prove" || has_solver()) {
        let args: Vec<&str> = [command.as_str(), "-h"].into_iter().filter(|a| !a.is_empty()).collect();
        for (n, example) in examples(&help(&args)).into_iter().enumerate() {
            if n > 0 && (builds_circuits(&example) || n % 2 == 0) && !sample::all() {
                continue;
            }
            let line = format!("{} {}", env!("CARGO_BIN_EXE_pendula"), example.trim_start_matches("pendula "));
            let output = Command::new("sh").args(["-c", &line]).current_dir(&folder).output().expect("a shell");
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{example}: {err}");
        }
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_command_takes_only_options_that_it_can_use() {
    let disasm = help(&["disasm", "-h"]);
    for option in ["--args", "--classic", "--uncompute", "--passes", "--engine"] {
        assert!(!disasm.contains(option), "{disasm}");
    }
    let grad = help(&["grad", "-h"]);
    assert!(!grad.contains("Programs in PISA") && !grad.contains("Programs in Janus"), "{grad}");
    let refused = Command::new(env!("CARGO_BIN_EXE_pendula")).args(["disasm", "a.o", "--args", "1"]).output();
    assert_eq!(refused.expect("it runs").status.code(), Some(2));
    // General options do not stand among those of a language.
    for command in ["run", "grad"] {
        let text = help(&[command, "-h"]);
        let general = text.find("\nGeneral:").unwrap_or_else(|| panic!("{text}"));
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(["--color", "--memory-limit", "--max-source"].iter().all(|o| at(o) > general), "{text}");
        assert!(at("--json") < at("Programs in Nil") && at("--stats") < at("Many inputs"), "{text}");
    }
}
