//! The state of programs in PISA and Janus by name: which values are set, shown, saved and refused.

use crate::common::{command, folder};

use serde_json::{Value, json};

/// Exit status, standard output, standard error.
fn run(args: &[&str]) -> (i32, String, String) {
    command::run(args, "")
}

/// A file of this test's own.
fn file(name: &str, text: &str) -> String {
    let path = folder("state").join(name);
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

/// A number, a matrix, complex numbers, and a variable with a register's name.
const ARRAYS: &str = "@i function f(y!, A::Matrix{Float64}, z::Vector{Complex{Float64}}, r1)
    y! += A[2,1] * r1 * 2
    y! += A[1,2] * A[1,2]
    y! += z[2].re * r1
end
";
const GIVEN: [&str; 2] = ["--args", "0.0,[1.0 2.0; 3.0 4.0],[(1.0,2.0),(3.0,4.0)],5.0"];

#[test]
fn elements_of_nil_are_named_as_in_nil() {
    let program = file("arrays.nil", ARRAYS);
    let shown = |options: &[&str]| shown(&program, &[&GIVEN[..], options].concat());
    assert_eq!(
        shown(&["--show", "A[2,1],A[2],z[2]", "--show", "z[2].im,r1"]),
        "A[2,1] = 3.0\nA[2] = 3.0\nz[2] = [3.0, 4.0]\nz[2].im = 4.0\nr1 = 5.0\n"
    );
    let set = ["--set", "r1=7", "--set", "A[1,2]=9", "--set", "z[2].re=0.5", "--show", "y!,A,z,r1"];
    assert_eq!(shown(&set), "y! = 126.5\nA = [1.0, 3.0, 9.0, 4.0]\nz = [1.0, 2.0, 0.5, 4.0]\nr1 = 7.0\n");
    let refused = |name: &str, says: &str| {
        refused(&program, &[&GIVEN[..], &["--show", name]].concat(), says);
        let (code, _, err) = run(&[&["grad", &program, "--loss", name], &GIVEN[..]].concat());
        assert!(code == 2 && err.contains(says), "{name}: {err}");
    };
    refused("A[0,1]", "there is no `A[0,1]`: elements are counted from 1, the first is `A[1,1]`");
    refused("z[-1].re", "elements are counted from 1, the first is `z[1]`");
    refused("A[3,1]", "`A` has 2 × 2 elements, counted from 1");
    refused("z[1,1]", "`z` has 2 elements, of which the first is `z[1]`");
    refused("z[1].x", "the parts of `z[1]` are re, im");
    refused("y![1]", "`y!` is not an array");
    refused("q", "there is no variable `q`; the variables are y!, A, z, r1");
    refused("A[i]", "an index is a whole number, such as 1");
    // So are what reports print.
    let grad = |options: &[&str]| run(&[&["grad", &program, "--loss", "y!"], &GIVEN[..], options].concat()).1;
    let checked = grad(&["--check"]);
    assert!(["∂/∂A[2,1] ", "∂/∂z[2].re", "∂/∂r1 "].iter().all(|name| checked.contains(name)), "{checked}");
    let found: Value = serde_json::from_str(&grad(&["--json", "--hessian", "--wrt", "A,z[2]"])).unwrap();
    let words = ["A[1,1]", "A[2,1]", "A[1,2]", "A[2,2]", "z[2].re", "z[2].im"];
    assert_eq!(found["hessian"]["words"], json!(words));
    assert_eq!(found["losses"][0]["gradient"]["z[2]"], json!([5.0, 0.0]));
    // And columns of tables, which are given by such names, too.
    let table = file("arrays.csv", "\"A[2,1]\",r1\n1.0,2.0\n3.0,4.0\n");
    let (code, out, err) =
        run(&[&["run", &program, "--batch", &table, "--save", "-", "--show", "A,r1"], &GIVEN[..]].concat());
    let lines = ["item,\"A[1,1]\",\"A[2,1]\",\"A[1,2]\",\"A[2,2]\",r1,error", "0,1.0,1.0,2.0,4.0,2.0,"];
    assert_eq!((code, out.lines().take(2).collect::<Vec<_>>(), err.as_str()), (0, lines.to_vec(), ""));
    // An object of the program keeps its names; in assembly, elements are counted from 0.
    for (form, name, value) in [("obj", "A[2,1]", "3.0"), ("rasm", "A[1]", "3.0")] {
        let out = file(&format!("arrays.{}", if form == "obj" { "o" } else { "rasm" }), "");
        let compiled = run(&[&["compile", &program, "--emit", form, "-o", &out], &GIVEN[..]].concat());
        assert_eq!(compiled.0, 0, "{}", compiled.2);
        let (_, shown, err) = run(&["run", &out, "--show", name]);
        assert_eq!((shown, err), (format!("{name} = {value}\n"), String::new()));
    }
}

#[test]
fn matrices_of_nil_come_back_from_files_row_by_row() {
    let text = "@i function f(A::Matrix{Float64}, z::Matrix{Complex{Float64}})\n    A[1,1] += 0.0\nend\n";
    let program = file("matrix.nil", text);
    let saved = file("matrix.csv", "");
    let complex = file("complex.npy", "");
    let args = "[1.0 2.0 3.0; 4.0 5.0 6.0],[(1,2) (3,4); (5,6) (7,8)]";
    let (code, _, err) =
        run(&["run", &program, "--args", args, "--save", &format!("A={saved}"), "--save", &format!("z={complex}")]);
    assert_eq!((code, err.as_str()), (0, ""));
    let (a, z) = (format!("A=@{saved}"), format!("z=@{complex}"));
    let shown = ["--set", &a, "--set", &z, "--show", "A[1,2],A[2,1],A[2,3],z[1,2].re,z[2,1].im"];
    let zeros = "zeros(2,3),[(0,0) (0,0); (0,0) (0,0)]";
    let (code, out, err) = run(&[&["run", &program, "--args", zeros][..], &shown].concat());
    let wanted = "A[1,2] = 2.0\nA[2,1] = 4.0\nA[2,3] = 6.0\nz[1,2].re = 3.0\nz[2,1].im = 6.0\n";
    let squeezed = |text: &str| {
        text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect::<String>()
    };
    assert_eq!((code, squeezed(&out).as_str()), (0, wanted), "{err}");
    // Registers are no part of the program.
    refused(&program, &["--args", zeros, "--set", "r1=1"], "there is no variable `r1`; the variables are A, z");
    refused(&program, &["--args", zeros, "--show", "r1"], "there is no variable `r1`");
}

/// The command line that a report gives to be copied, as a shell takes it.
fn copied(err: &str) -> Vec<String> {
    let line = err.lines().find_map(|line| line.trim().strip_prefix("pendula ")).unwrap_or_else(|| panic!("{err}"));
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("one").push(c),
        }
    }
    words
}

