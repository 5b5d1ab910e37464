//! Evaluates the host's part of a file, and its tests.

use std::collections::HashMap;
use std::rc::Rc;

use super::functions;
use super::reversible::Reversible;
use super::syntax::{Binary, Expr, Stmt, StmtKind, Target, Test};
use super::value::{Func, Value};
use crate::cli::interrupt::is_requested;

/// Turns of loops in all, and calls within one another, at most.
const TURNS: usize = 1_000_000;
const CALLS: usize = 100;

/// Why there is no value.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// It needs what is not evaluated here.
    Unknown(String),
    /// Julia would throw an error: what it says.
    Thrown(String),
    /// The compiler refuses a function or statement, as NiLang may refuse it: whether that is meant, a test says.
    Refused(String),
    /// A function returns.
    Return(Value),
    /// A loop ends.
    Break,
    /// A turn of a loop ends.
    Continue,
}

pub(super) type Evaluated<T> = Result<T, Stop>;

pub(super) fn unknown<T>(why: impl Into<String>) -> Evaluated<T> {
    Err(Stop::Unknown(why.into()))
}

pub(super) fn thrown<T>(why: impl Into<String>) -> Evaluated<T> {
    Err(Stop::Thrown(why.into()))
}

/// What became of a test.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    Met,
    Unmet(String),
    Unknown(String),
}

/// A scope: its variables; `None` for those whose values are not known.
type Scope = HashMap<String, Option<Value>>;

/// Evaluates statements.
pub(super) struct Machine<'t> {
    pub(super) text: &'t str,
    pub(super) reversible: Reversible<'t>,
    scopes: Vec<Scope>,
    /// The tests by their places, in the order in which they ended.
    pub(super) verdicts: Vec<(usize, Verdict)>,
    /// The place of the statement that runs.
    pub(super) at: std::ops::Range<usize>,
    random: u64,
    turns: usize,
    calls: usize,
}

