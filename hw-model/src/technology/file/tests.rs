use super::super::PRESETS;
use super::*;

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
    let text = preset("acmos22-fdsoi");
    for (from, to, message, line) in [
        (
            "toffoli = 2.4e-15",
            "toffoli = -2.4e-15",
            "`toffoli` must be above zero and finite, and is -0.0000000000000024",
            "toffoli = -2.4e-15",
        ),
        ("toffoli = 2.4e-15", "toffoli = \"2.4 fF\"", "without its unit", "toffoli = \"2.4 fF\""),
        (
            "supply_volt = 0.8",
            "supply_millivolt = 800",
            "`supply_volt` has its unit in its name",
            "supply_millivolt = 800",
        ),
        ("supply_volt = 0.8", "supply_volt = nan", "must be from", "supply_volt = nan"),
        ("supply_volt = 0.8", "colour = 1\nsupply_volt = 0.8", "there is no key `colour`", "colour = 1"),
        ("supply_volt = 0.8\n", "", "missing field `supply_volt`", "[adiabatic]"),
        ("ramp = \"linear\"", "ramp = \"cubic\"", "`ramp` is `linear` or `sine`", "ramp = \"cubic\""),
        ("[erasure]", "[ideal]\nsource = \"a dream\"\n\n[erasure]", "of one kind", "[ideal]"),
    ] {
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        let (got, at) = fails(&text);
        assert!(got.contains(message), "{got}");
        assert_eq!(at, line, "{got}");
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
    let t = MemoryTable { sizes: vec![(8192.0, 10.0), (32768.0, 20.0), (1048576.0, 100.0)] };
    for (bytes, figure) in
        [(100.0, 10.0), (8192.0, 10.0), (32768.0, 20.0), (1048576.0, 100.0), (16384.0, 200f64.sqrt())]
    {
        assert!((t.at(bytes) - figure).abs() < 1e-9, "{bytes}: {}", t.at(bytes));
    }
    assert!(t.at(8.0 * 1048576.0) > 200.0);
    assert_eq!(MemoryTable { sizes: vec![(64.0, 3.0)] }.at(1e9), 3.0);
}
