//! Extensions from the outside: the examples with their definitions, their circuits, and the lab.

use std::path::{Path, PathBuf};

use pendula_isa::sample;
use serde_json::Value;

use crate::common::{command, folder, has_solver};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(args: &[&str]) -> (i32, String, String) {
    command::run(args, "")
}

fn files(extension: &str) -> Vec<PathBuf> {
    let all =
        std::fs::read_dir(repository().join("examples/isa")).expect("the examples").map(|e| e.expect("one").path());
    let mut out: Vec<PathBuf> = all.filter(|f| f.extension().is_some_and(|e| e == extension)).collect();
    out.sort();
    out
}

/// What the comment of a program says that it prints: the lines after `Forward`.
fn promised(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.contains("Forward          pendula run")).skip(1);
    lines.map_while(|line| line.strip_prefix(";                      ")).map(str::to_string).collect()
}

#[test]
fn examples_print_what_they_say_on_every_engine() {
    let programs = files("rasm");
    assert_eq!(programs.len(), 11);
    for file in programs {
        let text = std::fs::read_to_string(&file).expect("a program");
        let path = file.strip_prefix(repository()).expect("in the repository").to_str().expect("UTF-8");
        let (code, plain, err) = run(&["run", path]);
        assert_eq!((code, err.as_str()), (0, ""), "{path}");
        for line in promised(&text) {
            assert!(plain.lines().any(|l| l == line), "{path} does not print `{line}`:\n{plain}");
        }
        for engine in ["interp", "jit"] {
            assert_eq!(run(&["run", path, "--engine", engine]).1, plain, "{path} by {engine}");
        }
        let (code, out, err) = run(&["run", path, "--round-trip"]);
        assert!(code == 0 && out.contains("bit for bit"), "{path}: {out}{err}");
        // An object needs no definitions beside it, and what is disassembled has them.
        let folder = folder("extensions");
        let object = folder.join("program.o");
        let object = object.to_str().expect("UTF-8");
        assert_eq!(run(&["asm", path, "-o", object]).0, 0);
        assert_eq!(run(&["run", object]).1, plain, "{path}");
        let (_, source, _) = run(&["disasm", object]);
        let again = folder.join("again.rasm");
        std::fs::write(&again, source).expect("a file");
        assert_eq!(run(&["run", again.to_str().expect("UTF-8")]).1, plain, "{path}");
    }
}

#[test]
fn examples_in_nil_print_the_same_on_every_engine() {
    let wanted = [
        ("leapfrog", "1.0,0.0,100", "x! = 0.99948267\nv! = 0.0321777738\nn = 100\n"),
        ("popcount", "0,[255,7],[0,5]", "d! = 9\na = [255, 7]\nb = [0, 5]\n"),
    ];
    for (name, args, printed) in wanted {
        let (program, isa) = (format!("examples/isa/{name}.nil"), format!("examples/isa/{name}.isa"));
        let own = ["run", &program, "--isa", &isa, "--args", args];
        for engine in ["interp", "jit", "native"] {
            let (code, out, err) = run(&[&own[..], &["--engine", engine]].concat());
            assert_eq!((code, out.as_str(), err.as_str()), (0, printed, ""), "{name} by {engine}");
            let (code, out, err) = run(&[&own[..], &["--engine", engine, "--round-trip"]].concat());
            assert!(code == 0 && out.contains("bit for bit"), "{name} by {engine}: {out}{err}");
        }
        // An object needs no definitions beside it.
        let object = folder("extensions").join(format!("{name}.o"));
        let object = object.to_str().expect("UTF-8");
        assert_eq!(run(&["compile", &program, "--isa", &isa, "--args", args, "--emit", "obj", "-o", object]).0, 0);
        let (code, again, err) = run(&["run", object]);
        assert!(code == 0 && again.lines().next() == printed.lines().next(), "{again}{err}");
    }
    // The derivative is that of the recurrence, by dual numbers and finite differences.
    let own = ["grad", "examples/isa/leapfrog.nil", "--isa", "examples/isa/leapfrog.isa", "--args", "1.0,0.0,100"];
    for engine in ["interp", "jit", "native"] {
        let (code, out, err) = run(&[&own[..], &["--loss", "x!", "--check", "--engine", engine]].concat());
        assert!(code == 0 && out.contains("∂/∂v! = -0.03214635"), "{engine}: {out}{err}");
    }
}

