//! The system's C compiler: finds it, runs it, and loads and caches the libraries that it makes.
//!
//! Libraries are cached in a directory of the user's. Their names contain a hash of everything they depend on (source, options,
//! compiler and its version, host), so that a program is compiled only once. `cache` documents when a cached library may be
//! loaded, and what happens without such a directory.
//!
//! The directory is `$PENDULA_CACHE`, else `pendula` in `$XDG_CACHE_HOME`, else `~/.cache/pendula`. The compiler is `$CC`, else
//! the first of `cc`, `gcc` and `clang` that exists. Its time limit in seconds is `$PENDULA_CC_TIMEOUT`. The cache takes at most
//! `$PENDULA_CACHE_LIMIT` MiB, by default 1024; what has not been used for longest is removed first.

#![expect(unsafe_code, reason = "loading a library runs its code; the compiler is configured to end with this process")]

mod environment;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use pendula_isa::types::Cond;

pub use crate::cache::CachedLibrary;
use crate::cache::Directory;
use crate::child::{Stream, run};
use environment::{cache_limit, directory, host, limit, program_path};

pub use environment::check_environment;

/// Why a library cannot be made or loaded.
#[derive(Debug, thiserror::Error)]
pub enum CcError {
    /// No compiler was found.
    #[error("no C compiler was found ({tried}); install one, or name it in the environment variable CC")]
    NoCompiler {
        /// The names that were tried.
        tried: String,
    },
    /// The compiler fails on the source.
    #[error("{compiler} failed on {path}:\n{message}")]
    Fails {
        /// The compiler.
        compiler: String,
        /// The path of the source, if it is kept.
        path: String,
        /// The first lines of its error output.
        message: String,
    },
    /// The compiler exceeds its time limit.
    #[error(
        "{compiler} did not finish within {seconds} s and was stopped; allow more seconds with the environment variable PENDULA_CC_TIMEOUT"
    )]
    Slow {
        /// The compiler.
        compiler: String,
        /// The time limit.
        seconds: u64,
    },
    /// An environment variable has an invalid value.
    #[error("the environment variable {name} is `{value}`; it must be {wanted}")]
    LiftConfig {
        /// The name of the variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The values that are allowed.
        wanted: &'static str,
    },
    /// A file cannot be read or written.
    #[error(
        "cannot use {path} for compiled code: {error}; name another directory in the environment variable PENDULA_CACHE"
    )]
    File {
        /// The file.
        path: String,
        /// The cause.
        error: std::io::Error,
    },
    /// The library cannot be loaded, or lacks a function.
    #[error(
        "cannot load {path}: {message}; if code may not be run from there, name another directory in the environment variable PENDULA_CACHE"
    )]
    Load {
        /// The library.
        path: String,
        /// The cause.
        message: String,
    },
}

/// How strictly floating-point operations are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// As written.
    Strict,
    /// A product and a sum may be contracted to one rounding.
    Contract,
    /// Operations may also be reordered, and quotients computed as products with a reciprocal.
    Fast,
}

/// A C compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The path of the program, followed by options.
    command: Vec<OsString>,
    /// The first line of its output for `--version`.
    version: String,
    /// Everything that distinguishes it from other compilers.
    identity: String,
}

/// Environment variables that change where compilers look for files.
const SEARCH_VARIABLES: &[&str] = &["CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"];

/// The compiler that exceeded its time limit, if one did: it is not called again.
static TOO_SLOW: OnceLock<(String, u64)> = OnceLock::new();

fn too_slow((compiler, seconds): &(String, u64)) -> CcError {
    CcError::Slow { compiler: compiler.clone(), seconds: *seconds }
}

/// The options for every library. Strict aliasing is off because words are read both as integers and as doubles.
pub(crate) const OPTIONS: &[&str] = &[
    "-std=c11",
    "-O3",
    "-fPIC",
    "-shared",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
];

pub(crate) fn rounding_options(rounding: Rounding) -> &'static [&'static str] {
    match rounding {
        Rounding::Strict => &["-ffp-contract=off"],
        // `LOOSE` tells the elementary functions, of which every bit counts even so.
        Rounding::Contract => &["-ffp-contract=fast", "-DLOOSE"],
        Rounding::Fast => {
            &["-ffp-contract=fast", "-DLOOSE", "-fassociative-math", "-fno-signed-zeros", "-freciprocal-math"]
        }
    }
}

