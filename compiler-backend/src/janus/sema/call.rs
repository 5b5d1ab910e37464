//! Calls: the instance, and the words that are passed.

use pendula_isa::Acc;
use pendula_isa::Ty;
use pendula_isa::diagnostic::plural;

use super::alias::{constant, names};
use super::body::{Body, Sink};
use super::scope::{Dim, Kind, Location};
use super::{Done, ParamKey};
use crate::ir::{AncillaChecks, AssertKind, Mem, Operand, Place, Region, Stmt as Ir, Var};
use crate::janus::ast::{Decl, DeclTy, Expr, ExprKind, IntTy, Lval, Mode, Name, Span};
use crate::janus::codes;

/// An argument, ready to be passed.
enum Passed {
    /// A variable.
    Word(Var),
    /// A word of memory.
    Mem(Mem),
    /// An array, or a part of one.
    Array { base: Var, region: Region, dims: Vec<Dim> },
    /// A stack.
    Stack { base: Var, region: Region },
}

impl Passed {
    fn region(&self) -> Option<Region> {
        match self {
            Passed::Word(_) => None,
            Passed::Mem(m) => Some(m.region),
            Passed::Array { region, .. } | Passed::Stack { region, .. } => Some(*region),
        }
    }
}

impl Body<'_, '_> {
    pub(super) fn call(&mut self, inverse: bool, name: &Name, args: &[Expr], span: &Span) -> Done<()> {
        let Some(&n) = self.s.procedures.get(name.text.as_str()) else {
            let message = format!("there is no procedure `{}`", name.text);
            let names = self.s.tree.procedures.iter().map(|p| p.name.text.as_str()).filter(|name| *name != "main");
            let help = match self.s.nearest_name(&name.text, names) {
                Some(nearest_name) => format!("did you mean `{nearest_name}`?"),
                None => "procedures are declared with `procedure`".to_string(),
            };
            return self.fail(&name.span, codes::UNKNOWN, message, &help);
        };
        if name.text == "main" {
            return self.fail(
                &name.span,
                codes::MAIN,
                "`main` cannot be called",
                "move its statements into a procedure",
            );
        }
        let tree = self.s.tree;
        let decls = &tree.procedures[n].decls;
        if decls.len() != args.len() {
            let are = if args.len() == 1 { "is" } else { "are" };
            let message =
                format!("`{}` has {}, {} {are} given", name.text, plural(decls.len(), "parameter"), args.len());
            return self.fail(span, codes::ARGUMENTS, message, "give one argument for each parameter");
        }
        // A value that is not a variable is put in a temporary variable.
        let mut locals: Vec<(Var, &Expr, IntTy)> = Vec::new();
        let mut places: Vec<Result<&Lval, Var>> = Vec::new();
        for (d, e) in decls.iter().zip(args) {
            let place = match &e.kind {
                ExprKind::Place(l) => {
                    let b = self.binding(&l.name)?;
                    let copied = b.constant && d.mode != Mode::Constant;
                    if copied && !matches!(b.kind, Kind::Scalar(_)) {
                        let message = format!("`{}` is constant", l.name.text);
                        return self.fail(&l.span, codes::CONSTANT, message, "the parameter must be `constant`, too");
                    }
                    (!copied).then_some(l)
                }
                _ => None,
            };
            places.push(match (place, d.ty) {
                (Some(l), _) => Ok(l),
                (None, DeclTy::Int(ty)) if d.dims.is_empty() => {
                    let var = self.f.fresh(format!("{}.argument", d.name.text), Ty::Int);
                    locals.push((var, e, ty));
                    Err(var)
                }
                (None, _) => {
                    let message = format!("a variable is expected here, for `{}`", d.name.text);
                    return self.fail(&e.span, codes::TYPE, message, "arrays and stacks are lent by name");
                }
            });
        }
        let checks = AncillaChecks { check: true, drop: false };
        for (var, e, ty) in &locals {
            self.emit(Sink::Out, Ir::Ancilla { var: *var, free: false, checks });
            self.statement(|b| b.accumulate(Sink::Out, Place::Var(*var), (Acc::Add, false), e, *ty))?;
        }
        let done = self.statement(|b| b.lend(inverse, (n, decls), &places, args, span));
        for (var, e, ty) in locals.iter().rev() {
            self.statement(|b| b.accumulate(Sink::Out, Place::Var(*var), (Acc::Add, true), e, *ty))?;
            self.emit(Sink::Out, Ir::Ancilla { var: *var, free: true, checks });
        }
        done
    }

