//! The uncomputing level: the number of instructions that a reversible program executes for each instruction of its irreversible
//! counterpart, as a logarithm to base 2 (Liu and Zhao 2020, section 6.1, definition 1; to base 2 in the earlier draft).
//!
//! The counterpart is the same program where a word need be neither cleared nor restored nor checked. So every executed instruction has a
//! [`Role`], and the counterpart executes those that compute, copy, or speak to the host. The role depends on an instruction's
//!
//! - kind: it checks, or saves a word on the stack;
//! - place: in a span that undoes a routine, between a routine and its undoing, in a backward run of a procedure, or in a stretch of code
//!   that is the inverse of an earlier one, though no mark says so;
//! - effects in the run, as far as that was followed ([`Observed`]): an instruction that leaves zero in a word where nothing reads that zero
//!   has cleared the word; a swap with a register that is clear moves a word.
//!
//! A routine whose results are only used to uncompute serves uncomputing, too.
//!
//! There are two measures. *Paired* is the definition's. *Attributed*: copies of results are overhead, too, since an irreversible program
//! would compute a result in its final place.
//!
//! A backward run that the host requests (for gradients, or to restore the start) is not uncomputing.

mod inverse;
mod roles;

use std::collections::BTreeMap;
use std::ops::Range;

use pendula_isa::counts::{Block, Counts, Direction};
use pendula_isa::module::{Module, Span};

use crate::breakeven::{SpanEffects, Undoing, undoings};
use crate::price::functions;

/// The purpose of an executed instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It computes something that an irreversible program would compute, too.
    Compute,
    /// It copies a result out of a routine that will be undone.
    Copy,
    /// It undoes another instruction.
    Uncompute,
    /// It checks where a jump or call came from, or that a condition holds.
    Check,
    /// It saves or restores a word on the stack.
    Save,
    /// It moves a word into a register that was clear.
    Move,
    /// It runs at a gradient level.
    Gradient,
    /// It exchanges words with the host.
    Host,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 8] =
        [Role::Compute, Role::Copy, Role::Uncompute, Role::Check, Role::Save, Role::Move, Role::Gradient, Role::Host];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Compute => "compute",
            Role::Copy => "copy",
            Role::Uncompute => "uncompute",
            Role::Check => "check",
            Role::Save => "save",
            Role::Move => "move",
            Role::Gradient => "gradient",
            Role::Host => "host",
        }
    }
}

/// Executed instructions by role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles([u64; Role::ALL.len()]);

impl Roles {
    /// Executions in a role.
    pub fn get(&self, role: Role) -> u64 {
        self.0[role as usize]
    }

    fn add(&mut self, role: Role, n: u64) {
        self.0[role as usize] += n;
    }

    /// All executions except those at a gradient level.
    pub fn total(&self) -> u64 {
        self.0.iter().sum::<u64>() - self.get(Role::Gradient)
    }

    /// Executions of every kind, with those at a gradient level.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Executions of the irreversible counterpart.
    pub fn counterpart(&self) -> u64 {
        self.essential() + self.get(Role::Copy)
    }

    /// Executions that compute, or exchange words with the host.
    pub fn essential(&self) -> u64 {
        self.get(Role::Compute) + self.get(Role::Host)
    }

    /// log2(total / counterpart); `None` if the counterpart executes nothing.
    pub fn paired(&self) -> Option<f64> {
        level(self.total(), self.counterpart())
    }

    /// log2(total / essential); `None` if nothing is essential.
    pub fn attributed(&self) -> Option<f64> {
        level(self.total(), self.essential())
    }
}

fn level(total: u64, rest: u64) -> Option<f64> {
    (rest > 0).then(|| (total as f64 / rest as f64).log2())
}

/// What the executions of an instruction have shown, in a run forward that was followed, at no gradient level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The executions.
    pub times: u64,
    /// Those before which its target was not zero.
    pub filled: u64,
    /// Those that left zero in its only target, or what the next instruction to look at it found to be zero, where nothing read that zero
    /// before the word was written anew or the run ended.
    pub cleared: u64,
    /// Those of which it is known whether they undid an earlier instruction.
    pub traced: u64,
    /// Those that did.
    pub undid: u64,
    /// Those that exchanged a register with one that was zero.
    pub moved: u64,
}

/// What was seen when a program was followed, instruction by instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Of each span of the module.
    pub spans: Vec<SpanEffects>,
    /// Of each instruction.
    pub instructions: Vec<Observed>,
}

/// A program, and the places where uncomputing may have been written by hand. It has to be followed to know.
#[derive(Clone, Debug)]
pub struct Candidates {
    module: Module,
    marked: usize,
}

impl Candidates {
    /// Looks for code that is the inverse of earlier code.
    pub fn new(module: &Module) -> Candidates {
        let (module, marked) = inverse::with_candidates(module);
        Candidates { module, marked }
    }

