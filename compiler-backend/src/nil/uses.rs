//! What the body of a function does with a parameter, as far as it tells what kind of argument that is.

use super::ast::{Binary, Condition, Expr, ExprKind, Function, Name, Stmt, StmtKind, TypeExpr, Unary};

/// The greatest depth of calls that are followed.
const DEEP: usize = 4;

/// Finds a reversible function by its name and the number of its arguments.
pub type Find<'f, 'a> = &'f dyn Fn(&str, usize) -> Option<&'a Function>;

/// The uses of a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Uses<'a> {
    /// The type that a function which takes it has for it, and that function.
    pub annotation: Option<(&'a TypeExpr, &'a Function)>,
    /// `x.name`, with what is done with it.
    pub fields: Vec<(String, Uses<'a>)>,
    /// `x.:2`: the numbers of parts, with what is done with them.
    pub parts: Vec<(usize, Uses<'a>)>,
    /// `x.re`, `x.im`
    pub complex: bool,
    /// `x[i, j]`, `length(x)`: the number of dimensions.
    pub dims: usize,
    /// What is done with the elements.
    pub element: Option<Box<Uses<'a>>>,
    /// A bound of a loop, or an index.
    pub whole: bool,
    /// A condition.
    pub truth: bool,
    /// `x[end+1] ↔ y`, `PUSH!(x, y)`: an array that grows.
    pub grows: bool,
    /// `x(a, b)`: a function with so many arguments.
    pub called: Option<Called>,
}

/// How a parameter is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// The number of arguments.
    pub arguments: usize,
    /// Whether it is a statement: a reversible function, and not one that gives a value.
    pub statement: bool,
    /// Whether its value is a condition.
    pub condition: bool,
}

/// The uses of a parameter of a function.
pub fn uses<'a>(f: &'a Function, name: &str, find: Find<'_, 'a>) -> Uses<'a> {
    of(f, name, find, 0)
}

fn of<'a>(f: &'a Function, name: &str, find: Find<'_, 'a>, depth: usize) -> Uses<'a> {
    let mut search = Search { name, found: Uses::default(), find, depth };
    search.block(&f.body);
    search.found
}

/// The search for the uses of one name.
struct Search<'n, 'f, 'a> {
    name: &'n str,
    found: Uses<'a>,
    find: Find<'f, 'a>,
    depth: usize,
}

impl<'a> Uses<'a> {
    /// Takes over what another function does with it.
    fn join(&mut self, other: Uses<'a>) {
        self.annotation = self.annotation.or(other.annotation);
        for (name, uses) in other.fields {
            entry(&mut self.fields, name).join(uses);
        }
        for (number, uses) in other.parts {
            entry(&mut self.parts, number).join(uses);
        }
        self.dims = self.dims.max(other.dims);
        self.complex |= other.complex;
        self.whole |= other.whole;
        self.truth |= other.truth;
        self.grows |= other.grows;
        self.called = self.called.or(other.called);
        if let Some(element) = other.element {
            self.element.get_or_insert_default().join(*element);
        }
    }
}

/// The uses of a field or a part.
fn entry<'u, 'a, K: PartialEq>(all: &'u mut Vec<(K, Uses<'a>)>, key: K) -> &'u mut Uses<'a> {
    let at = all.iter().position(|(own, _)| *own == key).unwrap_or_else(|| {
        all.push((key, Uses::default()));
        all.len() - 1
    });
    &mut all[at].1
}

