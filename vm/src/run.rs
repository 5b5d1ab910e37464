//! The interpreter's loop over whole blocks: runs a block and takes its exit. Single steps are in `step`, traps in `trap`.

use pendula_isa::Fault;
use pendula_isa::adjoint::{AdMode, GRADIENT, SECOND};
use pendula_isa::types::Reg;

use crate::branch::{take_branch, take_paired_branch};
use crate::decode::{Branch, Callee, Code, Decoded, Edge, Exit, Op};
use crate::dispatch::CHAIN;
use crate::program::Program;
use crate::state::Core;

/// Why the interpreter's loop returned.
pub(crate) enum Stop {
    Halted(u32),
    Budget(u32),
    /// About to enter a block in another AD mode.
    Switch(u32),
    /// A fault after `k` instructions of the block; `other` is another instruction involved.
    Fault {
        block: u32,
        k: u32,
        fault: Fault,
        other: Option<u32>,
    },
    /// A fault where control would fall from block `from`, which has run, into block `to`.
    Refused {
        from: u32,
        to: u32,
        fault: Fault,
    },
}

/// A fault at the exit of a block.
pub(crate) enum ExitFault {
    /// At the block's last instruction, which has not run.
    Tail(Fault, Option<u32>),
    /// Where control would fall into block `to`; block `from` has run.
    Head { from: u32, to: u32, fault: Fault },
}

/// Runs whole blocks as long as the budget covers the next one. `blocks` are those of the program, some of which may be too long for any budget.
#[inline(never)]
pub(crate) fn run_blocks<const COUNT: bool>(
    core: &mut Core,
    program: &Program,
    blocks: &[Code],
    counts: &mut [u64],
    mut block: u32,
    budget: &mut u64,
) -> Stop {
    let d = &program.decoded;
    let ad_mode = core.ad_mode;
    let all = program.ops(ad_mode);
    // A local copy, so that it stays in a register of the host.
    let mut left = *budget;
    let stop = loop {
        let code = &blocks[block as usize];
        let Some(rest) = left.checked_sub(u64::from(code.len)) else { break Stop::Budget(block) };
        let ops = &all[code.first as usize..code.last as usize];
        if let Some(first) = ops.first() {
            let done = if ops.len() <= CHAIN { (first.run)(core, ops) } else { run_in_chains(core, ops) };
            if let Err(fault) = done {
                break Stop::Fault { block, k: (ops.len() - core.pending) as u32 + code.head, fault, other: None };
            }
        }
        // Branches are the common case. The fault of a branch that leads nowhere is determined afterwards.
        let next = match &code.exit {
            Exit::Branch(branch) => branch_target(core, branch),
            Exit::Fall(next) => Some(*next),
            Exit::PisaBranch(h) => match take_paired_branch(core, h) {
                Some(next) => Some(next),
                None => match take_branch(core, d, h) {
                    Ok(next) => Some(next),
                    Err(fault) => break stop_at_exit::<COUNT>(counts, code, block, &mut left, fault),
                },
            },
            exit @ (Exit::Call { .. } | Exit::CallRegister { .. } | Exit::Return { .. }) => {
                match transfer(core, program, exit) {
                    Ok(next) if core.ad_mode != ad_mode => {
                        left = rest;
                        counts[block as usize] += u64::from(COUNT);
                        break Stop::Switch(next);
                    }
                    Ok(next) => Some(next),
                    Err(fault) => break stop_at_exit::<COUNT>(counts, code, block, &mut left, fault),
                }
            }
            Exit::Halt => {
                left = rest;
                counts[block as usize] += u64::from(COUNT);
                break Stop::Halted(block);
            }
            Exit::End => break Stop::Halted(block),
            Exit::Stop(_) | Exit::OffCode => None,
        };
        let Some(next) = next else {
            let fault = match &code.exit {
                Exit::Branch(branch) => branch_fault(core, d, block, branch),
                Exit::Stop(fault) => ExitFault::Tail(*fault, None),
                Exit::OffCode => ExitFault::Head { from: block, to: block, fault: Fault::OffCode },
                Exit::Fall(_)
                | Exit::Call { .. }
                | Exit::CallRegister { .. }
                | Exit::Return { .. }
                | Exit::Halt
                | Exit::PisaBranch(_)
                | Exit::End => ExitFault::Tail(Fault::OffCode, None),
            };
            break stop_at_exit::<COUNT>(counts, code, block, &mut left, fault);
        };
        left = rest;
        if COUNT {
            counts[block as usize] += 1;
        }
        block = next;
    };
    *budget = left;
    stop
}

/// How control continues after a single block.
#[cfg(feature = "jit")]
pub(crate) enum After {
    Next(u32),
    Stop(Stop),
}

