//! What straight-line instructions do to a state of terms.

use easy_smt::SExpr;
use pendula_isa::arith::Arith;
use pendula_isa::domain::Domain;
use pendula_isa::extension::{TEMPORARIES, temporary_register};
use pendula_isa::fault::Fault;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::kernels::Kernel;
use pendula_isa::num::Env;
use pendula_isa::operand::{OperandKind, Slot};
use pendula_isa::table::{self, Adjoint, Function, FunctionVisitor, Instruction, InstructionVisitor, Variant};
use pendula_isa::types::{Acc, Cond, Reg, Ty};

use crate::state::{CELL, State};
use crate::terms::Terms;

/// The bits of a constant factor.
const FACTOR: u64 = pendula_isa::inst::FACTOR_MAX.cast_unsigned();

/// What an instruction does: the text of the table, or of something that may become a row of it.
pub trait Body {
    /// Does it, or undoes it.
    ///
    /// # Errors
    /// It needs what there is no model of.
    fn run(&self, d: &mut Machine<'_>, back: bool) -> Result<(), Fault>;
}

/// A row's body with its variant.
#[derive(Clone, Copy, Debug)]
pub struct RowBody<I>(pub Variant, pub std::marker::PhantomData<I>);

impl<I: Instruction> Body for RowBody<I> {
    fn run(&self, d: &mut Machine<'_>, back: bool) -> Result<(), Fault> {
        if back { I::undo(d, self.0) } else { I::run(d, self.0) }
    }
}

/// An instruction of the table, or an extension.
impl Body for Kind {
    fn run(&self, d: &mut Machine<'_>, back: bool) -> Result<(), Fault> {
        struct Accumulate<'d, 't>(&'d mut Machine<'t>, Acc, bool);
        impl FunctionVisitor for Accumulate<'_, '_> {
            type Out = Result<(), Fault>;
            fn visit<F: Function>(self) -> Self::Out {
                table::run_accumulate::<_, F>(self.0, self.1, self.2)
            }
        }
        struct OfRow<'d, 't>(&'d mut Machine<'t>, Variant, bool);
        impl InstructionVisitor for OfRow<'_, '_> {
            type Out = Result<(), Fault>;
            fn visit<I: Instruction>(self) -> Self::Out {
                RowBody::<I>(self.1, std::marker::PhantomData).run(self.0, self.2)
            }
        }
        match *self {
            Kind::Accumulate { acc, inverse, func, .. } => func.visit(Accumulate(d, acc, inverse != back)),
            Kind::Row { row, inverse, ty, cond, form } => {
                let variant = Variant { ty, cond, form };
                row.visit(OfRow(d, variant, inverse != back)).unwrap_or(Ok(()))
            }
            // One that is its own inverse does the same both ways, which is what is claimed of it.
            Kind::Extension { extension, .. } => d.steps(back && extension.info().partner.is_some()),
        }
    }
}

/// The domain of terms.
pub struct Machine<'t> {
    pub(crate) t: &'t mut Terms,
    inst: Inst,
    /// Whether constants are those of the instruction, a step of an extension, and not any.
    literal: bool,
    pub(crate) state: State,
    /// Whether nothing is noted as lost.
    pub(crate) kept: SExpr,
}

