//! The active calls of a stopped program in assembly, read from its stack.

use pendula_asm::check::stack_heights;
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
///
/// A call pushes its address, a link. The distance of the current procedure's link from the top of the stack is known
/// if everything that the procedure does to `sp` is known.
pub fn under_way(outcome: &Outcome, machine: &Machine<'_>) -> Calls {
    let module = machine.program().module();
    let at = match outcome {
        Outcome::Trap(trap) => Some(trap.at),
        Outcome::Limit => machine.pc(),
        Outcome::Finished => None,
    };
    let Some(mut at) = at.filter(|at| !module.is_compiled(*at as usize)) else { return Calls::default() };
    if module.flags.profile != Profile::Native {
        return Calls::default();
    }
    let regions = verify(module).0.regions;
    let heights = stack_heights(module);
    let mut back = machine.direction() == Direction::Backward;
    let mut sp = machine.registers()[Reg::SP.index()];
    let mut out = Calls::default();
    while let Some(own) = regions.iter().find(|r| (r.start..=r.last).contains(&at)).copied()
        && out.chain.len() < DEEPEST
    {
        out.whole = own.main;
        out.chain.push(ActiveCall { name: name(module, own), backward: back, called: None, variables: Vec::new() });
        let height = if back { heights.after[at as usize] } else { heights.before[at as usize] };
        let link = height.and_then(|h| sp.checked_sub(1)?.checked_add_signed(h.checked_neg()?));
        let Some((link, site)) = link.filter(|_| !own.main).and_then(|link| Some((link, site(machine, link, own)?)))
        else {
            break;
        };
        if let Some(last) = out.chain.last_mut() {
            last.called = module.loc(site as usize).map(|(file, loc)| (file.to_string(), loc.line));
        }
        let uncalls = matches!(module.code[site as usize].kind, Kind::Row { inverse: true, .. });
        (at, sp, back) = (site, link, back != uncalls);
    }
    out
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
