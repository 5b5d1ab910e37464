//! The effects of function calls.

use super::{Effects, Set, walk};
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Program, Stmt};

/// The effects of a call of a function, apart from those on its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// For each parameter, true if the function may leave it changed.
    pub written: Vec<bool>,
    /// True if it reads memory other than its own arrays.
    pub reads_memory: bool,
    /// True if it writes memory other than its own arrays.
    pub writes_memory: bool,
    /// True if it may trap or not terminate.
    pub traps: bool,
    /// True if it shows something.
    pub shows: bool,
    /// True if undoing it may not restore every bit.
    pub inexact: bool,
    /// True if it calls itself, directly or through others.
    pub recursive: bool,
    /// The length of the longest chain of calls that begins with it. Calls of recursive functions end a chain.
    pub height: u32,
    /// True if the function must check how much room is left on the stack: it is recursive, or it is one of the functions
    /// chosen so that every long chain of calls has some of them.
    pub checks_stack: bool,
    /// The approximate number of instructions of its body.
    pub size: u32,
}

/// The summaries of a program's functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summaries(Vec<Summary>);

/// The most calls of a chain between two functions that [check the stack](Summary::checks_stack).
const CHAIN: u32 = 32;

/// What is assumed about a function that does not exist.
static UNKNOWN: Summary = Summary {
    written: Vec::new(),
    reads_memory: true,
    writes_memory: true,
    traps: true,
    shows: true,
    inexact: true,
    recursive: true,
    height: 0,
    checks_stack: true,
    size: u32::MAX,
};

impl Summaries {
    /// The summaries of all functions of a program.
    pub fn new(program: &Program) -> Summaries {
        let written = |f: &IrFunction| f.params.iter().map(|p| p.written).collect();
        let start = |f| Summary {
            written: written(f),
            reads_memory: false,
            writes_memory: false,
            traps: false,
            shows: false,
            inexact: false,
            recursive: false,
            height: 0,
            checks_stack: false,
            size: 0,
        };
        let mut all = Summaries(program.functions.iter().map(start).collect());
        let order = callees_first(program);
        // A recursive function may not terminate. Its effects on memory are found by iteration.
        for component in &order {
            let [first, ..] = component[..] else { continue };
            let recursive = component.len() > 1 || calls(program, first).contains(&first);
            for &f in component {
                all.0[f].recursive = recursive;
                all.0[f].traps = recursive;
                if recursive {
                    all.0[f].checks_stack = true;
                } else {
                    // Heights fall along a chain of calls. The function where they pass a multiple of CHAIN checks the stack.
                    let heights = || calls(program, f).into_iter().map(|g| all.0[g].height);
                    let height = heights().max().map_or(0, |h| h + 1);
                    let checks_stack = heights().any(|h| h / CHAIN < height / CHAIN);
                    (all.0[f].height, all.0[f].checks_stack) = (height, checks_stack);
                }
            }
            loop {
                let mut changed = false;
                for &f in component {
                    let new = all.summarise(program, f);
                    changed |= new != all.0[f];
                    all.0[f] = new;
                }
                if !(changed && recursive) {
                    break;
                }
            }
        }
        all
    }

    /// The summary of a function.
    pub fn get(&self, func: FunctionId) -> &Summary {
        self.0.get(func.0 as usize).unwrap_or(&UNKNOWN)
    }

    fn summarise(&self, program: &Program, f: usize) -> Summary {
        let function = &program.functions[f];
        let effects = Effects::of_block(self, &function.body);
        let mut own = vec![false; function.regions.len()];
        mark_own(&function.body, &mut own);
        let given = |set: &Set| set.iter().any(|r| !own.get(r as usize).is_some_and(|own| *own));
        let old = &self.0[f];
        Summary {
            written: old.written.clone(),
            reads_memory: effects.reads_memory || given(&effects.regions_read),
            writes_memory: effects.writes_memory || given(&effects.regions_written),
            traps: old.traps || effects.traps,
            shows: effects.shows,
            inexact: effects.inexact,
            recursive: old.recursive,
            height: old.height,
            checks_stack: old.checks_stack,
            size: effects.size,
        }
    }
}

fn mark_own(block: &[LocatedStmt], own: &mut [bool]) {
    walk(block, &mut |s| {
        if let Stmt::Array { region, .. } = &s.stmt
            && let Some(own) = own.get_mut(region.0 as usize)
        {
            *own = true;
        }
    });
}

/// The existing functions that a function calls, as indices, each once.
fn calls(program: &Program, f: usize) -> Vec<usize> {
    let mut out = Vec::new();
    walk(&program.functions[f].body, &mut |s| {
        if let Stmt::Call { func, .. } = &s.stmt
            && (func.0 as usize) < program.functions.len()
        {
            out.push(func.0 as usize);
        }
    });
    out.sort_unstable();
    out.dedup();
    out
}

/// The strongly connected components of the call graph, callees before callers.
pub fn callees_first(program: &Program) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let n = program.functions.len();
    let graph: Vec<Vec<usize>> = (0..n).map(|f| calls(program, f)).collect();
    let (mut number, mut low, mut on_stack) = (vec![NEW; n], vec![NEW; n], vec![false; n]);
    let (mut stack, mut out, mut next) = (Vec::new(), Vec::new(), 0);
    // Tarjan's algorithm with a stack of its own: a node, and how many of its edges have been followed.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..n {
        if number[root] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some((f, edge)) = path.pop() {
            if edge == 0 {
                number[f] = next;
                low[f] = next;
                next += 1;
                stack.push(f);
                on_stack[f] = true;
            } else {
                let child = graph[f][edge - 1];
                low[f] = low[f].min(low[child]);
            }
            let mut edge = edge;
            let mut down = None;
            while let Some(&child) = graph[f].get(edge) {
                edge += 1;
                if number[child] == NEW {
                    down = Some(child);
                    break;
                }
                if on_stack[child] {
                    low[f] = low[f].min(number[child]);
                }
            }
            if let Some(child) = down {
                path.push((f, edge));
                path.push((child, 0));
            } else if low[f] == number[f] {
                let mut component = Vec::new();
                while let Some(g) = stack.pop() {
                    on_stack[g] = false;
                    component.push(g);
                    if g == f {
                        break;
                    }
                }
                out.push(component);
            }
        }
    }
    out
}
