//! Instances of functions: a definition that is compiled for argument types, and the variables of its parameters.

use std::collections::HashMap;

use pendula_isa::Ty;

use super::array::value_of;
use super::body::{Body, Statement};
use super::scope::{Kind, Scopes};
use super::value::{Dim, Product, ScalarExpr, Value, View};
use super::{ArgKey, CallRecord, Done, Facts, ParamFacts, Written};
use crate::ir::{self, FunctionId, Operand, Param, Place, Var};
use crate::nil::ast::{self, AssignOp, Span};
use crate::nil::codes;
use crate::nil::types::{Layout, Type};

/// The maximum nesting of calls that compile new instances.
const DEPTH: usize = 200;

impl<'a> Body<'_, 'a> {
    /// Compiles a definition for a set of argument types, in a call.
    pub(super) fn instance(
        &mut self,
        n: usize,
        key: Vec<ArgKey>,
        types: Vec<Type>,
        keywords: Vec<(String, Value)>,
        bound: HashMap<String, Type>,
        (classes, span): (Vec<usize>, &Span),
    ) -> Done<FunctionId> {
        if self.s.depth >= DEPTH {
            let help = "a function that calls itself must do so with the same types; of a chain of functions, let one call several";
            let message = format!("functions that are compiled for this call are nested more than {DEPTH} deep");
            return self.fail(span, codes::METHOD, message, help);
        }
        self.s.depth += 1;
        let fun = self.s.compile(n, key, types, keywords, (bound, classes));
        self.s.depth -= 1;
        Ok(fun)
    }
}

impl<'a> super::Sema<'a> {
    /// The number that an expression of constants is. Its errors are reported.
    pub(super) fn known_number(&mut self, file: u16, e: &ast::Expr) -> Option<Value> {
        let f = ir::IrFunction::new(String::new(), self.loc(file, &e.span));
        let mut body = Body::new(self, file, FunctionId(0), f, HashMap::new());
        let (x, ty) = match body.eval(e).ok()? {
            Value::Num(x, ty) => (x, ty),
            v @ (Value::Bool(ScalarExpr::Const(_)) | Value::Function(_)) => return Some(v),
            _ => return None,
        };
        let ty = ty.unwrap_or(Ty::F);
        let x = body.typed(x, ty, &e.span).ok()?;
        match body.fold(x) {
            x @ (ScalarExpr::Lit(_) | ScalarExpr::Const(_)) => Some(Value::Num(x, Some(ty))),
            _ => None,
        }
    }

