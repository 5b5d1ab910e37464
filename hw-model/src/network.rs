//! Combinational networks: what a reversible circuit computes, as conventional logic computes it, without the way back.
//!
//! [`Network::of`] follows the gates of a [`Circuit`] from its registers. A controlled NOT is an exclusive or, a Toffoli gate an AND and an
//! exclusive or, a controlled swap two exclusive ors around an AND. Equal gates are one gate, and what is computed only to be computed backward
//! falls away, because no output depends on it.

mod aqfp;
mod carries;
mod cells;

use pendula_isa::circuit::{Adder, Circuit, Gate, Role};

pub use aqfp::Aqfp;
pub use cells::{CellNetwork, Output, PlacedCell, Source};

/// The output of a node, or its complement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signal(u32);

impl Signal {
    /// The constant 0.
    pub const ZERO: Signal = Signal(0);
    /// The constant 1.
    pub const ONE: Signal = Signal(1);

    fn of(node: usize) -> Signal {
        Signal((node as u32) << 1)
    }

    /// The index of the node.
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether it is the complement of the node's output.
    pub fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    /// Without the complement.
    fn plain(self) -> Signal {
        Signal(self.0 & !1)
    }

    /// The complement if `c`.
    fn complement_if(self, c: bool) -> Signal {
        Signal(self.0 ^ u32::from(c))
    }
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The constant 0: the first node.
    Zero,
    /// A bit of an input, by number.
    Input(u32),
    /// a ∧ b.
    And(Signal, Signal),
    /// a ⊕ b, of signals without complements.
    Xor(Signal, Signal),
    /// 1 if two of three are.
    Majority(Signal, Signal, Signal),
}

impl Node {
    /// The signals that it is computed from.
    pub fn fanins(&self) -> impl Iterator<Item = Signal> + use<> {
        let three = match *self {
            Node::Zero | Node::Input(_) => [None; 3],
            Node::And(a, b) | Node::Xor(a, b) => [Some(a), Some(b), None],
            Node::Majority(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        three.into_iter().flatten()
    }

    /// Whether it is a gate.
    pub const fn is_gate(&self) -> bool {
        !matches!(self, Node::Zero | Node::Input(_))
    }
}

/// A named word of signals, the least significant bit first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name of the circuit's register.
    pub name: String,
    /// Its bits.
    pub signals: Vec<Signal>,
}

/// A combinational network. Every node follows those that it is computed from, and has a way to an output, unless it is an input.
#[derive(Clone, Debug)]
pub struct Network {
    nodes: Vec<Node>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

/// Makes nodes, equal ones once.
///
/// An equal node has the same latest operand, so it is among the nodes that have this one. These lie near each other, while a table of all nodes
/// would be looked up all over memory.
#[derive(Default)]
struct Nodes {
    nodes: Vec<Node>,
    /// For each node the latest node of which it is the latest operand; 0 if there is none.
    users: Vec<u32>,
    /// For each node the one before it with the same latest operand; 0 if there is none.
    earlier: Vec<u32>,
}

impl Nodes {
    /// With the constant alone.
    fn new() -> Nodes {
        Nodes { nodes: vec![Node::Zero], users: vec![0], earlier: vec![0] }
    }

    fn input(&mut self, bit: u32) -> Signal {
        self.push(Node::Input(bit), 0)
    }

    fn add(&mut self, node: Node) -> Signal {
        let latest = node.fanins().map(Signal::node).max().unwrap_or(0);
        let mut at = self.users[latest];
        while at != 0 {
            if self.nodes[at as usize] == node {
                return Signal::of(at as usize);
            }
            at = self.earlier[at as usize];
        }
        let before = std::mem::replace(&mut self.users[latest], self.nodes.len() as u32);
        self.push(node, before)
    }

    fn push(&mut self, node: Node, before: u32) -> Signal {
        self.nodes.push(node);
        self.users.push(0);
        self.earlier.push(before);
        Signal::of(self.nodes.len() - 1)
    }

    /// The operands of an exclusive or.
    fn xor_operands(&self, a: Signal) -> Option<(Signal, Signal)> {
        match self.nodes[a.node()] {
            Node::Xor(x, y) => Some((x, y)),
            _ => None,
        }
    }

