//! Tables for Accelergy (Wu, Emer and Sze, ICCAD 2019), format 0.4, and for Timeloop, which takes the same: the cost of each action, the counts, the
//! areas, and the architecture.
//!
//! The components are the gate classes with their circuits as actions, `fetch`, `registers`, `memory`, `link`, `erasure`, and what Timeloop wants
//! of a component that it maps to: storages with `read`, `write` and `update`, a `mac` with `compute`, and `leak` in each cycle.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pendula_isa::table::{TableFn, f_fn, int_fn, q_fn};
use pendula_isa::types::{Acc, Reg, Ty};

use super::{PricedRun, Program, unit_name};
use crate::mapping::Netlist;
use crate::price::{Cause, Device, Dirty, Joules, Subject};
use crate::technology::{Area, Logic, PerCell, Status};
use crate::work::CircuitKind;

/// Picojoules, Accelergy's unit, in a joule.
const PICO: f64 = 1e12;

/// The design that contains the components.
const DESIGN: &str = "pendula";

/// The cycle of logic without a clock, in seconds, in which leakage is counted.
const NANOSECOND: f64 = 1e-9;

/// The size of the memory of instructions in bits: that whose access fetches one in the technologies that ship.
const INSTRUCTION_BITS: f64 = 8.0 * 8192.0;

