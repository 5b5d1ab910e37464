//! Logarithmic numbers in doubles, `ULogarithmic{Float64}` and `Logarithmic{Float64}`: values and gradients are compared with closed forms and
//! dual numbers, for every engine and optimisation level, and printed values are read back.

use crate::common::command;
use crate::common::dual::Dual;
use pendula_isa::sample;

use std::fs;

use serde_json::Value;

/// Engines and levels.
const CONFIGURATIONS: [(&str, &str); 9] = [
    ("interp", "-O0"),
    ("interp", "-O1"),
    ("interp", "-O2"),
    ("jit", "-O0"),
    ("jit", "-O1"),
    ("jit", "-O2"),
    ("native", "-O0"),
    ("native", "-O1"),
    ("native", "-O2"),
];

/// The power function of the NiLang paper.
const POWER: &str = "
@i function power(out, x::T, n::Int) where T
    if (x != 0, ~)
        @routine begin
            ly ← one(ULogarithmic{T})
            lx ← one(ULogarithmic{T})
            lx *= convert(x)
            for i = 1:n
                ly *= lx
            end
        end
        out += convert(ly)
        ~@routine
    end
end
";

/// The same by the default that follows the number that is converted.
const BY_DEFAULT: &str = "
@i function power(out::Float64, x::Float64, n::Int)
    @routine begin
        lx ← ULogarithmic(x)
        ly ← one(lx)
        for i = 1:n
            ly *= lx
        end
    end
    out += Float64(ly)
    ~@routine
end
";

/// Sums and differences: of two numbers, and of their cubes.
const SUMS: &str = "
@i function sums(s!::Float64, x::Float64, y::Float64)
    @routine begin
        l ← ULogarithmic(x) + y
        l *= ULogarithmic(x)^3 - ULogarithmic(y)^3
        m ← Logarithmic(y) - x
        m *= x - 2 * Logarithmic(y)
    end
    s! += Float64(l) + 7 * Float64(m)
    ~@routine
end
";

/// What a program gives for its arguments: the file, and the text that is printed.
struct Program(tempfile::TempDir);

impl Program {
    fn new(text: &str) -> Program {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("p.compiled"), text).expect("written");
        Program(folder)
    }

    fn run(&self, command: &[&str], rest: &[&str]) -> (i32, String, String) {
        let path = self.0.path().join("p.compiled");
        let path = path.to_str().expect("UTF-8");
        command::run(&[command, &[path], rest].concat(), "")
    }

    /// The loss and the derivatives with respect to `wrt`.
    fn gradient<const N: usize>(
        &self,
        configuration: (&str, &str),
        args: &str,
        loss: &str,
        wrt: [&str; N],
    ) -> (f64, [f64; N]) {
        let (engine, level) = configuration;
        let rest = ["--json", "--engine", engine, level, "--args", args, "--loss", loss];
        let (code, out, err) = self.run(&["grad"], &rest);
        assert_eq!(code, 0, "{engine} {level} {args}: {err}");
        let json: Value = serde_json::from_str(&out).expect("JSON");
        let found = &json["losses"][0];
        let number = |v: &Value| v.as_f64().unwrap_or_else(|| panic!("{out}"));
        (number(&found["value"]), wrt.map(|name| number(&found["gradient"][name])))
    }
}

fn near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found}, expected {expected}");
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn a_power_of_a_thousand_turns_has_its_derivative() {
    for text in [POWER, BY_DEFAULT] {
        let program = Program::new(text);
        for (x, n) in [(1.02_f64, 1000), (0.97, 1000), (2.0, 1000), (37.5, 40)] {
            for configuration in CONFIGURATIONS {
                let (value, [by_x]) = program.gradient(configuration, &format!("0.0,{x:?},{n}"), "out", ["x"]);
                near(value, x.powi(n), &format!("{x}^{n}, {configuration:?}"));
                near(by_x, f64::from(n) * x.powi(n - 1), &format!("the derivative of {x}^{n}, {configuration:?}"));
            }
        }
    }
}

