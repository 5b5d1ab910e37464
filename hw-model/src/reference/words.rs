//! Words of any width as the domain of the table's bodies.

use pendula_isa::arith::Arith;
use pendula_isa::domain::Domain;
use pendula_isa::kernels::Kernel;
use pendula_isa::kernels::circuits::Formats;
use pendula_isa::num::{self, Format};
use pendula_isa::types::{Cond, Ty};
use pendula_isa::{Env, Fault};

use super::Place;
use super::float as few;
use super::kernels::{narrow, order, signed};

/// Why a body stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It traps.
    Fault(Fault),
    /// Something has no meaning, to the last bit, on words of this width.
    Unknown(&'static str),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

type Value = Result<u64, Stop>;

/// Words of a width, with the operands of an instruction. Words are kept without what is above the width.
#[derive(Clone, Debug)]
pub(super) struct Words {
    formats: Formats,
    bits: u32,
    /// The machine's environment, if the formats are the machine's.
    machine: Option<Env>,
    /// A fault of an operation that has no way to tell it.
    pub(super) fault: Option<Fault>,
    operands: [u64; 4],
    gradients: [u64; 4],
    cell: u64,
}

impl Words {
    pub(super) fn new(formats: Formats) -> Words {
        let bits = formats.fixed.width;
        let format = Format::ALL.into_iter().find(|format| bits == 64 && format.frac() == formats.fixed.frac);
        let machine = format.map(|format| Env { format, ieee: false });
        Words { formats, bits, machine, fault: None, operands: [0; 4], gradients: [0; 4], cell: 0 }
    }

    /// The word of a place.
    pub(super) fn at(&mut self, place: Place) -> &mut u64 {
        match place {
            Place::Operand(n) => &mut self.operands[n],
            Place::Gradient(n) => &mut self.gradients[n],
            Place::Cell => &mut self.cell,
        }
    }

    /// Bits of a word.
    pub(super) const fn width(&self) -> u32 {
        self.bits
    }

    fn cut(&self, word: u64) -> u64 {
        word & (u64::MAX >> (64 - self.bits))
    }

    fn signed(&self, word: u64) -> i64 {
        signed(word, self.bits)
    }

    fn fitted(&self, exact: i128) -> [u64; 2] {
        let word = self.cut(exact as u64);
        [word, u64::from(i128::from(self.signed(word)) != exact)]
    }

    /// An operation on floating-point numbers: the machine's at 64 bits, else by doubles.
    fn floats(&self, x: [u64; 2], machine: fn(Env, u64, u64) -> num::Word, few: fn(f64, f64) -> f64) -> Value {
        let t = self.formats.float;
        match self.bits {
            64 => Ok(machine(Env::default(), x[0], x[1])?),
            _ if t.mantissa >= few::SIGNIFICAND => Err(Stop::Unknown("floating point of 34 to 63 bits")),
            _ => Ok(few::rounded(t, few(few::finite(t, x[0])?, few::finite(t, x[1])?))?),
        }
    }

    fn amount(&self, n: u64) -> u32 {
        (n % u64::from(self.bits)) as u32
    }
}

impl Arith for Words {
    type V = u64;
    type Stop = Stop;

    fn env(&self) -> Env {
        self.machine.unwrap_or_default()
    }
    fn bits(&self) -> u32 {
        self.bits
    }
    fn frac(&self) -> u32 {
        self.formats.fixed.frac
    }
    fn word(&mut self, k: u64) -> u64 {
        self.cut(k)
    }
    fn add(&mut self, a: u64, b: u64) -> u64 {
        self.cut(a.wrapping_add(b))
    }
    fn sub(&mut self, a: u64, b: u64) -> u64 {
        self.cut(a.wrapping_sub(b))
    }
    fn mul(&mut self, a: u64, b: u64) -> u64 {
        self.cut(a.wrapping_mul(b))
    }
    fn wide_mul(&mut self, a: u64, b: u64) -> [u64; 2] {
        let product = i128::from(self.signed(a)) * i128::from(self.signed(b));
        [product, product >> self.bits].map(|word| self.cut(word as u64))
    }
    fn overflowing_add(&mut self, a: u64, b: u64) -> [u64; 2] {
        self.fitted(i128::from(self.signed(a)) + i128::from(self.signed(b)))
    }
    fn overflowing_sub(&mut self, a: u64, b: u64) -> [u64; 2] {
        self.fitted(i128::from(self.signed(a)) - i128::from(self.signed(b)))
    }
    fn and(&mut self, a: u64, b: u64) -> u64 {
        a & b
    }
    fn or(&mut self, a: u64, b: u64) -> u64 {
        a | b
    }
    fn xor(&mut self, a: u64, b: u64) -> u64 {
        a ^ b
    }
    fn not(&mut self, a: u64) -> u64 {
        self.cut(!a)
    }
    fn shl(&mut self, a: u64, n: u64) -> u64 {
        self.cut(a << self.amount(n))
    }
    fn shr(&mut self, a: u64, n: u64) -> u64 {
        a >> self.amount(n)
    }
    fn sar(&mut self, a: u64, n: u64) -> u64 {
        self.cut((self.signed(a) >> self.amount(n)).cast_unsigned())
    }
    fn rol(&mut self, a: u64, n: u64) -> u64 {
        match self.amount(n) {
            0 => a,
            n => self.cut(a << n | a >> (self.bits - n)),
        }
    }
    fn ror(&mut self, a: u64, n: u64) -> u64 {
        let left = self.bits - self.amount(n);
        self.rol(a, left.into())
    }
    fn eq(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a == b)
    }
    fn ne(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a != b)
    }
    fn lt(&mut self, a: u64, b: u64) -> u64 {
        u64::from(self.signed(a) < self.signed(b))
    }
    fn ltu(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a < b)
    }
    fn select(&mut self, c: u64, a: u64, b: u64) -> u64 {
        if c != 0 { a } else { b }
    }

    fn float(&mut self, x: f64) -> u64 {
        if self.bits == 64 {
            return x.to_bits();
        }
        few::rounded(self.formats.float, x).unwrap_or_else(|fault| {
            self.fault = Some(fault);
            0
        })
    }
    fn float_add(&mut self, a: u64, b: u64) -> Value {
        self.floats([a, b], num::float::add, |a, b| a + b)
    }
    fn float_sub(&mut self, a: u64, b: u64) -> Value {
        self.floats([a, b], num::float::sub, |a, b| a - b)
    }
    fn float_mul(&mut self, a: u64, b: u64) -> Value {
        self.floats([a, b], num::float::mul, |a, b| a * b)
    }
    fn float_div(&mut self, a: u64, b: u64) -> Value {
        self.floats([a, b], num::float::div, |a, b| a / b)
    }
    fn float_sqrt(&mut self, a: u64) -> Value {
        self.floats([a, a], |env, a, _| num::float::sqrt(env, a), |a, _| a.sqrt())
    }
    fn float_abs(&mut self, a: u64) -> Value {
        self.floats([a, a], |env, a, _| num::float::abs(env, a), |a, _| a.abs())
    }
    fn float_from(&mut self, a: u64, frac: u32) -> u64 {
        if self.bits == 64 {
            return num::float::from_scaled(a, frac);
        }
        let x = self.signed(a) as f64 / 2f64.powi(frac as i32);
        Arith::float(self, x)
    }
    fn compare(&mut self, c: Cond, ty: Ty, a: u64, b: u64) -> Value {
        if c == Cond::Always {
            return Ok(1);
        }
        let order = match ty {
            Ty::Int | Ty::Q if matches!(c, Cond::Ltu | Cond::Geu) => a.cmp(&b),
            Ty::Int | Ty::Q => self.signed(a).cmp(&self.signed(b)),
            Ty::L => order(self.formats.logarithmic, a, b)?,
            Ty::F if self.bits == 64 => return Ok(u64::from(num::compare(self.env(), c, ty, a, b)?)),
            Ty::F => few::compare(self.formats.float, a, b)?,
        };
        Ok(u64::from(c.holds(Some(order))))
    }

    fn overflow(&mut self, _: u64) -> Result<(), Stop> {
        // A flag of the machine.
        Ok(())
    }
    fn require(&mut self, ok: u64, fault: Fault) -> Result<(), Stop> {
        if ok == 0 { Err(fault.into()) } else { Ok(()) }
    }

    fn call<K: Kernel>(&mut self, x: [u64; 4]) -> Result<[u64; 2], Stop> {
        let results = match self.machine {
            // Those of 64 bits that approximate are not the circuits' to the last bit.
            Some(env) if !is_near(K::INFO.name) => K::words(env, x).map(|(words, _)| words),
            _ => narrow(K::INFO.name, &self.formats, x).ok_or(Stop::Unknown(K::INFO.name))?,
        };
        Ok(results?.map(|word| self.cut(word)))
    }
}

