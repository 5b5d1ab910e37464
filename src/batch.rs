//! Many runs of one program, on all cores.
//!
//! A [`Batch`] holds what the runs have in common: the program, its configuration, and the values with which each run
//! begins. It runs items on any number of threads. Each thread has a machine of its own, which is reset between items.
//! The result of an item depends neither on the other items nor on the number of threads; it is the same as with a
//! separate machine.
//!
//! # Memory
//!
//! A machine has a million words of memory by default. Most programs use only a few of them, and clearing a million
//! words takes longer than many a run. So the machines of a batch begin with little memory. A run that lacks words
//! which a separate machine would have had stops at a trap; [`MemoryBudget::saw`] notices this, and the item is run
//! again with more memory. A program has no other way to find out how much memory there is, and code that works with
//! the machine should not ask for it either. If more than a few items need more memory, the others begin with more,
//! too.
//!
//! ```
//! use pendula::batch::{Batch, Error};
//! use pendula::isa::types::Reg;
//! use pendula::vm::{Config, ConfigError, Outcome, Program};
//! let source = "main: start\n addmul r2, r1, r1\n finish\n";
//! let assembly = pendula::asm::assemble::assemble("square.rasm", source.to_string(), &Default::default());
//! let program = Program::new(assembly.module.expect("no errors"), true)?;
//! let batch = Batch::new(&program, &Config::default(), |_| Ok::<(), ConfigError>(()))?;
//! let squares = batch.run(10, None, |machine, room, item| {
//!     machine.set_register(Reg::new(1).unwrap(), item as u64);
//!     let outcome = machine.run(None);
//!     room.saw(&outcome);
//!     (outcome, machine.registers()[2])
//! })?;
//! assert_eq!(squares[7], (Outcome::Finished, 49));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pendula_isa::Fault;
use pendula_isa::operand::Operand;
use pendula_isa::types::Reg;
use pendula_vm::{Config, ConfigError, Machine, Outcome, Program, Snapshot, Trap};
use rayon::prelude::*;

/// The number of words beyond the data with which machines begin.
const FIRST: usize = 1 << 8;

/// The factor between one size of memory and the next.
const FACTOR: usize = 8;

/// Items begin with the smallest memory that was too small for at most one in this many earlier items.
const RARE: usize = 8;

/// One in this many items begins with the smallest memory in any case, so that a few large items do not raise the size
/// for good.
const TRIED: usize = 16;

/// The size of a thread's stack in bytes.
const STACK: usize = 8 << 20;

/// Why a batch cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine cannot be set up.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The threads cannot be started.
    #[error("cannot start {}: {error}", pendula_isa::diagnostic::plural(*jobs, "thread"))]
    Threads {
        /// The number of threads requested.
        jobs: usize,
        /// The reason.
        error: rayon::ThreadPoolBuildError,
    },
}

/// What the runs of one program have in common.
pub struct Batch<'p> {
    program: &'p Program,
    config: Config,
    /// The values with which every run begins, in the smallest memory.
    start: Snapshot,
    /// The sizes of memory in words, in increasing order; the last one is that of a separate machine.
    sizes: Vec<usize>,
    /// For each size, how many of the items that began with the smallest memory finished with that size.
    sufficed: Vec<AtomicUsize>,
    idle: Mutex<Vec<Machine<'p>>>,
}

/// Records how an item's run ended: whether it reached the end of its memory, and what becomes of the machine.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    words: usize,
    whole: usize,
    short: bool,
    /// Whether the item is being run again with as much memory.
    repeated: bool,
    /// Whether it is to be.
    again: bool,
    /// Whether the machine need not be reset.
    restored: bool,
}

impl MemoryBudget {
    /// Must be called with the outcome of every run of the machine.
    pub fn saw(&mut self, outcome: &Outcome) {
        if let Outcome::Trap(trap) = outcome {
            self.short |= self.words < self.whole && self.misses(trap);
        }
    }

    /// True if the item will be run again, with more memory or because that was asked; its result is then discarded.
    pub fn is_discarded(&self) -> bool {
        self.short || self.again && !self.repeated
    }

    /// Asks for the item to be run again from the beginning, by a machine that has been reset; the result is then discarded.
    pub fn run_again(&mut self) {
        self.again = true;
    }

    /// True if the item is being run again, as [`MemoryBudget::run_again`] has asked.
    pub fn is_repeated(&self) -> bool {
        self.repeated
    }

