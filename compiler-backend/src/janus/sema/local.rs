//! `local` and `delocal`.

use pendula_isa::diagnostic::plural;
use pendula_isa::{Acc, Cond, Ty};

use super::Done;
use super::alias::mentions;
use super::body::{Body, Sink};
use super::scope::{Binding, Dim, Kind, Location};
use crate::ir::{AncillaChecks, AssertKind, Mem, Operand, Place, Region, Stmt as Ir, Test, Var};
use crate::janus::ast::{Decl, DeclTy, Expr, ExprKind, IntTy, Mode, Name, Stmt};
use crate::janus::codes;

pub(super) const CHECKED: AncillaChecks = AncillaChecks { check: true, drop: false };

impl Body<'_, '_> {
    pub(super) fn local(&mut self, begin: &[Decl], body: &[Stmt], end: &[Decl]) -> Done<()> {
        let outer = self.scope.len();
        let begun = begin.iter().zip(end).try_for_each(|(d, e)| self.begin(d, e));
        if begun.is_err() {
            // Variables that are not allocated are not looked up.
            self.scope.truncate(outer);
            return begun;
        }
        self.statements(body);
        let loc = self.loc;
        let mut done = Ok(());
        for (b, d) in begin.iter().zip(end).rev() {
            self.loc = self.s.loc(&d.span);
            done = self.end(b, d).and(done);
        }
        self.loc = loc;
        self.scope.truncate(outer);
        done
    }

    /// A name that no other variable has.
    fn unused(&mut self, name: &Name) -> Done<()> {
        let Some(b) = self.scope.iter().find(|b| b.name.text == name.text) else { return Ok(()) };
        let message = format!("`{}` is in use already", name.text);
        let other = b.name.span.clone();
        self.s.fail_also([&name.span, &other], codes::TWICE, message, "give the local variable another name")
    }

    /// Allocates a variable; `ends` is its declaration in the `delocal`.
    fn begin(&mut self, d: &Decl, ends: &Decl) -> Done<()> {
        self.unused(&d.name)?;
        for e in d.init.iter().chain(d.dims.iter().flatten()) {
            if let Some(span) = mentions(e, &d.name.text) {
                let message = format!("`{}` begins here, and has no value yet", d.name.text);
                return self.fail(&span, codes::UNKNOWN, message, "name other variables");
            }
        }
        let copied = self.copied(d.init.as_ref())?;
        let (kind, location) = match (d.ty, copied) {
            (DeclTy::Stack, copied) => self.begin_stack(d, copied.as_ref())?,
            (DeclTy::Int(ty), Some(of)) if d.dims.is_empty() => {
                let Kind::Array(_, dims) = &of.kind else { return self.mismatch(d, &of) };
                let (dims, location) = self.begin_words(d, dims.clone())?;
                (Kind::Array(ty, dims), location)
            }
            (DeclTy::Int(ty), None) if d.dims.is_empty() => {
                let var = self.f.fresh(d.name.text.clone(), Ty::Int);
                self.emit(Sink::Out, Ir::Ancilla { var, free: false, checks: CHECKED });
                (Kind::Scalar(ty), Location::Word(var))
            }
            (DeclTy::Int(ty), _) => {
                let dims = self.sizes(d, ends)?;
                let (dims, location) = self.begin_words(d, dims)?;
                (Kind::Array(ty, dims), location)
            }
        };
        let binding = Binding { name: d.name.clone(), kind, location, constant: d.mode == Mode::Constant };
        self.value(&binding, d, false)?;
        self.note(&binding);
        self.scope.push(binding);
        Ok(())
    }

    /// The array or stack that an initial value is a copy of.
    fn copied(&mut self, init: Option<&Expr>) -> Done<Option<Binding>> {
        let Some(Expr { kind: ExprKind::Place(l), .. }) = init else { return Ok(None) };
        if !l.indices.is_empty() {
            return Ok(None);
        }
        let b = self.binding(&l.name)?;
        Ok((!matches!(b.kind, Kind::Scalar(_))).then_some(b))
    }

    fn mismatch<T>(&mut self, d: &Decl, of: &Binding) -> Done<T> {
        let span = d.init.as_ref().map_or(d.span.clone(), |e| e.span.clone());
        let message = format!("`{}` is {}, and no value for `{}`", of.name.text, of.kind.describe(), d.name.text);
        self.fail(&span, codes::TYPE, message, "give a value of its kind")
    }

