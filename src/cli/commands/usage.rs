//! The message for a Nil program that was run without its arguments: the function's parameters, and a command line with
//! suitable arguments.

mod values;

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use pendula::arguments;
use pendula::asm::diagnostic::{Diagnostic, Place, Severity, plural};
use pendula::compiler::compile::{self, compile};
use pendula::compiler::nil::ast;
use pendula::compiler::nil::entries::entries;
use pendula::compiler::nil::sema::Input;
use pendula::load::{CompiledSource, Loaded, display_name};
use pendula::vm::{Config, Machine, Outcome, Program};

use crate::cli::args::Source;

/// The maximum number of argument lists that are tried.
const TRIES: usize = 300;

/// The time limit for trying them: a program that compiles slowly is not compiled many times.
const TIME: Duration = Duration::from_secs(1);

/// The step limit of each try.
const STEPS: u64 = 1_000_000;

/// The memory of such a run beyond its data, in words.
const ROOM: u64 = 1 << 16;

/// Example arguments for a Nil program that cannot be compiled without arguments; `None` for other programs, or if none
/// are found.
pub(super) fn example_arguments(source: &Source, loaded: &Loaded, options: &compile::Options) -> Option<String> {
    let (nil, f, _) = wanting(loaded, options, false)?;
    let program = nil.inputs.first()?;
    let (how, example) = example(&nil.inputs, f, |text| tried(source, &program.text, text, options));
    // These arguments fit, or come close: the compiler's remaining errors are about the function.
    matches!(how, Tried::Finished | Tried::Stopped | Tried::Refused(Reverse(0..WRONG))).then(|| example.join(","))
}

/// The Nil program, if it lacks arguments for being run (or, without `run`, for being compiled), and the function that
/// takes them.
fn wanting<'l>(
    loaded: &'l Loaded,
    options: &compile::Options,
    run: bool,
) -> Option<(&'l CompiledSource, &'l ast::Function, &'l Input)> {
    let nil = loaded.compiled.as_ref().filter(|nil| nil.wants_arguments)?;
    let errors = || loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    // Other errors of the program are reported first.
    if errors().any(|d| d.code != "P0452") || !run && errors().next().is_none() {
        return None;
    }
    let first = entries(&nil.inputs, options.entry.as_deref()).into_iter().next()?;
    Some((nil, first.function, first.input))
}

/// The message for a Nil program that cannot be run (or, without `run`, cannot be compiled) for lack of arguments;
/// `None` for other programs.
pub(super) fn missing(source: &Source, loaded: &Loaded, options: &compile::Options, run: bool) -> Option<Diagnostic> {
    let (nil, f, input) = wanting(loaded, options, run)?;
    let entry = options.entry.as_deref();
    let types = |p: &ast::Param| match &p.ty {
        Some(ty) => format!("{}: {}", p.name.text, input.text.get(ty.span.clone()).unwrap_or("")),
        None => format!("{}: any type", p.name.text),
    };
    let list = f.params.iter().map(types).collect::<Vec<_>>().join(", ");
    let place = Place { file: input.file, span: f.name.span.clone() };
    let takes = plural(f.params.len(), "argument");
    let mut help = Vec::new();
    let program = nil.inputs.first()?;
    let (how, example) = example(&nil.inputs, f, |text| tried(source, &program.text, text, options));
    let such = match how {
        Tried::Finished => "for example",
        Tried::Stopped => "for example (with these values the run does not come to its end)",
        Tried::Refused(_) => "with other values, as in",
    };
    help.push(format!("give them in this order, {such}\n  {}", command_line(f, &example)));
    let others = others(&nil.inputs, &f.name.text);
    if !others.is_empty() {
        let last = if entry.is_none() { "a run begins with the last function of the file; " } else { "" };
        help.push(format!("{last}`--entry` names another: {}", others.join(", ")));
    }
    let message = format!("`{}` takes {takes}, and none are given", f.name.text);
    Some(Diagnostic::error("P0452", message).at(place, list).help(help.join("\n")))
}

