//! The work of called procedures, divided among their callers, from execution counts by instruction and mode, as in a
//! call-graph profiler.
//!
//! A node is a procedure together with a mode (it runs forward or backward, at some gradient level). The work of a node
//! is its own and that of its callees; each call of it gets an equal share. Nodes that call each other form a component
//! and are treated together: a call from outside gets its share of the work of the whole component, a call from within
//! only that of the component's own work, without callees, so that nothing is counted twice.

use std::collections::BTreeMap;

use pendula_isa::counts::{Counts, Mode};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::operand::Slot;
use pendula_isa::table::Flow;
use pendula_isa::verify::{target, verify};

use crate::price::Totals;

/// An amount of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkDone {
    /// The circuits, and what running instructions takes beside them.
    pub(crate) work: Totals,
    /// The number of words of memory that were written.
    pub(crate) memory: u64,
    /// Whether procedures were called by an address in a register. Their work is not included.
    pub(crate) unknown: bool,
}

impl WorkDone {
    /// Adds the work of `times` executions of an instruction in a mode, on words of `bits` bits.
    pub(crate) fn add(&mut self, inst: &Inst, mode: Mode, times: u64, bits: u64) {
        if times > 0 {
            self.work.execute(inst, mode, times, bits);
            let layout = inst.kind.layout();
            let words = layout.iter().filter(|s| matches!(s, Slot::TargetMem(_) | Slot::TargetMemPlain(_))).count();
            self.memory = self.memory.saturating_add(times.saturating_mul(words as u64));
            self.unknown |= inst.kind.flow() == Flow::CallRegister;
        }
    }

    /// Adds the fraction `part`/`whole` of another amount.
    pub(crate) fn add_share(&mut self, other: &WorkDone, part: u64, whole: u64) {
        self.work.add_share(&other.work, part, whole);
        self.memory = self.memory.saturating_add(crate::work::share(other.memory, part, whole));
        self.unknown |= other.unknown;
    }
}

/// The number of executions of each instruction, in each mode.
type ExecutionCounts = BTreeMap<Mode, Vec<u64>>;

/// The work of calls.
pub(crate) struct CalleeCosts {
    executed: ExecutionCounts,
    /// The node of a procedure's first instruction and a mode.
    nodes: BTreeMap<(u32, Mode), usize>,
    /// For each instruction, the first instruction of its procedure.
    of: Vec<Option<u32>>,
    /// The component of each node. Most components have a single node.
    component: Vec<usize>,
    components: Vec<Component>,
}

/// A strongly connected component: nodes that call each other.
#[derive(Default)]
struct Component {
    /// Their own work.
    self_cost: WorkDone,
    /// The same, including callees.
    all: WorkDone,
    /// The number of entries, and the number of entries from outside.
    entries: u64,
    outside: u64,
}

impl CalleeCosts {
    pub(crate) fn new(module: &Module, counts: &Counts) -> CalleeCosts {
        let code = &module.code;
        let bits = u64::from(module.flags.profile.width());
        let mut executed = ExecutionCounts::new();
        for mode in &counts.modes {
            let sums = executed.entry(mode.mode).or_insert_with(|| vec![0; code.len()]);
            for (sum, n) in sums.iter_mut().zip(counts.per_instruction(mode, code.len())) {
                *sum += n;
            }
        }
        let regions = verify(module).0.regions;
        let mut out = CalleeCosts {
            executed,
            nodes: BTreeMap::new(),
            of: vec![None; code.len()],
            component: Vec::new(),
            components: Vec::new(),
        };
        // For each node: its own work, the number of entries, and the number of calls of each callee.
        let (mut self_cost, mut entries, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        for region in &regions {
            out.of[region.start as usize..=region.last as usize].fill(Some(region.start));
            for (mode, n) in &out.executed {
                let mut done = WorkDone::default();
                for at in region.start as usize..=region.last as usize {
                    done.add(&code[at], *mode, n[at], bits);
                }
                out.nodes.insert((region.start, *mode), self_cost.len());
                self_cost.push(done);
                entries.push(n[region.start as usize].max(n[region.last as usize]));
            }
        }
        for region in &regions {
            for (mode, n) in &out.executed {
                let found = (region.start..=region.last).filter(|at| n[*at as usize] > 0);
                calls.push(found.filter_map(|at| Some((out.callee(code, at, *mode)?, n[at as usize]))).collect());
            }
        }
        out.add_callees(self_cost, &entries, &calls);
        out
    }

    /// The number of executions of an instruction in each mode.
    pub(crate) fn executed(&self, at: u32) -> impl Iterator<Item = (Mode, u64)> + '_ {
        self.executed.iter().filter_map(move |(mode, n)| Some((*mode, *n.get(at as usize)?)))
    }

