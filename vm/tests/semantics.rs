//! What each function and each instruction computes: values worked out by
//! hand, and other ways of computing the same on random operands (128-bit
//! integers, the crate `fixed`, the hardware's doubles).

mod common;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use common::{State, between, imm, inst, machine, mem, program, r, reg};
use fixed::FixedI64;
use fixed::types::extra::{LeEqU64, U32, U43, U48};
use pendula_isa::Fault;
use pendula_isa::counts::Direction;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::num::Format;
use pendula_isa::operand::{Operand, Shape};
use pendula_isa::sample::{Source, number, word};
use pendula_isa::table::{Flow, Func, FunctionInfo, Row};
use pendula_isa::types::{Acc, Cond, Reg, Ty};
use pendula_vm::{Config, Event, Machine, Outcome};

/// A function's name in mnemonics, without the accumulator: `quot`, `mul.q`, `cvt.i.f`.
fn name_of(info: &FunctionInfo) -> String {
    let family = Kind::Accumulate { acc: Acc::Xor, inverse: false, func: info.func, shape: Shape::RR };
    family.mnemonic()["xor".len()..].to_string()
}

const fn i(x: i64) -> u64 {
    x.cast_unsigned()
}

/// A multiple of 2^-16 as `Q32.32`.
const fn q(x: f64) -> u64 {
    (((x * 65536.0) as i64) << 16).cast_unsigned()
}

const fn f(x: f64) -> u64 {
    x.to_bits()
}

/// ± 2^`log`, where `log` is a multiple of 2^-10.
const fn l(sign: bool, log: f64) -> u64 {
    ((((log * 1024.0) as i64) << 42).cast_unsigned() & (u64::MAX >> 1)) | (sign as u64) << 63
}

const L_ZERO: u64 = 0x4000_0000_0000_0000;
const L_BAD: u64 = 0xc000_0000_0000_0000;
const MIN: i64 = i64::MIN;
const MAX: i64 = i64::MAX;

type Want = Result<u64, Fault>;

