//! Lowers the intermediate representation to the instruction set.
//!
//! [`lower`] makes a [`Module`] of a [`Program`]. Functions become lists of operations over virtual registers (`linear`,
//! `control`, `loops`), virtual registers get locations (`alloc`), and operations become instructions with legal operands
//! (`emit`, `operands`, `legal`, `call`). One invariant holds throughout: a register or stack word that holds no live word
//! is zero, and so is its gradient word. The book's chapter on conventions describes calls.

mod alloc;
mod arrays;
mod call;
mod control;
mod effects;
mod emit;
mod entry;
mod erase;
mod graph;
mod legal;
mod lifetimes;
mod linear;
mod loops;
mod names;
mod operands;
mod ops;
mod places;
mod reasons;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use pendula_isa::diagnostic::plural;
use pendula_isa::inst::{OFFSET_MAX, OFFSET_MIN};
use pendula_isa::module::{Flags, Loc, Reason, Span, Symbol, SymbolKind};
use pendula_isa::operand::{OPERANDS, Operand, Slot};
use pendula_isa::table::Row;
use pendula_isa::{Acc, Inst, Kind, Module, Profile, Reg, Ty};

use crate::ir::{self, IrFunction, Program};
use emit::{Context, EmittedInst, Emitter, FRAME, accumulate, plain, reg};
use erase::{KnownZeros, Writers};
use linear::Builder;
use names::{Names, SpanNames};
use ops::{CheckReason, Linear};
use places::{FunctionPlaces, Part};
pub use places::{Places, Scope, WordPlace};

/// Whether the message of a check says that conditions disagree.
pub fn disagrees(reason: &str) -> bool {
    reasons::disagrees(reason)
}

/// Whether compiled code addresses words of the stack by a register: the stack pointer or the frame pointer.
pub fn reaches_frame(r: Reg) -> bool {
    r == Reg::SP || r.index() == usize::from(FRAME)
}

/// Advice for a variable that the compiler made and that does not end as zero, by the message of its check.
pub fn advice(reason: &str) -> Option<&'static str> {
    reasons::advice(reason)
}

/// An argument of the program: a data symbol, in the order of the source's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The symbol's name.
    pub name: String,
    /// What is passed.
    pub kind: ArgumentKind,
}

/// The kinds of arguments of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A word in data that is passed to the entry's next parameter.
    Word {
        /// The type of the word.
        ty: Ty,
        /// The word before a run.
        value: u64,
    },
    /// An array in data. Its address is passed to the entry's next parameter, and its lengths to the ones after that.
    Array {
        /// The type of the words.
        ty: Ty,
        /// The words before a run.
        words: Vec<u64>,
        /// The lengths, integers.
        lens: Vec<i64>,
    },
    /// A constant for the next parameter, without a symbol.
    Constant(u64),
}

impl Argument {
    /// Whether it has a data symbol.
    pub fn is_in_data(&self) -> bool {
        !matches!(self.kind, ArgumentKind::Constant(_))
    }

    /// The words that are in data before a run.
    pub fn words(&self) -> &[u64] {
        match &self.kind {
            ArgumentKind::Word { value, .. } => std::slice::from_ref(value),
            ArgumentKind::Array { words, .. } => words,
            ArgumentKind::Constant(_) => &[],
        }
    }
}

/// Which computations are erased instead of undone, where that loses only what they have written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Erase {
    /// No computation.
    #[default]
    Never,
    /// All that can be erased.
    Always,
    /// The computations with these names.
    Some(BTreeSet<String>),
}

/// Options of lowering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The computations that are erased.
    pub erase: Erase,
}

/// Why a program cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The arguments do not fit the parameters.
    #[error("the parameters of `{function}` are {}, the arguments are {found}", plural(*expected, "word"))]
    Arguments {
        /// The entry.
        function: String,
        /// The number of words of its parameters.
        expected: usize,
        /// The number of words of the arguments.
        found: usize,
    },
    /// The assembler does not accept an argument's name, or two arguments have it.
    #[error("`{0}` cannot name an argument: it is not a name, or the name of another")]
    Name(String),
    /// Something does not fit the machine.
    #[error("the program is too large: {0}")]
    TooLarge(&'static str),
    /// The program breaks the rules of the IR.
    #[error("malformed code in `{function}`, line {line}: {what}")]
    Malformed {
        /// The function.
        function: String,
        /// The source line, 0 if unknown.
        line: u32,
        /// What is wrong.
        what: String,
    },
    /// An error of the compiler.
    #[error("internal error: {0}")]
    Internal(String),
}

