//! Any words as instructions: the first byte says how many words are the constant pool.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::decode(bytes));
