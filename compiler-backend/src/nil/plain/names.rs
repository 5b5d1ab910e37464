//! What names mean in the scopes of the host, and what they are called where there are no scopes.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::unit::Unit;
use super::walk::{Mention, Usage};
use crate::nil::ast::{AssignOp, File, Function, HostFunction, Item, inside};
use crate::nil::sema::is_built_in;
use crate::nil::token::Tok;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The functions or the constant of the file with this key: the name, with `@` and the scope's place inside of a scope.
    Own(String),
    /// A name of the host, of the library, or of the language; or none.
    Other,
    /// A constant to which the host gives several values.
    Rebound,
    /// Functions of a scope that do not fit, which hide others that do.
    Hidden,
}

/// The names of a file.
pub(super) struct Names<'a> {
    functions: HashMap<String, Vec<&'a Function>>,
    constants: HashSet<&'a str>,
    rebound: &'a BTreeSet<String>,
    /// The functions `f` with `@i function (:+=)(f)`.
    instructions: HashSet<&'a str>,
    /// The other names that a program of this file knows: of types, of the host's functions, and of the library.
    others: HashSet<&'a str>,
    /// The functions of the host that are one expression and take the place of built-in ones.
    overriding: HashSet<&'a str>,
    /// The new names, by key.
    renamed: HashMap<String, String>,
}

/// The key of a function of the file, by which calls find it; none for `@i function (:+=)(f)`.
pub(super) fn key(f: &Function) -> Option<String> {
    let own = match f.scope.last() {
        Some(at) => inside(&f.name.text, *at),
        None => f.name.text.clone(),
    };
    f.instruction.is_none().then_some(own)
}

/// The key of the functions of the host with this name.
pub(super) fn host_key(name: &str) -> String {
    format!("{name}@host")
}

/// The built-in functions whose place the host's take for all types of arguments.
fn overriding(tree: &File) -> HashSet<&str> {
    let hosts = || tree.items.iter().filter_map(|item| if let Item::Host(f) = item { Some(f) } else { None });
    let any = |f: &HostFunction| f.params.iter().all(|p| p.ty.is_none());
    let whole = |f: &&HostFunction| {
        let mut alike = hosts().filter(|g| g.name.text == f.name.text && g.params.len() == f.params.len());
        alike.any(any)
    };
    let built_in = hosts().filter(|f| is_built_in(&f.name.text));
    let partly: HashSet<&str> = built_in.clone().filter(|f| !whole(f)).map(|f| f.name.text.as_str()).collect();
    built_in.map(|f| f.name.text.as_str()).filter(|name| !partly.contains(name)).collect()
}

/// The name in a key.
pub(super) fn base(key: &str) -> &str {
    key.split('@').next().unwrap_or(key)
}

