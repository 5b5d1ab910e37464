//! Patterns of parameters.

use std::rc::Rc;

use pendula_isa::diagnostic::Place;

use super::{Expander, Meaning, Wrong, repeated, twice, wrong};
use crate::core::{Op, Rhs, Test, Var};
use crate::errors::FORM;
use crate::vlad::sexp::{Form, Sexp};

type Names = Vec<(Rc<str>, Place)>;

impl Expander<'_> {
    /// Binds the names of a list of parameters to the parts of an argument.
    pub(super) fn parameters(&mut self, params: &[Sexp], argument: Var, place: &Place) -> Result<(), Wrong> {
        let mut names = Names::new();
        self.tuple(params, argument, place, &mut names)?;
        match repeated(&names) {
            Some(name) => twice(name),
            None => Ok(()),
        }
    }

    /// Patterns of a tuple: all but the last are heads of pairs.
    fn tuple(&mut self, patterns: &[Sexp], value: Var, place: &Place, names: &mut Names) -> Result<(), Wrong> {
        let Some((last, first)) = patterns.split_last() else {
            return self.empty(value, place);
        };
        let mut rest = value;
        for pattern in first {
            let head = self.emit("q", Rhs::Part(rest, 0, 2), place);
            self.pattern(pattern, head, names, true)?;
            rest = self.emit("q", Rhs::Part(rest, 1, 2), place);
        }
        self.pattern(last, rest, names, true)
    }

    fn empty(&mut self, value: Var, place: &Place) -> Result<(), Wrong> {
        let is = self.emit("t", Rhs::Op(Op::Test(Test::Unit), vec![value]), place);
        self.emit("t", Rhs::Op(Op::Check("the pattern is the empty list".into()), vec![is, value, value]), place);
        Ok(())
    }

    /// Binds the names of a pattern to the parts of a value. A fresh variable, which has no name in the source yet, gets the pattern's.
    pub(super) fn pattern(&mut self, pattern: &Sexp, value: Var, names: &mut Names, fresh: bool) -> Result<(), Wrong> {
        let place = pattern.place.clone();
        self.deeper(&place, |e| e.pattern_inside(pattern, value, names, fresh))
    }

    fn pattern_inside(&mut self, pattern: &Sexp, value: Var, names: &mut Names, fresh: bool) -> Result<(), Wrong> {
        let place = &pattern.place;
        if let Form::Symbol(name) = &pattern.form {
            names.push((name.clone(), place.clone()));
            if fresh {
                self.store.rename(value, name.clone());
            }
            self.name(name, Meaning::Var(value));
            return Ok(());
        }
        if let Some([head, tail]) = pattern.headed("cons") {
            return self.tuple(&[head.clone(), tail.clone()], value, place, names);
        }
        if let Some(all) = pattern.headed("cons*") {
            return self.tuple(all, value, place, names);
        }
        if let Some(all) = pattern.headed("list") {
            let mut rest = value;
            for part in all {
                let head = self.emit("q", Rhs::Part(rest, 0, 2), place);
                self.pattern(part, head, names, true)?;
                rest = self.emit("q", Rhs::Part(rest, 1, 2), place);
            }
            return self.empty(rest, place);
        }
        if let Some([Sexp { form: Form::List(all, None), .. }]) = pattern.headed("quote")
            && all.is_empty()
        {
            return self.empty(value, place);
        }
        wrong(FORM, "a pattern is a name, `(cons p q)`, `(cons* p … q)`, `(list p …)` or `'()`", place)
    }
}
