//! The files of `--batch`, and the arguments or data symbols that their items give values to.

use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use pendula::arguments;
use pendula::asm::diagnostic::{Sources, plural};
use pendula::compiler::compile::Options;
use pendula::compiler::nil::entries::Entry;
use pendula::compiler::nil::read;
use pendula::compiler::nil::sema::{Argument, Input, Number};
use pendula::isa::module::Module;
use pendula::items::Items;
use pendula::language::{self, Language};
use pendula::load::{self, CompiledSource, FileKind, Loaded, display_name, kind_at};
use pendula::report::Reporter;
use pendula::store;
use pendula::values::{self, Place};

use super::item_inputs::{Feed, From, Inputs, Kind};
use crate::cli::args::Source;
use crate::cli::commands::{self, RunConditions, checked, load_with};
use crate::cli::program;

/// A file of `--batch`.
struct File {
    name: Option<String>,
    items: Rc<Items>,
}

/// Which file gives which input.
struct Plan {
    /// The source of each parameter of a Nil program.
    parameters: Vec<Option<From>>,
    /// The sources of other places, by name.
    places: Vec<(String, From)>,
}

/// Loads a program and the inputs of its runs. Errors of the program are reported.
pub(crate) fn load(
    batch: &[String],
    source: &Source,
    run: RunConditions<'_>,
    reverse: bool,
    (json, reporter): (bool, &Reporter),
) -> anyhow::Result<(program::Program, Inputs)> {
    let files = files(batch)?;
    let count = files.first().map_or(0, |f| f.items.count());
    let has_arguments = kind_at(&source.file).and_then(FileKind::language).is_some_and(Language::has_arguments);
    let (program, plan, scalar) = if has_arguments {
        let (loaded, plan, scalar) = compiled(&files, source, run)?;
        (checked(loaded, json, reporter)?, plan, scalar)
    } else {
        let program = commands::load(source, Some(run), json, reporter)?;
        let plan = assembled(&program, &files, reverse)?;
        (program, plan, false)
    };
    let module = &program.module;
    let mut feeds = Vec::new();
    if let Some(nil) = &program.compiled {
        for (n, from) in plan.parameters.iter().enumerate() {
            feeds.extend(from.as_ref().map(|from| parameter(module, nil, n, from, scalar)).transpose()?);
        }
    }
    for (name, from) in &plan.places {
        feeds.push(place(&program, name, from)?);
    }
    let mut paths = vec![source.file.clone()];
    paths.extend(files.iter().map(|f| f.items.path().to_string()));
    let format = program.module.flags.format;
    Ok((program, Inputs { count, files: paths, feeds, format }))
}

/// Opens the files, and checks that all have the same number of items.
fn files(batch: &[String]) -> anyhow::Result<Vec<File>> {
    let mut out: Vec<File> = Vec::new();
    for text in batch {
        // A path may also contain `=`.
        let named = text.split_once('=').filter(|(name, _)| !name.is_empty() && !name.contains(['/', '\\']));
        let (name, path) = named.map_or((None, text.as_str()), |(name, path)| (Some(name.trim()), path.trim()));
        let items = Items::read(path.strip_prefix('@').unwrap_or(path)).with_context(|| format!("--batch {text}"))?;
        if let Some(first) = out.first() {
            let (a, b) = (&first.items, &items);
            ensure!(
                a.count() == b.count(),
                "{} has {}, {} has {}: all files of a batch have as many items",
                a.path(),
                plural(a.count(), "item"),
                b.path(),
                plural(b.count(), "item")
            );
        }
        if let Some(name) = name {
            ensure!(
                out.iter().all(|f| f.name.as_deref() != Some(name)),
                "--batch {text}: another file gives `{name}` already"
            );
        }
        out.push(File { name: name.map(str::to_string), items: Rc::new(items) });
    }
    Ok(out)
}

