//! The compiler's common part: what a program's values are, before they become
//! words. Front ends, the reversible intermediate representation and lowering
//! to the instruction set are to come; so far the types stand here, so that
//! they are settled before anything depends on them.

use pendula_isa::Ty;

/// The type of a value in a source language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number in one word.
    Scalar(Ty),
    /// A truth value: a word that is 0 or 1.
    Bool,
    /// A complex number: two words, real part first.
    Complex(Ty),
    /// A number under (max, +).
    Tropical(Ty),
    /// An array of one to three dimensions, column-major; lengths are known at run time.
    Array {
        /// The elements' type.
        element: Box<Type>,
        /// How many dimensions: 1, 2 or 3.
        dimensions: u8,
    },
    /// Named fields, one after the other.
    Struct {
        /// The type's name.
        name: String,
        /// The fields, in order.
        fields: Vec<(String, Type)>,
    },
}

impl Type {
    /// How many words a value takes; `None` where that is known only at run time.
    pub fn words(&self) -> Option<u64> {
        match self {
            Type::Scalar(_) | Type::Bool | Type::Tropical(_) => Some(1),
            Type::Complex(_) => Some(2),
            Type::Array { .. } => None,
            Type::Struct { fields, .. } => fields.iter().map(|(_, t)| t.words()).sum(),
        }
    }

    /// Whether gradients flow through values of the type.
    pub fn is_differentiable(&self) -> bool {
        match self {
            Type::Scalar(ty) | Type::Complex(ty) | Type::Tropical(ty) => *ty != Ty::Int,
            Type::Bool => false,
            Type::Array { element, .. } => element.is_differentiable(),
            Type::Struct { fields, .. } => fields.iter().any(|(_, t)| t.is_differentiable()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_add_up() {
        let point = Type::Struct {
            name: "Point".into(),
            fields: vec![("x".into(), Type::Complex(Ty::F)), ("n".into(), Type::Scalar(Ty::Int))],
        };
        assert_eq!(point.words(), Some(3));
        assert!(point.is_differentiable());
        let list = Type::Array { element: Box::new(Type::Bool), dimensions: 1 };
        assert_eq!(list.words(), None);
        assert!(!list.is_differentiable());
    }
}
