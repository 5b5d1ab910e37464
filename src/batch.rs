//! Many runs of one program, on all cores.
//!
//! A [`Batch`] keeps what the runs have in common: the program, how it is run, and the values that each begins with. It runs
//! items on as many threads as are wanted, each with a machine of its own that is reset in between. What an item gives does not depend on the other
//! items, nor on the number of threads, and is what a machine of its own would have given.
//!
//! # Memory
//!
//! A machine has a million words of memory unless it is told otherwise, most programs use a few, and to clear a million words takes longer than many a
//! run. So machines of a batch begin with little memory. A run that misses words which a machine of its own would have had stops at a trap;
//! [`MemoryBudget::saw`] notices, and the item is run again with more. Nothing else tells a program how much memory there is, and nothing that
//! is done with the machine besides should ask.
//! Where more than a few items want more, the others begin with it, too.
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

/// Words beyond the data that machines begin with.
const FIRST: usize = 1 << 12;

/// How many times more the next larger memory has.
const FACTOR: usize = 8;

/// Items begin with a memory that was too small for at most one in so many of those before.
const RARE: usize = 8;

/// One in so many items begins with the smallest memory in any case, so that what a few have wanted is forgotten.
const TRIED: usize = 16;

/// The stack of a thread, in bytes.
const STACK: usize = 8 << 20;

/// Why a batch cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A machine cannot be set up.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Threads cannot be started.
    #[error("cannot start {}: {error}", pendula_isa::diagnostic::plural(*jobs, "thread"))]
    Threads {
        /// How many were wanted.
        jobs: usize,
        /// Why not.
        error: rayon::ThreadPoolBuildError,
    },
}

/// What runs of one program have in common.
pub struct Batch<'p> {
    program: &'p Program,
    config: Config,
    /// The values that every run begins with, in the smallest memory.
    start: Snapshot,
    /// Sizes of memory in words, each larger than the one before; the last is that of a machine of its own.
    sizes: Vec<usize>,
    /// Of the items that began with the smallest memory, how many came out with each size.
    sufficed: Vec<AtomicUsize>,
    idle: Mutex<Vec<Machine<'p>>>,
}

/// What a run has seen of the end of the memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    words: usize,
    whole: usize,
    short: bool,
}

impl MemoryBudget {
    /// To be told how every run of the machine ended.
    pub fn saw(&mut self, outcome: &Outcome) {
        if let Outcome::Trap(trap) = outcome {
            self.short |= self.words < self.whole && self.misses(trap);
        }
    }

    /// Whether the item will be run again, with more memory: what came of it is of no interest.
    pub fn is_short(&self) -> bool {
        self.short
    }

    /// Whether a trap might have been none, or another, in a larger memory.
    fn misses(&self, trap: &Trap) -> bool {
        // Words that there are not, but would be: where the trap says all of them, they decide.
        let would_be = |address: u64| usize::try_from(address).is_ok_and(|a| a < self.whole);
        let missing = trap.values.iter().filter(|v| v.word.is_none()).filter_map(|v| v.address);
        let (mut any, mut told) = (false, 0);
        for address in missing {
            told += 1;
            any |= would_be(address);
        }
        match trap.fault {
            _ if any => true,
            // What a stack operation missed is where the stack pointer is, or the word before.
            Fault::Memory if told == 0 => {
                let sp = trap.values.iter().find(|v| v.operand == Operand::Reg(Reg::SP)).and_then(|v| v.word);
                sp.is_none_or(|sp| would_be(sp) || would_be(sp.wrapping_sub(1)))
            }
            // As many words may be emitted as there is memory.
            Fault::TapeFull => true,
            _ => false,
        }
    }
}

/// A machine that is given back when it is dropped.
struct PooledMachine<'b, 'p> {
    machine: Option<Machine<'p>>,
    idle: &'b Mutex<Vec<Machine<'p>>>,
}

impl Drop for PooledMachine<'_, '_> {
    fn drop(&mut self) {
        let machine = self.machine.take();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(machine);
    }
}

/// As many threads as are wanted, or as there are cores.
fn threads(items: usize, jobs: Option<NonZeroUsize>) -> Result<rayon::ThreadPool, Error> {
    let jobs = jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    // More threads than items have nothing to do.
    let jobs = jobs.min(items.max(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).stack_size(STACK).build();
    pool.map_err(|error| Error::Threads { jobs, error })
}

impl<'p> Batch<'p> {
    /// A batch of runs with these settings; `prepare` sets in a machine what is the same in all of them.
    ///
    /// # Errors
    /// Settings with which no machine can be set up, and what `prepare` gives.
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

    /// The values that every run begins with, in the smallest memory.
    pub fn start(&self) -> &Snapshot {
        &self.start
    }

    /// Runs `work` for each item, on `jobs` threads, as many as there are cores if left out, and gives what it gives, in the order of items.
    ///
    /// `work` is given a machine about to run forward from the common values, the item's number, and the room that has to see how the
    /// machine's runs end. It may be called more than once for an item; the last time counts.
    ///
    /// # Errors
    /// No threads, or a machine that cannot be made or be given as much memory as it wants.
    pub fn run<T: Send>(
        &self,
        items: usize,
        jobs: Option<NonZeroUsize>,
        work: impl Fn(&mut Machine<'p>, &mut MemoryBudget, usize) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let _span = tracing::debug_span!("batch", items).entered();
        threads(items, jobs)?.install(|| self.part(0..items, &work))
    }

    /// Runs `work` for each item like [`Batch::run`], part by part, so that memory need not hold what all items begin with and come to.
    ///
    /// A part has `size` items, the last one as many as are left. `feed` makes what the items of a part begin with, of which `work` is given a
    /// reference, and `take` is given that and what came of them, part by part in their order. Both are called on this thread, while the items
    /// of the next part run on others.
    ///
    /// # Errors
    /// As [`Batch::run`], and what `feed` and `take` give.
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

    /// The items of a part, on the threads of the pool that this is called in.
    fn part<T: Send>(
        &self,
        items: Range<usize>,
        work: &(impl Fn(&mut Machine<'p>, &mut MemoryBudget, usize) -> T + Sync),
    ) -> Result<Vec<T>, Error> {
        items.into_par_iter().map_init(|| self.take_machine(), |pooled, item| self.item(pooled, item, work)).collect()
    }

    fn take_machine(&self) -> PooledMachine<'_, 'p> {
        let machine = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        PooledMachine { machine, idle: &self.idle }
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
        let mut size = first;
        loop {
            let words = self.sizes[size];
            machine.reset(&self.start, words)?;
            let mut room = MemoryBudget { words, whole, short: false };
            let out = work(machine, &mut room, item);
            if !room.short {
                self.sufficed[size].fetch_add(usize::from(first == 0), Ordering::Relaxed);
                return Ok(out);
            }
            size += 1;
        }
    }

    /// The size with which an item begins: the smallest that has been enough for most.
    fn first_size(&self) -> usize {
        let counts: Vec<usize> = self.sufficed.iter().map(|n| n.load(Ordering::Relaxed)).collect();
        let all: usize = counts.iter().sum();
        let mut beyond = all;
        for (size, n) in counts.iter().enumerate() {
            beyond -= n;
            if beyond * RARE <= all {
                return size;
            }
        }
        0
    }
}
