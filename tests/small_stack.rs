//! Programs that recurse deeply where the host's stack is small: under `ulimit -s`, and on threads with a small stack. Compiled code must check
//! how much is left, and leave the rest of the run to the interpreter.

#![cfg(all(unix, feature = "jit"))]

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use crate::common::{c_compiler, folder};
use pendula::asm::assemble;
use pendula::compiler::compile::Options;
use pendula::isa::counts::Direction;
use pendula::load;
use pendula::native::{NativeProgram, When};
use pendula::vm::{Config, Engine, Machine, Outcome, Program};
use pendula_codegen::cc::Rounding;

const DEPTH: &str = "100000";

const NIL: &str = "@i function down!(z!, n)
    if (n > 0, ~)
        z! += n
        down!(z!, n - 1)
    end
end
";

/// Another call of itself behind the first.
const TREE: &str = "@i function rr(out!, n)
    @invcheckoff if (n >= 1, ~)
        counter ← 0
        counter += n
        while (counter > 1, counter != n)
            rr(out!, counter - 1)
            counter -= 2
        end
        counter -= n % 2
        counter → 0
    end
    out! += 1
end
";

const JANUS: &str = "procedure down(int n, int z)
    if n > 0 then
        n -= 1
        z += n & 3
        call down(n, z)
        n += 1
    fi n > 0

procedure main()
    int n = 100000
    int z
    call down(n, z)
";

fn directory() -> PathBuf {
    folder("small-stack")
}

/// A program in a file, and the arguments of its run; the files of each test are its own.
fn programs(test: &str) -> Vec<Vec<String>> {
    let directory = directory().join(test);
    std::fs::create_dir_all(&directory).expect("a directory");
    let nil_args = format!("0,{DEPTH}");
    let all = [
        ("down.nil", NIL, &["--args", &nil_args][..]),
        ("tree.nil", TREE, &["--args", "0,20"]),
        ("down.ja", JANUS, &[]),
    ];
    let one = |(name, text, args): &(&str, &str, &[&str])| {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("a file");
        let path = path.display().to_string();
        [path].into_iter().chain(args.iter().map(|a| (*a).to_string())).collect()
    };
    all.iter().map(one).collect()
}

/// The output of the program with a stack of this size in kibibytes, or with the default.
fn run(stack: Option<&str>, args: &[String]) -> String {
    let limit = stack.map_or(String::new(), |kib| format!("ulimit -s {kib} && "));
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("{limit}exec \"$0\" \"$@\""),
        env!("CARGO_BIN_EXE_pendula"),
        "run",
        "--mem",
        "4000000",
    ]);
    let output = command.args(args).env("PENDULA_CACHE", directory().join("kept")).env_remove("RUST_LOG").output();
    let output = output.expect("runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stack:?} {args:?}: {}: {err}", output.status);
    String::from_utf8(output.stdout).expect("a text")
}

#[test]
fn the_program_with_a_small_stack() {
    for args in programs("program") {
        let with =
            |more: &[&str]| args.iter().cloned().chain(more.iter().map(|a| (*a).to_string())).collect::<Vec<_>>();
        let expected = run(None, &with(&["--engine", "interp"]));
        for engine in ["interp", "jit", "native"] {
            for stack in ["256", "512", "1024"] {
                assert_eq!(run(Some(stack), &with(&["--engine", engine])), expected, "{engine} {stack} {args:?}");
            }
        }
        let back = run(Some("256"), &with(&["--engine", "jit", "--round-trip"]));
        assert!(back.contains("the state was restored"), "{back}");
    }
}

/// Threads, as those who use the library have them.
#[test]
fn machines_on_threads_with_small_stacks() {
    c_compiler();
    for args in programs("threads") {
        let mut options = Options::default();
        if let [_, _, list] = &args[..] {
            options.arguments = pendula::arguments::parse(list).expect("arguments");
        }
        let loaded = load::load(&args[0], &assemble::Options::default(), &options).expect("it can be read");
        let (module, nil) = (loaded.module.expect("no errors"), loaded.compiled.expect("compiled"));
        let parts = Program::new(module.clone(), true).expect("a sound program");
        let mut whole = Program::new(module, true).expect("a sound program");
        let ir = nil.source.expect("compiled");
        whole.set_whole(Arc::new(
            NativeProgram::new(ir, nil.arguments, Rounding::Strict, nil.switches, When::AtOnce).expect("C"),
        ));
        let mut expected = None;
        for engine in Engine::ALL {
            for program in [&parts, &whole] {
                for kib in [96, 160, 256, 300, 400, 512, 700, 1024, 2048] {
                    let go = || {
                        let config =
                            Config { engine, mem: Some(4_000_000), warm_up: 0, tier_up: 100, ..Config::default() };
                        let mut machine = Machine::new(program, &config).expect("a machine");
                        machine.allow_whole(true);
                        machine.begin(Direction::Forward);
                        assert_eq!(machine.run(None), Outcome::Finished);
                        (machine.registers().to_vec(), machine.memory()[..1000].to_vec())
                    };
                    let found = std::thread::scope(|scope| {
                        let thread = std::thread::Builder::new().stack_size(kib << 10).spawn_scoped(scope, go);
                        thread.expect("a thread").join().expect("no panic")
                    });
                    assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "{engine:?} {kib} {args:?}");
                }
            }
        }
    }
}
