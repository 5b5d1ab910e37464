//! Values of elementary functions that are kept for the way back ([`pendula_codegen::loops::Keep`]): they cost more to compute than to write
//! and to read.
//!
//! A computation is made, used, and taken back with gradients. Where its words are complete before they are read, what its
//! functions are given is the same on the way back. So the values are written where it is made, read where a computation within
//! it is made again on the way back, and read and removed where it is taken back.
//!
//! In a loop that has no other loops and calls with such values, each function has an array, a word for each turn. Elsewhere words follow one
//! another as the run comes to them.

use std::collections::{HashMap, HashSet};

use pendula_codegen::lift::symbolic::{self, Operand as Word};
use pendula_codegen::loops::{self, Address, Keep, Keeping, Local, Place, Slot, Stmt as Out, Value};
use pendula_codegen::ops::{Body, Op, ValueId};
use pendula_isa::adjoint::{AdMode, VALUE};
use pendula_isa::table::TableFn;
use pendula_isa::{Acc, Ty};

use super::function::{FunctionBuilder, local};
use super::{Builder, Refused};
use crate::ir::{FunctionId, LocatedStmt, Operand, Step, Stmt, Var};

type Done = Result<(), Refused>;

/// What is known of the values that a program may keep.
#[derive(Default)]
pub(super) struct Keeps {
    /// Whether values are kept at all.
    pub(super) wanted: bool,
    /// Whether some are.
    pub(super) some: bool,
    /// The kernel of an elementary function, by how many operands it has.
    kernels: HashMap<(TableFn, usize), Option<u32>>,
    statements: HashMap<*const LocatedStmt, bool>,
    functions: HashMap<FunctionId, bool>,
    /// Functions in which nothing is kept, because the way back leaves out a part of them.
    without: HashSet<FunctionId>,
    /// One that is to be among them.
    pub(super) found: Option<FunctionId>,
}

/// A computation that keeps values, or may.
#[derive(Default)]
pub(super) struct Kept {
    /// Where its words begin, if they are not in arrays of a loop.
    begin: Option<Local>,
    /// Where they end, if it was made again on the way back.
    end: Option<Local>,
    /// Whether it keeps a mark of where they begin, or passes over one.
    mark: Option<Keep>,
    /// What happens to them when it is undone.
    undo: Option<Keeping>,
}

/// Where values are kept in a function, or in a loop of it.
#[derive(Clone, Default)]
pub(super) struct Places {
    /// What happens to values.
    way: Option<Keeping>,
    /// The loop that has an array for each statement, by its variable, and where the arrays are.
    turn: Option<(Var, HashMap<*const LocatedStmt, Local>)>,
    /// Where the value is of the statement that is being built, and the kernel that computes it.
    word: Option<(Place, u32)>,
    /// Whether the computation that is being undone was forgotten instead.
    forgot: bool,
}

impl Keeps {
    /// Nothing is known yet but functions in which nothing is kept.
    pub(super) fn without(without: HashSet<FunctionId>) -> Keeps {
        Keeps { without, ..Keeps::default() }
    }
}

impl Places {
    /// Those in a function in which this happens to values.
    pub(super) fn of(way: Option<Keeping>) -> Places {
        Places { way, ..Places::default() }
    }
}

