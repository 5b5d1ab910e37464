//! Reads technology files: keys contain their units, every table has a source, and every error has a place.

mod energy;
mod nesting;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use pendula_isa::GateClass;
use pendula_isa::budget::{Budget, Exceeded, Resource};
use serde::Deserialize;
use toml::Spanned;

use super::Technology;
use super::quantity::{Figure, Figures, Quantity, Status};
use energy::energy;
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

type Number = Spanned<Quantity>;
type Text = Spanned<String>;

macro_rules! file {
    ($($key:ident: $Table:ident),* $(,)?) => {
        /// What a file says.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct File {
            name: Text,
            #[serde(default)]
            title: String,
            latency_cycles: Option<Spanned<BTreeMap<Spanned<String>, Spanned<toml::Value>>>>,
            $($key: Option<Spanned<$Table>>,)*
        }

        impl File {
            /// The tables of energies that are there.
            fn tables(&self) -> impl Iterator<Item = (&'static str, &dyn Sourced)> {
                let all = [$((stringify!($key), self.$key.as_ref().map(|t| t.get_ref() as &dyn Sourced)),)*];
                all.into_iter().filter_map(|(key, table)| Some((key, table?)))
            }

            /// Calls a function with the key of each number in these tables.
            fn each_figure(&mut self, f: &mut dyn FnMut(&str, &mut Number)) {
                $(self.$key.each(stringify!($key), f);)*
            }
        }
    };
}

file! {
    conditions: Conditions,
    ideal: OnlySource,
    operation_joule: OperationTable,
    adiabatic: AdiabaticTable,
    scaling: ScalingTable,
    gate_farad: CellTable,
    clock: ClockTable,
    junction: JunctionTable,
    cell_joule: CellJouleTable,
    datapath: DatapathTable,
    processor: ProcessorTable,
    memory: Memory,
    link: Link,
    erasure: ErasureTable,
    cooling: Cooling,
    area: AreaTable,
}

macro_rules! tables {
    ($( $Table:ident { $($field:ident: $Type:ty),* } )*) => {
        $(
            #[derive(Clone, Debug, PartialEq, Deserialize)]
            #[serde(deny_unknown_fields)]
            struct $Table {
                source: Text,
                status: Option<Status>,
                $($field: $Type,)*
            }

            impl Sourced for $Table {
                fn source(&self) -> &Text {
                    &self.source
                }

                fn status(&self) -> Option<Status> {
                    self.status
                }
            }

            impl Figures for Spanned<$Table> {
                #[allow(unused_variables, reason = "a table may have no figures")]
                fn each(&mut self, key: &str, f: &mut dyn FnMut(&str, &mut Number)) {
                    let table = self.get_mut();
                    $(table.$field.each(&format!("{key}.{}", stringify!($field)), f);)*
                }
            }
        )*
    };
}

/// A table that states where its figures come from.
trait Sourced {
    fn source(&self) -> &Text;

    /// How its figures are known, unless they say it themselves.
    fn status(&self) -> Option<Status>;
}

tables! {
    Conditions { temperature_kelvin: Number, lowest_hertz: Option<Number>, highest_hertz: Option<Number> }
    OnlySource {}
    OperationTable {
        int32_add: Number, int32_mul: Number, fp32_add: Number, fp32_mul: Number, level_second: Number,
        leakage_ratio: Number, clock_tree_ratio: Number
    }
    AdiabaticTable {
        discipline: Text, supply_volt: Number, time_constant_second: Number, leakage_ratio: Number,
        ticks_per_cycle: Number, ramp: Option<Text>, shortest_ramp_second: Option<Number>, held_ticks: Option<Number>,
        residual_volt: Option<Number>
    }
    ScalingTable {
        threshold_volt: Number, alpha: Number, subthreshold_slope: Number, threshold_volt_per_kelvin: Number,
        barrier_lowering: Number, leakage_floor: Number
    }
    CellTable {
        and: Option<Number>, xor: Option<Number>, majority: Option<Number>, latch: Option<Number>, buffer: Option<Number>,
        not: Option<Number>, cnot: Option<Number>, toffoli: Option<Number>, cswap: Option<Number>
    }
    ClockTable {
        ideal: Option<Spanned<bool>>, quality: Option<Number>, at_hertz: Option<Number>, exponent: Option<Number>,
        load_ratio: Option<Number>, driver_joule: Option<Number>, recovered_ratio: Option<Number>
    }
    JunctionTable {
        discipline: Text, joule: Number, at_hertz: Number, gate_junctions: Number, buffer_junctions: Number,
        lost_bits: Option<Number>
    }
    CellJouleTable {
        mapping: Text, at_hertz: Number, levels_per_cycle: Number, and: Option<Number>, xor: Option<Number>,
        majority: Option<Number>, latch: Option<Number>, buffer: Option<Number>, not: Option<Number>,
        cnot: Option<Number>, toffoli: Option<Number>, cswap: Option<Number>
    }
    DatapathTable { unrolled: Spanned<Vec<Text>>, iterative: Option<Spanned<Vec<Text>>>, idle_ratio: Number }
    ProcessorTable {
        fetch_joule: Option<Number>, decode_joule: Option<Number>, register_joule: Option<Number>,
        fetch_farad: Option<Number>, decode_farad: Option<Number>, register_farad: Option<Number>,
        fetch_junction: Option<Number>, decode_junction: Option<Number>, register_junction: Option<Number>,
        fetch_ticks: Number
    }
    Memory {
        size_byte: Spanned<Vec<Number>>, access_farad: Option<Spanned<Vec<Number>>>,
        access_joule: Option<Spanned<Vec<Number>>>, access_junction: Option<Spanned<Vec<Number>>>, scale: Option<Number>,
        access_ticks: Number
    }
    Link { joule_per_bit: Number }
    ErasureTable { landauer_factor: Option<Number>, latch_farad: Option<Number>, overwrite_ratio: Option<Number> }
    Cooling { watt_per_watt: Number }
    AreaTable {
        transistor_square_micrometre: Option<Number>, junction_square_micrometre: Option<Number>,
        memory_bit_square_micrometre: Number
    }
}

