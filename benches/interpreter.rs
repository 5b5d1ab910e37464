//! The interpreter beside a hand-written `match` loop over the same decoded
//! program, in the same run. `cargo bench --bench interpreter`.
//!
//! The loop knows only the instructions that these kernels use, and makes the
//! same checks (memory bounds, landing places, stack words, links). It does not count blocks,
//! keep a step limit or know a direction. The kernels are written with the bodies of loops unrolled
//! to ten register instructions, as programs' inner loops are.

mod common;
#[path = "common/kernels.rs"]
mod kernels;

use std::hint::black_box;

use common::{Subject, medians};
use kernels::KERNELS;
use pendula::asm::assemble::assemble;
use pendula::isa::Module;
use pendula::isa::inst::Kind;
use pendula::isa::operand::Shape;
use pendula::isa::table::{Row, TableFn, int_fn, q_fn};
use pendula::isa::types::{Acc, Cond};
use pendula::vm::{Config, Engine, Machine, Outcome, Program};

/// The hand-written loop's instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum K {
    AddRR,
    SubRR,
    XorRR,
    AddRI,
    SubRI,
    AddRM,
    AddMR,
    AddMulRRR,
    AddMulRRM,
    AddMulQ,
    SubMulQ,
    Swap,
    Rol,
    Inc,
    Dec,
    Push,
    Pop,
    Ne,
    Lt,
    FromNe,
    Call,
    Uncall,
    Return,
    Skip,
    Halt,
}

/// Twelve bytes of operands and an opcode, as a plain interpreter would predecode.
#[derive(Clone, Copy)]
struct P {
    k: K,
    a: u8,
    b: u8,
    c: u8,
    to: u32,
    imm: u64,
}

/// Predecodes a module; the inverse code in reverse order follows it, for `uncall`.
fn predecode(module: &Module) -> Vec<P> {
    let n = module.code.len();
    let mut out = Vec::new();
    for back in [false, true] {
        for at in 0..n {
            let at = if back { n - 1 - at } else { at };
            let inst = if back { module.code[at].inverse() } else { module.code[at] };
            let index = |a: i64| (if back { 2 * n as i64 - 1 - a } else { a }) as u32;
            let target = at as i64 + inst.imm;
            let [a, b, c, ..] = inst.regs.map(|r| r.number());
            let mul = TableFn::Int(int_fn::Name::Mul);
            let id = TableFn::Int(int_fn::Name::Id);
            let mut p = P { k: K::Skip, a, b, c, to: 0, imm: inst.imm as u64 };
            p.k = match inst.kind {
                Kind::Accumulate { acc, inverse, func, shape } => match (acc, inverse, func, shape) {
                    (Acc::Add, false, f, Shape::RR) if f == id => K::AddRR,
                    (Acc::Add, true, f, Shape::RR) if f == id => K::SubRR,
                    (Acc::Xor, _, f, Shape::RR) if f == id => K::XorRR,
                    (Acc::Add, false, f, Shape::RI) if f == id || f == TableFn::Q(q_fn::Name::Id) => K::AddRI,
                    (Acc::Add, true, f, Shape::RI) if f == id || f == TableFn::Q(q_fn::Name::Id) => K::SubRI,
                    (Acc::Add, false, f, Shape::RM) if f == id => K::AddRM,
                    (Acc::Add, false, f, Shape::MR) if f == id => K::AddMR,
                    (Acc::Add, false, f, Shape::RRR) if f == mul => K::AddMulRRR,
                    (Acc::Add, false, f, Shape::RRM) if f == mul => K::AddMulRRM,
                    (Acc::Add, false, TableFn::Q(q_fn::Name::Mul), Shape::RRR) => K::AddMulQ,
                    (Acc::Add, true, TableFn::Q(q_fn::Name::Mul), Shape::RRR) => K::SubMulQ,
                    // Only reached in the inverse code, which no kernel runs there.
                    _ => K::Halt,
                },
                Kind::Extension { .. } => K::Halt,
                Kind::Row { row, inverse, cond, form, .. } => {
                    p.to = index(target);
                    match (row, inverse) {
                        (Row::Swap, _) => K::Swap,
                        (Row::Rol, _) => K::Rol,
                        (Row::Inc, false) => K::Inc,
                        (Row::Inc, true) => K::Dec,
                        (Row::Push, false) => K::Push,
                        (Row::Push, true) => K::Pop,
                        (Row::Jmp, from) => {
                            if form {
                                p.imm = i64::from(inst.small) as u64;
                                p.b = 0;
                            } else {
                                p.imm = 0;
                            }
                            match (from, cond) {
                                (false, Cond::Ne) => K::Ne,
                                (false, Cond::Lt) => K::Lt,
                                (true, Cond::Ne) => K::FromNe,
                                _ => K::Halt,
                            }
                        }
                        (Row::Call, flip) => {
                            // Call stays in its half; uncall enters the other half at the procedure's `ret`.
                            let ret = target + module.code[target as usize].imm;
                            let other = |a: i64| (if back { a } else { 2 * n as i64 - 1 - a }) as u32;
                            p.to = if flip == back { index(target) } else { other(ret) };
                            if flip {
                                p.to = if back { target as u32 } else { other(ret) };
                                K::Uncall
                            } else {
                                p.to = if back { index(ret) } else { index(target) };
                                K::Call
                            }
                        }
                        (Row::Proc, ends) => {
                            p.imm = target as u64;
                            if ends { K::Return } else { K::Skip }
                        }
                        (Row::Start, ends) => {
                            if ends {
                                K::Halt
                            } else {
                                K::Skip
                            }
                        }
                        _ => K::Halt,
                    }
                }
            };
            out.push(p);
        }
    }
    out
}

