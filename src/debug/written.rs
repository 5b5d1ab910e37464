//! Where something was written last.

use super::breakpoints::BreakpointKind;
use super::timeline::Arrival;
use super::{Calls, Halt, Session};
use crate::state::values;

impl Session<'_> {
    /// Goes back to before the instruction that changed a place last.
    ///
    /// # Errors
    /// There is no such place, or it has not changed since the start.
    pub fn last_written(&mut self, name: &str) -> Result<Halt, String> {
        let place = self.place(name)?;
        if self.is_local(&place) {
            return self.last_written_here(name);
        }
        let from = self.line.now();
        let own = std::mem::take(&mut self.breakpoints);
        self.add(BreakpointKind::Watch(Box::new(place)));
        let halt = self.go_back();
        self.breakpoints = own;
        self.numbered -= 1;
        if halt == Halt::Arrived(Arrival::Paused) {
            self.line.go_to(from);
        }
        match halt {
            Halt::Changed { .. } if self.machine().pc().is_some_and(|pc| self.code.is_around(pc)) => {
                self.written_before_passed(name, from, halt)
            }
            Halt::Changed { .. } => {
                self.returns.push(from);
                Ok(halt)
            }
            Halt::Arrived(Arrival::Start) => {
                self.line.go_to(from);
                Err(format!("`{name}` has not changed since the start"))
            }
            other => Ok(other),
        }
    }

    /// A variable has been passed on where the program's function has returned: goes back to before the statement of it that changed the variable last.
    fn written_before_passed(&mut self, name: &str, from: u64, passed: Halt) -> Result<Halt, String> {
        let at = self.line.now();
        let Halt::Changed { after, .. } = &passed else { return Ok(passed) };
        let after = after.clone();
        let back = self.step_back(Calls::Over);
        let here = match self.place(name) {
            Ok(place) if back == Halt::Arrived(Arrival::There) && self.view().function().is_some() => {
                self.text(&place, false)
            }
            Ok(_) | Err(_) => {
                self.line.go_to(at);
                self.returns.push(from);
                return Ok(passed);
            }
        };
        if here != after {
            self.returns.push(from);
            return Ok(Halt::Changed { number: 0, before: here, after });
        }
        match self.last_written_here(name) {
            Ok(halt) => {
                // It has noted the last statement.
                self.returns.pop();
                self.returns.push(from);
                Ok(halt)
            }
            Err(error) => {
                self.line.go_to(from);
                Err(error)
            }
        }
    }

    /// Goes back to before the statement of this call of the function that changed a variable last. The variable's register holds others at other times, so only moments of this
    /// call count, and of these only those at which the variable is known.
    fn last_written_here(&mut self, name: &str) -> Result<Halt, String> {
        let (from, calls, function) = (self.line.now(), self.frames().len(), self.view().function());
        let now = self.place(name)?;
        let (words, after) = (values::words(self.machine(), &now).into_owned(), self.text(&now, false));
        let halt = loop {
            let halt = self.step_back(Calls::Over);
            if halt != Halt::Arrived(Arrival::There) {
                break if halt == Halt::Arrived(Arrival::Paused) { Ok(halt) } else { Err(()) };
            }
            let here = self.view().function();
            if here.is_none() && self.machine().pc().is_some_and(|pc| !self.code.is_around(pc)) {
                continue;
            }
            let place = self.place(name).ok().filter(|_| here == function);
            let same = place.as_ref().is_some_and(|place| *values::words(self.machine(), place) == words[..]);
            if same {
                continue;
            }
            if here != function || self.frames().len() != calls {
                // The call itself: the variable is one of its arguments.
                break Err(());
            }
            let before = place.map_or_else(|| "none".to_string(), |place| self.text(&place, false));
            break Ok(Halt::Changed { number: 0, before, after: after.clone() });
        };
        match halt {
            Ok(halt @ Halt::Changed { .. }) => {
                self.returns.push(from);
                Ok(halt)
            }
            Ok(halt) => {
                self.line.go_to(from);
                Ok(halt)
            }
            Err(()) => {
                self.line.go_to(from);
                Err(format!("`{name}` has not changed since this call began"))
            }
        }
    }

    /// Returns to where the session was before it went to where something was written last.
    ///
    /// # Errors
    /// It has not gone anywhere.
    pub fn return_from_written(&mut self) -> Result<Halt, String> {
        let from = self
            .returns
            .pop()
            .ok_or("there is nowhere to return to: `last NAME` goes to where NAME was written last")?;
        Ok(self.go_to(from))
    }
}
