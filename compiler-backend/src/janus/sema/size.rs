//! The sizes of local arrays, between `local` and `delocal`.
//!
//! If one of the two declarations has a constant size, that is the size, and the other is checked against it at run
//! time. So a program and its inverse, in which the two declarations have changed places, know the same sizes.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::body::{Body, Sink};
use super::local::CHECKED;
use super::scope::Dim;
use super::{Done, constant};
use crate::ir::{AssertKind, Operand, Place, Stmt as Ir, Test, Var};
use crate::janus::ast::{Decl, DeclTy, Expr, IntTy, Name};
use crate::janus::codes;

/// The maximum number of words of an array with computed sizes. The product of two such numbers does not wrap around.
const MOST: u64 = 1 << 31;

/// One size of an array in a declaration.
#[derive(Clone, Copy)]
enum DeclaredSize<'d> {
    /// A constant, or the number of listed values.
    Number(i128),
    /// A computed size.
    Computed(&'d Expr),
    /// No size: the other declaration has it.
    Nothing,
}

impl<'d> DeclaredSize<'d> {
    fn of(d: &'d Decl, n: usize) -> DeclaredSize<'d> {
        match (d.dims.get(n).and_then(Option::as_ref), d.listed(n)) {
            (Some(e), _) => constant::known(e).map_or(DeclaredSize::Computed(e), DeclaredSize::Number),
            (None, Some(count)) => DeclaredSize::Number(count as i128),
            (None, None) => DeclaredSize::Nothing,
        }
    }

    /// The size in a `delocal`; if it is left out, that of the `local`. A list of values in a `delocal` may omit zeros,
    /// so it gives no size.
    fn of_end(begun: &'d Decl, d: &'d Decl, n: usize) -> DeclaredSize<'d> {
        let own = d.dims.get(n).and_then(Option::as_ref);
        if own.is_some() { DeclaredSize::of(d, n) } else { DeclaredSize::of(begun, n) }
    }
}

/// The help text for an array without a size.
pub(super) fn size_help(d: &Decl) -> String {
    let ty = if let DeclTy::Int(ty) = d.ty { ty.name() } else { "int" };
    let name = &d.name.text;
    let (sizes, values) = match d.dims.len() {
        1 => ("[10]", "{1, 2, 3}".to_string()),
        _ => ("[10][10]", "{{1, 2}, {3, 4}}".to_string()),
    };
    let none = "[]".repeat(d.dims.len());
    format!(
        "give a size, `{ty} {name}{sizes}`, or values, `{ty} {name}{none} = {values}`; only a parameter takes the size of what it is given"
    )
}

impl Body<'_, '_> {
    /// The sizes of an array that is allocated.
    pub(super) fn sizes(&mut self, d: &Decl, ends: &Decl) -> Done<Vec<Dim>> {
        let mut out = Vec::new();
        for n in 0..d.dims.len() {
            out.push(match (DeclaredSize::of(d, n), DeclaredSize::of_end(d, ends, n)) {
                (DeclaredSize::Nothing, _) => {
                    let message = format!("`{}` has no size", d.name.text);
                    return self.fail(&d.span, codes::SIZE, message, &size_help(d));
                }
                (DeclaredSize::Number(k), DeclaredSize::Number(end)) if k != end => {
                    let message = format!("`{}` begins with the size {k}, and ends with the size {end}", d.name.text);
                    let (begins, ends) = (self.said_at(d, n), self.said_at(ends, n));
                    let help = "an array ends with the size that it began with";
                    return self.s.fail_also([&ends, &begins], codes::DELOCAL, message, help);
                }
                (DeclaredSize::Number(k), _) => self.number(d, n, k)?,
                (DeclaredSize::Computed(e), DeclaredSize::Number(k)) => {
                    let dim = self.number(ends, n, k)?;
                    self.assert_size(&d.name, n, e, k)?;
                    dim
                }
                (DeclaredSize::Computed(e), DeclaredSize::Computed(_) | DeclaredSize::Nothing) => {
                    let var = self.size_variable(&d.name, n);
                    self.size(Place::Var(var), e, false)?;
                    Dim::Var(var)
                }
            });
        }
        let known = out.iter().try_fold(1, |n: u64, d| n.checked_mul(d.known().unwrap_or(1)));
        if known.is_none_or(|n| n > super::main::MAX_WORDS) {
            let message = format!("`{}` does not fit in memory", d.name.text);
            return self.fail(&d.span, codes::SIZE, message, "give smaller sizes");
        }
        self.check_room(&d.name, &out);
        Ok(out)
    }

