//! What annotations name, which types they accept, and how well.

use std::collections::HashMap;

use pendula_isa::Ty;
use pendula_isa::budget::Exceeded;

use super::{Layout, Structs, Type, around};
use crate::nil::ast;

/// How specific an annotation is for a type that it accepts. The most specific annotation is the best fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit(u32);

impl Fit {
    /// Any value.
    pub const ANY: Fit = Fit::level(0);
    /// A type variable without a bound.
    const VARIABLE: Fit = Fit::level(1);
    /// A type variable that is bound already.
    const REPEATED: Fit = Fit::level(6);
    /// A family of types, such as arrays, with some properties left open.
    const KIND: Fit = Fit::level(7);
    /// A family of types with only the type arguments left open.
    const NARROW: Fit = Fit::level(10);
    /// Exactly the type.
    pub const EXACT: Fit = Fit::level(12);

    const fn level(n: u32) -> Fit {
        Fit(n << 24)
    }

    /// This fit refined by the fit of a type argument, which decides only between otherwise equal annotations.
    const fn with(self, inner: Fit) -> Fit {
        Fit(self.0 + inner.0 / 16)
    }
}

/// The meanings of type names: the structs of a program and the type variables of a function.
pub struct Names<'a> {
    /// The structs by name.
    pub structs: &'a Structs,
    /// The bound type variables.
    pub bound: HashMap<String, Type>,
}

/// Why an annotation does not name a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeProblem {
    /// No type has the name.
    Unknown(String),
    /// It names a set of types where one type is expected.
    Abstract(String),
    /// It has invalid type arguments.
    Arguments(String),
    /// A struct contains itself: the structs of the cycle from the named one on, each with the field that leads to the
    /// next.
    Recursive(Vec<(String, String)>),
    /// It exceeds the budget.
    Exceeded(Exceeded),
}

/// The number type with this name.
pub fn number(name: &str) -> Option<Ty> {
    Some(match name {
        "Int" | "Int64" => Ty::Int,
        "Float64" => Ty::F,
        "Fixed" | "Fixed43" => Ty::Q,
        "ULogarithmic" | "Logarithmic" => Ty::L,
        _ => return None,
    })
}

/// The logarithmic number in doubles with this name.
pub fn log_number(name: &str) -> Option<Type> {
    Some(match name {
        "ULogFloat64" => Type::Log { signed: false },
        "LogFloat64" => Type::Log { signed: true },
        _ => return None,
    })
}

/// Whether every program knows a type, or a set of types, with this name.
pub fn is_built_in(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "Any",
        "Bool",
        "Complex",
        "ComplexF64",
        "Function",
        "NTuple",
        "Ref",
        "RefValue",
        "SparseMatrixCSC",
        "AbstractSparseMatrix",
        "AbstractSparseMatrixCSC",
        "Tropical",
        "TropicalNumber",
        "TropicalTypes",
        "Tuple",
        "Type",
        "Union",
    ];
    OTHERS.contains(&name)
        || number(name).is_some()
        || log_number(name).is_some()
        || number_set(name).is_some()
        || array_dims(name).is_some()
}

/// The set of number types with this name, and its fit: a smaller set fits better.
pub(super) fn number_set(name: &str) -> Option<(&'static [Ty], Fit)> {
    Some(match name {
        "Number" => (&[Ty::Int, Ty::Q, Ty::L, Ty::F], Fit::level(2)),
        "Real" => (&[Ty::Int, Ty::Q, Ty::L, Ty::F], Fit::level(3)),
        "Integer" => (&[Ty::Int], Fit::level(4)),
        "AbstractFloat" => (&[Ty::F], Fit::level(4)),
        "Signed" => (&[Ty::Int], Fit::level(5)),
        _ => return None,
    })
}

/// The number of dimensions in the name of an array type: `Some(None)` if it is open, `None` if the name is not an array
/// type.
pub(in crate::nil) fn array_dims(name: &str) -> Option<Option<u8>> {
    Some(match name {
        "Vector" | "AbstractVector" | "StridedVector" | "Dict" | "FastStack" => Some(1),
        "Matrix" | "AbstractMatrix" | "StridedMatrix" | "Adjoint" | "Transpose" => Some(2),
        "Array" | "AbstractArray" | "StridedArray" | "StridedVecOrMat" | "AbstractVecOrMat" => None,
        _ => return None,
    })
}

