//! Exports, read back by readers that share no code with the writers.

use std::collections::HashMap;

use pendula_isa::mnemonic;
use serde_json::Value;

use super::*;
use crate::gate_counts::Shape;
use crate::instruction::{Direction, Sizes};
use crate::network::Network;
use crate::verify::Random;
use crate::work::CircuitKind;

fn circuit(name: &str, width: usize, direction: Direction) -> InstructionCircuit {
    let kind = mnemonic::lookup(name).expect("a mnemonic");
    InstructionCircuit::new(kind, Sizes { width, frac: None, memory: 3 }, direction).expect("a circuit")
}

fn text(circuit: &InstructionCircuit, mapping: Mapping, format: Format) -> String {
    export(circuit, mapping, format).unwrap_or_else(|e| panic!("{e}"))
}

/// A netlist as functions of named bits, in order: output, inputs, and the function on words of 64 states.
type Functions = Vec<(String, Vec<String>, Box<dyn Fn(&[u64]) -> u64>)>;

/// The outputs of a BLIF, for given inputs.
fn run_blif(text: &str, inputs: &HashMap<String, u64>) -> HashMap<String, u64> {
    let mut functions: Functions = Vec::new();
    let mut outputs = Vec::new();
    let mut rows: Vec<String> = Vec::new();
    let mut head: Option<Vec<String>> = None;
    for line in text.lines().chain([".end"]).filter(|l| !l.starts_with('#')) {
        if !line.starts_with('.') {
            rows.push(line.strip_suffix(" 1").expect("a row of ones").to_string());
            continue;
        }
        if let Some(mut names) = head.take() {
            let output = names.pop().expect("an output");
            let ones = std::mem::take(&mut rows);
            let function = move |x: &[u64]| {
                let row = |row: &String| {
                    let bit = |(bit, x): (char, &u64)| match bit {
                        '0' => !x,
                        '1' => *x,
                        _ => u64::MAX,
                    };
                    row.chars().zip(x).map(bit).fold(u64::MAX, |all, x| all & x)
                };
                ones.iter().map(row).fold(0, |any, x| any | x)
            };
            functions.push((output, names, Box::new(function)));
        }
        let mut words = line.split_whitespace().map(str::to_string);
        match words.next().as_deref() {
            Some(".names") => head = Some(words.collect()),
            Some(".outputs") => outputs = words.collect(),
            _ => {}
        }
    }
    let mut values = inputs.clone();
    for (output, names, function) in &functions {
        let x: Vec<u64> = names.iter().map(|n| values[n]).collect();
        assert_eq!(values.insert(output.clone(), function(&x)), None, "{output} has two drivers");
    }
    outputs.into_iter().map(|name: String| (name.clone(), values[&name])).collect()
}

/// What the circuit's simulation says of the outputs.
fn simulated(circuit: &Circuit, inputs: &HashMap<String, u64>) -> HashMap<String, u64> {
    let mut lanes = circuit.lanes();
    for register in circuit.registers().iter().filter(|r| comes_in(r.role)) {
        for (bit, wire) in register.wires.iter().enumerate() {
            lanes[*wire as usize] = inputs[&format!("{}_in[{bit}]", register.name)];
        }
    }
    let _ = circuit.run_lanes(&mut lanes);
    let bits = circuit.registers().iter().flat_map(|r| r.after.iter().enumerate().map(move |bit| (r, bit)));
    bits.map(|(r, (bit, wire))| (format!("{}_out[{bit}]", r.name), lanes[*wire as usize])).collect()
}

fn random_inputs(circuit: &Circuit) -> HashMap<String, u64> {
    let mut random = Random::new(3);
    let registers = circuit.registers().iter().filter(|r| comes_in(r.role));
    let bits = registers.flat_map(|r| (0..r.wires.len()).map(move |bit| format!("{}_in[{bit}]", r.name)));
    bits.map(|name| (name, random.word())).collect()
}

const SOME: [(&str, usize); 7] =
    [("add", 4), ("swap", 3), ("xordiv", 5), ("rol", 8), ("exch", 4), ("jmp.lt", 4), ("rmul", 4)];

#[test]
fn blif_of_gates_and_of_cells_does_what_the_circuit_does() {
    for (name, width) in SOME {
        for direction in [Direction::Forward, Direction::Both] {
            let circuit = circuit(name, width, direction);
            let inputs = random_inputs(&circuit.circuit);
            let expected = simulated(&circuit.circuit, &inputs);
            assert_eq!(run_blif(&text(&circuit, Mapping::Reversible, Format::Blif), &inputs), expected, "{name}");
            let traps: Vec<&String> = expected.keys().filter(|k| k.starts_with("trap")).collect();
            let trapped = traps.iter().fold(0, |t, k| t | expected[*k]);
            for mapping in [Mapping::Cascade, Mapping::Balanced, Mapping::Aqfp] {
                for (output, found) in run_blif(&text(&circuit, mapping, Format::Blif), &inputs) {
                    // Ancillas are taken to be clear, which they need not be where it traps.
                    let ignored = if traps.contains(&&output) { 0 } else { trapped };
                    assert_eq!((found ^ expected[&output]) & !ignored, 0, "{name} {} {output}", mapping.name());
                }
            }
        }
    }
}

