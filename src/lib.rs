//! Pendula: a reversible virtual machine and assembler toolchain.
//!
//! [`load`](fn@load) and [`text`] make a [`Program`] from a file or from a text, in any of the supported languages. One
//! call runs or differentiates it, and takes and returns plain values:
//!
//! ```
//! let program = pendula::text("norm.nil", "
//! @i function norm2!(y!, x)
//!     for i = 1:length(x)
//!         y! += x[i] * x[i]
//!     end
//! end
//! ");
//! let run = program.run((0.0, [3.0, 4.0]))?;
//! assert_eq!(run.get::<f64>("y!")?, 25.0);
//! let gradient = program.grad((0.0, [3.0, 4.0]))?;
//! assert_eq!(gradient.get::<Vec<f64>>("x")?, [6.0, 8.0]);
//!
//! // and back: what the run computed is uncomputed
//! let back = program.reverse((25.0, [3.0, 4.0]))?;
//! assert_eq!(back.get::<f64>("y!")?, 0.0);
//! # Ok::<(), pendula::Error>(())
//! ```
//!
//! Below that, this crate is a facade. It re-exports the workspace's libraries and adds what the command line and other
//! programs share: loading files of any kind, and reading and writing a machine's state by name. Here is a similar
//! program in assembly, step by step:
//!
//! ```
//! let source = "
//!         .data
//!         .import n
//! n:      .word   20
//!         .text
//! main:   start
//!         add     r1, [n]
//!         addmul  r2, r1, r1
//!         finish
//! ";
//! let assembly = pendula::asm::assemble::assemble("square.rasm", source.to_string(), &Default::default());
//! let program = pendula::vm::Program::new(assembly.module.expect("no errors"), true)?;
//! let mut machine = pendula::vm::Machine::new(&program, &Default::default())?;
//! pendula::values::set(&mut machine, "n=12")?;
//! assert_eq!(machine.run(None), pendula::vm::Outcome::Finished);
//! assert_eq!(machine.registers()[2], 144);
//!
//! // and back: what the run computed is uncomputed
//! machine.begin(pendula::isa::counts::Direction::Backward);
//! assert_eq!(machine.run(None), pendula::vm::Outcome::Finished);
//! assert_eq!(machine.registers()[2], 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pendula_asm as asm;
pub use pendula_compiler as compiler;
pub use pendula_hw_model as hw_model;
pub use pendula_isa as isa;
pub use pendula_vm as vm;

pub mod batch;
pub mod debug;
pub mod files;
pub mod grad;
pub mod leftovers;
pub mod load;
pub mod native;
pub mod program;
#[doc(hidden)]
pub mod report;
mod state;
pub mod uncompute;

pub use program::{Arguments, Array, Error, ErrorKind, Gradients, Number, Program, Run, Value, load, text};
#[doc(hidden)]
pub use report::{calls, diagnosis, trap_report};
pub use report::{stop_report, trace, trap_text, visible};
pub use state::{arguments, arrays, items, language, layout, pisa, store, values};
