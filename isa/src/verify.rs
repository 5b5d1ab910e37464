//! Verification of a module's code as a whole: jumps are paired, procedures and the main region are complete and disjoint, and calls
//! target procedures.
//!
//! The assembler reports violations at their source lines; the object reader and the machine reject a module with any violation.

use crate::inst::{Inst, Kind};
use crate::module::Module;
use crate::operand::Operand;
use crate::table::{Flow, Row};
use crate::types::Profile;

/// A region of code with one entry and one exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Whether it is the main region, `start` to `finish`; else a procedure.
    pub main: bool,
    /// The first instruction: `start` or `proc`.
    pub start: u32,
    /// The last instruction: `finish` or `ret`.
    pub last: u32,
}

/// The division of the code into regions, ordered by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// The regions.
    pub regions: Vec<Region>,
    /// Instructions outside all regions, which no path reaches.
    pub outside: Vec<u32>,
}

impl Structure {
    /// The main region, if there is one.
    pub fn main(&self) -> Option<Region> {
        self.regions.iter().copied().find(|r| r.main)
    }

    /// The region that an instruction belongs to.
    pub fn region_of(&self, at: u32) -> Option<Region> {
        let n = self.regions.partition_point(|r| r.start <= at);
        let region = *self.regions.get(n.checked_sub(1)?)?;
        (at <= region.last).then_some(region)
    }
}

macro_rules! problems {
    ($( $(#[doc = $doc:literal])+ $Name:ident $code:literal $title:literal $other:literal $help:literal; )*) => {
        /// The kind of a violation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Problem { $( $(#[doc = $doc])+ $Name, )* }

        impl Problem {
            /// Every problem.
            pub const ALL: &'static [Problem] = &[$( Problem::$Name, )*];

            /// The code that messages and test files name.
            pub const fn code(self) -> &'static str { match self { $( Problem::$Name => $code, )* } }

            /// The description of the problem.
            pub const fn title(self) -> &'static str { match self { $( Problem::$Name => $title, )* } }

            /// What the other place is, where there is one.
            pub const fn other(self) -> &'static str { match self { $( Problem::$Name => $other, )* } }

            /// What to do about it.
            pub const fn help(self) -> &'static str { match self { $( Problem::$Name => $help, )* } }
        }
    };
}

problems! {
    /// A jump that lands on something that is no `from`, or on a `from` of another jump.
    Unpaired "P0050" "this jump and its landing place do not name each other" "what it names"
        "a `jmp` names the label of a `from`, and that `from` names the label of the `jmp`";
    /// A pair whose halves lie in different regions.
    CrossesRegions "P0051" "a jump may not leave its procedure" "its partner"
        "use `call`, or move both halves of the pair into one procedure";
    /// A `proc` without its `ret`.
    NoRet "P0052" "this procedure has no `ret` of its name" ""
        "end the procedure with `ret` and its name";
    /// A `ret` without its `proc`.
    NoProc "P0053" "this `ret` ends no procedure of its name" ""
        "begin the procedure with `proc` and the same name";
    /// A region within a region.
    Nested "P0054" "a region begins before the one above it has ended" "the region still open"
        "put procedures before `start` or after `finish`, and one after the other";
    /// A `start` without `finish`.
    NoFinish "P0055" "this `start` has no `finish`" ""
        "end the run with `finish`";
    /// A `finish` without `start`.
    NoStart "P0056" "this `finish` has no `start` above it" ""
        "begin the run with `start`";
    /// A second main region.
    SecondStart "P0057" "a program has one `start`" "the first"
        "make one of them a procedure";
    /// A call that meets no procedure.
    NotProcedure "P0058" "the target of this call is not a procedure" "the target"
        "`call` and `uncall` take the name of a `proc`";
    /// `erase` in a module that does not say `.irreversible`.
    NotIrreversible "P0059" "`erase` in a module that is reversible" ""
        "write `.irreversible` if the program may erase; it then cannot run backward";
    /// An instruction of another profile.
    WrongProfile "P0080" "the module's profile has no such instruction" ""
        "`.profile pisa` is for programs with a branch register; others have jumps in pairs, procedures and memory operands";
    /// A constant of more than 32 bits where words have 32.
    WideConstant "P0081" "the constant has more than 32 bits" ""
        "words of the profile `pisa` have 32 bits: constants lie between -2147483648 and 2147483647";
    /// An entry beyond the code.
    NoEntry "P0082" "the run begins where there is no instruction" ""
        "`.start` takes a label of the code";
}

/// A violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The problem.
    pub problem: Problem,
    /// The instruction.
    pub at: u32,
    /// Another instruction involved.
    pub other: Option<u32>,
}

/// Divides the code into regions and checks it; violations are ordered by address.
pub fn verify(module: &Module) -> (Structure, Vec<Violation>) {
    let code = &module.code;
    let mut found = Vec::new();
    if module.flags.profile == Profile::Pisa {
        return (Structure::default(), verify_pisa(module));
    }
    let structure = regions(code, &mut found);
    for (at, inst) in code.iter().enumerate() {
        let at = at as u32;
        if !inst.kind.belongs_to(Profile::Native) {
            found.push(Violation { problem: Problem::WrongProfile, at, other: None });
        }
        if inst.kind.is_irreversible() && !module.flags.irreversible {
            found.push(Violation { problem: Problem::NotIrreversible, at, other: None });
        }
        match inst.kind.flow() {
            Flow::Jump => check_pair(code, &structure, at, inst, &mut found),
            Flow::Call | Flow::GradientCall => match target(code, at, inst) {
                Some((_, t)) if is_row(t, Row::Proc, false) => {}
                t => found.push(Violation { problem: Problem::NotProcedure, at, other: t.map(|(n, _)| n) }),
            },
            Flow::Straight | Flow::Procedure | Flow::CallRegister | Flow::Run | Flow::Branch(_) | Flow::Cell => {}
        }
    }
    found.sort_by_key(|v| v.at);
    (structure, found)
}

/// The violations of code of the profile `pisa`. Targets of branches are checked at run time.
fn verify_pisa(module: &Module) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut report = |problem, at| found.push(Violation { problem, at, other: None });
    for (at, inst) in module.code.iter().enumerate() {
        let at = at as u32;
        if !inst.kind.belongs_to(Profile::Pisa) {
            report(Problem::WrongProfile, at);
        }
        let wide = |o| matches!(o, Operand::Imm(word, _) if i32::try_from(word.cast_signed()).is_err());
        if inst.operands().any(|(_, operand)| wide(operand)) {
            report(Problem::WideConstant, at);
        }
    }
    if module.flags.entry as usize >= module.code.len() {
        report(Problem::NoEntry, module.flags.entry);
    }
    found
}

