//! Ranges of bills: percentiles by closed forms, ratios by the same draws, what decides a bill, and how it is known.

use pendula_hw_model::price::{
    Activity, Cause, Conditions, Device, Dirty, Joules, Phase, Subject, Totals, billed_memory,
};
use pendula_hw_model::uncertainty::{DRAWS, Range, Uncertain, ratio};
use pendula_hw_model::work::CircuitKind;
use pendula_hw_model::{Status, Technology};
use pendula_isa::counts::{Counts, Mode};
use pendula_isa::inst::Inst;
use pendula_isa::mnemonic::lookup;
use pendula_isa::module::Module;
use pendula_isa::operand::Operand;
use pendula_isa::types::{Acc, Reg, Ty};

fn conditions() -> Conditions {
    Conditions { memory_words: 1, frac: 32, width: 64, ..Conditions::default() }
}

/// Additions, and words brought in.
fn totals(adds: u64, bits_in: u64) -> Totals {
    let mut totals = Totals { bits_in, ..Totals::default() };
    let [a, b] = [1, 2].map(|n| Operand::Reg(Reg::new(n).unwrap()));
    let add = Inst::build(lookup("add").unwrap(), &[a, b]).unwrap();
    totals.execute(&add, Mode::default(), adds, 64);
    totals
}

