//! The comments of a PISA source, by instruction.

use std::collections::{BTreeMap, HashMap};

use pendula_isa::module::Module;

use crate::pisa::HEADER;

/// The comments of a PISA program.
pub(super) struct SourceComments<'a> {
    /// Those at the beginning of the file.
    pub(super) head: Vec<String>,
    /// Those on separate lines before an instruction, and the one beside it.
    at: HashMap<u32, (Vec<&'a str>, Option<&'a str>)>,
}

impl<'a> SourceComments<'a> {
    pub(super) fn of(source: &'a str, module: &Module) -> SourceComments<'a> {
        let mut places: BTreeMap<usize, u32> = BTreeMap::new();
        for (at, loc) in module.locs.iter().enumerate() {
            places.insert(loc.line as usize, at as u32);
        }
        let (mut head, mut open, mut at) = (Vec::new(), Vec::new(), HashMap::new());
        let mut begun = false;
        for (n, line) in source.trim_start_matches('\u{feff}').lines().enumerate() {
            let (written, comment) = line.split_once(';').map_or((line, None), |(w, c)| (w, Some(c.trim())));
            let comment = comment.filter(|c| !c.is_empty());
            let blank = written.trim().is_empty();
            if n == 0 && line.starts_with(HEADER) {
                continue;
            }
            begun |= !blank;
            match places.get(&(n + 1)) {
                Some(address) => {
                    at.insert(*address, (std::mem::take(&mut open), comment));
                }
                None if blank && !begun => head.extend(comment.map(str::to_string)),
                None => open.extend(comment),
            }
        }
        SourceComments { head, at }
    }

    /// The comments before an instruction and beside it. They are returned only once.
    pub(super) fn take(&mut self, at: u32) -> (Vec<String>, Option<String>) {
        let (before, beside) = self.at.remove(&at).unwrap_or_default();
        let clean = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
        (before.into_iter().map(clean).collect(), beside.map(clean))
    }

    /// The comment beside a word of data.
    pub(super) fn of_data(&mut self, at: u32) -> Option<String> {
        self.take(at).1
    }
}
