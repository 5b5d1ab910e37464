//! Rewrites programs to use extensions.

use std::sync::Arc;

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

/// Puts extensions in the place of instructions that do the same. With `temporaries` off, those that need registers that are zero are left out.
///
/// # Errors
/// The process has had too many extensions.
pub fn rewrite(module: &Module, definitions: &[Arc<Definition>], temporaries: bool) -> Result<Rewritten, TooMany> {
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
        found.extend(sites(&all, &module.code, stretch));
    }
    found.retain(|site| temporaries || site.temporaries.is_empty());
    Ok(apply(module, found))
}

/// Puts extensions in these places.
fn apply(module: &Module, sites: Vec<Site>) -> Rewritten {
    let old = &module.code;
    let mut code = Vec::with_capacity(old.len());
    // The new address of each instruction, and of the end.
    let mut place = vec![0usize; old.len() + 1];
    let mut order: Vec<usize> = Vec::with_capacity(old.len());
    let mut addresses = Vec::new();
    let mut at = 0;
    for site in &sites {
        let (Some(&first), Some(&last)) = (site.matched.first(), site.matched.last()) else { continue };
        for n in at..first {
            place[n] = code.len();
            code.push(old[n]);
            order.push(n);
        }
        for n in &site.before {
            place[*n] = code.len();
            code.push(old[*n]);
            order.push(*n);
        }
        addresses.push(code.len());
        for n in &site.matched {
            place[*n] = code.len();
        }
        code.push(site.inst);
        order.push(first);
        for n in &site.after {
            place[*n] = code.len();
            code.push(old[*n]);
            order.push(*n);
        }
        at = last + 1;
    }
    for n in at..old.len() {
        place[n] = code.len();
        code.push(old[n]);
        order.push(n);
    }
    place[old.len()] = code.len();
    for (new, from) in order.iter().enumerate() {
        let inst = &mut code[new];
        if inst.kind.layout().contains(&Slot::Label) {
            let to = (*from as i64 + inst.imm).clamp(0, old.len() as i64) as usize;
            inst.imm = place[to] as i64 - new as i64;
        }
    }
    let to = |address: u32| place.get(address as usize).map_or(address, |new| *new as u32);
    let inside = |address: u32| sites.iter().any(|site| site.matched.contains(&(address as usize)));
    let mut symbols = module.symbols.clone();
    for symbol in symbols.iter_mut().filter(|s| !matches!(s.kind, SymbolKind::Data { .. })) {
        symbol.value = u64::from(to(symbol.value as u32));
    }
    let spans = module.spans.iter().map(|s| Span { start: to(s.start), end: to(s.end), ..s.clone() }).collect();
    let mut reasons: Vec<Reason> = module
        .reasons
        .iter()
        .filter(|reason| !inside(reason.at))
        .map(|reason| Reason { at: to(reason.at), text: Arc::clone(&reason.text) })
        .collect();
    reasons.sort_by_key(|reason| reason.at);
    let locs = if module.locs.is_empty() { Vec::new() } else { order.iter().map(|n| module.locs[*n]).collect() };
    let module = Module { code, locs, symbols, spans, reasons, ..module.clone() };
    Rewritten { module, sites, addresses }
}