/// The C operator for a condition. The operands must have the signedness that the condition asks for.
pub fn operator(cond: Cond) -> &'static str {
    match cond {
        Cond::Always | Cond::Eq => "==",
        Cond::Ne => "!=",
        Cond::Lt | Cond::Ltu => "<",
        Cond::Le => "<=",
        Cond::Gt => ">",
        Cond::Ge | Cond::Geu => ">=",
    }
}

/// Settings that override the environment and the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The directory for libraries.
    pub directory: Option<PathBuf>,
    /// Options appended to the default ones.
    pub options: Vec<String>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Sets the settings of the process. Only the first call has an effect; returns true if the settings in force equal these.
pub fn set(settings: Settings) -> bool {
    *SETTINGS.get_or_init(|| settings.clone()) == settings
}

impl Compiler {
    /// The system's compiler. The search runs only once.
    pub fn find() -> Result<&'static Compiler, CcError> {
        static FOUND: OnceLock<Result<Compiler, String>> = OnceLock::new();
        if let Some(slow) = TOO_SLOW.get() {
            return Err(too_slow(slow));
        }
        let limit = limit()?;
        let found = FOUND.get_or_init(|| {
            let names: Vec<String> = match std::env::var("CC") {
                Ok(name) if !name.trim().is_empty() => vec![name],
                _ => ["cc", "gcc", "clang"].map(String::from).to_vec(),
            };
            names.iter().find_map(|n| Compiler::named(n, limit)).ok_or_else(|| names.join(", "))
        });
        match found {
            Ok(compiler) => Ok(compiler),
            Err(_) if TOO_SLOW.get().is_some() => Compiler::find(),
            Err(tried) => Err(CcError::NoCompiler { tried: tried.clone() }),
        }
    }

    /// The compiler that is called this, if there is one.
    pub fn called(name: &str) -> Option<Compiler> {
        Compiler::named(name, limit().ok()?)
    }

    /// The compiler with this name, optionally followed by options; `None` if it cannot be run.
    fn named(name: &str, limit: Duration) -> Option<Compiler> {
        let mut command: Vec<OsString> = name.split_whitespace().map(OsString::from).collect();
        let (program, options) = command.split_first_mut()?;
        let path = program_path(program)?;
        *program = path.clone().into();
        let ran = run(Command::new(&path).args(options).arg("--version"), Stream::Output, limit).ok()?;
        let Some(ran) = ran else {
            let _ = TOO_SLOW.set((format!("{name} --version"), limit.as_secs()));
            return None;
        };
        if !ran.status.success() {
            return None;
        }
        // A link may lead to another program later, and a program may be replaced in place.
        let real = path.canonicalize().ok()?;
        let metadata = real.metadata().ok()?;
        let changed = metadata.modified().ok().and_then(|at| Some(at.duration_since(UNIX_EPOCH).ok()?.as_nanos()));
        let (size, changed) = (metadata.len(), changed.unwrap_or(0));
        let identity = format!("{}\n{} {size} {changed}\n{}", path.display(), real.display(), ran.output);
        Some(Compiler { command, version: ran.output.lines().next().unwrap_or_default().into(), identity })
    }

    /// The first line of the compiler's version output.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a source text to a library for this host and loads it. Loads the cached library if there is one.
    pub fn library(&self, name: &str, source: &str, rounding: Rounding) -> Result<Library, CcError> {
        self.library_with_extra(name, source, rounding, &[])
    }

    /// The cached library for this source text, if there is one; the compiler is not called.
    pub fn cached_library(&self, name: &str, source: &str, rounding: Rounding) -> Result<Option<Library>, CcError> {
        self.with_usual_options(rounding, &[], |options| {
            let directory = directory()?;
            let (stem, key) = self.stem(name, source, options);
            Ok(if directory.has(&stem, &key) { Library::load(&directory, &stem).ok() } else { None })
        })
    }

    /// Removes the library of this source text from the cache.
    pub(crate) fn remove_library(&self, name: &str, source: &str, rounding: Rounding) {
        self.with_usual_options(rounding, &[], |options| {
            let Ok(directory) = directory() else { return };
            directory.remove(&self.stem(name, source, options).0);
        });
    }

    /// How often the compiler began with the library of this source text and did not end, lately: its process had ended before.
    pub fn times_begun(&self, name: &str, source: &str, rounding: Rounding) -> u32 {
        self.with_usual_options(rounding, &[], |options| {
            directory().map_or(0, |directory| directory.begun(&self.stem(name, source, options).0))
        })
    }

    /// Like [`Compiler::library`], with additional options.
    pub fn library_with_extra(
        &self,
        name: &str,
        source: &str,
        rounding: Rounding,
        more: &[&str],
    ) -> Result<Library, CcError> {
        self.with_usual_options(rounding, more, |options| self.library_with(name, source, options))
    }

    /// Calls `f` with the options of a library.
    fn with_usual_options<T>(&self, rounding: Rounding, more: &[&str], f: impl FnOnce(&[&str]) -> T) -> T {
        let set = SETTINGS.get().map_or(&[][..], |s| &s.options).iter().map(String::as_str);
        let usual = OPTIONS.iter().chain(rounding_options(rounding)).copied().chain(["-march=native"]);
        f(&usual.chain(more.iter().copied()).chain(set).collect::<Vec<_>>())
    }

    /// The stem of a library's file name, and its key.
    fn stem(&self, name: &str, source: &str, options: &[&str]) -> (String, String) {
        let key = self.key(source, options);
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        (format!("{plain}-{:032x}", xxhash_rust::xxh3::xxh3_128(key.as_bytes())), key)
    }

    /// Like [`Compiler::library`], with these options alone. They must include `-shared` and `-fPIC`.
    pub fn library_with(&self, name: &str, source: &str, options: &[&str]) -> Result<Library, CcError> {
        let directory = directory()?;
        let (stem, key) = self.stem(name, source, options);
        let cached = directory.has(&stem, &key);
        let _span = tracing::debug_span!("C compiler", name, bytes = source.len(), cached).entered();
        if !cached {
            self.make(&directory, &stem, &key, source, options)?;
        }
        let loaded = Library::load(&directory, &stem).or_else(|error| {
            directory.remove(&stem);
            if !cached {
                return Err(error);
            }
            // The system's loader or libraries may have changed since it was made.
            self.make(&directory, &stem, &key, source, options)?;
            Library::load(&directory, &stem).inspect_err(|_| directory.remove(&stem))
        })?;
        Ok(loaded)
    }

    /// The cache key: everything that the library depends on.
    fn key(&self, source: &str, options: &[&str]) -> String {
        // Elementary functions that are called have no text in the source.
        let mut key = format!("{}\nnumerics {}\n", self.identity, pendula_isa::num::raw::VERSION);
        // One per line, so that an option with a space is not taken for two.
        for option in
            self.command.iter().skip(1).map(|o| o.to_string_lossy()).chain(options.iter().map(|o| (*o).into()))
        {
            key.push_str(&format!("option {option:?}\n"));
        }
        for name in SEARCH_VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                key.push_str(&format!("{name} {value:?}\n"));
            }
        }
        key + &host() + "\n" + source
    }

    /// Runs the compiler in a directory of its own and installs the library that it makes.
    fn make(
        &self,
        directory: &Directory,
        stem: &str,
        key: &str,
        source: &str,
        options: &[&str],
    ) -> Result<(), CcError> {
        if let Some(slow) = TOO_SLOW.get() {
            return Err(too_slow(slow));
        }
        let file = |error| CcError::File { path: directory.path().display().to_string(), error };
        let work = directory.work().map_err(file)?;
        work.write("source.c", source).map_err(file)?;
        let limit = limit()?;
        let cache_limit = cache_limit()?;
        let begun = directory.begin(stem);
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).push((begun.clone(), Instant::now()));
        let (program, first) = self.command.split_first().ok_or(CcError::NoCompiler { tried: "CC".into() })?;
        let compiler = || program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(first).args(options).args(["-o", "library.so", "source.c", "-lm"]);
        // The compiler's temporary files are removed with the directory, however it ends.
        command.current_dir(work.path()).env("TMPDIR", ".");
        kill_with_parent(&mut command);
        let ran = run(&mut command, Stream::Errors, limit);
        if ENDS.load(Ordering::Relaxed) {
            // It has been stopped, and is not to be blamed.
            return Err(too_slow(&(compiler(), limit.as_secs())));
        }
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).retain(|(file, _)| *file != begun);
        directory.end(stem);
        let ran = ran.map_err(|error| {
            let message = error.to_string();
            CcError::Fails { compiler: compiler(), path: NOT_KEPT.into(), message }
        })?;
        let Some(ran) = ran else {
            return Err(too_slow(TOO_SLOW.get_or_init(|| (compiler(), limit.as_secs()))));
        };
        if !ran.status.success() || !work.at("library.so").exists() {
            let mut message = ran.output.lines().take(20).collect::<Vec<_>>().join("\n");
            if ran.status.success() {
                message.push_str("it has made no library");
            } else if message.is_empty() {
                message = ran.status.to_string();
            }
            let path = directory.keep_source(&work, stem);
            let path = path.map_or(NOT_KEPT.to_string(), |path| path.display().to_string());
            return Err(CcError::Fails { compiler: compiler(), path, message });
        }
        directory.install(&work, stem, key).map_err(file)?;
        directory.shrink(cache_limit, stem);
        Ok(())
    }
}

