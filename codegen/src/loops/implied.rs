//! Checks that later statements make needless: a word that is not finite makes every sum and product of it not finite, and one of
//! these is looked at, or has been.

use std::collections::HashSet;

use pendula_isa::Ty;
use pendula_isa::adjoint::{AdMode, VALUE};

use super::{Block, Freed, Function, Local, Place, Program, Slot, Stmt, checks};
use crate::ops::Op;

/// Local variables' words, by lane.
type Words = HashSet<(Local, usize)>;

/// Removes checks for being finite that others in the same list of statements imply. Nothing else is removed: what is looked at later
/// is noted in the same run.
pub fn remove_checks_implied_elsewhere(program: &mut Program) {
    let (carried_late, vectors) = (program.carried_late, program.has_vector_tangents);
    for f in &mut program.functions {
        let late = carried_late && (f.ad_mode == AdMode::Gradient || vectors && f.ad_mode.has_tangents());
        f.change_body(|f, body| Lists { f, late }.list(body));
    }
}

struct Lists<'f> {
    f: &'f Function,
    /// Whether words in other lanes are looked at where they end.
    late: bool,
}

impl Lists<'_> {
    /// A list of statements, and those within them.
    fn list(&self, list: &mut Vec<Stmt>) {
        self.backward(list, Words::new());
        // Which of several lanes has flowed is not told.
        if self.late && self.f.ad_mode.lanes().len() == 1 {
            self.forward(list);
        }
        for s in list {
            if let Stmt::Count(count) = s
                && let Some(blocks) = &count.blocks
            {
                // What is added up is not finite if a part is not.
                let shown = blocks.parts.iter().map(|[part, _]| (*part, VALUE)).collect();
                self.backward(&mut count.body, shown);
            }
            for inner in s.lists() {
                self.list(inner);
            }
        }
    }

    /// Removes checks of values that are looked at later. `shown` are words that are, after the list; those before it are given.
    fn backward(&self, list: &mut [Stmt], mut shown: Words) -> Words {
        for s in list.iter_mut().rev() {
            match s {
                Stmt::Block(block) => self.block(block, &mut shown),
                Stmt::InMode(_, inner) => shown = self.backward(inner, shown),
                Stmt::CheckZero(local) => _ = shown.insert((*local, VALUE)),
                Stmt::Clear(local)
                | Stmt::Define(local, _)
                | Stmt::Flag(local, _)
                | Stmt::Addend(local, _)
                | Stmt::Log(local, _)
                | Stmt::EndLog(local)
                | Stmt::Allocate(local, _)
                | Stmt::Forget(local, _) => shown.retain(|(l, _)| l != local),
                Stmt::CheckCarried(_)
                | Stmt::CheckCarriedData(_)
                | Stmt::Inside(_)
                | Stmt::Apart(..)
                | Stmt::Keep(_)
                | Stmt::Agree(..)
                | Stmt::GiveUp { .. }
                | Stmt::Proceed(_)
                | Stmt::HandParam(_)
                | Stmt::HandData(_) => {}
                Stmt::Write(word, _) => {
                    if let Place::Local(local) = word.place {
                        shown.remove(&(local, word.lane));
                    }
                }
                // What they do to words is not followed, and what comes after the loop's end may not come.
                Stmt::IfSame { .. }
                | Stmt::If { .. }
                | Stmt::Loop(..)
                | Stmt::Leave { .. }
                | Stmt::Count(_)
                | Stmt::Call(..)
                | Stmt::Free { base: _, len: _, ty: _, values: Freed::Clear | Freed::Check | Freed::Zero } => {
                    shown.clear()
                }
            }
        }
        shown
    }

    /// Removes checks in a block; the words that are shown after it become those before it.
    fn block(&self, block: &mut Block, words: &mut Words) {
        let mut shown = self.shown_by_sets(block, words);
        let all = 0..block.ops.len();
        checks::remove_implied_checks(&mut block.ops, all, &mut shown);
        for op in &block.ops {
            if let Op::Set(lane, reg, _) = *op
                && let Some(word) = block.local_word(lane, reg)
            {
                words.remove(&word);
            }
        }
        words.extend(self.read_and_shown(block, &shown));
    }

    /// Which values are looked at when they have been written.
    fn shown_by_sets(&self, block: &Block, words: &Words) -> Vec<bool> {
        let mut shown = vec![false; block.ops.len()];
        for op in &block.ops {
            let Op::Set(lane, reg, v) = *op else { continue };
            let later = block.local_word(lane, reg).is_some_and(|word| words.contains(&word));
            let elsewhere =
                lane == 0 && (block.limit.is_some() && reg == 1 || (1..=block.looked_at_later).contains(&reg));
            shown[v.0 as usize] |= later || elsewhere || self.late && lane > 0 && self.has_lane(block, lane, reg);
        }
        shown
    }

    /// The words that a block reads of which it shows that they are finite.
    fn read_and_shown(&self, block: &Block, shown: &[bool]) -> Vec<(Local, usize)> {
        let gets = block.ops.iter().zip(shown).filter(|(_, shown)| **shown);
        gets.filter_map(|(op, _)| if let Op::Get(lane, reg) = *op { block.local_word(lane, reg) } else { None })
            .collect()
    }

    /// Removes checks of words in other lanes that end, and have flowed to another word since they were last changed.
    fn forward(&self, list: &mut Vec<Stmt>) {
        let mut flowed: HashSet<Local> = HashSet::new();
        list.retain(|s| {
            let is_needless = matches!(s, Stmt::CheckCarried(local) if flowed.contains(local));
            self.flow(s, &mut flowed);
            !is_needless
        });
    }

    /// Follows which words in other lanes have flowed to another word since they were last changed.
    fn flow(&self, s: &Stmt, flowed: &mut HashSet<Local>) {
        match s {
            Stmt::Block(block) => {
                let shown = self.shown_by_sets(block, &Words::new());
                let mut shown_by_flow = shown;
                let all = 0..block.ops.len();
                checks::remove_implied_checks(&mut block.ops.clone(), all, &mut shown_by_flow);
                let read = self.read_and_shown(block, &shown_by_flow);
                flowed.extend(read.into_iter().filter(|(_, lane)| *lane > VALUE).map(|(local, _)| local));
                for op in &block.ops {
                    if let Op::Set(lane, reg, _) = *op
                        && let Some((local, lane)) = block.local_word(lane, reg)
                        && lane > VALUE
                    {
                        flowed.remove(&local);
                    }
                }
            }
            // What has flowed in either case.
            Stmt::IfSame { then, otherwise, .. } | Stmt::If { then, otherwise, .. } => {
                let mut other = flowed.clone();
                then.iter().for_each(|s| self.flow(s, flowed));
                otherwise.iter().for_each(|s| self.flow(s, &mut other));
                flowed.retain(|local| other.contains(local));
            }
            Stmt::InMode(..)
            | Stmt::CheckZero(_)
            | Stmt::CheckCarried(_)
            | Stmt::CheckCarriedData(_)
            | Stmt::Inside(_)
            | Stmt::Apart(..)
            | Stmt::Agree(..)
            | Stmt::Flag(..)
            | Stmt::Proceed(_)
            | Stmt::GiveUp { .. } => {}
            Stmt::Clear(local) | Stmt::Define(local, _) | Stmt::Addend(local, _) => _ = flowed.remove(local),
            _ => flowed.clear(),
        }
    }

    /// Whether an operand is a floating-point word that has one in a lane.
    fn has_lane(&self, block: &Block, lane: u8, reg: u8) -> bool {
        match block.slots.get(usize::from(reg)).copied().flatten() {
            Some(Slot::Place(place, ty)) => {
                let ty = self.f.ty(place, ty);
                ty == Ty::F && self.f.lanes_of(ty).contains(&lane.into())
            }
            _ => false,
        }
    }
}
