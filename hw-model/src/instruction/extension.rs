//! Circuits of extensions: those of their steps, joined and simplified.
//!
//! Temporaries are ancillas. Those that are not clear at the end in some state get a trap signal. In a function, the gates that compute a part and those that undo it again lie on the same wires, so that what is
//! undone only to be computed again falls away; elsewhere the steps share their ancillas.

use std::collections::HashMap;

use pendula_isa::circuit::{Circuit, Gate, GateCounts, Register, Role, Wire};
use pendula_isa::extension::{Extension, Form, is_temporary, operand_register, temporary_register};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::kernels::circuits::Formats;
use pendula_isa::operand::Operand;
use pendula_isa::{Acc, Reg, Ty};

use super::{Base, Direction, InstructionCircuit, NoCircuit, Sizes, has_fixed};
use crate::circuit::Choice;
use crate::circuit::lifted::Lifted;
use crate::reference::{Meaning, constant};
use crate::verify::{Random, low};

/// The names of an extension's words in its circuit.
fn names(extension: Extension) -> Vec<(String, bool)> {
    let info = extension.info();
    let own = info.definition.parameters.iter().map(|p| (p.name.clone(), p.written));
    let target = matches!(info.form, Form::Function { .. }).then(|| ("y".to_string(), true));
    target.into_iter().chain(own).collect()
}

/// The circuit of an extension, in the direction of the first mnemonic of its pair, and its gates before they were simplified.
pub(super) fn base(
    mnemonic: &str,
    extension: Extension,
    (width, frac): (usize, usize),
    choice: Choice,
) -> Result<(Base, GateCounts), NoCircuit> {
    let info = extension.info();
    let steps = info.entered_at_once(false).unwrap_or_else(|| info.circuit_steps(false).to_vec());
    let mut joined = Joined {
        places: HashMap::new(),
        wires: 0,
        gates: Vec::new(),
        traps: Vec::new(),
        free: Vec::new(),
        owned: HashMap::new(),
    };
    let mut registers = Vec::new();
    for (n, (name, written)) in names(extension).into_iter().enumerate() {
        let wires = joined.word(operand_register(n), width);
        registers.push(Register {
            name,
            role: if written { Role::Target } else { Role::Operand },
            after: wires.clone(),
            wires,
        });
    }
    let mut ancillas: Vec<Wire> = Vec::new();
    for n in 0..info.definition.temporaries.len() {
        ancillas.extend(joined.word(temporary_register(n), width));
    }
    let first_other = joined.wires;
    let append = |joined: &mut Joined, step: &Inst| {
        let (circuit, constants) = step_circuit(step, (width, frac), choice)
            .map_err(|why| NoCircuit::Step { mnemonic: mnemonic.to_string(), why: why.to_string() })?;
        joined.append(step, &circuit, &constants, info.forgets());
        Ok(())
    };
    for step in &steps {
        append(&mut joined, &if info.forgets() { into_clear_word(step) } else { *step })?;
    }
    for n in joined.unclean(&registers, info.checks().len()) {
        append(&mut joined, &info.checks()[n])?;
    }
    let mut before = GateCounts::default();
    count(&joined.gates, &mut before);
    let gates = simplified(&joined.gates, joined.wires);
    let traps: Vec<Wire> = joined.traps.clone();
    for (n, register) in registers.iter_mut().enumerate() {
        register.after = joined.places[&operand_register(n)].clone();
    }
    for (n, wire) in traps.iter().enumerate() {
        let name = if n == 0 { "trap".to_string() } else { format!("trap_{}", n + 1) };
        registers.push(Register { name, role: Role::Trap, wires: vec![*wire], after: vec![*wire] });
    }
    ancillas.extend((first_other..joined.wires).filter(|w| !traps.contains(w)));
    if !ancillas.is_empty() {
        let taken: Vec<Wire> = registers.iter().flat_map(|r| r.after.iter().copied()).collect();
        let mut is_taken = vec![false; joined.wires as usize];
        taken.iter().for_each(|w| is_taken[*w as usize] = true);
        let after = (0..joined.wires).filter(|w| !is_taken[*w as usize]).collect();
        registers.push(Register { name: "ancilla".to_string(), role: Role::Ancilla, wires: ancillas, after });
    }
    let circuit = Circuit::new(mnemonic, registers, gates);
    let circuit = circuit.map_err(|e| NoCircuit::Step { mnemonic: mnemonic.to_string(), why: e.to_string() })?;
    let meaning = Meaning::Extension(extension);
    Ok((Base { circuit, directed: None, meaning, memory: false, algorithm: None }, before))
}

