//! The loop form as data: what is checked before loops, and kept in variables.

use pendula_codegen::loops::{Check, Count, Products, Program, Stmt, Value, find_products, jam_loops, make_strips};
use pendula_codegen::ops::Op;
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

/// The same, but the result is changed otherwise, too.
const SWAPPED: &str = "
@i function sum!(y!::Vector{Float64}, x::Vector{Float64}, k::Int)
    for i = 1:length(x)
        y![k] += x[i]
    end
    SWAP(y![1], y![2])
end
";

/// The loop of a program in a run forward.
fn the_loop(switches: Switches) -> Count {
    loop_of(SUM, switches)
}

fn loop_of(source: &str, switches: Switches) -> Count {
    let arguments = vec![
        Argument::Array(vec![2], vec![Number::Float(0.0); 2]),
        Argument::Array(vec![3], vec![Number::Float(1.0); 3]),
        Argument::Number(Number::Int(2)),
    ];
    let options = Options { arguments, ..Options::default() };
    let compiled = compile("sum.nil", source.to_string(), &options);
    let ir = for_c(compiled.source.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics)), compiled.switches);
    let modes = [Mode::Run(Direction::Forward, AdMode::Plain)];
    let program = build(
        &ir,
        &compiled.arguments,
        &modes,
        Settings { fast: false, certify: Certify::Everything, keep: true, switches },
    )
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
fn sums_are_looked_at_once_for_all_turns() {
    let count = loop_of(SWAPPED, Switches::default());
    let bits = f64::MAX.to_bits();
    assert!(
        matches!(count.limits_after.as_slice(), [(_, Value::Const(limit))] if *limit == bits),
        "{:?}",
        count.limits_after
    );
    let looks = |s: &Stmt| matches!(s, Stmt::Block(block) if block.ops.iter().any(|op| matches!(op, Op::Finite(_))));
    assert!(!count.body.iter().any(looks), "{:?}", count.body);
    // Of words of memory, each is looked at.
    assert!(loop_of(SWAPPED, Switches::default().without(Pass::Scalars)).body.iter().any(looks));
}

/// What is only added to is looked at in the end.
#[test]
fn results_are_looked_at_where_the_run_ends() {
    let looks = |s: &Stmt| matches!(s, Stmt::Block(block) if block.ops.iter().any(|op| matches!(op, Op::Finite(_))));
    for switches in [Switches::default(), Switches::default().without(Pass::Scalars)] {
        let count = the_loop(switches);
        assert!(count.limits_after.is_empty() && !count.body.iter().any(looks), "{:?}", count.body);
    }
}

#[test]
fn without_bounds_each_turn_checks_its_addresses() {
    let count = the_loop(Switches::default().without(Pass::Bounds));
    assert!(checks_addresses(&count) && count.checks.is_empty() && count.kept.is_empty());
}

/// A loop within a loop, of which turns may be made at once or not.
fn nest(turn: &str) -> Count {
    outermost(&format!(
        "    for k = 2:length(x)
        for i = 1:size(A!, 1)
            {turn}
        end
    end"
    ))
}

/// Three loops, one in the other.
fn three_loops(turn: &str) -> String {
    format!(
        "    for j = 1:size(B, 2)
        for k = 1:size(A!, 2)
            for i = 1:size(A!, 1)
                {turn}
            end
        end
    end"
    )
}

fn deep_nest(turn: &str) -> Count {
    outermost(&three_loops(turn))
}

/// What three loops make as sums of products.
fn products(turn: &str) -> Option<Products> {
    outermost_after(&three_loops(turn), find_products).products
}

/// The outermost of loops over vectors of 40 and 20 numbers and two matrices of 20×20.
fn outermost(loops: &str) -> Count {
    outermost_after(loops, |program| {
        jam_loops(program);
        make_strips(program);
    })
}

/// The same after passes.
fn outermost_after(loops: &str, passes: impl FnOnce(&mut Program)) -> Count {
    let source = format!(
        "@i function f!(y!::Vector{{Float64}}, A!::Matrix{{Float64}}, x::Vector{{Float64}}, B::Matrix{{Float64}}, n!::Int)
{loops}
end
"
    );
    let arguments = vec![
        Argument::Array(vec![40], vec![Number::Float(0.0); 40]),
        Argument::Array(vec![20, 20], vec![Number::Float(0.0); 400]),
        Argument::Array(vec![20], vec![Number::Float(1.0); 20]),
        Argument::Array(vec![20, 20], vec![Number::Float(1.0); 400]),
        Argument::Number(Number::Int(0)),
    ];
    let options = Options { arguments, ..Options::default() };
    let compiled = compile("f.nil", source, &options);
    let ir = for_c(compiled.source.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics)), compiled.switches);
    let modes = [Mode::Run(Direction::Forward, AdMode::Plain)];
    let (mut program, _) =
        build(&ir, &compiled.arguments, &modes, Settings { switches: compiled.switches, ..Settings::default() })
            .expect("a loop form");
    passes(&mut program);
    program.functions.iter().find_map(|f| first_loop(&f.body)).expect("a loop").clone()
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

