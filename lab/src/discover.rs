//! Proposes extensions: parts of the stretches of instructions that programs run most, which a reversible instruction can do at once.
//!
//! A part is a set of instructions that depend on each other's registers, between which nothing else must stand (a convex part of the dataflow
//! graph), with at most so many registers that change and so many that are read. Registers that are as they were at its end, whatever was in the
//! others, are its temporaries. Equal parts of all programs are one proposal.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pendula_isa::Env;
use pendula_isa::extension::{
    Defines, Definition, Parameter, TEMPORARIES, Temporary, TooMany, is_temporary, may_be_step, operand_register,
    temporary_register,
};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::operand::{OPERANDS, Operand, Slot};
use pendula_isa::types::{Reg, Ty};

use crate::effects::{Effects, effects, in_registers, is_check, stretches};
use crate::matching::{Pattern, Site, arrange, patterns, register_of, sites};

/// What a proposal may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most registers that are only read.
    pub inputs: usize,
    /// The most registers that change.
    pub outputs: usize,
    /// The most instructions.
    pub steps: usize,
}

/// A program that was run.
pub struct Ran<'a> {
    /// The program.
    pub module: &'a Module,
    /// How often each instruction ran.
    pub executions: Vec<u64>,
}

/// A proposal.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The definition; its names are to be given.
    pub definition: Arc<Definition>,
    /// How often its instructions ran together, in all programs.
    pub executions: u64,
    /// Instructions and accesses to registers that it saves, were it used everywhere: an estimate, which orders proposals before they are tried.
    pub promises: u64,
    /// Where it was found first: the index of the program, and the address of its first instruction.
    pub at: (usize, usize),
}

/// How far apart the instructions of a part may be.
const WINDOW: usize = 16;

/// The most parts that begin at one instruction.
const PARTS: usize = 1500;

/// The proposals, the most promising first.
pub fn proposals(programs: &[Ran<'_>], limits: Limits) -> Vec<Proposal> {
    let mut found: HashMap<Definition, Proposal> = HashMap::new();
    for (number, program) in programs.iter().enumerate() {
        let module = program.module;
        let mut breaks: Vec<u32> = module.spans.iter().flat_map(|span| [span.start, span.end]).collect();
        breaks.sort_unstable();
        let all: Vec<Effects> = module.code.iter().map(effects).collect();
        for stretch in stretches(&module.code, &breaks) {
            for at in stretch.clone() {
                let times = program.executions.get(at).copied().unwrap_or(0);
                if times == 0 || !is_usable(&module.code[at]) {
                    continue;
                }
                let end = stretch.end.min(at + WINDOW);
                let mut grow = Grow { code: &module.code, effects: &all, limits, end, parts: 0, out: Vec::new() };
                grow.from(&mut vec![at]);
                for part in grow.out {
                    let Some(definition) = definition(&module.code, &part) else { continue };
                    let saves = saved(&module.code, &part, &definition);
                    let entry = found.entry(definition).or_insert_with_key(|definition| Proposal {
                        definition: Arc::new(definition.clone()),
                        executions: 0,
                        promises: 0,
                        at: (number, at),
                    });
                    entry.executions += times;
                    entry.promises += times.saturating_mul(saves);
                }
            }
        }
    }
    let mut out: Vec<Proposal> = found.into_values().collect();
    out.sort_by_key(|p| (std::cmp::Reverse(p.promises), p.definition.steps.len(), p.at));
    out
}

fn is_usable(inst: &Inst) -> bool {
    let table = matches!(inst.kind, Kind::Accumulate { .. } | Kind::Row { .. });
    table && may_be_step(inst.kind) && in_registers(inst) && !is_check(inst)
}

/// What an instruction saves each time: instructions, and accesses to registers.
fn saved(code: &[Inst], part: &[usize], definition: &Definition) -> u64 {
    let accesses = |inst: &Inst| {
        let slots = inst.kind.layout().into_iter();
        slots.map(|slot| u64::from(slot.fields()) + u64::from(slot.is_written())).sum::<u64>()
    };
    let before: u64 = part.iter().map(|at| accesses(&code[*at])).sum();
    let after: u64 = definition.parameters.iter().map(|p| 1 + u64::from(p.written)).sum();
    4 * (part.len() as u64 - 1) + before.saturating_sub(after)
}

/// Grows parts from their first instruction.
struct Grow<'a> {
    code: &'a [Inst],
    effects: &'a [Effects],
    limits: Limits,
    end: usize,
    parts: usize,
    out: Vec<Vec<usize>>,
}

