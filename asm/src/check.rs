//! Problems of a program that show without running it, beyond those that [`verify`](pendula_isa::verify) refuses: dead
//! code, unbalanced stacks, routines that are not undone, conditions that decide nothing. Only certain facts are
//! reported, no guesses. The facts are about a [`Module`], so they hold for source and for objects alike.

mod branches;
mod condition;
mod gradient;
mod paths;
mod stack;

pub use stack::StackHeights;

use std::collections::{HashMap, HashSet};

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, Span, SymbolKind};
use pendula_isa::operand::Operand;
use pendula_isa::table::{Flow, Row, TableFn, int_fn};
use pendula_isa::text::{NoNames, display};
use pendula_isa::types::{Acc, Profile, Reg, Ty};
use pendula_isa::verify::{Structure, is_row, target, verify};

use crate::diagnostic::{Severity, plural};
use crate::pisa;

/// The subject of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// The whole module.
    Module,
    /// An instruction, by its address.
    Inst(u32),
    /// A symbol, by its name.
    Symbol(String),
}

/// A finding about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that it breaks.
    pub rule: Rule,
    /// A stable code, such as `P0210`.
    pub code: &'static str,
    /// [`Severity::Warning`] for what has no use or cannot work; [`Severity::Note`] for what may be intended.
    pub severity: Severity,
    /// The subject.
    pub at: Subject,
    /// Another instruction that is concerned.
    pub other: Option<u32>,
    /// The fact, in one line.
    pub message: String,
    /// How to fix it.
    pub help: &'static str,
}

macro_rules! rules {
    ($( $Name:ident $code:literal $severity:ident $title:literal $help:literal; )*) => {
        /// What is checked.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule { $( #[doc = $title] $Name, )* }

        impl Rule {
            /// Every rule, in the order of the codes.
            pub const ALL: &'static [Rule] = &[$( Rule::$Name, )*];

            /// The code that messages and test files name.
            pub const fn code(self) -> &'static str { match self { $( Rule::$Name => $code, )* } }

            /// What the rule finds.
            pub const fn title(self) -> &'static str { match self { $( Rule::$Name => $title, )* } }

            /// How to fix it.
            pub const fn help(self) -> &'static str { match self { $( Rule::$Name => $help, )* } }

            /// The severity.
            pub const fn severity(self) -> Severity { match self { $( Rule::$Name => Severity::$severity, )* } }
        }
    };
}

rules! {
    Outside "P0210" Warning "code outside of any procedure"
        "remove it, or put it between `proc` and `ret` or `start` and `finish`";
    Unreachable "P0211" Warning "code that no path leads to"
        "remove it, or put a `from` before it";
    Endless "P0212" Warning "code from which no path leads to the end"
        "give the loop a condition, so that it can be left";
    Wall "P0213" Warning "control falls into an unconditional `from`"
        "end the code above with `jmp`, or give the `from` a condition that is false there";
    Uncalled "P0214" Warning "a procedure that is never called"
        "remove it, or mark it `.global` if other objects call it";
    Unbalanced "P0215" Warning "the stack is not as high at the end as at the beginning"
        "match each `push` with a `pop` on every path";
    Below "P0216" Note "`pop` takes a word that this procedure did not push"
        "if it is intended, the word must be back before the `ret`";
    Depths "P0217" Note "paths meet on which the stack is not equally high"
        "if it is intended, later code must pop as many words as were pushed";
    NeverUndone "P0218" Warning "a routine that is never undone"
        "add `.unroutine` with its name, or remove the marks";
    NothingToUndo "P0219" Warning "a span that undoes no routine"
        "mark the routine with `.routine` and the same name";
    NotInverse "P0220" Note "a span that is not its routine's exact inverse"
        "write `.unroutine` with the routine's name alone, and the assembler generates the inverse";
    NeverHolds "P0221" Warning "a condition that never holds"
        "r0 is always 0, and a register always equals itself; compare other registers";
    AlwaysHolds "P0222" Note "a condition that always holds"
        "leave the condition out, or compare other registers";
    Contradiction "P0223" Warning "a jump that traps whenever it is taken"
        "the condition of the `from` must hold after the jump: compare as the `jmp` does, or with something else";
    Unread "P0224" Warning "an import that the program never uses"
        "remove `.import`, or use the object";
    NoEffect "P0225" Note "an instruction that changes nothing"
        "remove it";
    ShiftByNothing "P0226" Note "a shift by a multiple of 64, which shifts by nothing"
        "amounts are taken modulo 64; leave the shift out, or shift by less";
    Address "P0227" Warning "a constant address outside the memory"
        "correct the address, or enlarge the memory with `.mem`";
    BeyondData "P0228" Note "a constant address beyond the data segment, where the stack is"
        "give the word a place of its own with `.space`";
    Memory "P0229" Warning "the data does not fit the memory"
        "enlarge `.mem`, or leave it out";
    NoGradient "P0230" Warning "an integer instruction on a real number, through which no gradient flows"
        "write the type of the number after the mnemonic, such as `add.q`; to move bits, `xor` says that nothing is to be differentiated";
    NoLanding "P0231" Warning "a branch of PISA that does not lead to a branch"
        "let it name a branch that names it in turn, as `top: BRA bottom` and `bottom: BRA top` do: anything else stops the run when control gets there";
    NoFinish "P0232" Warning "a program of PISA without an end"
        "end the run with `FINISH`";
    IntoData "P0233" Warning "an instruction of PISA with none after it"
        "end the run with `FINISH`, or branch around the data";
    Dead "P0234" Warning "code of PISA that no run reaches"
        "remove it, or let a branch before it be named by another one";
    LateStart "P0235" Warning "code of PISA that runs before `START`, where the run back ends"
        "let the run begin at `START`: put it, and `.start`, before the code to be undone";
}

