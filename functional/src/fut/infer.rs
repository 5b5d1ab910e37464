//! Names and types: from the syntax tree to [`Code`].

use std::rc::Rc;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

use super::code::{Body, Code, Def, Fun, Id, Node};
use super::lex::Name;
use super::syntax::{Ast, Dec, Exp, Function, Ident, ModExp, Path, Span, TypeExp, TypeParam};
use super::types::{Mismatch, Scheme, Size, Type, Unifier, VarId, advice, text, texts};
use crate::errors;

mod exps;
mod forms;
mod names;
mod patterns;
mod typing;

/// How deep the arithmetic in a size may be nested to be followed.
const DEEPEST: u32 = 20;

pub(super) type Inferred<T> = Result<T, Box<Diagnostic>>;

/// What a name stands for among values.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) scheme: Rc<Scheme>,
    pub(super) what: What,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A parameter or a binding.
    Local(VarId),
    /// A definition, with the sizes that are its arguments.
    Def(VarId, Rc<Vec<usize>>),
    /// Something that the core provides.
    Builtin(Name),
}

/// A type with a name.
#[derive(Clone, Debug)]
pub(super) struct TypeDef {
    types: u32,
    sizes: u32,
    /// Which parameters are sizes, in order.
    kinds: Rc<Vec<bool>>,
    ty: Type,
}

/// The members of a module.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) values: FxHashMap<Name, Value>,
    pub(super) types: FxHashMap<Name, TypeDef>,
    pub(super) modules: FxHashMap<Name, Rc<Scope>>,
}

/// What is in scope, the last first.
#[derive(Clone, Debug)]
enum Frame {
    Value(Name, Value),
    Type(Name, TypeDef),
    Size(Name, Size),
    Module(Name, Rc<Scope>),
    /// All of a module's members; `true` if they belong to the module around, too.
    Open(Rc<Scope>, bool),
    /// What stands before belongs to no module around.
    Hidden(Box<Frame>),
}

/// Gives the text of an imported file: its scope and what it needs.
pub(super) type Import<'a> = dyn FnMut(&mut Infer, &str, Span) -> Inferred<Rc<Scope>> + 'a;

/// The state of inference.
pub(super) struct Infer {
    pub(super) code: Code,
    pub(super) unifier: Unifier,
    pub(super) errors: Vec<Diagnostic>,
    frames: Vec<Frame>,
    rigid: u32,
    /// The definition that is inferred, and whether it speaks of itself.
    own: Option<(VarId, bool)>,
    /// What a type may be made of.
    pub(super) budget: Budget,
    /// Whether `val` may declare what the core provides.
    pub(super) builtins: bool,
}

impl Infer {
    pub(super) fn new(budget: Budget) -> Infer {
        Infer {
            code: Code::default(),
            unifier: Unifier::default(),
            errors: Vec::new(),
            frames: Vec::new(),
            rigid: 0,
            own: None,
            budget,
            builtins: false,
        }
    }

    /// Infers declarations as a module of its own, with `outer` open before it.
    pub(super) fn file(&mut self, ast: &Ast, decs: &[Dec], outer: &[Rc<Scope>], import: &mut Import) -> Rc<Scope> {
        let before = std::mem::take(&mut self.frames);
        self.frames.extend(outer.iter().map(|scope| Frame::Open(scope.clone(), false)));
        let scope = self.module(ast, decs, import);
        self.frames = before;
        scope
    }

    /// Infers the declarations of a module and gives its members.
    fn module(&mut self, ast: &Ast, decs: &[Dec], import: &mut Import) -> Rc<Scope> {
        let begin = self.frames.len();
        for dec in decs {
            if let Err(error) = self.dec(ast, dec, import) {
                self.errors.push(*error);
            }
        }
        let mut scope = Scope::default();
        for frame in self.frames.split_off(begin) {
            match frame {
                Frame::Value(name, value) => {
                    scope.values.insert(name, value);
                }
                Frame::Type(name, def) => {
                    scope.types.insert(name, def);
                }
                Frame::Module(name, module) => {
                    scope.modules.insert(name, module);
                }
                Frame::Open(opened, true) => {
                    scope.values.extend(opened.values.iter().map(|(n, v)| (n.clone(), v.clone())));
                    scope.types.extend(opened.types.iter().map(|(n, v)| (n.clone(), v.clone())));
                    scope.modules.extend(opened.modules.iter().map(|(n, v)| (n.clone(), v.clone())));
                }
                Frame::Open(_, false) | Frame::Hidden(_) | Frame::Size(..) => {}
            }
        }
        Rc::new(scope)
    }

