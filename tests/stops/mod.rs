//! Reports of programs that stop: broken programs in Janus and Nil, each with what the report must say. The report is the same at every
//! optimisation level and by every engine.

mod assembly;
mod internal;
mod recursion;

use crate::common::expectations::Language;
use crate::common::{command, folder};

mod corpus;

use std::fs;
use std::path::{Path, PathBuf};

use command::run;
use serde_json::Value;

/// The path of a file of the test that runs. Tests run side by side, and two may have files of one name.
fn place(name: &str) -> PathBuf {
    let test = std::thread::current().name().unwrap_or("test").replace("::", "-");
    folder(&format!("stops/{test}")).join(name)
}

/// The report of a program that stops, which must be the same at every level and with every engine.
fn report(name: &str, text: &str, options: &[&str]) -> String {
    let path = place(name);
    fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();
    let mut found: Option<String> = None;
    for how in [["-O0", "interp"], ["-O1", "jit"], ["-O2", "interp"], ["-O2", "jit"]] {
        let (code, _, err) = run(&[&["run", file, how[0], "--engine", how[1]], options].concat(), "");
        assert_eq!(code, 1, "{name} {how:?}: {err}");
        assert_eq!(*found.get_or_insert_with(|| err.clone()), err, "{name} {how:?}");
    }
    found.unwrap_or_default().replace(file, name)
}

/// Checks a report: what is wrong and where, the line under the caret, and what is noted.
fn check(name: &str, text: &str, options: &[&str], title: &str, place: &str, says: &[&str]) {
    let report = report(name, text, options);
    assert!(report.starts_with(title), "{name}: {title}\n{report}");
    assert!(report.contains(&format!("--> {name}:{place}\n")), "{name}: {place}\n{report}");
    for line in says {
        assert!(report.contains(line), "{name}: {line}\n{report}");
    }
    let inner = internal(&report, text);
    assert!(inner.is_none(), "{name} names {inner:?}\n{report}");
}

/// Words that are internal to the compiler and the machine, which an author of Nil or Janus does not know.
const INTERNAL: &[&str] = &[
    "off by ",
    " ≠ ",
    " = 0 does not hold",
    " = 1 does not hold",
    "jumps from here",
    "its partner",
    "virtual register",
    "malformed",
    " flag",
    "[r",
    "`jmp",
    ".argument",
    ".words",
    ".bound",
    "`assert",
    "`zero.",
    "`.format",
    "`.mem",
];

/// The first internal word in a report, if any. A word that the program itself has is not internal.
fn internal(report: &str, program: &str) -> Option<String> {
    let phrase = INTERNAL.iter().find(|inner| report.contains(**inner) && !program.contains(**inner));
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '%' | '.' | '_' | '!' | '$');
    // A register, a virtual one, a procedure with the number of an instance.
    let counted = |word: &str| {
        let begins = |head: &str| {
            word.strip_prefix(head).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        begins("r") || begins("%") || begins("v") || begins("main.") || (word.starts_with('r') && word.ends_with('$'))
    };
    let words =
        |text: &str| text.split(|c| !inside(c)).filter(|word| counted(word)).map(str::to_string).collect::<Vec<_>>();
    let own = words(program);
    let word = || words(report).into_iter().find(|word| !own.contains(word));
    phrase.map(|inner| (*inner).to_string()).or_else(word)
}

/// A broken body in Janus: its name, itself, the title of the report, line and column, and what else is said.
type Janus = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

/// A broken program in Nil: its name, itself, its arguments, and the same.
type Nil = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

/// A program in Janus with a procedure `p` of this body, called with x = 3, y = 5, an array {4, 2, 0} and a stack.
fn janus(body: &str) -> String {
    format!(
        "procedure p(int x, int y, int a[], stack s)\n{body}\nprocedure main()\n    int x = 3\n    int y = 5\n    int a[3] = {{4, 2, 0}}\n    stack s\n    call p(x, y, a, s)\n"
    )
}

const SCOPE: &str = "in `p`: x = 3, y = 5, a = {4, 2, 0}, s = nil";

