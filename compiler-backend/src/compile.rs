//! Compilation from source text to a module.

use std::sync::Arc;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Severity, Sources};
use pendula_isa::extension::Definition;
use pendula_isa::{Format, Module};

use crate::ir::Program;
use crate::janus;
use crate::lower::{self, Argument as Data, Erase};
use crate::nil::sema::{self, Argument, Input, Settings};
use crate::nil::types::Type;
use crate::nil::{codes, read};
use crate::passes::{self, Switches};

/// Options of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The entry point; the last function of the program if left out.
    pub entry: Option<String>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The values of its keywords, by name, as they are written.
    pub keywords: Vec<(String, String)>,
    /// The types of its parameters, if they are given.
    pub types: Vec<String>,
    /// The fixed-point format, if it is given.
    pub format: Option<Format>,
    /// True if a function in a file of the host language that cannot be read is an error.
    pub strict: bool,
    /// True if floating-point sums may be rounded in other places than the source has them.
    pub fast_float: bool,
    /// True if a run stops where a function has no derivative; otherwise that is taken as 0 there.
    pub strict_derivatives: bool,
    /// The limits for reading the program.
    pub budget: Budget,
    /// Definitions of instructions and functions, in the program's fixed-point format.
    pub extensions: Vec<Arc<Definition>>,
    /// The passes that run.
    pub switches: Switches,
    /// The computations that are erased instead of undone.
    pub erase: Erase,
    /// Options for Janus.
    pub janus: janus::Settings,
}

/// The result of a compilation.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The program; `None` if there were errors.
    pub module: Option<Module>,
    /// The IR from which the instructions were made.
    pub program: Option<Program>,
    /// Where its variables are in the module's code.
    pub places: lower::Places,
    /// The IR before any pass.
    pub source: Option<Program>,
    /// True if results are erased instead of undone, where the options ask for it.
    pub erases: bool,
    /// The passes that were requested.
    pub switches: Switches,
    /// The data symbols of the entry's arguments.
    pub arguments: Vec<Data>,
    /// The names of the arguments, by parameter of the entry point.
    pub parameters: Vec<Vec<String>>,
    /// The types of these parameters.
    pub types: Vec<Type>,
    /// True if there is nothing to run because the entry point's arguments are missing.
    pub wants_arguments: bool,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The source texts to which the places in diagnostics refer.
    pub sources: Sources,
    /// The files as they were read, the program first.
    pub inputs: Vec<Input>,
    /// Other facts about a program in Janus.
    pub janus: Option<Janus>,
}

/// Facts that only a program in Janus has.
#[derive(Debug)]
pub struct Janus {
    /// The syntax tree.
    pub tree: janus::ast::Tree,
    /// The variables of `main`, by name.
    pub store: Vec<janus::store::Variable>,
}

/// The result for a program whose text exceeds the budget.
fn too_large(name: &str, text: &str, options: &Options) -> Option<Compiled> {
    let exceeded = options.budget.large(text.len() as u64, || format!("`{name}`")).err()?;
    let exceeded = exceeded.instead("divide the program").raised_by("--max-source");
    Some(Compiled { diagnostics: vec![exceeded.diagnostic()], ..Compiled::default() })
}

