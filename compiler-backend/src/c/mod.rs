//! Programs of the representation as C.
//!
//! What a run of the program does, in one direction and with or without what
//! words carry, is a C function on the machine's memory; each function of the
//! program is a C function, its statements are C statements. What an update or
//! a permutation does comes from the instruction table, by way of recorded
//! operations ([`pendula_codegen::lift`]); elementary functions are the machine's own, which
//! the C calls.
//!
//! # What the C does where a program would trap
//!
//! It never traps: it gives up (the function returns 1), whoever called it
//! brings the memory back as it was, and another engine runs the program to the
//! place. So checks need not be made where they stand: numbers that are infinite or not zero are
//! noted in `bad`, which functions look at when they end (and loops
//! without a count in each turn); indices that go from turn to turn by the same step are
//! checked before the loop (`loops`). Nothing is read or written outside the memory, whatever the program does.
//!
//! # Neighbours
//!
//! `function` writes functions, `statement` and `calls` write what is in them, `body` writes operations: `if_convert` removes
//! branches from them, `value_uses` counts their uses, `operators` writes their expressions, and `text` has names. `loops`
//! finds what can be checked before a loop from how integers change in it (`induction`), and `promote` finds words that can
//! be kept in variables. `dead_uncompute` finds what need not be undone, from the effects of blocks (`flow`), and
//! `fused_gradient` writes a forward and a backward run as one.

mod body;
mod calls;
mod dead_uncompute;
mod flow;
mod function;
mod fused_gradient;
mod if_convert;
mod induction;
mod loops;
mod operators;
mod promote;
mod statement;
mod text;
mod value_uses;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use pendula_codegen::kernel::pack;
use pendula_codegen::lift::Setting;
use pendula_codegen::ops::Kernel;
use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;
use pendula_isa::{Env, Ty};

use crate::ir::effects::{Effects, Summaries};
use crate::ir::{FunctionId, Program};
use crate::lower::{Argument, ArgumentKind, LowerError};
use crate::passes::Switches;
use text::{Names, Text};

/// Why a program cannot be written in C.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It shows numbers or texts while it runs.
    #[error("it shows numbers or texts while it runs")]
    Shows,
    /// Something has no operation in C.
    #[error("it uses an operation that C does not have")]
    Operation,
    /// A word of one type is lent as one of another.
    #[error("a word of one type is passed to a function as another type")]
    Types,
    /// It has no entry point.
    #[error("it has no entry point")]
    NoEntry,
    /// Its entry point cannot be called with these arguments.
    #[error("{0}")]
    Entry(#[from] LowerError),
}

/// A way of running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// From one end to the other.
    Run(Direction, AdMode),
    /// Forward, values alone, and back with gradient words, which are there from the beginning as they are to be in between. What would be
    /// undone at the end of the one and done again at the beginning of the other is left as it is.
    ForwardAndBack,
}

impl Mode {
    /// The name of the C function that runs a program so:
    /// `int64_t NAME(uint64_t *mem, uint64_t *const *lanes, uint64_t len, uint64_t top, uint64_t *turned, uint64_t stack)`.
    ///
    /// `mem` are `len` words of memory, of which those from `top` on are zero, and may be used; `lanes` are what words carry, by
    /// lane from 1 on: those of [`AdMode::lanes`] are used, as long as the memory. `turned` gets what [`changes`] says of the data, as it is
    /// where the run turns round. Calls take at most `stack` bytes of the host's stack. It returns 0, or 1 if it gave up, which may leave anything in all of them.
    pub fn name(self) -> String {
        match self {
            Mode::Run(direction, ad_mode) => {
                format!("pendula_{}{}", Sweep::of(direction == Direction::Backward).name(), suffix(ad_mode))
            }
            Mode::ForwardAndBack => "pendula_forward_and_back".to_string(),
        }
    }
}