/// A step of a function: what it computes into a temporary, which is clear, needs no adder. Doubles are not so, since 0 + (-0) is 0.
fn into_clear_word(step: &Inst) -> Inst {
    match step.kind {
        Kind::Accumulate { func, shape, .. } if is_temporary(step.regs[0]) && func.info().ty != Ty::F => {
            Inst { kind: Kind::Accumulate { acc: Acc::Xor, inverse: false, func, shape }, ..*step }
        }
        _ => *step,
    }
}

/// The circuit of the exclusive or with the value of a function by definition; `None` if a step has none of this width.
pub(crate) fn value_circuit(extension: Extension, (width, frac): (usize, usize), choice: Choice) -> Option<Circuit> {
    let extension = extension.canonical();
    let (base, _) = base(&extension.info().mnemonic, extension, (width, frac), choice).ok()?;
    Some(base.circuit)
}

/// A circuit, and constants that are brought to its registers of these names while it runs.
type WithConstants = (Circuit, Vec<(String, u128)>);

/// The circuit of a step, with constants in the place of operands that are constants.
fn step_circuit(step: &Inst, (width, frac): (usize, usize), choice: Choice) -> Result<WithConstants, NoCircuit> {
    let sizes = Sizes { width, frac: has_fixed(step.kind).then_some(frac), memory: 2 };
    let mut circuit = InstructionCircuit::of_gates(step.kind, sizes, Direction::Forward, choice)?.circuit;
    let mut constants = Vec::new();
    for (n, (_, operand)) in step.operands().enumerate() {
        let value = match operand {
            Operand::Imm(amount, _) if amount >= width as u64 && is_amount(step.kind, n) => {
                return Err(NoCircuit::Amount { mnemonic: step.kind.mnemonic(), amount, width });
            }
            Operand::Imm(_, Ty::F) if width < 64 => {
                let (mnemonic, why) = (step.kind.mnemonic(), "of a constant, which other formats do not hold");
                return Err(NoCircuit::Nothing { mnemonic, why });
            }
            Operand::Imm(word, ty) => u128::from(constant(word, ty, width as u32, frac as u32)),
            Operand::Factor(k) => u128::from(k),
            Operand::Small(k) => u128::from(constant(i64::from(k).cast_unsigned(), Ty::Int, width as u32, 0)),
            _ => continue,
        };
        let name = operand_name(step.kind, n);
        match circuit.specialized(&name, value) {
            Some(without) => circuit = without,
            // It changes the operand on the way.
            None => constants.push((name, value)),
        }
    }
    Ok((circuit, constants))
}

/// Whether an instruction shifts by this operand.
fn is_amount(kind: Kind, n: usize) -> bool {
    match kind {
        Kind::Accumulate { func, .. } => Lifted::new(func, Formats::of_width(64)).shifts_by(n),
        Kind::Row { .. } | Kind::Extension { .. } => false,
    }
}

/// The name of an operand in the circuits of the table's instructions.
fn operand_name(kind: Kind, n: usize) -> String {
    match kind {
        Kind::Row { row, .. } => row.info().operand_names.get(n).copied().unwrap_or("a").to_string(),
        Kind::Accumulate { .. } | Kind::Extension { .. } => ["y", "a", "b", "c"][n.min(3)].to_string(),
    }
}

fn count(gates: &[Gate], n: &mut GateCounts) {
    for gate in gates {
        match gate {
            Gate::Not(_) => n.not += 1,
            Gate::Cnot(..) => n.cnot += 1,
            Gate::Toffoli(..) => n.toffoli += 1,
            Gate::Cswap(..) => n.cswap += 1,
        }
    }
}

/// How many gates are simulated to find temporaries that are not clear.
const GATES: usize = 1 << 24;

/// Circuits one after the other.
struct Joined {
    /// The wires of each local register.
    places: HashMap<Reg, Vec<Wire>>,
    wires: Wire,
    gates: Vec<Gate>,
    traps: Vec<Wire>,
    /// Ancillas that are zero.
    free: Vec<Wire>,
    /// The ancillas of a function's parts, by the temporary that they compute.
    owned: HashMap<Reg, Vec<Wire>>,
}

impl Joined {
    fn new_wire(&mut self) -> Wire {
        self.wires += 1;
        self.wires - 1
    }

    fn word(&mut self, register: Reg, width: usize) -> Vec<Wire> {
        let wires: Vec<Wire> = (0..width).map(|_| self.new_wire()).collect();
        self.places.insert(register, wires.clone());
        wires
    }

