//! Host statements that have a meaning here: assertions, errors and printing.

use pendula_isa::diagnostic::{Diagnostic, Severity};
use pendula_isa::{Cond, Ty};

use super::Done;
use super::body::{Body, Sink};
use super::value::{ScalarExpr, Value};
use crate::ir::{AssertKind, Condition, Operand, Stmt, Test};
use crate::nil::ast::{self, ExprKind, Safe, Span, TextPart};
use crate::nil::lexer::Lexer;
use crate::nil::token::{Kw, Tok};
use crate::nil::{codes, is_host};

impl Body<'_, '_> {
    pub(super) fn safe(&mut self, safe: &Safe, span: &Span) -> Done<()> {
        match safe {
            Safe::Assert { condition, message } => {
                let reason = match message.as_ref().and_then(plain_text) {
                    Some(text) => self.reason(text),
                    None => self.reason(format!("`{}` does not hold", self.source(&condition.span))),
                };
                self.statement(|s| {
                    let x = s.truth(condition)?;
                    s.assert_all(x, reason)
                })
            }
            Safe::Error(message) => {
                let plain = message.as_ref().map(plain_text);
                if let (Some(message), Some(None)) = (message, &plain) {
                    self.show(message)?;
                }
                let reason = plain.flatten().and_then(|text| self.reason(text));
                let zero = Operand::Const(0);
                let test = Test::int(Cond::Ne, zero, zero);
                self.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::User, reason });
                Ok(())
            }
            Safe::Clear(target) => self.statement(|s| {
                let value = s.eval(target)?;
                s.clear(&value, (&target.span, span))
            }),
            Safe::Show(parts) => parts.iter().try_for_each(|p| self.show(p)),
            // In a file of the host, what has nothing to do with the function is the host's own.
            Safe::Other(text)
                if self.is_in_host_file() && !concerns(text, &|name| self.scopes.find(name).is_some()) =>
            {
                let message = format!("the host statement `{}` is skipped", self.source(span));
                let place = pendula_isa::diagnostic::Place { file: self.file, span: span.clone() };
                let help = "it changes no variable of the function: it has no meaning here";
                let note = Diagnostic::warning(codes::SKIPPED, message).at(place, "").help(help);
                self.s.diagnostics.push(Diagnostic { severity: Severity::Note, ..note });
                Ok(())
            }
            Safe::Other(text) => {
                let message = format!("this host statement has no meaning here: `{text}`");
                let help = "of host statements, assertions, errors and printing are kept; leave the others out";
                self.fail(span, codes::UNSUPPORTED, message, help)
            }
        }
    }

    /// Whether an array may have more indices than dimensions, as in the host: in its files, and in those with `using NiLang`.
    pub(super) fn has_further_indices(&self) -> bool {
        let uses =
            |item: &ast::Item| matches!(item, ast::Item::Using(names) if names.iter().any(|n| n.text == "NiLang"));
        let input = self.s.inputs.get(self.file as usize);
        input.is_some_and(|i| is_host(&i.name) || i.tree.items.iter().any(uses))
    }

    /// Clears what is left of a value: it may be a rounding error, as where a variable ends.
    fn clear(&mut self, value: &Value, (at, span): (&Span, &Span)) -> Done<()> {
        if let Value::Array(view) = value {
            let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
            return self.for_each(&lens, &mut |s, index| {
                s.statement(|s| {
                    let element = s.at(view, index, span)?;
                    s.clear(&element, (at, span))
                })
            });
        }
        let (Some(ty), Some(places)) = (value.type_of(), self.targets(value)) else {
            let help = "clear a variable or an array of numbers";
            return self.fail(at, codes::NOT_ASSIGNABLE, "this is not a variable that can be cleared", help);
        };
        let name = self.source(at);
        let rest = self.new_variable(&name, &ty);
        self.allocated(&rest, &ty);
        for (place, own) in places.iter().zip(self.targets(&rest).unwrap_or_default()) {
            self.writable(*place, span)?;
            let args = vec![(*place).into(), own.into()];
            let row = pendula_isa::table::Row::Swap;
            self.emit(Sink::Out, Stmt::Permute { row, inverse: false, ty: Ty::Int, args });
        }
        self.released(&rest);
        Ok(())
    }

    pub(super) fn is_in_host_file(&self) -> bool {
        self.s.inputs.get(self.file as usize).is_some_and(|i| is_host(&i.name))
    }

    /// Asserts a Boolean; a conjunction is asserted part by part.
    fn assert_all(&mut self, x: ScalarExpr, reason: Option<u32>) -> Done<()> {
        if let ScalarExpr::And(a, b) = x {
            self.assert_all(*a, reason)?;
            return self.statement(|s| s.assert_all(*b, reason));
        }
        let test = self.test(x)?;
        self.emit(Sink::Out, Stmt::Assert { test, why: AssertKind::User, reason });
        Ok(())
    }

    fn show(&mut self, e: &ast::Expr) -> Done<()> {
        if let ExprKind::Text(parts) = &e.kind {
            for part in parts {
                match part {
                    TextPart::Plain(text) => self.print(text),
                    TextPart::Value(e) => self.show(e)?,
                }
            }
            return Ok(());
        }
        // A message in a constructor, as in `DimensionMismatch("…")`.
        if let ExprKind::Call { callee, args, .. } = &e.kind
            && let ExprKind::Name(name) = &callee.kind
            && name.starts_with(char::is_uppercase)
            && args.iter().all(|a| matches!(a.kind, ExprKind::Text(_)))
        {
            self.print(&name.clone());
            return args.iter().try_for_each(|a| self.show(a));
        }
        self.statement(|s| {
            let v = s.eval(e)?;
            s.show_value(v, &e.span)
        })
    }

    fn show_value(&mut self, v: Value, span: &Span) -> Done<()> {
        let one = |s: &mut Self, x: ScalarExpr, ty: Ty| -> Done<()> {
            let x = s.typed(x, ty, span)?;
            let value = s.put(ty, x)?;
            s.emit(Sink::Out, Stmt::Show { ty, value });
            Ok(())
        };
        match v {
            Value::Num(ScalarExpr::Lit(l @ super::value::Literal::Int(_)), None) => {
                one(self, ScalarExpr::Lit(l), Ty::Int)
            }
            Value::Num(x, ty) => one(self, x, ty.unwrap_or(Ty::F)),
            Value::Bool(x) => self.show_truth(x),
            Value::Tropical(x, ty) => one(self, x, ty),
            // The number itself may be larger than any double, so its logarithm is shown.
            Value::Log(log, sign) => {
                self.print(if sign.is_some() { "logarithm and sign" } else { "logarithm" });
                one(self, log, Ty::F)?;
                sign.map_or(Ok(()), |sign| one(self, *sign, Ty::Int))
            }
            Value::Complex(a, b, ty) => {
                let ty = ty.unwrap_or(Ty::F);
                one(self, a, ty)?;
                one(self, b, ty)
            }
            Value::Struct(_, parts) | Value::Tuple(parts) | Value::Elements(parts) => {
                parts.into_iter().try_for_each(|p| self.show_value(p, span))
            }
            Value::Array(view) => {
                let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
                self.for_each(&lens, &mut |s, at| {
                    s.statement(|s| {
                        let v = s.at(&view, at, span)?;
                        s.show_value(v, span)
                    })
                })
            }
            Value::Stacked(_, views) => views.into_iter().try_for_each(|v| self.show_value(Value::Array(v), span)),
            Value::Function(name) => {
                self.print(&name);
                Ok(())
            }
            Value::Type(t) => {
                self.print(&t.to_string());
                Ok(())
            }
            Value::Range(..) => self.fail(span, codes::TYPE, "a range cannot be shown", "show its ends"),
        }
    }

    /// Shows `true` or `false`.
    fn show_truth(&mut self, x: ScalarExpr) -> Done<()> {
        let (compute, test) = self.computed(|s| s.test(x));
        let condition = Condition { compute, test: test? };
        let mut text = |text: &str| {
            let show = |s: &mut Self| {
                s.print(text);
                Ok(())
            };
            self.block(show).0
        };
        let (then, otherwise) = (text("true"), text("false"));
        self.emit(Sink::Out, Stmt::branch(condition, then, otherwise));
        Ok(())
    }

    fn print(&mut self, text: &str) {
        let texts = &mut self.s.program.texts;
        let n = texts.iter().position(|t| t == text).unwrap_or_else(|| {
            texts.push(text.to_string());
            texts.len() - 1
        });
        self.emit(Sink::Out, Stmt::Print(n as u32));
    }
}

