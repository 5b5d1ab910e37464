//! Blocks of operations.

use super::{Local, Place, Program, Value, Word, checks, if_convert, inactive, merge};
use crate::ops::{self, Op, ValueId};
use pendula_isa::Ty;

/// An operand of a block.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    /// A place, with its words in all lanes.
    Place(Place, Ty),
    /// A word, as the value of an operand without lanes.
    Word(Word),
    /// What the caller of a parameter passes by address for a lane.
    Passed(Local, usize),
}

/// Operations on words. Operand `n` of [`Op::Get`] and [`Op::Set`] is `slots[n]`.
#[derive(Clone, Debug)]
pub struct Block {
    /// The operations.
    pub ops: Vec<Op>,
    /// The operands, by number; the first is none.
    pub slots: Vec<Option<Slot>>,
    /// Sums and products of integers that give up where they wrap.
    pub wraps: Vec<bool>,
    /// The bits of the largest magnitude that operand 1, a floating-point word, may have; a larger one is noted.
    pub limit: Option<Value>,
    /// How many operands, from 1 on, are floating-point words that are looked at for being finite later, and stay as they are until then if they are not.
    pub looked_at_later: u8,
}

impl Block {
    /// A block of recorded operations, and what the value `result` is called in it. With `early`, sums of integers that wrap give up
    /// at once: such checks cost less, but loops with them cannot be made loops over vectors. `None` if there is an operation that
    /// only instructions have. With `late`, floating-point words in other lanes than that of values are not looked at for being finite.
    pub fn new(
        body: &ops::Body,
        slots: Vec<Option<Slot>>,
        [early, late]: [bool; 2],
        result: Option<ValueId>,
    ) -> Option<(Block, Option<ValueId>)> {
        let foreign =
            |op: &Op| matches!(op, Op::Load(..) | Op::Store(..) | Op::Bound(_) | Op::Interpret | Op::Reload(..));
        if body.ops.iter().any(foreign) {
            return None;
        }
        let mut block = Block { ops: Vec::new(), slots, wraps: Vec::new(), limit: None, looked_at_later: 0 };
        let (active, active_names) = inactive::without(&body.ops, &|lane, reg| block.has_lane(lane, reg));
        let (flat, flat_names) = if_convert::flat(&active);
        let (mut ops, names) = merge::merged(&flat);
        let slots = &block.slots;
        remove_checks_of_unwanted(&mut ops, slots);
        let mut shown = vec![false; ops.len()];
        if late {
            let is_double = |reg: u8| matches!(slots.get(usize::from(reg)), Some(Some(Slot::Place(_, Ty::F))));
            for op in &ops {
                if let Op::Set(lane, reg, v) = *op
                    && lane > 0
                    && is_double(reg)
                {
                    shown[v.0 as usize] = true;
                }
            }
            checks::spread(&ops, &mut shown);
            checks::remove_checks_of_chosen(&mut ops, &shown);
        }
        let all = 0..ops.len();
        checks::remove_implied_checks(&mut ops, all, &mut shown);
        block.wraps = if early { checks::merge_wrap_checks(&mut ops) } else { vec![false; ops.len()] };
        block.ops = ops;
        let all = [&active_names, &flat_names, &names];
        Some((block, result.map(|v| all.iter().fold(v, |v, names| names[v.0 as usize]))))
    }

    /// How often each value is used by something that is needed, `result` among it; operands have words in those lanes that `has` tells.
    pub fn uses(&self, program: &Program, has: impl Fn(u8, u8) -> bool, result: Option<ValueId>) -> Vec<u32> {
        let mut uses = vec![0; self.ops.len()];
        result.iter().for_each(|v| uses[v.0 as usize] += 1);
        for (n, op) in self.ops.iter().enumerate().rev() {
            let lost = match *op {
                Op::Set(lane, reg, _) => !has(lane, reg),
                Op::Finite(_) | Op::Ordered(..) => !program.checks_finite,
                _ => false,
            };
            uses[n] += u32::from(self.wraps[n]);
            if lost || (op.is_idle() && uses[n] == 0) {
                continue;
            }
            // Unused arguments of a kernel repeat the first one.
            let arity = match op {
                Op::Kernel(kernel, _) => program.kernels[*kernel as usize].arity,
                _ => usize::MAX,
            };
            op.uses().take(arity).for_each(|v| uses[v.0 as usize] += 1);
        }
        uses
    }

    /// The local variable's word that an operand's word in a lane is.
    pub(crate) fn local_word(&self, lane: u8, reg: u8) -> Option<(Local, usize)> {
        match self.slots.get(usize::from(reg)).copied().flatten()? {
            Slot::Place(Place::Local(local), _) => Some((local, lane.into())),
            Slot::Word(word) if lane == 0 => match word.place {
                Place::Local(local) => Some((local, word.lane)),
                Place::Memory(_) | Place::Log(_) => None,
            },
            Slot::Place(..) | Slot::Word(_) | Slot::Passed(..) => None,
        }
    }

    /// Whether an operand may have a word in a lane: what is an operand as a value alone has none in others.
    pub(super) fn has_lane(&self, lane: u8, reg: u8) -> bool {
        lane == 0 || matches!(self.slots.get(usize::from(reg)), Some(Some(Slot::Place(..))))
    }
}

/// Removes checks of values that are only made for lanes which the operands do not have.
fn remove_checks_of_unwanted(ops: &mut [Op], slots: &[Option<Slot>]) {
    let (mut wanted, mut unwanted) = (vec![false; ops.len()], vec![false; ops.len()]);
    for n in (0..ops.len()).rev() {
        let (for_wanted, for_unwanted) = match ops[n] {
            Op::Set(lane, reg, _) => {
                let alone = matches!(slots.get(usize::from(reg)), Some(Some(Slot::Word(_)))) && lane > 0;
                (!alone, alone)
            }
            Op::Finite(_) => (false, false),
            op if op.is_idle() => (wanted[n], unwanted[n]),
            _ => (true, false),
        };
        for v in ops[n].uses() {
            wanted[v.0 as usize] |= for_wanted;
            unwanted[v.0 as usize] |= for_unwanted;
        }
    }
    let is_needless = |op: &&mut Op| matches!(op, Op::Finite(v) if unwanted[v.0 as usize] && !wanted[v.0 as usize]);
    ops.iter_mut().filter(is_needless).for_each(|op| *op = Op::Const(0));
}
