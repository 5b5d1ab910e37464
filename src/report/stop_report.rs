//! Explains why a program in Nil or Janus stopped, in terms of its source: the wrong condition or value, the variables
//! in scope, and the active calls.

use pendula_asm::diagnostic::{Place, Sources, plural};
use pendula_compiler::ir::eval::{Call, Direction, EvalError, HeldValue, Stop, Value};
use pendula_compiler::ir::source::{Clause, Number};
use pendula_compiler::ir::{Loc, Program};
use pendula_compiler::lower::advice;
use pendula_isa::module::{CLASSIC_MAIN, name_in_source};
use pendula_isa::num::Format;
use pendula_isa::{Fault, Ty};

use crate::report::trap_text::DISAGREE;
use crate::state::language::Terms;

mod chain;
mod values;

pub(crate) use chain::chain;
use chain::listed;
use values::named;
pub(crate) use values::{held_text, indices, number_text};

/// Why a program stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct StopReport {
    /// The error code; none if the machine's own is best.
    pub code: Option<&'static str>,
    /// The message; empty if the machine's own is best.
    pub message: String,
    /// The place in the source.
    pub place: Option<Place>,
    /// The label of the place: the values of the variables in it.
    pub label: String,
    /// Other places, and their role.
    pub others: Vec<(Place, String)>,
    /// The active calls, the innermost first.
    pub calls: Vec<ActiveCall>,
    /// True if the run went deeper; the calls and variables are then those on the way there.
    pub deeper: bool,
    /// Pairs of variables that are aliases.
    pub same: Vec<[String; 2]>,
    /// The advice.
    pub help: &'static str,
    /// The moment that the run had reached, if it was stopped early.
    pub reached: Option<Reached>,
    /// The words of the data at this moment.
    pub data: Vec<u64>,
}

/// A moment of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The file and the line of the next statement; none after the last one.
    pub place: Option<(String, u32)>,
    /// The column.
    pub column: u16,
    /// True if other statements begin in this line, too.
    pub shares_line: bool,
    /// True if the run goes backward at this moment.
    pub back: bool,
    /// True in the backward half of a round trip; `before` and `of` then count that half only.
    pub turned: bool,
    /// True if this is a moment of the forward half although the run itself has turned since: there was only time to
    /// repeat the run up to here.
    pub way_forward: bool,
    /// How often the run came to this statement before, if that was counted.
    pub before: Option<u64>,
    /// How often it came to this statement in all, if the repeated run was cut short for lack of time.
    pub of: Option<u64>,
}

impl Reached {
    /// The line, with the column if other statements begin in it.
    pub fn line_text(&self, line: u32) -> String {
        if self.shares_line { format!("{line}:{}", self.column) } else { line.to_string() }
    }
}

/// An active call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveCall {
    /// The name of the function or procedure.
    pub name: String,
    /// True if it is being undone.
    pub backward: bool,
    /// The file and the line of the call; none for the entry point.
    pub called: Option<(String, u32)>,
    /// Its variables, with their values.
    pub variables: Vec<(String, String)>,
}

/// Explains a stop in terms of the source.
pub fn tell(stop: &Stop, program: &Program, sources: &Sources, terms: &'static Terms) -> StopReport {
    let builder = ReportBuilder { program, sources, terms, format: program.format };
    let inner = stop.calls.first();
    let variables: &[Value] = inner.map_or(&[], |call| &call.variables);
    let back = inner.is_some_and(|call| call.direction == Direction::Backward);
    let mut report = builder.error(&stop.error, variables, back);
    report.calls = builder.calls(&stop.calls);
    report.deeper = matches!(stop.error, EvalError::Depth { .. });
    report.data.clone_from(&stop.memory);
    for (n, v) in variables.iter().enumerate() {
        let same = variables[..n].iter().filter(|other| v.is(other));
        report.same.extend(same.map(|other| [other.name.clone(), v.name.clone()]));
    }
    report
}

/// Builds the report's texts.
struct ReportBuilder<'a> {
    program: &'a Program,
    sources: &'a Sources,
    terms: &'static Terms,
    format: Format,
}

