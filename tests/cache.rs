//! The cache of compiled libraries, as a user or an attacker sees it: directories of other users, damaged and planted libraries, and
//! compilers that hang, fail, or produce something that is no library.

#![cfg(target_os = "linux")]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What the program prints.
const RESULT: &str = "out! = 89\nn = 10\n";

/// Variables that say where code is kept.
const PLACES: [&str; 3] = ["PENDULA_CACHE", "XDG_CACHE_HOME", "HOME"];

/// An empty directory of the test's own, which nobody else can look into.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("tmp")).expect("a directory");
    path
}

/// A run of a small program by C, whose temporary files go to `tmp` in a directory, and that knows of no place to keep code in.
fn program(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("TMPDIR", directory.join("tmp"));
    PLACES.iter().chain(&["CC", "PENDULA_CC_TIMEOUT", "RUST_LOG"]).for_each(|name| {
        command.env_remove(name);
    });
    command.args(["run", "examples/fib.nil", "--entry", "rrfib", "--args", "0,10", "--engine", "native"]);
    command
}

/// The same with its code kept in `kept`.
fn keeping(directory: &Path) -> Command {
    let mut command = program(directory);
    command.env("PENDULA_CACHE", directory.join("kept"));
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("runs");
    (status.code(), text(&stdout), text(&stderr))
}

/// Runs, and gives what is said on standard error.
fn succeeds(command: &mut Command) -> String {
    let (code, out, err) = output(command);
    assert_eq!((code, out.as_str()), (Some(0), RESULT), "{err}");
    err
}

/// Runs in vain, and sees what is said.
fn refuses(command: &mut Command, says: &[&str]) {
    let (code, out, err) = output(command);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    for part in says {
        assert!(err.contains(part), "`{part}` is not in: {err}");
    }
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().expect("it is there").mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a file of ours");
}

/// The names in a directory, in their order.
fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory").map(|e| e.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|n| n.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The one file with this suffix.
fn the(directory: &Path, suffix: &str) -> PathBuf {
    let all: Vec<String> = names(directory).into_iter().filter(|n| n.ends_with(suffix)).collect();
    let [name] = &all[..] else { panic!("{suffix}: {all:?}") };
    directory.join(name)
}

/// A script in a directory that stands for a compiler, and counts libraries in `made`.
fn compiler(directory: &Path, script: &str) -> PathBuf {
    let path = directory.join("compiler");
    let made = directory.join("made");
    let count = format!("case \"$*\" in *-shared*) echo >> {};; *) exec cc --version;; esac", made.display());
    std::fs::write(&path, format!("#!/bin/sh\n{count}\n{script}\n")).expect("a file");
    set_mode(&path, 0o755);
    path
}

/// The number of libraries that were to be made.
fn made(directory: &Path) -> usize {
    std::fs::read_to_string(directory.join("made")).unwrap_or_default().lines().count()
}