/// The greatest nesting depth of statements.
const MAX_NESTING: usize = 300;

/// A function's instructions.
struct Compiled {
    code: Vec<EmittedInst>,
    calls: Vec<(usize, u32)>,
    spans: Vec<(usize, usize, String, bool)>,
    slots: i64,
    moves_sp: bool,
    erases: bool,
    /// Where its variables are, by instructions counted from its first.
    places: FunctionPlaces,
}

/// A name for data that is like this one and that the assembler accepts.
pub(crate) fn symbol_name(text: &str) -> String {
    names::valid(text)
}

/// The function that passes the arguments, which are in data, to the entry.
pub(crate) fn main(program: &Program, arguments: &[Argument], entry: ir::FunctionId) -> Result<IrFunction, LowerError> {
    entry::Data::new(program, arguments, &mut Names::default())?.main(program, entry)
}

/// Makes a module of a program. Without an entry it is a library.
///
/// Errors: arguments that do not fit the entry's parameters, a program that is too large, or one that breaks the rules of [`ir`].
pub fn lower(program: &Program, arguments: &[Argument], options: &Options) -> Result<Module, LowerError> {
    lower_with_places(program, arguments, options).map(|(module, _)| module)
}

/// The same, and where the program's variables are in the module's code.
pub fn lower_with_places(
    program: &Program,
    arguments: &[Argument],
    options: &Options,
) -> Result<(Module, Places), LowerError> {
    let _span = tracing::debug_span!("lower", functions = program.functions.len()).entered();
    if graph::is_deeper(program, MAX_NESTING) {
        return Err(LowerError::TooLarge("statements are nested more than 300 deep"));
    }
    let program = &*crate::passes::blocks::expand(program);
    let mut names = Names::default();
    let data = entry::Data::new(program, arguments, &mut names)?;
    let mut spans = SpanNames::default();
    let writers = if options.erase == Erase::Never { Writers::default() } else { Writers::of(program) };
    let summaries = ir::effects::Summaries::new(program);
    let mut groups = ir::effects::callees_first(program);
    if let Some(entry) = program.entry {
        // Functions that are inlined everywhere, or never called, are left out.
        let reached = graph::reached(program, entry);
        groups.iter_mut().for_each(|group| group.retain(|at| reached.get(*at) == Some(&true)));
    }
    // The calls of an extension are instructions.
    let called = |at: &usize| program.functions.get(*at).is_some_and(|f| f.extension.is_none());
    groups.iter_mut().for_each(|group| group.retain(called));
    // Functions that run backward must not erase. Which functions those are depends on the code, so iterate until no further
    // function runs backward.
    let mut backward = vec![false; program.functions.len()];
    let (clobbers, compiled) = loop {
        let mut clobbers = vec![u32::MAX; program.functions.len()];
        let mut compiled: Vec<Option<Compiled>> = Vec::new();
        compiled.resize_with(program.functions.len(), || None);
        for group in &groups {
            let mut used = 0;
            for &at in group {
                let Some(function) = program.functions.get(at) else { continue };
                let known = if backward[at] { None } else { KnownZeros::new(&options.erase, &writers) };
                let context = Context { program, format: program.format, clobbers: &clobbers, summaries: &summaries };
                let code = compile(&context, function, &mut spans, known)?;
                used |= uses(&code, &clobbers, group);
                compiled[at] = Some(code);
            }
            group.iter().for_each(|at| clobbers[*at] = used);
        }
        if options.erase == Erase::Never || !propagate_backward(&compiled, &mut backward) {
            break (clobbers, compiled);
        }
        spans = SpanNames::default();
    };
    let mut module = Module {
        files: program.files.clone(),
        data: data.words.clone(),
        symbols: data.symbols.clone(),
        texts: program.texts.clone(),
        flags: Flags { format: program.format, ..Flags::default() },
        ..Module::default()
    };
    let mut out = Assembly {
        program,
        module: &mut module,
        calls: Vec::new(),
        procs: Vec::new(),
        texts: HashSet::new(),
        places: Places::default(),
    };
    if let Some(entry) = program.entry {
        let main = data.main(program, entry)?;
        let context = Context { program, format: program.format, clobbers: &clobbers, summaries: &summaries };
        let code = compile(&context, &main, &mut spans, None)?;
        out.add(code, &main, Some(names.like("main")), true)?;
    }
    for (function, code) in program.functions.iter().zip(compiled) {
        match code {
            Some(code) => out.add(code, function, Some(names.like(&function.name)), false)?,
            None => out.procs.push(None),
        }
    }
    out.link()?;
    let places = out.places;
    check(&module)?;
    Ok((module, places))
}

