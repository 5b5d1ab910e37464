//! `pendula lab sweep`: how a gain depends on a parameter.

use std::fmt::Write as _;

use anyhow::{Context as _, bail, ensure};
use pendula::hw_model::Technology;
use pendula::hw_model::price::{Activity, Conditions, Device, Phase, Totals, billed_memory};
use pendula::hw_model::report::svg::{Gain, gains};
use pendula::hw_model::units::si;
use pendula::report::{Reporter, print, print_exact};
use serde_json::{Map, Value, json};

use super::subject::{subjects, technologies};
use super::tried::{Settled, change, settle};
use crate::cli::args::LabSweep;
use crate::cli::output::write_file;
use crate::cli::report::answer::{answer, finished};
use crate::cli::report::columns::{left, right};
use crate::cli::report::energy_run::fitting;
use crate::cli::status::Status;

/// The most points of a sweep.
const POINTS: usize = 1000;

/// What varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameter {
    Frequency,
    Voltage,
    Width,
    Fraction,
}

impl Parameter {
    const ALL: [Parameter; 4] = [Parameter::Frequency, Parameter::Voltage, Parameter::Width, Parameter::Fraction];

    const fn name(self) -> &'static str {
        match self {
            Parameter::Frequency => "frequency",
            Parameter::Voltage => "voltage",
            Parameter::Width => "width",
            Parameter::Fraction => "frac",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Parameter::Frequency => "Frequency (Hz)",
            Parameter::Voltage => "Voltage (V)",
            Parameter::Width => "Bits of a word",
            Parameter::Fraction => "Fraction bits of a fixed-point number",
        }
    }

    /// The conditions with another value.
    fn set(self, conditions: Conditions, value: f64) -> Conditions {
        match self {
            Parameter::Frequency => Conditions { hertz: Some(value), ..conditions },
            Parameter::Voltage => Conditions { volt: Some(value), ..conditions },
            Parameter::Width => {
                let width = value as u32;
                Conditions { width, frac: conditions.frac.min(width / 2), ..conditions }
            }
            Parameter::Fraction => Conditions { frac: value as u32, ..conditions },
        }
    }
}

/// Parses `frequency=1e5..1e9:9`, `width=8..64:8`.
fn parse(text: &str) -> anyhow::Result<(Parameter, Vec<f64>)> {
    let form = || {
        format!(
            "--over {text}: the form is `frequency=1e5..1e9:9`, `voltage=0.4..1:7`, `width=16..64:4` or `frac=8..32:4`"
        )
    };
    let (what, range) = text.split_once('=').with_context(form)?;
    let Some(parameter) = Parameter::ALL.into_iter().find(|p| p.name() == what.trim()) else { bail!(form()) };
    let (low, rest) = range.split_once("..").with_context(form)?;
    let (high, points) = rest.split_once(':').with_context(form)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| (1e-3..=1e18).contains(x));
    let (low, high) = (number(low).with_context(form)?, number(high).with_context(form)?);
    let points: usize = points.trim().parse().with_context(form)?;
    ensure!(low < high, "--over {text}: the range must rise");
    ensure!((2..=POINTS).contains(&points), "--over {text}: from 2 to {POINTS} points");
    let whole = matches!(parameter, Parameter::Width | Parameter::Fraction);
    ensure!(!whole || (2.0..=64.0).contains(&low) && high <= 64.0, "--over {text}: from 2 to 64 bits");
    let at = |n: usize| {
        let part = n as f64 / (points - 1) as f64;
        match parameter {
            Parameter::Frequency => low * (high / low).powf(part),
            Parameter::Voltage => low + (high - low) * part,
            Parameter::Width | Parameter::Fraction => (low + (high - low) * part).round(),
        }
    };
    let mut values: Vec<f64> = (0..points).map(at).collect();
    values.dedup();
    Ok((parameter, values))
}

/// A point: the value, and the energy at the plug before and after; `None` where the technology has none.
type Points = Vec<(f64, Option<[f64; 2]>)>;

