use super::super::PRESETS;
use super::*;
use crate::technology::{AccessUnit, MemoryTable};

fn preset(name: &str) -> &'static str {
    PRESETS.iter().find(|(n, _)| *n == name).expect("a preset").1
}

fn fails(text: &str) -> (String, String) {
    let e = Technology::parse(text).unwrap_err();
    let span = e.span.expect("a place");
    // The line of the place.
    let start = text[..span.start].rfind('\n').map_or(0, |n| n + 1);
    (e.message, text[start..].lines().next().unwrap_or("").to_string())
}

#[test]
fn every_preset_is_valid() {
    for (name, text) in PRESETS {
        let t = Technology::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(t.name(), *name);
        assert!(!t.title().is_empty() && t.sources().iter().all(|(_, s)| s.len() > 20), "{name}");
        assert_eq!(t.energy().is_none(), *name == "default");
    }
    let t = Technology::default_technology();
    assert_eq!(t.latency(GateClass::Wire), 0);
    assert!(t.latency(GateClass::FixedMultiply) > t.latency(GateClass::Add));
}

#[test]
fn errors_in_latencies_have_their_line() {
    let text = preset("default");
    for (from, to, message, line) in [
        ("xor = 1", "xor = -1", "whole number", "xor = -1"),
        ("xor = 1", "xor = 1.5", "whole number", "xor = 1.5"),
        ("xor = 1", "xro = 1", "no gate class `xro`", "xro = 1"),
        ("name = \"default\"", "colour = 1\nname = \"x\"", "no key `colour`", "colour = 1"),
        ("wire = 0\n", "", "lacks wire", "[latency_cycles]"),
    ] {
        let text = text.replacen(from, to, 1);
        let (got, at) = fails(&text);
        assert!(got.contains(message), "{got}");
        assert_eq!(at, line);
    }
}

