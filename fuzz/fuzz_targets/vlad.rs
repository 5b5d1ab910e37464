//! Any bytes as a program in VLAD.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::vlad(bytes));
