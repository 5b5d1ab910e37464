//! A testbench in Verilog, whose vectors are computed by the instruction's kernels.
//!
//! It is for any simulator of Verilog 2005 with `$fatal`, prints `PASS` and ends, or prints each difference and fails. Synthesis, which defines
//! `SYNTHESIS`, does not see it. As part of a greater testbench, it takes `FINISH = 0`, and does not end the simulation.

use std::fmt::Write as _;

use pendula_isa::circuit::Role;

use super::{ExportError, Netted, Port, ports};
use crate::instruction::{Direction, InstructionCircuit};
use crate::reference::NoReference;
use crate::verify::{CORNERS, Inputs, Random, State, corner};

/// How many states with corner cases, and how many random ones, are tried.
const CASES: usize = 24;

/// The states that are tried: words at corners, random ones, and, where that is possible, what comes of them, undone.
fn states(circuit: &InstructionCircuit) -> Result<Vec<State>, NoReference> {
    let inputs = Inputs::of(circuit);
    let mut random = Random::new(2);
    let mut out: Vec<State> = Vec::new();
    for n in 0..2 * CASES {
        let mut before = inputs.random(&mut random);
        if n < CASES {
            // Each word goes through the corners at its own pace.
            for (at, (word, (_, width))) in before.iter_mut().zip(&inputs.registers).enumerate() {
                *word = corner(*width, (n >> (at % 3)) % CORNERS);
            }
        }
        if let Some(at) = inputs.control() {
            before[at] = n as u64 & 1;
        }
        if circuit.direction == Direction::Backward
            && let Some(after) = inputs.opposite(circuit, &before)?
        {
            // What the instruction leads to.
            before = after;
        }
        let state = inputs.state(circuit, before)?;
        if let (Some(at), Some(after)) = (inputs.control(), &state.after) {
            let mut back = after.clone();
            back[at] ^= 1;
            out.push(inputs.state(circuit, back)?);
        }
        out.push(state);
    }
    out.retain(|state| state.claimed);
    Ok(out)
}

/// Bits, the most significant word first, as Verilog concatenates them.
fn concatenated(words: &[(u64, usize)]) -> String {
    let bits: String = words.iter().map(|(word, width)| format!("{word:0width$b}")).collect();
    format!("{}'b{bits}", bits.len())
}

/// The bits of ports.
fn width(ports: &[Port]) -> usize {
    ports.iter().map(|p| p.width).sum()
}

pub(super) fn write(out: &mut String, circuit: &InstructionCircuit, netted: &Netted<'_>) -> Result<(), ExportError> {
    let (inputs, outputs) = ports(netted);
    let name = circuit.circuit.name();
    let words = Inputs::of(circuit);
    let states = states(circuit)?;
    let of = |role: fn(Role) -> bool| outputs.iter().filter(move |p| role(p.role)).cloned().collect::<Vec<Port>>();
    let (results, traps) = (of(|r| !matches!(r, Role::Trap | Role::Ancilla)), of(|r| r == Role::Trap));
    let clear = of(|r| matches!(r, Role::Trap | Role::Ancilla));
    let (stimulus, expected) = (width(&inputs), width(&results));
    let all = stimulus + expected + 1;
    writeln!(out, "`ifndef SYNTHESIS\nmodule {name}_tb;\n  parameter FINISH = 1;")?;
    writeln!(out, "  reg [{}:0] vectors [0:{}];", all - 1, states.len().max(1) - 1)?;
    writeln!(out, "  reg [{}:0] stimulus;\n  reg [{}:0] expected;\n  reg traps;", stimulus - 1, expected - 1)?;
    for port in &outputs {
        writeln!(out, "  wire [{}:0] {}_out;", port.width - 1, port.name)?;
    }
    let list = |ports: &[Port]| {
        let names: Vec<String> = ports.iter().map(|p| format!("{}_out", p.name)).collect();
        if names.is_empty() { "1'b0".to_string() } else { format!("{{{}}}", names.join(", ")) }
    };
    writeln!(out, "  wire [{}:0] found = {};", expected - 1, list(&results))?;
    writeln!(out, "  wire trapped = |{};\n  wire dirty = |{};", list(&traps), list(&clear))?;
    let mut pins = Vec::new();
    let mut high = stimulus;
    for port in &inputs {
        pins.push(format!(".{}_in(stimulus[{}:{}])", port.name, high - 1, high - port.width));
        high -= port.width;
    }
    pins.extend(outputs.iter().map(|p| format!(".{}_out({}_out)", p.name, p.name)));
    writeln!(
        out,
        "  {name} dut({});\n  integer i;\n  integer total;\n  integer errors;\n  initial begin",
        pins.join(", ")
    )?;
    for (n, state) in states.iter().enumerate() {
        let word = |values: &[u64], port: &Port| {
            let at = words.registers.iter().position(|(name, _)| *name == port.name);
            (at.map_or(0, |at| values[at]), port.width)
        };
        // Where it traps, nothing is expected of the words.
        let after = state.after.as_ref().unwrap_or(&state.before);
        let mut bits = vec![(u64::from(state.after.is_none()), 1)];
        bits.extend(results.iter().map(|port| word(after, port)));
        bits.extend(inputs.iter().map(|port| word(&state.before, port)));
        writeln!(out, "    vectors[{n}] = {};", concatenated(&bits))?;
    }
    let count = states.len();
    write!(
        out,
        "    errors = 0;
    // As a variable, so that no compiler unrolls the loop.
    total = {count};
    i = 0;
    while (i < total) begin
      {{traps, expected, stimulus}} = vectors[i];
      #1;
      if (traps ? trapped !== 1'b1 : found !== expected || dirty !== 1'b0) begin
        errors = errors + 1;
        $display(\"{name}: vector %0d: in %h, expected %h, found %h, trap expected %b, found %b, not clear %b\",
                 i, stimulus, expected, found, traps, trapped, dirty);
      end
      i = i + 1;
    end
    if (errors != 0) begin
      $display(\"FAIL {name}: %0d of {count} vectors\", errors);
      $fatal(1, \"{name} differs from the instruction\");
    end
    $display(\"PASS {name}: {count} vectors\");
    if (FINISH != 0) $finish;
  end
endmodule
`endif
"
    )?;
    Ok(())
}
