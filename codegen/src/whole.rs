//! Code for whole runs: loads C code and passes it the kernels that it calls, and runs what has been loaded or made.

#![expect(unsafe_code, reason = "compiled code is called here")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::cc::{CcError, Compiler, Library, Rounding};
use crate::ops::Kernel;
use crate::stack;
use pendula_isa::num::products::add_products;

/// A function of compiled code that runs a program from one end to the other.
#[derive(Debug)]
pub struct Code {
    entry: usize,
    /// Its number in this process.
    id: u64,
    /// How many words lanes 2 and 3 have for each word of the memory.
    tangents: usize,
    /// Addresses and lengths of data, which it reads there.
    table: Vec<i64>,
    /// Whether its calls need a large stack.
    is_deep: AtomicBool,
    /// What owns the function.
    _owner: Owner,
}

/// What owns compiled code.
enum Owner {
    Library(#[expect(dead_code, reason = "the code lives as long as it")] Library),
    Other(#[expect(dead_code, reason = "the code lives as long as it")] Box<dyn Send + Sync>),
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Owner::Library(_) => "Library",
            Owner::Other(_) => "Other",
        })
    }
}

/// `entry(mem, lanes, len, top, midpoint, room, stack, watch)`; see [`Code::run`].
type Entry = unsafe extern "C" fn(*mut u64, *const *mut u64, u64, u64, *mut u64, u64, u64, *const Watch) -> i64;

/// The name of the libraries.
const NAME: &str = "pendula";

/// The maximum number of bytes of the host's stack that a run uses for calls.
const STACK: usize = 1 << 20;

/// `init(functions)`: the kernels, and [`add_products`].
type Init = unsafe extern "C" fn(*const usize);

/// The bytes of the stack of a thread that makes runs whose calls need more than that.
const LARGE_STACK: usize = 256 << 20;

/// Where the run of a thread is. It tells, from time to time, if it is asked. The code that runs knows the first eight words.
#[derive(Debug, Default)]
#[repr(C)]
struct Watch {
    /// Not zero while it is asked.
    asked: AtomicU64,
    mark: AtomicU64,
    first: AtomicU64,
    at: AtomicU64,
    last: AtomicU64,
    step: AtomicU64,
    /// Not zero once calls were too deep for the stack.
    deep: AtomicU64,
    /// The code's [table](Code::with_table).
    table: AtomicPtr<i64>,
    /// The number of the code that runs, and 0 if none does.
    code: AtomicU64,
    /// Not zero once the run has been left for other code.
    left: AtomicU64,
}

/// What [`Watch::asked`] is where the run is to tell where it is, and where it is to be left.
const ASKED: u64 = 1;
const LEAVE: u64 = 2;

/// What something gives on a thread with a large stack; `None` if there cannot be one.
fn on_large_stack(f: impl FnOnce() -> i64 + Send) -> Option<i64> {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(LARGE_STACK).spawn_scoped(scope, f).ok()?.join().ok()
    })
}

/// How a run by compiled code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At the end of the program.
    Reached,
    /// It gave up.
    GaveUp,
    /// It was left, because there is better code ([`leave`]), or because the code will run with a larger stack.
    Left,
}

/// Those of all threads that have run anything.
static WATCHES: Mutex<Vec<Weak<Watch>>> = Mutex::new(Vec::new());

thread_local! {
    static WATCH: Arc<Watch> = {
        let watch = Arc::new(Watch::default());
        let mut watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|other| other.strong_count() > 0);
        watches.push(Arc::downgrade(&watch));
        watch
    };
}

/// A run by compiled code that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// The code's [number](Code::id).
    pub code: u64,
    /// The outer loop in which it is, if it could tell.
    pub turn: Option<Turn>,
}

/// A turn of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The loop's [mark](crate::loops::Mark).
    pub mark: u32,
    /// How many turns have been made before it.
    pub before: u64,
    /// How many there are, if that is known.
    pub of: Option<u64>,
}

/// The runs that are under way, on all threads.
fn running() -> Vec<Arc<Watch>> {
    let watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
    watches.iter().filter_map(Weak::upgrade).filter(|watch| watch.code.load(Ordering::Relaxed) != 0).collect()
}

/// Whether a run by compiled code is under way, on any thread.
pub fn is_under_way() -> bool {
    !running().is_empty()
}

/// Whether a run by this code is under way, on any thread.
pub fn runs(code: u64) -> bool {
    running().iter().any(|watch| watch.code.load(Ordering::Relaxed) == code)
}

/// Has runs by code left that can be, because there is better code: [`End::Left`]. C code is not left.
pub fn leave(code: u64) {
    for watch in running().iter().filter(|watch| watch.code.load(Ordering::Relaxed) == code) {
        watch.asked.store(LEAVE, Ordering::Release);
    }
}