/// Which way a function is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sweep {
    Forward,
    Backward,
    /// Forward, and back with gradient words: the run turns round in it.
    Turn,
    /// The same in a part of the run: what it adds to is left as it was after the way forward.
    Within,
}

impl Sweep {
    fn of(back: bool) -> Sweep {
        if back { Sweep::Backward } else { Sweep::Forward }
    }

    fn name(self) -> &'static str {
        match self {
            Sweep::Forward => "forward",
            Sweep::Backward => "backward",
            Sweep::Turn => "forward_and_back",
            Sweep::Within => "with_gradient",
        }
    }
}

fn suffix(ad_mode: AdMode) -> &'static str {
    match ad_mode {
        AdMode::Plain => "",
        AdMode::Gradient => "_gradient",
        AdMode::Tangent => "_tangent",
        AdMode::GradientTangent => "_gradient_tangent",
        AdMode::SecondGradient => "_second_gradient",
    }
}

/// The name of the C function that is to be called once after loading, with the addresses of the kernels: `void NAME(void *const *)`.
/// A kernel's is that of its `result`, where it has one.
pub const KERNELS: &str = "pendula_kernels";

/// A program in C.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The kernels that it calls, in the order in which it wants their addresses.
    pub kernels: Vec<Kernel>,
}

/// A function of the program in one way and AD mode; on the way there and back, with what words carry on the way back.
///
/// Last, which parameters are left alone on the way back, one bit for each: the words that they are, or that lie where they point to. In a
/// function in which the run turns round, those that may be: what is left of them in the end does not matter.
type Variant = (FunctionId, Sweep, AdMode, u64);

/// The C that is being written.
struct Writer<'a> {
    program: &'a Program,
    summaries: Summaries,
    drops: dead_uncompute::Drops<'a>,
    names: Names,
    variants: HashMap<Variant, String>,
    waiting: Vec<Variant>,
    switches: Switches,
    kernels: Vec<Kernel>,
    kernel_names: Vec<String>,
    /// The call of the entry.
    main: FunctionId,
    /// The arrays in data that may be written.
    arrays: Vec<Range<usize>>,
    /// The words in data that are lent to the entry.
    words: Vec<Range<usize>>,
}

/// How a program is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What undoing floating-point sums leaves of rounding is forgotten, numbers are not looked at for being finite, and runs there and back may
    /// leave the results, and what else they change, as it was in between.
    pub fast: bool,
    /// Which of the passes of C are made.
    pub switches: Switches,
}

/// Writes a program, run with these arguments, in C.
///
/// # Errors
/// What cannot be written in C.
pub fn write(program: &Program, arguments: &[Argument], modes: &[Mode], settings: Settings) -> Result<Source, Refused> {
    let Some(entry) = program.entry else { return Err(Refused::NoEntry) };
    let main = crate::lower::main(program, arguments, entry)?;
    let of =
        |is_word: bool| joined(data(program, arguments).filter(|d| d.is_word == is_word && d.written).map(|d| d.at));
    let (arrays, words) = (of(false), of(true));
    // The call of the entry is a function like others.
    let mut program = program.clone();
    let fun = FunctionId(program.functions.len() as u32);
    program.functions.push(main);
    let mut w = Writer {
        program: &program,
        summaries: Summaries::new(&program),
        drops: dead_uncompute::Drops::new(&program, settings.fast),
        names: Names::default(),
        variants: HashMap::new(),
        waiting: Vec::new(),
        switches: settings.switches,
        kernels: Vec::new(),
        kernel_names: Vec::new(),
        main: fun,
        arrays,
        words,
    };
    let mut ends = Text::default();
    for mode in modes {
        let (way, ad_mode) = match *mode {
            Mode::Run(direction, ad_mode) => (Sweep::of(direction == Direction::Backward), ad_mode),
            Mode::ForwardAndBack => (Sweep::Turn, AdMode::Gradient),
        };
        let inner = w.variant((fun, way, ad_mode, 0));
        ends.line("");
        let name = mode.name();
        ends.open(&format!(
            "int64_t {name}(word *mem, word *const *lanes, word len, word top, word *turned, word stack)\n{{"
        ));
        ends.line("(void)lanes, (void)turned;");
        let lanes: String = ad_mode.lanes().iter().map(|lane| format!("lanes[{}], ", lane - 1)).collect();
        ends.line("limit = (char *)__builtin_frame_address(0) - stack;");
        let midpoint = if way == Sweep::Turn { ", turned" } else { "" };
        ends.line(&format!("return {inner}(mem, {lanes}len, top{midpoint});"));
        ends.close("}");
    }
    let mut bodies = Vec::new();
    let mut heads = Vec::new();
    while let Some(variant) = w.waiting.pop() {
        let (head, body) = function::write(&mut w, variant)?;
        heads.push(head);
        bodies.push(body);
    }
    let mut text = prelude(&w, &program);
    for head in &heads {
        let _ = writeln!(text, "{head};");
    }
    for body in bodies.iter().rev() {
        text.push('\n');
        text.push_str(body);
    }
    text.push_str(&ends.out);
    let kernels = w.kernels;
    Ok(Source { text, kernels })
}