    /// Tells that the machine has the values with which runs begin, but for words that every item writes before it runs, and that
    /// nothing has been counted or noted. So it need not be reset for the next item. What words carry may be left.
    pub fn keep_machine(&mut self) {
        self.restored = true;
    }

    /// True if the trap might not have occurred, or might have been another one, in a larger memory.
    fn misses(&self, trap: &Trap) -> bool {
        // Words that are missing here but exist in the full memory. If the trap lists all missing words, they decide.
        let would_be = |address: u64| usize::try_from(address).is_ok_and(|a| a < self.whole);
        let missing = trap.values.iter().filter(|v| v.word.is_none()).filter_map(|v| v.address);
        let (mut any, mut told) = (false, 0);
        for address in missing {
            told += 1;
            any |= would_be(address);
        }
        match trap.fault {
            _ if any => true,
            // A stack operation lacked the word at the stack pointer or the word before it.
            Fault::Memory if told == 0 => {
                let sp = trap.values.iter().find(|v| v.operand == Operand::Reg(Reg::SP)).and_then(|v| v.word);
                sp.is_none_or(|sp| would_be(sp) || would_be(sp.wrapping_sub(1)))
            }
            // The output tape can hold as many words as the memory has.
            Fault::TapeFull => true,
            _ => false,
        }
    }
}

/// A machine that returns to the pool when it is dropped.
struct PooledMachine<'b, 'p> {
    machine: Option<Machine<'p>>,
    /// The size of its memory, if it has the values with which runs begin.
    restored: Option<usize>,
    idle: &'b Mutex<Vec<Machine<'p>>>,
}

impl Drop for PooledMachine<'_, '_> {
    fn drop(&mut self) {
        let machine = self.machine.take();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(machine);
    }
}

