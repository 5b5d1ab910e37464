//! Functions: what they are given, what is local to them.

use std::collections::{HashMap, HashSet};

use pendula_codegen::lift::symbolic;
use pendula_isa::adjoint::{AdMode, LANES, MIXED, SECOND, VALUE};
use pendula_isa::table::{TableFn, f_fn, q_fn};
use pendula_isa::{Acc, Ty};

use super::body::Spot;
use super::text::{Ex, Names, Prec, Text};
use super::{Refused, Sweep, Variant, Writer};
use crate::ir::effects::{changed_vars, walk};
use crate::ir::{IrFunction, LocatedStmt, Mem, Operand, Param, Place, Program, Stmt, Var};

/// The prefixes of names for each lane.
pub(super) const PREFIX: [&str; LANES] = ["", "g_", "second_", "mixed_"];

/// The macros for memory words in each lane: as doubles, and as integers.
const WORDS: [[&str; 2]; LANES] = [["I", "F"], ["G_I", "G_F"], ["S_I", "S_F"], ["X_I", "X_F"]];

/// A statement, as long as the program stays where it is; and the number of an operand, or [`TEST`].
pub(super) type Site = (*const LocatedStmt, usize);

/// The function that is being written.
pub(super) struct FunctionWriter<'w, 'a> {
    pub(super) w: &'w mut Writer<'a>,
    pub(super) f: &'a IrFunction,
    pub(super) way: Sweep,
    pub(super) ad_mode: AdMode,
    pub(super) text: Text,
    pub(super) names: Vec<String>,
    pub(super) taken: Names,
    pub(super) next: u32,
    /// Variables that only count turns: they are declared where they do.
    pub(super) counts: HashSet<Var>,
    /// Addresses and comparisons that have been looked at before a loop.
    pub(super) proven: HashSet<Site>,
    /// Memory words that a loop keeps in variables.
    pub(super) promoted: HashMap<Mem, String>,
    /// Whether words that end are not looked at: they would be zero, or are to be forgotten.
    pub(super) unchecked: bool,
    /// Parameters that are left alone on the way back, as words or as addresses.
    pub(super) left: HashSet<Var>,
    /// Parameters that may be left alone by parts of this function.
    pub(super) preservable_params: HashSet<Var>,
    /// Whether this is on the way of a part of a run, which does not turn round here.
    pub(super) within: bool,
    /// Whether statements are on the way back.
    pub(super) back: bool,
    /// Whether `none` is needed.
    pub(super) none: bool,
}

/// How a word of a type stands in C.
pub(super) fn c_type(ty: Ty) -> &'static str {
    if ty == Ty::F { "double" } else { "int64_t" }
}

/// Writes a function: its head, and head and body.
pub(super) fn write<'a>(w: &mut Writer<'a>, variant: Variant) -> Result<(String, String), Refused> {
    let (fun, way, ad_mode, left) = variant;
    let program: &'a Program = w.program;
    let f = &program.functions[fun.0 as usize];
    let name = w.variant(variant);
    let mut taken = w.names.clone();
    let names = f.vars.iter().map(|v| taken.like(&v.name)).collect();
    let counts = counters(f);
    let checks_stack = w.summaries.get(fun).checks_stack;
    let marked = f.params.iter().take(64).enumerate().filter(|(n, _)| left >> n & 1 != 0);
    let marked: HashSet<Var> = marked.map(|(_, p)| p.var).collect();
    let mut fw = FunctionWriter {
        w,
        f,
        way,
        ad_mode,
        text: Text::default(),
        names,
        taken,
        next: 0,
        counts,
        proven: HashSet::new(),
        promoted: HashMap::new(),
        unchecked: false,
        left: if way == Sweep::Turn { HashSet::new() } else { marked.clone() },
        preservable_params: if way == Sweep::Turn { marked } else { HashSet::new() },
        within: way == Sweep::Within,
        back: way == Sweep::Backward || way == Sweep::Forward,
        none: false,
    };
    let head = fw.head(&name);
    fw.text.indent = 1;
    match way {
        Sweep::Forward => fw.block(&f.body, false)?,
        Sweep::Backward => fw.block(&f.body, true)?,
        Sweep::Turn | Sweep::Within => fw.turn(&f.body)?,
    }
    let body = std::mem::take(&mut fw.text);
    fw.text.open(&format!("{head}\n{{"));
    let (entry, exit) = fw.frame(program)?;
    fw.declare(&body.out);
    if checks_stack {
        fw.text.line("if (DEEP()) return 1;");
    }
    entry.iter().for_each(|line| fw.text.line(line));
    fw.text.out.push_str(&body.out);
    exit.iter().for_each(|line| fw.text.line(line));
    fw.text.line("return NOTED;");
    fw.text.close("}");
    Ok((head, fw.text.out))
}

