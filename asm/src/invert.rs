//! The inverse of a whole program. Each region is reversed in place and each instruction becomes its inverse, so that
//! running the result forward is the same as running the original backward. This is neither the machine's direction,
//! which needs no new program, nor a routine's `.unroutine`, which is the assembler's.
//!
//! Procedures keep their addresses, since the first address of a region is a `proc` before and after. Calls do not
//! change: the procedures that they call are inverted, too. Constants do not change; one that is the address of a
//! procedure remains so.

use pendula_isa::inst::{Inst, OFFSET_MAX, OFFSET_MIN};
use pendula_isa::module::{Module, Span, SymbolKind};
use pendula_isa::table::Flow;
use pendula_isa::types::Profile;
use pendula_isa::verify::{Problem, Region, Structure, verify};

use crate::assemble::NamedOperand;

/// Why a module has no inverse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvertError {
    /// The module says `.irreversible`.
    #[error("the program is `.irreversible` and has no inverse")]
    Irreversible,
    /// An irreversible instruction.
    #[error("instruction {at} erases information, so it has no inverse")]
    Forgets {
        /// The instruction.
        at: u32,
    },
    /// Code that breaks the rules for whole modules.
    #[error("instruction {at}: {}", problem.title())]
    Structure {
        /// The instruction.
        at: u32,
        /// The rule.
        problem: Problem,
    },
    /// A span that begins in one region and ends in another.
    #[error("the span `{}` from instruction {start} cuts through a procedure", name.escape_debug())]
    Span {
        /// The span's name.
        name: String,
        /// Its first instruction.
        start: u32,
    },
    /// Code whose addresses are data, because branches and cells depend on them.
    #[error("a program of the profile `pisa` cannot be inverted: its addresses are data, too")]
    Profile,
    /// A call whose target is too far away after the reversal.
    #[error("instruction {at}: its target is too far away in the inverse")]
    Distance {
        /// The instruction.
        at: u32,
    },
}

/// Code, title and help of each variant, in the order of the codes.
pub const CODES: [(&str, &str, &str); 6] = [
    (
        "P0320",
        "an irreversible program has no inverse",
        "remove `.irreversible` and what needs it; uncompute instead of erasing",
    ),
    ("P0321", "an instruction without inverse", "uncompute the word, or export it, instead of erasing it"),
    (
        "P0322",
        "the code breaks a rule for whole programs",
        "correct the program first; `pendula check` shows the place",
    ),
    ("P0323", "a routine span cuts through a procedure", "begin and end the routine in the same procedure"),
    ("P0324", "a call too far for the inverse", "move the procedure nearer to its callers"),
    (
        "P0325",
        "a program with a branch register",
        "`pendula run --reverse` runs it backward; `pendula import` translates it into a program that can be inverted",
    ),
];

/// The codes of this module with a title each.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    CODES.iter().map(|&(code, title, _)| (code, title))
}

impl InvertError {
    fn row(&self) -> (&'static str, &'static str, &'static str) {
        CODES[match self {
            InvertError::Irreversible => 0,
            InvertError::Forgets { .. } => 1,
            InvertError::Structure { .. } => 2,
            InvertError::Span { .. } => 3,
            InvertError::Distance { .. } => 4,
            InvertError::Profile => 5,
        }]
    }

    /// The code that messages and test files use.
    pub fn code(&self) -> &'static str {
        self.row().0
    }

    /// How to fix it.
    pub fn help(&self) -> &'static str {
        match self {
            InvertError::Structure { problem, .. } => problem.help(),
            _ => self.row().2,
        }
    }
}

