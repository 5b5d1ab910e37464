//! Adders by name, and the carries of those that look ahead: parallel prefixes.
//!
//! The carry into a place is the *generate* bit of all places below it: g of one place is x ∧ z, that it makes a carry; p is x ⊕ z, that it hands
//! one on. Two neighbouring groups make one, (g, p) ∘ (g′, p′) = (g ∨ p g′, p p′), and as ∘ is associative, an adder may join groups in any
//! order. [`Adder::merges`] is that order. As g and p are never both 1, the disjunction is an exclusive or, which a Toffoli gate makes.

use std::fmt;
use std::str::FromStr;

use super::builder::Builder;
use super::word::{Bit, Word, extended};

/// How words are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Adder {
    /// The carry goes from place to place: Cuccaro, Draper, Kutin and Petrie Moulton, arXiv:quant-ph/0410184 (2004). The fewest gates.
    #[default]
    Ripple,
    /// Carries by a tree, each on the wire of its place: Draper, Kutin, Rains and Svore, A logarithmic-depth quantum carry-lookahead adder,
    /// arXiv:quant-ph/0406142 (2004). About 2 log₂ W levels. Its tree is that of Brent and Kung, so that conventional logic has the same netlist
    /// for both.
    Lookahead,
    /// The tree of Brent and Kung, A regular layout for parallel adders, IEEE Trans. Comput. C-31, 260 (1982), with a wire for each of its
    /// nodes, which are computed, used, and computed backward.
    BrentKung,
    /// The graph of Kogge and Stone, A parallel algorithm for the efficient solution of a general class of recurrence equations, IEEE Trans.
    /// Comput. C-22, 786 (1973), as [`Adder::BrentKung`]: log₂ W levels, and about W nodes on each.
    KoggeStone,
}

/// A name that is no adder's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no adder `{0}`; there are `ripple`, `lookahead`, `brent-kung` and `kogge-stone`")]
pub struct UnknownAdder(pub String);

impl FromStr for Adder {
    type Err = UnknownAdder;
    fn from_str(name: &str) -> Result<Adder, UnknownAdder> {
        Adder::ALL.into_iter().find(|adder| adder.name() == name).ok_or_else(|| UnknownAdder(name.to_string()))
    }
}

impl fmt::Display for Adder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A step of a prefix: the group that ends at one place takes in the one below it, which ends at another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The place at which the group ends.
    pub to: usize,
    /// The place at which the one below it ends.
    pub from: usize,
    /// Whether a later step asks if the whole group hands a carry on.
    pub propagates: bool,
}

impl Adder {
    /// Every adder.
    pub const ALL: [Adder; 4] = [Adder::Ripple, Adder::Lookahead, Adder::BrentKung, Adder::KoggeStone];

    /// The name in technology files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Adder::Ripple => "ripple",
            Adder::Lookahead => "lookahead",
            Adder::BrentKung => "brent-kung",
            Adder::KoggeStone => "kogge-stone",
        }
    }

    /// The steps, one after the other, that make of so many places the groups from the lowest place to each one that is `wanted`.
    pub fn merges(self, places: usize, wanted: impl Fn(usize) -> bool) -> Vec<Merge> {
        let mut pairs = Vec::new();
        match self {
            Adder::Ripple => pairs.extend((1..places).map(|to| (to, to - 1))),
            Adder::Lookahead | Adder::BrentKung => {
                let mut spans: Vec<usize> = (1..usize::BITS).map(|t| 1 << t).take_while(|d| *d <= places).collect();
                for d in &spans {
                    pairs.extend((d - 1..places).step_by(*d).map(|to| (to, to - d / 2)));
                }
                // Down again: half a span behind each whole one.
                spans.insert(0, 1);
                for half in spans.iter().rev() {
                    pairs.extend((3 * half - 1..places).step_by(2 * half).map(|to| (to, to - half)));
                }
            }
            Adder::KoggeStone => {
                let mut d = 1;
                while d < places {
                    // From the top, so that each step finds the groups of the level before.
                    pairs.extend((d..places).rev().map(|to| (to, to - d)));
                    d *= 2;
                }
            }
        }
        // What later steps need, from the last on.
        let mut group: Vec<bool> = (0..places).map(wanted).collect();
        let mut propagates = vec![false; places];
        let mut merges = Vec::with_capacity(pairs.len());
        for (to, from) in pairs.into_iter().rev() {
            if !group[to] && !propagates[to] {
                continue;
            }
            merges.push(Merge { to, from, propagates: propagates[to] });
            group[from] |= group[to];
            propagates[from] |= propagates[to];
            propagates[to] = true;
        }
        merges.reverse();
        merges
    }
}

