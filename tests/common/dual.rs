//! Dual numbers: the oracle of derivatives that a test computes for itself.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number with its derivative.
#[derive(Clone, Copy, Default)]
pub(crate) struct Dual(pub(crate) f64, pub(crate) f64);

impl Add for Dual {
    type Output = Dual;
    fn add(self, o: Dual) -> Dual {
        Dual(self.0 + o.0, self.1 + o.1)
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual(-self.0, -self.1)
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, o: Dual) -> Dual {
        Dual(self.0 - o.0, self.1 - o.1)
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, o: Dual) -> Dual {
        Dual(self.0 * o.0, self.1 * o.0 + self.0 * o.1)
    }
}

impl Div for Dual {
    type Output = Dual;
    fn div(self, o: Dual) -> Dual {
        Dual(self.0 / o.0, (self.1 - self.0 / o.0 * o.1) / o.0)
    }
}

impl Dual {
    pub(crate) fn sqrt(self) -> Dual {
        Dual(self.0.sqrt(), self.1 / (2.0 * self.0.sqrt()))
    }
}
