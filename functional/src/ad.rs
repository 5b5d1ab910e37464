//! Derivatives as transformations of the core.
//!
//! Both transformations map code to code of the same language, so that they apply to their own results. A group is transformed once; a
//! variable has one twin in each transform, so that groups inside each other fit together. No invocation of an operator has a tag of its
//! own: the most recent transformation is the outermost layer of its values.

use rustc_hash::FxHashSet;

use crate::core::{Bind, GroupId, Op, Rhs, Store, Transform, Var};
use crate::errors::{Failure, NO_DERIVATIVE};

mod forward;
pub mod ladder;
mod partial;
mod reverse;

/// The transform of a group of functions; made once.
///
/// # Errors
/// If an operator in it has no derivative, or derivatives are nested too deep.
pub fn transform(store: &mut Store, group: GroupId, how: Transform) -> Result<GroupId, Failure> {
    let known = match how {
        Transform::Reverse => store.get(group).reverse,
        Transform::Forward => store.get(group).forward,
    };
    match known {
        Some(known) => Ok(known),
        None => stacker::maybe_grow(64 << 10, 1 << 20, || match how {
            Transform::Reverse => reverse::group(store, group),
            Transform::Forward => forward::group(store, group),
        }),
    }
}

/// The code of a stage of the ladder is not differentiated again.
fn staged(op: &Op) -> Failure {
    Failure::new(NO_DERIVATIVE, format!("`{}` has no derivative: a stage's code is not differentiated again", op.name()))
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
