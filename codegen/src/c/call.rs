//! Prints calls: values are handed over, words that may be changed by their addresses.

use pendula_isa::adjoint::VALUE;

use super::expr::Kind;
use super::function::{FunctionPrinter, c_type};
use super::text::WORDS;
use crate::loops::{Argument, FunctionId};
use pendula_isa::Ty;

impl FunctionPrinter<'_> {
    pub(super) fn call(&mut self, function: FunctionId, arguments: &[Argument]) {
        let callee = &self.program.functions[function.0 as usize];
        let mut text =
            format!("if (UNLIKELY({}({}", self.shared.functions[function.0 as usize], self.surroundings(false));
        if callee.has_room() {
            text.push_str(", turned, logged, room");
        }
        let (mut none, mut none_f, mut none_v) = (false, false, false);
        for argument in arguments {
            let argument = match argument {
                Argument::Const(k, Ty::F) => WORDS.constant(*k, Kind::Double).text,
                Argument::Const(k, Ty::Int) if self.is_entry() => self.shared.datum(k.cast_signed()),
                Argument::Const(k, _) => WORDS.constant(*k, Kind::Word).text,
                Argument::Value(word) => self.word(*word).text,
                Argument::Address(word) => format!("&{}", self.word(*word).text),
                Argument::Nowhere(_, lane) if self.program.is_vector(*lane) => {
                    none_v = true;
                    "&none_v".to_string()
                }
                Argument::Nowhere(Ty::F, _) => {
                    none_f = true;
                    "&none_f".to_string()
                }
                Argument::Nowhere(ty, _) => {
                    none = true;
                    format!("({} *)&none", c_type(*ty))
                }
                Argument::HandMemory(at, ty) => format!("({} *)(turned + ({}))", c_type(*ty), self.address(*at).text),
                Argument::HandParam(local) => format!("turned_{}", self.name(VALUE, *local)),
            };
            text.push_str(", ");
            text.push_str(&argument);
        }
        text.push_str("))) return 1;");
        if none {
            self.none = true;
            // What an earlier call has left there.
            self.text.line("none = 0;");
        }
        if none_f {
            self.none_f = true;
            self.text.line("none_f = 0;");
        }
        if none_v {
            self.none_v = true;
            self.text.line("none_v = (vector){0};");
        }
        self.text.line(&text);
        if none_f && self.program.carried_late {
            self.text.line("CHECK(none_f);");
        }
        if none_v && self.program.carried_late {
            self.text.line("CHECK_PARTS(none_v);");
        }
    }
}
