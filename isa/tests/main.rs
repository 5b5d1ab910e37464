//! What must hold of every row of the table, whatever it means: encoding,
//! inverses, mnemonics, partial derivatives. What the rows do to a machine is
//! tested in `pendula-vm`.

use pendula_isa::calculus::{Calculus, Constant, Dual};
use pendula_isa::encode::{DecodeError, Pool, decode, encode, from_opcode, opcode};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::{ALIASES, families, lookup};
use pendula_isa::num::{Env, Format, log};
use pendula_isa::operand::{Operand, Shape, Slot};
use pendula_isa::sample::{Source, instruction, number};
use pendula_isa::scalar::ScalarDomain;
use pendula_isa::table::{self, ARITY, Function, FunctionVisitor, Row, TableFn};
use pendula_isa::types::{Acc, Profile, Reg, Ty};

/// Random instructions of each family.
const SAMPLES: usize = 2_000;

fn each_instruction(mut check: impl FnMut(Kind, Inst, &mut Source)) {
    for (n, family) in families().enumerate() {
        let mut s = Source::seeded(n as u64);
        for _ in 0..SAMPLES {
            let inst = instruction(family, &mut s);
            check(family, inst, &mut s);
        }
    }
}

/// The family of a kind: its smallest shape or form.
fn family_of(kind: Kind) -> Kind {
    match kind {
        Kind::Accumulate { acc, inverse, func, shape } => {
            let shape = Shape::of_registers(shape.arity());
            Kind::Accumulate { acc, inverse, func, shape }
        }
        Kind::Row { row, inverse, ty, cond, .. } => Kind::Row { row, inverse, ty, cond, form: false },
    }
}

#[test]
fn samples_are_valid_and_reach_every_shape_and_form() {
    use std::collections::BTreeMap;
    let mut kinds: BTreeMap<u16, usize> = BTreeMap::new();
    each_instruction(|family, inst, _| {
        assert_eq!(inst.validate(Profile::Native), Ok(()), "{inst:?}");
        assert_eq!(family_of(inst.kind), family);
        *kinds.entry(opcode(inst.kind, false)).or_default() += 1;
    });
    // Every opcode that decodes is reached, pooled or not.
    for code in 0..=u16::MAX {
        if let Some((kind, _)) = from_opcode(code) {
            assert!(kinds.get(&opcode(kind, false)).is_some_and(|n| *n > 50), "{kind:?}");
        }
    }
}

#[test]
fn decoding_undoes_encoding() {
    let mut pool = Pool::default();
    let mut words = Vec::new();
    each_instruction(|_, inst, _| words.push((inst, encode(&inst, &mut pool))));
    for (inst, word) in words {
        assert_eq!(decode(word, pool.words(), Profile::Native), Ok(inst), "{word:#018x}");
    }
}