impl Builder<'_> {
    /// The kernel whose value a statement may keep.
    fn kept_kernel(&mut self, s: &Stmt) -> Option<u32> {
        let Stmt::Update { acc: Acc::Add, func, args, .. } = s else { return None };
        let info = func.info();
        let given = args.iter().any(|a| !matches!(a, Operand::Const(_)));
        if info.ty != Ty::F || info.from != Ty::F || info.partials == 0 || !given {
            return None;
        }
        let key = (*func, args.len());
        if let Some(known) = self.keeps.kernels.get(&key) {
            return *known;
        }
        let words: Vec<Word> = (0..=args.len()).map(|n| Word::Word(n as u8 + 1)).collect();
        let setting = (self.env(), Builder::setting(AdMode::Plain));
        let body = symbolic::accumulate(setting, &mut self.kernels, (Acc::Add, false, *func), &words);
        let kernel = body.and_then(|body| only_kernel(&body.ops));
        self.keeps.kernels.insert(key, kernel);
        kernel
    }

    /// Whether a block, which the function has, keeps values.
    pub(super) fn block_keeps(&mut self, func: FunctionId, block: &[LocatedStmt]) -> bool {
        self.keeps.wanted && !self.keeps.without.contains(&func) && block.iter().any(|s| self.keeps(func, s))
    }

    fn function_keeps(&mut self, func: FunctionId) -> bool {
        if !self.keeps.wanted {
            return false;
        }
        if let Some(known) = self.keeps.functions.get(&func) {
            return *known;
        }
        let program = self.program;
        let f = program.functions.get(func.0 as usize).filter(|_| !self.summaries.get(func).recursive);
        let keeps = f.is_some_and(|f| self.block_keeps(func, &f.body));
        self.keeps.functions.insert(func, keeps);
        keeps
    }

    /// Whether a computation keeps values: it is taken back as it was made.
    pub(super) fn computation_keeps(
        &mut self,
        func: FunctionId,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
    ) -> bool {
        let program = self.program;
        let Some(f) = program.functions.get(func.0 as usize) else { return false };
        self.block_keeps(func, compute) && self.drops.is_same_on_the_way_back(f, compute, body)
    }

    fn keeps(&mut self, func: FunctionId, s: &LocatedStmt) -> bool {
        if let Some(known) = self.keeps.statements.get(&std::ptr::from_ref(s)) {
            return *known;
        }
        let keeps = match &s.stmt {
            Stmt::Update { .. } => self.kept_kernel(&s.stmt).is_some(),
            Stmt::With { compute, body, .. } => {
                self.block_keeps(func, body) || self.computation_keeps(func, compute, body)
            }
            Stmt::If { then, otherwise, .. } => self.block_keeps(func, then) || self.block_keeps(func, otherwise),
            Stmt::While { first, body, .. } => self.block_keeps(func, first) || self.block_keeps(func, body),
            Stmt::For { body, blocks, .. } => blocks.is_none() && self.block_keeps(func, body),
            Stmt::Span { body, .. } => self.block_keeps(func, body),
            Stmt::Call { func, .. } => self.function_keeps(*func),
            Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Array { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => false,
        };
        self.keeps.statements.insert(std::ptr::from_ref(s), keeps);
        keeps
    }

    /// Whether a loop or a call in a block keeps values.
    fn keeps_in_loops(&mut self, func: FunctionId, block: &[LocatedStmt]) -> bool {
        self.keeps.wanted
            && block.iter().any(|s| match &s.stmt {
                Stmt::For { .. } | Stmt::While { .. } | Stmt::Call { .. } => self.keeps(func, s),
                Stmt::With { compute, body, .. } => {
                    self.keeps_in_loops(func, body)
                        || self.computation_keeps(func, compute, body) && self.keeps_in_loops(func, compute)
                }
                Stmt::If { then, otherwise, .. } => {
                    self.keeps_in_loops(func, then) || self.keeps_in_loops(func, otherwise)
                }
                Stmt::Span { body, .. } => self.keeps_in_loops(func, body),
                Stmt::Update { .. }
                | Stmt::Permute { .. }
                | Stmt::Ancilla { .. }
                | Stmt::Array { .. }
                | Stmt::Assert { .. }
                | Stmt::Show { .. }
                | Stmt::Print(_) => false,
            })
    }

    /// The statements of a block that keep a value each.
    fn keeping_statements<'s>(&mut self, func: FunctionId, block: &'s [LocatedStmt], out: &mut Vec<&'s LocatedStmt>) {
        for s in block {
            match &s.stmt {
                Stmt::With { compute, body, .. } => {
                    if self.computation_keeps(func, compute, body) {
                        self.keeping_statements(func, compute, out);
                    }
                    self.keeping_statements(func, body, out);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.keeping_statements(func, then, out);
                    self.keeping_statements(func, otherwise, out);
                }
                Stmt::Span { body, .. } => self.keeping_statements(func, body, out),
                _ if self.keeps(func, s) => out.push(s),
                _ => {}
            }
        }
    }
}

