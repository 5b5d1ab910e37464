//! Reports must preserve the sum of a bill, whatever their format.

use std::collections::BTreeMap;

use pendula_hw_model::Technology;
use pendula_hw_model::price::{Activity, Cause, Conditions, Dirty, Phase, Totals, functions};
use pendula_hw_model::report::svg::{
    Schedules, Scope, Swept, breakdown_by_cause, breakdown_by_class, breakdown_by_part, energies,
    energy_against_frequency, energy_delay, time_space_energy,
};
use pendula_hw_model::report::{PricedRun, Program, accelergy, csv, folded};
use pendula_isa::counts::{Counts, Direction, Mode, ModeCounts};
use pendula_isa::inst::Inst;
use pendula_isa::mnemonic::lookup;
use pendula_isa::module::{Loc, Module};
use pendula_isa::operand::Operand;
use pendula_isa::types::Reg;

fn near(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

fn conditions() -> Conditions {
    Conditions { memory_words: 64, frac: 32, width: 64, ..Conditions::default() }
}

fn technologies() -> Vec<Technology> {
    Technology::presets().filter(|n| *n != "default").filter_map(Technology::preset).collect()
}

/// A program with awkward names, some of whose lines are unknown, and its activity.
fn ran() -> (Module, Vec<Activity>) {
    let r = |n| Operand::Reg(Reg::new(n).unwrap());
    let program: &[(&str, &[Operand], u64)] = &[
        ("add", &[r(1), r(2)], 10_000),
        ("addmul.q", &[r(1), r(2), r(3)], 2_000),
        ("swap", &[r(1), r(2)], 3_000),
        ("addexp.q", &[r(1), r(2)], 7),
        ("exch", &[r(1), Operand::Mem { base: r_index(2), index: Reg::ZERO, offset: 0 }], 55),
        ("erase", &[r(1)], 10),
    ];
    let code: Vec<Inst> = program.iter().map(|(m, ops, _)| Inst::build(lookup(m).unwrap(), ops).unwrap()).collect();
    let locs = (0..code.len()).map(|i| Loc { file: 0, column: 1, line: if i == 2 { 0 } else { 5 + i as u32 / 2 } });
    let module = Module {
        locs: locs.collect(),
        files: vec!["odd; \"name\", really.rasm".to_string()],
        code,
        ..Module::default()
    };
    let counts = |direction, level, lost| {
        let singles = program.iter().enumerate().map(|(at, (.., n))| (at as u32, *n)).collect();
        let mode = Mode { direction, level, tangents: false };
        Counts { blocks: vec![], modes: vec![ModeCounts { mode, blocks: vec![], singles }], lost }
    };
    let activity =
        |phase, counts, words_in, words_out| Activity { words_in, words_out, ..Activity::new(phase, counts) };
    let activities = vec![
        activity(Phase::Forward, counts(Direction::Forward, 0, vec![(5, 640)]), 3, 0),
        activity(Phase::CopyOut, Counts::default(), 0, 5),
        activity(Phase::Backward, counts(Direction::Backward, 1, vec![]), 0, 0),
        activity(Phase::GradientCopy, Counts::default(), 0, 3),
    ];
    (module, activities)
}

fn r_index(n: u8) -> Reg {
    Reg::new(n).unwrap()
}

fn program(module: &Module) -> Program<'_> {
    Program { module, functions: functions(module), name: "program.rasm".to_string() }
}

fn priced<'a>(technologies: &'a [Technology], module: &Module, activities: &[Activity]) -> Vec<PricedRun<'a>> {
    let price = |technology| PricedRun::new(technology, conditions(), module, activities).unwrap();
    technologies.iter().map(price).collect()
}