/// Runs the rest of a block of which `k` instructions have run, the last one not among them; the whole block then counts.
#[cfg(feature = "jit")]
pub(crate) fn finish_block(
    core: &mut Core,
    program: &Program,
    counts: &mut [u64],
    counting: bool,
    (block, k): (u32, u32),
    budget: &mut u64,
) -> After {
    let code = &program.decoded.code[block as usize];
    let ad_mode = core.ad_mode;
    let ops = &program.ops(ad_mode)[code.first as usize..code.last as usize];
    let rest = &ops[(k.saturating_sub(code.head) as usize).min(ops.len())..];
    if let Some(first) = rest.first() {
        let done = if rest.len() <= CHAIN { (first.run)(core, rest) } else { run_in_chains(core, rest) };
        if let Err(fault) = done {
            let k = (ops.len() - core.pending) as u32 + code.head;
            return After::Stop(Stop::Fault { block, k, fault, other: None });
        }
    }
    let done = take_exit(core, program, block, &code.exit);
    let stop = match done {
        Ok(next) => {
            *budget -= u64::from(code.len);
            counts[block as usize] += u64::from(counting);
            match next {
                None => Stop::Halted(block),
                Some(next) if core.ad_mode != ad_mode => Stop::Switch(next),
                Some(next) => return After::Next(next),
            }
        }
        Err(fault) if counting => stop_at_exit::<true>(counts, code, block, budget, fault),
        Err(fault) => stop_at_exit::<false>(counts, code, block, budget, fault),
    };
    After::Stop(stop)
}

/// Accounts for a block whose exit has a fault.
#[cold]
#[inline(never)]
pub(crate) fn stop_at_exit<const COUNT: bool>(
    counts: &mut [u64],
    code: &Code,
    block: u32,
    budget: &mut u64,
    fault: ExitFault,
) -> Stop {
    match fault {
        ExitFault::Tail(fault, other) => Stop::Fault { block, k: code.len - 1, fault, other },
        ExitFault::Head { from, to, fault } => {
            *budget -= u64::from(code.len);
            counts[block as usize] += u64::from(COUNT);
            Stop::Refused { from, to, fault }
        }
    }
}

/// Runs more straight-line instructions than one chain may have.
#[cold]
#[inline(never)]
pub(crate) fn run_in_chains(core: &mut Core, ops: &[Op]) -> Result<(), Fault> {
    for (n, chain) in ops.chunks(CHAIN).enumerate() {
        (chain[0].run)(core, chain).inspect_err(|_| {
            // Instructions pending in this chain and in all later ones.
            core.pending += ops.len() - (n * CHAIN + chain.len());
        })?;
    }
    Ok(())
}

/// The block that a branch leads to; `None` if a check fails or a word is not a number.
#[inline(always)]
pub(crate) fn branch_target(core: &Core, branch: &Branch) -> Option<u32> {
    if branch.test.holds(core).ok()? {
        if branch.confirm.holds(core).ok()? { Some(branch.to) } else { None }
    } else if branch.fall.unless.holds(core).ok()? {
        None
    } else {
        Some(branch.fall.block)
    }
}

/// The fault of a branch that leads nowhere.
#[cold]
#[inline(never)]
pub(crate) fn branch_fault(core: &Core, d: &Decoded, block: u32, branch: &Branch) -> ExitFault {
    let landing = Some(d.address(branch.to, 0));
    match (branch.test.holds(core), branch.confirm.holds(core)) {
        (Err(fault), _) => ExitFault::Tail(fault, None),
        (Ok(true), Err(fault)) => ExitFault::Tail(fault, landing),
        (Ok(true), Ok(_)) => ExitFault::Tail(Fault::WrongLanding, landing),
        (Ok(false), _) => match fall_through(core, block, &branch.fall) {
            Err(fault) => fault,
            Ok(_) => ExitFault::Tail(Fault::OffCode, None),
        },
    }
}

/// Falls from one block into another, unless its half jump forbids that.
pub(crate) fn fall_through(core: &Core, from: u32, edge: &Edge) -> Result<u32, ExitFault> {
    let to = edge.block;
    match edge.unless.holds(core) {
        Ok(false) => Ok(to),
        Ok(true) if core.forward => Err(ExitFault::Head { from, to, fault: Fault::WrongEntry }),
        Ok(true) => Err(ExitFault::Head { from, to, fault: Fault::WrongEntryBack }),
        Err(fault) => Err(ExitFault::Head { from, to, fault }),
    }
}

/// Takes the exit of a block; `None` is the end of the run.
pub(crate) fn take_exit(core: &mut Core, program: &Program, block: u32, exit: &Exit) -> Result<Option<u32>, ExitFault> {
    match exit {
        Exit::Branch(branch) => {
            branch_target(core, branch).map(Some).ok_or_else(|| branch_fault(core, &program.decoded, block, branch))
        }
        Exit::Fall(next) => Ok(Some(*next)),
        Exit::Call { .. } | Exit::CallRegister { .. } | Exit::Return { .. } => transfer(core, program, exit).map(Some),
        Exit::Halt | Exit::End => Ok(None),
        Exit::PisaBranch(h) => {
            take_paired_branch(core, h).map_or_else(|| take_branch(core, &program.decoded, h), Ok).map(Some)
        }
        Exit::Stop(fault) => Err(ExitFault::Tail(*fault, None)),
        Exit::OffCode => Err(ExitFault::Head { from: block, to: block, fault: Fault::OffCode }),
    }
}

