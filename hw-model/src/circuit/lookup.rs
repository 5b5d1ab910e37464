//! Circuits of functions of one word as tables of their values, beside those of their kernels.

use pendula_isa::circuit::{Bit, Builder, Circuit, Role, Word};
use pendula_isa::kernels::circuits::{Formats, Outcome};
use pendula_isa::table::TableFn;

use super::lifted::Lifted;
use super::part::{Accumulator, accumulate};
use crate::reference;

/// Which circuit of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// That of the function's operations and kernels: the machine's, at any width.
    Machine,
    /// A table of all values, which the kernels have computed: [`Builder::xor_table`].
    Table,
}

impl Algorithm {
    /// The word for it in JSON and among options.
    pub const fn key(self) -> &'static str {
        match self {
            Algorithm::Machine => "machine",
            Algorithm::Table => "table",
        }
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Machine => "the machine's",
            Algorithm::Table => "table",
        }
    }
}

/// The most bits of a word that a table is made for: its size doubles with every bit.
pub const TABLE_BITS: usize = 12;

/// The values of a function of one word.
#[derive(Debug)]
pub(super) struct Lookup {
    /// The value of each word. Where there is none, the bit above the word is 1.
    entries: Vec<u128>,
    width: usize,
    /// Whether a word has no value.
    traps: bool,
}

/// What has a table.
pub(crate) const ONLY: &str = "only a function of one word that kernels with circuits of their own compute has one";

/// Why a function has no table on words of any width; `None` if it is a function of one word by kernels that have circuits of their own.
pub(super) fn problem(func: TableFn, formats: Formats) -> Option<&'static str> {
    let one = func.info().args.len() == 1;
    let own = || Lifted::new(func, formats).has_own_kernel();
    (!(one && own())).then_some(ONLY)
}

impl Lookup {
    /// The table of a function of the table of instructions.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn new(func: TableFn, formats: Formats) -> Result<Lookup, &'static str> {
        let width = formats.width();
        if let Some(problem) = problem(func, formats) {
            return Err(problem);
        }
        if width > TABLE_BITS {
            return Err("a table is for words of at most 12 bits, as it doubles with every bit");
        }
        let value = |x: u64| match reference::value(func, formats, x) {
            Ok(value) => Ok(value.map_or(1 << width, u128::from)),
            Err(_) => Err("its values on such words are not known to the last bit"),
        };
        let entries = (0..1 << width).map(value).collect::<Result<Vec<u128>, _>>()?;
        let traps = entries.iter().any(|entry| entry >> width == 1);
        Ok(Lookup { entries, width, traps })
    }

    /// The circuit of `y ⊕= f(a)`. An exclusive or needs no copy of the value.
    pub(super) fn circuit(&self, mut b: Builder, accumulator: Accumulator) -> Circuit {
        let a = b.register("a", Role::Operand, self.width);
        match accumulator {
            Accumulator::Xor => {
                let y = b.register("y", Role::Target, self.width);
                let trap: Vec<Bit> = self.traps.then(|| b.trap()).into_iter().collect();
                b.xor_table(&a, &self.entries, &y.then(&trap));
            }
            Accumulator::Add | Accumulator::AddOrSubtract | Accumulator::MultiplyLog => {
                accumulate(&mut b, accumulator, self.width, |b| {
                    let value = b.table(&a, &self.entries, self.width + usize::from(self.traps));
                    Outcome { word: Word::from(&value[..self.width]), faults: value[self.width..].to_vec() }
                });
            }
        }
        b.finish()
    }
}

/// The circuit with fewer Toffoli gates, controlled exchanges among them; of as many, with fewer gates.
pub(super) fn less(machine: Circuit, table: Circuit) -> (Circuit, Algorithm) {
    let size = |circuit: &Circuit| {
        let n = circuit.counts();
        (n.toffoli + n.cswap, n.total())
    };
    if size(&table) < size(&machine) { (table, Algorithm::Table) } else { (machine, Algorithm::Machine) }
}
