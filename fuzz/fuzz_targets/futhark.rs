//! Any bytes as a program in Futhark.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::futhark(bytes));
