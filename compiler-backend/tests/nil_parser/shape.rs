//! Syntax trees as short texts, which tests compare.

use pendula_compiler::nil::ast::{
    Binary, Condition, Expr, ExprKind, File, Function, Item, Mark, Param, Safe, Side, Stmt, StmtKind, TextPart,
    TypeArg, TypeExpr, Unary,
};
use pendula_compiler::nil::parser::parse;

/// Parses a file without errors.
pub(crate) fn read(text: &str) -> File {
    let (file, diagnostics) = parse(0, text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    file
}

/// The first function of a file without errors.
pub(crate) fn function(text: &str) -> Function {
    let found = read(text).items.into_iter().find_map(|i| if let Item::Function(f) = i { Some(f) } else { None });
    found.expect("a function")
}

/// The statements of a body as a short text.
pub(crate) fn body(text: &str) -> String {
    stmts(&function(&format!("@i function f(x)\n{text}\nend\n")).body)
}

/// An expression as a short text.
pub(crate) fn value(text: &str) -> String {
    match function(&format!("@i function f(x)\ny += {text}\nend\n")).body.as_slice() {
        [Stmt { kind: StmtKind::Assign { value, .. }, .. }] => expr(value),
        other => panic!("{text}: {}", stmts(other)),
    }
}

pub(crate) fn stmts(list: &[Stmt]) -> String {
    list.iter().map(stmt).collect::<Vec<_>>().join(" ")
}

fn list(items: &[Expr]) -> String {
    items.iter().map(|e| format!(" {}", expr(e))).collect()
}

fn call(callee: &Expr, dot: bool, args: &[Expr], keywords: &[(pendula_compiler::nil::ast::Name, Expr)]) -> String {
    let keywords: String = keywords.iter().map(|(k, v)| format!(" {}={}", k.text, expr(v))).collect();
    format!("{}{}{}{keywords}", expr(callee), if dot { "." } else { "" }, list(args))
}

fn condition(c: &Condition) -> String {
    match &c.post {
        Some(post) => format!("({}, {})", expr(&c.pre), expr(post)),
        None => expr(&c.pre),
    }
}

pub(crate) fn stmt(s: &Stmt) -> String {
    match &s.kind {
        StmtKind::Assign { op, dot, target, value } => {
            format!("({}{} {} {})", if *dot { "." } else { "" }, op.text(), expr(target), expr(value))
        }
        StmtKind::Alloc { target, value, free } => {
            format!("({} {} {})", if *free { "→" } else { "←" }, expr(target), expr(value))
        }
        StmtKind::Zeros { ones, ty: t, names, free } => {
            let names: String = names.iter().map(|n| format!(" {}", n.text)).collect();
            format!("({}{} {}{names})", if *free { "~" } else { "" }, if *ones { "ones" } else { "zeros" }, ty(t))
        }
        StmtKind::Call { callee, inverse, dot, args, keywords } => {
            format!("({}call {})", if *inverse { "un" } else { "" }, call(callee, *dot, args, keywords))
        }
        StmtKind::If { branches, otherwise } => {
            let branches: String = branches.iter().map(|(c, b)| format!(" {} [{}]", condition(c), stmts(b))).collect();
            format!("(if{branches} else [{}])", stmts(otherwise))
        }
        StmtKind::While { condition: c, body } => format!("(while {} [{}])", condition(c), stmts(body)),
        StmtKind::For { var, range, body } => format!("(for {} {} [{}])", var.text, expr(range), stmts(body)),
        StmtKind::Block(body) => format!("[{}]", stmts(body)),
        StmtKind::Routine { name, body } => {
            format!("(routine {} [{}])", name.as_ref().map_or("_", |n| &n.text), stmts(body))
        }
        StmtKind::Unroutine { name } => format!("(unroutine {})", name.as_ref().map_or("_", |n| &n.text)),
        StmtKind::Inverse(inner) => format!("(~ {})", stmt(inner)),
        StmtKind::Marked(mark, inner) => {
            let mark = match mark {
                Mark::InvCheckOff => "invcheckoff",
                Mark::Inbounds => "inbounds",
                Mark::Inline => "inline",
                Mark::Simd => "simd",
                Mark::Hint => "hint",
            };
            format!("(@{mark} {})", stmt(inner))
        }
        StmtKind::Safe(Safe::Assert { condition, message }) => {
            format!(
                "(assert {}{})",
                expr(condition),
                message.as_ref().map_or(String::new(), |m| format!(" {}", expr(m)))
            )
        }
        StmtKind::Safe(Safe::Error(message)) => {
            format!("(error{})", message.as_ref().map_or(String::new(), |m| format!(" {}", expr(m))))
        }
        StmtKind::Safe(Safe::Show(shown)) => format!("(show{})", list(shown)),
        StmtKind::Safe(Safe::Clear(target)) => format!("(clear {})", expr(target)),
        StmtKind::Safe(Safe::Other(text)) => format!("(other {text:?})"),
        StmtKind::Exchange { left, right } => {
            let side = |s: &Side| format!("{}{}", expr(&s.place), if s.empty { "::∅" } else { "" });
            format!("(↔ {} {})", side(left), side(right))
        }
        StmtKind::Convert { from, to, target } => format!("(convert {} {} {})", ty(from), ty(to), expr(target)),
    }
}

pub(crate) fn ty(t: &TypeExpr) -> String {
    let args: Vec<String> = t
        .args
        .iter()
        .map(|a| match a {
            TypeArg::Type(t) => ty(t),
            TypeArg::Number(n, _) => n.to_string(),
            TypeArg::Of(e) => format!("typeof {}", expr(e)),
        })
        .collect();
    if args.is_empty() { t.name.text.clone() } else { format!("{}{{{}}}", t.name.text, args.join(" ")) }
}

pub(crate) fn param(p: &Param) -> String {
    let ty = p.ty.as_ref().map_or(String::new(), |t| format!("::{}", ty(t)));
    let default = p.default.as_ref().map_or(String::new(), |e| format!("={}", expr(e)));
    format!("{}{ty}{}{default}", p.name.text, if p.rest { "..." } else { "" })
}

fn binary(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Quot => "÷",
        Binary::Rem => "%",
        Binary::Pow => "^",
        Binary::And => "&",
        Binary::Or => "|",
        Binary::Xor => "⊻",
        Binary::Shl => "<<",
        Binary::Sar => ">>",
        Binary::Shr => ">>>",
        Binary::LogicalAnd => "&&",
        Binary::LogicalOr => "||",
        Binary::Eq => "==",
        Binary::Ne => "!=",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Gt => ">",
        Binary::Ge => ">=",
    }
}