/// The named inputs, from named files and from files with named columns; and the files without a name.
fn given(files: &[File]) -> (Vec<(String, From)>, Vec<&File>) {
    let (mut named, mut unnamed) = (Vec::new(), Vec::new());
    for file in files {
        let whole = |column| From { items: Rc::clone(&file.items), column, named: true };
        match (&file.name, file.items.names()) {
            (Some(name), _) => named.push((name.clone(), whole(None))),
            (None, Some(names)) => {
                named.extend(names.iter().enumerate().map(|(n, name)| (name.clone(), whole(Some(n)))));
            }
            (None, None) => unnamed.push(file),
        }
    }
    (named, unnamed)
}

/// Assigns files without a name to the `free` inputs; `all_single` says whether these are all single numbers. A single
/// file whose items have one number for each free input gives each of them a column. Otherwise, each file gives the
/// next input as a whole.
fn distribute<T: Clone>(unnamed: &[&File], free: &[T], all_single: bool) -> Option<Vec<(T, From)>> {
    if let ([file], [_, _, ..]) = (unnamed, free)
        && all_single
        && *file.items.shape() == [free.len()]
    {
        let columns = free.iter().cloned().enumerate();
        return Some(
            columns
                .map(|(n, to)| (to, From { items: Rc::clone(&file.items), column: Some(n), named: false }))
                .collect(),
        );
    }
    let one =
        |(file, to): (&&File, &T)| (to.clone(), From { items: Rc::clone(&file.items), column: None, named: false });
    (unnamed.len() <= free.len()).then(|| unnamed.iter().zip(free).map(one).collect())
}

/// For a program in assembly or an object, which file gives which symbol; for a Janus program, which variable.
fn assembled(program: &program::Program, files: &[File], reverse: bool) -> anyhow::Result<Plan> {
    let (named, unnamed) = given(files);
    let mut places = named;
    if !unnamed.is_empty() {
        let marks = if reverse { "export" } else { "import" };
        let names = (&program.module, program.variables());
        let marked = language::of(names).inputs(names, reverse);
        let free: Vec<&Place> = marked.iter().filter(|p| places.iter().all(|(name, _)| *name != p.name)).collect();
        let single = free.iter().all(|p| p.count() == 1);
        let Some(more) = distribute(&unnamed, &free, single) else {
            let path = unnamed[free.len()].items.path();
            bail!("--batch {path}: the program {marks}s nothing that this could be: say what it is, `NAME={path}`");
        };
        places.extend(more.into_iter().map(|(place, from)| (place.name.clone(), from)));
    }
    Ok(Plan { parameters: Vec::new(), places })
}

/// A Nil program compiled once for arguments of the shape of an item, and the plan. The flag says whether items of a
/// single element count as numbers.
type Compiled = (Result<Loaded, load::LoadError>, Plan, bool);

fn compiled(files: &[File], source: &Source, run: RunConditions<'_>) -> anyhow::Result<Compiled> {
    let mut given = source.options.clone();
    let text = given.nil.args.take();
    let budget = commands::budget(&given);
    let options = commands::compile::options(&given)?;
    // Without arguments, the files must give every parameter.
    let arguments = text.map(|text| arguments::parse_within(&text, &budget)).transpose().context("--args")?;
    let arguments = arguments.map(|list| list.into_iter().map(|a| (!is_open(&a)).then_some(a)).collect::<Vec<_>>());
    let bytes = load::read_source(&source.file, &budget)?;
    let program = load::text_of(&source.file, bytes)?;
    let (inputs, _) = read(&mut Sources::default(), display_name(&source.file), program, &budget, false);
    let entries = entries(&inputs, given.nil.entry.as_deref());
    let Some(parameters) = chosen(&entries, arguments.as_deref(), files) else {
        // There is nothing to run; the compiler's messages say why.
        let plan = Plan { parameters: Vec::new(), places: Vec::new() };
        return Ok((load_with(source, &options, Some(run))?, plan, false));
    };
    let plan = assign(parameters, arguments.as_deref(), files)?;
    let ways = ways(&plan)?;
    let mut first = None;
    for way in ways {
        let of = |(n, from): (usize, &Option<From>)| match from {
            Some(from) => way.argument(from).map(Some),
            None => Ok(arguments.as_ref().and_then(|list| list.get(n)).cloned().flatten()),
        };
        let arguments = plan.parameters.iter().enumerate().map(of).collect::<anyhow::Result<Vec<_>>>()?;
        let arguments = arguments.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default();
        let loaded = load_with(source, &Options { arguments, ..options.clone() }, Some(run))?;
        if loaded.as_ref().is_ok_and(|l| l.module.is_some()) {
            return Ok((loaded, plan, way.scalar));
        }
        first.get_or_insert(loaded);
    }
    let loaded = first.context("nothing was compiled")?;
    Ok((loaded, plan, false))
}

