//! The sections of an object that are Pendula's own (`.pendula.*`): flags, texts, lines, spans, and what ELF symbols do
//! not hold, as sequences of LEB128 numbers and length-prefixed texts. This module only converts between bytes and
//! values; [`valid`](super::valid) checks whether the values are consistent.

use std::collections::HashMap;
use std::sync::Arc;

use pendula_isa::budget::Budget;
use pendula_isa::extension::{Definition, Extension, Form};
use pendula_isa::module::{Flags, Loc, Reason, Span, Variable};
use pendula_isa::num::raw;
use pendula_isa::operand::Shape;
use pendula_isa::types::Profile;
use pendula_isa::{Acc, Format};

use super::ObjectError;
use crate::options::Options;

pub(super) const FLAGS: &str = ".pendula.flags";
pub(super) const TEXTS: &str = ".pendula.texts";
pub(super) const LINES: &str = ".pendula.lines";
pub(super) const SPANS: &str = ".pendula.spans";
pub(super) const REASONS: &str = ".pendula.reasons";
pub(super) const VARIABLES: &str = ".pendula.variables";
pub(super) const EXTENSIONS: &str = ".pendula.extensions";
pub(super) const SYMBOLS: &str = ".pendula.symbols";

/// The version of the object format.
pub const VERSION: u8 = 3;

const IRREVERSIBLE: u8 = 1;
const MEM: u8 = 2;
const PISA: u8 = 4;
const LANDS: u8 = 8;

fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Signed numbers have the sign in the lowest bit, so that small ones are short.
fn put_signed(out: &mut Vec<u8>, n: i64) {
    put(out, ((n << 1) ^ (n >> 63)).cast_unsigned());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads a section from its beginning.
pub(super) struct Cursor<'a> {
    section: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(section: &'static str, bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { section, bytes, at: 0 }
    }

    fn error(&self, problem: &'static str) -> ObjectError {
        ObjectError::Malformed { section: self.section, offset: self.at, problem }
    }

    fn byte(&mut self) -> Result<u8, ObjectError> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.error("the section ends early"))?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64, ObjectError> {
        let (mut n, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let last = byte & 0x80 == 0;
            if shift > 63 || bits << shift >> shift != bits || (last && bits == 0 && shift > 0) {
                return Err(self.error("a number is too large or longer than it need be"));
            }
            n |= bits << shift;
            if last {
                return Ok(n);
            }
            shift += 7;
        }
    }

    fn signed(&mut self) -> Result<i64, ObjectError> {
        let n = self.number()?;
        Ok((n >> 1).cast_signed() ^ -((n & 1).cast_signed()))
    }

    /// A number of 32 or 16 bits.
    fn narrow<T: TryFrom<u64>>(&mut self) -> Result<T, ObjectError> {
        let n = self.number()?;
        T::try_from(n).map_err(|_| self.error("a number is too large"))
    }

    fn text_of(&mut self, len: u64) -> Result<&'a str, ObjectError> {
        let rest = &self.bytes[self.at..];
        let bytes = usize::try_from(len).ok().and_then(|n| rest.get(..n));
        let bytes = bytes.ok_or_else(|| self.error("a text ends past the section"))?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.error("a text is not UTF-8"))?;
        self.at += bytes.len();
        Ok(text)
    }

    fn text(&mut self) -> Result<&'a str, ObjectError> {
        let len = self.number()?;
        self.text_of(len)
    }

    pub(super) fn at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn finish(self) -> Result<(), ObjectError> {
        if self.at_end() { Ok(()) } else { Err(self.error("bytes are left over")) }
    }

    /// The properties that an ELF symbol does not have: whether it is the next global or the next local one, and its
    /// documentation.
    pub(super) fn symbol(&mut self) -> Result<(bool, &'a str), ObjectError> {
        let n = self.number()?;
        Ok((n & 1 == 1, self.text_of(n >> 1)?))
    }
}

