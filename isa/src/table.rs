//! THE table: every instruction is declared here and nowhere else.
//!
//! `functions` are the pure functions f of accumulate instructions
//! `y ⊕= f(x…)`, one group per number type of the result; with the
//! accumulators of [`Acc`] and the operand shapes of
//! [`Shape`](crate::operand::Shape) they span most of the instruction set.
//! `instructions` are the other straight-line instructions, `control` those
//! that direct control. A row gives, in order: its documentation, its
//! encoding, name, mnemonic (and its partner's), operands, types, gate class and its meaning, as a body
//! generic over [`Domain`]. A typed function also gives its partial derivatives.
//!
//! Inverses are derived: an accumulate's is its partner accumulator, a row's
//! is its partner mnemonic, which in the encoding is one bit.

use crate::class::GateClass;
use crate::domain::Domain;
use crate::fault::Fault;
use crate::num::{convert, fixed, float, int, log};
use crate::operand::OperandKind;
use crate::types::{Acc, Cond, Ty};

/// What the manual says of a pure function.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInfo {
    /// The enumerated function.
    pub func: Func,
    /// The result's number type.
    pub ty: Ty,
    /// The arguments' number type: differs from `ty` for conversions.
    pub from: Ty,
    /// Encoding, unique within the type, below 64.
    pub id: u8,
    /// The mnemonic's middle part; empty for the identity.
    pub name: &'static str,
    /// The arguments' names.
    pub args: &'static [&'static str],
    /// The circuit that computes it.
    pub class: GateClass,
    /// Documentation, one line an element.
    pub docs: &'static [&'static str],
    /// The partial derivatives with respect to the arguments, as written in the table; `None` if the function is discrete.
    pub partials: Option<&'static str>,
}

/// A pure function: one row of the table.
pub trait Function: 'static {
    /// The row.
    const INFO: FunctionInfo;
    /// The value. A function of one argument ignores the second.
    fn value<D: Domain>(d: &mut D, x: [D::V; 2]) -> Result<D::V, D::Stop>;
    /// The partial derivatives with respect to each argument, given the arguments and the value `y`;
    /// `None` if the function is discrete.
    fn partials<D: Domain>(d: &mut D, x: [D::V; 2], y: D::V) -> Result<Option<[D::V; 2]>, D::Stop>;
}

/// Something done with a function's type.
pub trait FunctionVisitor {
    /// The result.
    type Out;
    /// Does it.
    fn visit<F: Function>(self) -> Self::Out;
}

/// What the manual says of an instruction that is not an accumulate.
#[derive(Clone, Copy, Debug)]
pub struct RowInfo {
    /// The enumerated row.
    pub row: Row,
    /// Encoding, below 64.
    pub id: u8,
    /// The mnemonic without suffixes.
    pub mnemonic: &'static str,
    /// The inverse's mnemonic; `None` if the instruction is its own inverse.
    pub partner: Option<&'static str>,
    /// The operands' names.
    pub operand_names: &'static [&'static str],
    /// The operands' kinds.
    pub operands: &'static [OperandKind],
    /// The number types that it exists for.
    pub types: &'static [Ty],
    /// Whether the mnemonic takes a condition.
    pub test: Test,
    /// The circuit.
    pub class: GateClass,
    /// How control goes on.
    pub flow: Flow,
    /// Whether the instruction moves the stack pointer.
    pub moves_sp: bool,
    /// Documentation, one line an element.
    pub docs: &'static [&'static str],
}

/// Whether a mnemonic takes a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// No condition.
    None,
    /// A condition or none: without one, the instruction takes a label only.
    Optional,
    /// A condition.
    Required,
}

/// How control goes on after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Straight,
    /// A half of a branch pair: `jmp` / `from`.
    Jump,
    /// The bounds of a procedure: `proc` / `ret`.
    Procedure,
    /// `call` / `uncall` of a procedure by name.
    Call,
    /// `callr` / `uncallr` of a procedure whose address is in a register.
    CallRegister,
    /// The bounds of a run: `start` / `finish`.
    Run,
}

