//! A function as a list of operations over virtual registers.
//!
//! Structured statements become operations in the order of the code: loops and branches become halves of paired jumps, and
//! statements that are undone are lowered backward. A virtual register is one life of a variable, from where it begins as
//! zero to where it ends as zero (`lifetimes`); between these two operations nothing else may be in its location.
//! [`control`](super::control) lowers branches, [`loops`](super::loops) lowers loops.

use std::collections::HashMap;

use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::LowerError;
use super::erase::KnownZeros;
use super::names::SpanNames;
use super::ops::{Arg, Args, Call, CheckReason, Cmp, Extended, Item, Linear, Op, Pair, VReg, Word, ZeroCheck};
use crate::ir::effects::written_operands;
use crate::ir::{IrFunction, Loc, LocatedStmt, Mem, Operand, Place, Program, Stmt, Test, permutes};

/// The most operations of a function.
const MAX_OPS: usize = 1 << 22;

/// An assertion that always fails. It stands for a statement that cannot run: inlining may show that two operands are the
/// same word, although they must be different.
pub(super) const ALWAYS_FAILS: Op = Op::Assert(Cmp { cond: Cond::Ne, ty: Ty::Int, a: Arg::Const(0), b: Arg::Const(0) });

/// Lowers one function to operations.
pub(super) struct Builder<'a> {
    pub(super) program: &'a Program,
    pub(super) function: &'a IrFunction,
    pub(super) out: Linear,
    names: &'a mut SpanNames,
    /// The present life of each variable.
    pub(super) current: Vec<Option<VReg>>,
    /// The first operation before which it is in it.
    pub(super) since: Vec<u32>,
    /// Lives that continue when their variable begins again, since they did not end on all branches or iterations.
    pub(super) continuing: HashMap<u32, VReg>,
    /// The old value of `current` for each change.
    pub(super) log: Vec<(u32, Option<VReg>)>,
    pub(super) level: u32,
    pub(super) depth: u32,
    pub(super) loc: Loc,
    pub(super) check_reason: Option<CheckReason>,
    /// The words that are known to be zero, if something is to be erased.
    pub(super) known: Option<KnownZeros<'a>>,
}

pub(super) const INT: TableFn = TableFn::Int(int_fn::Name::Id);

