//! Words as terms of bit vectors: the arithmetic in which kernels and bodies are written, for an SMT solver.

mod arith;

use std::io;

use easy_smt::{Context, Response, SExpr};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::kernels::Defined;

/// A call of a kernel: its arguments, and whether it has a value.
#[derive(Clone, Copy)]
struct Call {
    arguments: [SExpr; 4],
    ok: SExpr,
}

/// Terms, and the solver that knows their definitions. Each operation defines a name, so that a term that is used often is written once.
pub struct Terms {
    context: Context,
    width: u32,
    frac: u32,
    next: u64,
    /// The functions that have been declared.
    declared: FxHashSet<String>,
    /// The names of terms: what is computed twice is the same.
    names: FxHashMap<SExpr, SExpr>,
    /// Words that are 1 where a condition holds, and else 0.
    conditions: FxHashMap<SExpr, SExpr>,
    /// The first thing that went wrong; what follows means nothing.
    error: Option<io::Error>,
    /// What must hold for the body to come to its end, and the conditions under which what is being computed is computed at all.
    pub(crate) ok: SExpr,
    path: SExpr,
    /// Whether overflow of a fixed-point number stops a run.
    trap_overflow: SExpr,
    /// The number of quarter turns of a rotation, if that is known.
    pub(crate) case: Option<u64>,
    /// The kernels of which it has been proved that their inverses undo them: no more need be known.
    pub(crate) proved: FxHashSet<&'static str>,
    /// What such kernels have been called with, by name and the words that they change.
    called: FxHashMap<(&'static str, [SExpr; 2]), Call>,
    /// The kernels that have been left uninterpreted.
    pub(crate) uninterpreted: FxHashSet<&'static str>,
}

impl Terms {
    /// Words of this width, of which so many bits are fraction in fixed point.
    pub fn new(context: Context, width: u32, frac: u32) -> Terms {
        let yes = context.true_();
        Terms {
            context,
            width,
            frac,
            next: 0,
            declared: FxHashSet::default(),
            names: FxHashMap::default(),
            conditions: FxHashMap::default(),
            error: None,
            ok: yes,
            path: yes,
            trap_overflow: yes,
            case: None,
            proved: FxHashSet::default(),
            called: FxHashMap::default(),
            uninterpreted: FxHashSet::default(),
        }
    }

    /// Whether what has been computed since the last [`Terms::restart`] has come to its end.
    pub fn ok(&self) -> SExpr {
        self.ok
    }

    /// Begins a claim of its own.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn begin(&mut self) -> io::Result<()> {
        self.context.push_many(1)?;
        self.declared.clear();
        self.conditions.clear();
        self.names.clear();
        self.called.clear();
        self.uninterpreted.clear();
        self.trap_overflow = self.unknown_condition("trap_overflow");
        self.restart();
        Ok(())
    }

    /// What follows is computed from its beginning.
    pub fn restart(&mut self) {
        (self.ok, self.path) = (self.context.true_(), self.context.true_());
    }

