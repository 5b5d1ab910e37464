//! Random statements that contain others: branches, loops, routines, allocations, inverted blocks.

use super::generate::{AVOID, Gen, type_of};
use super::model::{Kind, Len, Variable};

impl Gen<'_> {
    pub(super) fn control(&mut self, depth: usize) {
        match self.rng.below(24) {
            0..=3 => self.branch(depth),
            4 => self.branch_with_post(depth),
            5..=9 => self.for_loop(depth),
            10 | 11 => self.while_loop(depth),
            12..=15 => self.routine(depth),
            16 => self.overlapping(depth),
            17 | 18 => self.life(depth),
            19 | 20 => self.undone(depth),
            21 | 22 => self.pushed(depth),
            _ => self.marked(depth),
        }
    }

    /// `if`, `elseif`, `else` whose conditions do not change.
    fn branch(&mut self, depth: usize) {
        let marks: Vec<bool> = self.vars.iter().map(|v| v.write).collect();
        let kept = self.vars.clone();
        let count = 1 + self.rng.below(3);
        let mut heads = Vec::new();
        for _ in 0..count {
            // A condition may be optimised away, and its trap with it.
            let (risky, helpers) = (self.risky, self.inside_helper);
            if AVOID.contains(&"traps in conditions") && risky {
                (self.risky, self.inside_helper) = (false, 2);
            }
            let (c, used) = self.reading(|g| g.expr(Kind::Bool, 2));
            (self.risky, self.inside_helper) = (risky, helpers);
            self.freeze(&used);
            heads.push(if self.rng.chance(50) { format!("({c}, ~)") } else { c });
        }
        for (n, head) in heads.into_iter().enumerate() {
            emit!(self, "{} {head}", if n == 0 { "if" } else { "elseif" });
            self.inner(|g| g.some(2, depth));
        }
        if self.rng.chance(50) {
            self.line("else");
            self.inner(|g| g.some(2, depth));
        }
        self.line("end");
        self.vars = kept;
        self.vars.iter_mut().zip(marks).for_each(|(v, m)| v.write = m);
    }

    /// An `if` whose branches change the condition, with a postcondition.
    fn branch_with_post(&mut self, depth: usize) {
        let directed = self.computing == 0;
        if directed && self.anywhere {
            return self.branch(depth);
        }
        let exact = |k: Kind| matches!(k, Kind::Int | Kind::Fixed);
        let Some(v) = self.pick_var(|v| v.write && exact(v.kind) && v.dims.is_empty()) else {
            return self.branch(depth);
        };
        self.directed |= directed;
        let name = v.name.clone();
        let (c, k) = (self.rng.below(7) as i64 - 3, 1 + self.rng.below(4) as i64);
        emit!(self, "if ({name} > {c}, {name} > {})", c + k);
        let outer = self.vars.clone();
        self.inner(|g| {
            g.freeze(std::slice::from_ref(&name));
            emit!(g, "{name} += {k}");
            g.some(2, depth);
        });
        self.line("else");
        self.inner(|g| {
            g.freeze(std::slice::from_ref(&name));
            g.some(2, depth);
            emit!(g, "{name} -= {}", g.rng.below(3));
        });
        self.line("end");
        self.vars = outer;
    }

    /// A length of an array in scope.
    fn some_len(&mut self) -> Option<Len> {
        let v = self.pick_var(|v| !v.dims.is_empty())?;
        Some(self.rng.pick(&v.dims).clone())
    }

    fn for_loop(&mut self, depth: usize) {
        let outer = self.vars.clone();
        let i = self.fresh("i");
        let len = self.some_len();
        let (range, bounds) = self.reading(|g| match (g.rng.below(10), len) {
            (0..=3, Some(len)) => {
                let text = len.text();
                let (range, below, above) = match g.rng.below(5) {
                    0 => (format!("1:{text}-1"), 0, 1),
                    1 => (format!("2:{text}"), 1, 0),
                    2 => (format!("{text}:-1:1"), 0, 0),
                    _ => (format!("1:{text}"), 0, 0),
                };
                g.counted(&i, &len, below, above);
                range
            }
            (4, _) => {
                let (a, k) = (g.rng.below(5) as i64 - 2, g.rng.below(3) as i64 + 2);
                let last = a + g.rng.below(8) as i64 - 2;
                format!("{a}:{k}:{last}")
            }
            (5, _) => format!("{}:-{}:{}", g.rng.below(6), 1 + g.rng.below(3), g.rng.below(4)),
            (6, _) => {
                let a = g.expr(Kind::Int, 1);
                let step = g.expr(Kind::Int, 1);
                let sign = if g.rng.chance(50) { "" } else { "-" };
                format!("mod({a}, 3):{sign}(1 + mod({step}, 3)):mod({}, 5)", g.expr(Kind::Int, 1))
            }
            (7, _) => format!("1:mod({}, 4)", g.expr(Kind::Int, 2)),
            (8, _) => (*g.rng.pick(&["1:0", "3:2", "1:-1:3", "0:5:4", "2:2", "1:9", "17:-2:-1"])).to_string(),
            _ => format!("0:{}", g.rng.below(3)),
        });
        self.freeze(&bounds);
        if !self.vars.iter().any(|v| v.name == i) {
            self.vars.push(Variable::new(&i, Kind::Int, Vec::new(), false));
        }
        let tilde = if self.rng.chance(10) && self.computing == 0 && self.anywhere { "~" } else { "" };
        let mark = if !self.risky && self.rng.chance(8) { "@invcheckoff @inbounds " } else { "" };
        let simd = if self.rng.chance(40) { "@simd " } else { "" };
        emit!(self, "{tilde}{mark}{simd}for {i} {} {range}", self.rng.pick(&["=", "in", "∈"]));
        self.loops += 1;
        self.inverting += tilde.len();
        self.inner(|g| g.some(2, if g.loops > 2 { 0 } else { depth }));
        self.inverting -= tilde.len();
        self.loops -= 1;
        self.line("end");
        self.vars = outer;
    }

    /// A loop that counts its iterations in a variable of its own.
    fn while_loop(&mut self, depth: usize) {
        let outer = self.vars.clone();
        let k = self.fresh("k");
        let (bound, used) = self.reading(|g| {
            if g.rng.chance(40) {
                (1 + g.rng.below(3)).to_string()
            } else {
                format!("mod({}, 4)", g.expr(Kind::Int, 1))
            }
        });
        emit!(self, "{k} ← 0");
        self.freeze(&used);
        let pre = match self.rng.below(3) {
            0 => format!("{k} < {bound}"),
            1 => format!("{k} != {bound}"),
            _ => format!("!({k} >= {bound})"),
        };
        let head = if self.rng.chance(40) {
            let entry = self.rng.pick(&["== 0", "<= 0", "< 1"]);
            format!("@from {k} {entry} while {pre}")
        } else {
            let post = self.rng.pick(&["!= 0", "> 0", ">= 1"]);
            format!("while ({pre}, {k} {post})")
        };
        self.line(head);
        self.vars.push(Variable::new(&k, Kind::Int, Vec::new(), false));
        self.loops += 1;
        self.inner(|g| {
            let first = g.rng.chance(30);
            if first {
                emit!(g, "INC({k})");
            }
            g.some(2, if g.loops > 2 { 0 } else { depth });
            if !first {
                emit!(g, "{k} += 1");
            }
        });
        self.loops -= 1;
        self.line("end");
        emit!(self, "{k} → {bound}");
        self.vars = outer;
    }

    /// Hides some of the variables that may be changed from the later statements: the computation must not read what
    /// these change. Gives the later statements.
    fn split(&mut self) -> Vec<Variable> {
        let mut after = self.vars.clone();
        let mut any = false;
        let writable: Vec<usize> = (0..after.len()).filter(|n| after[*n].write).collect();
        for &n in &writable {
            let keep = self.rng.chance(65) || (!any && Some(&n) == writable.last());
            if keep {
                any = true;
                (self.vars[n].read, self.vars[n].write) = (false, false);
            } else {
                after[n].write = false;
            }
        }
        after
    }

    /// Allocates variables, and adds them to the scope. Gives their names and initial values.
    fn locals(&mut self, most: usize) -> Vec<(String, String)> {
        let mut out: Vec<(String, String)> = Vec::new();
        for _ in 0..1 + self.rng.below(most) {
            let kinds: Vec<Kind> = self.vars.iter().map(|v| v.kind).collect();
            let kind = if kinds.is_empty() { Kind::Int } else { *self.rng.pick(&kinds) };
            let rank = if self.rng.chance(65) || kind == Kind::Tropical { 0 } else { 1 + self.rng.below(3) };
            if rank == 0 {
                let name = self.fresh("t");
                let value = match self.rng.below(4) {
                    0 | 1 if kind != Kind::Tropical => {
                        let zero = format!("{}({})", if kind == Kind::Log { "one" } else { "zero" }, kind.name());
                        zero
                    }
                    2 if matches!(kind, Kind::Int | Kind::Float | Kind::Bool) => {
                        let word = self.constant(kind);
                        if kind == Kind::Float && !word.contains('.') { "1.5".into() } else { word }
                    }
                    _ => {
                        let e = self.expr(kind, 2);
                        // A literal alone has its own type.
                        match kind {
                            Kind::Int | Kind::Bool => e,
                            Kind::Fixed | Kind::Float => format!("{}({e})", kind.name()),
                            _ => e,
                        }
                    }
                };
                out.push((name.clone(), value));
                self.vars.push(Variable::new(&name, kind, Vec::new(), true));
                continue;
            }
            let name = self.fresh("a");
            let dims: Vec<Len> = (0..rank)
                .map(|_| if self.rng.chance(40) { self.some_len() } else { None }.unwrap_or(Len::Known(2)))
                .collect();
            let like = self.pick_var(|v| v.read && !v.dims.is_empty() && v.kind != Kind::Tropical);
            let (value, kind, dims) = match (self.rng.below(6), like) {
                (0, Some(v)) => (format!("copy({})", v.name), v.kind, v.dims),
                (1, Some(v)) => (format!("zero({})", v.name), v.kind, v.dims),
                (2, _) if rank == 1 && matches!(kind, Kind::Int | Kind::Float) => {
                    let [a, b] = [0; 2].map(|_| self.expr(kind, 1));
                    (format!("[{}({a}), {}({b})]", kind.name(), kind.name()), kind, vec![Len::Known(2)])
                }
                (n, _) => {
                    let lens: Vec<String> = dims.iter().map(Len::text).collect();
                    let word = if kind == Kind::Log || n == 3 && kind != Kind::Bool { "ones" } else { "zeros" };
                    (format!("{word}({}, {})", kind.name(), lens.join(", ")), kind, dims)
                }
            };
            // A copied variable counts as read.
            if let Some(n) = value.strip_prefix("copy(") {
                self.used.push(n.trim_end_matches(')').to_string());
            }
            out.push((name.clone(), value));
            self.vars.push(Variable::new(&name, kind, dims, true));
        }
        out
    }

    /// Compute, use, uncompute.
    fn routine(&mut self, depth: usize) {
        let outer = self.vars.clone();
        let mut after = self.split();
        let known = self.vars.len();
        let form = self.rng.below(5);
        self.inverting += usize::from(form == 2);
        let computing = self.captured(|g| {
            g.indent += 1;
            let most = if g.wide && g.inverting == 0 && g.loops == 0 { 25 } else { 3 };
            let (locals, used) = g.reading(|g| g.locals(most));
            for (name, value) in &locals {
                emit!(g, "{name} ← {value}");
            }
            g.freeze(&used.into_iter().filter(|n| !locals.iter().any(|(l, _)| l == n)).collect::<Vec<_>>());
            g.computing += 1;
            if g.rng.chance(15) {
                g.data_loop();
            }
            g.some(3, depth);
            g.computing -= 1;
            g.indent -= 1;
        });
        for v in self.vars.iter().skip(known) {
            after.push(Variable { write: false, ..v.clone() });
        }
        self.vars = after;
        self.inverting -= usize::from(form == 2);
        let name = self.fresh("r");
        let (open, close) = match form {
            0 => (format!("@routine {name} begin"), format!("~@routine {name}")),
            1 if !self.risky => ("@routine @invcheckoff begin".to_string(), "~@routine".to_string()),
            2 => ("begin".to_string(), "~begin".to_string()),
            _ => ("@routine begin".to_string(), "~@routine".to_string()),
        };
        self.line(&open);
        self.lines.extend(computing.iter().cloned());
        self.line("end");
        self.between(depth);
        self.line(&close);
        if close == "~begin" {
            self.lines.extend(computing);
            self.line("end");
        }
        self.vars = outer;
    }

    /// A loop in the computation, whose number of iterations is not known.
    fn data_loop(&mut self) {
        let (a, k) = (self.fresh("d"), self.fresh("k"));
        let (value, used) = self.reading(|g| g.expr(Kind::Int, 1));
        emit!(self, "{k} ← 0");
        emit!(self, "{a} ← mod({value}, 9)");
        emit!(self, "while ({a} > 1, {k} != 0)");
        emit!(self, "    {k} += 1");
        emit!(self, "    {a} -= {}", 1 + self.rng.below(3));
        self.line("end");
        self.freeze(&used);
        self.vars.push(Variable::new(&a, Kind::Int, Vec::new(), true));
        self.vars.push(Variable::new(&k, Kind::Int, Vec::new(), true));
    }

    /// Statements before a deallocation: variables that they allocate must be deallocated among them.
    fn between(&mut self, depth: usize) {
        self.open += 1;
        self.some(2, depth);
        self.open -= 1;
    }

    /// Two named routines, of which the first one is undone first.
    fn overlapping(&mut self, depth: usize) {
        let outer = self.vars.clone();
        let names = [self.fresh("r"), self.fresh("r")];
        let mut after = self.split();
        // Each routine reads only variables that neither changes.
        self.vars.iter_mut().for_each(|v| v.write = false);
        let base = self.vars.clone();
        for name in &names {
            self.vars.clone_from(&base);
            emit!(self, "@routine {name} begin");
            let computing = self.computing;
            self.computing += 1;
            self.indent += 1;
            // Arrays would be deallocated in the wrong order.
            for _ in 0..1 + self.rng.below(2) {
                let t = self.fresh("t");
                let kind = *self.rng.pick(&[Kind::Int, Kind::Float, Kind::Fixed]);
                emit!(self, "{t} ← zero({})", kind.name());
                self.vars.push(Variable::new(&t, kind, Vec::new(), true));
            }
            self.some(2, depth.min(1));
            self.indent -= 1;
            self.computing = computing;
            self.line("end");
            let own = self.vars.iter().skip(base.len()).map(|v| Variable { write: false, ..v.clone() });
            after.extend(own);
        }
        self.vars = after;
        self.between(depth);
        emit!(self, "~@routine {}", names[0]);
        emit!(self, "~@routine {}", names[1]);
        self.vars = outer;
    }

    /// A variable that is allocated and deallocated with the same expression, which does not change in between.
    fn life(&mut self, depth: usize) {
        let outer = self.vars.clone();
        let style = self.rng.below(4);
        if style == 0 {
            let kind = *self.rng.pick(&[Kind::Int, Kind::Float, Kind::Fixed, Kind::Log, Kind::Complex]);
            let names: Vec<String> = (0..1 + self.rng.below(3)).map(|_| self.fresh("z")).collect();
            let word = if kind == Kind::Log || self.rng.chance(30) { "@ones" } else { "@zeros" };
            let list = names.join(" ");
            emit!(self, "{word} {} {list}", kind.name());
            self.vars.extend(names.iter().map(|n| Variable::new(n, kind, Vec::new(), false)));
            self.between(depth);
            emit!(self, "~{word} {} {list}", kind.name());
        } else {
            let known = self.vars.len();
            let (locals, used) = self.reading(|g| g.locals(2));
            self.freeze(&used);
            self.vars.iter_mut().skip(known).for_each(|v| v.write = false);
            let ascii = style == 1;
            for (name, value) in &locals {
                self.line(if ascii { format!("@anc {name} = {value}") } else { format!("{name} ← {value}") });
            }
            self.between(depth);
            // Without a deallocation, it is deallocated with its initial value.
            let forget = style == 2 && self.inverting == 0 && self.open == 0 && self.rng.chance(30);
            for (name, value) in locals.iter().rev().filter(|_| !forget) {
                let number = value.starts_with(|c: char| c.is_ascii_digit());
                let value =
                    if self.risky && number && self.rng.chance(30) { format!("{value} + 1") } else { value.clone() };
                self.line(if ascii { format!("@deanc {name} = {value}") } else { format!("{name} → {value}") });
            }
            if forget {
                // It is deallocated with the block: its initial value must not change until then.
                self.vars.truncate(outer.len());
                let frozen: Vec<bool> = self.vars.iter().map(|v| v.write).collect();
                self.vars = outer;
                self.vars.iter_mut().zip(frozen).for_each(|(v, f)| v.write &= f);
                return;
            }
        }
        self.vars = outer;
    }

    /// `~begin … end`
    fn undone(&mut self, depth: usize) {
        let anywhere = std::mem::replace(&mut self.anywhere, true);
        let computing = std::mem::replace(&mut self.computing, 0);
        self.inverting += 1;
        let body = self.captured(|g| g.inner(|g| g.some(3, depth)));
        match body.as_slice() {
            [one] if one.contains("= ") && !one.contains(['#', '@']) && !one.trim().starts_with('-') => {
                emit!(self, "~({})", one.trim());
            }
            _ => {
                self.line("~begin");
                self.lines.extend(body);
                self.line("end");
            }
        }
        self.inverting -= 1;
        (self.anywhere, self.computing) = (anywhere, computing);
    }

    /// A word that is on the stack for a while.
    fn pushed(&mut self, depth: usize) {
        let outer = self.vars.clone();
        let Some(v) = self.pick_var(|v| v.write) else { return self.marked(depth) };
        let copy = self.rng.chance(30);
        let name = v.name.clone();
        self.freeze(std::slice::from_ref(&name));
        self.vars.iter_mut().filter(|w| w.name == name).for_each(|w| w.read = false);
        let (text, used) = self.reading(|g| g.access(&v, v.kind));
        self.freeze(&used);
        let word = if copy { "COPY" } else { "" };
        emit!(self, "{word}PUSH!({text})");
        self.vars.iter_mut().filter(|w| w.name == name).for_each(|w| w.read = true);
        self.between(depth);
        emit!(self, "{word}POP!({text})");
        self.vars = outer;
    }

    fn marked(&mut self, depth: usize) {
        if self.risky {
            return self.branch(depth);
        }
        let mark = self.rng.pick(&["@invcheckoff", "@inbounds", "@inline"]);
        emit!(self, "{mark} begin");
        let outer = self.vars.clone();
        self.inner(|g| g.some(2, depth));
        self.line("end");
        self.vars = outer;
    }
}

/// A function's parameter list entry.
pub(super) fn parameter(name: &str, kind: Kind, dims: usize) -> String {
    format!("{name}::{}", type_of(kind, dims))
}