impl<'t> Machine<'t> {
    pub(super) fn new(text: &'t str, reversible: Reversible<'t>) -> Machine<'t> {
        Machine {
            text,
            reversible,
            scopes: vec![Scope::new()],
            verdicts: Vec::new(),
            at: 0..0,
            random: 0x9e37_79b9_7f4a_7c15,
            turns: 0,
            calls: 0,
        }
    }

    /// A number from 0 to 1.
    pub(super) fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A number of the standard normal distribution.
    pub(super) fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    pub(super) fn run(&mut self, all: &[Stmt]) -> Evaluated<Value> {
        let mut last = Value::Nothing;
        for stmt in all {
            last = self.statement(stmt)?;
        }
        Ok(last)
    }

    /// Runs a statement. What it needs and is not evaluated here makes the variables unknown that it would change.
    fn statement(&mut self, stmt: &Stmt) -> Evaluated<Value> {
        self.at = stmt.span.clone();
        if is_requested() {
            return unknown("it was interrupted");
        }
        match self.execute(stmt) {
            Err(Stop::Unknown(why) | Stop::Refused(why)) => {
                self.forget(stmt, &why);
                if self.calls > 0 { Err(Stop::Unknown(why)) } else { Ok(Value::Nothing) }
            }
            // At the top, an error ends the statement only.
            Err(Stop::Thrown(why)) if self.calls == 0 => {
                self.forget(stmt, &format!("an error before: {why}"));
                self.verdicts.push((stmt.span.start, Verdict::Unknown(format!("an error: {why}"))));
                Ok(Value::Nothing)
            }
            Err(Stop::Return(_)) if self.calls == 0 => {
                self.verdicts.push((stmt.span.start, Verdict::Unknown("`return` outside of a function".to_string())));
                Ok(Value::Nothing)
            }
            other => other,
        }
    }

    /// Makes all variables unknown that a statement may change, and the tests in it.
    fn forget(&mut self, stmt: &Stmt, why: &str) {
        let mut names = Vec::new();
        let mut tests = Vec::new();
        changed(stmt, &mut names, &mut tests);
        // What is not read may change all that it names, a function the arrays that it takes, other statements their variables.
        let text = self.text.get(stmt.span.clone()).unwrap_or_default();
        let skipped = matches!(stmt.kind, StmtKind::Skipped { .. });
        let named = self.variables_in(text);
        let is_array = |name: &String| matches!(self.variable(name), Some(Some(v)) if !v.arrays().is_empty());
        let is_function = |name: &String| matches!(self.variable(name), Some(Some(Value::Function(_))));
        let test = matches!(stmt.kind, StmtKind::Test(_));
        names.extend(named.into_iter().filter(|name| skipped || is_array(name) || !test && !is_function(name)));
        // Other variables with the same arrays.
        let arrays: Vec<_> =
            names.iter().filter_map(|name| self.variable(name)?.as_ref()).flat_map(Value::arrays).collect();
        for scope in &mut self.scopes {
            for value in scope.values_mut() {
                let shares = |v: &Value| v.arrays().iter().any(|a| arrays.iter().any(|b| Rc::ptr_eq(a, b)));
                if value.as_ref().is_some_and(shares) {
                    *value = None;
                }
            }
        }
        for name in names {
            self.set(&name, None);
        }
        for at in tests {
            self.verdicts.push((at, Verdict::Unknown(why.to_string())));
        }
    }

    fn execute(&mut self, stmt: &Stmt) -> Evaluated<Value> {
        match &stmt.kind {
            StmtKind::Nothing => Ok(Value::Nothing),
            StmtKind::Skipped { why, .. } => unknown(why.clone()),
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Assign(targets, e) => {
                let value = self.expr(e)?;
                self.assign(targets, &value)?;
                Ok(value)
            }
            StmtKind::Test(test) => {
                let verdict = self.test(test);
                if let Verdict::Unknown(why) = verdict {
                    return unknown(why);
                }
                self.verdicts.push((stmt.span.start, verdict));
                Ok(Value::Nothing)
            }
            StmtKind::Scope(body) => self.scope(body),
            StmtKind::For(ranges, body) => {
                let done = self.each(ranges, &mut |machine| match machine.run(body) {
                    Err(Stop::Continue) => Ok(()),
                    other => other.map(drop),
                });
                if matches!(done, Err(Stop::Break)) { Ok(Value::Nothing) } else { done.map(|()| Value::Nothing) }
            }
            StmtKind::While(condition, body) => {
                while self.truth(condition)? {
                    self.turn()?;
                    match self.scope(body) {
                        Err(Stop::Break) => break,
                        Err(Stop::Continue) => {}
                        other => drop(other?),
                    }
                }
                Ok(Value::Nothing)
            }
            StmtKind::If(arms, rest) => {
                for (condition, body) in arms {
                    if self.truth(condition)? {
                        return self.run(body);
                    }
                }
                self.run(rest)
            }
            StmtKind::Function(name, parameters, body) => {
                let f = Func::Host(parameters.clone(), body.clone().into(), None, self.scopes.len());
                // Which of several methods is meant is not looked for.
                let several = self.scopes.last().is_some_and(|scope| scope.contains_key(name));
                self.define(name, Value::Function(f));
                if several {
                    self.set(name, None);
                }
                Ok(Value::Nothing)
            }
            StmtKind::Return(e) => {
                let value = e.as_ref().map_or(Ok(Value::Nothing), |e| self.expr(e))?;
                Err(Stop::Return(value))
            }
        }
    }

    fn turn(&mut self) -> Evaluated<()> {
        self.turns += 1;
        if self.turns > TURNS { unknown("loops take too long") } else { Ok(()) }
    }

    fn scope(&mut self, body: &[Stmt]) -> Evaluated<Value> {
        self.scopes.push(Scope::new());
        let out = self.run(body);
        self.scopes.pop();
        out
    }

    /// Does something for all values of loops' variables, in a scope of its own.
    fn each(
        &mut self,
        ranges: &[(Vec<String>, Expr)],
        then: &mut dyn FnMut(&mut Self) -> Evaluated<()>,
    ) -> Evaluated<()> {
        let Some(((names, range), rest)) = ranges.split_first() else { return then(self) };
        let range = self.expr(range)?;
        for item in functions::items(&range)? {
            self.turn()?;
            self.scopes.push(Scope::new());
            let done = self.bind(names, &item).and_then(|()| self.each(rest, then));
            self.scopes.pop();
            done?;
        }
        Ok(())
    }

    fn bind(&mut self, names: &[String], item: &Value) -> Evaluated<()> {
        if let [name] = names {
            self.define(name, item.clone());
            return Ok(());
        }
        let parts = functions::items(item)?;
        if parts.len() < names.len() {
            return thrown("too few parts");
        }
        names.iter().zip(parts).for_each(|(name, part)| self.define(name, part));
        Ok(())
    }

    fn define(&mut self, name: &str, value: Value) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), Some(value));
        }
    }

    fn set(&mut self, name: &str, value: Option<Value>) {
        let last = self.scopes.len() - 1;
        // Inside of a scope, a name that only the file has is a new variable.
        let at = self.scopes.iter().rposition(|scope| scope.contains_key(name)).filter(|at| *at > 0).unwrap_or(last);
        self.scopes[at].insert(name.to_string(), value);
    }

    /// The value of a variable, if there is one.
    pub(super) fn variable(&self, name: &str) -> Option<&Option<Value>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub(super) fn assign(&mut self, targets: &[Target], value: &Value) -> Evaluated<()> {
        if let [target] = targets {
            return self.put(target, value.clone());
        }
        let parts = functions::items(value)?;
        if parts.len() < targets.len() {
            return thrown("too few parts");
        }
        targets.iter().zip(parts).try_for_each(|(target, part)| self.put(target, part))
    }

    fn put(&mut self, target: &Target, value: Value) -> Evaluated<()> {
        match target {
            Target::Name(name) => self.set(name, Some(value)),
            Target::Index(array, indices) => {
                let array = self.expr(array)?;
                let indices = self.indices(&array, indices)?;
                functions::store(&array, &indices, value)?;
            }
        }
        Ok(())
    }

    fn test(&mut self, test: &Test) -> Verdict {
        match test {
            Test::Holds(e) => match self.expr(e) {
                Ok(Value::Bool(true)) => Verdict::Met,
                Ok(Value::Bool(false)) => Verdict::Unmet(self.differs(e)),
                Ok(other) => Verdict::Unknown(format!("{other} is no truth value")),
                Err(Stop::Thrown(why)) => Verdict::Unmet(why),
                Err(Stop::Unknown(why) | Stop::Refused(why)) => Verdict::Unknown(why),
                Err(Stop::Return(_) | Stop::Break | Stop::Continue) => Verdict::Unknown("it returns".to_string()),
            },
            Test::Throws(kind, e) => match self.expr(e) {
                Ok(value) => Verdict::Unmet(format!("an error is expected, and it gives {value}")),
                Err(Stop::Refused(_)) => Verdict::Met,
                // Errors of the machine are of one kind, those of the host have their names.
                Err(Stop::Thrown(why)) if why.starts_with(kind.as_str()) => Verdict::Met,
                Err(Stop::Thrown(why)) if kind == "InvertibilityError" && why.starts_with("error[") => Verdict::Met,
                Err(Stop::Thrown(why)) => Verdict::Unknown(format!("whether this is {kind}: {why}")),
                Err(Stop::Unknown(why)) => Verdict::Unknown(why),
                Err(Stop::Return(_) | Stop::Break | Stop::Continue) => Verdict::Unknown("it returns".to_string()),
            },
        }
    }

    /// What a comparison that does not hold compares.
    fn differs(&mut self, e: &Expr) -> String {
        if let Expr::Binary { op, a, b, .. } = e
            && *op != Binary::In
            && ![a, b].into_iter().any(|e| calls(e))
            && let (Ok(a), Ok(b)) = (self.expr(a), self.expr(b))
        {
            return format!("{a} and {b}");
        }
        match e {
            Expr::Binary { a, b, .. } => {
                let [a, b] = [a, b].map(|e| self.expr(e).map_or("an error".to_string(), |v| v.to_string()));
                format!("{a} and {b}")
            }
            _ => "it does not hold".to_string(),
        }
    }

    fn truth(&mut self, e: &Expr) -> Evaluated<bool> {
        match self.expr(e)? {
            Value::Bool(b) => Ok(b),
            other => thrown(format!("{other} is no truth value")),
        }
    }

    pub(super) fn expr(&mut self, e: &Expr) -> Evaluated<Value> {
        Ok(match e {
            Expr::Int(k) => Value::Int(*k),
            Expr::Float(x) => Value::Float(*x),
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Symbol(name) => Value::Symbol(name.clone()),
            Expr::Name(name) => self.name(name)?,
            Expr::Operator(sign) => Value::Function(Func::Builtin(sign.clone())),
            Expr::Tuple(parts) => {
                let tuple = Value::Tuple(self.arguments(parts)?);
                if tuple.size() > functions::LARGEST {
                    return unknown("the tuple is too large");
                }
                tuple
            }
            Expr::Array(ty, rows, vector) => self.array(ty.as_deref(), rows, *vector)?,
            Expr::Range(from, step, to) => {
                let step = step.as_ref().map_or(Ok(Value::Int(1)), |e| self.expr(e))?;
                let (from, to) = (self.expr(from)?, self.expr(to)?);
                functions::range(&from, &step, &to)?
            }
            Expr::Call { f, args, keywords, dotted } => self.call(f, args, keywords, *dotted)?,
            Expr::Index(array, indices) => {
                let array = self.expr(array)?;
                let indices = self.indices(&array, indices)?;
                functions::index(&array, &indices)?
            }
            Expr::Field(e, name) => {
                if self.is_module(e) {
                    return self.name(name);
                }
                let value = self.expr(e)?;
                functions::field(&value, name)?
            }
            Expr::Curly(e) => self.expr(e)?,
            Expr::Binary { op, dotted, a, b } => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                functions::binary(*op, *dotted, &a, &b)?
            }
            Expr::Not(e) => Value::Bool(!self.truth(e)?),
            Expr::Negative(e) => {
                let value = self.expr(e)?;
                functions::binary(Binary::Mul, true, &Value::Int(-1), &value)?
            }
            Expr::Inverse(e) => match self.expr(e)? {
                Value::Function(Func::Reversible(name, inverse)) => Value::Function(Func::Reversible(name, !inverse)),
                _ => return unknown("only reversible functions have inverses here"),
            },
            Expr::Transpose(e) => {
                let value = self.expr(e)?;
                functions::transpose(&value)?
            }
            Expr::And(a, b) => Value::Bool(self.truth(a)? && self.truth(b)?),
            Expr::Or(a, b) => Value::Bool(self.truth(a)? || self.truth(b)?),
            Expr::If(c, a, b) => return if self.truth(c)? { self.expr(a) } else { self.expr(b) },
            Expr::Lambda(..) if self.calls > 0 => {
                return unknown("functions that are made by functions are not evaluated");
            }
            Expr::Lambda(parameters, body) => Value::Function(Func::Host(
                parameters.clone(),
                Rc::from([]),
                Some(Rc::new((**body).clone())),
                self.scopes.len(),
            )),
            Expr::Comprehension(body, ranges, condition) => {
                let mut out = Vec::new();
                self.each(ranges, &mut |machine| {
                    if condition.as_ref().map_or(Ok(true), |c| machine.truth(c))? {
                        out.push(machine.expr(body)?);
                    }
                    if out.iter().map(Value::size).sum::<usize>() > functions::LARGEST {
                        return unknown("the array is too large");
                    }
                    Ok(())
                })?;
                if ranges.len() > 1 && condition.is_none() {
                    return unknown("a comprehension over several variables is not evaluated");
                }
                Value::vector(out)
            }
            Expr::Splat(_) => return unknown("`...` is not evaluated here"),
            Expr::Instr(span) => return self.instr(span),
            Expr::Quoted(span) => Value::Code(self.text.get(span.clone()).unwrap_or_default().to_string()),
            Expr::Block(all) => return self.run_inside(all),
        })
    }

    /// Statements inside of an expression: what they need ends the expression.
    fn run_inside(&mut self, all: &[Stmt]) -> Evaluated<Value> {
        self.calls += 1;
        let out = if self.calls > CALLS { unknown("calls are nested too deeply") } else { self.run(all) };
        self.calls -= 1;
        out
    }

    fn name(&mut self, name: &str) -> Evaluated<Value> {
        match name {
            "break" => return Err(Stop::Break),
            "continue" => return Err(Stop::Continue),
            _ => {}
        }
        match self.variable(name) {
            Some(Some(value)) => return Ok(value.clone()),
            Some(None) => return unknown(format!("`{name}` is not known")),
            None => {}
        }
        if let Some(value) = functions::constant(name) {
            return Ok(value);
        }
        if self.reversible.has(name) {
            return Ok(Value::Function(Func::Reversible(name.to_string(), false)));
        }
        if super::parser::is_type(name) {
            return Ok(Value::Type(name.to_string()));
        }
        Ok(Value::Function(Func::Builtin(name.to_string())))
    }

    fn array(&mut self, ty: Option<&Expr>, rows: &[Vec<Expr>], vector: bool) -> Evaluated<Value> {
        let ty = match ty {
            Some(Expr::Name(name)) => Some(name.as_str()),
            _ => None,
        };
        let float = ty.is_some_and(|t| t.starts_with("Float"));
        if ty.is_some_and(|t| t.starts_with("Complex")) {
            return unknown("arrays of complex numbers by their type are not evaluated");
        }
        let convert = |v: Value| if let (Value::Int(k), true) = (&v, float) { Value::Float(*k as f64) } else { v };
        let column = vector && rows.len() > 1;
        let rows: Vec<Vec<Value>> = rows.iter().map(|row| self.arguments(row)).collect::<Evaluated<_>>()?;
        if rows.iter().flatten().map(Value::size).sum::<usize>() > functions::LARGEST {
            return unknown("the array is too large");
        }
        if column && rows.iter().flatten().any(|v| matches!(v, Value::Array(_))) {
            return unknown("arrays of arrays side by side are not evaluated");
        }
        if ty.is_some_and(|t| t.starts_with("Int")) && rows.iter().flatten().any(|v| matches!(v, Value::Float(_))) {
            return unknown("an array of whole numbers with others");
        }
        if vector {
            let items: Vec<Value> = rows.into_iter().flatten().map(convert).collect();
            let array = functions::numbers_alike(items);
            if let Value::Array(a) = &array {
                a.borrow_mut().empty = if ty.is_some_and(|t| t.starts_with("Int")) { "Int" } else { "Float64" };
            }
            return Ok(array);
        }
        let columns = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != columns) || rows.iter().flatten().any(|v| matches!(v, Value::Array(_))) {
            return unknown("arrays of arrays side by side are not evaluated");
        }
        let count = rows.len();
        let items = (0..columns).flat_map(|c| rows.iter().map(move |row| row[c].clone())).map(convert).collect();
        let Value::Array(flat) = functions::numbers_alike(items) else { return unknown("an array") };
        flat.borrow_mut().shape = vec![count, columns];
        Ok(Value::Array(flat))
    }

    /// The arguments of a call, with those of tuples that are spread.
    pub(super) fn arguments(&mut self, args: &[Expr]) -> Evaluated<Vec<Value>> {
        let mut out = Vec::with_capacity(args.len());
        for arg in args {
            if let Expr::Splat(e) = arg {
                let value = self.expr(e)?;
                out.extend(functions::items(&value)?);
            } else {
                out.push(self.expr(arg)?);
            }
        }
        Ok(out)
    }

    /// Indices, in which `end` is the length.
    fn indices(&mut self, array: &Value, indices: &[Expr]) -> Evaluated<Vec<Option<Value>>> {
        let mut out = Vec::new();
        for (n, index) in indices.iter().enumerate() {
            if matches!(index, Expr::Name(name) if name == ":") {
                out.push(None);
                continue;
            }
            let len = functions::length_of(array, (indices.len() > 1).then_some(n))?;
            self.scopes.push(Scope::from([("end".to_string(), Some(Value::Int(len as i64)))]));
            let index = self.expr(index);
            self.scopes.pop();
            out.push(Some(index?));
        }
        Ok(out)
    }

    fn call(&mut self, f: &Expr, args: &[Expr], keywords: &[(String, Expr)], dotted: bool) -> Evaluated<Value> {
        let f = self.expr(f)?;
        let args = self.arguments(args)?;
        let keywords =
            keywords.iter().map(|(name, e)| Ok((name.clone(), self.expr(e)?))).collect::<Evaluated<Vec<_>>>()?;
        self.apply(&f, args, &keywords, dotted)
    }

    pub(super) fn apply(
        &mut self,
        f: &Value,
        args: Vec<Value>,
        keywords: &[(String, Value)],
        dotted: bool,
    ) -> Evaluated<Value> {
        match f {
            Value::Function(Func::Reversible(name, inverse)) => {
                let name = if *inverse { format!("(~{name})") } else { name.clone() };
                let statement = format!("{name}{}", if dotted { "." } else { "" });
                self.reversible_call(&statement, args, keywords)
            }
            Value::Function(Func::Host(parameters, body, one, scopes)) => {
                if dotted {
                    return functions::broadcast(&args, &mut |parts| self.apply(f, parts, keywords, false));
                }
                if parameters.len() != args.len() || !keywords.is_empty() {
                    return unknown("functions of the host take as many arguments as they have parameters");
                }
                // What stands around the function is seen, and what stands around its call is not.
                let rest = self.scopes.split_off((*scopes).min(self.scopes.len()));
                self.scopes.push(parameters.iter().cloned().zip(args.into_iter().map(Some)).collect());
                self.calls += 1;
                self.turns += 1;
                let out = match one {
                    _ if self.turns > TURNS => unknown("calls take too long"),
                    _ if self.calls > CALLS => unknown("calls are nested too deeply"),
                    Some(e) => self.expr(e),
                    None => self.run(body),
                };
                self.calls -= 1;
                self.scopes.pop();
                self.scopes.extend(rest);
                match out {
                    Err(Stop::Return(value)) => Ok(value),
                    other => other,
                }
            }
            Value::Function(Func::Builtin(name)) => {
                let name = name.clone();
                if dotted {
                    return functions::broadcast(&args, &mut |parts| self.builtin(&name, parts, keywords));
                }
                self.builtin(&name, args, keywords)
            }
            Value::Type(name) => functions::convert(name, &args),
            _ => unknown("this cannot be called"),
        }
    }

    /// The part of the text for which a call stands: in no block, all that follows, which is not defined yet.
    pub(super) fn place(&self) -> std::ops::Range<usize> {
        let end = if self.scopes.len() == 1 { self.text.len() } else { self.at.end };
        self.at.start..end
    }

    /// Tells the numbers that functions of the file may name.
    pub(super) fn note_constants(&mut self) {
        let number = |v: &Value| match v {
            Value::Bool(_) | Value::Int(_) => Some(v.to_string()),
            Value::Float(x) if x.is_finite() => Some(v.to_string()),
            _ => None,
        };
        let mut all = HashMap::new();
        for (name, value) in self.scopes.iter().flatten() {
            all.insert(name.clone(), value.as_ref().and_then(number));
        }
        self.reversible.constants = all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    }

    /// The variables that a part of the text names.
    fn variables_in(&self, text: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for token in super::lexer::tokens(text) {
            if let super::lexer::Kind::Word(name) = token.kind
                && !names.contains(&name)
                && self.variable(&name).is_some()
            {
                names.push(name);
            }
        }
        names
    }

    /// Whether an expression may be a module: `M`, `M.N`.
    fn is_module(&self, e: &Expr) -> bool {
        let is_one = |name: &str| self.variable(name).is_none() && name.starts_with(char::is_uppercase);
        match e {
            Expr::Name(name) => is_one(name),
            Expr::Field(outer, name) => is_one(name) && self.is_module(outer),
            _ => false,
        }
    }

    /// A statement after `@instr`: the variables that it names are changed.
    fn instr(&mut self, span: &std::ops::Range<usize>) -> Evaluated<Value> {
        let statement = self.text.get(span.clone()).unwrap_or_default().to_string();
        if statement.contains("GLOBAL_STACK") {
            return unknown("each call is a run with a global stack of its own");
        }
        let mut names = self.variables_in(&statement);
        if let Some(name) = names.iter().find(|name| matches!(self.variable(name), Some(None))) {
            return unknown(format!("`{name}` is not known"));
        }
        names.retain(|name| matches!(self.variable(name), Some(Some(v)) if v.parameter_type().is_some()));
        let values: Vec<Value> = names.iter().map(|name| self.name(name)).collect::<Evaluated<_>>()?;
        self.note_constants();
        let after = self.reversible.statement(&self.place(), &statement, &names, &values);
        if matches!(after, Err(Stop::Thrown(_))) {
            // An error comes when arrays are changed in part; numbers get their values at the end.
            let arrays = names.iter().zip(&values).filter(|(_, v)| matches!(v, Value::Array(_)));
            arrays.for_each(|(name, _)| self.set(name, None));
        }
        let after = after?;
        for (name, (before, after)) in names.iter().zip(values.iter().zip(after)) {
            let value = functions::in_place(before, after);
            self.set(name, Some(value));
        }
        Ok(Value::Nothing)
    }

    /// Calls a reversible function, which changes arrays where they are.
    pub(super) fn reversible_call(
        &mut self,
        f: &str,
        args: Vec<Value>,
        keywords: &[(String, Value)],
    ) -> Evaluated<Value> {
        self.note_constants();
        let after = self.reversible.call(&self.place(), f, &args, keywords)?;
        let mut out: Vec<Value> =
            args.iter().zip(after).map(|(before, after)| functions::in_place(before, after)).collect();
        Ok(if out.len() == 1 { out.swap_remove(0) } else { Value::Tuple(out) })
    }
}

