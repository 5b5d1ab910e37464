//! PISA, the assembly language of the Pendulum processor, in the dialect of PendVM: reads `.pisa` and `.pal` files to
//! modules of the profile `pisa`, and writes such modules.
//!
//! A line holds a label, an instruction, or both; `;` begins a comment. Every instruction and every `DATA` occupies one
//! of 2^32 addresses, from 0 on. A label stands for a number, its address. Where PendVM deviates from its
//! documentation, this module follows the documentation, unless [`Options::pendvm_bugs`] asks for PendVM's behaviour.

mod advice;
mod grammar;
pub mod import;
mod mnemonic;
mod write;

use std::collections::HashMap;

use pendula_isa::budget::{Budget, Resource};
use pendula_isa::module::{Flags, Loc, Symbol, SymbolKind};
use pendula_isa::types::Profile;
use pendula_isa::{Inst, Module};

use crate::assembly::Assembly;
use crate::diagnostic::{Diagnostic, Place, Severity, Sources};
use crate::object::NAME_LIMIT;
use grammar::{Line, NumberError, Word};
use mnemonic::Mnemonic;

pub use mnemonic::{MNEMONICS, Operands};
pub use write::{PisaWriteError, line, write};

/// The start of the first line.
pub const HEADER: &str = ";; pendulum pal file";

/// The number of errors after which reading stops.
const MAX_ERRORS: usize = 100;

pendula_isa::diagnostic_codes! {
    pub codes;
    HEADING "P0330" "a PISA file without its first line";
    INSTRUCTION "P0331" "no instruction of PISA";
    OPERANDS "P0332" "too few or too many operands of a PISA instruction";
    REGISTER "P0333" "no register of PISA";
    NUMBER "P0334" "a number that PISA cannot read, or that has more than 32 bits";
    LABEL "P0335" "no such label in a PISA file";
    SECOND_LABEL "P0336" "a label defined twice in a PISA file";
    LABEL_NAME "P0337" "a label without a name";
    ALIAS "P0338" "a PISA register that is written and used again in the same instruction";
    STRICT "P0339" "an immediate or a distance beyond the bits of an instruction word";
    SECOND_START "P0340" "a second `.start`";
    EMPTY "P0342" "a PISA file without an instruction";
}

/// The treatment of an instruction that writes a register and reads it again, such as `ADD $1 $1`, which could not be
/// undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alias {
    /// It is an error.
    #[default]
    Refuse,
    /// It does nothing, as in Frank's definition.
    Nothing,
}

/// How a file is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether to do as PendVM does where that differs from the documentation: `ORIX` takes the number of a register
    /// for its immediate, `SLTIX` compares as unsigned, `SRLX` and `SRLVX` copy the sign; missing labels are 0, of two
    /// equal labels the second counts, and text after the digits of a number is ignored; a run may end at a `FINISH`
    /// that a branch lands on; and `SHOW` prints in both directions.
    pub pendvm_bugs: bool,
    /// The treatment of instructions that would lose information.
    pub alias: Alias,
    /// Whether immediates must fit 16 bits, and distances of branches 16 or 26 bits, as in an instruction word.
    pub strict: bool,
    /// The limits of reading.
    pub budget: Budget,
}

/// Reads a program. `name` is the name of the file.
pub fn read(name: &str, text: &str, options: &Options) -> Assembly {
    let _span = tracing::debug_span!("parse", file = name, bytes = text.len()).entered();
    let mut sources = Sources::default();
    if let Err(exceeded) = options.budget.large(text.len() as u64, || format!("`{name}`")) {
        let exceeded = exceeded.instead("divide the program").raised_by("--max-source");
        return Assembly { module: None, diagnostics: vec![exceeded.diagnostic()], sources, named: Vec::new() };
    }
    let file = sources.add(name, text).unwrap_or_default();
    let mut reader = Reader {
        file,
        options: *options,
        labels: HashMap::new(),
        order: Vec::new(),
        diagnostics: Vec::new(),
        module: Module::default(),
    };
    reader.read(text);
    // Operands are read after all labels are known, so their errors come last.
    reader.diagnostics.sort_by_key(|d| d.primary.as_ref().map(|l| l.place.span.start));
    let failed = reader.diagnostics.iter().any(|d| d.severity == Severity::Error);
    let module = (!failed).then(|| {
        let mut module = reader.module;
        module.files = vec![name.to_string()];
        module
    });
    Assembly { module, diagnostics: reader.diagnostics, sources, named: Vec::new() }
}