/// The inverse program. Inverting it again gives the original module.
///
/// Labels, source lines, reasons and routine spans move with their instructions; a compute span becomes an undo span.
/// The import and export marks of a data object are exchanged. The documentation of a procedure says that it is the
/// inverse. Code outside of regions, which nothing reaches, does not change.
pub fn invert(module: &Module) -> Result<Module, InvertError> {
    if module.flags.irreversible {
        return Err(InvertError::Irreversible);
    }
    if module.flags.profile == Profile::Pisa {
        return Err(InvertError::Profile);
    }
    if let Some(at) = module.code.iter().position(|inst| inst.kind.is_irreversible()) {
        return Err(InvertError::Forgets { at: at as u32 });
    }
    let (structure, violations) = verify(module);
    if let Some(v) = violations.first() {
        return Err(InvertError::Structure { at: v.at, problem: v.problem });
    }
    let mut out = module.clone();
    for region in &structure.regions {
        let (start, last) = (region.start as usize, region.last as usize);
        for at in region.start..=region.last {
            let to = mirror(*region, at);
            out.code[to as usize] = moved(&module.code[at as usize], at, to)?;
        }
        if let Some(locs) = out.locs.get_mut(start..=last) {
            locs.reverse();
        }
    }
    for reason in &mut out.reasons {
        if let Some(region) = structure.region_of(reason.at) {
            reason.at = mirror(region, reason.at);
        }
    }
    out.reasons.sort_by_key(|r| r.at);
    for symbol in &mut out.symbols {
        match &mut symbol.kind {
            SymbolKind::Label => {
                let region = u32::try_from(symbol.value).ok().and_then(|at| Some((structure.region_of(at)?, at)));
                if let Some((region, at)) = region {
                    symbol.value = u64::from(mirror(region, at));
                }
            }
            SymbolKind::Proc => symbol.doc = inverse_doc(&symbol.doc),
            SymbolKind::Data { import, export, .. } => std::mem::swap(import, export),
        }
    }
    for span in &mut out.spans {
        mirror_span(&structure, span)?;
    }
    Ok(out)
}

/// The inverse program, and the new places of the operands that are written with names.
///
/// # Errors
/// Those of [`invert`].
pub fn invert_named(module: &Module, named: &[NamedOperand]) -> Result<(Module, Vec<NamedOperand>), InvertError> {
    let inverse = invert(module)?;
    let (structure, _) = verify(module);
    let to = |n: &NamedOperand| NamedOperand {
        at: structure.region_of(n.at).map_or(n.at, |region| mirror(region, n.at)),
        ..*n
    };
    let mut named: Vec<NamedOperand> = named.iter().map(to).collect();
    named.sort_by_key(|n| n.at);
    Ok((inverse, named))
}

/// The beginning of the documentation of an inverse.
const INVERSE_OF: &str = "Inverse of: ";

/// The documentation of the inverse of a procedure with this documentation. The inverse of an inverse has the original
/// one.
fn inverse_doc(doc: &str) -> String {
    match doc.strip_prefix(INVERSE_OF) {
        _ if doc.is_empty() => String::new(),
        Some(plain) => plain.to_string(),
        None => format!("{INVERSE_OF}{doc}"),
    }
}

/// The new address of the instruction at `at`.
const fn mirror(region: Region, at: u32) -> u32 {
    region.start + (region.last - at)
}

/// The inverse of the instruction at `at`, for the address `to`.
fn moved(inst: &Inst, at: u32, to: u32) -> Result<Inst, InvertError> {
    let imm = match inst.kind.flow() {
        Flow::Straight | Flow::Run | Flow::Branch(_) | Flow::Cell => return Ok(inst.inverse()),
        Flow::CallRegister => return Ok(*inst),
        // Both ends move, and exchange their roles.
        Flow::Jump | Flow::Procedure => -inst.imm,
        // The callee does not move.
        Flow::Call | Flow::GradientCall => inst.imm + i64::from(at) - i64::from(to),
    };
    if !(OFFSET_MIN..=OFFSET_MAX).contains(&imm) {
        return Err(InvertError::Distance { at });
    }
    let inst = if matches!(inst.kind.flow(), Flow::Call | Flow::GradientCall) { *inst } else { inst.inverse() };
    Ok(Inst { imm, ..inst })
}

fn mirror_span(structure: &Structure, span: &mut Span) -> Result<(), InvertError> {
    let error = || Err(InvertError::Span { name: span.name.clone(), start: span.start });
    if span.start > span.end {
        return error();
    }
    if span.start == span.end {
        // An empty span moves if it is between two instructions of a region, but not at the border of a region.
        if let Some(region) = structure.region_of(span.start).filter(|r| r.start < span.start) {
            span.start = mirror(region, span.start) + 1;
            span.end = span.start;
            span.undo = !span.undo;
        }
        return Ok(());
    }
    let (first, last) = (structure.region_of(span.start), structure.region_of(span.end - 1));
    match (first, last) {
        (Some(a), Some(b)) if a == b => {
            (span.start, span.end) = (mirror(a, span.end - 1), mirror(a, span.start) + 1);
            span.undo = !span.undo;
        }
        // Whole regions, perhaps with code between them.
        (a, b) if a.is_none_or(|r| r.start == span.start) && b.is_none_or(|r| r.last == span.end - 1) => {
            let within = structure.regions.iter().any(|r| span.start <= r.start && r.last < span.end);
            span.undo ^= within;
        }
        _ => return error(),
    }
    Ok(())
}
