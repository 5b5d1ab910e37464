//! The program as a person or a script runs it, in the folder of the repository.

use std::ffi::OsStr;

use assert_cmd::Command;

/// Exit status, standard output, standard error.
pub(crate) fn run<S: AsRef<OsStr>>(args: &[S], input: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("pendula").expect("the binary");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args).env_remove("RUST_LOG").env("NO_COLOR", "1");
    let output = command.write_stdin(input).output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}
