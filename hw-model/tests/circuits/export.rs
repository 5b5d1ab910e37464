//! Exports, read back by parsers that share no code with the exporter.

use super::harness::{assertion, fixed, form, int, log, negation, row};
use pendula_isa::table::{Row, int_fn, l_fn, q_fn};
use std::collections::HashMap;

use pendula_hw_model::circuit::part::table_lookup;
use pendula_hw_model::circuit::{Accumulator, Circuit, CircuitFn, Gate, Half, Part, Register, Role, generate};
use pendula_isa::{Cond, Ty};

use crate::circuits::harness::Random;

fn gate(name: &str, wires: &[u32]) -> Gate {
    match (name, wires) {
        ("x" | "t1", [a]) => Gate::Not(*a),
        ("cx" | "t2", [a, b]) => Gate::Cnot(*a, *b),
        ("ccx" | "t3", [a, b, c]) => Gate::Toffoli(*a, *b, *c),
        ("cswap" | "f3", [a, b, c]) => Gate::Cswap(*a, *b, *c),
        _ => panic!("gate {name} on {wires:?}"),
    }
}

/// Names that `stdgates.inc` or the language reserves.
const TAKEN: [&str; 16] =
    ["x", "y", "z", "h", "s", "t", "p", "cx", "cy", "cz", "ch", "id", "swap", "ccx", "cswap", "let"];

