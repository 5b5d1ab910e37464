//! Helpers that build programs.

use pendula_compiler::ir::*;
use pendula_isa::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::{Acc, Cond, Ty};

/// The identity of a type.
pub(crate) fn id(ty: Ty) -> TableFn {
    match ty {
        Ty::Int => TableFn::Int(int_fn::Name::Id),
        Ty::Q => TableFn::Q(q_fn::Name::Id),
        Ty::L => TableFn::L(l_fn::Name::Id),
        Ty::F => TableFn::F(f_fn::Name::Id),
    }
}

/// The product of a type.
pub(crate) fn mul(ty: Ty) -> TableFn {
    match ty {
        Ty::Int => TableFn::Int(int_fn::Name::Mul),
        Ty::Q => TableFn::Q(q_fn::Name::Mul),
        Ty::L => TableFn::L(l_fn::Name::Mul),
        Ty::F => TableFn::F(f_fn::Name::Mul),
    }
}

/// The accumulator for words of a type.
pub(crate) fn acc(ty: Ty) -> Acc {
    if ty == Ty::L { Acc::Mul } else { Acc::Add }
}

/// A statement without a place in a file.
pub(crate) fn at(stmt: Stmt) -> LocatedStmt {
    stmt.at(Loc::default())
}

/// An integer.
pub(crate) fn int(k: i64) -> Operand {
    Operand::Const(k.cast_unsigned())
}

/// A variable.
pub(crate) fn var(v: Var) -> Operand {
    Operand::Var(v)
}

/// A function under construction.
pub(crate) struct Builder {
    /// The function.
    pub(crate) function: IrFunction,
}

impl Builder {
    /// A function without parameters.
    pub(crate) fn new(name: &str) -> Builder {
        Builder { function: IrFunction::new(name, Loc::default()) }
    }

    /// One more parameter.
    pub(crate) fn param(&mut self, name: &str, ty: Ty, written: bool) -> Var {
        let var = self.function.fresh(name, ty);
        self.function.params.push(Param { var, written });
        var
    }

    /// One more variable.
    pub(crate) fn var(&mut self, name: &str, ty: Ty) -> Var {
        self.function.fresh(name, ty)
    }

    /// One more region.
    pub(crate) fn region(&mut self, name: &str, ty: Ty) -> Region {
        self.function.regions.push(RegionInfo { name: name.to_owned(), ty });
        Region(self.function.regions.len() as u32 - 1)
    }
}

/// A word of memory.
pub(crate) fn word(base: Var, index: Option<Var>, offset: i64, region: Region) -> Mem {
    Mem { base: Some(base), index, offset, region }
}

/// `dst += func(args)`, or the corresponding accumulate of the type.
pub(crate) fn update(func: TableFn, dst: impl Into<Place>, args: &[Operand]) -> LocatedStmt {
    at(Stmt::Update { acc: acc(func.info().ty), inverse: false, func, dst: dst.into(), args: args.to_vec() })
}

/// `dst -= func(args)`, or the corresponding accumulate of the type.
pub(crate) fn undo(func: TableFn, dst: impl Into<Place>, args: &[Operand]) -> LocatedStmt {
    at(Stmt::Update { acc: acc(func.info().ty), inverse: true, func, dst: dst.into(), args: args.to_vec() })
}

/// Conversion to a place.
pub(crate) struct To(pub(crate) Place);

impl From<To> for Place {
    fn from(to: To) -> Place {
        to.0
    }
}

/// As a place.
pub(crate) fn to(v: Var) -> To {
    To(Place::Var(v))
}

/// As a place.
pub(crate) fn to_mem(m: Mem) -> To {
    To(Place::Mem(m))
}

/// An ancilla's beginning.
pub(crate) fn alloc(var: Var) -> LocatedStmt {
    at(Stmt::Ancilla { var, free: false, checks: AncillaChecks::FULL })
}

/// An ancilla's end.
pub(crate) fn free(var: Var) -> LocatedStmt {
    at(Stmt::Ancilla { var, free: true, checks: AncillaChecks::FULL })
}

/// A permutation.
pub(crate) fn permute(row: Row, inverse: bool, ty: Ty, args: &[Operand]) -> LocatedStmt {
    at(Stmt::Permute { row, inverse, ty, args: args.to_vec() })
}

/// A comparison.
pub(crate) fn test(cond: Cond, ty: Ty, a: Operand, b: Operand) -> Test {
    Test { cond, ty, a, b }
}

/// A `with`: computation, body, and the computation undone.
pub(crate) fn with(compute: Vec<LocatedStmt>, body: Vec<LocatedStmt>) -> LocatedStmt {
    at(Stmt::With { name: "with".into(), compute, body })
}

/// A `for` of constant step.
pub(crate) fn count(var: Var, first: Operand, last: Operand, step: i64, body: Vec<LocatedStmt>) -> LocatedStmt {
    at(Stmt::For { var, first, last, step: Step::Const(step), body, blocks: None })
}

/// A branch on one comparison.
pub(crate) fn branch(test: Test, then: Vec<LocatedStmt>, otherwise: Vec<LocatedStmt>) -> LocatedStmt {
    at(Stmt::If { pre: Condition::of(test), post: Condition::of(test), then, otherwise })
}

/// A program of these functions, of which the last one is the entry.
pub(crate) fn program(functions: Vec<IrFunction>) -> Program {
    let entry = Some(FunctionId(functions.len() as u32 - 1));
    Program { functions, entry, ..Program::default() }
}

/// The number of statements, including those within others.
pub(crate) fn statements(block: &[LocatedStmt]) -> usize {
    let mut n = 0;
    effects::walk(block, &mut |_| n += 1);
    n
}