/// Broken bodies in Janus.
const JANUS_PROGRAMS: &[Janus] = &[
    (
        "fi_then",
        "    if x = 3 then\n        x += 1\n    fi x = 3",
        "error[P0109]: `fi x = 3` should be true here, because the `then` branch was taken",
        "4:8",
        &[
            "^^^^^ x = 4",
            "`if x = 3` was true",
            "in `p`: x = 4, y = 5, a = {4, 2, 0}, s = nil",
            "`p` called by `main`, at fi_then.ja:10",
        ],
    ),
    (
        "fi_else",
        "    if x > y then\n        x += 1\n    else\n        x += 3\n    fi x > y",
        "error[P0109]: `fi x > y` should be false here, because the `else` branch was taken",
        "6:8",
        &["^^^^^ x = 6, y = 5", "`if x > y` was false"],
    ),
    (
        "fi_of_an_element",
        "    if a[1] = 2 then\n        a[1] += 2\n    fi a[1] = 2",
        "error[P0109]: `fi a[1] = 2` should be true here, because the `then` branch was taken",
        "4:8",
        &["a = {4, 4, 0}"],
    ),
    (
        "from_entry",
        "    from x = 0 loop\n        x += 1\n    until x = 9",
        "error[P0109]: `from x = 0` should be true here, because the loop is entered",
        "2:10",
        &["^^^^^ x = 3", SCOPE],
    ),
    (
        "from_turn",
        "    from x < 5 do\n        y += x\n    loop\n        x += 1\n    until x = 9",
        "error[P0109]: `from x < 5` should be false here, because the loop has completed an iteration",
        "2:10",
        &["^^^^^ x = 4"],
    ),
    (
        "until_wrong",
        "    local int i = 0\n    from i = 0 loop\n        i += 1\n        i -= 1\n    until i = 1\n    delocal int i = 1",
        "error[P0109]: `from i = 0` should be false here, because the loop has completed an iteration",
        "3:10",
        &["^^^^^ i = 0", "in `p`: x = 3, y = 5, a = {4, 2, 0}, s = nil, i = 0"],
    ),
    (
        "delocal_value",
        "    local int t = x\n    t += y\n    delocal int t = x",
        "error[P0103]: `t` is 8 where it ends, and `delocal` gives 3",
        "4:13",
        &["t = 8"],
    ),
    (
        "delocal_expression",
        "    local int t = x * y\n    x += 1\n    delocal int t = x * y",
        "error[P0103]: `t` is 15 where it ends, and `delocal` gives 20",
        "4:13",
        &["t = 15", "x = 4"],
    ),
    (
        "delocal_array",
        "    local int b[3]\n    b[1] += x\n    delocal int b[3]",
        "error[P0103]: `b[1]` is 3 where it ends, and `delocal` gives 0",
        "4:13",
        &["b[1] = 3", "b = {0, 3, 0}"],
    ),
    (
        "delocal_unsigned",
        "    local u8 t = (u8) 250\n    t += (u8) 4\n    delocal u8 t = (u8) 1",
        "error[P0103]: `t` is 254 where it ends, and `delocal` gives 1",
        "4:13",
        &["t = 254"],
    ),
    (
        "stack_not_empty",
        "    local stack t = nil\n    push(x, t)\n    delocal stack t = nil",
        "error[P0102]: assertion failed: the stack `t` is not empty where it ends",
        "4:13",
        &["t = <3]", "x = 0"],
    ),
    ("assertion", "    assert x = y", "error[P0102]: assertion failed: the assertion does not hold", "2:5", &[SCOPE]),
    (
        "index",
        "    a[x] += y",
        "error[P0102]: assertion failed: the index lies outside `a`, which has 3 elements there",
        "2:7",
        &[SCOPE],
    ),
    (
        "deep",
        "    call q(x, y)\nprocedure q(int n, int m)\n    if n = 0 then\n        m += 1\n    else\n        n -= 1\n        call q(n, m)\n        n += 1\n    fi m = 6",
        "error[P0109]: `fi m = 6` should be false here, because the `else` branch was taken",
        "10:8",
        &["in `q`: n = 1, m = 6", "`q` called by `q`, at deep.ja:8", "`q` called by `p`, at deep.ja:2"],
    ),
    (
        "undone",
        "    x -= 3\n    uncall q(x)\nprocedure q(int n)\n    if n = 0 then\n        n += 1\n    fi n = 0",
        "error[P0109]: `if n = 0` should be true here, because the `then` branch was undone",
        "5:8",
        &["n = -1", "`fi n = 0` was true", "`q` uncalled by `p`, at undone.ja:3"],
    ),
];

