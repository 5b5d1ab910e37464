//! Arguments of programs as Rust values.

use pendula_compiler::nil::sema::{Argument, Number};
use pendula_isa::budget::Budget;

use crate::state::arguments;

use super::{Error, ErrorKind, Value};

/// The arguments of [`Program::run`](super::Program::run) and similar functions: a tuple of values, `(0.0, [1.0, 2.0],
/// 3)`, a list of [`Value`]s, or a text as `--args` takes it, `"0.0, zeros(2,3), 1:10"`. A program without arguments
/// takes `()`.
pub trait Arguments {
    /// The arguments in order.
    ///
    /// # Errors
    /// A value is not an argument.
    fn arguments(self, budget: &Budget) -> Result<Vec<Argument>, Error>;
}

impl Arguments for &str {
    fn arguments(self, budget: &Budget) -> Result<Vec<Argument>, Error> {
        arguments::parse_within(self, budget).map_err(|e| Error::failed(ErrorKind::Argument, e))
    }
}

impl Arguments for &[Value] {
    fn arguments(self, _: &Budget) -> Result<Vec<Argument>, Error> {
        self.iter().map(Value::argument).collect()
    }
}

impl Arguments for Vec<Value> {
    fn arguments(self, budget: &Budget) -> Result<Vec<Argument>, Error> {
        self.as_slice().arguments(budget)
    }
}

impl Arguments for () {
    fn arguments(self, _: &Budget) -> Result<Vec<Argument>, Error> {
        Ok(Vec::new())
    }
}

macro_rules! tuples {
    ($($($T:ident)+;)+) => {$(
        impl<$($T: Into<Value>),+> Arguments for ($($T,)+) {
            #[allow(non_snake_case, reason = "the types' names")]
            fn arguments(self, budget: &Budget) -> Result<Vec<Argument>, Error> {
                let ($($T,)+) = self;
                vec![$($T.into()),+].arguments(budget)
            }
        }
    )+};
}

tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }

/// The part of an argument that determines the compiled program: all except its numbers. Arguments of equal kinds share
/// a compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Truth,
    Integer,
    Real,
    /// The lengths, the number of numbers, whether all are whole, and whether all are truth values.
    Array(Vec<usize>, usize, bool, bool),
    Tuple(Vec<Kind>),
    List(Vec<Kind>),
}

impl Kind {
    pub(super) fn of(argument: &Argument) -> Kind {
        let truth = |n: &Number| matches!(n, Number::Text(t) if t == "true" || t == "false");
        match argument {
            Argument::Number(n) if truth(n) => Kind::Truth,
            Argument::Number(n) if n.is_whole() => Kind::Integer,
            Argument::Number(_) => Kind::Real,
            Argument::Array(lens, items) => {
                let (whole, truths) = (items.iter().all(Number::is_whole), items.iter().all(truth));
                Kind::Array(lens.clone(), items.len(), whole, truths)
            }
            Argument::List(parts) => Kind::List(parts.iter().map(Kind::of).collect()),
            Argument::Tuple(parts) => Kind::Tuple(parts.iter().map(Kind::of).collect()),
        }
    }
}
