//! Functions, in every accumulate instruction that has them: their values are
//! in the modules of the types.

use std::collections::BTreeSet;

use pendula_isa::Fault;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::num::Format;
use pendula_isa::operand::{Operand, Shape};
use pendula_isa::sample::{Source, number, share, word};
use pendula_isa::table::{FunctionInfo, TableFn};
use pendula_isa::types::{Acc, Ty};
use pendula_vm::Outcome;

use crate::common::{State, between, machine, mem, program, r, reg};
use crate::semantics::logarithms::{log_of, log_word};
use crate::semantics::oracle::Oracle;
use crate::semantics::{L_BAD, L_ZERO, Value, Want, doubles, f, fixed_point, integers, l, logarithms, q};

/// A function's name in mnemonics, without the accumulator: `quot`, `mul.q`, `cvt.i.f`.
pub(crate) fn name_of(info: &FunctionInfo) -> String {
    let shape = Shape::of_registers(info.args.len());
    let family = Kind::Accumulate { acc: Acc::Xor, inverse: false, func: info.func, shape };
    family.mnemonic()["xor".len()..].to_string()
}

/// The result of the accumulator on `y` and the function's value.
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

/// An accumulate of a shape, with operands in r1 (or [r11+r12+offset]), r2, r3, r4; `None` if the constant is rejected.
fn shaped(acc: Acc, inverse: bool, func: TableFn, shape: Shape, x: [u64; 3], offset: i64) -> Option<Inst> {
    let args = func.info().args;
    let letters = format!("{shape:?}");
    let plain = letters.contains('I');
    let operands: Vec<Operand> = letters
        .chars()
        .zip(1..)
        .map(|(letter, n)| match letter {
            'R' => reg(n),
            'I' => Operand::Imm(x[n as usize - 2], args[n as usize - 2].ty),
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

/// Runs `y ⊕= f(a, b)` in one shape; returns y, or the fault.
#[derive(Clone, Copy, Debug)]
struct Accumulate {
    acc: Acc,
    inverse: bool,
    func: TableFn,
    shape: Shape,
    format: Format,
    y: u64,
    x: [u64; 3],
}

impl Accumulate {
    fn run(self, s: &mut Source) -> Option<Want> {
        const WORDS: u64 = 8;
        let Accumulate { acc, inverse, func, shape, format, y, x } = self;
        let offset = s.between(-20, 20);
        let inst = shaped(acc, inverse, func, shape, x, offset)?;
        let mut module = between([inst]);
        module.flags.format = format;
        let program = program(module);
        let mut m = machine(&program, WORDS);
        let (index, at) = (word(s), s.below(WORDS));
        let offset = if format!("{shape:?}").contains('I') { 0 } else { offset };
        m.set_register(r(12), index);
        m.set_register(r(11), at.wrapping_sub(index).wrapping_sub(offset.cast_unsigned()));
        let words = [y, x[0], x[1], x[2]];
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
fn variants(func: TableFn) -> impl Iterator<Item = (Acc, bool, Shape)> {
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

/// The function with this name.
pub(crate) fn named(name: &str) -> TableFn {
    let found = TableFn::ALL.iter().find(|func| name_of(func.info()) == name);
    *found.unwrap_or_else(|| panic!("no function `{name}`"))
}

fn values() -> impl Iterator<Item = &'static Value> {
    [integers::VALUES, fixed_point::VALUES, logarithms::VALUES, doubles::VALUES].into_iter().flatten()
}

fn padded(arguments: &[u64]) -> [u64; 3] {
    let mut x = [0; 3];
    x[..arguments.len()].copy_from_slice(arguments);
    x
}

/// The function's value, computed in another way.
fn oracle(name: &str, x: [u64; 3], format: Format) -> Oracle {
    let oracle = match named(name).info().ty {
        Ty::Int => integers::oracle(name, x, format),
        Ty::Q => fixed_point::oracle(name, x, format),
        Ty::L => logarithms::oracle(name, x, format),
        Ty::F => doubles::oracle(name, x, format),
    };
    oracle.unwrap_or_else(|| panic!("no oracle for `{name}`"))
}

/// The value itself: the result of `xor` on 0.
fn plain(func: TableFn, format: Format, x: [u64; 3], s: &mut Source) -> Want {
    let shape = Shape::of_registers(func.info().args.len());
    let plain = Accumulate { acc: Acc::Xor, inverse: false, func, shape, format, y: 0, x };
    plain.run(s).expect("registers are never refused")
}

/// Checks every accumulator and shape on every destination; `value` is the function's value.
fn check_value(func: TableFn, x: [u64; 3], value: Want, s: &mut Source) {
    let ty = func.info().ty;
    for (acc, inverse, shape) in variants(func) {
        for y in destinations(ty) {
            let one = Accumulate { acc, inverse, func, shape, format: Format::Q32_32, y, x };
            if let Some(got) = one.run(s) {
                assert_eq!(got, value.and_then(|v| accumulated(acc, inverse, ty, y, v)), "{one:x?}");
            }
        }
    }
}

#[test]
fn functions_have_the_values_worked_out_by_hand() {
    let mut s = Source::seeded(21);
    for (name, arguments, want) in values() {
        let func = named(name);
        assert_eq!(arguments.len(), func.info().args.len(), "{name}");
        assert_eq!(plain(func, Format::Q32_32, padded(arguments), &mut s), *want, "{name} {arguments:x?}");
        check_value(func, padded(arguments), *want, &mut s);
    }
}

#[test]
fn doubles_have_the_values_of_tables() {
    let mut s = Source::seeded(22);
    for (name, arguments, want) in doubles::NEAR {
        let func = named(name);
        assert_eq!(arguments.len(), func.info().args.len(), "{name}");
        let x = padded(arguments);
        let value = plain(func, Format::Q32_32, x, &mut s).unwrap_or_else(|fault| panic!("{name} {x:x?}: {fault:?}"));
        let got = f64::from_bits(value);
        assert!([want.next_down(), *want, want.next_up()].contains(&got), "{name} {x:x?}: {got:e}, not {want:e}");
        check_value(func, x, Ok(value), &mut s);
    }
}

/// The literal values agree with the oracle.
#[test]
fn hand_and_oracle_agree() {
    let near = doubles::NEAR.iter().map(|(name, arguments, want)| (*name, *arguments, Ok(want.to_bits())));
    for (name, arguments, want) in values().copied().chain(near) {
        let oracle = oracle(name, padded(arguments), Format::Q32_32);
        assert!(oracle.accepts(want, named(name).info().ty), "{name} {arguments:x?}: {want:x?} / {oracle:x?}");
    }
}

#[test]
fn every_function_has_a_value() {
    let near = doubles::NEAR.iter().map(|(name, ..)| *name);
    let here: BTreeSet<&str> = values().map(|(name, ..)| *name).chain(near).collect();
    for func in TableFn::ALL {
        let name = name_of(func.info());
        assert!(here.contains(name.as_str()), "`{name}` has no value worked out by hand");
    }
}

#[test]
fn functions_agree_with_another_way_of_computing_them() {
    for (n, func) in TableFn::ALL.iter().enumerate() {
        let info = func.info();
        let name = name_of(info);
        let all: Vec<(Acc, bool, Shape)> = variants(*func).collect();
        let has_fixed = info.ty == Ty::Q || info.args.iter().any(|a| a.ty == Ty::Q);
        let mut s = Source::seeded(100 + n as u64);
        let mut ran = 0;
        for _ in 0..share(6_000) {
            let format = if has_fixed { s.pick(&Format::ALL) } else { Format::Q32_32 };
            let mut operand = |ty: Ty| match s.below(3) {
                0 => number(ty, format, &mut s),
                _ => word(&mut s),
            };
            let y = operand(info.ty);
            let mut x = [0; 3];
            x.iter_mut().zip(info.args).for_each(|(x, arg)| *x = operand(arg.ty));
            let oracle = oracle(&name, x, format);
            let value = plain(*func, format, x, &mut s);
            assert!(oracle.accepts(value, info.ty), "{name}({x:x?}) = {value:x?}, not {oracle:x?} ({format:?})");
            let (acc, inverse, shape) = s.pick(&all);
            let one = Accumulate { acc, inverse, func: *func, shape, format, y, x };
            if let Some(got) = one.run(&mut s) {
                assert_eq!(got, value.and_then(|v| accumulated(acc, inverse, info.ty, y, v)), "{one:x?}");
            }
            ran += usize::from(value.is_ok());
        }
        // Few random words are orders that it has.
        let least = share(if name == "polygamma.f" { 500 } else { 1_000 });
        assert!(ran > least, "{name}: {ran}");
    }
}
