//! The engine that compiles with the system's C compiler: what it keeps, what it runs, and what it says when the compiler is missing or fails.

#![cfg(unix)]

use pendula_isa::sample;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::common::c_compiler;
use assert_cmd::Command;

/// An empty directory of this name.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// A script in a directory that stands for a compiler.
fn compiler(directory: &Path, script: &str) -> PathBuf {
    let path = directory.join("compiler");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a file of ours");
    path
}

/// A run there and back.
fn run(engine: &str, cache: &Path, compiler: Option<&Path>) -> Command {
    let mut command = Command::cargo_bin("pendula").expect("the program");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("PENDULA_CACHE", cache);
    command.args(["run", "--round-trip", "--engine", engine, "examples/bessel.nil", "--args", "0.0,2,1.0"]);
    match compiler {
        Some(path) => command.env("CC", path),
        None => command.env_remove("CC"),
    };
    command
}

#[test]
fn libraries_are_kept() {
    let directory = directory("kept");
    let log = directory.join("log");
    let script = format!("case \"$*\" in *-shared*) echo made >> {};; esac\nexec cc \"$@\"", log.display());
    let compiler = compiler(&directory, &script);
    let expected = run("interp", &directory, None).assert().success().get_output().stdout.clone();
    let calls = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    run("native", &directory, Some(&compiler)).assert().success().stdout(expected.clone());
    let first = calls();
    assert!(first > 0, "nothing was compiled");
    run("native", &directory, Some(&compiler)).assert().success().stdout(expected);
    assert_eq!(calls(), first, "compiled again");
    let suffixes =
        std::fs::read_dir(&directory).expect("the cache").filter_map(|e| e.ok()?.path().extension().map(Into::into));
    let mut suffixes: Vec<PathBuf> = suffixes.collect();
    suffixes.sort();
    let (so, sum) = (vec![PathBuf::from("so"); first], vec![PathBuf::from("sum"); first]);
    assert_eq!(suffixes, [so, sum].concat(), "sources are not kept");
}

#[test]
fn no_compiler() {
    let directory = directory("no-compiler");
    let output = run("native", &directory, Some(Path::new("/nonexistent/cc"))).assert().code(2).get_output().clone();
    let message = String::from_utf8(output.stderr).expect("a text");
    assert!(
        message.contains("the engine `native` is not available: no C compiler was found (/nonexistent/cc)"),
        "{message}"
    );
    assert!(message.contains("CC") && message.contains("`--engine jit`"), "{message}");
}

#[test]
fn a_compiler_that_fails() {
    let directory = directory("fails");
    let script = "case \"$1\" in --version) echo out of order 1.0;; *) echo error: out of order >&2; exit 1;; esac";
    let compiler = compiler(&directory, script);
    let output = run("native", &directory, Some(&compiler)).assert().code(2).get_output().clone();
    let message = String::from_utf8(output.stderr).expect("a text");
    assert!(message.contains("the engine `native` could not generate code"), "{message}");
    assert!(message.contains("error: out of order"), "{message}");
    assert!(output.stdout.is_empty(), "nothing is printed of a run that was not made");
    // The source is there to be looked at.
    let sources = std::fs::read_dir(&directory).expect("the cache").filter_map(Result::ok);
    assert!(sources.into_iter().any(|e| e.path().extension().is_some_and(|e| e == "c")), "the source is kept");
}