/// The variables that nothing but a `for` writes.
fn counters(f: &IrFunction) -> HashSet<Var> {
    let mut counts = HashSet::new();
    let mut other: HashSet<Var> = f.params.iter().map(|p| p.var).collect();
    walk(&f.body, &mut |s| match &s.stmt {
        Stmt::For { var, .. } => {
            counts.insert(*var);
        }
        Stmt::Update { dst: Place::Var(v), .. } | Stmt::Ancilla { var: v, .. } | Stmt::Array { base: v, .. } => {
            other.insert(*v);
        }
        Stmt::Permute { args, .. } | Stmt::Call { args, .. } => {
            other.extend(args.iter().filter_map(|a| if let Operand::Var(v) = a { Some(*v) } else { None }));
        }
        Stmt::Update { dst: Place::Mem(_), .. }
        | Stmt::If { .. }
        | Stmt::While { .. }
        | Stmt::With { .. }
        | Stmt::Span { .. }
        | Stmt::Assert { .. }
        | Stmt::Show { .. }
        | Stmt::Print(_) => {}
    });
    &counts - &other
}

/// Whether a function's body changes a variable itself. A parameter that a callee does not write is none of them.
pub(super) fn is_touched(program: &Program, f: &IrFunction, var: Var) -> bool {
    let mut touched = false;
    walk(&f.body, &mut |s| changed_vars(program, &s.stmt, |v| touched |= v == var));
    touched
}