/// The program's other functions, with their parameters.
fn others(inputs: &[Input], entry: &str) -> Vec<String> {
    const MOST: usize = 6;
    let own = inputs.iter().filter(|input| !input.library).flat_map(|input| &input.tree.items);
    let mut out: Vec<String> = Vec::new();
    for item in own {
        if let ast::Item::Function(f) = item
            && f.instruction.is_none()
            && f.name.text != entry
        {
            let list: Vec<&str> = f.params.iter().map(|p| p.name.text.as_str()).collect();
            out.push(format!("{}({})", f.name.text, list.join(", ")));
        }
    }
    out.dedup();
    if out.len() > MOST {
        let all = out.len();
        out.truncate(MOST);
        out.push(format!("… {all} in all"));
    }
    out
}

/// The weight, in errors, of arguments that do not fit the function.
const WRONG: usize = 1000;

/// The result if nothing could be tried.
const REFUSED: Tried = Tried::Refused(Reverse(usize::MAX));

/// The result of trying some arguments; greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tried {
    /// The arguments do not fit the function, or the function is wrong: the number of errors, of which fewer are
    /// better.
    Refused(Reverse<usize>),
    /// The run stopped before its end, or took too long.
    Stopped,
    Finished,
}

/// Compiles the program for these arguments, and runs it.
fn tried(source: &Source, program: &str, text: &str, options: &compile::Options) -> Tried {
    let Ok((positional, keywords)) = arguments::with_keywords(text) else { return REFUSED };
    let Ok(arguments) = arguments::parse_within(&positional, &options.budget) else { return REFUSED };
    let options = compile::Options { arguments, keywords, ..options.clone() };
    let compiled = compile(display_name(&source.file), program.to_string(), &options);
    let errors = compiled.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    // A type mismatch may be caused by an argument.
    let weight = |d: &Diagnostic| match d.code {
        "P0452" => WRONG,
        "P0431" => 10,
        _ => 1,
    };
    let errors = errors.map(weight).sum();
    let Some(module) = compiled.module.filter(|_| !compiled.wants_arguments) else {
        return Tried::Refused(Reverse(errors));
    };
    let mem = module.data.len() as u64 + ROOM;
    let Ok(program) = Program::new(module, true) else { return REFUSED };
    let Ok(mut machine) = Machine::new(&program, &Config { mem: Some(mem), ..Config::default() }) else {
        return REFUSED;
    };
    match machine.run(Some(STEPS)) {
        Outcome::Finished => Tried::Finished,
        Outcome::Limit | Outcome::Trap(_) => Tried::Stopped,
    }
}

/// Example arguments for a function: the first candidates with which it runs to its end, else the best ones.
fn example(inputs: &[Input], f: &ast::Function, tried: impl Fn(&str) -> Tried) -> (Tried, Vec<String>) {
    let values: Vec<Vec<String>> = (0..).zip(&f.params).map(|(n, p)| values::of(inputs, f, p, n)).collect();
    // Keywords that must be given.
    let open = f.keywords.iter().filter(|k| !k.rest && k.default.is_none());
    let keywords: Vec<String> = open
        .filter_map(|k| Some(format!("{}={}", k.name.text, values::of(inputs, f, k, 0).into_iter().next()?)))
        .collect();
    let mut best: Option<(Tried, Vec<String>)> = None;
    let begun = Instant::now();
    for choice in choices(f, &values) {
        let positional = values.iter().zip(&choice).map(|(v, n)| v[*n].clone());
        let list: Vec<String> = positional.chain(keywords.iter().cloned()).collect();
        let how = tried(&list.join(","));
        if best.as_ref().is_none_or(|(b, _)| how > *b) {
            best = Some((how, list));
        }
        if how == Tried::Finished || begun.elapsed() > TIME {
            break;
        }
    }
    best.unwrap_or((REFUSED, Vec::new()))
}