/// The loop. Returns how many instructions it ran; `None` where a check fails.
#[expect(clippy::too_many_lines, reason = "one match with an arm for each instruction")]
#[inline(never)]
fn match_loop(code: &[P], regs: &mut [u64; 32], mem: &mut [u64], entry: usize, frac: u32) -> Option<u64> {
    macro_rules! r {
        ($x:expr) => {
            regs[($x & 31) as usize]
        };
    }
    let mulq = |a: u64, b: u64| {
        let wide = (i128::from(a as i64) * i128::from(b as i64)) >> frac;
        (wide as u64, wide != i128::from(wide as i64))
    };
    let half = code.len() / 2;
    let mut overflow = false;
    let mut steps = 0u64;
    let mut pc = entry;
    while let Some(p) = code.get(pc) {
        pc += 1;
        steps += 1;
        match p.k {
            K::AddRR => r!(p.a) = r!(p.a).wrapping_add(r!(p.b)),
            K::SubRR => r!(p.a) = r!(p.a).wrapping_sub(r!(p.b)),
            K::XorRR => r!(p.a) ^= r!(p.b),
            K::AddRI => r!(p.a) = r!(p.a).wrapping_add(p.imm),
            K::SubRI => r!(p.a) = r!(p.a).wrapping_sub(p.imm),
            K::AddRM => {
                let at = r!(p.b).wrapping_add(r!(p.c)).wrapping_add(p.imm);
                r!(p.a) = r!(p.a).wrapping_add(*mem.get(at as usize)?);
            }
            K::AddMR => {
                let at = r!(p.a).wrapping_add(r!(p.b)).wrapping_add(p.imm);
                let word = mem.get_mut(at as usize)?;
                *word = word.wrapping_add(r!(p.c));
            }
            K::AddMulRRR => r!(p.a) = r!(p.a).wrapping_add(r!(p.b).wrapping_mul(r!(p.c))),
            K::AddMulRRM => {
                let at = r!(p.c).wrapping_add(p.imm);
                r!(p.a) = r!(p.a).wrapping_add(r!(p.b).wrapping_mul(*mem.get(at as usize)?));
            }
            K::AddMulQ | K::SubMulQ => {
                let (x, wrapped) = mulq(r!(p.b), r!(p.c));
                let y = r!(p.a) as i64;
                let (z, wrapped_too) =
                    if p.k == K::AddMulQ { y.overflowing_add(x as i64) } else { y.overflowing_sub(x as i64) };
                overflow |= wrapped | wrapped_too;
                r!(p.a) = z as u64;
            }
            K::Swap => regs.swap((p.a & 31) as usize, (p.b & 31) as usize),
            K::Rol => r!(p.a) = r!(p.a).rotate_left(p.imm as u32 & 63),
            K::Inc => r!(p.a) = r!(p.a).wrapping_add(1),
            K::Dec => r!(p.a) = r!(p.a).wrapping_sub(1),
            K::Push => {
                let word = mem.get_mut(regs[31] as usize)?;
                if *word != 0 {
                    return None;
                }
                std::mem::swap(word, &mut r!(p.a));
                regs[31] = regs[31].wrapping_add(1);
            }
            K::Pop => {
                let sp = regs[31].wrapping_sub(1);
                if r!(p.a) != 0 {
                    return None;
                }
                std::mem::swap(mem.get_mut(sp as usize)?, &mut r!(p.a));
                regs[31] = sp;
            }
            K::Ne | K::Lt => {
                let (a, b) = (r!(p.a), r!(p.b).wrapping_add(p.imm));
                let taken = if p.k == K::Ne { a != b } else { (a as i64) < b as i64 };
                if taken {
                    let t = code.get(p.to as usize)?;
                    if r!(t.a) == r!(t.b).wrapping_add(t.imm) {
                        return None;
                    }
                    pc = p.to as usize + 1;
                    steps += 1;
                }
            }
            K::FromNe => {
                if r!(p.a) != r!(p.b).wrapping_add(p.imm) {
                    return None;
                }
            }
            K::Call | K::Uncall => {
                let word = mem.get_mut(regs[31] as usize)?;
                if *word != 0 {
                    return None;
                }
                // The link is the call's address + 1, whichever half runs it.
                *word = (if pc <= half { pc } else { code.len() - pc + 1 }) as u64;
                regs[31] += 1;
                pc = p.to as usize;
            }
            K::Return => {
                let sp = regs[31].wrapping_sub(1);
                let link = std::mem::take(mem.get_mut(sp as usize)?) as usize;
                regs[31] = sp;
                let backward = pc > half;
                let flip = code.get(link.checked_sub(1)?)?.k == K::Uncall;
                pc = if backward != flip { code.len() - link + 1 } else { link };
            }
            K::Skip => {}
            K::Halt => {
                black_box(overflow);
                return Some(steps);
            }
        }
    }
    None
}