impl FunctionWriter<'_, '_> {
    pub(super) fn lanes(&self) -> &'static [usize] {
        self.ad_mode.lanes()
    }

    /// The lanes in which a word of a type carries something.
    pub(super) fn lanes_of(&self, ty: Ty) -> &'static [usize] {
        if ty.gradient().is_some() { self.lanes() } else { &[] }
    }

    pub(super) fn name(&self, var: Var) -> String {
        self.names.get(var.0 as usize).cloned().unwrap_or_default()
    }

    pub(super) fn lane_name(&self, lane: usize, var: Var) -> String {
        format!("{}{}", PREFIX[lane], self.name(var))
    }

    /// How a word of a type stands in a lane.
    pub(super) fn lane_type(lane: usize, ty: Ty) -> Ty {
        if lane == VALUE { ty } else { ty.gradient().unwrap_or(Ty::Int) }
    }

    /// What every function is given first.
    pub(super) fn surroundings(&self, with_types: bool) -> String {
        let word = |name: String| if with_types { format!("word *restrict const {name}") } else { name };
        let mut out = word("mem".into());
        for lane in self.lanes() {
            out.push_str(", ");
            out.push_str(&word(format!("{}mem", PREFIX[*lane])));
        }
        out.push_str(if with_types { ", const word len, word top" } else { ", len, top" });
        if self.way == Sweep::Turn && with_types {
            out.push_str(", word *turned");
        }
        out
    }

    fn head(&self, name: &str) -> String {
        let mut out = format!("static int64_t {name}({}", self.surroundings(true));
        for Param { var, written } in &self.f.params {
            let ty = self.f.ty(*var);
            let name = self.name(*var);
            let value =
                if *written { format!(", {} *p_{name}", c_type(ty)) } else { format!(", {} {name}", c_type(ty)) };
            out.push_str(&value);
            if *written && self.way == Sweep::Turn {
                out.push_str(&format!(", {} *turned_{name}", c_type(ty)));
            }
            for lane in self.lanes_of(ty) {
                out.push_str(&format!(", {} *p_{}", c_type(Self::lane_type(*lane, ty)), self.lane_name(*lane, *var)));
            }
        }
        out.push(')');
        out
    }

    /// What is done with parameters at the beginning and at the end.
    fn frame(&mut self, program: &Program) -> Result<(Vec<String>, Vec<String>), Refused> {
        let (mut entry, mut exit) = (Vec::new(), Vec::new());
        for Param { var, written } in &self.f.params {
            let ty = self.f.ty(*var);
            let name = self.name(*var);
            let copied = !written && is_touched(program, self.f, *var);
            if *written {
                entry.push(format!("{} {name} = *p_{name};", c_type(ty)));
                exit.push(format!("*p_{name} = {name};"));
            } else if copied {
                entry.push(format!("const {} {name}_before = {name};", c_type(ty)));
                exit.push(match ty {
                    Ty::F => format!("NEAR_ZERO({name} - {name}_before);"),
                    Ty::Int | Ty::Q | Ty::L => format!("bad |= {name} != {name}_before;"),
                });
            }
            for &lane in self.lanes_of(ty) {
                let own = self.lane_name(lane, *var);
                let kind = c_type(Self::lane_type(lane, ty));
                if copied && self.flows_forward(lane) {
                    entry.push(format!("{kind} {own} = *p_{own};"));
                } else if copied {
                    entry.push(format!("{kind} {own} = 0;"));
                    let other = Ex::atom(format!("*p_{own}"), kind == "double");
                    exit.extend(self.sum(lane, ty, &other, &Ex::atom(own, kind == "double"))?);
                } else {
                    entry.push(format!("{kind} {own} = *p_{own};"));
                    exit.push(format!("*p_{own} = {own};"));
                }
            }
        }
        Ok((entry, exit))
    }

    /// Whether a lane goes where values go: a copy has what the word has. Otherwise what flows to a copy flows on to the word.
    pub(super) fn flows_forward(&self, lane: usize) -> bool {
        match self.ad_mode {
            AdMode::Tangent | AdMode::GradientTangent => lane == SECOND,
            AdMode::Plain | AdMode::Gradient | AdMode::SecondGradient => lane == MIXED,
        }
    }

    /// `to += from`, of what words of a type carry.
    pub(super) fn sum(&mut self, lane: usize, ty: Ty, to: &Ex, from: &Ex) -> Result<Vec<String>, Refused> {
        let func = match Self::lane_type(lane, ty) {
            Ty::F => TableFn::F(f_fn::Name::Id),
            _ => TableFn::Q(q_fn::Name::Id),
        };
        let spot = |ex: &Ex| Some(Spot { lanes: [Some(ex.clone()), None, None, None] });
        let setting = (self.w.env(), Writer::setting(AdMode::Plain));
        let operands = [symbolic::Operand::Word(1), symbolic::Operand::Word(2)];
        let body = symbolic::accumulate(setting, &mut self.w.kernels, (Acc::Add, false, func), &operands);
        let body = body.ok_or(Refused::Operation)?;
        self.w.name_kernels();
        let spots = [None, spot(to), spot(from)];
        Ok(super::body::print(&body, &spots, &self.w.kernel_names, (!self.w.drops.fast, false), None, &mut self.next)?
            .0)
    }

    /// Declares what is local, and named in the body.
    fn declare(&mut self, body: &str) {
        let named: HashSet<&str> = body.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        self.text.line("int64_t bad = 0, odd = 0;");
        let params: HashSet<Var> = self.f.params.iter().map(|p| p.var).collect();
        let mut words: Vec<(&str, String)> = Vec::new();
        for n in 0..self.f.vars.len() as u32 {
            let var = Var(n);
            if params.contains(&var) || self.counts.contains(&var) {
                continue;
            }
            let ty = self.f.ty(var);
            words.push((c_type(ty), self.name(var)));
            for &lane in self.lanes_of(ty) {
                words.push((c_type(Self::lane_type(lane, ty)), self.lane_name(lane, var)));
            }
        }
        for kind in ["int64_t", "double"] {
            let names: Vec<String> = words
                .iter()
                .filter(|(k, n)| *k == kind && named.contains(n.as_str()))
                .map(|(_, n)| format!("{n} = 0"))
                .collect();
            for names in names.chunks(8) {
                self.text.line(&format!("{kind} {};", names.join(", ")));
            }
        }
        if self.none {
            self.text.line("word none = 0;");
        }
        if named.contains("out") {
            self.text.line("word out[2];");
        }
    }

    /// The address of a memory word.
    pub(super) fn address(&self, mem: Mem) -> Ex {
        let mut parts: Vec<String> = mem.vars().map(|v| self.name(v)).collect();
        if mem.offset != 0 || parts.is_empty() {
            parts.push(mem.offset.to_string());
        }
        let prec = if parts.len() > 1 { Prec::Sum } else { Prec::Atom };
        Ex::new(parts.join(" + ").replace("+ -", "- "), prec, false)
    }

    /// A memory word in a lane.
    pub(super) fn word_at(&self, lane: usize, ty: Ty, mem: Mem) -> Ex {
        let double = Self::lane_type(lane, ty) == Ty::F;
        if let Some(promoted) = self.promoted.get(&mem) {
            return Ex::atom(format!("{}{promoted}", PREFIX[lane]), double);
        }
        Ex::atom(format!("{}({})", WORDS[lane][usize::from(double)], self.address(mem).text), double)
    }

    /// An operand, read as a type, in every lane.
    pub(super) fn spot(&self, operand: Operand, ty: Ty) -> Spot {
        let mut lanes = [const { None }; LANES];
        let ty = if let Operand::Var(v) = operand { self.f.ty(v) } else { ty };
        for lane in std::iter::once(VALUE).chain(self.lanes_of(ty).iter().copied()) {
            lanes[lane] = match operand {
                Operand::Const(_) => None,
                Operand::Var(v) => Some(Ex::atom(self.lane_name(lane, v), Self::lane_type(lane, ty) == Ty::F)),
                Operand::Mem(m) => Some(self.word_at(lane, ty, m)),
            };
        }
        Spot { lanes }
    }
}
