//! Memory, jumps, calls, checks and traffic.

use pendula_hw_model::circuit::part::table_lookup;
use pendula_hw_model::circuit::{Accumulator, Half, Part, Role, generate};
use pendula_isa::num::compare;
use pendula_isa::table::Row;
use pendula_isa::{Cond, Env, Ty};

use crate::circuits::harness::{assertion, cases, check, mask, row, signed, some};

const ALL: [Cond; 9] = [Cond::Always, Cond::Eq, Cond::Ne, Cond::Lt, Cond::Le, Cond::Gt, Cond::Ge, Cond::Ltu, Cond::Geu];

/// The comparison of the instructions, on sign-extended words.
fn holds(cond: Cond, a: u128, b: u128, width: usize) -> bool {
    let word = |n| signed(n, width) as u64;
    compare(Env::default(), cond, Ty::Int, word(a), word(b)).unwrap()
}

#[test]
fn memory() {
    for (width, words) in [(1, 1), (2, 4), (3, 5), (8, 7), (8, 16), (64, 4)] {
        let circuit = generate(Part::Memory { words }, width).unwrap();
        let mut widths = vec![width; words + 2];
        widths[0] = width.min(4);
        let names: Vec<String> = (0..words).map(|i| format!("m{i}")).collect();
        for case in cases(12, 640, &widths) {
            let (a, r, m) = (case[0], case[1], &case[2..]);
            let mut lanes = circuit.lanes();
            circuit.set(&mut lanes, "a", &[a]);
            circuit.set(&mut lanes, "r", &[r]);
            for (name, w) in names.iter().zip(m) {
                circuit.set(&mut lanes, name, &[*w]);
            }
            let before = lanes.clone();
            circuit.run_lanes(&mut lanes).unwrap();
            let get = |name| circuit.get(&lanes, name)[0];
            let found: Vec<u128> = names.iter().map(|name| get(name)).collect();
            if let Some(old) = m.get(a as usize) {
                let mut expected = m.to_vec();
                expected[a as usize] = r;
                assert_eq!((get("a"), get("r"), found, get("trap_address")), (a, *old, expected, 0), "{width} {words}");
            } else {
                assert_eq!(get("trap_address"), 1, "{width} {words} {a}");
            }
            circuit.inverse().run_lanes(&mut lanes).unwrap();
            assert_eq!(lanes, before);
        }
    }
}

#[test]
fn conditions() {
    for width in [1, 2, 5, 8, 16, 32, 64] {
        for cond in ALL {
            let operands = cases(16, 640, &[width, width]);
            if cond != Cond::Always {
                let circuit = generate(assertion(Ty::Int, cond), width).unwrap();
                check(&circuit, ["a", "b"], &operands, |[a, b]| holds(cond, a, b, width).then_some([a, b]));
            }
            let circuit = generate(Part::Branch(Half::From, Ty::Int, cond), width).unwrap();
            let flagged = cases(17, 640, &[width, width, 1]);
            check(&circuit, ["a", "b", "taken"], &flagged, |[a, b, t]| {
                Some([a, b, t ^ u128::from(holds(cond, a, b, width))])
            });
            let circuit = generate(Part::Branch(Half::Jump, Ty::Int, cond), width).unwrap();
            let jumps = cases(16, 640, &[width; 4]);
            check(&circuit, ["a", "b", "offset", "pc"], &jumps, |[a, b, offset, pc]| {
                let pc = if holds(cond, a, b, width) { (pc + offset) & mask(width) } else { pc };
                Some([a, b, offset, pc])
            });
        }
        let circuit = generate(Part::CheckZero, width).unwrap();
        check(&circuit, ["a"], &cases(16, 640, &[width]), |[a]| (a == 0).then_some([a]));
    }
}