    /// Compiles a definition for argument types; the types of keywords that are no literals come last.
    pub(super) fn compile(
        &mut self,
        n: usize,
        key: Vec<ArgKey>,
        types: Vec<Type>,
        keywords: Vec<(String, Value)>,
        (bound, classes): (HashMap<String, Type>, Vec<usize>),
    ) -> FunctionId {
        let (definition, file) = (self.definitions[n].ast, self.definitions[n].file);
        let fun = FunctionId(self.program.functions.len() as u32);
        self.instances.insert((n, key), fun);
        self.compiled.insert(n);
        let loc = self.loc(file, &definition.name.span);
        let name = self.unique_name(definition);
        let f = ir::IrFunction { inline: definition.inline, ..ir::IrFunction::new(name, loc) };
        self.program.functions.push(f.clone());
        self.facts.push(Facts::default());
        self.written.push(Written::default());
        self.direct_writes.push(Written::default());
        let first_call = self.calls.len();
        let mut body = Body::new(self, file, fun, f.clone(), bound);
        (body.classes, body.scope) = (classes, &definition.scope);
        let mut params = Vec::new();
        body.scopes.open();
        for (param, ty) in definition.params.iter().zip(types) {
            let (value, facts) = body.parameter(&param.name.text, &ty);
            params.push(facts);
            body.note(&param.name.text, &value);
            body.parameters.push((param.name.clone(), value.clone()));
            body.scopes.add(&param.name.text, value, Kind::Param, &param.name.span);
        }
        let rest = definition.keywords.last().filter(|k| k.rest);
        if let Some(k) = rest {
            body.scopes.add(&k.name.text, Value::Tuple(Vec::new()), Kind::Alias, &k.name.span);
        }
        let declared = definition.keywords.iter().filter(|k| !k.rest).chain(rest.into_iter().cycle());
        for ((name, value), k) in keywords.into_iter().zip(declared) {
            let value = match value {
                v @ (Value::Num(ScalarExpr::Lit(_) | ScalarExpr::Const(_), _)
                | Value::Bool(ScalarExpr::Const(_))
                | Value::Function(_)) => v,
                other => {
                    let ty = other.type_of().unwrap_or(Type::Num(Ty::F));
                    let (value, facts) = body.parameter(&name, &ty);
                    params.push(facts);
                    value
                }
            };
            body.note(&name, &value);
            body.scopes.add(&name, value, Kind::Param, &k.name.span);
        }
        let count = body.f.params.len();
        body.s.facts[fun.0 as usize].params = params;
        body.s.program.functions[fun.0 as usize].params = body.f.params.clone();
        // The results so far are needed for recursive calls.
        body.s.written[fun.0 as usize] =
            Written { params: vec![false; count], regions: vec![false; body.f.regions.len()] };
        body.function_body(&definition.body);
        let f = std::mem::replace(&mut body.f, f);
        self.written[fun.0 as usize] = super::places::written(&f, &self.direct_writes);
        self.direct_writes[fun.0 as usize].clone_from(&self.written[fun.0 as usize]);
        self.program.functions[fun.0 as usize] = f;
        let by_this_function = |c: &CallRecord| c.caller == fun;
        loop {
            let mut new = false;
            for k in first_call..self.calls.len() {
                if by_this_function(&self.calls[k]) {
                    new |= self.propagate_call_writes(k);
                }
            }
            if !new {
                break;
            }
        }
        self.facts[fun.0 as usize].done = true;
        fun
    }

    fn unique_name(&mut self, f: &ast::Function) -> String {
        let base_name = match f.instruction {
            None => f.name.text.clone(),
            Some(op) => {
                let prefix = match op {
                    AssignOp::Add => "plus",
                    AssignOp::Sub => "minus",
                    AssignOp::Xor => "xor",
                    AssignOp::Mul => "times",
                    AssignOp::Div => "over",
                };
                let name: String = f
                    .name
                    .text
                    .chars()
                    .map(|c| if c.is_alphanumeric() || c == '_' || c == '!' { c } else { '_' })
                    .collect();
                format!("{prefix}.{name}")
            }
        };
        let base_name = if pendula_isa::Reg::parse(&base_name).is_some() || base_name == "main" {
            format!("{base_name}_")
        } else {
            base_name
        };
        let count = self.name_counts.entry(base_name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { base_name } else { format!("{base_name}.{count}") }
    }
}

impl Body<'_, '_> {
    /// The variables of a parameter.
    fn parameter(&mut self, name: &str, ty: &Type) -> (Value, ParamFacts) {
        let first = self.f.params.len();
        let mut regions = Vec::new();
        let value = self.parameter_part(name, ty, &mut regions);
        (value, ParamFacts { name: name.to_string(), words: first..self.f.params.len(), regions })
    }

