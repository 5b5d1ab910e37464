//! The structs of a program and their instances for type arguments. Each instance is made once, and recursive structs
//! are refused.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use pendula_isa::budget::Budget;

use super::annotation::number_set;
use super::{Names, StructType, Type, TypeProblem};
use crate::nil::ast;

/// A struct's name and its type arguments.
type Key = (String, Vec<Type>);

/// What the names of the type parameters begin with that stand for the types of fields without one.
const OPEN: &str = "typeof(";

impl ast::Struct {
    /// Whether a field's type is that of its value.
    pub(in crate::nil) fn has_open_fields(&self) -> bool {
        self.type_params.iter().any(|p| p.name.text.starts_with(OPEN))
    }
}

/// Structs by name.
#[derive(Debug, Default)]
pub struct Structs {
    all: HashMap<String, ast::Struct>,
    /// Other names for types.
    aliases: HashMap<String, ast::Alias>,
    budget: Budget,
    /// The instances of structs for type arguments, so far.
    known: RefCell<HashMap<Key, Result<Type, TypeProblem>>>,
    /// The structs that are being instantiated, each with its current field.
    open: RefCell<Vec<(String, String)>>,
}

impl Structs {
    /// An empty set.
    pub fn new(budget: Budget) -> Structs {
        Structs { budget, ..Structs::default() }
    }

    /// The budget for types.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The struct with this name.
    pub fn get(&self, name: &str) -> Option<&ast::Struct> {
        self.all.get(name)
    }

    /// The structs that have these fields, in the order of their names.
    pub fn with_fields(&self, fields: &[&str]) -> Vec<&ast::Struct> {
        let has = |s: &&ast::Struct| fields.iter().all(|f| s.fields.iter().any(|(own, _)| own.text == *f));
        let mut all: Vec<&ast::Struct> = self.all.values().filter(has).collect();
        all.sort_by(|a, b| a.name.text.cmp(&b.name.text));
        all
    }

    /// Declares another name for a type.
    pub fn name(&mut self, alias: ast::Alias) {
        self.known.get_mut().clear();
        self.aliases.insert(alias.name.text.clone(), alias);
    }

    /// What a type expression stands for if its name is another one for a type: a parameter that is not given stands for
    /// any type.
    pub(in crate::nil) fn expanded(&self, e: &ast::TypeExpr) -> Option<ast::TypeExpr> {
        /// The greatest number of names, each for a type with the next.
        const MOST: usize = 64;
        let (mut e, mut changed) = (e.clone(), false);
        for _ in 0..MOST {
            let Some(alias) = self.aliases.get(&e.name.text) else { return changed.then_some(e) };
            let any = || ast::TypeExpr {
                name: ast::Name { text: "Any".to_string(), span: e.span.clone() },
                args: Vec::new(),
                span: e.span.clone(),
            };
            let of = |n: usize| e.args.get(n).cloned().unwrap_or_else(|| ast::TypeArg::Type(any()));
            let given: HashMap<&str, ast::TypeArg> =
                alias.type_params.iter().enumerate().map(|(n, p)| (p.name.text.as_str(), of(n))).collect();
            e = substituted(&alias.ty, &given);
            changed = true;
        }
        None
    }

    /// Declares a struct. Gives the previous struct of the same name.
    pub fn insert(&mut self, mut s: ast::Struct) -> Option<ast::Struct> {
        self.known.get_mut().clear();
        // A field without a type has that of its value, as if that were a further type parameter.
        for (field, ty) in &mut s.fields {
            let any = ty.as_ref().is_none_or(|ty| ty.name.text == "Any");
            if any || ty.as_ref().is_some_and(|ty| number_set(&ty.name.text).is_some()) {
                let name = ast::Name { text: format!("{OPEN}{})", field.text), span: field.span.clone() };
                let span = field.span.clone();
                let bound = ty.replace(ast::TypeExpr { name: name.clone(), args: Vec::new(), span });
                s.type_params.push(ast::TypeParam { name, bound: bound.filter(|_| !any) });
            }
        }
        self.all.insert(s.name.text.clone(), s)
    }

    /// The type of a struct for its type arguments, of which there are as many as parameters.
    ///
    /// # Errors
    /// A field has no type, the struct contains itself, or it exceeds the budget.
    pub fn instance(&self, s: &ast::Struct, args: Vec<Type>) -> Result<Type, TypeProblem> {
        let name = &s.name.text;
        let key = (name.clone(), args);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        // A field has one type, so a struct inside itself never ends, whatever its type arguments are.
        let before = self.open.borrow().iter().position(|(open, _)| open == name);
        if let Some(n) = before {
            return Err(TypeProblem::Recursive(self.open.borrow()[n..].to_vec()));
        }
        let deep = self.open.borrow().len() as u32 + 1;
        self.budget.nested(deep, || format!("the struct `{name}`")).map_err(TypeProblem::Exceeded)?;
        self.open.borrow_mut().push((name.clone(), String::new()));
        let made = self.make(s, &key.1);
        self.open.borrow_mut().pop();
        // A struct that was nested too deep here may not be too deep elsewhere.
        if !matches!(made, Err(TypeProblem::Exceeded(_))) || self.open.borrow().is_empty() {
            self.known.borrow_mut().insert(key, made.clone());
        }
        made
    }

    fn make(&self, s: &ast::Struct, args: &[Type]) -> Result<Type, TypeProblem> {
        let name = &s.name.text;
        let params = s.type_params.iter().map(|p| p.name.text.clone());
        let inner = Names { structs: self, bound: params.zip(args.iter().cloned()).collect() };
        let mut fields = Vec::with_capacity(s.fields.len());
        for (field, ty) in &s.fields {
            let ty = ty.as_ref().ok_or_else(|| TypeProblem::Abstract(name.clone()))?;
            if let Some((_, at)) = self.open.borrow_mut().last_mut() {
                at.clone_from(&field.text);
            }
            fields.push((field.text.clone(), inner.resolve(ty)?));
        }
        let made = StructType::new(name.clone(), fields, &self.budget).map_err(TypeProblem::Exceeded)?;
        Ok(Type::Struct(Rc::new(made)))
    }
}

/// A type expression with arguments in the place of parameters.
fn substituted(e: &ast::TypeExpr, given: &HashMap<&str, ast::TypeArg>) -> ast::TypeExpr {
    if let Some(ast::TypeArg::Type(t)) = given.get(e.name.text.as_str()) {
        return t.clone();
    }
    let one = |arg: &ast::TypeArg| match arg {
        ast::TypeArg::Type(t) => match given.get(t.name.text.as_str()) {
            Some(arg) => arg.clone(),
            None => ast::TypeArg::Type(substituted(t, given)),
        },
        other => other.clone(),
    };
    ast::TypeExpr { name: e.name.clone(), args: e.args.iter().map(one).collect(), span: e.span.clone() }
}