/// A library that writes a file when it is loaded.
fn trap(directory: &Path) -> (PathBuf, PathBuf) {
    let (source, library, mark) = (directory.join("trap.c"), directory.join("trap.so"), directory.join("mark"));
    let text = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void f(void) {{ FILE *f = fopen(\"{}\", \"w\"); if (f) fclose(f); }}\n",
        mark.display()
    );
    std::fs::write(&source, text).expect("a file");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(made.expect("a compiler").success());
    (library, mark)
}

#[test]
fn without_a_place_nothing_is_kept_and_nothing_taken_from_where_others_may_write() {
    let own = directory("nowhere");
    // As earlier versions would have found it.
    let shared = own.join("tmp").join("pendula-cache");
    succeeds(program(&own).env("PENDULA_CACHE", &shared));
    let (library, mark) = trap(&own);
    std::fs::copy(&library, the(&shared, ".so")).expect("a copy");
    set_mode(&shared, 0o777);
    succeeds(&mut program(&own));
    assert!(!mark.exists(), "a planted library has run");
    assert_eq!(names(&own.join("tmp")), ["pendula-cache"], "what was made for one process stays");
    // What is named in a way that depends on where one is, is not a place.
    succeeds(program(&own).env("HOME", "here").env("XDG_CACHE_HOME", "target/there"));
    assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("target/there").exists());
}

#[test]
fn what_is_kept_is_the_user_s_alone() {
    let own = directory("modes");
    let kept = own.join("kept");
    let compiler = compiler(&own, "exec cc \"$@\"");
    let mut run = keeping(&own);
    run.env("CC", &compiler);
    succeeds(&mut run);
    assert_eq!(mode(&kept), 0o700);
    let (library, sum) = (the(&kept, ".so"), the(&kept, ".sum"));
    assert_eq!((mode(&library), mode(&sum), names(&kept).len(), made(&own)), (0o600, 0o600, 2, 1));
    assert_eq!(names(&own.join("tmp")), Vec::<String>::new());
    succeeds(&mut run);
    assert_eq!(made(&own), 1, "it is found again");
    // The user's own directory, which others can read: as earlier versions left it.
    set_mode(&kept, 0o755);
    succeeds(&mut run);
    assert_eq!((mode(&kept), made(&own)), (0o700, 1));
    // Files that others may have written to, or that are elsewhere, are not taken.
    for file in [&library, &sum] {
        set_mode(file, 0o666);
        succeeds(&mut run);
        assert_eq!(mode(file), 0o600);
    }
    assert_eq!(made(&own), 3);
    let (planted, mark) = trap(&own);
    let moved = own.join("moved.so");
    std::fs::rename(&library, &moved).expect("it is ours");
    symlink(&moved, &library).expect("a link");
    succeeds(&mut run);
    assert!(library.symlink_metadata().expect("it is there").is_file());
    std::fs::copy(planted, &library).expect("a copy");
    set_mode(&library, 0o600);
    succeeds(&mut run);
    assert!(!mark.exists(), "what has another digest has run");
    assert_eq!(made(&own), 5);
}

#[test]
fn directories_that_are_not_the_user_s_alone() {
    let own = directory("others");
    let (kept, real) = (own.join("kept"), own.join("real"));
    // A link, also with a slash behind it.
    std::fs::create_dir(&real).expect("a directory");
    symlink(&real, &kept).expect("a link");
    for path in [kept.clone(), kept.join("")] {
        refuses(
            program(&own).env("PENDULA_CACHE", path),
            &["could not generate code", "symbolic link", "PENDULA_CACHE"],
        );
    }
    assert_eq!(names(&real), Vec::<String>::new());
    std::fs::remove_file(&kept).expect("it is ours");
    // A file.
    std::fs::write(&kept, "").expect("a file");
    refuses(&mut keeping(&own), &["could not generate code", "not a directory", "PENDULA_CACHE"]);
    std::fs::remove_file(&kept).expect("it is ours");
    // One that others may write to, with something in it that is not ours to guess about.
    std::fs::create_dir(&kept).expect("a directory");
    std::fs::write(kept.join("notes"), "").expect("a file");
    set_mode(&kept, 0o777);
    refuses(&mut keeping(&own), &["could not generate code", "others may write to it"]);
    // One with other things that nobody else may write to is used, and left as it is.
    set_mode(&kept, 0o755);
    succeeds(&mut keeping(&own));
    assert_eq!(mode(&kept), 0o755);
    // Another user's. Only a superuser can give one away.
    if std::os::unix::fs::chown(&kept, Some(65534), None).is_ok() {
        refuses(&mut keeping(&own), &["could not generate code", "belongs to another user"]);
        let home = own.join("home");
        std::fs::create_dir_all(home.join(".cache/pendula")).expect("a directory");
        std::os::unix::fs::chown(home.join(".cache/pendula"), Some(65534), None).expect("it can be given away");
        let err = succeeds(program(&own).env("HOME", &home));
        assert!(err.contains("compiled code is not kept") && err.contains("another user"), "{err}");
        assert_eq!(names(&home.join(".cache/pendula")), Vec::<String>::new());
    }
    // A home that is not there, which is not made, and one that nothing can be made in.
    let missing = own.join("missing");
    for home in [&missing, Path::new("/proc")] {
        let err = succeeds(program(&own).env("HOME", home));
        assert!(err.contains("compiled code is not kept"), "{err}");
    }
    assert!(!missing.exists());
    assert_eq!(names(&own.join("tmp")), Vec::<String>::new());
}

#[test]
fn damaged_entries_are_made_again() {
    let own = directory("damaged");
    let compiler = compiler(&own, "exec cc \"$@\"");
    let mut run = keeping(&own);
    run.env("CC", &compiler);
    succeeds(&mut run);
    let kept = own.join("kept");
    let (library, sum) = (the(&kept, ".so"), the(&kept, ".sum"));
    let mut times = made(&own);
    for file in [&library, &sum] {
        let whole = std::fs::read(file).expect("it is there");
        let cut = |n: usize| whole[..n].to_vec();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            bytes
        };
        let garbage = (0..whole.len()).map(|n| ((n * 2_654_435_761) >> 7) as u8).collect();
        let longer = [&whole[..], b"x"].concat();
        let n = whole.len();
        for bad in [cut(0), cut(1), cut(64), cut(n / 2), cut(n - 1), flipped(0), flipped(n / 2), garbage, longer] {
            std::fs::write(file, &bad).expect("it is ours");
            succeeds(&mut run);
            times += 1;
            assert_eq!(made(&own), times, "{} bytes of {}", bad.len(), file.display());
        }
        std::fs::remove_file(file).expect("it is ours");
        succeeds(&mut run);
        std::fs::remove_file(file).and_then(|()| std::fs::create_dir(file)).expect("it is ours");
        refuses(&mut run, &["could not generate code", "PENDULA_CACHE"]);
        std::fs::remove_dir(file).expect("it is ours");
        succeeds(&mut run);
        times = made(&own);
    }
    succeeds(&mut run);
    assert_eq!(made(&own), times, "what was made again is kept");
    assert_eq!(names(&kept).len(), 2, "{:?}", names(&kept));
}

