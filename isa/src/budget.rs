//! How much reading a program may take: one budget for every front end and reader, and one form for saying that it is spent.
//!
//! What is read is never trusted: a few lines of a program can stand for a tree that is nested without end, or that doubles with each line. All
//! readers count in the same four resources, and none by the clock: what is refused on one machine is refused on every other.

use std::fmt;

use crate::diagnostic::Diagnostic;

crate::diagnostic_codes! {
    DEPTH "P0090" "nested deeper than the budget allows";
    NODES "P0091" "made of more parts than the budget allows";
    BYTES "P0092" "larger than the budget allows";
    STEPS "P0093" "computed in more steps than the budget allows";
}

/// Every code with its title, in the order of the codes.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    OWN.iter().copied()
}

/// What reading may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How deep types, constants and values may be nested in each other.
    pub depth: u32,
    /// Of how many parts one of them may be made.
    pub nodes: u64,
    /// How many bytes sources and values given from outside may have, each for itself.
    pub bytes: u64,
    /// In how many steps what is constant is computed, all in all.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        // Deep enough for whatever somebody writes, and for the stack of a thread.
        Budget { depth: 200, nodes: 1 << 16, bytes: 1 << 32, steps: 10_000_000 }
    }
}

/// What a budget is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// How deep something is nested.
    Depth,
    /// How many parts it has.
    Nodes,
    /// How large it is.
    Bytes,
    /// How long it takes to compute.
    Steps,
}

impl Resource {
    /// The code of the error that it is spent.
    pub const fn code(self) -> &'static str {
        match self {
            Resource::Depth => DEPTH,
            Resource::Nodes => NODES,
            Resource::Bytes => BYTES,
            Resource::Steps => STEPS,
        }
    }
}

/// What went beyond a budget.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exceeded {
    /// Which resource.
    pub resource: Resource,
    /// How much there was of it.
    pub limit: u64,
    /// What reached the limit, in the words of the source: "the struct `A`".
    pub what: String,
}

impl Budget {
    /// Whether something nested `depth` deep is within the budget.
    ///
    /// # Errors
    /// It is not; `what` says what it is.
    pub fn nested(&self, depth: u32, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        within(Resource::Depth, self.depth.into(), depth.into(), what)
    }

    /// Whether something of `nodes` parts is.
    ///
    /// # Errors
    /// It is not.
    pub fn parts(&self, nodes: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        within(Resource::Nodes, self.nodes, nodes, what)
    }

    /// Whether something of `bytes` bytes is.
    ///
    /// # Errors
    /// It is not.
    pub fn large(&self, bytes: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        within(Resource::Bytes, self.bytes, bytes, what)
    }

    /// Whether something that has taken `steps` steps is.
    ///
    /// # Errors
    /// It is not.
    pub fn long(&self, steps: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        within(Resource::Steps, self.steps, steps, what)
    }
}

fn within(resource: Resource, limit: u64, used: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
    if used <= limit { Ok(()) } else { Err(Exceeded { resource, limit, what: what() }) }
}

impl Exceeded {
    /// What to do about it.
    pub const fn help(&self) -> &'static str {
        match self.resource {
            Resource::Depth => "write what is inside with fewer levels, or name the outer parts one after the other",
            Resource::Nodes => "divide it into parts, or keep them in an array",
            Resource::Bytes => "divide it into several, or give it more room",
            Resource::Steps => "write the number that it comes to, or compute it in a function",
        }
    }

    /// The error, without a place.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(self.resource.code(), self.to_string()).help(self.help())
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exceeded { resource, limit, what } = self;
        match resource {
            Resource::Depth => write!(f, "{what} is nested more than {limit} deep"),
            Resource::Nodes => write!(f, "{what} is made of more than {limit} parts"),
            Resource::Bytes => write!(f, "{what} has more than {limit} bytes"),
            Resource::Steps => write!(f, "{what} takes more than {limit} steps to compute"),
        }
    }
}

impl std::error::Error for Exceeded {}

#[cfg(test)]
mod tests {
    use super::{Budget, codes};

    #[test]
    fn what_is_beyond_is_said_with_its_limit() {
        let budget = Budget { depth: 3, nodes: 4, bytes: 5, steps: 6 };
        let what = || "the struct `A`".to_string();
        assert_eq!(budget.nested(3, what), Ok(()));
        let said = [budget.nested(4, what), budget.parts(5, what), budget.large(6, what), budget.long(7, what)];
        let said: Vec<String> = said.into_iter().filter_map(Result::err).map(|e| e.to_string()).collect();
        assert_eq!(
            said,
            [
                "the struct `A` is nested more than 3 deep",
                "the struct `A` is made of more than 4 parts",
                "the struct `A` has more than 5 bytes",
                "the struct `A` takes more than 6 steps to compute",
            ]
        );
    }

    #[test]
    fn codes_in_order() {
        assert!(codes().map(|(code, _)| code).collect::<Vec<_>>().is_sorted_by(|a, b| a < b));
    }
}
