//! Which places control may reach from an entry, and in which direction the jumps of each pair of branches go of which
//! one is an unconditional `BRA`.
//!
//! In such a pair, the `BRA` jumps if control reaches it from the previous instruction; otherwise the conditional
//! branch does. But whether control reaches it may depend on the directions of other pairs, first of all on those of
//! loops within a loop. Therefore two sets are kept: the places that control certainly reaches whatever the undecided
//! pairs do, which grows; and those that it possibly reaches if undecided pairs jump in both directions, which shrinks.
//! A `BRA` in the first set decides its pair, and so does one that is not in the second. Each decision brings the sets
//! closer together. Pairs that remain undecided jump in both directions.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::shape::{Code, Shape};

/// Control reaches a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Arrival {
    pub(super) at: u32,
    /// True if it comes from the partner of the branch there; false if it comes from the previous instruction.
    pub(super) landed: bool,
}

const fn falls(at: u32) -> Arrival {
    Arrival { at, landed: false }
}

const fn lands(at: u32) -> Arrival {
    Arrival { at, landed: true }
}

/// The successors of an arrival: those that are certain, and one that exists only if an undecided conditional branch
/// jumps.
#[derive(Default)]
struct Successors {
    certain: [Option<Arrival>; 2],
    undecided: Option<Arrival>,
}

/// All arrivals of control in the main program, or in the procedure whose `SWAPBR` is the entry, in the order of
/// addresses.
pub(super) fn arrivals(code: &Code<'_>, entry: u32, main: bool) -> Vec<Arrival> {
    let root = falls(if main { entry } else { entry + 1 });
    let mut reach = Reach {
        code,
        entry,
        main,
        certain: HashSet::new(),
        possible: HashMap::new(),
        taken: HashMap::new(),
        refuted: Vec::new(),
        undecided: Vec::new(),
    };
    if root.at < code.len() {
        reach.mark_certain(root);
        reach.mark_possible(root);
        reach.decide_pairs();
    }
    let mut found: Vec<Arrival> = reach.possible.into_keys().collect();
    found.sort_unstable();
    found
}

struct Reach<'a> {
    code: &'a Code<'a>,
    entry: u32,
    main: bool,
    /// What control certainly reaches.
    certain: HashSet<Arrival>,
    /// What control possibly reaches, each with one predecessor. The chain of predecessors ends at the entry.
    possible: HashMap<Arrival, Option<Arrival>>,
    /// For conditional branches whose partners are `BRA`s: whether they jump there.
    taken: HashMap<u32, bool>,
    /// Those of them that were found not to jump, although `possible` still contains their jumps.
    refuted: Vec<u32>,
    /// All of them that are in `possible`.
    undecided: Vec<u32>,
}

