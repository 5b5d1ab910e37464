//! A generated program with symbolic references. It can be printed as text for the assembler, or resolved to a module here; tests
//! compare the two.

use std::collections::HashMap;
use std::fmt::Write;

use crate::inst::{Inst, Kind};
use crate::mnemonic::ALIASES;
use crate::module::{Flags, Module, Span};
use crate::num::Format;
use crate::operand::{Operand, OperandError};
use crate::table::{Flow, Row};
use crate::text::{number, quote};
use crate::types::{Reg, Ty};

/// A random program; `RandomProgram::new` makes one.
#[derive(Clone, Debug)]
pub struct RandomProgram {
    pub(super) format: Format,
    pub(super) data: Vec<Object>,
    pub(super) lines: Vec<Line>,
    /// Decides between spellings.
    pub(super) style: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) words: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(super) enum Line {
    Label(u32),
    Inst(Kind, Vec<Op>),
    Routine(u32),
    EndRoutine,
    /// The inverse of the routine's span.
    Unroutine(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Reg(Reg),
    /// A constant of the instruction's type.
    Imm(u64),
    Small(i16),
    Factor(i64),
    /// A word of a data object.
    Memory {
        object: usize,
        index: Reg,
        offset: i64,
    },
    /// The word at a register.
    Plain(Reg),
    /// The word on top of the stack.
    Top,
    Label(u32),
    /// A procedure, to be called.
    Proc(usize),
    /// A procedure's address as a constant.
    Address(usize),
    Text(u32),
}

const TEXTS: [&str; 5] = ["", "a; b # c", "tab\tquote\" backslash\\", "line\nbreak", "Grüße, 世界 🦀"];

/// Addresses of what has a name.
#[derive(Default)]
struct Places {
    labels: HashMap<u32, i64>,
    /// Of `proc` and `ret`.
    procs: HashMap<usize, (i64, i64)>,
    routines: HashMap<u32, (usize, usize)>,
}

impl Places {
    fn span(&self, name: u32, undo: bool, at: i64) -> Span {
        let (start, end) = self.routines.get(&name).copied().unwrap_or_default();
        let at = at as u32;
        Span { name: format!("span{name}"), undo, start: at, end: at + (end - start) as u32 }
    }
}

impl RandomProgram {
    /// The program's text.
    pub fn text(&self) -> String {
        let mut out = String::from("; a random program\n");
        let _ = writeln!(out, "        .format {}\n        .data", self.format.name());
        for object in &self.data {
            let directive = match object.ty {
                Ty::Int => ".word",
                Ty::Q => ".fixed",
                Ty::L => ".log",
                Ty::F => ".double",
            };
            let words: Vec<String> = object.words.iter().map(|w| number(*w, object.ty, self.format)).collect();
            let _ = writeln!(out, "{}: {directive} {}", object.name, words.join(", "));
        }
        out.push_str("        .text\n");
        for (n, line) in self.lines.iter().enumerate() {
            let mut style = self.style.rotate_left(n as u32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let _ = match line {
                Line::Label(label) => write!(out, "L{label}:"),
                Line::Routine(name) => write!(out, "        .routine span{name}"),
                Line::EndRoutine => write!(out, "        .endroutine"),
                Line::Unroutine(name) => write!(out, "        .unroutine span{name}"),
                Line::Inst(kind, ops) => {
                    let mnemonic = kind.mnemonic();
                    let mut names: Vec<&str> = vec![&mnemonic];
                    names.extend(ALIASES.iter().filter(|(_, name)| *name == mnemonic).map(|(alias, _)| *alias));
                    let name = names[style as usize % names.len()];
                    style /= 8;
                    let ops: Vec<String> =
                        ops.iter().enumerate().map(|(n, op)| self.op_text(*op, *kind, n, &mut style)).collect();
                    write!(out, "        {name} {}", ops.join(", "))
                }
            };
            out.push_str(match style % 16 {
                0 => " ; a comment\n",
                1 => " # another, with \"quotes\n",
                2 => "\n\n",
                // A label may precede its instruction.
                3..=8 if matches!(line, Line::Label(_)) => " ",
                _ => "\n",
            });
        }
        out
    }

    fn op_text(&self, op: Op, kind: Kind, position: usize, style: &mut u64) -> String {
        match op {
            Op::Reg(reg) => reg.to_string(),
            Op::Imm(word) => {
                let ty = kind.constant_type(position);
                *style /= 2;
                let hex = ty == Ty::Int && style.is_multiple_of(4);
                if hex { format!("{word:#x}") } else { number(word, ty, self.format) }
            }
            Op::Small(k) => k.to_string(),
            Op::Factor(k) => k.to_string(),
            Op::Memory { object, index, offset } => {
                let mut out = format!("[{}", self.data[object].name);
                if index != Reg::ZERO {
                    let _ = write!(out, "+{index}");
                }
                if offset != 0 {
                    let _ = write!(out, "{offset:+}");
                }
                out.push(']');
                out
            }
            Op::Plain(reg) => format!("[{reg}]"),
            Op::Top => "[sp-1]".to_string(),
            Op::Label(label) => format!("L{label}"),
            Op::Proc(n) | Op::Address(n) => format!("proc{n}"),
            Op::Text(n) => quote(TEXTS[n as usize % TEXTS.len()]),
        }
    }

    /// The module for the text, without symbols and lines.
    ///
    /// Errors: invalid operands, which would be a bug of the generator.
    pub fn module(&self) -> Result<Module, OperandError> {
        let places = self.places();
        let mut module = Module { flags: Flags { format: self.format, ..Flags::default() }, ..Module::default() };
        module.data = self.data.iter().flat_map(|o| o.words.iter().copied()).collect();
        for line in &self.lines {
            let at = module.code.len() as i64;
            match line {
                Line::Label(_) | Line::EndRoutine => {}
                Line::Routine(name) => module.spans.push(places.span(*name, false, at)),
                Line::Inst(kind, ops) => {
                    let mut operands = Vec::with_capacity(ops.len());
                    for (n, op) in ops.iter().enumerate() {
                        operands.push(self.operand(*op, *kind, n, at, &places, &mut module.texts));
                    }
                    module.code.push(Inst::build(*kind, &operands)?);
                }
                Line::Unroutine(name) => {
                    let (start, end) = places.routines.get(name).copied().unwrap_or_default();
                    module.spans.push(places.span(*name, true, at));
                    for n in (start..end).rev() {
                        let inst = module.code[n].inverse();
                        let now = module.code.len() as i64;
                        let imm = match inst.kind.flow() {
                            // Pairs are mirrored; procedures stay in place.
                            Flow::Jump => -inst.imm,
                            Flow::Call | Flow::GradientCall => inst.imm + n as i64 - now,
                            Flow::Straight
                            | Flow::Procedure
                            | Flow::CallRegister
                            | Flow::Run
                            | Flow::Branch(_)
                            | Flow::Cell => inst.imm,
                        };
                        module.code.push(Inst { imm, ..inst });
                    }
                }
            }
        }
        Ok(module)
    }

    fn places(&self) -> Places {
        let mut places = Places::default();
        let mut open = (0, 0);
        let mut at = 0;
        for line in &self.lines {
            match line {
                Line::Label(label) => {
                    places.labels.insert(*label, at as i64);
                }
                Line::Inst(Kind::Row { row: Row::Proc, inverse, .. }, ops) => {
                    if let [Op::Proc(n)] = ops[..] {
                        let place = places.procs.entry(n).or_default();
                        *(if *inverse { &mut place.1 } else { &mut place.0 }) = at as i64;
                    }
                    at += 1;
                }
                Line::Inst(..) => at += 1,
                Line::Routine(name) => open = (*name, at),
                Line::EndRoutine => {
                    places.routines.insert(open.0, (open.1, at));
                }
                Line::Unroutine(name) => at += places.routines.get(name).map_or(0, |(start, end)| end - start),
            }
        }
        places
    }

    fn operand(
        &self,
        op: Op,
        kind: Kind,
        position: usize,
        at: i64,
        places: &Places,
        texts: &mut Vec<String>,
    ) -> Operand {
        let proc = |n| places.procs.get(&n).copied().unwrap_or_default();
        match op {
            Op::Reg(reg) => Operand::Reg(reg),
            Op::Imm(word) => Operand::Imm(word, kind.constant_type(position)),
            Op::Small(k) => Operand::Small(k),
            Op::Factor(k) => Operand::Factor(k as u16),
            Op::Memory { object, index, offset } => {
                let before: usize = self.data[..object].iter().map(|o| o.words.len()).sum();
                Operand::Mem { base: index, index: Reg::ZERO, offset: before as i64 + offset }
            }
            Op::Plain(reg) => Operand::Mem { base: reg, index: Reg::ZERO, offset: 0 },
            Op::Top => Operand::Mem { base: Reg::SP, index: Reg::ZERO, offset: -1 },
            Op::Label(label) => Operand::Label(places.labels.get(&label).copied().unwrap_or_default() - at),
            Op::Proc(n) => {
                let begins = matches!(kind, Kind::Row { row: Row::Proc, inverse: false, .. });
                Operand::Label((if begins { proc(n).1 } else { proc(n).0 }) - at)
            }
            Op::Address(n) => Operand::Imm(proc(n).0.cast_unsigned(), Ty::Int),
            Op::Text(n) => {
                let text = TEXTS[n as usize % TEXTS.len()];
                let known = texts.iter().position(|t| t == text);
                Operand::Text(known.unwrap_or_else(|| {
                    texts.push(text.to_string());
                    texts.len() - 1
                }) as u32)
            }
        }
    }
}
