//! Circuits as terms: every wire a condition.

use std::time::Instant;

use easy_smt::SExpr;
use pendula_hw_model::circuit::Choice;
use pendula_hw_model::instruction::{Direction, InstructionCircuit, Sizes};
use pendula_isa::circuit::{Circuit, Gate, Role};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::{OPERANDS, Operand, Slot};
use pendula_isa::types::Reg;

use crate::cases::profile;
use crate::rows::{Body, Machine};
use crate::solver::SolverError;
use crate::state::{Named, State};
use crate::terms::Terms;
use crate::{Claim, Failure, Finding, Prover, pair};

impl Prover {
    /// Proves that an instruction's circuit does what the instruction does.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn circuit(&mut self, family: Kind) -> Result<Finding, SolverError> {
        let (name, width) = (pair(family), self.settings().width);
        let sizes = Sizes { width: width as usize, frac: None, memory: 4 };
        let circuit = match InstructionCircuit::with(family, sizes, Direction::Forward, Choice::default()) {
            Ok(circuit) => circuit,
            Err(why) => return Ok(self.not_claimed(&name, Claim::Circuit, why.to_string())),
        };
        self.circuit_is(family, &circuit)
    }

    /// Proves that a circuit does what an instruction does.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn circuit_is(&mut self, family: Kind, circuit: &InstructionCircuit) -> Result<Finding, SolverError> {
        let begun = Instant::now();
        let (name, width) = (pair(family), self.settings().width);
        let Some((inst, places)) = registers(family, &circuit.circuit) else {
            return Ok(self.not_claimed(
                &name,
                Claim::Circuit,
                "its circuit has words that are no operands in registers",
            ));
        };
        let terms = self.begin(&format!("{}-circuit-{width}", family.mnemonic()))?;
        // What suffices for being undone does not say what an instruction does.
        terms.proved.clear();
        let meaning = meaning(terms, family, inst);
        let uninterpreted: Vec<&'static str> = terms.uninterpreted.iter().copied().collect();
        if !uninterpreted.is_empty() {
            terms.end().map_err(|error| self.failed(error))?;
            let why = format!("it calls kernels that are no terms: {}", uninterpreted.join(", "));
            return Ok(self.not_claimed(&name, Claim::Circuit, why));
        }
        let failures = differs(terms, inst, &meaning, (circuit, &places));
        let found = self.decide(vec![failures])?;
        Ok(self.finding(&name, Claim::Circuit, (1, begun), found))
    }
}

/// The instruction on registers of their own, and for each of the circuit's words the register that it is.
fn registers(family: Kind, circuit: &Circuit) -> Option<(Inst, Vec<(String, u8)>)> {
    let layout = family.layout();
    let in_registers = |slot: &Slot| matches!(slot, Slot::Reg(_) | Slot::Target(_) | Slot::None);
    if !layout.iter().all(in_registers) {
        return None;
    }
    let count = layout.iter().filter(|slot| **slot != Slot::None).count();
    let operands: Vec<Operand> = (1..=count as u8).filter_map(Reg::new).map(Operand::Reg).collect();
    let inst = Inst::build(family, &operands).ok()?;
    let names: Vec<String> = match family {
        Kind::Accumulate { .. } => ["y", "a", "b", "c"].map(String::from).to_vec(),
        Kind::Row { row, .. } => row.info().operand_names.iter().map(|n| (*n).to_string()).collect(),
        Kind::Extension { extension, .. } => {
            let definition = &extension.info().definition;
            let own = definition.parameters.iter().map(|p| p.name.clone());
            definition.is_function().then(|| "y".to_string()).into_iter().chain(own).collect()
        }
    };
    let carries = |role| matches!(role, Role::Operand | Role::Target);
    let words = circuit.registers().iter().filter(|r| carries(r.role));
    let place = |name: &str| names.iter().position(|n| n == name).map(|n| n as u8 + 1);
    let places: Option<Vec<(String, u8)>> = words.map(|r| Some((r.name.clone(), place(&r.name)?))).collect();
    Some((inst, places?))
}

/// What an instruction does to registers.
struct Meaning {
    before: State,
    after: State,
    /// Whether it comes to its end.
    ok: SExpr,
    /// Whether it needs what there is no model of.
    stopped: bool,
}

fn meaning(t: &mut Terms, family: Kind, inst: Inst) -> Meaning {
    let numbers: Vec<u8> = (1..=OPERANDS as u8).chain([Reg::SP.number()]).collect();
    let before = State::unknown(t, &numbers, profile(family));
    let mut machine = Machine::new(t, inst, before.clone());
    machine.t.restart();
    let stopped = family.run(&mut machine, false).is_err();
    Meaning { before, after: machine.state, ok: machine.t.ok, stopped }
}

