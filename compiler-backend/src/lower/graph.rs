//! The order in which functions are lowered: callees before their callers.

use crate::ir::{At, Program, Stmt};

/// Groups of functions that call each other, callees first.
pub(super) fn groups(program: &Program) -> Vec<Vec<usize>> {
    let count = program.functions.len();
    let callees: Vec<Vec<usize>> = program
        .functions
        .iter()
        .map(|f| {
            let mut out = Vec::new();
            collect(&f.body, &mut out);
            out.retain(|n| *n < count);
            out.sort_unstable();
            out.dedup();
            out
        })
        .collect();
    // Tarjan's strongly connected components, without recursion.
    let mut index = vec![usize::MAX; count];
    let mut low = vec![0; count];
    let mut on_stack = vec![false; count];
    let (mut stack, mut out, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        if index[root] != usize::MAX {
            continue;
        }
        let mut todo = vec![(root, 0)];
        while let Some((n, k)) = todo.pop() {
            if k == 0 {
                index[n] = next;
                low[n] = next;
                next += 1;
                stack.push(n);
                on_stack[n] = true;
            } else {
                let child = callees[n][k - 1];
                if on_stack[child] {
                    low[n] = low[n].min(low[child]);
                }
            }
            if let Some(&child) = callees[n].get(k) {
                todo.push((n, k + 1));
                if index[child] == usize::MAX {
                    todo.push((child, 0));
                }
                continue;
            }
            if low[n] == index[n] {
                let mut group = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    group.push(member);
                    if member == n {
                        break;
                    }
                }
                out.push(group);
            }
        }
    }
    out
}

fn collect(block: &[At], out: &mut Vec<usize>) {
    for at in block {
        if let Stmt::Call { func, .. } = &at.stmt {
            out.push(func.0 as usize);
        }
        inner(&at.stmt).into_iter().for_each(|b| collect(b, out));
    }
}

/// Whether statements are nested deeper than this.
pub(super) fn is_deeper(program: &Program, limit: usize) -> bool {
    let mut todo: Vec<(&[At], usize)> = program.functions.iter().map(|f| (&f.body[..], 1)).collect();
    while let Some((block, depth)) = todo.pop() {
        if depth > limit {
            return true;
        }
        todo.extend(block.iter().flat_map(|at| inner(&at.stmt)).map(|b| (b, depth + 1)));
    }
    false
}

/// The blocks within a statement.
pub(super) fn inner(stmt: &Stmt) -> Vec<&[At]> {
    match stmt {
        Stmt::If { pre, post, then, otherwise } => vec![&pre.compute, &post.compute, then, otherwise],
        Stmt::While { pre, post, body } => vec![&pre.compute, &post.compute, body],
        Stmt::With { compute, body, .. } => vec![compute, body],
        Stmt::For { body, .. } | Stmt::Span { body, .. } => vec![body],
        Stmt::Update { .. }
        | Stmt::Permute { .. }
        | Stmt::Ancilla { .. }
        | Stmt::Array { .. }
        | Stmt::Call { .. }
        | Stmt::Assert { .. }
        | Stmt::Show { .. }
        | Stmt::Print(_) => Vec::new(),
    }
}