/// The groups of a sum: for each place, whether it makes a carry, and whether it hands one on.
struct Groups {
    generate: Vec<Bit>,
    propagate: Vec<Bit>,
}

impl Builder {
    /// The groups of single places: of a carry in, if there is one, and of each place of x and z, whose exclusive or is in `unlike`.
    fn groups(&mut self, x: &[Bit], z: &[Bit], unlike: &[Bit], carry_in: Bit) -> Groups {
        let first = (carry_in != Bit::ZERO).then_some(carry_in);
        let made = |(x, z): (&Bit, &Bit)| match (*x, *z) {
            (Bit::ZERO, _) | (_, Bit::ZERO) => Bit::ZERO,
            (Bit::ONE, Bit::ONE) => Bit::ONE,
            (x, z) => self.and(x, z),
        };
        let of_places: Vec<Bit> = x.iter().zip(z).map(made).collect();
        let generate = first.into_iter().chain(of_places).collect();
        let propagate = first.map(|_| Bit::ZERO).into_iter().chain(unlike.iter().copied()).collect();
        Groups { generate, propagate }
    }

    /// Performs a prefix. The lookahead adder joins groups on their wires, the others have a new wire for each node.
    fn prefix(&mut self, groups: &mut Groups, merges: &[Merge]) {
        let in_place = self.adder() == Adder::Lookahead;
        let mut hands_on = Vec::with_capacity(merges.len());
        for Merge { to, from, propagates } in merges.iter().copied() {
            let p = groups.propagate[to];
            hands_on.push(p);
            if propagates {
                groups.propagate[to] = match (p, groups.propagate[from]) {
                    (Bit::ZERO, _) | (_, Bit::ZERO) => Bit::ZERO,
                    (Bit::ONE, bit) | (bit, Bit::ONE) => bit,
                    (p, q) => self.and(p, q),
                };
            }
        }
        for (Merge { to, from, .. }, p) in merges.iter().copied().zip(hands_on) {
            let below = groups.generate[from];
            if p == Bit::ZERO || below == Bit::ZERO {
                continue;
            }
            match groups.generate[to] {
                Bit::ONE => {}
                Bit::ZERO => groups.generate[to] = self.and(p, below),
                g if in_place => self.toffoli(p, below, g),
                g => {
                    let node = self.and(p, below);
                    self.cnot(g, node);
                    groups.generate[to] = node;
                }
            }
        }
    }

    /// The exclusive or, as a value; on the wire of one of them if the other is 0.
    fn unlike(&mut self, x: Bit, z: Bit) -> Bit {
        match (x, z) {
            (Bit::ZERO, bit) | (bit, Bit::ZERO) => bit,
            (Bit::Const(x), Bit::Const(z)) => Bit::Const(x != z),
            (x, z) => {
                let y = self.bit();
                self.cnot(x, y);
                self.cnot(z, y);
                y
            }
        }
    }

    /// The carries of x + z + `carry_in` into the places from 1 to the words' length, as values; those that are not `wanted` mean nothing.
    pub(super) fn carries(&mut self, x: &[Bit], z: &[Bit], carry_in: Bit, wanted: impl Fn(usize) -> bool) -> Vec<Bit> {
        let below = usize::from(carry_in != Bit::ZERO);
        let unlike: Vec<Bit> = x.iter().zip(z).map(|(x, z)| self.unlike(*x, *z)).collect();
        let mut groups = self.groups(x, z, &unlike, carry_in);
        let merges = self.adder().merges(x.len() + below, |group| wanted(group + 1 - below));
        self.prefix(&mut groups, &merges);
        groups.generate.split_off(below)
    }

