//! Every program in assembly under `examples/`: forward, backward from its outputs alone, and round trip, by the command line.

mod library;

use assert_cmd::Command;

fn pendula(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("pendula").expect("the binary");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command
}

/// Runs and returns standard output.
fn output(args: &[&str]) -> String {
    let assert = pendula(args).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).expect("UTF-8")
}

struct Example {
    name: &'static str,
    /// Inputs other than the file's own.
    set: &'static [&'static str],
    /// What a forward run prints.
    forward: &'static [&'static str],
    /// What a backward run, given what the forward run printed, must print among other things.
    backward: &'static [&'static str],
}

const EXAMPLES: &[Example] = &[
    Example { name: "sparse-dot", set: &[], forward: &["y = 13.0"], backward: &["y = 0.0"] },
    Example {
        name: "fib",
        set: &[],
        forward: &["r1 = 2584", "r2 = 4181", "r4 = 18"],
        backward: &["r1 = 0", "r2 = 0", "r4 = 0"],
    },
    Example {
        name: "fib",
        set: &["n=90"],
        forward: &["r1 = 2880067194370816120", "r2 = 4660046610375530309", "r4 = 90"],
        backward: &["r1 = 0", "r2 = 0", "r4 = 0"],
    },
    Example { name: "factorial", set: &[], forward: &["x = 120"], backward: &["x = 5"] },
    Example { name: "factorial", set: &["x=20"], forward: &["x = 2432902008176640000"], backward: &["x = 20"] },
    Example { name: "isqrt", set: &[], forward: &["rem = 65", "root = 351"], backward: &["rem = 123266", "root = 0"] },
    Example {
        name: "isqrt",
        set: &["rem=999999999999"],
        forward: &["rem = 1999998", "root = 999999"],
        backward: &["rem = 999999999999", "root = 0"],
    },
    Example {
        name: "gcd",
        set: &[],
        forward: &["a = 14", "b = 15", "g = 252"],
        backward: &["a = 3528", "b = 3780", "g = 0"],
    },
    Example {
        name: "gcd",
        set: &["a=1071", "b=462"],
        forward: &["a = 51", "b = 22", "g = 21"],
        backward: &["a = 1071", "b = 462", "g = 0"],
    },
    // Two published vectors: 497df3d0 72612cb5 and ed23375a 821a8c2d.
    Example {
        name: "xtea",
        set: &["key=[0x00010203,0x04050607,0x08090a0b,0x0c0d0e0f]", "v0=0x41424344", "v1=0x45464748"],
        forward: &["v0 = 1232991184", "v1 = 1918971061"],
        backward: &["v0 = 1094861636", "v1 = 1162233672"],
    },
    Example {
        name: "xtea",
        set: &["key=[0,0,0,0]", "v0=0x41414141", "v1=0x41414141"],
        forward: &["v0 = 3978508122", "v1 = 2182777901"],
        backward: &["v0 = 1094795585", "v1 = 1094795585"],
    },
    Example {
        name: "sort",
        set: &["a=[5,3,8,1,9,2,7,3,6,0]"],
        forward: &["a = [0, 1, 2, 3, 3, 5, 6, 7, 8, 9]"],
        backward: &["a = [5, 3, 8, 1, 9, 2, 7, 3, 6, 0]", "moves = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"],
    },
    Example {
        name: "sort",
        set: &["a=[9,8,7,6,5,4,3,2,1,0]"],
        forward: &["a = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", "moves = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"],
        backward: &["a = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]", "moves = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"],
    },
    Example {
        name: "matmul",
        set: &[],
        forward: &[
            "c = [3.0, 4.5, 4.0, 5.75, 9.0, 11.5, 11.5, 12.75, 15.0, 18.5, 19.0, 19.75, 21.0, 25.5, 26.5, 26.75]",
        ],
        backward: &["c = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"],
    },
    Example {
        name: "wave",
        set: &[],
        forward: &["u = [-0.074137586, -0.0715344981, ", "v = [-0.0518306717, -0.0256966397, "],
        backward: &["u = [0.1875, 0.375, 0.5625, 0.75, ", "v = [0.0, 0.0, 0.0, "],
    },
    Example {
        name: "bennett",
        set: &[],
        forward: &["steps = 625", "y = 1860634429"],
        backward: &["steps = 0", "y = 0", "x = 1"],
    },
    Example {
        name: "bennett",
        set: &["k=2", "n=6"],
        forward: &["steps = 729", "y = 1782087800"],
        backward: &["steps = 0", "y = 0"],
    },
    Example {
        name: "momentum",
        set: &[],
        forward: &["w = [1.000000001, 1.999999998]", "v = [0.0, 0.0000000014]"],
        backward: &["w = [-4.0, 3.0]", "v = [0.0, 0.0]", "record = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"],
    },
    Example {
        name: "complex-log",
        set: &[],
        forward: &["re = 1.6094379124341003", "im = 0.9272952180016122"],
        backward: &["re = 0.0", "im = 0.0"],
    },
    // The other half plane: log(-1) = iπ.
    Example {
        name: "complex-log",
        set: &["x=-1", "y=0"],
        forward: &["re = 0.0", "im = 3.141592653589793"],
        backward: &["re = 0.0", "im = 0.0"],
    },
    Example { name: "norm", set: &[], forward: &["norm = 9.0"], backward: &["norm = 0.0"] },
    Example {
        name: "norm",
        set: &["x=[3,0,0,0,4,0,0,0]"],
        forward: &["norm = 5.0"],
        backward: &["norm = 0.0", "x = [3.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0]"],
    },
    Example { name: "power", set: &[], forward: &["y = 57.6650390625"], backward: &["y = 0.0"] },
    Example { name: "power", set: &["x=-0.5", "n=3"], forward: &["y = -0.125"], backward: &["y = 0.0"] },
    Example { name: "power", set: &["n=0"], forward: &["y = 1.0"], backward: &["y = 0.0"] },
    // J₂(1) = 0.11490348493190048, J₀(2.4) = 0.0025076832972438…
    Example { name: "bessel", set: &[], forward: &["y = 0.1149034849319004"], backward: &["y = 0.0"] },
    Example { name: "bessel", set: &["v=0", "z=2.4"], forward: &["y = 0.002507683297243"], backward: &["y = 0.0"] },
    Example { name: "bessel-q", set: &[], forward: &["y = 0.1149034849319"], backward: &["y = 0.0"] },
    Example { name: "bessel-q", set: &["v=0", "z=-2.4"], forward: &["y = 0.0025076832"], backward: &["y = 0.0"] },
    // `tests/gradients.rs` compares these with models in doubles.
    Example {
        name: "rotations",
        set: &[],
        forward: &["y = -9.3857840064619", "v = [1.8928513931168", "-3.1446902901624"],
        backward: &["y = 0.0", "v = [1.0, 2.0, 3.0, 4.0]"],
    },
    Example {
        name: "orbit",
        set: &[],
        forward: &["p = [0.5178459556", "v = [-0.8022810635"],
        backward: &["p = [1.0, 0.0]", "v = [0.0, 1.1]"],
    },
    Example {
        name: "orbit",
        set: &["n=0"],
        forward: &["p = [1.0, 0.0]", "v = [0.0, 1.1]"],
        backward: &["p = [1.0, 0.0]", "v = [0.0, 1.1]"],
    },
    Example { name: "network", set: &[], forward: &["loss = 0.69333950262005"], backward: &["loss = 0.0"] },
];

