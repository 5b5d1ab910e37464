//! Pendula: a reversible virtual machine and assembler toolchain.
//!
//! This crate is a facade: it re-exports the workspace's libraries and adds what the
//! command line and other programs share — loading a file whatever its kind, and reading
//! and writing a machine's state by name.
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

pub mod arguments;
pub mod arrays;
pub mod batch;
pub mod files;
pub mod grad;
pub mod items;
pub mod load;
pub mod native;
pub mod pisa;
pub mod stop;
pub mod store;
pub mod told;
pub mod uncompute;
pub mod values;
pub mod visible;
pub mod written;
