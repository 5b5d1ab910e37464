//! Directives that do not change the text that is read.

use pendula_isa::Ty;

use super::Parser;
use crate::ast::{Arg, ArgKind, Mark, Op, Span};
use crate::codes;
use crate::head::Directive;
use crate::session::{Parsed, Reported};
use crate::token::Tok;

impl Parser<'_> {
    /// Reads a directive that does not change the text that is read.
    pub(crate) fn directive(&mut self, directive: Directive, span: Span) {
        let first = self.s.ast.args.len();
        let op = match self.directive_op(directive, span) {
            Ok(op) => op,
            Err(Reported) => {
                self.s.ast.args.truncate(first);
                // What follows belongs to the section even so.
                match directive {
                    Directive::Text => Op::Text,
                    Directive::Data => Op::Data,
                    _ => return,
                }
            }
        };
        self.s.ast.push(op, span, self.via, first);
    }

    fn directive_op(&mut self, directive: Directive, span: Span) -> Parsed<Op> {
        let op = match directive {
            Directive::Text => Op::Text,
            Directive::Data => Op::Data,
            Directive::Irreversible => Op::Irreversible,
            Directive::Loose => Op::Loose,
            Directive::Words(ty) => {
                self.required_args("a number")?;
                Op::Words(ty)
            }
            Directive::Space => return self.space(),
            Directive::Import | Directive::Export | Directive::Global => {
                loop {
                    let (name, span) = self.name("a symbol")?;
                    self.s.ast.args.push(Arg { span, kind: ArgKind::Name(name) });
                    if self.tok() != Tok::Comma {
                        break;
                    }
                    self.advance();
                }
                match directive {
                    Directive::Import => Op::Import,
                    Directive::Export => Op::Export,
                    _ => Op::Global,
                }
            }
            Directive::Mem => {
                self.constant()?;
                Op::Mem
            }
            Directive::Format => {
                let (name, span) = self.name("a fixed-point format")?;
                self.s.ast.args.push(Arg { span, kind: ArgKind::Name(name) });
                Op::Format
            }
            Directive::Profile => {
                let (name, span) = self.name("a profile")?;
                self.s.ast.args.push(Arg { span, kind: ArgKind::Name(name) });
                Op::Profile
            }
            Directive::Start => {
                let (name, span) = self.name("a label")?;
                self.s.ast.args.push(Arg { span, kind: ArgKind::Name(name) });
                Op::Start
            }
            Directive::Equ => {
                let (name, _) = self.name("a constant")?;
                if self.tok() == Tok::Comma || self.tok() == Tok::Equals {
                    self.advance();
                } else {
                    return Err(self.expected("a comma", "write `.equ NAME, value`"));
                }
                self.constant()?;
                Op::Equ(name)
            }
            Directive::Routine | Directive::Unroutine => {
                let (name, _) = self.name("a routine")?;
                Op::Mark(Mark::Begin { name, undo: directive == Directive::Unroutine })
            }
            Directive::EndRoutine | Directive::EndUnroutine => {
                let name = if self.tok() == Tok::End { None } else { Some(self.name("a routine")?.0) };
                Op::Mark(Mark::End { name, undo: directive == Directive::EndUnroutine })
            }
            Directive::ProcDoc => Op::ProcDoc(self.text("a text")?.0),
            Directive::Reason => Op::Reason(self.text("a text")?.0),
            Directive::Endm => {
                let help = "remove it, or begin the macro with `.macro NAME`";
                return Err(self.fail(codes::MACRO, "this `.endm` ends no macro", span, help));
            }
            Directive::EndInstr
            | Directive::EndFunction
            | Directive::Temp
            | Directive::Repeat
            | Directive::EndRepeat => {
                let help = "it stands in a definition, after `.instr NAME …` or `.function NAME (…)`";
                return Err(self.fail(codes::DEFINITION, "there is no definition here", span, help));
            }
            // `expand` handles these itself.
            Directive::Include | Directive::Macro | Directive::Extension | Directive::Instr | Directive::Function => {
                return Err(Reported);
            }
        };
        self.end()?;
        Ok(op)
    }

    fn required_args(&mut self, what: &str) -> Parsed<()> {
        if self.tok() == Tok::End {
            return Err(self.expected(what, "write one or more, separated by commas"));
        }
        self.args()
    }

    fn constant(&mut self) -> Parsed<()> {
        let (expr, span) = self.expression()?;
        self.s.ast.args.push(Arg { span, kind: ArgKind::Expr(expr) });
        Ok(())
    }

    /// `.space n[, type]`
    fn space(&mut self) -> Parsed<Op> {
        self.constant()?;
        let mut ty = None;
        if self.tok() == Tok::Comma {
            self.advance();
            let letter = match self.tok() {
                Tok::Name(name) => self.s.names.text(name).to_ascii_lowercase(),
                _ => String::new(),
            };
            let mut chars = letter.chars();
            ty = match (chars.next().and_then(Ty::from_letter), chars.next()) {
                (Some(ty), None) => Some(ty),
                _ => return Err(self.expected("a number type", "the types are `i`, `q`, `l` and `f`: `.space 16, q`")),
            };
            self.advance();
        }
        self.end()?;
        Ok(Op::Space(ty))
    }
}
