//! BLIF (Berkeley logic interchange format, University of California, 1992): the netlist as functions of bits, for ABC and Yosys.
//!
//! Names are those of the Verilog. The reversible cells are written as what they compute: an exchange as two functions.

use std::fmt::{self, Write};

use pendula_isa::circuit::{Circuit, Gate};

use super::{ExportError, Head, Netted, Port, comes_in, comment, ports};
use crate::mapping::Cell;
use crate::network::{CellNetwork, Source};

pub(super) fn blif(head: &Head, netted: &Netted<'_>) -> Result<String, ExportError> {
    let mut out = String::new();
    comment(&mut out, "#", &head.lines)?;
    writeln!(out, ".model {}", head.name)?;
    let (inputs, outputs) = ports(netted);
    for (key, suffix, ports) in [("inputs", "in", &inputs), ("outputs", "out", &outputs)] {
        let bits = |p: &Port| (0..p.width).map(|bit| format!(" {}_{suffix}[{bit}]", p.name)).collect::<String>();
        writeln!(out, ".{key}{}", ports.iter().map(bits).collect::<String>())?;
    }
    writeln!(out, ".names zero")?;
    match netted {
        Netted::Gates(circuit) => gates(&mut out, circuit)?,
        Netted::Cells(network) => cells(&mut out, network)?,
    }
    out.push_str(".end\n");
    Ok(out)
}

/// A function by the rows of inputs for which it is 1.
fn function(out: &mut String, inputs: &[&str], output: &str, ones: &[&str]) -> fmt::Result {
    writeln!(out, ".names {} {output}", inputs.join(" "))?;
    ones.iter().try_for_each(|row| writeln!(out, "{row} 1"))
}

fn gates(out: &mut String, circuit: &Circuit) -> fmt::Result {
    let mut now = vec!["zero".to_string(); circuit.wires() as usize];
    for register in circuit.registers().iter().filter(|r| comes_in(r.role)) {
        for (bit, wire) in register.wires.iter().enumerate() {
            now[*wire as usize] = format!("{}_in[{bit}]", register.name);
        }
    }
    let mut changed = vec![0u32; circuit.wires() as usize];
    for gate in circuit.gates() {
        let before: Vec<String> = gate.wires().map(|w| now[w as usize].clone()).collect();
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        for wire in gate.targets() {
            let times = &mut changed[wire as usize];
            *times += 1;
            now[wire as usize] = format!("w{wire}_{times}");
        }
        match *gate {
            Gate::Not(a) => function(out, &before, &now[a as usize], &["0"])?,
            Gate::Cnot(_, a) => function(out, &before, &now[a as usize], &["01", "10"])?,
            Gate::Toffoli(_, _, a) => function(out, &before, &now[a as usize], &["0-1", "-01", "110"])?,
            Gate::Cswap(_, a, b) => {
                function(out, &before, &now[a as usize], &["01-", "1-1"])?;
                function(out, &before, &now[b as usize], &["0-1", "11-"])?;
            }
        }
    }
    for register in circuit.registers() {
        for (bit, wire) in register.after.iter().enumerate() {
            function(out, &[&now[*wire as usize]], &format!("{}_out[{bit}]", register.name), &["1"])?;
        }
    }
    Ok(())
}

fn cells(out: &mut String, network: &CellNetwork) -> fmt::Result {
    let mut names = vec!["zero".to_string()];
    for (name, width) in &network.inputs {
        names.extend((0..*width).map(|bit| format!("{name}_in[{bit}]")));
    }
    for (n, placed) in network.cells.iter().enumerate() {
        names.push(format!("n{n}"));
        // Rows of the plain function, with complements in the columns of complemented inputs.
        let rows: &[&str] = match (placed.cell, placed.fanins.len()) {
            (Cell::And, 2) => &["11"],
            (Cell::Xor, 2) => &["01", "10"],
            (Cell::Majority, 3) => &["11-", "1-1", "-11"],
            _ => &["1"],
        };
        let inputs: Vec<&str> = placed.fanins.iter().map(|s| names[s.number].as_str()).collect();
        let rows: Vec<String> = rows.iter().map(|row| complemented(row, &placed.fanins)).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        function(out, &inputs, &format!("n{n}"), &rows)?;
    }
    for output in &network.outputs {
        for (bit, source) in output.bits.iter().enumerate() {
            let row = complemented("1", &[*source]);
            function(out, &[&names[source.number]], &format!("{}_out[{bit}]", output.name), &[&row])?;
        }
    }
    Ok(())
}

/// A row for inputs of which some are complemented.
fn complemented(row: &str, inputs: &[Source]) -> String {
    let bit = |(bit, source): (char, &Source)| match (bit, source.complement) {
        ('0', true) => '1',
        ('1', true) => '0',
        (bit, _) => bit,
    };
    row.chars().zip(inputs).map(bit).collect()
}
