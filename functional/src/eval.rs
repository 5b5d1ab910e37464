//! The evaluator: a machine with its own stack of frames, so that programs may recurse as deep as the memory allows.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pendula_isa::diagnostic::Place;
use rustc_hash::FxHashMap;

use crate::core::{GroupId, Program, Store, Transform, Var};
use crate::errors::{Failure, INTERRUPTED, LEVEL, MEMORY, NOT_A_FUNCTION, STEPS, TANGENT};
use crate::value::{self, Array, Env, Value, View, Word};

mod arrays;
mod code;
mod compile;
mod counts;
mod integers;
mod ladder;
mod loops;
mod numbers;
mod operate;
mod step;

pub use counts::Counts;

use code::Code;
use compile::compile;

/// Limits of an evaluation.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The memory in bytes for values, frames and slots.
    pub memory: u64,
    /// The number of instructions.
    pub steps: u64,
    /// Set from outside to stop.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// The numbers that `read-real` reads.
    pub input: Vec<f64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { memory: 4 << 30, steps: u64::MAX, interrupt: None, input: Vec::new() }
    }
}

/// The result of one expression at the top of a program.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its value, or why there is none.
    pub value: Result<Value, Failure>,
    /// Where it is written.
    pub place: Option<Place>,
    /// What it wrote.
    pub output: String,
}

/// The results of a program.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One for each expression, in order.
    pub values: Vec<Shown>,
    /// What was computed in all.
    pub counts: Counts,
}

/// Evaluates a program.
///
/// # Errors
/// If a definition fails. An expression that fails is recorded in the outcome, and the next one is evaluated.
pub fn run(program: &Program, limits: Limits) -> Result<Outcome, Failure> {
    Machine::new(program.store.clone(), limits).run(program)
}

/// A frame waits for the result of a call.
#[derive(Debug)]
struct Frame {
    code: Rc<Code>,
    env: Rc<Env>,
    /// The views through which the environment is seen.
    word: Word,
    /// The next instruction.
    next: u32,
    /// The first slot.
    base: u32,
    /// The slot for the result of the call that the frame waits for.
    dst: u32,
}

/// What waits below a call.
#[derive(Debug)]
enum Waiting {
    /// A function.
    Call(Frame),
    /// An operator on arrays that calls a function for each element.
    Loop(Box<Loop>),
}

/// An operator that calls a function for each element of an array.
#[derive(Debug)]
struct Loop {
    kind: LoopKind,
    function: Value,
    word: Word,
    array: Rc<Array>,
    next: usize,
    results: Vec<Value>,
    /// The state of a scan.
    state: Option<Value>,
    /// The function's code with its environment, once it was called.
    known: Option<(Rc<Code>, Rc<Env>, Word)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopKind {
    Map,
    Scan,
    ScanBack,
}

/// Evaluates code of one store.
#[derive(Debug)]
pub struct Machine {
    store: Store,
    codes: Vec<Vec<Option<Rc<Code>>>>,
    views: FxHashMap<(GroupId, Word), GroupId>,
    globals: FxHashMap<Var, Value>,
    stack: Vec<Value>,
    waiting: Vec<Waiting>,
    counts: Counts,
    limits: Limits,
    input: VecDeque<f64>,
    output: String,
    made: u64,
    item_codes: Vec<Rc<Code>>,
    /// The place of the last tail call of code without places, whose caller no longer waits.
    tail_call: Option<Place>,
    /// What a stage of the ladder keeps while it is at work.
    pub(crate) ladder: Option<crate::ad::ladder::State>,
}

/// How many instructions lie between two looks at the limits.
const PERIOD: u64 = 1024;

impl Machine {
    /// A machine for code of a store.
    pub fn new(store: Store, limits: Limits) -> Machine {
        Machine {
            store,
            codes: Vec::new(),
            views: FxHashMap::default(),
            globals: FxHashMap::default(),
            stack: Vec::new(),
            waiting: Vec::new(),
            counts: Counts::default(),
            input: limits.input.iter().copied().collect(),
            limits,
            output: String::new(),
            made: value::made(),
            item_codes: Vec::new(),
            tail_call: None,
            ladder: None,
        }
    }

    /// The store, with the transforms that were made.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The store, to change it. Compiled code stays as it is: add groups, but do not change them.
    pub fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// What was computed so far.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counts.clone();
        counts.nodes = value::made().wrapping_sub(self.made);
        for code in self.codes.iter().flatten().flatten() {
            if code.calls.get() > 0 {
                *counts.calls.entry(code.name.clone()).or_insert(0) += code.calls.get();
            }
        }
        counts
    }

