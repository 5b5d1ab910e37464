//! Any bytes as a technology file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    pendula_fuzz::text::technology(&String::from_utf8_lossy(bytes));
});
