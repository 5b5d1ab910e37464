//! Prints loops whose turns are made in strips.

use std::mem::discriminant;

use super::expr::{Expr, Prec};
use super::function::{FunctionPrinter, MEMORY};
use crate::loops::{Added, BLOCK, Count, Look, Scattered, Step, Strips, Word};
use pendula_isa::adjoint::VALUE;

/// How many turns a strip has at most in which turns add to words of other turns: the words that one statement writes are to have reached the cache
/// before the next one reads them, a place further on.
const LONG: i64 = 64;

/// What strips of a loop are called.
struct Strip {
    /// The first turn of the strip.
    at: String,
    /// How many turns it has.
    turns: String,
    /// Whether the loop counts down.
    back: bool,
}

impl Strip {
    /// The head of a loop over the turns of a strip, in the order of memory.
    fn head(&self) -> String {
        format!("for (int nth = 0; nth < {}; nth++) {{", self.turns)
    }

    /// What counts in the turn that stands at `nth`.
    fn counter(&self) -> String {
        let Strip { at, turns, .. } = self;
        if self.back { format!("{at} - ({turns} - 1) + nth") } else { format!("{at} + nth") }
    }
}

impl FunctionPrinter<'_> {
    /// The turns of a loop in strips as long as there are so many, and then the others.
    pub(super) fn strips(&mut self, count: &Count, strips: &Strips, from: &Expr, to: &Expr) {
        let Step::Const(step) = count.step else { return };
        let n = self.number();
        let (at, noted, back) = (format!("at_{n}"), format!("noted_{n}"), step < 0);
        let (left, sign, change) = if back {
            (format!("{at} - {}", to.at(Prec::Product)), ">=", "--")
        } else {
            (format!("{} - {at}", to.text), "<=", "++")
        };
        let is_long = !strips.scattered.is_empty();
        let turns = if is_long { format!("strip_{n}") } else { BLOCK.to_string() };
        let strip = Strip { at: at.clone(), turns, back };
        let (fours, others) = side_by_side(&strips.added);
        self.text.line(&format!("int64_t {at} = {};", from.text));
        let enough = format!("{at} {sign} {} && (word)({left}) >= {}", to.text, BLOCK - 1);
        self.text.open(&format!("if ({enough}) {{"));
        let sums = self.begin_fours(&fours, &noted);
        self.text.open(&format!("while ({enough}) {{"));
        if let Some(mark) = count.mark {
            self.watches = true;
            self.text.line(&format!("WATCH({}, {}, {at}, {}, {step});", mark.0, from.text, to.text));
        }
        if is_long {
            let turns = &strip.turns;
            self.text.line(&format!(
                "const int {turns} = (word)({left}) >= {LONG} ? {LONG} : ({left} + 1) / {BLOCK} * {BLOCK};"
            ));
        }
        self.strip(count, strips, &strip);
        for (four, sums) in fours.iter().zip(&sums) {
            self.add_four(four, sums, &noted, &strip);
        }
        if !others.is_empty() {
            self.text.open(&strip.head());
            let nth = if back { format!("{} - 1 - nth", strip.turns) } else { "nth".to_string() };
            for added in &others {
                let to = self.word(added.to).text;
                let part = format!("{}[{nth}]", self.name(VALUE, added.parts[1]));
                self.add(&to, added, &part);
            }
            self.text.close("}");
        }
        self.scattered(&strips.scattered, &strip, from, step);
        self.text.line(&format!("{at} {}= {};", if back { "-" } else { "+" }, strip.turns));
        self.text.close("}");
        self.end_fours(&fours, &sums, &noted);
        self.text.close("}");
        let name = self.name(VALUE, count.var);
        self.text.open(&format!("for (int64_t {name} = {at}; {name} {sign} {}; {name}{change}) {{", to.text));
        self.statements(&count.body);
        self.text.close("}");
    }

    /// The turns of a loop one after the other. What each adds to several sums is added to vectors of them.
    pub(super) fn one_turn_at_a_time(
        &mut self,
        count: &Count,
        strips: &Strips,
        head: &str,
        (from, to): (&Expr, &Expr),
    ) {
        let noted = format!("noted_{}", self.number());
        let (fours, others) = side_by_side(&strips.added);
        self.text.open("{");
        let sums = self.begin_fours(&fours, &noted);
        self.text.open(head);
        if let (Some(mark), Step::Const(step)) = (count.mark, count.step) {
            self.watches = true;
            let turn = self.name(VALUE, count.var);
            self.text.line(&format!("WATCH({}, {}, {turn}, {}, {step});", mark.0, from.text, to.text));
        }
        for added in &strips.added {
            let part = self.name(VALUE, added.parts[0]);
            self.text.line(&format!("double {part};"));
        }
        self.statements(&strips.body);
        for (four, sums) in fours.iter().zip(&sums) {
            let (look, limits) = self.look_at(four);
            for round in 0..four.rounds() {
                // Nothing to add: a number and -0 make the number.
                let nothing = || "-0.0".to_string();
                let part = |sum: &SumOfTurns| match sum.parts.get(round) {
                    Some(added) => self.name(VALUE, added.parts[0]),
                    None => nothing(),
                };
                let mut parts: Vec<String> = four.sums.iter().map(part).collect();
                parts.resize_with(4, nothing);
                let parts = parts.join(", ");
                self.text.line(&format!("add_turn(&{sums}, (four){{{parts}}}, {look}, {limits}, &{noted});"));
            }
        }
        for added in &others {
            let (to, part) = (self.word(added.to).text, self.name(VALUE, added.parts[0]));
            self.add(&to, added, &part);
        }
        self.text.close("}");
        self.end_fours(&fours, &sums, &noted);
        self.text.close("}");
    }

    /// Takes sums into vectors, which it names.
    fn begin_fours(&mut self, fours: &[Four], noted: &str) -> Vec<String> {
        let sums: Vec<String> = fours.iter().map(|_| format!("sums_{}", self.number())).collect();
        for (four, sums) in fours.iter().zip(&sums) {
            let words: Vec<String> = four.sums.iter().map(|sum| self.word(sum.to).text).collect();
            self.text.line(&format!("four {sums} = {{{}}};", words.join(", ")));
        }
        if !fours.is_empty() {
            self.text.line(&format!("four_words {noted} = {{0}};"));
        }
        sums
    }

    /// Takes sums back from vectors.
    fn end_fours(&mut self, fours: &[Four], sums: &[String], noted: &str) {
        for (four, sums) in fours.iter().zip(sums) {
            for (n, sum) in four.sums.iter().enumerate() {
                let to = self.word(sum.to).text;
                self.text.line(&format!("{to} = {sums}[{n}];"));
            }
        }
        if !fours.is_empty() {
            self.text.line(&format!("odd |= {noted}[0] | {noted}[1] | {noted}[2] | {noted}[3];"));
        }
    }

    /// What is looked at in four sums, and their limits.
    fn look_at(&mut self, four: &Four) -> (&'static str, String) {
        let look = match four.sums[0].look {
            Look::No => "NO_LOOK",
            Look::Finite => "LOOK_FINITE",
            Look::Within(_) => "LOOK_WITHIN",
        };
        let mut limits = Vec::new();
        for sum in &four.sums {
            limits.push(match sum.look {
                Look::Within(limit) => self.integer(limit).text,
                Look::No | Look::Finite => "0".to_string(),
            });
        }
        // The sum of nothing is within any limit.
        limits.resize(4, "0".to_string());
        (look, format!("(four_words){{{}}}", limits.join(", ")))
    }

    /// What the turns of a strip compute.
    fn strip(&mut self, count: &Count, strips: &Strips, strip: &Strip) {
        let all = strips.added.iter().chain(strips.scattered.iter().map(|s| &s.added));
        let parts: Vec<[String; 2]> = all.map(|added| added.parts.map(|local| self.name(VALUE, local))).collect();
        let room = if strips.scattered.is_empty() { BLOCK } else { LONG };
        for [_, parts] in &parts {
            self.text.line(&format!("double {parts}[{room}];"));
        }
        self.text.line("IVDEP");
        self.text.open(&strip.head());
        let name = self.name(VALUE, count.var);
        self.text.line(&format!("const int64_t {name} = {};", strip.counter()));
        for [part, _] in &parts {
            self.text.line(&format!("double {part};"));
        }
        self.statements(&strips.body);
        for [part, parts] in &parts {
            self.text.line(&format!("{parts}[nth] = {part};"));
        }
        self.text.close("}");
    }

    /// Adds to four sums what the turns of a strip add.
    fn add_four(&mut self, four: &Four, sums: &str, noted: &str, strip: &Strip) {
        let (look, limits) = self.look_at(four);
        let rounds = four.rounds();
        let nothing = || "nothing".to_string();
        let round = |round: usize| {
            let mut parts: Vec<String> = Vec::new();
            for sum in &four.sums {
                parts.push(sum.parts.get(round).map_or_else(nothing, |added| self.name(VALUE, added.parts[1])));
            }
            parts.resize_with(4, nothing);
            format!("{{{}}}", parts.join(", "))
        };
        let parts: Vec<String> = (0..rounds).map(round).collect();
        let is_long = strip.turns != BLOCK.to_string();
        let at = match (is_long, strip.back) {
            (false, _) => "0".to_string(),
            (true, false) => "nth".to_string(),
            (true, true) => format!("{} - {BLOCK} - nth", strip.turns),
        };
        self.text.open("{");
        self.text.line(&format!("const double *const all[{rounds}][4] = {{{}}};", parts.join(", ")));
        if is_long {
            self.text.open(&format!("for (int nth = 0; nth < {}; nth += {BLOCK}) {{", strip.turns));
        }
        let back = i64::from(strip.back);
        self.text.line(&format!("add_turns(&{sums}, all, {rounds}, {at}, {back}, {look}, {limits}, &{noted});"));
        if is_long {
            self.text.close("}");
        }
        self.text.close("}");
    }

    /// Adds to words of memory what the turns of a strip add, one statement after the other.
    fn scattered(&mut self, mut scattered: &[Scattered], strip: &Strip, from: &Expr, step: i64) {
        while let Some(Scattered { added: first, region, at: course }) = scattered.first() {
            let same = |s: &&Scattered| (s.region, s.added.to.lane, &s.at) == (*region, first.to.lane, course);
            let (group, rest) = scattered.split_at(scattered.iter().take_while(same).count());
            scattered = rest;
            // It goes on with what counts, or the other way.
            let sign = if course.step.as_constant() == Some(step) { "+" } else { "-" };
            let (begin, turn) = (self.sum(&course.first), strip.counter());
            let place = format!("{begin} {sign} ({turn} - {})", from.at(Prec::Product));
            let to = format!("{}({place})", MEMORY[first.to.lane][1]);
            self.text.line("IVDEP");
            self.text.open(&strip.head());
            for s in group {
                let part = format!("{}[nth]", self.name(VALUE, s.added.parts[1]));
                self.add(&to, &s.added, &part);
            }
            self.text.close("}");
        }
    }

    /// Adds to a word what a turn adds, and looks at it.
    fn add(&mut self, to: &str, added: &Added, part: &str) {
        self.text.line(&format!("{to} += {part};"));
        match added.look {
            Look::No => {}
            Look::Finite => self.text.line(&format!("CHECK({to});")),
            Look::Within(limit) => {
                let limit = self.integer(limit).text;
                self.text.line(&format!("WITHIN({to}, {limit});"));
            }
        }
    }
}

