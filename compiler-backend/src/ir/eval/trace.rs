//! Traces: the statements of the source that run, and the variables that each changes.

use super::Direction;
use super::machine::{Frame, Machine};
use super::state::Location;
use crate::ir::source::{NamedOperand, Number, Place, Shape};
use crate::ir::{Loc, LocatedStmt, Mem, Operand, Stmt, Var};

/// A statement that has run, or the part of it before other statements ran within it.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEntry {
    /// Its place.
    pub loc: Loc,
    /// The number of calls under way, without that of the entry point.
    pub depth: usize,
    /// The direction in which it ran.
    pub direction: Direction,
    /// The words of variables that it has changed.
    pub changes: Vec<Change>,
}

/// A word of a variable that has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The variable, or a part of it: `z.re`.
    pub name: String,
    /// The element, if the variable is an array.
    pub element: Option<Element>,
    /// How the word is interpreted.
    pub number: Number,
    /// The old word.
    pub old: u64,
    /// The new word.
    pub new: u64,
}

/// An element of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its index in the order of memory, from 0.
    pub at: u64,
    /// The index of the word in the element, and the number of its words.
    pub part: (usize, usize),
    /// The number of elements along each dimension.
    pub dims: Vec<u64>,
    /// True for column-major order: the first index varies fastest.
    pub by_column: bool,
}

/// The function that is called for each statement.
pub type Listener<'a> = &'a mut (dyn FnMut(TraceEntry) + Send);

/// The state of a trace.
pub(super) struct Tracer<'a> {
    listener: Listener<'a>,
    /// The innermost statement of the source that runs.
    current: Option<(Loc, bool)>,
    /// True if the listener has been told about it, or needs to be told only if it changes something.
    told: bool,
    changes: Vec<Change>,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(listener: Listener<'a>) -> Tracer<'a> {
        Tracer { listener, current: None, told: true, changes: Vec::new() }
    }

    /// Tells the listener about the present statement as far as it has run.
    fn flush(&mut self, calls: usize) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.retain(|c| c.old != c.new);
        let Some((loc, back)) = self.current else { return };
        // The code around the entry point is not in the source.
        if (self.told && changes.is_empty()) || calls < 2 {
            return;
        }
        self.told = true;
        let direction = if back { Direction::Backward } else { Direction::Forward };
        (self.listener)(TraceEntry { loc, depth: calls - 2, direction, changes });
    }
}

/// Whether the listener is told about a statement even if it changes nothing.
fn is_step(stmt: &Stmt) -> bool {
    use Stmt::{Call, For, If, Print, Show, While};
    matches!(stmt, Call { .. } | If { .. } | While { .. } | For { .. } | Show { .. } | Print(_))
}

impl Machine<'_> {
    /// Notes that a statement begins.
    pub(super) fn trace_begin(&mut self, s: &LocatedStmt, back: bool) {
        let calls = self.calls;
        let Some(tracer) = &mut self.tracer else { return };
        if tracer.current.is_none_or(|(loc, _)| loc != s.loc) {
            tracer.flush(calls);
            tracer.current = Some((s.loc, back));
            tracer.told = true;
        }
        if is_step(&s.stmt) {
            tracer.told = false;
        }
        if let Stmt::Call { .. } = &s.stmt {
            tracer.flush(calls);
            tracer.told = true;
        }
    }

    /// Records what a statement, or a part of it, has written, under the names that the words have in this frame.
    pub(super) fn trace_written(&mut self, frame: &Frame) {
        let Some(log) = self.state.written.as_mut().map(std::mem::take) else { return };
        let mut found = Vec::new();
        for (at, old) in log {
            let new = self.state.value(at);
            for named in &frame.function.names {
                let view = View { machine: self, frame };
                view.changes(named, at, &mut |name, element, number| {
                    found.push(Change { name, element, number, old, new });
                });
            }
        }
        let Some(tracer) = &mut self.tracer else { return };
        for change in found {
            let same = |c: &&mut Change| c.name == change.name && c.element == change.element;
            match tracer.changes.iter_mut().find(same) {
                Some(earlier) => earlier.new = change.new,
                None => tracer.changes.push(change),
            }
        }
    }

    /// The present statement, before those of a block run.
    pub(super) fn trace_current(&self) -> Option<(Loc, bool)> {
        self.tracer.as_ref()?.current
    }

    /// Notes that a block within this statement ends.
    pub(super) fn trace_end(&mut self, outer: Option<(Loc, bool)>) {
        let calls = self.calls;
        let Some(tracer) = &mut self.tracer else { return };
        if tracer.current != outer {
            tracer.flush(calls);
            tracer.current = outer;
            tracer.told = true;
        }
    }

    /// Discards what was written for a call, and not by a statement.
    pub(super) fn trace_forget(&mut self) {
        if let Some(log) = &mut self.state.written {
            log.clear();
        }
    }
}

