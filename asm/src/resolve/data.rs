//! The second pass over data: words, their types, and the size of the memory.

use pendula_isa::Ty;

use super::Resolver;
use crate::ast::{Arg, Op, Stmt};
use crate::codes;
use crate::diagnostic::plural;
use crate::layout::count;
use crate::session::Parsed;
use crate::value::{Value, int_word};

impl Resolver<'_> {
    /// Adds the words of a data directive.
    pub(super) fn data(&mut self, stmt: &Stmt, op: Op) {
        let at = self.module.data.len() as u64;
        while self.program.objects.get(self.object).is_some_and(|o| o.start <= at) {
            self.object += 1;
        }
        match op {
            Op::Words(ty) => {
                for n in 0..self.s.ast.args(stmt).len() {
                    let Some(arg) = self.s.ast.arg(stmt, n) else { break };
                    let word = self.data_word(stmt, arg, ty, n == 0);
                    self.module.data.push(word.unwrap_or(0));
                }
            }
            Op::Space(ty) => {
                let len = self.program.spaces.pop_front().unwrap_or(0) as usize;
                self.module.data.push_zeros(len);
                if let Some(ty) = ty {
                    self.set_type(ty);
                }
            }
            _ => {}
        }
    }

    /// A word of data. `first` says whether the object may take its type.
    fn data_word(&mut self, stmt: &Stmt, arg: Arg, ty: Ty, first: bool) -> Parsed<u64> {
        let value = self.value(stmt, arg.kind, ty, arg.span);
        let ty = match value {
            Ok(Value::Real { ty: Some(literal_ty), .. } | Value::Ratio { ty: Some(literal_ty), .. })
                if ty == Ty::Int =>
            {
                literal_ty
            }
            _ => ty,
        };
        if first {
            self.set_type(ty);
        }
        match value? {
            Value::Int(n) if ty == Ty::Int => int_word(self.s, n, arg.span, stmt.via),
            Value::Real { .. } | Value::Ratio { .. } if ty == Ty::Int => {
                let help = "`.fixed`, `.log` and `.double` hold numbers with a fraction; or say the type behind the number: `1.5q`";
                Err(self.s.fail(codes::REAL, "an integer is expected here", arg.span, stmt.via, help))
            }
            value => self.program.symbols.word(self.s, value, ty, arg.span, stmt.via),
        }
    }

    fn set_type(&mut self, ty: Ty) {
        if let Some(object) = self.object.checked_sub(1).and_then(|n| self.program.objects.get_mut(n)) {
            object.ty.get_or_insert(ty);
        }
    }

    /// `.mem N`
    pub(super) fn memory(&mut self, stmt: &Stmt) -> Parsed<()> {
        let Some(arg) = self.s.ast.arg(stmt, 0) else { return Ok(()) };
        let value = self.value(stmt, arg.kind, Ty::Int, arg.span)?;
        let words = count(self.s, &self.program.symbols, value, "a memory size", arg.span, stmt.via)?;
        if let Some(first) = self.mem {
            let d = self.s.error(codes::TWICE, "the memory size is given twice", stmt.span);
            let d = d.also(self.s.place(first), "given here");
            return Err(self.s.report(d.help("remove one of them"), stmt.via));
        }
        self.mem = Some(stmt.span);
        let data = self.program.data_len();
        if words < data {
            let message =
                format!("a memory of {} cannot hold the data, {}", plural(words, "word"), plural(data, "word"));
            return Err(self.s.fail(
                codes::ARGUMENT,
                message,
                arg.span,
                stmt.via,
                "give a larger size, for the data and the stack",
            ));
        }
        self.program.flags.mem = Some(words);
        Ok(())
    }
}
