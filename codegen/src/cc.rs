//! The system's C compiler: found, run, and what it made loaded and kept.
//!
//! Libraries are kept in a directory of the user's, under a name made of a hash
//! of everything they depend on (source, options, compiler and its version, the
//! host), so that a program is compiled once; what of it is loaded again, and where
//! there is no such directory, is said in `cache`. The directory is `$PENDULA_CACHE`, else
//! `pendula` in `$XDG_CACHE_HOME`, else `~/.cache/pendula`. The compiler is `$CC`, else
//! `cc`, `gcc` or `clang`, whichever is found first. It has as many seconds as
//! `$PENDULA_CC_TIMEOUT` says.

#![expect(unsafe_code, reason = "libraries are loaded, which runs their code; a compiler is told to end with us")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Once, OnceLock};
use std::time::{Duration, UNIX_EPOCH};

use pendula_isa::types::Cond;

use crate::cache::Directory;
use crate::child::{Stream, run};

/// What goes wrong with making or loading a library.
#[derive(Debug, thiserror::Error)]
pub enum CcError {
    /// There is no compiler.
    #[error("no C compiler is found ({tried}); install one, or name it in the environment variable CC")]
    NoCompiler {
        /// What was looked for.
        tried: String,
    },
    /// The compiler does not accept the source.
    #[error("{compiler} fails on {path}:\n{message}")]
    Fails {
        /// The compiler.
        compiler: String,
        /// The source, if it is kept.
        path: String,
        /// What it says, the first lines.
        message: String,
    },
    /// The compiler takes too long.
    #[error(
        "{compiler} has not come to an end within {seconds} s and was stopped; allow it more seconds in the environment variable PENDULA_CC_TIMEOUT"
    )]
    Slow {
        /// The compiler.
        compiler: String,
        /// How long it was allowed.
        seconds: u64,
    },
    /// A setting in the environment makes no sense.
    #[error("the environment variable {name} is `{value}`; it is to be {wanted}")]
    Setting {
        /// The variable.
        name: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
    /// A file cannot be written or read.
    #[error(
        "cannot use {path} for compiled code: {error}; name another directory in the environment variable PENDULA_CACHE"
    )]
    File {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The library cannot be loaded, or lacks a function.
    #[error(
        "cannot load {path}: {message}; if code may not be run from there, name another directory in the environment variable PENDULA_CACHE"
    )]
    Load {
        /// The library.
        path: String,
        /// Why.
        message: String,
    },
}

/// How floating-point operations may be rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// As written.
    Strict,
    /// A product and a sum may be rounded once.
    Contract,
    /// In another order, too, and quotients as products with a reciprocal.
    Fast,
}

/// A C compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The program by its path, and options.
    command: Vec<OsString>,
    /// The first line of what it says of its version.
    version: String,
    /// All that tells it from other compilers.
    identity: String,
}

/// How many seconds the compiler has where nothing else is said.
const SECONDS: u64 = 600;

/// Variables by which compilers find other files than those of the system.
const SEARCHED: &[&str] = &["CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"];

/// A compiler that was too slow once is not called again.
static TOO_SLOW: OnceLock<(String, u64)> = OnceLock::new();

fn too_slow((compiler, seconds): &(String, u64)) -> CcError {
    CcError::Slow { compiler: compiler.clone(), seconds: *seconds }
}

/// How long the compiler may take.
fn limit() -> Result<Duration, CcError> {
    let name = "PENDULA_CC_TIMEOUT";
    let Some(value) = std::env::var_os(name).filter(|v| !v.is_empty()) else {
        return Ok(Duration::from_secs(SECONDS));
    };
    let seconds = value.to_str().and_then(|v| v.trim().parse::<u32>().ok()).filter(|s| *s > 0);
    seconds.map(|s| Duration::from_secs(s.into())).ok_or_else(|| CcError::Setting {
        name,
        value: value.to_string_lossy().into_owned(),
        wanted: "a number of seconds, at least 1",
    })
}

/// Options that every library is made with. Words are read as integers and as doubles by turns.
const OPTIONS: &[&str] = &[
    "-std=c11",
    "-O3",
    "-fPIC",
    "-shared",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
];

fn rounding(rounding: Rounding) -> &'static [&'static str] {
    match rounding {
        Rounding::Strict => &["-ffp-contract=off"],
        Rounding::Contract => &["-ffp-contract=fast"],
        Rounding::Fast => &["-ffp-contract=fast", "-fassociative-math", "-fno-signed-zeros", "-freciprocal-math"],
    }
}

