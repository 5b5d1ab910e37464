//! The entry point: its definition, its types, and its arguments as data.

use std::collections::HashMap;

use pendula_isa::diagnostic::{Diagnostic, Label, Place as Source, plural};

use super::argument::{Argument, Number, argument_data, literal};
use super::overload::{Choice, best};
use super::reach::entry_key;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Sema, Stop};
use crate::ir::Var;
use crate::lower::Argument as Data;
use crate::nil::ast::{self};
use crate::nil::entries::{Entry as Callable, entries};
use crate::nil::types::{Layout, Type, TypeProblem, is_single};
use crate::nil::{codes, is_host};

/// A definition that accepts the arguments.
struct EntryCandidate {
    definition: usize,
    types: Vec<Type>,
    bound: HashMap<String, Type>,
    /// For each parameter, how unlikely its type is for the argument.
    distances: Vec<usize>,
    /// The data; `None` without a run.
    data: Option<Vec<Vec<Data>>>,
}

/// The arguments of the entry point.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) data: Vec<Data>,
    /// The data symbols of each parameter.
    pub(super) parameters: Vec<Vec<String>>,
    /// The types of the parameters.
    pub(super) types: Vec<Type>,
}

impl Sema<'_> {
    /// Compiles the entry point, and gives the data of its arguments.
    pub(super) fn entry(&mut self) -> Done<Entry> {
        let found = self.find_entry()?;
        let count = self.settings.arguments.len().max(self.settings.types.len());
        let takes = |n: &usize| self.definitions[*n].ast.takes(count);
        if count == 0 && !found.iter().any(takes) {
            return match found.first() {
                Some(n) => self.library_entry(*n),
                None => Err(Stop),
            };
        }
        let (found, other): (Vec<usize>, Vec<usize>) = found.into_iter().partition(takes);
        if let (true, Some(n)) = (found.is_empty(), other.first()) {
            return Err(self.wrong_count(*n, count));
        }
        // As in calls, the program's definitions go before the library's.
        let (library, of_program): (Vec<usize>, Vec<usize>) =
            found.into_iter().partition(|n| self.definitions[*n].library);
        let mut first_errors = Vec::new();
        for near in [of_program, library] {
            let mut entry_candidate = Vec::new();
            for &n in &near {
                let before = self.diagnostics.len();
                match self.entry_candidate(n) {
                    Ok(s) => entry_candidate.push(s),
                    Err(Stop) if first_errors.is_empty() => first_errors = self.diagnostics.split_off(before),
                    Err(Stop) => self.diagnostics.truncate(before),
                }
            }
            if !entry_candidate.is_empty() {
                let one = self.choose_entry(&near, entry_candidate)?;
                return self.compile_entry(one);
            }
        }
        // If no definition fits, the errors of the first one are reported.
        self.diagnostics.extend(first_errors);
        Err(Stop)
    }

    /// Chooses among the definitions that accept the arguments: first by the most likely types of the arguments, then
    /// as in a call.
    fn choose_entry(&mut self, candidates: &[usize], mut entry_candidate: Vec<EntryCandidate>) -> Done<EntryCandidate> {
        let distances: Vec<&[usize]> = entry_candidate.iter().map(|s| s.distances.as_slice()).collect();
        let likeliest = best(&distances, |a, b| a <= b);
        let first = likeliest.first().copied().ok_or(Stop)?;
        if let Some(other) = likeliest.iter().find(|n| entry_candidate[**n].types != entry_candidate[first].types) {
            let list = |s: &EntryCandidate| s.types.iter().map(Type::to_string).collect::<Vec<_>>().join(",");
            let (one, other) = (&entry_candidate[first], &entry_candidate[*other]);
            let (types, help) =
                (list(one), format!("give the types: `--types {}` or `--types {}`", list(one), list(other)));
            let f = &self.definitions[one.definition];
            let (file, span, name) = (f.file, f.ast.name.span.clone(), f.ast.name.text.clone());
            let g = &self.definitions[other.definition];
            let place = Source { file: g.file, span: g.ast.name.span.clone() };
            let message = format!("the arguments are for `{name}` of ({types}), and for another definition as well");
            let d = self.error(file, &span, codes::AMBIGUOUS, message);
            d.secondary.push(Label { place, text: "this fits".into() });
            d.help = Some(help);
            return Err(Stop);
        }
        let types = entry_candidate[first].types.clone();
        let chosen = self.choose(candidates, &types, false);
        self.refuse_unread(candidates, &chosen, None)?;
        match chosen {
            Choice::Several(several) => Err(self.ambiguous(&several, &types, None)),
            Choice::One(n, _) => {
                let at = entry_candidate.iter().position(|s| s.definition == n).ok_or(Stop)?;
                Ok(entry_candidate.swap_remove(at))
            }
            // A given type does not fit any parameter; `entry_type` has reported what fits.
            Choice::None => Ok(entry_candidate.swap_remove(first)),
        }
    }

    fn wrong_count(&mut self, n: usize, count: usize) -> Stop {
        let (f, file) = (self.definitions[n].ast, self.definitions[n].file);
        let list: Vec<&str> = f.params.iter().map(|p| p.name.text.as_str()).collect();
        let takes = plural(f.params.len(), "argument");
        let message = format!("`{}` takes {takes}, found {count}", f.name.text);
        self.error(file, &f.name.span, codes::ENTRY, message).help =
            Some(format!("give `--args` for {}", list.join(", ")));
        Stop
    }

    /// The types and data of the arguments for a definition, if it accepts them.
    fn entry_candidate(&mut self, n: usize) -> Done<EntryCandidate> {
        let (f, file) = (self.definitions[n].ast, self.definitions[n].file);
        let mut bound = HashMap::new();
        // An empty array tells nothing about its elements: it takes the type that the others give it.
        let mut order: Vec<usize> = (0..f.params.len()).collect();
        order.sort_by_key(
            |k| matches!(self.given_to(&f.params[*k], *k), Some(Argument::Array(_, items)) if items.is_empty()),
        );
        let mut found = Vec::new();
        for k in order {
            found.push((k, self.entry_type(file, f, &f.params[k], k, &mut bound)?));
        }
        found.sort_by_key(|(k, _)| *k);
        let types: Vec<Type> = found.into_iter().map(|(_, ty)| ty).collect();
        let distances = types.iter().enumerate().map(|(k, ty)| self.distances(k, ty)).collect();
        // If only types are given, arrays have no lengths: the function is compiled without a run.
        let open = self.settings.arguments.is_empty() && types.iter().any(has_arrays);
        let mut data = Vec::new();
        for (k, (param, ty)) in f.params.iter().zip(&types).enumerate().filter(|_| !open) {
            let value = self.given_to(param, k);
            let words =
                argument_data(&param.name.text, ty, value.as_ref(), self.program.format).map_err(|message| {
                    self.error(file, &param.name.span, codes::ENTRY, message).help = Some(
                        "numbers are `1.5`, arrays `[1,2,3]` or `@file.npy`, complex numbers and structs `(1,2)`"
                            .into(),
                    );
                    Stop
                })?;
            data.push(words);
        }
        Ok(EntryCandidate { definition: n, types, bound, distances, data: (!open).then_some(data) })
    }

    fn compile_entry(&mut self, of: EntryCandidate) -> Done<Entry> {
        let EntryCandidate { definition: n, types, bound, mut data, distances: _ } = of;
        let (f, file) = (self.definitions[n].ast, self.definitions[n].file);
        let mut keywords = Vec::new();
        let given = &self.settings.keywords;
        if let Some((name, _)) =
            given.iter().find(|(name, _)| !f.keywords.iter().any(|k| !k.rest && k.name.text == *name))
        {
            let message = format!("`{}` has no keyword `{name}`", f.name.text);
            let have: Vec<&str> = f.keywords.iter().filter(|k| !k.rest).map(|k| k.name.text.as_str()).collect();
            let help = match have.is_empty() {
                true => "leave it out".to_string(),
                false => format!("its keywords are {}", have.join(", ")),
            };
            self.error(file, &f.name.span, codes::ENTRY, message).help = Some(help);
            return Err(Stop);
        }
        for k in f.keywords.iter().filter(|k| !k.rest) {
            let name = &k.name.text;
            let own = given.iter().find(|(other, _)| other == name);
            let function = |text: &str| {
                let single = is_single(text).then(|| text.to_string());
                self.function_named(&f.scope, text).or(single).map(Value::Function)
            };
            let value = match (own, &k.default) {
                (Some((_, text)), _) => number_of(text).or_else(|| function(text)),
                (None, Some(default)) => literal(default).or_else(|| self.known_default(file, default)),
                (None, None) => {
                    let message = format!("the keyword `{name}` of the entry point has no value");
                    self.error(file, &k.name.span, codes::ENTRY, message).help =
                        Some(format!("give one after the arguments: `--args …,{name}=1.5`"));
                    return Err(Stop);
                }
            };
            let Some(value) = value else {
                let (message, help) = match own {
                    Some((_, text)) => (
                        format!("the keyword `{name}` takes a number, found `{text}`"),
                        "give a number, or make it a positional parameter".to_string(),
                    ),
                    None => (
                        format!("the default of the keyword `{name}` is not a number that is known here"),
                        format!(
                            "give a value after the arguments, `--args …,{name}=1.5`, or make it a positional parameter"
                        ),
                    ),
                };
                self.error(file, &k.name.span, codes::ENTRY, message).help = Some(help);
                return Err(Stop);
            };
            keywords.push((name.clone(), value));
        }
        let positional = types.clone();
        let types = self.changed_keywords(n, types, &mut keywords, &mut data);
        let key = entry_key(&positional, &keywords);
        let fun = self.compile(n, key, positional, keywords, (bound, Vec::new()));
        self.program.entry = data.is_some().then_some(fun);
        self.wants_arguments = data.is_none();
        let data = data.unwrap_or_default();
        let symbols = |words: &Vec<Data>| words.iter().filter(|d| d.is_in_data()).map(|d| d.name.clone()).collect();
        let parameters = data.iter().map(symbols).collect();
        Ok(Entry { data: data.into_iter().flatten().collect(), parameters, types })
    }

    /// A keyword of the entry that the function changes is a word of data after its arguments. Gives the types with theirs.
    fn changed_keywords(
        &mut self,
        n: usize,
        mut types: Vec<Type>,
        keywords: &mut [(String, Value)],
        data: &mut Option<Vec<Vec<Data>>>,
    ) -> Vec<Type> {
        for (name, value) in keywords {
            let given = match value {
                Value::Num(ScalarExpr::Lit(Literal::Int(k)), None) => Number::Text(k.to_string()),
                Value::Num(ScalarExpr::Lit(Literal::Real(text)), None) => Number::Text(text.clone()),
                _ => continue,
            };
            let Some(ty @ Type::Num(of)) = value.type_of() else { continue };
            if !self.changes_keyword(n, name) {
                continue;
            }
            let words = argument_data(name, &ty, Some(&Argument::Number(given)), self.program.format);
            if let (Some(data), Ok(words)) = (data.as_mut(), words) {
                data.push(words);
            }
            // Which variable it is, the function decides.
            *value = Value::Num(ScalarExpr::var(Var(0)), Some(of));
            types.push(ty);
        }
        types
    }

    /// The number that a keyword's default is, if it is made of constants.
    fn known_default(&mut self, file: u16, e: &ast::Expr) -> Option<Value> {
        let found = self.diagnostics.len();
        let value = self.known_number(file, e);
        self.diagnostics.truncate(found);
        value
    }

    /// Without arguments, functions whose parameters all have concrete types are compiled as a library.
    fn library_entry(&mut self, n: usize) -> Done<Entry> {
        self.wants_arguments = true;
        let (f, file) = (self.definitions[n].ast, self.definitions[n].file);
        let concrete = |f: &ast::Function| f.params.iter().all(|p| p.ty.is_some()) && f.type_params.is_empty();
        if !concrete(f) {
            let list: Vec<&str> = f.params.iter().map(|p| p.name.text.as_str()).collect();
            let message = format!("the types of the arguments of `{}` are not known", f.name.text);
            let help = format!("give `--args` or `--types` for {}", list.join(", "));
            self.error(file, &f.name.span, codes::ENTRY, message).help = Some(help);
            return Err(Stop);
        }
        let mut types = Vec::new();
        for p in &f.params {
            let Some(e) = &p.ty else { return Err(Stop) };
            let resolved = super::names(&self.structs, &HashMap::new()).resolve(e);
            match resolved {
                Ok(t) => {
                    let mut ty = [t];
                    self.growing_candidates(f, &p.name.text, &mut ty);
                    types.extend(ty);
                }
                Err(_) => {
                    let message = format!("the type of `{}` is not known", p.name.text);
                    let help = "give `--args` or `--types`, or a type such as `Float64`";
                    self.error(file, &e.span, codes::ENTRY, message).help = Some(help.into());
                    return Err(Stop);
                }
            }
        }
        let keywords: Vec<_> =
            f.keywords.iter().filter_map(|k| Some((k.name.text.clone(), literal(k.default.as_ref()?)?))).collect();
        let key = entry_key(&types, &keywords);
        self.compile(n, key, types, keywords, (HashMap::new(), Vec::new()));
        Ok(Entry::default())
    }

    /// The definitions of the entry point: the requested function, or the last one of the program.
    fn find_entry(&mut self) -> Done<Vec<usize>> {
        let entry = self.settings.entry.as_deref();
        let found = entries(self.inputs, entry);
        if let Some(first) = found.first() {
            let (first, mut all): (_, Vec<usize>) = (*first, found.iter().map(|e| e.number).collect());
            // Later definitions have taken the place of earlier ones, unless a line names one of those.
            if all.iter().any(|n| !self.forgotten.contains(n)) {
                all.retain(|n| !self.forgotten.contains(n));
            }
            self.refuse_unread(all.as_slice(), &Choice::None, None)?;
            return self.in_one_scope(&first, all);
        }
        let d = match entry {
            Some(name) => {
                let of_program = self.definitions.iter().filter(|d| !d.library);
                let mut names: Vec<&str> = of_program.map(|d| d.ast.name.text.as_str()).collect();
                names.retain(|name| !name.is_empty());
                names.dedup();
                let help = match names.is_empty() {
                    true => "the file defines no reversible function".to_string(),
                    false => format!("the file defines {}", names.join(", ")),
                };
                Diagnostic::error(codes::ENTRY, format!("there is no reversible function `{name}`")).help(help)
            }
            None => {
                let skipped = self.inputs.iter().flat_map(|i| &i.tree.skipped);
                let plain = skipped.into_iter().any(|(what, _)| what.contains("plain `function`"));
                let help = match plain {
                    true => "put `@i` before `function`: a plain function belongs to the host language, and is skipped",
                    false => "write `@i function f(y!, x) … end`",
                };
                Diagnostic::error(codes::ENTRY, "the file defines no reversible function").help(help)
            }
        };
        self.diagnostics.push(d);
        Err(Stop)
    }

    /// These definitions of one name, if they are in the same scope of the host.
    fn in_one_scope(&mut self, first: &Callable<'_>, all: Vec<usize>) -> Done<Vec<usize>> {
        let scope = &first.function.scope;
        let Some(other) = all.iter().map(|n| &self.definitions[*n]).find(|d| d.ast.scope != *scope) else {
            return Ok(all);
        };
        let place = Source { file: other.file, span: other.ast.name.span.clone() };
        let (file, name) = (first.input.file, &first.function.name);
        let line = self.loc(file, &name.span).line;
        let message = format!("`{}` is defined in several scopes of the host", name.text);
        let d = self.error(file, &name.span, codes::AMBIGUOUS, message);
        d.secondary.push(Label { place, text: "this is another".into() });
        d.help = Some(format!("say which by its line: `--entry {}@{line}`", name.text));
        Err(Stop)
    }

    fn entry_type(
        &mut self,
        file: u16,
        f: &ast::Function,
        param: &ast::Param,
        k: usize,
        bound: &mut HashMap<String, Type>,
    ) -> Done<Type> {
        let value = self.given_to(param, k);
        if param.rest {
            return self.rest_type(f, k).ok_or(Stop);
        }
        let mut candidates: Vec<Type> = Vec::new();
        match self.settings.types.get(k).filter(|t| !t.trim().is_empty()) {
            Some(text) => {
                let parsed = super::super::parse_type(text);
                let resolved = parsed.and_then(|e| super::names(&self.structs, bound).resolve(&e).ok());
                match (resolved, &value) {
                    (Some(t), Some(Argument::Array(lens, _))) if t.words().is_some() && param_is_array(param) => {
                        candidates.push(Type::Array {
                            element: Box::new(t),
                            dims: lens.len() as u8,
                            layout: Layout::Columns,
                        });
                    }
                    (Some(t), _) => candidates.push(t),
                    (None, _) => {
                        let message = format!("`{text}` names no type for `{}`", param.name.text);
                        let help = "types are Int, Bool, Fixed, Fixed43, Float64, ULogarithmic, Complex{Float64}, Vector{Fixed}, …";
                        self.error(file, &param.name.span, codes::ENTRY, message).help = Some(help.into());
                        return Err(Stop);
                    }
                }
            }
            None => {
                // In the host's files a logarithmic number is one of doubles.
                let host = self.inputs.get(file as usize).is_some_and(|i| is_host(&i.name));
                if let Some(e) = &param.ty {
                    let expanded = self.structs.expanded(e);
                    let e = expanded.as_ref().unwrap_or(e);
                    let name = e.name.text.as_str();
                    if matches!(name, "ULogarithmic" | "Logarithmic") && (host || of_doubles(e, f)) {
                        candidates.push(Type::Log { signed: name == "Logarithmic" });
                    }
                }
                // A concrete annotation decides; otherwise the form of the value.
                if let Some(e) = &param.ty
                    && let Ok(t) = super::names(&self.structs, bound).resolve(e)
                {
                    candidates.push(t);
                }
                if let Some(v) = &value {
                    if param.ty.is_none() {
                        self.guess_by_uses(f, &param.name.text, v, &mut candidates);
                    }
                    self.guess(&f.scope, v, &mut candidates);
                    if let Some(e) = &param.ty {
                        self.guess_struct(e, v, &mut candidates);
                    }
                }
            }
        }
        if matches!(&value, Some(Argument::Array(_, items)) if items.is_empty()) {
            self.prefer_given(&mut candidates);
        }
        self.growing_candidates(f, &param.name.text, &mut candidates);
        for t in &candidates {
            let mut names = super::names(&self.structs, bound);
            let fits = match &param.ty {
                Some(e) => names.accepts(e, t, &f.type_params).is_some(),
                None => true,
            };
            if fits {
                *bound = names.bound;
                return Ok(t.clone());
            }
        }
        // An annotation that names no type is an error for every argument.
        if let Some(e) = &param.ty {
            const SETS: &[&str] = &["Any", "Function", "Nothing", "Val", "typeof", "Type", "Tuple", "NTuple"];
            let free = |name: &str| f.type_params.iter().any(|p| p.name.text == name);
            let resolved = super::names(&self.structs, bound).resolve(e);
            if let Err(problem @ (TypeProblem::Recursive(_) | TypeProblem::Exceeded(_))) = resolved {
                return Err(self.type_problem(file, e, problem));
            }
            if let Err(TypeProblem::Unknown(name)) = resolved
                && !free(&name)
                && !SETS.contains(&name.as_str())
            {
                return Err(self.type_problem(file, e, TypeProblem::Unknown(name)));
            }
        }
        let found = candidates.first().map_or("nothing".to_string(), Type::to_string);
        let expected = param.ty.as_ref().map_or("any value".to_string(), super::call::type_text);
        let message = format!("the argument `{}` must be {expected}, found {found}", param.name.text);
        self.error(file, &param.name.span, codes::ENTRY, message).help =
            Some("give another value, or its type with `--types`".into());
        Err(Stop)
    }
}