/// A program in Nil with definitions, in a folder.
fn nil(name: &str, isa: &str, text: &str) -> [String; 3] {
    let write = |end: &str, text: &str| saved(&format!("{name}.{end}"), text);
    [write("nil", text), "--isa".to_string(), write("isa", isa)]
}

#[test]
fn what_nil_says_of_definitions() {
    let isa = ".function root.f (a)\n sqrt(a - 1.0)\n.endfunction\n\
               .instr odd / unodd x | a\n .temp t\n addand t, a, 1\n add x, t\n.endinstr\n";
    let text = "@i function f(y!::Float64, k!::Int, x::Float64, n::Int)\n    y! += root(x)\n    odd(k!, n)\nend\n";
    let [program, option, file] = nil("stops", isa, text);
    for engine in ["interp", "jit", "native"] {
        let stop = |args: &str| run(&["run", &program, &option, &file, "--args", args, "--engine", engine]);
        let (code, _, err) = stop("0.0,0,0.5,4");
        assert!(code == 1 && err.contains("P0114") && err.contains("stops.nil:2:5"), "{engine}: {err}");
        assert!(err.contains("in its step") && err.contains("addsqrt.f"), "{engine}: {err}");
        let (code, _, err) = stop("0.0,0,2.0,5");
        assert!(code == 1 && err.contains("P0103") && err.contains("stops.nil:3:5"), "{engine}: {err}");
        assert!(err.contains("y! = 1.0") && err.contains("k! = 0"), "{engine}: {err}");
        assert_eq!(stop("0.0,0,2.0,4").0, 0);
    }
    // What does not fit is told in terms of Nil.
    let wrong = "@i function f(y!::Fixed, k!::Int, x::Fixed)\n    y! += root(x)\n    root(x)\n    k! += odd(k!)\n    odd(k!, x)\n    odd(k!, k!)\n    odd(3, k!)\nend\n";
    let [program, option, file] = nil("wrong", isa, wrong);
    let (code, _, err) = run(&["run", &program, &option, &file, "--args", "0.0,0,1.0"]);
    assert_eq!(code, 1);
    for part in [
        "`root` is not defined for (Fixed)",
        "its definitions take `root(Float64)`",
        "`root` gives a value",
        "`odd` is an instruction, and has no value",
        "`odd` is not defined for (Int, Fixed)",
        "wrong.nil:6:",
        "a constant cannot be changed",
    ] {
        assert!(err.contains(part), "`{part}` is missing:\n{err}");
    }
    // Functions of the program come first.
    let own = "@i function odd(x!::Int, n::Int)\n    x! += 100 * n\nend\n@i function f(x!::Int, n::Int)\n    odd(x!, n)\nend\n";
    let [program, option, file] = nil("own", isa, own);
    let (code, out, err) = run(&["run", &program, &option, &file, "--args", "0,3"]);
    assert!(code == 0 && out.starts_with("x! = 300"), "{out}{err}");
    // A file that cannot be read, and one with an error, are told as for assembly.
    let (code, _, err) = run(&["run", &program, "--isa", "no-such.isa", "--args", "0,3"]);
    assert!(code == 1 && err.contains("P0027") && err.contains("no-such.isa"), "{err}");
    let (code, _, err) = run(&["run", "examples/fib.ja", "--isa", &file]);
    assert!(code != 0 && err.contains("--isa is for programs in assembly and Nil"), "{err}");
}

