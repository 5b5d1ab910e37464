//! Parameters of a function to which all calls give one value, such as the lengths of arrays that are made alike.

use std::collections::{HashMap, HashSet};

use pendula_isa::Ty;

use crate::ir::effects::walk;
use crate::ir::{FunctionId, Operand, Program, Stmt, Var};

/// For each parameter that has the value of an earlier one, that.
pub(super) type Same = HashMap<Var, Var>;

/// What a call gives to a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Given {
    Const(u64),
    Var(Var),
    /// Nothing that is given to another.
    Own(usize),
}

/// The parameters of functions that have the value of earlier ones.
pub(super) fn same(program: &Program) -> Vec<Same> {
    let mut calls = Vec::new();
    for (n, f) in program.functions.iter().enumerate() {
        walk(&f.body, &mut |s| {
            if let Stmt::Call { func, args, .. } = &s.stmt {
                calls.push((n, func.0 as usize, args.as_slice()));
            }
        });
    }
    let called: HashSet<usize> = calls.iter().map(|(_, callee, _)| *callee).collect();
    // At first, all integers are the same where a program calls; each call tells some of them apart.
    let mut classes: Vec<Vec<usize>> = program
        .functions
        .iter()
        .enumerate()
        .map(|(n, f)| {
            let asked = !called.contains(&n) || program.entry == Some(FunctionId(n as u32));
            let first = f.params.iter().position(|p| !p.written && f.ty(p.var) == Ty::Int);
            let class = |(k, p): (usize, &crate::ir::Param)| {
                let alike = !asked && !p.written && f.ty(p.var) == Ty::Int;
                first.filter(|_| alike).unwrap_or(k)
            };
            f.params.iter().enumerate().map(class).collect()
        })
        .collect();
    loop {
        let mut changed = false;
        for (caller, callee, args) in &calls {
            let given = |(k, arg): (usize, &Operand)| match arg {
                Operand::Const(value) => Given::Const(*value),
                Operand::Var(v) => {
                    let params = &program.functions[*caller].params;
                    let of = params.iter().position(|p| p.var == *v).map(|n| params[classes[*caller][n]].var);
                    Given::Var(of.unwrap_or(*v))
                }
                Operand::Mem(_) => Given::Own(k),
            };
            let given: Vec<Given> = args.iter().enumerate().map(given).collect();
            let Some(old) = classes.get(*callee).cloned() else { continue };
            if old.len() != given.len() {
                return vec![Same::new(); program.functions.len()];
            }
            let mut firsts: HashMap<(usize, Given), usize> = HashMap::new();
            let new: Vec<usize> = old
                .iter()
                .zip(given)
                .enumerate()
                .map(|(k, (class, given))| *firsts.entry((*class, given)).or_insert(k))
                .collect();
            changed |= new != old;
            classes[*callee] = new;
        }
        if !changed {
            break;
        }
    }
    let of = |(f, classes): (&crate::ir::IrFunction, &Vec<usize>)| {
        let later = classes.iter().enumerate().filter(|(k, class)| k != *class);
        later.map(|(k, class)| (f.params[k].var, f.params[*class].var)).collect()
    };
    program.functions.iter().zip(&classes).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text;

    #[test]
    fn parameters_are_the_same_where_all_calls_give_one_value() {
        let program = text::parse(
            r#"program Q32.32
entry "f"

fun "f" {
    in x: i
    in y: i
    call "twice"(x, y, 3, 3)
    call "pair"(x, y)
}

fun "twice" {
    in a: i
    in b: i
    in c: i
    in d: i
    call "all"(a, a, b)
    call "all"(c, d, c)
    call "itself"(a, a)
}

fun "all" {
    in p: i
    in q: i
    in r: i
}

fun "itself" {
    in p: i
    in q: i
    call "itself"(q, p)
}

fun "pair" {
    in p: i
    in q: i
}

fun "never" {
    in p: i
    in q: i
}
"#,
        );
        let program = program.expect("a program");
        let same = same(&program);
        let of = |name: &str| {
            let n = program.functions.iter().position(|f| f.name == name).expect("the function");
            let named = |v: &Var| program.functions[n].vars[v.0 as usize].name.clone();
            same[n].iter().map(|(a, b)| (named(a), named(b))).collect::<Vec<_>>()
        };
        let pair = |a: &str, b: &str| vec![(a.to_string(), b.to_string())];
        assert_eq!(of("twice"), pair("d", "c"));
        assert_eq!(of("all"), pair("q", "p"));
        assert_eq!(of("itself"), pair("q", "p"));
        for name in ["f", "pair", "never"] {
            assert_eq!(of(name), [], "{name}");
        }
    }
}