/// An instruction whose operands are still words.
struct Pending<'a> {
    mnemonic: &'static Mnemonic,
    name: Word<'a>,
    operands: Vec<Word<'a>>,
    line: u32,
    /// Where the line begins in the text.
    start: usize,
}

struct Reader<'a> {
    file: u16,
    options: Options,
    /// The address of each label, and where it was defined.
    labels: HashMap<&'a str, (u32, Word<'a>)>,
    /// The labels in the order of their definitions.
    order: Vec<&'a str>,
    diagnostics: Vec<Diagnostic>,
    module: Module,
}

/// Whether a character has an effect where it should be displayed: control characters, and those that change the
/// direction of writing.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl<'a> Reader<'a> {
    fn read(&mut self, text: &'a str) {
        // The byte order mark that some editors write.
        let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let first = text[mark..].lines().next().unwrap_or("");
        if !first.starts_with(HEADER) {
            let place = Place { file: self.file, span: mark..mark + first.len() };
            let d = Diagnostic::error(HEADING, format!("the file does not begin with `{HEADER}`"));
            let help = "put that line first, or name the file `.rasm` if it is assembly of Pendula";
            self.diagnostics.push(d.at(place, "the first line").help(help));
        }
        let mut pending = Vec::new();
        let mut start: Option<Word<'a>> = None;
        let mut rest = &text[mark..];
        let mut number = 0;
        let budget = self.options.budget;
        while !rest.is_empty() {
            let what = || "the program".to_string();
            if let Err(exceeded) = Resource::Nodes.within(budget.words, pending.len() as u64, what) {
                let offset = text.len() - rest.len();
                let place = Place { file: self.file, span: offset..offset };
                self.diagnostics.push(exceeded.of("instruction").instead("divide it").diagnostic().at(place, ""));
                return;
            }
            // Every text begins with a line.
            let Ok((next, line)) = grammar::line(text, rest) else { break };
            rest = next;
            number += 1;
            self.line(line, number, &mut pending, &mut start);
            if self.diagnostics.len() >= MAX_ERRORS {
                return;
            }
        }
        if pending.is_empty() && self.diagnostics.is_empty() {
            let d = Diagnostic::error(EMPTY, "the file has no instruction");
            let place = Place { file: self.file, span: mark..mark + first.len() };
            self.diagnostics.push(d.at(place, "").help("a program begins with `START` and ends with `FINISH`"));
        }
        for (at, one) in pending.iter().enumerate() {
            let inst = self.instruction(one, at as u32);
            if self.diagnostics.len() >= MAX_ERRORS {
                return;
            }
            // After an error the code is not used.
            let Some(inst) = inst else { continue };
            self.module.code.push(inst);
            let column = one.name.at - one.start;
            let before = text.get(one.start..one.name.at).map_or(column, |t| t.chars().count());
            let column = u16::try_from(before + 1).unwrap_or(u16::MAX);
            self.module.locs.push(Loc { file: self.file, column, line: one.line });
        }
        let entry = start.and_then(|word| self.value(&word, None)).unwrap_or(0);
        self.module.flags =
            Flags { profile: Profile::Pisa, entry: entry as u32, loose: self.options.pendvm_bugs, ..Flags::default() };
        if let Some(word) = start
            && entry as u32 as usize >= pending.len()
        {
            let message = "the run begins where there is no instruction";
            self.fail(pendula_isa::verify::Problem::NoEntry.code(), message, &word, "name a label of an instruction");
        }
        let labels = self.order.iter().filter_map(|name| Some((*name, self.labels.get(name)?.0)));
        let symbol = |(name, at): (&str, u32)| Symbol {
            name: name.to_string(),
            kind: SymbolKind::Label,
            value: u64::from(at),
            global: false,
            doc: String::new(),
        };
        self.module.symbols = labels.map(symbol).collect();
        self.module.symbols.sort_by_key(|s| s.value);
    }

    /// Defines the label of a line, and keeps its instruction until all labels are known.
    fn line(&mut self, line: Line<'a>, number: u32, pending: &mut Vec<Pending<'a>>, start: &mut Option<Word<'a>>) {
        let Line { start: line_start, label, mnemonic, operands } = line;
        if let (None, Some(directive)) = (label, mnemonic)
            && directive.text.eq_ignore_ascii_case(".start")
        {
            match operands[..] {
                [_] if start.is_some() => {
                    self.fail(SECOND_START, "the run begins elsewhere already", &directive, "leave one `.start`");
                }
                [label] => *start = Some(label),
                _ => self.fail(OPERANDS, "`.start` takes one label", &directive, "write `.start LABEL`"),
            }
            return;
        }
        if let Some((name, word)) = label {
            self.define(name, &word, pending.len() as u32);
        }
        let Some(name) = mnemonic else { return };
        let Some(mnemonic) = mnemonic::find(name.text) else {
            let message = format!("`{}` is not an instruction of PISA", name.text);
            let help = advice::instruction(name.text, operands.first().map(|w| w.text));
            self.fail(INSTRUCTION, message, &name, help);
            return;
        };
        let expected = mnemonic.operands.names();
        if operands.len() != expected.len() {
            let message = format!("`{}` takes {}, found {}", mnemonic.name, mnemonic.operands.doc(), operands.len());
            let place = operands.get(expected.len()).copied().unwrap_or(name);
            let help = format!("write `{}`", [&[mnemonic.name], expected].concat().join(" "));
            self.fail(OPERANDS, message, &place, help);
            return;
        }
        pending.push(Pending { mnemonic, name, operands, line: number, start: line_start });
    }

    fn define(&mut self, name: &'a str, word: &Word<'a>, at: u32) {
        let problem = match name {
            "" => Some("a label has a name before its `:`"),
            _ if name.contains(':') => Some("a label has one `:`, at its end"),
            // Such a name could not be distinguished from others where it is displayed.
            _ if name.len() > NAME_LIMIT => Some("a label's name has 1024 bytes at most"),
            _ if name.contains(is_invisible) => Some("a label's name has no characters that are not seen"),
            _ => None,
        };
        if let Some(problem) = problem {
            self.fail(LABEL_NAME, problem, word, "write `name:`");
            return;
        }
        match self.labels.get(name) {
            Some((_, first)) if !self.options.pendvm_bugs => {
                let place = first.place(self.file);
                let d = Diagnostic::error(SECOND_LABEL, format!("the label `{name}` is defined already"));
                let d = d.at(word.place(self.file), "").also(place, "here");
                self.diagnostics.push(d.help("give one of them another name; PendVM takes the last (`--pendvm-bugs`)"));
                return;
            }
            Some(_) => {}
            None => self.order.push(name),
        }
        self.labels.insert(name, (at, *word));
    }

    fn instruction(&mut self, one: &Pending<'a>, at: u32) -> Option<Inst> {
        let kinds = one.mnemonic.operands.kinds();
        let mut values = [0i64; 3];
        let mut failed = false;
        for (n, (kind, word)) in kinds.iter().zip(&one.operands).enumerate() {
            let number_of_register = self.options.pendvm_bugs && one.mnemonic.name == "ORIX";
            let value = match kind {
                mnemonic::Operand::Written | mnemonic::Operand::Read => self.register(word, one, n),
                mnemonic::Operand::Immediate if number_of_register => self.register(word, one, n),
                mnemonic::Operand::Immediate | mnemonic::Operand::Amount | mnemonic::Operand::Data => {
                    self.value(word, Some((one.mnemonic, n)))
                }
                // The distance. Like every number it wraps at 32 bits.
                mnemonic::Operand::Target(_) => {
                    self.value(word, Some((one.mnemonic, n))).map(|to| i64::from((to as i32).wrapping_sub_unsigned(at)))
                }
            };
            match value {
                Some(value) => values[n] = value,
                None => failed = true,
            }
            if let (Some(value), Some(bits), true) = (value, kind.bits(), self.options.strict) {
                let half = 1i64 << (bits - 1);
                if !(-half..half).contains(&value) {
                    let message = format!(
                        "{value} does not fit the {bits} bits that the instruction word has for it: they hold {} to {}",
                        -half,
                        half - 1
                    );
                    self.fail(STRICT, message, word, "leave `--strict` out: nothing else depends on these bits");
                    failed = true;
                }
            }
        }
        if failed {
            return None;
        }
        let values = &values[..kinds.len()];
        if let Some(n) = one.mnemonic.alias(values) {
            if self.options.alias == Alias::Nothing {
                return Some(mnemonic::nothing());
            }
            let word = one.operands[n];
            let message = format!("`{}` is written by this instruction and may not occur in it again", word.text);
            let d = Diagnostic::error(ALIAS, message)
                .at(word.place(self.file), "")
                .also(one.operands[0].place(self.file), "written here");
            self.diagnostics.push(d.help(advice::alias(one.mnemonic)));
            return None;
        }
        match one.mnemonic.inst(values, self.options.pendvm_bugs) {
            Ok(inst) => Some(inst),
            Err(error) => {
                self.fail(error.code(), error.to_string(), &one.name, error.help());
                None
            }
        }
    }

    /// The register that is operand `n` of an instruction.
    fn register(&mut self, word: &Word<'a>, one: &Pending<'a>, n: usize) -> Option<i64> {
        let number = grammar::register(word.text);
        if number.is_none() {
            let message = format!("`{}` is not a register", word.text);
            let help = advice::register(word.text, one.mnemonic, n, self.labels.contains_key(word.text));
            self.fail(REGISTER, message, word, help);
        }
        number.map(u64::cast_signed)
    }

    /// A number or a label, as a sign-extended word of 32 bits. `of` is the instruction and the index of the operand.
    fn value(&mut self, word: &Word<'a>, of: Option<(&Mnemonic, usize)>) -> Option<i64> {
        let text = word.text;
        if let Some(&(at, _)) = self.labels.get(text) {
            return Some(i64::from(at));
        }
        if let Some(&(at, _)) = text.strip_prefix('-').and_then(|name| self.labels.get(name)) {
            return Some(-i64::from(at));
        }
        match grammar::number(text, self.options.pendvm_bugs) {
            Ok(value) => Some(value),
            Err(NumberError::Name) if self.options.pendvm_bugs => Some(0),
            Err(NumberError::Name) => {
                let near = self.labels.keys().find(|name| name.eq_ignore_ascii_case(text)).copied();
                let known = text.strip_suffix(':').is_some_and(|name| self.labels.contains_key(name));
                let help = advice::label(text, near, known);
                self.fail(LABEL, format!("there is no label `{text}`"), word, help);
                None
            }
            Err(NumberError::Malformed) => {
                self.fail(NUMBER, format!("`{text}` is not a number"), word, advice::malformed(text, of));
                None
            }
            Err(NumberError::TooWide) => {
                let help = "words lie between -2147483648 and 4294967295 (0xFFFFFFFF)";
                self.fail(NUMBER, format!("`{text}` has more than 32 bits"), word, help);
                None
            }
        }
    }

    fn fail(&mut self, code: &'static str, message: impl Into<String>, word: &Word<'a>, help: impl Into<String>) {
        let d = Diagnostic::error(code, message).at(word.place(self.file), "");
        self.diagnostics.push(d.help(help));
    }
}