#[test]
fn stops_in_nil_are_told_where_definitions_are_called() {
    let isa = ".function sq.q (a)\n a*a + muladd(a, 0.5, 0.25)\n.endfunction\n.function big.q (a)\n a * a * 0.5\n.endfunction\n";
    let text = "@i function m(y!::Fixed, v::Vector{Fixed})\n    y! += 1.0\n    y! += sq(v[1])\n    y! += sq(v[2])\n    y! += sq(v[3])\nend\n";
    let [program, option, file] = nil("limit", isa, text);
    let own = ["run", &program, &option, &file, "--args", "5.0,[1.0,2.0,3.0,4.0]"];
    let mut seen = Vec::new();
    for steps in 1..30 {
        let steps = steps.to_string();
        let (code, out, err) = run(&[&own[..], &["--max-steps", &steps]].concat());
        if code == 0 {
            break;
        }
        let err = out + &err;
        let values = [5.0, 6.0, 7.75, 13.0, 23.75];
        let shown = values.iter().position(|y| err.contains(&format!("y! = {y:?}")));
        let shown = shown.unwrap_or_else(|| panic!("{steps}: {err}"));
        let before = format!("before {program}:{}", shown + 2);
        assert!(
            shown == 4 || err.contains(&before) || err.contains(&format!("limit.nil:{}", shown + 2)),
            "{steps}: {err}"
        );
        seen.push(shown);
    }
    assert!(seen.is_sorted() && [0, 1, 2, 3].iter().all(|n| seen.contains(n)), "{seen:?}");
    // An overflow is told as one in the program's own arithmetic.
    let text = "@i function m(y!::Fixed, a::Fixed)\n    y! += 1.5\n    y! += big(a)\nend\n";
    let [program, option, file] = nil("overflow", isa, text);
    for engine in ["interp", "jit", "native"] {
        let args = ["run", &program, &option, &file, "--args", "1.0,70000.0", "--trap", "overflow", "--engine", engine];
        let (code, _, err) = run(&args);
        assert!(code == 1 && err.contains("P0116") && err.contains("overflow.nil:3:5"), "{engine}: {err}");
        assert!(err.contains("y! = 2.5") && err.contains("a = 70000.0"), "{engine}: {err}");
    }
}

#[test]
fn gradients_by_c_are_those_of_the_machine_where_words_are_given_twice() {
    let isa = ".instr in0.f / un0.f x | p, q\n addsin.f x, p\n addcos.f x, q\n addtanh.f x, p\n.endinstr\n\
               .function fu.f (a, b)\n sin(a) + cos(b) * tanh(a)\n.endfunction\n";
    let text = "@i function sub(p!::Float64, q!::Float64, c::Float64)\n    p! += fu(c, c)\n    in0(q!, c, c)\n    p! += q! * c\nend\n\
                @i function main(a!::Float64, b!::Float64, c::Float64, w::Vector{Float64})\n    in0(a!, c, c)\n    in0(b!, w[1], w[1])\n    a! += fu(c, c)\n    for i = 1:3\n        sub(a!, b!, c)\n        sub(a!, b!, w[1])\n    end\nend\n";
    let [program, option, file] = nil("twice", isa, text);
    let own = [
        "grad",
        &program,
        &option,
        &file,
        "--args",
        "0.1,0.2,0.23796462709189137,[0.5]",
        "--loss",
        "a!",
        "--entry",
        "main",
    ];
    for level in ["-O0", "-O1", "-O2"] {
        let by = |engine: &str| {
            let (code, out, err) = run(&[&own[..], &[level, "--json", "--engine", engine]].concat());
            let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}\n{out}{err}"));
            assert_eq!(code, 0, "{answer:#}");
            answer["losses"].clone()
        };
        assert_eq!(by("native"), by("interp"), "{level}");
    }
}

