//! What concerns programs of the profile `pisa`: what `SHOW` prints, and cells by name.

use pendula_isa::Module;
use pendula_isa::module::SymbolKind;
use pendula_isa::table::Flow;
use pendula_isa::types::{Profile, Reg, Ty};
use pendula_vm::Machine;

use crate::values::{Location, Place};

/// What `SHOW` prints. A word is a header, which says how the next one is printed, or such a next one:
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
    /// At the beginning of a run; with `raw`, words are printed as numbers, one a line, as before there were headers.
    pub fn new(raw: bool) -> Show {
        Show { raw, header: None }
    }

    /// What a word that is shown prints.
    pub fn word(&mut self, word: u32) -> Vec<u8> {
        if self.raw {
            return format!("{}\n", word.cast_signed()).into_bytes();
        }
        let Some(header) = self.header.take() else {
            match word {
                0xff00 => return b"\n".to_vec(),
                // Not a header.
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

/// Whether a module is of the profile `pisa`.
pub fn is_pisa(module: &Module) -> bool {
    module.flags.profile == Profile::Pisa
}

/// A register as PISA writes it: `$3`.
pub fn register(reg: Reg) -> String {
    format!("${}", reg.number())
}

/// A register of PISA by name: `$3`.
pub fn parse_register(name: &str) -> Option<Reg> {
    let digits = name.strip_prefix('$').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))?;
    Reg::new(digits.parse().ok()?)
}

/// The cells of data that a label names: from it on, until an instruction or another label.
pub fn cells_of(module: &Module, label: &str) -> Option<Place> {
    let start = module.symbols.iter().find(|s| s.kind == SymbolKind::Label && s.name == label)?.value;
    place(module, label, start)
}

fn place(module: &Module, label: &str, start: u64) -> Option<Place> {
    let is_cell = |at: u64| {
        usize::try_from(at).ok().and_then(|at| module.code.get(at)).is_some_and(|i| i.kind.flow() == Flow::Cell)
    };
    let next = module.symbols.iter().map(|s| s.value).filter(|at| *at > start).min().unwrap_or(u64::MAX);
    let len = (start..next).take_while(|at| is_cell(*at)).count() as u64;
    let at = Location::Memory { start, len, array: len > 1 };
    (len > 0).then(|| Place { name: label.to_string(), ty: Ty::Int, at })
}

/// What a run has left: the cells whose words are not those of the program, as labelled data where a label names them, else one by one.
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
    let mut labels: Vec<(u64, &str)> = module.symbols.iter().map(|s| (s.value, s.name.as_str())).collect();
    labels.sort_by_key(|(at, _)| *at);
    // Of two labels at one place, the first names it.
    labels.dedup_by_key(|(at, _)| *at);
    for (at, word) in single {
        let within = |p: &Place| matches!(p.at, Location::Memory { start, len, .. } if (start..start + len).contains(&u64::from(at)));
        if places.last().is_some_and(within) {
            continue;
        }
        let n = labels.partition_point(|(label, _)| *label <= u64::from(at));
        let named = n.checked_sub(1).and_then(|n| place(module, labels[n].1, labels[n].0)).filter(within);
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
    fn headers_say_how_words_are_printed() {
        assert_eq!(shown(&[0, 5, 0xff00, 0, u32::MAX]), "5\n-1");
        assert_eq!(shown(&[1, u32::MAX, 0xff00, 0x10, 0xbeef]), "4294967295\nbeef");
        assert_eq!(shown(&[0x100, u32::from_le_bytes(*b"hell"), u32::from_le_bytes(*b"o\0\0\0"), 0, 7]), "hello7");
        assert_eq!(shown(&[0x200, 1.5f32.to_bits(), 0xff00, 0x201, 1234.5f32.to_bits()]), "1.500000\n1.234500e+03");
        assert_eq!(shown(&[0x201, 0.000_012_5f32.to_bits(), 0x200, f32::NEG_INFINITY.to_bits()]), "1.250000e-05-inf");
    }
}
