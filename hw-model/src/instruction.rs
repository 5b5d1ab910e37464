//! The circuit of an instruction by its mnemonic, for words of any width for which it exists.

use pendula_isa::circuit::{Adder, Bit, Builder, Circuit, GateCounts, Role, Word};
use pendula_isa::inst::Kind;
use pendula_isa::kernels::circuits::Formats;
use pendula_isa::operand::{OperandKind, Shape};
use pendula_isa::table::{self, By, Flow, Row, TableFn, Variant};
use pendula_isa::types::{Acc, Ty};

use crate::circuit::part::{self, Accumulator, CircuitFn, Half, Part, PartError};
use crate::circuit::{Algorithm, Choice, WITH_TABLES};
use crate::mapping::{Mapping, Netlist};
use crate::reference::{Meaning, Place, Reference};

/// The name of the control that undoes.
pub const BACKWARD: &str = "backward";

/// Bits of the machine's words. Which kernels a function has does not depend on the width.
const WORD: usize = 64;

/// Which way a circuit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It does what the instruction does.
    Forward,
    /// It undoes it.
    Backward,
    /// It does or, if the control `backward` is 1, undoes it.
    Both,
}

/// The sizes of a circuit's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bits of a word, 2 to 64.
    pub width: usize,
    /// Fraction bits of fixed-point numbers; half of the word if nothing is said.
    pub frac: Option<usize>,
    /// Words of memory of what accesses it.
    pub memory: usize,
}

/// The circuit of an instruction, with what it should do.
#[derive(Clone, Debug)]
pub struct InstructionCircuit {
    /// The instruction.
    pub kind: Kind,
    /// Bits of a word.
    pub width: usize,
    /// Fraction bits, if it has fixed-point numbers.
    pub frac: Option<usize>,
    /// Words of memory, if it accesses it.
    pub memory: Option<usize>,
    /// Which way it goes.
    pub direction: Direction,
    /// The gates.
    pub circuit: Circuit,
    /// What it should do.
    pub reference: Reference,
    /// Which of several circuits it is; `None` if the instruction has one alone.
    pub algorithm: Option<Algorithm>,
    /// How words are added.
    pub adder: Adder,
    /// The circuit with carries that ripple, if these do not: conventional logic looks ahead in its own way.
    rippling: Option<Circuit>,
    /// Whether it signals traps of both instructions of a pair. Else the second is done by the gates of the first, backward, and where it traps,
    /// nothing is claimed.
    pub signals: bool,
    /// Whether the instruction is the second of its pair.
    pub inverse: bool,
    /// Of an extension: the gates of its steps' circuits, before what cancels was left out.
    pub joined: Option<GateCounts>,
}

/// A circuit in the direction of the first mnemonic of a pair.
struct Base {
    circuit: Circuit,
    /// The circuit with a control `direction`, if there is a better one than the first and its inverse.
    directed: Option<Circuit>,
    meaning: Meaning,
    memory: bool,
    algorithm: Option<Algorithm>,
}

impl InstructionCircuit {
    /// The circuit of an instruction. Of several, it is the one with the fewest Toffoli gates.
    ///
    /// # Errors
    /// If there is none for such words, or none at all.
    pub fn new(kind: Kind, sizes: Sizes, direction: Direction) -> Result<InstructionCircuit, NoCircuit> {
        InstructionCircuit::by(kind, sizes, direction, None)
    }

    /// As [`InstructionCircuit::new`], by the algorithm that is asked for.
    ///
    /// # Errors
    /// As [`InstructionCircuit::new`]; a table where there is none.
    pub fn by(
        kind: Kind,
        sizes: Sizes,
        direction: Direction,
        wanted: Option<Algorithm>,
    ) -> Result<InstructionCircuit, NoCircuit> {
        InstructionCircuit::with(kind, sizes, direction, Choice { algorithm: wanted, ..Choice::default() })
    }

    /// As [`InstructionCircuit::by`], with the adder that is asked for, too.
    ///
    /// # Errors
    /// As [`InstructionCircuit::by`].
    pub fn with(
        kind: Kind,
        sizes: Sizes,
        direction: Direction,
        choice: Choice,
    ) -> Result<InstructionCircuit, NoCircuit> {
        let mut circuit = InstructionCircuit::of_gates(kind, sizes, direction, choice)?;
        if choice.adder != Adder::Ripple {
            let rippling = Choice { adder: Adder::Ripple, algorithm: circuit.algorithm };
            let rippling = InstructionCircuit::of_gates(kind, sizes, direction, rippling)?.circuit;
            if rippling.gates() == circuit.circuit.gates() {
                let (mnemonic, width) = (kind.mnemonic(), sizes.width);
                return Err(NoCircuit::NoSum { mnemonic, width, adder: choice.adder });
            }
            circuit.rippling = Some(rippling);
        }
        Ok(circuit)
    }

