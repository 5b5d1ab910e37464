//! The machine: state, position, the interpreter's two loops (whole blocks,
//! single instructions), and what can be asked of a run.

use std::collections::BTreeMap;

use pendula_isa::adjoint::{Carriage, GRADIENT, LANES, SECOND, VALUE};
use pendula_isa::counts::{Counts, Direction, Mode, ModeCounts};
use pendula_isa::inst::Kind;
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::types::Reg;
use pendula_isa::{Env, Fault, Inst};

use crate::core::{Core, Dropped, Event, Flags, Lane, Record, Records};
use crate::decode::{Branch, Callee, Code, Decoded, Edge, Exit, Op};
use crate::dispatch::CHAIN;
use crate::program::Program;
use crate::trap::{Trap, TrapValue};

/// Words of memory beyond the data segment, where neither `.mem` nor [`Config::mem`] says otherwise.
pub const DEFAULT_STACK: u64 = 1 << 20;

/// The most memory, in words, that a module may ask for by itself.
const MODULE_LIMIT: u64 = 1 << 27;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Memory size in words; `None` for the module's `.mem`, or the data segment and [`DEFAULT_STACK`].
    pub mem: Option<u64>,
    /// Let infinities and NaN of `.f` through.
    pub ieee: bool,
    /// Trap where a fixed-point number overflows, instead of wrapping and noting it.
    pub trap_overflow: bool,
    /// Count executions. Without it a run is a little faster and [`Machine::counts`] is empty.
    pub count: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { mem: None, ieee: false, trap_overflow: false, count: true }
    }
}

/// Why a machine cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The data does not fit.
    #[error("the data segment takes {data} words, the memory has {mem}")]
    TooSmall {
        /// Words of data.
        data: u64,
        /// Words of memory.
        mem: u64,
    },
    /// The module asks for more than it gets unasked.
    #[error("the module asks for {0} words of memory; allow it with `--mem`")]
    TooMuch(u64),
    /// The host has not that much.
    #[error("cannot allocate {0} words of memory")]
    Allocate(u64),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At `finish` (backward: at `start`).
    Finished,
    /// At the step limit; the run can go on.
    Limit,
    /// At an instruction that could not run.
    Trap(Box<Trap>),
}

/// What one step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// Ran the instruction at this address.
    Ran(u32),
    /// Nothing: the run had ended.
    Finished,
    /// Nothing: the instruction could not run.
    Trap(Box<Trap>),
}

/// Where the machine stands: `k` instructions of `block` have run. After all of them, control is about to fall into the
/// next block, which may refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    block: u32,
    k: u32,
}

/// Why the interpreter's loop came back.
enum Stop {
    Halted(u32),
    Budget(u32),
    /// About to enter a block in another carriage.
    Switch(u32),
    /// After `k` instructions of the block; `other` is another instruction concerned.
    Fault {
        block: u32,
        k: u32,
        fault: Fault,
        other: Option<u32>,
    },
    /// After the whole of block `from`, where control would fall into block `to`.
    Refused {
        from: u32,
        to: u32,
        fault: Fault,
    },
}

/// A fault on the way out of a block.
enum Leave {
    /// At the block's last instruction, which has not run.
    Tail(Fault, Option<u32>),
    /// Where control would fall into a block; the one before has run.
    Head { from: u32, to: u32, fault: Fault },
}

/// A copy of a machine's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The registers.
    pub regs: [u64; Reg::COUNT],
    /// The memory.
    pub mem: Vec<u64>,
    output: Vec<u64>,
    input: Vec<u64>,
    read: usize,
}

/// A program's state.
pub struct Machine<'p> {
    program: &'p Program,
    core: Core,
    position: Position,
    halted: bool,
    /// For each carriage that ran: executions of each block, forward then backward.
    counts: [Vec<u64>; Carriage::ALL.len()],
    /// Executions of single instructions, by carriage, block side and address.
    singles: BTreeMap<(Carriage, bool, u32), u64>,
    counting: bool,
    executed: u64,
}

