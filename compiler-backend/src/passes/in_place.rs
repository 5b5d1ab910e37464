//! Uses words of memory that functions were lent where they lie.
//!
//! Where a call with a word of memory becomes the body of the function, the word is exchanged with a variable before and
//! after it. Instructions need that, since they have one word of memory; C does not, and what is proven of sums is
//! proven of arrays, not of words that come from elsewhere.
//!
//! Meanwhile the word in memory is zero, and an access by another address would see that. So a word stays in memory only
//! if nothing between the exchanges may reach it, apart from the variable.

use crate::ir::copies::{Passed, is_reached};
use crate::ir::effects::{Effects, Summaries, blocks};
use crate::ir::{
    AncillaChecks, Block, IrFunction, LocatedStmt, Mem, Operand, Program, Region, RegionInfo, Stmt, Test, Var, VarInfo,
};
use crate::passes::rewrite::{Slot, Substitution, each_block, slots};
use pendula_isa::table::Row;
use pendula_isa::{Cond, Ty};

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    let callees = program.functions.clone();
    for function in &mut program.functions {
        let IrFunction { vars, regions, body, .. } = function;
        let context = Context { callees: &callees, summaries, vars, regions };
        each_block(body, &mut |block| context.words(block));
    }
}

struct Context<'a> {
    callees: &'a [IrFunction],
    summaries: &'a Summaries,
    vars: &'a [VarInfo],
    regions: &'a [RegionInfo],
}

impl Context<'_> {
    /// Uses what words it can of a block in place, inner ones first.
    fn words(&self, block: &mut Block) {
        for start in (0..block.len()).rev() {
            if let Some((len, var, word)) = lent(&block[start..]) {
                let unequal = self.unequal(&block[..start]);
                if let Some(body) = self.in_place(&block[start + 2..start + len - 2], var, word, &unequal) {
                    block.splice(start..start + len, body);
                }
            }
        }
    }

    /// Integers that are not equal after these statements: a call with several elements of an array asserts it.
    fn unequal(&self, before: &[LocatedStmt]) -> Vec<[Operand; 2]> {
        let mut out: Vec<[Operand; 2]> = Vec::new();
        for s in before {
            let effects = Effects::of_stmt(self.summaries, &s.stmt);
            out.retain(|pair| !pair.iter().any(|o| effects.changes(*o)));
            if let Stmt::Assert { test: Test { cond: Cond::Ne, ty: Ty::Int, a, b }, .. } = s.stmt {
                out.push([a, b]);
            }
        }
        out
    }

    /// What is between the exchanges, with the word for the variable; `None` if it would not be the same.
    fn in_place(&self, body: &[LocatedStmt], var: Var, word: Mem, unequal: &[[Operand; 2]]) -> Option<Block> {
        let effects = Effects::of_block(self.summaries, body);
        let stay = |pair: &&[Operand; 2]| !pair.iter().any(|o| effects.changes(*o));
        let unequal: Vec<[Operand; 2]> = unequal.iter().filter(stay).copied().collect();
        let ty = self.vars.get(var.0 as usize)?.ty;
        let same_type = self.regions.get(word.region.0 as usize).is_some_and(|r| r.ty == ty);
        if !same_type || effects.changes_address(word) || !self.is_apart(body, var, word, &unequal) {
            return None;
        }
        let mut body = body.to_vec();
        let substitution =
            Substitution { var: &|v| if v == var { Operand::Mem(word) } else { Operand::Var(v) }, region: &|r| r };
        substitution.apply(&mut body, self.summaries).then_some(body)
    }

    /// Whether nothing in a block but the variable may be the word.
    fn is_apart(&self, body: &[LocatedStmt], var: Var, word: Mem, unequal: &[[Operand; 2]]) -> bool {
        body.iter().all(|s| {
            let mut apart = true;
            slots(&s.stmt, self.summaries, &mut |slot| {
                apart &= match slot {
                    Slot::Region(r) => *r != word.region,
                    slot => match slot.operand() {
                        Some(Operand::Mem(m)) => m.region != word.region || differ(m, word, unequal),
                        Some(Operand::Var(_) | Operand::Const(_)) | None => true,
                    },
                };
            });
            if let Stmt::Call { func, args, .. } = &s.stmt {
                let passed: Vec<Passed<Var, Mem>> = args.iter().map(|a| (*a).into()).collect();
                let summary = self.summaries.get(*func);
                // Arguments that are one word, or might be by their addresses alone, are copied in another way than variables.
                let is_given = args.contains(&Operand::Var(var));
                let might_be =
                    |a: &Operand| matches!(a, Operand::Mem(m) if m.region == word.region && !differ(*m, word, &[]));
                apart &= args.iter().filter(|a| **a == Operand::Var(var)).count() < 2
                    && !(is_given && args.iter().any(might_be))
                    && self
                        .callees
                        .get(func.0 as usize)
                        .is_some_and(|callee| !is_reached(word.region, summary, callee, &passed, |v| self.points(v)));
            }
            apart && blocks(&s.stmt).all(|inner| self.is_apart(inner, var, word, unequal))
        })
    }

    fn points(&self, var: Var) -> Option<Region> {
        self.vars.get(var.0 as usize).and_then(|v| v.points)
    }
}

/// Whether two addresses differ, where these integers are not equal.
fn differ(a: Mem, b: Mem, unequal: &[[Operand; 2]]) -> bool {
    // What is left of an address without one of the integers as its index.
    let without = |m: Mem, index: Operand| match index {
        Operand::Var(v) => (m.index == Some(v)).then_some(m.offset),
        Operand::Const(k) => m.index.is_none().then(|| m.offset.wrapping_sub(k.cast_signed())),
        Operand::Mem(_) => None,
    };
    let same = |x: Operand, y: Operand| without(a, x).is_some_and(|rest| without(b, y) == Some(rest));
    let is_told = || unequal.iter().any(|&[x, y]| same(x, y) || same(y, x));
    a.base == b.base && (a.index == b.index && a.offset != b.offset || is_told())
}

/// The number of statements in which the block begins that lend a word to a variable, the variable, and the word.
fn lent(block: &[LocatedStmt]) -> Option<(usize, Var, Mem)> {
    let [begin, first, rest @ ..] = block else { return None };
    let Stmt::Ancilla { var, free: false, checks: AncillaChecks::NONE } = begin.stmt else { return None };
    let Stmt::Permute { row: Row::Swap, args, .. } = &first.stmt else { return None };
    let [Operand::Var(v), Operand::Mem(word)] = args[..] else { return None };
    let end = Stmt::Ancilla { var, free: true, checks: AncillaChecks::NONE };
    let n = rest.windows(2).position(|pair| pair[0].stmt == first.stmt && pair[1].stmt == end)?;
    (v == var).then_some((2 + n + 2, var, word))
}
