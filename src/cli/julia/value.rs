//! Values of Julia: numbers, texts, tuples, arrays that are shared, and functions.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use pendula::Value as Program;
use pendula::arrays::row_by_row;
use pendula::program::{Array as ProgramArray, Number};
use pendula_isa::num::{Env, Format, convert};
use pendula_isa::types::Ty;

use super::syntax::{Expr, Stmt};

/// An array, in the order of its columns.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) items: Vec<Value>,
    /// The type of its elements where it has none.
    pub(super) empty: &'static str,
}

/// A function.
#[derive(Clone, Debug)]
pub(super) enum Func {
    /// A function of the file that is not reversible: its parameters, what it does, and the variables around it.
    Host(Vec<String>, Rc<[Stmt]>, Option<Rc<Expr>>, usize),
    /// A reversible function or instruction, as it is written in a call.
    Reversible(String, bool),
    /// A function of Julia or an operator.
    Builtin(String),
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Nothing,
    Bool(bool),
    Int(i64),
    Float(f64),
    Complex(f64, f64),
    Fixed(f64),
    /// The logarithm of a number that is given by it.
    Logarithm(f64),
    Text(String),
    Symbol(String),
    /// A quoted reversible function.
    Code(String),
    Tuple(Vec<Value>),
    Array(Rc<RefCell<Array>>),
    Struct(String, Vec<(String, Value)>),
    Function(Func),
    Type(String),
}

impl Value {
    pub(super) fn array(shape: Vec<usize>, items: Vec<Value>) -> Value {
        Value::Array(Rc::new(RefCell::new(Array { shape, items, empty: "Float64" })))
    }

    pub(super) fn vector(items: Vec<Value>) -> Value {
        Value::array(vec![items.len()], items)
    }

    pub(super) fn real(&self) -> Option<f64> {
        match self {
            Value::Bool(b) => Some(f64::from(u8::from(*b))),
            Value::Int(k) => Some(*k as f64),
            Value::Float(x) | Value::Fixed(x) => Some(*x),
            Value::Logarithm(x) => Some(x.exp()),
            _ => None,
        }
    }

    /// The arrays in it.
    pub(super) fn arrays(&self) -> Vec<Rc<RefCell<Array>>> {
        match self {
            Value::Array(a) => {
                let inner = a.try_borrow().map(|a| a.items.iter().flat_map(Value::arrays).collect::<Vec<_>>());
                std::iter::once(Rc::clone(a)).chain(inner.unwrap_or_default()).collect()
            }
            Value::Tuple(parts) => parts.iter().flat_map(Value::arrays).collect(),
            Value::Struct(_, fields) => fields.iter().flat_map(|(_, v)| v.arrays()).collect(),
            _ => Vec::new(),
        }
    }

    /// How many values it consists of.
    pub(super) fn size(&self) -> usize {
        match self {
            Value::Array(a) => a.borrow().items.iter().map(Value::size).sum::<usize>() + 1,
            Value::Tuple(parts) => parts.iter().map(Value::size).sum::<usize>() + 1,
            _ => 1,
        }
    }