/// What a body may know of its instruction beside the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The number type.
    pub ty: Ty,
    /// The condition.
    pub cond: Cond,
    /// The form bit: whether the operand with an alternative takes it.
    pub form: bool,
}

/// A straight-line instruction that is not an accumulate: one row of the table.
pub trait Instruction: 'static {
    /// The row.
    const INFO: RowInfo;
    /// The meaning.
    fn run<D: Domain>(d: &mut D, v: Variant) -> Result<(), D::Stop>;
    /// The meaning of the partner; of the instruction itself where it is its own inverse.
    fn undo<D: Domain>(d: &mut D, v: Variant) -> Result<(), D::Stop> {
        Self::run(d, v)
    }
}

/// Something done with a straight-line instruction's type.
pub trait InstructionVisitor {
    /// The result.
    type Out;
    /// Does it.
    fn visit<I: Instruction>(self) -> Self::Out;
}

macro_rules! ty_or {
    ($Own:ident) => {
        Ty::$Own
    };
    ($Own:ident $From:ident) => {
        Ty::$From
    };
}

macro_rules! partner_or_none {
    () => {
        None
    };
    ($p:literal) => {
        Some($p)
    };
}

macro_rules! partials_text {
    () => { None };
    ($($p:block),+) => { Some(concat!($(stringify!($p), " "),+)) };
}

