//! Values that suit a parameter, by its type and by what the function does with it.

use pendula::compiler::nil::ast;
use pendula::compiler::nil::sema::Input;
use pendula::compiler::nil::uses::{Called, Uses, uses};

/// The maximum depth to which nested types are followed.
const DEEP: usize = 8;

/// The candidate values of a parameter, the likeliest first. `n` is its number: adjacent parameters get different
/// values.
pub(super) fn of(inputs: &[Input], f: &ast::Function, p: &ast::Param, n: usize) -> Vec<String> {
    let find = |name: &str, count: usize| {
        functions(inputs).find(|f| f.name.text == name && f.instruction.is_none() && f.takes(count))
    };
    let uses = uses(f, &p.name.text, &find);
    let values = Values { inputs, f, n, result: p.name.text.ends_with('!') };
    if p.rest {
        return vec![values.numbers()[0].clone()];
    }
    // A type that leaves something open: what its uses tell goes before it.
    if p.ty.as_ref().is_none_or(|ty| values.is_open(ty, &uses))
        && let Some(told) = values.of_uses(&uses, 0)
    {
        return told;
    }
    match &p.ty {
        Some(ty) => values.of_type(ty, &uses, 0),
        None => values.of_any(),
    }
}

/// The reversible functions of the program.
fn functions(inputs: &[Input]) -> impl Iterator<Item = &ast::Function> {
    let items = inputs.iter().filter(|input| !input.library).flat_map(|input| &input.tree.items);
    items.filter_map(|item| if let ast::Item::Function(f) = item { Some(f) } else { None })
}

/// The structs of the program and its libraries.
fn structs(inputs: &[Input]) -> impl Iterator<Item = &ast::Struct> {
    let items = inputs.iter().flat_map(|input| &input.tree.items);
    items.filter_map(|item| if let ast::Item::Struct(s) = item { Some(s) } else { None })
}

/// Other names for types.
fn aliases(inputs: &[Input]) -> impl Iterator<Item = &ast::Alias> {
    let items = inputs.iter().flat_map(|input| &input.tree.items);
    items.filter_map(|item| if let ast::Item::Alias(a) = item { Some(a) } else { None })
}

/// What stands for values of one parameter.
#[derive(Clone, Copy)]
struct Values<'a> {
    inputs: &'a [Input],
    f: &'a ast::Function,
    /// The number of the parameter.
    n: usize,
    /// Whether it receives a result.
    result: bool,
}

