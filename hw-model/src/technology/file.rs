//! Reads technology files: keys contain their units, every table has a source, and every error has a place.

mod nesting;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use pendula_isa::GateClass;
use pendula_isa::budget::{Budget, Exceeded, Resource};
use serde::Deserialize;
use toml::Spanned;

use super::{Clock, Energy, Logic, MemoryTable, Operations, PerGate, Technology};
use crate::physics::{Adiabatic, Ramp, Scaling};
use nesting::nested;

/// An error in a technology file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TechnologyError {
    /// The message.
    pub message: String,
    /// Where in the file, in bytes.
    pub span: Option<Range<usize>>,
    /// The budget that is exceeded, if that is the error.
    pub exceeded: Option<Box<Exceeded>>,
}

/// The maximum nesting of tables and lists: the TOML reader is recursive, and counts some levels twice.
const MAX_NESTING: u32 = 30;

type Number = Spanned<f64>;
type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Text,
    #[serde(default)]
    title: String,
    latency_cycles: Option<Spanned<BTreeMap<Spanned<String>, Spanned<toml::Value>>>>,
    conditions: Option<Spanned<Conditions>>,
    ideal: Option<Spanned<OnlySource>>,
    adiabatic: Option<Spanned<AdiabaticTable>>,
    gate_farad: Option<Spanned<Gates>>,
    clock: Option<Spanned<ClockTable>>,
    operation_joule: Option<Spanned<OperationTable>>,
    junction: Option<Spanned<Junction>>,
    memory: Option<Spanned<Memory>>,
    link: Option<Spanned<Link>>,
    erasure: Option<Spanned<Erasure>>,
    cooling: Option<Spanned<Cooling>>,
}

macro_rules! tables {
    ($( $Table:ident { $($field:ident: $Type:ty),* } )*) => {
        $(
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct $Table {
                source: Text,
                $($field: $Type,)*
            }

            impl Sourced for $Table {
                fn source(&self) -> &Text {
                    &self.source
                }
            }
        )*
    };
}

/// A table that states where its figures come from.
trait Sourced {
    fn source(&self) -> &Text;
}

tables! {
    Conditions { temperature_kelvin: Number }
    OnlySource {}
    AdiabaticTable {
        supply_volt: Number, time_constant_second: Number, leakage_ratio: Number, ticks_per_operation: Number,
        powered_ratio: Option<Number>, ramp: Option<Text>, threshold_volt: Option<Number>, alpha: Option<Number>
    }
    Gates { not: Number, cnot: Number, toffoli: Number, cswap: Number }
    ClockTable { quality: Option<Number>, recovered_ratio: Option<Number> }
    OperationTable { int32_add: Number, int32_mul: Number, fp32_add: Number, fp32_mul: Number }
    Junction { joule: Number, at_hertz: Number, per_gate: Number }
    Memory { size_byte: Spanned<Vec<Number>>, access_farad: Option<Spanned<Vec<Number>>>, access_joule: Option<Spanned<Vec<Number>>> }
    Link { joule_per_bit: Number }
    Erasure { landauer_factor: Number, overwrite_ratio: Option<Number> }
    Cooling { watt_per_watt: Number }
}

fn error<T>(message: impl Into<String>, span: Range<usize>) -> Result<T, TechnologyError> {
    Err(TechnologyError { message: message.into(), span: Some(span), exceeded: None })
}

/// A number that is finite and positive.
fn positive(key: &str, n: &Number) -> Result<f64, TechnologyError> {
    let x = *n.get_ref();
    if x.is_finite() && x > 0.0 {
        Ok(x)
    } else {
        error(format!("`{key}` must be above zero and finite, and is {x}"), n.span())
    }
}

/// A number that is finite and not negative.
fn not_negative(key: &str, n: &Number) -> Result<f64, TechnologyError> {
    let x = *n.get_ref();
    if x.is_finite() && x >= 0.0 {
        Ok(x)
    } else {
        error(format!("`{key}` must not be negative or infinite, and is {x}"), n.span())
    }
}