/// Function, arguments, value.
const FUNCTIONS: &[(&str, u64, u64, Want)] = &[
    ("", 42, 0, Ok(42)),
    ("", i(-1), 0, Ok(u64::MAX)),
    ("mul", 6, 7, Ok(42)),
    ("mul", i(-3), 5, Ok(i(-15))),
    ("mul", 1 << 63, 2, Ok(0)),
    ("mul", u64::MAX, u64::MAX, Ok(1)),
    ("quot", i(-7), 2, Ok(i(-3))),
    ("quot", 7, i(-2), Ok(i(-3))),
    ("quot", i(-7), i(-2), Ok(3)),
    ("quot", i(MIN), i(-1), Ok(i(MIN))),
    ("quot", 1, 0, Err(Fault::DivideByZero)),
    ("rem", i(-7), 2, Ok(i(-1))),
    ("rem", 7, i(-2), Ok(1)),
    ("rem", i(MIN), i(-1), Ok(0)),
    ("rem", 0, 0, Err(Fault::DivideByZero)),
    ("div", i(-7), 2, Ok(i(-4))),
    ("div", 7, i(-2), Ok(i(-4))),
    ("div", i(-7), i(-2), Ok(3)),
    ("div", i(MIN), i(-1), Ok(i(MIN))),
    ("div", i(-6), 3, Ok(i(-2))),
    ("div", 5, 0, Err(Fault::DivideByZero)),
    ("mod", i(-7), 2, Ok(1)),
    ("mod", 7, i(-2), Ok(i(-1))),
    ("mod", i(-6), 3, Ok(0)),
    ("mod", i(MIN), i(-1), Ok(0)),
    ("mod", 5, 0, Err(Fault::DivideByZero)),
    ("and", 0b1100, 0b1010, Ok(0b1000)),
    ("or", 0b1100, 0b1010, Ok(0b1110)),
    ("nor", 0b1100, 0b1010, Ok(!0b1110)),
    ("nor", 0, 0, Ok(u64::MAX)),
    ("shl", 3, 4, Ok(48)),
    ("shl", 1, 63, Ok(1 << 63)),
    ("shl", 1, 64, Ok(1)),
    ("shl", 1, u64::MAX, Ok(1 << 63)),
    ("shr", 1 << 63, 63, Ok(1)),
    ("shr", i(-1), 60, Ok(15)),
    ("shr", 5, 65, Ok(2)),
    ("sar", i(-1), 60, Ok(i(-1))),
    ("sar", i(-5), 1, Ok(i(-3))),
    ("sar", i(MAX), 62, Ok(1)),
    ("lt", i(-1), 0, Ok(1)),
    ("lt", 0, i(-1), Ok(0)),
    ("lt", 3, 3, Ok(0)),
    ("ltu", i(-1), 0, Ok(0)),
    ("ltu", 0, i(-1), Ok(1)),
    ("eq", 5, 5, Ok(1)),
    ("eq", 5, i(-5), Ok(0)),
    ("min", i(-1), 1, Ok(i(-1))),
    ("min", i(MAX), i(MIN), Ok(i(MIN))),
    ("max", i(-1), 1, Ok(1)),
    ("max", i(MAX), i(MIN), Ok(i(MAX))),
    ("cvt.i.q", q(2.75), 0, Ok(2)),
    ("cvt.i.q", q(-2.25), 0, Ok(i(-3))),
    ("cvt.i.q", i(-1), 0, Ok(i(-1))),
    ("cvt.i.l", l(false, 3.0), 0, Ok(8)),
    ("cvt.i.l", l(true, 0.0), 0, Ok(i(-1))),
    ("cvt.i.l", l(false, -1.0), 0, Ok(0)),
    ("cvt.i.l", L_ZERO, 0, Ok(0)),
    ("cvt.i.l", l(true, 63.0), 0, Ok(i(MIN))),
    ("cvt.i.l", l(false, 63.0), 0, Err(Fault::Range)),
    ("cvt.i.l", L_BAD, 0, Err(Fault::BadLog)),
    ("cvt.i.f", f(2.75), 0, Ok(2)),
    ("cvt.i.f", f(-2.25), 0, Ok(i(-3))),
    ("cvt.i.f", f(-0.0), 0, Ok(0)),
    ("cvt.i.f", f(9.3e18), 0, Err(Fault::Range)),
    ("cvt.i.f", f(f64::NAN), 0, Err(Fault::NotFinite)),
    (".q", q(1.5), 0, Ok(q(1.5))),
    ("mul.q", q(1.5), q(-2.5), Ok(q(-3.75))),
    ("mul.q", 1, 1, Ok(0)),
    ("mul.q", i(-1), 1, Ok(i(-1))),
    ("mul.q", q(65536.0), q(32768.0), Ok(q(-2147483648.0))),
    ("div.q", q(1.0), q(4.0), Ok(q(0.25))),
    ("div.q", q(-1.0), q(3.0), Ok(i(-0x5555_5555))),
    ("div.q", q(1.0), 0, Err(Fault::DivideByZero)),
    ("div.q", q(2147483647.0), q(0.5), Err(Fault::Range)),
    ("cvt.q.i", i(-3), 0, Ok(q(-3.0))),
    ("cvt.q.i", i(1 << 31), 0, Err(Fault::Range)),
    ("cvt.q.l", l(true, -2.0), 0, Ok(q(-0.25))),
    ("cvt.q.l", l(false, -33.0), 0, Ok(0)),
    ("cvt.q.l", L_ZERO, 0, Ok(0)),
    ("cvt.q.l", l(false, 31.0), 0, Err(Fault::Range)),
    ("cvt.q.f", f(-1.25), 0, Ok(q(-1.25))),
    ("cvt.q.f", f(1.5 / 4294967296.0), 0, Ok(2)),
    ("cvt.q.f", f(2.5 / 4294967296.0), 0, Ok(2)),
    ("cvt.q.f", f(1e10), 0, Err(Fault::Range)),
    (".l", l(true, 2.5), 0, Ok(l(true, 2.5))),
    ("mul.l", l(true, 2.5), l(false, 0.5), Ok(l(true, 3.0))),
    ("mul.l", l(true, 1.0), l(true, -4.0), Ok(l(false, -3.0))),
    ("mul.l", l(true, 1.0), L_ZERO, Ok(L_ZERO)),
    ("mul.l", l(false, 1000.0), l(false, 24.0), Err(Fault::Range)),
    ("mul.l", L_BAD, 0, Err(Fault::BadLog)),
    ("div.l", l(true, 2.5), l(false, 0.5), Ok(l(true, 2.0))),
    ("div.l", L_ZERO, l(true, 1.0), Ok(L_ZERO)),
    ("div.l", l(true, 1.0), L_ZERO, Err(Fault::DivideByZero)),
    ("cvt.l.i", 1024, 0, Ok(l(false, 10.0))),
    ("cvt.l.i", i(-1), 0, Ok(l(true, 0.0))),
    ("cvt.l.i", 0, 0, Ok(L_ZERO)),
    ("cvt.l.i", 3, 0, Ok(0x0019_5c01_a39f_bd68)),
    ("cvt.l.q", q(-0.25), 0, Ok(l(true, -2.0))),
    ("cvt.l.q", 0, 0, Ok(L_ZERO)),
    ("cvt.l.q", 1, 0, Ok(l(false, -32.0))),
    ("cvt.l.f", f(-0.125), 0, Ok(l(true, -3.0))),
    ("cvt.l.f", f(-0.0), 0, Ok(L_ZERO)),
    ("cvt.l.f", f(5e-324), 0, Err(Fault::Range)),
    ("cvt.l.f", f(f64::INFINITY), 0, Err(Fault::NotFinite)),
    (".f", f(1.5), 0, Ok(f(1.5))),
    ("mul.f", f(1.5), f(-3.0), Ok(f(-4.5))),
    ("mul.f", f(1e300), f(1e300), Err(Fault::NotFinite)),
    ("mul.f", f(f64::NAN), f(1.0), Err(Fault::NotFinite)),
    ("div.f", f(1.0), f(-4.0), Ok(f(-0.25))),
    ("div.f", f(1.0), f(-0.0), Err(Fault::DivideByZero)),
    ("div.f", f(0.0), f(0.0), Err(Fault::DivideByZero)),
    ("cvt.f.i", i(-3), 0, Ok(f(-3.0))),
    ("cvt.f.i", (1 << 53) + 1, 0, Ok(f(9007199254740992.0))),
    ("cvt.f.q", q(-1.25), 0, Ok(f(-1.25))),
    ("cvt.f.q", 1, 0, Ok(f(1.0 / 4294967296.0))),
    ("cvt.f.l", l(true, -3.0), 0, Ok(f(-0.125))),
    ("cvt.f.l", L_ZERO, 0, Ok(f(0.0))),
    ("cvt.f.l", L_BAD, 0, Err(Fault::BadLog)),
];

/// What another way of computing says.
#[derive(Clone, Copy, Debug)]
enum Oracle {
    Exactly(Want),
    /// The logarithm in units of 2^-52 and the sign; within 2^-40 of it.
    Log(bool, f64),
    /// A number of the type, within 2^-45 of its size and a unit in the last place.
    Near(f64),
}

fn checked<T: TryFrom<i128>>(x: i128, word: impl Fn(T) -> u64) -> Oracle {
    Oracle::Exactly(T::try_from(x).map(word).map_err(|_| Fault::Range))
}

fn fixed_oracle<F: LeEqU64>(name: &str, a: u64, b: u64) -> Oracle {
    let (x, y) = (FixedI64::<F>::from_bits(a as i64), FixedI64::<F>::from_bits(b as i64));
    Oracle::Exactly(match name {
        "mul.q" => Ok(x.wrapping_mul(y).to_bits() as u64),
        "div.q" if b == 0 => Err(Fault::DivideByZero),
        "div.q" => x.checked_div(y).map(|z| z.to_bits() as u64).ok_or(Fault::Range),
        "cvt.i.q" => Ok(x.floor_to_i64()),
        _ => FixedI64::<F>::checked_from_num(a as i64).map(|z| z.to_bits() as u64).ok_or(Fault::Range),
    })
}

