//! Breakpoints and watched places, in both directions.

use std::cell::RefCell;

use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::Flow;
use pendula_isa::types::Reg;

use super::code::Code;
use super::hits::{Found, Goal, Watching, hits, holds};
use super::timeline::Arrival;
use super::view::{ELEMENTS, View};
use super::{Halt, Session};
use crate::state::values::{self, Location as At, Place};

/// Where a run stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line of a file; `None` for the program's own file.
    Line(Option<String>, u32),
    /// A label, procedure or function.
    Name(String),
    /// An address.
    Address(u32),
}

/// What a run stops at.
#[derive(Clone, Debug)]
pub enum BreakpointKind {
    /// Before these instructions: those of a line, if the statement begins with one of them.
    Code {
        /// As it was asked for.
        location: Location,
        /// The addresses; those of a name are pairs, for the way forward and the way back.
        addresses: Vec<u32>,
        /// The line, if it is one.
        line: Option<u32>,
    },
    /// Where the words of a place change.
    Watch(Box<Place>),
}

/// A breakpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number, from 1.
    pub number: u32,
    /// What it stops at.
    pub kind: BreakpointKind,
    /// It stops only if this expression is true.
    pub condition: Option<String>,
    /// How many more times it is passed over.
    pub ignore: u64,
    /// Whether it stops at all.
    pub enabled: bool,
    /// Whether it stops only once.
    pub once: bool,
    /// How often it has stopped.
    pub hits: u64,
}

impl Breakpoint {
    /// Whether it stops before an instruction at which a statement begins or not.
    pub(super) fn is_at(&self, code: &Code<'_>, after: Option<u32>, at: u32, back: bool) -> bool {
        match &self.kind {
            // A procedure is entered at its beginning, or at its end on the way back.
            BreakpointKind::Code { addresses, location: Location::Name(_), .. } => {
                addresses.chunks(2).any(|both| both.get(usize::from(back)) == Some(&at))
            }
            BreakpointKind::Code { addresses, line, .. } => {
                addresses.contains(&at) && (line.is_none() || code.begins(after, at, back))
            }
            BreakpointKind::Watch(_) => false,
        }
    }

    pub(super) fn watched(&self) -> Option<&Place> {
        match &self.kind {
            BreakpointKind::Watch(place) => Some(place),
            BreakpointKind::Code { .. } => None,
        }
    }
}