impl Reach<'_> {
    fn next(&self, at: u32) -> Option<Arrival> {
        Some(falls(at)).filter(|_| at != self.entry && at < self.code.len())
    }

    fn successors(&self, from: Arrival) -> Successors {
        let at = from.at;
        let next = || Successors { certain: [self.next(at + 1), None], undecided: None };
        if from.landed {
            return next();
        }
        let always = |at: u32| self.code.test(at).is_always();
        match self.code.shape(at) {
            Ok(Shape::Straight | Shape::Idle | Shape::Call { .. } | Shape::Swap(_)) => next(),
            Ok(Shape::Start) if self.main => next(),
            // The code after a conditional branch is analysed even so, in order to report everything that is refused.
            Err(_) if !always(at) => next(),
            Ok(Shape::Reversed(to)) if to > at => Successors { certain: [self.next(to + 1), None], undecided: None },
            Ok(Shape::Pair(to)) => match (always(at), always(to)) {
                (true, _) => Successors { certain: [Some(lands(to)), None], undecided: None },
                (false, false) => Successors { certain: [self.next(at + 1), Some(lands(to))], undecided: None },
                (false, true) => match self.taken.get(&at) {
                    Some(false) => next(),
                    Some(true) => Successors { certain: [self.next(at + 1), Some(lands(to))], undecided: None },
                    None => Successors { undecided: Some(lands(to)), ..next() },
                },
            },
            Ok(Shape::Reversed(_) | Shape::Start | Shape::Finish | Shape::End(_) | Shape::Cell) | Err(_) => {
                Successors::default()
            }
        }
    }

    /// The conditional branch whose partner is the `BRA` that control reaches.
    fn conditional_partner(&self, arrival: Arrival) -> Option<u32> {
        match self.code.shape(arrival.at) {
            Ok(Shape::Pair(to))
                if !arrival.landed && self.code.test(arrival.at).is_always() && !self.code.test(to).is_always() =>
            {
                Some(to)
            }
            _ => None,
        }
    }

    /// Adds a place and its successors to `certain`.
    fn mark_certain(&mut self, arrival: Arrival) {
        let mut queue = vec![arrival];
        while let Some(arrival) = queue.pop() {
            if !self.certain.insert(arrival) {
                continue;
            }
            if let Some(other) = self.conditional_partner(arrival) {
                self.taken.insert(other, false);
                self.refuted.push(other);
            }
            queue.extend(self.successors(arrival).certain.into_iter().flatten());
        }
    }

    /// Adds a place and its successors to `possible`. Undecided pairs are followed after all others, the most recent
    /// first, so that few places depend on them.
    fn mark_possible(&mut self, root: Arrival) {
        self.possible.insert(root, None);
        let (mut queue, mut open) = (vec![root], Vec::new());
        while let Some(from) = queue.pop() {
            let successors = self.successors(from);
            for to in successors.certain.into_iter().flatten() {
                self.follow(from, to, &mut queue);
            }
            if let Some(to) = successors.undecided {
                self.undecided.push(from.at);
                open.push((from, to));
            }
            while queue.is_empty()
                && let Some((from, to)) = open.pop()
            {
                self.follow(from, to, &mut queue);
            }
        }
    }

    fn follow(&mut self, from: Arrival, to: Arrival, queue: &mut Vec<Arrival>) {
        if let Entry::Vacant(entry) = self.possible.entry(to) {
            entry.insert(Some(from));
            queue.push(to);
        }
    }

    /// Decides pairs until no decision follows from others.
    fn decide_pairs(&mut self) {
        for at in std::mem::take(&mut self.undecided) {
            if let Ok(Shape::Pair(to)) = self.code.shape(at)
                && !self.possible.contains_key(&falls(to))
            {
                self.mark_taken(at, to);
            }
        }
        while let Some(at) = self.refuted.pop() {
            if let Ok(Shape::Pair(to)) = self.code.shape(at) {
                for gone in self.remove(lands(to)) {
                    if let Some(other) = self.conditional_partner(gone) {
                        self.mark_taken(other, gone.at);
                    }
                }
            }
        }
    }

    /// Records that a conditional branch jumps to its partner.
    fn mark_taken(&mut self, at: u32, to: u32) {
        self.taken.insert(at, true);
        if self.certain.contains(&falls(at)) {
            self.mark_certain(lands(to));
        }
    }

    /// Removes the jump of a conditional branch to its partner. Returns what control can no longer reach.
    fn remove(&mut self, landed: Arrival) -> Vec<Arrival> {
        if !self.possible.contains_key(&landed) {
            return Vec::new();
        }
        // The places whose chain of predecessors contains the jump.
        let mut removed = vec![landed];
        let mut n = 0;
        while let Some(&from) = removed.get(n) {
            let Successors { certain, undecided } = self.successors(from);
            removed.extend(
                certain
                    .into_iter()
                    .chain([undecided])
                    .flatten()
                    .filter(|to| self.possible.get(to) == Some(&Some(from))),
            );
            n += 1;
        }
        for arrival in &removed {
            self.possible.remove(arrival);
        }
        // Those of them that control can reach from elsewhere.
        let mut queue = Vec::new();
        for &to in &removed {
            if let Some(from) = self.predecessor(to) {
                self.follow(from, to, &mut queue);
            }
        }
        while let Some(from) = queue.pop() {
            let Successors { certain, undecided } = self.successors(from);
            for to in certain.into_iter().chain([undecided]).flatten() {
                self.follow(from, to, &mut queue);
            }
        }
        removed.retain(|arrival| !self.possible.contains_key(arrival));
        removed
    }

    /// A predecessor in `possible`.
    fn predecessor(&self, to: Arrival) -> Option<Arrival> {
        let from = match (to.landed, to.at.checked_sub(1)) {
            (true, _) => match self.code.shape(to.at) {
                Ok(Shape::Pair(from)) => [Some(falls(from)), None, None],
                _ => return None,
            },
            (false, Some(at)) => {
                let reversed = match self.code.shape(at) {
                    Ok(Shape::Reversed(from)) => Some(falls(from)),
                    _ => None,
                };
                [Some(falls(at)), Some(lands(at)), reversed]
            }
            (false, None) => return None,
        };
        let is_predecessor = |from: &Arrival| {
            let Successors { certain, undecided } = self.successors(*from);
            self.possible.contains_key(from) && (certain.contains(&Some(to)) || undecided == Some(to))
        };
        from.into_iter().flatten().find(is_predecessor)
    }
}
