//! Where words begin and end their lives: ancillas and arrays.

use pendula_isa::num::float;
use pendula_isa::{Fault, Ty};

use super::error::EvalError;
use super::machine::{Done, Machine};
use super::state::Location;
use crate::ir::{AncillaChecks, Loc, TOLERANCE};

/// A life that begins or ends.
pub(super) struct Life<'a> {
    pub(super) at: Location,
    pub(super) ty: Ty,
    pub(super) checks: AncillaChecks,
    pub(super) loc: Loc,
    pub(super) name: &'a str,
}

impl Machine<'_> {
    /// Begins or ends the life of a word.
    pub(super) fn life(&mut self, life: &Life, ends: bool) -> Done {
        let Life { at, ty, checks, loc, name } = *life;
        let word = self.state.value(at);
        if word != 0 {
            let near = ty == Ty::F && f64::from_bits(word).abs() <= TOLERANCE;
            if !ends {
                return Err(EvalError::Leak { loc, name: name.to_owned() });
            }
            if checks.check && !near {
                return Err(EvalError::NotZero { loc, name: name.to_owned(), word, index: None });
            }
            if !checks.check {
                self.out.unchecked.get_or_insert(loc);
            }
            self.out.lost_bits += 64;
            self.state.set_value(at, 0);
        }
        let gradient = self.state.gradient(at);
        if gradient != 0 {
            let zero = ty == Ty::F && gradient == float::neg(0);
            if !checks.drop && !zero {
                self.out.undropped.get_or_insert(loc);
            }
            self.out.lost_bits += 64;
            self.out.dropped += 1;
            self.state.set_gradient(at, 0);
        }
        Ok(())
    }

    pub(super) fn array(&mut self, life: &Life, len: i64, ends: bool) -> Done {
        let Life { at: base, loc, .. } = *life;
        let words = usize::try_from(len).map_err(|_| EvalError::Length { loc, len })?;
        if !ends {
            if self.state.value(base) != 0 {
                return Err(EvalError::Leak { loc, name: life.name.to_owned() });
            }
            let end = self.top.checked_add(words).filter(|end| *end <= self.state.memory.values.len());
            let end = end.ok_or(EvalError::Fault { loc, fault: Fault::Memory })?;
            self.state.set_value(base, self.top as u64);
            for word in self.top..end {
                self.life(&Life { at: Location::Word(word), ..*life }, false)?;
            }
            self.top = end;
            return Ok(());
        }
        let start = self.top.checked_sub(words).filter(|start| self.state.value(base) == *start as u64);
        let start = start.ok_or(EvalError::Order { loc })?;
        for word in start..self.top {
            self.life(&Life { at: Location::Word(word), ..*life }, true).map_err(|error| match error {
                EvalError::NotZero { loc, name, word: value, .. } => {
                    EvalError::NotZero { loc, name, word: value, index: Some((word - start) as u64) }
                }
                error => error,
            })?;
        }
        self.state.set_value(base, 0);
        self.top = start;
        Ok(())
    }
}
