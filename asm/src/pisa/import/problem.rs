//! The reasons why a PISA program is not translated.

macro_rules! reasons {
    ($( $(#[doc = $doc:literal])+ $Name:ident $code:literal $message:literal $help:literal; )*) => {
        /// The reason why a place of a program cannot be translated.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Reason { $( $(#[doc = $doc])+ $Name, )* }

        impl Reason {
            pub(super) const fn code(self) -> &'static str { match self { $( Reason::$Name => $code, )* } }

            pub(super) const fn message(self) -> &'static str { match self { $( Reason::$Name => $message, )* } }

            pub(super) const fn help(self) -> &'static str { match self { $( Reason::$Name => $help, )* } }
        }
    };
}

/// The codes with a title each.
pub(super) const CODES: [(&str, &str); 6] = [
    ("P0345", "a branch of PISA that native jumps cannot express"),
    ("P0346", "a `SWAPBR` that is not a standard call or procedure"),
    ("P0347", "a program of PISA that uses more registers than there are"),
    ("P0348", "cells of PISA beyond the memory"),
    ("P0349", "a program of PISA whose run does not end in one place"),
    ("P0350", "a `SHOW` that PendVM may print when it is undone, and the translation does not (a warning)"),
];

/// The code of [`registers`].
pub(super) const REGISTERS: &str = CODES[2].0;
/// The code for a program that does not fit into its cells.
pub(super) const CELLS: &str = CODES[3].0;
/// The code for output in both directions.
pub(super) const SHOWS: &str = CODES[5].0;

reasons! {
    /// A branch to an address without an instruction.
    LandsNowhere "P0345" "the branch leads where there is no instruction"
        "a branch is landed on by another that names it";
    /// A branch onto an instruction that is not a branch.
    LandsOnNone "P0345" "the branch leads to an instruction that is not a branch"
        "a branch is landed on by another that names it: the run would stop there";
    /// A branch onto `START`, or a conditional branch onto `FINISH`.
    LandsOnBound "P0345" "the branch leads to a bound of the run"
        "let it land on a branch that names it";
    /// A branch onto a branch that names another one.
    NotNamed "P0345" "the branch leads to one that does not name it"
        "the distances of both add up, which native jumps cannot do: let two branches name each other";
    /// `RBRA` onto itself.
    TurnsOnItself "P0345" "the `RBRA` turns around where it stands"
        "native code runs backward within `uncall` only";
    /// `RBRA` onto an `RBRA`.
    TurnsTwice "P0345" "the `RBRA` leads to another `RBRA`, which turns again"
        "write `BRA` for both";
    /// An `RBRA` paired with a conditional branch.
    TurnsMaybe "P0345" "the direction is reversed under a condition"
        "put the pair with its condition around the `RBRA`";
    /// A reversed stretch before the branch that enters it.
    TurnsBack "P0345" "the direction is reversed toward the code before it"
        "the `RBRA` and its `BRA` enclose what is to be undone, the first of them reached first";
    /// A branch in a reversed stretch.
    InTurn "P0345" "what an `RBRA` and its `BRA` enclose is not straight"
        "between them only calls may stand that have no condition: make the rest a procedure, and uncall it";
    /// A branch that leaves the code.
    Edge "P0345" "control goes beyond the program"
        "end with `FINISH`, or with the branch that the procedure's first line names";
    /// Control reaches data.
    RunsData "P0345" "control comes to a word of data"
        "lead a pair of `BRA`s around it";
    /// Control reaches the entry again.
    AgainAtEntry "P0345" "control comes back to where the run began"
        "begin the run before the loop: put `START` there";
    /// A `SWAPBR` that control falls into and that is also called.
    FallsIn "P0346" "control falls into a `SWAPBR` that is called elsewhere"
        "enclose the procedure in a pair of `BRA`s";
    /// A procedure that does not return.
    NoReturn "P0346" "control does not come back to this `SWAPBR`"
        "a procedure is `top: BRA bottom`, `name: SWAPBR $r`, `NEG $r`, its body, `bottom: BRA top`";
    /// A computed branch in a program without procedures that can be called so.
    NoCandidate "P0346" "where this `SWAPBR` leads is computed, and the program contains no procedure's address"
        "procedures that are called this way must be named by an immediate or by `DATA`";
    /// A computed branch to procedures that keep their links in different registers.
    Links "P0346" "where this `SWAPBR` leads is computed, and the procedures keep their links in different registers"
        "let all procedures whose addresses are in the program keep them in one register";
    /// A computed branch by the register of the link.
    OwnLink "P0346" "this `SWAPBR` branches by the register in which the procedures that it may lead to keep their links"
        "use another register for the distance";
    /// A start or end of the run in a procedure.
    BoundInProcedure "P0349" "the run begins or ends within a procedure"
        "put `START` and `FINISH` into the main program";
    /// The run has no end.
    NoFinish "P0349" "no path leads to `FINISH`"
        "end the run with `FINISH`";
    /// The run has two ends.
    SecondFinish "P0349" "the run may end in two places, or reach its end in two ways"
        "let the paths meet before one `FINISH`";
}

/// A reason why a program cannot be translated, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) at: u32,
    /// Another place that is concerned.
    pub(super) other: Option<u32>,
    pub(super) reason: Reason,
}

impl Problem {
    pub(super) fn new(at: u32, reason: Reason) -> Problem {
        Problem { at, other: None, reason }
    }
}

/// The message for more registers than are available; with `callee` one of them is reserved for calls by a distance.
pub(super) fn registers(used: usize, available: usize, callee: bool) -> String {
    let reserved = if callee { ", one of its 30 being for calls by a distance" } else { "" };
    format!("the program uses {used} registers, and native code has {available} for it{reserved}")
}
