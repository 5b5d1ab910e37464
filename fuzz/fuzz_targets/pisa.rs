//! Any bytes as a program in PISA.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    pendula_fuzz::pisa(&String::from_utf8_lossy(bytes));
});
