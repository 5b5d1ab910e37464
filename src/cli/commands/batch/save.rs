//! Saves results to files, `--save`. In a batch, the first axis counts the items; the results of a single run have
//! their own shape.

use anyhow::{Context, bail, ensure};
use pendula::arrays::{Column, NpyOutput};
use pendula::files::Output;
use pendula::grad::{Options, Report};
use pendula::isa::module::Module;
use pendula::isa::num::convert::to_f64;
use pendula::isa::num::{Env, Format};
use pendula::isa::text::number;
use pendula::isa::types::Ty;
use pendula::layout::Layouts;
use pendula::values::Place;

use crate::cli::args::{Grad, Run};

/// The word that replaces a missing integer or raw word of an item.
const MISSING: u64 = 1 << 63;

/// A result that every item has.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    /// The accepted names; the first one is the column's heading.
    pub(crate) names: Vec<String>,
    /// The type of its words.
    pub(crate) ty: Ty,
    /// The names of its words.
    labels: Vec<String>,
    /// The lengths of its dimensions.
    shape: Vec<usize>,
    /// The position of each word of the array in row-major order.
    order: Vec<usize>,
    /// True if its words are alternately real and imaginary parts.
    complex: bool,
    /// What it is if its length varies: a stack of Janus, or a vector that grows.
    varies: Option<&'static str>,
}

impl Saved {
    /// A place of a program, as an array with the shape of its argument.
    pub(crate) fn of(place: &Place, layouts: &Layouts) -> Saved {
        let count = place.count() as usize;
        let labels = place.words();
        // A single word is not an array.
        let shape = if labels.len() == 1 && labels[0] == place.name { Vec::new() } else { vec![count] };
        let mut out = Saved {
            names: vec![place.name.clone()],
            ty: place.ty,
            labels,
            shape,
            order: (0..count).collect(),
            complex: false,
            varies: match place.growing {
                Some(_) => Some("a vector that grows"),
                None => place.is_stack().then_some("a stack"),
            },
        };
        if let Some(variable) = &place.variable {
            out.shape = variable.dims().iter().map(|n| *n as usize).collect();
            out.labels = elements(&place.name, variable.dims());
            return out;
        }
        let Some(layout) = layouts.get(place) else { return out };
        out.complex = layout.complex;
        out.order.clone_from(&layout.order);
        out.shape.clone_from(&layout.lens);
        if layout.per > 1 && !layout.complex {
            out.shape.push(layout.per);
        }
        out
    }

    /// The same shape under other names and with another type: a gradient.
    pub(crate) fn derivative(mut self, names: Vec<String>, ty: Ty) -> Saved {
        let own = std::mem::replace(&mut self.names, names);
        let (first, own) = (self.names.first().cloned().unwrap_or_default(), own.first().cloned().unwrap_or_default());
        for label in &mut self.labels {
            *label = format!("{first}{}", label.strip_prefix(&own).unwrap_or(label));
        }
        (self.ty, self.varies) = (ty, None);
        self
    }

    /// A matrix of doubles with a row and a column for each of these words.
    pub(crate) fn square(name: &str, words: &[String]) -> Saved {
        let labels = words.iter().flat_map(|a| words.iter().map(move |b| format!("{name}[{a},{b}]"))).collect();
        let order = (0..words.len() * words.len()).collect();
        let shape = vec![words.len(); 2];
        Saved { names: vec![name.to_string()], ty: Ty::F, labels, shape, order, complex: false, varies: None }
    }

    /// Adds a new first axis, with one position for each of these names.
    pub(crate) fn times(mut self, outer: &[String]) -> Saved {
        let words = self.labels.len();
        self.order = (0..outer.len()).flat_map(|n| self.order.iter().map(move |at| n * words + at)).collect();
        self.labels = outer.iter().flat_map(|name| self.labels.iter().map(move |l| format!("{name}:{l}"))).collect();
        self.shape.insert(0, outer.len());
        self
    }
}

/// The names of a Janus array's elements, in their order: `m[0][0]`, `m[0][1]`.
fn elements(name: &str, dims: &[u64]) -> Vec<String> {
    match dims.split_first() {
        None => vec![name.to_string()],
        Some((n, rest)) => (0..*n).flat_map(|i| elements(&format!("{name}[{i}]"), rest)).collect(),
    }
}

/// The words of each result of an item.
pub(crate) type Words = Vec<Vec<u64>>;

