//! The work of an instruction: the circuits that it uses, and how often, in each mode. At a gradient level the
//! instruction also updates gradient words. Their circuits are derived from the partial derivatives in the table, by
//! evaluating them with a calculus that counts instead of computing.

use std::collections::BTreeMap;
use std::convert::Infallible;

use pendula_isa::GateClass;
use pendula_isa::adjoint::AdMode;
use pendula_isa::calculus::{Calculus, Constant};
use pendula_isa::counts::Mode;
use pendula_isa::extension::{Extension, Form};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::{ARITY, Adjoint, Function, FunctionInfo, FunctionVisitor, Row, TableFn, f_fn, q_fn};
use pendula_isa::types::{Acc, Cond, Reg, Ty};

use crate::partials::is_unit;

/// A circuit that an instruction uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CircuitKind {
    /// A function, computed and computed backward around its accumulator. With `xor` the accumulator is the exclusive
    /// or, for which some functions need no ancilla.
    Function {
        /// The function.
        func: TableFn,
        /// Whether the accumulator is the exclusive or.
        xor: bool,
    },
    /// A function by definition, computed and computed backward around its accumulator.
    Defined {
        /// One of the extensions that the definition gives.
        extension: Extension,
        /// Whether the accumulator is the exclusive or.
        xor: bool,
    },
    /// An accumulator of words of a type.
    Accumulator(Acc, Ty),
    /// Another instruction.
    Row {
        /// The row.
        row: Row,
        /// The type.
        ty: Ty,
        /// The condition.
        cond: Cond,
        /// Whether the operand with two forms has the second.
        form: bool,
        /// Whether it is the second of a pair.
        inverse: bool,
    },
    /// Access to a word of memory.
    Memory,
}

impl CircuitKind {
    /// The gate class under which it is reported.
    pub fn class(self) -> GateClass {
        match self {
            CircuitKind::Function { func, .. } => func.info().class,
            CircuitKind::Defined { extension, .. } => {
                let steps = extension.info().definition.steps.iter();
                let classes = steps.filter_map(|step| match step.kind {
                    Kind::Accumulate { func, .. } => Some(func.info().class),
                    Kind::Row { .. } | Kind::Extension { .. } => None,
                });
                // That of the step for which most is published.
                classes.max_by_key(|class| crate::price::rank(*class)).unwrap_or(GateClass::Wire)
            }
            CircuitKind::Accumulator(acc, ty) => pendula_isa::table::accumulator_class(acc, ty),
            CircuitKind::Row { row, .. } => row.info().class,
            CircuitKind::Memory => GateClass::Memory,
        }
    }

    fn row(row: Row, ty: Ty) -> CircuitKind {
        CircuitKind::Row { row, ty, cond: Cond::Always, form: false, inverse: false }
    }

    /// An addition of gradient words.
    fn sum(ty: Ty) -> CircuitKind {
        CircuitKind::Accumulator(Acc::Add, ty)
    }

    /// A product of gradient words.
    fn product(ty: Ty) -> CircuitKind {
        let func = if ty == Ty::F { TableFn::F(f_fn::Name::Mul) } else { TableFn::Q(q_fn::Name::Mul) };
        CircuitKind::Function { func, xor: false }
    }
}

/// Uses of circuits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CircuitUsage(BTreeMap<CircuitKind, u64>);

/// n · `part` / `whole`, rounded.
pub(crate) fn share(n: u64, part: u64, whole: u64) -> u64 {
    let whole = u128::from(whole.max(1));
    u64::try_from((u128::from(n) * u128::from(part) + whole / 2) / whole).unwrap_or(u64::MAX)
}