#[test]
fn csv_reads_back_and_adds_up() {
    let (module, activities) = ran();
    let technologies = technologies();
    let priced = priced(&technologies, &module, &activities);
    let text = csv(&program(&module), &priced);
    let mut sums: BTreeMap<(String, String), f64> = BTreeMap::new();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = "technology,frequency_hz,volt,phase,function,file,line,address,subject,cause,times,status,joules,joules_at_the_plug";
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>().join(","), columns);
    for row in reader.records() {
        let row = row.unwrap();
        let joules: f64 = row[12].parse().unwrap();
        assert!(joules > 0.0 && row[10].parse::<u64>().unwrap() > 0);
        let device = &priced.iter().find(|p| p.device.technology().name() == &row[0]).unwrap().device;
        near(row[13].parse().unwrap(), joules * device.plug(), 1e-12);
        *sums.entry((row[0].to_string(), row[9].to_string())).or_default() += joules;
        let known = row[5] == module.files[0] && !row[6].is_empty();
        assert!(known || (&row[5] == "program.rasm" && row[6].is_empty()), "{row:?}");
        assert_eq!(row[4].is_empty(), row[7].is_empty());
    }
    for PricedRun { device, bill, .. } in &priced {
        let total = bill.total();
        for cause in Cause::ALL {
            let key = (device.technology().name().to_string(), cause.name().to_string());
            near(sums.get(&key).copied().unwrap_or(0.0), total[cause], 1e-12);
        }
    }
    let bulk = text.lines().find(|l| l.starts_with("acmos32-bulk")).unwrap();
    let hertz = priced.iter().find(|p| p.device.technology().name() == "acmos32-bulk").unwrap().device.hertz();
    let fields: Vec<&str> = bulk.split(',').collect();
    assert_eq!((fields[1].parse().ok(), fields[2]), (hertz, "0.9"));
}

#[test]
fn what_costs_nothing_is_in_the_csv_only_if_all_does() {
    let (module, mut activities) = ran();
    activities.truncate(1);
    activities[0].counts.lost.clear();
    let technologies = [Technology::preset("landauer").unwrap()];
    let free = priced(&technologies, &module, &activities);
    let text = csv(&program(&module), &free);
    assert_eq!(text.lines().count(), 1 + free[0].bill.items.len());
    assert!(text.lines().skip(1).all(|l| l.ends_with(",0e0")), "{text}");
    assert_eq!(folded(&program(&module), &free[0]), "");
}

#[test]
fn folded_stacks_add_up_in_attojoules() {
    let (module, activities) = ran();
    for priced in priced(&technologies(), &module, &activities) {
        let text = folded(&program(&module), &priced);
        let mut sum = 0u128;
        let mut last = "";
        for line in text.lines() {
            assert!(line > last, "sorted");
            last = line;
            let (stack, atto) = line.rsplit_once(' ').unwrap();
            assert!(!stack.contains(char::is_whitespace), "{stack}");
            let mut frames: Vec<&str> = stack.split(';').collect();
            // What cooling takes for a cause.
            if frames.last() == Some(&"cooling") {
                assert!(priced.device.plug() > 1.0);
                frames.pop();
            }
            assert_eq!(frames.len(), if frames[1] == "(host)" { 4 } else { 5 }, "{stack}");
            assert!(Phase::ALL.iter().any(|p| p.name().replace(' ', "_") == frames[0]));
            assert!(Cause::ALL.iter().any(|c| c.name() == frames[frames.len() - 1]));
            sum += atto.parse::<u128>().unwrap();
        }
        let atto = priced.bill.total().total() * priced.device.plug() * 1e18;
        let rounding = priced.bill.items.len() as f64 * Cause::ALL.len() as f64;
        assert!((sum as f64 - atto).abs() <= rounding + 1e-9 * atto, "{sum} is not {atto}");
    }
    let technologies = [Technology::preset("acmos22-fdsoi").unwrap()];
    let text = folded(&program(&module), &priced(&technologies, &module, &activities)[0]);
    for start in [
        "forward;(outside);odd__\"name\",_really.rasm:5;add;adiabatic ",
        "forward;(outside);program.rasm:@2;swap;leakage ",
        "forward;(outside);odd__\"name\",_really.rasm:7;lost;erasure ",
        "forward;(host);traffic;link ",
        "copy_out;(host);traffic;erasure ",
    ] {
        assert!(text.lines().any(|l| l.starts_with(start)), "{start}\n{text}");
    }
}

/// Values by component and action, from either file.
fn yaml(text: &str, indent: usize, value: &str) -> BTreeMap<(String, String), f64> {
    let mut out = BTreeMap::new();
    let (mut component, mut action) = (String::new(), String::new());
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        let line = line.trim_start();
        if let Some(name) = line.strip_prefix("- name: ") {
            if depth == indent {
                component = name.trim_start_matches("pendula.").to_string();
            } else {
                action = name.to_string();
            }
        } else if let Some(number) = line.strip_prefix(value) {
            let old = out.insert((component.clone(), action.clone()), number.parse().unwrap());
            assert_eq!(old, None, "{component} {action}");
        }
    }
    out
}

