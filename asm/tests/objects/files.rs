//! Object files: their content, and errors in damaged ones.

use pendula_asm::assemble::{Options, assemble};
use pendula_asm::object::{self, ObjectError};
use pendula_isa::module::{Module, SymbolKind, Variable};
use pendula_isa::types::Ty;

use super::modules::*;

#[test]
fn objects_hold_modules() {
    for module in [Module::default(), fib(), mixed()] {
        let bytes = object::write(&module).unwrap();
        assert!(object::is_object(&bytes));
        assert_eq!(object::read(&bytes), Ok(module.clone()));
        // At an unaligned address, too.
        let shifted = [&[0], &bytes[..]].concat();
        assert_eq!(object::read(&shifted[1..]), Ok(module));
    }
}

#[test]
fn objects_keep_what_data_is_called_in_the_source() {
    let variable = |symbol: &str, dims: &[u64], parts: &[&str]| Variable {
        symbol: symbol.to_string(),
        name: format!("own {symbol}"),
        dims: dims.to_vec(),
        parts: parts.iter().map(|part| part.to_string()).collect(),
        truths: parts.iter().map(|part| *part == "im").collect(),
    };
    let sound =
        Module { variables: vec![variable("big", &[2, 2], &["re", "im"]), variable("mid", &[3], &[])], ..mixed() };
    let bytes = object::write(&sound).expect("a sound module");
    assert_eq!(object::read(&bytes).as_ref(), Ok(&sound));
    let bad = [
        vec![variable("mid", &[2], &[])],
        vec![variable("none", &[], &[])],
        vec![variable("mid", &[3], &[]), variable("mid", &[3], &[])],
        vec![variable("big", &[u64::MAX, 8], &[])],
        vec![Variable { name: "\n".to_string(), ..variable("mid", &[3], &[]) }],
        vec![Variable { truths: vec![true; 2], ..variable("mid", &[3], &[]) }],
    ];
    for variables in bad {
        assert!(object::write(&Module { variables: variables.clone(), ..mixed() }).is_err(), "{variables:?}");
    }
}

#[test]
fn zeros_at_the_end_of_the_data_cost_nothing() {
    let mut module = fib();
    module.data.push_zeros((1 << 22) - module.data.len());
    module.symbols.push(symbol("heap", data(Ty::Q, (1 << 22) - 1, false, false), 1));
    let bytes = object::write(&module).unwrap();
    assert!(bytes.len() < 4096, "{}", bytes.len());
    assert_eq!(object::read(&bytes), Ok(module));
}

#[test]
fn invalid_modules_are_not_written() {
    let code = |module: &Module| object::write(module).unwrap_err().code();
    let mut module = fib();
    module.code[7].imm = -3;
    assert_eq!(code(&module), "P0309");
    let mut module = fib();
    module.code[1].small = 1;
    assert_eq!(code(&module), "P0314");
    let mut module = fib();
    module.symbols[0].name = "top".to_string();
    assert_eq!(code(&module), "P0311");
    for name in ["", "r1", "SP", "1a", ".5", "a b", "a\nb", "a-b", &"x".repeat(2000)] {
        module.symbols[0].name = name.to_string();
        assert_eq!(code(&module), "P0311", "{name:?}");
    }
    for (kind, value) in [(SymbolKind::Label, 11), (SymbolKind::Proc, 1), (data(Ty::Q, 1, false, false), 1)] {
        let mut module = fib();
        module.symbols[0] = symbol("n", kind, value);
        assert_eq!(code(&module), "P0311", "{kind:?}");
    }
    let mut module = fib();
    module.spans = vec![span("a", false, 1, 4), span("b", false, 2, 5)];
    assert_eq!(code(&module), "P0312");
    let mut module = fib();
    module.locs[3].file = 1;
    assert_eq!(code(&module), "P0313");
    let mut module = mixed();
    module.texts.clear();
    assert_eq!(code(&module), "P0310");
    let mut module = Module::default();
    module.data.push_zeros(object::DATA_LIMIT as usize + 1);
    assert_eq!(code(&module), "P0091");
    let pisa = assemble("pisa.rasm", " .profile pisa\n start\n finish\n".to_string(), &Options::default());
    let mut module = pisa.module.unwrap();
    assert!(object::write(&module).is_ok());
    module.data.push_zeros(1);
    assert_eq!(code(&module), "P0304");
    let mut module = fib();
    module.flags.mem = Some(module.data.len() as u64);
    assert!(object::write(&module).is_ok());
    module.flags.mem = module.flags.mem.and_then(|mem| mem.checked_sub(1));
    assert_eq!(code(&module), "P0304");
}

