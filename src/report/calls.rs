//! The active calls of a stopped program in assembly, read from its stack.

use pendula_asm::check::{StackHeights, stack_heights};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::module::{Module, SymbolKind};
use pendula_isa::table::Flow;
use pendula_isa::types::{Profile, Reg};
use pendula_isa::verify::{Region, target, verify};
use pendula_vm::{Machine, Outcome};

use crate::report::stop_report::{ActiveCall, chain};

/// The maximum number of calls that are searched for.
const DEEPEST: usize = 100_000;

/// The active calls of a stopped program.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// The innermost first.
    pub chain: Vec<ActiveCall>,
    /// True if the last one is where the run began; otherwise, the stack does not say what called it.
    whole: bool,
}

/// The active calls of a stopped program in assembly; none for a program in another language.
pub fn under_way(outcome: &Outcome, machine: &Machine<'_>) -> Calls {
    let module = machine.program().module();
    let at = match outcome {
        Outcome::Trap(trap) => Some(trap.at),
        Outcome::Limit => machine.pc(),
        Outcome::Finished => None,
    };
    let Some(at) = at.filter(|at| !module.is_compiled(*at as usize)) else { return Calls::default() };
    if module.flags.profile != Profile::Native {
        return Calls::default();
    }
    let frames = Frames::new(module).of(machine, at);
    let whole = frames.last().is_some_and(|frame| frame.region.main);
    let chain = frames.iter().map(|frame| ActiveCall {
        name: name(module, frame.region),
        backward: frame.back,
        called: frame.called.and_then(|site| module.loc(site as usize)).map(|(file, loc)| (file.to_string(), loc.line)),
        variables: Vec::new(),
    });
    Calls { chain: chain.collect(), whole }
}

/// What is known of a module's stack, to find active calls.
pub(crate) struct Frames {
    regions: Vec<Region>,
    heights: StackHeights,
}

/// A procedure that is running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The instruction that is next in it, or the call that has not returned.
    pub(crate) at: u32,
    pub(crate) region: Region,
    /// Whether it runs backward.
    pub(crate) back: bool,
    /// The call, if the stack says it, and the stack pointer before it.
    pub(crate) called: Option<u32>,
    pub(crate) sp: u64,
}

impl Frames {
    pub(crate) fn new(module: &Module) -> Frames {
        Frames { regions: verify(module).0.regions, heights: stack_heights(module) }
    }

    /// The procedures that are running in a machine whose next instruction is at `at`, the innermost first.
    ///
    /// A call pushes its address, a link. The distance of the current procedure's link from the top of the stack is known
    /// if everything that the procedure does to `sp` is known.
    pub(crate) fn of(&self, machine: &Machine<'_>, mut at: u32) -> Vec<Frame> {
        let module = machine.program().module();
        let mut back = machine.direction() == Direction::Backward;
        let mut sp = machine.registers()[Reg::SP.index()];
        let mut out = Vec::new();
        while let Some(region) = self.regions.iter().find(|r| (r.start..=r.last).contains(&at)).copied()
            && out.len() < DEEPEST
        {
            let height = if back { self.heights.after[at as usize] } else { self.heights.before[at as usize] };
            let link = height.and_then(|h| sp.checked_sub(1)?.checked_add_signed(h.checked_neg()?));
            let called = link.filter(|_| !region.main).and_then(|link| Some((link, site(machine, link, region)?)));
            out.push(Frame {
                at,
                region,
                back,
                called: called.map(|(_, site)| site),
                sp: called.map_or(sp, |(link, _)| link),
            });
            let Some((link, site)) = called else { break };
            let uncalls = matches!(module.code[site as usize].kind, Kind::Row { inverse: true, .. });
            (at, sp, back) = (site, link, back != uncalls);
        }
        out
    }
}

impl Calls {
    /// The chain of calls, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut out = chain(&self.chain);
        match self.chain.last() {
            Some(_) if self.chain.len() >= DEEPEST => {
                out.push(format!("these are the innermost {DEEPEST} calls; there are more"));
            }
            Some(last) if !self.whole => out.push(format!("the stack does not say what called `{}`", last.name)),
            Some(_) | None => {}
        }
        out
    }
}

/// The address of the call that a link names, if that call is one of this procedure.
fn site(machine: &Machine<'_>, link: u64, called: Region) -> Option<u32> {
    let word = machine.memory().get(usize::try_from(link).ok()?)?;
    let site = u32::try_from(word.checked_sub(1)?).ok()?;
    let code = &machine.program().module().code;
    let inst = code.get(site as usize)?;
    match inst.kind.flow() {
        Flow::Call | Flow::GradientCall => target(code, site, inst).is_some_and(|(to, _)| to == called.start),
        Flow::CallRegister => true,
        Flow::Straight | Flow::Procedure | Flow::Jump | Flow::Run | Flow::Branch(_) | Flow::Cell => false,
    }
    .then_some(site)
}

/// The name of a procedure, or of the code where a run begins.
fn name(module: &Module, region: Region) -> String {
    let named = |kind: SymbolKind| matches!(kind, SymbolKind::Proc | SymbolKind::Label);
    let symbol = module.symbols.iter().find(|s| named(s.kind) && s.value == u64::from(region.start));
    symbol.map_or_else(|| format!("@{}", region.start), |s| s.name.clone())
}
