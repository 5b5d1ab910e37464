//! Programs of the profile `pisa`: the output of `SHOW`, and cells by name.

use pendula_isa::Module;
use pendula_isa::module::SymbolKind;
use pendula_isa::table::Flow;
use pendula_isa::types::Reg;
use pendula_vm::Machine;

use crate::state::names;
use crate::state::values::error::ValueError;
use crate::state::values::place::{Location, Place};

/// The state of `SHOW`'s output. A word is either a header, which says how the next word is printed, or that next word:
///
/// | header | the next word |
/// |---|---|
/// | 0xFF00 | none: a new line is begun |
/// | 0x0000, 0x0001, 0x0010 | a number: signed, unsigned, hexadecimal |
/// | 0x0100 | four characters, the first in the low byte, and so the words that follow, until one whose top byte is 0 |
/// | 0x0200, 0x0201 | the bits of a float, printed as C's `%f` or `%e` does |
#[derive(Clone, Debug, Default)]
pub struct Show {
    raw: bool,
    header: Option<u32>,
}

impl Show {
    /// The state at the beginning of a run. With `raw`, every word is printed as a number, one per line, as before
    /// headers existed.
    pub fn new(raw: bool) -> Show {
        Show { raw, header: None }
    }

    /// True if a text has begun and not ended.
    pub fn in_text(&self) -> bool {
        self.header.is_some_and(|header| header & 0xff00 == 0x0100)
    }

    /// The output for a shown word.
    pub fn word(&mut self, word: u32) -> Vec<u8> {
        if self.raw {
            return format!("{}\n", word.cast_signed()).into_bytes();
        }
        let Some(header) = self.header.take() else {
            match word {
                0xff00 => return b"\n".to_vec(),
                // Not a valid header.
                u32::MAX => {}
                header => self.header = Some(header),
            }
            return Vec::new();
        };
        match header & 0xff00 {
            0 if header & 0x10 != 0 => format!("{word:x}").into_bytes(),
            0 if header & 1 != 0 => word.to_string().into_bytes(),
            0 => word.cast_signed().to_string().into_bytes(),
            0x0100 => {
                let bytes = word.to_le_bytes();
                if bytes[3] != 0 {
                    self.header = Some(header);
                }
                bytes.into_iter().take_while(|b| *b != 0).collect()
            }
            0x0200 => float(f32::from_bits(word), header & 1 != 0).into_bytes(),
            _ => {
                self.header = Some(header);
                format!("unknown type: {word:x}\n").into_bytes()
            }
        }
    }
}

/// Assembles the shown bytes to text: a character whose bytes come in several words appears with the last of them.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    rest: Vec<u8>,
}

impl Texts {
    /// The text of these bytes and of those kept from earlier calls; `more` says that further bytes follow. Invalid
    /// UTF-8 becomes U+FFFD.
    pub fn text(&mut self, bytes: &[u8], more: bool) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if more && error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.rest.len(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        text
    }
}

/// A float as C prints it.
fn float(x: f32, exponent: bool) -> String {
    let x = f64::from(x);
    if !x.is_finite() {
        let sign = if x.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if x.is_nan() { "nan" } else { "inf" });
    }
    if !exponent {
        return format!("{x:.6}");
    }
    let text = format!("{x:.6e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |p| ('-', p));
    format!("{digits}e{sign}{power:0>2}")
}

/// A register in the notation of PISA: `$3`.
pub fn register(reg: Reg) -> String {
    format!("${}", reg.number())
}

/// Parses a register of PISA: `$3`.
pub fn parse_register(name: &str) -> Option<Reg> {
    let digits = name.strip_prefix('$').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))?;
    Reg::new(digits.parse().ok()?)
}

/// Finds a register (`$3`), labelled data (`table`), one of its cells (`table[2]`), or a cell by its address (`[100]`).
/// `base` is the name without its index.
///
/// # Errors
/// There is nothing of this name, the index is beyond the data, or the cell holds an instruction.
pub fn find(module: &Module, name: &str, base: &str, index: Option<u64>) -> Result<Place, ValueError> {
    let register = parse_register(base).or_else(|| Reg::parse(base));
    if let (None, Some(reg)) = (index, register) {
        return Ok(Place::narrow(name, Location::Register(reg)));
    }
    let labels = Labels::of(module);
    if let (Some(index), "") = (index, base) {
        let Ok(at) = u32::try_from(index) else {
            return Err(ValueError::NoCell(index));
        };
        let code = module.code.get(at as usize).is_some_and(|i| i.kind.flow() != Flow::Cell);
        return if code { Err(ValueError::Instruction(at)) } else { Ok(Place::narrow(name, Location::Cell(at))) };
    }
    let symbol = module.symbols.iter().find(|s| s.kind == SymbolKind::Label && s.name == base);
    match symbol.and_then(|s| labels.cells(s.value)) {
        Some(cells) => Ok(Place::narrow(name, names::within(base, cells, index)?)),
        None => {
            let known = labels.data().take(20).map(|place| place.name).collect();
            Err(ValueError::Unknown { name: base.to_string(), known })
        }
    }
}

