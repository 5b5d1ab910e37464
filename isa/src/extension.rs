//! Instructions beside the table's, given by definitions: a function that is made of functions of the table, or an instruction that is made of
//! steps. Everything else follows from the definition, as it follows from a row for the table's own instructions.
//!
//! The steps are ordinary instructions on *local registers*, which only an extension has: the first [`OPERANDS`] hold its operands, the others
//! its temporaries. To run an extension is to bring its operands into local registers, run the steps there, and bring the operands back. So
//! nothing has changed if a step traps, and whatever runs instructions runs extensions, with all that words carry.
//!
//! Definitions are kept for as long as the process lives; equal ones are kept once. So an [`Extension`] is a small number, like a row.

mod run;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::class::GateClass;
use crate::inst::{Inst, Kind};
use crate::operand::{Layout, OPERANDS, OperandKind, Shape, Slot};
use crate::table::{Flow, Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use crate::types::{Acc, Cond, Profile, Reg, Ty};

pub use run::run_step;

/// The most steps of a definition.
pub const STEPS: usize = 64;
/// The most temporaries of a definition.
pub const TEMPORARIES: usize = 16;
/// What stands between the operands that change and those that are read.
pub const OPERAND_SEPARATOR: char = '|';
/// The most extensions that the code of a module uses: their numbers have 8 bits in instruction words.
pub const IN_MODULE: usize = 256;

/// An operand of an instruction, or an argument of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The type of a constant in its place, and in which its gradient word is.
    pub ty: Ty,
    /// Whether the instruction changes it.
    pub written: bool,
}

/// A temporary: zero before and after.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Temporary {
    /// The name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
}

/// What a definition defines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Defines {
    /// An instruction, and the mnemonic of its inverse; `None` if it is its own inverse.
    Instruction {
        /// The inverse's mnemonic.
        partner: Option<String>,
    },
    /// A function: the steps compute its value.
    Function {
        /// The type of the value.
        ty: Ty,
        /// The local register that has the value.
        value: Reg,
        /// The expression, as it was written.
        expression: String,
    },
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Definition {
    /// The mnemonic with its suffix; of a function, the part of mnemonics after the accumulator.
    pub name: String,
    /// What it defines.
    pub defines: Defines,
    /// The documentation, one line an element.
    pub docs: Vec<String>,
    /// The operands; of a function, the arguments, which are operands 1 and on.
    pub parameters: Vec<Parameter>,
    /// The temporaries.
    pub temporaries: Vec<Temporary>,
    /// The steps, over local registers.
    pub steps: Vec<Inst>,
}

/// How an extension comes from its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// An instruction of which this operand, if any, is a constant.
    Instruction {
        /// The number of the operand.
        constant: Option<u8>,
    },
    /// An accumulate with the function.
    Function {
        /// The accumulator.
        acc: Acc,
        /// The shape of its operands.
        shape: Shape,
    },
}

/// All that follows from a definition, for one form.
#[derive(Debug)]
pub struct ExtensionInfo {
    /// The definition.
    pub definition: Arc<Definition>,
    /// The form.
    pub form: Form,
    /// The mnemonic.
    pub mnemonic: String,
    /// The inverse's mnemonic; `None` if the instruction is its own inverse.
    pub partner: Option<String>,
    /// The locations of the operands.
    pub layout: Layout,
    /// The steps, and those of the inverse, over local registers.
    pub steps: [Vec<Inst>; 2],
}

/// An extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Extension(u16);

impl std::fmt::Debug for Extension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Extension({}: {})", self.0, self.info().mnemonic)
    }
}

/// The extensions of the process.
#[derive(Default)]
struct Known {
    all: Vec<&'static ExtensionInfo>,
    by_definition: HashMap<(Arc<Definition>, Form), Extension>,
}

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

/// The process has had too many different extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this process has had {} different extensions, and can have no more", u16::MAX)]
pub struct TooMany;

