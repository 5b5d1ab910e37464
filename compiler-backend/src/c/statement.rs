//! Statements.

use pendula_codegen::lift::Setting;
use pendula_codegen::lift::symbolic::{self, Operand as Word};
use pendula_codegen::ops::{Body, Kernel, Op};
use pendula_isa::Env;
use pendula_isa::adjoint::{AdMode, VALUE};
use pendula_isa::{Ty, types::Cond};

use super::body::{self, Spot};
use super::function::{FunctionWriter, c_type};
use super::loops::TEST;
use super::text::{Ex, Prec};
use super::{Refused, Sweep, Writer};
use crate::ir::{AncillaChecks, Condition, LocatedStmt, Mem, Operand, Region, Step, Stmt, Test, Var, permutes};
use crate::passes::Pass;

type Done = Result<(), Refused>;

impl FunctionWriter<'_, '_> {
    /// Statements in the order of the run.
    pub(super) fn block(&mut self, block: &[LocatedStmt], back: bool) -> Done {
        for n in 0..block.len() {
            self.statement(&block[if back { block.len() - 1 - n } else { n }], back)?;
        }
        Ok(())
    }

    pub(super) fn lines(&mut self, lines: &[String]) {
        lines.iter().for_each(|l| self.text.line(l));
    }

    pub(super) fn statement(&mut self, s: &LocatedStmt, back: bool) -> Done {
        match &s.stmt {
            Stmt::Update { acc, inverse, func, dst, args } => {
                let info = func.info();
                let mut operands = vec![((*dst).into(), info.ty)];
                operands.extend(args.iter().map(|a| (*a, info.from)));
                let what = (*acc, *inverse != back, *func);
                self.recorded(s, &operands, info.partials > 0, |setting, kernels, words| {
                    symbolic::accumulate(setting, kernels, what, words)
                })
            }
            Stmt::Permute { row, inverse, ty, args } => {
                if !permutes(*row) || args.len() != row.info().operands.len() {
                    return Err(Refused::Operation);
                }
                // Words of any type may change places as integers, and what they carry with them.
                let ty_of = |a: &Operand| if matches!(a, Operand::Mem(_)) && *ty == Ty::Int { Ty::Q } else { *ty };
                let operands: Vec<(Operand, Ty)> = args.iter().map(|a| (*a, ty_of(a))).collect();
                let what = (*row, *inverse != back, *ty);
                self.recorded(s, &operands, false, |setting, kernels, words| {
                    symbolic::row(setting, kernels, what, words)
                })
            }
            Stmt::Ancilla { var, free, checks } => {
                self.life(*var, *checks, *free != back);
                Ok(())
            }
            Stmt::Array { base, len, region, ty, free, checks } => {
                self.array(s, *base, (*len, *region, *ty, *checks), *free != back)
            }
            Stmt::Call { func, inverse, args } => self.call(s, *func, Sweep::of(*inverse != back), args),
            Stmt::If { pre, post, then, otherwise } => {
                let (pre, post) = if back { (post, pre) } else { (pre, post) };
                let holds = self.condition(s, pre, 0)?;
                let name = self.fresh("holds");
                self.text.line(&format!("const int {name} = {};", holds.text));
                self.text.open(&format!("if ({name}) {{"));
                self.block(then, back)?;
                if !otherwise.is_empty() {
                    self.text.close("} else {");
                    self.text.indent += 1;
                    self.block(otherwise, back)?;
                }
                self.text.close("}");
                let after = self.condition(s, post, 1)?;
                self.text.line(&format!("bad |= {} != {name};", after.at(Prec::Atom)));
                Ok(())
            }
            Stmt::While { pre, post, first, body } => {
                let (pre, post) = if back { (post, pre) } else { (pre, post) };
                let before = self.condition(s, post, 1)?;
                self.text.line(&format!("if ({}) return 1;", before.text));
                self.text.open("for (;;) {");
                self.block(first, back)?;
                let goes_on = self.condition(s, pre, 0)?;
                self.check_finite(&pre.test);
                self.text.line(&format!("if (!{}) break;", goes_on.at(Prec::Atom)));
                self.block(body, back)?;
                let after = self.condition(s, post, 1)?;
                // Numbers that are not might keep the loop going.
                self.text.line(&format!("if (!{} | NOTED) return 1;", after.at(Prec::Atom)));
                self.text.close("}");
                Ok(())
            }
            Stmt::For { var, first, last, step, body } => {
                // Turns that only add may as well be taken back from the first: memory is best read upward.
                let down =
                    back && !(self.w.drops.fast && self.w.drops.flow(self.f, std::slice::from_ref(s)).only_adds());
                self.count(s, *var, (*first, *last, *step), body, down, |fw| fw.block(body, back))
            }
            Stmt::With { name: _, compute, body } => {
                self.compute(compute, body)?;
                self.block(body, back)?;
                self.undo(compute, body)
            }
            Stmt::Span { name: _, undo: _, body } => self.block(body, back),
            Stmt::Assert { test, why: _, reason: _ } => {
                if self.proven.contains(&(std::ptr::from_ref(s), TEST)) {
                    return Ok(());
                }
                let holds = self.test(s, test, 0)?;
                self.text.line(&format!("if (!{}) return 1;", holds.at(Prec::Atom)));
                Ok(())
            }
            Stmt::Show { .. } | Stmt::Print(_) => Err(Refused::Shows),
        }
    }