    /// Undoes the computation of the sizes when an array is deallocated.
    pub(super) fn end_sizes(&mut self, begun: &Decl, d: &Decl, dims: &[Dim]) -> Done<()> {
        for (n, dim) in dims.iter().enumerate().take(d.dims.len()).rev() {
            match (*dim, DeclaredSize::of_end(begun, d, n)) {
                (Dim::Known(k), DeclaredSize::Computed(e)) => self.assert_size(&d.name, n, e, k.into())?,
                (Dim::Var(var), DeclaredSize::Computed(e)) => {
                    self.size(Place::Var(var), e, true)?;
                    self.emit(Sink::Out, Ir::Ancilla { var, free: true, checks: CHECKED });
                }
                // Constant sizes were compared at the allocation.
                (Dim::Known(_) | Dim::Var(_), DeclaredSize::Number(_) | DeclaredSize::Nothing) => {}
            }
        }
        Ok(())
    }

    /// The source range of a size in a declaration.
    fn said_at(&self, d: &Decl, n: usize) -> std::ops::Range<usize> {
        d.dims.get(n).and_then(Option::as_ref).map_or(d.span.clone(), |e| e.span.clone())
    }

    /// A constant size.
    fn number(&mut self, d: &Decl, n: usize, k: i128) -> Done<Dim> {
        match u64::try_from(k).ok().filter(|k| (1..=super::main::MAX_WORDS).contains(k)) {
            Some(k) => Ok(Dim::Known(k)),
            None => {
                let message = format!("{k} is not a size of an array");
                let at = self.said_at(d, n);
                self.fail(&at, codes::SIZE, message, "a size is at least 1, and the array must fit in memory")
            }
        }
    }

    fn size_variable(&mut self, name: &Name, n: usize) -> Var {
        let var = self.f.fresh(format!("{}.size{}", name.text, n + 1), Ty::Int);
        self.emit(Sink::Out, Ir::Ancilla { var, free: false, checks: CHECKED });
        var
    }

    /// Emits a check that a computed size is this number, in the same way as for two computed sizes.
    fn assert_size(&mut self, name: &Name, n: usize, e: &Expr, k: i128) -> Done<()> {
        let var = self.size_variable(name, n);
        self.size(Place::Var(var), e, false)?;
        self.statement(|b| {
            b.add(Sink::Out, Place::Var(var), Operand::Const(k as u64), true);
            Ok(())
        })?;
        self.emit(Sink::Out, Ir::Ancilla { var, free: true, checks: CHECKED });
        Ok(())
    }

    /// Emits checks that the sizes of an array are at least 1 and that their product does not overflow.
    pub(super) fn check_room(&mut self, name: &Name, dims: &[Dim]) {
        if dims.iter().all(|d| d.known().is_some()) {
            return;
        }
        let none = format!("the size of `{}` is less than 1", name.text);
        let large = format!("`{}` does not fit in memory", name.text);
        let test = |cond, a, b| Test::int(cond, a, b);
        let _: Done<()> = self.statement(|b| {
            let most = b.compared(Operand::Const(MOST));
            let vars: Vec<Operand> = dims.iter().filter(|d| d.known().is_none()).map(|d| d.operand()).collect();
            for var in &vars {
                b.assert(Sink::Out, test(Cond::Ge, *var, Operand::Const(1)), AssertKind::Shape, &none);
                b.assert(Sink::Out, test(Cond::Le, *var, most), AssertKind::Shape, &large);
            }
            // Each product has a checked factor and a size: if it is in range, it has not wrapped around.
            let mut total = Operand::Const(dims.iter().filter_map(|d| d.known()).product());
            for var in vars {
                if total == Operand::Const(1) {
                    total = var;
                    continue;
                }
                let product = b.temporary("words");
                let args = vec![var, total];
                b.update(Sink::Pre, (Acc::Add, false), TableFn::Int(int_fn::Name::Mul), Place::Var(product), args);
                total = Operand::Var(product);
                b.assert(Sink::Out, test(Cond::Le, total, most), AssertKind::Shape, &large);
            }
            Ok(())
        });
    }

    /// `var += e`, a size.
    fn size(&mut self, place: Place, e: &Expr, inverse: bool) -> Done<()> {
        self.statement(|b| {
            let ty = b.int_type(e)?.unwrap_or(IntTy::Int);
            let word = b.operand(e, ty)?;
            b.add(Sink::Out, place, word, inverse);
            Ok(())
        })
    }

    /// `var += ` the number of elements of an array.
    pub(super) fn words(&mut self, var: Var, dims: &[Dim], inverse: bool) {
        let _: Done<()> = self.statement(|b| {
            let total = b.total(dims);
            b.add(Sink::Out, Place::Var(var), total, inverse);
            Ok(())
        });
    }
}