fn within(key: &str, n: &Number, low: f64, high: f64) -> Result<f64, TechnologyError> {
    let x = *n.get_ref();
    if (low..=high).contains(&x) {
        Ok(x)
    } else {
        error(format!("`{key}` must be from {low} to {high}, and is {x}"), n.span())
    }
}

/// A table; its source is added to `sources`.
fn table<'a, T: Sourced>(
    key: &str,
    found: Option<&'a Spanned<T>>,
    sources: &mut Vec<(String, String)>,
) -> Result<Option<&'a T>, TechnologyError> {
    let Some(table) = found else { return Ok(None) };
    let source = table.get_ref().source();
    record_source(key, source, sources)?;
    Ok(Some(table.get_ref()))
}

fn record_source(key: &str, source: &Text, sources: &mut Vec<(String, String)>) -> Result<(), TechnologyError> {
    let text = source.get_ref().split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return error(format!("`source` must say where the figures of `{key}` come from"), source.span());
    }
    sources.push((key.to_string(), text));
    Ok(())
}

impl Technology {
    /// Reads a technology file; the documentation has a chapter on the format.
    ///
    /// # Errors
    /// Invalid TOML; unknown and missing keys; figures out of range; a table without a source; inconsistent parts.
    pub fn parse(text: &str) -> Result<Technology, TechnologyError> {
        Technology::parse_within(text, &Budget::default())
    }

    /// The maximum size of a technology file.
    pub const BYTES: u64 = 1 << 20;

    /// The same, within a budget.
    ///
    /// # Errors
    /// Those of [`Technology::parse`]; text that is larger than the budget or [`Technology::BYTES`] allows; tables and
    /// lists that are nested too deep.
    pub fn parse_within(text: &str, budget: &Budget) -> Result<Technology, TechnologyError> {
        let bytes = budget.bytes.min(Technology::BYTES);
        Resource::Bytes
            .within(bytes, text.len() as u64, || "the technology".to_string())
            .map_err(|e| budget_error(e, 0..0))?;
        nested(text, &budget.at_most(MAX_NESTING, u32::MAX))?;
        let file: File = toml::from_str(text).map_err(|e| toml_error(&e))?;
        if file.name.get_ref().trim().is_empty() {
            return error("`name` is empty", file.name.span());
        }
        let mut sources = Vec::new();
        let name = file.name.get_ref().clone();
        let (latency, latency_of) = match &file.latency_cycles {
            Some(table) => (latencies(table, &mut sources)?, name.clone()),
            None => {
                let default = Technology::default_technology();
                (default.latency, default.name)
            }
        };
        let energy = energy(&file, text.len(), &mut sources)?;
        if file.latency_cycles.is_none() && energy.is_none() {
            return error(
                "the file has neither latencies nor energies: it lacks a table `latency_cycles`, or one of `ideal`, `adiabatic`, `operation_joule`, `junction`",
                0..text.lines().next().map_or(0, str::len),
            );
        }
        Ok(Technology { name, title: file.title, sources, latency, latency_of, energy })
    }
}

fn budget_error(exceeded: Exceeded, span: Range<usize>) -> TechnologyError {
    let exceeded = exceeded.instead("a technology has tables of numbers, and lists of numbers in them");
    TechnologyError { message: exceeded.to_string(), span: Some(span), exceeded: Some(Box::new(exceeded)) }
}