/// Which results are saved, and where.
pub(crate) struct Files {
    results: Vec<Saved>,
    /// Each file with the indices of its results.
    files: Vec<(String, Vec<usize>)>,
    raw: bool,
    format: Format,
    /// The number of items; none for a single run.
    items: Option<usize>,
}

/// The results by name.
fn list(results: &[Saved]) -> String {
    results.iter().filter_map(|r| r.names.last().cloned()).collect::<Vec<_>>().join(", ")
}

impl<'a> SaveOptions<'a> {
    /// The options of `pendula run`, which reads these files.
    pub(crate) fn of_run(args: &'a Run, module: &Module, read: &'a [String], items: Option<usize>) -> SaveOptions<'a> {
        let (save, format) = (&args.many.save, module.flags.format);
        SaveOptions { save, raw: args.hex, json: args.json, format, read, items, names: "--show" }
    }

    /// The options of `pendula grad`, which reads these files.
    pub(crate) fn of_grad(
        args: &'a Grad,
        module: &Module,
        read: &'a [String],
        items: Option<usize>,
    ) -> SaveOptions<'a> {
        let (save, format) = (&args.many.save, module.flags.format);
        SaveOptions { save, raw: args.hex, json: args.json, format, read, items, names: "--wrt" }
    }

    /// Checks that a file can hold these results.
    fn fits(&self, text: &str, path: &str, which: &[usize], results: &[Saved]) -> anyhow::Result<()> {
        let extension = std::path::Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("");
        let nothing = || format!("--save {text}: the program has no results; name some with --show");
        if path == "-" || extension.eq_ignore_ascii_case("csv") {
            ensure!(
                !(path == "-" && self.json),
                "--json and `--save -` both write to standard output: name a file for the results"
            );
            ensure!(self.items.is_some() || !which.is_empty(), nothing());
            if let (None, [one]) = (self.items, which) {
                let Saved { names, shape, .. } = &results[*one];
                ensure!(
                    shape.len() < 3,
                    "--save {text}: a .csv file has rows and columns, and `{}` has {} dimensions; save it as .npy",
                    names[0],
                    shape.len()
                );
            }
        } else if extension.eq_ignore_ascii_case("npy") {
            ensure!(!which.is_empty(), nothing());
            ensure!(
                which.len() == 1,
                "--save {text}: a .npy file holds one result, and there are {}; say which, `NAME={path}`",
                list(results)
            );
        } else {
            bail!("--save {text}: files for results end in `.npy` or `.csv`, and `-` stands for standard output");
        }
        if let Some((varying, what)) = which.iter().map(|n| &results[*n]).find_map(|r| Some((r, r.varies?))) {
            let name = &varying.names[0];
            bail!(
                "--save {text}: `{name}` is {what}, whose length varies: `--json` prints it, and --show names other results"
            );
        }
        let same = |input: &String| {
            std::fs::canonicalize(input).ok().is_some_and(|a| std::fs::canonicalize(path).ok() == Some(a))
        };
        ensure!(
            !self.read.iter().any(same),
            "--save {text}: the file is read, too, and would be lost; give another one"
        );
        Ok(())
    }
}

/// The files being written. They get their names at the end.
pub(crate) struct Writers(Vec<Writer>);

enum Writer {
    Csv(Box<csv::Writer<Output>>),
    Npy(NpyOutput),
}

/// The command line's options for files of results.
pub(crate) struct SaveOptions<'a> {
    /// The values of `--save`.
    pub(crate) save: &'a [String],
    /// True if raw words are requested.
    pub(crate) raw: bool,
    /// True if a JSON object goes to standard output.
    pub(crate) json: bool,
    pub(crate) format: Format,
    /// The files that are being read.
    pub(crate) read: &'a [String],
    /// The number of items; none for a single run.
    pub(crate) items: Option<usize>,
    /// The option that would name other results.
    pub(crate) names: &'static str,
}

