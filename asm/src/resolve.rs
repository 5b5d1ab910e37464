//! The second pass: turns operands into instructions and words, and makes the line table.
//!
//! Names have their addresses by now ([`layout`](crate::layout)). `isa` decides which operands an instruction
//! accepts; here its errors get their places. [`pairs`](crate::pairs) later checks the rules that hold between
//! instructions.

mod data;
mod locator;

use std::collections::{HashMap, HashSet};

use pendula_isa::extension::IN_MODULE;
use pendula_isa::operand::{OPERANDS, OperandKind};
use pendula_isa::table::Row;
use pendula_isa::types::Cond;
use pendula_isa::{Inst, Kind, Module, Operand, OperandError, Profile, Reg, Ty};

use crate::assembly::NamedOperand;
use crate::ast::{Arg, ArgKind, Binary, ExprRef, NodeKind, Op, Span, Stmt};
use crate::codes;
use crate::files::Files;
use crate::intern::Sym;
use crate::layout::{Program, sort};
use crate::operands;
use crate::session::{Parsed, Reported, Session};
use crate::symbols::Def;
use crate::value::Value;
use locator::Locator;

/// Instructions for which errors were reported. Placeholders stand for them in the code.
#[derive(Debug, Default)]
pub(crate) struct Faulty {
    pub(crate) at: HashSet<u32>,
    /// Whether one of them may be a bound of a region.
    pub(crate) bounds: bool,
}

/// Fills the module's code, data, texts and line table.
pub(crate) fn resolve(
    s: &mut Session,
    program: &mut Program,
    files: &Files,
    module: &mut Module,
) -> (Faulty, Vec<NamedOperand>) {
    let mut r = Resolver { s, program, module, texts: HashMap::new(), named: Vec::new(), object: 0, mem: None };
    r.module.code.reserve_exact(r.program.stmt_of.len());
    r.module.locs.reserve_exact(r.program.stmt_of.len());
    let mut faulty = Faulty::default();
    let mut locator = Locator::default();
    let mut text = true;
    let mut extensions = HashSet::new();
    for n in 0..r.s.ast.stmts.len() {
        let stmt = r.s.ast.stmts[n];
        let inst = match stmt.op {
            Op::Text => {
                text = true;
                continue;
            }
            Op::Data => {
                text = false;
                continue;
            }
            Op::Inst(kind) if text => r.instruction(&stmt, kind).map_err(|Reported| bounds(kind)),
            Op::Bad if text => Err(true),
            op => {
                if !text {
                    r.data(&stmt, op);
                }
                if op == Op::Start {
                    let _ = r.entry(&stmt);
                }
                if op == Op::Loose && r.program.flags.profile != Profile::Pisa {
                    let message = "only programs of the profile `pisa` may be loose".to_string();
                    let help = "remove it, or say `.profile pisa`";
                    let _ = r.s.fail(codes::ARGUMENT, message, stmt.span, stmt.via, help);
                }
                if op == Op::Mem {
                    // If this fails, an error has been reported.
                    let _ = r.memory(&stmt);
                }
                continue;
            }
        };
        let inst = inst.unwrap_or_else(|may_be_bound| {
            faulty.at.insert(r.module.code.len() as u32);
            faulty.bounds |= may_be_bound;
            placeholder()
        });
        if let Kind::Extension { extension, .. } = inst.kind
            && extensions.insert(extension)
            && extensions.len() == IN_MODULE + 1
        {
            let message = format!("the program uses more than {IN_MODULE} different instructions by definition");
            let help = "their numbers have 8 bits in instruction words; divide the program, or let one definition do for several";
            r.s.fail(codes::LIMIT, message, stmt.span, stmt.via, help);
        }
        r.module.code.push(inst);
        let (file, offset) = r.s.locate(stmt.span);
        let text_of = files.list.get(usize::from(file)).map_or("", |f| f.text.as_str());
        r.module.locs.push(locator.loc(text_of, file, offset));
        if r.s.has_too_many_errors() {
            break;
        }
    }
    (faulty, r.named)
}

fn bounds(kind: Kind) -> bool {
    matches!(kind, Kind::Row { row: Row::Start | Row::Proc, .. })
}

/// An instruction that replaces a faulty one.
fn placeholder() -> Inst {
    let kind = Kind::Row { row: Row::Inc, inverse: false, ty: Ty::Int, cond: Cond::Always, form: false };
    Inst { kind, regs: Inst::registers(&[Reg::SP]), imm: 0, small: 0 }
}

