//! Names for the contents of words: how they were computed from words with unknown contents. Undoing a computation
//! gives the earlier name again.

use pendula_isa::inst::Kind;
use pendula_isa::operand::OPERANDS;
use pendula_isa::table::{ARITY, TableFn};
use pendula_isa::types::{Acc, Ty};
use rustc_hash::FxHashMap;

/// The contents of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Name(u32);

impl Name {
    /// Zero.
    pub(super) const ZERO: Name = Name(0);
}

/// How many of the latest sums are searched for the one that is taken back.
const REACH: usize = 16;

/// The contents of an instruction's operands; only as many are used as it has.
pub(super) type SlotNames = [Name; OPERANDS];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Made {
    Unknown,
    Constant(u64),
    /// Computed by `old ⊕= f(arguments)`.
    Accumulated {
        old: Name,
        acc: Acc,
        inverse: bool,
        func: TableFn,
        arguments: [Name; ARITY],
    },
    /// The result of operand `n`.
    Changed {
        kind: Kind,
        operands: SlotNames,
        n: u8,
    },
}

/// The most names of the same contents that are kept.
const SAME: usize = 8;

/// All names so far.
pub(super) struct Names {
    made: Vec<Made>,
    known: FxHashMap<Made, Name>,
    /// Of names whose contents were found to be equal to others: the one that stands for all of them.
    same: FxHashMap<Name, Name>,
    /// All names that each such name stands for, itself among them.
    classes: FxHashMap<Name, Vec<Name>>,
}

impl Default for Names {
    fn default() -> Names {
        let zero = Made::Constant(0);
        Names {
            made: vec![zero],
            known: FxHashMap::from_iter([(zero, Name::ZERO)]),
            same: FxHashMap::default(),
            classes: FxHashMap::default(),
        }
    }
}

impl Names {
    pub(super) fn count(&self) -> usize {
        self.made.len()
    }

    /// A new name for unknown contents.
    pub(super) fn unknown(&mut self) -> Name {
        self.made.push(Made::Unknown);
        Name(self.made.len() as u32 - 1)
    }

    pub(super) fn constant(&mut self, word: u64) -> Name {
        self.named(Made::Constant(word))
    }

    fn named(&mut self, made: Made) -> Name {
        if let Some(name) = self.known.get(&made) {
            return *name;
        }
        let name = Name(self.made.len() as u32);
        self.made.push(made);
        self.known.insert(made, name);
        name
    }

    /// Records that two names are of the same contents, as a comparison has found.
    pub(super) fn equal(&mut self, a: Name, b: Name) {
        let (a, b) = (self.canonical(a), self.canonical(b));
        let (least, other) = if self.rank(a) <= self.rank(b) { (a, b) } else { (b, a) };
        if least == other {
            return;
        }
        let of_other = self.classes.remove(&other).unwrap_or_else(|| vec![other]);
        of_other.iter().for_each(|name| _ = self.same.insert(*name, least));
        let class = self.classes.entry(least).or_insert_with(|| vec![least]);
        class.extend(of_other);
        class.truncate(SAME);
    }

    /// Whether contents are the same for all inputs.
    pub(super) fn is_constant(&self, name: Name) -> bool {
        matches!(self.made[self.canonical(name).0 as usize], Made::Constant(_))
    }

    /// The name that stands for all names of the same contents.
    pub(super) fn canonical(&self, name: Name) -> Name {
        self.same.get(&name).copied().unwrap_or(name)
    }

    fn are_equal(&self, a: &[Name], b: &[Name]) -> bool {
        a == b || (!self.same.is_empty() && a.iter().zip(b).all(|(a, b)| self.canonical(*a) == self.canonical(*b)))
    }

