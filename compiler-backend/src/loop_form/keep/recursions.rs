//! What calls of functions that call themselves add up, which is kept where it would be added up again.
//!
//! A routine that makes such a call is made again on the way back, at each depth, and with it all that is deeper. So its results are
//! kept, behind what the call keeps itself: on the way back, they are read, and what the call kept is passed over. When the routine is taken back, so
//! is the call, and what it kept.

use std::rc::Rc;

use pendula_codegen::loops::{Address, Keep, Keeping, Stmt as Out, Value};
use pendula_isa::Ty;

use super::super::Builder;
use super::super::function::FunctionBuilder;
use super::Done;
use crate::ir::{FunctionId, LocatedStmt, Place as IrPlace, Stmt};

impl Builder<'_> {
    /// The variables whose values may be kept that a statement adds up: a call of a function that calls itself.
    pub(super) fn kept_results(&mut self, func: FunctionId, s: &LocatedStmt) -> Rc<[IrPlace]> {
        let Stmt::Call { func: callee, args, .. } = &s.stmt else { return Rc::default() };
        let f = self.program.functions.get(func.0 as usize);
        let may = self.keeps.wanted && !self.keeps.without.sums.contains(&func) && self.drops.calls_itself(*callee);
        let Some(f) = f.filter(|_| may) else { return Rc::default() };
        let Some(flow) = self.drops.flow_of_one_call(f, *callee, args) else { return Rc::default() };
        self.variables_added_to(f, &flow).unwrap_or_default().into()
    }
}

impl FunctionBuilder<'_, '_> {
    /// Makes a call whose results are kept, reads these instead, or takes it back.
    pub(super) fn keep_results(
        &mut self,
        results: &[IrPlace],
        way: Keeping,
        add: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let count = Value::Const(results.len() as u64);
        let base = self.fresh("results", Ty::Int);
        let words = Out::Keep(Keep::Words { base, first: Value::Const(0), last: count, way });
        if way == Keeping::TakeBack {
            self.calling_once(add)?;
            self.push(words);
            return Ok(());
        }
        self.push(words);
        let word = |n: usize| Address { locals: [Some(base), None], offset: n as i64 };
        if way == Keeping::Write {
            self.calling_once(add)?;
            self.push(Out::Keep(Keep::NoteEnd(base)));
        } else {
            self.push(Out::Keep(Keep::PassToNotedEnd(base)));
        }
        results.iter().enumerate().try_for_each(|(n, result)| self.keep_sum(*result, word(n + 1), way))
    }

    /// Adds a call that is not made again on the way back.
    fn calling_once(&mut self, add: impl FnOnce(&mut Self) -> Done) -> Done {
        let outer = std::mem::replace(&mut self.kept_values.once, true);
        let done = add(self);
        self.kept_values.once = outer;
        done
    }
}
