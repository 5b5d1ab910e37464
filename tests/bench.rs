//! `pendula bench`: what it checks, what it prints, and what it says when something is missing. The tests judge no times.

use std::path::Path;

use assert_cmd::Command;
use pendula_isa::sample;
use serde_json::Value;

fn pendula(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("pendula").expect("the program");
    command.arg("bench").args(args).env("PENDULA_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-cache"));
    command
}

fn json(command: &mut Command) -> Value {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// An engine of this build.
const ENGINE: &str = if cfg!(feature = "jit") { "jit" } else { "interp" };

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The comparison of this name.
fn check<'a>(of: &'a Value, what: &str) -> &'a Value {
    let all = of["checks"].as_array().expect("checks");
    all.iter().find(|c| c["what"] == what).unwrap_or_else(|| panic!("no {what}: {all:?}"))
}

#[test]
fn results_are_checked_and_timed() {
    let found = json(&mut pendula(&["--quick", "--repeat", "1", "norm", "complex-log", "--engine", ENGINE, "--json"]));
    assert_eq!((&found["schema"], &found["right"]), (&"pendula.bench/1".into(), &true.into()));
    let cases = found["cases"].as_array().expect("cases");
    assert_eq!(cases.iter().map(|c| c["name"].as_str().expect("a name")).collect::<Vec<_>>(), ["norm", "complex-log"]);
    for case in cases {
        let [engine] = &case["engines"].as_array().expect("engines")[..] else { panic!("one engine: {case}") };
        assert_eq!(engine["engine"], ENGINE);
        for kind in ["forward", "backward", "gradient"] {
            let time = &engine[kind];
            assert!(number(&time["seconds"]) > 0.0, "{kind}: {time}");
            assert!(number(&time["over_objective"]) > 0.0, "{kind}: {time}");
            assert!(number(&time["over_objective_without_contraction"]) > 0.0, "{kind}: {time}");
        }
        // By each compiler in both ways.
        for kind in ["objectives", "hand_written_gradients"] {
            let functions = case[kind].as_array().expect("functions");
            assert!(
                functions.iter().all(|f| number(&f["seconds"]) > 0.0 && f["compiler"].is_string()),
                "{functions:?}"
            );
            let options: Vec<_> = functions.iter().map(|f| f["options"].as_str().expect("options")).collect();
            let ways = ["-O3 -march=native", "-O3 -march=native -ffp-contract=off"];
            assert!(!options.is_empty() && options.chunks(2).all(|two| two == ways), "{options:?}");
        }
        // The ratio is to the faster one.
        let over = |what: &str| number(&engine["gradient"][format!("over_hand_written{what}").as_str()]);
        assert_eq!(over(""), over("_with_contraction").max(over("_without_contraction")), "{engine}");
        let mut names =
            vec!["value, published", "gradient, published", "value, C", "gradient, C", "gradient, differences of C"];
        names.extend(cfg!(target_os = "linux").then_some("peak memory, gradient over forward"));
        for what in names {
            assert_eq!(check(engine, what)["met"], true, "{what}");
        }
    }
    // The length of the vector, and how many instructions the program takes.
    let norm = &cases[0]["engines"][0];
    let value = check(norm, "value, published");
    assert!((number(&value["found"]) - 18.167_729_648_345_1).abs() < 1e-12, "{value}");
    let (forward, gradient) = (number(&norm["instructions"]["forward"]), number(&norm["instructions"]["gradient"]));
    assert!(forward > 5000.0 && gradient >= 2.0 * forward, "{forward}, {gradient}");
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn every_number_of_interest_is_there() {
    // Second derivatives, the sparse Jacobian, the way back bit by bit.
    let found = json(&mut pendula(&[
        "--quick",
        "--repeat",
        "1",
        "embedding-5",
        "leapfrog-q",
        "ba",
        "--engine",
        ENGINE,
        "--json",
    ]));
    assert_eq!(found["right"], true, "{found:#}");
    let engine = |name: &str| {
        let cases = found["cases"].as_array().expect("cases");
        &cases.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("no {name}"))["engines"][0]
    };
    let hessian = check(engine("embedding-5"), "Hessian, published");
    assert!((number(&hessian["found"]) - 0.449_041_500_453_989_6).abs() < 1e-10, "{hessian}");
    assert!(number(&engine("embedding-5")["hessian"]["seconds"]) > 0.0);
    assert!(number(&engine("ba")["jacobian"]["seconds"]) > 0.0);
    let rows = engine("ba")["checks"].as_array().expect("checks").iter().filter(|c| c["what"] == "Jacobian, published");
    assert_eq!(rows.count(), 2);
    assert_eq!(check(engine("leapfrog-q"), "every bit comes back")["met"], true);
    assert!(engine("leapfrog-q")["gradient"].is_null());
}

