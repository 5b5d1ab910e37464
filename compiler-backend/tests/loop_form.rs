//! The loop form as data: what is checked before loops, and kept in variables.

use pendula_codegen::loops::{Check, Count, Stmt};
use pendula_compiler::compile::{Options, compile, for_c};
use pendula_compiler::loop_form::{Mode, Settings, build};
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
    let program = build(&ir, &compiled.arguments, &modes, Settings { fast: false, certify: true, switches })
        .expect("a loop form");
    program.functions.iter().find_map(|f| first_loop(&f.body)).expect("a loop").clone()
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
