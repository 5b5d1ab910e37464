//! The state of a machine as terms: registers, memory, what they carry, cells and tapes.

use std::collections::BTreeMap;

use easy_smt::SExpr;
use pendula_isa::arith::Arith;
use pendula_isa::types::Profile;

use crate::terms::Terms;

/// Bits of the addresses of cells.
pub(crate) const CELL: u32 = 32;

/// A memory: what it was, which is a function of addresses of which nothing is known, and what has been written, the latest last.
#[derive(Clone, Debug)]
pub struct Memory {
    name: &'static str,
    address: u32,
    written: Vec<(SExpr, SExpr)>,
}

impl Memory {
    pub(crate) fn unknown(name: &'static str, address: u32) -> Memory {
        Memory { name, address, written: Vec::new() }
    }

    /// What it was at an address.
    fn before(&self, t: &mut Terms, at: SExpr) -> SExpr {
        let (address, word) = (t.sort(self.address), t.sort(t.bits()));
        let value = t.apply(self.name, &[at], (&[address], word));
        t.named(value)
    }

    pub(crate) fn load(&self, t: &mut Terms, at: SExpr) -> SExpr {
        // What has been written to the same term hides all before.
        let last = self.written.iter().rposition(|(to, _)| *to == at);
        let mut value = last.map_or_else(|| self.before(t, at), |n| self.written[n].1);
        for (to, word) in &self.written[last.map_or(0, |n| n + 1)..] {
            let here = t.build().eq(*to, at);
            let either = t.build().ite(here, *word, value);
            value = t.named(either);
        }
        value
    }

    pub(crate) fn store(&mut self, at: SExpr, word: SExpr) {
        self.written.push((at, word));
    }

    /// Whether it is as another is, which was the same once.
    pub(crate) fn is(&self, t: &mut Terms, other: &Memory) -> SExpr {
        let mut places: Vec<SExpr> = self.written.iter().chain(&other.written).map(|(at, _)| *at).collect();
        places.dedup();
        let mut all = t.build().true_();
        for at in places {
            let (a, b) = (self.load(t, at), other.load(t, at));
            if a != b {
                all = t.build().and(all, t.build().eq(a, b));
            }
        }
        all
    }
}

/// A state of the machine, as far as straight-line instructions see it.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// Registers and their gradient words, by number.
    pub(crate) registers: BTreeMap<u8, SExpr>,
    pub(crate) gradients: BTreeMap<u8, SExpr>,
    pub(crate) memory: Memory,
    pub(crate) gradient_memory: Memory,
    pub(crate) cells: Memory,
    pub(crate) output: Memory,
    pub(crate) written: SExpr,
    pub(crate) read: SExpr,
}

/// The words of a state that have names, for counterexamples.
pub(crate) type Named = Vec<(String, SExpr)>;

impl State {
    /// A state of which nothing is known, with these registers.
    pub(crate) fn unknown(t: &mut Terms, registers: &[u8], profile: Profile) -> State {
        let width = t.bits();
        let mut words = |prefix: &str| -> BTreeMap<u8, SExpr> {
            registers.iter().map(|n| (*n, t.unknown(&format!("{prefix}{n}")))).collect()
        };
        let (mut registers, gradients) = (words("r"), words("g_r"));
        if profile == Profile::Native {
            registers.insert(0, t.number(width, 0));
        }
        State {
            registers,
            gradients,
            memory: Memory::unknown("memory", width),
            gradient_memory: Memory::unknown("g_memory", width),
            cells: Memory::unknown("cells", CELL.min(width)),
            output: Memory::unknown("output", width),
            written: t.unknown("written"),
            read: t.unknown("read"),
        }
    }

    /// Whether two states are the same.
    pub(crate) fn is(&self, t: &mut Terms, other: &State) -> SExpr {
        let all = self.registers.iter().zip(&other.registers).chain(self.gradients.iter().zip(&other.gradients));
        let words = all.map(|(a, b)| (*a.1, *b.1)).chain([(self.written, other.written), (self.read, other.read)]);
        let alike =
            self.registers.keys().eq(other.registers.keys()) && self.gradients.keys().eq(other.gradients.keys());
        let mut equal = if alike { t.build().true_() } else { t.build().false_() };
        for (a, b) in words.filter(|(a, b)| a != b).collect::<Vec<_>>() {
            equal = t.build().and(equal, t.build().eq(a, b));
        }
        let memories = [
            (&self.memory, &other.memory),
            (&self.gradient_memory, &other.gradient_memory),
            (&self.cells, &other.cells),
            (&self.output, &other.output),
        ];
        for (a, b) in memories {
            let same = a.is(t, b);
            equal = t.build().and(equal, same);
        }
        t.condition(equal)
    }

    /// Its words, with names.
    pub(crate) fn named(&self) -> Named {
        self.registers.iter().map(|(n, word)| (format!("r{n}"), *word)).collect()
    }
}
