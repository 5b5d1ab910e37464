//! Values that are kept for the way back.
//!
//! They are a stack of words, at the end of the room for logs. A computation that is taken back later writes them. On the way back,
//! the computation is made again, which reads them once more in the order in which they were written, and it is taken back, which removes them.
//! The word before the last one of the room tells where the stack ends; the one before it, where the next word is that is read again.

use super::{Local, Value};

/// What happens to words that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keeping {
    /// They are written.
    Write,
    /// They are read in the order in which they were written.
    Reread,
    /// They are read and removed.
    TakeBack,
}

/// Something about words that are kept.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// A word for each turn of a loop that goes by one. Gives up if there is no room.
    Words {
        /// Defined as where they are: turn `n` has the word of the log at this plus `n`.
        base: Local,
        /// The least turn.
        first: Value,
        /// The greatest turn.
        last: Value,
        /// What happens to them.
        way: Keeping,
    },
    /// Defines a local variable as where the words end.
    End(Local),
    /// Defines a local variable as where rereading is.
    Reader(Local),
    /// Keeps where the words ended before.
    Mark(Local),
    /// Passes over a mark.
    PassMark,
    /// Takes a mark back, and defines a local variable as it: rereading begins there.
    RereadFromMark(Local),
    /// Writes down in the word there where the words end.
    NoteEnd(Local),
    /// Passes over words up to where they ended, as the word there says.
    PassToNotedEnd(Local),
    /// Removes words up to there.
    RemoveTo(Local),
    /// Gives up unless the words end there.
    Agree(Local),
}

impl Keep {
    /// The local variable that it defines.
    pub fn defines(self) -> Option<Local> {
        match self {
            Keep::Words { base, .. } => Some(base),
            Keep::End(local) | Keep::Reader(local) | Keep::RereadFromMark(local) => Some(local),
            Keep::Mark(_)
            | Keep::PassMark
            | Keep::NoteEnd(_)
            | Keep::PassToNotedEnd(_)
            | Keep::RemoveTo(_)
            | Keep::Agree(_) => None,
        }
    }

    /// The local variables and integers that it reads.
    pub fn reads(self) -> [Option<Value>; 2] {
        let local = |local| Some(Value::Place(super::Place::Local(local)));
        match self {
            Keep::Words { first, last, .. } => [Some(first), Some(last)],
            Keep::Mark(from)
            | Keep::NoteEnd(from)
            | Keep::PassToNotedEnd(from)
            | Keep::RemoveTo(from)
            | Keep::Agree(from) => [local(from), None],
            Keep::End(_) | Keep::Reader(_) | Keep::PassMark | Keep::RereadFromMark(_) => [None, None],
        }
    }
}
