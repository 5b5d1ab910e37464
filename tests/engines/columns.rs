//! Matrices of which columns are made of other columns: a computation with such a matrix of its own stays where it is while a run turns round, and turns
//! are made at once where columns have nothing in common. The bits are the interpreter's where they have, too.

use pendula::isa::sample;

use super::jam::vector;
use super::nil::Call;
use super::whole::{compare, there_and_back_in_c};

/// What turns do to a matrix `u` with `n` rows and `m` columns; whether turns of the loop within depend on none; and whether no turn, whatever the sizes are,
/// adds to a word that it reads.
const LOOPS: [(&str, bool, bool); 14] = [
    ("for col = 2:m, i = 1:n: u[i, col] += k * u[i, col - 1]", true, true),
    (
        "for col = 2:m, i = 2:n-1: u[i, col] += k * (u[i - 1, col - 1] - 2 * u[i, col - 1] + u[i + 1, col - 1])",
        true,
        true,
    ),
    ("for col = 2:m, i = n-1:-1:2: u[i, col] += sin(u[i - 1, col - 1] * u[i + 1, col - 1])", true, true),
    ("for col = 3:m, i = 1:n: u[i, col] += u[i, col - 1] * u[i, col - 2]", true, true),
    ("for col = m-1:-1:1, i = 2:n: u[i, col] += u[i - 1, col + 1] * k", true, true),
    ("for col = 2:m, i = 1:n-1: u[n - i, col] += k * u[i, col - 1]", true, true),
    // The row after the last is the first of the next column.
    ("@inbounds for col = 2:m, i = 1:n: u[i, col] += k * u[i + 1, col - 1]", false, false),
    ("@inbounds for col = 2:m, i = 1:n: u[i - 1, col] += k * u[i, col - 1]", false, false),
    ("@inbounds for col = 2:m, i = n:-1:1: u[i - 1, col] += u[i, col - 1] * k", false, false),
    // One column.
    ("for col = 2:m, i = 2:n: u[i, col] += k * u[i - 1, col]", false, true),
    ("for col = 2:m, i = 1:n-1: u[i + 1, col] += u[i, col] * u[i, col - 1]", false, true),
    ("for col = 2:m, i = 1:n-1: u[i, col] += k * u[i + 1, col]", false, true),
    // The next column, which is added to later, and any column.
    ("for col = 1:m-1, i = 1:n: u[i, col] += k * u[i, col + 1]", true, true),
    ("for col = 2:m, i = 1:n: u[i, col] += u[i, p]", false, false),
];

/// A program in which turns do this, on their own or by a variable that is computed for it.
fn program(turns: &str, indirectly: bool) -> String {
    let (head, statement) = turns.split_once(": u").expect("a loop and a statement");
    let statement = format!("u{statement}");
    let (word, sum) = statement.split_once(" += ").expect("a sum");
    let statement = if indirectly {
        format!(
            "@routine begin
                d ← 0.0
                d += {sum}
            end
            {word} += d
            ~@routine"
        )
    } else {
        statement.clone()
    };
    format!(
        "@i function f!(l!::Float64, x::Vector{{Float64}}, k::Float64, n::Int, m::Int, p::Int)
    @routine begin
        u ← zeros(n, m)
        for j = 1:m, i = 1:n
            u[i, j] += x[i] * j
        end
        {head}
            {statement}
        end
    end
    for i = 1:n
        l! += u[i, m]^2
        l! += u[i, 1] * k
    end
    ~@routine
end
"
    )
}

fn call(n: usize, m: usize) -> Call {
    let args = format!("0.25,{},0.375,{n},{m},2", vector(n, 1));
    Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() }
}

#[test]
fn columns_have_the_same_bits() {
    for (turns, ..) in sample::some(LOOPS) {
        for (n, m) in [(3, 3), (9, 4), (70, 5)] {
            for indirectly in [false, true] {
                let what = format!("{turns}, {n} x {m}, {indirectly}");
                let ran = compare(&what, &program(turns, indirectly), &call(n, m));
                assert!(ran.whole, "{what}");
            }
        }
    }
}

/// A run there and back computes a matrix once, and undoes it once, if doing so comes to where it was.
#[test]
fn matrices_stay_computed() {
    for (turns, independent, spared) in LOOPS {
        for indirectly in [false, true] {
            let c = there_and_back_in_c(&program(turns, indirectly), &call(9, 4)).text;
            let what = format!("{turns}, {indirectly}:\n{c}");
            let columns: Vec<&str> = c.split("WATCH(").skip(1).filter(|text| text.contains(", col, ")).collect();
            assert_eq!(columns.len() == 2, spared || !indirectly, "{what}");
            let turns = columns[0].split("bad |= ").next().expect("a loop");
            let at_once =
                turns.replace("ROLLED", "").split_whitespace().collect::<String>().contains("IVDEPfor(int64_t");
            assert_eq!(at_once, independent, "{turns} of {what}");
        }
    }
}

/// What is done between a computation and its end changes an array that the computation made and read: what read it does not come back.
#[test]
fn arrays_of_a_computation_that_is_disturbed() {
    for (word, ends) in [("u[1]", false), ("u[2]", true), ("u[n]", false), ("t![1]", true)] {
        let source = format!(
            "@i function f!(l!::Float64, t!::Vector{{Float64}}, x::Float64, n::Int)
    for i = 1:n
        @routine begin
            u ← zeros(2)
            v ← 0.0
            u[1] += x
            v += u[1]
        end
        {word} += 3 * x
        l! += v * u[1]
        {back}
        ~@routine
    end
end
",
            back = if word == "u[2]" { "u[2] -= 3 * x" } else { "" }
        );
        let arguments = pendula::arguments::parse("0.25,[0.5,1.5],0.125,1").expect("arguments");
        let ran = compare(word, &source, &Call { arguments, ..Call::default() });
        assert_eq!(ran.finished, ends, "{word}");
    }
}