#[test]
fn other_compilers_and_options_make_other_code() {
    let own = directory("keys");
    let first = compiler(&own, "exec cc \"$@\"");
    let libraries = || names(&own.join("kept")).iter().filter(|n| n.ends_with(".so")).count();
    succeeds(keeping(&own).env("CC", &first));
    succeeds(keeping(&own).env("CC", &first));
    assert_eq!(libraries(), 1);
    succeeds(keeping(&own).env("CC", format!("{} -g0", first.display())));
    assert_eq!(libraries(), 2, "an option");
    // It says the same of itself, under the same name.
    compiler(&own, "exec cc \"$@\" -O1");
    succeeds(keeping(&own).env("CC", &first));
    assert_eq!(libraries(), 3, "another program in its place");
    let other = own.join("other");
    std::fs::copy(&first, &other).expect("a copy");
    succeeds(keeping(&own).env("CC", &other));
    assert_eq!(libraries(), 4, "another path");
    succeeds(keeping(&own).env("CC", &first).env("CPATH", &own));
    assert_eq!(libraries(), 5, "another place for what is included");
}

/// True if the process whose number is in the file ends soon.
fn is_gone(number: &Path) -> bool {
    let number = std::fs::read_to_string(number).expect("it was started");
    let stat = Path::new("/proc").join(number.trim()).join("stat");
    let started = Instant::now();
    // One that has ended and that nobody has waited for is gone, too.
    while std::fs::read_to_string(&stat).is_ok_and(|s| !s.contains(") Z")) {
        if started.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn compilers_that_do_not_end() {
    let own = directory("hangs");
    let number = own.join("number");
    let hang = format!("sleep 100000 & echo $! > {}; wait", number.display());
    let compiler = compiler(&own, &hang);
    let mut run = keeping(&own);
    run.env("CC", &compiler).env("PENDULA_CC_TIMEOUT", "1");
    let says = ["the engine `native`", "within 1 s", "PENDULA_CC_TIMEOUT", "--engine jit"];
    refuses(&mut run, &says);
    assert!(is_gone(&number), "what the compiler has started goes on");
    assert_eq!((made(&own), names(&own.join("kept"))), (1, Vec::new()), "called once, and nothing stays");
    // One that does not even say what it is.
    std::fs::write(&compiler, format!("#!/bin/sh\n{hang}\n")).expect("a file");
    refuses(&mut run, &says);
    assert!(is_gone(&number));
    refuses(run.env("PENDULA_CC_TIMEOUT", "soon"), &["PENDULA_CC_TIMEOUT", "`soon`", "a number of seconds"]);
}

/// A run that ends before the compiler is done stops it, with all that it started, and the next such run does not begin with it again.
#[test]
fn compilers_that_take_longer_than_their_command() {
    let own = directory("longer");
    let number = own.join("number");
    let compiler = compiler(&own, &format!("sleep 100000 & echo $! > {}; wait", number.display()));
    let source = own.join("sum.nil");
    let text = "@i function sum!(y!, n::Int)\n    for i = 1:n\n        y! += i % 7\n    end\nend\n";
    std::fs::write(&source, text).expect("a file");
    let source = source.to_str().expect("UTF-8");
    let run = |limit: &str, turns: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
        command.env("PENDULA_CACHE", own.join("kept")).env("CC", &compiler).env("PENDULA_CACHE_LIMIT", limit);
        output(command.args(["run", source, "--args", &format!("0,{turns}")]))
    };
    let begun = || names(&own.join("kept")).iter().filter(|n| n.ends_with(".begun")).count();
    // A compiler that was stopped soon is not said to take long; on a busy host it may start late, so the runs become longer until it does not.
    let mut calls = 0;
    for turns in ["60000000", "240000000", "960000000", "3840000000"] {
        let (code, _, err) = run("", turns);
        calls += 1;
        assert_eq!((code, made(&own)), (Some(0), calls), "{turns} turns, the compiler was called: {err}");
        assert!(is_gone(&number), "what the compiler has started goes on");
        if begun() == 1 {
            break;
        }
    }
    assert_eq!(begun(), 1, "the compiler took longer than its command");
    // Less than the time after which it is called again.
    let (code, _, err) = run("", "1000000");
    assert_eq!((code, made(&own)), (Some(0), calls), "not called again: {err}");
    let mut clear = Command::new(env!("CARGO_BIN_EXE_pendula"));
    let (code, ..) = output(clear.env("PENDULA_CACHE", own.join("kept")).args(["cache", "clear"]));
    assert_eq!((code, names(&own.join("kept"))), (Some(0), Vec::new()), "nothing stays");
    // What says how code is kept is looked at before anything runs.
    let (code, out, err) = run("much", "10");
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("PENDULA_CACHE_LIMIT") && err.contains("`much`") && err.contains("a number of MiB"), "{err}");
}