macro_rules! table {
    (
        functions { $( $Ty:ident $mod:ident { $(
            $(#[doc = $fdoc:literal])+
            $fid:literal $F:ident $fname:literal ($($x:ident),+) $(from $From:ident)? class $fclass:ident |$fd:ident| $value:block
            $( partials |$y:ident| [$($p:block),+] )?
        )* } )* }
        instructions { $(
            $(#[doc = $idoc:literal])+
            $iid:literal $I:ident $iname:literal $(/ $ipartner:literal)? ($($o:ident: $kind:ident),*) on [$($ity:ident),+]
            $(test $itest:ident)? $(moves $sp:ident)? class $iclass:ident |$id:ident, $iv:ident| $run:block $( undo $undo:block )?
        )* }
        control { $(
            $(#[doc = $cdoc:literal])+
            $cid:literal $C:ident $cname:literal / $cpartner:literal ($($co:ident: $ckind:ident),*) on [$($cty:ident),+]
            $(test $ctest:ident)? $(moves $csp:ident)? class $cclass:ident flow $flow:ident
        )* }
    ) => {
        $(
            #[doc = concat!("Pure functions whose result is of type `", stringify!($Ty), "`.")]
            pub mod $mod {
                use super::*;

                /// The functions of this type.
                #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
                #[repr(u8)]
                pub enum Fn { $( $(#[doc = $fdoc])+ $F = $fid, )* }

                $(
                    $(#[doc = $fdoc])+
                    #[derive(Clone, Copy, Debug)]
                    pub struct $F;

                    impl Function for $F {
                        const INFO: FunctionInfo = FunctionInfo {
                            func: Func::$Ty(Fn::$F),
                            ty: Ty::$Ty,
                            from: ty_or!($Ty $($From)?),
                            id: $fid,
                            name: $fname,
                            args: &[$(stringify!($x)),+],
                            class: GateClass::$fclass,
                            docs: &[$($fdoc),+],
                            partials: partials_text!($($($p),+)?),
                        };

                        #[inline(always)]
                        fn value<D: Domain>($fd: &mut D, x: [D::V; 2]) -> Result<D::V, D::Stop> {
                            table!(@args x ($($x),+));
                            $value
                        }

                        #[inline(always)]
                        #[allow(unused_variables, reason = "not every partial derivative needs every argument")]
                        fn partials<D: Domain>($fd: &mut D, x: [D::V; 2], y: D::V) -> Result<Option<[D::V; 2]>, D::Stop> {
                            table!(@args x ($($x),+));
                            table!(@partials $fd y $( $y [$($p),+] )?)
                        }
                    }
                )*
            }
        )*

        /// A pure function of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Func { $( #[doc = concat!("With a result of type `", stringify!($Ty), "`.")] $Ty($mod::Fn), )* }

        impl Func {
            /// Every function, in the order of the table.
            pub const ALL: &'static [Func] = &[ $( $( Func::$Ty($mod::Fn::$F), )* )* ];

            /// The function of this type with this encoding.
            pub fn from_id(ty: Ty, id: u16) -> Option<Func> {
                match ty { $( Ty::$Ty => match id { $( $fid => Some(Func::$Ty($mod::Fn::$F)), )* _ => None }, )* }
            }

            /// The row.
            pub fn info(self) -> &'static FunctionInfo {
                match self { $( Func::$Ty(f) => match f { $( $mod::Fn::$F => &$mod::$F::INFO, )* }, )* }
            }

            /// Does something with the function's type.
            pub fn visit<V: FunctionVisitor>(self, v: V) -> V::Out {
                match self { $( Func::$Ty(f) => match f { $( $mod::Fn::$F => v.visit::<$mod::$F>(), )* }, )* }
            }
        }

        /// The instructions that are not accumulates.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Row {
            $( $(#[doc = $idoc])+ $I = $iid, )*
            $( $(#[doc = $cdoc])+ $C = $cid, )*
        }

        /// The straight-line instructions that are not accumulates, as types.
        pub mod instruction {
            use super::*;
            $(
                $(#[doc = $idoc])+
                #[derive(Clone, Copy, Debug)]
                pub struct $I;

                impl Instruction for $I {
                    const INFO: RowInfo = RowInfo {
                        row: Row::$I,
                        id: $iid,
                        mnemonic: $iname,
                        partner: partner_or_none!($($ipartner)?),
                        operand_names: &[$(stringify!($o)),*],
                        operands: &[$(OperandKind::$kind),*],
                        types: &[$(Ty::$ity),+],
                        test: table!(@test $($itest)?),
                        class: GateClass::$iclass,
                        flow: Flow::Straight,
                        moves_sp: table!(@sp $($sp)?),
                        docs: &[$($idoc),+],
                    };

                    #[inline(always)]
                    #[allow(unused_variables, reason = "not every body needs its variant")]
                    fn run<D: Domain>($id: &mut D, $iv: Variant) -> Result<(), D::Stop> $run

                    $(
                        #[inline(always)]
                        #[allow(unused_variables, reason = "not every body needs its variant")]
                        fn undo<D: Domain>($id: &mut D, $iv: Variant) -> Result<(), D::Stop> $undo
                    )?
                }
            )*
        }

        impl Row {
            /// Every row, in the order of the table.
            pub const ALL: &'static [Row] = &[ $( Row::$I, )* $( Row::$C, )* ];

            /// The row with this encoding.
            pub fn from_id(id: u16) -> Option<Row> {
                match id { $( $iid => Some(Row::$I), )* $( $cid => Some(Row::$C), )* _ => None }
            }

            /// The row.
            pub const fn info(self) -> &'static RowInfo {
                match self {
                    $( Row::$I => const { &<instruction::$I as Instruction>::INFO }, )*
                    $( Row::$C => &RowInfo {
                        row: Row::$C,
                        id: $cid,
                        mnemonic: $cname,
                        partner: Some($cpartner),
                        operand_names: &[$(stringify!($co)),*],
                        operands: &[$(OperandKind::$ckind),*],
                        types: &[$(Ty::$cty),+],
                        test: table!(@test $($ctest)?),
                        class: GateClass::$cclass,
                        flow: Flow::$flow,
                        moves_sp: table!(@sp $($csp)?),
                        docs: &[$($cdoc),+],
                    }, )*
                }
            }

            /// Does something with a straight-line instruction's type; `None` for control.
            pub fn visit<V: InstructionVisitor>(self, v: V) -> Option<V::Out> {
                match self {
                    $( Row::$I => Some(v.visit::<instruction::$I>()), )*
                    $( Row::$C => None, )*
                }
            }
        }
    };

    (@args $xs:ident ($a:ident)) => { let [$a, _] = $xs; };
    (@args $xs:ident ($a:ident, $b:ident)) => { let [$a, $b] = $xs; };
    (@partials $d:ident $given:ident) => { { let _ = $d; Ok(None) } };
    (@partials $d:ident $given:ident $y:ident [$p:block]) => { {
        let $y = $given;
        let p: Result<D::V, D::Stop> = $p;
        let p = p?;
        Ok(Some([p, p]))
    } };
    (@partials $d:ident $given:ident $y:ident [$p:block, $q:block]) => { {
        let $y = $given;
        let p: Result<D::V, D::Stop> = $p;
        let q: Result<D::V, D::Stop> = $q;
        Ok(Some([p?, q?]))
    } };
    (@test) => { Test::None };
    (@test $t:ident) => { Test::$t };
    (@sp) => { false };
    (@sp sp) => { true };
}

table! {
    functions {
        Int int_fn {
            /// The operand itself.
            0 Id "" (a) class Wire |d| { let _ = d; Ok(a) }
            /// The product, modulo 2^64.
            1 Mul "mul" (a, b) class Multiply |d| { Ok(d.mul(a, b)) }
            /// The quotient of signed integers, rounded toward zero. Division by zero traps; the smallest integer divided by -1 wraps.
            2 Quot "quot" (a, b) class Divide |d| { d.kernel2(int::quot, a, b) }
            /// The remainder that belongs to `quot`: it has the sign of `a`. Division by zero traps.
            3 Rem "rem" (a, b) class Divide |d| { d.kernel2(int::rem, a, b) }
            /// The quotient of signed integers, rounded down. Division by zero traps; the smallest integer divided by -1 wraps.
            4 Div "div" (a, b) class Divide |d| { d.kernel2(int::div, a, b) }
            /// The remainder that belongs to `div`: it has the sign of `b`. Division by zero traps.
            5 Mod "mod" (a, b) class Divide |d| { d.kernel2(int::modulo, a, b) }
            /// Bitwise and.
            6 And "and" (a, b) class Logic |d| { Ok(d.and(a, b)) }
            /// Bitwise or.
            7 Or "or" (a, b) class Logic |d| { Ok(d.or(a, b)) }
            /// Bitwise nor: the complement of or.
            8 Nor "nor" (a, b) class Logic |d| { let o = d.or(a, b); Ok(d.not(o)) }
            /// `a` shifted left by `b` modulo 64.
            9 Shl "shl" (a, b) class Shift |d| { Ok(d.shl(a, b)) }
            /// `a` shifted right by `b` modulo 64, zeros coming in.
            10 Shr "shr" (a, b) class Shift |d| { Ok(d.shr(a, b)) }
            /// `a` shifted right by `b` modulo 64, copies of the sign bit coming in.
            11 Sar "sar" (a, b) class Shift |d| { Ok(d.sar(a, b)) }
            /// 1 if `a` < `b` as signed integers, else 0.
            12 Lt "lt" (a, b) class Compare |d| { Ok(d.lt(a, b)) }
            /// 1 if `a` < `b` as unsigned integers, else 0.
            13 Ltu "ltu" (a, b) class Compare |d| { Ok(d.ltu(a, b)) }
            /// 1 if `a` = `b`, else 0.
            14 Eq "eq" (a, b) class Equal |d| { Ok(d.eq(a, b)) }
            /// The smaller of two signed integers.
            15 Min "min" (a, b) class Select |d| { let c = d.lt(a, b); Ok(d.select(c, a, b)) }
            /// The larger of two signed integers.
            16 Max "max" (a, b) class Select |d| { let c = d.lt(a, b); Ok(d.select(c, b, a)) }
            /// A fixed-point number as an integer, rounded down.
            17 CvtQ "cvt" (a) from Q class Convert |d| { d.kernel1(convert::q_to_int, a) }
            /// A logarithmic number as an integer, rounded to the nearest, ties to even. Traps where the integer has no room for it.
            18 CvtL "cvt" (a) from L class LogConvert |d| { d.kernel1(convert::l_to_int, a) }
            /// A floating-point number as an integer, rounded down. Traps where the integer has no room for it.
            19 CvtF "cvt" (a) from F class Convert |d| { d.kernel1(convert::f_to_int, a) }
        }
        Q q_fn {
            /// The operand itself.
            0 Id "" (a) class Wire |d| { let _ = d; Ok(a) } partials |y| [{ Ok(fixed_one(d)) }]
            /// The product, rounded down. Wraps on overflow and raises the overflow flag.
            1 Mul "mul" (a, b) class FixedMultiply |d| { d.wrapping2(fixed::mul, a, b) } partials |y| [{ Ok(b) }, { Ok(a) }]
            /// The quotient, rounded toward zero. Division by zero traps, and so does a quotient that the format cannot hold.
            2 Div "div" (a, b) class FixedDivide |d| { d.kernel2(fixed::div, a, b) }
                partials |y| [
                    { let one = fixed_one(d); d.kernel2(fixed::div, one, b) },
                    { let q = d.kernel2(fixed::div, y, b)?; let z = d.word(0); Ok(d.sub(z, q)) }
                ]
            /// An integer as a fixed-point number. Traps where the format has no room for it.
            16 CvtI "cvt" (a) from Int class Convert |d| { d.kernel1(convert::int_to_q, a) }
            /// A logarithmic number as a fixed-point number, rounded to the nearest. Traps where the format has no room for it.
            17 CvtL "cvt" (a) from L class LogConvert |d| { d.kernel1(convert::l_to_q, a) }
            /// A floating-point number as a fixed-point number, rounded to the nearest, ties to even. Traps where the format has no room for it.
            18 CvtF "cvt" (a) from F class Convert |d| { d.kernel1(convert::f_to_q, a) }
        }
        L l_fn {
            /// The operand itself.
            0 Id "" (a) class Wire |d| { let _ = d; Ok(a) }
            /// The product, exact in the logarithm. Traps where the logarithm overflows.
            1 Mul "mul" (a, b) class LogAdd |d| { d.kernel2(|_, a, b| log::product(a, b), a, b) }
            /// The quotient, exact in the logarithm. Division by zero traps, and so does an overflow of the logarithm.
            2 Div "div" (a, b) class LogAdd |d| { d.kernel2(|_, a, b| log::quotient(a, b), a, b) }
            /// An integer as a logarithmic number, its logarithm rounded to the nearest.
            16 CvtI "cvt" (a) from Int class LogConvert |d| { d.kernel1(convert::int_to_l, a) }
            /// A fixed-point number as a logarithmic number, its logarithm rounded to the nearest.
            17 CvtQ "cvt" (a) from Q class LogConvert |d| { d.kernel1(convert::q_to_l, a) }
            /// A floating-point number as a logarithmic number, its logarithm rounded to the nearest. Traps below 2^-1024.
            18 CvtF "cvt" (a) from F class LogConvert |d| { d.kernel1(convert::f_to_l, a) }
        }
        F f_fn {
            /// The operand itself.
            0 Id "" (a) class Wire |d| { let _ = d; Ok(a) } partials |y| [{ Ok(d.word(1f64.to_bits())) }]
            /// The product.
            1 Mul "mul" (a, b) class FloatMultiply |d| { d.kernel2(float::mul, a, b) } partials |y| [{ Ok(b) }, { Ok(a) }]
            /// The quotient. Division by zero traps.
            2 Div "div" (a, b) class FloatDivide |d| { d.kernel2(float::div, a, b) }
                partials |y| [
                    { let one = d.word(1f64.to_bits()); d.kernel2(float::div, one, b) },
                    { let q = d.kernel2(float::div, y, b)?; let m = d.word((-1f64).to_bits()); d.kernel2(float::mul, m, q) }
                ]
            /// An integer as a floating-point number, rounded to the nearest, ties to even.
            16 CvtI "cvt" (a) from Int class Convert |d| { d.kernel1(convert::int_to_f, a) }
            /// A fixed-point number as a floating-point number, rounded to the nearest, ties to even.
            17 CvtQ "cvt" (a) from Q class Convert |d| { d.kernel1(convert::q_to_f, a) }
            /// A logarithmic number as a floating-point number, rounded to the nearest.
            18 CvtL "cvt" (a) from L class LogConvert |d| { d.kernel1(convert::l_to_f, a) }
        }
    }
    instructions {
        /// Exchanges two registers.
        0 Swap "swap" (a: Target, b: Target) on [Int] class Swap |d, v| {
            let (a, b) = (d.operand(0)?, d.operand(1)?);
            d.set(0, b)?;
            d.set(1, a)
        }
        /// Exchanges a register and a memory word.
        1 Exch "exch" (a: Target, m: Memory) on [Int] class Swap |d, v| {
            let (a, m) = (d.operand(0)?, d.operand(1)?);
            d.set(1, a)?;
            d.set(0, m)
        }
        /// Changes the number's sign. The smallest integer and the smallest fixed-point number stay as they are
        /// (the latter raises the overflow flag), and so does a logarithmic zero.
        2 Neg "neg" (a: Target) on [Int, Q, L, F] class Increment |d, v| {
            let a = d.operand(0)?;
            let n = match v.ty {
                Ty::Int => { let z = d.word(0); d.sub(z, a) }
                Ty::Q => { let z = d.word(0); d.wrapping2(fixed::sub, z, a)? }
                Ty::L => d.kernel1(|_, a| log::neg(a), a)?,
                Ty::F => { let s = d.word(1 << 63); d.xor(a, s) }
            };
            d.set(0, n)
        }
        /// Complements every bit.
        3 Not "not" (a: Target) on [Int] class Not |d, v| {
            let a = d.operand(0)?;
            let n = d.not(a);
            d.set(0, n)
        }
        /// Rotates the bits to the left (`ror`: to the right) by an amount modulo 64.
        4 Rol "rol" / "ror" (a: Target, n: Amount) on [Int] class Rotate |d, v| {
            let (a, n) = (d.operand(0)?, d.operand(1)?);
            let r = d.rol(a, n);
            d.set(0, r)
        } undo {
            let (a, n) = (d.operand(0)?, d.operand(1)?);
            let r = d.ror(a, n);
            d.set(0, r)
        }
        /// Adds 1 (`dec`: subtracts 1), modulo 2^64.
        5 Inc "inc" / "dec" (a: Target) on [Int] class Increment |d, v| {
            let a = d.operand(0)?;
            let one = d.word(1);
            let r = d.add(a, one);
            d.set(0, r)
        } undo {
            let a = d.operand(0)?;
            let one = d.word(1);
            let r = d.sub(a, one);
            d.set(0, r)
        }
        /// Multiplies the word x in `a` by `num`/`den` (`rdiv`: by `den`/`num`) exactly, an integer or fixed-point number.
        /// What rounding would drop goes to the information buffer: `buf` := `buf`·`den` + (x mod `den`); x := ⌊x/`den`⌋·`num` + (`buf` mod `num`);
        /// `buf` := ⌊`buf`/`num`⌋. Traps if a factor is not positive, or if the word or the buffer overflows.
        6 Rmul "rmul" / "rdiv" (a: Target, buf: Target, num: Factor, den: Factor) on [Int] class Scale |d, v| {
            let (x, buf, num, den) = (d.operand(0)?, d.operand(1)?, d.operand(2)?, d.operand(3)?);
            scale(d, [x, buf, num, den])
        } undo {
            let (x, buf, num, den) = (d.operand(0)?, d.operand(1)?, d.operand(2)?, d.operand(3)?);
            scale(d, [x, buf, den, num])
        }
        /// `push`: traps unless the memory word at `sp` is zero; exchanges it with the register; `sp` += 1.
        /// `pop`: traps unless the register is zero; `sp` -= 1; exchanges the register with the memory word at `sp`.
        7 Push "push" / "pop" (r: Target) on [Int] moves sp class Swap |d, v| {
            let (s, r) = (d.sp(), d.operand(0)?);
            let m = d.load(s)?;
            let (zero, one) = (d.word(0), d.word(1));
            let clear = d.eq(m, zero);
            d.check(clear, Fault::PushOnto)?;
            d.store(s, r)?;
            d.set(0, m)?;
            let up = d.add(s, one);
            d.set_sp(up);
            Ok(())
        } undo {
            let (s, r) = (d.sp(), d.operand(0)?);
            let (zero, one) = (d.word(0), d.word(1));
            let clear = d.eq(r, zero);
            d.check(clear, Fault::PopInto)?;
            let down = d.sub(s, one);
            let m = d.load(down)?;
            d.store(down, r)?;
            d.set(0, m)?;
            d.set_sp(down);
            Ok(())
        }
        /// Traps unless the condition holds between `a` and `b`, in both directions.
        8 Assert "assert" (a: Source, b: Value) on [Int, Q, L, F] test Required class Check |d, v| {
            let (a, b) = (d.operand(0)?, d.operand(1)?);
            let c = d.compare(v.cond, v.ty, a, b)?;
            d.check(c, Fault::Assert)
        }
        /// Traps unless the register is zero.
        9 Zero "zero" (r: Target) on [Int] class Check |d, v| {
            let r = d.operand(0)?;
            let z = d.word(0);
            let clear = d.eq(r, z);
            d.check(clear, Fault::NotZero)
        }
        /// Traps unless |`r`| ≤ `tol`, then sets `r` to +0.0. If it was anything else, 64 bits are counted as lost and the inexact flag is raised:
        /// a run back does not restore them.
        10 ZeroWithin "zero" (r: Target, tol: Tolerance) on [F] class Check |d, v| {
            let r = d.operand(0)?;
            let zero = d.word(0);
            let tol = if v.form { d.operand(1)? } else { zero };
            let near = d.kernel2(float::within, r, tol)?;
            d.require(near, Fault::NotZero)?;
            d.lose_inexact(r);
            d.set(0, zero)
        }
        /// Moves a word to the output tape and leaves zero (`unemit`: takes it back; traps unless the register is zero and the tape has a word).
        11 Emit "emit" / "unemit" (r: Target) on [Int] class Host |d, v| {
            let r = d.operand(0)?;
            let zero = d.word(0);
            d.emit(r)?;
            d.set(0, zero)
        } undo {
            let r = d.operand(0)?;
            let zero = d.word(0);
            let clear = d.eq(r, zero);
            d.require(clear, Fault::UnemitInto)?;
            let w = d.last_emitted()?;
            d.unemit();
            d.set(0, w)
        }
        /// Exclusive-ors the next word of the input tape into a register (`unread`: the word read last, which goes back to the tape).
        12 Read "read" / "unread" (r: Target) on [Int] class Host |d, v| {
            let r = d.operand(0)?;
            let w = d.next_input()?;
            d.advance_input();
            let x = d.xor(r, w);
            d.set(0, x)
        } undo {
            let r = d.operand(0)?;
            let w = d.last_input()?;
            d.rewind_input();
            let x = d.xor(r, w);
            d.set(0, x)
        }
        /// Shows the number in a register to the user, when running forward only.
        13 Show "show" (r: Source) on [Int, Q, L, F] class Host |d, v| {
            let r = d.operand(0)?;
            d.show(v.ty, r);
            Ok(())
        }
        /// Shows a text to the user, when running forward only.
        14 Print "print" (text: Text) on [Int] class Host |d, v| {
            d.print(0);
            Ok(())
        }
        /// Sets a word to zero and forgets it. Only in a module that says `.irreversible`; 64 bits are counted as lost. It has no inverse.
        15 Erase "erase" (a: TargetOrMemory) on [Int] class Erase |d, v| {
            let a = d.operand(0)?;
            let zero = d.word(0);
            d.lose(a);
            d.set(0, zero)
        } undo {
            let zero = d.word(0);
            d.require(zero, Fault::Irreversible)
        }
    }
    control {
        /// Where a run begins (`finish`: where it ends). Running backward, they change places.
        32 Start "start" / "finish" () on [Int] class Branch flow Run
        /// A jump (`from`: the place where it lands). Forward, `jmp c, L` goes on after the `from` at L if c holds, and the condition of that `from` must then hold;
        /// else it falls through. A `from` reached by falling through must find its condition false. Backward, the two change places.
        33 Jmp "jmp" / "from" (a: Source, b: Small, label: Label) on [Int, Q, L, F] test Optional class Branch flow Jump
        /// The beginning of a procedure (`ret`: its end). Falling into a `proc`, or backward into a `ret`, traps.
        34 Proc "proc" / "ret" (name: Label) on [Int] moves sp class Call flow Procedure
        /// Runs a procedure in the current direction (`uncall`: in the opposite one). The address of the call + 1 is pushed as a link while it runs.
        35 Call "call" / "uncall" (name: Label) on [Int] moves sp class Call flow Call
        /// As `call` (`uncall`), of the procedure whose address is in a register, which must hold it again at the return.
        36 Callr "callr" / "uncallr" (r: Source) on [Int] moves sp class Call flow CallRegister
    }
}

/// The fixed-point number 1 in the module's format.
#[inline(always)]
fn fixed_one<D: Domain>(d: &mut D) -> D::V {
    d.word(1 << d.env().format.frac())
}

/// `rmul`'s meaning; `rdiv`'s with the factors exchanged.
#[inline(always)]
fn scale<D: Domain>(d: &mut D, words: [D::V; 4]) -> Result<(), D::Stop> {
    let [x, buf] = d.kernel_pair(int::scale, words)?;
    d.set(0, x)?;
    d.set(1, buf)
}

/// What `y ⊕= x` makes of `y`.
#[inline(always)]
pub fn accumulate<D: Domain>(d: &mut D, acc: Acc, inverse: bool, ty: Ty, y: D::V, x: D::V) -> Result<D::V, D::Stop> {
    match (acc, ty, inverse) {
        (Acc::Xor, Ty::Int | Ty::Q | Ty::L | Ty::F, _) => Ok(d.xor(y, x)),
        (Acc::Add, Ty::Q, false) => d.wrapping2(fixed::add, y, x),
        (Acc::Add, Ty::Q, true) => d.wrapping2(fixed::sub, y, x),
        (Acc::Add, Ty::F, false) => d.kernel2(float::add, y, x),
        (Acc::Add, Ty::F, true) => d.kernel2(float::sub, y, x),
        // The table gives `.l` no additive accumulator and the other types no multiplicative one.
        (Acc::Add, Ty::Int | Ty::L, false) => Ok(d.add(y, x)),
        (Acc::Add, Ty::Int | Ty::L, true) => Ok(d.sub(y, x)),
        (Acc::Mul, Ty::Int | Ty::Q | Ty::L | Ty::F, false) => d.kernel2(|_, a, b| log::mul(a, b), y, x),
        (Acc::Mul, Ty::Int | Ty::Q | Ty::L | Ty::F, true) => d.kernel2(|_, a, b| log::div(a, b), y, x),
    }
}

/// The gate class of an accumulator on words of a type.
pub const fn accumulator_class(acc: Acc, ty: Ty) -> GateClass {
    match (acc, ty) {
        (Acc::Xor, _) => GateClass::Xor,
        (Acc::Add, Ty::F) => GateClass::FloatAdd,
        (Acc::Add, _) => GateClass::Add,
        (Acc::Mul, _) => GateClass::LogAdd,
    }
}

/// The whole of an accumulate instruction: `operand 0 ⊕= f(operand 1[, operand 2])`.
#[inline(always)]
pub fn run_accumulate<D: Domain, F: Function>(d: &mut D, acc: Acc, inverse: bool) -> Result<(), D::Stop> {
    let y = d.operand(0)?;
    let a = d.operand(1)?;
    let b = if F::INFO.args.len() == 2 { d.operand(2)? } else { a };
    let x = F::value(d, [a, b])?;
    let z = accumulate(d, acc, inverse, F::INFO.ty, y, x)?;
    d.set(0, z)
}
