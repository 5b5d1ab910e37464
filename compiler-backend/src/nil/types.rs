//! The types of Nil. They are known when a function is compiled: they contain no type variables.

use std::fmt;
use std::rc::Rc;

use pendula_isa::Ty;
use pendula_isa::budget::{Budget, Exceeded};

pub use annotation::{Fit, Names, TypeProblem, is_built_in, log_number, number, same_shape};
pub(super) use annotation::{array_dims, mentions};
pub use structs::Structs;

mod annotation;
mod structs;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number in one word: `Int`, `Fixed`, `Float64`, `ULogarithmic`.
    Num(Ty),
    /// A Boolean: a word that is 0 or 1.
    Bool,
    /// A complex number: two words, real part first.
    Complex(Ty),
    /// A number under (max, +), in one word.
    Tropical(Ty),
    /// A number by the natural logarithm of its magnitude, a double. If it is `signed`, a second word is 1 if the
    /// number is negative.
    Log {
        /// Whether it may be negative.
        signed: bool,
    },
    /// An array of one to eight dimensions.
    Array {
        /// The type of the elements.
        element: Box<Type>,
        /// The number of dimensions.
        dims: u8,
        /// How the elements lie in memory.
        layout: Layout,
    },
    /// Named fields, one after the other.
    Struct(Rc<StructType>),
    /// A tuple.
    Tuple(Vec<Type>),
    /// A function, by its name; or another value that takes no words, of which the type tells all: see [`is_single`].
    Function(String),
}

/// How the elements of an array lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Column by column, without gaps.
    Columns,
    /// A matrix whose transposed one lies column by column, without gaps.
    Rows,
    /// Possibly with gaps: the strides are known at run time only.
    Strided,
    /// A dictionary: a vector without gaps with an element for each key that there may be.
    Keyed,
    /// A vector without gaps whose length changes, with room for more elements.
    Growing,
}

/// A struct's fields, for one set of type arguments.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// The name in the source.
    pub name: String,
    /// The fields in order.
    pub fields: Vec<(String, Type)>,
    /// The number of types that it is made of, itself included.
    nodes: u64,
    /// Their nesting depth.
    depth: u32,
}

impl StructType {
    /// A struct with these fields.
    ///
    /// # Errors
    /// The struct exceeds the budget.
    pub fn new(name: String, fields: Vec<(String, Type)>, budget: &Budget) -> Result<StructType, Exceeded> {
        let (nodes, depth) = around(fields.iter().map(|(_, t)| t));
        let what = || format!("the struct `{name}`");
        budget.nested(depth, what)?;
        budget.parts(nodes, what)?;
        Ok(StructType { name, fields, nodes, depth })
    }
}

/// The number of types in a type with these parts, and their nesting depth. Structs store theirs, so that no type is
/// traversed twice.
fn around<'t>(parts: impl Iterator<Item = &'t Type>) -> (u64, u32) {
    parts.map(Type::extent).fold((1, 1), |(nodes, depth), (n, d)| (nodes.saturating_add(n), depth.max(d + 1)))
}

impl Type {
    /// The number of words that a value takes; `None` for arrays and functions.
    pub fn words(&self) -> Option<i64> {
        match self {
            Type::Num(_) | Type::Bool | Type::Tropical(_) | Type::Log { signed: false } => Some(1),
            Type::Complex(_) | Type::Log { signed: true } => Some(2),
            Type::Array { .. } | Type::Function(_) => None,
            Type::Struct(s) => s.fields.iter().map(|(_, t)| t.words()).sum(),
            Type::Tuple(parts) => parts.iter().map(Type::words).sum(),
        }
    }

