//! What the body of a function does with a parameter, as far as it tells what kind of argument that is.

use pendula::compiler::nil::ast::{Binary, Condition, Expr, ExprKind, Function, Stmt, StmtKind, Unary};

/// The kinds of arguments that uses tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `x[i, j]`, `size(x, 2)`
    Matrix,
    /// `x[i]`, `length(x)`
    Vector,
    /// `x.re`, `x.im`
    Complex,
    /// `x.:2`: a tuple of so many parts.
    Tuple(usize),
    /// `x.name`: a struct with this field.
    Field(String),
    /// A bound of a loop, or an index.
    Whole,
    /// A condition.
    Truth,
}

/// The kind of a parameter that its uses tell; of several, the one that tells most.
pub(super) fn kind(f: &Function, name: &str) -> Option<Kind> {
    let mut uses = Uses { name, found: Vec::new() };
    uses.block(&f.body);
    let found = uses.found;
    let parts = found.iter().filter_map(|k| if let Kind::Tuple(n) = k { Some(*n) } else { None }).max();
    let first = |wanted: &dyn Fn(&Kind) -> bool| found.iter().find(|k| wanted(k)).cloned();
    first(&|k| matches!(k, Kind::Field(_)))
        .or_else(|| parts.map(Kind::Tuple))
        .or_else(|| first(&|k| *k == Kind::Complex))
        .or_else(|| first(&|k| *k == Kind::Matrix))
        .or_else(|| first(&|k| *k == Kind::Vector))
        .or_else(|| first(&|k| *k == Kind::Truth))
        .or_else(|| first(&|k| *k == Kind::Whole))
}

/// The uses of one name.
struct Uses<'n> {
    name: &'n str,
    found: Vec<Kind>,
}

impl Uses<'_> {
    fn is(&self, e: &Expr) -> bool {
        matches!(&e.kind, ExprKind::Name(name) if name == self.name)
    }

    fn block(&mut self, list: &[Stmt]) {
        list.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Assign { target, value, .. } => {
                self.expr(target);
                self.expr(value);
            }
            StmtKind::Alloc { target, value, .. } => {
                self.expr(target);
                self.expr(value);
                // `m, n ← size(x)`
                if let (ExprKind::Tuple(names), ExprKind::Call { callee, args, .. }) = (&target.kind, &value.kind)
                    && names.len() == 2
                    && matches!(&callee.kind, ExprKind::Name(f) if f == "size")
                    && args.iter().any(|a| self.is(a))
                {
                    self.found.push(Kind::Matrix);
                }
            }
            StmtKind::Exchange { left, right } => {
                self.expr(&left.place);
                self.expr(&right.place);
            }
            StmtKind::Call { callee, args, keywords, .. } => {
                let flips = matches!(&callee.kind, ExprKind::Name(f) if f == "FLIP");
                if flips && args.iter().any(|a| self.is(a)) {
                    self.found.push(Kind::Truth);
                }
                args.iter().chain(keywords.iter().map(|(_, e)| e)).for_each(|e| self.expr(e));
            }
            StmtKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.condition(condition);
                    self.block(body);
                }
                self.block(otherwise);
            }
            StmtKind::While { condition, body } => {
                self.condition(condition);
                self.block(body);
            }
            StmtKind::For { range, body, .. } => {
                if let ExprKind::Range { first, step, last } = &range.kind
                    && [Some(first), step.as_ref(), Some(last)].into_iter().flatten().any(|e| self.is(e))
                {
                    self.found.push(Kind::Whole);
                }
                self.expr(range);
                self.block(body);
            }
            StmtKind::Block(body) | StmtKind::Routine { body, .. } => self.block(body),
            StmtKind::Inverse(inner) | StmtKind::Marked(_, inner) => self.stmt(inner),
            StmtKind::Convert { target, .. } => self.expr(target),
            StmtKind::Zeros { .. } | StmtKind::Unroutine { .. } | StmtKind::Safe(_) => {}
        }
    }

    fn condition(&mut self, c: &Condition) {
        for e in std::iter::once(&c.pre).chain(&c.post) {
            self.truth(e);
            self.expr(e);
        }
    }

    /// A name that stands for a truth value.
    fn truth(&mut self, e: &Expr) {
        match &e.kind {
            _ if self.is(e) => self.found.push(Kind::Truth),
            ExprKind::Unary(Unary::Not, inner) => self.truth(inner),
            ExprKind::Binary { op: Binary::LogicalAnd | Binary::LogicalOr, left, right, .. } => {
                self.truth(left);
                self.truth(right);
            }
            _ => {}
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Index(of, at) => {
                if self.is(of) {
                    self.found.push(if at.len() == 2 { Kind::Matrix } else { Kind::Vector });
                }
                if at.iter().any(|e| self.is(e)) {
                    self.found.push(Kind::Whole);
                }
            }
            ExprKind::Field(of, name) if self.is(of) => self.found.push(match name.text.as_str() {
                "re" | "im" => Kind::Complex,
                number => number.parse().map_or_else(|_| Kind::Field(number.to_string()), Kind::Tuple),
            }),
            ExprKind::Call { callee, args, .. } => {
                if let (ExprKind::Name(f), Some(first)) = (&callee.kind, args.first())
                    && self.is(first)
                {
                    match (f.as_str(), args.get(1).map(|e| &e.kind)) {
                        ("size" | "axes", Some(ExprKind::Int(n))) if n == "2" => self.found.push(Kind::Matrix),
                        ("length" | "eachindex" | "size" | "axes" | "argmax", _) => self.found.push(Kind::Vector),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        e.parts().into_iter().for_each(|e| self.expr(e));
    }
}
