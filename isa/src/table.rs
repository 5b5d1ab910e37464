//! THE table: every instruction is declared here and nowhere else.
//!
//! `functions` are the pure functions f of accumulate instructions
//! `y ⊕= f(x…)`, one group per number type of the result; with the
//! accumulators of [`Acc`] and the operand shapes of
//! [`Shape`](crate::operand::Shape) they span most of the instruction set.
//! `instructions` are the other straight-line instructions, `control` those
//! that direct control. A row gives, in order: its documentation, its
//! encoding, name, mnemonic (and its partner's), operands, types, gate class, the profiles that have it (`in`;
//! the native one if nothing is said) and its meaning, as a body
//! generic over [`Domain`]. A function of real numbers also gives its partial derivatives, over
//! [`Calculus`]; what another instruction does to gradient words is its
//! [`Adjoint`]. The functions in `real` are rows of fixed-point and floating-point numbers alike.
//!
//! Inverses are derived: an accumulate's is its partner accumulator, a row's
//! is its partner mnemonic, which in the encoding is one bit.

use crate::calculus::{Calculus, Constant};
use crate::class::GateClass;
use crate::domain::Domain;
use crate::fault::Fault;
use crate::kernels::{Kernel, convert, fixed, float, int, log};
use crate::operand::OperandKind;
use crate::types::{Acc, Cond, Profile, Ty};

/// The most arguments that a pure function has.
pub const ARITY: usize = 3;

/// An argument of a pure function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// The name.
    pub name: &'static str,
    /// The number type.
    pub ty: Ty,
}

/// What the manual says of a pure function.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInfo {
    /// The enumerated function.
    pub func: TableFn,
    /// The result's number type.
    pub ty: Ty,
    /// The first argument's number type: differs from `ty` for conversions, which say it in their names.
    pub from: Ty,
    /// Encoding, unique within the type, below 64.
    pub id: u8,
    /// The mnemonic's middle part; empty for the identity.
    pub name: &'static str,
    /// The arguments.
    pub args: &'static [Arg],
    /// The circuit that computes it.
    pub class: GateClass,
    /// Documentation, one line an element.
    pub docs: &'static [&'static str],
    /// Whether it makes words of fewer bits of such, and so serves in profiles whose words have fewer.
    pub profiles: Profiles,
    /// How many of the arguments, the first ones, have partial derivatives; 0 if the function is discrete.
    pub partials: usize,
}

impl FunctionInfo {
    /// The type in which partial derivatives are computed: floating point if an argument or the result is, else fixed point.
    pub const fn calculus(&self) -> Ty {
        if matches!(self.ty, Ty::F) || matches!(self.from, Ty::F) { Ty::F } else { Ty::Q }
    }
}

/// A pure function: one row of the table.
pub trait Function: 'static {
    /// The row.
    const INFO: FunctionInfo;
    /// The value. A function of fewer arguments ignores the others.
    fn value<D: Domain>(d: &mut D, x: [D::V; ARITY]) -> Result<D::V, D::Stop>;
    /// The partial derivative with respect to argument `n`, given the arguments and the value `y`: a number of type
    /// [`FunctionInfo::calculus`]. A `.l` number, be it argument or value, stands for the logarithm of its magnitude.
    /// From [`FunctionInfo::partials`] on there are none, and the result means nothing.
    fn partial<C: Calculus>(c: &mut C, n: usize, x: [C::V; ARITY], y: C::V) -> Result<C::V, C::Stop>;
}

/// An operation that is generic over a function's type.
pub trait FunctionVisitor {
    /// The result.
    type Out;
    /// Performs the operation for the function `F`.
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
    /// The profiles that have the instruction, with integers.
    pub profiles: Profiles,
    /// What it does to gradient words.
    pub adjoint: Adjoint,
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

/// The profiles that have an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiles {
    /// The native one.
    Native,
    /// `pisa`.
    Pisa,
    /// Both.
    Both,
}

impl Profiles {
    /// Whether a profile is among them.
    pub const fn has(self, profile: Profile) -> bool {
        match (self, profile) {
            (Profiles::Both, _) => true,
            (Profiles::Native, p) => matches!(p, Profile::Native),
            (Profiles::Pisa, p) => matches!(p, Profile::Pisa),
        }
    }
}

/// What a branch does to the branch register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Adds the distance to its label, if its condition holds: `bra`.
    Distance,
    /// Adds the distance, and turns around: `rbra`.
    Turn,
    /// Exchanges it with a register: `swapbr`.
    Register,
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
    /// `gcall` / `guncall`: the same, one gradient level higher.
    GradientCall,
    /// `callr` / `uncallr` of a procedure whose address is in a register.
    CallRegister,
    /// The bounds of a run: `start` / `finish`.
    Run,
    /// By the branch register.
    Branch(By),
    /// Nowhere: `cell`, a word of data among instructions.
    Cell,
}

/// What an instruction that is not an accumulate does to gradient words, at gradient level 1 and above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjoint {
    /// Nothing.
    Discrete,
    /// They move as the values do: the body is run on them, too.
    Moves,
    /// The word's is negated with it, unless it belongs to a logarithm.
    Negates,
    /// They rotate as the values do, and the derivative of the rotation is added to the angle's.
    Rotates,
    /// They are scaled by the inverse ratio, with the buffer's as their buffer.
    Scales,
    /// The word's is dropped: cleared, and counted as lost.
    Drops,
}

impl Adjoint {
    /// What the manual says.
    pub const fn doc(self) -> &'static str {
        match self {
            Adjoint::Discrete => "stay as they are",
            Adjoint::Moves => "move with the values",
            Adjoint::Negates => "the word's is negated with it, but for `.l`",
            Adjoint::Rotates => "rotate as the values do; g(b)·a − g(a)·b is added to the angle's",
            Adjoint::Scales => "the word's is scaled by the inverse ratio, with the buffer's as its buffer",
            Adjoint::Drops => "the word's is dropped: cleared, and counted as lost",
        }
    }
}