    /// Ends a claim.
    ///
    /// # Errors
    /// The solver does not work, or what it was told was wrong.
    pub fn end(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)?;
        self.context.pop_many(1)
    }

    /// Whether there are states in which a condition holds; until it is [forgotten](Terms::forget).
    ///
    /// # Errors
    /// The solver does not work, or what it was told was wrong.
    pub fn is_possible(&mut self, condition: SExpr) -> io::Result<Response> {
        self.error.take().map_or(Ok(()), Err)?;
        self.context.push_many(1)?;
        self.context.assert(condition)?;
        self.context.check()
    }

    /// Forgets the condition that was asked for last.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn forget(&mut self) -> io::Result<()> {
        self.context.pop_many(1)
    }

    /// The values of words in the state that was found.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn values(&mut self, of: &[SExpr]) -> io::Result<Vec<u64>> {
        let values = self.context.get_value(of.to_vec())?;
        let number = |value: SExpr| match self.context.get_atom(value) {
            Some("true") => Some(1),
            Some("false") => Some(0),
            Some(text) => match text.as_bytes() {
                [b'#', b'x', ..] => u64::from_str_radix(&text[2..], 16).ok(),
                [b'#', b'b', ..] => u64::from_str_radix(&text[2..], 2).ok(),
                _ => None,
            },
            None => None,
        };
        let read: Option<Vec<u64>> = values.into_iter().map(|(_, value)| number(value)).collect();
        read.ok_or_else(|| io::Error::other("it gives values that are no words"))
    }

    fn note<T>(&mut self, made: io::Result<T>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }

    /// The sort of words of this many bits.
    pub(crate) fn sort(&self, bits: u32) -> SExpr {
        self.context.bit_vec_sort(self.context.numeral(bits))
    }

    /// What builds terms.
    pub(crate) fn build(&self) -> &Context {
        &self.context
    }

    fn name(&mut self, sort: SExpr, term: SExpr) -> SExpr {
        if term.is_atom() {
            return term;
        }
        if let Some(name) = self.names.get(&term) {
            return *name;
        }
        self.next += 1;
        let name = format!("t{}", self.next);
        let made = self.context.define_const(name, sort, term);
        let name = self.note(made).unwrap_or(term);
        self.names.insert(term, name);
        name
    }

    /// A name for a word of the machine.
    pub(crate) fn named(&mut self, term: SExpr) -> SExpr {
        let sort = self.sort(self.width);
        self.name(sort, term)
    }

    /// A name for a word of this many bits.
    pub(crate) fn named_bits(&mut self, bits: u32, term: SExpr) -> SExpr {
        let sort = self.sort(bits);
        self.name(sort, term)
    }

    /// A name for a condition.
    pub(crate) fn condition(&mut self, term: SExpr) -> SExpr {
        let sort = self.context.bool_sort();
        self.name(sort, term)
    }

    fn unknown_of(&mut self, name: &str, sort: SExpr) -> SExpr {
        if !self.declared.insert(name.to_string()) {
            return self.context.atom(name);
        }
        let made = self.context.declare_const(name, sort);
        let atom = self.context.atom(name);
        self.note(made).unwrap_or(atom)
    }

    /// The condition that two words are the same.
    pub fn same(&self, a: SExpr, b: SExpr) -> SExpr {
        self.context.eq(a, b)
    }

    /// Whether something of this name is spoken of.
    pub(crate) fn is_declared(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// A word of which nothing is known.
    pub fn unknown(&mut self, name: &str) -> SExpr {
        let sort = self.sort(self.width);
        self.unknown_of(name, sort)
    }

    /// A condition of which nothing is known.
    pub fn unknown_condition(&mut self, name: &str) -> SExpr {
        let sort = self.context.bool_sort();
        self.unknown_of(name, sort)
    }

    /// A number as a word of this many bits.
    pub(crate) fn number(&self, bits: u32, value: u64) -> SExpr {
        self.context.binary(bits as usize, if bits < 64 { value & ((1 << bits) - 1) } else { value })
    }

    /// Whether a word is not zero.
    pub(crate) fn is_set(&mut self, word: SExpr) -> SExpr {
        if let Some(condition) = self.conditions.get(&word) {
            return *condition;
        }
        let zero = self.number(self.width, 0);
        let differs = self.context.not(self.context.eq(word, zero));
        self.condition(differs)
    }

    /// 1 where a condition holds, and else 0.
    pub(crate) fn flag(&mut self, condition: SExpr) -> SExpr {
        let condition = self.condition(condition);
        let (one, zero) = (self.number(self.width, 1), self.number(self.width, 0));
        let word = self.context.ite(condition, one, zero);
        let word = self.named(word);
        self.conditions.insert(word, condition);
        word
    }

    /// Demands a condition, where it is reached.
    pub(crate) fn demand(&mut self, condition: SExpr) {
        let reached = self.context.imp(self.path, condition);
        let both = self.context.and(self.ok, reached);
        self.ok = self.condition(both);
    }

    /// What is demanded from now on is demanded only where a condition holds. Gives what [`Terms::leave`] takes.
    pub(crate) fn enter(&mut self, condition: SExpr) -> SExpr {
        let before = self.path;
        let both = self.context.and(before, condition);
        self.path = self.condition(both);
        before
    }

    /// Ends that.
    pub(crate) fn leave(&mut self, before: SExpr) {
        self.path = before;
    }

    /// The value of a function of which nothing is known but that it is one.
    pub(crate) fn apply(&mut self, name: &str, arguments: &[SExpr], sorts: (&[SExpr], SExpr)) -> SExpr {
        if self.declared.insert(name.to_string()) {
            let made = self.context.declare_fun(name, sorts.0.to_vec(), sorts.1);
            self.note(made);
        }
        let list = std::iter::once(self.context.atom(name)).chain(arguments.iter().copied()).collect();
        self.context.list(list)
    }

    /// A word that a function of words gives, of which nothing is known.
    pub(crate) fn function(&mut self, name: &str, arguments: &[SExpr]) -> SExpr {
        let word = self.sort(self.width);
        let value = self.apply(name, arguments, (&vec![word; arguments.len()], word));
        self.named(value)
    }

    /// The same for a condition on words.
    pub(crate) fn predicate(&mut self, name: &str, arguments: &[SExpr]) -> SExpr {
        let (word, truth) = (self.sort(self.width), self.context.bool_sort());
        let value = self.apply(name, arguments, (&vec![word; arguments.len()], truth));
        self.condition(value)
    }

    /// The value of an operation on doubles, of which nothing is known but that it depends on its operands.
    fn float_operation(&mut self, name: &'static str, arguments: &[SExpr]) -> SExpr {
        self.uninterpreted.insert(name);
        let ok = self.predicate(&format!("{name}_ok"), arguments);
        self.demand(ok);
        self.function(name, arguments)
    }

    /// A kernel of which it is proved that its inverse undoes it: a function, of which that is known where the one is called with what the other has
    /// given.
    fn inverted(&mut self, kernel: Defined, x: [SExpr; 4]) -> [SExpr; 2] {
        let arguments = &x[..kernel.arity];
        let ok = self.predicate(&format!("{}_ok", kernel.name), arguments);
        let first = self.function(kernel.name, arguments);
        let second =
            if kernel.changed > 1 { self.function(&format!("{}_second", kernel.name), arguments) } else { first };
        let changed = |words: &[SExpr; 4]| [words[0], words[kernel.changed - 1]];
        if let Some(Call { arguments: before, ok: was_ok }) = self.called.get(&(kernel.inverse, changed(&x))).copied() {
            let same = (kernel.changed..kernel.arity).all(|n| before[kernel.order[n]] == x[n]);
            if same {
                let c = &self.context;
                let back = c.and_many([ok, c.eq(first, before[0]), c.eq(second, before[kernel.changed - 1])]);
                let fact = c.imp(was_ok, back);
                let made = self.context.assert(fact);
                self.note(made);
            }
        }
        self.called.insert((kernel.name, [first, second]), Call { arguments: x, ok });
        self.demand(ok);
        [first, second]
    }

    /// An amount of shifting, modulo the width.
    fn amount(&mut self, n: SExpr) -> SExpr {
        let width = self.number(self.width, u64::from(self.width));
        let amount = match self.width.is_power_of_two() {
            true => self.context.bvand(n, self.number(self.width, u64::from(self.width) - 1)),
            false => self.context.bvurem(n, width),
        };
        self.named(amount)
    }

    /// A word of more bits, of the same value as a signed integer.
    pub(crate) fn widened(&self, by: u32, word: SExpr) -> SExpr {
        let c = &self.context;
        c.list(vec![c.list(vec![c.atom("_"), c.atom("sign_extend"), c.numeral(by)]), word])
    }

    /// A word rotated by the bits of an amount, one after the other: to the right in the opposite order, so that one undoes the other step by step.
    fn rotated(&mut self, a: SExpr, n: SExpr, way: &str) -> SExpr {
        let n = self.amount(n);
        let bits = self.width.next_power_of_two().trailing_zeros();
        let order: Vec<u32> = if way == "rotate_left" { (0..bits).collect() } else { (0..bits).rev().collect() };
        order.into_iter().fold(a, |word, bit| {
            let c = &self.context;
            let set = c.eq(c.extract(bit as i32, bit as i32, n), self.number(1, 1));
            let by = c.list(vec![c.atom("_"), c.atom(way), c.numeral(1u64 << bit)]);
            let either = c.ite(set, c.list(vec![by, word]), word);
            self.named(either)
        })
    }

    /// Whether the signs say that a sum (or difference) has wrapped.
    fn wrapped(&mut self, a: SExpr, b: SExpr) -> SExpr {
        let both = self.context.bvand(a, b);
        let zero = self.number(self.width, 0);
        let negative = self.context.bvslt(both, zero);
        self.flag(negative)
    }
}
