//! What must hold of every row of the table, whatever it means: encoding,
//! inverses, mnemonics, partial derivatives. What the rows do to a machine is
//! tested in `pendula-vm`.

use pendula_isa::Fault;
use pendula_isa::domain::Domain;
use pendula_isa::encode::{DecodeError, Pool, decode, encode, from_opcode, opcode};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::{ALIASES, families, lookup};
use pendula_isa::num::{Env, Format, Word};
use pendula_isa::operand::{Operand, Shape, Slot};
use pendula_isa::sample::{Source, instruction};
use pendula_isa::table::{self, Func, Function, FunctionVisitor, Row};
use pendula_isa::types::{Acc, Cond, Reg, Ty};

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
            let shape = if shape.arity() == 1 { Shape::RR } else { Shape::RRR };
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
        assert_eq!(inst.validate(), Ok(()), "{inst:?}");
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
        assert_eq!(decode(word, pool.words()), Ok(inst), "{word:#018x}");
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
        let rotation = matches!(inst.kind, Kind::Row { row: Row::Rol, .. });
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
        assert_eq!(inverse.validate(), Ok(()), "{inverse:?}");
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
    let inst = match decode(word, pool) {
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
                if let Ok(other) = decode(word ^ 1 << bit, &words) {
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

/// A machine without memory, tapes or stack: three operands. It is what a row's value can be asked of outside `pendula-vm`.
struct Desk {
    env: Env,
    operands: [u64; 3],
    overflowed: bool,
}

impl Desk {
    fn new(format: Format) -> Desk {
        Desk { env: Env { format, ieee: false }, operands: [0; 3], overflowed: false }
    }
}

impl Domain for Desk {
    type V = u64;
    type Stop = Fault;

    fn operand(&mut self, n: usize) -> Word {
        Ok(self.operands[n])
    }
    fn set(&mut self, n: usize, v: u64) -> Result<(), Fault> {
        self.operands[n] = v;
        Ok(())
    }
    fn load(&mut self, _: u64) -> Word {
        Err(Fault::Memory)
    }
    fn store(&mut self, _: u64, _: u64) -> Result<(), Fault> {
        Err(Fault::Memory)
    }
    fn sp(&mut self) -> u64 {
        0
    }
    fn set_sp(&mut self, _: u64) {}
    fn env(&self) -> Env {
        self.env
    }
    fn word(&mut self, k: u64) -> u64 {
        k
    }
    fn add(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    fn sub(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
    fn mul(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_mul(b)
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
        !a
    }
    fn shl(&mut self, a: u64, n: u64) -> u64 {
        a.wrapping_shl(n as u32)
    }
    fn shr(&mut self, a: u64, n: u64) -> u64 {
        a.wrapping_shr(n as u32)
    }
    fn sar(&mut self, a: u64, n: u64) -> u64 {
        a.cast_signed().wrapping_shr(n as u32).cast_unsigned()
    }
    fn rol(&mut self, a: u64, n: u64) -> u64 {
        a.rotate_left((n % 64) as u32)
    }
    fn ror(&mut self, a: u64, n: u64) -> u64 {
        a.rotate_right((n % 64) as u32)
    }
    fn eq(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a == b)
    }
    fn lt(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a.cast_signed() < b.cast_signed())
    }
    fn ltu(&mut self, a: u64, b: u64) -> u64 {
        u64::from(a < b)
    }
    fn select(&mut self, c: u64, a: u64, b: u64) -> u64 {
        if c != 0 { a } else { b }
    }
    fn kernel1<K: Fn(Env, u64) -> Word + Copy + 'static>(&mut self, k: K, a: u64) -> Word {
        k(self.env, a)
    }
    fn kernel2<K: Fn(Env, u64, u64) -> Word + Copy + 'static>(&mut self, k: K, a: u64, b: u64) -> Word {
        k(self.env, a, b)
    }
    fn kernel_pair<K: Fn(Env, [u64; 4]) -> Result<[u64; 2], Fault> + Copy + 'static>(
        &mut self,
        k: K,
        x: [u64; 4],
    ) -> Result<[u64; 2], Fault> {
        k(self.env, x)
    }
    fn wrapping2<K: Fn(Env, u64, u64) -> (u64, bool) + Copy + 'static>(&mut self, k: K, a: u64, b: u64) -> Word {
        let (word, overflowed) = k(self.env, a, b);
        self.overflowed |= overflowed;
        Ok(word)
    }
    fn compare(&mut self, c: Cond, _: Ty, a: u64, b: u64) -> Word {
        Ok(u64::from(c.holds(Some(a.cmp(&b)))))
    }
    fn check(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        if ok == 0 { Err(fault) } else { Ok(()) }
    }
    fn require(&mut self, ok: u64, fault: Fault) -> Result<(), Fault> {
        self.check(ok, fault)
    }
    fn lose(&mut self, _: u64) {}
    fn lose_inexact(&mut self, _: u64) {}
    fn emit(&mut self, _: u64) -> Result<(), Fault> {
        Err(Fault::TapeFull)
    }
    fn last_emitted(&mut self) -> Word {
        Err(Fault::NoOutput)
    }
    fn unemit(&mut self) {}
    fn next_input(&mut self) -> Word {
        Err(Fault::NoInput)
    }
    fn advance_input(&mut self) {}
    fn last_input(&mut self) -> Word {
        Err(Fault::NothingRead)
    }
    fn rewind_input(&mut self) {}
    fn show(&mut self, _: Ty, _: u64) {}
    fn print(&mut self, _: usize) {}
}

