//! The energies of a technology, from the tables of its file.

use std::ops::Range;

use pendula_isa::Kind;
use pendula_isa::mnemonic;
use pendula_isa::table::TableFn;
use toml::Spanned;

use super::{
    AdiabaticTable, AreaTable, CellJouleTable, CellTable, ClockTable, DatapathTable, ErasureTable, File, JunctionTable,
    Memory, Number, OperationTable, ProcessorTable, TechnologyError, error, not_negative, positive, within,
};
use crate::mapping::{Cell, Mapping};
use crate::physics::{Adiabatic, Ramp, Scaling};
use crate::technology::{
    Access, AccessUnit, Area, Cells, Clock, Datapath, Discipline, Energy, Erasure, Junctions, Logic, MemoryTable,
    Operations, PerCell, Processor, Ramped, Static,
};

/// The figures of a table that has one for each cell.
macro_rules! cells_of {
    ($table:expr) => {
        [
            (Cell::And, &$table.and),
            (Cell::Xor, &$table.xor),
            (Cell::Majority, &$table.majority),
            (Cell::Latch, &$table.latch),
            (Cell::Buffer, &$table.buffer),
            (Cell::Not, &$table.not),
            (Cell::Cnot, &$table.cnot),
            (Cell::Toffoli, &$table.toffoli),
            (Cell::Cswap, &$table.cswap),
        ]
    };
}

type Result<T> = std::result::Result<T, TechnologyError>;

/// The tables that say how gates are made, of which a file has one.
const KINDS: &str = "`ideal`, `operation_joule`, `adiabatic`, `junction` or `cell_joule`";

fn span<T>(table: &Option<Spanned<T>>) -> Option<Range<usize>> {
    table.as_ref().map(Spanned::span)
}

