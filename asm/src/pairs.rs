//! Reports the verifier's findings about the assembled code in terms of the source.
//!
//! The rules are in [`verify`]. Here a violation gets its places and, if it is a jump without its partner, a message
//! that says which names disagree.

use pendula_isa::table::Row;
use pendula_isa::verify::{self, Problem, Violation};
use pendula_isa::{Inst, Kind, Module};

use crate::ast::{ArgKind, Op, Span, Stmt};
use crate::layout::Program;
use crate::resolve::Faulty;
use crate::session::Session;

/// Reports every violation that is not merely a consequence of another error.
pub(crate) fn check(s: &mut Session, program: &Program, module: &Module, faulty: &Faulty) {
    let (_, violations) = verify::verify(module);
    for v in violations {
        let concerned = std::iter::once(v.at).chain(v.other);
        if concerned.into_iter().any(|at| faulty.at.contains(&at)) || (faulty.bounds && is_structural(v.problem)) {
            continue;
        }
        if s.has_too_many_errors() {
            return;
        }
        let profile = || s.ast.stmts.iter().find(|stmt| stmt.op == Op::Profile).copied();
        // A PISA program without any instruction begins nowhere.
        let begins = (v.problem == Problem::NoEntry).then(profile).flatten();
        let Some(stmt) = stmt(s, program, v.at).or(begins) else { continue };
        match v.problem {
            Problem::Unpaired => report_unpaired(s, program, module, &v, &stmt),
            problem => {
                let span = if is_label_problem(problem) { label(s, &stmt).unwrap_or(stmt.span) } else { stmt.span };
                let mut d = s.error(problem.code(), problem.title(), span).help(problem.help());
                if let Some(other) = v.other.and_then(|at| self::stmt(s, program, at))
                    && !problem.other().is_empty()
                {
                    d = d.also(s.place(other.span), problem.other());
                }
                s.report(d, stmt.via);
            }
        }
    }
}

/// Whether a problem concerns the bounds of regions: such problems follow from faulty bounds.
fn is_structural(problem: Problem) -> bool {
    use Problem::{
        CrossesRegions, Nested, NoEntry, NoFinish, NoProc, NoRet, NoStart, NotIrreversible, NotProcedure, SecondStart,
        Unpaired, WideConstant, WrongProfile,
    };
    match problem {
        CrossesRegions | Nested | NoFinish | NoProc | NoRet | NoStart | SecondStart => true,
        NotIrreversible | NotProcedure | Unpaired | WrongProfile | WideConstant | NoEntry => false,
    }
}

/// Whether a problem concerns the label that an instruction names.
fn is_label_problem(problem: Problem) -> bool {
    matches!(problem, Problem::CrossesRegions | Problem::NotProcedure)
}

fn stmt(s: &Session, program: &Program, at: u32) -> Option<Stmt> {
    let n = *program.stmt_of.get(at as usize)?;
    s.ast.stmts.get(n as usize).copied()
}

/// The place of the label that an instruction names.
fn label(s: &Session, stmt: &Stmt) -> Option<Span> {
    let arg = s.ast.args(stmt).last()?;
    matches!(arg.kind, ArgKind::Name(_)).then_some(arg.span)
}

/// The label that an instruction names.
fn label_text(s: &Session, stmt: &Stmt) -> String {
    match s.ast.args(stmt).last().map(|a| a.kind) {
        Some(ArgKind::Name(name)) => s.names.text(name).to_string(),
        _ => String::new(),
    }
}

/// Whether the instruction is a jump (`Some`), and whether it is a `from`.
fn jump(inst: &Inst) -> Option<bool> {
    match inst.kind {
        Kind::Row { row: Row::Jmp, inverse, .. } => Some(inverse),
        Kind::Row { .. } | Kind::Accumulate { .. } | Kind::Extension { .. } => None,
    }
}

fn report_unpaired(s: &mut Session, program: &Program, module: &Module, v: &Violation, jump_stmt: &Stmt) {
    let Some(inst) = module.code.get(v.at as usize) else { return };
    let lands = jump(inst) == Some(true);
    let (half, partner) = if lands { ("from", "jmp") } else { ("jmp", "from") };
    let name = label_text(s, jump_stmt);
    let span = label(s, jump_stmt).unwrap_or(jump_stmt.span);
    let code = v.problem.code();
    let Some((other, other_stmt)) = v.other.and_then(|at| Some((at, stmt(s, program, at)?))) else {
        let message = format!("no instruction follows the label `{name}`");
        let help = format!("put the label on the `{partner}` that belongs to this `{half}`");
        s.fail(code, message, span, jump_stmt.via, help);
        return;
    };
    let place = s.place(other_stmt.span);
    let target = module.code.get(other as usize);
    if target.and_then(jump) != Some(!lands) {
        let mnemonic = target.map(|t| t.kind.mnemonic()).unwrap_or_default();
        let message = format!("`{name}` is the label of `{mnemonic}`, not of a `{partner}`");
        let help = if lands {
            format!("put the label on the `jmp` that lands here, which names the label of this `{half}`")
        } else {
            format!("a jump lands on a `from` that names it: `{name}: from LABEL`, where LABEL is that of this jump")
        };
        let d = s.error(code, message, span).also(place, "labelled here");
        s.report(d.help(help), jump_stmt.via);
        return;
    }
    let named = label_text(s, &other_stmt);
    let message = format!("the `{partner}` at `{name}` names `{named}`, not this `{half}`");
    let other_label = s.place(label(s, &other_stmt).unwrap_or(other_stmt.span));
    let mut d = s.error(code, message, span).also(other_label, format!("this `{partner}` names another"));
    let third = target.and_then(|t| verify::target(&module.code, other, t));
    let mut help =
        format!("a `jmp` and its `from` name each other's labels: give this `{half}` a label, and name it there");
    if let Some((third, t)) = third
        && jump(t) == Some(lands)
        && let Some(third) = stmt(s, program, third)
    {
        d = d.also(s.place(third.span), format!("the `{half}` that it names"));
        help = format!("every `jmp` has a `from` of its own: give this `{half}` another `{partner}`");
    }
    s.report(d.help(help), jump_stmt.via);
}