    fn lend(
        &mut self,
        inverse: bool,
        (n, decls): (usize, &[Decl]),
        places: &[Result<&Lval, Var>],
        args: &[Expr],
        span: &Span,
    ) -> Done<()> {
        let mut passed = Vec::new();
        for (d, (place, e)) in decls.iter().zip(places.iter().zip(args)) {
            passed.push(match place {
                Err(var) => Passed::Word(*var),
                Ok(l) => self.passed(d, l, e, places)?,
            });
        }
        self.check_constants(decls, places, &passed);
        let mut keys = Vec::new();
        let mut operands = Vec::new();
        // A word that may be reached in two ways is passed by its address.
        let by_address: Vec<bool> = passed
            .iter()
            .enumerate()
            .map(|(n, g)| {
                let Passed::Mem(m) = g else { return false };
                passed.iter().enumerate().any(|(o, other)| {
                    let apart = match other {
                        Passed::Mem(k) => (m.base, m.index) == (k.base, k.index) && m.offset != k.offset,
                        _ => false,
                    };
                    o != n && other.region() == Some(m.region) && !apart
                })
            })
            .collect();
        let in_memory = |g: &Passed, by: bool| by || matches!(g, Passed::Array { .. } | Passed::Stack { .. });
        for (k, g) in passed.iter().enumerate() {
            let first = |region: Region| {
                let same = |(g, by): (&Passed, &bool)| g.region() == Some(region) && in_memory(g, *by);
                passed.iter().zip(&by_address).position(same).unwrap_or(k)
            };
            match g {
                Passed::Word(v) => {
                    let shared = passed.iter().position(|g| matches!(g, Passed::Word(w) if w == v)).unwrap_or(k);
                    keys.push(ParamKey::Word { shared });
                    if shared == k {
                        operands.push(Operand::Var(*v));
                    }
                }
                Passed::Mem(m) if by_address[k] => {
                    keys.push(ParamKey::Ref { shared: first(m.region) });
                    let address = self.address(*m);
                    operands.push(Operand::Var(address));
                }
                Passed::Mem(m) => {
                    keys.push(ParamKey::Word { shared: k });
                    operands.push(Operand::Mem(*m));
                }
                Passed::Array { base, region, dims } => {
                    let known = dims.iter().map(|d| d.known()).collect();
                    keys.push(ParamKey::Array { dims: known, shared: first(*region) });
                    operands.push(Operand::Var(*base));
                    operands.extend(dims.iter().filter(|d| d.known().is_none()).map(|d| d.operand()));
                }
                Passed::Stack { base, region } => {
                    keys.push(ParamKey::Stack { shared: first(*region) });
                    operands.push(Operand::Var(*base));
                }
            }
        }
        let func = self.s.instance((n, keys), span)?;
        self.emit(Sink::Out, Ir::Call { func, inverse, args: operands });
        Ok(())
    }