/// The definitions, as text, then for each extension the index of its definition and its form.
pub(super) fn write_extensions(extensions: &[Extension], format: Format) -> Vec<u8> {
    let mut definitions: Vec<&Arc<Definition>> = Vec::new();
    let mut uses = Vec::new();
    for info in extensions.iter().map(|extension| extension.info()) {
        let known = definitions.iter().position(|d| **d == info.definition);
        put(&mut uses, known.unwrap_or(definitions.len()) as u64);
        if known.is_none() {
            definitions.push(&info.definition);
        }
        match info.form {
            Form::Instruction { constant } => put(&mut uses, constant.map_or(0, |n| u64::from(n) + 1)),
            Form::Function { acc, shape } => put(&mut uses, (acc as u64) << 4 | shape as u64),
        }
    }
    let text: String = definitions.iter().map(|d| crate::definitions::text(d, format)).collect();
    let mut out = Vec::new();
    put_text(&mut out, &text);
    put(&mut out, extensions.len() as u64);
    out.extend(uses);
    out
}

pub(super) fn read_extensions(bytes: &[u8], format: Format, budget: &Budget) -> Result<Vec<Extension>, ObjectError> {
    let mut cursor = Cursor::new(EXTENSIONS, bytes);
    if cursor.at_end() {
        return Ok(Vec::new());
    }
    let text = cursor.text()?;
    // An object stands alone: no file is read for it.
    let loader = |_: &std::path::Path| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    let options = Options { budget: *budget, loader: Some(Box::new(loader)), ..Options::default() };
    let definitions = crate::definitions::read("extensions", text.to_string(), format, &options);
    let definitions = definitions.map_err(|(diagnostics, _)| {
        ObjectError::Extensions(diagnostics.into_iter().next().map_or(String::new(), |d| d.message))
    })?;
    // There is one way to write them.
    if definitions.iter().map(|d| crate::definitions::text(d, format)).collect::<String>() != text {
        return Err(ObjectError::Extensions("they are not written as an assembler writes them".to_string()));
    }
    let mut extensions = Vec::new();
    let count: u16 = cursor.narrow()?;
    for _ in 0..count {
        let at: usize = cursor.narrow()?;
        let Some(definition) = definitions.get(at) else { return Err(cursor.error("there is no such definition")) };
        let code: u16 = cursor.narrow()?;
        let form = if definition.is_function() {
            let (acc, shape) = (Acc::ALL.get(usize::from(code >> 4)), Shape::from_bits(code & 15));
            let (Some(&acc), Some(shape)) = (acc, shape) else { return Err(cursor.error("there is no such form")) };
            Some(Form::Function { acc, shape })
                .filter(|_| shape.arity() == definition.parameters.len() && acc.accepts(definition.operand_type(0)))
        } else {
            let constant = code.checked_sub(1).map(|n| n as u8);
            let read = |n: u8| definition.parameters.get(usize::from(n)).is_some_and(|p| !p.written);
            Some(Form::Instruction { constant }).filter(|_| constant.is_none_or(read) && code <= 8)
        };
        let form = form.ok_or_else(|| cursor.error("there is no such form"))?;
        let extension = Extension::new(definition, form).map_err(|error| ObjectError::Extensions(error.to_string()))?;
        extensions.push(extension);
    }
    cursor.finish()?;
    Ok(extensions)
}

pub(super) fn put_symbol(out: &mut Vec<u8>, global: bool, doc: &str) {
    put(out, (doc.len() as u64) << 1 | u64::from(global));
    out.extend_from_slice(doc.as_bytes());
}

pub(super) fn write_flags(flags: &Flags) -> Vec<u8> {
    let pisa = flags.profile == Profile::Pisa;
    let bits = [(flags.irreversible, IRREVERSIBLE), (flags.mem.is_some(), MEM), (pisa, PISA), (flags.loose, LANDS)];
    let bits = bits.into_iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit);
    let mut out = vec![VERSION];
    put(&mut out, raw::VERSION.into());
    out.extend([flags.format.frac() as u8, bits]);
    if let Some(mem) = flags.mem {
        put(&mut out, mem);
    }
    if pisa {
        put(&mut out, u64::from(flags.entry));
    }
    out
}