impl Values<'_> {
    /// One value of each kind.
    fn of_any(self) -> Vec<String> {
        let (real, int) = (self.numbers(), self.whole());
        let kinds = [real[0].clone(), int[0].clone(), vector(&real[0]), matrix(&real[0])];
        let others = [real[1].clone(), int[1].clone(), int[2].clone(), vector(&int[0])];
        kinds.into_iter().chain(others).chain([vector("0.0"), matrix("0.0")]).collect()
    }

    /// The candidate values of what is used like this; `None` if the uses tell nothing.
    fn of_uses(self, uses: &Uses<'_>, depth: usize) -> Option<Vec<String>> {
        if let Some(called) = uses.called {
            return Some(self.callable(called));
        }
        if let Some((ty, f)) = uses.annotation.filter(|(ty, f)| !says_nothing(ty, f)) {
            return Some(Values { inputs: self.inputs, f, n: self.n, result: self.result }.of_type(
                ty,
                uses,
                depth + 1,
            ));
        }
        let (real, int) = (self.numbers(), self.whole());
        let inner = || {
            let told = uses.element.as_deref().and_then(|element| self.of_uses(element, depth + 1));
            told.unwrap_or_else(|| vec![real[0].clone(), int[0].clone(), real[1].clone()])
        };
        if !uses.fields.is_empty() {
            let has =
                |s: &&ast::Struct| uses.fields.iter().all(|(f, _)| s.fields.iter().any(|(own, _)| own.text == *f));
            let found: Vec<String> = structs(self.inputs).filter(has).map(|s| self.of_struct(s, uses, depth)).collect();
            if !found.is_empty() {
                return Some(found);
            }
        }
        if !uses.parts.is_empty() {
            return Some(vec![self.of_parts(uses, depth, &real), self.of_parts(uses, depth, &int)]);
        }
        if uses.complex {
            return Some(vec![self.complex()]);
        }
        match uses.dims {
            // Zeros come last, where they are looked for.
            1 => {
                let (all, first) = (inner(), &inner()[0]);
                Some(all.iter().map(|x| vector(x)).chain([matrix(first), vector("0.0")]).collect())
            }
            2 => {
                let (all, first) = (inner(), &inner()[0]);
                Some(all.iter().map(|x| matrix(x)).chain([vector(first), matrix("0.0")]).collect())
            }
            3 => Some(vec!["zeros(2,2,2)".to_string()]),
            _ if uses.truth => Some(vec!["true".into(), "false".into()]),
            _ if uses.whole => Some(int),
            _ => None,
        }
    }

    /// A tuple whose parts are used like this; the others are numbers.
    fn of_parts(self, uses: &Uses<'_>, depth: usize, numbers: &[String]) -> String {
        const MOST: usize = 64;
        let count = uses.parts.iter().map(|(n, _)| *n).max().unwrap_or(0).clamp(2, MOST);
        let part = |n: usize| {
            let told = uses.parts.iter().find(|(k, _)| *k == n).and_then(|(_, uses)| self.of_uses(uses, depth + 1));
            told.and_then(|all| all.into_iter().next()).unwrap_or_else(|| numbers[0].clone())
        };
        format!("({})", (1..=count).map(part).collect::<Vec<_>>().join(","))
    }

    fn of_struct(self, s: &ast::Struct, uses: &Uses<'_>, depth: usize) -> String {
        let none = Uses::default();
        let field = |(name, ty): &(ast::Name, Option<ast::TypeExpr>)| {
            let uses = uses.fields.iter().find(|(f, _)| *f == name.text).map_or(&none, |(_, uses)| uses);
            let own = |ty: &ast::TypeExpr| s.type_params.iter().find(|p| p.name.text == ty.name.text);
            let open = ty.as_ref().is_none_or(|ty| own(ty).is_some() || self.is_open(ty, uses));
            let told = if open { self.of_uses(uses, depth + 1) } else { None };
            let bound = ty.as_ref().and_then(|ty| own(ty).map_or(Some(ty), |p| p.bound.as_ref()));
            let all = told.or_else(|| Some(self.of_type(bound?, uses, depth + 1))).unwrap_or_else(|| self.numbers());
            all.into_iter().next().unwrap_or_default()
        };
        let fields: Vec<String> = s.fields.iter().map(field).collect();
        format!("({})", fields.join(","))
    }

    /// Whether a type leaves open what the uses tell.
    fn is_open(self, ty: &ast::TypeExpr, uses: &Uses<'_>) -> bool {
        let name = ty.name.text.as_str();
        let element = match ty.args.first() {
            None => true,
            Some(ast::TypeArg::Type(of)) => says_nothing(of, self.f),
            Some(ast::TypeArg::Number(..) | ast::TypeArg::Of(_)) => false,
        };
        let array = name.contains("Array") || name.contains("Vec") || name.contains("Mat");
        let annotated = |e: &Uses<'_>| e.annotation.is_some_and(|(ty, f)| !says_nothing(ty, f));
        let told = uses.element.as_ref().is_some_and(|e| e.complex || annotated(e) || !e.fields.is_empty());
        says_nothing(ty, self.f) || name == "Tuple" && ty.args.is_empty() || array && element && told && uses.dims > 0
    }

    /// Functions that can be called like this: those of the program, then those of the machine.
    fn callable(self, called: Called) -> Vec<String> {
        let own = functions(self.inputs);
        let own = own.filter(|g| g.instruction.is_none() && g.name != self.f.name && g.unread.is_none());
        let own = own.filter(|g| called.statement && g.params.len() == called.arguments);
        let known: &[&str] = match (called.statement, called.condition, called.arguments) {
            (true, _, 1) => &["NEG"],
            (true, _, 2) => &["PlusEq(identity)", "SWAP"],
            (true, _, 3) => &["PlusEq(*)", "ROT"],
            (false, true, 1) => &["iseven"],
            (false, false, 1) => &["abs2", "sin"],
            (false, false, 2) => &["min", "hypot"],
            _ => &[],
        };
        let known = known.iter().map(|f| (*f).to_string());
        own.map(|g| g.name.text.clone()).take(4).chain(known).chain(["identity".to_string()]).collect()
    }

    fn of_type(self, ty: &ast::TypeExpr, uses: &Uses<'_>, depth: usize) -> Vec<String> {
        let name = ty.name.text.as_str();
        let none = Uses::default();
        let element_uses = uses.element.as_deref().unwrap_or(&none);
        let of = |ty: &ast::TypeExpr| self.of_type(ty, &none, depth + 1);
        let types = || ty.args.iter().filter_map(|a| if let ast::TypeArg::Type(t) = a { Some(t) } else { None });
        let element = || types().next().map_or_else(|| self.numbers(), |ty| self.of_type(ty, element_uses, depth + 1));
        if depth > DEEP {
            return self.numbers();
        }
        if matches!(name, "SparseMatrixCSC" | "AbstractSparseMatrix" | "AbstractSparseMatrixCSC") {
            return vec!["(2,2,[1,2,3],[1,2],[1.5,2.5])".to_string()];
        }
        if let Some(s) = structs(self.inputs).find(|s| s.name.text == name) {
            return vec![self.of_struct(s, uses, depth)];
        }
        if let Some(p) = self.f.type_params.iter().find(|p| p.name.text == name) {
            return p.bound.as_ref().map_or_else(|| [self.numbers(), self.whole()].concat(), of);
        }
        if let Some(alias) = aliases(self.inputs).find(|alias| alias.name.text == name) {
            return of(&alias.ty);
        }
        let dims = ty.args.iter().find_map(|a| if let ast::TypeArg::Number(n, _) = a { Some(*n) } else { None });
        match name {
            "Bool" => vec!["true".into(), "false".into()],
            "Complex" => vec![self.complex()],
            "Tuple" if ty.args.is_empty() => {
                let number = &self.numbers()[0];
                vec![format!("({number},{number})")]
            }
            "Union" => types().next().map_or_else(|| self.numbers(), of),
            "Tuple" => {
                let parts: Vec<String> = types().filter_map(|ty| of(ty).into_iter().next()).collect();
                vec![format!("({})", parts.join(","))]
            }
            "NTuple" => {
                let part = types().next_back().map_or_else(|| self.numbers(), of);
                let count = usize::try_from(dims.unwrap_or(2)).unwrap_or(2).clamp(1, 64);
                part.iter().map(|x| format!("({})", vec![x.as_str(); count].join(","))).collect()
            }
            // The keys come first.
            "Dict" => {
                let values = types().nth(1).map_or_else(|| self.numbers(), of);
                values.iter().map(|x| vector(x)).collect()
            }
            "Ref" | "RefValue" if types().next().is_some() => element(),
            // 0 has no logarithm.
            _ if name.contains("Log") => vec!["1.5".into()],
            _ if name.contains("Int") => self.whole(),
            _ if name.contains("Mat") => element().iter().map(|x| matrix(x)).collect(),
            _ if name.contains("VecOrMat") && uses.dims == 2 => element().iter().map(|x| matrix(x)).collect(),
            _ if name.contains("Vec") => element().iter().map(|x| vector(x)).collect(),
            _ if name.contains("Array") && (dims == Some(2) || dims.is_none() && uses.dims == 2) => {
                element().iter().map(|x| matrix(x)).collect()
            }
            _ if name.contains("Array") && (dims == Some(3) || dims.is_none() && uses.dims == 3) => {
                vec!["zeros(2,2,2)".to_string()]
            }
            _ if name.contains("Array") => element().iter().flat_map(|x| [vector(x), matrix(x)]).collect(),
            _ => self.numbers(),
        }
    }

    fn complex(self) -> String {
        if self.result { "(0.0,0.0)".into() } else { "(1.5,0.5)".into() }
    }

    /// Numbers with a fraction; for a parameter that receives a result, 0 comes first.
    fn numbers(self) -> Vec<String> {
        let own = format!("{}.5", self.n % 3 + 1);
        if self.result { vec!["0.0".into(), own] } else { vec![own, "0.5".into()] }
    }

    /// Whole numbers; for a parameter that receives a result, 0 comes first.
    fn whole(self) -> Vec<String> {
        let own = (self.n % 3 + 2).to_string();
        if self.result { vec!["0".into(), own, "1".into()] } else { vec![own, "2".into(), "1".into()] }
    }
}