/// Words put together by hand from the table of bits in `encode`: objects that exist stay readable.
#[test]
fn words_are_what_they_have_always_been() {
    let r = |n| Operand::Reg(Reg::new(n).unwrap());
    let k = |word: i64| Operand::Imm(word.cast_unsigned(), Ty::Int);
    let m =
        |base, index, offset| Operand::Mem { base: Reg::new(base).unwrap(), index: Reg::new(index).unwrap(), offset };
    let low28 = |x: i64| (x & 0xfff_ffff).cast_unsigned() << 36;
    let regs = |a: u64, b: u64, c: u64, d: u64| a << 16 | b << 21 | c << 26 | d << 31;
    let cases: Vec<(&str, Vec<Operand>, u64)> = vec![
        ("add", vec![r(1), r(2)], 0x0041_0000),
        ("subdiv", vec![m(1, 2, 5), r(3), r(4)], 0xc081 | regs(1, 2, 3, 4) | low28(5)),
        ("addmul", vec![r(1), m(2, 0, 5), r(3)], 0x9020 | regs(1, 2, 0, 3) | low28(5)),
        ("addmul", vec![r(1), r(2), m(3, 4, -5)], 0x8020 | regs(1, 2, 3, 4) | low28(-5)),
        ("add", vec![m(1, 2, 0), k(9)], 0x4000 | regs(1, 2, 0, 0) | low28(9)),
        ("xor.q", vec![r(5), k(-1)], 0x100a | regs(5, 0, 0, 0) | low28(-1)),
        ("mulmul.l", vec![r(1), r(2), k(1 << 40)], 0x6834 | regs(1, 2, 0, 0)),
        ("subcvt.f.i", vec![r(1), r(31)], 0x0219 | regs(1, 31, 0, 0)),
        ("exch", vec![r(1), m(2, 3, -4)], 0x0026 | regs(1, 2, 3, 0) | low28(-4)),
        ("neg.f", vec![r(9)], 0x005e | regs(9, 0, 0, 0)),
        ("rol", vec![r(3), k(7)], 0x0886 | regs(3, 0, 0, 0) | low28(7)),
        ("ror", vec![r(3), r(4)], 0x0087 | regs(3, 4, 0, 0)),
        ("rmul", vec![r(1), r(2), k(9), k(10)], 0x08c6 | regs(1, 2, 0, 0) | low28(9 | 10 << 14)),
        ("pop", vec![r(4)], 0x00e7 | regs(4, 0, 0, 0)),
        ("assert.ge.l", vec![r(4), k(0)], 0x6916 | regs(4, 0, 0, 0)),
        ("print", vec![Operand::Text(3)], 0x01c6 | low28(3)),
        ("start", vec![], 0x0406),
        ("finish", vec![], 0x0407),
        ("jmp", vec![Operand::Label(3)], 0x0426 | low28(3)),
        ("jmp.ltu", vec![r(1), Operand::Small(-3), Operand::Label(10)], 0x7c26 | 1 << 16 | 0x7ffd << 21 | low28(10)),
        ("from.eq.f", vec![r(1), r(2), Operand::Label(-1)], 0x143f | regs(1, 2, 0, 0) | low28(-1)),
        ("ret", vec![Operand::Label(-9)], 0x0447 | low28(-9)),
        ("uncall", vec![Operand::Label(2)], 0x0467 | low28(2)),
        ("callr", vec![r(30)], 0x0486 | regs(30, 0, 0, 0)),
        ("addmuladd.q", vec![r(1), r(2), r(3), r(4)], 0xf068 | regs(1, 2, 3, 4)),
        ("subpowi.q", vec![r(1), r(2), k(-2)], 0x60c9 | regs(1, 2, 0, 0) | low28(-2)),
        ("addlog.q.l", vec![r(1), r(2)], 0x0268 | regs(1, 2, 0, 0)),
        ("divpow.l", vec![r(1), r(2), r(3)], 0x5095 | regs(1, 2, 3, 0)),
        ("xoratan.f", vec![r(1), r(2)], 0x029a | regs(1, 2, 0, 0)),
        ("rot.q", vec![r(1), r(2), r(3)], 0x020e | regs(1, 2, 3, 0)),
        ("irot.f", vec![r(1), r(2), k(3)], 0x0a1f | regs(1, 2, 0, 0)),
        ("addplus", vec![r(1), r(2), r(3)], 0x5280 | regs(1, 2, 3, 0)),
        ("subminus.q", vec![r(1), r(2), r(3)], 0x5429 | regs(1, 2, 3, 0)),
        ("addplus.f", vec![r(1), r(2), r(3)], 0x5418 | regs(1, 2, 3, 0)),
        ("addlt.i.q", vec![r(1), r(2), r(3)], 0x52c0 | regs(1, 2, 3, 0)),
        ("gswap", vec![r(1), m(2, 0, 5)], 0x0a26 | regs(1, 2, 0, 0) | low28(5)),
        ("guncall", vec![Operand::Label(2)], 0x04a7 | low28(2)),
    ];
    for (mnemonic, operands, word) in cases {
        let mut pool = Pool::default();
        let inst = Inst::build(lookup(mnemonic).unwrap(), &operands).unwrap_or_else(|e| panic!("{mnemonic}: {e}"));
        let got = encode(&inst, &mut pool);
        assert_eq!(got, word, "{mnemonic}: {got:#018x}, not {word:#018x}");
    }
}

