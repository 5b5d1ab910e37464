//! What the stages of the ladder ask of the machine.

use super::Machine;
use crate::ad::ladder::{LadderOp, State};
use crate::core::{Binary, GroupId, Store};
use crate::errors::{Failure, LADDER};
use crate::value::Value;

impl Machine {
    /// The store and what the stage at work keeps.
    pub(crate) fn store_and_ladder(&mut self) -> (&mut Store, Option<&mut State>) {
        (&mut self.store, self.ladder.as_mut())
    }

    /// How often the functions of a group were called.
    pub(crate) fn calls_of(&self, group: GroupId) -> u64 {
        self.codes.get(group.0 as usize).map_or(0, |codes| codes.iter().flatten().map(|code| code.calls.get()).sum())
    }

    /// Counts multiplications whose results were added, of a tape.
    pub(crate) fn count_products(&mut self, products: u64) {
        self.counts.binary[Binary::Mul as usize] += products;
        self.counts.binary[Binary::Add as usize] += products;
    }

    /// Looks at the limits outside of a run, before so many bytes more are taken.
    ///
    /// # Errors
    /// If a limit is exceeded.
    pub(crate) fn look(&mut self, bytes: u64) -> Result<(), Failure> {
        self.check()?;
        self.room(bytes)
    }

    pub(super) fn ladder_operator(&mut self, op: LadderOp, args: &[Value]) -> Result<Value, Failure> {
        match &mut self.ladder {
            Some(state) => state.operate(op, args),
            None => Err(Failure::new(LADDER, format!("`{}` stands outside of what is differentiated", op.name()))),
        }
    }
}
