//! Random programs: parameters, functions, and the common parts of every program.

use pendula_compiler::nil::sema::{Argument, Number};

use super::model::{Helper, Index, Kind, Len, Rng, Variable};
use super::oracle::Case;

/// Features that do not work yet and are not generated. Commenting out a line tests the feature.
pub(super) const AVOID: &[&str] = &[
    // "log view as a target", "values of functions on floats", "variables as angles", "traps in conditions", "one place
    // twice in an argument",
];

/// The state of the generator.
pub(super) struct Gen<'r> {
    pub(super) rng: &'r mut Rng,
    pub(super) vars: Vec<Variable>,
    pub(super) helpers: Vec<Helper>,
    pub(super) lines: Vec<String>,
    pub(super) indent: usize,
    /// The names that expressions have read since this was last cleared.
    pub(super) used: Vec<String>,
    /// The number of statements that are left for the function.
    pub(super) budget: usize,
    /// Whether a run may trap: by bounds, domains, assertions.
    pub(super) risky: bool,
    /// Whether the generated statement may be undone from a state that no run has reached.
    pub(super) anywhere: bool,
    /// The number of enclosing computations of routines, which run forward first.
    pub(super) computing: usize,
    /// The number of allocations in this block that are still to be deallocated.
    pub(super) open: usize,
    /// The number of enclosing inverted blocks.
    pub(super) inverting: usize,
    /// The number of enclosing loops.
    pub(super) loops: usize,
    /// The number of enclosing functions.
    pub(super) inside_helper: usize,
    /// Whether there are many variables.
    pub(super) wide: bool,
    /// Whether the entry has a statement that cannot be undone from every state.
    pub(super) directed: bool,
    counter: usize,
}

impl Gen<'_> {
    /// A new name.
    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.counter += 1;
        format!("{prefix}{}", self.counter)
    }

    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.indent), text.as_ref()));
    }

    /// The statements of a block, indented.
    pub(super) fn inner(&mut self, f: impl FnOnce(&mut Self)) {
        let vars = self.vars.clone();
        let before = self.lines.len();
        let open = std::mem::take(&mut self.open);
        self.indent += 1;
        f(self);
        self.indent -= 1;
        (self.vars, self.open) = (vars, open);
        if self.lines.len() == before && self.rng.chance(50) {
            self.line("    # nothing");
        }
    }

    /// Runs `f`, and removes and gives the lines that it writes.
    pub(super) fn captured(&mut self, f: impl FnOnce(&mut Self)) -> Vec<String> {
        let outer = std::mem::take(&mut self.lines);
        f(self);
        std::mem::replace(&mut self.lines, outer)
    }

    /// The result of `f`, and the names that it has read.
    pub(super) fn reading<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, Vec<String>) {
        let outer = std::mem::take(&mut self.used);
        let value = f(self);
        let used = std::mem::replace(&mut self.used, outer);
        self.used.extend(used.iter().cloned());
        (value, used)
    }

    /// From here on, these variables are not changed.
    pub(super) fn freeze(&mut self, names: &[String]) {
        self.vars.iter_mut().filter(|v| names.contains(&v.name)).for_each(|v| v.write = false);
    }

    /// From here on, these variables are neither read nor changed.
    pub(super) fn hide(&mut self, names: &[String]) {
        self.vars.iter_mut().filter(|v| names.contains(&v.name)).for_each(|v| (v.read, v.write) = (false, false));
    }

    /// Adds the variable of a loop, which is an index of arrays of this length.
    pub(super) fn counted(&mut self, name: &str, len: &Len, below: usize, above: usize) {
        let index = Some(Index { len: len.clone(), below, above });
        self.vars.push(Variable { index, ..Variable::new(name, Kind::Int, Vec::new(), false) });
    }
}

/// A number of a kind as text, with one text for each word.
fn numbers(rng: &mut Rng, kind: Kind) -> Vec<String> {
    let real = |rng: &mut Rng| format!("{:.3}", (rng.below(4001) as f64 - 2000.0) / 1000.0 + 0.0003);
    match kind {
        Kind::Int => vec![(rng.below(12) as i64 - 4).to_string()],
        Kind::Bool => vec![rng.below(2).to_string()],
        Kind::Fixed | Kind::Float | Kind::Tropical => vec![real(rng)],
        Kind::Log => vec![format!("{:.3}", 0.3 + rng.below(3000) as f64 / 1000.0)],
        Kind::Complex | Kind::ComplexFixed | Kind::Pair => vec![real(rng), real(rng)],
    }
}