/// The codes of this module with a title each.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    Rule::ALL.iter().map(|r| (r.code(), r.title()))
}

/// The stack height at each instruction of a module's procedures, in words, as far as it is known without running them.
pub fn stack_heights(module: &Module) -> StackHeights {
    stack::known(&module.code, &verify(module).0)
}

/// All findings about a module, by instruction, then by symbol.
///
/// The function is intended for modules that [`verify`] accepts. For others it reports what it can.
pub fn check(module: &Module) -> Vec<Finding> {
    let (structure, _) = verify(module);
    let mut found = Findings(Vec::new());
    if module.flags.profile == Profile::Pisa {
        branches::check(module, &mut found);
        return found.sorted(module);
    }
    runs(&structure.outside, |at, n| {
        found.add(Rule::Outside, Subject::Inst(at), None, format!("{} in no procedure and never run", instructions(n)));
    });
    for region in &structure.regions {
        paths::check(&module.code, *region, &mut found);
    }
    uncalled(module, &structure, &mut found);
    let stack_avoids_data = stack::check(&module.code, &structure, &mut found);
    spans(module, &mut found);
    condition::check(&module.code, &mut found);
    gradient::check(module, &mut found);
    memory(module, stack_avoids_data, &mut found);
    found.sorted(module)
}

/// The findings so far.
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, rule: Rule, at: Subject, other: Option<u32>, message: String) {
        let (code, severity, help) = (rule.code(), rule.severity(), rule.help());
        self.0.push(Finding { rule, code, severity, at, other, message, help });
    }

    /// Adds the findings about single instructions, in order.
    fn sorted(mut self, module: &Module) -> Vec<Finding> {
        for (at, inst) in module.code.iter().enumerate() {
            idle(module, at as u32, inst, &mut self);
        }
        self.0.sort_by(|a, b| (&a.at, a.rule).cmp(&(&b.at, b.rule)));
        self.0
    }
}

fn instructions(n: u32) -> String {
    if n == 1 { "this instruction is".to_string() } else { format!("these {n} instructions are") }
}

/// Calls `each` with the beginning and length of every run of consecutive addresses.
fn runs(addresses: &[u32], mut each: impl FnMut(u32, u32)) {
    for run in addresses.chunk_by(|a, b| a + 1 == *b) {
        each(run[0], run.len() as u32);
    }
}

