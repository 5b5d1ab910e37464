//! Verification of an instruction's circuit beside what the instruction does, in words of 64 states at a time.

use pendula_isa::circuit::{Circuit, Role};

use crate::instruction::{BACKWARD, Direction, InstructionCircuit};
use crate::reference::NoReference;

/// The most bits of input for which all states are tried.
pub const EXHAUSTIVE: usize = 22;

/// How many random states are tried else.
pub const RANDOM: u64 = 1_000_000;

/// What a verification has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Bits of input: those of all words and controls.
    pub bits: usize,
    /// States that were tried.
    pub states: u64,
    /// Whether these are all there are.
    pub exhaustive: bool,
    /// States in which the instruction traps, and the circuit signals it.
    pub trapped: u64,
    /// States in which an instruction traps that is done by the gates of its partner, backward: nothing is claimed of them.
    pub unclaimed: u64,
    /// The first difference.
    pub mismatch: Option<Mismatch>,
}

/// Words of registers, by name.
pub type Words = Vec<(String, u64)>;

/// A state in which the circuit does something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The words before.
    pub inputs: Words,
    /// The words that the instruction gives; `None` if it traps.
    pub expected: Option<Words>,
    /// The words that the circuit gives; `None` if it signals a trap.
    pub found: Option<Words>,
    /// A wire that was not clear where it had to be, with the gate before which it was checked.
    pub dirty: Option<(u32, usize)>,
}

/// One state of a circuit: its words before and, unless it traps, after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether anything is claimed of the circuit.
    pub claimed: bool,
    /// The words of [`Inputs::registers`] before, the control among them.
    pub before: Vec<u64>,
    /// The words after; `None` if it traps.
    pub after: Option<Vec<u64>>,
}

/// The registers of a circuit that carry words in.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Names and widths, in the circuit's order.
    pub registers: Vec<(String, usize)>,
    control: Option<usize>,
    direction: Direction,
    /// The words that are erased after the circuit.
    lost: Vec<bool>,
}

impl Inputs {
    /// Those of a circuit.
    pub fn of(circuit: &InstructionCircuit) -> Inputs {
        let carries = |role| matches!(role, Role::Operand | Role::Target | Role::Lost | Role::Control);
        let all = || circuit.circuit.registers().iter().filter(|r| carries(r.role));
        let registers: Vec<(String, usize)> = all().map(|r| (r.name.clone(), r.wires.len())).collect();
        let lost = all().map(|r| r.role == Role::Lost).collect();
        let control = registers.iter().position(|(name, _)| name == BACKWARD);
        Inputs { registers, control, direction: circuit.direction, lost }
    }

    /// Bits of input.
    pub fn bits(&self) -> usize {
        self.registers.iter().map(|(_, width)| width).sum()
    }

    /// The words of the state of this number, among all.
    pub fn numbered(&self, mut n: u64) -> Vec<u64> {
        let cut = |(_, width): &(String, usize)| {
            let word = n & low(*width);
            n = n.checked_shr(*width as u32).unwrap_or(0);
            word
        };
        self.registers.iter().map(cut).collect()
    }

    /// Random words: of all sizes and both signs, equal ones among them, or extremes.
    pub fn random(&self, random: &mut Random) -> Vec<u64> {
        let mut words: Vec<u64> = self.registers.iter().map(|(_, width)| random.any(*width)).collect();
        if random.word() & 7 == 0 && words.len() > 1 {
            let (from, to) = (random.below(words.len()), random.below(words.len()));
            words[to] = words[from] & low(self.registers[to].1);
        }
        words
    }

    /// Where the control `backward` is among the words, if there is one.
    pub const fn control(&self) -> Option<usize> {
        self.control
    }

    /// What becomes of words in the other direction, for circuits of one; `None` if it traps.
    ///
    /// # Errors
    /// If that is not known.
    pub fn opposite(&self, circuit: &InstructionCircuit, before: &[u64]) -> Result<Option<Vec<u64>>, NoReference> {
        let mut words = before.to_vec();
        let done = circuit.reference.run(self.direction != Direction::Backward, &mut words)?;
        Ok(done.then_some(words))
    }

    /// What becomes of words.
    ///
    /// # Errors
    /// If that is not known.
    pub fn state(&self, circuit: &InstructionCircuit, before: Vec<u64>) -> Result<State, NoReference> {
        let mut after = before.clone();
        let back = match (self.direction, self.control) {
            (Direction::Forward, _) => false,
            (Direction::Backward, _) => true,
            (Direction::Both, at) => at.is_some_and(|at| before[at] == 1),
        };
        let done = match self.control {
            None => circuit.reference.run(back, &mut after)?,
            Some(at) => {
                let control = after.remove(at);
                let done = circuit.reference.run(back, &mut after)?;
                after.insert(at, control);
                done
            }
        };
        // What is erased leaves the circuit as it came.
        for (at, _) in self.lost.iter().enumerate().filter(|(_, lost)| **lost) {
            after[at] = before[at];
        }
        let claimed = done || circuit.signals || back == circuit.inverse;
        Ok(State { claimed, before, after: done.then_some(after) })
    }
}

