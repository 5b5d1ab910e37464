//! Runs a workload's program on the machine, by one of its engines.

use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use pendula_compiler::ir;
use pendula_compiler::lower::Argument;
use pendula_compiler::passes::Switches;
use pendula_isa::Module;
use pendula_isa::adjoint::{GRADIENT, MIXED};
use pendula_isa::counts::Direction;
use pendula_isa::module::{Symbol, SymbolKind};
use pendula_isa::num::convert::to_f64;
use pendula_isa::types::{Reg, Ty};
use pendula_isa::words::clear;
use pendula_vm::gradient::{self, Cell, Variable};
use pendula_vm::{AdMode, Config, Engine, Machine, Outcome, Program, WholeProgram};

use pendula_codegen::cc::Rounding;

use crate::cases::Case;

/// Runs a program that was set up for it. Repetitions are within one call, so that timing adds no cost.
pub(crate) trait Runner {
    /// The engine's name.
    fn engine(&self) -> &'static str;
    /// Restores the inputs, and clears everything else.
    fn restart(&mut self);
    /// Runs forward with values only, this many times; each run continues from the result of the previous one.
    fn forward(&mut self, times: u64) -> anyhow::Result<()>;
    /// Undoes as many runs.
    fn backward(&mut self, times: u64) -> anyhow::Result<()>;
    /// Computes a whole gradient this many times: forward, and backward with gradient words once for each set of
    /// weights of the results.
    fn gradient(&mut self, times: u64, weights: &[Vec<f64>]) -> anyhow::Result<()>;
    /// Computes all second derivatives of the first result with respect to the inputs, this many times; row by row.
    fn hessian(&mut self, times: u64) -> anyhow::Result<Vec<f64>>;
    /// The results.
    fn results(&self) -> Vec<f64>;
    /// The inputs with respect to which gradients are taken.
    fn inputs(&self) -> Vec<f64>;
    /// The latest gradient.
    fn gradients(&self) -> Vec<f64>;
    /// A digest of the whole state.
    fn digest(&self) -> u128;
    /// The number of instructions executed since it was set up, if it counts them.
    fn executed(&self) -> Option<u64>;
}

/// Makes the code that runs a whole program in C, if it can be made.
pub type MakeWhole = fn(ir::Program, Vec<Argument>, Rounding, Switches) -> Option<Arc<dyn WholeProgram>>;

/// A program that can be set up.
pub(crate) struct Prepared {
    program: Program,
    /// True if operations may be rounded otherwise than written.
    pub(crate) fast: bool,
    results: Vec<usize>,
    inputs: Vec<usize>,
    /// The type of all results and inputs.
    ty: Ty,
}

impl Prepared {
    /// Compiles a case's program; with `fast`, its operations may be rounded otherwise than written.
    pub(crate) fn new(case: &Case, fast: bool, whole: MakeWhole) -> anyhow::Result<Prepared> {
        let compiled = case.compile(fast)?;
        let how = if fast { Rounding::Fast } else { Rounding::Strict };
        let module = compiled.module.with_context(|| format!("{} does not compile", case.workload.name))?;
        let mut prepared = Prepared::of(module, case.workload.results, case.workload.inputs)?;
        if let Some(source) = compiled.source
            && let Some(whole) = whole(source, compiled.arguments, how, compiled.switches)
        {
            prepared.program.set_whole(whole);
        }
        prepared.fast = fast;
        Ok(prepared)
    }

    /// Prepares a compiled program, with the names of its results and inputs.
    pub(crate) fn of(module: Module, results: &[&str], inputs: &[&str]) -> anyhow::Result<Prepared> {
        let mut ty = Ty::F;
        let mut words = |names: &[&str]| -> anyhow::Result<Vec<usize>> {
            let mut out = Vec::new();
            for name in names {
                let symbol = module.variables.iter().find(|v| v.name == *name).map_or(*name, |v| v.symbol.as_str());
                let Some(Symbol { value, kind: SymbolKind::Data { ty: own, len, .. }, .. }) = module.symbol(symbol)
                else {
                    bail!("{name} is not in the data");
                };
                ty = *own;
                out.extend(*value as usize..(value + len) as usize);
            }
            Ok(out)
        };
        let (results, inputs) = (words(results)?, words(inputs)?);
        Ok(Prepared { program: Program::new(module, true)?, fast: false, results, inputs, ty })
    }

    /// The compiled program.
    pub(crate) fn module(&self) -> &Module {
        self.program.module()
    }

    /// Sets the program up. The machine gets only the memory that a run forward needs, because every gradient clears as
    /// many words.
    pub(crate) fn runner(&self, engine: Engine) -> anyhow::Result<Box<dyn Runner + '_>> {
        let data = self.module().data.len() as u64;
        let mut stack = 64;
        loop {
            let config = Config { mem: Some(data + stack), count: false, engine, warm_up: 0, ..Config::default() };
            let mut machine = Machine::new(&self.program, &config)?;
            // By default, programs run long enough for their C code to come.
            machine.allow_whole(matches!(engine, Engine::Auto | Engine::Native));
            machine.set_independent(Some(&joined(&self.inputs)));
            let mut runner = OnMachine { machine, engine, prepared: self };
            match runner.forward(1) {
                Ok(()) => {}
                Err(_) if stack < 1 << 20 => {
                    stack *= 2;
                    continue;
                }
                Err(error) => return Err(error),
            }
            runner.restart();
            return Ok(Box::new(runner));
        }
    }
}

