//! Programs of the representation as C.
//!
//! What a run of the program does, in one direction and with or without what
//! words carry, is a C function on the machine's memory; each function of the
//! program is a C function, its statements are C statements. What an update or
//! a permutation does comes from the instruction table, by way of recorded
//! operations ([`pendula_native::record`]); elementary functions are the machine's own, which
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
//! `function` writes functions and statements, `loops` finds out what can be
//! checked before a loop, `body` writes operations, `text` has names and expressions.

mod body;
mod calls;
mod drop;
mod function;
mod loops;
mod statement;
mod text;

use std::collections::HashMap;
use std::fmt::Write as _;

use pendula_isa::Env;
use pendula_isa::adjoint::Carriage;
use pendula_isa::counts::Direction;
use pendula_native::kernel::pack;
use pendula_native::ops::Kernel;
use pendula_native::record::Setting;

use crate::ir::effects::Summaries;
use crate::ir::{Fun, Program};
use crate::lower::{Argument, LowerError};
use text::{Names, Text};

/// Why a program cannot be written in C.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It shows numbers or texts while it runs.
    #[error("it shows numbers or texts while it runs")]
    Shows,
    /// Something has no operation in C.
    #[error("it does something that has no operation in C")]
    Operation,
    /// A word of one type is lent as one of another.
    #[error("a word of one type is lent to a function as one of another")]
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
pub struct Mode {
    /// Which way.
    pub direction: Direction,
    /// What words carry.
    pub carriage: Carriage,
}

impl Mode {
    /// The name of the C function that runs a program so: `int64_t NAME(uint64_t *mem, uint64_t *const *lanes, uint64_t len, uint64_t top)`.
    ///
    /// `mem` are `len` words of memory, of which those from `top` on are zero, and may be used; `lanes` are what words carry, one for each of
    /// [`Carriage::lanes`], as long as the memory. It returns 0, or 1 if it gave up, which may leave anything in the memory.
    pub fn name(self) -> String {
        format!("pendula_{}{}", way(self.direction == Direction::Backward), suffix(self.carriage))
    }
}

fn way(back: bool) -> &'static str {
    if back { "backward" } else { "forward" }
}

fn suffix(carriage: Carriage) -> &'static str {
    match carriage {
        Carriage::Plain => "",
        Carriage::Gradient => "_gradient",
        Carriage::Tangent => "_tangent",
        Carriage::GradientTangent => "_gradient_tangent",
        Carriage::SecondGradient => "_second_gradient",
    }
}

/// The name of the C function that is to be called once after loading, with the addresses of the kernels: `void NAME(void *const *)`.
pub const KERNELS: &str = "pendula_kernels";

/// A program in C.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The kernels that it calls, in the order in which it wants their addresses.
    pub kernels: Vec<Kernel>,
}

/// A function of the program in one direction and carriage.
type Variant = (Fun, bool, Carriage);

/// The C that is being written.
struct Writer<'a> {
    program: &'a Program,
    summaries: Summaries,
    drops: drop::Drops<'a>,
    names: Names,
    variants: HashMap<Variant, String>,
    waiting: Vec<Variant>,
    kernels: Vec<Kernel>,
    kernel_names: Vec<String>,
}