    fn xor(&mut self, a: Signal, b: Signal) -> Signal {
        let complement = a.is_complement() != b.is_complement();
        let (a, b) = (a.plain().min(b.plain()), a.plain().max(b.plain()));
        let sum = if a == b {
            Signal::ZERO
        } else if a == Signal::ZERO {
            b
        } else if let Some(rest) = self.cancelled(a, b).or_else(|| self.cancelled(b, a)) {
            rest
        } else if let (Some((p, q)), Some((r, s))) = (self.xor_operands(a), self.xor_operands(b)) {
            match (p == r, p == s, q == r, q == s) {
                (true, ..) => self.xor(q, s),
                (_, true, ..) => self.xor(q, r),
                (_, _, true, _) => self.xor(p, s),
                (.., true) => self.xor(p, r),
                _ => self.add(Node::Xor(a, b)),
            }
        } else {
            self.add(Node::Xor(a, b))
        };
        sum.complement_if(complement)
    }

    /// What is left of (b ⊕ c) ⊕ b.
    fn cancelled(&self, sum: Signal, b: Signal) -> Option<Signal> {
        let (x, y) = self.xor_operands(sum)?;
        if x == b {
            Some(y)
        } else if y == b {
            Some(x)
        } else {
            None
        }
    }

    fn and(&mut self, a: Signal, b: Signal) -> Signal {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (Signal::ZERO, _) => Signal::ZERO,
            (Signal::ONE, _) => b,
            _ if a == b => a,
            _ if a.plain() == b.plain() => Signal::ZERO,
            _ => self.add(Node::And(a, b)),
        }
    }

    /// The three of which `x ⊕ (u ∧ v)` is the majority, if it is one: u = x ⊕ b and v = x ⊕ c.
    fn majority_of(&self, x: Signal, and: Signal) -> Option<[Signal; 3]> {
        let Node::And(u, v) = self.nodes[and.node()] else { return None };
        let other = |sum: Signal| {
            let (p, q) = self.xor_operands(sum)?;
            let other = if p == x {
                q
            } else if q == x {
                p
            } else {
                return None;
            };
            Some(other.complement_if(sum.is_complement()))
        };
        Some([x, other(u)?, other(v)?])
    }
}

impl Network {
    /// The network of a circuit: from its operands, targets and controls to its targets and trap bits.
    pub fn of(circuit: &Circuit) -> Network {
        let mut nodes = Nodes::new();
        let mut wires = vec![Signal::ZERO; circuit.wires() as usize];
        let mut inputs = Vec::new();
        let mut bits = 0;
        for register in circuit.registers().iter().filter(|r| !matches!(r.role, Role::Trap | Role::Ancilla)) {
            let mut signals = Vec::new();
            for wire in &register.wires {
                wires[*wire as usize] = nodes.input(bits);
                signals.push(wires[*wire as usize]);
                bits += 1;
            }
            inputs.push(Port { name: register.name.clone(), signals });
        }
        let mut zeros = circuit.zeros().iter().peekable();
        for (at, gate) in circuit.gates().iter().enumerate() {
            while let Some((_, wire)) = zeros.next_if(|(before, _)| *before <= at) {
                wires[*wire as usize] = Signal::ZERO;
            }
            step(&mut nodes, &mut wires, *gate);
        }
        let outputs = circuit.registers().iter().filter(|r| matches!(r.role, Role::Target | Role::Trap)).map(|r| {
            Port { name: r.name.clone(), signals: r.after.iter().map(|wire| wires[*wire as usize]).collect() }
        });
        let outputs = outputs.collect();
        Network { nodes: nodes.nodes, inputs, outputs }.without_dead_nodes()
    }

    /// The network that conventional logic builds: with majorities, and carries as this adder has them.
    pub fn conventional(circuit: &Circuit, adder: Adder) -> Network {
        Network::of(circuit).with_majorities().with_adder(adder)
    }

    /// The nodes, each behind those that it is computed from.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The inputs.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The outputs.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The number of gates.
    pub fn gates(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_gate()).count()
    }

