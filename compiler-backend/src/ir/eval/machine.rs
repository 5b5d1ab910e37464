//! The evaluator's machine: calls and their frames, blocks and statements.

use std::cell::RefCell;
use std::time::Instant;

use pendula_isa::table::accumulate;
use pendula_isa::{Acc, Fault, Ty};

use super::error::EvalError;
use super::lifetimes::Life;
use super::state::{Location, OperandDomain, State};
use super::trace::Tracer;
use super::{Config, Evaluation, MAX_CALLS, Shown, StopPoint};
use crate::ir::effects::{changed_vars, walk};
use crate::ir::{FunctionId, IrFunction, Loc, LocatedStmt, Mem, Operand, Program, Stmt, TOLERANCE, Var};

/// The greatest nesting depth of blocks, over all calls.
const MAX_BLOCKS: usize = 500_000;

/// Room on the host's stack in bytes: what a block needs, and what is added if there is less.
const STACK_GROWTH: (usize, usize) = (256 << 10, 16 << 20);

pub(super) type Done = Result<(), EvalError>;

/// A call under way.
pub(super) struct Frame<'a> {
    pub(super) function: &'a IrFunction,
    /// The location of each variable.
    places: Vec<Location>,
    /// True if the function runs backward.
    back: bool,
    /// Whether each variable is alive.
    alive: RefCell<Vec<bool>>,
}

impl Frame<'_> {
    /// The location of a variable that is alive.
    pub(super) fn place_of(&self, v: Var) -> Option<Location> {
        let lives = self.alive.borrow().get(v.0 as usize).copied().unwrap_or(false);
        self.places.get(v.0 as usize).copied().filter(|_| lives)
    }

    pub(super) fn set_alive(&self, var: Var, lives: bool) {
        if let Some(alive) = self.alive.borrow_mut().get_mut(var.0 as usize) {
            *alive = lives;
        }
    }
}

/// A call that was under way when the run stopped.
pub(super) struct EndedCall {
    pub(super) func: FunctionId,
    pub(super) back: bool,
    /// The place of the call.
    pub(super) called: Loc,
    pub(super) places: Vec<Location>,
    pub(super) alive: Vec<bool>,
}

/// A run under way.
pub(super) struct Machine<'a> {
    program: &'a Program,
    pub(super) state: State,
    pub(super) out: Evaluation,
    /// For each function, the variables that its body changes itself.
    modified: Vec<Vec<bool>>,
    /// The address after the last array.
    pub(super) top: usize,
    max_steps: u64,
    /// When the run gives up.
    until: Option<Instant>,
    pub(super) trap_overflow: bool,
    /// Where the run is to stop.
    pub(super) moment: Option<&'a mut StopPoint>,
    /// True if the run has taken too long and stops at the next opportunity.
    late: bool,
    /// The place of the enclosing statement of the source.
    enclosing: Loc,
    /// The call of an extension whose steps run.
    within: Option<Loc>,
    pub(super) calls: usize,
    blocks: usize,
    /// The listener for statements, if there is one.
    pub(super) tracer: Option<Tracer<'a>>,
    /// The calls that were under way when the run stopped, the innermost first.
    pub(super) ended: Vec<EndedCall>,
}

/// The number of statements between two readings of the clock.
const CLOCK_INTERVAL: u64 = 1 << 16;

/// The number of further statements in which a late run must reach a place to stop.
const GRACE_STEPS: u64 = 1 << 20;

pub(super) fn fault(loc: Loc) -> impl Fn(Fault) -> EvalError {
    move |fault| EvalError::Fault { loc, fault }
}