#[test]
fn names_of_definitions_follow_their_arguments() {
    let isa = ".function f.q (a)\n a * 2.0\n.endfunction\n.function f (a)\n a * 4\n.endfunction\n\
               .function g.q (a, n: i)\n a * cvt.i(n)\n.endfunction\n.instr addone / subone x | a\n addplus x, a, 1\n.endinstr\n";
    let text = "@i function apply(h, y!, x)\n    y! += h(x)\nend\n@i function each(h, y!, x)\n    h(y!, x)\nend\n\
                @i function m(y!::Fixed, n!::Int, x::Fixed)\n    y! += f(n!)\n    y! += g(f(0.5), f(n!))\n    apply(f, y!, x)\n    each(addone, n!, 3)\n    each(~addone, n!, 1)\nend\n";
    let [program, option, file] = nil("overloaded", isa, text);
    let (code, out, err) = run(&["run", &program, &option, &file, "--args", "1.0,3,0.25", "--entry", "m"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    // 1 + 4·3 + (2·0.5)·(4·3) + 2·0.25; 3 + 4 − 2.
    assert!(out.starts_with("y! = 25.5\nn! = 5\n"), "{out}");
    let text = "@i function m(b!::Bool)\n    addone(b!, 3)\nend\n";
    let [program, option, file] = nil("truth", isa, text);
    let (code, _, err) = run(&["run", &program, &option, &file, "--args", "true"]);
    assert!(code == 1 && err.contains("`addone` is not defined for (Bool"), "{err}");
    // The lab takes such programs, too.
    let args =
        ["examples/isa/leapfrog.nil", "--isa", "examples/isa/leapfrog.isa", "--args", "1.0,0.0,10", "--tech", "cmos45"];
    let (code, out, err) = run(&[&["lab", "try"][..], &args].concat());
    assert!(code == 0 && err.is_empty() && out.contains("leapfrog.nil\n"), "{out}{err}");
}

fn verified(circuits: &[(&str, &str, &str)]) {
    for (file, name, width) in circuits {
        let isa = format!("examples/isa/{file}.isa");
        let args = ["circuit", name, "--isa", &isa, "--width", width, "--verify", "--json"];
        let (code, out, err) = run(&args);
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{name}: {e}\n{out}{err}"));
        assert_eq!(code, 0, "{name}: {answer:#}");
        assert!(answer["verified"]["states"].as_u64().is_some_and(|n| n > 200), "{answer:#}");
    }
}

#[test]
fn circuits_do_what_the_definitions_do() {
    let circuits = [
        ("complex", "cmuladd.q", "3"),
        ("satadd", "satadd", "4"),
        ("complex", "cmulsub.q", "3"),
        ("dot3", "dot3.q", "2"),
        ("gray", "ungray", "64"),
        ("leapfrog", "leap.q", "4"),
    ];
    // Some take seconds.
    verified(if sample::all() { &circuits } else { &circuits[..2] });
}

/// On random words, where there are too many to try them all.
#[test]
#[ignore = "takes half a minute"]
fn circuits_of_many_words_do_what_the_definitions_do() {
    verified(&[
        ("complex", "cmuladd.q", "6"),
        ("dot3", "dot3.q", "5"),
        ("gray", "gray", "64"),
        ("leapfrog", "unleap.q", "8"),
        ("sha2", "sha256a", "8"),
        ("sha2", "sha256b", "32"),
        ("xorshift", "xorshift", "64"),
    ]);
}

#[test]
fn definitions_are_proved() {
    if !has_solver() {
        return;
    }
    let files = [("gray", "64"), ("complex", "16"), ("leapfrog", "16"), ("satadd", "32"), ("xorshift", "64")];
    for (file, width) in sample::some(files) {
        let isa = format!("examples/isa/{file}.isa");
        let (code, out, err) = run(&["prove", "--isa", &isa, "--width", width, "--json"]);
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{file}: {e}\n{out}{err}"));
        assert_eq!(code, 0, "{answer:#}");
        let all = answer["findings"].as_array().expect("findings");
        let own: Vec<&Value> = all.iter().filter(|f| f["claim"] == "undone").collect();
        assert!(!own.is_empty() && own.iter().all(|f| f["verdict"] == "proved"), "{answer:#}");
    }
    // One that leaves its temporary as it was for all words but one, which no trial finds.
    let subtle = folder("extensions").join("subtle.isa");
    let text = ".instr subtle / other x | a\n .temp t\n xoreq t, a, 12345\n add x, t\n.endinstr\n";
    std::fs::write(&subtle, text).expect("a file");
    let (code, out, err) = run(&["prove", "--isa", subtle.to_str().expect("UTF-8"), "--width", "16"]);
    assert!(code == 1 && out.contains("refuted") && out.contains("a") && out.contains("0x3039"), "{out}{err}");
}

/// A program whose loop has these steps, between others.
fn planted(name: &str, steps: &str) -> String {
    let text = format!(
        "        .data\na:      .fixed 1.5, -0.25, 2.0, 0.75\ny:      .fixed 0, 1.0\n        .import a\n        .export y\n        .text\n\
         \u{20}       start\n        exch r1, [y]\n        exch r2, [y+1]\nL1:     from.ne r9, 0, L2\n        exch r3, [a+r9]\n\
         {steps}        exch r3, [a+r9]\n        inc r9\nL2:     jmp.ne r9, 4, L1\n        sub r9, 4\n        exch r2, [y+1]\n        exch r1, [y]\n        finish\n"
    );
    let path = folder("extensions").join(format!("{name}.rasm"));
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_string()
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn the_lab_finds_what_was_planted_and_tries_it_again() {
    let programs = [
        planted("muladd", "        addmul.q r1, r3, 0.5\n        addmul.q r2, r3, r1\n"),
        planted(
            "others",
            "        xor r10, r9\n        addmul.q r1, r3, 0.5\n        addmul.q r2, r3, r1\n        xor r10, r9\n",
        ),
        planted("butterfly", "        rot.q r1, r2, r3\n        irot.q r1, r2, 0.785398\n        neg.q r2\n"),
    ];
    let isa = folder("extensions").join("found.isa");
    let isa = isa.to_str().expect("UTF-8");
    let mut args = vec!["lab", "discover", "--count", "2", "--json", "--tech", "acmos22-fdsoi", "-o", isa];
    args.extend(programs.iter().map(String::as_str));
    let (code, out, err) = run(&args);
    let found: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}\n{out}{err}"));
    assert_eq!(code, 0, "{found:#}");
    let definitions: Vec<&str> =
        found["found"].as_array().expect("found").iter().map(|f| f["definition"].as_str().expect("text")).collect();
    assert_eq!(definitions.len(), 2, "{found:#}");
    let has = |words: &[&str]| definitions.iter().any(|d| words.iter().all(|w| d.contains(w)));
    assert!(has(&["addmul.q x, a, 0.5", "addmul.q y, a, x"]), "{definitions:#?}");
    assert!(has(&["rot.q   x, y, a", "irot.q  x, y, 0.78539", "neg.q   y"]), "{definitions:#?}");
    // What was found there is what trying it gives.
    for (n, program) in programs.iter().enumerate() {
        let (code, out, err) = run(&["lab", "try", program, "--isa", isa, "--json", "--tech", "acmos22-fdsoi"]);
        let tried: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}\n{out}{err}"));
        assert_eq!(code, 0, "{tried:#}");
        let (one, other) = (&tried["programs"][0], &found["programs"][n]);
        assert_eq!(one, other);
        assert_eq!(one["compared"], serde_json::json!(["forward", "backward", "gradients"]));
        let ran = |at: &str| one[at]["instructions"].as_u64().expect("a number");
        assert!(ran("after") < ran("before"), "{tried:#}");
        let saves = |t: &Value| t["plug"][1].as_f64() < t["plug"][0].as_f64();
        assert!(
            one["technologies"].as_array().expect("some").iter().filter(|t| t["technology"] != "landauer").all(saves),
            "{tried:#}"
        );
    }
}

#[test]
fn the_lab_matches_in_any_order_and_under_any_names() {
    // The same products in another order, with arguments exchanged, and another instruction between.
    let program = planted(
        "order",
        "        addmul.q r2, r3, 0.5\n        addmul.q r1, 0.25, r3\n        inc r20\n        submul.q r1, r3, 0.125\n        addmul.q r2, 2.0, r3\n        dec r20\n",
    );
    let isa = folder("extensions").join("order.isa");
    let text = ".instr four.q / unfour.q x, y | a\n addmul.q x, a, 0.25\n submul.q x, a, 0.125\n addmul.q y, a, 2.0\n addmul.q y, a, 0.5\n.endinstr\n";
    std::fs::write(&isa, text).expect("a file");
    let (code, out, err) = run(&["lab", "try", &program, "--isa", isa.to_str().expect("UTF-8"), "--tech", "cmos45"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("four.q at 1 place, 4 times") && out.contains("forward, backward, gradients"), "{out}");
    // One that stands in the way, because it reads what changes.
    let program = planted(
        "between",
        "        addmul.q r2, r3, 0.5\n        addmul.q r1, 0.25, r3\n        xor r20, r1\n        submul.q r1, r3, 0.125\n        addmul.q r2, 2.0, r3\n        xor r20, r2\n",
    );
    let (code, out, err) = run(&["lab", "try", &program, "--isa", isa.to_str().expect("UTF-8"), "--tech", "cmos45"]);
    assert!(code != 0 || out.contains("no instruction of the definitions"), "{out}{err}");
}

fn saved(name: &str, text: &str) -> String {
    let path = folder("extensions").join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_string()
}

const SQUARE: &str =
    ".instr square.q / unsquare.q x | a\n .temp t\n addmul.q t, a, a\n add x, t\n submul.q t, a, a\n.endinstr\n";

#[test]
fn temporaries_take_the_place_of_registers_that_are_zero() {
    // The square goes through r10, which is zero, and through r9, which counts.
    let through = |y: &str, t: &str| {
        format!("        addmul.q {t}, r3, r3\n        add {y}, {t}\n        submul.q {t}, r3, r3\n")
    };
    let program = planted("clear", &(through("r1", "r10") + &through("r2", "r9")));
    let isa = saved("square.isa", SQUARE);
    let args = ["lab", "try", program.as_str(), "--isa", &isa, "--tech", "cmos45"];
    let (code, out, err) = run(&args);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for line in [
        "square.q at 1 place, 4 times",
        "1 place assumes that registers are zero, which is known for these inputs only",
        "1 place left out: a register would have to be zero and is not",
        "agrees in every bit: forward, backward, gradients",
    ] {
        assert!(out.contains(line), "{out}");
    }
    let (_, out, err) = run(&[&args[..], &["--json"]].concat());
    let tried: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}\n{out}{err}"));
    let one = &tried["programs"][0];
    assert_eq!([&one["assume_clear"], &one["not_clear"], &one["differing"]], [1, 1, 0], "{tried:#}");
    // A sweep goes by the same rule.
    let (code, out, err) =
        run(&["lab", "sweep", &program, "--isa", &isa, "--tech", "cmos45", "--over", "width=16..64:2", "--csv"]);
    assert!(code == 0 && out.lines().count() == 3, "{out}{err}");
}

#[test]
fn what_is_discovered_is_used_and_not_proposed_twice() {
    let program = planted(
        "twice",
        "        addmul.q r1, r3, 0.5\n        addmul.q r2, r3, r1\n        submul.q r2, r3, r1\n        submul.q r1, r3, 0.5\n        addmul.q r1, r3, 0.5\n        addmul.q r2, r3, r1\n",
    );
    let isa = folder("extensions").join("used.isa");
    let isa = isa.to_str().expect("UTF-8");
    let (code, out, err) = run(&["lab", "discover", &program, "--count", "6", "--json", "--tech", "cmos45", "-o", isa]);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}\n{out}{err}"));
    assert_eq!(code, 0, "{answer:#}");
    let found = answer["found"].as_array().expect("found");
    assert!(!found.is_empty(), "{answer:#}");
    let uses: Vec<&str> =
        answer["programs"][0]["uses"].as_array().expect("uses").iter().filter_map(|u| u["mnemonic"].as_str()).collect();
    let mut saves = 0.0;
    for one in found {
        let name = one["mnemonic"].as_str().expect("a name");
        assert!(uses.iter().any(|used| used.trim_start_matches("un") == name), "{name}: {answer:#}");
        saves += one["saves"].as_f64().expect("a number");
    }
    // What the instructions save adds up to what the program saves.
    let plug = &answer["programs"][0]["technologies"][0]["plug"];
    let [before, after] = [0, 1].map(|n| plug[n].as_f64().expect("a number"));
    assert!((saves - (before - after)).abs() < 1e-6 * before, "{answer:#}");
}

