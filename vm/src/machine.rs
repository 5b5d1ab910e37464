//! The machine: state, position, running by blocks (see `run`) or by single
//! instructions, and what can be asked of a run.

use std::collections::BTreeMap;

use pendula_isa::adjoint::{AdMode, LANES};
use pendula_isa::counts::{Counts, Direction, Mode, ModeCounts};
use pendula_isa::inst::Kind;
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::Flow;
use pendula_isa::types::{Profile, Reg};
use pendula_isa::{Env, Fault, Inst};

use crate::cells::Cells;
use crate::config::{Config, ConfigError, Engine};
use crate::core::{Core, Dropped, Event, Flags, Lane, Rests};
use crate::decode::{Code, Exit};
use crate::program::Program;
use crate::run::{Leave, Stop, follow, leave, run_blocks};
use crate::trap::{Trap, TrapValue};

/// Words of memory beyond the data segment, where neither `.mem` nor [`Config::mem`] says otherwise.
pub const DEFAULT_STACK: u64 = 1 << 20;

/// The most memory, in words, that a module may ask for by itself.
const MODULE_LIMIT: u64 = 1 << 27;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At `finish` (backward: at `start`).
    Finished,
    /// At the step limit; the run can go on.
    Limit,
    /// At an instruction that could not run.
    Trap(Box<Trap>),
    /// Where the engine was to make code, and could not: what its compiler says. The run can go on with single steps.
    NoCode(String),
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
pub(crate) struct Position {
    pub(crate) block: u32,
    pub(crate) k: u32,
}

/// What has run a program, since the machine was made or reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Runs by code for whole runs, whose instructions nobody counts: see [`crate::WholeProgram`].
    pub whole: u64,
    /// Instructions by code that the machine's engine has made.
    pub compiled: u64,
    /// Instructions by the interpreter.
    pub interpreted: u64,
}

/// A program's state.
pub struct Machine<'p> {
    pub(crate) program: &'p Program,
    pub(crate) core: Core,
    pub(crate) position: Position,
    pub(crate) halted: bool,
    /// The direction in which the run began.
    begun: Direction,
    /// For each AD mode that ran: executions of each block, forward then backward.
    pub(crate) counts: [Vec<u64>; AdMode::ALL.len()],
    /// Executions of single instructions, by AD mode, block side and address.
    pub(crate) singles: BTreeMap<(AdMode, bool, u32), u64>,
    pub(crate) counting: bool,
    pub(crate) executed: u64,
    pub(crate) ran: Ran,
    pub(crate) engine: Engine,
    /// Whether whole runs may be made by the program's code for them.
    pub(crate) whole: bool,
    pub(crate) saved: crate::whole::Saved,
    #[cfg(any(feature = "jit", feature = "native"))]
    pub(crate) local: crate::engine::Local,
}

