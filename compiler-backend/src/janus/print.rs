//! Prints programs as text.

use std::fmt::Write as _;

use super::ast::{BinOp, Decl, DeclTy, Expr, ExprKind, Lval, Mode, Procedure, Stmt, StmtKind, Tree, UnOp};

/// The program as text, which reads as the same program. Only necessary parentheses are printed.
pub fn print(tree: &Tree) -> String {
    let mut out = String::new();
    for (n, p) in tree.procedures.iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        procedure(&mut out, p);
    }
    out
}

fn procedure(out: &mut String, p: &Procedure) {
    let decls: Vec<String> = p.decls.iter().map(decl).collect();
    let main = p.name.text == "main";
    let list = if main { String::new() } else { decls.join(", ") };
    let _ = writeln!(out, "procedure {}({list})", p.name.text);
    if main {
        for d in decls {
            let _ = writeln!(out, "    {d}");
        }
    }
    block(out, &p.body, 1);
}

fn block(out: &mut String, list: &[Stmt], depth: usize) {
    for s in list {
        stmt(out, s, depth);
    }
}

fn stmt(out: &mut String, s: &Stmt, depth: usize) {
    let indent = "    ".repeat(depth);
    let mut line = |text: String| {
        let _ = writeln!(out, "{indent}{text}");
    };
    match &s.kind {
        StmtKind::Update { op, target, value } => {
            // A Boolean that is used as a number is easier to read in parentheses.
            let text = if level(value) >= COMPARISON { format!("({})", expr(value)) } else { expr(value) };
            line(format!("{} {} {text}", lval(target), op.text()));
        }
        StmtKind::Swap(a, b) => line(format!("{} <=> {}", lval(a), lval(b))),
        StmtKind::If { pre, then, otherwise, post } => {
            line(format!("if {} then", expr(pre)));
            block(out, then, depth + 1);
            if !otherwise.is_empty() {
                let _ = writeln!(out, "{indent}else");
                block(out, otherwise, depth + 1);
            }
            let _ = writeln!(out, "{indent}fi {}", expr(post));
        }
        StmtKind::From { pre, first, body, post } => {
            line(format!("from {}", expr(pre)));
            for (word, part) in [("do", first), ("loop", body)] {
                if !part.is_empty() {
                    let _ = writeln!(out, "{indent}{word}");
                    block(out, part, depth + 1);
                }
            }
            let _ = writeln!(out, "{indent}until {}", expr(post));
        }
        StmtKind::Push { pop, value, stack } => {
            line(format!("{}({}, {})", if *pop { "pop" } else { "push" }, expr(value), stack.text));
        }
        StmtKind::Local { begin, body, end } => {
            let list = |d: &[Decl]| d.iter().map(decl).collect::<Vec<_>>().join(", ");
            line(format!("local {}", list(begin)));
            block(out, body, depth + 1);
            let _ = writeln!(out, "{indent}delocal {}", list(end));
        }
        StmtKind::Call { inverse, name, args } => {
            let word = if *inverse { "uncall" } else { "call" };
            line(format!("{word} {}({})", name.text, args.iter().map(expr).collect::<Vec<_>>().join(", ")));
        }
        StmtKind::Iterate { ty, name, from, by, to, body } => {
            let by = by.as_ref().map_or(String::new(), |by| format!(" by {}", expr(by)));
            line(format!("iterate {} {} = {}{by} to {}", ty.name(), name.text, expr(from), expr(to)));
            block(out, body, depth + 1);
            let _ = writeln!(out, "{indent}end");
        }
        StmtKind::Assert(e) => line(format!("assert {}", expr(e))),
        StmtKind::Error(text) => line(format!("error({})", quoted(text))),
        StmtKind::Print(text) => line(format!("print({})", quoted(text))),
        StmtKind::Printf(text, args) => {
            let args: String = args.iter().map(|a| format!(", {}", lval(a))).collect();
            line(format!("printf({}{args})", quoted(text)));
        }
        StmtKind::Show(args) => line(format!("show({})", args.iter().map(lval).collect::<Vec<_>>().join(", "))),
        StmtKind::Skip => line("skip".to_string()),
        StmtKind::Terminal { word, name } => line(format!("{} {}", word.text, name.text)),
    }
}

fn decl(d: &Decl) -> String {
    let mode = match d.mode {
        Mode::Plain => "",
        Mode::Constant => "constant ",
        Mode::Ancilla => "ancilla ",
    };
    let ty = match d.ty {
        DeclTy::Stack => "stack",
        DeclTy::Int(ty) => ty.name(),
    };
    let dims: String = d.dims.iter().map(|e| format!("[{}]", e.as_ref().map_or(String::new(), expr))).collect();
    let init = d.init.as_ref().map_or(String::new(), |e| format!(" = {}", expr(e)));
    format!("{mode}{ty} {}{dims}{init}", d.name.text)
}

fn lval(l: &Lval) -> String {
    let indices: String = l.indices.iter().map(|i| format!("[{}]", expr(i))).collect();
    format!("{}{indices}", l.name.text)
}

/// A text in double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // A digit after a number would belong to it.
            c if c.is_control() => drop(write!(out, "\\{}\\&", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}

/// The level of comparisons.
const COMPARISON: u8 = 5;

/// The level of an expression's operator: a higher level binds more loosely.
fn level(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Binary(op, ..) => op.spelling().1,
        _ => 0,
    }
}

fn expr(e: &Expr) -> String {
    let side = |e: &Expr, least: u8| if level(e) > least { format!("({})", expr(e)) } else { expr(e) };
    match &e.kind {
        ExprKind::Num(n) => n.to_string(),
        ExprKind::Bool(is) => is.to_string(),
        ExprKind::Nil => "nil".to_string(),
        ExprKind::Place(l) => lval(l),
        ExprKind::Unary(op, a) => {
            let sign = match op {
                UnOp::Not => "!",
                UnOp::Complement => "~",
                UnOp::Minus => "-",
            };
            // Without parentheses, the sign would be part of the number.
            let number = *op == UnOp::Minus && matches!(a.kind, ExprKind::Num(n) if n >= 0);
            if number { format!("-({})", expr(a)) } else { format!("{sign}{}", side(a, 0)) }
        }
        ExprKind::Cast(ty, a) => format!("({}) {}", ty.name(), side(a, 0)),
        ExprKind::Binary(op, a, b) => {
            let (sign, own) = op.spelling();
            // Levels associate to the left. Parentheses are needed where `&&` and `||` are mixed.
            let mixed = |e: &Expr| {
                let is = |op: &BinOp| matches!(op, BinOp::LogicalAnd | BinOp::LogicalOr);
                matches!(&e.kind, ExprKind::Binary(other, ..) if is(op) && is(other) && other != op)
            };
            // A comparison of the result of a comparison needs parentheses.
            let compares = |e: &Expr| own == COMPARISON && level(e) == COMPARISON;
            let left = if mixed(a) || compares(a) { format!("({})", expr(a)) } else { side(a, own) };
            format!("{left} {sign} {}", side(b, own - 1))
        }
        ExprKind::Empty(n) => format!("empty({})", n.text),
        ExprKind::Top(n) => format!("top({})", n.text),
        ExprKind::Size(n) => format!("size({})", n.text),
        ExprKind::List(list) => format!("{{{}}}", list.iter().map(expr).collect::<Vec<_>>().join(", ")),
    }
}