const LEFT: &str = ".instr dd x | a\n .temp t\n add t, a\n xor x, a\n.endinstr\n";

#[test]
fn a_temporary_that_may_be_left_traps_in_circuits_too() {
    let isa = saved("left.isa", LEFT);
    for args in [&["dd"][..], &["dd", "--direction", "backward"], &["dd", "--direction", "both"]] {
        let args = [&["circuit"], args, &["--isa", &isa, "--width", "4", "--verify", "--json"]].concat();
        let (code, out, err) = run(&args);
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}\n{out}{err}"));
        assert_eq!(code, 0, "{args:?}: {answer:#}");
        // In all states but those with a = 0.
        let states = answer["verified"]["states"].as_u64().expect("a number");
        assert_eq!(answer["verified"]["trapped"].as_u64(), Some(states / 16 * 15), "{answer:#}");
    }
    let program = saved("left.rasm", &format!("{LEFT} start\n add r2, 3\n dd r1, r2\n sub r2, 3\n finish\n"));
    let (code, _, err) = run(&["run", &program]);
    assert!(code == 1 && err.contains("its temporary `t` is not clear at the end: t = 3"), "{err}");
    assert!(err.contains("a temporary must be clear at the end of its instruction"), "{err}");
    // Shifts wrap, so that Gray's code for wide words is none on narrow ones.
    let (code, _, err) = run(&["circuit", "gray", "--isa", "examples/isa/gray.isa", "--width", "8"]);
    assert!(code == 2 && err.contains("`xorshr` by 8") && err.contains("modulo 8"), "{err}");
}

