//! Circuits as files of other tools.
//!
//! | format | of reversible gates | of cells | read by |
//! |---|---|---|---|
//! | Verilog | instances of four primitive cells, and a testbench | assignments | simulators, Yosys |
//! | BLIF | logic functions | logic functions | ABC |
//! | OpenQASM 3 and 2.0 | gates of the standard headers | | Qiskit |
//! | `.real` | gates | | RevLib's tools |
//! | DOT | gates and wires | cells and wires | Graphviz |
//! | SVG | a circuit diagram | cells by levels | browsers |
//! | JSON | registers, gates, counts | inputs, cells, outputs, counts | scripts |

use std::fmt::{self, Write};

use pendula_isa::circuit::{Circuit, Role};

use crate::instruction::InstructionCircuit;
use crate::mapping::Mapping;
use crate::network::CellNetwork;
use crate::reference::NoReference;

mod blif;
mod dot;
mod json;
mod svg;
mod testbench;
mod verilog;

pub use json::unit_json;

/// A format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Verilog (IEEE 1364-2005).
    Verilog,
    /// The Berkeley logic interchange format.
    Blif,
    /// OpenQASM 3.
    Qasm3,
    /// OpenQASM 2.0.
    Qasm2,
    /// RevLib's format.
    Real,
    /// Graphviz.
    Dot,
    /// JSON.
    Json,
    /// A drawing.
    Svg,
}

impl Format {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Verilog => "verilog",
            Format::Blif => "blif",
            Format::Qasm3 | Format::Qasm2 => "qasm",
            Format::Real => "real",
            Format::Dot => "dot",
            Format::Json => "json",
            Format::Svg => "svg",
        }
    }
}

/// Why a circuit cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// A format of quantum circuits for conventional logic.
    #[error(
        "{} describes reversible gates, and the mapping `{}` builds conventional logic: take verilog, blif, dot, json \
         or svg, or `--mapping reversible`",
        format.name(), mapping.name()
    )]
    Conventional {
        /// The format.
        format: Format,
        /// The mapping.
        mapping: Mapping,
    },
    /// A drawing that nobody could read.
    #[error("a drawing of {what} is too large to read, of which {most} are the most: take verilog, blif or json")]
    Size {
        /// How many of what there are.
        what: String,
        /// The most.
        most: usize,
    },
    /// A testbench without vectors.
    #[error("a testbench needs the results of the instruction: {0}")]
    Reference(#[from] NoReference),
    /// Writing failed.
    #[error("the text cannot be written")]
    Write(#[from] fmt::Error),
}

/// The netlist of a circuit in a mapping.
#[derive(Debug)]
pub enum Netted<'a> {
    /// Reversible gates.
    Gates(&'a Circuit),
    /// Cells of conventional logic.
    Cells(CellNetwork),
}

/// A word of a netlist's interface.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Port {
    /// The register's name.
    name: String,
    /// Bits.
    width: usize,
    /// Its purpose.
    role: Role,
}

impl Netted<'_> {
    /// The netlist of a circuit.
    pub fn of(circuit: &InstructionCircuit, mapping: Mapping) -> Netted<'_> {
        let cells = CellNetwork::of(circuit.for_mapping(mapping), mapping, circuit.adder);
        cells.map_or(Netted::Gates(&circuit.circuit), Netted::Cells)
    }
}

/// Whether the wires of a register carry something in.
const fn comes_in(role: Role) -> bool {
    match role {
        Role::Operand | Role::Target | Role::Control | Role::Lost => true,
        Role::Trap | Role::Ancilla => false,
    }
}

