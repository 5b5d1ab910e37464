//! Extensions in the IR: functions whose calls become one instruction.
//!
//! A function has the definition's steps as its body, so whatever follows calls knows what the instruction does. [`lower`](crate::lower) emits
//! the instruction in the place of each call; what runs whole programs in C has the steps written out.

use std::sync::Arc;

use pendula_isa::extension::{Defines, Definition, Extension, identity, operand_register, temporary_register};
use pendula_isa::table::{Adjoint, Row};
use pendula_isa::{Acc, Cond, Inst, Kind, Reg, Ty};

use super::{
    AncillaChecks, AssertKind, IrFunction, Loc, LocatedStmt, Operand, Param, Place, Stmt, TOLERANCE, Test, Var,
    VarInfo, permutes,
};

/// Why a definition cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCallable {
    /// It has a step that the IR has not.
    #[error("its step `{mnemonic}` has a tolerance, and only {TOLERANCE:e} is known here")]
    Tolerance {
        /// The step's mnemonic.
        mnemonic: String,
    },
    /// It has a step that the IR has not.
    #[error("its step `{mnemonic}` is not known here")]
    Step {
        /// The step's mnemonic.
        mnemonic: String,
    },
    /// It has a step that takes a word as a number of another type than the word has, and carries gradients into it.
    #[error("its step `{mnemonic}` takes `{name}`, which is {own}, as {wanted}", wanted = wanted.name(), own = own.name())]
    Type {
        /// The step's mnemonic.
        mnemonic: String,
        /// The operand's or temporary's name.
        name: String,
        /// The type that the step takes.
        wanted: Ty,
        /// The type that the word has.
        own: Ty,
    },
    /// There are too many.
    #[error(transparent)]
    TooMany(#[from] pendula_isa::extension::TooMany),
}

/// Turns steps into statements.
struct Steps<'a> {
    definition: &'a Definition,
    /// The local registers by their variables, with their types.
    locals: Vec<(Reg, Ty)>,
    loc: Loc,
    out: Vec<LocatedStmt>,
}