fn sums(x: Dual, y: Dual) -> Dual {
    let constant = |c| Dual(c, 0.0);
    let l = (x + y) * (x * x * x - y * y * y);
    let m = (y - x) * (x - constant(2.0) * y);
    l + constant(7.0) * m
}

#[test]
fn sums_and_differences_have_their_derivatives() {
    let program = Program::new(SUMS);
    // Far apart, near, and with another sign of the second difference.
    let points = [(3.0, 0.5), (1.0, 1e-9), (1.000_001, 1.0), (40.0, 39.0), (1e50, 1e49), (1e-40, 1e-41), (5.0, 2.0)];
    for (n, (x, y)) in points.into_iter().enumerate().take(if sample::all() { 7 } else { 3 }) {
        for &configuration in sample::in_turn(&CONFIGURATIONS, n) {
            let (value, [dx, dy]) = program.gradient(configuration, &format!("0.0,{x:?},{y:?}"), "s!", ["x", "y"]);
            let (by_x, by_y) = (sums(Dual(x, 1.0), Dual(y, 0.0)), sums(Dual(x, 0.0), Dual(y, 1.0)));
            let what = format!("{x}, {y}, {configuration:?}");
            near(value, by_x.0, &what);
            near(dx, by_x.1, &format!("by x, {what}"));
            near(dy, by_y.1, &format!("by y, {what}"));
        }
    }
}

#[test]
fn equal_numbers_share_the_derivative_of_their_sum() {
    let program = Program::new(
        "@i function f(y!::ULogarithmic{Float64}, a::ULogarithmic{Float64}, b::ULogarithmic{Float64})
             y! *= a + b
         end",
    );
    for configuration in CONFIGURATIONS {
        let args = "1,exp(750.5),exp(750.5)";
        let (value, [a, b]) = program.gradient(configuration, args, "y!.log", ["a.log", "b.log"]);
        near(value, 750.5 + 2.0_f64.ln(), "the sum");
        near(a, 0.5, "the first one");
        near(b, 0.5, "the second one");
    }
}

#[test]
fn what_is_printed_is_read_back() {
    let program = Program::new(
        "@i function f(y!::Logarithmic{Float64}, a::ULogarithmic{Float64})
             y! *= -a
         end",
    );
    let show = |args: &str, rest: &[&str]| {
        let (code, out, err) = program.run(&["run"], &[&["--args", args], rest].concat());
        assert_eq!(code, 0, "{args} {rest:?}: {err}");
        out.lines().map(|l| l.split_once(" = ").expect("a value").1.to_string()).collect::<Vec<_>>()
    };
    let first = show("-0.1,0.7", &[]);
    assert_eq!(first, [(0.1_f64.ln() + 0.7_f64.ln()).to_string().as_str(), "0", &0.7_f64.ln().to_string()]);
    // The results as arguments, and as words that are set; and the run back from them.
    let again = format!("exp({}),exp({})", first[0], first[2]);
    let set = [format!("--set=y!.log={}", first[0]), format!("--set=a.log={}", first[2])];
    let back = show(&again, &["--reverse"]);
    assert_eq!(back, show("1,1", &["--reverse", &set[0], &set[1]]));
    assert_eq!(back[1..], ["1", &first[2]]);
    near(back[0].parse().expect("a number"), 0.1_f64.ln(), "back");
    // Numbers that no double holds.
    assert_eq!(show("-exp(-2000.5),exp(5000)", &[]), ["2999.5", "0", "5000.0"]);
    for (args, why) in
        [("1,-1", "it is negative"), ("0,1", "the logarithm of 0 is not a number"), ("1,exp(x)", "exp(x)")]
    {
        let (code, out, err) = program.run(&["run"], &["--args", args]);
        assert!(code == 1 && out.is_empty() && err.contains(why), "{args}: {code} {err}");
    }
}
