//! `pendula energy` and `pendula level`, by the command line.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;

fn pendula(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("pendula").expect("the binary");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command
}

fn output(args: &[&str]) -> String {
    let assert = pendula(args).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).expect("UTF-8")
}

fn failure(args: &[&str], status: i32) -> String {
    let assert = pendula(args).assert().code(status);
    String::from_utf8(assert.get_output().stderr.clone()).expect("UTF-8")
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&output(args)).expect("JSON")
}

fn near(a: &Value, b: f64, relative: f64) {
    let a = a.as_f64().expect("a number");
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("pendula-energy-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

const FOUR: &str = "landauer,cmos45,acmos22-fdsoi,aqfp";

#[test]
fn one_table_of_four_technologies() {
    let text = output(&["energy", "examples/bessel.rasm", "--tech", FOUR]);
    let table: Vec<&str> = text.split("\n\n").nth(1).expect("a table").lines().collect();
    // Four rows, and what the marks and ranges mean.
    assert_eq!(table.len(), 8);
    assert!(table[0].starts_with("technology") && table[0].contains("at the plug") && table[0].ends_with("figures"));
    for (line, name) in table[1..].iter().zip(FOUR.split(',')) {
        assert!(line.starts_with(name), "{line}");
    }
}

#[test]
#[ignore = "eight seconds long: .ci/full"]
fn the_same_joules_every_time() {
    let args = ["energy", "examples/bessel.rasm", "--tech", FOUR, "--grad", "--loss", "y", "--wrt", "z", "--json"];
    let text = output(&args);
    assert_eq!(text, output(&args));
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["schema"], "pendula.energy/1");
    let phases: Vec<&str> =
        report["phases"].as_array().expect("phases").iter().map(|p| p["phase"].as_str().expect("a name")).collect();
    assert_eq!(phases, ["forward", "copy out", "backward", "gradient copy"]);
    // What the parts say adds up to the whole, by every breakdown.
    for technology in report["technologies"].as_array().expect("technologies") {
        let total = technology["total"]["total"].as_f64().expect("a number");
        assert!(total > 0.0);
        for by in ["phases", "classes", "functions", "lines"] {
            let parts = technology[by].as_object().expect("an object").values();
            let sum: f64 = parts.map(|p| p["total"].as_f64().expect("a number")).sum();
            assert!((sum - total).abs() < 1e-9 * total, "{by}");
        }
    }
    // Under the limit nothing costs but erasing: a word out and a gradient, and what the run backward destroyed.
    let limit = &report["technologies"][0];
    let lost: u64 = report["lost"].as_array().expect("a list").iter().map(|l| l["bits"].as_u64().expect("bits")).sum();
    assert!(lost > 0);
    near(&limit["total"]["total"], (128 + lost) as f64 * 2.870979e-21, 1e-6);
}

#[test]
fn information_lost_is_told_by_line() {
    let path = folder("lost").join("lossy.rasm");
    let source = "        .irreversible\nmain:   start\n        add     r1, 5\n        erase   r1\n        add     r2, 3\nloop:   from.ne r2, 3, back\n        add     r4, 7\n        erase   r4\n        dec     r2\nback:   jmp.ne  r2, 0, loop\n        finish\n";
    fs::write(&path, source).expect("a file");
    let file = path.to_str().expect("UTF-8");
    let report = json(&["energy", file, "--tech", "landauer", "--json"]);
    let lost: BTreeMap<u64, u64> = report["lost"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|l| {
            let line = l["place"].as_str().and_then(|p| p.rsplit(':').next()).and_then(|n| n.parse().ok());
            (line.expect("a line"), l["bits"].as_u64().expect("bits"))
        })
        .collect();
    assert_eq!(lost, BTreeMap::from([(4, 64), (8, 3 * 64)]));
    near(&report["technologies"][0]["total"]["erasure"], 4.0 * 64.0 * 2.870979e-21, 1e-6);
    assert!(output(&["energy", file, "--tech", "landauer"]).contains("lossy.rasm:8"));
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn frequency_voltage_temperature_and_sweeps() {
    let total = |more: &[&str]| -> f64 {
        let args = [&["energy", "examples/fib.rasm", "--tech", "acmos-lowleak", "--json"], more].concat();
        json(&args)["technologies"][0]["total"]["adiabatic"].as_f64().expect("a number")
    };
    // Ramps that are long beside the time constant: ten times the frequency costs ten times as much.
    let ratio = total(&["--frequency", "1e6"]) / total(&["--frequency", "1e5"]);
    assert!((ratio - 10.0).abs() < 0.2, "{ratio}");
    assert!(total(&["--frequency", "1e6", "--voltage", "0.6"]) != total(&["--frequency", "1e6"]));
    let leakage = |kelvin: &str| {
        let at = ["--frequency", "1e6", "--temperature", kelvin];
        let args = [&["energy", "examples/fib.rasm", "--tech", "acmos22-fdsoi", "--json"], &at[..]].concat();
        json(&args)["technologies"][0]["total"]["leakage"].as_f64().expect("a number")
    };
    assert!(leakage("350") > 2.0 * leakage("300"));
    let report = json(&[
        "energy",
        "examples/fib.rasm",
        "--tech",
        "acmos22-fdsoi,cmos45,aqfp",
        "--sweep",
        "frequency=1e5..1e9:41",
        "--json",
    ]);
    let sweep = &report["sweep"];
    assert_eq!(sweep["at"].as_array().map(Vec::len), Some(41));
    near(&sweep["at"][40], 1e9, 1e-9);
    near(&sweep["at"][20], 1e7, 1e-9);
    let of: Vec<&String> = sweep["joules"].as_object().expect("an object").keys().collect();
    assert_eq!(of, ["acmos22-fdsoi", "aqfp"], "what does not depend on the frequency is not swept");
    // The least of the sweep is beside the frequency that the report has chosen.
    let points: Vec<f64> = sweep["joules"]["acmos22-fdsoi"]
        .as_array()
        .expect("points")
        .iter()
        .map(|p| p.as_f64().expect("a number"))
        .collect();
    let least = (0..41).min_by(|a, b| points[*a].total_cmp(&points[*b])).expect("points");
    let chosen = report["technologies"][0]["hertz"].as_f64().expect("a number");
    let at = sweep["at"][least].as_f64().expect("a number");
    assert!((at / chosen).ln().abs() < 0.25, "{at} {chosen}");
    let text = output(&["energy", "examples/fib.rasm", "--tech", "acmos22-fdsoi", "--sweep", "voltage=0.5..1:3"]);
    assert!(text.contains("500 mV") && text.contains("1.00 V"), "{text}");
    // What figures are not meant for is said.
    let command =
        pendula(&["energy", "examples/fib.rasm", "--tech", "aqfp", "--frequency", "5e10"]).output().expect("it runs");
    let err = String::from_utf8_lossy(&command.stderr).to_string();
    assert!(err.contains("warning[P0148]") && err.contains("50.0 GHz is outside the range"), "{err}");
}

#[test]
fn what_is_left_is_erased_returned_or_kept() {
    let limit = 64.0 * 2.870979e-21;
    let report =
        |more: &[&str]| json(&[&["energy", "examples/fib.rasm", "--tech", "landauer", "--json"], more].concat());
    // r1, r2 and r4; the copy of n was taken back.
    let erased = report(&[]);
    near(&erased["technologies"][0]["total"]["total"], 3.0 * limit, 1e-6);
    assert_eq!(
        erased["left_dirty"],
        serde_json::json!({ "registers": 3, "memory": 0, "bits_at_most": 192, "followed": true, "end": "erase" })
    );
    // By no value of this run: a fourth register that happens to be zero counts, unless an instruction has found that it is.
    let path = folder("dirty").join("dirty.rasm");
    let file = path.to_str().expect("UTF-8");
    for (more, words) in [("", 2), ("        zero    r2\n", 1)] {
        let source = format!(
            "        .data\n        .import n\nn:      .word   0\n        .text\nmain:   start\n        add     r1, 5\n        add     r2, [n]\n{more}        finish\n"
        );
        fs::write(&path, source).expect("a file");
        let report = json(&["energy", file, "--tech", "landauer", "--json"]);
        assert_eq!(report["left_dirty"]["registers"], words, "{more}");
        near(&report["technologies"][0]["total"]["total"], words as f64 * limit, 1e-6);
    }
    let kept = report(&["--end", "keep"]);
    assert_eq!(
        (&kept["technologies"][0]["total"]["total"], &kept["left_dirty"]["registers"]),
        (&0.0.into(), &3.into())
    );
    let back = report(&["--end", "return"]);
    assert_eq!(back["left_dirty"]["registers"], 0);
    assert_eq!(back["phases"][2]["instructions"], back["phases"][0]["instructions"]);
    assert_eq!(report(&["--round-trip"])["technologies"], back["technologies"]);
    let text = output(&["energy", "examples/fib.rasm", "--tech", "landauer"]);
    assert!(text.contains("3 words left dirty, 192 bits at most: erased") && text.contains("551 zJ"), "{text}");
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn memory_is_billed_as_the_next_power_of_two_of_what_is_touched() {
    let path = folder("memory").join("memory.rasm");
    let file = path.to_str().expect("UTF-8");
    let bill = |words: u64, more: &[&str]| {
        // Word after word is read, of which the last by a loop.
        let source = format!(
            "        .data\na:      .space  {words}\n        .text\nmain:   start\n        add     r1, a\nloop:   from.ne r3, 0, back\n        add     r2, [r1]\n        inc     r1\n        inc     r3\nback:   jmp.ne  r3, {words}, loop\n        finish\n"
        );
        fs::write(&path, source).expect("a file");
        let report = json(&[&["energy", file, "--tech", "cmos45", "--json"], more].concat());
        let memory = &report["memory"];
        (memory["touched_words"].as_u64(), memory["billed_words"].as_u64(), report["technologies"][0]["parts"].clone())
    };
    for (touched, billed) in [(1, 1), (3, 4), (1025, 2048)] {
        let (found, words, _) = bill(touched, &[]);
        assert_eq!((found, words), (Some(touched), Some(billed)));
    }
    let (touched, words, dear) = bill(3, &["--billed-memory", "131072"]);
    assert_eq!((touched, words), (Some(3), Some(131072)));
    let (_, _, cheap) = bill(3, &[]);
    let memory = |parts: &Value| parts["memory"]["total"].as_f64().expect("joules");
    // 1 MiB costs ten times as much as 8 KiB, which is the least that was published.
    assert!((memory(&dear) / memory(&cheap) - 10.0).abs() < 0.1);
    // The stack is touched, too: a link and a word.
    fs::write(
        &path,
        "main:   start\n        call    f\n        finish\n        proc    f\n        inc     r1\n        push    r1\n        pop     r1\n        dec     r1\n        ret     f\n",
    )
    .expect("a file");
    assert_eq!(json(&["energy", file, "--tech", "cmos45", "--json"])["memory"]["touched_words"], 2);
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn ranges_marks_and_what_decides() {
    let text = output(&["energy", "examples/fib.rasm", "--tech", "cmos45,acmos22-fdsoi"]);
    assert!(text.contains("* rests on assumed figures") && text.contains("5 to 95 %"), "{text}");
    let report = json(&["energy", "examples/fib.rasm", "--tech", "cmos45,acmos180", "--tornado", "--json"]);
    for (technology, tornado) in
        report["technologies"].as_array().expect("a list").iter().zip(report["tornado"].as_array().expect("a list"))
    {
        let total = technology["total"]["total"].as_f64().expect("joules");
        let [low, high] = [0, 1].map(|n| technology["range"][n].as_f64().expect("joules"));
        assert!(low < total && total < high, "{technology}");
        assert!(
            ["measured", "simulated", "projected", "assumed"]
                .contains(&technology["status"].as_str().expect("a status"))
        );
        let sum: f64 = technology["parts"]
            .as_object()
            .expect("parts")
            .values()
            .map(|p| p["total"].as_f64().expect("joules"))
            .sum();
        assert!((sum / total - 1.0).abs() < 1e-9, "{technology}");
        let swings: Vec<f64> = tornado["figures"]
            .as_array()
            .expect("figures")
            .iter()
            .map(|f| (f["at_high"].as_f64().expect("joules") - f["at_low"].as_f64().expect("joules")).abs())
            .collect();
        assert!(swings.len() > 3 && swings.windows(2).all(|pair| pair[0] >= pair[1]), "{swings:?}");
    }
    assert!(output(&["energy", "examples/fib.rasm", "--tech", "acmos180"]).contains("clock = \"ideal\" for acmos180"));
    let listed = output(&["energy", "--list-tech", "--tech", "cmos45"]);
    assert!(
        listed.starts_with("cmos45: ") && !listed.contains("cmos7: ") && listed.contains("2e-11 (1.5e-11 – 4e-11)"),
        "{listed}"
    );
}

#[test]
fn technologies_at_equal_throughput() {
    let report =
        json(&["energy", "examples/fib.rasm", "--tech", "cmos7,acmos22-fdsoi", "--against", "cmos7", "--json"]);
    let of = |n: usize| report["against"]["technologies"][n].clone();
    assert_eq!((&report["against"]["name"], &of(0)["ratio"]["nominal"]), (&"cmos7".into(), &1.0.into()));
    assert_eq!(of(0)["ratio"]["range"], serde_json::json!([1.0, 1.0]), "the same draws");
    let copies = of(1)["seconds"].as_f64().expect("s") / of(0)["seconds"].as_f64().expect("s");
    near(&of(1)["copies"], copies, 1e-12);
    let [low, high] = [0, 1].map(|n| of(1)["ratio"]["range"][n].as_f64().expect("a ratio"));
    assert!(low < high);
    // Both have the link of the reference; what differs is the rest.
    let link = |n: usize| report["technologies"][n]["parts"]["link"]["total"].as_f64().expect("joules");
    let own = report["technologies"][1]["at_the_plug"].as_f64().expect("joules");
    near(&of(1)["at_the_plug"], own - link(1) + link(0), 1e-2);
    let error = failure(&["energy", "examples/fib.rasm", "--against", "landauer"], 2);
    assert!(error.contains("has no throughput"), "{error}");
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn to_uncompute_or_to_erase() {
    // With the figures that ship, erasing is cheaper at any frequency; here a latch holds forty times the charge.
    let text = fs::read_to_string("hw-model/technologies/acmos-lowleak.toml").expect("the preset");
    let start = text.find("latch_farad").expect("a figure");
    let end = start + text[start..].find('\n').expect("a line");
    let path = folder("heavy").join("heavy.toml");
    fs::write(&path, format!("{}latch_farad = 5e-14{}", &text[..start], &text[end..])).expect("a file");
    let heavy = path.to_str().expect("UTF-8");
    let report = json(&["energy", "examples/bessel.rasm", "--tech", heavy, "--json"]);
    let routines = report["technologies"][0]["routines"].as_array().expect("routines");
    let names: Vec<&str> = routines.iter().map(|r| r["routine"].as_str().expect("a name")).collect();
    assert_eq!(names, ["factor", "series"]);
    let factor = &routines[0];
    assert_eq!((factor["times"].as_u64(), factor["words"].as_u64()), (Some(8), Some(4)));
    assert_eq!(factor["place"], "examples/bessel.rasm:95");
    let [below, above] = [0, 1].map(|n| factor["uncompute_between_hertz"][n].as_f64().expect("a frequency"));
    let price = |hertz: f64| {
        let hertz = hertz.to_string();
        let report = json(&["energy", "examples/bessel.rasm", "--tech", heavy, "--frequency", &hertz, "--json"]);
        let factor = &report["technologies"][0]["routines"][0];
        factor["uncompute"].as_f64().expect("joules") / factor["erase"].as_f64().expect("joules")
    };
    assert!((price(above) - 1.0).abs() < 1e-3 && price(above / 2.0) < 0.7 && price(above * 2.0) > 1.3);
    assert!((price(below) - 1.0).abs() < 1e-3 && price(below * 2.0) < 0.7 && price(below / 2.0) > 1.3);
    let report = json(&["energy", "examples/bessel.rasm", "--tech", "acmos-lowleak", "--json"]);
    assert!(report["technologies"][0]["routines"][0]["uncompute_between_hertz"].is_null(), "{report}");
}

#[test]
fn schedules_compared() {
    let report = json(&["energy", "examples/fib.rasm", "--tech", "acmos22-fdsoi", "--schedule", "--json"]);
    let schedules = &report["schedules"]["technologies"][0]["schedules"];
    let of = |name: &str| {
        let found = schedules.as_array().expect("a list").iter().find(|s| s["name"] == name).expect("a schedule");
        (found["steps"].as_u64(), found["states"].as_u64())
    };
    assert_eq!(of("Bennett, 4^4"), (Some(2401), Some(14)));
    assert_eq!(of("erase every state at once"), (Some(256), Some(2)));
    assert!(output(&["energy", "examples/fib.rasm", "--tech", "cmos45", "--schedule", "1000"]).contains("4^5 ≥ 1000"));
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn files_for_other_programs() {
    let csv = output(&["energy", "examples/fib.rasm", "--tech", "acmos180,cmos7", "--csv"]);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    assert_eq!((header[0], *header.last().expect("columns")), ("technology", "joules_at_the_plug"));
    assert!(lines.clone().all(|l| l.split(',').count() == header.len()));
    let sum: f64 = lines
        .filter(|l| l.starts_with("cmos7"))
        .map(|l| l.rsplit(',').next().and_then(|n| n.parse::<f64>().ok()).expect("a number"))
        .sum();
    let total = json(&["energy", "examples/fib.rasm", "--tech", "cmos7", "--json"]);
    near(&total["technologies"][0]["total"]["total"], sum, 1e-9);
    let folded = output(&["energy", "examples/fib.rasm", "--tech", "cmos7", "--folded"]);
    assert!(folded.lines().all(|l| l.rsplit(' ').next().is_some_and(|n| n.parse::<u64>().is_ok())));
    assert!(folded.contains("forward;main;examples/fib.rasm:"));
    let folder = folder("files");
    let at = folder.to_str().expect("UTF-8");
    output(&["energy", "examples/fib.rasm", "--tech", "acmos180", "--svg", at, "--accelergy", at]);
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().to_string())
        .collect();
    names.sort();
    assert!(
        names.contains(&"energy-frequency.svg".to_string()) && names.iter().any(|n| n.ends_with(".yaml")),
        "{names:?}"
    );
    for name in names.iter().filter(|n| n.ends_with(".svg")) {
        let text = fs::read_to_string(folder.join(name)).expect("UTF-8");
        assert!(text.contains("<svg") && text.trim_end().ends_with("</svg>"), "{name}");
    }
}

#[test]
fn technologies_of_ones_own() {
    let folder = folder("tech");
    let text = fs::read_to_string("hw-model/technologies/acmos22-fdsoi.toml").expect("the preset");
    let write = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let path = folder.join("mine.toml");
        fs::write(&path, text.replacen(from, to, 1)).expect("a file");
        path.to_str().expect("UTF-8").to_string()
    };
    let path = write("name = \"acmos22-fdsoi\"", "name = \"mine\"");
    assert!(output(&["energy", "examples/fib.rasm", "--tech", &path]).contains("\nmine "));
    let line = |needle: &str| text.lines().position(|l| l.starts_with(needle)).expect("a line") + 1;
    for (from, to, at, message) in [
        ("and = { low = 6e-16,", "and = { low = -6e-16,", line("and = "), "above zero"),
        ("and = { low = 6e-16,", "and = { low = 6e-15,", line("and = "), "lies in its range"),
        ("xor = {", "xxor = {", line("xor = "), "`xxor`"),
        ("supply_volt = 0.8", "supply_millivolt = 800", line("supply_volt = 0.8"), "has its unit in its name"),
        ("nominal = 5.5e-12", "nominal = \"5.5 pJ\"", line("joule_per_bit"), "without its unit"),
    ] {
        let path = write(from, to);
        let error = failure(&["energy", "examples/fib.rasm", "--tech", &path], 2);
        assert!(error.contains(&format!("mine.toml:{at}: ")) && error.contains(message), "{error}");
    }
    let start = text.find("[link]").expect("a table");
    let source = text[start..].lines().nth(1).expect("a source");
    let path = write(source, "");
    let error = failure(&["energy", "examples/fib.rasm", "--tech", &path], 2);
    assert!(error.contains("missing field `source`") && error.contains(&format!(":{}: ", line("[link]"))), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let fib = "examples/fib.rasm";
    for (args, message) in [
        (&["energy", fib, "--tech", "nope"][..], "there is no technology `nope`; there are default, landauer"),
        (&["energy", fib, "--tech", "default"], "latencies only"),
        (&["energy", fib, "--tech", "cmos45", "--frequency", "1e6"], "does not depend on a frequency"),
        (&["energy", fib, "--tech", "acmos180", "--frequency", "-5"], "above zero"),
        (&["energy", fib, "--tech", "acmos180", "--voltage", "0.1"], "threshold"),
        (&["energy", fib, "--sweep", "colour=1..2:3"], "`frequency` or `voltage`"),
        (&["energy", fib, "--sweep", "frequency=2..1:3"], "must rise"),
        (&["energy", fib, "--sweep", "frequency=1..2:1"], "from 2 to"),
        (&["energy", fib, "--sweep", "frequency=1e5"], "the form is"),
        (
            &["energy", fib, "--tech", "landauer", "--sweep", "frequency=1..2:3"],
            "these technologies do not depend on the frequency",
        ),
        (&["energy", fib, "--folded"], "needs exactly one technology"),
        (&["energy", fib, "--grad"], "--loss"),
        (&["energy", "examples/matmul.rasm", "--grad", "--loss", "c"], "words: name one, such as `c[0]`"),
        (&["energy", fib, "--tech", "acmos180", "--voltage", "nan"], "from 0.001 to 100 V"),
        (&["energy", fib, "--tech", "acmos180", "--frequency", "1e-300"], "from 1e-3 to 1e18 Hz"),
        (&["energy", fib, "--schedule", "0"], "0 is not in 1"),
        (&["energy"], "FILE"),
    ] {
        let error = failure(args, 2);
        assert!(error.contains(message), "{args:?}: {error}");
    }
    let error = failure(&["energy", "examples/fib.rasm", "--set", "n=-1", "--max-steps", "10"], 1);
    assert!(error.contains("P0130") || error.contains("error["), "{error}");
}

#[test]
fn every_technology_has_its_sources() {
    let text = output(&["energy", "--list-tech"]);
    for name in pendula::hw_model::Technology::presets() {
        assert!(format!("\n{text}").contains(&format!("\n{name}: ")), "{name}");
    }
    let report = json(&["energy", "--list-tech", "--json"]);
    for technology in report["technologies"].as_array().expect("a list") {
        for figure in technology["figures"].as_array().expect("a list") {
            let [low, nominal, high] = ["low", "nominal", "high"].map(|key| figure[key].as_f64().expect("a number"));
            assert!(low <= nominal && nominal <= high, "{figure}");
            assert!(!figure["source"].as_str().expect("a source").is_empty(), "{figure}");
        }
    }
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn uncomputing_levels() {
    for (file, paired, attributed) in [
        ("examples/bessel.rasm", 489f64 / 121.0, 489f64 / 120.0),
        ("examples/sparse-dot.rasm", 201f64 / 118.0, 201f64 / 118.0),
    ] {
        let report = json(&["level", file, "--json"]);
        near(&report["all"]["paired"], paired.log2(), 1e-9);
        near(&report["all"]["attributed"], attributed.log2(), 1e-9);
        let executed: u64 =
            report["functions"].as_array().expect("a list").iter().map(|f| f["total"].as_u64().expect("n")).sum();
        assert_eq!(report["all"]["total"].as_u64(), Some(executed));
    }
    let text = output(&["level", "examples/sparse-dot.rasm"]);
    assert!(text.contains("paired") && text.contains("hottest block: main"), "{text}");
    // By hand: a turn of Bessel's series takes 50 instructions for 12 that compute, 2.06; a turn of the dot product 24 for 14, 0.78.
    let level = |file: &str| json(&["level", file, "--json"])["all"]["paired"].as_f64().expect("a level");
    assert!((level("examples/bessel.rasm") - 2.0).abs() < 0.1 && (level("examples/sparse-dot.rasm") - 0.8).abs() < 0.1);
    // What is undone is found by its marks, and by hand, each with its entries and what is cheaper.
    let report = json(&["level", "examples/bessel.rasm", "--tech", "landauer", "--json"]);
    let spans = report["spans"].as_array().expect("a list");
    let factor = spans.iter().find(|s| s["name"] == "factor").expect("the routine");
    assert_eq!((&factor["entries"], &factor["words"], &factor["by_hand"]), (&8.into(), &4.into(), &false.into()));
    assert!(factor["advice"].as_str().is_some_and(|a| a.starts_with("undo it")), "{factor}");
    assert!(spans.iter().any(|s| s["by_hand"] == true), "{report}");
    let plot = folder("plot").join("level.svg");
    output(&["level", "examples/bessel.rasm", "--svg", plot.to_str().expect("UTF-8")]);
    assert!(fs::read_to_string(&plot).expect("a plot").contains("uncompute"));
    // A procedure that another runs backward uncomputes.
    let path = folder("level").join("back.rasm");
    let source = "main:   start\n        call    f\n        add     r3, r2\n        uncall  f\n        finish\n        proc    f\n        add     r2, 7\n        ret     f\n";
    fs::write(&path, source).expect("a file");
    let report = json(&["level", path.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(report["all"]["uncompute"].as_u64(), Some(3), "{report}");
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn a_technology_without_memory_is_warned_of_and_the_books_has_one() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/energy.md")).expect("a page");
    let sample = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a sample");
    let folder = folder("silent");
    let path = folder.join("mine.toml");
    let file = path.to_str().expect("UTF-8");
    std::fs::write(&path, sample).expect("written");
    let priced = |more: &[&str]| {
        let command = pendula(&[&["energy", "examples/bessel.rasm", "--tech", file], more].concat()).output();
        let output = command.expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    };
    let (code, _, err) = priced(&[]);
    assert_eq!((code, err.as_str()), (0, ""), "the sample of the book, as it stands");
    let (before, rest) = sample.split_once("[memory]").expect("a table");
    let (_, after) = rest.split_once("\n\n").expect("another table");
    std::fs::write(&path, format!("{before}{after}")).expect("written");
    let (code, _, err) = priced(&[]);
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("warning[P0147]: the technology `mine` says nothing of memory") && err.contains("--mem"),
        "{err}"
    );
    let (_, out, err) = priced(&["--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((err.as_str(), &value["diagnostics"][0]["code"]), ("", &"P0147".into()), "{out}");
    std::fs::remove_dir_all(&folder).expect("removed");
}
