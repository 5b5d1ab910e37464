//! Rows of the Hessian, several in one run in C, are those of the interpreter, one by one, to the last bit.

use pendula::isa::types::Ty;
use pendula::values::{self, Location};
use pendula::vm::gradient::{Cell, Variable, hessian_row, hessian_rows};
use pendula::vm::{Config, Engine, Machine, Outcome};
use pendula_codegen::cc::Rounding;
use pendula_isa::adjoint::MIXED;
use pendula_isa::sample;

use pendula::arguments::parse;

use super::nil::{Call, example_calls, workload_calls};
use super::random::nil_program;
use super::whole::program;

/// Runs to the end; an error otherwise.
fn to_end(machine: &mut Machine<'_>) -> Result<(), Outcome> {
    match machine.run(None) {
        Outcome::Finished => Ok(()),
        outcome => Err(outcome),
    }
}

/// Rows for some words of each array, of the first word of each. Returns how many rows agreed, and how many had no code.
pub(super) fn compare(what: &str, source: &str, call: &Call) -> (usize, usize) {
    let (program, Some(_)) = program(what, source, call, Rounding::Strict) else { return (0, 0) };
    let words = program.module().data.len();
    let config = Config { mem: Some(words as u64 + 16_384), engine: Engine::Interpreter, ..Config::default() };
    let [mut plain, mut several] = [false, true].map(|whole| {
        let mut machine = Machine::new(&program, &config).expect("a machine");
        machine.allow_whole(whole);
        machine
    });
    let start = plain.snapshot();
    let (mut losses, mut of, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for place in values::marked(program.module(), |_, _| true) {
        let (Ty::F, Location::Memory { start, len, .. }) = (place.ty, place.at) else { continue };
        let variable = |at: u64| Variable { cell: Cell::Word(at as usize), ty: Ty::F };
        losses.extend((start..start + len.min(1)).map(variable));
        // More than go into one run.
        of.extend((start..start + len.min(5)).map(variable));
        columns.extend((start..start + len.min(50)).map(variable));
    }
    let one = 1f64.to_bits();
    let (mut agreed, mut missing) = (0, 0);
    for loss in losses {
        let mut left = &of[..];
        while let Some((first, rest)) = left.split_first() {
            several.restore(&start);
            let before = several.digest();
            let found = hessian_rows(&mut several, (loss, one), left, &columns);
            assert_eq!(several.digest(), before, "{what}: the machine is as it was");
            plain.restore(&start);
            let done = hessian_row(&mut plain, loss, one, *first, &mut to_end);
            let Some(found) = found else {
                (missing, left) = (missing + usize::from(done.is_ok()), rest);
                continue;
            };
            assert_eq!(done, Ok(()), "{what}: {loss:?} by {first:?} comes to its end in C only");
            for (row, of) in found.iter().zip(left) {
                plain.restore(&start);
                hessian_row(&mut plain, loss, one, *of, &mut to_end).expect("other rows come to their end");
                for (x, column) in row.iter().zip(&columns) {
                    let wanted = f64::from_bits(plain.get(MIXED, column.cell));
                    assert_eq!(
                        x.to_bits(),
                        wanted.to_bits(),
                        "{what}: {loss:?} by {of:?} and {column:?}: {x}, {wanted}"
                    );
                }
                agreed += 1;
            }
            left = &left[found.len()..];
        }
    }
    (agreed, missing)
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn examples() {
    let (mut agreed, mut missing) = (0, 0);
    for (name, source, calls) in sample::some(example_calls()) {
        for (n, call) in sample::in_turn(&calls, 0).iter().enumerate() {
            let (a, m) = compare(&format!("{name}, call {n}"), &source, call);
            (agreed, missing) = (agreed + a, missing + m);
        }
    }
    assert!(agreed > sample::share(100) && missing * 10 < agreed, "{agreed} rows agree, {missing} have no code");
}

#[test]
fn workloads() {
    for (name, source, call) in sample::some(workload_calls()) {
        let (agreed, missing) = compare(name, &source, &call);
        assert!(agreed > 0 && missing == 0, "{name}: {agreed} rows agree, {missing} have no code");
    }
}

#[test]
fn random_programs() {
    let (mut agreed, mut missing) = (0, 0);
    // The C compiler takes a second for each.
    for seed in 0..sample::share(80u64) {
        let case = nil_program(1_000 + seed, seed % 2 == 0);
        let arguments = case.runs.into_iter().next().unwrap_or_default();
        let call = Call { arguments, types: case.types, ..Call::default() };
        let (a, m) = compare(&format!("seed {seed}\n{}", case.text), &case.text, &call);
        (agreed, missing) = (agreed + a, missing + m);
    }
    assert!(agreed > 20 && missing < agreed, "{agreed} rows agree, {missing} have no code");
}

/// Where one row has no value, the others are those of the interpreter all the same.
#[test]
fn a_row_that_is_not_finite() {
    let source = "
        @i function f(y!::Float64, x::Vector{Float64})
            for i = 1:length(x)
                y! += sqrt(x[i] + 1e-320) * 1e-300
                y! += x[i] ^ 2
            end
        end";
    let call = |x: &str| Call { arguments: parse(x).expect("arguments"), ..Call::default() };
    assert_eq!(compare("all are finite", source, &call("0.0,[1.0,2.0]")).1, 0);
    // Of the rows of y!, code that computes all three gives up, as does that for the last two; the last one alone is found. All of x's are.
    assert_eq!(compare("one is not", source, &call("0.0,[0.0,2.0]")), (4, 1));
}