impl CircuitUsage {
    /// One execution of an instruction in a mode.
    pub fn of(inst: &Inst, mode: Mode) -> CircuitUsage {
        let mut work = CircuitUsage::default();
        work.add_values(inst);
        if let Some(ad_mode) = AdMode::new(mode.level, mode.tangents)
            && ad_mode != AdMode::Plain
        {
            match inst.kind {
                Kind::Extension { extension, inverse } => {
                    for step in extension.info().circuit_steps(inverse) {
                        work.add_carried(step, ad_mode);
                    }
                    work.add(CircuitKind::Memory, accesses(inst) * ad_mode.lanes().len() as u64);
                }
                Kind::Accumulate { .. } | Kind::Row { .. } => work.add_carried(inst, ad_mode),
            }
        }
        work
    }

    /// Adds the circuits for the effect of an instruction of the table on what words carry.
    fn add_carried(&mut self, inst: &Inst, ad_mode: AdMode) {
        match inst.kind {
            Kind::Accumulate { acc, func, .. } => {
                if !acc.self_inverse() && func.info().partials > 0 {
                    add_update(self, inst, func, ad_mode);
                    self.add(CircuitKind::Memory, accesses(inst) * ad_mode.lanes().len() as u64);
                }
            }
            Kind::Row { row, ty, .. } => self.add_gradients(inst, row.info().adjoint, ty, ad_mode),
            // Its steps are instructions of the table.
            Kind::Extension { .. } => {}
        }
    }

    /// Adds the work of `times` executions of another.
    pub fn add_times(&mut self, other: &CircuitUsage, times: u64) {
        for (unit, n) in &other.0 {
            let sum = self.0.entry(*unit).or_default();
            *sum = sum.saturating_add(n.saturating_mul(times));
        }
    }

    /// Adds the fraction `part`/`whole` of another, with each number of uses rounded.
    pub(crate) fn add_share(&mut self, other: &CircuitUsage, part: u64, whole: u64) {
        for (unit, n) in &other.0 {
            self.add(*unit, share(*n, part, whole));
        }
    }

    /// The number of uses of each circuit.
    pub fn uses(&self) -> impl Iterator<Item = (CircuitKind, u64)> + '_ {
        self.0.iter().map(|(unit, n)| (*unit, *n))
    }

    /// Adds uses of a circuit.
    pub fn add(&mut self, unit: CircuitKind, times: u64) {
        if times > 0 {
            let sum = self.0.entry(unit).or_default();
            *sum = sum.saturating_add(times);
        }
    }

    /// Adds the circuits for the effect of the instruction on values.
    fn add_values(&mut self, inst: &Inst) {
        match inst.kind {
            Kind::Accumulate { acc, func, .. } => {
                let xor = acc == Acc::Xor;
                self.add(CircuitKind::Function { func, xor }, 1);
                // A function that is computed directly into its target has no separate accumulator.
                if !crate::gate_counts::is_fused(func, xor) {
                    self.add(CircuitKind::Accumulator(acc, func.info().ty), 1);
                }
            }
            Kind::Row { row, inverse, ty, cond, form } => {
                self.add(CircuitKind::Row { row, ty, cond, form, inverse }, 1)
            }
            Kind::Extension { extension, inverse } => match extension.info().form {
                // What it computes for its value is undone with it, as in functions of the table.
                Form::Function { acc, .. } => {
                    let xor = acc == Acc::Xor;
                    let definition = &extension.info().definition;
                    self.add(CircuitKind::Defined { extension: extension.canonical(), xor }, 1);
                    self.add(CircuitKind::Accumulator(acc, definition.operand_type(0)), 1);
                }
                Form::Instruction { .. } => {
                    for step in extension.info().circuit_steps(inverse) {
                        self.add_values(step);
                    }
                }
            },
        }
        self.add(CircuitKind::Memory, accesses(inst));
    }

    /// Adds the circuits for its effect on gradient words and tangents, unless it is an accumulate.
    fn add_gradients(&mut self, inst: &Inst, adjoint: Adjoint, ty: Ty, ad_mode: AdMode) {
        let lanes = ad_mode.lanes().len() as u64;
        match adjoint {
            // Dropped words are counted as lost bits.
            Adjoint::Discrete | Adjoint::Drops => {}
            Adjoint::Moves | Adjoint::Negates | Adjoint::Scales => {
                let mut one = CircuitUsage::default();
                one.add_values(inst);
                self.add_times(&one, lanes);
            }
            Adjoint::Rotates => {
                // Rotations beside that of the value, and products with sums, as in the steps of `adjoint::turn`.
                let (turns, products) = match ad_mode {
                    AdMode::Plain => (0, 0),
                    AdMode::Gradient | AdMode::Tangent => (1, 2),
                    AdMode::SecondGradient | AdMode::GradientTangent => (3, 10),
                };
                let mut one = CircuitUsage::default();
                one.add_values(inst);
                self.add_times(&one, turns);
                self.add(CircuitKind::product(ty), products);
                self.add(CircuitKind::sum(ty), products);
            }
        }
    }
}