/// Procedures that no chain of calls from the main region or from a global procedure reaches. If addresses are called,
/// or if there is no main region, any procedure may run.
fn uncalled(module: &Module, structure: &Structure, found: &mut Findings) {
    let indirect = module.code.iter().any(|i| i.kind.flow() == Flow::CallRegister);
    let Some(main) = structure.main().filter(|_| !indirect) else { return };
    let proc = |s: &&pendula_isa::module::Symbol| s.kind == SymbolKind::Proc;
    let global = module.symbols.iter().filter(proc).filter(|s| s.global).map(|s| s.value);
    let mut todo: Vec<u32> = global.filter_map(|at| u32::try_from(at).ok()).collect();
    todo.push(main.start);
    let mut reached: HashSet<u32> = HashSet::new();
    while let Some(start) = todo.pop() {
        let region = structure.region_of(start).filter(|r| r.start == start);
        let Some(region) = region.filter(|_| reached.insert(start)) else { continue };
        for at in region.start..=region.last {
            let inst = &module.code[at as usize];
            if matches!(inst.kind.flow(), Flow::Call | Flow::GradientCall) {
                todo.extend(target(&module.code, at, inst).map(|(to, _)| to));
            }
        }
    }
    for region in structure.regions.iter().filter(|r| !reached.contains(&r.start)) {
        let name = module.symbols.iter().filter(proc).find(|s| s.value == u64::from(region.start));
        let name = name.map_or(String::new(), |s| format!(" `{}`", s.name));
        found.add(Rule::Uncalled, Subject::Inst(region.start), None, format!("the procedure{name} is never called"));
    }
}

/// Routines and what undoes them.
fn spans(module: &Module, found: &mut Findings) {
    let mut routines: HashMap<&str, Vec<&Span>> = HashMap::new();
    let mut undone: HashSet<&str> = HashSet::new();
    for span in &module.spans {
        if span.undo {
            undone.insert(&span.name);
        } else {
            routines.entry(&span.name).or_default().push(span);
        }
    }
    for span in &module.spans {
        let (name, at) = (span.name.as_str(), Subject::Inst(span.start));
        if !span.undo {
            if !undone.contains(name) {
                found.add(Rule::NeverUndone, at, None, format!("the routine `{name}` is never undone"));
            }
            continue;
        }
        let Some(candidates) = routines.get(name) else {
            found.add(Rule::NothingToUndo, at, None, format!("there is no routine `{name}` to undo"));
            continue;
        };
        let differences: Vec<_> =
            candidates.iter().map_while(|routine| difference(&module.code, routine, span)).collect();
        if differences.len() == candidates.len()
            && let Some((at, other, message)) = differences.into_iter().next()
        {
            found.add(Rule::NotInverse, Subject::Inst(at), other, message);
        }
    }
}

/// The first place where `undo` is not the inverse of `routine`.
fn difference(code: &[Inst], routine: &Span, undo: &Span) -> Option<(u32, Option<u32>, String)> {
    let name = &routine.name;
    let (have, want) = (undo.end.saturating_sub(undo.start), routine.end.saturating_sub(routine.start));
    if have != want {
        let message = format!(
            "this span has {}, and the routine `{name}` that it undoes has {want}",
            plural(have, "instruction")
        );
        return Some((undo.start, Some(routine.start), message));
    }
    for k in 0..have {
        let (from, to) = (routine.end - 1 - k, undo.start + k);
        let (Some(inst), Some(found)) = (code.get(from as usize), code.get(to as usize)) else { break };
        let inverse = inst.inverse();
        let imm = match inst.kind.flow() {
            Flow::Straight | Flow::Run | Flow::CallRegister | Flow::Branch(_) | Flow::Cell => inst.imm,
            Flow::Jump | Flow::Procedure => inst.imm.wrapping_neg(),
            Flow::Call | Flow::GradientCall => inst.imm.wrapping_add(i64::from(from) - i64::from(to)),
        };
        let inverse = Inst { imm, ..inverse };
        if inverse != *found {
            let text = display(&inverse, u64::from(to), &NoNames);
            let message =
                format!("the exact inverse of the routine `{name}` would have `{}` here", normalize_spaces(&text));
            return Some((to, Some(from), message));
        }
    }
    None
}

