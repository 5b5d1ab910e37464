//! Modules as ELF64 object files, in both directions, so that `readelf -S` and `-s` show their content. This is not a
//! linker: an object is a whole module, and nothing in it is relocated. [`pendula_isa::encode`] encodes the code;
//! `valid` checks the other rules of modules.
//!
//! | section | content |
//! |---|---|
//! | `.text`, `.rodata` | instructions and the constant pool, 64-bit little-endian words |
//! | `.data`, `.bss` | the data segment; zeros at its end are only counted |
//! | `.symtab` | procedures (`FUNC`), labels (`NOTYPE`) and data (`OBJECT`), in bytes from their section's beginning; `st_other` holds a data object's number type (bits 4–5), import (6) and export (7) marks |
//! | `.pendula.flags` | version, version of the elementary functions, fixed-point format, irreversible, memory size |
//! | `.pendula.texts` | what `print` shows |
//! | `.pendula.lines` | source files and the line table |
//! | `.pendula.spans` | routine spans |
//! | `.pendula.reasons` | what checks are for |
//! | `.pendula.variables` | what data is in the source, where that counts elements from 1 |
//! | `.pendula.extensions` | the definitions of extensions, and which of them their numbers in `.text` stand for |
//! | `.pendula.symbols` | the order of the symbols, which ELF does not keep, and their documentation |
//!
//! The machine number, 0x4450 (`PD`), is unofficial; the ABI is "standalone". Reading accepts only what writing could
//! have written, except for the layout of the file and sections that are unknown here. It needs memory in proportion to
//! the file (plus at most [`DATA_LIMIT`] words for `.bss`).

mod error;
mod sections;
mod valid;
mod writer;

use object::elf;
use object::pod::bytes_of_slice;
use object::read::elf::{FileHeader as _, SectionHeader as _, SectionTable, Sym as _, SymbolTable};
use object::{Endianness, SectionIndex as ReadIndex};
use pendula_isa::budget::Budget;
use pendula_isa::encode::{Pool, decode, encode, from_bytes};
use pendula_isa::extension::Extension;
use pendula_isa::inst::Inst;
use pendula_isa::module::{Module, Symbol, SymbolKind};
use pendula_isa::types::{Profile, Ty};
use pendula_isa::words::SparseWords;

pub use error::{CODES, ObjectError, codes};
pub use sections::VERSION;
pub use valid::{as_name, is_name};
pub use writer::write;

/// The unofficial machine number of objects.
pub const MACHINE: elf::Machine = elf::Machine(0x4450);
/// The maximum number of words of a data segment.
pub const DATA_LIMIT: u64 = 1 << 27;
/// The maximum number of bytes of a name.
pub const NAME_LIMIT: usize = 1024;
/// The maximum number of sections of a file.
const SECTION_LIMIT: usize = 64;

const TEXT: &str = ".text";
const RODATA: &str = ".rodata";
const DATA: &str = ".data";
const BSS: &str = ".bss";

const TYPE_SHIFT: u8 = 4;
const IMPORT: u8 = 1 << 6;
const EXPORT: u8 = 1 << 7;

type Header = elf::FileHeader64<Endianness>;
type ElfSymbol = elf::Sym64<Endianness>;
const LE: Endianness = Endianness::Little;

/// Whether the bytes are an ELF file. [`read`] checks whether it is a valid object.
pub fn is_object(bytes: &[u8]) -> bool {
    bytes.starts_with(&elf::ELFMAG)
}

/// The module in an object file.
///
/// Errors: bytes that [`write()`] cannot have written; see [`ObjectError`].
pub fn read(bytes: &[u8]) -> Result<Module, ObjectError> {
    read_within(bytes, &Budget::default())
}

/// The same, within a budget for the bytes of the file and the words of its data and code.
///
/// Errors: those of [`read`].
pub fn read_within(bytes: &[u8], budget: &Budget) -> Result<Module, ObjectError> {
    let _span = tracing::debug_span!("parse", object = true, bytes = bytes.len()).entered();
    budget.large(bytes.len() as u64, || "the object".to_string()).map_err(|e| {
        let exceeded = e.instead("divide the program").raised_by("--max-source");
        ObjectError::TooLarge(Box::new(exceeded))
    })?;
    if !is_object(bytes) {
        return Err(ObjectError::NotObject("it is not an ELF file"));
    }
    // The crate `object` reads headers in place, so they must be aligned.
    if bytes.as_ptr().align_offset(8) == 0 {
        return read_aligned(bytes, budget);
    }
    let words: Vec<u64> = bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        })
        .collect();
    read_aligned(&bytes_of_slice(&words)[..bytes.len()], budget)
}