/// The energies of a file, which ends after this many bytes; `None` if it has only latencies.
pub(super) fn energy(file: &File, end: usize) -> Result<Option<Energy>> {
    let kinds = [
        ("ideal", span(&file.ideal)),
        ("operation_joule", span(&file.operation_joule)),
        ("adiabatic", span(&file.adiabatic)),
        ("junction", span(&file.junction)),
        ("cell_joule", span(&file.cell_joule)),
    ];
    let mut there: Vec<_> = kinds.iter().filter_map(|(key, span)| span.clone().map(|s| (*key, s))).collect();
    there.sort_by_key(|(_, span)| span.start);
    let mut there = there.into_iter();
    let kind = there.next();
    if let (Some((first, _)), Some((second, span))) = (&kind, there.next()) {
        return error(format!("a technology is of one kind: it has `{first}` and `{second}`"), span);
    }
    for (key, span) in
        [("gate_farad", span(&file.gate_farad)), ("clock", span(&file.clock)), ("scaling", span(&file.scaling))]
    {
        if let Some(span) = span
            && kind.as_ref().map(|(k, _)| *k) != Some("adiabatic")
        {
            return error(format!("`{key}` is of use only beside `adiabatic`"), span);
        }
    }
    let rest = [
        ("conditions", span(&file.conditions)),
        ("datapath", span(&file.datapath)),
        ("processor", span(&file.processor)),
        ("memory", span(&file.memory)),
        ("link", span(&file.link)),
        ("erasure", span(&file.erasure)),
        ("cooling", span(&file.cooling)),
        ("area", span(&file.area)),
    ];
    let Some((kind, place)) = kind else {
        if let Some((key, Some(span))) = rest.iter().find(|(_, span)| span.is_some()) {
            return error(
                format!("`{key}` is there, but no table that says how gates are made: {KINDS}"),
                span.clone(),
            );
        }
        return Ok(None);
    };
    let lacks = |key: &str| error(format!("`{kind}` wants a table `{key}` beside it"), place.clone());
    let Some(conditions) = file.conditions.as_ref().map(Spanned::get_ref) else { return lacks("conditions") };
    let kelvin = within("temperature_kelvin", &conditions.temperature_kelvin, 0.01, 1000.0)?;
    let logic = if let Some(table) = &file.adiabatic {
        let Some(gates) = &file.gate_farad else { return lacks("gate_farad") };
        Logic::Ramped(ramped(file, table, gates, kelvin)?)
    } else if let Some(table) = &file.operation_joule {
        Logic::Static(conventional(table.get_ref())?)
    } else if let Some(table) = &file.junction {
        Logic::Junctions(junctions(table.get_ref())?)
    } else if let Some(table) = &file.cell_joule {
        Logic::Cells(cells(table)?)
    } else {
        Logic::Ideal
    };
    if logic == Logic::Ideal {
        for (key, span) in
            [("memory", span(&file.memory)), ("processor", span(&file.processor)), ("datapath", span(&file.datapath))]
        {
            if let Some(span) = span {
                return error(format!("`{key}` is of no use beside `ideal`, where operations cost nothing"), span);
            }
        }
    }
    let Some(link) = &file.link else { return lacks("link") };
    let Some(erasure) = &file.erasure else { return lacks("erasure") };
    let overwrite =
        erasure.get_ref().overwrite_ratio.as_ref().map(|n| within("overwrite_ratio", n, 0.0, 1.0)).transpose()?;
    let cooling =
        file.cooling.as_ref().map(|t| not_negative("watt_per_watt", &t.get_ref().watt_per_watt)).transpose()?;
    let range = match (&conditions.lowest_hertz, &conditions.highest_hertz) {
        (None, None) => None,
        (low, high) => {
            let low = low.as_ref().map(|n| positive("lowest_hertz", n)).transpose()?.unwrap_or(1e-3);
            let end = high.as_ref().map_or(end..end, Spanned::span);
            let high = high.as_ref().map(|n| positive("highest_hertz", n)).transpose()?.unwrap_or(1e18);
            if low > high {
                return error(format!("`highest_hertz` must not be below `lowest_hertz`, {low}"), end);
            }
            Some((low, high))
        }
    };
    Ok(Some(Energy {
        kelvin,
        datapath: file.datapath.as_ref().map(|t| datapath(t.get_ref(), &logic)).transpose()?.unwrap_or_default(),
        processor: file.processor.as_ref().map(|t| processor(t, &logic)).transpose()?,
        memory: file.memory.as_ref().map(|t| memory(t, &logic)).transpose()?,
        link: not_negative("joule_per_bit", &link.get_ref().joule_per_bit)?,
        erasure: erasing(erasure, &logic)?,
        overwrite: overwrite.unwrap_or(1.0),
        cooling: cooling.unwrap_or(0.0),
        area: file.area.as_ref().map(|t| area(t, &logic)).transpose()?,
        range,
        logic,
    }))
}

fn conventional(table: &OperationTable) -> Result<Static> {
    Ok(Static {
        operations: Operations {
            int32_add: positive("int32_add", &table.int32_add)?,
            int32_mul: positive("int32_mul", &table.int32_mul)?,
            fp32_add: positive("fp32_add", &table.fp32_add)?,
            fp32_mul: positive("fp32_mul", &table.fp32_mul)?,
        },
        level_second: positive("level_second", &table.level_second)?,
        leakage: not_negative("leakage_ratio", &table.leakage_ratio)?,
        clock_tree: not_negative("clock_tree_ratio", &table.clock_tree_ratio)?,
    })
}

/// A whole number from 1 to 1000.
fn count(key: &str, n: &Number) -> Result<u32> {
    let x = within(key, n, 1.0, 1000.0)?;
    if x.fract() == 0.0 { Ok(x as u32) } else { error(format!("`{key}` must be a whole number, and is {x}"), n.span()) }
}