pub(crate) fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int(text) | ExprKind::Real(text) | ExprKind::Name(text) => text.clone(),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Text(parts) => {
            let part = |p: &TextPart| match p {
                TextPart::Plain(text) => format!("{text:?}"),
                TextPart::Value(e) => format!("${}", expr(e)),
            };
            format!("<{}>", parts.iter().map(part).collect::<Vec<_>>().join(" "))
        }
        ExprKind::Call { callee, dot, args, keywords } => format!("(call {})", call(callee, *dot, args, keywords)),
        ExprKind::Type(t) => ty(t),
        ExprKind::Typed(inner, t) => format!("(:: {} {})", expr(inner), ty(t)),
        ExprKind::Fields(inner) => format!("(fields {})", expr(inner)),
        ExprKind::Splat(inner) => format!("(... {})", expr(inner)),
        ExprKind::Unary(op, inner) => {
            let op = match op {
                Unary::Minus => "-",
                Unary::Plus => "+",
                Unary::Not => "!",
                Unary::Tilde => "~",
                Unary::Root => "√",
            };
            format!("({op} {})", expr(inner))
        }
        ExprKind::Binary { op, dot, left, right } => {
            format!("({}{} {} {})", if *dot { "." } else { "" }, binary(*op), expr(left), expr(right))
        }
        ExprKind::Choice(a, b, c) => format!("(? {} {} {})", expr(a), expr(b), expr(c)),
        ExprKind::Index(a, index) => format!("(index {}{})", expr(a), list(index)),
        ExprKind::Field(a, name) => format!("(. {} {})", expr(a), name.text),
        ExprKind::Adjoint(a) => format!("(' {})", expr(a)),
        ExprKind::Pipe(a, b) => format!("(|> {} {})", expr(a), expr(b)),
        ExprKind::Range { first, step: None, last } => format!("(: {} {})", expr(first), expr(last)),
        ExprKind::Range { first, step: Some(step), last } => {
            format!("(: {} {} {})", expr(first), expr(step), expr(last))
        }
        ExprKind::Colon => ":".to_owned(),
        ExprKind::Tuple(items) => format!("(tuple{})", list(items)),
        ExprKind::Array(items) => format!("(array{})", list(items)),
        ExprKind::Const(a) => format!("(const {})", expr(a)),
        ExprKind::Skip(a) => format!("(skip {})", expr(a)),
    }
}
