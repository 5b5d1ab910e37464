//! Statements with other local variables, and with local variables in place of words of memory.

use std::collections::HashMap;

use super::{Address, Block, Bound, Check, Count, Kept, Local, Place, Slot, Step, Stmt, Sum, Test, Value, Word};

/// What takes the place of what.
#[derive(Debug, Default)]
pub(super) struct Renaming {
    pub(super) locals: HashMap<Local, Local>,
}

impl Renaming {
    pub(super) fn local(&self, local: Local) -> Local {
        self.locals.get(&local).copied().unwrap_or(local)
    }

    fn address(&self, at: Address) -> Address {
        Address { locals: at.locals.map(|l| l.map(|l| self.local(l))), ..at }
    }

    fn place(&self, place: Place) -> Place {
        match place {
            Place::Local(local) => Place::Local(self.local(local)),
            Place::Memory(at) => Place::Memory(self.address(at)),
            Place::Log(at) => Place::Log(self.address(at)),
        }
    }

    pub(super) fn value(&self, value: Value) -> Value {
        match value {
            Value::Const(_) => value,
            Value::Place(place) => Value::Place(self.place(place)),
        }
    }

    fn word(&self, word: Word) -> Word {
        Word { place: self.place(word.place), ..word }
    }

    fn slot(&self, slot: Slot) -> Slot {
        match slot {
            Slot::Place(place, ty) => Slot::Place(self.place(place), ty),
            Slot::Word(word) => Slot::Word(self.word(word)),
            Slot::Passed(local, lane) => Slot::Passed(self.local(local), lane),
        }
    }

    fn block(&self, block: &Block) -> Block {
        let slots = block.slots.iter().map(|slot| slot.map(|slot| self.slot(slot))).collect();
        Block { slots, limit: block.limit.map(|limit| self.value(limit)), ..block.clone() }
    }

    fn test(&self, test: &Test) -> Test {
        match test {
            Test::Flag(local) => Test::Flag(self.local(*local)),
            Test::Integers(cond, a, b) => Test::Integers(*cond, self.value(*a), self.value(*b)),
            Test::Block(block, v) => Test::Block(self.block(block), *v),
        }
    }

    fn sum(&self, sum: &Sum) -> Option<Sum> {
        let mut out = Sum::default();
        for (factors, n) in sum.products() {
            let mut product = Sum::constant(n);
            for factor in factors {
                product = product.times(&Sum::value(self.value(*factor)))?;
            }
            out = out.plus(&product, 1)?;
        }
        Some(out)
    }

    fn check(&self, check: &Check) -> Option<Check> {
        Some(match check {
            Check::Fails(cond, a, b) => Check::Fails(*cond, self.value(*a), self.value(*b)),
            Check::SumsFail(cond, a, b) => Check::SumsFail(*cond, self.sum(a)?, self.sum(b)?),
            Check::Outside(at) => Check::Outside(self.sum(at)?),
            Check::Leaves(at, step) => Check::Leaves(self.sum(at)?, *step),
            Check::LeavesBy(at, span, step) => Check::LeavesBy(self.sum(at)?, *span, self.sum(step)?),
        })
    }

    fn bound(&self, bound: Bound) -> Bound {
        match bound {
            Bound::Const(_) => bound,
            Bound::Kept(local, place) => Bound::Kept(self.local(local), self.place(place)),
        }
    }

    fn limits(&self, limits: &[(Local, Value)]) -> Vec<(Local, Value)> {
        limits.iter().map(|(local, value)| (self.local(*local), self.value(*value))).collect()
    }

    /// A loop that contains no other; `None` if there is no other form of it.
    pub(super) fn count(&self, count: &Count) -> Option<Count> {
        let is_plain = count.strips.is_none() && count.one_by_one.is_empty();
        if !is_plain || count.aside.is_some() || count.jammed.is_some() || count.blocks.is_some() {
            return None;
        }
        let kept = |kept: &Kept| Kept { local: self.local(kept.local), place: self.place(kept.place), ..*kept };
        Some(Count {
            var: self.local(count.var),
            first: self.bound(count.first),
            last: self.bound(count.last),
            step: match count.step {
                Step::Const(_) => count.step,
                Step::Kept { .. } => return None,
            },
            checks: count.checks.iter().map(|check| self.check(check)).collect::<Option<_>>()?,
            kept: count.kept.iter().map(kept).collect(),
            limits: self.limits(&count.limits),
            limits_after: self.limits(&count.limits_after),
            independent: count.independent,
            flows_from: count.flows_from.iter().map(|word| self.word(*word)).collect(),
            mark: count.mark,
            aside: None,
            jammed: None,
            nest: None,
            products: None,
            one_by_one: Vec::new(),
            one_turn: false,
            courses: Vec::new(),
            strips: None,
            search: None,
            blocks: None,
            body: self.statements(&count.body)?,
        })
    }

    pub(super) fn statements(&self, statements: &[Stmt]) -> Option<Vec<Stmt>> {
        statements.iter().map(|s| self.statement(s)).collect()
    }

    /// A statement that contains no other, or `InMode` of such.
    fn statement(&self, s: &Stmt) -> Option<Stmt> {
        Some(match s {
            Stmt::Block(block) => Stmt::Block(self.block(block)),
            Stmt::Inside(at) => Stmt::Inside(self.address(*at)),
            Stmt::GiveUp { test, holds } => Stmt::GiveUp { test: self.test(test), holds: *holds },
            Stmt::InMode(ad_mode, inner) => Stmt::InMode(*ad_mode, self.statements(inner)?),
            Stmt::Clear(local) => Stmt::Clear(self.local(*local)),
            Stmt::CheckZero(local) => Stmt::CheckZero(self.local(*local)),
            Stmt::CheckCarried(local) => Stmt::CheckCarried(self.local(*local)),
            Stmt::Define(local, from) => Stmt::Define(self.local(*local), from.map(|word| self.word(word))),
            Stmt::Apart(..)
            | Stmt::IfSame { .. }
            | Stmt::Flag(..)
            | Stmt::If { .. }
            | Stmt::Agree(..)
            | Stmt::Loop(..)
            | Stmt::Leave { .. }
            | Stmt::Proceed(_)
            | Stmt::Count(_)
            | Stmt::CheckCarriedData(_)
            | Stmt::Allocate(..)
            | Stmt::Free { .. }
            | Stmt::Forget(..)
            | Stmt::Log(..)
            | Stmt::EndLog(_)
            | Stmt::Keep(_)
            | Stmt::Addend(..)
            | Stmt::Write(..)
            | Stmt::Call(..)
            | Stmt::HandParam(_)
            | Stmt::HandData(_) => return None,
        })
    }
}
