//! Any bytes as source text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    pendula_fuzz::source(&String::from_utf8_lossy(bytes));
});
