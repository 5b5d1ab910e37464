//! Commands and options that look something up or take several files: `explain`, `isa`, `-D`, `check`, `energy`, `level`.

use serde_json::Value;

use super::{folder, json, run};

#[test]
fn an_error_is_explained_by_its_code() {
    for code in ["P0107", "p0107", "107", "error[P0107]"] {
        let (status, out, err) = run(&["explain", code], "");
        assert_eq!((status, err.as_str()), (0, ""), "{code}");
        assert!(out.starts_with("P0107: ") && out.contains("\nHelp: "), "{out}");
    }
    let (_, out, _) = run(&["explain", "P0004"], "");
    assert!(out.contains("\n    add     r1, []\n"), "{out}");
    let (status, value) = json(&["explain", "P0004", "--json"], "");
    assert_eq!((status, &value["code"], &value["ok"]), (0, &"P0004".into(), &true.into()));
    assert_eq!((&value["chapter"], &value["example"]), (&"The assembler".into(), &"add     r1, []".into()));
    let (status, out, err) = run(&["explain", "P0147x"], "");
    assert_eq!((status, out.as_str(), err.contains("codes are written `P0107`")), (2, "", true), "{err}");
    let (status, _, err) = run(&["explain", "P0149"], "");
    assert!(status == 2 && err.contains("there is no error `P0149`") && err.contains("P0148  A technology"), "{err}");
    let (status, out, _) = run(&["explain"], "");
    assert!(status == 0 && out.lines().all(|l| l.chars().count() <= 80), "{out}");
    let (_, value) = json(&["explain", "--json"], "");
    let list = value["errors"].as_array().expect("a list");
    assert!(list.iter().all(|e| out.contains(e["code"].as_str().expect("a code"))), "{out}");
}

#[test]
fn instructions_are_found_by_what_people_call_them() {
    let (status, out, _) = run(&["isa", "shr"], "");
    assert!(status == 0 && out.contains("\n  addshr ") && out.contains("\n  xorshr "), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 80), "{out}");
    let (_, out, _) = run(&["isa", "square root"], "");
    assert!(out.contains("addsqrt"), "{out}");
    let (_, value) = json(&["isa", "SHR", "--json"], "");
    let found = value["instructions"].as_array().expect("a list");
    assert!(found.iter().any(|e| e["mnemonic"] == "subshr"), "{value}");
    let (status, _, err) = run(&["isa", "adq"], "");
    assert_eq!((status, err.contains("did you mean `add`?")), (2, true), "{err}");
    let (status, _, err) = run(&["isa", "frobnicate"], "");
    assert_eq!((status, err.contains("there is no instruction `frobnicate`")), (2, true), "{err}");
}