/// The target address of a label operand, if it is within the code.
pub fn target<'a>(code: &'a [Inst], at: u32, inst: &Inst) -> Option<(u32, &'a Inst)> {
    let to = u32::try_from(i64::from(at).checked_add(inst.imm)?).ok()?;
    Some((to, code.get(to as usize)?))
}

/// Whether the label operand of the instruction at `at` targets the address `to`.
fn leads_to(at: u32, inst: &Inst, to: u32) -> bool {
    i64::from(at).checked_add(inst.imm) == Some(i64::from(to))
}

/// Whether the instruction is this row (`partner`: its partner).
pub fn is_row(inst: &Inst, wanted: Row, partner: bool) -> bool {
    matches!(inst.kind, Kind::Row { row, inverse, .. } if row == wanted && inverse == partner)
}

fn regions(code: &[Inst], found: &mut Vec<Violation>) -> Structure {
    let mut out = Structure::default();
    let mut open: Option<(bool, u32)> = None;
    let mut first_main = None;
    // Regions that another one began in: their ends have been reported.
    let mut broken: Vec<(bool, u32)> = Vec::new();
    let mut report = |problem, at, other| found.push(Violation { problem, at, other });
    for (n, inst) in code.iter().enumerate() {
        let at = n as u32;
        let (main, ends) = match inst.kind {
            Kind::Row { row: Row::Start, inverse, .. } => (true, inverse),
            Kind::Row { row: Row::Proc, inverse, .. } => (false, inverse),
            Kind::Row { .. } | Kind::Accumulate { .. } | Kind::Extension { .. } => {
                if open.is_none() {
                    out.outside.push(at);
                }
                continue;
            }
        };
        if !ends {
            if let Some((main, start)) = open {
                report(Problem::Nested, at, Some(start));
                broken.push((main, start));
            }
            if main {
                if let Some(first) = first_main {
                    report(Problem::SecondStart, at, Some(first));
                }
                first_main = first_main.or(Some(at));
            }
            open = Some((main, at));
            continue;
        }
        let belongs = |start: u32| {
            main || (leads_to(at, inst, start) && code.get(start as usize).is_some_and(|p| leads_to(start, p, at)))
        };
        match open {
            Some((m, start)) if m == main && belongs(start) => {
                out.regions.push(Region { main, start, last: at });
                open = None;
            }
            None if broken.iter().any(|&(m, start)| m == main && belongs(start)) => {}
            other => {
                let problem = if main { Problem::NoStart } else { Problem::NoProc };
                report(problem, at, other.map(|(_, start)| start));
            }
        }
    }
    if let Some((main, start)) = open {
        report(if main { Problem::NoFinish } else { Problem::NoRet }, start, None);
    }
    out
}

fn check_pair(code: &[Inst], structure: &Structure, at: u32, inst: &Inst, found: &mut Vec<Violation>) {
    let lands = is_row(inst, Row::Jmp, true);
    match target(code, at, inst) {
        Some((to, partner)) if is_row(partner, Row::Jmp, !lands) && leads_to(to, partner, at) => {
            if !lands && structure.region_of(at) != structure.region_of(to) {
                found.push(Violation { problem: Problem::CrossesRegions, at, other: Some(to) });
            }
        }
        t => found.push(Violation { problem: Problem::Unpaired, at, other: t.map(|(n, _)| n) }),
    }
}
