//! Calls: values are handed over, words that may be changed by their addresses.

use pendula_codegen::loops::{self, Argument, Slot, Stmt as Out, Value, Word};
use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

use super::aliases::differ;
use super::flow::Location;
use super::function::FunctionBuilder;
use super::{Forgotten, Looked, Refused, Sweep};
use crate::ir::copies::{Passed, copies, is_reached};
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Mem, Operand, Param, Var};

impl FunctionBuilder<'_, '_> {
    pub(super) fn call(
        &mut self,
        s: &LocatedStmt,
        func: FunctionId,
        way: Sweep,
        args: &[Operand],
    ) -> Result<(), Refused> {
        let program = self.w.program;
        let Some(callee) = program.functions.get(func.0 as usize) else { return Err(Refused::Operation) };
        self.site = std::ptr::from_ref(s);
        if callee.params.len() != args.len() {
            return Err(Refused::Operation);
        }
        let left = self.unmodified_params(callee, args, way);
        let forgotten = self.forgotten_params(s, callee, args);
        let active = self.active_params(func, callee, args);
        let looked = self.looked_params(callee, args, way);
        let keeping = self.keeping_call(func);
        let function = self.w.variant((func, way, self.ad_mode, left, forgotten, active, looked, keeping));
        let mut out = Vec::new();
        // What follows the call: words that are written back, and what has flowed to copies.
        let (mut back_to, mut shares) = (Vec::new(), Vec::new());
        let mut given: Vec<Mem> = Vec::new();
        let copies = self.copies(func, callee, args);
        for (n, (param, arg)) in callee.params.iter().zip(args).enumerate() {
            self.inside(s, n, *arg);
            let ty = callee.ty(param.var);
            let own = self.place(*arg).map(|place| Word { place, ty: self.operand_type(*arg, ty), lane: VALUE });
            if (own.is_none() && param.written) || own.is_some_and(|own| (own.ty == Ty::F) != (ty == Ty::F)) {
                return Err(Refused::Types);
            }
            match (own, *arg) {
                (Some(own), _) if param.written => {
                    out.push(self.passed_place(*arg, own, &mut back_to));
                    if way == Sweep::Turn {
                        out.push(self.midpoint(*arg, ty));
                    }
                }
                (Some(own), _) => out.push(Argument::Value(own)),
                (None, Operand::Const(k)) => out.push(Argument::Const(k, ty)),
                (None, _) => return Err(Refused::Operation),
            }
            let lanes = self.lanes_of(ty);
            if lanes.is_empty() {
                continue;
            }
            let copied = !param.written && copies[n];
            if let Operand::Mem(m) = arg
                && !copied
            {
                for other in given.clone() {
                    if !differ(other, *m) {
                        self.push(Out::Apart(self.address(other), self.address(*m)));
                    }
                }
                given.push(*m);
            }
            for &lane in lanes {
                match own.map(|own| Word { lane, ..own }).filter(|own| self.lanes_of(own.ty).contains(&lane)) {
                    None => out.push(Argument::Nowhere(loops::lane_type(lane, ty), lane)),
                    Some(own) if copied => {
                        let copy = self.fresh_for("share", lane, ty);
                        let forward = loops::flows_forward(self.ad_mode, lane);
                        self.push(Out::Define(copy, forward.then_some(own)));
                        let copy = self.local_word(copy);
                        out.push(Argument::Address(copy));
                        if !forward {
                            shares.push((lane, ty, [Slot::Word(own), Slot::Word(copy)]));
                        }
                    }
                    Some(own) => out.push(self.passed_place(*arg, own, &mut back_to)),
                }
            }
        }
        self.push(Out::Call(function, out));
        self.out.append(&mut back_to);
        // The machine undoes the copies from the last to the first.
        for (lane, ty, words) in shares.into_iter().rev() {
            let sum = self.sum(lane, ty, words)?;
            self.push(Out::Block(sum));
        }
        Ok(())
    }

    /// The value of a local variable.
    fn local_word(&self, local: loops::Local) -> Word {
        Word { place: loops::Place::Local(local), ty: self.local_type(local), lane: VALUE }
    }

