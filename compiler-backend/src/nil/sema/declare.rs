//! Declarations of the files: functions, structs, constants, and the errors in them that are found before anything is
//! compiled.

use std::collections::{HashMap, HashSet};

use pendula_isa::Ty;
use pendula_isa::diagnostic::{Diagnostic, Place as Source};

use super::builtin::is_built_in;
use super::{Definition, Input, Sema, names, sparse_matrix};
use crate::nil::ast::{self, AssignOp, inside};
use crate::nil::types::{Names, Structs, Type, TypeProblem, is_built_in as is_built_in_type, mentions};
use crate::nil::{codes, is_host};

/// The name by which calls find a function: that of the source, or, inside of a scope of the host, that with the place
/// of the scope.
fn own_name(f: &ast::Function) -> String {
    match f.scope.last() {
        Some(at) => inside(&f.name.text, *at),
        None => f.name.text.clone(),
    }
}

/// The name by which a call from these scopes of the host finds the functions that the source calls `name`: those of the
/// innermost scope that has any.
pub(super) fn known_as(by_name: &HashMap<String, Vec<usize>>, name: &str, scope: &[usize]) -> String {
    let inner = scope.iter().rev().map(|at| inside(name, *at)).find(|own| by_name.contains_key(own));
    inner.unwrap_or_else(|| name.to_string())
}

/// Whether another name for a type has no meaning: outside of files of the host, it may not be that of another type.
fn hidden_alias(input: &Input, alias: &ast::Alias) -> bool {
    let name = &alias.name.text;
    !is_host(&input.name) && (is_built_in_type(name) || structs_of(&input.tree).any(|s| s.name.text == *name))
}

/// The structs of a file.
fn structs_of(tree: &ast::File) -> impl Iterator<Item = &ast::Struct> {
    tree.items.iter().filter_map(|item| if let ast::Item::Struct(s) = item { Some(s) } else { None })
}

/// Whether a parameter has a type that the file declares.
pub(in crate::nil) fn takes_own_types(tree: &ast::File, f: &ast::HostFunction) -> bool {
    let own = |ty: &ast::TypeExpr| structs_of(tree).any(|s| s.name.text == ty.name.text);
    f.params.iter().any(|p| p.ty.as_ref().is_some_and(own))
}

/// Whether the bound of a function's type variable number `k` leads back to it.
fn circular(f: &ast::Function, k: usize) -> bool {
    let (mut reached, mut todo) = (vec![false; f.type_params.len()], vec![k]);
    while let Some(n) = todo.pop() {
        let Some(bound) = &f.type_params[n].bound else { continue };
        for (m, p) in f.type_params.iter().enumerate() {
            if mentions(bound, &p.name.text) && !std::mem::replace(&mut reached[m], true) {
                todo.push(m);
            }
        }
    }
    reached[k]
}

impl<'a> Sema<'a> {
    /// Collects the declarations of the files.
    pub(super) fn declare(&mut self) {
        for name in ["SparseMatrixCSC", "AbstractSparseMatrix", "AbstractSparseMatrixCSC"] {
            let mut s = sparse_matrix();
            s.name.text = name.to_string();
            self.structs.insert(s);
        }
        for input in self.inputs {
            for item in &input.tree.items {
                match item {
                    ast::Item::Function(f) => self.define(input, f),
                    ast::Item::Struct(s) => {
                        let mut names = HashSet::new();
                        for (field, _) in &s.fields {
                            if !names.insert(&field.text) {
                                let message = format!("two fields have the name `{}`", field.text);
                                let at = Source { file: input.file, span: field.span.clone() };
                                let d = Diagnostic::error(codes::TWICE, message).at(at, "");
                                self.diagnostics.push(d.help("give them different names"));
                            }
                        }
                        let name = s.name.text.clone();
                        // In the host language, it must be the same once more.
                        if self.structs.insert(s.clone()).is_some() && !input.library && !is_host(&input.name) {
                            let message = format!("the struct `{name}` is declared twice");
                            self.diagnostics.push(
                                Diagnostic::error(codes::TWICE, message)
                                    .at(Source { file: input.file, span: s.name.span.clone() }, "again here")
                                    .help("give it another name"),
                            );
                        }
                    }
                    ast::Item::Const(name, value) => {
                        self.constants.insert(&name.text, (input.file, value));
                    }
                    ast::Item::Alias(alias) if !hidden_alias(input, alias) => self.structs.name(alias.clone()),
                    ast::Item::Host(f) if !self.is_hidden(input, f) => {
                        self.hosts.entry(&f.name.text).or_default().push((input.file, f));
                    }
                    ast::Item::Using(_) | ast::Item::Alias(_) | ast::Item::Host(_) => {}
                }
            }
        }
        self.check_structs();
        self.refuse_duplicates();
    }

    /// Whether a function that is one expression has no meaning: outside of files of the host, one with the name of a
    /// built-in function is only for types of its file.
    fn is_hidden(&self, input: &Input, f: &ast::HostFunction) -> bool {
        let name = f.name.text.as_str();
        let built_in = is_built_in(name) || !self.defined(name, true).is_empty();
        !is_host(&input.name) && built_in && !takes_own_types(&input.tree, f)
    }