/// Whether a gradient word that nobody asks for stops a run does not depend on when its code comes.
#[test]
fn gradient_words_that_nobody_asks_for_stop_no_run_that_waits_for_code() {
    let own = directory("unasked");
    let source = own.join("angles.nil");
    // The derivative by the second of `a` is infinite.
    let text =
        "@i function angles!(y!, x, a)\n    for i = 1:length(x)\n        y! += x[i] * asin(a[i])\n    end\nend\n";
    std::fs::write(&source, text).expect("a file");
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
        let args = ["--args", "0.0,[1.0,2.0],[0.0,1.0]", "--loss", "y!"];
        output(command.env("PENDULA_CACHE", own.join("kept")).arg("grad").arg(&source).args(args).args(more))
    };
    let expected = (Some(0), "y!   = 3.141592653589793\n∂/∂x = [0.0, 1.5707963267948966]\n".to_string());
    for turn in ["without code", "with code"] {
        let (code, out, err) = run(&["--wrt", "x"]);
        assert_eq!((code, out), expected, "{turn}: {err}");
    }
    if cfg!(feature = "jit") {
        let (code, out, err) = run(&["--wrt", "x", "--no-cc"]);
        assert_eq!((code, out), expected, "without a C compiler: {err}");
    }
    for more in [&["--wrt", "x", "--engine", "interp"][..], &["--wrt", "x", "--engine", "jit"], &[]] {
        let (code, _, err) = run(more);
        assert!(code == Some(1) && err.contains("error[P0113]"), "{more:?}: {err}");
    }
}

