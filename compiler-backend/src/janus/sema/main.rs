//! `main`: its variables are the program's data.

use std::collections::{HashMap, HashSet};

use pendula_isa::Ty;

use super::{Done, ParamKey, Sema};
use crate::janus::ast::{Decl, DeclTy, Expr, ExprKind, IntTy};
use crate::janus::codes;
use crate::janus::store::{Shape, Variable};
use crate::lower::{self, Argument, ArgumentKind};

/// The most words of an array, and of the variables of `main` together.
pub(super) const MAX_WORDS: u64 = 1 << 26;

impl Sema<'_> {
    /// The program's data, and how they are shown. The function of `main` becomes the entry.
    pub(super) fn main(&mut self) -> Done<(Vec<Argument>, Vec<Variable>)> {
        let tree = self.tree;
        let Some(&n) = self.procedures.get("main") else {
            let end = tree.procedures.last().map_or(0..0, |p| p.name.span.clone());
            let help = "a run begins with `procedure main()`";
            return self.fail(&end, codes::MAIN, "there is no procedure `main`", help);
        };
        let p = &tree.procedures[n];
        let mut known: HashMap<String, i128> = HashMap::new();
        let (mut arguments, mut store, mut ways) = (Vec::new(), Vec::new(), Vec::new());
        let mut symbols: HashSet<String> = HashSet::new();
        let mut room = MAX_WORDS;
        for (shared, d) in p.decls.iter().enumerate() {
            let name = symbol(&d.name.text, &mut symbols);
            let (way, kind, shape) = self.data(d, shared, &mut room, &mut known)?;
            ways.push(way);
            let int_bits = if self.settings.int32 { 32 } else { 64 };
            let any_case = self.settings.classic;
            store.push(Variable { name: d.name.text.clone(), symbol: name.clone(), shape, int_bits, any_case });
            arguments.push(Argument { name, kind });
        }
        store.sort_by(|a, b| a.name.cmp(&b.name));
        let fun = self.instance((n, ways), &p.name.span)?;
        self.program.entry = Some(fun);
        Ok((arguments, store))
    }

    fn data(
        &mut self,
        d: &Decl,
        shared: usize,
        room: &mut u64,
        known: &mut HashMap<String, i128>,
    ) -> Done<(ParamKey, ArgumentKind, Shape)> {
        let DeclTy::Int(ty) = d.ty else {
            if let Some(e) = d.init.as_ref().filter(|e| e.kind != ExprKind::Nil) {
                let message = format!("`{}` is a stack, and begins empty", d.name.text);
                return self.fail(&e.span, codes::TYPE, message, "`nil` is the empty stack");
            }
            let count = self.settings.stack.saturating_add(1);
            *room = match room.checked_sub(count) {
                Some(left) => left,
                None => {
                    let message = format!("the stack `{}` has no room in memory", d.name.text);
                    return self.fail(&d.span, codes::SIZE, message, "give stacks less room with `--stack`");
                }
            };
            let words = vec![0; count as usize];
            let kind = ArgumentKind::Array { ty: Ty::Int, words, lens: Vec::new() };
            return Ok((ParamKey::Stack { shared }, kind, Shape::Stack));
        };
        if d.dims.is_empty() {
            let value = match &d.init {
                None => 0,
                Some(e) => self.initial(e, ty, known)?,
            };
            known.insert(d.name.text.clone(), value);
            let value = self.word(value, ty);
            return Ok((ParamKey::Word { shared }, ArgumentKind::Word { ty: Ty::Int, value }, Shape::Int(ty)));
        }
        let mut dims = Vec::new();
        let mut list = d.init.as_ref();
        let mut total = 1u64;
        for dim in &d.dims {
            let items = match list.map(|e| &e.kind) {
                Some(ExprKind::List(items)) => Some(items),
                _ => None,
            };
            list = items.and_then(|i| i.first());
            let (n, span) = match (dim, items) {
                (Some(e), _) => (super::constant::value(e, known), &e.span),
                (None, Some(items)) => (Some(items.len() as i128), &d.span),
                (None, None) => {
                    let message = format!("`{}` has no size", d.name.text);
                    return self.fail(
                        &d.span,
                        codes::SIZE,
                        message,
                        "give a size, `int a[10]`, or values, `int a[] = {1, 2}`",
                    );
                }
            };
            let Some(n) = n else {
                let help = "a size is made of numbers and of variables of `main` before it";
                return self.fail(span, codes::SIZE, "this size is not known", help);
            };
            let fits = u64::try_from(n).ok().filter(|n| *n >= 1).and_then(|n| total.checked_mul(n));
            let Some(all) = fits.filter(|t| t <= room) else {
                let message = format!("{n} is no size of an array here");
                return self.fail(span, codes::SIZE, message, "a size is at least 1, and arrays have room in memory");
            };
            total = all;
            dims.push(n as u64);
        }
        *room -= total;
        let mut words = vec![0; total as usize];
        if let Some(e) = &d.init {
            self.values(e, ty, &dims, known, &mut words)?;
        }
        let key = dims.iter().copied().map(Some).collect();
        let kind = ArgumentKind::Array { ty: Ty::Int, words, lens: Vec::new() };
        Ok((ParamKey::Array { dims: key, shared }, kind, Shape::Array(ty, dims)))
    }

    /// An array's elements; those that are left out are 0.
    fn values(
        &mut self,
        e: &Expr,
        ty: IntTy,
        dims: &[u64],
        known: &HashMap<String, i128>,
        words: &mut [u64],
    ) -> Done<()> {
        let Some((dim, rest)) = dims.split_first() else {
            let value = self.initial(e, ty, known)?;
            if let [word] = words {
                *word = self.word(value, ty);
            }
            return Ok(());
        };
        let ExprKind::List(items) = &e.kind else {
            return self.fail(
                &e.span,
                codes::TYPE,
                "an array is wanted here",
                "its elements stand in braces: `{1, 2, 3}`",
            );
        };
        if items.len() as u64 > *dim {
            let message = format!("{} values are given for {dim} elements", items.len());
            return self.fail(&e.span, codes::SIZE, message, "give as many values as there are elements, or fewer");
        }
        let size = words.len() / *dim as usize;
        for (item, part) in items.iter().zip(words.chunks_mut(size.max(1))) {
            self.values(item, ty, rest, known, part)?;
        }
        Ok(())
    }

    /// The initial value of a variable.
    fn initial(&mut self, e: &Expr, ty: IntTy, known: &HashMap<String, i128>) -> Done<i128> {
        let Some(n) = super::constant::value(e, known) else {
            let help = "an initial value of `main` is made of numbers and of variables of `main` before it";
            return self.fail(&e.span, codes::SIZE, "this initial value is not known", help);
        };
        let (least, most) = self.range(ty);
        if !(least..=most).contains(&n) {
            let message = format!("{n} has no room in `{}`", ty.name());
            return self.fail(
                &e.span,
                codes::LITERAL,
                message,
                &format!("numbers of this type go from {least} to {most}"),
            );
        }
        Ok(n)
    }

    fn range(&self, ty: IntTy) -> (i128, i128) {
        super::body::width(self.settings, ty).range()
    }

    fn word(&self, n: i128, ty: IntTy) -> u64 {
        super::body::width(self.settings, ty).wrap(n)
    }
}

/// A data symbol for a variable: its name, if the assembler takes it.
fn symbol(name: &str, taken: &mut HashSet<String>) -> String {
    let base = lower::symbol_name(name);
    let mut candidate = base.clone();
    let mut n = 1;
    while !taken.insert(candidate.clone()) {
        n += 1;
        candidate = format!("{base}.{n}");
    }
    candidate
}
