//! Encodes the x86-64 instructions that the baseline compiler uses.

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

/// A second operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rm {
    Reg(u8),
    Mem(Mem),
}

impl From<Gpr> for Rm {
    fn from(r: Gpr) -> Rm {
        Rm::Reg(r.0)
    }
}

impl From<Xmm> for Rm {
    fn from(r: Xmm) -> Rm {
        Rm::Reg(r.0)
    }
}

impl From<Mem> for Rm {
    fn from(m: Mem) -> Rm {
        Rm::Mem(m)
    }
}

/// Arithmetic by its number in the instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

/// Shifts by their number in the instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shift {
    Rol = 0,
    Ror = 1,
    Shl = 4,
    Shr = 5,
    Sar = 7,
}

/// A condition of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Below = 2,
    AboveOrEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowOrEqual = 6,
    Above = 7,
    Sign = 8,
    NotSign = 9,
    Unordered = 10,
    Ordered = 11,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
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

    fn byte(&mut self, b: u8) {
        self.code.push(b);
    }

    fn long(&mut self, k: i32) {
        self.code.extend_from_slice(&k.to_le_bytes());
    }

    /// An instruction: a prefix, 0 for none; whether its operands have 64 bits; its code; its register and the other operand.
    fn encode(&mut self, prefix: u8, wide: bool, opcode: &[u8], reg: u8, rm: Rm) {
        if prefix != 0 {
            self.byte(prefix);
        }
        let (x, b) = match rm {
            Rm::Reg(r) => (0, r >> 3),
            Rm::Mem(m) => (m.index.map_or(0, |i| i.0 >> 3), m.base.0 >> 3),
        };
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3) << 2 | x << 1 | b;
        if rex != 0x40 {
            self.byte(rex);
        }
        self.code.extend_from_slice(opcode);
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => self.byte(0xc0 | reg | r & 7),
            Rm::Mem(m) => {
                let base = m.base.0 & 7;
                let short = i8::try_from(m.offset).ok();
                let mode = match short {
                    Some(0) if base != 5 => 0,
                    Some(_) => 0x40,
                    None => 0x80,
                };
                match m.index {
                    Some(index) => {
                        self.byte(mode | reg | 4);
                        self.byte(0xc0 | (index.0 & 7) << 3 | base);
                    }
                    None if base == 4 => {
                        self.byte(mode | reg | 4);
                        self.byte(0x24);
                    }
                    None => self.byte(mode | reg | base),
                }
                match (mode, short) {
                    (0, _) => {}
                    (0x40, Some(short)) => self.byte(short as u8),
                    _ => self.long(m.offset),
                }
            }
        }
    }

    pub(super) fn mov(&mut self, to: Gpr, from: impl Into<Rm>) {
        self.encode(0, true, &[0x8b], to.0, from.into());
    }

    pub(super) fn store(&mut self, to: Mem, from: Gpr) {
        self.encode(0, true, &[0x89], from.0, to.into());
    }

    /// Loads a constant; keeps the flags.
    pub(super) fn constant(&mut self, to: Gpr, k: u64) {
        let b = to.0 >> 3;
        if let Ok(k) = u32::try_from(k) {
            if b != 0 {
                self.byte(0x41);
            }
            self.byte(0xb8 | to.0 & 7);
            self.code.extend_from_slice(&k.to_le_bytes());
        } else if let Ok(k) = i32::try_from(k.cast_signed()) {
            self.encode(0, true, &[0xc7], 0, to.into());
            self.long(k);
        } else {
            self.byte(0x48 | b);
            self.byte(0xb8 | to.0 & 7);
            self.code.extend_from_slice(&k.to_le_bytes());
        }
    }

    /// Writes a constant to memory, its upper half being its sign.
    pub(super) fn store_constant(&mut self, to: Mem, k: i32) {
        self.encode(0, true, &[0xc7], 0, to.into());
        self.long(k);
    }

    pub(super) fn lea(&mut self, to: Gpr, from: Mem) {
        self.encode(0, true, &[0x8d], to.0, from.into());
    }

    pub(super) fn alu(&mut self, op: Alu, a: Gpr, b: impl Into<Rm>) {
        self.encode(0, true, &[(op as u8) << 3 | 3], a.0, b.into());
    }

    pub(super) fn alu_constant(&mut self, op: Alu, a: impl Into<Rm>, k: i32) {
        if let Ok(k) = i8::try_from(k) {
            self.encode(0, true, &[0x83], op as u8, a.into());
            self.byte(k as u8);
        } else {
            self.encode(0, true, &[0x81], op as u8, a.into());
            self.long(k);
        }
    }

    pub(super) fn test(&mut self, a: Gpr) {
        self.encode(0, true, &[0x85], a.0, a.into());
    }

    pub(super) fn mul(&mut self, a: Gpr, b: impl Into<Rm>) {
        self.encode(0, true, &[0x0f, 0xaf], a.0, b.into());
    }

    /// The product of `rax` and another, in `rdx` and `rax`.
    pub(super) fn mul_wide(&mut self, b: impl Into<Rm>) {
        self.encode(0, true, &[0xf7], 5, b.into());
    }

    pub(super) fn not(&mut self, a: Gpr) {
        self.encode(0, true, &[0xf7], 2, a.into());
    }

    /// Shifts by a constant, or by the low bits of `cl`.
    pub(super) fn shift(&mut self, op: Shift, a: Gpr, by: Option<u8>) {
        match by {
            Some(k) => {
                self.encode(0, true, &[0xc1], op as u8, a.into());
                self.byte(k);
            }
            None => self.encode(0, true, &[0xd3], op as u8, a.into()),
        }
    }

    /// Clears the sign of a double in a general register.
    pub(super) fn clear_sign(&mut self, a: Gpr) {
        self.encode(0, true, &[0x0f, 0xba], 6, a.into());
        self.byte(63);
    }

    /// Sets a register to 1 if the condition holds, else to 0; keeps the flags.
    pub(super) fn set(&mut self, flag: Flag, to: Gpr) {
        // With a prefix at any rate: else it is another register's second byte.
        self.byte(0x40 | to.0 >> 3);
        self.code.extend_from_slice(&[0x0f, 0x90 | flag as u8, 0xc0 | to.0 & 7]);
        self.byte(0x40 | (to.0 >> 3) << 2 | to.0 >> 3);
        self.code.extend_from_slice(&[0x0f, 0xb6, 0xc0 | (to.0 & 7) << 3 | to.0 & 7]);
    }

    pub(super) fn mov_if(&mut self, flag: Flag, to: Gpr, from: impl Into<Rm>) {
        self.encode(0, true, &[0x0f, 0x40 | flag as u8], to.0, from.into());
    }

    /// Counts one up (`by` 0) or down (1).
    pub(super) fn step(&mut self, at: Mem, by: u8) {
        self.encode(0, true, &[0xff], by, at.into());
    }

    pub(super) fn push(&mut self, r: Gpr) {
        if r.0 >= 8 {
            self.byte(0x41);
        }
        self.byte(0x50 | r.0 & 7);
    }

    pub(super) fn pop(&mut self, r: Gpr) {
        if r.0 >= 8 {
            self.byte(0x41);
        }
        self.byte(0x58 | r.0 & 7);
    }

    pub(super) fn ret(&mut self) {
        self.byte(0xc3);
    }

    pub(super) fn call(&mut self, to: Gpr) {
        self.encode(0, false, &[0xff], 2, to.into());
    }

    pub(super) fn jump_to(&mut self, to: Gpr) {
        self.encode(0, false, &[0xff], 4, to.into());
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.byte(0xe9);
        self.distance(to, None);
    }

    pub(super) fn jump_if(&mut self, flag: Flag, to: Label) {
        self.code.extend_from_slice(&[0x0f, 0x80 | flag as u8]);
        self.distance(to, None);
    }

    /// The address of a label.
    pub(super) fn address(&mut self, to: Gpr, label: Label) {
        self.code.extend_from_slice(&[0x48 | (to.0 >> 3) << 2, 0x8d, (to.0 & 7) << 3 | 5]);
        self.distance(label, None);
    }

    /// The sign-extended half word at an address: base and four times an index.
    pub(super) fn entry_of_table(&mut self, to: Gpr, base: Gpr, index: Gpr) {
        self.byte(0x48 | (to.0 >> 3) << 2 | (index.0 >> 3) << 1 | base.0 >> 3);
        self.code.extend_from_slice(&[0x63, 0x44 | (to.0 & 7) << 3, 0x80 | (index.0 & 7) << 3 | base.0 & 7, 0]);
    }

    fn distance(&mut self, to: Label, from: Option<u32>) {
        self.fixes.push((self.code.len() as u32, to, from));
        self.long(0);
    }

    /// A table of distances from its beginning.
    pub(super) fn table(&mut self, label: Label, to: &[Label]) {
        self.bind(label);
        let from = self.code.len() as u32;
        for to in to {
            self.distance(*to, Some(from));
        }
    }

    pub(super) fn double(&mut self, to: Xmm, from: Mem) {
        self.encode(0xf2, false, &[0x0f, 0x10], to.0, from.into());
    }

    pub(super) fn store_double(&mut self, to: Mem, from: Xmm) {
        self.encode(0xf2, false, &[0x0f, 0x11], from.0, to.into());
    }

    pub(super) fn copy_double(&mut self, to: Xmm, from: Xmm) {
        self.encode(0, false, &[0x0f, 0x28], to.0, from.into());
    }

    pub(super) fn word_to_double(&mut self, to: Xmm, from: Gpr) {
        self.encode(0x66, true, &[0x0f, 0x6e], to.0, from.into());
    }

    pub(super) fn double_to_word(&mut self, to: Gpr, from: Xmm) {
        self.encode(0x66, true, &[0x0f, 0x7e], from.0, to.into());
    }

    /// Arithmetic on doubles by its code: 0x58 add, 0x59 mul, 0x5c sub, 0x5e div, 0x51 sqrt.
    pub(super) fn float(&mut self, code: u8, a: Xmm, b: impl Into<Rm>) {
        self.encode(0xf2, false, &[0x0f, code], a.0, b.into());
    }

    pub(super) fn compare_doubles(&mut self, a: Xmm, b: impl Into<Rm>) {
        self.encode(0x66, false, &[0x0f, 0x2e], a.0, b.into());
    }

    pub(super) fn clear_double(&mut self, a: Xmm) {
        self.encode(0, false, &[0x0f, 0x57], a.0, a.into());
    }

    pub(super) fn integer_to_double(&mut self, to: Xmm, from: impl Into<Rm>) {
        self.encode(0xf2, true, &[0x0f, 0x2a], to.0, from.into());
    }
}
