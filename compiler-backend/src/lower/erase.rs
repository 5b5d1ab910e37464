//! Erasing instead of uncomputing, where the options ask for it and where it loses only what the computation has written.
//!
//! A word may be erased if it was zero before: its life began within the computation, or it is known to have been zero at
//! the start. [`KnownZeros`] tracks the latter while a function is lowered. A function that may run backward never erases.

use std::collections::HashSet;

use super::effects::Effects;
use super::linear::Builder;
use super::ops::{Arg, Op, SP, VReg, ZeroCheck};
use super::{Erase, LowerError};
use crate::ir::effects::blocks;
use crate::ir::{LocatedStmt, Mem, Operand, Program, Stmt};

/// The memory that each function writes, apart from its own arrays.
#[derive(Debug, Default)]
pub(super) struct Writers {
    /// For each parameter, whether the function writes the array at the parameter's address.
    params: Vec<Vec<bool>>,
    /// Whether the function writes other memory.
    unknown: Vec<bool>,
}

/// An array that is alive.
#[derive(Clone, Debug)]
struct Array {
    base: VReg,
    len: Arg,
    region: u32,
    zero: bool,
}

/// The words that are known to be zero.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    zero: HashSet<VReg>,
    arrays: Vec<Array>,
}

/// The words that are known to be zero at the present position of the lowering.
pub(super) struct KnownZeros<'a> {
    requested: &'a Erase,
    writers: &'a Writers,
    state: State,
}

impl<'a> KnownZeros<'a> {
    /// The state at the beginning of a function that never runs backward; `None` if nothing is to be erased.
    pub(super) fn new(requested: &'a Erase, writers: &'a Writers) -> Option<KnownZeros<'a>> {
        (*requested != Erase::Never).then(|| KnownZeros { requested, writers, state: State::default() })
    }

    pub(super) fn state(&self) -> State {
        self.state.clone()
    }

    /// Replaces the state; returns the old one.
    pub(super) fn swap(&mut self, state: State) -> State {
        std::mem::replace(&mut self.state, state)
    }

    /// Restores a state from before something that has been undone, except for arrays that have begun or ended since.
    pub(super) fn restore(&mut self, state: State) {
        self.state.zero.extend(state.zero);
        for array in &mut self.state.arrays {
            array.zero |= state.arrays.iter().any(|a| a.base == array.base && a.zero);
        }
    }

    /// Keeps only what is known on both of two paths.
    pub(super) fn meet(&mut self, other: State) {
        self.state.zero.retain(|v| other.zero.contains(v));
        for (a, b) in self.state.arrays.iter_mut().zip(&other.arrays) {
            a.zero &= b.zero;
        }
    }

    pub(super) fn begun(&mut self, v: VReg) {
        self.state.zero.insert(v);
    }

    pub(super) fn written(&mut self, arg: Arg) {
        match arg {
            Arg::Const(_) => {}
            Arg::Reg(v) => {
                self.state.zero.remove(&v);
            }
            Arg::Mem(word) => {
                self.state.arrays.iter_mut().filter(|a| a.region == word.region).for_each(|a| a.zero = false);
            }
        }
    }

    /// Notes a call; `points` gives the region that an argument points into.
    pub(super) fn called(&mut self, func: u32, args: &[Arg], points: &dyn Fn(VReg) -> Option<u32>) {
        let at = func as usize;
        if self.writers.unknown.get(at).copied().unwrap_or(true) {
            self.state.arrays.iter_mut().for_each(|a| a.zero = false);
        }
        for (n, &arg) in args.iter().enumerate() {
            if let Arg::Reg(v) = arg
                && self.writes(at, n)
            {
                let region = points(v);
                let reached = |a: &Array| region.is_none_or(|r| r == a.region);
                self.state.arrays.iter_mut().filter(|a| reached(a)).for_each(|a| a.zero = false);
            }
            // An argument counts as written, unless it is the base of an array.
            if !self.state.arrays.iter().any(|a| arg == Arg::Reg(a.base)) {
                self.written(arg);
            }
        }
    }

    fn writes(&self, func: usize, param: usize) -> bool {
        self.writers.params.get(func).and_then(|p| p.get(param)).copied().unwrap_or(true)
    }

    pub(super) fn array(&mut self, base: VReg, len: Arg, region: u32) {
        self.state.arrays.push(Array { base, len, region, zero: true });
    }

    pub(super) fn release(&mut self, base: VReg) {
        self.state.arrays.retain(|a| a.base != base);
    }
}