impl<'p> Machine<'p> {
    /// A machine with the program's data in memory, about to run forward.
    pub fn new(program: &'p Program, config: &Config) -> Result<Machine<'p>, ConfigError> {
        let module = program.module();
        let data = module.data.len() as u64;
        let mem = match (config.mem, module.flags.mem) {
            (Some(n), _) => n,
            (None, Some(n)) if n > MODULE_LIMIT => return Err(ConfigError::TooMuch(n)),
            (None, Some(n)) => n,
            (None, None) => data + DEFAULT_STACK,
        };
        if mem < data {
            return Err(ConfigError::TooSmall { data, mem });
        }
        let size =
            usize::try_from(mem).ok().filter(|n| *n <= isize::MAX as usize / 16).ok_or(ConfigError::Allocate(mem))?;
        // Asks first, because the allocation below would abort.
        Vec::<u64>::new().try_reserve_exact(size).map_err(|_| ConfigError::Allocate(mem))?;
        let mut memory = vec![0; size];
        memory[..module.data.len()].copy_from_slice(&module.data);
        let mut regs = [0; Reg::COUNT];
        regs[Reg::SP.index()] = data;
        let core = Core {
            regs,
            mem: memory,
            lanes: [Lane::EMPTY; LANES - 1],
            carriage: Carriage::Plain,
            dropped: Dropped::Lost,
            env: Env { format: module.flags.format, ieee: config.ieee },
            output: Vec::new(),
            input: Vec::new(),
            read: 0,
            forward: true,
            checks: program.checks,
            trap_overflow: config.trap_overflow,
            overflow_op: 0,
            inexact_op: 0,
            lost: Vec::new(),
            base: program.ops(Carriage::Plain).as_ptr().addr(),
            instructions: module.code.len() as u32,
            pending: 0,
            listener: None,
        };
        let position = Position { block: 0, k: 0 };
        let mut machine = Machine {
            program,
            core,
            position,
            halted: false,
            counts: Default::default(),
            singles: BTreeMap::new(),
            counting: config.count,
            executed: 0,
        };
        machine.begin(Direction::Forward);
        Ok(machine)
    }

    /// Puts the machine where a run in this direction begins: at `start`, or at `finish`. The state stays as it is.
    pub fn begin(&mut self, direction: Direction) {
        let entry = self.program.decoded.entry.unwrap_or([0, 0]);
        let back = direction == Direction::Backward;
        self.position = Position { block: entry[usize::from(back)], k: 0 };
        self.core.forward = !back;
        self.halted = false;
    }

    /// Chooses what words carry in the run that begins next: gradient words of level 1 or 2, tangents. The words carried so far stay.
    pub fn carry(&mut self, carriage: Carriage) {
        carry(&mut self.core, self.program, carriage);
    }

    /// What words carry.
    pub fn carriage(&self) -> Carriage {
        self.core.carriage
    }

    /// What a register carries in a lane (0 to 3, see [`pendula_isa::adjoint`]); in lane 0 its value.
    pub fn lane_register(&self, lane: usize, reg: Reg) -> u64 {
        match lane.checked_sub(1) {
            None => self.core.regs[reg.index()],
            Some(n) => self.core.lanes[n].regs[reg.index()],
        }
    }

    /// Writes it; `r0` carries nothing.
    pub fn set_lane_register(&mut self, lane: usize, reg: Reg, word: u64) {
        match lane.checked_sub(1) {
            _ if reg == Reg::ZERO => {}
            None => self.core.regs[reg.index()] = word,
            Some(n) => self.core.lanes[n].regs[reg.index()] = word,
        }
    }

    /// What the memory word at an address carries in a lane, 0 if nothing yet; in lane 0 its value.
    pub fn lane_word(&self, lane: usize, address: usize) -> u64 {
        let mem = if lane == VALUE { &self.core.mem } else { &self.core.lanes[lane - 1].mem };
        mem.get(address).copied().unwrap_or(0)
    }

    /// Writes it. An address outside the memory is left alone.
    pub fn set_lane_word(&mut self, lane: usize, address: usize, word: u64) {
        let words = self.core.mem.len();
        if let Some(n) = lane.checked_sub(1) {
            self.core.lanes[n].allocate(words);
        }
        let mem = if lane == VALUE { &mut self.core.mem } else { &mut self.core.lanes[lane - 1].mem };
        if let Some(w) = mem.get_mut(address) {
            *w = word;
        }
    }

    /// Forgets everything that is carried in a lane (1 to 3) and gives its memory back.
    pub fn clear_lane(&mut self, lane: usize) {
        self.core.lanes[lane - 1] = Lane::EMPTY;
        self.core.allocate(self.core.carriage);
    }

    /// Exchanges two lanes (1 to 3).
    pub fn exchange_lanes(&mut self, a: usize, b: usize) {
        self.core.lanes.swap(a - 1, b - 1);
        self.core.allocate(self.core.carriage);
    }

    /// Keeps the gradient words that `zero` drops from now on, so that running the other way brings them back.
    pub fn keep_dropped(&mut self) {
        self.core.dropped = Dropped::Kept(Records::default());
    }

    /// Turns from keeping to bringing back (and the other way): the run that follows goes back over the one before.
    pub fn turn_dropped(&mut self) {
        self.core.dropped = match std::mem::take(&mut self.core.dropped) {
            Dropped::Lost => Dropped::Lost,
            Dropped::Kept(records) => Dropped::Returned(records),
            Dropped::Returned(records) => Dropped::Kept(records),
        };
    }

    /// Stops keeping dropped gradient words, and forgets those kept.
    pub fn lose_dropped(&mut self) {
        self.core.dropped = Dropped::Lost;
    }

    /// What numbers of the program mean.
    pub fn env(&self) -> Env {
        self.core.env
    }

    /// A copy of the values: registers, memory and tapes, not what they carry.
    pub fn snapshot(&self) -> Snapshot {
        let Core { regs, mem, output, input, read, .. } = &self.core;
        Snapshot { regs: *regs, mem: mem.clone(), output: output.clone(), input: input.clone(), read: *read }
    }

    /// Brings a copy of the values back. What words carry stays.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.core.regs = snapshot.regs;
        self.core.mem.clone_from(&snapshot.mem);
        self.core.output.clone_from(&snapshot.output);
        self.core.input.clone_from(&snapshot.input);
        self.core.read = snapshot.read;
    }

