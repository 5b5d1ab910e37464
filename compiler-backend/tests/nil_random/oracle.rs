//! The oracle: a compiled program on the machine against the evaluator on the representation as the front end leaves
//! it.
//!
//! Values must agree bit for bit in both directions, and gradients up to rounding. If the evaluator fails, the machine
//! must trap. If the evaluator reports a broken contract (a word that is not cleared, a constant that changes), the
//! test fails.

use pendula_compiler::compile::{Compiled, Options, compile};
use pendula_compiler::ir::Program;
use pendula_compiler::ir::eval::{self, Direction as Way, EvalError, Evaluation};
use pendula_compiler::lower::{Argument, ArgumentKind};
use pendula_compiler::nil::sema;
use pendula_compiler::passes::{Pass, Switches};
use pendula_isa::adjoint::GRADIENT;
use pendula_isa::counts::Direction;
use pendula_isa::diagnostic::Severity;
use pendula_isa::num::convert;
use pendula_isa::types::Reg;
use pendula_isa::{Env, Module, Ty};
use pendula_vm::gradient::{self, Cell, Variable};
use pendula_vm::{Config, Machine, Outcome, Program as Code};

/// The arguments of a run, as the compiler takes them.
pub(crate) type Arguments = Vec<sema::Argument>;

/// A program, and arguments of the same shape for several runs.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) types: Vec<String>,
    pub(crate) runs: Vec<Arguments>,
    /// Whether it may be undone from a state that no run has reached.
    pub(crate) anywhere: bool,
}

/// The outcomes of cases.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) finished: usize,
    pub(crate) trapped: usize,
    pub(crate) gradients: usize,
}

/// The maximum numbers of steps of a run, for the evaluator and for the machine.
const EVALUATED: u64 = 400_000;
const EXECUTED: u64 = 40_000_000;
/// The number of words for the program's own arrays and for the machine's stack.
const ROOM: usize = 6_000;

/// A data word of the entry's arguments.
#[derive(Clone, Copy, Debug)]
struct Word {
    at: usize,
    ty: Ty,
    /// The index of the parameter that it is, if it is one by itself.
    param: Option<usize>,
}

/// The layout of the entry's arguments in the data segment.
struct Layout {
    words: Vec<Word>,
    params: Vec<u64>,
    len: usize,
}

impl Layout {
    fn new(program: &Program, arguments: &[Argument]) -> Layout {
        let mut layout = Layout { words: Vec::new(), params: Vec::new(), len: program.stack as usize };
        for a in arguments {
            match &a.kind {
                ArgumentKind::Word { ty, value } => {
                    layout.words.push(Word { at: layout.len, ty: *ty, param: Some(layout.params.len()) });
                    layout.params.push(*value);
                    layout.len += 1;
                }
                ArgumentKind::Array { ty, words, lens } => {
                    layout.params.push(layout.len as u64);
                    layout.params.extend(lens.iter().map(|n| n.cast_unsigned()));
                    layout.words.extend((0..words.len()).map(|n| Word { at: layout.len + n, ty: *ty, param: None }));
                    layout.len += words.len();
                }
                ArgumentKind::Constant(c) => layout.params.push(*c),
            }
        }
        layout
    }

    /// The parameters and the memory for the evaluator.
    fn split(&self, data: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let (mut params, mut memory) = (self.params.clone(), data.to_vec());
        for w in &self.words {
            if let Some(p) = w.param {
                params[p] = std::mem::take(&mut memory[w.at]);
            }
        }
        (params, memory)
    }

    /// The data segment for these parameters and this memory.
    fn join(&self, params: &[u64], memory: &[u64]) -> Vec<u64> {
        let mut data = memory.to_vec();
        data.resize(self.len, 0);
        for w in &self.words {
            if let Some(p) = w.param {
                data[w.at] = params[p];
            }
        }
        data
    }
}

