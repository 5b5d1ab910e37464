//! Translates PISA programs to native assembly.
//!
//! The effect of a branch in PISA depends on the branch register, that of a native jump does not. The code is therefore
//! analysed first. Two branches that name each other are a pair, also if both can be taken. A branch onto a `SWAPBR` is
//! a call, if the code around the `SWAPBR` comes back to it. The stretch between an `RBRA` and the `BRA` that it names
//! runs in the opposite direction, so its inverse is run. Everything else is refused, with its place.
//!
//! At each point, the registers and cells of the translation hold what PISA's machine holds at the same point,
//! including the links of procedures if the program could observe them. If PISA's machine would do something else at
//! run time, such as return elsewhere, the translation traps.

mod flow;
mod native;
mod problem;
mod prove;
mod reach;
mod shape;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use pendula_isa::Module;
use pendula_isa::budget::Resource;
use pendula_isa::table::{By, Flow, Row};
use pendula_isa::types::Reg;
use pendula_isa::verify::is_row;

use crate::diagnostic::{Diagnostic, Place, Sources, plural};
use flow::{Routine, walk};
use native::{Guard, NativeTarget, Registers};
use problem::{Problem, Reason};
use prove::Calls;
use shape::{Code, Shape};

/// The codes of this module with a title each.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    problem::CODES.into_iter()
}

/// How a program is read, and how much memory its translation has.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How the file is read.
    pub read: super::Options,
    /// The number of cells from address 0 on, including those of the program.
    pub cells: u32,
    /// The number of cells before address 0: from 0xFFFFFFFF down.
    pub below: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { read: super::Options::default(), cells: 1 << 16, below: 1 << 16 }
    }
}

/// The maximum number of cells on either side of address 0.
pub const MAX_CELLS: u32 = 1 << 26;

/// The maximum number of instructions of a translation: procedures that share code each get a copy of it.
const MAX_INSTRUCTIONS: usize = 1 << 22;

/// The result of a translation.
#[derive(Debug)]
pub struct Imported {
    /// Native assembly; `None` if there were errors.
    pub text: Option<String>,
    /// The native register that stands for each register of PISA; `None` for one that the program does not use.
    pub registers: [Option<Reg>; Reg::COUNT],
    /// The address in memory of the cell with address 0.
    pub zero: u64,
    /// What cannot be read or translated.
    pub diagnostics: Vec<Diagnostic>,
    /// The text that the diagnostics refer to.
    pub sources: Sources,
}

/// Translates a PISA program. `name` is the name of the file.
pub fn import(name: &str, text: &str, options: &Options) -> Imported {
    let assembly = super::read(name, text, &options.read);
    let mut out = Imported {
        text: None,
        registers: [None; Reg::COUNT],
        zero: u64::from(options.below),
        diagnostics: assembly.diagnostics,
        sources: assembly.sources,
    };
    let Some(module) = assembly.module else { return out };
    match translate(&module, options) {
        Ok(translation) => {
            for (number, reg) in &translation.used {
                out.registers[usize::from(*number)] = Some(*reg);
            }
            out.text = Some(text::write(&module, &translation, text, options));
            out.diagnostics.extend(shows_back(&module, &out.sources));
        }
        Err(mut diagnostics) => {
            for d in &mut diagnostics {
                d.place(&module, &out.sources);
            }
            out.diagnostics.extend(diagnostics.into_iter().map(|d| d.diagnostic));
        }
    }
    out
}

/// Warns that output may differ: PendVM executes `SHOW` in both directions, native code only forward.
fn shows_back(module: &Module, sources: &Sources) -> Option<Diagnostic> {
    let turns = module.code.iter().any(|i| i.kind.flow() == Flow::Branch(By::Turn));
    let first = module.code.iter().position(|i| is_row(i, Row::Show, false))?;
    if !module.flags.loose || !turns {
        return None;
    }
    let message = "PendVM prints this `SHOW` when an `RBRA` undoes it, too; the translation does not";
    let help = "the translation shows what runs forward; `pendula run --pendvm-bugs` runs the program itself, and prints as PendVM does";
    let d = Diagnostic::warning(problem::SHOWS, message).help(help);
    Some(match place(module, sources, first as u32) {
        Some(place) => d.at(place, ""),
        None => d,
    })
}