    /// How many gradient words other than zero are kept.
    pub fn dropped_words(&self) -> usize {
        match &self.core.dropped {
            Dropped::Lost => 0,
            Dropped::Kept(records) | Dropped::Returned(records) => records.iter().map(Record::len).sum(),
        }
    }

    /// Whether what is carried in a lane (1 to 3) is zero everywhere.
    pub fn is_lane_clear(&self, lane: usize) -> bool {
        self.core.lanes[lane - 1].is_clear()
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Which way the machine is running.
    pub fn direction(&self) -> Direction {
        if self.core.forward { Direction::Forward } else { Direction::Backward }
    }

    /// The address of the next instruction; `None` when the run has ended or left the code.
    pub fn pc(&self) -> Option<u32> {
        let d = &self.program.decoded;
        let Position { block, k } = self.position;
        if self.halted {
            return None;
        }
        if k < d.code[block as usize].len {
            return Some(d.address(block, k));
        }
        let at = d.address(block, k - 1);
        if d.is_forward(block) { Some(at + 1) } else { at.checked_sub(1) }
    }

    /// The registers.
    pub fn registers(&self) -> &[u64; Reg::COUNT] {
        &self.core.regs
    }

    /// Writes a register; `r0` stays 0.
    pub fn set_register(&mut self, reg: Reg, word: u64) {
        if reg != Reg::ZERO {
            self.core.regs[reg.index()] = word;
        }
    }

    /// The memory.
    pub fn memory(&self) -> &[u64] {
        &self.core.mem
    }

    /// The memory, to be written.
    pub fn memory_mut(&mut self) -> &mut [u64] {
        &mut self.core.mem
    }

    /// The words emitted so far.
    pub fn output(&self) -> &[u64] {
        &self.core.output
    }

    /// Gives the output tape that a backward run starts with.
    pub fn set_output(&mut self, words: Vec<u64>) {
        self.core.output = words;
    }

    /// Gives the input tape; `read` of its words count as read: none for a forward run, all for a backward one.
    pub fn set_input(&mut self, words: Vec<u64>, read: usize) {
        self.core.read = read.min(words.len());
        self.core.input = words;
    }

    /// The input tape.
    pub fn input(&self) -> &[u64] {
        &self.core.input
    }

    /// How many words of the input tape have been read.
    pub fn words_read(&self) -> usize {
        self.core.read
    }

    /// What the run noticed.
    pub fn flags(&self) -> Flags {
        self.core.flags()
    }

    /// Sets the receiver of what the program shows.
    pub fn on_event(&mut self, listener: impl FnMut(Event) + Send + 'static) {
        self.core.listener = Some(Box::new(listener));
    }

    /// 128 bits that stand for the whole state: registers, memory, tapes and how far they were read, and what they carry, unless it is zero everywhere.
    pub fn digest(&self) -> u128 {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        for part in [&self.core.regs[..], &self.core.mem, &self.core.output, &self.core.input] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(bytemuck::cast_slice(part));
        }
        hash.update(&(self.core.read as u64).to_le_bytes());
        for (n, lane) in self.core.lanes.iter().enumerate().filter(|(_, l)| !l.is_clear()) {
            hash.update(&(n as u64).to_le_bytes());
            // Zeros at the end may be there or not: a lane grows when it is needed.
            for part in [&lane.regs[..], &lane.mem, &lane.output] {
                let used = part.iter().rposition(|w| *w != 0).map_or(0, |at| at + 1);
                hash.update(&(used as u64).to_le_bytes());
                hash.update(bytemuck::cast_slice(&part[..used]));
            }
        }
        hash.digest128()
    }