#[test]
fn constants_stand_in_the_word_where_they_fit() {
    each_instruction(|_, inst, _| {
        let mut pool = Pool::default();
        encode(&inst, &mut pool);
        let accumulate = matches!(inst.kind, Kind::Accumulate { .. });
        let constant = inst.operands().find_map(|(_, o)| match o {
            Operand::Imm(w, _) => Some(w.cast_signed()),
            _ => None,
        });
        let rotation = matches!(inst.kind, Kind::Row { row: Row::Rol | Row::Rol32, .. });
        let pooled = constant.is_some_and(|k| !(rotation || accumulate && (-(1 << 27)..1 << 27).contains(&k)));
        assert_eq!(!pool.words().is_empty(), pooled, "{inst:?}");
    });
}

#[test]
fn operands_build_the_instruction_again() {
    each_instruction(|family, inst, _| {
        let operands: Vec<Operand> = inst.operands().map(|(_, o)| o).collect();
        assert_eq!(Inst::build(family, &operands), Ok(inst), "{inst:?}");
    });
}

#[test]
fn an_inverse_is_one_bit_away_and_undone_by_itself() {
    let mut pool = Pool::default();
    each_instruction(|_, inst, _| {
        let inverse = inst.inverse();
        assert_eq!(inverse.inverse(), inst);
        assert_eq!(inverse.validate(Profile::Native), Ok(()), "{inverse:?}");
        let own = match inst.kind {
            Kind::Accumulate { acc, .. } => acc == Acc::Xor,
            Kind::Row { row, .. } => row.info().partner.is_none(),
        };
        let (word, back) = (encode(&inst, &mut pool), encode(&inverse, &mut pool));
        assert_eq!(word ^ back, u64::from(!own), "{inst:?}");
        assert_eq!(own, inst.kind == inverse.kind);
        assert_eq!((inst.regs, inst.imm, inst.small), (inverse.regs, inverse.imm, inverse.small));
    });
}

#[test]
fn every_opcode_is_one_kind_or_none() {
    let mut kinds = std::collections::HashSet::new();
    let mut families_met = std::collections::HashSet::new();
    for code in 0..=u16::MAX {
        let Some((kind, pooled)) = from_opcode(code) else { continue };
        assert_eq!(opcode(kind, pooled), code, "{kind:?}");
        assert!(kinds.insert((kind, pooled)), "{kind:?} has two opcodes");
        assert_eq!(lookup(&kind.mnemonic()), Some(family_of(kind)), "{kind:?}");
        families_met.insert(family_of(kind));
        if pooled {
            assert!(kind.layout().contains(&Slot::Imm), "{kind:?}");
        }
    }
    for family in families() {
        assert!(families_met.contains(&family), "no opcode for {}", family.mnemonic());
    }
    assert_eq!(families_met.len(), families().count());
}

/// What [`decode`] may do with a word: reject it, or give an instruction that only this word stands for.
fn check_word(word: u64, pool: &[u64], accepted: &mut usize) {
    let inst = match decode(word, pool, Profile::Native) {
        Ok(inst) => inst,
        Err(DecodeError::Opcode(code)) => {
            assert_eq!(u64::from(code), word & 0xffff);
            return;
        }
        Err(DecodeError::Pool(_) | DecodeError::Operand(_) | DecodeError::NotCanonical { .. }) => return,
    };
    *accepted += 1;
    // The instruction that an assembler makes of the operands, which has nothing in its unused fields.
    let operands: Vec<Operand> = inst.operands().map(|(_, o)| o).collect();
    let built = Inst::build(family_of(inst.kind), &operands).unwrap_or_else(|e| panic!("{word:#018x} {inst:?}: {e}"));
    assert_eq!(built, inst, "{word:#018x} was accepted with something in its unused fields");
    let mut own = Pool::default();
    let mut again = encode(&inst, &mut own);
    if let [constant] = own.words() {
        let index = word >> 36;
        assert_eq!(pool[index as usize], *constant);
        again |= index << 36;
    }
    assert_eq!(again, word, "{inst:?}");
}