/// Asks the runs that are under way where they are, and waits for their answers for this long at most.
pub fn where_runs_are(longest: Duration) -> Vec<UnderWay> {
    // One asks at a time.
    static ASKS: Mutex<()> = Mutex::new(());
    let _asks = ASKS.lock().unwrap_or_else(PoisonError::into_inner);
    let (running, begun) = (running(), Instant::now());
    // Runs that are to be left are not asked.
    for watch in &running {
        let _ = watch.asked.compare_exchange(0, ASKED, Ordering::AcqRel, Ordering::Relaxed);
    }
    let is_waiting =
        |watch: &Arc<Watch>| watch.asked.load(Ordering::Acquire) != 0 && watch.code.load(Ordering::Relaxed) != 0;
    while running.iter().any(is_waiting) && begun.elapsed() < longest {
        std::thread::sleep(Duration::from_millis(1));
    }
    running.iter().filter_map(|watch| watch.answer()).collect()
}

impl Watch {
    /// What has been answered, unless the run has ended.
    fn answer(&self) -> Option<UnderWay> {
        let answered = self.asked.compare_exchange(ASKED, 0, Ordering::AcqRel, Ordering::Acquire) == Err(0);
        let read = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let (first, at, last, step) =
            (read(&self.first), read(&self.at), read(&self.last), read(&self.step).cast_signed());
        let between = |a: u64, b: u64| b.wrapping_sub(a).cast_signed().checked_div(step).map(i64::cast_unsigned);
        let turn = between(first, at).filter(|_| answered).map(|before| Turn {
            mark: read(&self.mark) as u32,
            before,
            // A loop that does not count says that it ends before it begins.
            of: between(first, last).and_then(|n| n.checked_add(1)).filter(|n| *n > before),
        });
        let code = read(&self.code);
        (code != 0).then_some(UnderWay { code, turn })
    }
}

/// A number for code.
fn next_id() -> u64 {
    static IDS: AtomicU64 = AtomicU64::new(1);
    IDS.fetch_add(1, Ordering::Relaxed)
}

/// Answers where a run is; for code that is not C. Not zero if the run is to give up.
///
/// # Safety
/// `watch` is what the code was given.
pub unsafe extern "C" fn tell(watch: *const c_void, mark: u64, first: u64, at: u64, last: u64, step: u64) -> u64 {
    // SAFETY: as above. Its words are atomic.
    let watch = unsafe { &*watch.cast::<Watch>() };
    for (word, value) in
        [(&watch.mark, mark), (&watch.first, first), (&watch.at, at), (&watch.last, last), (&watch.step, step)]
    {
        word.store(value, Ordering::Relaxed);
    }
    let left = watch.asked.swap(0, Ordering::AcqRel) == LEAVE;
    watch.left.store(left.into(), Ordering::Relaxed);
    left.into()
}

impl Code {
    /// Its number in this process, by which [`UnderWay`] names it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Compiles a source text. Its function `init` takes the addresses of the kernels, and `entry` runs the program.
    ///
    /// The text is C that Pendula generated. The generator must ensure that it only accesses the memory passed to it.
    pub fn new(
        source: &str,
        kernels: &[Kernel],
        (init, entry): (&str, &str),
        rounding: Rounding,
    ) -> Result<Code, CcError> {
        let compiler = Compiler::find()?;
        Code::of(compiler.library(NAME, source, rounding)?, kernels, (init, entry)).inspect_err(|_| {
            // It lacks the functions of the source: a compiler that works may follow.
            compiler.remove_library(NAME, source, rounding);
        })
    }

    /// Like [`Code::new`], but only if the library is cached: the compiler is not called.
    pub fn cached(
        source: &str,
        kernels: &[Kernel],
        names: (&str, &str),
        rounding: Rounding,
    ) -> Result<Option<Code>, CcError> {
        let library = Compiler::find()?.cached_library(NAME, source, rounding)?;
        library.map(|library| Code::of(library, kernels, names)).transpose()
    }

    /// How often the compiler began with such a text and did not end, lately.
    pub fn times_begun(source: &str, rounding: Rounding) -> u32 {
        Compiler::find().map_or(0, |compiler| compiler.times_begun(NAME, source, rounding))
    }

    /// The functions of a library that was made from such a text.
    fn of(library: Library, kernels: &[Kernel], (init, entry): (&str, &str)) -> Result<Code, CcError> {
        let (init, entry) = (library.address(init)?, library.address(entry)?);
        let last = add_products as unsafe extern "C" fn(_, _, _) -> _ as usize;
        let addresses: Vec<usize> = kernels.iter().map(|k| k.result.unwrap_or(k.address)).chain([last]).collect();
        // SAFETY: the source declares this function with this signature. It copies as many addresses as there are kernels, and the last.
        unsafe { std::mem::transmute::<usize, Init>(init)(addresses.as_ptr()) };
        Ok(Code::with_owner(entry, Owner::Library(library)))
    }