impl FunctionBuilder<'_, '_> {
    /// What happens to the values that a callee keeps.
    pub(super) fn keeping_call(&mut self, func: FunctionId) -> Option<Keeping> {
        self.kept_values.way.filter(|_| self.w.function_keeps(func))
    }

    /// Whether a statement keeps values now.
    fn keeps_now(&mut self, s: &LocatedStmt) -> bool {
        self.kept_values.way.is_some() && self.w.block_keeps(self.func, std::slice::from_ref(s))
    }

    /// Removes what a statement keeps that is left out on the way back. Where it is not known how much that is, this function is to keep nothing.
    pub(super) fn leave_out(&mut self, s: &LocatedStmt) {
        // The words of a loop around it are removed with it.
        if !self.keeps_now(s) || self.kept_values.turn.is_some() {
            return;
        }
        let is_removed = self.kept_values.way == Some(Keeping::TakeBack)
            && match &s.stmt {
                Stmt::Update { .. } => {
                    self.keep_word(Keeping::TakeBack);
                    true
                }
                Stmt::For { .. } => self.words_of_turns(s, Keeping::TakeBack).is_some(),
                _ => false,
            };
        if !is_removed {
            self.w.keeps.found = Some(self.func);
        }
    }

    /// Where a word is that follows those that are kept.
    fn keep_word(&mut self, way: Keeping) -> Local {
        let (base, one) = (self.fresh("value", Ty::Int), Value::Const(0));
        self.push(Out::Keep(Keep::Words { base, first: one, last: one, way }));
        base
    }

    /// Notes that the computation that is being undone is forgotten instead.
    pub(super) fn forget_kept(&mut self) {
        self.kept_values.forgot |= self.kept_values.way == Some(Keeping::TakeBack);
    }

    /// Whether the turns of a loop keep values one turn after the other.
    pub(super) fn keeps_in_turns(&mut self, s: &LocatedStmt) -> bool {
        let Stmt::For { body, .. } = &s.stmt else { return false };
        self.kept_values.turn.is_none() && self.keeps_now(s) && !self.has_words_of_turns(s, body)
    }

    /// Adds something in which nothing is kept.
    pub(super) fn keeping_nothing<T>(&mut self, add: impl FnOnce(&mut Self) -> T) -> T {
        self.keeping(None, add)
    }

