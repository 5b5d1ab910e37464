//! `pendula circuit`.

use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use pendula::hw_model::circuit::{Algorithm, Choice};
use pendula::hw_model::export::{self, Format as Export};
use pendula::hw_model::instruction::{self, InstructionCircuit, Sizes};
use pendula::hw_model::mapping::{Mapping, Netlist};
use pendula::hw_model::network::Aqfp;
use pendula::hw_model::stats::{Stats, T_MEASURED, T_OF_TOFFOLI};
use pendula::hw_model::verify::{self, Mismatch, Verified, Words};
use pendula::isa::Format;
use pendula::isa::circuit::{Adder, Role};
use pendula::report::{Reporter, print};
use serde_json::{Map, Value, json};

use crate::cli::args::{Circuit, CircuitAlgorithm, CircuitDirection, CircuitFormat};
use crate::cli::output::{is_stdout, output_text};
use crate::cli::report::answer::{answer, finished};
use crate::cli::report::columns::folded;
use crate::cli::status::Status;

pub(crate) fn run(args: &Circuit, reporter: &Reporter) -> anyhow::Result<Status> {
    check(args)?;
    let circuit = circuit(args, reporter)?;
    let mut parts = Parts::default();
    if let Some(format) = format(args) {
        let mapping = args.mapping.mapping();
        parts.text = Some(match args.testbench {
            true => export::testbench(&circuit, mapping)?,
            false => export::export(&circuit, mapping, format)?,
        });
    }
    if args.verify {
        parts.verified = Some(verify::verify(&circuit).context("it cannot be verified")?);
    }
    if args.stats || !(args.verify || args.format.is_some()) {
        parts.stats = Some(Stats::of_instruction(&circuit));
    }
    parts.print(&circuit, args, reporter)
}

/// Options that do not go together.
fn check(args: &Circuit) -> anyhow::Result<()> {
    ensure!(!args.qasm2 || args.format == Some(CircuitFormat::Qasm), "--qasm2 is for --format qasm");
    ensure!(!args.testbench || args.format == Some(CircuitFormat::Verilog), "--testbench is for --format verilog");
    let both = args.format.is_some() && (args.stats || args.verify);
    ensure!(
        args.json || !both || !is_stdout(args.output.as_deref()),
        "the netlist and what --stats and --verify say would both go to standard output: name a file for the netlist, -o FILE"
    );
    Ok(())
}

/// The format of the netlist.
fn format(args: &Circuit) -> Option<Export> {
    args.format.map(|format| match format {
        CircuitFormat::Verilog => Export::Verilog,
        CircuitFormat::Blif => Export::Blif,
        CircuitFormat::Qasm if args.qasm2 => Export::Qasm2,
        CircuitFormat::Qasm => Export::Qasm3,
        CircuitFormat::Real => Export::Real,
        CircuitFormat::Dot => Export::Dot,
        CircuitFormat::Json => Export::Json,
        CircuitFormat::Svg => Export::Svg,
    })
}

/// The circuit that is asked for.
fn circuit(args: &Circuit, reporter: &Reporter) -> anyhow::Result<InstructionCircuit> {
    let kind = args.isa.read(Format::default(), reporter)?.lookup(&args.mnemonic)?;
    let direction = match args.direction {
        CircuitDirection::Forward => instruction::Direction::Forward,
        CircuitDirection::Backward => instruction::Direction::Backward,
        CircuitDirection::Both => instruction::Direction::Both,
    };
    let sizes = Sizes { width: args.width, frac: args.frac, memory: args.memory };
    let algorithm = args.algorithm.map(CircuitAlgorithm::algorithm);
    let choice = Choice { adder: args.adder.adder(), algorithm };
    Ok(InstructionCircuit::with(kind, sizes, direction, choice)?)
}

/// What is printed.
#[derive(Default)]
struct Parts {
    text: Option<String>,
    stats: Option<Stats>,
    verified: Option<Verified>,
}

impl Parts {
    fn print(self, circuit: &InstructionCircuit, args: &Circuit, reporter: &Reporter) -> anyhow::Result<Status> {
        let wrong = self.verified.as_ref().is_some_and(|v| v.mismatch.is_some());
        let output = args.output.as_deref();
        if args.json {
            let mut rest = head_json(circuit);
            if let Some(text) = self.text {
                match output.filter(|o| *o != "-") {
                    Some(path) => {
                        crate::cli::output::write_file(path, text.as_bytes())?;
                        rest.insert("output".into(), json!(path));
                    }
                    None => {
                        rest.insert("text".into(), json!(text));
                    }
                }
            }
            rest.extend(self.stats.map(|stats| ("stats".to_string(), stats_json(&stats))));
            rest.extend(self.verified.map(|verified| ("verified".to_string(), verified_json(&verified))));
            answer(reporter, !wrong, finished(), rest)?;
        } else {
            if let Some(text) = self.text {
                output_text(("", output), text, (&[], &Default::default()), false, reporter)?;
            }
            let mut text = String::new();
            if self.stats.is_some() || self.verified.is_some() {
                text += &head_text(circuit);
            }
            let stats = self.stats.map(|stats| choice_text(circuit) + &joined_text(circuit) + &stats_text(&stats));
            text += &stats.unwrap_or_default();
            text += &self.verified.map(|verified| verified_text(&verified)).unwrap_or_default();
            if !text.is_empty() {
                print(&folded(&text, 18))?;
            }
        }
        Ok(if wrong { Status::Fault } else { Status::Done })
    }
}