/// A component.
#[derive(Default)]
struct Component {
    /// Its class in the architecture.
    class: String,
    /// Its attributes there.
    attributes: Vec<(&'static str, String)>,
    /// An action's energy in picojoules, without leakage, and its count.
    actions: BTreeMap<String, (f64, f64)>,
    /// What its actions leak, in picojoules, over the run.
    leaks: f64,
    /// Square micrometres.
    area: Option<f64>,
    /// How the figures behind its energy are known.
    status: Option<Status>,
}

/// The components of a run, and what they have in common.
struct Design {
    components: BTreeMap<&'static str, Component>,
    /// The cycle in seconds, and how many there are.
    cycle: (f64, f64),
}

/// The costs of a run on a device, for Accelergy and Timeloop: `ERT.yaml` with the energy in picojoules of each action, `action_counts.yaml` with the
/// counts, `ART.yaml` with areas in square micrometres, `architecture.yaml`. Returns names of files with their contents.
///
/// The sum of energies times counts, with the component `cooling`, is the energy at the plug; without it, that of the bill. Leakage is an action of
/// its own, `leak`, once in each cycle of the run: what the component's actions leak in this run, spread over its cycles.
pub fn accelergy(program: &Program<'_>, priced: &PricedRun<'_>) -> Vec<(String, String)> {
    let design = Design::of(priced);
    let device = &priced.device;
    let total = priced.bill.total().total();
    let status = |status: Option<Status>| status.map_or("known: it is zero", Status::name);
    let mut head = format!(
        "# {} on {}: {} J in the device, {} J at the plug, which takes {} J for each.\n",
        printable(&program.name),
        printable(device.technology().name()),
        number(total),
        number(total * device.plug()),
        device.plug()
    );
    let _ = writeln!(
        head,
        "# The figures behind most of it are {}. Each component of the energy table says how its own are known.",
        status(priced.status(&priced.bill.items))
    );
    head += "# accelergy architecture.yaml ERT.yaml action_counts.yaml -f energy_estimation\n";
    let (cycle, cycles) = design.cycle;
    let mut ert = format!("{head}# Energies in picojoules.\nERT:\n  version: 0.4\n  tables:");
    let mut counts = format!("{head}action_counts:\n  version: 0.4\n  subtree:\n  - name: {DESIGN}\n    local:");
    let mut art = format!(
        "{head}# Areas in square micrometres, by figures that are {}.\nART:\n  version: 0.4\n  tables:",
        area_status(device).map_or("not known: there are none", Status::name)
    );
    let mut arch = format!(
        "{head}architecture:\n  version: 0.4\n  subtree:\n  - name: {DESIGN}\n    attributes:\n      technology: \"{}\"\n      global_cycle_seconds: {}\n      joule_at_the_plug_per_joule: {}\n    local:\n",
        printable(device.technology().name()).replace(['"', '\\'], "'"),
        number(cycle),
        number(device.plug())
    );
    let empty = |text: &mut String, none: bool| *text += if none { " []\n" } else { "\n" };
    empty(&mut ert, design.components.is_empty());
    let counted = |c: &Component| c.leaks > 0.0 || c.actions.values().any(|(_, times)| *times > 0.0);
    empty(&mut counts, !design.components.values().any(counted));
    empty(&mut art, design.components.values().all(|c| c.area.is_none()));
    for (name, component) in &design.components {
        let _ = writeln!(ert, "  # figures: {}", status(component.status));
        let _ = write!(ert, "  - name: {DESIGN}.{name}\n    actions:\n");
        if counted(component) {
            let _ = write!(counts, "    - name: {name}\n      action_counts:\n");
        }
        let leak = (component.leaks / cycles.max(1.0), if component.leaks > 0.0 { cycles } else { 0.0 });
        let leak = [("leak".to_string(), leak)];
        for (action, (energy, times)) in
            component.actions.iter().map(|(a, n)| (a, *n)).chain(leak.iter().map(|(a, n)| (a, *n)))
        {
            let _ = write!(ert, "    - name: \"{action}\"\n      arguments: {{}}\n      energy: {}\n", number(energy));
            if times > 0.0 {
                let times = if times < 1e15 { format!("{times}") } else { number(times) };
                let _ = write!(counts, "      - name: \"{action}\"\n        counts: {times}\n");
            }
        }
        if let Some(area) = component.area {
            let _ = write!(art, "  - name: {DESIGN}.{name}\n    area: {}\n", number(area));
        }
        let _ = write!(arch, "    - name: {name}\n      class: {}\n      attributes:", component.class);
        empty_map(&mut arch, &component.attributes);
    }
    [("ERT.yaml", ert), ("action_counts.yaml", counts), ("ART.yaml", art), ("architecture.yaml", arch)]
        .map(|(name, text)| (name.to_string(), text))
        .to_vec()
}

/// How the figures behind areas are known: the weakest.
fn area_status(device: &Device<'_>) -> Option<Status> {
    device.technology().figures().iter().filter(|f| f.key.starts_with("area.")).map(|f| f.status).max()
}

fn empty_map(out: &mut String, attributes: &[(&'static str, String)]) {
    *out += if attributes.is_empty() { " {}\n" } else { "\n" };
    for (key, value) in attributes {
        let _ = writeln!(out, "        {key}: {value}");
    }
}

impl Design {
    fn of(priced: &PricedRun<'_>) -> Design {
        let PricedRun { device, totals, .. } = priced;
        let mut all: BTreeMap<&'static str, Component> = BTreeMap::new();
        let mut add = |component: &'static str, action: &str, joules: Joules, times: u64| {
            let component = all.entry(component).or_default();
            let leaks = joules[Cause::Leakage];
            component.leaks += leaks * times as f64 * PICO;
            let energy = (joules.total() - leaks) * PICO;
            let _ = component.actions.insert(action.to_string(), (energy, times as f64));
        };
        for (unit, times) in totals.work.uses() {
            add(unit.class().key(), &unit_name(unit), device.unit(unit), times);
        }
        let accesses = device.register_accesses(totals.register_reads, totals.register_writes);
        add("fetch", "instruction", device.fetch(), totals.instructions);
        add("registers", "access", device.register(), accesses);
        let out_bit = device.bits_out(1);
        let cause = |cause| Joules::of(cause, out_bit[cause]);
        add("link", "bit_in", device.bits_in(1), totals.bits_in);
        add("link", "bit_out", cause(Cause::Link), totals.bits_out);
        add("erasure", "bit_overwritten", cause(Cause::Erasure), totals.bits_out);
        add("erasure", "bit_lost", device.bits_lost(1), totals.bits_lost);
        let dirty = |registers, memory| device.dirty(Dirty { registers, memory });
        add("erasure", "register_left_dirty", dirty(1, 0), totals.dirty.registers);
        add("erasure", "memory_word_left_dirty", dirty(0, 1), totals.dirty.memory);
        // What Timeloop looks for. Nothing of it is counted: the actions above are these.
        let word = u64::from(device.shape().width);
        let access = device.unit(CircuitKind::Memory);
        for name in ["read", "write", "update"] {
            add("memory", name, access, 0);
            add("registers", name, device.register(), 0);
        }
        add("link", "read", device.bits_in(word), 0);
        add("link", "write", device.bits_out(word), 0);
        for (name, func, ty) in [
            ("mac", TableFn::Int(int_fn::Name::Mul), Ty::Int),
            ("fixed-mac", TableFn::Q(q_fn::Name::Mul), Ty::Q),
            ("float-mac", TableFn::F(f_fn::Name::Mul), Ty::F),
        ] {
            let product = device.unit(CircuitKind::Function { func, xor: false });
            // The product of integers goes into its target directly.
            let fused = crate::gate_counts::is_fused(func, false);
            let sum = if fused { Joules::default() } else { device.unit(CircuitKind::Accumulator(Acc::Add, ty)) };
            add(name, "compute", product + sum, 0);
        }
        let cycle = device.hertz().map_or(NANOSECOND, |hertz| 1.0 / hertz);
        let seconds = device.seconds(totals).unwrap_or(0.0);
        let cycles = device.cycles(totals).map_or((seconds / cycle).ceil(), |cycles| cycles as f64).max(1.0);
        if device.plug() > 1.0 {
            let joules = priced.bill.total().total() * PICO;
            let each = device.plug() - 1.0;
            let cooling = all.entry("cooling").or_default();
            let _ = cooling.actions.insert("picojoule_removed".to_string(), (each, joules));
        }
        // A component whose actions all cost nothing is left out.
        all.retain(|_, c| c.leaks > 0.0 || c.actions.values().any(|(energy, _)| *energy > 0.0));
        for (name, component) in &mut all {
            complete(name, component, priced);
        }
        Design { components: all, cycle: (cycle, cycles) }
    }
}

/// Class, attributes, area and status of a component.
fn complete(name: &'static str, component: &mut Component, priced: &PricedRun<'_>) {
    let device = &priced.device;
    let shape = device.shape();
    let width = ("width", shape.width.to_string());
    let depth = |words: u64| ("depth", words.to_string());
    let data = ("datawidth", shape.width.to_string());
    let (class, attributes) = match name {
        "memory" => ("SRAM", vec![depth(shape.memory), width, data]),
        "registers" => ("regfile", vec![depth(Reg::COUNT as u64), width, data]),
        "link" => ("DRAM", vec![width, data]),
        "mac" => ("intmac", vec![data]),
        _ => (name, vec![data]),
    };
    component.class = match class == name {
        true => format!("pendula_{}", name.replace('-', "_")),
        false => class.to_string(),
    };
    component.attributes = attributes;
    component.area = device.energy().area.map(|area| square_micrometres(name, priced, area)).filter(|a| *a > 0.0);
    let mine = priced.bill.items.iter().filter(|item| match item.subject {
        Subject::Class(class) => class.key() == name,
        Subject::Fetch => name == "fetch",
        Subject::Registers => name == "registers",
        Subject::Traffic => name == "link" || name == "erasure",
        Subject::Lost | Subject::LeftDirty => name == "erasure",
    });
    let cooling = || {
        let figures = device.technology().figures();
        figures.iter().find(|f| f.key == "cooling.watt_per_watt").map(|f| f.status)
    };
    component.status = match name {
        "cooling" => cooling(),
        // What the run does not use is no better known than what it is made of.
        _ => Some(priced.status(mine).unwrap_or(Status::Assumed)),
    };
}

/// The area of a component: of each of its circuits that the run uses, once.
fn square_micrometres(name: &str, priced: &PricedRun<'_>, area: Area) -> f64 {
    let PricedRun { device, totals, .. } = priced;
    let shape = device.shape();
    let laid = |unit: CircuitKind| -> f64 {
        let Some(mapping) = device.energy().logic.mapping() else { return 0.0 };
        let netlists = mapping.unit(unit, shape);
        (devices(device, &netlists.forward) + netlists.backward.map_or(0.0, |n| devices(device, &n))) * area.device
    };
    let bits = |words: f64| words * f64::from(shape.width) * area.memory_bit;
    match name {
        "memory" => bits(shape.memory as f64),
        "registers" => bits(Reg::COUNT as f64),
        "fetch" => INSTRUCTION_BITS * area.memory_bit,
        "link" | "erasure" | "cooling" => 0.0,
        "mac" => laid(CircuitKind::Function { func: TableFn::Int(int_fn::Name::Mul), xor: false }),
        "fixed-mac" => laid(CircuitKind::Function { func: TableFn::Q(q_fn::Name::Mul), xor: false }),
        "float-mac" => laid(CircuitKind::Function { func: TableFn::F(f_fn::Name::Mul), xor: false }),
        class => totals.work.uses().filter(|(unit, _)| unit.class().key() == class).map(|(unit, _)| laid(unit)).sum(),
    }
}

/// Transistors of a netlist, with both rails where logic has two, or its junctions.
fn devices(device: &Device<'_>, netlist: &Netlist) -> f64 {
    match &device.energy().logic {
        Logic::Ideal => 0.0,
        Logic::Junctions(junctions) => netlist.weigh(|cell| junctions.junctions.of(cell)),
        Logic::Static(_) => netlist.weigh(|cell| PerCell::TRANSISTORS.of(cell)),
        Logic::Ramped(_) | Logic::Cells(_) => 2.0 * netlist.weigh(|cell| PerCell::TRANSISTORS.of(cell)),
    }
}

/// A number in a form that every version of YAML reads: a point in the mantissa, and a sign in the exponent. It reads
/// back exactly.
fn number(value: f64) -> String {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// A name that cannot end a comment.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use pendula_isa::inst::Kind;
    use pendula_isa::mnemonic::families;
    use pendula_isa::table::TableFn;
    use pendula_isa::types::{Acc, Ty};

    use super::*;
    use crate::work::CircuitKind;

    #[test]
    fn every_circuit_has_a_name_of_its_own() {
        let functions =
            TableFn::ALL.iter().flat_map(|&func| [false, true].map(|xor| CircuitKind::Function { func, xor }));
        let accumulators = [Acc::Xor, Acc::Add, Acc::Mul].into_iter().flat_map(|acc| {
            let types = [Ty::Int, Ty::Q, Ty::L, Ty::F].into_iter().filter(move |ty| acc.accepts(*ty));
            types.map(move |ty| CircuitKind::Accumulator(acc, ty))
        });
        let rows = families().filter_map(|kind| match kind {
            Kind::Row { row, inverse, ty, cond, .. } => {
                Some([false, true].map(|form| CircuitKind::Row { row, ty, cond, form, inverse }))
            }
            Kind::Accumulate { .. } | Kind::Extension { .. } => None,
        });
        let mut seen = HashMap::new();
        for unit in functions.chain(accumulators).chain(rows.flatten()).chain([CircuitKind::Memory]) {
            let old = seen.insert((unit.class(), unit_name(unit)), unit);
            assert_eq!(old, None, "{unit:?} is called {}", unit_name(unit));
        }
        assert_eq!(number(1.0), "1.0e+0");
        assert_eq!(number(2.5e-7), "2.5e-7");
        assert_eq!(number(0.0), "0.0e+0");
    }
}
