//! Conditions that decide nothing, because the operands of a `jmp`, `from` or `assert` are known, or because a pair of
//! them contradicts itself. Values that registers happen to hold are not tracked.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::num::{Env, fixed, float, log};
use pendula_isa::operand::Operand;
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Cond, Reg, Ty};
use pendula_isa::verify::target;

use super::{Findings, Rule, Subject, is_row};

/// The condition that an instruction tests.
#[derive(Clone, Copy, PartialEq)]
struct Test {
    cond: Cond,
    ty: Ty,
    a: Reg,
    b: Operand,
}

pub(super) fn check(code: &[Inst], found: &mut Findings) {
    for (at, inst) in code.iter().enumerate() {
        let Some(test) = test_of(inst) else { continue };
        let at = at as u32;
        let name = if inst.kind.flow() == Flow::Jump {
            if is_row(inst, Row::Jmp, true) { "from" } else { "jmp" }
        } else {
            "assert"
        };
        match constant_outcome(&test) {
            Some(false) => {
                let so = match name {
                    "jmp" => "it never jumps",
                    "from" => "a jump to it traps",
                    _ => "it always traps",
                };
                found.add(
                    Rule::NeverHolds,
                    Subject::Inst(at),
                    None,
                    format!("the condition of this `{name}` never holds: {so}"),
                );
            }
            Some(true) => {
                let so = match name {
                    "jmp" => "it always jumps",
                    "from" => "falling into it traps",
                    _ => "it checks nothing",
                };
                found.add(
                    Rule::AlwaysHolds,
                    Subject::Inst(at),
                    None,
                    format!("the condition of this `{name}` always holds: {so}"),
                );
            }
            None => {}
        }
        if name == "jmp"
            && let Some((to, landing)) = target(code, at, inst)
            && is_row(landing, Row::Jmp, true)
            && test_of(landing).is_some_and(|other| contradict(&test, &other))
        {
            let message = "the `from` that this jump lands on demands the opposite: taking it always traps".to_string();
            found.add(Rule::Contradiction, Subject::Inst(at), Some(to), message);
        }
    }
}

fn test_of(inst: &Inst) -> Option<Test> {
    let Kind::Row { ty, cond, .. } = inst.kind else { return None };
    let mut operands = inst.operands().map(|(_, operand)| operand);
    match (cond, operands.next(), operands.next()) {
        (Cond::Always, ..) => None,
        (_, Some(Operand::Reg(a)), Some(b)) => Some(Test { cond, ty, a, b }),
        _ => None,
    }
}

const fn is_unsigned(cond: Cond) -> bool {
    matches!(cond, Cond::Ltu | Cond::Geu)
}

/// Every possible result of comparing `a` with `b`; `None` means "unordered".
fn possible_orderings(test: &Test, unsigned: bool) -> &'static [Option<Ordering>] {
    const ANY: &[Option<Ordering>] = &[Some(Less), Some(Equal), Some(Greater)];
    let zero = match test.b {
        Operand::Reg(b) => b == Reg::ZERO,
        Operand::Small(k) => k == 0,
        Operand::Imm(w, _) => w == 0,
        _ => false,
    };
    if test.a == Reg::ZERO
        && let Some(order) = zero_against(test.b, test.ty, unsigned)
    {
        return match order {
            Some(Less) => &[Some(Less)],
            Some(Equal) => &[Some(Equal)],
            Some(Greater) => &[Some(Greater)],
            None => &[None],
        };
    }
    let same = test.b == Operand::Reg(test.a);
    match test.ty {
        // A NaN, or a word that is not a logarithmic number, does not equal itself.
        Ty::F | Ty::L if same => &[Some(Equal), None],
        Ty::F => &[Some(Less), Some(Equal), Some(Greater), None],
        Ty::Int | Ty::Q if same => &[Some(Equal)],
        Ty::Int if unsigned && zero => &[Some(Equal), Some(Greater)],
        Ty::Int if unsigned && test.a == Reg::ZERO => &[Some(Less), Some(Equal)],
        Ty::Int | Ty::Q | Ty::L => ANY,
    }
}

/// The result of comparing the word 0, which r0 reads, with a constant; the outer `None` if it is not known.
fn zero_against(b: Operand, ty: Ty, unsigned: bool) -> Option<Option<Ordering>> {
    match (b, ty) {
        (Operand::Reg(Reg::ZERO), _) => Some(Some(Equal)),
        (Operand::Small(k), Ty::Int) if unsigned => Some(Some(0.cmp(&i64::from(k).cast_unsigned()))),
        (Operand::Small(k), Ty::Int | Ty::Q | Ty::F) => Some(Some(0.cmp(&k))),
        // As a logarithm, 0 is the number 1.
        (Operand::Small(k), Ty::L) => Some(Some(1.cmp(&k))),
        (Operand::Imm(w, _), Ty::Int) if unsigned => Some(Some(0.cmp(&w))),
        (Operand::Imm(w, _), Ty::Int) => Some(Some(0.cmp(&w.cast_signed()))),
        (Operand::Imm(w, _), Ty::Q) => Some(Some(fixed::compare(0, w))),
        (Operand::Imm(w, _), Ty::L) => log::compare(0, w).ok().map(Some),
        (Operand::Imm(w, _), Ty::F) => float::compare(Env::default(), 0, w).ok(),
        _ => None,
    }
}

/// Whether the condition always holds (true) or never holds (false).
fn constant_outcome(test: &Test) -> Option<bool> {
    let mut all = possible_orderings(test, is_unsigned(test.cond)).iter().map(|&order| test.cond.holds(order));
    let first = all.next()?;
    all.all(|holds| holds == first).then_some(first)
}

/// Whether no values satisfy both tests, each of which can be satisfied alone.
fn contradict(a: &Test, b: &Test) -> bool {
    let signed = |cond| matches!(cond, Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge);
    let mixed = (is_unsigned(a.cond) && signed(b.cond)) || (is_unsigned(b.cond) && signed(a.cond));
    let unsigned = is_unsigned(a.cond) || is_unsigned(b.cond);
    (a.ty, a.a, a.b) == (b.ty, b.a, b.b)
        && !mixed
        && constant_outcome(a) != Some(false)
        && constant_outcome(b) != Some(false)
        && !possible_orderings(a, unsigned).iter().any(|&order| a.cond.holds(order) && b.cond.holds(order))
}
