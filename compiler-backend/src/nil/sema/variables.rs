//! The names that the entry point's data has in the source.

use pendula_isa::Reg;
use pendula_isa::module::Variable;

use super::allocate::part_names;
use crate::lower::{Argument as Data, ArgumentKind};
use crate::nil::types::Type;

/// The arguments as variables of the source; `types` are the types of the parameters.
pub(super) fn variables(data: &[Data], types: &[Type]) -> Vec<Variable> {
    let mut elements = Vec::new();
    types.iter().for_each(|ty| leaves(ty, &mut elements));
    data.iter().zip(elements).map(|(data, element)| variable(data, element)).collect()
}

fn variable(data: &Data, element: Option<&Type>) -> Variable {
    let dims = match &data.kind {
        ArgumentKind::Array { lens, .. } => lens.iter().map(|n| n.cast_unsigned()).collect(),
        ArgumentKind::Word { .. } | ArgumentKind::Constant(_) => Vec::new(),
    };
    let parts = match element {
        // The name of an array of logarithms already says what its elements are.
        None | Some(Type::Log { .. }) => Vec::new(),
        Some(element) => part_names("", element),
    };
    let parts = parts.iter().filter_map(|part| part.strip_prefix('.')).map(str::to_string).collect();
    let truths = element.map(truths).filter(|truths| truths.contains(&true)).unwrap_or_default();
    Variable { symbol: data.name.clone(), name: own_name(&data.name).to_string(), dims, parts, truths }
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

/// The types of the data symbols of an argument, in order: a Boolean type, or the element type of an array.
fn leaves<'t>(ty: &'t Type, out: &mut Vec<Option<&'t Type>>) {
    match ty {
        Type::Bool => out.push(Some(ty)),
        Type::Num(_) | Type::Tropical(_) | Type::Log { signed: false } => out.push(None),
        Type::Complex(_) | Type::Log { signed: true } => out.extend([None, None]),
        Type::Array { element, .. } => out.push(Some(element)),
        Type::Struct(s) => s.fields.iter().for_each(|(_, ty)| leaves(ty, out)),
        Type::Tuple(parts) => parts.iter().for_each(|ty| leaves(ty, out)),
        Type::Function(_) => {}
    }
}