    /// As [`Builder::add_carry`], by an adder that looks ahead. Of W wires each without carries, by [`Adder::Lookahead`], less than 10W Toffoli,
    /// and about 4 log₂ W levels.
    pub(super) fn add_ahead(&mut self, x: &[Bit], y: &[Bit], carry_in: Bit, carry_out: Option<Bit>) {
        let n = y.len();
        // Without a carry out, the carry of the last place is not needed.
        let places = if carry_out.is_some() { n } else { n.saturating_sub(1) };
        let x = extended(x, n, Bit::ZERO);
        if self.adder() == Adder::Lookahead {
            return self.add_lookahead(&x, y, carry_in, carry_out, places);
        }
        let carries = self.word(places);
        let enter = |b: &mut Builder| {
            b.with(|b| b.carries(&x[..places], &y[..places], carry_in, |_| true), |b, found| b.xor(found, &carries));
        };
        enter(self);
        self.xor(&x, y);
        self.enter_carries(y, carry_in, &carries, carry_out);
        // The carries of x and the complement of the sum are the same.
        self.complement(&y[..places]);
        enter(self);
        self.complement(&y[..places]);
        self.release(&carries);
    }

    /// `y ^= carries`, and `carry_out ^= ` the last of them.
    fn enter_carries(&mut self, y: &[Bit], carry_in: Bit, carries: &[Bit], carry_out: Option<Bit>) {
        self.xor(&Word::from(carry_in).then(carries), y);
        if let Some(out) = carry_out {
            self.cnot(carries.last().copied().unwrap_or(carry_in), out);
        }
    }

    /// The adder of Draper et al. in place. Groups that end at a place are on the wire of its carry, the propagate bits of single places on y.
    fn add_lookahead(&mut self, x: &[Bit], y: &[Bit], carry_in: Bit, carry_out: Option<Bit>, places: usize) {
        let below = usize::from(carry_in != Bit::ZERO);
        let carries = self.word(places);
        let first: Word = std::iter::repeat_n(carry_in, below).collect();
        let merges = self.adder().merges(places + below, |_| true);
        let from = self.mark();
        self.xor_and(x, y, &carries);
        self.xor(&x[..places], y);
        let nodes = self.tree(&merges, &first.then(&carries), &first.then(y), &first.then(x));
        let to = self.mark();
        self.xor(&x[places..], &y[places..]);
        self.enter_carries(y, carry_in, &carries, carry_out);
        // The carries of x and the complement of the sum are the same.
        self.complement(&y[..places]);
        self.xor(&x[..places], y);
        self.undo(from, to);
        self.complement(&y[..places]);
        self.release(&nodes);
        self.release(&carries);
    }

    /// Joins groups on their wires. The wires of those that hand a carry on are zero again at its end; they are not released.
    fn tree(&mut self, merges: &[Merge], groups: &[Bit], propagate: &[Bit], x: &[Bit]) -> Word {
        let mut propagate = propagate.to_vec();
        // Groups of known zeros make no carry, whatever the other word is; one of a carry in may.
        let mut silent: Vec<bool> = x.iter().map(|x| *x == Bit::ZERO).collect();
        // Which groups hand a carry on first: then that is known when the carries come.
        let at = self.mark();
        let mut nodes = Vec::new();
        let mut joins = Vec::with_capacity(merges.len());
        for Merge { to, from, propagates } in merges.iter().copied() {
            joins.push((propagate[to], from, to));
            if propagates {
                propagate[to] = self.and(propagate[to], propagate[from]);
                nodes.push(propagate[to]);
            }
        }
        let made = self.mark();
        for (p, from, to) in joins {
            if !silent[from] {
                self.toffoli(p, groups[from], groups[to]);
                silent[to] = false;
            }
        }
        self.undo(at, made);
        nodes.into_iter().collect()
    }

    /// The low `bits` bits of x + z, as a value, by an adder that looks ahead.
    pub(super) fn sum_ahead(&mut self, x: &[Bit], z: &[Bit], bits: usize) -> Word {
        let (x, z) = (extended(x, bits, Bit::ZERO), extended(z, bits, Bit::ZERO));
        let places = bits.saturating_sub(1);
        let sum = self.word(bits);
        self.xor(&x, &sum);
        self.xor(&z, &sum);
        let mut groups = self.groups(&x[..places], &z[..places], &sum[..places], Bit::ZERO);
        let merges = self.adder().merges(places, |_| true);
        self.prefix(&mut groups, &merges);
        self.xor(&groups.generate, &sum[1..]);
        sum
    }
}