/// The labels of a program, in the order of addresses.
struct Labels<'a> {
    module: &'a Module,
    /// Of several labels at one address, only the first.
    labels: Vec<(u64, &'a str)>,
}

impl<'a> Labels<'a> {
    fn of(module: &'a Module) -> Labels<'a> {
        let mut labels: Vec<(u64, &str)> = module.symbols.iter().map(|s| (s.value, s.name.as_str())).collect();
        labels.sort_by_key(|(at, _)| *at);
        labels.dedup_by_key(|(at, _)| *at);
        Labels { module, labels }
    }

    /// The first cell of the data at an address, and the number of cells up to an instruction or another label.
    fn cells(&self, start: u64) -> Option<(u64, u64)> {
        let is_cell = |at: u64| {
            usize::try_from(at)
                .ok()
                .and_then(|at| self.module.code.get(at))
                .is_some_and(|i| i.kind.flow() == Flow::Cell)
        };
        let next = self.labels.partition_point(|(at, _)| *at <= start);
        let end = self.labels.get(next).map_or(u64::MAX, |(at, _)| *at);
        let len = (start..end).take_while(|at| is_cell(*at)).count() as u64;
        (len > 0).then_some((start, len))
    }

    /// The data that a label names.
    fn named(&self, (at, name): (u64, &str)) -> Option<Place> {
        let (start, len) = self.cells(at)?;
        Some(Place::narrow(name, Location::Memory { start, len, array: len > 1 }))
    }

    /// The data that labels name.
    fn data(&self) -> impl Iterator<Item = Place> + '_ {
        self.labels.iter().filter_map(|label| self.named(*label))
    }
}

/// The data that labels name, in the order of addresses.
pub fn labelled(module: &Module) -> Vec<Place> {
    Labels::of(module).data().collect()
}

/// The cells that a run changed: as labelled data where a label names them, otherwise one by one.
pub fn changed(machine: &Machine<'_>) -> (Vec<Place>, Vec<(u32, u64)>) {
    let module = machine.program().module();
    let written =
        |at: usize| module.code.get(at).filter(|i| i.kind.flow() == Flow::Cell).map_or(0, |i| i.imm.cast_unsigned());
    let memory = machine.memory().iter().enumerate();
    let single: Vec<(u32, u64)> = memory
        .filter(|(at, word)| **word != written(*at))
        .map(|(at, word)| (at as u32, *word))
        .chain(machine.cells())
        .collect();
    let mut places: Vec<Place> = Vec::new();
    let mut rest = Vec::new();
    let labels = Labels::of(module);
    for (at, word) in single {
        let within = |p: &Place| matches!(p.at, Location::Memory { start, len, .. } if (start..start + len).contains(&u64::from(at)));
        if places.last().is_some_and(within) {
            continue;
        }
        let n = labels.labels.partition_point(|(label, _)| *label <= u64::from(at));
        let named = n.checked_sub(1).and_then(|n| labels.named(labels.labels[n])).filter(within);
        match named {
            Some(place) => places.push(place),
            None => rest.push((at, word)),
        }
    }
    (places, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &[u32]) -> String {
        let mut show = Show::default();
        String::from_utf8(words.iter().flat_map(|w| show.word(*w)).collect()).unwrap()
    }

    #[test]
    fn characters_may_be_shown_in_parts() {
        let (mut texts, bytes) = (Texts::default(), "aé€".as_bytes());
        assert_eq!(
            texts.text(&bytes[..2], true) + &texts.text(&bytes[2..5], true) + &texts.text(&bytes[5..], true),
            "aé€"
        );
        assert_eq!(texts.text(&bytes[..2], false), "a\u{fffd}");
        assert_eq!(texts.text(b"b", false), "b");
    }

    #[test]
    fn headers_say_how_words_are_printed() {
        assert_eq!(shown(&[0, 5, 0xff00, 0, u32::MAX]), "5\n-1");
        assert_eq!(shown(&[1, u32::MAX, 0xff00, 0x10, 0xbeef]), "4294967295\nbeef");
        assert_eq!(shown(&[0x100, u32::from_le_bytes(*b"hell"), u32::from_le_bytes(*b"o\0\0\0"), 0, 7]), "hello7");
        assert_eq!(shown(&[0x200, 1.5f32.to_bits(), 0xff00, 0x201, 1234.5f32.to_bits()]), "1.500000\n1.234500e+03");
        assert_eq!(shown(&[0x201, 0.000_012_5f32.to_bits(), 0x200, f32::NEG_INFINITY.to_bits()]), "1.250000e-05-inf");
    }
}
