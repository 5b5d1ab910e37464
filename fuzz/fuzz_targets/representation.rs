//! Any bytes as text of the intermediate representation.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    pendula_fuzz::compiled::representation(&String::from_utf8_lossy(bytes));
});
