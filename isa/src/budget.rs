//! Limits for reading a program: one budget for every front end and reader, and one form of error for exceeding it.
//!
//! Input is never trusted: a few lines of source can stand for a tree of unbounded depth, or one that doubles with each line. All readers
//! count the same resources, and never measure time, so that a program is rejected either on every host or on none.

use std::fmt;

use crate::diagnostic::{Diagnostic, plural};

crate::diagnostic_codes! {
    pub codes;
    DEPTH "P0090" "nested deeper than the budget allows";
    NODES "P0091" "made of more parts than the budget allows";
    BYTES "P0092" "larger than the budget allows";
    STEPS "P0093" "computed in more steps than the budget allows";
}

/// The limits for reading a program.
///
/// A command creates one budget, and every reader follows it. A recursive reader may stop before [`depth`](Budget::depth) and
/// [`height`](Budget::height), if the thread's stack would not suffice; the error reports the limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The maximum nesting depth of types, constants, values, expressions, statements, macros and included files.
    pub depth: u32,
    /// The maximum height of the tree of one expression. Each operator in a chain is one level.
    pub height: u32,
    /// The maximum number of parts of one type or constant.
    pub nodes: u64,
    /// The maximum number of statements of a program, including those of macro expansions and inverses.
    pub statements: u64,
    /// The maximum number of data words of a program, or of cells of a PISA program.
    pub words: u64,
    /// The maximum size in bytes of a source with its included files.
    pub bytes: u64,
    /// The maximum size in bytes of macro expansions.
    pub expansion: u64,
    /// The maximum number of steps of constant evaluation, in total.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        // Deep enough for real programs, and small enough for the stack of a thread.
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

/// A resource of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// The nesting depth.
    Depth,
    /// The number of parts.
    Nodes,
    /// The size.
    Bytes,
    /// The number of evaluation steps.
    Steps,
}

impl Resource {
    /// The code of the error for exceeding it.
    pub const fn code(self) -> &'static str {
        match self {
            Resource::Depth => DEPTH,
            Resource::Nodes => NODES,
            Resource::Bytes => BYTES,
            Resource::Steps => STEPS,
        }
    }

    /// The default advice for exceeding it.
    const fn help(self) -> &'static str {
        match self {
            Resource::Depth => "write it with fewer levels, or in several named parts",
            Resource::Nodes => "divide it into parts, or keep them in an array",
            Resource::Bytes => "divide it into several, or give it more room",
            Resource::Steps => "write the result as a number, or compute it in a function",
        }
    }
}

/// The error for exceeding a budget.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exceeded {
    /// The resource.
    pub resource: Resource,
    /// The limit.
    pub limit: u64,
    /// The item that reached the limit, in terms of the source: "the struct `A`".
    pub what: String,
    /// The name of one part.
    unit: &'static str,
    /// What to do about it.
    help: &'static str,
    /// The option that raises the limit.
    option: Option<&'static str>,
}

impl Budget {
    /// Checks a nesting depth.
    ///
    /// # Errors
    /// If it exceeds the budget; `what` describes the item.
    pub fn nested(&self, depth: u32, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Depth.within(self.depth.into(), depth.into(), what)
    }

    /// Checks a number of parts.
    ///
    /// # Errors
    /// If it exceeds the budget.
    pub fn parts(&self, nodes: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Nodes.within(self.nodes, nodes, what)
    }

    /// Checks a size in bytes.
    ///
    /// # Errors
    /// If it exceeds the budget.
    pub fn large(&self, bytes: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Bytes.within(self.bytes, bytes, what)
    }

    /// Checks a number of evaluation steps.
    ///
    /// # Errors
    /// If it exceeds the budget.
    pub fn long(&self, steps: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Steps.within(self.steps, steps, what)
    }

    /// Checks the number of statements of a program.
    ///
    /// # Errors
    /// If it exceeds the budget.
    pub fn program(&self, statements: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        Resource::Nodes.within(self.statements, statements, what).map_err(|e| e.of("statement"))
    }

    /// The same budget with depth and height limited to what a reader's stack allows.
    #[must_use]
    pub fn at_most(self, depth: u32, height: u32) -> Budget {
        Budget { depth: self.depth.min(depth), height: self.height.min(height), ..self }
    }
}

impl Resource {
    /// Checks an amount against another limit, such as the rest of a budget.
    ///
    /// # Errors
    /// If it exceeds the limit; `what` describes the item.
    pub fn within(self, limit: u64, used: u64, what: impl FnOnce() -> String) -> Result<(), Exceeded> {
        if used <= limit { Ok(()) } else { Err(Exceeded::new(self, limit, what())) }
    }
}

impl Exceeded {
    /// The error for an item that exceeds a limit.
    pub fn new(resource: Resource, limit: u64, what: impl Into<String>) -> Exceeded {
        Exceeded { resource, limit, what: what.into(), unit: "part", help: resource.help(), option: None }
    }

    /// Sets the name of one part: a statement, a data word.
    #[must_use]
    pub fn of(self, unit: &'static str) -> Exceeded {
        Exceeded { unit, ..self }
    }

    /// Sets the advice.
    #[must_use]
    pub fn instead(self, help: &'static str) -> Exceeded {
        Exceeded { help, ..self }
    }

    /// Sets the option that raises the limit.
    #[must_use]
    pub fn raised_by(self, option: &'static str) -> Exceeded {
        Exceeded { option: Some(option), ..self }
    }

    /// The code of the error.
    pub const fn code(&self) -> &'static str {
        self.resource.code()
    }

    /// The advice.
    pub fn help(&self) -> String {
        match self.option {
            Some(option) => format!("{}; allow more with `{option}`", self.help),
            None => self.help.to_string(),
        }
    }

    /// The error as a diagnostic without a place.
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
    use super::{Budget, Exceeded, Resource};

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
}
