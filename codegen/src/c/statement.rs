//! Prints statements.

use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

use super::expr::{Expr, Kind, Prec};
use super::function::{FunctionPrinter, PREFIX, c_type};
use super::text::WORDS;
use crate::loops::{Freed, Keep, Keeping, Local, Mark, Place, Stmt, Test, Value, Word, lane_type};

impl FunctionPrinter<'_> {
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        statements.iter().for_each(|s| self.statement(s));
    }

    fn statement(&mut self, s: &Stmt) {
        match s {
            Stmt::Block(block) => _ = self.block(block, None),
            Stmt::Inside(at) => {
                let at = self.address(*at);
                self.text.line(&format!("INSIDE({});", at.text));
            }
            Stmt::Apart(a, b) => {
                let (a, b) = (self.address(*a), self.address(*b));
                self.text.line(&format!("if (UNLIKELY({} == {})) return 1;", a.text, b.text));
            }
            Stmt::IfSame { addresses: [a, b], then, otherwise } => {
                let (a, b) = (self.address(*a), self.address(*b));
                self.branches(&format!("{} == {}", a.text, b.text), then, otherwise);
            }
            Stmt::Flag(flag, test) => _ = self.flag(*flag, test),
            Stmt::If { test, flag, then, otherwise } => {
                let name = self.flag(*flag, test);
                self.branches(&name, then, otherwise);
            }
            Stmt::Agree(test, flag) => {
                let (after, name) = (self.test(test), self.name(VALUE, *flag));
                self.text.line(&format!("bad |= {} != {name};", after.at(Prec::Atom)));
            }
            Stmt::GiveUp { test, holds } => {
                let test = self.test(test);
                let text = if *holds { test.text } else { format!("!{}", test.at(Prec::Atom)) };
                self.text.line(&match self.passes_over {
                    true => format!("bad |= {text};"),
                    false => format!("if (UNLIKELY({text})) return 1;"),
                });
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
                self.note_parts();
                self.text.line(&format!("if (UNLIKELY(!{} | NOTED)) return 1;", after.at(Prec::Atom)));
            }
            Stmt::Count(count) => self.count_loop(count),
            Stmt::Clear(local) => {
                let ty = self.f.local(*local).ty;
                for &lane in std::iter::once(&VALUE).chain(self.lanes_of(ty)) {
                    let (name, zero) = (self.name(lane, *local), self.lane_kind(lane, ty).zero());
                    self.text.line(&format!("{name} = {zero};"));
                }
            }
            Stmt::CheckZero(local) => {
                let name = self.name(VALUE, *local);
                self.text.line(&match self.f.local(*local).ty {
                    Ty::F => format!("NEAR_ZERO({name});"),
                    Ty::Int | Ty::Q | Ty::L => format!("bad |= {name} != 0;"),
                });
            }
            Stmt::CheckCarried(local) => self.check_carried(*local),
            Stmt::CheckCarriedData(range) => {
                for lane in self.ad_mode.lanes() {
                    let [at, n] = self.data(range);
                    self.look_at_lane(*lane, &at, &n);
                }
            }
            Stmt::Allocate(base, len) => self.allocate(*base, *len),
            Stmt::Free { base, len, ty, values } => self.free(*base, *len, *ty, *values),
            Stmt::Forget(base, len) => {
                let (n, name) = (self.integer(*len).at(Prec::Unary), self.name(VALUE, *base));
                self.text.line(&format!("top -= (word){n};"));
                self.text.line(&format!("memset(mem + {name}, 0, (word){n} * sizeof(word));"));
                for lane in self.ad_mode.lanes() {
                    self.clear_lane(*lane, &name, &format!("(word){n}"));
                }
            }
            Stmt::Define(local, from) => self.define(*local, *from),
            Stmt::Log(base, len) => self.log(*base, *len),
            Stmt::EndLog(base) => {
                let name = self.name(VALUE, *base);
                self.text.line(&format!("logged = (word){name};"));
            }
            Stmt::Keep(keep) => self.keep_values(*keep),
            Stmt::Addend(local, of) => self.addend(*local, *of),
            Stmt::Write(to, from) => {
                let (to, from) = (self.word(*to), self.name(VALUE, *from));
                self.text.line(&format!("{} = {from};", to.text));
            }
            Stmt::Call(function, arguments) => self.call(*function, arguments),
            Stmt::HandParam(local) => {
                let name = self.name(VALUE, *local);
                self.text.line(&format!("*turned_{name} = {name};"));
            }
            Stmt::HandData(range) => {
                let [at, n] = self.data(range);
                self.text.line(&format!("memcpy(turned + {at}, mem + {at}, {n} * sizeof(word));"));
            }
        }
    }

    fn leave(&mut self, unless: &Test, finite: &[Word]) {
        let goes_on = self.test(unless);
        for word in finite {
            let x = self.word(*word);
            self.text.line(&format!("CHECK({});", x.text));
        }
        self.text.line(&format!("if (!{}) break;", goes_on.at(Prec::Atom)));
    }

    /// A loop that something in it leaves.
    fn endless(&mut self, mark: Option<Mark>, body: &[Stmt]) {
        match mark {
            None => self.text.open("for (;;) {"),
            Some(mark) => {
                self.watches = true;
                let turn = format!("turn_{}", self.number());
                self.text.open(&format!("for (int64_t {turn} = 0;; {turn}++) {{"));
                self.text.line(&format!("WATCH({}, 0, {turn}, -1, 1);", mark.0));
            }
        }
        self.statements(body);
        self.text.close("}");
    }

    fn check_carried(&mut self, local: Local) {
        let ty = self.f.local(local).ty;
        for &lane in self.lanes_of(ty).iter().filter(|lane| lane_type(**lane, ty) == Ty::F) {
            let check = if self.program.is_vector(lane) { "CHECK_PARTS" } else { "CHECK" };
            let name = self.name(lane, local);
            self.text.line(&format!("{check}({name});"));
        }
    }

    fn allocate(&mut self, base: Local, len: Value) {
        let (words, name) = (self.integer(len).at(Prec::Unary), self.name(VALUE, base));
        self.text.line(&format!("if (UNLIKELY((word){words} > len - top)) return 1;"));
        self.text.line(&format!("{name} = (int64_t)top;"));
        self.text.line(&format!("top += (word){words};"));
    }

    /// Two sides of a condition.
    fn branches(&mut self, condition: &str, then: &[Stmt], otherwise: &[Stmt]) {
        self.text.open(&format!("if ({condition}) {{"));
        self.statements(then);
        if !otherwise.is_empty() {
            self.text.close("} else {");
            self.text.indent += 1;
            self.statements(otherwise);
        }
        self.text.close("}");
    }

    fn flag(&mut self, flag: Local, test: &Test) -> String {
        let holds = self.test(test);
        let name = self.name(VALUE, flag);
        self.text.line(&format!("const int {name} = {};", holds.text));
        name
    }

    fn test(&mut self, test: &Test) -> Expr {
        match test {
            Test::Flag(flag) => Expr::atom(self.name(VALUE, *flag), Kind::Word),
            Test::Integers(cond, a, b) => {
                let (a, b) = (self.integer(*a), self.integer(*b));
                WORDS.compare(*cond, &a, &b)
            }
            Test::Block(block, v) => self.block(block, Some(*v)).unwrap_or_else(|| super::text::word(0)),
        }
    }

    fn free(&mut self, base: Local, len: Value, ty: Ty, values: Freed) {
        let (words, name) = (self.integer(len), self.name(VALUE, base));
        self.text.line(&format!("top -= (word){};", words.at(Prec::Unary)));
        self.text.line(&format!("if (UNLIKELY({name} != (int64_t)top)) return 1;"));
        let n = words.text;
        match values {
            Freed::Clear => self.text.line(&format!("memset(mem + top, 0, (word)({n}) * sizeof(word));")),
            Freed::Check if ty == Ty::F => self.text.line(&format!("odd |= end_doubles(mem + top, (word)({n}));")),
            Freed::Check => self.text.line(&format!("bad |= end_words(mem + top, (word)({n}));")),
            Freed::Zero => {}
        }
        for lane in self.lanes_of(ty) {
            let n = format!("(word)({n})");
            if self.program.carried_late && lane_type(*lane, ty) == Ty::F {
                self.look_at_lane(*lane, "top", &n);
            }
            self.clear_lane(*lane, "top", &n);
        }
        self.text.line(&format!("{name} = 0;"));
    }

    /// Notes whether words in a lane, from an address on, are not all finite.
    fn look_at_lane(&mut self, lane: usize, at: &str, n: &str) {
        let mem = format!("{}mem", PREFIX[lane]);
        self.text.line(&match self.program.is_vector(lane) {
            false => format!("odd |= not_finite({mem} + {at}, {n});"),
            true => format!("odd |= not_finite((word *)((vector *){mem} + {at}), {n} * PARTS);"),
        });
    }

    fn clear_lane(&mut self, lane: usize, at: &str, n: &str) {
        let mem = format!("{}mem", PREFIX[lane]);
        self.text.line(&match self.program.is_vector(lane) {
            false => format!("memset({mem} + {at}, 0, {n} * sizeof(word));"),
            true => format!("memset((vector *){mem} + {at}, 0, {n} * sizeof(vector));"),
        });
    }

    fn log(&mut self, base: Local, len: Value) {
        let (words, name) = (self.integer(len).at(Prec::Unary), self.name(VALUE, base));
        self.text.line(&format!("const int64_t {name} = (int64_t)logged;"));
        let (end, taken) = if self.program.keeps { ("KEPT", " + (room - KEPT)") } else { ("room", "") };
        self.text.line(&format!("if (UNLIKELY((logged += (word){words}) > {end})) {{"));
        self.text.line(&format!("    turned[room] = logged{taken};"));
        self.text.line("    return 1;");
        self.text.line("}");
    }

    fn keep_values(&mut self, keep: Keep) {
        let local = keep.defines().map(|local| self.name(VALUE, local)).unwrap_or_default();
        let reads = keep.reads().map(|value| value.map_or(String::new(), |value| self.integer(value).at(Prec::Unary)));
        let [from, to] = reads;
        match keep {
            Keep::Words { way, .. } => {
                let words = format!("WORDS({from}, {to})");
                let (moves, at) = match way {
                    Keeping::Write => (format!("KEEP({words});"), "KEPT"),
                    Keeping::Reread => (format!("PASS({words});"), "REREAD"),
                    Keeping::TakeBack => (format!("REMOVE({words});"), "KEPT"),
                };
                let words = if way == Keeping::TakeBack { format!(" - {words}") } else { String::new() };
                self.text.line(&moves);
                self.text.line(&format!("const int64_t {local} = (int64_t)({at}{words} - (word){from});"));
            }
            Keep::End(_) => self.text.line(&format!("const int64_t {local} = (int64_t)KEPT;")),
            Keep::Reader(_) => self.text.line(&format!("const int64_t {local} = (int64_t)REREAD;")),
            Keep::Mark(_) => {
                self.text.line("KEEP(1);");
                self.text.line(&format!("turned[KEPT] = (word){from};"));
            }
            Keep::PassMark => self.text.line("PASS(1);"),
            Keep::RereadFromMark(_) => {
                self.text.line("REMOVE(1);");
                self.text.line(&format!("const int64_t {local} = (int64_t)turned[KEPT - 1];"));
                self.text.line(&format!("REREAD = (word){local};"));
                self.text.line("if (UNLIKELY(REREAD < KEPT || REREAD > room - 2)) return 1;");
            }
            Keep::NoteEnd(_) => self.text.line(&format!("turned[{from}] = KEPT;")),
            Keep::PassToNotedEnd(_) => {
                self.text.line(&format!("if (UNLIKELY(turned[{from}] < KEPT || turned[{from}] > REREAD)) return 1;"));
                self.text.line(&format!("REREAD = turned[{from}];"));
            }
            Keep::RemoveTo(_) => self.text.line(&format!("KEPT = (word){from};")),
            Keep::Agree(_) => self.text.line(&format!("if (UNLIKELY(KEPT != (word){from})) return 1;")),
        }
    }

    fn addend(&mut self, local: Local, of: Local) {
        let ty = self.f.local(local).ty;
        let name = self.name(VALUE, local);
        self.text.line(&format!("{} {name} = -0.0;", c_type(lane_type(VALUE, ty))));
        for &lane in self.f.lanes_of(ty) {
            let (name, of) = (self.name(lane, local), self.name(lane, of));
            self.text.line(&format!("{} {name} = {of};", self.lane_kind(lane, ty).c_type()));
        }
    }

    fn define(&mut self, local: Local, from: Option<Word>) {
        let kind = self.word_kind(Word { place: Place::Local(local), ty: self.f.local(local).ty, lane: VALUE });
        let from = from.map_or(kind.zero().to_string(), |word| self.word(word).text);
        let name = self.name(VALUE, local);
        self.text.line(&format!("{} {name} = {from};", kind.c_type()));
    }
}