    /// Allocates the words of an array.
    fn begin_words(&mut self, d: &Decl, dims: Vec<Dim>) -> Done<(Vec<Dim>, Location)> {
        let (base, region) = self.new_words(d);
        let len = match dims.as_slice() {
            [dim] => dim.operand(),
            dims if dims.iter().all(|d| d.known().is_some()) => self.total(dims),
            dims => {
                let var = self.f.fresh(format!("{}.words", d.name.text), Ty::Int);
                self.emit(Sink::Out, Ir::Ancilla { var, free: false, checks: CHECKED });
                self.words(var, dims, false);
                Operand::Var(var)
            }
        };
        self.lens.push((base, len));
        self.emit(Sink::Out, Ir::Array { base, len, region, ty: Ty::Int, free: false, checks: CHECKED });
        Ok((dims, Location::Memory { base, region }))
    }

    /// A region for the words of an array or a stack, and the variable that points to it.
    fn new_words(&mut self, d: &Decl) -> (Var, Region) {
        let name = d.name.text.clone();
        let region = self.f.region(name.clone(), Ty::Int);
        let base = self.f.fresh(name, Ty::Int);
        self.f.vars[base.0 as usize].points = Some(region);
        (base, region)
    }

    fn begin_stack(&mut self, d: &Decl, copied: Option<&Binding>) -> Done<(Kind, Location)> {
        if let Some(of) = copied
            && of.kind != Kind::Stack
        {
            return self.mismatch(d, of);
        }
        if self.s.settings.stack > super::main::MAX_WORDS {
            let message = format!("the stack `{}` does not fit in memory", d.name.text);
            return self.fail(&d.span, codes::SIZE, message, "give stacks less room with `--stack`");
        }
        let (base, region) = self.new_words(d);
        let len = Operand::Const(self.s.settings.stack + 1);
        self.emit(Sink::Out, Ir::Array { base, len, region, ty: Ty::Int, free: false, checks: AncillaChecks::NONE });
        Ok((Kind::Stack, Location::Memory { base, region }))
    }

    /// Adds the initial value, or subtracts the final one.
    fn value(&mut self, b: &Binding, d: &Decl, ends: bool) -> Done<()> {
        let copied = self.copied(d.init.as_ref())?;
        match (&b.kind, b.location) {
            (Kind::Scalar(ty), Location::Word(var)) => {
                let Some(e) = &d.init else { return Ok(()) };
                self.statement(|s| {
                    s.zeros.push(Place::Var(var));
                    s.accumulate(Sink::Out, Place::Var(var), (Acc::Add, ends), e, *ty)
                })
            }
            (Kind::Stack, Location::Memory { base, region }) => {
                self.stack_value(b, d, (base, region), copied.as_ref(), ends)
            }
            (Kind::Array(ty, dims), Location::Memory { base, region }) => match (&d.init, copied) {
                (None, _) => Ok(()),
                (Some(e), Some(of)) => {
                    let Kind::Array(other, others) = &of.kind else { return self.mismatch(d, &of) };
                    if other != ty || others.len() != dims.len() {
                        return self.mismatch(d, &of);
                    }
                    let from = self.memory(&of)?;
                    self.statement(|s| {
                        for (m, n) in dims.iter().zip(others) {
                            s.fits(&e.span, *m, *n)?;
                        }
                        let last = s.last_word(dims);
                        s.each((base, region), from, last, ends);
                        Ok(())
                    })
                }
                (Some(e), None) => self.elements(b, (base, region), *ty, e, &mut Vec::new(), ends),
            },
            (_, Location::Word(_) | Location::Ref { .. } | Location::Memory { .. }) => Ok(()),
        }
    }

    /// `{1, 2, 3}`, element by element; missing elements are 0. A single number is the value of each element.
    fn elements(
        &mut self,
        b: &Binding,
        at: (Var, Region),
        ty: IntTy,
        e: &Expr,
        path: &mut Vec<Expr>,
        ends: bool,
    ) -> Done<()> {
        let Kind::Array(_, dims) = &b.kind else { return Ok(()) };
        let Some(dim) = dims.get(path.len()) else {
            return self.statement(|s| {
                let m = s.element(&b.name, at, dims, path)?;
                s.accumulate(Sink::Out, Place::Mem(m), (Acc::Add, ends), e, ty)
            });
        };
        let ExprKind::List(items) = &e.kind else {
            if path.is_empty() {
                return self.statement(|s| s.fill(at, dims, (e, ty), ends));
            }
            let help = "its elements stand in braces: `{1, 2, 3}`";
            return self.fail(&e.span, codes::TYPE, "an array is expected here", help);
        };
        if let Some(n) = dim.known().filter(|n| (items.len() as u64) > *n) {
            let message = format!("{} values are given for {}", items.len(), plural(n, "element"));
            let help = "give as many values as there are elements, or fewer";
            return self.fail(&e.span, codes::SIZE, message, help);
        }
        for (n, item) in items.iter().enumerate() {
            path.push(Expr { kind: ExprKind::Num(n as i128), span: item.span.clone(), closed: true });
            let done = self.elements(b, at, ty, item, path, ends);
            path.pop();
            done?;
        }
        Ok(())
    }

