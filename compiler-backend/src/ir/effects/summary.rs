//! What calls of functions do.

use super::{Effects, Set, walk};
use crate::ir::{At, FunctionId, IrFunction, Program, Stmt};

/// What a call of a function does, beside what it does to its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Which parameters it may leave changed.
    pub written: Vec<bool>,
    /// Whether it reads memory other than arrays of its own.
    pub reads_memory: bool,
    /// Whether it writes memory other than arrays of its own.
    pub writes_memory: bool,
    /// Whether it may trap, or not come to an end.
    pub traps: bool,
    /// Whether it shows something.
    pub shows: bool,
    /// Whether undoing it may not restore every bit.
    pub inexact: bool,
    /// Whether it calls itself, be it through others.
    pub recursive: bool,
    /// Of how many functions the longest chain of calls is that begins with it; calls of functions that call themselves end it.
    pub height: u32,
    /// Whether it is for it to look at how much is left of a stack: it is recursive, or one of the functions that every long chain of calls has
    /// some of.
    pub looks: bool,
    /// Roughly how many instructions its body makes.
    pub size: u32,
}

/// What calls of a program's functions do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summaries(Vec<Summary>);

/// How many calls there are at most between two functions of a chain that [look](Summary::looks).
const CHAIN: u32 = 32;

/// What is assumed of a function that does not exist.
static UNKNOWN: Summary = Summary {
    written: Vec::new(),
    reads_memory: true,
    writes_memory: true,
    traps: true,
    shows: true,
    inexact: true,
    recursive: true,
    height: 0,
    looks: true,
    size: u32::MAX,
};

impl Summaries {
    /// Of every function of a program.
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
            looks: false,
            size: 0,
        };
        let mut all = Summaries(program.functions.iter().map(start).collect());
        let order = callees_first(program);
        // A function that calls itself does not come to an end for certain. What such functions do to memory takes some rounds.
        for component in &order {
            let [first, ..] = component[..] else { continue };
            let recursive = component.len() > 1 || calls(program, first).contains(&first);
            for &f in component {
                all.0[f].recursive = recursive;
                all.0[f].traps = recursive;
                if recursive {
                    all.0[f].looks = true;
                } else {
                    // Along a chain of calls heights fall: where they come to the next lower multiple, somebody looks.
                    let heights = || calls(program, f).into_iter().map(|g| all.0[g].height);
                    let height = heights().max().map_or(0, |h| h + 1);
                    let looks = heights().any(|h| h / CHAIN < height / CHAIN);
                    (all.0[f].height, all.0[f].looks) = (height, looks);
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

    /// What a call of this function does.
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
            looks: old.looks,
            size: effects.size,
        }
    }
}

fn mark_own(block: &[At], own: &mut [bool]) {
    walk(block, &mut |s| {
        if let Stmt::Array { region, .. } = &s.stmt
            && let Some(own) = own.get_mut(region.0 as usize)
        {
            *own = true;
        }
    });
}

/// The functions that a function calls, as indices that exist, each once.
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