    /// Which parameters a callee is to leave alone on the way back.
    fn unmodified_params(&mut self, callee: &IrFunction, args: &[Operand], way: Sweep) -> u64 {
        if way == Sweep::Turn {
            return self.preservable_params(callee, args);
        }
        if !self.back && way != Sweep::Within {
            return 0;
        }
        let bit = |(n, (param, arg)): (usize, (&Param, &Operand))| {
            let word = param.written && self.is_preserved(*arg);
            let region =
                matches!(arg, Operand::Var(v) if self.f.points(*v).is_some_and(|r| self.is_region_preserved(r)));
            u64::from(word || (region && callee.points(param.var).is_some())) << n
        };
        callee.params.iter().zip(args).take(64).enumerate().map(bit).fold(0, |a, b| a | b)
    }

    /// Which parameters are words of a computation that is forgotten.
    fn forgotten_params(&self, s: &LocatedStmt, callee: &IrFunction, args: &[Operand]) -> Forgotten {
        let mut out = Forgotten::default();
        let params = self.calls.get(&std::ptr::from_ref(s)).copied().unwrap_or(0);
        let through = callee.params.iter().zip(args).take(64).enumerate().filter(|(n, _)| params >> n & 1 != 0);
        for (n, (_, arg)) in through {
            let at = match arg {
                Operand::Const(_) => continue,
                Operand::Var(arg) => self.f.points(*arg).map_or(Location::Var(*arg), Location::Region),
                Operand::Mem(word) => Location::Region(word.region),
            };
            if self.complete.contains(&at) {
                out.complete |= 1 << n;
            } else if let Some(Value::Const(limit)) = self.limits.get(&at) {
                // The least limit does for all.
                out.limit = if out.limited == 0 { *limit } else { out.limit.min(*limit) };
                out.limited |= 1 << n;
            }
        }
        out
    }

    /// What is lent to a callee as a parameter, or by an address.
    pub(super) fn lent(&self, callee: &IrFunction, param: &Param, arg: &Operand) -> Option<Location> {
        let Operand::Var(v) = arg else { return None };
        match callee.points(param.var) {
            Some(_) => self.f.points(*v).map(Location::Region),
            None => Some(Location::Var(*v)),
        }
    }

    /// What a callee need not look at.
    fn looked_params(&self, callee: &IrFunction, args: &[Operand], way: Sweep) -> Looked {
        let before = self.known && (self.back || way == Sweep::Within);
        let bit = |(n, (param, arg)): (usize, (&Param, &Operand))| {
            let late = self.is_main() || self.lent(callee, param, arg).is_some_and(|at| self.late.contains(&at));
            u64::from(late) << n
        };
        let late = callee.params.iter().zip(args).take(64).enumerate().map(bit).fold(0, |a, b| a | b);
        Looked { late, before }
    }

    /// The address of a word: that of a copy for a word of memory, which is copied back after the call.
    fn passed_place(&mut self, operand: Operand, word: Word, back_to: &mut Vec<Out>) -> Argument {
        if !matches!(operand, Operand::Mem(_)) {
            return Argument::Address(word);
        }
        let copy = self.fresh_for("lent", word.lane, word.ty);
        self.push(Out::Define(copy, Some(word)));
        back_to.push(Out::Write(word, copy));
        Argument::Address(self.local_word(copy))
    }

    /// Which arguments carry something of their own, which flows back after the call, as where the machine passes copies.
    fn copies(&self, func: FunctionId, callee: &IrFunction, args: &[Operand]) -> Vec<bool> {
        let passed: Vec<Passed<Var, Mem>> = args.iter().map(|arg| (*arg).into()).collect();
        let summary = self.w.summaries.get(func);
        let is_reached = |n: usize| match passed[n] {
            Passed::Word(word) => is_reached(word.region, summary, callee, &passed, |v| self.f.points(v)),
            Passed::Const | Passed::Var(_) => false,
        };
        copies(&passed, |n| callee.params[n].written, |a, b| !differ(a, b), is_reached)
    }
}
