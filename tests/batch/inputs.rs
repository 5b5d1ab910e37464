//! Files of inputs: where they go, what does not fit, and items that trap.

use super::*;

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
    let strict = ["grad", "norm.nil", "--strict-derivatives", "--args", "0.0,0.0,_"];
    let args = [&strict[..], &["--batch", &rows, "--loss", "out", "--save"]].concat();
    let (code, out, err) = pendula(&[&args[..], &[&format!("x={saved}"), "--wrt", "x"]].concat());
    assert_eq!((code, out.lines().nth(1)), (1, Some("0     5.0")), "{out}");
    assert!(err.contains("error[P0102]: item 1: assertion failed: the square root has no derivative at 0"), "{err}");
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
        "halves.npy: item 1: `2.5` is not a value for `x`, which is read as integer",
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
        "bad.csv: item 1 (line 3): `2x` is not a value for `x`",
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
    assert!(out.contains("the state was NOT restored; `--drift` reports the differences (item 1)\n"), "{out}");
    let (code, out, _) = pendula(&["run", &program, "--batch", &file, "--round-trip", "--drift"]);
    assert_eq!((code, out.contains("most in x: by 3.814697265569489e-7 (item 1)\n")), (0, true), "{out}");
    // Rounding errors are no reason for a warning; they are summarised on request.
    let file = format!("z={}", folder.npy("z.npy", &[3], &[1.0, 2.5, 3.0]));
    let (code, _, err) = pendula(&["run", "bessel.rasm", "--batch", &file]);
    assert_eq!((code, err.as_str()), (0, ""));
    let rests = "`zero.f` cleared 9 rounding errors in items 1-2, at most ";
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
