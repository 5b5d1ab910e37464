//! The possible types of an argument of the entry point, by its form.

use std::collections::HashMap;

use pendula_isa::Ty;
use pendula_isa::table::TableFn;

use super::Sema;
use super::argument::{Argument, Number};
use crate::nil::ast::{self};
use crate::nil::types::{Layout, Type, array_dims, number};
use crate::nil::uses::{Uses, uses};

impl Sema<'_> {
    /// The possible types of a value, the most likely first.
    pub(super) fn guess(&self, scope: &[usize], v: &Argument, out: &mut Vec<Type>) {
        let numbers = |whole: bool| {
            let mut all = if whole { vec![Ty::Int] } else { Vec::new() };
            all.extend([Ty::F, Ty::Q, Ty::L]);
            all
        };
        match v {
            Argument::Number(Number::Text(t)) if t == "true" || t == "false" => out.push(Type::Bool),
            Argument::Number(Number::Text(t)) if t == "nothing" || t.starts_with("Val(") => {
                out.push(Type::Function(t.clone()));
            }
            Argument::Number(Number::Text(t)) if self.function_named(scope, t).is_some() => {
                out.extend(self.function_named(scope, t).map(Type::Function));
            }
            Argument::Number(n) => {
                out.extend(numbers(n.is_whole()).into_iter().map(Type::Num));
                out.extend([Type::Complex(Ty::F), Type::Tropical(Ty::F), Type::Bool]);
                out.extend([Type::Log { signed: false }, Type::Log { signed: true }]);
            }
            Argument::Array(lens, items) => {
                let whole = items.iter().all(Number::is_whole);
                let dims = lens.len() as u8;
                let truth = |n: &Number| matches!(n, Number::Text(t) if t == "true" || t == "false");
                if !items.is_empty() && items.iter().all(truth) {
                    out.push(Type::Array { element: Box::new(Type::Bool), dims, layout: Layout::Columns });
                }
                // Pairs of numbers are complex numbers.
                let pairs = items.len() == 2 * lens.iter().product::<usize>() && !items.is_empty();
                if pairs {
                    out.push(Type::Array { element: Box::new(Type::Complex(Ty::F)), dims, layout: Layout::Columns });
                }
                let mut elements: Vec<Type> = numbers(whole).into_iter().map(Type::Num).collect();
                elements.extend([Type::Bool, Type::Complex(Ty::F), Type::Tropical(Ty::F), Type::Log { signed: false }]);
                out.extend(elements.into_iter().map(|t| Type::Array {
                    element: Box::new(t),
                    dims,
                    layout: Layout::Columns,
                }));
            }
            Argument::List(_) => {}
            Argument::Tuple(parts) => {
                if parts.len() == 2 {
                    out.push(Type::Complex(Ty::F));
                }
                // A tuple of two numbers is a complex number, or may be none.
                let (mut firsts, mut plain) = (Vec::new(), Vec::new());
                for p in parts {
                    let mut one = Vec::new();
                    self.guess(scope, p, &mut one);
                    let complex = |t: &Type| matches!((p, t), (Argument::Tuple(_), Type::Complex(_)));
                    plain.extend(one.iter().find(|t| !complex(t)).cloned());
                    firsts.extend(one.into_iter().next());
                }
                if firsts.len() == parts.len() {
                    let other = (plain.len() == parts.len() && plain != firsts).then_some(plain);
                    out.push(Type::Tuple(firsts));
                    out.extend(other.map(Type::Tuple));
                }
            }
        }
    }

    /// The instance of a struct that its fields' values tell, if a type parameter stands for more than numbers.
    fn struct_by_parts(&self, s: &ast::Struct, v: &Argument) -> Option<Type> {
        let Argument::Tuple(parts) = v else { return None };
        if parts.len() != s.fields.len() {
            return None;
        }
        let mut names = super::names(&self.structs, &HashMap::new());
        for ((_, written), part) in s.fields.iter().zip(parts) {
            let e = written.as_ref()?;
            let mut likely = Vec::new();
            self.guess_struct(e, part, &mut likely);
            self.guess(&[], part, &mut likely);
            let known = names.resolve(e).is_ok();
            let fits = |t: &Type| names.accepts(e, t, &s.type_params).is_some();
            if !known && !likely.iter().any(fits) {
                return None;
            }
        }
        let mut bound = names.bound;
        let numbers = bound.values().all(|t| matches!(t, Type::Num(_) | Type::Complex(_)));
        if numbers && !s.has_open_fields() {
            return None;
        }
        // A parameter that no field has, such as a number of dimensions.
        for p in &s.type_params {
            bound.entry(p.name.text.clone()).or_insert(Type::Num(Ty::Int));
        }
        self.struct_with(s, &bound)
    }

    fn struct_with(&self, s: &ast::Struct, bound: &HashMap<String, Type>) -> Option<Type> {
        let arg = |p: &ast::TypeParam| {
            ast::TypeArg::Type(ast::TypeExpr { name: p.name.clone(), args: Vec::new(), span: 0..0 })
        };
        let e = ast::TypeExpr { name: s.name.clone(), args: s.type_params.iter().map(arg).collect(), span: 0..0 };
        super::names(&self.structs, bound).resolve(&e).ok()
    }

    /// An empty array has elements like those of the other arguments: doubles go before integers where there are such.
    pub(super) fn prefer_given(&self, candidates: &mut [Type]) {
        fn is_real(a: &Argument) -> bool {
            match a {
                Argument::Number(Number::Text(t)) if t == "true" || t == "false" => false,
                Argument::Number(Number::Text(t)) => t.parse::<f64>().is_ok() && !Number::Text(t.clone()).is_whole(),
                Argument::Number(n) => !n.is_whole(),
                Argument::Array(_, items) => items.iter().any(|n| !n.is_whole()),
                Argument::Tuple(parts) | Argument::List(parts) => parts.iter().any(is_real),
            }
        }
        if self.settings.arguments.iter().any(is_real) {
            let whole = |t: &Type| matches!(t, Type::Array { element, .. } if **element == Type::Num(Ty::Int));
            candidates.sort_by_key(whole);
        }
    }

    /// Vectors to which the function pushes, or from which it pops, grow.
    pub(super) fn growing_candidates(&self, f: &ast::Function, name: &str, candidates: &mut [Type]) {
        let vector = |t: &Type| matches!(t, Type::Array { element, dims: 1, layout: Layout::Columns } if element.words().is_some());
        if !candidates.iter().any(vector) || !self.uses(f, name).grows {
            return;
        }
        for t in candidates {
            if vector(t)
                && let Type::Array { layout, .. } = t
            {
                *layout = Layout::Growing;
            }
        }
    }

    /// What a function does with a parameter.
    fn uses<'s>(&'s self, f: &'s ast::Function, name: &str) -> Uses<'s> {
        let find = |name: &str, count: usize| {
            let all = self.by_name.get(&super::declare::known_as(&self.by_name, name, &f.scope))?;
            all.iter().map(|n| self.definitions[*n].ast).find(|f| f.takes(count))
        };
        uses(f, name, &find)
    }

    /// What the uses of a parameter tell about the type of a value.
    pub(super) fn guess_by_uses(&self, f: &ast::Function, name: &str, v: &Argument, out: &mut Vec<Type>) {
        let uses = self.uses(f, name);
        match v {
            Argument::Tuple(_) => {
                self.guess_struct_by_uses(&uses, v, out);
                let mut all = Vec::new();
                if !uses.parts.is_empty() {
                    self.guess(&f.scope, v, &mut all);
                }
                out.extend(all.into_iter().filter(|t| matches!(t, Type::Tuple(_))));
            }
            Argument::Array(lens, _) => {
                if let Some((e, _)) = uses.annotation {
                    self.guess_struct(e, v, out);
                }
                let Some(element) = &uses.element else { return };
                if uses.dims < lens.len() && element.dims > 0 {
                    self.guess_rows(&f.scope, v, out);
                }
                let mut elements = Vec::new();
                self.guess_struct_by_uses(element, &Argument::Tuple(Vec::new()), &mut elements);
                elements.extend(element.complex.then_some(Type::Complex(Ty::F)));
                let array =
                    |t: Type| Type::Array { element: Box::new(t), dims: lens.len() as u8, layout: Layout::Columns };
                out.extend(elements.into_iter().map(array));
            }
            Argument::List(items) => {
                let (Some(element), Some(first)) = (&uses.element, items.first()) else { return };
                if let Some((e, _)) = uses.annotation {
                    self.guess_struct(e, v, out);
                }
                let mut elements = Vec::new();
                self.guess_struct_by_uses(element, first, &mut elements);
                out.extend(elements.into_iter().map(vector));
            }
            Argument::Number(_) => {}
        }
    }

    /// The structs that have the fields which are used.
    fn guess_struct_by_uses(&self, uses: &Uses<'_>, v: &Argument, out: &mut Vec<Type>) {
        if let Some((e, _)) = uses.annotation {
            self.guess_struct(e, v, out);
        }
        if uses.fields.is_empty() {
            return;
        }
        let parts = if let Argument::Tuple(parts) = v { parts.len() } else { 0 };
        let fields: Vec<&str> = uses.fields.iter().map(|(name, _)| name.as_str()).collect();
        for s in self.structs.with_fields(&fields) {
            if parts == 0 || parts == s.fields.len() {
                let e = ast::TypeExpr { name: s.name.clone(), args: Vec::new(), span: s.span.clone() };
                self.guess_struct(&e, v, out);
            }
        }
    }

    /// The function that a text names: of the program, of the host, or of the machine.
    pub(super) fn function_named(&self, scope: &[usize], text: &str) -> Option<String> {
        if let Some(inner) = text.strip_prefix('~') {
            return self.function_named(scope, inner).map(|f| format!("~{f}"));
        }
        if let Some((_, f)) = super::instr::accumulating(text) {
            return self.function_named(scope, f).map(|_| text.to_string());
        }
        let own = super::declare::known_as(&self.by_name, text, scope);
        let known = self.by_name.contains_key(&own)
            || self.hosts.contains_key(text)
            || super::builtin::is_composed(text)
            || super::instr::operands(text).is_some()
            || number(text).is_some()
            || TableFn::ALL.iter().any(|f| f.info().name == text)
            || [true, false].iter().any(|values| !self.defined(text, *values).is_empty());
        known.then_some(own)
    }

    /// The arrays whose elements are the rows of an array.
    fn guess_rows(&self, scope: &[usize], v: &Argument, out: &mut Vec<Type>) {
        let Argument::Array(lens, numbers) = v else { return };
        let Some((_, inner)) = lens.split_first() else { return };
        let count: usize = inner.iter().product();
        let row = numbers.len().checked_div(lens[0]).unwrap_or(0).max(count);
        let mut rows = Vec::new();
        let first = Argument::Array(inner.to_vec(), numbers.iter().take(row).cloned().collect());
        self.guess(scope, &first, &mut rows);
        out.extend(rows.into_iter().map(vector));
    }

    /// The instances of a struct whose type argument the annotation leaves open.
    pub(super) fn guess_struct(&self, e: &ast::TypeExpr, v: &Argument, out: &mut Vec<Type>) {
        if let Some(expanded) = self.structs.expanded(e) {
            return self.guess_struct(&expanded, v, out);
        }
        // Of an array of structs of arrays, each element says the same.
        if let (Some(ast::TypeArg::Type(inner)), Argument::List(items)) = (e.args.first(), v) {
            let mut elements = Vec::new();
            if let Some(first) = items.first() {
                self.guess_struct(inner, first, &mut elements);
                if array_dims(&inner.name.text).is_some() {
                    self.guess(&[], first, &mut elements);
                }
            }
            out.extend(elements.into_iter().map(vector));
            return;
        }
        if let (Some(ast::TypeArg::Type(inner)), Argument::Array(lens, _)) = (e.args.first(), v)
            && lens.len() > 1
            && array_dims(&inner.name.text).is_some()
        {
            self.guess_rows(&[], v, out);
        }
        // For an array, the type of its elements.
        if let (Some(ast::TypeArg::Type(inner)), Argument::Array(lens, _)) = (e.args.first(), v) {
            let mut elements = Vec::new();
            self.guess_struct(inner, &Argument::Tuple(Vec::new()), &mut elements);
            let dims = lens.len() as u8;
            out.extend(elements.into_iter().map(|t| Type::Array {
                element: Box::new(t),
                dims,
                layout: Layout::Columns,
            }));
            return;
        }
        let (Some(s), Argument::Tuple(_)) = (self.structs.get(&e.name.text), v) else { return };
        out.extend(self.struct_by_parts(s, v));
        let pairs = |v: &Argument| matches!(v, Argument::Array(lens, items) if !items.is_empty() && items.len() == 2 * lens.iter().product::<usize>());
        let complex = matches!(v, Argument::Tuple(parts) if parts.iter().any(pairs)).then_some(Type::Complex(Ty::F));
        for ty in complex.into_iter().chain([Ty::F, Ty::Q, Ty::Int, Ty::L].map(Type::Num)) {
            let mut bound = HashMap::new();
            for p in &s.type_params {
                bound.insert(p.name.text.clone(), ty.clone());
            }
            out.extend(self.struct_with(s, &bound));
        }
    }
}

/// A vector of elements of this type.
fn vector(element: Type) -> Type {
    Type::Array { element: Box::new(element), dims: 1, layout: Layout::Columns }
}