/// Sums to which vectors are added, at most four.
struct Four {
    sums: Vec<SumOfTurns>,
}

impl Four {
    /// How often turns add to a sum, at most.
    fn rounds(&self) -> usize {
        self.sums.iter().map(|sum| sum.parts.len()).max().unwrap_or(1)
    }
}

/// A sum, and what a turn adds to it: one part after the other.
struct SumOfTurns {
    to: Word,
    parts: Vec<Added>,
    look: Look,
}

/// The least number of sums for which vectors are worth it, and the most that a turn may add to each.
const FEWEST: usize = 3;
const ROUNDS: usize = 4;

/// Four sums at a time of which the same is looked at, perhaps with other limits; and what is added to all other ones.
fn side_by_side(all: &[Added]) -> (Vec<Four>, Vec<Added>) {
    let mut sums: Vec<SumOfTurns> = Vec::new();
    for added in all {
        match sums.iter_mut().find(|sum| sum.to == added.to) {
            Some(sum) => {
                sum.parts.push(*added);
                // Once a sum is not finite, it stays so.
                sum.look = match (sum.look, added.look) {
                    (Look::No, Look::Finite) => Look::Finite,
                    (look, _) => look,
                };
            }
            None => sums.push(SumOfTurns { to: added.to, parts: vec![*added], look: added.look }),
        }
    }
    let is_limited = |to: Word| all.iter().filter(|a| a.to == to).any(|a| matches!(a.look, Look::Within(_)));
    sums.retain(|sum| sum.parts.len() == 1 || sum.parts.len() <= ROUNDS && !is_limited(sum.to));
    let mut fours: Vec<Four> = Vec::new();
    for sum in sums {
        let fits =
            |four: &&mut Four| four.sums.len() < 4 && discriminant(&four.sums[0].look) == discriminant(&sum.look);
        match fours.iter_mut().find(fits) {
            Some(four) => four.sums.push(sum),
            None => fours.push(Four { sums: vec![sum] }),
        }
    }
    fours.retain(|four| four.sums.len() >= FEWEST);
    let is_in_vectors = |to: Word| fours.iter().any(|four| four.sums.iter().any(|sum| sum.to == to));
    let others = all.iter().filter(|added| !is_in_vectors(added.to)).copied().collect();
    (fours, others)
}
