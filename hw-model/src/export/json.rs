//! JSON: the netlist as data from which a bill can be computed again.
//!
//! A bit is written as a literal, as in AIGER: twice its number, and one more for its complement. Number 0 is the constant 0, then come the bits of the
//! inputs, then the cells.

use pendula_isa::circuit::{Circuit, Gate, Role};
use serde_json::{Value, json};

use super::Netted;
use crate::gate_counts::Shape;
use crate::instruction::{Direction, InstructionCircuit};
use crate::mapping::{Mapping, Netlist};
use crate::network::CellNetwork;
use crate::report::unit_name;
use crate::stats::levels_of_gates;
use crate::work::CircuitKind;

pub(super) fn json(circuit: &InstructionCircuit, mapping: Mapping, netted: &Netted<'_>) -> String {
    let direction = match circuit.direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
        Direction::Both => "both",
    };
    let mut out = json!({
        "format": "pendula.netlist/1",
        "name": circuit.circuit.name(),
        "mnemonic": circuit.kind.mnemonic(),
        "width": circuit.width,
        "frac": circuit.frac,
        "memory": circuit.memory,
        "direction": direction,
        "mapping": mapping.name(),
    });
    let (netlist, parts) = match netted {
        Netted::Gates(gates) => (mapping.netlist(gates), of_gates(gates, mapping)),
        Netted::Cells(cells) => (cells.netlist(mapping), of_cells(cells)),
    };
    if let (Value::Object(out), Value::Object(charged), Value::Object(parts)) = (&mut out, charged(&netlist), parts) {
        out.extend(charged);
        out.extend(parts);
    }
    text(&out)
}

/// An object with a line for each entry, and for each element of its lists.
fn text(object: &Value) -> String {
    let entry = |(key, value): (&String, &Value)| match value {
        Value::Array(list) if !list.is_empty() => {
            let lines: Vec<String> = list.iter().map(|element| format!("    {element}")).collect();
            format!("  {}: [\n{}\n  ]", json!(key), lines.join(",\n"))
        }
        value => format!("  {}: {value}", json!(key)),
    };
    let entries: Vec<String> = object.as_object().into_iter().flatten().map(entry).collect();
    format!("{{\n{}\n}}\n", entries.join(",\n"))
}

/// What a netlist is charged for: for each kind of cell how many there are and the levels above each, summed, and all levels.
fn charged(netlist: &Netlist) -> Value {
    let cells: serde_json::Map<String, Value> = netlist
        .cells()
        .map(|(cell, n)| (cell.key().to_string(), json!({ "count": n.count, "above": n.above })))
        .collect();
    json!({ "levels": netlist.levels, "cells": cells })
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::Operand => "operand",
        Role::Target => "target",
        Role::Control => "control",
        Role::Trap => "trap",
        Role::Ancilla => "ancilla",
        Role::Lost => "lost",
    }
}

fn of_gates(circuit: &Circuit, mapping: Mapping) -> Value {
    let takes = |gate: &Gate| if mapping == Mapping::Rqfp { crate::clocking::levels_of_rqfp(*gate) } else { 1 };
    let register = |r: &pendula_isa::circuit::Register| json!({ "name": r.name, "role": role(r.role), "wires": r.wires, "after": r.after });
    let gate = |(gate, level): (&Gate, u64)| {
        let kind = match gate {
            Gate::Not(_) => "not",
            Gate::Cnot(..) => "cnot",
            Gate::Toffoli(..) => "toffoli",
            Gate::Cswap(..) => "cswap",
        };
        json!({ "gate": kind, "wires": gate.wires().collect::<Vec<_>>(), "level": level })
    };
    let levels = levels_of_gates(circuit, takes);
    json!({
        "wires": circuit.wires(),
        "registers": circuit.registers().iter().map(register).collect::<Vec<_>>(),
        "gates": circuit.gates().iter().zip(levels).map(gate).collect::<Vec<_>>(),
    })
}

fn of_cells(network: &CellNetwork) -> Value {
    let mut next = 1;
    let inputs: Vec<Value> = network
        .inputs
        .iter()
        .map(|(name, width)| {
            let bits: Vec<usize> = (next..next + width).map(|number| 2 * number).collect();
            next += width;
            json!({ "name": name, "bits": bits })
        })
        .collect();
    let nodes: Vec<Value> = network
        .cells
        .iter()
        .enumerate()
        .map(|(n, placed)| {
            let fanins: Vec<usize> = placed.fanins.iter().map(|s| s.literal()).collect();
            json!({ "bit": 2 * (next + n), "cell": placed.cell.key(), "fanins": fanins, "level": placed.level })
        })
        .collect();
    let outputs: Vec<Value> = network
        .outputs
        .iter()
        .map(|output| {
            let bits: Vec<usize> = output.bits.iter().map(|s| s.literal()).collect();
            json!({ "name": output.name, "role": if output.is_trap { "trap" } else { "target" }, "bits": bits })
        })
        .collect();
    json!({ "inputs": inputs, "nodes": nodes, "outputs": outputs, "latches": network.latches })
}

/// The netlists of a unit of bills in a mapping: what computes values or the new words (`forward`), and, for words that conventional logic changes,
/// what computes the old ones (`backward`, else null). The name is that of the unit's action in the export for Accelergy, unique within its class.
pub fn unit_json(unit: CircuitKind, shape: Shape, mapping: Mapping) -> Value {
    let netlists = mapping.unit(unit, shape);
    json!({
        "unit": unit_name(unit),
        "class": unit.class().key(),
        "mapping": mapping.name(),
        "width": shape.width,
        "frac": shape.frac,
        "memory": if unit == CircuitKind::Memory { Some(shape.memory) } else { None },
        "forward": charged(&netlists.forward),
        "backward": netlists.backward.as_ref().map(charged),
    })
}