#[test]
fn what_accelergy_reads_adds_up() {
    let (module, mut activities) = ran();
    activities
        .push(Activity { dirty: Dirty { registers: 2, memory: 3 }, ..Activity::new(Phase::End, Counts::default()) });
    for priced in priced(&technologies(), &module, &activities) {
        let name = priced.device.technology().name();
        let files: BTreeMap<String, String> = accelergy(&program(&module), &priced).into_iter().collect();
        let names = ["ART.yaml", "ERT.yaml", "action_counts.yaml", "architecture.yaml"];
        assert!(files.keys().map(String::as_str).eq(names));
        let (table, actions) = (&files["ERT.yaml"], &files["action_counts.yaml"]);
        assert!(table.contains("\nERT:\n  version: 0.4\n  tables:\n  # figures: "), "{table}");
        assert!(actions.contains("\naction_counts:\n  version: 0.4\n  subtree:\n  - name: pendula\n    local:\n"));
        let energies = yaml(table, 2, "energy: ");
        let counts = yaml(actions, 4, "counts: ");
        let sum = |wanted: fn(&str) -> bool| -> f64 {
            let all = counts.iter().filter(|((component, _), _)| wanted(component));
            all.map(|(key, times)| energies[key] * times).sum()
        };
        let total = priced.bill.total().total();
        near(sum(|component| component != "cooling") * 1e-12, total, 1e-9);
        near(sum(|_| true) * 1e-12, total * priced.device.plug(), 1e-9);
        // What leaks is an action in each cycle.
        let leaks: f64 = counts.iter().filter(|((_, a), _)| a == "\"leak\"").map(|(key, n)| energies[key] * n).sum();
        near(leaks * 1e-12, priced.bill.total()[Cause::Leakage], 1e-9);
        if let Some(cycles) = priced.device.cycles(&priced.totals) {
            assert!(counts.iter().filter(|((_, a), _)| a == "\"leak\"").all(|(_, n)| *n == cycles as f64));
        }
        // Every component of the table is in the architecture; those that have an area are among them.
        let components = |text: &str, indent: &str| -> Vec<String> {
            let start = format!("{indent}- name: ");
            let names = text.lines().filter_map(|line| line.strip_prefix(&start));
            names.map(|name| name.trim_start_matches("pendula.").to_string()).collect()
        };
        let all = components(table, "  ");
        assert_eq!(all, components(&files["architecture.yaml"], "    "), "{name}");
        let areas = components(&files["ART.yaml"], "  ");
        assert!(areas.iter().all(|component| all.contains(component)), "{name}");
        let known = priced.device.energy().area.is_some();
        let status = if known { "by figures that are assumed." } else { "by figures that are not known" };
        assert!(files["ART.yaml"].contains(status), "{name}");
        assert_eq!(areas.iter().any(|component| component == "add"), known, "{name}");
        // What Timeloop maps to: storages and a multiplier.
        if total > 0.0 && !["landauer", "ballistic"].contains(&name) {
            for (component, action) in
                [("memory", "read"), ("memory", "update"), ("registers", "write"), ("mac", "compute")]
            {
                let energy = energies[&(component.to_string(), format!("\"{action}\""))];
                assert!(energy > 0.0, "{name}: {component} {action}");
            }
        }
        for text in files.values() {
            assert!(text.contains("at the plug"), "{name}");
        }
    }
}