/// Whether the process is about to end.
static ENDS: AtomicBool = AtomicBool::new(false);

/// The files that say that the compilers have begun that run, and when they did.
static UNDER_WAY: Mutex<Vec<(PathBuf, Instant)>> = Mutex::new(Vec::new());

/// A compiler that is stopped before may well be done the next time.
const COUNTS: Duration = Duration::from_millis(800);

/// Stops all compilers that run, with the processes that they started: this process is about to end.
pub fn stop_compilers() {
    ENDS.store(true, Ordering::Relaxed);
    for (begun, since) in UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        if since.elapsed() < COUNTS {
            crate::cache::end_early(&begun);
        }
    }
    crate::child::end_all();
}

/// The cache's directory and its libraries, those used last first. Without a directory to keep code in, there are none.
pub fn cached_libraries() -> Result<(PathBuf, Vec<CachedLibrary>), CcError> {
    let directory = directory()?;
    Ok((directory.path().into(), if directory.is_persistent() { directory.libraries() } else { Vec::new() }))
}

/// Removes all code from the cache; returns its directory and the libraries that were there.
pub fn clear_cache() -> Result<(PathBuf, Vec<CachedLibrary>), CcError> {
    let directory = directory()?;
    Ok((directory.path().into(), if directory.is_persistent() { directory.clear() } else { Vec::new() }))
}