    /// How often everything has run.
    pub fn counts(&self) -> Counts {
        let d = &self.program.decoded;
        let n = d.blocks.len();
        let modes = Carriage::ALL.into_iter().flat_map(|c| [(c, Direction::Forward), (c, Direction::Backward)]);
        let modes = modes.filter_map(|(carriage, direction)| {
            let back = direction == Direction::Backward;
            let counts = &self.counts[carriage as usize];
            let blocks = if back { counts.get(n..) } else { counts.get(..n) };
            let blocks = blocks.map_or_else(|| vec![0; n], <[u64]>::to_vec);
            let singles = self.singles.range((carriage, back, 0)..=(carriage, back, u32::MAX));
            let singles: Vec<(u32, u64)> = singles.map(|(&(.., at), &times)| (at, times)).collect();
            let ran = !singles.is_empty() || blocks.iter().any(|c| *c > 0);
            let mode = Mode { direction, level: carriage.level(), tangents: carriage.has_tangents() };
            ran.then_some(ModeCounts { mode, blocks, singles })
        });
        let lost =
            self.core.lost.iter().enumerate().filter(|(_, bits)| **bits > 0).map(|(at, bits)| (at as u32, *bits));
        Counts { blocks: d.blocks.clone(), modes: modes.collect(), lost: lost.collect() }
    }

    /// How many instructions have run since the machine was made, in both directions.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Runs to the end, to a trap, or until `limit` instructions have run.
    pub fn run(&mut self, limit: Option<u64>) -> Outcome {
        let mut budget = limit.unwrap_or(u64::MAX);
        loop {
            if self.halted {
                return Outcome::Finished;
            }
            if self.position.k == 0 {
                let before = budget;
                let stop =
                    if self.counting { self.blocks::<true>(&mut budget) } else { self.blocks::<false>(&mut budget) };
                self.executed += before - budget;
                match stop {
                    Stop::Halted(block) => {
                        self.position = Position { block, k: self.code(block).len };
                        self.halted = true;
                        return Outcome::Finished;
                    }
                    Stop::Switch(block) => {
                        self.position = Position { block, k: 0 };
                        continue;
                    }
                    Stop::Budget(block) => self.position = Position { block, k: 0 },
                    Stop::Fault { block, k, fault, other } => {
                        self.partial(block, k);
                        self.position = Position { block, k };
                        return Outcome::Trap(Box::new(self.trap(fault, block, k, other)));
                    }
                    Stop::Refused { from, to, fault } => return Outcome::Trap(self.refused(from, to, fault)),
                }
            }
            if budget == 0 {
                return Outcome::Limit;
            }
            match self.step() {
                Stepped::Ran(_) => budget -= 1,
                Stepped::Finished => return Outcome::Finished,
                Stepped::Trap(trap) => return Outcome::Trap(trap),
            }
        }
    }