/// The ranges of these addresses, which are in order within each input.
fn joined(at: &[usize]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for at in at {
        match out.last_mut() {
            Some(last) if last.end == *at => last.end += 1,
            _ => out.push(*at..at + 1),
        }
    }
    out
}

fn to_end(machine: &mut Machine<'_>) -> anyhow::Result<()> {
    match machine.run(None) {
        Outcome::Finished => Ok(()),
        Outcome::Limit => Err(anyhow!("the run was interrupted")),
        Outcome::Trap(trap) => Err(anyhow!("the run stopped at {}: {}", trap.at, trap.fault.title())),
    }
}

/// A runner on the machine.
struct OnMachine<'p> {
    machine: Machine<'p>,
    engine: Engine,
    prepared: &'p Prepared,
}

impl OnMachine<'_> {
    fn words(&self, lane: usize, at: &[usize]) -> Vec<f64> {
        let (env, ty) =
            (self.machine.env(), if lane == 0 { Some(self.prepared.ty) } else { self.prepared.ty.gradient() });
        let number = |at: &usize| to_f64(env, ty.unwrap_or(Ty::F), self.machine.lane_word(lane, *at));
        at.iter().map(number).collect()
    }

    fn repeat(&mut self, direction: Direction, times: u64) -> anyhow::Result<()> {
        self.machine.set_ad_mode(AdMode::Plain);
        for _ in 0..times {
            self.machine.begin(direction);
            to_end(&mut self.machine)?;
        }
        Ok(())
    }
}

impl Runner for OnMachine<'_> {
    fn engine(&self) -> &'static str {
        self.engine.name()
    }

    fn restart(&mut self) {
        // Restores the initial state without a copy of it, which would take memory.
        let data = &self.prepared.module().data;
        for n in 0..Reg::COUNT as u8 {
            let word = if n as usize == Reg::SP.index() { data.len() as u64 } else { 0 };
            Reg::new(n).into_iter().for_each(|r| self.machine.set_register(r, word));
        }
        let (front, rest) = self.machine.memory_mut().split_at_mut(data.len());
        data.copy_to(front);
        clear(rest);
    }

    fn forward(&mut self, times: u64) -> anyhow::Result<()> {
        self.repeat(Direction::Forward, times)
    }

    fn backward(&mut self, times: u64) -> anyhow::Result<()> {
        self.repeat(Direction::Backward, times)
    }

    fn gradient(&mut self, times: u64, weights: &[Vec<f64>]) -> anyhow::Result<()> {
        let machine = &mut self.machine;
        let seeds = |weights: &Vec<f64>| {
            self.prepared.results.iter().zip(weights).map(|(at, weight)| (*at, weight.to_bits())).collect::<Vec<_>>()
        };
        let seeds: Vec<Vec<(usize, u64)>> = weights.iter().map(seeds).collect();
        let mut done = 0;
        if let [seeds] = &seeds[..]
            && let Some(mut gradient) = machine.repeat_forward_and_back(seeds)
        {
            done = (0..times).take_while(|_| gradient.run()).count() as u64;
        }
        for _ in done..times {
            for (weights, seeds) in weights.iter().zip(&seeds) {
                if machine.run_forward_and_back(seeds) {
                    continue;
                }
                gradient::forward(machine, &mut to_end)?;
                machine.set_ad_mode(AdMode::Gradient);
                for (at, weight) in self.prepared.results.iter().zip(weights) {
                    machine.set_lane_word(GRADIENT, *at, weight.to_bits());
                }
                machine.begin(Direction::Backward);
                to_end(machine)?;
            }
        }
        Ok(())
    }

    fn hessian(&mut self, times: u64) -> anyhow::Result<Vec<f64>> {
        let variable = |at: &usize| Variable { cell: Cell::Word(*at), ty: Ty::F };
        let Some(loss) = self.prepared.results.first().map(variable) else { bail!("there is no result") };
        let inputs: Vec<Variable> = self.prepared.inputs.iter().map(variable).collect();
        let mut rows = Vec::with_capacity(inputs.len() * inputs.len());
        for _ in 0..times {
            rows.clear();
            let (mut left, seed) = (&inputs[..], 1f64.to_bits());
            while let Some((of, rest)) = left.split_first() {
                if let Some(several) = gradient::hessian_rows(&mut self.machine, (loss, seed), left, &inputs) {
                    left = &left[several.len()..];
                    rows.extend(several.into_iter().flatten());
                    continue;
                }
                gradient::hessian_row(&mut self.machine, loss, seed, *of, &mut to_end)?;
                rows.extend(self.words(MIXED, &self.prepared.inputs));
                left = rest;
            }
        }
        Ok(rows)
    }

    fn results(&self) -> Vec<f64> {
        self.words(0, &self.prepared.results)
    }

    fn inputs(&self) -> Vec<f64> {
        self.words(0, &self.prepared.inputs)
    }

    fn gradients(&self) -> Vec<f64> {
        self.words(GRADIENT, &self.prepared.inputs)
    }

    fn digest(&self) -> u128 {
        self.machine.digest()
    }

    fn executed(&self) -> Option<u64> {
        // Whole runs in C do not count instructions.
        (!self.machine.allows_whole()).then(|| self.machine.executed())
    }
}
