//! Functions: what they are given, what is local to them.

use std::collections::{HashMap, HashSet};

use pendula_codegen::lift::symbolic;
use pendula_codegen::loops::{self, Block, Local, LocalInfo, Passed, Scope, Slot, Value, Word};
use pendula_isa::adjoint::{AdMode, VALUE};
use pendula_isa::table::{TableFn, f_fn, q_fn};
use pendula_isa::{Acc, Ty};

use super::certify::Asked;
use super::flow::{Location, Locations};
use super::fused_calls::FlowsTo;
use super::keep::Places;
use super::logged_sums::Sites;
use super::{Builder, Refused, Sweep, Variant, certify};
use crate::ir::effects::{changed_vars, walk};
use crate::ir::{FunctionId, IrFunction, LocatedStmt, Mem, Operand, Param, Program, Stmt, Var};
use crate::passes::Pass;

/// A statement, as long as the program stays where it is; and the number of an operand, or [`TEST`](super::loops::TEST).
pub(super) type Site = (*const LocatedStmt, usize);

/// The function that is being built.
pub(super) struct FunctionBuilder<'w, 'a> {
    pub(super) w: &'w mut Builder<'a>,
    pub(super) f: &'a IrFunction,
    pub(super) func: FunctionId,
    pub(super) way: Sweep,
    pub(super) ad_mode: AdMode,
    pub(super) out: Vec<loops::Stmt>,
    /// The local variables: first those of the function, by their numbers.
    locals: Vec<LocalInfo>,
    /// Addresses and comparisons that have been looked at before a loop.
    pub(super) proven: HashSet<Site>,
    /// Memory words that a loop keeps in variables.
    pub(super) kept: HashMap<Mem, Local>,
    /// Whether words that end are not looked at: they would be zero, or are to be forgotten.
    pub(super) unchecked: bool,
    /// Results that are only added to, and looked at where the run ends or turns round.
    pub(super) late: Locations,
    /// Whether values on the way back are those of the way forward, where they were looked at.
    pub(super) known: bool,
    /// Computations whose words still have the values of the way forward.
    pub(super) computed: HashSet<*const LocatedStmt>,
    /// Parameters that are left alone on the way back, as words or as addresses.
    pub(super) left: HashSet<Var>,
    /// Parameters that may be left alone by parts of this function.
    pub(super) preservable_params: HashSet<Var>,
    /// Whether this is on the way of a part of a run, which does not turn round here.
    pub(super) within: bool,
    /// Whether statements are on the way back.
    pub(super) back: bool,
    /// The limits of partial sums that are being made.
    pub(super) limits: HashMap<Location, Value>,
    /// For each loop the words to which more than one of its turns may add.
    pub(super) repeats: HashMap<*const LocatedStmt, Vec<Location>>,
    /// For each call that adds to words with limits, or that undoes that, the parameters through which it does.
    pub(super) calls: HashMap<*const LocatedStmt, u64>,
    /// Results to which a turn of a loop adds, and the variables that have what it adds each time.
    pub(super) addends: HashMap<Var, Vec<Local>>,
    /// Which of these a statement makes.
    pub(super) addition_sites: Sites,
    /// The statement that is being made.
    pub(super) site: *const LocatedStmt,
    /// Words that the turns of a block add to, and the variables to which a turn adds instead.
    pub(super) parts: HashMap<Operand, Local>,
    /// Words that are forgotten: undoing what they were made of leaves them as they are, and only what flows from them is wanted.
    pub(super) complete: Locations,
    /// Words of which what they carry does not matter.
    pub(super) inactive: Locations,
    /// Where values are kept for the way back.
    pub(super) kept_values: Places,
    /// Where only what flows to some words is wanted.
    pub(super) flows_to: Option<FlowsTo>,
}

