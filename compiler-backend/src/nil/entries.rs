//! The functions with which a run of a program can begin.

use super::ast::{Function, Item};
use super::sema::Input;

/// A function that a run can begin with.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'i> {
    /// Its number among all functions of the files.
    pub number: usize,
    /// The file.
    pub input: &'i Input,
    /// The function.
    pub function: &'i Function,
}

/// All functions of the files, in order.
fn functions(inputs: &[Input]) -> impl DoubleEndedIterator<Item = Entry<'_>> {
    let mut all = Vec::new();
    for input in inputs {
        all.extend(input.tree.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some((input, function)),
            Item::Struct(_) | Item::Using(_) | Item::Host(_) | Item::Alias(_) | Item::Const(..) => None,
        }));
    }
    all.into_iter().enumerate().map(|(number, (input, function))| Entry { number, input, function })
}

/// The definitions that `entry` names, those of the program before those of the library: all of a name, or with `f@12`
/// the one that line 12 belongs to. Without `entry`, those with the name of the program's last function, in its scope,
/// the last first.
pub fn entries<'i>(inputs: &'i [Input], entry: Option<&str>) -> Vec<Entry<'i>> {
    if let Some(entry) = entry {
        let (name, line) = match entry.split_once('@') {
            Some((name, line)) => (name, line.parse::<usize>().ok()),
            None => (entry, None),
        };
        let named = |e: &Entry<'_>| {
            let lines = |at: usize| e.input.lines.partition_point(|start| *start <= at);
            let span = &e.function.span;
            e.function.name.text == name
                && e.function.instruction.is_none()
                && line.is_none_or(|line| (lines(span.start)..=lines(span.end.saturating_sub(1))).contains(&line))
        };
        let found = |library: bool| functions(inputs).filter(move |e| e.input.library == library).filter(named);
        let own: Vec<_> = found(false).collect();
        return if own.is_empty() { found(true).collect() } else { own };
    }
    let own = || functions(inputs).filter(|e| !e.input.library && e.function.unread.is_none());
    let Some(last) = own().next_back() else { return Vec::new() };
    let last = last.function;
    let same = |e: &Entry<'_>| {
        let f = e.function;
        f.name.text == last.name.text && f.instruction == last.instruction && f.scope == last.scope
    };
    let mut all: Vec<_> = own().filter(same).collect();
    all.reverse();
    all
}