impl Session<'_> {
    /// The breakpoints, by their numbers.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// A location as a user writes it: `12`, `file.rasm:12`, `loop`, `*40`.
    ///
    /// # Errors
    /// It names nothing.
    pub fn location(&self, text: &str) -> Result<Location, String> {
        let text = text.trim();
        if let Some(address) = text.strip_prefix('*') {
            let address = address.trim().parse::<u32>().map_err(|_| format!("`{text}` is no address: write `*40`"))?;
            let count = self.code.module().code.len();
            if address as usize >= count {
                return Err(format!("there is no instruction at {address}: the program has {count}"));
            }
            return Ok(Location::Address(address));
        }
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n > 0);
        if let Some(line) = number(text) {
            return Ok(Location::Line(None, line));
        }
        if let Some((file, line)) = text.rsplit_once(':')
            && let Some(line) = number(line)
        {
            return Ok(Location::Line(Some(file.to_string()), line));
        }
        if self.code.named(text).is_empty() {
            let names = self.code.names();
            let some = names.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
            let known = if names.is_empty() { "it has no names".to_string() } else { format!("it has {some}") };
            return Err(format!("the program has no procedure or label `{text}`: {known}"));
        }
        Ok(Location::Name(text.to_string()))
    }

    /// The instructions of a location, and its line if it is one: that of the next line with code, if the line itself has none.
    ///
    /// # Errors
    /// There is no code at or after the line.
    pub fn addresses(&self, location: &Location) -> Result<(Vec<u32>, Option<u32>), String> {
        match location {
            Location::Address(at) => Ok((vec![*at], None)),
            Location::Name(name) => Ok((self.entries(name), None)),
            Location::Line(file, line) => {
                let own = self.own_file();
                let file = file.as_deref().unwrap_or(&own);
                let (line, found) = self.code.line(file, *line).ok_or_else(|| {
                    if self.code.has_lines() {
                        format!("{file} has no code at or after line {line}")
                    } else {
                        "the program has no lines: name an address, `*40`".to_string()
                    }
                })?;
                Ok((found, Some(line)))
            }
        }
    }

    /// The instructions with which procedures and labels of this name begin: for each, those on the way forward and on the way back.
    fn entries(&self, name: &str) -> Vec<u32> {
        let all = self.code.named(name);
        // What the compiler has put around a program may have the name of a function.
        let own: Vec<u32> = all.iter().copied().filter(|at| !self.code.is_around(*at)).collect();
        let all = if own.is_empty() { all } else { own };
        all.into_iter().flat_map(|at| self.code.entries(at)).collect()
    }

    /// The file that a line without a file belongs to: that of the present statement, or else the program's.
    pub fn own_file(&self) -> String {
        let files = &self.code.module().files;
        let now = self.statement().and_then(|s| files.get(s.file as usize));
        now.or(files.first()).cloned().unwrap_or_default()
    }

    /// Sets a breakpoint, and gives its number.
    ///
    /// # Errors
    /// As [`Session::addresses`].
    pub fn break_at(&mut self, location: Location) -> Result<u32, String> {
        let (addresses, line) = self.addresses(&location)?;
        // At the head of a function, no statement begins: it is entered.
        let header = line.and_then(|_| self.code.header(&addresses)).filter(|name| !self.code.named(name).is_empty());
        if let Some(name) = header {
            return self.break_at(Location::Name(name));
        }
        Ok(self.add(BreakpointKind::Code { location, addresses, line }))
    }

    /// Watches a place: a run stops where its words change.
    ///
    /// # Errors
    /// There is no such place.
    pub fn watch(&mut self, name: &str) -> Result<u32, String> {
        self.can_watch(name)?;
        let place = self.place(name)?;
        Ok(self.add(BreakpointKind::Watch(Box::new(place))))
    }

    /// Whether a place can be watched.
    ///
    /// # Errors
    /// Why not.
    pub fn can_watch(&self, name: &str) -> Result<(), String> {
        let place = self.place(name)?;
        // A number that is an argument is in the data only before and after the run.
        let passed =
            self.locals.is_some() && matches!(place.at, At::Memory { array: false, .. }) && !name.contains('[');
        if !self.is_local(&place) && !passed {
            return Ok(());
        }
        Err(format!(
            "`{name}` has its place only while its function runs: `last {name}` goes to where it was changed, \
             `display {name}` shows it at each step; arrays that are arguments can be watched"
        ))
    }

    pub(super) fn add(&mut self, kind: BreakpointKind) -> u32 {
        self.numbered += 1;
        let number = self.numbered;
        let (condition, ignore, enabled, once, hits) = (None, 0, true, false, 0);
        self.breakpoints.push(Breakpoint { number, kind, condition, ignore, enabled, once, hits });
        number
    }

    /// A breakpoint, to be changed.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn breakpoint(&mut self, number: u32) -> Result<&mut Breakpoint, String> {
        let found = self.breakpoints.iter_mut().find(|b| b.number == number);
        found.ok_or_else(|| format!("there is no breakpoint {number}"))
    }

    /// Deletes a breakpoint.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn delete(&mut self, number: u32) -> Result<(), String> {
        self.breakpoint(number)?;
        self.breakpoints.retain(|b| b.number != number);
        // The number of one that was never seen is free again.
        self.numbered -= u32::from(number == self.numbered);
        Ok(())
    }

    /// Deletes all breakpoints.
    pub fn delete_all(&mut self) {
        self.breakpoints.clear();
    }

    /// Sets the instructions at which the machine must stop: for the breakpoints, and to reach a goal.
    fn set_stops(&mut self, goal: Option<Goal>) {
        let enabled = || self.breakpoints.iter().filter(|b| b.enabled);
        let addresses = enabled().filter_map(|b| match &b.kind {
            BreakpointKind::Code { addresses, .. } => Some(addresses),
            BreakpointKind::Watch(_) => None,
        });
        let before: Vec<u32> = addresses.flatten().copied().chain(goal.map(|goal| goal.at)).collect();
        let watched: Vec<&Place> = enabled().filter_map(Breakpoint::watched).collect();
        let after = if watched.is_empty() { Vec::new() } else { self.writers(&watched) };
        self.line.set_stops(&before, &after);
    }

    /// The instructions that may write one of these places.
    fn writers(&self, places: &[&Place]) -> Vec<u32> {
        let memory = places.iter().any(|place| !matches!(place.at, At::Register(_)));
        let registers: Vec<Reg> =
            places.iter().filter_map(|p| if let At::Register(r) = p.at { Some(r) } else { None }).collect();
        let code = self.code.module().code.iter().enumerate();
        let writes = |inst: &pendula_isa::Inst| match inst.kind.flow() {
            // Links, and whatever procedures do to the stack pointer.
            Flow::Call | Flow::CallRegister | Flow::GradientCall | Flow::Procedure => {
                memory || registers.contains(&Reg::SP)
            }
            Flow::Branch(_) | Flow::Jump | Flow::Run | Flow::Cell => registers.iter().any(|r| inst.regs.contains(r)),
            Flow::Straight => {
                let in_memory = inst.operands().any(|(_, operand)| matches!(operand, Operand::Mem { .. }));
                let stack = matches!(inst.kind, pendula_isa::Kind::Row { row, .. } if row.info().moves_sp);
                let own = inst.operands().any(|(slot, operand)| match (slot, operand) {
                    (Slot::Reg(_) | Slot::Target(_), Operand::Reg(r)) => registers.contains(&r),
                    _ => false,
                });
                // Memory may also be written without an operand that says so: by `push`, and in cells.
                memory && (in_memory || stack || self.is_pisa()) || stack && registers.contains(&Reg::SP) || own
            }
        };
        code.filter(|(_, inst)| writes(inst)).map(|(at, _)| at as u32).collect()
    }

    fn is_pisa(&self) -> bool {
        self.code.module().flags.profile == pendula_isa::types::Profile::Pisa
    }

    /// Runs on to the next breakpoint, or to the end.
    pub fn go_on(&mut self) -> Halt {
        self.run_to(None)
    }

    /// Runs on to the next breakpoint, to a goal, or to the end.
    pub(super) fn run_to(&mut self, goal: Option<Goal>) -> Halt {
        self.set_stops(goal);
        let mut watching = Watching::new(&self.breakpoints);
        watching.look(self.machine());
        let halt = loop {
            let (mut found, mut reached, breakpoints) = (Vec::new(), false, &self.breakpoints);
            let (code, store, locals) = (&self.code, self.store, self.locals.as_ref());
            let arrival = self.line.on(&mut |machine, after, _| {
                let view = View { machine, code, store, locals };
                found = watching.changed(machine);
                found.extend(hits(breakpoints, view, after));
                found.retain(|f| holds(breakpoints, view, f.number()));
                reached = goal.is_some_and(|goal| goal.is_reached(machine));
                reached || !found.is_empty()
            });
            if arrival != Arrival::Stop {
                break Halt::Arrived(arrival);
            }
            if let Some(found) = found.into_iter().find(|f| self.stops_at(f.number())) {
                break self.halt(found);
            }
            if reached {
                break Halt::Arrived(Arrival::There);
            }
        };
        self.line.set_stops(&[], &[]);
        self.forget_used();
        halt
    }

    /// Goes back to the last breakpoint, or to the start. Where a watched place changed, it goes to before the change; a condition is about the moment after it, as on the
    /// way forward.
    pub fn go_back(&mut self) -> Halt {
        self.set_stops(None);
        let halt = loop {
            let (arrival, found) = self.back_to_breakpoint();
            let Some(found) = found else { break Halt::Arrived(arrival) };
            if matches!(found, Found::Change { .. }) {
                self.line.go_to(self.line.now().saturating_sub(1));
            }
            if !self.passes_over(found.number()) {
                break self.halt_back(found);
            }
        };
        self.line.set_stops(&[], &[]);
        halt
    }

    /// Goes back to the last moment before this one at which a breakpoint is, or after which a watched place has changed.
    fn back_to_breakpoint(&mut self) -> (Arrival, Option<Found>) {
        let watching = RefCell::new(Watching::new(&self.breakpoints));
        // The breakpoint at which the session is, is none to go back to.
        let from = self.line.now();
        let mut last = Vec::new();
        let breakpoints = &self.breakpoints;
        let (code, store, locals) = (&self.code, self.store, self.locals.as_ref());
        let arrival = self.line.back(&mut |machine| watching.borrow_mut().look(machine), &mut |machine, after, now| {
            let view = View { machine, code, store, locals };
            let mut found = watching.borrow_mut().changed(machine);
            if now < from {
                found.extend(hits(breakpoints, view, after));
            }
            found.retain(|f| holds(breakpoints, view, f.number()));
            let accepted = !found.is_empty();
            if accepted {
                last = found;
            }
            accepted
        });
        let found = last.into_iter().next().filter(|_| arrival == Arrival::Stop);
        (arrival, found)
    }

    /// What the watched places hold, if there are some.
    pub(super) fn begin_watching(&self) -> Option<Watching> {
        let mut watching = Watching::new(&self.breakpoints);
        watching.look(self.machine());
        Some(watching).filter(|watching| !watching.is_empty())
    }

    /// Stops if a watched place has changed since it was looked at last.
    pub(super) fn look_at_watched(&mut self, watching: &mut Watching) -> Option<Halt> {
        let found = watching.changed(self.line.machine());
        let view = self.view();
        let found: Vec<Found> = found.into_iter().filter(|f| holds(&self.breakpoints, view, f.number())).collect();
        let found = found.into_iter().find(|f| self.stops_at(f.number()))?;
        let halt = self.halt(found);
        self.forget_used();
        Some(halt)
    }

    /// Notes that a breakpoint was come to on the way back.
    pub(super) fn halt_back(&mut self, found: Found) -> Halt {
        if let Ok(b) = self.breakpoint(found.number()) {
            b.hits += 1;
        }
        let halt = self.halt(found);
        self.forget_used();
        halt
    }

    /// Deletes the breakpoints that stop only once and have stopped.
    fn forget_used(&mut self) {
        self.breakpoints.retain(|b| !(b.once && b.hits > 0));
    }

    fn halt(&self, found: Found) -> Halt {
        let place = |number: u32| self.breakpoints.iter().find(|b| b.number == number).and_then(Breakpoint::watched);
        match found {
            Found::Code(number) => Halt::Breakpoint(number),
            Found::Change { number, words: [before, after] } => {
                let text = |words: &[u64]| {
                    let module = self.code.module();
                    place(number).map_or(String::new(), |place| values::text_of(module, place, words, false, ELEMENTS))
                };
                Halt::Changed { number, before: text(&before), after: text(&after) }
            }
        }
    }

    /// Whether a breakpoint that was come to is passed over this time.
    fn passes_over(&mut self, number: u32) -> bool {
        let Ok(b) = self.breakpoint(number) else { return true };
        let passes = b.ignore > 0;
        b.ignore -= u64::from(passes);
        passes
    }

    /// Whether a breakpoint that was come to stops.
    fn stops_at(&mut self, number: u32) -> bool {
        let stops = !self.passes_over(number);
        if let Ok(b) = self.breakpoint(number) {
            b.hits += u64::from(stops);
        }
        stops
    }
}