/// The ways in which a circuit may do something else.
fn differs(
    t: &mut Terms,
    inst: Inst,
    Meaning { before, after, ok, stopped }: &Meaning,
    (circuit, places): (&InstructionCircuit, &[(String, u8)]),
) -> Vec<Failure> {
    let ok = *ok;
    // Fixed-point numbers that wrap are no matter of circuits.
    let quiet = t.unknown_condition("trap_overflow");
    let quiet = t.build().not(quiet);
    let checks = t.unknown_condition("checks");
    let words: Named = places.iter().map(|(name, n)| (name.clone(), before.registers[n])).collect();
    let circuit_gates = &circuit.circuit;
    let mut wires = vec![t.build().false_(); circuit_gates.wires() as usize];
    for (name, word) in &words {
        let Some(register) = circuit_gates.register(name) else { continue };
        for (bit, wire) in register.wires.iter().enumerate() {
            wires[*wire as usize] = bit_of(t, *word, bit as u32);
        }
    }
    let dirty = run(t, circuit_gates, &mut wires);
    let mut trapped = t.build().false_();
    for register in circuit_gates.registers().iter().filter(|r| r.role == Role::Trap) {
        for wire in &register.after {
            trapped = t.build().or(trapped, wires[*wire as usize]);
        }
    }
    let trapped = t.condition(trapped);
    let mut same = t.build().true_();
    for (name, number) in places {
        let Some(register) = circuit_gates.register(name) else { continue };
        let word = after.registers[number];
        for (bit, wire) in register.after.iter().enumerate() {
            let expected = bit_of(t, word, bit as u32);
            let equal = t.build().eq(expected, wires[*wire as usize]);
            same = t.build().and(same, equal);
        }
    }
    let same = t.condition(same);
    let usual = t.build().and(quiet, checks);
    let done = t.build().and(usual, ok);
    let done = t.condition(done);
    let wrong = t.build().and(done, t.build().not(same));
    let signals = t.build().and(done, trapped);
    let silent = t.build().and_many([usual, t.build().not(ok), t.build().not(trapped)]);
    // The gates that undo another's signal only where they signal it.
    let silent = if circuit.signals || !circuit.inverse { silent } else { t.build().false_() };
    let unclean = t.build().and(done, dirty);
    let failure = |condition, what| Failure { inst: Some(inst), condition, of: done, before: words.clone(), what };
    if *stopped {
        let always = t.build().true_();
        return vec![failure(always, "the body needs what the proof has no model of")];
    }
    let all = [
        (wrong, "the circuit gives other words"),
        (signals, "the circuit signals a trap where there is none"),
        (silent, "the circuit does not signal a trap"),
        (unclean, "the circuit leaves an ancilla that is not clear"),
    ];
    all.into_iter().map(|(condition, what)| failure(t.condition(condition), what)).collect()
}

/// A bit of a word as a condition.
fn bit_of(t: &mut Terms, word: SExpr, bit: u32) -> SExpr {
    let at = bit as i32;
    let one = t.number(1, 1);
    let is = t.build().eq(t.build().extract(at, at, word), one);
    t.condition(is)
}

/// Runs the gates on conditions. Gives whether a wire that must be clear is not.
fn run(t: &mut Terms, circuit: &Circuit, wires: &mut [SExpr]) -> SExpr {
    let mut dirty = t.build().false_();
    let mut zeros = circuit.zeros().iter().peekable();
    let end = circuit.gates().len();
    for at in 0..=end {
        while let Some((_, wire)) = zeros.next_if(|(z, _)| *z <= at) {
            dirty = t.build().or(dirty, wires[*wire as usize]);
        }
        dirty = t.condition(dirty);
        let Some(gate) = circuit.gates().get(at) else { break };
        match *gate {
            Gate::Not(a) => {
                let now = t.build().not(wires[a as usize]);
                wires[a as usize] = t.condition(now);
            }
            Gate::Cnot(a, b) => {
                let now = t.build().xor(wires[a as usize], wires[b as usize]);
                wires[b as usize] = t.condition(now);
            }
            Gate::Toffoli(a, b, c) => {
                let both = t.build().and(wires[a as usize], wires[b as usize]);
                let now = t.build().xor(both, wires[c as usize]);
                wires[c as usize] = t.condition(now);
            }
            Gate::Cswap(a, b, c) => {
                let (if_set, x, y) = (wires[a as usize], wires[b as usize], wires[c as usize]);
                let (first, second) = (t.build().ite(if_set, y, x), t.build().ite(if_set, x, y));
                wires[b as usize] = t.condition(first);
                wires[c as usize] = t.condition(second);
            }
        }
    }
    let ancillas = circuit.registers().iter().filter(|r| r.role == Role::Ancilla).flat_map(|r| &r.after);
    for wire in ancillas {
        dirty = t.build().or(dirty, wires[*wire as usize]);
    }
    t.condition(dirty)
}