    /// How the contents of a name were made, by each of the names that they have.
    fn ways(&self, name: Name) -> impl Iterator<Item = Made> + '_ {
        let class = self.classes.get(&self.canonical(name)).map_or(&[][..], |class| &class[..]);
        std::iter::once(name).chain(class.iter().copied().filter(move |n| *n != name)).map(|n| self.made[n.0 as usize])
    }

    /// The less, the more is known of a name.
    fn rank(&self, name: Name) -> (u8, Name) {
        let rank = match self.made[name.0 as usize] {
            Made::Constant(_) => 0,
            Made::Unknown => 1,
            Made::Accumulated { .. } | Made::Changed { .. } => 2,
        };
        (rank, name)
    }

    /// The contents of a word after `old ⊕= f(arguments)`, or after its inverse, and whether that takes back an earlier instruction. Of
    /// doubles it may do so but for rounding.
    pub(super) fn accumulated(
        &mut self,
        old: Name,
        acc: Acc,
        inverse: bool,
        func: TableFn,
        arguments: [Name; ARITY],
    ) -> (Name, bool) {
        let ty = func.info().ty;
        // Sums of these types are exact and commute, so they can be taken back in any order. Other sums can be taken
        // back only in the opposite order, and a sum of doubles only if it was the first.
        let exact = acc == Acc::Xor || (acc == Acc::Add && matches!(ty, Ty::Int | Ty::Q));
        if exact && func.info().name.is_empty() {
            let [x, ..] = arguments;
            if self.canonical(x) == Name::ZERO {
                return (old, true);
            }
            if self.canonical(old) == Name::ZERO && !inverse {
                return (x, false);
            }
            if self.are_equal(&[old], &[x]) && (inverse || acc == Acc::Xor) {
                return (Name::ZERO, true);
            }
        }
        let mut above = Vec::new();
        let mut name = old;
        while above.len() < if exact { REACH } else { 1 } {
            let sum = self.ways(name).find(|made| {
                matches!(made, Made::Accumulated { acc: other, func: f, .. } if *other == acc && f.info().ty == ty)
            });
            let Some(Made::Accumulated { old: below, inverse: back, func: f, arguments: x, .. }) = sum else { break };
            let opposite = acc.self_inverse() || back != inverse;
            let returns = acc == Acc::Xor || ty != Ty::F || self.canonical(below) == Name::ZERO;
            let same = opposite && f == func && self.are_equal(&x, &arguments);
            if same && !returns {
                return (self.named(Made::Accumulated { old, acc, inverse, func, arguments }), true);
            }
            if same {
                // Applies the later sums to the value before the one that was taken back.
                let mut rest = below;
                for made in above.into_iter().rev() {
                    if let Some(Made::Accumulated { acc, inverse, func, arguments, .. }) = made {
                        rest = self.named(Made::Accumulated { old: rest, acc, inverse, func, arguments });
                    }
                }
                return (rest, true);
            }
            above.push(sum);
            name = below;
        }
        (self.named(Made::Accumulated { old, acc, inverse, func, arguments }), false)
    }

    /// The contents of an instruction's operands after it, and whether it takes back an earlier one; it writes only some of them. The
    /// inverse restores the earlier names.
    pub(super) fn changed(&mut self, kind: Kind, operands: SlotNames, written: [bool; OPERANDS]) -> (SlotNames, bool) {
        if let Some(back) = self.before(kind, operands, written) {
            return (back, true);
        }
        let mut out = operands;
        for (n, new) in out.iter_mut().enumerate().filter(|(n, _)| written[*n]) {
            *new = self.named(Made::Changed { kind, operands, n: n as u8 });
        }
        (out, false)
    }

    /// The operands' earlier contents, if the instruction is the inverse of the one that ran last on them.
    fn before(&self, kind: Kind, operands: SlotNames, written: [bool; OPERANDS]) -> Option<SlotNames> {
        // Rotated doubles are not restored exactly; a changed sign is.
        let rounds = |kind: Kind| match kind {
            Kind::Row { ty, .. } => ty == Ty::F,
            Kind::Accumulate { acc, func, .. } => acc != Acc::Xor && func.info().ty == Ty::F,
            Kind::Extension { .. } => true,
        };
        let inexact = match kind {
            Kind::Row { .. } => rounds(kind) && kind.inverse() != kind,
            Kind::Extension { extension, .. } => extension.info().steps[0].iter().any(|step| rounds(step.kind)),
            Kind::Accumulate { .. } => true,
        };
        if inexact {
            return None;
        }
        let undone = kind.inverse();
        let changed = |n: usize| {
            self.ways(operands[n]).filter_map(move |made| match made {
                Made::Changed { kind: other, operands, n: m } if other == undone && usize::from(m) == n => {
                    Some(operands)
                }
                Made::Changed { .. } | Made::Accumulated { .. } | Made::Unknown | Made::Constant(_) => None,
            })
        };
        let old = changed(written.iter().position(|w| *w)?).next()?;
        let led = (0..operands.len()).all(|n| match written[n] {
            true => changed(n).any(|other| other == old),
            false => self.are_equal(&[old[n]], &[operands[n]]),
        });
        led.then_some(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pendula_isa::mnemonic;

    fn sum(text: &str) -> (Acc, bool, TableFn) {
        match mnemonic::lookup(text) {
            Some(Kind::Accumulate { acc, inverse, func, .. }) => (acc, inverse, func),
            other => panic!("{other:?}"),
        }
    }

    fn after(names: &mut Names, old: Name, text: &str, arguments: &[Name]) -> Name {
        let (acc, inverse, func) = sum(text);
        let mut all = [Name::ZERO; ARITY];
        all[..arguments.len()].copy_from_slice(arguments);
        names.accumulated(old, acc, inverse, func, all).0
    }

    #[test]
    fn what_is_taken_back_leads_back() {
        let mut names = Names::default();
        let (y, a, b) = (names.unknown(), names.unknown(), names.unknown());
        for (there, back) in
            [("addmul", "submul"), ("addmul.q", "submul.q"), ("xormul.f", "xormul.f"), ("mul.l", "div.l")]
        {
            let arguments = if there == "mul.l" { vec![a] } else { vec![a, b] };
            let new = after(&mut names, y, there, &arguments);
            assert!(new != y && new != Name::ZERO);
            assert_eq!(after(&mut names, new, back, &arguments), y, "{there}");
        }
        // Exact sums can be taken back in any order.
        let one = after(&mut names, y, "add", &[a]);
        let two = after(&mut names, one, "add", &[b]);
        let only_b = after(&mut names, two, "sub", &[a]);
        assert_eq!(only_b, after(&mut names, y, "add", &[b]));
        assert_eq!(after(&mut names, only_b, "sub", &[b]), y);
        // A sum of doubles can be taken back only if it began at zero.
        let new = after(&mut names, y, "add.f", &[a]);
        assert_ne!(after(&mut names, new, "sub.f", &[a]), y);
        let new = after(&mut names, Name::ZERO, "add.f", &[a]);
        assert_eq!(after(&mut names, new, "sub.f", &[a]), Name::ZERO);
        // A copy has the name of its original; taking the copy back leaves zero.
        let copy = after(&mut names, Name::ZERO, "add", &[a]);
        assert_eq!((copy, after(&mut names, copy, "sub", &[a])), (a, Name::ZERO));
        assert_ne!(after(&mut names, a, "sub", &[b]), Name::ZERO);
    }

    #[test]
    fn other_instructions_lead_back_too() {
        let mut names = Names::default();
        let (y, n, buffer) = (names.unknown(), names.unknown(), names.unknown());
        let kind = |text: &str| mnemonic::lookup(text).expect("a mnemonic");
        for (there, back) in [("inc", "dec"), ("neg.f", "neg.f"), ("not", "not")] {
            let one = std::array::from_fn(|n| n == 0);
            let (new, back_already) = names.changed(kind(there), held(&[y]), one);
            assert!(!back_already);
            assert_ne!(new[0], y);
            let (old, led_back) = names.changed(kind(back), new, one);
            assert!(old[0] == y && led_back, "{there}");
        }
        let both = std::array::from_fn(|n| n < 2);
        let (there, _) = names.changed(kind("rmul"), held(&[y, buffer, n, n]), both);
        assert_eq!(names.changed(kind("rdiv"), there, both), (held(&[y, buffer, n, n]), true));
        let other = names.unknown();
        assert_ne!(names.changed(kind("rdiv"), held(&[there[0], there[1], n, other]), both).0[0], y);
        let (point, _) = names.changed(kind("rot.f"), held(&[y, buffer, n]), both);
        assert_ne!(names.changed(kind("irot.f"), point, both).0[0], y);
    }

    fn held(names: &[Name]) -> SlotNames {
        let mut out = [Name::ZERO; OPERANDS];
        out[..names.len()].copy_from_slice(names);
        out
    }
}
