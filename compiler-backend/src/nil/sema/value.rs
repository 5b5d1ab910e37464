//! The values of expressions during compilation: scalars are trees over the functions of the instruction table.

use std::rc::Rc;
use std::sync::Arc;

use pendula_isa::extension::Definition;
use pendula_isa::table::TableFn;
use pendula_isa::{Cond, Ty};

use super::views::Lens;
use crate::ir::{Block, Mem, Operand, Place, Region, Var};
use crate::nil::types::{Layout, StructType, Type};

/// A number literal, whose type depends on its use.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    /// An integer.
    Int(i128),
    /// A number with a fraction or an exponent, as written.
    Real(String),
    /// Another number, such as π.
    Float(f64),
}

/// A scalar expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ScalarExpr {
    /// A number literal.
    Lit(Literal),
    /// A constant word.
    Const(u64),
    /// A variable or a word of memory.
    Place(Place),
    /// The negated number.
    Neg(Box<ScalarExpr>),
    /// A function of the instruction table.
    Apply(TableFn, Vec<ScalarExpr>),
    /// A function by definition.
    Defined(Arc<Definition>, Vec<ScalarExpr>),
    /// 1 if the comparison holds, else 0.
    Cmp(Cond, Ty, Box<ScalarExpr>, Box<ScalarExpr>),
    /// 1 if both are 1, else 0; the second is evaluated only if the first is 1.
    And(Box<ScalarExpr>, Box<ScalarExpr>),
    /// 1 if one of them is 1, else 0; the second is evaluated only if the first is 0.
    Or(Box<ScalarExpr>, Box<ScalarExpr>),
    /// 1 if it is 0, else 0.
    Not(Box<ScalarExpr>),
    /// The second if the first is 1, else the third.
    Choice(Box<ScalarExpr>, Box<ScalarExpr>, Box<ScalarExpr>),
    /// A value with the computation that it needs, which is done only where the value is used.
    Within(Block, Box<ScalarExpr>),
    /// A number through a view.
    Viewed(Lens, Box<ScalarExpr>),
}

impl ScalarExpr {
    pub(super) fn int(n: i64) -> ScalarExpr {
        ScalarExpr::Const(n.cast_unsigned())
    }

    pub(super) fn float(x: f64) -> ScalarExpr {
        ScalarExpr::Const(x.to_bits())
    }

    pub(super) fn var(v: Var) -> ScalarExpr {
        ScalarExpr::Place(Place::Var(v))
    }

    pub(super) fn cmp(cond: Cond, ty: Ty, a: ScalarExpr, b: ScalarExpr) -> ScalarExpr {
        ScalarExpr::Cmp(cond, ty, Box::new(a), Box::new(b))
    }

    pub(super) fn choice(c: ScalarExpr, a: ScalarExpr, b: ScalarExpr) -> ScalarExpr {
        ScalarExpr::Choice(Box::new(c), Box::new(a), Box::new(b))
    }

    /// A leaf as an operand.
    pub(super) fn leaf(&self) -> Option<Operand> {
        match self {
            ScalarExpr::Const(w) => Some(Operand::Const(*w)),
            ScalarExpr::Place(p) => Some((*p).into()),
            _ => None,
        }
    }

    /// The expressions that it is made of.
    pub(super) fn parts(&self) -> impl Iterator<Item = &ScalarExpr> {
        let (parts, args): ([Option<&ScalarExpr>; 3], &[ScalarExpr]) = match self {
            ScalarExpr::Lit(_) | ScalarExpr::Const(_) | ScalarExpr::Place(_) => ([None; 3], &[]),
            ScalarExpr::Neg(a) | ScalarExpr::Not(a) | ScalarExpr::Within(_, a) | ScalarExpr::Viewed(_, a) => {
                ([Some(a), None, None], &[])
            }
            ScalarExpr::Cmp(_, _, a, b) | ScalarExpr::And(a, b) | ScalarExpr::Or(a, b) => {
                ([Some(a), Some(b), None], &[])
            }
            ScalarExpr::Choice(a, b, c) => ([Some(a), Some(b), Some(c)], &[]),
            ScalarExpr::Apply(_, args) | ScalarExpr::Defined(_, args) => ([None; 3], args),
        };
        parts.into_iter().flatten().chain(args)
    }

    /// Calls `f` with every place that the expression reads.
    pub(super) fn places(&self, f: &mut impl FnMut(Place)) {
        self.parts().for_each(|part| part.places(f));
        match self {
            ScalarExpr::Place(p) => f(*p),
            ScalarExpr::Viewed(Lens::Plus(_, Operand::Var(v)), _) => f(Place::Var(*v)),
            ScalarExpr::Viewed(Lens::Plus(_, Operand::Mem(m)), _) => f(Place::Mem(*m)),
            _ => {}
        }
    }
}

impl From<Operand> for ScalarExpr {
    fn from(o: Operand) -> ScalarExpr {
        match o {
            Operand::Const(w) => ScalarExpr::Const(w),
            Operand::Var(v) => ScalarExpr::Place(Place::Var(v)),
            Operand::Mem(m) => ScalarExpr::Place(Place::Mem(m)),
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
    /// The number of elements: a constant, or a variable that does not change while the array is allocated.
    pub(super) len: Operand,
    /// The distance between consecutive elements in words.
    pub(super) stride: Product,
}

/// An array, or a part of one, in memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    /// The address of the first element is this, plus `terms` and `offset`.
    pub(super) base: Var,
    pub(super) terms: Vec<Product>,
    pub(super) offset: i64,
    pub(super) dims: Vec<Dim>,
    pub(super) element: Type,
    pub(super) region: Region,
    /// The greatest number of elements, if it grows. Its length is then a variable.
    pub(super) room: Option<Operand>,
    /// Whether it is a dictionary: an element for each key that there may be, zero where there is none.
    pub(super) keyed: bool,
}

impl View {
    /// Whether the elements are stored without gaps, column by column.
    pub(super) fn is_contiguous(&self) -> bool {
        self.is_without_gaps(self.dims.iter())
    }

