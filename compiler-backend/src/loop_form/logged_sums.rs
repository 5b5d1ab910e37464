//! Turns of a loop, forward and back one by one, where every rounding counts. Turns run last to first, so that what flows back is
//! added up in the order of the run back. What each adds to a result is written down, one word a turn, and the results are summed
//! in the order of the run forward, and brought back in that of the run back.

use pendula_codegen::loops::{Address, Bound, Count, Local, Place, Step as OutStep, Stmt as Out, Word};
use pendula_isa::Ty;
use pendula_isa::adjoint::{AdMode, VALUE};

use super::Certify;
use super::flow::Location;
use super::function::{FunctionBuilder, local};
use super::{Refused, Sweep};
use crate::ir::{Blocks, LocatedStmt, Operand, Place as To, Program, Step, Stmt, Var};

type Done = Result<(), Refused>;

impl FunctionBuilder<'_, '_> {
    /// The results to which statement `n` of a block, a loop, adds exactly once in each turn, if its turns may be taken back one by
    /// one: it does nothing else in the end, nothing looks at the results, and what comes after only adds to them.
    pub(super) fn logged_results(&mut self, block: &[LocatedStmt], n: usize) -> Option<Vec<Var>> {
        let (s, rest) = (&block[n], &block[n + 1..]);
        let Stmt::For { var, first: Operand::Const(first), last, step: Step::Const(1), body, blocks } = &s.stmt else {
            return None;
        };
        // Where there is no room for the log, the other way to run the program has none.
        let wanted = self.w.drops.certify == Certify::Everything
            && !self.w.drops.fast
            && (self.way == Sweep::Within && self.addends.is_empty() || self.way == Sweep::Turn && !self.within)
            && self.ad_mode.level() == 1;
        if !wanted || !(1..1 << 31).contains(first) || !matches!(last, Operand::Const(_) | Operand::Var(_)) {
            return None;
        }
        let flow = self.w.drops.flow(self.f, std::slice::from_ref(s));
        let rest = self.w.drops.flow(self.f, rest);
        if !flow.only_adds() || flow.sums.is_empty() || !rest.only_adds() || !flow.commutes(&rest) {
            return None;
        }
        if !rest.sums.is_subset(&flow.sums) || rest.reads.contains(&Location::Var(*var)) {
            return None;
        }
        let mut results = Vec::new();
        for thing in &flow.sums {
            let Location::Var(result) = *thing else { return None };
            if self.within && !self.is_location_preserved(*thing) {
                return None;
            }
            if self.f.ty(result) != Ty::F || adds(self.w.program, body, result) != Some(1) {
                return None;
            }
            results.push(result);
        }
        if blocks.is_some() && !self.logs_blocks(s, &results) {
            return None;
        }
        results.sort_unstable_by_key(|v| v.0);
        Some(results)
    }

    /// Whether what the turns of a loop with blocks add to these results is the same summed from a log.
    fn logs_blocks(&self, s: &LocatedStmt, results: &[Var]) -> bool {
        let sums = self.sums(s).unwrap_or_default();
        let begins = matches!(&s.stmt, Stmt::For { blocks: Some(Blocks::FromFirst), .. });
        // Differences would be sums of negated numbers, among which zeros have other signs.
        let plain = sums.iter().all(|sum| !sum.inverse);
        begins && plain && results.iter().all(|v| sums.iter().any(|sum| sum.place == To::Var(*v)))
    }

    /// Runs a block forward and back, of which loop `n` adds to these results.
    pub(super) fn log_each_iteration(&mut self, block: &[LocatedStmt], n: usize, results: &[Var]) -> Done {
        let (before, after) = block.split_at(n);
        let Some((s, rest)) = after.split_first() else { return Ok(()) };
        let Stmt::For { var, first, last, step, body, blocks } = &s.stmt else { return Ok(()) };
        let Operand::Const(first_turn) = *first else { return Ok(()) };
        self.forward(before)?;
        if !rest.is_empty() {
            // What flows back from the rest comes first. What it adds to the results is not known yet: it is added later.
            let add = |fw: &mut Self| fw.turn(rest);
            let added = self.adding_elsewhere(results, add)?.0;
            self.out.extend(added);
        }
        (self.w.limits, self.w.limits_variables) = (true, true);
        let words = self.integer(*last);
        let logs: Vec<Local> = results.iter().map(|_| self.fresh("addends", Ty::Int)).collect();
        for log in &logs {
            self.push(Out::Log(*log, words));
        }
        let at = |log: Local, turn: Local| Word {
            place: Place::Log(Address { locals: [Some(log), Some(turn)], offset: -first_turn.cast_signed() }),
            ty: Ty::F,
            lane: VALUE,
        };
        self.back = false;
        self.count(s, *var, (*first, *last, *step), body, true, |fw| {
            let (added, addends) = fw.adding_elsewhere(results, |fw| fw.turn(body))?;
            fw.out.extend(added);
            for (log, addend) in logs.iter().zip(addends) {
                fw.push(Out::Write(at(*log, local(*var)), addend));
            }
            Ok(())
        })?;
        let in_blocks = blocks.is_some();
        self.total(s, results, (&logs, &at), (first_turn, *last), (false, in_blocks))?;
        self.forward(rest)?;
        if !self.within {
            self.turning_point();
            self.back = true;
            if !results.iter().all(|v| self.is_location_preserved(Location::Var(*v))) {
                self.values_alone(|fw| fw.block(rest, true))?;
                self.total(s, results, (&logs, &at), (first_turn, *last), (true, in_blocks))?;
            }
        }
        for log in logs.iter().rev() {
            self.push(Out::EndLog(*log));
        }
        self.backward(before)
    }