/// Performs calls and returns.
#[inline(always)]
pub(crate) fn transfer(core: &mut Core, program: &Program, exit: &Exit) -> Result<u32, ExitFault> {
    let d = &program.decoded;
    match *exit {
        Exit::Call { to, link, flip, lift } => {
            if lift {
                let level = core.ad_mode.level() + 1;
                let ad_mode = AdMode::new(level, core.ad_mode.has_tangents());
                let ad_mode = ad_mode.ok_or(ExitFault::Tail(Fault::GradientLevel, None))?;
                push_link(core, link, flip)?;
                change_level(core, program, ad_mode);
            } else {
                push_link(core, link, flip)?;
            }
            Ok(to)
        }
        Exit::CallRegister { reg, link, flip } => {
            let back = core.forward == flip;
            let entry = d.procedure(program.module(), core.reg(reg), back);
            let to = entry.ok_or(ExitFault::Tail(Fault::NotProcedure, None))?;
            push_link(core, link, flip)?;
            Ok(to)
        }
        Exit::Return { proc } => {
            let sp = core.regs[Reg::SP.index()].wrapping_sub(1);
            let link = core.load(sp).map_err(|f| ExitFault::Tail(f, None))?;
            let site = usize::try_from(link.wrapping_sub(1)).ok().and_then(|at| d.calls.get(at)?.as_ref());
            let site = site.filter(|s| match s.callee {
                Callee::Known(callee) => callee == proc,
                Callee::Register(r) => core.reg(r) == u64::from(proc),
            });
            // At level 0, a link of a `gcall` must have replaced that of another call.
            let site = site.filter(|s| !s.lift || core.ad_mode.level() > 0);
            let site = site.ok_or(ExitFault::Tail(Fault::BadLink, None))?;
            core.store(sp, 0).map_err(|f| ExitFault::Tail(f, None))?;
            core.regs[Reg::SP.index()] = sp;
            core.forward ^= site.flip;
            if site.lift {
                let level = core.ad_mode.level() - 1;
                let ad_mode = AdMode::new(level, core.ad_mode.has_tangents()).unwrap_or(AdMode::Plain);
                change_level(core, program, ad_mode);
            }
            let after = site.after(core);
            if after.unless.is_never() {
                Ok(after.block)
            } else {
                fall_through(core, d.side((link - 1) as usize, core.forward), after)
            }
        }
        Exit::Branch(_)
        | Exit::Fall(_)
        | Exit::Halt
        | Exit::PisaBranch(_)
        | Exit::End
        | Exit::Stop(_)
        | Exit::OffCode => Err(ExitFault::Tail(Fault::OffCode, None)),
    }
}

/// Continues at the gradient level of a `gcall`, or of its return.
///
/// The rules of level 2 differentiate those of level 1: lanes 2 and 3 hold the gradients of the values and of lane 1. In nested
/// `gcall`s, the inner call is the one that is differentiated. At level 1 the program accesses the inner call's gradient words one
/// level above the values, which is lane 2. So the inner call uses lane 1 while it runs, and the outer call's gradients move to lane 2.
#[cold]
#[inline(never)]
pub(crate) fn change_level(core: &mut Core, program: &Program, ad_mode: AdMode) {
    if (core.ad_mode == AdMode::SecondGradient) != (ad_mode == AdMode::SecondGradient) {
        core.lanes.swap(GRADIENT - 1, SECOND - 1);
    }
    set_ad_mode(core, program, ad_mode);
}

/// Continues in another AD mode.
#[cold]
#[inline(never)]
pub(crate) fn set_ad_mode(core: &mut Core, program: &Program, ad_mode: AdMode) {
    core.allocate(ad_mode);
    core.ad_mode = ad_mode;
    core.base = program.ops(ad_mode).as_ptr().addr();
    core.extensions = program.extensions(ad_mode);
}

#[inline(always)]
pub(crate) fn push_link(core: &mut Core, link: u64, flip: bool) -> Result<(), ExitFault> {
    let sp = core.regs[Reg::SP.index()];
    if core.load(sp).map_err(|f| ExitFault::Tail(f, None))? != 0 {
        return Err(ExitFault::Tail(Fault::PushOnto, None));
    }
    core.store(sp, link).map_err(|f| ExitFault::Tail(f, None))?;
    core.regs[Reg::SP.index()] = sp.wrapping_add(1);
    core.forward ^= flip;
    Ok(())
}