trait FloorToInteger {
    fn floor_to_i64(self) -> u64;
}

impl<F: LeEqU64> FloorToInteger for FixedI64<F> {
    fn floor_to_i64(self) -> u64 {
        self.wrapping_floor().wrapping_to_num::<i64>() as u64
    }
}

/// Sign and logarithm of a `.l` word that is neither zero nor invalid.
fn log_of(a: u64) -> (bool, i128) {
    (a >> 63 == 1, i128::from((a << 1).cast_signed() >> 1))
}

fn log_word(sign: bool, log: i128) -> Want {
    if log.abs() < 1 << 62 {
        Ok((log as i64).cast_unsigned() & (u64::MAX >> 1) | u64::from(sign) << 63)
    } else {
        Err(Fault::Range)
    }
}

fn finite(x: f64) -> Oracle {
    Oracle::Exactly(if x.is_finite() { Ok(x.to_bits()) } else { Err(Fault::NotFinite) })
}

/// The function's value, computed in another way; `None` for a function unknown here.
fn oracle(name: &str, a: u64, b: u64, format: Format) -> Option<Oracle> {
    let (x, y) = (i128::from(a.cast_signed()), i128::from(b.cast_signed()));
    let (u, v) = (f64::from_bits(a), f64::from_bits(b));
    let wrapped = |z: i128| Oracle::Exactly(Ok(z as u64));
    let unit = 2f64.powi(-(format.frac() as i32));
    let divided = |f: fn(i128, i128) -> i128| {
        if b == 0 { Oracle::Exactly(Err(Fault::DivideByZero)) } else { wrapped(f(x, y)) }
    };
    let floor_div = |x: i128, y: i128| {
        let q = x / y;
        if x % y != 0 && (x < 0) != (y < 0) { q - 1 } else { q }
    };
    let bits = |f: fn(bool, bool) -> bool| {
        let z = (0..64).filter(|k| f(a >> k & 1 == 1, b >> k & 1 == 1)).fold(0u64, |z, k| z | 1 << k);
        Oracle::Exactly(Ok(z))
    };
    let n = (b % 64) as u32;
    let of_log = |scale: f64| {
        if a == L_BAD {
            return Oracle::Exactly(Err(Fault::BadLog));
        }
        if a == L_ZERO {
            return Oracle::Exactly(Ok(0));
        }
        let (sign, log) = log_of(a);
        let size = (log as f64 * 2f64.powi(-52)).exp2() * scale;
        Oracle::Near(if sign { -size } else { size })
    };
    let to_log = |x: f64| {
        if x == 0.0 { Oracle::Exactly(Ok(L_ZERO)) } else { Oracle::Log(x < 0.0, x.abs().log2()) }
    };
    Some(match name {
        "" | ".q" | ".l" | ".f" => Oracle::Exactly(Ok(a)),
        "mul" => wrapped(x.wrapping_mul(y)),
        "quot" => divided(|x, y| x / y),
        "rem" => divided(|x, y| x % y),
        "div" if b != 0 => wrapped(floor_div(x, y)),
        "mod" if b != 0 => wrapped(x - y * floor_div(x, y)),
        "div" | "mod" => Oracle::Exactly(Err(Fault::DivideByZero)),
        "and" => bits(|p, q| p && q),
        "or" => bits(|p, q| p || q),
        "nor" => bits(|p, q| !p && !q),
        "shl" => wrapped(x << n),
        "shr" => wrapped((i128::from(a)) >> n),
        "sar" => wrapped(x.div_euclid(1 << n)),
        "lt" => wrapped(i128::from(x < y)),
        "ltu" => wrapped(i128::from(a < b)),
        "eq" => wrapped(i128::from(a ^ b == 0)),
        "min" => wrapped(x.min(y)),
        "max" => wrapped(x.max(y)),
        "cvt.i.q" | "mul.q" | "div.q" | "cvt.q.i" => match format {
            Format::Q32_32 => fixed_oracle::<U32>(name, a, b),
            Format::Q21_43 => fixed_oracle::<U43>(name, a, b),
            Format::Q16_48 => fixed_oracle::<U48>(name, a, b),
        },
        "cvt.i.f" | "cvt.q.f" if !u.is_finite() => Oracle::Exactly(Err(Fault::NotFinite)),
        "cvt.i.f" | "cvt.q.f" => {
            // Scaling by a power of two is exact here: where it is not, the result is 0 or out of range.
            let z = if name == "cvt.i.f" { u.floor() } else { (u / unit).round_ties_even() };
            let inside = (-9223372036854775808.0..9223372036854775808.0).contains(&z);
            checked::<i64>(if inside { z as i128 } else { i128::MAX }, |z| z.cast_unsigned())
        }
        "cvt.i.l" => of_log(1.0),
        "cvt.q.l" => of_log(unit.recip()),
        "cvt.f.l" => of_log(1.0),
        "mul.l" | "div.l" if a == L_BAD || b == L_BAD => Oracle::Exactly(Err(Fault::BadLog)),
        "div.l" if b == L_ZERO => Oracle::Exactly(Err(Fault::DivideByZero)),
        "mul.l" | "div.l" if a == L_ZERO || b == L_ZERO => Oracle::Exactly(Ok(L_ZERO)),
        "mul.l" | "div.l" => {
            let ((s, x), (t, y)) = (log_of(a), log_of(b));
            Oracle::Exactly(log_word(s != t, if name == "mul.l" { x + y } else { x - y }))
        }
        "cvt.l.i" => to_log(x as f64),
        "cvt.l.q" => to_log(x as f64 * unit),
        "cvt.l.f" if !u.is_finite() => Oracle::Exactly(Err(Fault::NotFinite)),
        "cvt.l.f" if u != 0.0 && u.abs() <= 2f64.powi(-1023) / 2.0 => Oracle::Exactly(Err(Fault::Range)),
        // The logarithm of a subnormal number, by one that is not.
        "cvt.l.f" if u != 0.0 && u.abs() < 1.0 => Oracle::Log(u < 0.0, (u.abs() * 2f64.powi(100)).log2() - 100.0),
        "cvt.l.f" => to_log(u),
        "mul.f" | "div.f" if !u.is_finite() || !v.is_finite() => Oracle::Exactly(Err(Fault::NotFinite)),
        "div.f" if v == 0.0 => Oracle::Exactly(Err(Fault::DivideByZero)),
        "mul.f" => finite(u * v),
        "div.f" => finite(u / v),
        "cvt.f.i" => finite(a.cast_signed() as f64),
        "cvt.f.q" => finite(a.cast_signed() as f64 * unit),
        _ => return None,
    })
}

