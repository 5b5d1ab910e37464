//! Updates and permutations, which run by the instruction table's definitions.

use pendula_isa::adjoint::{AdMode, run_accumulate_first_order, run_row};
use pendula_isa::calculus::FunctionOver;
use pendula_isa::table::{Instruction, InstructionVisitor, Row, TableFn, Variant};
use pendula_isa::{Acc, Cond, Fault, Ty};

use super::error::EvalError;
use super::machine::{Done, Frame, Machine, fault};
use super::state::{Location, OperandDomain};
use crate::ir::effects::written_operands;
use crate::ir::{Loc, Operand, Place, permutes};

impl Machine<'_> {
    pub(super) fn update(
        &mut self,
        frame: &Frame,
        what: (Acc, bool, TableFn),
        dst: Place,
        args: &[Operand],
        loc: Loc,
    ) -> Done {
        let (acc, inverse, func) = what;
        if args.len() != func.info().args.len() || !acc.accepts(func.info().ty) {
            return Err(EvalError::Malformed {
                loc,
                what: "an update with another number of arguments, or another type",
            });
        }
        let mut at = [Location::Const(0); 4];
        at[0] = self.operand(frame, dst.into(), loc)?;
        for (n, arg) in args.iter().enumerate() {
            at[n + 1] = self.operand(frame, *arg, loc)?;
        }
        if at[1..=args.len()].contains(&at[0]) {
            return Err(EvalError::Alias { loc });
        }
        let (gradients, inverse) = (self.state.has_gradients, inverse && !acc.self_inverse());
        let saved = self.saved(at);
        let mut operands = OperandDomain::new(&mut self.state, at);
        let done = run_accumulate_first_order(&mut operands, FunctionOver::new(func), gradients, acc, inverse);
        self.note_overflow(loc, saved)?;
        done.map_err(fault(loc))
    }

    pub(super) fn permute(&mut self, frame: &Frame, what: (Row, bool, Ty), args: &[Operand], loc: Loc) -> Done {
        let (row, inverse, ty) = what;
        let malformed = |what| Err(EvalError::Malformed { loc, what });
        if !permutes(row) || args.len() != row.info().operands.len() || !row.info().types.contains(&ty) {
            return malformed("a row that does not permute words, another number of operands, or another type");
        }
        let mut at = [Location::Const(0); 4];
        for (at, arg) in at.iter_mut().zip(args) {
            *at = self.operand(frame, *arg, loc)?;
        }
        for (n, place) in at.iter().enumerate().take(written_operands(row)) {
            if matches!(place, Location::Const(_)) {
                return malformed("a constant where a word is written");
            }
            if at.iter().enumerate().any(|(m, other)| m != n && other == place) {
                return Err(EvalError::Alias { loc });
            }
        }
        struct Run<'a>(OperandDomain<'a>, AdMode, bool, Variant);
        impl InstructionVisitor for Run<'_> {
            type Out = Result<(), Fault>;
            fn visit<I: Instruction>(mut self) -> Self::Out {
                run_row::<_, I>(&mut self.0, self.1, self.2, self.3)
            }
        }
        let (ad_mode, variant) = (self.ad_mode(), Variant { ty, cond: Cond::Always, form: false });
        let saved = self.saved(at);
        let done = row.visit(Run(OperandDomain::new(&mut self.state, at), ad_mode, inverse, variant));
        self.note_overflow(loc, saved)?;
        done.unwrap_or(Err(Fault::OffCode)).map_err(fault(loc))
    }

    fn ad_mode(&self) -> AdMode {
        if self.state.has_gradients { AdMode::Gradient } else { AdMode::Plain }
    }

    /// The words that are about to be written, if an overflow is to restore them.
    fn saved(&self, at: [Location; 4]) -> Option<[(Location, u64); 4]> {
        self.trap_overflow.then(|| at.map(|at| (at, self.state.value(at))))
    }

    fn note_overflow(&mut self, loc: Loc, saved: Option<[(Location, u64); 4]>) -> Done {
        if std::mem::take(&mut self.state.overflowed) {
            self.out.overflow.get_or_insert(loc);
            if let Some(saved) = saved {
                for (at, word) in saved.into_iter().filter(|(at, _)| !matches!(at, Location::Const(_))) {
                    self.state.set_value(at, word);
                }
                return Err(EvalError::Fault { loc, fault: Fault::FixedOverflow });
            }
        }
        Ok(())
    }
}
