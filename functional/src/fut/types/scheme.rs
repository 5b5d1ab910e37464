//! Schemes: making them from types, and types from them.

use std::rc::Rc;

use super::{Scheme, Size, Type, Unifier, VarId, map_size};

impl Unifier {
    pub(in crate::fut) fn instantiate(&mut self, scheme: &Scheme) -> (Type, Vec<Size>) {
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
    pub(in crate::fut) fn generalise(&self, ty: &Type, rigid: &[u32], named: &[VarId]) -> Scheme {
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

/// Puts types and sizes for the parameters of a scheme.
pub(in crate::fut) fn instance(unifier: &Unifier, ty: &Type, types: &[Type], sizes: &[Size]) -> Type {
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