#[test]
fn words_decode_to_what_encodes_to_them() {
    let mut s = Source::seeded(1);
    let pool: Vec<u64> = (0..200).map(|_| pendula_isa::sample::word(&mut s)).collect();
    let mut accepted = 0;
    for _ in 0..2_000_000 {
        check_word(s.word(), &pool, &mut accepted);
    }
    // Words with an opcode that exists, and few other bits.
    let codes: Vec<u16> = (0..=u16::MAX).filter(|c| from_opcode(*c).is_some()).collect();
    for &code in &codes {
        for n in 0..500 {
            let rest = match n % 5 {
                0 => s.word(),
                1 => s.word() & s.word() & s.word(),
                2 => s.word() & 0xffff_fff0_001f_0000,
                3 => s.below(256) << 36 | s.word() & 0xf_ffff_0000,
                _ => s.word() & s.word() & 0xff_f0_00_ff_ff_ff_00_00,
            };
            check_word(rest & !0xffff | u64::from(code), &pool, &mut accepted);
        }
    }
    assert!(accepted > 100_000, "{accepted}");
}

#[test]
fn one_bit_more_or_less_is_another_instruction_or_none() {
    let mut accepted = 0;
    for (n, family) in families().enumerate() {
        let mut s = Source::seeded(n as u64);
        for _ in 0..50 {
            let mut pool = Pool::default();
            let inst = instruction(family, &mut s);
            let word = encode(&inst, &mut pool);
            // A pool has no word twice.
            let mut words = pool.words().to_vec();
            words.extend([3, 1 << 40].into_iter().filter(|w| !pool.words().contains(w)));
            for bit in 0..64 {
                check_word(word ^ 1 << bit, &words, &mut accepted);
                if let Ok(other) = decode(word ^ 1 << bit, &words, Profile::Native) {
                    assert_ne!(other, inst, "bit {bit} of {word:#018x} means nothing");
                }
            }
        }
    }
    assert!(accepted > 100_000, "{accepted}");
}

#[test]
fn mnemonics_are_found_again() {
    for family in families() {
        assert_eq!(lookup(&family.mnemonic()), Some(family));
        assert_eq!(lookup(&family.inverse().mnemonic()), Some(family.inverse()));
    }
    for (alias, name) in ALIASES {
        assert_eq!(lookup(alias), lookup(name), "{alias}");
        assert!(lookup(alias).is_some(), "{alias}");
    }
    assert_eq!(lookup(""), None);
    assert_eq!(lookup("ADD"), None, "only lower case");
}

/// The numbers of a type as doubles: for `.l`, the logarithms of magnitudes.
#[derive(Clone, Copy)]
struct Reading {
    ty: Ty,
    format: Format,
}

impl Reading {
    fn word(self, x: f64, negative: bool) -> u64 {
        match self.ty {
            Ty::F => x.to_bits(),
            Ty::Q => ((x / self.unit()).round() as i64).cast_unsigned(),
            Ty::L => ((x / self.unit()).round() as i64).cast_unsigned() & (u64::MAX >> 1) | u64::from(negative) << 63,
            Ty::Int => (x as i64).cast_unsigned(),
        }
    }