/// A calculus that only counts; with `dual`, the operations on dual numbers.
struct Tally<'a> {
    work: &'a mut CircuitUsage,
    dual: bool,
}

/// What is counted of a function of the table. What takes it is compiled once, not once for each function.
struct Partials {
    info: &'static FunctionInfo,
    is_unit: fn(usize) -> bool,
    count: fn(&mut Tally<'_>, usize) -> Result<(), Infallible>,
}

impl Partials {
    fn of<F: Function>() -> Partials {
        Partials {
            info: const { &F::INFO },
            is_unit: is_unit::<F>,
            count: |tally, n| F::partial(tally, n, [(); ARITY], ()),
        }
    }

    fn new(func: TableFn) -> Partials {
        struct Of;
        impl FunctionVisitor for Of {
            type Out = Partials;
            fn visit<F: Function>(self) -> Partials {
                Partials::of::<F>()
            }
        }
        func.visit(Of)
    }
}

impl Tally<'_> {
    /// The transfer of a gradient between a function's value and an argument, in either direction: the product with a
    /// partial derivative, unless that is 1 or −1, and a conversion if the types differ.
    fn share(&mut self, f: &Partials, n: usize) {
        let calculus = f.info.calculus();
        for ty in [f.info.ty, f.info.args[n].ty] {
            if ty.gradient().is_some_and(|g| g != calculus) {
                let func = if calculus == Ty::F { TableFn::F(f_fn::Name::CvtQ) } else { TableFn::Q(q_fn::Name::CvtF) };
                self.work.add(CircuitKind::Function { func, xor: false }, 1);
            }
        }
        if !(f.is_unit)(n) {
            let Ok(()) = (f.count)(self, n);
            self.work.add(CircuitKind::product(calculus), 1);
        }
    }

    fn function(&mut self, f: &Partials) {
        self.work.add(CircuitKind::Function { func: f.info.func, xor: false }, 1);
        if self.dual {
            let mut values = Tally { work: self.work, dual: false };
            for n in 0..f.info.partials {
                values.share(f, n);
                values.work.add(CircuitKind::sum(f.info.ty), 1);
            }
        }
    }
}

impl Calculus for Tally<'_> {
    type V = ();
    type Stop = Infallible;

    fn apply<F: Function>(&mut self, _: [(); ARITY]) -> Result<(), Infallible> {
        self.function(&Partials::of::<F>());
        Ok(())
    }

    fn constant(&mut self, _: Ty, _: Constant) {}

    fn offset(&mut self, (): (), _: i64) {
        self.work.add(CircuitKind::row(Row::Inc, Ty::Int), 1);
    }

    fn if_le(&mut self, _: Ty, (): (), (): (), (): (), (): ()) -> Result<(), Infallible> {
        let select = CircuitKind::Function { func: TableFn::Q(q_fn::Name::Min), xor: false };
        self.work.add(select, 1 + u64::from(self.dual));
        Ok(())
    }
}

