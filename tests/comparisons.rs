//! Comparisons of technologies: what they share, what is cooled, and what words left behind cost, also in the stack pointer.

use serde_json::Value;

use crate::common::command::run;

/// What `pendula energy` says of a program with these options, as JSON, after its warnings.
fn energy(options: &[&str], text: &str) -> (Value, String) {
    let (code, out, err) = run(&[&["energy", "-", "--json"], options].concat(), text);
    assert_eq!(code, 0, "{options:?}: {err}");
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"));
    let warnings = value["diagnostics"].to_string();
    (value, warnings)
}

const FROM_HOST: &str = " .data\n .import n\nn: .word 4\n .text\nmain: start\n add r1, [n]\n finish\n";

#[test]
fn what_is_left_in_the_stack_pointer_is_left_dirty() {
    let program = |r: &str| FROM_HOST.replace("r1", r);
    let left = |text: &str| energy(&["--tech", "landauer"], text).0["left_dirty"]["registers"].clone();
    for r in ["r1", "r30", "sp"] {
        assert_eq!(left(&program(r)), 1, "{r}");
    }
    // Routines bring it back.
    assert_eq!(left("proc p\n inc r2\n dec r2\n ret p\nmain: start\n push r1\n pop r1\n call p\n finish\n"), 0);
}

#[test]
fn a_link_at_room_temperature_is_not_cooled() {
    let (value, _) = energy(&["--tech", "aqfp", "--against", "cmos7"], FROM_HOST);
    let row = &value["against"]["technologies"][0];
    let bill = &value["technologies"][0];
    let of = |v: &Value| v["at_the_plug"].as_f64().unwrap_or_else(|| panic!("{v}"));
    // 64 bits by the 5.5 pJ of the reference's link: more at the plug than those and the device's own, but not 400 times as much.
    let link = 64.0 * 5.5e-12;
    let own = of(bill);
    let compared = of(row);
    assert!(compared > link && compared < own + 1.01 * link, "{compared:e}, {own:e}");
}

#[test]
#[ignore = "takes a quarter of a minute: part of .ci/full"]
fn a_ratio_is_within_its_range() {
    for to in ["cmos7", "cmos45"] {
        let others = "cmos45,cmos22,cmos7,acmos22-fdsoi,acmos22-pipelined,aqfp,resonant22";
        let (value, _) = energy(&["--tech", others, "--against", to], FROM_HOST);
        for row in value["against"]["technologies"].as_array().expect("rows") {
            for ratio in [&row["ratio"], &row["ratio_without_memory"]] {
                let [nominal, low, high] =
                    [&ratio["nominal"], &ratio["range"][0], &ratio["range"][1]].map(|x| x.as_f64().expect("a number"));
                assert!(0.0 < low && low <= nominal * (1.0 + 1e-9), "{to}: {row}");
                assert!(nominal <= high * (1.0 + 1e-9), "{to}: {row}");
            }
        }
    }
}

#[test]
fn schedules_erase_at_the_price_of_words_left_dirty() {
    let (value, _) = energy(&["--tech", "cmos45", "--schedule", "10", "--billed-memory", "1"], FROM_HOST);
    let dirty = value["technologies"][0]["phases"]["end"]["total"].as_f64().unwrap_or_else(|| panic!("{value:#}"));
    let erase = value["schedules"]["technologies"][0]["erase"].as_f64().expect("a number");
    assert!((erase / dirty - 1.0).abs() < 1e-9, "{erase:e}, {dirty:e}");
}

#[test]
fn a_temperature_that_is_not_used_is_told() {
    let (_, warnings) = energy(&["--tech", "acmos22-fdsoi,cmos45", "--temperature", "77"], FROM_HOST);
    assert!(warnings.contains("`cmos45` is known at 300 K only"), "{warnings}");
    assert!(warnings.contains("`acmos22-fdsoi` at 77 K: the energy at the plug is without cooling"), "{warnings}");
    let (_, warnings) = energy(&["--tech", "ballistic", "--temperature", "300"], FROM_HOST);
    assert!(warnings.contains("with the cooling of"), "{warnings}");
}