    /// Adds the same number to each element, or subtracts it.
    fn fill(&mut self, (base, region): (Var, Region), dims: &[Dim], (e, ty): (&Expr, IntTy), ends: bool) -> Done<()> {
        let value = self.operand(e, ty)?;
        if value == Operand::Const(0) {
            return Ok(());
        }
        let last = self.last_word(dims);
        self.each_word((base, region), last, |b, to| {
            b.update(Sink::Out, (Acc::Add, ends), super::body::ID, Place::Mem(to), vec![value]);
        });
        Ok(())
    }

    /// Xors words 0 to `last` of one array with those of another.
    fn each(&mut self, (base, region): (Var, Region), from: (Var, Region), last: Operand, ends: bool) {
        let zero = |b: &mut Self, word: Mem| {
            b.assert_zero(Sink::Out, Operand::Mem(word), "this variable is no longer a copy");
        };
        self.each_word((base, region), last, |b, to| {
            let of = Operand::Mem(Mem { base: Some(from.0), region: from.1, ..to });
            if !ends {
                zero(b, to);
            }
            b.update(Sink::Out, (Acc::Xor, false), super::body::ID, Place::Mem(to), vec![of]);
            if ends {
                zero(b, to);
            }
        });
    }

    fn stack_value(
        &mut self,
        b: &Binding,
        d: &Decl,
        (base, region): (Var, Region),
        copied: Option<&Binding>,
        ends: bool,
    ) -> Done<()> {
        let count = Mem { base: Some(base), index: None, offset: 0, region };
        let name = &b.name.text;
        if let Some(of) = copied {
            let from = self.memory(of)?;
            return self.statement(|s| {
                let last = s.count(&of.name)?;
                let same = |s: &mut Self| {
                    let test = Test::int(Cond::Eq, Operand::Mem(count), last);
                    s.assert(Sink::Out, test, AssertKind::User, "this variable is no longer a copy");
                };
                if ends {
                    same(s);
                }
                s.each((base, region), from, last, ends);
                if !ends {
                    same(s);
                }
                Ok(())
            });
        }
        match d.init.as_ref().map(|e| (&e.kind, &e.span)) {
            None | Some((ExprKind::Nil, _)) => {
                // It is also checked at the beginning: a backward run ends there.
                let reason = format!("the stack `{name}` is not empty where it ends");
                self.assert_zero(Sink::Out, Operand::Mem(count), &reason);
                Ok(())
            }
            Some((_, span)) => {
                let message = format!("`{name}` is a stack, and begins as one");
                self.fail(span, codes::TYPE, message, "`nil` is the empty stack")
            }
        }
    }

    /// Deallocates a variable, which was allocated by `begun`.
    fn end(&mut self, begun: &Decl, d: &Decl) -> Done<()> {
        let b = self.binding(&d.name)?;
        for e in d.init.iter().chain(d.dims.iter().flatten()) {
            if let Some(span) = mentions(e, &d.name.text) {
                let message = format!("`{}` ends with a value that reads it", d.name.text);
                return self.fail(&span, codes::ALIAS, message, "name the value that it has, without it");
            }
        }
        self.value(&b, d, true)?;
        match (&b.kind, b.location) {
            (Kind::Scalar(_), Location::Word(var)) => {
                self.emit(Sink::Out, Ir::Ancilla { var, free: true, checks: CHECKED });
            }
            (Kind::Stack, Location::Memory { base, region }) => {
                let len = Operand::Const(self.s.settings.stack + 1);
                self.emit(
                    Sink::Out,
                    Ir::Array { base, len, region, ty: Ty::Int, free: true, checks: AncillaChecks::NONE },
                );
            }
            (Kind::Array(_, dims), Location::Memory { base, region }) => {
                let at = self.lens.iter().rposition(|(b, _)| *b == base);
                let len = at.map_or(Operand::Const(0), |n| self.lens.remove(n).1);
                self.emit(Sink::Out, Ir::Array { base, len, region, ty: Ty::Int, free: true, checks: CHECKED });
                // It is also checked here: a backward run begins here.
                self.check_room(&d.name, dims);
                if let Operand::Var(var) = len
                    && dims.len() > 1
                {
                    self.words(var, dims, true);
                    self.emit(Sink::Out, Ir::Ancilla { var, free: true, checks: CHECKED });
                }
                self.end_sizes(begun, d, dims)?;
            }
            (_, Location::Word(_) | Location::Ref { .. } | Location::Memory { .. }) => {}
        }
        self.scope.retain(|o| o.name.text != d.name.text);
        Ok(())
    }
}