impl Writer<'_> {
    /// The name of a function's variant, which is written if it has not been yet.
    fn variant(&mut self, variant: Variant) -> String {
        if let Some(name) = self.variants.get(&variant) {
            return name.clone();
        }
        let (fun, way, ad_mode, left) = variant;
        let name = self.program.functions.get(fun.0 as usize).map_or("", |f| &f.name);
        let suffix = if matches!(way, Sweep::Turn | Sweep::Within) { "" } else { suffix(ad_mode) };
        let only = if left != 0 && matches!(way, Sweep::Forward | Sweep::Backward) { "_only" } else { "" };
        let name = format!("{}_{}{suffix}{only}", name.trim_end_matches('!'), way.name());
        let name = self.names.like(&name);
        self.variants.insert(variant, name.clone());
        self.waiting.push(variant);
        name
    }

    fn env(&self) -> Env {
        Env { format: self.program.format, ieee: false }
    }

    fn setting(ad_mode: AdMode) -> Setting {
        Setting { ad_mode, checks: true, trap_overflow: true, ieee: false }
    }

    /// Gives new kernels names: the last parts of their paths, and how many arguments they take.
    fn name_kernels(&mut self) {
        for kernel in &self.kernels[self.kernel_names.len()..] {
            let path: Vec<&str> =
                kernel.name.split("::").filter(|p| !p.starts_with('{') && !p.contains(['<', '>', ' '])).collect();
            let short = path[path.len().saturating_sub(2)..].join("_");
            let base = self.names.like(&short);
            let results = if kernel.result.is_some() { "" } else { "pair_" };
            self.kernel_names.push(format!("{base}_{results}{}", kernel.arity));
        }
    }
}

/// A name as it may stand in a comment. What might end that does not: `*/`, nor with a line's end between, which C takes away first, nor spelled by a
/// trigraph.
fn in_comment(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ' | '/');
    name.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}

const PRELUDE: &str = include_str!("prelude.h");

