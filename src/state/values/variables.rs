//! Variables of a program whose source counts elements from 1: `x`, `x[2]`, `A[2,1]`, `z[3].im`.

use pendula_isa::module::{Module, SymbolKind, Variable, length_of};
use pendula_isa::types::Ty;

use super::error::ValueError;
use super::place::{Growing, Location, Place};

/// Finds the place with this name; `None` if the name is not that of a variable.
pub(in crate::state) fn find(module: &Module, name: &str) -> Result<Option<Place>, ValueError> {
    let (base, inner, end) = match name.split_once('[') {
        None => (name, None, ""),
        Some((base, rest)) => {
            let (inner, end) = rest.split_once(']').ok_or_else(|| no_index(name))?;
            (base.trim_end(), Some(inner), end)
        }
    };
    let by_name = |name: &str| module.variables.iter().find(|v| v.name == name);
    let (v, forced) = match (by_name(base), base.rsplit_once('.')) {
        (Some(v), _) => (v, None),
        // `x.q` reads the variable as another type.
        (None, Some((plain, letter))) if inner.is_none() => match (by_name(plain), type_of(letter)) {
            (Some(v), Some(ty)) => (v, Some(ty)),
            (Some(_) | None, _) => return several(module, name),
        },
        (None, _) => return several(module, base),
    };
    let Some(symbol) = module.symbol(&v.symbol) else { return Ok(None) };
    let SymbolKind::Data { ty, len, .. } = symbol.kind else { return Ok(None) };
    let whole = place(module, v, symbol.value, (ty, len));
    let place = match inner {
        None => whole,
        Some(inner) => {
            let n = number(v, name, inner)?;
            element(&whole, v, name, n, end)?
        }
    };
    Ok(Some(Place { name: name.to_string(), ty: forced.unwrap_or(place.ty), ..place }))
}

/// The place of a variable: words of this type, beginning at an address.
pub(in crate::state) fn place(module: &Module, v: &Variable, start: u64, (ty, len): (Ty, u64)) -> Place {
    let growing = length(module, v).map(|length| Growing { length, width: v.width(), room: len });
    let len = growing.map_or(len, |g| g.words(module.data.get(g.length as usize).unwrap_or(0)));
    let at = Location::Memory { start, len, array: !v.dims.is_empty() };
    Place { source: Some(Box::new(v.clone())), growing, ..Place::new(v.name.clone(), ty, at) }
}

/// The address of the length of a vector that grows.
fn length(module: &Module, v: &Variable) -> Option<u64> {
    if v.dims.len() != 1 {
        return None;
    }
    let symbol = module.symbol(&length_of(&v.symbol))?;
    matches!(symbol.kind, SymbolKind::Data { .. }).then_some(symbol.value)
}

/// A name that is not a variable may be the common prefix of the names of several parts, or be that of its only part.
fn several(module: &Module, name: &str) -> Result<Option<Place>, ValueError> {
    let of = |v: &&Variable| v.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let parts: Vec<String> = module.variables.iter().filter(of).map(|v| v.name.clone()).collect();
    match &parts[..] {
        [] => Ok(None),
        [one] => find(module, one),
        _ => Err(ValueError::Parts { name: name.to_string(), parts }),
    }
}

/// The number, counted from 0, of the element with these indices.
fn number(v: &Variable, name: &str, inner: &str) -> Result<u64, ValueError> {
    let nowhere = |why: String| ValueError::NoElement { name: name.to_string(), why };
    let head = &v.name;
    if v.dims.is_empty() {
        return Err(nowhere(format!("`{head}` is not an array")));
    }
    let indices: Option<Vec<i128>> = inner.split(',').map(|i| i.trim().parse().ok()).collect();
    let indices = indices.ok_or_else(|| no_index(name))?;
    // One index counts the elements of any array, column by column.
    let count = [v.count()];
    let dims = if indices.len() == 1 { &count[..] } else { &v.dims[..] };
    let sizes = v.dims.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ");
    let what = if v.count() == 1 { "1 element".to_string() } else { format!("{sizes} elements") };
    if indices.len() != dims.len() {
        return Err(nowhere(format!("`{head}` has {what}, of which the first is `{}`", v.element(0))));
    }
    if indices.iter().any(|i| *i < 1) {
        return Err(nowhere(format!("elements are counted from 1, the first is `{}`", v.element(0))));
    }
    if indices.iter().zip(dims).any(|(i, len)| *i > i128::from(*len)) {
        return Err(nowhere(format!("`{head}` has {what}, counted from 1")));
    }
    let steps = dims.iter().scan(1u64, |step, len| {
        let own = *step;
        *step = step.saturating_mul(*len);
        Some(own)
    });
    Ok(indices.iter().zip(steps).map(|(i, step)| (*i as u64 - 1) * step).sum())
}

/// The part of a variable that a name with an index means: `x[2]`, `z[3].im`.
///
/// # Errors
/// The variable has no such part.
pub(crate) fn part_of(whole: &Place, name: &str) -> Result<Place, ValueError> {
    let (Some(v), Some((_, rest))) = (&whole.source, name.split_once('[')) else { return Err(no_index(name)) };
    let (inner, end) = rest.split_once(']').ok_or_else(|| no_index(name))?;
    let n = number(v, name, inner)?;
    Ok(Place { name: name.to_string(), ..element(whole, v, name, n, end)? })
}

/// The place of element number `n` of an array. `end`, the text after the bracket, names a part of the element or a
/// type.
fn element(whole: &Place, v: &Variable, name: &str, n: u64, end: &str) -> Result<Place, ValueError> {
    let Location::Memory { start, .. } = whole.at else { return Err(no_index(name)) };
    let whole = &Place { growing: None, ..whole.clone() };
    let (first, width) = (start + n * v.width(), v.width());
    let one = |at: u64| Location::Memory { start: at, len: 1, array: false };
    // For a single word, the variable is recorded only if it says that the word is a truth value.
    let source = |part: u64| {
        let own = || Variable { dims: Vec::new(), parts: Vec::new(), truths: vec![true], ..v.clone() };
        v.is_truth(part).then(|| Box::new(own()))
    };
    let end = end.trim();
    if end.is_empty() && v.parts.is_empty() {
        return Ok(Place { at: one(first), source: source(0), ..whole.clone() });
    }
    if end.is_empty() {
        let own = Variable { name: v.element(n), dims: Vec::new(), ..v.clone() };
        let at = Location::Memory { start: first, len: width, array: true };
        return Ok(Place { at, source: Some(Box::new(own)), ..whole.clone() });
    }
    let end = end.strip_prefix('.').ok_or_else(|| no_index(name))?;
    if let Some(part) = v.parts.iter().position(|part| part == end) {
        return Ok(Place { at: one(first + part as u64), source: source(part as u64), ..whole.clone() });
    }
    match type_of(end) {
        Some(ty) if v.parts.is_empty() => Ok(Place { ty, at: one(first), source: None, ..whole.clone() }),
        Some(_) | None => {
            let why = match &v.parts[..] {
                [] => format!("`{}` is a single number", v.element(n)),
                parts => format!("the parts of `{}` are {}", v.element(n), parts.join(", ")),
            };
            Err(ValueError::NoElement { name: name.to_string(), why })
        }
    }
}

/// The type that a letter stands for: `q`, `l`, `f`.
fn type_of(letter: &str) -> Option<Ty> {
    let mut chars = letter.chars();
    let ty = Ty::from_letter(chars.next()?)?;
    chars.next().is_none().then_some(ty)
}

fn no_index(name: &str) -> ValueError {
    ValueError::NoIndexFromOne(name.to_string())
}
