//! Reports: a bill as tidy CSV, as folded stacks for flame graphs, as tables that Accelergy reads, and as plots. All of
//! them are texts, and equal for equal input. Each has the energy in the device and that at the plug, with cooling.

mod accelergy;
pub mod audit;
mod csv;
mod folded;
pub mod svg;

use pendula_isa::inst::Kind;
use pendula_isa::module::Module;
use pendula_isa::types::Ty;

use crate::price::{Activity, Bill, Conditions, Device, Item, Joules, PriceError, Totals};
use crate::technology::{Status, Technology};
use crate::uncertainty::{Basis, Outcome, Range, Uncertain};
use crate::work::CircuitKind;

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
    /// How the figures behind the bill are known.
    pub basis: Basis,
    /// What the bill is with other figures, drawn from their ranges.
    pub draws: Vec<Outcome>,
}

impl<'a> PricedRun<'a> {
    /// Prices a run.
    ///
    /// # Errors
    /// If the technology cannot be priced under these conditions.
    pub fn new(
        technology: &'a Technology,
        conditions: Conditions,
        module: &Module,
        activities: &[Activity],
    ) -> Result<PricedRun<'a>, PriceError> {
        let totals = Totals::new(module, activities);
        let device = Device::for_run(technology, conditions, &totals)?;
        let bill = Bill::new(&device, module, activities);
        let uncertain = Uncertain { technology, conditions, totals: &totals };
        let (basis, draws) = (uncertain.basis()?, uncertain.draws()?);
        Ok(PricedRun { device, bill, totals, basis, draws })
    }

    /// The range of the bill in joules.
    pub fn range(&self) -> Range {
        Range::of(self.draws.iter().map(|draw| draw.joules).collect())
    }

    /// The range at the plug in joules.
    pub fn range_at_the_plug(&self) -> Range {
        Range::of(self.draws.iter().map(|draw| draw.plug).collect())
    }

    /// How the figures behind items are known; `None` if they cost nothing.
    pub fn status<'i>(&self, items: impl IntoIterator<Item = &'i Item>) -> Option<Status> {
        self.basis.of_sum(items.into_iter().map(|item| (item.subject, item.joules)))
    }
}

/// A unit that a run used.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedUnit {
    /// Its gate class, and its name within it, which is unique.
    pub name: String,
    /// How often it was used.
    pub times: u64,
    /// What that cost.
    pub joules: Joules,
}

/// The units that a run used.
pub fn units(priced: &PricedRun<'_>) -> Vec<UsedUnit> {
    let PricedRun { device, totals, .. } = priced;
    let unit = |(unit, times): (CircuitKind, u64)| UsedUnit {
        name: format!("{}.{}", unit.class().key(), unit_name(unit)),
        times,
        joules: device.unit(unit) * times as f64,
    };
    totals.work.uses().map(unit).collect()
}

/// The name of a circuit, like that of an instruction; unique within its gate class.
pub fn unit_name(unit: CircuitKind) -> String {
    match unit {
        CircuitKind::Function { func, xor } => {
            let f = func.info();
            let name = if f.name.is_empty() { "wire" } else { f.name };
            let own = if f.from != f.ty && f.ty == Ty::Int { Ty::Int.source_suffix() } else { f.ty.suffix() };
            let source = if f.from == f.ty { "" } else { f.from.source_suffix() };
            format!("{name}{own}{source}{}", if xor { "-into-xor" } else { "" })
        }
        CircuitKind::Defined { extension, xor } => {
            format!("{}{}", extension.info().definition.name, if xor { "-into-xor" } else { "" })
        }
        CircuitKind::Accumulator(acc, ty) => format!("accumulate-{}{}", acc.name(false), ty.suffix()),
        CircuitKind::Row { row, ty, cond, form, inverse } => {
            let name = Kind::Row { row, inverse, ty, cond, form }.mnemonic();
            if form { name + "-alternative" } else { name }
        }
        CircuitKind::Memory => "access".to_string(),
    }
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
