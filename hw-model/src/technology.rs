//! Technologies: TOML files that say what each gate class costs.

use std::collections::BTreeMap;

use pendula_isa::counts::{Counts, ModeCounts};
use pendula_isa::{GateClass, Inst};
use serde::Deserialize;

/// What a machine is built from: so far, how many cycles each gate class takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Technology {
    name: String,
    source: String,
    latency: Vec<u64>,
}

/// What is wrong with a technology file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TechnologyError {
    /// What.
    pub message: String,
    /// Where in the file, in bytes.
    pub span: Option<std::ops::Range<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    latency_cycles: Latencies,
}

#[derive(Deserialize)]
struct Latencies {
    source: String,
    #[serde(flatten)]
    classes: BTreeMap<String, toml::Value>,
}

/// The text of the default technology.
const DEFAULT: &str = include_str!("../technologies/default.toml");

impl Technology {
    /// The technology that ships with Pendula.
    ///
    /// # Panics
    /// Never: a test parses the file.
    pub fn default_technology() -> Technology {
        Technology::parse(DEFAULT).expect("the default technology is valid")
    }

    /// Reads a technology file: `name`, and a table `latency_cycles` with a `source` and one whole number of cycles for
    /// every gate class.
    ///
    /// Errors: bad TOML, a class that is unknown or missing, a latency that is no whole number of cycles from 0 to 10^6, an empty source.
    pub fn parse(text: &str) -> Result<Technology, TechnologyError> {
        let file: File =
            toml::from_str(text).map_err(|e| TechnologyError { message: e.message().to_string(), span: e.span() })?;
        let at = |key: &str| {
            // Keys stand at the beginning of a line; good enough to point at one.
            text.lines()
                .scan(0, |start, line| {
                    let here = *start;
                    *start += line.len() + 1;
                    Some((here, line))
                })
                .find(|(_, line)| line.split('=').next().is_some_and(|k| k.trim() == key))
                .map(|(start, line)| start..start + line.len())
        };
        let error = |message: String, key: &str| TechnologyError { message, span: at(key) };
        if file.latency_cycles.source.trim().is_empty() {
            return Err(error("`source` must say where the latencies come from".to_string(), "source"));
        }
        let mut latency = vec![None; GateClass::ALL.len()];
        for (key, value) in &file.latency_cycles.classes {
            let class = GateClass::ALL.iter().find(|c| c.key() == key);
            let class = class.ok_or_else(|| error(format!("there is no gate class `{key}`"), key))?;
            let cycles = value.as_integer().and_then(|n| u64::try_from(n).ok()).filter(|n| *n <= 1_000_000);
            let cycles = cycles.ok_or_else(|| {
                error(format!("the latency of `{key}` must be a whole number of cycles from 0 to 1000000"), key)
            })?;
            latency[*class as usize] = Some(cycles);
        }
        let latency: Option<Vec<u64>> = latency.iter().copied().collect();
        let latency = latency.ok_or_else(|| {
            let missing: Vec<&str> = GateClass::ALL
                .iter()
                .map(|c| c.key())
                .filter(|k| !file.latency_cycles.classes.contains_key(*k))
                .collect();
            error(format!("`latency_cycles` lacks {}", missing.join(", ")), "[latency_cycles]")
        })?;
        Ok(Technology { name: file.name, source: file.latency_cycles.source, latency })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the latencies come from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Cycles that one use of a gate class takes.
    pub fn latency(&self, class: GateClass) -> u64 {
        self.latency[class as usize]
    }

    /// Cycles that one execution of an instruction takes: the sum over its gate classes.
    pub fn cycles_of(&self, inst: &Inst) -> u64 {
        inst.classes().map(|c| self.latency(c)).sum()
    }

    /// Cycles of everything that one mode executed.
    pub fn cycles_in(&self, counts: &Counts, mode: &ModeCounts, code: &[Inst]) -> u64 {
        counts
            .classes(mode, code)
            .into_iter()
            .map(|(class, n)| n.saturating_mul(self.latency(class)))
            .fold(0, u64::saturating_add)
    }

    /// Cycles of everything executed.
    pub fn cycles(&self, counts: &Counts, code: &[Inst]) -> u64 {
        counts.modes.iter().map(|m| self.cycles_in(counts, m, code)).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_every_class_and_a_source() {
        let t = Technology::default_technology();
        assert_eq!(t.latency(GateClass::Wire), 0);
        assert!(t.latency(GateClass::FixedMultiply) > t.latency(GateClass::Add));
        assert!(t.source().len() > 20);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (from, to, message, line) in [
            ("xor = 1", "xor = -1", "whole number", "xor = -1"),
            ("xor = 1", "xor = 1.5", "whole number", "xor = 1.5"),
            ("xor = 1", "xro = 1", "no gate class `xro`", "xro = 1"),
            ("name = \"default\"", "colour = 1\nname = \"x\"", "unknown field `colour`", "colour"),
            ("wire = 0\n", "", "lacks wire", "[latency_cycles]"),
        ] {
            let text = DEFAULT.replacen(from, to, 1);
            let e = Technology::parse(&text).unwrap_err();
            assert!(e.message.contains(message), "{}", e.message);
            assert_eq!(&text[e.span.unwrap()], line);
        }
        let start = DEFAULT.find("source").unwrap();
        let end = DEFAULT.find("wire").unwrap();
        let text = format!("{}{}", &DEFAULT[..start], &DEFAULT[end..]);
        assert!(Technology::parse(&text).unwrap_err().message.contains("missing field `source`"));
    }
}
