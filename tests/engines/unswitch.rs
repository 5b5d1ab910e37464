//! Loops whose turns all do one of two things: C code decides which before the loop. Values and gradients are the interpreter's to the bit.

use pendula::compiler::ir::effects::walk;
use pendula::compiler::ir::{LocatedStmt, Stmt};
use pendula::isa::sample;

use super::nil::Call;
use super::whole::{compare, compare_there_and_back, form_for_c};

/// Programs, and in how many loops the whole turn is still a conditional with two sides, which differs from turn to turn.
const PROGRAMS: &[(&str, &str, usize)] = &[
    (
        "by the count of the loop around it",
        "for i = 1:n
            for j = 1:n
                if (i < k, ~)
                    u[j] += x[j] * x[i]
                else
                    u[j] -= sin(x[j]) + i
                end
            end
        end",
        1,
    ),
    (
        "two loops deep, and downward",
        "for i = n:-1:1
            for j = n:-1:1
                if (k == 2, ~)
                    u[j] += x[i] * x[j]
                else
                    u[i] += x[j]
                end
            end
        end",
        0,
    ),
    (
        "by what the loop counts itself",
        "for j = 1:n
            if (j < k, ~)
                u[j] += x[j]
            else
                u[j] -= x[j] * x[1]
            end
        end",
        1,
    ),
    (
        "by a number",
        "for j = 1:n
            if (x[1] < 0.5, ~)
                u[j] += x[j]
            else
                u[j] -= x[j] * x[1]
            end
        end",
        1,
    ),
    (
        "by what turns change",
        "for j = 1:n
            if (c < 3, c < 4)
                u[j] += x[j]
                c += 1
            else
                u[j] -= exp(x[j])
                c += 2
            end
        end",
        1,
    ),
    (
        "a loop without turns",
        "for i = 1:n
            for j = n:i - 1
                if (i == k, ~)
                    u[j] += x[j]
                else
                    u[i] -= x[j] * x[i]
                end
            end
        end",
        0,
    ),
    (
        "a loop in a side",
        "for i = 1:n
            if (k > 1, ~)
                for j = 1:i
                    if (k > i, ~)
                        u[j] += x[i]
                    else
                        u[i] += x[j] * x[i]
                    end
                end
            else
                u[i] += x[i]
            end
        end",
        1,
    ),
];

fn program(computation: &str) -> String {
    format!(
        "@i function f!(y!::Float64, x::Vector{{Float64}}, n::Int, k::Int)
    @routine begin
        u ← zeros(n)
        c ← 0
        {computation}
    end
    for i = 1:n
        y! += u[i] * u[i]
    end
    ~@routine
end
"
    )
}

fn call(n: usize, k: usize) -> Call {
    let x: Vec<String> = (0..n).map(|i| format!("{:.2}", 0.3 + i as f64 * 0.17)).collect();
    let args = format!("0.25,[{}],{n},{k}", x.join(","));
    Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() }
}

/// In how many loops the whole turn is a conditional with two sides.
fn conditional_turns(body: &[LocatedStmt]) -> usize {
    let mut count = 0;
    walk(body, &mut |s| {
        if let Stmt::For { body, .. } = &s.stmt
            && let [LocatedStmt { stmt: Stmt::If { then, otherwise, .. }, .. }] = body.as_slice()
        {
            count += usize::from(!then.is_empty() && !otherwise.is_empty());
        }
    });
    count
}

#[test]
fn what_each_turn_decides_the_same_way_is_decided_before_the_loop() {
    for (name, computation, left) in PROGRAMS {
        let (program, ..) = form_for_c(&program(computation), &call(4, 2));
        let count: usize = program.functions.iter().map(|f| conditional_turns(&f.body)).sum();
        assert_eq!(count, *left, "{name}");
    }
}

#[test]
fn loops_that_are_decided_before() {
    for (name, computation, _) in sample::some(PROGRAMS.iter()) {
        let source = program(computation);
        compare(name, &source, &call(9, 2));
        compare_there_and_back(name, &source, &call(4, 2));
        compare_there_and_back(&format!("{name}, once"), &source, &call(1, 3));
    }
}