#[test]
fn a_function_of_nil_without_arguments_is_told_with_a_command_line_that_works() {
    let cases = [
        ("scalars", "@i function f(y!::Float64, x::Float64)\n    y! += sin(x)\nend\n", "y!: Float64, x: Float64"),
        ("open", "@i function f(y!, x)\n    y! += x^2\nend\n", "y!: any type, x: any type"),
        (
            "product",
            "using matrices\n@i function f(y!, A, x)\n    matvec!(y!, A, x)\nend\n",
            "y!: any type, A: any type, x: any type",
        ),
        ("whole", "@i function f(n!::Int, k::Int)\n    n! += div(10, k)\nend\n", "n!: Int, k: Int"),
        (
            "fields",
            "struct P\n    a::Float64\n    n::Int\nend\n@i function f(y!::Float64, p::P)\n    y! += p.a * p.n\nend\n",
            "y!: Float64, p: P",
        ),
        (
            "parts",
            "@i function f(y!::Complex{Float64}, b::Bool)\n    y! += 1.0\nend\n",
            "y!: Complex{Float64}, b: Bool",
        ),
    ];
    for (name, text, types) in cases {
        let program = file(&format!("{name}.nil"), text);
        for (n, command) in ["run", "grad", "level"].into_iter().enumerate() {
            if n == 2 && !pendula_isa::sample::all() {
                continue;
            }
            let (code, out, err) = run(&[command, &program]);
            assert_eq!((code, out.as_str()), (1, ""), "{name}");
            assert!(err.starts_with("error[P0452]: `f` takes "), "{name}: {err}");
            assert!(err.contains(types) && !err.contains("--entry"), "{name}: {err}");
            if command == "grad" && ["whole", "parts"].contains(&name) {
                continue;
            }
            let words = copied(&err);
            assert_eq!(words[..2], [command.to_string(), program.clone()], "{name}");
            let (code, _, err) = command::run(&words, "");
            assert_eq!((code, err.as_str()), (0, ""), "{name}: {words:?}");
        }
    }
    let program = file("several.nil", "@i function g(x!)\n    x! += 1\nend\n@i function f(y!, x)\n    y! += x\nend\n");
    let (_, _, err) = run(&["run", &program]);
    assert!(err.contains("a run begins with the last function of the file; `--entry` names another: g(x!)"), "{err}");
    let (_, _, err) = run(&["run", &program, "--entry", "g"]);
    assert!(err.contains("error[P0452]: `g` takes 1 argument, and none are given"), "{err}");
    assert_eq!(command::run(&copied(&err), "").0, 0, "{err}");
    let (_, out, _) = run(&["run", &program, "--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(said["diagnostics"][0]["code"], "P0452");
}

#[test]
fn nil_and_janus_are_traced_by_lines_of_their_source() {
    let args = ["--round-trip", "examples/fib.ja", "--set", "n=1", "--trace"];
    let trace = |how: &[&str]| run(&[&["run"], &args[..], how].concat()).2;
    let expected = "    18  call fib(x1, x2, n)
     4    if n = 0 then
     8    n -= 1                                  n: 1 → 0
     9    call fib(x1, x2, n)
     4      if n = 0 then
     5      x1 += 1                               x1: 0 → 1
     6      x2 += 1                               x2: 0 → 1
    10    x1 += x2                                x1: 1 → 2
    11    x1 <=> x2                               x1: 2 → 1, x2: 1 → 2
    18< call fib(x1, x2, n)
     4<   if n = 0 then
    11<   x1 <=> x2                               x1: 1 → 2, x2: 2 → 1
    10<   x1 += x2                                x1: 2 → 1
     9<   call fib(x1, x2, n)
     4<     if n = 0 then
     6<     x2 += 1                               x2: 1 → 0
     5<     x1 += 1                               x1: 1 → 0
     8<   n -= 1                                  n: 0 → 1
";
    for how in [["-O0", "interp"], ["-O2", "interp"], ["-O2", "jit"]] {
        assert_eq!(trace(&[how[0], "--engine", how[1]]), expected, "{how:?}");
    }
    // To where the run comes, and the instructions if they are asked for.
    let mut lines = 0;
    let (_, _, whole) = run(&["run", "examples/fib.ja", "--set", "n=2", "--trace"]);
    for steps in ["4", "9", "14", "19", "24"] {
        let (_, _, some) = run(&["run", "examples/fib.ja", "--set", "n=2", "--trace", "--max-steps", steps]);
        let (shown, rest) = some.split_once("… the run ends here: --max-steps\n").expect("an end");
        assert!(whole.starts_with(shown), "{steps}: {some}");
        assert!(lines <= shown.lines().count(), "{steps}: {some}");
        lines = shown.lines().count();
        // The variables are those after the last change that was shown.
        let change = shown.lines().rev().find_map(|l| l.split_once(" n: ")?.1.split_once(" → "));
        let n = change.map_or("2", |(_, n)| n);
        assert!(rest.contains(&format!("n = {n}")), "{steps}: {some}");
    }
    assert!(lines > 3, "{lines}");
    let (_, _, asm) = run(&["run", "examples/fib.ja", "--set", "n=0", "--trace=asm"]);
    assert!(asm.contains("start") && asm.contains("call"), "{asm}");
    let text = "@i function f(y!, x::Vector{Float64})\n    @routine begin\n        t ← 0.0\n        for i = 1:length(x)\n            t += x[i]\n        end\n    end\n    y! += t\n    ~@routine\nend\n";
    let program = file("routine.nil", text);
    let (_, _, trace) = run(&["run", &program, "--args", "0.0,[1.5,2.0]", "--trace"]);
    for line in [
        "     5  t += x[i]",
        "t: 1.5 → 3.5",
        "     8  y! += t",
        "y!: 0.0 → 3.5",
        "     5< t += x[i]",
        "t: 1.5 → 0.0",
        "i: 0 → 1",
    ] {
        assert!(trace.contains(line), "{line}\n{trace}");
    }
    let set = file("set.nil", "@i function f(A!::Matrix{Int})\n    A![2,1] += 5\nend\n");
    let (_, _, trace) = run(&["run", &set, "--args", "[1 2; 3 4]", "--trace"]);
    assert_eq!(trace, "     2  A![2,1] += 5                              A![2, 1]: 3 → 8\n");
}

#[test]
fn procedures_go_by_their_names_in_the_source() {
    let text = "@i function g(y!, x)\n    y! += x\nend\n@i function main(y!, n!)\n    g(y!, 1.5)\n    g(n!, 2)\nend\n";
    let program = file("names.nil", text);
    for command in [&["level"][..], &["energy", "--by", "function"]] {
        let (code, out, err) = run(&[command, &["-O0", &program, "--args", "0.0,0"]].concat());
        assert_eq!((code, err.as_str()), (0, ""));
        let names: Vec<&str> = out.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(["g", "main", "(start)"].iter().all(|name| names.contains(name)), "{out}");
        assert!(!out.contains("g.2") && !out.contains("main.2"), "{out}");
    }
    let (_, out, _) = run(&["level", "examples/fib.ja", "--json"]);
    assert!(!out.contains("main.2") && out.contains("\"main\""), "{out}");
}

#[test]
fn set_takes_what_args_takes_of_a_program_in_nil() {
    let args = ["run", "examples/affine.nil", "--args", "[0.0,0.0],[1.0 2.0;3.0 4.0],[0.5,0.5],[1.0,-1.0]"];
    let set = |value: &str| run(&[&args[..], &["--set", value, "--show", "W,x"]].concat());
    for (value, shown) in [
        ("W=[5 6;7 8]", "W = [5.0, 7.0, 6.0, 8.0]\nx = [1.0, -1.0]\n"),
        ("W=fill(2.5,2,2)", "W = [2.5, 2.5, 2.5, 2.5]\nx = [1.0, -1.0]\n"),
        ("x=zeros(2)", "W = [1.0, 3.0, 2.0, 4.0]\nx = [0.0, 0.0]\n"),
        ("x=1:2", "W = [1.0, 3.0, 2.0, 4.0]\nx = [1.0, 2.0]\n"),
        ("x=[1 2]", "W = [1.0, 3.0, 2.0, 4.0]\nx = [1.0, 2.0]\n"),
    ] {
        let (code, out, err) = set(value);
        assert_eq!((code, out.as_str()), (0, shown), "{value}: {err}");
    }
    for (value, why) in [
        ("W=[1 2 3;4 5 6]", "it is 2×3, and `W` is 2×2"),
        ("x=ones(3)", "`x` has 2 words, 3 values are given"),
        ("x=zeros(9999999999)", "--set x=zeros(9999999999)"),
        ("x=nothing(2)", "there is no function `nothing` here"),
    ] {
        let (code, _, err) = set(value);
        assert!(code == 2 && err.contains(why), "{value}: {err}");
    }
}

/// The elements of an array of arrays lie one after the other, however it is given; of a vector that grows, its elements are shown and set.
#[test]
fn arrays_of_arrays_and_vectors_that_grow_are_set() {
    let text = "@i function f(x::Vector{Vector{T}}, s::T) where T
    for i = 1:length(x), j = 1:length(x[i])
        s += x[i][j]^2 * i
    end
end
";
    let nested = file("nested.nil", text);
    let zeros = "[[0,0],[0,0],[0,0]],0";
    let whole = "x = [1, 2, 3, 4, 5, 6]\ns = 238\n";
    assert_eq!(shown(&nested, &["--args", "[[1,2],[3,4],[5,6]],0"]), whole);
    assert_eq!(shown(&nested, &["--args", zeros, "--set", "x=[[1,2],[3,4],[5,6]]"]), whole);
    let saved = file("nested.npy", "");
    assert_eq!(shown(&nested, &["--args", "[[1,2],[3,4],[5,6]],0", "--save", &format!("x={saved}")]), "s = 238\n");
    assert_eq!(shown(&nested, &["--args", zeros, "--set", &format!("x=@{saved}")]), whole);
    let text = "@i function f(v, x)
    v[end+1] ← x
end
";
    let grows = file("grows.nil", text);
    assert_eq!(shown(&grows, &["--args", "[1.0],2.0", "--set", "v=[5,6]"]), "v = [5.0, 6.0, 2.0]\nx = 2.0\n");
    refused(
        &grows,
        &["--args", "[1.0],2.0", "--save", &format!("v={saved}")],
        "`v` is a vector that grows, whose length varies",
    );
}
