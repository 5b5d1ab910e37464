//! DOT: the netlist as a graph, for Graphviz.

use std::fmt::{self, Write};

use pendula_isa::circuit::{Circuit, Gate, Role};

use super::{ExportError, Netted};
use crate::mapping::Cell;
use crate::network::{CellNetwork, PlacedCell, Source};

/// The most gates of a graph.
const MOST: usize = 2000;

pub(super) fn dot(name: &str, netted: &Netted<'_>) -> Result<String, ExportError> {
    let (size, what) = match netted {
        Netted::Gates(circuit) => (circuit.gates().len(), "gates"),
        Netted::Cells(network) => (network.cells.len(), "cells"),
    };
    if size > MOST {
        return Err(ExportError::Size { what: format!("{size} {what}"), most: MOST });
    }
    let mut out = format!("digraph {name} {{\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=10];\n");
    match netted {
        Netted::Gates(circuit) => gates(&mut out, circuit)?,
        Netted::Cells(network) => cells(&mut out, network)?,
    }
    out.push_str("}\n");
    Ok(out)
}

fn place(out: &mut String, id: &str, label: &str, shape: &str) -> fmt::Result {
    writeln!(out, "  {id} [label=\"{label}\", shape={shape}];")
}

/// Gates as nodes; wires as edges, dashed where they only control.
fn gates(out: &mut String, circuit: &Circuit) -> fmt::Result {
    let mut from = vec![String::new(); circuit.wires() as usize];
    for register in circuit.registers() {
        for (bit, wire) in register.wires.iter().enumerate() {
            let id = format!("in_{}_{bit}", register.name);
            let zero = matches!(register.role, Role::Trap | Role::Ancilla);
            let label = if zero { "0".to_string() } else { format!("{}[{bit}]", register.name) };
            place(out, &id, &label, "plaintext")?;
            from[*wire as usize] = id;
        }
    }
    for (n, gate) in circuit.gates().iter().enumerate() {
        let label = match gate {
            Gate::Not(_) => "NOT",
            Gate::Cnot(..) => "CNOT",
            Gate::Toffoli(..) => "Toffoli",
            Gate::Cswap(..) => "Fredkin",
        };
        place(out, &format!("g{n}"), label, "box")?;
        for wire in gate.controls() {
            writeln!(out, "  {} -> g{n} [style=dashed];", from[wire as usize])?;
        }
        for wire in gate.targets() {
            writeln!(out, "  {} -> g{n};", from[wire as usize])?;
        }
        // What is behind the gate comes from it, controls too.
        gate.wires().for_each(|wire| from[wire as usize] = format!("g{n}"));
    }
    for register in circuit.registers() {
        for (bit, wire) in register.after.iter().enumerate() {
            let id = format!("out_{}_{bit}", register.name);
            let label =
                if register.role == Role::Ancilla { "0".to_string() } else { format!("{}[{bit}]", register.name) };
            place(out, &id, &label, "plaintext")?;
            writeln!(out, "  {} -> {id};", from[*wire as usize])?;
        }
    }
    Ok(())
}

/// Cells as nodes, those of a level below one another; complements have a dot at their end.
fn cells(out: &mut String, network: &CellNetwork) -> fmt::Result {
    let mut names = vec!["zero".to_string()];
    if network.outputs.iter().flat_map(|o| &o.bits).any(|s| s.number == 0) {
        place(out, "zero", "0", "plaintext")?;
    }
    for (name, width) in &network.inputs {
        for bit in 0..*width {
            let id = format!("in_{name}_{bit}");
            place(out, &id, &format!("{name}[{bit}]"), "plaintext")?;
            names.push(id);
        }
    }
    let edge = |out: &mut String, names: &[String], source: &Source, to: &str| {
        let end = if source.complement { " [arrowhead=odot]" } else { "" };
        writeln!(out, "  {} -> {to}{end};", names[source.number])
    };
    for (n, placed) in network.cells.iter().enumerate() {
        let id = format!("n{n}");
        place(out, &id, symbol(placed), "circle")?;
        // A constant that a cell reads makes it another cell.
        let mut reads = placed.fanins.iter().filter(|source| source.number > 0);
        reads.try_for_each(|source| edge(out, &names, source, &id))?;
        names.push(id);
    }
    for level in 1..=network.levels {
        let on = network.cells.iter().enumerate().filter(|(_, placed)| placed.level == level);
        let ids: Vec<String> = on.map(|(n, _)| format!("n{n};")).collect();
        writeln!(out, "  {{ rank=same; {} }}", ids.join(" "))?;
    }
    for output in &network.outputs {
        for (bit, source) in output.bits.iter().enumerate() {
            let id = format!("out_{}_{bit}", output.name);
            place(out, &id, &format!("{}[{bit}]", output.name), "plaintext")?;
            edge(out, &names, source, &id)?;
        }
    }
    Ok(())
}

/// What a cell is drawn as. A majority with a constant is an AND or an OR.
pub(super) fn symbol(placed: &PlacedCell) -> &'static str {
    let constant = placed.fanins.iter().find(|source| source.number == 0);
    match (placed.cell, constant) {
        (Cell::Majority, Some(one)) if one.complement => "∨",
        (Cell::And, _) | (Cell::Majority, Some(_)) => "&",
        (Cell::Majority, None) => "M",
        (Cell::Xor, _) => "⊕",
        (Cell::Buffer, _) => "1",
        // What is not built of a network.
        (Cell::Latch | Cell::Not | Cell::Cnot | Cell::Toffoli | Cell::Cswap, _) => placed.cell.key(),
    }
}