impl Oracle {
    /// Whether the function's value agrees.
    fn accepts(self, got: Want, ty: Ty) -> bool {
        match self {
            Oracle::Exactly(want) => got == want,
            Oracle::Log(sign, log) => got.is_ok_and(|w| {
                let (s, x) = log_of(w);
                s == sign && (x as f64 * 2f64.powi(-52) - log).abs() < 2f64.powi(-40)
            }),
            Oracle::Near(x) if ty == Ty::F => got.is_ok_and(|w| {
                let y = f64::from_bits(w);
                // Where the oracle overflows, the largest double is meant.
                let x = x.clamp(f64::MIN, f64::MAX);
                (x - y).abs() <= x.abs() * 2f64.powi(-40) + 5e-324
            }),
            Oracle::Near(x) => {
                let slack = x.abs() * 2f64.powi(-40) + 0.51;
                match got {
                    Ok(w) => (w.cast_signed() as f64 - x).abs() <= slack,
                    Err(fault) => fault == Fault::Range && x.abs() + slack >= 9223372036854775807.0,
                }
            }
        }
    }
}

/// What the accumulator makes of `y` and the function's value.
fn accumulated(acc: Acc, inverse: bool, ty: Ty, y: u64, x: u64) -> Want {
    match (acc, ty) {
        (Acc::Xor, _) => Ok(y ^ x),
        (Acc::Add, Ty::Int | Ty::Q) => {
            let (y, x) = (i128::from(y), i128::from(x));
            Ok((if inverse { y - x } else { y + x }) as u64)
        }
        (Acc::Add, Ty::F) => {
            let (y, x) = (f64::from_bits(y), f64::from_bits(x));
            let z = if inverse { y - x } else { y + x };
            let ok = y.is_finite() && x.is_finite() && z.is_finite();
            if ok { Ok(z.to_bits()) } else { Err(Fault::NotFinite) }
        }
        (Acc::Mul, _) if y == L_BAD || x == L_BAD => Err(Fault::BadLog),
        (Acc::Mul, _) if x == L_ZERO => Err(Fault::LogZero),
        (Acc::Mul, _) if y == L_ZERO => Ok(L_ZERO),
        (Acc::Mul, _) => {
            let ((s, y), (t, x)) = (log_of(y), log_of(x));
            log_word(s != t, if inverse { y - x } else { y + x })
        }
        (Acc::Add, Ty::L) => panic!("no such accumulator"),
    }
}

/// An accumulate of a shape, with operands in r1 (or [r11+r12+offset]), r2, r3; `None` if the constant is refused.
fn shaped(acc: Acc, inverse: bool, func: Func, shape: Shape, a: u64, b: u64, offset: i64) -> Option<Inst> {
    let ty = func.info().from;
    let letters = format!("{shape:?}");
    let plain = letters.contains('I');
    let operands: Vec<Operand> = letters
        .chars()
        .zip([(1, 0), (2, a), (3, b)])
        .map(|(letter, (n, constant))| match letter {
            'R' => reg(n),
            'I' => Operand::Imm(constant, ty),
            _ => mem(11, 12, if plain { 0 } else { offset }),
        })
        .collect();
    let family = Kind::Accumulate { acc, inverse, func, shape };
    match Inst::build(family, &operands) {
        Ok(inst) => {
            assert_eq!(inst.kind, family);
            Some(inst)
        }
        Err(pendula_isa::OperandError::ZeroFactor { .. }) => None,
        Err(e) => panic!("{family:?} {operands:?}: {e}"),
    }
}

/// Runs `y ⊕= f(a, b)` in one shape; gives y, or the fault.
#[derive(Clone, Copy, Debug)]
struct Accumulate {
    acc: Acc,
    inverse: bool,
    func: Func,
    shape: Shape,
    format: Format,
    y: u64,
    a: u64,
    b: u64,
}

impl Accumulate {
    fn run(self, s: &mut Source) -> Option<Want> {
        const WORDS: u64 = 8;
        let Accumulate { acc, inverse, func, shape, format, y, a, b } = self;
        let offset = s.between(-20, 20);
        let inst = shaped(acc, inverse, func, shape, a, b, offset)?;
        let mut module = between([inst]);
        module.flags.format = format;
        let program = program(module);
        let mut m = machine(&program, WORDS);
        let (index, at) = (word(s), s.below(WORDS));
        let offset = if format!("{shape:?}").contains('I') { 0 } else { offset };
        m.set_register(r(12), index);
        m.set_register(r(11), at.wrapping_sub(index).wrapping_sub(offset.cast_unsigned()));
        let words = [y, a, b];
        let mut dest_in_memory = false;
        for (n, letter) in format!("{shape:?}").chars().enumerate() {
            match letter {
                'R' => m.set_register(r(n as u8 + 1), words[n]),
                'M' => {
                    m.memory_mut()[at as usize] = words[n];
                    dest_in_memory |= n == 0;
                }
                _ => {}
            }
        }
        let before = State::of(&m);
        let outcome = m.run(None);
        let got = if dest_in_memory { m.memory()[at as usize] } else { m.registers()[1] };
        let mut after = State::of(&m);
        *(if dest_in_memory { &mut after.mem[at as usize] } else { &mut after.regs[1] }) = y;
        assert_eq!(after, before, "{self:?} changed more than its destination");
        Some(match outcome {
            Outcome::Finished => Ok(got),
            Outcome::Trap(trap) => {
                assert_eq!(got, y);
                Err(trap.fault)
            }
            Outcome::Limit => unreachable!(),
        })
    }
}

