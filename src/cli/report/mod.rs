//! The output of commands, as text and as JSON: the answer as a whole, how a run ended, counts, energy.

pub(crate) mod answer;
pub(crate) mod columns;
pub(crate) mod drift;
pub(crate) mod energy_json;
pub(crate) mod energy_run;
pub(crate) mod energy_summary;
pub(crate) mod energy_text;
pub(crate) mod outcome;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod stop_state;
pub(crate) mod table;