impl Extension {
    /// The extension that a definition gives in this form.
    ///
    /// # Errors
    /// The process has had too many.
    pub fn new(definition: &Arc<Definition>, form: Form) -> Result<Extension, TooMany> {
        let key = (Arc::clone(definition), form);
        if let Some(&known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).by_definition.get(&key) {
            return Ok(known);
        }
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        let Known { all, by_definition } = &mut *known;
        if let Some(&known) = by_definition.get(&key) {
            return Ok(known);
        }
        let number = u16::try_from(all.len()).ok().filter(|n| *n < u16::MAX).ok_or(TooMany)?;
        all.push(Box::leak(Box::new(ExtensionInfo::new(Arc::clone(definition), form))));
        by_definition.insert(key, Extension(number));
        Ok(Extension(number))
    }

    /// The extension that a definition gives with operands in registers; of a function, the sum with it by this accumulator.
    ///
    /// # Errors
    /// There are too many.
    pub fn in_registers(definition: &Arc<Definition>, acc: Acc) -> Result<Extension, TooMany> {
        let form = match definition.defines {
            Defines::Function { .. } => Form::Function { acc, shape: Shape::of_registers(definition.parameters.len()) },
            Defines::Instruction { .. } => Form::Instruction { constant: None },
        };
        Extension::new(definition, form)
    }

    /// Of those that a definition gives, one that is always the same: of a function, the exclusive or with its value, with operands in registers.
    pub fn canonical(self) -> Extension {
        Extension::in_registers(&self.info().definition, Acc::Xor).unwrap_or(self)
    }

    /// What is known of it.
    pub fn info(self) -> &'static ExtensionInfo {
        KNOWN.read().unwrap_or_else(PoisonError::into_inner).all[usize::from(self.0)]
    }
}

/// The local register of operand `n`.
pub const fn operand_register(n: usize) -> Reg {
    Reg::local(n as u8)
}

/// The local register of temporary `n`.
pub const fn temporary_register(n: usize) -> Reg {
    Reg::local((OPERANDS + n) as u8)
}

/// Whether a local register is that of a temporary.
pub fn is_temporary(register: Reg) -> bool {
    register.local_number().is_some_and(|n| usize::from(n) >= OPERANDS)
}

/// The function that returns its argument.
pub const fn identity(ty: Ty) -> TableFn {
    match ty {
        Ty::Int => TableFn::Int(int_fn::Name::Id),
        Ty::Q => TableFn::Q(q_fn::Name::Id),
        Ty::L => TableFn::L(l_fn::Name::Id),
        Ty::F => TableFn::F(f_fn::Name::Id),
    }
}

/// The accumulator that brings a value into a clear word of a type.
pub const fn sum_of(ty: Ty) -> Acc {
    match ty {
        Ty::L => Acc::Mul,
        Ty::Int | Ty::Q | Ty::F => Acc::Add,
    }
}

/// The instruction that checks that a register is zero.
fn zero(register: Reg, ty: Ty) -> Inst {
    let (row, ty) = if ty == Ty::F { (Row::ZeroWithin, Ty::F) } else { (Row::Zero, Ty::Int) };
    let kind = Kind::Row { row, inverse: false, ty, cond: Cond::Always, form: false };
    Inst { kind, regs: Inst::registers(&[register]), imm: 0, small: 0 }
}

impl Definition {
    /// The number of operands.
    pub fn operands(&self) -> usize {
        self.parameters.len() + usize::from(self.is_function())
    }

    /// Whether it defines a function.
    pub fn is_function(&self) -> bool {
        matches!(self.defines, Defines::Function { .. })
    }

    /// The type of operand `n`.
    pub fn operand_type(&self, n: usize) -> Ty {
        match (&self.defines, n) {
            (Defines::Function { ty, .. }, 0) => *ty,
            (Defines::Function { .. }, n) => self.parameters.get(n - 1).map_or(Ty::Int, |p| p.ty),
            (Defines::Instruction { .. }, n) => self.parameters.get(n).map_or(Ty::Int, |p| p.ty),
        }
    }

    /// The name of a local register.
    pub fn local_name(&self, register: Reg) -> String {
        let Some(n) = register.local_number() else { return register.to_string() };
        let n = usize::from(n);
        let parameter = if self.is_function() { n.checked_sub(1) } else { Some(n) };
        let name = match n.checked_sub(OPERANDS) {
            Some(n) => self.temporaries.get(n).map(|t| t.name.clone()),
            None => parameter.and_then(|n| Some(self.parameters.get(n)?.name.clone())),
        };
        name.unwrap_or_else(|| "y".to_string())
    }