#[test]
fn a_file_of_definitions_is_no_program() {
    let isa = saved("left.isa", LEFT);
    for command in ["asm", "run"] {
        let (code, _, err) = run(&[command, &isa]);
        assert!(code != 0 && err.contains(&format!("--isa {isa}")) && err.contains(".extension"), "{err}");
    }
    assert!(!Path::new(&isa).with_extension("o").exists());
    let (code, out, _) = run(&["isa", "dd", "--isa", &isa]);
    assert!(code == 0 && out.starts_with("dd x, a\n    inverse: dd\n"), "{out}");
}

#[test]
fn what_a_definition_of_the_lab_is_not() {
    let (code, _, err) = run(&["lab", "try", "examples/orbit.rasm"]);
    assert!(code == 2 && err.contains("--isa FILE"), "{err}");
    let (code, _, err) = run(&["lab", "try", "--isa", "examples/isa/gray.isa"]);
    assert!(code == 2 && err.contains("--suite"), "{err}");
    let (code, _, err) = run(&["run", "examples/orbit.rasm", "--isa", "no-such.isa"]);
    assert!(code == 1 && err.contains("P0027") && err.contains("no-such.isa"), "{err}");
    let (code, _, err) = run(&["circuit", "grey", "--isa", "examples/isa/gray.isa"]);
    assert!(code == 2 && err.contains("did you mean `gray`"), "{err}");
}
