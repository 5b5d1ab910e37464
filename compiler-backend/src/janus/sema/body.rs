//! The state of a procedure during its compilation: its statements, temporary variables and names.

use pendula_isa::table::{TableFn, int_fn, q_fn};
use pendula_isa::{Acc, Cond, Ty};

use pendula_isa::diagnostic::Diagnostic;

use super::scope::{Binding, Dim, Kind};
use super::{Done, Sema, Stop};
use crate::ir::{
    AncillaChecks, AssertKind, Block, IrFunction, Loc, Mem, Operand, Place, Region, Step, Stmt, Test, Var,
};
use crate::janus::ast::{IntTy, Mode, Name, Procedure, Span};
use crate::janus::{Settings, codes};

/// Where statements are emitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    /// Among the computations before the current statement, which are undone after it.
    Pre,
    /// The statement itself.
    Out,
}

/// The computations for a statement, and its effect.
#[derive(Default)]
struct Level {
    pre: Block,
    out: Block,
}

/// The variables and words that a statement has read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    pub(super) vars: Vec<Var>,
    pub(super) words: Vec<Mem>,
}

/// An integer type as it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width {
    /// The number of bits.
    pub(super) bits: u8,
    /// Whether it has a sign.
    pub(super) signed: bool,
    /// Whether wrapping is reported.
    pub(super) noted: bool,
}

/// A procedure that is being compiled.
pub(super) struct Body<'s, 'a> {
    pub(super) s: &'s mut Sema<'a>,
    pub(super) f: IrFunction,
    pub(super) scope: Vec<Binding>,
    levels: Vec<Level>,
    pub(super) loc: Loc,
    pub(super) reads: Reads,
    /// The name of temporary variables that must have their value again at the end of the statement: they are checked
    /// where they are deallocated.
    pub(super) frozen: Option<String>,
    /// Places that are zero, before or after the statement: the result of a function is added to them directly.
    pub(super) zeros: Vec<Place>,
    /// The numbers of words of the live local arrays.
    pub(super) lens: Vec<(Var, Operand)>,
    /// Whether every run reaches the current statement: it is in `main`, outside branches and loops.
    always_runs: bool,
}

impl<'s, 'a> Body<'s, 'a> {
    pub(super) fn new(s: &'s mut Sema<'a>, f: IrFunction, scope: Vec<Binding>) -> Body<'s, 'a> {
        let loc = f.loc;
        let levels = vec![Level::default()];
        let (reads, zeros, lens) = (Reads::default(), Vec::new(), Vec::new());
        Body { s, f, scope, levels, loc, reads, frozen: None, zeros, lens, always_runs: false }
    }

    /// The compiled function.
    pub(super) fn finish(mut self) -> IrFunction {
        self.f.body = self.levels.pop().map(|l| l.out).unwrap_or_default();
        self.f
    }

    /// Compiles a procedure's body.
    pub(super) fn procedure(&mut self, p: &Procedure) {
        self.loc = self.s.loc(&p.name.span);
        let ancillas: Vec<&Name> = p.decls.iter().filter(|d| d.mode == Mode::Ancilla).map(|d| &d.name).collect();
        self.always_runs = p.name.text == "main";
        self.ancillas(&ancillas, "where the procedure begins");
        self.statements(&p.body);
        self.loc = self.s.loc(&p.name.span);
        self.ancillas(&ancillas, "where the procedure ends");
    }

    /// Asserts that these variables are zero.
    fn ancillas(&mut self, names: &[&Name], when: &str) {
        for name in names {
            let reason = format!("the ancilla `{}` is not zero {when}", name.text);
            let _ = self.statement(|b| {
                let binding = b.binding(name)?;
                let word = match &binding.kind {
                    Kind::Scalar(_) => {
                        let word = b.scalar(name)?;
                        b.compared(word.into())
                    }
                    Kind::Stack => b.count(name)?,
                    Kind::Array(_, dims) => {
                        let (at, last) = (b.memory(&binding)?, b.last_word(dims));
                        b.each_word(at, last, |b, word| b.assert_zero(Sink::Out, Operand::Mem(word), &reason));
                        return Ok(());
                    }
                };
                b.assert_zero(Sink::Pre, word, &reason);
                Ok(())
            });
        }
    }

    pub(super) fn fail<T>(
        &mut self,
        span: &Span,
        code: &'static str,
        message: impl Into<String>,
        help: &str,
    ) -> Done<T> {
        self.s.fail(span, code, message, help)
    }

    /// An error if every run reaches this point; otherwise a warning, and the run stops here.
    pub(super) fn fail_when_reached(
        &mut self,
        span: &Span,
        code: &'static str,
        message: String,
        help: &str,
    ) -> Done<()> {
        if self.always_runs {
            return self.fail(span, code, message, help);
        }
        let d = Diagnostic::warning(code, message).at(self.s.place(span), "a run that reaches this stops").help(help);
        // A procedure is compiled more than once.
        if !self.s.found.contains(&d) {
            self.s.found.push(d);
        }
        Ok(())
    }

