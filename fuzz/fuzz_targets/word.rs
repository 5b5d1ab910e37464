//! Words as text and back.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    pendula_fuzz::text::word(bytes);
});
