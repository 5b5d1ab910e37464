//! What expressions mean while a function is compiled: scalars as trees over the instruction table's functions, and what is made of them.

use std::rc::Rc;

use pendula_isa::table::TableFn;
use pendula_isa::{Cond, Ty};

use super::views::Lens;
use crate::ir::{Block, Mem, Operand, Place, Region, Var};
use crate::nil::types::{StructType, Type};

/// A number written in the source, whose type its place decides.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    /// A whole number.
    Int(i128),
    /// A number with a fraction or an exponent, as written.
    Real(String),
    /// Another number, such as π.
    Float(f64),
}

/// A scalar to be computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ScalarExpr {
    /// A number written in the source.
    Lit(Literal),
    /// A word.
    Const(u64),
    /// A variable or a word of memory.
    At(Place),
    /// The number with the other sign.
    Neg(Box<ScalarExpr>),
    /// A function of the table.
    FunctionId(TableFn, Vec<ScalarExpr>),
    /// 1 if the comparison holds, else 0.
    Cmp(Cond, Ty, Box<ScalarExpr>, Box<ScalarExpr>),
    /// 1 if both are.
    Both(Box<ScalarExpr>, Box<ScalarExpr>),
    /// 1 if one is.
    Either(Box<ScalarExpr>, Box<ScalarExpr>),
    /// 1 if it is 0.
    Not(Box<ScalarExpr>),
    /// The second if the first is 1, else the third.
    Choice(Box<ScalarExpr>, Box<ScalarExpr>, Box<ScalarExpr>),
    /// A value that needs something computed, which is done only where it is asked for.
    Within(Block, Box<ScalarExpr>),
    /// A number through a view.
    Seen(Lens, Box<ScalarExpr>),
}

impl ScalarExpr {
    pub(super) fn int(n: i64) -> ScalarExpr {
        ScalarExpr::Const(n.cast_unsigned())
    }

    pub(super) fn var(v: Var) -> ScalarExpr {
        ScalarExpr::At(Place::Var(v))
    }

    /// A leaf as an operand.
    pub(super) fn leaf(&self) -> Option<Operand> {
        match self {
            ScalarExpr::Const(w) => Some(Operand::Const(*w)),
            ScalarExpr::At(p) => Some((*p).into()),
            ScalarExpr::Lit(_)
            | ScalarExpr::Neg(_)
            | ScalarExpr::FunctionId(..)
            | ScalarExpr::Cmp(..)
            | ScalarExpr::Both(..)
            | ScalarExpr::Either(..)
            | ScalarExpr::Not(_)
            | ScalarExpr::Choice(..)
            | ScalarExpr::Within(..)
            | ScalarExpr::Seen(..) => None,
        }
    }

    /// Calls `f` with every place that the tree reads.
    pub(super) fn places(&self, f: &mut impl FnMut(Place)) {
        match self {
            ScalarExpr::Lit(_) | ScalarExpr::Const(_) => {}
            ScalarExpr::At(p) => f(*p),
            ScalarExpr::Neg(a) | ScalarExpr::Not(a) | ScalarExpr::Within(_, a) => a.places(f),
            ScalarExpr::Seen(lens, a) => {
                a.places(f);
                match lens {
                    Lens::Plus(_, Operand::Var(v)) => f(Place::Var(*v)),
                    Lens::Plus(_, Operand::Mem(m)) => f(Place::Mem(*m)),
                    Lens::Plus(_, Operand::Const(_)) | Lens::Inverse(_) => {}
                }
            }
            ScalarExpr::FunctionId(_, args) => args.iter().for_each(|a| a.places(f)),
            ScalarExpr::Cmp(_, _, a, b) | ScalarExpr::Both(a, b) | ScalarExpr::Either(a, b) => {
                a.places(f);
                b.places(f);
            }
            ScalarExpr::Choice(a, b, c) => {
                a.places(f);
                b.places(f);
                c.places(f);
            }
        }
    }
}

impl From<Operand> for ScalarExpr {
    fn from(o: Operand) -> ScalarExpr {
        match o {
            Operand::Const(w) => ScalarExpr::Const(w),
            Operand::Var(v) => ScalarExpr::At(Place::Var(v)),
            Operand::Mem(m) => ScalarExpr::At(Place::Mem(m)),
        }
    }
}

/// A product of integers: a factor and operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Product {
    pub(super) factor: i64,
    pub(super) of: Vec<Operand>,
}

impl Product {
    pub(super) fn number(n: i64) -> Product {
        Product { factor: n, of: Vec::new() }
    }

    pub(super) fn operand(o: Operand) -> Product {
        match o {
            Operand::Const(w) => Product::number(w.cast_signed()),
            Operand::Var(_) | Operand::Mem(_) => Product { factor: 1, of: vec![o] },
        }
    }

