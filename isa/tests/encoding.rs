//! Encoding of instructions: decoding inverts it, and rejects all other words.

use pendula_isa::encode::{DecodeError, Pool, decode, encode, from_opcode, opcode};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::{families, lookup};
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::sample::{Source, instruction};
use pendula_isa::table::Row;
use pendula_isa::types::{Profile, Reg, Ty};

use super::{each_instruction, family_of};

#[test]
fn decoding_undoes_encoding() {
    let mut pool = Pool::default();
    let mut words = Vec::new();
    each_instruction(|_, inst, _| words.push((inst, encode(&inst, &mut pool))));
    for (inst, word) in words {
        assert_eq!(decode(word, pool.words(), &[], Profile::Native), Ok(inst), "{word:#018x}");
    }
}

/// Words assembled by hand from the table of bits in `encode`: existing objects stay readable.
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

/// Checks that [`decode`] rejects a word, or returns an instruction that only this word encodes.
fn check_word(word: u64, pool: &[u64], accepted: &mut usize) {
    let inst = match decode(word, pool, &[], Profile::Native) {
        Ok(inst) => inst,
        Err(DecodeError::Opcode(code)) => {
            assert_eq!(u64::from(code), word & 0xffff);
            return;
        }
        // The words are of no object that defines any.
        Err(
            DecodeError::Extension(_)
            | DecodeError::Pool(_)
            | DecodeError::Operand(_)
            | DecodeError::NotCanonical { .. },
        ) => return,
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
                if let Ok(other) = decode(word ^ 1 << bit, &words, &[], Profile::Native) {
                    assert_ne!(other, inst, "bit {bit} of {word:#018x} means nothing");
                }
            }
        }
    }
    assert!(accepted > 100_000, "{accepted}");
}
