//! The code of a program as a debugger sees it: statements, lines, procedures.

use pendula_compiler::ir::{self, Program};
use pendula_isa::Inst;
use pendula_isa::module::{Loc, Module, SymbolKind, name_in_source};
use pendula_isa::table::Flow;
use pendula_isa::types::Profile;
use pendula_isa::verify::{Region, Structure, verify};

/// The code of a program, with its statements.
pub struct Code<'p> {
    module: &'p Module,
    structure: Structure,
    /// Whether any instruction has a place in a source.
    has_lines: bool,
    /// The program from which it was compiled, which knows the parts of statements.
    source: Option<&'p Program>,
}

/// A statement of the source; in assembly, a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The number of the file.
    pub file: u16,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 in assembly, where a line is one statement.
    pub column: u16,
}

/// Whether an instruction is a call.
pub(super) fn is_call(inst: &Inst) -> bool {
    matches!(inst.kind.flow(), Flow::Call | Flow::CallRegister | Flow::GradientCall)
}

impl<'p> Code<'p> {
    /// The code of a module.
    pub fn new(module: &'p Module, source: Option<&'p Program>) -> Code<'p> {
        let structure = match module.flags.profile {
            Profile::Native => verify(module).0,
            Profile::Pisa => Structure::default(),
        };
        Code { module, structure, source, has_lines: module.locs.iter().any(|loc| loc.line > 0) }
    }

    /// The module.
    pub fn module(&self) -> &'p Module {
        self.module
    }

    /// Whether instructions have places in a source. If not, each instruction is a statement.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// The statement of an instruction; `None` for code that the compiler added.
    pub fn statement(&self, at: u32) -> Option<Statement> {
        let (_, Loc { file, line, column }) = self.module.loc(at as usize)?;
        if !self.module.is_compiled(at as usize) {
            return Some(Statement { file, line, column: 0 });
        }
        // An operand may have a place of its own.
        let own = ir::Loc { file, column, line };
        let ir::Loc { file, column, line } = self.source.map_or(own, |source| source.statement_at(own));
        Some(Statement { file, line, column })
    }

    /// Whether a statement begins with the instruction at `at`, if `after` ran last, and in which direction the machine goes. If what ran last is not known, it was of
    /// another statement.
    pub fn begins(&self, after: Option<u32>, at: u32, back: bool) -> bool {
        if !self.has_lines {
            return true;
        }
        let Some(here) = self.statement(at) else { return false };
        if self.is_head(at) {
            return false;
        }
        if after.is_some_and(|after| self.statement(after) == Some(here) && after != at) {
            return false;
        }
        // A call that has returned does not begin its statement again.
        let before = if back { at.checked_add(1) } else { at.checked_sub(1) };
        let returned = |before: u32| {
            let is = self.module.code.get(before as usize).is_some_and(is_call) && self.statement(before) == Some(here);
            is && after.is_none_or(|after| self.leaves(after))
        };
        !before.is_some_and(returned)
    }

    /// Whether an instruction belongs to the head of a compiled function: it brings arguments to where they are used, or back.
    fn is_head(&self, at: u32) -> bool {
        let head = |start: u32| self.module.is_compiled(at as usize) && self.statement(at) == self.statement(start);
        self.region(at).is_some_and(|region| head(region.start))
    }

    /// Whether an instruction belongs to what the compiler has put around a program, which calls its entry.
    pub fn is_around(&self, at: u32) -> bool {
        self.region(at).is_some_and(|region| region.main) && self.module.is_compiled(at as usize)
    }

    /// The procedure that instructions belong to, if all of them are its head or pass arguments to it: no statement begins with them.
    pub fn header(&self, addresses: &[u32]) -> Option<String> {
        let compiled = |at: &u32| self.is_around(*at) || self.is_head(*at) && self.module.is_compiled(*at as usize);
        if addresses.is_empty() || !addresses.iter().all(compiled) {
            return None;
        }
        let own = addresses.iter().find(|at| !self.is_around(**at)).or(addresses.first());
        self.procedure(*own?)
    }

    /// Where a procedure is entered, in both directions: a compiled function with its first statement.
    pub fn entries(&self, start: u32) -> [u32; 2] {
        let Some(region) = self.region(start).filter(|r| r.start == start && !r.main) else { return [start; 2] };
        let own = |at: &u32| !self.is_head(*at);
        let first = (region.start..=region.last).find(own).unwrap_or(region.start);
        [first, (region.start..=region.last).rev().find(own).unwrap_or(region.last)]
    }

    /// Whether an instruction is an end of a procedure, from which control returns.
    fn leaves(&self, at: u32) -> bool {
        self.region(at).is_some_and(|region| !region.main && (at == region.last || at == region.start))
    }

    /// Whether the instruction, which runs in this direction, returns from a procedure.
    pub fn returns(&self, at: u32, back: bool) -> bool {
        self.region(at).is_some_and(|region| !region.main && at == if back { region.start } else { region.last })
    }

    /// The region that an instruction belongs to.
    pub fn region(&self, at: u32) -> Option<Region> {
        self.structure.region_of(at)
    }

    /// Whether an instruction belongs to the inverse of a routine, and not to what is done within one anew.
    pub fn undoes(&self, at: u32) -> bool {
        let around = self.module.spans.iter().filter(|span| (span.start..span.end).contains(&at));
        around.min_by_key(|span| span.end - span.start).is_some_and(|span| span.undo)
    }

    /// The name of the procedure that an instruction belongs to, as the source has it.
    pub fn procedure(&self, at: u32) -> Option<String> {
        let region = self.region(at)?;
        let named = |kind: SymbolKind| matches!(kind, SymbolKind::Proc | SymbolKind::Label);
        let symbol = self.module.symbols.iter().find(|s| named(s.kind) && s.value == u64::from(region.start))?;
        let own = self.module.is_compiled(region.start as usize);
        Some(if own { name_in_source(&symbol.name).to_string() } else { symbol.name.clone() })
    }

    /// The instructions of a line, or of the next line that has some; with the line.
    pub fn line(&self, file: &str, line: u32) -> Option<(u32, Vec<u32>)> {
        let files: Vec<u16> = (0..self.module.files.len() as u16).filter(|n| self.is_file(*n, file)).collect();
        let own = |at: &u32| {
            let loc = self.module.locs.get(*at as usize);
            loc.filter(|loc| files.contains(&loc.file) && loc.line >= line).map(|loc| loc.line)
        };
        let all = || 0..self.module.code.len() as u32;
        let found = all().filter_map(|at| own(&at)).min()?;
        Some((found, all().filter(|at| own(at) == Some(found)).collect()))
    }

    /// Whether a user may mean this file by a name: its path, or the end of it.
    fn is_file(&self, n: u16, name: &str) -> bool {
        let Some(path) = self.module.files.get(n as usize) else { return false };
        path == name || path.strip_suffix(name).is_some_and(|folder| folder.ends_with('/'))
    }

    /// The instruction that a label, a procedure or a function of this name begins with. Several instances of a function of Nil may have one name.
    pub fn named(&self, name: &str) -> Vec<u32> {
        let is = |s: &&pendula_isa::module::Symbol| {
            let code = matches!(s.kind, SymbolKind::Proc | SymbolKind::Label);
            let own = self.module.is_compiled(s.value as usize);
            code && (s.name == name || own && name_in_source(&s.name) == name)
        };
        let mut found: Vec<u32> = self.module.symbols.iter().filter(is).map(|s| s.value as u32).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The names of procedures and labels, for messages.
    pub fn names(&self) -> Vec<String> {
        let code = self.module.symbols.iter().filter(|s| matches!(s.kind, SymbolKind::Proc | SymbolKind::Label));
        let mut names: Vec<String> = code
            .map(|s| match self.module.is_compiled(s.value as usize) {
                true => name_in_source(&s.name).to_string(),
                false => s.name.clone(),
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The address after a call, in the direction of the run.
    pub fn after_call(&self, at: u32, back: bool) -> Option<u32> {
        if back { at.checked_sub(1) } else { Some(at + 1).filter(|at| (*at as usize) < self.module.code.len()) }
    }
}
