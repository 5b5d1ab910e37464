//! Unification.

use super::{Known, Mismatch, Size, Type, Unifier, VarId};
use crate::fut::lex::Name;

impl Unifier {
    /// Makes two sizes one where that can be seen; what differs is left to run time.
    pub(in crate::fut) fn unify_sizes(&mut self, a: &Size, b: &Size) {
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
    pub(in crate::fut) fn unify(&mut self, a: &Type, b: &Type) -> Result<(), Mismatch> {
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
    pub(in crate::fut) fn has_constr(&mut self, ty: &Type, name: &Name, args: &[Type]) -> Result<(), Mismatch> {
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
    pub(in crate::fut) fn has_field(&mut self, ty: &Type, name: &Name, field: &Type) -> Result<(), Mismatch> {
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
}

fn v_differs(v: VarId, w: Option<VarId>) -> bool {
    Some(v) != w
}

fn occurs(size: &Size, v: u32) -> bool {
    match size {
        Size::Var(w) => *w == v,
        Size::Op(_, parts) => occurs(&parts.0, v) || occurs(&parts.1, v),
        Size::Const(_) | Size::Name(_) | Size::Gen(_) => false,
    }
}
