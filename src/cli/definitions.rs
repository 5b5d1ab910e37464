//! The instructions that a command knows: the table's, and those that files of definitions add.

use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use pendula::asm::assemble::Options;
use pendula::asm::definitions;
use pendula::isa::extension::Definition;
use pendula::isa::inst::Kind;
use pendula::isa::{Format, mnemonic};
use pendula::report::Reporter;

use crate::cli::output::report;
use crate::cli::program::Program;
use crate::cli::status::{Reported, Status};

/// Files of definitions.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct IsaFiles {
    /// Read definitions of instructions from a file (repeatable).
    ///
    /// Programs in assembly and in Nil can use what it defines; of a program in assembly it stands before the first line, as `.extension` would.
    #[arg(long = "isa", value_name = "FILE")]
    pub(crate) isa: Vec<String>,
}

/// The instructions that a command knows.
pub(crate) struct Instructions {
    /// The definitions, in their order.
    pub(crate) definitions: Vec<Arc<Definition>>,
    added: Vec<(String, Kind)>,
}

impl IsaFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// [`Reported`] for errors in them, which are told here.
    pub(crate) fn read(&self, format: Format, reporter: &Reporter) -> anyhow::Result<Instructions> {
        let options = Options { extensions: self.isa.clone(), ..Options::default() };
        let read = definitions::read("", String::new(), format, &options);
        let definitions = match read {
            Ok(definitions) => definitions,
            Err((diagnostics, sources)) => {
                report(&diagnostics, &sources, reporter.is_json(), reporter)?;
                return Err(Reported(Status::Fault).into());
            }
        };
        let mut added = Vec::new();
        for definition in &definitions {
            added.extend(definition.kinds()?);
        }
        Ok(Instructions { definitions, added })
    }
}

impl Instructions {
    /// The instruction of this mnemonic.
    pub(crate) fn find(&self, name: &str) -> Option<Kind> {
        let name = name.to_ascii_lowercase();
        self.added.iter().find(|(own, _)| *own == name).map(|(_, kind)| *kind).or_else(|| mnemonic::lookup(&name))
    }

    /// The same, or an error that says which one may be meant.
    pub(crate) fn lookup(&self, name: &str) -> anyhow::Result<Kind> {
        if let Some(kind) = self.find(name) {
            return Ok(kind);
        }
        let lower = name.to_ascii_lowercase();
        let own = self.added.iter().map(|(own, _)| own.as_str());
        let own = own.map(|own| (mnemonic::distance(own.as_bytes(), lower.as_bytes()), own)).min();
        let near = own.filter(|(far, _)| *far <= 2).map(|(_, own)| own).or_else(|| mnemonic::suggest(&lower));
        let hint = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        bail!("there is no instruction `{name}`{hint}");
    }

    /// The instructions that the files add, one for each pair.
    pub(crate) fn added(&self) -> impl Iterator<Item = Kind> {
        let inverse = |kind: Kind| matches!(kind, Kind::Extension { inverse: true, .. });
        self.added.iter().map(|(_, kind)| *kind).filter(move |kind| !inverse(*kind))
    }
}

/// What to do with a file that has nothing but definitions, if a program is one.
pub(crate) fn advice(program: &Program, file: &str) -> Option<String> {
    let module = &program.module;
    let is_empty = module.code.is_empty() && module.data.is_empty() && module.symbols.is_empty();
    let begins = |line: &str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        [".instr", ".function"].iter().any(|directive| word.eq_ignore_ascii_case(directive))
    };
    let defines = (0..program.sources.len() as u16).any(|n| program.sources.text(n).lines().any(begins));
    (is_empty && defines).then(|| {
        format!(
            "programs take these definitions by `--isa {file}`, or by a line `.extension` with the file's name; `pendula isa \
             --isa {file}` shows them"
        )
    })
}
