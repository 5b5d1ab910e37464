//! Any bytes as a technology file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::technology(bytes));