fn compile(
    context: &Context<'_>,
    function: &IrFunction,
    spans: &mut SpanNames,
    known: Option<KnownZeros<'_>>,
) -> Result<Compiled, LowerError> {
    let linear = Builder::new(context.program, function, spans, known).run()?;
    let locations = alloc::allocate(&linear, context.clobbers, |param| stack_slot(&linear, param));
    let mut emitter = Emitter::new(context, &linear, function, locations);
    emitter.run()?;
    let spans = emitter
        .spans
        .iter()
        .filter_map(|s| linear.spans.get(s.span as usize).map(|(n, undo)| (s.start, s.end, n.clone(), *undo)))
        .collect();
    let begins = emitter.begins.iter().map(|(at, operation)| (*at as u32, *operation)).collect();
    let part = |&(var, v, first, last): &(u32, ops::VReg, u32, u32)| {
        let location = *emitter.locations.get(v.0 as usize)?;
        Some(Part { var, first, last, at: WordPlace::of(location, emitter.slots, linear.moves_sp) })
    };
    let parts = linear.parts.iter().filter_map(part).collect();
    Ok(Compiled {
        places: FunctionPlaces { begins, parts, ..FunctionPlaces::default() },
        spans,
        slots: emitter.slots,
        code: emitter.code,
        calls: emitter.calls,
        moves_sp: linear.moves_sp,
        erases: linear.erases,
    })
}

/// The frame word of a parameter that is passed on the stack. Between it and the frame are the link and, in functions that have one,
/// the caller's frame pointer.
fn stack_slot(linear: &Linear, param: usize) -> i64 {
    let count = linear.lives.iter().filter(|l| l.param.is_some()).count();
    let below = if linear.moves_sp { 2 } else { 1 };
    param as i64 - count as i64 - below
}

/// Marks the functions that the code runs backward. Returns whether one of them erases and must be compiled again.
fn propagate_backward(compiled: &[Option<Compiled>], backward: &mut [bool]) -> bool {
    let mut todo: Vec<usize> = Vec::new();
    for (at, code) in compiled.iter().enumerate() {
        let Some(code) = code else { continue };
        for (place, callee) in &code.calls {
            let inverse = code.code.get(*place).is_some_and(|c| matches!(c.inst.kind, Kind::Row { inverse: true, .. }));
            if inverse || backward[at] {
                todo.push(*callee as usize);
            }
        }
    }
    let mut erases = false;
    while let Some(at) = todo.pop() {
        let (Some(known), Some(Some(code))) = (backward.get_mut(at), compiled.get(at)) else { continue };
        if !std::mem::replace(known, true) {
            erases |= code.erases;
            todo.extend(code.calls.iter().map(|(_, callee)| *callee as usize));
        }
    }
    erases
}

/// The registers that a function or one of its callees uses. A register that is only read counts, too: it may be that of a
/// variable that stays zero.
fn uses(compiled: &Compiled, clobbers: &[u32], group: &[usize]) -> u32 {
    let mut used = 0;
    for coded in &compiled.code {
        for field in coded.inst.kind.layout().into_iter().flat_map(Slot::register_fields) {
            used |= 1 << coded.inst.regs[usize::from(field) % OPERANDS].index();
        }
    }
    for (_, callee) in &compiled.calls {
        if !group.contains(&(*callee as usize)) {
            used |= clobbers.get(*callee as usize).copied().unwrap_or(u32::MAX);
        }
    }
    // Every call preserves the stack pointer and the frame pointer.
    used & !(1 << Reg::SP.index() | 1 << FRAME)
}

/// A module that is being built.
struct Assembly<'m> {
    program: &'m Program,
    module: &'m mut Module,
    /// The messages of checks, each text once.
    texts: HashSet<Arc<str>>,
    /// Calls, each with its callee.
    calls: Vec<(usize, u32)>,
    /// The first instruction of each procedure; `None` if it is left out.
    procs: Vec<Option<usize>>,
    places: Places,
}

