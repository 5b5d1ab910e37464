//! Prints loops that count, with what is checked before them.

use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

use super::chains::chained;
use super::expr::{Expr, Kind, Prec};
use super::function::{FunctionPrinter, c_type};
use super::text::WORDS;
use crate::loops::{
    Apart, BLOCK, Blocks, Bound, Check, Count, Jammed, Kept, Scope, Step, Stmt, Sum, TURNS, Turns, Value, Word,
    has_any_order, is_short, limited_sums, writes_memory,
};

/// Steps that are small enough for [`TURNS`] of them.
const SMALL: i64 = 1 << 20;

impl FunctionPrinter<'_> {
    pub(super) fn count_loop(&mut self, count: &Count) {
        self.text.open("{");
        let from = self.bound(count.first);
        let to = self.bound(count.last);
        let (head, turns) = self.loop_head(count, &from, &to);
        let runs = match count.step {
            Step::Const(k) if k < 0 => format!("if ({} >= {}) {{", from.text, to.text),
            Step::Const(_) | Step::Kept { .. } => format!("if ({} <= {}) {{", from.text, to.text),
        };
        for (local, limit) in &count.limits {
            let limit = self.integer(*limit);
            let name = self.name(VALUE, *local);
            self.text.line(&format!("const int64_t {name} = DIVIDED({}, {turns});", limit.text));
        }
        let (read, write) = self.keep(&count.kept);
        if !count.checks.is_empty() || !read.is_empty() {
            self.text.open(&runs);
            if count.checks.iter().any(Check::counts_turns) {
                self.text.line(&format!("const word turns = {turns};"));
            }
            if !count.checks.is_empty() {
                let checks: Vec<String> = count.checks.iter().map(|c| self.check(c)).collect();
                let indent = format!("\n{}", "    ".repeat(self.text.indent));
                let checks = checks.join("\n        || ").replace('\n', &indent);
                self.text.line(&format!("if (UNLIKELY({checks}))"));
                self.text.line("    return 1;");
            }
            read.iter().for_each(|line| self.text.line(line));
            self.text.close("}");
        }
        let flows = self.flows(&count.flows_from);
        let outer = self.chained.clone();
        self.chained.extend(chained(count));
        if let Some(flows) = &flows {
            self.text.open(&format!("if ({flows}) {{"));
        }
        let mut alone = Vec::new();
        for (flows, body) in &count.one_by_one {
            alone.extend(self.flows(flows).map(|flows| (flows, body)));
        }
        if !alone.is_empty() {
            let all: Vec<String> = alone.iter().map(|(flows, _)| format!("({flows})")).collect();
            self.text.open(&format!("if ({}) {{", all.join(" && ")));
        }
        match (&count.blocks, &count.products, &count.jammed, &count.strips) {
            (Some(blocks), ..) => self.blocks(count, blocks, (&from, &to, &turns)),
            (None, Some(products), ..) => self.products(count, products, &from, &to),
            (None, None, Some(jammed), _) => self.jammed(count, jammed, &from, &to),
            (None, None, None, Some(strips)) if count.one_turn => {
                self.one_turn_at_a_time(count, strips, &head, (&from, &to))
            }
            (None, None, None, Some(strips)) => self.strips(count, strips, &from, &to),
            (None, None, None, None) if alone.is_empty() => {
                self.with_peaks(count, |p| p.turns(count, &from, &to, &head));
            }
            (None, None, None, None) => self.turns(count, &from, &to, &head),
        }
        if !alone.is_empty() {
            self.text.close("} else {");
            self.text.indent += 1;
            for (flows, body) in alone {
                self.text.open(&format!("if ({flows}) {{"));
                self.independent_turns(count, body, &head, Vec::new());
                self.text.close("}");
            }
            self.text.close("}");
        }
        if flows.is_some() {
            self.text.close("}");
        }
        self.chained = outer;
        for (local, limit) in &count.limits_after {
            let (name, limit) = (self.name(VALUE, *local), self.integer(*limit));
            self.text.line(&format!("WITHIN({name}, {});", limit.text));
        }
        if !write.is_empty() {
            self.text.open(&runs);
            write.iter().for_each(|line| self.text.line(line));
            self.text.close("}");
        }
        if self.f.local(count.var).scope != Scope::Stmt {
            let name = self.name(VALUE, count.var);
            self.text.line(&format!("{name} = 0;"));
        }
        for (bound, kept) in [(count.first, &from), (count.last, &to)] {
            // The body changes no bound in the end.
            if let Bound::Kept(_, place) = bound {
                let now = self.integer(Value::Place(place));
                self.text.line(&format!("bad |= {} != {};", now.at(Prec::Sum), kept.text));
            }
        }
        self.text.close("}");
    }

    /// A loop, printed by `turns`, of which sums in variables are compared with their limits once, after it.
    fn with_peaks(&mut self, count: &Count, turns: impl FnOnce(&mut Self)) {
        let sums = limited_sums(count);
        let peaks: Vec<String> = sums.iter().map(|_| format!("peak_{}", self.number())).collect();
        peaks.iter().for_each(|peak| self.text.line(&format!("double {peak} = 0;")));
        let all = sums.iter().map(|(local, _)| *local).zip(peaks.iter().cloned()).collect();
        let outer = std::mem::replace(&mut self.peaks, all);
        turns(self);
        self.peaks = outer;
        for ((local, limit), peak) in sums.iter().zip(peaks) {
            let (name, limit) = (self.name(VALUE, *local), self.integer(*limit));
            for x in [&name, &peak] {
                self.text.line(&format!("WITHIN({x}, {});", limit.text));
            }
        }
    }

    /// The loop itself. One with a mark that contains nothing but operations is made in parts, between which it can be asked where it is.
    fn turns(&mut self, count: &Count, from: &Expr, to: &Expr, head: &str) {
        let (name, watched) = (self.name(VALUE, count.var), count.mark.map(|mark| mark.0));
        self.watches |= watched.is_some();
        // Vectors of words that follow each other need not be turned round.
        let ascends = matches!(count.step, Step::Const(-1)) && has_any_order(self.f, count);
        let from = &from.text;
        let last = &to.text;
        if ascends && !matches!(count.first, Bound::Const(k) if k != i64::MAX.cast_unsigned()) {
            // Counting up would not end there.
            self.text.line(&format!("if (UNLIKELY({from} == INT64_MAX)) return 1;"));
        }
        match (watched, count.step) {
            (Some(mark), Step::Const(step)) if step.abs() < SMALL && count.body.iter().all(is_short) => {
                let (n, declared) = (self.number(), self.declared(count));
                let (begin, until) = (format!("begin_{n}"), format!("until_{n}"));
                let (way, sign) =
                    if step < 0 { (format!("{begin} - {last}"), ">=") } else { (format!("{last} - {begin}"), "<=") };
                let span = step * (TURNS.cast_signed() - 1);
                self.text.open(&format!(
                    "for (int64_t {begin} = {from}, {until}; {begin} {sign} {last}; {begin} = {until} + {step}) {{"
                ));
                self.text.line(&format!("WATCH({mark}, {from}, {begin}, {last}, {step});"));
                self.text
                    .line(&format!("{until} = (word)({way}) > {} ? {begin} + {span} : {last};", span.unsigned_abs()));
                let head = if ascends {
                    format!("for ({declared}{name} = {until}; {name} <= {begin}; {name}++) {{")
                } else {
                    format!("for ({declared}{name} = {begin}; {name} {sign} {until}; {name} += {step}) {{")
                };
                let first = count.search.as_ref().map_or_else(Vec::new, |s| self.pass_over(count, s, [&begin, &until]));
                self.independent_turns(count, &count.body, &head, first);
                self.text.close("}");
            }
            (Some(mark), step) => {
                let step = match step {
                    Step::Const(step) => step.to_string(),
                    Step::Kept { by, .. } => self.name(VALUE, by),
                };
                self.independent_turns(
                    count,
                    &count.body,
                    head,
                    vec![format!("WATCH({mark}, {from}, {name}, {last}, {step});")],
                );
            }
            (None, _) if ascends => {
                let declared = self.declared(count);
                let head = format!("for ({declared}{name} = {last}; {name} <= {from}; {name}++) {{");
                self.independent_turns(count, &count.body, &head, Vec::new());
            }
            (None, _) => {
                let first = count.search.as_ref().map_or_else(Vec::new, |s| self.pass_over(count, s, [from, last]));
                self.independent_turns(count, &count.body, head, first);
            }
        }
    }

    /// Several turns at once as long as there are so many, if that may be, and then the others.
    fn jammed(&mut self, count: &Count, jammed: &Jammed, from: &Expr, to: &Expr) {
        let Step::Const(step) = count.step else { return };
        let (name, declared) = (self.name(VALUE, count.var), self.declared(count));
        let watch = count.mark.map(|mark| format!("WATCH({}, {}, {name}, {}, {step});", mark.0, from.text, to.text));
        self.watches |= watch.is_some();
        let goes_on = format!("{name} {} {}", if step < 0 { ">=" } else { "<=" }, to.text);
        let further = jammed.vars.len().cast_signed() as i64 * step;
        let left =
            if step < 0 { format!("{name} - {}", to.at(Prec::Product)) } else { format!("{} - {name}", to.text) };
        self.text.line(&format!("{declared}{name} = {};", from.text));
        let apart: Vec<String> = jammed.apart.iter().map(|apart| self.apart(apart, jammed.vars.len())).collect();
        if !apart.is_empty() {
            self.text.line(&format!("if ({})", apart.join(" && ")));
        }
        let enough = format!("(word)({left}) >= {}", further.unsigned_abs());
        self.text.open(&format!("for (; {goes_on} && {enough}; {name} += {}) {{", further + step));
        watch.iter().for_each(|line| self.text.line(line));
        for (var, n) in jammed.vars.iter().zip(1..) {
            let var = self.name(VALUE, *var);
            self.text.line(&format!("const int64_t {var} = {name} + {};", n * step).replace("+ -", "- "));
        }
        self.statements(&jammed.body);
        self.text.close("}");
        self.text.open(&format!("for (; {goes_on}; {name} += {step}) {{"));
        watch.iter().for_each(|line| self.text.line(line));
        self.statements(&count.body);
        self.text.close("}");
    }

    /// What keeps words of different turns apart.
    fn apart(&mut self, apart: &Apart, further: usize) -> String {
        let turns = match apart.of {
            Turns::Within(first, last) => {
                let (first, last) = (self.integer(first), self.integer(last));
                format!("{} - {}", last.text, first.at(Prec::Product))
            }
            Turns::AtOnce => further.to_string(),
        };
        let step = self.sum(&apart.step);
        format!("apart({turns}, {}, {step})", apart.by)
    }

    /// Whether one of these words is not zero; `None` if there are none.
    fn flows(&mut self, from: &[Word]) -> Option<String> {
        let flows: Vec<String> = from.iter().map(|w| format!("{} != 0", self.word(*w).text)).collect();
        (!flows.is_empty()).then(|| flows.join(" || "))
    }

    fn independent_turns(&mut self, count: &Count, body: &[Stmt], head: &str, first: Vec<String>) {
        if count.independent {
            self.text.line("IVDEP");
        }
        // Where the length is a constant for the C compiler alone, turns written out one after the other would be made no vectors.
        let has_length = matches!((count.first, count.last), (Bound::Const(_), Bound::Const(_)));
        if !has_length && count.body.iter().all(is_short) && writes_memory(&count.body) {
            self.text.line("ROLLED");
        }
        self.text.open(head);
        first.iter().for_each(|line| self.text.line(line));
        self.statements(body);
        self.text.close("}");
    }

    /// How the head of a loop declares the variable that counts.
    pub(super) fn declared(&self, count: &Count) -> &'static str {
        if self.f.local(count.var).scope == Scope::Stmt { "int64_t " } else { "" }
    }

    /// The turns of a loop, whose sums are made in blocks.
    fn blocks(&mut self, count: &Count, blocks: &Blocks, (from, to, turns): (&Expr, &Expr, &str)) {
        let Step::Const(by) = count.step else { return };
        let [whole, all, turn] = blocks.counters.map(|local| self.name(VALUE, local));
        let runs = format!("{} {} {}", from.text, if by < 0 { ">=" } else { "<=" }, to.text);
        self.text.line(&format!(
            "const int64_t {all} = {runs} ? (int64_t)({turns}) : 0, {whole} = {all} / {BLOCK} * {BLOCK};"
        ));
        // The turn in the order of the run, and what turn of it the counter has.
        let counter = |turn: &str| match (from.text.as_str(), by) {
            ("0", 1) => turn.to_string(),
            (from, 1) => format!("{from} + {turn}"),
            (from, -1) => format!("{from} - ({turn})"),
            (from, _) => format!("{from} + ({turn}) * {by}"),
        };
        let rest = match blocks.from_last {
            false => format!("for (int64_t {turn} = {whole}; {turn} < {all}; {turn}++) {{"),
            true => format!("for (int64_t {turn} = 0; {turn} < {all} - {whole}; {turn}++) {{"),
        };
        if blocks.from_last {
            self.turns_of_no_block(count, blocks, &rest, &counter(&turn));
        }
        let first = if blocks.from_last { format!("{all} - {whole}") } else { "0".to_string() };
        let end = if blocks.from_last { &all } else { &whole };
        self.text.open(&format!("for (int64_t {turn} = {first}; {turn} < {end}; {turn} += {BLOCK}) {{"));
        for [_, parts] in &blocks.parts {
            let parts = self.name(VALUE, *parts);
            self.text.line(&format!("double {parts}[{BLOCK}];"));
        }
        if count.independent && blocks.parts.is_empty() {
            self.text.line("IVDEP");
        }
        self.text.open(&format!("for (int nth = 0; nth < {BLOCK}; nth++) {{"));
        let reversed = blocks.from_last || blocks.parts.is_empty();
        let within = if reversed { format!("{turn} + {} - nth", BLOCK - 1) } else { format!("{turn} + nth") };
        self.one_turn(count, blocks, &counter(&within), "0");
        for [part, parts] in &blocks.parts {
            let (part, parts) = (self.name(VALUE, *part), self.name(VALUE, *parts));
            self.text.line(&format!("{parts}[nth] = {part};"));
        }
        self.text.close("}");
        for [part, parts] in &blocks.parts {
            let (part, parts) = (self.name(VALUE, *part), self.name(VALUE, *parts));
            self.text.line(&format!("const double {part} = sum_of_block({parts});"));
        }
        self.statements(&blocks.after);
        self.text.close("}");
        if !blocks.from_last {
            self.turns_of_no_block(count, blocks, &rest, &counter(&turn));
        }
    }

    /// The turns of a loop beyond whole blocks.
    fn turns_of_no_block(&mut self, count: &Count, blocks: &Blocks, head: &str, counter: &str) {
        self.text.open(head);
        // The neutral element of sums.
        self.one_turn(count, blocks, counter, "-0.0");
        self.statements(&blocks.after);
        self.text.close("}");
    }

    /// One turn of a loop with blocks, whose parts begin with a number.
    fn one_turn(&mut self, count: &Count, blocks: &Blocks, counter: &str, begin: &str) {
        let declared = if self.f.local(count.var).scope == Scope::Stmt { "const int64_t " } else { "" };
        let name = self.name(VALUE, count.var);
        self.text.line(&format!("{declared}{name} = {counter};"));
        for [part, _] in &blocks.parts {
            let part = self.name(VALUE, *part);
            self.text.line(&format!("double {part} = {begin};"));
        }
        self.statements(&count.body);
    }

    /// A bound of a loop, as it is before it.
    fn bound(&mut self, bound: Bound) -> Expr {
        match bound {
            Bound::Const(k) => super::text::word(k),
            Bound::Kept(local, place) => {
                let value = self.integer(Value::Place(place));
                let name = self.name(VALUE, local);
                self.text.line(&format!("const {} {name} = {};", c_type(Ty::Int), value.text));
                Expr::atom(name, Kind::Word)
            }
        }
    }

    /// The head of a loop, after what must hold for it to end; and how many turns it has, if it has any.
    fn loop_head(&mut self, count: &Count, from: &Expr, to: &Expr) -> (String, String) {
        let name = self.name(VALUE, count.var);
        let begin = format!("for ({}{name} = {}", self.declared(count), from.text);
        let is_last = |end: i64| matches!(count.last, Bound::Const(k) if k != end.cast_unsigned());
        match count.step {
            Step::Const(1) => {
                if !is_last(i64::MAX) {
                    self.text.line(&format!("if (UNLIKELY({} == INT64_MAX)) return 1;", to.text));
                }
                let head = format!("{begin}; {name} <= {}; {name}++) {{", to.text);
                (head, format!("(word)({} - {}) + 1", to.text, from.at(Prec::Product)))
            }
            Step::Const(-1) => {
                if !is_last(i64::MIN) {
                    self.text.line(&format!("if (UNLIKELY({} == INT64_MIN)) return 1;", to.text));
                }
                let head = format!("{begin}; {name} >= {}; {name}--) {{", to.text);
                (head, format!("(word)({} - {}) + 1", from.text, to.at(Prec::Product)))
            }
            Step::Const(k) => {
                self.text.line(&format!("if (UNLIKELY(uneven({}, {}, {k}))) return 1;", from.text, to.text));
                let sign = if k < 0 { ">=" } else { "<=" };
                let head = format!("{begin}; {name} {sign} {}; {name} += {k}) {{", to.text);
                (head, format!("(word)(({} - {}) / {k}) + 1", to.text, from.at(Prec::Product)))
            }
            Step::Kept { by, of, negated } => {
                let (by, of) = (self.name(VALUE, by), self.name(VALUE, of));
                let sign = if negated { "-" } else { "" };
                self.text.line(&format!("const int64_t {by} = {sign}{of};"));
                self.text.line(&format!("if (UNLIKELY(uneven({}, {}, {by}))) return 1;", from.text, to.text));
                let goes_on = format!("{by} < 0 ? {name} >= {} : {name} <= {}", to.text, to.text);
                (format!("{begin}; {goes_on}; {name} += {by}) {{"), String::new())
            }
        }
    }

    /// Declares the variables that keep words, and gives what reads the words and what writes them.
    fn keep(&mut self, kept: &[Kept]) -> (Vec<String>, Vec<String>) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for Kept { local, place, ty, written } in kept {
            for &lane in std::iter::once(&VALUE).chain(self.lanes_of(*ty)) {
                let word = self.word(Word { place: *place, ty: *ty, lane });
                let name = self.name(lane, *local);
                let kind = self.lane_kind(lane, *ty);
                self.text.line(&format!("{} {name} = {};", kind.c_type(), kind.zero()));
                before.push(format!("{name} = {};", word.text));
                if lane != VALUE || *written {
                    after.push(format!("{} = {name};", word.text));
                }
            }
        }
        (before, after)
    }

    pub(super) fn check(&mut self, check: &Check) -> String {
        match check {
            Check::Fails(cond, a, b) => {
                let (a, b) = (self.integer(*a), self.integer(*b));
                format!("!({})", WORDS.compare(*cond, &a, &b).text)
            }
            Check::SumsFail(cond, a, b) => {
                let sum = |text: String| Expr::of(&[], text, Kind::Word, Prec::Sum);
                let (a, b) = (sum(self.sum(a)), sum(self.sum(b)));
                format!("!({})", WORDS.compare(*cond, &a, &b).text)
            }
            Check::Outside(at) => format!("(word)({}) >= len", self.sum(at)),
            Check::Leaves(first, step) => format!("outside({}, {step}, turns, len)", self.sum(first)),
            Check::LeavesBy(first, span, step) => {
                format!("outside_by({}, {span}, {}, turns, len)", self.sum(first), self.sum(step))
            }
        }
    }

    /// A sum, with its products in the order of their names.
    pub(super) fn sum(&mut self, sum: &Sum) -> String {
        let mut products: Vec<(Vec<String>, i64)> = Vec::new();
        for (factors, n) in sum.products() {
            let mut factors: Vec<String> = factors.iter().map(|f| self.integer(*f).text).collect();
            factors.sort();
            products.push((factors, n));
        }
        // The constant last.
        products.sort_by(|(a, _), (b, _)| (a.is_empty(), a).cmp(&(b.is_empty(), b)));
        let mut out = String::new();
        for (factors, n) in products {
            let (sign, n) = (if n < 0 { "-" } else { "+" }, n.unsigned_abs());
            let product = match (factors.is_empty(), n) {
                (true, _) => n.to_string(),
                (false, 1) => factors.join(" * "),
                (false, _) => format!("{n} * {}", factors.join(" * ")),
            };
            match (out.is_empty(), sign) {
                (true, "+") => out = product,
                (true, _) => out = format!("-{product}"),
                (false, _) => out.push_str(&format!(" {sign} {product}")),
            }
        }
        if out.is_empty() { "0".to_string() } else { out }
    }
}
