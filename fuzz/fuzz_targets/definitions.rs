//! Any bytes as a file of definitions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::definitions(bytes));
