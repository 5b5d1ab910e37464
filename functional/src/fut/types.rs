//! Types while they are inferred: unification, overloading, generalisation.

use std::rc::Rc;

use super::lex::Name;
use crate::core::IntType;

mod scheme;
mod unify;

pub(super) use scheme::instance;

/// A primitive type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prim {
    /// An integer.
    Int(IntType),
    /// Written `f32`; computed as a double.
    F32,
    /// A double.
    F64,
    /// A truth value.
    Bool,
}

impl Prim {
    /// `i64`, the type of sizes and indices.
    pub const I64: Prim = Prim::Int(IntType::I64);

    /// All of them.
    pub fn all() -> impl Iterator<Item = Prim> {
        IntType::ALL.into_iter().map(Prim::Int).chain([Prim::F32, Prim::F64, Prim::Bool])
    }

    /// Its name in Futhark.
    pub const fn name(self) -> &'static str {
        match self {
            Prim::Int(int) => int.name(),
            Prim::F32 => "f32",
            Prim::F64 => "f64",
            Prim::Bool => "bool",
        }
    }

    /// The type with a name.
    pub fn named(name: &str) -> Option<Prim> {
        Prim::all().find(|p| p.name() == name)
    }

    /// Whether it is `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Prim::F32 | Prim::F64)
    }

    /// Whether it is an integer type.
    pub const fn is_int(self) -> bool {
        matches!(self, Prim::Int(_))
    }

    /// Its bit in a class.
    pub(super) const fn bit(self) -> Class {
        match self {
            Prim::Int(int) => 1 << int as u16,
            Prim::F32 => 1 << IntType::ALL.len(),
            Prim::F64 => 2 << IntType::ALL.len(),
            Prim::Bool => 4 << IntType::ALL.len(),
        }
    }
}

/// A set of primitive types that an overloaded thing may have.
pub(super) type Class = u16;
/// All integers.
pub(super) const INTS: Class = (1 << IntType::ALL.len()) - 1;
/// `f32` and `f64`.
pub(super) const FLOATS: Class = Prim::F32.bit() | Prim::F64.bit();
/// All numbers.
pub(super) const NUMBERS: Class = INTS | FLOATS;
/// All numbers and truth values.
pub(super) const SCALARS: Class = NUMBERS | Prim::Bool.bit();
/// Integers and truth values.
pub(super) const BITS: Class = INTS | Prim::Bool.bit();

/// A variable of the program: a parameter, a binding, a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct VarId(pub(super) u32);

/// A size in a type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Size {
    Const(i64),
    /// The value of a variable.
    Name(VarId),
    /// To be found.
    Var(u32),
    /// Any, of a scheme.
    Gen(u32),
    Op(char, Rc<(Size, Size)>),
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Prim(Prim),
    /// To be found.
    Var(u32),
    /// A type parameter, inside its definition.
    Rigid(u32, Name),
    /// Any, of a scheme.
    Gen(u32),
    Array(Size, Rc<Type>),
    /// Fields in order; a tuple has the fields 0, 1, ….
    Record(Rc<Vec<(Name, Type)>>),
    /// Constructors in order.
    Sum(Rc<Vec<(Name, Vec<Type>)>>),
    /// With the parameter's variable, if the result's sizes can speak of it.
    Fun(Option<VarId>, Rc<(Type, Type)>),
}

impl Type {
    pub(super) fn tuple(parts: Vec<Type>) -> Type {
        Type::Record(Rc::new(parts.into_iter().enumerate().map(|(n, t)| (n.to_string().into(), t)).collect()))
    }

    pub(super) fn fun(from: Type, to: Type) -> Type {
        Type::Fun(None, Rc::new((from, to)))
    }

    pub(super) fn array(size: Size, of: Type) -> Type {
        Type::Array(size, Rc::new(of))
    }

    pub(super) const I64: Type = Type::Prim(Prim::I64);
    pub(super) const BOOL: Type = Type::Prim(Prim::Bool);
}

/// A type for any instance of its parameters.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// What each type may be; `None` for any.
    pub(super) types: Vec<Option<Class>>,
    pub(super) sizes: u32,
    pub(super) ty: Type,
}

impl Scheme {
    pub(super) fn of(ty: Type) -> Scheme {
        Scheme { types: Vec::new(), sizes: 0, ty }
    }
}