impl Assembly<'_> {
    fn add(
        &mut self,
        compiled: Compiled,
        function: &IrFunction,
        name: Option<String>,
        main: bool,
    ) -> Result<(), LowerError> {
        let module = &mut *self.module;
        let start = module.code.len();
        module.flags.irreversible |= compiled.erases;
        if !main {
            self.procs.push(Some(start));
        }
        let kind = if main { SymbolKind::Label } else { SymbolKind::Proc };
        let name = name.unwrap_or_default();
        module.symbols.push(Symbol { name, kind, value: start as u64, global: false, doc: String::new() });
        let build = |kind: Kind, operands: &[Operand]| {
            Inst::build(kind, operands).map_err(|e| LowerError::Internal(e.to_string()))
        };
        let mut frame = Vec::new();
        if compiled.moves_sp {
            let own = Operand::Reg(reg(FRAME));
            frame.push(build(plain(Row::Push, false), &[own])?);
            frame.push(build(accumulate(Acc::Add, Ty::Int), &[own, Operand::Reg(Reg::SP)])?);
        }
        if compiled.slots > 0 {
            let words = Operand::Imm(compiled.slots.cast_unsigned(), Ty::Int);
            frame.push(build(accumulate(Acc::Add, Ty::Int), &[Operand::Reg(Reg::SP), words])?);
        }
        let loc = location(function.loc);
        let first = start + 1 + frame.len();
        let last = first + compiled.code.len() + frame.len();
        let bound = if main { Row::Start } else { Row::Proc };
        let label = |from: usize, to: usize| Operand::Label(to as i64 - from as i64);
        let (begin, end) = (label(start, last), label(last, start));
        let operands = |l| if main { Vec::new() } else { vec![l] };
        module.code.push(build(plain(bound, false), &operands(begin))?);
        module.code.extend(&frame);
        module.locs.resize(first, loc);
        // The stack pointer is at the end of the frame, the frame pointer at its beginning.
        let base = if compiled.moves_sp { 0 } else { compiled.slots };
        for coded in &compiled.code {
            let mut inst = coded.inst;
            if coded.frame {
                inst.imm -= base;
                if !(OFFSET_MIN..=OFFSET_MAX).contains(&inst.imm) {
                    return Err(LowerError::TooLarge("a stack frame has more than 2^27 words"));
                }
            }
            if let Some(check_reason) = coded.check_reason.or_else(|| CheckReason::of_divisor(self.program, coded)) {
                let text = check_reason.text(self.program, function);
                let text = match self.texts.get(text.as_str()) {
                    Some(text) => Arc::clone(text),
                    None => {
                        let text = Arc::<str>::from(text);
                        self.texts.insert(Arc::clone(&text));
                        text
                    }
                };
                module.reasons.push(Reason { at: module.code.len() as u32, text });
            }
            module.code.push(inst);
            module.locs.push(location(coded.loc));
        }
        module.code.extend(frame.iter().rev().map(|i| i.inverse()));
        module.code.push(build(plain(bound, true), &operands(end))?);
        module.locs.resize(module.code.len(), loc);
        let mut places = compiled.places;
        places.function = (!main).then(|| self.procs.len() as u32 - 1);
        places.range = (start as u32, module.code.len() as u32 - 1);
        places.begins.iter_mut().for_each(|(at, _)| *at += first as u32);
        self.places.add(places);
        self.calls.extend(compiled.calls.iter().map(|(at, func)| (first + at, *func)));
        module.spans.extend(compiled.spans.into_iter().map(|(from, to, name, undo)| Span {
            name,
            undo,
            start: (first + from) as u32,
            end: (first + to) as u32,
        }));
        if module.code.len() as i64 > OFFSET_MAX {
            return Err(LowerError::TooLarge("the code has more than 2^27 instructions"));
        }
        Ok(())
    }

    /// Sets the targets of calls, and sorts spans.
    fn link(&mut self) -> Result<(), LowerError> {
        for &(at, func) in &self.calls {
            let (Some(inst), Some(Some(to))) = (self.module.code.get_mut(at), self.procs.get(func as usize)) else {
                return Err(LowerError::Internal("a call leads nowhere".into()));
            };
            inst.imm = *to as i64 - at as i64;
        }
        self.module.spans.sort_by_key(|s| (s.start, Reverse(s.end)));
        Ok(())
    }
}

fn location(loc: ir::Loc) -> Loc {
    Loc { file: loc.file, column: loc.column, line: loc.line }
}

/// Verifies the whole module. An error here is an error of the compiler.
fn check(module: &Module) -> Result<(), LowerError> {
    for (at, inst) in module.code.iter().enumerate() {
        inst.validate(Profile::Native).map_err(|e| LowerError::Internal(format!("instruction {at}: {e}")))?;
    }
    match pendula_isa::verify::verify(module).1.first() {
        None => Ok(()),
        Some(v) => Err(LowerError::Internal(format!("instruction {}: {}", v.at, v.problem.title()))),
    }
}
