//! Random functions that programs call: functions for expressions, functions that define statements, recursive
//! functions, and functions that take functions.

use super::control::parameter;
use super::generate::Gen;
use super::model::{Helper, Kind, Len, Param, Role, Variable};

impl Gen<'_> {
    /// A function.
    pub(super) fn helper(&mut self, kinds: &[Kind]) {
        let role = match self.rng.below(10) {
            0..=3 => Role::Plain,
            4 | 5 => Role::Adds,
            6 | 7 => Role::Instruction,
            8 => Role::Recursive,
            _ => Role::Applies,
        };
        match role {
            Role::Plain | Role::Recursive => self.plain(role, kinds),
            Role::Adds | Role::Instruction => {
                let kind = *self.rng.pick(kinds);
                let name = self.fresh(if role == Role::Adds { "add" } else { "ins" });
                self.adds(role, &name, kind);
                // The same function for another type.
                let other = *self.rng.pick(kinds);
                if other != kind && self.rng.chance(40) {
                    self.adds(role, &name, other);
                }
            }
            Role::Applies => self.applies(),
        }
    }

    /// Begins a function: only its parameters are in scope.
    fn body(&mut self, vars: Vec<Variable>, statements: usize, f: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.vars, vars);
        let (budget, anywhere) = (self.budget, std::mem::replace(&mut self.anywhere, true));
        self.budget = statements;
        self.inside_helper += 1;
        self.inner(|g| {
            f(g);
            while g.budget > 0 {
                g.statement(2);
            }
        });
        self.inside_helper -= 1;
        (self.budget, self.anywhere) = (budget, anywhere);
        self.vars = outer;
        self.line("end");
        self.line("");
    }

    fn plain(&mut self, role: Role, kinds: &[Kind]) {
        let recursive = role == Role::Recursive;
        let name = self.fresh(if recursive { "rec" } else { "fun" });
        let mut params = Vec::new();
        let mut vars = Vec::new();
        let count = 1 + self.rng.below(4);
        for n in 0..count {
            let mut kind = *self.rng.pick(kinds);
            let mut rank = if self.rng.chance(60) { 0 } else { 1 + self.rng.below(3) };
            let written = n == 0 || self.rng.chance(50);
            // An array that is only read, with another one of its kind or a number of its element kind.
            let array = params.iter().find(|p: &&Param| !p.written && !p.dims.is_empty());
            if let Some(array) = array.filter(|_| !written && self.rng.chance(60)) {
                kind = array.kind;
                rank = if self.rng.chance(50) { 0 } else { array.dims.len() };
            }
            let own = self.fresh("x") + if written { "!" } else { "" };
            let dims: Vec<usize> = (0..rank).map(|_| 100 + self.rng.below(3)).collect();
            params.push(Param { name: own, kind, dims, written });
        }
        if recursive {
            params.push(Param { name: "n".into(), kind: Kind::Int, dims: Vec::new(), written: false });
        }
        for p in &params {
            let dims = p
                .dims
                .iter()
                .enumerate()
                .map(|(k, id)| Len::Open(*id, format!("size({}, {})", p.name, k + 1)))
                .collect();
            vars.push(Variable::new(&p.name, p.kind, dims, p.written));
        }
        let keyword = self.rng.chance(25).then(|| {
            let kind = *self.rng.pick(&[Kind::Int, Kind::Float, Kind::Fixed]);
            (self.fresh("key"), kind)
        });
        let generic = self.rng.chance(25) && !recursive;
        let mut list: Vec<String> = params
            .iter()
            .map(|p| match (generic, p.dims.len()) {
                (true, 0) => p.name.clone(),
                (true, 1) => format!("{}::AbstractVector", p.name),
                (true, 2) => format!("{}::AbstractMatrix{{T{}}}", p.name, p.name.trim_end_matches('!')),
                _ => parameter(&p.name, p.kind, p.dims.len()),
            })
            .collect();
        let bound: Vec<String> = params
            .iter()
            .filter(|p| generic && p.dims.len() == 2)
            .map(|p| format!("T{}", p.name.trim_end_matches('!')))
            .collect();
        if let Some((key, kind)) = &keyword {
            let value = match kind {
                Kind::Int => "2".to_string(),
                _ => format!("{}(0.5)", kind.name()),
            };
            let last = list.len() - 1;
            list[last] = format!("{}; {key} = {value}", list[last]);
            vars.push(Variable::new(key, *kind, Vec::new(), false));
        }
        let inline = if self.rng.chance(20) { "@inline " } else { "" };
        let generics = if bound.is_empty() { String::new() } else { format!(" where {{{}}}", bound.join(", ")) };
        emit!(self, "@i {inline}function {name}({}){generics}", list.join(", "));
        let statements = 1 + self.rng.below(4);
        self.body(vars, statements, |g| {
            if !recursive {
                return;
            }
            g.freeze(&["n".to_string()]);
            let with: Vec<String> =
                params.iter().map(|p| if p.name == "n" { "n - 1".to_string() } else { p.name.clone() }).collect();
            let key = keyword.as_ref().map_or(String::new(), |(k, _)| format!("; {k} = {k}"));
            g.line("if (n > 0, ~)");
            g.inner(|g| {
                g.some(2, 1);
                emit!(g, "{name}({}{key})", with.join(", "));
                g.some(1, 0);
            });
            g.line("end");
        });
        self.helpers.push(Helper { name, params, keyword, role });
    }

    /// A function that adds to its first parameter.
    fn adds(&mut self, role: Role, name: &str, kind: Kind) {
        let count = 1 + self.rng.below(2);
        let mut params = vec![Param { name: "y!".into(), kind, dims: Vec::new(), written: true }];
        for n in 0..count {
            params.push(Param { name: format!("x{n}"), kind, dims: Vec::new(), written: false });
        }
        let vars = params.iter().map(|p| Variable::new(&p.name, p.kind, Vec::new(), p.written)).collect();
        let list: Vec<String> = params.iter().map(|p| parameter(&p.name, p.kind, 0)).collect();
        let head = if role == Role::Instruction { format!("(:+=)({name})") } else { name.to_string() };
        let op = if matches!(kind, Kind::Log | Kind::Tropical) { "*=" } else { "+=" };
        let head = if role == Role::Instruction { head.replace("+=", op) } else { head };
        if role == Role::Instruction && kind == Kind::Bool {
            return;
        }
        emit!(self, "@i function {head}({})", list.join(", "));
        let statements = 1 + self.rng.below(2);
        self.body(vars, statements, |_| {});
        self.helpers.push(Helper { name: name.to_string(), params, keyword: None, role });
    }

    /// A function that calls a function parameter.
    fn applies(&mut self) {
        let fits: Vec<Helper> = self.helpers.iter().filter(|h| h.role == Role::Adds).cloned().collect();
        if fits.is_empty() {
            return;
        }
        let inner = self.rng.pick(&fits).clone();
        let name = self.fresh("app");
        let mut params = inner.params.clone();
        let args: Vec<String> = params.iter().map(|p| p.name.clone()).collect();
        let list: Vec<String> = params.iter().map(|p| parameter(&p.name, p.kind, 0)).collect();
        emit!(self, "@i function {name}(f, {})", list.join(", "));
        let vars = params.iter().map(|p| Variable::new(&p.name, p.kind, Vec::new(), p.written)).collect();
        let call = if self.rng.chance(50) { "f" } else { "(~f)" };
        let statements = self.rng.below(2);
        self.body(vars, statements, |g| emit!(g, "{call}({})", args.join(", ")));
        params.insert(0, Param { name: inner.name, kind: Kind::Int, dims: Vec::new(), written: false });
        self.helpers.push(Helper { name, params, keyword: None, role: Role::Applies });
    }
}
