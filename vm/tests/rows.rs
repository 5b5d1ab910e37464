//! Every straight-line instruction of the table on random states: its inverse restores the whole state, and a trap leaves it unchanged.
//! Control instructions are tested in `control`, the results of instructions in `semantics`.

use crate::common;

use common::{State, between, machine, program, r};
use pendula_isa::Fault;
use pendula_isa::counts::Direction;
use pendula_isa::inst::{Inst, Kind, OFFSET_MAX, OFFSET_MIN};
use pendula_isa::mnemonic::families;
use pendula_isa::num::Format;
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::sample::{Source, fill, instruction, number, share, word};
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Acc, Profile, Reg, Ty};
use pendula_vm::{Machine, Outcome, Program, StepOutcome};

/// States per family in which the instruction must have run.
const STATES: usize = 10_000;
/// States tried at most.
const TRIES: usize = 120_000;
/// States per instruction.
const PER_PROGRAM: usize = 40;
/// Words of memory.
const MEMORY: u64 = 24;

/// What coming back means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Return {
    /// Bit for bit.
    Exact,
    /// Bit for bit except the destination, a double that was rounded twice.
    Drift,
    /// Bit for bit but for the two coordinates, doubles that were turned twice: each is within 5 units of 2^-52 of the
    /// point's distance from the origin.
    Turned,
    /// Bit for bit, unless a word other than +0.0 was cleared.
    Cleared,
}

fn return_of(kind: Kind) -> Return {
    match kind {
        Kind::Accumulate { acc: Acc::Add, func, .. } if func.info().ty == Ty::F => Return::Drift,
        Kind::Row { row: Row::Rot, ty: Ty::F, .. } => Return::Turned,
        Kind::Row { row: Row::ZeroWithin, .. } => Return::Cleared,
        Kind::Accumulate { .. } | Kind::Row { .. } | Kind::Extension { .. } => Return::Exact,
    }
}

/// The straight-line families but `erase`.
fn straight() -> Vec<Kind> {
    families().filter(|k| k.flow() == Flow::Straight && k.belongs_to(Profile::Native) && !k.is_irreversible()).collect()
}

/// The number type of the family's result, and that of its arguments.
fn types(kind: Kind) -> [Ty; 2] {
    match kind {
        Kind::Accumulate { func, .. } => [func.info().ty, func.info().from],
        Kind::Row { ty, .. } => [ty, ty],
        Kind::Extension { .. } => [Ty::Int; 2],
    }
}

/// A word for a state: often a number of one of the types, often 0, one of the instruction's constant, else anything.
fn state_word(inst: &Inst, types: [Ty; 2], s: &mut Source) -> u64 {
    match s.below(10) {
        0..=2 => 0,
        3 => number(types[0], Format::default(), s),
        4 | 5 => number(types[1], Format::default(), s),
        6 => s.below(MEMORY),
        7 => inst.imm.cast_unsigned(),
        _ => word(s),
    }
}

/// An instruction with an accessible memory operand: a fixed address is within the memory.
fn reachable(family: Kind, s: &mut Source) -> Inst {
    let mut inst = instruction(family, s);
    for slot in inst.kind.layout() {
        if let Slot::Mem(f) | Slot::TargetMem(f) = slot
            && inst.regs[f as usize] == Reg::ZERO
            && !s.once_in(16)
        {
            inst.imm = s.below(MEMORY) as i64;
        }
    }
    inst
}

/// The address of the instruction's memory operand.
fn address(inst: &Inst, regs: &[u64; Reg::COUNT]) -> Option<u64> {
    inst.operands().find_map(|(_, operand)| match operand {
        Operand::Mem { base, index, offset } => {
            Some(regs[base.index()].wrapping_add(regs[index.index()]).wrapping_add(offset.cast_unsigned()))
        }
        _ => None,
    })
}

/// Puts the machine into a random state in which the instruction can often run.
fn randomize(m: &mut Machine, inst: &Inst, s: &mut Source) {
    let types = types(inst.kind);
    for n in 1..Reg::COUNT as u8 {
        m.set_register(r(n), state_word(inst, types, s));
    }
    if s.once_in(4) {
        // Equal words are rare otherwise.
        let n = 1 + s.below(31) as u8;
        let word = m.registers()[n as usize];
        inst.regs.iter().for_each(|reg| m.set_register(*reg, word));
    }
    if !s.once_in(8) {
        m.set_register(Reg::SP, s.below(MEMORY));
    }
    for n in 0..MEMORY as usize {
        m.memory_mut()[n] = state_word(inst, types, s);
    }
    // If possible, choose an address register so that the address is within the memory.
    for (_, operand) in inst.operands() {
        if let Operand::Mem { base, index, offset } = operand
            && base != Reg::ZERO
            && !s.once_in(16)
        {
            let wanted = s.below(MEMORY).wrapping_sub(offset.cast_unsigned());
            if index == base {
                m.set_register(base, wanted >> 1);
            } else {
                m.set_register(base, wanted.wrapping_sub(m.registers()[index.index()]));
            }
        }
    }
    m.set_output((0..s.below(3)).map(|_| state_word(inst, types, s)).collect());
    let input: Vec<u64> = (0..s.below(3)).map(|_| state_word(inst, types, s)).collect();
    let read = s.below(input.len() as u64 + 1) as usize;
    m.set_input(input, read);
}

