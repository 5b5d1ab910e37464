//! Loops whose sums are made in blocks.

use cranelift_codegen::ir::{InstBuilder, StackSlot, Value as IrValue, types};
use pendula_codegen::loops::{BLOCK, Blocks, Count, Local};
use pendula_isa::adjoint::VALUE;

use super::count::{LoopStep, Range};
use super::function::FunctionEmitter;

impl FunctionEmitter<'_, '_> {
    /// The turns of a loop, whose sums are made in blocks.
    pub(super) fn blocks(&mut self, count: &Count, blocks: &Blocks, range: Range) {
        let LoopStep::Const(by) = range.step else { return };
        let [whole, all, turn] = blocks.counters;
        let turns = self.turns_of(range);
        let (runs, zero) = (self.goes_on(range.from, range), self.word(0));
        let turns = self.b.ins().select(runs, turns, zero);
        self.set_local(VALUE, all, turns);
        let rest = self.b.ins().band_imm_u(turns, BLOCK - 1);
        let of_blocks = self.b.ins().isub(turns, rest);
        self.set_local(VALUE, whole, of_blocks);
        let parts: Vec<StackSlot> = blocks.parts.iter().map(|_| self.slot(8 * BLOCK as u32)).collect();
        if blocks.from_last {
            self.each(zero, rest, 1, |e, at| e.turn_of_no_block(count, blocks, (range.from, by), turn, at));
            self.each(rest, turns, BLOCK, |e, at| e.block_of_turns(count, blocks, &parts, (range.from, by), turn, at));
        } else {
            self.each(zero, of_blocks, BLOCK, |e, at| {
                e.block_of_turns(count, blocks, &parts, (range.from, by), turn, at);
            });
            self.each(of_blocks, turns, 1, |e, at| e.turn_of_no_block(count, blocks, (range.from, by), turn, at));
        }
    }

    /// A loop from a number to below another.
    fn each(&mut self, from: IrValue, to: IrValue, by: i64, body: impl FnOnce(&mut Self, IrValue)) {
        let to = self.b.ins().iadd_imm_s(to, -1);
        self.repeat(from, Range { from, to, step: LoopStep::Const(by) }, |e, at| {
            body(e, at);
            at
        });
    }

    fn block_of_turns(
        &mut self,
        count: &Count,
        blocks: &Blocks,
        parts: &[StackSlot],
        begin: (IrValue, i64),
        turn: Local,
        at: IrValue,
    ) {
        self.set_local(VALUE, turn, at);
        let (zero, eight) = (self.word(0), self.word(BLOCK.cast_unsigned()));
        let reversed = blocks.from_last || blocks.parts.is_empty();
        self.each(zero, eight, 1, |e, nth| {
            let within = if reversed {
                let last = e.b.ins().iadd_imm_s(at, BLOCK - 1);
                e.b.ins().isub(last, nth)
            } else {
                e.b.ins().iadd(at, nth)
            };
            e.one_turn(count, blocks, begin, within, 0.0);
            for ([part, _], slot) in blocks.parts.iter().zip(parts) {
                let part = e.local(VALUE, *part);
                let begin = e.b.ins().stack_addr(types::I64, *slot, 0);
                let bytes = e.b.ins().ishl_imm_u(nth, 3);
                let to = e.b.ins().iadd(begin, bytes);
                e.store(part, to);
            }
        });
        for ([part, _], slot) in blocks.parts.iter().zip(parts) {
            let p: [IrValue; BLOCK as usize] =
                std::array::from_fn(|n| self.b.ins().stack_load(types::I64, types::F64, *slot, 8 * n as i32));
            let mut add = |a: IrValue, b: IrValue| self.b.ins().fadd(a, b);
            let fours = [add(p[0], p[4]), add(p[1], p[5]), add(p[2], p[6]), add(p[3], p[7])];
            let twos = [add(fours[0], fours[2]), add(fours[1], fours[3])];
            let sum = add(twos[0], twos[1]);
            self.set_local(VALUE, *part, sum);
        }
        self.statements(&blocks.after);
    }

    /// A turn beyond whole blocks.
    fn turn_of_no_block(&mut self, count: &Count, blocks: &Blocks, begin: (IrValue, i64), turn: Local, at: IrValue) {
        self.set_local(VALUE, turn, at);
        // The neutral element of sums.
        self.one_turn(count, blocks, begin, at, -0.0);
        self.statements(&blocks.after);
    }

    /// One turn of a loop with blocks, whose parts begin with a number.
    fn one_turn(&mut self, count: &Count, blocks: &Blocks, (from, by): (IrValue, i64), turn: IrValue, begin: f64) {
        let way = self.b.ins().imul_imm_s(turn, by);
        let at = self.b.ins().iadd(from, way);
        self.set_local(VALUE, count.var, at);
        for [part, _] in &blocks.parts {
            let begin = self.b.ins().f64const(begin);
            self.set_local(VALUE, *part, begin);
        }
        self.statements(&count.body);
    }
}