    /// Code that another generator has made, and what owns it.
    ///
    /// # Safety
    /// At this address is a function with the signature of entries, as long as its owner lives. It only accesses the memory passed to it.
    pub unsafe fn made(entry: usize, owner: Box<dyn Send + Sync>) -> Code {
        Code::with_owner(entry, Owner::Other(owner))
    }

    fn with_owner(entry: usize, owner: Owner) -> Code {
        let (id, is_deep) = (next_id(), AtomicBool::new(false));
        Code { entry, id, tangents: 1, table: Vec::new(), is_deep, _owner: owner }
    }

    /// The code, which was printed with these numbers in a table ([`c::print_with_table`](crate::c::print_with_table)): one library serves for data of any length.
    #[must_use]
    pub fn with_table(self, table: Vec<i64>) -> Code {
        Code { table, ..self }
    }

    /// The code, which carries so many tangents at once: lanes 2 and 3 have so many words for each word of the memory.
    #[must_use]
    pub fn with_tangents(self, tangents: usize) -> Code {
        Code { tangents, ..self }
    }

    /// Whether a run's calls were too deep for the host's stack, so that runs have a large one.
    pub fn is_deep(&self) -> bool {
        self.is_deep.load(Ordering::Relaxed)
    }

    /// Runs the code on the memory and its lanes. The words from `top` on are zero and may be used. Lanes are as long as the
    /// memory, or as [`Code::with_tangents`] says; lanes that the AD mode does not use may be empty. `midpoint` has room for all data that the code writes there, and one
    /// word more; the words from `top` on are for logs.
    ///
    /// If the run does not reach its end, for instance because the host's stack is too small, the contents of the
    /// memory, the lanes and `midpoint` are unspecified, except for the last word of `midpoint`: how many words there must be before
    /// it, if a log needs more, and else zero.
    ///
    /// # Panics
    /// If a lane is neither empty nor as long as it has to be.
    #[inline]
    pub fn run(&self, memory: &mut [u64], mut lanes: [&mut [u64]; 3], top: usize, midpoint: &mut [u64]) -> End {
        let len = memory.len();
        let lengths = [len, len * self.tangents, len * self.tangents];
        let fits = lanes.iter().zip(lengths).all(|(lane, length)| lane.is_empty() || lane.len() == length);
        assert!(fits, "lanes are as long as the memory, or several times as long");
        let room = midpoint.len().saturating_sub(1);
        midpoint.last_mut().into_iter().for_each(|need| *need = 0);
        WATCH.with(|watch| {
            watch.asked.store(0, Ordering::Relaxed);
            watch.left.store(0, Ordering::Relaxed);
            watch.deep.store(0, Ordering::Relaxed);
            watch.table.store(self.table.as_ptr().cast_mut(), Ordering::Relaxed);
            watch.code.store(self.id, Ordering::Relaxed);
            let mut enter = |stack: usize| {
                let lanes = lanes.each_mut().map(|l| if l.is_empty() { std::ptr::null_mut() } else { l.as_mut_ptr() });
                // SAFETY: the function has this signature. It accesses words below `len` of the memory, of the lanes of its AD mode, which are
                // there (missing ones are null), and of `midpoint`, which has room if the code runs forward and back. Its calls take at most
                // `stack` bytes of the host's stack; as many remain. It writes the first seven words of `watch`, which are atomic,
                // and reads the table at the eighth, which is as long as when its text was printed.
                unsafe {
                    let entry = std::mem::transmute::<usize, Entry>(self.entry);
                    entry(
                        memory.as_mut_ptr(),
                        lanes.as_ptr(),
                        len as u64,
                        top.min(len) as u64,
                        midpoint.as_mut_ptr(),
                        room as u64,
                        stack as u64,
                        Arc::as_ptr(watch),
                    )
                }
            };
            let is_large = self.is_deep();
            let status =
                if is_large { on_large_stack(|| enter(LARGE_STACK / 2)) } else { stack::room(STACK).map(enter) };
            watch.code.store(0, Ordering::Relaxed);
            match status {
                Some(0) => End::Reached,
                Some(_) if watch.left.load(Ordering::Relaxed) != 0 => End::Left,
                // Another thread may have found the same.
                Some(_) if watch.deep.load(Ordering::Relaxed) != 0 && !is_large => {
                    self.is_deep.store(true, Ordering::Relaxed);
                    End::Left
                }
                _ => End::GaveUp,
            }
        })
    }
}