/// A circuit from OpenQASM 3: declarations, the four gates, aliases.
fn read_qasm(text: &str) -> Circuit {
    let text: String = text.lines().map(|l| l.split("//").next().unwrap()).collect::<Vec<_>>().join("\n");
    let mut statements = text.split(';').map(str::trim).filter(|s| !s.is_empty());
    assert_eq!(statements.next(), Some("OPENQASM 3.0"));
    assert_eq!(statements.next(), Some("include \"stdgates.inc\""));
    let mut registers: Vec<Register> = Vec::new();
    let mut first: HashMap<String, (u32, u32)> = HashMap::new();
    let mut wires = 0;
    let mut gates = Vec::new();
    for s in statements {
        if let Some(declaration) = s.strip_prefix("qubit[") {
            let (size, name) = declaration.split_once("] ").unwrap();
            let size: u32 = size.parse().unwrap();
            assert!(!TAKEN.contains(&name) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{name}");
            assert!(first.insert(name.to_string(), (wires, size)).is_none(), "{name} twice");
            let all: Vec<u32> = (wires..wires + size).collect();
            registers.push(Register {
                name: name.strip_prefix("q_").unwrap().to_string(),
                role: Role::Target,
                wires: all.clone(),
                after: all,
            });
            wires += size;
            continue;
        }
        let range = |operand: &str| {
            let (name, index) = operand.trim().strip_suffix(']').unwrap().split_once('[').unwrap();
            let (from, to) = index.split_once(':').unwrap_or((index, index));
            let (from, to): (u32, u32) = (from.parse().unwrap(), to.parse().unwrap());
            let (start, size) = first[name];
            assert!(from <= to && to < size);
            start + from..=start + to
        };
        if let Some(alias) = s.strip_prefix("let q_") {
            let (name, parts) = alias.split_once("_after = ").unwrap();
            let register = registers.iter_mut().find(|r| r.name == name).unwrap();
            register.after = parts.split("++").flat_map(range).collect();
            continue;
        }
        let (name, operands) = s.split_once(' ').unwrap();
        let operands: Vec<u32> = operands.split(',').map(|o| *range(o).start()).collect();
        gates.push(gate(name, &operands));
    }
    Circuit::new("qasm", registers, gates).unwrap()
}

/// A circuit from `.real`.
fn read_real(text: &str) -> Circuit {
    let mut header: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut gates = Vec::new();
    let mut lines = text.lines().map(|l| l.split('#').next().unwrap().trim()).filter(|l| !l.is_empty());
    for line in lines.by_ref() {
        let (key, values) = line.split_once(' ').unwrap_or((line, ""));
        if key == ".begin" {
            break;
        }
        header.insert(key, values.split(' ').filter(|v| !v.is_empty()).collect());
    }
    assert_eq!(header[".version"], ["2.0"]);
    let count: usize = header[".numvars"][0].parse().unwrap();
    let number: HashMap<&str, u32> = header[".variables"].iter().enumerate().map(|(i, v)| (*v, i as u32)).collect();
    assert_eq!(number.len(), count);
    for line in lines.by_ref() {
        if line == ".end" {
            break;
        }
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        gates.push(gate(name, &words.map(|w| number[w]).collect::<Vec<_>>()));
    }
    assert_eq!(lines.next(), None);
    let (constants, garbage) = (header[".constants"][0].as_bytes(), header[".garbage"][0].as_bytes());
    assert_eq!((constants.len(), garbage.len()), (count, count));
    let mut registers: Vec<Register> = Vec::new();
    let mut roles = Vec::new();
    for (at, label) in header[".inputs"].iter().enumerate() {
        let (name, bit) = label.rsplit_once('_').unwrap();
        if registers.last().is_none_or(|r| r.name != name) {
            registers.push(Register { name: name.to_string(), role: Role::Target, wires: vec![], after: vec![] });
            roles.push(constants[at]);
        }
        let register = registers.last_mut().unwrap();
        assert_eq!(bit.parse(), Ok(register.wires.len()));
        assert_eq!(roles.last(), Some(&constants[at]));
        register.wires.push(at as u32);
    }
    let mut ends: Vec<(&str, u32, usize)> = Vec::new();
    for (at, label) in header[".outputs"].iter().enumerate() {
        let (name, bit) = label.rsplit_once('_').unwrap();
        assert_eq!(garbage[at] == b'1', name == "ancilla");
        ends.push((name, bit.parse().unwrap(), at));
    }
    ends.sort_unstable();
    for register in &mut registers {
        register.after = ends.iter().filter(|e| e.0 == register.name).map(|e| e.2 as u32).collect();
    }
    Circuit::new("real", registers, gates).unwrap()
}

fn circuits() -> Vec<Circuit> {
    let mut parts = vec![
        row(Row::Not),
        Part::Increment,
        negation(Ty::Int),
        Part::Swap,
        row(Row::Rol),
        form(Row::Rol),
        row(Row::Add8),
        form(Row::Rol32),
        row(Row::Rmul),
        Part::Memory { words: 3 },
        Part::Branch(Half::Jump, Ty::Int, Cond::Lt),
        Part::Branch(Half::From, Ty::Int, Cond::Eq),
        Part::BranchPair(Cond::Ne, Cond::Geu),
        Part::Call,
        assertion(Ty::Int, Cond::Le),
        Part::CheckZero,
        assertion(Ty::L, Cond::Gt),
        assertion(Ty::F, Cond::Le),
        negation(Ty::L),
        Part::Host,
        row(Row::Erase),
        Part::Accumulate(Accumulator::MultiplyLog, log(l_fn::Name::Div)),
    ];
    for accumulator in [Accumulator::Xor, Accumulator::Add, Accumulator::AddOrSubtract] {
        for function in [
            CircuitFn::Wire,
            int(int_fn::Name::Nor),
            int(int_fn::Name::Mul),
            int(int_fn::Name::Mod),
            int(int_fn::Name::Sar),
            int(int_fn::Name::Lt),
            int(int_fn::Name::LtL),
            int(int_fn::Name::EqF),
            int(int_fn::Name::Max),
            fixed(q_fn::Name::Mul, 4),
            fixed(q_fn::Name::Div, 3),
        ] {
            parts.push(Part::Accumulate(accumulator, function));
        }
    }
    let mut circuits: Vec<Circuit> = parts.into_iter().map(|p| generate(p, 8).unwrap()).collect();
    circuits.push(table_lookup(Accumulator::Add, &[1, 2, 3, 5, 8, 13], 8));
    let inverses: Vec<Circuit> = circuits.iter().map(Circuit::inverse).collect();
    circuits.extend(inverses);
    circuits
}

/// Both, run on the same states, whatever these are.
fn same(one: &Circuit, other: &Circuit) {
    assert_eq!((one.wires(), one.counts(), one.depth()), (other.wires(), other.counts(), other.depth()));
    let mut random = Random::new(5);
    for _ in 0..4 {
        let (mut states, mut others) = (one.lanes(), other.lanes());
        for register in one.registers() {
            let partner = other.register(&register.name).unwrap();
            for (w, v) in register.wires.iter().zip(&partner.wires) {
                let word = random.word();
                states[*w as usize] = word;
                others[*v as usize] = word;
            }
        }
        // Ancillas are not zero here: only the words at the end matter.
        let _ = one.run_lanes(&mut states);
        let _ = other.run_lanes(&mut others);
        for register in one.registers() {
            let partner = other.register(&register.name).unwrap();
            let read = |lanes: &[u64], wires: &[u32]| wires.iter().map(|w| lanes[*w as usize]).collect::<Vec<_>>();
            assert_eq!(read(&states, &register.after), read(&others, &partner.after), "{}", one.name());
        }
    }
}

#[test]
fn openqasm() {
    for circuit in circuits() {
        same(&circuit, &read_qasm(&circuit.qasm()));
    }
}

#[test]
fn revlib() {
    for circuit in circuits() {
        same(&circuit, &read_real(&circuit.real()));
    }
}

#[test]
fn as_a_person_reads_them() {
    let adder = generate(Part::Accumulate(Accumulator::Add, CircuitFn::Wire), 2).unwrap();
    assert_eq!(
        adder.qasm(),
        "OPENQASM 3.0;
include \"stdgates.inc\";
// accumulate_add_wire
qubit[2] q_a; // operand, kept
qubit[2] q_y; // target
qubit[1] q_ancilla; // ancilla, 0 before and after
cx q_a[0], q_y[0];
cx q_a[0], q_ancilla[0];
ccx q_ancilla[0], q_y[0], q_a[0];
cx q_a[1], q_y[1];
cx q_a[0], q_y[1];
ccx q_ancilla[0], q_y[0], q_a[0];
cx q_a[0], q_ancilla[0];
cx q_ancilla[0], q_y[0];
"
    );
    let memory = generate(Part::Memory { words: 2 }, 1).unwrap();
    assert_eq!(
        memory.real(),
        "# memory_words_2
# a: operand, kept
# r: target
# m0: target
# m1: target
# trap_address: starts at 0; 1 in the end tells of a trap
.version 2.0
.numvars 5
.variables a_0 r_0 m0_0 m1_0 trap_address_0
.inputs a_0 r_0 m0_0 m1_0 trap_address_0
.outputs a_0 r_0 m0_0 m1_0 trap_address_0
.constants ----0
.garbage -----
.begin
t1 trap_address_0
t1 trap_address_0
t1 a_0
f3 a_0 r_0 m0_0
t1 a_0
f3 a_0 r_0 m1_0
.end
"
    );
    let rotate = generate(form(Row::Rol), 4).unwrap();
    assert!(rotate.qasm().ends_with("let q_a_after = q_a[3:3] ++ q_a[0:2];\n"));
    assert!(rotate.real().contains(".inputs a_0 a_1 a_2 a_3\n.outputs a_1 a_2 a_3 a_0\n"));
}

#[test]
fn invalid_circuits() {
    let register = |wires: Vec<u32>| Register { name: "a".into(), role: Role::Target, after: wires.clone(), wires };
    let message = |registers, gates| Circuit::new("x", registers, gates).unwrap_err().to_string();
    assert!(message(vec![register(vec![0, 2])], vec![]).contains("wire 2 must be in exactly one register"));
    assert!(message(vec![register(vec![0]), register(vec![0])], vec![]).contains("wire 0"));
    assert!(message(vec![register(vec![0, 1])], vec![Gate::Cnot(1, 1)]).contains("gate 0"));
    assert!(message(vec![register(vec![0, 1])], vec![Gate::Not(0), Gate::Toffoli(0, 1, 2)]).contains("gate 1"));
}

/// OpenQASM 2.0 has the same gates, in other words.
#[test]
fn both_versions_of_openqasm_have_the_same_gates() {
    for circuit in circuits() {
        let mut text = String::new();
        for line in circuit.qasm2().lines().filter(|l| !l.starts_with("gate ")) {
            let declared = line.strip_prefix("qreg ").and_then(|d| d.split_once('[')).map(|(name, rest)| {
                let (size, rest) = rest.split_once(']').expect("a size");
                format!("qubit[{size}] {name}{rest}")
            });
            text += &declared.unwrap_or_else(|| line.replace("fredkin ", "cswap "));
            text.push('\n');
        }
        let text = text.replace("OPENQASM 2.0", "OPENQASM 3.0").replace("qelib1.inc", "stdgates.inc");
        assert_eq!(read_qasm(&text).gates(), read_qasm(&circuit.qasm()).gates(), "{}", circuit.name());
    }
}
