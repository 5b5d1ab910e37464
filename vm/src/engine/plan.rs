//! Division of a program into compilation units, and counting of executions.
//!
//! A *unit* is a contiguous part of one region's blocks in one direction: a procedure or the main region, or a part of it if it has
//! more than [`CAP`] instructions. Code generators take more than linear time, so larger units would not pay off. A block that is
//! longer by itself belongs to no unit and is interpreted.
//!
//! Compiled code does not count every block. By conservation of flow, the counts of most edges of the control flow graph follow from
//! those of the edges outside a spanning tree, which is chosen so that loops have as few counted edges as possible (Knuth, *The Art
//! of Computer Programming*, volume 1, section 2.3.4.1). One extra node stands for everything outside the unit.

use std::collections::HashMap;

use pendula_isa::inst::Kind;
use pendula_isa::module::Module;
use pendula_isa::table::Flow;
use pendula_isa::verify::verify;

use crate::decode::{Code, Decoded, Exit};
use pendula_codegen::lift::registers;

/// The maximum number of instructions in a unit.
pub(crate) const CAP: usize = 300;

/// Stands for no unit, no entry, no counter.
pub(crate) const NONE: u32 = u32::MAX;

/// The kind of an edge of the control flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeKind {
    /// From outside into a block.
    Enter,
    /// A taken jump.
    Taken,
    /// Falling into the next block, also after a call.
    Fall,
    /// Return from the procedure.
    Return,
    /// A call whose callee does not return to this code.
    Unreturned,
    /// A block that does not run to its end.
    Partial,
}

/// The number of kinds of edges.
const EDGE_KINDS: usize = EdgeKind::Partial as usize + 1;

/// An edge between two blocks of a unit, by their indices in it; the number of blocks stands for the outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) kind: EdgeKind,
    /// The counter; [`NONE`] if the edge is not counted.
    pub(crate) counter: u32,
}

/// A compilation unit.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    /// The blocks in order of execution.
    pub(crate) blocks: Vec<u32>,
    /// The indices of blocks that can be entered from outside. The first is the region's entry, if the unit contains it.
    pub(crate) entries: Vec<u32>,
    pub(crate) edges: Vec<Edge>,
    /// The counters of the edges out of each block and into it, by kind.
    edge_counters: Vec<[u32; EDGE_KINDS]>,
    /// The edges of the spanning tree, each with the node that determines its count, in order of evaluation.
    tree: Vec<(u32, u32)>,
    /// The loop depth of each block.
    pub(crate) depth: Vec<u32>,
    /// Whether each block is a loop head or the unit's first block.
    #[allow(dead_code, reason = "only baseline code uses it, which not every build and host has")]
    pub(crate) heads: Vec<bool>,
}

impl Unit {
    /// The counter of the edge of this kind out of (or for [`EdgeKind::Enter`] into) the block at an index, if it is counted.
    pub(crate) fn counter(&self, place: usize, kind: EdgeKind) -> Option<usize> {
        let counter = self.edge_counters[place][kind as usize];
        (counter != NONE).then_some(counter as usize)
    }

    /// The index of a block in the unit, if it is there. The blocks of a unit are contiguous.
    #[allow(dead_code, reason = "only machine code uses it, which not every build has")]
    pub(crate) fn place(&self, block: u32) -> Option<usize> {
        let place = block.abs_diff(*self.blocks.first()?) as usize;
        (self.blocks.get(place) == Some(&block)).then_some(place)
    }

    /// The number of times that baseline code may reach the unit's heads before it is optimized: `tier_up` for a short unit, more for a
    /// longer one, because compiling it takes longer. Negative if there is to be no baseline code.
    pub(crate) fn heat(&self, code: &[Code], tier_up: u64) -> i64 {
        let len: u64 = self.blocks.iter().map(|b| u64::from(code[*b as usize].len)).sum();
        i64::try_from(tier_up.saturating_mul(1 + len / 16)).unwrap_or(i64::MAX) - i64::from(tier_up == 0)
    }

