//! Operators that call a function for each element of an array.

use std::rc::Rc;

use super::arrays::regular;
use super::{Frame, Loop, LoopKind, Machine, Waiting};
use crate::errors::{Failure, PATTERN};
use crate::value::Value;

impl Machine {
    /// Calls the function of a loop for the next element; `Err` with the result at the end.
    pub(super) fn turn(&mut self, mut loops: Box<Loop>) -> Result<Result<Frame, Value>, Failure> {
        let n = loops.next;
        if n == loops.array.len() {
            let mut results = std::mem::take(&mut loops.results);
            if loops.kind == LoopKind::ScanBack {
                results.reverse();
            }
            let array = regular(results)?;
            return Ok(Err(match loops.state.take() {
                None => array,
                Some(state) => Value::pair(state, array),
            }));
        }
        loops.next += 1;
        let at = if loops.kind == LoopKind::ScanBack { loops.array.len() - 1 - n } else { n };
        let element = loops.array.get(at).unwrap_or_default().through(loops.word)?;
        let argument = match loops.state.take() {
            None => element,
            Some(state) => Value::pair(state, element),
        };
        let frame = match &loops.known {
            Some((code, env, word)) => {
                code.calls.set(code.calls.get() + 1);
                let (code, env, word) = (Rc::clone(code), Rc::clone(env), *word);
                self.frame(code, env, word, argument)
            }
            None => {
                let frame = self.enter(loops.function.clone(), argument)?;
                loops.known = Some((Rc::clone(&frame.code), Rc::clone(&frame.env), frame.word));
                frame
            }
        };
        self.waiting.push(Waiting::Loop(loops));
        Ok(Ok(frame))
    }
}

impl Loop {
    /// Takes the result for one element.
    pub(super) fn take(&mut self, value: Value) -> Result<(), Failure> {
        if self.kind == LoopKind::Map {
            self.results.push(value);
            return Ok(());
        }
        match (value.part(0)?, value.part(1)?) {
            (Some(state), Some(y)) if value.arity() == Some(2) => {
                self.state = Some(state);
                self.results.push(y);
                Ok(())
            }
            _ => Err(Failure::new(PATTERN, "the function of a scan gives no pair").with(&value)),
        }
    }
}