/// The place of a section's bytes in a file.
fn section(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    let word = |at: usize, n: usize| bytes[at..at + n].iter().rev().fold(0usize, |w, b| w << 8 | usize::from(*b));
    let header = |n: usize| word(0x28, 8) + 64 * n;
    let names = word(header(word(0x3e, 2)) + 0x18, 8);
    let found = (0..word(0x3c, 2))
        .map(header)
        .find(|&h| bytes[names + word(h, 4)..].starts_with(&[name.as_bytes(), &[0]].concat()));
    let h = found.unwrap();
    word(h + 0x18, 8)..word(h + 0x18, 8) + word(h + 0x20, 8)
}

#[test]
fn damaged_objects_are_refused_with_their_places() {
    let good = object::write(&mixed()).unwrap();
    let damaged = |name: &str, offset: usize, xor: u8| {
        let mut bytes = good.clone();
        bytes[section(&good, name).start + offset] ^= xor;
        object::read(&bytes).unwrap_err()
    };
    assert!(matches!(damaged(".text", 8 * 3 + 7, 1), ObjectError::Word { address: 3, .. }));
    assert!(matches!(damaged(".text", 8 * 6 + 5, 0x10), ObjectError::Structure { address: 6, .. }));
    assert!(matches!(damaged(".pendula.flags", 0, 3), ObjectError::Version { found: 0, known: 3 }));
    assert!(matches!(damaged(".pendula.flags", 1, 1), ObjectError::Numerics { found: 3, known: 2 }));
    assert!(matches!(damaged(".pendula.flags", 3, 0x80), ObjectError::Malformed { section: ".pendula.flags", .. }));
    assert!(matches!(damaged(".pendula.texts", 0, 0x40), ObjectError::Malformed { section: ".pendula.texts", .. }));
    assert!(matches!(damaged(".pendula.spans", 1, 0x80), ObjectError::Malformed { section: ".pendula.spans", .. }));
    assert!(matches!(damaged(".symtab", 24 + 8, 1), ObjectError::Symbol { .. }));
    assert!(matches!(damaged(".pendula.symbols", 0, 1), ObjectError::Section { section: ".pendula.symbols", .. }));
    assert_eq!(object::read(b"start").unwrap_err().code(), "P0301");
    assert_eq!(object::read(&good[..40]).unwrap_err().code(), "P0302");
    let mut other = good.clone();
    other[0x12] = 62;
    assert_eq!(object::read(&other).unwrap_err().code(), "P0301");
    // A `.bss` with an excessive size does not allocate memory.
    let mut huge = good.clone();
    let headers = usize::from(good[0x28]) | usize::from(good[0x29]) << 8;
    huge[headers + 64 * 4 + 0x20 + 6] = 0xff;
    assert!(matches!(object::read(&huge), Err(ObjectError::TooLarge(e)) if e.what == "section `.bss`"));
}

#[test]
fn a_constant_that_the_code_does_not_use_is_refused() {
    let mut module = fib();
    module.code[1] = i("add", &[r(3), int(1 << 40)]);
    module.code[8] = i("sub", &[r(3), int(1 << 41)]);
    let good = object::write(&module).unwrap();
    let pool = section(&good, ".rodata");
    let mut bytes = good.clone();
    bytes.copy_within(pool.start..pool.start + 8, pool.start + 8);
    // Both words name the same constant now: the second is superfluous.
    assert!(matches!(object::read(&bytes), Err(ObjectError::Word { address: 8, .. } | ObjectError::Pool { .. })));
}

#[test]
fn codes_are_distinct() {
    let codes = || object::codes().chain(pendula_asm::invert::codes()).chain(pendula_asm::check::codes());
    let mut all: Vec<_> = codes().map(|(code, _)| code).collect();
    let n = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), n);
    assert!(codes().all(|(code, title)| code.len() == 5 && !title.is_empty()));
}
