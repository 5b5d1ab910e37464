//! Any bytes as text of the intermediate representation.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::representation(bytes));