fn prelude(w: &Writer<'_>, program: &Program) -> String {
    let files: Vec<&str> = program.files.iter().map(String::as_str).filter(|f| !f.starts_with('<')).collect();
    let from = files.first().map_or(String::new(), |f| format!(" from {}", in_comment(f)));
    let mut out = format!(
        "/* Written by pendula{from}. A function returns 1 where it gives up:\n   where the program would trap. */\n\n"
    );
    out.push_str(PRELUDE);
    let _ =
        writeln!(out, "\n/* The fixed-point format, for functions of the machine. */\n#define ENV {}\n", pack(w.env()));
    let kernels = || w.kernels.iter().zip(&w.kernel_names);
    if kernels().any(|(k, _)| k.result.is_some()) {
        out.push_str("/* Functions of the machine: they give a word and, above it, 0 if they have any. */\n");
        for (kernel, name) in kernels().filter(|(k, _)| k.result.is_some()) {
            let _ = writeln!(out, "static pure_{} {name};", kernel.arity);
        }
        out.push('\n');
    }
    if kernels().any(|(k, _)| k.result.is_none()) {
        out.push_str("/* Functions of the machine with two results: they write them to `out`, and return 0 if they have any. */\n");
        for (kernel, name) in kernels().filter(|(k, _)| k.result.is_none()) {
            let _ = writeln!(out, "static word (*{name})(word env, word *out{});", ", word".repeat(kernel.arity));
        }
        out.push('\n');
    }
    let _ = writeln!(out, "void {KERNELS}(void *const *functions)\n{{");
    out.push_str("    (void)functions;\n");
    for (n, (kernel, name)) in w.kernels.iter().zip(&w.kernel_names).enumerate() {
        let args = ", word".repeat(kernel.arity);
        let cast = match kernel.result {
            Some(_) => format!("pure_{}", kernel.arity),
            None => format!("word (*)(word, word *{args})"),
        };
        let _ = writeln!(out, "    {name} = ({cast})functions[{n}];");
    }
    out.push_str("}\n\n");
    out
}

/// A stretch of the data segment.
struct Data {
    at: Range<usize>,
    /// How its words are read, if that is known.
    ty: Option<Ty>,
    /// Whether it is a word that is lent to the entry.
    is_word: bool,
    written: bool,
}

/// What lies in the data segment: what comes before the arguments, and the arguments that have words there.
fn data<'a>(program: &'a Program, arguments: &'a [Argument]) -> impl Iterator<Item = Data> + use<'a> {
    let entry = program.entry.and_then(|f| program.functions.get(f.0 as usize));
    let effects = entry.map(|f| Effects::of_block(&Summaries::new(program), &f.body));
    // Whether the words that an address parameter points to may be written.
    let writes = move |param: usize| match (entry, &effects) {
        (Some(entry), Some(effects)) => {
            entry.params.get(param).and_then(|p| entry.points(p.var)).is_none_or(|region| effects.writes_region(region))
        }
        _ => true,
    };
    let stack = usize::try_from(program.stack).unwrap_or(0);
    let before = Data { at: 0..stack, ty: None, is_word: false, written: true };
    let (mut at, mut param) = (stack, 0);
    let of = move |argument: &Argument| {
        let first = at;
        at += argument.words().len();
        match &argument.kind {
            ArgumentKind::Word { ty, .. } => {
                param += 1;
                Some(Data { at: first..at, ty: Some(*ty), is_word: true, written: true })
            }
            ArgumentKind::Array { ty, lens, .. } => {
                let written = writes(param);
                param += 1 + lens.len();
                Some(Data { at: first..at, ty: Some(*ty), is_word: false, written })
            }
            ArgumentKind::Constant(_) => {
                param += 1;
                None
            }
        }
    };
    std::iter::once(before).chain(arguments.iter().filter_map(of))
}

/// Ranges that touch made one.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges.filter(|r| !r.is_empty()) {
        match out.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => out.push(range),
        }
    }
    out
}

/// The data of which a run may change the values: all but arrays that the entry, and what it calls, does not write to.
pub fn changes(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    joined(data(program, arguments).filter(|d| d.written).map(|d| d.at))
}

/// The data of which a run may change what words carry: all but integers.
pub fn carries(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    joined(data(program, arguments).filter(|d| d.ty.is_none_or(|ty| ty.gradient().is_some())).map(|d| d.at))
}

/// Of the data that [`changes`] may change, what is floating-point numbers.
pub fn floats(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    joined(data(program, arguments).filter(|d| d.written && d.ty == Some(Ty::F)).map(|d| d.at))
}