impl ReportBuilder<'_> {
    fn error(&self, error: &EvalError, variables: &[Value], back: bool) -> StopReport {
        let empty = StopReport {
            code: None,
            message: String::new(),
            place: None,
            label: String::new(),
            others: Vec::new(),
            calls: Vec::new(),
            deeper: false,
            same: Vec::new(),
            help: "",
            reached: None,
            data: Vec::new(),
        };
        match error {
            EvalError::Branch { loc, first } => self.branch(*loc, *first, back, variables, empty),
            EvalError::Loop { loc, entered } => self.turn(*loc, *entered, back, variables, empty),
            EvalError::NotZero { loc, name, word, index } => {
                self.left((*loc, name, *word, *index), variables, back, empty)
            }
            EvalError::Visited { loc } => StopReport { place: self.line(*loc), ..empty },
            _ => empty,
        }
    }

    /// The report of a branch whose conditions disagree.
    fn branch(&self, loc: Loc, first: bool, back: bool, variables: &[Value], report: StopReport) -> StopReport {
        let Some(Some(clauses)) = self.program.clauses.get(&loc) else { return report };
        let (decides, fails) = if back { (&clauses.post, &clauses.pre) } else { (&clauses.pre, &clauses.post) };
        let should = first != fails.negated;
        let branch = self.terms.branches[usize::from(!first)];
        let was = if back { "undone" } else { "taken" };
        let message = format!("{} should be {should} here, because {branch} was {was}", written(fails));
        let other = format!("{} was {}", written(decides), first != decides.negated);
        let help = self.terms.branch;
        self.disagree((fails, message), Some((decides, other)), variables, StopReport { help, ..report })
    }

    /// The report of a loop whose conditions disagree.
    fn turn(&self, loc: Loc, entered: bool, back: bool, variables: &[Value], report: StopReport) -> StopReport {
        let Some(Some(clauses)) = self.program.clauses.get(&loc) else { return report };
        let fails = if back { &clauses.pre } else { &clauses.post };
        // In the IR, the condition is false on entry to the loop, and true after each iteration.
        let should = entered == fails.negated;
        let because = match (entered, back) {
            (true, false) => "because the loop is entered",
            (true, true) => "because the loop is entered backward",
            (false, false) => "because the loop has completed an iteration",
            (false, true) => "because an iteration of the loop was undone",
        };
        let message = format!("{} should be {should} here, {because}", written(fails));
        let help = self.terms.turn[usize::from(back)];
        self.disagree((fails, message), None, variables, StopReport { help, ..report })
    }

    fn disagree(
        &self,
        (fails, message): (&Clause, String),
        other: Option<(&Clause, String)>,
        variables: &[Value],
        report: StopReport,
    ) -> StopReport {
        let place = |clause: &Clause| self.place(clause.loc, &clause.text);
        let others = other.and_then(|(clause, text)| Some((place(clause)?, text)));
        StopReport {
            code: Some(DISAGREE),
            message,
            place: place(fails),
            label: self.values(&fails.names, variables),
            others: others.into_iter().collect(),
            ..report
        }
    }

    /// The report of a variable whose final value is wrong.
    fn left(
        &self,
        (loc, name, word, index): (Loc, &str, u64, Option<u64>),
        variables: &[Value],
        back: bool,
        report: StopReport,
    ) -> StopReport {
        let Some(value) = named(variables, name) else {
            return match name.rsplit_once('.') {
                Some((of, part @ ("bound" | "step"))) => self.range((loc, of, part), word, variables, back, report),
                Some(_) | None => report,
            };
        };
        let (found, difference, what) = match (&value.held, index) {
            (HeldValue::Number(number, found), None) => (*found, (*number, word), format!("`{name}`")),
            (HeldValue::Array { element, dims, words, by_column }, Some(index)) => {
                let size = element.len().max(1);
                let (at, part) = (index / size as u64, index as usize % size);
                let (Some(found), Some(number)) = (words.get(index as usize), element.get(part)) else { return report };
                (*found, (*number, word), format!("`{name}{}`", indices(at, dims, *by_column, self.terms.first)))
            }
            _ => return report,
        };
        let (number, difference) = difference;
        let expected = match number {
            Number::Plain(Ty::Int | Ty::Q) | Number::Unsigned | Number::Truth => found.wrapping_sub(difference),
            // The difference was rounded, so the subtraction may not be exact.
            Number::Plain(Ty::F) => (f64::from_bits(found) - f64::from_bits(difference)).to_bits(),
            Number::Plain(Ty::L) => return report,
        };
        let [found, expected] = [found, expected].map(|w| self.number(number, w));
        let ends = self.terms.ends[usize::from(back)];
        let message = format!("{what} is {found} where it ends, and {ends} {expected}");
        StopReport {
            code: Some(Fault::NotZero.code()),
            message,
            place: self.line(loc),
            label: format!("{} = {found}", what.trim_matches('`')),
            help: match number {
                Number::Plain(Ty::F) if f64::from_bits(difference).abs() < 1.0 => {
                    "uncompute the changes, or let it end with the value that it has; if they are uncomputed, rounding left this, which is dropped \
                     up to 1e-8: smaller numbers, as in another unit, leave less, and those of `Fixed` leave nothing"
                }
                _ => "uncompute the changes, or let it end with the value that it has",
            },
            ..report
        }
    }

    /// The report of a loop that changed a bound or the step of its own range. `difference` is the first value minus
    /// the present one.
    fn range(
        &self,
        (loc, of, part): (Loc, &str, &str),
        difference: u64,
        variables: &[Value],
        back: bool,
        report: StopReport,
    ) -> StopReport {
        let (counter, name) = of.split_once('.').map_or((of, None), |(counter, name)| (counter, Some(name)));
        let held = name.and_then(|name| Some((name, &variables.iter().find(|v| v.name == name)?.held)));
        let backward = if back { "run backward, " } else { "" };
        let (message, label) = match held {
            Some((name, HeldValue::Number(number, now))) => {
                let [from, to] = [now.wrapping_add(difference), *now].map(|w| self.number(*number, w));
                let message = format!(
                    "{backward}the {part} `{name}` of the loop over `{counter}` has changed from {from} to {to} in the loop"
                );
                (message, format!("{name} = {to}"))
            }
            _ => {
                let by = difference.wrapping_neg().cast_signed();
                (
                    format!("{backward}a {part} of the loop over `{counter}` has changed by {by} in the loop"),
                    String::new(),
                )
            }
        };
        let help = advice("the loop over `` has changed its own bounds").unwrap_or_default();
        StopReport { code: Some(Fault::NotZero.code()), message, place: self.line(loc), label, help, ..report }
    }

    fn calls(&self, calls: &[Call]) -> Vec<ActiveCall> {
        // The compiler's `main` around the program's own in classic Janus is not in the source.
        let calls = match calls {
            [rest @ .., own, _] if own.name == CLASSIC_MAIN => &calls[..=rest.len()],
            calls => calls,
        };
        let last = calls.len().saturating_sub(1);
        let under = calls.iter().enumerate().map(|(n, call)| ActiveCall {
            name: name_in_source(&call.name).to_string(),
            backward: call.direction == Direction::Backward,
            called: (n < last).then(|| (self.sources.name(call.called.file).to_string(), call.called.line)),
            variables: self.variables(&call.variables),
        });
        under.collect()
    }

    /// The place of a source text that begins at `loc`.
    fn place(&self, loc: Loc, text: &str) -> Option<Place> {
        let (start, line) = self.sources.line(loc.file, loc.line)?;
        let column = usize::from(loc.column).checked_sub(1)?;
        let start = start + line.char_indices().nth(column)?.0;
        Some(Place { file: loc.file, span: start..start + text.len().max(1) })
    }

    /// The rest of the line from `loc` on, without a comment at its end.
    fn line(&self, loc: Loc) -> Option<Place> {
        let (_, line) = self.sources.line(loc.file, loc.line)?;
        let start = line.char_indices().nth(usize::from(loc.column).checked_sub(1)?)?.0;
        let statement = line.get(start..)?.split(self.terms.comment).next().unwrap_or("");
        self.place(loc, part(statement).trim_end())
    }
}

