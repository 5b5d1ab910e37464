//! Bills: what each part of a run costs on a device, and the place in the program.

use std::collections::BTreeMap;

use pendula_isa::module::{Module, SymbolKind, name_in_source};
use pendula_isa::table::{Flow, Row};
use pendula_isa::verify::verify;
use pendula_isa::{GateClass, Kind};

use super::activity::work_by_instruction;
use super::{Activity, Cause, Device, Joules, Phase};
use crate::work::{CircuitKind, registers};

/// What an item is charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// Circuits of a gate class.
    Class(GateClass),
    /// Fetching and decoding instructions, and counting the program counter on.
    Fetch,
    /// Accesses to the register file.
    Registers,
    /// Words on the link to the host.
    Traffic,
    /// Information that is destroyed.
    Lost,
    /// Words that are left neither zero nor as they were, and are erased at the end.
    LeftDirty,
}

/// A part of the device, into which bills are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The circuits of instructions.
    Logic,
    /// Fetching and decoding instructions, the program counter, and the register file.
    Control,
    /// Memory.
    Memory,
    /// The supply of clocked logic, of all parts.
    Clock,
    /// The link to the host.
    Link,
    /// Information destroyed by instructions, and in the host's memory.
    Erasure,
    /// Words left dirty, which are erased at the end.
    LeftDirty,
}

impl Part {
    /// Every part.
    pub const ALL: [Part; 7] =
        [Part::Logic, Part::Control, Part::Memory, Part::Clock, Part::Link, Part::Erasure, Part::LeftDirty];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Logic => "logic",
            Part::Control => "control",
            Part::Memory => "memory",
            Part::Clock => "clock",
            Part::Link => "link",
            Part::Erasure => "erasure",
            Part::LeftDirty => "left dirty",
        }
    }
}

impl Subject {
    /// The name under which it is reported.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Class(class) => class.key(),
            Subject::Fetch => "fetch",
            Subject::Registers => "registers",
            Subject::Traffic => "traffic",
            Subject::Lost => "lost",
            Subject::LeftDirty => "left dirty",
        }
    }

    /// The part of the device that a cause of its costs belongs to.
    pub const fn part(self, cause: Cause) -> Part {
        match (self, cause) {
            (Subject::LeftDirty, _) => Part::LeftDirty,
            (_, Cause::Clock) => Part::Clock,
            (_, Cause::Link) => Part::Link,
            (_, Cause::Erasure) => Part::Erasure,
            (Subject::Class(GateClass::Memory), _) => Part::Memory,
            (Subject::Class(_), _) => Part::Logic,
            (Subject::Fetch | Subject::Registers, _) => Part::Control,
            (Subject::Traffic, _) => Part::Link,
            (Subject::Lost, _) => Part::Erasure,
        }
    }
}

/// An item of a bill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// The phase.
    pub phase: Phase,
    /// The instruction, if the item belongs to one.
    pub at: Option<u32>,
    /// What it is for.
    pub subject: Subject,
    /// The number of uses of the class, of instructions or accesses; words of traffic; bits that are lost or erased.
    pub times: u64,
    /// The cost.
    pub joules: Joules,
}

/// The costs of a run on a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// The items, in the order of phases and addresses.
    pub items: Vec<Item>,
}

impl Bill {
    /// Prices the activity of a run.
    pub fn new(device: &Device<'_>, module: &Module, activities: &[Activity]) -> Bill {
        let _span = tracing::debug_span!("price", instructions = module.code.len()).entered();
        let mut items = Vec::new();
        let bits = u64::from(module.flags.profile.width());
        // Units recur at many places.
        let mut prices: BTreeMap<CircuitKind, Joules> = BTreeMap::new();
        let (fetch, register) = (device.fetch(), device.register());
        for Activity { phase, counts, words_in, words_out, dirty } in activities {
            let phase = *phase;
            let mut add = |at, subject, times: u64, joules: Joules| {
                if times > 0 {
                    items.push(Item { phase, at, subject, times, joules });
                }
            };
            for (at, done) in work_by_instruction(module, counts).into_iter().enumerate() {
                let (inst, at) = (&module.code[at], Some(at as u32));
                for (unit, times) in done.work.uses() {
                    let each = *prices.entry(unit).or_insert_with(|| device.unit(unit));
                    add(at, Subject::Class(unit.class()), times, each * times as f64);
                }
                if fetch != Joules::default() {
                    add(at, Subject::Fetch, done.times, fetch * done.times as f64);
                }
                let (reads, writes) = registers(inst);
                let accesses = device.register_accesses(reads, writes).saturating_mul(done.times);
                if register != Joules::default() {
                    add(at, Subject::Registers, accesses, register * accesses as f64);
                }
                add(at, Subject::Traffic, done.read, device.bits_in(done.read * bits));
                add(at, Subject::Traffic, done.written, device.bits_out(done.written * bits));
            }
            for &(at, lost) in &counts.lost {
                add(Some(at), Subject::Lost, lost, device.bits_lost(lost));
            }
            add(None, Subject::Traffic, *words_in, device.bits_in(words_in * bits));
            add(None, Subject::Traffic, *words_out, device.bits_out(words_out * bits));
            add(None, Subject::LeftDirty, dirty.words().saturating_mul(bits), device.dirty(*dirty));
        }
        Bill { items }
    }

    /// The sum of all items.
    pub fn total(&self) -> Joules {
        self.items.iter().map(|i| i.joules).sum()
    }

    /// The sums by part of the device.
    pub fn parts(&self) -> BTreeMap<Part, f64> {
        let mut out = BTreeMap::new();
        for item in &self.items {
            for cause in Cause::ALL {
                *out.entry(item.subject.part(cause)).or_insert(0.0) += item.joules[cause];
            }
        }
        out
    }

    /// The sums by some key, in its order.
    pub fn by<K: Ord>(&self, key: impl Fn(&Item) -> K) -> BTreeMap<K, Joules> {
        let mut out: BTreeMap<K, Joules> = BTreeMap::new();
        for item in &self.items {
            *out.entry(key(item)).or_default() += item.joules;
        }
        out
    }
}

/// The function that each instruction belongs to: the name of its procedure, or of the label at the `start` of a run.
/// Compiled code has its name in the source; the code around the call of its entry point has none there.
pub fn functions(module: &Module) -> Vec<String> {
    let mut out = vec![String::from("(outside)"); module.code.len()];
    let (structure, _) = verify(module);
    let code = module.symbols.iter().filter(|s| !matches!(s.kind, SymbolKind::Data { .. }));
    // Of several names the first.
    let names: BTreeMap<u64, &str> = code.rev().map(|s| (s.value, s.name.as_str())).collect();
    for region in &structure.regions {
        let start = module.code[region.start as usize].kind;
        let unnamed = if matches!(start, Kind::Row { row: Row::Start, .. }) { "(start)" } else { "(procedure)" };
        let name = match names.get(&u64::from(region.start)) {
            None => unnamed,
            Some(name) if !module.is_compiled(region.start as usize) => name,
            Some(_) if unnamed == "(start)" => unnamed,
            Some(name) => name_in_source(name),
        };
        debug_assert!(matches!(start.flow(), Flow::Run | Flow::Procedure));
        for at in region.start..=region.last {
            out[at as usize] = name.to_string();
        }
    }
    out
}
