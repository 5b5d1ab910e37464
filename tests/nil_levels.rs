//! The share of uncomputing in programs in Nil: the levels that `docs/src/energy.md` compares with those of papers are the ones measured here.
//! The ways to compile a routine (to undo it, to erase it, to choose by the energy model) differ in nothing but their cost.

use crate::common::{command, folder};
use pendula_isa::sample;

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A program, and what it runs on.
struct Workload {
    /// As in the table of the book.
    name: &'static str,
    file: &'static str,
    /// Arguments, or where they stand.
    args: Args,
    /// Between which values its level lies for the reasons that the book gives; the papers' is about `papers`.
    level: (f64, f64),
    papers: f64,
    /// Data that the run changes.
    results: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum Args {
    Given(&'static str),
    File(&'static str),
}

const WORKLOADS: &[Workload] = &[
    Workload {
        name: "sparse-dot.nil",
        file: "examples/sparse-dot.nil",
        args: Args::File("tests/data/sparse-dot.args"),
        level: (0.0, 0.8),
        papers: 0.0,
        results: &["r"],
    },
    Workload {
        name: "gmm.nil",
        file: "benches/workloads/gmm.nil",
        args: Args::File("tests/data/gmm.args"),
        level: (0.9, 1.5),
        papers: 1.0,
        results: &["loss!"],
    },
    Workload {
        name: "bessel.nil",
        file: "examples/bessel.nil",
        args: Args::Given("0.0,2,1.0"),
        level: (1.5, 2.3),
        papers: 2.0,
        results: &["out!"],
    },
    Workload {
        name: "ba.nil",
        file: "benches/workloads/ba.nil",
        args: Args::File("tests/data/ba.args"),
        level: (1.2, 2.2),
        papers: 2.0,
        results: &["err!", "werr!"],
    },
];

fn pendula(args: &[&str]) -> (i32, String, String) {
    command::run(args, "")
}

fn json(args: &[&str]) -> Value {
    let (code, out, err) = pendula(args);
    assert_eq!(code, 0, "{args:?}: {err}");
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}: {out}"))
}

impl Workload {
    fn args(&self) -> String {
        match self.args {
            Args::Given(text) => text.to_string(),
            Args::File(path) => {
                let text = fs::read_to_string(format!("{ROOT}/{path}")).unwrap_or_else(|e| panic!("{path}: {e}"));
                text.trim().to_string()
            }
        }
    }

    /// A command's JSON.
    fn json(&self, command: &str, more: &[&str]) -> Value {
        let args = self.args();
        json(&[&[command, self.file, "--json", "--args", args.as_str()], more].concat())
    }

    fn run(&self, more: &[&str]) -> Run {
        Run::of(&self.json("run", &[&["--stats"], more].concat()))
    }
}

/// The state after a run, and what the run cost.
#[derive(Debug, PartialEq)]
struct Run {
    /// Values by name, as text.
    values: BTreeMap<String, String>,
    instructions: u64,
    lost: u64,
}

impl Run {
    fn of(report: &Value) -> Run {
        let stats = &report["stats"];
        let number = |v: &Value| v.as_u64().unwrap_or_else(|| panic!("{v} in {stats}"));
        let values = report["values"].as_object().expect("values");
        Run {
            values: values.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
            instructions: number(&stats["instructions"]),
            lost: number(&stats["lost_bits"]),
        }
    }
}

impl Run {
    /// The results are the same, and so is what the program only reads.
    fn has_values_of(&self, other: &Run, w: &Workload, what: &str) {
        for name in w.results {
            assert_eq!(self.values[*name], other.values[*name], "{} {what}: {name}", w.name);
        }
        assert!(self.values == other.values, "{} {what}: an argument has changed", w.name);
    }
}

/// The row of a program in the table of compiled programs: paired, attributed, instructions undone and erased, and their level.
fn book(name: &str) -> Vec<String> {
    let page = fs::read_to_string(format!("{ROOT}/docs/src/energy.md")).expect("the page");
    let start = format!("| `{name}` |");
    let row = page.lines().find(|l| l.starts_with(&start)).unwrap_or_else(|| panic!("no row for {name}"));
    row.split('|').skip(2).take(5).map(|cell| cell.trim().to_string()).collect()
}

#[test]
fn levels_are_those_in_the_book() {
    let mut wrong = String::new();
    for w in sample::some(WORKLOADS) {
        let all = &w.json("level", &[])["all"];
        let [paired, attributed] = ["paired", "attributed"].map(|k| all[k].as_f64().expect("a level"));
        let [always, never] = ["always", "never"].map(|u| w.run(&["--uncompute", u]).instructions);
        assert_eq!(Some(always), all["total"].as_u64(), "{}", w.name);
        let erased = (always as f64 / never as f64).log2();
        let found = [
            format!("{paired:.2}"),
            format!("{attributed:.2}"),
            always.to_string(),
            never.to_string(),
            format!("{erased:.2}"),
        ];
        if book(w.name) != found {
            wrong += &format!("| `{}` | {} |\n", w.name, found.join(" | "));
        }
    }
    assert!(wrong.is_empty(), "docs/src/energy.md should say\n{wrong}");
}

/// The papers' order, and their values but for what the book gives reasons for.
#[test]
#[ignore = "takes ten seconds: part of .ci/full"]
fn levels_are_near_the_papers() {
    for w in WORKLOADS {
        let all = &w.json("level", &[])["all"];
        let [paired, attributed] = ["paired", "attributed"].map(|k| all[k].as_f64().expect("a level"));
        let (low, high) = w.level;
        assert!((low..=high).contains(&paired), "{}: {paired}, {} in the papers", w.name, w.papers);
        assert!((paired..=high).contains(&attributed), "{}: {paired}, {attributed}", w.name);
        // What undoes is at least as much as levels 1 and 2 make of it, and less at level 0, where the second pass clears the first one's record.
        let share = all["uncompute"].as_f64().expect("a count") / all["total"].as_f64().expect("a count");
        assert!(if w.papers == 0.0 { share < 0.35 } else { share > 0.4 }, "{}: {share} is uncomputing", w.name);
    }
}

#[test]
#[ignore = "ten seconds long: .ci/full"]
fn erasing_gives_the_same_results() {
    for w in WORKLOADS {
        for level in ["-O0", "-O1", "-O2"] {
            let always = w.run(&[level, "--uncompute", "always"]);
            let never = w.run(&[level, "--uncompute", "never"]);
            never.has_values_of(&always, w, &format!("{level} never"));
            assert!(never.instructions < always.instructions, "{} {level}: {never:?}", w.name);
            assert!(never.lost > always.lost, "{} {level}: {} bits lost, not more", w.name, never.lost);
            // One at each level, the others where most is optimised.
            let technologies = ["landauer", "acmos22-fdsoi", "cmos45"];
            for tech in if level == "-O2" { &technologies[..] } else { &technologies[..1] } {
                let auto = w.run(&[level, "--uncompute", "auto", "--auto-tech", tech]);
                auto.has_values_of(&always, w, &format!("{level} auto {tech}"));
            }
        }
    }
}

#[test]
fn what_erases_cannot_run_backward() {
    for w in WORKLOADS {
        let loss = format!("{}[0]", w.results[0]);
        let ways: [(&str, &[&str]); 4] = [
            ("run", &["--reverse"]),
            ("run", &["--round-trip"]),
            ("grad", &["--loss", &loss]),
            ("energy", &["--round-trip"]),
        ];
        let args = w.args();
        let given = ["--args", args.as_str()];
        let text = |u| pendula(&[&["compile", w.file, "--uncompute", u], &given[..]].concat()).1;
        assert!(text("never").lines().any(|l| l.trim() == ".irreversible"), "{}", w.name);
        assert!(!text("always").contains(".irreversible"), "{}", w.name);
        for (command, more) in ways {
            let (code, out, err) = pendula(&[&[command, w.file, "--uncompute", "never"], more, &given[..]].concat());
            assert_eq!(code, 1, "{} {command} {more:?}: {out}{err}", w.name);
            assert!(err.contains("error[P0143]: ") && err.contains("cannot run backward"), "{err}");
            assert!(err.contains("was compiled with `--uncompute never` or `auto`"), "{err}");
            assert!(err.contains("compile it with `--uncompute always`") && !err.contains(".irreversible"), "{err}");
            assert!(out.is_empty(), "{out}");
        }
    }
}

/// Nothing is erased where computing costs nothing, and all where erasing costs next to nothing.
#[test]
#[ignore = "takes a quarter of a minute: part of .ci/full"]
fn auto_chooses_by_the_technology() {
    for w in WORKLOADS {
        let [always, never] = ["always", "never"].map(|u| w.run(&["--uncompute", u]));
        let [free, dear] = ["landauer", "cmos45"].map(|t| w.run(&["--uncompute", "auto", "--auto-tech", t]));
        assert_eq!(free, always, "{}: computing costs nothing", w.name);
        assert_eq!(dear, never, "{}: erasing costs next to nothing", w.name);
    }
}

/// A technology between the two, by which it is cheaper to undo a division than to erase its word, and to erase a sum of exponentials than
/// to undo it.
#[test]
fn auto_chooses_routine_by_routine() {
    let folder = folder("nil-levels-run");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file to write");
        path.to_str().expect("UTF-8").to_string()
    };
    let program = "@i function f(y!::T, x::T) where T
    @routine begin
        s ← zero(T)
        for i = 1:100
            s += exp(x / i)
        end
    end
    y! += s
    ~@routine
end
";
    let technology = r#"name = "between"

[operation_joule]
source = "made up"
int32_add = 0.1e-15
int32_mul = 3.1e-15
fp32_add = 0.9e-15
fp32_mul = 3.7e-15
level_second = 1e-12
leakage_ratio = 0.0
clock_tree_ratio = 0.0

[link]
source = "made up"
joule_per_bit = 0.0

[conditions]
source = "made up"
temperature_kelvin = 300.0

[erasure]
source = "made up"
landauer_factor = LANDAUER
overwrite_ratio = 1.0
"#;
    let program = write("exponentials.nil", program);
    let run = |more: &[&str]| {
        Run::of(&json(&[&["run", &program, "--args", "0.0,1.0", "--json", "--stats", "--uncompute"], more].concat()))
    };
    let by = |name: &str, factor: &str| {
        let path = write(name, &technology.replace("LANDAUER", factor));
        run(&["auto", "--auto-tech", &path])
    };
    let (always, never) = (run(&["always"]), run(&["never"]));
    let between = by("between.toml", "3e5");
    assert_eq!(between.values, always.values);
    assert!(never.instructions < between.instructions && between.instructions < always.instructions, "{between:?}");
    assert!(always.lost < never.lost && between.lost < never.lost, "{between:?}");
    // The same prices of computing, with erasing dearer or cheaper.
    assert_eq!(by("dear.toml", "1e9"), always);
    assert_eq!(by("cheap.toml", "1.0"), never);
}

fn written(name: &str, text: &str) -> String {
    let path = folder("nil-levels").join(name);
    fs::write(&path, text).expect("a file to write");
    path.to_str().expect("UTF-8").to_string()
}

/// The routine in which a procedure is called is undone by running that backward.
const CALLS: &str = "@i function heavy!(s!::T, x::T) where T
    for i = 1:100
        s! += exp(x / i)
    end
end
@i function f(y!::T, x::T) where T
    @routine begin
        s ← zero(T)
        heavy!(s, x)
    end
    y! += s
    ~@routine
end
";

/// A procedure that calls itself in a routine.
const RECURSIVE: &str = "@i function g(y!::Float64, x::Float64, n::Int)
    @routine begin
        s ← zero(Float64)
        if (n > 0, ~)
            g(s, x, n - 1)
        end
    end
    y! += s + x
    ~@routine
end
";

#[test]
fn undoing_a_call_is_priced_with_what_it_runs() {
    let routines = |file: &str, args: &str, more: &[&str]| {
        let report = json(&[&["energy", file, "--args", args, "--tech", "cmos45", "--json"], more].concat());
        report["technologies"][0]["routines"].as_array().expect("routines").clone()
    };
    // Of `f`, and not what it calls undoes within.
    let of_f = |all: Vec<Value>| {
        all.into_iter().filter(|r| r["routine"].as_str().is_some_and(|n| n.starts_with("f."))).collect::<Vec<_>>()
    };
    let joules = |routine: &Value, key: &str| routine[key].as_f64().expect("joules");
    let calls = written("calls.nil", CALLS);
    let called = of_f(routines(&calls, "0.0,1.0", &["--passes=-inline"]));
    let inlined = of_f(routines(&calls, "0.0,1.0", &["--passes=inline"]));
    let [called] = &called[..] else { panic!("one routine: {called:?}") };
    let [inlined] = &inlined[..] else { panic!("one routine: {inlined:?}") };
    assert_eq!((called["calls"].as_bool(), inlined["calls"].as_bool()), (Some(true), Some(false)));
    assert_eq!((called["unknown_calls"].as_bool(), called["times"].as_u64()), (Some(false), Some(1)));
    let ratio = joules(called, "uncompute") / joules(inlined, "uncompute");
    assert!((1.0..1.1).contains(&ratio), "{ratio}: the same work, and a call");
    assert!(joules(called, "uncompute_without_calls") < 0.1 * joules(called, "uncompute"), "{called}");
    assert_eq!(inlined["uncompute_without_calls"], inlined["uncompute"]);
    // Of what calls itself nothing is counted twice: all undoings together cost no more than the whole run.
    let recursive = written("recursive.nil", RECURSIVE);
    let report = json(&["energy", &recursive, "--args", "0.0,1.0,5", "--tech", "cmos45", "--json"]);
    let total = report["technologies"][0]["total"]["total"].as_f64().expect("joules");
    let routines = routines(&recursive, "0.0,1.0,5", &[]);
    let sum: f64 = routines.iter().map(|r| joules(r, "uncompute")).sum();
    assert!(!routines.is_empty() && sum > 0.0 && sum < total, "{sum} of {total}");
}

/// The run that measures is the run that is asked for: it takes no more steps, and reads what it is given.
#[test]
fn auto_measures_the_run_that_is_asked_for() {
    let calls = written("measured.nil", CALLS);
    let auto = ["run", &calls, "--args", "0.0,1.0", "--uncompute", "auto", "--auto-tech", "cmos45"];
    let (code, _, err) = pendula(&[&auto[..], &["--max-steps", "50"]].concat());
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("takes more instructions than --max-steps 50"), "{err}");
    let (code, out, err) = pendula(&[&auto[..], &["--max-steps", "100000"]].concat());
    assert!(code == 0 && out.starts_with("y! = "), "{out}{err}");
    // A number that is set is that of the measuring run, too: with it the program stops.
    let stops = written(
        "stops.nil",
        "@i function f(y!::Float64, n::Int)\n    @safe @assert n < 5 \"below 5\"\n    @routine begin\n        s ← zero(Float64)\n        s += 2.0\n    end\n    y! += s\n    ~@routine\nend\n",
    );
    let given = ["run", &stops, "--args", "0.0,1", "--uncompute", "auto"];
    assert_eq!(pendula(&given).0, 0);
    let (code, _, err) = pendula(&[&given[..], &["--set", "n=9"]].concat());
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--uncompute auto: the run that measures what undoing costs did not end"), "{err}");
}