#[test]
fn a_definition_of_the_command_line_comes_before_the_programs_own() {
    let program = ".equ N, 3\nmain: start\n add r1, N\n finish\n";
    assert_eq!(run(&["run", "-"], program).1, "r1 = 3\n");
    assert_eq!(run(&["run", "-", "-D", "N=5"], program), (0, "r1 = 5\n".into(), String::new()));
    assert_eq!(run(&["run", "-", "-DN=2*K", "-D", "K = 4"], program).1, "r1 = 8\n");
    let bare = "main: start\n add r1, N\n finish\n";
    assert_eq!(run(&["run", "-", "--define", "N=0x10"], bare).1, "r1 = 16\n");
    for command in ["check", "disasm", "invert", "level", "energy"] {
        let (code, _, err) = run(&[command, "-", "-D", "N=1"], bare);
        assert_eq!(code, 0, "{command}: {err}");
    }
    // Sizes may depend on it.
    let sized = ".data\n.export a\na: .space N\n.text\nmain: start\n finish\n";
    assert_eq!(run(&["run", "-", "-D", "N=2"], sized).1, "a = [0, 0]\n");
    let (code, _, err) = run(&["run", "-", "-D", "N=5"], "N: start\n finish\n");
    assert!(
        code == 1 && err.contains("error[P0009]: the name `N` is defined twice") && err.contains("--define:1"),
        "{err}"
    );
    let (code, _, err) = run(&["run", "-", "-D", "M=5"], program);
    assert!(code == 0 && err.contains("warning[P0202]: the program does not use `M`"), "{err}");
    assert!(err.contains("did you mean `N`?"), "{err}");
    let (code, _, err) = run(&["run", "-", "-D", "size=5"], ".equ SIZE, 3\nstart\n add r1, SIZE\n finish\n");
    assert!(code == 0 && err.contains("the program does not use `size`"), "{err}");
    assert!(err.contains("did you mean `SIZE`?"), "{err}");
    let (code, _, err) = run(&["run", "-", "-D", "N=a b"], program);
    assert!(code == 1 && err.contains("--define:1"), "{err}");
    let (code, _, err) = run(&["run", "-", "-D", "N"], program);
    assert!(code == 2 && err.contains("`N=VALUE`"), "{err}");
    let (code, _, err) = run(&["run", "examples/fib.ja", "-D", "N=1"], "");
    assert!(code == 2 && err.contains("--define is for programs in assembly"), "{err}");
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn several_files_are_checked_priced_and_measured() {
    let folder = folder("several");
    let bad = folder.join("bad.rasm").to_str().expect("UTF-8").to_string();
    std::fs::write(&bad, "main: start\n add r1, r1\n finish\n").expect("written");
    let good = ["examples/fib.rasm", "examples/fib.ja"];
    let (code, out, err) = run(&["check", good[0], good[1]], "");
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "examples/fib.rasm: no problems found\nexamples/fib.ja: no problems found\n");
    let (code, out, err) = run(&["check", good[0], &bad, good[1]], "");
    assert_eq!((code, err.contains("error[P0032]")), (1, true), "{err}");
    assert!(out.contains(&format!("{bad}: ")) && out.ends_with("examples/fib.ja: no problems found\n"), "{out}");
    let (code, value) = json(&["check", good[0], &bad, "no-such-file.rasm", "--json"], "");
    assert_eq!((code, &value["ok"]), (2, &false.into()));
    let files = value["files"].as_array().expect("a list");
    let told: Vec<(&Value, &Value)> = files.iter().map(|f| (&f["file"], &f["ok"])).collect();
    assert_eq!(told[0], (&good[0].into(), &true.into()));
    assert_eq!((told[1].1, &files[1]["diagnostics"][0]["code"]), (&false.into(), &"P0032".into()));
    assert!(
        told[2].1 == &Value::Bool(false)
            && files[2]["outcome"]["message"].as_str().is_some_and(|m| m.contains("no-such-file"))
    );
    for command in ["energy", "level"] {
        let (code, out, err) = run(&[command, good[0], "examples/sort.rasm"], "");
        assert_eq!(code, 0, "{err}");
        assert!(
            out.starts_with("==> examples/fib.rasm <==\n") && out.contains("\n\n==> examples/sort.rasm <==\n"),
            "{out}"
        );
        let (code, value) = json(&[command, good[0], "no-such-file.rasm", "--json"], "");
        assert_eq!((code, &value["files"][0]["ok"], &value["files"][1]["ok"]), (2, &true.into(), &false.into()));
        let (_, alone) = json(&[command, good[0], "--json"], "");
        let mut first = value["files"][0].clone();
        for key in ["file", "ok"] {
            first.as_object_mut().expect("an object").remove(key);
        }
        let mut alone = alone;
        for key in ["file", "ok", "schema", "numerics"] {
            alone.as_object_mut().expect("an object").remove(key);
        }
        assert_eq!(first, alone, "{command}");
    }
    let (code, _, err) = run(&["energy", good[0], good[1], "--csv"], "");
    assert_eq!((code, err.contains("--csv needs exactly one program")), (2, true), "{err}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn an_inverse_keeps_names_and_says_what_it_is_the_inverse_of() {
    let program = "        .data
msg:    .word   1, 2, 3
tail:   .word   4
        .text
        .proc-doc \"r1 += all of msg\"
        proc    sum
        add     r1, [msg+r5]
        add     r1, [msg+1+r5]
        add     r1, [tail-1+r5+r6]
        add     r1, [r5+3]
        add     r1, [msg]
        ret     sum
main:   start
        call    sum
        finish
";
    let (code, once, err) = run(&["invert", "-"], program);
    assert_eq!(code, 0, "{err}");
    for operand in ["[msg+r5]", "[msg+1+r5]", "[tail-1+r5+r6]", "[r5+3]", "[msg]"] {
        assert!(once.contains(&format!("sub     r1, {operand}\n")), "{operand}\n{once}");
    }
    assert!(once.contains(".proc-doc \"Inverse of: r1 += all of msg\""), "{once}");
    let (_, twice, _) = run(&["invert", "-"], &once);
    assert!(twice.contains(".proc-doc \"r1 += all of msg\""), "{twice}");
    let (_, thrice, _) = run(&["invert", "-"], &twice);
    assert_eq!(thrice, once);
    let (_, same, _) = run(&["invert", "-"], &thrice);
    assert_eq!(same, twice, "inverted twice, the text is the same");
}

#[test]
fn programs_in_nil_are_checked_with_arguments_that_fit() {
    let folder = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("readable").path();
    let mut files: Vec<String> = std::fs::read_dir("examples")
        .expect("the examples")
        .map(folder)
        .filter(|path| path.extension().is_some_and(|e| e == "nil"))
        .map(|path| path.to_str().expect("UTF-8").to_string())
        .collect();
    files.sort();
    let words: Vec<&str> = ["check"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let (code, out, err) = run(&words, "");
    assert_eq!((code, err.as_str()), (0, ""));
    for (file, line) in files.iter().zip(out.lines()) {
        assert!(line.starts_with(&format!("{file}: no problems found (with --args ")), "{line}");
    }
    let (code, value) = json(&["check", "examples/exp.nil", "--json"], "");
    assert_eq!((code, &value["args"]), (0, &"0.0,2.5".into()));
    let (code, value) = json(&["check", "examples/exp.nil", "--args", "0.0,1.5", "--json"], "");
    assert_eq!((code, value.get("args")), (0, None));
    // What cannot be compiled without arguments is told with a line to copy, which reads programs in Nil.
    for command in ["compile", "asm", "disasm", "invert"] {
        let (code, _, err) = run(&[command, "examples/exp.nil"], "");
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("pendula compile examples/exp.nil --args 0.0,2.5\n"), "{err}");
    }
    let (_, _, err) = run(&["run", "--args", "", "--", "examples/exp.nil"], "");
    assert!(err.contains("pendula run --args 0.0,2.5 -- examples/exp.nil\n"), "{err}");
}

#[test]
fn passes_are_listed_and_instructions_found_by_several_words() {
    let (code, out, err) = run(&["compile", "--passes", "list", "examples/fib.ja"], "");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("  inline ") && out.lines().count() > 5, "{out}");
    let (code, _, err) = run(&["compile", "--passes", "nothing", "examples/fib.ja"], "");
    assert!(code == 2 && err.contains("there is no pass `nothing`; the passes are\n  inline "), "{err}");
    let (code, out, _) = run(&["isa", "shift", "left"], "");
    assert!(code == 0 && out.contains("addshl"), "{out}");
    let (code, out, _) = run(&["isa", "xor r1, r2"], "");
    assert!(code == 0 && out.starts_with("xor "), "{out}");
    let (_, out, _) = run(&["isa", "jmp"], "");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

#[test]
fn an_inverse_keeps_the_names_of_addresses() {
    let program = "        .data
msg:    .word   1, 2, 3
tail:   .word   4
        .equ    FIRST, 3
        .text
main:   start
        add     r1, msg
        add     r2, tail-1
        xor     r8, msg+2
        xor     [tail+r1], r9
        addmul  r3, r4, tail
        add.q   r5, tail
        add     r6, FIRST
        add     r7, tail-msg
        assert.eq r1, msg
        finish
";
    let (code, once, err) = run(&["invert", "-"], program);
    assert_eq!(code, 0, "{err}");
    let lines = [
        "sub     r1, msg",
        "sub     r2, tail-1",
        "xor     r8, msg+2",
        "xor     [tail+r1], r9",
        "submul  r3, r4, tail",
        "sub.q   r5, 3.0",
        "sub     r6, 3",
        "sub     r7, 3",
        "assert.eq r1, msg",
    ];
    for line in lines {
        assert!(once.contains(&format!("{line}\n")), "{line}\n{once}");
    }
    let (_, twice, _) = run(&["invert", "-"], &once);
    let (_, thrice, _) = run(&["invert", "-"], &twice);
    assert_eq!(thrice, once, "the names are kept again");
}

#[test]
fn counts_of_one_are_singular() {
    let (_, _, err) = run(&["run", "-", "--max-steps", "1"], "main: start\n inc r1\n finish\n");
    assert!(err.contains("the run did not end within 1 instruction\n"), "{err}");
    let (_, _, err) = run(&["run", "-", "--set", "a=[1,2]"], ".data\na: .word 3\n.text\nmain: start\n finish\n");
    assert!(err.contains("`a` has 1 word, 2 values are given"), "{err}");
    let stack = "procedure main()\n    int x\n    stack s\n    push(x, s)\n    push(x, s)\n";
    let (_, _, err) = run(&["run", "-", "--stack", "1"], stack);
    assert!(err.contains("the stack `s` is full: it has room for 1 number\n"), "{err}");
}

#[test]
fn truth_values_are_true_or_false_wherever_they_are_shown() {
    let program = "@i function f(b!::Bool, a::Vector{Bool}, n::Int)
    @safe @show b!
    b! ⊻= a[2]
end
";
    let args = ["--args", "false,[false,true],1"];
    let run = |more: &[&str]| run(&[&["run", "-"], &args[..], more].concat(), program);
    let (code, out, err) = run(&[]);
    assert_eq!((code, out.as_str()), (0, "false\nb! = true\na = [false, true]\nn = 1\n"), "{err}");
    let (_, out, err) = run(&["--set", "b!=true", "--set", "a[1]=1", "--show", "b!,a[1],a[2],n"]);
    assert_eq!(out, "true\nb! = false\na[1] = true\na[2] = true\nn = 1\n", "{err}");
    let (_, out, _) = run(&["--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(value["values"], serde_json::json!({ "b!": true, "a": [false, true], "n": 1 }));
    let (code, _, err) = run(&["--set", "b!=2"]);
    assert!(code == 2 && err.contains("true or false is expected"), "{err}");
    // In an object, which knows nothing else of the source.
    let folder = std::env::temp_dir().join(format!("pendula-truths-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, object) = (folder.join("f.nil"), folder.join("f.o"));
    std::fs::write(&source, program).expect("written");
    let paths = [source.to_str().expect("a path"), object.to_str().expect("a path")];
    let (code, _, err) = super::run(&["compile", paths[0], args[0], args[1], "--emit", "obj", "-o", paths[1]], "");
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = super::run(&["run", paths[1]], "");
    assert_eq!((code, out.as_str()), (0, "false\nb! = true\na = [false, true]\nn = 1\n"), "{err}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_file_that_is_no_program_does_not_fill_the_terminal() {
    let text = "this is no program\n".repeat(200);
    let (code, _, err) = run(&["check", "-"], &text);
    assert_eq!((code, err.matches("error[").count()), (1, 50));
    assert!(err.ends_with("200 errors, of which these are the first 50\n"), "{err}");
    let (_, value) = json(&["check", "-", "--json"], &text);
    assert_eq!(value["diagnostics"].as_array().map(Vec::len), Some(200));
}

#[test]
fn check_tells_what_is_wrong_in_functions_whose_types_are_open() {
    let check = |program: &str| run(&["check", "-"], program);
    let (code, out, err) = check("@i function f(y!, x)\n    y! += x * q\nend\n");
    assert!(code == 1 && err.starts_with("error[P0430]: there is no `q` here") && !err.contains("P0452"), "{err}");
    assert_eq!(out, "<stdin>: compiled with --args 0.0,2.5\n");
    // Of the arguments that come to mind those with which least is wrong.
    let vector = "@i function f(y!, x, n)\n    for i = 1:n\n        y! += x[i] * q\n    end\nend\n";
    let (_, out, err) = check(vector);
    assert!(err.matches("error[").count() == 1 && out.contains("--args '0.0,[2.5,3.5],4'"), "{out}{err}");
    let (code, value) = json(&["check", "-", "--json"], vector);
    assert_eq!((code, &value["diagnostics"][0]["code"]), (1, &"P0430".into()));
    // What is not looked at is named.
    let idle = "@i function g(x!)\n    x! += q\nend\n@i function f(y!::Int, x::Int)\n    y! += x\nend\n";
    let (code, out, err) = check(idle);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.ends_with("no problems found; not compiled, since nothing calls them: g (`--entry`)\n"), "{out}");
    let (code, _, err) = run(&["check", "-", "--entry", "g"], idle);
    assert!(code == 1 && err.contains("error[P0430]"), "{err}");
}

#[test]
fn a_variable_with_parts_is_set_as_an_argument_is_written() {
    let set = |set: &str| {
        run(
            &["run", "examples/complex-log.nil", "--args", "(0.0,0.0),(1.0,2.0)", "--set", set, "--show", "x.re,x.im"],
            "",
        )
    };
    assert_eq!(set("x=(1.5,-2.0)"), (0, "x.re = 1.5\nx.im = -2.0\n".into(), String::new()));
    for (given, said) in [
        ("x=(1,2,3)", "`x` has the parts x.re, x.im: that is 2 numbers, not 3"),
        ("x=1,2", "one value is expected, such as `(1.0, 2.0)`"),
        ("x=(1.5,a)", "`a` is not a value for `x.im`"),
        ("x.re=", "`x.re=` is not `name=value`"),
    ] {
        let (code, _, err) = set(given);
        assert_eq!((code, err.contains(said)), (2, true), "{given}: {err}");
    }
    let (code, _, err) = run(&["check", "-"], "x: .word.q 3\nmain: start\n finish\n");
    assert_eq!((code, err.contains("fixed-point numbers are `.fixed 1.5`")), (1, true), "{err}");
}

#[test]
fn an_overflow_that_stops_the_run_is_told_with_the_variables_before_it() {
    let program = "procedure main()\n    int x\n    int y\n    x += 9223372036854775807\n    y += 4\n    x += 1\n";
    for level in ["-O0", "-O2"] {
        let (code, out, err) = run(&["run", "-", "--trap", "overflow", level], program);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("in `main`: x = 9223372036854775807, y = 4"), "{err}");
        assert!(out.ends_with("with:\nx = 9223372036854775807\ny = 4\n"), "{out}");
    }
}

#[test]
fn classic_janus_has_one_main() {
    let program = "n x\nprocedure fib\n    if n = 0 then\n        x += 1\n    else\n        n -= 1\n        call fib\n    fi x = 5\n\
                   procedure main\n    n += 2\n    call fib\n";
    let (code, _, err) = run(&["run", "-", "--classic"], program);
    assert_eq!(code, 1);
    assert!(
        err.contains("called by `main`, at ") && !err.contains("main.entry") && !err.contains("`main` called by"),
        "{err}"
    );
}

#[test]
fn a_part_that_is_deallocated_with_another_value_is_told_with_both() {
    let program = "@i function f(y!::Float64, x::Float64)\n    z ← Complex{Float64}(1.0, 2.0)\n    z.re += x\n    y! += z.re\n    \
                   z → Complex{Float64}(1.0, 2.0)\nend\n";
    let (code, _, err) = run(&["run", "-", "--args", "0.0,0.5"], program);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("`z.re` is 1.5 where it ends, and it is deallocated with 1.0"), "{err}");
}

#[test]
fn a_limit_in_a_deep_recursion_tells_how_deep_it_is_at_least() {
    let program =
        "procedure down(int n)\n    n += 1\n    call down(n)\n\nprocedure main()\n    int n\n    call down(n)\n";
    let (code, _, err) = run(&["run", "-", "--max-steps", "1000000"], program);
    assert_eq!(code, 1);
    assert!(err.contains("error[P0130]") && err.contains(" calls deep and going deeper: n = "), "{err}");
}

#[test]
fn the_circuit_of_an_instruction() {
    let folder = folder("circuit");
    let (status, out, err) = run(&["circuit", "add", "--width", "8"], "");
    // Cuccaro et al.: 2W − 2 Toffoli gates and one ancilla.
    let toffoli = out.lines().find(|l| l.contains("Toffoli ")).map(|l| l.split_whitespace().nth(1));
    assert_eq!((status, err.as_str(), toffoli), (0, "", Some(Some("14"))), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 80), "{out}");
    let (status, out, _) = run(&["circuit", "SUB", "--width", "5", "--verify", "--direction", "both"], "");
    assert!(status == 0 && out.contains("all 2,048 states of 11 bits"), "{out}");
    let refused = |args: &[&str], says: &str| {
        let (status, out, err) = run(&[&["circuit"], args].concat(), "");
        assert!(status == 2 && out.is_empty() && err.contains(says), "{args:?}: {out}{err}");
    };
    refused(&["addmlu"], "did you mean `addmul`?");
    refused(&["add", "--width", "1"], "2 to 64 bits");
    refused(&["add", "--width", "8", "--frac", "3"], "leave out --frac");
    refused(&["add.f", "--width", "8"], "`xorplus.f` has one");
    refused(&["exch", "--memory", "0"], "1 to 4096 words");
    refused(&["add", "--format", "real", "--mapping", "cascade"], "`--mapping reversible`");
    refused(&["add", "--format", "svg"], "too large");
    refused(&["xorexp.q", "--width", "16", "--algorithm", "table"], "at most 12 bits");
    refused(&["add", "--width", "8", "--algorithm", "table"], "only a function of one word");
    refused(&["add", "--qasm2", "--format", "real"], "--qasm2 is for --format qasm");
    refused(&["add", "--testbench", "--format", "blif"], "--testbench is for --format verilog");
    refused(&["add", "--format", "blif", "--stats"], "-o FILE");
    // Of several circuits, a query says which it is, and an option takes another.
    let (_, out, _) = run(&["circuit", "xorexp.q", "--width", "8"], "");
    assert!(out.contains("  algorithm: table\n"), "{out}");
    let sqrt = ["circuit", "xorsqrt.q", "--width", "8", "--stats", "--algorithm", "machine"];
    let (status, out, _) = run(&sqrt, "");
    assert!(status == 0 && out.contains("  algorithm: the machine's\n"), "{out}");
    let (_, value) = json(&["circuit", "xorsqrt.q", "--width", "8", "--json", "--stats"], "");
    assert_eq!(value["algorithm"], "table", "{value}");
    // A file is written whole, and says the same as standard output.
    let file = folder.join("add.v");
    let path = file.to_str().expect("UTF-8");
    let call = ["circuit", "add", "--width", "4", "--format", "verilog"];
    let (_, text, _) = run(&call, "");
    let (status, out, _) = run(&[&call[..], &["-o", path, "--verify"]].concat(), "");
    assert!(status == 0 && out.contains("verified: all 256 states"), "{out}");
    assert_eq!(std::fs::read_to_string(&file).expect("written"), text);
    let (_, value) = json(&["circuit", "swap", "--width", "3", "--json", "--stats", "--verify"], "");
    assert_eq!((&value["stats"]["cnot"], &value["verified"]["states"]), (&9.into(), &64.into()), "{value}");
    std::fs::remove_dir_all(&folder).expect("removed");
}