    /// The mnemonics of the family: of a function, one for each accumulator and its partner.
    pub fn mnemonics(&self) -> Vec<(String, Option<Acc>, bool)> {
        match &self.defines {
            Defines::Instruction { partner } => {
                let own = (self.name.clone(), None, false);
                std::iter::once(own).chain(partner.iter().map(|p| (p.clone(), None, true))).collect()
            }
            Defines::Function { ty, .. } => {
                let accepted = Acc::ALL.into_iter().filter(|acc| acc.accepts(*ty));
                let both = accepted.flat_map(|acc| [(acc, false), (acc, true)]);
                both.filter(|(acc, inverse)| !(*inverse && acc.self_inverse()))
                    .map(|(acc, inverse)| (format!("{}{}", acc.name(inverse), self.name), Some(acc), inverse))
                    .collect()
            }
        }
    }
}

impl Definition {
    /// The instructions of the family, with their mnemonics; functions with operands in registers alone.
    ///
    /// # Errors
    /// The process has had too many extensions.
    pub fn kinds(self: &Arc<Definition>) -> Result<Vec<(String, Kind)>, TooMany> {
        let kind = |(name, acc, inverse): (String, Option<Acc>, bool)| {
            let extension = Extension::in_registers(self, acc.unwrap_or(Acc::Add))?;
            Ok((name, Kind::Extension { extension, inverse }))
        };
        self.mnemonics().into_iter().map(kind).collect()
    }
}

impl ExtensionInfo {
    fn new(definition: Arc<Definition>, form: Form) -> ExtensionInfo {
        let layout = match form {
            Form::Function { shape, .. } => shape.layout(),
            Form::Instruction { constant } => {
                let mut layout = [Slot::None; OPERANDS];
                let mut field = 0;
                for (n, (slot, parameter)) in layout.iter_mut().zip(&definition.parameters).enumerate() {
                    *slot = match parameter.written {
                        true => Slot::Target(field),
                        false if constant == Some(n as u8) => Slot::Imm,
                        false => Slot::Reg(field),
                    };
                    field += slot.fields();
                }
                layout
            }
        };
        let (mnemonic, partner) = match (&definition.defines, form) {
            (Defines::Function { .. }, Form::Function { acc, .. }) => {
                let name = |inverse| format!("{}{}", acc.name(inverse), definition.name);
                (name(false), (!acc.self_inverse()).then(|| name(true)))
            }
            (Defines::Instruction { partner }, _) => (definition.name.clone(), partner.clone()),
            (Defines::Function { .. }, Form::Instruction { .. }) => (definition.name.clone(), None),
        };
        let steps = steps(&definition, form);
        let back = steps.iter().rev().map(|step| step.inverse()).collect();
        ExtensionInfo { definition, form, mnemonic, partner, layout, steps: [steps, back] }
    }

    /// Whether its temporaries are forgotten afterwards with all that they carry: those of a function, which undoes what computed it. The
    /// temporaries of an instruction are checked to be zero by steps of their own, which drop their gradient words.
    pub fn forgets(&self) -> bool {
        self.definition.is_function()
    }

    /// The steps that its circuit does, or with `inverse` those of the inverse's: temporaries are ancillas there, which are clear before, and
    /// checked afterwards only if they may not be clear.
    pub fn circuit_steps(&self, inverse: bool) -> &[Inst] {
        let checks = self.checks().len();
        let all = &self.steps[usize::from(inverse)];
        &all[checks..all.len() - checks]
    }

    /// The steps of a function whose value is not kept in a temporary but enters the target as it is computed; `None` if it is no function, or its
    /// value is not what is computed last.
    pub fn entered_at_once(&self, inverse: bool) -> Option<Vec<Inst>> {
        let Defines::Function { value, .. } = self.definition.defines else { return None };
        let steps = self.circuit_steps(inverse);
        let middle = steps.len() / 2;
        let (enter, last) = (steps.get(middle)?, steps.get(middle.checked_sub(1)?)?);
        let (Kind::Accumulate { acc, inverse, .. }, Kind::Accumulate { func, shape, .. }) = (enter.kind, last.kind)
        else {
            return None;
        };
        if last.regs[0] != value {
            return None;
        }
        let mut direct = Inst { kind: Kind::Accumulate { acc, inverse, func, shape }, ..*last };
        direct.regs[0] = enter.regs[0];
        let mut out = steps[..middle - 1].to_vec();
        out.push(direct);
        out.extend_from_slice(&steps[middle + 2..]);
        Some(out)
    }

