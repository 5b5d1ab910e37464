//! Activity: which words carry gradients that matter. A word is *active* if it depends on one of the independent variables, and one of the
//! dependent variables depends on it. What other words carry never reaches the gradients that are asked for, so that it is not computed.

use pendula_codegen::loops::{self, Word};
use pendula_isa::Ty;
use pendula_isa::adjoint::{ActiveArguments, AdMode, GRADIENT};

use super::dead_uncompute::Drops;
use super::flow::{Location, Locations};
use super::function::FunctionBuilder;
use super::{Builder, data};
use crate::ir::effects::walk;
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Operand, Param, Region, Stmt, Var};
use crate::lower::{Argument, ArgumentKind};

/// What flows from words to others.
struct Dependence {
    from: Vec<Location>,
    to: Vec<Location>,
}

/// The words that are not active in a function. `independent` and `dependent` are where what is given begins and ends.
fn inactive(drops: &mut Drops<'_>, f: &IrFunction, independent: Locations, dependent: Locations) -> Locations {
    let Some(dependences) = dependences(drops, f) else { return Locations::new() };
    let varied = closure(independent, dependences.iter().map(|d| (&d.from, &d.to)));
    let useful = closure(dependent, dependences.iter().map(|d| (&d.to, &d.from)));
    let vars = (0..f.vars.len() as u32).map(|n| Location::Var(Var(n)));
    let regions = (0..f.regions.len() as u32).map(|n| Location::Region(Region(n)));
    vars.chain(regions).filter(|at| !(varied.contains(at) && useful.contains(at))).collect()
}