impl Grow<'_> {
    fn from(&mut self, part: &mut Vec<usize>) {
        self.parts += 1;
        if self.parts > PARTS {
            return;
        }
        if part.len() >= 2 && self.fits(part) && arrange(self.effects, part).is_some() {
            self.out.push(part.clone());
        }
        if part.len() >= self.limits.steps {
            return;
        }
        let last = part.last().copied().unwrap_or(0);
        for at in last + 1..self.end {
            let touches = |other: &usize| shares(&self.code[at], &self.code[*other]);
            if is_usable(&self.code[at]) && part.iter().any(touches) {
                part.push(at);
                self.from(part);
                part.pop();
            }
        }
    }

    /// Whether the part has few enough registers; more instructions may still bring some back to what they were.
    fn fits(&self, part: &[usize]) -> bool {
        let Roles { written, read, .. } = Roles::of(self.code, part);
        written.len() <= self.limits.outputs + TEMPORARIES && read.len() <= self.limits.inputs && !written.is_empty()
    }
}

/// The registers of an instruction, and whether it writes them.
fn registers(inst: &Inst) -> impl Iterator<Item = (Reg, bool)> + '_ {
    let fields = move |slot: Slot| slot.register_fields().map(move |f| (inst.regs[usize::from(f)], slot.is_written()));
    inst.kind.layout().into_iter().flat_map(fields).filter(|(r, _)| *r != Reg::ZERO)
}

/// Whether two instructions name the same register.
fn shares(a: &Inst, b: &Inst) -> bool {
    registers(a).any(|(r, _)| registers(b).any(|(s, _)| r == s))
}

/// The registers of a part in the order in which they occur.
struct Roles {
    written: Vec<Reg>,
    read: Vec<Reg>,
}

impl Roles {
    fn of(code: &[Inst], part: &[usize]) -> Roles {
        let mut all: Vec<(Reg, bool)> = Vec::new();
        for (register, written) in part.iter().flat_map(|at| registers(&code[*at])) {
            match all.iter_mut().find(|(known, _)| *known == register) {
                Some((_, is)) => *is |= written,
                None => all.push((register, written)),
            }
        }
        let of = |wanted: bool| all.iter().filter(move |(_, is)| *is == wanted).map(|(r, _)| *r).collect();
        Roles { written: of(true), read: of(false) }
    }
}

/// The definition that a part gives; `None` if it has too many registers.
fn definition(code: &[Inst], part: &[usize]) -> Option<Definition> {
    let Roles { written, read } = Roles::of(code, part);
    let all = with_roles(code, part, &written, &read, &[])?;
    let kept: Vec<Reg> = (0..written.len()).filter(|n| comes_back(&all, *n)).map(|n| written[n]).collect();
    let outputs: Vec<Reg> = written.iter().copied().filter(|r| !kept.contains(r)).collect();
    if kept.is_empty() { Some(all) } else { with_roles(code, part, &outputs, &read, &kept) }
        .filter(|d| d.parameters.iter().any(|p| p.written))
}

/// Whether a word is the same after the steps as before, whatever the words are.
fn comes_back(definition: &Definition, n: usize) -> bool {
    let words = |seed: u64| -> Vec<u64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let next = |p: &Parameter| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let small = (state >> 40) as i64 % 2000 - 1000;
            match p.ty {
                Ty::F => (small as f64 / 64.0).to_bits(),
                Ty::Int => (small % 64).cast_unsigned(),
                Ty::Q | Ty::L => (small << 24).cast_unsigned(),
            }
        };
        definition.parameters.iter().map(next).collect()
    };
    let mut ran = 0;
    for seed in 1..40 {
        let mut before = words(seed);
        // A temporary is zero, as far as the instruction goes.
        before[n] = 0;
        let Ok(after) = definition.run(Env::default(), &before, false) else { continue };
        if after[n] != 0 {
            return false;
        }
        ran += 1;
    }
    ran > 0
}