/// Whether a type says nothing about its values.
fn says_nothing(ty: &ast::TypeExpr, f: &ast::Function) -> bool {
    let nothing = |name: &str| matches!(name, "Any" | "Number" | "Function");
    let open = |p: &ast::TypeParam| p.bound.as_ref().is_none_or(|b| nothing(&b.name.text));
    nothing(&ty.name.text) || f.type_params.iter().any(|p| p.name.text == ty.name.text && open(p))
}

/// Two elements, so that all generated vectors have the same length.
fn vector(x: &str) -> String {
    format!("[{x},{}]", next(x))
}

fn matrix(x: &str) -> String {
    let y = next(x);
    format!("[{x} {y}; {y} {x}]")
}

/// A different value of the same kind.
fn next(x: &str) -> String {
    // The parts of a tuple, as deep as they lie.
    if x.starts_with('(') {
        let number = |c: char| c.is_ascii_digit() || c == '.';
        let (mut out, mut rest) = (String::new(), x);
        while let Some(at) = rest.find(number) {
            let (before, from) = rest.split_at(at);
            let (own, after) = from.split_at(from.find(|c| !number(c)).unwrap_or(from.len()));
            out += before;
            out += &next(own);
            rest = after;
        }
        return out + rest;
    }
    match x.split_once('.') {
        _ if x.starts_with("0") || x.parse::<f64>().is_err() => x.to_string(),
        Some((whole, fraction)) => format!("{}.{fraction}", whole.parse::<u64>().unwrap_or(1) + 1),
        None => x.parse::<u64>().map_or_else(|_| x.to_string(), |k| (k - 1).max(1).to_string()),
    }
}
