//! Programs in Janus of some size: those of the textbooks and others, under `tests/filetests/janus/programs`, and of the first language,
//! under `tests/filetests/janus/classic`. What each prints, and its final store, stands beside it: worked out by an interpreter that was
//! written apart from Pendula from the same description of the language.
//!
//! Each program runs as a user would run it, on every engine, and forward and back to its start; and its inverse, written as a program in
//! Janus, takes the final store back to the first.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs that the system's C compiler is asked for, of all: it takes its time.
const NATIVE: usize = 3;

fn pendula(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pendula")).args(args).output().expect("pendula runs")
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/janus").join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    let mut out: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "ja")).collect();
    out.sort();
    out
}

/// Runs a program; what it prints must be what stands beside it.
fn run(program: &Path, options: &[&str]) -> Result<(), String> {
    let path = program.to_str().expect("UTF-8");
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let args: Vec<&str> = [&["run", path], options].concat();
    let output = pendula(&args);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() || !errors.is_empty() {
        return Err(format!("{name} {options:?}: {}\n{errors}", output.status));
    }
    let wanted = std::fs::read_to_string(program.with_extension("out")).expect("what is expected");
    let trip = "round trip: the state was restored";
    let (text, back) = match text.find(trip) {
        Some(at) => text.split_at(at),
        None => (&*text, ""),
    };
    if text != wanted {
        return Err(format!("{name} {options:?} printed\n{text}\nand not\n{wanted}"));
    }
    if options.contains(&"--round-trip") == back.is_empty() {
        return Err(format!("{name} {options:?}: {back}"));
    }
    Ok(())
}

/// Does something with each program, several at a time, and tells what went wrong with any.
fn each(programs: &[PathBuf], check: impl Fn(usize, &Path) -> Result<(), String> + Sync) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((n, program)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, programs.get(n)?)))
                {
                    if let Err(message) = check(n, program) {
                        wrong.lock().expect("no panic").push(message);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_print_what_they_should_on_every_engine() {
    let programs = programs("programs");
    assert!(programs.len() >= 50, "{}", programs.len());
    each(&programs, |n, program| {
        run(program, &["--engine", "interp", "--round-trip"])?;
        run(program, &["--engine", "jit", "--round-trip"])?;
        if n.is_multiple_of(NATIVE) {
            run(program, &["--engine", "native"])?;
            run(program, &["--engine", "native", "--round-trip", "-O0"])?;
        }
        Ok(())
    });
}

#[test]
fn programs_of_the_first_language() {
    let programs = programs("classic");
    assert!(programs.len() >= 4, "{}", programs.len());
    each(&programs, |_, program| {
        for engine in ["interp", "jit", "native"] {
            run(program, &["--classic", "--engine", engine, "--round-trip"])?;
        }
        Ok(())
    });
}

#[test]
fn inverses_are_programs_in_janus() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("janus-inverses");
    std::fs::create_dir_all(&folder).expect("a folder");
    each(&programs("programs"), |_, program| {
        let path = program.to_str().expect("UTF-8");
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let inverse = folder.join(&name);
        let inverted = pendula(&["invert", path, "-o", inverse.to_str().expect("UTF-8")]);
        if !inverted.status.success() {
            return Err(format!("{name}: {}", String::from_utf8_lossy(&inverted.stderr)));
        }
        // Of an inverse the inverse is the program, which does the same.
        let again = folder.join(format!("again-{name}"));
        let (inverse, again_path) = (inverse.to_str().expect("UTF-8"), again.to_str().expect("UTF-8"));
        let twice = pendula(&["invert", inverse, "-o", again_path]);
        if !twice.status.success() {
            return Err(format!("{name}, twice: {}", String::from_utf8_lossy(&twice.stderr)));
        }
        std::fs::copy(program.with_extension("out"), again.with_extension("out")).expect("a copy");
        run(&again, &[])
    });
}