/// Adds the update of the gradient words and tangents of an accumulate.
fn add_update(work: &mut CircuitUsage, inst: &Inst, func: TableFn, ad_mode: AdMode) {
    let f = Partials::new(func);
    let has_gradient: Vec<bool> = inst.operands().skip(1).map(|(slot, operand)| has_gradient(slot, operand)).collect();
    let arguments = (0..f.info.partials).filter(|n| has_gradient.get(*n).copied().unwrap_or(false));
    for n in arguments {
        let gradient = f.info.args[n].ty.gradient().unwrap_or(Ty::Q);
        match ad_mode {
            AdMode::Plain => {}
            AdMode::Gradient => {
                Tally { work, dual: false }.share(&f, n);
                work.add(CircuitKind::sum(gradient), 1);
            }
            AdMode::Tangent => {
                Tally { work, dual: false }.share(&f, n);
                work.add(CircuitKind::sum(f.info.ty), 1);
            }
            AdMode::SecondGradient | AdMode::GradientTangent => {
                // The gradient and its companion come from one evaluation over dual numbers; also the tangent of
                // the value.
                Tally { work, dual: true }.share(&f, n);
                if !(f.is_unit)(n) {
                    work.add(CircuitKind::product(gradient), 2);
                    work.add(CircuitKind::sum(gradient), 1);
                }
                work.add(CircuitKind::sum(gradient), 2);
                work.add(CircuitKind::sum(f.info.ty), 1);
            }
        }
    }
}

/// The instructions that erase registers, and words of memory. The address of a word does not affect the cost.
pub(crate) fn erasing(registers: u64, memory: u64) -> impl Iterator<Item = (Inst, u64)> {
    const ERASE: Kind = Kind::Row { row: Row::Erase, inverse: false, ty: Ty::Int, cond: Cond::Always, form: false };
    const MEMORY: Operand = Operand::Mem { base: Reg::ZERO, index: Reg::ZERO, offset: 0 };
    let all = [(Operand::Reg(Reg::SP), registers), (MEMORY, memory)];
    all.into_iter().filter(|(_, n)| *n > 0).filter_map(|(word, n)| Some((Inst::build(ERASE, &[word]).ok()?, n)))
}

/// The register operands of an instruction, addresses among them, and how many of them it changes.
pub(crate) fn registers(inst: &Inst) -> (u64, u64) {
    let (mut all, mut changed) = (0, 0);
    for (slot, operand) in inst.operands() {
        match operand {
            Operand::Reg(r) if r != Reg::ZERO => {
                all += 1;
                changed += u64::from(slot.is_written());
            }
            Operand::Mem { base, index, .. } => all += u64::from(base != Reg::ZERO) + u64::from(index != Reg::ZERO),
            Operand::Reg(_)
            | Operand::Imm(..)
            | Operand::Small(_)
            | Operand::Factor(_)
            | Operand::Label(_)
            | Operand::Text(_) => {}
        }
    }
    (all, changed)
}

/// Exchanges with memory. An operand of an accumulate is fetched and put back; an exchange moves it once; the link of a
/// call is pushed by the call and popped by the return.
fn accesses(inst: &Inst) -> u64 {
    let has = inst.classes().any(|c| c == GateClass::Memory);
    match inst.kind {
        Kind::Accumulate { .. } | Kind::Extension { .. } => 2 * u64::from(has),
        Kind::Row { row: Row::Proc, inverse, .. } => u64::from(inverse),
        Kind::Row { .. } => u64::from(has),
    }
}

