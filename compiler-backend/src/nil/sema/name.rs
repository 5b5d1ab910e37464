//! What names stand for in expressions.

use pendula_isa::Ty;
use pendula_isa::table::TableFn;

use super::body::Body;
use super::singles::single;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::nil::ast::{self, Span};
use crate::nil::codes;
use crate::nil::types::{Type, is_single, log_number, number};
use crate::syntax::is_near;

/// The names of numeric constants.
fn named_number(name: &str) -> Option<Literal> {
    Some(match name {
        "π" | "pi" => Literal::Float(std::f64::consts::PI),
        "ℯ" => Literal::Float(std::f64::consts::E),
        "Inf" => Literal::Float(f64::INFINITY),
        "NaN" => Literal::Float(f64::NAN),
        _ => return None,
    })
}

impl Body<'_, '_> {
    /// The value of a name.
    pub(super) fn name(&mut self, name: &str, span: &Span) -> Done<Value> {
        if let Some(n) = self.scopes.find(name)
            && let Some(b) = self.scopes.get(n)
        {
            let (value, ended) = (b.value.clone(), b.ended.clone());
            if let Some(at) = ended {
                let file = self.file;
                let d = self.error(span, codes::ENDED, format!("`{name}` was deallocated before"));
                d.secondary.push(pendula_isa::diagnostic::Label {
                    place: pendula_isa::diagnostic::Place { file, span: at },
                    text: "here".into(),
                });
                d.help = Some("use it before, or deallocate it later".into());
                return Err(Stop);
            }
            return Ok(value);
        }
        if let Some(literal) = named_number(name) {
            return Ok(Value::Num(ScalarExpr::Lit(literal), None));
        }
        if name == "im" {
            return Ok(Value::Complex(ScalarExpr::Lit(Literal::Int(0)), ScalarExpr::Lit(Literal::Int(1)), None));
        }
        match self.types.get(name) {
            Some(Type::Function(value)) if is_single(value) => return Ok(single(value)),
            Some(t) => return Ok(Value::Type(t.clone())),
            None => {}
        }
        if name == "nothing" || name.starts_with(':') {
            return Ok(Value::Function(name.to_string()));
        }
        if let Some(name) = self.constant_name(name) {
            return self.constant(name, span);
        }
        if let Some(t) = log_number(name) {
            return Ok(Value::Type(t));
        }
        if let Some(ty) = number(name) {
            return Ok(Value::Type(Type::Num(ty)));
        }
        if name == "Bool" {
            return Ok(Value::Type(Type::Bool));
        }
        let own = self.known_as(name);
        if self.s.by_name.contains_key(&own) {
            return Ok(Value::Function(own));
        }
        if self.s.structs.get(name).is_some() {
            let e = ast::TypeExpr {
                name: ast::Name { text: name.to_string(), span: span.clone() },
                args: Vec::new(),
                span: span.clone(),
            };
            return self.type_expr(&e).map(Value::Type);
        }
        if matches!(name, "Tropical" | "TropicalNumber" | "TropicalF64") {
            return Ok(Value::Type(Type::Tropical(Ty::F)));
        }
        let defined = || [true, false].iter().any(|values| !self.s.defined(name, *values).is_empty());
        let host = self.s.hosts.contains_key(name) || super::builtin::is_composed(name);
        if host
            || super::instr::operands(name).is_some()
            || TableFn::ALL.iter().any(|f| f.info().name == name)
            || defined()
        {
            return Ok(Value::Function(name.to_string()));
        }
        // Its allocation had an error, which was reported.
        if self.failed.contains(name) {
            return Err(Stop);
        }
        let help = match self.similar(name) {
            _ if self.s.constants.contains_key(name) => format!(
                "the host gives `{name}` several values, and which one it has is not known here: make it an argument"
            ),
            Some(other) => format!("did you mean `{other}`?"),
            None => "allocate it first: `x ← 0`; or give it as an argument".to_string(),
        };
        self.fail(span, codes::UNKNOWN, format!("there is no `{name}` here"), help)
    }

    /// A similar name in scope.
    fn similar(&self, name: &str) -> Option<String> {
        let strip = |t: &str| t.trim_end_matches('!').to_lowercase();
        (0..self.scopes.len())
            .filter_map(|n| self.scopes.get(n))
            .filter(|b| b.ended.is_none())
            .find(|b| strip(&b.name) == strip(name) || is_near(name, &b.name))
            .map(|b| b.name.clone())
    }
}
