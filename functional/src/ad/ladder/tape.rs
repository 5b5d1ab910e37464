//! The tape: a node for each input, constant and operation, with the partial derivatives that lead to earlier nodes.

use std::fmt::Write as _;

use crate::value::{hold, let_go};

/// A tape.
#[derive(Debug, Default)]
pub struct Tape {
    /// Where the edges of each node end.
    ends: Vec<usize>,
    edges: Vec<(usize, f64)>,
    /// The bytes that count as memory of values.
    held: usize,
}

/// The bytes of a node without edges, and of an edge.
const NODE: usize = size_of::<usize>();
const EDGE: usize = size_of::<(usize, f64)>();

impl Tape {
    /// Writes a node: for each of its operands, the node of the operand and the partial derivative.
    pub(super) fn node(&mut self, edges: &[(usize, f64)]) {
        self.edges.extend_from_slice(edges);
        self.ends.push(self.edges.len());
        let bytes = NODE + edges.len() * EDGE;
        hold(bytes);
        self.held += bytes;
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The edges of a node: where each leads, and its partial derivative.
    pub fn edges(&self, node: usize) -> &[(usize, f64)] {
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.edges[start..self.ends[node]]
    }

    /// The adjoints of all nodes, from the last node to node 0, and how many multiplications that took.
    pub(super) fn sweep(&self, seeds: &[(usize, f64)]) -> (Vec<f64>, u64) {
        let mut adjoints = vec![0.0; self.len()];
        for (node, seed) in seeds {
            adjoints[*node] += seed;
        }
        let mut products = 0;
        for node in (0..self.len()).rev() {
            let d = adjoints[node];
            for (to, partial) in self.edges(node) {
                adjoints[*to] += d * partial;
                products += 1;
            }
        }
        (adjoints, products)
    }

    /// The tape as text: a line for each node, with its edges.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for node in 0..self.len() {
            let edges: Vec<String> = self.edges(node).iter().map(|(to, p)| format!("({p}, #{to})")).collect();
            let _ = writeln!(out, "#{node} [{}]", edges.join(", "));
        }
        out
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        let_go(self.held);
    }
}
