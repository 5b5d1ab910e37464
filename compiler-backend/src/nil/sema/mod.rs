//! The semantic analysis: from the syntax tree to the intermediate representation. It resolves names, types and
//! overloads.
//!
//! A function is compiled once for each set of argument types that calls reach from the entry point. Types are known as
//! soon as a statement is reached, so one traversal both checks and translates.

mod allocate;
mod allocate_array;
mod annotated;
mod argument;
mod arithmetic;
mod array;
mod assign;
mod body;
mod builtin;
mod call;
mod call_alias;
mod complex;
mod constant;
mod construct;
mod decided;
mod declare;
mod emit;
mod entry;
mod entry_given;
mod exchange;
mod expr;
mod extension;
mod functions;
mod global_stack;
mod growing;
mod guess;
mod host;
mod host_function;
mod instance;
mod instr;
mod instr_own;
mod invert;
mod keywords;
mod logarithm;
mod loops;
mod name;
mod nilang;
mod overload;
mod places;
mod predict;
mod reach;
mod reads;
mod reduce;
mod scope;
mod singles;
mod sizes;
mod source_names;
mod stacked;
mod stmt;
mod tuples;
mod value;
mod variables;
mod views;
mod writes;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Place as Source, Severity};
use pendula_isa::extension::Definition as Extension;
use pendula_isa::module::Variable;
use pendula_isa::{Acc, Format, Ty};

use super::ast::{self, AssignOp};
use super::codes;
use super::lexer::Lexer;
use super::token::Tok;
use super::types::{Names, Structs, Type, TypeProblem};
use crate::ir::effects::Summaries;
use crate::ir::{self, FunctionId, Loc, Program};

use entry::Entry;

pub use argument::{Argument, Number, argument_data, number_word};
pub(super) use builtin::is_built_in;
pub(super) use declare::{signature, takes_own_types};
pub(super) use host::concerns;
pub use variables::own_name;

/// A source file that has been read.
#[derive(Debug)]
pub struct Input {
    /// Index into the sources.
    pub file: u16,
    /// The name of the file.
    pub name: String,
    /// The syntax tree.
    pub tree: ast::File,
    /// The byte offsets of the beginnings of lines.
    pub lines: Vec<usize>,
    /// The text.
    pub text: String,
    /// Whether it belongs to the library: names of the program take precedence over its names.
    pub library: bool,
}

/// The settings of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The name of the entry point; `None` for the only or last function of the program.
    pub entry: Option<String>,
    /// The arguments of the entry point.
    pub arguments: Vec<Argument>,
    /// The values of its keywords, by name, as they are written.
    pub keywords: Vec<(String, String)>,
    /// The types of the entry point's parameters, in order, if they are given.
    pub types: Vec<String>,
    /// The fixed-point format, if it is given.
    pub format: Option<Format>,
    /// Whether errors in functions that are not used are errors also in a file of the host language.
    pub strict: bool,
    /// Whether the order of floating-point sums may change, and so their rounding.
    pub fast_float: bool,
    /// The budget for types and constants.
    pub budget: Budget,
    /// Definitions of instructions and functions. Names of the program take precedence over theirs.
    pub extensions: Vec<Arc<Extension>>,
}

/// The result of the analysis.
#[derive(Debug, Default)]
pub struct Analysis {
    /// The program; `None` if there were errors.
    pub program: Option<Program>,
    /// The data symbols of the entry's arguments.
    pub arguments: Vec<crate::lower::Argument>,
    /// The names of these symbols, by parameter.
    pub parameters: Vec<Vec<String>>,
    /// The types of the parameters.
    pub types: Vec<Type>,
    /// The names that the data has in the source.
    pub variables: Vec<Variable>,
    /// Whether arguments are missing, so that there is nothing to run.
    pub wants_arguments: bool,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

/// A function of the source.
struct Definition<'a> {
    file: u16,
    ast: &'a ast::Function,
    library: bool,
}

/// A part of the key of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ArgKey {
    Type(Type),
    /// A keyword, or a literal without a type.
    Literal(String),
}

/// The facts about a compiled function.
#[derive(Clone, Debug, Default)]
struct Facts {
    /// The parameters of the source.
    params: Vec<ParamFacts>,
    /// Whether it is compiled: its writes are known, except for those of recursive calls.
    done: bool,
    /// Whether its writes were predicted.
    predicted: bool,
}

/// A parameter of the source: its words and arrays.
#[derive(Clone, Debug)]
struct ParamFacts {
    name: String,
    /// Its words, as a range of the IR function's parameters.
    words: std::ops::Range<usize>,
    /// The regions of its arrays.
    regions: Vec<ir::Region>,
}

/// A call, for the checks after all functions are compiled.
struct CallRecord {
    caller: FunctionId,
    callee: FunctionId,
    file: u16,
    args: Vec<ArgRecord>,
}

/// An argument of a call in the source.
struct ArgRecord {
    span: ast::Span,
    /// The caller's variable for each word; `None` for other operands.
    vars: Vec<Option<ir::Var>>,
    /// Whether a word of it is a computed value or a constant.
    temporary: bool,
    /// The caller's regions that contain its words or arrays.
    regions: Vec<ir::Region>,
}