/// Whether a name is that of the type of transposed matrices.
fn is_transposed(name: &str) -> bool {
    matches!(name, "Adjoint" | "Transpose")
}

/// How specific the name of an array type is. In the host language, `Abstract` types include `Strided` ones, and these
/// include the others.
fn array_fit(name: &str, dims: Option<u8>) -> Fit {
    let kind = match name {
        _ if name.starts_with("Abstract") => 0,
        _ if name.starts_with("Strided") => 1,
        _ if is_transposed(name) => 3,
        _ => 2,
    };
    Fit(Fit::KIND.0 + Fit::level(kind + u32::from(dims.is_some())).0)
}

impl Names<'_> {
    /// The type that an expression names.
    ///
    /// # Errors
    /// If it names no type.
    pub fn resolve(&self, e: &ast::TypeExpr) -> Result<Type, TypeProblem> {
        let name = e.name.text.as_str();
        if let Some(t) = self.bound.get(name) {
            return Ok(t.clone());
        }
        if let Some(expanded) = self.structs.expanded(e) {
            return self.resolve(&expanded);
        }
        if let Some(t) = log_number(name) {
            return Ok(t);
        }
        // A reference of the host is what it refers to.
        if let ("Ref" | "RefValue", [ast::TypeArg::Type(of)]) = (name, &e.args[..]) {
            return self.resolve(of);
        }
        match number(name) {
            // Logarithmic numbers of doubles are stored as doubles; other ones are words of type `.l`.
            Some(Ty::L) if !e.args.is_empty() => {
                let [ast::TypeArg::Type(of)] = e.args.as_slice() else {
                    return Err(TypeProblem::Arguments(name.to_string()));
                };
                return match self.resolve(of)? {
                    Type::Num(Ty::F) => Ok(Type::Log { signed: name == "Logarithmic" }),
                    Type::Num(_) => Ok(Type::Num(Ty::L)),
                    _ => Err(TypeProblem::Arguments(name.to_string())),
                };
            }
            Some(ty) => return Ok(Type::Num(ty)),
            None => {}
        }
        let scalar = |default: Option<Ty>| match e.args.as_slice() {
            [] => default.ok_or_else(|| TypeProblem::Abstract(name.to_string())),
            [ast::TypeArg::Type(t)] => match self.resolve(t)? {
                Type::Num(ty) => Ok(ty),
                _ => Err(TypeProblem::Arguments(name.to_string())),
            },
            _ => Err(TypeProblem::Arguments(name.to_string())),
        };
        match name {
            "Bool" => return Ok(Type::Bool),
            "Complex" => return scalar(None).map(Type::Complex),
            "ComplexF64" => return Ok(Type::Complex(Ty::F)),
            "Tropical" | "TropicalNumber" => return scalar(Some(Ty::F)).map(Type::Tropical),
            "Tuple" if !e.args.is_empty() => {
                let part = |a: &ast::TypeArg| match a {
                    ast::TypeArg::Type(t) => self.resolve(t),
                    ast::TypeArg::Number(..) | ast::TypeArg::Of(_) => Err(TypeProblem::Arguments(name.to_string())),
                };
                let parts: Vec<Type> = e.args.iter().map(part).collect::<Result<_, _>>()?;
                self.bounded(around(parts.iter()))?;
                return Ok(Type::Tuple(parts));
            }
            "NTuple" => {
                if let [n, ast::TypeArg::Type(t)] = e.args.as_slice()
                    && let Some(n) = self.number_arg(n)
                {
                    let n = usize::try_from(n).ok().filter(|n| (1..=64).contains(n));
                    let n = n.ok_or_else(|| TypeProblem::Arguments(name.to_string()))?;
                    let part = self.resolve(t)?;
                    self.bounded(around(std::iter::repeat_n(&part, n)))?;
                    return Ok(Type::Tuple(vec![part; n]));
                }
            }
            _ => {}
        }
        if let Some(dims) = array_dims(name) {
            // A dictionary has the type of its keys first.
            let args = if name == "Dict" { e.args.get(1..).unwrap_or(&[]) } else { &e.args };
            let (element, type_args) = match args {
                [ast::TypeArg::Type(t)] => (self.resolve(t)?, None),
                [ast::TypeArg::Type(t), n] => {
                    let Some(n) = self.number_arg(n) else { return Err(TypeProblem::Abstract(name.to_string())) };
                    (self.resolve(t)?, u8::try_from(n).ok())
                }
                _ => return Err(TypeProblem::Abstract(name.to_string())),
            };
            let dims = dims.or(type_args).ok_or_else(|| TypeProblem::Abstract(name.to_string()))?;
            let layout = match name {
                "FastStack" => Layout::Growing,
                _ if is_transposed(name) => Layout::Rows,
                _ => Layout::Columns,
            };
            return Ok(Type::Array { element: Box::new(element), dims, layout });
        }
        if let Some(s) = self.structs.get(name) {
            return self.instance(s, &e.args);
        }
        Err(match number_set(name) {
            Some(_) => TypeProblem::Abstract(name.to_string()),
            None => TypeProblem::Unknown(name.to_string()),
        })
    }

    fn instance(&self, s: &ast::Struct, args: &[ast::TypeArg]) -> Result<Type, TypeProblem> {
        let name = || s.name.text.clone();
        if args.len() != s.type_params.len() {
            return Err(TypeProblem::Abstract(name()));
        }
        let mut type_args = Vec::with_capacity(args.len());
        for arg in args {
            let ast::TypeArg::Type(t) = arg else { return Err(TypeProblem::Arguments(name())) };
            type_args.push(self.resolve(t)?);
        }
        self.structs.instance(s, type_args)
    }

    /// Checks that a tuple is within the budget.
    fn bounded(&self, (nodes, depth): (u64, u32)) -> Result<(), TypeProblem> {
        let what = || "a tuple".to_string();
        let budget = self.structs.budget();
        budget.nested(depth, what).and_then(|()| budget.parts(nodes, what)).map_err(TypeProblem::Exceeded)
    }

    /// How well an annotation fits a type, binding the type variables `free`; `None` if it does not accept the type.
    pub fn accepts(&mut self, e: &ast::TypeExpr, t: &Type, free: &[ast::TypeParam]) -> Option<Fit> {
        let name = e.name.text.as_str();
        if let Some(param) = free.iter().find(|p| p.name.text == name) {
            if let Some(bound) = self.bound.get(name) {
                return (same_shape(bound, t)).then_some(Fit::REPEATED);
            }
            let fit = match &param.bound {
                Some(b) => {
                    let others: Vec<ast::TypeParam> = free.iter().filter(|p| p.name.text != name).cloned().collect();
                    self.accepts(b, t, &others)?
                }
                None => Fit::VARIABLE,
            };
            self.bound.insert(name.to_string(), t.clone());
            return Some(fit);
        }
        if let Some(expanded) = self.structs.expanded(e) {
            return self.accepts(&expanded, t, free);
        }
        if let Some((set, fit)) = number_set(name) {
            return match t {
                Type::Num(ty) if set.contains(ty) => Some(fit),
                Type::Complex(_) | Type::Tropical(_) if name == "Number" => Some(fit),
                Type::Log { .. } if matches!(name, "Number" | "Real") => Some(fit),
                Type::Bool if set.contains(&Ty::Int) => Some(fit),
                _ => None,
            };
        }
        // A single type, without type variables.
        let single = !is_transposed(name) && !free.iter().any(|p| mentions(e, &p.name.text));
        if single && self.resolve(e).is_ok_and(|wanted| same_shape(&wanted, t)) {
            return Some(Fit::EXACT);
        }
        match (name, t) {
            ("Any", _) => return Some(Fit::ANY),
            ("Union", _) => return self.union(e, t, free),
            ("Function", Type::Function(name)) => return (!super::is_single(name)).then_some(Fit::KIND),
            ("Nothing", Type::Function(name)) => return (name == "nothing").then_some(Fit::EXACT),
            ("Val", Type::Function(name)) => return self.names_val(e, name, free),
            ("typeof", Type::Function(_)) => return Some(Fit::NARROW),
            ("Type", Type::Function(name)) => return self.names_type(e, name, free),
            ("Tuple", Type::Tuple(parts)) if !e.args.is_empty() => {
                let mut inner = 0;
                for (k, t) in parts.iter().enumerate() {
                    let Some(ast::TypeArg::Type(e)) = e.args.get(k) else { return None };
                    inner += self.accepts(e, t, free)?.0 / parts.len() as u32;
                }
                return (parts.len() == e.args.len()).then_some(Fit::NARROW.with(Fit(inner)));
            }
            ("Ref" | "RefValue", _) if e.args.len() == 1 => return self.inside(e.args.first(), t, free, Fit::NARROW),
            ("NTuple", Type::Tuple(parts)) if e.args.len() == 2 => return self.equal_parts(e, parts, free),
            ("Tuple" | "NTuple", Type::Tuple(_)) => return Some(Fit::KIND),
            ("Complex", Type::Complex(ty)) => return self.inside(e.args.first(), &Type::Num(*ty), free, Fit::NARROW),
            ("Tropical" | "TropicalNumber" | "TropicalTypes", Type::Tropical(ty)) => {
                return self.inside(e.args.first(), &Type::Num(*ty), free, Fit::NARROW);
            }
            ("ULogarithmic" | "Logarithmic", Type::Num(Ty::L)) => {
                // The type argument does not matter here; a type variable is bound to the fixed-point type.
                return self.inside(e.args.first(), &Type::Num(Ty::Q), free, Fit::NARROW);
            }
            ("ULogarithmic", Type::Log { signed: false }) | ("Logarithmic", Type::Log { signed: true }) => {
                return self.inside(e.args.first(), &Type::Num(Ty::F), free, Fit::NARROW);
            }
            _ => {}
        }
        if let (Some(wanted), Type::Array { element, dims, layout }) = (array_dims(name), t) {
            if wanted.is_some_and(|n| n != *dims) || is_transposed(name) && *layout != Layout::Rows {
                return None;
            }
            let args = if name == "Dict" { e.args.get(1..).unwrap_or(&[]) } else { &e.args };
            if let Some(arg) = args.get(1) {
                self.names_value(arg, &dims.to_string(), free)?;
            }
            return self.inside(args.first(), element, free, array_fit(name, wanted));
        }
        if let (Some(s), Type::Struct(found)) = (self.structs.get(name), t) {
            if s.name.text != found.name {
                return None;
            }
            // The type arguments, found through the fields that use them.
            let mut inside = 0;
            for (param, arg) in s.type_params.iter().zip(&e.args) {
                let ast::TypeArg::Type(arg) = arg else { return None };
                let field =
                    s.fields.iter().position(|(_, t)| t.as_ref().is_some_and(|t| mentions(t, &param.name.text)));
                let Some((Some(written), (_, actual))) =
                    field.and_then(|n| Some((s.fields[n].1.as_ref(), found.fields.get(n)?)))
                else {
                    continue;
                };
                let mut inner = Names { structs: self.structs, bound: HashMap::new() };
                inner.accepts(written, actual, &s.type_params)?;
                if let Some(t) = inner.bound.get(&param.name.text) {
                    inside += self.accepts(arg, &t.clone(), free)?.0 / s.type_params.len() as u32;
                }
            }
            return Some(Fit::NARROW.with(Fit(inside)));
        }
        match self.resolve(e) {
            Ok(wanted) => same_shape(&wanted, t).then_some(Fit::EXACT),
            Err(_) => None,
        }
    }

    /// How well `NTuple{N, T}` fits.
    fn equal_parts(&mut self, e: &ast::TypeExpr, parts: &[Type], free: &[ast::TypeParam]) -> Option<Fit> {
        if let Some(arg) = e.args.first() {
            self.names_value(arg, &parts.len().to_string(), free)?;
        }
        let fits: Option<Vec<Fit>> = parts.iter().map(|t| self.inside(e.args.get(1), t, free, Fit::NARROW)).collect();
        fits.map(|fits| fits.into_iter().min().unwrap_or(Fit::KIND))
    }

    /// How well `Val{N}` fits.
    fn names_val(&mut self, e: &ast::TypeExpr, name: &str, free: &[ast::TypeParam]) -> Option<Fit> {
        let inner = name.strip_prefix("Val(")?.strip_suffix(')')?;
        let Some(arg) = e.args.first() else { return Some(Fit::NARROW) };
        self.names_value(arg, inner, free).map(|fit| Fit::NARROW.with(fit))
    }

    /// How well a number or a symbol as a type argument fits a value; a type variable is bound to it.
    fn names_value(&mut self, arg: &ast::TypeArg, value: &str, free: &[ast::TypeParam]) -> Option<Fit> {
        let fits = |other: &str| (other == value).then_some(Fit::EXACT);
        match arg {
            ast::TypeArg::Number(n, _) => fits(&n.to_string()),
            ast::TypeArg::Type(t) => {
                let name = t.name.text.as_str();
                match self.bound.get(name) {
                    Some(Type::Function(other)) => fits(other),
                    Some(_) => None,
                    None if free.iter().any(|p| p.name.text == name) => {
                        self.bound.insert(name.to_string(), Type::Function(value.to_string()));
                        Some(Fit::VARIABLE)
                    }
                    None if name.starts_with(':') || super::is_single(name) => fits(name),
                    None => Some(Fit::ANY),
                }
            }
            ast::TypeArg::Of(_) => None,
        }
    }

    /// The number that a type argument is.
    fn number_arg(&self, arg: &ast::TypeArg) -> Option<i64> {
        match arg {
            ast::TypeArg::Number(n, _) => Some(*n),
            ast::TypeArg::Type(t) => match self.bound.get(&t.name.text)? {
                Type::Function(number) => number.parse().ok(),
                _ => None,
            },
            ast::TypeArg::Of(_) => None,
        }
    }

    /// How well `Union{A, B}` fits: as a family of types, however few it has.
    fn union(&mut self, e: &ast::TypeExpr, t: &Type, free: &[ast::TypeParam]) -> Option<Fit> {
        let accepts = |a: &ast::TypeArg| match a {
            ast::TypeArg::Type(e) => self.accepts(e, t, free).is_some(),
            ast::TypeArg::Number(..) | ast::TypeArg::Of(_) => false,
        };
        e.args.iter().any(accepts).then_some(Fit::KIND)
    }

    /// Whether `Type{T}` accepts the type with this name.
    fn names_type(&mut self, e: &ast::TypeExpr, name: &str, free: &[ast::TypeParam]) -> Option<Fit> {
        let t = self.resolve(&crate::nil::parse_type(name)?).ok()?;
        self.inside(e.args.first(), &t, free, Fit::NARROW)
    }

    fn inside(&mut self, arg: Option<&ast::TypeArg>, t: &Type, free: &[ast::TypeParam], fit: Fit) -> Option<Fit> {
        match arg {
            None => Some(fit),
            Some(ast::TypeArg::Type(e)) => self.accepts(e, t, free).map(|f| fit.with(f)),
            Some(ast::TypeArg::Number(..) | ast::TypeArg::Of(_)) => None,
        }
    }
}

/// Whether two types are equal, except for how arrays are stored.
pub fn same_shape(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Array { element: a, dims: m, .. }, Type::Array { element: b, dims: n, .. }) => {
            m == n && same_shape(a, b)
        }
        _ => a == b,
    }
}

/// Whether a type expression contains a name.
pub(in crate::nil) fn mentions(e: &ast::TypeExpr, name: &str) -> bool {
    e.name.text == name
        || e.args.iter().any(|a| match a {
            ast::TypeArg::Type(t) => mentions(t, name),
            ast::TypeArg::Number(..) | ast::TypeArg::Of(_) => false,
        })
}