/// What is known of a type variable.
#[derive(Clone, Debug, Default)]
struct Known {
    is: Option<Type>,
    level: u32,
    class: Option<Class>,
    fields: Vec<(Name, Type)>,
    constrs: Vec<(Name, Vec<Type>)>,
}

#[derive(Clone, Debug, Default)]
struct KnownSize {
    is: Option<Size>,
    level: u32,
}

/// Why two types are not one.
#[derive(Clone, Debug)]
pub(super) enum Mismatch {
    Types(Type, Type),
    Class(Type, Class),
    Field(Type, Name),
    Constr(Type, Name),
    Endless,
}

/// The variables of inference.
#[derive(Debug, Default)]
pub(super) struct Unifier {
    types: Vec<Known>,
    sizes: Vec<KnownSize>,
    pub(super) level: u32,
}

/// The order of fields: numbers by value, names by letters.
pub(super) fn field_order(a: &str, b: &str) -> std::cmp::Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        (Ok(_), Err(_)) => std::cmp::Ordering::Less,
        (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

impl Unifier {
    pub(super) fn fresh(&mut self) -> Type {
        self.types.push(Known { level: self.level, ..Known::default() });
        Type::Var(self.types.len() as u32 - 1)
    }

    pub(super) fn of_class(&mut self, class: Class) -> Type {
        self.types.push(Known { level: self.level, class: Some(class), ..Known::default() });
        Type::Var(self.types.len() as u32 - 1)
    }

    pub(super) fn fresh_size(&mut self) -> Size {
        self.sizes.push(KnownSize { is: None, level: self.level });
        Size::Var(self.sizes.len() as u32 - 1)
    }

    /// What a type is, as far as it is known at its top.
    pub(super) fn head(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Var(v) = ty
            && let Some(is) = &self.types[*v as usize].is
        {
            ty = is;
        }
        ty.clone()
    }

    pub(super) fn size(&self, size: &Size) -> Size {
        match size {
            Size::Var(v) => match &self.sizes[*v as usize].is {
                Some(is) => self.size(is),
                None => size.clone(),
            },
            Size::Op(op, parts) => Size::Op(*op, Rc::new((self.size(&parts.0), self.size(&parts.1)))),
            Size::Const(_) | Size::Name(_) | Size::Gen(_) => size.clone(),
        }
    }

    /// The number of parts of a type, or more than the limit.
    pub(super) fn weight(&self, ty: &Type, limit: u64) -> u64 {
        let mut left = vec![self.head(ty)];
        let mut count = 0;
        while let Some(ty) = left.pop() {
            count += 1;
            if count > limit {
                break;
            }
            match &ty {
                Type::Prim(_) | Type::Var(_) | Type::Rigid(..) | Type::Gen(_) => {}
                Type::Array(_, of) => left.push(self.head(of)),
                Type::Record(fields) => left.extend(fields.iter().map(|(_, t)| self.head(t))),
                Type::Sum(constrs) => left.extend(constrs.iter().flat_map(|(_, args)| args).map(|t| self.head(t))),
                Type::Fun(_, parts) => left.extend([self.head(&parts.0), self.head(&parts.1)]),
            }
        }
        count
    }

    /// A type with everything that is known put in.
    pub(super) fn resolve(&self, ty: &Type) -> Type {
        self.rewrite(&self.head(ty), &mut |this, ty| match ty {
            Type::Var(_) => Some(match this.head(ty) {
                Type::Var(v) => Type::Var(v),
                known => this.resolve(&known),
            }),
            Type::Array(size, of) => Some(Type::array(this.size(size), this.resolve(of))),
            _ => None,
        })
    }

    /// Rebuilds a type; `change` gives what replaces a part, or `None` to go on into it.
    pub(super) fn rewrite(&self, ty: &Type, change: &mut impl FnMut(&Unifier, &Type) -> Option<Type>) -> Type {
        if let Some(new) = change(self, ty) {
            return new;
        }
        match ty {
            Type::Prim(_) | Type::Var(_) | Type::Rigid(..) | Type::Gen(_) => ty.clone(),
            Type::Array(size, of) => Type::array(size.clone(), self.rewrite(of, change)),
            Type::Record(fields) => {
                Type::Record(Rc::new(fields.iter().map(|(name, t)| (name.clone(), self.rewrite(t, change))).collect()))
            }
            Type::Sum(constrs) => Type::Sum(Rc::new(
                constrs
                    .iter()
                    .map(|(name, args)| (name.clone(), args.iter().map(|t| self.rewrite(t, change)).collect()))
                    .collect(),
            )),
            Type::Fun(param, parts) => {
                Type::Fun(*param, Rc::new((self.rewrite(&parts.0, change), self.rewrite(&parts.1, change))))
            }
        }
    }

    /// Replaces the sizes in a type.
    pub(super) fn map_sizes(&self, ty: &Type, change: &mut impl FnMut(&Size) -> Size) -> Type {
        match ty {
            Type::Prim(_) | Type::Rigid(..) | Type::Gen(_) => ty.clone(),
            Type::Var(_) => match self.head(ty) {
                Type::Var(v) => Type::Var(v),
                known => self.map_sizes(&known, change),
            },
            Type::Array(size, of) => {
                let size = map_size(&self.size(size), change);
                Type::array(size, self.map_sizes(of, change))
            }
            Type::Record(fields) => Type::Record(Rc::new(
                fields.iter().map(|(name, t)| (name.clone(), self.map_sizes(t, change))).collect(),
            )),
            Type::Sum(constrs) => Type::Sum(Rc::new(
                constrs
                    .iter()
                    .map(|(name, args)| (name.clone(), args.iter().map(|t| self.map_sizes(t, change)).collect()))
                    .collect(),
            )),
            Type::Fun(param, parts) => {
                Type::Fun(*param, Rc::new((self.map_sizes(&parts.0, change), self.map_sizes(&parts.1, change))))
            }
        }
    }

    /// Whether a type's sizes speak of a variable.
    pub(super) fn mentions(&self, ty: &Type, var: VarId) -> bool {
        match ty {
            Type::Prim(_) | Type::Rigid(..) | Type::Gen(_) => false,
            Type::Var(_) => match self.head(ty) {
                Type::Var(_) => false,
                known => self.mentions(&known, var),
            },
            Type::Array(size, of) => size_mentions(&self.size(size), var) || self.mentions(of, var),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.mentions(t, var)),
            Type::Sum(constrs) => constrs.iter().flat_map(|(_, args)| args).any(|t| self.mentions(t, var)),
            Type::Fun(_, parts) => self.mentions(&parts.0, var) || self.mentions(&parts.1, var),
        }
    }

    /// Replaces what a parameter stands for in the sizes of a type.
    pub(super) fn substitute(&self, ty: &Type, var: VarId, by: &Size) -> Type {
        self.map_sizes(ty, &mut |size| if *size == Size::Name(var) { by.clone() } else { size.clone() })
    }

    /// Gives overloaded types of this level their defaults; the name of a field of a record that is not known is an error.
    pub(super) fn default_from(&mut self, first: usize) -> Result<(), (Type, Name)> {
        for v in first..self.types.len() {
            let known = &self.types[v];
            if known.is.is_some() || known.level < self.level {
                continue;
            }
            if let Some((name, _)) = known.fields.first() {
                return Err((Type::Var(v as u32), name.clone()));
            }
            if !known.constrs.is_empty() {
                let mut constrs = known.constrs.clone();
                constrs.sort_by(|a, b| a.0.cmp(&b.0));
                self.types[v].is = Some(Type::Sum(Rc::new(constrs)));
                continue;
            }
            if let Some(class) = known.class {
                let order = [Prim::Int(IntType::I32), Prim::F64, Prim::I64, Prim::Bool];
                let is = order.into_iter().chain(Prim::all()).find(|p| p.bit() & class != 0);
                self.types[v].is = is.map(Type::Prim);
            }
        }
        Ok(())
    }

    /// The number of type variables so far.
    pub(super) fn count(&self) -> usize {
        self.types.len()
    }
}