/// The evaluator's result of a run.
enum Verdict {
    /// The data words after the run.
    Data(Vec<u64>),
    /// The evaluator stops, and so must the machine.
    Stops(EvalError),
    /// The run is too long or too deep.
    Unknown,
}

struct Reference<'a> {
    program: &'a Program,
    layout: Layout,
}

impl Reference<'_> {
    fn evaluate(&self, way: Way, data: &[u64], gradients: Option<Vec<u64>>) -> Result<Evaluation, EvalError> {
        let (params, memory) = self.layout.split(data);
        let gradients = gradients.map(|g| {
            let (mut of_params, of_memory) = self.layout.split(&g);
            // Addresses and lengths have no gradient words.
            let word = |p: usize| self.layout.words.iter().any(|w| w.param == Some(p));
            of_params.iter_mut().enumerate().filter(|(p, _)| !word(*p)).for_each(|(_, g)| *g = 0);
            (of_params, of_memory)
        });
        let config = eval::Config {
            memory: self.layout.len + ROOM,
            max_steps: EVALUATED,
            until: None,
            ieee: false,
            trap_overflow: false,
        };
        let entry = self.program.entry.ok_or(EvalError::Malformed { loc: Default::default(), what: "no entry" })?;
        eval::run(self.program, entry, way, params, memory, gradients, &config)
    }

    fn run(&self, way: Way, data: &[u64]) -> Result<Verdict, String> {
        match self.evaluate(way, data, None) {
            Ok(e) if e.unchecked.is_some() => {
                Err(format!("a word that is not checked is left behind: {:?}", e.unchecked))
            }
            Ok(e) => Ok(Verdict::Data(self.layout.join(&e.params, &e.memory))),
            Err(EvalError::Steps { .. } | EvalError::Depth { .. }) => Ok(Verdict::Unknown),
            Err(
                e @ (EvalError::Malformed { .. }
                | EvalError::Leak { .. }
                | EvalError::Order { .. }
                | EvalError::Alias { .. }
                | EvalError::Changed { .. }),
            ) => Err(format!("the front end's program breaks a contract: {e} ({e:?})")),
            Err(e) => Ok(Verdict::Stops(e)),
        }
    }

    /// The gradient words of the data after the run from `end` is undone, where the gradient word of `loss` is `one`.
    fn gradient(&self, end: &[u64], loss: Word, one: u64) -> Result<Vec<u64>, EvalError> {
        let mut seeds = vec![0; self.layout.len];
        seeds[loss.at] = one;
        let e = self.evaluate(Way::Backward, end, Some(seeds))?;
        let (params, memory) = e.gradients.unwrap_or_default();
        Ok(self.layout.join(&params, &memory))
    }
}

/// A compiled module, and its choice of passes.
struct Built {
    name: String,
    code: Code,
}

impl Built {
    fn machine(&self, data: &[u64]) -> Machine<'_> {
        let config = Config { mem: Some((data.len() + 2 * ROOM) as u64), ..Config::default() };
        let mut machine = Machine::new(&self.code, &config).expect("a machine");
        machine.memory_mut()[..data.len()].copy_from_slice(data);
        machine
    }
}

fn switches() -> Vec<(String, Switches)> {
    let single = Pass::ALL.iter().filter(|p| !p.is_of_c()).map(|p| (p.name().to_string(), Switches::NONE.with(*p)));
    let levels = [("-O0", Switches::NONE), ("-O1", Switches::level(1)), ("-O2", Switches::level(2))];
    levels.into_iter().map(|(n, s)| (n.to_string(), s)).chain(single).collect()
}