/// Compiles a program in Nil.
pub fn compile(name: &str, text: String, options: &Options) -> Compiled {
    if let Some(refused) = too_large(name, &text, options) {
        return refused;
    }
    let _span = tracing::debug_span!("compile", file = name, bytes = text.len()).entered();
    let mut sources = Sources::default();
    let parse = tracing::debug_span!("parse");
    let (inputs, mut diagnostics) = parse.in_scope(|| read(&mut sources, name, text, &options.budget, options.strict));
    let failed = |d: &[Diagnostic]| d.iter().any(|d| d.severity == Severity::Error);
    let settings = Settings {
        entry: options.entry.clone(),
        arguments: options.arguments.clone(),
        keywords: options.keywords.clone(),
        types: options.types.clone(),
        format: options.format,
        fast_float: options.fast_float,
        strict: options.strict,
        budget: options.budget,
        extensions: options.extensions.clone(),
    };
    // The parts that could be read are checked even if others could not: both kinds of errors are reported together, except
    // for those that follow from others.
    let syntax = failed(&diagnostics);
    let analysis = tracing::debug_span!("check").in_scope(|| sema::analyse(&inputs, &settings));
    let near = near_errors(&inputs, &diagnostics);
    let follows = |d: &Diagnostic| syntax && (d.code == codes::ENTRY || near(d));
    let found: Vec<Diagnostic> = analysis.diagnostics.into_iter().filter(|d| !follows(d)).collect();
    diagnostics.retain(|d| d.severity == Severity::Error || !near(d));
    diagnostics.extend(found);
    let mut out = Compiled {
        arguments: analysis.arguments,
        parameters: analysis.parameters,
        types: analysis.types,
        wants_arguments: analysis.wants_arguments,
        sources,
        inputs,
        ..Compiled::default()
    };
    out.diagnostics = diagnostics;
    if let (Some(program), false) = (analysis.program, failed(&out.diagnostics)) {
        out.lower(program, options, codes::LOWERING);
    }
    if let Some(module) = &mut out.module {
        module.variables = analysis.variables;
    }
    out
}

/// Compiles a program in Janus.
pub fn compile_janus(name: &str, text: &str, options: &Options) -> Compiled {
    if let Some(refused) = too_large(name, text, options) {
        return refused;
    }
    let _span = tracing::debug_span!("compile", file = name, bytes = text.len()).entered();
    let mut sources = Sources::default();
    let read = janus::read(&mut sources, name, text, &options.janus, &options.budget);
    let mut out = Compiled {
        arguments: read.arguments,
        diagnostics: read.diagnostics,
        janus: Some(Janus { tree: read.tree, store: read.store }),
        sources,
        ..Compiled::default()
    };
    if !options.arguments.is_empty() || !options.types.is_empty() {
        let help = "the variables of `main` are set with `--set x=5`";
        out.diagnostics.push(Diagnostic::error(janus::codes::MAIN, "a program in Janus has no arguments").help(help));
        return out;
    }
    out.parameters = out.arguments.iter().map(|a| vec![a.name.clone()]).collect();
    if let Some(program) = read.program {
        out.lower(program, options, janus::codes::LOWERING);
    }
    out
}

/// The IR from which C is written, from [`Compiled::source`].
pub fn for_c(mut source: Program, switches: Switches) -> Program {
    passes::for_c(&mut source, &switches);
    source
}

impl Compiled {
    /// Optimizes a program and makes instructions of it.
    fn lower(&mut self, mut program: Program, options: &Options, code: &'static str) {
        if options.strict_derivatives {
            passes::kinks::refuse(&mut program);
        }
        self.source = Some(program.clone());
        self.erases = options.erase != Erase::Never;
        passes::run(&mut program, &options.switches);
        let how = lower::Options { erase: options.erase.clone() };
        match lower::lower_with_places(&program, &self.arguments, &how) {
            Ok((module, places)) => (self.module, self.places) = (Some(module), places),
            Err(error) => self.diagnostics.push(Diagnostic::error(code, error.to_string())),
        }
        self.program = Some(program);
        self.switches = options.switches;
    }
}

/// Whether a message is about a line of one of these errors. Lines that could not be read are not checked further, and
/// neither are statements that continue there.
fn near_errors(inputs: &[Input], diagnostics: &[Diagnostic]) -> impl Fn(&Diagnostic) -> bool + use<> {
    let lines: Vec<(u16, Vec<usize>)> = inputs.iter().map(|i| (i.file, i.lines.clone())).collect();
    let place = move |d: &Diagnostic| {
        let at = &d.primary.as_ref()?.place;
        let (_, starts) = lines.iter().find(|(file, _)| *file == at.file)?;
        Some((at.file, starts.partition_point(|start| *start <= at.span.start)))
    };
    let errors: Vec<(u16, usize)> =
        diagnostics.iter().filter(|d| d.severity == Severity::Error).filter_map(&place).collect();
    move |d| {
        let before = |line: usize, l: usize| d.code == codes::READS_TARGET && line + 1 == l;
        place(d).is_some_and(|(file, line)| errors.iter().any(|(f, l)| *f == file && (line == *l || before(line, *l))))
    }
}