impl Files {
    /// Parses `--save` for these results. Opens the files, so that errors in them appear before anything runs.
    pub(crate) fn new(asked: &SaveOptions<'_>, results: Vec<Saved>) -> anyhow::Result<(Files, Writers)> {
        let mut files: Vec<(String, Vec<usize>)> = Vec::new();
        for text in asked.save {
            let named = text.split_once('=').filter(|(name, _)| {
                // Names of gradients contain a slash, and so do paths.
                !name.is_empty() && (!name.contains('/') || results.iter().any(|r| r.names.iter().any(|n| n == name)))
            });
            let (which, path) = match named {
                Some((name, path)) => {
                    let found = results.iter().position(|r| r.names.iter().any(|n| n == name.trim()));
                    let found = found.with_context(|| {
                        let list = list(&results);
                        let known = if list.is_empty() { String::new() } else { format!("; there are {list}") };
                        format!("--save {text}: there is no result `{name}`{known}; {} names others", asked.names)
                    })?;
                    (vec![found], path.trim())
                }
                None => ((0..results.len()).collect(), text.as_str()),
            };
            asked.fits(text, path, &which, &results)?;
            ensure!(
                files.iter().all(|(other, _)| other != path),
                "--save {text}: the file is already the target of another result"
            );
            files.push((path.to_string(), which));
        }
        let files = Files { results, files, raw: asked.raw, format: asked.format, items: asked.items };
        let begun = files.files.iter().map(|(path, which)| files.begin(path, which));
        let writers = begun.collect::<anyhow::Result<_>>()?;
        Ok((files, Writers(writers)))
    }

    /// True if there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// True if a result goes to a file.
    pub(crate) fn has(&self, n: usize) -> bool {
        self.files.iter().any(|(_, which)| which.contains(&n))
    }

    /// The number of words of an item's results.
    pub(crate) fn words(&self) -> usize {
        self.results.iter().map(|r| r.order.len()).sum()
    }

    fn begin(&self, path: &str, which: &[usize]) -> anyhow::Result<Writer> {
        if is_csv(path) {
            let file = if path == "-" { Ok(Output::stdout()) } else { Output::create(path) };
            let file = file.with_context(|| format!("--save: cannot write {path}"))?;
            let mut file = csv::Writer::from_writer(file);
            let labels = which.iter().flat_map(|n| self.results[*n].labels.iter().map(String::as_str));
            let header: Vec<&str> = match self.items {
                Some(_) => std::iter::once("item").chain(labels).chain(["error"]).collect(),
                None if which.len() > 1 => labels.collect(),
                // A single array has no header, so that it can be read back unchanged.
                None => Vec::new(),
            };
            if !header.is_empty() {
                file.write_record(header).with_context(|| format!("--save: cannot write {path}"))?;
            }
            return Ok(Writer::Csv(Box::new(file)));
        }
        let Saved { shape, complex, .. } = &self.results[which[0]];
        let mut lens: Vec<usize> = self.items.into_iter().chain(shape.iter().copied()).collect();
        if self.raw && *complex {
            lens.push(2);
        }
        let none = self.column(which[0], &[]);
        Ok(Writer::Npy(NpyOutput::create(path, &lens, &none).context("--save")?))
    }

    fn text(&self, word: u64, ty: Ty) -> String {
        if self.raw { format!("{word:#018x}") } else { number(word, ty, self.format) }
    }

    /// The elements of a result, for some items.
    fn column(&self, n: usize, items: &[Result<&Words, String>]) -> Column {
        let Saved { ty, order, complex, .. } = &self.results[n];
        let all = || items.iter().flat_map(|item| order.iter().map(|at| item.as_ref().ok().map(|words| words[n][*at])));
        let env = Env { format: self.format, ..Env::default() };
        if self.raw {
            Column::Raw(all().map(|w| w.unwrap_or(MISSING)).collect())
        } else if *ty == Ty::Int {
            Column::Int(all().map(|w| w.unwrap_or(MISSING).cast_signed()).collect())
        } else {
            let numbers: Vec<f64> = all().map(|w| w.map_or(f64::NAN, |w| to_f64(env, *ty, w))).collect();
            if *complex { Column::Complex(numbers.as_chunks::<2>().0.to_vec()) } else { Column::Float(numbers) }
        }
    }
}

impl Writers {
    /// Writes the results of the items from number `begin` on; for each item, either its words or why it failed.
    pub(crate) fn part(&mut self, files: &Files, begin: usize, items: &[Result<&Words, String>]) -> anyhow::Result<()> {
        for (writer, (path, which)) in self.0.iter_mut().zip(&files.files) {
            match writer {
                Writer::Csv(file) => {
                    rows(file, files, which, begin, items).with_context(|| format!("cannot write {path}"))?;
                }
                Writer::Npy(file) => file.push(&files.column(which[0], items))?,
            }
        }
        Ok(())
    }

