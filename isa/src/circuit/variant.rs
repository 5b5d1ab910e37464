//! Variants of a circuit: other names, a constant in the place of a register, both directions in one circuit.

use super::{Circuit, Gate, Register, Role, Wire};

impl Circuit {
    /// The circuit under another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Circuit {
        self.name = name.to_string();
        self
    }

    /// The circuit with other names of its registers, which must stay different.
    #[must_use]
    pub fn with_names(mut self, name: impl Fn(&str) -> String) -> Circuit {
        for register in &mut self.registers {
            register.name = name(&register.name);
        }
        self
    }

    /// The circuit with one more register in front, of a bit that no gate has.
    #[must_use]
    pub fn with_idle_bit(mut self, name: &str, role: Role) -> Circuit {
        let wire = self.wires;
        self.wires += 1;
        self.registers.insert(0, Register { name: name.to_string(), role, wires: vec![wire], after: vec![wire] });
        self
    }

    /// The circuit with a register of one bit read as its complement.
    ///
    /// `None` if there is no such register.
    pub fn with_complement(&self, register: &str) -> Option<Circuit> {
        let found = self.register(register)?;
        let ([first], [last]) = (&found.wires[..], &found.after[..]) else { return None };
        let mut out = self.clone();
        out.gates.insert(0, Gate::Not(*first));
        out.gates.push(Gate::Not(*last));
        for (at, _) in &mut out.zeros {
            *at += 1;
        }
        Some(out)
    }

    /// The circuit with a constant in the place of a register: gates under a control that is 0 fall away, a control that is 1 is left out.
    ///
    /// `None` if there is no such register, or a gate changes it.
    pub fn specialized(&self, register: &str, value: u128) -> Option<Circuit> {
        let found = self.register(register)?;
        let bit = |wire: Wire| found.wires.iter().position(|w| *w == wire).map(|at| value >> at & 1 == 1);
        if found.wires != found.after || self.gates.iter().any(|gate| gate.targets().any(|w| bit(w).is_some())) {
            return None;
        }
        let mut number = vec![0; self.wires as usize];
        let kept = (0..self.wires).filter(|w| bit(*w).is_none());
        kept.enumerate().for_each(|(new, old)| number[old as usize] = new as Wire);
        let to = |w: Wire| number[w as usize];
        let mut gates = Vec::with_capacity(self.gates.len());
        let mut places = Vec::with_capacity(self.gates.len() + 1);
        for gate in &self.gates {
            places.push(gates.len());
            match *gate {
                Gate::Not(a) => gates.push(Gate::Not(to(a))),
                Gate::Cnot(a, b) => match bit(a) {
                    None => gates.push(Gate::Cnot(to(a), to(b))),
                    Some(true) => gates.push(Gate::Not(to(b))),
                    Some(false) => {}
                },
                Gate::Toffoli(a, b, c) => match (bit(a), bit(b)) {
                    (None, None) => gates.push(Gate::Toffoli(to(a), to(b), to(c))),
                    (Some(true), None) => gates.push(Gate::Cnot(to(b), to(c))),
                    (None, Some(true)) => gates.push(Gate::Cnot(to(a), to(c))),
                    (Some(true), Some(true)) => gates.push(Gate::Not(to(c))),
                    (Some(false), _) | (_, Some(false)) => {}
                },
                Gate::Cswap(c, a, b) => match bit(c) {
                    None => gates.push(Gate::Cswap(to(c), to(a), to(b))),
                    Some(true) => gates.extend([(a, b), (b, a), (a, b)].map(|(a, b)| Gate::Cnot(to(a), to(b)))),
                    Some(false) => {}
                },
            }
        }
        places.push(gates.len());
        let moved = |wires: &[Wire]| wires.iter().map(|w| to(*w)).collect();
        let registers = self.registers.iter().filter(|r| r.name != register).map(|r| Register {
            name: r.name.clone(),
            role: r.role,
            wires: moved(&r.wires),
            after: moved(&r.after),
        });
        Some(Circuit {
            name: self.name.clone(),
            wires: self.wires - found.wires.len() as u32,
            registers: registers.collect(),
            gates,
            zeros: self.zeros.iter().map(|(at, w)| (places[*at], to(*w))).collect(),
        })
    }

    /// A circuit that does what this one does, or undoes it if the first register, a control of one bit with this name, is 1. It is the inverse of
    /// itself with the control complemented.
    ///
    /// The words are led by controlled swaps into this circuit or into its inverse, which stand beside each other; the other one runs on zeros,
    /// and what it makes of them, which is known, is cleared.
    #[must_use]
    pub fn two_way(&self, name: &str) -> Circuit {
        let n = self.wires;
        let back = self.inverse();
        let control = 2 * n;
        let beside = |w: Wire| n + w;
        let words = || self.registers.iter().filter(|r| r.role != Role::Ancilla);
        let at_start = || words().flat_map(|r| r.wires.iter().copied().zip(r.after.iter().copied()));
        let mut gates: Vec<Gate> = at_start().map(|(first, last)| Gate::Cswap(control, first, beside(last))).collect();
        gates.extend_from_slice(&self.gates);
        gates.extend(back.gates.iter().map(|gate| gate.map(beside)));
        gates.extend(at_start().map(|(first, last)| Gate::Cswap(control, last, beside(first))));
        // What the circuits make of zeros, by wires.
        let of_zeros = |circuit: &Circuit| {
            let mut state = circuit.state();
            circuit.run(&mut state);
            state
        };
        let (forward, backward) = (of_zeros(self), of_zeros(&back));
        let mut clear = |wire: Wire, if_forward: bool, if_backward: bool| {
            if if_forward {
                gates.push(Gate::Not(wire));
            }
            if if_forward != if_backward {
                gates.push(Gate::Cnot(control, wire));
            }
        };
        for (first, last) in at_start() {
            clear(beside(first), backward[first as usize], forward[last as usize]);
        }
        for w in self.registers.iter().filter(|r| r.role == Role::Ancilla).flat_map(|r| &r.after) {
            clear(*w, false, forward[*w as usize]);
        }
        for w in back.registers.iter().filter(|r| r.role == Role::Ancilla).flat_map(|r| &r.after) {
            clear(beside(*w), backward[*w as usize], false);
        }
        let wires = vec![control];
        let mut registers = vec![Register { name: name.to_string(), role: Role::Control, after: wires.clone(), wires }];
        registers.extend(words().cloned());
        let rest = |of: fn(&Register) -> &[Wire]| {
            let mut taken = vec![false; 2 * n as usize];
            words().flat_map(of).for_each(|w| taken[*w as usize] = true);
            (0..2 * n).filter(|w| !taken[*w as usize]).collect()
        };
        let (wires, after) = (rest(|r| &r.wires), rest(|r| &r.after));
        registers.push(Register { name: "ancilla".to_string(), role: Role::Ancilla, wires, after });
        Circuit { name: format!("{}_both", self.name), wires: 2 * n + 1, registers, gates, zeros: Vec::new() }
    }
}

