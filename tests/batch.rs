//! Runs over many inputs, `--batch` and `pendula::batch`: each item gives what it gives alone, whatever the others are and
//! however many run at a time; inputs that do not fit are refused with the place and a way out.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use npyz::WriterBuilder;
use pendula::asm::assemble::assemble;
use pendula::batch::Batch;
use pendula::isa::counts::Direction;
use pendula::isa::sample::{Draft, Source, word};
use pendula::isa::types::Reg;
use pendula::vm::{AdMode, Config, ConfigError, Engine, Machine, Outcome, Program};
use serde_json::{Value, json};

/// A folder of its own for a test's files, which is taken away in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pendula-batch-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    /// The path of a file in it.
    fn at(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn text(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).expect("a file");
        self.at(name)
    }

    fn npy<T: npyz::AutoSerialize + Clone>(&self, name: &str, shape: &[u64], numbers: &[T]) -> String {
        self.npy_in(name, shape, numbers, npyz::Order::C)
    }

    fn npy_in<T: npyz::AutoSerialize + Clone>(
        &self,
        name: &str,
        shape: &[u64],
        numbers: &[T],
        order: npyz::Order,
    ) -> String {
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
        let mut writer = options.writer(&mut bytes).begin_nd().expect("a header");
        writer.extend(numbers.iter().cloned()).expect("numbers");
        writer.finish().expect("the end");
        std::fs::write(self.0.join(name), bytes).expect("a file");
        self.at(name)
    }

    /// The shape of a file, and what it holds.
    fn read<T: npyz::Deserialize>(&self, name: &str) -> (Vec<u64>, Vec<T>) {
        let bytes = std::fs::read(self.0.join(name)).expect("a file");
        let file = npyz::NpyFile::new(&bytes[..]).expect("a .npy file");
        (file.shape().to_vec(), file.into_vec().expect("its elements"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Exit status, standard output, standard error.
fn pendula(args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("pendula").expect("the binary");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).args(args);
    command.env_remove("RUST_LOG").env("NO_COLOR", "1");
    let output = command.output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

fn as_json(args: &[&str]) -> (i32, Value) {
    let (code, out, err) = pendula(args);
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}: {out}\n{err}")))
}

fn refuses(args: &[&str], message: &str) {
    let (code, out, err) = pendula(args);
    assert_eq!((code, out.as_str(), err.contains(message)), (2, "", true), "{args:?}: {err}");
}

/// Compares a batch with runs one by one: `common` are the arguments of all, `batch` those that make it a batch, `single` those of an item alone.
fn compare(common: &[&str], batch: &[&str], single: &[Vec<String>]) {
    let alone: Vec<(i32, Value)> = single
        .iter()
        .map(|own| {
            let own = own.iter().map(String::as_str);
            let (code, value) = as_json(&common.iter().copied().chain(own).chain(["--json"]).collect::<Vec<_>>());
            (code, value)
        })
        .collect();
    for jobs in ["1", "4"] {
        let args = [common, batch, &["--json", "--jobs", jobs]].concat();
        let (code, all) = as_json(&args);
        assert_eq!(code, alone.iter().map(|(code, _)| *code).max().unwrap_or(0), "{args:?}");
        let items = all["items"].as_array().expect("items");
        assert_eq!(items.len(), single.len(), "{args:?}");
        for (n, (item, (_, alone))) in items.iter().zip(&alone).enumerate() {
            let mut wanted = alone.clone();
            let object = wanted.as_object_mut().expect("an object");
            // These are said once for all.
            assert!(object.remove("schema").is_some());
            object.remove("diagnostics");
            object.insert("item".to_string(), json!(n));
            assert_eq!(*item, wanted, "{args:?}: item {n}");
        }
    }
}

fn given(option: &str, values: &[&str], form: impl Fn(&str) -> String) -> Vec<Vec<String>> {
    values.iter().map(|v| vec![option.to_string(), form(v)]).collect()
}

#[test]
fn assembly_programs_give_what_they_give_alone() {
    let folder = Folder::new("assembly");
    // Integers, and items that trap: 21! does not fit, and -1 is refused.
    let values = ["5", "21", "1", "-1", "20"];
    let file = folder.npy("n.npy", &[5], &[5_i64, 21, 1, -1, 20]);
    let single = given("--set", &values, |v| format!("x={v}"));
    compare(&["run", "factorial.rasm"], &["--batch", &file], &single);
    compare(&["run", "factorial.rasm", "--round-trip"], &["--batch", &format!("x={file}")], &single);
    compare(&["run", "factorial.rasm", "--max-steps", "40"], &["--batch", &file], &single);
    let back = folder.text("back.csv", "120\n7\n6\n");
    let single = given("--set", &["120", "7", "6"], |v| format!("x={v}"));
    compare(&["run", "factorial.rasm", "--reverse"], &["--batch", &back], &single);
    // Registers, and elements of arrays.
    let file = folder.text("r.csv", "1\n2\n3\n");
    let single = given("--set", &["1", "2", "3"], |v| format!("r1={v}"));
    compare(&["run", "fib.rasm"], &["--batch", &format!("r1={file}")], &single);
    let single = given("--set", &["1", "2", "3"], |v| format!("a[3]={v}"));
    compare(&["run", "sort.rasm"], &["--batch", &format!("a[3]={file}")], &single);
    // Rows of arrays.
    let rows = ["5,3,9,1,7,2,8,6,0,4", "1,1,1,1,1,1,1,1,1,0"];
    let file = folder.text("rows.csv", &rows.join("\n"));
    compare(&["run", "sort.rasm"], &["--batch", &file], &given("--set", &rows, |v| format!("a=[{v}]")));
}

#[test]
fn numbers_of_every_type_are_those_of_single_runs() {
    let folder = Folder::new("types");
    let z = folder.npy("z.npy", &[4], &[0.5, 1.0, 2.5, -3.0]);
    let single = given("--set", &["0.5", "1.0", "2.5", "-3.0"], |v| format!("z={v}"));
    for file in ["bessel.rasm", "bessel-q.rasm"] {
        for engine in ["interp", "jit"] {
            let common = ["--engine", engine];
            compare(&[&["run", file], &common[..]].concat(), &["--batch", &format!("z={z}")], &single);
            compare(&[&["grad", file, "--hessian"], &common[..]].concat(), &["--batch", &format!("z={z}")], &single);
        }
    }
    // Logarithmic numbers.
    let x = folder.npy("x.npy", &[4], &[1.5, 0.25, 3.0, 0.0]);
    let single = given("--set", &["1.5", "0.25", "3.0", "0.0"], |v| format!("x={v}"));
    compare(&["run", "power.rasm", "--round-trip"], &["--batch", &format!("x={x}")], &single);
    compare(&["grad", "power.rasm"], &["--batch", &format!("x={x}")], &single);
    compare(&["grad", "power.rasm", "--hex", "--check"], &["--batch", &format!("x={x}")], &single);
}

#[test]
fn programs_in_nil_give_what_they_give_alone() {
    let folder = Folder::new("nil");
    let z = folder.npy("z.npy", &[3], &[0.5, 1.0, 2.5]);
    let single = given("--args", &["0.5", "1.0", "2.5"], |v| format!("0.0,2,{v}"));
    compare(&["run", "bessel.nil"], &["--args", "0.0,2,_", "--batch", &z], &single);
    compare(&["run", "bessel.nil", "--engine", "jit"], &["--args", "0.0,2,7.0", "--batch", &format!("z={z}")], &single);
    compare(&["grad", "bessel.nil", "--loss", "1"], &["--args", "0.0,2,_", "--batch", &format!("3={z}")], &single);
    let types = ["--types", "Fixed43,Int,Fixed43"];
    let common = [&["grad", "bessel-log.nil", "--loss", "y!", "--keep-dropped"], &types[..]].concat();
    compare(&common, &["--args", "0,2,_", "--batch", &z], &single);
    // Arrays, of which one traps: the norm of 0 has no gradient.
    let rows = ["3.0,0.0,-4.0", "0.0,0.0,0.0", "1.0,2.0,2.0"];
    let file = folder.text("x.csv", &rows.join("\n"));
    let single = given("--args", &rows, |v| format!("0.0,0.0,[{v}]"));
    compare(&["grad", "norm.nil", "--loss", "out"], &["--args", "0.0,0.0,_", "--batch", &file], &single);
    // Complex numbers.
    let z = npyz::num_complex::Complex::new;
    let file = folder.npy("c.npy", &[2], &[z(3.0, 4.0), z(0.0, 1.0)]);
    let single = given("--args", &["(3.0,4.0)", "(0.0,1.0)"], |v| format!("(0.0,0.0),{v}"));
    compare(&["run", "complex-log.nil"], &["--args", "(0.0,0.0),_", "--batch", &file], &single);
}

#[test]
fn matrices_come_in_either_order() {
    let folder = Folder::new("matrices");
    // W[n] is the matrix of 4n, 4n+1; 4n+2, 4n+3.
    let numbers: Vec<f64> = (0..12).map(f64::from).collect();
    let c = folder.npy("c.npy", &[3, 2, 2], &numbers);
    let by_column: Vec<f64> = (0..12).map(|at| f64::from(at % 3 * 4 + at / 3 % 2 * 2 + at / 6)).collect();
    let f = folder.npy_in("f.npy", &[3, 2, 2], &by_column, npyz::Order::Fortran);
    let single: Vec<Vec<String>> = (0..3)
        .map(|n| {
            let w = [0, 1, 2, 3].map(|k| f64::from(4 * n + k));
            let w = format!("[{:?} {:?}; {:?} {:?}]", w[0], w[1], w[2], w[3]);
            vec!["--args".to_string(), format!("[0.0,0.0],{w},[0.5,-0.5],[1.0,2.0]")]
        })
        .collect();
    for file in [&c, &f] {
        let args = ["--args", "[0.0,0.0],_,[0.5,-0.5],[1.0,2.0]", "--batch", file];
        compare(&["run", "affine.nil"], &args, &single);
        compare(&["grad", "affine.nil", "--loss", "y!", "--jacobian", "--wrt", "W,x"], &args, &single);
        // Saved as it was read.
        let (saved, gradient) = (folder.at("saved.npy"), folder.at("gradient.npy"));
        let (code, _, err) = pendula(&[&["run", "affine.nil"], &args[..], &["-o", &format!("W={saved}")]].concat());
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(folder.read::<f64>("saved.npy"), (vec![3, 2, 2], numbers.clone()));
        let more = ["--loss", "y!", "--jacobian", "--save", &format!("W={gradient}")];
        assert_eq!(pendula(&[&["grad", "affine.nil"], &args[..], &more].concat()).0, 0);
        // y_i = W_ij x_j + b_i.
        let one = [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0];
        assert_eq!(folder.read::<f64>("gradient.npy"), (vec![3, 2, 2, 2], [one, one, one].concat()));
    }
    // In assembly, rows follow each other.
    let source = " .data\n .import a\n .export a\na: .space 6\n .text\nmain: start\n finish\n";
    let program = folder.text("a.rasm", source);
    let numbers: Vec<i32> = (0..12).collect();
    let by_column: Vec<i32> = (0..12).map(|at| at % 2 * 6 + at / 2 % 2 * 3 + at / 4).collect();
    let c = folder.npy("c.npy", &[2, 2, 3], &numbers);
    let f = folder.npy_in("f.npy", &[2, 2, 3], &by_column, npyz::Order::Fortran);
    for file in [c, f] {
        let (code, all) = as_json(&["run", &program, "--batch", &file, "--json"]);
        assert_eq!((code, &all["items"][1]["values"]["a"]), (0, &json!([6, 7, 8, 9, 10, 11])));
    }
}

#[test]
fn items_of_compiled_programs_that_stop_tell_what_they_tell_alone() {
    let folder = Folder::new("stops");
    // A wrong `fi` for n = 7, found forward; an index outside the array for n = 9, and a loop that has not ended at the limit.
    let text = "procedure main()\n    int n\n    int i\n    int a[9]\n    if n > 3 then\n        n -= 2\n    fi n > 3 && n != 5\n    a[n] += 1\n    \
                from i = 0 do\n        i += 1\n    until i = n\n";
    let janus = folder.text("stops.ja", text);
    let values = ["2", "7", "1", "11", "6"];
    let file = folder.text("n.csv", &values.join("\n"));
    let single = given("--set", &values, |v| format!("n={v}"));
    let batch = format!("n={file}");
    for more in [&[][..], &["--max-steps", "20"], &["--round-trip", "--max-steps", "45"], &["--round-trip", "-O0"]] {
        compare(&[&["run", janus.as_str()], more].concat(), &["--batch", &batch], &single);
    }
    let (code, out, err) = pendula(&["run", &janus, "--batch", &batch]);
    assert_eq!(code, 1);
    assert!(out.contains("error[P0102]: the index lies outside `a`, which has 9 elements there"), "{out}");
    for said in ["item 1: ", "`fi n > 3 && n != 5` should be true here", "in `main`: n = 5", "item 3: ", "n = 9"] {
        assert!(err.contains(said), "{said}: {err}");
    }
    // On the way back with gradients, too.
    let nil = folder.text("f.nil", "@i function f(y!, x)\n    for i in 1:5\n        y! += sqrt(x) * i\n    end\nend\n");
    let values = ["4.0", "-1.0", "0.0", "9.0"];
    let file = folder.text("x.csv", &values.join("\n"));
    let single = given("--args", &values, |v| format!("0.0,{v}"));
    for more in [&[][..], &["--max-steps", "25"], &["--max-steps", "60"]] {
        compare(&[&["grad", nil.as_str()], more].concat(), &["--args", "0.0,_", "--batch", &file], &single);
    }
    let (code, _, err) = pendula(&["grad", &nil, "--args", "0.0,_", "--batch", &file]);
    assert_eq!(code, 1);
    assert!(err.contains("item 1") && err.contains("x = -1.0") && err.contains("in `f`: "), "{err}");
}

#[test]
fn files_without_a_name_find_their_place() {
    let folder = Folder::new("names");
    let values = |args: &[&str], name: &str| -> Vec<Value> {
        let (code, all) = as_json(&[args, &["--json"]].concat());
        assert_eq!(code, 0, "{args:?}: {all}");
        all["items"].as_array().expect("items").iter().map(|item| item["values"][name].clone()).collect()
    };
    let j0 = json!(0.765_197_686_557_966_6);
    // A column for each number, in assembly, in Nil, and by the names in a first row; doubles that are whole are integers beside others.
    let columns = folder.npy("vz.npy", &[2, 2], &[0.0, 1.0, 2.0, 2.5]);
    let named = folder.text("vz.csv", "z,v\n1.0,0\n2.5,2\n");
    let wanted = values(&["run", "bessel.nil", "--args", "0.0,_,_", "--batch", &named], "out!");
    assert_eq!(wanted[0], j0);
    assert_eq!(values(&["run", "bessel.nil", "--args", "0.0,_,_", "--batch", &columns], "out!"), wanted);
    assert_eq!(values(&["run", "bessel.nil", "--args", "0.0,2,1.0", "--batch", &named], "out!"), wanted);
    assert_eq!(values(&["run", "bessel.rasm", "--batch", &columns], "y").len(), 2);
    assert_eq!(
        values(&["run", "bessel.rasm", "--batch", &named], "y"),
        values(&["run", "bessel.rasm", "--batch", &columns], "y")
    );
    // All arguments, and none but the batch's.
    let all = folder.text("all.csv", "1,2,3\n10,3,4\n");
    assert_eq!(values(&["run", "multiplier.nil", "--batch", &all], "y!"), [json!(7), json!(22)]);
    let all = folder.npy("all.npy", &[2, 3], &[1.0, 2.0, 3.5, 10.0, 3.0, 4.0]);
    assert_eq!(values(&["run", "multiplier.nil", "--batch", &all], "y!"), [json!(8.0), json!(22.0)]);
    // One of several arguments, by its name, and the first one if all are given.
    let one = folder.npy("one.npy", &[2], &[4_u8, 5]);
    assert_eq!(values(&["run", "multiplier.nil", "--args", "0,_,7", "--batch", &one], "y!"), [json!(28), json!(35)]);
    assert_eq!(values(&["run", "multiplier.nil", "--args", "0,0,7", "--batch", &one], "y!"), [json!(4), json!(5)]);
    let both = ["--batch", &format!("b={one}"), "--batch", &one];
    let args = [&["run", "multiplier.nil", "--args", "0,_,_"], &both[..]].concat();
    assert_eq!(values(&args, "y!"), [json!(16), json!(25)]);
    // A column is a number, or an array of one, as is wanted.
    let column = folder.npy("column.npy", &[2, 1], &[4, 5]);
    assert_eq!(values(&["run", "multiplier.nil", "--args", "0,_,7", "--batch", &column], "y!"), [json!(28), json!(35)]);
    let norms = values(
        &["run", "norm.nil", "--args", "0.0,0.0,_", "--types", "Float64,Float64,Vector{Float64}", "--batch", &column],
        "out",
    );
    assert_eq!(norms, [json!(4.0), json!(5.0)]);
    // Integers and doubles by turns are doubles.
    let mixed = folder.text("mixed.csv", "2\n2.5\n");
    assert_eq!(
        values(&["run", "multiplier.nil", "--args", "0.0,_,2.0", "--batch", &mixed], "y!"),
        [json!(4.0), json!(5.0)]
    );
    // Truth values.
    let flag =
        folder.text("flag.nil", "@i function f(y!::Int, b::Bool)\n    if (b, ~)\n        y! += 3\n    end\nend\n");
    let truths = folder.npy("truths.npy", &[3], &[true, false, true]);
    assert_eq!(values(&["run", &flag, "--args", "1,_", "--batch", &truths], "y!"), [json!(4), json!(1), json!(4)]);
}

#[test]
fn a_trap_does_not_lose_the_others() {
    let folder = Folder::new("traps");
    let file = folder.npy("n.npy", &[5], &[5, 21, -1, 3, 30]);
    let saved = folder.at("saved.npy");
    let table = folder.at("saved.csv");
    let (code, out, err) = pendula(&["run", "factorial.rasm", "--batch", &file, "-o", &saved, "-o", &table]);
    let failed = "error[P0102]: assertion failed";
    assert_eq!(code, 1);
    assert_eq!(out, "", "what is saved is not printed, too");
    let (_, out, _) = pendula(&["run", "factorial.rasm", "--batch", &file]);
    assert_eq!(out, format!("item  x\n0     120\n1     {failed}\n2     {failed}\n3     6\n4     {failed}\n"));
    assert!(err.contains("error[P0102]: item 1, likewise item 4: assertion failed"), "{err}");
    assert!(err.contains("error[P0102]: item 2: assertion failed") && err.contains("r1 = -1"), "{err}");
    let none = i64::MIN;
    assert_eq!(folder.read::<i64>("saved.npy"), (vec![5], vec![120, none, none, 6, none]));
    let text = std::fs::read_to_string(&table).expect("a file");
    assert_eq!(text, format!("item,x,error\n0,120,\n1,,{failed}\n2,,{failed}\n3,6,\n4,,{failed}\n"));
    // Doubles that are missing are not a number; raw words are.
    let rows = folder.text("x.csv", "3,4\n0,0\n");
    let args = ["grad", "norm.nil", "--args", "0.0,0.0,_", "--batch", &rows, "--loss", "out", "--save"];
    let (code, out, err) = pendula(&[&args[..], &[&format!("x={saved}"), "--wrt", "x"]].concat());
    assert_eq!((code, out.lines().nth(1)), (1, Some("0     5.0")), "{out}");
    assert!(err.contains("error[P0113]: item 1: division by zero"), "{err}");
    let (shape, numbers) = folder.read::<f64>("saved.npy");
    assert_eq!((shape, &numbers[..2]), (vec![2, 2], &[0.600_000_000_000_000_1, 0.8][..]));
    assert!(numbers[2].is_nan() && numbers[3].is_nan());
    assert_eq!(pendula(&[&args[..], &[&format!("x={saved}"), "--hex"]].concat()).0, 1);
    let words = folder.read::<u64>("saved.npy").1;
    assert_eq!(words, [0.600_000_000_000_000_1_f64.to_bits(), 0.8_f64.to_bits(), 1 << 63, 1 << 63]);
    // The step limit is each item's.
    let (code, all) =
        as_json(&["run", "fib.rasm", "--batch", &folder.text("n.csv", "2\n50\n3\n"), "--max-steps", "60", "--json"]);
    let kinds: Vec<&Value> = (0..3).map(|n| &all["items"][n]["outcome"]["kind"]).collect();
    assert_eq!((code, kinds), (1, vec![&json!("finished"), &json!("limit"), &json!("finished")]));
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let folder = Folder::new("refused");
    let three = folder.npy("three.npy", &[3], &[1, 2, 3]);
    let halves = folder.npy("halves.npy", &[2], &[1.0, 2.5]);
    let rows = folder.npy("rows.npy", &[2, 3], &[1, 2, 3, 4, 5, 6]);
    let run = |more: &[&str], message: &str| refuses(&[&["run"], more].concat(), message);
    run(
        &["factorial.rasm", "--batch", &halves],
        "halves.npy: item 1: `2.5` is no value for `x`, which is read as integer",
    );
    run(&["bessel.rasm", "--batch", &halves], "say what it is, `NAME=");
    run(&["factorial.rasm", "--batch", &rows], "rows.npy: an item is 3 numbers, `x` has one word");
    run(&["sort.rasm", "--batch", &rows], "rows.npy: an item is 3 numbers, `a` has 10 words");
    run(&["factorial.rasm", "--batch", &format!("q={three}")], "there is no register or data symbol `q`");
    let twice = [&format!("x={three}"), "--batch", &format!("x={three}")];
    run(&["factorial.rasm", "--batch", twice[0], twice[1], twice[2]], "another file gives `x` already");
    run(&["factorial.rasm", "--batch", &three, "--batch", &halves], "three.npy has 3 items, ");
    run(&["factorial.rasm", "--batch", &three, "--batch", &three], "this could be: say what it is");
    run(&["factorial.rasm", "--batch", &folder.npy("one.npy", &[], &[1])], "counts its items");
    run(&["factorial.rasm", "--batch", &folder.npy::<i64>("none.npy", &[0, 4], &[])], "it holds no items");
    run(&["factorial.rasm", "--batch", &folder.text("none.csv", "x\n")], "it holds no items");
    run(&["sort.rasm", "--batch", &folder.text("ragged.csv", "1,2\n3\n")], "its rows have different lengths");
    run(
        &["factorial.rasm", "--batch", &folder.text("bad.csv", "# n\n1\n2x\n")],
        "bad.csv: item 1 (line 3): `2x` is no value for `x`",
    );
    run(&["factorial.rasm", "--batch", "nothing.npy"], "--batch nothing.npy: nothing.npy: cannot be read");
    run(&["factorial.rasm", "--batch", "factorial.rasm"], "array files end in `.csv` or `.npy`");
    // Of Nil.
    let nil = |more: &[&str], message: &str| run(&[&["bessel.nil"], more].concat(), message);
    nil(&["--batch", &halves], "nothing gives the argument `v` of (out!, v, z)");
    nil(&["--args", "0.0,_", "--batch", &halves], "--args gives 2 arguments for 3 parameters (out!, v, z): write `_`");
    nil(&["--args", "0.0,_,_", "--batch", &halves], "nothing gives the argument `z`");
    nil(&["--args", "0.0,_,1.0", "--batch", &three, "--batch", &three], "which of the arguments out!, v, z is this?");
    nil(
        &["--args", "0.0,2,_", "--batch", &format!("q={halves}"), "--batch", &halves],
        "there is no variable `q`; the variables are out!, v, z",
    );
    let huge = folder.npy("huge.npy", &[2], &[1.0, 1e300]);
    run(
        &["bessel-log.nil", "--args", "0,2,_", "--types", "Fixed43,Int,Fixed43", "--batch", &huge],
        "huge.npy: item 1: the argument `z` must be",
    );
    // A vector where a matrix is wanted: the compiler says so.
    let (code, _, err) = pendula(&["run", "affine.nil", "--args", "[0.0],_,[0.5],[1.0]", "--batch", &rows]);
    assert_eq!((code, err.contains("the argument `W` must be")), (1, true), "{err}");
    // Of results.
    let saves = |to: &str, message: &str| run(&["sort.rasm", "--batch", &folder.at("a.csv"), "--save", to], message);
    folder.text("a.csv", "5,3,9,1,7,2,8,6,0,4\n");
    saves(&folder.at("x.npy"), "a .npy file holds one result, and there are a, moves; say which");
    saves(&folder.at("x.txt"), "files for results end in `.npy` or `.csv`");
    saves(&format!("b={}", folder.at("x.npy")), "there is no result `b`; there are a, moves");
    saves(&folder.at("a.csv"), "would be lost");
    saves(&folder.at("nowhere/x.csv"), "cannot write");
    run(&["sort.rasm", "--jobs", "2"], "--batch");
    run(&["sort.rasm", "--batch", &folder.at("a.csv"), "--trace"], "cannot be used with");
    refuses(
        &["grad", "bessel.rasm", "--batch", &format!("z={halves}"), "--loss", "q"],
        "no register or data symbol `q`",
    );
    refuses(
        &["grad", "bessel.rasm", "--batch", &format!("z={halves}"), "--seed", "q"],
        "--seed: `q` is no floating-point number",
    );
}

#[test]
fn what_is_shown_counted_and_restored_is_told_by_item() {
    let folder = Folder::new("told");
    let file = folder.text("n.csv", "2\n3\n2\n");
    // Every item's instructions, as those of runs alone.
    let stats = |args: &[&str]| as_json(&[args, &["--stats", "--json"]].concat()).1["stats"].clone();
    let total = stats(&["run", "factorial.rasm", "--round-trip", "--batch", &file, "--jobs", "3"]);
    for key in ["instructions", "cycles", "lost_bits"] {
        let alone =
            ["2", "3", "2"].map(|n| stats(&["run", "factorial.rasm", "--round-trip", "--set", &format!("x={n}")]));
        let sum: u64 = alone.iter().map(|s| s[key].as_u64().expect("a number")).sum();
        assert_eq!(total[key], json!(sum), "{key}");
    }
    assert_eq!(total["modes"].as_array().map(Vec::len), Some(2));
    // What a program shows stands before the table, the round trip and the tapes after it.
    let source = " .data\n .import n\n .export n\nn: .word 0\n .text\nmain: start\n read r1\n add r2, [n]\n show r2\n sub r2, [n]\n emit r1\n sub [n], 1\n finish\n";
    let program = folder.text("shows.rasm", source);
    let (code, out, err) = pendula(&["run", &program, "--batch", &file, "--input", "7,8", "--round-trip"]);
    let notes =
        "input: 1 of 2 words read (all 3 items)\nround trip: the state was restored bit for bit (all 3 items)\n";
    let table = "item  n  output\n0     1  [7]\n1     2  [7]\n2     1  [7]\n";
    assert_eq!((code, out, err.as_str()), (0, format!("item 0: 2\nitem 1: 3\nitem 2: 2\n{table}{notes}"), ""));
    // What does not come back is told of the items concerned, and of doubles how far they are off.
    let source = " .data\n .import x\n .export x\nx: .double 0\n .text\nmain: start\n add.f [x], 1e10\n finish\n";
    let program = folder.text("rounds.rasm", source);
    let file = folder.text("x.csv", "1\n0.1\n2\n");
    let (code, out, _) = pendula(&["run", &program, "--batch", &file, "--round-trip"]);
    assert_eq!(code, 1);
    assert!(out.contains("the state was restored bit for bit (items 0, 2)\n"), "{out}");
    assert!(out.contains("the state was NOT restored; `--drift` tells what differs (item 1)\n"), "{out}");
    let (code, out, _) = pendula(&["run", &program, "--batch", &file, "--round-trip", "--drift"]);
    assert_eq!((code, out.contains("most in x: by 3.814697265569489e-7 (item 1)\n")), (0, true), "{out}");
    // Rests of rounding are nothing to warn of; they are summed up where that is asked for.
    let file = format!("z={}", folder.npy("z.npy", &[3], &[1.0, 2.5, 3.0]));
    let (code, _, err) = pendula(&["run", "bessel.rasm", "--batch", &file]);
    assert_eq!((code, err.as_str()), (0, ""));
    let rests = "`zero.f` cleared 9 rests of rounding in items 1-2, at most ";
    let (code, _, err) = pendula(&["run", "bessel.rasm", "--batch", &file, "-v"]);
    assert_eq!((code, err.matches(rests).count()), (0, 1), "{err}");
    let (code, out, err) = pendula(&["grad", "bessel.rasm", "--batch", &file, "--drift"]);
    assert_eq!((code, out.matches("cleared").count(), err.as_str()), (0, 1, ""), "{out}");
    // Registers that change in some items are shown of all.
    let (code, out, _) = pendula(&["run", "fib.rasm", "--batch", &folder.text("f.csv", "1\n4\n"), "--set", "r9=5"]);
    assert_eq!((code, out.as_str()), (0, "item  r1  r2  r4\n0     1   1   1\n1     3   5   4\n"));
    let same = " .data\n .import n\nn: .word 0\n .text\nmain: start\n add r5, [n]\n finish\n";
    let program = folder.text("same.rasm", same);
    let file = folder.text("n.csv", "0\n3\n");
    let (_, out, _) = pendula(&["run", &program, "--batch", &file, "--set", "r5=2"]);
    assert_eq!(out, "item  r5\n0     2\n1     5\n");
    let (_, out, _) = pendula(&["run", &program, "--batch", &file, "--batch", &format!("r5={file}")]);
    assert_eq!(out, "item  r5\n0     0\n1     6\n");
}

#[test]
fn gradients_of_items_in_lines_blocks_and_files() {
    let folder = Folder::new("gradients");
    let z = format!("z={}", folder.npy("z.npy", &[2], &[1.0, 0.5]));
    let (code, out, _) = pendula(&["grad", "bessel.rasm", "--batch", &z]);
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    assert_eq!((code, lines[0], lines.len()), (0, "item  y                     ∂/∂z", 3));
    assert_eq!(lines[1], "0     0.11490348493190047   0.21024361588113255");
    let (code, out, _) = pendula(&["grad", "bessel.rasm", "--batch", &z, "--hessian"]);
    let alone = pendula(&["grad", "bessel.rasm", "--hessian"]).1;
    assert_eq!((code, out.starts_with(&format!("item 0\n{alone}\nitem 1\n"))), (0, true), "{out}");
    let at = |name: &str| folder.at(name);
    let save = [
        format!("y={}", at("y.npy")),
        format!("d/dz={}", at("d.npy")),
        format!("hessian={}", at("h.npy")),
        at("all.csv"),
    ];
    let save: Vec<&str> = save.iter().flat_map(|s| ["--save", s.as_str()]).collect();
    let (code, _, _) = pendula(&[&["grad", "bessel.rasm", "--batch", &z, "--hessian"], &save[..]].concat());
    let (y, d) = (folder.read::<f64>("y.npy"), folder.read::<f64>("d.npy"));
    assert_eq!((code, y.0, y.1[0], d.1[0]), (0, vec![2], 0.114_903_484_931_900_47, 0.210_243_615_881_132_55));
    assert_eq!(folder.read::<f64>("h.npy").0, [2, 1, 1]);
    let text = std::fs::read_to_string(at("all.csv")).expect("a file");
    assert!(
        text.starts_with("item,y,∂/∂z,\"hessian[z,z]\",error\n0,0.11490348493190047,0.21024361588113255,"),
        "{text}"
    );
    // A gradient word that overflows in one item only: what the item gives is no derivative.
    let source = " .data\n .import x\n .export y\nx: .fixed 0\ny: .fixed 0\n .text\nmain: start\n exch r1, [x]\n addmul.q [y], r1, r1\n exch r1, [x]\n finish\n";
    let program = folder.text("steep.rasm", source);
    let file = folder.text("steep.csv", "0.5\n3\n0.25\n");
    let all = at("steep-out.csv");
    let (code, out, err) = pendula(&["grad", &program, "--batch", &file, "--seed", "1e9", "--save", &all]);
    assert_eq!((code, out.as_str()), (1, ""));
    let (code, out, _) = pendula(&["grad", &program, "--batch", &file, "--seed", "1e9"]);
    assert_eq!((code, out.lines().nth(2)), (1, Some("1     error[P0131]: overflow of a gradient")), "{out}");
    assert!(
        err.contains("error[P0131]: item 1: a gradient word overflowed and wrapped: derivatives are wrong"),
        "{err}"
    );
    let text = std::fs::read_to_string(&all).expect("a file");
    assert!(text.lines().nth(2).is_some_and(|line| line.starts_with("1,,,") && line.contains("P0131")), "{text}");
    let (code, items) = as_json(&["grad", &program, "--batch", &file, "--seed", "1e9", "--json"]);
    let kinds: Vec<&Value> = (0..3).map(|n| &items["items"][n]["outcome"]["kind"]).collect();
    assert_eq!((code, kinds), (1, vec![&json!("finished"), &json!("overflow"), &json!("finished")]));
    // A seed that is too great for one item only.
    let source =
        " .data\n .import a\n .export y\na: .log 1\ny: .log 1\n .text\nmain: start\n mul.l [y], [a]\n finish\n";
    let program =
        folder.text("l.rasm", &source.replace("mul.l [y], [a]", "mul.l r1, [a]\n mul.l [y], r1\n div.l r1, [a]"));
    let file = folder.text("a.csv", "2\n1e200\n");
    let (code, all) = as_json(&["grad", &program, "--batch", &file, "--seed", "1e200", "--json"]);
    assert_eq!((code, &all["items"][0]["outcome"]["kind"]), (1, &json!("finished")), "{all}");
    assert_eq!(all["items"][1]["outcome"]["kind"], json!("refused"));
    assert!(all["items"][1]["outcome"]["message"].as_str().is_some_and(|m| m.contains("1.79e308")), "{all}");
}

/// All that a run may leave.
type Left = (Outcome, [u64; Reg::COUNT], Vec<u64>, Vec<u64>, u64, Value);

fn left(m: &Machine<'_>, outcome: Outcome) -> Left {
    // Beyond what was used there are zeros, of one machine more than of another.
    let used = m.memory().iter().rposition(|w| *w != 0).map_or(0, |at| at + 1);
    let more =
        format!("{:?} {:?} {:?}", m.flags(), m.counts(), (m.pc(), m.ad_mode(), m.words_read(), m.dropped_words()));
    (outcome, *m.registers(), m.memory()[..used].to_vec(), m.output().to_vec(), m.executed(), json!(more))
}

/// Compares a batch of the library, with one thread and with four, with a machine for each item.
fn compare_machines(
    program: &Program,
    config: &Config,
    items: usize,
    run: impl Fn(&mut Machine<'_>, usize, &mut dyn FnMut(&Outcome)) -> Outcome + Sync,
) -> Vec<Left> {
    let alone = |item| {
        let mut m = Machine::new(program, config).expect("a machine");
        let outcome = run(&mut m, item, &mut |_| ());
        left(&m, outcome)
    };
    let alone: Vec<Left> = (0..items).map(alone).collect();
    let batch = Batch::new(program, config, |_| Ok::<(), ConfigError>(())).expect("a batch");
    for jobs in [1, 4, 4] {
        let all = batch.run(items, NonZeroUsize::new(jobs), |m, room, item| {
            let outcome = run(m, item, &mut |outcome| room.saw(outcome));
            left(m, outcome)
        });
        for (item, (all, alone)) in all.expect("threads").into_iter().zip(&alone).enumerate() {
            assert_eq!(all, *alone, "item {item}, {jobs} jobs");
        }
    }
    alone
}

#[test]
fn machines_of_a_batch_are_as_new_for_every_item() {
    let (mut ended, mut trapped) = (0, 0);
    for seed in 0..80 {
        let module = Draft::new(&mut Source::seeded(seed), 4 + seed as usize % 50).module().expect("sound operands");
        let program = Program::new(module, true).expect("verified");
        let engine = if seed % 8 == 0 { Engine::Jit } else { Engine::Interpreter };
        let config = Config { mem: Some(160), engine, warm_up: 0, ..Config::default() };
        let all = compare_machines(&program, &config, 12, |m, item, saw| {
            let mut s = Source::seeded(seed * 100 + item as u64);
            if s.once_in(2) {
                (1..12).filter_map(Reg::new).for_each(|r| m.set_register(r, word(&mut s)));
            }
            m.carry(s.pick(&AdMode::ALL));
            if s.once_in(2) {
                m.keep_dropped();
            }
            let mut outcome = m.run(Some(2_000));
            saw(&outcome);
            if outcome == Outcome::Finished {
                m.begin(Direction::Backward);
                outcome = m.run(Some(2_000));
                saw(&outcome);
            }
            outcome
        });
        ended += all.iter().filter(|left| left.0 == Outcome::Finished).count();
        trapped += all.iter().filter(|left| matches!(left.0, Outcome::Trap(_))).count();
    }
    assert!(ended > 300 && trapped > 50, "{ended} {trapped}");
}

#[test]
fn an_item_has_as_much_memory_as_it_would_have_alone() {
    let program = |text: &str| {
        let assembly = assemble("memory.rasm", text.to_string(), &Default::default());
        Program::new(assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics)), true).expect("verified")
    };
    let r1 = Reg::new(1).expect("a register");
    let both = |text: &str, values: &[i64]| -> Vec<Left> {
        let program = program(text);
        let mut out = Vec::new();
        for (engine, mem) in [(Engine::Interpreter, None), (Engine::Jit, None), (Engine::Interpreter, Some(60_000))] {
            let config = Config { engine, mem, warm_up: 0, ..Config::default() };
            out.push(compare_machines(&program, &config, values.len(), |m, item, saw| {
                m.set_register(r1, values[item].cast_unsigned());
                let outcome = m.run(None);
                saw(&outcome);
                outcome
            }));
        }
        out.swap_remove(0)
    };
    let traps = |all: &[Left]| all.iter().filter(|left| matches!(left.0, Outcome::Trap(_))).count();
    // Words that are read at an address, and far beyond all memory.
    let read = "main: start\n add r2, [r1]\n add [r1], 5\n finish\n";
    let addresses = [0, 4_095, 4_096, 40_000, 3, 1_000_000, (1 << 20) - 1, 1 << 20, -1, 1 << 40, 7, i64::MIN];
    assert_eq!(traps(&both(read, &addresses)), 4);
    // A stack that grows with r1, by words and by calls.
    let push = "main: start\ntop: from.ne r2, r0, bottom\n inc r2\n add r3, 5\n push r3\nbottom: jmp.ne r2, r1, top\n finish\n";
    let depths = [3, 5_000, 1, 100_000, 2, 2_000_000, 40, 5, 300_000];
    assert_eq!(traps(&both(push, &depths)), 1);
    let call = "main: start\n call down\n finish\n proc down\n\
        over: jmp.eq r1, r0, out\n dec r1\n inc r2\n call down\n dec r2\n inc r1\nout: from.eq r1, r0, over\n ret down\n";
    assert_eq!(traps(&both(call, &depths)), 1);
    // As many words may be emitted as there is memory.
    let emit = "main: start\ntop: from.ne r2, r0, bottom\n inc r2\n add r3, 5\n emit r3\nbottom: jmp.ne r2, r1, top\n finish\n";
    assert_eq!(traps(&both(emit, &depths)), 1);
    // Fewer items than threads, and none.
    assert_eq!(both(read, &[5]).len(), 1);
    assert!(both(read, &[]).is_empty());
}