impl<'t> Machine<'t> {
    /// A machine in a state, about to run an instruction.
    pub(crate) fn new(t: &'t mut Terms, inst: Inst, state: State) -> Machine<'t> {
        let kept = t.build().true_();
        Machine { t, inst, literal: false, state, kept }
    }

    /// Runs the steps of the extension, or with `back` of its inverse, on local registers.
    fn steps(&mut self, back: bool) -> Result<(), Fault> {
        let whole = self.inst;
        let layout = whole.kind.layout();
        let count = whole.operands().count();
        for n in 0..count {
            let word = self.operand(n)?;
            self.state.registers.insert(whole.local_of(&layout, n).number(), word);
        }
        let zero = self.t.word(0);
        for n in 0..TEMPORARIES {
            self.state.registers.insert(temporary_register(n).number(), zero);
        }
        self.literal = true;
        for step in whole.steps(back) {
            self.inst = step;
            step.kind.run(self, false)?;
        }
        (self.inst, self.literal) = (whole, false);
        for n in (0..count).filter(|n| layout[*n].is_written()) {
            let word = self.state.registers[&whole.local_of(&layout, n).number()];
            self.set(n, word)?;
        }
        self.state.registers.retain(|number, _| usize::from(*number) < Reg::COUNT);
        self.state.gradients.retain(|number, _| usize::from(*number) < Reg::COUNT);
        Ok(())
    }

    /// What is known of constants and of tapes.
    pub(crate) fn known(&mut self) -> SExpr {
        let width = self.t.bits();
        let t = &mut *self.t;
        let mut all = t.build().true_();
        let mut also = |t: &Terms, fact: SExpr| all = t.build().and(all, fact);
        let kinds = |n: usize| match self.inst.kind {
            Kind::Row { row, .. } => row.info().operands.get(n).copied(),
            Kind::Accumulate { .. } | Kind::Extension { .. } => None,
        };
        for (n, slot) in self.inst.kind.layout().into_iter().enumerate() {
            match slot {
                Slot::FactorNum | Slot::FactorDen => {
                    let name = if slot == Slot::FactorNum { "num" } else { "den" };
                    let factor = t.unknown(name);
                    let most = if width > 15 { (1 << 14) - 1 } else { (1 << (width - 1)) - 1 };
                    let (least, most) = (t.number(width, 1), t.number(width, most));
                    also(t, t.build().bvule(least, factor));
                    also(t, t.build().bvule(factor, most));
                }
                Slot::Imm if kinds(n) == Some(OperandKind::Amount) => {
                    let amount = t.unknown("constant");
                    also(t, t.build().bvult(amount, t.number(width, u64::from(width))));
                }
                _ => {}
            }
        }
        // The tapes: what is written and read lies within them, and what is not yet written is zero.
        let (capacity, length) = (t.unknown("capacity"), t.unknown("length"));
        also(t, t.build().bvule(self.state.written, capacity));
        also(t, t.build().bvule(self.state.read, length));
        let zero = t.number(width, 0);
        let next = self.state.output.load(t, self.state.written);
        also(t, t.build().eq(next, zero));
        t.condition(all)
    }

    fn register(&mut self, field: u8) -> SExpr {
        let number = self.inst.regs[usize::from(field)].number();
        self.state.registers[&number]
    }

    /// The address of a memory operand.
    fn address(&mut self, field: u8, offset: bool) -> SExpr {
        let (base, index) = (self.register(field), self.register(field + 1));
        let sum = self.t.add(base, index);
        if offset {
            let offset = self.t.unknown("offset");
            self.t.add(sum, offset)
        } else {
            sum
        }
    }

    fn slot(&self, n: usize) -> Slot {
        self.inst.kind.layout()[n]
    }

    fn slot_address(&mut self, n: usize) -> Option<SExpr> {
        match self.slot(n) {
            Slot::Mem(f) | Slot::TargetMem(f) => Some(self.address(f, true)),
            Slot::MemPlain(f) | Slot::TargetMemPlain(f) => Some(self.address(f, false)),
            _ => None,
        }
    }

    /// Demands that an address lies within the memory.
    fn inside(&mut self, at: SExpr) {
        let length = self.t.unknown("memory_length");
        let inside = self.t.build().bvult(at, length);
        self.t.demand(inside);
    }

    fn cell_address(&mut self, a: SExpr) -> SExpr {
        let bits = CELL.min(self.t.bits());
        let low = self.t.build().extract(bits as i32 - 1, 0, a);
        self.t.named_bits(bits, low)
    }
}

/// The methods of [`Arith`] that terms have.
macro_rules! as_terms {
    ($($method:ident($($x:ident: $Ty:ty),*) $(-> $Out:ty)?;)*) => {
        $(
            fn $method(&mut self, $($x: $Ty),*) $(-> $Out)? {
                self.t.$method($($x),*)
            }
        )*
    };
}

impl Arith for Machine<'_> {
    type V = SExpr;
    type Stop = Fault;

