//! Arrays on the stack: where they begin and end their lives, and loops over their words.

use pendula_isa::table::Row;
use pendula_isa::{Cond, Ty};

use super::LowerError;
use super::linear::Builder;
use super::ops::{Arg, Args, CheckReason, Cmp, Op, SP, VReg, Word, ZeroCheck};

impl Builder<'_> {
    /// An array's life begins.
    pub(super) fn array(&mut self, base: VReg, len: Arg, region: u32, how: ZeroCheck) -> Result<(), LowerError> {
        self.out.moves_sp = true;
        self.length(len)?;
        self.add(base, Arg::Reg(SP), false)?;
        self.add(SP, len, false)?;
        if let Some(known) = &mut self.known {
            known.array(base, len, region);
        }
        self.each_word((base, SP), len, Some((region, how)))
    }

    /// An array's life ends.
    pub(super) fn free_array(&mut self, base: VReg, len: Arg, region: u32, how: ZeroCheck) -> Result<(), LowerError> {
        self.out.moves_sp = true;
        self.each_word((base, SP), len, Some((region, how)))?;
        self.release_array(base, len)
    }

    pub(super) fn release_array(&mut self, base: VReg, len: Arg) -> Result<(), LowerError> {
        if let Some(known) = &mut self.known {
            known.release(base);
        }
        self.add(SP, len, true)?;
        self.add(base, Arg::Reg(SP), true)?;
        self.length(len)
    }

    fn length(&mut self, len: Arg) -> Result<(), LowerError> {
        match len {
            Arg::Const(n) if n.cast_signed() >= 0 => Ok(()),
            // A negative constant is checked, too: passes may have found it, and the program may never reach this code.
            Arg::Const(_) | Arg::Reg(_) | Arg::Mem(_) => {
                let outer = self.check_reason;
                self.check_reason = match outer {
                    Some(CheckReason::Words(region)) => Some(CheckReason::Length(region)),
                    other => other,
                };
                let done = self.push(Op::Assert(Cmp::new(Cond::Ge, len, Arg::Const(0))));
                self.check_reason = outer;
                done
            }
        }
    }

    /// Checks each word of an array as zero, or erases it. `end` is the address after the array.
    pub(super) fn each_word(
        &mut self,
        (base, end): (VReg, VReg),
        len: Arg,
        clear: Option<(u32, ZeroCheck)>,
    ) -> Result<(), LowerError> {
        // An array of negative length has trapped before.
        let none = matches!(len, Arg::Const(n) if n.cast_signed() <= 0);
        if none || clear.is_some_and(|(_, how)| how == ZeroCheck::None) {
            return Ok(());
        }
        let k = self.temp(ZeroCheck::None)?;
        self.add(k, Arg::Reg(base), false)?;
        let same = Cmp::new(Cond::Eq, Arg::Reg(base), Arg::Reg(end));
        let guard = if matches!(len, Arg::Const(_)) { None } else { Some(self.pair(Some(same), Some(same))) };
        if let Some(guard) = guard {
            self.half(guard, false)?;
        }
        self.depth += 1;
        let not = |bound: VReg| Some(Cmp::new(Cond::Ne, Arg::Reg(k), Arg::Reg(bound)));
        let top = self.pair(not(end), not(base));
        self.half(top, true)?;
        let word = |region| Arg::Mem(Word { base: Some(k), index: None, offset: 0, region });
        match clear {
            Some((region, how)) => {
                let t = self.temp(ZeroCheck::None)?;
                let args = Args::new(&[Arg::Reg(t), word(region)]).ok_or_else(|| self.bad("two operands"))?;
                let swap = Op::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args };
                self.push(swap)?;
                self.push(Op::ZeroCheck(t, how))?;
                self.push(swap)?;
                self.end_temp(t, ZeroCheck::None)?;
            }
            None => self.push(Op::Erase(word(0)))?,
        }
        self.add(k, Arg::Const(1), false)?;
        self.half(top, false)?;
        self.depth -= 1;
        if let Some(guard) = guard {
            self.half(guard, true)?;
        }
        self.add(k, Arg::Reg(end), true)?;
        self.end_temp(k, ZeroCheck::None)
    }
}
