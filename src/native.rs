//! Programs in Nil run by C code: written, compiled by the system's compiler when
//! a run asks for it, and kept for later runs.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pendula_compiler::c::{self, KERNELS, Mode, Refused};
use pendula_compiler::ir::Program;
use pendula_compiler::lower::{Argument, ArgumentKind};
use pendula_isa::adjoint::Carriage;
use pendula_isa::counts::Direction;
use pendula_native::cc::{CcError, Rounding};
use pendula_native::whole::Code;
use pendula_vm::Whole;

/// Why a program is not run by C code.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// It cannot be written in C: another engine runs it.
    #[error("{0}")]
    Refused(#[from] Refused),
    /// The system's compiler is missing, or fails.
    #[error("{0}")]
    Compiler(#[from] CcError),
}

/// A program in C. Each way of running it is compiled when it is first wanted.
pub struct Native {
    program: Program,
    arguments: Vec<Argument>,
    changes: Vec<Range<usize>>,
    how: Rounding,
    codes: Mutex<HashMap<Mode, Option<Arc<Code>>>>,
}

impl Native {
    /// A program, as [`pendula_compiler::compile::Compiled::native`] gives it, with the data symbols of its arguments. Its forward run is compiled at once.
    ///
    /// # Errors
    /// Where it cannot be written in C, or not compiled.
    pub fn new(program: Program, arguments: Vec<Argument>, how: Rounding) -> Result<Native, NativeError> {
        let changes = changes(&program, &arguments);
        let native = Native { program, arguments, changes, how, codes: Mutex::default() };
        let forward = Mode { direction: Direction::Forward, carriage: Carriage::Plain };
        let code = native.compile(forward)?;
        native.codes.lock().unwrap_or_else(PoisonError::into_inner).insert(forward, Some(Arc::new(code)));
        Ok(native)
    }

    fn compile(&self, mode: Mode) -> Result<Code, NativeError> {
        let source = c::write(&self.program, &self.arguments, &[mode], self.how == Rounding::Fast)?;
        Ok(Code::new(&source.text, &source.kernels, (KERNELS, &mode.name()), self.how)?)
    }

    fn code(&self, mode: Mode) -> Option<Arc<Code>> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.entry(mode).or_insert_with(|| self.compile(mode).ok().map(Arc::new)).clone()
    }
}

/// The data that a run may change: all but arrays that the entry, and what it calls, does not write to.
fn changes(program: &Program, arguments: &[Argument]) -> Vec<Range<usize>> {
    let written = c::written(program);
    let mut out: Vec<Range<usize>> = Vec::new();
    let stack = usize::try_from(program.stack).unwrap_or(0);
    let mut add = |range: Range<usize>| match out.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ if range.is_empty() => {}
        _ => out.push(range),
    };
    add(0..stack);
    let (mut at, mut param) = (stack, 0);
    for argument in arguments {
        match &argument.kind {
            ArgumentKind::Word { .. } => {
                add(at..at + 1);
                (at, param) = (at + 1, param + 1);
            }
            ArgumentKind::Array { words, lens, .. } => {
                if written.get(param).is_none_or(|w| *w) {
                    add(at..at + words.len());
                }
                (at, param) = (at + words.len(), param + 1 + lens.len());
            }
            ArgumentKind::Constant(_) => param += 1,
        }
    }
    out
}

impl Whole for Native {
    fn has(&self, direction: Direction, carriage: Carriage) -> bool {
        self.code(Mode { direction, carriage }).is_some()
    }

    fn changes(&self) -> &[Range<usize>] {
        &self.changes
    }

    fn run(
        &self,
        direction: Direction,
        carriage: Carriage,
        memory: &mut [u64],
        lanes: &mut [&mut [u64]],
        top: usize,
    ) -> bool {
        self.code(Mode { direction, carriage }).is_some_and(|code| code.run(memory, lanes, top))
    }
}
