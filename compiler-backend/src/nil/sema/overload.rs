//! Overload resolution: the one rule for calls, for statements that the program defines, and for the entry point.
//!
//! Among the definitions that accept the arguments, the best one is at least as specific as every other for each
//! argument, and more specific for one. If there is none, two definitions are more specific for different arguments,
//! and the call is ambiguous.

use std::collections::HashMap;

use pendula_isa::diagnostic::{Diagnostic, Label, Place as Source};

use super::body::Body;
use super::{Sema, Stop};
use crate::nil::ast::{self, Span};
use crate::nil::codes;
use crate::nil::types::{Fit, Type};

/// The result of overload resolution.
#[derive(Debug)]
pub(super) enum Choice {
    /// No definition accepts the types.
    None,
    /// The best definition, with its type variables.
    One(usize, HashMap<String, Type>),
    /// Several definitions, none of which is the best.
    Several(Vec<usize>),
}

impl Choice {
    /// Whether a definition accepts the types.
    pub(super) fn fits(&self) -> bool {
        !matches!(self, Choice::None)
    }
}

impl Body<'_, '_> {
    /// The best definition for arguments of these types.
    pub(super) fn choose(&self, candidates: &[usize], types: &[Type]) -> Choice {
        let library = self.s.inputs.get(self.file as usize).is_some_and(|i| i.library);
        self.s.choose(candidates, types, library)
    }
}

impl Sema<'_> {
    /// The best definition for arguments of these types. The program's own definitions go before the library's; in the
    /// library (`library`), its own go first.
    pub(super) fn choose(&self, candidates: &[usize], types: &[Type], library: bool) -> Choice {
        let fit = |n: usize| self.fits(self.definitions[n].ast, types).map(|(fit, bound)| (n, fit, bound));
        for near in [true, false] {
            let near = |n: &usize| (self.definitions[*n].library == library) == near;
            let mut fitting: Vec<_> = candidates.iter().copied().filter(near).filter_map(fit).collect();
            let ranks: Vec<&[Fit]> = fitting.iter().map(|(_, fit, _)| fit.as_slice()).collect();
            match best(&ranks, |a, b| a >= b).as_slice() {
                [] => {}
                [one] => {
                    let (n, _, bound) = fitting.swap_remove(*one);
                    return Choice::One(n, bound);
                }
                several => return Choice::Several(several.iter().map(|k| fitting[*k].0).collect()),
            }
        }
        Choice::None
    }

    /// How well a definition fits each of these types; `None` if it does not accept them.
    fn fits(&self, f: &ast::Function, types: &[Type]) -> Option<(Vec<Fit>, HashMap<String, Type>)> {
        if !f.takes(types.len()) || f.unread.as_ref().is_some_and(|u| !u.head) {
            return None;
        }
        let mut names = super::names(&self.structs, &HashMap::new());
        let mut all = Vec::with_capacity(types.len());
        let rest = f.params.last().filter(|p| p.rest);
        let params = f.params.iter().filter(|p| !p.rest).chain(rest.into_iter().cycle());
        for (param, t) in params.zip(types) {
            all.push(match &param.ty {
                Some(e) => names.accepts(e, t, &f.type_params)?,
                None => Fit::ANY,
            });
        }
        // A definition for just so many arguments fits better than one for any number.
        let open = rest.is_some_and(|p| p.count.is_none()) || rest.is_none() && types.len() < f.params.len();
        all.push(if open { Fit::ANY } else { Fit::EXACT });
        Some((all, names.bound))
    }

    /// Refuses a call for which a definition that could not be read is chosen, or might be because its parameters are not
    /// known: no less specific one may run in its place. `call` is its place; `None` for a call from outside.
    pub(super) fn refuse_unread(
        &mut self,
        candidates: &[usize],
        chosen: &Choice,
        call: Option<(u16, &Span)>,
    ) -> Result<(), Stop> {
        let unread = |n: usize| self.definitions[n].ast.unread.as_ref();
        let chosen = match chosen {
            Choice::One(n, _) => unread(*n).map(|u| (*n, u)),
            Choice::None | Choice::Several(_) => None,
        };
        let headless = || candidates.iter().find_map(|n| unread(*n).filter(|u| !u.head).map(|u| (*n, u)));
        let Some((n, unread)) = chosen.or_else(headless) else { return Ok(()) };
        let d = &self.definitions[n];
        let (file, name) = (d.file, d.ast.name.clone());
        let message = match unread.head {
            true => format!("this `{}` could not be read and is left out", name.text),
            false => format!("a definition of `{}` could not be read, and may be the one that is meant", name.text),
        };
        let reason = unread
            .reason
            .primary
            .as_ref()
            .map(|l| Label { place: l.place.clone(), text: unread.reason.message.clone() });
        let (at, text) = call.unwrap_or((file, &name.span));
        let d = self.error(at, text, codes::LEFT_OUT, message);
        d.secondary.extend(reason);
        d.help = Some("correct the definition; `pendula check` shows what is wrong with it".into());
        Err(Stop)
    }

    /// Reports an ambiguous call. `call` is its place; `None` for a call from outside.
    pub(super) fn ambiguous(&mut self, several: &[usize], types: &[Type], call: Option<(u16, &Span)>) -> Stop {
        let places: Vec<Source> = several
            .iter()
            .map(|n| &self.definitions[*n])
            .map(|d| Source { file: d.file, span: d.ast.name.span.clone() })
            .collect();
        let name = several.first().map_or(String::new(), |n| self.definitions[*n].ast.name.text.clone());
        let types: Vec<String> = types.iter().map(Type::to_string).collect();
        let types = types.join(", ");
        let message = format!("`{name}` for ({types}) matches several definitions equally well");
        let help =
            format!("make the parameter types of one definition more specific, or define `{name}` for ({types})");
        let (d, rest) = match (call, places.split_first()) {
            (Some((file, span)), _) => (self.error(file, span, codes::AMBIGUOUS, message), places.as_slice()),
            (None, Some((first, rest))) => (self.error(first.file, &first.span, codes::AMBIGUOUS, message), rest),
            (None, None) => {
                self.diagnostics.push(Diagnostic::error(codes::AMBIGUOUS, message).help(help));
                return Stop;
            }
        };
        d.help = Some(help);
        let label = |place: &Source| Label { place: place.clone(), text: "this fits".into() };
        d.secondary.extend(rest.iter().map(label));
        Stop
    }
}

