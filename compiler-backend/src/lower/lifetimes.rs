//! Lives of variables: the virtual register of each variable, and the lives that branches leave.

use std::collections::HashMap;

use super::LowerError;
use super::linear::Builder;
use super::ops::{Arg, Life, Op, VReg, ZeroCheck};
use crate::ir::Var;

impl Builder<'_> {
    pub(super) fn fresh(&mut self, var: Option<Var>, param: Option<u32>, by_array: bool) -> VReg {
        let start = self.out.ops.len() as u32;
        let level = self.level;
        let points = var.and_then(|v| self.function.points(v)).map(|r| r.0);
        self.out.lives.push(Life {
            start,
            end: start,
            weight: 0,
            level,
            param,
            passed_as: Vec::new(),
            by_array,
            points,
        });
        VReg(self.out.lives.len() as u32 - 1)
    }

    /// A virtual register without a variable begins its life.
    pub(super) fn temp(&mut self, how: ZeroCheck) -> Result<VReg, LowerError> {
        let v = self.fresh(None, None, false);
        self.push(Op::Begin(v, how))?;
        Ok(v)
    }

    pub(super) fn end_temp(&mut self, v: VReg, how: ZeroCheck) -> Result<(), LowerError> {
        self.out.lives[v.0 as usize].end = self.out.ops.len() as u32;
        self.push(Op::End(v, how))
    }

    /// A variable begins its life.
    pub(super) fn begin(&mut self, var: Var, how: ZeroCheck, by_array: bool) -> Result<VReg, LowerError> {
        match self.current.get(var.0 as usize) {
            Some(None) => {}
            Some(Some(_)) => return Err(self.bad("a variable begins that has begun before")),
            None => return Err(self.bad("there is no such variable")),
        }
        let v = match self.continuing.get(&var.0) {
            Some(&v) => v,
            None => self.fresh(Some(var), None, by_array),
        };
        self.log.push((var.0, None));
        if let Some(known) = &mut self.known {
            known.begun(v);
        }
        self.push(Op::Begin(v, how))?;
        self.now_in(var.0, Some(v));
        Ok(v)
    }

    pub(super) fn end(&mut self, var: Var, how: ZeroCheck) -> Result<(), LowerError> {
        let v = self.reg(var)?;
        let life = &mut self.out.lives[v.0 as usize];
        life.end = self.out.ops.len() as u32;
        if self.level > life.level {
            self.continuing.insert(var.0, v);
        }
        self.log.push((var.0, Some(v)));
        self.now_in(var.0, None);
        if let Some(known) = &mut self.known {
            known.written(Arg::Reg(v));
        }
        self.push(Op::End(v, how))
    }

    /// The life that a variable is in.
    pub(super) fn reg(&self, var: Var) -> Result<VReg, LowerError> {
        let life = self.current.get(var.0 as usize).copied().flatten();
        life.ok_or_else(|| {
            let name = self.function.vars.get(var.0 as usize).map_or("?", |v| v.name.as_str());
            self.bad(&format!("the variable `{name}` is used before it begins or after it ends"))
        })
    }

    /// The life that a variable is in, if in one.
    pub(super) fn life(&self, var: u32) -> Option<VReg> {
        self.current.get(var as usize).copied().flatten()
    }

    /// From the next operation on, a variable is in this life.
    pub(super) fn now_in(&mut self, var: u32, life: Option<VReg>) {
        let next = self.out.ops.len() as u32;
        let Some(current) = self.current.get_mut(var as usize) else { return };
        let Some(since) = self.since.get_mut(var as usize) else { return };
        if let Some(v) = std::mem::replace(current, life) {
            self.out.parts.push((var, v, *since, next));
        }
        *since = next;
    }

    /// Where [`Builder::changed`] and [`Builder::back`] look back to.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// The variables that live in another life than at the mark, with the life there.
    pub(super) fn changed(&self, mark: usize) -> Vec<(u32, Option<VReg>)> {
        let mut seen: HashMap<u32, Option<VReg>> = HashMap::new();
        for (var, old) in self.log.get(mark..).unwrap_or(&[]) {
            seen.entry(*var).or_insert(*old);
        }
        let mut out: Vec<_> = seen.into_iter().filter(|(v, old)| self.current[*v as usize] != *old).collect();
        out.sort_unstable();
        out
    }

    /// Goes back to the lives at the mark, for the other branch; returns what the first one left.
    pub(super) fn back(&mut self, mark: usize) -> Vec<(u32, Option<VReg>)> {
        let mut left = Vec::new();
        for (var, old) in self.changed(mark) {
            let now = self.current[var as usize];
            if let Some(v) = now {
                self.continuing.insert(var, v);
            }
            left.push((var, now));
            self.now_in(var, old);
        }
        self.log.truncate(mark);
        left
    }

    /// Checks that the second branch has left what the first one did.
    pub(super) fn join(&mut self, mark: usize, left: &[(u32, Option<VReg>)]) -> Result<(), LowerError> {
        let changed = self.changed(mark);
        let same = changed.len() == left.len() && left.iter().all(|(var, now)| self.current[*var as usize] == *now);
        if same { Ok(()) } else { Err(self.bad("the branches do not leave the same variables")) }
    }

    /// The variable whose life this is, if it is in one that began after the mark.
    pub(super) fn begun_since(&self, mark: usize) -> Vec<Var> {
        let changed = self.changed(mark);
        changed.into_iter().filter(|(v, _)| self.current[*v as usize].is_some()).map(|(v, _)| Var(v)).collect()
    }
}