/// Whether an operand has a gradient word.
fn has_gradient(slot: Slot, operand: Operand) -> bool {
    match operand {
        Operand::Reg(r) => r != Reg::ZERO,
        Operand::Mem { .. } => slot.is_memory(),
        Operand::Imm(..) | Operand::Small(_) | Operand::Factor(_) | Operand::Label(_) | Operand::Text(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pendula_isa::counts::Direction;
    use pendula_isa::mnemonic;

    fn work(text: &str, operands: &[Operand], level: u8) -> Vec<(&'static str, u64)> {
        let kind = mnemonic::lookup(text).expect("a mnemonic");
        let inst = Inst::build(kind, operands).expect("operands");
        let mode = Mode { direction: Direction::Backward, level, tangents: false };
        let mut by: BTreeMap<GateClass, u64> = BTreeMap::new();
        for (unit, n) in CircuitUsage::of(&inst, mode).uses() {
            *by.entry(unit.class()).or_default() += n;
        }
        by.into_iter().map(|(c, n)| (c.key(), n)).collect()
    }

    fn r(n: u8) -> Operand {
        Operand::Reg(Reg::new(n).unwrap())
    }

    #[test]
    fn values_alone() {
        assert_eq!(work("add", &[r(1), r(2)], 0), [("wire", 1), ("add", 1)]);
        assert_eq!(work("addmul", &[r(1), r(2), r(3)], 0), [("multiply", 1)]);
        assert_eq!(work("xormul", &[r(1), r(2), r(3)], 0), [("xor", 1), ("multiply", 1)]);
        assert_eq!(work("addmul.q", &[r(1), r(2), r(3)], 0), [("add", 1), ("fixed-multiply", 1)]);
        assert_eq!(work("addplus", &[r(1), r(2), r(3)], 0), [("add", 1)]);
        assert_eq!(work("xorminus.q", &[r(1), r(2), r(3)], 0), [("xor", 1), ("add", 1)]);
        assert_eq!(work("addminus.f", &[r(1), r(2), r(3)], 0), [("float-add", 2)]);
    }

    #[test]
    fn gradient_words_take_what_the_partial_derivatives_take() {
        // g(x) ±= g(y): one more addition.
        assert_eq!(work("add.q", &[r(1), r(2)], 1), [("wire", 1), ("add", 2)]);
        // To each of two arguments; the sum itself goes into its target as one part.
        assert_eq!(work("addplus.q", &[r(1), r(2), r(3)], 1), [("add", 3)]);
        assert_eq!(work("addminus.f", &[r(1), r(2), r(3)], 1), [("float-add", 4)]);
        assert_eq!(work("addminus.q", &[r(1), r(2), r(3)], 2), [("add", 7)]);
        // Integers have no gradient.
        assert_eq!(work("add", &[r(1), r(2)], 1), work("add", &[r(1), r(2)], 0));
        // ∂(ab)/∂a = b: a product and a sum for each.
        assert_eq!(work("addmul.q", &[r(1), r(2), r(3)], 1), [("add", 3), ("fixed-multiply", 3)]);
        // ∂(ab + c)/∂c = 1: only a sum.
        assert_eq!(work("addmuladd.q", &[r(1), r(2), r(3), r(4)], 1), [("add", 4), ("fixed-multiply", 3)]);
        // A converted number has its gradient word converted, without a product.
        assert_eq!(work("addcvt.f.q", &[r(1), r(2)], 1), [("add", 1), ("float-add", 1), ("convert", 2)]);
        // A constant has no gradient word.
        assert_eq!(work("addmul.q", &[r(1), r(2), Operand::Reg(Reg::ZERO)], 1), [("add", 2), ("fixed-multiply", 2)]);
        // exp' = exp, which is available already; sin' = cos, which is not.
        assert_eq!(work("addexp.q", &[r(1), r(2)], 1), [("add", 2), ("fixed-multiply", 1), ("elementary", 1)]);
        assert_eq!(work("addsin.q", &[r(1), r(2)], 1), [("add", 2), ("fixed-multiply", 1), ("elementary", 2)]);
        assert_eq!(
            work("addsin.f", &[r(1), r(2)], 1),
            [("float-add", 2), ("float-multiply", 1), ("float-elementary", 2)]
        );
        assert_eq!(work("swap", &[r(1), r(2)], 1), [("swap", 2)]);
        assert_eq!(work("swap", &[r(1), r(2)], 2), [("swap", 4)]);
        assert_eq!(work("rot.q", &[r(1), r(2), r(3)], 1), [("add", 2), ("fixed-multiply", 2), ("rotation", 2)]);
        // Level 2 needs more of everything.
        let (one, two) = (work("addsin.q", &[r(1), r(2)], 1), work("addsin.q", &[r(1), r(2)], 2));
        assert!(one.iter().all(|(c, n)| two.iter().any(|(d, m)| c == d && m > n)), "{two:?}");
    }
}