fn ramped(file: &File, table: &Spanned<AdiabaticTable>, gates: &Spanned<CellTable>, kelvin: f64) -> Result<Ramped> {
    let (place, table) = (table.span(), table.get_ref());
    let volt = within("supply_volt", &table.supply_volt, 1e-3, 100.0)?;
    let ramp = match table.ramp.as_ref().map(|t| (t.get_ref().as_str(), t.span())) {
        None | Some(("linear", _)) => Ramp::Linear,
        Some(("sine", _)) => Ramp::Sine,
        Some((other, span)) => return error(format!("`ramp` is `linear` or `sine`, and not `{other}`"), span),
    };
    let only = |key: &str, of: &str, n: &Option<Number>| match n {
        Some(n) => error(format!("`{key}` belongs to the discipline `{of}`"), n.span()),
        None => Ok(()),
    };
    let (discipline, wanted): (Discipline, &[Cell]) = match table.discipline.get_ref().as_str() {
        "retractile" => {
            only("residual_volt", "quasi", &table.residual_volt)?;
            let held = table.held_ticks.as_ref().map(|n| within("held_ticks", n, 0.0, 1e6)).transpose()?.unwrap_or(2.0);
            (Discipline::Retractile { held }, &[Cell::And, Cell::Xor, Cell::Majority, Cell::Latch])
        }
        "pipelined" => {
            only("residual_volt", "quasi", &table.residual_volt)?;
            only("held_ticks", "retractile", &table.held_ticks)?;
            (Discipline::Pipelined, &[Cell::Not, Cell::Cnot, Cell::Toffoli, Cell::Cswap, Cell::Buffer])
        }
        "quasi" => {
            only("held_ticks", "retractile", &table.held_ticks)?;
            let Some(residual) = &table.residual_volt else {
                return error("the discipline `quasi` wants `residual_volt`, below which charge is lost", place);
            };
            let residual_volt = within("residual_volt", residual, 0.0, volt)?;
            (Discipline::Quasi { residual_volt }, &[Cell::And, Cell::Xor, Cell::Majority, Cell::Latch, Cell::Buffer])
        }
        other => {
            let message = format!("`discipline` is `retractile`, `pipelined` or `quasi`, and not `{other}`");
            return error(message, table.discipline.span());
        }
    };
    let shortest = table.shortest_ramp_second.as_ref().map(|n| not_negative("shortest_ramp_second", n)).transpose()?;
    Ok(Ramped {
        discipline,
        physics: Adiabatic {
            volt,
            kelvin,
            time_constant: positive("time_constant_second", &table.time_constant_second)?,
            leakage: within("leakage_ratio", &table.leakage_ratio, 1e-30, 0.01)?,
            ramp,
            scaling: scaling(file, volt)?,
        },
        farad: per_cell(&cells_of!(gates.get_ref()), wanted, "gate_farad", gates.span())?,
        ticks_per_cycle: count("ticks_per_cycle", &table.ticks_per_cycle)?,
        shortest_ramp: shortest.unwrap_or(0.0),
        clock: file.clock.as_ref().map(clock).transpose()?.unwrap_or(Clock::Ideal),
    })
}

fn scaling(file: &File, volt: f64) -> Result<Option<Scaling>> {
    let Some(table) = file.scaling.as_ref().map(Spanned::get_ref) else { return Ok(None) };
    let threshold = positive("threshold_volt", &table.threshold_volt)?;
    if threshold >= volt {
        return error(format!("`threshold_volt` must be below `supply_volt`, {volt}"), table.threshold_volt.span());
    }
    Ok(Some(Scaling {
        threshold,
        alpha: within("alpha", &table.alpha, 1.0, 2.0)?,
        slope: within("subthreshold_slope", &table.subthreshold_slope, 1.0, 3.0)?,
        per_kelvin: within("threshold_volt_per_kelvin", &table.threshold_volt_per_kelvin, 0.0, 0.01)?,
        barrier: within("barrier_lowering", &table.barrier_lowering, 0.0, 1.0)?,
        floor: within("leakage_floor", &table.leakage_floor, 0.0, 1.0)?,
    }))
}

type CellFigures<'a> = [(Cell, &'a Option<Number>); Cell::ALL.len()];

/// A figure for each cell that a netlist has, and for no other.
fn per_cell(figures: &CellFigures<'_>, wanted: &[Cell], table: &str, place: Range<usize>) -> Result<PerCell> {
    let mut out = Vec::new();
    for (cell, figure) in figures {
        match (figure, wanted.contains(cell)) {
            (Some(n), true) => out.push((*cell, positive(cell.key(), n)?)),
            (None, false) => {}
            (None, true) => {
                return error(
                    format!("`{table}` lacks `{}`, which netlists of this discipline have", cell.key()),
                    place,
                );
            }
            (Some(n), false) => {
                let all: Vec<String> = wanted.iter().map(|c| format!("`{}`", c.key())).collect();
                let message =
                    format!("netlists of this discipline have no cells `{}`; they have {}", cell.key(), all.join(", "));
                return error(message, n.span());
            }
        }
    }
    Ok(PerCell::new(out))
}