    /// Runs one instruction.
    pub fn step(&mut self) -> Stepped {
        if self.halted {
            return Stepped::Finished;
        }
        let d = &self.program.decoded;
        let Position { mut block, mut k } = self.position;
        if k == self.code(block).len {
            // Only now does control fall into the next block.
            let next = match &self.code(block).exit {
                Exit::Branch(branch) => follow(&self.core, block, &branch.fall),
                Exit::Fall(next) => Ok(*next),
                // Returned from, to where control could not go on.
                Exit::Call { .. } | Exit::CallRegister { .. } => match &d.calls[d.address(block, k - 1) as usize] {
                    Some(site) => follow(&self.core, block, site.after(&self.core)),
                    None => return Stepped::Finished,
                },
                Exit::Return { .. } | Exit::Halt => return Stepped::Finished,
            };
            match next {
                Ok(next) => (block, k) = (next, 0),
                Err(Leave::Head { from, to, fault }) => return Stepped::Trap(self.refused(from, to, fault)),
                Err(Leave::Tail(fault, other)) => {
                    return Stepped::Trap(Box::new(self.trap(fault, block, k - 1, other)));
                }
            }
            self.position = Position { block, k };
        }
        let code = *self.code(block);
        let at = d.address(block, k);
        // A call and a return count where they began.
        let carriage = self.core.carriage;
        let straight = k.wrapping_sub(code.head);
        if k < code.head {
            self.position.k = 1;
        } else if straight < code.last - code.first {
            let at = (code.first + straight) as usize;
            let ops = &self.program.ops(self.core.carriage)[at..=at];
            if let Err(fault) = (ops[0].run)(&mut self.core, ops) {
                return Stepped::Trap(Box::new(self.trap(fault, block, k, None)));
            }
            self.position.k += 1;
        } else {
            match leave(&mut self.core, self.program, block, &code.exit) {
                Ok(Some(next)) => self.position = Position { block: next, k: 0 },
                Ok(None) => {
                    self.position.k += 1;
                    self.halted = true;
                }
                Err(Leave::Tail(fault, other)) => {
                    return Stepped::Trap(Box::new(self.trap(fault, block, k, other)));
                }
                // The instruction runs. That it leads where control cannot go is the next step's affair.
                Err(Leave::Head { from, .. }) => self.position = Position { block: from, k: self.code(from).len },
            }
        }
        self.single(carriage, block, at);
        Stepped::Ran(at)
    }

