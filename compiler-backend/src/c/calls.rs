//! Calls: values are handed over, words that may be changed by their addresses.

use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

use super::function::{FunctionWriter, c_type};
use super::statement::differ;
use super::text::{Ex, double, word};
use super::{Refused, Sweep};
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Mem, Operand, Param};

impl FunctionWriter<'_, '_> {
    pub(super) fn call(
        &mut self,
        s: &LocatedStmt,
        func: FunctionId,
        way: Sweep,
        args: &[Operand],
    ) -> Result<(), Refused> {
        let program = self.w.program;
        let Some(callee) = program.functions.get(func.0 as usize) else { return Err(Refused::Operation) };
        if callee.params.len() != args.len() {
            return Err(Refused::Operation);
        }
        let left = self.unmodified_params(callee, args, way);
        let name = self.w.variant((func, way, self.ad_mode, left));
        let mut text = format!("if ({name}({}", self.surroundings(false));
        if way == Sweep::Turn {
            text.push_str(", turned");
        }
        let mut after = Vec::new();
        let mut back_to = Vec::new();
        let mut given: Vec<Mem> = Vec::new();
        for (n, (param, arg)) in callee.params.iter().zip(args).enumerate() {
            self.inside(s, n, *arg);
            let ty = callee.ty(param.var);
            let spot = self.spot(*arg, ty);
            let value = spot.lanes[VALUE].clone();
            if let (Operand::Const(_), true) = (arg, param.written) {
                return Err(Refused::Types);
            }
            if value.as_ref().is_some_and(|v| v.double != (ty == Ty::F)) {
                return Err(Refused::Types);
            }
            let value = value.unwrap_or_else(|| match arg {
                Operand::Const(k) if ty == Ty::F => double(*k),
                Operand::Const(k) => word(*k),
                _ => word(0),
            });
            if param.written {
                let place = self.passed_place(*arg, &value, &mut back_to);
                text.push_str(&format!(", &{place}"));
                if way == Sweep::Turn {
                    let midpoint = self.midpoint(*arg, ty);
                    text.push_str(&format!(", {midpoint}"));
                }
            } else {
                text.push_str(&format!(", {}", value.text));
            }
            let lanes = self.lanes_of(ty);
            if lanes.is_empty() {
                continue;
            }
            let copied = !param.written && (args[n + 1..].contains(arg) || self.is_reached(*arg, func, callee, args));
            if let Operand::Mem(m) = arg
                && !copied
            {
                for other in given.clone() {
                    if !differ(other, *m) {
                        let (a, b) = (self.address(other), self.address(*m));
                        self.text.line(&format!("if ({} == {}) return 1;", a.text, b.text));
                    }
                }
                given.push(*m);
            }
            for &lane in lanes {
                let kind = c_type(Self::lane_type(lane, ty));
                let own = spot.lanes[lane].clone();
                match own {
                    None => {
                        self.none = true;
                        text.push_str(&format!(", ({kind} *)&none"));
                    }
                    Some(own) if copied => {
                        let copy = self.fresh("share");
                        let forward = self.flows_forward(lane);
                        let begin = if forward { own.text.as_str() } else { "0" };
                        self.text.line(&format!("{kind} {copy} = {begin};"));
                        text.push_str(&format!(", &{copy}"));
                        if !forward {
                            after.push((lane, ty, own, Ex::atom(copy, kind == "double")));
                        }
                    }
                    Some(own) => {
                        let place = self.passed_place(*arg, &own, &mut back_to);
                        text.push_str(&format!(", &{place}"));
                    }
                }
            }
        }
        text.push_str(")) return 1;");
        if text.contains("&none") {
            // What an earlier call has left there.
            self.text.line("none = 0;");
        }
        self.text.line(&text);
        back_to.iter().for_each(|line: &String| self.text.line(line));
        for (lane, ty, own, copy) in after {
            for line in self.sum(lane, ty, &own, &copy)? {
                self.text.line(&line);
            }
        }
        Ok(())
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

    /// The variable that is lent for a word: a memory word is copied, and back after the call.
    fn passed_place(&mut self, operand: Operand, word: &Ex, back_to: &mut Vec<String>) -> String {
        if !matches!(operand, Operand::Mem(_)) {
            return word.text.clone();
        }
        let name = self.fresh("lent");
        self.text.line(&format!("{} {name} = {};", if word.double { "double" } else { "int64_t" }, word.text));
        back_to.push(format!("{} = {name};", word.text));
        name
    }

    /// Whether the callee may reach a word that it is given by an address, too.
    fn is_reached(&self, operand: Operand, func: FunctionId, callee: &IrFunction, args: &[Operand]) -> bool {
        let Operand::Mem(word) = operand else { return false };
        let summary = self.w.summaries.get(func);
        if !summary.reads_memory && !summary.writes_memory {
            return false;
        }
        // Where no parameter is known to be an address, any may be one.
        let regions_known = callee.params.iter().any(|p| callee.points(p.var).is_some());
        args.iter().zip(&callee.params).any(|(arg, param)| match arg {
            Operand::Var(v) => match self.f.points(*v) {
                Some(points) => points == word.region,
                None => !regions_known || callee.points(param.var).is_some(),
            },
            // The entry's arrays: data of their own.
            Operand::Const(_) => !regions_known,
            Operand::Mem(_) => !regions_known || callee.points(param.var).is_some(),
        })
    }
}
