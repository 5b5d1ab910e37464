//! The whole way: source text to a module.

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Severity, Sources};
use pendula_isa::{Format, Module};

use crate::ir::Program;
use crate::janus;
use crate::lower::{self, Argument as Data, Erase};
use crate::nil::sema::{self, Argument, Input, Settings};
use crate::nil::types::Type;
use crate::nil::{codes, read};
use crate::passes::{self, Pass, Switches};

/// What a compilation may choose.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The entry point; the last function of the program if left out.
    pub entry: Option<String>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The types of its parameters, where they are given.
    pub types: Vec<String>,
    /// The fixed-point format, where it is given.
    pub format: Option<Format>,
    /// Whether floating-point sums may be rounded in other places than they are written in.
    pub fast_float: bool,
    /// What reading the program may take.
    pub budget: Budget,
    /// The passes that are run.
    pub switches: Switches,
    /// What is erased instead of undone.
    pub erase: Erase,
    /// Whether the program is wanted in the form that C is written of, too.
    pub native: bool,
    /// What concerns Janus.
    pub janus: janus::Settings,
}

/// What comes of a compilation.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The program; `None` if there were errors.
    pub module: Option<Module>,
    /// The program before it became instructions.
    pub program: Option<Program>,
    /// The program before it was improved.
    pub source: Option<Program>,
    /// The same in the form that C is written of, where that is asked for: without what only instructions gain by.
    pub native: Option<Program>,
    /// The passes that were asked for.
    pub switches: Switches,
    /// The data symbols of the entry's arguments.
    pub arguments: Vec<Data>,
    /// Their names, by parameter of the entry point.
    pub parameters: Vec<Vec<String>>,
    /// The types of these parameters.
    pub types: Vec<Type>,
    /// Whether there is nothing to run because the entry point's arguments are not given.
    pub wants_arguments: bool,
    /// What there is to say.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that places refer to.
    pub sources: Sources,
    /// The files as they were read, the program first.
    pub inputs: Vec<Input>,
    /// What else there is of a program in Janus.
    pub janus: Option<Janus>,
}

/// What there is of a program in Janus alone.
#[derive(Debug)]
pub struct Janus {
    /// The syntax tree.
    pub tree: janus::ast::Tree,
    /// The variables of `main`, by name.
    pub store: Vec<janus::store::Variable>,
}

/// What comes of a program whose text is beyond the budget.
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
    let (inputs, mut diagnostics) = parse.in_scope(|| read(&mut sources, name, text, &options.budget));
    let failed = |d: &[Diagnostic]| d.iter().any(|d| d.severity == Severity::Error);
    let settings = Settings {
        entry: options.entry.clone(),
        arguments: options.arguments.clone(),
        types: options.types.clone(),
        format: options.format,
        fast_float: options.fast_float,
        budget: options.budget,
    };
    // What could be read is looked at even if something could not: errors of both kinds are told at once, but for what follows from them.
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

impl Compiled {
    /// Improves a program and makes instructions of it.
    fn lower(&mut self, mut program: Program, options: &Options, code: &'static str) {
        if options.native {
            let mut native = program.clone();
            passes::run(&mut native, &options.switches.without(Pass::Strength).without(Pass::Keep));
            self.native = Some(native);
        }
        self.source = Some(program.clone());
        passes::run(&mut program, &options.switches);
        match lower::lower(&program, &self.arguments, &lower::Options { erase: options.erase.clone() }) {
            Ok(module) => self.module = Some(module),
            Err(error) => self.diagnostics.push(Diagnostic::error(code, error.to_string())),
        }
        self.program = Some(program);
        self.switches = options.switches;
    }
}

/// Whether a message is about a line of an error of these: what could not be read is not to be judged, nor a statement that goes on there.
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