/// All that can be reached.
fn closure<'d>(
    mut reached: Locations,
    edges: impl Iterator<Item = (&'d Vec<Location>, &'d Vec<Location>)> + Clone,
) -> Locations {
    loop {
        let before = reached.len();
        for (from, to) in edges.clone() {
            if from.iter().any(|at| reached.contains(at)) {
                reached.extend(to);
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

/// What flows where in a function, in whatever order; `None` where that is not known.
fn dependences(drops: &mut Drops<'_>, f: &IrFunction) -> Option<Vec<Dependence>> {
    let mut out = Vec::new();
    let mut calls = Vec::new();
    let mut known = true;
    walk(&f.body, &mut |s| match &s.stmt {
        Stmt::Update { func, dst, args, .. } if func.info().partials > 0 => {
            out.push(Dependence {
                from: args.iter().filter_map(|a| location(*a)).collect(),
                to: location((*dst).into()).into_iter().collect(),
            });
        }
        Stmt::Permute { args, .. } => {
            let all: Vec<Location> = args.iter().filter_map(|a| location(*a)).collect();
            out.push(Dependence { from: all.clone(), to: all });
        }
        Stmt::Call { func, args, .. } => calls.push((*func, args)),
        Stmt::Show { .. } | Stmt::Print(_) => known = false,
        _ => {}
    });
    for (func, args) in calls {
        out.push(dependence_of_call(drops, f, func, args)?);
    }
    known.then_some(out)
}

/// What flows in a call: from all that the callee has to do with to all that it changes.
fn dependence_of_call(drops: &mut Drops<'_>, f: &IrFunction, func: FunctionId, args: &[Operand]) -> Option<Dependence> {
    let flow = drops.flow_of_one_call(f, func, args)?;
    let to: Vec<Location> = flow.sums.iter().chain(&flow.changes).chain(&flow.loans).copied().collect();
    Some(Dependence { from: flow.reads.iter().chain(&to).copied().collect(), to })
}

/// The variable or stretch of memory that an operand is or lies in.
fn location(operand: Operand) -> Option<Location> {
    match operand {
        Operand::Const(_) => None,
        Operand::Var(v) => Some(Location::Var(v)),
        Operand::Mem(m) => Some(Location::Region(m.region)),
    }
}

/// The locations of parameters that a mask has, one bit for each; those beyond it are in it.
fn of_params(f: &IrFunction, mask: u64) -> Locations {
    let has = |n: usize| n >= 64 || mask >> n & 1 != 0;
    let params = f.params.iter().enumerate().filter(|(n, _)| has(*n));
    params.flat_map(|(_, p)| [Some(Location::Var(p.var)), f.points(p.var).map(Location::Region)]).flatten().collect()
}

/// What is known of the activity of a function's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum ActiveParams {
    /// All may be active.
    #[default]
    All,
    /// The function is the entry: its arguments are independent and dependent variables, or neither.
    Entry,
    /// These are not active, one bit for each.
    AllBut(u64),
}

impl Builder<'_> {
    /// Notes which arguments of the program are independent and dependent variables.
    pub(super) fn set_active(&mut self, arguments: &[Argument], active: ActiveArguments) {
        self.entry_activity = of_entry(arguments, active);
        let program = self.program;
        let entry = program.entry.and_then(|f| program.functions.get(f.0 as usize));
        let inactive = entry.map(|f| self.inactive(f, ActiveParams::Entry)).unwrap_or_default();
        (self.carried, self.carried_floats) = data::carried(program, arguments, active, &inactive);
    }

    /// The words of a function that are not active.
    pub(super) fn inactive(&mut self, f: &IrFunction, params: ActiveParams) -> Locations {
        let (independent, dependent) = match (params, self.entry_activity) {
            (ActiveParams::Entry, Some([independent, dependent])) => (independent, dependent),
            (ActiveParams::AllBut(params), _) => (!params, !params),
            (ActiveParams::All | ActiveParams::Entry, _) => return Locations::new(),
        };
        inactive(&mut self.drops, f, of_params(f, independent), of_params(f, dependent))
    }
}

/// The parameters of the entry that are independent and dependent variables, one bit for each; `None` if all are both.
fn of_entry(arguments: &[Argument], active: ActiveArguments) -> Option<[u64; 2]> {
    if active == ActiveArguments::ALL {
        return None;
    }
    let mut param = 0;
    let mut masks = [0u64; 2];
    for (n, argument) in arguments.iter().enumerate() {
        for (mask, has) in masks.iter_mut().zip([active.is_independent(n), active.is_dependent(n)]) {
            *mask |= if has && param < 64 { 1 << param } else { 0 };
        }
        param += match &argument.kind {
            ArgumentKind::Array { lens, .. } => 1 + lens.len(),
            ArgumentKind::Word { .. } | ArgumentKind::Constant(_) => 1,
        };
    }
    Some(masks)
}

impl FunctionBuilder<'_, '_> {
    /// Whether what an operand carries does not matter.
    pub(super) fn is_inactive(&self, operand: Operand) -> bool {
        location(operand).is_some_and(|at| self.inactive.contains(&at))
    }

    /// The same of an argument of a call, and of what it points to.
    fn is_inactive_argument(&self, callee: &IrFunction, param: Var, arg: Operand) -> bool {
        match arg {
            Operand::Var(v) if callee.points(param).is_some() => {
                self.f.points(v).is_some_and(|r| self.inactive.contains(&Location::Region(r)))
            }
            _ => self.is_inactive(arg),
        }
    }

    /// Which parameters of a callee are active.
    pub(super) fn active_params(&self, func: FunctionId, callee: &IrFunction, args: &[Operand]) -> ActiveParams {
        if self.ad_mode == AdMode::Plain {
            return ActiveParams::All;
        }
        if self.is_main() && self.w.program.entry == Some(func) {
            return if self.w.entry_activity.is_some() { ActiveParams::Entry } else { ActiveParams::All };
        }
        let bit = |(n, (param, arg)): (usize, (&Param, &Operand))| {
            let carries = callee.points(param.var).is_some() || callee.ty(param.var).gradient().is_some();
            u64::from(carries && self.is_inactive_argument(callee, param.var, *arg)) << n
        };
        match callee.params.iter().zip(args).take(64).enumerate().map(bit).fold(0, |a, b| a | b) {
            0 => ActiveParams::All,
            params => ActiveParams::AllBut(params),
        }
    }

    /// Whether statements have to do with no active word: nothing flows back in them.
    pub(super) fn are_passive(&self, block: &[LocatedStmt]) -> bool {
        if self.ad_mode == AdMode::Plain {
            return false;
        }
        let mut passive = true;
        walk(block, &mut |s| {
            passive &= match &s.stmt {
                Stmt::Update { func, dst, .. } => {
                    func.info().partials == 0 || self.is_passive((*dst).into(), func.info().ty)
                }
                Stmt::Permute { ty, args, .. } => args.iter().all(|a| self.is_passive(*a, *ty)),
                Stmt::Ancilla { var, .. } => self.is_passive(Operand::Var(*var), self.f.ty(*var)),
                Stmt::Array { region, ty, .. } => {
                    ty.gradient().is_none() || self.inactive.contains(&Location::Region(*region))
                }
                Stmt::Call { func, args, .. } => self.w.program.functions.get(func.0 as usize).is_some_and(|callee| {
                    callee.params.iter().zip(args).all(|(p, a)| {
                        self.is_passive(*a, callee.ty(p.var))
                            && (callee.points(p.var).is_none() || self.is_inactive_argument(callee, p.var, *a))
                    })
                }),
                Stmt::If { .. }
                | Stmt::While { .. }
                | Stmt::For { .. }
                | Stmt::With { .. }
                | Stmt::Span { .. }
                | Stmt::Assert { .. } => true,
                Stmt::Show { .. } | Stmt::Print(_) => false,
            }
        });
        passive
    }

    /// The gradient words of which all that flows in a loop on the way back is a multiple, if it does nothing else there: where they are
    /// zero, the loop need not be run. None if that is not so.
    pub(super) fn flows_from(&mut self, s: &LocatedStmt) -> Vec<Word> {
        if self.ad_mode != AdMode::Gradient || !self.back {
            return Vec::new();
        }
        let block = std::slice::from_ref(s);
        let flow = self.w.drops.flow(self.f, block);
        let preserved = self.w.drops.fast || self.known;
        let left = |at: &Location| self.complete.contains(at) || preserved && self.is_location_preserved(*at);
        if !flow.only_adds() || !flow.sums.iter().all(left) {
            return Vec::new();
        }
        let mut words = Vec::new();
        for at in &flow.sums {
            match *at {
                Location::Var(v) if self.f.ty(v).gradient().is_some() => {
                    words.extend(self.place(Operand::Var(v)).map(|place| (place, self.f.ty(v))));
                }
                Location::Var(_) => return Vec::new(),
                Location::Region(region) => match self.kept_words(block, region) {
                    Some(kept) => words.extend(kept.into_iter().map(|l| (loops::Place::Local(l), self.local_type(l)))),
                    None => return Vec::new(),
                },
            }
        }
        let mut words: Vec<Word> = words.into_iter().map(|(place, ty)| Word { place, ty, lane: GRADIENT }).collect();
        words.sort_unstable_by_key(|w| w.place);
        words.dedup();
        words
    }

    /// The variables that keep the words of a region, if all that a block has to do with are kept.
    fn kept_words(&self, block: &[LocatedStmt], region: Region) -> Option<Vec<loops::Local>> {
        let mut all = Some(Vec::new());
        walk(block, &mut |s| {
            let mut operands: Vec<Operand> = Vec::new();
            match &s.stmt {
                Stmt::Update { dst, args, .. } => {
                    operands.extend(args);
                    operands.push((*dst).into());
                }
                Stmt::Permute { args, .. } => operands.extend(args),
                Stmt::Call { args, .. } => {
                    let reaches = |a: &Operand| match a {
                        Operand::Var(v) => self.f.points(*v) == Some(region),
                        Operand::Mem(m) => m.region == region,
                        Operand::Const(_) => false,
                    };
                    if args.iter().any(reaches) {
                        all = None;
                    }
                }
                _ => {}
            }
            for operand in operands {
                if let Operand::Mem(m) = operand
                    && m.region == region
                {
                    match (self.kept.get(&m), &mut all) {
                        (Some(kept), Some(all)) if self.local_type(*kept).gradient().is_some() => all.push(*kept),
                        _ => all = None,
                    }
                }
            }
        });
        all
    }

    /// Whether an operand that is read as this type carries nothing that matters.
    fn is_passive(&self, operand: Operand, ty: Ty) -> bool {
        match operand {
            Operand::Const(_) => true,
            Operand::Var(_) => self.operand_type(operand, ty).gradient().is_none() || self.is_inactive(operand),
            Operand::Mem(_) => self.is_inactive(operand),
        }
    }
}