fn compiled(case: &Case, arguments: &Arguments, switches: Switches) -> Result<(Compiled, Module), String> {
    let options = Options { arguments: arguments.clone(), types: case.types.clone(), switches, ..Options::default() };
    let mut out = compile("random.nil", case.text.clone(), &options);
    let errors: Vec<String> = out
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| {
            let at = d.primary.as_ref().map_or(0, |l| l.place.span.start);
            let line = case.text[..at.min(case.text.len())].matches('\n').count() + 1;
            format!("line {line}: {} {} ({:?})", d.code, d.message, d.help)
        })
        .collect();
    match out.module.take() {
        Some(module) if errors.is_empty() => Ok((out, module)),
        _ => Err(format!("it does not compile: {}", errors.join("; "))),
    }
}

fn go(machine: &mut Machine<'_>) -> Result<(), String> {
    match machine.run(Some(EXECUTED)) {
        Outcome::Finished => Ok(()),
        Outcome::Limit => Err("endless".into()),
        Outcome::Trap(trap) => Err(format!("{:?} at {}", trap.fault, trap.at)),
    }
}

/// Whether registers and stack are clear, except for the stack pointer.
fn clear(machine: &Machine<'_>, data: usize) -> Result<(), String> {
    if let Some(n) = machine.registers().iter().take(31).position(|r| *r != 0) {
        return Err(format!("r{n} is left as {:#x}", machine.registers()[n]));
    }
    if machine.registers()[31] != data as u64 {
        return Err("the stack pointer is elsewhere".into());
    }
    match machine.memory()[data..].iter().position(|w| *w != 0) {
        Some(n) => Err(format!("word {n} of the stack is left")),
        None => Ok(()),
    }
}

/// Runs one leg on the machine, and compares it with the evaluator. Gives whether it ended normally.
fn leg(machine: &mut Machine<'_>, said: &Verdict, what: &str, size: usize) -> Result<bool, String> {
    let done = go(machine);
    match (said, done) {
        (Verdict::Unknown, _) => Ok(false),
        (Verdict::Stops(e), Err(why)) if why == "endless" => Err(format!("{what}: endless, and should trap: {e}")),
        (Verdict::Stops(_), Err(_)) => Ok(false),
        (Verdict::Stops(e), Ok(())) => Err(format!("{what}: it runs to its end, and should trap: {e} ({e:?})")),
        (Verdict::Data(_), Err(why)) => Err(format!("{what}: it traps, {why}, and should not")),
        (Verdict::Data(data), Ok(())) => {
            clear(machine, size).map_err(|e| format!("{what}: {e}"))?;
            let found = &machine.memory()[..size];
            match (0..size).find(|n| data[*n] != found[*n]) {
                None => Ok(true),
                Some(n) => Err(format!("{what}: data word {n} is {:#x}, and should be {:#x}", found[n], data[n])),
            }
        }
    }
}

