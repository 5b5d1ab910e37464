//! The kernels: what the rows of the table compute with beyond single operations.
//!
//! A kernel is a type. It is declared once, in the file of its number type, with its arguments and one of two bodies:
//!
//! - `generic`: operations of [`Arith`]. The interpreter runs them on words, code generators record them.
//! - `value`, `quotient`, `total`, `wrapping`, `pair` or `wrapping_pair`: a function on words. Compiled code calls it.
//!
//! | declared as | the function on words gives |
//! |---|---|
//! | `value` | a word, or the fault for which there is none |
//! | `quotient` | a word, or the fault for which there is none: only where the last argument is zero |
//! | `total` | a word |
//! | `wrapping` | a word modulo 2^64, and whether it wrapped |
//! | `pair` | two words, or the fault for which there are none |
//! | `wrapping_pair` | two words, and whether one wrapped |
//!
//! After `=>` stands the [circuit](circuits) of a kernel, which one without a body must have: `(|b, f, x| …)`, a circuit of its own; `in_place` and
//! the same, a [circuit](InPlaceCircuit) that replaces the first arguments by the results, which may also stand beside a body that has more gates;
//! `[…]`, circuits that stand for it; or `none`, if no function or instruction of the table has it as a value (what does, has a circuit elsewhere).
//! `each` marks circuits of integer arithmetic alone, for words of any width, in which every fault has a bit of its own, instead of one for all; `power_of_two`, those in place for words of so many bits.

use crate::arith::Arith;
use crate::fault::Fault;
use crate::num::Env;
use circuits::{InPlaceCircuit, ValueCircuit};

pub mod circuits;
pub mod convert;
pub mod fixed;
pub mod float;
pub mod int;
pub mod log;

/// When a kernel has no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// Never.
    Never,
    /// If the last argument is zero.
    AtZero,
    /// For some arguments.
    Possibly,
}

/// The properties of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo {
    /// The name, an identifier, unique among kernels.
    pub name: &'static str,
    /// The number of arguments, 1 to 4.
    pub arity: usize,
    /// The number of results, 1 or 2.
    pub results: usize,
    /// Whether the function on words reports that a result has wrapped.
    pub wraps: bool,
    /// When there are no results.
    pub faults: Faults,
    /// The circuit, written by hand, of a kernel without a body. Several stand, one after the other, for a function that has none of its own.
    pub circuits: &'static [ValueCircuit],
    /// The circuit that replaces the first arguments by the results.
    pub in_place: Option<InPlaceCircuit>,
}

/// Every kernel.
pub fn all() -> impl Iterator<Item = &'static KernelInfo> {
    [int::ALL, fixed::ALL, log::ALL, float::ALL, convert::ALL].into_iter().flatten()
}

/// A kernel.
pub trait Kernel: 'static {
    /// Its properties.
    const INFO: KernelInfo;

    /// The results on words, and whether one has wrapped. A kernel with one result gives it twice; arguments beyond the arity are
    /// ignored.
    ///
    /// # Errors
    /// If there are no results.
    fn words(env: Env, x: [u64; 4]) -> Result<([u64; 2], bool), Fault>;

    /// The results in any arithmetic: by the body's operations, or by [`Arith::call`].
    ///
    /// # Errors
    /// Those of the arithmetic.
    fn run<A: Arith>(a: &mut A, x: [A::V; 4]) -> Result<[A::V; 2], A::Stop>;

    /// Shows a visitor the kernel as one of its form.
    fn visit_form<V: FormVisitor>(v: V) -> V::Out;
}

/// Something done with a kernel's type that depends on its numbers of arguments and results.
pub trait FormVisitor {
    /// The result.
    type Out;
    /// One argument, one result.
    fn unary<K: Kernel>(self) -> Self::Out;
    /// Two arguments, one result.
    fn binary<K: Kernel>(self) -> Self::Out;
    /// Three arguments, one result.
    fn ternary<K: Kernel>(self) -> Self::Out;
    /// Four arguments, two results.
    fn pair<K: Kernel>(self) -> Self::Out;
}