    /// Checks that a call does not change constants, also by other names: a constant integer is checked after the call;
    /// a constant array or stack is not passed at all.
    fn check_constants(&mut self, decls: &[Decl], places: &[Result<&Lval, Var>], passed: &[Passed]) {
        for c in self.constants() {
            let reason = constant(&c.name.text);
            let mut looked_at = false;
            for ((d, place), g) in decls.iter().zip(places).zip(passed) {
                if d.mode == Mode::Constant || place.is_err() {
                    continue;
                }
                match (&c.kind, c.location, g) {
                    (Kind::Scalar(_), location, g) => {
                        looked_at |= match (location, g) {
                            (Location::Word(v), Passed::Word(w)) => v == *w,
                            (Location::Ref { region, .. }, g) => g.region() == Some(region),
                            _ => false,
                        };
                    }
                    (_, Location::Memory { base, region }, g) if g.region() == Some(region) => match (&c.kind, g) {
                        (Kind::Array(_, dims), Passed::Mem(m)) => {
                            let total = self.total(dims);
                            self.assert_outside(*m, (base, region), total, &reason);
                        }
                        (Kind::Array(_, dims), Passed::Array { base: first, dims: others, .. }) => {
                            let at = |base| Mem { base: Some(base), index: None, offset: 0, region };
                            let (total, other) = (self.total(dims), self.total(others));
                            self.assert_outside(at(*first), (base, region), total, &reason);
                            self.assert_outside(at(base), (*first, region), other, &reason);
                        }
                        _ => self.never(Sink::Pre, AssertKind::Alias, &reason),
                    },
                    _ => {}
                }
            }
            if looked_at && let Ok(word) = self.scalar(&c.name) {
                self.frozen = Some(format!("{}.constant", c.name.text));
                self.copy(word.into());
                self.frozen = None;
            }
        }
    }

    /// An argument that is a variable or a part of an array.
    fn passed(&mut self, d: &Decl, l: &Lval, e: &Expr, places: &[Result<&Lval, Var>]) -> Done<Passed> {
        let b = self.binding(&l.name)?;
        // The call may change the variables of an index by any name: then they must have their values again.
        let lent =
            places.iter().flatten().map(|l| Ok(self.binding(&l.name)?.location)).collect::<Done<Vec<Location>>>()?;
        let mut frozen = false;
        for name in l.indices.iter().flat_map(names) {
            let location = self.binding(name)?.location;
            frozen |= lent.iter().any(|lent| lent.meets(location));
        }
        self.frozen = frozen.then(|| format!("{}.index", l.name.text));
        let found = self.argument(d, l, e, &b.kind);
        self.frozen = None;
        found
    }

    fn argument(&mut self, d: &Decl, l: &Lval, e: &Expr, kind: &Kind) -> Done<Passed> {
        let b = self.binding(&l.name)?;
        let expected = |ty: DeclTy| {
            let base = match ty {
                DeclTy::Stack => return "a stack".to_string(),
                DeclTy::Int(ty) => ty.name(),
            };
            if d.dims.is_empty() {
                format!("an `{base}`")
            } else {
                format!("an array `{base}{}`", "[]".repeat(d.dims.len()))
            }
        };
        let left = match kind {
            Kind::Array(_, dims) => dims.len().checked_sub(l.indices.len()),
            Kind::Scalar(_) | Kind::Stack => l.indices.is_empty().then_some(0),
        };
        match (d.ty, kind, left) {
            (DeclTy::Stack, Kind::Stack, Some(_)) => {
                let (base, region) = self.memory(&b)?;
                Ok(Passed::Stack { base, region })
            }
            (DeclTy::Int(ty), Kind::Scalar(of) | Kind::Array(of, _), Some(0)) if d.dims.is_empty() && ty == *of => {
                let (place, _) = self.place(l)?;
                Ok(match place {
                    Place::Var(v) => Passed::Word(v),
                    Place::Mem(m) => Passed::Mem(m),
                })
            }
            (DeclTy::Int(ty), Kind::Array(of, dims), Some(left)) if ty == *of && left == d.dims.len() => {
                let rest = dims[l.indices.len()..].to_vec();
                for (dim, expected) in rest.iter().zip(&d.dims) {
                    let Some(expected) = expected else { continue };
                    match super::constant::known(expected).and_then(|k| u64::try_from(k).ok()) {
                        Some(k) => self.fits(&e.span, *dim, Dim::Known(k))?,
                        None => {
                            let message = "the size of a parameter is a number";
                            return self.fail(&expected.span, codes::SIZE, message, "leave it out: `int a[]`");
                        }
                    }
                }
                let (base, region) = self.part(l, &b)?;
                Ok(Passed::Array { base, region, dims: rest })
            }
            _ => {
                let message = format!("{} is expected here, `{}` is {}", expected(d.ty), l.name.text, kind.describe());
                self.fail(&e.span, codes::TYPE, message, "give a variable of the parameter's type")
            }
        }
    }
}