/// Every accumulator and shape for a function.
fn variants(func: Func) -> impl Iterator<Item = (Acc, bool, Shape)> {
    let info = func.info();
    let accs = Acc::ALL.into_iter().filter(|acc| acc.accepts(info.ty));
    accs.flat_map(|acc| [false, true].into_iter().filter(move |b| !(*b && acc.self_inverse())).map(move |b| (acc, b)))
        .flat_map(move |(acc, inverse)| {
            let shapes = Shape::ALL.into_iter().filter(|shape| shape.arity() == info.args.len());
            shapes.map(move |shape| (acc, inverse, shape))
        })
}

/// A destination on which the accumulate should succeed, and others.
fn destinations(ty: Ty) -> [u64; 4] {
    match ty {
        Ty::Int => [0, 5, u64::MAX, 1 << 63],
        Ty::Q => [0, q(1.0), q(-2.5), 1 << 63],
        Ty::L => [0, l(true, 1.5), L_ZERO, L_BAD],
        Ty::F => [0, f(-0.75), f(1e300), f(f64::INFINITY)],
    }
}

#[test]
fn functions_have_the_values_worked_out_by_hand() {
    let mut s = Source::seeded(21);
    for (name, a, b, want) in FUNCTIONS {
        let found = Func::ALL.iter().find(|func| name_of(func.info()) == *name);
        let func = *found.unwrap_or_else(|| panic!("no function `{name}`"));
        let ty = func.info().ty;
        for (acc, inverse, shape) in variants(func) {
            for y in destinations(ty) {
                let one = Accumulate { acc, inverse, func, shape, format: Format::Q32_32, y, a: *a, b: *b };
                let want = want.and_then(|x| accumulated(acc, inverse, ty, y, x));
                if let Some(got) = one.run(&mut s) {
                    assert_eq!(got, want, "{one:x?}");
                }
            }
        }
    }
}

/// The literal values agree with the other way of computing: neither stands alone.
#[test]
fn hand_and_oracle_agree() {
    for (name, a, b, want) in FUNCTIONS {
        let Some(oracle) = oracle(name, *a, *b, Format::Q32_32) else { panic!("no oracle for `{name}`") };
        let ty = Func::ALL.iter().find(|func| name_of(func.info()) == *name).unwrap().info().ty;
        assert!(oracle.accepts(*want, ty), "{name} {a:#x} {b:#x}: {want:x?} / {oracle:?}");
    }
}

/// Says which functions have no value here. They have tests beside their implementation, and those over all rows.
#[test]
fn what_is_covered() {
    let here: BTreeSet<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
    let all: BTreeSet<String> = Func::ALL.iter().map(|func| name_of(func.info())).collect();
    let without: Vec<&String> = all.iter().filter(|name| !here.contains(name.as_str())).collect();
    if !without.is_empty() {
        println!("functions without a value in this file: {without:?}");
    }
    assert!(here.iter().all(|name| all.contains(*name)));
}

#[test]
fn functions_agree_with_another_way_of_computing_them() {
    for (n, func) in Func::ALL.iter().enumerate() {
        let info = func.info();
        let name = name_of(info);
        let all: Vec<(Acc, bool, Shape)> = variants(*func).collect();
        let mut s = Source::seeded(100 + n as u64);
        let mut ran = 0;
        for _ in 0..6_000 {
            let format = if info.ty == Ty::Q || info.from == Ty::Q { s.pick(&Format::ALL) } else { Format::Q32_32 };
            let [a, b, y] = [info.from, info.from, info.ty].map(|ty| match s.below(3) {
                0 => number(ty, format, &mut s),
                _ => word(&mut s),
            });
            let Some(oracle) = oracle(&name, a, b, format) else { break };
            // The value itself, as what `xor` leaves on 0.
            let shape = if info.args.len() == 1 { Shape::RR } else { Shape::RRR };
            let plain = Accumulate { acc: Acc::Xor, inverse: false, func: *func, shape, format, y: 0, a, b };
            let Some(value) = plain.run(&mut s) else { panic!("registers are never refused") };
            assert!(
                oracle.accepts(value, info.ty),
                "{name}({a:#x}, {b:#x}) = {value:x?}, not {oracle:x?} ({format:?})"
            );
            let (acc, inverse, shape) = s.pick(&all);
            let one = Accumulate { acc, inverse, shape, y, ..plain };
            if let Some(got) = one.run(&mut s) {
                assert_eq!(got, value.and_then(|x| accumulated(acc, inverse, info.ty, y, x)), "{one:x?}");
            }
            ran += usize::from(value.is_ok());
        }
        assert!(ran == 0 || ran > 1_000, "{name}: {ran}");
    }
}

