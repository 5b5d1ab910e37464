//! Emits loops that count, with what is checked before them.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, InstBuilder, Value as IrValue, types};
use pendula_codegen::loops::{
    Apart, Bound, Check, Count, Jammed, Kept, Scope, Step, Stmt, Sum, TURNS, Turns, Value, Word, is_short,
};
use pendula_isa::adjoint::VALUE;

use super::super::clif::int_condition;
use super::function::FunctionEmitter;
use super::helpers::Helper;
use super::kernels::steady_kernels;

/// Steps that are small enough for [`TURNS`] of them.
const SMALL: i64 = 1 << 20;

/// The bounds of a loop, as they are before it.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) from: IrValue,
    pub(super) to: IrValue,
    pub(super) step: LoopStep,
}

#[derive(Clone, Copy)]
pub(super) enum LoopStep {
    Const(i64),
    Kept(IrValue),
}

impl FunctionEmitter<'_, '_> {
    pub(super) fn count_loop(&mut self, count: &Count) {
        let from = self.bound(count.first);
        let to = self.bound(count.last);
        let range = self.begin_loop(count, from, to);
        let runs = match count.step {
            Step::Const(k) if k < 0 => IntCC::SignedGreaterThanOrEqual,
            Step::Const(_) | Step::Kept { .. } => IntCC::SignedLessThanOrEqual,
        };
        for (local, limit) in &count.limits {
            let (limit, turns) = (self.integer(*limit), self.turns_of(range));
            let limit = self.divided(limit, turns);
            self.set_local(VALUE, *local, limit);
        }
        for Kept { local, ty, .. } in &count.kept {
            self.clear(*local, *ty, self.ad_mode);
        }
        if !count.checks.is_empty() || !count.kept.is_empty() {
            let runs = self.b.ins().icmp(runs, from, to);
            let (first, after) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(runs, first, &[], after, &[]);
            self.go_on(first);
            let turns = count.checks.iter().any(Check::counts_turns).then(|| self.turns_of(range));
            count.checks.iter().for_each(|check| self.check(check, turns));
            self.read_kept(&count.kept);
            self.b.ins().jump(after, &[]);
            self.go_on(after);
        }
        let around = self.b.create_block();
        if let Some(flows) = self.flows(&count.flows_from) {
            let inside = self.b.create_block();
            self.b.ins().brif(flows, inside, &[], around, &[]);
            self.go_on(inside);
        }
        self.one_by_one(count, range, around);
        match (&count.blocks, &count.products, &count.jammed) {
            (Some(blocks), ..) => self.blocks(count, blocks, range),
            (None, Some(products), _) => self.products(count, products, range),
            (None, None, Some(jammed)) => self.jammed(count, jammed, range),
            (None, None, None) => self.turns(count, &count.body, range),
        }
        self.b.ins().jump(around, &[]);
        self.go_on(around);
        for (local, limit) in &count.limits_after {
            let (value, limit) = (self.local(VALUE, *local), self.integer(*limit));
            self.note_beyond(value, limit);
        }
        self.write_kept(&count.kept, runs, range);
        if self.f.local(count.var).scope != Scope::Stmt {
            let zero = self.word(0);
            self.set_local(VALUE, count.var, zero);
        }
        for (bound, kept) in [(count.first, from), (count.last, to)] {
            // The body changes no bound in the end.
            if let Bound::Kept(_, place) = bound {
                let now = self.integer(Value::Place(place));
                let differs = self.b.ins().icmp(IntCC::NotEqual, now, kept);
                self.note(differs);
            }
        }
    }

    /// A bound of a loop.
    fn bound(&mut self, bound: Bound) -> IrValue {
        match bound {
            Bound::Const(k) => self.word(k),
            Bound::Kept(local, place) => {
                let value = self.integer(Value::Place(place));
                self.set_local(VALUE, local, value);
                value
            }
        }
    }