/// Those of which nothing is published, but whose gradients in C and differences are compared.
#[test]
fn gradients_written_by_hand_agree() {
    const NAMES: [&str; 10] = [
        "logsumexp-1000",
        "k-means",
        "least-squares",
        "logistic",
        "lstm",
        "attention",
        "matmul",
        "brusselator",
        "determinant",
        "unitary",
    ];
    let names: Vec<&str> = sample::some(NAMES).collect();
    let call = [&["--quick", "--repeat", "1", "--engine", ENGINE, "--json"], &names[..]].concat();
    let found = json(&mut pendula(&call));
    assert_eq!(found["right"], true, "{found:#}");
    let cases = found["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), names.len());
    for case in cases {
        let of_c = case["checks"].as_array().expect("checks");
        let differences = of_c.iter().filter(|c| c["what"].as_str().is_some_and(|w| w.ends_with("differences of C")));
        assert!(differences.count() >= 2, "{case:#}");
        for what in ["value, C", "gradient, C", "gradient, differences of C"] {
            assert_eq!(check(&case["engines"][0], what)["met"], true, "{what}");
        }
    }
}

#[test]
fn sizes_are_compared() {
    let found =
        json(&mut pendula(&["--scale", "--quick", "--repeat", "1", "norm", "bessel", "--engine", ENGINE, "--json"]));
    assert_eq!(found["right"], true, "{found:#}");
    let scaling = found["scaling"].as_array().expect("a list");
    // There is but one size of a Bessel function.
    assert_eq!(scaling.len(), 1);
    assert_eq!(scaling[0]["elements"], serde_json::json!([1000, 4000, 16_000]));
    let times = scaling[0]["times"].as_array().expect("times");
    let lines: Vec<_> = times.iter().map(|t| format!("{} {}", t["by"], t["what"]).replace('"', "")).collect();
    assert_eq!(
        lines,
        ["C O".to_string(), "C H".to_string(), format!("{ENGINE} F"), format!("{ENGINE} U"), format!("{ENGINE} G")]
    );
    assert!(times.iter().all(|t| t["seconds_an_element"].as_array().is_some_and(|s| s.len() == 3)));
}

#[test]
fn tables() {
    let text = |args: &[&str]| {
        let output = pendula(args).args(["--engine", ENGINE]).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let markdown = text(&["--quick", "--repeat", "1", "complex-log", "--markdown"]);
    let rows: Vec<&str> = markdown.lines().filter(|l| l.starts_with('|')).collect();
    // Times, then instructions and memory.
    assert_eq!(rows.len(), 6, "{markdown}");
    assert!(rows[0].contains("| H | H off | F/O | U/O | G/O | G/H |"), "{markdown}");
    let columns = |row: &str| row.matches('|').count();
    for table in rows.chunks(3) {
        assert!(table.iter().all(|row| columns(row) == columns(table[0])), "{markdown}");
    }
    assert!(rows[2].starts_with("| complex-log |") && rows[2].ends_with("| met |"), "{markdown}");
    assert!(rows[3].contains("instructions F") && rows[5].ends_with("| 3 + 4i |"), "{markdown}");
    let plain = text(&["--quick", "--repeat", "1", "complex-log"]);
    assert!(plain.contains("one round") && plain.contains("O: the objective in C"), "{plain}");
    let scaling = text(&["--quick", "--scale", "--repeat", "1", "norm"]);
    assert!(scaling.contains("16 times") && scaling.contains("Time for an element"), "{scaling}");
}

#[test]
fn workloads_are_listed_and_unknown_ones_refused() {
    let output = pendula(&["--list"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    for name in ["bessel", "embedding-10", "gmm-d2", "sparse-matvec", "unitary"] {
        assert!(text.lines().any(|l| l.starts_with(name)), "{name}: {text}");
    }
    let listed = json(&mut pendula(&["--list", "--json", "gmm", "ba"]));
    let names: Vec<_> = listed["cases"].as_array().expect("cases").iter().map(|c| c["name"].clone()).collect();
    assert_eq!(names, ["gmm-d10", "gmm-d2", "ba"]);
    let output = pendula(&["norm", "fractal"]).output().expect("it runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{complaint}");
    assert!(complaint.contains("there is no workload `fractal`") && complaint.contains("sparse-dot"), "{complaint}");
}

#[test]
fn without_a_compiler_there_are_times_but_no_ratios() {
    let output = pendula(&["--quick", "--repeat", "1", "complex-log", "--engine", ENGINE, "--json"])
        .env("CC", "/nonexistent")
        .output();
    let output = output.expect("it runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    assert!(complaint.contains("no C compiler was found (/nonexistent)"), "{complaint}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(found["surroundings"]["compiler"].is_null());
    let case = &found["cases"][0];
    assert_eq!(case["objectives"], serde_json::json!([]));
    assert_eq!(case["hand_written_gradients"], serde_json::json!([]));
    let engine = &case["engines"][0];
    assert!(number(&engine["forward"]["seconds"]) > 0.0 && engine["forward"]["over_objective"].is_null());
    assert_eq!(check(engine, "value, published")["met"], true);
}
