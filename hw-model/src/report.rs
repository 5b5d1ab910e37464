//! Reports: a bill as tidy CSV, as folded stacks for flame graphs, as tables that Accelergy reads, and as plots. All of
//! them are texts, and equal for equal input. Energies are those in the device, without cooling.

mod accelergy;
mod csv;
mod folded;
pub mod svg;

use pendula_isa::module::Module;

use crate::price::{Bill, Device, Item, Totals};

pub use accelergy::{accelergy, unit_name};
pub use csv::csv;
pub use folded::folded;

/// A program that was run.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// The code and where it was written.
    pub module: &'a Module,
    /// The function of each instruction, see [`functions`](crate::price::functions).
    pub functions: Vec<String>,
    /// The program's file, which is used for instructions whose file is not known.
    pub name: String,
}

/// What a run costs on a device.
#[derive(Clone, Debug)]
pub struct PricedRun<'a> {
    /// The device.
    pub device: Device<'a>,
    /// What it charges for.
    pub bill: Bill,
    /// What the run did.
    pub totals: Totals,
}

/// The place of an item in the program.
struct Origin<'a> {
    /// The function; `None` for items that belong to no instruction.
    function: Option<&'a str>,
    /// The source file, or the program's if that of the instruction is not known.
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