/// The operator of C for a condition, between operands that are signed or not as it asks for.
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

/// What is to hold in place of what the environment says, and of the usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where libraries are kept.
    pub directory: Option<PathBuf>,
    /// Options behind the usual ones.
    pub options: Vec<String>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Settings for the whole process, from now on. They stay as they are once they are set; gives whether these hold.
pub fn set(settings: Settings) -> bool {
    *SETTINGS.get_or_init(|| settings.clone()) == settings
}

impl Compiler {
    /// The system's, which is looked for once.
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

    /// The compiler of this name, which may have options behind it; `None` if it cannot be run.
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
        // Links lead to another program when the system's choice changes, and programs are replaced in their place.
        let real = path.canonicalize().ok()?;
        let about = real.metadata().ok()?;
        let changed = about.modified().ok().and_then(|at| Some(at.duration_since(UNIX_EPOCH).ok()?.as_nanos()));
        let (size, changed) = (about.len(), changed.unwrap_or(0));
        let identity = format!("{}\n{} {size} {changed}\n{}", path.display(), real.display(), ran.said);
        Some(Compiler { command, version: ran.said.lines().next().unwrap_or_default().into(), identity })
    }

    /// What it says of itself.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a source text to a library, for this very host, and loads it; or loads what was made of the same before.
    pub fn library(&self, name: &str, source: &str, how: Rounding) -> Result<Library, CcError> {
        self.library_and(name, source, how, &[])
    }

    /// The same with more options.
    pub fn library_and(&self, name: &str, source: &str, how: Rounding, more: &[&str]) -> Result<Library, CcError> {
        let set = SETTINGS.get().map_or(&[][..], |s| &s.options).iter().map(String::as_str);
        let usual = OPTIONS.iter().chain(rounding(how)).copied().chain(["-march=native"]);
        self.library_with(name, source, &usual.chain(more.iter().copied()).chain(set).collect::<Vec<_>>())
    }

    /// The same with these options alone, which must ask for a library: `-shared`, `-fPIC`.
    pub fn library_with(&self, name: &str, source: &str, options: &[&str]) -> Result<Library, CcError> {
        let directory = directory()?;
        let key = self.key(source, options);
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        let stem = format!("{plain}-{:032x}", xxhash_rust::xxh3::xxh3_128(key.as_bytes()));
        let kept = directory.has(&stem, &key);
        let _span = tracing::debug_span!("C compiler", name = plain, bytes = source.len(), cached = kept).entered();
        if !kept {
            self.make(&directory, &stem, &key, source, options)?;
        }
        let loaded = Library::load(&directory, &stem).or_else(|error| {
            directory.forget(&stem);
            if !kept {
                return Err(error);
            }
            // The system's loader or libraries may have changed since.
            self.make(&directory, &stem, &key, source, options)?;
            Library::load(&directory, &stem).inspect_err(|_| directory.forget(&stem))
        })?;
        Ok(loaded)
    }

    /// All that a library depends on.
    fn key(&self, source: &str, options: &[&str]) -> String {
        let mut key = format!("{}\n", self.identity);
        // One by one, so that none is taken for two.
        for option in
            self.command.iter().skip(1).map(|o| o.to_string_lossy()).chain(options.iter().map(|o| (*o).into()))
        {
            key.push_str(&format!("option {option:?}\n"));
        }
        for name in SEARCHED {
            if let Some(value) = std::env::var_os(name) {
                key.push_str(&format!("{name} {value:?}\n"));
            }
        }
        key + &host() + "\n" + source
    }

    /// Runs the compiler, where nothing else is, and takes what it makes into the directory.
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
        let (program, first) = self.command.split_first().ok_or(CcError::NoCompiler { tried: "CC".into() })?;
        let compiler = || program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(first).args(options).args(["-o", "library.so", "source.c", "-lm"]);
        // Its own files go with the directory, too, however it ends.
        command.current_dir(work.path()).env("TMPDIR", ".");
        end_with_us(&mut command);
        let limit = limit()?;
        let ran = run(&mut command, Stream::Errors, limit).map_err(|error| {
            let message = error.to_string();
            CcError::Fails { compiler: compiler(), path: NOT_KEPT.into(), message }
        })?;
        let Some(ran) = ran else {
            return Err(too_slow(TOO_SLOW.get_or_init(|| (compiler(), limit.as_secs()))));
        };
        if !ran.status.success() || !work.at("library.so").exists() {
            let mut message = ran.said.lines().take(20).collect::<Vec<_>>().join("\n");
            if ran.status.success() {
                message.push_str("it has made no library");
            } else if message.is_empty() {
                message = ran.status.to_string();
            }
            let path = directory.keep_source(&work, stem);
            let path = path.map_or(NOT_KEPT.to_string(), |path| path.display().to_string());
            return Err(CcError::Fails { compiler: compiler(), path, message });
        }
        directory.take(&work, stem, key).map_err(file)
    }
}

