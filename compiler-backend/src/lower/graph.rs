//! The call graph, and the nesting depth of statements.

use crate::ir::effects::blocks;
use crate::ir::{FunctionId, LocatedStmt, Program, Stmt};

/// For each function, whether a run that begins with `entry` may call it.
pub(super) fn reached(program: &Program, entry: FunctionId) -> Vec<bool> {
    let mut out = vec![false; program.functions.len()];
    let mut todo = vec![entry.0 as usize];
    while let Some(at) = todo.pop() {
        if let (Some(reached @ false), Some(function)) = (out.get_mut(at), program.functions.get(at)) {
            *reached = true;
            collect(&function.body, &mut todo);
        }
    }
    out
}

fn collect(block: &[LocatedStmt], out: &mut Vec<usize>) {
    for at in block {
        if let Stmt::Call { func, .. } = &at.stmt {
            out.push(func.0 as usize);
        }
        blocks(&at.stmt).for_each(|b| collect(b, out));
    }
}

/// Whether statements are nested deeper than a limit.
pub(super) fn is_deeper(program: &Program, limit: usize) -> bool {
    let mut todo: Vec<(&[LocatedStmt], usize)> = program.functions.iter().map(|f| (&f.body[..], 1)).collect();
    while let Some((block, depth)) = todo.pop() {
        if depth > limit {
            return true;
        }
        todo.extend(block.iter().flat_map(|at| blocks(&at.stmt)).map(|b| (&b[..], depth + 1)));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{is_deeper, reached};
    use crate::ir::text::parse;

    #[test]
    fn spans_within_spans_are_levels() {
        let nested = parse("program Q32.32\nfun main { out x: i\nspan \"\" { span \"\" { x += id.i(1) } } }").unwrap();
        assert!(is_deeper(&nested, 2) && !is_deeper(&nested, 3));
    }

    #[test]
    fn functions_that_are_not_called_are_not_reached() {
        let text = "program Q32.32\nentry main\nfun f { out x: i\nx += id.i(1) }\nfun g { out x: i\nx += id.i(2) }\n\
                    fun main { out x: i\ncall f(x) }";
        let p = parse(text).unwrap();
        assert_eq!(reached(&p, p.entry.unwrap()), [true, false, true]);
    }
}