/// Writes a program, run with these arguments, in C. With `fast`, what undoing floating-point sums leaves of rounding is forgotten, and
/// numbers are not looked at for being finite.
///
/// # Errors
/// What cannot be written in C.
pub fn write(program: &Program, arguments: &[Argument], modes: &[Mode], fast: bool) -> Result<Source, Refused> {
    let Some(entry) = program.entry else { return Err(Refused::NoEntry) };
    let main = crate::lower::main(program, arguments, entry)?;
    // The call of the entry is a function like others.
    let mut program = program.clone();
    let fun = Fun(program.functions.len() as u32);
    program.functions.push(main);
    let mut w = Writer {
        program: &program,
        summaries: Summaries::new(&program),
        drops: drop::Drops::new(&program, fast),
        names: Names::default(),
        variants: HashMap::new(),
        waiting: Vec::new(),
        kernels: Vec::new(),
        kernel_names: Vec::new(),
    };
    let mut ends = Text::default();
    for mode in modes {
        let back = mode.direction == Direction::Backward;
        let inner = w.variant((fun, back, mode.carriage));
        ends.line("");
        let name = mode.name();
        ends.open(&format!("int64_t {name}(word *mem, word *const *lanes, word len, word top)\n{{"));
        ends.line("(void)lanes;");
        let lanes = mode.carriage.lanes();
        let lanes: String = (0..lanes.len()).map(|n| format!("lanes[{n}], ")).collect();
        ends.line("limit = (char *)__builtin_frame_address(0) - STACK;");
        ends.line(&format!("return {inner}(mem, {lanes}len, top);"));
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
        let (fun, back, carriage) = variant;
        let name = self.program.functions.get(fun.0 as usize).map_or("", |f| &f.name);
        let name = format!("{}_{}{}", name.trim_end_matches('!'), way(back), suffix(carriage));
        let name = self.names.like(&name);
        self.variants.insert(variant, name.clone());
        self.waiting.push(variant);
        name
    }

    fn env(&self) -> Env {
        Env { format: self.program.format, ieee: false }
    }

    fn setting(carriage: Carriage) -> Setting {
        Setting { carriage, checks: true, trap_overflow: true, ieee: false }
    }

    /// Gives new kernels names: the last parts of their paths, and how many arguments they take.
    fn name_kernels(&mut self) {
        for kernel in &self.kernels[self.kernel_names.len()..] {
            let path: Vec<&str> =
                kernel.name.split("::").filter(|p| !p.starts_with('{') && !p.contains(['<', '>', ' '])).collect();
            let short = path[path.len().saturating_sub(2)..].join("_");
            let base = self.names.like(&short);
            self.kernel_names.push(format!("{base}_{}", kernel.arity));
        }
    }
}

const PRELUDE: &str = include_str!("prelude.h");

fn prelude(w: &Writer<'_>, program: &Program) -> String {
    let files: Vec<&str> = program.files.iter().map(String::as_str).filter(|f| !f.starts_with('<')).collect();
    let from = files.first().map_or(String::new(), |f| format!(" from {f}"));
    let mut out = format!(
        "/* Written by pendula{}. A function returns 1 where it gives up:\n   where the program would trap. */\n\n",
        from.replace("*/", "* /")
    );
    out.push_str(PRELUDE);
    let _ =
        writeln!(out, "\n/* The fixed-point format, for functions of the machine. */\n#define ENV {}\n", pack(w.env()));
    if !w.kernel_names.is_empty() {
        out.push_str(
            "/* Functions of the machine: they write their results to `out`, and return 0 if they have any. */\n",
        );
        for (kernel, name) in w.kernels.iter().zip(&w.kernel_names) {
            let _ = writeln!(out, "static word (*{name})(word env, word *out{});", ", word".repeat(kernel.arity));
        }
        out.push('\n');
    }
    let _ = writeln!(out, "void {KERNELS}(void *const *functions)\n{{");
    out.push_str("    (void)functions;\n");
    for (n, (kernel, name)) in w.kernels.iter().zip(&w.kernel_names).enumerate() {
        let args = ", word".repeat(kernel.arity);
        let _ = writeln!(out, "    {name} = (word (*)(word, word *{args}))functions[{n}];");
    }
    out.push_str("}\n\n");
    out
}

/// For each parameter of the entry point, whether the words that it is the address of may be written.
pub fn written(program: &Program) -> Vec<bool> {
    let Some(entry) = program.entry.and_then(|f| program.functions.get(f.0 as usize)) else { return Vec::new() };
    let effects = crate::ir::effects::Effects::of_block(&Summaries::new(program), &entry.body);
    let of = |p: &crate::ir::Param| entry.points(p.var).is_none_or(|region| effects.writes_region(region));
    entry.params.iter().map(of).collect()
}