    fn env(&self) -> Env {
        self.t.env()
    }
    fn bits(&self) -> u32 {
        self.t.bits()
    }
    fn frac(&self) -> u32 {
        self.t.frac()
    }
    fn call<K: Kernel>(&mut self, x: [SExpr; 4]) -> Result<[SExpr; 2], Fault> {
        self.t.call::<K>(x)
    }
    as_terms! {
        word(k: u64) -> SExpr;
        add(a: SExpr, b: SExpr) -> SExpr;
        sub(a: SExpr, b: SExpr) -> SExpr;
        mul(a: SExpr, b: SExpr) -> SExpr;
        wide_mul(a: SExpr, b: SExpr) -> [SExpr; 2];
        overflowing_add(a: SExpr, b: SExpr) -> [SExpr; 2];
        overflowing_sub(a: SExpr, b: SExpr) -> [SExpr; 2];
        and(a: SExpr, b: SExpr) -> SExpr;
        or(a: SExpr, b: SExpr) -> SExpr;
        xor(a: SExpr, b: SExpr) -> SExpr;
        not(a: SExpr) -> SExpr;
        shl(a: SExpr, n: SExpr) -> SExpr;
        shr(a: SExpr, n: SExpr) -> SExpr;
        sar(a: SExpr, n: SExpr) -> SExpr;
        rol(a: SExpr, n: SExpr) -> SExpr;
        ror(a: SExpr, n: SExpr) -> SExpr;
        eq(a: SExpr, b: SExpr) -> SExpr;
        ne(a: SExpr, b: SExpr) -> SExpr;
        lt(a: SExpr, b: SExpr) -> SExpr;
        ltu(a: SExpr, b: SExpr) -> SExpr;
        select(c: SExpr, a: SExpr, b: SExpr) -> SExpr;
        float(x: f64) -> SExpr;
        float_add(a: SExpr, b: SExpr) -> Result<SExpr, Fault>;
        float_sub(a: SExpr, b: SExpr) -> Result<SExpr, Fault>;
        float_mul(a: SExpr, b: SExpr) -> Result<SExpr, Fault>;
        float_div(a: SExpr, b: SExpr) -> Result<SExpr, Fault>;
        float_sqrt(a: SExpr) -> Result<SExpr, Fault>;
        float_abs(a: SExpr) -> Result<SExpr, Fault>;
        float_from(a: SExpr, frac: u32) -> SExpr;
        compare(c: Cond, ty: Ty, a: SExpr, b: SExpr) -> Result<SExpr, Fault>;
        overflow(wrapped: SExpr) -> Result<(), Fault>;
        require(ok: SExpr, fault: Fault) -> Result<(), Fault>;
    }
}

