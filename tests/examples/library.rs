//! The library `pendula`: from a file or a text to values in one call, with errors as the command line prints them.

use crate::common::expectations::{Expectations, Language};

use pendula::isa::Format;
use pendula::vm::Engine;
use pendula::{Array, Error, ErrorKind, Number, Value};
use pendula_isa::sample;

#[path = "../../examples/fit.rs"]
mod fit;

fn example(name: &str) -> pendula::Program {
    pendula::load(format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a file")
}

/// The message of the command line for a program that fails, on standard error.
fn stderr_of(args: &[&str]) -> String {
    let assert = super::pendula(args).env("NO_COLOR", "1").assert().failure();
    String::from_utf8(assert.get_output().stderr.clone()).expect("UTF-8").trim_end().to_string()
}

/// The example at the beginning of the book's page.
#[test]
fn the_page_says_what_is_so() -> Result<(), Error> {
    let norm = example("norm.nil");
    let run = norm.run((0.0, 0.0, [3.0, 0.0, -4.0]))?;
    let length: f64 = run.get("out")?;
    let gradient = norm.loss("out").grad((0.0, 0.0, [3.0, 0.0, -4.0]))?;
    let direction: Vec<f64> = gradient.get("x")?;
    assert_eq!((length, direction), (5.0, vec![0.6000000000000001, 0.0, -0.8]));
    let program = example("factorial.nil").engine(Engine::Interpreter).max_steps(1_000_000);
    let factorial: i64 = program.run((0, 10))?.get("out!")?;
    assert_eq!(factorial, 3_628_800);
    Ok(())
}

#[test]
fn programs_in_nil_take_and_give_values() -> Result<(), Error> {
    let affine = example("affine.nil");
    let run = affine.run(([0.0, 0.0], [[1.0, 2.0], [3.0, 4.0]], [0.5, -0.5], vec![1.0, -1.0]))?;
    assert_eq!(run.get::<Vec<f64>>("y!")?, [-0.5, -1.5]);
    assert_eq!(run.get::<Vec<Vec<f64>>>("W")?, [[1.0, 2.0], [3.0, 4.0]]);
    let weights = run["W"].as_array().expect("an array");
    assert_eq!((weights.shape(), weights.get(&[1, 0]).and_then(Value::to_f64)), (&[2, 2][..], Some(3.0)));
    assert_eq!(run["W"].to_string(), "[[1.0, 2.0], [3.0, 4.0]]");
    // The same as text, and backward from results, which are values again.
    assert_eq!(affine.run("zeros(2), [1.0 2.0; 3.0 4.0], [0.5,-0.5], [1.0,-1.0]")?["y!"], run["y!"]);
    let back: Vec<Value> = ["y!", "W", "b", "x"].iter().map(|name| run[name].clone()).collect();
    assert_eq!(affine.reverse(back)?.get::<Vec<f64>>("y!")?, [0.0, 0.0]);
    // A parameter may be called as a register is.
    let named = pendula::text("r.nil", "@i function f(y!, r2, r3)\n    y! += r2 * r3[1]\nend\n").run((0, 3, [4]))?;
    assert_eq!((named.get::<i64>("y!")?, named.get::<i64>("r2")?, named.get::<Vec<i64>>("r3")?), (12, 3, vec![4]));
    // With other numbers, lengths and types the program is another one, or the same.
    assert_eq!(affine.run(([1.0], [[2.0]], [3.0], [4.0]))?.get::<Vec<f64>>("y!")?, [12.0]);
    assert_eq!(affine.run(([0.0], [[2.0]], [3.0], [5.0]))?.get::<Vec<f64>>("y!")?, [13.0]);
    assert_eq!(affine.run(([1], [[2]], [3], [4]))?.get::<Vec<i64>>("y!")?, [12]);
    assert_eq!(
        example("factorial.nil").engine(Engine::Interpreter).run((0, 20))?["out!"].to_string(),
        "2432902008176640000"
    );
    Ok(())
}

#[test]
fn numbers_keep_every_bit() -> Result<(), Error> {
    let power = example("power.nil").types(["Fixed", "Fixed", "Int"]).format(Format::Q21_43);
    let run = power.round_trip((0, 1.1, 3))?;
    assert_eq!(run.restored(), Some(true));
    let out = &run["out!"];
    assert!(matches!(out, Value::Number(n) if (n.to_f64() - 1.331).abs() < 1e-9), "{out}");
    // A number that is given back has the same word.
    let text =
        pendula::text("copy.nil", "@i function copy(y!::Fixed, x::Fixed)\n    y! += x\nend\n").format(Format::Q21_43);
    assert_eq!(&text.run((0, out))?["y!"], out);
    let complex = example("complex-log.nil").run(((0.0, 0.0), (3.0, 4.0)))?;
    assert_eq!(complex["y!"].field("re").and_then(|re| re.to_f64()), Some(25.0_f64.ln() / 2.0));
    let log = pendula::text("log.nil", "@i function f(y!::ULogFloat64, x::ULogFloat64)\n    y! *= x\nend\n");
    let product = log.run((2.0, 3.0))?;
    assert!((product.get::<f64>("y!")? - 6.0).abs() < 1e-12, "{}", product["y!"]);
    assert_eq!(log.reverse(vec![product["y!"].clone(), Value::from(3.0)])?["x"], product["x"]);
    Ok(())
}

#[test]
fn structs_have_fields() -> Result<(), Error> {
    let source = "struct Point{T}\n    x::T\n    y::T\nend\n@i function f(l!, p::Point)\n    l! += p.x * p.y\nend\n";
    let program = pendula::text("point.nil", source);
    let run = program.run((0.0, (3.0, 4.0)))?;
    assert_eq!((run.get::<f64>("l!")?, run["p"].field("y")), (12.0, Some(Value::from(4.0))));
    let gradient = program.grad((0.0, (3.0, 4.0)))?;
    assert_eq!(gradient.loss().to_f64(), Some(12.0));
    assert_eq!(gradient["p"].field("x").and_then(|x| x.to_f64()), Some(4.0));
    let again = program.run(vec![Value::from(0.0), run["p"].clone()])?;
    assert_eq!(again["l!"], run["l!"]);
    // Arrays of arrays, too, come back as what they were, and can be given again.
    let source = "@i function f(s, xs::Vector{Vector{T}}) where T\n    for i = 1:length(xs)\n        s += i * xs[i][1]\n    end\nend\n";
    let nested = pendula::text("nested.nil", source);
    let run = nested.run((0.0, [[1.0, 2.0], [3.0, 4.0]]))?;
    let again = nested.run(vec![Value::from(0.0), run["xs"].clone()])?;
    assert_eq!((run.get::<f64>("s")?, &again["s"], &again["xs"]), (7.0, &run["s"], &run["xs"]));
    Ok(())
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn gradients_have_the_shapes_of_inputs() -> Result<(), Error> {
    let program = example("affine.nil").loss("y![1]").wrt(["W", "x"]);
    let gradient = program.grad(([0.0, 0.0], [[1.0, 2.0], [3.0, 4.0]], [0.5, -0.5], [1.0, -1.0]))?;
    assert_eq!((gradient.name(), gradient.loss().to_f64()), ("y![1]", Some(-0.5)));
    assert_eq!(gradient.get::<Vec<Vec<f64>>>("W")?, [[1.0, -1.0], [0.0, 0.0]]);
    assert_eq!(gradient.get::<Vec<f64>>("x")?, [1.0, 2.0]);
    let (a, b, left) = fit::fit(&[0.0, 1.0, 2.0, 3.0], &[1.0, 3.1, 4.9, 7.0])?;
    assert!((a - 1.98).abs() < 1e-6 && (b - 1.03).abs() < 1e-6 && left < 0.02, "{a} {b} {left}");
    let square = pendula::text("s.nil", "@i function f(y!, x)\n    y! += x[1] * x[2]\nend\n").hessian();
    assert_eq!(square.grad((0.0, [3.0, 4.0]))?.hessian(), Some(vec![vec![0.0, 1.0], vec![1.0, 0.0]]));
    let matmul = example("affine.nil").loss("y!").wrt(["b"]).jacobian();
    let jacobian = matmul.grad("zeros(2),ones(2,2),ones(2),ones(2)")?;
    assert_eq!(
        (jacobian.get::<Vec<f64>>("b")?, jacobian.rest()[0].get::<Vec<f64>>("b")?),
        (vec![1.0, 0.0], vec![0.0, 1.0])
    );
    Ok(())
}

#[test]
fn other_languages_have_data_by_name() -> Result<(), Error> {
    assert_eq!(example("fib.rasm").set("n", 90).show(["r1"]).run(())?.get::<i64>("r1")?, 2_880_067_194_370_816_120);
    let sort = example("sort.rasm").set("a", [5, 3, 9, 1, 7, 2, 8, 6, 0, 4]);
    assert_eq!(sort.run(())?.get::<Vec<i64>>("a")?, (0..10).collect::<Vec<i64>>());
    assert_eq!(sort.round_trip(())?.restored(), Some(true));
    let janus =
        pendula::text("m.ja", "procedure main()\n    int m[2][2]\n    int x\n    m[1][0] += 7\n    x += m[1][0]\n");
    let run = janus.run(())?;
    assert_eq!((run["m"].to_string().as_str(), run.get::<i64>("x")?), ("[[0, 0], [7, 0]]", 7));
    assert_eq!(janus.set("x", 5).run(())?.get::<i64>("x")?, 12);
    let shows = pendula::text("s.rasm", "main: start\n read r1\n show r1\n emit r1\n finish\n").input(&[5]);
    let run = shows.run(())?;
    assert_eq!((run.shown(), run.output()), (&["5".to_string()][..], &[5][..]));
    let back = shows.output(&[5]).show(["r1"]).reverse(())?;
    assert_eq!((back.get::<i64>("r1")?, back.output()), (0, &[][..]));
    assert_eq!(example("fib.pisa").run(())?.restored(), None);
    assert!(example("bennett.rasm").check(())?.is_empty());
    Ok(())
}

#[test]
fn errors_are_told_as_the_command_line_tells_them() {
    let refused = |error: Error, kind: ErrorKind, code: Option<&str>, args: &[&str]| {
        assert_eq!((error.kind(), error.code()), (kind, code), "{error}");
        if !args.is_empty() {
            assert_eq!(error.to_string(), stderr_of(args));
        }
    };
    let load = |name: &str| pendula::load(name).expect("a file");
    let none = pendula::load("examples/none.nil").expect_err("no file");
    refused(none, ErrorKind::File, None, &["run", "examples/none.nil"]);
    let trap = load("examples/affine.nil").run("zeros(3),ones(2,2),zeros(2),ones(2)").expect_err("a trap");
    let args = ["run", "examples/affine.nil", "--args", "zeros(3),ones(2,2),zeros(2),ones(2)"];
    refused(trap, ErrorKind::Trap, Some("P0102"), &args);
    let trap = load("examples/factorial.nil").reverse((7, 3)).expect_err("no factorial");
    refused(trap, ErrorKind::Trap, Some("P0102"), &["run", "examples/factorial.nil", "--reverse", "--args", "7,3"]);
    let wrong = load("examples/fib.nil").run((0,)).expect_err("an argument is missing");
    refused(wrong, ErrorKind::Program, Some("P0452"), &["run", "examples/fib.nil", "--args", "0"]);
    let gradient = pendula::text("g.rasm", "main: start\n gswap r1, r2\n finish\n").loss("r1.q").wrt(["r2.q"]).grad(());
    refused(gradient.expect_err("own gradients"), ErrorKind::Gradient, Some("P0144"), &[]);
    let argument = load("examples/affine.nil").run("1,zeros(-1)").expect_err("no length");
    assert!(argument.to_string().starts_with("error: argument 2: `zeros(-1)` is not an argument"), "{argument}");
    let large = load("examples/affine.nil").run("zeros(1000000000000)").expect_err("too large");
    assert_eq!((large.kind(), large.code()), (ErrorKind::Argument, Some("P0091")), "{large}");
    let ragged = load("examples/affine.nil").run((0.0, vec![vec![1.0], vec![1.0, 2.0]])).expect_err("no matrix");
    assert!(ragged.to_string().contains("arrays of one shape"), "{ragged}");
    let other = load("examples/fib.rasm").run((1,)).expect_err("no arguments");
    assert!(other.to_string().contains("is assembly: use `set`"), "{other}");
    let unknown = load("examples/fib.rasm").set("m", 1).run(()).expect_err("no such symbol");
    assert!(unknown.to_string().contains("there is no register or data symbol `m`"), "{unknown}");
    let run = load("examples/fib.rasm").run(()).expect("runs");
    assert!(run.get::<f64>("z").expect_err("no result").to_string().contains("no result `z`"));
    let limit = load("examples/wave.rasm").max_steps(1000).run(()).expect_err("too long");
    refused(limit, ErrorKind::Limit, Some("P0130"), &[]);
    // Of a compiled program with the variables that it has there, counted or not.
    let call = ["run", "examples/power.nil", "--args", "0.0,1.02,1000", "--max-steps", "500"];
    for count in [true, false] {
        let config = pendula::vm::Config { count, ..Default::default() };
        let limit = load("examples/power.nil").machine(config).max_steps(500).run((0.0, 1.02, 1000)).expect_err("long");
        assert!(limit.to_string().contains("in `mypower`: out! = 0.0, x = 1.02, n = 1000, ly = "), "{limit}");
        refused(limit, ErrorKind::Limit, Some("P0130"), &call);
    }
    let value = Value::from([1.0]);
    let wanted = f64::try_from(&value).expect_err("an array").to_string();
    assert_eq!(wanted, "error: a number is expected, and this is an array: [1.0]");
    assert!(Array::new(vec![2, 2], vec![Value::Number(Number::from(1.0))]).is_none());
}

#[test]
fn elements_of_several_words_may_stand_side_by_side() -> Result<(), Error> {
    let source = "struct Point{T}\n    x::T\n    y::T\nend\n@i function f(l!, p::Vector{Point{Float64}}, z::Vector{Complex{Float64}})\n    l! += p[2].x + z[1].im\nend\n";
    let program = pendula::text("points.nil", source);
    // As `--json` prints points, and as a file of two columns has complex numbers.
    let run = program.run("0.0, [[1.0,2.0],[3.0,4.0]], [[5.0,6.0]]")?;
    assert_eq!(run.get::<f64>("l!")?, 9.0);
    assert_eq!(run["p"].to_string(), "[(1.0, 2.0), (3.0, 4.0)]");
    assert_eq!(program.run("0.0, [(1.0,2.0),(3.0,4.0)], [(5.0,6.0)]")?["p"], run["p"]);
    Ok(())
}

#[test]
fn programs_that_stop_are_told_alike() {
    let mut compared = 0;
    for folder in ["nil/trap", "nil/error", "janus/trap", "trap"] {
        let files = std::fs::read_dir(format!("tests/filetests/{folder}")).expect("a folder");
        for path in sample::some(files.map(|entry| entry.expect("an entry").path())) {
            let text = std::fs::read_to_string(&path).expect("a file");
            let Some(language) = Language::of(&path) else { continue };
            let expected = Expectations::read(language, &text).expect("expectations");
            let others = ["set", "mem", "input", "backward", "format", "classic"];
            if others.iter().any(|name| expected.has(name)) {
                continue;
            }
            let name = path.display().to_string();
            let mut call = vec!["run", &name, "--max-steps", "1000000"];
            let mut program = pendula::load(&path).expect("a file").max_steps(1_000_000);
            if let Some(types) = expected.option("types") {
                call.extend(["--types", types]);
                program =
                    program.types(pendula::arguments::split(types, ',').expect("types").into_iter().map(str::trim));
            }
            if let Some(entry) = expected.option("entry") {
                call.extend(["--entry", entry]);
                program = program.entry(entry);
            }
            let args = expected.option("args");
            call.extend(args.iter().flat_map(|args| ["--args", args]));
            let Err(error) = program.run(args.unwrap_or("")) else { continue };
            if args.is_none() && error.code() == Some("P0452") {
                // Of arguments that are missing, the command line gives an example to copy.
                continue;
            }
            let output = super::pendula(&call).env("NO_COLOR", "1").output().expect("runs");
            let stderr = String::from_utf8(output.stderr).expect("UTF-8");
            // Warnings come before and behind, and are no errors.
            assert!(stderr.contains(&error.to_string()), "{name}\n{stderr}\nnot\n{error}");
            compared += 1;
        }
    }
    assert!(compared > sample::share(100), "{compared}");
}