/// A frame and the words of its variables.
struct View<'m, 'a, 'f> {
    machine: &'m Machine<'a>,
    frame: &'m Frame<'f>,
}

impl View<'_, '_, '_> {
    fn place(&self, v: Var) -> Option<Location> {
        self.frame.place_of(v)
    }

    fn operand(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Const(k) => Some(k),
            Operand::Var(v) => Some(self.machine.state.value(self.place(v)?)),
            Operand::Mem(m) => Some(self.machine.state.value(Location::Word(self.memory(m)?))),
        }
    }

    fn memory(&self, mem: Mem) -> Option<usize> {
        let mut address = mem.offset.cast_unsigned();
        for var in mem.vars() {
            address = address.wrapping_add(self.machine.state.value(self.place(var)?));
        }
        usize::try_from(address).ok()
    }

    /// The part of a variable that a word is, if it belongs to the variable.
    fn changes(&self, named: &NamedOperand, at: Location, found: &mut dyn FnMut(String, Option<Element>, Number)) {
        match &named.shape {
            Shape::Number(number, place) => {
                let own = match place {
                    Place::Var(v) => self.place(*v),
                    Place::Mem(m) => self.memory(*m).map(Location::Word),
                    Place::Const(_) => None,
                };
                if own == Some(at) {
                    found(named.name.clone(), None, *number);
                }
            }
            Shape::Array { element, start, dims, by_column } => {
                let (Location::Word(at), Some(start)) = (at, self.memory(*start)) else { return };
                let Some(dims) = dims.iter().map(|d| self.operand(*d)).collect::<Option<Vec<u64>>>() else { return };
                let width = element.len().max(1);
                let count = dims.iter().try_fold(width as u64, |n, d| n.checked_mul(*d)).unwrap_or(0);
                let Some(n) = at.checked_sub(start).filter(|n| (*n as u64) < count) else { return };
                let part = (n % width, width);
                let number = element.get(part.0).copied().unwrap_or(Number::Plain(pendula_isa::Ty::Int));
                let own = Element { at: (n / width) as u64, part, dims, by_column: *by_column };
                found(named.name.clone(), Some(own), number);
            }
            // The count of its numbers comes first.
            Shape::Stack { start } => {
                let (Location::Word(at), Some(start)) = (at, self.memory(*start)) else { return };
                let count = self.machine.state.value(Location::Word(start));
                let top = usize::try_from(count).ok().and_then(|count| start.checked_add(count));
                let number = Number::Plain(pendula_isa::Ty::Int);
                if at == start {
                    found(format!("size({})", named.name), None, number);
                } else if Some(at) == top || Some(at) == top.and_then(|top| top.checked_add(1)) {
                    found(format!("top({})", named.name), None, number);
                }
            }
            Shape::Parts(parts) => {
                for part in parts {
                    self.changes(part, at, &mut |name, element, number| {
                        found(format!("{}.{name}", named.name), element, number);
                    });
                }
            }
        }
    }
}