/// Runs the program from one of its ends, in one go or by steps.
fn run(m: &mut Machine, direction: Direction, by_steps: bool) -> Outcome {
    m.begin(direction);
    if !by_steps {
        return m.run(None);
    }
    loop {
        match m.step() {
            StepOutcome::Executed(_) => {}
            StepOutcome::Finished => return Outcome::Finished,
            StepOutcome::Trap(trap) => return Outcome::Trap(trap),
        }
    }
}

/// The outcomes of the family's instructions.
#[derive(Debug, Default)]
struct Tally {
    tried: usize,
    ran: usize,
    trapped: usize,
    changed: usize,
}

fn check(m: &mut Machine, inst: &Inst, s: &mut Source, tally: &mut Tally) {
    randomize(m, inst, s);
    let (before, state) = (m.digest(), State::of(m));
    let first = s.pick(&[Direction::Forward, Direction::Backward]);
    tally.tried += 1;
    match run(m, first, s.once_in(4)) {
        Outcome::Finished => {}
        Outcome::Trap(trap) => {
            assert_eq!(m.digest(), before, "{trap:?} changed {:?}", state.differences(&State::of(m)));
            assert_eq!((trap.at, trap.inst, trap.direction, m.pc()), (1, *inst, first, Some(1)));
            tally.trapped += 1;
            return;
        }
        Outcome::Limit => unreachable!("no limit"),
    }
    let there = State::of(m);
    only_targets_changed(inst, &state, &there);
    tally.changed += usize::from(m.digest() != before);
    match run(m, first.flip(), s.once_in(4)) {
        Outcome::Finished => {}
        // On the way back, a point at the end of the doubles' range may round beyond it.
        Outcome::Trap(trap)
            if return_of(inst.kind) == Return::Turned
                && trap.fault == Fault::NotFinite
                && point(inst, &state).iter().any(|x| x.abs() > f64::MAX * (1.0 - 1e-15)) =>
        {
            return;
        }
        outcome => panic!("{inst:?} ran {first:?} from {state:?} and did not come back: {outcome:?}"),
    }
    tally.ran += 1;
    if m.digest() == before {
        return;
    }
    let back = State::of(m);
    let differences = state.differences(&back);
    match return_of(inst.kind) {
        Return::Exact => {}
        Return::Drift => {
            let Some((slot, operand)) = inst.operands().next() else { panic!("{inst:?} has no destination") };
            let pick = |state: &State| match (slot, operand) {
                (Slot::Target(_), Operand::Reg(reg)) => state.regs[reg.index()],
                _ => state.mem[address(inst, &state.regs).expect("a memory operand") as usize],
            };
            let [was, far, is] = [&state, &there, &back].map(|s| f64::from_bits(pick(s)));
            // Each way rounds once, by at most half a unit in the last place of its result.
            assert!(
                (was - is).abs() <= ulp(far) / 2.0 + ulp(is) / 2.0,
                "{inst:?}: {was:e} came back as {is:e} from {far:e}"
            );
            assert_eq!(differences.len(), 1, "{inst:?} drifted elsewhere: {differences:?}");
            return;
        }
        Return::Turned => {
            let (was, is) = (point(inst, &state), point(inst, &back));
            // With u = 2^-53: a way rounds two products and a sum, at most 2u in each coordinate, which the way back turns
            // (2√2 u) and adds to its own; sine and cosine are within 2u, so that their squares sum to 1 within 4u. Where
            // doubles are subnormal, each of these steps is within half the smallest one.
            let size = was[0].abs().max(was[1].abs()) * std::f64::consts::SQRT_2;
            let bound = 5.0 * f64::EPSILON * size + 8.0 * f64::from_bits(1);
            for n in 0..2 {
                assert!((was[n] - is[n]).abs() <= bound, "{inst:?}: {was:?} came back as {is:?}");
            }
            let mut rest = back.clone();
            for reg in &inst.regs[..2] {
                rest.regs[reg.index()] = state.regs[reg.index()];
            }
            assert_eq!(rest, state, "{inst:?} drifted elsewhere: {differences:?}");
            return;
        }
        Return::Cleared => {
            let Some((_, Operand::Reg(reg))) = inst.operands().next() else { panic!("{inst:?} clears no register") };
            let n = reg.index();
            assert_eq!((there.regs[n], back.regs[n]), (0, 0), "{inst:?}");
            assert_eq!(differences.len(), 1, "{inst:?}: {differences:?}");
            return;
        }
    }
    panic!("{inst:?} does not come back: {differences:?}");
}

