//! Memory of the profile `pisa`: 2^32 cells, sparsely used. The first ones are the machine's memory; the others are kept here, in pages
//! that are allocated on the first write.

use std::collections::BTreeMap;

use pendula_isa::Module;
use pendula_isa::table::Flow;
use pendula_isa::types::Profile;

/// Cells in a page.
const PAGE: usize = 1 << 12;

/// The number of pages at the end of the address space with direct access: stacks grow down from there.
const TOP: usize = 1 << 8;

type Page = Box<[u64; PAGE]>;

/// The cells beyond the memory, and which cells hold instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    /// For each address of the code, whether it holds an instruction.
    code: Vec<bool>,
    /// The last pages of the address space, from the end downward.
    top: Vec<Option<Page>>,
    /// The other pages, by number.
    pages: BTreeMap<u32, Page>,
}

impl Cells {
    /// The cells of a program before its run. The native profile has none.
    pub(crate) fn of(module: &Module) -> Cells {
        match module.flags.profile {
            Profile::Native => Cells::default(),
            Profile::Pisa => {
                let code = module.code.iter().map(|inst| inst.kind.flow() != Flow::Cell).collect();
                Cells { code, ..Cells::default() }
            }
        }
    }

    /// Whether the program has the profile `pisa`.
    pub(crate) fn is_pisa(&self) -> bool {
        !self.code.is_empty()
    }

    /// Whether a cell holds an instruction.
    #[inline(always)]
    pub(crate) fn is_code(&self, at: u32) -> bool {
        self.code.get(at as usize).copied().unwrap_or(false)
    }

    /// The word in a cell beyond the memory.
    #[inline(never)]
    pub(crate) fn get(&self, at: u32) -> u64 {
        let (page, within) = (at / PAGE as u32, at as usize % PAGE);
        let from_end = (u32::MAX / PAGE as u32 - page) as usize;
        let page = match self.top.get(from_end) {
            Some(page) => page.as_ref(),
            None => self.pages.get(&page),
        };
        page.map_or(0, |page| page[within])
    }

    /// Writes a cell beyond the memory.
    #[inline(never)]
    pub(crate) fn set(&mut self, at: u32, word: u64) {
        let (page, within) = (at / PAGE as u32, at as usize % PAGE);
        let from_end = (u32::MAX / PAGE as u32 - page) as usize;
        let fresh = || Box::new([0; PAGE]);
        let page = if from_end < TOP {
            if from_end >= self.top.len() {
                self.top.resize(from_end + 1, None);
            }
            self.top[from_end].get_or_insert_with(fresh)
        } else {
            self.pages.entry(page).or_insert_with(fresh)
        };
        page[within] = word;
    }

    /// The number of cells beyond the memory for which there is room.
    pub(crate) fn stored(&self) -> usize {
        PAGE * (self.top.iter().flatten().count() + self.pages.len())
    }

    /// The cells beyond the memory that are not zero, by address.
    pub(crate) fn nonzero(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let last = u32::MAX / PAGE as u32;
        let top = self.top.iter().enumerate().rev().filter_map(move |(n, p)| Some((last - n as u32, p.as_ref()?)));
        let pages = self.pages.iter().map(|(n, p)| (*n, p)).chain(top);
        pages.flat_map(|(n, page)| {
            let words = page.iter().enumerate().filter(|(_, w)| **w != 0);
            words.map(move |(k, w)| (n * PAGE as u32 + k as u32, *w))
        })
    }

    /// The number of cells beyond the memory that differ.
    pub(crate) fn difference(&self, other: &Cells) -> u64 {
        let [a, b] = [self, other].map(|cells| cells.nonzero().collect::<BTreeMap<u32, u64>>());
        let changed = a.iter().filter(|(at, word)| b.get(at) != Some(word)).count();
        let new = b.keys().filter(|at| !a.contains_key(at)).count();
        (changed + new) as u64
    }
}