/// The first complete part of a text: only the index of `i] += 1`, only the argument of `x, y)`.
pub(crate) fn part(text: &str) -> &str {
    let (mut depth, mut comma) = (0_usize, None);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ',' if depth == 0 => comma = comma.or(Some(at)),
            ')' | ']' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return &text[..comma.unwrap_or(at)],
            },
            _ => {}
        }
    }
    text
}

/// A condition with its keyword, in quotes.
fn written(clause: &Clause) -> String {
    if clause.keyword.is_empty() {
        format!("`{}`", clause.text)
    } else {
        format!("`{} {}`", clause.keyword, clause.text)
    }
}

impl StopReport {
    /// The variables in scope, with their values.
    pub fn variables(&self) -> &[(String, String)] {
        self.calls.first().map_or(&[], |call| &call.variables)
    }

    /// True if the report describes an earlier moment than the stop, because the run could be repeated only up to
    /// there.
    pub fn is_earlier(&self) -> bool {
        self.reached.as_ref().is_some_and(|reached| reached.of.is_some())
    }

    /// Notes that follow the message, a line each.
    pub fn notes(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(Reached { place: Some((file, line)), before: Some(before), of: Some(of), way_forward, .. }) =
            &self.reached
        {
            let at = match way_forward {
                true => format!("on the way forward, after {}", plural(*before, "run")),
                false => format!("after {before} of {}", plural(*of, "run")),
            };
            out.push(format!("run once more, for some seconds, it was here {at} of {file}:{line}:"));
        }
        let name = self.calls.first().map_or("", |call| call.name.as_str());
        if !self.variables().is_empty() {
            let deep = if self.deeper {
                format!(", {} deep and going deeper", plural(self.calls.len() - 1, "call"))
            } else {
                String::new()
            };
            out.push(format!("in `{name}`{deep}: {}", listed(self.variables())));
        }
        for [a, b] in &self.same {
            let since = self.calls.first().and_then(|call| call.called.as_ref());
            let since = since.map_or(String::new(), |(file, line)| format!(", since {file}:{line}"));
            out.push(format!("`{a}` and `{b}` are the same{since}"));
        }
        out.extend(chain(&self.calls));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn a_part_ends_where_what_it_is_within_does() {
        assert_eq!(part("i] += 1"), "i");
        assert_eq!(part("a[i, j], y)"), "a[i, j]");
        assert_eq!(part("(x + y) * z"), "(x + y) * z");
        assert_eq!(part("x += f(y, z)"), "x += f(y, z)");
    }
}