impl Builder<'_> {
    /// Forgets what is known about words that these effects leave changed.
    pub(super) fn forget(&mut self, effects: &Effects) {
        let lives: Vec<VReg> = effects.net.writes.iter().filter_map(|v| self.life(*v)).collect();
        let Some(known) = &self.known else { return };
        let changed = self.regions_changed(known, effects);
        let Some(known) = &mut self.known else { return };
        lives.iter().for_each(|v| known.written(Arg::Reg(*v)));
        for array in &mut known.state.arrays {
            array.zero &= !changed.contains(&array.region);
        }
    }

    /// Whether the options ask to erase what a computation leaves, and erasing it is possible.
    pub(super) fn erases(&self, name: &str, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Result<bool, LowerError> {
        let Some(known) = &self.known else { return Ok(false) };
        let requested = match known.requested {
            Erase::Never => false,
            Erase::Always => true,
            Erase::Some(names) => names.contains(name),
        };
        if !requested {
            return Ok(false);
        }
        let effects = Effects::of(self.program, compute);
        // If the body changes what the computation has written, undoing the computation has to move the changes back, as
        // for an exchange with memory around a loop.
        let used = Effects::of(self.program, body);
        let apart = effects.net.writes.is_disjoint(&used.net.writes)
            && self.regions_changed(known, &effects).is_disjoint(&self.regions_changed(known, &used));
        if !apart {
            return Ok(false);
        }
        let arrays = &known.state.arrays;
        let zero_array = |region: u32| arrays.iter().any(|a| a.region == region && a.zero);
        let new_region = |region: u32| effects.arrays.iter().any(|(r, _)| *r == region);
        let scalars = effects.writes.iter().all(|v| self.life(*v).is_none_or(|v| known.state.zero.contains(&v)));
        let ends = effects.ends.iter().any(|v| self.life(*v).is_some());
        let words = effects.writes_regions.iter().all(|r| new_region(*r) || zero_array(*r));
        let frees = effects.frees.iter().all(|r| new_region(*r));
        let calls = effects.calls.iter().all(|(func, args)| {
            let at = *func as usize;
            let elsewhere = known.writers.unknown.get(at).copied().unwrap_or(true);
            !elsewhere
                && args.iter().enumerate().filter(|(n, _)| known.writes(at, *n)).all(|(_, arg)| match arg {
                    Operand::Var(v) => {
                        effects.arrays.iter().any(|(_, base)| *base == v.0)
                            || self.life(v.0).is_some_and(|v| arrays.iter().any(|a| a.base == v && a.zero))
                            || self.function.points(*v).is_some_and(|r| new_region(r.0) || zero_array(r.0))
                    }
                    Operand::Const(_) | Operand::Mem(_) => false,
                })
        });
        Ok(scalars && !ends && words && frees && calls)
    }

    /// The regions that stay changed, also by calls: all regions, if a call may write anywhere.
    fn regions_changed(&self, known: &KnownZeros<'_>, effects: &Effects) -> HashSet<u32> {
        let mut out = effects.net.regions.clone();
        let all = 0..self.function.regions.len() as u32;
        for (func, args) in &effects.net.calls {
            let at = *func as usize;
            if known.writers.unknown.get(at).copied().unwrap_or(true) {
                out.extend(all.clone());
            }
            for (_, arg) in args.iter().enumerate().filter(|(n, _)| known.writes(at, *n)) {
                match arg {
                    Operand::Var(v) => match self.function.points(*v) {
                        Some(r) => _ = out.insert(r.0),
                        None => out.extend(all.clone()),
                    },
                    Operand::Const(_) => out.extend(all.clone()),
                    Operand::Mem(m) => _ = out.insert(m.region.0),
                }
            }
        }
        out
    }

    /// Lowers a computation and the body that uses it, and then erases what the computation has left.
    pub(super) fn with_erased(
        &mut self,
        name: String,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
        back: bool,
    ) -> Result<(), LowerError> {
        let before = self.known.as_ref().map(|k| k.state()).unwrap_or_default();
        let mark = self.mark();
        self.span(name, false, |b| b.block(compute, false))?;
        let begun = self.begun_since(mark);
        let after = self.known.as_ref().map(|k| k.state()).unwrap_or_default();
        self.block(body, back)?;
        self.out.erases = true;
        // Arrays first: their lengths may be among the words.
        let mut bases = HashSet::new();
        for array in after.arrays.iter().skip(before.arrays.len()).rev() {
            bases.insert(array.base);
            self.each_word((array.base, SP), array.len, None)?;
            self.release_array(array.base, array.len)?;
        }
        for (old, new) in before.arrays.iter().zip(&after.arrays) {
            if old.zero && !new.zero {
                let end = self.temp(ZeroCheck::None)?;
                self.add(end, Arg::Reg(old.base), false)?;
                self.add(end, old.len, false)?;
                self.each_word((old.base, end), old.len, None)?;
                self.add(end, old.len, true)?;
                self.add(end, Arg::Reg(old.base), true)?;
                self.end_temp(end, ZeroCheck::None)?;
                let arrays = self.known.iter_mut().flat_map(|k| &mut k.state.arrays);
                arrays.filter(|a| a.base == old.base).for_each(|a| a.zero = true);
            }
        }
        for var in begun.into_iter().rev() {
            let v = self.reg(var)?;
            if !bases.contains(&v) {
                self.push(Op::Erase(Arg::Reg(v)))?;
            }
            self.end(var, ZeroCheck::None)?;
        }
        let mut written: Vec<VReg> = before.zero.difference(&after.zero).copied().collect();
        written.sort_unstable();
        for v in written {
            self.push(Op::Erase(Arg::Reg(v)))?;
            if let Some(known) = &mut self.known {
                known.begun(v);
            }
        }
        Ok(())
    }
}