impl Steps<'_> {
    fn push(&mut self, stmt: Stmt) {
        self.out.push(stmt.at(self.loc));
    }

    /// The variable of a local register; `None` for a register that is always zero.
    fn var(&self, register: Reg) -> Option<Var> {
        self.locals.iter().position(|(local, _)| *local == register).map(|n| Var(n as u32))
    }

    fn operands(&self, step: &Inst) -> Vec<Operand> {
        let one = |operand: pendula_isa::Operand| match operand {
            pendula_isa::Operand::Reg(r) => self.var(r).map_or(Operand::Const(0), Operand::Var),
            pendula_isa::Operand::Imm(word, _) => Operand::Const(word),
            pendula_isa::Operand::Small(k) => Operand::Const(i64::from(k).cast_unsigned()),
            pendula_isa::Operand::Factor(k) => Operand::Const(u64::from(k)),
            pendula_isa::Operand::Mem { .. } | pendula_isa::Operand::Label(_) | pendula_isa::Operand::Text(_) => {
                Operand::Const(0)
            }
        };
        step.operands().map(|(_, operand)| one(operand)).collect()
    }

    /// Whether a step takes words as what they are. Integer steps take any, since they carry no gradients; those that exchange words must not
    /// change what their gradient words are.
    fn fits(&self, step: &Inst, args: &[Operand]) -> Result<(), NotCallable> {
        let mut swapped = None;
        for (n, arg) in args.iter().enumerate() {
            let Operand::Var(var) = *arg else { continue };
            let own = self.type_of(var);
            let wanted = match step.kind {
                Kind::Accumulate { func, .. } if n == 0 => func.info().ty,
                Kind::Row { row, .. } if row.info().adjoint == Adjoint::Moves => *swapped.get_or_insert(own),
                kind => kind.constant_type(n),
            };
            if wanted != own && (wanted != Ty::Int || swapped.is_some()) {
                let name =
                    self.locals.get(var.0 as usize).map_or_else(String::new, |l| self.definition.local_name(l.0));
                return Err(NotCallable::Type { mnemonic: step.kind.mnemonic(), name, wanted, own });
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Inst) -> Result<(), NotCallable> {
        let args = self.operands(step);
        self.fits(step, &args)?;
        let unknown = || NotCallable::Step { mnemonic: step.kind.mnemonic() };
        let first = |args: &[Operand]| match args.first() {
            Some(Operand::Var(v)) => Ok(*v),
            _ => Err(unknown()),
        };
        match step.kind {
            Kind::Accumulate { acc, inverse, func, .. } => {
                let dst = Place::Var(first(&args)?);
                self.push(Stmt::Update { acc, inverse, func, dst, args: args.get(1..).unwrap_or_default().to_vec() });
            }
            Kind::Row { row: Row::Assert, ty, cond, .. } => {
                let [a, b] = args[..] else { return Err(unknown()) };
                self.push(Stmt::Assert { test: Test { cond, ty, a, b }, why: AssertKind::User, reason: None });
            }
            Kind::Row { row: Row::Zero, .. } => {
                let var = first(&args)?;
                self.clear(var, (self.type_of(var) == Ty::F).then_some(Ty::Int));
            }
            Kind::Row { row: Row::ZeroWithin, .. } => {
                let tolerance = f64::from_bits(step.imm.cast_unsigned());
                if tolerance != 0.0 && tolerance != TOLERANCE {
                    return Err(NotCallable::Tolerance { mnemonic: step.kind.mnemonic() });
                }
                self.clear(first(&args)?, (tolerance == 0.0).then_some(Ty::F));
            }
            Kind::Row { row, inverse, ty, .. } if permutes(row) => {
                self.push(Stmt::Permute { row, inverse, ty, args });
            }
            Kind::Row { .. } | Kind::Extension { .. } => return Err(unknown()),
        }
        Ok(())
    }

    fn type_of(&self, var: Var) -> Ty {
        self.locals.get(var.0 as usize).map_or(Ty::Int, |(_, ty)| *ty)
    }

    /// Checks that a variable is zero, doubles within [`TOLERANCE`], and drops its gradient word. With `exactly` it must be zero as a number of
    /// this type.
    fn clear(&mut self, var: Var, exactly: Option<Ty>) {
        self.exactly_zero(var, exactly);
        for free in [true, false] {
            self.push(Stmt::Ancilla { var, free, checks: AncillaChecks::FULL });
        }
        self.exactly_zero(var, exactly);
    }

    fn exactly_zero(&mut self, var: Var, ty: Option<Ty>) {
        if let Some(ty) = ty {
            let test = Test { cond: Cond::Eq, ty, a: Operand::Var(var), b: Operand::Const(0) };
            self.push(Stmt::Assert { test, why: AssertKind::User, reason: None });
        }
    }

    fn lives(&mut self, free: bool, checks: AncillaChecks) {
        let first = self.definition.operands() as u32;
        for (n, temporary) in self.definition.temporaries.iter().enumerate() {
            let var = Var(first + n as u32);
            let exactly = (checks.check && temporary.ty == Ty::F).then_some(Ty::F);
            self.exactly_zero(var, exactly.filter(|_| free));
            self.push(Stmt::Ancilla { var, free, checks });
            self.exactly_zero(var, exactly.filter(|_| !free));
        }
    }
}

impl IrFunction {
    /// The function whose calls become the instruction of this definition; of a function, of the sum with it by this accumulator.
    ///
    /// # Errors
    /// The IR has not all of its steps.
    pub fn of_definition(definition: &Arc<Definition>, acc: Acc, loc: Loc) -> Result<IrFunction, NotCallable> {
        let extension = Extension::in_registers(definition, acc)?;
        let mut function = IrFunction::new(format!("{}.isa", extension.info().mnemonic), loc);
        let operands = (0..definition.operands()).map(|n| (operand_register(n), definition.operand_type(n)));
        let temporaries = definition.temporaries.iter().enumerate().map(|(n, t)| (temporary_register(n), t.ty));
        let locals: Vec<(Reg, Ty)> = operands.chain(temporaries).collect();
        let info = |(local, ty): &(Reg, Ty)| VarInfo { name: definition.local_name(*local), ty: *ty, points: None };
        function.vars = locals.iter().map(info).collect();
        for n in 0..definition.operands() {
            let written = match definition.defines {
                Defines::Function { .. } => n == 0,
                Defines::Instruction { .. } => definition.parameters.get(n).is_some_and(|p| p.written),
            };
            function.params.push(Param { var: Var(n as u32), written });
        }
        let mut steps = Steps { definition, locals, loc, out: Vec::new() };
        match &definition.defines {
            Defines::Function { ty, value, .. } => {
                steps.lives(false, AncillaChecks { check: false, drop: true });
                definition.steps.iter().try_for_each(|step| steps.step(step))?;
                let args = vec![steps.var(*value).map_or(Operand::Const(0), Operand::Var)];
                let enter = Stmt::Update { acc, inverse: false, func: identity(*ty), dst: Place::Var(Var(0)), args };
                let (compute, body) = (std::mem::take(&mut steps.out), vec![enter.at(loc)]);
                function.body = vec![Stmt::With { name: function.name.clone(), compute, body }.at(loc)];
            }
            Defines::Instruction { .. } => {
                steps.lives(false, AncillaChecks::FULL);
                definition.steps.iter().try_for_each(|step| steps.step(step))?;
                steps.lives(true, AncillaChecks::FULL);
                function.body = steps.out;
            }
        }
        function.extension = Some(extension);
        Ok(function)
    }
}
