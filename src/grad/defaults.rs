//! What is differentiated by default.

use pendula_isa::module::Module;

use super::Options;
use crate::state::compiled::CompiledSource;
use crate::state::values::{self, Place};

/// Fills in the defaults for a Nil program. If exactly one parameter is both a single number and changed (its name ends
/// with `!`), it is the loss. The inputs are all numbers except a parameter that is the loss.
pub fn with_defaults(options: &Options, module: &Module, nil: Option<&CompiledSource>) -> Options {
    let mut out = options.clone();
    if nil.is_none() {
        return out;
    }
    let numbers = values::marked(module, |import, _| import);
    let numbers: Vec<Place> = numbers.into_iter().filter(|p| p.ty.gradient().is_some()).collect();
    if out.loss.is_none() && numbers.len() > 1 {
        let mut changed = numbers.iter().filter(|p| p.name.ends_with('!') && p.count() == 1);
        if let (Some(one), None) = (changed.next(), changed.next()) {
            out.loss = Some(one.name.clone());
        }
    }
    if let (Some(loss), true) = (&out.loss, out.wrt.is_empty()) {
        // If the loss is one element of an array, the array remains an input because of its other elements.
        out.wrt = numbers.into_iter().map(|p| p.name).filter(|name| name != loss).collect();
    }
    out
}