/// An error that the TOML reader found, with a better message if a unit may be the problem.
fn toml_error(e: &toml::de::Error) -> TechnologyError {
    let mut message = e.message().to_string();
    if let Some(key) = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next()) {
        // `supply_mV` instead of `supply_volt`: keys contain their units, and there is one key for each quantity.
        let stem = key.split('_').next().unwrap_or(key);
        let known: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
        if let Some(near) = known.iter().find(|k| k.split('_').next() == Some(stem)) {
            message = format!("there is no key `{key}`; `{near}` has its unit in its name");
        } else {
            let all = known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
            message = format!("there is no key `{key}`; there are {all}");
        }
    } else if let Some((found, expected)) =
        message.strip_prefix("invalid type: ").and_then(|m| m.split_once(", expected "))
    {
        // The reader's message would name Rust types.
        message = match expected {
            "f64" if found.starts_with("string") => {
                format!("expected a number without its unit, which is part of the key, but found the {found}")
            }
            "f64" => format!("a number is expected, not the {found}"),
            "a string" => format!("a text is expected, not the {found}"),
            "a sequence" => format!("a list of numbers is expected, not the {found}"),
            _ => format!("a table is expected, not the {found}"),
        };
    }
    TechnologyError { message, span: e.span(), exceeded: None }
}

/// One whole number of cycles for every gate class.
fn latencies(
    table: &Spanned<BTreeMap<Spanned<String>, Spanned<toml::Value>>>,
    sources: &mut Vec<(String, String)>,
) -> Result<Vec<u64>, TechnologyError> {
    let mut latency = vec![None; GateClass::ALL.len()];
    let mut sourced = false;
    for (key, value) in table.get_ref() {
        if key.get_ref() == "source" {
            let text = value.get_ref().as_str().unwrap_or_default().to_string();
            record_source("latency_cycles", &Spanned::new(value.span(), text), sources)?;
            sourced = true;
            continue;
        }
        let Some(class) = GateClass::ALL.iter().find(|c| c.key() == key.get_ref()) else {
            return error(format!("there is no gate class `{}`", key.get_ref()), key.span());
        };
        let cycles = value.get_ref().as_integer().and_then(|n| u64::try_from(n).ok()).filter(|n| *n <= 1_000_000);
        let Some(cycles) = cycles else {
            let message = format!("the latency of `{class}` must be a whole number of cycles from 0 to 1000000");
            return error(message, value.span());
        };
        latency[*class as usize] = Some(cycles);
    }
    if !sourced {
        return error("`latency_cycles` has no `source`", table.span());
    }
    let missing: Vec<&str> =
        GateClass::ALL.iter().filter(|c| latency[**c as usize].is_none()).map(|c| c.key()).collect();
    if !missing.is_empty() {
        return error(format!("`latency_cycles` lacks {}", missing.join(", ")), table.span());
    }
    Ok(latency.into_iter().flatten().collect())
}