/// What has no code for whole runs is run by the engine that needs none, and whoever asked for C is told.
#[test]
fn assembly_is_run_by_jit() {
    let directory = directory("assembly");
    let mut command = Command::cargo_bin("pendula").expect("the program");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("PENDULA_CACHE", &directory);
    let args = ["run", "--set", "n=2000", "--json", "--engine", "native", "examples/orbit.rasm"];
    let output = command.args(args).assert().success().get_output().clone();
    let message = String::from_utf8(output.stderr).expect("a text");
    assert!(message.contains("`jit` runs this one: there is C only for programs in Nil and Janus"), "{message}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["ran_by"], serde_json::json!(["jit", "interpreter"]));
    assert_eq!(std::fs::read_dir(&directory).expect("a directory").count(), 0, "the compiler was called");
    // It needs none.
    let mut command = Command::cargo_bin("pendula").expect("the program");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("CC", "/nonexistent/cc").args(args).assert().success();
    // Neither do counts use it, which is told.
    let (code, _, err) = nil(
        &directory,
        "@i function f!(y!, x)\n    y! += x\nend\n",
        &["run", "--args", "0,1", "--stats", "--engine", "native"],
    );
    assert!(code == 0 && err.contains("`jit` runs this"), "{err}");
}

/// The numbers of a text's second line on.
fn numbers(output: &std::process::Output) -> Vec<String> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout.clone()).expect("a text");
    text.split_whitespace().filter(|w| w.parse::<f64>().is_ok()).map(str::to_string).collect()
}

/// Batches run programs in Nil as a whole, as single runs do, and give the same digits.
#[test]
fn batches_run_whole_programs() {
    let directory = directory("batch");
    let inputs = directory.join("z.csv");
    std::fs::write(&inputs, "1.0\n0.5\n-2.25\n").expect("a file");
    let inputs = inputs.display().to_string();
    let pendula = |args: &[&str]| {
        let mut command = Command::cargo_bin("pendula").expect("the program");
        command.current_dir(env!("CARGO_MANIFEST_DIR")).env("PENDULA_CACHE", &directory).args(args);
        numbers(&command.output().expect("runs"))
    };
    for (command, engine) in [(&["run"][..], "native"), (&["grad", "--loss", "1"], "native"), (&["run"], "interp")] {
        let all = [&[command[0], "examples/bessel.nil", "--engine", engine], &command[1..]].concat();
        let batch = pendula(&[&all[..], &["--args", "0.0,2,_", "--batch", &inputs]].concat());
        for (n, z) in ["1.0", "0.5", "-2.25"].into_iter().enumerate() {
            let alone = pendula(&[&all[..], &["--args", &format!("0.0,2,{z}")]].concat());
            let result = |k: usize| alone.get(k).unwrap_or_else(|| panic!("{alone:?}"));
            assert!(batch.contains(result(0)), "item {n} of {command:?} by {engine}: {batch:?}, not {alone:?}");
            assert!(command[0] == "run" || batch.contains(result(1)), "item {n}: {batch:?}, not {alone:?}");
        }
    }
}