    /// The steps at the end that check that temporaries are zero, in the order of the temporaries; none if these are forgotten.
    pub fn checks(&self) -> &[Inst] {
        let all = &self.steps[0];
        let checks = if self.forgets() { 0 } else { self.definition.temporaries.len() };
        &all[all.len() - checks..]
    }

    /// The kind of operand `n`.
    pub fn operand_kind(&self, n: usize) -> Option<OperandKind> {
        if n >= self.definition.operands() {
            return None;
        }
        Some(match self.form {
            Form::Function { .. } if n == 0 => OperandKind::TargetOrMemory,
            Form::Function { .. } => OperandKind::Value,
            Form::Instruction { .. } if self.definition.parameters[n].written => OperandKind::Target,
            Form::Instruction { .. } => OperandKind::Value,
        })
    }
}

impl Inst {
    /// The local register that holds operand `n` of an extension: of operands that are the same register, that of the first.
    pub fn local_of(&self, layout: &Layout, n: usize) -> Reg {
        let register = |slot: &Slot| match slot {
            Slot::Reg(f) | Slot::Target(f) => Some(self.regs[usize::from(*f)]),
            _ => None,
        };
        let own = register(&layout[n]);
        let first = layout[..n].iter().position(|slot| own.is_some() && register(slot) == own);
        operand_register(first.unwrap_or(n))
    }

    /// The steps of an extension with these operands, or with `back` of its inverse, on local registers. None for other instructions.
    pub fn steps(&self, back: bool) -> Vec<Inst> {
        let Kind::Extension { extension, inverse } = self.kind else { return Vec::new() };
        let info = extension.info();
        let mut steps = info.steps[usize::from(inverse != back)].clone();
        let homes: [Reg; OPERANDS] = std::array::from_fn(|n| self.local_of(&info.layout, n));
        for register in steps.iter_mut().flat_map(|step| &mut step.regs) {
            if let Some(home) = register.local_number().and_then(|n| homes.get(usize::from(n))) {
                *register = *home;
            }
        }
        steps
    }
}

/// The steps of an extension.
fn steps(definition: &Definition, form: Form) -> Vec<Inst> {
    let own = definition.steps.iter().copied();
    match (&definition.defines, form) {
        (Defines::Function { ty, value, .. }, Form::Function { acc, .. }) => {
            let kind = Kind::Accumulate { acc, inverse: false, func: identity(*ty), shape: Shape::RR };
            let enter = Inst { kind, regs: Inst::registers(&[operand_register(0), *value]), imm: 0, small: 0 };
            let undo = definition.steps.iter().rev().map(|step| step.inverse());
            own.chain([enter]).chain(undo).collect()
        }
        _ => {
            let clear = |(n, t): (usize, &Temporary)| zero(temporary_register(n), t.ty);
            let zeros = || definition.temporaries.iter().enumerate().map(clear);
            zeros().chain(own).chain(zeros()).collect()
        }
    }
}

/// Whether an instruction may be a step: it can be undone, and works on registers and constants alone.
pub fn may_be_step(kind: Kind) -> bool {
    match kind {
        Kind::Accumulate { .. } | Kind::Extension { .. } => true,
        Kind::Row { row, .. } => {
            let info = row.info();
            let elsewhere = |kind: &OperandKind| match kind {
                OperandKind::Memory | OperandKind::TargetOrMemory | OperandKind::Label | OperandKind::Text => true,
                OperandKind::Target
                | OperandKind::Source
                | OperandKind::Amount
                | OperandKind::Value
                | OperandKind::Constant
                | OperandKind::Small
                | OperandKind::Tolerance
                | OperandKind::Factor => false,
            };
            info.flow == Flow::Straight
                && info.profiles.has(Profile::Native)
                && !info.moves_sp
                && info.class != GateClass::Host
                && !info.operands.iter().any(elsewhere)
        }
    }
}