    /// Adds the executions of blocks that follow from the counters, and clears the counters.
    pub(crate) fn add_block_executions(&self, counters: &mut [u64], tally: &mut Tally) {
        if self.edges.iter().all(|e| e.counter == NONE || counters[e.counter as usize] == 0) {
            return;
        }
        let Tally { executions, flow, excess } = tally;
        flow.clear();
        flow.resize(self.edges.len(), 0);
        excess.clear();
        excess.resize(self.blocks.len() + 1, 0);
        let take = |e: &Edge, n: u64, excess: &mut [u64]| {
            excess[e.to as usize] = excess[e.to as usize].wrapping_add(n);
            excess[e.from as usize] = excess[e.from as usize].wrapping_sub(n);
        };
        for (edge, flow) in self.edges.iter().zip(&mut *flow) {
            if edge.counter != NONE {
                *flow = std::mem::take(&mut counters[edge.counter as usize]);
                take(edge, *flow, excess);
            }
        }
        for &(node, n) in &self.tree {
            let edge = &self.edges[n as usize];
            let missing = excess[node as usize];
            flow[n as usize] = if edge.from == node { missing } else { missing.wrapping_neg() };
            take(edge, flow[n as usize], excess);
        }
        for (edge, flow) in self.edges.iter().zip(flow) {
            if !matches!(edge.kind, EdgeKind::Enter | EdgeKind::Partial) {
                let count = &mut executions[self.blocks[edge.from as usize] as usize];
                *count = count.wrapping_add(*flow);
            }
        }
    }
}

/// Sums of the counts when a run stops.
#[derive(Default)]
pub(crate) struct Tally {
    /// The executions of each block.
    pub(crate) executions: Vec<u64>,
    /// The count of each edge of a unit.
    flow: Vec<u64>,
    /// The flow into each block of a unit minus the flow out of it.
    excess: Vec<u64>,
}

/// The units of a program.
pub(crate) struct Plan {
    pub(crate) units: Vec<Unit>,
    /// The unit of each block, and the block's index among the unit's entries.
    pub(crate) unit_of: Vec<u32>,
    pub(crate) entry_of: Vec<u32>,
    /// The counters of entering each block from outside and of leaving it before its end. The machine counts these edges; compiled code
    /// only counts entering a unit's first block.
    pub(crate) enter: Vec<u32>,
    pub(crate) partial: Vec<u32>,
    /// The registers that the procedure with this entry block, and its callees, may read or write.
    pub(crate) touched: HashMap<u32, u32>,
    pub(crate) counters: usize,
}

/// A region: its addresses, the registers that it touches, and the regions that it calls.
struct Region {
    first: u32,
    last: u32,
    touched: u32,
    calls: Vec<u32>,
}

fn survey(module: &Module) -> Vec<Region> {
    let (structure, _) = verify(module);
    let mut regions: Vec<Region> = Vec::with_capacity(structure.regions.len());
    for r in &structure.regions {
        let (mut touched, mut calls) = (0, Vec::new());
        for at in r.start..=r.last {
            let inst = &module.code[at as usize];
            let (read, written) = registers(inst);
            touched |= read | written;
            match inst.kind.flow() {
                Flow::Call | Flow::GradientCall => calls.push((i64::from(at) + inst.imm) as u32),
                Flow::CallRegister => touched = !1,
                Flow::Straight | Flow::Jump | Flow::Procedure | Flow::Run | Flow::Branch(_) | Flow::Cell => {}
            }
        }
        regions.push(Region { first: r.start, last: r.last, touched, calls });
    }
    // Propagate the touched registers to callers until nothing changes.
    let index: HashMap<u32, usize> = regions.iter().enumerate().map(|(n, r)| (r.first, n)).collect();
    loop {
        let mut changed = false;
        for n in 0..regions.len() {
            let called = regions[n].calls.iter().filter_map(|c| index.get(c)).fold(0, |t, c| t | regions[*c].touched);
            changed |= called & !regions[n].touched != 0;
            regions[n].touched |= called;
        }
        if !changed {
            break;
        }
    }
    regions
}

impl Plan {
    pub(crate) fn new(module: &Module, d: &Decoded) -> Plan {
        let regions = survey(module);
        let sides = d.code.len();
        let mut plan = Plan {
            units: Vec::new(),
            unit_of: vec![NONE; sides],
            entry_of: vec![NONE; sides],
            enter: vec![NONE; sides],
            partial: vec![NONE; sides],
            touched: HashMap::new(),
            counters: 0,
        };
        let depths = depths(module, d);
        for region in &regions {
            for forward in [true, false] {
                plan.region(d, region, forward, &depths);
            }
        }
        for n in 0..plan.units.len() {
            plan.enter(d, n);
        }
        for n in 0..plan.units.len() {
            let mut unit = std::mem::take(&mut plan.units[n]);
            for (k, entry) in unit.entries.iter().enumerate() {
                plan.entry_of[unit.blocks[*entry as usize] as usize] = k as u32;
            }
            plan.connect(d, &mut unit);
            plan.units[n] = unit;
        }
        plan
    }