/// `--no-cc` calls no C compiler and waits for none, also where Cranelift has no code: for rows of a Hessian, and programs that show something.
#[test]
fn without_c_no_compiler_is_called() {
    let own = directory("no-cc");
    let called = own.join("called");
    let cc = compiler(&own, &format!("touch {}; exec cc \"$@\"", called.display()));
    let run = |source: &str, args: &[&str]| {
        let file = own.join("p.nil");
        std::fs::write(&file, source).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
        command.env("CC", &cc).env("PENDULA_CACHE", own.join("kept")).arg("grad").arg(&file).arg("--no-cc");
        output(command.args(["--loss", "y!"]).args(args))
    };
    let rows = "@i function f(y!::Float64, x::Vector{Float64}, n::Int)
    for k = 1:n
        for i = 1:length(x)
            y! += sin(x[i]) * x[1] * k
        end
    end
end
";
    let (code, out, err) = run(rows, &["--args", "0.0,[0.1,0.2,0.3],20000", "--hessian"]);
    assert!(code == Some(0) && out.contains("∂²"), "{out}{err}");
    // It stops on the way back at a gradient word that nobody asks for.
    let shows = "@i function f(y!::Float64, x::Float64, z::Float64, n::Int, m::Int)
    @safe println(1)
    for k = 1:n
        y! += sin(z) * k
        if (k == m, ~)
            y! += 1e200 * sin(1e200 * x)
        end
    end
end
";
    let (code, _, err) = run(shows, &["--args", "0.0,0.5,0.3,100000,10000", "--wrt", "z"]);
    assert!(code == Some(1) && err.contains("error[P0119]"), "{err}");
    assert!(!called.exists(), "the compiler was called");
}

#[test]
fn compilers_that_make_no_library() {
    let own = directory("garbage");
    let output = "while [ \"$1\" != -o ]; do shift; done; out=$2;";
    let scripts = [
        (format!("{output} head -c 100000 /dev/urandom > $out"), "cannot load"),
        (format!("{output} : > $out"), "incomplete library"),
        (format!("cc \"$@\"; {output} head -c 5000 $out > part; mv part $out"), "incomplete library"),
        (format!("{output} mkdir $out"), "not a file"),
        (format!("{output} ln -s source.c $out"), "PENDULA_CACHE"),
        ("exit 0".to_string(), "no library"),
        ("yes garbage | head -c 100000000 >&2; exit 1".to_string(), "garbage"),
        ("kill -9 $$".to_string(), "signal"),
    ];
    for (script, says) in &scripts {
        let compiler = compiler(&own, script);
        refuses(keeping(&own).env("CC", &compiler), &["could not generate code", says]);
        let left: Vec<String> = names(&own.join("kept")).into_iter().filter(|n| !n.ends_with(".c")).collect();
        assert_eq!(left, Vec::<String>::new(), "{script}");
    }
    succeeds(&mut keeping(&own));
}