/// Makes a program end with this process. It has its own process group, so signals from the terminal do not reach it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn kill_with_parent(command: &mut Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt as _;
    // SAFETY: the closure makes one system call between fork and exec. It takes no lock and allocates no memory.
    unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?)) };
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn kill_with_parent(_: &mut Command) {}

/// Stands for the path of a source that is not kept, in messages.
const NOT_KEPT: &str = "a source, which is not kept";

/// A loaded library; dropping it unloads the library.
#[derive(Debug)]
pub struct Library {
    library: libloading::Library,
    path: PathBuf,
}

impl Library {
    /// Loads a library that was just made, or that the directory [contains](Directory::has).
    fn load(directory: &Directory, stem: &str) -> Result<Library, CcError> {
        let name = format!("{stem}.so");
        let path = directory.path().join(&name);
        // SAFETY: `Compiler::make` made the library from a source without initialisers, now or earlier; its digest proves that,
        // and only the user can have changed it since the digest was checked. Files there are replaced, never written to.
        let library = unsafe { libloading::Library::new(directory.at(&name)) };
        let library =
            library.map_err(|e| CcError::Load { path: path.display().to_string(), message: e.to_string() })?;
        Ok(Library { library, path })
    }

    /// The address of a function. It is valid as long as the library is loaded.
    pub fn address(&self, name: &str) -> Result<usize, CcError> {
        let symbol = format!("{name}\0");
        // SAFETY: only the address of the symbol is taken; nothing is read through it.
        let found = unsafe { self.library.get::<*const ()>(symbol.as_bytes()).map(|s| s.try_as_raw_ptr()) };
        let found = found.map(|address| address.map_or(0, |a| a.addr()));
        found.map_err(|e| CcError::Load { path: self.path.display().to_string(), message: e.to_string() })
    }
}