    fn parameter_part(&mut self, name: &str, ty: &Type, regions: &mut Vec<ir::Region>) -> Value {
        match ty {
            Type::Array { element, .. } if element.words().is_none() => {
                let leaves = element.stacked(name).unwrap_or_default();
                let parts = leaves.iter().map(|(name, ty)| self.parameter_part(name, ty, regions));
                let views = parts.filter_map(|part| if let Value::Array(view) = part { Some(view) } else { None });
                let views = views.collect();
                Value::Stacked((**element).clone(), views)
            }
            Type::Array { element, dims, layout } => {
                let base = self.parameter_word(name, Ty::Int);
                self.fixed.insert(base);
                let ty = element.word_types().first().copied().unwrap_or(Ty::Int);
                let nth = self.param_regions.len();
                let same = self
                    .classes
                    .get(nth)
                    .filter(|class| **class < nth)
                    .and_then(|class| self.param_regions.get(*class));
                let region = match same {
                    Some(region) => *region,
                    None => self.region(name, ty),
                };
                self.f.vars[base.0 as usize].points = Some(region);
                self.param_regions.push(region);
                regions.push(region);
                let lens: Vec<Var> =
                    (1..=*dims).map(|k| self.parameter_word(&format!("{name}.len{k}"), Ty::Int)).collect();
                let strides: Vec<Var> = (1..=*dims)
                    .filter(|_| *layout == Layout::Strided)
                    .map(|k| self.parameter_word(&format!("{name}.stride{k}"), Ty::Int))
                    .collect();
                // The length of a vector that grows is changed.
                let room = (*layout == Layout::Growing).then(|| self.parameter_word(&format!("{name}.room"), Ty::Int));
                if room.is_none() {
                    self.fixed.extend(&lens);
                }
                self.fixed.extend(strides.iter().chain(&room));
                let mut without_gaps = Product::number(element.words().unwrap_or(1));
                let mut dim = |(k, len): (usize, &Var)| {
                    let len = Operand::Var(*len);
                    let next = without_gaps.times(&Product::operand(len));
                    let stride = std::mem::replace(&mut without_gaps, next);
                    let stride = strides.get(k).map_or(stride, |s| Product::operand(Operand::Var(*s)));
                    Dim { len, stride }
                };
                let mut in_order: Vec<(usize, &Var)> = lens.iter().enumerate().collect();
                if *layout == Layout::Rows {
                    in_order.reverse();
                }
                let mut dims: Vec<Dim> = in_order.into_iter().map(&mut dim).collect();
                if *layout == Layout::Rows {
                    dims.reverse();
                }
                let (element, room) = ((**element).clone(), room.map(Operand::Var));
                let keyed = *layout == Layout::Keyed;
                Value::Array(View { base, terms: Vec::new(), offset: 0, dims, element, region, room, keyed })
            }
            Type::Struct(s) => {
                let parts =
                    s.fields.iter().map(|(f, t)| self.parameter_part(&format!("{name}.{f}"), t, regions)).collect();
                Value::Struct(std::rc::Rc::clone(s), parts)
            }
            Type::Tuple(parts) => Value::Tuple(
                parts
                    .iter()
                    .enumerate()
                    .map(|(n, t)| self.parameter_part(&format!("{name}.{}", n + 1), t, regions))
                    .collect(),
            ),
            Type::Function(f) => Value::Function(f.clone()),
            Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } => {
                let names = crate::nil::types::part_names(name, ty);
                let words: Vec<Var> =
                    names.iter().zip(ty.word_types()).map(|(n, t)| self.parameter_word(n, t)).collect();
                let mut places = words.into_iter().map(Place::Var);
                value_of(ty, &mut places).unwrap_or_else(|| Value::Tuple(Vec::new()))
            }
        }
    }

    fn parameter_word(&mut self, name: &str, ty: Ty) -> Var {
        let var = self.fresh(name, ty);
        self.f.params.push(Param { var, written: false });
        var
    }

    fn new<'s, 'a>(
        s: &'s mut super::Sema<'a>,
        file: u16,
        fun: FunctionId,
        f: ir::IrFunction,
        types: HashMap<String, Type>,
    ) -> Body<'s, 'a> {
        let loc = f.loc;
        let failed = s.inputs.get(file as usize).map(|i| i.tree.faulty.iter().cloned().collect()).unwrap_or_default();
        Body {
            s,
            file,
            fun,
            f,
            types,
            scopes: Scopes::default(),
            now: Statement::default(),
            classes: Vec::new(),
            param_regions: Vec::new(),
            shape: Vec::new(),
            loc,
            checks: true,
            bounds: true,
            blocks: false,
            expected_type: None,
            expected_log: None,
            mixed: false,
            words: false,
            arrays: Vec::new(),
            deferred: Vec::new(),
            points: None,
            part: None,
            fixed: Default::default(),
            own_lengths: Default::default(),
            totals: HashMap::new(),
            failed,
            loops: Vec::new(),
            parameters: Vec::new(),
            emptied: false,
            stack: 0,
            within: 0,
            scope: &[],
            routines: Vec::new(),
        }
    }
}