fn argument(rng: &mut Rng, v: &Variable) -> Argument {
    let number = |t: String| Argument::Number(Number::Text(t));
    if !v.dims.is_empty() {
        let lens: Vec<usize> = v.dims.iter().map(Len::least).collect();
        let count: usize = lens.iter().product();
        let items = (0..count).flat_map(|_| numbers(rng, v.kind)).map(Number::Text).collect();
        return Argument::Array(lens, items);
    }
    let mut parts: Vec<Argument> = numbers(rng, v.kind).into_iter().map(number).collect();
    if v.kind.parts().is_some() { Argument::Tuple(parts) } else { parts.swap_remove(0) }
}

/// The type of a variable as it is written in the source.
pub(super) fn type_of(kind: Kind, dims: usize) -> String {
    match dims {
        0 => kind.name().to_string(),
        1 => format!("Vector{{{}}}", kind.name()),
        2 => format!("Matrix{{{}}}", kind.name()),
        n => format!("Array{{{}, {n}}}", kind.name()),
    }
}

/// The kinds that a program uses. A program with few kinds uses each of them more.
fn palette(rng: &mut Rng) -> Vec<Kind> {
    match rng.below(10) {
        0 => vec![Kind::Int],
        1 => vec![Kind::Int, Kind::Bool],
        2 => vec![Kind::Float],
        3 => vec![Kind::Fixed],
        4 => vec![Kind::Int, Kind::Fixed],
        5 => vec![Kind::Int, Kind::Float],
        6 => vec![Kind::Float, Kind::Complex, Kind::Pair, Kind::Int],
        7 => vec![Kind::Log, Kind::Fixed, Kind::Float],
        8 => vec![Kind::ComplexFixed, Kind::Fixed, Kind::Bool, Kind::Tropical, Kind::Float],
        _ => Kind::ALL.to_vec(),
    }
}

/// The program of a seed, and its arguments.
pub(super) fn program(seed: u64, smooth: bool) -> Case {
    let mut rng = Rng::new(seed);
    let risky = !smooth && rng.chance(12);
    let kinds = if smooth { vec![*rng.pick(&[Kind::Float, Kind::Fixed])] } else { palette(&mut rng) };
    let mut g = Gen {
        rng: &mut rng,
        vars: Vec::new(),
        helpers: Vec::new(),
        lines: Vec::new(),
        indent: 0,
        used: Vec::new(),
        budget: 0,
        risky,
        anywhere: true,
        computing: 0,
        inverting: 0,
        open: 0,
        loops: 0,
        inside_helper: 0,
        wide: false,
        directed: false,
        counter: 0,
    };
    g.line("struct Pair{T}");
    g.line("    x::T");
    g.line("    y::T");
    g.line("end");
    g.line("");
    for _ in 0..g.rng.below(5) {
        g.helper(&kinds);
    }
    // The entry. Some programs have more variables than there are registers.
    g.wide = g.rng.chance(8);
    let count = if g.wide { 15 + g.rng.below(20) } else { 2 + g.rng.below(5) };
    let mut params = Vec::new();
    for n in 0..count {
        let kind = if n > 0 && g.rng.chance(20) { Kind::Int } else { *g.rng.pick(&kinds) };
        let rank = if g.rng.chance(if g.wide { 85 } else { 55 }) { 0 } else { 1 + g.rng.below(3) };
        let dims = (0..rank).map(|_| Len::Known(2 + g.rng.below(3))).collect();
        let write = n == 0 || g.rng.chance(65);
        let name = format!("{}{n}{}", if rank > 0 { "A" } else { "p" }, if write { "!" } else { "" });
        params.push(Variable::new(&name, kind, dims, write));
    }
    g.vars = params.clone();
    let list: Vec<String> = params.iter().map(|v| format!("{}::{}", v.name, type_of(v.kind, v.dims.len()))).collect();
    let head = format!("@i function entry({})", list.join(", "));
    g.line(head);
    g.budget = 6 + g.rng.below(if g.wide { 25 } else { 9 });
    g.anywhere = false;
    g.inner(|g| {
        while g.budget > 0 {
            g.statement(3);
        }
    });
    g.line("end");
    let (anywhere, text) = (!g.directed && !g.risky, g.lines.join("\n") + "\n");
    let types = params.iter().map(|v| type_of(v.kind, v.dims.len())).collect();
    let runs = (0..2).map(|_| params.iter().map(|v| argument(&mut rng, v)).collect()).collect();
    Case { text, types, runs, anywhere }
}
