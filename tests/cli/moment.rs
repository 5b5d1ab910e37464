//! How far a compiled program has come in its source when it is stopped: the report names each point of the source once, in order, and it
//! agrees with the machine.

use std::collections::HashMap;

use pendula_isa::sample;
use serde_json::Value;

use super::{folder, json, run};

/// What is told at a limit: way, line, how often it has run before, and the calls with their variables.
type StopPoint = (String, Option<u64>, u64, String);

fn moment(args: &[&str], limit: u64) -> Option<StopPoint> {
    let limit = limit.to_string();
    let (code, value) = json(&[args, &["--json", "--max-steps", &limit]].concat(), "");
    let outcome = &value["outcome"];
    assert_eq!((code, &outcome["kind"]), (1, &"limit".into()), "{args:?} {limit}");
    let (way, stop) = (outcome["direction"].as_str().expect("a direction"), &outcome["stop"]);
    let reached = stop["reached"].as_object()?;
    assert_eq!(reached["of"], Value::Null, "{args:?} {limit}: all of it has been run once more");
    let runs = reached["runs_before"].as_u64().expect("a number");
    Some((way.to_string(), reached["line"].as_u64(), runs, stop["calls"].to_string()))
}

fn steps(args: &[&str]) -> u64 {
    let (code, value) = json(&[args, &["--json", "--stats"]].concat(), "");
    assert_eq!(code, 0, "{args:?}");
    value["stats"]["instructions"].as_u64().expect("a number")
}

/// The moments of limits that follow one another, which must be in the source's order: a moment that was left does not come again, and no line has run less often
/// than at a lower limit. How many limits there are of which nothing is known.
fn in_order(args: &[&str], limits: std::ops::Range<u64>) -> u64 {
    let (mut unknown, mut seen, mut runs) = (0, Vec::<StopPoint>::new(), HashMap::new());
    for limit in limits {
        let Some(now) = moment(args, limit) else {
            unknown += 1;
            continue;
        };
        if seen.last() != Some(&now) {
            assert!(!seen.contains(&now), "{args:?} {limit}: {now:?} comes again");
            let (way, line, before, _) = &now;
            let last = runs.insert((way.clone(), *line), *before).unwrap_or(0);
            assert!(last <= *before, "{args:?} {limit}: line {line:?} had run {last} times, now {before}");
            seen.push(now);
        }
    }
    unknown
}