    /// Whether the elements are stored without gaps, if the first of these dimensions is that of memory.
    fn is_without_gaps<'d>(&self, mut dims: impl Iterator<Item = &'d Dim>) -> bool {
        let mut stride = Product::number(self.element.words().unwrap_or(0));
        dims.all(|dim| {
            let next = stride.times(&Product::operand(dim.len));
            dim.stride == std::mem::replace(&mut stride, next)
        })
    }

    /// How the elements lie in memory.
    pub(super) fn layout(&self) -> Layout {
        if self.keyed {
            Layout::Keyed
        } else if self.room.is_some() {
            Layout::Growing
        } else if self.is_contiguous() {
            Layout::Columns
        } else if self.dims.len() == 2 && self.is_without_gaps(self.dims.iter().rev()) {
            Layout::Rows
        } else {
            Layout::Strided
        }
    }

    pub(super) fn type_of(&self) -> Type {
        Type::Array { element: Box::new(self.element.clone()), dims: self.dims.len() as u8, layout: self.layout() }
    }
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number; without a type if it is a literal.
    Num(ScalarExpr, Option<Ty>),
    /// A Boolean.
    Bool(ScalarExpr),
    /// A complex number; without a type if both parts are literals.
    Complex(ScalarExpr, ScalarExpr, Option<Ty>),
    /// A number under (max, +).
    Tropical(ScalarExpr, Ty),
    /// A number by its logarithm, a double; with a Boolean for its sign, if it can be negative.
    Log(ScalarExpr, Option<Box<ScalarExpr>>),
    /// An array in memory.
    Array(View),
    /// An array whose elements, of this type, are arrays of one shape or contain such: the arrays that it consists of.
    Stacked(Type, Vec<View>),
    /// Computed elements: the value of a broadcast expression or an array literal.
    Elements(Vec<Value>),
    /// A struct with its fields.
    Struct(Rc<StructType>, Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A function by name.
    Function(String),
    /// A type.
    Type(Type),
    /// A range of integers.
    Range(Box<ScalarExpr>, Box<ScalarExpr>, Box<ScalarExpr>),
}

impl Value {
    /// The type; `None` if no variable can have the value.
    pub(super) fn type_of(&self) -> Option<Type> {
        Some(match self {
            Value::Num(ScalarExpr::Lit(Literal::Int(_)), None) => Type::Num(Ty::Int),
            Value::Num(_, ty) => Type::Num(ty.unwrap_or(Ty::F)),
            Value::Bool(_) => Type::Bool,
            Value::Complex(_, _, ty) => Type::Complex(ty.unwrap_or(Ty::F)),
            Value::Tropical(_, ty) => Type::Tropical(*ty),
            Value::Log(_, sign) => Type::Log { signed: sign.is_some() },
            Value::Array(view) => view.type_of(),
            Value::Stacked(element, _) => {
                Type::Array { element: Box::new(element.clone()), dims: 1, layout: Layout::Columns }
            }
            Value::Struct(s, _) => Type::Struct(Rc::clone(s)),
            Value::Tuple(parts) => Type::Tuple(parts.iter().map(Value::type_of).collect::<Option<_>>()?),
            Value::Function(name) => Type::Function(name.clone()),
            Value::Elements(parts) => {
                Type::Array { element: Box::new(parts.first()?.type_of()?), dims: 1, layout: Layout::Columns }
            }
            Value::Type(_) | Value::Range(..) => return None,
        })
    }

    /// A description for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Value::Num(ScalarExpr::Lit(_), None) => "a number".to_string(),
            Value::Type(t) => format!("the type {t}"),
            Value::Range(..) => "a range".to_string(),
            _ => self.type_of().map_or_else(|| "a value".to_string(), |t| t.to_string()),
        }
    }

    /// Calls `f` with the scalar expressions that it is made of, except those of arrays.
    pub(super) fn scalars<'a>(&'a self, f: &mut impl FnMut(&'a ScalarExpr)) {
        match self {
            Value::Num(x, _) | Value::Bool(x) | Value::Tropical(x, _) => f(x),
            Value::Complex(a, b, _) => [a, b].into_iter().for_each(f),
            Value::Log(log, sign) => std::iter::once(log).chain(sign.as_deref()).for_each(f),
            Value::Struct(_, parts) | Value::Tuple(parts) | Value::Elements(parts) => {
                parts.iter().for_each(|part| part.scalars(f));
            }
            Value::Range(a, b, c) => [a, b, c].into_iter().for_each(|x| f(x)),
            Value::Array(_) | Value::Stacked(..) | Value::Function(_) | Value::Type(_) => {}
        }
    }

    /// Calls `f` with every place that is read, except those of arrays.
    pub(super) fn places(&self, f: &mut impl FnMut(Place)) {
        self.scalars(&mut |x| x.places(f));
    }
}

/// The address of a word of memory.
pub(super) fn mem(base: Option<Var>, index: Option<Var>, offset: i64, region: Region) -> Mem {
    // The canonical form has no index without a base.
    let (base, index) = if base.is_none() { (index, None) } else { (base, index) };
    Mem { base, index, offset, region }
}
