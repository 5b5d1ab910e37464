//! Bills are computed again in Python, by formulas of its own, from what `pendula energy --netlists` writes.
//!
//! Without Python the test is left out, with a message; with `PENDULA_REQUIRE_PYTHON=1` in the environment, as in CI, it fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use pendula_isa::sample;
use serde_json::{Value, json};

const SCRIPT: &str = "hw-model/tests/recompute/recompute.py";

/// Programs, and the options of their bills: every discipline, gradients, what is left dirty, other voltages and temperatures.
const RUNS: &[(&str, &[&str])] = &[
    ("examples/fib.rasm", &["--tech", "landauer,cmos45,cmos7,resonant22,scald500,acmos22-pipelined,rqfp"]),
    ("examples/gcd.rasm", &["--tech", "acmos22-fdsoi,acmos180,aqfp,s2lal130", "--round-trip"]),
    ("examples/isqrt.rasm", &["--tech", "acmos32-bulk,nsquid,rql,cmos22", "--end", "erase"]),
    ("examples/rotations.rasm", &["--tech", "cmos3,acmos-lowleak,aqfp", "--grad", "--loss", "y"]),
    (
        "examples/xtea.rasm",
        &[
            "--tech",
            "acmos22-fdsoi,acmos22-pipelined",
            "--frequency",
            "3e6",
            "--voltage",
            "0.6",
            "--temperature",
            "350",
        ],
    ),
];

fn folder() -> PathBuf {
    let path = std::env::temp_dir().join(format!("pendula-recompute-{}", std::process::id()));
    fs::create_dir_all(&path).expect("a folder");
    path
}

fn python() -> bool {
    let there = Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success());
    let required = std::env::var_os("PENDULA_REQUIRE_PYTHON").is_some_and(|v| v == "1");
    assert!(there || !required, "PENDULA_REQUIRE_PYTHON=1, and there is no python3");
    if !there {
        eprintln!("left out: there is no python3");
    }
    there
}

/// The script's exit status and output.
fn recompute(files: &[PathBuf]) -> (Option<i32>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPT);
    let out = Command::new("python3").arg("-B").arg(script).args(files).output().expect("python3");
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    (out.status.code(), text)
}

fn price(file: &str, options: &[&str], out: &Path) {
    let mut command = Command::cargo_bin("pendula").expect("the binary");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["energy", file]).args(options).arg("--netlists").arg(out);
    let done = command.output().expect("a run");
    assert!(done.status.success(), "{file}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn bills_are_what_python_computes_from_netlists_and_counts() {
    if !python() {
        return;
    }
    let folder = folder();
    let mut files = Vec::new();
    let mut bills = 0;
    for (n, (file, options)) in sample::some(RUNS.iter().enumerate()) {
        let out = folder.join(format!("{n}.json"));
        price(file, options, &out);
        bills += options[1].split(',').count();
        files.push(out);
    }
    assert!(bills >= sample::share(10u64) as usize);
    let (status, text) = recompute(&files);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.ends_with(&format!("{bills} bills, 0 wrong\n")), "{text}");
    let circuits = |line: &str| line.rsplit(", ").next()?.split(' ').next()?.parse::<u64>().ok();
    // Gates are counted everywhere but where reversible operations are free.
    let without: Vec<&str> =
        text.lines().filter(|line| line.ends_with("counted") && circuits(line) == Some(0)).collect();
    assert!(without.iter().all(|line| line.contains(" on landauer:")), "{without:?}");

    // What is wrong is found: a figure by a part in a million, a count by one, a gate by one.
    let text = fs::read_to_string(&files[0]).expect("a file");
    let good: Value = serde_json::from_str(&text).expect("JSON");
    type Change = fn(&mut Value);
    let wrong: [(&str, Change); 3] = [
        ("figure", |bill| {
            let figure = &mut bill["figures"]["operation_joule.int32_add"]["nominal"];
            *figure = json!(figure.as_f64().expect("a number") * 1.000_001);
        }),
        ("count", |bill| {
            bill["counts"]["instructions"] = json!(bill["counts"]["instructions"].as_u64().expect("n") + 1)
        }),
        ("gate", |bill| {
            let units = bill["units"].as_array_mut().expect("units");
            let written = |unit: &&mut Value| !unit["forward_parts"].as_array().expect("parts").is_empty();
            let unit = units.iter_mut().find(written).expect("a unit that is written out");
            let nodes = unit["forward_parts"][0]["layout"]["network"]["nodes"].as_array_mut().expect("nodes");
            nodes.push(json!(["and", [2, 4]]));
        }),
    ];
    for (name, change) in wrong {
        let mut bad = good.clone();
        let bills = bad["bills"].as_array_mut().expect("bills");
        bills.retain(|bill| bill["technology"] == "cmos45");
        change(&mut bills[0]);
        let path = folder.join(format!("wrong-{name}.json"));
        fs::write(&path, bad.to_string()).expect("a file to write");
        let (status, text) = recompute(&[path]);
        assert!(status == Some(1) && text.ends_with("1 bills, 1 wrong\n"), "{name}: {text}");
    }
    let _ = fs::remove_dir_all(folder);
}
