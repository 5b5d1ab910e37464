//! The command line as a person or a script uses it: exit status, streams, options, formats.

use crate::common::command;
mod commands;
mod help;
mod host;
#[cfg(target_os = "linux")]
mod interrupt;
mod moment;

use std::path::PathBuf;

use assert_cmd::Command;
use command::run;
use serde_json::Value;

fn pendula(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("pendula").expect("the binary");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args).env_remove("RUST_LOG").env("NO_COLOR", "1");
    command
}

fn json(args: &[&str], input: &str) -> (i32, Value) {
    let (code, out, err) = run(args, input);
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}\n{err}")))
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("pendula-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

const SUM: &str = "
        .data
        .import a, scale
        .export total
a:      .space  4, q
scale:  .double 1
total:  .fixed  0
        .text
main:   start
top:    from.ne r1, r0, end
        add.q   r2, [a+r1]
        inc     r1
end:    jmp.ne  r1, 4, top
        sub     r1, 4
        add.q   r3, r2
        exch    r3, [total]
        sub.q   r2, [a]
        sub.q   r2, [a+1]
        sub.q   r2, [a+2]
        sub.q   r2, [a+3]
        zero    r2
        finish
";

#[test]
fn exit_status_tells_whose_fault_it_is() {
    assert_eq!(run(&["run", "examples/fib.rasm"], "").0, 0);
    assert_eq!(run(&["run", "-"], "main: start\n add r1, r1\n finish\n").0, 1, "an assembly error");
    assert_eq!(run(&["run", "-"], "main: start\n assert.eq r1, 1\n finish\n").0, 1, "a trap");
    assert_eq!(run(&["run", "no-such-file.rasm"], "").0, 2, "a missing file");
    assert_eq!(run(&["run", "examples/fib.rasm", "--no-such-option"], "").0, 2, "usage");
    assert_eq!(run(&["run", "examples/fib.rasm", "--set", "m=1"], "").0, 2, "an unknown name");
    assert_eq!(run(&["isa", "nonsense"], "").0, 2);
    let (code, _, err) = run(&["run", "program.compiled"], "");
    assert_eq!((code, err.contains("cannot read program.compiled")), (2, true), "{err}");
}

#[test]
fn results_and_diagnostics_go_to_their_streams() {
    let (_, out, err) = run(&["run", "examples/fib.rasm"], "");
    assert_eq!((out.as_str(), err.as_str()), ("r1 = 2584\nr2 = 4181\nr4 = 18\n", ""));
    let (_, out, err) = run(&["run", "examples/fib.rasm", "--set", "n=0"], "");
    assert_eq!(out, "");
    assert!(err.starts_with("error[P0102]: assertion failed\n  --> examples/fib.rasm:27:9\n"), "{err}");
    assert!(!err.contains('\u{1b}'), "no colour on a pipe");
}

#[test]
fn a_trap_is_told_with_both_places_and_the_values() {
    let program =
        "main: start\n add r4, 1\n add r3, 5\ntop: from.ne r4, r0, end\n inc r4\nend: jmp.ne r4, r3, top\n finish\n";
    let (code, _, err) = run(&["run", "-"], program);
    assert_eq!(code, 1);
    insta::assert_snapshot!(err);
    // Of an object the source is not at hand: the instruction itself is shown.
    let folder = folder("trap");
    let (source, object) = (folder.join("t.rasm"), folder.join("t.o"));
    std::fs::write(&source, program).expect("written");
    pendula(&["asm", source.to_str().expect("UTF-8"), "-o", object.to_str().expect("UTF-8")]).assert().success();
    let (code, _, err) = run(&["run", object.to_str().expect("UTF-8")], "");
    assert_eq!(code, 1);
    assert!(err.contains("error[P0107]") && err.contains("from.ne r4, r0") && err.contains("r4 = 1"), "{err}");
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn all_errors_are_reported_at_once() {
    let (code, out, err) = run(&["run", "-"], "main: start\n add r1, r1\n amdul r1, r2, r3\n jmp nowhere\n finish\n");
    assert_eq!((code, out.as_str()), (1, ""));
    insta::assert_snapshot!(err);
    let (_, value) = json(&["check", "--json", "-"], "main: start\n add r1, r1\n finish\n");
    assert_eq!(value["schema"], "pendula.check/1");
    assert_eq!(value["ok"], false);
    let d = &value["diagnostics"][0];
    assert_eq!((&d["code"], &d["place"]["line"], &d["place"]["column"]), (&"P0032".into(), &2.into(), &10.into()));
}

#[test]
fn values_are_set_from_numbers_lists_and_files() {
    let folder = folder("set");
    let csv = folder.join("a.csv");
    std::fs::write(&csv, "0.5, 1.25\n-3, 1e-3\n").expect("written");
    let file = format!("a=@{}", csv.display());
    for set in ["a=[0.5,1.25,-3,0.001]", &file] {
        let (code, out, err) = run(&["run", "-", "--set", set], SUM);
        assert_eq!((code, out.as_str()), (0, "total = -1.249\n"), "{err}");
    }
    let npy = folder.join("a.npy");
    // A .npy file of version 1.0, as numpy writes four little-endian doubles.
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let mut header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }".to_string();
    header.push_str(&" ".repeat(117 - header.len()));
    header.push('\n');
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend([0.5f64, 1.25, -3.0, 0.0625].iter().flat_map(|x| x.to_le_bytes()));
    std::fs::write(&npy, bytes).expect("written");
    let (code, out, err) = run(&["run", "-", "--set", &format!("a=@{}", npy.display())], SUM);
    assert_eq!((code, out.as_str()), (0, "total = -1.1875\n"), "{err}");
    let (code, out, _) = run(&["run", "-", "--set", "a[2]=0x100000000w", "--show", "a,a[2],r5.f,scale,total"], SUM);
    assert_eq!(
        (code, out.as_str()),
        (0, "a = [0.0, 0.0, 1.0, 0.0]\na[2] = 1.0\nr5.f = 0.0\nscale = 1.0\ntotal = 1.0\n")
    );
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn bad_values_say_what_is_wrong() {
    for (set, message) in [
        ("a=1", "`a` has 4 words, 1 value is given"),
        ("a[4]=1", "`a` has 4 words, counted from 0; there is no `a[4]`"),
        ("b=1", "no register or data symbol `b`; the data symbols are a, scale, total"),
        ("total=1e10", "`1e10` is not a value for `total`, which is read as fixed point"),
        ("total=x", "`x` is not a value for `total`"),
        ("r0=1", "r0 always reads 0"),
        ("r1=1.5", "`1.5` is not a value for `r1`, which is read as integer"),
        ("total", "`total` is not `name=value`"),
        ("a=@nothing.csv", "nothing.csv: cannot be read"),
        ("a=@Cargo.toml", "array files end in `.csv` or `.npy`"),
        ("r1=99999999999999999999", "integers lie between"),
    ] {
        let (code, _, err) = run(&["run", "-", "--set", set], SUM);
        assert_eq!((code, err.contains(message)), (2, true), "--set {set}: {err}");
    }
}

#[test]
fn a_round_trip_that_fails_says_so() {
    // Three tenths are not representable: adding and subtracting them in another order drifts.
    let drifting = "
        .data
x:      .double 1e16
        .text
main:   start
        add.f   r1, 0.3
        add.f   [x], r1
        sub.f   r1, 0.3
        zero.f  r1
        finish
";
    let (code, out, _) = run(&["run", "--round-trip", "-"], drifting);
    assert_eq!(code, 0, "{out}");
    let lossy = drifting.replace("1e16", "1e-3").replace("0.3", "1e10");
    let (code, out, _) = run(&["run", "--round-trip", "-"], &lossy);
    assert_eq!((code, out.contains("NOT restored")), (1, true), "{out}");
    let (code, out, _) = run(&["run", "--round-trip", "--drift", "-"], &lossy);
    assert_eq!(code, 0, "rounding of floats is told, not failed: {out}");
    assert!(out.contains("1 floating-point word differs, most in x: by "), "{out}");
}

#[test]
fn tapes_go_in_and_out() {
    let program = "main: start\n read r1\n read r2\n add r1, r2\n emit r1\n add r1, r2\n show r2\n print \"done\"\n sub r1, r2\n unread r2\n finish\n";
    let (code, out, err) = run(&["run", "-", "--input", "30,12"], program);
    assert_eq!((code, out.as_str()), (0, "12\ndone\noutput = [42]\ninput: 1 of 2 words read\n"), "{err}");
    let (code, out, err) =
        run(&["run", "-", "--reverse", "--input", "30,12", "--output", "42", "--show", "r1,r2"], program);
    assert_eq!(code, 1, "the input tape was read one word less: {out} {err}");
    let (code, _, err) = run(&["run", "-", "--input", "30"], program);
    assert_eq!((code, err.contains("P0124")), (1, true), "{err}");
}

/// A program that gives a word back ends with the tape in the middle; a run backward starts there.
#[test]
fn the_place_on_the_input_tape_is_told_and_taken() {
    let program = "main: start\n read r1\n read r2\n add r1, r2\n emit r1\n unread r2\n finish\n";
    let (code, out, err) = run(&["run", "-", "--input", "20,22"], program);
    assert_eq!((code, out.as_str()), (0, "output = [42]\ninput: 1 of 2 words read\n"), "{err}");
    let back = &["run", "-", "--reverse", "--input", "20,22", "--output", "42", "--read", "1"];
    assert_eq!(run(back, program), (0, String::new(), String::new()));
    let (code, _, err) = run(&["run", "-", "--input", "1", "--read", "2"], program);
    assert_eq!((code, err.contains("the input tape has 1 word\n")), (2, true), "{err}");
}

#[test]
fn a_result_is_not_written_over_its_source() {
    let folder = folder("same");
    let file = folder.join("p.rasm");
    std::fs::write(&file, "main: start\n finish\n").expect("written");
    let path = file.to_str().expect("UTF-8");
    for command in ["asm", "disasm", "invert"] {
        let (code, _, err) = run(&[command, path, "-o", path], "");
        assert_eq!((code, err.contains("is the source itself")), (2, true), "{command}: {err}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "main: start\n finish\n");
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn json_tells_flags_limits_and_refusals() {
    let wrapping = "main: start\n add.q r1, 2147483647\n add.q r1, 1\n finish\n";
    let (code, value) = json(&["run", "-", "--json"], wrapping);
    assert_eq!((code, &value["flags"]["overflow"]["place"]["line"]), (0, &3.into()));
    let (code, value) = json(&["run", "-", "--json", "--max-steps", "2"], wrapping);
    assert_eq!(
        (code, &value["outcome"]["code"], &value["outcome"]["next"]["address"]),
        (1, &"P0130".into(), &2.into())
    );
    let (code, value) = json(&["run", "-", "--json"], "proc f\n ret f\n");
    assert_eq!((code, &value["diagnostics"][0]["code"]), (1, &"P0141".into()));
    let (code, value) = json(&["run", "-", "--json", "--reverse"], ".irreversible\nmain: start\n finish\n");
    assert_eq!((code, &value["diagnostics"][0]["code"]), (1, &"P0143".into()));
}

#[test]
fn limits_hold() {
    let endless = "main: start\ntop: from.ne r1, r0, end\n inc r1\nend: jmp.ne r1, r0, top\n finish\n";
    let (code, _, err) = run(&["run", "-", "--max-steps", "1e6"], endless);
    assert_eq!(
        (code, err.contains("error[P0130]: the run did not end within 1000000 instructions")),
        (1, true),
        "{err}"
    );
    let (code, value) = json(&["run", "-", "--max-steps", "1_000_001", "--stats", "--json"], endless);
    assert_eq!(
        (code, &value["outcome"]["kind"], &value["stats"]["instructions"]),
        (1, &"limit".into(), &1_000_001.into())
    );
    let (code, _, err) = run(&["run", "-", "--mem", "10"], ".data\na: .space 11\n.text\nmain: start\n finish\n");
    assert!(code != 0 && err.contains("11"), "{err}");
    let (code, _, err) = run(&["run", "-"], ".mem 99999999999\nmain: start\n finish\n");
    assert!(code != 0 && err.contains("--mem"), "{err}");
    let (code, _, err) = run(&["run", "examples/fib.rasm", "--max-source", "100"], "");
    assert_eq!((code, err.contains("--max-source")), (2, true), "{err}");
}

#[test]
fn statistics_add_up() {
    let (code, value) = json(&["run", "examples/fib.rasm", "--round-trip", "--stats", "--json"], "");
    assert_eq!(code, 0);
    let stats = &value["stats"];
    assert_eq!(value["restored"], true);
    assert_eq!(value["values"]["r1"], 2584);
    // start, add, assert, inc; 18 turns of five instructions; sub, finish. The same backward.
    let once = 4 + 18 * 5 + 2;
    assert_eq!(stats["instructions"], 2 * once);
    for mode in stats["modes"].as_array().expect("modes") {
        assert_eq!(mode["instructions"], once);
        // 18 pairs of jumps, start and finish
        assert_eq!(mode["gates"]["branch"], 2 * 18 + 2);
    }
    let (code, _, err) = run(&["run", "examples/fib.rasm", "--stats", "--tech", "Cargo.toml"], "");
    assert_eq!((code, err.contains("Cargo.toml:")), (2, true), "{err}");
    // A technology that has energies only.
    let preset = "hw-model/technologies/landauer.toml";
    let (code, out, err) = run(&["run", "examples/fib.rasm", "--stats", "--tech", preset], "");
    assert_eq!((code, out.contains("(technology default; landauer has no latencies)")), (0, true), "{out}{err}");
}

#[test]
fn checks_can_be_switched_off() {
    let program = "main: start\n assert.eq r1, 1\n add r2, 3\n finish\n";
    assert_eq!(run(&["run", "-"], program).0, 1);
    assert_eq!(run(&["run", "-", "--checks", "off"], program), (0, "r2 = 3\n".into(), String::new()));
}

#[test]
fn overflow_is_noted_or_traps() {
    let program = "main: start\n add.q r1, 2147483647\n add.q r1, 1\n finish\n";
    let (code, out, err) = run(&["run", "-", "--show", "r1.q"], program);
    assert_eq!((code, out.as_str(), err.contains("warning[P0131]")), (0, "r1.q = -2147483648.0\n", true), "{err}");
    let (code, _, err) = run(&["run", "-", "--trap", "overflow"], program);
    assert_eq!((code, err.contains("error[P0116]")), (1, true), "{err}");
}

#[test]
fn an_irreversible_module_runs_forward_only() {
    let program = ".irreversible\nmain: start\n add r1, 5\n erase r1\n finish\n";
    let (code, out, _) = run(&["run", "-", "--stats"], program);
    assert_eq!((code, out.contains("bits lost                   64")), (0, true), "{out}");
    let (code, _, err) = run(&["run", "-", "--round-trip"], program);
    assert_eq!((code, err.contains("P0143")), (1, true), "{err}");
    let (code, _, err) = run(&["invert", "-"], program);
    assert_eq!((code, err.contains("error[P032")), (1, true), "{err}");
}

#[test]
fn a_trace_shows_what_changes() {
    let (_, _, err) =
        run(&["run", "-", "--trace"], ".data\nx: .word 4\n.text\nmain: start\n add r1, 2\n exch r1, [x]\n finish\n");
    insta::assert_snapshot!(err);
}

#[test]
fn manual_pages_and_completions_are_written() {
    let (code, out, _) = run(&["man"], "");
    assert_eq!((code, out.contains(".TH pendula 1")), (0, true));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, out, _) = run(&["completions", shell], "");
        assert_eq!((code, out.contains("round-trip")), (0, true), "{shell}");
    }
    let folder = folder("man");
    assert_eq!(run(&["man", "--dir", folder.to_str().expect("UTF-8")], "").0, 0);
    assert!(folder.join("pendula-run.1").exists());
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn the_manual_knows_every_instruction() {
    let (_, value) = json(&["isa", "--json"], "");
    let instructions = value["instructions"].as_array().expect("a list");
    assert_eq!(instructions.len(), pendula::isa::mnemonic::families().count());
    for i in instructions {
        let name = i["mnemonic"].as_str().expect("a name");
        assert!(!i["doc"].as_str().expect("text").is_empty(), "{name}");
        // The inverse's inverse is the instruction.
        if let Some(inverse) = i["inverse"].as_str() {
            let back = instructions.iter().find(|j| j["mnemonic"] == inverse).expect("the inverse exists");
            assert_eq!(back["inverse"], name);
        }
    }
    for (name, words) in [
        ("rot.q", "gradient words: rotate as the values do"),
        ("swap", "gradient words: move with the values"),
        ("neg", "gradient words: the word's is negated"),
        ("push", "gradient words: move with the values"),
        ("rmul", "gradient words: the word's is scaled"),
        ("gswap", "gradient words: move with the values"),
        ("addexp.q", "differentiable: carries gradients"),
    ] {
        assert!(run(&["isa", name], "").1.contains(words), "{name}");
    }
    let (code, out, _) = run(&["isa", "andx"], "");
    assert_eq!((code, out.starts_with("xorand y, a, b")), (0, true), "{out}");
    let (_, _, err) = run(&["isa", "admul"], "");
    assert!(err.contains("did you mean `addmul`?"), "{err}");
}

#[test]
fn formatting_keeps_the_program() {
    let (code, once, _) = run(&["fmt", "-"], "main:start\n  add r1,[x+ r2] ;c\nfinish\n.data\nx:.word 1,2\n");
    assert_eq!(code, 0);
    assert_eq!(run(&["fmt", "-"], &once).1, once);
    assert_eq!(run(&["fmt", "--check", "-"], &once).0, 0);
    assert_eq!(run(&["fmt", "--check", "-"], "main:start\n").0, 1);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("pendula"))
        .args(["isa", "--markdown"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn a_damaged_object_is_told_apart() {
    let folder = folder("object");
    let object = folder.join("fib.o");
    let path = object.to_str().expect("UTF-8");
    pendula(&["asm", "examples/fib.rasm", "-o", path]).assert().success();
    assert_eq!(run(&["run", path], "").1, "r1 = 2584\nr2 = 4181\nr4 = 18\n");
    let bytes = std::fs::read(&object).expect("read");
    std::fs::write(&object, &bytes[..bytes.len() / 2]).expect("written");
    let (code, _, err) = run(&["run", path], "");
    assert_eq!((code, err.contains("error[P03")), (1, true), "{err}");
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn programs_in_pisa_are_imported() {
    let folder = folder("import");
    let path = |name: &str| folder.join(name).display().to_string();
    let (source, output) = (path("fib.pisa"), path("fib.rasm"));
    std::fs::copy("examples/fib.pisa", &source).expect("a copy");
    assert_eq!(run(&["import", &source, "-o", &output], ""), (0, String::new(), String::new()));
    let (code, text, _) = run(&["import", &source], "");
    assert_eq!((code, &text), (0, &std::fs::read_to_string(&output).expect("a file")), "to standard output");
    assert!(text.starts_with("; from fib.pisa\n"), "{text}");
    let pisa = std::fs::read_to_string(&source).expect("a file");
    assert_eq!(run(&["import", "-", "--cells", "1e3"], &pisa).0, 0, "from standard input, by the first line");
    let (code, out, err) = run(&["run", &output, "--show", "r4,r5,n"], "");
    assert_eq!((code, out.as_str()), (0, "r4 = 4181\nr5 = 6765\nn = 0\n"), "{err}");
    let (code, answer) = json(&["import", &source, "-o", &output, "--json"], "");
    assert_eq!((code, &answer["ok"]), (0, &Value::Bool(true)));

    let refused = "tests/filetests/pisa/import/refused_everything.pisa";
    let (code, answer) = json(&["import", refused, "-o", &path("refused.rasm"), "--json"], "");
    let codes: Vec<&str> =
        answer["diagnostics"].as_array().expect("a list").iter().filter_map(|d| d["code"].as_str()).collect();
    assert_eq!((code, codes), (1, vec!["P0345", "P0346", "P0345", "P0345"]));
    assert!(!folder.join("refused.rasm").exists(), "nothing is written");
    let (code, _, err) = run(&["import", &source, "-o", &source], "");
    assert_eq!((code, err.contains("is the source itself")), (2, true), "{err}");
    assert_eq!(std::fs::read_to_string(&source).expect("a file"), pisa);
    let (code, _, err) = run(&["import", "examples/fib.rasm"], "");
    assert_eq!((code, err.contains("not a program in PISA")), (2, true), "{err}");
    assert_eq!(run(&["import", &source, "--cells", "28"], "").0, 1, "no room for the program");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn options_of_another_language_are_usage_errors() {
    let refuses = |args: &[&str], says: &str| {
        let (code, out, err) = run(args, "");
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}\n{err}");
        assert!(err.contains(says), "{args:?}\n{err}");
    };
    refuses(
        &["run", "examples/fib.ja", "--args", "1"],
        "--args is for programs in Nil, VLAD and Futhark, and examples/fib.ja is a program in Janus",
    );
    refuses(&["run", "examples/fib.ja", "--types", "Int"], "--types is for programs in Nil");
    refuses(&["run", "examples/fib.ja", "--entry", "main"], "--entry is for programs in Nil, VLAD and Futhark");
    refuses(&["run", "examples/fib.ja", "--show-raw"], "--show-raw is for programs in PISA");
    refuses(
        &["check", "examples/fib.rasm", "--classic"],
        "--classic is for programs in Janus, and examples/fib.rasm is assembly",
    );
    refuses(&["energy", "examples/fib.rasm", "--stack", "7"], "--stack is for programs in Janus");
    refuses(&["asm", "examples/fib.rasm", "--strict"], "--strict is for programs in PISA");
    refuses(
        &["level", "examples/fib.pisa", "-O1"],
        "-O is for programs in Nil and Janus, and examples/fib.pisa is a program in PISA",
    );
}

#[test]
fn what_a_file_is_shows_in_its_content_where_its_name_does_not_tell() {
    let folder = folder("content");
    let shows = |name: &str, text: &str, options: &[&str], says: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        let (code, out, err) = run(&[&["run", path.to_str().expect("UTF-8")], options].concat(), "");
        assert_eq!((code, out.contains(says)), (0, true), "{name}\n{out}{err}");
    };
    shows("janus.txt", "\u{feff}// a comment\nprocedure main()\n    int x\n    x += 3\n", &[], "x = 3");
    shows("nil", "# a comment\n@i function f(y!, x)\n    y! += x\nend\n", &["--args", "1,2"], "y! = 3");
    shows("pisa.txt", ";; pendulum pal file\n START\n ADDI $1 3\n FINISH\n", &[], "$1 = 3");
    shows("assembly", "main: start\n add r1, 3\n finish\n; procedure main()\n", &[], "r1 = 3");
    std::fs::remove_dir_all(&folder).expect("removed");
}