    /// Compiles statements that a run may skip.
    pub(super) fn conditional_block(&mut self, list: &[crate::janus::ast::Stmt]) -> Block {
        let outer = std::mem::replace(&mut self.always_runs, false);
        let (block, ()) = self.block(|b| b.statements(list));
        self.always_runs = outer;
        block
    }

    /// The binding of a name.
    pub(super) fn binding(&mut self, name: &Name) -> Done<Binding> {
        match self.scope.iter().rev().find(|b| b.name.text == name.text) {
            Some(b) => Ok(b.clone()),
            None => {
                let message = format!("there is no variable `{}` here", name.text);
                let help = match self.s.nearest_name(&name.text, self.scope.iter().rev().map(|b| b.name.text.as_str()))
                {
                    Some(nearest_name) => format!("did you mean `{nearest_name}`?"),
                    None => "declare it as a parameter, with `local`, or in `main`".to_string(),
                };
                self.fail(&name.span, codes::UNKNOWN, message, &help)
            }
        }
    }

    /// Compiles a part with a source position of its own.
    pub(super) fn at<T>(&mut self, span: &Span, part: impl FnOnce(&mut Self) -> T) -> T {
        let loc = self.s.loc(span);
        let outer = std::mem::replace(&mut self.loc, loc);
        if loc != outer {
            let parts = &mut self.s.program.parts;
            let statement = parts.get(&outer).copied().unwrap_or(outer);
            parts.insert(loc, statement);
        }
        let done = part(self);
        self.loc = outer;
        done
    }

    pub(super) fn emit(&mut self, sink: Sink, stmt: Stmt) {
        let at = stmt.at(self.loc);
        if let Some(level) = self.levels.last_mut() {
            match sink {
                Sink::Pre => level.pre.push(at),
                Sink::Out => level.out.push(at),
            }
        }
    }

    /// Compiles a statement: its computations are undone after it.
    pub(super) fn statement<T>(&mut self, part: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        let (Level { pre, mut out }, done) = self.level(part);
        if pre.is_empty() {
            if let Some(level) = self.levels.last_mut() {
                level.out.append(&mut out);
            }
        } else {
            let name = format!("{}.{}", self.f.name, self.loc.line);
            self.emit(Sink::Out, Stmt::With { name, compute: pre, body: out });
        }
        done
    }