    /// Numbers that `read-real` reads next.
    pub fn feed(&mut self, numbers: impl IntoIterator<Item = f64>) {
        self.input.extend(numbers);
    }

    /// Numbers that `read-real` reads next, instead of what is left.
    pub fn feed_only(&mut self, numbers: impl IntoIterator<Item = f64>) {
        self.input = numbers.into_iter().collect();
    }

    /// What was written since the last call of this.
    pub fn output(&mut self) -> String {
        std::mem::take(&mut self.output)
    }

    /// The value of a definition.
    pub fn global(&self, var: Var) -> Option<&Value> {
        self.globals.get(&var)
    }

    /// Gives a global variable a value.
    pub fn define(&mut self, var: Var, value: Value) {
        self.globals.insert(var, value);
    }

    /// Evaluates all items of a program whose store the machine has.
    ///
    /// # Errors
    /// If a definition fails.
    pub fn run(&mut self, program: &Program) -> Result<Outcome, Failure> {
        let mut values = Vec::new();
        for item in &program.items {
            let value = self.item(item);
            let output = self.output();
            if let Some(var) = item.defines {
                self.globals.insert(var, value.clone().map_err(|f| f.at(item.place.as_ref()))?);
            }
            if item.shown {
                let value = value.map_err(|f| f.at(item.place.as_ref()));
                values.push(Shown { value, place: item.place.clone(), output });
            }
        }
        Ok(Outcome { values, counts: self.counts() })
    }

    /// Evaluates one item.
    ///
    /// # Errors
    /// If it fails.
    pub fn item(&mut self, item: &crate::core::Item) -> Result<Value, Failure> {
        if let Some(broken) = &item.broken {
            return Err(broken.clone());
        }
        let free = self.store.free_vars(&item.body);
        let mut values = Vec::with_capacity(free.len());
        for var in &free {
            match self.globals.get(var) {
                Some(value) => values.push(value.clone()),
                None => {
                    let info = self.store.info(*var);
                    let message = format!("`{}` has no value yet", info.name);
                    return Err(Failure::new(crate::errors::UNBOUND, message).at(item.place.as_ref()));
                }
            }
        }
        let name = item.name.clone().unwrap_or_else(|| "top".into());
        let code = Rc::new(compile(&self.store, name, None, &item.body, &free)?);
        self.item_codes.push(Rc::clone(&code));
        let env = Env::new(GroupId(u32::MAX), values.into_boxed_slice());
        let frame = self.frame(code, env, Word::NONE, Value::UNIT);
        self.finish(frame)
    }

    /// Applies a function.
    ///
    /// # Errors
    /// If the evaluation fails.
    pub fn apply(&mut self, function: Value, argument: Value) -> Result<Value, Failure> {
        let frame = self.enter(function, argument)?;
        self.finish(frame)
    }

    fn finish(&mut self, frame: Frame) -> Result<Value, Failure> {
        let (below, base) = (self.waiting.len(), frame.base as usize);
        let result = self.execute(frame, below);
        if result.is_err() {
            self.waiting.truncate(below);
        }
        self.stack.truncate(base);
        result
    }

    /// A frame above all others.
    fn frame(&mut self, code: Rc<Code>, env: Rc<Env>, word: Word, argument: Value) -> Frame {
        let base = self.stack.len();
        self.stack.resize(base + code.slots as usize, Value::UNIT);
        self.stack[base] = argument;
        Frame { code, env, word, next: 0, base: base as u32, dst: 0 }
    }

    /// The frame for the application of a function.
    fn enter(&mut self, function: Value, argument: Value) -> Result<Frame, Failure> {
        match function {
            Value::Closure(member, word, env) => {
                let group = self.resolve(env.group, word)?;
                let code = self.code(group, member)?;
                code.calls.set(code.calls.get() + 1);
                Ok(self.frame(code, env, word, argument))
            }
            Value::Bundle(..) => {
                let closure = self.closure(function)?;
                self.enter(closure, argument)
            }
            other => {
                Err(Failure::new(NOT_A_FUNCTION, format!("{} is applied as a function", other.kind())).with(&other))
            }
        }
    }