fn map_size(size: &Size, change: &mut impl FnMut(&Size) -> Size) -> Size {
    match size {
        Size::Op(op, parts) => Size::Op(*op, Rc::new((map_size(&parts.0, change), map_size(&parts.1, change)))),
        _ => change(size),
    }
}

fn size_mentions(size: &Size, var: VarId) -> bool {
    match size {
        Size::Name(v) => *v == var,
        Size::Op(_, parts) => size_mentions(&parts.0, var) || size_mentions(&parts.1, var),
        Size::Const(_) | Size::Var(_) | Size::Gen(_) => false,
    }
}

/// A type as text, for messages.
pub(super) fn text(unifier: &Unifier, ty: &Type) -> String {
    Names { unifier, seen: Vec::new() }.text(ty)
}

/// Several types as text, where the same letter stands for the same unknown type.
pub(super) fn texts<const N: usize>(unifier: &Unifier, types: [&Type; N]) -> [String; N] {
    let mut names = Names { unifier, seen: Vec::new() };
    types.map(|ty| names.text(ty))
}

/// Names for types that are not known, in the order in which they are met.
struct Names<'u> {
    unifier: &'u Unifier,
    seen: Vec<u32>,
}

impl Names<'_> {
    fn unknown(&mut self, var: u32) -> String {
        let place = self.seen.iter().position(|v| *v == var).unwrap_or_else(|| {
            self.seen.push(var);
            self.seen.len() - 1
        });
        match (b'a'..=b'z').nth(place) {
            Some(letter) => format!("'{}", char::from(letter)),
            None => format!("'t{place}"),
        }
    }

    fn text(&mut self, ty: &Type) -> String {
        match self.unifier.head(ty) {
            Type::Prim(p) => p.name().to_string(),
            Type::Var(v) => match self.unifier.types[v as usize].class {
                Some(FLOATS) => "a float type".to_string(),
                Some(INTS) => "an integer type".to_string(),
                Some(_) => "a number type".to_string(),
                None => self.unknown(v),
            },
            Type::Rigid(_, name) => name.to_string(),
            Type::Gen(n) => format!("'t{n}"),
            Type::Array(size, of) => format!("[{}]{}", size_text(&self.unifier.size(&size)), self.text(&of)),
            Type::Record(fields) => {
                let tuple = is_tuple(&fields);
                let part = |(name, t): &(Name, Type)| {
                    let t = self.text(t);
                    if tuple { t } else { format!("{name}: {t}") }
                };
                let parts: Vec<String> = fields.iter().map(part).collect();
                if tuple { format!("({})", parts.join(", ")) } else { format!("{{{}}}", parts.join(", ")) }
            }
            Type::Sum(constrs) => {
                let part = |(name, args): &(Name, Vec<Type>)| {
                    args.iter().fold(format!("#{name}"), |s, t| format!("{s} {}", self.text(t)))
                };
                constrs.iter().map(part).collect::<Vec<String>>().join(" | ")
            }
            Type::Fun(_, parts) => {
                let from = self.text(&parts.0);
                let from =
                    if matches!(self.unifier.head(&parts.0), Type::Fun(..)) { format!("({from})") } else { from };
                format!("{from} -> {}", self.text(&parts.1))
            }
        }
    }
}

