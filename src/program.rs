//! Running programs from Rust in one call: from a file or a text to values.
//!
//! ```
//! # fn main() -> Result<(), pendula::Error> {
//! let program = pendula::text("norm.nil", "@i function f(y!, x)\n    for i = 1:length(x)\n        y! += x[i] * x[i]\n    end\nend\n");
//! let run = program.run((0.0, [3.0, 4.0]))?;
//! assert_eq!(run.get::<f64>("y!")?, 25.0);
//! let gradient = program.grad((0.0, [3.0, 4.0]))?;
//! assert_eq!(gradient.get::<Vec<f64>>("x")?, [6.0, 8.0]);
//! # Ok(())
//! # }
//! ```

use std::cell::RefCell;
use std::fmt;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use pendula_asm::assemble;
use pendula_asm::check::check;
use pendula_asm::diagnostic::{Diagnostic, Severity, Sources};
use pendula_compiler::compile;
use pendula_compiler::nil::sema::Argument;
use pendula_isa::budget::Budget;
use pendula_isa::counts::Direction;
use pendula_isa::num::Format;
use pendula_isa::text::number;
use pendula_vm::{self as vm, Config, Engine, Event, Machine, Outcome};

use crate::grad::{self, GradError};
use crate::load::{self, Language, Loaded};
use crate::native::{NativeError, When};
use crate::report::Reporter;
use crate::report::diagnosis::{self, Stopped};
use crate::state::store;
use crate::state::values;

mod arguments;
mod error;
mod results;
mod value;

pub use arguments::Arguments;
pub use error::{Error, ErrorKind};
pub use results::{Gradients, Run};
pub use value::{Array, Number, Value};

use arguments::Kind;
use results::Names;

/// A program and the settings for its runs. Settings that are not given have the defaults of the command line. The
/// program caches its last compiled form, so each thread needs a `Program` of its own.
pub struct Program {
    name: String,
    bytes: Vec<u8>,
    compiler: compile::Options,
    config: Config,
    checks: bool,
    max_steps: Option<u64>,
    set: Vec<(String, Value)>,
    input: Vec<i64>,
    output: Vec<i64>,
    show: Vec<String>,
    grad: grad::Options,
    /// The last compiled form of the program, and the kinds of the arguments that it was compiled for.
    built: RefCell<Option<(Vec<Kind>, Rc<Built>)>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads a program from a file: a source text in any of the supported languages, or an object.
///
/// # Errors
/// The file cannot be read.
pub fn load(path: impl AsRef<Path>) -> Result<Program, Error> {
    let name = path.as_ref().display().to_string();
    let bytes = load::read_source(&name, &Budget::default()).map_err(|e| Error::failed(ErrorKind::File, e))?;
    Ok(Program::new(name, bytes))
}

/// Makes a program from its text. The extension of the name, such as `.nil`, `.ja`, `.rasm` or `.pisa`, determines the
/// language; if it is none of the known ones, the content does. Messages refer to the program by this name.
pub fn text(name: impl Into<String>, text: impl Into<String>) -> Program {
    Program::new(name.into(), text.into().into_bytes())
}

/// A program that is ready to run.
struct Built {
    program: vm::Program,
    sources: Sources,
    warnings: Vec<Diagnostic>,
    compiled: Option<load::CompiledSource>,
}

/// A machine at its start, and the lines that the program shows during the run.
struct Begun<'p> {
    machine: Machine<'p>,
    /// The initial data.
    data: Vec<u64>,
    shown: Arc<Mutex<Vec<String>>>,
}

impl Program {
    fn new(name: String, bytes: Vec<u8>) -> Program {
        Program {
            name,
            bytes,
            compiler: compile::Options::default(),
            config: Config::default(),
            checks: true,
            max_steps: None,
            set: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
            show: Vec::new(),
            grad: grad::Options::default(),
            built: RefCell::new(None),
        }
    }

    /// Changes the compiler's options, and drops the cached compiled form.
    fn compiled_by(mut self, change: impl FnOnce(&mut compile::Options)) -> Program {
        change(&mut self.compiler);
        self.built = RefCell::new(None);
        self
    }

    /// Sets the function of a Nil program at which runs begin. The default is the last function.
    #[must_use]
    pub fn entry(self, name: &str) -> Program {
        self.compiled_by(|options| options.entry = Some(name.to_string()))
    }

