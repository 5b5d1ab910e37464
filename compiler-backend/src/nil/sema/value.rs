//! What expressions mean while a function is compiled: scalars as trees over the instruction table's functions, and what is made of them.

use std::rc::Rc;

use pendula_isa::table::Func;
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
pub(super) enum X {
    /// A number written in the source.
    Lit(Literal),
    /// A word.
    Const(u64),
    /// A variable or a word of memory.
    At(Place),
    /// The number with the other sign.
    Neg(Box<X>),
    /// A function of the table.
    Fun(Func, Vec<X>),
    /// 1 if the comparison holds, else 0.
    Cmp(Cond, Ty, Box<X>, Box<X>),
    /// 1 if both are.
    Both(Box<X>, Box<X>),
    /// 1 if one is.
    Either(Box<X>, Box<X>),
    /// 1 if it is 0.
    Not(Box<X>),
    /// The second if the first is 1, else the third.
    Choice(Box<X>, Box<X>, Box<X>),
    /// A value that needs something computed, which is done only where it is asked for.
    Within(Block, Box<X>),
    /// A number through a view.
    Seen(Lens, Box<X>),
}

impl X {
    pub(super) fn int(n: i64) -> X {
        X::Const(n.cast_unsigned())
    }

    pub(super) fn var(v: Var) -> X {
        X::At(Place::Var(v))
    }

    /// A leaf as an operand.
    pub(super) fn leaf(&self) -> Option<Operand> {
        match self {
            X::Const(w) => Some(Operand::Const(*w)),
            X::At(p) => Some((*p).into()),
            X::Lit(_)
            | X::Neg(_)
            | X::Fun(..)
            | X::Cmp(..)
            | X::Both(..)
            | X::Either(..)
            | X::Not(_)
            | X::Choice(..)
            | X::Within(..)
            | X::Seen(..) => None,
        }
    }

    /// Calls `f` with every place that the tree reads.
    pub(super) fn places(&self, f: &mut impl FnMut(Place)) {
        match self {
            X::Lit(_) | X::Const(_) => {}
            X::At(p) => f(*p),
            X::Neg(a) | X::Not(a) | X::Within(_, a) => a.places(f),
            X::Seen(lens, a) => {
                a.places(f);
                match lens {
                    Lens::Plus(_, Operand::Var(v)) => f(Place::Var(*v)),
                    Lens::Plus(_, Operand::Mem(m)) => f(Place::Mem(*m)),
                    Lens::Plus(_, Operand::Const(_)) | Lens::Inverse(_) => {}
                }
            }
            X::Fun(_, args) => args.iter().for_each(|a| a.places(f)),
            X::Cmp(_, _, a, b) | X::Both(a, b) | X::Either(a, b) => {
                a.places(f);
                b.places(f);
            }
            X::Choice(a, b, c) => {
                a.places(f);
                b.places(f);
                c.places(f);
            }
        }
    }
}

impl From<Operand> for X {
    fn from(o: Operand) -> X {
        match o {
            Operand::Const(w) => X::Const(w),
            Operand::Var(v) => X::At(Place::Var(v)),
            Operand::Mem(m) => X::At(Place::Mem(m)),
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
pub(super) enum V {
    /// A number, or one yet without a type.
    Num(X, Option<Ty>),
    /// A truth value.
    Bool(X),
    /// A complex number; without a type where both parts are literals.
    Complex(X, X, Option<Ty>),
    /// A number under (max, +): the number.
    Tropical(X, Ty),
    /// A number by its logarithm, a double: the logarithm, and whether it is negative, if it can be.
    Log(X, Option<Box<X>>),
    /// An array in memory.
    Array(View),
    /// Elements, each computed: what an operation with points means, and array literals.
    Elements(Vec<V>),
    /// A struct's fields.
    Struct(Rc<StructType>, Vec<V>),
    /// Several values.
    Tuple(Vec<V>),
    /// A function by name.
    Function(String),
    /// A type.
    Type(Type),
    /// A range of integers.
    Range(Box<X>, Box<X>, Box<X>),
}

impl V {
    /// The type; `None` for what is none of a variable's.
    pub(super) fn type_of(&self) -> Option<Type> {
        Some(match self {
            V::Num(X::Lit(Literal::Int(_)), None) => Type::Num(Ty::Int),
            V::Num(_, ty) => Type::Num(ty.unwrap_or(Ty::F)),
            V::Bool(_) => Type::Bool,
            V::Complex(_, _, ty) => Type::Complex(ty.unwrap_or(Ty::F)),
            V::Tropical(_, ty) => Type::Tropical(*ty),
            V::Log(_, sign) => Type::Log { signed: sign.is_some() },
            V::Array(view) => view.type_of(),
            V::Struct(s, _) => Type::Struct(Rc::clone(s)),
            V::Tuple(parts) => Type::Tuple(parts.iter().map(V::type_of).collect::<Option<_>>()?),
            V::Function(name) => Type::Function(name.clone()),
            V::Elements(parts) => Type::Array { element: Box::new(parts.first()?.type_of()?), dims: 1, strided: false },
            V::Type(_) | V::Range(..) => return None,
        })
    }

    /// What it is, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            V::Num(X::Lit(_), None) => "a number".to_string(),
            V::Type(t) => format!("the type {t}"),
            V::Range(..) => "a range".to_string(),
            _ => self.type_of().map_or_else(|| "a value".to_string(), |t| t.to_string()),
        }
    }

    /// Calls `f` with every place that is read, those of arrays aside.
    pub(super) fn places(&self, f: &mut impl FnMut(Place)) {
        match self {
            V::Num(x, _) | V::Bool(x) | V::Tropical(x, _) => x.places(f),
            V::Complex(a, b, _) => {
                a.places(f);
                b.places(f);
            }
            V::Log(log, sign) => {
                log.places(f);
                if let Some(sign) = sign {
                    sign.places(f);
                }
            }
            V::Struct(_, parts) | V::Tuple(parts) | V::Elements(parts) => {
                for part in parts {
                    part.places(f);
                }
            }
            V::Range(a, b, c) => {
                a.places(f);
                b.places(f);
                c.places(f);
            }
            V::Array(_) | V::Function(_) | V::Type(_) => {}
        }
    }
}

/// A word of memory by its parts.
pub(super) fn mem(base: Option<Var>, index: Option<Var>, offset: i64, region: Region) -> Mem {
    // One spelling: no index without a base.
    let (base, index) = if base.is_none() { (index, None) } else { (base, index) };
    Mem { base, index, offset, region }
}