/// The state of the semantic analysis.
struct Sema<'a> {
    inputs: &'a [Input],
    settings: &'a Settings,
    definitions: Vec<Definition<'a>>,
    /// By the names that [`declare::known_as`] gives.
    by_name: HashMap<String, Vec<usize>>,
    by_instruction: HashMap<(AssignOp, &'a str), Vec<usize>>,
    /// Functions of the host that are one expression, by name.
    hosts: HashMap<&'a str, Vec<(u16, &'a ast::HostFunction)>>,
    structs: Structs,
    /// The problems of structs that were reported at their declarations.
    reported: HashSet<TypeProblem>,
    constants: HashMap<&'a str, (u16, &'a ast::Expr)>,
    /// The values of constants, by name and by the type that untyped numbers take.
    values: HashMap<(&'a str, Option<Ty>), Done<value::Value>>,
    /// The number of steps that their computation took.
    steps: u64,
    instances: HashMap<(usize, Vec<ArgKey>), FunctionId>,
    /// The functions that stand for extensions.
    extensions: HashMap<(Arc<Extension>, Acc), FunctionId>,
    /// The definitions that have been compiled for some types.
    compiled: HashSet<usize>,
    facts: Vec<Facts>,
    written: Vec<Written>,
    /// The parameters and regions that functions write by their own statements, without calls.
    direct_writes: Vec<Written>,
    /// The predicted changes of definitions, once they are needed.
    predictions: Option<Vec<predict::Changes<'a>>>,
    calls: Vec<CallRecord>,
    program: Program,
    diagnostics: Vec<Diagnostic>,
    depth: usize,
    name_counts: HashMap<String, u32>,
    /// Definitions whose place later ones for the same types have taken.
    forgotten: HashSet<usize>,
    /// The host's stacks for one type each that the program uses, after its global one.
    stacks: Vec<&'static str>,
    /// The indices of the program's reasons.
    reasons: HashMap<String, u32>,
    /// Whether the arguments of the entry point are missing.
    wants_arguments: bool,
}

/// The parameters and regions that a function changes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Written {
    params: Vec<bool>,
    regions: Vec<bool>,
}

/// An error was reported. Everything that depends on it is skipped.
#[derive(Clone, Copy, Debug)]
struct Stop;

type Done<T> = Result<T, Stop>;

/// Compiles the functions that the entry point reaches.
pub fn analyse(inputs: &[Input], settings: &Settings) -> Analysis {
    let mut s = Sema {
        inputs,
        settings,
        definitions: Vec::new(),
        by_name: HashMap::new(),
        by_instruction: HashMap::new(),
        hosts: HashMap::new(),
        structs: Structs::new(settings.budget),
        reported: HashSet::new(),
        constants: HashMap::new(),
        values: HashMap::new(),
        steps: 0,
        instances: HashMap::new(),
        extensions: HashMap::new(),
        compiled: HashSet::new(),
        facts: Vec::new(),
        written: Vec::new(),
        direct_writes: Vec::new(),
        predictions: None,
        calls: Vec::new(),
        program: Program { files: inputs.iter().map(|i| i.name.clone()).collect(), ..Program::default() },
        diagnostics: Vec::new(),
        depth: 0,
        name_counts: HashMap::new(),
        forgotten: HashSet::new(),
        stacks: Vec::new(),
        reasons: HashMap::new(),
        wants_arguments: false,
    };
    s.declare();
    s.choose_format();
    let entry = s.entry().unwrap_or_default();
    let reached = s.reached();
    s.check_others();
    s.check_writes();
    s.keep(&reached);
    let wants_arguments = s.wants_arguments;
    let failed = s.diagnostics.iter().any(|d| d.severity == Severity::Error);
    let mut program = (!failed).then_some(s.program);
    if let Some(program) = &mut program {
        let summaries = Summaries::new(program);
        crate::passes::blocks::settle(program, &summaries);
    }
    let mut diagnostics = s.diagnostics;
    diagnostics.sort_by_key(|d| d.primary.as_ref().map(|l| (l.place.file, l.place.span.start)));
    diagnostics.dedup();
    let variables = variables::variables(&entry.data, &entry.types);
    let Entry { data: arguments, parameters, types } = entry;
    Analysis { program, arguments, parameters, types, variables, wants_arguments, diagnostics }
}

/// The fixed-point format of a program: the one that is given, or NiLang's if the program or a type of its entry's parameters names it.
pub fn format_of(text: &str, types: &[String], given: Option<Format>) -> Format {
    let own = || named(text, "Fixed43").is_some() || types.iter().any(|t| t.contains("Fixed43"));
    given.unwrap_or_else(|| if own() { Format::Q21_43 } else { Format::default() })
}