    fn code(&self, block: u32) -> &'p Code {
        &self.program.decoded.code[block as usize]
    }

    fn single(&mut self, carriage: Carriage, block: u32, at: u32) {
        self.executed += 1;
        if self.counting {
            *self.singles.entry((carriage, !self.program.decoded.is_forward(block), at)).or_insert(0) += 1;
        }
    }

    /// Notes that only the first `k` instructions of a block ran; it had not been counted.
    fn partial(&mut self, block: u32, k: u32) {
        for n in 0..k {
            self.single(self.core.carriage, block, self.program.decoded.address(block, n));
        }
    }

    fn blocks<const COUNT: bool>(&mut self, budget: &mut u64) -> Stop {
        let counts = &mut self.counts[self.core.carriage as usize];
        if counts.is_empty() {
            *counts = vec![0; self.program.decoded.code.len()];
        }
        run_blocks::<COUNT>(&mut self.core, self.program, counts, self.position.block, budget)
    }

    /// Stops between two blocks, the second of which may not be entered.
    fn refused(&mut self, from: u32, to: u32, fault: Fault) -> Box<Trap> {
        self.position = Position { block: from, k: self.code(from).len };
        Box::new(self.trap(fault, to, 0, None))
    }

    /// Describes a fault.
    fn trap(&self, fault: Fault, block: u32, k: u32, other: Option<u32>) -> Trap {
        let d = &self.program.decoded;
        let code = &self.program.module().code;
        let k = k.min(self.code(block).len.saturating_sub(1));
        let at = d.address(block, k);
        let inst = code[at as usize];
        // A half jump entered the wrong way is told together with its partner.
        let wrong_entry = matches!(fault, Fault::WrongEntry | Fault::WrongEntryBack);
        let other = other.or_else(|| wrong_entry.then(|| (i64::from(at) + inst.imm) as u32));
        let other = other.and_then(|n| Some((n, *code.get(n as usize)?)));
        let mut values = self.values(&inst, false);
        values.extend(self.stack_values(&inst, fault));
        if let Some((_, partner)) = &other {
            values.extend(self.values(partner, true));
        }
        Trap { fault, at, inst, other, direction: self.direction(), carriage: self.core.carriage, values }
    }

    /// The stack pointer, and the word that the fault is about, of an instruction that moves the stack pointer.
    fn stack_values(&self, inst: &Inst, fault: Fault) -> Vec<TrapValue> {
        if !matches!(inst.kind, Kind::Row { row, .. } if row.info().moves_sp) {
            return Vec::new();
        }
        let sp = self.core.regs[Reg::SP.index()];
        let mut out =
            vec![TrapValue { operand: Operand::Reg(Reg::SP), address: None, word: Some(sp), of_other: false }];
        let offset = match fault {
            Fault::PushOnto => 0,
            Fault::BadLink => -1,
            _ => return out,
        };
        let address = sp.wrapping_add_signed(offset);
        let operand = Operand::Mem { base: Reg::SP, index: Reg::ZERO, offset };
        out.push(TrapValue { operand, address: Some(address), word: self.core.load(address).ok(), of_other: false });
        out
    }

    fn values(&self, inst: &Inst, of_other: bool) -> Vec<TrapValue> {
        inst.operands()
            .filter_map(|(slot, operand)| {
                let (address, word) = match (slot, operand) {
                    (Slot::Reg(_) | Slot::Target(_), Operand::Reg(r)) => (None, Some(self.core.regs[r.index()])),
                    (_, Operand::Mem { base, index, offset }) => {
                        let address = self.core.regs[base.index()]
                            .wrapping_add(self.core.regs[index.index()])
                            .wrapping_add(offset.cast_unsigned());
                        (Some(address), self.core.load(address).ok())
                    }
                    (_, Operand::Reg(_) | Operand::Imm(..) | Operand::Small(_) | Operand::Factor(_)) => return None,
                    (_, Operand::Label(_) | Operand::Text(_)) => return None,
                };
                Some(TrapValue { operand, address, word, of_other })
            })
            .collect()
    }
}

/// Runs whole blocks, as long as the budget lasts for the next one.
#[inline(never)]
fn run_blocks<const COUNT: bool>(
    core: &mut Core,
    program: &Program,
    counts: &mut [u64],
    mut block: u32,
    budget: &mut u64,
) -> Stop {
    let d = &program.decoded;
    let carriage = core.carriage;
    let all = program.ops(carriage);
    // In a register while blocks run.
    let mut left = *budget;
    let stop = loop {
        let code = &d.code[block as usize];
        let Some(rest) = left.checked_sub(u64::from(code.len)) else { break Stop::Budget(block) };
        let ops = &all[code.first as usize..code.last as usize];
        if let Some(first) = ops.first() {
            let done = if ops.len() <= CHAIN { (first.run)(core, ops) } else { in_chains(core, ops) };
            if let Err(fault) = done {
                break Stop::Fault { block, k: (ops.len() - core.pending) as u32 + code.head, fault, other: None };
            }
        }
        // Branches are the common case. What is wrong with one that cannot be taken is found out afterwards.
        let next = match &code.exit {
            Exit::Branch(branch) => decide(core, branch),
            Exit::Fall(next) => Some(*next),
            exit @ (Exit::Call { .. } | Exit::CallRegister { .. } | Exit::Return { .. }) => {
                match transfer(core, program, exit) {
                    Ok(next) if core.carriage != carriage => {
                        left = rest;
                        counts[block as usize] += u64::from(COUNT);
                        break Stop::Switch(next);
                    }
                    Ok(next) => Some(next),
                    Err(leave) => break stop_leaving::<COUNT>(counts, code, block, &mut left, leave),
                }
            }
            Exit::Halt => {
                left = rest;
                counts[block as usize] += u64::from(COUNT);
                break Stop::Halted(block);
            }
        };
        let Some(next) = next else {
            let leave = match &code.exit {
                Exit::Branch(branch) => explain(core, d, block, branch),
                Exit::Fall(_) | Exit::Call { .. } | Exit::CallRegister { .. } | Exit::Return { .. } | Exit::Halt => {
                    Leave::Tail(Fault::OffCode, None)
                }
            };
            break stop_leaving::<COUNT>(counts, code, block, &mut left, leave);
        };
        left = rest;
        if COUNT {
            counts[block as usize] += 1;
        }
        block = next;
    };
    *budget = left;
    stop
}

