//! Values that the energy model must reproduce, and properties that hold for any program.

use std::f64::consts::{FRAC_PI_4, LN_2};

use pendula_hw_model::circuit::part::{Accumulator, CircuitFn, Part, generate};
use pendula_hw_model::clocking::Pipeline;
use pendula_hw_model::gate_counts::{Shape, gates};
use pendula_hw_model::mapping::{Cell, Mapping};
use pendula_hw_model::physics::ramp_loss;
use pendula_hw_model::price::{Activity, Bill, Cause, Conditions, Device, Phase, PriceError, Subject, Totals};
use pendula_hw_model::work::{CircuitKind, CircuitUsage};
use pendula_hw_model::{Logic, Technology};
use pendula_isa::counts::{Block, Counts, Direction, Mode, ModeCounts};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::{families, lookup};
use pendula_isa::module::Module;
use pendula_isa::operand::Operand;
use pendula_isa::table::TableFn;
use pendula_isa::types::{Acc, Cond, Reg, Ty};

fn near(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

fn conditions() -> Conditions {
    Conditions { memory_words: 1 << 20, frac: 32, width: 64, ..Conditions::default() }
}

const ADD: CircuitKind = CircuitKind::Accumulator(Acc::Add, Ty::Int);
const XOR: CircuitKind = CircuitKind::Accumulator(Acc::Xor, Ty::Int);

/// A technology with other figures.
fn with(name: &str, figures: &[(&str, f64)]) -> Technology {
    let technology = Technology::preset(name).unwrap();
    assert!(figures.iter().all(|(key, _)| technology.figures().iter().any(|f| f.key == *key)), "{figures:?}");
    technology
        .with_figures(&|key, nominal| figures.iter().find(|(k, _)| *k == key).map_or(nominal, |(_, value)| *value))
        .unwrap()
}

#[test]
fn a_cascade_by_hand() {
    // y ^= a, 64 bits: a level of exclusive ors makes the new word, which 64 latches take; another makes the old word, and 64 latches open. Each
    // goes up, is held for two ticks, and goes down.
    let tech = with("acmos22-fdsoi", &[("datapath.idle_ratio", 0.0)]);
    let (volt, tau, r, xor, latch) = (0.8f64, 12e-12, 1e-6, 2.4e-15, 2.4e-15);
    for hertz in [1e6, 1e7, 1e9] {
        let device = Device::new(&tech, Conditions { hertz: Some(hertz), ..conditions() }).unwrap();
        let x = 1.0 / (8.0 * hertz * tau);
        let joules = device.unit(XOR);
        let cv2 = 2.0 * 64.0 * (xor + latch) * volt * volt;
        near(joules[Cause::Adiabatic], cv2 * 2.0 * ramp_loss(x), 1e-12);
        near(joules[Cause::Leakage], 2.0 * 64.0 * (3.0 * xor + 2.0 * latch) * volt * volt * r * x, 1e-12);
        near(joules[Cause::Clock], FRAC_PI_4 * 3.0 * cv2 / 100.0, 1e-12);
        let mut work = CircuitUsage::default();
        work.add(XOR, 1);
        // Eight ticks of the access to instructions, and two cascades of 2 + 2 ticks.
        assert_eq!((device.ticks_of(&work), device.cycles_of(&work)), (16.0, Some(2)));
    }
}

#[test]
fn ramps_and_supply_lose_no_more_than_abrupt_switching() {
    for name in ["resonant22"] {
        for part in [0.0, 0.9] {
            let tech = with(name, &[("clock.recovered_ratio", part), ("datapath.idle_ratio", 0.0)]);
            let Logic::Ramped(ramped) = tech.energy().unwrap().logic else { panic!("ramped") };
            let netlist = Mapping::Balanced.unit(ADD, Shape { width: 64, frac: 32, memory: 0 }).forward;
            let cv2 = netlist.weigh(|cell| ramped.farad.of(cell)) * ramped.physics.volt.powi(2);
            for exponent in 3..=15 {
                let device =
                    Device::new(&tech, Conditions { hertz: Some(10f64.powi(exponent)), ..conditions() }).unwrap();
                let joules = device.unit(ADD);
                let both = joules[Cause::Adiabatic] + joules[Cause::Clock];
                // What is not recovered is measured with the logic: it is all, until the ramps alone lose more.
                near(both, ((1.0 - part) * cv2).max(joules[Cause::Adiabatic]), 1e-9);
                assert!(both <= cv2 * (1.0 + 1e-9));
            }
        }
    }
}

#[test]
fn a_chain_of_dependent_operations_takes_its_depth() {
    let mut chain = CircuitUsage::default();
    chain.add(ADD, 10);
    let adder = generate(Part::Accumulate(Accumulator::AddOrSubtract, CircuitFn::Wire), 64).unwrap();
    let depth = Pipeline::of(&adder).levels;
    for (name, period) in [("acmos22-pipelined", 8), ("acmos180", 4)] {
        let tech = with(name, &[("processor.fetch_ticks", 0.0)]);
        let device = Device::new(&tech, conditions()).unwrap();
        // D ramps, in whole periods; a full stream would take one period each.
        assert_eq!(device.ticks_of(&chain) as u64, 10 * depth.div_ceil(period) * period);
        assert_eq!(device.cycles_of(&chain), Some(10 * depth.div_ceil(period)));
        assert_eq!(Pipeline::of(&adder).stream_ticks(period), period);
        assert!(depth > 4 * period);
    }
    for (name, mapping) in [("aqfp", Mapping::Aqfp), ("rqfp", Mapping::Rqfp)] {
        let tech = with(name, &[("processor.fetch_ticks", 0.0), ("datapath.idle_ratio", 0.0)]);
        let device = Device::new(&tech, conditions()).unwrap();
        let netlist = mapping.unit(ADD, device.shape()).forward;
        assert_eq!(device.cycles_of(&chain), Some(10 * netlist.levels.div_ceil(4)));
        // Every junction of the block in every one of these cycles.
        let Logic::Junctions(logic) = tech.energy().unwrap().logic else { panic!("junctions") };
        let junctions = netlist.weigh(|cell| logic.junctions.of(cell));
        near(device.work(&chain).total(), 10.0 * netlist.levels.div_ceil(4) as f64 * junctions * 1.4e-21, 1e-12);
    }
}

#[test]
fn majorities_lose_information_at_any_speed() {
    let tech = with("aqfp", &[("datapath.idle_ratio", 0.0)]);
    let device = Device::new(&tech, Conditions { hertz: Some(1.0), ..conditions() }).unwrap();
    let netlist = Mapping::Aqfp.unit(ADD, device.shape()).forward;
    let floor = netlist.of(Cell::Majority).count as f64 * 1.19 * 1.380_649e-23 * 4.2 * LN_2;
    near(device.unit(ADD).total(), floor * netlist.levels.div_ceil(4) as f64, 1e-3);
    let tech = with("rqfp", &[("datapath.idle_ratio", 0.0)]);
    let device = Device::new(&tech, Conditions { hertz: Some(1.0), ..conditions() }).unwrap();
    assert!(device.unit(ADD).total() < 1e-3 * floor, "a reversible gate has no floor");
}

#[test]
fn operations_of_conventional_cmos_are_the_published_ones() {
    use pendula_isa::table::{f_fn, int_fn};
    let function = |func| CircuitKind::Function { func, xor: false };
    for (unit, figures) in [
        (ADD, [0.1e-12, 0.030e-12]),
        (function(TableFn::Int(int_fn::Name::Mul)), [3.1e-12, 1.48e-12]),
        (CircuitKind::Accumulator(Acc::Add, Ty::F), [0.9e-12, 0.38e-12]),
        (function(TableFn::F(f_fn::Name::Mul)), [3.7e-12, 1.31e-12]),
    ] {
        for (name, published) in ["cmos45", "cmos7"].into_iter().zip(figures) {
            let tech = Technology::preset(name).unwrap();
            let at = |width, frac| {
                let device = Device::new(&tech, Conditions { width, frac, ..conditions() }).unwrap();
                device.unit(unit)[Cause::Switching]
            };
            near(at(32, 16), published, 1e-12);
            // Twice the width: an adder is twice as large, a multiplier four times, floating point in between.
            let growth = at(64, 32) / published;
            assert!((1.9..6.0).contains(&growth), "{unit:?}: {growth}");
        }
    }
    let tech = Technology::preset("cmos45").unwrap();
    let device = Device::new(&tech, conditions()).unwrap();
    near(device.unit(CircuitKind::Memory).total(), 100e-12 * 8f64.powf(0.4644), 0.01);
}

/// A program of some instructions with their execution counts.
fn ran(program: &[(&str, &[Operand], u64)], direction: Direction, level: u8) -> (Module, Counts) {
    let code: Vec<Inst> = program.iter().map(|(m, ops, _)| Inst::build(lookup(m).unwrap(), ops).unwrap()).collect();
    let singles = program.iter().enumerate().map(|(at, (.., n))| (at as u32, *n)).collect();
    let mode = Mode { direction, level, tangents: false };
    let counts =
        Counts { blocks: Vec::<Block>::new(), modes: vec![ModeCounts { mode, blocks: vec![], singles }], lost: vec![] };
    (Module { code, ..Module::default() }, counts)
}

fn r(n: u8) -> Operand {
    Operand::Reg(Reg::new(n).unwrap())
}

#[test]
fn with_reversible_operations_free_only_traffic_and_erasing_cost() {
    let mut text = String::new();
    for line in include_str!("../technologies/landauer.toml").lines() {
        let line = line.replace("joule_per_bit = 0.0", "joule_per_bit = 1e-12");
        text += &line.replace("overwrite_ratio = 1.0", "overwrite_ratio = 0.25");
        text.push('\n');
    }
    let tech = Technology::parse(&text).unwrap();
    let device = Device::new(&tech, conditions()).unwrap();
    let (module, mut counts) = ran(&[("addmul.q", &[r(1), r(2), r(3)], 1_000_000)], Direction::Forward, 0);
    counts.lost = vec![(0, 640)];
    let back = Counts { lost: vec![], ..counts.clone() };
    let phase = |phase, counts, words_in, words_out| Activity { words_in, words_out, ..Activity::new(phase, counts) };
    let activities = [
        phase(Phase::Forward, counts, 3, 0),
        phase(Phase::CopyOut, Counts::default(), 0, 5),
        phase(Phase::Backward, back, 0, 0),
        phase(Phase::GradientCopy, Counts::default(), 0, 7),
    ];
    let bill = Bill::new(&device, &module, &activities);
    let erase = 2.870979e-21;
    let out = (5.0 + 7.0) * 64.0 * (1e-12 + 0.25 * erase);
    near(bill.total().total(), 3.0 * 64.0 * 1e-12 + out + 640.0 * erase, 1e-9);
    let by = bill.by(|i| i.phase);
    assert_eq!(by[&Phase::Backward].total(), 0.0);
    near(by[&Phase::GradientCopy].total(), 7.0 * 64.0 * (1e-12 + 0.25 * erase), 1e-9);
}

#[test]
fn a_bill_adds_up() {
    for name in Technology::presets().filter(|name| *name != "default") {
        let tech = Technology::preset(name).unwrap();
        let device = Device::new(&tech, conditions()).unwrap();
        let program: &[(&str, &[Operand], u64)] =
            &[("add", &[r(1), r(2)], 10), ("addmul.q", &[r(1), r(2), r(3)], 20), ("swap", &[r(1), r(2)], 30)];
        let (module, counts) = ran(program, Direction::Forward, 0);
        let activity = Activity::new(Phase::Forward, counts);
        let totals = Totals::new(&module, std::slice::from_ref(&activity));
        let bill = Bill::new(&device, &module, &[activity]);
        near(device.total(&totals).total(), bill.total().total(), 1e-12);
        let sums: f64 = bill.by(|i| i.subject).values().map(|j| j.total()).sum();
        near(sums, bill.total().total(), 1e-12);
        let causes: f64 = Cause::ALL.iter().map(|c| bill.total()[*c]).sum();
        near(causes, bill.total().total(), 1e-12);
        let by = bill.by(|i| i.subject);
        if tech.energy().unwrap().logic == Logic::Ideal {
            assert_eq!(bill.total().total(), 0.0);
            continue;
        }
        near(by[&Subject::Fetch].total(), 60.0 * device.fetch().total(), 1e-12);
        // Two, three and two register operands, one, one and two of which change.
        let accesses = if device.hertz().is_none() { 10 * 3 + 20 * 4 + 30 * 4 } else { 2 * (10 * 2 + 20 * 3 + 30 * 2) };
        near(by[&Subject::Registers].total(), f64::from(accesses) * device.register().total(), 1e-12);
        // Gradients cost more.
        let (_, counts) = ran(program, Direction::Backward, 1);
        let activity = Activity::new(Phase::Backward, counts);
        assert!(Bill::new(&device, &module, &[activity]).total().total() > bill.total().total());
    }
}

#[test]
fn unsupported_conditions() {
    let error = |name: &str, hertz: Option<f64>, volt: Option<f64>| {
        let tech = Technology::preset(name).unwrap();
        Device::new(&tech, Conditions { hertz, volt, ..conditions() }).map(|_| ()).unwrap_err()
    };
    assert!(matches!(error("default", None, None), PriceError::NoEnergy(_)));
    assert!(matches!(error("cmos45", Some(1e9), None), PriceError::Frequency(_)));
    assert!(matches!(error("acmos180", Some(-1.0), None), PriceError::Frequency(_)));
    assert!(matches!(error("acmos180", Some(f64::NAN), None), PriceError::Frequency(_)));
    assert!(matches!(error("aqfp", None, Some(1.0)), PriceError::Voltage(_)));
    assert!(matches!(error("acmos22-fdsoi", None, Some(0.2)), PriceError::Voltage(_)));
    assert!(matches!(error("landauer", None, Some(1.0)), PriceError::Voltage(_)));
    let heated = |name: &str, kelvin: f64| {
        let tech = Technology::preset(name).unwrap();
        Device::new(&tech, Conditions { kelvin: Some(kelvin), ..conditions() }).map(|d| d.kelvin())
    };
    assert!(matches!(heated("cmos45", 350.0), Err(PriceError::Temperature(_))));
    assert!(matches!(heated("acmos22-fdsoi", -1.0), Err(PriceError::Temperature(_))));
    assert_eq!((heated("acmos22-fdsoi", 350.0), heated("landauer", 4.2)), (Ok(350.0), Ok(4.2)));
}

#[test]
fn comparisons_cost_what_conditions_do() {
    use pendula_isa::table::{Row, int_fn::Name};
    let shape = Shape { width: 64, frac: 32, memory: 0 };
    for (ty, cond, func) in [
        (Ty::Int, Cond::Lt, Name::Lt),
        (Ty::Int, Cond::Eq, Name::Eq),
        (Ty::Q, Cond::Lt, Name::LtQ),
        (Ty::Q, Cond::Eq, Name::EqQ),
        (Ty::L, Cond::Lt, Name::LtL),
        (Ty::L, Cond::Eq, Name::EqL),
        (Ty::F, Cond::Lt, Name::LtF),
        (Ty::F, Cond::Eq, Name::EqF),
    ] {
        let function = gates(CircuitKind::Function { func: TableFn::Int(func), xor: true }, shape);
        let row = |row, inverse| gates(CircuitKind::Row { row, ty, cond, form: false, inverse }, shape);
        assert_eq!(row(Row::Jmp, true), function, "{func:?}");
        let check = row(Row::Assert, false);
        assert_eq!((check.not, check.toffoli), (function.not + 1, function.toffoli), "{func:?}");
        // The other half changes the program counter, too.
        assert!(row(Row::Jmp, false).toffoli > function.toffoli, "{func:?}");
    }
}

#[test]
#[ignore = "takes half a minute: part of .ci/full"]
fn every_unit_of_every_instruction_has_a_circuit() {
    let tech = Technology::preset("aqfp").unwrap();
    let device = Device::new(&tech, Conditions { width: 8, frac: 4, ..conditions() }).unwrap();
    for kind in families() {
        if let Kind::Row { row, inverse, ty, cond, form } = kind {
            let price = device.unit(CircuitKind::Row { row, ty, cond, form, inverse }).total();
            assert!(price > 0.0 || cond == Cond::Always, "{}", kind.mnemonic());
        }
    }
    for func in TableFn::ALL {
        let info = func.info();
        let price = device.unit(CircuitKind::Function { func: *func, xor: false }).total();
        // Circuits that pass on an operand, or only change wires.
        let down = *func == TableFn::Int(pendula_isa::table::int_fn::Name::CvtQ);
        let free = info.name.is_empty() || down || ["relu", "floor", "abs"].contains(&info.name);
        assert!(price > 0.0 || free, "{func:?}");
    }
}