    /// A bundle of functions as a function of the forward transform.
    fn closure(&mut self, bundle: Value) -> Result<Value, Failure> {
        let Value::Bundle(word, parts) = &bundle else { return Ok(bundle) };
        let primal = match &parts.0 {
            Value::Bundle(..) => self.closure(parts.0.clone())?,
            other => other.clone(),
        };
        let Value::Closure(member, w, env) = &primal else {
            let message = format!("{} is applied as a function", parts.0.kind());
            return Err(Failure::new(NOT_A_FUNCTION, message).with(&bundle));
        };
        let tangent = &parts.1;
        let group = self.resolve(env.group, *w)?;
        let group = self.transformed(group, Transform::Forward)?;
        let mut values = Vec::with_capacity(env.values.len());
        for (n, p) in env.values.iter().enumerate() {
            let Some(t) = tangent.captured(n, env.values.len())? else {
                return Err(Failure::new(TANGENT, "the tangent of a function is of another function").with(tangent));
            };
            values.push(Value::bundle(p.clone().through(*w)?, t)?);
        }
        Value::Closure(*member, Word::NONE, Env::new(group, values.into_boxed_slice())).through(*word)
    }

    /// The group whose code runs for functions of a group that are seen through some views.
    fn resolve(&mut self, group: GroupId, word: Word) -> Result<GroupId, Failure> {
        if word.is_none() {
            return Ok(group);
        }
        if let Some(known) = self.views.get(&(group, word)) {
            return Ok(*known);
        }
        let mut now = group;
        for view in word.views() {
            let back = |store: &Store, wanted: Transform| match store.get(now).origin {
                Some((how, origin)) if how == wanted => Ok(origin),
                _ => Err(Failure::new(LEVEL, format!("`{}` of a function that has no such layer", view.name()))),
            };
            now = match view {
                View::Reverse => self.transformed(now, Transform::Reverse)?,
                View::Forward | View::Close => self.transformed(now, Transform::Forward)?,
                View::Unreverse => back(&self.store, Transform::Reverse)?,
                View::Primal | View::Open => back(&self.store, Transform::Forward)?,
                View::Zero => now,
                View::Tangent | View::Sense | View::Unsense | View::Perturb | View::Unperturb => {
                    let message = format!("the {} of a function is applied", view.name());
                    return Err(Failure::new(NOT_A_FUNCTION, message).help("apply the function itself"));
                }
            };
        }
        self.views.insert((group, word), now);
        Ok(now)
    }

    fn transformed(&mut self, group: GroupId, how: Transform) -> Result<GroupId, Failure> {
        crate::ad::transform(&mut self.store, group, how)
    }

    fn code(&mut self, group: GroupId, member: u16) -> Result<Rc<Code>, Failure> {
        let (g, m) = (group.0 as usize, member as usize);
        if let Some(Some(code)) = self.codes.get(g).and_then(|codes| codes.get(m)) {
            return Ok(Rc::clone(code));
        }
        crate::ad::complete(&mut self.store, group)?;
        let source = Rc::clone(self.store.get(group));
        let Some(function) = source.members.get(m) else {
            return Err(Failure::new(NOT_A_FUNCTION, "internal error: a group has no such member"));
        };
        let code = compile(&self.store, function.name.clone(), Some(function.param), &function.body, &source.free)?;
        let code = Rc::new(code);
        if self.codes.len() <= g {
            self.codes.resize_with(self.store.len().max(g + 1), Vec::new);
        }
        let codes = &mut self.codes[g];
        if codes.len() <= m {
            codes.resize(source.members.len(), None);
        }
        codes[m] = Some(Rc::clone(&code));
        Ok(code)
    }

    /// Looks at the limits.
    fn check(&mut self) -> Result<(), Failure> {
        if self.counts.steps > self.limits.steps {
            return Err(Failure::new(STEPS, format!("more than {} steps", self.limits.steps)));
        }
        if self.limits.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Failure::new(INTERRUPTED, "interrupted"));
        }
        self.room(0)
    }

    /// Whether there is memory for so many bytes more.
    fn room(&self, bytes: u64) -> Result<(), Failure> {
        let frames = self.waiting.len() * size_of::<Waiting>() + self.stack.len() * size_of::<Value>();
        let all = value::held().saturating_add(frames as u64).saturating_add(bytes);
        if all > self.limits.memory {
            let message = format!("more than {} bytes of memory", self.limits.memory);
            let depth = format!("{} calls wait", self.waiting.len());
            let help = "give it more memory, or keep less: a recursion that waits for results holds all of them";
            let mut failure = Failure::new(MEMORY, message).help(help);
            failure.values.push(depth);
            return Err(failure);
        }
        Ok(())
    }
}