#[test]
fn janus_programs() {
    for (name, body, title, place, says) in JANUS_PROGRAMS {
        check(&format!("{name}.ja"), &janus(body), &[], title, place, says);
    }
}

#[test]
fn variables_that_are_one_are_named() {
    let text = "procedure f(int a, int b)\n    a += b\nprocedure main()\n    int x = 2\n    call f(x, x)\n";
    let says =
        ["`a` and `b` are the same, since alias.ja:5", "in `f`: a = 2, b = 2", "`f` called by `main`, at alias.ja:5"];
    let title = "error[P0102]: assertion failed: the statement reads the word that it changes";
    check("alias.ja", text, &[], title, "2:5", &says);
}

#[test]
fn janus_programs_backward() {
    let text = "procedure main()\n    int x = 7\n    local int t = x\n    t += 1\n    delocal int t = 4\n";
    let title = "error[P0103]: `t` is 3 where it ends, and run backward, it ends with what `local` gives, 7";
    check("back.ja", text, &["--reverse"], title, "3:5", &["t = 3", "in `main`: x = 7, t = 3"]);
    let text = "procedure main()\n    int x = 7\n    from x = 0 loop\n        x += 1\n    until x = 5\n";
    let title = "error[P0109]: `until x = 5` should be true here, because the loop is entered backward";
    check("turned.ja", text, &["--reverse"], title, "5:11", &["x = 7"]);
}

/// Broken programs in Nil.
const NIL_PROGRAMS: &[Nil] = &[
    (
        "branch",
        "@i function f(x::Int, y::Float64)\n    if (x > 2, x < 2)\n        y += 1.5\n    end\nend\n",
        "3,0.5",
        "error[P0109]: `x < 2` should be true here, because the first branch was taken",
        "2:16",
        &["x = 3", "`if x > 2` was true", "in `f`: x = 3, y = 2.0"],
    ),
    (
        "elseif",
        "@i function f(x::Int)\n    if (x == 1, x == 1)\n        x += 0\n    elseif (x == 2, x == 2)\n        x += 3\n    end\nend\n",
        "2",
        "error[P0109]: `x == 2` should be true here, because the first branch was taken",
        "4:21",
        &["x = 5"],
    ),
    (
        "loop",
        "@i function f(n::Int)\n    while (n < 5, n > 3)\n        n += 1\n    end\nend\n",
        "4",
        "error[P0109]: `n > 3` should be false here, because the loop is entered",
        "2:19",
        &["n = 4"],
    ),
    (
        "turns",
        "@i function f(n::Int)\n    while (n < 5, n != 3)\n        n += 0\n    end\nend\n",
        "3",
        "error[P0109]: `n != 3` should be true here, because the loop has completed an iteration",
        "2:19",
        &["n = 3"],
    ),
    (
        "ends",
        "@i function f(y::Float64, x::Float64)\n    t ← zero(x)\n    t += x * x\n    y += t\n    t → zero(x)\nend\n",
        "1.0,1.5",
        "error[P0103]: `t` is 2.25 where it ends, and it is deallocated with 0.0",
        "5:5",
        &["t = 2.25", "in `f`: y = 3.25, x = 1.5, t = 2.25"],
    ),
    (
        "elements",
        "@i function f(v::Vector{Int}, m::Matrix{Float64})\n    b ← zeros(Int, 3)\n    b[2] += v[1]\n    b → zeros(Int, 3)\nend\n",
        "[7,8],[1 2; 3 4]",
        "error[P0103]: `b[2]` is 7 where it ends, and it is deallocated with 0",
        "4:5",
        &["v = [7, 8], m = [1.0 2.0; 3.0 4.0], b = [0, 7, 0]"],
    ),
    (
        "called",
        "@i function g(u::Int)\n    if (u > 1, u > 9)\n        u += 1\n    end\nend\n@i function f(v::Vector{Int}, z::Complex{Float64})\n    for i = 1:2\n        g(v[i])\n    end\nend\n",
        "[0,5],(1.5,2.5)",
        "error[P0109]: `u > 9` should be true here, because the first branch was taken",
        "2:16",
        &["in `g`: u = 6", "`g` called by `f`, at called.nil:8"],
    ),
];

