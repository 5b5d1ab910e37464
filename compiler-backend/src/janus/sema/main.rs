//! `main`: its variables are the data of the program.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pendula_isa::Ty;
use pendula_isa::diagnostic::plural;

use super::constant::{self, Store};
use super::{Done, ParamKey, Sema, size};
use crate::janus::ast::{BinOp, Decl, DeclTy, Expr, ExprKind, IntTy, Lval, Name};
use crate::janus::codes;
use crate::janus::store::{Shape, Variable};
use crate::lower::{self, Argument, ArgumentKind};

/// The maximum number of words of an array, and of all variables of `main`.
pub(super) const MAX_WORDS: u64 = 1 << 26;

/// An earlier variable of `main`: its sizes (empty for an integer) and its initial value.
struct Seen {
    ty: IntTy,
    dims: Vec<u64>,
    /// `None` if all words are 0.
    numbers: Vec<i128>,
}

/// The variables of `main` so far.
#[derive(Default)]
struct Data(HashMap<String, Seen>);

impl Data {
    /// A variable with the indices of some of its elements.
    fn part(&self, l: &Lval) -> Option<(&Seen, Range<usize>)> {
        let of = self.0.get(&l.name.text)?;
        let mut part = 0..of.dims.iter().product::<u64>() as usize;
        for (n, index) in l.indices.iter().enumerate() {
            let dim = usize::try_from(*of.dims.get(n)?).ok()?;
            let at = usize::try_from(constant::value(index, self)?).ok().filter(|at| *at < dim)?;
            let size = part.len() / dim;
            part = part.start + at * size..part.start + (at + 1) * size;
        }
        Some((of, part))
    }
}

impl Store for Data {
    fn number(&self, l: &Lval) -> Option<i128> {
        let (of, part) = self.part(l)?;
        if l.indices.len() == of.dims.len() { Some(of.numbers.get(part.start).copied().unwrap_or(0)) } else { None }
    }

    fn computes_truth(&self) -> bool {
        true
    }

    fn size(&self, name: &Name) -> Option<i128> {
        self.0.get(&name.text)?.dims.first().map(|n| i128::from(*n))
    }
}