pub(super) fn read_flags(bytes: &[u8]) -> Result<Flags, ObjectError> {
    let mut cursor = Cursor::new(FLAGS, bytes);
    let found = cursor.byte()?;
    if found != VERSION {
        return Err(ObjectError::Version { found, known: VERSION });
    }
    let numerics = cursor.number()?;
    if numerics != u64::from(raw::VERSION) {
        return Err(ObjectError::Numerics { found: numerics, known: raw::VERSION });
    }
    let frac = u32::from(cursor.byte()?);
    let format = Format::ALL.into_iter().find(|f| f.frac() == frac);
    let format = format.ok_or_else(|| cursor.error("there is no such fixed-point format"))?;
    let bits = cursor.byte()?;
    if bits & !(IRREVERSIBLE | MEM | PISA | LANDS) != 0 {
        return Err(cursor.error("unknown flags are set"));
    }
    if bits & (PISA | LANDS) == LANDS {
        return Err(cursor.error("only programs of the profile `pisa` may be loose"));
    }
    let mem = if bits & MEM != 0 { Some(cursor.number()?) } else { None };
    let (profile, entry) = match bits & PISA != 0 {
        true => (Profile::Pisa, cursor.number()?),
        false => (Profile::Native, 0),
    };
    let entry = u32::try_from(entry).map_err(|_| cursor.error("the run begins beyond every address"))?;
    cursor.finish()?;
    Ok(Flags { format, irreversible: bits & IRREVERSIBLE != 0, mem, profile, entry, loose: bits & LANDS != 0 })
}

pub(super) fn write_texts(texts: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for text in texts {
        put_text(&mut out, text);
    }
    out
}

pub(super) fn read_texts(bytes: &[u8]) -> Result<Vec<String>, ObjectError> {
    let mut cursor = Cursor::new(TEXTS, bytes);
    let mut texts = Vec::new();
    while !cursor.at_end() {
        texts.push(cursor.text()?.to_string());
    }
    Ok(texts)
}

/// The files, then for each instruction: the line's difference from the previous one (doubled, plus 1 if the file
/// changes), the file if it changes, and the column's difference.
pub(super) fn write_lines(files: &[String], locs: &[Loc]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, files.len() as u64);
    for file in files {
        put_text(&mut out, file);
    }
    let mut before = Loc::default();
    for &loc in locs {
        let changes = loc.file != before.file;
        put_signed(&mut out, (i64::from(loc.line) - i64::from(before.line)) << 1 | i64::from(changes));
        if changes {
            put(&mut out, u64::from(loc.file));
        }
        put_signed(&mut out, i64::from(loc.column) - i64::from(before.column));
        before = loc;
    }
    out
}

pub(super) fn read_lines(bytes: &[u8]) -> Result<(Vec<String>, Vec<Loc>), ObjectError> {
    let mut cursor = Cursor::new(LINES, bytes);
    let (mut files, mut locs) = (Vec::new(), Vec::new());
    if cursor.at_end() {
        return Ok((files, locs));
    }
    for _ in 0..cursor.number()? {
        files.push(cursor.text()?.to_string());
    }
    let mut loc = Loc::default();
    while !cursor.at_end() {
        let step = cursor.signed()?;
        let line = i64::from(loc.line).checked_add(step >> 1).and_then(|n| u32::try_from(n).ok());
        loc.line = line.ok_or_else(|| cursor.error("a line number is out of range"))?;
        if step & 1 == 1 {
            loc.file = cursor.narrow()?;
        }
        let column = i64::from(loc.column).checked_add(cursor.signed()?).and_then(|n| u16::try_from(n).ok());
        loc.column = column.ok_or_else(|| cursor.error("a column number is out of range"))?;
        locs.push(loc);
    }
    Ok((files, locs))
}

pub(super) fn write_spans(spans: &[Span]) -> Vec<u8> {
    let mut out = Vec::new();
    for span in spans {
        put_text(&mut out, &span.name);
        put(&mut out, u64::from(span.start));
        put(&mut out, u64::from(span.end.wrapping_sub(span.start)) << 1 | u64::from(span.undo));
    }
    out
}

pub(super) fn read_spans(bytes: &[u8]) -> Result<Vec<Span>, ObjectError> {
    let mut cursor = Cursor::new(SPANS, bytes);
    let mut spans = Vec::new();
    while !cursor.at_end() {
        let name = cursor.text()?.to_string();
        let start: u32 = cursor.narrow()?;
        let n = cursor.number()?;
        let end = u32::try_from(n >> 1).ok().and_then(|len| start.checked_add(len));
        let end = end.ok_or_else(|| cursor.error("a span is too long"))?;
        spans.push(Span { name, undo: n & 1 == 1, start, end });
    }
    Ok(spans)
}

