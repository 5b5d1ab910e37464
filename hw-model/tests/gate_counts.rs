//! The gates of every function, accumulator and instruction at several widths, beside those of `data/gate_counts.csv`: no circuit may
//! have more. `PENDULA_BLESS=1` writes the file anew; what it then says must be no more than what it said.

use std::fmt::Write as _;
use std::path::Path;

use pendula_hw_model::circuit::GateCounts;
use pendula_hw_model::gate_counts::{Shape, gates};
use pendula_hw_model::work::CircuitKind;
use pendula_isa::table::{Row, TableFn, Test};
use pendula_isa::types::{Acc, Cond, Ty};

const SHAPES: [Shape; 3] = [
    Shape { width: 8, frac: 4, memory: 0 },
    Shape { width: 16, frac: 8, memory: 0 },
    Shape { width: 64, frac: 32, memory: 0 },
];

const CONDITIONS: [Cond; 9] =
    [Cond::Always, Cond::Eq, Cond::Ne, Cond::Lt, Cond::Ge, Cond::Gt, Cond::Le, Cond::Ltu, Cond::Geu];

fn name(unit: CircuitKind) -> String {
    match unit {
        CircuitKind::Function { func, xor } => {
            let info = func.info();
            let from = if info.from == info.ty { String::new() } else { format!(" from {:?}", info.from) };
            let name = if info.name.is_empty() { "id" } else { info.name };
            format!("{:?} {name}{from}{}", info.ty, if xor { " xor" } else { "" })
        }
        CircuitKind::Accumulator(acc, ty) => format!("{acc:?} {ty:?}"),
        CircuitKind::Row { row, ty, cond, form, inverse } => {
            let cond = if row.info().test == Test::None { String::new() } else { format!(" {cond:?}") };
            let (form, inverse) = (if form { " form" } else { "" }, if inverse { " inverse" } else { "" });
            format!("{} {ty:?}{cond}{form}{inverse}", row.info().mnemonic)
        }
        CircuitKind::Defined { extension, .. } => extension.info().definition.name.clone(),
        CircuitKind::Memory => "memory".to_string(),
    }
}

fn all() -> Vec<CircuitKind> {
    let mut all = Vec::new();
    for &func in TableFn::ALL {
        all.extend([false, true].map(|xor| CircuitKind::Function { func, xor }));
    }
    all.extend(Ty::ALL.into_iter().map(|ty| CircuitKind::Accumulator(Acc::Xor, ty)));
    all.extend([Ty::Int, Ty::Q, Ty::F].map(|ty| CircuitKind::Accumulator(Acc::Add, ty)));
    all.push(CircuitKind::Accumulator(Acc::Mul, Ty::L));
    for &row in Row::ALL {
        let info = row.info();
        for &ty in info.types {
            let conds: &[Cond] = if info.test == Test::None { &[Cond::Always] } else { &CONDITIONS };
            for &cond in conds {
                for form in [false, true] {
                    for inverse in [false, true] {
                        all.push(CircuitKind::Row { row, ty, cond, form, inverse });
                    }
                }
            }
        }
    }
    all
}

#[test]
#[ignore = "takes twenty seconds: part of .ci/full"]
fn no_circuit_has_more_gates_than_before() {
    compare(&SHAPES[..1]);
}

#[test]
#[ignore = "takes half a minute: part of .ci/full"]
fn no_circuit_of_any_width_has_more_gates_than_before() {
    compare(&SHAPES);
}

/// Compares the gates of all circuits of these shapes with those that are kept, which `PENDULA_BLESS` writes again.
fn compare(shapes: &[Shape]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hw-model/tests/data/gate_counts.csv");
    let mut table = String::from("width,circuit,not,cnot,toffoli,cswap\n");
    for &shape in shapes {
        for unit in all() {
            let GateCounts { not, cnot, toffoli, cswap } = gates(unit, shape);
            writeln!(table, "{},{},{not},{cnot},{toffoli},{cswap}", shape.width, name(unit)).unwrap();
        }
    }
    if shapes.len() == SHAPES.len() && std::env::var_os("PENDULA_BLESS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap();
    let rows = |text: &str| -> Vec<(String, u64)> {
        let row = |line: &str| {
            let mut cells = line.rsplitn(5, ',');
            let gates = cells.by_ref().take(4).map(|n| n.parse::<u64>().unwrap()).sum();
            (cells.next().unwrap().to_string(), gates)
        };
        text.lines().skip(1).map(row).collect()
    };
    let of_shape = |name: &str| shapes.iter().any(|shape| name.starts_with(&format!("{},", shape.width)));
    let (mut before, now) = (rows(&before), rows(&table));
    before.retain(|(name, _)| of_shape(name));
    assert_eq!(before.iter().map(|r| &r.0).collect::<Vec<_>>(), now.iter().map(|r| &r.0).collect::<Vec<_>>());
    let pairs = || before.iter().zip(&now).filter(|((_, before), (_, now))| before != now);
    for ((name, before), (_, now)) in pairs() {
        println!("{name}: {now} gates, {before} before");
    }
    assert!(pairs().all(|((_, before), (_, now))| now < before), "a circuit has more gates than before");
}