    /// What must hold for a loop to end.
    fn begin_loop(&mut self, count: &Count, from: IrValue, to: IrValue) -> Range {
        let is_last = |end: i64| matches!(count.last, Bound::Const(k) if k != end.cast_unsigned());
        let step = match count.step {
            Step::Const(k @ (1 | -1)) => {
                let end = if k > 0 { i64::MAX } else { i64::MIN };
                if !is_last(end) {
                    let last = self.b.ins().icmp_imm_s(IntCC::Equal, to, end);
                    self.give_up_if(last);
                }
                LoopStep::Const(k)
            }
            Step::Const(k) => {
                let by = self.word(k.cast_unsigned());
                let uneven = self.help(Helper::Uneven, &[from, to, by]);
                self.give_up_if(uneven);
                LoopStep::Const(k)
            }
            Step::Kept { by, of, negated } => {
                let of = self.local(VALUE, of);
                let value = if negated { self.b.ins().ineg(of) } else { of };
                self.set_local(VALUE, by, value);
                let uneven = self.help(Helper::Uneven, &[from, to, value]);
                self.give_up_if(uneven);
                LoopStep::Kept(value)
            }
        };
        Range { from, to, step }
    }

    /// How many turns a loop has, if it has any.
    pub(super) fn turns_of(&mut self, Range { from, to, step }: Range) -> IrValue {
        let way = match step {
            LoopStep::Const(-1) => self.b.ins().isub(from, to),
            LoopStep::Const(1) => self.b.ins().isub(to, from),
            LoopStep::Const(k) => {
                let way = self.b.ins().isub(to, from);
                self.b.ins().sdiv_imm_s(way, k)
            }
            // No check counts them.
            LoopStep::Kept(_) => self.word(0),
        };
        self.b.ins().iadd_imm_s(way, 1)
    }