    /// The level of each node: 0 for inputs, and one more than the highest operand's for a gate.
    pub fn levels(&self) -> Vec<u32> {
        let mut levels: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let level = node.fanins().map(|s| levels[s.node()] + 1).max().unwrap_or(0);
            levels.push(level);
        }
        levels
    }

    /// The number of levels on the longest way from an input to an output.
    pub fn depth(&self) -> u32 {
        self.levels().into_iter().max().unwrap_or(0)
    }

    /// The same function with majorities for carries: x ⊕ ((x ⊕ b) ∧ (x ⊕ c)).
    #[must_use]
    pub fn with_majorities(self) -> Network {
        let old = Nodes { nodes: self.nodes, ..Nodes::default() };
        let nodes = old.nodes.iter().map(|node| match *node {
            Node::Xor(a, b) => match old.majority_of(a, b).or_else(|| old.majority_of(b, a)) {
                Some([x, b, c]) => Node::Majority(x, b, c),
                None => *node,
            },
            other => other,
        });
        let nodes = nodes.collect();
        Network { nodes, inputs: self.inputs, outputs: self.outputs }.without_dead_nodes()
    }

    /// Without the gates that no output depends on.
    fn without_dead_nodes(self) -> Network {
        let mut live: Vec<bool> = self.nodes.iter().map(|node| !node.is_gate()).collect();
        for signal in self.outputs.iter().flat_map(|port| &port.signals) {
            live[signal.node()] = true;
        }
        for at in (0..self.nodes.len()).rev().filter(|at| self.nodes[*at].is_gate()) {
            if live[at] {
                self.nodes[at].fanins().for_each(|s| live[s.node()] = true);
            }
        }
        let mut new = vec![0; self.nodes.len()];
        let mut nodes = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(at, _)| live[*at]) {
            let moved = |s: Signal| Signal::of(new[s.node()]).complement_if(s.is_complement());
            let node = match *node {
                Node::And(a, b) => Node::And(moved(a), moved(b)),
                Node::Xor(a, b) => Node::Xor(moved(a), moved(b)),
                Node::Majority(a, b, c) => Node::Majority(moved(a), moved(b), moved(c)),
                other => other,
            };
            new[at] = nodes.len();
            nodes.push(node);
        }
        let moved = |port: &Port| Port {
            name: port.name.clone(),
            signals: port.signals.iter().map(|s| Signal::of(new[s.node()]).complement_if(s.is_complement())).collect(),
        };
        Network {
            nodes,
            inputs: self.inputs.iter().map(moved).collect(),
            outputs: self.outputs.iter().map(moved).collect(),
        }
    }

    /// The outputs for 64 states at once: for each bit of the inputs, in their order, a word whose bit n is the bit in state n; the same of the
    /// outputs' bits.
    pub fn simulate(&self, inputs: &[u64]) -> Vec<u64> {
        let mut words: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let value = |s: Signal| words[s.node()] ^ if s.is_complement() { u64::MAX } else { 0 };
            let word = match *node {
                Node::Zero => 0,
                Node::Input(bit) => inputs[bit as usize],
                Node::And(a, b) => value(a) & value(b),
                Node::Xor(a, b) => value(a) ^ value(b),
                Node::Majority(a, b, c) => {
                    let (a, b, c) = (value(a), value(b), value(c));
                    a & b | a & c | b & c
                }
            };
            words.push(word);
        }
        let signals = self.outputs.iter().flat_map(|port| &port.signals);
        signals.map(|s| words[s.node()] ^ if s.is_complement() { u64::MAX } else { 0 }).collect()
    }
}

/// What a gate makes of the wires.
fn step(nodes: &mut Nodes, wires: &mut [Signal], gate: Gate) {
    match gate {
        Gate::Not(a) => wires[a as usize] = wires[a as usize].complement_if(true),
        Gate::Cnot(a, b) => wires[b as usize] = nodes.xor(wires[a as usize], wires[b as usize]),
        Gate::Toffoli(a, b, c) => {
            let product = nodes.and(wires[a as usize], wires[b as usize]);
            wires[c as usize] = nodes.xor(product, wires[c as usize]);
        }
        Gate::Cswap(c, a, b) => {
            let (first, second) = (wires[a as usize], wires[b as usize]);
            let differ = nodes.xor(first, second);
            let change = nodes.and(wires[c as usize], differ);
            wires[a as usize] = nodes.xor(first, change);
            wires[b as usize] = nodes.xor(second, change);
        }
    }
}
