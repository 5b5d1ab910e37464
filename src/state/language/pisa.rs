//! PISA, as PendVM reads it.

use pendula_asm::assemble::Options;
use pendula_asm::pisa as source;
use pendula_compiler::compile;
use pendula_isa::Module;
use pendula_isa::types::Reg;
use pendula_vm::Machine;

use super::{Language, Names, Shown};
use crate::state::compiled::{Loaded, plain};
use crate::state::values::error::ValueError;
use crate::state::values::place::{Location, NARROW, Place};
use crate::state::{names, pisa};

/// PISA.
pub(crate) struct Pisa;

impl Language for Pisa {
    fn name(&self) -> &'static str {
        "a program in PISA"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pisa", "pal"]
    }

    fn is_text(&self, text: &[u8]) -> bool {
        text.starts_with(source::HEADER.as_bytes())
    }

    fn load(&self, name: &str, text: String, options: &Options, _: &compile::Options) -> Loaded {
        let a = source::read(name, &text, &options.pisa);
        plain(a.module, a.diagnostics, a.sources)
    }

    fn unformatted(&self) -> &'static str {
        "PISA cannot be formatted; `fmt` is for `.rasm` and `.nil`"
    }

    fn find(&self, (module, _): Names<'_>, name: &str) -> Result<Place, ValueError> {
        let (plain, _) = names::without_type(module, name);
        let (base, index) = names::without_index(name, plain)?;
        pisa::find(module, name, base, index)
    }

    fn results(&self, (module, _): Names<'_>, _: bool) -> Vec<Place> {
        pisa::labelled(module)
    }

    fn inputs(&self, (module, _): Names<'_>, _: bool) -> Vec<Place> {
        pisa::labelled(module)
    }

    fn shown(&self, _: Names<'_>, machine: &Machine<'_>, _: &[u64; Reg::COUNT], _: bool) -> Shown {
        let used = (0..Reg::COUNT as u8).filter_map(Reg::new).filter(|r| machine.registers()[r.index()] != 0);
        let (places, cells) = pisa::changed(machine);
        let register = |r| Place::narrow(pisa::register(r), Location::Register(r));
        (used.map(register).chain(places).collect(), cells)
    }

    fn range(&self) -> (i128, i128) {
        NARROW
    }

    fn register(&self, reg: Reg) -> String {
        pisa::register(reg)
    }

    fn zero(&self) -> Option<Reg> {
        // `$0` is an ordinary register.
        None
    }

    fn word_at(&self, machine: &Machine<'_>, address: u64) -> Option<u64> {
        Some(machine.cell(u32::try_from(address).ok()?))
    }

    fn line(&self, module: &Module, at: u32) -> Option<String> {
        source::line(module, at)
    }

    fn shows_headers(&self) -> bool {
        true
    }
}