fn energy(file: &File, end: usize, sources: &mut Vec<(String, String)>) -> Result<Option<Energy>, TechnologyError> {
    let conditions = table("conditions", file.conditions.as_ref(), sources)?;
    let ideal = table("ideal", file.ideal.as_ref(), sources)?;
    let adiabatic = table("adiabatic", file.adiabatic.as_ref(), sources)?;
    let gates = table("gate_farad", file.gate_farad.as_ref(), sources)?;
    let clock = table("clock", file.clock.as_ref(), sources)?;
    let operations = table("operation_joule", file.operation_joule.as_ref(), sources)?;
    let junction = table("junction", file.junction.as_ref(), sources)?;
    let memory = table("memory", file.memory.as_ref(), sources)?;
    let link = table("link", file.link.as_ref(), sources)?;
    let erasure = table("erasure", file.erasure.as_ref(), sources)?;
    let cooling = table("cooling", file.cooling.as_ref(), sources)?;

    // One kind of logic, and its tables.
    let kinds = [
        ("ideal", file.ideal.as_ref().map(Spanned::span)),
        ("adiabatic", file.adiabatic.as_ref().map(Spanned::span)),
        ("operation_joule", file.operation_joule.as_ref().map(Spanned::span)),
        ("junction", file.junction.as_ref().map(Spanned::span)),
    ];
    let mut there: Vec<_> = kinds.iter().filter_map(|(key, span)| span.clone().map(|s| (*key, s))).collect();
    there.sort_by_key(|(_, span)| span.start);
    let mut there = there.into_iter();
    let kind = there.next();
    if let (Some((first, _)), Some((second, span))) = (&kind, there.next()) {
        return error(format!("a technology is of one kind: it has `{first}` and `{second}`"), span);
    }
    let belongs = [
        ("gate_farad", file.gate_farad.as_ref().map(Spanned::span), "adiabatic"),
        ("clock", file.clock.as_ref().map(Spanned::span), "adiabatic"),
    ];
    for (key, span, required) in belongs {
        if let Some(span) = span
            && kind.as_ref().map(|(k, _)| *k) != Some(required)
        {
            return error(format!("`{key}` is of use only beside `{required}`"), span);
        }
    }
    let rest = [
        ("conditions", file.conditions.as_ref().map(Spanned::span)),
        ("memory", file.memory.as_ref().map(Spanned::span)),
        ("link", file.link.as_ref().map(Spanned::span)),
        ("erasure", file.erasure.as_ref().map(Spanned::span)),
        ("cooling", file.cooling.as_ref().map(Spanned::span)),
    ];
    let Some((kind, place)) = kind else {
        if let Some((key, Some(span))) = rest.iter().find(|(_, span)| span.is_some()) {
            let message = format!(
                "`{key}` is there, but no table that says how gates are made: `ideal`, `adiabatic`, `operation_joule` or `junction`"
            );
            return error(message, span.clone());
        }
        return Ok(None);
    };
    let lacks = |key: &str| error(format!("`{kind}` wants a table `{key}` beside it"), place.clone());
    let logic = if let Some(table) = adiabatic {
        let Some(gates) = gates else { return lacks("gate_farad") };
        Logic::Adiabatic {
            physics: physics(table)?,
            farad: PerGate {
                not: positive("not", &gates.not)?,
                cnot: positive("cnot", &gates.cnot)?,
                toffoli: positive("toffoli", &gates.toffoli)?,
                cswap: positive("cswap", &gates.cswap)?,
            },
            clock: clock.map(|t| clock_of(t, file.clock.as_ref().map_or(0..end, Spanned::span))).transpose()?,
        }
    } else if let Some(table) = operations {
        Logic::Irreversible(Operations {
            int32_add: positive("int32_add", &table.int32_add)?,
            int32_mul: positive("int32_mul", &table.int32_mul)?,
            fp32_add: positive("fp32_add", &table.fp32_add)?,
            fp32_mul: positive("fp32_mul", &table.fp32_mul)?,
        })
    } else if let Some(table) = junction {
        Logic::Superconducting {
            junction: positive("joule", &table.joule)?,
            hertz: positive("at_hertz", &table.at_hertz)?,
            junctions: positive("per_gate", &table.per_gate)?,
        }
    } else {
        let _ = ideal;
        Logic::Ideal
    };
    if let (Some(span), Logic::Ideal) = (file.memory.as_ref().map(Spanned::span), &logic) {
        return error("`memory` is of no use beside `ideal`, where accesses cost nothing", span);
    }
    let Some(conditions) = conditions else { return lacks("conditions") };
    let Some(link) = link else { return lacks("link") };
    let Some(erasure) = erasure else { return lacks("erasure") };
    let overwrite = erasure.overwrite_ratio.as_ref().map(|n| within("overwrite_ratio", n, 0.0, 1.0)).transpose()?;
    Ok(Some(Energy {
        kelvin: within("temperature_kelvin", &conditions.temperature_kelvin, 0.01, 1000.0)?,
        memory: memory.map(|table| memory_of(table, &logic)).transpose()?,
        logic,
        link: not_negative("joule_per_bit", &link.joule_per_bit)?,
        erasure_factor: within("landauer_factor", &erasure.landauer_factor, 1.0, 1e9)?,
        overwrite: overwrite.unwrap_or(1.0),
        cooling: cooling.map(|t| not_negative("watt_per_watt", &t.watt_per_watt)).transpose()?.unwrap_or(0.0),
    }))
}

