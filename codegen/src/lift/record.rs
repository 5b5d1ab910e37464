//! Records operations of a block, with value numbering, constant folding and forwarding of registers and memory words.

use pendula_isa::adjoint::LANES;
use pendula_isa::arith::Arith;
use pendula_isa::kernels::KernelInfo;
use pendula_isa::types::Cond;
use pendula_isa::{Env, Fault};

use super::{KnownWord, Lifter, Mark};
use crate::kernel::Entry;
use crate::ops::{self, BinaryOp, Op, ValueId};

/// [`Kernel::words`](pendula_isa::kernels::Kernel::words).
type KernelOnWords = fn(Env, [u64; 4]) -> Result<([u64; 2], bool), Fault>;

impl Lifter<'_> {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            ops: self.ops.len(),
            pure_ops: self.pure_ops.len(),
            checked: self.checked.len(),
            finite: self.finite.len(),
        }
    }

    /// Forgets the values and checks recorded since the mark, because they do not hold on every path.
    pub(super) fn forget_since(&mut self, mark: &Mark) {
        for op in self.pure_ops.drain(mark.pure_ops..) {
            self.values.remove(&op);
        }
        self.checked.truncate(mark.checked);
        self.finite.truncate(mark.finite);
    }

    pub(super) fn push(&mut self, op: Op) -> ValueId {
        self.ops.push(op);
        ValueId(self.ops.len() as u32 - 1)
    }

    /// The value of a pure operation.
    pub(super) fn pure(&mut self, op: Op) -> ValueId {
        if let Some(&v) = self.values.get(&op) {
            return v;
        }
        let v = self.push(op);
        self.values.insert(op, v);
        self.pure_ops.push(op);
        v
    }

    pub(super) fn constant(&self, v: ValueId) -> Option<u64> {
        match self.ops[v.0 as usize] {
            Op::Const(k) => Some(k),
            _ => None,
        }
    }

    pub(super) fn bin(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
        let (x, y) = (self.constant(a), self.constant(b));
        // The operations of narrow words are for circuits, whose builder knows constants.
        if let (Some(x), Some(y)) = (x, y)
            && self.setting.narrow.is_none()
        {
            let value = match op {
                BinaryOp::Add => x.wrapping_add(y),
                BinaryOp::Sub => x.wrapping_sub(y),
                BinaryOp::Mul => x.wrapping_mul(y),
                BinaryOp::MulHigh => ((i128::from(x.cast_signed()) * i128::from(y.cast_signed())) >> 64) as u64,
                BinaryOp::And => x & y,
                BinaryOp::Or => x | y,
                BinaryOp::Xor => x ^ y,
                BinaryOp::Shl => x << (y & 63),
                BinaryOp::Shr => x >> (y & 63),
                BinaryOp::Sar => (x.cast_signed() >> (y & 63)).cast_unsigned(),
                BinaryOp::Rol => x.rotate_left((y & 63) as u32),
                BinaryOp::Ror => x.rotate_right((y & 63) as u32),
            };
            return self.word(value);
        }
        match (op, x, y) {
            (
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::Sar
                | BinaryOp::Rol
                | BinaryOp::Ror,
                _,
                Some(0),
            )
            | (BinaryOp::Mul, _, Some(1)) => a,
            (BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor, Some(0), _) | (BinaryOp::Mul, Some(1), _) => b,
            _ if let Some(v) = self.simplified(op, a, b) => v,
            // Sums are normalised to a value plus one constant on the right: comparison of addresses relies on it.
            (BinaryOp::Add, Some(_), None) => self.bin(BinaryOp::Add, b, a),
            (BinaryOp::Sub, None, Some(y)) => {
                let y = self.word(y.wrapping_neg());
                self.bin(BinaryOp::Add, a, y)
            }
            (BinaryOp::Add, None, Some(y)) => {
                if let Op::BinaryOp(BinaryOp::Add, c, d) = self.ops[a.0 as usize]
                    && let Some(d) = self.constant(d)
                {
                    let sum = self.word(y.wrapping_add(d));
                    return self.bin(BinaryOp::Add, c, sum);
                }
                self.pure(Op::BinaryOp(op, a, b))
            }
            _ => self.pure(Op::BinaryOp(op, a, b)),
        }
    }

    pub(super) fn register(&mut self, lane: usize, reg: u8) -> ValueId {
        if reg == 0 {
            return self.word(0);
        }
        if let Some(v) = self.regs[lane][usize::from(reg)] {
            return v;
        }
        let v = self.push(Op::Get(lane as u8, reg));
        self.regs[lane][usize::from(reg)] = Some(v);
        v
    }

    pub(super) fn set_register(&mut self, lane: usize, reg: u8, v: ValueId) {
        if reg != 0 {
            self.regs[lane][usize::from(reg)] = Some(v);
            self.written.push((lane as u8, reg));
        }
    }

    /// Splits an address into a value and a constant.
    pub(super) fn split(&self, at: ValueId) -> (Option<ValueId>, u64) {
        match self.ops[at.0 as usize] {
            Op::Const(k) => (None, k),
            Op::BinaryOp(BinaryOp::Add, a, b) => match self.constant(b) {
                Some(k) => (Some(a), k),
                None => (Some(at), 0),
            },
            _ => (Some(at), 0),
        }
    }

    pub(super) fn check_address(&mut self, at: ValueId) {
        let fixed = self.constant(at).is_some_and(|k| k < self.data);
        if !fixed && !self.checked.contains(&at) {
            self.push(Op::Bound(at));
            self.checked.push(at);
        }
    }

    /// The word in a lane at a checked address.
    pub(super) fn load_word(&mut self, lane: usize, at: ValueId) -> ValueId {
        let (base, offset) = self.split(at);
        let same = |k: &&KnownWord| usize::from(k.0) == lane && k.1 == base && k.2 == offset;
        if let Some(&(.., v)) = self.known.iter().find(same) {
            return v;
        }
        let v = self.push(Op::Load(lane as u8, at));
        self.known.push((lane as u8, base, offset, v));
        v
    }

    pub(super) fn store_word(&mut self, lane: usize, at: ValueId, v: ValueId) {
        self.push(Op::Store(lane as u8, at, v));
        let (base, offset) = self.split(at);
        // Addresses with the same base differ if their constants do.
        self.known.retain(|k| usize::from(k.0) != lane || (k.1 == base && k.2 != offset));
        self.known.push((lane as u8, base, offset, v));
        self.stored_lanes[lane] = true;
    }

    /// The results of a call of a kernel, which is computed if its arguments are constant. Compiled once for all kernels.
    pub(super) fn call_kernel(
        &mut self,
        info: &'static KernelInfo,
        words: KernelOnWords,
        entry: fn() -> Entry,
        x: [ValueId; 4],
    ) -> [ValueId; 2] {
        let &KernelInfo { name, arity, results, wraps, faults, circuits, in_place, .. } = info;
        let constants = x.map(|v| self.constant(v));
        if results == 1
            && !wraps
            && self.setting.narrow.is_none()
            && constants[..arity].iter().all(Option::is_some)
            && let Ok(([word, _], _)) = words(self.env, constants.map(Option::unwrap_or_default))
        {
            return [self.word(word); 2];
        }
        let n = self.kernels.iter().position(|k| k.name == name).unwrap_or_else(|| {
            let Entry { address, result } = entry();
            self.kernels.push(ops::Kernel { name, address, result, arity, wraps, faults, circuits, in_place });
            self.kernels.len() - 1
        });
        let mut args = [x[0]; 4];
        args[..arity].copy_from_slice(&x[..arity]);
        let first = self.pure(Op::Kernel(n as u32, args));
        [first, if results == 2 { self.push(Op::Second(first)) } else { first }]
    }

    pub(super) fn begin(&mut self, c: ValueId) -> (Mark, Vec<KnownWord>, [bool; LANES]) {
        self.push(Op::If(c));
        (self.mark(), self.known.clone(), std::mem::replace(&mut self.stored_lanes, [false; LANES]))
    }

    pub(super) fn end(&mut self, (mark, mut known, before): (Mark, Vec<KnownWord>, [bool; LANES])) {
        self.push(Op::End);
        self.forget_since(&mark);
        known.retain(|k| !self.stored_lanes[usize::from(k.0)]);
        self.known = known;
        for (now, before) in self.stored_lanes.iter_mut().zip(before) {
            *now |= before;
        }
    }

    pub(super) fn compare_integers(&mut self, c: Cond, a: ValueId, b: ValueId) -> ValueId {
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b))
            && self.setting.narrow.is_none()
        {
            let order = match c {
                Cond::Ltu | Cond::Geu => x.cmp(&y),
                _ => x.cast_signed().cmp(&y.cast_signed()),
            };
            return self.word(u64::from(c.holds(Some(order))));
        }
        let [a, b] = self.simplified_comparison(c, a, b).unwrap_or([a, b]);
        self.pure(Op::Compare(c, a, b))
    }
}