#[test]
fn counts_in_json_come_from_its_netlist() {
    for (name, width) in SOME {
        let circuit = circuit(name, width, Direction::Forward);
        for mapping in Mapping::ALL {
            let json: Value = serde_json::from_str(&text(&circuit, mapping, Format::Json)).expect("JSON");
            let mut counts: HashMap<&str, u64> = HashMap::new();
            let mut above: HashMap<&str, u64> = HashMap::new();
            let levels = json["levels"].as_u64().expect("levels");
            let parts = if json["nodes"].is_array() { ("nodes", "cell") } else { ("gates", "gate") };
            let mut highest = 0;
            for part in json[parts.0].as_array().expect("parts") {
                let (kind, level) = (part[parts.1].as_str().expect("a kind"), part["level"].as_u64().expect("a level"));
                *counts.entry(kind).or_default() += 1;
                *above.entry(kind).or_default() += levels - level;
                highest = highest.max(level);
            }
            assert_eq!(highest, levels, "{name} {}", mapping.name());
            for (kind, count) in counts {
                let charged = &json["cells"][kind];
                assert_eq!(charged["count"], count, "{name} {} {kind}", mapping.name());
                if matches!(mapping, Mapping::Cascade) {
                    assert_eq!(charged["above"], above[kind], "{name} {kind}");
                }
            }
        }
    }
}

#[test]
fn units_have_both_netlists_where_words_are_changed() {
    let shape = Shape { width: 16, frac: 8, memory: 4 };
    let add = CircuitKind::Accumulator(pendula_isa::types::Acc::Add, pendula_isa::Ty::Int);
    let json = unit_json(add, shape, Mapping::Cascade);
    assert_eq!((&json["unit"], &json["backward"]), (&Value::from("accumulate-add"), &json["forward"]));
    assert!(json["forward"]["cells"]["latch"]["count"] == 16 && json["forward"]["levels"].as_u64() > Some(8));
    assert_eq!(unit_json(add, shape, Mapping::Reversible)["backward"], Value::Null);
    assert_eq!(unit_json(CircuitKind::Memory, shape, Mapping::Aqfp)["memory"], 4);
}

#[test]
fn formats_that_do_not_suit_are_refused() {
    let adder = circuit("add", 4, Direction::Forward);
    for format in [Format::Qasm3, Format::Qasm2, Format::Real] {
        assert!(matches!(export(&adder, Mapping::Aqfp, format), Err(ExportError::Conventional { .. })));
        assert!(export(&adder, Mapping::Rqfp, format).is_ok());
    }
    let product = circuit("xormul", 64, Direction::Forward);
    for format in [Format::Svg, Format::Dot] {
        let error = export(&product, Mapping::Reversible, format).expect_err("too large").to_string();
        assert!(error.contains("verilog, blif or json"), "{error}");
    }
}

#[test]
fn diagrams_have_a_mark_for_each_gate() {
    for (name, width) in [("add", 4), ("swap", 2), ("exch", 3), ("not", 8)] {
        let circuit = circuit(name, width, Direction::Forward);
        let svg = text(&circuit, Mapping::Reversible, Format::Svg);
        let document = roxmltree::Document::parse(&svg).expect("XML");
        let dots = document.descendants().filter(|n| n.attribute("r") == Some("3.6")).count() as u64;
        let targets = document.descendants().filter(|n| n.attribute("r") == Some("7")).count() as u64;
        let n = circuit.circuit.counts();
        assert_eq!((dots, targets), (n.cnot + 2 * n.toffoli + n.cswap, n.not + n.cnot + n.toffoli), "{name}");
        // Nothing is drawn beyond the edges.
        let root = document.root_element();
        let size = |key| root.attribute(key).and_then(|v| v.parse::<f64>().ok()).expect("a size");
        for line in document.descendants().filter(|n| n.has_tag_name("line")) {
            for (key, most) in [("x1", size("width")), ("x2", size("width")), ("y1", size("height"))] {
                let at: f64 = line.attribute(key).and_then(|v| v.parse().ok()).expect("a number");
                assert!((0.0..=most).contains(&at), "{name} {key} {at}");
            }
        }
    }
    let cells = text(&circuit("add", 4, Direction::Forward), Mapping::Aqfp, Format::Svg);
    roxmltree::Document::parse(&cells).expect("XML");
    assert!(
        CellNetwork::of(
            &circuit("add", 4, Direction::Forward).circuit,
            Mapping::Aqfp,
            pendula_isa::circuit::Adder::Ripple
        )
        .is_some()
    );
}

#[test]
fn graphs_have_a_node_for_each_gate() {
    let adder = circuit("add", 4, Direction::Forward);
    let dot = text(&adder, Mapping::Reversible, Format::Dot);
    assert_eq!(dot.matches("shape=box").count(), adder.circuit.gates().len());
    let cells = text(&adder, Mapping::Cascade, Format::Dot);
    assert_eq!(cells.matches("shape=circle").count(), Network::of(&adder.circuit).with_majorities().gates());
}