    /// Divides a region's blocks in one direction.
    fn region(&mut self, d: &Decoded, region: &Region, forward: bool, depths: &[u32]) {
        let (first, last) = (d.block_of[region.first as usize], d.block_of[region.last as usize]);
        let side = |b: u32| if forward { b } else { b + d.blocks.len() as u32 };
        let mut order: Vec<u32> = (first..=last).map(side).collect();
        if !forward {
            order.reverse();
        }
        self.touched.insert(order[0], region.touched);
        let len = |b: &u32| d.code[*b as usize].len as usize;
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            let mut size = 0;
            // The cheapest place to end the unit: the lowest loop depth.
            let mut best = (u32::MAX, 0);
            let mut n = 0;
            while n < rest.len() && size + len(&rest[n]) <= CAP {
                size += len(&rest[n]);
                n += 1;
                let depth = rest.get(n).map_or(0, |b| depths[*b as usize % d.blocks.len()]);
                if n == rest.len() || (size > CAP / 2 && depth <= best.0) {
                    best = (depth, n);
                }
            }
            let n = if n == rest.len() || best.1 == 0 { n } else { best.1 };
            if n == 0 {
                // The block is too long by itself.
                rest = &rest[1..];
                continue;
            }
            let number = self.units.len() as u32;
            for b in &rest[..n] {
                self.unit_of[*b as usize] = number;
            }
            let depth = rest[..n].iter().map(|b| depths[*b as usize % d.blocks.len()]).collect();
            self.units.push(Unit { blocks: rest[..n].to_vec(), depth, ..Unit::default() });
            rest = &rest[n..];
        }
    }

    /// Finds the entries of a unit: the region's entry, blocks after calls, loop heads, and blocks reached from other units.
    fn enter(&mut self, d: &Decoded, n: usize) {
        let unit = &self.units[n];
        let place: HashMap<u32, u32> = unit.blocks.iter().enumerate().map(|(n, b)| (*b, n as u32)).collect();
        let mut entries: Vec<u32> = Vec::new();
        if self.touched.contains_key(&unit.blocks[0]) {
            entries.push(0);
        }
        for b in self.reach(d, n) {
            let (b, code) = (b as u32, &d.code[b]);
            let mut lead = |to: u32, call: bool| {
                if let Some(&to) = place.get(&to) {
                    let back = place.get(&b).is_some_and(|from| to <= *from);
                    if call || back || !place.contains_key(&b) {
                        entries.push(to);
                    }
                }
            };
            match &code.exit {
                Exit::Branch(branch) => {
                    lead(branch.to, false);
                    lead(branch.fall.block, false);
                }
                Exit::Fall(to) => lead(*to, false),
                Exit::Call { .. } | Exit::CallRegister { .. } => {
                    if let Some(site) = &d.calls[d.address(b, code.len - 1) as usize] {
                        lead(site.after[usize::from(!d.is_forward(b))].block, true);
                    }
                }
                Exit::Return { .. } | Exit::Halt => {}
                // Such programs are interpreted.
                Exit::PisaBranch(_) | Exit::End | Exit::Stop(_) | Exit::OffCode => {}
            }
        }
        entries.sort_unstable();
        entries.dedup();
        self.units[n].entries = entries;
    }

    /// The blocks that may lead directly to a unit's blocks: those of its region, which are contiguous.
    fn reach(&self, d: &Decoded, n: usize) -> std::ops::Range<usize> {
        let half = d.blocks.len();
        let start = if d.is_forward(self.units[n].blocks[0]) { 0 } else { half };
        let (mut low, mut high) = (half, 0);
        for b in &self.units[n].blocks {
            low = low.min(*b as usize - start);
            high = high.max(*b as usize - start);
        }
        let bound = |b: usize| matches!(d.code[start + b].exit, Exit::Return { .. } | Exit::Halt);
        let head = |b: usize| self.touched.contains_key(&((start + b) as u32));
        if start == 0 {
            while low > 0 && !head(low) {
                low -= 1;
            }
            while high + 1 < half && !bound(high) {
                high += 1;
            }
        } else {
            while low > 0 && !bound(low) {
                low -= 1;
            }
            while high + 1 < half && !head(high) {
                high += 1;
            }
        }
        start + low..start + high + 1
    }

    /// Finds the edges of a unit and chooses the counted ones.
    fn connect(&mut self, d: &Decoded, unit: &mut Unit) {
        let outside = unit.blocks.len() as u32;
        let place: HashMap<u32, u32> = unit.blocks.iter().enumerate().map(|(n, b)| (*b, n as u32)).collect();
        let mut edges = Vec::new();
        let mut edge = |from, to, kind| edges.push(Edge { from, to, kind, counter: NONE });
        for entry in &unit.entries {
            edge(outside, *entry, EdgeKind::Enter);
        }
        for (at, b) in unit.blocks.iter().enumerate() {
            let at = at as u32;
            let inside = |b: u32| place.get(&b).copied().unwrap_or(outside);
            let code = &d.code[*b as usize];
            match &code.exit {
                Exit::Branch(branch) => {
                    edge(at, inside(branch.to), EdgeKind::Taken);
                    edge(at, inside(branch.fall.block), EdgeKind::Fall);
                }
                Exit::Fall(to) => edge(at, inside(*to), EdgeKind::Fall),
                Exit::Call { .. } => {
                    if let Some(site) = &d.calls[d.address(*b, code.len - 1) as usize] {
                        edge(at, inside(site.after[usize::from(!d.is_forward(*b))].block), EdgeKind::Fall);
                    }
                    edge(at, outside, EdgeKind::Unreturned);
                }
                Exit::Return { .. } => edge(at, outside, EdgeKind::Return),
                Exit::CallRegister { .. } | Exit::Halt => {}
                Exit::PisaBranch(_) | Exit::End | Exit::Stop(_) | Exit::OffCode => {}
            }
            edge(at, outside, EdgeKind::Partial);
        }
        let depth = |node: u32| unit.depth.get(node as usize).copied();
        let weight = |e: &Edge| match (e.kind, depth(e.from), depth(e.to)) {
            (EdgeKind::Taken | EdgeKind::Fall, Some(a), Some(b)) => 2 + a.min(b),
            (EdgeKind::Enter, _, _) if e.to == 0 => 1,
            (EdgeKind::Return, _, _) => 1,
            _ => 0,
        };
        let mut order: Vec<u32> = (0..edges.len() as u32).collect();
        order.sort_by_key(|n| std::cmp::Reverse(weight(&edges[*n as usize])));
        let mut root: Vec<u32> = (0..=outside).collect();
        fn find(root: &mut [u32], mut n: u32) -> u32 {
            while root[n as usize] != n {
                root[n as usize] = root[root[n as usize] as usize];
                n = root[n as usize];
            }
            n
        }
        let mut adjacent: Vec<Vec<u32>> = vec![Vec::new(); outside as usize + 1];
        for n in order {
            let e = &mut edges[n as usize];
            let (a, b) = (find(&mut root, e.from), find(&mut root, e.to));
            if a == b {
                e.counter = self.counters as u32;
                self.counters += 1;
            } else {
                root[a as usize] = b;
                adjacent[e.from as usize].push(n);
                adjacent[e.to as usize].push(n);
            }
        }
        // The tree grows from the outside inward; counts are evaluated in the opposite order.
        let mut seen = vec![false; outside as usize + 1];
        let mut tree = Vec::new();
        let mut stack = vec![outside];
        seen[outside as usize] = true;
        while let Some(node) = stack.pop() {
            for n in &adjacent[node as usize] {
                let e = &edges[*n as usize];
                let other = if e.from == node { e.to } else { e.from };
                if !std::mem::replace(&mut seen[other as usize], true) {
                    tree.push((other, *n));
                    stack.push(other);
                }
            }
        }
        tree.reverse();
        for e in &edges {
            match e.kind {
                EdgeKind::Enter if e.to != 0 => self.enter[unit.blocks[e.to as usize] as usize] = e.counter,
                EdgeKind::Partial => self.partial[unit.blocks[e.from as usize] as usize] = e.counter,
                _ => {}
            }
        }
        unit.edge_counters = vec![[NONE; EDGE_KINDS]; unit.blocks.len()];
        for e in &edges {
            let place = if e.kind == EdgeKind::Enter { e.to } else { e.from };
            unit.edge_counters[place as usize][e.kind as usize] = e.counter;
        }
        unit.heads = vec![false; unit.blocks.len()];
        for e in edges.iter().filter(|e| e.to < outside) {
            unit.heads[e.to as usize] |= e.to == 0 || (e.from < outside && e.from >= e.to);
        }
        (unit.edges, unit.tree) = (edges, tree);
    }
}

/// The loop depth of each block.
fn depths(module: &Module, d: &Decoded) -> Vec<u32> {
    let mut change = vec![0i32; d.blocks.len() + 1];
    for (at, inst) in module.code.iter().enumerate() {
        if inst.kind.flow() == Flow::Jump && matches!(inst.kind, Kind::Row { inverse: false, .. }) && inst.imm <= 0 {
            let to = at as i64 + inst.imm;
            change[d.block_of[to as usize] as usize] += 1;
            change[d.block_of[at] as usize + 1] -= 1;
        }
    }
    let mut depth = 0;
    change[..d.blocks.len()]
        .iter()
        .map(|c| {
            depth += c;
            depth as u32
        })
        .collect()
}