/// Declares kernels.
macro_rules! kernels {
    ($( $(#[doc = $doc:literal])+ $Name:ident $name:literal ($($x:ident),+) $form:ident |$k:ident| $body:expr $(=> $circuits:tt $(($($in_place:tt)+))?)?; )*) => {
        /// Every kernel of this file.
        pub const ALL: &[$crate::kernels::KernelInfo] = &[$(<$Name as $crate::kernels::Kernel>::INFO),*];

        $(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $Name;

        impl $crate::kernels::Kernel for $Name {
            const INFO: $crate::kernels::KernelInfo = $crate::kernels::KernelInfo {
                name: $name,
                arity: $crate::kernels::kernels!(@count $($x)+),
                results: $crate::kernels::kernels!(@results $form),
                wraps: $crate::kernels::kernels!(@wraps $form),
                faults: $crate::kernels::kernels!(@faults $form),
                circuits: $crate::kernels::kernels!(@circuits $form $name ($($x)+) $($circuits)?),
                in_place: $crate::kernels::kernels!(@in_place $name $($circuits $(($($in_place)+))?)?),
            };

            $crate::kernels::kernels!(@body $form |$k, x| [$($x)+] $body);

            fn visit_form<V: $crate::kernels::FormVisitor>(v: V) -> V::Out {
                $crate::kernels::kernels!(@visit $form v $($x)+)
            }
        }
        )*
    };

    (@circuits generic $name:literal $args:tt) => { &[] };
    (@circuits $form:ident $name:literal $args:tt in_place) => { &[] };
    (@circuits $form:ident $name:literal $args:tt none) => { &[] };
    (@circuits $form:ident $name:literal $args:tt (each |$b:ident, $f:ident, $x:ident| $build:expr)) => {
        &[$crate::kernels::circuits::ValueCircuit {
            name: $name,
            arity: $crate::kernels::kernels!(@count_of $args),
            formats: false,
            build: |$b, $f, $x| $build,
        }]
    };
    (@circuits $form:ident $name:literal $args:tt (|$b:ident, $f:ident, $x:ident| $build:expr)) => {
        &[$crate::kernels::circuits::ValueCircuit {
            name: $name,
            arity: $crate::kernels::kernels!(@count_of $args),
            formats: true,
            build: |$b, $f, $x| $build.joined($b),
        }]
    };
    (@circuits $form:ident $name:literal $args:tt [$($stands:expr),+]) => { &[$($stands),+] };
    (@in_place $name:literal in_place ($($kind:ident)? |$b:ident, $f:ident, $x:ident| $build:expr)) => {
        Some($crate::kernels::circuits::InPlaceCircuit {
            name: $name,
            widths: $crate::kernels::kernels!(@widths $($kind)?),
            build: |$b, $f, $x| $build,
        })
    };
    (@in_place $name:literal $($circuits:tt)?) => { None };
    (@widths) => { $crate::kernels::circuits::in_place::Widths::Formats };
    (@widths each) => { $crate::kernels::circuits::in_place::Widths::Any };
    (@widths power_of_two) => { $crate::kernels::circuits::in_place::Widths::PowersOfTwo };
    (@count_of ($($x:ident)+)) => { $crate::kernels::kernels!(@count $($x)+) };

    (@count $a:ident) => { 1 };
    (@count $a:ident $b:ident) => { 2 };
    (@count $a:ident $b:ident $c:ident) => { 3 };
    (@count $a:ident $b:ident $c:ident $d:ident) => { 4 };
    (@results pair) => { 2 };
    (@results wrapping_pair) => { 2 };
    (@results $form:ident) => { 1 };
    (@faults value) => { $crate::kernels::Faults::Possibly };
    (@faults pair) => { $crate::kernels::Faults::Possibly };
    (@faults quotient) => { $crate::kernels::Faults::AtZero };
    (@faults generic) => { $crate::kernels::Faults::Possibly };
    (@faults $form:ident) => { $crate::kernels::Faults::Never };
    (@wraps wrapping) => { true };
    (@wraps wrapping_pair) => { true };
    (@wraps $form:ident) => { false };
    (@visit pair $v:ident $($x:ident)+) => { $v.pair::<Self>() };
    (@visit wrapping_pair $v:ident $($x:ident)+) => { $v.pair::<Self>() };
    (@visit $form:ident $v:ident $a:ident) => { $v.unary::<Self>() };
    (@visit $form:ident $v:ident $a:ident $b:ident) => { $v.binary::<Self>() };
    (@visit $form:ident $v:ident $a:ident $b:ident $c:ident) => { $v.ternary::<Self>() };

    (@args $xs:ident $a:ident) => { let [$a, _, _, _] = $xs; };
    (@args $xs:ident $a:ident $b:ident) => { let [$a, $b, _, _] = $xs; };
    (@args $xs:ident $a:ident $b:ident $c:ident) => { let [$a, $b, $c, _] = $xs; };
    (@args $xs:ident $a:ident $b:ident $c:ident $d:ident) => { let [$a, $b, $c, $d] = $xs; };

    (@body generic |$k:ident, $xs:ident| [$($x:ident)+] $body:expr) => {
        fn words(env: $crate::Env, x: [u64; 4]) -> Result<([u64; 2], bool), $crate::Fault> {
            let mut words = $crate::scalar::ScalarDomain::new(env);
            let results = Self::run(&mut words, x)?;
            Ok((results, words.overflowed))
        }

        #[inline(always)]
        fn run<A: $crate::arith::Arith>($k: &mut A, $xs: [A::V; 4]) -> Result<[A::V; 2], A::Stop> {
            if Self::INFO.in_place.is_some() && $k.keeps_kernels() {
                return $k.call::<Self>($xs);
            }
            $crate::kernels::kernels!(@args $xs $($x)+);
            let result: Result<A::V, A::Stop> = $body;
            Ok([result?; 2])
        }
    };
    (@body $form:ident |$env:ident, $xs:ident| [$($x:ident)+] $body:expr) => {
        #[inline(always)]
        fn words($env: $crate::Env, $xs: [u64; 4]) -> Result<([u64; 2], bool), $crate::Fault> {
            $crate::kernels::kernels!(@args $xs $($x)+);
            let _ = $env;
            $crate::kernels::kernels!(@words $form $body)
        }

        #[inline(always)]
        fn run<A: $crate::arith::Arith>(a: &mut A, x: [A::V; 4]) -> Result<[A::V; 2], A::Stop> {
            a.call::<Self>(x)
        }
    };
    (@words value $body:expr) => { {
        let result: $crate::num::Word = $body;
        Ok(([result?; 2], false))
    } };
    (@words quotient $body:expr) => { $crate::kernels::kernels!(@words value $body) };
    (@words total $body:expr) => { {
        let word: u64 = $body;
        Ok(([word; 2], false))
    } };
    (@words wrapping $body:expr) => { {
        let (word, wrapped): (u64, bool) = $body;
        Ok(([word; 2], wrapped))
    } };
    (@words pair $body:expr) => { {
        let result: Result<[u64; 2], $crate::Fault> = $body;
        Ok((result?, false))
    } };
    (@words wrapping_pair $body:expr) => { {
        let result: ([u64; 2], bool) = $body;
        Ok(result)
    } };
}

pub(crate) use kernels;
