//! Any bytes as values on the command line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    pendula_fuzz::text::values(&String::from_utf8_lossy(bytes));
});