    /// Sets the types of the entry function's parameters where the values do not determine them: `["Fixed",
    /// "Vector{Fixed}"]`.
    #[must_use]
    pub fn types<'t>(self, types: impl IntoIterator<Item = &'t str>) -> Program {
        let types = types.into_iter().map(str::to_string).collect();
        self.compiled_by(|options| options.types = types)
    }

    /// Sets the format of fixed-point numbers.
    #[must_use]
    pub fn format(self, format: Format) -> Program {
        self.compiled_by(|options| options.format = Some(format))
    }

    /// Sets the compiler's options: how it reads and optimises the program. Arguments among these options are ignored.
    #[must_use]
    pub fn compiler(self, options: compile::Options) -> Program {
        self.compiled_by(|own| *own = options)
    }

    /// Sets the engine that runs the program.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Program {
        self.config.engine = engine;
        self.compiled_by(|_| ())
    }

    /// Sets the machine's configuration: its memory, infinities, traps.
    #[must_use]
    pub fn machine(self, config: Config) -> Program {
        let engine = config.engine;
        Program { config, ..self }.engine(engine)
    }

    /// Sets whether `assert` and similar checks are executed.
    #[must_use]
    pub fn checks(self, checks: bool) -> Program {
        Program { checks, ..self }.compiled_by(|_| ())
    }

    /// Limits the number of instructions of a run, forward and backward together.
    #[must_use]
    pub fn max_steps(self, steps: u64) -> Program {
        Program { max_steps: Some(steps), ..self }
    }

    /// Sets a data symbol, a variable or a register before each run: `set("n", 20)`.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Program {
        self.set.push((name.to_string(), value.into()));
        self
    }

    /// Sets the words of the input tape.
    #[must_use]
    pub fn input(self, words: &[i64]) -> Program {
        Program { input: words.to_vec(), ..self }
    }

    /// For [`Program::reverse`]: sets the words that a run forward emits, in their order.
    #[must_use]
    pub fn output(self, words: &[i64]) -> Program {
        Program { output: words.to_vec(), ..self }
    }

    /// Adds these to the results: registers (`r3`, `r3.q`), data symbols and elements of them.
    #[must_use]
    pub fn show<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Program {
        Program { show: names.into_iter().map(str::to_string).collect(), ..self }
    }

    /// Sets the name of the loss, the value that is differentiated.
    #[must_use]
    pub fn loss(mut self, name: &str) -> Program {
        self.grad.loss = Some(name.to_string());
        self
    }

    /// Sets the names of the inputs with respect to which the loss is differentiated.
    #[must_use]
    pub fn wrt<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Program {
        self.grad.wrt = names.into_iter().map(str::to_string).collect();
        self
    }

    /// Computes second derivatives, too.
    #[must_use]
    pub fn hessian(mut self) -> Program {
        self.grad.hessian = true;
        self
    }

    /// Computes the gradient of every element of the loss.
    #[must_use]
    pub fn jacobian(mut self) -> Program {
        self.grad.jacobian = true;
        self
    }

    /// Runs the program.
    ///
    /// # Errors
    /// The program is wrong, the arguments do not fit, or the run stops before its end.
    pub fn run(&self, arguments: impl Arguments) -> Result<Run, Error> {
        self.go(arguments, &[Direction::Forward])
    }

    /// Runs it backward: from results to arguments.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn reverse(&self, arguments: impl Arguments) -> Result<Run, Error> {
        self.go(arguments, &[Direction::Backward])
    }

    /// Runs it forward and then backward; [`Run::restored`] tells whether that restored every bit.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn round_trip(&self, arguments: impl Arguments) -> Result<Run, Error> {
        self.go(arguments, &[Direction::Forward, Direction::Backward])
    }

    /// Differentiates it.
    ///
    /// # Errors
    /// As [`Program::run`]; also, the program has no gradient, or its derivatives overflow.
    pub fn grad(&self, arguments: impl Arguments) -> Result<Gradients, Error> {
        let arguments = arguments.arguments(&self.compiler.budget)?;
        let built = self.built(&arguments)?;
        let names = Names::of(built.program.module(), built.compiled.as_ref());
        let mut begun = self.begun(&built, &arguments)?;
        let mut left = self.max_steps;
        let run = |machine: &mut Machine<'_>| match within(machine, &mut left) {
            Outcome::Finished => Ok(()),
            outcome => Err(outcome),
        };
        let options = grad::with_defaults(&self.grad, built.program.module(), built.compiled.as_ref());
        let found = grad::grad(&mut begun.machine, &options, run);
        let report = found.map_err(|e| self.no_gradient(&built, &begun, e))?;
        Ok(names.gradients(report, begun.machine.env()))
    }

    /// Checks the program without running it, and returns the warnings and the findings of the checker. A Nil program
    /// whose parameters have no types is checked for these arguments.
    ///
    /// # Errors
    /// The program is wrong.
    pub fn check(&self, arguments: impl Arguments) -> Result<Vec<Diagnostic>, Error> {
        let built = self.built(&arguments.arguments(&self.compiler.budget)?)?;
        let mut out = built.warnings.clone();
        if built.compiled.is_none() {
            let module = built.program.module();
            out.extend(check(module).iter().map(|f| crate::report::trap_report::finding(f, module, &built.sources)));
        }
        if out.iter().any(|d| d.severity == Severity::Error) {
            return Err(Error::told(ErrorKind::Program, out, &built.sources));
        }
        Ok(out)
    }

    /// Returns the program compiled for such arguments. It is compiled again only if their kinds differ from the last
    /// ones.
    fn built(&self, arguments: &[Argument]) -> Result<Rc<Built>, Error> {
        let kinds: Vec<Kind> = arguments.iter().map(Kind::of).collect();
        if let Some((own, built)) = &*self.built.borrow()
            && *own == kinds
        {
            return Ok(Rc::clone(built));
        }
        let built = Rc::new(self.build(arguments)?);
        *self.built.borrow_mut() = Some((kinds, Rc::clone(&built)));
        Ok(built)
    }

    fn build(&self, arguments: &[Argument]) -> Result<Built, Error> {
        let kind = load::kind_of(&self.name, &self.bytes);
        if !arguments.is_empty() && !kind.language().is_some_and(Language::has_arguments) {
            let what = kind.name();
            let message = format!("arguments are for programs in Nil, and {} is {what}: use `set`", self.name);
            return Err(Error::argument(&message));
        }
        let options = compile::Options { arguments: arguments.to_vec(), ..self.compiler.clone() };
        let loaded = load::load_bytes(&self.name, self.bytes.clone(), &assemble::Options::default(), &options);
        let Loaded { module, diagnostics, sources, compiled, .. } =
            loaded.map_err(|e| Error::failed(ErrorKind::File, e))?;
        let Some(module) = module else { return Err(Error::told(ErrorKind::Program, diagnostics, &sources)) };
        let mut program = vm::Program::new(module, self.checks).map_err(|error| {
            let d = Diagnostic::error(error.code(), format!("{}: {error}", self.name)).help(error.help());
            Error::told(ErrorKind::Program, vec![d], &sources)
        })?;
        let when = match self.config.engine {
            Engine::Auto => Some(When::Beside),
            Engine::Native => Some(When::AtOnce),
            Engine::Interpreter | Engine::Jit => None,
        };
        if let (Some(source), Some(when)) = (&compiled, when) {
            match crate::native::attach(&mut program, source, self.compiler.fast_float, when) {
                Err(NativeError::Compiler(error)) if when == When::AtOnce => {
                    return Err(Error::failed(ErrorKind::Machine, error));
                }
                Err(error) if when == When::AtOnce => tracing::warn!("not run as a whole: {error}"),
                Err(error) => tracing::info!("not run as a whole: {error}"),
                Ok(()) => {}
            }
        }
        Ok(Built { program, sources, warnings: diagnostics, compiled })
    }

    /// A machine at its start.
    fn begun<'p>(&self, built: &'p Built, arguments: &[Argument]) -> Result<Begun<'p>, Error> {
        let module = built.program.module();
        // The report on a run that reaches the limit needs the counts.
        let config = Config { count: self.config.count || self.max_steps.is_some(), ..self.config };
        let machine = Machine::new(&built.program, &config);
        let mut machine = machine.map_err(|e| Error::failed(ErrorKind::Machine, e))?;
        if let Some(nil) = &built.compiled {
            for (n, argument) in arguments.iter().enumerate() {
                results::put_argument(&mut machine, nil, n, argument)?;
            }
        }
        let variables = built.compiled.as_ref().and_then(load::CompiledSource::variables);
        let fail = |e| Error::failed(ErrorKind::Argument, e);
        for (name, value) in &self.set {
            let place = store::find(module, variables, name).map_err(fail)?;
            let words = values::words_of(&place, &value.numbers()?, module.flags.format).map_err(fail)?;
            values::put(&mut machine, &place, &words);
        }
        machine.set_input(self.input.iter().map(|k| k.cast_unsigned()).collect(), 0);
        machine.allow_whole(self.max_steps.is_none());
        let data = machine.memory().get(..module.data.len()).unwrap_or_default().to_vec();
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (list, texts, format) = (Arc::clone(&shown), module.texts.clone(), module.flags.format);
        machine.on_event(move |event| {
            let text = match event {
                Event::Show(ty, word) => number(word, ty, format),
                Event::Print(n) => texts.get(n as usize).cloned().unwrap_or_default(),
                Event::Emit(word) => word.cast_signed().to_string(),
            };
            list.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        });
        Ok(Begun { machine, data, shown })
    }

    fn go(&self, arguments: impl Arguments, directions: &[Direction]) -> Result<Run, Error> {
        let arguments = arguments.arguments(&self.compiler.budget)?;
        let built = self.built(&arguments)?;
        let module = built.program.module();
        if directions.contains(&Direction::Backward) && module.flags.irreversible {
            return Err(Error::told(
                ErrorKind::Program,
                vec![diagnosis::irreversible(&self.name, module)],
                &built.sources,
            ));
        }
        let names = Names::of(module, built.compiled.as_ref());
        let mut begun = self.begun(&built, &arguments)?;
        let variables = built.compiled.as_ref().and_then(load::CompiledSource::variables);
        let shown = self.show.iter().map(|name| store::find(module, variables, name)).collect::<Result<Vec<_>, _>>();
        let shown = shown.map_err(|e| Error::failed(ErrorKind::Argument, e))?;
        let start = (directions.len() > 1).then(|| begun.machine.digest());
        let (mut left, mut values, mut output) = (self.max_steps, None, Vec::new());
        if directions.first() == Some(&Direction::Backward) {
            let words = begun.machine.input().to_vec();
            let count = words.len();
            begun.machine.set_input(words, count);
            begun.machine.set_output(self.output.iter().map(|k| k.cast_unsigned()).collect());
        }
        for (n, way) in directions.iter().enumerate() {
            begun.machine.begin(*way);
            let outcome = within(&mut begun.machine, &mut left);
            if outcome != Outcome::Finished {
                return Err(self.stopped(&built, &begun, &outcome, &directions[..=n]));
            }
            if values.is_none() {
                let reverse = *way == Direction::Backward;
                values = Some(names.values(&begun.machine, &shown, reverse));
                output = begun.machine.output().iter().map(|word| word.cast_signed()).collect();
            }
        }
        let restored = start.map(|start| start == begun.machine.digest());
        let shown = std::mem::take(&mut *begun.shown.lock().unwrap_or_else(PoisonError::into_inner));
        let instructions = begun.machine.executed();
        Ok(Run { values: values.unwrap_or_default(), output, shown, restored, instructions })
    }

    /// The error that says why a run stopped.
    fn stopped(&self, built: &Built, begun: &Begun<'_>, outcome: &Outcome, directions: &[Direction]) -> Error {
        let machine = &begun.machine;
        let told = built.compiled.as_ref().and_then(|nil| {
            let again = diagnosis::Rerun {
                data: begun.data.clone(),
                directions,
                seeds: &[],
                until: Instant::now() + diagnosis::AGAIN,
            };
            diagnosis::in_source(outcome, machine, nil, &built.sources, again)
        });
        let reporter = Reporter::collecting();
        let Some(stopped) = Stopped::of(outcome, machine) else { return Error::argument("the run came to its end") };
        stopped.report(machine.program().module(), &built.sources, &reporter, (self.max_steps, told.as_ref()));
        let own = told.as_ref().and_then(|told| told.code);
        let (kind, code) = match outcome {
            Outcome::Trap(_) => (ErrorKind::Trap, own.or(stopped.heading.map(|(code, _)| code))),
            Outcome::Limit => (ErrorKind::Limit, Some("P0130")),
            Outcome::Finished => (ErrorKind::Machine, None),
        };
        Error::reported(kind, code, &reporter)
    }

    /// The error that says why there is no gradient.
    fn no_gradient(&self, built: &Built, begun: &Begun<'_>, error: GradError<Outcome>) -> Error {
        let module = built.program.module();
        let told = |d| Error::told(ErrorKind::Gradient, vec![d], &built.sources);
        match error {
            GradError::Stopped(outcome) => {
                let directions = match begun.machine.direction() {
                    Direction::Forward => &[Direction::Forward][..],
                    Direction::Backward => &[Direction::Forward, Direction::Backward],
                };
                self.stopped(built, begun, &outcome, directions)
            }
            GradError::Refused(refused) => told(diagnosis::refused(&self.name, refused, module, &built.sources)),
            GradError::Overflow(report) => match report.wrong {
                Some(at) => told(diagnosis::wrong(module, &built.sources, at)),
                None => Error::failed(ErrorKind::Gradient, GradError::<Outcome>::Overflow(report)),
            },
            other => Error::failed(ErrorKind::Argument, anyhow::anyhow!("{other}")),
        }
    }
}

/// Runs to the end, a trap or the limit.
fn within(machine: &mut Machine<'_>, left: &mut Option<u64>) -> Outcome {
    let before = machine.executed();
    let outcome = machine.run(*left);
    if let Some(left) = left {
        *left = left.saturating_sub(machine.executed() - before);
    }
    outcome
}