    /// Statements forward and back that add to variables of their own in place of results, and these variables.
    fn adding_elsewhere(
        &mut self,
        results: &[Var],
        add: impl FnOnce(&mut Self) -> Done,
    ) -> Result<(Vec<Out>, Vec<Local>), Refused> {
        let addends: Vec<Local> = results.iter().map(|_| self.fresh("addend", Ty::F)).collect();
        let outer = (self.addends.clone(), self.left.clone(), self.within, self.limits.clone());
        // What is added up later is compared with its limit there.
        results.iter().for_each(|v| _ = self.limits.remove(&Location::Var(*v)));
        self.addends.extend(results.iter().copied().zip(addends.iter().copied()));
        self.left = results.iter().copied().collect();
        self.within = true;
        let done = self.nested(|fw| {
            for (result, addend) in results.iter().zip(&addends) {
                fw.push(Out::Addend(*addend, local(*result)));
            }
            add(fw)
        });
        (self.addends, self.left, self.within, self.limits) = outer;
        Ok((done?, addends))
    }

    /// Adds what was written down to the results, or subtracts it again.
    fn total(
        &mut self,
        s: &LocatedStmt,
        results: &[Var],
        (logs, at): (&[Local], &impl Fn(Local, Local) -> Word),
        (first, last): (u64, Operand),
        (back, in_blocks): (bool, bool),
    ) -> Done {
        let outer = self.limits.clone();
        let limits = self.divide_limits(s);
        let turn = self.fresh("turn", Ty::Int);
        let word = |local: Local| Word { place: Place::Local(local), ty: Ty::F, lane: VALUE };
        let (mut body, mut parts, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for (result, log) in results.iter().zip(logs) {
            let place = word(local(*result));
            if in_blocks {
                let [part, all] = ["part", "parts"].map(|name| self.fresh(name, Ty::F));
                body.push(Out::Block(self.added_word(word(part), at(*log, turn), false)?));
                after.push(Out::Block(self.added_word(place, word(part), back)?));
                parts.push([part, all]);
            } else {
                body.push(Out::Block(self.added_word(place, at(*log, turn), back)?));
            }
            if let Some(Out::Block(sum)) = if in_blocks { after.last_mut() } else { body.last_mut() } {
                sum.limit = self.limits.get(&Location::Var(*result)).copied();
            }
        }
        self.limits = outer;
        let first = Bound::Const(first);
        let last = match self.place(last) {
            Some(place) => Bound::Kept(self.fresh("last", Ty::Int), place),
            None => Bound::Const(if let Operand::Const(k) = last { k } else { 0 }),
        };
        let (first, last, step) = if back { (last, first, -1) } else { (first, last, 1) };
        let count = Count {
            var: turn,
            first,
            last,
            step: OutStep::Const(step),
            checks: Vec::new(),
            kept: Vec::new(),
            limits,
            limits_after: Vec::new(),
            independent: false,
            flows_from: Vec::new(),
            mark: None,
            aside: None,
            jammed: None,
            nest: None,
            products: None,
            one_by_one: Vec::new(),
            courses: Vec::new(),
            strips: None,
            body,
            blocks: None,
        };
        let count = self.nested(|fw| {
            fw.push(Out::Count(Box::new(count)));
            if in_blocks {
                fw.mark_blocks(parts, after, back);
            }
            Ok(())
        })?;
        self.push(Out::InMode(AdMode::Plain, count));
        Ok(())
    }
}

/// How often a block adds to a variable, if that is always as often; `None` also for what does not tell.
fn adds(program: &Program, block: &[LocatedStmt], result: Var) -> Option<u32> {
    let mut count = 0;
    for s in block {
        count += match &s.stmt {
            Stmt::Update { dst, .. } => u32::from(matches!(dst, To::Var(v) if *v == result)),
            Stmt::Call { func, args, .. } => {
                let callee = program.functions.get(func.0 as usize)?;
                let given = callee.params.iter().zip(args).filter(|(_, a)| **a == Operand::Var(result));
                let mut inner = 0;
                for (param, _) in given.filter(|(param, _)| param.written) {
                    inner += adds(program, &callee.body, param.var)?;
                }
                inner
            }
            Stmt::If { then, otherwise, .. } => {
                let both = [adds(program, then, result)?, adds(program, otherwise, result)?];
                if both[0] != both[1] {
                    return None;
                }
                both[0]
            }
            Stmt::While { first, body, .. } => match (adds(program, first, result)?, adds(program, body, result)?) {
                (0, 0) => 0,
                _ => return None,
            },
            Stmt::For { body, .. } => match adds(program, body, result)? {
                0 => 0,
                _ => return None,
            },
            Stmt::With { body, .. } | Stmt::Span { body, .. } => adds(program, body, result)?,
            Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Array { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => 0,
        };
    }
    Some(count)
}