fn is_tuple(fields: &[(Name, Type)]) -> bool {
    fields.len() != 1 && fields.iter().enumerate().all(|(n, (name, _))| **name == n.to_string())
}

/// What to do about two types that differ; the second is what was found.
pub(super) fn advice(unifier: &Unifier, wanted: &Type, found: &Type) -> Option<String> {
    let tuple = |ty: &Type| match ty {
        Type::Record(fields) if is_tuple(fields) => Some(fields.len()),
        _ => None,
    };
    let (wanted, found) = (unifier.head(wanted), unifier.head(found));
    Some(match (&wanted, &found) {
        (Type::Fun(..), Type::Fun(..)) => return None,
        (Type::Fun(..), _) => "it is no function: leave out the arguments, or give a function of as many".to_string(),
        (_, Type::Fun(..)) => "it is a function: give it the arguments that it lacks".to_string(),
        (Type::Array(..), Type::Array(..)) => return None,
        (Type::Array(..), _) => "an array is wanted: `[x]` is one of one element, `replicate n x` of n".to_string(),
        (_, Type::Array(..)) => "it is an array: choose an element, or compute with each by `map`".to_string(),
        _ => match (tuple(&wanted), tuple(&found)) {
            (Some(n), Some(m)) if n != m => format!("a tuple of {n} is wanted, not of {m}"),
            (Some(n), None) => format!("a tuple of {n} is wanted"),
            (None, Some(_)) => "it is a tuple: choose a part, as in `p.0`".to_string(),
            _ => return None,
        },
    })
}

fn size_text(size: &Size) -> String {
    match size {
        Size::Const(n) => n.to_string(),
        Size::Name(_) | Size::Var(_) | Size::Gen(_) => String::new(),
        Size::Op(op, parts) => format!("{} {op} {}", size_text(&parts.0), size_text(&parts.1)),
    }
}