/// The numbers of a type as doubles.
#[derive(Clone, Copy)]
struct Reading {
    ty: Ty,
    format: Format,
}

impl Reading {
    fn word(self, x: f64) -> u64 {
        match self.ty {
            Ty::F => x.to_bits(),
            Ty::Q => ((x * self.unit().recip()).round() as i64).cast_unsigned(),
            Ty::Int | Ty::L => panic!("no reading"),
        }
    }

    fn number(self, word: u64) -> f64 {
        match self.ty {
            Ty::F => f64::from_bits(word),
            Ty::Q => word.cast_signed() as f64 * self.unit(),
            Ty::Int | Ty::L => panic!("no reading"),
        }
    }

    fn unit(self) -> f64 {
        2f64.powi(-(self.format.frac() as i32))
    }
}

/// Compares the partial derivatives of a function with finite differences; gives how many points could be compared.
struct Differences<'a, 'b> {
    reading: Reading,
    s: &'a mut Source<'b>,
}

impl FunctionVisitor for Differences<'_, '_> {
    type Out = usize;

    fn visit<F: Function>(self) -> usize {
        let Differences { reading, s } = self;
        let mut desk = Desk::new(reading.format);
        let mut value = |x: [f64; 2]| {
            desk.overflowed = false;
            let y = F::value(&mut desk, x.map(|x| reading.word(x))).ok()?;
            (!desk.overflowed).then(|| reading.number(y))
        };
        let mut compared = 0;
        for _ in 0..4_000 {
            let size = s.pick(&[0.25, 1.0, 4.0, 100.0]);
            let x = [0, 1].map(|_| ((s.word() >> 11) as f64 * 2f64.powi(-53) * 2.0 - 1.0) * size);
            // Exactly representable, so that the differences below are of what was asked for.
            let x = x.map(|x| reading.number(reading.word(x)));
            let words = x.map(|x| reading.word(x));
            let mut own = Desk::new(reading.format);
            let Ok(y) = F::value(&mut own, words) else { continue };
            let Ok(Some(partials)) = F::partials(&mut own, words, y) else { continue };
            for (n, &partial) in partials.iter().enumerate().take(F::INFO.args.len()) {
                let mut slope = |h: f64| {
                    let (mut up, mut down) = (x, x);
                    up[n] = reading.number(reading.word(x[n] + h));
                    down[n] = reading.number(reading.word(x[n] - h));
                    Some((value(up)? - value(down)?) / (up[n] - down[n]))
                };
                let h = (x[n].abs() * 2f64.powi(-8)).max(2f64.powi(-9));
                let (Some(wide), Some(narrow)) = (slope(h), slope(h / 2.0)) else { continue };
                let slope = (4.0 * narrow - wide) / 3.0;
                // What cancelling leaves of one unit in the last place of the value.
                let unit = match reading.ty {
                    Ty::Q => reading.unit(),
                    Ty::F | Ty::Int | Ty::L => reading.number(y).abs() * f64::EPSILON,
                };
                let noise = 16.0 * unit / h + 2.0 * unit;
                let bound = (narrow - wide).abs() + noise + 1e-9 * slope.abs();
                // Where two widths disagree, a kink or a pole is near.
                if bound > 1e-3 * (slope.abs() + 1.0) {
                    continue;
                }
                let partial = reading.number(partial);
                assert!(
                    (partial - slope).abs() <= bound,
                    "{:?} at {x:?}: ∂/∂{} is {partial}, differences give {slope} ± {bound}",
                    F::INFO.func,
                    F::INFO.args[n]
                );
                compared += 1;
            }
        }
        compared
    }
}

#[test]
fn partial_derivatives_agree_with_differences() {
    let mut met = 0;
    for func in Func::ALL {
        let info = func.info();
        if info.from != info.ty || info.partials.is_none() || !matches!(info.ty, Ty::F | Ty::Q) {
            continue;
        }
        let formats: &[Format] = if info.ty == Ty::Q { &Format::ALL } else { &[Format::Q32_32] };
        for &format in formats {
            let mut s = Source::seeded(met);
            let compared = func.visit(Differences { reading: Reading { ty: info.ty, format }, s: &mut s });
            assert!(compared > 300, "{func:?}: only {compared} points");
        }
        met += 1;
    }
    assert!(met >= 6, "{met}");
}

/// Runs an accumulate and its partner on three operands.
struct ThereAndBack {
    acc: Acc,
    inverse: bool,
    operands: [u64; 3],
}

impl FunctionVisitor for ThereAndBack {
    type Out = bool;

    fn visit<F: Function>(self) -> bool {
        let mut desk = Desk::new(Format::default());
        desk.operands = self.operands;
        if table::run_accumulate::<_, F>(&mut desk, self.acc, self.inverse).is_err() {
            assert_eq!(desk.operands, self.operands, "{:?} failed and wrote", F::INFO.func);
            return false;
        }
        let back = !self.inverse && !self.acc.self_inverse();
        assert_eq!(table::run_accumulate::<_, F>(&mut desk, self.acc, back), Ok(()), "{:?}", F::INFO.func);
        assert_eq!(desk.operands, self.operands, "{:?}", F::INFO.func);
        true
    }
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
            let operands = [0, 1, 2].map(|_| pendula_isa::sample::word(&mut s));
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
        assert_eq!(instruction(family, &mut Source::bytes(&[])).validate(), Ok(()));
        assert_eq!(instruction(family, &mut Source::bytes(&[1, 255, 3])).validate(), Ok(()));
    }
}

#[test]
fn registers_are_thirty_two() {
    assert_eq!((0..=255).filter_map(Reg::new).count(), Reg::COUNT);
}