    /// The module, with a pair of spans for each such place, after its own spans.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The module with those of the pairs that did undo, each time, what they are the inverse of; and the effects of its spans.
    fn confirmed(&self, followed: &Followed) -> (Module, Vec<SpanEffects>) {
        let seen = |at: u32| followed.instructions.get(at as usize).copied().unwrap_or_default();
        let undoes = |span: &Span| {
            let all = || (span.start..span.end).map(seen);
            all().any(|o| o.undid > 0) && all().all(|o| o.undid == o.traced)
        };
        let (own, found) = self.module.spans.split_at(self.marked);
        let mut spans = own.to_vec();
        let effects = |n: usize| followed.spans.get(n).copied().unwrap_or_default();
        let mut left: Vec<SpanEffects> = (0..self.marked).map(effects).collect();
        for (n, pair) in found.chunks_exact(2).enumerate().filter(|(_, pair)| undoes(&pair[1])) {
            let name = format!("by hand {}", (spans.len() - self.marked) / 2 + 1);
            spans.extend(pair.iter().map(|span| Span { name: name.clone(), ..span.clone() }));
            left.extend([0, 1].map(|i| effects(self.marked + 2 * n + i)));
        }
        (Module { spans, ..self.module.clone() }, left)
    }
}

/// A function, and how it ran.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionLevel {
    /// Its name.
    pub name: String,
    /// How often it was entered, in either direction.
    pub entries: u64,
    /// Its executed instructions, without those of functions that it calls.
    pub roles: Roles,
}

/// A routine that is undone, and how it ran.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanLevel {
    /// The routine's code.
    pub routine: Range<u32>,
    /// The code that undoes it.
    pub undo: Range<u32>,
    /// Whether no mark says so.
    pub by_hand: bool,
    /// The executed instructions of the routine, of what uses its results, and of its undoing; without those of functions that they call.
    pub roles: Roles,
    /// What undoing it takes, and what erasing instead would.
    pub undoing: Undoing,
}

/// The levels of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Of everything.
    pub all: Roles,
    /// For each function that ran, the one with the most executions first.
    pub functions: Vec<FunctionLevel>,
    /// For each routine that was undone, in the order of the code that undoes it.
    pub spans: Vec<SpanLevel>,
    /// The basic block with the most executed instructions, and its function.
    pub hottest: Option<(Block, String, Roles)>,
}

impl Levels {
    /// From the counts of a run forward, and from what was seen when it was followed.
    pub fn new(candidates: &Candidates, counts: &Counts, followed: &Followed) -> Levels {
        let (module, left) = candidates.confirmed(followed);
        let length = module.code.len();
        let by_mode: Vec<_> = counts.modes.iter().map(|m| (m.mode, counts.per_instruction(m, length))).collect();
        let mut forward = vec![0u64; length];
        let plain = by_mode.iter().filter(|(mode, _)| is_plain(*mode) && mode.direction == Direction::Forward);
        plain.for_each(|(_, times)| forward.iter_mut().zip(times).for_each(|(sum, n)| *sum += n));
        let roles = roles::roles(&module, candidates.marked, &forward, &followed.instructions);
        let mut of: Vec<Roles> = vec![Roles::default(); length];
        let mut executed = vec![0u64; length];
        for (mode, times) in &by_mode {
            for (at, n) in times.iter().enumerate() {
                let role = if !is_plain(*mode) {
                    Role::Gradient
                } else if mode.direction == Direction::Backward {
                    // A procedure run backward by one that runs forward.
                    Role::Uncompute
                } else {
                    roles[at]
                };
                of[at].add(role, *n);
                executed[at] += n;
            }
        }
        let sum = |range: &mut dyn Iterator<Item = usize>| {
            let mut out = Roles::default();
            for at in range.filter(|at| *at < length) {
                for role in Role::ALL {
                    out.add(role, of[at].get(role));
                }
            }
            out
        };
        let names = functions(&module);
        let mut by: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            by.entry(name).or_default().push(at);
        }
        let function = |(name, places): (&str, Vec<usize>)| FunctionLevel {
            name: name.to_string(),
            // Compiled code may have several variants of a function.
            entries: places.iter().filter(|at| roles::begins(&module.code[**at])).map(|at| executed[*at]).sum(),
            roles: sum(&mut places.into_iter()),
        };
        let mut functions: Vec<FunctionLevel> = by.into_iter().map(function).collect();
        functions.retain(|f| f.roles.all() > 0);
        functions.sort_by_key(|f| std::cmp::Reverse(f.roles.all()));
        let spans = undoings(&module, counts, &left).into_iter().filter_map(|undoing| {
            let span = |start: u32, undo: bool| {
                module.spans.iter().position(|s| s.start == start && s.undo == undo && s.name == undoing.name)
            };
            let (routine, undo) = (span(undoing.routine, false)?, span(undoing.undoing, true)?);
            let code = |n: usize| module.spans[n].start..module.spans[n].end;
            let whole = code(routine).start as usize..code(undo).end as usize;
            let by_hand = undo >= candidates.marked;
            Some(SpanLevel {
                routine: code(routine),
                undo: code(undo),
                by_hand,
                roles: sum(&mut whole.clone()),
                undoing,
            })
        });
        let mut spans: Vec<SpanLevel> = spans.collect();
        spans.sort_by_key(|s| s.undo.start);
        let range = |b: &Block| b.start as usize..b.end as usize;
        let hottest = counts
            .blocks
            .iter()
            .map(|b| (*b, sum(&mut range(b))))
            .max_by_key(|(b, roles)| (roles.total(), std::cmp::Reverse(b.start)))
            .filter(|(_, roles)| roles.total() > 0)
            .map(|(b, roles)| (b, names[b.start as usize].clone(), roles));
        Levels { all: sum(&mut (0..length)), functions, spans, hottest }
    }
}

/// Whether words carry neither gradients nor tangents.
fn is_plain(mode: pendula_isa::counts::Mode) -> bool {
    mode.level == 0 && !mode.tangents
}