/// Compiles a case with all choices of passes and runs it. Gives the difference, if there is one.
pub(crate) fn check(case: &Case, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut starts = Vec::new();
    let mut first: Option<(Compiled, Module)> = None;
    for arguments in &case.runs {
        let (out, module) = compiled(case, arguments, Switches::NONE)?;
        starts.push(module.data.to_vec());
        first.get_or_insert((out, module));
    }
    let Some((plain, _)) = first else { return Ok(()) };
    let program = plain.program.as_ref().ok_or("no program")?;
    let reference = Reference { program, layout: Layout::new(program, &plain.arguments) };
    let size = reference.layout.len;
    let mut all = Vec::new();
    for (name, switches) in switches() {
        let (_, module) = compiled(case, &case.runs[0], switches).map_err(|e| format!("{name}: {e}"))?;
        if module.data.to_vec() != starts[0] {
            return Err(format!("{name}: other data"));
        }
        let code = Code::new(module, true).map_err(|e| format!("{name}: the module does not verify: {e}"))?;
        all.push(Built { name, code });
    }
    for (n, start) in starts.iter().enumerate() {
        let run = |name: &str| format!("{name}, arguments {n}");
        let forward = reference.run(Way::Forward, start).map_err(|e| run(&e))?;
        let back = match &forward {
            Verdict::Data(end) => reference.run(Way::Backward, end).map_err(|e| run(&format!("backward: {e}")))?,
            Verdict::Stops(_) | Verdict::Unknown => Verdict::Unknown,
        };
        if let (Verdict::Data(back), false) = (&back, reference.layout.words.iter().any(|w| w.ty == Ty::F))
            && !case.text.contains("Float64")
            && back != start
        {
            return Err(run("undone by the evaluator, it does not come back to its start"));
        }
        let undone =
            if case.anywhere { reference.run(Way::Backward, start).map_err(|e| run(&e))? } else { Verdict::Unknown };
        for built in &all {
            let what = |way: &str| format!("{} {way}, arguments {n}", built.name);
            let mut machine = built.machine(start);
            if leg(&mut machine, &forward, &what("forward"), size)? {
                machine.begin(Direction::Backward);
                leg(&mut machine, &back, &what("backward"), size)?;
            }
            if !matches!(undone, Verdict::Unknown) {
                let mut machine = built.machine(start);
                machine.begin(Direction::Backward);
                leg(&mut machine, &undone, &what("backward from its start"), size)?;
            }
        }
        if let (Verdict::Data(end), Verdict::Data(_)) = (&forward, &back) {
            tally.finished += 1;
            let losses: Vec<Word> = reference.layout.words.iter().filter(|w| w.ty != Ty::Int).copied().collect();
            if !losses.is_empty() {
                let loss = losses[(seed as usize).wrapping_add(n * 7) % losses.len()];
                tally.gradients += usize::from(gradients(&reference, &all, (start, end), loss).map_err(|e| run(&e))?);
            }
        } else {
            tally.trapped += 1;
        }
    }
    Ok(())
}

/// Compares the evaluator's gradients of a smooth program with central differences. Gives the number of compared words.
pub(crate) fn differences(case: &Case, seed: u64) -> Result<usize, String> {
    let (out, module) = compiled(case, &case.runs[0], Switches::NONE)?;
    let program = out.program.as_ref().ok_or("no program")?;
    let reference = Reference { program, layout: Layout::new(program, &out.arguments) };
    let env = Env { format: program.format, ..Env::default() };
    let start = module.data.to_vec();
    let carry: Vec<Word> = reference.layout.words.iter().filter(|w| matches!(w.ty, Ty::F | Ty::Q)).copied().collect();
    let Some(loss) = carry.get(seed as usize % carry.len().max(1)).copied() else { return Ok(0) };
    // Gradients are not compared where fixed-point numbers wrap.
    let forward = |data: &[u64]| {
        let e = reference.evaluate(Way::Forward, data, None).ok().filter(|e| e.overflow.is_none())?;
        Some(reference.layout.join(&e.params, &e.memory))
    };
    let Some(end) = forward(&start) else { return Ok(0) };
    let number = |ty: Ty, word: u64| convert::to_f64(env, ty, word);
    // If rounding brings the run back to another start, the gradient is the one at that start.
    let Ok(Verdict::Data(back)) = reference.run(Way::Backward, &end) else { return Ok(0) };
    let returns = |w: &Word| (number(w.ty, back[w.at]) - number(w.ty, start[w.at])).abs() < 1e-7;
    if !carry.iter().all(returns) {
        return Ok(0);
    }
    let Ok(gradient) = reference.gradient(&end, loss, gradient::one(env, loss.ty)) else { return Ok(0) };
    // The loss if a word is moved by h.
    let moved = |w: Word, h: f64| -> Option<f64> {
        let mut data = start.clone();
        let x = number(w.ty, data[w.at]) + h;
        data[w.at] = if w.ty == Ty::F { x.to_bits() } else { convert::f_to_q(env, x.to_bits()).ok()? };
        forward(&data).map(|end| number(loss.ty, end[loss.at]))
    };
    let mut compared = 0;
    for w in &carry {
        let step = if carry.iter().all(|w| w.ty == Ty::F) { 1e-5 } else { 1.0 / 2048.0 };
        let slope = |h: f64| Some((moved(*w, h)? - moved(*w, -h)?) / (2.0 * h));
        let (Some(a), Some(b)) = (slope(step), slope(step / 2.0)) else { continue };
        let near = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()));
        // If both steps agree, no corner is near and the curvature is small.
        if !near(a, b, 1e-4) || a.abs() > 1e4 {
            continue;
        }
        let g = number(w.ty, gradient[w.at]);
        if !near(g, b, 3e-3) {
            return Err(format!("d word {} / d word {}: the gradient is {g}, differences say {b}", loss.at, w.at));
        }
        compared += 1;
    }
    Ok(compared)
}

