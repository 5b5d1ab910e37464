//! Extensions in the interpreter: their operands are brought into local registers, the steps run there by their own handlers, and the operands
//! are brought back. A step that traps leaves nothing.

use std::collections::HashMap;
use std::sync::Arc;

use pendula_isa::adjoint::{AdMode, LANES, VALUE};
use pendula_isa::extension::temporary_register;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::{Layout, OPERANDS, Slot};
use pendula_isa::types::Reg;
use pendula_isa::{Extension, Fault};

use crate::decode::{Op, operation};
use crate::dispatch::{handler, proceed};
use crate::event::RoundingResidues;
use crate::orders::Place;
use crate::state::Core;

/// One use of an extension, in one direction.
struct Use {
    layout: Layout,
    operands: usize,
    regs: [u8; OPERANDS],
    imm: u64,
    /// The local register of each operand.
    homes: [u8; OPERANDS],
    /// The steps, as a range of [`Extensions::steps`].
    first: u32,
    last: u32,
    /// The end of the local registers that are in use.
    end: usize,
}

/// The uses of extensions in a program, for one AD mode.
#[derive(Default)]
pub(crate) struct Extensions {
    uses: Vec<Use>,
    steps: Vec<Op>,
    known: HashMap<(Inst, bool), usize>,
}

/// A step that could not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedStep {
    /// The extension.
    pub extension: Extension,
    /// Whether the steps are those of its inverse.
    pub back: bool,
    /// The number of the step among all, from 0.
    pub number: usize,
    /// The step, on local registers.
    pub step: Inst,
    /// The words of its operands; `None` for those that are no registers.
    pub words: Vec<Option<u64>>,
}

impl FailedStep {
    /// The temporary, if the step is the check that it is clear at the end of the instruction.
    pub fn temporary(&self) -> Option<Reg> {
        let (info, back) = (self.extension.info(), usize::from(self.back));
        let first = info.steps[back].len() - info.checks().len();
        (self.number >= first).then_some(self.step.regs[0])
    }
}

impl Extensions {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// The operation for an extension, or with `back` for its inverse.
    pub(crate) fn add(&mut self, inst: &Inst, back: bool, ad_mode: AdMode) -> Option<Op> {
        let Kind::Extension { extension, .. } = inst.kind else { return None };
        let at = match self.known.get(&(*inst, back)) {
            Some(at) => *at,
            None => {
                let info = extension.info();
                let first = self.steps.len() as u32;
                let steps = inst.steps(back);
                self.steps.extend(steps.iter().map(|step| operation(step, step.kind, handler(step.kind, ad_mode))));
                self.uses.push(Use {
                    layout: info.layout,
                    operands: info.definition.operands(),
                    regs: inst.regs.map(Reg::number),
                    imm: inst.imm.cast_unsigned(),
                    homes: std::array::from_fn(|n| inst.local_of(&info.layout, n).number()),
                    first,
                    last: self.steps.len() as u32,
                    end: usize::from(temporary_register(info.definition.temporaries.len()).number()),
                });
                self.known.insert((*inst, back), self.uses.len() - 1);
                self.uses.len() - 1
            }
        };
        Some(Op { imm: at as i64, ..operation(inst, inst.kind, Some(run_extension)) })
    }
}

/// Runs an extension.
fn run_extension(core: &mut Core, ops: &[Op]) -> Result<(), Fault> {
    let Some(op) = ops.first() else { return Ok(()) };
    let Some(all) = core.extensions.take() else { return Err(Fault::OffCode) };
    let done = match all.uses.get(op.imm as usize) {
        Some(one) => one.run(core, op, &all.steps),
        None => Err(Fault::OffCode),
    };
    core.extensions = Some(all);
    proceed(core, done, ops)
}

/// What a run has noted so far: it is as if a step that traps had not run.
struct Noted {
    overflow: usize,
    carried: usize,
    inexact: usize,
    rests: RoundingResidues,
    lost: u64,
}

impl Noted {
    fn of(core: &Core, op: &Op) -> Noted {
        let at = core.place(core.note(op)) as usize;
        Noted {
            overflow: core.overflow_op,
            carried: core.carried_op,
            inexact: core.inexact_op,
            rests: core.rests,
            lost: core.lost.get(at).copied().unwrap_or(0),
        }
    }

    fn restore(&self, core: &mut Core, op: &Op) {
        let at = core.place(core.note(op)) as usize;
        (core.overflow_op, core.carried_op, core.inexact_op) = (self.overflow, self.carried, self.inexact);
        core.rests = self.rests;
        if let Some(lost) = core.lost.get_mut(at) {
            *lost = self.lost;
        }
        core.dropped.take_back(std::mem::take(&mut core.drops));
    }
}