    /// The netlist of a mapping.
    pub fn netlist(&self, mapping: Mapping) -> Netlist {
        mapping.netlist_with(self.for_mapping(mapping), self.adder)
    }

    /// The circuit that a mapping starts from.
    pub(crate) fn for_mapping(&self, mapping: Mapping) -> &Circuit {
        self.rippling.as_ref().filter(|_| mapping.is_conventional()).unwrap_or(&self.circuit)
    }

    fn of_gates(
        kind: Kind,
        sizes: Sizes,
        direction: Direction,
        choice: Choice,
    ) -> Result<InstructionCircuit, NoCircuit> {
        let Choice { adder, algorithm: wanted } = choice;
        let mnemonic = kind.mnemonic();
        let fixed = has_fixed(kind);
        if !fixed && sizes.frac.is_some() {
            return Err(NoCircuit::Fraction { mnemonic });
        }
        let (width, frac) = (sizes.width, sizes.frac.unwrap_or(sizes.width / 2));
        let fraction = if fixed { format!(", of which {frac} are fraction") } else { String::new() };
        let unsupported = |requirement| NoCircuit::Width {
            mnemonic: mnemonic.clone(),
            width,
            fraction: fraction.clone(),
            requirement,
        };
        if !(2..=64).contains(&width) {
            return Err(unsupported("a word has 2 to 64 bits"));
        }
        let no_table = |why| NoCircuit::NoTable { mnemonic: mnemonic.clone(), width, why };
        let failure = |e: PartError| match e {
            PartError::Width { requirement, .. } => unsupported(requirement),
            PartError::NoTable { why, .. } => no_table(why),
        };
        let generate_by = |part: Part, algorithm: Option<Algorithm>| {
            part::generate_with(part, width, Choice { adder, algorithm }).map_err(failure)
        };
        let generate = |part: Part| generate_by(part, None).map(|(circuit, _)| circuit);
        let mut joined = None;
        let (inverse, base) = match kind {
            Kind::Accumulate { acc, inverse, func, .. } => {
                (inverse, accumulate(&mnemonic, (acc, func), frac, (wanted, &generate_by))?)
            }
            Kind::Extension { extension, inverse } => {
                let (base, gates) = extension::base(&mnemonic, extension, (width, frac), choice)?;
                joined = Some(gates);
                (inverse, base)
            }
            Kind::Row { .. } if wanted == Some(Algorithm::Table) => {
                return Err(no_table(WITH_TABLES));
            }
            Kind::Row { row, inverse, ty, cond, .. } => {
                // An amount of rotation is an operand, not a constant.
                let form = matches!(row, Row::ZeroWithin);
                let variant = Variant { ty, cond, form };
                (
                    inverse,
                    instruction(&mnemonic, (row, inverse, variant), (width, frac, sizes.memory, adder), &generate)?,
                )
            }
        };
        // Both calls enter: that one turns around is no matter of gates. Both halves of a pair that moves words are one circuit.
        let enters = |row: Row| matches!(row.info().flow, Flow::Call | Flow::GradientCall | Flow::CallRegister);
        let inverse = inverse && !matches!(kind, Kind::Row { row, .. } if enters(row));
        let exchanges = matches!(base.meaning, Meaning::From(..) | Meaning::Exchange | Meaning::Host);
        // A branch is undone by itself in a machine that has turned around: its gates go the other way.
        let involution = exchanges || kind.flow() == Flow::Straight && kind.inverse() == kind;
        let signals = involution || base.directed.is_some();
        let circuit = directed(&base, inverse, involution, direction);
        let suffix = match direction {
            Direction::Forward => "",
            Direction::Backward => "_back",
            Direction::Both => "_both",
        };
        let of_frac = if fixed { format!("q{frac}") } else { String::new() };
        let name = format!("{}_{width}{of_frac}{suffix}", mnemonic.replace('.', "_"));
        Ok(InstructionCircuit {
            kind,
            width,
            frac: fixed.then_some(frac),
            memory: base.memory.then_some(sizes.memory),
            direction,
            circuit: circuit.named(&name),
            reference: Reference::new(base.meaning, inverse, Formats::new(width, frac)),
            algorithm: base.algorithm,
            adder,
            rippling: None,
            signals,
            inverse,
            joined,
        })
    }
}

