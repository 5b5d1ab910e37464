//! Janus. The results of a program are its variables.

use std::borrow::Cow;

use pendula_asm::assemble::Options;
use pendula_compiler::compile::{self, compile_janus};
use pendula_compiler::janus::store::{Shape, Variable};
use pendula_isa::Module;
use pendula_isa::types::Reg;
use pendula_vm::Machine;

use super::{Language, Names, Shown, Terms, has_line};
use crate::state::compiled::{Loaded, compiled};
use crate::state::names;
use crate::state::values::error::ValueError;
use crate::state::values::place::{Location, Place};

/// Janus.
pub(crate) struct Janus;

impl Language for Janus {
    fn name(&self) -> &'static str {
        "a program in Janus"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["janus", "ja"]
    }

    fn is_text(&self, text: &[u8]) -> bool {
        has_line(text, "procedure")
    }

    fn load(&self, name: &str, text: String, _: &Options, compiler: &compile::Options) -> Loaded {
        compiled(compile_janus(name, &text, compiler))
    }

    fn unformatted(&self) -> &'static str {
        "programs in Janus cannot be formatted"
    }

    fn has_gradients(&self) -> bool {
        false
    }

    fn find(&self, (module, store): Names<'_>, name: &str) -> Result<Place, ValueError> {
        let store = store.unwrap_or_default();
        let (base, indices) = name.split_at(name.find('[').unwrap_or(name.len()));
        let base = base.trim_end();
        let Some(v) = store.iter().find(|v| v.is_named(base)) else {
            let known = store.iter().take(20).map(Variable::head).collect();
            return Err(ValueError::NoVariable { name: base.to_string(), known });
        };
        let whole = place(module, v)?;
        if indices.is_empty() {
            return Ok(whole);
        }
        if v.shape == Shape::Stack {
            return Err(ValueError::OnStack(v.name.clone()));
        }
        // `[1][0]`: without the outer brackets, the indices are separated by the inner ones.
        let inner = indices.strip_prefix('[').and_then(|i| i.strip_suffix(']'));
        let numbers: Option<Vec<u64>> = inner.and_then(|i| i.split("][").map(|i| i.trim().parse().ok()).collect());
        let numbers = numbers.ok_or_else(|| ValueError::NoIndex(name.to_string()))?;
        let outside = || ValueError::Outside { name: name.to_string(), head: v.head() };
        let (part, before) = v.at(&numbers).ok_or_else(outside)?;
        let Location::Memory { start, len, .. } = whole.at else { return Err(outside()) };
        let own: u64 = part.dims().iter().product();
        let at = Location::Memory { start: start + before, len: own.min(len), array: !part.dims().is_empty() };
        Ok(Place { name: part.name.clone(), at, variable: Some(Box::new(part)), ..whole })
    }

    fn value<'v>(&self, place: &Place, value: &'v str) -> Cow<'v, str> {
        // The forms in which stacks and arrays are printed are accepted, too.
        match value.strip_prefix('<').and_then(|v| v.strip_suffix(']')) {
            Some(inner) if place.is_stack() => format!("[{inner}]").into(),
            None if place.is_stack() && value == "nil" => "[]".into(),
            _ if value.starts_with('{') => format!("[{}]", value.replace(['{', '}'], "")).into(),
            _ => value.into(),
        }
    }

    fn results(&self, (module, store): Names<'_>, _: bool) -> Vec<Place> {
        // Every variable has a data symbol.
        store.unwrap_or_default().iter().filter_map(|v| place(module, v).ok()).collect()
    }

    fn inputs(&self, names: Names<'_>, reverse: bool) -> Vec<Place> {
        self.results(names, reverse).into_iter().filter(|p| !p.is_stack()).collect()
    }

    fn shown(&self, names: Names<'_>, _: &Machine<'_>, _: &[u64; Reg::COUNT], reverse: bool) -> Shown {
        (self.results(names, reverse), Vec::new())
    }
}

/// How explanations speak of Janus.
pub(super) static TERMS: Terms = Terms {
    branches: ["the `then` branch", "the `else` branch"],
    branch: "the condition after `fi` must hold exactly when the condition after `if` held",
    turn: [
        "the condition after `from` must be true when the loop is entered, and false after each iteration",
        "in a run backward, the condition after `until` must be true when the loop is entered, and false after each iteration",
    ],
    ends: ["`delocal` gives", "run backward, it ends with what `local` gives,"],
    first: 0,
    comment: "//",
    brackets: ['{', '}'],
    array,
};

/// The rows in braces: `{{1, 2}, {3, 4}}`.
fn array(items: &[String], dims: &[u64], _: bool) -> Option<String> {
    let rest = dims.get(1..).filter(|rest| !rest.is_empty())?;
    let size = rest.iter().product::<u64>().max(1) as usize;
    let parts: Vec<String> = items.chunks(size).map(|part| format!("{{{}}}", part.join(", "))).collect();
    Some(format!("{{{}}}", parts.join(", ")))
}

fn place(module: &Module, v: &Variable) -> Result<Place, ValueError> {
    let data = names::find(module, &v.symbol)?;
    Ok(Place { name: v.name.clone(), range: v.range(), variable: Some(Box::new(v.clone())), ..data })
}
