//! The entry point: which function, with which types, and its arguments as data.

use std::collections::HashMap;

use pendula_isa::diagnostic::{Diagnostic, Label, Place as Source, plural};
use pendula_isa::num::decimal;
use pendula_isa::table::{TableFn, f_fn};
use pendula_isa::{Env, Format, Ty, num::convert, num::log};

use super::overload::{Choice, best};
use super::reach::entry_key;
use super::{Done, Sema, Stop};
use crate::lower::{Argument as Data, ArgumentKind};
use crate::nil::ast::{self, ExprKind};
use crate::nil::codes;
use crate::nil::types::{Type, TypeProblem, same_shape};

/// A number as an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// As it was written.
    Text(String),
    /// From a file of integers.
    Int(i64),
    /// From a file of floating-point numbers.
    Float(f64),
}

/// An argument of the entry point, as the user gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number or a truth value.
    Number(Number),
    /// An array: lengths, and elements column by column. Complex numbers and structs take several.
    Array(Vec<usize>, Vec<Number>),
    /// The parts of a complex number or a struct.
    Tuple(Vec<Argument>),
}

/// A definition that the arguments are for.
struct Suited {
    definition: usize,
    types: Vec<Type>,
    bound: HashMap<String, Type>,
    /// How far each type is from what the value looks like.
    far: Vec<usize>,
    /// Without a run there is none.
    data: Option<Vec<Vec<Data>>>,
}

/// The entry point's arguments.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) data: Vec<Data>,
    /// The data symbols of each parameter.
    pub(super) parameters: Vec<Vec<String>>,
    /// Their types.
    pub(super) types: Vec<Type>,
}

impl Number {
    /// Whether it looks like an integer: without a fraction or an exponent, and not from a file of floating-point numbers.
    pub fn is_whole(&self) -> bool {
        match self {
            Number::Text(t) => !t.contains(['.', 'e', 'E', 'n', 'N']) || t.starts_with("0x"),
            Number::Int(_) => true,
            Number::Float(_) => false,
        }
    }
}