    fn dec(&mut self, ast: &Ast, dec: &Dec, import: &mut Import) -> Inferred<()> {
        match dec {
            Dec::Def { name, entry, function } => self.def(ast, name, *entry, function),
            Dec::Val { name, params, is } => self.val(ast, name, params, is),
            Dec::Type { name, params, is } => {
                let def = self.type_def(ast, params, is)?;
                self.small(&def.ty, name.span)?;
                self.frames.push(Frame::Type(name.name.clone(), def));
                Ok(())
            }
            Dec::Module { name, is } => {
                let scope = self.mod_exp(ast, is, import)?;
                self.frames.push(Frame::Module(name.name.clone(), scope));
                Ok(())
            }
            Dec::Open(is) => {
                let scope = self.mod_exp(ast, is, import)?;
                self.frames.push(Frame::Open(scope, true));
                Ok(())
            }
            Dec::Import(name, span) => {
                let scope = import(self, name, *span)?;
                self.frames.push(Frame::Open(scope, false));
                Ok(())
            }
            Dec::Local(dec) => {
                let begin = self.frames.len();
                self.dec(ast, dec, import)?;
                for frame in &mut self.frames[begin..] {
                    *frame = Frame::Hidden(Box::new(frame.clone()));
                }
                Ok(())
            }
        }
    }

    fn mod_exp(&mut self, ast: &Ast, is: &ModExp, import: &mut Import) -> Inferred<Rc<Scope>> {
        match is {
            ModExp::Decs(decs) => Ok(self.module(ast, decs, import)),
            ModExp::Import(name, span) => import(self, name, *span),
            ModExp::Path(path) => self.module_named(path),
        }
    }

