//! A machine's state as the source names it: values, arrays and their files, arguments, batch items, and the stores of
//! Janus and PISA.

pub mod arguments;
pub mod arrays;
pub mod items;
pub mod layout;
pub mod pisa;
pub mod store;
pub mod values;
