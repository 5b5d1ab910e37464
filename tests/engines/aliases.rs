//! Operands that are one word in some turns of a loop: what flows to each is added in the interpreter's order.

use pendula_isa::sample;

use super::jam::vector;
use super::nil::Call;
use super::whole::{compare, there_and_back_in_c};

/// Functions of two numbers, to which different amounts flow.
const FUNCTIONS: [fn(&str, &str) -> String; 5] = [
    |a, b| format!("{a} - {b}"),
    |a, b| format!("{a} / {b}"),
    |a, b| format!("abs({a}) ^ {b}"),
    |a, b| format!("atan({a}, {b})"),
    |a, b| format!("{a} * {b}"),
];

#[test]
fn two_operands_that_are_one_word() {
    for (n, function) in sample::some(FUNCTIONS.into_iter().enumerate()) {
        for (first, second) in [("x[i]", "x[3]"), ("x[4]", "x[i]"), ("x[k[i]]", "x[i]")] {
            let value = function(first, second);
            let source = format!(
                "@i function f!(y!::Vector{{Float64}}, t!::Float64, x::Vector{{Float64}}, w::Vector{{Float64}}, k::Vector{{Int}}, n::Int)
    for i = 1:n
        @routine begin
            u ← 0.0
            u += {value}
        end
        t! += u * w[i]
        y![i] -= u * w[k[i]]
        ~@routine
    end
    for i = n:-2:1
        y![1] += {value}
    end
end
"
            );
            let numbers = |seed: usize| vector(7, seed);
            let args = format!("{},0.25,{},{},[3,1,3,2,1,4,5],5", numbers(1), numbers(3), numbers(4));
            let call = Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() };
            let ran = compare(&format!("{n}: {value}"), &source, &call);
            assert!(ran.whole && ran.finished, "{value}");
        }
    }
}

/// Words of a matrix that loops and tests keep apart need not be compared, and others are.
#[test]
fn operands_that_are_known_to_differ() {
    let pairs = [
        // From where and to where the inner loop goes, an index there, and whether nothing is compared.
        ("i + 1:size(p, 2)", "j", true),
        ("1:i - 1", "j", true),
        ("i:size(p, 2)", "j", false),
        ("1:size(p, 2)", "j", false),
        ("i + 2:size(p, 2)", "j - 1", true),
        ("i + 1:size(p, 2)", "j - 1", false),
    ];
    for (n, (range, index, apart)) in pairs.into_iter().enumerate() {
        let source = format!(
            "@i function f!(s!::Float64, p::Matrix{{Float64}})
    for i = 1:size(p, 2)
        for j = {range}
            @routine begin
                d ← 0.0
                d += p[1, i] - p[1, {index}]
                e ← 0.0
                e += p[2, i] / p[2, {index}]
            end
            s! += d * d * e
            ~@routine
        end
    end
end
"
        );
        for columns in [1, 2, 5] {
            let args = format!("0.25,{}", super::jam::matrix(3, columns, 5));
            let call = Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() };
            let ran = compare(&format!("{n} {columns}"), &source, &call);
            assert!(ran.whole && ran.finished, "{range} {columns}");
            let c = there_and_back_in_c(&source, &call).text;
            assert_eq!(!c.contains(" copy = value;"), apart, "{range}");
        }
    }
}
