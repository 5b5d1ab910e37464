//! Bytes as the choices that make a structured program, which the interpreter and compiled code must run alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pendula_isa::sample::{Draft, Source};

fuzz_target!(|bytes: &[u8]| {
    let [size, bytes @ ..] = bytes else { return };
    let size = usize::from(*size).min(bytes.len() / 4);
    let text = Draft::new(&mut Source::bytes(bytes), size).text();
    if let Some(module) = pendula_fuzz::assembly(&text).module {
        pendula_fuzz::engines(&module);
    }
});
