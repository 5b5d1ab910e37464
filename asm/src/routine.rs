//! Routine marks: `.routine` spans, undo spans that are written out, and undo spans that are assembled as the inverse
//! of their routine.
//!
//! The inverse is made of statements: in reverse order, each with the mnemonic of its partner, and with the labels of
//! the span renamed. Macros and includes are gone by now ([`expand`](crate::expand)); addresses are assigned
//! afterwards.

use std::collections::HashMap;
use std::ops::Range;

use pendula_isa::Kind;
use pendula_isa::operand::OperandKind;
use pendula_isa::table::Flow;

use crate::ast::{ArgKind, Mark, Op, Span, Stmt, Via};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::intern::Sym;
use crate::options::Options;
use crate::session::{Parsed, Reported, Session};

/// A mark that has been opened.
#[derive(Clone, Copy, Debug)]
struct Open {
    name: Sym,
    undo: bool,
    /// The statement after it.
    first: usize,
    span: Span,
    via: Via,
}

/// Replaces the marks that ask for the inverse of a routine by that inverse. Afterwards every open mark is closed.
pub(crate) fn expand(s: &mut Session, options: &Options) {
    if !s.ast.stmts.iter().any(|stmt| matches!(stmt.op, Op::Mark(_))) {
        return;
    }
    let old = std::mem::take(&mut s.ast.stmts);
    let mut open: Vec<Open> = Vec::new();
    // The last complete span of each routine.
    let mut routines: HashMap<Sym, Range<usize>> = HashMap::new();
    let mut inverses = 0u32;
    // The number of spans that were abandoned: as many ends are ignored.
    let mut abandoned = 0;
    let written = written_out(&old);
    for (n, stmt) in old.iter().enumerate() {
        let Op::Mark(mark) = stmt.op else {
            if matches!(stmt.op, Op::Inst(kind) if matches!(kind.flow(), Flow::Procedure | Flow::Run))
                && let Some(last) = open.pop()
            {
                let name = s.names.text(last.name);
                let message = format!("a procedure or run begins or ends within the span of `{name}`");
                let d = s.error(codes::MARKS, message, stmt.span).also(s.place(last.span), "the span begins here");
                s.report(
                    d.help("a span lies between two instructions of one procedure: end it before this one"),
                    stmt.via,
                );
                // The ends of this span, and of those around it, are not reported as missing.
                abandoned += 1 + open.len();
                // The spans that undo them are not reported either.
                routines.extend(open.drain(..).chain([last]).filter(|o| !o.undo).map(|o| (o.name, 0..0)));
            }
            s.ast.stmts.push(*stmt);
            continue;
        };
        match mark {
            Mark::Begin { name, undo: true } if !written[n] => {
                let Some(span) = routines.get(&name).cloned() else {
                    no_routine(s, name, stmt, &open);
                    continue;
                };
                inverses += 1;
                // The length of names counts, too: labels get new names each time.
                let what = || "the program, with its inverses,".to_string();
                let within = options.budget.program((s.ast.stmts.len() + span.len()) as u64, what);
                let within = within.and_then(|()| options.budget.large(s.names.bytes() as u64, what));
                if let Err(exceeded) = within {
                    let help = "make the routine a procedure and `uncall` it, instead of so many copies";
                    s.exceeded(&exceeded.instead(help), stmt.span, stmt.via);
                    open.clear();
                    break;
                }
                s.ast.stmts.push(*stmt);
                invert(s, name, span, stmt, inverses);
                s.ast.stmts.push(Stmt { op: Op::Mark(Mark::End { name: Some(name), undo: true }), ..*stmt });
            }
            Mark::Begin { name, undo } => {
                s.ast.stmts.push(*stmt);
                open.push(Open { name, undo, first: s.ast.stmts.len(), span: stmt.span, via: stmt.via });
            }
            Mark::End { .. } if open.is_empty() && abandoned > 0 => abandoned -= 1,
            Mark::End { name, undo } => {
                let Some(last) = open.last().copied() else {
                    report_stray_end(s, undo, stmt);
                    continue;
                };
                if last.undo != undo || name.is_some_and(|name| name != last.name) {
                    let what = format!("`{}` for `{}`", directive(last.undo, true), s.names.text(last.name));
                    let d = s.error(codes::MARKS, format!("{what} was expected here"), stmt.span);
                    let d = d
                        .also(s.place(last.span), "this is still open")
                        .help("spans end in the reverse order of their beginnings");
                    s.report(d, stmt.via);
                }
                open.pop();
                if !last.undo {
                    routines.insert(last.name, last.first..s.ast.stmts.len());
                }
                let end = Mark::End { name: Some(last.name), undo: last.undo };
                s.ast.stmts.push(Stmt { op: Op::Mark(end), ..*stmt });
            }
        }
    }
    for left in open {
        let message = format!("the span of `{}` does not end", s.names.text(left.name));
        let help = format!("end it with `{}`", directive(left.undo, true));
        s.fail(codes::MARKS, message, left.span, left.via, help);
    }
}

