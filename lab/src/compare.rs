//! Runs two programs and compares every bit: forward, backward, and with gradient words.

use pendula_isa::adjoint::GRADIENT;
use pendula_isa::counts::{Counts, Direction};
use pendula_isa::module::{Module, SymbolKind};
use pendula_isa::types::{Profile, Reg};
use pendula_vm::{AdMode, Machine, Outcome};

/// What two runs did.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The executions in the run forward of each.
    pub counts: [Counts; 2],
    /// Where they differ; `None` if they agree.
    pub differs: Option<String>,
    /// What was compared.
    pub compared: Vec<&'static str>,
    /// Why the original stopped early, if it did; the other one did so in the same way.
    pub stopped: Option<Outcome>,
}

/// Where two machines differ.
fn difference(a: &Machine<'_>, b: &Machine<'_>, lane: usize) -> Option<String> {
    let registers = (0..Reg::COUNT as u8).filter_map(Reg::new);
    let register = registers.into_iter().find(|r| a.lane_register(lane, *r) != b.lane_register(lane, *r));
    if let Some(r) = register {
        return Some(format!("{r} is {:#x} and {:#x}", a.lane_register(lane, r), b.lane_register(lane, r)));
    }
    let words = a.memory().len().max(b.memory().len());
    let word = (0..words).find(|n| a.lane_word(lane, *n) != b.lane_word(lane, *n));
    word.map(|n| format!("[{n}] is {:#x} and {:#x}", a.lane_word(lane, n), b.lane_word(lane, n)))
        .or_else(|| (a.output() != b.output()).then(|| "the output tapes differ".to_string()))
}

/// Whether two runs ended in the same way: of traps, the same fault.
fn alike(a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        (Outcome::Trap(a), Outcome::Trap(b)) => a.fault == b.fault,
        (a, b) => a == b,
    }
}

/// Gives words of data that are real numbers gradient words, the same to both.
fn seed(machine: &mut Machine<'_>, module: &Module) {
    let words = module.symbols.iter().filter_map(|s| match s.kind {
        SymbolKind::Data { ty, len, .. } => Some((ty.gradient()?, s.value..s.value + len)),
        SymbolKind::Label | SymbolKind::Proc => None,
    });
    for (ty, range) in words {
        for at in range {
            let x = 1.0 - (at % 7) as f64 / 8.0;
            let format = module.flags.format;
            let word = match ty {
                pendula_isa::Ty::F => x.to_bits(),
                _ => ((x * (1u64 << format.frac()) as f64) as i64).cast_unsigned(),
            };
            machine.set_lane_word(GRADIENT, at as usize, word);
        }
    }
}

/// Runs two machines that are set up alike and compares them.
pub fn compare(machines: [&mut Machine<'_>; 2], modules: [&Module; 2]) -> Compared {
    let [a, b] = machines;
    let mut out = Compared { counts: [a.counts(), b.counts()], differs: None, compared: Vec::new(), stopped: None };
    let both = |a: &mut Machine<'_>, b: &mut Machine<'_>, direction| {
        a.begin(direction);
        b.begin(direction);
        let outcomes = [a.run(None), b.run(None)];
        let differs = match alike(&outcomes[0], &outcomes[1]) {
            false => Some(format!("one run ends with {:?}, the other with {:?}", outcomes[0], outcomes[1])),
            true => None,
        };
        (outcomes, differs)
    };
    let (outcomes, differs) = both(a, b, Direction::Forward);
    out.counts = [a.counts(), b.counts()];
    out.differs = differs.or_else(|| difference(a, b, 0)).map(|d| format!("forward: {d}"));
    out.compared.push("forward");
    let [outcome, _] = outcomes;
    if out.differs.is_some() || outcome != Outcome::Finished {
        out.stopped = (outcome != Outcome::Finished).then_some(outcome);
        return out;
    }
    if modules[0].flags.irreversible {
        return out;
    }
    let (_, differs) = both(a, b, Direction::Backward);
    out.differs = differs.or_else(|| difference(a, b, 0)).map(|d| format!("backward: {d}"));
    out.compared.push("backward");
    if out.differs.is_some() || modules[0].flags.profile != Profile::Native {
        return out;
    }
    let real =
        |s: &pendula_isa::module::Symbol| matches!(s.kind, SymbolKind::Data { ty, .. } if ty.gradient().is_some());
    if !modules[0].symbols.iter().any(real) {
        return out;
    }
    both(a, b, Direction::Forward);
    for (machine, module) in [(&mut *a, modules[0]), (&mut *b, modules[1])] {
        machine.set_ad_mode(AdMode::Gradient);
        seed(machine, module);
    }
    let (_, differs) = both(a, b, Direction::Backward);
    let differs = differs.or_else(|| difference(a, b, 0)).or_else(|| difference(a, b, GRADIENT));
    out.differs = differs.map(|d| format!("gradients: {d}"));
    out.compared.push("gradients");
    out
}
