//! Verilog: the netlist as a module.
//!
//! A register `a` comes in by `a_in` and goes out by `a_out`. A wire that a gate changes has a new name behind it, so that each name has one driver.
//! Ancillas begin at 0 and come out by `ancilla_out`; a testbench checks that they are 0 again. So do trap bits, by `trap_out`.

use std::fmt::{self, Write};

use pendula_isa::circuit::{Circuit, Gate, Role};

use super::{ExportError, Head, Netted, Port, comes_in, comment, ports};
use crate::mapping::Cell;
use crate::network::{CellNetwork, Source};

/// The primitive cells, once in what is compiled together. They are conditions rather than exclusive ors, of which releases of Verilator before 5.010 fold
/// some trees wrongly (verilator/verilator#4059).
const CELLS: &str = "\
`ifndef PENDULA_CELLS
`define PENDULA_CELLS
module pendula_not(input a, output q);
  assign q = ~a;
endmodule
module pendula_cnot(input c, input a, output q);
  assign q = c ? ~a : a;
endmodule
module pendula_toffoli(input c, input d, input a, output q);
  assign q = (c & d) ? ~a : a;
endmodule
module pendula_fredkin(input c, input a, input b, output p, output q);
  assign p = c ? b : a;
  assign q = c ? a : b;
endmodule
`endif
";

pub(super) fn verilog(head: &Head, netted: &Netted<'_>) -> Result<String, ExportError> {
    let mut out = String::new();
    comment(&mut out, "//", &head.lines)?;
    if let Netted::Gates(_) = netted {
        out.push_str(CELLS);
    }
    let (inputs, outputs) = ports(netted);
    writeln!(out, "module {}(", head.name)?;
    let port = |way: &str, suffix: &str, port: &Port| format!("  {way} [{}:0] {}_{suffix}", port.width - 1, port.name);
    let mut list: Vec<String> = inputs.iter().map(|p| port("input", "in", p)).collect();
    list.extend(outputs.iter().map(|p| port("output", "out", p)));
    writeln!(out, "{}\n);", list.join(",\n"))?;
    match netted {
        Netted::Gates(circuit) => gates(&mut out, circuit)?,
        Netted::Cells(network) => cells(&mut out, network)?,
    }
    out.push_str("endmodule\n");
    Ok(out)
}

/// The gates of a circuit.
fn gates(out: &mut String, circuit: &Circuit) -> fmt::Result {
    // The name of what each wire carries now.
    let mut now = vec!["1'b0".to_string(); circuit.wires() as usize];
    for register in circuit.registers().iter().filter(|r| comes_in(r.role)) {
        for (bit, wire) in register.wires.iter().enumerate() {
            now[*wire as usize] = format!("{}_in[{bit}]", register.name);
        }
    }
    let mut changed = vec![0u32; circuit.wires() as usize];
    for (n, gate) in circuit.gates().iter().enumerate() {
        let before: Vec<String> = gate.wires().map(|w| now[w as usize].clone()).collect();
        let mut after = Vec::new();
        for wire in gate.targets() {
            let times = &mut changed[wire as usize];
            *times += 1;
            let name = format!("w{wire}_{times}");
            writeln!(out, "  wire {name};")?;
            now[wire as usize].clone_from(&name);
            after.push(name);
        }
        let cell = match gate {
            Gate::Not(_) => "not",
            Gate::Cnot(..) => "cnot",
            Gate::Toffoli(..) => "toffoli",
            Gate::Cswap(..) => "fredkin",
        };
        writeln!(out, "  pendula_{cell} g{n}({}, {});", before.join(", "), after.join(", "))?;
    }
    for register in circuit.registers().iter().filter(|r| !r.wires.is_empty()) {
        if register.role == Role::Ancilla {
            writeln!(out, "  // 0 again, unless a trap is signalled.")?;
        }
        let bits: Vec<&str> = register.after.iter().rev().map(|w| now[*w as usize].as_str()).collect();
        writeln!(out, "  assign {}_out = {{{}}};", register.name, bits.join(", "))?;
    }
    Ok(())
}

/// The cells of a network.
fn cells(out: &mut String, network: &CellNetwork) -> fmt::Result {
    let mut names = vec!["1'b0".to_string()];
    for (name, width) in &network.inputs {
        names.extend((0..*width).map(|bit| format!("{name}_in[{bit}]")));
    }
    let read = |names: &[String], s: &Source| match (s.number, s.complement) {
        (0, true) => "1'b1".to_string(),
        (n, false) => names[n].clone(),
        (n, true) => format!("~{}", names[n]),
    };
    for (n, placed) in network.cells.iter().enumerate() {
        let x: Vec<String> = placed.fanins.iter().map(|s| read(&names, s)).collect();
        let value = match (placed.cell, &x[..]) {
            (Cell::And, [a, b]) => format!("{a} & {b}"),
            (Cell::Xor, [a, b]) => format!("{a} ? ~({b}) : {b}"),
            (Cell::Majority, [a, b, c]) => format!("({a} & {b}) | ({a} & {c}) | ({b} & {c})"),
            _ => x.join(" "),
        };
        writeln!(out, "  wire n{n} = {value}; // {}, level {}", placed.cell.key(), placed.level)?;
        names.push(format!("n{n}"));
    }
    for output in &network.outputs {
        let bits: Vec<String> = output.bits.iter().rev().map(|s| read(&names, s)).collect();
        writeln!(out, "  assign {}_out = {{{}}};", output.name, bits.join(", "))?;
    }
    Ok(())
}
