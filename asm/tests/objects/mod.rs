//! Objects, the inverter, the disassembler and `check`, on modules made by hand and at random.

mod files;
mod findings;
mod modules;
mod random;
mod texts;