#[test]
fn errors_in_energies_have_their_line() {
    let text = preset("acmos180");
    let tau = "time_constant_second = 100e-12";
    for (from, to, message, line) in [
        (
            tau,
            "time_constant_second = -2.4e-15",
            "`time_constant_second` must be above zero and finite, and is -0.0000000000000024",
            "time_constant_second = -2.4e-15",
        ),
        (tau, "time_constant_second = \"2.4 fs\"", "without its unit", "time_constant_second = \"2.4 fs\""),
        (
            "supply_volt = 1.8",
            "supply_millivolt = 1800",
            "`supply_volt` has its unit in its name",
            "supply_millivolt = 1800",
        ),
        ("supply_volt = 1.8", "supply_volt = nan", "must be from", "supply_volt = nan"),
        ("supply_volt = 1.8", "colour = 1\nsupply_volt = 1.8", "there is no key `colour`", "colour = 1"),
        ("supply_volt = 1.8\n", "", "missing field `supply_volt`", "[adiabatic]"),
        ("ramp = \"linear\"", "ramp = \"cubic\"", "`ramp` is `linear` or `sine`", "ramp = \"cubic\""),
        (
            "discipline = \"pipelined\"",
            "discipline = \"slow\"",
            "`retractile`, `pipelined` or `quasi`",
            "discipline = \"slow\"",
        ),
        ("ramp = \"linear\"", "held_ticks = 2.0", "belongs to the discipline `retractile`", "held_ticks = 2.0"),
        ("ticks_per_cycle = 4", "ticks_per_cycle = 4.5", "whole number", "ticks_per_cycle = 4.5"),
        ("[erasure]", "[ideal]\nsource = \"a dream\"\n\n[erasure]", "of one kind", "[ideal]"),
        (tau, "time_constant_second = { low = 1e-12, nominal = 1e-10 }", "a `high` end", "time_constant_second = {"),
        (
            tau,
            "time_constant_second = { low = 1, nominal = 3, high = 2 }",
            "3 is not from 1 to 2",
            "time_constant_second = {",
        ),
        (tau, "time_constant_second = { nominal = 1, hgih = 2 }", "there is no key `hgih`", "time_constant_second = {"),
        (
            tau,
            "time_constant_second = { nominal = 1, status = \"guessed\" }",
            "`measured`, `simulated`, `projected`, `assumed`",
            "time_constant_second = {",
        ),
        (
            tau,
            "time_constant_second = { low = -1, nominal = 1, high = 2 }",
            "at the low end of its range: `time_constant_second` must be above zero",
            "time_constant_second = {",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        let (got, at) = fails(&text);
        assert!(got.contains(message), "{got}");
        assert!(at == line || (line.ends_with('{') && at.starts_with(line)), "{got}: {at}");
    }
    // A table without its source, and one whose source is empty.
    let start = text.find("[link]").unwrap();
    let link = &text[start..];
    let source = link.lines().find(|l| l.starts_with("source")).unwrap();
    let (got, at) = fails(&text.replacen(&link[..link.find("joule_per_bit").unwrap()], "[link]\n", 1));
    assert!(got.contains("missing field `source`"), "{got}");
    assert_eq!(at, "[link]");
    assert!(source.starts_with("source"));
    let (got, at) = fails(&text.replacen("[link]\n", "[link]\nsource = \"\"\n#", 1));
    assert!(got.contains("must say where"), "{got}");
    assert_eq!(at, "source = \"\"");
    for table in ["gate_farad", "link", "erasure", "conditions"] {
        let start = text.find(&format!("[{table}]")).unwrap();
        let end = text[start + 1..].find("\n[").map_or(text.len(), |n| start + 1 + n);
        let (got, at) = fails(&format!("{}{}", &text[..start], &text[end..]));
        assert!(got.contains(&format!("wants a table `{table}`")), "{got}");
        assert_eq!(at, "[adiabatic]");
    }
}

#[test]
fn memory_goes_by_size() {
    let table = |sizes| MemoryTable { sizes, of: AccessUnit::Joule, ticks: 1.0 };
    let t = table(vec![(8192.0, 10.0), (32768.0, 20.0), (1048576.0, 100.0)]);
    for (bytes, figure) in
        [(100.0, 10.0), (8192.0, 10.0), (32768.0, 20.0), (1048576.0, 100.0), (16384.0, 200f64.sqrt())]
    {
        assert!((t.at(bytes).figure - figure).abs() < 1e-9, "{bytes}: {:?}", t.at(bytes));
    }
    assert!(t.at(8.0 * 1048576.0).figure > 200.0);
    assert_eq!(table(vec![(64.0, 3.0)]).at(1e9).figure, 3.0);
}

#[test]
fn a_figure_is_drawn_from_two_pieces_around_its_median() {
    let text = preset("acmos180").replacen(
        "leakage_ratio = {",
        "leakage_ratio = { low = 1e-9, nominal = 1e-7, high = 1e-6, status = \"simulated\", source = \"a model\" }\n#",
        1,
    );
    let t = Technology::parse(&text).unwrap();
    let figure = t.figures().into_iter().find(|f| f.key == "adiabatic.leakage_ratio").unwrap();
    assert_eq!((figure.status, figure.source.as_str()), (Status::Simulated, "a model"));
    for (u, value) in [(0.0, 1e-9), (0.25, 1e-8), (0.5, 1e-7), (0.75, 10f64.powf(-6.5)), (1.0, 1e-6)] {
        assert!((figure.quantile(u) / value - 1.0).abs() < 1e-9, "{u}: {}", figure.quantile(u));
    }
    let from_zero = Figure { low: 0.0, nominal: 2.0, high: 8.0, ..figure };
    assert_eq!([0.0, 0.25, 0.5, 0.75].map(|u| from_zero.quantile(u)), [0.0, 1.0, 2.0, 4.0]);
    // Other values reach the energies, and bad ones do not.
    let other = t.with_figures(&|key, nominal| if key == "erasure.overwrite_ratio" { 0.5 } else { nominal }).unwrap();
    assert_eq!(other.energy().unwrap().overwrite, 0.5);
    assert!(t.with_figures(&|_, _| f64::NAN).is_err());
}
