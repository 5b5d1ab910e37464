//! Programs in PISA: what the checker finds in them, their data and branches, and programs that were damaged at random.
//! `tests/runner/pisa.rs` tests the programs under `tests/filetests/pisa`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pendula::asm::check::{self as checker, Subject};
use pendula::asm::object;
use pendula::asm::pisa::{self, Options};
use pendula::isa::Fault;
use pendula::isa::counts::Direction;
use pendula::isa::table::Flow;
use pendula::vm::{Config, Machine, Outcome, Program};

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/pisa").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let text = |p: &PathBuf| String::from_utf8(std::fs::read(p).unwrap()).unwrap();
    paths.iter().map(|p| (p.clone(), text(p))).collect()
}

/// What a machine holds: registers, cells that are not zero, the words emitted, and how many of the input were read.
type State = (Vec<u64>, BTreeMap<u32, u64>, Vec<u64>, usize);

fn state(machine: &Machine<'_>) -> State {
    let memory = machine.memory().iter().enumerate().filter(|(_, w)| **w != 0).map(|(at, w)| (at as u32, *w));
    let cells = memory.chain(machine.cells()).collect();
    (machine.registers().to_vec(), cells, machine.output().to_vec(), machine.words_read())
}

/// The findings of the checker, with their lines.
fn checked(text: &str, options: &Options) -> Vec<(&'static str, u32)> {
    let module = pisa::read("checked.pisa", text, options).module.expect("a program");
    let line = |at: &Subject| match at {
        Subject::Inst(at) => module.loc(*at as usize).map_or(0, |(_, loc)| loc.line),
        Subject::Module | Subject::Symbol(_) => 0,
    };
    checker::check(&module).iter().map(|f| (f.code, line(&f.at))).collect()
}

#[test]
fn the_checker_tells_what_cannot_work() {
    let found = |body: &str| checked(&format!(";; pendulum pal file\n{body}"), &Options::default());
    assert_eq!(found("START\nADDI $1 1\nXOR $1 $0\nFINISH\n"), []);
    assert_eq!(found("START\nXORI $1 0\nFINISH\n"), [("P0225", 3)]);
    // Branches to an instruction, to data, out of the program.
    assert_eq!(found("START\nBEQ $1 $2 a\na: ADDI $1 1\nFINISH\n"), [("P0231", 3)]);
    assert_eq!(found("START\nBEQ $1 $2 d\nFINISH\nd: DATA 1\n"), [("P0231", 3)]);
    assert_eq!(found("START\nBNE $1 $2 1000\nFINISH\n"), [("P0231", 3)]);
    let onto_end = ";; pendulum pal file\nSTART\nBNE $1 $2 e\ne: FINISH\n";
    assert_eq!(checked(onto_end, &Options { pendvm_bugs: true, ..Options::default() }), []);
    // No end, and what lies behind the last instruction.
    assert_eq!(found("START\nADDI $1 1\n"), [("P0232", 2), ("P0233", 3)]);
    assert_eq!(found("START\nADDI $1 1\nDATA 5\nFINISH\n"), [("P0233", 3), ("P0234", 5)]);
    // What a pair leaps over, unless something else leads there.
    assert_eq!(found("START\na: BRA b\nADDI $1 1\nADDI $2 1\nb: BRA a\nFINISH\n"), [("P0234", 4)]);
    assert_eq!(found("START\na: BEQ $3 $4 b\nADDI $1 1\nb: BEQ $3 $4 a\nFINISH\n"), []);
    // What is done before `START` is not undone; branches alone are nothing to be undone.
    assert_eq!(found(".start m\nm: ADDI $3 7\nEMIT $3\nSTART\nADDI $4 2\nFINISH\n"), [("P0235", 5)]);
    assert_eq!(found("START\nADDI $1 1\nSTART\nFINISH\n"), [("P0235", 4)]);
    assert_eq!(found("a: BRA b\nADDI $9 1\nb: BRA a\nSTART\nFINISH\n"), [("P0234", 3)]);
    // Registers may lead anywhere: a routine and its call.
    assert_eq!(found("START\nBRA f\nFINISH\ntop: BRA end\nf: SWAPBR $2\nNEG $2\nADDI $3 1\nend: BRA top\n"), []);
}

#[test]
fn data_lies_among_the_instructions() {
    let text = ";; pendulum pal file\n START\n ADDI $1 d\n EXCH $2 $1\n SUB $1 $1\n FINISH\nd: DATA 7\n";
    let module = pisa::read("d.pisa", &text.replace("SUB $1 $1", "XORI $3 1"), &Options::default()).module.unwrap();
    assert_eq!(module.code.iter().filter(|i| i.kind.flow() == Flow::Cell).count(), 1);
    let program = Program::new(module, true).unwrap();
    let mut machine = Machine::new(&program, &Config::default()).unwrap();
    pendula::values::set(&mut machine, "d=0xFFFFFFFF").unwrap();
    pendula::values::set(&mut machine, "$0=5").unwrap();
    assert_eq!(machine.run(None), Outcome::Finished);
    let registers = machine.registers();
    assert_eq!(registers[..4].iter().map(|w| w.cast_signed()).collect::<Vec<_>>(), [5, 5, -1, 1]);
    assert_eq!(machine.memory()[5], 0);
}

