//! What lies in the data segment.

use std::ops::Range;

use pendula_isa::Ty;

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
    let before = Data { at: 0..stack, ty: None, is_word: false, written: true };
    let (mut at, mut param) = (stack, 0);
    let of = move |argument: &Argument| {
        let first = at;
        at += argument.words().len();
        match &argument.kind {
            ArgumentKind::Word { ty, .. } => {
                param += 1;
                Some(Data { at: first..at, ty: Some(*ty), is_word: true, written: true })
            }
            ArgumentKind::Array { ty, lens, .. } => {
                let written = writes(param);
                param += 1 + lens.len();
                Some(Data { at: first..at, ty: Some(*ty), is_word: false, written })
            }
            ArgumentKind::Constant(_) => {
                param += 1;
                None
            }
        }
    };
    std::iter::once(before).chain(arguments.iter().filter_map(of))
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

/// The data of which words carry floating-point numbers.
pub(super) fn carried_floats(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    joined(data(program, arguments).filter(|d| d.ty == Some(Ty::F)).map(|d| d.at))
}

/// The data that a run may write: arrays, and words that are lent to the entry.
pub(super) fn lent(program: &Program, arguments: &[Argument]) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let of =
        |is_word: bool| joined(data(program, arguments).filter(|d| d.is_word == is_word && d.written).map(|d| d.at));
    (of(false), of(true))
}
