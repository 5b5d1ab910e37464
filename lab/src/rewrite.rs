//! Rewrites programs to use extensions.

use std::collections::HashSet;
use std::sync::Arc;

use pendula_isa::Inst;
use pendula_isa::extension::{Definition, TooMany};
use pendula_isa::module::{Module, Reason, Span, SymbolKind};
use pendula_isa::operand::Slot;

use crate::effects::stretches;
pub use crate::matching::Site;
use crate::matching::{Pattern, patterns, sites};

/// A rewritten program.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The program.
    pub module: Module,
    /// Where extensions stand for instructions of the original.
    pub sites: Vec<Site>,
    /// The address of each of them in the new program.
    pub addresses: Vec<usize>,
}

/// Puts extensions in the place of instructions that do the same, at the places that `allows` does not refuse.
///
/// # Errors
/// The process has had too many extensions.
pub fn rewrite(
    module: &Module,
    definitions: &[Arc<Definition>],
    allows: &dyn Fn(&Site) -> bool,
) -> Result<Rewritten, TooMany> {
    let mut all: Vec<Pattern> = Vec::new();
    for definition in definitions {
        for (_, kind) in definition.kinds()? {
            all.extend(patterns(kind));
        }
    }
    // Where several fit, the one that does most.
    all.sort_by_key(|pattern| std::cmp::Reverse(pattern.len()));
    let mut breaks: Vec<u32> = module.spans.iter().flat_map(|span| [span.start, span.end]).collect();
    breaks.extend(module.symbols.iter().filter(|s| !matches!(s.kind, SymbolKind::Data { .. })).map(|s| s.value as u32));
    breaks.sort_unstable();
    breaks.dedup();
    let mut found = Vec::new();
    for stretch in stretches(&module.code, &breaks) {
        found.extend(sites(&all, &module.code, stretch, allows));
    }
    Ok(apply(module, found))
}

/// Puts extensions in these places.
fn apply(module: &Module, sites: Vec<Site>) -> Rewritten {
    let old = &module.code;
    let mut moved = Moved::of(old.len());
    let mut addresses = Vec::new();
    let mut at = 0;
    for site in &sites {
        let (Some(&first), Some(&last)) = (site.matched.first(), site.matched.last()) else { continue };
        for n in (at..first).chain(site.before.iter().copied()) {
            moved.keep(old, n);
        }
        addresses.push(moved.code.len());
        for n in &site.matched {
            moved.place[*n] = moved.code.len();
        }
        moved.add(site.inst, first);
        for n in &site.after {
            moved.keep(old, *n);
        }
        at = last + 1;
    }
    for n in at..old.len() {
        moved.keep(old, n);
    }
    let replaced: HashSet<usize> = sites.iter().flat_map(|site| site.matched.iter().copied()).collect();
    Rewritten { module: moved.module(module, &replaced), sites, addresses }
}

/// The instructions of a program at other addresses, with others among them.
pub(crate) struct Moved {
    code: Vec<Inst>,
    /// The old address of each instruction, or that of an old one near it.
    order: Vec<usize>,
    /// The new address of each old instruction, and of the end.
    place: Vec<usize>,
}

impl Moved {
    pub(crate) fn of(len: usize) -> Moved {
        Moved { code: Vec::with_capacity(len), order: Vec::with_capacity(len), place: vec![0; len + 1] }
    }

    /// Appends the instruction at an old address.
    pub(crate) fn keep(&mut self, old: &[Inst], at: usize) {
        self.place[at] = self.code.len();
        self.add(old[at], at);
    }

    /// Appends an instruction that stands for that at an old address, or beside it.
    pub(crate) fn add(&mut self, inst: Inst, near: usize) {
        self.code.push(inst);
        self.order.push(near);
    }

    /// The program, without the reasons of instructions that were replaced.
    pub(crate) fn module(mut self, module: &Module, replaced: &HashSet<usize>) -> Module {
        let len = module.code.len();
        self.place[len] = self.code.len();
        let Moved { mut code, order, place } = self;
        for (new, from) in order.iter().enumerate() {
            let inst = &mut code[new];
            if inst.kind.layout().contains(&Slot::Label) {
                let to = (*from as i64 + inst.imm).clamp(0, len as i64) as usize;
                inst.imm = place[to] as i64 - new as i64;
            }
        }
        let to = |address: u32| place.get(address as usize).map_or(address, |new| *new as u32);
        let mut symbols = module.symbols.clone();
        for symbol in symbols.iter_mut().filter(|s| !matches!(s.kind, SymbolKind::Data { .. })) {
            symbol.value = u64::from(to(symbol.value as u32));
        }
        let spans = module.spans.iter().map(|s| Span { start: to(s.start), end: to(s.end), ..s.clone() }).collect();
        let mut reasons: Vec<Reason> = module
            .reasons
            .iter()
            .filter(|reason| !replaced.contains(&(reason.at as usize)))
            .map(|reason| Reason { at: to(reason.at), text: Arc::clone(&reason.text) })
            .collect();
        reasons.sort_by_key(|reason| reason.at);
        let locs = if module.locs.is_empty() { Vec::new() } else { order.iter().map(|n| module.locs[*n]).collect() };
        Module { code, locs, symbols, spans, reasons, ..module.clone() }
    }
}