/// Has a program end when we do: it has a group of its own, to which what ends us on a terminal is not sent.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn end_with_us(command: &mut Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt as _;
    // SAFETY: what is called between fork and exec is one system call; it takes no lock and no memory.
    unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?)) };
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn end_with_us(_: &mut Command) {}

/// What is said in place of a source's name.
const NOT_KEPT: &str = "a source, which is not kept";

/// The path of a program, looked for where programs are.
fn program_path(name: &OsString) -> Option<PathBuf> {
    let named = Path::new(name);
    if named.components().count() > 1 || named.is_absolute() {
        return std::path::absolute(named).ok();
    }
    let places = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&places).map(|p| p.join(named)).find(|p| is_program(p))?;
    std::path::absolute(found).ok()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

/// What `-march=native` stands for here: a directory may be shared between hosts.
fn host() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let names = ["vendor_id", "cpu family", "model", "model name", "stepping", "flags"];
    let names = names.into_iter().chain(["CPU implementer", "CPU part", "CPU variant", "Features", "isa", "uarch"]);
    let mut out = std::env::consts::ARCH.to_string();
    for name in names {
        let is = |line: &&str| line.split_once(':').is_some_and(|(n, _)| n.trim() == name);
        about.lines().find(is).into_iter().for_each(|line| out.extend(["\n", line]));
    }
    out
}

/// Where libraries are kept, or a directory for this one.
fn directory() -> Result<Directory, CcError> {
    let given = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let named = SETTINGS.get().and_then(|s| s.directory.clone()).or_else(|| given("PENDULA_CACHE"));
    if let Some(path) = named {
        return Directory::kept(&path).map_err(|error| CcError::File { path: path.display().to_string(), error });
    }
    // A path that is not absolute would be another one in each directory.
    let home = |name: &str| given(name).filter(|p| p.is_absolute());
    let usual = home("XDG_CACHE_HOME").map(|d| d.join("pendula"));
    let at_home = || Some((home("HOME").map(|d| d.join(".cache").join("pendula"))?, home("HOME")));
    if let Some((path, must)) = usual.map(|path| (path, None)).or_else(at_home) {
        // A home is not for us to make.
        let there = must.map_or(Ok(()), |home| home.metadata().map(drop));
        match there.and_then(|()| Directory::kept(&path)) {
            Ok(directory) => return Ok(directory),
            Err(error) => {
                static TOLD: Once = Once::new();
                let path = path.display();
                TOLD.call_once(|| tracing::warn!("compiled code is not kept in {path}: {error}"));
            }
        }
    }
    let file = |error| CcError::File { path: std::env::temp_dir().display().to_string(), error };
    Directory::passing().map_err(file)
}

/// A loaded library. It stays as long as this does.
#[derive(Debug)]
pub struct Library {
    library: libloading::Library,
    path: PathBuf,
}

impl Library {
    /// Loads a library that was just made, or that the directory [has](Directory::has).
    fn load(directory: &Directory, stem: &str) -> Result<Library, CcError> {
        let name = format!("{stem}.so");
        let path = directory.path().join(&name);
        // SAFETY: the library was made by `Compiler::make`, of a source without initialisers: now, or earlier, which its digest shows, and nobody
        // but the user can have changed it since that was looked at. Files are replaced by others there, and never written to.
        let library = unsafe { libloading::Library::new(directory.at(&name)) };
        let library =
            library.map_err(|e| CcError::Load { path: path.display().to_string(), message: e.to_string() })?;
        Ok(Library { library, path })
    }

    /// The address of a function, good as long as the library stays.
    pub fn address(&self, name: &str) -> Result<usize, CcError> {
        let symbol = format!("{name}\0");
        // SAFETY: the symbol is only asked for its address, of which nothing is read.
        let found = unsafe { self.library.get::<*const ()>(symbol.as_bytes()).map(|s| s.try_as_raw_ptr()) };
        let found = found.map(|address| address.map_or(0, |a| a.addr()));
        found.map_err(|e| CcError::Load { path: self.path.display().to_string(), message: e.to_string() })
    }
}