/// The gradient words of the data on the machine.
fn machine_gradient(built: &Built, start: &[u64], loss: Word) -> Result<Vec<u64>, String> {
    let mut machine = built.machine(start);
    let mut run = |m: &mut Machine<'_>| go(m);
    gradient::forward(&mut machine, &mut run)?;
    let one = gradient::one(machine.env(), loss.ty);
    let variable = Variable { cell: Cell::Word(loss.at), ty: loss.ty };
    gradient::gradient(&mut machine, variable, one, &mut run)?;
    let size = start.len();
    if let Some(r) = (0..31).filter_map(Reg::new).find(|r| machine.lane_register(GRADIENT, *r) & !(1 << 63) != 0) {
        return Err(format!("{r} carries a gradient"));
    }
    if let Some(n) = (size..size + ROOM).find(|at| machine.lane_word(GRADIENT, *at) & !(1 << 63) != 0) {
        return Err(format!("word {} of the stack carries a gradient", n - size));
    }
    Ok((0..size).map(|at| machine.lane_word(GRADIENT, at)).collect())
}

/// Compares the machine's gradients with those of the evaluator. Gives whether there were any.
fn gradients(
    reference: &Reference<'_>,
    all: &[Built],
    (start, end): (&[u64], &[u64]),
    loss: Word,
) -> Result<bool, String> {
    let env = Env { format: reference.program.format, ..Env::default() };
    let expected = reference.gradient(end, loss, gradient::one(env, loss.ty));
    let number = |w: &Word, words: &[u64]| gradient::gradient_to_f64(env, w.ty, words[w.at]);
    let carry: Vec<&Word> = reference.layout.words.iter().filter(|w| w.ty != Ty::Int).collect();
    let scale = match &expected {
        Ok(g) => carry.iter().map(|w| number(w, g).abs()).fold(1.0, f64::max),
        Err(_) => 1.0,
    };
    // Rounding errors are no longer small relative to the numbers, or the numbers wrap.
    if scale > 1e5 {
        return Ok(false);
    }
    for built in all.iter().filter(|b| matches!(b.name.as_str(), "-O0" | "-O2")) {
        let found = machine_gradient(built, start, loss);
        match (&expected, found) {
            (Err(_), Err(_)) => {}
            // A folded constant needs no derivative.
            (Err(_), Ok(_)) if built.name == "-O2" => {}
            (Err(e), Ok(_)) => return Err(format!("{}: the gradient should trap: {e} ({e:?})", built.name)),
            (Ok(_), Err(e)) => return Err(format!("{}: the gradient fails: {e}", built.name)),
            (Ok(expected), Ok(found)) => {
                for w in &carry {
                    let (a, b) = (number(w, expected), number(w, &found));
                    let tolerance = if w.ty == Ty::F && loss.ty == Ty::F { 1e-9 } else { 1e-5 };
                    if (a - b).abs() > tolerance * scale {
                        let name = &built.name;
                        return Err(format!(
                            "{name}: the gradient of word {} by word {} is {b}, and should be {a}",
                            loss.at, w.at
                        ));
                    }
                }
            }
        }
    }
    Ok(expected.is_ok())
}
