//! Diagnostics for people and as JSON. The reporter writes them; the other modules make them: for errors of reading,
//! for traps, and for stops in terms of the source.

pub mod calls;
pub mod diagnosis;
mod reporter;
pub mod stop_report;
pub mod trace;
pub mod trap_report;
pub mod trap_text;
pub mod visible;

pub use reporter::{
    Reporter, complaint, kept, line_and_column, print, print_bytes, print_exact, print_json, print_source, to_json,
};