/// An error, and the instructions that it is about.
struct Refusal {
    diagnostic: Diagnostic,
    at: Option<u32>,
    other: Option<u32>,
}

impl Refusal {
    fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal { diagnostic: Diagnostic::error(code, message).help(help), at: None, other: None }
    }

    /// Sets the places.
    fn place(&mut self, module: &Module, sources: &Sources) {
        let d = self.diagnostic.clone();
        let d = match self.at.and_then(|at| place(module, sources, at)) {
            Some(place) => d.at(place, ""),
            None => d,
        };
        self.diagnostic = match self.other.and_then(|at| place(module, sources, at)) {
            Some(place) => d.also(place, ""),
            None => d,
        };
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        let Problem { at, other, reason } = problem;
        Refusal { at: Some(at), other, ..Refusal::new(reason.code(), reason.message(), reason.help()) }
    }
}

/// The place of an instruction's text.
fn place(module: &Module, sources: &Sources, at: u32) -> Option<Place> {
    let (_, loc) = module.loc(at as usize)?;
    let (start, line) = sources.line(loc.file, loc.line)?;
    let from = line.char_indices().nth(usize::from(loc.column) - 1).map_or(0, |(n, _)| n);
    let written = line.get(from..)?.split(';').next()?.trim_end();
    Some(Place { file: loc.file, span: start + from..start + from + written.len() })
}

/// A program that was translated.
struct Translation {
    /// The main program first, then the procedures by address.
    units: Vec<(Routine, Vec<native::Item>)>,
    /// The native register for each of PISA.
    used: Vec<(u8, Reg)>,
    registers: Registers,
    guard: Guard,
    stack: bool,
    /// The procedures that may be called by their distance.
    candidates: BTreeSet<u32>,
}

/// Whether a procedure that begins at this `SWAPBR` is enclosed in two `BRA`s, with only straight code between the
/// first of them and the `SWAPBR`.
fn is_framed(code: &Code<'_>, entry: u32) -> bool {
    let top = (0..entry).rev().find(|at| code.shape(*at) != Ok(Shape::Straight));
    let Some(top) = top else { return false };
    matches!(code.shape(top), Ok(Shape::Pair(bottom))
        if bottom > entry && code.test(top).is_always() && code.test(bottom).is_always())
}

/// The constants of a program, as addresses.
fn numbers(module: &Module) -> BTreeSet<u32> {
    let straight = module.code.iter().filter(|i| matches!(i.kind.flow(), Flow::Straight | Flow::Cell));
    straight.filter_map(|i| u32::try_from(i.imm).ok()).collect()
}

