//! A debug session: a run that can be moved through in both directions, by statements, calls and breakpoints, and looked at.
//!
//! ```
//! let source = "
//!         .data
//!         .export n
//! n:      .word   0
//!         .text
//! main:   start
//!         add     [n], 3
//!         add     [n], 4
//!         finish
//! ";
//! let assembly = pendula::asm::assemble::assemble("n.rasm", source.to_string(), &Default::default());
//! let program = pendula::vm::Program::new(assembly.module.expect("no errors"), true)?;
//! let machine = pendula::vm::Machine::new(&program, &Default::default())?;
//! let mut session = pendula::debug::Session::new(machine, None, |_| false);
//! session.go_on();
//! assert_eq!(session.evaluate("n")?.to_string(), "7");
//! // Back to where `n` was written last.
//! session.last_written("n")?;
//! assert_eq!(session.evaluate("n")?.to_string(), "3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod breakpoints;
mod code;
mod expr;
mod hits;
mod locals;
mod timeline;
mod view;
mod written;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pendula_compiler::janus::store::Variable;
use pendula_isa::counts::{Counts, Direction};
use pendula_isa::diagnostic::Sources;
use pendula_isa::types::Reg;
use pendula_vm::{Machine, Outcome, Trap};

pub use breakpoints::{Breakpoint, BreakpointKind, Location};
pub use code::{Code, Statement};
pub use expr::Value;
pub use locals::Local;
pub use timeline::{Arrival, EVENTS, Timeline};
pub use view::Frame;

use code::is_call;
use hits::{Goal, Hits, Names};
use locals::Locals;

use crate::leftovers::{ADDRESSES, Touched, memory_of};
use crate::load::CompiledSource;
use crate::report::calls::Frames;
use crate::report::diagnosis::{self, Rerun};
use crate::report::stop_report::StopReport;

/// Why a session stopped where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A movement ended.
    Arrived(Arrival),
    /// At a breakpoint, by its number.
    Breakpoint(u32),
    /// A place that is watched is about to be changed, or has been changed: the breakpoint's number, and the words before and after.
    Changed {
        /// The number of the breakpoint.
        number: u32,
        /// The value before the change.
        before: String,
        /// The value after it.
        after: String,
    },
}

/// What a step does at calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// It goes into them.
    Into,
    /// It goes over them.
    Over,
}

/// A debug session.
pub struct Session<'p> {
    line: Timeline<'p>,
    code: Code<'p>,
    /// What is known of the stack in the code, once calls have been asked for.
    stack: OnceCell<Frames>,
    /// The variables of a program in Janus.
    store: Option<&'p [Variable]>,
    /// What is known of the variables of a compiled program.
    locals: Option<Locals<'p>>,
    breakpoints: Vec<Breakpoint>,
    numbered: u32,
    bookmarks: BTreeMap<String, u64>,
    /// Where the session was before it went to where something was written last.
    returns: Vec<u64>,
    /// The data of a compiled program where its run begins.
    begun: Vec<u64>,
    /// At a moment, the moments of the calls that have not returned, as far as they are known.
    calls: (u64, Vec<u64>),
}

