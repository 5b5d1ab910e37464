//! Any bytes as a program in PISA.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::pisa(bytes));