/// The ranks that are at least as good as every other in every place: one, if one of them is better. Without such a
/// rank, those that no other is better than.
pub(super) fn best<T>(ranks: &[&[T]], good: impl Fn(&T, &T) -> bool) -> Vec<usize> {
    let over = |a: usize, b: usize| ranks[a].iter().zip(ranks[b]).all(|(a, b)| good(a, b));
    let all = 0..ranks.len();
    all.clone().filter(|a| all.clone().all(|b| over(*a, b) || !over(b, *a))).collect()
}

#[cfg(test)]
mod tests {
    use super::best;

    fn of(ranks: &[[u32; 2]]) -> Vec<usize> {
        best(&ranks.iter().map(|r| r.as_slice()).collect::<Vec<_>>(), |a, b| a >= b)
    }

    #[test]
    fn the_best_is_as_good_everywhere() {
        assert_eq!(of(&[[3, 0], [8, 0]]), [1]);
        assert_eq!(of(&[[8, 8], [3, 0], [8, 0]]), [0]);
        assert_eq!(of(&[[8, 3], [3, 8]]), [0, 1]);
        assert_eq!(of(&[[8, 3], [3, 8], [8, 8]]), [2]);
        // A rank that is worse than another is not among them.
        assert_eq!(of(&[[8, 3], [3, 8], [3, 3]]), [0, 1]);
        assert_eq!(of(&[[1, 1], [1, 1]]), [0, 1]);
        assert_eq!(of(&[]), [] as [usize; 0]);
    }
}
