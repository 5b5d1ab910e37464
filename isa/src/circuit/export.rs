//! Circuits as text: OpenQASM 3 and 2.0, and RevLib's `.real`.

use std::fmt::{self, Write};

use super::{Circuit, Gate, Register, Role, Wire};

impl Role {
    /// A description of the role, for comments.
    const fn note(self) -> &'static str {
        match self {
            Role::Operand => "operand, kept",
            Role::Target => "target",
            Role::Control => "control, kept",
            Role::Trap => "starts at 0; 1 in the end tells of a trap",
            Role::Ancilla => "ancilla, 0 before and after",
            Role::Lost => "erased",
        }
    }

    /// Whether the wires are 0 at the start.
    const fn starts_at_zero(self) -> bool {
        matches!(self, Role::Trap | Role::Ancilla)
    }
}

impl Gate {
    /// Its name in the standard headers of OpenQASM.
    const fn qasm(&self) -> &'static str {
        match self {
            Gate::Not(_) => "x",
            Gate::Cnot(..) => "cx",
            Gate::Toffoli(..) => "ccx",
            Gate::Cswap(..) => "cswap",
        }
    }
}

impl Circuit {
    /// The circuit as an OpenQASM 3 program, with the gates of `stdgates.inc`. Registers have the circuit's names with
    /// the prefix `q_`, since gates have reserved some names. If the bits of a word end on other qubits, an alias
    /// `q_…_after` names them.
    pub fn qasm(&self) -> String {
        written(|out| self.write_qasm(out))
    }

    /// Writes what [`Circuit::qasm`] returns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_qasm(&self, out: &mut impl Write) -> fmt::Result {
        writeln!(out, "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n// {}", self.name)?;
        for r in self.registers.iter().filter(|r| !r.wires.is_empty()) {
            writeln!(out, "qubit[{}] q_{}; // {}", r.wires.len(), r.name, r.role.note())?;
        }
        let places = self.places(|r| &r.wires);
        let qubit = |w: &Wire| {
            let (register, bit) = places[*w as usize];
            format!("q_{}[{bit}]", self.registers[register].name)
        };
        for gate in &self.gates {
            let qubits: Vec<String> = gate.wires().map(|w| qubit(&w)).collect();
            writeln!(out, "{} {};", gate.qasm(), qubits.join(", "))?;
        }
        for r in self.registers.iter().filter(|r| r.after != r.wires) {
            // Runs of neighbouring bits in one register.
            let mut runs: Vec<(usize, usize, usize)> = Vec::new();
            for w in &r.after {
                let (register, bit) = places[*w as usize];
                match runs.last_mut() {
                    Some((last, _, end)) if *last == register && *end + 1 == bit => *end = bit,
                    _ => runs.push((register, bit, bit)),
                }
            }
            let slice = |(register, first, last): &(usize, usize, usize)| {
                format!("q_{}[{first}:{last}]", self.registers[*register].name)
            };
            let runs: Vec<String> = runs.iter().map(slice).collect();
            writeln!(out, "let q_{}_after = {};", r.name, runs.join(" ++ "))?;
        }
        Ok(())
    }

    /// The circuit as an OpenQASM 2.0 program (Cross et al., Open quantum assembly language, arXiv:1707.03429), with the gates of `qelib1.inc`, which has
    /// no controlled swap: it is defined as `fredkin`. There are no aliases: where the bits of a word end on other qubits, comments say so.
    pub fn qasm2(&self) -> String {
        written(|out| {
            writeln!(out, "OPENQASM 2.0;\ninclude \"qelib1.inc\";\n// {}", self.name)?;
            if self.counts().cswap > 0 {
                writeln!(out, "gate fredkin c,a,b {{ cx b,a; ccx c,a,b; cx b,a; }}")?;
            }
            for r in self.registers.iter().filter(|r| !r.wires.is_empty()) {
                writeln!(out, "qreg q_{}[{}]; // {}", r.name, r.wires.len(), r.role.note())?;
            }
            let places = self.places(|r| &r.wires);
            let qubit = |w: Wire| {
                let (register, bit) = places[w as usize];
                format!("q_{}[{bit}]", self.registers[register].name)
            };
            for gate in &self.gates {
                let qubits: Vec<String> = gate.wires().map(qubit).collect();
                let name = if let Gate::Cswap(..) = gate { "fredkin" } else { gate.qasm() };
                writeln!(out, "{name} {};", qubits.join(","))?;
            }
            for r in self.registers.iter().filter(|r| r.after != r.wires) {
                for (bit, w) in r.after.iter().enumerate() {
                    writeln!(out, "// q_{}[{bit}] ends at {}", r.name, qubit(*w))?;
                }
            }
            Ok(())
        })
    }

    /// The circuit in the format of RevLib (Wille et al., RevLib: an online resource for reversible functions and
    /// reversible circuits, ISMVL 2008). The name of a line is its register and bit, as in `y_0`; `.outputs` names the
    /// bit that a line holds at the end, `.constants` the lines that start at 0, and `.garbage` marks ancillas.
    pub fn real(&self) -> String {
        written(|out| self.write_real(out))
    }

    /// Writes what [`Circuit::real`] returns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_real(&self, out: &mut impl Write) -> fmt::Result {
        let (before, after) = (self.places(|r| &r.wires), self.places(|r| &r.after));
        let label = |(register, bit): (usize, usize)| format!("{}_{bit}", self.registers[register].name);
        let order: Vec<Wire> = self.registers.iter().flat_map(|r| &r.wires).copied().collect();
        let names: Vec<String> = before.iter().map(|place| label(*place)).collect();
        writeln!(out, "# {}", self.name)?;
        for r in self.registers.iter().filter(|r| !r.wires.is_empty()) {
            writeln!(out, "# {}: {}", r.name, r.role.note())?;
        }
        writeln!(out, ".version 2.0\n.numvars {}", self.wires)?;
        for (what, places) in [("variables", &before), ("inputs", &before), ("outputs", &after)] {
            write!(out, ".{what}")?;
            for w in &order {
                write!(out, " {}", label(places[*w as usize]))?;
            }
            writeln!(out)?;
        }
        let role = |places: &[(usize, usize)], w: &Wire| self.registers[places[*w as usize].0].role;
        let constants: String =
            order.iter().map(|w| if role(&before, w).starts_at_zero() { '0' } else { '-' }).collect();
        let garbage: String = order.iter().map(|w| if role(&after, w) == Role::Ancilla { '1' } else { '-' }).collect();
        writeln!(out, ".constants {constants}\n.garbage {garbage}\n.begin")?;
        for gate in &self.gates {
            match gate {
                Gate::Cswap(..) => write!(out, "f3")?,
                Gate::Not(_) | Gate::Cnot(..) | Gate::Toffoli(..) => write!(out, "t{}", gate.wires().count())?,
            }
            for w in gate.wires() {
                write!(out, " {}", names[w as usize])?;
            }
            writeln!(out)?;
        }
        writeln!(out, ".end")
    }

    /// For each wire, the number of its register and its bit there.
    fn places(&self, wires: impl Fn(&Register) -> &[Wire]) -> Vec<(usize, usize)> {
        let mut places = vec![(0, 0); self.wires as usize];
        for (number, r) in self.registers.iter().enumerate() {
            for (bit, w) in wires(r).iter().enumerate() {
                places[*w as usize] = (number, bit);
            }
        }
        places
    }
}

/// The output of `f`. Writing to a string does not fail.
fn written(f: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut text = String::new();
    match f(&mut text) {
        Ok(()) => text,
        Err(fmt::Error) => unreachable!("a string takes everything"),
    }
}
