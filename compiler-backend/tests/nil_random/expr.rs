//! Random expressions without side effects; without traps unless these are allowed.

use super::generate::{AVOID, Gen};
use super::model::{Kind, Len, Role, SHORTEST, Variable};

impl Gen<'_> {
    /// An expression of this kind.
    pub(super) fn expr(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.rng.chance(15) {
            return self.leaf(kind);
        }
        if self.rng.chance(8)
            && let Some(call) = self.value_call(kind, depth)
        {
            return call;
        }
        match kind {
            Kind::Int => self.int(depth - 1),
            Kind::Bool => self.truth(depth - 1),
            Kind::Fixed | Kind::Float => self.real(kind, depth - 1),
            Kind::Log => self.log(depth - 1),
            Kind::Complex | Kind::ComplexFixed => self.complex(kind, depth - 1),
            Kind::Tropical => self.tropical(depth - 1),
            Kind::Pair => self.pair(depth - 1),
        }
    }

    fn int(&mut self, d: usize) -> String {
        let a = self.expr(Kind::Int, d);
        match self.rng.below(17) {
            0 | 1 => format!("({a} + {})", self.expr(Kind::Int, d)),
            2 | 3 => format!("({a} - {})", self.expr(Kind::Int, d)),
            4 => format!("({a} * {})", self.expr(Kind::Int, d)),
            5 => format!("mod({a}, {})", 2 + self.rng.below(5)),
            6 => format!("({a} % {})", 2 + self.rng.below(5)),
            7 => format!("({a} ÷ {})", self.rng.pick(&["2", "3", "-2", "7"])),
            8 => format!("{}({a}, {})", self.rng.pick(&["min", "max"]), self.expr(Kind::Int, d)),
            // An expression of literals would take the type of the statement.
            9 => format!("abs(Int({a}))"),
            10 => format!("(Int({a}) {} {})", self.rng.pick(&["&", "|", "⊻"]), self.expr(Kind::Int, d)),
            11 => format!("(Int({a}) {} {})", self.rng.pick(&["<<", ">>", ">>>"]), self.rng.below(4)),
            12 => format!("({} ? Int({a}) : {})", self.expr(Kind::Bool, d), self.expr(Kind::Int, d)),
            13 => format!("(-{a})"),
            14 => format!("({a} ^ {})", 2 + self.rng.below(2)),
            15 => format!("({a} + Int({}))", self.expr(Kind::Bool, d)),
            _ => {
                let x = self.expr(Kind::Fixed, d);
                format!("({a} - Int({}(2 * sin({x}))))", self.rng.pick(&["", "floor"]))
            }
        }
    }

    fn truth(&mut self, d: usize) -> String {
        match self.rng.below(9) {
            0 => format!("({} && {})", self.expr(Kind::Bool, d), self.expr(Kind::Bool, d)),
            1 => format!("({} || {})", self.expr(Kind::Bool, d), self.expr(Kind::Bool, d)),
            2 => format!("!({})", self.expr(Kind::Bool, d)),
            3 => format!("({} ⊻ {})", self.expr(Kind::Bool, d), self.expr(Kind::Bool, d)),
            4 => format!("{}({})", self.rng.pick(&["isodd", "iseven"]), self.expr(Kind::Int, d)),
            5 => {
                format!("({} ? {} : {})", self.expr(Kind::Bool, d), self.expr(Kind::Bool, d), self.expr(Kind::Bool, d))
            }
            _ => {
                let kind = *self.rng.pick(&[Kind::Int, Kind::Int, Kind::Fixed, Kind::Float, Kind::Log]);
                let op = *self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {op} {})", self.expr(kind, d), self.expr(kind, d))
            }
        }
    }

    fn real(&mut self, kind: Kind, d: usize) -> String {
        let a = self.expr(kind, d);
        match self.rng.below(24) {
            0..=2 => format!("({a} + {})", self.expr(kind, d)),
            3 | 4 => format!("({a} - {})", self.expr(kind, d)),
            5..=7 => format!("({a} * {})", self.expr(kind, d)),
            8 => format!("({a} / (1.5 + abs({})))", self.expr(kind, d)),
            9 => format!("sin({a})"),
            10 => format!("cos({a})"),
            11 => format!("exp({}sin({a}))", self.rng.pick(&["", "-", "2"])),
            12 => {
                let b = self.expr(kind, d);
                format!("sqrt(1 + abs({a}) + abs({b}))")
            }
            13 => format!("log(1.5 + abs({a}))"),
            14 => format!("{}({a}, {})", self.rng.pick(&["min", "max", "hypot", "atan"]), self.expr(kind, d)),
            15 => format!("{}({a})", self.rng.pick(&["abs", "atan", "sign", "floor", "identity", "relu"])),
            16 => format!("({} ? {a} : {})", self.expr(Kind::Bool, d), self.expr(kind, d)),
            17 => format!("(-{a})"),
            18 => format!("(sin({a}) ^ {})", 2 + self.rng.below(4)),
            19 => format!("muladd({a}, {}, {})", self.expr(kind, d), self.expr(kind, d)),
            20 => format!("({a} * {})", self.expr(Kind::Int, d.min(1))),
            21 => {
                let other = if kind == Kind::Float { Kind::Fixed } else { Kind::Float };
                let x = self.expr(other, d);
                let x = if kind == Kind::Float { x } else { format!("sin({x})") };
                format!("({a} + {}({x}))", kind.name())
            }
            22 => match kind {
                Kind::Fixed => format!("({a} + {}.log)", self.leaf_of(Kind::Log).unwrap_or("ULogarithmic(2.5)".into())),
                _ => format!("({a} + {}({}))", kind.name(), self.expr(Kind::Int, d)),
            },
            _ if self.risky && self.rng.chance(50) => match self.rng.below(3) {
                0 => format!("sqrt({a})"),
                1 => format!("log({a})"),
                _ => format!("({a} / {})", self.expr(kind, d)),
            },
            _ => format!("(0.5 * {a})"),
        }
    }

    fn log(&mut self, d: usize) -> String {
        let a = self.expr(Kind::Log, d);
        match self.rng.below(8) {
            0 | 1 => format!("({a} * {})", self.expr(Kind::Log, d)),
            2 => format!("({a} / {})", self.expr(Kind::Log, d)),
            3 => format!("({a} + {})", self.expr(Kind::Log, d)),
            4 => format!("({a} ^ {})", self.rng.pick(&["2", "0.5", "-1"])),
            5 => format!("inv({a})"),
            6 => format!("({a} * ULogarithmic(1.5 + abs({})))", self.expr(Kind::Float, d)),
            _ => format!("({a} * {})", self.rng.pick(&["0.5", "2", "3.25"])),
        }
    }

    fn complex(&mut self, kind: Kind, d: usize) -> String {
        let part = kind.parts().map_or(Kind::Float, |(k, _)| k);
        let a = self.expr(kind, d);
        match self.rng.below(10) {
            0 | 1 => format!("({a} + {})", self.expr(kind, d)),
            2 => format!("({a} - {})", self.expr(kind, d)),
            3 | 4 => format!("({a} * {})", self.expr(kind, d)),
            5 => format!("({a} * {})", self.expr(part, d)),
            6 if AVOID.contains(&"one place twice in an argument") => {
                format!("complex({}, -(0.5 * {}))", self.expr(part, d), self.expr(part, d))
            }
            6 => format!("complex({}, {})", self.expr(part, d), self.expr(part, d)),
            7 => format!("(-{a})"),
            8 => format!("conj({a})"),
            _ => {
                let b = self.expr(part, d);
                format!("({a} / complex(1.5 + abs({b}), {b}))")
            }
        }
    }

    fn tropical(&mut self, d: usize) -> String {
        let a = self.expr(Kind::Tropical, d);
        match self.rng.below(4) {
            0 => format!("({a} * {})", self.expr(Kind::Tropical, d)),
            1 => format!("({a} / {})", self.expr(Kind::Tropical, d)),
            2 => format!("({a} + {})", self.expr(Kind::Tropical, d)),
            _ => format!("Tropical{{Float64}}({})", self.expr(Kind::Float, d)),
        }
    }

    fn pair(&mut self, d: usize) -> String {
        let a = self.expr(Kind::Pair, d);
        match self.rng.below(5) {
            0 => format!("({a} + {})", self.expr(Kind::Pair, d)),
            1 => format!("({a} - {})", self.expr(Kind::Pair, d)),
            2 => format!("({a} * {})", self.expr(Kind::Float, d)),
            3 => format!("({} * {a})", self.expr(Kind::Float, d)),
            _ => format!("Pair({}, -(0.5 * {}))", self.expr(Kind::Float, d), self.expr(Kind::Float, d)),
        }
    }

    /// A value without operators.
    pub(super) fn leaf(&mut self, kind: Kind) -> String {
        if self.rng.chance(75)
            && let Some(place) = self.leaf_of(kind)
        {
            return place;
        }
        self.constant(kind)
    }

    pub(super) fn constant(&mut self, kind: Kind) -> String {
        let real = |g: &mut Self| {
            let x = *g.rng.pick(&["0.5", "1.25", "-0.75", "2.0", "0.1", "-1.5", "3.0", "0.0"]);
            if x.starts_with('-') { format!("({x})") } else { x.to_string() }
        };
        match kind {
            Kind::Int => {
                if self.rng.chance(30)
                    && let Some(v) = self.pick_var(|v| !v.dims.is_empty() && v.read)
                {
                    return self.size_text(&v);
                }
                let n = self.rng.below(13) as i64 - 4;
                if n < 0 { format!("({n})") } else { n.to_string() }
            }
            Kind::Bool => (*self.rng.pick(&["true", "false"])).to_string(),
            // A literal takes the type of the statement, which may be another one.
            Kind::Fixed | Kind::Float => format!("{}({})", kind.name(), real(self)),
            Kind::Log => format!("ULogarithmic({})", self.rng.pick(&["0.5", "1.5", "2", "3.25"])),
            // Two literals would make a complex number of their own type.
            Kind::Complex => format!("Complex{{Float64}}({}, {})", real(self), real(self)),
            Kind::ComplexFixed => format!("Complex{{Fixed}}({}, {})", real(self), real(self)),
            Kind::Tropical => format!("Tropical{{Float64}}({})", real(self)),
            Kind::Pair => format!("Pair{{Float64}}({}, {})", real(self), real(self)),
        }
    }

    /// A length of an array.
    fn size_text(&mut self, v: &Variable) -> String {
        if v.dims.len() == 1 || self.rng.chance(30) {
            return format!("length({})", v.name);
        }
        format!("size({}, {})", v.name, 1 + self.rng.below(v.dims.len()))
    }

    /// A variable, an element or a field that may be read.
    pub(super) fn leaf_of(&mut self, kind: Kind) -> Option<String> {
        let v = self.pick_var(|v| v.read && part_of(v.kind, kind))?;
        Some(self.access(&v, kind))
    }

    /// A variable that fits.
    pub(super) fn pick_var(&mut self, fits: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let all: Vec<usize> = (0..self.vars.len()).filter(|n| fits(&self.vars[*n])).collect();
        if all.is_empty() {
            return None;
        }
        let n = *self.rng.pick(&all);
        Some(self.vars[n].clone())
    }

    /// The variable, or an element or a field of it that has this kind. Records the names that it reads.
    pub(super) fn access(&mut self, v: &Variable, kind: Kind) -> String {
        self.used.push(v.name.clone());
        let mut text = v.name.clone();
        if !v.dims.is_empty() {
            let indices: Vec<String> = v.dims.clone().iter().map(|len| self.index(len)).collect();
            text = format!("{text}[{}]", indices.join(", "));
        }
        if v.kind != kind {
            let field = match v.kind.parts() {
                Some((_, names)) => *self.rng.pick(&names),
                None => "n",
            };
            text = format!("{text}.{field}");
        }
        text
    }

    /// An index of an array of this length.
    pub(super) fn index(&mut self, len: &Len) -> String {
        if self.risky
            && self.rng.chance(6)
            && let Some(v) = self.pick_var(|v| v.read && v.kind == Kind::Int && !v.dims.is_empty())
        {
            return self.access(&v, Kind::Int);
        }
        if self.rng.chance(70)
            && let Some(v) = self.pick_var(|v| v.index.as_ref().is_some_and(|i| i.len == *len))
        {
            self.used.push(v.name.clone());
            let i = v.index.as_ref().map_or((0, 0), |i| (i.below, i.above));
            return match self.rng.below(6) {
                0 if i.0 > 0 => format!("{}-{}", v.name, i.0),
                1 | 2 if i.1 > 0 => format!("{}+{}", v.name, i.1),
                3 if i == (0, 0) => format!("end + 1 - {}", v.name),
                _ => v.name,
            };
        }
        match self.rng.below(8) {
            0..=3 => (1 + self.rng.below(len.least())).to_string(),
            4 => "end".to_string(),
            5 => format!("end-{}", self.rng.below(len.least().min(SHORTEST))),
            _ => format!("mod({}, {}) + 1", self.expr(Kind::Int, 1), len.text()),
        }
    }

    /// A call of a function of the program as a value.
    fn value_call(&mut self, kind: Kind, depth: usize) -> Option<String> {
        let fits = |h: &super::model::Helper| {
            // Functions that define a statement with another operator, or add to a type without a zero, have no value.
            let value = h.role == Role::Adds || h.role == Role::Instruction && kind != Kind::Log;
            let float = matches!(kind, Kind::Float | Kind::Complex | Kind::Pair);
            let known = float && AVOID.contains(&"values of functions on floats");
            value && !known && kind != Kind::Tropical && h.params.first().is_some_and(|p| p.kind == kind)
        };
        let all: Vec<usize> = (0..self.helpers.len()).filter(|n| fits(&self.helpers[*n])).collect();
        if all.is_empty() || self.inside_helper > 1 {
            return None;
        }
        let h = self.helpers[*self.rng.pick(&all)].clone();
        let mut args = Vec::new();
        for p in &h.params[1..] {
            args.push(self.expr(p.kind, depth.min(1)));
        }
        Some(format!("{}({})", h.name, args.join(", ")))
    }
}

/// Whether a number of kind `part` is of kind `whole`, or a part of it.
pub(super) fn part_of(whole: Kind, part: Kind) -> bool {
    whole == part || whole.parts().is_some_and(|(k, _)| k == part) || (whole == Kind::Tropical && part == Kind::Float)
}