pub(super) fn run(args: &LabSweep, reporter: &Reporter) -> anyhow::Result<Status> {
    ensure!(!args.isa.isa.is_empty(), "name a file of definitions: --isa FILE");
    let (parameter, values) = parse(&args.over)?;
    let technologies = technologies(&args.programs.tech)?;
    let subjects = subjects(args.sources.each(), Some(&args.isa), &args.programs, reporter)?;
    let ([mut before, mut after], mut words, mut frac) = ([Totals::default(), Totals::default()], 0, 0);
    for subject in &subjects {
        let known = args.isa.read(subject.module.flags.format, reporter)?;
        let Settled { with, compared, .. } = settle(subject, &known.definitions, &args.programs.given)?;
        if let Some(differs) = compared.differs {
            bail!("{} and the rewritten program differ: {differs}; `lab try` says more", subject.name);
        }
        let [one, other] = compared.counts;
        before.add(&Totals::new(&subject.module, &[Activity::new(Phase::Forward, one)]));
        after.add(&Totals::new(&with.module, &[Activity::new(Phase::Forward, other)]));
        words = words.max(subject.module.data.len() as u64 + 64);
        frac = frac.max(subject.module.flags.format.frac().min(subject.module.flags.profile.width() / 2));
    }
    let width = subjects.first().map_or(64, |s| s.module.flags.profile.width());
    let base = Conditions { hertz: None, volt: None, kelvin: None, memory_words: billed_memory(words), frac, width };
    let all: Vec<(&Technology, Points)> = technologies
        .iter()
        .map(|technology| {
            let price = |value: f64, totals: &Totals| {
                let asked = parameter.set(base, value);
                let conditions =
                    if parameter == Parameter::Frequency { fitting(technology, asked, true) } else { asked };
                let device = Device::for_run(technology, conditions, totals).ok()?;
                Some(device.total(totals).total() * device.plug())
            };
            let point = |value: &f64| (*value, price(*value, &before).zip(price(*value, &after)).map(|(a, b)| [a, b]));
            (technology, values.iter().map(point).collect())
        })
        .collect();
    if let Some(path) = &args.svg {
        let curve = |(technology, points): &(&Technology, Points)| Gain {
            name: technology.name().to_string(),
            points: points
                .iter()
                .filter_map(|(x, e)| e.filter(|[a, _]| *a > 0.0).map(|[a, b]| (*x, 100.0 * (b / a - 1.0))))
                .collect(),
        };
        let curves: Vec<Gain> = all.iter().map(curve).filter(|gain| !gain.points.is_empty()).collect();
        write_file(path, gains(&curves, parameter.title(), parameter == Parameter::Frequency).as_bytes())?;
    }
    if args.programs.json {
        let list: Vec<Value> = all
            .iter()
            .map(|(technology, points)| {
                let points: Vec<Value> = points
                    .iter()
                    .map(|(x, e)| match e {
                        Some([a, b]) => json!({ "value": x, "before": a, "after": b }),
                        None => json!({ "value": x }),
                    })
                    .collect();
                json!({ "technology": technology.name(), "points": points })
            })
            .collect();
        let mut rest = Map::new();
        rest.insert("parameter".into(), json!(parameter.name()));
        rest.insert("technologies".into(), json!(list));
        answer(reporter, true, finished(), rest)?;
    } else if args.csv {
        let mut out = format!("technology,{},before_joules,after_joules\n", parameter.name());
        for (technology, points) in &all {
            for (x, e) in points {
                let _ = match e {
                    Some([a, b]) => writeln!(out, "{},{x},{a:e},{b:e}", technology.name()),
                    None => writeln!(out, "{},{x},,", technology.name()),
                };
            }
        }
        print_exact(&out)?;
    } else {
        print(&text(&all, parameter))?;
    }
    Ok(Status::Done)
}

fn text(all: &[(&Technology, Points)], parameter: Parameter) -> String {
    let mut out = String::new();
    for (technology, points) in all {
        let row = format!(
            "{} {} {} {}",
            left(&format!("{}, {}", technology.name(), parameter.name()), 28),
            right("before", 12),
            right("after", 12),
            right("change", 10)
        );
        let _ = writeln!(out, "{}", row.trim_end());
        for (x, e) in points {
            let value = match parameter {
                Parameter::Frequency => si(*x, "Hz"),
                Parameter::Voltage => format!("{x:.3} V"),
                Parameter::Width | Parameter::Fraction => format!("{x} bits"),
            };
            let _ = match e {
                Some([a, b]) => writeln!(
                    out,
                    "  {} {} {} {}",
                    left(&value, 26),
                    right(&si(*a, "J"), 12),
                    right(&si(*b, "J"), 12),
                    right(&change(*a, *b), 10)
                ),
                None => writeln!(out, "  {} {}", left(&value, 26), right("not known", 12)),
            };
        }
    }
    out
}
