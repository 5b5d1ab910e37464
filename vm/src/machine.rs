//! The machine: state, position, and access to both. `step` runs it, by blocks or by single instructions.

use std::collections::BTreeMap;

use pendula_isa::Env;
use pendula_isa::adjoint::{AdMode, LANES};
use pendula_isa::counts::{Counts, Direction, Mode, ModeCounts};
use pendula_isa::table::Flow;
use pendula_isa::types::{Profile, Reg};

use crate::cells::Cells;
use crate::config::{Config, ConfigError, Engine};
use crate::decode::Exit;
use crate::event::{Event, Flags, RoundingResidues};
use crate::lanes::{Dropped, Lane};
use crate::program::Program;
use crate::state::Core;
use crate::trap::Trap;

/// The default number of words of memory beyond the data segment, without `.mem` and [`Config::mem`].
pub const DEFAULT_STACK: u64 = 1 << 20;

/// The maximum memory, in words, that a module may request by itself.
const MODULE_LIMIT: u64 = 1 << 27;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At `finish` (backward: at `start`).
    Finished,
    /// At the step limit; the run can continue.
    Limit,
    /// At an instruction that could not run.
    Trap(Box<Trap>),
}

/// The result of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The instruction at this address ran.
    Executed(u32),
    /// Nothing ran: the run had ended.
    Finished,
    /// Nothing ran: the instruction trapped.
    Trap(Box<Trap>),
}

/// The position of the machine: `k` instructions of `block` have run. After all of them, control is about to fall into the next
/// block, which may refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) block: u32,
    pub(crate) k: u32,
}

/// How much of a program each engine has run since the machine was created or reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineCounts {
    /// Whole runs by [`crate::WholeProgram`]; their instructions are not counted.
    pub whole: u64,
    /// Those of them that code by Cranelift made; C code made the others.
    pub whole_by_cranelift: u64,
    /// Instructions run by code that the machine's engine has generated.
    pub compiled: u64,
    /// Instructions run by the interpreter.
    pub interpreted: u64,
}

impl EngineCounts {
    /// Counts a whole run.
    pub(crate) fn count_whole(&mut self, by: crate::whole::WholeBy) {
        self.whole += 1;
        self.whole_by_cranelift += u64::from(by == crate::whole::WholeBy::Cranelift);
    }
}

/// The state of a running program.
pub struct Machine<'p> {
    pub(crate) program: &'p Program,
    pub(crate) core: Core,
    pub(crate) position: Position,
    pub(crate) halted: bool,
    /// The direction in which the run began.
    pub(crate) begun: Direction,
    /// For each AD mode that ran: the executions of each block, forward then backward.
    pub(crate) counts: [Vec<u64>; AdMode::ALL.len()],
    /// Executions of single instructions, by AD mode, block side and address.
    pub(crate) singles: BTreeMap<(AdMode, bool, u32), u64>,
    pub(crate) counting: bool,
    pub(crate) executed: u64,
    pub(crate) engine_counts: EngineCounts,
    pub(crate) engine: Engine,
    /// Whether the program's code for whole runs may be used.
    pub(crate) whole: bool,
    pub(crate) saved: crate::whole::Saved,
    pub(crate) stops: Option<Box<crate::stops::Stops>>,
    #[cfg(feature = "jit")]
    pub(crate) local: crate::engine::Local,
}

impl<'p> Machine<'p> {
    /// A machine with the program's data in memory, about to run forward.
    pub fn new(program: &'p Program, config: &Config) -> Result<Machine<'p>, ConfigError> {
        let engine = config.engine.resolved();
        engine.check_available().map_err(|why| ConfigError::Engine { engine, why })?;
        let module = program.module();
        let pisa = module.flags.profile == Profile::Pisa;
        // In the profile `pisa`, instructions occupy memory, too.
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
        // Test first, because a failure of the allocation below would abort.
        Vec::<u64>::new().try_reserve_exact(size).map_err(|_| ConfigError::Allocate(mem))?;
        let mut memory = vec![0; size];
        let mut regs = [0; Reg::PLACES];
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
            extensions: program.extensions(AdMode::Plain),
            within: 0,
            drops: Vec::new(),
            failed_step: None,
            failed_words: [0; Reg::PLACES - Reg::COUNT],
            mem: memory,
            lanes: [Lane::EMPTY; LANES - 1],
            more: Vec::new(),
            orders: None,
            ad_mode: AdMode::Plain,
            dropped: Dropped::Discarded,
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
            rests: RoundingResidues::default(),
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
            engine_counts: EngineCounts::default(),
            engine,
            whole: false,
            saved: Default::default(),
            stops: None,
            #[cfg(feature = "jit")]
            local: crate::engine::Local::new(config),
        };
        machine.saved.only_data = !pisa;
        machine.begin(Direction::Forward);
        Ok(machine)
    }

    /// Moves the machine to the beginning of a run in this direction: `start`, or `finish`. The profile `pisa` may have several `finish`;
    /// then it is the last one. But after a run in the other direction, which may have reversed and ended at a `start`, it is where
    /// that run has ended. The state stays as it is.
    pub fn begin(&mut self, direction: Direction) {
        self.drop_planned_run();
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

    /// The number formats of the program.
    pub fn env(&self) -> Env {
        self.core.env
    }

    /// The engine that runs what no code for whole runs does.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The current direction of the machine.
    pub fn direction(&self) -> Direction {
        if self.core.forward { Direction::Forward } else { Direction::Backward }
    }

    /// The direction in which the run began. The current direction may differ within procedures.
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
        self.core.regs.first_chunk().unwrap_or(&[0; Reg::COUNT])
    }

