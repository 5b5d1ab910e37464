//! Any bytes as a file of numbers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::arrays(bytes));