/// Whether the circuit of a kernel is only near the machine's function.
fn is_near(name: &str) -> bool {
    use pendula_isa::kernels::float;
    [float::Exp::INFO.name, float::Log::INFO.name, float::Sin::INFO.name, float::Cos::INFO.name].contains(&name)
}

impl Domain for Words {
    fn guarded(&mut self, c: u64, zero: u64, f: impl FnOnce(&mut Self) -> Value) -> Value {
        if c == 0 { Ok(zero) } else { f(self) }
    }

    fn missing(&mut self, fault: Fault) -> Stop {
        fault.into()
    }
    fn operand(&mut self, n: usize) -> Value {
        Ok(self.operands[n])
    }
    fn set(&mut self, n: usize, v: u64) -> Result<(), Stop> {
        self.operands[n] = v;
        Ok(())
    }
    fn gradient(&mut self, n: usize) -> Value {
        Ok(self.gradients[n])
    }
    fn set_gradient(&mut self, n: usize, v: u64) -> Result<(), Stop> {
        self.gradients[n] = v;
        Ok(())
    }
    fn cell(&mut self, _: u64) -> Value {
        Ok(self.cell)
    }
    fn set_cell(&mut self, _: u64, v: u64) -> Result<(), Stop> {
        self.cell = v;
        Ok(())
    }
    fn sp(&mut self) -> u64 {
        0
    }
    fn set_sp(&mut self, _: u64) {}
    fn check(&mut self, ok: u64, fault: Fault) -> Result<(), Stop> {
        self.require(ok, fault)
    }
}