/// Builds a function.
pub(super) fn build<'a>(w: &mut Builder<'a>, variant: Variant) -> Result<loops::Function, Refused> {
    let (fun, way, ad_mode, left, forgotten, active, looked, keeping) = variant;
    let program: &'a Program = w.program;
    let f = &program.functions[fun.0 as usize];
    let name = w.variant_name(variant);
    let checks_stack = w.summaries.get(fun).checks_stack;
    let params = forgotten.limited | forgotten.complete;
    let plan = if params == 0 { None } else { w.drops.plan_of_function(fun, params, Asked::Sums) };
    let limit = |at| (at, Value::Const(forgotten.limit));
    let chosen = |bits: u64| -> HashSet<Var> {
        f.params.iter().take(64).enumerate().filter(|(n, _)| bits >> n & 1 != 0).map(|(_, p)| p.var).collect()
    };
    let marked = chosen(left);
    // The function that calls the entry has nothing of its own.
    let inactive = if fun == w.main { Locations::new() } else { w.inactive(f, active) };
    let mut fw = FunctionBuilder {
        w,
        func: fun,
        inactive,
        kept_values: Places::of(keeping),
        flows_to: None,
        f,
        way,
        ad_mode,
        out: Vec::new(),
        locals: locals(f),
        proven: HashSet::new(),
        kept: HashMap::new(),
        unchecked: false,
        late: Locations::new(),
        known: looked.before,
        computed: HashSet::new(),
        left: if way == Sweep::Turn { HashSet::new() } else { marked.clone() },
        preservable_params: if way == Sweep::Turn { marked } else { HashSet::new() },
        within: way == Sweep::Within,
        back: way == Sweep::Backward || way == Sweep::Forward,
        addends: HashMap::new(),
        addition_sites: Sites::new(),
        site: std::ptr::null(),
        parts: HashMap::new(),
        limits: certify::marked(f, forgotten.limited).into_iter().map(limit).collect(),
        repeats: plan.as_ref().map(|plan| plan.repeats.clone()).unwrap_or_default(),
        calls: plan.map(|plan| plan.calls.clone()).unwrap_or_default(),
        complete: certify::marked(f, forgotten.complete).into_iter().collect(),
    };
    fw.late = &fw.late_results(&chosen(looked.late)) | &fw.late_arrays();
    if way == Sweep::Turn && fw.w.switches.has(Pass::Turn) {
        fw.left = fw.dead_results();
        fw.known = fw.computes_the_same_again();
    }
    match way {
        Sweep::Forward => fw.block(&f.body, false)?,
        Sweep::Backward => fw.block(&f.body, true)?,
        Sweep::Turn | Sweep::Within => fw.turn(&f.body)?,
    }
    if fun == fw.w.main && fw.carries_late() {
        fw.w.carried_floats.clone().into_iter().for_each(|range| fw.push(loops::Stmt::CheckCarriedData(range)));
    }
    let params = f.params.iter().map(|p| fw.param(program, *p)).collect::<Result<_, Refused>>()?;
    let (body, locals) = (fw.out, fw.locals);
    Ok(loops::Function {
        name,
        ad_mode,
        turns: way == Sweep::Turn,
        writes_logs: false,
        checks_stack,
        locals,
        params,
        body,
    })
}

/// The variables of a function.
fn locals(f: &IrFunction) -> Vec<LocalInfo> {
    let counters = counters(f);
    let local = |(n, v): (usize, &crate::ir::VarInfo)| {
        let var = Var(n as u32);
        let scope = if f.params.iter().any(|p| p.var == var) {
            Scope::Param
        } else if counters.contains(&var) {
            Scope::Stmt
        } else {
            Scope::Function
        };
        LocalInfo { name: v.name.clone(), ty: v.ty, lane: VALUE, scope }
    };
    f.vars.iter().enumerate().map(local).collect()
}

/// The variables that nothing but a `for` writes.
fn counters(f: &IrFunction) -> HashSet<Var> {
    let mut counts = HashSet::new();
    let mut other: HashSet<Var> = f.params.iter().map(|p| p.var).collect();
    walk(&f.body, &mut |s| match &s.stmt {
        Stmt::For { var, .. } => _ = counts.insert(*var),
        Stmt::Permute { args, .. } | Stmt::Call { args, .. } => {
            other.extend(args.iter().filter_map(|a| if let Operand::Var(v) = a { Some(*v) } else { None }));
        }
        Stmt::Array { base, .. } => _ = other.insert(*base),
        stmt => other.extend(stmt.own_var()),
    });
    &counts - &other
}

/// Whether a function's body changes a variable itself. A parameter that a callee does not write is none of them.
pub(super) fn is_touched(program: &Program, f: &IrFunction, var: Var) -> bool {
    let mut touched = false;
    walk(&f.body, &mut |s| changed_vars(program, &s.stmt, |v| touched |= v == var));
    touched
}

/// The local variable that a variable is.
pub(super) fn local(var: Var) -> Local {
    Local(var.0)
}

impl FunctionBuilder<'_, '_> {
    /// Adds a statement.
    pub(super) fn push(&mut self, stmt: loops::Stmt) {
        self.out.push(stmt);
    }

    /// Whether floating-point sums of what words carry are looked at where they end. Then they are sums, and nothing else becomes of them.
    pub(super) fn carries_late(&self) -> bool {
        let vectors = self.w.has_vector_tangents && self.ad_mode.has_tangents();
        self.w.carried_late && (self.ad_mode == AdMode::Gradient || vectors)
    }

    /// The statements that something adds.
    pub(super) fn nested(
        &mut self,
        add: impl FnOnce(&mut Self) -> Result<(), Refused>,
    ) -> Result<Vec<loops::Stmt>, Refused> {
        let outer = std::mem::take(&mut self.out);
        let done = add(self);
        let inner = std::mem::replace(&mut self.out, outer);
        done.map(|()| inner)
    }

