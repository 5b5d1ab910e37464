//! Derivatives as transformations of the core.

pub mod ladder;

use crate::core::{GroupId, Store, Transform};
use crate::errors::Failure;

/// The transform of a group of functions; made once.
///
/// # Errors
/// If an operator in it has no derivative.
pub fn transform(_store: &mut Store, _group: GroupId, _how: Transform) -> Result<GroupId, Failure> {
    Err(Failure::new(crate::errors::NO_DERIVATIVE, "derivatives come next"))
}