impl<'a> Sema<'a> {
    /// Chooses the fixed-point format: the requested one, or NiLang's format if the program names it.
    fn choose_format(&mut self) {
        let written = self.inputs.iter().find_map(|i| Some((i.file, named(&i.text, "Fixed43")?)));
        let given = self.settings.types.iter().any(|t| t.contains("Fixed43"));
        if let Some(format) = self.settings.format {
            self.program.format = format;
            if (written.is_some() || given) && format != Format::Q21_43 {
                let message =
                    format!("`Fixed43` is the format {}, and {} is asked for", Format::Q21_43.name(), format.name());
                let d = Diagnostic::error(codes::ENTRY, message);
                let d = match written {
                    Some((file, span)) => d.at(Source { file, span }, ""),
                    None => d,
                };
                self.diagnostics.push(d.help("leave out `--format`; or write `Fixed`, whose format it chooses"));
            }
        } else if written.is_some() || given {
            self.program.format = Format::Q21_43;
        }
    }

    fn error(
        &mut self,
        file: u16,
        span: &ast::Span,
        code: &'static str,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let d = Diagnostic::error(code, message).at(Source { file, span: span.clone() }, "");
        self.diagnostics.push(d);
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    fn loc(&self, file: u16, span: &ast::Span) -> Loc {
        let Some(input) = self.inputs.get(file as usize) else { return Loc::default() };
        let line = input.lines.partition_point(|start| *start <= span.start);
        let start = input.lines.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let column = input.text.get(start..span.start).map_or(0, |t| t.chars().count());
        Loc { file, line: line as u32, column: u16::try_from(column + 1).unwrap_or(u16::MAX) }
    }

    fn type_problem(&mut self, file: u16, e: &ast::TypeExpr, problem: TypeProblem) -> Stop {
        let (message, help) = match problem {
            TypeProblem::Unknown(name) => (
                format!("there is no type `{name}`"),
                "types are Int, Bool, Fixed, Float64, ULogarithmic, Complex{T}, Tropical{T}, arrays, structs and what `where` names",
            ),
            TypeProblem::Abstract(name) => (
                format!("`{name}` stands for many types, and one is expected here"),
                "name one, such as `Float64` or `Vector{T}`",
            ),
            TypeProblem::Arguments(name) => {
                (format!("`{name}` does not take these type arguments"), "its argument is a number type")
            }
            // It was reported at the declaration of the struct.
            problem if self.reported.contains(&problem) => return Stop,
            TypeProblem::Recursive(way) => {
                let through = |(n, (of, field)): (usize, &(String, String))| match n {
                    0 => format!("its field `{field}`"),
                    _ => format!("`{field}` of `{of}`"),
                };
                let fields: Vec<String> = way.iter().enumerate().map(through).collect();
                let name = way.first().map_or("", |(name, _)| name.as_str());
                let message = format!("the struct `{name}` holds itself, through {}", fields.join(", then "));
                self.error(file, &e.span, codes::RECURSIVE, message).help = Some(
                    "a struct has as many words as its fields: keep the others in an array, and hold their indices"
                        .into(),
                );
                return Stop;
            }
            TypeProblem::Exceeded(what) => {
                self.diagnostics.push(what.diagnostic().at(Source { file, span: e.span.clone() }, ""));
                return Stop;
            }
        };
        self.error(file, &e.span, codes::TYPE_NAME, message).help = Some(help.into());
        Stop
    }
}

/// The first occurrence of a name in a text, except in comments and strings.
fn named(text: &str, name: &str) -> Option<ast::Span> {
    let mut lexer = Lexer::new(text, 0, text.len());
    loop {
        let token = lexer.token();
        let span = token.start..token.end;
        match token.kind {
            Tok::Eof => return None,
            Tok::Ident if text.get(span.clone()) == Some(name) => return Some(span),
            _ => {}
        }
    }
}

/// The struct of sparse matrices in compressed columns, as in the host's library.
fn sparse_matrix() -> ast::Struct {
    let name = |text: &str| ast::Name { text: text.to_string(), span: 0..0 };
    let ty = |text: &str, args: Vec<ast::TypeArg>| ast::TypeExpr { name: name(text), args, span: 0..0 };
    let int = || ty("Int", Vec::new());
    let vector = |t: ast::TypeExpr| ty("Vector", vec![ast::TypeArg::Type(t)]);
    ast::Struct {
        name: name("SparseMatrixCSC"),
        type_params: vec![ast::TypeParam { name: name("T"), bound: None }],
        fields: vec![
            (name("m"), Some(int())),
            (name("n"), Some(int())),
            (name("colptr"), Some(vector(int()))),
            (name("rowval"), Some(vector(int()))),
            (name("nzval"), Some(vector(ty("T", Vec::new())))),
        ],
        constructor: None,
        span: 0..0,
        values: Vec::new(),
    }
}

/// The meanings of type names with these bound variables.
fn names<'s>(structs: &'s Structs, bound: &HashMap<String, Type>) -> Names<'s> {
    Names { structs, bound: bound.clone() }
}

/// The accumulator for computed values of a type, which restores the zero word of an ancilla exactly.
const fn accumulator(ty: Ty) -> Acc {
    match ty {
        Ty::L => Acc::Mul,
        Ty::Int | Ty::Q | Ty::F => Acc::Add,
    }
}