    /// Refuses structs that contain themselves or are too large, whether they are used or not. Whether a struct
    /// contains itself does not depend on its type arguments.
    fn check_structs(&mut self) {
        // In a file of the host, other structs are none of the program's as long as nothing uses them.
        for input in self.inputs.iter().filter(|i| !i.library && !is_host(&i.name)) {
            for item in &input.tree.items {
                let ast::Item::Struct(s) = item else { continue };
                let args = vec![Type::Num(Ty::F); s.type_params.len()];
                // A later struct of the same name has replaced it.
                let Some(s) = self.structs.get(&s.name.text).filter(|other| other.span == s.span).cloned() else {
                    continue;
                };
                let Err(problem) = self.structs.instance(&s, args) else { continue };
                if matches!(problem, TypeProblem::Recursive(_) | TypeProblem::Exceeded(_))
                    && !self.reported.contains(&problem)
                {
                    let field = match &problem {
                        TypeProblem::Recursive(way) => {
                            let first = way.iter().find(|(of, _)| *of == s.name.text);
                            first.and_then(|(_, field)| s.fields.iter().find(|(f, _)| f.text == *field))
                        }
                        _ => None,
                    };
                    let at = field.map_or(&s.name.span, |(f, _)| &f.span).clone();
                    let e = ast::TypeExpr { name: s.name.clone(), args: Vec::new(), span: at };
                    let _ = self.type_problem(input.file, &e, problem.clone());
                    // Each struct of a cycle is reported once, with itself as the first.
                    self.reported.insert(problem);
                }
            }
        }
    }

    /// Refuses type variables whose bounds lead back to themselves.
    fn check_bounds(&mut self, file: u16, f: &ast::Function) {
        for (k, p) in f.type_params.iter().enumerate() {
            let Some(bound) = p.bound.as_ref().filter(|_| circular(f, k)) else { continue };
            let message = format!("the type variable `{}` is bounded by itself", p.name.text);
            self.error(file, &bound.span, codes::TYPE_NAME, message).help =
                Some("bound it by a type, such as `Real`, or leave the bound out".into());
        }
    }

    fn define(&mut self, input: &'a Input, f: &'a ast::Function) {
        let all: Vec<&ast::Param> = f.params.iter().chain(&f.keywords).collect();
        for (n, param) in all.iter().enumerate() {
            if all.iter().take(n).any(|other| other.name.text == param.name.text) {
                let message = format!("two parameters have the name `{}`", param.name.text);
                let help = Some("give them different names".to_string());
                self.error(input.file, &param.name.span, codes::TWICE, message).help = help;
            }
        }
        self.check_bounds(input.file, f);
        let n = self.definitions.len();
        self.definitions.push(Definition { file: input.file, ast: f, library: input.library });
        let alike = match f.instruction {
            Some(op) => self.by_instruction.entry((op, &f.name.text)).or_default(),
            None => self.by_name.entry(own_name(f)).or_default(),
        };
        alike.push(n);
    }

    /// Refuses two definitions for the same types: every call would be ambiguous. Definitions of the library may be
    /// replaced.
    fn refuse_duplicates(&mut self) {
        let mut seen: HashMap<(Option<AssignOp>, String, String), usize> = HashMap::new();
        for n in 0..self.definitions.len() {
            let d = &self.definitions[n];
            if d.library {
                continue;
            }
            let (file, f) = (d.file, d.ast);
            if f.unread.as_ref().is_some_and(|u| !u.head) {
                continue;
            }
            let key = (f.instruction, own_name(f), signature(&self.structs, f));
            let Some(first) = seen.insert(key.clone(), n) else { continue };
            // In the host language, the later definition takes the place of the earlier one.
            if self.inputs.get(file as usize).is_some_and(|i| is_host(&i.name)) {
                self.forget(first);
                continue;
            }
            seen.insert(key, first);
            let first = &self.definitions[first];
            let before = Source { file: first.file, span: first.ast.name.span.clone() };
            // Calls go to the first definition, so that the duplicate is reported once.
            self.forget(n);
            let message = format!("`{}` is defined twice for the same types", f.name.text);
            let d = self.error(file, &f.name.span, codes::TWICE, message);
            d.secondary.push(pendula_isa::diagnostic::Label { place: before, text: "first here".into() });
            d.help = Some("remove one of them, or give the parameters other types".into());
        }
    }

    /// Leaves out a definition where calls look for one.
    fn forget(&mut self, n: usize) {
        self.forgotten.insert(n);
        let f = self.definitions[n].ast;
        let alike = match f.instruction {
            Some(op) => self.by_instruction.get_mut(&(op, f.name.text.as_str())),
            None => self.by_name.get_mut(&own_name(f)),
        };
        if let Some(alike) = alike {
            alike.retain(|m| *m != n);
        }
    }
}

/// The parameter types of a definition as a key, which is equal for definitions that accept the same types.
pub(in crate::nil) fn signature(structs: &Structs, f: &ast::Function) -> String {
    fn text(e: &ast::TypeExpr, f: &ast::Function, names: &Names<'_>) -> String {
        if let Some(k) = f.type_params.iter().position(|p| p.name.text == e.name.text) {
            // Bounds that lead back to themselves are refused elsewhere.
            let bound = f.type_params[k].bound.as_ref().filter(|_| !circular(f, k));
            let bound = bound.map_or(String::new(), |b| text(b, f, names));
            return format!("#{k}<:{bound}");
        }
        match names.resolve(e) {
            Ok(t) => t.to_string(),
            Err(_) => {
                let arg = |a: &ast::TypeArg| match a {
                    ast::TypeArg::Type(t) => text(t, f, names),
                    ast::TypeArg::Number(n, _) => n.to_string(),
                    ast::TypeArg::Of(_) => String::new(),
                };
                format!("{}{{{}}}", e.name.text, e.args.iter().map(arg).collect::<Vec<_>>().join(","))
            }
        }
    }
    let names = names(structs, &HashMap::new());
    let one = |p: &ast::Param| {
        let ty = p.ty.as_ref().map_or("Any{}".to_string(), |t| text(t, f, &names));
        p.count.map_or_else(|| ty.clone(), |n| format!("{ty}*{n}"))
    };
    f.params.iter().map(one).collect::<Vec<_>>().join(",")
}
