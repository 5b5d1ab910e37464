//! Derivatives as transformations of the core.
//!
//! Both transformations map code to code of the same language, so that they apply to their own results. A group is transformed once; a
//! variable has one twin in each transform, so that groups inside each other fit together. No invocation of an operator has a tag of its
//! own: the most recent transformation is the outermost layer of its values.

use rustc_hash::FxHashSet;

use crate::core::{Bind, Group, GroupId, Op, Rhs, Store, Transform, Var, View, Word};
use crate::errors::{Failure, NESTING, NO_DERIVATIVE};

mod forward;
pub mod ladder;
mod partial;
mod reverse;

/// The transform of a group of functions; made once. Its functions are written when [`complete`] is asked for them, so that groups may name
/// each other in circles, and what is never called is never transformed.
///
/// # Errors
/// If derivatives are nested too deep.
pub fn transform(store: &mut Store, id: GroupId, how: Transform) -> Result<GroupId, Failure> {
    let group = store.get(id);
    let known = match how {
        Transform::Reverse => group.reverse,
        Transform::Forward => group.forward,
    };
    if let Some(known) = known {
        return Ok(known);
    }
    let layer = match how {
        Transform::Reverse => View::Reverse,
        Transform::Forward => View::Forward,
    };
    let level = raised(group.level, layer)?;
    let free = group.free.clone().into_iter().map(|v| store.twin(v, how)).collect();
    let origin = Some((how, id));
    let made = store.add(Group { members: Vec::new(), free, level, origin, reverse: None, forward: None });
    match how {
        Transform::Reverse => store.get_mut(id).reverse = Some(made),
        Transform::Forward => store.get_mut(id).forward = Some(made),
    }
    Ok(made)
}

/// Writes the functions of a group that is a transform, if they are not there yet.
///
/// # Errors
/// If an operator in it has no derivative, or derivatives are nested too deep.
pub fn complete(store: &mut Store, id: GroupId) -> Result<(), Failure> {
    let group = store.get(id);
    let Some((how, origin)) = group.origin.filter(|_| group.members.is_empty()) else { return Ok(()) };
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        complete(store, origin)?;
        let members = match how {
            Transform::Reverse => reverse::members(store, origin),
            Transform::Forward => forward::members(store, origin),
        }?;
        store.get_mut(id).members = members;
        Ok(())
    })
}

fn raised(level: Word, layer: View) -> Result<Word, Failure> {
    let deep =
        || Failure::new(NESTING, "derivatives are nested too deep").help("nest fewer derivatives inside each other");
    level.push(layer).ok_or_else(deep)
}

/// The code of a stage of the ladder is not differentiated again.
fn staged(op: &Op) -> Failure {
    Failure::new(
        NO_DERIVATIVE,
        format!("`{}` has no derivative: a stage's code is not differentiated again", op.name()),
    )
    .help("nest `*j` and `j*` in the program instead")
}

/// Removes bindings that nothing uses and that only rearrange values.
fn sweep(store: &Store, binds: &mut Vec<Bind>, result: Var) {
    let mut used: FxHashSet<Var> = FxHashSet::default();
    used.insert(result);
    let mut kept = Vec::with_capacity(binds.len());
    while let Some(bind) = binds.pop() {
        let idle = match &bind.rhs {
            Rhs::View(..) | Rhs::Bundle(..) | Rhs::Const(_) | Rhs::Alias(_) => !used.contains(&bind.var),
            Rhs::Tuple(_) | Rhs::Closure(..) | Rhs::Sibling(_) | Rhs::Inject(..) => !used.contains(&bind.var),
            Rhs::Op(..) | Rhs::Plus(..) | Rhs::Product(..) | Rhs::Part(..) | Rhs::Captured(..) => false,
            Rhs::Case(..) | Rhs::If(..) | Rhs::Apply(..) => false,
        };
        if idle {
            continue;
        }
        used.extend(store.free_of(&bind.rhs));
        kept.push(bind);
    }
    kept.reverse();
    *binds = kept;
}
