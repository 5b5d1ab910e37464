//! The debug session: whatever way leads to a moment, it shows what a run straight to it shows; and the commands of `pendula debug`.

mod commands;
mod dap;
mod random;
// The terminal is that of `script`, which is different elsewhere.
#[cfg(target_os = "linux")]
mod screen;