/// The circuit for a direction.
fn directed(base: &Base, inverse: bool, involution: bool, direction: Direction) -> Circuit {
    let one_way = |inverse: bool| match &base.directed {
        Some(both) if base.circuit.register("direction").is_some() => {
            both.specialized("direction", inverse.into()).unwrap_or_else(|| both.clone())
        }
        _ if inverse && !involution => base.circuit.inverse(),
        _ => base.circuit.clone(),
    };
    let renamed = |name: &str| if name == "direction" { BACKWARD.to_string() } else { name.to_string() };
    match (direction, &base.directed) {
        (Direction::Forward, _) => one_way(inverse),
        (Direction::Backward, _) => one_way(!inverse),
        (Direction::Both, Some(both)) if inverse => {
            both.with_complement("direction").unwrap_or_else(|| both.clone()).with_names(renamed)
        }
        (Direction::Both, Some(both)) => both.clone().with_names(renamed),
        (Direction::Both, None) if involution => base.circuit.clone().with_idle_bit(BACKWARD, Role::Control),
        (Direction::Both, None) => one_way(inverse).two_way(BACKWARD),
    }
}

/// Whether words of an instruction are fixed-point numbers.
fn has_fixed(kind: Kind) -> bool {
    match kind {
        Kind::Accumulate { func, .. } => {
            let info = func.info();
            [info.ty, info.from].contains(&Ty::Q) || info.args.iter().any(|arg| arg.ty == Ty::Q)
        }
        Kind::Row { ty, .. } => ty == Ty::Q,
        Kind::Extension { extension, .. } => extension.info().steps[0].iter().any(|step| has_fixed(step.kind)),
    }
}

type Generate<'a> = &'a dyn Fn(Part) -> Result<Circuit, NoCircuit>;

/// As [`Generate`], by an algorithm.
type GenerateBy<'a> = &'a dyn Fn(Part, Option<Algorithm>) -> Result<(Circuit, Option<Algorithm>), NoCircuit>;

fn accumulate(
    mnemonic: &str,
    (acc, func): (Acc, TableFn),
    frac: usize,
    (wanted, generate): (Option<Algorithm>, GenerateBy),
) -> Result<Base, NoCircuit> {
    let info = func.info();
    own(mnemonic, &part::without_own(func, WORD, frac.clamp(1, WORD / 2)))?;
    if acc == Acc::Add && info.ty == Ty::F {
        // The sum itself, where nothing else is computed.
        let func = if info.name.is_empty() { TableFn::F(table::f_fn::Name::Plus) } else { func };
        let shape = Shape::of_registers(func.info().args.len());
        let beside = Kind::Accumulate { acc: Acc::Xor, inverse: false, func, shape }.mnemonic();
        let instead = format!("; `{beside}` has one, which computes the value beside its operands");
        return Err(NoCircuit::Rounds { mnemonic: mnemonic.to_string(), instead });
    }
    let function = match info.name {
        "" => CircuitFn::Wire,
        _ => CircuitFn::Table { func, frac },
    };
    let part = |accumulator, wanted| generate(Part::Accumulate(accumulator, function), wanted);
    let (circuit, directed, algorithm) = match acc {
        Acc::Xor => {
            let (circuit, algorithm) = part(Accumulator::Xor, wanted)?;
            (circuit, None, algorithm)
        }
        Acc::Add => {
            let (circuit, algorithm) = part(Accumulator::Add, wanted)?;
            (circuit, Some(part(Accumulator::AddOrSubtract, algorithm)?.0), algorithm)
        }
        Acc::Mul => {
            let (both, algorithm) = part(Accumulator::MultiplyLog, wanted)?;
            (both.clone(), Some(both), algorithm)
        }
    };
    let place = |name: &str| match name {
        "y" => Place::Operand(0),
        "a" => Place::Operand(1),
        "b" => Place::Operand(2),
        _ => Place::Operand(3),
    };
    let places = words(&circuit).map(place).collect();
    Ok(Base { circuit, directed, meaning: Meaning::Accumulate(acc, func, places), memory: false, algorithm })
}

/// The registers that carry words in and out.
fn words(circuit: &Circuit) -> impl Iterator<Item = &str> {
    let carries = |role| matches!(role, Role::Operand | Role::Target | Role::Lost);
    circuit.registers().iter().filter(move |r| carries(r.role)).map(|r| r.name.as_str())
}

/// Fails if kernels have no circuits of their own.
fn own(mnemonic: &str, kernels: &[part::StandIns]) -> Result<(), NoCircuit> {
    let list = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if kernels.is_empty() {
        return Ok(());
    }
    Err(NoCircuit::StandIns {
        mnemonic: mnemonic.to_string(),
        kernels: list(kernels.iter().map(|k| k.kernel).collect()),
        circuits: list(kernels.iter().flat_map(|k| k.circuits.iter().map(|c| c.name)).collect()),
    })
}

