//! The rules for a module in an object, beyond the words of its instructions. They are checked before writing and after
//! reading. [`verify`](pendula_isa::verify) has the rules for code; those for names, spans and lines are here.

use std::collections::{HashMap, HashSet};

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, Span, Symbol, SymbolKind};
use pendula_isa::operand::Operand;
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Profile, Reg};
use pendula_isa::verify::{target, verify};

use super::sections::{REASONS, VARIABLES};
use super::{DATA_LIMIT, NAME_LIMIT, ObjectError};

/// Whether a text is a name for the assembler: letters, digits, `_`, `.`, `$` and `!`. It may not begin with a digit or
/// `!`, nor with one of these after a point, and may not be a register.
pub fn is_name(text: &str) -> bool {
    let inside = |c: char| matches!(c, '_' | '.' | '$' | '!') || pendula_isa::text::in_names(c);
    let digits = text.strip_prefix('.').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit() || c == '!')
        || text.starts_with('!');
    !text.is_empty() && text.len() <= NAME_LIMIT && !digits && text.chars().all(inside) && Reg::parse(text).is_none()
}

/// A valid name that is not in `taken`, as similar as possible to `preferred`. It is added to `taken`.
pub fn as_name(preferred: &str, taken: &mut HashSet<String>) -> String {
    let inside = |c: char| matches!(c, '_' | '.' | '$') || pendula_isa::text::in_names(c);
    let mut base: String = preferred.chars().map(|c| if inside(c) { c } else { '_' }).collect();
    if !is_name(&base) {
        base.insert(0, '_');
    }
    let mut name = base.clone();
    let mut n = 2;
    while !taken.insert(name.clone()) {
        name = format!("{base}.{n}");
        n += 1;
    }
    name
}

/// Whether a text may name a symbol. Labels of PISA may have any characters except those that end a word there.
pub(super) fn is_symbol(profile: Profile, text: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | ';' | ',');
    match profile {
        Profile::Native => is_name(text),
        Profile::Pisa => !text.is_empty() && text.len() <= NAME_LIMIT && !text.contains(ends),
    }
}

/// Checks everything except the encoding of single instructions.
pub(super) fn check(module: &Module) -> Result<(), ObjectError> {
    if module.data.len() as u64 > DATA_LIMIT {
        return Err(ObjectError::too_large(".data", DATA_LIMIT, "words"));
    }
    if module.flags.profile == Profile::Pisa && !module.data.is_empty() {
        return Err(ObjectError::Section {
            section: ".data",
            problem: "holds words, and the profile `pisa` has no data segment",
        });
    }
    if module.flags.mem.is_some_and(|mem| mem < module.data.len() as u64) {
        let problem = "holds more words than the memory has by the flags";
        return Err(ObjectError::Section { section: ".data", problem });
    }
    if let Some(v) = verify(module).1.first() {
        return Err(ObjectError::Structure { address: v.at, problem: v.problem, other: v.other });
    }
    for (address, inst) in module.code.iter().enumerate() {
        for (_, operand) in inst.operands() {
            if matches!(operand, Operand::Text(_))
                && usize::try_from(inst.imm).map_or(true, |n| n >= module.texts.len())
            {
                let count = module.texts.len();
                return Err(ObjectError::Text { address: address as u32, index: inst.imm, count });
            }
        }
    }
    check_symbols(module)?;
    check_spans(&module.spans, &module.code)?;
    check_reasons(module)?;
    check_variables(module)?;
    check_lines(module)
}

/// The number of instructions of a procedure, from its `proc`.
pub(super) fn procedure_len(code: &[Inst], at: u64) -> Option<u64> {
    let at = u32::try_from(at).ok()?;
    let inst = code.get(at as usize)?;
    if !matches!(inst.kind, Kind::Row { row: Row::Proc, inverse: false, .. }) {
        return None;
    }
    let (ret, _) = target(code, at, inst)?;
    Some(u64::from(ret.checked_sub(at)?) + 1)
}

fn check_symbols(module: &Module) -> Result<(), ObjectError> {
    let mut names = HashSet::new();
    for symbol in &module.symbols {
        let bad = |problem| Err(ObjectError::Symbol { name: symbol.name.clone(), problem });
        if !is_symbol(module.flags.profile, &symbol.name) {
            return bad("is not a name that the assembler takes");
        }
        if !names.insert(symbol.name.as_str()) {
            return bad("occurs twice");
        }
        if let Some(problem) = misplaced(module, symbol) {
            return bad(problem);
        }
    }
    Ok(())
}