    /// The number of types that it is made of, and their nesting depth.
    fn extent(&self) -> (u64, u32) {
        match self {
            Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } | Type::Function(_) => {
                (1, 1)
            }
            Type::Array { element, .. } => around(std::iter::once(&**element)),
            Type::Struct(s) => (s.nodes, s.depth),
            Type::Tuple(parts) => around(parts.iter()),
        }
    }

    /// The arrays that an array of such elements consists of, with their names, if the elements are no words: each has one
    /// more dimension than in an element. `None` if there is no such array.
    pub fn stacked(&self, name: &str) -> Option<Vec<(String, Type)>> {
        /// The most dimensions of an array.
        const MOST: u8 = 3;
        let array = |element: Type, dims: u8| Type::Array { element: Box::new(element), dims, layout: Layout::Columns };
        match self {
            Type::Array { element, dims, layout: Layout::Columns } if *dims < MOST && element.words().is_some() => {
                Some(vec![(name.to_string(), array((**element).clone(), dims + 1))])
            }
            Type::Array { .. } => None,
            Type::Struct(s) => {
                let parts = s.fields.iter().map(|(field, ty)| ty.stacked(&format!("{name}.{field}")));
                parts.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
            }
            Type::Tuple(types) => {
                let parts = (1..).zip(types).map(|(n, ty)| ty.stacked(&format!("{name}.{n}")));
                parts.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
            }
            Type::Function(_) => Some(Vec::new()),
            Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } => {
                let names = part_names(name, self);
                Some(names.into_iter().zip(self.word_types()).map(|(n, ty)| (n, array(Type::Num(ty), 1))).collect())
            }
        }
    }

    /// The types of the words of a value, in order; empty where [`Type::words`] is `None`.
    pub fn word_types(&self) -> Vec<Ty> {
        match self {
            Type::Num(ty) | Type::Tropical(ty) => vec![*ty],
            Type::Bool => vec![Ty::Int],
            Type::Complex(ty) => vec![*ty, *ty],
            Type::Log { signed: false } => vec![Ty::F],
            Type::Log { signed: true } => vec![Ty::F, Ty::Int],
            Type::Array { .. } | Type::Function(_) => Vec::new(),
            Type::Struct(s) => s.fields.iter().flat_map(|(_, t)| t.word_types()).collect(),
            Type::Tuple(parts) => parts.iter().flat_map(Type::word_types).collect(),
        }
    }
}

/// Whether the name of a function's type is that of another value: `nothing`, `Val(3)`, or a number or symbol that a type
/// parameter stands for.
pub fn is_single(name: &str) -> bool {
    matches!(name, "nothing" | "true" | "false")
        || name.starts_with("Val(")
        || name.starts_with(':')
        || name.parse::<i64>().is_ok()
}

/// The names of the words of a variable: `z.re`, `z.im`.
pub(super) fn part_names(name: &str, ty: &Type) -> Vec<String> {
    match ty {
        Type::Num(_) | Type::Bool | Type::Tropical(_) => vec![name.to_string()],
        Type::Complex(_) => vec![format!("{name}.re"), format!("{name}.im")],
        Type::Log { signed: false } => vec![format!("{name}.log")],
        Type::Log { signed: true } => vec![format!("{name}.log"), format!("{name}.signbit")],
        Type::Struct(s) => s.fields.iter().flat_map(|(f, t)| part_names(&format!("{name}.{f}"), t)).collect(),
        Type::Tuple(parts) => {
            parts.iter().enumerate().flat_map(|(n, t)| part_names(&format!("{name}.{}", n + 1), t)).collect()
        }
        Type::Array { .. } | Type::Function(_) => Vec::new(),
    }
}

/// The name of a number type in Nil.
pub fn number_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Int => "Int",
        Ty::Q => "Fixed",
        Ty::L => "ULogarithmic",
        Ty::F => "Float64",
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Num(ty) => f.write_str(number_name(*ty)),
            Type::Bool => f.write_str("Bool"),
            Type::Complex(ty) => write!(f, "Complex{{{}}}", number_name(*ty)),
            Type::Tropical(ty) => write!(f, "Tropical{{{}}}", number_name(*ty)),
            Type::Log { signed: false } => f.write_str("ULogarithmic{Float64}"),
            Type::Log { signed: true } => f.write_str("Logarithmic{Float64}"),
            Type::Array { element, dims, .. } => match dims {
                1 => write!(f, "Vector{{{element}}}"),
                2 => write!(f, "Matrix{{{element}}}"),
                n => write!(f, "Array{{{element},{n}}}"),
            },
            Type::Struct(s) => f.write_str(&s.name),
            Type::Tuple(parts) => {
                f.write_str("(")?;
                for (n, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if n > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            Type::Function(name) if is_single(name) => f.write_str(name),
            Type::Function(name) => write!(f, "function {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use pendula_isa::Ty;

    use super::{Type, part_names};

    #[test]
    fn parts_have_names() {
        let tuple = Type::Tuple(vec![Type::Num(Ty::Int), Type::Complex(Ty::F), Type::Log { signed: true }]);
        assert_eq!(part_names("t", &tuple), ["t.1", "t.2.re", "t.2.im", "t.3.log", "t.3.signbit"]);
        assert_eq!(part_names("x", &Type::Bool), ["x"]);
        assert_eq!(part_names("f", &Type::Function("sin".into())), [] as [&str; 0]);
    }
}