    /// Writes a register. In the native profile, writes to `r0` have no effect.
    pub fn set_register(&mut self, reg: Reg, word: u64) {
        if reg != Reg::ZERO || self.is_pisa() {
            self.saved.only_data = false;
            self.drop_planned_run();
            self.core.regs[reg.index()] = self.narrowed(word);
        }
    }

    /// Whether the program has the profile `pisa`: a branch register, and words of 32 bits.
    fn is_pisa(&self) -> bool {
        self.program.module().flags.profile == Profile::Pisa
    }

    /// A word as the profile holds it: in `pisa` the low 32 bits, sign-extended.
    pub fn narrowed(&self, word: u64) -> u64 {
        if self.is_pisa() { i64::from(word as i32).cast_unsigned() } else { word }
    }

    /// The memory.
    pub fn memory(&self) -> &[u64] {
        &self.core.mem
    }

    /// The memory, for writing.
    pub fn memory_mut(&mut self) -> &mut [u64] {
        self.saved.only_data = false;
        self.drop_planned_run();
        &mut self.core.mem
    }

    /// Writes words from an address on. Those outside the memory are ignored.
    pub fn set_words(&mut self, address: usize, words: &[u64]) {
        let end = address.saturating_add(words.len()).min(self.core.mem.len());
        self.saved.only_data &= end <= self.program.module().data.len();
        self.drop_planned_run();
        if let Some(target) = self.core.mem.get_mut(address..end) {
            target.copy_from_slice(&words[..target.len()]);
        }
    }

    /// The cells beyond [`Machine::memory`] that are not zero, by address. Only the profile `pisa` has such cells.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.core.cells.nonzero()
    }

    /// The word in a cell of the profile `pisa`.
    pub fn cell(&self, at: u32) -> u64 {
        self.core.mem.get(at as usize).copied().unwrap_or_else(|| self.core.cells.get(at))
    }

    /// Writes a cell of the profile `pisa`. The cell should not hold an instruction.
    pub fn set_cell(&mut self, at: u32, word: u64) {
        let word = self.narrowed(word);
        match self.memory_mut().get_mut(at as usize) {
            Some(cell) => *cell = word,
            None => self.core.cells.set(at, word),
        }
    }

    /// The branch register of the profile `pisa`: the distance to the next instruction; 0 for the one that follows.
    pub fn branch_register(&self) -> i32 {
        self.core.br
    }

    /// The words emitted so far.
    pub fn output(&self) -> &[u64] {
        &self.core.output
    }

    /// Sets the output tape, which a backward run starts with.
    pub fn set_output(&mut self, words: Vec<u64>) {
        self.core.output = words.into_iter().map(|w| self.narrowed(w)).collect();
    }

    /// Sets the input tape; `read` of its words count as read: none for a forward run, all for a backward one.
    pub fn set_input(&mut self, words: Vec<u64>, read: usize) {
        self.core.read = read.min(words.len());
        self.core.input = words.into_iter().map(|w| self.narrowed(w)).collect();
    }

    /// The input tape.
    pub fn input(&self) -> &[u64] {
        &self.core.input
    }

    /// The number of words of the input tape that have been read.
    pub fn words_read(&self) -> usize {
        self.core.read
    }

    /// The flags of the run.
    pub fn flags(&self) -> Flags {
        self.core.flags()
    }

    /// Sets the callback for events of the program.
    pub fn on_event(&mut self, listener: impl FnMut(Event) + Send + 'static) {
        self.core.listener = Some(Box::new(listener));
    }

    /// A 128-bit digest of the whole state: registers, memory, tapes, the read position, and all lanes that are not zero everywhere.
    pub fn digest(&self) -> u128 {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        for part in [&self.core.regs[..Reg::COUNT], &self.core.mem, &self.core.output, &self.core.input] {
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
        for (n, lane) in self.core.lanes.iter().chain(&self.core.more).enumerate().filter(|(_, l)| !l.is_clear()) {
            hash.update(&(n as u64).to_le_bytes());
            // Lanes grow when needed, so trailing zeros must not matter.
            for part in [&lane.regs[..], &lane.mem, &lane.output] {
                let used = part.iter().rposition(|w| *w != 0).map_or(0, |at| at + 1);
                hash.update(&(used as u64).to_le_bytes());
                hash.update(bytemuck::cast_slice(&part[..used]));
            }
        }
        hash.digest128()
    }

    /// The execution counts.
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
                // In the profile `pisa`, one may stand for several consecutive blocks.
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

    /// Forgets what has been counted.
    pub fn clear_counts(&mut self) {
        self.counts.iter_mut().for_each(Vec::clear);
        self.singles.clear();
        self.executed = 0;
        self.engine_counts = EngineCounts::default();
    }

    /// The number of instructions that have run since the machine was created, in both directions.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// The instructions by engine, and the number of whole runs.
    pub fn engine_counts(&self) -> EngineCounts {
        EngineCounts { interpreted: self.executed - self.engine_counts.compiled, ..self.engine_counts }
    }
}
