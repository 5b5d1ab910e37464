//! The possible types of an argument of the entry point, by its form.

use std::collections::HashMap;

use pendula_isa::Ty;

use super::Sema;
use super::argument::{Argument, Number};
use crate::nil::ast::{self};
use crate::nil::types::{Layout, Type};

impl Sema<'_> {
    /// The possible types of a value, the most likely first.
    pub(super) fn guess(&self, v: &Argument, out: &mut Vec<Type>) {
        let numbers = |whole: bool| {
            let mut all = if whole { vec![Ty::Int] } else { Vec::new() };
            all.extend([Ty::F, Ty::Q, Ty::L]);
            all
        };
        match v {
            Argument::Number(Number::Text(t)) if t == "true" || t == "false" => out.push(Type::Bool),
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
            Argument::Tuple(parts) => {
                if parts.len() == 2 {
                    out.push(Type::Complex(Ty::F));
                }
                let mut firsts = Vec::new();
                for p in parts {
                    let mut one = Vec::new();
                    self.guess(p, &mut one);
                    firsts.extend(one.into_iter().next());
                }
                if firsts.len() == parts.len() {
                    out.push(Type::Tuple(firsts));
                }
            }
        }
    }

    /// The instances of a struct whose type argument the annotation leaves open.
    pub(super) fn guess_struct(&self, e: &ast::TypeExpr, v: &Argument, out: &mut Vec<Type>) {
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
        let pairs = |v: &Argument| matches!(v, Argument::Array(lens, items) if !items.is_empty() && items.len() == 2 * lens.iter().product::<usize>());
        let complex = matches!(v, Argument::Tuple(parts) if parts.iter().any(pairs)).then_some(Type::Complex(Ty::F));
        for ty in complex.into_iter().chain([Ty::F, Ty::Q, Ty::Int, Ty::L].map(Type::Num)) {
            let mut bound = HashMap::new();
            for p in &s.type_params {
                bound.insert(p.name.text.clone(), ty.clone());
            }
            let args = s
                .type_params
                .iter()
                .map(|p| ast::TypeArg::Type(ast::TypeExpr { name: p.name.clone(), args: Vec::new(), span: 0..0 }))
                .collect();
            let e = ast::TypeExpr { name: s.name.clone(), args, span: 0..0 };
            if let Ok(t) = super::names(&self.structs, &bound).resolve(&e) {
                out.push(t);
            }
        }
    }
}
