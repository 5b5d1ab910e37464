//! PISA in the interpreter beside a plain loop that does what PendVM does after each instruction, in the same run:
//! `cargo bench --bench pisa`. The loop knows only the instructions of these programs; it does not count, has no step limit, and
//! keeps its cells in one array.

mod common;

use std::hint::black_box;

use common::{Subject, medians};
use pendula::asm::pisa::{self, Options};
use pendula::isa::inst::{Inst, Kind};
use pendula::isa::operand::Shape;
use pendula::isa::table::{Row, TableFn, int_fn};
use pendula::isa::types::Cond;
use pendula::isa::{Acc, Module};
use pendula::vm::{Config, Machine, Outcome, Program};

const LOOP: &str = include_str!("../tests/filetests/pisa/programs/scale.pisa");
const OBJECTS: &str = include_str!("../tests/filetests/pisa/programs/objects_deep.pisa");

/// Cells from address 0 that the loop has.
const CELLS: usize = (1 << 20) + 4096;

/// An instruction of the plain loop: registers `a` and `b`, or a constant.
#[derive(Clone, Copy)]
enum P {
    AddR(u8, u8),
    SubR(u8, u8),
    AddI(u8, i32),
    XorR(u8, u8),
    XorI(u8, i32),
    Rl(u8, u32),
    Exch(u8, u8),
    Compare(Cond, u8, u8, i32),
    Sign(Cond, u8, i32),
    Branch(i32),
    Nothing,
    Finish,
}

/// The program in the plain loop's instructions; `None` if it has others.
fn plain(module: &Module) -> Option<Vec<P>> {
    module.code.iter().map(one).collect()
}

fn one(inst: &Inst) -> Option<P> {
    let [a, b, ..] = inst.regs.map(|r| r.number());
    let imm = inst.imm as i32;
    Some(match inst.kind {
        Kind::Accumulate { acc: Acc::Xor, func: TableFn::Int(int_fn::Name::Id), shape: Shape::RR, .. } => P::XorR(a, b),
        Kind::Accumulate { acc: Acc::Xor, func: TableFn::Int(int_fn::Name::Id), shape: Shape::RI, .. } => {
            P::XorI(a, imm)
        }
        Kind::Accumulate { .. } | Kind::Extension { .. } => return None,
        Kind::Row { row, inverse, form, cond, .. } => match (row, inverse, form) {
            (Row::Add32, false, false) => P::AddR(a, b),
            (Row::Add32, true, false) => P::SubR(a, b),
            (Row::Add32, false, true) => P::AddI(a, imm),
            (Row::Rol32, false, true) => P::Rl(a, imm as u32),
            (Row::Exch32, ..) => P::Exch(a, b),
            (Row::Bra, ..) if cond == Cond::Always => P::Branch(imm),
            (Row::Bra, _, false) => P::Compare(cond, a, b, imm),
            (Row::Bra, _, true) => P::Sign(cond, a, imm),
            (Row::Start, false, _) | (Row::Cell, ..) => P::Nothing,
            (Row::Start, true, _) => P::Finish,
            _ => return None,
        },
    })
}

/// Runs forward from `pc`; gives the registers and the number of steps.
fn run(code: &[P], cells: &mut [i32], mut pc: u32) -> ([i32; 32], u64) {
    let (mut r, mut br, mut steps) = ([0i32; 32], 0i32, 0u64);
    loop {
        match code[pc as usize] {
            P::AddR(a, b) => r[a as usize] = r[a as usize].wrapping_add(r[b as usize]),
            P::SubR(a, b) => r[a as usize] = r[a as usize].wrapping_sub(r[b as usize]),
            P::AddI(a, k) => r[a as usize] = r[a as usize].wrapping_add(k),
            P::XorR(a, b) => r[a as usize] ^= r[b as usize],
            P::XorI(a, k) => r[a as usize] ^= k,
            P::Rl(a, k) => r[a as usize] = r[a as usize].rotate_left(k),
            P::Exch(a, b) => {
                let cell = &mut cells[r[b as usize] as u32 as usize];
                std::mem::swap(&mut r[a as usize], cell);
            }
            P::Compare(cond, a, b, to) if cond.holds(Some(r[a as usize].cmp(&r[b as usize]))) => {
                br = br.wrapping_add(to);
            }
            P::Sign(cond, a, to) if cond.holds(Some(r[a as usize].cmp(&0))) => br = br.wrapping_add(to),
            P::Branch(to) => br = br.wrapping_add(to),
            P::Compare(..) | P::Sign(..) | P::Nothing => {}
            P::Finish => return (r, steps),
        }
        steps += 1;
        pc = pc.wrapping_add_signed(if br == 0 { 1 } else { br });
    }
}

fn main() {
    println!("{:<10} {:>12} {:>16} {:>16} {:>8}", "program", "steps", "plain loop M/s", "interpreter M/s", "ratio");
    for (name, source) in [("loop", LOOP.replace("DATA   1000", "DATA   800000")), ("objects", OBJECTS.to_string())] {
        let module = pisa::read(name, &source, &Options::default()).module.expect("a program");
        let code = plain(&module);
        let entry = module.flags.entry;
        let program = Program::new(module, true).expect("a sound program");
        let config = Config { mem: Some(CELLS as u64), ..Config::default() };
        let interpret = || {
            let mut machine = Machine::new(&program, &config).expect("enough memory");
            assert_eq!(machine.run(None), Outcome::Finished);
            black_box(machine.registers()[1]);
            machine.executed()
        };
        let steps = interpret();
        // A short program is run often enough for the clock.
        let times = (4_000_000 / steps).max(1);
        let mut subjects = vec![Subject { run: Box::new(|| (0..times).map(|_| interpret()).sum()) }];
        if let Some(code) = &code {
            let image: Vec<i32> = program.module().code.iter().map(|i| i.imm as i32).collect();
            let plainly = move || {
                let mut cells = vec![0; CELLS];
                cells[..image.len()].copy_from_slice(&image);
                black_box(run(black_box(code), &mut cells, entry)).1
            };
            assert_eq!(plainly(), steps, "{name}");
            subjects.push(Subject { run: Box::new(plainly) });
        }
        let t = medians(&mut subjects, 9);
        let rate = |n: usize| t.get(n).map_or("-".to_string(), |t| format!("{:.0}", 1e-6 / t));
        let ratio = t.get(1).map_or("-".to_string(), |plain| format!("{:.2}", t[0] / plain));
        println!("{name:<10} {steps:>12} {:>16} {:>16} {ratio:>8}", rate(1), rate(0));
    }
    println!("\nratio: the interpreter's time over the plain loop's.");
}