impl<'a> Names<'a> {
    pub(super) fn new(tree: &'a File, library: &[&'a File]) -> Names<'a> {
        let mut names = Names {
            functions: HashMap::new(),
            constants: HashSet::new(),
            rebound: &tree.rebound,
            instructions: HashSet::new(),
            others: HashSet::new(),
            overriding: overriding(tree),
            renamed: HashMap::new(),
        };
        for item in &tree.items {
            match item {
                Item::Function(f) => match key(f) {
                    Some(key) => names.functions.entry(key).or_default().push(f),
                    None => names.instruction(f),
                },
                Item::Const(name, _) => {
                    names.constants.insert(&name.text);
                }
                Item::Struct(s) => {
                    names.others.insert(&s.name.text);
                }
                Item::Alias(alias) => {
                    names.others.insert(&alias.name.text);
                }
                Item::Host(f) => {
                    names.others.insert(&f.name.text);
                }
                Item::Using(_) => {}
            }
        }
        for item in library.iter().flat_map(|file| &file.items) {
            if let Item::Function(f) = item {
                names.others.insert(&f.name.text);
            }
        }
        names
    }

    fn instruction(&mut self, f: &'a Function) {
        if matches!(f.instruction, Some(AssignOp::Add | AssignOp::Sub)) {
            self.instructions.insert(&f.name.text);
        }
    }

    /// Whether a name without a definition in the file means something.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.others.contains(name) || self.instructions.contains(name) || is_built_in(name)
    }

    /// What a name stands for in these scopes, if it is no variable.
    pub(super) fn meaning(&self, mention: &Mention<'_>, scope: &[usize]) -> Meaning {
        let name = mention.name;
        if mention.usage != Usage::Statement && self.overrides(name) {
            return Meaning::Own(host_key(name));
        }
        let constant = || {
            let inner =
                scope.iter().rev().map(|at| inside(name, *at)).find(|key| self.constants.contains(key.as_str()));
            let outer = self.constants.contains(name) && (scope.is_empty() || !self.rebound.contains(name));
            inner.or_else(|| outer.then(|| name.to_string()))
        };
        let inner = scope.iter().rev().map(|at| inside(name, *at)).find(|key| self.functions.contains_key(key));
        let function = inner.or_else(|| self.functions.contains_key(name).then(|| name.to_string()));
        match mention.usage {
            Usage::Call(count) => {
                let takes =
                    |key: &str| self.functions.get(key).is_some_and(|all| all.iter().any(|f| f.takes(count + 1)));
                match function {
                    _ if self.instructions.contains(name) => Meaning::Other,
                    Some(key) if takes(&key) => Meaning::Own(key),
                    Some(key) if key != name && takes(name) => Meaning::Hidden,
                    _ => Meaning::Other,
                }
            }
            Usage::Value | Usage::Short | Usage::Statement => match constant().or(function) {
                Some(key) => Meaning::Own(key),
                None if self.constants.contains(name) => Meaning::Rebound,
                None => Meaning::Other,
            },
        }
    }

    /// Whether functions of the host take the place of a built-in one, whatever the arguments are.
    pub(super) fn overrides(&self, name: &str) -> bool {
        self.overriding.contains(name)
            && !self.instructions.contains(name)
            && !self.functions.keys().any(|key| base(key) == name)
    }

    /// Gives new names to what is in scopes, wherever the name alone could mean something else.
    pub(super) fn rename(&mut self, units: &[Unit<'a>]) {
        let mut keys: Vec<(String, usize)> = Vec::new();
        for unit in units.iter().filter(|u| !u.dropped) {
            if let Some(key) = unit.key().filter(|key| key.contains('@') && !key.starts_with("(::"))
                && !keys.iter().any(|(other, _)| *other == key)
            {
                keys.push((key, unit.line));
            }
        }
        for unit in units.iter().filter(|u| !u.dropped && u.out.is_none()) {
            if let Item::Host(f) = unit.item
                && self.overrides(&f.name.text)
                && keys.iter().all(|(key, _)| *key != host_key(&f.name.text))
            {
                keys.push((host_key(&f.name.text), unit.line));
            }
        }
        let mut taken: HashSet<String> = self.others.iter().map(|name| (*name).to_string()).collect();
        for unit in units {
            let names = unit.tokens.iter().filter(|(kind, _)| *kind == Tok::Ident);
            taken.extend(names.map(|(_, text)| (*text).to_string()));
        }
        for (key, line) in &keys {
            let name = base(key);
            let alone = !self.functions.contains_key(name)
                && !self.constants.contains(name)
                && !self.others.contains(name)
                && keys.iter().all(|(other, _)| other == key || base(other) != name);
            if alone && units.iter().all(|unit| unit.means_only(self, name, key)) {
                continue;
            }
            let (stem, mark) = name.strip_suffix('!').map_or((name, ""), |stem| (stem, "!"));
            let mut new = format!("{stem}_{line}{mark}");
            while !taken.insert(new.clone()) {
                new.insert(new.len() - mark.len(), '_');
            }
            self.renamed.insert(key.clone(), new);
        }
    }

    /// The new name of what has this key, if it has one.
    pub(super) fn new_name(&self, key: &str) -> Option<&str> {
        self.renamed.get(key).map(String::as_str)
    }
}