struct Resolver<'a> {
    s: &'a mut Session,
    program: &'a mut Program,
    module: &'a mut Module,
    texts: HashMap<Sym, u32>,
    named: Vec<NamedOperand>,
    /// The index of the object after the one that the next word belongs to.
    object: usize,
    mem: Option<Span>,
}

impl Resolver<'_> {
    fn instruction(&mut self, stmt: &Stmt, kind: Kind) -> Parsed<Inst> {
        let count = self.s.ast.args(stmt).len();
        let mut operands = [Operand::Small(0); OPERANDS];
        let mut failed = false;
        for (n, operand) in operands.iter_mut().enumerate().take(count) {
            let Some(arg) = self.s.ast.arg(stmt, n) else { break };
            match self.operand(stmt, kind, n, arg) {
                Ok(made) => *operand = made,
                Err(Reported) => failed = true,
            }
        }
        if failed {
            return Err(Reported);
        }
        let profile = self.program.flags.profile;
        let built = match operands.get(..count) {
            Some(operands) => Inst::build_in(profile, kind, operands),
            None => Inst::build_in(profile, kind, &vec![Operand::Small(0); count]),
        };
        built.map_err(|error| self.operand_error(stmt, kind, &error))
    }

    fn operand(&mut self, stmt: &Stmt, kind: Kind, n: usize, arg: Arg) -> Parsed<Operand> {
        let constant = match arg.kind {
            ArgKind::Reg(reg) => return Ok(Operand::Reg(reg)),
            ArgKind::Mem { base, index, offset } => {
                if let Some(object) = self.object_of(offset) {
                    self.name(n, object);
                }
                let offset = self.address(stmt, offset, arg.span)?;
                return Ok(Operand::Mem { base, index, offset });
            }
            ArgKind::Text(text) => {
                let is_text = kind.operand_kind(n) == Some(OperandKind::Text);
                return Ok(Operand::Text(if is_text { self.text(text) } else { 0 }));
            }
            constant @ (ArgKind::Int { .. } | ArgKind::Name(_) | ArgKind::Expr(_)) => constant,
        };
        let ty = match kind.operand_kind(n) {
            Some(OperandKind::Label) => {
                return match constant {
                    ArgKind::Name(name) => self.label(stmt, kind, name, arg.span).map(Operand::Label),
                    // A constant where a label is expected: `build` reports it.
                    _ => Ok(Operand::Imm(0, Ty::Int)),
                };
            }
            // A whole number, which is evaluated as a number of the type that it is compared as.
            Some(OperandKind::Small) => {
                let value = self.value(stmt, constant, kind.constant_type(n), arg.span)?;
                let word = self.program.symbols.word(self.s, value, Ty::Int, arg.span, stmt.via)?;
                return Ok(Operand::Imm(word, Ty::Int));
            }
            Some(OperandKind::Amount | OperandKind::Factor) => Ty::Int,
            Some(OperandKind::Value | OperandKind::Tolerance | OperandKind::Constant) => {
                let ty = kind.constant_type(n);
                let object = match constant {
                    ArgKind::Name(name) => self.object(name),
                    ArgKind::Expr(expr) => self.object_of(expr),
                    _ => None,
                };
                if let Some(object) = object.filter(|_| ty == Ty::Int) {
                    self.name(n, object);
                }
                ty
            }
            // No constant is accepted here: `build` reports it.
            Some(
                OperandKind::Target
                | OperandKind::Source
                | OperandKind::Memory
                | OperandKind::TargetOrMemory
                | OperandKind::Text,
            )
            | None => return Ok(Operand::Imm(0, Ty::Int)),
        };
        self.constant(stmt, constant, ty, arg.span).map(|word| Operand::Imm(word, ty))
    }

    fn constant(&mut self, stmt: &Stmt, arg: ArgKind, ty: Ty, span: Span) -> Parsed<u64> {
        let value = self.value(stmt, arg, ty, span)?;
        self.program.symbols.word(self.s, value, ty, span, stmt.via)
    }

    fn value(&mut self, stmt: &Stmt, arg: ArgKind, ty: Ty, span: Span) -> Parsed<Value> {
        let symbols = &mut self.program.symbols;
        match arg {
            ArgKind::Int { negative, magnitude } => {
                let n = i128::from(magnitude);
                Ok(Value::Int(if negative { -n } else { n }))
            }
            ArgKind::Name(name) if symbols.is_literal(name, ty) => Ok(symbols.literal(name)),
            ArgKind::Name(name) => symbols.name(self.s, name, ty, span, stmt.via),
            ArgKind::Expr(expr) => symbols.eval(self.s, expr, ty, stmt.via),
            ArgKind::Reg(_) | ArgKind::Mem { .. } | ArgKind::Text(_) => {
                let help = "data are numbers, names, and expressions of these";
                Err(self.s.fail(codes::SYNTAX, "a number was expected here", span, stmt.via, help))
            }
        }
    }

    /// The address of the data object that an address is written with: its name alone, or with constants added.
    fn object_of(&self, offset: ExprRef) -> Option<u64> {
        let (first, rest) = self.s.ast.nodes(offset).split_first()?;
        let NodeKind::Name(name) = first.kind else { return None };
        let address = self.object(name)?;
        let constant = |kind| matches!(kind, NodeKind::Int(_) | NodeKind::Binary(Binary::Add | Binary::Sub));
        rest.iter().all(|node| constant(node.kind)).then_some(address)
    }

    /// The address of the data object of this name.
    fn object(&self, name: Sym) -> Option<u64> {
        match self.program.symbols.get(name).def {
            Def::Data { address, .. } => Some(address),
            Def::Undefined | Def::Code { .. } | Def::Const(_) => None,
        }
    }

    /// Records that an operand of the next instruction is written with the name of a data object.
    fn name(&mut self, operand: usize, object: u64) {
        self.named.push(NamedOperand { at: self.module.code.len() as u32, operand: operand as u8, object });
    }

    /// The constant part of an address.
    fn address(&mut self, stmt: &Stmt, offset: ExprRef, span: Span) -> Parsed<i64> {
        if offset.count == 0 {
            return Ok(0);
        }
        if let &[node] = self.s.ast.nodes(offset)
            && let NodeKind::Name(name) = node.kind
            && let def @ Def::Code { .. } = self.program.symbols.get(name).def
        {
            let text = self.s.names.text(name).to_string();
            let message = format!("`{text}` is {}, and memory holds data", sort(def));
            let help = "name a data object; the code cannot be read or written";
            return Err(self.s.fail(codes::SORT, message, node.span, stmt.via, help));
        }
        let symbols = &mut self.program.symbols;
        let value = symbols.eval(self.s, offset, Ty::Int, stmt.via)?;
        match value {
            Value::Int(n) => match i64::try_from(n) {
                Ok(n) => Ok(n),
                Err(_) => {
                    // With the same words as `build`, which reports offsets that are merely too large.
                    let (what, min, max) =
                        ("a memory offset", pendula_isa::inst::OFFSET_MIN, pendula_isa::inst::OFFSET_MAX);
                    let error = OperandError::OutOfRange { position: 1, what, min, max, found: n };
                    Err(self.s.fail(error.code(), error.to_string(), span, stmt.via, error.help()))
                }
            },
            Value::Real { .. } | Value::Ratio { .. } | Value::Raw(_) => {
                symbols.word(self.s, value, Ty::Int, span, stmt.via).map(u64::cast_signed)
            }
        }
    }

    /// The distance to a label or procedure.
    fn label(&mut self, stmt: &Stmt, kind: Kind, name: Sym, span: Span) -> Parsed<i64> {
        let here = self.module.code.len() as i64;
        let def = self.program.symbols.get(name).def;
        match (kind, def) {
            (Kind::Row { row: Row::Proc, .. }, _) if self.program.faulty_bounds.contains(&(here as u32)) => {
                Err(Reported)
            }
            (Kind::Row { row: Row::Proc, inverse: false, .. }, _) => match self.program.rets.get(&name) {
                Some(&ret) => Ok(i64::from(ret) - here),
                None => {
                    let message = format!("the procedure `{}` has no `ret`", self.s.names.text(name));
                    let help = format!("end it with `ret {}`", self.s.names.text(name));
                    Err(self.s.fail(pendula_isa::verify::Problem::NoRet.code(), message, span, stmt.via, help))
                }
            },
            (Kind::Row { row: Row::Proc, .. }, Def::Undefined | Def::Code { proc: false, .. }) => {
                let message = format!("there is no procedure `{}` for this `ret` to end", self.s.names.text(name));
                let help = format!("begin it with `proc {}`", self.s.names.text(name));
                Err(self.s.fail(pendula_isa::verify::Problem::NoProc.code(), message, span, stmt.via, help))
            }
            (_, Def::Code { at, .. }) => Ok(i64::from(at) - here),
            (_, Def::Undefined) => {
                let text = self.s.names.text(name);
                let how = match kind {
                    Kind::Row { row: Row::Jmp, inverse, .. } => {
                        let (half, partner) = if inverse { ("from", "jmp") } else { ("jmp", "from") };
                        format!("as the label `{text}:` of the `{partner}` that belongs to this `{half}`")
                    }
                    Kind::Row { row: Row::Bra | Row::Rbra, .. } => format!("as the label `{text}:` of a branch"),
                    Kind::Row { .. } | Kind::Accumulate { .. } | Kind::Extension { .. } => {
                        format!("as a procedure, from `proc {text}` to `ret {text}`")
                    }
                };
                Err(self.program.symbols.undefined_but(self.s, name, span, stmt.via, &how))
            }
            (_, def @ (Def::Data { .. } | Def::Const(_))) => {
                let message =
                    format!("`{}` is {}, and a place in the code is expected", self.s.names.text(name), sort(def));
                let first = self.s.place(self.program.symbols.get(name).span);
                let d = self.s.error(codes::SORT, message, span).also(first, "defined here");
                Err(self.s.report(d.help("name a label or a procedure"), stmt.via))
            }
        }
    }

    /// Where a run begins.
    fn entry(&mut self, stmt: &Stmt) -> Parsed<()> {
        let Some((ArgKind::Name(name), span)) = self.s.ast.arg(stmt, 0).map(|a| (a.kind, a.span)) else {
            return Ok(());
        };
        if self.program.flags.profile != Profile::Pisa {
            let message = "only programs of the profile `pisa` say where they begin".to_string();
            let help = "elsewhere a run begins at the instruction `start`";
            return Err(self.s.fail(codes::ARGUMENT, message, stmt.span, stmt.via, help));
        }
        let at = self.label(
            stmt,
            Kind::Row { row: Row::Bra, inverse: false, ty: Ty::Int, cond: Cond::Always, form: false },
            name,
            span,
        )?;
        let here = self.module.code.len() as i64;
        let entry = u32::try_from(here + at).unwrap_or(u32::MAX);
        if entry as usize >= self.program.stmt_of.len() {
            let problem = pendula_isa::verify::Problem::NoEntry;
            return Err(self.s.fail(problem.code(), problem.title().to_string(), span, stmt.via, problem.help()));
        }
        self.program.flags.entry = entry;
        Ok(())
    }

    fn text(&mut self, text: Sym) -> u32 {
        let next = self.texts.len() as u32;
        *self.texts.entry(text).or_insert_with(|| {
            self.module.texts.push(self.s.names.text(text).to_string());
            next
        })
    }

    /// Reports an error that `isa` found in the operands, at its place.
    fn operand_error(&mut self, stmt: &Stmt, kind: Kind, error: &OperandError) -> Reported {
        let args: Vec<Arg> = self.s.ast.args(stmt).to_vec();
        let arg = error.position().checked_sub(1).and_then(|n| args.get(n).copied());
        let span = arg.map_or(stmt.span, |a| a.span);
        let mut d = self.s.error(error.code(), error.to_string(), span);
        let default_help = || error.help().replace("MNEMONIC", &kind.mnemonic());
        let mut help = operands::help(kind, error, &args).unwrap_or_else(default_help);
        match (error, arg.map(|a| a.kind)) {
            (OperandError::Aliased { reg, position }, _) => {
                let first = args
                    .iter()
                    .enumerate()
                    .find(|(n, a)| n + 1 != *position && matches!(a.kind, ArgKind::Reg(r) if r == *reg));
                if let Some((_, first)) = first {
                    d = d.also(self.s.place(first.span), "written here");
                }
            }
            (OperandError::TwoMemory { .. }, _) => {
                if let Some(first) = args.iter().find(|a| matches!(a.kind, ArgKind::Mem { .. })) {
                    d = d.also(self.s.place(first.span), "the first");
                }
            }
            // A name where a text is expected is a text without quotes.
            (OperandError::Kind { wanted: "text", .. }, _) => {}
            (OperandError::Kind { .. }, Some(ArgKind::Name(name))) => match self.program.symbols.get(name).def {
                Def::Data { .. } => help = format!("a word of memory is in brackets: `[{}]`", self.s.names.text(name)),
                Def::Undefined => return self.program.symbols.undefined(self.s, name, span, stmt.via),
                Def::Code { .. } | Def::Const(_) => {}
            },
            _ => {}
        }
        d = d.help(help);
        self.s.report(d, stmt.via)
    }
}