impl<'p> Session<'p> {
    /// A session with a machine that is about to run; `source` is what compiling the program gave, if it was compiled. During long movements, `pause` is told the
    /// moment and says whether to stop there.
    pub fn new(
        machine: Machine<'p>,
        source: Option<&'p CompiledSource>,
        pause: impl Fn(u64) -> bool + 'p,
    ) -> Session<'p> {
        Session::of(Timeline::new(machine, pause), source)
    }

    /// A session with a run.
    pub fn of(line: Timeline<'p>, source: Option<&'p CompiledSource>) -> Session<'p> {
        let program = source.and_then(|source| source.source.as_ref());
        let code = Code::new(line.machine().program().module(), program);
        let (store, locals) = (source.and_then(CompiledSource::variables), source.map(Locals::new));
        let (breakpoints, bookmarks, returns, calls) = (Vec::new(), BTreeMap::new(), Vec::new(), (0, Vec::new()));
        let begun = match &locals {
            Some(_) => line.machine().memory().iter().take(code.module().data.len()).copied().collect(),
            None => Vec::new(),
        };
        Session {
            line,
            begun,
            code,
            stack: OnceCell::new(),
            store,
            locals,
            breakpoints,
            numbered: 0,
            bookmarks,
            returns,
            calls,
        }
    }

    /// The run.
    pub fn timeline(&self) -> &Timeline<'p> {
        &self.line
    }

    /// The code.
    pub fn code(&self) -> &Code<'p> {
        &self.code
    }

    /// The machine at the present moment.
    pub fn machine(&self) -> &Machine<'p> {
        self.line.machine()
    }

    /// Whether the machine goes backward at this moment.
    pub fn is_backward(&self) -> bool {
        is_backward(self.machine())
    }

    /// Moves to a moment, the number of instructions from the start.
    pub fn go_to(&mut self, moment: u64) -> Halt {
        Halt::Arrived(self.line.go_to(moment))
    }

    /// Moves to the end of the run.
    pub fn go_to_end(&mut self) -> Halt {
        self.line.set_stops(&[], &[]);
        match self.line.end() {
            Some(end) => {
                let arrival = self.line.go_to(end);
                let trap = || self.line.trap().map(|trap| Arrival::Trap(Box::new(trap.clone())));
                Halt::Arrived(if arrival == Arrival::There { trap().unwrap_or(Arrival::End) } else { arrival })
            }
            None => Halt::Arrived(self.line.on(&mut |_, _, _| false)),
        }
    }

    /// Runs one instruction; over a call, what it calls.
    pub fn step_instruction(&mut self, calls: Calls) -> Halt {
        let at = self.machine().pc();
        if calls == Calls::Over
            && let Some(at) = at
            && self.calls(at)
        {
            return self.over_call(at);
        }
        Halt::Arrived(self.line.step().err().unwrap_or(Arrival::There))
    }

    /// Goes back by one instruction; over a call, what it calls.
    pub fn step_instruction_back(&mut self, calls: Calls) -> Halt {
        if self.line.now() == 0 {
            return Halt::Arrived(Arrival::Start);
        }
        match calls {
            Calls::Into => self.go_to(self.line.now() - 1),
            Calls::Over => self.back_to(0, |_, _, _, _| true),
        }
    }

    fn calls(&self, at: u32) -> bool {
        self.code.module().code.get(at as usize).is_some_and(is_call)
    }

    /// Runs a call, until it has returned, or to a breakpoint within it.
    fn over_call(&mut self, at: u32) -> Halt {
        let (sp, back) = (self.machine().registers()[Reg::SP.index()], self.is_backward());
        match self.code.after_call(at, back) {
            Some(at) => self.run_to(Some(Goal { at, sp, back })),
            None => Halt::Arrived(self.line.step().err().unwrap_or(Arrival::There)),
        }
    }

    /// Runs to the beginning of the next statement.
    pub fn step(&mut self, calls: Calls) -> Halt {
        let mut looks = 0u32;
        let mut watching = self.begin_watching();
        loop {
            let at = self.machine().pc();
            let arrival = match at {
                Some(at) if calls == Calls::Over && self.calls(at) && !self.code.is_around(at) => {
                    match self.over_call(at) {
                        Halt::Arrived(Arrival::There) => {
                            watching = self.begin_watching();
                            Ok(at)
                        }
                        Halt::Arrived(other) => Err(other),
                        halt => return halt,
                    }
                }
                _ => self.line.step(),
            };
            let after = match arrival {
                Ok(after) => after,
                Err(arrival) => return Halt::Arrived(arrival),
            };
            if let Some(halt) = watching.as_mut().and_then(|watching| self.look_at_watched(watching)) {
                return halt;
            }
            let Some(here) = self.machine().pc() else { return Halt::Arrived(Arrival::End) };
            if self.code.begins(Some(after), here, self.is_backward()) {
                return Halt::Arrived(Arrival::There);
            }
            looks += 1;
            if looks.is_multiple_of(1 << 20) && self.line.is_paused() {
                return Halt::Arrived(Arrival::Paused);
            }
        }
    }

    /// Goes back to the beginning of the last statement before this moment.
    pub fn step_back(&mut self, calls: Calls) -> Halt {
        match calls {
            Calls::Into => {
                let code = &self.code;
                let names = Names { code, store: self.store, locals: self.locals.as_ref() };
                let mut hits = Hits::of_watched(names, &self.breakpoints);
                // The last moment of a part: a statement begins there, or a watched place is about to change.
                let last = RefCell::new(None);
                let arrival = self.line.search_back(
                    &mut |machine, look| {
                        if let Some((moment, found)) = hits.at(machine, look) {
                            *last.borrow_mut() = Some((moment, Some(found)));
                        }
                        let begins = |pc| code.begins(look.after, pc, is_backward(machine));
                        if !look.last && machine.pc().is_some_and(begins) {
                            *last.borrow_mut() = Some((look.now, None));
                        }
                    },
                    &mut || last.borrow().as_ref().map(|(moment, _)| *moment),
                );
                match (last.into_inner(), arrival) {
                    (Some((_, Some(found))), Arrival::Stop) => self.halt_back(found),
                    (_, Arrival::Stop) => Halt::Arrived(Arrival::There),
                    (_, arrival) => Halt::Arrived(arrival),
                }
            }
            Calls::Over => self.back_to(0, Code::begins),
        }
    }

    /// Runs until the procedure that is running has returned.
    pub fn step_out(&mut self) -> Result<Halt, String> {
        let frame = self.caller()?;
        let Some(after) = self.code.after_call(frame.called, frame.back) else {
            return Err("the call is the last instruction".to_string());
        };
        let halt = self.run_to(Some(Goal { at: after, sp: frame.sp, back: frame.back }));
        // Within a statement, variables are not known.
        let within = halt == Halt::Arrived(Arrival::There)
            && self.code.module().is_compiled(after as usize)
            && !self.code.is_around(after)
            && self.view().function().is_none();
        Ok(if within { self.step(Calls::Over) } else { halt })
    }

    /// Goes back to where the procedure that is running was called.
    pub fn step_out_back(&mut self) -> Result<Halt, String> {
        self.caller()?;
        Ok(self.back_to(1, Code::begins))
    }

    /// The moment at which frame number `n` called the one within it; frame 0 is that of the present moment.
    ///
    /// # Errors
    /// There is no such frame, or it is asked to pause.
    pub fn moment_of_frame(&mut self, n: usize) -> Result<u64, String> {
        let now = self.line.now();
        if n == 0 {
            return Ok(now);
        }
        if self.calls.0 != now {
            self.calls = (now, Vec::new());
        }
        let mut found = std::mem::take(&mut self.calls.1);
        let breakpoints = std::mem::take(&mut self.breakpoints);
        let mut result = Ok(());
        if found.len() < n {
            self.line.return_to(found.last().copied().unwrap_or(now));
        }
        while found.len() < n && result.is_ok() {
            result = self.caller().and_then(|_| match self.back_to(1, Code::begins) {
                Halt::Arrived(Arrival::There) => {
                    found.push(self.line.now());
                    Ok(())
                }
                Halt::Arrived(Arrival::Paused) => Err("interrupted".to_string()),
                _ => Err("the stack does not say what called this".to_string()),
            });
        }
        self.line.return_to(now);
        self.breakpoints = breakpoints;
        let moment = result.map(|()| found[n - 1]);
        self.calls.1 = found;
        moment
    }

    /// Comes back to a moment at which the run has been, after a look at others.
    pub fn come_back(&mut self, moment: u64) {
        self.line.return_to(moment);
    }

    /// What there is to see at another moment at which the run has been. The session stays where it is.
    pub fn at<T>(&mut self, moment: u64, see: impl FnOnce(&Session<'p>) -> T) -> T {
        let now = self.line.now();
        self.line.return_to(moment);
        let seen = see(self);
        self.line.return_to(now);
        seen
    }

    /// Goes back to the last moment at which `accepts` and at which at least `less` fewer calls are active than now, or to a breakpoint after it.
    fn back_to(&mut self, less: i64, accepts: impl Fn(&Code<'p>, Option<u32>, u32, bool) -> bool) -> Halt {
        let code = &self.code;
        let names = Names { code, store: self.store, locals: self.locals.as_ref() };
        let mut hits = Hits::new(names, &self.breakpoints);
        // The moments of a part that come into question: each with the number of calls, which grows from one to the next; and the last breakpoint of the part.
        let state = RefCell::new((Vec::<(u64, i64)>::new(), 0i64, 0i64, false));
        let hit = RefCell::new(None);
        let arrival = self.line.search_back(
            &mut |machine, look| {
                let (found, depth, _, was_back) = &mut *state.borrow_mut();
                if let Some(after) = look.after.filter(|_| !look.first) {
                    // What passes arguments to the program and calls it is no procedure around it.
                    let around = |at: Option<u32>| at.is_some_and(|at| code.is_around(at));
                    if code.module().code.get(after as usize).is_some_and(is_call) {
                        *depth += i64::from(!around(Some(after)));
                    } else if code.returns(after, *was_back) {
                        *depth -= i64::from(!around(machine.pc()));
                    }
                }
                *was_back = is_backward(machine);
                if let Some(own) = hits.at(machine, look) {
                    *hit.borrow_mut() = Some(own);
                }
                let Some(pc) = machine.pc().filter(|_| !look.last) else { return };
                if accepts(code, look.after, pc, *was_back) {
                    while found.last().is_some_and(|(_, other)| *other >= *depth) {
                        found.pop();
                    }
                    found.push((look.now, *depth));
                }
            },
            &mut || {
                let (found, depth, more, _) = &mut *state.borrow_mut();
                // `more` is how many more calls are active at the end of this part than now.
                let most = *depth - *more - less;
                let pick = found.iter().rev().find(|(_, own)| *own <= most).map(|(moment, _)| *moment);
                *more -= *depth;
                found.clear();
                *depth = 0;
                let mut hit = hit.borrow_mut();
                if pick >= hit.as_ref().map(|(moment, _)| *moment) {
                    *hit = None;
                }
                hit.as_ref().map(|(moment, _)| *moment).or(pick)
            },
        );
        match (hit.into_inner(), arrival) {
            (Some((_, found)), Arrival::Stop) => self.halt_back(found),
            (None, Arrival::Stop) => Halt::Arrived(Arrival::There),
            (_, arrival) => Halt::Arrived(arrival),
        }
    }

    /// Counts what a run straight to this moment executes; `None` if it is asked to pause.
    pub fn counts(&mut self) -> Option<Counts> {
        self.line.counts()
    }

    /// The number of words of memory that a run straight to this moment reads or writes, or that hold variables of the program; and whether the whole run was
    /// followed for it. `None` if it is asked to pause.
    pub fn touched(&mut self) -> Option<(u64, bool)> {
        let now = self.line.now();
        let mut touched = Touched::new(self.machine().memory().len());
        touched.add(self.variables().iter().flat_map(memory_of));
        self.line.go_to(0);
        let mut paused = false;
        while self.line.now() < now.min(ADDRESSES) && !paused {
            let (before, back) = (*self.machine().registers(), self.is_backward());
            let Ok(at) = self.line.step() else { break };
            if let Some(inst) = self.code.module().code.get(at as usize) {
                touched.ran(&if back { inst.inverse() } else { *inst }, &before, self.machine().registers());
            }
            paused = self.line.now().is_multiple_of(1 << 20) && self.line.is_paused();
        }
        let all = self.line.now() == now;
        self.line.return_to(now);
        (!paused).then(|| (touched.memory(), all))
    }

    /// Why a program in Nil or Janus cannot go on, in terms of its source, as a run without a debugger says it. For this, it runs again, for no longer than `time`. `None`
    /// in other languages, where the run has been changed or has gradients, or if that gives no answer.
    pub fn stop_report(&self, trap: &Trap, sources: &Sources, time: Duration) -> Option<StopReport> {
        let compiled = self.locals.as_ref()?.source();
        let machine = self.machine();
        if self.line.is_changed() || machine.ad_mode().level() > 0 || machine.ad_mode().has_tangents() {
            return None;
        }
        let directions = match (machine.begun(), self.line.has_turned()) {
            (Direction::Backward, true) => &[Direction::Forward, Direction::Backward][..],
            (Direction::Backward, false) => &[Direction::Backward],
            (Direction::Forward, _) => &[Direction::Forward],
        };
        let again = Rerun { data: self.begun.clone(), directions, seeds: &[], until: Instant::now() + time };
        diagnosis::in_source(&Outcome::Trap(Box::new(trap.clone())), machine, compiled, sources, again)
    }

    /// Goes back to the beginning of the statement that cannot run, if the run is at a trap within one: variables are known there.
    pub fn to_statement(&mut self) {
        let Some(pc) = self.machine().pc() else { return };
        let compiled = self.code.module().is_compiled(pc as usize) && !self.code.is_around(pc);
        if compiled && self.view().function().is_none() {
            self.step_back(Calls::Into);
        }
    }

    /// Remembers the present moment under a name.
    pub fn bookmark(&mut self, name: &str) {
        self.bookmarks.insert(name.to_string(), self.line.now());
    }

    /// The bookmarks, with their moments.
    pub fn bookmarks(&self) -> &BTreeMap<String, u64> {
        &self.bookmarks
    }
}

/// Whether a machine goes backward.
fn is_backward(machine: &Machine<'_>) -> bool {
    machine.direction() == pendula_isa::counts::Direction::Backward
}