fn physics(table: &AdiabaticTable) -> Result<Adiabatic, TechnologyError> {
    let volt = within("supply_volt", &table.supply_volt, 1e-3, 100.0)?;
    let ramp = match table.ramp.as_ref().map(|t| (t.get_ref().as_str(), t.span())) {
        None | Some(("linear", _)) => Ramp::Linear,
        Some(("sine", _)) => Ramp::Sine,
        Some((other, span)) => return error(format!("`ramp` is `linear` or `sine`, and not `{other}`"), span),
    };
    let scaling = match (&table.threshold_volt, &table.alpha) {
        (None, None) => None,
        (Some(threshold), Some(alpha)) => {
            let at = threshold.span();
            let threshold = positive("threshold_volt", threshold)?;
            if threshold >= volt {
                return error(format!("`threshold_volt` must be below `supply_volt`, {volt}"), at);
            }
            Some(Scaling { threshold, alpha: within("alpha", alpha, 1.0, 2.0)? })
        }
        (Some(one), None) => return error("`threshold_volt` wants `alpha` beside it", one.span()),
        (None, Some(one)) => return error("`alpha` wants `threshold_volt` beside it", one.span()),
    };
    Ok(Adiabatic {
        volt,
        time_constant: positive("time_constant_second", &table.time_constant_second)?,
        leakage: within("leakage_ratio", &table.leakage_ratio, 1e-30, 0.01)?,
        ticks: within("ticks_per_operation", &table.ticks_per_operation, 1.0, 1e6)?,
        powered: table.powered_ratio.as_ref().map(|n| within("powered_ratio", n, 1.0, 1e6)).transpose()?.unwrap_or(1.0),
        ramp,
        scaling,
    })
}

fn clock_of(table: &ClockTable, span: Range<usize>) -> Result<Clock, TechnologyError> {
    match (&table.quality, &table.recovered_ratio) {
        (Some(q), None) => Ok(Clock::Quality(positive("quality", q)?)),
        (None, Some(r)) => Ok(Clock::Recovered(within("recovered_ratio", r, 0.0, 1.0)?)),
        (None, None) => error("`clock` wants `quality` or `recovered_ratio`", span),
        (Some(_), Some(r)) => error("`clock` takes `quality` or `recovered_ratio`, not both", r.span()),
    }
}

fn memory_of(table: &Memory, logic: &Logic) -> Result<MemoryTable, TechnologyError> {
    let (key, figures) = match (logic, &table.access_farad, &table.access_joule) {
        (Logic::Adiabatic { .. }, Some(figures), None) => ("access_farad", figures),
        (Logic::Adiabatic { .. }, _, Some(wrong)) => {
            return error("adiabatic logic has its memory in farads: `access_farad`", wrong.span());
        }
        (_, None, Some(figures)) => ("access_joule", figures),
        (_, Some(wrong), _) => return error("this logic has its memory in joules: `access_joule`", wrong.span()),
        (_, None, None) => {
            return error("`memory` lacks what an access costs", table.size_byte.span());
        }
    };
    let sizes = table.size_byte.get_ref();
    if sizes.is_empty() || sizes.len() != figures.get_ref().len() {
        let message = format!("`{key}` must have as many figures as `size_byte` has sizes, {}", sizes.len());
        return error(message, figures.span());
    }
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (size, figure) in sizes.iter().zip(figures.get_ref()) {
        let bytes = positive("size_byte", size)?;
        if out.last().is_some_and(|(last, _)| *last >= bytes) {
            return error("the sizes must rise", size.span());
        }
        out.push((bytes, positive(key, figure)?));
    }
    Ok(MemoryTable { sizes: out })
}