fn directive(undo: bool, end: bool) -> &'static str {
    match (undo, end) {
        (false, false) => ".routine",
        (false, true) => ".endroutine",
        (true, false) => ".unroutine",
        (true, true) => ".endunroutine",
    }
}

/// The statements that open an undo span that is written out. Among the marks that follow within the region, the first
/// with the same name is its end, or the very first is an end without a name. One pass from the last statement to the
/// first.
fn written_out(stmts: &[Stmt]) -> Vec<bool> {
    let mut out = vec![false; stmts.len()];
    // Whether the next undo mark of each name is an end, and whether the next undo mark of all is an end without a
    // name.
    let mut ends: HashMap<Sym, bool> = HashMap::new();
    let mut unnamed = false;
    for (n, stmt) in stmts.iter().enumerate().rev() {
        match stmt.op {
            Op::Mark(Mark::End { name, undo: true }) => {
                unnamed = name.is_none();
                ends.extend(name.map(|name| (name, true)));
            }
            Op::Mark(Mark::Begin { name, undo: true }) => {
                out[n] = unnamed || ends.get(&name).copied().unwrap_or(false);
                unnamed = false;
                ends.insert(name, false);
            }
            Op::Inst(kind) if matches!(kind.flow(), Flow::Procedure | Flow::Run) => {
                unnamed = false;
                ends.clear();
            }
            _ => {}
        }
    }
    out
}

fn no_routine(s: &mut Session, name: Sym, stmt: &Stmt, open: &[Open]) {
    let text = s.names.text(name).to_string();
    match open.iter().find(|o| o.name == name) {
        Some(o) => {
            let message = format!("the routine `{text}` has not ended here");
            let d = s.error(codes::MARKS, message, stmt.span).also(s.place(o.span), "it begins here");
            s.report(d.help("end it with `.endroutine` before it is undone"), stmt.via);
        }
        None => {
            let message = format!("there is no routine `{text}` above");
            let help =
                "mark it with `.routine` and `.endroutine`; an undo span that is written out ends with `.endunroutine`";
            s.fail(codes::MARKS, message, stmt.span, stmt.via, help);
        }
    }
}

fn report_stray_end(s: &mut Session, undo: bool, stmt: &Stmt) {
    let message = format!("this `{}` ends nothing", directive(undo, true));
    let help = format!("remove it, or begin a span with `{}` and a name", directive(undo, false));
    s.fail(codes::MARKS, message, stmt.span, stmt.via, help);
}