    /// `None` for a logarithmic zero.
    fn number(self, word: u64) -> Option<f64> {
        match self.ty {
            Ty::F => Some(f64::from_bits(word)),
            Ty::Q => Some(word.cast_signed() as f64 * self.unit()),
            Ty::L => (word != log::ZERO).then(|| ((word << 1).cast_signed() >> 1) as f64 * self.unit()),
            Ty::Int => Some(word.cast_signed() as f64),
        }
    }

    /// The number that a word has room for.
    fn nearest(self, x: f64) -> f64 {
        self.number(self.word(x, false)).unwrap_or(x)
    }

    fn unit(self) -> f64 {
        match self.ty {
            Ty::Q => 2f64.powi(-(self.format.frac() as i32)),
            Ty::L => 2f64.powi(-52) * std::f64::consts::LN_2,
            Ty::F | Ty::Int => 1.0,
        }
    }

    /// What a number about `x` may be off by, when it has been rounded or read as a double.
    fn noise(self, x: f64) -> f64 {
        match self.ty {
            Ty::Q => self.unit() + x.abs() * f64::EPSILON,
            Ty::L => 2f64.powi(-48) + x.abs() * f64::EPSILON,
            Ty::F | Ty::Int => x.abs() * f64::EPSILON,
        }
    }

    /// A point at which a function may be asked for its derivative: mostly moderate, sometimes whole.
    fn sample(self, s: &mut Source) -> f64 {
        let size = s.pick(if self.ty == Ty::L { &[0.25, 1.0, 4.0, 12.0] } else { &[0.25, 1.0, 4.0, 100.0] });
        let x = ((s.word() >> 11) as f64 * 2f64.powi(-53) * 2.0 - 1.0) * size;
        // Exactly representable, so that differences are of what was asked for.
        self.nearest(if self.ty == Ty::Int || s.once_in(8) { x.round() } else { x })
    }
}

/// Which derivatives are compared with differences.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Those of a function, with differences of its values.
    First,
    /// Those of its partial derivatives, computed with dual numbers, with differences of these.
    Second,
}

/// Compares derivatives with finite differences; gives how many points could be compared.
struct Differences<'a, 'b> {
    format: Format,
    order: Order,
    s: &'a mut Source<'b>,
}

/// The words of a point.
fn words(readings: &[Reading; ARITY], x: [f64; ARITY], negative: [bool; ARITY]) -> [u64; ARITY] {
    [0, 1, 2].map(|n| readings[n].word(x[n], negative[n]))
}

/// The value, unless it wrapped; with it, a partial derivative if one is asked for.
fn evaluate<F: Function>(format: Format, x: [u64; ARITY], partial: Option<usize>) -> Option<u64> {
    let mut scalar = ScalarDomain::new(Env { format, ieee: false });
    let y = F::value(&mut scalar, x).ok()?;
    let out = match partial {
        None => y,
        Some(n) => F::partial(&mut scalar, n, x, y).ok()?,
    };
    (!scalar.overflowed).then_some(out)
}

/// The derivative of partial derivative `n` along argument `m`, by dual numbers.
fn second<F: Function>(format: Format, x: [u64; ARITY], n: usize, m: usize) -> Option<u64> {
    let mut scalar = ScalarDomain::new(Env { format, ieee: false });
    let along = F::INFO.args[m].ty.gradient()?;
    let one = Constant::ONE.word(scalar.env, along);
    let dual = [0, 1, 2].map(|k| [x[k], if k == m { one } else { 0 }]);
    let mut calculus = Dual(&mut scalar);
    let y = calculus.apply::<F>(dual).ok()?;
    let [_, tangent] = F::partial(&mut calculus, n, dual, y).ok()?;
    (!scalar.overflowed).then_some(tangent)
}

impl FunctionVisitor for Differences<'_, '_> {
    type Out = usize;