impl Sema<'_> {
    /// The data of the program, and how it is shown. The function of `main` becomes the entry.
    pub(super) fn main(&mut self) -> Done<(Vec<Argument>, Vec<Variable>)> {
        let tree = self.tree;
        let Some(&n) = self.procedures.get("main") else {
            let end = tree.procedures.last().map_or(0..0, |p| p.name.span.clone());
            let help = "a run begins with `procedure main()`";
            return self.fail(&end, codes::MAIN, "there is no procedure `main`", help);
        };
        let p = &tree.procedures[n];
        let mut known = Data::default();
        let (mut arguments, mut store, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        let mut symbols: HashSet<String> = HashSet::new();
        let mut room = MAX_WORDS;
        for (shared, d) in p.decls.iter().enumerate() {
            let name = symbol(&d.name.text, &mut symbols);
            let (param_key, kind, shape) = self.data(d, shared, &mut room, &mut known)?;
            keys.push(param_key);
            let int_bits = if self.settings.int32 { 32 } else { 64 };
            let any_case = self.settings.classic;
            store.push(Variable { name: d.name.text.clone(), symbol: name.clone(), shape, int_bits, any_case });
            arguments.push(Argument { name, kind });
        }
        if self.settings.classic {
            store.sort_by_cached_key(|v| v.name.to_lowercase());
        } else {
            store.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let fun = self.instance((n, keys), &p.name.span)?;
        self.program.entry = Some(fun);
        Ok((arguments, store))
    }

    fn data(
        &mut self,
        d: &Decl,
        shared: usize,
        room: &mut u64,
        known: &mut Data,
    ) -> Done<(ParamKey, ArgumentKind, Shape)> {
        let DeclTy::Int(ty) = d.ty else {
            if let Some(e) = d.init.as_ref().filter(|e| e.kind != ExprKind::Nil) {
                let message = format!("`{}` is a stack, and begins empty", d.name.text);
                return self.fail(&e.span, codes::TYPE, message, "`nil` is the empty stack");
            }
            *room = match room.checked_sub(self.settings.stack) {
                Some(left) => left,
                None => {
                    let message = format!("the stack `{}` does not fit in memory", d.name.text);
                    return self.fail(&d.span, codes::SIZE, message, "give stacks less room with `--stack`");
                }
            };
            let words = vec![0; self.settings.stack as usize + 1];
            let kind = ArgumentKind::Array { ty: Ty::Int, words, lens: Vec::new() };
            return Ok((ParamKey::Stack { shared }, kind, Shape::Stack));
        };
        if d.dims.is_empty() {
            let value = match &d.init {
                None => 0,
                Some(e) => self.initial(e, ty, known)?,
            };
            known.0.insert(d.name.text.clone(), Seen { ty, dims: Vec::new(), numbers: vec![value] });
            let value = self.word(value, ty);
            return Ok((ParamKey::Word { shared }, ArgumentKind::Word { ty: Ty::Int, value }, Shape::Int(ty)));
        }
        let copied = self.copied(d, ty, known)?;
        let mut dims = Vec::new();
        let mut list = d.init.as_ref();
        let mut total = 1u64;
        for (at, dim) in d.dims.iter().enumerate() {
            let items = match list.map(|e| &e.kind) {
                Some(ExprKind::List(items)) => Some(items),
                _ => None,
            };
            list = items.and_then(|i| i.first());
            let (n, span) = match (dim, items) {
                (Some(e), _) => (constant::value(e, known), &e.span),
                (None, Some(items)) => (Some(items.len() as i128), &d.span),
                (None, None) if copied.is_some() => (copied.as_ref().map(|(dims, _)| i128::from(dims[at])), &d.span),
                (None, None) => {
                    let message = format!("`{}` has no size", d.name.text);
                    return self.fail(&d.span, codes::SIZE, message, &size::size_help(d));
                }
            };
            let Some(n) = n else {
                let help = "a size is made of numbers and of variables of `main` before it";
                return self.fail(span, codes::SIZE, "this size is not known", help);
            };
            let fits = u64::try_from(n).ok().filter(|n| *n >= 1).and_then(|n| total.checked_mul(n));
            let Some(all) = fits.filter(|t| t <= room) else {
                let message = format!("{n} is not a size of an array here");
                return self.fail(
                    span,
                    codes::SIZE,
                    message,
                    "a size is at least 1, and the variables of `main` have 2^26 words at most, together",
                );
            };
            total = all;
            dims.push(n as u64);
        }
        *room -= total;
        let mut numbers = Vec::new();
        match (&d.init, copied) {
            (Some(e), Some((others, _))) if others != dims => {
                let (n, m) = dims.iter().zip(&others).find(|(n, m)| n != m).unwrap_or((&total, &total));
                let message = format!("arrays of {n} and of {} meet here", plural(*m, "element"));
                return self.fail(&e.span, codes::SIZE, message, "the sizes must be the same");
            }
            (_, Some((_, from))) => numbers = from,
            (Some(e), None) => {
                numbers.resize(total as usize, 0);
                self.values(e, ty, (&dims, true), known, &mut numbers)?;
            }
            (None, None) => {}
        }
        let mut words: Vec<u64> = numbers.iter().map(|n| self.word(*n, ty)).collect();
        words.resize(total as usize, 0);
        known.0.insert(d.name.text.clone(), Seen { ty, dims: dims.clone(), numbers });
        let key = dims.iter().copied().map(Some).collect();
        let kind = ArgumentKind::Array { ty: Ty::Int, words, lens: Vec::new() };
        Ok((ParamKey::Array { dims: key, shared }, kind, Shape::Array(ty, dims)))
    }

    /// The elements of an array; missing elements are 0.
    fn values(
        &mut self,
        e: &Expr,
        ty: IntTy,
        (dims, whole): (&[u64], bool),
        known: &Data,
        numbers: &mut [i128],
    ) -> Done<()> {
        let Some((dim, rest)) = dims.split_first() else {
            let value = self.initial(e, ty, known)?;
            if let [number] = numbers {
                *number = value;
            }
            return Ok(());
        };
        let ExprKind::List(items) = &e.kind else {
            // A single number is the value of each element of the whole array.
            if whole {
                let value = self.initial(e, ty, known)?;
                numbers.fill(value);
                return Ok(());
            }
            return self.fail(
                &e.span,
                codes::TYPE,
                "an array is expected here",
                "its elements stand in braces: `{1, 2, 3}`",
            );
        };
        if items.len() as u64 > *dim {
            let message = format!("{} values are given for {}", items.len(), plural(*dim, "element"));
            return self.fail(&e.span, codes::SIZE, message, "give as many values as there are elements, or fewer");
        }
        let size = numbers.len() / *dim as usize;
        for (item, part) in items.iter().zip(numbers.chunks_mut(size.max(1))) {
            self.values(item, ty, (rest, false), known, part)?;
        }
        Ok(())
    }

    /// The array or part of an array that an initial value copies: its sizes and its elements.
    fn copied(&mut self, d: &Decl, ty: IntTy, known: &Data) -> Done<Option<(Vec<u64>, Vec<i128>)>> {
        let Some(e) = &d.init else { return Ok(None) };
        let ExprKind::Place(l) = &e.kind else { return Ok(None) };
        let Some((of, range)) = known.part(l) else { return self.unknown(e, ty, known) };
        let dims = of.dims[l.indices.len()..].to_vec();
        if dims.is_empty() && !d.dims.is_empty() {
            return Ok(None);
        }
        if of.ty != ty || dims.len() != d.dims.len() {
            let kind = format!("{}{}", of.ty.name(), "[]".repeat(dims.len()));
            let message = format!("`{}` is an `{kind}`, and no value for `{}`", l.name.text, d.name.text);
            return self.fail(&e.span, codes::TYPE, message, "give a value of its kind");
        }
        Ok(Some((dims, of.numbers.get(range).map(<[i128]>::to_vec).unwrap_or_default())))
    }

    /// The initial value of a variable. It wraps as in a statement.
    fn initial(&mut self, e: &Expr, ty: IntTy, known: &Data) -> Done<i128> {
        let width = super::body::width(self.settings, ty);
        if let Some((at, other)) = mixed(e, ty, known) {
            let message = format!("an `{}` is expected here, found an `{}`", ty.name(), other.name());
            return self.fail(&at.span, codes::TYPE, message, "integers of different types cannot be mixed");
        }
        match constant::typed_value(e, width, known) {
            Ok(Some(n)) => Ok(width.number(width.wrap(n))),
            Ok(None) => self.unknown(e, ty, known),
            Err(at) => {
                let (least, most) = width.range();
                let text = constant::value(at, known).map_or(String::new(), |n| n.to_string());
                let message = format!("{text} does not fit in `{}`", ty.name());
                let help = format!("numbers of this type go from {least} to {most}");
                self.fail(&at.span, codes::LITERAL, message, &help)
            }
        }
    }

    /// Reports an initial value that is not known.
    fn unknown<T>(&mut self, e: &Expr, ty: IntTy, known: &Data) -> Done<T> {
        let width = super::body::width(self.settings, ty);
        if constant::value(e, known).is_some() && constant::fault_in(e, width, known).is_none() {
            let message = format!("an intermediate result does not fit in `{}`", ty.name());
            let (least, most) = width.range();
            let help = format!("numbers of this type go from {least} to {most}");
            return self.fail(&e.span, codes::LITERAL, message, &help);
        }
        if let Some((at, message)) = constant::fault_in(e, width, known) {
            return self.fail(&at.span, codes::LITERAL, message, "give a value that can be computed");
        }
        if let ExprKind::Place(l) = &e.kind
            && let Some(of) = known.0.get(&l.name.text)
        {
            let (code, message) = if l.indices.len() == of.dims.len() {
                (codes::INDEX, format!("the index lies outside `{}`, or is not known", l.name.text))
            } else {
                let sizes = plural(of.dims.len(), "size");
                let indices =
                    if l.indices.len() == 1 { "1 index is" } else { &format!("{} indices are", l.indices.len()) };
                (codes::TYPE, format!("`{}` has {sizes}, and {indices} given", l.name.text))
            };
            return self.fail(&e.span, code, message, "an array has as many indices as it has sizes");
        }
        let help = "an initial value of `main` is made of numbers and of variables of `main` before it";
        self.fail(&e.span, codes::SIZE, "this initial value is not known", help)
    }

    fn word(&self, n: i128, ty: IntTy) -> u64 {
        super::body::width(self.settings, ty).wrap(n)
    }
}

/// The first part of an expression that has another integer type.
fn mixed<'e>(e: &'e Expr, ty: IntTy, known: &Data) -> Option<(&'e Expr, IntTy)> {
    let other = |of: IntTy| (of != ty).then_some((e, of));
    match &e.kind {
        ExprKind::Place(l) => other(known.0.get(&l.name.text)?.ty),
        ExprKind::Size(_) => other(IntTy::Int),
        ExprKind::Cast(to, _) => other(*to),
        ExprKind::Unary(_, a) | ExprKind::Binary(BinOp::Shl | BinOp::Shr, a, _) => mixed(a, ty, known),
        ExprKind::Binary(_, a, b) => mixed(a, ty, known).or_else(|| mixed(b, ty, known)),
        _ => None,
    }
}

/// The data symbol of a variable: its name, if the assembler accepts it.
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