fn read_aligned(bytes: &[u8], budget: &Budget) -> Result<Module, ObjectError> {
    let class = (bytes.get(4).copied(), bytes.get(5).copied());
    if class != (Some(elf::ELFCLASS64.0), Some(elf::ELFDATA2LSB.0)) {
        return Err(ObjectError::NotObject("it is not a 64-bit little-endian ELF file"));
    }
    let header = Header::parse(bytes)?;
    if header.e_machine(LE) != MACHINE {
        return Err(ObjectError::NotObject("it is an ELF file for another machine"));
    }
    if header.e_type(LE) != elf::ET_REL {
        return Err(ObjectError::NotObject("it is an ELF file of another type"));
    }
    let table = header.sections(LE, bytes)?;
    if table.len() > SECTION_LIMIT {
        return Err(ObjectError::Elf(format!("it has {} sections; {SECTION_LIMIT} are the most", table.len())));
    }
    let file = File { bytes, table };

    let flags = sections::read_flags(file.required(sections::FLAGS)?)?;
    let pool = words(RODATA, file.optional(RODATA)?)?;
    let extensions = sections::read_extensions(file.optional(sections::EXTENSIONS)?, flags.format, budget)?;
    let code = read_code(&words(TEXT, file.required(TEXT)?)?, &pool, &extensions, (flags.profile, budget))?;
    let (data, cut) = file.data(budget)?;
    let (files, locs) = sections::read_lines(file.optional(sections::LINES)?)?;
    let mut module = Module {
        code,
        locs,
        files,
        data,
        symbols: Vec::new(),
        variables: sections::read_variables(file.optional(sections::VARIABLES)?)?,
        texts: sections::read_texts(file.optional(sections::TEXTS)?)?,
        spans: sections::read_spans(file.optional(sections::SPANS)?)?,
        reasons: sections::read_reasons(file.optional(sections::REASONS)?)?,
        flags,
    };
    module.symbols = file.symbols(&module.code, flags.profile, cut)?;
    valid::check(&module)?;
    Ok(module)
}

fn words(section: &'static str, bytes: &[u8]) -> Result<Vec<u64>, ObjectError> {
    from_bytes(bytes).ok_or(ObjectError::Section { section, problem: "does not hold whole words" })
}

fn read_code(
    words: &[u64],
    pool: &[u64],
    extensions: &[Extension],
    (profile, budget): (Profile, &Budget),
) -> Result<Vec<Inst>, ObjectError> {
    // Addresses have 32 bits.
    let limit = budget.words.min(u32::MAX.into());
    if words.len() as u64 > limit {
        return Err(ObjectError::too_large(TEXT, limit, "instructions"));
    }
    let mut code = Vec::with_capacity(words.len());
    for (address, &word) in words.iter().enumerate() {
        let inst = decode(word, pool, extensions, profile).map_err(|error| ObjectError::Word {
            address: address as u32,
            word,
            error,
        })?;
        code.push(inst);
    }
    // There is only one encoding of a module: the pool is the one that encoding makes, and no word points elsewhere in
    // it.
    let mut canonical = Pool::default();
    for (address, (inst, &word)) in code.iter().zip(words).enumerate() {
        let expected = encode(inst, &mut canonical);
        if expected != word {
            let error = pendula_isa::encode::DecodeError::NotCanonical { expected };
            return Err(ObjectError::Word { address: address as u32, word, error });
        }
    }
    if canonical.words() != pool {
        let index = canonical.words().iter().zip(pool).position(|(a, b)| a != b);
        return Err(ObjectError::Pool { index: index.unwrap_or(canonical.words().len().min(pool.len())) });
    }
    if canonical.extensions() != extensions {
        return Err(ObjectError::Extensions("its code does not use all of them, or in another order".to_string()));
    }
    Ok(code)
}

/// An ELF file whose section table has been read.
struct File<'a> {
    bytes: &'a [u8],
    table: SectionTable<'a, Header>,
}

impl<'a> File<'a> {
    /// The section with this name, if there is one. Two sections with the same name are an error.
    fn find(
        &self,
        name: &'static str,
    ) -> Result<Option<(ReadIndex, &'a elf::SectionHeader64<Endianness>)>, ObjectError> {
        let mut found = None;
        for (index, section) in self.table.enumerate() {
            if self.table.section_name(LE, section)? != name.as_bytes() {
                continue;
            }
            if found.is_some() {
                return Err(ObjectError::Section { section: name, problem: "occurs twice" });
            }
            found = Some((index, section));
        }
        Ok(found)
    }