#[test]
fn branches_need_no_pairs_but_landings() {
    // A branch onto another that leads elsewhere goes on by the sum of the distances, here onto the third, which ends it.
    let text = ";; pendulum pal file\n START\na: BRA b\n ADDI $1 1\nb: BRA c\n ADDI $1 2\nc: BRA a\n FINISH\n";
    let module = pisa::read("chain.pisa", text, &Options::default()).module.unwrap();
    let program = Program::new(module, true).unwrap();
    let mut machine = Machine::new(&program, &Config::default()).unwrap();
    // From a by 2 to b, which adds 2: by 4 to the end, where nothing lands.
    let Outcome::Trap(trap) = machine.run(None) else { panic!("it ends") };
    assert_eq!((trap.fault, trap.at, trap.other.map(|(at, _)| at)), (Fault::NoBranch, 3, None));
}

/// A small generator of numbers: the tests must be the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// A file with a few words exchanged, left out or put elsewhere.
fn damaged(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<Vec<String>> = text.lines().map(|l| l.split_whitespace().map(String::from).collect()).collect();
    for _ in 0..1 + random.below(4) {
        let (n, m) = (1 + random.below(lines.len() - 1), 1 + random.below(lines.len() - 1));
        let other = lines[m].get(random.below(lines[m].len())).cloned();
        let line = &mut lines[n];
        let at = random.below(line.len());
        match (random.below(6), other) {
            (0, Some(word)) => line.insert(at, word),
            (1, Some(word)) if !line.is_empty() => line[at] = word,
            (2, _) if !line.is_empty() => drop(line.remove(at)),
            (3, _) => drop(lines.remove(n)),
            (4, _) => lines.swap(n, m),
            _ if !line.is_empty() => {
                let word: String = line[at].chars().filter(|_| random.below(4) > 0).collect();
                line[at] = word;
            }
            _ => {}
        }
    }
    lines.into_iter().map(|l| l.join(" ") + "\n").collect()
}

#[test]
fn damaged_programs_are_refused_or_run() {
    let mut random = Random(7);
    let (mut refused, mut trapped, mut finished) = (0, 0, 0);
    for folder in ["opcodes", "programs"] {
        for (_, text) in files(folder) {
            for _ in 0..12 {
                let text = damaged(&text, &mut random);
                let bugs = random.below(2) == 0;
                let assembly = pisa::read("damaged.pisa", &text, &Options { pendvm_bugs: bugs, ..Default::default() });
                let Some(module) = assembly.module else {
                    assert!(!assembly.diagnostics.is_empty());
                    refused += 1;
                    continue;
                };
                let bytes = object::write(&module).expect("an object");
                assert_eq!(object::read(&bytes).as_ref(), Ok(&module), "{text}");
                let program = Program::new(module, true).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let mut machine = Machine::new(&program, &Config { mem: Some(1 << 14), ..Config::default() }).unwrap();
                machine.set_input(vec![1, 2, 3], 0);
                let before = state(&machine);
                match machine.run(Some(30_000)) {
                    Outcome::Finished => {
                        finished += 1;
                        // What was run can be undone, if it began at a `START` and passed no other, and did not come back there.
                        let code = &program.module().code;
                        let entry = program.module().flags.entry;
                        let is_bound = |at: usize| code[at].kind.flow() == Flow::Run;
                        let counts = machine.counts();
                        let each = counts.modes.iter().map(|m| counts.per_instruction(m, code.len()));
                        let passed: u64 = each
                            .map(|n| n.iter().enumerate().filter(|(at, _)| is_bound(*at)).map(|(_, n)| n).sum::<u64>())
                            .sum();
                        let there = machine.direction() == Direction::Forward;
                        machine.begin(Direction::Backward);
                        if there && passed == 1 && is_bound(entry as usize) {
                            assert_eq!(machine.run(Some(100_000)), Outcome::Finished, "{text}");
                            assert_eq!(state(&machine), before, "{text}");
                        }
                    }
                    Outcome::Trap(_) => trapped += 1,
                    Outcome::Limit => {}
                }
                assert_eq!(machine.counts().instructions(), machine.executed(), "{text}");
            }
        }
    }
    assert!(refused > 100 && trapped > 20 && finished > 200, "{refused} {trapped} {finished}");
}
