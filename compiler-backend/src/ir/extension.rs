//! Extensions in the IR: functions whose calls become one instruction.
//!
//! A function has the definition's steps as its body, so whatever follows calls knows what the instruction does. [`lower`](crate::lower) emits
//! the instruction in the place of each call; what runs whole programs in C has the steps written out.

use std::sync::Arc;

use pendula_isa::extension::{Defines, Definition, Extension, Form, identity, operand_register, temporary_register};
use pendula_isa::operand::Shape;
use pendula_isa::table::Row;
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
    #[error("its step `{mnemonic}` takes `{name}` as a {wanted}, and it is a {own}", wanted = ty_name(*wanted), own = ty_name(*own))]
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

/// How a type is told.
const fn ty_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Int => "word of integers",
        Ty::Q => "fixed-point number",
        Ty::L => "logarithmic number",
        Ty::F => "double",
    }
}

/// Turns steps into statements.
struct Steps<'a> {
    definition: &'a Definition,
    loc: Loc,
    out: Vec<LocatedStmt>,
}

impl Steps<'_> {
    fn push(&mut self, stmt: Stmt) {
        self.out.push(stmt.at(self.loc));
    }

    /// The variable of a local register; `None` for a register that is always zero.
    fn var(&self, register: Reg) -> Option<Var> {
        let operands = self.definition.operands();
        let all = (0..operands).map(operand_register);
        let all = all.chain((0..self.definition.temporaries.len()).map(temporary_register));
        all.enumerate().find(|(_, local)| *local == register).map(|(n, _)| Var(n as u32))
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
                Kind::Row { row: Row::Swap, .. } => *swapped.get_or_insert(own),
                kind => kind.constant_type(n),
            };
            if wanted != own && (wanted != Ty::Int || swapped.is_some()) {
                let name = self.name_of(var);
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

    fn name_of(&self, var: Var) -> String {
        let n = var.0 as usize;
        let register = match n.checked_sub(self.definition.operands()) {
            None => operand_register(n),
            Some(n) => temporary_register(n),
        };
        self.definition.local_name(register)
    }

    fn type_of(&self, var: Var) -> Ty {
        let n = var.0 as usize;
        let operands = self.definition.operands();
        match n.checked_sub(operands) {
            None => self.definition.operand_type(n),
            Some(n) => self.definition.temporaries.get(n).map_or(Ty::Int, |t| t.ty),
        }
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

/// The extension that a definition gives: of a function, the sum with it by this accumulator.
fn extension(definition: &Arc<Definition>, acc: Acc) -> Result<Extension, NotCallable> {
    let form = match definition.defines {
        Defines::Function { .. } => Form::Function { acc, shape: Shape::of_registers(definition.parameters.len()) },
        Defines::Instruction { .. } => Form::Instruction { constant: None },
    };
    Ok(Extension::new(definition, form)?)
}

impl IrFunction {
    /// The function whose calls become the instruction of this definition; of a function, of the sum with it by this accumulator.
    ///
    /// # Errors
    /// The IR has not all of its steps.
    pub fn of_definition(definition: &Arc<Definition>, acc: Acc, loc: Loc) -> Result<IrFunction, NotCallable> {
        let extension = extension(definition, acc)?;
        let mut function = IrFunction::new(format!("{}.isa", extension.info().mnemonic), loc);
        let names = (0..definition.operands()).map(|n| definition.local_name(operand_register(n)));
        for (n, name) in names.enumerate() {
            function.vars.push(VarInfo { name, ty: definition.operand_type(n), points: None });
            let written = match definition.defines {
                Defines::Function { .. } => n == 0,
                Defines::Instruction { .. } => definition.parameters.get(n).is_some_and(|p| p.written),
            };
            function.params.push(Param { var: Var(n as u32), written });
        }
        let of = |t: &pendula_isa::extension::Temporary| VarInfo { name: t.name.clone(), ty: t.ty, points: None };
        function.vars.extend(definition.temporaries.iter().map(of));
        let mut steps = Steps { definition, loc, out: Vec::new() };
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
