//! Indices that turns of a loop compute: C and Cranelift look at them before the loop, and give up where the interpreter stops, and only there.

use pendula::isa::sample;

use super::jam::vector;
use super::nil::Call;
use super::whole::{compare, there_and_back_in_c};

/// A range, an index into six numbers, and whether all turns lie within them.
const LOOPS: [(&str, &str, bool); 20] = [
    ("2:6", "i - 1", true),
    ("1:6", "i - 1", false),
    ("1:5", "i + 1", true),
    ("1:6", "i + 1", false),
    ("6:-1:1", "7 - i", true),
    ("6:-1:0", "7 - i", false),
    ("1:n", "n + 1 - i", true),
    ("0:n", "n + 1 - i", false),
    ("n:-1:2", "i - 1", true),
    ("n:-1:1", "i - 1", false),
    ("1:n", "n - 2", true),
    ("1:n", "n + 2", false),
    // No turn comes to it.
    ("1:n-6", "i + 9", true),
    ("1:2:n", "i + 1", true),
    ("1:2:n+1", "i + 1", false),
    ("1:3", "2 * i", true),
    ("1:4", "2 * i", false),
    ("1:3", "i * i - 3 * i + 3", true),
    // Numbers around the largest.
    ("9223372036854775805:m", "i - 9223372036854775804", true),
    ("-9223372036854775807:-9223372036854775805", "i + 9223372036854775807 + 1", true),
];

fn program(range: &str, index: &str) -> String {
    let of = "Vector{Float64}";
    format!(
        "@i function f!(s!::Float64, y!::{of}, x::{of}, n::Int, m::Int)
    for i = {range}
        y![{index}] += x[{index}] * x[2]
        s! += sin(x[{index}])
    end
    @routine begin
        u ← 0.0
        for i = {range}
            u += x[{index}]
            u += x[{index}] * x[1]
        end
    end
    s! -= u * u
    ~@routine
end
"
    )
}

fn call() -> Call {
    let args = format!("0.25,{},{},6,9223372036854775806", vector(6, 1), vector(6, 3));
    Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() }
}

#[test]
fn indices_that_turns_compute() {
    for (range, index, within) in sample::some(LOOPS) {
        let what = format!("{range}: {index}");
        let ran = compare(&what, &program(range, index), &call());
        assert!(ran.whole, "{what}");
        assert_eq!(ran.finished, within, "{what}");
    }
}

/// Comparisons with what a turn computes are made before the loop.
#[test]
fn checks_come_before_loops() {
    for (range, index) in [("2:n", "i - 1"), ("n:-1:1", "n + 1 - i"), ("1:n", "n - 2")] {
        let c = there_and_back_in_c(&program(range, index), &call());
        let turns = c.text.split("IVDEP").nth(1).and_then(|text| text.split("bad |= ").next()).expect("a loop");
        assert!(!turns.contains("return 1"), "{turns}");
    }
}