/// Adds the inverse of the statements in `span`.
fn invert(s: &mut Session, name: Sym, span: Range<usize>, by: &Stmt, number: u32) {
    // The statements to invert, with the labels of each: labels come before what they label. Data is not repeated.
    let mut labels: Vec<Stmt> = Vec::new();
    let mut items: Vec<(Stmt, Range<usize>, Option<Stmt>)> = Vec::new();
    let mut waiting = 0;
    let mut why = None;
    let mut text = true;
    for stmt in s.ast.stmts.get(span).unwrap_or(&[]) {
        match stmt.op {
            Op::Text => text = true,
            Op::Data => text = false,
            Op::Label(_) if text => labels.push(*stmt),
            Op::Inst(_) if text => {
                items.push((*stmt, waiting..labels.len(), why.take()));
                waiting = labels.len();
            }
            Op::Reason(_) => why = Some(*stmt),
            Op::Mark(_) => items.push((*stmt, 0..0, None)),
            // The others make no instruction, or an error has been reported for them.
            _ => {}
        }
    }
    labels.truncate(waiting);
    let renamed = rename(s, &labels, number);
    for (stmt, label_range, why) in items.into_iter().rev() {
        match stmt.op {
            Op::Inst(kind) => {
                s.ast.stmts.extend(why);
                for label in labels.get(label_range).unwrap_or(&[]) {
                    if let Op::Label(old) = label.op
                        && let Some(&new) = renamed.get(&old)
                    {
                        s.ast.stmts.push(Stmt { op: Op::Label(new), ..*label });
                    }
                }
                if let Ok(inverse) = inverse(s, kind, &stmt, &renamed, name, by) {
                    s.ast.stmts.push(inverse);
                }
            }
            Op::Mark(Mark::Begin { name, undo }) => {
                let op = Op::Mark(Mark::End { name: Some(name), undo: !undo });
                s.ast.stmts.push(Stmt { op, ..stmt });
            }
            Op::Mark(Mark::End { name: Some(name), undo }) => {
                let op = Op::Mark(Mark::Begin { name, undo: !undo });
                s.ast.stmts.push(Stmt { op, ..stmt });
            }
            _ => {}
        }
    }
}

/// New names for the labels of a span.
fn rename(s: &mut Session, labels: &[Stmt], number: u32) -> HashMap<Sym, Sym> {
    let mut out = HashMap::new();
    for label in labels {
        let Op::Label(name) = label.op else { continue };
        let mut new = format!("{}.undo{number}", s.names.text(name));
        while s.names.find(&new).is_some() {
            new.push('_');
        }
        out.insert(name, s.names.intern(&new));
    }
    out
}

/// The inverse of one instruction.
fn inverse(
    s: &mut Session,
    kind: Kind,
    stmt: &Stmt,
    renamed: &HashMap<Sym, Sym>,
    name: Sym,
    by: &Stmt,
) -> Parsed<Stmt> {
    let refuse = |s: &mut Session, what: &str, place: Span, help: &str| {
        let message = format!("the routine `{}` cannot be inverted: {what}", s.names.text(name));
        let d: Diagnostic = s.error(codes::NO_INVERSE, message, by.span).also(s.place(place), "because of this");
        s.report(d.help(help), by.via)
    };
    if kind.is_irreversible() {
        return Err(refuse(s, "it erases", stmt.span, "clear the word by uncomputing it"));
    }
    if matches!(kind.flow(), Flow::Procedure | Flow::Run) {
        let help = "a span lies within one procedure or between `start` and `finish`";
        return Err(refuse(s, "it contains the bounds of a procedure or of the run", stmt.span, help));
    }
    let inverse = kind.inverse();
    // A jump with too many operands is an error anyway, so they are not copied.
    if kind.flow() != Flow::Jump || s.ast.args(stmt).len() > 4 {
        return Ok(Stmt { op: Op::Inst(inverse), ..*stmt });
    }
    // The label of a jump is renamed, which needs arguments of its own.
    let first = s.ast.args.len();
    for n in 0..s.ast.args(stmt).len() {
        let Some(mut arg) = s.ast.arg(stmt, n) else { break };
        if kind.operand_kind(n) == Some(OperandKind::Label)
            && let ArgKind::Name(label) = arg.kind
        {
            match renamed.get(&label) {
                Some(&new) => arg.kind = ArgKind::Name(new),
                None => {
                    let help = "move both halves of the pair into the span, or write the undo span out";
                    return Err(refuse(s, "it jumps out of its span", arg.span, help));
                }
            }
        }
        s.ast.args.push(arg);
    }
    s.ast.push(Op::Inst(inverse), stmt.span, stmt.via, first);
    s.ast.stmts.pop().ok_or(Reported)
}
