//! The loop form as data: what is checked before loops, and kept in variables.

use pendula_codegen::loops::{Check, Count, Stmt};
use pendula_compiler::compile::{Options, compile, for_c};
use pendula_compiler::loop_form::{Certify, Mode, Settings, build};
use pendula_compiler::nil::sema::{Argument, Number};
use pendula_compiler::passes::{Pass, Switches};
use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;

const SUM: &str = "
@i function sum!(y!::Vector{Float64}, x::Vector{Float64}, k::Int)
    for i = 1:length(x)
        y![k] += x[i]
    end
end
";

/// The loop of a program in a run forward.
fn the_loop(switches: Switches) -> Count {
    let arguments = vec![
        Argument::Array(vec![2], vec![Number::Float(0.0); 2]),
        Argument::Array(vec![3], vec![Number::Float(1.0); 3]),
        Argument::Number(Number::Int(2)),
    ];
    let options = Options { arguments, ..Options::default() };
    let compiled = compile("sum.nil", SUM.to_string(), &options);
    let ir = for_c(compiled.source.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics)), compiled.switches);
    let modes = [Mode::Run(Direction::Forward, AdMode::Plain)];
    let program =
        build(&ir, &compiled.arguments, &modes, Settings { fast: false, certify: Certify::Everything, switches })
            .expect("a loop form");
    program.0.functions.iter().find_map(|f| first_loop(&f.body)).expect("a loop").clone()
}

/// The first loop among statements, or on the first side of conditionals.
fn first_loop(statements: &[Stmt]) -> Option<&Count> {
    statements.iter().find_map(|s| match s {
        Stmt::Count(count) => Some(&**count),
        Stmt::If { then, .. } => first_loop(then),
        _ => None,
    })
}

fn checks_addresses(count: &Count) -> bool {
    count.body.iter().any(|s| matches!(s, Stmt::Inside(_)))
}

#[test]
fn addresses_are_checked_before_a_loop() {
    let count = the_loop(Switches::default());
    assert!(count.checks.iter().any(|c| matches!(c, Check::Leaves(_, 1))), "of `x`: {:?}", count.checks);
    assert!(count.checks.iter().any(|c| matches!(c, Check::Outside(_))), "of `y!`: {:?}", count.checks);
    assert!(!checks_addresses(&count), "{:?}", count.body);
}

#[test]
fn words_that_stay_are_kept_in_variables() {
    let count = the_loop(Switches::default());
    assert!(matches!(count.kept.as_slice(), [kept] if kept.written), "{:?}", count.kept);
    assert!(count.independent, "each turn only adds to the word that is kept");
    assert!(the_loop(Switches::default().without(Pass::Scalars)).kept.is_empty());
}

#[test]
fn without_bounds_each_turn_checks_its_addresses() {
    let count = the_loop(Switches::default().without(Pass::Bounds));
    assert!(checks_addresses(&count) && count.checks.is_empty() && count.kept.is_empty());
}

/// A loop within a loop, of which turns may be made at once or not.
fn nest(turn: &str) -> Count {
    let source = format!(
        "@i function f!(y!::Vector{{Float64}}, A!::Matrix{{Float64}}, x::Vector{{Float64}})
    for k = 2:length(x)
        for i = 1:size(A!, 1)
            {turn}
        end
    end
end
"
    );
    let arguments = vec![
        Argument::Array(vec![40], vec![Number::Float(0.0); 40]),
        Argument::Array(vec![20, 20], vec![Number::Float(0.0); 400]),
        Argument::Array(vec![20], vec![Number::Float(1.0); 20]),
    ];
    let options = Options { arguments, ..Options::default() };
    let compiled = compile("f.nil", source, &options);
    let ir = for_c(compiled.source.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics)), compiled.switches);
    let modes = [Mode::Run(Direction::Forward, AdMode::Plain)];
    let program =
        build(&ir, &compiled.arguments, &modes, Settings { switches: compiled.switches, ..Settings::default() })
            .expect("a loop form");
    program.0.functions.iter().find_map(|f| first_loop(&f.body)).expect("a loop").clone()
}

#[test]
fn turns_are_made_at_once_where_none_depends_on_another() {
    let at_once = |turn: &str| nest(turn).jammed.map(|jammed| jammed.vars.len() + 1);
    // Through the same words, and sums.
    assert_eq!(at_once("y![i] += A![i, k] * x[k]"), Some(4));
    assert_eq!(at_once("y![k] += A![i, k] * x[i]"), Some(8));
    // Through words that earlier turns have changed, with other turns within.
    assert_eq!(at_once("A![i, k] += A![i, k - 1] * x[k]"), None);
    assert_eq!(at_once("y![i + k - 1] += A![i, k] * x[k]"), None);
    assert_eq!(at_once("y![1] += A![i, k] * x[k]"), None);
    // Nothing to be gained: a turn within is of one turn only, and no sum.
    assert_eq!(at_once("A![i, k] += x[k]"), None);
    // Through memory with large steps.
    assert_eq!(at_once("y![i] += A![k, i] * x[k]"), None);
}