/// The text of a circuit in a format, as a mapping builds it.
///
/// # Errors
/// If the format does not suit the mapping or the size.
pub fn export(circuit: &InstructionCircuit, mapping: Mapping, format: Format) -> Result<String, ExportError> {
    let netted = Netted::of(circuit, mapping);
    match (format, &netted) {
        (Format::Qasm3 | Format::Qasm2 | Format::Real, Netted::Cells(_)) => {
            Err(ExportError::Conventional { format, mapping })
        }
        (Format::Qasm3, Netted::Gates(gates)) => Ok(gates.qasm()),
        (Format::Qasm2, Netted::Gates(gates)) => Ok(gates.qasm2()),
        (Format::Real, Netted::Gates(gates)) => Ok(gates.real()),
        (Format::Verilog, netted) => verilog::verilog(&head(circuit, mapping), netted),
        (Format::Blif, netted) => blif::blif(&head(circuit, mapping), netted),
        (Format::Dot, netted) => dot::dot(circuit.circuit.name(), netted),
        (Format::Svg, netted) => svg::svg(&head(circuit, mapping), netted),
        (Format::Json, netted) => Ok(json::json(circuit, mapping, netted)),
    }
}

/// Verilog with a testbench behind the netlist, which checks it with vectors of the instruction's kernels.
///
/// # Errors
/// If what the instruction does is not known to the last bit.
pub fn testbench(circuit: &InstructionCircuit, mapping: Mapping) -> Result<String, ExportError> {
    let netted = Netted::of(circuit, mapping);
    let mut out = verilog::verilog(&head(circuit, mapping), &netted)?;
    testbench::write(&mut out, circuit, &netted)?;
    Ok(out)
}

/// The name of a netlist, and lines that say what it is.
#[derive(Clone)]
struct Head {
    name: String,
    lines: Vec<String>,
}

fn head(circuit: &InstructionCircuit, mapping: Mapping) -> Head {
    use crate::instruction::Direction;
    let frac = circuit.frac.map_or(String::new(), |frac| format!(", {frac} of them fraction"));
    let memory = circuit.memory.map_or(String::new(), |words| format!(", {words} words of memory"));
    let direction = match circuit.direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward: it undoes the instruction",
        Direction::Both => "backward if `backward` is 1, else forward",
    };
    let algorithm = circuit.algorithm.map_or(String::new(), |a| format!(" Algorithm: {}.", a.name()));
    let what = match mapping {
        Mapping::Reversible => "reversible gates",
        Mapping::Rqfp => {
            "reversible gates; a CNOT takes 2 levels of flux parametrons, a Toffoli gate 3, a Fredkin gate 5"
        }
        Mapping::Cascade => "conventional logic, without the way back",
        Mapping::Balanced => "conventional logic with buffers, so that all ways are equally long",
        Mapping::Aqfp => "majority cells, buffers and splitters of flux parametrons",
    };
    Head {
        name: circuit.circuit.name().to_string(),
        lines: vec![
            format!("{} on words of {} bits{frac}{memory}, {direction}", circuit.kind.mnemonic(), circuit.width),
            format!("Mapping {}: {what}.{algorithm}", mapping.name()),
        ],
    }
}

/// The words that a netlist takes, and those that it gives.
fn ports(netted: &Netted<'_>) -> (Vec<Port>, Vec<Port>) {
    match netted {
        Netted::Gates(circuit) => {
            let port =
                |r: &pendula_isa::circuit::Register| Port { name: r.name.clone(), width: r.wires.len(), role: r.role };
            let all = || circuit.registers().iter().filter(|r| !r.wires.is_empty());
            (all().filter(|r| comes_in(r.role)).map(port).collect(), all().map(port).collect())
        }
        Netted::Cells(cells) => {
            let input =
                |(name, width): &(String, usize)| Port { name: name.clone(), width: *width, role: Role::Operand };
            let output = |output: &crate::network::Output| Port {
                name: output.name.clone(),
                width: output.bits.len(),
                role: if output.is_trap { Role::Trap } else { Role::Target },
            };
            (cells.inputs.iter().map(input).collect(), cells.outputs.iter().map(output).collect())
        }
    }
}

/// Lines that begin with a mark of comments.
fn comment(out: &mut String, mark: &str, lines: &[String]) -> fmt::Result {
    lines.iter().try_for_each(|line| writeln!(out, "{mark} {line}"))
}

#[cfg(test)]
mod tests;
