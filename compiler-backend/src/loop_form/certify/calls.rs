//! What calls read and add to: functions tell it in windows of their parameters' arrays.

use super::super::flow::Location;
use super::super::windows::{Access, Window, is_symbol_of, translated};
use super::{Asked, Survey};
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Operand};

impl Survey<'_, '_> {
    pub(super) fn call(
        &mut self,
        s: &LocatedStmt,
        func: FunctionId,
        inverse: bool,
        args: &[Operand],
    ) -> Option<Vec<Access>> {
        let flow = self.drops.flow(self.f, std::slice::from_ref(s));
        if flow.opaque {
            return None;
        }
        if self.asked == Asked::Values {
            // What it reads of its own must be the same, too, whatever it does for others.
            self.drops.plan_of_function(func, 0, Asked::Values)?;
        }
        let changed = |at: &Location| [&flow.sums, &flow.changes, &flow.loans].iter().any(|set| set.contains(at));
        let (added, read): (Vec<Location>, Vec<Location>) =
            self.words.iter().filter(|at| changed(at) || flow.reads.contains(at)).partition(|at| changed(at));
        if added.is_empty() && read.is_empty() {
            return Some(Vec::new());
        }
        let program = self.drops.program;
        let callee = program.functions.get(func.0 as usize)?;
        if let Some(out) = self.accesses_of_call(s, callee, (func, inverse), args, [&added, &read]) {
            return Some(out);
        }
        let unknown = |at: &Location| Access { at: *at, window: None, adds: None, called: true };
        added.is_empty().then(|| read.iter().map(unknown).collect())
    }

    /// What a call reads and adds to, by the windows that the function tells of its parameters' arrays.
    fn accesses_of_call(
        &mut self,
        s: &LocatedStmt,
        callee: &IrFunction,
        (func, inverse): (FunctionId, bool),
        args: &[Operand],
        [added, read]: [&[Location]; 2],
    ) -> Option<Vec<Access>> {
        let counts = self.asked == Asked::Sums;
        if callee.params.len() > 64 || counts && inverse && !added.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        // The words of the computation that the function knows by other names, and the parameters by which it does.
        let mut names: Vec<(Location, Location, u64)> = Vec::new();
        let mut lent: Vec<(Location, Window)> = Vec::new();
        for (n, (param, arg)) in callee.params.iter().zip(args).enumerate() {
            let (inner, own) = match arg {
                Operand::Const(_) => continue,
                // A word of an array on its own.
                Operand::Mem(m) if param.written && self.words.contains(&Location::Region(m.region)) => {
                    let own = Location::Region(m.region);
                    if names.iter().any(|(_, known, _)| *known == own) {
                        return None;
                    }
                    lent.push((Location::Var(param.var), self.window(*m)));
                    (Location::Var(param.var), own)
                }
                Operand::Mem(_) => {
                    self.read(*arg, &mut out);
                    continue;
                }
                Operand::Var(v) => match (callee.points(param.var), self.f.points(*v)) {
                    (Some(inner), Some(own)) => (Location::Region(inner), Location::Region(own)),
                    _ => (Location::Var(param.var), Location::Var(*v)),
                },
            };
            if !added.contains(&own) && !read.contains(&own) {
                continue;
            }
            // Two parts of an array are arrays of their own in the function only if they do not overlap, or are both read.
            let is_lent = |known: &Location| lent.iter().any(|(at, _)| at == known && *known != inner);
            if names.iter().any(|(known, at, _)| *at == own && is_lent(known)) {
                return None;
            }
            let var = matches!(own, Location::Var(_)) && added.contains(&own);
            let twice = var && names.iter().any(|(_, known, _)| *known == own);
            match names.iter_mut().find(|(known, ..)| *known == inner) {
                Some((_, known, params)) if *known == own => *params |= 1 << n,
                None if !twice => names.push((inner, own, 1 << n)),
                _ => return None,
            }
        }
        let in_memory = |at: &Location| out.iter().any(|a: &Access| a.at == *at);
        if added.iter().chain(read).any(|at| !in_memory(at) && !names.iter().any(|(_, own, _)| own == at)) {
            return None;
        }
        let plan =
            self.drops.plan_of_function(func, names.iter().fold(0, |all, (.., params)| all | params), self.asked)?;
        let value = |value| {
            let given = callee.params.iter().zip(args).find(|(param, _)| is_symbol_of(value, param.var));
            given.and_then(|(_, arg)| self.operand(*arg))
        };
        let (mut later, mut through) = (Vec::new(), 0);
        for access in &plan.accesses {
            let (_, own, params) = names.iter().find(|(inner, ..)| *inner == access.at)?;
            let window = match lent.iter().find(|(at, _)| *at == access.at) {
                Some((_, word)) => word.clone(),
                None => access.window.as_ref().and_then(|window| translated(window, &value)),
            };
            through |= if access.adds.is_some() { *params } else { 0 };
            later.push(Access { at: *own, window, adds: access.adds, called: true });
        }
        let is_both = |a: &Access| a.adds.is_some() && later.iter().any(|b| b.at == a.at && b.adds.is_none());
        if inverse && later.iter().any(is_both) {
            // It is added to after it was read.
            return None;
        }
        // Words of arrays on their own are read first.
        self.follow(&mut out, later)?;
        if through != 0 {
            self.calls.insert(std::ptr::from_ref(s), through);
        }
        Some(out)
    }
}
