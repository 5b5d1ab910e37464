//! Any bytes as a file of Julia with functions of NiLang.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::nilang(bytes));