fn clock(table: &Spanned<ClockTable>) -> Result<Clock> {
    let (place, table) = (table.span(), table.get_ref());
    let ideal = table.ideal.as_ref().filter(|ideal| *ideal.get_ref());
    let resonator = [&table.at_hertz, &table.exponent, &table.load_ratio, &table.driver_joule];
    if table.quality.is_none()
        && let Some(n) = resonator.into_iter().flatten().next()
    {
        return error("this belongs to a resonator, which has a `quality`", n.span());
    }
    match (ideal, &table.quality, &table.recovered_ratio) {
        (Some(_), None, None) => Ok(Clock::Ideal),
        (None, Some(quality), None) => {
            let law = match (&table.at_hertz, &table.exponent) {
                (None, None) => None,
                (Some(at), Some(p)) => Some((positive("at_hertz", at)?, within("exponent", p, 0.0, 2.0)?)),
                (Some(one), None) => return error("`at_hertz` wants `exponent` beside it", one.span()),
                (None, Some(one)) => return error("`exponent` wants `at_hertz` beside it", one.span()),
            };
            let load = table.load_ratio.as_ref().map(|n| within("load_ratio", n, 1.0, 1e6)).transpose()?;
            let driver = table.driver_joule.as_ref().map(|n| not_negative("driver_joule", n)).transpose()?;
            Ok(Clock::Resonant {
                quality: positive("quality", quality)?,
                law,
                load: load.unwrap_or(1.0),
                driver: driver.unwrap_or(0.0),
            })
        }
        (None, None, Some(part)) => Ok(Clock::Recovered(within("recovered_ratio", part, 0.0, 1.0)?)),
        (None, None, None) => error("`clock` wants `quality`, `recovered_ratio`, or `ideal = true`", place),
        _ => error("`clock` takes one of `quality`, `recovered_ratio` and `ideal`", place),
    }
}

fn junctions(table: &JunctionTable) -> Result<Junctions> {
    let gate = positive("gate_junctions", &table.gate_junctions)?;
    let buffer = positive("buffer_junctions", &table.buffer_junctions)?;
    let (mapping, figures) = match table.discipline.get_ref().as_str() {
        "aqfp" => (Mapping::Aqfp, vec![(Cell::Majority, gate), (Cell::Buffer, buffer)]),
        // A reversible gate for each of the levels on which a CNOT, a Toffoli gate or a controlled exchange has gates.
        "rqfp" => {
            let gates = [(Cell::Cnot, 2.0), (Cell::Toffoli, 3.0), (Cell::Cswap, 7.0)];
            let mut figures: Vec<(Cell, f64)> = gates.map(|(cell, n)| (cell, n * gate)).to_vec();
            figures.push((Cell::Buffer, buffer));
            (Mapping::Rqfp, figures)
        }
        other => {
            let message = format!("`discipline` is `aqfp` or `rqfp`, and not `{other}`");
            return error(message, table.discipline.span());
        }
    };
    let lost = table.lost_bits.as_ref().map(|n| within("lost_bits", n, 0.0, 3.0)).transpose()?.unwrap_or(0.0);
    Ok(Junctions {
        mapping,
        joule: positive("joule", &table.joule)?,
        hertz: positive("at_hertz", &table.at_hertz)?,
        junctions: PerCell::new(figures),
        lost_bits: lost,
    })
}