impl Gate {
    /// The gate on other wires.
    #[must_use]
    pub fn map(self, f: impl Fn(Wire) -> Wire) -> Gate {
        match self {
            Gate::Not(a) => Gate::Not(f(a)),
            Gate::Cnot(a, b) => Gate::Cnot(f(a), f(b)),
            Gate::Toffoli(a, b, c) => Gate::Toffoli(f(a), f(b), f(c)),
            Gate::Cswap(a, b, c) => Gate::Cswap(f(a), f(b), f(c)),
        }
    }

    /// The wires that only control it.
    pub fn controls(&self) -> impl Iterator<Item = Wire> + use<> {
        let two = match *self {
            Gate::Not(_) => [None, None],
            Gate::Cnot(a, _) | Gate::Cswap(a, ..) => [Some(a), None],
            Gate::Toffoli(a, b, _) => [Some(a), Some(b)],
        };
        two.into_iter().flatten()
    }

    /// The wires that it changes.
    pub fn targets(&self) -> impl Iterator<Item = Wire> + use<> {
        let two = match *self {
            Gate::Not(a) | Gate::Cnot(_, a) | Gate::Toffoli(_, _, a) => [Some(a), None],
            Gate::Cswap(_, a, b) => [Some(a), Some(b)],
        };
        two.into_iter().flatten()
    }
}
