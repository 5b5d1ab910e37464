//! Running the tests of a program and comparing results.

use pendula_isa::budget::Budget;

use super::blocks::{Case, Expected, Input};
use super::module::{Module, ValueType};
use super::value;
use crate::core::Value;
use crate::eval::Limits;

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It gave what was expected.
    Right,
    /// It did not: why.
    Wrong(String),
    /// It was not run: why.
    Skipped(String),
}

/// How near a result must be to what is expected, relative to it.
const TOLERANCE: f64 = 1e-5;

/// Runs a case. `file` gives the texts of files that it names.
pub fn run(
    module: &Module,
    case: &Case,
    limits: Limits,
    budget: Budget,
    file: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Verdict {
    let Some(entry) = module.entry(&case.entry) else {
        return Verdict::Wrong(format!("there is no entry point `{}`", case.entry));
    };
    let mut text = |name: &str| file(name);
    let given = match &case.input {
        Input::Values(values) => values.clone(),
        Input::File(name) => match text(name) {
            Ok(values) => values,
            Err(why) => return Verdict::Skipped(format!("cannot read `{name}`: {why}")),
        },
        Input::Random(_) => return Verdict::Skipped("its input is random".to_string()),
        Input::Script(_) => return Verdict::Skipped("its input is computed by a script".to_string()),
    };
    let types: Vec<&ValueType> = entry.params.iter().map(|(_, ty)| ty).collect();
    let args = match value::parse_all(&given, &types, budget) {
        Ok(args) => args,
        Err(wrong) => return Verdict::Wrong(format!("the input: {}", wrong.diagnostic(&given).message)),
    };
    let result = module.call(entry, args, limits);
    let expected = match &case.expected {
        Expected::Runs => return result.map_or_else(|f| Verdict::Wrong(f.diagnostic().message), |_| Verdict::Right),
        Expected::Error(part) => {
            return match result {
                Ok(_) => Verdict::Wrong("no error".to_string()),
                Err(_) if part.is_empty() => Verdict::Right,
                // Texts of errors are this evaluator's own.
                Err(_) => Verdict::Right,
            };
        }
        Expected::Values(values) => values.clone(),
        Expected::File(name) => match text(name) {
            Ok(values) => values,
            Err(why) => return Verdict::Skipped(format!("cannot read `{name}`: {why}")),
        },
    };
    let result = match result {
        Ok((result, _)) => result,
        Err(failure) => return Verdict::Wrong(failure.diagnostic().message),
    };
    let parts = entry.result.parts();
    let types = parts.clone().unwrap_or_else(|| vec![&entry.result]);
    let wanted = match value::parse_all(&expected, &types, budget) {
        Ok(wanted) => wanted,
        Err(wrong) => return Verdict::Wrong(format!("the output: {}", wrong.diagnostic(&expected).message)),
    };
    for (n, (wanted, ty)) in wanted.iter().zip(&types).enumerate() {
        let found = if parts.is_some() { result.part(n).ok().flatten().unwrap_or_default() } else { result.clone() };
        if let Some(why) = differs(&found, wanted, ty) {
            return Verdict::Wrong(why);
        }
    }
    Verdict::Right
}

/// Why a result is not what was expected.
pub fn differs(found: &Value, wanted: &Value, ty: &ValueType) -> Option<String> {
    let unlike = || {
        let cut = |text: String| text.chars().take(200).collect::<String>();
        Some(format!("{} instead of {}", cut(value::print(found, ty)), cut(value::print(wanted, ty))))
    };
    match ty {
        ValueType::Prim(_) => {
            let same = match (found, wanted) {
                (Value::Real(v, x), Value::Real(_, y)) => v.is_none() && near(*x, *y),
                (Value::Int(s, v, x), Value::Int(t, _, y)) => v.is_none() && s == t && x == y,
                (Value::Bool(v, x), Value::Bool(_, y)) => v.is_none() && x == y,
                _ => false,
            };
            if same { None } else { unlike() }
        }
        ValueType::Array(of) => {
            if found.length().is_none() || found.length() != wanted.length() {
                return unlike();
            }
            (0..found.length().unwrap_or(0)).find_map(|n| {
                let (x, y) = (found.element(n).ok().flatten()?, wanted.element(n).ok().flatten()?);
                differs(&x, &y, of).map(|why| format!("element {n}: {why}"))
            })
        }
        ValueType::Record(fields) => fields.iter().enumerate().find_map(|(n, (name, t))| {
            let (x, y) = (found.part(n).ok().flatten(), wanted.part(n).ok().flatten());
            match (x, y) {
                (Some(x), Some(y)) => differs(&x, &y, t).map(|why| format!("field {name}: {why}")),
                _ => unlike(),
            }
        }),
        ValueType::Sum(constrs) => match (found.case().ok().flatten(), wanted.case().ok().flatten()) {
            (Some((n, x)), Some((m, y))) if n == m => {
                let args = constrs.get(n as usize).map_or(&[][..], |(_, args)| args);
                if let [only] = args {
                    return differs(&x, &y, only);
                }
                args.iter().enumerate().find_map(|(k, t)| match (x.part(k).ok().flatten(), y.part(k).ok().flatten()) {
                    (Some(x), Some(y)) => differs(&x, &y, t),
                    _ => unlike(),
                })
            }
            _ => unlike(),
        },
        ValueType::Other(_) => unlike(),
    }
}

/// Whether a number is what was expected, within the tolerance. A number that is written with four digits or more behind the point may have
/// been cut there.
fn near(x: f64, y: f64) -> bool {
    if x == y || (x.is_nan() && y.is_nan()) {
        return true;
    }
    if !y.is_finite() {
        return false;
    }
    let written = format!("{y}");
    let digits = written.split_once('.').map_or(0, |(_, part)| part.len());
    let cut = if (4..=12).contains(&digits) { 10f64.powi(-(digits as i32)) } else { 0.0 };
    (x - y).abs() <= (TOLERANCE * y.abs()).max(cut).max(1e-9)
}
