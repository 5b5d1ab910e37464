//! What must hold of every row of the table, whatever it means: encoding,
//! inverses, mnemonics, partial derivatives. What the rows do to a machine is
//! tested in `pendula-vm`.

mod derivatives;
mod encoding;
mod series;

use pendula_isa::encode::{Pool, encode, from_opcode, opcode};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::{ALIASES, families, lookup};
use pendula_isa::num::{Env, Format};
use pendula_isa::operand::{Operand, Shape};
use pendula_isa::sample::{Source, instruction, number};
use pendula_isa::scalar::ScalarDomain;
use pendula_isa::table::{self, Function, FunctionVisitor};
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
        Kind::Extension { .. } => kind,
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
            Kind::Extension { extension, .. } => extension.info().partner.is_none(),
        };
        let (word, back) = (encode(&inst, &mut pool), encode(&inverse, &mut pool));
        assert_eq!(word ^ back, u64::from(!own), "{inst:?}");
        assert_eq!(own, inst.kind == inverse.kind);
        assert_eq!((inst.regs, inst.imm, inst.small), (inverse.regs, inverse.imm, inverse.small));
    });
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

/// Runs an accumulate and its partner.
struct ForwardAndBack {
    acc: Acc,
    inverse: bool,
    operands: [u64; 4],
}

impl FunctionVisitor for ForwardAndBack {
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
            ran += usize::from(func.visit(ForwardAndBack { acc, inverse, operands }));
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