/// Makes a pool of `jobs` threads; by default, of one thread per core.
fn threads(items: usize, jobs: Option<NonZeroUsize>) -> Result<rayon::ThreadPool, Error> {
    let jobs = jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    // More threads than items would be idle.
    let jobs = jobs.min(items.max(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).stack_size(STACK).build();
    pool.map_err(|error| Error::Threads { jobs, error })
}

impl<'p> Batch<'p> {
    /// Makes a batch of runs with these settings; `prepare` sets the part of the machine's state that all runs share.
    ///
    /// # Errors
    /// No machine can be set up with these settings, or `prepare` fails.
    pub fn new<E: From<ConfigError>>(
        program: &'p Program,
        config: &Config,
        prepare: impl FnOnce(&mut Machine<'p>) -> Result<(), E>,
    ) -> Result<Batch<'p>, E> {
        // Errors in the settings are reported for the memory size that they ask for.
        let whole = Machine::new(program, config)?.memory().len();
        let data = program.module().data.len();
        let mut sizes: Vec<usize> = std::iter::successors(Some(FIRST), |n| n.checked_mul(FACTOR))
            .map(|n| data.saturating_add(n))
            .take_while(|n| *n < whole)
            .collect();
        sizes.push(whole);
        let sufficed = sizes.iter().map(|_| AtomicUsize::new(0)).collect();
        let config = Config { mem: Some(sizes[0] as u64), ..*config };
        let mut machine = Machine::new(program, &config)?;
        prepare(&mut machine)?;
        let start = machine.snapshot();
        Ok(Batch { program, config, start, sizes, sufficed, idle: Mutex::new(vec![machine]) })
    }

    /// The values with which every run begins, in the smallest memory.
    pub fn start(&self) -> &Snapshot {
        &self.start
    }

    /// Runs `work` for each item on `jobs` threads, by default one per core, and returns the results in the order of
    /// the items.
    ///
    /// `work` receives a machine about to run forward from the common values, the memory budget that must be told how
    /// the machine's runs end, and the item's number. It may be called more than once for an item; the last result
    /// counts.
    ///
    /// # Errors
    /// The threads cannot be started, a machine cannot be made, or the host lacks the memory that a machine needs.
    pub fn run<T: Send>(
        &self,
        items: usize,
        jobs: Option<NonZeroUsize>,
        work: impl Fn(&mut Machine<'p>, &mut MemoryBudget, usize) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let _span = tracing::debug_span!("batch", items).entered();
        threads(items, jobs)?.install(|| self.part(0..items, &work))
    }

    /// Runs `work` for each item like [`Batch::run`], but part by part, so that the inputs and the results of all items
    /// need not be in memory at once.
    ///
    /// A part has `size` items; the last one has the rest. `feed` makes the inputs of a part, and `work` receives a
    /// reference to them. `take` receives these inputs and the results of the part; it is called for the parts in their
    /// order. `feed` and `take` run on the calling thread, while the items of the next part run on others.
    ///
    /// # Errors
    /// As [`Batch::run`], and the errors of `feed` and `take`.
    pub fn stream<I: Send + Sync, T: Send, E: From<Error>>(
        &self,
        (items, size): (usize, NonZeroUsize),
        jobs: Option<NonZeroUsize>,
        mut feed: impl FnMut(Range<usize>) -> Result<I, E>,
        work: impl Fn(&mut Machine<'p>, &mut MemoryBudget, &I, usize) -> T + Sync,
        mut take: impl FnMut(Range<usize>, &I, Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let _span = tracing::debug_span!("batch", items).entered();
        let (pool, all) = (threads(items, jobs)?, items);
        let part_at = |begin: usize| begin..items.min(begin.saturating_add(size.get()));
        let mut done: Option<(Range<usize>, I, Vec<T>)> = None;
        let mut next = if items == 0 { None } else { Some((part_at(0), feed(part_at(0))?)) };
        while let Some((part, input)) = next.take() {
            let mut found = None;
            let mut beside = Ok(());
            pool.in_place_scope(|scope| {
                let (slot, input, work) = (&mut found, &input, &work);
                let items = part.clone();
                scope.spawn(move |_| {
                    *slot = Some(self.part(items, &|machine, room, item| work(machine, room, input, item)));
                });
                beside = done.take().map_or(Ok(()), |(part, input, results)| take(part, &input, results));
                if beside.is_ok() && part.end < all {
                    let after = part_at(part.end);
                    match feed(after.clone()) {
                        Ok(input) => next = Some((after, input)),
                        Err(error) => beside = Err(error),
                    }
                }
            });
            beside?;
            let results = found.transpose().map_err(E::from)?.unwrap_or_default();
            done = Some((part, input, results));
        }
        done.map_or(Ok(()), |(part, input, results)| take(part, &input, results))
    }

    /// Runs the items of a part on the threads of the current pool.
    fn part<T: Send>(
        &self,
        items: Range<usize>,
        work: &(impl Fn(&mut Machine<'p>, &mut MemoryBudget, usize) -> T + Sync),
    ) -> Result<Vec<T>, Error> {
        items.into_par_iter().map_init(|| self.take_machine(), |pooled, item| self.item(pooled, item, work)).collect()
    }

    fn take_machine(&self) -> PooledMachine<'_, 'p> {
        let machine = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        PooledMachine { machine, restored: None, idle: &self.idle }
    }

    fn item<T>(
        &self,
        pooled: &mut PooledMachine<'_, 'p>,
        item: usize,
        work: &impl Fn(&mut Machine<'p>, &mut MemoryBudget, usize) -> T,
    ) -> Result<T, Error> {
        let _span = tracing::debug_span!("item", number = item).entered();
        let machine = match &mut pooled.machine {
            Some(machine) => machine,
            none => none.insert(Machine::new(self.program, &self.config)?),
        };
        let whole = self.sizes[self.sizes.len() - 1];
        let first = if item.is_multiple_of(TRIED) { 0 } else { self.first_size() };
        let (mut size, mut repeated) = (first, false);
        loop {
            let words = self.sizes[size];
            if pooled.restored.take() != Some(words) || repeated {
                machine.reset(&self.start, words)?;
            }
            let mut room = MemoryBudget { words, whole, short: false, repeated, again: false, restored: false };
            let out = work(machine, &mut room, item);
            if room.again && !repeated {
                repeated = true;
                continue;
            }
            pooled.restored = room.restored.then_some(words);
            if !room.short {
                self.sufficed[size].fetch_add(usize::from(first == 0), Ordering::Relaxed);
                return Ok(out);
            }
            (size, repeated) = (size + 1, false);
        }
    }

    /// The size with which an item begins: the smallest one that has been enough for most.
    fn first_size(&self) -> usize {
        let counts = || self.sufficed.iter().map(|n| n.load(Ordering::Relaxed));
        let all: usize = counts().sum();
        let mut beyond = all;
        for (size, n) in counts().enumerate() {
            // Other threads count, too.
            beyond = beyond.saturating_sub(n);
            if beyond * RARE <= all {
                return size;
            }
        }
        0
    }
}
