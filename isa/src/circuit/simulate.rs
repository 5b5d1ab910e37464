//! Simulation of one state on bits, and of 64 states at once on words.

use bitvec::prelude::{BitSlice, BitVec, Lsb0};

use super::{Circuit, Gate, Role};

/// An ancilla that was not zero where it had to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ancilla wire {wire} is not zero before gate {gate} in the states {states:#x}")]
pub struct DirtyAncilla {
    /// The wire.
    pub wire: u32,
    /// The gate before which it was checked; the number of gates for the end.
    pub gate: usize,
    /// The states in which it was not zero, one bit for each of the 64.
    pub states: u64,
}

impl Circuit {
    /// A state of all zeros, one bit for each wire.
    pub fn state(&self) -> BitVec<u64, Lsb0> {
        BitVec::repeat(false, self.wires as usize)
    }

    /// Runs the gates on a state, one bit for each wire.
    ///
    /// # Panics
    /// If the state has fewer bits than the circuit has wires.
    pub fn run(&self, state: &mut BitSlice<u64, Lsb0>) {
        let flip = |state: &mut BitSlice<u64, Lsb0>, w: u32| {
            let old = state[w as usize];
            state.set(w as usize, !old);
        };
        for gate in &self.gates {
            match *gate {
                Gate::Not(a) => flip(state, a),
                Gate::Cnot(a, b) if state[a as usize] => flip(state, b),
                Gate::Toffoli(a, b, c) if state[a as usize] && state[b as usize] => flip(state, c),
                Gate::Cswap(a, b, c) if state[a as usize] => state.swap(b as usize, c as usize),
                Gate::Cnot(..) | Gate::Toffoli(..) | Gate::Cswap(..) => {}
            }
        }
    }

    /// 64 states of all zeros: one word per wire, whose bit n is the wire in state n.
    pub fn lanes(&self) -> Vec<u64> {
        vec![0; self.wires as usize]
    }

    /// Writes a register in as many states as there are values.
    ///
    /// # Panics
    /// If there is no such register.
    pub fn set(&self, lanes: &mut [u64], register: &str, values: &[u128]) {
        let register = self.register(register).expect("a register of this name");
        for (bit, &w) in register.wires.iter().enumerate() {
            for (lane, value) in values.iter().enumerate().take(64) {
                let one = (value >> bit & 1) as u64;
                lanes[w as usize] = lanes[w as usize] & !(1 << lane) | one << lane;
            }
        }
    }

    /// Reads a register from its final wires, in all 64 states.
    ///
    /// # Panics
    /// If there is no such register.
    pub fn get(&self, lanes: &[u64], register: &str) -> [u128; 64] {
        let register = self.register(register).expect("a register of this name");
        let mut values = [0; 64];
        for (bit, &w) in register.after.iter().enumerate() {
            for (lane, value) in values.iter_mut().enumerate() {
                *value |= u128::from(lanes[w as usize] >> lane & 1) << bit;
            }
        }
        values
    }

    /// Runs the gates on 64 states at once.
    ///
    /// # Errors
    /// After the run, if an ancilla is not zero where the generator released it, or at the end. States in which a trap
    /// is signalled are ignored.
    ///
    /// # Panics
    /// If there are fewer words than wires.
    pub fn run_lanes(&self, lanes: &mut [u64]) -> Result<(), DirtyAncilla> {
        self.run_lanes_in(lanes, u64::MAX)
    }

    /// As [`Circuit::run_lanes`], but only these states, one bit for each, must leave ancillas clear.
    ///
    /// # Errors
    /// As [`Circuit::run_lanes`].
    ///
    /// # Panics
    /// If there are fewer words than wires.
    pub fn run_lanes_in(&self, lanes: &mut [u64], claimed: u64) -> Result<(), DirtyAncilla> {
        let mut dirty = Vec::new();
        let mut zeros = self.zeros.iter().peekable();
        for (at, gate) in self.gates.iter().enumerate() {
            while let Some((gate, wire)) = zeros.next_if(|(z, _)| *z <= at) {
                let states = lanes[*wire as usize];
                if states != 0 {
                    dirty.push(DirtyAncilla { wire: *wire, gate: *gate, states });
                }
            }
            gate.on_lanes(lanes);
        }
        let places = |role| self.registers.iter().filter(move |r| r.role == role).flat_map(|r| &r.after);
        let trapped = places(Role::Trap).fold(0, |t, w| t | lanes[*w as usize]);
        let end = places(Role::Ancilla).map(|w| DirtyAncilla {
            wire: *w,
            gate: self.gates.len(),
            states: lanes[*w as usize],
        });
        let claimed = claimed & !trapped;
        let dirty = dirty.into_iter().chain(end).find(|d| d.states & claimed != 0);
        dirty.map_or(Ok(()), |d| Err(DirtyAncilla { states: d.states & claimed, ..d }))
    }
}

impl Gate {
    /// Applies the gate in 64 states at once: `lanes` has a word for each wire, with a bit for each state.
    ///
    /// # Panics
    /// If there are fewer words than wires.
    pub fn on_lanes(self, lanes: &mut [u64]) {
        match self {
            Gate::Not(a) => lanes[a as usize] = !lanes[a as usize],
            Gate::Cnot(a, b) => lanes[b as usize] ^= lanes[a as usize],
            Gate::Toffoli(a, b, c) => lanes[c as usize] ^= lanes[a as usize] & lanes[b as usize],
            Gate::Cswap(a, b, c) => {
                let change = lanes[a as usize] & (lanes[b as usize] ^ lanes[c as usize]);
                lanes[b as usize] ^= change;
                lanes[c as usize] ^= change;
            }
        }
    }
}
