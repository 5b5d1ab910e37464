//! Which functions need room for logs.

use std::collections::HashMap;

use super::{FunctionId, Program, Stmt};

/// Notes which functions write logs, or call some that do.
pub fn give_room_for_logs(program: &mut Program) {
    let mut callers: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
    let mut waiting = Vec::new();
    for (n, function) in program.functions.iter().enumerate() {
        let id = FunctionId(n as u32);
        let mut note = |s: &Stmt| match s {
            Stmt::Log(..) | Stmt::Keep(_) => waiting.push(id),
            Stmt::Call(callee, _) => callers.entry(*callee).or_default().push(id),
            _ => {}
        };
        each(&function.body, &mut note);
    }
    while let Some(id) = waiting.pop() {
        if !std::mem::replace(&mut program.functions[id.0 as usize].writes_logs, true) {
            waiting.extend(callers.get(&id).into_iter().flatten());
        }
    }
}

/// All statements, however deep within others.
fn each(statements: &[Stmt], see: &mut impl FnMut(&Stmt)) {
    for s in statements {
        see(s);
        s.inner().into_iter().for_each(|list| each(list, see));
    }
}
