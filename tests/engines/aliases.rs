//! Operands that are one word in some turns of a loop: what flows to each is added in the interpreter's order.

use pendula_isa::sample;

use super::jam::vector;
use super::nil::Call;
use super::whole::compare;

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
