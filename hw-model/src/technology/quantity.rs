//! Figures of technologies: a value, the range in which it may lie, how it is known, and from where.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use toml::Spanned;

/// How a figure is known. The later, the weaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Measured on silicon, or on another device that was built.
    Measured,
    /// Simulated with models of devices, or synthesised with a library of cells.
    Simulated,
    /// Computed from other figures: scaled, fitted, or the target of a design.
    Projected,
    /// Chosen, because no figure is known.
    Assumed,
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 4] = [Status::Measured, Status::Simulated, Status::Projected, Status::Assumed];

    /// The name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Measured => "measured",
            Status::Simulated => "simulated",
            Status::Projected => "projected",
            Status::Assumed => "assumed",
        }
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Status, D::Error> {
        let text = String::deserialize(deserializer)?;
        Status::ALL.into_iter().find(|s| s.name() == text).ok_or_else(|| {
            let all = Status::ALL.map(|s| format!("`{}`", s.name()));
            de::Error::custom(format!("a status is {}, and not `{text}`", all.join(", ")))
        })
    }
}

/// A number in a file: a plain one, or a table with a range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    /// The value that is used: the nominal one, unless another is asked for.
    pub(super) value: f64,
    pub(super) nominal: f64,
    pub(super) range: Option<(f64, f64)>,
    pub(super) status: Option<Status>,
    pub(super) source: Option<String>,
}

impl Quantity {
    pub(super) const fn plain(value: f64) -> Quantity {
        Quantity { value, nominal: value, range: None, status: None, source: None }
    }
}

/// The keys of a number that is a table.
const KEYS: &[&str] = &["low", "nominal", "high", "status", "source"];

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("f64")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Quantity, E> {
                Ok(Quantity::plain(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Quantity, E> {
                Ok(Quantity::plain(value as f64))
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Quantity, M::Error> {
                let (mut low, mut nominal, mut high): (Option<f64>, Option<f64>, Option<f64>) = (None, None, None);
                let (mut status, mut source) = (None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "low" => low = Some(map.next_value()?),
                        "nominal" => nominal = Some(map.next_value()?),
                        "high" => high = Some(map.next_value()?),
                        "status" => status = Some(map.next_value()?),
                        "source" => source = Some(map.next_value()?),
                        _ => return Err(de::Error::unknown_field(&key, KEYS)),
                    }
                }
                let nominal =
                    nominal.ok_or_else(|| de::Error::custom("a figure with a range has a `nominal` value"))?;
                let range = match (low, high) {
                    (None, None) => None,
                    (Some(low), Some(high)) if low <= nominal && nominal <= high => Some((low, high)),
                    (Some(low), Some(high)) => {
                        let message = format!("a figure lies in its range: {nominal} is not from {low} to {high}");
                        return Err(de::Error::custom(message));
                    }
                    (Some(_), None) => return Err(de::Error::custom("a range has a `high` end, too")),
                    (None, Some(_)) => return Err(de::Error::custom("a range has a `low` end, too")),
                };
                Ok(Quantity { value: nominal, nominal, range, status, source })
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A part of a file that may hold numbers.
pub(super) trait Figures {
    /// Calls a function with the key of each number.
    fn each(&mut self, key: &str, f: &mut dyn FnMut(&str, &mut Spanned<Quantity>));
}

impl Figures for Spanned<Quantity> {
    fn each(&mut self, key: &str, f: &mut dyn FnMut(&str, &mut Spanned<Quantity>)) {
        f(key, self);
    }
}

impl<T: Figures> Figures for Option<T> {
    fn each(&mut self, key: &str, f: &mut dyn FnMut(&str, &mut Spanned<Quantity>)) {
        if let Some(inner) = self {
            inner.each(key, f);
        }
    }
}

impl<T: Figures> Figures for Spanned<Vec<T>> {
    fn each(&mut self, key: &str, f: &mut dyn FnMut(&str, &mut Spanned<Quantity>)) {
        for (n, one) in self.get_mut().iter_mut().enumerate() {
            one.each(&format!("{key}[{n}]"), f);
        }
    }
}

impl Figures for Spanned<String> {
    fn each(&mut self, _: &str, _: &mut dyn FnMut(&str, &mut Spanned<Quantity>)) {}
}

impl Figures for Spanned<bool> {
    fn each(&mut self, _: &str, _: &mut dyn FnMut(&str, &mut Spanned<Quantity>)) {}
}

/// A figure of a technology.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its table and key, such as `adiabatic.leakage_ratio`.
    pub key: String,
    /// The low end of its range; the nominal value if it has none.
    pub low: f64,
    /// The value that is used, the median of what it may be.
    pub nominal: f64,
    /// The high end of its range.
    pub high: f64,
    /// How it is known.
    pub status: Status,
    /// Where it comes from.
    pub source: String,
}

impl Figure {
    /// Whether it has a range.
    pub fn is_uncertain(&self) -> bool {
        self.low < self.high
    }

    /// The value below which it lies with this probability: of two log-uniform pieces, one below the nominal value and one above it, with equal
    /// weights. A piece that begins at zero is uniform.
    pub fn quantile(&self, u: f64) -> f64 {
        let (from, to, part) =
            if u < 0.5 { (self.low, self.nominal, 2.0 * u) } else { (self.nominal, self.high, 2.0 * u - 1.0) };
        if from > 0.0 { from * (to / from).powf(part) } else { from + (to - from) * part }
    }
}