impl<'a> Builder<'a> {
    pub(super) fn new(
        program: &'a Program,
        function: &'a IrFunction,
        names: &'a mut SpanNames,
        known: Option<KnownZeros<'a>>,
    ) -> Builder<'a> {
        let mut builder = Builder {
            program,
            function,
            out: Linear::default(),
            names,
            current: vec![None; function.vars.len()],
            since: vec![0; function.vars.len()],
            continuing: HashMap::new(),
            log: Vec::new(),
            level: 0,
            depth: 0,
            loc: function.loc,
            check_reason: None,
            known,
        };
        // The life of the stack pointer.
        builder.fresh(None, None, false);
        builder
    }

    /// Lowers the whole function.
    pub(super) fn run(mut self) -> Result<Linear, LowerError> {
        for (n, param) in self.function.params.iter().enumerate() {
            let life = self.fresh(Some(param.var), Some(n as u32), false);
            match self.current.get_mut(param.var.0 as usize) {
                Some(place @ None) => *place = Some(life),
                Some(Some(_)) => return Err(self.bad("a variable is two parameters")),
                None => return Err(self.bad("a parameter is not a variable")),
            }
        }
        let function = self.function;
        self.block(&function.body, false)?;
        let params = self.function.params.len();
        for (n, life) in self.current.iter().enumerate() {
            if life.is_some_and(|v| v.0 as usize > params) {
                let what = format!("the variable `{}` does not end", self.function.vars[n].name);
                return Err(self.bad(&what));
            }
        }
        if self.function.params.iter().any(|p| self.current[p.var.0 as usize].is_none()) {
            return Err(self.bad("a parameter ends"));
        }
        let end = self.out.ops.len() as u32;
        for life in self.out.lives.iter_mut().take(params + 1) {
            life.end = end;
        }
        for param in &self.function.params {
            self.now_in(param.var.0, None);
        }
        Ok(self.out)
    }

    /// An error in the present statement.
    pub(super) fn bad(&self, what: &str) -> LowerError {
        LowerError::Malformed { function: self.function.name.clone(), line: self.loc.line, what: what.to_string() }
    }

    /// The weight of one use.
    fn use_weight(&self) -> u64 {
        10u64.pow(self.depth.min(9))
    }

    pub(super) fn push(&mut self, op: Op) -> Result<(), LowerError> {
        if self.out.ops.len() >= MAX_OPS {
            return Err(LowerError::TooLarge("a function has more than 2^22 operations"));
        }
        let use_weight = self.use_weight();
        let lives = &mut self.out.lives;
        let mut touch = |arg: &Arg| {
            for v in arg.regs() {
                if let Some(life) = lives.get_mut(v.0 as usize) {
                    life.weight = life.weight.saturating_add(use_weight);
                }
            }
        };
        match &op {
            Op::Update { args, .. } | Op::Permute { args, .. } => args.get().iter().for_each(&mut touch),
            Op::Assert(cmp) => [cmp.a, cmp.b].iter().for_each(&mut touch),
            Op::Show(_, arg) | Op::Erase(arg) => touch(arg),
            Op::Extension(n) => {
                self.out.extensions.get(*n as usize).iter().flat_map(|e| &e.args).for_each(&mut touch);
            }
            Op::Begin(v, how) | Op::End(v, how) | Op::ZeroCheck(v, how) => {
                if *how != ZeroCheck::None {
                    touch(&Arg::Reg(*v));
                }
            }
            // Pairs and calls count their uses when they are made.
            Op::Half { .. } | Op::Call(_) | Op::Print(_) | Op::Span { .. } => {}
        }
        self.out.ops.push(Item { op, loc: self.loc, check_reason: self.check_reason });
        Ok(())
    }

    /// A new pair; its comparisons may be set later.
    pub(super) fn pair(&mut self, jmp: Option<Cmp>, from: Option<Cmp>) -> u32 {
        self.out.pairs.push(Pair::default());
        let pair = self.out.pairs.len() as u32 - 1;
        self.set_pair(pair, jmp, from);
        pair
    }

    /// Sets the comparisons of a pair.
    pub(super) fn set_pair(&mut self, pair: u32, jmp: Option<Cmp>, from: Option<Cmp>) {
        let use_weight = self.use_weight();
        for arg in [jmp, from].into_iter().flatten().flat_map(|c| [c.a, c.b]) {
            for v in arg.regs() {
                if let Some(life) = self.out.lives.get_mut(v.0 as usize) {
                    life.weight = life.weight.saturating_add(2 * use_weight);
                }
            }
        }
        if let Some(p) = self.out.pairs.get_mut(pair as usize) {
            *p = Pair { jmp, from };
        }
    }

    pub(super) fn half(&mut self, pair: u32, from: bool) -> Result<(), LowerError> {
        self.push(Op::Half { pair, from })
    }

    /// `dst ⊕= func(args)`.
    pub(super) fn update(
        &mut self,
        (acc, inverse, func): (Acc, bool, TableFn),
        dst: Arg,
        args: &[Arg],
    ) -> Result<(), LowerError> {
        let mut all = vec![dst];
        all.extend_from_slice(args);
        let arity = func.info().args.len();
        let args = Args::new(&all).filter(|_| args.len() == arity);
        let args = args.ok_or_else(|| self.bad("a function has too few or too many arguments"))?;
        if !acc.accepts(func.info().ty) {
            return Err(self.bad("a word of this type cannot be accumulated so"));
        }
        if func == INT && args.get().get(1) == Some(&Arg::Const(0)) {
            return Ok(());
        }
        if args.get().get(1..).is_some_and(|rest| rest.contains(&dst)) {
            return self.push(ALWAYS_FAILS);
        }
        self.written(dst);
        self.push(Op::Update { acc, inverse: inverse && !acc.self_inverse(), func, args })
    }

    /// `dst += arg` on integers, or `dst -= arg`.
    pub(super) fn add(&mut self, dst: VReg, arg: Arg, minus: bool) -> Result<(), LowerError> {
        self.update((Acc::Add, minus, INT), Arg::Reg(dst), &[arg])
    }

    /// Notes that a word is no longer known to be zero.
    pub(super) fn written(&mut self, arg: Arg) {
        if let Some(known) = &mut self.known {
            known.written(arg);
        }
    }

    pub(super) fn word(&self, mem: &Mem) -> Result<Word, LowerError> {
        let base = mem.base.map(|v| self.reg(v)).transpose()?;
        let index = mem.index.map(|v| self.reg(v)).transpose()?;
        Ok(Word { base, index, offset: mem.offset, region: mem.region.0 })
    }

    pub(super) fn place(&self, place: &Place) -> Result<Arg, LowerError> {
        match place {
            Place::Var(v) => Ok(Arg::Reg(self.reg(*v)?)),
            Place::Mem(m) => Ok(Arg::Mem(self.word(m)?)),
        }
    }

    pub(super) fn operand(&self, operand: &Operand) -> Result<Arg, LowerError> {
        match operand {
            Operand::Const(c) => Ok(Arg::Const(*c)),
            Operand::Var(v) => Ok(Arg::Reg(self.reg(*v)?)),
            Operand::Mem(m) => Ok(Arg::Mem(self.word(m)?)),
        }
    }

    pub(super) fn cmp(&self, test: &Test) -> Result<Cmp, LowerError> {
        if test.cond == Cond::Always || !test.cond.accepts(test.ty) {
            return Err(self.bad("words of this type cannot be compared so"));
        }
        Ok(Cmp { cond: test.cond, ty: test.ty, a: self.operand(&test.a)?, b: self.operand(&test.b)? })
    }

    /// Lowers a part that is marked as a span.
    pub(super) fn span(
        &mut self,
        name: String,
        undo: bool,
        part: impl FnOnce(&mut Self) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        self.out.spans.push((name, undo));
        let span = self.out.spans.len() as u32 - 1;
        self.push(Op::Span { span, end: false })?;
        part(self)?;
        self.push(Op::Span { span, end: true })
    }

    pub(super) fn fresh_name(&mut self, name: &str) -> String {
        self.names.fresh(name)
    }

    /// Lowers statements, or (if `back`) their inverses.
    pub(super) fn block(&mut self, block: &[LocatedStmt], back: bool) -> Result<(), LowerError> {
        let outer = self.loc;
        if back {
            block.iter().rev().try_for_each(|s| self.stmt(s, true))?;
        } else {
            block.iter().try_for_each(|s| self.stmt(s, false))?;
        }
        // Operations that follow belong to the enclosing statement.
        self.loc = outer;
        Ok(())
    }

    fn stmt(&mut self, at: &LocatedStmt, back: bool) -> Result<(), LowerError> {
        self.loc = at.loc;
        let outer = std::mem::replace(&mut self.check_reason, CheckReason::of(&at.stmt));
        let done = self.lower_stmt(&at.stmt, back);
        self.check_reason = outer;
        done
    }

    fn lower_stmt(&mut self, stmt: &Stmt, back: bool) -> Result<(), LowerError> {
        match stmt {
            Stmt::Update { acc, inverse, func, dst, args } => {
                let dst = self.place(dst)?;
                let args = args.iter().map(|a| self.operand(a)).collect::<Result<Vec<_>, _>>()?;
                self.update((*acc, *inverse != back, *func), dst, &args)
            }
            Stmt::Permute { row, inverse, ty, args } => self.permute(*row, *inverse != back, *ty, args),
            Stmt::Ancilla { var, free, checks } => {
                let Some(info) = self.function.vars.get(var.0 as usize) else {
                    return Err(self.bad("there is no such variable"));
                };
                let how = ZeroCheck::of(info.ty, *checks);
                if *free == back { self.begin(*var, how, false).map(|_| ()) } else { self.end(*var, how) }
            }
            Stmt::Array { base, len, region, ty, free, checks } => {
                let how = ZeroCheck::of(*ty, *checks);
                if *free == back {
                    if self.current.get(base.0 as usize) == Some(&None) {
                        self.begin(*base, ZeroCheck::None, true)?;
                    }
                    let (base, len) = (self.reg(*base)?, self.operand(len)?);
                    self.array(base, len, region.0, how)
                } else {
                    let (v, len) = (self.reg(*base)?, self.operand(len)?);
                    self.free_array(v, len, region.0, how)?;
                    if self.out.lives[v.0 as usize].by_array { self.end(*base, ZeroCheck::None) } else { Ok(()) }
                }
            }
            Stmt::Call { func, inverse, args } => {
                let args = args.iter().map(|a| self.operand(a)).collect::<Result<Vec<_>, _>>()?;
                self.call(func.0, *inverse != back, args)
            }
            Stmt::If { pre, post, then, otherwise } => {
                let (pre, post) = if back { (post, pre) } else { (pre, post) };
                self.branch(pre, post, (then, otherwise), back)
            }
            Stmt::While { pre, post, first, body } => {
                let (pre, post) = if back { (post, pre) } else { (pre, post) };
                self.while_loop(pre, post, (first, body), back)
            }
            Stmt::For { var, first, last, step, body, .. } => {
                let (first, last) = if back { (last, first) } else { (first, last) };
                let step = if back { step.negated() } else { *step };
                let (first, last) = (self.operand(first)?, self.operand(last)?);
                self.for_loop(*var, (first, last), step, body, back)
            }
            Stmt::With { name, compute, body } => self.with(name, compute, body, back),
            Stmt::Span { name, undo, body } => {
                let undo = *undo != back;
                let name = self.names.part(name, undo);
                self.span(name, undo, |b| b.block(body, back))
            }
            Stmt::Assert { test, .. } => {
                let cmp = self.cmp(test)?;
                self.push(Op::Assert(cmp))
            }
            Stmt::Show { ty, value } => {
                let value = self.operand(value)?;
                self.push(Op::Show(*ty, value))
            }
            Stmt::Print(text) => {
                if *text as usize >= self.program.texts.len() {
                    return Err(self.bad("there is no such text"));
                }
                self.push(Op::Print(*text))
            }
        }
    }

    fn permute(&mut self, row: Row, inverse: bool, ty: Ty, args: &[Operand]) -> Result<(), LowerError> {
        let info = row.info();
        let fits = info.types.contains(&ty) && args.len() == info.operands.len();
        if !permutes(row) || !fits {
            return Err(self.bad("no permutation is like this"));
        }
        let args = args.iter().map(|a| self.operand(a)).collect::<Result<Vec<_>, _>>()?;
        let written = written_operands(row).min(args.len());
        if (0..written).any(|n| args[n + 1..].contains(&args[n])) {
            return self.push(ALWAYS_FAILS);
        }
        args.iter().for_each(|a| self.written(*a));
        let args = Args::new(&args).ok_or_else(|| self.bad("a permutation has too many operands"))?;
        self.push(Op::Permute { row, inverse: inverse && info.partner.is_some(), ty, args })
    }

    pub(super) fn call(&mut self, func: u32, inverse: bool, args: Vec<Arg>) -> Result<(), LowerError> {
        let Some(callee) = self.program.functions.get(func as usize) else {
            return Err(self.bad("there is no such function"));
        };
        if callee.params.len() != args.len() {
            return Err(self.bad(&format!("`{}` has too few or too many arguments", callee.name)));
        }
        if let Some(extension) = callee.extension {
            let is_written = |n: usize| callee.params.get(n).is_some_and(|p| p.written);
            let twice = |n: usize| args.iter().enumerate().any(|(m, arg)| m != n && *arg == args[n]);
            if (0..args.len()).any(|n| is_written(n) && twice(n)) {
                return self.push(ALWAYS_FAILS);
            }
            args.iter().for_each(|arg| self.written(*arg));
            self.out.extensions.push(Extended { extension, inverse, args });
            return self.push(Op::Extension(self.out.extensions.len() as u32 - 1));
        }
        if let Some(known) = &mut self.known {
            let lives = &self.out.lives;
            known.called(func, &args, &|v| lives.get(v.0 as usize).and_then(|l| l.points));
        }
        let number = self.out.calls.len() as u32;
        let weight = self.use_weight();
        for (n, arg) in args.iter().enumerate() {
            if let Arg::Reg(v) = arg {
                self.out.lives[v.0 as usize].passed_as.push((number, n as u32));
            }
            for v in arg.regs() {
                let life = &mut self.out.lives[v.0 as usize];
                life.weight = life.weight.saturating_add(weight);
            }
        }
        self.out.moves_sp |= args.len() > super::call::IN_REGISTERS;
        let at = self.out.ops.len() as u32;
        self.out.calls.push(Call { func, inverse, args, at, weight });
        self.push(Op::Call(number))
    }
}