#[test]
fn what_killed_processes_leave_is_removed() {
    let own = directory("killed");
    let number = own.join("number");
    let hang = format!("echo half > library.so; echo $$ > {}; exec sleep 100000", number.display());
    let compiler = compiler(&own, &hang);
    for (mut run, place) in [(keeping(&own), own.join("kept")), (program(&own), own.join("tmp"))] {
        let _ = std::fs::remove_file(&number);
        run.env("CC", &compiler).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = run.spawn().expect("runs");
        run.stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        while std::fs::read_to_string(&number).unwrap_or_default().is_empty() {
            assert!(started.elapsed() < Duration::from_secs(60), "no compiler was called");
            std::thread::sleep(Duration::from_millis(5));
        }
        // As long as it works there, nobody removes it.
        run.env("CC", "cc");
        succeeds(&mut run);
        let work = |name: &&String| name.contains("work-");
        assert_eq!(names(&place).iter().filter(work).count(), 1, "{:?}", names(&place));
        child.kill().and_then(|()| child.wait()).expect("it can be killed");
        run.env("CC", "cc -g0");
        succeeds(&mut run);
        assert_eq!(names(&place).iter().filter(work).count(), 0, "{:?}", names(&place));
        assert!(is_gone(&number), "the compiler goes on without us");
    }
}

/// `pendula cache`, with the code of `keeping`.
fn cache(directory: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pendula"));
    command.env("PENDULA_CACHE", directory.join("kept")).arg("cache").args(args);
    let (code, out, err) = output(&mut command);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    out
}

#[test]
fn the_cache_is_listed_cleared_and_limited() {
    let own = directory("listed");
    let listed =
        |own: &Path| -> serde_json::Value { serde_json::from_str(&cache(own, &["list", "--json"])).expect("JSON") };
    assert!(cache(&own, &["list"]).starts_with("0 libraries, 0.0 KiB, in "));
    succeeds(&mut keeping(&own));
    let one = listed(&own);
    let library = &one["libraries"][0];
    let name = library["name"].as_str().expect("a name").to_string();
    let sizes = ["so", "sum"]
        .map(|suffix| own.join("kept").join(format!("{name}.{suffix}")).metadata().expect("a file of this name").len());
    assert_eq!(library["bytes"], sizes[0] + sizes[1]);
    assert_eq!(one["libraries"].as_array().map(Vec::len), Some(1));
    // Another library makes the first one too much, once it has not been used for longest.
    let day = std::time::SystemTime::now() - Duration::from_secs(24 * 3600);
    let sum = std::fs::OpenOptions::new().write(true).open(own.join("kept").join(format!("{name}.sum")));
    sum.and_then(|file| file.set_modified(day)).expect("a time");
    assert!(cache(&own, &["list"]).contains("24 hours ago"));
    succeeds(keeping(&own).env("CC", "cc -g0").env("PENDULA_CACHE_LIMIT", "0"));
    let other = listed(&own);
    assert_eq!(other["libraries"].as_array().map(Vec::len), Some(1), "{other}");
    assert_ne!(other["libraries"][0]["name"], name.as_str());
    // A library that is used counts as used.
    succeeds(&mut keeping(&own));
    let sum = std::fs::OpenOptions::new().write(true).open(own.join("kept").join(format!("{name}.sum")));
    sum.and_then(|file| file.set_modified(day)).expect("a time");
    succeeds(&mut keeping(&own));
    assert!(!cache(&own, &["list"]).contains("24 hours ago"));
    assert!(cache(&own, &["clear"]).starts_with("removed 2 libraries, "));
    assert_eq!(names(&own.join("kept")), Vec::<String>::new());
    let (code, _, err) = output(keeping(&own).env("PENDULA_CACHE_LIMIT", "much"));
    assert_eq!(code, Some(2));
    assert!(err.contains("PENDULA_CACHE_LIMIT") && err.contains("`much`"), "{err}");
}