/// The low bits.
pub(crate) const fn low(bits: usize) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

/// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014): a fixed sequence, so that what is found is found again.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next word.
    pub const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    const fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    /// A word of this width: uniform, of any size, or an extreme.
    pub fn any(&mut self, width: usize) -> u64 {
        let word = self.word();
        match self.word() % 8 {
            0..4 => word & low(width),
            4..7 => (word.cast_signed() >> (64 - 1 - self.below(width.max(1)))).cast_unsigned() & low(width),
            _ => corner(width, self.below(CORNERS)),
        }
    }
}

/// How many corner cases of words there are.
pub(crate) const CORNERS: usize = 8;

/// Words at the corners: 0, 1, all ones, the least and the greatest signed, their neighbours, and one of half of the bits.
pub(crate) const fn corner(width: usize, n: usize) -> u64 {
    let top = 1u64 << (width - 1);
    let word = match n {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => top,
        4 => top - 1,
        5 => 2,
        6 => u64::MAX - 1,
        _ => 1 << (width / 2),
    };
    word & low(width)
}

/// Verifies a circuit: all states if their number allows, else random ones. Words, traps, and ancillas at each place where they must be clear are compared.
///
/// Where an instruction traps, its words mean nothing, but the circuit must signal it, unless its [`signals`](InstructionCircuit::signals) says
/// otherwise. A word that is erased leaves the circuit as it came.
///
/// # Errors
/// If what the instruction does is not known to the last bit on such words.
pub fn verify(circuit: &InstructionCircuit) -> Result<Verified, NoReference> {
    verify_states(circuit, EXHAUSTIVE, RANDOM)
}

/// As [`verify`], with all states up to this number of bits of input, else this number of random ones.
///
/// # Errors
/// As [`verify`].
pub fn verify_states(circuit: &InstructionCircuit, exhaustive: usize, random: u64) -> Result<Verified, NoReference> {
    let inputs = Inputs::of(circuit);
    let bits = inputs.bits();
    let exhaustive = bits <= exhaustive;
    let states = if exhaustive { 1 << bits } else { random };
    let mut out = Verified { bits, states, exhaustive, trapped: 0, unclaimed: 0, mismatch: None };
    let mut random = Random::new(1);
    let mut first = 0;
    while first < states {
        let chunk = 64.min(states - first);
        let before = |n| if exhaustive { inputs.numbered(n) } else { inputs.random(&mut random) };
        let before: Vec<Vec<u64>> = (first..first + chunk).map(before).collect();
        let states = before.into_iter().map(|words| inputs.state(circuit, words)).collect::<Result<Vec<State>, _>>()?;
        out.mismatch = compare(&circuit.circuit, &inputs, &states);
        for state in states.iter().filter(|state| state.after.is_none()) {
            *(if state.claimed { &mut out.trapped } else { &mut out.unclaimed }) += 1;
        }
        first += chunk;
        if out.mismatch.is_some() {
            out.states = first;
            break;
        }
    }
    Ok(out)
}

/// The first of at most 64 states in which the circuit does something else.
pub fn compare(circuit: &Circuit, inputs: &Inputs, states: &[State]) -> Option<Mismatch> {
    let mut lanes = circuit.lanes();
    for (at, (name, _)) in inputs.registers.iter().enumerate() {
        let column: Vec<u128> = states.iter().map(|state| state.before[at].into()).collect();
        circuit.set(&mut lanes, name, &column);
    }
    let claimed = states.iter().enumerate().filter(|(_, state)| state.claimed);
    let claimed: u64 = claimed.map(|(lane, _)| 1 << lane).sum();
    let dirty = circuit.run_lanes_in(&mut lanes, claimed).err();
    let after: Vec<[u128; 64]> = inputs.registers.iter().map(|(name, _)| circuit.get(&lanes, name)).collect();
    let traps = circuit.registers().iter().filter(|r| r.role == Role::Trap).flat_map(|r| &r.after);
    let trapped = traps.fold(0, |t, w| t | lanes[*w as usize]);
    let named = |words: &[u64]| inputs.registers.iter().zip(words).map(|((name, _), w)| (name.clone(), *w)).collect();
    for (lane, state) in states.iter().enumerate().filter(|(lane, _)| claimed >> lane & 1 == 1) {
        let words: Vec<u64> = after.iter().map(|column| column[lane] as u64).collect();
        let found = (trapped >> lane & 1 == 0).then_some(words);
        let dirty = dirty.filter(|dirty| dirty.states >> lane & 1 == 1);
        if found != state.after || dirty.is_some() {
            return Some(Mismatch {
                inputs: named(&state.before),
                expected: state.after.as_deref().map(named),
                found: found.as_deref().map(named),
                dirty: dirty.map(|dirty| (dirty.wire, dirty.gate)),
            });
        }
    }
    None
}