/// Whether the argument of a type is a type variable for doubles only: `T <: AbstractFloat`.
fn of_doubles(e: &ast::TypeExpr, f: &ast::Function) -> bool {
    let [ast::TypeArg::Type(of)] = &e.args[..] else { return false };
    let param = f.type_params.iter().find(|p| p.name.text == of.name.text);
    let bound = param.and_then(|p| p.bound.as_ref());
    bound.is_some_and(|b| matches!(b.name.text.as_str(), "AbstractFloat" | "Float64"))
}

/// The number or truth value that a text is.
fn number_of(text: &str) -> Option<Value> {
    let (tree, errors) = crate::nil::parser::parse(0, &format!("const value = {text}\n"));
    match tree.items.as_slice() {
        [ast::Item::Const(_, e)] if errors.is_empty() => literal(e),
        _ => None,
    }
}

fn param_is_array(p: &ast::Param) -> bool {
    p.ty.as_ref()
        .is_none_or(|t| t.name.text.contains("Array") || t.name.text.contains("Vec") || t.name.text.contains("Mat"))
}

fn has_arrays(t: &Type) -> bool {
    match t {
        Type::Array { .. } => true,
        Type::Struct(s) => s.fields.iter().any(|(_, t)| has_arrays(t)),
        Type::Tuple(parts) => parts.iter().any(has_arrays),
        Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } | Type::Function(_) => {
            false
        }
    }
}
