//! Results of a batch in files: `--save`.

use anyhow::{Context, bail, ensure};
use pendula::arrays::{Column, NpyOutput, row_by_row};
use pendula::compiler::lower::ArgumentKind;
use pendula::compiler::nil::types::Type;
use pendula::files::Output;
use pendula::grad::names;
use pendula::isa::num::convert::to_f64;
use pendula::isa::num::{Env, Format};
use pendula::isa::text::number;
use pendula::isa::types::Ty;
use pendula::values::Place;

use crate::cmd::Program;

/// What stands for an integer, or for a raw word, of an item that has none.
const MISSING: u64 = 1 << 63;

/// A result that every item has.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    /// Its names, any of which may be given; the first heads its column.
    pub(crate) names: Vec<String>,
    /// How its words are read.
    pub(crate) ty: Ty,
    /// The names of its words.
    labels: Vec<String>,
    /// The lengths of its dimensions.
    shape: Vec<usize>,
    /// Which word comes at which place of an array in row-major order.
    order: Vec<usize>,
    /// Whether its words are real and imaginary parts by turns.
    complex: bool,
}

impl Saved {
    /// A place of a program, as an array of the shape that its argument has.
    pub(crate) fn of(place: &Place, program: &Program) -> Saved {
        let count = place.count() as usize;
        let labels = names(place);
        // A single word is no array.
        let shape = if labels.len() == 1 && labels[0] == place.name { Vec::new() } else { vec![count] };
        let mut out = Saved {
            names: vec![place.name.clone()],
            ty: place.ty,
            labels,
            shape,
            order: (0..count).collect(),
            complex: false,
        };
        if let Some(variable) = &place.variable {
            out.shape = variable.dims().iter().map(|n| *n as usize).collect();
            out.labels = elements(&place.name, variable.dims());
            return out;
        }
        let Some(nil) = &program.nil else { return out };
        let Some(argument) = nil.arguments.iter().find(|a| a.name == place.name) else { return out };
        let ArgumentKind::Array { lens, words, .. } = &argument.kind else { return out };
        let lens: Vec<usize> = lens.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect();
        let elements: usize = lens.iter().product();
        let per = words.len().checked_div(elements).unwrap_or(1);
        let of_complex = |ty: &Type| matches!(ty, Type::Array { element, .. } if matches!(**element, Type::Complex(_)));
        let owner = nil.parameters.iter().position(|p| p.contains(&place.name));
        out.complex = per == 2 && owner.and_then(|n| nil.types.get(n)).is_some_and(of_complex);
        out.order = row_by_row(&lens).into_iter().flat_map(|at| (0..per).map(move |n| at * per + n)).collect();
        out.shape = lens;
        if per > 1 && !out.complex {
            out.shape.push(per);
        }
        out
    }

    /// The same shape under other names and of another type: a gradient.
    pub(crate) fn derivative(mut self, names: Vec<String>, ty: Ty) -> Saved {
        let own = std::mem::replace(&mut self.names, names);
        let (first, own) = (self.names.first().cloned().unwrap_or_default(), own.first().cloned().unwrap_or_default());
        for label in &mut self.labels {
            *label = format!("{first}{}", label.strip_prefix(&own).unwrap_or(label));
        }
        self.ty = ty;
        self
    }

    /// A matrix of doubles with a row and a column for each of these.
    pub(crate) fn square(name: &str, words: &[String]) -> Saved {
        let labels = words.iter().flat_map(|a| words.iter().map(move |b| format!("{name}[{a},{b}]"))).collect();
        let order = (0..words.len() * words.len()).collect();
        let shape = vec![words.len(); 2];
        Saved { names: vec![name.to_string()], ty: Ty::F, labels, shape, order, complex: false }
    }

    /// With a further axis before its own, one place of which for each of the names that come before.
    pub(crate) fn times(mut self, outer: &[String]) -> Saved {
        let words = self.labels.len();
        self.order = (0..outer.len()).flat_map(|n| self.order.iter().map(move |at| n * words + at)).collect();
        self.labels = outer.iter().flat_map(|name| self.labels.iter().map(move |l| format!("{name}:{l}"))).collect();
        self.shape.insert(0, outer.len());
        self
    }
}

/// The elements of an array of Janus by name, in their order: `m[0][0]`, `m[0][1]`.
fn elements(name: &str, dims: &[u64]) -> Vec<String> {
    match dims.split_first() {
        None => vec![name.to_string()],
        Some((n, rest)) => (0..*n).flat_map(|i| elements(&format!("{name}[{i}]"), rest)).collect(),
    }
}

/// A result of an item: the words of each of the results.
pub(crate) type Words = Vec<Vec<u64>>;

/// What is saved, and where.
pub(crate) struct Files {
    results: Vec<Saved>,
    /// Each with the results that it gets.
    files: Vec<(String, Vec<usize>)>,
    raw: bool,
    format: Format,
}

