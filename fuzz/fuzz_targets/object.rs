//! Any bytes as an object file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::object(bytes));
