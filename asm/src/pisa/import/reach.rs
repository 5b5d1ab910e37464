//! Where control may come to from an entry, and which way each pair of branches leads of which one is a `BRA`.
//!
//! Such a pair leads the way of its `BRA` if control comes to that from before, else the way of the other branch; but whether it does may hang on
//! which way other pairs lead, those of loops within a loop first. So two sets are kept: what control comes to whatever the open pairs do, which
//! grows, and what it may come to if they lead both ways, which shrinks. A `BRA` of the first set settles its pair, and so does one that is not in the
//! second; what is settled moves the sets toward each other. Pairs that are open at the end lead both ways.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::flow::{Code, Shape};

/// That control comes to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Arrival {
    pub(super) at: u32,
    /// From the partner of the branch there; else from the instruction before.
    pub(super) landed: bool,
}

const fn falls(at: u32) -> Arrival {
    Arrival { at, landed: false }
}

const fn lands(at: u32) -> Arrival {
    Arrival { at, landed: true }
}

/// What follows an arrival: without a question, and if an open pair leads the way of its branch under a condition.
#[derive(Default)]
struct Successors {
    certain: [Option<Arrival>; 2],
    undecided: Option<Arrival>,
}

/// How control comes to the places of the main program, or of the procedure whose `SWAPBR` is the entry, in the order of addresses.
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
    /// What control comes to.
    certain: HashSet<Arrival>,
    /// What it may come to, each with one arrival that it follows; what is followed back so ends at the entry.
    possible: HashMap<Arrival, Option<Arrival>>,
    /// For branches under a condition whose partners are `BRA`s: whether they lead there.
    taken: HashMap<u32, bool>,
    /// Those of them that were found not to, and that `possible` still follows.
    refuted: Vec<u32>,
    /// All of them that `possible` has found.
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
            // What follows a branch under a condition is looked at, too: all that is refused is told.
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

    /// The branch under a condition whose partner is the `BRA` that control comes to.
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

    /// Control comes to a place, and to what follows.
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

    /// Control may come to a place, and to what follows. Pairs that are open are followed after all others, the last that was found first: so what is
    /// found by way of them is little.
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

    /// Settles pairs as long as one follows from others.
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

    /// A branch under a condition leads to its partner.
    fn mark_taken(&mut self, at: u32, to: u32) {
        self.taken.insert(at, true);
        if self.certain.contains(&falls(at)) {
            self.mark_certain(lands(to));
        }
    }

    /// A branch that may have led to its partner does not: what control cannot come to any more.
    fn remove(&mut self, landed: Arrival) -> Vec<Arrival> {
        if !self.possible.contains_key(&landed) {
            return Vec::new();
        }
        // What was found by way of it.
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
        // Of that, what control comes to in another way.
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

    /// An arrival in `possible` that this one follows.
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
