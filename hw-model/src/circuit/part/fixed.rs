//! The shears of rotations.

use crate::circuit::{Builder, Role};

/// A rotation from its coefficients: (x, y) is rotated by a number of quarter turns (a → −b, b → a), then x += p·y, y
/// += q·x, x += p·y, where p and q are magnitudes in units of 2^-width, each with a sign.
pub(super) fn shears(b: &mut Builder, width: usize) {
    let x = b.register("x", Role::Target, width);
    let y = b.register("y", Role::Target, width);
    let p = b.register("p", Role::Operand, width);
    let q = b.register("q", Role::Operand, width);
    let signs = b.register("signs", Role::Operand, 2);
    let quarters = b.register("quarters", Role::Operand, 2);
    b.swap_if(quarters[0], &x, &y);
    b.with(
        |b| {
            let one_or_two = b.copy(&quarters[1..]);
            b.cnot(quarters[0], one_or_two[0]);
            one_or_two[0]
        },
        |b, one_or_two| b.negate_if(*one_or_two, &x),
    );
    b.negate_if(quarters[1], &y);
    b.shear(signs[0], &p, &y, &x);
    b.shear(signs[1], &q, &x, &y);
    b.shear(signs[0], &p, &y, &x);
}