/// What the circuit is.
fn head_text(circuit: &InstructionCircuit) -> String {
    let frac = circuit.frac.map_or(String::new(), |frac| format!(", {frac} of them fraction"));
    let memory = circuit.memory.map_or(String::new(), |words| format!(", {words} words of memory"));
    let way = match circuit.direction {
        instruction::Direction::Forward => "forward",
        instruction::Direction::Backward => "backward",
        instruction::Direction::Both => "both ways",
    };
    let mut out = format!("{} on words of {} bits{frac}{memory}, {way}\n", circuit.kind.mnemonic(), circuit.width);
    let register = |r: &pendula::isa::circuit::Register| format!("{} ({}, {})", r.name, role(r.role), r.wires.len());
    let registers: Vec<String> = circuit.circuit.registers().iter().map(register).collect();
    let _ = writeln!(out, "  registers  {}", registers.join(", "));
    out
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::Operand => "operand",
        Role::Target => "target",
        Role::Control => "control",
        Role::Trap => "trap",
        Role::Ancilla => "clear",
        Role::Lost => "erased",
    }
}

fn head_json(circuit: &InstructionCircuit) -> Map<String, Value> {
    let register =
        |r: &pendula::isa::circuit::Register| json!({ "name": r.name, "role": role(r.role), "bits": r.wires.len() });
    let way = match circuit.direction {
        instruction::Direction::Forward => "forward",
        instruction::Direction::Backward => "backward",
        instruction::Direction::Both => "both",
    };
    let parts = [
        ("mnemonic", json!(circuit.kind.mnemonic())),
        ("width", json!(circuit.width)),
        ("frac", json!(circuit.frac)),
        ("memory", json!(circuit.memory)),
        ("direction", json!(way)),
        ("adder", json!(circuit.adder.name())),
        ("algorithm", json!(circuit.algorithm.map(Algorithm::key))),
        ("registers", circuit.circuit.registers().iter().map(register).collect()),
        ("gates_of_steps", json!(circuit.joined.map(pendula::isa::circuit::GateCounts::total))),
    ];
    parts.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// Which of several circuits it is.
fn choice_text(circuit: &InstructionCircuit) -> String {
    let mut out = String::new();
    if circuit.adder != Adder::default() {
        let _ = writeln!(out, "  adder: {}", circuit.adder);
    }
    if let Some(algorithm) = circuit.algorithm {
        let _ = writeln!(out, "  algorithm: {}", algorithm.name());
    }
    out
}

/// Of an extension, what joining the circuits of its steps has spared.
fn joined_text(circuit: &InstructionCircuit) -> String {
    let Some(before) = circuit.joined else { return String::new() };
    let after = circuit.circuit.counts();
    let all = (before.total(), before.toffoli);
    format!(
        "  steps      {} gates in all, {} of them Toffoli; joined, {} are left, {} of them Toffoli\n",
        all.0,
        all.1,
        after.total(),
        after.toffoli
    )
}

fn stats_text(stats: &Stats) -> String {
    let mut out = String::new();
    let gates = stats.gates;
    for (name, n, note) in [
        ("NOT", gates.not, ""),
        ("CNOT", gates.cnot, ""),
        ("Toffoli", gates.toffoli, ""),
        ("Fredkin", gates.cswap, ""),
        ("wires", stats.wires, ""),
        ("ancillas", stats.ancillas, "0 before and after"),
        ("depth", stats.depth, "each gate has its wires for itself"),
        ("levels", stats.levels, "gates may share controls"),
        ("Toffoli depth", stats.toffoli_depth, "Fredkin gates among them"),
        ("T gates", stats.t_count(), "7 for a Toffoli gate or a Fredkin gate"),
        ("", stats.t_count_measured(), "4 for each, with an ancilla and a measurement"),
    ] {
        let line = format!("  {name:<15} {n:>10}   {note}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out, "\n  {:<15} {:>10}   cells", "mapping", "levels");
    for (mapping, netlist) in &stats.mappings {
        let cells: Vec<String> = netlist.cells().map(|(cell, n)| format!("{} {}", n.count, cell.key())).collect();
        let junctions = junctions(*mapping, netlist).map_or(String::new(), |n| format!(": {n} junctions"));
        let cells = if cells.is_empty() { "none".to_string() } else { cells.join(", ") };
        let _ = writeln!(out, "  {:<15} {:>10}   {cells}{junctions}", mapping.name(), netlist.levels);
    }
    out
}

/// The Josephson junctions of flux parametrons.
fn junctions(mapping: Mapping, netlist: &Netlist) -> Option<u64> {
    use pendula::hw_model::mapping::Cell;
    let count = |cell| netlist.of(cell).count;
    let cells = Aqfp { majorities: count(Cell::Majority), buffers: count(Cell::Buffer), levels: netlist.levels };
    (mapping == Mapping::Aqfp).then(|| cells.junctions())
}

fn stats_json(stats: &Stats) -> Value {
    let mapping = |(mapping, netlist): &(Mapping, Netlist)| {
        let cells: Map<String, Value> = netlist
            .cells()
            .map(|(cell, n)| (cell.key().to_string(), json!({ "count": n.count, "above": n.above })))
            .collect();
        json!({
            "mapping": mapping.name(),
            "levels": netlist.levels,
            "cells": cells,
            "junctions": junctions(*mapping, netlist),
        })
    };
    json!({
        "not": stats.gates.not,
        "cnot": stats.gates.cnot,
        "toffoli": stats.gates.toffoli,
        "fredkin": stats.gates.cswap,
        "wires": stats.wires,
        "ancillas": stats.ancillas,
        "depth": stats.depth,
        "levels": stats.levels,
        "toffoli_depth": stats.toffoli_depth,
        "t_count": stats.t_count(),
        "t_per_toffoli": T_OF_TOFFOLI,
        "t_count_measured": stats.t_count_measured(),
        "t_per_toffoli_measured": T_MEASURED,
        "mappings": stats.mappings.iter().map(mapping).collect::<Vec<_>>(),
    })
}

/// A number with commas.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn verified_text(verified: &Verified) -> String {
    let states = grouped(verified.states);
    let which = match verified.exhaustive {
        true => format!("all {states} states of {} bits", verified.bits),
        false => format!("{states} random states of {} bits", verified.bits),
    };
    let mut out = String::from("\n");
    match &verified.mismatch {
        None => {
            let _ = writeln!(out, "  verified: {which} beside the instruction; the ancillas come back clear");
        }
        Some(mismatch) => out += &mismatch_text(mismatch, &states),
    }
    if verified.trapped > 0 {
        let _ = writeln!(out, "  in {} the instruction traps, and the circuit signals it", grouped(verified.trapped));
    }
    if verified.unclaimed > 0 {
        let n = grouped(verified.unclaimed);
        let _ = writeln!(
            out,
            "  in {n} the instruction traps where nothing is claimed: it is the inverse of its partner's circuit"
        );
    }
    out
}

fn words_text(words: Option<&Words>) -> String {
    words.map_or_else(
        || "a trap".to_string(),
        |words| words.iter().map(|(name, word)| format!("{name} = {word:#x}")).collect::<Vec<_>>().join(", "),
    )
}

fn mismatch_text(mismatch: &Mismatch, states: &str) -> String {
    let mut out = format!("  DIFFERENT, found after {states} states\n");
    let _ = writeln!(out, "    inputs    {}", words_text(Some(&mismatch.inputs)));
    let _ = writeln!(out, "    expected  {}", words_text(mismatch.expected.as_ref()));
    let _ = writeln!(out, "    found     {}", words_text(mismatch.found.as_ref()));
    if let Some((wire, gate)) = mismatch.dirty {
        let _ = writeln!(out, "    ancilla wire {wire} is not clear before gate {gate}");
    }
    out
}

fn words_json(words: &Words) -> Value {
    words.iter().map(|(name, word)| (name.clone(), json!(word))).collect::<Map<String, Value>>().into()
}

fn verified_json(verified: &Verified) -> Value {
    let mismatch = verified.mismatch.as_ref().map(|m| {
        json!({
            "inputs": words_json(&m.inputs),
            "expected": m.expected.as_ref().map(words_json),
            "found": m.found.as_ref().map(words_json),
            "dirty_wire": m.dirty.map(|(wire, _)| wire),
            "dirty_gate": m.dirty.map(|(_, gate)| gate),
        })
    });
    json!({
        "bits": verified.bits,
        "states": verified.states,
        "exhaustive": verified.exhaustive,
        "trapped": verified.trapped,
        "unclaimed": verified.unclaimed,
        "mismatch": mismatch,
    })
}