fn cells(table: &Spanned<CellJouleTable>) -> Result<Cells> {
    let (place, t) = (table.span(), table.get_ref());
    let Some(mapping) = Mapping::ALL.into_iter().find(|m| m.name() == t.mapping.get_ref()) else {
        let all: Vec<String> = Mapping::ALL.iter().map(|m| format!("`{}`", m.name())).collect();
        let message = format!("there is no mapping `{}`; there are {}", t.mapping.get_ref(), all.join(", "));
        return error(message, t.mapping.span());
    };
    let wanted: &[Cell] = match mapping {
        Mapping::Cascade => &[Cell::And, Cell::Xor, Cell::Majority, Cell::Latch],
        Mapping::Balanced => &[Cell::And, Cell::Xor, Cell::Majority, Cell::Latch, Cell::Buffer],
        Mapping::Reversible | Mapping::Rqfp => &[Cell::Not, Cell::Cnot, Cell::Toffoli, Cell::Cswap, Cell::Buffer],
        Mapping::Aqfp => &[Cell::Majority, Cell::Buffer],
    };
    Ok(Cells {
        mapping,
        joule: per_cell(&cells_of!(t), wanted, "cell_joule", place)?,
        hertz: positive("at_hertz", &t.at_hertz)?,
        levels_per_cycle: count("levels_per_cycle", &t.levels_per_cycle)?,
    })
}

fn datapath(table: &DatapathTable, logic: &Logic) -> Result<Datapath> {
    let functions = |names: &Spanned<Vec<super::Text>>| -> Result<Vec<TableFn>> {
        let one = |name: &super::Text| match mnemonic::lookup(name.get_ref()) {
            Some(Kind::Accumulate { func, .. }) => Ok(func),
            Some(Kind::Row { .. } | Kind::Extension { .. }) | None => error(
                format!(
                    "a unit is named by an instruction that computes its function, such as `addmul`, and not `{}`",
                    name.get_ref()
                ),
                name.span(),
            ),
        };
        names.get_ref().iter().map(one).collect()
    };
    if let (Some(names), Logic::Ramped(_)) = (&table.iterative, logic)
        && !names.get_ref().is_empty()
    {
        let message = "adiabatic logic has no iterative units: a slice that is used again would have to keep what it computed before";
        return error(message, names.span());
    }
    Ok(Datapath {
        unrolled: functions(&table.unrolled)?,
        iterative: table.iterative.as_ref().map(functions).transpose()?.unwrap_or_default(),
        idle: within("idle_ratio", &table.idle_ratio, 0.0, 1.0)?,
    })
}

/// In which unit a technology's accesses may be given.
fn allowed(logic: &Logic) -> &'static [AccessUnit] {
    match logic {
        Logic::Ideal => &[],
        Logic::Static(_) | Logic::Cells(_) => &[AccessUnit::Joule],
        Logic::Ramped(_) => &[AccessUnit::Joule, AccessUnit::Farad],
        Logic::Junctions(_) => &[AccessUnit::Joule, AccessUnit::Junction],
    }
}

const fn unit_key(unit: AccessUnit) -> &'static str {
    match unit {
        AccessUnit::Joule => "joule",
        AccessUnit::Farad => "farad",
        AccessUnit::Junction => "junction",
    }
}

fn keys(what: &str, logic: &Logic) -> String {
    let all: Vec<String> = allowed(logic).iter().map(|unit| format!("`{what}_{}`", unit_key(*unit))).collect();
    all.join(" or ")
}

fn processor(table: &Spanned<ProcessorTable>, logic: &Logic) -> Result<Processor> {
    let (place, t) = (table.span(), table.get_ref());
    let ticks = not_negative("fetch_ticks", &t.fetch_ticks)?;
    let access = |what: &str, of: [(AccessUnit, &Option<Number>); 3], ticks: f64| -> Result<Access> {
        let mut given = of.into_iter().filter_map(|(unit, n)| n.as_ref().map(|n| (unit, n)));
        let Some((unit, n)) = given.next() else {
            return error(format!("`processor` lacks {}", keys(what, logic)), place.clone());
        };
        if let Some((_, second)) = given.next() {
            return error(format!("`processor` takes one of {}", keys(what, logic)), second.span());
        }
        if !allowed(logic).contains(&unit) {
            let message = format!("{} has {}", logic.discipline(), keys(what, logic));
            return error(message, n.span());
        }
        let key = format!("{what}_{}", unit_key(unit));
        Ok(Access { figure: not_negative(&key, n)?, of: unit, ticks })
    };
    use AccessUnit::{Farad, Joule, Junction};
    Ok(Processor {
        fetch: access(
            "fetch",
            [(Joule, &t.fetch_joule), (Farad, &t.fetch_farad), (Junction, &t.fetch_junction)],
            ticks,
        )?,
        decode: access(
            "decode",
            [(Joule, &t.decode_joule), (Farad, &t.decode_farad), (Junction, &t.decode_junction)],
            0.0,
        )?,
        register: access(
            "register",
            [(Joule, &t.register_joule), (Farad, &t.register_farad), (Junction, &t.register_junction)],
            2.0,
        )?,
    })
}