    /// Whether a loop has a turn with a value.
    pub(super) fn goes_on(&mut self, at: IrValue, Range { to, step, .. }: Range) -> IrValue {
        match step {
            LoopStep::Const(k) if k < 0 => self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, to),
            LoopStep::Const(_) => self.b.ins().icmp(IntCC::SignedLessThanOrEqual, at, to),
            LoopStep::Kept(by) => {
                let down = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, by, 0);
                let above = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, to);
                let below = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, at, to);
                self.b.ins().select(down, above, below)
            }
        }
    }

    /// The value of the next turn.
    fn next_turn(&mut self, at: IrValue, step: LoopStep) -> IrValue {
        match step {
            LoopStep::Const(k) => self.b.ins().iadd_imm_s(at, k),
            LoopStep::Kept(by) => self.b.ins().iadd(at, by),
        }
    }

    /// Where a loop makes turns of the one around it at once, and something flows to some of these, but not to all: makes those one by one, and
    /// goes to a block.
    fn one_by_one(&mut self, count: &Count, range: Range, around: Block) {
        let (mut each, mut all) = (Vec::new(), None);
        for (words, body) in &count.one_by_one {
            let Some(flows) = self.flows(words) else { continue };
            each.push((flows, body));
            all = Some(match all {
                None => self.truth_word(flows),
                Some(all) => {
                    let flows = self.truth_word(flows);
                    self.b.ins().band(all, flows)
                }
            });
        }
        let Some(all) = all else { return };
        let (at_once, alone) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(all, at_once, &[], alone, &[]);
        self.go_on(alone);
        for (flows, body) in each {
            let (inside, next) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(flows, inside, &[], next, &[]);
            self.go_on(inside);
            self.turns(count, body, range);
            self.b.ins().jump(next, &[]);
            self.go_on(next);
        }
        self.b.ins().jump(around, &[]);
        self.go_on(at_once);
    }

    /// Several turns at once as long as there are so many, if that may be, and then the others.
    fn jammed(&mut self, count: &Count, jammed: &Jammed, range: Range) {
        let LoopStep::Const(step) = range.step else { return };
        let further = jammed.vars.len().cast_signed() as i64 * step;
        let at = self.b.declare_var(types::I64);
        self.b.def_var(at, range.from);
        let (head, body, rest) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        for apart in &jammed.apart {
            let apart = self.apart(apart, jammed.vars.len());
            let on = self.b.create_block();
            self.b.ins().brif(apart, on, &[], rest, &[]);
            self.go_on(on);
        }
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let now = self.b.use_var(at);
        let goes_on = self.goes_on(now, range);
        let left = if step < 0 { self.b.ins().isub(now, range.to) } else { self.b.ins().isub(range.to, now) };
        let further_off = further.unsigned_abs().cast_signed();
        let enough = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, left, further_off);
        let runs = self.b.ins().band(goes_on, enough);
        self.b.ins().brif(runs, body, &[], rest, &[]);
        self.go_on(body);
        self.set_local(VALUE, count.var, now);
        self.watch_turn(count, now, range);
        for (var, n) in jammed.vars.iter().zip(1..) {
            let value = self.b.ins().iadd_imm_s(now, n * step);
            self.set_local(VALUE, *var, value);
        }
        self.statements(&jammed.body);
        let next = self.b.ins().iadd_imm_s(now, further + step);
        self.b.def_var(at, next);
        self.b.ins().jump(head, &[]);
        self.b.seal_block(head);
        self.go_on(rest);
        let from = self.b.use_var(at);
        self.turns_from(count, &count.body, from, range);
    }

    /// Whether words of different turns are apart.
    fn apart(&mut self, apart: &Apart, further: usize) -> IrValue {
        let turns = match apart.of {
            Turns::Within(first, last) => {
                let (first, last) = (self.integer(first), self.integer(last));
                self.b.ins().isub(last, first)
            }
            Turns::AtOnce => self.word(further as u64),
        };
        let (by, step) = (self.word(apart.by.cast_unsigned()), self.sum(&apart.step));
        self.help(Helper::Apart, &[turns, by, step])
    }

    /// Tells in which turn a loop with a mark is, if it is asked.
    pub(super) fn watch_turn(&mut self, count: &Count, at: IrValue, range: Range) {
        let Some(mark) = count.mark else { return };
        let step = match range.step {
            LoopStep::Const(k) => self.word(k.cast_unsigned()),
            LoopStep::Kept(by) => by,
        };
        self.poll(mark, [range.from, at, range.to, step]);
    }

    /// The loop itself.
    fn turns(&mut self, count: &Count, body: &[Stmt], range: Range) {
        self.turns_from(count, body, range.from, range);
    }

    /// The loop from some turn on. One with a mark that contains nothing but operations is made in parts, between which it can be asked where it
    /// is: what is in registers would be in memory in each turn if a turn had a call.
    pub(super) fn turns_from(&mut self, count: &Count, body: &[Stmt], from: IrValue, range: Range) {
        let kernels = steady_kernels(body, count.var);
        if kernels.is_empty() {
            return self.all_turns(count, body, from, range);
        }
        let (first, after) = (self.b.create_block(), self.b.create_block());
        let runs = self.goes_on(from, range);
        self.b.ins().brif(runs, first, &[], after, &[]);
        self.go_on(first);
        self.hoist(&kernels);
        self.all_turns(count, body, from, range);
        self.forget_hoisted(&kernels);
        self.b.ins().jump(after, &[]);
        self.go_on(after);
    }

    fn all_turns(&mut self, count: &Count, body: &[Stmt], from: IrValue, range: Range) {
        match range.step {
            LoopStep::Const(step) if count.mark.is_some() && step.abs() < SMALL && body.iter().all(is_short) => {
                let span = step * (TURNS.cast_signed() - 1);
                self.repeat(from, range, |e, begin| {
                    e.watch_turn(count, begin, range);
                    let way = if step < 0 { e.b.ins().isub(begin, range.to) } else { e.b.ins().isub(range.to, begin) };
                    let least = span.unsigned_abs().cast_signed();
                    let is_long = e.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, way, least);
                    let end = e.b.ins().iadd_imm_s(begin, span);
                    let to = e.b.ins().select(is_long, end, range.to);
                    e.repeat(begin, Range { to, ..range }, |e, at| {
                        e.set_local(VALUE, count.var, at);
                        e.statements(body);
                        e.local(VALUE, count.var)
                    });
                    to
                });
            }
            LoopStep::Const(_) | LoopStep::Kept(_) => self.repeat(from, range, |e, at| {
                e.set_local(VALUE, count.var, at);
                e.watch_turn(count, at, range);
                e.statements(body);
                e.local(VALUE, count.var)
            }),
        }
    }

    /// Repeats what a turn does, which gives the value from which the next one is a step away.
    pub(super) fn repeat(&mut self, from: IrValue, range: Range, turn: impl FnOnce(&mut Self, IrValue) -> IrValue) {
        let (head, after) = (self.b.create_block(), self.b.create_block());
        let at = self.b.declare_var(types::I64);
        self.b.def_var(at, from);
        let runs = self.goes_on(from, range);
        self.b.ins().brif(runs, head, &[], after, &[]);
        self.b.switch_to_block(head);
        let now = self.b.use_var(at);
        let last = turn(self, now);
        let next = self.next_turn(last, range.step);
        self.b.def_var(at, next);
        let goes_on = self.goes_on(next, range);
        self.b.ins().brif(goes_on, head, &[], after, &[]);
        self.b.seal_block(head);
        self.go_on(after);
    }

    /// Whether one of these words is not zero; `None` if there are none.
    fn flows(&mut self, from: &[Word]) -> Option<IrValue> {
        let mut any = None;
        for word in from {
            let value = self.read(*word);
            let flows = match self.b.func.dfg.value_type(value) {
                types::F64 => {
                    let zero = self.zero(types::F64);
                    self.b.ins().fcmp(FloatCC::NotEqual, value, zero)
                }
                _ => self.b.ins().icmp_imm_s(IntCC::NotEqual, value, 0),
            };
            any = Some(match any {
                None => flows,
                Some(any) => self.b.ins().bor(any, flows),
            });
        }
        any
    }

    fn read_kept(&mut self, kept: &[Kept]) {
        for Kept { local, place, ty, .. } in kept {
            for &lane in std::iter::once(&VALUE).chain(self.lanes_of(*ty)) {
                let value = self.read(Word { place: *place, ty: *ty, lane });
                self.set_local(lane, *local, value);
            }
        }
    }

    fn write_kept(&mut self, kept: &[Kept], runs: IntCC, range: Range) {
        let mut written: Vec<(Word, &Kept)> = Vec::new();
        for kept in kept {
            for &lane in std::iter::once(&VALUE).chain(self.lanes_of(kept.ty)) {
                if lane != VALUE || kept.written {
                    written.push((Word { place: kept.place, ty: kept.ty, lane }, kept));
                }
            }
        }
        if written.is_empty() {
            return;
        }
        let runs = self.b.ins().icmp(runs, range.from, range.to);
        let (first, after) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(runs, first, &[], after, &[]);
        self.go_on(first);
        for (word, kept) in written {
            let value = self.local(word.lane, kept.local);
            self.write(word, value);
        }
        self.b.ins().jump(after, &[]);
        self.go_on(after);
    }

    /// Gives up if something holds that must not.
    fn check(&mut self, check: &Check, turns: Option<IrValue>) {
        match check {
            Check::Fails(cond, a, b) => {
                let (a, b) = (self.integer(*a), self.integer(*b));
                let holds = self.b.ins().icmp(int_condition(*cond), a, b);
                self.give_up_unless(holds);
            }
            Check::SumsFail(cond, a, b) => {
                let (a, b) = (self.sum(a), self.sum(b));
                let holds = self.b.ins().icmp(int_condition(*cond), a, b);
                self.give_up_unless(holds);
            }
            Check::Outside(at) => {
                let at = self.sum(at);
                let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, at, self.len);
                self.give_up_if(outside);
            }
            Check::Leaves(first, step) => {
                let Some(turns) = turns else { return };
                let first = self.sum(first);
                let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, first, self.len);
                self.give_up_if(outside);
                let many = self.b.ins().icmp(IntCC::UnsignedGreaterThan, turns, self.len);
                self.give_up_if(many);
                let further = self.b.ins().iadd_imm_s(turns, -1);
                let way = self.b.ins().imul_imm_s(further, *step);
                let last = self.b.ins().iadd(first, way);
                let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, last, self.len);
                self.give_up_if(outside);
            }
            Check::LeavesBy(first, span, step) => {
                let Some(turns) = turns else { return };
                let (first, span, step) = (self.sum(first), self.word(span.cast_unsigned()), self.sum(step));
                let leaves = self.help(Helper::Leaves, &[first, span, step, turns, self.len]);
                self.give_up_if(leaves);
            }
        }
    }

    /// A sum of products.
    pub(super) fn sum(&mut self, sum: &Sum) -> IrValue {
        let mut out = None;
        for (factors, n) in sum.products() {
            let mut product = None;
            for factor in factors {
                let factor = self.integer(*factor);
                product = Some(match product {
                    None => factor,
                    Some(product) => self.b.ins().imul(product, factor),
                });
            }
            let product = match product {
                None => self.word(n.cast_unsigned()),
                Some(product) if n == 1 => product,
                Some(product) => self.b.ins().imul_imm_s(product, n),
            };
            out = Some(match out {
                None => product,
                Some(out) => self.b.ins().iadd(out, product),
            });
        }
        match out {
            Some(out) => out,
            None => self.word(0),
        }
    }
}
