//! Prints functions: what they are given, what is local to them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pendula_isa::Ty;
use pendula_isa::adjoint::{AdMode, LANES, VALUE};

use super::Shared;
use super::expr::{Expr, Kind, Prec};
use super::names::Names;
use super::text::{Text, WORDS};
use crate::loops::{
    Address, Block, Function, FunctionId, Local, Param, Passed, Place, Program, Scope, Slot, Value, Word,
    flows_forward, lane_type, lanes_of,
};
use crate::ops::Kernel;

/// The prefixes of names for each lane.
pub(super) const PREFIX: [&str; LANES] = ["", "g_", "second_", "mixed_"];

/// The macros for memory words in each lane: as integers, as doubles, and as vectors.
pub(super) const MEMORY: [[&str; 3]; LANES] =
    [["I", "F", ""], ["G_I", "G_F", ""], ["S_I", "S_F", "S_V"], ["X_I", "X_F", "X_V"]];

/// Prints one function.
pub(super) struct FunctionPrinter<'p> {
    pub(super) program: &'p Program,
    pub(super) shared: &'p Shared<'p>,
    pub(super) f: &'p Function,
    /// The lanes of the statements that are being printed.
    pub(super) ad_mode: AdMode,
    pub(super) text: Text,
    /// Functions that are to come before this one.
    pub(super) helpers: String,
    names: Vec<String>,
    /// The number of the next temporary.
    pub(super) next: u32,
    /// The words of local variables that have been named.
    used: HashSet<(Local, usize)>,
    /// Words of variables to which a turn of a loop around adds several times.
    pub(super) chained: HashSet<(Local, usize)>,
    /// The names of the greatest magnitudes that sums of the loop around have had.
    pub(super) peaks: HashMap<Local, String>,
    /// Whether there must be words that nobody reads, an integer and a double, and words for results of kernels.
    pub(super) none: bool,
    pub(super) none_f: bool,
    /// The same as a vector.
    pub(super) none_v: bool,
    pub(super) out: bool,
    /// Whether loops tell in which turn they are.
    pub(super) watches: bool,
    /// Whether it prints what passes over turns, which notes where a turn would give up.
    pub(super) passes_over: bool,
}

/// How a word of a type stands in C.
pub(super) fn c_type(ty: Ty) -> &'static str {
    if ty == Ty::F { "double" } else { "int64_t" }
}

impl Kind {
    /// Its name in C.
    pub(super) fn c_type(self) -> &'static str {
        match self {
            Kind::Word => "int64_t",
            Kind::Double => "double",
            Kind::Vector => "vector",
            Kind::Truth => "int",
        }
    }

    /// What is zero.
    pub(super) fn zero(self) -> &'static str {
        if self == Kind::Vector { "(vector){0}" } else { "0" }
    }
}

/// Prints a function: its head, and head and body.
pub(super) fn print<'p>(shared: &'p Shared<'p>, id: FunctionId) -> (String, String) {
    let f: &Function = &shared.program.functions[id.0 as usize];
    let mut taken: Names = shared.taken.clone();
    let mut p = FunctionPrinter {
        program: shared.program,
        shared,
        f,
        ad_mode: f.ad_mode,
        text: Text::default(),
        helpers: String::new(),
        names: f.locals.iter().map(|local| taken.like(&local.name)).collect(),
        next: 0,
        used: HashSet::new(),
        chained: HashSet::new(),
        peaks: HashMap::new(),
        none: false,
        none_f: false,
        none_v: false,
        out: false,
        watches: false,
        passes_over: false,
    };
    let head = p.head(&shared.functions[id.0 as usize]);
    p.text.indent = 1;
    p.statements(&f.body);
    let body = std::mem::take(&mut p.text);
    p.text.indent = 1;
    p.exit();
    let exit = std::mem::take(&mut p.text);
    p.text.open(&format!("{head}\n{{"));
    p.declare();
    if f.checks_stack {
        p.text.line("if (UNLIKELY(DEEP())) return 1;");
    }
    p.enter();
    p.text.out.push_str(&body.out);
    p.text.out.push_str(&exit.out);
    p.note_parts();
    p.text.line("return NOTED;");
    p.text.close("}");
    (head, p.helpers + &p.text.out)
}

