//! Pendula: a reversible virtual machine and assembler toolchain.