/// Whether an expression calls something.
fn calls(e: &Expr) -> bool {
    match e {
        Expr::Call { .. } | Expr::Instr(_) => true,
        Expr::Index(e, _) | Expr::Field(e, _) => calls(e),
        _ => false,
    }
}

/// The variables that a statement may change, and the tests in it.
fn changed(stmt: &Stmt, names: &mut Vec<String>, tests: &mut Vec<usize>) {
    match &stmt.kind {
        StmtKind::Assign(targets, _) => {
            for target in targets {
                match target {
                    Target::Name(name) => names.push(name.clone()),
                    Target::Index(Expr::Name(name), _) => names.push(name.clone()),
                    Target::Index(..) => {}
                }
            }
        }
        StmtKind::Expr(Expr::Instr(_)) => {}
        StmtKind::Skipped { names: own, tests: inside, .. } => {
            names.extend(own.iter().cloned());
            tests.extend(inside);
        }
        StmtKind::Test(_) => tests.push(stmt.span.start),
        StmtKind::Scope(body) | StmtKind::For(_, body) | StmtKind::While(_, body) => {
            body.iter().for_each(|stmt| changed(stmt, names, tests));
        }
        StmtKind::If(arms, rest) => {
            arms.iter().flat_map(|(_, body)| body).chain(rest).for_each(|stmt| changed(stmt, names, tests));
        }
        StmtKind::Function(name, ..) => names.push(name.clone()),
        StmtKind::Expr(_) | StmtKind::Return(_) | StmtKind::Nothing => {}
    }
}