impl Sema<'_> {
    /// Compiles the entry point, and gives the data of its arguments.
    pub(super) fn entry(&mut self) -> Done<Entry> {
        let found = self.find_entry()?;
        let given = self.settings.arguments.len().max(self.settings.types.len());
        let takes = |n: &usize| self.definitions[*n].ast.params.len();
        if given == 0 && !found.iter().any(|n| takes(n) == 0) {
            return match found.first() {
                Some(n) => self.library_entry(*n),
                None => Err(Stop),
            };
        }
        let (found, other): (Vec<usize>, Vec<usize>) = found.into_iter().partition(|n| takes(n) == given);
        if let (true, Some(n)) = (found.is_empty(), other.first()) {
            return Err(self.wrong_count(*n, given));
        }
        // The program's own definitions go before the library's, as in calls.
        let (library, own): (Vec<usize>, Vec<usize>) = found.into_iter().partition(|n| self.definitions[*n].library);
        let mut said = Vec::new();
        for near in [own, library] {
            let mut suited = Vec::new();
            for &n in &near {
                let before = self.diagnostics.len();
                match self.suited(n) {
                    Ok(s) => suited.push(s),
                    Err(Stop) if said.is_empty() => said = self.diagnostics.split_off(before),
                    Err(Stop) => self.diagnostics.truncate(before),
                }
            }
            if !suited.is_empty() {
                let one = self.choose_entry(&near, suited)?;
                return self.compile_entry(one);
            }
        }
        // If none fits, the first one says why.
        self.diagnostics.extend(said);
        Err(Stop)
    }

    /// Of the definitions that arguments are for, the one that a call means with arguments of the types that they look most like.
    fn choose_entry(&mut self, candidates: &[usize], mut suited: Vec<Suited>) -> Done<Suited> {
        let far: Vec<&[usize]> = suited.iter().map(|s| s.far.as_slice()).collect();
        let likeliest = best(&far, |a, b| a <= b);
        let first = likeliest.first().copied().ok_or(Stop)?;
        if let Some(other) = likeliest.iter().find(|n| suited[**n].types != suited[first].types) {
            let list = |s: &Suited| s.types.iter().map(Type::to_string).collect::<Vec<_>>().join(",");
            let (one, other) = (&suited[first], &suited[*other]);
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
        let types = suited[first].types.clone();
        match self.choose(candidates, &types, false) {
            Choice::Several(several) => Err(self.ambiguous(&several, &types, None)),
            Choice::One(n, _) => {
                let at = suited.iter().position(|s| s.definition == n).ok_or(Stop)?;
                Ok(suited.swap_remove(at))
            }
            // Where a type is given that is none of a parameter's, what fits was said by `entry_type`.
            Choice::None => Ok(suited.swap_remove(first)),
        }
    }

    fn wrong_count(&mut self, n: usize, given: usize) -> Stop {
        let (f, file) = (self.definitions[n].ast, self.definitions[n].file);
        let list: Vec<&str> = f.params.iter().map(|p| p.name.text.as_str()).collect();
        let takes = plural(f.params.len(), "argument");
        let message = format!("`{}` takes {takes}, found {given}", f.name.text);
        self.error(file, &f.name.span, codes::ENTRY, message).help =
            Some(format!("give `--args` for {}", list.join(", ")));
        Stop
    }

    /// The types that the arguments have for a definition, and their words, if they are for it.
    fn suited(&mut self, n: usize) -> Done<Suited> {
        let (f, file) = (self.definitions[n].ast, self.definitions[n].file);
        let (mut bound, mut types, mut far) = (HashMap::new(), Vec::new(), Vec::new());
        for (k, param) in f.params.iter().enumerate() {
            let ty = self.entry_type(file, f, param, k, &mut bound)?;
            far.push(self.far(k, &ty));
            types.push(ty);
        }
        // With types alone, arrays have no lengths: the function is compiled without a run.
        let open = self.settings.arguments.is_empty() && types.iter().any(has_arrays);
        let mut data = Vec::new();
        for (k, (param, ty)) in f.params.iter().zip(&types).enumerate().filter(|_| !open) {
            let value = self.settings.arguments.get(k);
            let words = argument_data(&param.name.text, ty, value, self.program.format).map_err(|message| {
                self.error(file, &param.name.span, codes::ENTRY, message).help = Some(
                    "numbers are `1.5`, arrays `[1,2,3]` or `@file.npy`, complex numbers and structs `(1,2)`".into(),
                );
                Stop
            })?;
            data.push(words);
        }
        Ok(Suited { definition: n, types, bound, far, data: (!open).then_some(data) })
    }

    /// How far a type is from what argument number `k` looks like: an integer is rather an integer than a floating-point number.
    fn far(&self, k: usize, ty: &Type) -> usize {
        let typed = self.settings.types.get(k).is_some_and(|t| !t.trim().is_empty());
        match self.settings.arguments.get(k) {
            Some(v @ (Argument::Number(_) | Argument::Array(..))) if !typed => {
                let mut likely = Vec::new();
                self.guess(v, &mut likely);
                likely.iter().position(|t| same_shape(t, ty)).unwrap_or(likely.len())
            }
            Some(_) | None => 0,
        }
    }

    fn compile_entry(&mut self, of: Suited) -> Done<Entry> {
        let Suited { definition: n, types, bound, data, far: _ } = of;
        let (f, file) = (self.definitions[n].ast, self.definitions[n].file);
        let mut keywords = Vec::new();
        for k in &f.keywords {
            let Some(default) = &k.default else {
                let message = format!("the keyword `{}` of the entry point has no default", k.name.text);
                self.error(file, &k.name.span, codes::ENTRY, message).help =
                    Some("make it a positional parameter".into());
                return Err(Stop);
            };
            let Some(value) = literal(default) else {
                let message = format!("the default of the keyword `{}` is no number", k.name.text);
                self.error(file, &default.span, codes::ENTRY, message).help =
                    Some("make it a positional parameter".into());
                return Err(Stop);
            };
            keywords.push((k.name.text.clone(), value));
        }
        let key = entry_key(&types, &keywords);
        let fun = self.compile(n, key, types.clone(), keywords, (bound, Vec::new()));
        self.program.entry = data.is_some().then_some(fun);
        self.wants_arguments = data.is_none();
        let data = data.unwrap_or_default();
        let parameters = data.iter().map(|words| words.iter().map(|d| d.name.clone()).collect()).collect();
        Ok(Entry { data: data.into_iter().flatten().collect(), parameters, types })
    }

    /// Without arguments, functions whose types are all given are compiled as a library.
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
                Ok(t) => types.push(t),
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

    /// The function where a run begins: the one that is asked for, else the last of the program.
    fn find_entry(&mut self) -> Done<Vec<usize>> {
        let own: Vec<usize> = (0..self.definitions.len()).filter(|n| !self.definitions[*n].library).collect();
        if let Some(name) = &self.settings.entry {
            let named = |n: &usize| {
                self.definitions[*n].ast.name.text == *name && self.definitions[*n].ast.instruction.is_none()
            };
            let library: Vec<usize> = (0..self.definitions.len()).filter(|n| self.definitions[*n].library).collect();
            let found: Vec<usize> = own.iter().chain(&library).copied().filter(named).collect();
            return match found.first() {
                Some(_) => Ok(found),
                None => {
                    let names: Vec<&str> = own.iter().map(|n| self.definitions[*n].ast.name.text.as_str()).collect();
                    let help = if names.is_empty() {
                        "the file defines no reversible function".to_string()
                    } else {
                        format!("the file defines {}", names.join(", "))
                    };
                    let message = format!("there is no reversible function `{name}`");
                    self.diagnostics.push(Diagnostic::error(codes::ENTRY, message).help(help));
                    Err(Stop)
                }
            };
        }
        match own.last() {
            Some(n) => {
                let name = &self.definitions[*n].ast.name.text;
                let instruction = self.definitions[*n].ast.instruction;
                let same = |m: &usize| {
                    self.definitions[*m].ast.name.text == *name && self.definitions[*m].ast.instruction == instruction
                };
                Ok(own.iter().rev().copied().filter(same).collect())
            }
            None => {
                let d = Diagnostic::error(codes::ENTRY, "the file defines no reversible function");
                let plain =
                    self.inputs.iter().flat_map(|i| &i.tree.skipped).any(|(what, _)| what.contains("plain `function`"));
                let help = match plain {
                    true => "put `@i` before `function`: a plain function belongs to the host language, and is skipped",
                    false => "write `@i function f(y!, x) … end`",
                };
                self.diagnostics.push(d.help(help));
                Err(Stop)
            }
        }
    }

    fn entry_type(
        &mut self,
        file: u16,
        f: &ast::Function,
        param: &ast::Param,
        k: usize,
        bound: &mut HashMap<String, Type>,
    ) -> Done<Type> {
        let value = self.settings.arguments.get(k).cloned();
        let mut candidates: Vec<Type> = Vec::new();
        match self.settings.types.get(k).filter(|t| !t.trim().is_empty()) {
            Some(text) => {
                let parsed = super::super::parse_type(text);
                let resolved = parsed.and_then(|e| super::names(&self.structs, bound).resolve(&e).ok());
                match (resolved, &value) {
                    (Some(t), Some(Argument::Array(lens, _))) if t.words().is_some() && param_is_array(param) => {
                        candidates.push(Type::Array { element: Box::new(t), dims: lens.len() as u8, strided: false });
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
                // A concrete annotation decides; else what the value looks like.
                if let Some(e) = &param.ty
                    && let Ok(t) = super::names(&self.structs, bound).resolve(e)
                {
                    candidates.push(t);
                }
                if let Some(v) = &value {
                    self.guess(v, &mut candidates);
                    if let Some(e) = &param.ty {
                        self.guess_struct(e, v, &mut candidates);
                    }
                }
            }
        }
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
        // An annotation that names no type is in error whatever is given.
        if let Some(e) = &param.ty {
            const SETS: &[&str] = &["Any", "Function", "typeof", "Tuple", "NTuple"];
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
        let wanted = param.ty.as_ref().map_or("any value".to_string(), super::call::type_text);
        let message = format!("the argument `{}` must be {wanted}, found {found}", param.name.text);
        self.error(file, &param.name.span, codes::ENTRY, message).help =
            Some("give another value, or its type with `--types`".into());
        Err(Stop)
    }

    /// What types a value can have, the likeliest first.
    fn guess(&self, v: &Argument, out: &mut Vec<Type>) {
        let numbers = |whole: bool| {
            let mut all = if whole { vec![Ty::Int] } else { Vec::new() };
            all.extend([Ty::F, Ty::Q, Ty::L]);
            all
        };
        match v {
            Argument::Number(Number::Text(t)) if t == "true" || t == "false" => out.push(Type::Bool),
            Argument::Number(n) => {
                out.extend(numbers(n.is_whole()).into_iter().map(Type::Num));
                out.extend([Type::Complex(Ty::F), Type::Tropical(Ty::F), Type::Bool]);
                out.extend([Type::Log { signed: false }, Type::Log { signed: true }]);
            }
            Argument::Array(lens, items) => {
                let whole = items.iter().all(Number::is_whole);
                let dims = lens.len() as u8;
                let truth = |n: &Number| matches!(n, Number::Text(t) if t == "true" || t == "false");
                if !items.is_empty() && items.iter().all(truth) {
                    out.push(Type::Array { element: Box::new(Type::Bool), dims, strided: false });
                }
                // Pairs of numbers are complex ones.
                let pairs = items.len() == 2 * lens.iter().product::<usize>() && !items.is_empty();
                if pairs {
                    out.push(Type::Array { element: Box::new(Type::Complex(Ty::F)), dims, strided: false });
                }
                let mut elements: Vec<Type> = numbers(whole).into_iter().map(Type::Num).collect();
                elements.extend([Type::Bool, Type::Complex(Ty::F), Type::Tropical(Ty::F), Type::Log { signed: false }]);
                out.extend(elements.into_iter().map(|t| Type::Array { element: Box::new(t), dims, strided: false }));
            }
            Argument::Tuple(parts) => {
                if parts.len() == 2 {
                    out.push(Type::Complex(Ty::F));
                }
                let mut firsts = Vec::new();
                for p in parts {
                    let mut one = Vec::new();
                    self.guess(p, &mut one);
                    firsts.extend(one.into_iter().next());
                }
                if firsts.len() == parts.len() {
                    out.push(Type::Tuple(firsts));
                }
            }
        }
    }

    /// A struct whose annotation leaves its type argument open.
    fn guess_struct(&self, e: &ast::TypeExpr, v: &Argument, out: &mut Vec<Type>) {
        // Of an array, that of its elements.
        if let (Some(ast::TypeArg::Type(inner)), Argument::Array(lens, _)) = (e.args.first(), v) {
            let mut elements = Vec::new();
            self.guess_struct(inner, &Argument::Tuple(Vec::new()), &mut elements);
            let dims = lens.len() as u8;
            out.extend(elements.into_iter().map(|t| Type::Array { element: Box::new(t), dims, strided: false }));
            return;
        }
        let (Some(s), Argument::Tuple(_)) = (self.structs.get(&e.name.text), v) else { return };
        let pairs = |v: &Argument| matches!(v, Argument::Array(lens, items) if !items.is_empty() && items.len() == 2 * lens.iter().product::<usize>());
        let complex = matches!(v, Argument::Tuple(parts) if parts.iter().any(pairs)).then_some(Type::Complex(Ty::F));
        for ty in complex.into_iter().chain([Ty::F, Ty::Q, Ty::Int, Ty::L].map(Type::Num)) {
            let mut bound = HashMap::new();
            for p in &s.type_params {
                bound.insert(p.name.text.clone(), ty.clone());
            }
            let args = s
                .type_params
                .iter()
                .map(|p| ast::TypeArg::Type(ast::TypeExpr { name: p.name.clone(), args: Vec::new(), span: 0..0 }))
                .collect();
            let e = ast::TypeExpr { name: s.name.clone(), args, span: 0..0 };
            if let Ok(t) = super::names(&self.structs, &bound).resolve(&e) {
                out.push(t);
            }
        }
    }
}

/// The data symbols of an argument of a type, in the order of the parameter's words: what a run begins with. `name` is the parameter's.
///
/// # Errors
/// What is wrong with the value.
pub fn argument_data(name: &str, ty: &Type, value: Option<&Argument>, format: Format) -> Result<Vec<Data>, String> {
    let mut out = Vec::new();
    data(name, ty, value, format, &mut out)?;
    Ok(out)
}

fn data(name: &str, ty: &Type, value: Option<&Argument>, format: Format, out: &mut Vec<Data>) -> Result<(), String> {
    let wrong = |what: &str| format!("the argument `{name}` must be {ty}: {what}");
    let word_of = |n: &Number, ty: Ty| argument_word(n, ty, format).map_err(|why| wrong(&why));
    let parts = |v: &Argument| match v {
        Argument::Tuple(p) => Some(p.clone()),
        Argument::Number(_) | Argument::Array(..) => None,
    };
    match (ty, value) {
        (Type::Num(t) | Type::Tropical(t), Some(Argument::Number(n))) => {
            let value = word_of(n, *t)?;
            out.push(Data { name: data_name(name), kind: ArgumentKind::Word { ty: *t, value } });
        }
        (Type::Bool, Some(Argument::Number(Number::Text(t))))
            if t == "true" || t == "false" || t == "0" || t == "1" =>
        {
            let value = u64::from(t == "true" || t == "1");
            out.push(Data { name: data_name(name), kind: ArgumentKind::Word { ty: Ty::Int, value } });
        }
        // Truth values of a file.
        (Type::Bool, Some(Argument::Number(Number::Int(n @ (0 | 1))))) => {
            let kind = ArgumentKind::Word { ty: Ty::Int, value: n.cast_unsigned() };
            out.push(Data { name: data_name(name), kind });
        }
        (t @ Type::Log { signed }, Some(Argument::Number(n))) => {
            let (log, negative) = log_words(n, format).map_err(|why| wrong(&why))?;
            if negative && !signed {
                return Err(wrong("it is negative; `Logarithmic{Float64}` has a sign"));
            }
            let names = super::allocate::part_names(name, t);
            for (name, (ty, value)) in names.iter().zip([(Ty::F, log), (Ty::Int, u64::from(negative))]) {
                out.push(Data { name: data_name(name), kind: ArgumentKind::Word { ty, value } });
            }
        }
        (Type::Complex(t), Some(v)) => {
            let values = match (v, parts(v)) {
                (Argument::Number(n), _) => vec![n.clone(), Number::Int(0)],
                (_, Some(p)) if p.len() == 2 => {
                    p.iter().filter_map(|p| if let Argument::Number(n) = p { Some(n.clone()) } else { None }).collect()
                }
                _ => Vec::new(),
            };
            if values.len() != 2 {
                return Err(wrong("give two numbers in parentheses"));
            }
            for (part, n) in ["re", "im"].iter().zip(&values) {
                let kind = ArgumentKind::Word { ty: *t, value: word_of(n, *t)? };
                out.push(Data { name: data_name(&format!("{name}.{part}")), kind });
            }
        }
        (Type::Array { element, dims, .. }, Some(Argument::Array(lens, items))) => {
            let per = element.words().unwrap_or(1).unsigned_abs() as usize;
            let types = element.word_types();
            let Some(t) = types.first().copied().filter(|t| types.iter().all(|u| u == t)) else {
                return Err(wrong("arrays of structs with fields of several types cannot be given"));
            };
            let apart = parts_apart(lens, items, usize::from(*dims), per);
            let (lens, items) = apart.as_ref().map_or((&lens[..], &items[..]), |(lens, items)| (lens, items));
            if lens.len() != usize::from(*dims) {
                return Err(wrong(&format!("it has {}", plural(lens.len(), "dimension"))));
            }
            let count: usize = lens.iter().product();
            if items.len() != count && items.len() != count * per {
                let (numbers, elements) = (plural(items.len(), "number"), plural(count, "element"));
                return Err(wrong(&format!("{numbers} for {elements}")));
            }
            let mut words = Vec::with_capacity(count * per);
            let in_doubles = matches!(**element, Type::Log { .. });
            for n in items {
                if in_doubles {
                    let (log, negative) = log_words(n, format).map_err(|why| wrong(&why))?;
                    if negative {
                        return Err(wrong("an element is negative"));
                    }
                    words.push(log);
                    continue;
                }
                words.push(word_of(n, t)?);
                // Real numbers for complex elements.
                if items.len() == count {
                    words.extend(std::iter::repeat_n(0, per - 1));
                }
            }
            let lens = lens.iter().map(|n| *n as i64).collect();
            let own = if in_doubles { format!("{name}.log") } else { data_name(name) };
            out.push(Data { name: own, kind: ArgumentKind::Array { ty: t, words, lens } });
        }
        (Type::Struct(s), Some(v)) => {
            let p = parts(v).unwrap_or_default();
            if p.len() != s.fields.len() {
                let fields: Vec<&str> = s.fields.iter().map(|(f, _)| f.as_str()).collect();
                return Err(wrong(&format!("give its fields {} in parentheses", fields.join(", "))));
            }
            for ((f, t), v) in s.fields.iter().zip(&p) {
                data(&format!("{name}.{f}"), t, Some(v), format, out)?;
            }
        }
        (Type::Tuple(types), Some(v)) => {
            let p = parts(v).unwrap_or_default();
            for (n, (t, v)) in types.iter().zip(&p).enumerate() {
                data(&format!("{name}.{}", n + 1), t, Some(v), format, out)?;
            }
        }
        // Types alone: words that the user may set later.
        (t @ (Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. }), None) => {
            for (n, ty) in super::allocate::part_names(name, t).iter().zip(t.word_types()) {
                let value = if ty == Ty::L { log::ONE } else { 0 };
                out.push(Data { name: data_name(n), kind: ArgumentKind::Word { ty, value } });
            }
        }
        (Type::Array { .. }, None) => return Err(wrong("its lengths must be known: give it with `--args`")),
        (Type::Function(_), _) => return Err(wrong("a function cannot be given from outside")),
        (_, Some(_)) => return Err(wrong("this is a value of another kind")),
        (_, None) => return Err(wrong("it has no value")),
    }
    Ok(())
}

/// An array whose elements have several parts may be given with a dimension more, as files and JSON have it: the array by itself, its elements' parts
/// side by side.
fn parts_apart(lens: &[usize], items: &[Number], dims: usize, per: usize) -> Option<(Vec<usize>, Vec<Number>)> {
    let (last, lens) = lens.split_last()?;
    let count: usize = lens.iter().product();
    if lens.len() != dims || per < 2 || *last != per || items.len() != count * per {
        return None;
    }
    let elements = (0..count).flat_map(|at| (0..per).filter_map(move |part| items.get(at + part * count).cloned()));
    Some((lens.to_vec(), elements.collect()))
}

/// The logarithm of a number's magnitude as a double, and whether it is negative. `exp(…)` gives the logarithm itself.
fn log_words(n: &Number, format: Format) -> Result<(u64, bool), String> {
    if let Number::Text(t) = n {
        let (negative, rest) = t.strip_prefix('-').map_or((false, t.as_str()), |rest| (true, rest));
        if let Some(log) = rest.strip_prefix("exp(").and_then(|t| t.strip_suffix(')')) {
            let log = decimal::parse_f(log).map_err(|e| format!("`{t}`: {e}"))?;
            return Ok((log, negative));
        }
    }
    let word = argument_word(n, Ty::F, format)?;
    let x = f64::from_bits(word);
    let log = TableFn::F(f_fn::Name::Log);
    let env = Env { format, ..Env::default() };
    match pendula_isa::scalar::value(env, log, [x.abs().to_bits(), 0, 0]) {
        Ok(log) => Ok((log, x < 0.0)),
        Err(_) => Err(format!("the logarithm of {x} is no number")),
    }
}

fn argument_word(n: &Number, ty: Ty, format: Format) -> Result<u64, String> {
    let env = Env { format, ..Env::default() };
    let title = |e: pendula_isa::Fault| e.title().to_string();
    match (n, ty) {
        (Number::Text(t), Ty::Int) if t == "true" || t == "false" => Ok(u64::from(t == "true")),
        (Number::Text(t), Ty::Int) => {
            let t = t.replace('_', "");
            let parsed = t
                .strip_prefix("0x")
                .map_or_else(|| t.parse::<i64>().map(i64::cast_unsigned).ok(), |h| u64::from_str_radix(h, 16).ok());
            let whole = || {
                t.parse::<f64>()
                    .ok()
                    .filter(|x| x.fract() == 0.0 && x.abs() < 9.0e18)
                    .map(|x| (x as i64).cast_unsigned())
            };
            parsed.or_else(whole).ok_or_else(|| format!("`{t}` is no integer of 64 bits"))
        }
        (Number::Text(t), Ty::Q) => decimal::parse_q(t, format).map_err(|e| format!("`{t}`: {e}")),
        (Number::Text(t), Ty::L) => decimal::parse_l(t).map_err(|e| format!("`{t}`: {e}")),
        (Number::Text(t), Ty::F) => decimal::parse_f(t).map_err(|e| format!("`{t}`: {e}")),
        (Number::Int(k), Ty::Int) => Ok(k.cast_unsigned()),
        (Number::Int(k), Ty::Q) => convert::int_to_q(env, k.cast_unsigned()).map_err(title),
        (Number::Int(k), Ty::L) => convert::int_to_l(env, k.cast_unsigned()).map_err(title),
        (Number::Int(k), Ty::F) => Ok((*k as f64).to_bits()),
        (Number::Float(x), Ty::F) => Ok(x.to_bits()),
        (Number::Float(x), Ty::Int) if x.fract() == 0.0 && x.abs() < 9.0e18 => Ok((*x as i64).cast_unsigned()),
        (Number::Float(x), Ty::Int) => Err(format!("{x} is no integer")),
        (Number::Float(x), Ty::Q) => convert::f_to_q(env, x.to_bits()).map_err(title),
        (Number::Float(x), Ty::L) => convert::f_to_l(env, x.to_bits()).map_err(title),
    }
}

/// A name that the assembly has for data: not that of a register.
fn data_name(name: &str) -> String {
    if pendula_isa::Reg::parse(name).is_some() { format!("{name}$") } else { name.to_string() }
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

/// A number or a truth value, as it stands.
pub(super) fn literal(e: &ast::Expr) -> Option<super::value::Value> {
    use super::value::{Literal, ScalarExpr, Value};
    match &e.kind {
        ExprKind::Int(t) => Some(Value::Num(ScalarExpr::Lit(Literal::Int(t.parse().ok()?)), None)),
        ExprKind::Real(t) => Some(Value::Num(ScalarExpr::Lit(Literal::Real(t.clone())), None)),
        ExprKind::Bool(b) => Some(Value::Bool(ScalarExpr::Const(u64::from(*b)))),
        ExprKind::Unary(ast::Unary::Minus, a) => match literal(a)? {
            Value::Num(ScalarExpr::Lit(Literal::Int(n)), ty) => Some(Value::Num(ScalarExpr::Lit(Literal::Int(-n)), ty)),
            Value::Num(ScalarExpr::Lit(Literal::Real(t)), ty) => {
                Some(Value::Num(ScalarExpr::Lit(Literal::Real(format!("-{t}"))), ty))
            }
            _ => None,
        },
        _ => None,
    }
}
