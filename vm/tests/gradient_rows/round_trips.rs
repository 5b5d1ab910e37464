//! Round trips: the inverse of an instruction restores values and lanes bit for bit.

use pendula_isa::Env;
use pendula_isa::adjoint::{AdMode, LANES, VALUE};
use pendula_isa::counts::Direction;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::num::Format;
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::sample::{Source, instruction, number, share, word};
use pendula_isa::table::{Adjoint, Flow, Row};
use pendula_isa::types::{Acc, Profile, Reg, Ty};
use pendula_vm::gradient::Cell;
use pendula_vm::{Config, Machine};

use super::site::{at_points, functions, name};
use super::{CARRIAGES, MEMORY, POINTS, close, everything, lane_type, nearest, run, signed};
use crate::common::{between, program, r};

/// A word for a lane of a type: any word if gradients are fixed-point, else a moderate double.
fn lane_word(ty: Ty, s: &mut Source) -> u64 {
    match lane_type(ty) {
        Ty::F => signed(s, 0.0, 2.0).to_bits(),
        _ => word(s),
    }
}

/// Fixed-point and logarithmic numbers, conversions from and to doubles included: what an instruction does to values and to every
/// lane, its inverse undoes bit for bit, in each AD mode, whatever the lanes hold. Only a double that was added to comes back
/// within its roundings.
#[test]
fn lanes_come_back_bit_for_bit() {
    let points = share(POINTS);
    for (seed, func) in functions(|ty, from| ty != Ty::F || from != Ty::F).into_iter().enumerate() {
        let format = Format::ALL[(seed + 1) % 3];
        let env = Env { format, ieee: false };
        let info = func.info();
        let doubles = info.args.iter().any(|a| a.ty == Ty::F) || info.ty == Ty::F;
        let mut changed = 0;
        at_points(env, func, points, 400 + seed as u64, |m, site, v, s| {
            let start = m.snapshot();
            for ad_mode in CARRIAGES {
                m.restore(&start);
                (1..LANES).for_each(|lane| m.clear_lane(lane));
                let types: Vec<Ty> = std::iter::once(info.ty).chain(info.args.iter().map(|a| a.ty)).collect();
                for &lane in ad_mode.lanes() {
                    for (n, ty) in types.iter().enumerate() {
                        // Conversions between doubles and fixed point must be in range.
                        let word =
                            if doubles { nearest(env, lane_type(*ty), signed(s, 0.0, 2.0)) } else { lane_word(*ty, s) };
                        site.put(m, lane, n, word);
                    }
                }
                let describe = || format!("{ad_mode:?}: {} {:?} at {:?}", name(func), site.inst, v.numbers);
                let (before, digest) = (everything(m), m.digest());
                run(m, ad_mode, site.direction).unwrap_or_else(|e| panic!("{}: {e:?}", describe()));
                let there = everything(m);
                changed += usize::from(there[before.len() / LANES..] != before[before.len() / LANES..]);
                run(m, ad_mode, site.direction.flip()).unwrap_or_else(|e| panic!("{}: {e:?}", describe()));
                if !doubles {
                    assert_eq!(m.digest(), digest, "{}", describe());
                    continue;
                }
                let is_double = |n: usize| {
                    let at = n % (before.len() / LANES);
                    let cell = if at < Reg::COUNT { Cell::Register(r(at as u8)) } else { Cell::Word(at - Reg::COUNT) };
                    site.cells.iter().zip(&types).any(|(c, ty)| *c == Some(cell) && *ty == Ty::F)
                };
                for (n, word) in everything(m).into_iter().enumerate() {
                    if is_double(n) {
                        let [was, far, is] = [before[n], there[n], word].map(f64::from_bits);
                        // Second gradients are the sum of two shares: two roundings each way.
                        close(was, is, f64::EPSILON, 2.0 * (was.abs() + far.abs()), describe);
                    } else {
                        assert_eq!(word, before[n], "word {n} of {}", describe());
                    }
                }
            }
        });
        // A logarithm's share is g or −g; of a kink it may be 0.
        assert!(changed > 2 * points, "{}: {changed}", name(func));
    }
}

/// The families of straight-line instructions, with `erase` or without.
fn straight(erase: bool) -> Vec<Kind> {
    families()
        .filter(|k| k.flow() == Flow::Straight && k.belongs_to(Profile::Native) && (erase || !k.is_irreversible()))
        .collect()
}

/// Whether the instruction has no effect on lanes.
fn is_discrete(kind: Kind) -> bool {
    match kind {
        Kind::Row { row, .. } => row.info().adjoint == Adjoint::Discrete,
        Kind::Accumulate { acc, func, .. } => acc == Acc::Xor || func.info().partials == 0,
        Kind::Extension { .. } => false,
    }
}

/// Whether the instruction adds to doubles, in any lane.
fn rounds(kind: Kind) -> bool {
    match kind {
        Kind::Row { row, ty, .. } => ty == Ty::F && row == Row::Rot,
        Kind::Extension { .. } => true,
        Kind::Accumulate { acc, func, .. } => {
            let info = func.info();
            let doubles = info.ty == Ty::F || info.args.iter().any(|a| a.ty == Ty::F && info.partials > 0);
            acc == Acc::Add && doubles || acc == Acc::Mul && info.from == Ty::F
        }
    }
}

