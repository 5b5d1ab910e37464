//! Which programs can carry several tangents at once, as vectors: those in which nothing becomes of a tangent but sums, products with
//! numbers, and choices that depend on no more of it than whether it is zero.

use pendula_isa::adjoint::VALUE;

use super::{Block, Function, Passed, Place, Program, Slot, Stmt, Test};
use crate::ops::{BinaryOp, Op, ValueId};

/// Whether all operations of a program are among those that vectors have, where they are to do with tangents.
pub fn can_carry_vectors(program: &Program) -> bool {
    program.functions.iter().all(|f| {
        let sums = f.params.iter().filter_map(|p| if let Passed::Copy(sums) = &p.passed { Some(sums) } else { None });
        sums.flatten().all(|(_, sum)| block_can(program, f, sum, None)) && statements_can(program, f, &f.body)
    })
}

fn statements_can(program: &Program, f: &Function, statements: &[Stmt]) -> bool {
    let test_can = |test: &Test| match test {
        Test::Block(block, result) => block_can(program, f, block, Some(*result)),
        Test::Flag(_) | Test::Integers(..) => true,
    };
    statements.iter().all(|s| match s {
        Stmt::Block(block) => block_can(program, f, block, None),
        Stmt::IfSame { then, otherwise, .. } => {
            statements_can(program, f, then) && statements_can(program, f, otherwise)
        }
        Stmt::If { test, then, otherwise, .. } => {
            test_can(test) && statements_can(program, f, then) && statements_can(program, f, otherwise)
        }
        Stmt::Flag(_, test) | Stmt::Agree(test, _) | Stmt::GiveUp { test, .. } | Stmt::Proceed(test) => test_can(test),
        Stmt::Leave { unless, finite } => test_can(unless) && finite.iter().all(|word| word.lane == VALUE),
        Stmt::InMode(_, inner) | Stmt::Loop(_, inner) => statements_can(program, f, inner),
        Stmt::Count(count) => {
            let after = count.blocks.iter().flat_map(|blocks| &blocks.after);
            let jammed = count.jammed.iter().flat_map(|jammed| &jammed.body);
            let all = [&count.body].into_iter().flatten().chain(after).chain(jammed);
            all.into_iter().all(|s| statements_can(program, f, std::slice::from_ref(s)))
        }
        _ => true,
    })
}

fn block_can(program: &Program, f: &Function, block: &Block, result: Option<ValueId>) -> bool {
    let is_vector_slot = |lane: u8, reg: u8| match block.slots.get(usize::from(reg)).copied().flatten() {
        Some(Slot::Place(place, _)) => program.is_vector(lane.into()) || program.is_vector(lane_of(f, place)),
        Some(Slot::Word(word)) => program.is_vector(word.lane) || program.is_vector(lane_of(f, word.place)),
        Some(Slot::Passed(_, lane)) => program.is_vector(lane),
        None => false,
    };
    // What nobody uses is not computed.
    let mut needed = vec![false; block.ops.len()];
    result.iter().for_each(|v| needed[v.0 as usize] = true);
    for (n, op) in block.ops.iter().enumerate().rev() {
        let lost = matches!(*op, Op::Set(lane, reg, _) if !block.has_lane(lane, reg));
        if needed[n] || !op.is_idle() && !lost {
            needed[n] = true;
            op.uses().for_each(|v| needed[v.0 as usize] = true);
        }
    }
    let mut kinds = vec![Kind::Scalar; block.ops.len()];
    for (n, op) in block.ops.iter().enumerate().filter(|(n, _)| needed[*n]) {
        let is = |v: ValueId, kind: Kind| kinds[v.0 as usize] == kind;
        let either = |a: ValueId, b: ValueId| {
            let vector = is(a, Kind::Vector) || is(b, Kind::Vector);
            let fits = [a, b].iter().all(|v| is(*v, Kind::Vector) || is(*v, Kind::Scalar));
            fits.then_some(if vector { Kind::Vector } else { Kind::Scalar })
        };
        let found = match *op {
            Op::Get(lane, reg) if is_vector_slot(lane, reg) => Some(Kind::Vector),
            Op::Float(_, a, b) | Op::Phi(a, b) => either(a, b),
            Op::Select(c, a, b) if is(c, Kind::Scalar) || is(c, Kind::Test) => either(a, b),
            Op::If(c) if is(c, Kind::Test) => Some(Kind::Scalar),
            Op::BinaryOp(BinaryOp::Or, a, b) if is(a, Kind::Vector) || is(b, Kind::Vector) => Some(Kind::Bits),
            Op::BinaryOp(BinaryOp::Shl, a, one) if is(a, Kind::Vector) || is(a, Kind::Bits) => {
                (block.ops[one.0 as usize] == Op::Const(1)).then_some(Kind::Test)
            }
            Op::Set(lane, reg, v) if is(v, Kind::Vector) => is_vector_slot(lane, reg).then_some(Kind::Scalar),
            Op::Finite(v) if is(v, Kind::Vector) => Some(Kind::Scalar),
            op => op.uses().all(|v| is(v, Kind::Scalar)).then_some(Kind::Scalar),
        };
        match found {
            Some(kind) => kinds[n] = kind,
            None => return false,
        }
    }
    result.is_none_or(|v| kinds[v.0 as usize] == Kind::Scalar)
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    Vector,
    /// The bits of two values, of which one is a vector.
    Bits,
    /// Whether a vector is not zero.
    Test,
}

/// The lane of the words that a place is for.
fn lane_of(f: &Function, place: Place) -> usize {
    match place {
        Place::Local(local) => f.local(local).lane,
        Place::Memory(_) | Place::Log(_) => VALUE,
    }
}
