//! Aliases: refuses statements that read what they change, and emits checks where aliasing is known at run time only.

use super::body::{Body, Sink};
use super::constant::known;
use super::scope::{Binding, Kind, Location};
use super::{CHANGES, Done, READS};
use crate::ir::{AssertKind, Mem, Operand, Place, Region, Var};
use crate::janus::ast::{Expr, ExprKind, Lval, Name, Span};
use crate::janus::codes;

impl Body<'_, '_> {
    /// Refuses an index that names a variable that is changed.
    pub(super) fn indexed(&mut self, l: &Lval, name: &Name, how: &str) -> Done<()> {
        match l.indices.iter().find_map(|index| mentions(index, &name.text)) {
            None => Ok(()),
            Some(span) => {
                let message = format!("the index names `{}`, {how}", name.text);
                self.fail(&span, codes::ALIAS, message, "take the index into a variable before")
            }
        }
    }

    /// Checks that the changed places have not been read and are different. `false` if they are certainly not, in this
    /// instance: only a failing assertion is left of the statement.
    pub(super) fn guard(&mut self, written: &[Place]) -> bool {
        let mut certain = false;
        let reads = self.reads.clone();
        for (n, place) in written.iter().enumerate() {
            certain |= written[..n].contains(place);
            match *place {
                Place::Var(v) => certain |= reads.vars.contains(&v),
                Place::Mem(m) => {
                    let others =
                        written[..n].iter().filter_map(|p| if let Place::Mem(m) = p { Some(*m) } else { None });
                    for other in reads.words.iter().copied().chain(others) {
                        certain |= !self.apart(m, other, READS);
                    }
                }
            }
        }
        if certain {
            self.never(Sink::Pre, AssertKind::Alias, READS);
        }
        for place in written {
            certain |= !self.avoids_constants(*place);
        }
        !certain
    }

    /// The constants in scope.
    pub(super) fn constants(&self) -> Vec<Binding> {
        self.scope.iter().filter(|b| b.constant).cloned().collect()
    }

    /// Checks that a changed word does not belong to a constant. `false` if it certainly does.
    pub(super) fn avoids_constants(&mut self, place: Place) -> bool {
        for c in self.constants() {
            let reason = constant(&c.name.text);
            let is = match (place, c.location, &c.kind) {
                (Place::Var(v), Location::Word(w), _) => v == w,
                (Place::Mem(m), Location::Ref { address, region }, _) => {
                    !self.apart(m, Mem { base: Some(address), index: None, offset: 0, region }, &reason)
                }
                (Place::Mem(m), Location::Memory { region, .. }, Kind::Stack) => m.region == region,
                (Place::Mem(m), Location::Memory { base, region }, Kind::Array(_, dims)) if m.region == region => {
                    let total = self.total(dims);
                    self.assert_outside(m, (base, region), total, &reason);
                    false
                }
                _ => false,
            };
            if is {
                self.never(Sink::Pre, AssertKind::Alias, &reason);
                return false;
            }
        }
        true
    }

    /// The same for `count` words from `base` on.
    pub(super) fn block_avoids_constants(&mut self, (base, region): (Var, Region), count: Operand) {
        for c in self.constants() {
            let reason = constant(&c.name.text);
            let word = |base| Mem { base: Some(base), index: None, offset: 0, region };
            match (c.location, &c.kind) {
                (Location::Ref { address, region: of }, _) if of == region => {
                    self.assert_outside(word(address), (base, region), count, &reason);
                }
                (Location::Memory { base: first, region: of }, Kind::Array(_, dims)) if of == region => {
                    let total = self.total(dims);
                    self.assert_outside(word(first), (base, region), count, &reason);
                    self.assert_outside(word(base), (first, region), total, &reason);
                }
                _ => {}
            }
        }
    }

    /// Refuses an element that is read by its own name.
    pub(super) fn reject_self_read(&mut self, (target, dst): (&Lval, Place), value: &Expr) -> Done<()> {
        let Place::Mem(m) = dst else { return Ok(()) };
        let span = reads(value, target).or_else(|| self.reads.words.contains(&m).then(|| value.span.clone()));
        match span {
            None => Ok(()),
            Some(span) => {
                let help = "copy its value to a local variable first";
                self.fail(&span, codes::ALIAS, "the element that is changed is read here", help)
            }
        }
    }
}

/// The message if a constant is changed by another name.
pub(super) fn constant(name: &str) -> String {
    format!("{}`{name}`{}", CHANGES.0, CHANGES.1)
}

/// The variables that an expression names.
pub(super) fn names(e: &Expr) -> Vec<&Name> {
    match &e.kind {
        ExprKind::Num(_) | ExprKind::Bool(_) | ExprKind::Nil => Vec::new(),
        ExprKind::Place(l) => std::iter::once(&l.name).chain(l.indices.iter().flat_map(names)).collect(),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => names(a),
        ExprKind::Binary(_, a, b) => names(a).into_iter().chain(names(b)).collect(),
        ExprKind::Empty(n) | ExprKind::Top(n) | ExprKind::Size(n) => vec![n],
        ExprKind::List(list) => list.iter().flat_map(names).collect(),
    }
}

/// Whether two expressions are written in the same way, so that they have the same value.
fn alike(a: &Expr, b: &Expr) -> bool {
    if let (Some(a), Some(b)) = (known(a), known(b)) {
        return a == b;
    }
    match (&a.kind, &b.kind) {
        (ExprKind::Place(l), ExprKind::Place(m)) => same(l, m),
        (ExprKind::Unary(f, a), ExprKind::Unary(g, b)) => f == g && alike(a, b),
        (ExprKind::Cast(t, a), ExprKind::Cast(u, b)) => t == u && alike(a, b),
        (ExprKind::Binary(f, a, b), ExprKind::Binary(g, c, d)) => f == g && alike(a, c) && alike(b, d),
        (ExprKind::Top(s), ExprKind::Top(t)) | (ExprKind::Size(s), ExprKind::Size(t)) => s.text == t.text,
        _ => false,
    }
}

/// Whether two places are written in the same way.
pub(super) fn same(l: &Lval, m: &Lval) -> bool {
    l.name.text == m.name.text
        && l.indices.len() == m.indices.len()
        && l.indices.iter().zip(&m.indices).all(|(i, j)| alike(i, j))
}

/// The range where an expression reads a place that is written in the same way.
fn reads(e: &Expr, l: &Lval) -> Option<Span> {
    match &e.kind {
        ExprKind::Place(m) if same(l, m) => Some(m.span.clone()),
        ExprKind::Place(m) => m.indices.iter().find_map(|i| reads(i, l)),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => reads(a, l),
        ExprKind::Binary(_, a, b) => reads(a, l).or_else(|| reads(b, l)),
        ExprKind::List(list) => list.iter().find_map(|e| reads(e, l)),
        ExprKind::Num(_)
        | ExprKind::Bool(_)
        | ExprKind::Nil
        | ExprKind::Empty(_)
        | ExprKind::Top(_)
        | ExprKind::Size(_) => None,
    }
}

/// The range where an expression names a variable.
pub(super) fn mentions(e: &Expr, name: &str) -> Option<Span> {
    names(e).into_iter().find(|n| n.text == name).map(|n| n.span.clone())
}
