//! Reports: a bill as tidy CSV, as folded stacks for flame graphs, as tables
//! that Accelergy reads, and as plots. All of them are texts, the same for the
//! same input; energies are those in the device, without cooling.

mod accelergy;
mod csv;
mod folded;
pub mod svg;

use pendula_isa::GateClass;
use pendula_isa::module::Module;

use crate::price::{Bill, Device, Item, Totals};

pub use accelergy::accelergy;
pub use csv::csv;
pub use folded::folded;

/// A program that was run.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// The code and where it was written.
    pub module: &'a Module,
    /// The function of each instruction, see [`functions`](crate::price::functions).
    pub functions: Vec<String>,
    /// The program's file, named where an instruction's is not known.
    pub name: String,
}

/// What a run costs on a device.
#[derive(Clone, Debug)]
pub struct Priced<'a> {
    /// The device.
    pub device: Device<'a>,
    /// What it charges for.
    pub bill: Bill,
    /// What the run did.
    pub totals: Totals,
}

/// Where an item arose.
struct Origin<'a> {
    /// The function; `None` for what belongs to no instruction.
    function: Option<&'a str>,
    /// The source file, the program's if the instruction's is not known.
    file: &'a str,
    /// The line, from 1, if known.
    line: Option<u32>,
}

impl Program<'_> {
    fn origin(&self, item: &Item) -> Origin<'_> {
        let at = item.at.map(|at| at as usize);
        let (file, line) = match at.and_then(|at| self.module.loc(at)) {
            Some((file, loc)) => (file, Some(loc.line)),
            None => (self.name.as_str(), None),
        };
        Origin { function: at.and_then(|at| self.functions.get(at)).map(String::as_str), file, line }
    }
}

/// What an item is for.
fn subject(device: &Device<'_>, item: &Item) -> &'static str {
    match item.class.map(GateClass::key) {
        Some(key) => key,
        None if item.at.is_some() && item.joules == device.bits_lost(item.times) => "lost",
        None => "traffic",
    }
}