/// The distinct texts, then for each reason the distance of its instruction from the previous one, and the index of the
/// text.
pub(super) fn write_reasons(reasons: &[Reason]) -> Vec<u8> {
    let mut out = Vec::new();
    if reasons.is_empty() {
        return out;
    }
    let mut numbers: HashMap<&str, u64> = HashMap::new();
    let mut texts = Vec::new();
    for r in reasons {
        numbers.entry(&r.text).or_insert_with(|| {
            texts.push(&r.text);
            texts.len() as u64 - 1
        });
    }
    put(&mut out, texts.len() as u64);
    texts.iter().for_each(|text| put_text(&mut out, text));
    let mut before = 0;
    for r in reasons {
        put(&mut out, u64::from(r.at.wrapping_sub(before)));
        put(&mut out, numbers.get(&*r.text).copied().unwrap_or(0));
        before = r.at;
    }
    out
}

pub(super) fn read_reasons(bytes: &[u8]) -> Result<Vec<Reason>, ObjectError> {
    let mut cursor = Cursor::new(REASONS, bytes);
    let (mut texts, mut reasons) = (Vec::new(), Vec::<Reason>::new());
    if cursor.at_end() {
        return Ok(reasons);
    }
    for _ in 0..cursor.number()? {
        texts.push(Arc::<str>::from(cursor.text()?));
    }
    let mut at: u32 = 0;
    while !cursor.at_end() {
        let step = cursor.narrow()?;
        if step == 0 && !reasons.is_empty() {
            return Err(cursor.error("an instruction has two reasons"));
        }
        at = at.checked_add(step).ok_or_else(|| cursor.error("an instruction's address is too large"))?;
        let n: usize = cursor.narrow()?;
        let text = texts.get(n).ok_or_else(|| cursor.error("there is no such text"))?;
        reasons.push(Reason { at, text: Arc::clone(text) });
    }
    Ok(reasons)
}

/// For each variable: its symbol and its name, its dimensions, its parts, and which words are known to be true or
/// false, each preceded by their number.
pub(super) fn write_variables(variables: &[Variable]) -> Vec<u8> {
    let mut out = Vec::new();
    for v in variables {
        put_text(&mut out, &v.symbol);
        put_text(&mut out, &v.name);
        put(&mut out, v.dims.len() as u64);
        v.dims.iter().for_each(|n| put(&mut out, *n));
        put(&mut out, v.parts.len() as u64);
        v.parts.iter().for_each(|part| put_text(&mut out, part));
        put(&mut out, v.truths.len() as u64);
        v.truths.iter().for_each(|truth| put(&mut out, u64::from(*truth)));
    }
    out
}

pub(super) fn read_variables(bytes: &[u8]) -> Result<Vec<Variable>, ObjectError> {
    let mut cursor = Cursor::new(VARIABLES, bytes);
    let mut variables = Vec::new();
    while !cursor.at_end() {
        let (symbol, name) = (cursor.text()?.to_string(), cursor.text()?.to_string());
        let mut v = Variable { symbol, name, ..Variable::default() };
        for _ in 0..cursor.number()? {
            v.dims.push(cursor.number()?);
        }
        for _ in 0..cursor.number()? {
            v.parts.push(cursor.text()?.to_string());
        }
        for _ in 0..cursor.number()? {
            v.truths.push(match cursor.number()? {
                0 => false,
                1 => true,
                _ => return Err(cursor.error("a word is not marked as a truth value or as none")),
            });
        }
        variables.push(v);
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for n in [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            put_signed(&mut out, n);
            put(&mut out, n.cast_unsigned());
            let mut cursor = Cursor::new(TEXTS, &out);
            assert_eq!(cursor.signed(), Ok(n));
            assert_eq!(cursor.number(), Ok(n.cast_unsigned()));
            assert_eq!(cursor.finish(), Ok(()));
        }
    }

    #[test]
    fn numbers_have_one_spelling() {
        for bytes in [
            &[0x80, 0][..],
            &[0x81, 0x80, 0],
            &[0xff; 11],
            &[0x80],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
        ] {
            assert!(Cursor::new(TEXTS, bytes).number().is_err(), "{bytes:x?}");
        }
    }
}
