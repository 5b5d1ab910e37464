//! What is not written: what has no meaning, what later definitions replace, and what cannot be said.

use std::collections::{BTreeSet, HashMap, HashSet};

use pendula_isa::budget::Budget;

use super::names::{Meaning, Names, base};
use super::unit::Unit;
use super::walk::Usage;
use crate::nil::ast::{File, Function, Item};
use crate::nil::library;
use crate::nil::sema::{is_built_in, signature, takes_own_types};
use crate::nil::token::Tok;
use crate::nil::types::{Structs, is_built_in as is_built_in_type};

/// Whether the parameters of a function are known.
fn has_head(f: &Function) -> bool {
    f.unread.as_ref().is_none_or(|u| u.head)
}

/// The structs and the other names for types of a file.
pub(super) fn structs(tree: &File, budget: Budget) -> Structs {
    let mut structs = Structs::new(budget);
    for item in &tree.items {
        match item {
            Item::Struct(s) => {
                structs.insert(s.clone());
            }
            Item::Alias(alias) => structs.name(alias.clone()),
            Item::Function(_) | Item::Using(_) | Item::Host(_) | Item::Const(..) => {}
        }
    }
    structs
}

/// Drops what has no meaning in the program: modules that are not there, and numbers of blocks that no function reads.
pub(super) fn unused(units: &mut [Unit<'_>], names: &Names<'_>) {
    let mut used: HashSet<String> = HashSet::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    loop {
        let count = used.len();
        for unit in units.iter() {
            // A constant that is not used uses none.
            let idle = matches!(unit.item, Item::Const(..))
                && unit.key().is_some_and(|k| k.contains('@') && !used.contains(&k));
            if !idle {
                used.extend(
                    unit.meanings(names).filter_map(|(_, m)| if let Meaning::Own(key) = m { Some(key) } else { None }),
                );
            }
        }
        if used.len() == count {
            break;
        }
    }
    for unit in units {
        unit.dropped = match unit.item {
            Item::Using(modules) => {
                let new = modules.iter().filter(|m| library::find(&m.text).is_some() && seen.insert(m.text.clone()));
                new.count() == 0
            }
            Item::Const(name, _) => name.text.contains('@') && !used.contains(&name.text),
            Item::Function(_) | Item::Struct(_) | Item::Host(_) | Item::Alias(_) => false,
        };
    }
}

/// Leaves out what a later definition replaces.
pub(super) fn replaced(units: &mut [Unit<'_>], tree: &File, budget: &Budget) {
    let structs = structs(tree, *budget);
    let mut last: HashMap<String, (usize, usize)> = HashMap::new();
    let mut earlier: Vec<(usize, usize)> = Vec::new();
    for (n, unit) in units.iter().enumerate() {
        let key = match unit.item {
            Item::Struct(s) => format!("struct {}", s.name.text),
            Item::Alias(alias) => format!("const {}", alias.name.text),
            Item::Function(f) if has_head(f) => {
                let of = f.instruction.map_or("", |op| op.text());
                format!("{of} {} {:?} {}", f.name.text, f.scope.last(), signature(&structs, f))
            }
            Item::Function(_) | Item::Using(_) | Item::Host(_) | Item::Const(..) => continue,
        };
        if let Some((before, _)) = last.insert(key, (n, unit.line)) {
            earlier.push((before, unit.line));
        }
    }
    for (n, line) in earlier {
        if let Some(unit) = units.get_mut(n) {
            unit.leave_out(format!("the definition in line {line} takes its place"));
            unit.dropped = true;
        }
    }
    let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
    // Instructions belong to no scope, and objects that are called have no name that tells their scopes apart.
    for (n, unit) in units.iter().enumerate().filter(|(_, u)| !u.dropped) {
        let Some(f) = unit.function().filter(|f| has_head(f)) else { continue };
        let key = match f.instruction {
            Some(op) => format!("{} {} {}", op.text(), f.name.text, signature(&structs, f)),
            None if f.name.text.starts_with("(::") => f.name.text.clone(),
            None => continue,
        };
        seen.entry(key).or_default().push(n);
    }
    for group in seen.into_values() {
        let scopes: HashSet<Option<usize>> =
            group.iter().filter_map(|n| units.get(*n)).map(|u| u.scope.last().copied()).collect();
        if scopes.len() > 1 {
            for n in group {
                if let Some(unit) = units.get_mut(n) {
                    unit.leave_out("several scopes of the host define it");
                }
            }
        }
    }
}

/// Whether a built-in function with so many arguments is meant wherever it is called, whatever the host defines.
fn comes_first(name: &str, count: usize) -> bool {
    match name {
        "zero" | "one" | "_zero" | "length" | "lastindex" | "isempty" | "eltype" | "typeof" | "firstindex"
        | "eachindex" | "vec" | "nnz" | "nonzeros" | "rowvals" | "getcolptr" => count == 1,
        "convert" | "oftype" => count == 2,
        "size" => count > 0,
        "axes" => count == 1 || count == 2,
        _ => false,
    }
}

/// Leaves out what could not be read, and what means something else where it is no file of the host.
pub(super) fn refused(units: &mut [Unit<'_>], tree: &File, names: &Names<'_>) {
    let structs: Vec<&str> = tree
        .items
        .iter()
        .filter_map(|item| if let Item::Struct(s) = item { Some(s.name.text.as_str()) } else { None })
        .collect();
    let mut banned: Vec<&str> = Vec::new();
    for unit in units.iter_mut() {
        match unit.item {
            Item::Function(f) => {
                if let Some(unread) = &f.unread {
                    unit.leave_out(unread.reason.message.clone());
                }
            }
            // The built-in function comes first, in files of the host as well.
            Item::Host(f) if comes_first(&f.name.text, f.params.len()) => unit.dropped = true,
            Item::Host(f)
                if is_built_in(&f.name.text) && !names.overrides(&f.name.text) && !takes_own_types(tree, f) =>
            {
                unit.dropped = true;
                banned.push(&f.name.text);
            }
            Item::Alias(alias) if is_built_in_type(&alias.name.text) || structs.contains(&alias.name.text.as_str()) => {
                unit.dropped = true;
                banned.push(&alias.name.text);
            }
            Item::Alias(_) | Item::Struct(_) | Item::Using(_) | Item::Host(_) | Item::Const(..) => {}
        }
    }
    for unit in units.iter_mut().filter(|u| !u.dropped) {
        let mut written = unit.tokens.iter().filter(|(kind, _)| *kind == Tok::Ident);
        let statement = |name: &str| {
            let mut all = unit.found.mentions.iter().filter(|m| m.name == name).peekable();
            all.peek().is_some() && all.all(|m| m.usage == Usage::Statement)
        };
        if let Some((_, name)) = written.find(|(_, text)| {
            banned.contains(text) && !unit.found.locals.contains(text) && !statement(text) && unit.name().text != *text
        }) {
            let reason = format!("it uses `{name}`, which the host defines again for some types");
            unit.leave_out(reason);
        }
        let refusal = unit.meanings(names).find_map(|(mention, meaning)| match meaning {
            Meaning::Rebound => Some(format!(
                "the host gives `{}` several values, and which one it has is not known here",
                mention.name
            )),
            Meaning::Hidden => Some(format!("`{}` is hidden by another function in its scope", mention.name)),
            Meaning::Own(_) | Meaning::Other => None,
        });
        if let (Some(reason), Item::Function(_)) = (refusal, unit.item) {
            unit.leave_out(reason);
        }
    }
}

/// Leaves out the other definitions of a function of which one could not be read at all, and the functions that would
/// find something else in the place of what is left out.
pub(super) fn dependent(units: &mut [Unit<'_>], names: &Names<'_>) {
    let headless: Vec<&Function> =
        units.iter().filter_map(Unit::function).filter(|f| !has_head(f) && !f.name.text.is_empty()).collect();
    let alike = |f: &Function| headless.iter().any(|g| same_group(f, g));
    for unit in units.iter_mut() {
        if unit.function().is_some_and(alike) {
            unit.leave_out("another definition of it could not be read, and may be the one that is meant");
        }
    }
    loop {
        let mut gone: HashSet<String> = HashSet::new();
        let mut instructions: HashSet<&str> = HashSet::new();
        for unit in units.iter().filter(|u| u.out.is_some() && !u.dropped) {
            let Some(f) = unit.function().filter(|f| !has_stub(f, units, names)) else { continue };
            match unit.key() {
                Some(key) if names.new_name(&key).is_none() && names.is_known(base(&key)) => {
                    gone.insert(key);
                }
                Some(_) => {}
                None => {
                    instructions.insert(f.name.text.as_str());
                }
            }
        }
        let uses = |unit: &Unit<'_>| {
            let of =
                unit.meanings(names).find(|(_, meaning)| matches!(meaning, Meaning::Own(key) if gone.contains(key)));
            let called = || instructions.iter().find(|name| unit.calls(name)).map(|name| (*name).to_string());
            of.map(|(mention, _)| mention.name.to_string()).or_else(called)
        };
        let found: Vec<(usize, String)> = units
            .iter()
            .enumerate()
            .filter(|(_, u)| u.out.is_none() && !u.dropped && !matches!(u.item, Item::Const(..)))
            .filter_map(|(n, u)| Some((n, uses(u)?)))
            .collect();
        if found.is_empty() {
            return;
        }
        for (n, name) in found {
            if let Some(unit) = units.get_mut(n) {
                unit.leave_out(format!("it uses `{name}`, which is left out"));
            }
        }
    }
}

/// Whether calls find two functions by the same name.
fn same_group(f: &Function, g: &Function) -> bool {
    let same_op = match (f.instruction, g.instruction) {
        (Some(a), Some(b)) => a == b || a == b.partner(),
        (None, None) => f.scope.last() == g.scope.last(),
        _ => false,
    };
    same_op && f.name.text == g.name.text
}

/// Whether a function that is left out is written with a body that stops the run: where calls would find another
/// definition in its place.
pub(super) fn has_stub(f: &Function, units: &[Unit<'_>], names: &Names<'_>) -> bool {
    let others = || units.iter().filter(|u| u.out.is_none()).filter_map(Unit::function).any(|g| same_group(f, g));
    let scoped = super::names::key(f).is_some_and(|key| names.new_name(&key).is_some());
    has_head(f) && (others() || !scoped && names.is_known(&f.name.text))
}