    /// A function as it is written in a call of a reversible one.
    pub(super) fn as_code(&self) -> Option<String> {
        match self {
            Value::Function(Func::Reversible(name, inverse)) => {
                Some(if *inverse { format!("~{name}") } else { name.clone() })
            }
            Value::Function(Func::Builtin(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// Whether there are derivatives by it.
    pub(super) fn is_real(&self) -> bool {
        match self {
            Value::Float(_) | Value::Fixed(_) | Value::Complex(..) | Value::Logarithm(_) => true,
            Value::Array(a) => a.borrow().items.first().is_some_and(Value::is_real),
            Value::Tuple(parts) => parts.iter().any(Value::is_real),
            Value::Struct(_, fields) => fields.iter().any(|(_, v)| v.is_real()),
            _ => false,
        }
    }

    pub(super) fn complex(&self) -> Option<(f64, f64)> {
        if let Value::Complex(re, im) = self { Some((*re, *im)) } else { self.real().map(|x| (x, 0.0)) }
    }

    /// A copy with arrays of its own.
    pub(super) fn copied(&self) -> Value {
        match self {
            Value::Array(a) => {
                let a = a.borrow();
                Value::Array(Rc::new(RefCell::new(Array {
                    items: a.items.iter().map(Value::copied).collect(),
                    ..a.clone()
                })))
            }
            Value::Tuple(parts) => Value::Tuple(parts.iter().map(Value::copied).collect()),
            Value::Struct(name, fields) => {
                Value::Struct(name.clone(), fields.iter().map(|(f, v)| (f.clone(), v.copied())).collect())
            }
            other => other.clone(),
        }
    }

    /// Whether two values are the same, numbers by `==`.
    pub(super) fn equals(&self, other: &Value) -> bool {
        self.compared(other, &|a, b| a == b)
    }

    /// Whether two values are near each other as a whole, as `≈` of Julia: arrays by their norms.
    pub(super) fn near(&self, other: &Value, relative: f64, absolute: f64) -> bool {
        if let (Value::Array(a), Value::Array(b)) = (self, other) {
            let (a, b) = (a.borrow(), b.borrow());
            let norm = |items: &[Value]| {
                items.iter().filter_map(Value::complex).map(|(x, y)| x * x + y * y).sum::<f64>().sqrt()
            };
            let apart: f64 = a
                .items
                .iter()
                .zip(&b.items)
                .filter_map(|(a, b)| Some((a.complex()?, b.complex()?)))
                .map(|(a, b)| (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2))
                .sum::<f64>()
                .sqrt();
            if a.items.iter().chain(&b.items).any(|v| v.complex().is_none()) {
                return false;
            }
            let same = a.shape == b.shape && a.items.iter().zip(&b.items).all(|(a, b)| a.equals(b));
            return same
                || a.shape == b.shape
                    && apart.is_finite()
                    && apart <= absolute.max(relative * norm(&a.items).max(norm(&b.items)));
        }
        if let (Some(a), Some(b)) = (self.complex(), other.complex()) {
            let apart = (a.0 - b.0).hypot(a.1 - b.1);
            return a == b || apart.is_finite() && apart <= absolute.max(relative * a.0.hypot(a.1).max(b.0.hypot(b.1)));
        }
        self.near_in_parts(other, relative, absolute)
    }

    /// The same, part by part.
    pub(super) fn near_in_parts(&self, other: &Value, relative: f64, absolute: f64) -> bool {
        self.compared(other, &|a, b| {
            a == b || (a - b).abs() <= absolute.max(relative * a.abs().max(b.abs())) || a.is_nan() && b.is_nan()
        })
    }

    fn compared(&self, other: &Value, same: &dyn Fn(f64, f64) -> bool) -> bool {
        match (self, other) {
            (Value::Nothing, Value::Nothing) => true,
            (Value::Text(a), Value::Text(b))
            | (Value::Symbol(a), Value::Symbol(b))
            | (Value::Type(a), Value::Type(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compared(b, same))
            }
            (Value::Array(a), Value::Array(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                a.shape == b.shape && a.items.iter().zip(&b.items).all(|(a, b)| a.compared(b, same))
            }
            (Value::Struct(a, fields), Value::Struct(b, others)) => {
                a == b && fields.iter().zip(others).all(|((_, a), (_, b))| a.compared(b, same))
            }
            (Value::Logarithm(a), Value::Logarithm(b)) => same(*a, *b),
            // Whole numbers that are the same as doubles only are not.
            (Value::Int(a), Value::Int(b)) => a == b || *a as f64 != *b as f64 && same(*a as f64, *b as f64),
            (a, b) => match (a.complex(), b.complex()) {
                (Some(a), Some(b)) => same(a.0, b.0) && same(a.1, b.1),
                _ => false,
            },
        }
    }

    /// The type by which a reversible function is to take it; `None` for what it cannot take.
    pub(super) fn parameter_type(&self) -> Option<String> {
        Some(match self {
            Value::Bool(_) => "Bool".to_string(),
            Value::Int(_) => "Int".to_string(),
            Value::Float(_) => "Float64".to_string(),
            Value::Complex(..) => "Complex{Float64}".to_string(),
            Value::Fixed(_) => "Fixed".to_string(),
            Value::Logarithm(_) => "ULogarithmic{Float64}".to_string(),
            Value::Tuple(parts) => {
                let parts: Option<Vec<String>> = parts.iter().map(Value::parameter_type).collect();
                format!("Tuple{{{}}}", parts?.join(", "))
            }
            Value::Array(a) => {
                let a = a.borrow();
                let element = match a.items.first() {
                    None => a.empty.to_string(),
                    // Whole numbers beside others are numbers with a point.
                    Some(_) if a.items.iter().any(|v| matches!(v, Value::Float(_))) => "Float64".to_string(),
                    Some(first) => first.parameter_type()?,
                };
                match a.shape.len() {
                    1 => format!("Vector{{{element}}}"),
                    2 => format!("Matrix{{{element}}}"),
                    n => format!("Array{{{element},{n}}}"),
                }
            }
            Value::Struct(name, _) => name.clone(),
            Value::Nothing
            | Value::Text(_)
            | Value::Symbol(_)
            | Value::Code(_)
            | Value::Function(_)
            | Value::Type(_) => return None,
        })
    }

    /// As an argument of a program.
    pub(super) fn argument(&self) -> Option<Program> {
        let fixed = |x: f64| {
            let format = Format::default();
            let word = convert::from_f64(Env { format, ..Env::default() }, Ty::Q, x).ok()?;
            Some(Number::new(word, Ty::Q, format))
        };
        Some(match self {
            Value::Bool(b) => Program::Bool(*b),
            Value::Int(k) => Program::from(*k),
            Value::Float(x) => Program::from(*x),
            Value::Complex(re, im) => Program::Complex((*re).into(), (*im).into()),
            Value::Fixed(x) => Program::Number(fixed(*x)?),
            Value::Logarithm(log) => Program::Logarithm { log: *log, negative: false },
            Value::Tuple(parts) => Program::Tuple(parts.iter().map(Value::argument).collect::<Option<_>>()?),
            Value::Array(a) => {
                let a = a.borrow();
                let float = a.items.iter().any(|v| matches!(v, Value::Float(_)));
                let item = |v: &Value| match v {
                    Value::Int(k) if float => Some(Program::from(*k as f64)),
                    other => other.argument(),
                };
                let items: Option<Vec<Program>> =
                    row_by_row(&a.shape).into_iter().map(|at| item(&a.items[at])).collect();
                Program::Array(ProgramArray::new(a.shape.clone(), items?)?)
            }
            Value::Struct(name, fields) => {
                let fields: Option<Vec<_>> = fields.iter().map(|(f, v)| Some((f.clone(), v.argument()?))).collect();
                Program::Struct(name.clone(), fields?)
            }
            Value::Nothing
            | Value::Text(_)
            | Value::Symbol(_)
            | Value::Code(_)
            | Value::Function(_)
            | Value::Type(_) => return None,
        })
    }

    /// The result of a program.
    pub(super) fn result(value: &Program) -> Value {
        match value {
            Program::Bool(b) => Value::Bool(*b),
            Program::Number(n) => match n.ty() {
                Ty::Int => Value::Int(n.to_i64().unwrap_or(0)),
                Ty::F => Value::Float(n.to_f64()),
                Ty::Q => Value::Fixed(n.to_f64()),
                Ty::L => Value::Float(n.to_f64()),
            },
            Program::Complex(re, im) => Value::Complex(re.to_f64(), im.to_f64()),
            Program::Logarithm { log, negative: false } => Value::Logarithm(*log),
            Program::Logarithm { log, .. } => Value::Float(-log.exp()),
            Program::Array(a) => {
                let mut items = vec![Value::Nothing; a.elements().len()];
                for (element, at) in a.elements().iter().zip(row_by_row(a.shape())) {
                    items[at] = Value::result(element);
                }
                Value::array(a.shape().to_vec(), items)
            }
            Program::Struct(name, fields) => {
                Value::Struct(name.clone(), fields.iter().map(|(f, v)| (f.clone(), Value::result(v))).collect())
            }
            Program::Tuple(parts) => Value::Tuple(parts.iter().map(Value::result).collect()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, all: &[Value]| {
            all.iter().enumerate().try_for_each(|(n, v)| write!(f, "{}{v}", if n > 0 { ", " } else { "" }))
        };
        match self {
            Value::Nothing => f.write_str("nothing"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(k) => write!(f, "{k}"),
            Value::Float(x) | Value::Fixed(x) => write!(f, "{x:?}"),
            Value::Logarithm(x) => write!(f, "exp({x:?})"),
            Value::Complex(re, im) => write!(f, "{re:?} {} {:?}im", if *im < 0.0 { '-' } else { '+' }, im.abs()),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Symbol(name) => write!(f, ":{name}"),
            Value::Code(_) => f.write_str("quoted code"),
            Value::Tuple(parts) => {
                f.write_str("(")?;
                list(f, parts)?;
                f.write_str(if parts.len() == 1 { ",)" } else { ")" })
            }
            Value::Array(a) => {
                let a = a.borrow();
                f.write_str("[")?;
                if let [_, columns] = a.shape[..] {
                    for (n, at) in row_by_row(&a.shape).into_iter().enumerate() {
                        write!(
                            f,
                            "{}{}",
                            if n == 0 {
                                ""
                            } else if n % columns == 0 {
                                "; "
                            } else {
                                " "
                            },
                            a.items[at]
                        )?;
                    }
                } else {
                    list(f, &a.items)?;
                }
                f.write_str("]")
            }
            Value::Struct(name, fields) => {
                write!(f, "{name}(")?;
                list(f, &fields.iter().map(|(_, v)| v.clone()).collect::<Vec<_>>())?;
                f.write_str(")")
            }
            Value::Function(Func::Reversible(name, true)) => write!(f, "~{name}"),
            Value::Function(Func::Reversible(name, false) | Func::Builtin(name)) | Value::Type(name) => {
                f.write_str(name)
            }
            Value::Function(_) => f.write_str("a function"),
        }
    }
}