    fn visit<F: Function>(self) -> usize {
        let Differences { format, order, s } = self;
        let of = |ty| Reading { ty, format };
        let info = F::INFO;
        let readings = [0, 1, 2].map(|n| of(info.args.get(n).map_or(Ty::Int, |a| a.ty)));
        let calculus = of(info.calculus());
        let differentiable = 0..info.partials;
        let cases: Vec<(Option<usize>, usize)> = match order {
            Order::First => differentiable.map(|m| (None, m)).collect(),
            Order::Second => {
                differentiable.clone().flat_map(|n| differentiable.clone().map(move |m| (Some(n), m))).collect()
            }
        };
        let mut compared = 0;
        for _ in 0..4_000 {
            let x = readings.map(|r| r.sample(s));
            let negative = readings.map(|r| r.ty == Ty::L && s.once_in(2));
            let here = words(&readings, x, negative);
            let mut partials = Vec::new();
            for n in 0..info.partials {
                partials.extend(evaluate::<F>(format, here, Some(n)).and_then(|p| calculus.number(p)));
            }
            if partials.len() < info.partials {
                continue;
            }
            for &(n, m) in &cases {
                let output = if n.is_some() { calculus } else { of(info.ty) };
                let at = |x| evaluate::<F>(format, words(&readings, x, negative), n).and_then(|y| output.number(y));
                let Some(y) = at(x) else { continue };
                let slope = |h: f64| {
                    let (mut up, mut down) = (x, x);
                    up[m] = readings[m].nearest(x[m] + h);
                    down[m] = readings[m].nearest(x[m] - h);
                    Some((at(up)? - at(down)?) / (up[m] - down[m]))
                };
                let h = (x[m].abs() * 2f64.powi(-8)).max(2f64.powi(-9));
                // Where the sides disagree, this is a kink, and the table says which side it takes.
                let side = |h: f64| {
                    let mut there = x;
                    there[m] = readings[m].nearest(x[m] + h);
                    Some((at(there)? - y) / (there[m] - x[m]))
                };
                let (Some(left), Some(right)) = (side(-h), side(h)) else { continue };
                if (left - right).abs() > 0.25 * (left.abs() + right.abs()).max(1.0) {
                    continue;
                }
                let (Some(wide), Some(narrow)) = (slope(h), slope(h / 2.0)) else { continue };
                let slope = (4.0 * narrow - wide) / 3.0;
                // What computing a derivative from rounded numbers may lose: the steeper, the more.
                let spread = 1.0 + y.abs() + slope * slope + partials.iter().map(|p| p * p).sum::<f64>();
                let loss = 4.0 * calculus.noise(1.0) * if n.is_some() { spread * spread } else { spread };
                // What cancelling leaves of the rounding of values.
                let rounding = if n.is_some() { 4.0 * calculus.noise(1.0) * spread } else { output.noise(y) };
                let bound = 4.0 * (narrow - wide).abs() + 16.0 * rounding / h + loss + 1e-9 * slope.abs();
                // Where two widths disagree, a kink or a pole is near.
                if bound > 1e-3 * (slope.abs() + 1.0) {
                    continue;
                }
                let found = match n {
                    None => Some(partials[m]),
                    Some(n) => second::<F>(format, here, n, m).and_then(|t| calculus.number(t)),
                };
                let Some(found) = found else { continue };
                assert!(
                    (found - slope).abs() <= bound,
                    "{:?} {n:?} at {x:?} {negative:?} in {format:?}: ∂/∂{} is {found}, differences give {slope} ± {bound}",
                    info.func,
                    info.args[m].name
                );
                compared += 1;
            }
        }
        compared
    }
}

/// Functions without derivatives although they are of real numbers: steps.
const STEPS: [&str; 2] = ["sign", "floor"];