/// The items of a batch do not feel one another: those that stop, those of which rounding leaves something in the data, and those that
/// code for whole runs gives up have the results that they have in the interpreter, as text and in files.
#[test]
fn items_of_a_batch_are_independent_in_whole_runs() {
    let directory = directory("independent");
    let file = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let program = file(
        "f.nil",
        "@i function f!(out!, w!::AbstractVector, x, y)
    @routine begin
        s ← 0.0
        s += x * y
        s += x
    end
    out! += sin(s) + 1 / y
    w![1] += exp(s) * y
    w![2] -= out! * x
    ~@routine
end
",
    );
    // Sums that are too large to be forgotten, a divisor that is zero, what overflows forward and only backward, and zeros of both signs.
    let numbers = ["0.1", "-0.0", "0.0", "3.5", "1e9", "-7e150", "1e-200", "700.0", "-2.25"];
    let items: String = numbers.iter().flat_map(|x| numbers.map(|y| format!("{x},{y}\n"))).collect();
    let items = file("xy.csv", &items);
    let results = ["native", "interp"].map(|engine| {
        let saved = directory.join(format!("{engine}.csv")).display().to_string();
        let pendula = |more: &[&str]| {
            let mut command = Command::cargo_bin("pendula").expect("the program");
            let common = ["grad", &program, "--engine", engine, "--jobs", "1", "--loss", "w![2]", "--wrt", "x,y,out!"];
            let batch = ["--args", "0.1,[0.2,1e5],_,_", "--batch", &items];
            command.env("PENDULA_CACHE", &directory).args(common).args(batch).args(more);
            let output = command.output().expect("runs");
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let printed = pendula(&[]);
        assert_eq!(printed.1.lines().count(), 82, "{printed:?}");
        assert_eq!(pendula(&["--save", &saved]).0, printed.0, "{engine}");
        (printed, std::fs::read_to_string(&saved).expect("results"))
    });
    assert_eq!(results[0], results[1]);
    let ends = |what: &str| results[0].0.1.lines().filter(|line| line.contains(what)).count();
    assert!(ends("error") > 9 && ends("error") < 60, "{}", results[0].0.1);
}

/// Results say what has run them: batches, whatever gives their inputs, have the whole in C where single runs have.
#[test]
fn results_say_what_has_run_them() {
    let directory = directory("ran-by");
    let inputs = directory.join("z.csv");
    std::fs::write(&inputs, "1.0\n0.5\n").expect("a file");
    let (named, inputs) = (format!("z={}", inputs.display()), inputs.display().to_string());
    let all = ["examples/bessel.nil", "--json"];
    let pendula = |args: &[&str]| {
        let mut command = Command::cargo_bin("pendula").expect("the program");
        command.current_dir(env!("CARGO_MANIFEST_DIR")).env("PENDULA_CACHE", &directory).args(args);
        let output = command.output().expect("runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let (alone, open) = (["--args", "0.0,2,1.0"], ["--args", "0.0,2,_"]);
    for command in [&["run"][..], &["run", "--round-trip"], &["grad", "--loss", "1"]] {
        for (engine, name) in [("native", "whole C"), ("interp", "interpreter")] {
            let common = [command, &all, &["--engine", engine]].concat();
            let one = pendula(&[&common[..], &alone].concat());
            assert_eq!(one["ran_by"], serde_json::json!([name]), "{command:?} {engine}");
            // What a whole run does not tell is named.
            assert_eq!(one["flags"]["unnoted"].is_array(), engine == "native", "{one}");
            for file in [&inputs, &named] {
                let many = pendula(&[&common[..], &open, &["--batch", file]].concat());
                for item in many["items"].as_array().expect("items") {
                    assert_eq!(item["ran_by"], one["ran_by"], "{command:?} {engine} {file}");
                }
            }
        }
    }
    // Counts are of code that counts.
    let counted = ["--engine", "native", "--stats"];
    let one = pendula(&[&["run"], &all[..], &counted, &alone].concat());
    let many = pendula(&[&["run"], &all[..], &counted, &open, &["--batch", &inputs]].concat());
    assert_eq!(many["items"][0]["ran_by"], one["ran_by"]);
    for stats in [&one["stats"], &many["stats"]] {
        let engine = &stats["engine"];
        let ran = |key: &str| engine[key].as_u64().expect("a number");
        assert_eq!(
            (engine["name"].as_str(), ran("compiled") + ran("interpreted")),
            (Some("jit"), stats["instructions"].as_u64().expect("a number"))
        );
    }
}

/// Nobody who asks for no engine waits for the C compiler, and yet all but the first items of a batch run in C; single runs do, too, once
/// they are long enough. With `--no-cc`, code by Cranelift does what it would.
#[test]
fn without_an_engine_long_runs_end_in_c() {
    c_compiler();
    let directory = directory("auto");
    let source = "@i function swing!(e!::T, q!::T, p!::T, dt::T, n::Int) where T
    for k = 1:n
        p! -= sin(q!) * dt
        q! += p! * dt
    end
    e! += p! * p!
    e! -= cos(q!)
end
";
    let items: String = (0..400).map(|n| format!("{}\n", f64::from(n) / 400.0)).collect();
    std::fs::write(directory.join("q.csv"), items).expect("a file");
    let batch = ["--args", "0.0,_,0.0,0.001,20000", "--batch", "q!=q.csv", "--jobs", "1"];
    let alone = ["--args", "0.0,1.0,0.0,0.001,12000000"];
    for (n, command) in [&["run"][..], &["grad", "--loss", "e!"]].into_iter().enumerate() {
        for given in sample::in_turn(&[&batch[..], &alone], n) {
            let json = |more: &[&str]| {
                let (code, out, err) = nil(&directory, source, &[command, given, &["--json"], more].concat());
                assert_eq!(code, 0, "{err}");
                let mut all: serde_json::Value = serde_json::from_str(&out).expect("JSON");
                let mut items = all["items"].as_array_mut().map_or_else(Vec::new, std::mem::take);
                if items.is_empty() {
                    items.push(all);
                }
                let ran_by = |item: &mut serde_json::Value| {
                    item["flags"].take();
                    item["restored"].take();
                    item["ran_by"].take().to_string()
                };
                let ran: Vec<String> = items.iter_mut().map(ran_by).collect();
                (items, ran)
            };
            // No C is made before a run has taken long, and none at all if it is not to be.
            let (expected, ran) = json(&["--no-cc"]);
            assert!(ran.iter().all(|by| !by.contains("\"whole C\"")), "{ran:?}");
            let is_quick = |by: &String| by == "[\"whole Cranelift\"]" || !cfg!(feature = "jit");
            assert!(ran.last().is_some_and(is_quick), "{ran:?}");
            let started = std::time::Instant::now();
            loop {
                let (items, ran) = json(&[]);
                assert_eq!(items, expected, "{command:?} {given:?}");
                if ran.last().is_some_and(|by| by == "[\"whole C\"]") {
                    break;
                }
                assert!(started.elapsed().as_secs() < 120, "{command:?} {given:?}: {:?}", ran.last());
            }
        }
    }
    let args = ["grad", "--loss", "e!", "--args", "0.0,1.0,0.0,0.001,10", "--no-cc", "--engine", "native"];
    let (code, _, err) = nil(&directory, source, &args);
    assert!(code == 2 && err.contains("--no-cc") && err.contains("--engine native"), "{err}");
    let short = directory.join("short");
    std::fs::create_dir_all(&short).expect("a directory");
    for more in [&["--no-cc"][..], &[]] {
        let args = [&["grad", "--loss", "e!", "--args", "0.0,1.0,0.0,0.001,10"], more].concat();
        assert_eq!(nil(&short, source, &args).0, 0);
        assert!(!short.join("cache").exists(), "a short run has made C, or a place for it");
    }
}

/// A program in Nil in a directory of its own; what a command prints with these arguments, and on standard error.
fn nil(directory: &Path, source: &str, args: &[&str]) -> (i32, String, String) {
    let file = directory.join("p.compiled");
    std::fs::write(&file, source).expect("a file");
    let mut command = Command::cargo_bin("pendula").expect("the program");
    command.current_dir(directory).env("PENDULA_CACHE", directory.join("cache")).env("NO_COLOR", "1");
    command.args([args[0], "p.compiled"]).args(&args[1..]);
    let output = command.output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("a text");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

/// Names that the C gives itself, and those of what words carry and of what is handed over, may be those of variables.
#[test]
fn names_of_the_c_may_be_a_program_s() {
    let directory = directory("names");
    let source = "@i function f!(z!::T, kept0::AbstractVector{T}, g_z::T, p_z::T, turned_z::T, t1::T, z_before::T, n::Int) where T
    for WORD = 1:n
        z! += kept0[1] * g_z + p_z * turned_z
        z! += t1 * z_before * kept0[WORD]
    end
end
";
    let args = ["--args", "0.5,[1.0,2.0],3.0,4.0,5.0,6.0,7.0,2"];
    for command in [&["run"][..], &["grad", "--loss", "z!"], &["grad", "--loss", "z!", "--hessian"]] {
        let all = |engine: &str| {
            let out = nil(&directory, source, &[command, &args, &["--engine", engine]].concat());
            assert_eq!(out.0, 0, "{command:?}: {}", out.2);
            out.1
        };
        assert_eq!(all("native"), all("interp"), "{command:?}");
    }
    let cache = std::fs::read_dir(directory.join("cache")).expect("the cache").filter_map(Result::ok);
    let sources = cache.filter(|e| e.path().extension().is_some_and(|e| e == "c")).count();
    assert_eq!(sources, 0, "C that could not be compiled");
}

/// A file's name appears in a comment of the C, which it must not end.
#[test]
fn names_of_files_end_no_comment() {
    let top = directory("comments");
    let source = "@i function f!(z!, x)\n    z! += x\nend\n";
    for (n, name) in ["a*", "a*\\\n", "a*??/\n", "a*\\ \n", "a??/", "a\n#error b"].into_iter().enumerate() {
        let directory = top.join(n.to_string()).join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let file = directory.join("p.compiled");
        std::fs::write(&file, source).expect("a file");
        let mut command = Command::cargo_bin("pendula").expect("the program");
        command.env("PENDULA_CACHE", top.join("cache")).args(["run", "--json", "--engine", "native", "--args", "0,7"]);
        let output = command.arg(&file).output().expect("runs");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let found = (&value["ran_by"], &value["values"]["z!"]);
        assert_eq!(found, (&serde_json::json!(["whole C"]), &serde_json::json!(7)), "{name:?}");
    }
}

/// Derivatives of a constant in one call do not affect the next call.
#[test]
fn constants_that_are_lent_carry_nothing() {
    let directory = directory("constants");
    let source = "@i function f!(r!::T, a::T, c::T) where T
    r! += a * a * c
end

@i function main!(z!::T, x::T) where T
    f!(z!, x, 1.5)
    f!(z!, x, 2.0)
end
";
    let args =
        ["grad", "-O0", "--entry", "main!", "--hessian", "--loss", "z!", "--args", "0.0,0.3", "--engine", "native"];
    let (code, out, err) = nil(&directory, source, &args);
    assert_eq!((code, out.contains("∂²/∂x² = 7\n")), (0, true), "{out}{err}");
}

/// With `--fast-float`, sums that are added part by part end within a tolerance on every engine; numbers that are not finite are found
/// where a loop would go on for ever with them, and in results.
#[test]
fn fast_floats() {
    let directory = directory("fast");
    let parts = "@i function f!(z!::T, x::T, s::T) where T
    z! += x / (s * s + 1.5)
end
";
    for engine in ["interp", "jit", "native"] {
        let args = ["run", "--fast-float", "--args", "0.1,-0.076,-0.189", "--engine", engine];
        let (code, out, err) = nil(&directory, parts, &args);
        assert_eq!((code, out.starts_with("z! = 0.0505118442737971")), (0, true), "{engine}: {out}{err}");
    }
    let endless = "@i function f!(z!::T, x::T) where T
    @routine begin
        a ← zero(T)
        k ← 0
        a += x * x
        while (a > 1.0, k > 0)
            k += 1
            a -= x
        end
    end
    z! += a
    ~@routine
end
";
    let args = ["run", "--fast-float", "--args", "0.0,1e200", "--engine", "native"];
    let (code, _, err) = nil(&directory, endless, &args);
    assert_eq!((code, err.contains("P0119")), (1, true), "{err}");
    let roots = "@i function f!(z!::T, x::T) where T
    z! += sqrt(x)
end
";
    let args = ["run", "--fast-float", "--args", "0.0,-1.0", "--engine", "native"];
    let (code, _, err) = nil(&directory, roots, &args);
    assert_eq!((code, err.contains("error[P01")), (1, true), "{err}");
    let args = ["grad", "--loss", "z!", "--fast-float", "--args", "0.0,1.0", "--engine", "native"];
    let (code, _, err) = nil(&directory, &roots.replace("sqrt", "asin"), &args);
    assert_eq!((code, err.contains("P0113")), (1, true), "{err}");
}
