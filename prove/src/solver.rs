//! The solvers: how each is called, and how long it may take.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use easy_smt::{Context, ContextBuilder};

/// An SMT solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Z3.
    Z3,
    /// cvc5.
    Cvc5,
    /// Bitwuzla.
    Bitwuzla,
}

/// Why a solver does not answer.
#[derive(Debug, thiserror::Error)]
pub enum SolverError {
    /// It is not there.
    #[error(
        "the solver `{program}` was not found: install it (Debian has packages of z3 and cvc5), or name another with `--solver`"
    )]
    Missing {
        /// The program.
        program: &'static str,
    },
    /// No solver is there.
    #[error("no SMT solver was found: install z3, cvc5 or Bitwuzla (Debian has packages of z3 and cvc5)")]
    None,
    /// It does not work as it should.
    #[error("the solver `{program}` failed: {error}")]
    Failed {
        /// The program.
        program: &'static str,
        /// What happened.
        error: io::Error,
    },
}

impl Solver {
    /// Every solver, in the order in which they are looked for.
    pub const ALL: [Solver; 3] = [Solver::Z3, Solver::Cvc5, Solver::Bitwuzla];

    /// The name of the program.
    pub const fn program(self) -> &'static str {
        match self {
            Solver::Z3 => "z3",
            Solver::Cvc5 => "cvc5",
            Solver::Bitwuzla => "bitwuzla",
        }
    }

    /// The first solver that is installed.
    ///
    /// # Errors
    /// None is.
    pub fn find() -> Result<Solver, SolverError> {
        Solver::ALL.into_iter().find(|s| s.version().is_ok()).ok_or(SolverError::None)
    }

    /// The first line that it says of its version.
    ///
    /// # Errors
    /// It is not installed, or does not run.
    pub fn version(self) -> Result<String, SolverError> {
        let program = self.program();
        let output = Command::new(program).arg("--version").output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SolverError::Missing { program },
            _ => SolverError::Failed { program, error },
        })?;
        if !output.status.success() {
            let error = io::Error::other(format!("`{program} --version` ends with {}", output.status));
            return Err(SolverError::Failed { program, error });
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        let version = text.split_whitespace().find(number).unwrap_or("of an unknown version");
        Ok(format!("{program} {version}"))
    }

    fn arguments(self, limit: Duration) -> Vec<String> {
        let ms = limit.as_millis();
        match self {
            Solver::Z3 => vec!["-smt2".into(), "-in".into(), format!("-t:{ms}")],
            Solver::Cvc5 => {
                vec!["--quiet".into(), "--lang=smt2".into(), "--incremental".into(), format!("--tlimit-per={ms}")]
            }
            Solver::Bitwuzla => vec!["--lang=smt2".into(), format!("--time-limit-per={ms}")],
        }
    }

    /// Starts the solver for a logic of SMT-LIB; all that it is told is written to a file, too, if one is given.
    ///
    /// # Errors
    /// It is not installed, or does not run; the file cannot be written.
    pub fn start(self, limit: Duration, script: Option<&Path>, logic: &str) -> Result<Context, SolverError> {
        let program = self.program();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => SolverError::Missing { program },
            _ => SolverError::Failed { program, error },
        };
        let file = script.map(std::fs::File::create).transpose().map_err(failed)?;
        let arguments = self.arguments(limit).into_iter().map(OsString::from);
        let mut context =
            ContextBuilder::new().solver(program).solver_args(arguments).replay_file(file).build().map_err(failed)?;
        context.set_logic(logic).map_err(failed)?;
        Ok(context)
    }
}