    /// The temporaries that are not zero after the gates in a state in which no step traps: all states are tried if they are few, else random
    /// ones. `operands` are the registers of the operands.
    fn unclean(&self, operands: &[Register], temporaries: usize) -> Vec<usize> {
        if temporaries == 0 {
            return Vec::new();
        }
        let bits: u32 = operands.iter().map(|register| register.wires.len() as u32).sum();
        let most = (GATES / self.gates.len().max(1)).clamp(16, 1024) as u64;
        let states = 1u64.checked_shl(bits).filter(|states| bits < 64 && *states <= 64 * most);
        let runs = states.map_or(most, |states| states.div_ceil(64));
        let mut random = Random::new(1);
        let mut unclean = vec![false; temporaries];
        for run in 0..runs {
            let mut lanes = vec![0u64; self.wires as usize];
            for lane in 0..64 {
                let mut number = 64 * run + lane;
                for register in operands {
                    let width = register.wires.len();
                    let word = if states.is_some() { number & low(width) } else { random.any(width) };
                    number = number.checked_shr(width as u32).unwrap_or(0);
                    for (bit, wire) in register.wires.iter().enumerate() {
                        lanes[*wire as usize] |= (word >> bit & 1) << lane;
                    }
                }
            }
            self.gates.iter().for_each(|gate| gate.on_lanes(&mut lanes));
            let any = |wires: &[Wire]| wires.iter().fold(0, |any, wire| any | lanes[*wire as usize]);
            let trapped = any(&self.traps);
            for (n, is) in unclean.iter_mut().enumerate() {
                *is |= any(&self.places[&temporary_register(n)]) & !trapped != 0;
            }
            if unclean.iter().all(|is| *is) {
                break;
            }
        }
        (0..temporaries).filter(|n| unclean[*n]).collect()
    }

    /// Appends the circuit of a step.
    fn append(&mut self, step: &Inst, circuit: &Circuit, constants: &[(String, u128)], keeps: bool) {
        let operands: Vec<(String, Reg)> = step
            .operands()
            .enumerate()
            .filter_map(|(n, (_, operand))| match operand {
                Operand::Reg(register) => Some((operand_name(step.kind, n), register)),
                _ => None,
            })
            .collect();
        // The temporary that a function's part is computed in, or undone.
        let own = operands.first().map(|(_, register)| *register).filter(|_| keeps);
        let mut pool = match own.and_then(|register| self.owned.remove(&register)) {
            Some(wires) => wires,
            None if own.is_some() => Vec::new(),
            None => std::mem::take(&mut self.free),
        };
        pool.reverse();
        let Laid { to, used, copied } = self.lay(circuit, &operands, &mut pool);
        let bring = |gates: &mut Vec<Gate>, at: fn(&Register) -> &[Wire]| {
            for (name, value) in constants {
                let wires = circuit.register(name).map_or(&[][..], at);
                let set = wires.iter().enumerate().filter(|(n, _)| value >> n & 1 == 1);
                gates.extend(set.map(|(_, w)| Gate::Not(to[*w as usize])));
            }
        };
        let is_copy = |register: &&Register| copied.iter().any(|(name, _)| *name == register.name);
        bring(&mut self.gates, |register| &register.wires);
        self.copy(circuit, &copied, &to, |register| &register.wires);
        self.gates.extend(circuit.gates().iter().map(|gate| gate.map(|w| to[w as usize])));
        bring(&mut self.gates, |register| &register.after);
        for register in circuit.registers().iter().filter(|r| !is_copy(r) && r.role != Role::Ancilla) {
            if let Some((_, name)) = operands.iter().find(|(name, _)| *name == register.name) {
                let places = self.places.get_mut(name).into_iter().flatten();
                for (wire, now) in places.zip(&register.after) {
                    *wire = to[*now as usize];
                }
            }
        }
        self.copy(circuit, &copied, &to, |register| &register.after);
        let is_clear = |register: &&Register| {
            let brought = constants.iter().any(|(name, _)| *name == register.name);
            register.role == Role::Ancilla || brought || is_copy(register)
        };
        let clear = circuit.registers().iter().filter(is_clear);
        let after: Vec<Wire> = clear.flat_map(|r| r.after.iter().map(|w| to[*w as usize])).collect();
        pool.reverse();
        match own {
            Some(register) => {
                let mut all = if after.len() == used.len() { used } else { after };
                all.extend(pool);
                self.owned.insert(register, all);
            }
            None => {
                pool.extend(after);
                self.free = pool;
            }
        }
    }