/// Accounts for a block that could not be left, or that led where control cannot go.
#[cold]
#[inline(never)]
fn stop_leaving<const COUNT: bool>(
    counts: &mut [u64],
    code: &Code,
    block: u32,
    budget: &mut u64,
    leave: Leave,
) -> Stop {
    match leave {
        Leave::Tail(fault, other) => Stop::Fault { block, k: code.len - 1, fault, other },
        Leave::Head { from, to, fault } => {
            *budget -= u64::from(code.len);
            counts[block as usize] += u64::from(COUNT);
            Stop::Refused { from, to, fault }
        }
    }
}

/// Runs more straight-line instructions than may be chained at once.
#[cold]
#[inline(never)]
fn in_chains(core: &mut Core, ops: &[Op]) -> Result<(), Fault> {
    for (n, chain) in ops.chunks(CHAIN).enumerate() {
        (chain[0].run)(core, chain).inspect_err(|_| {
            // Pending in this chain, and all the later ones.
            core.pending += ops.len() - (n * CHAIN + chain.len());
        })?;
    }
    Ok(())
}

/// Where a branch leads; `None` if a check fails, or a word is no number.
#[inline(always)]
fn decide(core: &Core, branch: &Branch) -> Option<u32> {
    if branch.test.holds(core).ok()? {
        if branch.confirm.holds(core).ok()? { Some(branch.to) } else { None }
    } else if branch.fall.unless.holds(core).ok()? {
        None
    } else {
        Some(branch.fall.block)
    }
}

/// Why a branch leads nowhere.
#[cold]
#[inline(never)]
fn explain(core: &Core, d: &Decoded, block: u32, branch: &Branch) -> Leave {
    let landing = Some(d.address(branch.to, 0));
    match (branch.test.holds(core), branch.confirm.holds(core)) {
        (Err(fault), _) => Leave::Tail(fault, None),
        (Ok(true), Err(fault)) => Leave::Tail(fault, landing),
        (Ok(true), Ok(_)) => Leave::Tail(Fault::WrongLanding, landing),
        (Ok(false), _) => match follow(core, block, &branch.fall) {
            Err(leave) => leave,
            Ok(_) => Leave::Tail(Fault::OffCode, None),
        },
    }
}

/// Falls from one block into another, unless that may not be entered in this way.
fn follow(core: &Core, from: u32, edge: &Edge) -> Result<u32, Leave> {
    let to = edge.block;
    match edge.unless.holds(core) {
        Ok(false) => Ok(to),
        Ok(true) if core.forward => Err(Leave::Head { from, to, fault: Fault::WrongEntry }),
        Ok(true) => Err(Leave::Head { from, to, fault: Fault::WrongEntryBack }),
        Err(fault) => Err(Leave::Head { from, to, fault }),
    }
}

/// Leaves a block by its last instruction; `None` is the end of the run.
fn leave(core: &mut Core, program: &Program, block: u32, exit: &Exit) -> Result<Option<u32>, Leave> {
    match exit {
        Exit::Branch(branch) => {
            decide(core, branch).map(Some).ok_or_else(|| explain(core, &program.decoded, block, branch))
        }
        Exit::Fall(next) => Ok(Some(*next)),
        Exit::Call { .. } | Exit::CallRegister { .. } | Exit::Return { .. } => transfer(core, program, exit).map(Some),
        Exit::Halt => Ok(None),
    }
}