/// The two coordinates of a rotation.
fn point(inst: &Inst, state: &State) -> [f64; 2] {
    [0, 1].map(|n| f64::from_bits(state.regs[inst.regs[n].index()]))
}

/// The distance to the next double away from zero.
fn ulp(x: f64) -> f64 {
    let x = x.abs();
    f64::from_bits(x.to_bits() + 1) - x
}

/// An instruction only changes the operands that it writes, the stack, or a tape.
fn only_targets_changed(inst: &Inst, before: &State, after: &State) {
    let mut expected = after.clone();
    for (slot, operand) in inst.operands().filter(|(slot, _)| slot.is_written()) {
        match (slot, operand) {
            (_, Operand::Reg(reg)) => expected.regs[reg.index()] = before.regs[reg.index()],
            _ => {
                let at = address(inst, &before.regs).expect("a memory operand") as usize;
                expected.mem[at] = before.mem[at];
            }
        }
    }
    if let Kind::Row { row, .. } = inst.kind {
        if row.info().moves_sp {
            let sp = Reg::SP.index();
            let at = before.regs[sp].min(after.regs[sp]) as usize;
            assert_eq!(before.regs[sp].abs_diff(after.regs[sp]), 1, "{inst:?}");
            expected.regs[sp] = before.regs[sp];
            expected.mem[at] = before.mem[at];
        }
        match row {
            Row::Emit => expected.output.clone_from(&before.output),
            Row::Read => expected.read = before.read,
            _ => {}
        }
    }
    assert_eq!(&expected, before, "{inst:?} changed more than it writes: {:?}", before.differences(after));
}

fn check_family(family: Kind, seed: u64) -> Tally {
    let mut s = Source::seeded(seed);
    let mut tally = Tally::default();
    while tally.ran < share(STATES) && tally.tried < share(TRIES) {
        let inst = reachable(family, &mut s);
        let program = program(between([inst]));
        let mut m = machine(&program, MEMORY);
        for _ in 0..PER_PROGRAM {
            check(&mut m, &inst, &mut s, &mut tally);
        }
    }
    tally
}

fn check_families(wanted: impl Fn(Kind) -> bool) {
    let mut met = 0;
    for (n, family) in straight().into_iter().enumerate().filter(|(_, k)| wanted(*k)) {
        let tally = check_family(family, n as u64);
        let name = family.mnemonic();
        assert!(tally.ran >= share(STATES), "{name}: {tally:?}");
        let inert = matches!(family, Kind::Row { row: Row::Assert | Row::Zero | Row::Show | Row::Print, .. });
        assert_eq!(tally.changed == 0, inert, "{name}: {tally:?}");
        met += 1;
    }
    assert!(met > 0);
}

fn is_accumulate(kind: Kind, ty: Ty) -> bool {
    matches!(kind, Kind::Accumulate { func, .. } if func.info().ty == ty)
}

#[test]
fn integer_accumulates_come_back() {
    check_families(|k| is_accumulate(k, Ty::Int));
}

#[test]
fn fixed_point_accumulates_come_back() {
    check_families(|k| is_accumulate(k, Ty::Q));
}

#[test]
fn logarithmic_accumulates_come_back() {
    check_families(|k| is_accumulate(k, Ty::L));
}

#[test]
fn floating_point_accumulates_come_back_within_the_rounding() {
    check_families(|k| is_accumulate(k, Ty::F));
}

#[test]
fn other_rows_come_back() {
    check_families(|k| matches!(k, Kind::Row { .. }));
}

