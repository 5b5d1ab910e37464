//! Variables of Nil whose parts have names of their own: complex numbers and structs.

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::plural;
use pendula_vm::Machine;

use super::{Place, ValueError, find, words_of};
use crate::state::arguments;
use crate::state::arrays::Number;
use crate::state::values;

/// Sets all parts of such a variable: `z=(1.0,2.0)`.
pub(super) fn put(
    machine: &mut Machine<'_>,
    (name, parts): (String, Vec<String>),
    value: &str,
) -> Result<(), ValueError> {
    let module = machine.program().module();
    let places = parts.iter().map(|part| find(module, part)).collect::<Result<Vec<Place>, _>>()?;
    let count = places.iter().map(Place::count).sum::<u64>();
    let budget = Budget { words: count.saturating_add(1), ..Budget::default() };
    let wrong = |why: String| ValueError::NotParts { name: name.clone(), parts: parts.clone(), why };
    let mut arguments = arguments::parse_within(value, &budget).map_err(|e| wrong(e.to_string()))?;
    let (Some(argument), true) = (arguments.pop(), arguments.is_empty()) else {
        return Err(wrong("one value is expected, such as `(1.0, 2.0)`".to_string()));
    };
    let numbers = arguments::flat(argument).unwrap_or_default();
    if numbers.len() as u64 != count {
        return Err(wrong(format!("that is {}, not {}", plural(count, "number"), numbers.len())));
    }
    let mut numbers = numbers.into_iter().map(Number::from);
    let mut words = Vec::new();
    for place in &places {
        let own: Vec<Number> = numbers.by_ref().take(place.count() as usize).collect();
        words.push(words_of(place, &own, module.flags.format)?);
    }
    places.iter().zip(&words).for_each(|(place, words)| values::put(machine, place, words));
    Ok(())
}
