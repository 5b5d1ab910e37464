//! Runs over many inputs, by `--batch` and by `pendula::batch`: each item gives what it gives alone, whatever the other items are and
//! however many run at a time. Inputs that do not fit are refused with their place and a way to correct them.

mod gradients;
mod inputs;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use npyz::WriterBuilder;
use pendula::asm::assemble::assemble;
use pendula::batch::Batch;
use pendula::isa::counts::Direction;
use pendula::isa::sample::{RandomProgram, Source, word};
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
            assert!(object.remove("schema").is_some() && object.remove("numerics").is_some());
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