impl Writers {
    /// The writers of a program's functions.
    pub(super) fn of(program: &Program) -> Writers {
        let count = program.functions.len();
        let mut out = Writers { params: Vec::new(), unknown: vec![false; count] };
        let mut calls: Vec<Vec<(u32, Vec<Operand>)>> = Vec::new();
        // The arrays that each function allocates.
        let (mut bases, mut owns) = (Vec::new(), Vec::new());
        for (n, f) in program.functions.iter().enumerate() {
            let effects = Effects::of(program, &f.body);
            let own: HashSet<u32> = effects.arrays.iter().map(|(region, _)| *region).collect();
            let mut params = vec![false; f.params.len()];
            written_words(&f.body, &mut |m: &Mem| {
                if own.contains(&m.region.0) {
                    return;
                }
                let base = m.base.or(m.index);
                let mut given = false;
                for (at, p) in f.params.iter().enumerate() {
                    if Some(p.var) == base || f.points(p.var) == Some(m.region) {
                        params[at] = true;
                        given = true;
                    }
                }
                out.unknown[n] |= !given;
            });
            owns.push(own);
            bases.push(effects.arrays.iter().map(|(_, base)| *base).collect::<HashSet<u32>>());
            out.params.push(params);
            calls.push(effects.calls);
        }
        // Iterate to a fixed point; each round sets at least one flag.
        loop {
            let mut changed = false;
            for (n, f) in program.functions.iter().enumerate() {
                for (callee, args) in &calls[n] {
                    let at = *callee as usize;
                    if at >= count {
                        continue;
                    }
                    let mut elsewhere = out.unknown[at];
                    for (k, arg) in args.iter().enumerate() {
                        if !out.params[at].get(k).copied().unwrap_or(true) {
                            continue;
                        }
                        match arg {
                            Operand::Var(v) => {
                                let region = f.points(*v);
                                let own = bases[n].contains(&v.0) || region.is_some_and(|r| owns[n].contains(&r.0));
                                let mut given = false;
                                for (p, param) in f.params.iter().enumerate() {
                                    let same = region.is_some() && f.points(param.var) == region;
                                    if param.var == *v || same {
                                        given = true;
                                        changed |= !out.params[n][p];
                                        out.params[n][p] = true;
                                    }
                                }
                                elsewhere |= !own && !given;
                            }
                            Operand::Const(_) | Operand::Mem(_) => elsewhere = true,
                        }
                    }
                    if elsewhere && !out.unknown[n] {
                        out.unknown[n] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                return out;
            }
        }
    }
}

/// Visits the words of memory that a block writes itself, or passes to calls.
fn written_words(block: &[LocatedStmt], visit: &mut impl FnMut(&Mem)) {
    for at in block {
        let words: Vec<Operand> = match &at.stmt {
            Stmt::Update { dst, .. } => vec![(*dst).into()],
            Stmt::Permute { args, .. } | Stmt::Call { args, .. } => args.clone(),
            Stmt::If { .. }
            | Stmt::While { .. }
            | Stmt::For { .. }
            | Stmt::With { .. }
            | Stmt::Span { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Array { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => Vec::new(),
        };
        for word in &words {
            match word {
                Operand::Mem(m) => visit(m),
                Operand::Const(_) | Operand::Var(_) => {}
            }
        }
        for inner in blocks(&at.stmt) {
            written_words(inner, visit);
        }
    }
}