#[test]
fn moments_are_told_in_the_order_of_the_source() {
    let whole: [&[&str]; 5] = [
        &["run", "examples/fib.ja", "--set", "n=3"],
        &["run", "examples/fib.ja", "--set", "n=3", "-O0", "--round-trip"],
        &["run", "examples/power.nil", "--args", "0.0,1.02,3", "--round-trip"],
        &["run", "examples/factorial.nil", "--args", "0,5", "-O2"],
        &["run", "tests/filetests/janus/programs/soft.ja", "--round-trip"],
    ];
    for args in sample::some(whole) {
        assert_eq!(in_order(args, 0..steps(args)), 0, "{args:?}: not known");
    }
    // Statements that share what they compute, are left out, inlined, or run within what is undone.
    for name in sample::some(["kmp", "xtea", "sized", "bsearch"]) {
        let path = format!("tests/filetests/janus/programs/{name}.ja");
        let args = ["run", path.as_str(), "-O2", "--round-trip"];
        let all = steps(&args);
        for first in [all / 3, all - 24] {
            let unknown = in_order(&args, first..first + 12);
            assert_eq!(unknown, 0, "{args:?} from {first}: not known");
        }
    }
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn at_a_limit_the_variables_are_those_of_the_machine() {
    // What a program has shown says how far the machine has come, whatever is told of it.
    let folder = folder("moments");
    let path = folder.join("squares.ja");
    let text = "procedure main()\n    int n\n    int square\n    from n = 0 loop\n        square += 2 * n + 1\n        n += 1\n        \
                call tell(square)\n    until n = 12\n\nprocedure tell(int value)\n    printf(\"%d\", value)\n";
    std::fs::write(&path, text).expect("written");
    let path = path.to_str().expect("UTF-8");
    for level in sample::in_turn(&["-O0", "-O1", "-O2"], 2) {
        for limit in 0..steps(&["run", path, level]) {
            let (_, out, err) = run(&["run", path, level, "--max-steps", &limit.to_string()], "");
            let squares = out.lines().filter_map(|line| line.parse::<i64>().ok()).collect::<Vec<_>>();
            let shown = squares.len() as i64;
            assert!(squares.iter().zip(1..).all(|(square, n): (&i64, i64)| *square == n * n), "{out}");
            let value = |name: &str| {
                let line = out.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
                line.unwrap_or_else(|| panic!("{limit}: {out}{err}")).parse::<i64>().expect("a number")
            };
            let (n, square) = (value("n"), value("square"));
            assert!((shown..=shown + 1).contains(&n), "{level} {limit}: {out}");
            assert!(square == n * n || square == (n + 1) * (n + 1), "{level} {limit}: {out}");
        }
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn nothing_is_told_where_passes_have_changed_what_runs() {
    let folder = folder("changed");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_string()
    };
    // A call and its undoing cancel each other: a line runs a third as often, in another place.
    let cancelled = write(
        "cancelled.ja",
        "procedure inc(int x)\n    x += 1\n\nprocedure main()\n    int a\n    int i\n    from i = 0 loop\n        call inc(a)\n        \
         uncall inc(a)\n        call inc(i)\n    until i = 10\n",
    );
    // What two calls compute is computed once.
    let shared = write(
        "shared.nil",
        "@i function square(t!::Int, x::Int)\n    t! += x * x\nend\n@i function add(y!::Int, x::Int)\n    @routine begin\n        t ← 0\n        \
         square(t, x)\n    end\n    y! += t\n    ~@routine\nend\n@i function main(y!::Int, z!::Int, w!::Int, a::Int, b::Int)\n    add(y!, a)\n    \
         add(z!, a)\n    add(w!, b)\n    add(w!, a)\nend\n",
    );
    for args in [&["run", cancelled.as_str()][..], &["run", shared.as_str(), "--args", "0,0,0,3,10"]] {
        let plain = [args, &["-O0"]].concat();
        let first = if sample::all() { steps(&plain) } else { steps(&plain).min(40) };
        assert_eq!(in_order(&plain, 0..first), 0, "{args:?}: -O0 keeps all statements");
        let improved = [args, &["-O2"]].concat();
        let unknown = in_order(&improved, 0..steps(&improved));
        assert!(unknown > 0, "{args:?}");
        let (_, out, _) = run(&[&improved[..], &["--max-steps", "12"]].concat(), "");
        assert!(out.contains("with what values is not known") && out.contains("`-O0` keeps each"), "{out}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn gradients_are_told_where_what_is_undone_runs_forward() {
    let args = ["grad", "examples/bennett.nil", "--args", "0.0,0,0,1.0,2,2", "--loss", "y!", "-O0"];
    let all = steps(&args);
    for first in [all / 2, all - 40] {
        assert_eq!(in_order(&args, first..first + 20), 0, "from {first}: not known");
    }
}

#[test]
fn both_ends_of_a_round_trip_are_told_apart() {
    let last = |args: &[&str], limit: u64| {
        let (_, out, _) = run(&[args, &["--max-steps", &limit.to_string()]].concat(), "");
        let said = out.lines().find(|line| line.starts_with("stopped after ")).map(str::to_string);
        said.unwrap_or_else(|| panic!("{out}"))
    };
    let args = ["run", "examples/fib.ja", "--set", "n=3"];
    let there = steps(&args);
    assert!(last(&args, there - 1).ends_with("on the way forward, at the end of the program, with:"));
    let both = [&args[..], &["--round-trip"]].concat();
    assert!(last(&both, 2 * there - 1).ends_with("on the way backward, back at its beginning, with:"));
    let turned = last(&both, there + there / 2);
    assert!(turned.contains("on the way backward, before ") && turned.contains(" since it turned, with:"), "{turned}");
}

/// The run of a few instructions before a trap is not told as that trap; and statements in one line are told apart.
#[test]
fn what_is_wrong_with_the_next_statement_is_not_told_yet() {
    let folder = folder("moment-next");
    let file = folder.join("f.nil");
    let text =
        "@i function f(y, x)\n    if (x > 0, y > 2)\n        y += x; x -= 1\n    else\n        y -= 1\n    end\nend\n";
    std::fs::write(&file, text).expect("written");
    let args = ["run", file.to_str().expect("UTF-8"), "--args", "0,1", "-O0"];
    let (code, whole) = json(&[&args[..], &["--json"]].concat(), "");
    assert_eq!((code, &whole["outcome"]["kind"]), (1, &"trap".into()));
    let (mut within, mut second) = (0, 0);
    for limit in 1.. {
        let limit = limit.to_string();
        let (_, value) = json(&[&args[..], &["--json", "--max-steps", &limit]].concat(), "");
        let outcome = &value["outcome"];
        if outcome["kind"] == "trap" {
            break;
        }
        let (stop, reached) = (&outcome["stop"], &outcome["stop"]["reached"]);
        assert_eq!((&stop["code"], &stop["message"]), (&Value::Null, &Value::Null), "{limit}");
        assert!(reached["line"].is_u64(), "{limit}: {stop}");
        let (_, out, _) = run(&[&args[..], &["--max-steps", &limit]].concat(), "");
        if reached["runs_before"].is_null() {
            within += 1;
            assert_eq!(value["values"], serde_json::json!({ "y": 1, "x": 0 }), "{limit}");
            assert!(out.contains("f.nil:2, with:"), "{out}");
        } else if reached["column"] == 17 {
            second += 1;
            assert!(out.contains("before ") && out.contains("f.nil:3:17, which has not run yet"), "{out}");
        }
    }
    assert!(within > 0 && second > 0);
    std::fs::remove_dir_all(folder).expect("removed");
}