    /// The statements that a part emits, separately.
    pub(super) fn block<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let (level, done) = self.level(part);
        (level.out, done)
    }

    fn level<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> (Level, T) {
        let reads = std::mem::take(&mut self.reads);
        self.levels.push(Level::default());
        let done = part(self);
        self.reads = reads;
        (self.levels.pop().unwrap_or_default(), done)
    }

    /// The computation of a part, separately. The places that it reads are recorded.
    pub(super) fn computed<T>(&mut self, part: impl FnOnce(&mut Self) -> Done<T>) -> Done<(Block, T)> {
        self.levels.push(Level::default());
        let done = part(self);
        let level = self.levels.pop().unwrap_or_default();
        Ok((level.pre, done?))
    }

    pub(super) fn statements(&mut self, list: &[crate::janus::ast::Stmt]) {
        for stmt in list {
            let loc = self.s.loc(&stmt.span);
            let outer = std::mem::replace(&mut self.loc, loc);
            let _: Result<(), Stop> = self.stmt(stmt);
            self.loc = outer;
        }
    }

    pub(super) fn update(
        &mut self,
        sink: Sink,
        (acc, inverse): (Acc, bool),
        func: TableFn,
        dst: Place,
        args: Vec<Operand>,
    ) {
        self.emit(sink, Stmt::Update { acc, inverse: inverse && !acc.self_inverse(), func, dst, args });
    }

    /// A new temporary variable. It is deallocated at the end of the statement, by undoing what is emitted for it to
    /// [`Sink::Pre`].
    pub(super) fn temporary(&mut self, name: &str) -> Var {
        let (name, checks) = match &self.frozen {
            Some(name) => (name.clone(), AncillaChecks { check: true, drop: false }),
            None => (name.to_string(), AncillaChecks::NONE),
        };
        let var = self.f.fresh(name, Ty::Int);
        self.emit(Sink::Pre, Stmt::Ancilla { var, free: false, checks });
        var
    }

    /// A copy of an operand in a temporary variable.
    pub(super) fn copy(&mut self, of: Operand) -> Operand {
        let var = self.temporary("copy");
        self.update(Sink::Pre, (Acc::Add, false), ID, Place::Var(var), vec![of]);
        Operand::Var(var)
    }

    /// The wrapping sum of operands: an operand itself, or a temporary variable.
    pub(super) fn sum(&mut self, parts: &[Operand]) -> Operand {
        let known = parts.iter().map(|p| if let Operand::Const(k) = p { *k } else { 0 });
        let known = known.fold(0u64, u64::wrapping_add);
        let rest: Vec<Operand> = parts.iter().copied().filter(|p| !matches!(p, Operand::Const(_))).collect();
        match (rest.as_slice(), known) {
            ([], k) => Operand::Const(k),
            ([Operand::Var(v)], 0) => Operand::Var(*v),
            (rest, k) => {
                let var = self.temporary("sum");
                for part in rest {
                    self.update(Sink::Pre, (Acc::Add, false), ID, Place::Var(var), vec![*part]);
                }
                if k != 0 {
                    self.update(Sink::Pre, (Acc::Add, false), ID, Place::Var(var), vec![Operand::Const(k)]);
                }
                Operand::Var(var)
            }
        }
    }

    /// An operand for a comparison: a word of memory, or a constant that is too large for a jump, is copied.
    pub(super) fn compared(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Var(_) => operand,
            Operand::Const(k) if (-16384..16384).contains(&k.cast_signed()) => operand,
            Operand::Const(_) | Operand::Mem(_) => self.copy(operand),
        }
    }

    pub(super) fn assert(&mut self, sink: Sink, test: Test, why: AssertKind, reason: &str) {
        let reason = Some(self.s.reason(reason));
        self.emit(sink, Stmt::Assert { test, why, reason });
    }

    /// Asserts that a word is zero.
    pub(super) fn assert_zero(&mut self, sink: Sink, word: Operand, reason: &str) {
        self.assert(sink, Test::int(Cond::Eq, word, Operand::Const(0)), AssertKind::User, reason);
    }

    /// The number of the last word of an array.
    pub(super) fn last_word(&mut self, dims: &[Dim]) -> Operand {
        let total = self.total(dims);
        self.sum(&[total, Operand::Const(u64::MAX)])
    }

    /// Emits a loop over words 0 to `last` of an array; `part` emits what it does with one of them.
    pub(super) fn each_word(
        &mut self,
        (base, region): (Var, Region),
        last: Operand,
        part: impl FnOnce(&mut Self, Mem),
    ) {
        let k = self.f.fresh("k", Ty::Int);
        let word = Mem { base: Some(base), index: Some(k), offset: 0, region };
        let (body, ()) = self.block(|b| part(b, word));
        self.emit(
            Sink::Out,
            Stmt::For { var: k, first: Operand::Const(0), last, step: Step::Const(1), body, blocks: None },
        );
    }

    /// An assertion that fails.
    pub(super) fn never(&mut self, sink: Sink, why: AssertKind, reason: &str) {
        let zero = Operand::Const(0);
        self.assert(sink, Test::int(Cond::Ne, zero, zero), why, reason);
    }

    /// How an integer type is computed.
    pub(super) fn width(&self, ty: IntTy) -> Width {
        width(self.s.settings, ty)
    }

    /// The number of emitted statements.
    fn marked(&self) -> usize {
        self.levels.last().map_or(0, |l| l.out.len())
    }

    /// The statements that a part has emitted, without its computation, which stays.
    pub(super) fn aside<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let mark = self.marked();
        let done = part(self);
        (self.levels.last_mut().map(|l| l.out.split_off(mark)).unwrap_or_default(), done)
    }

    /// Appends statements of the representation.
    pub(super) fn append(&mut self, mut block: Block) {
        if let Some(level) = self.levels.last_mut() {
            level.out.append(&mut block);
        }
    }
}

/// How an integer type is computed.
pub(super) fn width(settings: &Settings, ty: IntTy) -> Width {
    match ty {
        IntTy::Int if settings.int32 => Width { bits: 32, signed: true, noted: false },
        IntTy::Int => Width { bits: 64, signed: true, noted: true },
        IntTy::Sized { bits, signed } => Width { bits, signed, noted: false },
    }
}

/// The identity of words.
pub(super) const ID: TableFn = TableFn::Int(int_fn::Name::Id);

impl Width {
    /// The identity for adding an operand. Where wrapping is reported, it is the one of fixed-point numbers: it adds
    /// the same words, and reports overflow.
    pub(super) fn id(self) -> TableFn {
        if self.noted { TableFn::Q(q_fn::Name::Id) } else { ID }
    }

    /// a + b, or a − b.
    pub(super) fn sum(self, minus: bool) -> TableFn {
        match (self.noted, minus) {
            (true, false) => TableFn::Q(q_fn::Name::Plus),
            (true, true) => TableFn::Q(q_fn::Name::Minus),
            (false, false) => TableFn::Int(int_fn::Name::Plus),
            (false, true) => TableFn::Int(int_fn::Name::Minus),
        }
    }

    /// a·b.
    pub(super) fn product(self) -> TableFn {
        if self.noted { TableFn::Q(q_fn::Name::Prod) } else { TableFn::Int(int_fn::Name::Mul) }
    }

    /// Whether the type fills a word.
    pub(super) fn is_full(self) -> bool {
        self.bits == 64
    }

    /// The least and the greatest number.
    pub(super) fn range(self) -> (i128, i128) {
        let bits = u32::from(self.bits);
        if self.signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// The number of a word.
    pub(super) fn number(self, word: u64) -> i128 {
        if self.signed { i128::from(word.cast_signed()) } else { i128::from(word) }
    }

    /// The word of a number, wrapped.
    pub(super) fn wrap(self, n: i128) -> u64 {
        let shift = 64 - u32::from(self.bits);
        let word = (n as u64) << shift;
        if self.signed { (word.cast_signed() >> shift).cast_unsigned() } else { word >> shift }
    }
}
