//! Facts about a function's partial derivatives that hold for all arguments: those of sums and conversions are
//! constants.

use std::convert::Infallible;

use pendula_isa::calculus::{Calculus, Constant};
use pendula_isa::scalar::ScalarDomain;
use pendula_isa::table::{ARITY, Function};
use pendula_isa::types::Ty;
use pendula_isa::{Env, Format};

/// Whether the partial derivative with respect to argument `n` is 1 or −1 for all arguments, so that a gradient is
/// added or subtracted without a product. It is derived from the body in the table.
pub(crate) fn is_unit<F: Function>(n: usize) -> bool {
    let Ok(is_unit) = always_unit(F::INFO.calculus(), &|known| F::partial(known, n, [None; ARITY], None));
    is_unit
}

/// Compiled once for all functions.
fn always_unit(
    ty: Ty,
    partial: &dyn Fn(&mut Constants) -> Result<Option<u64>, Infallible>,
) -> Result<bool, Infallible> {
    for format in Format::ALL {
        let mut known = Constants(Env { format, ..Env::default() });
        let word = partial(&mut known)?;
        let one = |c: Constant| word == Some(c.word(known.0, ty));
        if !one(Constant::ONE) && !one(Constant::MINUS_ONE) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A calculus whose numbers are words if they are constant, and unknown if they depend on an argument.
struct Constants(Env);

impl Calculus for Constants {
    type V = Option<u64>;
    type Stop = Infallible;

    fn apply<F: Function>(&mut self, x: [Option<u64>; ARITY]) -> Result<Option<u64>, Infallible> {
        let mut words = [0; ARITY];
        for (word, x) in words.iter_mut().zip(x).take(F::INFO.args.len()) {
            let Some(x) = x else { return Ok(None) };
            *word = x;
        }
        // Where it has no value nothing is known.
        Ok(F::value(&mut ScalarDomain::new(self.0), words).ok())
    }

    fn constant(&mut self, ty: Ty, c: Constant) -> Option<u64> {
        Some(c.word(self.0, ty))
    }

    fn offset(&mut self, n: Option<u64>, k: i64) -> Option<u64> {
        n.map(|n| n.wrapping_add_signed(k))
    }

    fn if_le(
        &mut self,
        ty: Ty,
        a: Option<u64>,
        b: Option<u64>,
        then: Option<u64>,
        other: Option<u64>,
    ) -> Result<Option<u64>, Infallible> {
        let (Some(a), Some(b)) = (a, b) else {
            // Both alternatives are the same.
            return Ok(then.filter(|_| then == other));
        };
        let Ok(chosen) = ScalarDomain::new(self.0).if_le(ty, a, b, u64::from(true), u64::from(false)) else {
            return Ok(None);
        };
        Ok(if chosen == u64::from(true) { then } else { other })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pendula_isa::GateClass;
    use pendula_isa::calculus::Calculus;
    use pendula_isa::domain::Domain;
    use pendula_isa::num::convert;
    use pendula_isa::sample::{Source, number};
    use pendula_isa::table::{FunctionInfo, FunctionVisitor, TableFn, f_fn, q_fn};

    /// A row in the class of sums whose partial derivative is not one.
    struct Weighted;

    impl Function for Weighted {
        const INFO: FunctionInfo = FunctionInfo { class: GateClass::FloatAdd, ..<f_fn::Minus as Function>::INFO };

        fn value<D: Domain>(d: &mut D, x: [D::V; ARITY]) -> Result<D::V, D::Stop> {
            let twice = f_fn::Plus::value(d, [x[0]; ARITY])?;
            f_fn::Minus::value(d, [twice, x[1], x[1]])
        }

        fn partial<C: Calculus>(c: &mut C, n: usize, _: [C::V; ARITY], _: C::V) -> Result<C::V, C::Stop> {
            let one = c.constant(Ty::F, Constant::ONE);
            if n == 0 { c.of2::<f_fn::Plus>(one, one) } else { c.of2::<f_fn::Minus>(one, one) }
        }
    }

    /// A row of another class, with the partial derivatives 1 and −1: one of them selected, one computed.
    struct Disguised;

    impl Function for Disguised {
        const INFO: FunctionInfo =
            FunctionInfo { class: GateClass::FloatElementary, ..<f_fn::Minus as Function>::INFO };

        fn value<D: Domain>(d: &mut D, x: [D::V; ARITY]) -> Result<D::V, D::Stop> {
            f_fn::Minus::value(d, x)
        }

        fn partial<C: Calculus>(c: &mut C, n: usize, x: [C::V; ARITY], _: C::V) -> Result<C::V, C::Stop> {
            if n == 0 {
                c.choose(Ty::F, x[0], x[1], [Constant::ONE, Constant::ONE])
            } else {
                let one = c.constant(Ty::F, Constant::ONE);
                let none = c.constant(Ty::F, Constant::ZERO);
                c.of2::<f_fn::Minus>(none, one)
            }
        }
    }

    #[test]
    fn the_class_says_nothing_of_derivatives() {
        assert!(!is_unit::<Weighted>(0) && !is_unit::<Weighted>(1));
        assert!(is_unit::<Disguised>(0) && is_unit::<Disguised>(1));
        assert!(is_unit::<q_fn::Muladd>(2) && !is_unit::<q_fn::Muladd>(0));
        assert!(is_unit::<q_fn::CvtF>(0) && is_unit::<f_fn::CvtQ>(0));
        assert!(!is_unit::<q_fn::Abs>(0) && !is_unit::<q_fn::Max>(1));
    }

    /// Partial derivatives at random arguments, without knowledge of constants.
    struct Measured<'a>(&'a mut Source<'static>);

    impl FunctionVisitor for Measured<'_> {
        type Out = ();

        fn visit<F: Function>(self) {
            let env = Env::default();
            for n in 0..F::INFO.partials {
                let mut sizes = Vec::new();
                for _ in 0..200 {
                    let mut x = [0; ARITY];
                    for (word, arg) in x.iter_mut().zip(F::INFO.args) {
                        *word = number(arg.ty, env.format, self.0);
                    }
                    let mut scalar = ScalarDomain::new(env);
                    let found = F::value(&mut scalar, x).and_then(|y| F::partial(&mut scalar, n, x, y));
                    if let Ok(partial) = found {
                        sizes.push(convert::to_f64(env, F::INFO.calculus(), partial));
                    }
                }
                assert!(sizes.len() > 10, "{:?}", F::INFO.func);
                let one = sizes[0].abs() == 1.0 && sizes.iter().all(|s| *s == sizes[0]);
                assert_eq!(is_unit::<F>(n), one, "{:?}, argument {n}: {sizes:?}", F::INFO.func);
            }
        }
    }

    #[test]
    fn every_row_agrees_with_evaluation() {
        let mut source = Source::seeded(5);
        for func in TableFn::ALL {
            func.visit(Measured(&mut source));
        }
    }
}