/// Whether a host statement may change something of the function, shows it, or leaves it: it assigns to one of its
/// variables, gives one to a function with `!`, may name one in a text, prints one, or throws.
pub(in crate::nil) fn concerns(text: &str, is_variable: &dyn Fn(&str) -> bool) -> bool {
    let mut lexer = Lexer::new(text, 0, text.len());
    let leaves = |name: &str| matches!(name, "exit" | "quit" | "throw" | "error" | "rethrow" | "eval");
    // The variables that an assignment here would change: those with which a statement begins.
    let mut targets: Vec<&str> = Vec::new();
    let (mut last, mut owns, mut changes) = (Tok::Semi, false, false);
    loop {
        let token = lexer.token();
        let own = text.get(token.start..token.end).unwrap_or("");
        if token.line_before || matches!(last, Tok::Semi | Tok::LParen | Tok::Kw(_) | Tok::Op(..) | Tok::HostOp) {
            targets.clear();
        }
        match token.kind {
            Tok::Eof => return owns && changes,
            Tok::Ident if leaves(own) => return true,
            Tok::Ident => {
                let is_own = is_variable(own);
                owns |= is_own;
                // What a function with `!` changes, and what is printed, would be lost.
                changes |= !is_own && (own.ends_with('!') || matches!(own, "print" | "println" | "show" | "display"));
                if targets.is_empty() || last == Tok::Comma {
                    targets.push(own);
                }
            }
            Tok::Equals | Tok::Assign(..) | Tok::BadAssign | Tok::Exchange | Tok::Alloc | Tok::Free
                if targets.iter().any(|name| is_variable(name)) =>
            {
                return true;
            }
            Tok::Kw(Kw::Return | Kw::Break | Kw::Continue) | Tok::Macro => return true,
            Tok::Str { .. } | Tok::HostText if own.contains('$') => return true,
            Tok::OpenText | Tok::OpenComment => return true,
            // `@.`
            Tok::Unknown if own == "@" => return true,
            _ => {}
        }
        last = token.kind;
    }
}

/// A message without interpolated values.
fn plain_text(message: &ast::Expr) -> Option<String> {
    let ExprKind::Text(parts) = &message.kind else { return None };
    let mut whole = String::new();
    for part in parts {
        match part {
            ast::TextPart::Plain(text) => whole.push_str(text),
            ast::TextPart::Value(_) => return None,
        }
    }
    Some(whole)
}
