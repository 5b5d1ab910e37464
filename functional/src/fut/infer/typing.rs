//! Types as they are written.

use std::rc::Rc;

use pendula_isa::diagnostic::Diagnostic;

use super::{Frame, Infer, Inferred, TypeDef, What};
use crate::errors;
use crate::fut::lex::Name;
use crate::fut::syntax::{Ast, Exp, ExpId, Ident, Lit, Path, SizeExp, TypeArg, TypeExp, TypeParam};
use crate::fut::types::{
    BITS, Class, FLOATS, INTS, NUMBERS, Prim, SCALARS, Scheme, Size, Type, VarId, field_order, instance,
};

/// The class that a parameter's name means where the core's operators are declared.
pub(super) fn class_named(name: &str) -> Option<Class> {
    match name {
        "num" => Some(NUMBERS),
        "int" => Some(INTS),
        "float" => Some(FLOATS),
        "scalar" => Some(SCALARS),
        "bits" => Some(BITS),
        _ => None,
    }
}

pub(super) fn class_text(class: Class) -> String {
    match class {
        NUMBERS => "the number types".to_string(),
        INTS => "the integer types".to_string(),
        FLOATS => "the float types".to_string(),
        _ => {
            let names: Vec<&str> = Prim::all().filter(|p| class & p.bit() != 0).map(Prim::name).collect();
            format!("{{{}}}", names.join(", "))
        }
    }
}

impl Infer {
    pub(super) fn type_def(&mut self, ast: &Ast, params: &[TypeParam], is: &TypeExp) -> Inferred<TypeDef> {
        let begin = self.frames.len();
        self.unifier.level += 1;
        let (mut types, mut sizes, mut kinds) = (0, 0, Vec::new());
        for param in params {
            match param {
                TypeParam::Size(ident) => {
                    self.frames.push(Frame::Size(ident.name.clone(), Size::Gen(sizes)));
                    sizes += 1;
                    kinds.push(true);
                }
                TypeParam::Type(ident) => {
                    let def = TypeDef { types: 0, sizes: 0, kinds: Rc::default(), ty: Type::Gen(types) };
                    self.frames.push(Frame::Type(ident.name.clone(), def));
                    types += 1;
                    kinds.push(false);
                }
            }
        }
        let ty = self.type_exp(ast, is);
        self.frames.truncate(begin);
        self.unifier.level -= 1;
        Ok(TypeDef { types, sizes, kinds: Rc::new(kinds), ty: ty? })
    }

    pub(super) fn type_exp(&mut self, ast: &Ast, is: &TypeExp) -> Inferred<Type> {
        match is {
            TypeExp::Name(path) => self.named_type(ast, path, &[]),
            TypeExp::Apply(path, args) => self.named_type(ast, path, args),
            TypeExp::Array(size, of) => {
                let size = self.size_exp(ast, size)?;
                Ok(Type::array(size, self.type_exp(ast, of)?))
            }
            TypeExp::Tuple(parts) => {
                Ok(Type::tuple(parts.iter().map(|t| self.type_exp(ast, t)).collect::<Inferred<_>>()?))
            }
            TypeExp::Record(fields) => {
                let mut found: Vec<(Name, Type)> = Vec::new();
                for (name, ty) in fields {
                    if found.iter().any(|(n, _)| *n == name.name) {
                        return Err(Self::twice(name, "field"));
                    }
                    found.push((name.name.clone(), self.type_exp(ast, ty)?));
                }
                found.sort_by(|a, b| field_order(&a.0, &b.0));
                Ok(Type::Record(Rc::new(found)))
            }
            TypeExp::Sum(constrs) => {
                let mut found: Vec<(Name, Vec<Type>)> = Vec::new();
                for (name, args) in constrs {
                    if found.iter().any(|(n, _)| *n == name.name) {
                        return Err(Self::twice(name, "constructor"));
                    }
                    let args = args.iter().map(|t| self.type_exp(ast, t)).collect::<Inferred<_>>()?;
                    found.push((name.name.clone(), args));
                }
                found.sort_by(|a, b| a.0.cmp(&b.0));
                Ok(Type::Sum(Rc::new(found)))
            }
            TypeExp::Fun(param, from, to) => {
                let from = self.type_exp(ast, from)?;
                let Some(param) = param else { return Ok(Type::fun(from, self.type_exp(ast, to)?)) };
                let begin = self.frames.len();
                let var = self.size_param(param);
                let to = self.type_exp(ast, to);
                self.frames.truncate(begin);
                Ok(Type::Fun(Some(var), Rc::new((from, to?))))
            }
            TypeExp::Unique(of) => self.type_exp(ast, of),
            TypeExp::Exists(sizes, of) => {
                let begin = self.frames.len();
                for ident in sizes {
                    let any = self.unifier.fresh_size();
                    self.frames.push(Frame::Size(ident.name.clone(), any));
                }
                let ty = self.type_exp(ast, of);
                self.frames.truncate(begin);
                ty
            }
        }
    }