fn types(kind: Kind) -> [Ty; 2] {
    match kind {
        Kind::Accumulate { func, .. } => [func.info().ty, func.info().from],
        Kind::Row { ty, .. } => [ty, ty],
        Kind::Extension { .. } => [Ty::Int; 2],
    }
}

/// A random state, in which the instruction often can run, with random words in every lane of the AD mode.
fn randomize(m: &mut Machine, inst: &Inst, ad_mode: AdMode, s: &mut Source) {
    let types = types(inst.kind);
    let state_word = |s: &mut Source| match s.below(8) {
        0..=2 => 0,
        3 | 4 => number(types[s.below(2) as usize], Format::default(), s),
        5 => s.below(MEMORY),
        6 => nearest(Env::default(), types[1], 1.0 + s.below(3) as f64),
        _ => word(s),
    };
    (1..LANES).for_each(|lane| m.clear_lane(lane));
    let cells = (0..Reg::COUNT as u8).map(|n| Cell::Register(r(n))).chain((0..MEMORY as usize).map(Cell::Word));
    for cell in cells {
        let w = state_word(s);
        m.put(VALUE, cell, w);
        for &lane in ad_mode.lanes() {
            let w = match s.below(4) {
                0 => 0,
                1 => word(s),
                _ => number(lane_type(types[s.below(2) as usize]), Format::default(), s),
            };
            m.put(lane, cell, w);
        }
    }
    if s.once_in(4) {
        // Equal words are rare otherwise.
        let word = m.registers()[1 + s.below(31) as usize];
        inst.regs.iter().for_each(|reg| m.set_register(*reg, word));
    }
    m.set_register(Reg::SP, s.below(MEMORY));
    for (_, operand) in inst.operands() {
        if let Operand::Mem { base, index, offset } = operand
            && base != Reg::ZERO
        {
            let wanted = s.below(MEMORY).wrapping_sub(offset.cast_unsigned());
            if index == base {
                m.set_register(base, wanted >> 1);
            } else {
                m.set_register(base, wanted.wrapping_sub(m.registers()[index.index()]));
            }
        }
    }
    m.set_output((0..s.below(3)).map(|_| state_word(s)).collect());
    m.set_input(vec![state_word(s), state_word(s)], s.below(3) as usize);
}

/// Every instruction of the table, in every AD mode, on random states with random words in all lanes: a trap changes nothing in any lane;
/// an instruction without an adjoint does not change lanes; the inverse restores everything, with the words that `zero` drops recorded.
#[test]
fn every_row_comes_back_or_traps_without_a_trace() {
    let mut traps = 0;
    for (n, family) in straight(false).into_iter().enumerate() {
        let mut s = Source::seeded(500 + n as u64);
        let (mut ran, mut trapped) = ([0; CARRIAGES.len()], 0);
        let mut programs = 0;
        // More where few numbers have a value.
        while programs < share(80) || (programs < 160 && ran.iter().any(|ran| *ran <= 15)) {
            programs += 1;
            let mut row = instruction(family, &mut s);
            for slot in row.kind.layout() {
                if let Slot::Mem(f) | Slot::TargetMem(f) = slot
                    && row.regs[f as usize] == Reg::ZERO
                {
                    row.imm = s.below(MEMORY) as i64;
                }
            }
            let program = program(between([row]));
            let config = Config { mem: Some(MEMORY), trap_overflow: s.once_in(4), ..Config::default() };
            let mut m = Machine::new(&program, &config).expect("a small memory");
            for _ in 0..25 {
                let k = s.below(4) as usize;
                let ad_mode = CARRIAGES[k];
                randomize(&mut m, &row, ad_mode, &mut s);
                let (before, digest, lost) = (everything(&m), m.digest(), m.counts().lost_bits());
                let first = s.pick(&[Direction::Forward, Direction::Backward]);
                m.keep_dropped();
                if run(&mut m, ad_mode, first).is_err() {
                    trapped += 1;
                    assert!(m.digest() == digest, "{row:?} {ad_mode:?}");
                    assert_eq!((m.dropped_words(), m.counts().lost_bits()), (0, lost), "{row:?} {ad_mode:?}");
                    continue;
                }
                ran[k] += 1;
                let there = everything(&m);
                let values = before.len() / LANES;
                if is_discrete(family) {
                    assert_eq!(there[values..], before[values..], "{row:?} {ad_mode:?}");
                }
                if config.trap_overflow || rounds(family) {
                    // A word that wraps in the other direction only would trap there.
                    continue;
                }
                m.reverse_dropped();
                run(&mut m, ad_mode, first.flip()).unwrap_or_else(|e| panic!("{row:?} {ad_mode:?}: {e:?}"));
                if matches!(family, Kind::Row { row: Row::ZeroWithin, .. }) {
                    assert_eq!(everything(&m)[values..], before[values..], "{row:?} {ad_mode:?}");
                } else {
                    assert!(m.digest() == digest, "{row:?} {ad_mode:?}");
                }
            }
        }
        let gswap = matches!(family, Kind::Row { row: Row::Gswap, .. });
        for (ran, ad_mode) in ran.into_iter().zip(CARRIAGES) {
            let none = gswap && ad_mode.gradient_of(VALUE).is_none();
            assert!((ran == 0) == none && (none || ran > 15), "{} {ad_mode:?}: {ran}", family.mnemonic());
        }
        traps += usize::from(trapped > 0);
    }
    assert!(traps > 200, "{traps} families trapped");
}
