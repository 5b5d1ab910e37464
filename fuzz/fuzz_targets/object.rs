//! Any bytes as an object file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pendula_asm::object;

fuzz_target!(|bytes: &[u8]| {
    let Ok(module) = object::read(bytes) else { return };
    if !pendula_fuzz::is_small(&module) {
        return;
    }
    pendula_fuzz::written(&module, false);
    pendula_fuzz::run(&module);
});
