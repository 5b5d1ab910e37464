//! Carries that look ahead, in conventional networks.
//!
//! A carry that ripples is a chain of majorities, c′ = ⟨x z c⟩. A group of places has two carries out: one without a carry in, and one with it. A
//! single place has x ∧ z and x ∨ z. The first never is 1 without the second, so the group above takes its own from the one below by majorities:
//! ⟨g h c⟩ is h where c is 1 and g where it is not. So a prefix ([`Adder::merges`]) joins groups with a majority for each of the two carries, of which
//! only the first is needed in the end, and every step is one level.

use pendula_isa::circuit::Adder;

use super::{Network, Node, Nodes, Port, Signal};

/// Places of the shortest chain that is replaced.
const SHORT: usize = 3;

/// A chain of majorities.
struct Chain {
    /// What the first one takes in as the carry.
    carry_in: Signal,
    /// For each place the operands beside the carry.
    places: Vec<[Signal; 2]>,
    steps: Vec<Step>,
    /// For each place the steps that end at it, in their order.
    of_place: Vec<Vec<usize>>,
}

/// What a group is made of.
#[derive(Clone, Copy)]
enum Group {
    /// The carry in.
    Start,
    /// A single place.
    Place(usize),
    /// The group of a step.
    Step(usize),
}

struct Step {
    above: Group,
    below: Group,
    /// Whether the carry with a carry in is needed, too.
    propagates: bool,
}

/// Where a majority stands.
#[derive(Clone, Copy)]
struct At {
    chain: usize,
    place: usize,
    /// Whether the majority is the complement of the chain's carry.
    complement: bool,
}

impl Chain {
    fn new(carry_in: Signal, places: Vec<[Signal; 2]>, adder: Adder) -> Chain {
        // The carry in is a group of its own, below the places.
        let mut now: Vec<Group> = std::iter::once(Group::Start).chain((0..places.len()).map(Group::Place)).collect();
        let mut of_place = vec![Vec::new(); places.len()];
        let mut steps = Vec::new();
        for merge in adder.merges(places.len() + 1, |_| true) {
            of_place[merge.to - 1].push(steps.len());
            steps.push(Step { above: now[merge.to], below: now[merge.from], propagates: merge.propagates });
            now[merge.to] = Group::Step(steps.len() - 1);
        }
        Chain { carry_in, places, steps, of_place }
    }
}

/// The majorities of a network that hand carries on to each other.
#[derive(Default)]
struct Found {
    carry_in: Signal,
    places: Vec<[Signal; 2]>,
    members: Vec<usize>,
}

impl Network {
    /// The same function with carries that look ahead, as this adder has them. Networks without chains of carries stay as they are, and so do all
    /// with [`Adder::Ripple`].
    #[must_use]
    pub fn with_adder(self, adder: Adder) -> Network {
        if adder == Adder::Ripple {
            return self;
        }
        let (chains, at) = self.chains(adder);
        if chains.is_empty() {
            return self;
        }
        let mut nodes = Nodes::new();
        let mut new: Vec<Signal> = Vec::with_capacity(self.nodes.len());
        // For each step of each chain the carries of its group, once they are made.
        let mut made: Vec<Vec<[Signal; 2]>> = chains.iter().map(|c| vec![[Signal::ZERO; 2]; c.steps.len()]).collect();
        for (node, at) in self.nodes.iter().zip(at) {
            let of = |s: Signal| new[s.node()].complement_if(s.is_complement());
            let signal = match (*node, at) {
                (_, Some(At { chain: n, place, complement })) => {
                    let chain = &chains[n];
                    let operands = |place: usize| chain.places[place].map(of);
                    nodes.join(chain, place, of(chain.carry_in), &operands, &mut made[n]).complement_if(complement)
                }
                (Node::And(a, b), None) => nodes.and(of(a), of(b)),
                (Node::Xor(a, b), None) => nodes.xor(of(a), of(b)),
                (Node::Majority(a, b, c), None) => nodes.majority(of(a), of(b), of(c)),
                (Node::Zero, None) => Signal::ZERO,
                (Node::Input(bit), None) => nodes.input(bit),
            };
            new.push(signal);
        }
        self.on(nodes, &new)
    }

