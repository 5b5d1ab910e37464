//! Looking names up.

use std::rc::Rc;

use pendula_isa::diagnostic::Diagnostic;

use super::{Frame, Infer, Inferred, Scope, TypeDef, Value};
use crate::errors;
use crate::fut::lex::Name;
use crate::fut::syntax::{Ident, Path};
use crate::fut::types::Size;

/// What the first name of a path stands for.
enum First {
    Value(Value),
    Module(Rc<Scope>),
}

impl Frame {
    fn shown(&self) -> &Frame {
        match self {
            Frame::Hidden(frame) => frame.shown(),
            frame => frame,
        }
    }
}

impl Infer {
    fn first(&self, name: &Name) -> Option<First> {
        for frame in self.frames.iter().rev() {
            match frame.shown() {
                Frame::Value(n, value) if n == name => return Some(First::Value(value.clone())),
                Frame::Module(n, scope) if n == name => return Some(First::Module(scope.clone())),
                Frame::Open(scope, _) => {
                    if let Some(value) = scope.values.get(name) {
                        return Some(First::Value(value.clone()));
                    }
                    if let Some(module) = scope.modules.get(name) {
                        return Some(First::Module(module.clone()));
                    }
                }
                _ => {}
            }
        }
        None
    }

    pub(super) fn unknown(ident: &Ident, what: &str) -> Box<Diagnostic> {
        let error = Diagnostic::error(errors::FUT_NAME, format!("there is no {what} `{}`", ident.name))
            .at(ident.span.place(), "not defined here");
        let accumulators = ["acc", "scatter_stream", "hist_stream", "acc_write"];
        Box::new(if accumulators.contains(&&*ident.name) {
            error.help("accumulators are not read: use `scatter` or `reduce_by_index`")
        } else if &*ident.name == "f16" {
            error.help("numbers of 16 bits are not read: use `f32` or `f64`")
        } else {
            error.help("define it before, or import the file that does")
        })
    }

    /// The value that a path begins with, and how many of its names are fields of it.
    pub(super) fn value_named(&self, path: &Path) -> Inferred<(Value, usize)> {
        let [first, rest @ ..] = path.as_slice() else {
            return Err(Box::new(Diagnostic::error(errors::FUT_NAME, "a name is missing")));
        };
        let mut scope = match self.first(&first.name) {
            Some(First::Value(value)) => return Ok((value, rest.len())),
            Some(First::Module(scope)) => scope,
            None => return Err(Self::unknown(first, "value")),
        };
        for (n, ident) in rest.iter().enumerate() {
            if let Some(value) = scope.values.get(&ident.name) {
                return Ok((value.clone(), rest.len() - n - 1));
            }
            scope = scope.modules.get(&ident.name).cloned().ok_or_else(|| Self::unknown(ident, "value"))?;
        }
        Err(Box::new(
            Diagnostic::error(errors::FUT_NAME, format!("`{}` is a module, not a value", Self::path_text(path)))
                .at(first.span.place(), "a module")
                .help("name a member of it"),
        ))
    }

    pub(super) fn module_named(&self, path: &Path) -> Inferred<Rc<Scope>> {
        let [first, rest @ ..] = path.as_slice() else {
            return Err(Box::new(Diagnostic::error(errors::FUT_NAME, "a name is missing")));
        };
        let Some(First::Module(mut scope)) = self.first(&first.name) else {
            return Err(Self::unknown(first, "module"));
        };
        for ident in rest {
            scope = scope.modules.get(&ident.name).cloned().ok_or_else(|| Self::unknown(ident, "module"))?;
        }
        Ok(scope)
    }

    pub(super) fn type_named(&self, path: &Path) -> Inferred<TypeDef> {
        let Some((last, modules)) = path.split_last() else {
            return Err(Box::new(Diagnostic::error(errors::FUT_NAME, "a name is missing")));
        };
        if !modules.is_empty() {
            let scope = self.module_named(&modules.to_vec())?;
            return scope.types.get(&last.name).cloned().ok_or_else(|| Self::unknown(last, "type"));
        }
        for frame in self.frames.iter().rev() {
            match frame.shown() {
                Frame::Type(name, def) if *name == last.name => return Ok(def.clone()),
                Frame::Open(scope, _) => {
                    if let Some(def) = scope.types.get(&last.name) {
                        return Ok(def.clone());
                    }
                }
                _ => {}
            }
        }
        Err(Self::unknown(last, "type"))
    }

    /// The size that a name stands for, if it is one of a type's own.
    pub(super) fn size_named(&self, name: &Name) -> Option<Size> {
        for frame in self.frames.iter().rev() {
            match frame.shown() {
                Frame::Size(n, size) if n == name => return Some(size.clone()),
                Frame::Value(n, _) if n == name => return None,
                _ => {}
            }
        }
        None
    }
}
