//! Bytes as the choices that make a structured program, which must assemble and come back.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::program(bytes));
