//! Instructions and functions by definition: `y += f(a)` and `f(x, y, a)` become the instruction that the definition gives.

use std::sync::Arc;

use pendula_isa::extension::{Defines, Definition};
use pendula_isa::{Acc, Ty};

use super::assign::unchangeable;
use super::body::{Body, Sink};
use super::value::{ScalarExpr, Value};
use super::{Done, Facts, Stop, Written, accumulator};
use crate::ir::{FunctionId, IrFunction, Operand, Place, Stmt};
use crate::nil::ast::Span;
use crate::nil::codes;
use crate::nil::types::number_name;

/// The part of a mnemonic before its type.
fn stem(mnemonic: &str) -> &str {
    mnemonic.split('.').next().unwrap_or(mnemonic)
}

impl super::Sema<'_> {
    /// The function whose calls become the instruction of this definition; of a function, of the sum with it by this accumulator.
    fn extension(&mut self, definition: &Arc<Definition>, acc: Acc) -> Result<FunctionId, crate::ir::NotCallable> {
        if let Some(known) = self.extensions.get(&(Arc::clone(definition), acc)) {
            return Ok(*known);
        }
        let function = IrFunction::of_definition(definition, acc, crate::ir::Loc::default())?;
        let id = FunctionId(self.program.functions.len() as u32);
        let written = Written { params: function.params.iter().map(|p| p.written).collect(), regions: Vec::new() };
        self.program.functions.push(function);
        self.facts.push(Facts { done: true, ..Facts::default() });
        self.written.push(written.clone());
        self.direct_writes.push(written);
        self.extensions.insert((Arc::clone(definition), acc), id);
        Ok(id)
    }

    /// The definitions that give values, or those that give instructions, of this name, each with whether the name is that of the inverse.
    pub(super) fn defined(&self, name: &str, values: bool) -> Vec<(Arc<Definition>, bool)> {
        let each = self.settings.extensions.iter().filter(|d| d.is_function() == values);
        each.filter_map(|definition| match &definition.defines {
            _ if stem(&definition.name) == name => Some((Arc::clone(definition), false)),
            Defines::Instruction { partner: Some(partner) } if stem(partner) == name => {
                Some((Arc::clone(definition), true))
            }
            _ => None,
        })
        .collect()
    }
}

/// What a definition takes, as it is called.
fn signature(definition: &Definition) -> String {
    let types: Vec<&str> = definition.parameters.iter().map(|p| number_name(p.ty)).collect();
    format!("`{}({})`", stem(&definition.name), types.join(", "))
}

/// How well a value fits a parameter: 2 as it is, 1 if it is converted; `None` if it does not.
fn fits(value: &Value, ty: Ty) -> Option<u32> {
    match value {
        Value::Num(_, Some(own)) if *own == ty => Some(2),
        Value::Bool(_) if ty == Ty::Int => Some(2),
        Value::Num(ScalarExpr::Lit(super::value::Literal::Int(_)), None) => Some(2),
        Value::Num(_, None) if ty != Ty::Int => Some(2),
        Value::Num(_, Some(Ty::Int)) | Value::Bool(_) if ty != Ty::Int => Some(1),
        _ => None,
    }
}

impl Body<'_, '_> {
    /// The definition for these values; of several that fit, the one that converts least.
    fn definition_for(
        &mut self,
        name: &str,
        all: &[(Arc<Definition>, bool)],
        values: &[Value],
        span: &Span,
    ) -> Done<(Arc<Definition>, bool)> {
        let expected = self.expected_type;
        let rank = |definition: &Definition| {
            let parameters = &definition.parameters;
            if parameters.len() != values.len() {
                return None;
            }
            let each = values.iter().zip(parameters).map(|(v, p)| {
                // A register that changes is of the type itself, and no truth value.
                fits(v, p.ty).filter(|how| !p.written || *how == 2 && !matches!(v, Value::Bool(_)))
            });
            let sum = each.sum::<Option<u32>>()?;
            let wanted = match &definition.defines {
                Defines::Function { ty, .. } => Some(*ty) == expected,
                Defines::Instruction { .. } => false,
            };
            // The arguments decide; where they are literals, what the value is for.
            Some((sum, wanted))
        };
        let best = all.iter().filter_map(|one| Some((rank(&one.0)?, one))).max_by_key(|(rank, _)| *rank);
        if let Some((_, one)) = best {
            return Ok(one.clone());
        }
        let found: Vec<String> = values.iter().map(Value::describe).collect();
        let known: Vec<String> = all.iter().map(|(definition, _)| signature(definition)).collect();
        let message = format!("`{name}` is not defined for ({})", found.join(", "));
        self.fail(span, codes::METHOD, message, format!("its definitions take {}", known.join(" and ")))
    }