/// The same with every instruction of a family in one block, one after the other: what an instruction leaves is what
/// the next one finds.
#[test]
fn blocks_of_one_family_come_back() {
    for (n, family) in straight().into_iter().enumerate() {
        if return_of(family) != Return::Exact {
            continue;
        }
        let mut s = Source::seeded(1000 + n as u64);
        let mut ran = 0;
        for _ in 0..share(320) {
            let most = 1 + s.below(16);
            let len = 1 + s.below(most);
            let code: Vec<Inst> = (0..len).map(|_| reachable(family, &mut s)).collect();
            let program = program(between(code.clone()));
            let mut m = machine(&program, MEMORY);
            for _ in 0..20 {
                let aimed = s.pick(&code);
                randomize(&mut m, &aimed, &mut s);
                let (before, state) = (m.digest(), State::of(&m));
                if run(&mut m, Direction::Forward, s.once_in(4)) == Outcome::Finished {
                    assert_eq!(run(&mut m, Direction::Backward, s.once_in(4)), Outcome::Finished, "{code:?} {state:?}");
                    assert_eq!(m.digest(), before, "{code:?}: {:?}", state.differences(&State::of(&m)));
                    ran += 1;
                }
            }
        }
        assert!(ran > share(8), "{}: {ran}", family.mnemonic());
    }
}

/// The ends of the immediate fields, in every shape and form that has one.
#[test]
fn wide_and_narrow_constants_come_back() {
    let edges = [0, 1, -1, OFFSET_MIN, OFFSET_MAX, OFFSET_MIN - 1, OFFSET_MAX + 1, i64::MIN, i64::MAX, 0x3ff0 << 48];
    for (n, family) in straight().into_iter().enumerate() {
        let mut s = Source::seeded(2000 + n as u64);
        for code in 0..=u16::MAX {
            let Some((kind, true)) = pendula_isa::encode::from_opcode(code) else { continue };
            if kind.mnemonic() != family.mnemonic() {
                continue;
            }
            for edge in edges {
                let mut inst = fill(kind, &mut s);
                inst.imm = edge;
                if inst.validate(Profile::Native).is_err() {
                    continue;
                }
                let program = program(between([inst]));
                let mut m = machine(&program, MEMORY);
                let mut tally = Tally::default();
                for _ in 0..4 {
                    check(&mut m, &inst, &mut s, &mut tally);
                }
            }
        }
    }
}

/// `zero.f` says what it forgets.
#[test]
fn what_a_tolerant_zero_forgets_is_counted() {
    let inst = common::inst("zero.f", &[common::reg(3), Operand::Imm(0.5f64.to_bits(), Ty::F)]);
    let program: Program = program(between([inst]));
    for (x, lost) in [(0.0f64, 0), (-0.0, 64), (0.5, 64), (-1e-300, 64)] {
        let mut m = machine(&program, MEMORY);
        m.set_register(r(3), x.to_bits());
        assert_eq!(m.run(None), Outcome::Finished);
        assert_eq!((m.registers()[3], m.counts().lost_bits()), (0, lost), "{x:e}");
        assert_eq!(m.flags().inexact, (lost > 0).then_some(1), "{x:e}");
        assert_eq!((m.flags().rests.count, m.flags().rests.largest()), (lost / 64, x.abs()), "{x:e}");
    }
    for x in [0.500001f64, -1.0, f64::INFINITY, f64::NAN] {
        let mut m = machine(&program, MEMORY);
        m.set_register(r(3), x.to_bits());
        assert!(matches!(m.run(None), Outcome::Trap(t) if t.fault == Fault::NotZero), "{x:e}");
        assert_eq!((m.registers()[3], m.counts().lost_bits()), (x.to_bits(), 0), "{x:e}");
    }
}

/// `erase` destroys a word, counts it, and does not run backward.
#[test]
fn erase_counts_what_it_forgets_and_has_no_way_back() {
    for (operand, zero) in [(common::reg(3), false), (common::mem(4, 0, 2), true)] {
        let mut module = between([common::inst("erase", &[operand])]);
        assert!(Program::new(module.clone(), true).is_err(), "a reversible module may not erase");
        module.flags.irreversible = true;
        let program = program(module);
        let mut s = Source::seeded(5);
        for _ in 0..1000 {
            let mut m = machine(&program, MEMORY);
            let inst = program.module().code[1];
            randomize(&mut m, &inst, &mut s);
            m.set_register(r(4), 5);
            let before = State::of(&m);
            assert_eq!(m.run(None), Outcome::Finished);
            let mut expected = before.clone();
            if zero {
                expected.mem[7] = 0
            } else {
                expected.regs[3] = 0
            }
            assert_eq!(State::of(&m), expected);
            assert_eq!(m.counts().lost_bits(), 64);
            m.begin(Direction::Backward);
            assert!(matches!(m.run(None), Outcome::Trap(t) if t.fault == Fault::Irreversible));
            assert_eq!(State::of(&m), expected);
        }
    }
}
