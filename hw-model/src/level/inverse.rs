//! Uncomputing written by hand: stretches of code that are, instruction by instruction, the inverse of an earlier stretch of the same
//! procedure. They have the same operands, inverse operations, and the opposite order; jumps lead to the mirrored places. Code between
//! routine marks says itself what it undoes, and compiled code has such marks throughout, so both are left out.
//!
//! The form alone proves nothing: what lies between the two may have changed the operands. Whether a stretch does lead back is seen when the
//! program is followed, see [`super::Observed`].

use std::collections::HashMap;

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, Span};
use pendula_isa::operand::OPERANDS;
use pendula_isa::operand::Slot;
use pendula_isa::table::Flow;
use pendula_isa::types::Reg;
use pendula_isa::verify::{Region, target, verify};

/// How many earlier instructions are tried as the last one that a stretch undoes.
const TRIED: usize = 8;

/// A module with pairs of spans for the uncomputing that is written by hand.
pub(super) fn with_candidates(module: &Module) -> (Module, usize) {
    let mut out = module.clone();
    let marked = out.spans.len();
    for region in verify(module).0.regions {
        Search::new(module, region).run(&mut out.spans);
    }
    (out, marked)
}

/// The name of the `n`th pair.
fn name(n: usize) -> String {
    format!("by hand {n}")
}

/// What an instruction and its inverse have in common, beside the operation.
type Form = (Kind, [Reg; OPERANDS], i16);

struct Search<'m> {
    module: &'m Module,
    region: Region,
    /// The instructions of each form, in order.
    places: HashMap<Form, Vec<u32>>,
    /// Whether each instruction of the region may belong to a pair.
    free: Vec<bool>,
}

impl<'m> Search<'m> {
    fn new(module: &'m Module, region: Region) -> Search<'m> {
        let inside_undo = |at: u32| module.spans.iter().any(|s| s.undo && (s.start..s.end).contains(&at));
        let free = (region.start..=region.last).map(|at| !inside_undo(at) && !module.is_compiled(at as usize));
        let mut places = HashMap::<Form, Vec<u32>>::new();
        for at in region.start..=region.last {
            let inst = &module.code[at as usize];
            places.entry((inst.kind, inst.regs, inst.small)).or_default().push(at);
        }
        Search { module, region, places, free: free.collect() }
    }

    fn is_free(&self, at: u32) -> bool {
        at.checked_sub(self.region.start).and_then(|n| self.free.get(n as usize)).copied().unwrap_or(false)
    }

    fn run(mut self, spans: &mut Vec<Span>) {
        let mut at = self.region.start;
        while at <= self.region.last {
            match self.pair(at, spans) {
                None => at += 1,
                Some((last, length)) => {
                    let name = name(spans.len());
                    let span = |start: u32, undo| Span { name: name.clone(), undo, start, end: start + length };
                    spans.extend([span(last + 1 - length, false), span(at, true)]);
                    // A stretch is undone once.
                    for used in (last + 1 - length..=last).chain(at..at + length) {
                        self.free[(used - self.region.start) as usize] = false;
                    }
                    at += length;
                }
            }
        }
    }

    /// The longest stretch from `at` on that undoes an earlier one: the last instruction of that, and the length.
    fn pair(&self, at: u32, spans: &[Span]) -> Option<(u32, u32)> {
        if !self.is_free(at) {
            return None;
        }
        let inst = self.module.code.get(at as usize)?;
        let places = self.places.get(&(inst.kind.inverse(), inst.regs, inst.small))?;
        let earlier = places[..places.partition_point(|n| *n < at)].iter().rev().copied();
        earlier
            .filter(|last| self.is_free(*last) && self.undoes(at, *last))
            .take(TRIED)
            .filter_map(|last| Some((last, self.length(at, last, spans)?)))
            .filter(|(last, _)| !self.returns(*last, at))
            // Of equal ones the nearest.
            .max_by_key(|(last, length)| (*length, *last))
    }

    /// Whether one instruction is the inverse of another; the places that jumps lead to are not compared.
    fn undoes(&self, at: u32, earlier: u32) -> bool {
        let code = &self.module.code;
        let (Some(inst), Some(of)) = (code.get(at as usize), code.get(earlier as usize)) else { return false };
        if of.kind.is_irreversible() || matches!(of.kind.flow(), Flow::Run | Flow::Procedure | Flow::Branch(_)) {
            return false;
        }
        let same = inst.kind == of.kind.inverse() && inst.regs == of.regs && inst.small == of.small;
        match of.kind.flow() {
            Flow::Jump => same && inst.imm == -of.imm,
            Flow::Call | Flow::GradientCall => {
                same && target(code, at, inst).map(|t| t.0) == target(code, earlier, of).map(|t| t.0)
            }
            Flow::Straight | Flow::CallRegister | Flow::Cell | Flow::Run | Flow::Procedure | Flow::Branch(_) => {
                same && inst.imm == of.imm
            }
        }
    }

    /// The number of instructions from `at` on that undo those before and at `last`, if their jumps stay among them, and if they do not
    /// lie across the boundary of a span.
    fn length(&self, at: u32, last: u32, spans: &[Span]) -> Option<u32> {
        let most = (at - last).min(last + 1 - self.region.start);
        let fits = |n: u32| {
            self.is_free(at + n)
                && self.is_free(last - n)
                && at + n <= self.region.last
                && self.undoes(at + n, last - n)
        };
        let mut length = (0..most).take_while(|n| fits(*n)).count() as u32;
        // Shortening a stretch may cut a jump within it.
        loop {
            let first = (last + 1).checked_sub(length).filter(|_| length > 0)?;
            let crossed = spans.iter().any(|s| {
                [(first, last + 1), (at, at + length)]
                    .iter()
                    .any(|(start, end)| (*start < s.start && s.start < *end) || (*start < s.end && s.end < *end))
            });
            let closed = (first..=last).all(|n| {
                let inst = &self.module.code[n as usize];
                !matches!(inst.kind.flow(), Flow::Jump)
                    || target(&self.module.code, n, inst).is_some_and(|(to, _)| (first..=last).contains(&to))
            });
            let computes = (first..=last).any(|n| writes(&self.module.code[n as usize]));
            if closed && !crossed {
                return computes.then_some(length);
            }
            length -= 1;
        }
    }

    /// Whether a jump between the two stretches leads back to the first or before it: then the second does not follow the first, as in a loop
    /// that counts down after one that counted up.
    fn returns(&self, last: u32, at: u32) -> bool {
        let code = &self.module.code;
        (last + 1..at).any(|n| {
            let inst = &code[n as usize];
            matches!(inst.kind, Kind::Row { inverse: false, .. })
                && matches!(inst.kind.flow(), Flow::Jump)
                && target(code, n, inst).is_some_and(|(to, _)| to <= last)
        })
    }
}

/// Whether an instruction changes a word.
pub(super) fn writes(inst: &Inst) -> bool {
    inst.kind.layout().into_iter().any(Slot::is_written)
}