    /// A new name like this one.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        self.taken.like(name)
    }

    /// Checks the address of an operand that is a memory word, unless that has been done. `n` is the operand's number.
    pub(super) fn inside(&mut self, s: &LocatedStmt, n: usize, operand: Operand) {
        if let Operand::Mem(m) = operand
            && !self.proven.contains(&(std::ptr::from_ref(s), n))
            && !self.promoted.contains_key(&m)
        {
            let address = self.address(m);
            self.text.line(&format!("INSIDE({});", address.text));
        }
    }

    /// A statement whose operations can be recorded. Where words `share`, what flows to two that are one is to be added up.
    fn recorded(
        &mut self,
        s: &LocatedStmt,
        operands: &[(Operand, Ty)],
        shares: bool,
        record: impl Fn((Env, Setting), &mut Vec<Kernel>, &[Word]) -> Option<Body>,
    ) -> Done {
        for (n, (operand, _)) in operands.iter().enumerate() {
            self.inside(s, n, *operand);
        }
        let possible_aliases =
            if shares && !self.lanes().is_empty() { self.possible_aliases(&operands[1..]) } else { Vec::new() };
        let Some((&(a, b), others)) = possible_aliases.split_first() else {
            return self.print(operands, &record);
        };
        for (a, b) in others {
            let (a, b) = (self.address(*a), self.address(*b));
            self.text.line(&format!("if ({} == {}) return 1;", a.text, b.text));
        }
        let (at, other) = (self.address(a), self.address(b));
        self.text.open(&format!("if ({} == {}) {{", at.text, other.text));
        let one: Vec<(Operand, Ty)> =
            operands.iter().map(|(o, ty)| (if *o == Operand::Mem(b) { Operand::Mem(a) } else { *o }, *ty)).collect();
        self.print(&one, &record)?;
        self.text.close("} else {");
        self.text.indent += 1;
        self.print(operands, &record)?;
        self.text.close("}");
        Ok(())
    }

    fn print(
        &mut self,
        operands: &[(Operand, Ty)],
        record: &impl Fn((Env, Setting), &mut Vec<Kernel>, &[Word]) -> Option<Body>,
    ) -> Done {
        let mut words = Vec::new();
        let mut spots: Vec<Option<Spot>> = vec![None];
        let mut seen: Vec<Operand> = Vec::new();
        for (operand, ty) in operands {
            if let Operand::Const(k) = operand {
                words.push(Word::Const(*k));
                continue;
            }
            let at = seen.iter().position(|o| o == operand).unwrap_or_else(|| {
                seen.push(*operand);
                spots.push(Some(self.spot(*operand, *ty)));
                seen.len() - 1
            });
            words.push(Word::Word(at as u8 + 1));
        }
        let setting = (self.w.env(), Writer::setting(self.ad_mode));
        let mut body = record(setting, &mut self.w.kernels, &words).ok_or(Refused::Operation)?;
        self.w.name_kernels();
        if self.back && operands.first().is_some_and(|(dst, _)| self.is_preserved(*dst)) {
            // Only what flows from it is wanted.
            body.ops.iter_mut().for_each(|op| {
                if matches!(op, Op::Set(0, 1, _)) {
                    *op = Op::Const(0);
                }
            });
        }
        let early = operands.first().is_some_and(|(dst, _)| self.is_integer(*dst));
        let how = (!self.w.drops.fast, early);
        let (lines, _) = body::print(&body, &spots, &self.w.kernel_names, how, None, &mut self.next)?;
        self.lines(&lines);
        Ok(())
    }

    /// Whether a word is declared as an integer, whatever functions it is computed with.
    fn is_integer(&self, operand: Operand) -> bool {
        match operand {
            Operand::Const(_) => false,
            Operand::Var(v) => self.f.ty(v) == Ty::Int,
            Operand::Mem(m) => self.f.regions.get(m.region.0 as usize).is_some_and(|r| r.ty == Ty::Int),
        }
    }

    /// Pairs of memory words that are written as different ones and may be the same.
    fn possible_aliases(&self, operands: &[(Operand, Ty)]) -> Vec<(Mem, Mem)> {
        let words: Vec<Mem> =
            operands.iter().filter_map(|(o, _)| if let Operand::Mem(m) = o { Some(*m) } else { None }).collect();
        let pairs = words.iter().enumerate().flat_map(|(n, a)| words[n + 1..].iter().map(move |b| (*a, *b)));
        pairs.filter(|(a, b)| a != b && !differ(*a, *b)).collect()
    }

    /// A variable's life begins or ends.
    fn life(&mut self, var: Var, checks: AncillaChecks, ends: bool) {
        let ty = self.f.ty(var);
        let name = self.name(var);
        if ends && checks.check && !self.unchecked {
            match ty {
                Ty::F => self.text.line(&format!("NEAR_ZERO({name});")),
                Ty::Int | Ty::Q | Ty::L => self.text.line(&format!("bad |= {name} != 0;")),
            }
        }
        let mut names = vec![name];
        names.extend(self.lanes_of(ty).iter().map(|l| self.lane_name(*l, var)));
        for name in names {
            self.text.line(&format!("{name} = 0;"));
        }
    }

    /// An array's life begins or ends.
    fn array(&mut self, s: &LocatedStmt, base: Var, what: (Operand, Region, Ty, AncillaChecks), ends: bool) -> Done {
        let (len, _, ty, checks) = what;
        self.inside(s, 0, len);
        let words = self.integer(len);
        let name = self.name(base);
        if !ends {
            let words = words.at(Prec::Unary);
            self.text.line(&format!("if ((word){words} > len - top) return 1;"));
            self.text.line(&format!("{name} = (int64_t)top;"));
            self.text.line(&format!("top += (word){words};"));
            return Ok(());
        }
        self.text.line(&format!("top -= (word){};", words.at(Prec::Unary)));
        self.text.line(&format!("if ({name} != (int64_t)top) return 1;"));
        let n = words.text;
        match ty {
            _ if self.unchecked => {
                self.text.line(&format!("memset(mem + top, 0, (word)({n}) * sizeof(word));"));
            }
            Ty::F => self.text.line(&format!("odd |= end_doubles(mem + top, (word)({n}));")),
            Ty::Int | Ty::Q | Ty::L if checks.check => {
                self.text.line(&format!("bad |= end_words(mem + top, (word)({n}));"));
            }
            Ty::Int | Ty::Q | Ty::L => {}
        }
        for lane in self.lanes_of(ty) {
            let prefix = super::function::PREFIX[*lane];
            self.text.line(&format!("memset({prefix}mem + top, 0, (word)({n}) * sizeof(word));"));
        }
        self.text.line(&format!("{name} = 0;"));
        Ok(())
    }

    /// An integer operand.
    pub(super) fn integer(&self, operand: Operand) -> Ex {
        match operand {
            Operand::Const(k) => super::text::word(k),
            _ => self.spot(operand, Ty::Int).lanes[VALUE].clone().unwrap_or_else(|| super::text::word(0)).into_word(),
        }
    }

    /// Whether a condition holds: what it computes is undone again.
    fn condition(&mut self, s: &LocatedStmt, condition: &Condition, n: usize) -> Result<Ex, Refused> {
        if condition.compute.is_empty() {
            let holds = self.test(s, &condition.test, n)?;
            return Ok(holds);
        }
        self.compute(&condition.compute, &[])?;
        let holds = self.test(s, &condition.test, n)?;
        let name = self.fresh("c");
        self.text.line(&format!("const int {name} = {};", holds.text));
        self.undo(&condition.compute, &[])?;
        Ok(Ex::atom(name, false))
    }

    /// Notes a number that is not finite where nothing else would: a loop may go on for ever with it.
    fn check_finite(&mut self, test: &Test) {
        if !self.w.drops.fast || test.ty != Ty::F {
            return;
        }
        for operand in [test.a, test.b] {
            if let Some(x) = &self.spot(operand, test.ty).lanes[VALUE] {
                self.text.line(&format!("CHECK({});", x.text));
            }
        }
    }

    /// Computes what is undone after `body`.
    pub(super) fn compute(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Done {
        let _ = body;
        let forget = self.w.switches.has(Pass::Forget);
        if forget && self.ad_mode == AdMode::Gradient && self.w.drops.own(self.f, compute).is_some() {
            // Nothing flows to words that have just begun, nor from them.
            self.ad_mode = AdMode::Plain;
            let done = self.block(compute, false);
            self.ad_mode = AdMode::Gradient;
            return done;
        }
        self.block(compute, false)
    }

    /// Undoes it, or forgets it.
    pub(super) fn undo(&mut self, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Done {
        let own = self.w.drops.own(self.f, compute).filter(|_| self.w.switches.has(Pass::Forget));
        let own = own.filter(|own| self.w.drops.is_exact(self.f, compute, body, own));
        let Some(own) = own else { return self.block(compute, true) };
        if self.ad_mode != AdMode::Plain {
            // The values are not looked at any more.
            let outer = std::mem::replace(&mut self.unchecked, true);
            let done = self.block(compute, true);
            self.unchecked = outer;
            return done;
        }
        for (base, len) in own.arrays.iter().rev() {
            let n = self.integer(*len);
            self.text.line(&format!("top -= (word){};", n.at(Prec::Unary)));
            self.text.line(&format!(
                "memset(mem + {}, 0, (word){} * sizeof(word));",
                self.name(*base),
                n.at(Prec::Unary)
            ));
        }
        Ok(())
    }

    /// A comparison. `n` tells the comparisons of a statement apart.
    fn test(&mut self, s: &LocatedStmt, test: &Test, n: usize) -> Result<Ex, Refused> {
        let (first, second) = (TEST + 1 + 2 * n, TEST + 2 + 2 * n);
        self.inside(s, first, test.a);
        self.inside(s, second, test.b);
        if test.ty == Ty::Int && test.cond != Cond::Always {
            return Ok(super::operators::integers(test.cond, &self.integer(test.a), &self.integer(test.b)));
        }
        let mut spots = vec![None];
        let mut words = [Word::Const(0); 2];
        for (word, operand) in words.iter_mut().zip([test.a, test.b]) {
            *word = match operand {
                Operand::Const(k) => Word::Const(k),
                _ => {
                    spots.push(Some(self.spot(operand, test.ty)));
                    Word::Word(spots.len() as u8 - 1)
                }
            };
        }
        let setting = (self.w.env(), Writer::setting(pendula_isa::adjoint::AdMode::Plain));
        let found = symbolic::compare(setting, &mut self.w.kernels, (test.cond, test.ty), words);
        let (body, v) = found.ok_or(Refused::Operation)?;
        self.w.name_kernels();
        let (lines, holds) =
            body::print(&body, &spots, &self.w.kernel_names, (!self.w.drops.fast, false), Some(v), &mut self.next)?;
        self.lines(&lines);
        holds.ok_or(Refused::Operation)
    }

    /// A `for`; what a turn does is written by `turn`.
    pub(super) fn count(
        &mut self,
        s: &LocatedStmt,
        var: Var,
        (first, last, step): (Operand, Operand, Step),
        body: &[LocatedStmt],
        back: bool,
        turn: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let (first, last, step) = if back { (last, first, step.negated()) } else { (first, last, step) };
        self.inside(s, usize::from(back), first);
        self.inside(s, usize::from(!back), last);
        self.text.open("{");
        let from = self.bound(first, "first");
        let to = self.bound(last, "last");
        let name = self.name(var);
        let declared = if self.counts.contains(&var) { "int64_t " } else { "" };
        let (head, by, turns) = match step {
            Step::Const(1) => {
                if !matches!(last, Operand::Const(k) if k != i64::MAX.cast_unsigned()) {
                    self.text.line(&format!("if ({} == INT64_MAX) return 1;", to.text));
                }
                let head = format!("for ({declared}{name} = {}; {name} <= {}; {name}++) {{", from.text, to.text);
                (head, Some(1), format!("(word)({} - {}) + 1", to.text, from.at(Prec::Product)))
            }
            Step::Const(-1) => {
                if !matches!(last, Operand::Const(k) if k != i64::MIN.cast_unsigned()) {
                    self.text.line(&format!("if ({} == INT64_MIN) return 1;", to.text));
                }
                let head = format!("for ({declared}{name} = {}; {name} >= {}; {name}--) {{", from.text, to.text);
                (head, Some(-1), format!("(word)({} - {}) + 1", from.text, to.at(Prec::Product)))
            }
            Step::Const(k) => {
                self.text.line(&format!("if (uneven({}, {}, {k})) return 1;", from.text, to.text));
                let sign = if k < 0 { ">=" } else { "<=" };
                let head =
                    format!("for ({declared}{name} = {}; {name} {sign} {}; {name} += {k}) {{", from.text, to.text);
                (head, Some(k), format!("(word)(({} - {}) / {k}) + 1", to.text, from.at(Prec::Product)))
            }
            Step::Var { var: step, negated } => {
                let by = self.fresh("step");
                let sign = if negated { "-" } else { "" };
                self.text.line(&format!("const int64_t {by} = {sign}{};", self.name(step)));
                self.text.line(&format!("if (uneven({}, {}, {by})) return 1;", from.text, to.text));
                let goes_on = format!("{by} < 0 ? {name} >= {} : {name} <= {}", to.text, to.text);
                let head = format!("for ({declared}{name} = {}; {goes_on}; {name} += {by}) {{", from.text);
                (head, None, String::new())
            }
        };
        let plan = by.map(|by| super::loops::plan(self, var, &from, &to, by, body, back));
        let (outer_proven, outer_promoted) = (self.proven.clone(), self.promoted.clone());
        let runs = match by {
            Some(k) if k < 0 => format!("if ({} >= {}) {{", from.text, to.text),
            _ => format!("if ({} <= {}) {{", from.text, to.text),
        };
        let mut write = Vec::new();
        if let Some(plan) = &plan {
            let (read, after) = self.keep(&plan.promoted);
            write = after;
            if !plan.checks.is_empty() || !read.is_empty() {
                self.text.open(&runs);
                if plan.checks.iter().any(|c| c.contains("turns")) {
                    self.text.line(&format!("const word turns = {turns};"));
                }
                if !plan.checks.is_empty() {
                    let indent = format!("\n{}", "    ".repeat(self.text.indent));
                    let checks = plan.checks.join("\n        || ").replace('\n', &indent);
                    self.text.line(&format!("if ({checks})"));
                    self.text.line("    return 1;");
                }
                self.lines(&read);
                self.text.close("}");
            }
            self.proven.extend(plan.proven.iter().copied());
        }
        if plan.is_some_and(|p| p.independent) {
            self.text.line("IVDEP");
        }
        self.text.open(&head);
        turn(self)?;
        self.text.close("}");
        (self.proven, self.promoted) = (outer_proven, outer_promoted);
        if !write.is_empty() {
            self.text.open(&runs);
            self.lines(&write);
            self.text.close("}");
        }
        if declared.is_empty() {
            self.text.line(&format!("{name} = 0;"));
        }
        for (operand, kept) in [(first, &from), (last, &to)] {
            // The body changes no bound in the end.
            if !matches!(operand, Operand::Const(_)) && self.integer(operand).text != kept.text {
                let now = self.integer(operand);
                self.text.line(&format!("bad |= {} != {};", now.at(Prec::Sum), kept.text));
            }
        }
        self.text.close("}");
        Ok(())
    }

    /// A bound of a loop, as it is before it.
    fn bound(&mut self, operand: Operand, name: &str) -> Ex {
        let value = self.integer(operand);
        if matches!(operand, Operand::Const(_)) {
            return Ex::new(value.text, Prec::Literal, false);
        }
        let name = self.fresh(name);
        self.text.line(&format!("const {} {name} = {};", c_type(Ty::Int), value.text));
        Ex::atom(name, false)
    }
}

/// Whether two words are different ones for certain.
pub(super) fn differ(a: Mem, b: Mem) -> bool {
    a.region != b.region || ((a.base, a.index) == (b.base, b.index) && a.offset != b.offset)
}
