//! The variables of a Janus program, which are the results of a run.

use pendula_compiler::janus::store::{Shape, Variable};
use pendula_isa::Module;
use pendula_vm::Machine;

use crate::state::values::{self, Location, Place, ValueError};

/// The variables as places, in their order.
pub fn places(module: &Module, store: &[Variable]) -> Vec<Place> {
    // Every variable has a data symbol.
    store.iter().filter_map(|v| place(module, v).ok()).collect()
}

fn place(module: &Module, v: &Variable) -> Result<Place, ValueError> {
    let data = values::find(module, &v.symbol)?;
    Ok(Place { name: v.name.clone(), range: v.range(), variable: Some(Box::new(v.clone())), ..data })
}

/// Finds a variable (`x`), or an element or a row of an array (`m[1][0]`, `m[1]`). Without a store, the program is not
/// in Janus, and its names are those of [`values::find`].
///
/// # Errors
/// There is no such variable, or nothing at these indices.
pub fn find(module: &Module, store: Option<&[Variable]>, name: &str) -> Result<Place, ValueError> {
    let name = name.trim();
    let Some(store) = store else { return values::find(module, name) };
    let (base, indices) = name.split_at(name.find('[').unwrap_or(name.len()));
    let base = base.trim_end();
    let Some(v) = store.iter().find(|v| v.is_named(base)) else {
        let known = store.iter().take(20).map(Variable::head).collect();
        return Err(ValueError::NoVariable { name: base.to_string(), known });
    };
    let whole = place(module, v)?;
    if indices.is_empty() {
        return Ok(whole);
    }
    if v.shape == Shape::Stack {
        return Err(ValueError::OnStack(v.name.clone()));
    }
    // `[1][0]`: without the outer brackets, the indices are separated by the inner ones.
    let inner = indices.strip_prefix('[').and_then(|i| i.strip_suffix(']'));
    let numbers: Option<Vec<u64>> = inner.and_then(|i| i.split("][").map(|i| i.trim().parse().ok()).collect());
    let numbers = numbers.ok_or_else(|| ValueError::NoIndex(name.to_string()))?;
    let outside = || ValueError::Outside { name: name.to_string(), head: v.head() };
    let (part, before) = v.at(&numbers).ok_or_else(outside)?;
    let Location::Memory { start, len, .. } = whole.at else { return Err(outside()) };
    let own: u64 = part.dims().iter().product();
    let at = Location::Memory { start: start + before, len: own.min(len), array: !part.dims().is_empty() };
    Ok(Place { name: part.name.clone(), at, variable: Some(Box::new(part)), ..whole })
}

/// Sets a variable or a part of it: `x=5`, `a=[1,2,3]`, `m={{1,2},{3,4}}`; for a stack its contents, the top first:
/// `s=<2,1]`.
///
/// # Errors
/// As [`find`]; also, the variable cannot hold the numbers, or there are too many of them.
pub fn set(machine: &mut Machine<'_>, store: Option<&[Variable]>, assignment: &str) -> Result<(), ValueError> {
    if store.is_none() {
        return values::set(machine, assignment);
    }
    let (name, value) = assignment
        .split_once('=')
        .filter(|(_, value)| !value.trim().is_empty())
        .ok_or_else(|| ValueError::Syntax(assignment.to_string()))?;
    let place = find(machine.program().module(), store, name)?;
    let value = value.trim();
    // The forms in which stacks and arrays are printed are accepted, too.
    let plain = match &value.strip_prefix('<').and_then(|v| v.strip_suffix(']')) {
        Some(inner) if place.is_stack() => format!("[{inner}]"),
        None if place.is_stack() && value == "nil" => "[]".to_string(),
        _ if value.starts_with('{') => format!("[{}]", value.replace(['{', '}'], "")),
        _ => value.to_string(),
    };
    values::put_text(machine, &place, &plain)
}
