//! Functional programs: VLAD and Futhark on one core language, its evaluator, and derivatives as transformations of it.

pub mod ad;
pub mod arguments;
pub mod core;
pub mod errors;
pub mod eval;
pub mod expect;
pub mod fut;
pub mod ops;
pub mod print;
pub mod source;
pub mod value;
pub mod vlad;
pub mod word;
