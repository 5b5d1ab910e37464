//! Floating-point variables that are constant in runs in both directions.
//!
//! Adding and subtracting may leave rounding errors, so a variable that begins as 0 need not be 0 there when it is undone.
//! Its value at a point is known only if two runs reach the point with the same word: the forward run from the beginning
//! of its life, and the backward run from its end. For ancillas of a `with`, the caller makes sure of the latter: nothing
//! changes them any more.

use pendula_isa::{Env, Ty};

use super::constants::updated;
use crate::ir::effects::{Summaries, blocks};
use crate::ir::{IrFunction, LocatedStmt, Place, Stmt, Var};
use crate::passes::rewrite::{slots, written_var};
use crate::passes::table::FastMap;

/// The floating-point variables of a function that are not parameters.
#[derive(Default)]
pub(super) struct Floats {
    /// The variables that may be known somewhere; nothing is known about all others.
    changes: FastMap<Var, Changes>,
    is_float: Vec<bool>,
}

/// The changes of a variable, all in one block.
struct Changes {
    /// The number of the block.
    block: usize,
    /// True if the block is undone later, and the variable lives until then.
    computed: bool,
    /// True if it is also changed elsewhere, or by something other than an update.
    wild: bool,
    /// Its value after each change in a backward run; empty until `seal`.
    backward: Vec<Option<u64>>,
    /// The number of changes so far.
    met: usize,
    /// Its value after these in a forward run.
    forward: Option<u64>,
}

/// Statements that change floating-point variables, in order.
#[derive(Default)]
struct Scan<'a> {
    changes: FastMap<Var, (Changes, Vec<&'a Stmt>)>,
    blocks: usize,
}

impl Floats {
    pub(super) fn of(function: &IrFunction, env: Env, summaries: &Summaries) -> Floats {
        let is_float: Vec<bool> = function.vars.iter().map(|v| v.ty == Ty::F).collect();
        if !is_float.contains(&true) {
            return Floats::default();
        }
        let mut scan = Scan::default();
        scan.block(&function.body, false, &is_float, summaries);
        let changes = scan.changes.into_iter().filter(|(_, (c, _))| !c.wild).map(|(v, (mut c, list))| {
            c.backward = backward(&list, env);
            (v, c)
        });
        Floats { changes: changes.collect(), is_float }
    }

    /// The value of a variable after its next change; `change` computes it from the value before. `None` if it is not a
    /// floating-point variable.
    pub(super) fn next(&mut self, v: Var, change: impl FnOnce(Option<u64>) -> Option<u64>) -> Option<Option<u64>> {
        if !self.is_float.get(v.0 as usize).copied().unwrap_or(false) {
            return None;
        }
        let Some(c) = self.changes.get_mut(&v) else { return Some(None) };
        c.forward = change(c.forward);
        let backward = c.backward.get(c.met).copied().flatten();
        c.met += 1;
        Some(c.forward.filter(|word| c.computed || backward == Some(*word)))
    }
}

/// The values of a variable after each of its changes in a backward run.
fn backward(list: &[&Stmt], env: Env) -> Vec<Option<u64>> {
    let mut out = Vec::with_capacity(list.len());
    let mut word = None;
    for stmt in list.iter().rev() {
        out.push(word);
        word = if let Stmt::Update { acc, inverse, func, args, .. } = stmt {
            word.and_then(|word| updated(env, *acc, !*inverse, *func, word, args))
        } else {
            // Its life ends here, so that it begins in a backward run; or it begins here.
            matches!(stmt, Stmt::Ancilla { free: true, .. }).then_some(0)
        };
    }
    out.reverse();
    out
}

impl<'a> Scan<'a> {
    fn block(&mut self, block: &'a [LocatedStmt], computed: bool, is_float: &[bool], summaries: &Summaries) {
        let number = self.blocks;
        self.blocks += 1;
        for s in block {
            let plain = matches!(s.stmt, Stmt::Ancilla { .. } | Stmt::Update { dst: Place::Var(_), .. });
            slots(&s.stmt, summaries, &mut |slot| {
                let Some(v) = written_var(&slot) else { return };
                if !is_float.get(v.0 as usize).copied().unwrap_or(false) {
                    return;
                }
                let (c, list) = self.changes.entry(v).or_insert_with(|| {
                    let c =
                        Changes { block: number, computed, wild: false, backward: Vec::new(), met: 0, forward: None };
                    (c, Vec::new())
                });
                c.wild |= !plain || c.block != number;
                list.push(&s.stmt);
            });
            match &s.stmt {
                Stmt::With { compute, body, .. } => {
                    self.block(compute, true, is_float, summaries);
                    self.block(body, false, is_float, summaries);
                }
                stmt => {
                    let conditions = matches!(stmt, Stmt::If { .. } | Stmt::While { .. });
                    for (n, inner) in blocks(stmt).enumerate() {
                        self.block(inner, conditions && n < 2, is_float, summaries);
                    }
                }
            }
        }
    }
}