/// The text with single spaces.
fn normalize_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Instructions, or parts of them, without effect.
fn idle(module: &Module, at: u32, inst: &Inst, found: &mut Findings) {
    let last = inst.operands().last().map(|(_, operand)| operand);
    let native = module.flags.profile == Profile::Native;
    let zero = match last {
        Some(Operand::Imm(0, _)) => true,
        // In the profile `pisa`, `r0` is a register like others.
        Some(Operand::Reg(Reg::ZERO)) => native,
        Some(_) | None => false,
    };
    match inst.kind {
        // Adding +0.0 to -0.0 gives +0.0. The logarithmic number 1, by which accumulators multiply, is the word 0.
        Kind::Accumulate { acc, func, .. } if func.info().name.is_empty() => {
            if zero && !(acc == Acc::Add && func.info().ty == Ty::F) {
                let pisa_text = if native { None } else { pisa::line(module, at) };
                let text = normalize_spaces(&pisa_text.unwrap_or_else(|| display(inst, u64::from(at), &NoNames)));
                found.add(Rule::NoEffect, Subject::Inst(at), None, format!("`{text}` changes nothing"));
            }
        }
        Kind::Accumulate { func: TableFn::Int(int_fn::Name::Shl | int_fn::Name::Shr | int_fn::Name::Sar), .. } => {
            if zero || matches!(last, Some(Operand::Imm(n, _)) if n % 64 == 0) {
                found.add(Rule::ShiftByNothing, Subject::Inst(at), None, "this shifts by nothing".to_string());
            }
        }
        Kind::Accumulate {
            func: TableFn::Int(int_fn::Name::Shl32 | int_fn::Name::Shr32 | int_fn::Name::Sar32),
            ..
        } => {
            if zero || matches!(last, Some(Operand::Imm(n, _)) if n % 32 == 0) {
                found.add(Rule::ShiftByNothing, Subject::Inst(at), None, "this shifts by nothing".to_string());
            }
        }
        Kind::Row { row: Row::Rol | Row::Rol32, .. } if zero => {
            found.add(Rule::NoEffect, Subject::Inst(at), None, "rotating by 0 changes nothing".to_string());
        }
        Kind::Accumulate { .. } | Kind::Row { .. } | Kind::Extension { .. } => {}
    }
}

/// Constant addresses and the objects that they reach. `stack_avoids_data` says that the stack never reaches the data.
fn memory(module: &Module, stack_avoids_data: bool, found: &mut Findings) {
    let size = module.data.len() as u64;
    let mem = module.flags.mem;
    if let Some(mem) = mem.filter(|&mem| mem < size) {
        let message = format!("the data has {}, and `.mem` gives the memory {mem}", plural(size, "word"));
        found.add(Rule::Memory, Subject::Module, None, message);
    }
    let mut used: Vec<u64> = Vec::new();
    let mut reported: HashSet<i64> = HashSet::new();
    let mut anywhere = !stack_avoids_data;
    for (at, inst) in module.code.iter().enumerate() {
        let at = Subject::Inst(at as u32);
        for (_, operand) in inst.operands() {
            let Operand::Mem { base, index, offset } = operand else { continue };
            if base != Reg::ZERO || index != Reg::ZERO {
                anywhere = true;
                continue;
            }
            used.extend(u64::try_from(offset));
            let beyond = mem.filter(|&mem| u64::try_from(offset).is_ok_and(|a| a >= mem));
            if offset >= 0 && offset.cast_unsigned() < size && beyond.is_none() || !reported.insert(offset) {
                continue;
            }
            if offset < 0 {
                let message = format!("the address {offset} is below the memory: this always traps");
                found.add(Rule::Address, at.clone(), None, message);
            } else if let Some(mem) = beyond {
                let message =
                    format!("the address {offset} is beyond the {} that `.mem` gives the memory", plural(mem, "word"));
                found.add(Rule::Address, at.clone(), None, message);
            } else {
                let message = format!(
                    "the address {offset} is beyond the {} of the data, where the stack is",
                    plural(size, "word")
                );
                found.add(Rule::BeyondData, at.clone(), None, message);
            }
        }
    }
    // The data of a library may be used by any program that runs it.
    if anywhere || !module.code.iter().any(|i| is_row(i, Row::Start, false)) {
        return;
    }
    used.sort_unstable();
    for symbol in &module.symbols {
        // Exported data may be intended to pass through unchanged, and global data to be used elsewhere.
        let SymbolKind::Data { len, import: true, export: false, .. } = symbol.kind else { continue };
        if symbol.global {
            continue;
        }
        let first = used.partition_point(|&a| a < symbol.value);
        if used.get(first).is_none_or(|&a| a - symbol.value >= len) {
            let message = format!("`{}` is imported and never used", symbol.name);
            found.add(Rule::Unread, Subject::Symbol(symbol.name.clone()), None, message);
        }
    }
}
