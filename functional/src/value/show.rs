//! Values as text, as VLAD writes them.

use std::fmt::Write;

use super::{Value, View, Word};

/// A longer text is cut.
const LONGEST: usize = 1 << 20;

enum Task {
    Show(Value),
    /// A value whose first number has no layers.
    Plain(Value),
    Rest(Value),
    Text(&'static str),
}

impl Value {
    /// The value as text: lists in parentheses, layers by name. What is too long ends in dots.
    pub fn show(&self) -> String {
        self.text(LONGEST)
    }

    /// The value as a short text, for messages.
    pub fn brief(&self) -> String {
        self.text(80)
    }

    fn text(&self, longest: usize) -> String {
        let mut out = String::new();
        let mut tasks = vec![Task::Show(self.clone())];
        while let Some(task) = tasks.pop() {
            if out.len() > longest {
                out.push('…');
                break;
            }
            match task {
                Task::Text(text) => out.push_str(text),
                Task::Show(value) => {
                    let layer = value.layer();
                    show(value, layer, &mut out, &mut tasks);
                }
                Task::Plain(value) => show(value, None, &mut out, &mut tasks),
                Task::Rest(value) => rest(value, &mut out, &mut tasks),
            }
        }
        out
    }
}

/// The layers of a scalar, as forms around it.
fn layered(word: Word, core: &str, out: &mut String) {
    match word.top() {
        None => out.push_str(core),
        Some(View::Forward) => {
            out.push_str("(forward ");
            layered(word.pop(), core, out);
            out.push_str(" (perturbation ");
            let zero = if core.parse::<f64>().is_ok() { "0" } else { core };
            layered(word.pop(), zero, out);
            out.push_str("))");
        }
        Some(view) => {
            let _ = write!(out, "({} ", view.name());
            layered(word.pop(), core, out);
            out.push(')');
        }
    }
}

fn parts(value: &Value) -> Vec<Value> {
    (0..value.arity().unwrap_or(0)).map(|n| value.part(n).ok().flatten().unwrap_or_default()).collect()
}

/// Shows a value whose first number has a layer outside, or none. To look for it in each part again would take quadratic time.
fn show(value: Value, layer: Option<View>, out: &mut String, tasks: &mut Vec<Task>) {
    if let Value::Pair(..) | Value::Tuple(..) | Value::Array(..) | Value::Sum(..) = &value {
        let layer = layer.and_then(|_| value.common_layer()).filter(|v| *v != View::Forward);
        let inside = layer.and_then(|v| value.clone().through(Word::one(v).inverse()?).ok());
        if let (Some(layer), Some(inside)) = (layer, inside) {
            let _ = write!(out, "({} ", layer.name());
            tasks.push(Task::Text(")"));
            tasks.push(Task::Show(inside));
            return;
        }
    }
    match &value {
        Value::Unit(w) => layered(*w, "()", out),
        Value::Bool(w, b) => layered(*w, if *b { "#t" } else { "#f" }, out),
        Value::Int(ty, w, x) if *ty == super::IntType::U64 => layered(*w, &(*x as u64).to_string(), out),
        Value::Int(_, w, x) => layered(*w, &x.to_string(), out),
        Value::Real(w, x) => layered(*w, &real(*x), out),
        Value::Symbol(w, name) => layered(*w, name, out),
        Value::Pair(..) => {
            out.push('(');
            let mut all = parts(&value).into_iter();
            let part = all.next().unwrap_or_default();
            tasks.push(Task::Rest(all.next().unwrap_or_default()));
            tasks.push(first(part, layer));
        }
        Value::Tuple(..) => several(("#(", ")"), parts(&value), layer, (out, tasks)),
        Value::Array(word, array) => {
            let all = array.iter().map(|v| v.through(*word).unwrap_or_default()).collect();
            several(("[", "]"), all, layer, (out, tasks));
        }
        Value::Sum(word, sum) => {
            let _ = write!(out, "(#{} ", sum.0);
            tasks.push(Task::Text(")"));
            tasks.push(Task::Show(sum.1.clone().through(*word).unwrap_or_default()));
        }
        Value::Closure(..) => out.push_str("#[procedure]"),
        Value::Bundle(word, parts) => {
            let mut ends = ")";
            for view in word.views().collect::<Vec<_>>().into_iter().rev() {
                let _ = write!(out, "({} ", view.name());
                tasks.push(Task::Text(ends));
                ends = ")";
            }
            out.push_str("(forward ");
            tasks.push(Task::Text("))"));
            tasks.push(Task::Show(parts.1.clone()));
            tasks.push(Task::Text(" (perturbation "));
            tasks.push(Task::Show(parts.0.clone()));
        }
    }
}

/// The task that shows the first part of a value with this layer.
fn first(part: Value, layer: Option<View>) -> Task {
    if layer.is_none() { Task::Plain(part) } else { Task::Show(part) }
}

fn several(
    (open, close): (&'static str, &'static str),
    all: Vec<Value>,
    layer: Option<View>,
    (out, tasks): (&mut String, &mut Vec<Task>),
) {
    out.push_str(open);
    tasks.push(Task::Text(close));
    for (n, part) in all.into_iter().enumerate().rev() {
        if n == 0 {
            tasks.push(first(part, layer));
        } else {
            tasks.push(Task::Show(part));
            tasks.push(Task::Text(" "));
        }
    }
}

fn rest(value: Value, out: &mut String, tasks: &mut Vec<Task>) {
    match &value {
        Value::Unit(w) if w.is_none() => out.push(')'),
        Value::Pair(..) => {
            out.push(' ');
            let mut all = parts(&value).into_iter();
            let first = all.next().unwrap_or_default();
            tasks.push(Task::Rest(all.next().unwrap_or_default()));
            tasks.push(Task::Show(first));
        }
        _ => {
            out.push_str(" . ");
            tasks.push(Task::Text(")"));
            tasks.push(Task::Show(value));
        }
    }
}

/// A number, the shortest text that gives it back; whole numbers without a point.
fn real(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.into();
    }
    if x != 0.0 && (x.abs() < 1e-5 || x.abs() >= 1e21) { format!("{x:e}") } else { format!("{x}") }
}