    /// The node that a call enters.
    fn callee(&self, code: &[Inst], at: u32, mode: Mode) -> Option<usize> {
        let inst = code.get(at as usize)?;
        let Kind::Row { inverse, .. } = inst.kind else { return None };
        let up = match inst.kind.flow() {
            Flow::Call => 0,
            Flow::GradientCall => 1,
            Flow::Straight
            | Flow::Jump
            | Flow::Procedure
            | Flow::CallRegister
            | Flow::Run
            | Flow::Branch(_)
            | Flow::Cell => return None,
        };
        let direction = if inverse { mode.direction.flip() } else { mode.direction };
        let (to, _) = target(code, at, inst)?;
        let procedure = (*self.of.get(to as usize)?)?;
        self.nodes.get(&(procedure, Mode { direction, level: mode.level.saturating_add(up), ..mode })).copied()
    }

    /// Adds the work of callees to that of the nodes.
    fn add_callees(&mut self, self_cost: Vec<WorkDone>, entries: &[u64], calls: &[Vec<(usize, u64)>]) {
        let order = components(calls);
        self.component = vec![0; self_cost.len()];
        for (n, members) in order.iter().enumerate() {
            members.iter().for_each(|m| self.component[*m] = n);
        }
        let mut within = vec![0u64; order.len()];
        let mut known = vec![0u64; order.len()];
        for (from, calls) in calls.iter().enumerate() {
            for (to, n) in calls {
                let inner = self.component[from] == self.component[*to];
                let sum = if inner { &mut within } else { &mut known };
                sum[self.component[*to]] += n;
            }
        }
        for (n, members) in order.iter().enumerate() {
            let mut component = Component::default();
            for m in members {
                component.self_cost.add_share(&self_cost[*m], 1, 1);
                component.entries = component.entries.saturating_add(entries[*m]);
            }
            // A run that was stopped has more entries than exits.
            component.outside = component.entries.saturating_sub(within[n]).max(known[n]).max(1);
            component.entries = component.entries.max(1);
            component.all.add_share(&component.self_cost, 1, 1);
            for (to, times) in members.iter().flat_map(|m| &calls[*m]) {
                // Callees come first in the order.
                if let Some(callee) = self.components.get(self.component[*to]).filter(|_| self.component[*to] != n) {
                    component.all.add_share(&callee.all, *times, callee.outside);
                }
            }
            self.components.push(component);
        }
    }

    /// Adds the work caused by `times` executions of an instruction in a mode, if it is a call.
    pub(crate) fn add(&self, module: &Module, (at, mode): (u32, Mode), times: u64, done: &mut WorkDone) {
        let Some(to) = self.callee(&module.code, at, mode) else { return };
        let caller = self.of.get(at as usize).copied().flatten().and_then(|p| self.nodes.get(&(p, mode)));
        let component = &self.components[self.component[to]];
        if caller.is_some_and(|c| self.component[*c] == self.component[to]) {
            done.add_share(&component.self_cost, times, component.entries);
        } else {
            done.add_share(&component.all, times, component.outside);
        }
    }
}

/// The strongly connected components of a graph, callees before callers (Tarjan 1972, without recursion).
fn components(calls: &[Vec<(usize, u64)>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; calls.len()];
    let mut low = vec![NEW; calls.len()];
    let mut open = vec![false; calls.len()];
    let (mut next, mut stack, mut out) = (0, Vec::new(), Vec::new());
    for root in 0..calls.len() {
        if number[root] != NEW {
            continue;
        }
        // The nodes on the path from the root, and how many of their calls have been followed.
        let mut way = vec![(root, 0)];
        while let Some((node, followed)) = way.last_mut() {
            let node = *node;
            if *followed == 0 && number[node] == NEW {
                (number[node], low[node], open[node]) = (next, next, true);
                next += 1;
                stack.push(node);
            }
            if let Some((to, _)) = calls[node].get(*followed) {
                *followed += 1;
                if number[*to] == NEW {
                    way.push((*to, 0));
                } else if open[*to] {
                    low[node] = low[node].min(number[*to]);
                }
                continue;
            }
            way.pop();
            if let Some((parent, _)) = way.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == number[node] {
                let at = stack.iter().rposition(|n| *n == node).unwrap_or(0);
                let members = stack.split_off(at);
                members.iter().for_each(|m| open[*m] = false);
                out.push(members);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn callees_come_first() {
        // 0 calls 1 and 4; 1, 2 and 3 call each other in a circle, from which 5 is called; 6 calls itself.
        let to = |list: &[usize]| list.iter().map(|n| (*n, 1)).collect::<Vec<_>>();
        let calls = [to(&[1, 4]), to(&[2]), to(&[3, 5]), to(&[1]), to(&[5]), to(&[]), to(&[6, 0])];
        let mut found = components(&calls);
        found.iter_mut().for_each(|c| c.sort_unstable());
        let at = |n: usize| found.iter().position(|c| c.contains(&n)).expect("each node is in a circle");
        assert_eq!(found.iter().map(Vec::len).sum::<usize>(), calls.len());
        assert_eq!(found[at(1)], [1, 2, 3]);
        for (from, calls) in calls.iter().enumerate() {
            assert!(calls.iter().all(|(to, _)| at(*to) <= at(from)), "{from}: {found:?}");
        }
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let count = 200_000;
        let calls: Vec<Vec<(usize, u64)>> = (1..=count).map(|n| vec![(n % count, 1)]).collect();
        assert_eq!(components(&calls).len(), 1);
    }
}
