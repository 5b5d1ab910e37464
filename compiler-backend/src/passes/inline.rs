//! Inlines small functions, and functions whose source asks for it.
//!
//! Callees come before callers, so that inlined bodies have been inlined into already. Recursive functions stay, and so do
//! functions that show something themselves: output depends on the machine's direction, which an uncall reverses.

mod expand;
mod regions;

use crate::ir::effects::{Effects, Summaries, blocks_mut, callees_first, walk};
use crate::ir::{Block, FunctionId, IrFunction, LocatedStmt, Program, Stmt};
use crate::passes::rewrite::each_stmt;
use expand::expand;

/// The greatest size of a body that replaces every call.
const SMALL: u32 = 24;
/// The greatest size of a body that replaces its only call.
const ONCE: u32 = 200;
/// The greatest size of a body that replaces every call if the source asks for inlining.
const REQUESTED: u32 = 4000;
/// The greatest size to which a function grows.
const LARGE: u32 = 20_000;
/// A program may grow by its own size and this.
const GROWTH: u64 = 20_000;

/// Runs the pass on the whole program.
pub(super) fn run(program: &mut Program, summaries: &Summaries) {
    run_for(program, summaries, None);
}

/// Replaces calls of these functions by their bodies, whatever their size; without a list, of those for which it is worth it.
pub(super) fn run_for(program: &mut Program, summaries: &Summaries, these: Option<&[bool]>) {
    let mut sizes: Vec<u32> = (0..program.functions.len()).map(|f| summaries.get(FunctionId(f as u32)).size).collect();
    let calls = call_counts(program);
    let shows: Vec<bool> = program.functions.iter().map(shows_itself).collect();
    let mut spans = 0;
    let all = sizes.iter().map(|s| u64::from(*s)).sum::<u64>();
    let mut growth_left = if these.is_some() { u64::MAX } else { all + GROWTH };
    for f in callees_first(program).into_iter().flatten() {
        let fits = |g: FunctionId, size: u32, sizes: &[u32]| {
            let n = g.0 as usize;
            let Some(callee) = program.functions.get(n) else { return false };
            if let Some(these) = these {
                return these.get(n) == Some(&true);
            }
            // The steps of an instruction are not worth more than the instruction.
            if callee.extension.is_some() {
                return false;
            }
            let limit = match (callee.inline, calls[n]) {
                (true, _) => REQUESTED,
                (false, 1) => ONCE,
                (false, _) => SMALL,
            };
            !summaries.get(g).recursive && !shows[n] && sizes[n] <= limit && size.saturating_add(sizes[n]) <= LARGE
        };
        let is_inlined = |g: FunctionId, size: u32| g.0 as usize != f && fits(g, size, &sizes);
        let mut any = false;
        walk(&program.functions[f].body, &mut |s| {
            any |= matches!(&s.stmt, Stmt::Call { func, .. } if is_inlined(*func, 0))
        });
        if !any {
            continue;
        }
        let mut function = program.functions[f].clone();
        let mut body = std::mem::take(&mut function.body);
        let mut work = Work {
            caller: &mut function,
            program,
            summaries,
            is_inlined: &is_inlined,
            sizes: &sizes,
            size: sizes[f],
            spans: &mut spans,
            growth_left: &mut growth_left,
        };
        work.block(&mut body);
        function.body = body;
        sizes[f] = Effects::of_block(summaries, &function.body).size;
        program.functions[f] = function;
    }
}

fn call_counts(program: &Program) -> Vec<usize> {
    let mut counts = vec![0; program.functions.len()];
    for function in &program.functions {
        walk(&function.body, &mut |s| {
            if let Stmt::Call { func, .. } = &s.stmt
                && let Some(count) = counts.get_mut(func.0 as usize)
            {
                *count += 1;
            }
        });
    }
    counts
}

fn shows_itself(function: &IrFunction) -> bool {
    let mut shows = false;
    walk(&function.body, &mut |s| shows |= matches!(s.stmt, Stmt::Show { .. } | Stmt::Print(_)));
    shows
}

struct Work<'a> {
    caller: &'a mut IrFunction,
    program: &'a Program,
    summaries: &'a Summaries,
    is_inlined: &'a dyn Fn(FunctionId, u32) -> bool,
    sizes: &'a [u32],
    size: u32,
    spans: &'a mut usize,
    /// How much more the program may grow.
    growth_left: &'a mut u64,
}

impl Work<'_> {
    fn block(&mut self, block: &mut Block) {
        let before = std::mem::take(block);
        for mut s in before {
            for inner in blocks_mut(&mut s.stmt) {
                self.block(inner);
            }
            match self.expanded(&s) {
                Some(mut body) => block.append(&mut body),
                None => block.push(s),
            }
        }
    }

    fn expanded(&mut self, s: &LocatedStmt) -> Option<Block> {
        let Stmt::Call { func, inverse, args } = &s.stmt else { return None };
        if !(self.is_inlined)(*func, self.size) {
            return None;
        }
        let callee = self.program.functions.get(func.0 as usize)?;
        let growth_left = self.growth_left.checked_sub(u64::from(self.sizes[func.0 as usize]))?;
        let mut body = expand(self.caller, callee, *inverse, args, s.loc, self.summaries)?;
        self.size = self.size.saturating_add(self.sizes[func.0 as usize]);
        *self.growth_left = growth_left;
        // A span and the one that undoes it get a name of their own.
        *self.spans += 1;
        let n = *self.spans;
        each_stmt(&mut body, &mut |stmt| {
            if let Stmt::Span { name, .. } = stmt {
                *name = format!("{name}.{n}");
            }
        });
        Some(body)
    }
}