    /// A new local variable for a word that a statement defines.
    pub(super) fn fresh(&mut self, name: &str, ty: Ty) -> Local {
        self.fresh_for(name, VALUE, ty)
    }

    /// A new local variable for the word that a word of a type has in a lane.
    pub(super) fn fresh_for(&mut self, name: &str, lane: usize, ty: Ty) -> Local {
        let ty = loops::lane_type(lane, ty);
        self.local(LocalInfo { name: name.to_string(), ty, lane, scope: Scope::Stmt })
    }

    /// A new local variable.
    pub(super) fn local(&mut self, info: LocalInfo) -> Local {
        self.locals.push(info);
        Local(self.locals.len() as u32 - 1)
    }

    pub(super) fn local_type(&self, local: Local) -> Ty {
        self.locals[local.0 as usize].ty
    }

    pub(super) fn lanes(&self) -> &'static [usize] {
        self.ad_mode.lanes()
    }

    /// The lanes in which a word of a type carries something.
    pub(super) fn lanes_of(&self, ty: Ty) -> &'static [usize] {
        loops::lanes_of(self.ad_mode, ty)
    }

    /// How a parameter is passed.
    fn param(&mut self, program: &Program, Param { var, written }: Param) -> Result<loops::Param, Refused> {
        let (local, ty) = (local(var), self.f.ty(var));
        let passed = if written {
            Passed::Address
        } else if is_touched(program, self.f, var) {
            let mut sums = Vec::new();
            for &lane in self.lanes_of(ty) {
                if !loops::flows_forward(self.ad_mode, lane) {
                    let own = Slot::Word(Word { place: loops::Place::Local(local), ty, lane });
                    sums.push((lane, self.sum(lane, ty, [Slot::Passed(local, lane), own])?));
                }
            }
            Passed::Copy(sums)
        } else {
            Passed::Value
        };
        Ok(loops::Param { local, passed })
    }

    /// `to += from`, of what words of a type carry.
    pub(super) fn sum(&mut self, lane: usize, ty: Ty, [to, from]: [Slot; 2]) -> Result<Block, Refused> {
        let func = match loops::lane_type(lane, ty) {
            Ty::F => TableFn::F(f_fn::Name::Id),
            _ => TableFn::Q(q_fn::Name::Id),
        };
        let setting = (self.w.env(), Builder::setting(AdMode::Plain));
        let operands = [symbolic::Operand::Word(1), symbolic::Operand::Word(2)];
        let body = symbolic::accumulate(setting, &mut self.w.kernels, (Acc::Add, false, func), &operands);
        let block = Block::new(&body.ok_or(Refused::Operation)?, vec![None, Some(to), Some(from)], [false; 2], None);
        block.map(|(block, _)| block).ok_or(Refused::Operation)
    }

    /// The address of a memory word.
    pub(super) fn address(&self, mem: Mem) -> loops::Address {
        loops::Address { locals: [mem.base.map(local), mem.index.map(local)], offset: mem.offset }
    }

    /// Where a memory word is: in memory, or in the variable in which a loop keeps it.
    pub(super) fn memory_place(&self, mem: Mem) -> loops::Place {
        match self.kept.get(&mem) {
            Some(kept) => loops::Place::Local(*kept),
            None => loops::Place::Memory(self.address(mem)),
        }
    }

    /// Where an operand is; `None` for a constant.
    pub(super) fn place(&self, operand: Operand) -> Option<loops::Place> {
        if let Some(part) = self.parts.get(&operand) {
            return Some(loops::Place::Local(*part));
        }
        match operand {
            Operand::Const(_) => None,
            Operand::Var(v) => Some(loops::Place::Local(self.addend(v).unwrap_or(local(v)))),
            Operand::Mem(m) => Some(self.memory_place(m)),
        }
    }

    /// The variable to which a statement adds instead of a result, if it does.
    fn addend(&self, result: Var) -> Option<Local> {
        let all = self.addends.get(&result)?;
        let nth = self.addition_sites.get(&(self.site, result)).copied();
        debug_assert!(nth.is_some() || self.addition_sites.is_empty(), "an addition without a number");
        all.get(nth.unwrap_or_default()).copied()
    }

    /// The type of an operand that is read as a type.
    pub(super) fn operand_type(&self, operand: Operand, ty: Ty) -> Ty {
        if let Operand::Var(v) = operand { self.f.ty(v) } else { ty }
    }

    /// An integer operand.
    pub(super) fn integer(&self, operand: Operand) -> Value {
        match operand {
            Operand::Const(k) => Value::Const(k),
            Operand::Var(v) => Value::Place(loops::Place::Local(local(v))),
            Operand::Mem(m) => Value::Place(self.memory_place(m)),
        }
    }

    /// A floating-point or other word that is compared.
    pub(super) fn value_word(&self, operand: Operand, ty: Ty) -> Option<Word> {
        Some(Word { place: self.place(operand)?, ty, lane: VALUE })
    }
}
