//! Bytes as the choices that make a structured program, which must assemble and come back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pendula_isa::sample::{Draft, Source};

fuzz_target!(|bytes: &[u8]| {
    let [size, bytes @ ..] = bytes else { return };
    // A statement takes a few bytes; without any, all the rest would be alike.
    let size = usize::from(*size).min(bytes.len() / 4);
    let draft = Draft::new(&mut Source::bytes(bytes), size);
    let text = draft.text();
    let assembly = pendula_fuzz::assembly(&text);
    let Some(module) = assembly.module else { panic!("{:#?}\n{text}", assembly.diagnostics) };
    let drafted = draft.module().expect("the sampler makes valid instructions");
    assert_eq!((module.code, module.data), (drafted.code, drafted.data), "{text}");
    pendula_fuzz::source(&text);
});