    pub(super) fn times(&self, other: &Product) -> Product {
        let mut of = self.of.clone();
        of.extend(&other.of);
        Product { factor: self.factor.wrapping_mul(other.factor), of }
    }
}

/// A dimension of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dim {
    /// How many elements: a constant, or a variable that does not change while the array lives.
    pub(super) len: Operand,
    /// Words from one to the next.
    pub(super) stride: Product,
}

/// An array, or a part of one, in memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    /// The address where it begins, with `terms` and `offset` added.
    pub(super) base: Var,
    pub(super) terms: Vec<Product>,
    pub(super) offset: i64,
    pub(super) dims: Vec<Dim>,
    pub(super) element: Type,
    pub(super) region: Region,
}

impl View {
    /// Whether elements follow each other without gaps, column by column.
    pub(super) fn is_contiguous(&self) -> bool {
        let mut stride = Product::number(self.element.words().unwrap_or(0));
        for dim in &self.dims {
            if dim.stride != stride {
                return false;
            }
            stride = stride.times(&Product::operand(dim.len));
        }
        true
    }

    pub(super) fn type_of(&self) -> Type {
        Type::Array {
            element: Box::new(self.element.clone()),
            dims: self.dims.len() as u8,
            strided: !self.is_contiguous(),
        }
    }
}

/// What an expression means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number, or one yet without a type.
    Num(ScalarExpr, Option<Ty>),
    /// A truth value.
    Bool(ScalarExpr),
    /// A complex number; without a type where both parts are literals.
    Complex(ScalarExpr, ScalarExpr, Option<Ty>),
    /// A number under (max, +): the number.
    Tropical(ScalarExpr, Ty),
    /// A number by its logarithm, a double: the logarithm, and whether it is negative, if it can be.
    Log(ScalarExpr, Option<Box<ScalarExpr>>),
    /// An array in memory.
    Array(View),
    /// Elements, each computed: what an operation with points means, and array literals.
    Elements(Vec<Value>),
    /// A struct's fields.
    Struct(Rc<StructType>, Vec<Value>),
    /// Several values.
    Tuple(Vec<Value>),
    /// A function by name.
    Function(String),
    /// A type.
    Type(Type),
    /// A range of integers.
    Range(Box<ScalarExpr>, Box<ScalarExpr>, Box<ScalarExpr>),
}

impl Value {
    /// The type; `None` for what is none of a variable's.
    pub(super) fn type_of(&self) -> Option<Type> {
        Some(match self {
            Value::Num(ScalarExpr::Lit(Literal::Int(_)), None) => Type::Num(Ty::Int),
            Value::Num(_, ty) => Type::Num(ty.unwrap_or(Ty::F)),
            Value::Bool(_) => Type::Bool,
            Value::Complex(_, _, ty) => Type::Complex(ty.unwrap_or(Ty::F)),
            Value::Tropical(_, ty) => Type::Tropical(*ty),
            Value::Log(_, sign) => Type::Log { signed: sign.is_some() },
            Value::Array(view) => view.type_of(),
            Value::Struct(s, _) => Type::Struct(Rc::clone(s)),
            Value::Tuple(parts) => Type::Tuple(parts.iter().map(Value::type_of).collect::<Option<_>>()?),
            Value::Function(name) => Type::Function(name.clone()),
            Value::Elements(parts) => {
                Type::Array { element: Box::new(parts.first()?.type_of()?), dims: 1, strided: false }
            }
            Value::Type(_) | Value::Range(..) => return None,
        })
    }

    /// What it is, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Value::Num(ScalarExpr::Lit(_), None) => "a number".to_string(),
            Value::Type(t) => format!("the type {t}"),
            Value::Range(..) => "a range".to_string(),
            _ => self.type_of().map_or_else(|| "a value".to_string(), |t| t.to_string()),
        }
    }

    /// Calls `f` with every place that is read, those of arrays aside.
    pub(super) fn places(&self, f: &mut impl FnMut(Place)) {
        match self {
            Value::Num(x, _) | Value::Bool(x) | Value::Tropical(x, _) => x.places(f),
            Value::Complex(a, b, _) => {
                a.places(f);
                b.places(f);
            }
            Value::Log(log, sign) => {
                log.places(f);
                if let Some(sign) = sign {
                    sign.places(f);
                }
            }
            Value::Struct(_, parts) | Value::Tuple(parts) | Value::Elements(parts) => {
                for part in parts {
                    part.places(f);
                }
            }
            Value::Range(a, b, c) => {
                a.places(f);
                b.places(f);
                c.places(f);
            }
            Value::Array(_) | Value::Function(_) | Value::Type(_) => {}
        }
    }
}

/// A word of memory by its parts.
pub(super) fn mem(base: Option<Var>, index: Option<Var>, offset: i64, region: Region) -> Mem {
    // One spelling: no index without a base.
    let (base, index) = if base.is_none() { (index, None) } else { (base, index) };
    Mem { base, index, offset, region }
}
