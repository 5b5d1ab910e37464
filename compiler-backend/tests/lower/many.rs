//! Random programs, lowered and run, against an interpreter of the representation.

use crate::lower::common::interp::Interp;
use crate::lower::common::random::{Rng, Shape, random_program};
use crate::lower::common::*;
use pendula_compiler::ir::{Block, FunctionId, Operand, Place, Program, Stmt, Var};
use pendula_compiler::lower::{Argument, ArgumentKind, Erase, LowerError, Options, lower};
use pendula_isa::sample;

/// The program's data after a run of the interpreter.
fn interpreted(program: &Program, arguments: &[Argument]) -> Result<Vec<u64>, String> {
    let mut memory = Vec::new();
    let mut args = Vec::new();
    let mut words = Vec::new();
    for argument in arguments {
        match &argument.kind {
            ArgumentKind::Word { value, .. } => {
                words.push((memory.len(), args.len()));
                args.push(*value);
                memory.push(*value);
            }
            ArgumentKind::Array { words, lens, .. } => {
                args.push(memory.len() as u64);
                args.extend(lens.iter().map(|n| n.cast_unsigned()));
                memory.extend(words);
            }
            ArgumentKind::Constant(c) => args.push(*c),
        }
    }
    let top = memory.len();
    let mut interp = Interp { program, memory, top, steps: 0 };
    interp.call(FunctionId(0), false, &mut args)?;
    for (at, n) in words {
        interp.memory[at] = args[n];
    }
    interp.memory.truncate(top);
    Ok(interp.memory)
}

fn compare(seed: u64, shape: Shape, erase: bool) -> bool {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (program, arguments) = random_program(&mut rng, shape);
    let expected = match interpreted(&program, &arguments) {
        Ok(memory) => memory,
        Err(e) if e == "too long" => return false,
        Err(e) => panic!("seed {seed}: the generator is wrong: {e}"),
    };
    let options = Options { erase: if erase { Erase::Always } else { Erase::Never } };
    let module = lower(&program, &arguments, &options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let ran = match try_run(&module) {
        Ok(ran) => ran,
        Err(e) if e.starts_with("endless") => return false,
        Err(e) => panic!("seed {seed}: {e}\n{program:#?}"),
    };
    assert_eq!(&ran.memory[..expected.len()], &expected[..], "seed {seed}\n{}", text(&module));
    true
}

fn all(seeds: std::ops::Range<u64>, shape: Shape, erase: bool) {
    let tried: Vec<u64> = seeds.step_by(if sample::all() { 1 } else { 3 }).collect();
    let (count, done) = (tried.len(), tried.into_iter().filter(|seed| compare(*seed, shape, erase)).count());
    assert!(done * 10 > count * 8, "only {done} of {count} programs were short enough");
}

#[test]
fn small_programs() {
    all(0..400, Shape { functions: 1, locals: 3, params: 2, statements: 4, depth: 2 }, false);
}

#[test]
fn nested_programs() {
    all(1000..1150, Shape { functions: 2, locals: 6, params: 3, statements: 5, depth: 4 }, false);
}

#[test]
fn programs_with_calls() {
    all(2000..2200, Shape { functions: 5, locals: 8, params: 4, statements: 10, depth: 2 }, false);
}

#[test]
fn programs_with_many_variables() {
    all(3000..3150, Shape { functions: 3, locals: 60, params: 3, statements: 12, depth: 3 }, false);
}

#[test]
fn programs_with_many_parameters() {
    all(4000..4100, Shape { functions: 3, locals: 20, params: 14, statements: 8, depth: 2 }, false);
}

#[test]
fn programs_that_erase() {
    all(5000..5200, Shape { functions: 3, locals: 5, params: 3, statements: 6, depth: 3 }, true);
}

/// Breaks a block somewhere: a statement is removed, doubled or moved, or its operands change.
fn damage(rng: &mut Rng, block: &mut Block) {
    if block.is_empty() {
        return;
    }
    let at = rng.below(block.len());
    let var = |rng: &mut Rng| Var(rng.below(30) as u32);
    let deeper = rng.chance(70);
    let inner: Vec<&mut Block> = match &mut block[at].stmt {
        Stmt::If { pre, post, then, otherwise } => vec![&mut pre.compute, &mut post.compute, then, otherwise],
        Stmt::While { pre, post, first, body } => vec![&mut pre.compute, &mut post.compute, first, body],
        Stmt::With { compute, body, .. } => vec![compute, body],
        Stmt::For { body, .. } | Stmt::Span { body, .. } => vec![body],
        _ => Vec::new(),
    };
    if deeper && !inner.is_empty() {
        let n = rng.below(inner.len());
        return inner.into_iter().nth(n).into_iter().for_each(|b| damage(rng, b));
    }
    match rng.below(4) {
        0 => drop(block.remove(at)),
        1 => block.insert(at, block[at].clone()),
        2 => {
            let other = rng.below(block.len());
            block.swap(at, other);
        }
        _ => match &mut block[at].stmt {
            Stmt::Update { dst, args, .. } => {
                if rng.chance(50) {
                    *dst = Place::Var(var(rng));
                } else {
                    let n = rng.below(args.len());
                    args[n] = Operand::Var(var(rng));
                }
            }
            Stmt::Permute { args, .. } | Stmt::Call { args, .. } if !args.is_empty() => {
                let n = rng.below(args.len());
                args[n] = if rng.chance(50) { Operand::Var(var(rng)) } else { c(-1) };
            }
            Stmt::Call { func, .. } => *func = FunctionId(rng.below(9) as u32),
            Stmt::Ancilla { var: v, .. } | Stmt::Array { base: v, .. } => *v = var(rng),
            Stmt::For { var: v, first, last, .. } => match rng.below(3) {
                0 => *v = var(rng),
                1 => *first = c(i64::MIN),
                _ => *last = c(i64::MAX),
            },
            Stmt::If { pre, .. } | Stmt::While { pre, .. } => pre.test.a = Operand::Var(var(rng)),
            _ => {}
        },
    }
}

#[test]
fn broken_programs_do_not_panic() {
    let (mut refused, mut taken) = (0, 0);
    for seed in (0..600u64).step_by(if sample::all() { 1 } else { 3 }) {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let shape = Shape { functions: 3, locals: 6, params: 3, statements: 6, depth: 3 };
        let (mut program, arguments) = random_program(&mut rng, shape);
        for _ in 0..1 + rng.below(4) {
            let n = rng.below(program.functions.len());
            damage(&mut rng, &mut program.functions[n].body);
        }
        for erase in [Erase::Never, Erase::Always] {
            match lower(&program, &arguments, &Options { erase }) {
                Ok(_) => taken += 1,
                Err(LowerError::Internal(what)) => panic!("seed {seed}: {what}"),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 50 && taken > 50, "{refused} {taken}");
}