fn translate(module: &Module, options: &Options) -> Result<Translation, Vec<Refusal>> {
    let code = Code { module };
    let Routines { mut units, candidates } = routines(&code, options)?;
    let link_of = |entry: u32| code.get(entry).map(|i| i.regs[0]).unwrap_or_default();
    let links: BTreeSet<Reg> = candidates.iter().map(|c| link_of(*c)).collect();
    let computed = links.first().copied().filter(|_| links.len() == 1);
    let mut refused = refusals(&code, &units, &candidates, computed);
    refused.extend(check_cells(&code, options));

    let calls = Calls::of(&units, &candidates);
    let links = links_kept(&code, &units, &candidates, &calls);
    let hidden: BTreeSet<Reg> = links.iter().filter(|(_, l)| l.is_none()).map(|(e, _)| link_of(*e)).collect();
    let (used, written) = used(&code, units.values(), &hidden);
    let registers = match Registers::assign(&used, &written, !candidates.is_empty()) {
        Ok(registers) => registers,
        Err(message) => {
            let help = "keep rarely used words in cells";
            refused.push(Refusal::new(problem::REGISTERS, message, help));
            return Err(refused);
        }
    };
    if !refused.is_empty() {
        return Err(refused);
    }

    prove::directions(&code, &mut units, &calls);
    let guard = guard(&code);
    let shown = |unit: &Routine| native::uncalled_stretches(&code, unit).collect::<Vec<_>>();
    let uncalled_stretches: BTreeMap<u32, u32> = units.values().flat_map(shown).collect();
    let stack = units.len() + uncalled_stretches.len() > 1;
    let native = NativeTarget { code: &code, registers: &registers, links: &links, computed, guard, stack };
    let mut out = Vec::new();
    for unit in units.into_values().chain(uncalled_stretches.into_iter().map(|(at, to)| Routine::between(at, to))) {
        match native.unit(&unit) {
            Ok(items) => out.push((unit, items)),
            Err(error) => refused.push(Refusal::new(error.code(), error.to_string(), error.help())),
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let used = used.into_iter().map(|r| (r, registers.of(Reg::new(r).unwrap_or_default()))).collect();
    Ok(Translation { units: out, used, registers, guard, stack, candidates })
}

/// The routines of a program.
struct Routines {
    /// By entry; the main program has `None`.
    units: BTreeMap<Option<u32>, Routine>,
    /// The procedures that may be called by their distance.
    candidates: BTreeSet<u32>,
}

/// Follows control from the program's entry through all procedures that it calls.
fn routines(code: &Code<'_>, options: &Options) -> Result<Routines, Vec<Refusal>> {
    let mut units: BTreeMap<Option<u32>, Routine> = BTreeMap::new();
    let mut queue = vec![None];
    let mut candidates: Option<BTreeSet<u32>> = None;
    let mut size = 0;
    while let Some(entry) = queue.pop() {
        if units.contains_key(&entry) {
            continue;
        }
        let what = || "the translation, in which procedures that share code have each their own,".to_string();
        let most = (MAX_INSTRUCTIONS as u64).min(options.read.budget.statements);
        if let Err(exceeded) = Resource::Nodes.within(most, size as u64, what) {
            let exceeded = exceeded.of("instruction").instead("enclose each procedure in a pair of `BRA`s");
            return Err(vec![Refusal::new(exceeded.code(), exceeded.to_string(), exceeded.help())]);
        }
        let unit = walk(code, entry.unwrap_or(code.module.flags.entry), entry.is_none());
        size += unit.places().count();
        queue.extend(unit.calls.iter().copied().map(Some));
        if !unit.swaps.is_empty() && candidates.is_none() {
            let all = called_by_distance(code);
            queue.extend(all.iter().copied().map(Some));
            candidates = Some(all);
        }
        units.insert(entry, unit);
    }
    Ok(Routines { units, candidates: candidates.unwrap_or_default() })
}

/// The procedures that may be called by their distance: those whose addresses are among the program's numbers.
fn called_by_distance(code: &Code<'_>) -> BTreeSet<u32> {
    let swaps = numbers(code.module).into_iter().filter(|at| matches!(code.shape(*at), Ok(Shape::Swap(_))));
    let mut walked = 0;
    let mut is_procedure = |at: u32| {
        if walked > MAX_INSTRUCTIONS {
            return true;
        }
        let unit = walk(code, at, false);
        walked += unit.places().count();
        unit.problems.is_empty()
    };
    swaps.filter(|at| is_framed(code, *at) && is_procedure(*at)).collect()
}

/// The reasons why a program cannot be translated. `computed` is the register in which all procedures that may be
/// called by their distance keep their links, if there is only one such register.
fn refusals(
    code: &Code<'_>,
    units: &BTreeMap<Option<u32>, Routine>,
    candidates: &BTreeSet<u32>,
    computed: Option<Reg>,
) -> Vec<Refusal> {
    let entries: BTreeSet<u32> = units.keys().copied().flatten().collect();
    let mut problems: Vec<Problem> = Vec::new();
    for unit in units.values() {
        problems.extend(unit.problems.iter().cloned());
        for &at in &unit.swaps {
            let reason = match computed {
                _ if entries.contains(&at) => Some(Reason::FallsIn),
                None if candidates.is_empty() => Some(Reason::NoCandidate),
                None => Some(Reason::Links),
                Some(link) if code.get(at).is_some_and(|i| i.regs[0] == link) => Some(Reason::OwnLink),
                Some(_) => None,
            };
            problems.extend(reason.map(|reason| Problem::new(at, reason)));
        }
    }
    problems.sort_by_key(|p| p.at);
    problems.dedup();
    problems.into_iter().map(Refusal::from).collect()
}

/// Checks that the memory has room for the program's cells, and is not too large.
fn check_cells(code: &Code<'_>, options: &Options) -> Option<Refusal> {
    let fits = |n: u32, least: u32| (least..=MAX_CELLS).contains(&n);
    if fits(options.cells, code.len()) && fits(options.below, 0) {
        return None;
    }
    let message = format!(
        "{} from address 0 on and {} before it are not between the program's {} and {MAX_CELLS}",
        plural(options.cells, "cell"),
        options.below,
        code.len()
    );
    let help = "`--cells` counts those of the program, too; `--below` those from 0xFFFFFFFF down";
    Some(Refusal::new(problem::CELLS, message, help))
}

/// How the cells of instructions are told from others: by their addresses, if no data stands before an instruction.
fn guard(code: &Code<'_>) -> Guard {
    let data = |at: u32| code.shape(at) == Ok(Shape::Cell);
    let suffix = (0..code.len()).rev().take_while(|at| data(*at)).last().unwrap_or(code.len());
    if (0..suffix).any(data) { Guard::Marked } else { Guard::From(suffix) }
}

/// The registers that instructions name, except those of links that are not kept; and those of them that are written.
fn used<'a>(
    code: &Code<'_>,
    units: impl Iterator<Item = &'a Routine>,
    hidden: &BTreeSet<Reg>,
) -> (BTreeSet<u8>, BTreeSet<u8>) {
    let (mut used, mut written) = (BTreeSet::new(), BTreeSet::new());
    for unit in units {
        let entry = (!unit.main).then_some(unit.entry);
        for inst in unit.places().chain(entry).filter_map(|at| code.get(at)) {
            for (reg, writes) in native::registers(inst).filter(|(r, _)| !hidden.contains(r)) {
                used.insert(reg.number());
                if writes {
                    written.insert(reg.number());
                }
            }
        }
    }
    (used, written)
}

/// For each procedure, the register that holds its link as in PISA. It is `None` if no instruction can observe the
/// link: the register occurs only in the `SWAPBR`s of procedures and the `NEG`s after them, and none of these
/// procedures is called while another of them is active.
fn links_kept(
    code: &Code<'_>,
    units: &BTreeMap<Option<u32>, Routine>,
    candidates: &BTreeSet<u32>,
    calls: &Calls,
) -> BTreeMap<u32, Option<Reg>> {
    let link_of = |entry: u32| code.get(entry).map(|i| i.regs[0]).unwrap_or_default();
    // The registers whose contents an instruction can observe.
    let mut seen = 0;
    for at in units.values().flat_map(Routine::places) {
        let entry = at.checked_sub(1).filter(|entry| units.contains_key(&Some(*entry)));
        let link = entry.map_or(0, |entry| prove::bit(link_of(entry)));
        let named = code.get(at).into_iter().flat_map(native::registers).fold(0, |set, (r, _)| set | prove::bit(r));
        seen |= named & !link;
    }
    let nested = calls.below(|entry| prove::bit(link_of(entry)));
    for &entry in units.keys().flatten() {
        let link = link_of(entry);
        let negated = code.get(entry + 1).is_some_and(|i| is_row(i, Row::Neg32, false) && i.regs[0] == link);
        if !negated || candidates.contains(&entry) || nested(entry) & prove::bit(link) != 0 {
            seen |= prove::bit(link);
        }
    }
    let link_register = |e: &u32| (*e, Some(link_of(*e)).filter(|link| seen & prove::bit(*link) != 0));
    units.keys().flatten().map(link_register).collect()
}
