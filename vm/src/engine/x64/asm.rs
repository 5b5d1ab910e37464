//! The x86-64 instructions that the baseline compiler uses, labels, and distances to them. Cranelift's assembler encodes them.

use cranelift_assembler_x64::inst::*;
use cranelift_assembler_x64::{
    Amode, AmodeOffset, AmodeOffsetPlusKnownOffset, AsReg, DeferredTarget, GprMem, Registers, Scale, XmmMem,
};
use pendula_codegen::ops::Float;

/// A general register, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpr(pub(super) u8);

/// A vector register; only its low double is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Xmm(pub(super) u8);

impl Gpr {
    pub(super) const RAX: Gpr = Gpr(0);
    pub(super) const RCX: Gpr = Gpr(1);
    pub(super) const RDX: Gpr = Gpr(2);
    pub(super) const RBX: Gpr = Gpr(3);
    pub(super) const RSP: Gpr = Gpr(4);
    pub(super) const RBP: Gpr = Gpr(5);
    pub(super) const RSI: Gpr = Gpr(6);
    pub(super) const RDI: Gpr = Gpr(7);
    pub(super) const R11: Gpr = Gpr(11);
    pub(super) const R12: Gpr = Gpr(12);
    pub(super) const R13: Gpr = Gpr(13);
    pub(super) const R14: Gpr = Gpr(14);
    pub(super) const R15: Gpr = Gpr(15);
}

impl AsReg for Gpr {
    fn new(enc: u8) -> Gpr {
        Gpr(enc)
    }

    fn enc(&self) -> u8 {
        self.0
    }
}

impl AsReg for Xmm {
    fn new(enc: u8) -> Xmm {
        Xmm(enc)
    }

    fn enc(&self) -> u8 {
        self.0
    }
}

/// The types of registers in instructions.
struct Regs;

impl Registers for Regs {
    type ReadGpr = Gpr;
    type ReadWriteGpr = Gpr;
    type WriteGpr = Gpr;
    type ReadXmm = Xmm;
    type ReadWriteXmm = Xmm;
    type WriteXmm = Xmm;
}

/// An address: `base + 8 * index + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mem {
    pub(super) base: Gpr,
    pub(super) index: Option<Gpr>,
    pub(super) offset: i32,
}

impl Mem {
    pub(super) const fn at(base: Gpr, offset: usize) -> Mem {
        Mem { base, index: None, offset: offset as i32 }
    }
}

impl From<Mem> for Amode<Gpr> {
    fn from(Mem { base, index, offset }: Mem) -> Amode<Gpr> {
        let simm32 = AmodeOffset::new(offset);
        match index {
            Some(index) => Amode::ImmRegRegShift { base, index: index.into(), scale: Scale::Eight, simm32, trap: None },
            None => Amode::ImmReg { base, simm32: AmodeOffsetPlusKnownOffset { simm32, offset: None }, trap: None },
        }
    }
}

/// A word as a second operand.
pub(super) type Word = GprMem<Gpr, Gpr>;

/// A double as a second operand.
pub(super) type Double = XmmMem<Xmm, Gpr>;

impl From<Mem> for Word {
    fn from(m: Mem) -> Word {
        GprMem::Mem(m.into())
    }
}

impl From<Mem> for Double {
    fn from(m: Mem) -> Double {
        XmmMem::Mem(m.into())
    }
}

/// Arithmetic on words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alu {
    Add,
    Or,
    And,
    Sub,
    Xor,
    Cmp,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Shift {
    Rol,
    Ror,
    Shl,
    Shr,
    Sar,
}

/// A condition of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Below,
    AboveOrEqual,
    Equal,
    NotEqual,
    BelowOrEqual,
    Above,
    Sign,
    NotSign,
    Unordered,
    Ordered,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Greater,
}

impl Flag {
    pub(super) fn not(self) -> Flag {
        use Flag::*;
        match self {
            Below => AboveOrEqual,
            AboveOrEqual => Below,
            Equal => NotEqual,
            NotEqual => Equal,
            BelowOrEqual => Above,
            Above => BelowOrEqual,
            Unordered => Ordered,
            Ordered => Unordered,
            Less => GreaterOrEqual,
            GreaterOrEqual => Less,
            LessOrEqual => Greater,
            Greater => LessOrEqual,
            Sign => NotSign,
            NotSign => Sign,
        }
    }
}

