//! Why there is no gradient.

use pendula_vm::gradient::Refused;

use super::{MOST, Report};
use crate::state::values::ValueError;

/// Why there is no gradient.
#[derive(Debug, thiserror::Error)]
pub enum GradError<E> {
    /// The run stopped before its end.
    #[error("the run did not finish")]
    Stopped(E),
    /// A name or a number is wrong.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// An integer is named, which has no gradient.
    #[error("`{0}` is read as an integer, which has no gradient{1}")]
    Integer(String, &'static str),
    /// An array is named where a single word is expected.
    #[error("the loss `{name}` has {len} words: name one, such as `{one}`, or ask for the Jacobian")]
    Array {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// The name of one of its elements.
        one: String,
    },
    /// No loss was named, and the number of exported numbers is not one.
    #[error("name the loss: {0}")]
    NoLoss(String),
    /// No inputs were named, and no number is imported.
    #[error("name the inputs: the program imports no fixed-point, logarithmic or floating-point number")]
    NoInputs,
    /// The program erases words, or uses gradients itself.
    #[error("{}", match .0 {
        Refused::Irreversible => "the program erases words: it cannot run backward",
        Refused::UsesGradients(_) => "the program uses gradients itself: its run forward, at level 0, would differ from the one backward, at level 1",
    })]
    Refused(Refused),
    /// The seed is not a number of the loss's type, or is not finite.
    #[error("the seed `{text}` {why}")]
    Seed {
        /// The seed as given.
        text: String,
        /// The reason.
        why: String,
    },
    /// The seed is too large for the loss: their product, by which derivatives are multiplied, is not representable.
    /// This is known only after the runs.
    #[error("the seed `{text}` times the loss `{loss}` is more than 1.79e308")]
    TooGreat {
        /// The seed as given.
        text: String,
        /// The loss.
        loss: String,
    },
    /// A gradient word, or one of a second derivative, overflowed and wrapped, so the results are not the derivatives.
    /// The report holds the results all the same; [`Report::wrong`] says where the overflow was.
    #[error("{} overflowed and wrapped: the derivatives are wrong", .0.what_is_wrong())]
    Overflow(Box<Report>),
    /// The direction of a Taylor series is not given, or does not fit.
    #[error("the direction {0}")]
    Direction(String),
    /// A name is empty.
    #[error("a name of {0} is empty")]
    NoName(&'static str),
    /// The Jacobian or the Hessian is too large for the memory.
    #[error("the {what} asks for {count} derivatives, more than {MOST}")]
    TooMany {
        /// `Jacobian` or `Hessian`.
        what: &'static str,
        /// The number of derivatives.
        count: u128,
    },
}