impl<'a> Search<'_, '_, 'a> {
    /// What an expression that leads to a part of the parameter is used for.
    fn at(&mut self, e: &Expr) -> Option<&mut Uses<'a>> {
        match &e.kind {
            ExprKind::Name(name) if name == self.name => Some(&mut self.found),
            ExprKind::Index(of, at) if !at.is_empty() => {
                let whole = at.iter().all(|i| !matches!(i.kind, ExprKind::Colon | ExprKind::Range { .. }));
                let uses = self.at(of)?;
                uses.dims = uses.dims.max(at.len());
                whole.then(|| &mut **uses.element.get_or_insert_default())
            }
            ExprKind::Field(of, name) => {
                let uses = self.at(of)?;
                match (name.text.as_str(), name.text.parse::<usize>()) {
                    ("re" | "im", _) => {
                        uses.complex = true;
                        None
                    }
                    (_, Ok(number)) => Some(entry(&mut uses.parts, number)),
                    (field, Err(_)) => Some(entry(&mut uses.fields, field.to_string())),
                }
            }
            ExprKind::Const(inner) | ExprKind::Skip(inner) => self.at(inner),
            _ => None,
        }
    }

    fn block(&mut self, list: &[Stmt]) {
        list.iter().for_each(|s| self.stmt(s));
    }

    fn called(&mut self, callee: &Expr, arguments: usize, (statement, condition): (bool, bool)) {
        let name = match &callee.kind {
            ExprKind::Unary(Unary::Tilde, inner) => inner,
            _ => callee,
        };
        if matches!(&name.kind, ExprKind::Name(name) if name == self.name) {
            self.found.called.get_or_insert(Called { arguments, statement, condition });
        }
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
                self.top(target, true);
                // `m, n ← size(x)`
                if let (ExprKind::Tuple(names), ExprKind::Call { callee, args, .. }) = (&target.kind, &value.kind)
                    && matches!(&callee.kind, ExprKind::Name(f) if f == "size")
                    && let Some(uses) = args.first().and_then(|a| self.at(a))
                {
                    uses.dims = uses.dims.max(names.len());
                }
            }
            StmtKind::Exchange { left, right } => {
                for (side, other) in [(left, right), (right, left)] {
                    self.expr(&side.place);
                    self.top(&side.place, other.empty);
                    // `(x, y) ↔ @fields z`
                    if let (ExprKind::Fields(of), ExprKind::Tuple(parts)) = (&side.place.kind, &other.place.kind)
                        && parts.len() == 2
                        && let Some(uses) = self.at(of)
                    {
                        uses.complex |= uses.fields.is_empty();
                    }
                }
            }
            StmtKind::Call { callee, args, keywords, dot, .. } => {
                self.called(callee, args.len(), (true, false));
                let flips = matches!(&callee.kind, ExprKind::Name(f) if f == "FLIP");
                if let (ExprKind::Name(f), [stack, _]) = (&callee.kind, &args[..])
                    && matches!(f.as_str(), "PUSH!" | "POP!" | "COPYPUSH!" | "COPYPOP!")
                    && let Some(uses) = self.at(stack)
                {
                    (uses.grows, uses.dims) = (true, uses.dims.max(1));
                }
                for (n, a) in args.iter().enumerate() {
                    if flips && let Some(uses) = self.at(a) {
                        uses.truth = true;
                    }
                    self.argument(callee, a, (n, args.len()), *dot);
                }
                for (key, e) in keywords {
                    self.keyword(callee, key, e, args.len());
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
                if let ExprKind::Range { first, step, last } = &range.kind {
                    for e in [Some(first), step.as_ref(), Some(last)].into_iter().flatten() {
                        if let Some(uses) = self.at(e) {
                            uses.whole = true;
                        }
                    }
                } else if let Some(uses) = self.at(range) {
                    // `for e in x`
                    uses.dims = uses.dims.max(1);
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

    /// `x[end+1]`, or `x[end]` where a value is taken away: the array grows and shrinks.
    fn top(&mut self, place: &Expr, taken: bool) {
        if let ExprKind::Index(of, at) = &place.kind
            && let [at] = &at[..]
            && (at.is_above_end() || taken && at.is_end())
            && let Some(uses) = self.at(of)
        {
            uses.grows = true;
        }
    }

    /// What a function of the program does with the parameter as its argument number `n`.
    fn argument(&mut self, callee: &Expr, a: &Expr, (n, count): (usize, usize), dot: bool) {
        let name = match &callee.kind {
            ExprKind::Name(name) => name,
            ExprKind::Field(_, name) => &name.text,
            ExprKind::Unary(Unary::Tilde, inner) => return self.argument(inner, a, (n, count), dot),
            _ => return,
        };
        let (find, depth) = (self.find, self.depth);
        if depth >= DEEP || self.at(a).is_none() {
            return;
        }
        let Some(f) = find(name, count) else { return };
        let Some(param) = f.params.get(n).filter(|p| !p.rest) else { return };
        let mut inside = of(f, &param.name.text, find, depth + 1);
        inside.annotation = param.ty.as_ref().map(|ty| (ty, f)).or(inside.annotation);
        match self.at(a) {
            // `f.(x)`: it takes the elements.
            Some(uses) if dot => {
                uses.dims = uses.dims.max(1);
                uses.element.get_or_insert_default().join(inside);
            }
            Some(uses) => uses.join(inside),
            None => {}
        }
    }

    /// What a function of the program does with the parameter as this keyword.
    fn keyword(&mut self, callee: &Expr, key: &Name, e: &Expr, count: usize) {
        let (ExprKind::Name(name) | ExprKind::Field(_, Name { text: name, .. })) = &callee.kind else { return };
        let (find, depth) = (self.find, self.depth);
        if depth >= DEEP || self.at(e).is_none() {
            return;
        }
        let Some(f) = find(name, count) else { return };
        if !f.keywords.iter().any(|k| !k.rest && k.name.text == key.text) {
            return;
        }
        let inside = of(f, &key.text, find, depth + 1);
        if let Some(uses) = self.at(e) {
            uses.join(inside);
        }
    }

    fn condition(&mut self, c: &Condition) {
        for e in std::iter::once(&c.pre).chain(&c.post) {
            self.truth(e);
            self.expr(e);
        }
    }

    /// An expression that stands for a truth value.
    fn truth(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Unary(Unary::Not, inner) => self.truth(inner),
            ExprKind::Binary { op: Binary::LogicalAnd | Binary::LogicalOr, left, right, .. } => {
                self.truth(left);
                self.truth(right);
            }
            ExprKind::Call { callee, args, .. } => self.called(callee, args.len(), (false, true)),
            _ => {
                if let Some(uses) = self.at(e) {
                    uses.truth = true;
                }
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Index(_, at) => {
                self.at(e);
                for i in at {
                    if let Some(uses) = self.at(i) {
                        uses.whole = true;
                    }
                }
            }
            ExprKind::Field(..) => {
                self.at(e);
            }
            ExprKind::Binary { op: Binary::LogicalAnd | Binary::LogicalOr, .. } => self.truth(e),
            ExprKind::Fields(of) => {
                if let Some(uses) = self.at(of) {
                    uses.complex |= uses.fields.is_empty() && uses.annotation.is_none();
                }
            }
            ExprKind::Call { callee, args, .. } => {
                self.called(callee, args.len(), (false, false));
                for (n, a) in args.iter().enumerate() {
                    self.argument(callee, a, (n + 1, args.len() + 1), false);
                }
                // `t |> tget(i)`
                if matches!(&callee.kind, ExprKind::Name(f) if f == "tget") {
                    for a in args {
                        if let Some(uses) = self.at(a) {
                            uses.whole = true;
                        }
                    }
                }
                let dims = match (&callee.kind, args.get(1).map(|e| &e.kind)) {
                    (ExprKind::Name(f), Some(ExprKind::Int(n))) if matches!(f.as_str(), "size" | "axes") => {
                        n.parse().unwrap_or(1)
                    }
                    (ExprKind::Name(f), _)
                        if matches!(f.as_str(), "length" | "eachindex" | "size" | "axes" | "argmax") =>
                    {
                        1
                    }
                    _ => 0,
                };
                if let (Some(uses), 1..) = (args.first().and_then(|a| self.at(a)), dims) {
                    uses.dims = uses.dims.max(dims);
                }
            }
            _ => {}
        }
        e.parts().into_iter().for_each(|e| self.expr(e));
    }
}