#[test]
fn turns_of_the_outermost_of_three_loops_are_made_at_once_where_they_make_sums_of_words_that_all_go_through() {
    let at_once = |turn: &str| deep_nest(turn).jammed.map(|jammed| jammed.vars.len() + 1);
    let sums = "A![i, k] += B[i, j] * x[j]; y![j] += B[i, j] * x[k]";
    assert_eq!(at_once(sums), Some(8));
    let jammed = deep_nest(sums).jammed.expect("turns at once");
    let innermost = first_loop(&first_loop(&jammed.body).expect("a loop").body).expect("a loop");
    let strips = innermost.strips.as_ref().expect("strips");
    assert_eq!((strips.added.len(), strips.scattered.len()), (8, 0), "a sum for each turn");
    // Every turn comes to a word for each turn of a loop within, or to one that another turn comes to.
    assert_eq!(at_once("A![i, k] += B[i, j] * x[j]; y![1] += B[i, j]"), None);
    assert_eq!(at_once("A![i, k] += B[i, j] * x[j]; y![k] += B[i, j]"), None);
    assert_eq!(at_once("A![i, k] += B[i, j] * x[j]; y![j + k] += B[i, j]").map(|_| ()), Some(()), "tested before");
    assert_eq!(at_once("A![i, j] += A![i, k] * x[j]; y![j] += B[i, j]"), None);
}

#[test]
fn turns_that_add_to_each_others_words_are_made_in_strips() {
    let strips = |turn: &str| outermost(&format!("    @inbounds for i = 2:length(x) - 1\n{turn}\nend")).strips;
    let neighbours = strips("y![i - 1] += x[i] * 2.0; y![i + 1] += x[i]; y![i] -= x[i] / 3").expect("strips");
    // Words that go ahead come first.
    let offsets: Vec<i64> = neighbours.scattered.iter().map(|s| s.at.first.split().0).collect();
    assert!(offsets.is_sorted_by(|a, b| a > b), "{offsets:?}");
    assert_eq!((neighbours.added.len(), neighbours.scattered.len()), (0, 3));
    // Turns read what others write, or it is not known which words they come to.
    assert!(strips("y![i + 1] += y![i] * x[i]").is_none());
    assert!(strips("y![i + 1] += x[i]; y![1] += x[i]").is_none());
    assert!(strips("y![i + 1] += x[i]; y![2 * i - 2] += x[i]").is_none());
    // Where turns have words of their own, C compilers make vectors.
    assert!(strips("y![i] += x[i]").is_none());
}

#[test]
fn three_loops_that_do_nothing_but_add_up_products_are_found() {
    let loops_of = |turn: &str| products(turn).map(|products| products.all[0].loops);
    // Rows, columns and products of a word, by the number of the loop.
    assert_eq!(loops_of("A![i, k] += B[i, j] * B[k, j]"), Some([2, 1, 0]));
    assert_eq!(loops_of("A![i, j] -= B[i, k] * B[j, k]"), Some([2, 0, 1]));
    assert_eq!(loops_of("A![k, j] += B[i, k] * B[j, i]"), Some([1, 0, 2]));
    assert_eq!(loops_of("A![i, j] += x[i] * x[k]"), Some([2, 0, 1]));
    // One word of all turns, words that several turns of two loops come to, and words that are read.
    assert_eq!(loops_of("y![1] += B[i, j] * B[j, k]"), None);
    assert_eq!(loops_of("y![i] += B[i, j] * B[j, k]"), None);
    assert_eq!(loops_of("A![i, j] += A![i, k] * B[k, j]"), None);
    // Something else is done.
    assert_eq!(loops_of("A![i, j] += B[i, k] * B[k, j]; n! += 1"), None);
    assert_eq!(loops_of("A![i, j] += B[i, k] * B[k, j]; n! += i * k"), None);
    assert_eq!(loops_of("A![i, j] += B[i, k] / B[k, j]"), None);
    assert_eq!(loops_of("A![i, j] += B[i, k] * B[k, j] * 2"), None);
    assert_eq!(loops_of("A![i, j] += B[i, k] * B[k, j]; y![j] += x[i]"), None);
}