impl File {
    /// The figures of the tables of energies.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let table = |(key, table): (&'static str, &dyn Sourced)| {
            let source = table.source().get_ref().split_whitespace().collect::<Vec<_>>().join(" ");
            (key, (table.status(), source))
        };
        let defaults: BTreeMap<&str, (Option<Status>, String)> = self.tables().map(table).collect();
        let mut out = Vec::new();
        self.clone().each_figure(&mut |key, number| {
            let quantity = number.get_ref();
            let table = key.split('.').next().unwrap_or_default();
            let (status, source) = defaults.get(table).cloned().unwrap_or_default();
            let (low, high) = quantity.range.unwrap_or((quantity.nominal, quantity.nominal));
            out.push(Figure {
                key: key.to_string(),
                low,
                nominal: quantity.nominal,
                high,
                status: quantity.status.or(status).unwrap_or(Status::Assumed),
                source: quantity.source.clone().unwrap_or(source),
            });
        });
        out
    }

    /// The same file with other values for its figures, by their keys.
    fn with(&self, value: &dyn Fn(&str, f64) -> f64) -> File {
        let mut file = self.clone();
        file.each_figure(&mut |key, number| {
            let nominal = number.get_ref().nominal;
            number.get_mut().value = value(key, nominal);
        });
        file
    }

    /// Whether both ends of each range are as good as the value itself.
    fn check_ranges(&self, end: usize) -> Result<(), TechnologyError> {
        for figure in self.figures().iter().filter(|f| f.is_uncertain()) {
            for (name, value) in [("low", figure.low), ("high", figure.high)] {
                let other = self.with(&|key, nominal| if key == figure.key { value } else { nominal });
                if let Err(e) = energy(&other, end) {
                    return Err(TechnologyError {
                        message: format!("at the {name} end of its range: {}", e.message),
                        ..e
                    });
                }
            }
        }
        Ok(())
    }
}

fn error<T>(message: impl Into<String>, span: Range<usize>) -> Result<T, TechnologyError> {
    Err(TechnologyError { message: message.into(), span: Some(span), exceeded: None })
}

/// A number that is finite and positive.
fn positive(key: &str, n: &Number) -> Result<f64, TechnologyError> {
    let x = n.get_ref().value;
    if x.is_finite() && x > 0.0 {
        Ok(x)
    } else {
        error(format!("`{key}` must be above zero and finite, and is {x}"), n.span())
    }
}

/// A number that is finite and not negative.
fn not_negative(key: &str, n: &Number) -> Result<f64, TechnologyError> {
    let x = n.get_ref().value;
    if x.is_finite() && x >= 0.0 {
        Ok(x)
    } else {
        error(format!("`{key}` must not be negative or infinite, and is {x}"), n.span())
    }
}

fn within(key: &str, n: &Number, low: f64, high: f64) -> Result<f64, TechnologyError> {
    let x = n.get_ref().value;
    if (low..=high).contains(&x) {
        Ok(x)
    } else {
        error(format!("`{key}` must be from {low} to {high}, and is {x}"), n.span())
    }
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
        for (key, table) in file.tables() {
            record_source(key, table.source(), &mut sources)?;
        }
        let energy = energy(&file, text.len())?;
        file.check_ranges(text.len())?;
        if file.latency_cycles.is_none() && energy.is_none() {
            return error(
                "the file has neither latencies nor energies: it lacks a table `latency_cycles`, or one of `ideal`, `operation_joule`, `adiabatic`, `junction`, `cell_joule`",
                0..text.lines().next().map_or(0, str::len),
            );
        }
        Ok(Technology { name, title: file.title.clone(), sources, latency, latency_of, energy, file: Arc::new(file) })
    }
}

impl Technology {
    /// The figures behind its energies.
    pub fn figures(&self) -> Vec<Figure> {
        self.file.figures()
    }

    /// The same technology with other values for figures: `value` gets a figure's key and its nominal value.
    ///
    /// # Errors
    /// If a value is out of what the figure allows.
    pub fn with_figures(&self, value: &dyn Fn(&str, f64) -> f64) -> Result<Technology, TechnologyError> {
        let file = self.file.with(value);
        let energy = energy(&file, 0)?;
        Ok(Technology { energy, file: Arc::new(file), ..self.clone() })
    }
}

impl Technology {
    /// The same technology with the link of another.
    ///
    /// # Errors
    /// Never, since the links of both are valid.
    pub fn with_link_of(&self, other: &Technology) -> Result<Technology, TechnologyError> {
        let file = File { link: other.file.link.clone(), ..self.file.as_ref().clone() };
        let energy = energy(&file, 0)?;
        Ok(Technology { energy, file: Arc::new(file), ..self.clone() })
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
