//! The uncomputing level: the number of instructions that a reversible program executes for each instruction of an
//! irreversible one, as a logarithm to base 2 (Liu and Zhao 2020, section 6.1, where it is the log-ratio of the
//! operations of a reversible program and of its irreversible counterpart).
//!
//! Every executed instruction has a [`Role`], which depends on its place (in a span that undoes a routine, between a
//! routine and its undoing, in a backward run of a procedure) or on its kind. There are two measures. *Paired*: the
//! counterpart is the program without undoing, without second halves of jumps, without checks and bookkeeping of
//! ancillas. *Attributed*: copies of results are overhead, too, since an irreversible program would compute a result in
//! its final place.
//!
//! A backward run that the host requests (for gradients, or to restore the start) is not uncomputing.

use std::collections::BTreeMap;

use pendula_isa::GateClass;
use pendula_isa::counts::{Block, Counts, Direction};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, Span};
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::{Flow, TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::types::{Acc, Reg};

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
    /// It runs at a gradient level.
    Gradient,
    /// It exchanges words with the host.
    Host,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 7] =
        [Role::Compute, Role::Copy, Role::Uncompute, Role::Check, Role::Save, Role::Gradient, Role::Host];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Compute => "compute",
            Role::Copy => "copy",
            Role::Uncompute => "uncompute",
            Role::Check => "check",
            Role::Save => "save",
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

/// The levels of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Of everything.
    pub all: Roles,
    /// For each function that ran, the one with the most executions first.
    pub functions: Vec<(String, Roles)>,
    /// The basic block with the most executed instructions, and its function.
    pub hottest: Option<(Block, String, Roles)>,
}

impl Levels {
    /// From the counts of a run forward.
    pub fn new(module: &Module, counts: &Counts) -> Levels {
        let roles = roles(module);
        let mut of: Vec<Roles> = vec![Roles::default(); module.code.len()];
        for mode in &counts.modes {
            for (at, n) in counts.per_instruction(mode, module.code.len()).into_iter().enumerate() {
                let role = if mode.mode.level > 0 || mode.mode.tangents {
                    Role::Gradient
                } else if mode.mode.direction == Direction::Backward {
                    // A procedure run backward by one that runs forward.
                    Role::Uncompute
                } else {
                    roles[at]
                };
                of[at].add(role, n);
            }
        }
        let sum = |range: &mut dyn Iterator<Item = usize>| {
            let mut out = Roles::default();
            for at in range {
                for role in Role::ALL {
                    out.add(role, of[at].get(role));
                }
            }
            out
        };
        let names = functions(module);
        let mut by: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            by.entry(name).or_default().push(at);
        }
        let mut functions: Vec<(String, Roles)> =
            by.into_iter().map(|(name, at)| (name.to_string(), sum(&mut at.into_iter()))).collect();
        functions.retain(|(_, roles)| roles.0.iter().any(|n| *n > 0));
        functions.sort_by_key(|(_, roles)| std::cmp::Reverse(roles.0.iter().sum::<u64>()));
        let range = |b: &Block| b.start as usize..(b.end as usize).min(of.len());
        let hottest = counts
            .blocks
            .iter()
            .map(|b| (*b, sum(&mut range(b))))
            .max_by_key(|(b, roles)| (roles.total(), std::cmp::Reverse(b.start)))
            .filter(|(_, roles)| roles.total() > 0)
            .map(|(b, roles)| (b, names[b.start as usize].clone(), roles));
        Levels { all: sum(&mut (0..of.len())), functions, hottest }
    }
}

/// The code between a routine and its undoing, and the registers that the routine writes.
struct UseInterval {
    start: u32,
    end: u32,
    written: [bool; Reg::COUNT],
    memory: bool,
}

fn use_intervals(module: &Module) -> Vec<UseInterval> {
    let mut out = Vec::new();
    let mut open: Vec<&Span> = Vec::new();
    let mut spans: Vec<&Span> = module.spans.iter().collect();
    spans.sort_by_key(|s| (s.start, std::cmp::Reverse(s.end)));
    for span in spans {
        if !span.undo {
            open.push(span);
        } else if let Some(at) = open.iter().rposition(|s| s.name == span.name) {
            let routine = open.remove(at);
            let mut interval =
                UseInterval { start: routine.end, end: span.start, written: [false; Reg::COUNT], memory: false };
            for inst in module.code.get(routine.start as usize..routine.end as usize).unwrap_or_default() {
                for slot in inst.kind.layout() {
                    match slot {
                        Slot::Target(f) => interval.written[inst.regs[f as usize].index()] = true,
                        Slot::TargetMem(_) | Slot::TargetMemPlain(_) => interval.memory = true,
                        _ => {}
                    }
                }
            }
            out.push(interval);
        }
    }
    out
}

/// The role of each instruction in a forward run.
fn roles(module: &Module) -> Vec<Role> {
    let mut out: Vec<Role> = module.code.iter().map(role).collect();
    let code = |start: u32, end: u32| start as usize..(end as usize).min(module.code.len());
    for interval in use_intervals(module) {
        for at in code(interval.start, interval.end).filter(|at| copies(&module.code[*at], &interval)) {
            out[at] = Role::Copy;
        }
    }
    for span in module.spans.iter().filter(|s| s.undo) {
        out[code(span.start, span.end)].fill(Role::Uncompute);
    }
    out
}

/// The role of an instruction by its kind.
fn role(inst: &Inst) -> Role {
    match inst.kind {
        Kind::Accumulate { .. } => Role::Compute,
        Kind::Row { row, inverse, .. } => match row.info().flow {
            // Of each pair, the half that is entered.
            Flow::Jump if inverse => Role::Check,
            Flow::Procedure if !inverse => Role::Check,
            Flow::Run | Flow::Cell => Role::Host,
            Flow::Branch(_) | Flow::Jump | Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => {
                Role::Compute
            }
            Flow::Straight => match row.info().class {
                GateClass::Host => Role::Host,
                GateClass::Check => Role::Check,
                _ if row.info().moves_sp => Role::Save,
                _ => Role::Compute,
            },
        },
    }
}

/// Whether an instruction copies a word that a routine has written, unchanged, to one that it has not written.
fn copies(inst: &Inst, interval: &UseInterval) -> bool {
    let Kind::Accumulate { acc, func, .. } = inst.kind else { return false };
    if !matches!(acc, Acc::Add | Acc::Xor | Acc::Mul) || !is_identity(func) {
        return false;
    }
    let mut operands = inst.operands().map(|(_, operand)| operand);
    let written = |operand: Option<Operand>| match operand {
        Some(Operand::Reg(r)) => interval.written[r.index()],
        Some(Operand::Mem { .. }) => interval.memory,
        _ => false,
    };
    let target = operands.next();
    // A result may go to any address of memory, wherever the routine wrote.
    (matches!(target, Some(Operand::Mem { .. })) || !written(target)) && written(operands.next())
}

fn is_identity(func: TableFn) -> bool {
    match func {
        TableFn::Int(f) => f == int_fn::Name::Id,
        TableFn::Q(f) => f == q_fn::Name::Id,
        TableFn::L(f) => f == l_fn::Name::Id,
        TableFn::F(f) => f == f_fn::Name::Id,
    }
}
