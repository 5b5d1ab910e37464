//! The variables of a Janus program, which are the results of a run. Without them, the program is in another language.

use pendula_compiler::janus::store::Variable;
use pendula_isa::Module;
use pendula_vm::Machine;

use crate::state::language;
use crate::state::values::{self, Place, ValueError};

/// The variables as places, in their order.
pub fn places(module: &Module, store: &[Variable]) -> Vec<Place> {
    let names = (module, Some(store));
    language::of(names).results(names, false)
}

/// Finds a variable (`x`), or an element or a row of an array (`m[1][0]`, `m[1]`). Without a store, the program is not
/// in Janus, and its names are those of [`values::find`].
///
/// # Errors
/// There is no such variable, or nothing at these indices.
pub fn find(module: &Module, store: Option<&[Variable]>, name: &str) -> Result<Place, ValueError> {
    let names = (module, store);
    language::of(names).find(names, name.trim())
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
    let (name, value) = values::parts_of(assignment)?;
    let module = machine.program().module();
    let place = find(module, store, name)?;
    let value = language::of((module, store)).value(&place, value);
    values::put_text(machine, &place, &value)
}