impl FunctionPrinter<'_> {
    /// A number for the name of a temporary.
    pub(super) fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// A kernel, and its name.
    pub(super) fn kernel(&self, number: u32) -> (Kernel, &str) {
        (self.program.kernels[number as usize], &self.shared.kernels[number as usize])
    }

    /// The lanes beside values in which a word of a type has words.
    pub(super) fn lanes_of(&self, ty: Ty) -> &'static [usize] {
        lanes_of(self.ad_mode, ty)
    }

    /// The name of a local variable's word in a lane.
    pub(super) fn name(&mut self, lane: usize, local: Local) -> String {
        self.used.insert((local, lane));
        self.own_name(lane, local)
    }

    fn own_name(&self, lane: usize, local: Local) -> String {
        format!("{}{}", PREFIX[lane], self.names[local.0 as usize])
    }

    /// What every function is given first.
    pub(super) fn surroundings(&self, with_types: bool) -> String {
        let word = |name: String| if with_types { format!("word *restrict const {name}") } else { name };
        let mut out = word("mem".into());
        for lane in self.ad_mode.lanes() {
            out.push_str(", ");
            out.push_str(&word(format!("{}mem", PREFIX[*lane])));
        }
        out.push_str(if with_types { ", const word len, word top" } else { ", len, top" });
        if self.f.has_room() && with_types {
            out.push_str(", word *turned, word logged, const word room");
        }
        out
    }

    fn head(&self, name: &str) -> String {
        let mut out = format!("static int64_t {name}({}", self.surroundings(true));
        for Param { local, passed } in &self.f.params {
            let ty = self.f.local(*local).ty;
            let name = self.own_name(VALUE, *local);
            match passed {
                Passed::Address => out.push_str(&format!(", {} *p_{name}", c_type(ty))),
                Passed::Value | Passed::Copy(_) => out.push_str(&format!(", {} {name}", c_type(ty))),
            }
            if matches!(passed, Passed::Address) && self.f.turns {
                out.push_str(&format!(", {} *turned_{name}", c_type(ty)));
            }
            for lane in self.f.lanes_of(ty) {
                let own = self.own_name(*lane, *local);
                out.push_str(&format!(", {} *p_{own}", self.lane_kind(*lane, ty).c_type()));
            }
        }
        out.push(')');
        out
    }

    /// What is done with parameters at the beginning.
    fn enter(&mut self) {
        for Param { local, passed } in &self.f.params {
            let ty = self.f.local(*local).ty;
            let name = self.own_name(VALUE, *local);
            match passed {
                Passed::Address => self.text.line(&format!("{} {name} = *p_{name};", c_type(ty))),
                Passed::Copy(_) => self.text.line(&format!("const {} {name}_before = {name};", c_type(ty))),
                Passed::Value => {}
            }
            for &lane in self.f.lanes_of(ty) {
                let own = self.own_name(lane, *local);
                let kind = self.lane_kind(lane, ty);
                let zero = matches!(passed, Passed::Copy(_)) && !flows_forward(self.f.ad_mode, lane);
                let begin = if zero { kind.zero().to_string() } else { format!("*p_{own}") };
                self.text.line(&format!("{} {own} = {begin};", kind.c_type()));
            }
        }
    }

    /// What is done with parameters at the end.
    fn exit(&mut self) {
        for Param { local, passed } in &self.f.params {
            let ty = self.f.local(*local).ty;
            let name = self.own_name(VALUE, *local);
            match passed {
                Passed::Address => self.text.line(&format!("*p_{name} = {name};")),
                Passed::Copy(_) if ty == Ty::F => self.text.line(&format!("NEAR_ZERO({name} - {name}_before);")),
                Passed::Copy(_) => self.text.line(&format!("bad |= {name} != {name}_before;")),
                Passed::Value => {}
            }
            for &lane in self.f.lanes_of(ty) {
                let own = self.own_name(lane, *local);
                match passed {
                    Passed::Address | Passed::Value => self.text.line(&format!("*p_{own} = {own};")),
                    Passed::Copy(sums) => {
                        let sums = sums.iter().filter(|(of, _)| *of == lane);
                        sums.for_each(|(_, sum): &(usize, Block)| _ = self.block(sum, None));
                    }
                }
            }
        }
    }

    /// Declares what is local to the function, and named in it.
    fn declare(&mut self) {
        self.text.line("int64_t bad = 0, odd = 0;");
        let mut words: Vec<(Kind, String)> = Vec::new();
        for (n, info) in self.f.locals.iter().enumerate().filter(|(_, info)| info.scope == Scope::Function) {
            let local = Local(n as u32);
            for &lane in std::iter::once(&VALUE).chain(self.f.lanes_of(info.ty)) {
                if self.used.contains(&(local, lane)) {
                    words.push((self.lane_kind(lane, info.ty), self.own_name(lane, local)));
                }
            }
        }
        for kind in [Kind::Word, Kind::Double, Kind::Vector] {
            let names: Vec<String> =
                words.iter().filter(|(k, _)| *k == kind).map(|(_, n)| format!("{n} = {}", kind.zero())).collect();
            for names in names.chunks(8) {
                self.text.line(&format!("{} {};", kind.c_type(), names.join(", ")));
            }
        }
        if self.none {
            self.text.line("word none = 0;");
        }
        if self.none_f {
            self.text.line("double none_f = 0;");
        }
        if self.none_v {
            self.text.line("vector none_v = {0};");
        }
        if self.has_vectors() {
            self.text.line("integers odd_parts = {0};");
        }
        if self.out {
            self.text.line("word out[2];");
        }
        if self.watches {
            self.text.line("watch *const watching = watched;");
        }
    }

    /// What has been noted of the parts of vectors is noted of the run.
    pub(super) fn note_parts(&mut self) {
        if self.has_vectors() {
            self.text.line("odd |= any_of(odd_parts);");
        }
    }

    /// Where data begins, and how long it is.
    pub(super) fn data(&self, range: &Range<usize>) -> [String; 2] {
        [range.start, range.len()].map(|n| self.shared.datum(n as i64))
    }

    /// Whether the function is called from outside: what it gives to others is where data is, and how long.
    pub(super) fn is_entry(&self) -> bool {
        self.f.params.is_empty()
    }

    /// An address.
    pub(super) fn address(&mut self, address: Address) -> Expr {
        let mut parts: Vec<String> = address.locals.into_iter().flatten().map(|v| self.name(VALUE, v)).collect();
        if parts.is_empty() {
            parts.push(self.shared.datum(address.offset));
        } else if address.offset != 0 {
            parts.push(address.offset.to_string());
        }
        let prec = if parts.len() > 1 { Prec::Sum } else { Prec::Atom };
        Expr::of(&[], parts.join(" + ").replace("+ -", "- "), Kind::Word, prec)
    }

    /// A word.
    pub(super) fn word(&mut self, Word { place, ty, lane }: Word) -> Expr {
        let kind = self.word_kind(Word { place, ty, lane });
        match place {
            Place::Local(local) => Expr::atom(self.name(lane, local), kind),
            Place::Log(at) => Expr::atom(format!("LOGGED({})", self.address(at).text), Kind::Double),
            Place::Memory(at) => {
                let at = self.address(at);
                let form = match kind {
                    Kind::Word | Kind::Truth => 0,
                    Kind::Double => 1,
                    Kind::Vector => 2,
                };
                Expr::atom(format!("{}({})", MEMORY[lane][form], at.text), kind)
            }
        }
    }

    /// An integer.
    pub(super) fn integer(&mut self, value: Value) -> Expr {
        match value {
            Value::Const(k) => super::text::word(k),
            Value::Place(place) => WORDS.convert(self.word(Word { place, ty: Ty::Int, lane: VALUE }), Kind::Word),
        }
    }

    /// Whether an operand of a block has a word in a lane.
    pub(super) fn has_lane(&self, slot: Slot, lane: usize) -> bool {
        lane == VALUE
            || match slot {
                Slot::Place(place, ty) => self.lanes_of(self.f.ty(place, ty)).contains(&lane),
                Slot::Word(_) | Slot::Passed(..) => false,
            }
    }

    /// How an operand's word in a lane stands in C.
    pub(super) fn kind(&self, slot: Slot, lane: usize) -> Kind {
        match slot {
            Slot::Place(place, ty) => self.word_kind(Word { place, ty, lane }),
            Slot::Word(word) => self.word_kind(word),
            Slot::Passed(local, lane) => self.lane_kind(lane, self.f.local(local).ty),
        }
    }

    /// How the word that a word of a type has in a lane stands in C.
    pub(super) fn lane_kind(&self, lane: usize, ty: Ty) -> Kind {
        match lane_type(lane, ty) {
            _ if self.program.is_vector(lane) => Kind::Vector,
            Ty::F => Kind::Double,
            Ty::Int | Ty::Q | Ty::L => Kind::Word,
        }
    }

    /// How a word stands in C.
    pub(super) fn word_kind(&self, Word { place, ty, lane }: Word) -> Kind {
        let of = match place {
            Place::Local(local) => lane.max(self.f.local(local).lane),
            Place::Memory(_) | Place::Log(_) => lane,
        };
        if self.program.is_vector(of) { Kind::Vector } else { self.lane_kind(lane, self.f.ty(place, ty)) }
    }

    /// Whether the function has words that are vectors.
    pub(super) fn has_vectors(&self) -> bool {
        self.f.ad_mode.lanes().iter().any(|lane| self.program.is_vector(*lane))
    }

    /// An operand's word in a lane that it has.
    pub(super) fn slot(&mut self, slot: Slot, lane: usize) -> Expr {
        match slot {
            Slot::Place(place, ty) => self.word(Word { place, ty, lane }),
            Slot::Word(word) => self.word(word),
            Slot::Passed(local, of) => Expr::atom(format!("*p_{}", self.own_name(of, local)), self.kind(slot, lane)),
        }
    }
}
