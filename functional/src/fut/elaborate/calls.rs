//! Calls.

use super::builtins::arity;
use super::{Arg, Bound, Callee, Elaborator, Id, Made};
use crate::core::{Rhs, Var};
use crate::fut::code::Node;
use crate::fut::types::VarId;

/// Writes the body of nested functions, when all arguments are there.
type Write<'w, 'a> = Box<dyn FnOnce(&mut Elaborator<'a>, Vec<Var>) -> Made<Var> + 'w>;

impl<'a> Elaborator<'a> {
    /// The function that a variable stands for, with sizes as its first arguments.
    pub(super) fn callee_of(&mut self, var: VarId, sizes: Vec<Var>) -> Made<Callee> {
        match self.bound.get(&var).copied() {
            Some(Bound::Function(function, n)) => {
                let mut given = sizes;
                // A definition that calls itself calls itself at its own sizes.
                if given.is_empty()
                    && let Some(own) = self.implicit.get(&var).cloned()
                {
                    for size in own {
                        given.push(self.variable(size)?);
                    }
                }
                Ok(Callee::Known(function, n, given))
            }
            Some(Bound::Value(value)) => Ok(Callee::Value(value)),
            None => Ok(Callee::Value(self.variable(var)?)),
        }
    }

    /// Whether an expression is a function whose code is known.
    fn is_known(&self, id: Id) -> bool {
        match self.code.get(id) {
            Node::Lambda(_) | Node::Builtin(..) => true,
            Node::Var(var) | Node::Instance(var, _) => matches!(self.bound.get(var), Some(Bound::Function(..))),
            Node::Lets(_, body) => matches!(self.code.get(*body), Node::Lambda(_)),
            Node::Apply(function, args) => match self.code.get(*function) {
                Node::Builtin(name, _) => args.len() < arity(name),
                Node::Var(var) | Node::Instance(var, _) => match self.bound.get(var) {
                    Some(Bound::Function(_, n)) => args.len() + self.implicit.get(var).map_or(0, Vec::len) < *n,
                    Some(Bound::Value(_)) | None => false,
                },
                _ => false,
            },
            _ => false,
        }
    }

    /// An argument.
    pub(super) fn arg(&mut self, id: Id) -> Made<Arg> {
        if self.is_known(id) { Ok(Arg::Fun(self.callee(id)?)) } else { Ok(Arg::Var(self.exp(id)?)) }
    }

    /// A function that is to be called.
    pub(super) fn callee(&mut self, id: Id) -> Made<Callee> {
        let code = self.code;
        match code.get(id) {
            Node::Lambda(fun) => Ok(Callee::Lambda(fun.clone())),
            Node::Builtin(name, ty) => Ok(Callee::Builtin(name.clone(), ty.clone(), Vec::new())),
            Node::Var(var) => self.callee_of(*var, Vec::new()),
            Node::Instance(var, sizes) => {
                let sizes = self.sizes_for(sizes)?;
                self.callee_of(*var, sizes)
            }
            Node::Lets(binds, body) if self.is_known(id) => {
                for (bind, span) in binds {
                    self.at(*span);
                    self.bind_let(bind)?;
                }
                self.callee(*body)
            }
            Node::Apply(function, args) if self.is_known(id) => match self.callee(*function)? {
                Callee::Known(f, n, mut given) => {
                    for arg in args {
                        given.push(self.exp(*arg)?);
                    }
                    Ok(Callee::Known(f, n, given))
                }
                Callee::Builtin(name, ty, mut given) => {
                    for arg in args {
                        given.push(self.arg(*arg)?);
                    }
                    Ok(Callee::Builtin(name, ty, given))
                }
                Callee::Value(_) | Callee::Lambda(_) => Ok(Callee::Value(self.exp(id)?)),
            },
            _ => Ok(Callee::Value(self.exp(id)?)),
        }
    }

    /// An argument as a value.
    pub(super) fn value(&mut self, arg: Arg) -> Made<Var> {
        match arg {
            Arg::Var(var) => Ok(var),
            Arg::Fun(callee) => self.as_value(callee),
        }
    }

    /// An argument as a function.
    pub(super) fn function(arg: Arg) -> Callee {
        match arg {
            Arg::Var(var) => Callee::Value(var),
            Arg::Fun(callee) => callee,
        }
    }

    /// Calls a function with values.
    pub(super) fn call_with(&mut self, callee: &Callee, args: &[Var]) -> Made<Var> {
        self.call(callee.clone(), args.iter().map(|v| Arg::Var(*v)).collect())
    }

    pub(super) fn call(&mut self, callee: Callee, args: Vec<Arg>) -> Made<Var> {
        match callee {
            Callee::Value(function) => {
                let mut result = function;
                for arg in args {
                    let arg = self.value(arg)?;
                    result = self.bind("r", Rhs::Apply(result, arg));
                }
                Ok(result)
            }
            Callee::Known(function, n, given) => {
                let mut all = given;
                for arg in args {
                    all.push(self.value(arg)?);
                }
                if all.len() < n {
                    return self.as_value(Callee::Known(function, n, all));
                }
                let rest = all.split_off(n);
                let packed = self.pack(&all);
                let result = self.bind("r", Rhs::Apply(function, packed));
                self.call_with(&Callee::Value(result), &rest)
            }
            Callee::Lambda(fun) => {
                let n = fun.params.len();
                if args.len() < n {
                    let function = self.as_value(Callee::Lambda(fun))?;
                    return self.call(Callee::Value(function), args);
                }
                let mut all = Vec::new();
                for arg in args {
                    all.push(self.value(arg)?);
                }
                let rest = all.split_off(n);
                let result = self.function_body(&fun, &[], &all)?;
                self.call_with(&Callee::Value(result), &rest)
            }
            Callee::Builtin(name, ty, given) => {
                let mut all = given;
                all.extend(args);
                if all.len() < arity(&name) {
                    return self.as_value(Callee::Builtin(name, ty, all));
                }
                let rest = all.split_off(arity(&name));
                let result = self.builtin(&name, &ty, all)?;
                self.call(Callee::Value(result), rest)
            }
        }
    }

    /// A function as a value: nested functions of one parameter.
    pub(super) fn as_value(&mut self, callee: Callee) -> Made<Var> {
        match callee {
            Callee::Value(value) => Ok(value),
            Callee::Known(function, 1, given) if given.is_empty() => Ok(function),
            Callee::Known(function, n, given) => {
                let missing = n.saturating_sub(given.len());
                self.curry(
                    "partial",
                    missing,
                    given,
                    Box::new(move |this, args| {
                        let packed = this.pack(&args);
                        Ok(this.bind("r", Rhs::Apply(function, packed)))
                    }),
                )
            }
            Callee::Lambda(fun) => {
                let n = fun.params.len();
                self.curry("lambda", n, Vec::new(), Box::new(move |this, args| this.function_body(&fun, &[], &args)))
            }
            Callee::Builtin(name, ty, given) => {
                let missing = arity(&name).saturating_sub(given.len());
                if missing == 0 {
                    return self.builtin(&name, &ty, given);
                }
                // What is there already is computed outside.
                let label = name.to_string();
                self.curry(
                    &label,
                    missing,
                    Vec::new(),
                    Box::new(move |this, args| {
                        let mut all = given;
                        all.extend(args.into_iter().map(Arg::Var));
                        this.builtin(&name, &ty, all)
                    }),
                )
            }
        }
    }

    fn curry(&mut self, name: &str, missing: usize, args: Vec<Var>, write: Write<'_, 'a>) -> Made<Var> {
        if missing == 0 {
            return write(self, args);
        }
        self.lambda(name, |this, param| {
            let mut args = args;
            args.push(param);
            this.curry(name, missing - 1, args, write)
        })
    }
}
