//! Conversions between number types.

use super::circuits::{FLOAT_TO_INT, convert as circuit, gauss};
use super::kernels;
use crate::num::convert;

kernels! {
    /// An integer as a fixed-point number.
    IntToFixed "int_to_fixed" (a) value |env| convert::int_to_q(env, a) => (|b, f, x| circuit::int_to_fixed(b, f.fixed, &x[0]));
    /// An integer as a logarithmic number.
    IntToLog "int_to_log" (a) value |env| convert::int_to_l(env, a) =>
        (|b, f, x| gauss::from_fixed(b, f.logarithmic, 0, &x[0]));
    /// An integer as a floating-point number.
    IntToFloat "int_to_float" (a) generic |k| Ok(k.float_from(a, 0));
    /// A fixed-point number as an integer, rounded down.
    FixedToInt "fixed_to_int" (a) generic |k| {
        let frac = k.word(u64::from(k.frac()));
        Ok(k.sar(a, frac))
    };
    /// A fixed-point number as a logarithmic number.
    FixedToLog "fixed_to_log" (a) value |env| convert::q_to_l(env, a) =>
        (|b, f, x| gauss::from_fixed(b, f.logarithmic, f.fixed.frac, &x[0]));
    /// A fixed-point number as a floating-point number.
    FixedToFloat "fixed_to_float" (a) generic |k| Ok(k.float_from(a, k.frac()));
    /// A logarithmic number as an integer, to the nearest.
    LogToInt "log_to_int" (a) value |env| convert::l_to_int(env, a) =>
        (|b, f, x| gauss::to_fixed(b, f.logarithmic, f.width(), 0, &x[0]));
    /// A logarithmic number as a fixed-point number.
    LogToFixed "log_to_fixed" (a) value |env| convert::l_to_q(env, a) =>
        (|b, f, x| gauss::to_fixed(b, f.logarithmic, f.width(), f.fixed.frac, &x[0]));
    /// A logarithmic number as a floating-point number.
    LogToFloat "log_to_float" (a) value |env| convert::l_to_f(env, a) =>
        (|b, f, x| gauss::to_float(b, f.logarithmic, f.float, &x[0]));
    /// A floating-point number as an integer, rounded down.
    FloatToInt "float_to_int" (a) value |env| convert::f_to_int(env, a) =>
        [FLOAT_TO_INT];
    /// A floating-point number as a fixed-point number.
    FloatToFixed "float_to_fixed" (a) value |env| convert::f_to_q(env, a) =>
        (|b, f, x| circuit::from_float(b, f.float, f.width(), f.fixed.frac, false, &x[0]));
    /// A floating-point number as a logarithmic number.
    FloatToLog "float_to_log" (a) value |env| convert::f_to_l(env, a) =>
        (|b, f, x| gauss::from_float(b, f.logarithmic, f.float, &x[0]));
}