    /// Where the wires of a step's circuit lie. Ancillas, constants, and operands that are the register of an operand before (no gate has a wire
    /// twice) are on wires of the pool, which are clear.
    fn lay(&mut self, circuit: &Circuit, operands: &[(String, Reg)], pool: &mut Vec<Wire>) -> Laid {
        let mut laid = Laid { to: vec![Wire::MAX; circuit.wires() as usize], used: Vec::new(), copied: Vec::new() };
        let mut seen: Vec<Reg> = Vec::new();
        for register in circuit.registers() {
            let local = operands.iter().find(|(name, _)| *name == register.name).map(|(_, local)| *local);
            match (register.role, local) {
                (Role::Trap, _) => {
                    for wire in &register.wires {
                        let mapped = self.new_wire();
                        self.traps.push(mapped);
                        laid.to[*wire as usize] = mapped;
                    }
                    continue;
                }
                (Role::Ancilla, _) | (_, None) => {}
                (_, Some(local)) if seen.contains(&local) => laid.copied.push((register.name.clone(), local)),
                (_, Some(local)) => {
                    seen.push(local);
                    for (wire, place) in register.wires.iter().zip(&self.places[&local]) {
                        laid.to[*wire as usize] = *place;
                    }
                    continue;
                }
            }
            for wire in &register.wires {
                let mapped = pool.pop().unwrap_or_else(|| self.new_wire());
                laid.used.push(mapped);
                laid.to[*wire as usize] = mapped;
            }
        }
        laid
    }

    /// Copies registers to the wires of operands that are the same ones, or clears these again.
    fn copy(&mut self, circuit: &Circuit, copied: &[(String, Reg)], to: &[Wire], at: fn(&Register) -> &[Wire]) {
        for (name, local) in copied {
            let wires = circuit.register(name).map_or(&[][..], at);
            let gates =
                wires.iter().zip(&self.places[local]).map(|(wire, place)| Gate::Cnot(*place, to[*wire as usize]));
            self.gates.extend(gates);
        }
    }
}

/// Where the wires of a step's circuit lie.
struct Laid {
    /// The wire for each wire of the circuit.
    to: Vec<Wire>,
    /// Wires of the pool.
    used: Vec<Wire>,
    /// Operands that are the register of an operand before, and this register.
    copied: Vec<(String, Reg)>,
}

/// How many gates on a wire are looked at for one that cancels another.
const WINDOW: usize = 64;

/// Whether two gates may change places.
fn commute(a: Gate, b: Gate) -> bool {
    let controls = |g: Gate, w: Wire| g.controls().any(|c| c == w);
    let swap = |g: Gate| matches!(g, Gate::Cswap(..));
    let shares = |g: Gate, h: Gate| g.targets().any(|t| controls(h, t));
    let both = a.targets().any(|t| b.targets().any(|u| t == u));
    !shares(a, b) && !shares(b, a) && !(both && (swap(a) || swap(b)))
}

/// The gates without those that cancel each other, as often as that finds some.
fn simplified(gates: &[Gate], wires: Wire) -> Vec<Gate> {
    let mut now = gates.to_vec();
    loop {
        let next = cancelled(&now, wires);
        if next.len() == now.len() {
            return next;
        }
        now = next;
    }
}

/// The gates without pairs of equal ones between which no other is in the way.
fn cancelled(gates: &[Gate], wires: Wire) -> Vec<Gate> {
    let mut kept: Vec<Option<Gate>> = Vec::with_capacity(gates.len());
    let mut on: Vec<Vec<usize>> = vec![Vec::new(); wires as usize];
    for &gate in gates {
        // The latest equal gate, if on every wire of the two only gates lie between that may change places with it.
        let reaches = |wire: Wire| {
            let list = &on[wire as usize];
            let mut found = None;
            for &at in list.iter().rev().take(WINDOW) {
                let Some(other) = kept[at] else { continue };
                if other == gate {
                    found = Some(at);
                    break;
                }
                if !commute(other, gate) {
                    break;
                }
            }
            found
        };
        let mut partner = None;
        let mut all = true;
        for wire in gate.wires() {
            match (reaches(wire), partner) {
                (Some(at), None) => partner = Some(at),
                (Some(at), Some(known)) if at == known => {}
                _ => all = false,
            }
        }
        if let (true, Some(at)) = (all, partner) {
            kept[at] = None;
            for wire in gate.wires() {
                // It lies near the end.
                let list = &mut on[wire as usize];
                if let Some(place) = list.iter().rposition(|n| *n == at) {
                    list.remove(place);
                }
            }
            continue;
        }
        for wire in gate.wires() {
            on[wire as usize].push(kept.len());
        }
        kept.push(Some(gate));
    }
    kept.into_iter().flatten().collect()
}