fn memory(table: &Spanned<Memory>, logic: &Logic) -> Result<MemoryTable> {
    let (place, table) = (table.span(), table.get_ref());
    let all = [
        (AccessUnit::Joule, &table.access_joule),
        (AccessUnit::Farad, &table.access_farad),
        (AccessUnit::Junction, &table.access_junction),
    ];
    let mut given = all.into_iter().filter_map(|(unit, list)| list.as_ref().map(|list| (unit, list)));
    let Some((unit, figures)) = given.next() else {
        return error(format!("`memory` lacks what an access costs: {}", keys("access", logic)), place);
    };
    if let Some((_, second)) = given.next() {
        return error(format!("`memory` takes one of {}", keys("access", logic)), second.span());
    }
    if !allowed(logic).contains(&unit) {
        let message = format!("a technology that is {} has {}", logic.discipline(), keys("access", logic));
        return error(message, figures.span());
    }
    let key = format!("access_{}", unit_key(unit));
    let scale = table.scale.as_ref().map(|n| positive("scale", n)).transpose()?.unwrap_or(1.0);
    let sizes = table.size_byte.get_ref();
    if sizes.is_empty() || sizes.len() != figures.get_ref().len() {
        let message = format!("`{key}` must have as many figures as `size_byte` has sizes, {}", sizes.len());
        return error(message, figures.span());
    }
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (size, figure) in sizes.iter().zip(figures.get_ref()) {
        let bytes = positive("size_byte", size)?;
        if out.last().is_some_and(|(last, _)| *last >= bytes) {
            return error("the sizes must rise", size.span());
        }
        out.push((bytes, scale * positive(&key, figure)?));
    }
    Ok(MemoryTable { sizes: out, of: unit, ticks: not_negative("access_ticks", &table.access_ticks)? })
}

fn area(table: &Spanned<AreaTable>, logic: &Logic) -> Result<Area> {
    let (place, t) = (table.span(), table.get_ref());
    let junctions = matches!(logic, Logic::Junctions(_));
    let device = match (&t.transistor_square_micrometre, &t.junction_square_micrometre) {
        (Some(n), None) if !junctions => positive("transistor_square_micrometre", n)?,
        (None, Some(n)) if junctions => positive("junction_square_micrometre", n)?,
        (Some(_), Some(n)) => {
            return error("`area` takes the area of a transistor or of a junction, not both", n.span());
        }
        _ => {
            let wanted = if junctions { "junction_square_micrometre" } else { "transistor_square_micrometre" };
            return error(format!("`area` of a technology that is {} wants `{wanted}`", logic.discipline()), place);
        }
    };
    Ok(Area { device, memory_bit: positive("memory_bit_square_micrometre", &t.memory_bit_square_micrometre)? })
}

fn erasing(table: &Spanned<ErasureTable>, logic: &Logic) -> Result<Erasure> {
    let (place, table) = (table.span(), table.get_ref());
    match (&table.landauer_factor, &table.latch_farad) {
        (Some(factor), None) => Ok(Erasure::Landauer(within("landauer_factor", factor, 1.0, 1e9)?)),
        (None, Some(farad)) if matches!(logic, Logic::Ramped(_)) => Ok(Erasure::Farad(positive("latch_farad", farad)?)),
        (None, Some(farad)) => {
            error("`latch_farad` is of use only beside `adiabatic`, which has a supply voltage", farad.span())
        }
        (None, None) => error("`erasure` wants `landauer_factor` or `latch_farad`", place),
        (Some(_), Some(farad)) => error("`erasure` takes `landauer_factor` or `latch_farad`, not both", farad.span()),
    }
}
