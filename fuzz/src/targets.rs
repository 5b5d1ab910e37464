//! The targets, by name: what each does with an input.

use pendula_asm::object::read;
use pendula_isa::Profile;
use pendula_isa::encode::{Pool, decode as decoded, encode};
use pendula_isa::inst::Inst;
use pendula_isa::mnemonic::lookup;
use pendula_isa::operand::Operand;
use pendula_isa::sample::{RandomProgram, Source};
use pendula_isa::text::{NoNames, display};

use crate::{compiled, functional, text};

/// All targets.
pub const ALL: &[(&str, fn(&[u8]))] = &[
    ("arrays", arrays),
    ("assemble", assemble),
    ("decode", decode),
    ("definitions", definitions),
    ("engines", engines),
    ("futhark", futhark),
    ("janus", janus),
    ("nil", nil),
    ("nilang", nilang),
    ("object", object),
    ("pisa", pisa),
    ("program", program),
    ("representation", representation),
    ("technology", technology),
    ("values", values),
    ("vlad", vlad),
    ("word", word),
];

/// Any bytes as source text.
pub fn assemble(bytes: &[u8]) {
    crate::source(&String::from_utf8_lossy(bytes));
}

/// Any bytes as a program in Janus.
pub fn janus(bytes: &[u8]) {
    compiled::janus(&String::from_utf8_lossy(bytes));
}

/// Any bytes as a program in VLAD.
pub fn vlad(bytes: &[u8]) {
    functional::vlad(&String::from_utf8_lossy(bytes));
}

/// Any bytes as a program in Futhark.
pub fn futhark(bytes: &[u8]) {
    functional::futhark(&String::from_utf8_lossy(bytes));
}

/// Any bytes as a program in Nil.
pub fn nil(bytes: &[u8]) {
    compiled::nil(&String::from_utf8_lossy(bytes));
}

/// Any bytes as a file of Julia with functions of NiLang.
pub fn nilang(bytes: &[u8]) {
    compiled::nilang(&String::from_utf8_lossy(bytes));
}

/// Any bytes as a program in PISA.
pub fn pisa(bytes: &[u8]) {
    crate::pisa(&String::from_utf8_lossy(bytes));
}

/// Any bytes as text of the intermediate representation.
pub fn representation(bytes: &[u8]) {
    compiled::representation(&String::from_utf8_lossy(bytes));
}

/// Any bytes as a technology file.
pub fn technology(bytes: &[u8]) {
    text::technology(&String::from_utf8_lossy(bytes));
}

/// Any bytes as values on the command line.
pub fn values(bytes: &[u8]) {
    text::values(&String::from_utf8_lossy(bytes));
}

/// Any bytes as a file of numbers.
pub fn arrays(bytes: &[u8]) {
    text::array(bytes);
}

/// Words as text and back.
pub fn word(bytes: &[u8]) {
    text::word(bytes);
}

/// Any bytes as a file of definitions.
pub fn definitions(bytes: &[u8]) {
    crate::definitions(&String::from_utf8_lossy(bytes));
}

/// Any bytes as an object file.
pub fn object(bytes: &[u8]) {
    let Ok(module) = read(bytes) else { return };
    if !crate::is_small(&module) {
        return;
    }
    crate::written(&module, false);
    crate::run(&module);
}

/// What bytes make as choices: the first says how large the program is.
fn draft(bytes: &[u8]) -> Option<RandomProgram> {
    let [size, bytes @ ..] = bytes else { return None };
    // A statement takes a few bytes; without any, all the rest would be alike.
    let size = usize::from(*size).min(bytes.len() / 4);
    Some(RandomProgram::new(&mut Source::bytes(bytes), size))
}

/// Bytes as the choices that make a structured program, which must assemble and come back.
pub fn program(bytes: &[u8]) {
    let Some(draft) = draft(bytes) else { return };
    let text = draft.text();
    let assembly = crate::assembly(&text);
    let Some(module) = assembly.module else { panic!("{:#?}\n{text}", assembly.diagnostics) };
    let drafted = draft.module().expect("the sampler makes valid instructions");
    assert_eq!((module.code, module.data), (drafted.code, drafted.data), "{text}");
    crate::source(&text);
}

/// Bytes as the choices that make a structured program, which the interpreter and compiled code must run alike.
pub fn engines(bytes: &[u8]) {
    let Some(draft) = draft(bytes) else { return };
    if let Some(module) = crate::assembly(&draft.text()).module {
        crate::engines(&module);
    }
}

/// Any words as instructions: the first byte says how many words are the constant pool.
pub fn decode(bytes: &[u8]) {
    let [count, bytes @ ..] = bytes else { return };
    let words: Vec<u64> = bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default())).collect();
    let (pool, words) = words.split_at(usize::from(*count).min(words.len()));
    for &word in words {
        let Ok(inst) = decoded(word, pool, &[], Profile::Native) else { continue };
        assert_eq!(inst.validate(Profile::Native), Ok(()));
        let mut own = Pool::default();
        let mut again = encode(&inst, &mut own);
        if let [constant] = own.words() {
            let index = word >> 36;
            assert_eq!(pool[index as usize], *constant);
            again |= index << 36;
        }
        assert_eq!(again, word, "{inst:?}");
        let operands: Vec<Operand> = inst.operands().map(|(_, operand)| operand).collect();
        let family = lookup(&inst.kind.mnemonic()).expect("a mnemonic for every instruction");
        assert_eq!(Inst::build(family, &operands), Ok(inst));
        assert_eq!(inst.inverse().inverse(), inst);
        assert!(!display(&inst, 0, &NoNames).is_empty());
    }
}