/// What a body may know of its instruction beside the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// An operation that is generic over a straight-line instruction's type.
pub trait InstructionVisitor {
    /// The result.
    type Out;
    /// Performs the operation for the instruction `I`.
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

macro_rules! count {
    () => { 0 };
    ($p:block $(, $q:block)*) => { 1 + count!($($q),*) };
}

macro_rules! table {
    (
        functions {
            Int int_fn int { $($int:tt)* }
            Q q_fn fixed { $($fixed:tt)* }
            L l_fn log { $($log:tt)* }
            F f_fn float { $($float:tt)* }
        }
        real { $($real:tt)* }
        $($rest:tt)*
    ) => {
        table! {
            @all
            functions {
                Int int_fn int { $($int)* }
                Q q_fn fixed { $($fixed)* $($real)* }
                L l_fn log { $($log)* }
                F f_fn float { $($float)* $($real)* }
            }
            $($rest)*
        }
    };
    (
        @all
        functions { $( $Ty:ident $mod:ident $own:ident { $(
            $(#[doc = $fdoc:literal])+
            $fid:literal $F:ident $fname:literal ($($x:ident $(: $xty:ident)?),+) $(from $From:ident)?
            class $fclass:ident $(/ $ffloat:ident)? $(in $fprofiles:ident)? |$fd:ident| $value:block
            $( partials |$c:ident, $y:ident| [$($p:block),+] )?
        )* } )* }
        instructions { $(
            $(#[doc = $idoc:literal])+
            $iid:literal $I:ident $iname:literal $(/ $ipartner:literal)? ($($o:ident: $kind:ident),*) on [$($ity:ident),+]
            $(test $itest:ident)? $(moves $sp:ident)? $(adjoint $adjoint:ident)? class $iclass:ident $(in $iprofiles:ident)? |$id:ident, $iv:ident| $run:block $( undo $undo:block )?
        )* }
        control { $(
            $(#[doc = $cdoc:literal])+
            $cid:literal $C:ident $cname:literal $(/ $cpartner:literal)? ($($co:ident: $ckind:ident),*) on [$($cty:ident),+]
            $(test $ctest:ident)? $(moves $csp:ident)? class $cclass:ident flow $flow:ident $(by $by:ident)? $(in $cprofiles:ident)?
        )* }
    ) => {
        $(
            #[doc = concat!("Pure functions whose result is of type `", stringify!($Ty), "`.")]
            pub mod $mod {
                use super::*;
                #[allow(unused_imports, reason = "not every type has kernels of its own")]
                use crate::kernels::$own as own;

                /// The type of the result.
                #[allow(dead_code, reason = "not every type has partial derivatives")]
                const T: Ty = Ty::$Ty;

                /// The functions of this type.
                #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
                #[repr(u8)]
                pub enum Name { $( $(#[doc = $fdoc])+ $F = $fid, )* }

                $(
                    $(#[doc = $fdoc])+
                    #[derive(Clone, Copy, Debug)]
                    pub struct $F;

                    impl Function for $F {
                        const INFO: FunctionInfo = {
                            const FROM: Ty = ty_or!($Ty $($From)?);
                            FunctionInfo {
                            func: TableFn::$Ty(Name::$F),
                            ty: Ty::$Ty,
                            from: FROM,
                            id: $fid,
                            name: $fname,
                            args: &[$(Arg {
                                name: stringify!($x),
                                ty: table!(@type $($xty)? = FROM),
                            }),+],
                            class: table!(@class $Ty $fclass $($ffloat)?),
                            docs: &[$($fdoc),+],
                            profiles: table!(@profiles $($fprofiles)?),
                            partials: count!($($($p),+)?),
                            }
                        };

                        #[inline(always)]
                        fn value<D: Domain>($fd: &mut D, x: [D::V; ARITY]) -> Result<D::V, D::Stop> {
                            table!(@args x ($($x),+));
                            $value
                        }

                        #[inline(always)]
                        #[allow(unused_variables, reason = "not every partial derivative needs every argument")]
                        fn partial<C: Calculus>(calculus: &mut C, n: usize, x: [C::V; ARITY], y: C::V) -> Result<C::V, C::Stop> {
                            table!(@args x ($($x),+));
                            table!(@partial calculus n y $( $c $y [$($p),+] )?)
                        }
                    }
                )*
            }
        )*

        /// A pure function of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TableFn { $( #[doc = concat!("With a result of type `", stringify!($Ty), "`.")] $Ty($mod::Name), )* }

        impl TableFn {
            /// Every function, in the order of the table.
            pub const ALL: &'static [TableFn] = &[ $( $( TableFn::$Ty($mod::Name::$F), )* )* ];

            /// The function of this type with this encoding.
            pub fn from_id(ty: Ty, id: u16) -> Option<TableFn> {
                match ty { $( Ty::$Ty => match id { $( $fid => Some(TableFn::$Ty($mod::Name::$F)), )* _ => None }, )* }
            }

            /// The row.
            pub fn info(self) -> &'static FunctionInfo {
                match self { $( TableFn::$Ty(f) => match f { $( $mod::Name::$F => &$mod::$F::INFO, )* }, )* }
            }

            /// Does something with the function's type.
            pub fn visit<V: FunctionVisitor>(self, v: V) -> V::Out {
                match self { $( TableFn::$Ty(f) => match f { $( $mod::Name::$F => v.visit::<$mod::$F>(), )* }, )* }
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
                        profiles: table!(@profiles $($iprofiles)?),
                        adjoint: table!(@adjoint $($adjoint)?),
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
                        partner: partner_or_none!($($cpartner)?),
                        operand_names: &[$(stringify!($co)),*],
                        operands: &[$(OperandKind::$ckind),*],
                        types: &[$(Ty::$cty),+],
                        test: table!(@test $($ctest)?),
                        class: GateClass::$cclass,
                        flow: Flow::$flow $((By::$by))?,
                        moves_sp: table!(@sp $($csp)?),
                        profiles: table!(@profiles $($cprofiles)?),
                        adjoint: Adjoint::Discrete,
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

    (@type = $from:expr) => { $from };
    (@type $own:ident = $from:expr) => { Ty::$own };
    (@class F $class:ident $float:ident) => { GateClass::$float };
    (@class $ty:ident $class:ident $float:ident) => { GateClass::$class };
    (@class $ty:ident $class:ident) => { GateClass::$class };
    (@args $xs:ident ($a:ident)) => { let [$a, _, _] = $xs; };
    (@args $xs:ident ($a:ident, $b:ident)) => { let [$a, $b, _] = $xs; };
    (@args $xs:ident ($a:ident, $b:ident, $c:ident)) => { let [$a, $b, $c] = $xs; };
    (@partial $calculus:ident $n:ident $given:ident) => { { let _ = ($calculus, $n); Ok($given) } };
    (@partial $calculus:ident $n:ident $given:ident $c:ident $y:ident [$($p:block),+]) => { {
        let ($c, $y) = ($calculus, $given);
        let mut k = 0;
        $(
            if $n == k {
                return $p;
            }
            k += 1;
        )+
        let _ = k;
        Ok($y)
    } };
    (@adjoint) => { Adjoint::Discrete };
    (@adjoint $a:ident) => { Adjoint::$a };
    (@test) => { Test::None };
    (@test $t:ident) => { Test::$t };
    (@profiles) => { Profiles::Native };
    (@profiles $p:ident) => { Profiles::$p };
    (@sp) => { false };
    (@sp sp) => { true };
}

table! {
    functions {
        Int int_fn int {
            /// The operand itself.
            0 Id "" (a) class Wire in Both |d| { let _ = d; Ok(a) }
            /// The product, modulo 2^64.
            1 Mul "mul" (a, b) class Multiply |d| { Ok(d.mul(a, b)) }
            /// The quotient of signed integers, rounded toward zero. Division by zero traps; the smallest integer divided by -1 wraps.
            2 Quot "quot" (a, b) class Divide |d| { d.kernel2::<int::Quot>(a, b) }
            /// The remainder that belongs to `quot`: it has the sign of `a`. Division by zero traps.
            3 Rem "rem" (a, b) class Divide |d| { d.kernel2::<int::Rem>(a, b) }
            /// The quotient of signed integers, rounded down. Division by zero traps; the smallest integer divided by -1 wraps.
            4 Div "div" (a, b) class Divide |d| { d.kernel2::<int::Div>(a, b) }
            /// The remainder that belongs to `div`: it has the sign of `b`. Division by zero traps.
            5 Mod "mod" (a, b) class Divide |d| { d.kernel2::<int::Mod>(a, b) }
            /// Bitwise and.
            6 And "and" (a, b) class Logic in Both |d| { Ok(d.and(a, b)) }
            /// Bitwise or.
            7 Or "or" (a, b) class Logic in Both |d| { Ok(d.or(a, b)) }
            /// Bitwise nor: the complement of or.
            8 Nor "nor" (a, b) class Logic in Both |d| { let o = d.or(a, b); Ok(d.not(o)) }
            /// `a` shifted left by `b` modulo 64.
            9 Shl "shl" (a, b) class Shift |d| { Ok(d.shl(a, b)) }
            /// `a` shifted right by `b` modulo 64, filled with zeros.
            10 Shr "shr" (a, b) class Shift |d| { Ok(d.shr(a, b)) }
            /// `a` shifted right by `b` modulo 64, copies of the sign bit coming in.
            11 Sar "sar" (a, b) class Shift |d| { Ok(d.sar(a, b)) }
            /// 1 if `a` < `b` as signed integers, else 0.
            12 Lt "lt" (a, b) class Compare in Both |d| { Ok(d.lt(a, b)) }
            /// 1 if `a` < `b` as unsigned integers, else 0.
            13 Ltu "ltu" (a, b) class Compare in Both |d| { Ok(d.ltu(a, b)) }
            /// 1 if `a` = `b`, else 0.
            14 Eq "eq" (a, b) class Equal in Both |d| { Ok(d.eq(a, b)) }
            /// The smaller of two signed integers.
            15 Min "min" (a, b) class Select in Both |d| { let c = d.lt(a, b); Ok(d.select(c, a, b)) }
            /// The larger of two signed integers.
            16 Max "max" (a, b) class Select in Both |d| { let c = d.lt(a, b); Ok(d.select(c, b, a)) }
            /// A fixed-point number as an integer, rounded down.
            17 CvtQ "cvt" (a) from Q class Convert |d| { d.kernel1::<convert::FixedToInt>(a) }
            /// A logarithmic number as an integer, rounded to the nearest, ties to even. Traps if it does not fit an integer.
            18 CvtL "cvt" (a) from L class LogConvert |d| { d.kernel1::<convert::LogToInt>(a) }
            /// A floating-point number as an integer, rounded down. Traps if it does not fit an integer.
            19 CvtF "cvt" (a) from F class Convert |d| { d.kernel1::<convert::FloatToInt>(a) }
            /// The sum, modulo 2^64.
            20 Plus "plus" (a, b) class Add |d| { accumulate(d, Acc::Add, false, T, a, b) }
            /// The difference, modulo 2^64.
            21 Minus "minus" (a, b) class Add |d| { accumulate(d, Acc::Add, true, T, a, b) }
            /// 1 if `a` < `b` as fixed-point numbers, else 0.
            22 LtQ "lt" (a, b) from Q class Compare |d| { d.compare(Cond::Lt, Ty::Q, a, b) }
            /// 1 if `a` = `b` as fixed-point numbers, else 0.
            23 EqQ "eq" (a, b) from Q class Equal |d| { d.compare(Cond::Eq, Ty::Q, a, b) }
            /// 1 if `a` < `b` as logarithmic numbers, else 0. Traps for a word that is no logarithmic number.
            24 LtL "lt" (a, b) from L class Compare |d| { d.compare(Cond::Lt, Ty::L, a, b) }
            /// 1 if `a` = `b` as logarithmic numbers, else 0. Traps for a word that is no logarithmic number.
            25 EqL "eq" (a, b) from L class Equal |d| { d.compare(Cond::Eq, Ty::L, a, b) }
            /// 1 if `a` < `b` as floating-point numbers, else 0. A NaN traps; where the run lets it through, the result is 0.
            26 LtF "lt" (a, b) from F class Compare |d| { d.compare(Cond::Lt, Ty::F, a, b) }
            /// 1 if `a` = `b` as floating-point numbers, else 0: -0.0 equals 0.0. A NaN traps; where the run lets it through, the result is 0.
            27 EqF "eq" (a, b) from F class Equal |d| { d.compare(Cond::Eq, Ty::F, a, b) }
            /// `a` shifted left by `b` modulo 32, as a word of 32 bits: its sign bit is copied into the upper half.
            29 Shl32 "shl32" (a, b) class Shift in Both |d| { let n = int::amount32(d, b); let r = d.shl(a, n); Ok(int::signed(d, 32, r)) }
            /// The lower 32 bits of `a` shifted right by `b` modulo 32, filled with zeros, as a word of 32 bits.
            30 Shr32 "shr32" (a, b) class Shift in Both |d| { let n = int::amount32(d, b); let low = int::unsigned(d, 32, a); let r = d.shr(low, n); Ok(int::signed(d, 32, r)) }
            /// The lower 32 bits of `a` shifted right by `b` modulo 32, copies of their sign bit coming in.
            31 Sar32 "sar32" (a, b) class Shift in Both |d| { let n = int::amount32(d, b); let low = int::signed(d, 32, a); Ok(d.sar(low, n)) }
            /// The quotient of unsigned integers. Division by zero traps.
            32 Udiv "udiv" (a, b) class Divide |d| { d.kernel2::<int::Udiv>(a, b) }
            /// The remainder that belongs to `udiv`. Division by zero traps.
            33 Umod "umod" (a, b) class Divide |d| { d.kernel2::<int::Umod>(a, b) }
            /// `a` to the power of an unsigned integer, modulo 2^64.
            34 Pow "pow" (a, b) class Power |d| { d.kernel2::<int::Pow>(a, b) }
        }
        Q q_fn fixed {
            /// The operand itself.
            0 Id "" (a) class Wire |d| { let _ = d; Ok(a) } partials |c, y| [{ Ok(c.constant(T, Constant::ONE)) }]
            /// The product, rounded down. Wraps on overflow and raises the overflow flag.
            1 Mul "mul" (a, b) class FixedMultiply |d| { d.kernel2::<fixed::Mul>(a, b) } partials |c, y| [{ Ok(b) }, { Ok(a) }]
            /// The quotient, rounded toward zero. Division by zero traps, and so does a quotient that the format cannot hold.
            2 Div "div" (a, b) class FixedDivide |d| { d.kernel2::<fixed::Div>(a, b) }
                partials |c, y| [{ c.of1::<Inv>(b) }, { let q = c.of2::<Div>(y, b)?; c.times::<Mul>(T, Constant::MINUS_ONE, q) }]
            /// `a`·`b` + `c`: the product, rounded down, and an exact sum. Wraps on overflow and raises the overflow flag.
            3 Muladd "muladd" (a, b, c) class FixedMultiply |d| { d.kernel3::<fixed::Muladd>(a, b, c) }
                partials |k, y| [{ Ok(b) }, { Ok(a) }, { Ok(k.constant(T, Constant::ONE)) }]
            /// The product of integers, as an integer. Wraps on overflow and raises the overflow flag, as the sum that it is added to does.
            40 Prod "prod" (a, b) from Int class Multiply |d| { d.kernel2::<int::Prod>(a, b) }
            /// An integer to the power of an unsigned one, as an integer. Wraps on overflow and raises the overflow flag.
            41 IntPow "ipow" (a, b) from Int class Power |d| { d.kernel2::<int::IntPow>(a, b) }
            /// An integer as a fixed-point number. Traps if it does not fit the format.
            16 CvtI "cvt" (a) from Int class Convert |d| { d.kernel1::<convert::IntToFixed>(a) }
            /// A logarithmic number as a fixed-point number, rounded to the nearest. Traps if it does not fit the format.
            17 CvtL "cvt" (a) from L class LogConvert |d| { d.kernel1::<convert::LogToFixed>(a) } partials |c, y| [{ Ok(y) }]
            /// A floating-point number as a fixed-point number, rounded to the nearest, ties to even. Traps if it does not fit the format.
            18 CvtF "cvt" (a) from F class Convert |d| { d.kernel1::<convert::FloatToFixed>(a) } partials |c, y| [{ Ok(c.constant(Ty::F, Constant::ONE)) }]
            /// The natural logarithm of the magnitude of a logarithmic number, rounded to the nearest. Zero has none, and traps.
            19 LogL "log" (a) from L class LogConvert |d| { d.kernel1::<log::Ln>(a) } partials |c, y| [{ Ok(c.constant(T, Constant::ONE)) }]
        }
        L l_fn log {
            /// The operand itself.
            0 Id "" (a) class Wire |d| { let _ = d; Ok(a) } partials |c, y| [{ Ok(c.constant(Ty::Q, Constant::ONE)) }]
            /// The product, exact in the logarithm. Traps where the logarithm overflows.
            1 Mul "mul" (a, b) class LogAdd |d| { d.kernel2::<log::Mul>(a, b) }
                partials |c, y| [{ Ok(c.constant(Ty::Q, Constant::ONE)) }, { Ok(c.constant(Ty::Q, Constant::ONE)) }]
            /// The quotient, exact in the logarithm. Division by zero traps, and so does an overflow of the logarithm.
            2 Div "div" (a, b) class LogAdd |d| { d.kernel2::<log::Div>(a, b) }
                partials |c, y| [{ Ok(c.constant(Ty::Q, Constant::ONE)) }, { Ok(c.constant(Ty::Q, Constant::MINUS_ONE)) }]
            /// The reciprocal, exact in the logarithm. That of zero traps.
            3 Inv "inv" (a) class LogAdd |d| { d.kernel1::<log::Inv>(a) } partials |c, y| [{ Ok(c.constant(Ty::Q, Constant::MINUS_ONE)) }]
            /// `a` to the power of a fixed-point number, the logarithm rounded to the nearest. A negative `a` needs a whole exponent, or it traps;
            /// so do zero with a negative exponent, and an overflow of the logarithm.
            4 Pow "pow" (a, b: Q) class FixedMultiply |d| { d.kernel2::<log::Pow>(a, b) }
                partials |c, y| [{ Ok(b) }, {
                    // Where `a` is zero so is the value, whatever the exponent.
                    let (zero, one) = (c.constant(T, Constant::ZERO), c.constant(T, Constant::ONE));
                    let some = c.if_eq(T, a, zero, one, a)?;
                    c.of1::<q_fn::LogL>(some)
                }]
            /// The sum, its logarithm rounded to the nearest. Traps where the logarithm overflows.
            5 Plus "plus" (a, b) class LogSum |d| { d.kernel2::<log::Plus>(a, b) }
                partials |c, y| [{ let r = c.of2::<Div>(a, y)?; c.of1::<q_fn::CvtL>(r) }, { let r = c.of2::<Div>(b, y)?; c.of1::<q_fn::CvtL>(r) }]
            /// The difference, its logarithm rounded to the nearest. Traps where the logarithm overflows.
            6 Minus "minus" (a, b) class LogSum |d| { d.kernel2::<log::Minus>(a, b) }
                partials |c, y| [{ let r = c.of2::<Div>(a, y)?; c.of1::<q_fn::CvtL>(r) }, {
                    let r = c.of2::<Div>(b, y)?;
                    let r = c.of1::<q_fn::CvtL>(r)?;
                    c.times::<q_fn::Mul>(Ty::Q, Constant::MINUS_ONE, r)
                }]
            /// An integer as a logarithmic number, its logarithm rounded to the nearest.
            16 CvtI "cvt" (a) from Int class LogConvert |d| { d.kernel1::<convert::IntToLog>(a) }
            /// A fixed-point number as a logarithmic number, its logarithm rounded to the nearest.
            17 CvtQ "cvt" (a) from Q class LogConvert |d| { d.kernel1::<convert::FixedToLog>(a) } partials |c, y| [{ c.of1::<q_fn::Inv>(a) }]
            /// A floating-point number as a logarithmic number, its logarithm rounded to the nearest. Traps below 2^-1024.
            18 CvtF "cvt" (a) from F class LogConvert |d| { d.kernel1::<convert::FloatToLog>(a) } partials |c, y| [{ c.of1::<f_fn::Inv>(a) }]
        }
        F f_fn float {
            /// The operand itself.
            0 Id "" (a) class Wire |d| { let _ = d; Ok(a) } partials |c, y| [{ Ok(c.constant(T, Constant::ONE)) }]
            /// The product.
            1 Mul "mul" (a, b) class FloatMultiply |d| { d.float_mul(a, b) } partials |c, y| [{ Ok(b) }, { Ok(a) }]
            /// The quotient. Division by zero traps.
            2 Div "div" (a, b) class FloatDivide |d| { d.float_div(a, b) }
                partials |c, y| [{ c.of1::<Inv>(b) }, { let q = c.of2::<Div>(y, b)?; c.times::<Mul>(T, Constant::MINUS_ONE, q) }]
            /// `a`·`b` + `c`, rounded once.
            3 Muladd "muladd" (a, b, c) class FloatMultiply |d| { d.kernel3::<float::Muladd>(a, b, c) }
                partials |k, y| [{ Ok(b) }, { Ok(a) }, { Ok(k.constant(T, Constant::ONE)) }]
            /// An integer as a floating-point number, rounded to the nearest, ties to even.
            16 CvtI "cvt" (a) from Int class Convert |d| { d.kernel1::<convert::IntToFloat>(a) }
            /// A fixed-point number as a floating-point number, rounded to the nearest, ties to even.
            17 CvtQ "cvt" (a) from Q class Convert |d| { d.kernel1::<convert::FixedToFloat>(a) } partials |c, y| [{ Ok(c.constant(T, Constant::ONE)) }]
            /// A logarithmic number as a floating-point number, rounded to the nearest.
            18 CvtL "cvt" (a) from L class LogConvert |d| { d.kernel1::<convert::LogToFloat>(a) } partials |c, y| [{ Ok(y) }]
            /// The exponential, less 1: exact where `a` is small, too.
            35 Expm1 "expm1" (a) class FloatElementary |d| { d.kernel1::<float::Expm1>(a) } partials |c, y| [{ c.of1::<Exp>(a) }]
            /// The natural logarithm of 1 + `a`, exact where `a` is small, too. Traps unless `a` > -1.
            36 Log1p "log1p" (a) class FloatElementary |d| { d.kernel1::<float::Log1p>(a) }
                partials |c, y| [{ let one = c.constant(T, Constant::ONE); let sum = c.of2::<Plus>(one, a)?; c.of1::<Inv>(sum) }]
            /// The power of 2.
            37 Exp2 "exp2" (a) class FloatElementary |d| { d.kernel1::<float::Exp2>(a) }
                partials |c, y| [{ c.times::<Mul>(T, Constant::LN_2, y) }]
            /// The inverse of the hyperbolic sine.
            38 Asinh "asinh" (a) class FloatElementary |d| { d.kernel1::<float::Asinh>(a) }
                partials |c, y| [{ let one = c.constant(T, Constant::ONE); let h = c.of2::<Hypot>(a, one)?; c.of1::<Inv>(h) }]
            /// The inverse of the hyperbolic cosine, from 0 on. Traps unless `a` ≥ 1.
            39 Acosh "acosh" (a) class FloatElementary |d| { d.kernel1::<float::Acosh>(a) }
                partials |c, y| [{
                    // 1/√(a² − 1), without the square.
                    let one = c.constant(T, Constant::ONE);
                    let (less, more) = (c.of2::<Minus>(a, one)?, c.of2::<Plus>(a, one)?);
                    let (less, more) = (c.of1::<Sqrt>(less)?, c.of1::<Sqrt>(more)?);
                    let i = c.of1::<Inv>(less)?;
                    c.of2::<Div>(i, more)
                }]
            /// The inverse of the hyperbolic tangent. Traps unless -1 < `a` < 1.
            40 Atanh "atanh" (a) class FloatElementary |d| { d.kernel1::<float::Atanh>(a) }
                partials |c, y| [{ let less = one_less_square::<C, Mul, Muladd>(c, T, a)?; c.of1::<Inv>(less) }]
            /// The cube root, of the sign of `a`. It has no derivative at 0, which traps.
            41 Cbrt "cbrt" (a) class FloatElementary |d| { d.kernel1::<float::Cbrt>(a) }
                partials |c, y| [{
                    let square = c.of2::<Mul>(y, y)?;
                    let twice = c.of2::<Plus>(square, square)?;
                    let sum = c.of2::<Plus>(twice, square)?;
                    c.of1::<Inv>(sum)
                }]
            /// The error function, 2/√π times the integral of exp(-t²) from 0 to `a`.
            42 Erf "erf" (a) class FloatElementary |d| { d.kernel1::<float::Erf>(a) }
                partials |c, y| [{ bell::<C, Mul, Exp>(c, T, Constant::TWO_OVER_ROOT_PI, a) }]
            /// 1 less the error function, exact where that is close to 1, too.
            43 Erfc "erfc" (a) class FloatElementary |d| { d.kernel1::<float::Erfc>(a) }
                partials |c, y| [{ bell::<C, Mul, Exp>(c, T, Constant::MINUS_TWO_OVER_ROOT_PI, a) }]
            /// The natural logarithm of the magnitude of the gamma function. Traps at 0 and at negative whole numbers.
            44 Lgamma "lgamma" (a) class FloatElementary |d| { d.kernel1::<float::Lgamma>(a) } partials |c, y| [{ c.of1::<Digamma>(a) }]
            /// The digamma function, the derivative of `lgamma`. Traps at 0 and at negative whole numbers.
            45 Digamma "digamma" (a) class FloatElementary |d| { d.kernel1::<float::Digamma>(a) }
                partials |c, y| [{ let one = c.constant(Ty::Int, Constant::ONE); c.of2::<Polygamma>(a, one) }]
            /// The derivative of `digamma`, `n` times; for `n` = 0 `digamma` itself. Traps where that does, and unless `n` is from 0 to 120.
            46 Polygamma "polygamma" (a, n: Int) class FloatElementary |d| { d.kernel2::<float::Polygamma>(a, n) }
                partials |c, y| [{ let more = c.offset(n, 1); c.of2::<Polygamma>(a, more) }]
        }
    }
    real {
        /// The reciprocal. That of zero traps.
        4 Inv "inv" (a) class FixedDivide / FloatDivide |d| { d.kernel1::<own::Inv>(a) }
            partials |c, y| [{ let q = c.of2::<Mul>(y, y)?; c.times::<Mul>(T, Constant::MINUS_ONE, q) }]
        /// `a` to the power `b`. A negative `a` needs a whole exponent, or it traps; so does zero with a negative exponent. The derivative with
        /// respect to the exponent is taken as 0 where `a` is not positive.
        5 Pow "pow" (a, b) class Power / FloatElementary |d| { d.kernel2::<own::Pow>(a, b) }
            partials |c, y| [{
                // b·a^(b − 1), and 0 for b = 0 where `a` is 0, too. Of a negative `a` the exponent is whole, and a constant.
                let (zero, one) = (c.constant(T, Constant::ZERO), c.constant(T, Constant::ONE));
                let whole = c.of1::<Floor>(b)?;
                let b = c.if_le(T, zero, a, b, whole)?;
                let minus = c.constant(T, Constant::MINUS_ONE);
                let less = c.of3::<Muladd>(minus, one, b)?;
                let at_zero = c.if_eq(T, a, zero, zero, less)?;
                let less = c.if_eq(T, b, zero, at_zero, less)?;
                let power = c.of2::<Pow>(a, less)?;
                c.of2::<Mul>(b, power)
            }, {
                let (zero, one) = (c.constant(T, Constant::ZERO), c.constant(T, Constant::ONE));
                let positive = c.if_le(T, a, zero, one, a)?;
                let log = c.of1::<Log>(positive)?;
                c.of2::<Mul>(y, log)
            }]
        /// `a` to the power of an integer. Zero with a negative exponent traps.
        6 Powi "powi" (a, n: Int) class Power / FloatElementary |d| { d.kernel2::<own::Powi>(a, n) }
            partials |c, y| [{
                let zero = c.constant(Ty::Int, Constant::ZERO);
                let less = c.offset(n, -1);
                let less = c.if_eq(Ty::Int, n, zero, zero, less)?;
                let power = c.of2::<Powi>(a, less)?;
                let n = c.of1::<CvtI>(n)?;
                c.of2::<Mul>(n, power)
            }]
        /// The exponential.
        7 Exp "exp" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Exp>(a) } partials |c, y| [{ Ok(y) }]
        /// The natural logarithm. Only positive numbers have one; others trap.
        8 Log "log" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Log>(a) } partials |c, y| [{ c.of1::<Inv>(a) }]
        /// The logarithm to base 2. Only positive numbers have one; others trap.
        9 Log2 "log2" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Log2>(a) }
            partials |c, y| [{ let k = c.constant(T, Constant::LOG2_E); c.of2::<Div>(k, a) }]
        /// The square root. That of a negative number traps. Its derivative at 0 is taken as 0.
        10 Sqrt "sqrt" (a) class Root / FloatElementary |d| { d.kernel1::<own::Sqrt>(a) }
            partials |c, y| [{
                let (zero, half) = (c.constant(T, Constant::ZERO), c.constant(T, Constant::HALF));
                let over = c.if_le(T, y, zero, zero, half)?;
                let under = not_zero(c, T, y)?;
                c.of2::<Div>(over, under)
            }]
        /// The sine of an angle in radians.
        11 Sin "sin" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Sin>(a) } partials |c, y| [{ c.of1::<Cos>(a) }]
        /// The cosine of an angle in radians.
        12 Cos "cos" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Cos>(a) }
            partials |c, y| [{ let s = c.of1::<Sin>(a)?; c.times::<Mul>(T, Constant::MINUS_ONE, s) }]
        /// The tangent of an angle in radians. Traps if it does not fit the type.
        13 Tan "tan" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Tan>(a) }
            partials |c, y| [{ let one = c.constant(T, Constant::ONE); c.of3::<Muladd>(y, y, one) }]
        /// The arc sine, from -π/2 to π/2. Traps beyond ±1.
        14 Asin "asin" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Asin>(a) }
            partials |c, y| [{ inverse_cosine::<C, Muladd, Sqrt, Inv, Div>(c, T, a) }]
        /// The arc cosine, from 0 to π. Traps beyond ±1.
        15 Acos "acos" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Acos>(a) }
            partials |c, y| [{
                let i = inverse_cosine::<C, Muladd, Sqrt, Inv, Div>(c, T, a)?;
                c.times::<Mul>(T, Constant::MINUS_ONE, i)
            }]
        /// The arc tangent, from -π/2 to π/2.
        20 Atan "atan" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Atan>(a) }
            partials |c, y| [{
                // 1/(1 + a²) without the square, which may overflow.
                let one = c.constant(T, Constant::ONE);
                let h = c.of2::<Hypot>(a, one)?;
                let i = c.of1::<Inv>(h)?;
                c.of2::<Mul>(i, i)
            }]
        /// The angle of the point (`b`, `a`), from -π to π; 0 for the origin.
        21 Atan2 "atan2" (a, b) class Elementary / FloatElementary |d| { d.kernel2::<own::Atan2>(a, b) }
            partials |c, y| [{
                let h = c.of2::<Hypot>(a, b)?;
                let q = c.of2::<Div>(b, h)?;
                c.of2::<Div>(q, h)
            }, {
                let h = c.of2::<Hypot>(a, b)?;
                let q = c.of2::<Div>(a, h)?;
                let q = c.of2::<Div>(q, h)?;
                c.times::<Mul>(T, Constant::MINUS_ONE, q)
            }]
        /// The hyperbolic sine.
        22 Sinh "sinh" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Sinh>(a) } partials |c, y| [{ c.of1::<Cosh>(a) }]
        /// The hyperbolic cosine.
        23 Cosh "cosh" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Cosh>(a) } partials |c, y| [{ c.of1::<Sinh>(a) }]
        /// The hyperbolic tangent.
        24 Tanh "tanh" (a) class Elementary / FloatElementary |d| { d.kernel1::<own::Tanh>(a) }
            partials |c, y| [{ one_less_square::<C, Mul, Muladd>(c, T, y) }]
        /// The magnitude. Its derivative at 0 is taken as 0.
        25 Abs "abs" (a) class Select |d| { d.kernel1::<own::Abs>(a) } partials |c, y| [{ c.of1::<Sign>(a) }]
        /// -1, 0 or 1, by the sign.
        26 Sign "sign" (a) class Select |d| { d.kernel1::<own::Sign>(a) }
        /// The smaller number. Where they are equal, the derivative is that of `a`.
        27 Min "min" (a, b) class Select |d| { d.kernel2::<own::Min>(a, b) }
            partials |c, y| [{ c.choose(T, a, b, [Constant::ONE, Constant::ZERO]) }, { c.choose(T, a, b, [Constant::ZERO, Constant::ONE]) }]
        /// The larger number. Where they are equal, the derivative is that of `a`.
        28 Max "max" (a, b) class Select |d| { d.kernel2::<own::Max>(a, b) }
            partials |c, y| [{ c.choose(T, b, a, [Constant::ONE, Constant::ZERO]) }, { c.choose(T, b, a, [Constant::ZERO, Constant::ONE]) }]
        /// `a` if it is positive, else 0. Its derivative at 0 is taken as 0.
        29 Relu "relu" (a) class Select |d| { d.kernel1::<own::Relu>(a) }
            partials |c, y| [{ let zero = c.constant(T, Constant::ZERO); c.choose(T, a, zero, [Constant::ZERO, Constant::ONE]) }]
        /// The greatest whole number that is not greater.
        30 Floor "floor" (a) class Select |d| { d.kernel1::<own::Floor>(a) }
        /// √(`a`² + `b`²), without overflow on the way. Its derivatives at the origin are taken as 0.
        31 Hypot "hypot" (a, b) class Root / FloatElementary |d| { d.kernel2::<own::Hypot>(a, b) }
            partials |c, y| [{ of_distance::<C, Div>(c, T, a, y) }, { of_distance::<C, Div>(c, T, b, y) }]
        /// The sum, as the accumulator makes it: in fixed point it wraps on overflow and raises the overflow flag; in floating point it is rounded.
        32 Plus "plus" (a, b) class Add / FloatAdd |d| { accumulate(d, Acc::Add, false, T, a, b) }
            partials |c, y| [{ Ok(c.constant(T, Constant::ONE)) }, { Ok(c.constant(T, Constant::ONE)) }]
        /// The difference, as the accumulator makes it: in fixed point it wraps on overflow and raises the overflow flag; in floating point it is rounded.
        33 Minus "minus" (a, b) class Add / FloatAdd |d| { accumulate(d, Acc::Add, true, T, a, b) }
            partials |c, y| [{ Ok(c.constant(T, Constant::ONE)) }, { Ok(c.constant(T, Constant::MINUS_ONE)) }]
    }
    instructions {
        /// Exchanges two registers.
        0 Swap "swap" (a: Target, b: Target) on [Int] adjoint Moves class Swap in Both |d, v| {
            let (a, b) = (d.operand(0)?, d.operand(1)?);
            d.set(0, b)?;
            d.set(1, a)
        }
        /// Exchanges a register and a memory word.
        1 Exch "exch" (a: Target, m: Memory) on [Int] adjoint Moves class Swap |d, v| {
            let (a, m) = (d.operand(0)?, d.operand(1)?);
            d.set(1, a)?;
            d.set(0, m)
        }
        /// Changes the number's sign. The smallest integer and the smallest fixed-point number stay as they are
        /// (the latter raises the overflow flag), and so does a logarithmic zero.
        2 Neg "neg" (a: Target) on [Int, Q, L, F] adjoint Negates class Increment |d, v| {
            let a = d.operand(0)?;
            let n = match v.ty {
                Ty::Int => { let z = d.word(0); d.sub(z, a) }
                Ty::Q => { let z = d.word(0); d.kernel2::<fixed::Sub>(z, a)? }
                Ty::L => d.kernel1::<log::Neg>(a)?,
                Ty::F => { let s = d.word(1 << (d.bits() - 1)); d.xor(a, s) }
            };
            d.set(0, n)
        }
        /// Complements every bit.
        3 Not "not" (a: Target) on [Int] class Not in Both |d, v| {
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
        6 Rmul "rmul" / "rdiv" (a: Target, buf: Target, num: Factor, den: Factor) on [Int] adjoint Scales class Scale |d, v| {
            let (x, buf, num, den) = (d.operand(0)?, d.operand(1)?, d.operand(2)?, d.operand(3)?);
            scale(d, [x, buf, num, den])
        } undo {
            let (x, buf, num, den) = (d.operand(0)?, d.operand(1)?, d.operand(2)?, d.operand(3)?);
            scale(d, [x, buf, den, num])
        }
        /// `push`: traps unless the memory word at `sp`, the top of the stack, is zero; exchanges it with the register; `sp` += 1.
        /// `pop`: traps unless the register is zero; `sp` -= 1; exchanges the register with the memory word at `sp`.
        7 Push "push" / "pop" (r: Target) on [Int] moves sp adjoint Moves class Swap |d, v| {
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
        8 Assert "assert" (a: Source, b: Value) on [Int, Q, L, F] test Required class Check in Both |d, v| {
            let (a, b) = (d.operand(0)?, d.operand(1)?);
            let c = d.compare(v.cond, v.ty, a, b)?;
            d.check(c, Fault::Assert)
        }
        /// Traps unless the register is zero. At gradient level 1 and above it also drops the register's gradient word, and counts it as lost.
        9 Zero "zero" (r: Target) on [Int] adjoint Drops class Check in Both |d, v| {
            let r = d.operand(0)?;
            let z = d.word(0);
            let clear = d.eq(r, z);
            d.check(clear, Fault::NotZero)
        }
        /// Traps unless |`r`| ≤ `tol`, then sets `r` to +0.0. If it was anything else, 64 bits are counted as lost and the inexact flag is raised:
        /// a run back does not restore them.
        10 ZeroWithin "zero" (r: Target, tol: Tolerance) on [F] adjoint Drops class Check |d, v| {
            let r = d.operand(0)?;
            let zero = d.word(0);
            let tol = if v.form { d.operand(1)? } else { zero };
            let near = d.kernel2::<float::Within>(r, tol)?;
            d.require(near, Fault::NotZero)?;
            d.lose_inexact(r);
            d.set(0, zero)
        }
        /// Moves a word to the output tape and leaves zero (`unemit`: takes it back; traps unless the register is zero and the tape has a word).
        11 Emit "emit" / "unemit" (r: Target) on [Int] adjoint Moves class Host in Both |d, v| {
            let r = d.operand(0)?;
            let left = d.emit(r)?;
            d.set(0, left)
        } undo {
            let r = d.operand(0)?;
            let zero = d.word(0);
            let clear = d.eq(r, zero);
            d.require(clear, Fault::UnemitInto)?;
            let w = d.last_emitted()?;
            d.unemit(r);
            d.set(0, w)
        }
        /// Exclusive-ors the next word of the input tape into a register (`unread`: the word read last, which goes back to the tape).
        12 Read "read" / "unread" (r: Target) on [Int] class Host in Both |d, v| {
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
        /// Shows the number in a register to the user, when running forward only (in the profile `pisa`, with `.loose`, in both directions).
        13 Show "show" (r: Source) on [Int, Q, L, F] class Host in Both |d, v| {
            let r = d.operand(0)?;
            d.show(v.ty, r);
            Ok(())
        }
        /// Shows a text to the user, when running forward only.
        14 Print "print" (text: Text) on [Int] class Host in Both |d, v| {
            d.print(0);
            Ok(())
        }
        /// Sets a word to zero and forgets it. Only in a module that says `.irreversible`; 64 bits are counted as lost. It has no inverse.
        15 Erase "erase" (a: TargetOrMemory) on [Int] adjoint Drops class Erase |d, v| {
            let a = d.operand(0)?;
            let zero = d.word(0);
            d.lose(a);
            d.set(0, zero)
        } undo {
            let zero = d.word(0);
            d.require(zero, Fault::Irreversible)
        }
        /// Turns the point (`a`, `b`) by an angle in radians (`irot`: back): a' = a·cos − b·sin, b' = a·sin + b·cos. Fixed point is turned by three
        /// lifting shears after quarter turns, so that it can be undone exactly; it wraps on overflow and raises the overflow flag.
        16 Rot "rot" / "irot" (a: Target, b: Target, angle: Value) on [Q, F] adjoint Rotates class Rotation |d, v| {
            let (a, b, angle) = (d.operand(0)?, d.operand(1)?, d.operand(2)?);
            let [a, b] = rotate(d, v.ty, false, [a, b, angle])?;
            d.set(0, a)?;
            d.set(1, b)
        } undo {
            let (a, b, angle) = (d.operand(0)?, d.operand(1)?, d.operand(2)?);
            let [a, b] = rotate(d, v.ty, true, [a, b, angle])?;
            d.set(0, a)?;
            d.set(1, b)
        }
        /// Exchanges the register with the gradient word of the operand: at gradient level 0 that of level 1, at level 1 that of level 2.
        /// Programs use it to seed gradients before a `guncall` and to read them after it.
        17 Gswap "gswap" (r: Target, m: TargetOrMemory) on [Int] adjoint Moves class Swap |d, v| {
            let r = d.operand(0)?;
            let _ = d.operand(1)?;
            let g = d.gradient(1)?;
            d.set_gradient(1, r)?;
            d.set(0, g)
        }
        /// Adds to a signed integer of 8 bits (`sub8`: subtracts), modulo 2^8. The word holds it sign-extended; other bits above it are kept.
        18 Add8 "add8" / "sub8" (a: Target, b: Value) on [Int] class Add |d, v| {
            update::<D, int::Add8>(d)
        } undo {
            narrow_subtract(d, int::signed, 8)
        }
        /// Adds to a signed integer of 16 bits (`sub16`: subtracts), modulo 2^16. The word holds it sign-extended; other bits above it are kept.
        19 Add16 "add16" / "sub16" (a: Target, b: Value) on [Int] class Add |d, v| {
            update::<D, int::Add16>(d)
        } undo {
            narrow_subtract(d, int::signed, 16)
        }
        /// Adds to a signed integer of 32 bits (`sub32`: subtracts), modulo 2^32. The word holds it sign-extended; other bits above it are kept.
        20 Add32 "add32" / "sub32" (a: Target, b: Value) on [Int] class Add in Both |d, v| {
            update::<D, int::Add32>(d)
        } undo {
            narrow_subtract(d, int::signed, 32)
        }
        /// Adds to an unsigned integer of 8 bits (`subu8`: subtracts), modulo 2^8. The word holds it zero-extended; other bits above it are kept.
        21 Addu8 "addu8" / "subu8" (a: Target, b: Value) on [Int] class Add |d, v| {
            update::<D, int::Addu8>(d)
        } undo {
            narrow_subtract(d, int::unsigned, 8)
        }
        /// Adds to an unsigned integer of 16 bits (`subu16`: subtracts), modulo 2^16. The word holds it zero-extended; other bits above it are kept.
        22 Addu16 "addu16" / "subu16" (a: Target, b: Value) on [Int] class Add |d, v| {
            update::<D, int::Addu16>(d)
        } undo {
            narrow_subtract(d, int::unsigned, 16)
        }
        /// Adds to an unsigned integer of 32 bits (`subu32`: subtracts), modulo 2^32. The word holds it zero-extended; other bits above it are kept.
        23 Addu32 "addu32" / "subu32" (a: Target, b: Value) on [Int] class Add |d, v| {
            update::<D, int::Addu32>(d)
        } undo {
            narrow_subtract(d, int::unsigned, 32)
        }
        /// Changes the sign of a signed integer of 32 bits, modulo 2^32. What stands above its bits stays with them.
        24 Neg32 "neg32" (a: Target) on [Int] class Increment in Both |d, v| {
            let a = d.operand(0)?;
            let n = d.kernel1::<int::Neg32>(a)?;
            d.set(0, n)
        }
        /// Rotates the bits of a word of 32 bits to the left (`ror32`: to the right) by an amount modulo 32. What stands above them stays.
        25 Rol32 "rol32" / "ror32" (a: Target, n: Amount) on [Int] class Rotate in Both |d, v| { update::<D, int::Rol32>(d) } undo {
            let (a, n) = (d.operand(0)?, d.operand(1)?);
            let r = int::rotate32(d, true, [a, n])?;
            d.set(0, r)
        }
        /// Exchanges a register with the cell at the address in another. There are 2^32 cells, in which instructions lie, too: exchanging one traps.
        26 Exch32 "exch32" (a: Target, address: Source) on [Int] class Swap in Pisa |d, v| {
            let (a, address) = (d.operand(0)?, d.operand(1)?);
            let m = d.cell(address)?;
            d.set_cell(address, a)?;
            d.set(0, m)
        }
    }
    control {
        /// Where a run begins (`finish`: where it ends). Running backward, they change places.
        32 Start "start" / "finish" () on [Int] class Branch flow Run in Both
        /// A jump (`from`: the place where it lands). Forward, `jmp c, L` goes on after the `from` at L if c holds, and the condition of that `from` must then hold;
        /// else it falls through. A `from` reached by falling through must find its condition false. Backward, the two change places.
        33 Jmp "jmp" / "from" (a: Source, b: Small, label: Label) on [Int, Q, L, F] test Optional class Branch flow Jump
        /// The beginning of a procedure (`ret`: its end). Falling into a `proc`, or backward into a `ret`, traps.
        34 Proc "proc" / "ret" (name: Label) on [Int] moves sp class Call flow Procedure
        /// Runs a procedure in the current direction (`uncall`: in the opposite one). The address of the call + 1 is pushed as a link while it runs.
        35 Call "call" / "uncall" (name: Label) on [Int] moves sp class Call flow Call
        /// As `call` (`uncall`), of the procedure whose address is in a register, which must hold it again at the return.
        36 Callr "callr" / "uncallr" (r: Source) on [Int] moves sp class Call flow CallRegister
        /// As `call` (`uncall`), one gradient level higher until the procedure returns. Traps at level 2, which is the highest.
        37 Gcall "gcall" / "guncall" (name: Label) on [Int] moves sp class Call flow GradientCall
        /// Adds the distance to a label to the branch register if the condition holds. After each instruction that leaves the branch register other than 0,
        /// control goes on at that distance, where a `bra`, `rbra` or `swapbr` must stand; else at the next instruction. So a `bra` is landed on by
        /// another that it names: the distances cancel each other.
        38 Bra "bra" (a: Source, b: Small, label: Label) on [Int] test Optional class Branch flow Branch by Distance in Pisa
        /// As `bra`, and turns around: instructions are undone, in the opposite order, until another `rbra` turns again.
        39 Rbra "rbra" (label: Label) on [Int] class Branch flow Branch by Turn in Pisa
        /// Exchanges a register with the branch register, which it shows, and takes, as the distance in the direction of the run.
        40 Swapbr "swapbr" (r: Target) on [Int] class Branch flow Branch by Register in Pisa
        /// A cell that holds a word. Control that comes to it traps.
        41 Cell "cell" (word: Constant) on [Int] class Memory flow Cell in Pisa
    }
}

/// 1 − a², as (1 − a)(1 + a), which loses nothing near ±1.
#[inline(always)]
fn one_less_square<C: Calculus, Mul: Function, Muladd: Function>(c: &mut C, ty: Ty, a: C::V) -> Result<C::V, C::Stop> {
    let (one, minus) = (c.constant(ty, Constant::ONE), c.constant(ty, Constant::MINUS_ONE));
    let less = c.of3::<Muladd>(minus, a, one)?;
    let more = c.of3::<Muladd>(one, a, one)?;
    c.of2::<Mul>(less, more)
}

/// A constant times exp(−a²).
#[inline(always)]
fn bell<C: Calculus, Mul: Function, Exp: Function>(
    c: &mut C,
    ty: Ty,
    factor: Constant,
    a: C::V,
) -> Result<C::V, C::Stop> {
    let minus = c.times::<Mul>(ty, Constant::MINUS_ONE, a)?;
    let square = c.of2::<Mul>(minus, a)?;
    let power = c.of1::<Exp>(square)?;
    c.times::<Mul>(ty, factor, power)
}

/// A number that is not negative, or 1 if it is 0: what a derivative divides by that is taken as 0 there.
#[inline(always)]
fn not_zero<C: Calculus>(c: &mut C, ty: Ty, y: C::V) -> Result<C::V, C::Stop> {
    let (zero, one) = (c.constant(ty, Constant::ZERO), c.constant(ty, Constant::ONE));
    c.if_le(ty, y, zero, one, y)
}

/// a/y, the derivative of the distance y along a; 0 at the origin, with its own derivatives.
#[inline(always)]
fn of_distance<C: Calculus, Div: Function>(c: &mut C, ty: Ty, a: C::V, y: C::V) -> Result<C::V, C::Stop> {
    let zero = c.constant(ty, Constant::ZERO);
    let over = c.if_le(ty, y, zero, zero, a)?;
    let under = not_zero(c, ty, y)?;
    c.of2::<Div>(over, under)
}

/// 1/√(1 − a²), as 1/√(1 − a)/√(1 + a): near ±1 the product of the factors would have few digits left in fixed point, and its root no more.
#[inline(always)]
fn inverse_cosine<C: Calculus, Muladd: Function, Sqrt: Function, Inv: Function, Div: Function>(
    c: &mut C,
    ty: Ty,
    a: C::V,
) -> Result<C::V, C::Stop> {
    let (one, minus) = (c.constant(ty, Constant::ONE), c.constant(ty, Constant::MINUS_ONE));
    let less = c.of3::<Muladd>(minus, a, one)?;
    let more = c.of3::<Muladd>(one, a, one)?;
    let (less, more) = (c.of1::<Sqrt>(less)?, c.of1::<Sqrt>(more)?);
    let i = c.of1::<Inv>(less)?;
    c.of2::<Div>(i, more)
}

/// The point (a, b) turned by an angle; `back` turns it back.
#[inline(always)]
pub(crate) fn rotate<D: Domain>(d: &mut D, ty: Ty, back: bool, [a, b, angle]: [D::V; 3]) -> Result<[D::V; 2], D::Stop> {
    let zero = d.word(0);
    let x = [a, b, angle, zero];
    match (ty, back) {
        (Ty::Q, false) => d.kernel_pair::<fixed::Rot>(x),
        (Ty::Q, true) => d.kernel_pair::<fixed::Irot>(x),
        // The table has no rotation of other types. Sine and cosine stand for themselves: they serve for every lane, and for every
        // point that is turned by the same angle.
        (Ty::F | Ty::Int | Ty::L, _) => {
            let (sin, cos) = (d.kernel1::<float::Sin>(angle)?, d.kernel1::<float::Cos>(angle)?);
            let (from_a, from_b) = (d.float_mul(a, cos)?, d.float_mul(b, sin)?);
            let (to_b, stays) = (d.float_mul(a, sin)?, d.float_mul(b, cos)?);
            Ok(if back {
                [d.float_add(from_a, from_b)?, d.float_sub(stays, to_b)?]
            } else {
                [d.float_sub(from_a, from_b)?, d.float_add(to_b, stays)?]
            })
        }
    }
}

/// Makes the first operand what a kernel makes of the first two.
#[inline(always)]
fn update<D: Domain, K: Kernel>(d: &mut D) -> Result<(), D::Stop> {
    let (a, b) = (d.operand(0)?, d.operand(1)?);
    let new = d.kernel2::<K>(a, b)?;
    d.set(0, new)
}

/// Subtracts a word from a narrow integer.
#[inline(always)]
fn narrow_subtract<D: Domain>(d: &mut D, extended: fn(&mut D, u32, D::V) -> D::V, bits: u32) -> Result<(), D::Stop> {
    let (a, b) = (d.operand(0)?, d.operand(1)?);
    let difference = int::narrow_sum(d, true, extended, bits, [a, b])?;
    d.set(0, difference)
}

/// `rmul`'s meaning; `rdiv`'s with the factors exchanged.
#[inline(always)]
fn scale<D: Domain>(d: &mut D, words: [D::V; 4]) -> Result<(), D::Stop> {
    let [x, buf] = d.kernel_pair::<int::Scale>(words)?;
    d.set(0, x)?;
    d.set(1, buf)
}

/// What `y ⊕= x` makes of `y`.
#[inline(always)]
pub fn accumulate<D: Domain>(d: &mut D, acc: Acc, inverse: bool, ty: Ty, y: D::V, x: D::V) -> Result<D::V, D::Stop> {
    match (acc, ty, inverse) {
        (Acc::Xor, Ty::Int | Ty::Q | Ty::L | Ty::F, _) => Ok(d.xor(y, x)),
        (Acc::Add, Ty::Q, false) => d.kernel2::<fixed::Add>(y, x),
        (Acc::Add, Ty::Q, true) => d.kernel2::<fixed::Sub>(y, x),
        (Acc::Add, Ty::F, false) => d.float_add(y, x),
        (Acc::Add, Ty::F, true) => d.float_sub(y, x),
        // The table gives `.l` no additive accumulator and the other types no multiplicative one.
        (Acc::Add, Ty::Int | Ty::L, false) => Ok(d.add(y, x)),
        (Acc::Add, Ty::Int | Ty::L, true) => Ok(d.sub(y, x)),
        (Acc::Mul, Ty::Int | Ty::Q | Ty::L | Ty::F, false) => d.kernel2::<log::Scale>(y, x),
        (Acc::Mul, Ty::Int | Ty::Q | Ty::L | Ty::F, true) => d.kernel2::<log::Unscale>(y, x),
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

/// The whole of an accumulate instruction: `operand 0 ⊕= f(operand 1[, operand 2[, operand 3]])`.
#[inline(always)]
pub fn run_accumulate<D: Domain, F: Function>(d: &mut D, acc: Acc, inverse: bool) -> Result<(), D::Stop> {
    let y = d.operand(0)?;
    let x = arguments(d, const { &F::INFO })?;
    let f = F::value(d, x)?;
    let z = accumulate(d, acc, inverse, F::INFO.ty, y, f)?;
    d.set(0, z)
}

/// The arguments of the function of an accumulate instruction: operands 1 and on.
#[inline(always)]
pub fn arguments<D: Domain>(d: &mut D, info: &'static FunctionInfo) -> Result<[D::V; ARITY], D::Stop> {
    let a = d.operand(1)?;
    let b = if info.args.len() > 1 { d.operand(2)? } else { a };
    let c = if info.args.len() > 2 { d.operand(3)? } else { a };
    Ok([a, b, c])
}