/// Encodes the instruction that belongs to a value; all have the same operands.
macro_rules! encode {
    ($asm:ident, $by:expr, $operands:tt, $($value:pat => $inst:ty),+ $(,)?) => {
        match $by {
            $($value => <$inst>::new $operands.encode(&mut $asm.code),)+
        }
    };
}

/// The target of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

const UNBOUND: u32 = u32::MAX;

/// A buffer of code.
#[derive(Default)]
pub(super) struct Asm {
    pub(super) code: Vec<u8>,
    labels: Vec<u32>,
    /// A place for the distance to a label: from the end of its four bytes, or from a table's beginning.
    fixes: Vec<(u32, Label, Option<u32>)>,
}

impl Asm {
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.code.len() as u32;
    }

    /// Fills in the distances and returns the complete code.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for (at, label, from) in self.fixes {
            let to = self.labels[label.0 as usize];
            debug_assert!(to != UNBOUND, "a label without a place");
            let distance = to.wrapping_sub(from.unwrap_or(at + 4));
            self.code[at as usize..at as usize + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.code
    }

    pub(super) fn mov(&mut self, to: Gpr, from: impl Into<Word>) {
        movq_rm::<Regs>::new(to, from).encode(&mut self.code);
    }

    pub(super) fn store(&mut self, to: Mem, from: Gpr) {
        movq_mr::<Regs>::new(to, from).encode(&mut self.code);
    }

    /// Loads a constant; keeps the flags.
    pub(super) fn constant(&mut self, to: Gpr, k: u64) {
        if let Ok(k) = u32::try_from(k) {
            movl_oi::<Regs>::new(to, k).encode(&mut self.code);
        } else if let Ok(k) = i32::try_from(k.cast_signed()) {
            movq_mi_sxl::<Regs>::new(to, k).encode(&mut self.code);
        } else {
            movabsq_oi::<Regs>::new(to, k).encode(&mut self.code);
        }
    }

    /// Writes a constant to memory, its upper half being its sign.
    pub(super) fn store_constant(&mut self, to: Mem, k: i32) {
        movq_mi_sxl::<Regs>::new(to, k).encode(&mut self.code);
    }

    pub(super) fn lea(&mut self, to: Gpr, from: Mem) {
        leaq_rm::<Regs>::new(to, from).encode(&mut self.code);
    }

    pub(super) fn alu(&mut self, op: Alu, a: Gpr, b: impl Into<Word>) {
        let b = b.into();
        encode!(self, op, (a, b),
            Alu::Add => addq_rm<Regs>, Alu::Or => orq_rm<Regs>, Alu::And => andq_rm<Regs>,
            Alu::Sub => subq_rm<Regs>, Alu::Xor => xorq_rm<Regs>, Alu::Cmp => cmpq_rm<Regs>);
    }

    pub(super) fn alu_constant(&mut self, op: Alu, a: impl Into<Word>, k: i32) {
        let a = a.into();
        if let Ok(k) = i8::try_from(k) {
            encode!(self, op, (a, k),
                Alu::Add => addq_mi_sxb<Regs>, Alu::Or => orq_mi_sxb<Regs>, Alu::And => andq_mi_sxb<Regs>,
                Alu::Sub => subq_mi_sxb<Regs>, Alu::Xor => xorq_mi_sxb<Regs>, Alu::Cmp => cmpq_mi_sxb<Regs>);
        } else {
            encode!(self, op, (a, k),
                Alu::Add => addq_mi_sxl<Regs>, Alu::Or => orq_mi_sxl<Regs>, Alu::And => andq_mi_sxl<Regs>,
                Alu::Sub => subq_mi_sxl<Regs>, Alu::Xor => xorq_mi_sxl<Regs>, Alu::Cmp => cmpq_mi<Regs>);
        }
    }

    pub(super) fn test(&mut self, a: Gpr) {
        testq_mr::<Regs>::new(a, a).encode(&mut self.code);
    }

    pub(super) fn mul(&mut self, a: Gpr, b: impl Into<Word>) {
        imulq_rm::<Regs>::new(a, b).encode(&mut self.code);
    }

    /// The product of `rax` and another, in `rdx` and `rax`.
    pub(super) fn mul_wide(&mut self, b: impl Into<Word>) {
        imulq_m::<Regs>::new(Gpr::RAX, Gpr::RDX, b).encode(&mut self.code);
    }

    pub(super) fn not(&mut self, a: Gpr) {
        notq_m::<Regs>::new(a).encode(&mut self.code);
    }

    /// Shifts by a constant, or by the low bits of `cl`.
    pub(super) fn shift(&mut self, op: Shift, a: Gpr, by: Option<u8>) {
        match by {
            Some(k) => encode!(self, op, (a, k),
                Shift::Rol => rolq_mi<Regs>, Shift::Ror => rorq_mi<Regs>, Shift::Shl => shlq_mi<Regs>,
                Shift::Shr => shrq_mi<Regs>, Shift::Sar => sarq_mi<Regs>),
            None => encode!(self, op, (a, Gpr::RCX),
                Shift::Rol => rolq_mc<Regs>, Shift::Ror => rorq_mc<Regs>, Shift::Shl => shlq_mc<Regs>,
                Shift::Shr => shrq_mc<Regs>, Shift::Sar => sarq_mc<Regs>),
        }
    }

    /// Sets a register to 1 if the condition holds, else to 0; keeps the flags.
    pub(super) fn set(&mut self, flag: Flag, to: Gpr) {
        encode!(self, flag, (to),
            Flag::Below => setb_m<Regs>, Flag::AboveOrEqual => setae_m<Regs>, Flag::Equal => sete_m<Regs>,
            Flag::NotEqual => setne_m<Regs>, Flag::BelowOrEqual => setbe_m<Regs>, Flag::Above => seta_m<Regs>,
            Flag::Sign => sets_m<Regs>, Flag::NotSign => setns_m<Regs>, Flag::Unordered => setp_m<Regs>,
            Flag::Ordered => setnp_m<Regs>, Flag::Less => setl_m<Regs>, Flag::GreaterOrEqual => setge_m<Regs>,
            Flag::LessOrEqual => setle_m<Regs>, Flag::Greater => setg_m<Regs>);
        movzbl_rm::<Regs>::new(to, to).encode(&mut self.code);
    }

    pub(super) fn mov_if(&mut self, flag: Flag, to: Gpr, from: Gpr) {
        encode!(self, flag, (to, from),
            Flag::Below => cmovbq_rm<Regs>, Flag::AboveOrEqual => cmovaeq_rm<Regs>, Flag::Equal => cmoveq_rm<Regs>,
            Flag::NotEqual => cmovneq_rm<Regs>, Flag::BelowOrEqual => cmovbeq_rm<Regs>,
            Flag::Above => cmovaq_rm<Regs>, Flag::Sign => cmovsq_rm<Regs>, Flag::NotSign => cmovnsq_rm<Regs>,
            Flag::Unordered => cmovpq_rm<Regs>, Flag::Ordered => cmovnpq_rm<Regs>, Flag::Less => cmovlq_rm<Regs>,
            Flag::GreaterOrEqual => cmovgeq_rm<Regs>, Flag::LessOrEqual => cmovleq_rm<Regs>,
            Flag::Greater => cmovgq_rm<Regs>);
    }

    pub(super) fn push(&mut self, r: Gpr) {
        pushq_o::<Regs>::new(r).encode(&mut self.code);
    }

    pub(super) fn pop(&mut self, r: Gpr) {
        popq_o::<Regs>::new(r).encode(&mut self.code);
    }

    pub(super) fn ret(&mut self) {
        retq_zo::new().encode(&mut self.code);
    }

    pub(super) fn call(&mut self, to: Gpr) {
        callq_m::<Regs>::new(to).encode(&mut self.code);
    }

    pub(super) fn jump_to(&mut self, to: Gpr) {
        jmpq_m::<Regs>::new(to).encode(&mut self.code);
    }

    pub(super) fn jump(&mut self, to: Label) {
        jmp_d32::new(0).encode(&mut self.code);
        self.distance(to, None);
    }

    pub(super) fn jump_if(&mut self, flag: Flag, to: Label) {
        encode!(self, flag, (0),
            Flag::Below => jb_d32, Flag::AboveOrEqual => jae_d32, Flag::Equal => je_d32, Flag::NotEqual => jne_d32,
            Flag::BelowOrEqual => jbe_d32, Flag::Above => ja_d32, Flag::Sign => js_d32, Flag::NotSign => jns_d32,
            Flag::Unordered => jp_d32, Flag::Ordered => jnp_d32, Flag::Less => jl_d32,
            Flag::GreaterOrEqual => jge_d32, Flag::LessOrEqual => jle_d32, Flag::Greater => jg_d32);
        self.distance(to, None);
    }

    /// The address of a label.
    pub(super) fn address(&mut self, to: Gpr, label: Label) {
        let target = DeferredTarget::Label(cranelift_assembler_x64::Label(label.0));
        leaq_rm::<Regs>::new(to, Amode::RipRelative { target }).encode(&mut self.code);
        self.distance(label, None);
    }

    /// The sign-extended half word at an address: base and four times an index.
    pub(super) fn entry_of_table(&mut self, to: Gpr, base: Gpr, index: Gpr) {
        let (index, simm32) = (index.into(), AmodeOffset::ZERO);
        let from = Amode::ImmRegRegShift { base, index, scale: Scale::Four, simm32, trap: None };
        movslq_rm::<Regs>::new(to, from).encode(&mut self.code);
    }

    /// Records that the last four bytes are for the distance to a label.
    fn distance(&mut self, to: Label, from: Option<u32>) {
        self.fixes.push((self.code.len() as u32 - 4, to, from));
    }

    /// A table of distances from its beginning.
    pub(super) fn table(&mut self, label: Label, to: &[Label]) {
        self.bind(label);
        let from = self.code.len() as u32;
        for to in to {
            self.code.extend_from_slice(&[0; 4]);
            self.distance(*to, Some(from));
        }
    }

    pub(super) fn double(&mut self, to: Xmm, from: Mem) {
        movsd_a_m::<Regs>::new(to, from).encode(&mut self.code);
    }

    pub(super) fn store_double(&mut self, to: Mem, from: Xmm) {
        movsd_c_m::<Regs>::new(to, from).encode(&mut self.code);
    }

    pub(super) fn copy_double(&mut self, to: Xmm, from: Xmm) {
        movaps_a::<Regs>::new(to, from).encode(&mut self.code);
    }

    pub(super) fn word_to_double(&mut self, to: Xmm, from: Gpr) {
        movq_a::<Regs>::new(to, from).encode(&mut self.code);
    }

    pub(super) fn double_to_word(&mut self, to: Gpr, from: Xmm) {
        movq_b::<Regs>::new(to, from).encode(&mut self.code);
    }

    pub(super) fn float(&mut self, op: Float, a: Xmm, b: impl Into<Double>) {
        let b = b.into();
        encode!(self, op, (a, b),
            Float::Add => addsd_a<Regs>, Float::Sub => subsd_a<Regs>, Float::Mul => mulsd_a<Regs>,
            Float::Div => divsd_a<Regs>);
    }

    pub(super) fn sqrt(&mut self, to: Xmm, from: Xmm) {
        sqrtsd_a::<Regs>::new(to, from).encode(&mut self.code);
    }

    pub(super) fn compare_doubles(&mut self, a: Xmm, b: impl Into<Double>) {
        ucomisd_a::<Regs>::new(a, b).encode(&mut self.code);
    }

    pub(super) fn clear_double(&mut self, a: Xmm) {
        xorps_a::<Regs>::new(a, a).encode(&mut self.code);
    }

    pub(super) fn integer_to_double(&mut self, to: Xmm, from: impl Into<Word>) {
        cvtsi2sdq_a::<Regs>::new(to, from).encode(&mut self.code);
    }
}
