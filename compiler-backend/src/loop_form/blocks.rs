//! Loops whose turns are added up in blocks ([`passes::blocks`](crate::passes::blocks)): what each turn of a block adds goes to a
//! variable, and the sum of these to the word. Back with gradients, the sums are brought back first; then the turns pass on what has
//! flowed to the words, one by one.

use pendula_codegen::lift::symbolic;
use pendula_codegen::loops::{Block, Blocks as OutBlocks, Local, Place, Slot, Stmt as Out, Word};
use pendula_isa::adjoint::{AdMode, VALUE};
use pendula_isa::table::{TableFn, f_fn};
use pendula_isa::{Acc, Ty};

use super::function::FunctionBuilder;
use super::statement::word_of;
use super::{Builder, Refused};
use crate::ir::{Blocks, LocatedStmt, Stmt};
use crate::passes::blocks::{Sum, sums};

type Done = Result<(), Refused>;

impl FunctionBuilder<'_, '_> {
    /// A loop with blocks; false if it has no sums.
    pub(super) fn in_blocks(&mut self, s: &LocatedStmt, blocks: Blocks, back: bool) -> Result<bool, Refused> {
        let Some(sums) = self.sums(s) else { return Ok(false) };
        match self.ad_mode {
            AdMode::Plain => self.count_blocks(s, &sums, blocks, back)?,
            AdMode::Gradient => {
                let outer = self.complete.clone();
                if !sums.iter().all(|sum| self.keeps_value(*sum)) {
                    self.values_alone(|fw| fw.count_blocks(s, &sums, blocks, back))?;
                }
                self.complete.extend(sums.iter().filter_map(|sum| word_of(sum.place.into())));
                let Stmt::For { var, first, last, step, body, .. } = &s.stmt else { return Ok(false) };
                let done = self.count(s, *var, (*first, *last, *step), body, back, |fw| fw.block(body, back));
                self.complete = outer;
                done?;
                if back == (blocks == Blocks::FromLast) {
                    // The turns of a block are undone in reverse.
                    self.mark_blocks(Vec::new(), Vec::new(), false);
                }
            }
            AdMode::Tangent | AdMode::GradientTangent | AdMode::SecondGradient => {
                return Err(Refused::Operation);
            }
        }
        Ok(true)
    }

    /// The words that a loop with blocks adds to.
    pub(super) fn sums(&self, s: &LocatedStmt) -> Option<Vec<Sum>> {
        sums(&s.stmt, &self.w.summaries, &|v| self.f.ty(v)).filter(|sums| !sums.is_empty())
    }

    /// Whether a word is left as it is.
    fn keeps_value(&self, sum: Sum) -> bool {
        let complete = word_of(sum.place.into()).is_some_and(|at| self.complete.contains(&at));
        complete || self.back && self.is_preserved(sum.place.into())
    }

    /// A loop with blocks, values alone.
    fn count_blocks(&mut self, s: &LocatedStmt, sums: &[Sum], blocks: Blocks, back: bool) -> Done {
        let Stmt::For { var, first, last, step, body, .. } = &s.stmt else { return Ok(()) };
        let mut after = Vec::new();
        let parts: Vec<[Local; 2]> =
            sums.iter().map(|_| ["part", "parts"].map(|name| self.fresh(name, Ty::F))).collect();
        self.count(s, *var, (*first, *last, *step), body, back, |fw| {
            for (sum, [part, _]) in sums.iter().zip(&parts) {
                after.extend(fw.added_part(*sum, *part, back)?);
            }
            let new = sums.iter().zip(&parts).map(|(sum, [part, _])| (sum.place.into(), *part));
            let outer = std::mem::replace(&mut fw.parts, new.collect());
            // Nothing else is left of a turn, in either direction.
            let done = fw.block(body, false);
            fw.parts = outer;
            done
        })?;
        self.mark_blocks(parts, after, back != (blocks == Blocks::FromLast));
        Ok(())
    }

    /// Makes blocks of the turns of the loop that has been added last.
    pub(super) fn mark_blocks(&mut self, parts: Vec<[Local; 2]>, after: Vec<Out>, from_last: bool) {
        let counters = ["whole", "turns", "turn"].map(|name| self.fresh(name, Ty::Int));
        if let Some(Out::Count(count)) = self.out.last_mut() {
            count.blocks = Some(OutBlocks { from_last, parts, counters, after });
        }
    }

    /// Adds what is in a variable to a word, unless that keeps its value.
    fn added_part(&mut self, sum: Sum, part: Local, back: bool) -> Result<Option<Out>, Refused> {
        let Some(place) = self.place(sum.place.into()).filter(|_| !self.keeps_value(sum)) else { return Ok(None) };
        let word = |place| Word { place, ty: Ty::F, lane: VALUE };
        let mut block = self.added_word(word(place), word(Place::Local(part)), sum.inverse != back)?;
        block.limit = word_of(sum.place.into()).and_then(|at| self.limits.get(&at).copied());
        Ok(Some(Out::Block(block)))
    }

    /// `to ±= from`, values alone.
    pub(super) fn added_word(&mut self, to: Word, from: Word, minus: bool) -> Result<Block, Refused> {
        let setting = (self.w.env(), Builder::setting(AdMode::Plain));
        let operands = [symbolic::Operand::Word(1), symbolic::Operand::Word(2)];
        let what = (Acc::Add, minus, TableFn::F(f_fn::Name::Id));
        let sum = symbolic::accumulate(setting, &mut self.w.kernels, what, &operands).ok_or(Refused::Operation)?;
        let slots = vec![None, Some(Slot::Word(to)), Some(Slot::Word(from))];
        Block::new(&sum, slots, [false; 2], None).map(|(block, _)| block).ok_or(Refused::Operation)
    }
}