fn main() {
    let only = std::env::args().nth(1).filter(|a| !a.starts_with('-'));
    println!(
        "{:<12} {:>16} {:>16} {:>16} {:>8} {:>9}",
        "kernel", "match loop M/s", "interpreter M/s", "not counting", "ratio", "counting"
    );
    for (name, source) in KERNELS {
        if only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        let assembly = assemble(name, source.to_string(), &Default::default());
        let module = assembly.module.unwrap_or_else(|| panic!("{name}: {:?}", assembly.diagnostics));
        let frac = module.flags.format.frac();
        let data = module.data.len();
        let hand = predecode(&module);
        let entry =
            module.code.iter().position(|i| matches!(i.kind, Kind::Row { row: Row::Start, .. })).expect("a start");
        let program = Program::new(module, true).expect("a sound kernel");
        let (mem, engine) = (Some(data as u64 + 1024), Engine::Interpreter);
        let config = |count| Config { mem, count, engine, ..Config::default() };

        // Both must compute the same before either is timed.
        let mut machine = Machine::new(&program, &config(true)).expect("enough memory");
        assert_eq!(machine.run(None), Outcome::Finished, "{name}");
        let (mut regs, mut mem) = ([0; 32], vec![0; data + 1024]);
        regs[31] = data as u64;
        let steps = match_loop(&hand, &mut regs, &mut mem, entry, frac).expect("no check fails");
        assert_eq!(&regs, machine.registers(), "{name}");
        assert_eq!(mem, machine.memory(), "{name}");
        assert_eq!(steps, machine.counts().instructions(), "{name}");

        let interpret = |count| {
            let mut machine = Machine::new(&program, &config(count)).expect("enough memory");
            assert_eq!(machine.run(None), Outcome::Finished);
            black_box(machine.registers()[1]);
            steps
        };
        let mut subjects = [
            Subject {
                run: Box::new(|| {
                    let (mut regs, mut mem) = ([0; 32], vec![0; data + 1024]);
                    regs[31] = data as u64;
                    match_loop(black_box(&hand), &mut regs, &mut mem, entry, frac).expect("no check fails")
                }),
            },
            Subject { run: Box::new(|| interpret(true)) },
            Subject { run: Box::new(|| interpret(false)) },
        ];
        let t = medians(&mut subjects, 11);
        println!(
            "{name:<12} {:>16.0} {:>16.0} {:>16.0} {:>8.2} {:>8.1}%",
            1e-6 / t[0],
            1e-6 / t[1],
            1e-6 / t[2],
            t[1] / t[0],
            (t[1] / t[2] - 1.0) * 100.0
        );
    }
    println!(
        "\nratio: interpreter's time over the match loop's (target: at most 1.3); counting: what counting blocks costs."
    );
}
