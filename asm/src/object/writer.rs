//! Writes object files.

use object::elf;
use object::write::elf::{FileHeader, SectionHeader, SectionIndex, Sym, Writer};
use pendula_isa::encode::{Pool, decode, encode, to_bytes};
use pendula_isa::extension::IN_MODULE;
use pendula_isa::module::{Module, Symbol, SymbolKind};

use super::{BSS, DATA, EXPORT, IMPORT, LE, MACHINE, ObjectError, RODATA, TEXT, TYPE_SHIFT, sections, valid};

/// The object file of a module.
///
/// Errors: a module that [`read`](super::read) would not accept, such as one with unpaired jumps.
pub fn write(module: &Module) -> Result<Vec<u8>, ObjectError> {
    let mut pool = Pool::default();
    let words: Vec<u64> = module.code.iter().map(|inst| encode(inst, &mut pool)).collect();
    if pool.extensions().len() > IN_MODULE {
        return Err(ObjectError::Extensions(format!(
            "it uses {} extensions, and {IN_MODULE} are the most",
            pool.extensions().len()
        )));
    }
    for (address, (&word, inst)) in words.iter().zip(&module.code).enumerate() {
        if decode(word, pool.words(), pool.extensions(), module.flags.profile).as_ref() != Ok(inst) {
            return Err(ObjectError::Inst { address: address as u32 });
        }
    }
    valid::check(module)?;
    let cut = zeros_begin(module);
    let data: Vec<u64> = module.data.iter().take(cut).collect();
    let mut notes = Vec::new();
    for symbol in &module.symbols {
        sections::put_symbol(&mut notes, symbol.global, &symbol.doc);
    }
    let alloc = elf::SHF_ALLOC;
    let zeros = (module.data.len() - cut) as u64 * 8;
    let mut sections = vec![
        Section::new(TEXT, alloc | elf::SHF_EXECINSTR, to_bytes(&words)),
        Section::new(RODATA, alloc, to_bytes(pool.words())),
        Section::new(DATA, alloc | elf::SHF_WRITE, to_bytes(&data)),
        Section { zeros: Some(zeros), ..Section::new(BSS, alloc | elf::SHF_WRITE, Vec::new()) },
        Section::new(sections::FLAGS, elf::SectionFlags(0), sections::write_flags(&module.flags)),
        Section::new(sections::TEXTS, elf::SectionFlags(0), sections::write_texts(&module.texts)),
        Section::new(sections::LINES, elf::SectionFlags(0), sections::write_lines(&module.files, &module.locs)),
        Section::new(sections::SPANS, elf::SectionFlags(0), sections::write_spans(&module.spans)),
        Section::new(sections::REASONS, elf::SectionFlags(0), sections::write_reasons(&module.reasons)),
        Section::new(sections::VARIABLES, elf::SectionFlags(0), sections::write_variables(&module.variables)),
        Section::new(sections::SYMBOLS, elf::SectionFlags(0), notes),
    ];
    if !pool.extensions().is_empty() {
        let bytes = sections::write_extensions(pool.extensions(), module.flags.format);
        sections.push(Section::new(sections::EXTENSIONS, elf::SectionFlags(0), bytes));
    }
    Ok(assemble_file(module, cut, &sections)?)
}

/// A section to be written.
struct Section {
    name: &'static str,
    flags: elf::SectionFlags,
    bytes: Vec<u8>,
    /// The size in bytes, if the section stands for zeros that are not in the file.
    zeros: Option<u64>,
}

impl Section {
    fn new(name: &'static str, flags: elf::SectionFlags, bytes: Vec<u8>) -> Section {
        Section { name, flags, bytes, zeros: None }
    }

    /// Sections that are loaded hold words.
    fn align(&self) -> u64 {
        if self.flags.0 & elf::SHF_ALLOC.0 != 0 { 8 } else { 1 }
    }
}

/// The start of the zeros at the end of the data, moved up to the end of an object that straddles it.
fn zeros_begin(module: &Module) -> usize {
    let mut cut = module.data.trimmed_len() as u64;
    let mut objects: Vec<(u64, u64)> = module
        .symbols
        .iter()
        .filter_map(|s| if let SymbolKind::Data { len, .. } = s.kind { Some((s.value, s.value + len)) } else { None })
        .collect();
    objects.sort_unstable();
    for (start, end) in objects {
        if start < cut {
            cut = cut.max(end);
        }
    }
    cut as usize
}

