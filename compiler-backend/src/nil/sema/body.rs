//! The state of a function during its compilation: its statements, the computations of the current statement, and the
//! scopes.

use std::collections::{HashMap, HashSet};

use pendula_isa::diagnostic::Diagnostic;
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Ty};

use super::scope::Scopes;
use super::value::Product;
use super::{Done, Sema, Stop, accumulator};
use crate::ir::{self, AncillaChecks, Block, FunctionId, Loc, LocatedStmt, Operand, Place, Region, Stmt, Var};
use crate::nil::ast;
use crate::nil::types::Type;

/// Where statements are emitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    /// Among the computations before the current statement, which are undone after it.
    Pre,
    /// The statement itself.
    Out,
}

/// A statement that is being compiled.
#[derive(Default)]
pub(super) struct Statement {
    /// Its computations, and its effect.
    pub(super) pre: Block,
    pub(super) out: Block,
    /// Its checks that have not been emitted yet.
    pub(super) asserts: Vec<Stmt>,
    /// The addresses that it has computed.
    pub(super) addresses: HashMap<Vec<Product>, Var>,
    /// The places that its computations have read.
    pub(super) reads: Vec<Place>,
    /// The arrays that were passed to functions in these computations.
    pub(super) regions_read: Vec<Region>,
}

/// A function that is being compiled.
pub(super) struct Body<'s, 'a> {
    pub(super) s: &'s mut Sema<'a>,
    pub(super) file: u16,
    pub(super) fun: FunctionId,
    pub(super) f: ir::IrFunction,
    /// The bound type variables.
    pub(super) types: HashMap<String, Type>,
    pub(super) scopes: Scopes,
    /// What the current statement consists of so far.
    pub(super) now: Statement,
    /// For each array parameter, the first parameter that it may overlap with.
    pub(super) classes: Vec<usize>,
    /// The regions of the array parameters so far.
    pub(super) param_regions: Vec<Region>,
    /// The lengths of the arrays in a broadcast statement.
    pub(super) shape: Vec<Operand>,
    pub(super) loc: Loc,
    /// Whether ancillas are checked where they are deallocated.
    pub(super) checks: bool,
    /// Whether indices are checked.
    pub(super) bounds: bool,
    /// Whether the next loop makes sums in blocks.
    pub(super) blocks: bool,
    /// The type that untyped numbers take.
    pub(super) expected_type: Option<Ty>,
    /// If the target is a logarithmic number in doubles: whether it has a sign.
    pub(super) expected_log: Option<bool>,
    /// Whether a logarithmic number in doubles was combined with one of type `.l`.
    pub(super) mixed: bool,
    /// Whether `ULogarithmic(x)` of a double has the type `.l`.
    pub(super) words: bool,
    /// The allocated arrays; the last one is on top of the stack.
    pub(super) arrays: Vec<Var>,
    /// Arrays that were deallocated below others on the stack, with the statements that are still to be emitted.
    pub(super) deferred: Vec<(Var, Block)>,
    /// The loop variables of a broadcast statement.
    pub(super) points: Option<Vec<Var>>,
    /// The part of the tuples that a broadcast statement goes over, counted from 0, and how many there are.
    pub(super) part: Option<(usize, usize)>,
    /// Variables that do not change: addresses and lengths of arrays, loop counters.
    pub(super) fixed: HashSet<Var>,
    /// Those of them that are the length of one array.
    pub(super) own_lengths: HashSet<Var>,
    /// For the address of an array, the variable that holds its number of words.
    pub(super) totals: HashMap<Var, Var>,
    /// Names whose allocation had an error.
    pub(super) failed: HashSet<String>,
    /// For each open loop, the number of names at its beginning.
    pub(super) loops: Vec<usize>,
    /// The parameters with their own places.
    pub(super) parameters: Vec<(ast::Name, super::value::Value)>,
    /// Whether the array that ends holds zeros, whatever it began with: its elements have moved to a stack.
    pub(super) emptied: bool,
    /// The number of the global stack that the next push or pop is for.
    pub(super) stack: usize,
    /// The number of functions of the host, one within the other, whose expressions are being evaluated.
    pub(super) within: usize,
    /// The host's scopes around the function.
    pub(super) scope: &'a [usize],
    /// Routines that are undone separately: their names and bodies.
    pub(super) routines: Vec<(Option<String>, Vec<ast::Stmt>)>,
}