impl Domain for Machine<'_> {
    fn missing(&mut self, fault: Fault) -> Fault {
        fault
    }

    fn operand(&mut self, n: usize) -> Result<SExpr, Fault> {
        if let Some(at) = self.slot_address(n) {
            self.inside(at);
            return Ok(self.state.memory.load(self.t, at));
        }
        Ok(match self.slot(n) {
            Slot::Reg(f) | Slot::Target(f) => self.register(f),
            Slot::Imm if self.literal => self.t.word(self.inst.imm.cast_unsigned()),
            Slot::FactorNum if self.literal => self.t.word(self.inst.imm.cast_unsigned() & FACTOR),
            Slot::FactorDen if self.literal => self.t.word(self.inst.imm.cast_unsigned() >> 14 & FACTOR),
            Slot::Imm => self.t.unknown("constant"),
            Slot::Small => self.t.unknown("small"),
            Slot::FactorNum => self.t.unknown("num"),
            Slot::FactorDen => self.t.unknown("den"),
            _ => self.t.word(0),
        })
    }

    fn set(&mut self, n: usize, v: SExpr) -> Result<(), Fault> {
        match (self.slot(n), self.slot_address(n)) {
            (_, Some(at)) => self.state.memory.store(at, v),
            (Slot::Target(f), None) => {
                self.state.registers.insert(self.inst.regs[usize::from(f)].number(), v);
            }
            (slot, None) => unreachable!("a body writes {slot:?}, which is read only"),
        }
        Ok(())
    }

    fn load(&mut self, a: SExpr) -> Result<SExpr, Fault> {
        self.inside(a);
        Ok(self.state.memory.load(self.t, a))
    }
    fn store(&mut self, a: SExpr, v: SExpr) -> Result<(), Fault> {
        self.state.memory.store(a, v);
        Ok(())
    }
    fn cell(&mut self, a: SExpr) -> Result<SExpr, Fault> {
        let at = self.cell_address(a);
        let (sort, truth) = (self.t.sort(CELL.min(self.t.bits())), self.t.build().bool_sort());
        let is_code = self.t.apply("is_code", &[at], (&[sort], truth));
        let passes = self.t.build().not(is_code);
        self.t.demand(passes);
        Ok(self.state.cells.load(self.t, at))
    }
    fn set_cell(&mut self, a: SExpr, v: SExpr) -> Result<(), Fault> {
        let at = self.cell_address(a);
        self.state.cells.store(at, v);
        Ok(())
    }
    fn gradient(&mut self, n: usize) -> Result<SExpr, Fault> {
        let deep = self.t.unknown_condition("at_the_highest_level");
        let passes = self.t.build().not(deep);
        self.t.demand(passes);
        match (self.slot(n), self.slot_address(n)) {
            (_, Some(at)) => {
                self.inside(at);
                Ok(self.state.gradient_memory.load(self.t, at))
            }
            (Slot::Reg(f) | Slot::Target(f), None) => {
                let number = self.inst.regs[usize::from(f)].number();
                Ok(self.state.gradients.get(&number).copied().unwrap_or_else(|| self.t.number(self.t.bits(), 0)))
            }
            _ => Err(Fault::GradientLevel),
        }
    }
    fn set_gradient(&mut self, n: usize, v: SExpr) -> Result<(), Fault> {
        match (self.slot(n), self.slot_address(n)) {
            (_, Some(at)) => self.state.gradient_memory.store(at, v),
            (Slot::Reg(f) | Slot::Target(f), None) => {
                self.state.gradients.insert(self.inst.regs[usize::from(f)].number(), v);
            }
            _ => return Err(Fault::GradientLevel),
        }
        Ok(())
    }
    fn sp(&mut self) -> SExpr {
        self.state.registers[&Reg::SP.number()]
    }
    fn set_sp(&mut self, v: SExpr) {
        self.state.registers.insert(Reg::SP.number(), v);
    }

    fn guarded(
        &mut self,
        c: SExpr,
        zero: SExpr,
        f: impl FnOnce(&mut Self) -> Result<SExpr, Fault>,
    ) -> Result<SExpr, Fault> {
        let condition = self.t.is_set(c);
        let before = self.t.enter(condition);
        let made = f(self);
        self.t.leave(before);
        let word = self.t.build().ite(condition, made?, zero);
        Ok(self.t.named(word))
    }

    fn check(&mut self, ok: SExpr, _: Fault) -> Result<(), Fault> {
        // Both with checks and without.
        let checks = self.t.unknown_condition("checks");
        let ok = self.t.is_set(ok);
        let passes = self.t.build().imp(checks, ok);
        self.t.demand(passes);
        Ok(())
    }

    fn lose(&mut self, _: SExpr) {
        self.kept = self.t.build().false_();
    }
    fn lose_inexact(&mut self, v: SExpr) {
        let zero = self.t.number(self.t.bits(), 0);
        let same = self.t.build().eq(v, zero);
        let both = self.t.build().and(self.kept, same);
        self.kept = self.t.condition(both);
    }

    fn emit(&mut self, v: SExpr) -> Result<SExpr, Fault> {
        let at = self.state.written;
        let capacity = self.t.unknown("capacity");
        let room = self.t.build().bvult(at, capacity);
        self.t.demand(room);
        let old = self.state.output.load(self.t, at);
        self.state.output.store(at, v);
        let one = self.t.word(1);
        self.state.written = self.t.add(at, one);
        Ok(old)
    }
    fn last_emitted(&mut self) -> Result<SExpr, Fault> {
        let (zero, one) = (self.t.word(0), self.t.word(1));
        let some = self.t.build().bvugt(self.state.written, zero);
        self.t.demand(some);
        let at = self.t.sub(self.state.written, one);
        Ok(self.state.output.load(self.t, at))
    }
    fn unemit(&mut self, v: SExpr) {
        let one = self.t.word(1);
        let at = self.t.sub(self.state.written, one);
        self.state.output.store(at, v);
        self.state.written = at;
    }
    fn next_input(&mut self) -> Result<SExpr, Fault> {
        let (at, length) = (self.state.read, self.t.unknown("length"));
        let some = self.t.build().bvult(at, length);
        self.t.demand(some);
        Ok(self.t.function("input", &[at]))
    }
    fn advance_input(&mut self) {
        let one = self.t.word(1);
        self.state.read = self.t.add(self.state.read, one);
    }
    fn last_input(&mut self) -> Result<SExpr, Fault> {
        let (zero, one) = (self.t.word(0), self.t.word(1));
        let some = self.t.build().bvugt(self.state.read, zero);
        self.t.demand(some);
        let at = self.t.sub(self.state.read, one);
        Ok(self.t.function("input", &[at]))
    }
    fn rewind_input(&mut self) {
        let one = self.t.word(1);
        self.state.read = self.t.sub(self.state.read, one);
    }
    // What is shown is no part of the state.
    fn show(&mut self, _: Ty, _: SExpr) {}
    fn print(&mut self, _: usize) {}
}

/// Why nothing is claimed of an instruction; `None` if it is claimed to be undone exactly.
pub(crate) fn unclaimed(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Accumulate { acc: Acc::Add, func, .. } if func.info().ty == Ty::F => {
            Some("sums of doubles round: what is subtracted again leaves a rest")
        }
        Kind::Row { row, ty: Ty::F, .. } if row.info().adjoint == Adjoint::Rotates => {
            Some("products and sums of doubles round")
        }
        kind if kind.is_irreversible() => Some("it destroys a word"),
        Kind::Extension { extension, .. } => extension.info().steps[0].iter().find_map(|step| unclaimed(step.kind)),
        Kind::Accumulate { .. } | Kind::Row { .. } => None,
    }
}
