//! Tables for Accelergy (Wu, Emer and Sze, ICCAD 2019), format 0.4: the cost and the count of each action. The
//! components are the gate classes, the link and the erasing of bits.

use std::collections::BTreeMap;

use pendula_isa::inst::Kind;
use pendula_isa::types::Ty;

use super::{PricedRun, Program};
use crate::price::Cause;
use crate::work::CircuitKind;

/// Picojoules, Accelergy's unit, in a joule.
const PICO: f64 = 1e12;

/// The design that contains the components.
const DESIGN: &str = "pendula";

/// An action's energy in picojoules and its count.
type Actions = BTreeMap<String, (f64, u64)>;

/// The costs of a run on a device, for Accelergy: `ERT.yaml` with the energy in picojoules of each action, and
/// `action_counts.yaml` with the counts. Returns names of files with their contents.
///
/// The sum of energies times counts is the bill. Beside the gate classes, whose actions are the circuits used, there
/// are `fetch` (`instruction`, with its decoding), `registers` (`access`), and the components `link` (`bit_in`, `bit_out`) and `erasure` (`bit_overwritten` in the host's memory, `bit_lost`).
pub fn accelergy(program: &Program<'_>, priced: &PricedRun<'_>) -> Vec<(String, String)> {
    let components = components(priced);
    let technology = priced.device.technology().name();
    let head = format!(
        "# {} on {}, energies in picojoules.\n# accelergy ERT.yaml action_counts.yaml -f energy_estimation\n",
        printable(&program.name),
        printable(technology)
    );
    let mut table = format!("{head}ERT:\n  version: 0.4\n  tables:");
    let mut counts = format!("{head}action_counts:\n  version: 0.4\n  subtree:\n  - name: {DESIGN}\n    local:");
    if components.is_empty() {
        table += " []";
        counts += " []";
    }
    table.push('\n');
    counts.push('\n');
    for (component, actions) in components {
        table += &format!("  - name: {DESIGN}.{component}\n    actions:\n");
        counts += &format!("    - name: {component}\n      action_counts:\n");
        for (name, (energy, times)) in actions {
            table += &format!("    - name: \"{name}\"\n      arguments: {{}}\n      energy: {}\n", number(energy));
            counts += &format!("      - name: \"{name}\"\n        counts: {times}\n");
        }
    }
    vec![("ERT.yaml".to_string(), table), ("action_counts.yaml".to_string(), counts)]
}

fn components(priced: &PricedRun<'_>) -> BTreeMap<&'static str, Actions> {
    let PricedRun { device, totals, .. } = priced;
    let mut out: BTreeMap<&'static str, Actions> = BTreeMap::new();
    let mut add = |component, action: String, joules: f64, times: u64| {
        if times > 0 {
            out.entry(component).or_default().insert(action, (joules * PICO, times));
        }
    };
    for (unit, times) in totals.work.uses() {
        add(unit.class().key(), unit_name(unit), device.unit(unit).total(), times);
    }
    let accesses = device.register_accesses(totals.register_reads, totals.register_writes);
    for (component, joules, name, times) in [
        ("fetch", device.fetch().total(), "instruction", totals.instructions),
        ("registers", device.register().total(), "access", accesses),
    ] {
        if joules > 0.0 {
            add(component, name.to_string(), joules, times);
        }
    }
    let out_bit = device.bits_out(1);
    add("link", "bit_in".to_string(), device.bits_in(1).total(), totals.bits_in);
    add("link", "bit_out".to_string(), out_bit[Cause::Link], totals.bits_out);
    add("erasure", "bit_overwritten".to_string(), out_bit[Cause::Erasure], totals.bits_out);
    add("erasure", "bit_lost".to_string(), device.bits_lost(1).total(), totals.bits_lost);
    out
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
        CircuitKind::Accumulator(acc, ty) => format!("accumulate-{}{}", acc.name(false), ty.suffix()),
        CircuitKind::Row { row, ty, cond, form, inverse } => {
            let name = Kind::Row { row, inverse, ty, cond, form }.mnemonic();
            if form { name + "-alternative" } else { name }
        }
        CircuitKind::Memory => "access".to_string(),
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

    use pendula_isa::mnemonic::families;
    use pendula_isa::table::TableFn;
    use pendula_isa::types::Acc;

    use super::*;

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
            Kind::Accumulate { .. } => None,
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