fn with_roles(code: &[Inst], part: &[usize], outputs: &[Reg], inputs: &[Reg], kept: &[Reg]) -> Option<Definition> {
    if outputs.len() + inputs.len() > OPERANDS || kept.len() > TEMPORARIES {
        return None;
    }
    let mut steps: Vec<Inst> = part.iter().map(|at| code[*at]).collect();
    let mut types: HashMap<Reg, Ty> = HashMap::new();
    for step in &steps {
        for (n, (slot, operand)) in step.operands().enumerate() {
            if let (Slot::Reg(_) | Slot::Target(_), Operand::Reg(r)) = (slot, operand) {
                let ty = step.kind.constant_type(n);
                let known = types.entry(r).or_insert(ty);
                if *known == Ty::Int {
                    *known = ty;
                }
            }
        }
    }
    let local = |r: Reg| -> Reg {
        let operand = outputs.iter().chain(inputs).position(|o| *o == r).map(operand_register);
        operand.or_else(|| kept.iter().position(|t| *t == r).map(temporary_register)).unwrap_or(r)
    };
    for step in &mut steps {
        let fields: Vec<u8> = step.kind.layout().into_iter().flat_map(|slot| slot.register_fields()).collect();
        for field in fields {
            step.regs[usize::from(field)] = local(step.regs[usize::from(field)]);
        }
    }
    let name = |n: usize, from: &[&str]| from.get(n).map_or_else(|| format!("v{n}"), |name| (*name).to_string());
    let own = outputs.iter().enumerate().map(|(n, r)| (name(n, &["x", "y", "z", "w"]), *r, true));
    let other = inputs.iter().enumerate().map(|(n, r)| (name(n, &["a", "b", "c", "d", "e", "f"]), *r, false));
    let parameters = own
        .chain(other)
        .map(|(name, r, written)| Parameter { name, ty: types.get(&r).copied().unwrap_or(Ty::Int), written })
        .collect();
    let temporaries = kept
        .iter()
        .enumerate()
        .map(|(n, r)| Temporary { name: format!("t{}", n + 1), ty: types.get(r).copied().unwrap_or(Ty::Int) });
    Some(Definition {
        name: String::new(),
        defines: Defines::Instruction { partner: Some(String::new()) },
        docs: Vec::new(),
        parameters,
        temporaries: temporaries.collect(),
        steps,
    })
}

impl Proposal {
    /// The definition under this name, with what is said of it.
    pub fn named(&self, stem: &str, docs: Vec<String>) -> Arc<Definition> {
        let real = self.definition.steps.iter().flat_map(|step| {
            (0..step.operands().count()).map(|n| step.kind.constant_type(n)).find(|ty| *ty != Ty::Int)
        });
        let suffix = real.into_iter().next().unwrap_or(Ty::Int).suffix();
        let defines = Defines::Instruction { partner: Some(format!("un{stem}{suffix}")) };
        Arc::new(Definition { name: format!("{stem}{suffix}"), defines, docs, ..(*self.definition).clone() })
    }

    /// Whether it keeps within the limits.
    pub fn is_within(&self, limits: Limits) -> bool {
        let count = |written| self.definition.parameters.iter().filter(|p| p.written == written).count();
        count(true) <= limits.outputs && count(false) <= limits.inputs
    }
}

/// Whether one of these definitions does what another does: the same steps up to the names of operands, their order, and the direction.
///
/// # Errors
/// The process has had too many extensions.
pub fn does_what_one_of(known: &[Arc<Definition>], other: &Definition) -> Result<bool, TooMany> {
    let shape = |one: &Definition| (one.operands(), one.temporaries.len());
    for definition in known.iter().filter(|one| shape(one) == shape(other)) {
        for (_, kind) in definition.kinds()? {
            let same: Vec<Pattern> = patterns(kind).into_iter().filter(|p| p.len() == other.steps.len()).collect();
            let equal = |site: &Site| {
                let operands: HashSet<Reg> = site.inst.operands().filter_map(|(_, o)| register_of(o)).collect();
                site.matched.len() == other.steps.len()
                    && site.temporaries.iter().copied().all(is_temporary)
                    && operands.len() == other.operands()
            };
            if sites(&same, &other.steps, 0..other.steps.len(), &|_| true).iter().any(equal) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
