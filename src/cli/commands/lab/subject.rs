//! The programs of the lab: files, and workloads of the benchmark suite with their inputs.

use pendula::compiler::janus::store::Variable;
use pendula::hw_model::Technology;
use pendula::isa::Module;
use pendula::load::{FileKind, kind_at};
use pendula::report::Reporter;
use pendula_bench::cases::{Size, chosen, module};

use crate::cli::args::{LabPrograms, Source};
use crate::cli::commands::load;
use crate::cli::definitions::IsaFiles;
use crate::cli::session;

/// The technologies by which programs are priced if none is named.
const DEFAULT: [&str; 4] = ["acmos22-fdsoi", "cmos45", "aqfp", "landauer"];

/// A program.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) module: Module,
    pub(super) variables: Option<Vec<Variable>>,
}

/// The programs that are asked for. Those in Nil can use these definitions; those in assembly name their own.
pub(super) fn subjects(
    sources: impl Iterator<Item = Source>,
    definitions: Option<&IsaFiles>,
    programs: &LabPrograms,
    reporter: &Reporter,
) -> anyhow::Result<Vec<Subject>> {
    let mut out = Vec::new();
    for mut source in sources {
        if let (Some(definitions), Some(FileKind::Nil)) = (definitions, kind_at(&source.file)) {
            source.options.definitions = definitions.clone();
        }
        let run = crate::cli::commands::RunConditions { given: &programs.given, input: None };
        let loaded = load(&source, Some(run), programs.json, &reporter.about(&source.file))?;
        let variables = loaded.variables().map(<[Variable]>::to_vec);
        out.push(Subject { name: source.file.clone(), module: loaded.module, variables });
    }
    let all = programs.suite.iter().any(|name| name == "all");
    if !programs.suite.is_empty() {
        for name in chosen(if all { &[] } else { &programs.suite })? {
            out.push(Subject { name: name.to_string(), module: module(name, Size::Quick)?, variables: None });
        }
    }
    anyhow::ensure!(!out.is_empty(), "name programs, or workloads with --suite NAMES");
    Ok(out)
}

/// The technologies of these names.
pub(super) fn technologies(names: &[String]) -> anyhow::Result<Vec<Technology>> {
    let names = if names.is_empty() { DEFAULT.map(str::to_string).to_vec() } else { names.to_vec() };
    names.iter().map(|name| session::technology(name.trim())).collect()
}