fn compare_with_differences(order: Order, least: usize) {
    let mut met = 0;
    for func in TableFn::ALL {
        let info = func.info();
        if info.partials == 0 {
            let discrete = info.ty == Ty::Int || info.from == Ty::Int || STEPS.contains(&info.name);
            assert!(discrete, "{func:?} has no partial derivatives");
            continue;
        }
        let real = info.args.iter().filter(|a| a.ty != Ty::Int).count();
        assert_eq!(info.partials, real, "{func:?}: one for each argument that is a real number, and those first");
        let formats: &[Format] =
            if info.args.iter().any(|a| a.ty != Ty::F) || info.ty != Ty::F { &Format::ALL } else { &[Format::Q32_32] };
        for &format in formats {
            let mut s = Source::seeded(met);
            let compared = func.visit(Differences { format, order, s: &mut s });
            assert!(compared > least, "{func:?} {format:?}: only {compared} points");
        }
        met += 1;
    }
    assert!(met > 60, "{met}");
}

#[test]
fn partial_derivatives_agree_with_differences() {
    compare_with_differences(Order::First, 300);
}

/// The partial derivatives over dual numbers are derivatives of the partial derivatives.
#[test]
fn second_derivatives_agree_with_differences_of_the_first() {
    compare_with_differences(Order::Second, 300);
}

/// Runs an accumulate and its partner.
struct ThereAndBack {
    acc: Acc,
    inverse: bool,
    operands: [u64; 4],
}

impl FunctionVisitor for ThereAndBack {
    type Out = bool;

    fn visit<F: Function>(self) -> bool {
        let mut scalar = ScalarDomain::new(Env::default());
        scalar.operands = self.operands;
        if table::run_accumulate::<_, F>(&mut scalar, self.acc, self.inverse).is_err() {
            assert_eq!(scalar.operands, self.operands, "{:?} failed and wrote", F::INFO.func);
            return false;
        }
        let back = !self.inverse && !self.acc.self_inverse();
        assert_eq!(table::run_accumulate::<_, F>(&mut scalar, self.acc, back), Ok(()), "{:?}", F::INFO.func);
        assert_eq!(scalar.operands, self.operands, "{:?}", F::INFO.func);
        true
    }
}

/// Any word; half of them numbers of the operand's type.
fn operand(family: &Kind, n: usize, s: &mut Source) -> u64 {
    let ty = if n == 0 { family.constant_type(0) } else { family.constant_type(n) };
    if s.once_in(2) { number(ty, Format::default(), s) } else { pendula_isa::sample::word(s) }
}

/// The meaning of an accumulate needs no machine: any other implementation of `Domain` reverses as well.
#[test]
fn accumulates_reverse_in_another_domain() {
    for family in families() {
        let Kind::Accumulate { acc, inverse, func, .. } = family else { continue };
        if func.info().ty == Ty::F && acc == Acc::Add {
            // Exact up to rounding only: `pendula-vm` measures by how much.
            continue;
        }
        let mut s = Source::seeded(9);
        let mut ran = 0;
        for _ in 0..2_000 {
            let operands = [0, 1, 2, 3].map(|n: usize| operand(&family, n, &mut s));
            ran += usize::from(func.visit(ThereAndBack { acc, inverse, operands }));
        }
        assert!(ran > 100, "{}: {ran}", family.mnemonic());
    }
}

#[test]
fn a_source_of_bytes_runs_out_into_zeros() {
    let mut s = Source::bytes(&[7, 1, 2]);
    assert_eq!(s.below(10), 7);
    assert!(!s.is_empty());
    assert_eq!(s.word(), 0x0201);
    assert!(s.is_empty());
    assert_eq!((s.word(), s.below(1000), s.between(-3, 3), s.once_in(2)), (0, 0, -3, false));
    assert_eq!(Source::seeded(5).word(), Source::seeded(5).word());
    for family in families() {
        assert_eq!(instruction(family, &mut Source::bytes(&[])).validate(Profile::Native), Ok(()));
        assert_eq!(instruction(family, &mut Source::bytes(&[1, 255, 3])).validate(Profile::Native), Ok(()));
    }
}

#[test]
fn registers_are_thirty_two() {
    assert_eq!((0..=255).filter_map(Reg::new).count(), Reg::COUNT);
}