fn assemble_file(module: &Module, cut: usize, sections: &[Section]) -> object::write::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let mut w = Writer::new(LE, true, &mut buffer);
    w.reserve_file_header();
    let mut placed = Vec::new();
    for section in sections {
        let index = w.reserve_section_index();
        let offset = w.reserve(section.bytes.len() as u64, section.align());
        placed.push((index, offset, w.add_section_name(section.name.as_bytes())));
    }
    // ELF requires local symbols before global ones.
    let (mut symbols, global): (Vec<&Symbol>, Vec<&Symbol>) = module.symbols.iter().partition(|s| !s.global);
    let locals = symbols.len() as u32 + 1;
    symbols.extend(global);
    w.reserve_null_symbol_index();
    let names: Vec<_> = symbols
        .iter()
        .map(|symbol| {
            w.reserve_symbol_index(None);
            w.add_string(symbol.name.as_bytes())
        })
        .collect();
    w.reserve_symtab_section_index();
    w.reserve_symtab();
    w.reserve_strtab_section_index();
    w.reserve_strtab()?;
    w.reserve_shstrtab_section_index();
    w.reserve_shstrtab()?;
    w.reserve_section_headers();

    w.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_STANDALONE,
        abi_version: 0,
        e_type: elf::ET_REL,
        e_machine: MACHINE,
        e_entry: 0,
        e_flags: elf::FileFlags(0),
    })?;
    for section in sections {
        w.write_align(section.align());
        w.write(&section.bytes);
    }
    w.write_null_symbol();
    let indices: Vec<SectionIndex> = placed.iter().map(|p| p.0).collect();
    for (symbol, name) in symbols.into_iter().zip(names) {
        let st_name = w.string_offset(Some(name));
        w.write_symbol(&elf_symbol(module, cut, symbol, st_name, &indices));
    }
    w.write_strtab();
    w.write_shstrtab();
    w.write_null_section_header();
    for (section, (_, sh_offset, name)) in sections.iter().zip(placed) {
        w.write_section_header(&SectionHeader {
            sh_name: w.section_name_offset(Some(name)),
            sh_type: if section.zeros.is_some() { elf::SHT_NOBITS } else { elf::SHT_PROGBITS },
            sh_flags: section.flags,
            sh_addr: 0,
            sh_offset,
            sh_size: section.zeros.unwrap_or(section.bytes.len() as u64),
            sh_link: 0,
            sh_info: 0,
            sh_addralign: section.align(),
            sh_entsize: 0,
        });
    }
    w.write_symtab_section_header(locals);
    w.write_strtab_section_header();
    w.write_shstrtab_section_header();
    Ok(buffer)
}

/// The entry of the symbol table. `sections` are the indices of the sections that were written, `.text` first.
fn elf_symbol(module: &Module, cut: usize, symbol: &Symbol, st_name: u32, sections: &[SectionIndex]) -> Sym {
    let cut = cut as u64;
    let (kind, place, value, size, other) = match symbol.kind {
        SymbolKind::Label => (elf::STT_NOTYPE, 0, symbol.value, 0, 0),
        SymbolKind::Proc => {
            (elf::STT_FUNC, 0, symbol.value, valid::procedure_len(&module.code, symbol.value).unwrap_or(0), 0)
        }
        SymbolKind::Data { ty, len, import, export } => {
            let marks = (ty as u8) << TYPE_SHIFT | if import { IMPORT } else { 0 } | if export { EXPORT } else { 0 };
            // An object without words at the border belongs to `.data`, unless there is none.
            let zeros = symbol.value > cut || (symbol.value == cut && (len > 0 || cut == 0));
            if zeros {
                (elf::STT_OBJECT, 3, symbol.value - cut, len, marks)
            } else {
                (elf::STT_OBJECT, 2, symbol.value, len, marks)
            }
        }
    };
    let binding = if symbol.global { elf::STB_GLOBAL } else { elf::STB_LOCAL };
    Sym {
        section: Some(sections[place].0),
        st_name,
        st_info: binding | kind,
        st_other: elf::SymbolOther(other),
        st_shndx: elf::SymbolSection(0),
        st_value: value * 8,
        st_size: size * 8,
    }
}
