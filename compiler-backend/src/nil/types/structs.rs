//! The structs of a program and their instances for type arguments. Each instance is made once, and recursive structs
//! are refused.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use pendula_isa::budget::Budget;

use super::{Names, StructType, Type, TypeProblem};
use crate::nil::ast;

/// A struct's name and its type arguments.
type Key = (String, Vec<Type>);

/// Structs by name.
#[derive(Debug, Default)]
pub struct Structs {
    all: HashMap<String, ast::Struct>,
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

    /// Declares a struct. Gives the previous struct of the same name.
    pub fn insert(&mut self, s: ast::Struct) -> Option<ast::Struct> {
        self.known.get_mut().clear();
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
