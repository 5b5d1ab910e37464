//! Bytes as the choices that make a structured program, which the interpreter and compiled code must run alike.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pendula_fuzz::targets::engines(bytes));
