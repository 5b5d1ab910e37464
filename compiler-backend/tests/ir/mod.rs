//! The intermediate representation: rows, effects, evaluation, inverses, text.

mod effects;
mod eval;
mod invert;
mod text;

use pendula_isa::table::Row;

use pendula_compiler::ir::*;

#[test]
fn permutations_write_only_words_that_they_name() {
    for row in [Row::Swap, Row::Neg, Row::Not, Row::Rol, Row::Inc, Row::Rmul, Row::Rot] {
        assert!(permutes(row), "{row:?}");
    }
    // `exch` is a `swap` with memory; the others change control, the stack or what is shown.
    for row in [Row::Exch, Row::Push, Row::Assert, Row::Zero, Row::Show, Row::Jmp, Row::Call, Row::Erase] {
        assert!(!permutes(row), "{row:?}");
    }
}

#[test]
fn no_permutation_moves_control() {
    use pendula_isa::table::Flow;
    use pendula_isa::{Kind, types::Cond};
    for row in Row::ALL.iter().copied().filter(|row| permutes(*row)) {
        let ty = row.info().types[0];
        let kind = Kind::Row { row, inverse: false, ty, cond: Cond::Always, form: false };
        assert_eq!(kind.flow(), Flow::Straight, "{row:?}");
    }
}

#[test]
fn a_negated_step_is_taken_back_by_another_negation() {
    assert_eq!(Step::Const(3).negated(), Step::Const(-3));
    assert_eq!(Step::Const(i64::MIN).negated(), Step::Const(i64::MIN));
    let step = Step::Var { var: Var(1), negated: false };
    assert_eq!(step.negated(), Step::Var { var: Var(1), negated: true });
    assert_eq!(step.negated().negated(), step);
}
