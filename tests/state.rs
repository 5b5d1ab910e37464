//! The state of programs in PISA and Janus by name: what is set, shown and saved, and what is refused.

#[path = "common/command.rs"]
mod command;

use std::path::PathBuf;

use serde_json::{Value, json};

/// Exit status, standard output, standard error.
fn run(args: &[&str]) -> (i32, String, String) {
    command::run(args, "")
}

/// A file of this test's own.
fn file(name: &str, text: &str) -> String {
    let folder: PathBuf = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("state");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

/// What `pendula run` prints with these options.
fn shown(program: &str, options: &[&str]) -> String {
    let (code, out, err) = run(&[&["run", program], options].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{options:?}\n{out}");
    out
}

/// That `pendula run` refuses an option, and says this.
fn refused(program: &str, options: &[&str], says: &str) {
    let (code, out, err) = run(&[&["run", program], options].concat());
    assert_ne!(code, 0, "{options:?}\n{out}");
    assert_eq!(out, "", "{options:?}");
    assert!(err.contains(says), "{options:?}\n{err}");
}

/// Changes the cell 100, which has no name, a labelled one, and a table.
const CELLS: &str = ";; pendulum pal file
        .start main
n:      DATA 5
table:  DATA 1
        DATA 2
main:   START
        EXCH $1 $2
        XORI $3 100
        EXCH $4 $3
        ADDI $4 7
        EXCH $4 $3
        XORI $3 100
        FINISH
";

#[test]
fn cells_of_pisa_are_set_and_shown_by_label_and_address() {
    let cells = file("cells.pisa", CELLS);
    assert_eq!(shown(&cells, &[]), "$1 = 5\nn = 0\n[100] = 7\n");
    assert_eq!(shown(&cells, &["--set", "[100]=35", "--show", "[100]"]), "[100] = 42\n");
    assert_eq!(
        shown(&cells, &["--set", "[4294967295]=-3", "--show", "[4294967295]", "--hex"]),
        "[4294967295] = 0xfffffffd\n"
    );
    assert_eq!(shown(&cells, &["--show", "table[1]", "--show", "table"]), "table[1] = 2\ntable = [1, 2]\n");
    // What a run has left is enough to run it back.
    let back = ["--reverse", "--set", "$1=5", "--set", "n=0", "--set", "[100]=7"];
    assert_eq!(shown(&cells, &back), "");
    refused(&cells, &["--set", "[4]=1"], "there is an instruction at [4]");
    refused(&cells, &["--set", "[4294967296]=1"], "there is no cell [4294967296]");
    refused(&cells, &["--set", "m=1"], "the data symbols are n, table");
}

#[test]
fn numbers_of_pisa_have_32_bits() {
    let echo = file("echo.pisa", ";; pendulum pal file\n START\n READ $1\n EMIT $1\n FINISH\n");
    for fits in ["2147483647", "-2147483648"] {
        assert_eq!(shown(&echo, &["--input", fits]), format!("{fits:0>8}\noutput = [{fits}]\n32 bits emitted\n"));
    }
    assert!(shown(&echo, &["--input", "0xffffffff"]).contains("output = [-1]"));
    refused(&echo, &["--input", "4294967296"], "integers lie between -2147483648 and 4294967295");
    refused(&echo, &["--input", "1", "--set", "$1=-2147483649"], "integers lie between -2147483648 and 4294967295");
    refused(&echo, &["--reverse", "--input", "1", "--output", "4294967296"], "integers lie between");
    refused(&echo, &["--input", "0x1ffffffffw"], "integers lie between");
}

#[test]
fn a_run_of_pisa_is_traced_in_its_own_words() {
    let cells = file("trace.pisa", CELLS);
    let (code, _, trace) = run(&["run", &cells, "--trace"]);
    assert_eq!(code, 0);
    let has = |words: &[&str]| trace.lines().any(|l| words.iter().all(|w| l.contains(w)));
    assert!(has(&["EXCH", "$1 $2", "$1 = 5", "[0] = 0"]) && has(&["EXCH", "$4 $3", "[100] = 7"]), "{trace}");
    assert!(!trace.contains("sp") && !trace.contains("r3"), "{trace}");
    let turns = "tests/filetests/pisa/programs/ends_at_start.pisa";
    assert!(run(&["run", turns, "--trace"]).2.contains("BR = 3"));
}

#[test]
fn of_several_ends_the_last_is_taken_and_that_is_said() {
    let two = ";; pendulum pal file\n START\na: BRA b\n FINISH\nb: BRA a\n ADDI $1 5\nc: BRA d\nd: BRA c\n FINISH\n";
    let two = file("two.pisa", two);
    assert_eq!(run(&["run", &two]), (0, "$1 = 5\n".to_string(), String::new()));
    let (code, out, err) = run(&["run", &two, "--reverse", "--set", "$1=5"]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.contains("warning[P0145]"), "{err}");
}

#[test]
fn batches_of_pisa_give_and_save_data() {
    let cells = file("batch.pisa", CELLS);
    let (numbers, saved) = (file("numbers.csv", "3\n4\n"), file("saved.csv", ""));
    let (code, out, err) =
        run(&["run", &cells, "--batch", &format!("n={numbers}"), "--save", &format!("table={saved}")]);
    assert_eq!((code, err.as_str()), (0, ""));
    // What is saved is not printed, too.
    assert!(!out.contains("table"), "{out}");
    let (_, out, _) = run(&["run", &cells, "--batch", &format!("n={numbers}")]);
    let head = out.lines().next().unwrap_or("");
    assert!(["n", "table", "$1"].iter().all(|name| head.split_whitespace().any(|w| w == *name)), "{out}");
    assert_eq!(std::fs::read_to_string(&saved).expect("saved"), "item,table[0],table[1],error\n0,1,2,\n1,1,2,\n");
    let (_, _, err) = run(&["run", &cells, "--batch", &format!("n={numbers}"), "--save", &format!("x={saved}")]);
    assert!(err.contains("there is no result `x`; there are n, table"), "{err}");
}

const STORE: &str = "procedure main()
    int a = 1
    u8 b = 1
    i8 c = 0
    int m[2][2] = {{1, 2}, {3, 4}}
    u64 large = 18446744073709551615
    stack s
    a += 1
    b += 1
    m[0][1] += a
    push(a, s)
";

#[test]
fn variables_of_janus_are_set_and_shown_as_what_they_are() {
    let store = file("store.ja", STORE);
    let all = "a = 0\nb = 2\nc = 0\nlarge = 18446744073709551615\nm[2][2] = {{1, 4}, {3, 4}}\ns = <2]\n";
    assert_eq!(shown(&store, &[]), all);
    assert_eq!(shown(&store, &["--show", "m", "--show", "s"]), "m[2][2] = {{1, 4}, {3, 4}}\ns = <2]\n");
    let parts = ["--set", "m[1][0]=9", "--set", "m[0]={5,6}", "--show", "m[1][0]", "--show", "m[0]", "--show", "m"];
    assert_eq!(shown(&store, &parts), "m[1][0] = 9\nm[0][2] = {5, 8}\nm[2][2] = {{5, 8}, {9, 4}}\n");
    assert_eq!(shown(&store, &["--set", "s=<8, 7]", "--show", "s"]), "s = <2, 8, 7]\n");
    let back = ["--reverse", "--set", "b=2", "--set", "a=0", "--set", "m={{1,4},{3,4}}", "--set", "s=<2]"];
    assert_eq!(
        shown(&store, &[&back[..], &["--show", "a", "--show", "b", "--show", "s"]].concat()),
        "a = 1\nb = 1\ns = nil\n"
    );
    let (code, out, _) = run(&["run", &store, "--json"]);
    let out: Value = serde_json::from_str(&out).expect("JSON");
    let values = json!({ "a": 0, "b": 2, "c": 0, "large": u64::MAX, "m": [[1, 4], [3, 4]], "s": [2] });
    assert_eq!((code, &out["values"]), (0, &values));
}

#[test]
fn what_variables_of_janus_cannot_hold_is_refused() {
    let store = file("refused.ja", STORE);
    let refuses = |assignment: &str, says: &str| refused(&store, &["--set", assignment], says);
    refuses("b=256", "integers lie between 0 and 255");
    refuses("b=-1", "integers lie between 0 and 255");
    refuses("c=128", "integers lie between -128 and 127");
    refuses("large=-1", "integers lie between 0 and 2^64-1");
    refuses("m[0][0]=9223372036854775808", "integers lie between -2^63 and 2^63-1");
    refuses("m[2][0]=1", "there is no `m[2][0]`: it is `m[2][2]`");
    refuses("m[0][0][0]=1", "it is `m[2][2]`");
    refuses("m[x]=1", "an index is a whole number");
    refuses("m=[1,2,3]", "`m` has 4 words, 3 values are given");
    refuses("s[0]=1", "`s` is a stack");
    refuses("b=0xffffffffffffffff", "integers lie between 0 and 255");
    refuses("c=0xff", "integers lie between -128 and 127");
    // What `--hex` prints reads back.
    assert_eq!(shown(&store, &["--set", "c=-2", "--show", "c", "--hex"]), "c = 0xfffffffffffffffe\n");
    for minus_two in ["0xfffffffffffffffe", "0xfffffffffffffffew"] {
        assert_eq!(shown(&store, &["--set", &format!("c={minus_two}"), "--show", "c"]), "c = -2\n");
    }
    // Registers are no part of the program.
    refuses("r1=1", "there is no variable `r1`; the variables are a, b, c, large, m[2][2], s");
    refused(&store, &["--show", "r1"], "there is no variable `r1`");
    let narrow = file("narrow.ja", "procedure main()\n    int x = 2147483647\n    x -= 1\n");
    refused(&narrow, &["--int", "32", "--set", "x=2147483648"], "integers lie between -2147483648 and 2147483647");
    // In the first dialect, the case of letters does not count.
    let classic = file("classic.ja", "S\nprocedure main\n    S += 1\n");
    assert_eq!(shown(&classic, &["--classic", "--set", "S=4"]), "S = 5\n");
    assert_eq!(shown(&classic, &["--classic", "--set", "s=4", "--show", "S"]), "S = 5\n");
}

#[test]
fn batches_of_janus_give_and_save_variables() {
    let store = file("batch.ja", STORE);
    let (numbers, saved) = (file("bs.csv", "3\n4\n"), file("m.csv", ""));
    let batch = format!("a={numbers}");
    let (code, out, err) = run(&["run", &store, "--batch", &batch, "--show", "m", "--save", &format!("m={saved}")]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "");
    let (_, out, _) = run(&["run", &store, "--batch", &batch, "--show", "m"]);
    assert!(out.contains("{{1, 6}, {3, 4}}") && out.contains("{{1, 7}, {3, 4}}"), "{out}");
    let lines = "item,m[0][0],m[0][1],m[1][0],m[1][1],error\n0,1,6,3,4,\n1,1,7,3,4,\n";
    assert_eq!(std::fs::read_to_string(&saved).expect("saved"), lines);
    let (code, _, err) = run(&["run", &store, "--batch", &batch, "--save", &saved]);
    assert!(code != 0 && err.contains("`s` is a stack"), "{err}");
    let large = file("large.csv", "300\n");
    let (code, _, err) = run(&["run", &store, "--batch", &format!("b={large}")]);
    assert!(code != 0 && err.contains("integers lie between 0 and 255"), "{err}");
}

#[test]
fn energy_counts_what_is_on_a_stack() {
    let store = file("energy.ja", STORE);
    let (code, out, err) = run(&["energy", &store, "--set", "s=<8, 7]", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let out: Value = serde_json::from_str(&out).expect("JSON");
    // Eight numbers, and of the stack its height and the numbers on it.
    let words: Vec<&Value> = out["phases"].as_array().expect("phases").iter().take(2).collect();
    assert_eq!((&words[0]["words_in"], &words[1]["words_out"]), (&json!(11), &json!(12)), "{out}");
}

#[test]
fn energy_counts_cells_that_changed_beyond_the_memory() {
    let far = ";; pendulum pal file\n START\n ADDI $1 5\n ADDI $2 -1\n EXCH $1 $2\n ADDI $2 1\n FINISH\n";
    let far = file("far.pisa", far);
    assert_eq!(shown(&far, &[]), "[4294967295] = 5\n");
    let (code, out, err) = run(&["energy", &far, "--schedule", "8", "--tech", "landauer", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let out: Value = serde_json::from_str(&out).expect("JSON");
    let schedules = &out["schedules"];
    assert_eq!(schedules["state_words"], json!(1), "{schedules}");
    // kT ln 2 for each of 32 bits at 300 K.
    let erase = schedules["technologies"][0]["erase"].as_f64().expect("a price");
    assert!((erase / (32.0 * 1.380_649e-23 * 300.0 * std::f64::consts::LN_2) - 1.0).abs() < 1e-6, "{schedules}");
}
