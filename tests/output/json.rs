//! What `--json` prints, compared with the tables of the book's page on it, which is the only list of its keys.

use std::collections::BTreeMap;
use std::fs;

use pendula_isa::sample;
use serde_json::{Map, Value};

use super::{pendula, repository};
use crate::common::{builds_circuits, has_solver};

/// A row of a table: the key, the types that its value may have, and when it is there.
struct Key {
    name: String,
    types: Vec<String>,
    when: String,
}

/// The page: the keys of each form, and the kinds of outcomes.
struct Page {
    forms: BTreeMap<String, Vec<Key>>,
    kinds: Vec<String>,
}

/// The cells of a row of Markdown, without the marks of code and links.
fn cells(line: &str) -> Vec<String> {
    let plain = |cell: &str| {
        let mut out = String::new();
        let mut rest = cell;
        while let Some((before, after)) = rest.split_once("](") {
            out.push_str(before);
            rest = after.split_once(')').map_or("", |(_, rest)| rest);
        }
        out.push_str(rest);
        out.replace(['`', '['], "").trim().to_string()
    };
    line.trim_matches('|').split('|').map(plain).collect()
}

impl Page {
    fn read() -> Page {
        let text = fs::read_to_string(repository().join("docs/src/json.md")).expect("the page");
        let mut page = Page { forms: BTreeMap::new(), kinds: Vec::new() };
        let (mut form, mut of_keys) = (String::new(), false);
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix('#') {
                form = heading.trim_start_matches('#').trim().replace('`', "");
            } else if line.starts_with("| key |") {
                of_keys = true;
                page.forms.entry(form.clone()).or_default();
            } else if line.starts_with("| kind |") {
                of_keys = false;
            } else if line.starts_with("| `") {
                let cells = cells(line);
                if of_keys {
                    let types = cells[1].split(" or ").map(str::to_string).collect();
                    let key = Key { name: cells[0].clone(), types, when: cells[2].clone() };
                    page.forms.get_mut(&form).expect("a heading").push(key);
                } else {
                    page.kinds.push(cells[0].clone());
                }
            }
        }
        page
    }

    fn form(&self, name: &str) -> &[Key] {
        self.forms.get(name).unwrap_or_else(|| panic!("the page has no `{name}`"))
    }

    /// The errors in an answer.
    fn wrong(&self, answer: &Value) -> Vec<String> {
        let mut out = Vec::new();
        let schema = answer["schema"].as_str().unwrap_or("");
        let mut keys: Vec<&Key> = self.form("Every object").iter().collect();
        if schema != "pendula/1" {
            keys.extend(self.form(schema));
        }
        self.object(answer, &keys, schema, &mut out);
        out
    }

    fn object(&self, value: &Value, keys: &[&Key], place: &str, out: &mut Vec<String>) {
        let Some(object) = value.as_object() else { return out.push(format!("{place} is not an object: {value}")) };
        let kind = object.get("outcome").and_then(|o| o["kind"].as_str()).unwrap_or("");
        for key in keys {
            let wanted = match key.when.as_str() {
                "" => true,
                "if it ran" => !matches!(kind, "rejected" | "failed" | "refused"),
                "if it finished" => kind == "finished",
                _ => false,
            };
            match object.get(&key.name) {
                Some(value) => self.value(value, &key.types, &format!("{place}: {}", key.name), out),
                None if wanted => out.push(format!("{place} has no `{}`", key.name)),
                None => {}
            }
        }
        let unknown = object.keys().filter(|name| keys.iter().all(|key| key.name != **name));
        out.extend(unknown.map(|name| format!("{place} has `{name}`, of which the page says nothing")));
    }

    fn value(&self, value: &Value, types: &[String], place: &str, out: &mut Vec<String>) {
        let is = |ty: &&String| match ty.as_str() {
            "any" => true,
            "null" => value.is_null(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            list if list.starts_with("list") => value.is_array(),
            _ => value.is_object(),
        };
        let Some(ty) = types.iter().find(is) else { return out.push(format!("{place} is {value}, not {types:?}")) };
        match (ty.strip_prefix("list of "), value) {
            (Some(element), Value::Array(list)) => {
                list.iter().for_each(|one| self.value(one, &[element.to_string()], place, out));
            }
            (None, Value::Object(_)) if !matches!(ty.as_str(), "object" | "any") => {
                let mut keys: Vec<&Key> = self.form(ty).iter().collect();
                // An item has what a run alone has, too, and one file of several what one alone has.
                if let Some(alone) = ty.strip_suffix(".item").or_else(|| ty.strip_suffix(".file")) {
                    keys.extend(self.form(&format!("pendula.{alone}/1")));
                }
                self.object(value, &keys, place, out);
                if ty == "outcome" {
                    let kind = value["kind"].as_str().unwrap_or("");
                    if !self.kinds.iter().any(|k| k == kind) {
                        out.push(format!("{place}: the page has no kind `{kind}`"));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Calls with the exit status of each and the kind of its outcome.
const CALLS: &[(&[&str], i32, &str)] = &[
    (&["run", "examples/fib.rasm", "--round-trip", "--drift", "--stats"], 0, "finished"),
    (&["run", "tests/data/shows.rasm", "--hex"], 0, "finished"),
    (&["run", "examples/fib.pisa", "--show", "$1"], 0, "finished"),
    (&["run", "examples/fib.pisa"], 0, "finished"),
    (&["run", "examples/fib.ja"], 0, "finished"),
    (&["run", "examples/affine.nil", "--args", "zeros(2),ones(2,2),[0.5,0.5],1:2"], 0, "finished"),
    (&["run", "examples/factorial.rasm", "--set", "x=21"], 1, "trap"),
    (&["run", "examples/affine.nil", "--args", "zeros(3),ones(2,2),zeros(2),ones(2)"], 1, "trap"),
    (&["run", "examples/wave.rasm", "--max-steps", "10"], 1, "limit"),
    (&["run", "examples/fib.rasm", "--round-trip", "--max-steps", "100"], 1, "limit"),
    (&["run", "examples/power.nil", "--args", "0.0,1.02,1000", "--max-steps", "500"], 1, "limit"),
    (&["run", "examples/power.nil", "--args", "0.0,1.02,1000", "--round-trip", "--max-steps", "5000"], 1, "limit"),
    (&["grad", "examples/power.nil", "--args", "0.0,1.02,1000", "--max-steps", "500"], 1, "limit"),
    (&["run", "examples/fib.nil", "--args", "0"], 1, "rejected"),
    (&["run", "examples/none.rasm"], 2, "failed"),
    (&["run", "examples/fib.rasm", "--set", "m=1"], 2, "failed"),
    (&["run", "examples/affine.nil", "--args", "zeros(1000000000000)"], 2, "failed"),
    (&["run", "examples/fib.rasm", "--nonsense"], 2, "failed"),
    (&["run", "examples/fib.rasm", "--batch", "n=tests/data/items.csv", "--stats"], 0, "finished"),
    (&["run", "examples/factorial.rasm", "--batch", "x=BAD"], 2, "failed"),
    (&["run", "examples/factorial.rasm", "--batch", "x=LATE"], 2, "failed"),
    (&["run", "examples/factorial.rasm", "--batch", "x=TRAPS"], 1, "finished"),
    (&["grad", "examples/bessel.rasm", "--hessian", "--check", "--keep-dropped", "--drift", "--stats"], 0, "finished"),
    (&["grad", "examples/bessel.nil", "--args", "0.0,2,1.0"], 0, "finished"),
    (&["grad", "examples/bessel.rasm", "--hessian=sweep", "--check"], 0, "finished"),
    (&["grad", "examples/bessel.rasm", "--taylor", "3", "--drift", "--stats"], 0, "finished"),
    (&["grad", "examples/norm.rasm", "--max-steps", "150"], 1, "limit"),
    (&["grad", "examples/bessel.rasm", "--loss", "nothing"], 2, "failed"),
    (&["grad", "examples/fib.ja"], 2, "failed"),
    (&["grad", "examples/bessel.rasm", "--batch", "z=tests/data/items.csv"], 0, "finished"),
    (&["energy", "examples/fib.rasm", "--schedule", "--sweep", "frequency=1e5..1e6:3"], 0, "finished"),
    (&["energy", "examples/wave.rasm", "--max-steps", "10"], 1, "limit"),
    (&["energy", "--list-tech"], 0, "finished"),
    (&["energy", "examples/fib.rasm", "examples/gcd.rasm"], 0, "finished"),
    (&["energy", "examples/fib.rasm", "examples/wave.rasm", "--max-steps", "100"], 1, "finished"),
    (&["energy", "examples/fib.rasm", "examples/gcd.rasm", "--csv"], 2, "failed"),
    (&["energy", "examples/fib.rasm", "--tech", "none"], 2, "failed"),
    (&["level", "examples/fib.rasm"], 0, "finished"),
    (&["level", "examples/factorial.rasm", "--set", "x=21"], 1, "trap"),
    (&["level", "examples/fib.rasm", "examples/fib.nil", "examples/none.rasm"], 2, "finished"),
    (&["level", "examples/fib.rasm", "examples/gcd.rasm"], 0, "finished"),
    (&["run", "examples/functional/lists.vlad", "--stats"], 0, "finished"),
    (&["run", "tests/filetests/functional/error/p0602_unbound.vlad"], 1, "rejected"),
    (&["run", "tests/filetests/functional/error/p0611_sum_of_a_list.vlad"], 1, "rejected"),
    (&["run", "tests/filetests/functional/error/p0622_without_end.vlad", "--max-steps", "1000"], 1, "limit"),
    (&["run", "examples/functional/lists.vlad", "--reverse"], 2, "failed"),
    (&["run", "--expect", "examples/functional/lists.vlad"], 0, "finished"),
    (&["run", "--expect", "examples/functional/lists.vlad", "examples/functional/rotate.vlad"], 0, "finished"),
    (&["grad", "examples/functional/sharing.vlad", "--entry", "product", "--args", "3,4", "--stats"], 0, "finished"),
    (
        &["grad", "examples/functional/lists.vlad", "--entry", "mult", "--args", "3,4", "--stage", "d1,d5", "--stats"],
        0,
        "finished",
    ),
    (&["compile", "examples/functional/sharing.vlad", "--emit", "core"], 0, "finished"),
    (&["check", "examples/functional/sharing.vlad"], 0, "finished"),
    (&["energy", "examples/functional/sharing.vlad"], 2, "failed"),
    (&["check", "examples/fib.rasm"], 0, "finished"),
    (&["check", "examples/fib.nil"], 0, "finished"),
    (&["compile", "examples/fib.nil"], 1, "rejected"),
    (&["check", "examples/fib.rasm", "examples/fib.ja"], 0, "finished"),
    (&["check", "examples/fib.rasm", "WRONG.nil"], 1, "finished"),
    (&["check", "examples/none.rasm", "WRONG.nil"], 2, "finished"),
    (&["check", "tests/filetests/pisa/import/refused_everything.pisa"], 0, "finished"),
    (&["asm", "examples/fib.rasm", "--listing"], 0, "finished"),
    (&["asm", "examples/fib.rasm", "-o", "OUT.o"], 0, "finished"),
    (&["asm", "examples/fib.rasm", "-o", "-"], 2, "failed"),
    (&["compile", "examples/exp.nil", "--args", "0.0,1.0"], 0, "finished"),
    (&["compile", "examples/exp.nil", "--args", "0.0,1.0", "-o", "OUT.rasm"], 0, "finished"),
    (&["compile", "examples/exp.nil", "--args", "0.0,1.0", "--emit", "obj", "-o", "OUT.o"], 0, "finished"),
    (&["compile", "examples/exp.nil", "--args", "0.0"], 1, "rejected"),
    (&["compile", "examples/fib.rasm"], 2, "failed"),
    (&["disasm", "examples/fib.rasm"], 0, "finished"),
    (&["disasm", "examples/fib.rasm", "--listing", "-o", "OUT.txt"], 0, "finished"),
    (&["disasm", "examples/fib.rasm", "--pisa"], 2, "failed"),
    (&["invert", "examples/fib.rasm"], 0, "finished"),
    (&["invert", "examples/fib.ja", "-o", "OUT.ja"], 0, "finished"),
    (&["invert", "examples/none.rasm"], 2, "failed"),
    (&["import", "examples/fib.pisa"], 0, "finished"),
    (&["import", "examples/fib.rasm"], 2, "failed"),
    (&["import", "tests/filetests/pisa/import/refused_everything.pisa"], 1, "rejected"),
    (&["fmt", "examples/fib.rasm", "examples/fib.nil"], 0, "finished"),
    (&["fmt", "examples/fib.rasm", "--check"], 0, "finished"),
    (&["fmt", "UGLY.rasm", "--check"], 1, "finished"),
    (&["fmt", "WRONG.nil"], 1, "rejected"),
    (&["fmt", "examples/fib.ja"], 2, "failed"),
    (&["isa"], 0, "finished"),
    (&["isa", "addmul.q"], 0, "finished"),
    (&["isa", "nothingatall"], 2, "failed"),
    (&["isa", "sqrt"], 0, "finished"),
    (&["circuit", "add", "--width", "8"], 0, "finished"),
    (&["circuit", "exch", "--width", "4", "--stats", "--verify"], 0, "finished"),
    (&["circuit", "swap", "--width", "2", "--format", "qasm"], 0, "finished"),
    (&["circuit", "addmul.q", "--width", "8", "--format", "verilog", "--verify", "-o", "OUT.v"], 0, "finished"),
    (&["circuit", "xorexp.q", "--width", "8", "--algorithm", "table", "--verify"], 0, "finished"),
    (&["circuit", "addq"], 2, "failed"),
    (&["circuit", "rol", "--width", "12"], 2, "failed"),
    (&["prove", "swap", "add.f", "--width", "8"], 0, "finished"),
    (&["prove", "swapp"], 2, "failed"),
    (&["explain"], 0, "finished"),
    (&["explain", "P0107"], 0, "finished"),
    (&["explain", "P0001x"], 2, "failed"),
    (&["lab", "try", "examples/isa/complex.rasm", "--isa", "examples/isa/complex.isa"], 0, "finished"),
    (&["lab", "discover", "examples/orbit.rasm", "--count", "1", "--tech", "landauer"], 0, "finished"),
    (
        &["lab", "sweep", "examples/orbit.rasm", "--isa", "examples/isa/leapfrog.isa", "--over", "voltage=0.6..1:3"],
        0,
        "finished",
    ),
    (&["isa", "cmuladd.q", "--isa", "examples/isa/complex.isa"], 0, "finished"),
    (&["bench", "--list"], 0, "finished"),
    (&["bench", "nothing"], 2, "failed"),
    (&["cache", "list"], 0, "finished"),
    (&["nothing"], 2, "failed"),
    (&["completions", "bash"], 2, "failed"),
    (&[], 2, "failed"),
];

#[test]
fn every_object_of_json_is_as_the_book_says() {
    let page = Page::read();
    let folder = tempfile::tempdir().expect("a folder");
    let late: String = (0..20_000).map(|n| format!("{}\n", if n == 19_999 { "x1" } else { "3" })).collect();
    let files = [
        ("BAD", "bad.csv", "1\nx2\n"),
        ("LATE", "late.csv", &late),
        ("TRAPS", "traps.csv", "5\n21\n"),
        ("UGLY.rasm", "ugly.rasm", "main:start\n  finish\n"),
        ("WRONG.nil", "wrong.nil", "@i function f(\n"),
        ("OUT", "out", ""),
    ];
    for (_, name, text) in &files[..5] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let mut seen = BTreeMap::new();
    // Without a solver, nothing can be proved.
    for (n, (call, status, kind)) in CALLS.iter().enumerate() {
        if call.starts_with(&["prove", "swap"]) && !has_solver() {
            continue;
        }
        // Of those that build circuits, those that have a form of their own.
        let costly = call.first().is_some_and(|c| builds_circuits(c)) && !sample::all();
        if costly && n > 0 && CALLS[n - 1].0.first() == call.first() && n % 4 > 0 {
            continue;
        }
        let arg = |arg: &&str| {
            let found = files.iter().find(|(mark, ..)| arg.contains(mark));
            found.map_or(arg.to_string(), |(mark, name, _)| {
                arg.replace(mark, folder.path().join(name).to_str().expect("UTF-8"))
            })
        };
        let args: Vec<String> = call.iter().map(arg).chain(["--json".to_string()]).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (code, out, err) = pendula(repository(), &args);
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{call:?}: {e}\n{out}\n{err}"));
        let wrong = page.wrong(&answer);
        assert!(wrong.is_empty(), "{call:?}: {wrong:#?}\n{out}");
        assert_eq!((code, answer["outcome"]["kind"].as_str()), (*status, Some(*kind)), "{call:?}\n{out}{err}");
        assert_eq!(answer["ok"], code == 0, "{call:?}\n{out}");
        assert!(!err.contains("error"), "{call:?}: {err}");
        seen.insert(answer["schema"].as_str().expect("a schema").to_string(), ());
    }
    // Measuring takes long: `tests/bench.rs` sees what that prints.
    let all = page
        .forms
        .keys()
        .filter(|form| form.contains('/') && !["pendula.bench/1", "pendula.bench.scale/1"].contains(&form.as_str()));
    for form in all.filter(|_| sample::all()) {
        assert!(seen.contains_key(form), "no call gives {form}");
    }
}

#[test]
fn what_json_has_of_an_array_is_an_argument_again() {
    let run = |file: &str, args: &str, types: &str| {
        let types = if types.is_empty() { Vec::new() } else { vec!["--types", types] };
        let call = [&["run", file, "--args", args, "--json"], &types[..]].concat();
        let (code, out, err) = pendula(repository(), &call);
        assert_eq!(code, 0, "{args}: {out}{err}");
        let answer: Value = serde_json::from_str(&out).expect("JSON");
        answer["values"].as_object().cloned().expect("values")
    };
    let values = run("examples/affine.nil", "[0.0,0.0],[1.0 2.0; 3.0 4.0],[0.5,-0.5],[1.0,-1.0]", "");
    assert_eq!(values["W"], serde_json::json!([[1.0, 2.0], [3.0, 4.0]]));
    let of = |values: &Map<String, Value>, names: &[&str]| {
        let texts: Vec<String> = names.iter().map(|name| format!("{:#}", values[*name])).collect();
        texts.join(",")
    };
    let again = run("examples/affine.nil", &format!("[0.0,0.0],{}", of(&values, &["W", "b", "x"])), "");
    assert_eq!(again, values);
    // Fixed-point numbers are text, complex ones have two parts.
    let turned = run("examples/unitary.nil", "[1 0; 0 1],[0.5]", "Matrix{Fixed},Vector{Fixed}");
    assert!(turned["x!"][0][0].is_string(), "{turned:?}");
    let names: Vec<&str> = turned.keys().map(String::as_str).collect();
    let order =
        [names.iter().find(|n| n.starts_with('x')).expect("x"), names.iter().find(|n| !n.starts_with('x')).expect("θ")];
    run("examples/unitary.nil", &of(&turned, &[order[0], order[1]]), "Matrix{Fixed},Vector{Fixed}");
    let sparse = "(2,2,[1,2,3],[1,2],[(0.0,2.0),(1.0,0.0)])";
    let product = |c: &str, b: &str| run("examples/sparse-product.nil", &format!("{c},{sparse},{b},(1.0,0.0),1"), "");
    let values = product("[(0.0,0.0); (0.0,0.0)]", "[(3.0,0.0); (0.0,1.0)]");
    assert_eq!(values["C"][0][0], serde_json::json!({ "re": 0.0, "im": 6.0 }));
    let again = product("[(0.0,0.0); (0.0,0.0)]", &values["B"].to_string());
    assert_eq!(again, values);
}

#[test]
fn results_of_a_single_run_are_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let npy = |name: &str| {
        let bytes = fs::read(folder.path().join(name)).expect("the file");
        let file = npyz::NpyFile::new(&bytes[..]).expect("an array");
        (file.shape().to_vec(), file.into_vec::<f64>().expect("doubles"))
    };
    let program = repository().join("examples/affine.nil").display().to_string();
    let args = "[0.0,0.0],[1.0 2.0; 3.0 4.0],[0.5,-0.5],[1.0,-1.0]";
    let (code, out, err) = pendula(
        folder.path(),
        &["run", &program, "--args", args, "--save", "W=W.npy", "--save", "y!=y.csv", "--save", "W=W.csv"],
    );
    assert_eq!((code, out.as_str(), err.as_str()), (0, "b = [0.5, -0.5]\nx = [1.0, -1.0]\n", ""));
    assert_eq!(npy("W.npy"), (vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(fs::read_to_string(folder.path().join("W.csv")).expect("the file"), "1.0,2.0\n3.0,4.0\n");
    assert_eq!(fs::read_to_string(folder.path().join("y.csv")).expect("the file"), "-0.5\n-1.5\n");
    // What is saved is an argument again, and several results are a row under their names.
    let again = format!("[0.0,0.0],@{},[0.5,-0.5],@{}", path("W.csv"), path("y.csv"));
    let (code, out, err) = pendula(folder.path(), &["run", &program, "--args", &again, "-o", "-"]);
    let wanted = "y![1],y![2],\"W[1,1]\",\"W[2,1]\",\"W[1,2]\",\"W[2,2]\",b[1],b[2],x[1],x[2]\n-3.0,-8.0,1.0,3.0,2.0,4.0,0.5,-0.5,-0.5,-1.5\n";
    assert_eq!((code, out.as_str(), err.as_str()), (0, wanted, ""));
    let grad = ["grad", &program, "--args", args, "--loss", "y![1]", "--save", "W=d.npy", "--save", "d/dx=x.csv"];
    let (code, out, err) = pendula(folder.path(), &grad);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "y![1] = -0.5\n∂/∂y! = [1.0, 0.0]\n∂/∂b  = [1.0, 0.0]\n", ""));
    assert_eq!(npy("d.npy"), (vec![2, 2], vec![1.0, -1.0, 0.0, 0.0]));
    assert_eq!(fs::read_to_string(folder.path().join("x.csv")).expect("the file"), "1.0\n2.0\n");
    // A run that stops leaves files as they were, and says what its state was.
    let trap = repository().join("examples/factorial.rasm").display().to_string();
    let (code, out, _) = pendula(folder.path(), &["run", &trap, "--set", "x=21", "--save", "y.csv"]);
    assert_eq!((code, out.contains("r1 = 21")), (1, true), "{out}");
    assert_eq!(fs::read_to_string(folder.path().join("y.csv")).expect("the file"), "-0.5\n-1.5\n");
    let refuses = |more: &[&str], says: &str| {
        let (code, out, err) = pendula(folder.path(), &[&["run", &program, "--args", args], more].concat());
        assert_eq!((code, out.as_str(), err.contains(says)), (2, "", true), "{more:?}: {err}");
    };
    refuses(&["--save", "all.npy"], "a .npy file holds one result");
    refuses(&["--save", "V=v.npy"], "there is no result `V`; there are y!, W, b, x");
    refuses(&["--save", "W.txt"], "end in `.npy` or `.csv`");
    refuses(&["--save", &format!("W={program}")], "end in `.npy` or `.csv`");
    assert!(!folder.path().join("all.npy").exists());
}
