//! Emits loops that add up products of matrices: a function of the host makes them, or they run.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as IrValue, types};
use pendula_codegen::loops::{Count, Look, PRODUCT_TURNS, Product, Products, Value};
use pendula_isa::num::products::{FINITE, NOTED, SUBTRACT, WORDS};

use super::super::clif::int_condition;
use super::count::{LoopStep, Range};
use super::function::FunctionEmitter;
use super::helpers::Helper;

impl FunctionEmitter<'_, '_> {
    /// As many turns as the host makes, and the loop for the others.
    pub(super) fn products(&mut self, count: &Count, products: &Products, range: Range) {
        let LoopStep::Const(step) = range.step else { return };
        let at = self.b.declare_var(types::I64);
        self.b.def_var(at, range.from);
        let (head, body, made, rest) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        for (cond, a, b) in &products.conditions {
            let (a, b) = (self.integer(*a), self.integer(*b));
            let holds = self.b.ins().icmp(int_condition(*cond), a, b);
            let on = self.b.create_block();
            self.b.ins().brif(holds, on, &[], rest, &[]);
            self.go_on(on);
        }
        let slot = self.slot((products.all.len() * WORDS * 8) as u32);
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let now = self.b.use_var(at);
        let goes_on = self.goes_on(now, range);
        self.b.ins().brif(goes_on, body, &[], rest, &[]);
        self.go_on(body);
        self.watch_turn(count, now, range);
        let way = |e: &mut Self, from: IrValue, to: IrValue| match step < 0 {
            true => e.b.ins().isub(from, to),
            false => e.b.ins().isub(to, from),
        };
        let (gone, further) = (way(self, range.from, now), way(self, now, range.to));
        let most = self.word(PRODUCT_TURNS - 1);
        let further = self.b.ins().umin(further, most);
        let turns = self.b.ins().iadd_imm_s(further, 1);
        let within = products.within.map(|(ends, down)| self.turns_between(ends, down));
        let whole = self.turns_of(range);
        for (n, product) in products.all.iter().enumerate() {
            let words =
                self.sums_of_products(product, gone, [turns, within[0], within[1]], [whole, within[0], within[1]]);
            for (word, k) in words.into_iter().zip(n * WORDS..) {
                self.b.ins().stack_store(types::I64, word, slot, (8 * k) as i32);
            }
        }
        let all = self.b.ins().stack_addr(types::I64, slot, 0);
        let n = self.word(products.all.len() as u64);
        let status = self.help(Helper::AddProducts, &[all, n, self.len]);
        let not_done = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, status, NOTED.cast_signed());
        self.b.ins().brif(not_done, rest, &[], made, &[]);
        self.go_on(made);
        self.note(status);
        let way = self.b.ins().imul_imm_s(turns, step);
        let next = self.b.ins().iadd(now, way);
        self.b.def_var(at, next);
        self.b.ins().jump(head, &[]);
        self.b.seal_block(head);
        self.go_on(rest);
        let from = self.b.use_var(at);
        self.turns_from(count, &count.body, from, range);
    }

    /// How many turns a loop has between two values, in steps of 1 or -1.
    fn turns_between(&mut self, [first, last]: [Value; 2], down: bool) -> IrValue {
        let [first, last] = if down { [last, first] } else { [first, last] };
        let (first, last) = (self.integer(first), self.integer(last));
        let runs = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, first, last);
        let way = self.b.ins().isub(last, first);
        let turns = self.b.ins().iadd_imm_s(way, 1);
        let none = self.word(0);
        self.b.ins().select(runs, turns, none)
    }

    /// The words of one [`Sums`](pendula_isa::num::products::Sums).
    fn sums_of_products(
        &mut self,
        product: &Product,
        gone: IrValue,
        counts: [IrValue; 3],
        of_limits: [IrValue; 3],
    ) -> Vec<IrValue> {
        let mut out: Vec<IrValue> = product.words.iter().map(|(_, lane)| self.memory(*lane)).collect();
        for (word, _) in &product.words {
            let (first, step) = (self.sum(&word.first), self.sum(&word.steps[0]));
            let way = self.b.ins().imul(gone, step);
            out.push(self.b.ins().iadd(first, way));
        }
        let [p, q, r] = product.loops;
        for (word, n) in [(0, p), (1, p), (0, q), (2, q), (1, r), (2, r)] {
            out.push(self.sum(&product.words[word].0.steps[n]));
        }
        out.extend([p, q, r].map(|n| counts[n]));
        let flags =
            if product.subtracts { SUBTRACT } else { 0 } | if product.look == Look::Finite { FINITE } else { 0 };
        out.push(self.word(flags));
        out.push(match product.look {
            Look::No | Look::Finite => self.word(0),
            Look::Within(limit) => {
                let limit = self.integer(limit);
                product.divided_by.iter().fold(limit, |limit, n| self.divided(limit, of_limits[*n]))
            }
        });
        out
    }

    /// The bits of a double, divided by a power of two that is above a number.
    pub(super) fn divided(&mut self, limit: IrValue, by: IrValue) -> IrValue {
        let odd = self.b.ins().bor_imm_u(by, 1);
        let zeros = self.b.ins().clz(odd);
        let most = self.word(64);
        let exponent = self.b.ins().isub(most, zeros);
        let less = self.b.ins().ishl_imm_u(exponent, 52);
        self.b.ins().isub(limit, less)
    }
}