    pub(super) fn twice(name: &Ident, what: &str) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error(errors::FUT_TYPE, format!("the {what} `{}` stands twice in one type", name.name))
                .at(name.span.place(), "again")
                .help("give it another name"),
        )
    }

    fn named_type(&mut self, ast: &Ast, path: &Path, args: &[TypeArg]) -> Inferred<Type> {
        let [.., last] = path.as_slice() else {
            return Err(Box::new(Diagnostic::error(errors::FUT_NAME, "a name is missing")));
        };
        if path.len() == 1
            && args.is_empty()
            && let Some(prim) = Prim::named(&last.name)
        {
            return Ok(Type::Prim(prim));
        }
        let def = self.type_named(path)?;
        let mut types = Vec::new();
        let mut sizes = Vec::new();
        // `arr [n] t`: sizes and types in the order of the parameters.
        for arg in args {
            match arg {
                TypeArg::Size(size) => sizes.push(self.size_exp(ast, size)?),
                TypeArg::Type(ty) => types.push(self.type_exp(ast, ty)?),
            }
        }
        if types.len() != def.types as usize || sizes.len() != def.sizes as usize {
            let message = format!(
                "`{}` takes {} sizes and {} types, not {} and {}",
                last.name,
                def.sizes,
                def.types,
                sizes.len(),
                types.len()
            );
            let kinds: Vec<&str> = def.kinds.iter().map(|size| if *size { "[n]" } else { "t" }).collect();
            return Err(Box::new(
                Diagnostic::error(errors::FUT_TYPE, message)
                    .at(last.span.place(), "wrong number of arguments")
                    .help(format!("write it as `{} {}`", last.name, kinds.join(" ")).trim_end().to_string()),
            ));
        }
        let ty = instance(&self.unifier, &def.ty, &types, &sizes);
        // A size that the definition leaves open is open at each use.
        let mut open: Vec<(Size, Size)> = Vec::new();
        let unifier = &mut self.unifier;
        let mut renewed = Vec::new();
        let ty = {
            let frozen: &crate::fut::types::Unifier = unifier;
            frozen.map_sizes(&ty, &mut |size| {
                if let Size::Var(_) = size
                    && !sizes.contains(size)
                {
                    renewed.push(size.clone());
                }
                size.clone()
            })
        };
        for size in renewed {
            if !open.iter().any(|(s, _)| *s == size) {
                let fresh = unifier.fresh_size();
                open.push((size, fresh));
            }
        }
        Ok(unifier.map_sizes(&ty, &mut |size| {
            open.iter().find(|(s, _)| s == size).map_or_else(|| size.clone(), |(_, fresh)| fresh.clone())
        }))
    }

    pub(super) fn size_exp(&mut self, ast: &Ast, size: &SizeExp) -> Inferred<Size> {
        match size {
            SizeExp::Any => Ok(self.unifier.fresh_size()),
            SizeExp::Is(exp) => self.size_of_exp(ast, *exp, 0),
        }
    }

    fn size_of_exp(&mut self, ast: &Ast, exp: ExpId, depth: u32) -> Inferred<Size> {
        match ast.get(exp) {
            Exp::Lit(Lit::Int(n, _)) => Ok(Size::Const(i64::try_from(*n).unwrap_or(i64::MAX))),
            Exp::Path(path) => {
                if let [ident] = path.as_slice()
                    && let Some(size) = self.size_named(&ident.name)
                {
                    return Ok(size);
                }
                let (value, fields) = self.value_named(path)?;
                match value.what {
                    What::Local(var) | What::Def(var, _) if fields == 0 => {
                        let ty = self.unifier.instantiate(&value.scheme).0;
                        self.unify_at(&Type::I64, &ty, ast.span(exp))?;
                        Ok(Size::Name(var))
                    }
                    What::Local(_) | What::Def(..) | What::Builtin(_) => Ok(self.unifier.fresh_size()),
                }
            }
            Exp::Binary(operator, left, right) if depth < super::DEEPEST => {
                let left = self.size_of_exp(ast, *left, depth + 1)?;
                let right = self.size_of_exp(ast, *right, depth + 1)?;
                let name = operator.path.last().map_or("", |i| &*i.name);
                Ok(match name {
                    "+" => Size::Op('+', Rc::new((left, right))),
                    "-" => Size::Op('-', Rc::new((left, right))),
                    "*" => Size::Op('*', Rc::new((left, right))),
                    _ => self.unifier.fresh_size(),
                })
            }
            _ => {
                // Any expression is a size; what it is shows at run time. Its names and types are checked here.
                let (_, ty) = self.exp(ast, exp)?;
                self.unify_at(&Type::I64, &ty, ast.span(exp))?;
                Ok(self.unifier.fresh_size())
            }
        }
    }

    /// A type of a scheme with no parameters, for a variable.
    pub(super) fn local(&mut self, ident: &Ident, ty: &Type) -> VarId {
        let var = self.code.new_var(ident.name.clone(), ident.span, ty.clone());
        let value = super::Value { scheme: Rc::new(Scheme::of(ty.clone())), what: What::Local(var) };
        self.frames.push(Frame::Value(ident.name.clone(), value));
        var
    }
}
