//! Conversions between number types.

use super::kernels;
use crate::fault::Fault;
use crate::num::convert;

kernels! {
    /// An integer as a fixed-point number.
    IntToFixed "int_to_fixed" (a) generic |k| {
        let frac = k.word(u64::from(k.env().format.frac()));
        let scaled = k.shl(a, frac);
        let back = k.sar(scaled, frac);
        let fits = k.eq(back, a);
        k.require(fits, Fault::Range)?;
        Ok(scaled)
    };
    /// An integer as a logarithmic number.
    IntToLog "int_to_log" (a) value |env| convert::int_to_l(env, a);
    /// An integer as a floating-point number.
    IntToFloat "int_to_float" (a) generic |k| Ok(k.float_from(a, 0));
    /// A fixed-point number as an integer, rounded down.
    FixedToInt "fixed_to_int" (a) generic |k| {
        let frac = k.word(u64::from(k.env().format.frac()));
        Ok(k.sar(a, frac))
    };
    /// A fixed-point number as a logarithmic number.
    FixedToLog "fixed_to_log" (a) value |env| convert::q_to_l(env, a);
    /// A fixed-point number as a floating-point number.
    FixedToFloat "fixed_to_float" (a) generic |k| Ok(k.float_from(a, k.env().format.frac()));
    /// A logarithmic number as an integer, to the nearest.
    LogToInt "log_to_int" (a) value |env| convert::l_to_int(env, a);
    /// A logarithmic number as a fixed-point number.
    LogToFixed "log_to_fixed" (a) value |env| convert::l_to_q(env, a);
    /// A logarithmic number as a floating-point number.
    LogToFloat "log_to_float" (a) value |env| convert::l_to_f(env, a);
    /// A floating-point number as an integer, rounded down.
    FloatToInt "float_to_int" (a) value |env| convert::f_to_int(env, a);
    /// A floating-point number as a fixed-point number.
    FloatToFixed "float_to_fixed" (a) value |env| convert::f_to_q(env, a);
    /// A floating-point number as a logarithmic number.
    FloatToLog "float_to_log" (a) value |env| convert::f_to_l(env, a);
}