    fn contents(&self, name: &'static str) -> Result<Option<&'a [u8]>, ObjectError> {
        let Some((_, section)) = self.find(name)? else { return Ok(None) };
        if section.sh_type(LE) != elf::SHT_PROGBITS {
            return Err(ObjectError::Section { section: name, problem: "has the wrong type" });
        }
        Ok(Some(section.data(LE, self.bytes)?))
    }

    fn required(&self, name: &'static str) -> Result<&'a [u8], ObjectError> {
        self.contents(name)?.ok_or(ObjectError::Section { section: name, problem: "is missing" })
    }

    fn optional(&self, name: &'static str) -> Result<&'a [u8], ObjectError> {
        Ok(self.contents(name)?.unwrap_or_default())
    }

    /// The data segment, and how many of its words `.data` holds.
    fn data(&self, budget: &Budget) -> Result<(SparseWords, u64), ObjectError> {
        let mut data = SparseWords::from(&words(DATA, self.optional(DATA)?)?[..]);
        let cut = data.len() as u64;
        let limit = budget.words.min(DATA_LIMIT);
        if cut > limit {
            return Err(ObjectError::too_large(DATA, limit, "words"));
        }
        if let Some((_, section)) = self.find(BSS)? {
            if section.sh_type(LE) != elf::SHT_NOBITS {
                return Err(ObjectError::Section { section: BSS, problem: "has the wrong type" });
            }
            let bytes = section.sh_size(LE);
            if bytes % 8 != 0 {
                return Err(ObjectError::Section { section: BSS, problem: "does not hold whole words" });
            }
            let size = (bytes / 8).saturating_add(cut);
            if size > limit {
                return Err(ObjectError::too_large(BSS, limit, "words"));
            }
            data.push_zeros(size as usize - data.len());
        }
        Ok((data, cut))
    }

    /// The symbols in the module's order. A file without a symbol table has none.
    fn symbols(&self, code: &[Inst], profile: Profile, cut: u64) -> Result<Vec<Symbol>, ObjectError> {
        let table = self.table.symbols(LE, self.bytes, elf::SHT_SYMTAB)?;
        if table.is_empty() {
            return Ok(Vec::new());
        }
        let places = [self.find(TEXT)?, self.find(DATA)?, self.find(BSS)?].map(|s| s.map(|(index, _)| index));
        let of = |global: bool| {
            let binding = if global { elf::STB_GLOBAL } else { elf::STB_LOCAL };
            table.enumerate().filter(move |(index, s)| index.0 > 0 && s.st_bind() == binding)
        };
        let (mut locals, mut globals) = (of(false), of(true));
        let mut notes = sections::Cursor::new(sections::SYMBOLS, self.optional(sections::SYMBOLS)?);
        let mismatch =
            ObjectError::Section { section: sections::SYMBOLS, problem: "does not belong to the symbol table" };
        let mut symbols = Vec::new();
        while !notes.at_end() {
            let (global, doc) = notes.symbol()?;
            let next = if global { globals.next() } else { locals.next() };
            let (index, symbol) = next.ok_or_else(|| mismatch.clone())?;
            let place = table.symbol_section(LE, symbol, index)?;
            let place = places.iter().position(|p| p.is_some() && *p == place);
            symbols.push(read_symbol(&table, symbol, place, (code, profile), cut, doc)?);
        }
        if symbols.len() + 1 != table.len() {
            return Err(mismatch);
        }
        Ok(symbols)
    }
}

/// A symbol of section number `place`: 0 `.text`, 1 `.data`, 2 `.bss`.
fn read_symbol(
    table: &SymbolTable<'_, Header>,
    symbol: &ElfSymbol,
    place: Option<usize>,
    (code, profile): (&[Inst], Profile),
    cut: u64,
    doc: &str,
) -> Result<Symbol, ObjectError> {
    let name = table.symbol_name(LE, symbol)?;
    let name = &name[..name.len().min(NAME_LIMIT + 1)];
    let bad = |problem| Err(ObjectError::Symbol { name: String::from_utf8_lossy(name).into_owned(), problem });
    let Some(name) = std::str::from_utf8(name).ok().filter(|name| valid::is_symbol(profile, name)) else {
        return bad("is not a name that the assembler takes");
    };
    let (value, size, other) = (symbol.st_value(LE), symbol.st_size(LE), symbol.st_other().0);
    if value % 8 != 0 || size % 8 != 0 {
        return bad("does not lie at a whole word");
    }
    let (value, len) = (value / 8, size / 8);
    let ty = Ty::from_bits(u16::from(other >> TYPE_SHIFT));
    let (kind, value, known) = match (symbol.st_type(), place) {
        (elf::STT_NOTYPE, Some(0)) if len == 0 => (SymbolKind::Label, value, 0),
        (elf::STT_FUNC, Some(0)) if valid::procedure_len(code, value) == Some(len) => (SymbolKind::Proc, value, 0),
        (elf::STT_OBJECT, Some(place @ 1..)) => {
            let kind = SymbolKind::Data { ty, len, import: other & IMPORT != 0, export: other & EXPORT != 0 };
            let base = if place == 1 { 0 } else { cut };
            (kind, base + value, 3 << TYPE_SHIFT | IMPORT | EXPORT)
        }
        _ => return bad("is not a label, procedure or data object"),
    };
    if other & !known != 0 {
        return bad("has unknown marks");
    }
    let global = symbol.st_bind() == elf::STB_GLOBAL;
    Ok(Symbol { name: name.to_string(), kind, value, global, doc: doc.to_string() })
}