/// How to read items whose type is ambiguous.
#[derive(Clone, Copy)]
struct ReadAs {
    /// Items of one element are numbers, not arrays.
    scalar: bool,
    /// A column of whole doubles, one of several columns, has integers.
    whole: bool,
}

/// The possible readings of the items, the likeliest first.
fn ways(plan: &Plan) -> anyhow::Result<Vec<ReadAs>> {
    let froms = || plan.parameters.iter().flatten();
    let one = froms().any(|from| from.column.is_none() && *from.items.shape() == [1]);
    let mut whole = false;
    for from in froms() {
        whole |= from.is_whole()?;
    }
    let mut out = vec![ReadAs { scalar: false, whole: false }];
    out.extend(one.then_some(ReadAs { scalar: true, whole: false }));
    out.extend(whole.then_some(ReadAs { scalar: one, whole: true }));
    Ok(out)
}

impl ReadAs {
    /// The argument from which the compiler infers the items' type.
    fn argument(self, from: &From) -> anyhow::Result<Argument> {
        let item = from.items.telling(from.column)?;
        let argument = from.items.part(item..item + 1)?.argument(item, from.column, self.scalar);
        Ok(match argument {
            Argument::Number(Number::Float(x)) if self.whole && from.is_whole()? => {
                Argument::Number(Number::Int(x as i64))
            }
            argument => argument,
        })
    }
}

/// True if an argument is left to a file: `_`.
fn is_open(argument: &Argument) -> bool {
    matches!(argument, Argument::Number(Number::Text(text)) if text == "_")
}

/// The parameters of the possible entry functions.
fn entries(inputs: &[Input], entry: Option<&str>) -> Vec<Vec<String>> {
    let names = |e: Entry<'_>| e.function.params.iter().map(|p| p.name.text.clone()).collect();
    pendula::compiler::nil::entries::entries(inputs, entry).into_iter().map(names).collect()
}

/// The number of a parameter, given by its name or by its position from 1.
fn position(parameters: &[String], name: &str) -> Option<usize> {
    let by_name = parameters.iter().position(|p| p == name);
    let number = || name.parse::<usize>().ok()?.checked_sub(1).filter(|n| *n < parameters.len());
    by_name.or_else(number)
}

/// Chooses among several definitions: those whose number of parameters fits come first, then those with the most of the
/// given names; of equals, the first one.
fn chosen<'e>(
    entries: &'e [Vec<String>],
    arguments: Option<&[Option<Argument>]>,
    files: &[File],
) -> Option<&'e Vec<String>> {
    let (named, unnamed) = given(files);
    let known = |p: &[String]| named.iter().filter(|(name, _)| position(p, name).is_some()).count();
    let fits = |p: &[String]| match arguments {
        Some(list) => p.len() == list.len(),
        None => {
            let left = p.len().saturating_sub(known(p));
            left == unnamed.len() || matches!(&unnamed[..], [file] if *file.items.shape() == [left])
        }
    };
    // `max_by_key` returns the last maximum, so the order is reversed.
    entries.iter().rev().max_by_key(|p| (fits(p), known(p)))
}