fn instruction(
    mnemonic: &str,
    (row, inverse, variant): (Row, bool, Variant),
    (width, frac, memory, adder): (usize, usize, usize, Adder),
    generate: Generate,
) -> Result<Base, NoCircuit> {
    let info = row.info();
    let nothing = |why| NoCircuit::Nothing { mnemonic: mnemonic.to_string(), why };
    let base = |part, meaning| {
        let memory = matches!(part, Part::Memory { .. });
        Ok(Base { circuit: generate(part)?, directed: None, meaning, memory, algorithm: None })
    };
    match info.flow {
        Flow::Run | Flow::Cell => Err(nothing("it only marks a place")),
        Flow::Jump if inverse => {
            base(Part::Branch(Half::From, variant.ty, variant.cond), Meaning::From(variant.ty, variant.cond))
        }
        Flow::Jump => base(Part::Branch(Half::Jump, variant.ty, variant.cond), Meaning::Jump(variant.ty, variant.cond)),
        Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => base(Part::Call, Meaning::Call),
        Flow::Branch(By::Distance) => base(Part::BranchRegister(variant.cond), Meaning::Branch(variant.cond)),
        Flow::Branch(By::Turn) => base(Part::BranchTurn, Meaning::Turn),
        Flow::Branch(By::Register) => base(Part::BranchSwap, Meaning::SwapBranch),
        Flow::Straight if info.moves_sp => {
            // The same widths as an access to memory.
            generate(Part::Memory { words: memory })?;
            Ok(Base {
                circuit: push(memory, width, adder),
                directed: None,
                meaning: Meaning::Push,
                memory: true,
                algorithm: None,
            })
        }
        Flow::Straight if row == Row::Erase => Err(nothing("it destroys a word, which no reversible circuit does")),
        Flow::Straight if row == Row::Rot && variant.ty == Ty::F => {
            Err(NoCircuit::Rounds { mnemonic: mnemonic.to_string(), instead: "; `rot.q` has one".to_string() })
        }
        Flow::Straight if info.operands.contains(&OperandKind::Text) => {
            Err(nothing("a text goes to the host, without words"))
        }
        Flow::Straight => match part::row_without_own(row, variant, width, frac) {
            None => base(Part::Host, Meaning::Host),
            Some(kernels) => {
                let straight = straight((row, variant), frac, generate)?;
                own(mnemonic, &kernels)?;
                let in_memory =
                    info.operands.contains(&OperandKind::Memory) || straight.circuit.register("cell").is_some();
                if !in_memory {
                    return Ok(straight);
                }
                // The access is the exchange.
                let mut exchange = base(Part::Memory { words: memory }, Meaning::Exchange)?;
                exchange.circuit = exchange.circuit.with_names(|name| match name {
                    "a" => "address".to_string(),
                    "r" => "a".to_string(),
                    other => other.to_string(),
                });
                Ok(exchange)
            }
        },
    }
}

fn straight((row, variant): (Row, Variant), frac: usize, generate: Generate) -> Result<Base, NoCircuit> {
    let circuit = generate(Part::Row { row, variant, frac })?;
    let names = row.info().operand_names;
    let place = |name: &str| match (name, name.strip_prefix("gradient_")) {
        ("cell", _) => Place::Cell,
        (_, Some(of)) => Place::Gradient(names.iter().position(|n| *n == of).unwrap_or_default()),
        (name, None) => Place::Operand(names.iter().position(|n| *n == name).unwrap_or_default()),
    };
    let places = words(&circuit).map(place).collect();
    let directed = circuit.register("direction").is_some().then(|| circuit.clone());
    Ok(Base { circuit, directed, meaning: Meaning::Row(row, variant, places), memory: false, algorithm: None })
}

/// `push`: an access to memory at the stack pointer, a check, and the pointer's increment.
fn push(words: usize, width: usize, adder: Adder) -> Circuit {
    let mut b = Builder::with_adder("push", adder);
    let sp = b.register("sp", Role::Target, width);
    let r = b.register("r", Role::Target, width);
    let memory: Vec<Word> = (0..words).map(|n| b.register(&format!("m{n}"), Role::Target, width)).collect();
    let address = b.register("trap_address", Role::Trap, 1);
    let onto = b.register("trap_onto", Role::Trap, 1);
    b.xor_less(&sp, &Word::constant(words as u128, width + 1)[..width], address[0]);
    if words.checked_shr(width as u32).unwrap_or(0) == 0 {
        b.not(address[0]);
    }
    let bits = words.next_power_of_two().ilog2() as usize;
    b.exchange_memory(Bit::ONE, &sp[..bits], &memory, &r);
    b.xor_none(&r, onto[0]);
    b.not(onto[0]);
    b.increment_if(Bit::ONE, &sp);
    b.finish()
}

mod extension;
mod no_circuit;

pub(crate) use extension::value_circuit;
pub use no_circuit::NoCircuit;
#[cfg(test)]
mod tests;