#[test]
fn forward_and_back_from_the_outputs() {
    for e in EXAMPLES {
        let file = format!("examples/{}.rasm", e.name);
        let mut args = vec!["run", &file];
        args.extend(e.set.iter().flat_map(|s| ["--set", s]));
        let forward = output(&args);
        for line in e.forward {
            assert!(forward.contains(line), "{file} {:?}: no `{line}` in\n{forward}", e.set);
        }
        // Backward: inputs that the run keeps are given again; everything else is what the forward run printed.
        let mut args = vec!["run".to_string(), "--reverse".to_string(), file.clone()];
        let printed: Vec<&str> = forward.lines().collect();
        let results = |name: &str| printed.iter().any(|l| l.split(" = ").next() == Some(name));
        for kept in e.set.iter().filter(|s| !results(s.split('=').next().unwrap_or(""))) {
            args.extend(["--set".to_string(), (*kept).to_string()]);
        }
        for line in printed {
            args.extend(["--set".to_string(), line.replacen(" = ", "=", 1)]);
        }
        // Registers are printed where they changed: ask for those too.
        let names: Vec<&str> = e.backward.iter().filter_map(|l| l.split(" = ").next()).collect();
        args.extend(["--show".to_string(), names.join(",")]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let backward = output(&args);
        for line in e.backward {
            assert!(backward.contains(line), "{file} --reverse: no `{line}` in\n{backward}");
        }
    }
}

#[test]
fn round_trips_restore_every_bit() {
    for e in EXAMPLES {
        let file = format!("examples/{}.rasm", e.name);
        let mut args = vec!["run", "--round-trip", &file];
        args.extend(e.set.iter().flat_map(|s| ["--set", s]));
        let text = output(&args);
        assert!(text.contains("the state was restored"), "{file}: {text}");
    }
}

#[test]
fn a_million_leapfrog_steps_come_back() {
    let text = output(&["run", "--round-trip", "examples/wave.rasm", "--set", "steps=1000000"]);
    // From an independent model in C with the same rounding.
    let model = [839_309_085i64, 1_318_877_250, 1_642_006_909].map(|w| w as f64 / 2f64.powi(32));
    let u: Vec<f64> = text
        .lines()
        .find_map(|l| l.strip_prefix("u = ["))
        .expect("u")
        .trim_end_matches(']')
        .split(", ")
        .map(|t| t.parse().expect("a number"))
        .collect();
    for (u, m) in u.iter().zip(model) {
        assert!((u - m).abs() < 2f64.powi(-33), "{u} {m}");
    }
    assert!(text.contains("the state was restored"));
}

/// Results that no input leads to, and inputs outside the domain, trap.
#[test]
fn impossible_inputs_trap() {
    for (args, code) in [
        (&["run", "--reverse", "examples/factorial.rasm", "--set", "x=100"][..], "P0103"),
        (&["run", "--reverse", "examples/factorial.rasm", "--set", "x=0"], "P0103"),
        (&["run", "examples/factorial.rasm", "--set", "x=21"], "P0102"),
        (&["run", "examples/fib.rasm", "--set", "n=0"], "P0102"),
        (&["run", "--reverse", "examples/isqrt.rasm", "--set", "rem=7", "--set", "root=3"], "P0106"),
        (&["run", "--reverse", "examples/gcd.rasm", "--set", "a=4", "--set", "b=6", "--set", "g=5"], "P0103"),
        (&["run", "examples/gcd.rasm", "--set", "a=-4"], "P0102"),
        (&["run", "examples/xtea.rasm", "--set", "v0=0x100000000"], "P0102"),
        (&["run", "examples/bennett.rasm", "--set", "k=1"], "P0102"),
        (&["run", "examples/bessel.rasm", "--set", "v=21"], "P0102"),
        (&["run", "examples/bessel-q.rasm", "--set", "z=0"], "P0102"),
        (&["run", "examples/power.rasm", "--set", "n=-1"], "P0102"),
        (&["run", "examples/orbit.rasm", "--set", "n=-1"], "P0102"),
        (&["run", "examples/orbit.rasm", "--set", "p=[0,0]"], "P0113"),
        (&["run", "examples/complex-log.rasm", "--set", "x=0", "--set", "y=0"], "P0114"),
    ] {
        let assert = pendula(args).assert().code(1);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(stderr.contains(&format!("error[{code}]")), "{args:?}: {stderr}");
    }
}

/// Every example is laid out canonically, has nothing to complain about, and survives a trip through an object and back.
#[test]
fn examples_are_tidy_and_reassemble() {
    let folder = std::env::temp_dir().join(format!("pendula-examples-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let names: std::collections::BTreeSet<&str> = EXAMPLES.iter().map(|e| e.name).collect();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).expect("examples");
    let there = files.filter(|f| f.as_ref().is_ok_and(|f| f.path().extension().is_some_and(|e| e == "rasm"))).count();
    assert_eq!(there, names.len(), "an example has no test");
    for name in names {
        let file = format!("examples/{name}.rasm");
        pendula(&["fmt", "--check", &file]).assert().success();
        assert_eq!(output(&["check", &file]), format!("{file}: no problems found\n"));
        let path = |ending: &str| folder.join(format!("{name}{ending}")).display().to_string();
        let (first, text, second) = (path(".o"), path(".rasm"), path("2.o"));
        pendula(&["asm", &file, "-o", &first]).assert().success();
        pendula(&["disasm", &first, "-o", &text]).assert().success();
        pendula(&["asm", &text, "-o", &second]).assert().success();
        assert_eq!(output(&["run", &first]), output(&["run", &second]), "{name}");
        assert_eq!(output(&["disasm", &first]), output(&["disasm", &second]), "{name}");
        // The inverse program, run forward from the results, does what the program does backward.
        let results: Vec<String> =
            output(&["run", &first]).lines().flat_map(|l| ["--set".to_string(), l.replacen(" = ", "=", 1)]).collect();
        let results: Vec<&str> = results.iter().map(String::as_str).collect();
        let inverse = path("-inverse.rasm");
        pendula(&["invert", &first, "-o", &inverse]).assert().success();
        let by_inverse = output(&[&["run", "--round-trip", inverse.as_str()], &results[..]].concat());
        let backward = output(&[&["run", "--reverse", first.as_str()], &results[..]].concat());
        for line in by_inverse.lines().filter(|l| !l.starts_with("round trip")) {
            assert!(backward.contains(line), "{name}: `{line}` by the inverse, backward:\n{backward}");
        }
        assert!(by_inverse.contains("restored"), "{name}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Apart from the line table, which says where the text was, an object comes back to the byte from its disassembly.
#[test]
fn disassembly_reassembles_to_the_same_bytes() {
    use pendula::asm::{assemble::assemble, disasm, object};
    let mut texts = vec!["main: start\na:b: inc r1\n finish\n .data\ny: .word 1\n .text\n proc f\nl: dec r1\n ret f\n .data\nx: .fixed 2\n .import x\n".to_string()];
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).expect("examples") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|e| e == "rasm") {
            texts.push(std::fs::read_to_string(path).expect("text"));
        }
    }
    let bytes = |text: &str| {
        let assembly = assemble("p.rasm", text.to_string(), &Default::default());
        let mut module = assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
        (module.locs, module.files) = (Vec::new(), Vec::new());
        let bytes = object::write(&module).expect("an object");
        (module, bytes)
    };
    for text in texts {
        let (module, first) = bytes(&text);
        let (_, second) = bytes(&disasm::disassemble(&module));
        // Jumps whose partner had no label get one.
        let (named, third) = bytes(&disasm::disassemble(&bytes(&disasm::disassemble(&module)).0));
        assert_eq!(second, third, "{text}");
        if named.symbols.len() == module.symbols.len() {
            assert_eq!(first, second, "{text}");
        }
    }
}
