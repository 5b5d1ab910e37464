//! Parts of the state by the names that stand in a module: registers, data symbols, and variables of Nil.

use std::collections::HashSet;

use pendula_isa::module::{Module, SymbolKind, length_of};
use pendula_isa::types::{Reg, Ty};

use crate::state::values::error::ValueError;
use crate::state::values::place::{Location, Place};
use crate::state::values::variables;

/// Finds a register, a data symbol, a variable of Nil, or a part of one.
///
/// # Errors
/// The module does not have the name, or the index is out of range.
pub(crate) fn find(module: &Module, name: &str) -> Result<Place, ValueError> {
    if let Some(place) = variables::find(module, name)? {
        return Ok(place);
    }
    let (plain, forced) = without_type(module, name);
    let (base, index) = without_index(name, plain)?;
    // Users have no names for the registers of code that was compiled from Nil.
    if index.is_none()
        && module.variables.is_empty()
        && let Some(reg) = Reg::parse(base)
    {
        return Ok(Place::new(name, forced.unwrap_or(Ty::Int), Location::Register(reg)));
    }
    match module.symbol(base).map(|s| (s.value, s.kind)) {
        Some((value, SymbolKind::Data { ty, len, .. })) => {
            let at = within(base, (value, len), index)?;
            Ok(Place::new(name, forced.unwrap_or(ty), at))
        }
        Some((_, SymbolKind::Label | SymbolKind::Proc)) | None if !module.variables.is_empty() => {
            let known = module.variables.iter().take(20).map(|v| v.name.clone()).collect();
            Err(ValueError::NoVariable { name: base.to_string(), known })
        }
        Some((_, SymbolKind::Label | SymbolKind::Proc)) | None => {
            let data = |s: &&pendula_isa::module::Symbol| matches!(s.kind, SymbolKind::Data { .. });
            let known = module.symbols.iter().filter(data).take(20).map(|s| s.name.clone()).collect();
            Err(ValueError::Unknown { name: base.to_string(), known })
        }
    }
}

/// Splits a name into the part before its type suffix and the type: `a.f`.
pub(crate) fn without_type<'n>(module: &Module, name: &'n str) -> (&'n str, Option<Ty>) {
    match name.rsplit_once('.') {
        Some((plain, suffix)) if module.symbol(name).is_none() => match suffix.chars().next().map(Ty::from_letter) {
            Some(Some(ty)) if suffix.len() == 1 => (plain, Some(ty)),
            _ => (name, None),
        },
        _ => (name, None),
    }
}

/// Splits a name into the part before its index and the index: `a[2]`.
pub(crate) fn without_index<'n>(name: &str, plain: &'n str) -> Result<(&'n str, Option<u64>), ValueError> {
    match plain.strip_suffix(']').and_then(|p| p.split_once('[')) {
        Some((base, index)) => {
            Ok((base, Some(index.trim().parse::<u64>().map_err(|_| ValueError::NoIndex(name.to_string()))?)))
        }
        None => Ok((plain, None)),
    }
}

/// The words of a data symbol, or one of them.
pub(crate) fn within(name: &str, (start, len): (u64, u64), index: Option<u64>) -> Result<Location, ValueError> {
    match index {
        None => Ok(Location::Memory { start, len, array: len != 1 }),
        Some(i) if i < len => Ok(Location::Memory { start: start + i, len: 1, array: false }),
        Some(index) => Err(ValueError::Index { name: name.to_string(), len, index }),
    }
}

/// The data symbols whose import and export marks satisfy `wanted`, in the order of addresses; those of a vector that
/// grows are one place.
pub fn marked(module: &Module, wanted: impl Fn(bool, bool) -> bool) -> Vec<Place> {
    let variables = module.variables_by_symbol();
    let lengths: HashSet<String> = module.variables.iter().map(|v| length_of(&v.symbol)).collect();
    let hidden = |place: &Place| place.source.is_none() && lengths.contains(&place.name);
    let place = |name: &str, start: u64, (ty, len): (Ty, u64)| match variables.get(name) {
        Some(v) => variables::place(module, v, start, (ty, len)),
        None => symbol(name, start, (ty, len)),
    };
    let mut out = selected(module, wanted, place);
    out.retain(|place| !hidden(place));
    out
}

/// The same as whole data symbols, whatever they are in the source.
pub fn marked_symbols(module: &Module, wanted: impl Fn(bool, bool) -> bool) -> Vec<Place> {
    selected(module, wanted, symbol)
}

fn symbol(name: &str, start: u64, (ty, len): (Ty, u64)) -> Place {
    Place::new(name, ty, Location::Memory { start, len, array: len != 1 })
}

fn selected(
    module: &Module,
    wanted: impl Fn(bool, bool) -> bool,
    place: impl Fn(&str, u64, (Ty, u64)) -> Place,
) -> Vec<Place> {
    let mut out: Vec<(u64, Place)> = module
        .symbols
        .iter()
        .filter_map(|s| match s.kind {
            SymbolKind::Data { ty, len, import, export } if wanted(import, export) => {
                Some((s.value, place(&s.name, s.value, (ty, len))))
            }
            SymbolKind::Data { .. } | SymbolKind::Label | SymbolKind::Proc => None,
        })
        .collect();
    out.sort_by_key(|(at, _)| *at);
    out.into_iter().map(|(_, p)| p).collect()
}
