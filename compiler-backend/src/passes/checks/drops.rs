//! Removes drops of gradient words that are always zero.
//!
//! An integer has no gradient word, unless it is exchanged with another number. The gradient word of any other ancilla is
//! dropped where its life ends in a run with gradients. Such runs run the entry backward, so a life ends where the text
//! begins it. In a function that such a run also runs forward, and in code that is computed and undone, either place may
//! be the end.

use pendula_isa::Ty;
use pendula_isa::table::Row;

use crate::ir::effects::{Summaries, blocks, blocks_mut, undone_blocks, walk};
use crate::ir::{Block, IrFunction, LocatedStmt, Operand, Program, Stmt, Var};
use crate::passes::table::FastSet;

/// The directions in which a function runs with gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Directions {
    forward: bool,
    backward: bool,
}

impl Directions {
    const BOTH: Directions = Directions { forward: true, backward: true };

    fn flipped(self, flip: bool) -> Directions {
        if flip { Directions { forward: self.backward, backward: self.forward } } else { self }
    }

    fn or(self, other: Directions) -> Directions {
        Directions { forward: self.forward || other.forward, backward: self.backward || other.backward }
    }
}

pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    let directions = directions(program);
    for (function, directions) in program.functions.iter_mut().zip(directions) {
        let exchanged = exchanged(function, summaries);
        let types: Vec<Ty> = function.vars.iter().map(|v| v.ty).collect();
        let discrete = |v: Var| types.get(v.0 as usize) == Some(&Ty::Int) && !exchanged.contains(&v);
        drop_in(&mut function.body, directions, &discrete);
    }
}

fn directions(program: &Program) -> Vec<Directions> {
    let mut directions = vec![Directions::default(); program.functions.len()];
    let mut queue = Vec::new();
    if let Some(entry) = program.entry
        && let Some(way) = directions.get_mut(entry.0 as usize)
    {
        way.backward = true;
        queue.push(entry.0 as usize);
    }
    // A function is visited again only if it has gained a direction.
    while let Some(f) = queue.pop() {
        let way = directions[f];
        calls(&program.functions[f].body, way, &mut |g, way| {
            if let Some(old) = directions.get_mut(g)
                && old.or(way) != *old
            {
                *old = old.or(way);
                queue.push(g);
            }
        });
    }
    // A function that the entry does not reach may be called from outside, in either direction.
    directions.into_iter().map(|w| if w == Directions::default() { Directions::BOTH } else { w }).collect()
}

fn calls(block: &[LocatedStmt], directions: Directions, found: &mut impl FnMut(usize, Directions)) {
    for s in block {
        if let Stmt::Call { func, inverse, .. } = &s.stmt {
            found(func.0 as usize, directions.flipped(*inverse));
        }
        for (n, inner) in blocks(&s.stmt).enumerate() {
            calls(inner, if n < undone_blocks(&s.stmt) { Directions::BOTH } else { directions }, found);
        }
    }
}

/// Variables that may receive another number's word by an exchange.
fn exchanged(function: &IrFunction, summaries: &Summaries) -> FastSet<Var> {
    let mut out = FastSet::default();
    walk(&function.body, &mut |s| {
        if let Stmt::Permute { row: Row::Swap, args, .. } = &s.stmt {
            out.extend(args.iter().flat_map(var));
        } else if let Stmt::Call { func, args, .. } = &s.stmt {
            let written = &summaries.get(*func).written;
            for (n, arg) in args.iter().enumerate() {
                if written.get(n).copied().unwrap_or(true) {
                    out.extend(var(arg));
                }
            }
        }
    });
    out
}

fn var(o: &Operand) -> Option<Var> {
    match o {
        Operand::Var(v) => Some(*v),
        Operand::Const(_) | Operand::Mem(_) => None,
    }
}

fn drop_in(block: &mut Block, directions: Directions, discrete: &impl Fn(Var) -> bool) {
    for s in block {
        if let Stmt::Ancilla { var, free, checks } = &mut s.stmt {
            let ends = if *free { directions.forward } else { directions.backward };
            checks.drop &= ends && !discrete(*var);
        }
        let undone = undone_blocks(&s.stmt);
        for (n, inner) in blocks_mut(&mut s.stmt).enumerate() {
            drop_in(inner, if n < undone { Directions::BOTH } else { directions }, discrete);
        }
    }
}
