//! Emits statements.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as IrValue, types};
use pendula_codegen::loops::{Freed, Keep, Keeping, Local, Mark, Stmt, Test, Value, Word, lane_type};
use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

use super::super::clif::int_condition;
use super::function::{FunctionEmitter, type_in};
use super::helpers::Helper;

/// Where in the room it stands where kept words end, and where they are read again, in words from the end of the room on.
pub(super) const KEPT: i64 = -1;
const REREAD: i64 = -2;

impl FunctionEmitter<'_, '_> {
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        statements.iter().for_each(|s| self.statement(s));
    }

    fn statement(&mut self, s: &Stmt) {
        match s {
            Stmt::Block(block) => _ = self.block(block, None),
            Stmt::Inside(at) => {
                let at = self.address(*at);
                let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, at, self.len);
                self.give_up_if(outside);
            }
            Stmt::Apart(a, b) => {
                let (a, b) = (self.address(*a), self.address(*b));
                let same = self.b.ins().icmp(IntCC::Equal, a, b);
                self.give_up_if(same);
            }
            Stmt::IfSame { addresses: [a, b], then, otherwise } => {
                let (a, b) = (self.address(*a), self.address(*b));
                let same = self.b.ins().icmp(IntCC::Equal, a, b);
                self.branches(same, then, otherwise);
            }
            Stmt::Flag(flag, test) => _ = self.flag(*flag, test),
            Stmt::If { test, flag, then, otherwise } => {
                let holds = self.flag(*flag, test);
                self.branches(holds, then, otherwise);
            }
            Stmt::Agree(test, flag) => self.agree(test, *flag),
            Stmt::GiveUp { test, holds } => {
                let test = self.test(test);
                if *holds { self.give_up_if(test) } else { self.give_up_unless(test) }
            }
            Stmt::InMode(ad_mode, body) => {
                let ad_mode = std::mem::replace(&mut self.ad_mode, *ad_mode);
                self.statements(body);
                self.ad_mode = ad_mode;
            }
            Stmt::Loop(mark, body) => self.endless(*mark, body),
            Stmt::Leave { unless, finite } => self.leave(unless, finite),
            Stmt::Proceed(test) => {
                let after = self.test(test);
                self.give_up_unless(after);
                let noted = self.noted();
                self.give_up_if(noted);
            }
            Stmt::Count(count) => self.count_loop(count),
            Stmt::Clear(local) => self.clear(*local, self.f.local(*local).ty, self.ad_mode),
            Stmt::CheckZero(local) => self.check_zero(*local),
            Stmt::CheckCarried(local) => self.check_carried(*local),
            Stmt::CheckCarriedData(range) => {
                let (at, n) = (self.word(range.start as u64), self.word(range.len() as u64));
                for lane in self.ad_mode.lanes() {
                    self.look_at_lane(*lane, at, n);
                }
            }
            Stmt::Allocate(base, len) => self.allocate(*base, *len),
            Stmt::Free { base, len, ty, values } => self.free(*base, *len, *ty, *values),
            Stmt::Forget(base, len) => self.forget_words(*base, *len),
            Stmt::Define(local, from) => {
                let value = match from {
                    Some(word) => self.read(*word),
                    None => self.zero(type_in(VALUE, self.f.local(*local).ty)),
                };
                self.set_local(VALUE, *local, value);
            }
            Stmt::Log(base, len) => self.log(*base, *len),
            Stmt::EndLog(base) => {
                let base = self.local(VALUE, *base);
                self.b.def_var(self.logged, base);
            }
            Stmt::Keep(keep) => self.keep_values(*keep),
            Stmt::Addend(local, of) => self.addend(*local, *of),
            Stmt::Write(to, from) => {
                let value = self.local(VALUE, *from);
                self.write(*to, value);
            }
            Stmt::Call(function, arguments) => self.call(*function, arguments),
            Stmt::HandParam(local) => {
                let (value, to) = (self.local(VALUE, *local), self.handed.get(local).copied());
                if let Some(to) = to {
                    self.store(value, to);
                }
            }
            Stmt::HandData(range) => {
                let (at, n) = (self.word(range.start as u64), self.word(range.len() as u64));
                let (to, from) = (self.words_from(self.turned, at), self.words_from(self.memory(VALUE), at));
                self.help(Helper::Copy, &[to, from, n]);
            }
        }
    }

    /// Notes that a test does not agree with a flag.
    fn agree(&mut self, test: &Test, flag: Local) {
        let (after, before) = (self.test(test), self.local(VALUE, flag));
        let after = self.truth_word(after);
        let differs = self.b.ins().icmp(IntCC::NotEqual, after, before);
        self.note(differs);
    }

    /// Leaves the innermost loop unless a test holds.
    fn leave(&mut self, unless: &Test, finite: &[Word]) {
        let goes_on = self.test(unless);
        for word in finite {
            let x = self.read(*word);
            self.note_not_finite(x);
        }
        let Some(after) = self.after_loops.last().copied() else { return };
        let on = self.b.create_block();
        self.b.ins().brif(goes_on, on, &[], after, &[]);
        self.go_on(on);
    }

    /// Notes that a local variable's value is not zero.
    fn check_zero(&mut self, local: Local) {
        let value = self.local(VALUE, local);
        match self.f.local(local).ty {
            Ty::F => self.note_not_near_zero(value),
            Ty::Int | Ty::Q | Ty::L => self.note(value),
        }
    }

    /// Notes that a floating-point word in another lane of a local variable is not finite.
    fn check_carried(&mut self, local: Local) {
        let ty = self.f.local(local).ty;
        for &lane in self.lanes_of(ty).iter().filter(|lane| lane_type(**lane, ty) == Ty::F) {
            let value = self.local(lane, local);
            self.note_not_finite(value);
        }
    }

    /// Frees words, whatever they are.
    fn forget_words(&mut self, base: Local, len: Value) {
        let (n, at) = (self.integer(len), self.local(VALUE, base));
        let top = self.b.use_var(self.top);
        let top = self.b.ins().isub(top, n);
        self.b.def_var(self.top, top);
        for lane in std::iter::once(&VALUE).chain(self.ad_mode.lanes()) {
            self.clear_words(*lane, at, n);
        }
    }

    /// A loop that something in it leaves.
    fn endless(&mut self, mark: Option<Mark>, body: &[Stmt]) {
        let (head, after) = (self.b.create_block(), self.b.create_block());
        let turn = self.b.declare_var(types::I64);
        let zero = self.word(0);
        self.b.def_var(turn, zero);
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        if let Some(mark) = mark {
            let at = self.b.use_var(turn);
            let next = self.b.ins().iadd_imm_s(at, 1);
            self.b.def_var(turn, next);
            let (zero, last, one) = (self.word(0), self.word(u64::MAX), self.word(1));
            self.poll(mark, [zero, at, last, one]);
        }
        self.after_loops.push(after);
        self.statements(body);
        self.after_loops.pop();
        self.b.ins().jump(head, &[]);
        self.b.seal_block(head);
        self.go_on(after);
    }

    /// Tells where the run is, if it is asked: what the loop with a mark begins with, where it is, what it ends with, and by how much it goes on.
    pub(super) fn poll(&mut self, mark: Mark, [first, at, last, step]: [IrValue; 4]) {
        let watch = self.watch();
        let asked = self.load_asked(watch);
        let (answer, on) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(asked, answer, &[], on, &[]);
        self.b.set_cold_block(answer);
        self.go_on(answer);
        let mark = self.word(u64::from(mark.0));
        let leave = self.help(Helper::Tell, &[watch, mark, first, at, last, step]);
        self.give_up_to(leave, on);
        self.go_on(on);
    }

    /// Two sides of a condition.
    pub(super) fn branches(&mut self, condition: IrValue, then: &[Stmt], otherwise: &[Stmt]) {
        let (first, second, join) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, first, &[], second, &[]);
        self.b.seal_block(second);
        self.go_on(first);
        self.statements(then);
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(second);
        self.statements(otherwise);
        self.b.ins().jump(join, &[]);
        self.go_on(join);
    }

    /// Defines a local variable as whether a test holds.
    fn flag(&mut self, flag: Local, test: &Test) -> IrValue {
        let holds = self.test(test);
        let word = self.truth_word(holds);
        self.set_local(VALUE, flag, word);
        holds
    }

    /// 1 if a condition holds, and else 0.
    pub(super) fn truth_word(&mut self, condition: IrValue) -> IrValue {
        let truth = match self.b.func.dfg.value_type(condition) {
            types::I64 => self.b.ins().icmp_imm_s(IntCC::NotEqual, condition, 0),
            _ => condition,
        };
        self.b.ins().uextend(types::I64, truth)
    }

    /// Whether a test holds.
    fn test(&mut self, test: &Test) -> IrValue {
        match test {
            Test::Flag(flag) => self.local(VALUE, *flag),
            Test::Integers(cond, a, b) => {
                let (a, b) = (self.integer(*a), self.integer(*b));
                self.b.ins().icmp(int_condition(*cond), a, b)
            }
            Test::Block(block, v) => match self.block(block, Some(*v)) {
                Some(holds) => holds,
                None => self.word(0),
            },
        }
    }

    fn allocate(&mut self, base: Local, len: Value) {
        let (words, top) = (self.integer(len), self.b.use_var(self.top));
        let left = self.b.ins().isub(self.len, top);
        let more = self.b.ins().icmp(IntCC::UnsignedGreaterThan, words, left);
        self.give_up_if(more);
        self.set_local(VALUE, base, top);
        let top = self.b.ins().iadd(top, words);
        self.b.def_var(self.top, top);
    }

    fn free(&mut self, base: Local, len: Value, ty: Ty, values: Freed) {
        let (n, top) = (self.integer(len), self.b.use_var(self.top));
        let top = self.b.ins().isub(top, n);
        self.b.def_var(self.top, top);
        let at = self.local(VALUE, base);
        let moved = self.b.ins().icmp(IntCC::NotEqual, at, top);
        self.give_up_if(moved);
        let begin = self.words_from(self.memory(VALUE), top);
        match values {
            Freed::Clear => self.clear_words(VALUE, top, n),
            Freed::Check => {
                let helper = if ty == Ty::F { Helper::EndDoubles } else { Helper::Any };
                let left = self.help(helper, &[begin, n]);
                self.note(left);
            }
            Freed::Zero => {}
        }
        for lane in self.lanes_of(ty) {
            if self.shared.program.carried_late && lane_type(*lane, ty) == Ty::F {
                self.look_at_lane(*lane, top, n);
            }
            self.clear_words(*lane, top, n);
        }
        let zero = self.word(0);
        self.set_local(VALUE, base, zero);
    }

    /// Notes whether words in a lane, from an address on, are not all finite.
    fn look_at_lane(&mut self, lane: usize, at: IrValue, n: IrValue) {
        let begin = self.words_from(self.memory(lane), at);
        let odd = self.help(Helper::NotFinite, &[begin, n]);
        self.note(odd);
    }

    fn clear_words(&mut self, lane: usize, at: IrValue, n: IrValue) {
        let begin = self.words_from(self.memory(lane), at);
        self.help(Helper::Clear, &[begin, n]);
    }

    /// The address of the word that is so many words behind a first one.
    fn words_from(&mut self, base: IrValue, words: IrValue) -> IrValue {
        let bytes = self.b.ins().ishl_imm_u(words, 3);
        self.b.ins().iadd(base, bytes)
    }

    fn log(&mut self, base: Local, len: Value) {
        let (words, logged) = (self.integer(len), self.b.use_var(self.logged));
        self.set_local(VALUE, base, logged);
        let logged = self.b.ins().iadd(logged, words);
        self.b.def_var(self.logged, logged);
        let (end, need) = if self.shared.program.keeps {
            let kept = self.position(KEPT);
            let taken = self.b.ins().isub(self.room, kept);
            (kept, self.b.ins().iadd(logged, taken))
        } else {
            (self.room, logged)
        };
        let more = self.b.ins().icmp(IntCC::UnsignedGreaterThan, logged, end);
        self.ask_for_room_if(more, need);
    }

    /// Gives up, and tells how much room there must be, if there is too little.
    fn ask_for_room_if(&mut self, too_little: IrValue, need: IrValue) {
        let (ask, on) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(too_little, ask, &[], on, &[]);
        self.b.set_cold_block(ask);
        self.go_on(ask);
        let at = self.words_from(self.turned, self.room);
        self.store(need, at);
        self.give_up();
        self.go_on(on);
    }

    /// Where kept words end, or are read again.
    fn position(&mut self, which: i64) -> IrValue {
        let at = self.words_from(self.turned, self.room);
        let at = self.b.ins().iadd_imm_s(at, 8 * which);
        self.load_word(at)
    }

    fn set_position(&mut self, which: i64, to: IrValue) {
        let at = self.words_from(self.turned, self.room);
        let at = self.b.ins().iadd_imm_s(at, 8 * which);
        self.store(to, at);
    }

    /// Makes room for kept words, and moves their end.
    fn keep_words(&mut self, words: IrValue) -> IrValue {
        let (kept, logged) = (self.position(KEPT), self.b.use_var(self.logged));
        let room = self.b.ins().isub(kept, logged);
        let too_little = self.b.ins().icmp(IntCC::UnsignedGreaterThan, words, room);
        let need = self.b.ins().iadd(self.room, words);
        self.ask_for_room_if(too_little, need);
        let kept = self.b.ins().isub(kept, words);
        self.set_position(KEPT, kept);
        kept
    }

    /// Passes over kept words, which are read again: where they are.
    fn pass_words(&mut self, words: IrValue) -> IrValue {
        let (at, kept) = (self.position(REREAD), self.position(KEPT));
        let left = self.b.ins().isub(at, kept);
        let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, words, left);
        self.give_up_if(outside);
        let at = self.b.ins().isub(at, words);
        self.set_position(REREAD, at);
        at
    }

    /// Removes kept words: where they are.
    fn remove_words(&mut self, words: IrValue) -> IrValue {
        let at = self.position(KEPT);
        let all = self.b.ins().isub(self.room, at);
        let all = self.b.ins().iadd_imm_s(all, -2);
        let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, words, all);
        self.give_up_if(outside);
        let end = self.b.ins().iadd(at, words);
        self.set_position(KEPT, end);
        at
    }

    fn keep_values(&mut self, keep: Keep) {
        match keep {
            Keep::Words { base, first, last, way } => {
                let (first, last) = (self.integer(first), self.integer(last));
                let none = self.b.ins().icmp(IntCC::SignedLessThan, last, first);
                let turns = self.b.ins().isub(last, first);
                let turns = self.b.ins().iadd_imm_s(turns, 1);
                let zero = self.word(0);
                let words = self.b.ins().select(none, zero, turns);
                let at = match way {
                    Keeping::Write => self.keep_words(words),
                    Keeping::Reread => self.pass_words(words),
                    Keeping::TakeBack => self.remove_words(words),
                };
                let at = self.b.ins().isub(at, first);
                self.set_local(VALUE, base, at);
            }
            Keep::End(local) | Keep::Reader(local) => {
                let at = self.position(if matches!(keep, Keep::End(_)) { KEPT } else { REREAD });
                self.set_local(VALUE, local, at);
            }
            Keep::Mark(from) => {
                let one = self.word(1);
                let at = self.keep_words(one);
                let (to, from) = (self.words_from(self.turned, at), self.local(VALUE, from));
                self.store(from, to);
            }
            Keep::PassMark => {
                let one = self.word(1);
                self.pass_words(one);
            }
            Keep::NoteEnd(local) => {
                let (at, kept) = (self.local(VALUE, local), self.position(KEPT));
                let at = self.words_from(self.turned, at);
                self.store(kept, at);
            }
            Keep::PassToNotedEnd(local) => {
                let to = self.local(VALUE, local);
                let to = self.words_from(self.turned, to);
                let to = self.load_word(to);
                let (at, kept) = (self.position(REREAD), self.position(KEPT));
                let (left, all) = (self.b.ins().isub(to, kept), self.b.ins().isub(at, kept));
                let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, left, all);
                self.give_up_if(outside);
                self.set_position(REREAD, to);
            }
            Keep::RemoveTo(local) => {
                let to = self.local(VALUE, local);
                self.set_position(KEPT, to);
            }
            Keep::RereadFromMark(local) => {
                let one = self.word(1);
                let at = self.remove_words(one);
                let from = self.words_from(self.turned, at);
                let from = self.load_word(from);
                self.set_position(REREAD, from);
                self.set_local(VALUE, local, from);
                let kept = self.position(KEPT);
                let (begun, all) = (self.b.ins().isub(from, kept), self.b.ins().isub(self.room, kept));
                let all = self.b.ins().iadd_imm_s(all, -2);
                let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, begun, all);
                self.give_up_if(outside);
            }
            Keep::Agree(local) => {
                let (at, local) = (self.position(KEPT), self.local(VALUE, local));
                let differs = self.b.ins().icmp(IntCC::NotEqual, at, local);
                self.give_up_if(differs);
            }
        }
    }

    fn addend(&mut self, local: Local, of: Local) {
        let ty = self.f.local(local).ty;
        let zero = if ty == Ty::F { self.b.ins().f64const(-0.0) } else { self.word(0) };
        self.set_local(VALUE, local, zero);
        for &lane in self.f.lanes_of(ty) {
            let value = self.local(lane, of);
            self.set_local(lane, local, value);
        }
    }
}
