//! The variables of a program in Janus, as a run hands them back.

use pendula_compiler::janus::store::{Shape, Variable};
use pendula_vm::Machine;

use crate::values::{self, ValueError};

/// Each variable as it is shown, `a[2][3]` for an array, and its value: `5`, `{{1, 2, 3}, {4, 5, 6}}`, `<2, 1]`, `nil`.
pub fn lines(machine: &Machine<'_>, store: &[Variable], hex: bool) -> Vec<(String, String)> {
    let one = |v: &Variable| {
        let number = |w: u64| if hex { format!("{w:#018x}") } else { v.number(w) };
        (v.head(), v.text(&words(machine, v), number))
    };
    store.iter().map(one).collect()
}

/// The words of a variable's data.
fn words(machine: &Machine<'_>, v: &Variable) -> Vec<u64> {
    let place = values::find(machine.program().module(), &v.symbol);
    place.map(|p| values::words(machine, &p).to_vec()).unwrap_or_default()
}

/// The numbers of a variable: of a stack those on it, the top first.
pub fn numbers(machine: &Machine<'_>, v: &Variable) -> Vec<u64> {
    v.words(&words(machine, v))
}

/// Sets a variable: `x=5`, `a=[1,2,3]`, of a stack what is on it, the top first. What is no variable of the program is a data symbol or a
/// register, as [`values::set`] has it.
///
/// # Errors
/// As [`values::set`]; more numbers than a stack has room for.
pub fn set(machine: &mut Machine<'_>, store: &[Variable], assignment: &str) -> Result<(), ValueError> {
    let Some((name, value)) = assignment.split_once('=') else { return values::set(machine, assignment) };
    let Some(v) = store.iter().find(|v| v.name == name.trim()) else { return values::set(machine, assignment) };
    let value = value.trim();
    if v.shape != Shape::Stack {
        // As it is printed, too.
        let flat: String = value.chars().filter(|c| !matches!(c, '{' | '}')).collect();
        let value = if value.starts_with('{') { format!("[{flat}]") } else { value.to_string() };
        return values::set(machine, &format!("{}={value}", v.symbol));
    }
    let place = values::find(machine.program().module(), &v.symbol)?;
    let inner = value.strip_prefix(['<', '[']).and_then(|v| v.strip_suffix(']')).unwrap_or(value).trim();
    let texts: Vec<&str> =
        if inner.is_empty() || inner == "nil" { Vec::new() } else { inner.split(',').map(str::trim).collect() };
    let room = place.count() as usize;
    if texts.len() >= room {
        return Err(ValueError::Length { name: v.name.clone(), len: place.count() - 1, found: texts.len() });
    }
    let numbers: Vec<crate::arrays::Number> =
        texts.iter().rev().map(|t| crate::arrays::Number::Text((*t).to_string())).collect();
    let mut all = vec![crate::arrays::Number::Int(texts.len() as i128)];
    all.extend(numbers);
    all.resize(room, crate::arrays::Number::Int(0));
    let format = machine.program().module().flags.format;
    let words = values::words_of(&place, &all, format)?;
    values::put(machine, &place, &words);
    Ok(())
}
