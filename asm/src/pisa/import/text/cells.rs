//! The data segment of a translation: PISA's cells, fillers for its instructions, and the table of procedures.

use pendula_isa::table::Flow;

use super::super::native::{Guard, Op};
use super::{WORDS, Writer};

impl Writer<'_> {
    /// The data segment.
    pub(super) fn cells(&mut self) {
        let exchanges = self.translation.units.iter().flat_map(|(_, i)| i).flat_map(|i| &i.ops);
        let any = exchanges.clone().any(|op| matches!(op, Op::Exch(..)));
        let swaps = exchanges.clone().any(|op| matches!(op, Op::Swap { .. }));
        let marked = self.translation.guard == Guard::Marked;
        let words = self.module.code.iter().any(|i| i.kind.flow() == Flow::Cell);
        if !any && !words && !swaps {
            return;
        }
        self.line("");
        self.statement(None, ".data", None);
        let exported: Vec<String> = self.data.values().flatten().cloned().collect();
        for names in exported.chunks(WORDS) {
            self.statement(None, &format!(".export {}", names.join(", ")), None);
        }
        if self.options.below > 0 {
            let text = format!(".space  {}", self.options.below);
            self.statement(Some("below"), &text, Some("cells with addresses below 0"));
        }
        self.statement(Some("cells"), "", None);
        let code = &self.module.code;
        let mut at = 0;
        while at < code.len() {
            let is_cell = |at: usize| code[at].kind.flow() == Flow::Cell;
            let kind = is_cell(at);
            let end = (at + 1..code.len())
                .find(|n| is_cell(*n) != kind || kind && (self.data.contains_key(&(*n as u32)) || *n - at == WORDS))
                .unwrap_or(code.len());
            if kind {
                let names = self.data.get(&(at as u32)).cloned().unwrap_or_default();
                let words: Vec<String> = code[at..end].iter().map(|i| i.imm.to_string()).collect();
                let comment = self.notes.of_data(at as u32);
                let (last, others) = names.split_last().map_or((None, &[][..]), |(l, o)| (Some(l), o));
                for name in others {
                    self.statement(Some(name), "", None);
                }
                let text = format!(".word   {}", words.join(", "));
                self.statement(last.map(String::as_str), &text, comment.as_deref());
            } else {
                // The data of a label ends where its cells end.
                if at > 0 && !self.data.is_empty() {
                    let name = self.name("code");
                    self.statement(Some(&name), "", None);
                }
                if marked {
                    self.fill(end - at);
                } else {
                    self.statement(None, &format!(".space  {}", end - at), Some("where the instructions were"));
                }
            }
            at = end;
        }
        let above = self.options.cells as usize - code.len();
        if above > 0 {
            self.statement(Some("above"), &format!(".space  {above}"), None);
        }
        if swaps {
            let first = self.translation.candidates.first().copied().unwrap_or(0);
            let mut comment = Some("by their addresses in PISA");
            let mut next = first;
            for &at in &self.translation.candidates {
                self.fill((at - next) as usize);
                next = at + 1;
                let text = format!(".word   {}", self.procedures.get(&at).map_or("MARK", String::as_str));
                self.statement(comment.map(|_| "procedures"), &text, comment.take());
            }
        }
    }

    /// Words that are neither PISA words nor addresses of procedures.
    fn fill(&mut self, mut words: usize) {
        for n in [1000, 100, 10] {
            for _ in 0..words / n {
                self.statement(None, &format!("code{n}"), None);
            }
            words %= n;
        }
        if words > 0 {
            self.statement(None, &format!(".word   {}", vec!["MARK"; words].join(", ")), None);
        }
    }

    /// The longest stretch that [`fill`](Self::fill) fills.
    pub(super) fn longest(&self) -> usize {
        let mut longest = 0;
        if self.translation.guard == Guard::Marked {
            let mut run = 0;
            for inst in &self.module.code {
                run = if inst.kind.flow() == Flow::Cell { 0 } else { run + 1 };
                longest = longest.max(run);
            }
        }
        let candidates = &self.translation.candidates;
        let gaps = candidates.iter().zip(candidates.iter().skip(1)).map(|(a, b)| (b - a - 1) as usize);
        gaps.max().unwrap_or(0).max(longest)
    }
}