impl<'a> Body<'_, 'a> {
    pub(super) fn error(
        &mut self,
        span: &ast::Span,
        code: &'static str,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let file = self.file;
        self.s.error(file, span, code, message)
    }

    /// Reports an error with a help line.
    pub(super) fn fail<T>(
        &mut self,
        span: &ast::Span,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Done<T> {
        self.error(span, code, message).help = Some(help.into());
        Err(Stop)
    }

    pub(super) fn warn(&mut self, span: &ast::Span, code: &'static str, message: impl Into<String>, help: &str) {
        let place = pendula_isa::diagnostic::Place { file: self.file, span: span.clone() };
        // Users cannot change the library, so its warnings are left out.
        if !self.s.inputs.get(self.file as usize).is_some_and(|i| i.library) {
            self.s.diagnostics.push(Diagnostic::warning(code, message).at(place, "").help(help));
        }
    }

    pub(super) fn emit(&mut self, sink: Sink, stmt: Stmt) {
        let at = LocatedStmt { stmt, loc: self.loc };
        match sink {
            Sink::Pre => self.now.pre.push(at),
            Sink::Out => self.now.out.push(at),
        }
    }

    /// The index of an assertion's message among the program's reasons.
    pub(super) fn reason(&mut self, text: String) -> Option<u32> {
        let (numbers, reasons) = (&mut self.s.reasons, &mut self.s.program.reasons);
        let number = numbers.entry(text).or_insert_with_key(|text| {
            reasons.push(text.clone());
            reasons.len() as u32 - 1
        });
        Some(*number)
    }

    /// A piece of the source for messages: on one line, and cut off if it is long.
    pub(super) fn source(&self, span: &ast::Span) -> String {
        const MAX: usize = 60;
        let text = self.s.inputs.get(self.file as usize).and_then(|i| i.text.get(span.clone())).unwrap_or_default();
        let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.chars().count() > MAX {
            words = words.chars().take(MAX).chain(['…']).collect();
        }
        words
    }

    /// Whether a loop has begun since there were `n` names.
    pub(super) fn loops_since(&self, n: usize) -> bool {
        self.loops.iter().any(|start| *start > n)
    }

    pub(super) fn fresh(&mut self, name: &str, ty: Ty) -> Var {
        self.f.fresh(name, ty)
    }

    pub(super) fn region(&mut self, name: &str, ty: Ty) -> Region {
        self.f.region(name, ty)
    }

    /// A new ancilla among the computations before the statement. Accumulating onto it is undone exactly, so nothing is
    /// checked.
    pub(super) fn temp(&mut self, name: &str, ty: Ty) -> Var {
        let var = self.fresh(name, ty);
        // Sums that are added part by part leave a rounding error.
        let checks = AncillaChecks { check: ty == Ty::F && self.s.settings.fast_float, drop: true };
        self.emit(Sink::Pre, Stmt::Ancilla { var, free: false, checks });
        var
    }

    /// `dst ⊕= func(args)`.
    pub(super) fn update(
        &mut self,
        sink: Sink,
        acc: Acc,
        inverse: bool,
        func: TableFn,
        dst: Place,
        args: Vec<Operand>,
    ) {
        let memory = matches!(dst, Place::Mem(_)) || args.iter().any(|a| matches!(a, Operand::Mem(_)));
        if sink == Sink::Pre {
            if memory {
                self.flush_asserts();
            }
            self.now.reads.extend(args.iter().filter_map(|a| match a {
                Operand::Const(_) => None,
                Operand::Var(v) => Some(Place::Var(*v)),
                Operand::Mem(m) => Some(Place::Mem(*m)),
            }));
        }
        self.emit(sink, Stmt::Update { acc, inverse: inverse && !acc.self_inverse(), func, dst, args });
    }

    /// Emits the pending checks before the next computation.
    pub(super) fn flush_asserts(&mut self) {
        for stmt in std::mem::take(&mut self.now.asserts) {
            self.emit(Sink::Pre, stmt);
        }
    }

    /// An integer sum of products in an ancilla, computed once in a statement.
    pub(super) fn integer_sum(&mut self, name: &str, mut terms: Vec<Product>) -> Var {
        terms.retain(|t| t.factor != 0);
        if let Some(var) = self.now.addresses.get(&terms) {
            return *var;
        }
        let var = self.temp(name, Ty::Int);
        let number: i64 = terms.iter().filter(|t| t.of.is_empty()).fold(0, |n, t| n.wrapping_add(t.factor));
        for term in &terms {
            self.add_product(var, term);
        }
        if number != 0 {
            let args = vec![Operand::Const(number.cast_unsigned())];
            self.update(Sink::Pre, Acc::Add, false, TableFn::Int(int_fn::Name::Id), Place::Var(var), args);
        }
        self.now.addresses.insert(terms, var);
        var
    }

    fn add_product(&mut self, var: Var, term: &Product) {
        let factor = Operand::Const(term.factor.unsigned_abs());
        let (inverse, plain) = (term.factor < 0, term.factor.unsigned_abs() == 1);
        let mut of = term.of.clone();
        // The first two of three or more factors are multiplied first.
        while of.len() + usize::from(!plain) > 2 {
            let (a, b) = (of.remove(0), of.remove(0));
            let t = self.temp("product", Ty::Int);
            self.update(Sink::Pre, Acc::Add, false, TableFn::Int(int_fn::Name::Mul), Place::Var(t), vec![a, b]);
            of.insert(0, Operand::Var(t));
        }
        let (func, args) = match (of.as_slice(), plain) {
            ([], _) => return,
            ([a], true) => (int_fn::Name::Id, vec![*a]),
            ([a], false) => (int_fn::Name::Mul, vec![*a, factor]),
            ([a, b, ..], _) => (int_fn::Name::Mul, vec![*a, *b]),
        };
        self.update(Sink::Pre, Acc::Add, inverse, TableFn::Int(func), Place::Var(var), args);
    }

    /// Runs `f` and wraps its statements as one statement: its computations are undone afterwards.
    pub(super) fn statement<T>(&mut self, f: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        let outer = std::mem::take(&mut self.now);
        let result = f(self);
        let name = self.span_name();
        let (pre, mut body) = self.resume(outer);
        if pre.is_empty() {
            self.now.out.append(&mut body);
        } else {
            self.emit(Sink::Out, Stmt::With { name, compute: pre, body });
        }
        result
    }

    /// Runs `f` and gives its statements.
    pub(super) fn block<T>(&mut self, f: impl FnOnce(&mut Self) -> Done<T>) -> (Block, Done<T>) {
        let outer = std::mem::take(&mut self.now);
        let result = self.statement(f);
        let (_, body) = self.resume(outer);
        (body, result)
    }

    /// Runs `f`, which computes something, and gives the computation; the caller must undo it.
    pub(super) fn computed<T>(&mut self, f: impl FnOnce(&mut Self) -> Done<T>) -> (Block, Done<T>) {
        let outer = std::mem::take(&mut self.now);
        let result = f(self);
        self.flush_asserts();
        // The caller of the computation reads the same places.
        let (reads, regions) = (self.now.reads.clone(), self.now.regions_read.clone());
        let (pre, _) = self.resume(outer);
        self.now.reads.extend(reads);
        self.now.regions_read.extend(regions);
        (pre, result)
    }

    /// The computation and the statements since the statement `outer` was suspended, with the remaining checks before the statements.
    fn resume(&mut self, outer: Statement) -> (Block, Block) {
        let Statement { pre, out, asserts, .. } = std::mem::replace(&mut self.now, outer);
        let mut body: Block = asserts.into_iter().map(|s| s.at(self.loc)).collect();
        body.extend(out);
        (pre, body)
    }

    pub(super) fn span_name(&self) -> String {
        format!("{}.{}", self.f.name, self.loc.line)
    }

    /// A value as an operand: unless it is one already, it is computed in an ancilla.
    pub(super) fn put(&mut self, ty: Ty, value: super::value::ScalarExpr) -> Done<Operand> {
        if let Some(leaf) = value.leaf() {
            return Ok(leaf);
        }
        let var = self.temp("t", ty);
        self.accumulate(Sink::Pre, Place::Var(var), ty, accumulator(ty), false, value)?;
        Ok(Operand::Var(var))
    }

    /// The same in a new variable, which keeps its value when its inputs change.
    pub(super) fn copy(&mut self, ty: Ty, value: super::value::ScalarExpr) -> Done<Var> {
        let var = self.temp("t", ty);
        self.accumulate(Sink::Pre, Place::Var(var), ty, accumulator(ty), false, value)?;
        Ok(var)
    }
}