/// All plots, each with texts that it must contain.
fn plots() -> Vec<(String, Vec<&'static str>)> {
    let (module, activities) = ran();
    let technologies = technologies();
    let totals = Totals::new(&module, &activities);
    let swept: Vec<Swept<'_>> = technologies
        .iter()
        .map(|technology| Swept { technology, conditions: conditions(), totals: &totals, status: None })
        .collect();
    let priced = priced(&technologies, &module, &activities);
    let names: Vec<&str> =
        Technology::presets().filter(|n| !["default", "landauer", "ballistic"].contains(n)).collect();
    let with = |texts: &[&'static str]| -> Vec<&'static str> { names.iter().chain(texts).copied().collect() };
    let range = (1e4, 1e10);
    let frequency = |scope| energy_against_frequency(&swept, range, scope).unwrap();
    let schedules = Schedules { steps: 256, step_joules: 2.5e-13, erase_joules: 640.0 * 1.92e-16, base: 2 };
    vec![
        (
            frequency(Scope::Operations),
            with(&[
                "Frequency (Hz)",
                "Energy of the operations, with cooling (J)",
                "slope +1",
                "slope −1",
                "landauer: 0 J",
            ]),
        ),
        (
            frequency(Scope::Run),
            with(&["Frequency (Hz)", "Energy of the run, with cooling (J)", "landauer", "optimum"]),
        ),
        (breakdown_by_cause(&priced), with(&["Energy of the run (%)", "landauer", "adiabatic", "link"])),
        (breakdown_by_class(&priced), with(&["Energy of the run (%)", "landauer", "fixed-multiply", "traffic"])),
        (
            energies(&priced),
            with(&["Energy of the run, at the plug (J)", "landauer", "control", "memory", "5 to 95 % of draws"]),
        ),
        (
            breakdown_by_part(&priced),
            with(&["Energy of the run (%)", "landauer", "control", "* rests on assumed figures"]),
        ),
        (energy_delay(&swept, range).unwrap(), with(&["Run time (s)", "landauer: no time known", "Pareto front"])),
        (
            time_space_energy(&schedules),
            vec!["Time (step executions)", "Space (states held)", "keep all", "erase all", "Knill, p pebbles"],
        ),
    ]
}

#[test]
fn plots_are_xml_with_titles_and_names() {
    for (svg, texts) in plots() {
        let document = roxmltree::Document::parse(&svg).unwrap();
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "svg");
        let size = |name| root.attribute(name).unwrap().parse::<f64>().unwrap();
        let (width, height) = (size("width"), size("height"));
        let shown: Vec<(&str, _)> = root
            .children()
            .filter(|n| n.has_tag_name("text"))
            .map(|n| (n.text().unwrap_or_default().trim(), n))
            .collect();
        for text in texts {
            assert!(shown.iter().any(|(t, _)| t.trim_end_matches('*') == text), "{text}");
        }
        for (text, node) in shown {
            let number = |name| node.attribute(name).unwrap().parse::<f64>().unwrap() / 10.0;
            assert!((0.0..width).contains(&number("x")) && (0.0..height).contains(&number("y")), "{text}");
            // Only exponents are smaller.
            let exponent =
                text.trim_start_matches('−').chars().all(|c| c.is_ascii_digit()) && number("font-size") > 9.0;
            assert!(number("font-size") > 11.9 || exponent, "{text}");
        }
    }
}

#[test]
fn unsupported_frequencies() {
    let technologies = [Technology::preset("acmos180").unwrap()];
    let (module, activities) = ran();
    let totals = Totals::new(&module, &activities);
    let run = Swept { technology: &technologies[0], conditions: conditions(), totals: &totals, status: None };
    for range in [(1e10, 1e11), (1e6, 1e5), (0.0, 1e6), (f64::NAN, 1e6), (1e6, f64::INFINITY)] {
        let svg = energy_against_frequency(&[run], range, Scope::Run).unwrap();
        assert!(svg.contains("nothing costs energy"), "{range:?}");
        assert!(energy_delay(&[run], range).unwrap().contains("nothing takes time"), "{range:?}");
    }
    let conditions = Conditions { volt: Some(1.0), ..conditions() };
    let cold = Technology::preset("aqfp").unwrap();
    let run = Swept { technology: &cold, conditions, totals: &totals, status: None };
    assert!(energy_against_frequency(&[run], (1e5, 1e9), Scope::Run).is_err());
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn reports_are_the_same_each_time() {
    let all = || {
        let (module, activities) = ran();
        let technologies = technologies();
        let priced = priced(&technologies, &module, &activities);
        let program = program(&module);
        let mut out: Vec<String> = plots().into_iter().map(|(svg, _)| svg).collect();
        out.push(csv(&program, &priced));
        out.extend(priced.iter().map(|p| folded(&program, p)));
        out.extend(priced.iter().flat_map(|p| accelergy(&program, p)).map(|(_, text)| text));
        out
    };
    assert_eq!(all(), all());
}