#[test]
fn nil_programs() {
    for (name, text, args, title, place, says) in NIL_PROGRAMS {
        check(&format!("{name}.nil"), text, &["--entry", "f", "--args", args], title, place, says);
    }
}

#[test]
fn a_function_without_value_is_told_without_registers() {
    let text = "@i function f(y::Float64, x::Float64)\n    y += log(x)\nend\n";
    let title = "error[P0114]: the function has no value at this argument";
    check(
        "log.nil",
        text,
        &["--args", "0.5,-1.0"],
        title,
        "2:5",
        &["in `f`: y = 0.5, x = -1.0", "guard it with an `if`"],
    );
    // The same by the C compiler's code, and on the way back with gradients.
    let path = place("log.nil");
    let file = path.to_str().unwrap();
    for command in [&["run", "--engine", "native"][..], &["grad", "--loss", "y"], &["run", "--reverse", "-O0"]] {
        let (code, out, err) = run(&[command, &[file, "--args", "0.5,-1.0"]].concat(), "");
        assert_eq!(code, 1, "{command:?}: {err}");
        assert!(
            out.starts_with("stopped after ") && out.ends_with(", with:\ny = 0.5\nx = -1.0\n"),
            "{command:?}: {out}"
        );
        assert!(err.starts_with(title) && err.contains("x = -1.0"), "{command:?}: {err}");
        assert_eq!(internal(&err, text), None, "{command:?}: {err}");
    }
}

#[test]
fn an_assertion_is_told_with_the_variables_that_it_names() {
    let text = "@i function f(n!::Int, k::Int)\n    n! += div(k, 2)\n    @safe @assert n! % 2 == 0\nend\n";
    let title = "error[P0102]: assertion failed: `n! % 2 == 0` does not hold";
    check("rest.nil", text, &["--args", "0,3"], title, "3:5", &["^ n! = 1\n", "in `f`: n! = 1, k = 3"]);
    // A comment behind it is not a part of it.
    let text = janus("    assert x = 4 // y is none of it\n    y += 1");
    let title = "error[P0102]: assertion failed: the assertion does not hold";
    check("comment.ja", &text, &[], title, "2:5", &["^^^^^^^^^^^^ x = 3\n"]);
    let text = "@i function f(y!::Float64, v::Vector{Float64}, k::Int)\n    y! += v[k]\nend\n";
    let title = "error[P0102]: assertion failed: the index `k` lies outside `v`";
    check("index.nil", text, &["--args", "0.0,[1.0,2.0],3"], title, "2:5", &["v = [1.0, 2.0], k = 3"]);
}

#[test]
fn json_says_the_same() {
    let text = janus("    if x = 3 then\n        x += 1\n    fi x = 3");
    let (code, out, err) = run(&["run", "-", "--json"], &text);
    assert_eq!((code, err.as_str()), (1, ""));
    let json: Value = serde_json::from_str(&out).unwrap();
    let stop = &json["outcome"]["stop"];
    assert_eq!(stop["code"], "P0109");
    assert_eq!(stop["variables"]["x"], "4");
    assert_eq!(stop["calls"][0]["name"], "p");
    assert_eq!((&stop["calls"][0]["called"]["line"], &stop["calls"][1]["called"]), (&10.into(), &Value::Null));
}