    /// The function of the program for a definition.
    fn extension(&mut self, definition: &Arc<Definition>, acc: Acc, span: &Span) -> Done<FunctionId> {
        match self.s.extension(definition, acc) {
            Ok(id) => Ok(id),
            Err(why) => {
                let message = format!("`{}` cannot be called here: {why}", stem(&definition.name));
                self.fail(span, codes::FUNCTION, message, "use it in assembly")
            }
        }
    }

    /// The value of a function by definition; `None` if there is none of this name.
    pub(super) fn defined_value(&mut self, name: &str, args: &[Value], span: &Span) -> Done<Option<Value>> {
        let all = self.s.defined(name, true);
        if all.is_empty() {
            if let Some((definition, _)) = self.s.defined(name, false).first() {
                let message = format!("`{name}` is an instruction, and has no value");
                let help = format!("call it as a statement: {}", signature(definition));
                return self.fail(span, codes::FUNCTION, message, help);
            }
            return Ok(None);
        }
        let (definition, _) = self.definition_for(name, &all, args, span)?;
        let Defines::Function { ty, .. } = definition.defines else { return Err(Stop) };
        let expected = std::mem::take(&mut self.expected_type);
        let mut parts = Vec::new();
        for (value, parameter) in args.iter().zip(&definition.parameters) {
            parts.push(self.number_as(value.clone(), parameter.ty, span)?);
        }
        self.expected_type = expected;
        Ok(Some(Value::Num(ScalarExpr::Defined(definition, parts), Some(ty))))
    }

    /// `dst ⊕= f(args…)` for a function by definition.
    pub(super) fn accumulate_defined(
        &mut self,
        sink: Sink,
        dst: Place,
        (acc, inverse): (Acc, bool),
        definition: &Arc<Definition>,
        args: Vec<ScalarExpr>,
    ) -> Done<()> {
        let span = 0..0;
        let func = self.extension(definition, acc, &span)?;
        let mut words = vec![Operand::from(dst)];
        for (arg, parameter) in args.into_iter().zip(&definition.parameters) {
            words.push(self.put(parameter.ty, arg)?);
        }
        self.emit_extension(sink, func, inverse && !acc.self_inverse(), words, 1);
        Ok(())
    }

    fn emit_extension(&mut self, sink: Sink, func: FunctionId, inverse: bool, args: Vec<Operand>, written: usize) {
        if sink == Sink::Pre {
            if args.iter().any(|a| matches!(a, Operand::Mem(_))) {
                self.flush_asserts();
            }
            self.now.reads.extend(args.iter().skip(written).filter_map(|a| match a {
                Operand::Const(_) => None,
                Operand::Var(v) => Some(Place::Var(*v)),
                Operand::Mem(m) => Some(Place::Mem(*m)),
            }));
        }
        self.emit(sink, Stmt::Call { func, inverse, args });
    }

    /// `f(x, a)` for an instruction by definition. Gives whether there is one of this name.
    pub(super) fn defined_stmt(
        &mut self,
        name: &str,
        inverse: bool,
        values: &[Value],
        spans: &[Span],
        span: &Span,
    ) -> Done<bool> {
        let all = self.s.defined(name, false);
        if all.is_empty() {
            return Ok(false);
        }
        let (definition, partner) = self.definition_for(name, &all, values, span)?;
        let func = self.extension(&definition, accumulator(Ty::Int), span)?;
        let mut places = Vec::new();
        let mut changed = Vec::new();
        for ((value, parameter), at) in values.iter().zip(&definition.parameters).zip(spans) {
            if !parameter.written {
                continue;
            }
            let Some(all) = self.targets(value) else {
                let help = "give a variable, an element or a field";
                return self.fail(at, codes::NOT_ASSIGNABLE, unchangeable(value), help);
            };
            all.iter().try_for_each(|p| self.writable(*p, span))?;
            places.extend(all);
            changed.push(self.plain(value.clone(), name, at)?);
        }
        self.keep_all_apart(&places, span)?;
        let (mut args, mut changed) = (Vec::new(), changed.into_iter());
        for ((value, parameter), at) in values.iter().zip(&definition.parameters).zip(spans) {
            if parameter.written {
                match changed.next() {
                    Some(Value::Num(ScalarExpr::Place(p), _) | Value::Bool(ScalarExpr::Place(p))) => {
                        args.push(p.into())
                    }
                    _ => return self.fail(at, codes::NOT_ASSIGNABLE, unchangeable(value), "give a variable"),
                }
                continue;
            }
            let x = self.number_as(value.clone(), parameter.ty, at)?;
            x.places(&mut |p| self.now.reads.push(p));
            args.push(self.put(parameter.ty, x)?);
        }
        let reads = self.now.reads.clone();
        self.keep_apart(&places, &reads, span)?;
        let inverse = (inverse != partner) && matches!(&definition.defines, Defines::Instruction { partner: Some(_) });
        let written = places.len();
        self.emit_extension(Sink::Out, func, inverse, args, written);
        Ok(true)
    }
}
