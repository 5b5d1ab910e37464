//! Where runs by C code are: in which turn of which outer loop.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pendula_codegen::whole;

use crate::report::visible::visible;

/// The loops of the code of this process, by its number: where they stand, by their marks.
pub(super) static LOOPS: Mutex<BTreeMap<u64, Arc<[LoopPlace]>>> = Mutex::new(BTreeMap::new());

/// Where a loop stands in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopPlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// The turn of an outer loop in which a run by C code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopTurn {
    /// The loop.
    pub place: LoopPlace,
    /// The number of the turn, from 1.
    pub turn: u64,
    /// How many turns there are, if that is known.
    pub of: Option<u64>,
}

impl std::fmt::Display for LoopTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = self.of.map_or(String::new(), |of| format!(" of {of}"));
        write!(f, "turn {}{of} of the loop at {}:{}", self.turn, visible(&self.place.file), self.place.line)
    }
}

/// True if a run by such code is active, on any thread.
pub fn is_under_way() -> bool {
    whole::is_under_way()
}

/// Where the runs by such code are that are active, on any thread, as far as they tell within this time.
pub fn where_runs_are(longest: Duration) -> Vec<LoopTurn> {
    let runs = whole::where_runs_are(longest);
    let loops = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    let turn_of = |run: &whole::UnderWay| {
        let turn = run.turn?;
        let place = loops.get(&run.code)?.get(turn.mark as usize)?.clone();
        Some(LoopTurn { place, turn: turn.before.saturating_add(1), of: turn.of })
    };
    runs.iter().filter_map(turn_of).collect()
}