fn near(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

#[test]
fn a_bill_of_one_figure_has_its_percentiles() {
    // Nothing but the link: 10 to 40 pJ a bit, at the middle 20, of log-uniform halves. The 5th percentile lies a tenth into the lower half.
    let text = "name = \"link\"\n[conditions]\nsource = \"x\"\ntemperature_kelvin = 300.0\n[ideal]\nsource = \"x\"\n[link]\nsource = \"x\"\n\
                joule_per_bit = { low = 1e-11, nominal = 2e-11, high = 4e-11 }\n[erasure]\nsource = \"x\"\nlandauer_factor = 1.0\noverwrite_ratio = 1.0\n";
    let technology = Technology::parse(text).unwrap();
    let totals = totals(0, 1000);
    let uncertain = Uncertain { technology: &technology, conditions: conditions(), totals: &totals };
    let draws = uncertain.draws().unwrap();
    assert_eq!(draws.len(), DRAWS);
    near(uncertain.nominal().unwrap().joules, 2e-8, 1e-12);
    let range = Range::of(draws.iter().map(|d| d.joules).collect());
    near(range.low, 1e-8 * 2f64.powf(0.1), 0.01);
    near(range.high, 2e-8 * 2f64.powf(0.9), 0.01);
    near(Range::of(draws.iter().map(|d| d.joules).collect()).low, range.low, 1e-12);
    // The figure has no status: it is assumed.
    let basis = uncertain.basis().unwrap();
    assert_eq!(basis.of(Subject::Traffic, Cause::Link), Status::Assumed);
    let tornado = uncertain.tornado().unwrap();
    assert_eq!(tornado.len(), 1);
    near(tornado[0].low, 1e-8, 1e-12);
    near(tornado[0].high, 4e-8, 1e-12);
}

#[test]
fn what_two_technologies_share_is_drawn_once() {
    // The same link decides both bills, so their ratio is sure although neither of them is.
    let [old, new] = ["cmos45", "s2lal130"].map(|name| Technology::preset(name).unwrap());
    let totals = totals(0, 1 << 20);
    let of = |technology| Uncertain { technology, conditions: conditions(), totals: &totals }.draws().unwrap();
    let (a, b) = (of(&old), of(&new));
    assert!(Range::of(a.iter().map(|d| d.joules).collect()).is_wide());
    let same = ratio(&a, &b, |d| d.joules);
    near(same.low, 1.0, 1e-9);
    near(same.high, 1.0, 1e-9);
}

#[test]
fn every_preset_has_a_range_around_its_bill() {
    let totals = totals(1000, 6400);
    for technology in Technology::presets().filter_map(Technology::preset).filter(|t| t.energy().is_some()) {
        let uncertain = Uncertain { technology: &technology, conditions: conditions(), totals: &totals };
        let (nominal, draws) = (uncertain.nominal().unwrap(), uncertain.draws().unwrap());
        let range = Range::of(draws.iter().map(|d| d.plug).collect());
        assert!(range.low <= nominal.plug && nominal.plug <= range.high, "{}", technology.name());
        // What decides most changes the bill, and each end lies on another side of it or on none.
        for swing in uncertain.tornado().unwrap() {
            assert!(swing.figure.is_uncertain() && swing.low != swing.high, "{swing:?}");
        }
        let uncertain_figures = technology.figures().iter().filter(|f| f.is_uncertain()).count();
        assert_eq!(range.is_wide(), uncertain_figures > 0 && nominal.plug > 0.0, "{}", technology.name());
    }
}

#[test]
fn the_weakest_figure_that_matters_tells_how_a_sum_is_known() {
    let totals = totals(1000, 0);
    let technology = Technology::preset("cmos45").unwrap();
    let uncertain = Uncertain { technology: &technology, conditions: conditions(), totals: &totals };
    let basis = uncertain.basis().unwrap();
    let add = Subject::Class(CircuitKind::Accumulator(Acc::Add, Ty::Int).class());
    // The energy of an adder is published without saying how it was found; what is fetched for it is assumed.
    assert_eq!(basis.of(add, Cause::Switching), Status::Projected);
    assert_eq!(basis.of(Subject::Fetch, Cause::Switching), Status::Assumed);
    let device = Device::for_run(&technology, conditions(), &totals).unwrap();
    let parts = device.by_subject(&totals);
    assert_eq!(basis.of_sum(parts.clone()), Some(Status::Assumed));
    let switching = |s| Joules::of(Cause::Switching, parts[&s][Cause::Switching]);
    assert_eq!(basis.of_sum([(add, switching(add))]), Some(Status::Projected));
    assert_eq!(basis.of_sum([]), None);
    let sum: f64 = device.by_subject(&totals).values().map(|j| j.total()).sum();
    near(device.total(&totals).total(), sum, 1e-12);
}

#[test]
fn three_dirty_words_cost_their_bits_at_the_limit() {
    let dirty = Dirty { registers: 2, memory: 1 };
    let module = Module::default();
    let end = Activity { dirty, ..Activity::new(Phase::End, Counts::default()) };
    let totals = Totals::new(&module, &[end]);
    assert_eq!((totals.dirty, totals.bits_dirty), (dirty, 192));
    let technology = Technology::preset("landauer").unwrap();
    let device = Device::for_run(&technology, conditions(), &totals).unwrap();
    near(device.total(&totals).total(), 3.0 * 64.0 * 1.380_649e-23 * 300.0 * std::f64::consts::LN_2, 1e-12);
    // A word of memory takes its access beside its bits.
    let technology = Technology::preset("cmos45").unwrap();
    let device = Device::for_run(&technology, conditions(), &totals).unwrap();
    let [register, memory] =
        [(1, 0), (0, 1)].map(|(registers, memory)| device.dirty(Dirty { registers, memory }).total());
    let difference = memory - register;
    assert!(difference > 0.5 * device.unit(CircuitKind::Memory).total(), "{difference}");
}

#[test]
fn memory_is_billed_as_a_power_of_two() {
    for (touched, billed) in [(0, 1), (1, 1), (2, 2), (3, 4), (4, 4), (1024, 1024), (1025, 2048), (u64::MAX, u64::MAX)]
    {
        assert_eq!(billed_memory(touched), billed, "{touched}");
    }
}

#[test]
fn the_link_of_another_technology() {
    let [own, other] = ["acmos22-fdsoi", "cmos45"].map(|name| Technology::preset(name).unwrap());
    let joined = own.with_link_of(&other).unwrap();
    let link = |t: &Technology| t.energy().unwrap().link;
    assert_eq!(link(&joined), link(&other));
    assert_ne!(link(&joined), link(&own));
    assert_eq!(joined.energy().unwrap().logic, own.energy().unwrap().logic);
}