    /// Completes the files and gives them their names.
    pub(crate) fn finish(self, files: &Files) -> anyhow::Result<()> {
        for (writer, (path, _)) in self.0.into_iter().zip(&files.files) {
            match writer {
                Writer::Csv(file) => {
                    let file = file.into_inner().map_err(csv::IntoInnerError::into_error);
                    file.and_then(Output::finish).with_context(|| format!("cannot write {path}"))?;
                }
                Writer::Npy(file) => file.finish()?,
            }
        }
        Ok(())
    }
}

fn is_csv(path: &str) -> bool {
    path == "-" || path.to_ascii_lowercase().ends_with("csv")
}

fn rows(
    file: &mut csv::Writer<Output>,
    files: &Files,
    which: &[usize],
    begin: usize,
    items: &[Result<&Words, String>],
) -> anyhow::Result<()> {
    let text = |words: &Words, n: usize, at: usize| files.text(words[n][at], files.results[n].ty);
    if let (None, [Ok(words)]) = (files.items, items) {
        let Saved { shape, order, complex, .. } = &files.results[which[0]];
        // Several results form a single row, like an item of a batch.
        let width = match (which.len(), &shape[..]) {
            (1, [_]) => 1,
            (1, [_, columns, ..]) => *columns,
            _ => usize::MAX,
        };
        let width = width.saturating_mul(if *complex { 2 } else { 1 });
        let cells: Vec<String> = match which {
            [one] => order.iter().map(|at| text(words, *one, *at)).collect(),
            _ => which.iter().flat_map(|n| (0..words[*n].len()).map(|at| text(words, *n, at))).collect(),
        };
        for row in cells.chunks(width.max(1)) {
            file.write_record(row)?;
        }
        return Ok(());
    }
    let width: usize = which.iter().map(|n| files.results[*n].labels.len()).sum();
    for (n, result) in items.iter().enumerate() {
        let mut record = vec![(begin + n).to_string()];
        match result {
            Ok(words) => {
                for n in which {
                    record.extend((0..words[*n].len()).map(|at| text(words, *n, at)));
                }
                record.push(String::new());
            }
            Err(why) => {
                record.resize(width + 1, String::new());
                record.push(why.clone());
            }
        }
        file.write_record(&record)?;
    }
    Ok(())
}

/// The results that can be saved: the loss, the derivatives, and second derivatives.
pub(crate) fn gradient_results(loss: &Place, wrt: &[Place], options: &Options, layouts: &Layouts) -> Vec<Saved> {
    let mut out = vec![Saved::of(loss, layouts)];
    for input in wrt {
        let names_of = vec![format!("∂/∂{}", input.name), format!("d/d{}", input.name), input.name.clone()];
        // The types are those of `pendula::grad`: derivatives with logarithms are doubles.
        let ty =
            if loss.ty == Ty::L { Ty::F } else { input.ty.gradient().filter(|_| input.ty != Ty::L).unwrap_or(Ty::F) };
        let one = Saved::of(input, layouts).derivative(names_of, ty);
        out.push(if options.jacobian && loss.words()[0] != loss.name { one.times(&loss.words()) } else { one });
    }
    if options.hessian {
        let words: Vec<String> = wrt.iter().flat_map(Place::words).collect();
        out.push(Saved::square("hessian", &words));
    }
    out
}

/// The words to be saved, in the order of [`gradient_results`].
pub(crate) fn gradient_words(found: &Report, raw: bool) -> Words {
    let mut out = vec![found.losses.iter().map(|loss| loss.value).collect()];
    let inputs = found.losses.first().map_or(0, |loss| loss.gradients.len());
    let nothing = f64::NAN.to_bits();
    for n in 0..inputs {
        let each = found.losses.iter().flat_map(|loss| {
            let g = &loss.gradients[n];
            let derivative =
                |(word, d): (&u64, &Option<(u64, Ty)>)| if raw { *word } else { d.map_or(nothing, |d| d.0) };
            g.words.iter().zip(&g.derivatives).map(derivative)
        });
        out.push(each.collect());
    }
    let second = found.dense_hessian();
    let second = second.as_ref().map(|rows| rows.iter().flatten().map(|x| x.map_or(nothing, f64::to_bits)));
    out.extend(second.map(Iterator::collect));
    out
}