impl<'p> Machine<'p> {
    /// A machine with the program's data in memory, about to run forward.
    pub fn new(program: &'p Program, config: &Config) -> Result<Machine<'p>, ConfigError> {
        let engine = config.engine;
        engine.wanting().map_err(|why| ConfigError::Engine { engine, why })?;
        let module = program.module();
        let pisa = module.flags.profile == Profile::Pisa;
        // Where there is one space for both, instructions take room in the memory, too.
        let data = if pisa { module.code.len() } else { module.data.len() } as u64;
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
        let mut regs = [0; Reg::COUNT];
        if pisa {
            for (word, inst) in memory.iter_mut().zip(&module.code) {
                *word = if inst.kind.flow() == Flow::Cell { inst.imm.cast_unsigned() } else { 0 };
            }
        } else {
            module.data.copy_to(&mut memory[..module.data.len()]);
            regs[Reg::SP.index()] = data;
        }
        let core = Core {
            regs,
            mem: memory,
            lanes: [Lane::EMPTY; LANES - 1],
            ad_mode: AdMode::Plain,
            dropped: Dropped::Lost,
            env: Env { format: module.flags.format, ieee: config.ieee },
            output: Vec::new(),
            input: Vec::new(),
            read: 0,
            br: 0,
            cells: Cells::of(module),
            forward: true,
            shows_back: module.flags.loose,
            checks: program.checks,
            trap_overflow: config.trap_overflow,
            overflow_op: 0,
            carried_op: 0,
            inexact_op: 0,
            rests: Rests::default(),
            lost: Vec::new(),
            base: program.ops(AdMode::Plain).as_ptr().addr(),
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
            begun: Direction::Forward,
            counts: Default::default(),
            singles: BTreeMap::new(),
            counting: config.count,
            executed: 0,
            ran: Ran::default(),
            engine: config.engine,
            whole: false,
            saved: Default::default(),
            #[cfg(any(feature = "jit", feature = "native"))]
            local: crate::engine::Local::new(config),
        };
        machine.begin(Direction::Forward);
        Ok(machine)
    }

    /// Puts the machine where a run in this direction begins: at `start`, or at `finish`. Of several `finish`, which the profile `pisa` may have, at the
    /// last; but after a run in the other direction, which may have turned around and ended at a `start`, where that has ended. The state stays as it is.
    pub fn begin(&mut self, direction: Direction) {
        let d = &self.program.decoded;
        let back = direction == Direction::Backward;
        let mut block = d.entry.unwrap_or([0, 0])[usize::from(back)];
        let ended = self.position.block;
        let mut forward = !back;
        if self.halted && self.begun != direction && matches!(self.code(ended).exit, Exit::End) {
            let n = d.blocks.len() as u32;
            forward = !d.is_forward(ended);
            block = if forward { ended - n } else { ended + n };
            self.core.br = self.core.br.wrapping_neg();
        } else {
            self.core.br = 0;
        }
        self.position = Position { block, k: 0 };
        self.core.forward = forward;
        self.halted = false;
        self.begun = direction;
    }

    /// What numbers of the program mean.
    pub fn env(&self) -> Env {
        self.core.env
    }

    /// What runs the program.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Which way the machine is running.
    pub fn direction(&self) -> Direction {
        if self.core.forward { Direction::Forward } else { Direction::Backward }
    }

    /// The direction in which the run began, whichever way the machine is running within it.
    pub fn begun(&self) -> Direction {
        self.begun
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

    /// Writes a register; `r0` stays 0 where it always reads 0.
    pub fn set_register(&mut self, reg: Reg, word: u64) {
        if reg != Reg::ZERO || self.is_pisa() {
            self.saved.rest = false;
            self.core.regs[reg.index()] = self.narrowed(word);
        }
    }

    /// Whether there is a branch register, and words have 32 bits.
    fn is_pisa(&self) -> bool {
        self.program.module().flags.profile == Profile::Pisa
    }

    /// A word as the profile has it: of 32 bits, sign-extended, where it has no more.
    pub fn narrowed(&self, word: u64) -> u64 {
        if self.is_pisa() { i64::from(word as i32).cast_unsigned() } else { word }
    }

    /// The memory.
    pub fn memory(&self) -> &[u64] {
        &self.core.mem
    }

    /// The memory, to be written.
    pub fn memory_mut(&mut self) -> &mut [u64] {
        self.saved.rest = false;
        &mut self.core.mem
    }

    /// The cells beyond [`Machine::memory`] that are not zero, by address: where there are 2^32 of them, in the profile `pisa`.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.core.cells.nonzero()
    }

    /// The word in a cell of the profile `pisa`.
    pub fn cell(&self, at: u32) -> u64 {
        self.core.mem.get(at as usize).copied().unwrap_or_else(|| self.core.cells.get(at))
    }

    /// Writes a cell of the profile `pisa`, which should hold no instruction.
    pub fn set_cell(&mut self, at: u32, word: u64) {
        let word = self.narrowed(word);
        match self.memory_mut().get_mut(at as usize) {
            Some(cell) => *cell = word,
            None => self.core.cells.set(at, word),
        }
    }

    /// The branch register of the profile `pisa`: how far on the next instruction is, 0 for the one that follows.
    pub fn branch_register(&self) -> i32 {
        self.core.br
    }

    /// The words emitted so far.
    pub fn output(&self) -> &[u64] {
        &self.core.output
    }

    /// Gives the output tape that a backward run starts with.
    pub fn set_output(&mut self, words: Vec<u64>) {
        self.core.output = words.into_iter().map(|w| self.narrowed(w)).collect();
    }

    /// Gives the input tape; `read` of its words count as read: none for a forward run, all for a backward one.
    pub fn set_input(&mut self, words: Vec<u64>, read: usize) {
        self.core.read = read.min(words.len());
        self.core.input = words.into_iter().map(|w| self.narrowed(w)).collect();
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
        if self.core.br != 0 {
            hash.update(&self.core.br.to_le_bytes());
        }
        for (at, word) in self.core.cells.nonzero() {
            hash.update(&[u64::from(at), word].map(u64::to_le_bytes).concat());
        }
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
        let modes = AdMode::ALL.into_iter().flat_map(|c| [(c, Direction::Forward), (c, Direction::Backward)]);
        let modes = modes.filter_map(|(ad_mode, direction)| {
            let back = direction == Direction::Backward;
            let counts = &self.counts[ad_mode as usize];
            let mut blocks = vec![0; n];
            for (code, times) in counts.iter().enumerate().filter(|(_, times)| **times > 0) {
                let code = code as u32;
                if d.is_forward(code) == back {
                    continue;
                }
                // One may stand for several blocks in a row, with a branch register.
                let mut k = 0;
                while k < d.code[code as usize].len {
                    let block = d.block_of[d.address(code, k) as usize] as usize;
                    blocks[block] += times;
                    k += d.blocks[block].end - d.blocks[block].start;
                }
            }
            let singles = self.singles.range((ad_mode, back, 0)..=(ad_mode, back, u32::MAX));
            let singles: Vec<(u32, u64)> = singles.map(|(&(.., at), &times)| (at, times)).collect();
            let ran = !singles.is_empty() || blocks.iter().any(|c| *c > 0);
            let mode = Mode { direction, level: ad_mode.level(), tangents: ad_mode.has_tangents() };
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

    /// What has run them, and the runs that were made as a whole.
    pub fn ran(&self) -> Ran {
        Ran { interpreted: self.executed - self.ran.compiled, ..self.ran }
    }

    /// Runs to the end, to a trap, or until `limit` instructions have run.
    pub fn run(&mut self, limit: Option<u64>) -> Outcome {
        if limit.is_none() && self.run_as_whole() {
            return Outcome::Finished;
        }
        let (direction, ad_mode, engine) = (self.direction(), self.core.ad_mode, self.engine);
        let _span = tracing::debug_span!("run", ?direction, ?ad_mode, ?engine).entered();
        self.disturb();
        match self.engine {
            #[cfg(any(feature = "jit", feature = "native"))]
            Engine::Jit | Engine::Native if self.program.module().flags.profile == Profile::Native => {
                self.run_compiled(limit)
            }
            _ => self.interpret(limit),
        }
    }

    /// Forgets what was known of the state for whole runs.
    pub(crate) fn disturb(&mut self) {
        (self.saved.rest, self.saved.few) = (false, false);
    }

    pub(crate) fn interpret(&mut self, limit: Option<u64>) -> Outcome {
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
        self.disturb();
        if self.halted {
            return Stepped::Finished;
        }
        if self.position.k == self.code(self.position.block).len
            && let Err(stepped) = self.fall()
        {
            return stepped;
        }
        let d = &self.program.decoded;
        let Position { block, k } = self.position;
        let code = *self.code(block);
        let at = d.address(block, k);
        // A call and a return count where they began.
        let ad_mode = self.core.ad_mode;
        let straight = k.wrapping_sub(code.head);
        if k < code.head {
            self.position.k = 1;
        } else if straight < code.last - code.first {
            let at = (code.first + straight) as usize;
            let ops = &self.program.ops(self.core.ad_mode)[at..=at];
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
                    if matches!(code.exit, Exit::End) {
                        return Stepped::Finished;
                    }
                }
                Err(Leave::Tail(fault, other)) => {
                    return Stepped::Trap(Box::new(self.trap(fault, block, k, other)));
                }
                // The instruction runs. That it leads where control cannot go is the next step's affair.
                Err(Leave::Head { from, .. }) => self.position = Position { block: from, k: self.code(from).len },
            }
        }
        self.single(ad_mode, block, at);
        Stepped::Ran(at)
    }

    /// Falls from behind the last instruction of a block into the next one, or does what happens if that cannot be entered.
    pub(crate) fn fall(&mut self) -> Result<(), Stepped> {
        let d = &self.program.decoded;
        let Position { block, k } = self.position;
        let next = match &self.code(block).exit {
            Exit::Branch(branch) => follow(&self.core, block, &branch.fall),
            Exit::Fall(next) => Ok(*next),
            // Returned from, to where control could not go on.
            Exit::Call { .. } | Exit::CallRegister { .. } => match &d.calls[d.address(block, k - 1) as usize] {
                Some(site) => follow(&self.core, block, site.after(&self.core)),
                None => return Err(Stepped::Finished),
            },
            Exit::Edge => Err(Leave::Head { from: block, to: block, fault: Fault::OffCode }),
            Exit::Return { .. } | Exit::Halt | Exit::PisaBranch(_) | Exit::End | Exit::Stop(_) => {
                return Err(Stepped::Finished);
            }
        };
        match next {
            Ok(block) => {
                self.position = Position { block, k: 0 };
                Ok(())
            }
            Err(Leave::Head { from, to, fault }) => Err(Stepped::Trap(self.refused(from, to, fault))),
            Err(Leave::Tail(fault, other)) => Err(Stepped::Trap(Box::new(self.trap(fault, block, k - 1, other)))),
        }
    }

    pub(crate) fn code(&self, block: u32) -> &'p Code {
        &self.program.decoded.code[block as usize]
    }

    fn single(&mut self, ad_mode: AdMode, block: u32, at: u32) {
        self.executed += 1;
        if self.counting {
            *self.singles.entry((ad_mode, !self.program.decoded.is_forward(block), at)).or_insert(0) += 1;
        }
    }

    /// Notes that only the first `k` instructions of a block ran; it had not been counted.
    pub(crate) fn partial(&mut self, block: u32, k: u32) {
        for n in 0..k {
            self.single(self.core.ad_mode, block, self.program.decoded.address(block, n));
        }
    }

    pub(crate) fn blocks<const COUNT: bool>(&mut self, budget: &mut u64) -> Stop {
        let counts = &mut self.counts[self.core.ad_mode as usize];
        if counts.is_empty() {
            *counts = vec![0; self.program.decoded.code.len()];
        }
        run_blocks::<COUNT>(&mut self.core, self.program, counts, self.position.block, budget)
    }

    /// Stops between two blocks, the second of which may not be entered.
    pub(crate) fn refused(&mut self, from: u32, to: u32, fault: Fault) -> Box<Trap> {
        self.position = Position { block: from, k: self.code(from).len };
        Box::new(self.trap(fault, to, 0, None))
    }

    /// Describes a fault.
    pub(crate) fn trap(&self, fault: Fault, block: u32, k: u32, other: Option<u32>) -> Trap {
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
        Trap { fault, at, inst, other, direction: self.direction(), ad_mode: self.core.ad_mode, values }
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
