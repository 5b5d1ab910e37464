//! A machine's state as the source names it: values, arrays and their files, arguments, batch items, and the stores of
//! Janus and PISA. `language` holds what source languages differ in; nothing else asks for the language.

pub mod arguments;
pub mod arrays;
pub(crate) mod compiled;
pub mod items;
pub mod language;
pub mod layout;
mod names;
pub mod pisa;
pub(crate) mod source_moment;
pub mod store;
pub mod values;