/// Calls and returns.
#[inline(always)]
fn transfer(core: &mut Core, program: &Program, exit: &Exit) -> Result<u32, Leave> {
    let d = &program.decoded;
    match *exit {
        Exit::Call { to, link, flip, lift } => {
            if lift {
                let level = core.carriage.level() + 1;
                let carriage = Carriage::new(level, core.carriage.has_tangents());
                let carriage = carriage.ok_or(Leave::Tail(Fault::GradientLevel, None))?;
                push_link(core, link, flip)?;
                change_level(core, program, carriage);
            } else {
                push_link(core, link, flip)?;
            }
            Ok(to)
        }
        Exit::CallRegister { reg, link, flip } => {
            let back = core.forward == flip;
            let entry = d.procedure(program.module(), core.reg(reg), back);
            let to = entry.ok_or(Leave::Tail(Fault::NotProcedure, None))?;
            push_link(core, link, flip)?;
            Ok(to)
        }
        Exit::Return { proc } => {
            let sp = core.regs[Reg::SP.index()].wrapping_sub(1);
            let link = core.load(sp).map_err(|f| Leave::Tail(f, None))?;
            let site = usize::try_from(link.wrapping_sub(1)).ok().and_then(|at| d.calls.get(at)?.as_ref());
            let site = site.filter(|s| match s.callee {
                Callee::Known(callee) => callee == proc,
                Callee::Register(r) => core.reg(r) == u64::from(proc),
            });
            // A link of a `gcall` where there is no level to fall by was put in the place of another call's.
            let site = site.filter(|s| !s.lift || core.carriage.level() > 0);
            let site = site.ok_or(Leave::Tail(Fault::BadLink, None))?;
            core.store(sp, 0).map_err(|f| Leave::Tail(f, None))?;
            core.regs[Reg::SP.index()] = sp;
            core.forward ^= site.flip;
            if site.lift {
                let level = core.carriage.level() - 1;
                let carriage = Carriage::new(level, core.carriage.has_tangents()).unwrap_or(Carriage::Plain);
                change_level(core, program, carriage);
            }
            let after = site.after(core);
            if after.unless.is_never() {
                Ok(after.block)
            } else {
                follow(core, d.side((link - 1) as usize, core.forward), after)
            }
        }
        Exit::Branch(_) | Exit::Fall(_) | Exit::Halt => Err(Leave::Tail(Fault::OffCode, None)),
    }
}

/// Goes on at the gradient level of a `gcall`, or of its return.
///
/// The rules of level 2 differentiate those of level 1: lanes 2 and 3 hold the gradients of the values and of lane 1. Where a `gcall`
/// stands within another one, what is differentiated is the inner one, whose gradient words the program knows at level 1 as
/// those above the values: lane 2. So it gets lane 1 while it lasts, and the outer one's gradients lane 2.
#[cold]
#[inline(never)]
fn change_level(core: &mut Core, program: &Program, carriage: Carriage) {
    if (core.carriage == Carriage::SecondGradient) != (carriage == Carriage::SecondGradient) {
        core.lanes.swap(GRADIENT - 1, SECOND - 1);
    }
    carry(core, program, carriage);
}

/// Goes on in another carriage.
#[cold]
#[inline(never)]
fn carry(core: &mut Core, program: &Program, carriage: Carriage) {
    core.allocate(carriage);
    core.carriage = carriage;
    core.base = program.ops(carriage).as_ptr().addr();
}

#[inline(always)]
fn push_link(core: &mut Core, link: u64, flip: bool) -> Result<(), Leave> {
    let sp = core.regs[Reg::SP.index()];
    if core.load(sp).map_err(|f| Leave::Tail(f, None))? != 0 {
        return Err(Leave::Tail(Fault::PushOnto, None));
    }
    core.store(sp, link).map_err(|f| Leave::Tail(f, None))?;
    core.regs[Reg::SP.index()] = sp.wrapping_add(1);
    core.forward ^= flip;
    Ok(())
}
