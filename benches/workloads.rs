//! The workloads beside the same in C, checked and timed by `pendula bench`, whose options go behind `--`:
//! `cargo bench --bench workloads -- norm gmm --engine interp,jit`.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // What cargo itself adds.
    let options = std::env::args().skip(1).filter(|a| a != "--bench");
    let status = Command::new(env!("CARGO_BIN_EXE_pendula")).arg("bench").args(options).status();
    match status.expect("pendula runs").code() {
        Some(0) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
