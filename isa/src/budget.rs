//! How much reading a program may take: one budget for every front end and reader, and one form for saying that it is spent.
//!
//! What is read is never trusted: a few lines of a program can stand for a tree that is nested without end, or that doubles with each line. All
//! readers count in the same four resources, and none by the clock: what is refused on one machine is refused on every other.

use std::fmt;

use crate::diagnostic::{Diagnostic, plural};

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
///
/// One budget is made where a command begins, and every reader goes by it. A reader that calls itself may stop earlier than [`depth`](Budget::depth)
/// and [`height`](Budget::height) say, where the stack of a thread would not last; the error tells the limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How deep anything may be nested: types, constants, values, expressions, statements, macros and files that are included.
    pub depth: u32,
    /// How high the tree of one expression may be: of operators that stand side by side, each is a level.
    pub height: u32,
    /// Of how many parts one type or constant may be made.
    pub nodes: u64,
    /// Of how many statements a program may be made, with what macros and inverses add.
    pub statements: u64,
    /// How many words of data a program may have, and how many cells one in PISA.
    pub words: u64,
    /// How many bytes a source may have, with the files that it includes.
    pub bytes: u64,
    /// How many bytes macros may expand to.
    pub expansion: u64,
    /// In how many steps what is constant is computed, all in all.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        // Deep enough for whatever somebody writes, and for the stack of a thread.
        Budget {
            depth: 200,
            height: 10_000,
            nodes: 1 << 16,
            statements: 1 << 24,
            words: 1 << 27,
            bytes: 1 << 32,
            expansion: 1 << 24,
            steps: 10_000_000,
        }
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

    /// What to do where it is spent, if nothing else is known.
    const fn help(self) -> &'static str {
        match self {
            Resource::Depth => "write what is inside with fewer levels, or name the outer parts one after the other",
            Resource::Nodes => "divide it into parts, or keep them in an array",
            Resource::Bytes => "divide it into several, or give it more room",
            Resource::Steps => "write the number that it comes to, or compute it in a function",
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
    /// What its parts are called.
    unit: &'static str,
    /// What to do about it.
    help: &'static str,
    /// The option that allows more.
    option: Option<&'static str>,
}

impl Budget {
    /// Whether something nested `depth` deep is within the budget.
    ///
    /// # Errors
    /// It is not; `what` says what it is.
    pub fn nested(&self, depth: u32, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Depth.within(self.depth.into(), depth.into(), what)
    }

    /// Whether something of `nodes` parts is.
    ///
    /// # Errors
    /// It is not.
    pub fn parts(&self, nodes: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Nodes.within(self.nodes, nodes, what)
    }

    /// Whether something of `bytes` bytes is.
    ///
    /// # Errors
    /// It is not.
    pub fn large(&self, bytes: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Bytes.within(self.bytes, bytes, what)
    }

    /// Whether something that has taken `steps` steps is.
    ///
    /// # Errors
    /// It is not.
    pub fn long(&self, steps: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Steps.within(self.steps, steps, what)
    }

    /// Whether a program of so many statements is.
    ///
    /// # Errors
    /// It is not.
    pub fn program(&self, statements: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Nodes.within(self.statements, statements, what).map_err(|e| e.of("statement"))
    }

    /// The same budget with no more depth and height than a reader's stack lasts for.
    #[must_use]
    pub fn at_most(self, depth: u32, height: u32) -> Budget {
        Budget { depth: self.depth.min(depth), height: self.height.min(height), ..self }
    }
}

impl Resource {
    /// Whether so much of it is within a limit that is not a budget's own, such as what is left of one.
    ///
    /// # Errors
    /// It is not; `what` says what it is.
    pub fn within(self, limit: u64, used: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        if used <= limit { Ok(()) } else { Err(Exceeded::new(self, limit, what())) }
    }
}

impl Exceeded {
    /// Something that takes more of a resource than the limit.
    pub fn new(resource: Resource, limit: u64, what: impl Into<String>) -> Exceeded {
        Exceeded { resource, limit, what: what.into(), unit: "part", help: resource.help(), option: None }
    }

    /// Says what one part is: a statement, a data word.
    #[must_use]
    pub fn of(self, unit: &'static str) -> Exceeded {
        Exceeded { unit, ..self }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn instead(self, help: &'static str) -> Exceeded {
        Exceeded { help, ..self }
    }

    /// Says which option allows more.
    #[must_use]
    pub fn raised_by(self, option: &'static str) -> Exceeded {
        Exceeded { option: Some(option), ..self }
    }

    /// The code of the error.
    pub const fn code(&self) -> &'static str {
        self.resource.code()
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self.option {
            Some(option) => format!("{}; allow more with `{option}`", self.help),
            None => self.help.to_string(),
        }
    }

    /// The error, without a place.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(self.code(), self.to_string()).help(self.help())
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exceeded { resource, limit, what, unit, .. } = self;
        match resource {
            Resource::Depth => write!(f, "{what} is nested more than {limit} deep"),
            Resource::Nodes => write!(f, "{what} is made of more than {}", plural(*limit, unit)),
            Resource::Bytes => write!(f, "{what} is larger than {}", plural(*limit, "byte")),
            Resource::Steps => write!(f, "{what} takes more than {} to compute", plural(*limit, "step")),
        }
    }
}

impl std::error::Error for Exceeded {}

#[cfg(test)]
mod tests {
    use super::{Budget, Exceeded, Resource, codes};

    #[test]
    fn what_is_beyond_is_said_with_its_limit() {
        let budget = Budget { depth: 3, nodes: 4, bytes: 5, steps: 6, statements: 7, ..Budget::default() };
        let what = || "the struct `A`".to_string();
        assert_eq!(budget.nested(3, what), Ok(()));
        let said = [
            budget.nested(4, what),
            budget.parts(5, what),
            budget.large(6, what),
            budget.long(7, what),
            budget.program(8, what),
        ];
        let said: Vec<String> = said.into_iter().filter_map(Result::err).map(|e| e.to_string()).collect();
        assert_eq!(
            said,
            [
                "the struct `A` is nested more than 3 deep",
                "the struct `A` is made of more than 4 parts",
                "the struct `A` is larger than 5 bytes",
                "the struct `A` takes more than 6 steps to compute",
                "the struct `A` is made of more than 7 statements",
            ]
        );
    }

    #[test]
    fn the_way_out_names_the_option() {
        let found = Exceeded::new(Resource::Bytes, 5, "the source").instead("divide it").raised_by("--max-source");
        assert_eq!((found.code(), found.help().as_str()), ("P0092", "divide it; allow more with `--max-source`"));
    }

    #[test]
    fn codes_in_order() {
        assert!(codes().map(|(code, _)| code).collect::<Vec<_>>().is_sorted_by(|a, b| a < b));
    }
}
