//! Prints loops that add up products of matrices: the machine makes them, or they run.

use super::expr::{Expr, Prec};
use super::function::{FunctionPrinter, PREFIX};

use crate::loops::{Check, Count, Look, PRODUCT_TURNS, Product, Products, Step, Value};
use pendula_isa::adjoint::VALUE;
use pendula_isa::num::products::{CONTRACT, FINITE, SUBTRACT};

impl FunctionPrinter<'_> {
    /// The machine makes as many turns as it can, and the loop the others.
    pub(super) fn products(&mut self, count: &Count, products: &Products, from: &Expr, to: &Expr) {
        let Step::Const(step) = count.step else { return };
        let (name, declared) = (self.name(VALUE, count.var), self.declared(count));
        let watch = count.mark.map(|mark| format!("WATCH({}, {}, {name}, {}, {step});", mark.0, from.text, to.text));
        self.watches |= watch.is_some();
        let goes_on = format!("{name} {} {}", if step < 0 { ">=" } else { "<=" }, to.text);
        self.text.line(&format!("{declared}{name} = {};", from.text));
        let n = self.number();
        let [gone, turns, sums, status] = ["gone", "turns", "sums", "status"].map(|what| format!("{what}_{n}"));
        let fails: Vec<String> =
            products.conditions.iter().map(|(cond, a, b)| self.check(&Check::Fails(*cond, *a, *b))).collect();
        if !fails.is_empty() {
            self.text.line(&format!("if (!({}))", fails.join(" || ")));
        }
        self.text.open(&format!("while ({goes_on}) {{"));
        watch.iter().for_each(|line| self.text.line(line));
        let way = |a: &str, b: &Expr| format!("{a} - {}", b.at(Prec::Product));
        let (so_far, left) = match step < 0 {
            true => (way(&from.text, &Expr::atom(name.clone(), super::expr::Kind::Word)), way(&name, to)),
            false => (way(&name, from), way(&to.text, &Expr::atom(name.clone(), super::expr::Kind::Word))),
        };
        self.text.line(&format!("const int64_t {gone} = {so_far};"));
        self.text.line(&format!(
            "const word {turns} = (word)({left}) < {PRODUCT_TURNS} ? (word)({left}) + 1 : {PRODUCT_TURNS};"
        ));
        let within: Vec<String> = products.within.iter().map(|(ends, down)| self.turns_between(*ends, *down)).collect();
        let counts = [turns.clone(), within[0].clone(), within[1].clone()];
        let whole = format!("(word)({}) + 1", if step < 0 { way(&from.text, to) } else { way(&to.text, from) });
        let of_limits = [whole, within[0].clone(), within[1].clone()];
        self.text.open(&format!("const sums_of_products {sums}[] = {{"));
        for product in &products.all {
            let line = self.sums_of_products(product, &gone, &counts, &of_limits);
            self.text.line(&line);
        }
        self.text.close("};");
        self.text.line(&format!("const word {status} = add_products({sums}, {}, len);", products.all.len()));
        self.text.line(&format!("if ({status} > 1) break;"));
        self.text.line(&format!("odd |= -(int64_t){status};"));
        self.text.line(&format!("{name} {} (int64_t){turns};", if step < 0 { "-=" } else { "+=" }));
        self.text.close("}");
        self.text.open(&format!("for (; {goes_on}; {name} += {step}) {{"));
        watch.iter().for_each(|line| self.text.line(line));
        self.statements(&count.body);
        self.text.close("}");
    }

    /// How many turns a loop has between two values, in steps of 1 or -1.
    fn turns_between(&mut self, [first, last]: [Value; 2], down: bool) -> String {
        let [first, last] = if down { [last, first] } else { [first, last] };
        let (first, last) = (self.integer(first), self.integer(last));
        format!(
            "({} <= {} ? (word)({} - {}) + 1 : 0)",
            first.at(Prec::Sum),
            last.at(Prec::Sum),
            last.text,
            first.at(Prec::Product)
        )
    }

    /// One sum of products, as the machine wants it.
    fn sums_of_products(
        &mut self,
        product: &Product,
        gone: &str,
        counts: &[String; 3],
        of_limits: &[String; 3],
    ) -> String {
        let memories: Vec<String> = product.words.iter().map(|(_, lane)| format!("{}mem", PREFIX[*lane])).collect();
        let mut first = Vec::new();
        for (word, _) in &product.words {
            let at = self.sum(&word.first);
            let step = self.sum(&word.steps[0]);
            first.push(if step == "0" { at } else { format!("{at} + {gone} * ({step})") });
        }
        let [p, q, r] = product.loops;
        let mut steps = |pairs: [(usize, usize); 2]| {
            let steps = pairs.map(|(word, n)| self.sum(&product.words[word].0.steps[n]));
            format!("{{{}}}", steps.join(", "))
        };
        let steps = [[(0, p), (1, p)], [(0, q), (2, q)], [(1, r), (2, r)]].map(&mut steps).join(", ");
        let counts = [p, q, r].map(|n| counts[n].clone()).join(", ");
        let mut flags = if product.subtracts { SUBTRACT } else { 0 };
        if !self.program.checks_finite {
            flags |= CONTRACT;
        }
        let limit = match product.look {
            Look::No => "0".to_string(),
            Look::Finite => {
                flags |= if self.program.checks_finite { FINITE } else { 0 };
                "0".to_string()
            }
            Look::Within(limit) => {
                let limit = self.integer(limit).text;
                product.divided_by.iter().fold(limit, |limit, n| format!("DIVIDED({limit}, {})", of_limits[*n]))
            }
        };
        format!(
            "{{{{{}}}, {{{}}}, {steps}, {{{counts}}}, {flags}, (word)({limit})}},",
            memories.join(", "),
            first.join(", ")
        )
    }
}
