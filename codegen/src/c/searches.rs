//! Prints what passes over turns of searches.

use pendula_isa::adjoint::VALUE;

use super::function::{FunctionPrinter, c_type};
use crate::loops::{BLOCK, Count, Search, Step};

/// How many turns of a search are made at most before it is looked again whether some can be passed over.
const MOST_WAIT: i64 = 8 * BLOCK;

impl FunctionPrinter<'_> {
    /// What is done before a turn of a search: at some of them, those that find nothing are passed over, more rarely where that often comes to nothing. It is
    /// a function of its own: with it, the one around it would be too large for what a C compiler does, and searches through few words would be slower.
    pub(super) fn pass_over(&mut self, count: &Count, search: &Search, [from, to]: [&str; 2]) -> Vec<String> {
        let (n, turn) = (self.number(), self.name(VALUE, count.var));
        let (look, wait) = (format!("look_{n}"), format!("wait_{n}"));
        let (all, sign) = match count.step {
            Step::Const(-1) => (format!("(word)({from} - {to})"), "-"),
            _ => (format!("(word)({to} - {from})"), "+"),
        };
        let passes = self.passing(count, search);
        let inside: String =
            search.inside.iter().map(|at| format!(" && (word)({}) < len", self.address(*at).text)).collect();
        let reads: String = search.locals[0].iter().map(|local| format!(", {}", self.name(VALUE, *local))).collect();
        self.text.line(&format!("int64_t {look} = {from}, {wait} = {BLOCK};"));
        vec![
            // The C compiler decides the first where it knows how many turns there are.
            format!("if (UNLIKELY({all} >= {} && {turn} == {look}{inside})) {{", 2 * BLOCK),
            format!("    {look} = {passes}(mem, {turn}, {to}{reads});"),
            format!("    {wait} = {look} != {turn} ? {BLOCK} : {wait} < {MOST_WAIT} ? 2 * {wait} : {MOST_WAIT};"),
            format!("    {turn} = {look};"),
            format!("    {look} = {turn} {sign} {wait};"),
            "}".to_string(),
        ]
    }

    /// Writes a function that passes over turns of a search that find nothing, as long as there are more than it passes over; gives its name.
    fn passing(&mut self, count: &Count, search: &Search) -> String {
        let function = format!("passed_{}", self.shared.searches.replace_with(|n| *n + 1));
        let descends = matches!(count.step, Step::Const(-1));
        let sign = if descends { "-" } else { "+" };
        let left = if descends { "(word)(turn_0 - until_0)" } else { "(word)(until_0 - turn_0)" };
        let mut text = std::mem::take(&mut self.text);
        let mut head =
            format!("SELDOM static int64_t {function}(word *restrict const mem, int64_t turn_0, const int64_t until_0");
        for local in &search.locals[0] {
            let ty = self.f.local(*local).ty;
            head.push_str(&format!(", const {} {}", c_type(ty), self.name(VALUE, *local)));
        }
        self.text.open(&format!("{head})\n{{"));
        for local in &search.locals[1] {
            let ty = self.f.local(*local).ty;
            for &lane in std::iter::once(&VALUE).chain(self.f.lanes_of(ty)) {
                let (name, kind) = (self.name(lane, *local), self.lane_kind(lane, ty));
                self.text.line(&format!("{} {name} = {};", kind.c_type(), kind.zero()));
            }
        }
        self.text.open(&format!("for (; {left} >= {BLOCK}; turn_0 = turn_0 {sign} {BLOCK}) {{"));
        self.text.line("int64_t bad = 0, odd = 0;");
        // Written out, they would be made no vectors.
        self.text.line("ROLLED");
        self.text.open(&format!("for (int64_t nth = 0; nth < {BLOCK}; nth++) {{"));
        let name = self.name(VALUE, count.var);
        self.text.line(&format!("const int64_t {name} = turn_0 {sign} nth;"));
        self.passes_over = true;
        self.statements(&search.body);
        self.passes_over = false;
        for flag in &search.found {
            let flag = self.name(VALUE, *flag);
            self.text.line(&format!("bad |= {flag};"));
        }
        self.text.close("}");
        self.text.line("if (NOTED) break;");
        self.text.close("}");
        self.text.line("return turn_0;");
        self.text.close("}");
        std::mem::swap(&mut self.text, &mut text);
        self.helpers.push_str(&text.out);
        self.helpers.push('\n');
        function
    }
}