impl<'a> Machine<'a> {
    pub(super) fn new(program: &'a Program, state: State, top: usize, config: &Config) -> Machine<'a> {
        let modified = program.functions.iter().map(|f| modified(program, f)).collect();
        let (max_steps, until) = (config.max_steps, config.until);
        let (out, ended) = (Evaluation::default(), Vec::new());
        Machine {
            program,
            state,
            out,
            modified,
            top,
            max_steps,
            until,
            trap_overflow: config.trap_overflow,
            moment: None,
            late: false,
            enclosing: Loc::default(),
            within: None,
            calls: 0,
            blocks: 0,
            tracer: None,
            ended,
        }
    }

    /// Runs a function on the words of the frames so far, one for each parameter.
    pub(super) fn enter(&mut self, func: FunctionId, back: bool, loc: Loc) -> Done {
        let args: Vec<Location> = (0..self.state.slots.values.len()).map(Location::Slot).collect();
        self.call(func, back, &args, loc)
    }

    /// A call that is one instruction: where a step stops, nothing has happened, and the stop is in the statement that has the call.
    fn extension(&mut self, func: FunctionId, back: bool, args: &[Location], loc: Loc) -> Done {
        let before: Vec<u64> = args.iter().map(|a| self.state.value(*a)).collect();
        let ended = self.ended.len();
        self.within = Some(loc);
        let done = self.call(func, back, args, loc);
        self.within = None;
        if done.is_err() {
            self.ended.truncate(ended);
            for (at, word) in args.iter().zip(before).filter(|(at, _)| !matches!(at, Location::Const(_))) {
                self.state.set_value(*at, word);
            }
        }
        done
    }

    fn call(&mut self, func: FunctionId, back: bool, args: &[Location], loc: Loc) -> Done {
        let program = self.program;
        let malformed = |what| EvalError::Malformed { loc, what };
        let function = program.functions.get(func.0 as usize).ok_or_else(|| malformed("no such function"))?;
        if function.params.len() != args.len() {
            return Err(malformed("a call with another number of arguments"));
        }
        if self.calls >= MAX_CALLS {
            return Err(EvalError::Depth { loc });
        }
        self.calls += 1;
        let base = self.state.slots.values.len();
        self.state.slots.resize(base + function.vars.len(), self.state.has_gradients);
        let mut places: Vec<Location> = (base..base + function.vars.len()).map(Location::Slot).collect();
        for (n, (param, arg)) in function.params.iter().zip(args).enumerate() {
            let place = places.get_mut(param.var.0 as usize).ok_or_else(|| malformed("no such variable"))?;
            let copied = !param.written && self.is_modified(func, param.var);
            if copied {
                let word = self.state.value(*arg);
                self.state.set_value(*place, word);
                continue;
            }
            *place = *arg;
            let same = |(m, other): (usize, &Location)| {
                m != n && other == arg && (param.written || function.params[m].written)
            };
            if param.written && matches!(arg, Location::Const(_)) {
                return Err(malformed("a constant for a parameter that is written"));
            }
            if !matches!(arg, Location::Const(_)) && args.iter().enumerate().any(same) {
                return Err(EvalError::Alias { loc });
            }
        }
        let saved: Vec<u64> = args.iter().map(|a| self.state.value(*a)).collect();
        let mut alive = vec![false; function.vars.len()];
        function.params.iter().filter_map(|p| alive.get_mut(p.var.0 as usize).map(|a| *a = true)).count();
        let frame = Frame { function, places, back, alive: RefCell::new(alive) };
        self.trace_forget();
        if let Err(error) = self.block(&frame, &function.body, back) {
            let Frame { places, alive, .. } = frame;
            self.ended.push(EndedCall { func, back, called: loc, places, alive: alive.into_inner() });
            return Err(error);
        }
        for ((param, arg), saved) in function.params.iter().zip(args).zip(saved) {
            if !param.written {
                self.end_unwritten_parameter(&frame, func, param.var, *arg, saved, loc)?;
            }
        }
        if let Some(n) = self.state.slots.values[base..].iter().position(|w| *w != 0) {
            let name = function.vars[n].name.clone();
            return Err(EvalError::Leak { loc: function.loc, name });
        }
        self.trace_forget();
        self.state.slots.values.truncate(base);
        self.state.slots.gradients.truncate(base);
        self.calls -= 1;
        Ok(())
    }

    /// Ends an unwritten parameter at the end of a call.
    fn end_unwritten_parameter(
        &mut self,
        frame: &Frame,
        func: FunctionId,
        var: Var,
        arg: Location,
        saved: u64,
        loc: Loc,
    ) -> Done {
        let at = self.place(frame, var, loc)?;
        let (word, ty) = (self.state.value(at), frame.function.ty(var));
        let drift = f64::from_bits(word) - f64::from_bits(saved);
        let near = ty == Ty::F && drift.abs() <= TOLERANCE;
        if word != saved && !near || self.state.value(arg) != saved && at != arg {
            return Err(EvalError::Changed { loc, name: frame.function.vars[var.0 as usize].name.clone() });
        }
        if !self.is_modified(func, var) {
            return Ok(());
        }
        if word != saved {
            self.out.lost_bits += 64;
        }
        self.state.set_value(at, 0);
        // The copy ends: its gradient flows on to the argument.
        if let (true, Some(ty)) = (self.state.has_gradients, ty.gradient()) {
            let (own, other) = (self.state.gradient(at), self.state.gradient(arg));
            let mut operands = OperandDomain::new(&mut self.state, [arg; 4]);
            let sum = accumulate(&mut operands, Acc::Add, false, ty, other, own).map_err(fault(loc))?;
            self.state.set_gradient(arg, sum);
        }
        self.state.set_gradient(at, 0);
        Ok(())
    }

    fn is_modified(&self, func: FunctionId, var: Var) -> bool {
        self.modified.get(func.0 as usize).and_then(|t| t.get(var.0 as usize)).copied().unwrap_or(false)
    }

    pub(super) fn place(&self, frame: &Frame, var: Var, loc: Loc) -> Result<Location, EvalError> {
        let place = frame.places.get(var.0 as usize);
        place.copied().ok_or(EvalError::Malformed { loc, what: "no such variable" })
    }

    pub(super) fn var(&self, frame: &Frame, var: Var, loc: Loc) -> Result<u64, EvalError> {
        Ok(self.state.value(self.place(frame, var, loc)?))
    }

    fn memory(&self, frame: &Frame, mem: Mem, loc: Loc) -> Result<Location, EvalError> {
        let mut address = mem.offset.cast_unsigned();
        for var in mem.vars() {
            address = address.wrapping_add(self.var(frame, var, loc)?);
        }
        let inside = usize::try_from(address).ok().filter(|a| *a < self.state.memory.values.len());
        inside.map(Location::Word).ok_or(EvalError::Fault { loc, fault: Fault::Memory })
    }

    pub(super) fn operand(&self, frame: &Frame, operand: Operand, loc: Loc) -> Result<Location, EvalError> {
        match operand {
            Operand::Const(k) => Ok(Location::Const(k)),
            Operand::Var(v) => self.place(frame, v, loc),
            Operand::Mem(m) => self.memory(frame, m, loc),
        }
    }

    pub(super) fn word(&self, frame: &Frame, operand: Operand, loc: Loc) -> Result<u64, EvalError> {
        Ok(self.state.value(self.operand(frame, operand, loc)?))
    }

    pub(super) fn step(&mut self, loc: Loc) -> Done {
        self.out.steps += 1;
        let late =
            || self.out.steps.is_multiple_of(CLOCK_INTERVAL) && self.until.is_some_and(|until| Instant::now() > until);
        if self.out.steps <= self.max_steps && !late() {
            return Ok(());
        }
        if self.moment.is_none() || self.late {
            return Err(EvalError::Steps { loc });
        }
        // At the next place where it may stop, the run tells how far it has come.
        (self.late, self.max_steps, self.until) = (true, self.out.steps + GRACE_STEPS, None);
        Ok(())
    }

    /// The run has reached a statement of the source, or a loop's next iteration. It is an error if it is to stop here.
    pub(super) fn visit(&mut self, loc: Loc) -> Done {
        let late = self.late;
        self.moment.as_mut().map_or(Ok(()), |moment| moment.visit(loc, late))
    }

    pub(super) fn block(&mut self, frame: &Frame, block: &[LocatedStmt], back: bool) -> Done {
        if self.blocks >= MAX_BLOCKS {
            return Err(EvalError::Depth { loc: block.first().map_or(frame.function.loc, |s| s.loc) });
        }
        self.blocks += 1;
        let (enclosing, outer) = (self.enclosing, self.trace_current());
        for n in 0..block.len() {
            let s = &block[if back { block.len() - 1 - n } else { n }];
            let loc = self.loc_of(s);
            self.step(loc)?;
            // Only the first IR statement of a statement of the source counts.
            if loc != self.enclosing {
                self.visit(loc)?;
                self.enclosing = loc;
            }
            self.trace_begin(s, back);
            let done = stacker::maybe_grow(STACK_GROWTH.0, STACK_GROWTH.1, || self.statement(frame, s, back));
            self.trace_written(frame);
            if let Err(error) = done {
                if let (true, EvalError::NotZero { .. }) = (self.ended.is_empty(), &error) {
                    self.undo_partial_statement(frame, block, n, back);
                }
                return Err(error);
            }
        }
        self.trace_end(outer);
        self.blocks -= 1;
        self.enclosing = enclosing;
        Ok(())
    }

    /// Undoes what a statement of the source has done so far, if its part at `n` has failed. A variable then has the value
    /// that it was to be deallocated with.
    fn undo_partial_statement(&mut self, frame: &Frame, block: &[LocatedStmt], n: usize, back: bool) {
        let at = |n: usize| &block[if back { block.len() - 1 - n } else { n }];
        let loc = at(n).loc;
        for n in (0..n).rev().take_while(|n| at(*n).loc == loc) {
            if self.statement(frame, at(n), !back).is_err() {
                return;
            }
        }
    }

    /// Where a statement counts as being: a step of an extension is where that is called.
    fn loc_of(&self, s: &LocatedStmt) -> Loc {
        self.within.unwrap_or(s.loc)
    }

    fn statement(&mut self, frame: &Frame, s: &LocatedStmt, back: bool) -> Done {
        let loc = self.loc_of(s);
        match &s.stmt {
            Stmt::Update { acc, inverse, func, dst, args } => {
                self.update(frame, (*acc, *inverse != back, *func), *dst, args, loc)
            }
            Stmt::Permute { row, inverse, ty, args } => self.permute(frame, (*row, *inverse != back, *ty), args, loc),
            Stmt::Ancilla { var, free, checks } => {
                let at = self.place(frame, *var, loc)?;
                let (ty, name) = (frame.function.ty(*var), frame.function.vars[var.0 as usize].name.as_str());
                self.life(&Life { at, ty, checks: *checks, loc, name }, *free != back)?;
                frame.set_alive(*var, *free == back);
                Ok(())
            }
            Stmt::Array { base, len, region, ty, free, checks } => {
                let name = frame.function.regions.get(region.0 as usize).map_or("", |r| r.name.as_str());
                let at = self.place(frame, *base, loc)?;
                let len = self.word(frame, *len, loc)?.cast_signed();
                self.array(&Life { at, ty: *ty, checks: *checks, loc, name }, len, *free != back)?;
                frame.set_alive(*base, *free == back);
                Ok(())
            }
            Stmt::Call { func, inverse, args } => {
                let args: Result<Vec<Location>, EvalError> =
                    args.iter().map(|a| self.operand(frame, *a, loc)).collect();
                if self.program.is_extension(*func) {
                    self.extension(*func, *inverse != back, &args?, loc)
                } else {
                    self.call(*func, *inverse != back, &args?, loc)
                }
            }
            Stmt::If { pre, post, then, otherwise } => self.branch(frame, (pre, post), (then, otherwise), back, loc),
            Stmt::While { pre, post, first, body } => self.while_loop(frame, (pre, post), (first, body), back, loc),
            Stmt::For { var, first, last, step, body, .. } => {
                self.for_loop(frame, *var, (*first, *last, *step), (body, back), loc)
            }
            Stmt::With { name: _, compute, body } => {
                self.block(frame, compute, false)?;
                self.block(frame, body, back)?;
                self.block(frame, compute, true)
            }
            Stmt::Span { name: _, undo: _, body } => self.block(frame, body, back),
            Stmt::Assert { test, why, reason } => {
                let (a, b) = (self.word(frame, test.a, loc)?, self.word(frame, test.b, loc)?);
                if self.holds(test, a, b, loc)? {
                    Ok(())
                } else {
                    Err(EvalError::Assert { loc, why: *why, reason: *reason, a, b })
                }
            }
            Stmt::Show { ty, value } => {
                let word = self.word(frame, *value, loc)?;
                if !frame.back {
                    self.out.shown.push(Shown::Number(*ty, word));
                }
                Ok(())
            }
            Stmt::Print(text) => {
                if !frame.back {
                    self.out.shown.push(Shown::Text(*text));
                }
                Ok(())
            }
        }
    }
}

/// The variables that a function's body changes itself. Arguments of unwritten parameters of callees are not among them.
fn modified(program: &Program, function: &IrFunction) -> Vec<bool> {
    let mut modified = vec![false; function.vars.len()];
    let mut mark = |v: Var| {
        if let Some(modified) = modified.get_mut(v.0 as usize) {
            *modified = true;
        }
    };
    walk(&function.body, &mut |s| changed_vars(program, &s.stmt, &mut mark));
    modified
}