fn misplaced(module: &Module, symbol: &Symbol) -> Option<&'static str> {
    match symbol.kind {
        SymbolKind::Label => (symbol.value > module.code.len() as u64).then_some("is a label past the code"),
        SymbolKind::Proc => {
            procedure_len(&module.code, symbol.value).is_none().then_some("is a procedure without `proc`")
        }
        SymbolKind::Data { len, .. } => {
            let end = symbol.value.checked_add(len);
            end.is_none_or(|end| end > module.data.len() as u64).then_some("is a data object past the data")
        }
    }
}

fn check_spans(spans: &[Span], code: &[Inst]) -> Result<(), ObjectError> {
    let bad = |span: &Span, problem| Err(ObjectError::Span { name: span.name.clone(), start: span.start, problem });
    for span in spans {
        if !is_name(&span.name) {
            return bad(span, "has no name that the assembler takes");
        }
        if span.start > span.end || span.end as usize > code.len() {
            return bad(span, "does not lie within the code");
        }
        let inside = &code[span.start as usize..span.end as usize];
        if inside.iter().any(|i| matches!(i.kind.flow(), Flow::Procedure | Flow::Run)) {
            return bad(span, "holds the beginning or the end of a procedure");
        }
    }
    let mut sorted: Vec<&Span> = spans.iter().filter(|s| s.start < s.end).collect();
    sorted.sort_by_key(|s| (s.start, std::cmp::Reverse(s.end)));
    let mut open: Vec<u32> = Vec::new();
    for span in sorted {
        while open.last().is_some_and(|&end| end <= span.start) {
            open.pop();
        }
        if open.last().is_some_and(|&end| end < span.end) {
            return bad(span, "begins within another span and ends outside it");
        }
        open.push(span.end);
    }
    Ok(())
}

/// Reasons are sorted by their instructions, with one for each.
fn check_reasons(module: &Module) -> Result<(), ObjectError> {
    let ordered = module.reasons.is_sorted_by(|a, b| a.at < b.at);
    if !ordered || module.reasons.last().is_some_and(|r| r.at as usize >= module.code.len()) {
        let problem = "does not name instructions of the code in their order";
        return Err(ObjectError::Section { section: REASONS, problem });
    }
    Ok(())
}

/// Each variable is a data symbol with the same number of words, and no two have the same name.
fn check_variables(module: &Module) -> Result<(), ObjectError> {
    let bad = |problem| Err(ObjectError::Section { section: VARIABLES, problem });
    let data = module.symbols.iter().filter_map(|s| match s.kind {
        SymbolKind::Data { len, .. } => Some((s.name.as_str(), len)),
        SymbolKind::Label | SymbolKind::Proc => None,
    });
    let lens: HashMap<&str, u64> = data.collect();
    let (mut symbols, mut names) = (HashSet::new(), HashSet::new());
    for v in &module.variables {
        let words = v.dims.iter().try_fold(v.width(), |n, len| n.checked_mul(*len));
        if words.is_none() || lens.get(v.symbol.as_str()).copied() != words {
            return bad("does not name data objects with as many words");
        }
        if !v.truths.is_empty() && v.truths.len() as u64 != v.width() {
            return bad("does not say of each word of an element whether it is true or false");
        }
        if v.name.is_empty() || v.name.len() > NAME_LIMIT || v.name.chars().any(char::is_control) {
            return bad("holds a name that no source has");
        }
        if !symbols.insert(v.symbol.as_str()) || !names.insert(v.name.as_str()) {
            return bad("names a variable twice");
        }
    }
    Ok(())
}

fn check_lines(module: &Module) -> Result<(), ObjectError> {
    if module.files.len() > 1 << 16 {
        return Err(ObjectError::Lines { entry: 1 << 16, problem: "names too many files" });
    }
    if let Some(entry) = module.files.iter().position(|f| f.chars().any(char::is_control)) {
        return Err(ObjectError::Lines { entry, problem: "names a file with control characters" });
    }
    if !module.locs.is_empty() && module.locs.len() != module.code.len() {
        return Err(ObjectError::Lines { entry: module.locs.len(), problem: "is not as long as the code" });
    }
    let stray = module.locs.iter().position(|l| l.line > 0 && l.file as usize >= module.files.len());
    match stray {
        Some(entry) => Err(ObjectError::Lines { entry, problem: "names a file that it does not list" }),
        None => Ok(()),
    }
}