/// A row: mnemonic, operands; r1…r4 before and after, or the fault.
type Case = (&'static str, Vec<Operand>, [u64; 4], Result<[u64; 4], Fault>);

fn rows() -> Vec<Case> {
    let two = || vec![reg(1), reg(2)];
    let one = || vec![reg(1)];
    let four = || vec![reg(1), reg(2), reg(3), reg(4)];
    let factors = |num, den| vec![reg(1), reg(2), imm(num), imm(den)];
    let tolerance = |x| vec![reg(1), Operand::Imm(f(x), Ty::F)];
    let bad = Fault::FactorOverflow;
    vec![
        ("swap", two(), [1, 2, 3, 4], Ok([2, 1, 3, 4])),
        ("neg", one(), [5, 0, 0, 0], Ok([i(-5), 0, 0, 0])),
        ("neg", one(), [1 << 63, 0, 0, 0], Ok([1 << 63, 0, 0, 0])),
        ("neg.q", one(), [q(1.5), 0, 0, 0], Ok([q(-1.5), 0, 0, 0])),
        ("neg.q", one(), [1 << 63, 0, 0, 0], Ok([1 << 63, 0, 0, 0])),
        ("neg.l", one(), [l(false, -2.5), 0, 0, 0], Ok([l(true, -2.5), 0, 0, 0])),
        ("neg.l", one(), [L_ZERO, 0, 0, 0], Ok([L_ZERO, 0, 0, 0])),
        ("neg.l", one(), [L_BAD, 0, 0, 0], Err(Fault::BadLog)),
        ("neg.f", one(), [f(0.0), 0, 0, 0], Ok([f(-0.0), 0, 0, 0])),
        ("neg.f", one(), [f(f64::INFINITY), 0, 0, 0], Ok([f(f64::NEG_INFINITY), 0, 0, 0])),
        ("not", one(), [0xff, 0, 0, 0], Ok([!0xff, 0, 0, 0])),
        ("rol", vec![reg(1), imm(4)], [0xf000_0000_0000_0001, 0, 0, 0], Ok([0x1f, 0, 0, 0])),
        ("ror", vec![reg(1), imm(4)], [0x1f, 0, 0, 0], Ok([0xf000_0000_0000_0001, 0, 0, 0])),
        ("rol", two(), [1, 65, 0, 0], Ok([2, 65, 0, 0])),
        ("ror", two(), [1, u64::MAX, 0, 0], Ok([2, u64::MAX, 0, 0])),
        ("inc", one(), [u64::MAX, 0, 0, 0], Ok([0, 0, 0, 0])),
        ("dec", one(), [0, 0, 0, 0], Ok([u64::MAX, 0, 0, 0])),
        // 1000 · 9/10: nothing is left over. 1003: the 3 goes to the buffer, and its remainder by 9 comes back.
        ("rmul", factors(9, 10), [1000, 0, 0, 0], Ok([900, 0, 0, 0])),
        ("rmul", factors(9, 10), [1003, 0, 0, 0], Ok([903, 0, 0, 0])),
        ("rmul", factors(9, 10), [1009, 1, 0, 0], Ok([901, 2, 0, 0])),
        ("rdiv", factors(9, 10), [901, 2, 0, 0], Ok([1009, 1, 0, 0])),
        ("rmul", factors(1, 2), [i(-7), 0, 0, 0], Ok([i(-4), 1, 0, 0])),
        ("rdiv", factors(1, 2), [i(-4), 1, 0, 0], Ok([i(-7), 0, 0, 0])),
        ("rmul", four(), [7, i(-1), 3, 2], Ok([11, i(-1), 3, 2])),
        ("rmul", four(), [7, 0, 0, 2], Err(Fault::BadFactor)),
        ("rdiv", four(), [7, 0, 3, i(-1)], Err(Fault::BadFactor)),
        ("rmul", factors(2, 1), [1 << 62, 0, 0, 0], Err(bad)),
        ("rmul", factors(1, 2), [1, 1 << 62, 0, 0], Err(bad)),
        ("assert.eq", two(), [5, 5, 0, 0], Ok([5, 5, 0, 0])),
        ("assert.eq", two(), [5, 6, 0, 0], Err(Fault::Assert)),
        ("assert.lt", vec![reg(1), imm(0)], [i(-1), 0, 0, 0], Ok([i(-1), 0, 0, 0])),
        ("assert.ltu", vec![reg(1), imm(0)], [i(-1), 0, 0, 0], Err(Fault::Assert)),
        ("assert.gt.l", two(), [l(true, 1.0), l(true, 2.0), 0, 0], Ok([l(true, 1.0), l(true, 2.0), 0, 0])),
        ("assert.ge.l", two(), [L_ZERO, L_BAD, 0, 0], Err(Fault::BadLog)),
        ("assert.eq.f", two(), [f(0.0), f(-0.0), 0, 0], Ok([f(0.0), f(-0.0), 0, 0])),
        ("assert.ne.f", two(), [f(f64::NAN), f(1.0), 0, 0], Err(Fault::NotFinite)),
        ("zero", one(), [0; 4], Ok([0; 4])),
        ("zero", one(), [1, 0, 0, 0], Err(Fault::NotZero)),
        ("zero.f", one(), [f(-0.0), 0, 0, 0], Ok([0; 4])),
        ("zero.f", one(), [f(1e-300), 0, 0, 0], Err(Fault::NotZero)),
        ("zero.f", tolerance(1e-9), [f(-1e-9), 0, 0, 0], Ok([0; 4])),
        ("zero.f", tolerance(1e-9), [f(1.1e-9), 0, 0, 0], Err(Fault::NotZero)),
        ("show", one(), [7, 0, 0, 0], Ok([7, 0, 0, 0])),
        ("show.f", one(), [f(f64::NAN), 0, 0, 0], Ok([f(f64::NAN), 0, 0, 0])),
        ("print", vec![Operand::Text(0)], [1, 2, 3, 4], Ok([1, 2, 3, 4])),
    ]
}

fn set(m: &mut Machine, words: [u64; 4]) {
    for (n, w) in words.into_iter().enumerate() {
        m.set_register(r(n as u8 + 1), w);
    }
}

#[test]
fn rows_do_what_was_worked_out_by_hand() {
    for (mnemonic, operands, before, want) in rows() {
        let mut module = between([inst(mnemonic, &operands)]);
        module.texts.push(String::new());
        let program = program(module);
        let mut m = machine(&program, 8);
        set(&mut m, before);
        let state = State::of(&m);
        let outcome = m.run(None);
        let mut expected = state.clone();
        match want {
            Ok(after) => {
                assert_eq!(outcome, Outcome::Finished, "{mnemonic} {before:x?}");
                expected.regs[1..5].copy_from_slice(&after);
            }
            Err(fault) => assert!(
                matches!(&outcome, Outcome::Trap(t) if t.fault == fault && t.at == 1),
                "{mnemonic} {before:x?}: {outcome:?}"
            ),
        }
        assert_eq!(State::of(&m), expected, "{mnemonic} {before:x?}");
    }
}

#[test]
fn every_row_is_in_a_test_of_values() {
    let mut here: BTreeSet<String> = rows().iter().map(|(name, ..)| name.to_string()).collect();
    // In tests of their own, below or in `rows.rs`.
    here.extend(
        ["exch", "push", "pop", "emit", "unemit", "read", "unread", "erase", "show.q", "show.l"].map(String::from),
    );
    for family in families().filter(|k| k.flow() == Flow::Straight) {
        let Kind::Row { row, .. } = family else { continue };
        let name = family.mnemonic();
        // Conditions are tested together.
        assert!(row == Row::Assert || here.contains(&name), "`{name}` has no value worked out by hand");
    }
}

#[test]
fn every_condition_on_every_type() {
    let words = |ty| -> [u64; 3] {
        // Ascending.
        match ty {
            Ty::Int => [i(-5), 0, 7],
            Ty::Q => [q(-0.5), 0, q(0.25)],
            Ty::L => [l(true, -3.0), L_ZERO, l(false, -3.0)],
            Ty::F => [f(-1e300), f(-0.0), f(5e-324)],
        }
    };
    for ty in Ty::ALL {
        for cond in Cond::TESTS.into_iter().filter(|c| c.accepts(ty)) {
            let kind = Kind::Row { row: Row::Assert, inverse: false, ty, cond, form: false };
            for (p, a) in words(ty).into_iter().enumerate() {
                for (k, b) in words(ty).into_iter().enumerate() {
                    // As unsigned, the negative number is the largest.
                    let (x, y) = if cond.name().ends_with('u') { ((p + 2) % 3, (k + 2) % 3) } else { (p, k) };
                    let holds = match cond.name() {
                        "eq" => x == y,
                        "ne" => x != y,
                        "lt" | "ltu" => x < y,
                        "le" => x <= y,
                        "gt" => x > y,
                        "ge" | "geu" => x >= y,
                        other => panic!("{other}"),
                    };
                    for second in [reg(2), Operand::Imm(b, ty)] {
                        let program = program(between([Inst::build(kind, &[reg(1), second]).unwrap()]));
                        for direction in [Direction::Forward, Direction::Backward] {
                            let mut m = machine(&program, 8);
                            set(&mut m, [a, b, 0, 0]);
                            m.begin(direction);
                            let outcome = m.run(None);
                            let held = match &outcome {
                                Outcome::Finished => true,
                                Outcome::Trap(t) if t.fault == Fault::Assert => false,
                                other => panic!("{other:?}"),
                            };
                            assert_eq!(held, holds, "{} {a:#x} {b:#x}", kind.mnemonic());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn scaling_is_exact() {
    let mut s = Source::seeded(31);
    let mut ran = 0;
    for n in 0..20_000 {
        let constant = n % 2 == 0;
        let most = if constant { 16383 } else { MAX };
        let [num, den] = [0, 1].map(|_| match s.below(3) {
            0 => s.between(1, 20),
            1 => s.between(1, 16383),
            _ => s.between(1, most),
        });
        let [x, buf] = [0, 1].map(|_| (word(&mut s).cast_signed() >> s.below(60)).cast_unsigned());
        let inverse = s.once_in(2);
        let name = if inverse { "rdiv" } else { "rmul" };
        let program = program(between([if constant {
            inst(name, &[reg(1), reg(2), imm(num), imm(den)])
        } else {
            inst(name, &[reg(1), reg(2), reg(3), reg(4)])
        }]));
        let mut m = machine(&program, 8);
        set(&mut m, [x, buf, i(num), i(den)]);
        let (n, d) = if inverse { (den, num) } else { (num, den) };
        let (n, d) = (i128::from(n), i128::from(d));
        // The design's formula, in integers of 128 bits.
        let (x_, b_) = (i128::from(x.cast_signed()), i128::from(buf.cast_signed()));
        let b1 = b_ * d + x_.rem_euclid(d);
        let (x1, b2) = (x_.div_euclid(d) * n + b1.rem_euclid(n), b1.div_euclid(n));
        let outcome = m.run(None);
        match (i64::try_from(x1), i64::try_from(b2)) {
            (Ok(x1), Ok(b2)) => {
                assert_eq!(outcome, Outcome::Finished);
                assert_eq!(m.registers()[1..3], [i(x1), i(b2)]);
                ran += 1;
            }
            _ => assert!(matches!(outcome, Outcome::Trap(t) if t.fault == Fault::FactorOverflow)),
        }
    }
    assert!(ran > 5_000, "{ran}");
}

#[test]
fn memory_and_stack() {
    let code = between([
        inst("exch", &[reg(1), mem(2, 3, -4)]),
        inst("push", &[reg(1)]),
        inst("push", &[reg(4)]),
        inst("pop", &[reg(1)]),
    ]);
    let program = program(code);
    let mut m = machine(&program, 8);
    set(&mut m, [11, 3, 2, 44]);
    m.memory_mut()[1] = 99;
    m.set_register(Reg::SP, 4);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.registers()[1..5], [44, 3, 2, 0]);
    assert_eq!(m.memory(), [0, 11, 0, 0, 99, 0, 0, 0]);
    assert_eq!(m.registers()[31], 5);

    // The ends of the memory.
    for (name, sp, r1, fault) in [
        ("push", 8, 5, Fault::Memory),
        ("push", u64::MAX, 5, Fault::Memory),
        ("push", 3, 5, Fault::PushOnto),
        ("pop", 0, 0, Fault::Memory),
        ("pop", 9, 0, Fault::Memory),
        ("pop", 4, 1, Fault::PopInto),
    ] {
        let program = common::program(between([inst(name, &[reg(1)])]));
        let mut m = machine(&program, 8);
        m.memory_mut()[3] = 1;
        m.set_register(r(1), r1);
        m.set_register(Reg::SP, sp);
        let before = m.digest();
        let outcome = m.run(None);
        assert!(matches!(&outcome, Outcome::Trap(t) if t.fault == fault), "{name} {sp}: {outcome:?}");
        assert_eq!(m.digest(), before);
    }
    for (base, index, offset, inside) in [
        (0, 0, 0, true),
        (0, 0, 7, true),
        (0, 0, 8, false),
        (0, 0, -1, false),
        (5, 2, 0, true),
        (5, 3, 0, false),
        (u64::MAX, 1, 0, true),
        (u64::MAX, 9, -8, true),
        (1 << 63, 1 << 63, 3, true),
        (1 << 32, 0, 0, false),
        (1 << 61, 0, 0, false),
    ] {
        for (name, operands) in [
            ("exch", vec![reg(1), mem(2, 3, offset)]),
            ("add", vec![reg(1), mem(2, 3, offset)]),
            ("add", vec![mem(2, 3, offset), reg(1)]),
            ("addmul", vec![reg(1), mem(2, 3, offset), reg(4)]),
        ] {
            let program = common::program(between([inst(name, &operands)]));
            let mut m = machine(&program, 8);
            set(&mut m, [1, base, index, 1]);
            let outcome = m.run(None);
            assert_eq!(outcome == Outcome::Finished, inside, "{name} {base:#x} {index:#x} {offset}");
            assert!(inside || matches!(outcome, Outcome::Trap(t) if t.fault == Fault::Memory));
        }
    }
}

#[test]
fn tapes() {
    let code = between([
        inst("emit", &[reg(1)]),
        inst("read", &[reg(2)]),
        inst("emit", &[reg(2)]),
        inst("unread", &[reg(3)]),
        inst("unemit", &[reg(4)]),
    ]);
    let program = program(code);
    let mut m = machine(&program, 8);
    set(&mut m, [7, 0b0110, 1, 0]);
    m.set_input(vec![0b1010, 5], 0);
    let before = m.digest();
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.registers()[1..5], [0, 0, 1 ^ 0b1010, 0b1100]);
    assert_eq!((m.output(), m.words_read()), (&[7][..], 0));
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.digest(), before);

    for (name, r1, output, input, read, fault) in [
        ("unemit", 0, 0, 0, 0, Fault::NoOutput),
        ("unemit", 1, 1, 0, 0, Fault::UnemitInto),
        ("emit", 1, 8, 0, 0, Fault::TapeFull),
        ("read", 0, 0, 0, 0, Fault::NoInput),
        ("read", 0, 0, 3, 3, Fault::NoInput),
        ("unread", 0, 0, 3, 0, Fault::NothingRead),
    ] {
        let program = common::program(between([inst(name, &[reg(1)])]));
        let mut m = machine(&program, 8);
        m.set_register(r(1), r1);
        m.set_output(vec![3; output]);
        m.set_input(vec![4; input], read);
        let before = m.digest();
        let outcome = m.run(None);
        assert!(matches!(&outcome, Outcome::Trap(t) if t.fault == fault), "{name}: {outcome:?}");
        assert_eq!(m.digest(), before);
    }
}

#[test]
fn what_a_program_shows_it_shows_running_forward() {
    let mut module = between([
        inst("print", &[Operand::Text(1)]),
        inst("show", &[reg(1)]),
        inst("show.q", &[reg(2)]),
        inst("show.l", &[reg(3)]),
        inst("show.f", &[reg(4)]),
    ]);
    module.texts = vec!["a".to_string(), "b".to_string()];
    let program = program(module);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let mut m = machine(&program, 8);
    set(&mut m, [1, 2, 3, 4]);
    m.on_event(move |event| sink.lock().unwrap().push(event));
    assert_eq!(m.run(None), Outcome::Finished);
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    let expected =
        [Event::Print(1), Event::Show(Ty::Int, 1), Event::Show(Ty::Q, 2), Event::Show(Ty::L, 3), Event::Show(Ty::F, 4)];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn overflow_is_noted_or_traps() {
    let big = q(2147483647.0);
    let cases: [(&str, Vec<Operand>, [u64; 4], bool); 7] = [
        ("add.q", vec![reg(1), reg(2)], [big, q(1.0), 0, 0], true),
        ("sub.q", vec![reg(1), reg(2)], [1 << 63, 1, 0, 0], true),
        ("addmul.q", vec![reg(1), reg(2), reg(3)], [0, big, q(2.0), 0], true),
        ("neg.q", vec![reg(1)], [1 << 63, 0, 0, 0], true),
        ("add.q", vec![reg(1), reg(2)], [big, q(0.5), 0, 0], false),
        ("xor.q", vec![reg(1), reg(2)], [big, u64::MAX, 0, 0], false),
        ("add", vec![reg(1), reg(2)], [1 << 63, 1 << 63, 0, 0], false),
    ];
    for (name, operands, words, overflows) in cases {
        let program = program(between([inst("inc", &[reg(9)]), inst(name, &operands)]));
        for direction in [Direction::Forward, Direction::Backward] {
            for trap_overflow in [false, true] {
                let config = Config { mem: Some(8), trap_overflow, ..Config::default() };
                let mut m = Machine::new(&program, &config).unwrap();
                set(&mut m, words);
                if direction == Direction::Backward {
                    // What the forward run would leave.
                    m.run(None);
                    if trap_overflow && overflows {
                        continue;
                    }
                    m.begin(direction);
                }
                let before = m.digest();
                let outcome = m.run(None);
                if overflows && trap_overflow {
                    assert!(matches!(&outcome, Outcome::Trap(t) if t.fault == Fault::FixedOverflow && t.at == 2));
                    assert_eq!(m.registers()[1..5], words, "{name}");
                    assert_ne!(m.digest(), before, "`inc` has run");
                } else {
                    assert_eq!(outcome, Outcome::Finished, "{name}");
                    assert_eq!(m.flags().overflow, overflows.then_some(2), "{name} {direction:?}");
                }
            }
        }
    }
}

#[test]
fn infinities_travel_only_when_asked() {
    let program = program(between([inst("add.f", &[reg(1), reg(2)]), inst("xormul.f", &[reg(3), reg(1), reg(2)])]));
    let words = [f(1.7e308), f(1.7e308), 0, 0];
    for ieee in [false, true] {
        let mut m = Machine::new(&program, &Config { mem: Some(8), ieee, ..Config::default() }).unwrap();
        set(&mut m, words);
        let outcome = m.run(None);
        if ieee {
            assert_eq!(outcome, Outcome::Finished);
            assert_eq!(m.registers()[1..4], [f(f64::INFINITY), words[1], f(f64::INFINITY)]);
        } else {
            assert!(matches!(outcome, Outcome::Trap(t) if t.fault == Fault::NotFinite && t.at == 1));
            assert_eq!(m.registers()[1..5], words);
        }
    }
}
