//! Random statements that contain no others: assignments, the language's own instructions, broadcasts, calls, the
//! stack.

use super::expr::part_of;
use super::generate::{AVOID, Gen};
use super::model::{Helper, Kind, Len, Param, Role, Variable};

impl Gen<'_> {
    /// A statement, which contains others down to this depth.
    pub(super) fn statement(&mut self, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        if depth == 0 || self.rng.chance(55) {
            self.simple();
        } else {
            self.control(depth - 1);
        }
    }

    /// Several statements.
    pub(super) fn some(&mut self, most: usize, depth: usize) {
        for _ in 0..1 + self.rng.below(most) {
            self.statement(depth);
        }
    }

    fn simple(&mut self) {
        for _ in 0..6 {
            let done = match self.rng.below(20) {
                0..=9 => self.accumulation(),
                10 | 11 => self.broadcast(),
                12..=14 => self.instruction(),
                15..=17 => self.call(),
                18 => self.neighbours(),
                _ => self.shown(),
            };
            if done {
                return;
            }
        }
    }

    /// A place that may be changed, of a kind that `fits`: its text, its kind and its name. It is not read until the
    /// end of
    /// [`Gen::with_target`].
    fn target(&mut self, fits: impl Fn(Kind) -> bool) -> Option<(String, Kind, String)> {
        let v = self.pick_var(|v| v.write && Kind::ALL.iter().any(|k| fits(*k) && part_of(v.kind, *k)))?;
        let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|k| fits(*k) && part_of(v.kind, *k)).collect();
        let kind = if kinds.contains(&v.kind) && self.rng.chance(70) { v.kind } else { *self.rng.pick(&kinds) };
        self.hide(std::slice::from_ref(&v.name));
        Some((self.access(&v, kind), kind, v.name))
    }

    /// Runs `f`, and then makes the variables available again that it has reserved.
    fn with_target<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let marks: Vec<(bool, bool)> = self.vars.iter().map(|v| (v.read, v.write)).collect();
        let value = f(self);
        self.vars.iter_mut().zip(marks).for_each(|(v, m)| (v.read, v.write) = m);
        value
    }

    fn accumulation(&mut self) -> bool {
        self.with_target(|g| {
            let Some((mut target, kind, _)) = g.target(|_| true) else { return false };
            let depth = 1 + g.rng.below(3);
            if kind == Kind::Log && !AVOID.contains(&"log view as a target") && g.rng.chance(20) {
                let value = g.expr(Kind::Fixed, depth);
                emit!(g, "{target}.log += sin({value})");
                return true;
            }
            let op = match kind {
                Kind::Bool => "⊻=",
                Kind::Int => *g.rng.pick(&["+=", "-=", "+=", "-=", "⊻=", "xor="]),
                Kind::Log | Kind::Tropical => *g.rng.pick(&["*=", "/="]),
                Kind::Fixed | Kind::Float | Kind::Complex | Kind::ComplexFixed | Kind::Pair => {
                    *g.rng.pick(&["+=", "-="])
                }
            };
            let marked = g.marks(kind, op);
            if !matches!(kind, Kind::Bool | Kind::Log | Kind::Tropical)
                && !op.ends_with("r=")
                && op != "⊻="
                && g.rng.chance(6)
            {
                target = format!("-{target}");
            } else if matches!(kind, Kind::Complex | Kind::ComplexFixed) && g.rng.chance(8) {
                target = format!("{target}'");
            }
            let mut value = g.expr(kind, depth);
            // Numbers that grow too fast test little.
            if matches!(kind, Kind::Float | Kind::Fixed) && g.loops > 0 && g.rng.chance(60) {
                value = format!("{}({value})", g.rng.pick(&["sin", "cos", "atan"]));
            }
            if matches!(kind, Kind::Complex | Kind::ComplexFixed | Kind::Pair) && g.loops > 0 {
                value = g.constant(kind);
            }
            emit!(g, "{marked}{target} {op} {value}");
            true
        })
    }

    fn marks(&mut self, kind: Kind, op: &str) -> &'static str {
        let _ = (kind, op);
        if self.risky || !self.rng.chance(8) {
            ""
        } else {
            self.rng.pick::<&str>(&["@inbounds ", "@invcheckoff ", "@invcheckoff @inbounds "])
        }
    }

    /// An element of an array that is changed by another element of the same array.
    fn neighbours(&mut self) -> bool {
        self.with_target(|g| {
            let real = |k: Kind| matches!(k, Kind::Int | Kind::Fixed | Kind::Float);
            let Some(v) = g.pick_var(|v| v.write && v.dims.len() == 1 && real(v.kind)) else { return false };
            let len = v.dims[0].clone();
            let i = g.pick_var(|v| v.index.as_ref().is_some_and(|i| i.len == len && i.below + i.above > 0));
            let (a, b) = match i.and_then(|i| i.index.map(|x| (i.name, x))) {
                Some((i, x)) if x.above > 0 => (i.clone(), format!("{i}+1")),
                Some((i, _)) => (i.clone(), format!("{i}-1")),
                None => ("1".to_string(), "2".to_string()),
            };
            let (a, b) = if g.rng.chance(50) { (a, b) } else { (b, a) };
            g.hide(std::slice::from_ref(&v.name));
            let more = g.expr(v.kind, 2);
            let name = v.name;
            let value = match (v.kind, g.rng.below(3)) {
                (_, 0) => format!("{name}[{b}]"),
                (Kind::Int, _) => format!("({name}[{b}] - {more})"),
                _ => format!("(0.25 * {name}[{b}] + {more})"),
            };
            emit!(g, "{name}[{a}] {} {value}", if g.rng.chance(50) { "+=" } else { "-=" });
            true
        })
    }

    fn shown(&mut self) -> bool {
        let Some(v) = self.pick_var(|v| v.read && v.dims.is_empty()) else { return false };
        match self.rng.below(3) {
            0 => emit!(self, "@safe @show {}", v.name),
            1 => emit!(self, "@safe println(\"{} is $({})\")", v.name, v.name),
            _ if self.risky => {
                let c = self.expr(Kind::Bool, 2);
                emit!(self, "@safe @assert {c}");
            }
            _ => match self.pick_var(|v| !v.dims.is_empty()) {
                Some(v) => emit!(self, "@safe @assert length({}) > 1 && size({}, 1) != 1 \"lengths\"", v.name, v.name),
                None => return false,
            },
        }
        true
    }

    /// Two different places of one kind that may be changed.
    fn two(&mut self, kind: Kind) -> Option<[String; 2]> {
        let a = self.pick_var(|v| v.write && part_of(v.kind, kind))?;
        self.hide(std::slice::from_ref(&a.name));
        let b = self.pick_var(|v| v.write && part_of(v.kind, kind));
        let Some(b) = b else {
            // The first and the second element of one array.
            if a.dims.len() == 1 && a.kind == kind {
                return Some([format!("{}[1]", a.name), format!("{}[2]", a.name)]);
            }
            return None;
        };
        self.hide(std::slice::from_ref(&b.name));
        Some([self.access(&a, kind), self.access(&b, kind)])
    }

    fn instruction(&mut self) -> bool {
        self.with_target(|g| {
            let real = [Kind::Fixed, Kind::Float];
            match g.rng.below(8) {
                0 if g.rng.chance(50) => return g.swap_elements(),
                0 | 1 => {
                    let kind = *g.rng.pick(Kind::ALL);
                    let Some([a, b]) = g.two(kind) else { return false };
                    emit!(g, "SWAP({a}, {b})");
                }
                2 => {
                    let fits = |k: Kind| !matches!(k, Kind::Bool | Kind::Log | Kind::Tropical);
                    let Some((t, ..)) = g.target(fits) else { return false };
                    emit!(g, "NEG({t})");
                }
                3 => {
                    let Some((t, ..)) = g.target(|k| matches!(k, Kind::Int | Kind::Fixed | Kind::Float)) else {
                        return false;
                    };
                    emit!(g, "{}({t})", if g.rng.chance(50) { "INC" } else { "DEC" });
                }
                4 => {
                    let Some((t, kind, _)) = g.target(|k| matches!(k, Kind::Bool | Kind::Complex | Kind::ComplexFixed))
                    else {
                        return false;
                    };
                    emit!(g, "{}({t})", if kind == Kind::Bool { "FLIP" } else { "CONJ" });
                }
                5 => {
                    let Some((t, ..)) = g.target(|k| k == Kind::Log) else { return false };
                    emit!(g, "INV({t})");
                }
                6 => {
                    let kind = *g.rng.pick(&real);
                    let Some([a, b]) = g.two(kind) else { return false };
                    let mut angle = g.expr(kind, 2);
                    if AVOID.contains(&"variables as angles") {
                        angle = format!("({angle} * 0.5)");
                    }
                    let name = if g.rng.chance(50) { "ROT" } else { "IROT" };
                    emit!(g, "{name}({a}, {b}, {angle})");
                }
                _ => {
                    let kind = *g.rng.pick(&real);
                    let Some([a, b]) = g.two(kind) else { return false };
                    emit!(g, "HADAMARD({a}, {b})");
                }
            }
            true
        })
    }

    /// An exchange of two elements of one array, which may be the same element.
    fn swap_elements(&mut self) -> bool {
        let Some(v) = self.pick_var(|v| v.write && v.dims.len() == 1) else { return false };
        self.hide(std::slice::from_ref(&v.name));
        let Some(n) = self.pick_var(|v| v.read && v.kind == Kind::Int && v.dims.is_empty()) else { return false };
        self.used.push(n.name.clone());
        let len = v.dims[0].text();
        emit!(self, "SWAP({}, {}[mod({}, {len}) + 1])", self.access(&v, v.kind), v.name, n.name);
        true
    }

    /// A broadcast statement.
    fn broadcast(&mut self) -> bool {
        self.with_target(|g| {
            let Some(v) = g.pick_var(|v| v.write && !v.dims.is_empty()) else { return false };
            g.hide(std::slice::from_ref(&v.name));
            let other = |g: &mut Self, kind: Kind| {
                let dims = v.dims.clone();
                g.pick_var(|w| w.read && w.kind == kind && w.dims == dims).map(|w| {
                    g.used.push(w.name.clone());
                    w.name
                })
            };
            let name = v.name.clone();
            match (v.kind, g.rng.below(4)) {
                (Kind::Int | Kind::Fixed | Kind::Float | Kind::Complex | Kind::Pair, 0) => emit!(g, "NEG.({name})"),
                (Kind::Bool, 0) => emit!(g, "FLIP.({name})"),
                (Kind::Log, 0) => emit!(g, "INV.({name})"),
                (kind, 1) => {
                    let dims = v.dims.clone();
                    let Some(w) = g.pick_var(|w| w.write && w.kind == kind && w.dims == dims) else { return false };
                    emit!(g, "SWAP.({name}, {})", w.name);
                }
                (kind, _) => {
                    let op = match kind {
                        Kind::Bool => "⊻=",
                        Kind::Log | Kind::Tropical => *g.rng.pick(&["*=", "/="]),
                        _ => *g.rng.pick(&["+=", "-="]),
                    };
                    let scalar = g.expr(kind, 1);
                    let value = match (kind, other(g, kind)) {
                        (Kind::Fixed | Kind::Float, Some(x)) => match g.rng.below(5) {
                            0 => format!("sin.({x})"),
                            1 => format!("identity.({x})"),
                            2 => format!("{x} .* 0.5 .- {scalar}"),
                            3 => format!("max.({x}, {scalar})"),
                            _ => format!("sqrt.(1 .+ abs.({x}))"),
                        },
                        (Kind::Int, Some(x)) => match g.rng.below(3) {
                            0 => x,
                            1 => format!("{x} .* {scalar}"),
                            _ => format!("abs.({x}) .- 1"),
                        },
                        (Kind::Log, Some(x)) => format!("{x} .* {scalar}"),
                        (_, Some(x)) => x,
                        (_, None) => scalar,
                    };
                    emit!(g, "{name} .{op} {value}");
                }
            }
            true
        })
    }

    /// A call or an uncall of a generated function.
    fn call(&mut self) -> bool {
        if self.helpers.is_empty() || self.inside_helper > 0 && self.loops > 1 {
            return false;
        }
        let h = self.rng.pick(&self.helpers.clone()).clone();
        if h.role == Role::Instruction {
            return self.instruction_call(&h);
        }
        if self.rng.chance(12) && self.call_points(&h) {
            return true;
        }
        self.with_target(|g| match g.arguments(&h) {
            Some(args) => {
                let line = match g.rng.below(4) {
                    0 => format!("~{}({args})", h.name),
                    1 => format!("(~{})({args})", h.name),
                    _ => format!("{}({args})", h.name),
                };
                g.line(line);
                true
            }
            None => false,
        })
    }

    fn instruction_call(&mut self, h: &Helper) -> bool {
        self.with_target(|g| {
            let kind = h.params[0].kind;
            let Some((target, ..)) = g.target(|k| k == kind) else { return false };
            let args: Vec<String> = h.params[1..].iter().map(|p| g.expr(p.kind, 1)).collect();
            let ops = if matches!(kind, Kind::Log | Kind::Tropical) { ["*=", "/="] } else { ["+=", "-="] };
            let op = g.rng.pick(&ops);
            emit!(g, "{target} {op} {}({})", h.name, args.join(", "));
            true
        })
    }

    /// `f.(A, B)` of a function on numbers.
    fn call_points(&mut self, h: &Helper) -> bool {
        if !matches!(h.role, Role::Adds) || h.params.iter().any(|p| !p.dims.is_empty()) {
            return false;
        }
        self.with_target(|g| {
            let kind = h.params[0].kind;
            let Some(v) = g.pick_var(|v| v.write && v.kind == kind && !v.dims.is_empty()) else { return false };
            g.hide(std::slice::from_ref(&v.name));
            let mut args = vec![v.name.clone()];
            for p in &h.params[1..] {
                let dims = v.dims.clone();
                args.push(match g.pick_var(|w| w.read && w.kind == p.kind && w.dims == dims) {
                    Some(w) => w.name,
                    None => g.expr(p.kind, 1),
                });
            }
            let tilde = if g.rng.chance(30) { "~" } else { "" };
            emit!(g, "{tilde}{}.({})", h.name, args.join(", "));
            true
        })
    }

    /// The arguments of a call. Those that it changes come first, so that no other argument names them.
    fn arguments(&mut self, h: &Helper) -> Option<String> {
        let mut open: Vec<(usize, Len)> = Vec::new();
        let mut texts: Vec<Option<String>> = vec![None; h.params.len()];
        let mut chosen: Vec<(usize, Variable)> = Vec::new();
        for (n, p) in h.params.iter().enumerate().filter(|(_, p)| p.written) {
            let fits = |v: &Variable| {
                v.write
                    && if p.dims.is_empty() {
                        part_of(v.kind, p.kind)
                    } else {
                        v.kind == p.kind && v.dims.len() >= p.dims.len()
                    }
            };
            let v = self.pick_var(fits)?;
            self.hide(std::slice::from_ref(&v.name));
            chosen.push((n, v));
        }
        for (n, v) in chosen {
            let p = &h.params[n];
            texts[n] = Some(if p.dims.is_empty() {
                let text = self.access(&v, p.kind);
                let turned = matches!(p.kind, Kind::Int | Kind::Fixed | Kind::Float) && self.rng.chance(8);
                if turned { format!("-{text}") } else { text }
            } else {
                self.part(&v, p, &mut open)?
            });
        }
        // Arrays that are only read may be passed twice, or as overlapping parts, and with their own elements.
        let mut shared: Vec<Variable> = Vec::new();
        let arrays_first = self.rng.chance(70);
        let mut rest: Vec<(usize, &Param)> = h.params.iter().enumerate().filter(|(_, p)| !p.written).collect();
        if arrays_first {
            rest.sort_by_key(|(_, p)| p.dims.is_empty());
        }
        for (n, p) in rest {
            texts[n] = Some(if h.role == Role::Applies && n == 0 {
                p.name.clone()
            } else if h.role == Role::Recursive && n + 1 == h.params.len() {
                let turns = 1 + self.rng.below(3);
                if self.rng.chance(50) {
                    turns.to_string()
                } else {
                    format!("mod({}, {})", self.expr(Kind::Int, 1), turns + 1)
                }
            } else if p.dims.is_empty() {
                let near: Vec<Variable> = shared.iter().filter(|v| part_of(v.kind, p.kind)).cloned().collect();
                if !near.is_empty() && self.rng.chance(50) {
                    let v = self.rng.pick(&near).clone();
                    self.used.push(v.name.clone());
                    self.access(&v, p.kind)
                } else {
                    self.expr(p.kind, 2)
                }
            } else {
                let fits = |v: &Variable| v.kind == p.kind && v.dims.len() >= p.dims.len();
                let near: Vec<Variable> = shared.iter().filter(|v| fits(v)).cloned().collect();
                let v = if !near.is_empty() && self.rng.chance(50) {
                    self.rng.pick(&near).clone()
                } else {
                    self.pick_var(|v| v.read && fits(v))?
                };
                self.used.push(v.name.clone());
                shared.push(v.clone());
                self.part(&v, p, &mut open)?
            });
        }
        let mut text = texts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        if let Some((name, kind)) = h.keyword.clone()
            && self.rng.chance(65)
        {
            let value = if self.rng.chance(50) { self.constant(kind) } else { self.expr(kind, 1) };
            text = format!("{text}; {name} = {value}");
        }
        Some(text)
    }

    /// An array or a part of one for a parameter. Lengths that occurred before are known.
    fn part(&mut self, v: &Variable, p: &Param, open: &mut Vec<(usize, Len)>) -> Option<String> {
        let drop = v.dims.len() - p.dims.len();
        // The dimensions that are left out.
        let mut left: Vec<bool> = vec![false; v.dims.len()];
        for _ in 0..drop {
            let rest: Vec<usize> = (0..left.len()).filter(|n| !left[*n]).collect();
            left[*self.rng.pick(&rest)] = true;
        }
        let mut wanted = p.dims.iter();
        let (mut texts, mut plain) = (Vec::new(), drop == 0);
        for (len, left) in v.dims.clone().iter().zip(left) {
            if left {
                texts.push(self.index(len));
                continue;
            }
            let id = wanted.next()?;
            match open.iter().find(|(n, _)| n == id).map(|(_, l)| l.clone()) {
                Some(found) if found == *len => texts.push(":".to_string()),
                Some(Len::Known(n)) if n <= len.least() => {
                    plain = false;
                    texts.push(format!("1:{n}"));
                }
                Some(_) => return None,
                None if self.rng.chance(20) && len.least() > 2 => {
                    plain = false;
                    let first = 1 + self.rng.below(len.least() - 1);
                    let last = (first + 1 + self.rng.below(len.least() - first)).min(len.least());
                    open.push((*id, Len::Known(last - first + 1)));
                    texts.push(format!("{first}:{last}"));
                }
                None => {
                    open.push((*id, len.clone()));
                    texts.push(":".to_string());
                }
            }
        }
        Some(if plain { v.name.clone() } else { format!("{}[{}]", v.name, texts.join(", ")) })
    }
}
