//! The system's C compiler: found, run, and what it made loaded and kept.
//!
//! Libraries are kept in a directory of the user's, under a name made of a hash
//! of everything they depend on (source, options, compiler and its version), so
//! that a program is compiled once. The directory is `$PENDULA_CACHE`, else
//! `pendula` in `$XDG_CACHE_HOME`, else `~/.cache/pendula`, else one below the
//! system's for temporary files. The compiler is `$CC`, else `cc`, `gcc` or
//! `clang`, whichever is found first.

#![expect(unsafe_code, reason = "libraries are loaded, which runs their code")]

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use pendula_isa::types::Cond;

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
        /// The source, which is kept.
        path: String,
        /// What it says, the first lines.
        message: String,
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
    #[error("cannot load {path}: {message}")]
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
    command: Vec<OsString>,
    version: String,
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
        let found = FOUND.get_or_init(|| {
            let names: Vec<String> = match std::env::var("CC") {
                Ok(name) if !name.trim().is_empty() => vec![name],
                _ => ["cc", "gcc", "clang"].map(String::from).to_vec(),
            };
            names.iter().find_map(|n| Compiler::named(n)).ok_or_else(|| names.join(", "))
        });
        found.as_ref().map_err(|tried| CcError::NoCompiler { tried: tried.clone() })
    }

    /// The compiler of this name, which may have options behind it; `None` if it cannot be run.
    fn named(name: &str) -> Option<Compiler> {
        let command: Vec<OsString> = name.split_whitespace().map(OsString::from).collect();
        let (program, options) = command.split_first()?;
        let output = Command::new(program).args(options).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then(|| Compiler { command, version: text.lines().next().unwrap_or_default().into() })
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
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        let command = self.command.iter().map(|c| c.to_string_lossy().into_owned());
        for part in command.chain([self.version.clone(), options.join(" "), host(), source.to_string()]) {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let directory = directory();
        let file = |error| CcError::File { path: directory.display().to_string(), error };
        std::fs::create_dir_all(&directory).map_err(file)?;
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        let stem = format!("{plain}-{:032x}", hash.digest128());
        let made = directory.join(format!("{stem}.so"));
        if !made.exists() {
            self.make(&directory, &stem, source, options, &made)?;
        }
        Library::load(&made)
    }

    /// Runs the compiler. What it writes gets its name only when it is whole: others may do the same at the same time.
    fn make(&self, directory: &Path, stem: &str, source: &str, options: &[&str], made: &Path) -> Result<(), CcError> {
        let own = format!("{stem}.{}.{:?}", std::process::id(), std::thread::current().id());
        let own: String = own.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let (text, output) = (directory.join(format!("{own}.c")), directory.join(format!("{own}.so")));
        let fail = |path: &Path| {
            let path = path.display().to_string();
            move |error| CcError::File { path, error }
        };
        std::fs::File::create(&text).and_then(|mut f| f.write_all(source.as_bytes())).map_err(fail(&text))?;
        let (program, first) = self.command.split_first().ok_or(CcError::NoCompiler { tried: "CC".into() })?;
        let mut command = Command::new(program);
        command.args(first).args(options).arg("-o").arg(&output).arg(&text).arg("-lm").stdin(Stdio::null());
        let ran = command.output().map_err(fail(&text))?;
        if !ran.status.success() {
            let message = String::from_utf8_lossy(&ran.stderr);
            let message = message.lines().take(20).collect::<Vec<_>>().join("\n");
            let compiler = program.to_string_lossy().into_owned();
            return Err(CcError::Fails { compiler, path: text.display().to_string(), message });
        }
        std::fs::rename(&output, made).map_err(fail(made))?;
        std::fs::remove_file(&text).map_err(fail(&text))
    }
}

/// What `-march=native` stands for here: a directory may be shared between hosts.
fn host() -> String {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |name: &str| flags.lines().find(|l| l.starts_with(name)).unwrap_or_default().to_string();
    format!("{} {} {}", std::env::consts::ARCH, line("model name"), line("flags"))
}

/// Where libraries are kept.
fn directory() -> PathBuf {
    let given = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let set = SETTINGS.get().and_then(|s| s.directory.clone());
    set.or_else(|| given("PENDULA_CACHE"))
        .or_else(|| given("XDG_CACHE_HOME").map(|d| d.join("pendula")))
        .or_else(|| given("HOME").map(|d| d.join(".cache/pendula")))
        .unwrap_or_else(|| std::env::temp_dir().join("pendula-cache"))
}

/// A loaded library. It stays as long as this does.
#[derive(Debug)]
pub struct Library {
    library: libloading::Library,
    path: PathBuf,
}

impl Library {
    fn load(path: &Path) -> Result<Library, CcError> {
        // SAFETY: the library was made by `Compiler::library` of a source without initialisers, or has the name that only such a one gets.
        let library = unsafe { libloading::Library::new(path) };
        let library =
            library.map_err(|e| CcError::Load { path: path.display().to_string(), message: e.to_string() })?;
        Ok(Library { library, path: path.to_path_buf() })
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