#[test]
fn a_gradient_that_does_not_exist_is_told_with_variables() {
    let text = "@i function angle(y!::Float64, x::Vector{Float64})
    s ← 0.0
    for i = 1:length(x)
        s += x[i]^2
    end
    y! += asin(s)
    for i = 1:length(x)
        s -= x[i]^2
    end
    s → 0.0
end
";
    let path = place("no-gradient.nil");
    fs::write(&path, text).unwrap();
    for engine in ["interp", "jit", "native"] {
        let file = path.to_str().unwrap();
        let (code, _, err) = run(&["grad", file, "--args", "0.0,[1.0,0.0]", "--engine", engine], "");
        assert_eq!(code, 1, "{err}");
        assert!(err.starts_with("error[P0113]: division by zero") && err.contains(":6:5\n"), "{err}");
        assert!(err.contains("in `angle`: y! = 1.5707963267948966, x = [1.0, 0.0], s = 1.0"), "{engine}: {err}");
    }
}

#[test]
fn a_run_of_no_steps_has_the_values_that_were_given() {
    let given = ["--reverse", "examples/fib.ja", "--set", "n=0", "--set", "x1=5", "--set", "x2=8", "--max-steps", "0"];
    let (code, out, _) = run(&[&["run"], &given[..]].concat(), "");
    assert_eq!((code, out.ends_with(", with:\nn = 0\nx1 = 5\nx2 = 8\n")), (1, true), "{out}");
}

#[test]
fn an_index_outside_has_its_value_and_a_way_out() {
    let janus = "procedure main()\n    int x\n    int v[3]\n    x += 5\n    v[x] += 1\n";
    let says = ["x = 5", "elements are counted from 0; see what the index comes from"];
    check("outside.ja", janus, &[], "error[P0102]: ", "5:7", &says);
    let nil = "@i function f(y!::Float64, v::Vector{Float64}, i::Int)\n    y! += v[i]\nend\n";
    let says = ["i = 7", "elements are counted from 1; see what the index comes from"];
    check("outside.nil", nil, &["--args", "0.0,[1.0,2.0],7"], "error[P0102]: ", "2:5", &says);
}

/// An array for which there is no memory: where its words are used, and not checked before, the report is none of an index.
#[test]
fn an_array_without_memory_is_told_at_every_level() {
    let program = "@i function main(d!::Int, n::Int)\n    @routine begin\n        D ← zeros(Int, n, n)\n        for j = 1:n\n            \
                   D[1, j] += j\n        end\n    end\n    d! += D[1, n]\n    ~@routine\nend\n";
    let path = place("without_memory.nil");
    fs::write(&path, program).unwrap();
    for level in ["-O0", "-O1", "-O2"] {
        let (code, out, err) = run(&["run", path.to_str().unwrap(), "--args", "0,3000", level], "");
        assert!(err.starts_with("error[P0101]: no memory is left"), "{level}: {err}");
        assert_eq!((code, err.contains("`--mem` gives more memory")), (1, true), "{level}: {out}{err}");
    }
}

/// Undone, a statement with an index outside its array stops before it has changed anything, and with the values that led there, also where
/// what it would have changed is another variable.
#[test]
fn an_index_outside_is_told_before_it_is_undone() {
    let program = "@i function main(a, i, k)\n    a[i] += 7\n    k += 1\nend\n";
    let says = ["running backward: a = [1, 2], i = 3", "in `main`: a = [1, 2], i = 3, k = 9"];
    let options = ["--reverse", "--args", "[1,2],3,10"];
    check("outside_back.nil", program, &options, "error[P0102]: ", "2:5", &says);
    let program = "@i function g(a, i)\n    INC(a[i])\nend\n@i function main(a, i)\n    ~g(a, i)\nend\n";
    let says = ["in `g`: a = [1, 2], i = 3", "`g` uncalled by `main`, at "];
    check("outside_undone.nil", program, &["--args", "[1,2],3"], "error[P0102]: ", "2:5", &says);
    let program = "procedure g(int a[], int i)\n    a[i] += 2\n\nprocedure main()\n    int a[3]\n    int i = 3\n    uncall g(a, i)\n";
    check("outside_undone.ja", program, &[], "error[P0102]: ", "2:7", &["running backward: i = 3"]);
}
