//! Which statements, functions and computations keep values, and how many.

use pendula_codegen::lift::symbolic::{self, Operand as Word};
use pendula_codegen::ops::Op;
use pendula_isa::adjoint::AdMode;
use pendula_isa::{Acc, Ty};

use super::super::Builder;
use super::Of;
use crate::ir::{FunctionId, LocatedStmt, Operand, Stmt};

impl Builder<'_> {
    /// The kernel whose value a statement may keep.
    pub(super) fn kept_kernel(&mut self, s: &Stmt) -> Option<u32> {
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
    pub(super) fn block_keeps(&mut self, func: FunctionId, block: &[LocatedStmt], of: Of) -> bool {
        self.keeps.wanted && !self.keeps.without.all.contains(&func) && block.iter().any(|s| self.keeps(func, s, of))
    }

    pub(super) fn function_keeps(&mut self, func: FunctionId, of: Of) -> bool {
        if !self.keeps.wanted {
            return false;
        }
        if let Some(known) = self.keeps.functions.get(&(func, of)) {
            return *known;
        }
        let program = self.program;
        let (recursive, calls_itself) = (self.summaries.get(func).recursive, self.drops.calls_itself(func));
        let f = program.functions.get(func.0 as usize).filter(|_| !recursive || calls_itself);
        // A function that calls itself keeps what it keeps apart from that.
        self.keeps.functions.insert((func, of), false);
        let keeps = f.is_some_and(|f| self.block_keeps(func, &f.body, of));
        if keeps && calls_itself {
            // Calls of it were looked at before that was known.
            self.keeps.statements.clear();
        }
        self.keeps.functions.insert((func, of), keeps);
        keeps
    }

    /// Whether a computation keeps values: it is taken back as it was made.
    pub(super) fn computation_keeps(
        &mut self,
        func: FunctionId,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
        of: Of,
    ) -> bool {
        self.block_keeps(func, compute, of.within()) && self.is_taken_back_as_made(func, compute, body)
    }

    pub(super) fn is_taken_back_as_made(
        &mut self,
        func: FunctionId,
        compute: &[LocatedStmt],
        body: &[LocatedStmt],
    ) -> bool {
        let program = self.program;
        let Some(f) = program.functions.get(func.0 as usize) else { return false };
        self.drops.is_same_on_the_way_back(f, compute, body)
    }

    pub(super) fn keeps(&mut self, func: FunctionId, s: &LocatedStmt, of: Of) -> bool {
        if let Some(known) = self.keeps.statements.get(&(std::ptr::from_ref(s), of)) {
            return *known;
        }
        let keeps = match &s.stmt {
            _ if of.sums && self.keeps_sums(func, s) => true,
            Stmt::Update { .. } => of.functions && self.kept_kernel(&s.stmt).is_some(),
            Stmt::With { compute, body, .. } => {
                self.block_keeps(func, body, of) || self.computation_keeps(func, compute, body, of)
            }
            Stmt::If { then, otherwise, .. } => {
                self.block_keeps(func, then, of) || self.block_keeps(func, otherwise, of)
            }
            Stmt::While { first, body, .. } => self.block_keeps(func, first, of) || self.block_keeps(func, body, of),
            Stmt::For { body, blocks, .. } => blocks.is_none() && self.block_keeps(func, body, of),
            Stmt::Span { body, .. } => self.block_keeps(func, body, of),
            Stmt::Call { func, .. } => self.function_keeps(*func, of),
            Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Array { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => false,
        };
        self.keeps.statements.insert((std::ptr::from_ref(s), of), keeps);
        keeps
    }

    /// Whether loops and calls in a block keep values, each as many as it comes to.
    pub(super) fn keeps_in_loops(&mut self, func: FunctionId, block: &[LocatedStmt], of: Of) -> bool {
        self.keeps.wanted
            && block.iter().any(|s| match &s.stmt {
                _ if of.sums && !self.kept_sums(func, s).is_empty() => false,
                Stmt::For { .. } | Stmt::While { .. } | Stmt::Call { .. } => self.keeps(func, s, of),
                Stmt::With { compute, body, .. } => {
                    self.keeps_in_loops(func, body, of)
                        || self.computation_keeps(func, compute, body, of)
                            && self.keeps_in_loops(func, compute, of.within())
                }
                Stmt::If { then, otherwise, .. } => {
                    self.keeps_in_loops(func, then, of) || self.keeps_in_loops(func, otherwise, of)
                }
                Stmt::Span { body, .. } => self.keeps_in_loops(func, body, of),
                Stmt::Update { .. }
                | Stmt::Permute { .. }
                | Stmt::Ancilla { .. }
                | Stmt::Array { .. }
                | Stmt::Assert { .. }
                | Stmt::Show { .. }
                | Stmt::Print(_) => false,
            })
    }

    /// The statements of a block that keep values, and how many.
    pub(super) fn keeping_statements<'s>(
        &mut self,
        func: FunctionId,
        block: &'s [LocatedStmt],
        of: Of,
        out: &mut Vec<(&'s LocatedStmt, usize)>,
    ) {
        for s in block {
            let sums = if of.sums { self.kept_sums(func, s).len() } else { 0 };
            match &s.stmt {
                _ if sums > 0 => out.push((s, sums)),
                Stmt::With { compute, body, .. } => {
                    if self.computation_keeps(func, compute, body, of) {
                        self.keeping_statements(func, compute, of.within(), out);
                    }
                    self.keeping_statements(func, body, of, out);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.keeping_statements(func, then, of, out);
                    self.keeping_statements(func, otherwise, of, out);
                }
                Stmt::Span { body, .. } => self.keeping_statements(func, body, of, out),
                _ if self.keeps(func, s, of) => out.push((s, 1)),
                _ => {}
            }
        }
    }
}

/// The kernel that operations call, if they call one, once, in any case.
fn only_kernel(ops: &[Op]) -> Option<u32> {
    let mut kernels = ops.iter().filter_map(|op| if let Op::Kernel(kernel, _) = op { Some(*kernel) } else { None });
    let kernel = kernels.next().filter(|_| kernels.next().is_none());
    kernel.filter(|_| !ops.iter().any(|op| matches!(op, Op::If(_) | Op::Second(_))))
}
