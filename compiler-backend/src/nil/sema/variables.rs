//! The names that the entry point's data has in the source.

use pendula_isa::Reg;
use pendula_isa::module::Variable;

use crate::lower::{Argument as Data, ArgumentKind};
use crate::nil::types::part_names;
use crate::nil::types::{Layout, Type};

/// What a data symbol is in the source.
enum Leaf<'t> {
    /// A word, or elements of a type if it says more than their words do.
    Value(Option<&'t Type>),
    /// The same of an array of arrays, one after the other.
    Stacked(Option<&'t Type>),
    /// The elements of a vector that grows, with its room.
    Growing(&'t Type),
    /// A length that the source does not name.
    Hidden,
}

/// The arguments as variables of the source; `types` are the types of the parameters.
pub(super) fn variables(data: &[Data], types: &[Type]) -> Vec<Variable> {
    let mut leaves = Vec::new();
    types.iter().for_each(|ty| list(ty, &mut leaves));
    data.iter().filter(|d| d.is_in_data()).zip(leaves).filter_map(|(data, leaf)| variable(data, &leaf)).collect()
}

fn variable(data: &Data, leaf: &Leaf<'_>) -> Option<Variable> {
    let element = match leaf {
        Leaf::Value(ty) | Leaf::Stacked(ty) => *ty,
        Leaf::Growing(ty) => Some(*ty),
        Leaf::Hidden => return None,
    };
    let dims = match (&data.kind, leaf) {
        (ArgumentKind::Array { words, .. }, Leaf::Growing(ty)) => {
            let per = ty.words().unwrap_or(1).max(1).cast_unsigned();
            vec![words.len() as u64 / per]
        }
        (ArgumentKind::Array { lens, .. }, Leaf::Stacked(_)) => {
            vec![lens.iter().fold(1u64, |n, len| n.saturating_mul(len.cast_unsigned()))]
        }
        (ArgumentKind::Array { lens, .. }, _) => lens.iter().map(|n| n.cast_unsigned()).collect(),
        (ArgumentKind::Word { .. } | ArgumentKind::Constant(_), _) => Vec::new(),
    };
    let parts = match element {
        // The name of an array of logarithms already says what its elements are.
        None | Some(Type::Log { .. }) => Vec::new(),
        Some(element) => part_names("", element),
    };
    let parts = parts.iter().filter_map(|part| part.strip_prefix('.')).map(str::to_string).collect();
    let truths = element.map(truths).filter(|truths| truths.contains(&true)).unwrap_or_default();
    Some(Variable { symbol: data.name.clone(), name: own_name(&data.name).to_string(), dims, parts, truths })
}

/// Which words of a value of a type are Booleans.
fn truths(ty: &Type) -> Vec<bool> {
    match ty {
        Type::Bool => vec![true],
        Type::Num(_) | Type::Tropical(_) | Type::Log { signed: false } => vec![false],
        Type::Complex(_) | Type::Log { signed: true } => vec![false; 2],
        Type::Struct(s) => s.fields.iter().flat_map(|(_, ty)| truths(ty)).collect(),
        Type::Tuple(parts) => parts.iter().flat_map(truths).collect(),
        Type::Array { .. } | Type::Function(_) => Vec::new(),
    }
}

/// The name of data without the suffix that tells it from a register.
pub fn own_name(symbol: &str) -> &str {
    symbol.strip_suffix('$').filter(|name| Reg::parse(name).is_some()).unwrap_or(symbol)
}

/// What the data symbols of an array of arrays are, in order: none of them is a word.
fn stacked<'t>(element: &'t Type, out: &mut Vec<Leaf<'t>>) {
    match element {
        Type::Bool => out.push(Leaf::Stacked(Some(element))),
        Type::Array { element, .. } => out.push(Leaf::Stacked(Some(element))),
        Type::Struct(s) => s.fields.iter().for_each(|(_, ty)| stacked(ty, out)),
        Type::Tuple(parts) => parts.iter().for_each(|ty| stacked(ty, out)),
        Type::Num(_) | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } => {
            out.extend(element.word_types().iter().map(|_| Leaf::Stacked(None)));
        }
        Type::Function(_) => {}
    }
}

/// What the data symbols of an argument are, in order.
fn list<'t>(ty: &'t Type, out: &mut Vec<Leaf<'t>>) {
    match ty {
        Type::Bool => out.push(Leaf::Value(Some(ty))),
        Type::Num(_) | Type::Tropical(_) | Type::Log { signed: false } => out.push(Leaf::Value(None)),
        Type::Complex(_) | Type::Log { signed: true } => out.extend([Leaf::Value(None), Leaf::Value(None)]),
        Type::Array { element, layout: Layout::Growing, .. } => out.extend([Leaf::Growing(element), Leaf::Hidden]),
        Type::Array { element, .. } if element.words().is_none() => stacked(element, out),
        Type::Array { element, .. } => out.push(Leaf::Value(Some(element))),
        Type::Struct(s) => s.fields.iter().for_each(|(_, ty)| list(ty, out)),
        Type::Tuple(parts) => parts.iter().for_each(|ty| list(ty, out)),
        Type::Function(_) => {}
    }
}
