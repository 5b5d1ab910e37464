//! What lies in the data segment.

use std::ops::Range;

use pendula_isa::Ty;
use pendula_isa::adjoint::ActiveArguments;

use super::Certify;
use super::dead_uncompute::Drops;
use super::flow::Locations;
use crate::ir::Program;
use crate::ir::effects::{Effects, Summaries};
use crate::lower::{Argument, ArgumentKind};

/// A stretch of the data segment.
struct Data {
    at: Range<usize>,
    /// How its words are read, if that is known.
    ty: Option<Ty>,
    /// Whether it is a word that is lent to the entry.
    is_word: bool,
    written: bool,
    /// The number of the argument, and that of the entry's parameter that it is passed to.
    param: Option<(usize, usize)>,
}

/// What lies in the data segment: what comes before the arguments, and the arguments that have words there.
fn data<'a>(program: &'a Program, arguments: &'a [Argument]) -> impl Iterator<Item = Data> + use<'a> {
    let entry = program.entry.and_then(|f| program.functions.get(f.0 as usize));
    let effects = entry.map(|f| Effects::of_block(&Summaries::new(program), &f.body));
    // Whether the words that an address parameter points to may be written.
    let writes = move |param: usize| match (entry, &effects) {
        (Some(entry), Some(effects)) => {
            entry.params.get(param).and_then(|p| entry.points(p.var)).is_none_or(|region| effects.writes_region(region))
        }
        _ => true,
    };
    let stack = usize::try_from(program.stack).unwrap_or(0);
    let before = Data { at: 0..stack, ty: None, is_word: false, written: true, param: None };
    let (mut at, mut param) = (stack, 0);
    let of = move |(n, argument): (usize, &Argument)| {
        let first = at;
        at += argument.words().len();
        match &argument.kind {
            ArgumentKind::Word { ty, .. } => {
                let to = Some((n, param));
                param += 1;
                Some(Data { at: first..at, ty: Some(*ty), is_word: true, written: true, param: to })
            }
            ArgumentKind::Array { ty, lens, .. } => {
                let (written, to) = (writes(param), Some((n, param)));
                param += 1 + lens.len();
                Some(Data { at: first..at, ty: Some(*ty), is_word: false, written, param: to })
            }
            ArgumentKind::Constant(_) => {
                param += 1;
                None
            }
        }
    };
    std::iter::once(before).chain(arguments.iter().enumerate().filter_map(of))
}

/// Ranges that touch made one.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges.filter(|r| !r.is_empty()) {
        match out.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => out.push(range),
        }
    }
    out
}

/// The data of which a run may change the values: all but arrays that the entry, and what it calls, does not write to.
pub fn changes(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    joined(data(program, arguments).filter(|d| d.written).map(|d| d.at))
}

/// The data of which a run may change what words carry: all but integers.
pub fn carries(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    joined(data(program, arguments).filter(|d| d.ty.is_none_or(|ty| ty.gradient().is_some())).map(|d| d.at))
}

/// Of the data that [`changes`] may change, what is floating-point numbers.
pub fn floats(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    joined(data(program, arguments).filter(|d| d.written && d.ty == Some(Ty::F)).map(|d| d.at))
}

/// Of these, those that are not looked at for being finite in between, in a run in which rounding counts: what is not finite stays so.
pub fn results(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    let Some(entry) = program.entry.and_then(|f| program.functions.get(f.0 as usize)) else { return Vec::new() };
    let mut drops = Drops::new(program, false, Certify::Nothing);
    let flow = drops.flow(entry, &entry.body);
    let is_result = |d: &Data| {
        let param = d.param.and_then(|(_, n)| entry.params.get(n));
        let mut late = |at| drops.is_seen_late(entry, &flow, at);
        d.written && d.ty == Some(Ty::F) && param.is_some_and(|p| late(entry.lent_as(p.var)))
    };
    joined(data(program, arguments).filter(is_result).map(|d| d.at))
}

/// Where the words of each argument are; those of a constant are none.
pub fn places(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    let mut at = usize::try_from(program.stack).unwrap_or(0);
    let of = |argument: &Argument| {
        let first = at;
        at += argument.words().len();
        first..at
    };
    arguments.iter().map(of).collect()
}

/// The data of which a run may change what words carry, and those of them that are floating-point numbers: dependent variables, and all that
/// is active.
pub(super) fn carried(
    program: &Program,
    arguments: &[Argument],
    active: ActiveArguments,
    inactive: &Locations,
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let entry = program.entry.and_then(|f| program.functions.get(f.0 as usize));
    let is_carried = |d: &Data| {
        let param = d.param.and_then(|(_, n)| entry?.params.get(n).map(|p| p.var));
        let at = param.and_then(|var| Some(entry?.lent_as(var)));
        let carries = d.ty.is_none_or(|ty| ty.gradient().is_some());
        let is_dependent = d.param.is_some_and(|(n, _)| active.is_dependent(n));
        carries && (is_dependent || !at.is_some_and(|at| inactive.contains(&at)))
    };
    let all: Vec<Data> = data(program, arguments).filter(is_carried).collect();
    let of = |d: &Data| d.at.clone();
    (joined(all.iter().map(of)), joined(all.iter().filter(|d| d.ty == Some(Ty::F)).map(of)))
}

/// The data that a run may write: arrays, and words that are lent to the entry.
pub(super) fn lent(program: &Program, arguments: &[Argument]) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let of =
        |is_word: bool| joined(data(program, arguments).filter(|d| d.is_word == is_word && d.written).map(|d| d.at));
    (of(false), of(true))
}