    /// The chains, and for each node where it stands in one.
    fn chains(&self, adder: Adder) -> (Vec<Chain>, Vec<Option<At>>) {
        let levels = self.levels();
        let is_majority = |n: usize| matches!(self.nodes[n], Node::Majority(..));
        let mut taken = vec![false; self.nodes.len()];
        let mut at: Vec<Option<At>> = vec![None; self.nodes.len()];
        let mut found: Vec<Found> = Vec::new();
        for n in (0..self.nodes.len()).filter(|n| is_majority(*n)) {
            let operands = || self.nodes[n].fanins();
            let latest = |s: &Signal| levels[s.node()];
            // The carry of a place that hands it on to no other yet; for the first place the operand that comes last, which is a carry, too.
            let before = operands().filter(|s| is_majority(s.node()) && !taken[s.node()]).max_by_key(latest);
            let carry = before.or_else(|| operands().max_by_key(latest)).unwrap_or(Signal::ZERO);
            let (chain, complement) = match before.and_then(|s| at[s.node()]) {
                Some(before) => (before.chain, carry.is_complement() != before.complement),
                None => {
                    found.push(Found { carry_in: carry, ..Found::default() });
                    (found.len() - 1, false)
                }
            };
            taken[carry.node()] |= before.is_some();
            // The majority of complements is the complement.
            let mut rest = operands().filter(|s| *s != carry).map(|s| s.complement_if(complement));
            let place = [rest.next().unwrap_or(Signal::ZERO), rest.next().unwrap_or(Signal::ZERO)];
            found[chain].places.push(place);
            found[chain].members.push(n);
            at[n] = Some(At { chain, place: found[chain].places.len() - 1, complement });
        }
        let mut chains = Vec::new();
        for Found { carry_in, places, members } in found {
            let long = places.len() >= SHORT;
            for n in members {
                at[n] = at[n].filter(|_| long).map(|at| At { chain: chains.len(), ..at });
            }
            if long {
                chains.push(Chain::new(carry_in, places, adder));
            }
        }
        (chains, at)
    }

    /// The ports of this network on other nodes.
    fn on(&self, nodes: Nodes, new: &[Signal]) -> Network {
        let moved = |port: &Port| Port {
            name: port.name.clone(),
            signals: port.signals.iter().map(|s| new[s.node()].complement_if(s.is_complement())).collect(),
        };
        let inputs = self.inputs.iter().map(moved).collect();
        let outputs = self.outputs.iter().map(moved).collect();
        Network { nodes: nodes.nodes, inputs, outputs }.without_dead_nodes()
    }
}

impl Nodes {
    /// The majority of three signals.
    fn majority(&mut self, a: Signal, b: Signal, c: Signal) -> Signal {
        let mut all = [a, b, c];
        all.sort_unstable();
        let [a, b, c] = all;
        if a == Signal::ZERO {
            return self.and(b, c);
        }
        if a == Signal::ONE {
            return self.and(b.complement_if(true), c.complement_if(true)).complement_if(true);
        }
        if a.plain() == b.plain() {
            return if a == b { a } else { c };
        }
        if b.plain() == c.plain() {
            return if b == c { b } else { a };
        }
        // Of most complements, the majority of the plain ones, complemented.
        let many = all.iter().filter(|s| s.is_complement()).count() > 1;
        let [a, b, c] = all.map(|s| s.complement_if(many));
        self.add(Node::Majority(a, b, c)).complement_if(many)
    }

    /// The carry out of the places up to one of a chain: all steps that end there.
    fn join(
        &mut self,
        chain: &Chain,
        place: usize,
        carry_in: Signal,
        operands: &dyn Fn(usize) -> [Signal; 2],
        made: &mut [[Signal; 2]],
    ) -> Signal {
        let mut out = Signal::ZERO;
        for n in &chain.of_place[place] {
            let step = &chain.steps[*n];
            let below = self.group(step.below, carry_in, operands, made);
            let mut with = |carry: Signal| {
                // A single place needs no carries of its own.
                let [x, z] = match step.above {
                    Group::Place(place) => operands(place),
                    above => self.group(above, carry_in, operands, made),
                };
                self.majority(x, z, carry)
            };
            out = with(below[0]);
            let propagated = if step.propagates { with(below[1]) } else { out };
            made[*n] = [out, propagated];
        }
        out
    }

    /// The carries out of a group, without and with a carry in.
    fn group(
        &mut self,
        group: Group,
        carry_in: Signal,
        operands: &dyn Fn(usize) -> [Signal; 2],
        made: &[[Signal; 2]],
    ) -> [Signal; 2] {
        match group {
            Group::Start => [carry_in; 2],
            Group::Place(place) => {
                let [x, z] = operands(place);
                [self.majority(x, z, Signal::ZERO), self.majority(x, z, Signal::ONE)]
            }
            Group::Step(n) => made[n],
        }
    }
}
