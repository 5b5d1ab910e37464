//! Prints one instruction as text that the assembler reads.

use std::fmt::Write as _;

use crate::inst::{Inst, Kind};
use crate::module::{Module, SymbolKind};
use crate::num::{Format, decimal};
use crate::operand::Operand;
use crate::table::Row;
use crate::types::{Profile, Reg, Ty};

/// Whether a character may occur in a name: letters, digits, combining marks (accents, primes), and letter-like symbols. In assembly also
/// `_`, `.`, `$` and `!`.
pub fn in_names(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '∂' | '∇' | '∞')
        || matches!(c, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' | '\u{2032}'..='\u{2037}' | '\u{2057}')
}

/// Names for the addresses, texts and constants that an instruction refers to.
pub trait Names {
    /// The name of the code address, for jumps and calls.
    fn label(&self, at: i64) -> String;
    /// The text with this index.
    fn text(&self, index: u32) -> String;
    /// The data symbol at this address, if there is one.
    fn data(&self, address: i64) -> Option<String>;
    /// The module's fixed-point format.
    fn format(&self) -> Format;
    /// A constant.
    fn constant(&self, word: u64, ty: Ty) -> String {
        number(word, ty, self.format())
    }
    /// A register.
    fn register(&self, reg: Reg) -> String {
        reg.to_string()
    }
}

/// Names without symbols: addresses are printed as numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn label(&self, at: i64) -> String {
        format!("@{at}")
    }
    fn text(&self, index: u32) -> String {
        format!("text {index}")
    }
    fn data(&self, _: i64) -> Option<String> {
        None
    }
    fn format(&self) -> Format {
        Format::default()
    }
}

/// Names from a module's symbols.
#[derive(Clone, Copy, Debug)]
pub struct ModuleNames<'a>(pub &'a Module);

impl Names for ModuleNames<'_> {
    fn label(&self, at: i64) -> String {
        let code = |k: SymbolKind| !matches!(k, SymbolKind::Data { .. });
        // A `proc` refers to its `ret`, which is printed by the name of the `proc`.
        let at = match usize::try_from(at).ok().and_then(|n| self.0.code.get(n)) {
            Some(Inst { kind: Kind::Row { row: Row::Proc, inverse: true, .. }, imm, .. }) => at.saturating_add(*imm),
            _ => at,
        };
        let exact = self.0.symbols.iter().find(|s| code(s.kind) && i64::try_from(s.value) == Ok(at));
        exact.map_or_else(|| format!("@{at}"), |s| s.name.clone())
    }

    fn text(&self, index: u32) -> String {
        self.0.texts.get(index as usize).cloned().unwrap_or_default()
    }

    fn data(&self, address: i64) -> Option<String> {
        let at = u64::try_from(address).ok()?;
        self.0.symbols.iter().find_map(|s| match s.kind {
            SymbolKind::Data { len, .. } if s.value <= at && at < s.value + len.max(1) => {
                Some(if at == s.value { s.name.clone() } else { format!("{}+{}", s.name, at - s.value) })
            }
            SymbolKind::Data { .. } | SymbolKind::Label | SymbolKind::Proc => None,
        })
    }

    fn format(&self) -> Format {
        self.0.flags.format
    }

    fn constant(&self, word: u64, ty: Ty) -> String {
        match ty {
            // Janus adds integers as fixed-point words to detect overflow: print them as integers.
            Ty::Q if self.0.is_all_janus() && word < 1 << 63 => format!("{word}w"),
            ty => number(word, ty, self.format()),
        }
    }

    fn register(&self, reg: Reg) -> String {
        match self.0.flags.profile {
            Profile::Native => reg.to_string(),
            // No register has a special role there.
            Profile::Pisa => format!("r{}", reg.number()),
        }
    }
}

/// The instruction at address `at` as text: `addmul.q r1, [n+r2], r3`.
pub fn display(inst: &Inst, at: u64, names: &dyn Names) -> String {
    let mut out = inst.kind.mnemonic();
    for (n, (_, one)) in inst.operands().enumerate() {
        if n == 0 {
            while out.len() < 7 {
                out.push(' ');
            }
            out.push(' ');
        } else {
            out.push_str(", ");
        }
        out.push_str(&operand(one, at, names));
    }
    out
}

/// One operand of the instruction at address `at` as text.
pub fn operand(operand: Operand, at: u64, names: &dyn Names) -> String {
    match operand {
        Operand::Reg(r) => names.register(r),
        Operand::Mem { base, index, offset } => memory_text(base, index, offset, names),
        Operand::Imm(word, ty) => names.constant(word, ty),
        Operand::Small(k) => k.to_string(),
        Operand::Factor(k) => k.to_string(),
        Operand::Label(offset) => names.label(at.cast_signed().wrapping_add(offset)),
        Operand::Text(index) => quote(&names.text(index)),
    }
}

fn memory_text(base: Reg, index: Reg, offset: i64, names: &dyn Names) -> String {
    if base == Reg::ZERO {
        return format!("[{}]", names.data(offset).unwrap_or_else(|| offset.to_string()));
    }
    let mut out = format!("[{base}");
    if index != Reg::ZERO {
        out.push_str(&format!("+{index}"));
    }
    if offset != 0 {
        out.push_str(&format!("{offset:+}"));
    }
    out.push(']');
    out
}

/// A word as a number that reads back exactly; a word that is not a number of the type as a raw word, `0x…w`.
pub fn number(word: u64, ty: Ty, format: Format) -> String {
    let mut out = String::new();
    push_number(&mut out, word, ty, format);
    out
}

/// Adds a word to a text, as [`number`] writes it.
pub fn push_number(out: &mut String, word: u64, ty: Ty, format: Format) {
    match ty {
        Ty::Int => drop(write!(out, "{}", word.cast_signed())),
        Ty::Q => out.push_str(&decimal::format_q(word, format)),
        Ty::L => out.push_str(&decimal::format_l(word)),
        Ty::F => decimal::push_f(out, word),
    }
}

/// A text in quotes, with the assembler's escapes.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
