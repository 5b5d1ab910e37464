//! The structs of a program, and the types that they are for what they are given: each is made once, and none without end.

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
    /// What has been made of a struct for its type arguments.
    known: RefCell<HashMap<Key, Result<Type, TypeProblem>>>,
    /// Those that are being made, each with the field that it is at.
    open: RefCell<Vec<(String, String)>>,
}

impl Structs {
    /// None yet.
    pub fn new(budget: Budget) -> Structs {
        Structs { budget, ..Structs::default() }
    }

    /// What types may take.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The struct of a name.
    pub fn get(&self, name: &str) -> Option<&ast::Struct> {
        self.all.get(name)
    }

    /// Declares a struct, and gives the one of its name that there was.
    pub fn insert(&mut self, s: ast::Struct) -> Option<ast::Struct> {
        self.known.get_mut().clear();
        self.all.insert(s.name.text.clone(), s)
    }

    /// The type that a struct is for as many type arguments as it has parameters.
    ///
    /// # Errors
    /// A field of it has no type, it holds itself, or it is beyond the budget.
    pub fn instance(&self, s: &ast::Struct, args: Vec<Type>) -> Result<Type, TypeProblem> {
        let name = &s.name.text;
        let key = (name.clone(), args);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        // Fields are of one type each, so that there is no way out of a struct inside itself, whatever its arguments are there.
        let before = self.open.borrow().iter().position(|(open, _)| open == name);
        if let Some(n) = before {
            return Err(TypeProblem::Recursive(self.open.borrow()[n..].to_vec()));
        }
        let deep = self.open.borrow().len() as u32 + 1;
        self.budget.nested(deep, || format!("the struct `{name}`")).map_err(TypeProblem::Exceeded)?;
        self.open.borrow_mut().push((name.clone(), String::new()));
        let made = self.make(s, &key.1);
        self.open.borrow_mut().pop();
        // Where the way down was too deep, another way may not be.
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