#[test]
fn pairs_of_jumps() {
    for (width, jump, from) in
        [(2, Cond::Ne, Cond::Ltu), (3, Cond::Eq, Cond::Ge), (16, Cond::Gt, Cond::Le), (64, Cond::Lt, Cond::Lt)]
    {
        let circuit = generate(Part::BranchPair(jump, from), width).unwrap();
        let mut pairs = cases(12, 6400, &[width; 6]);
        for (n, case) in pairs.iter_mut().enumerate().filter(|(n, _)| n % 3 == 0) {
            case[(n / 3) % 2] = case[1 - (n / 3) % 2];
        }
        check(&circuit, ["a", "b", "offset", "c", "d", "pc"], &pairs, |[a, b, offset, c, d, pc]| {
            let taken = holds(jump, a, b, width);
            let pc = if taken { (pc + offset) & mask(width) } else { pc };
            (holds(from, c, d, width) == taken).then_some([a, b, offset, c, d, pc])
        });
        // Its gates are those of its halves.
        let half = |half, cond| generate(Part::Branch(half, Ty::Int, cond), width).unwrap().counts();
        assert_eq!(circuit.counts(), half(Half::Jump, jump) + half(Half::From, from));
    }
}

#[test]
fn calls_and_returns() {
    for width in [1, 2, 4, 5, 16, 32, 64] {
        let m = mask(width);
        let circuit = generate(Part::Call, width).unwrap();
        let names = ["to", "pc", "link"];
        let mut calls = cases(15, 640, &[width; 3]);
        calls.iter_mut().step_by(3).for_each(|c| c[2] = 0);
        check(&circuit, names, &calls, |[to, pc, link]| (link == 0).then_some([to, to, (pc + 1) & m]));
        let mut returns = cases(15, 640, &[width; 3]);
        returns.iter_mut().step_by(3).for_each(|c| c[1] = c[0]);
        check(&circuit.inverse(), names, &returns, |[to, pc, link]| {
            (pc == to).then_some([to, link.wrapping_sub(1) & m, 0])
        });
    }
}

#[test]
fn traffic() {
    for width in [1, 8, 64] {
        let circuit = generate(Part::Host, width).unwrap();
        let words = cases(16, 640, &[width, width]);
        check(&circuit, ["a", "link"], &words, |[a, link]| Some([a, link ^ a]));
        let erase = generate(row(Row::Erase), width).unwrap();
        assert_eq!(erase.counts().total(), 0);
        assert_eq!(
            erase.registers().iter().filter(|r| r.role == Role::Lost).map(|r| r.wires.len()).sum::<usize>(),
            width
        );
    }
}

#[test]
fn table_lookups() {
    for (entries, width) in [(1, 4), (2, 3), (6, 8), (16, 8), (64, 16), (100, 64)] {
        let table: Vec<u128> = some(9, entries, &[width]).into_iter().map(|v| v[0]).collect();
        let circuit = table_lookup(Accumulator::Add, &table, width);
        let bits = entries.next_power_of_two().ilog2() as usize;
        let mut reads = cases(16, 3200, &[bits, 1, width]);
        reads.retain(|c| c[0] < entries as u128);
        check(&circuit, ["index", "on", "y"], &reads, |[i, on, y]| {
            Some([i, on, (y + on * table[i as usize]) & mask(width)])
        });
    }
}

#[test]
fn the_branch_register() {
    for width in [4, 8, 32] {
        let m = mask(width);
        for cond in ALL {
            let circuit = generate(Part::BranchRegister(cond), width).unwrap();
            let cases = cases(16, 640, &[width; 5]);
            check(&circuit, ["a", "b", "offset", "br", "pc"], &cases, |[a, b, offset, br, pc]| {
                let br = if holds(cond, a, b, width) { br + offset } else { br } & m;
                Some([a, b, offset, br, (pc + br) & m])
            });
        }
        let turn = generate(Part::BranchTurn, width).unwrap();
        check(
            &turn,
            ["offset", "br", "pc", "dir"],
            &cases(16, 640, &[width, width, width, 1]),
            |[offset, br, pc, dir]| {
                let br = (br + offset) & m;
                Some([offset, br, (pc + br) & m, dir ^ 1])
            },
        );
        let swap = generate(Part::BranchSwap, width).unwrap();
        check(&swap, ["r", "br", "pc"], &cases(16, 640, &[width; 3]), |[r, br, pc]| Some([br, r, (pc + r) & m]));
    }
}