/// Which value to take for each parameter, in the order in which the choices are tried.
fn choices(f: &ast::Function, values: &[Vec<String>]) -> Vec<Vec<usize>> {
    let mut out = Vec::new();
    let most: usize = values.iter().map(|v| v.len() - 1).sum();
    for sum in 0..=most {
        if out.len() < TRIES {
            choose(values, sum, &mut Vec::new(), &mut out, TRIES);
        }
    }
    // Untyped parameters are often arrays like the typed ones, and the first parameters often hold results.
    let last = f.params.len().saturating_sub(1);
    for kind in [ZEROS, ZERO_MATRIX] {
        let of = |n: usize| match (&f.params[n].ty, values[n].len()) {
            (None, len) if n < last => kind.min(len - 1),
            (None, len) => (kind - ZEROS + FILLED).min(len - 1),
            (Some(_), _) => 0,
        };
        out.push((0..values.len()).map(of).collect());
    }
    out
}

/// The positions of arrays among the candidate values of an untyped parameter: first those with numbers, then those
/// with zeros.
const FILLED: usize = 2;
const ZEROS: usize = 8;
const ZERO_MATRIX: usize = 9;

/// The choices of one value for each parameter whose positions have this sum, at most `most` choices. Likelier values
/// have lower positions, so smaller sums are tried first.
fn choose(values: &[Vec<String>], sum: usize, begun: &mut Vec<usize>, out: &mut Vec<Vec<usize>>, most: usize) {
    if out.len() >= most {
        return;
    }
    let Some(own) = values.get(begun.len()) else {
        out.extend((sum == 0).then(|| begun.clone()));
        return;
    };
    for n in 0..own.len().min(sum + 1) {
        begun.push(n);
        choose(values, sum - n, begun, out, most);
        begun.pop();
    }
}

/// The current command line with these arguments.
fn command_line(f: &ast::Function, arguments: &[String]) -> String {
    let mut given: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    if let Some(command) = given.first_mut()
        && matches!(command.as_str(), "asm" | "disasm" | "invert")
    {
        // These commands read the output of `compile`.
        *command = "compile".to_string();
    }
    if let Some(n) = given.iter().position(|word| word == "--args") {
        given.drain(n..given.len().min(n + 2));
    }
    given.retain(|word| !word.starts_with("--args="));
    // After `--` there are no options.
    let end = given.iter().position(|word| word == "--").unwrap_or(given.len());
    let files = given.split_off(end);
    let mut words = vec!["pendula".to_string()];
    words.extend(given.iter().cloned());
    words.extend(["--args".to_string(), arguments.join(",")]);
    // The loss of a gradient must be a single number.
    let names_loss = |a: &String| a == "--loss" || a.starts_with("--loss=");
    let first = f.params.first().zip(arguments.first());
    if let (Some("grad"), Some((p, value)), false) =
        (given.first().map(String::as_str), first, given.iter().any(names_loss))
    {
        let index = match value {
            v if v.contains(';') => "[1,1]",
            v if v.starts_with('[') => "[1]",
            _ => "",
        };
        words.extend(["--loss".to_string(), format!("{}{index}", p.name.text)]);
    }
    words.extend(files);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word quoted for the shell.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:=/@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b.nil"), "a/b.nil");
        assert_eq!(quoted("y!"), "'y!'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn choices_come_in_their_order() {
        let values = vec![vec!["a".to_string(), "b".to_string()], vec!["c".to_string(), "d".to_string()]];
        let of = |sum| {
            let mut out = Vec::new();
            choose(&values, sum, &mut Vec::new(), &mut out, 10);
            out
        };
        assert_eq!((of(0), of(1), of(2)), (vec![vec![0, 0]], vec![vec![0, 1], vec![1, 0]], vec![vec![1, 1]]));
        assert!(of(3).is_empty());
    }
}
