//! Types while they are inferred: unification, overloading, generalisation.

use std::rc::Rc;

use super::lex::Name;

/// A primitive type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prim {
    /// A signed integer of 8 bits.
    I8,
    /// A signed integer of 16 bits.
    I16,
    /// A signed integer of 32 bits.
    I32,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 8 bits.
    U8,
    /// An unsigned integer of 16 bits.
    U16,
    /// An unsigned integer of 32 bits.
    U32,
    /// An unsigned integer of 64 bits.
    U64,
    /// Written `f32`; computed as a double.
    F32,
    /// A double.
    F64,
    /// A truth value.
    Bool,
}

impl Prim {
    /// All of them.
    pub const ALL: [Prim; 11] = [
        Prim::I8,
        Prim::I16,
        Prim::I32,
        Prim::I64,
        Prim::U8,
        Prim::U16,
        Prim::U32,
        Prim::U64,
        Prim::F32,
        Prim::F64,
        Prim::Bool,
    ];

    /// Its name in Futhark.
    pub const fn name(self) -> &'static str {
        match self {
            Prim::I8 => "i8",
            Prim::I16 => "i16",
            Prim::I32 => "i32",
            Prim::I64 => "i64",
            Prim::U8 => "u8",
            Prim::U16 => "u16",
            Prim::U32 => "u32",
            Prim::U64 => "u64",
            Prim::F32 => "f32",
            Prim::F64 => "f64",
            Prim::Bool => "bool",
        }
    }

    /// The type with a name.
    pub fn named(name: &str) -> Option<Prim> {
        Prim::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Whether it is `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Prim::F32 | Prim::F64)
    }

    /// Whether it is an integer type.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, Prim::Bool)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of primitive types that an overloaded thing may have.
pub(super) type Class = u16;
/// All integers.
pub(super) const INTS: Class = 0xff;
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

    /// Makes two sizes one where that can be seen; what differs is left to run time.
    pub(super) fn unify_sizes(&mut self, a: &Size, b: &Size) {
        match (self.size(a), self.size(b)) {
            (Size::Var(a), Size::Var(b)) if a == b => {}
            (Size::Var(v), other) | (other, Size::Var(v)) if !occurs(&other, v) => {
                self.lower_size(&other, self.sizes[v as usize].level);
                self.sizes[v as usize].is = Some(other);
            }
            (Size::Op(p, a), Size::Op(q, b)) if p == q => {
                self.unify_sizes(&a.0, &b.0);
                self.unify_sizes(&a.1, &b.1);
            }
            _ => {}
        }
    }

    fn lower_size(&mut self, size: &Size, level: u32) {
        match size {
            Size::Var(v) => {
                let known = &mut self.sizes[*v as usize];
                known.level = known.level.min(level);
            }
            Size::Op(_, parts) => {
                let parts = parts.clone();
                self.lower_size(&parts.0, level);
                self.lower_size(&parts.1, level);
            }
            Size::Const(_) | Size::Name(_) | Size::Gen(_) => {}
        }
    }

    /// Makes two types one.
    pub(super) fn unify(&mut self, a: &Type, b: &Type) -> Result<(), Mismatch> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.unify_heads(self.head(a), self.head(b)))
    }

    fn unify_heads(&mut self, a: Type, b: Type) -> Result<(), Mismatch> {
        match (&a, &b) {
            (Type::Var(v), Type::Var(w)) if v == w => Ok(()),
            (Type::Var(v), _) => self.bind(*v, &b),
            (_, Type::Var(v)) => self.bind(*v, &a),
            (Type::Prim(p), Type::Prim(q)) if p == q => Ok(()),
            (Type::Rigid(p, _), Type::Rigid(q, _)) if p == q => Ok(()),
            (Type::Gen(p), Type::Gen(q)) if p == q => Ok(()),
            (Type::Array(n, s), Type::Array(m, t)) => {
                self.unify_sizes(n, m);
                self.unify(s, t)
            }
            (Type::Record(p), Type::Record(q)) => {
                if p.len() != q.len() || p.iter().zip(q.iter()).any(|((x, _), (y, _))| x != y) {
                    return Err(Mismatch::Types(a.clone(), b.clone()));
                }
                p.iter().zip(q.iter()).try_for_each(|((_, s), (_, t))| self.unify(s, t))
            }
            (Type::Sum(p), Type::Sum(q)) => {
                let same =
                    p.len() == q.len() && p.iter().zip(q.iter()).all(|((x, s), (y, t))| x == y && s.len() == t.len());
                if !same {
                    return Err(Mismatch::Types(a.clone(), b.clone()));
                }
                for ((_, s), (_, t)) in p.iter().zip(q.iter()) {
                    s.iter().zip(t).try_for_each(|(s, t)| self.unify(s, t))?;
                }
                Ok(())
            }
            (Type::Fun(v, p), Type::Fun(w, q)) => {
                self.unify(&p.0, &q.0)?;
                // What a result's sizes say about a parameter holds for no other function's.
                let (mut s, mut t) = (p.1.clone(), q.1.clone());
                if let Some(v) = v
                    && v_differs(*v, *w)
                    && self.mentions(&s, *v)
                {
                    let any = self.fresh_size();
                    s = self.substitute(&s, *v, &any);
                }
                if let Some(w) = w
                    && v_differs(*w, *v)
                    && self.mentions(&t, *w)
                {
                    let any = self.fresh_size();
                    t = self.substitute(&t, *w, &any);
                }
                self.unify(&s, &t)
            }
            _ => Err(Mismatch::Types(a.clone(), b.clone())),
        }
    }

    fn bind(&mut self, v: u32, to: &Type) -> Result<(), Mismatch> {
        let known = self.types[v as usize].clone();
        self.adjust(v, to, known.level)?;
        if let Type::Var(w) = to {
            let other = &mut self.types[*w as usize];
            other.class = match (known.class, other.class) {
                (Some(a), Some(b)) if a & b == 0 => return Err(Mismatch::Class(to.clone(), a)),
                (Some(a), Some(b)) => Some(a & b),
                (a, b) => a.or(b),
            };
            self.types[v as usize].is = Some(to.clone());
            return self.demands(to, known);
        }
        if let Some(class) = known.class {
            match to {
                Type::Prim(p) if p.bit() & class != 0 => {}
                _ => return Err(Mismatch::Class(to.clone(), class)),
            }
        }
        self.types[v as usize].is = Some(to.clone());
        self.demands(to, known)
    }

    /// Demands of a type what was demanded of a variable.
    fn demands(&mut self, ty: &Type, known: Known) -> Result<(), Mismatch> {
        known.fields.iter().try_for_each(|(name, field)| self.has_field(ty, name, field))?;
        known.constrs.iter().try_for_each(|(name, args)| self.has_constr(ty, name, args))
    }

    /// Demands a constructor of a type.
    pub(super) fn has_constr(&mut self, ty: &Type, name: &Name, args: &[Type]) -> Result<(), Mismatch> {
        let found = match self.head(ty) {
            Type::Sum(constrs) => match constrs.iter().find(|(n, found)| n == name && found.len() == args.len()) {
                Some((_, found)) => found.clone(),
                None => return Err(Mismatch::Constr(ty.clone(), name.clone())),
            },
            Type::Var(v) => {
                let known = &self.types[v as usize];
                let level = known.level;
                match known.constrs.iter().find(|(n, _)| n == name) {
                    Some((_, found)) if found.len() == args.len() => found.clone(),
                    Some(_) => return Err(Mismatch::Constr(ty.clone(), name.clone())),
                    None if known.class.is_some() => return Err(Mismatch::Constr(ty.clone(), name.clone())),
                    None => {
                        args.iter().try_for_each(|t| self.adjust(v, t, level))?;
                        self.types[v as usize].constrs.push((name.clone(), args.to_vec()));
                        return Ok(());
                    }
                }
            }
            other => return Err(Mismatch::Constr(other, name.clone())),
        };
        found.iter().zip(args).try_for_each(|(s, t)| self.unify(s, t))
    }

    /// Lowers the levels inside a type; an error if the variable is in it.
    fn adjust(&mut self, v: u32, ty: &Type, level: u32) -> Result<(), Mismatch> {
        match ty {
            Type::Prim(_) | Type::Rigid(..) | Type::Gen(_) => Ok(()),
            Type::Var(w) => match self.types[*w as usize].is.clone() {
                Some(is) => self.adjust(v, &is, level),
                None if *w == v => Err(Mismatch::Endless),
                None => {
                    let known = &mut self.types[*w as usize];
                    known.level = known.level.min(level);
                    let (fields, constrs) = (known.fields.clone(), known.constrs.clone());
                    fields.iter().try_for_each(|(_, t)| self.adjust(v, t, level))?;
                    constrs.iter().flat_map(|(_, args)| args).try_for_each(|t| self.adjust(v, t, level))
                }
            },
            Type::Array(size, of) => {
                let size = self.size(size);
                self.lower_size(&size, level);
                self.adjust(v, of, level)
            }
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.adjust(v, t, level)),
            Type::Sum(constrs) => constrs.iter().flat_map(|(_, args)| args).try_for_each(|t| self.adjust(v, t, level)),
            Type::Fun(_, parts) => {
                self.adjust(v, &parts.0, level)?;
                self.adjust(v, &parts.1, level)
            }
        }
    }

    /// Demands a field of a type.
    pub(super) fn has_field(&mut self, ty: &Type, name: &Name, field: &Type) -> Result<(), Mismatch> {
        match self.head(ty) {
            Type::Record(fields) => match fields.iter().find(|(n, _)| n == name) {
                Some((_, found)) => self.unify(&found.clone(), field),
                None => Err(Mismatch::Field(ty.clone(), name.clone())),
            },
            Type::Var(v) => {
                let known = &self.types[v as usize];
                if let Some((_, found)) = known.fields.iter().find(|(n, _)| n == name) {
                    return self.unify(&found.clone(), field);
                }
                let level = known.level;
                if known.class.is_some() {
                    return Err(Mismatch::Field(ty.clone(), name.clone()));
                }
                self.adjust(v, field, level)?;
                self.types[v as usize].fields.push((name.clone(), field.clone()));
                Ok(())
            }
            other => Err(Mismatch::Field(other, name.clone())),
        }
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
                let order = [Prim::I32, Prim::F64, Prim::I64, Prim::Bool];
                let is = order.into_iter().chain(Prim::ALL).find(|p| p.bit() & class != 0);
                self.types[v].is = is.map(Type::Prim);
            }
        }
        Ok(())
    }

    /// The number of type variables so far.
    pub(super) fn count(&self) -> usize {
        self.types.len()
    }

    pub(super) fn instantiate(&mut self, scheme: &Scheme) -> (Type, Vec<Size>) {
        let types: Vec<Type> = scheme
            .types
            .iter()
            .map(|class| match class {
                Some(class) => self.of_class(*class),
                None => self.fresh(),
            })
            .collect();
        let sizes: Vec<Size> = (0..scheme.sizes).map(|_| self.fresh_size()).collect();
        (instance(self, &scheme.ty, &types, &sizes), sizes)
    }

    /// The scheme of a type: what is free at a deeper level than this, and what `named` lists, becomes a parameter.
    pub(super) fn generalise(&self, ty: &Type, rigid: &[u32], named: &[VarId]) -> Scheme {
        let mut types: Vec<Type> = Vec::new();
        let mut sizes: Vec<Size> = named.iter().map(|v| Size::Name(*v)).collect();
        let ty = self.abstracted(&self.resolve(ty), rigid, &mut types, &mut sizes);
        Scheme { types: vec![None; types.len()], sizes: sizes.len() as u32, ty }
    }

    fn abstracted(&self, ty: &Type, rigid: &[u32], types: &mut Vec<Type>, sizes: &mut Vec<Size>) -> Type {
        let numbered = |found: &mut Vec<Type>, ty: &Type| {
            let n = found.iter().position(|t| t == ty).unwrap_or_else(|| {
                found.push(ty.clone());
                found.len() - 1
            });
            Type::Gen(n as u32)
        };
        match ty {
            Type::Prim(_) | Type::Gen(_) => ty.clone(),
            Type::Var(v) => {
                let known = &self.types[*v as usize];
                let free = known.level > self.level
                    && known.class.is_none()
                    && known.fields.is_empty()
                    && known.constrs.is_empty();
                if free { numbered(types, ty) } else { ty.clone() }
            }
            Type::Rigid(id, _) => {
                if rigid.contains(id) {
                    numbered(types, ty)
                } else {
                    ty.clone()
                }
            }
            Type::Array(size, of) => {
                let size = self.abstracted_size(size, sizes);
                Type::array(size, self.abstracted(of, rigid, types, sizes))
            }
            Type::Record(fields) => Type::Record(Rc::new(
                fields.iter().map(|(name, t)| (name.clone(), self.abstracted(t, rigid, types, sizes))).collect(),
            )),
            Type::Sum(constrs) => Type::Sum(Rc::new(
                constrs
                    .iter()
                    .map(|(name, args)| {
                        (name.clone(), args.iter().map(|t| self.abstracted(t, rigid, types, sizes)).collect())
                    })
                    .collect(),
            )),
            Type::Fun(param, parts) => {
                let from = self.abstracted(&parts.0, rigid, types, sizes);
                Type::Fun(*param, Rc::new((from, self.abstracted(&parts.1, rigid, types, sizes))))
            }
        }
    }

    fn abstracted_size(&self, size: &Size, sizes: &mut Vec<Size>) -> Size {
        let size = self.size(size);
        match &size {
            Size::Name(_) => {
                sizes.iter().position(|s| *s == size).map_or_else(|| size.clone(), |n| Size::Gen(n as u32))
            }
            Size::Var(v) if self.sizes[*v as usize].level > self.level => {
                let n = sizes.iter().position(|s| *s == size).unwrap_or_else(|| {
                    sizes.push(size.clone());
                    sizes.len() - 1
                });
                Size::Gen(n as u32)
            }
            Size::Op(op, parts) => {
                Size::Op(*op, Rc::new((self.abstracted_size(&parts.0, sizes), self.abstracted_size(&parts.1, sizes))))
            }
            Size::Const(_) | Size::Var(_) | Size::Gen(_) => size.clone(),
        }
    }
}

fn v_differs(v: VarId, w: Option<VarId>) -> bool {
    Some(v) != w
}

/// Puts types and sizes for the parameters of a scheme.
pub(super) fn instance(unifier: &Unifier, ty: &Type, types: &[Type], sizes: &[Size]) -> Type {
    unifier.rewrite(ty, &mut |this, ty| match ty {
        Type::Gen(n) => Some(types.get(*n as usize).cloned().unwrap_or_else(|| ty.clone())),
        Type::Array(size, of) => Some(Type::array(size_instance(size, sizes), instance(this, of, types, sizes))),
        _ => None,
    })
}

fn size_instance(size: &Size, sizes: &[Size]) -> Size {
    map_size(size, &mut |size| match size {
        Size::Gen(n) => sizes.get(*n as usize).cloned().unwrap_or_else(|| size.clone()),
        _ => size.clone(),
    })
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

fn occurs(size: &Size, v: u32) -> bool {
    match size {
        Size::Var(w) => *w == v,
        Size::Op(_, parts) => occurs(&parts.0, v) || occurs(&parts.1, v),
        Size::Const(_) | Size::Name(_) | Size::Gen(_) => false,
    }
}

/// A type as text, for messages.
pub(super) fn text(unifier: &Unifier, ty: &Type) -> String {
    match unifier.head(ty) {
        Type::Prim(p) => p.name().to_string(),
        Type::Var(v) => match unifier.types[v as usize].class {
            Some(FLOATS) => "a float type".to_string(),
            Some(INTS) => "an integer type".to_string(),
            Some(_) => "a number type".to_string(),
            None => format!("t{v}"),
        },
        Type::Rigid(_, name) => name.to_string(),
        Type::Gen(n) => format!("t{n}"),
        Type::Array(size, of) => format!("[{}]{}", size_text(&unifier.size(&size)), text(unifier, &of)),
        Type::Record(fields) => {
            let tuple = fields.len() != 1 && fields.iter().enumerate().all(|(n, (name, _))| **name == n.to_string());
            let parts: Vec<String> = fields
                .iter()
                .map(|(name, t)| if tuple { text(unifier, t) } else { format!("{name}: {}", text(unifier, t)) })
                .collect();
            if tuple { format!("({})", parts.join(", ")) } else { format!("{{{}}}", parts.join(", ")) }
        }
        Type::Sum(constrs) => {
            let parts: Vec<String> = constrs
                .iter()
                .map(|(name, args)| args.iter().fold(format!("#{name}"), |s, t| format!("{s} {}", text(unifier, t))))
                .collect();
            parts.join(" | ")
        }
        Type::Fun(_, parts) => {
            let from = text(unifier, &parts.0);
            let from = if matches!(unifier.head(&parts.0), Type::Fun(..)) { format!("({from})") } else { from };
            format!("{from} -> {}", text(unifier, &parts.1))
        }
    }
}

fn size_text(size: &Size) -> String {
    match size {
        Size::Const(n) => n.to_string(),
        Size::Name(_) | Size::Var(_) | Size::Gen(_) => String::new(),
        Size::Op(op, parts) => format!("{} {op} {}", size_text(&parts.0), size_text(&parts.1)),
    }
}
