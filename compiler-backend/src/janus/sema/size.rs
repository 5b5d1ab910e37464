//! The sizes of arrays that begin with `local` and end with `delocal`.
//!
//! Where either of the two says a number, that is the size, and what the other says must come to it when the program runs: a program and its
//! inverse, in which the two have changed places, know the same of their arrays.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::body::{Body, Sink};
use super::local::CHECKED;
use super::scope::Dim;
use super::{Done, constant};
use crate::ir::{Operand, Place, Stmt as Ir, Test, Var, Why};
use crate::janus::ast::{Decl, DeclTy, Expr, IntTy, Name};
use crate::janus::codes;

/// The most words of an array whose sizes are computed: the product of two such numbers is one.
const MOST: u64 = 1 << 31;

/// One size of an array, as a declaration says it.
#[derive(Clone, Copy)]
enum DeclaredSize<'d> {
    /// A number that stands there, or so many values.
    Number(i128),
    /// Something that is computed.
    Computed(&'d Expr),
    /// Nothing: it is the other's.
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

    /// What is said where an array ends: values that are left out there are 0, and do not count.
    fn of_end(begun: &'d Decl, d: &'d Decl, n: usize) -> DeclaredSize<'d> {
        let own = d.dims.get(n).and_then(Option::as_ref);
        if own.is_some() { DeclaredSize::of(d, n) } else { DeclaredSize::of(begun, n) }
    }
}

/// What to write instead of an array without a size.
pub(super) fn wanted(d: &Decl) -> String {
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
    /// The sizes of an array that begins.
    pub(super) fn sizes(&mut self, d: &Decl, ends: &Decl) -> Done<Vec<Dim>> {
        let mut out = Vec::new();
        for n in 0..d.dims.len() {
            out.push(match (DeclaredSize::of(d, n), DeclaredSize::of_end(d, ends, n)) {
                (DeclaredSize::Nothing, _) => {
                    let message = format!("`{}` has no size", d.name.text);
                    return self.fail(&d.span, codes::SIZE, message, &wanted(d));
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
                    self.agrees(&d.name, n, e, k)?;
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
            let message = format!("`{}` has no room in memory", d.name.text);
            return self.fail(&d.span, codes::SIZE, message, "give smaller sizes");
        }
        self.room(&d.name, &out);
        Ok(out)
    }

    /// The sizes of an array that has ended are not needed any more.
    pub(super) fn end_sizes(&mut self, begun: &Decl, d: &Decl, dims: &[Dim]) -> Done<()> {
        for (n, dim) in dims.iter().enumerate().take(d.dims.len()).rev() {
            match (*dim, DeclaredSize::of_end(begun, d, n)) {
                (Dim::Known(k), DeclaredSize::Computed(e)) => self.agrees(&d.name, n, e, k.into())?,
                (Dim::Var(var), DeclaredSize::Computed(e)) => {
                    self.size(Place::Var(var), e, true)?;
                    self.emit(Sink::Out, Ir::Ancilla { var, free: true, care: CHECKED });
                }
                // That the numbers agree has been seen where the array began.
                (Dim::Known(_) | Dim::Var(_), DeclaredSize::Number(_) | DeclaredSize::Nothing) => {}
            }
        }
        Ok(())
    }

    /// Where a declaration says a size.
    fn said_at(&self, d: &Decl, n: usize) -> std::ops::Range<usize> {
        d.dims.get(n).and_then(Option::as_ref).map_or(d.span.clone(), |e| e.span.clone())
    }

    /// A size that is a number.
    fn number(&mut self, d: &Decl, n: usize, k: i128) -> Done<Dim> {
        match u64::try_from(k).ok().filter(|k| (1..=super::main::MAX_WORDS).contains(k)) {
            Some(k) => Ok(Dim::Known(k)),
            None => {
                let message = format!("{k} is no size of an array");
                let at = self.said_at(d, n);
                self.fail(&at, codes::SIZE, message, "a size is at least 1, and has room in memory")
            }
        }
    }

    fn size_variable(&mut self, name: &Name, n: usize) -> Var {
        let var = self.f.fresh(format!("{}.size{}", name.text, n + 1), Ty::Int);
        self.emit(Sink::Out, Ir::Ancilla { var, free: false, care: CHECKED });
        var
    }

    /// Makes sure that a computed size is this number, in the same way as that two computed ones are one.
    fn agrees(&mut self, name: &Name, n: usize, e: &Expr, k: i128) -> Done<()> {
        let var = self.size_variable(name, n);
        self.size(Place::Var(var), e, false)?;
        self.statement(|b| {
            b.add(Sink::Out, Place::Var(var), Operand::Const(k as u64), true);
            Ok(())
        })?;
        self.emit(Sink::Out, Ir::Ancilla { var, free: true, care: CHECKED });
        Ok(())
    }

    /// Makes sure that an array's sizes are sizes, and that their product is one, too.
    pub(super) fn room(&mut self, name: &Name, dims: &[Dim]) {
        if dims.iter().all(|d| d.known().is_some()) {
            return;
        }
        let none = format!("the size of `{}` is less than 1", name.text);
        let large = format!("`{}` has no room in memory", name.text);
        let test = |cond, a, b| Test { cond, ty: Ty::Int, a, b };
        let _: Done<()> = self.statement(|b| {
            let most = b.compared(Operand::Const(MOST));
            let vars: Vec<Operand> = dims.iter().filter(|d| d.known().is_none()).map(|d| d.operand()).collect();
            for var in &vars {
                b.assert(Sink::Out, test(Cond::Ge, *var, Operand::Const(1)), Why::Shape, &none);
                b.assert(Sink::Out, test(Cond::Le, *var, most), Why::Shape, &large);
            }
            // Each is the product of one that is looked at and a size: where that is in order, it has not wrapped.
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
                b.assert(Sink::Out, test(Cond::Le, total, most), Why::Shape, &large);
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