impl Use {
    fn run(&self, core: &mut Core, op: &Op, steps: &[Op]) -> Result<(), Fault> {
        let steps = &steps[self.first as usize..self.last as usize];
        let noted = Noted::of(core, op);
        (core.within, core.failed_step) = (core.note(op), None);
        core.drops.clear();
        let done = self.bring(core).and_then(|places| {
            let done = steps.first().map_or(Ok(()), |first| (first.run)(core, steps));
            match done {
                Ok(()) => self.bring_back(core, &places),
                Err(_) => core.failed_step = steps.len().checked_sub(core.pending),
            }
            done
        });
        core.within = 0;
        let (from, end) = (Reg::COUNT, self.end);
        if done.is_err() {
            noted.restore(core, op);
            core.failed_words = core.regs[from..].try_into().unwrap_or_default();
        }
        core.regs[from..end].fill(0);
        for lane in lanes(core) {
            core.lane_mut(lane).regs[from..end].fill(0);
        }
        done
    }

    /// Brings the operands into local registers.
    fn bring(&self, core: &mut Core) -> Result<[Place; OPERANDS], Fault> {
        let mut places = [Place::Nowhere; OPERANDS];
        for (n, place) in places.iter_mut().enumerate().take(self.operands) {
            *place = self.place(core, self.layout[n]);
            let word = match *place {
                Place::Nowhere => self.imm,
                Place::Register(r) => core.reg(r),
                Place::Word(a) => core.load(a)?,
            };
            let home = usize::from(self.homes[n]);
            core.regs[home] = word;
            for lane in lanes(core) {
                let word = match *place {
                    Place::Nowhere => 0,
                    Place::Register(r) => core.lane(lane).regs[usize::from(r)],
                    Place::Word(a) => core.lane_load(lane, a),
                };
                core.lane_mut(lane).regs[home] = word;
            }
        }
        Ok(places)
    }

    /// Brings the operands back, with all that they carry.
    fn bring_back(&self, core: &mut Core, places: &[Place; OPERANDS]) {
        for (n, place) in places.iter().enumerate().take(self.operands) {
            let home = usize::from(self.homes[n]);
            let word = core.regs[home];
            match *place {
                Place::Register(r) if self.layout[n].is_written() => core.regs[usize::from(r)] = word,
                // The word has been read, so it is there.
                Place::Word(a) if self.layout[n].is_written() => _ = core.store(a, word),
                Place::Nowhere | Place::Register(_) | Place::Word(_) => {}
            }
            for lane in lanes(core) {
                let word = core.lane(lane).regs[home];
                match *place {
                    Place::Nowhere | Place::Register(0) => {}
                    Place::Register(r) => core.lane_mut(lane).regs[usize::from(r)] = word,
                    Place::Word(a) => core.lane_store(lane, a, word),
                }
            }
        }
    }

    /// Where an operand is.
    fn place(&self, core: &Core, slot: Slot) -> Place {
        let field = |f: u8| core.reg(self.regs[usize::from(f)]);
        match slot {
            Slot::Reg(f) | Slot::Target(f) => Place::Register(self.regs[usize::from(f)]),
            Slot::Mem(f) | Slot::TargetMem(f) => {
                Place::Word(field(f).wrapping_add(field(f + 1)).wrapping_add(self.imm))
            }
            Slot::MemPlain(f) | Slot::TargetMemPlain(f) => Place::Word(field(f).wrapping_add(field(f + 1))),
            Slot::None | Slot::Imm | Slot::Small | Slot::FactorNum | Slot::FactorDen | Slot::Label | Slot::Text => {
                Place::Nowhere
            }
        }
    }
}

/// The lanes that words carry.
fn lanes(core: &Core) -> impl Iterator<Item = usize> + use<> {
    let more = LANES..LANES + core.more.len();
    core.ad_mode.lanes().iter().copied().filter(|lane| *lane != VALUE).chain(more)
}

/// The step at which an extension stopped, which the core has noted.
pub(crate) fn failed_step(core: &Core, inst: &Inst, back: bool) -> Option<FailedStep> {
    let Kind::Extension { extension, .. } = inst.kind else { return None };
    let number = core.failed_step?;
    let step = *inst.steps(back).get(number)?;
    let word = |slot: Slot| match slot {
        Slot::Reg(f) | Slot::Target(f) => {
            let local = step.regs[usize::from(f)].local_number();
            Some(local.map_or(0, |n| core.failed_words[usize::from(n)]))
        }
        _ => None,
    };
    let words = step.operands().map(|(slot, _)| word(slot)).collect();
    Some(FailedStep { extension, back, number, step, words })
}

/// The uses of extensions, shared by the machines that run a program.
pub(crate) type Shared = Option<Arc<Extensions>>;