    /// Declares what the core provides.
    fn val(&mut self, ast: &Ast, name: &Ident, params: &[TypeParam], is: &TypeExp) -> Inferred<()> {
        if !self.builtins {
            return Err(Box::new(
                Diagnostic::error(errors::FUT_UNREAD, "`val` is not read outside module types")
                    .at(name.span.place(), "declared without a definition")
                    .help("define it with `def`"),
            ));
        }
        let begin = self.frames.len();
        self.unifier.level += 1;
        let (mut rigid, mut classes, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for param in params {
            match param {
                TypeParam::Size(ident) => sizes.push(self.size_param(ident)),
                TypeParam::Type(ident) => {
                    rigid.push(self.type_param(ident));
                    classes.push(typing::class_named(&ident.name));
                }
            }
        }
        let ty = self.type_exp(ast, is)?;
        self.frames.truncate(begin);
        self.unifier.level -= 1;
        let mut scheme = self.unifier.generalise(&ty, &rigid, &sizes);
        // One class at most stands in each of these types, as their first parameter.
        if let (Some(Some(class)), Some(first)) = (classes.first(), scheme.types.first_mut()) {
            *first = Some(*class);
        }
        let value = Value { scheme: Rc::new(scheme), what: What::Builtin(name.name.clone()) };
        self.frames.push(Frame::Value(name.name.clone(), value));
        Ok(())
    }

    /// A definition at the top of a module.
    fn def(&mut self, ast: &Ast, name: &Ident, entry: bool, function: &Function) -> Inferred<()> {
        if !entry && let Some(value) = self.alias(ast, function)? {
            self.frames.push(Frame::Value(name.name.clone(), value));
            return Ok(());
        }
        let (begin, first) = (self.frames.len(), self.unifier.count());
        self.unifier.level += 1;
        let found = self.def_body(ast, name, function);
        let defaulted = self.unifier.default_from(first);
        self.unifier.level -= 1;
        self.frames.truncate(begin);
        let found = match (found, defaulted) {
            (Ok(found), Ok(())) => Ok(found),
            (Err(error), _) => Err(error),
            (_, Err((_, field))) => Err(Box::new(
                Diagnostic::error(errors::FUT_TYPE, format!("of which record `{field}` is a field is not known"))
                    .at(name.span.place(), "in this definition")
                    .help("write the type of the parameter or binding"),
            )),
        };
        match found {
            Ok((var, ty, body, recursive, rigid)) => {
                let named: &[VarId] = if let Body::Function(fun) = &body { &fun.sizes } else { &[] };
                let scheme = self.unifier.generalise(&ty, &rigid, named);
                let implicit = self.implicit(&body);
                let places = Rc::new(implicit.iter().map(|(n, _)| *n).collect::<Vec<_>>());
                if entry || &*name.name == "main" {
                    self.code.entries.push((name.name.clone(), var, name.span));
                }
                let value = Value { scheme: Rc::new(scheme.clone()), what: What::Def(var, places) };
                self.code.defs.push(Def { var, body, scheme, implicit, recursive });
                self.frames.push(Frame::Value(name.name.clone(), value));
                Ok(())
            }
            Err(error) => {
                // So that what uses it is not reported again.
                let scheme = Scheme { types: vec![None], sizes: 0, ty: Type::Gen(0) };
                let var = self.code.new_var(name.name.clone(), name.span, Type::Gen(0));
                let value = Value { scheme: Rc::new(scheme), what: What::Def(var, Rc::default()) };
                self.frames.push(Frame::Value(name.name.clone(), value));
                Err(error)
            }
        }
    }

    #[allow(clippy::type_complexity)]
    fn def_body(
        &mut self,
        ast: &Ast,
        name: &Ident,
        function: &Function,
    ) -> Inferred<(VarId, Type, Body, bool, Vec<u32>)> {
        let ty = self.unifier.fresh();
        let var = self.code.new_var(name.name.clone(), name.span, ty.clone());
        if function.params.is_empty() {
            let mut rigid = Vec::new();
            let mut sizes = Vec::new();
            self.type_params(&function.type_params, &mut rigid, &mut sizes);
            let (body, found) = self.exp(ast, function.body)?;
            if let Some(result) = &function.result {
                let result = self.type_exp(ast, result)?;
                self.unify_at(&result, &found, ast.span(function.body))?;
            }
            self.unify_at(&ty, &found, name.span)?;
            // With sizes it is computed for each of them.
            let body = if sizes.is_empty() {
                Body::Value(body)
            } else {
                Body::Function(Fun { sizes, params: Vec::new(), body })
            };
            return Ok((var, ty, body, false, rigid));
        }
        let own = Value { scheme: Rc::new(Scheme::of(ty.clone())), what: What::Local(var) };
        self.frames.push(Frame::Value(name.name.clone(), own));
        let outer = self.own.replace((var, false));
        let found = self.function(ast, function);
        let recursive = std::mem::replace(&mut self.own, outer).is_some_and(|(_, yes)| yes);
        let (fun, found, rigid) = found?;
        self.unify_at(&ty, &found, name.span)?;
        Ok((var, found, Body::Function(fun), recursive, rigid))
    }

    /// Another name for what the core provides, perhaps at one type.
    fn alias(&mut self, ast: &Ast, function: &Function) -> Inferred<Option<Value>> {
        if !function.params.is_empty() || !function.type_params.is_empty() {
            return Ok(None);
        }
        let path = match ast.get(function.body) {
            Exp::Path(path) => path,
            Exp::Section(operator) => &operator.path,
            _ => return Ok(None),
        };
        let Ok((value, 0)) = self.value_named(path) else { return Ok(None) };
        let What::Builtin(_) = value.what else { return Ok(None) };
        let Some(result) = &function.result else { return Ok(Some(value)) };
        self.unifier.level += 1;
        let result = self.type_exp(ast, result)?;
        let (found, _) = self.unifier.instantiate(&value.scheme);
        self.unify_at(&result, &found, ast.span(function.body))?;
        self.unifier.level -= 1;
        let scheme = self.unifier.generalise(&found, &[], &[]);
        Ok(Some(Value { scheme: Rc::new(scheme), what: value.what }))
    }

    fn size_param(&mut self, ident: &Ident) -> VarId {
        let var = self.code.new_var(ident.name.clone(), ident.span, Type::I64);
        let value = Value { scheme: Rc::new(Scheme::of(Type::I64)), what: What::Local(var) };
        self.frames.push(Frame::Value(ident.name.clone(), value));
        var
    }

    fn type_param(&mut self, ident: &Ident) -> u32 {
        self.rigid += 1;
        let ty = Type::Rigid(self.rigid, ident.name.clone());
        let def = TypeDef { types: 0, sizes: 0, kinds: Rc::default(), ty };
        self.frames.push(Frame::Type(ident.name.clone(), def));
        self.rigid
    }

    fn type_params(&mut self, params: &[TypeParam], rigid: &mut Vec<u32>, sizes: &mut Vec<VarId>) {
        for param in params {
            match param {
                TypeParam::Size(ident) => sizes.push(self.size_param(ident)),
                TypeParam::Type(ident) => rigid.push(self.type_param(ident)),
            }
        }
    }

    /// A function with parameters; what it binds is out of scope again afterwards.
    fn function(&mut self, ast: &Ast, function: &Function) -> Inferred<(Fun, Type, Vec<u32>)> {
        let begin = self.frames.len();
        let (mut rigid, mut sizes) = (Vec::new(), Vec::new());
        self.type_params(&function.type_params, &mut rigid, &mut sizes);
        let mut params = Vec::new();
        for pat in &function.params {
            params.push(self.pattern(ast, pat)?);
        }
        let result = function.result.as_ref().map(|result| self.type_exp(ast, result)).transpose()?;
        let (body, mut found) = self.exp(ast, function.body)?;
        if let Some(result) = result {
            self.unify_at(&result, &found, ast.span(function.body))?;
            found = result;
        }
        self.frames.truncate(begin);
        let ty = params.iter().rev().fold(found, |to, (pattern, from)| {
            let var = if let super::code::Pattern::Var(var) = pattern { Some(*var) } else { None };
            Type::Fun(var, Rc::new((from.clone(), to)))
        });
        Ok((Fun { sizes, params, body }, ty, rigid))
    }

    /// The size parameters of a function that none of its arguments tells.
    fn implicit(&self, body: &Body) -> Vec<(usize, VarId)> {
        let Body::Function(fun) = body else { return Vec::new() };
        let told = |var: VarId| fun.params.iter().any(|(_, ty)| self.tells(ty, var));
        fun.sizes.iter().copied().enumerate().filter(|(_, var)| !told(*var)).collect()
    }

    /// Whether the length of a part of each value of a type is a size.
    fn tells(&self, ty: &Type, var: VarId) -> bool {
        match self.unifier.head(ty) {
            Type::Array(size, of) => match self.unifier.size(&size) {
                Size::Name(v) if v == var => true,
                Size::Const(0) => false,
                _ => self.tells(&of, var),
            },
            Type::Record(fields) => fields.iter().any(|(_, t)| self.tells(t, var)),
            Type::Prim(_) | Type::Var(_) | Type::Rigid(..) | Type::Gen(_) | Type::Sum(_) | Type::Fun(..) => false,
        }
    }

    /// Makes two types one; the place is of what has the second.
    fn unify_at(&mut self, wanted: &Type, found: &Type, span: Span) -> Inferred<()> {
        match self.unifier.unify(wanted, found) {
            Ok(()) => Ok(()),
            Err(inner) => Err(self.mismatch(&inner, wanted, found, span)),
        }
    }

    fn mismatch(&self, inner: &Mismatch, wanted: &Type, found: &Type, span: Span) -> Box<Diagnostic> {
        let show = |ty: &Type| text(&self.unifier, ty);
        let error = |message: String| Diagnostic::error(errors::FUT_TYPE, message);
        Box::new(match inner {
            Mismatch::Types(a, b) => {
                let [outer, given, a_text, b_text] = texts(&self.unifier, [wanted, found, a, b]);
                let error = error(format!("the types `{outer}` and `{given}` differ"))
                    .at(span.place(), format!("this has the type `{given}`"));
                let inside =
                    (a_text != outer || b_text != given).then(|| format!("`{a_text}` and `{b_text}` differ in them"));
                let help: Vec<String> = inside.into_iter().chain(advice(&self.unifier, a, b)).collect();
                if help.is_empty() { error } else { error.help(help.join("; ")) }
            }
            Mismatch::Class(ty, class) => error(format!("`{}` is not among {}", show(ty), typing::class_text(*class)))
                .at(span.place(), format!("this has the type `{}`", show(found))),
            Mismatch::Field(ty, name) => {
                error(format!("`{}` has no field `{name}`", show(ty))).at(span.place(), "this field")
            }
            Mismatch::Constr(ty, name) => {
                error(format!("`{}` has no constructor `#{name}` with so many values", show(ty)))
                    .at(span.place(), "this constructor")
            }
            Mismatch::Endless => {
                let [wanted, found] = texts(&self.unifier, [wanted, found]);
                error(format!("a type of infinite size: `{wanted}` and `{found}` hold each other"))
                    .at(span.place(), "this would contain itself")
                    .help("a function may have too few parameters or too many, or be its own argument")
            }
        })
    }

    /// An error for a type of more parts than the budget allows.
    fn small(&self, ty: &Type, span: Span) -> Inferred<()> {
        let limit = self.budget.nodes;
        let checked = self.budget.parts(self.unifier.weight(ty, limit), || "the type".to_string());
        checked.map_err(|e| Box::new(e.diagnostic().at(span.place(), "of this")))
    }

    fn node(&mut self, node: Node, span: Span) -> Id {
        self.code.add(node, span)
    }

    fn path_text(path: &Path) -> String {
        path.iter().map(|i| i.name.to_string()).collect::<Vec<_>>().join(".")
    }
}