/// Determines which file gives which parameter.
fn assign(parameters: &[String], arguments: Option<&[Option<Argument>]>, files: &[File]) -> anyhow::Result<Plan> {
    let list = parameters.join(", ");
    if let Some(arguments) = arguments {
        ensure!(
            arguments.len() == parameters.len(),
            "--args gives {} for {} ({list}): write `_` for those that --batch gives",
            plural(arguments.len(), "argument"),
            plural(parameters.len(), "parameter")
        );
    }
    let (named, unnamed) = given(files);
    let mut plan = Plan { parameters: vec![None; parameters.len()], places: Vec::new() };
    for (name, from) in named {
        match position(parameters, &name) {
            Some(n) => {
                ensure!(plan.parameters[n].is_none(), "--batch gives the argument `{}` twice", parameters[n]);
                plan.parameters[n] = Some(from);
            }
            None => plan.places.push((name, from)),
        }
    }
    let left: Vec<usize> = (0..parameters.len()).filter(|n| plan.parameters[*n].is_none()).collect();
    let open = |n: &usize| arguments.is_none_or(|list| list[*n].is_none());
    let mut free: Vec<usize> = left.iter().copied().filter(open).collect();
    if free.is_empty() && !unnamed.is_empty() {
        // If all parameters have values already, a file replaces the first one.
        free.extend(left.first());
    }
    let Some(more) = distribute(&unnamed, &free, true) else {
        let path = unnamed[free.len()].items.path();
        bail!(
            "--batch {path}: which of the arguments {list} is this? Write `_` for it in --args, or name it, `NAME={path}`"
        );
    };
    for (n, from) in more {
        plan.parameters[n] = Some(from);
    }
    let given = |n: usize| arguments.is_some_and(|list| list[n].is_some()) || plan.parameters[n].is_some();
    if let Some(n) = (0..parameters.len()).find(|n| !given(*n)) {
        let of = |n: usize| if plan.parameters[n].is_some() { "_".to_string() } else { parameters[n].to_uppercase() };
        let example = (0..parameters.len()).map(of).collect::<Vec<_>>().join(",");
        bail!(
            "nothing gives the argument `{}` of ({list}): give it with --args, and write `_` for those that --batch gives: `--args {example}`",
            parameters[n]
        );
    }
    Ok(plan)
}

/// A vector that grows among these places.
fn growing(places: &[Place]) -> Option<&str> {
    places.iter().find(|p| p.growing.is_some()).map(|p| p.name.as_str())
}

/// The feed of a parameter of a Nil program.
fn parameter(module: &Module, nil: &CompiledSource, n: usize, from: &From, scalar: bool) -> anyhow::Result<Feed> {
    let (Some(names), Some(ty)) = (nil.parameters.get(n), nil.types.get(n)) else {
        bail!("the program has no parameter {}", n + 1);
    };
    let places: Arc<[Place]> = names.iter().map(|name| values::find(module, name)).collect::<Result<_, _>>()?;
    let name = names.first().map_or("", |name| name.split('.').next().unwrap_or(name)).to_string();
    if let Some(one) = growing(&places) {
        bail!("`{one}` grows: its items would have several lengths, and they are not read from files");
    }
    Ok(Feed { name, places, from: from.clone(), kind: Kind::Parameter { ty: ty.clone(), scalar } })
}

/// The feed of a data symbol, a variable, an element or a register.
fn place(program: &program::Program, name: &str, from: &From) -> anyhow::Result<Feed> {
    let place = store::find(&program.module, program.variables(), name);
    let place = place.with_context(|| format!("--batch {}", from.items.path()))?;
    if let Some(one) = growing(std::slice::from_ref(&place)) {
        bail!("`{one}` grows: its items would have several lengths, and they are not read from files");
    }
    Ok(Feed { name: name.to_string(), places: Arc::new([place]), from: from.clone(), kind: Kind::Words })
}