/// The files that are being written. They get their names in the end.
pub(crate) struct Writers(Vec<Writer>);

enum Writer {
    Csv(Box<csv::Writer<Output>>),
    Npy(NpyOutput),
}

impl Files {
    /// What `--save` asks for, of these results. Sees that the files can be written before anything is run.
    pub(crate) fn new(
        save: &[String],
        results: Vec<Saved>,
        raw: bool,
        format: Format,
        read: &[String],
        items: usize,
    ) -> anyhow::Result<(Files, Writers)> {
        let mut files: Vec<(String, Vec<usize>)> = Vec::new();
        for text in save {
            let named = text.split_once('=').filter(|(name, _)| {
                // Names of gradients have a slash, and so have paths.
                !name.is_empty() && (!name.contains('/') || results.iter().any(|r| r.names.iter().any(|n| n == name)))
            });
            let list = || results.iter().filter_map(|r| r.names.last().cloned()).collect::<Vec<_>>().join(", ");
            let (which, path) = match named {
                Some((name, path)) => {
                    let found = results.iter().position(|r| r.names.iter().any(|n| n == name.trim()));
                    let found = found.with_context(|| {
                        let list = list();
                        let known = if list.is_empty() { String::new() } else { format!("; there are {list}") };
                        format!("--save {text}: there is no result `{name}`{known}; --show names others")
                    })?;
                    (vec![found], path.trim())
                }
                None => ((0..results.len()).collect(), text.as_str()),
            };
            let extension = std::path::Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("");
            match extension.to_ascii_lowercase().as_str() {
                "csv" => {}
                _ if path == "-" => {}
                "npy" => match which.len() {
                    1 => {}
                    0 => bail!("--save {text}: the program has no results; name some with --show"),
                    _ => bail!(
                        "--save {text}: a .npy file holds one result, and there are {}; say which, `NAME={path}`",
                        list()
                    ),
                },
                _ => bail!(
                    "--save {text}: files for results end in `.npy` or `.csv`, and `-` stands for standard output"
                ),
            }
            let same = |input: &String| {
                std::fs::canonicalize(input).ok().is_some_and(|a| std::fs::canonicalize(path).ok() == Some(a))
            };
            ensure!(
                !read.iter().any(same),
                "--save {text}: the file is read, too, and would be lost; give another one"
            );
            ensure!(files.iter().all(|(other, _)| other != path), "--save {text}: the file is written already");
            files.push((path.to_string(), which));
        }
        let files = Files { results, files, raw, format };
        let begun = files.files.iter().map(|(path, which)| files.begin(path, which, items));
        let writers = begun.collect::<anyhow::Result<_>>()?;
        Ok((files, Writers(writers)))
    }

    /// Whether there is anything to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether a result goes to a file.
    pub(crate) fn has(&self, n: usize) -> bool {
        self.files.iter().any(|(_, which)| which.contains(&n))
    }

    /// How many words the results of an item have.
    pub(crate) fn words(&self) -> usize {
        self.results.iter().map(|r| r.order.len()).sum()
    }

    fn begin(&self, path: &str, which: &[usize], items: usize) -> anyhow::Result<Writer> {
        if is_csv(path) {
            let file = if path == "-" { Ok(Output::stdout()) } else { Output::create(path) };
            let file = file.with_context(|| format!("--save: cannot write {path}"))?;
            let mut file = csv::Writer::from_writer(file);
            let labels = which.iter().flat_map(|n| self.results[*n].labels.iter().map(String::as_str));
            let header = std::iter::once("item").chain(labels).chain(["error"]);
            file.write_record(header).with_context(|| format!("--save: cannot write {path}"))?;
            return Ok(Writer::Csv(Box::new(file)));
        }
        let Saved { shape, complex, .. } = &self.results[which[0]];
        let mut lens = vec![items];
        lens.extend(shape);
        if self.raw && *complex {
            lens.push(2);
        }
        let none = self.column(which[0], &[]);
        Ok(Writer::Npy(NpyOutput::create(path, &lens, &none).context("--save")?))
    }

    fn text(&self, word: u64, ty: Ty) -> String {
        if self.raw { format!("{word:#018x}") } else { number(word, ty, self.format) }
    }

    /// The elements of a result of some items.
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
    /// Writes the results of the items from number `begin` on, of each either its words or why it failed.
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

    /// Ends the files, which have their names then.
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
    let width: usize = which.iter().map(|n| files.results[*n].labels.len()).sum();
    for (n, result) in items.iter().enumerate() {
        let mut record = vec![(begin + n).to_string()];
        match result {
            Ok(words) => {
                for n in which {
                    record.extend(words[*n].iter().map(|w| files.text(*w, files.results[*n].ty)));
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