    fn keeping<T>(&mut self, way: Option<Keeping>, add: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.kept_values.way, way);
        let done = add(self);
        self.kept_values.way = outer;
        done
    }

    /// Makes a computation, unless that has been done: it keeps values, or reads those that were kept.
    pub(super) fn compute_keeping(
        &mut self,
        (compute, body): (&[LocatedStmt], &[LocatedStmt]),
        is_computed: bool,
    ) -> Result<Kept, Refused> {
        let (way, kept) = self.begin_keeping(compute, body, is_computed);
        if !is_computed {
            self.keeping(way, |fw| fw.compute(compute, body))?;
        }
        let end = match kept.begin {
            Some(_) if self.kept_values.way == Some(Keeping::TakeBack) && !is_computed => {
                let end = self.fresh("end", Ty::Int);
                self.push(Out::Keep(Keep::Reader(end)));
                Some(end)
            }
            _ => None,
        };
        Ok(Kept { end, ..kept })
    }

    /// What happens to the values of a computation when it is made, and later.
    fn begin_keeping(
        &mut self,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
        is_computed: bool,
    ) -> (Option<Keeping>, Kept) {
        let begins = self.kept_values.way.is_none();
        let may_begin = !is_computed && self.ad_mode == AdMode::Gradient && self.kept_values.turn.is_none();
        let may = !begins || may_begin && self.w.keeps_in_loops(self.func, compute);
        if !self.w.keeps.wanted || !may || !self.w.computation_keeps(self.func, compute, body) {
            return (None, Kept::default());
        }
        self.w.keeps.some = true;
        let undo = (begins || self.kept_values.way == Some(Keeping::TakeBack)).then_some(Keeping::TakeBack);
        let way = match self.kept_values.way {
            None | Some(Keeping::Write) => Keeping::Write,
            Some(Keeping::Reread | Keeping::TakeBack) => Keeping::Reread,
        };
        if self.kept_values.turn.is_some() {
            return (Some(way), Kept { undo, ..Kept::default() });
        }
        if self.kept_values.way == Some(Keeping::Reread) {
            return (Some(way), Kept { mark: Some(Keep::PassMark), ..Kept::default() });
        }
        let begin = if self.kept_values.way == Some(Keeping::TakeBack) {
            let mark = self.fresh("kept", Ty::Int);
            self.push(Out::Keep(Keep::RereadFromMark(mark)));
            mark
        } else {
            self.end_of_words()
        };
        let mark = (self.kept_values.way == Some(Keeping::Write)).then_some(Keep::Mark(begin));
        (Some(way), Kept { begin: Some(begin), end: None, mark, undo })
    }

    /// Undoes a computation after `body`, and removes what it kept.
    pub(super) fn undo_keeping(&mut self, kept: Kept, compute: &[LocatedStmt], body: &[LocatedStmt]) -> Done {
        if let Some(end) = kept.end {
            self.push(Out::Keep(Keep::Agree(end)));
        }
        if let Some(mark) = kept.mark {
            self.push(Out::Keep(mark));
        }
        let outer = std::mem::replace(&mut self.kept_values.forgot, false);
        self.keeping(kept.undo, |fw| fw.undo(compute, body))?;
        let forgot = std::mem::replace(&mut self.kept_values.forgot, outer);
        if let Some(begin) = kept.begin.filter(|_| kept.undo.is_some()) {
            self.push(Out::Keep(if forgot { Keep::RemoveTo(begin) } else { Keep::Agree(begin) }));
        }
        Ok(())
    }

    /// Adds a loop, whose turns have words for the values that they keep if no loop or call in it keeps any.
    pub(super) fn keep_in_loop(&mut self, s: &LocatedStmt, add: impl FnOnce(&mut Self) -> Done) -> Done {
        let Stmt::For { var, blocks, .. } = &s.stmt else { return add(self) };
        if blocks.is_some() {
            return self.keeping_nothing(add);
        }
        let Some(way) = self.kept_values.way else { return add(self) };
        if self.kept_values.turn.is_some() || !self.keeps_now(s) {
            return add(self);
        }
        let (removed, words) = (way == Keeping::TakeBack, self.out.len());
        let Some(arrays) = self.words_of_turns(s, way) else { return add(self) };
        self.kept_values.turn = Some((*var, arrays));
        // What turns call may keep values of its own. It must not write them where the words are that turns read: these are removed after the loop.
        let after = removed.then(|| {
            let (before, after) = (self.fresh("kept", Ty::Int), self.end_of_words());
            self.out.insert(words, Out::Keep(Keep::End(before)));
            self.push(Out::Keep(Keep::RemoveTo(before)));
            after
        });
        let done = add(self);
        self.kept_values.turn = None;
        after.into_iter().for_each(|after| self.push(Out::Keep(Keep::RemoveTo(after))));
        done
    }

    /// Defines a variable as where the words end.
    fn end_of_words(&mut self) -> Local {
        let end = self.fresh("kept", Ty::Int);
        self.push(Out::Keep(Keep::End(end)));
        end
    }

    /// Whether a loop has a word for each turn for each value.
    fn has_words_of_turns(&mut self, s: &LocatedStmt, body: &[LocatedStmt]) -> bool {
        let Stmt::For { first, last, step, .. } = &s.stmt else { return false };
        let is_in_memory = [first, last].iter().any(|o| matches!(o, Operand::Mem(_)));
        matches!(step, Step::Const(1 | -1)) && !is_in_memory && !self.w.keeps_in_loops(self.func, body)
    }

    /// The words that a loop has for the values of its turns, by the statements that keep them; `None` if a loop or a call in it keeps values.
    fn words_of_turns(&mut self, s: &LocatedStmt, way: Keeping) -> Option<HashMap<*const LocatedStmt, Local>> {
        let Stmt::For { first, last, step, body, blocks: None, .. } = &s.stmt else { return None };
        if !self.has_words_of_turns(s, body) {
            return None;
        }
        let mut statements = Vec::new();
        self.w.keeping_statements(self.func, body, &mut statements);
        if way == Keeping::TakeBack {
            statements.reverse();
        }
        let (first, last) = if *step == Step::Const(1) { (*first, *last) } else { (*last, *first) };
        let (first, last) = (self.integer(first), self.integer(last));
        let mut arrays = HashMap::new();
        for s in statements {
            let base = self.fresh("values", Ty::Int);
            self.push(Out::Keep(Keep::Words { base, first, last, way }));
            arrays.insert(std::ptr::from_ref(s), base);
        }
        Some(arrays)
    }

    /// Adds a statement of which a value may be kept.
    pub(super) fn keep_value_of(&mut self, s: &LocatedStmt, add: impl FnOnce(&mut Self) -> Done) -> Done {
        let Some((way, kernel)) = self.kept_values.way.filter(|_| self.keeps_now(s)).zip(self.w.kept_kernel(&s.stmt))
        else {
            return add(self);
        };
        let array = match &self.kept_values.turn {
            Some((var, arrays)) => arrays.get(&std::ptr::from_ref(s)).map(|base| [Some(*base), Some(local(*var))]),
            None => None,
        };
        let locals = array.unwrap_or_else(|| [Some(self.keep_word(way)), None]);
        self.kept_values.word = Some((Place::Log(Address { locals, offset: 0 }), kernel));
        let done = add(self);
        self.kept_values.word = None;
        done
    }

    /// Whether the value is kept of the statement that is being built.
    pub(super) fn keeps_a_value(&self) -> bool {
        self.kept_values.word.is_some()
    }

    /// Writes the value of the kernel among the operations of such a statement, or reads it instead of computing it.
    /// `plain` are the operations on values alone.
    pub(super) fn keep_value(&self, plain: &[Op], body: &mut Body, slots: &mut Vec<Option<Slot>>) {
        let (Some((place, kernel)), Some(way)) = (self.kept_values.word, self.kept_values.way) else { return };
        let ops = &mut body.ops;
        let is_it = |op: &Op| matches!(op, Op::Kernel(k, _) if *k == kernel);
        let Some(own) = plain.iter().position(is_it) else { return };
        let mut all = (0..ops.len()).filter(|n| is_it(&ops[*n]) && is_same((ops, *n), (plain, own)));
        let Some(first) = all.next() else { return };
        let number = slots.len() as u8;
        slots.push(Some(Slot::Word(loops::Word { place, ty: Ty::F, lane: VALUE })));
        if way == Keeping::Write {
            ops.push(Op::Set(0, number, ValueId(first as u32)));
            return;
        }
        let others: Vec<usize> = all.collect();
        others.into_iter().chain([first]).for_each(|n| ops[n] = Op::Get(0, number));
    }
}

/// The kernel that operations call, if they call one, once, in any case.
fn only_kernel(ops: &[Op]) -> Option<u32> {
    let mut kernels = ops.iter().filter_map(|op| if let Op::Kernel(kernel, _) = op { Some(*kernel) } else { None });
    let kernel = kernels.next().filter(|_| kernels.next().is_none());
    kernel.filter(|_| !ops.iter().any(|op| matches!(op, Op::If(_) | Op::Second(_))))
}

/// Whether two operations compute the same from the operands as they are before the first.
fn is_same((xs, x): (&[Op], usize), (ys, y): (&[Op], usize)) -> bool {
    let (a, b) = (&xs[x], &ys[y]);
    let is_known = a.is_pure() || matches!(a, Op::Get(..) | Op::Kernel(..));
    let alike = is_known && a.map(|_| ValueId(0)) == b.map(|_| ValueId(0));
    alike && a.uses().zip(b.uses()).all(|(a, b)| is_same((xs, a.0 as usize), (ys, b.0 as usize)))
}
