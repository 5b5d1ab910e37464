//! What the fuzz targets check of a module, however it came about.

pub mod compiled;
pub mod functional;
pub mod targets;
pub mod text;

use pendula_asm::assemble::{Assembly, Options, assemble};
use pendula_asm::pisa::{self, import};
use pendula_asm::{check, definitions, disasm, fmt, invert, object};
use pendula_isa::budget::Budget;
use pendula_isa::counts::{Counts, Direction, Mode};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Acc, Ty};
use pendula_isa::verify::is_row;
use pendula_isa::{Format, Profile};
use pendula_vm::{AdMode, Config, Engine, Machine, Outcome, Program, StepOutcome};

/// Instructions that a run may execute.
const STEPS: u64 = 10_000;
/// Words of memory beyond the data.
const MEMORY: u64 = 1 << 10;
/// Words of data, and statements, that an input may ask for.
const SIZE: u64 = 1 << 16;

/// Assembles with small limits and without files.
pub fn assembly(text: &str) -> Assembly {
    let options = Options {
        budget: Budget { bytes: 1 << 20, words: SIZE, statements: SIZE, ..Budget::default() },
        loader: Some(Box::new(|_| Err(std::io::ErrorKind::NotFound.into()))),
        ..Options::default()
    };
    assemble("fuzz.rasm", text.to_string(), &options)
}

/// Definitions as text and back; where each is used once, the program assembles, survives as an object, and runs.
pub fn definitions(text: &str) {
    let options = || Options {
        budget: Budget { bytes: 1 << 16, ..Budget::default() },
        loader: Some(Box::new(|_| Err(std::io::ErrorKind::NotFound.into()))),
        ..Options::default()
    };
    let Ok(read) = definitions::read("fuzz.isa", text.to_string(), Format::default(), &options()) else { return };
    let printed: String = read.iter().map(|d| definitions::text(d, Format::default())).collect();
    let again = definitions::read("again.isa", printed.clone(), Format::default(), &options());
    let again = again.unwrap_or_else(|(found, _)| panic!("{found:#?}\n{printed}"));
    let second: String = again.iter().map(|d| definitions::text(d, Format::default())).collect();
    assert_eq!(second, printed);
    let mut program = format!("{printed}\n start\n");
    for definition in &again {
        let Ok(kinds) = definition.kinds() else { return };
        for (name, _) in kinds {
            let operands: Vec<String> = (0..definition.operands()).map(|n| format!("r{}", n + 1)).collect();
            program.push_str(&format!(" {name} {}\n", operands.join(", ")));
        }
    }
    program.push_str(" finish\n");
    let assembled = assembly(&program);
    let module = assembled.module.unwrap_or_else(|| panic!("{:#?}\n{program}", assembled.diagnostics));
    if is_small(&module) {
        written(&module, true);
        run(&module);
        engines(&module);
    }
}

/// The module without what differs when the same program is written in another way.
fn bare(module: &Module) -> Module {
    Module { locs: Vec::new(), files: Vec::new(), ..module.clone() }
}

/// The module with the texts and spans that an assembler would have made of it: in the order of addresses, none unused.
fn in_order(module: &Module) -> Module {
    let mut out = bare(module);
    out.spans.sort_by(|a, b| (a.start, b.end, a.undo, &a.name).cmp(&(b.start, a.end, b.undo, &b.name)));
    out.texts.clear();
    for inst in &mut out.code {
        if let Kind::Row { row: Row::Print, .. } = inst.kind {
            let text = &module.texts[inst.imm as usize];
            let known = out.texts.iter().position(|t| t == text);
            inst.imm = known.unwrap_or(out.texts.len()) as i64;
            if known.is_none() {
                out.texts.push(text.clone());
            }
        }
    }
    out
}

/// Assembles source text; if it is a program, everything must agree about it.
pub fn source(text: &str) {
    let formatted = fmt::format_source("fuzz.rasm", text);
    let Some(module) = assembly(text).module else { return };
    let formatted = formatted.expect("what assembles consists of tokens");
    let again = assembly(&formatted).module.expect("formatting keeps a program a program");
    assert_eq!(bare(&again), bare(&module), "formatted:\n{formatted}");
    written(&module, true);
    run(&module);
}

/// Whether a module from an object is small enough for what follows: zeros take no place in an object.
pub fn is_small(module: &Module) -> bool {
    module.data.len() as u64 <= SIZE && module.code.len() as u64 <= SIZE
}

/// Objects, disassembly and inversion come back to the module.
///
/// An object that no assembler wrote may have data that belongs to no symbol, which text cannot say: its text need not
/// be the same a second time.
pub fn written(module: &Module, assembled: bool) {
    let bytes = object::write(module).expect("what was assembled can be written");
    assert_eq!(object::read(&bytes).as_ref(), Ok(module));
    check::check(module);
    if let Ok(inverse) = invert::invert(module) {
        assert_eq!(invert::invert(&inverse).as_ref(), Ok(module));
    }
    let text = disasm::disassemble(module);
    let assembly = assembly(&text);
    let Some(again) = assembly.module else { panic!("{:#?}\n{text}", assembly.diagnostics) };
    let (again_, module_) = (in_order(&again), in_order(module));
    assert_eq!(again_.code, module_.code, "{text}");
    assert_eq!(
        (&again_.data, &again_.texts, &again_.spans, &again_.flags),
        (&module_.data, &module_.texts, &module_.spans, &module_.flags),
        "{text}"
    );
    if assembled {
        assert_eq!(disasm::disassemble(&again), text);
        for symbol in &module.symbols {
            assert!(again.symbols.contains(symbol), "{symbol:?}\n{text}");
        }
    }
}

/// Whether a run backward brings every bit back: no sum of doubles, be it of gradients; nothing rounded, cleared or erased.
fn is_exact(module: &Module) -> bool {
    let lifts = module.code.iter().any(|inst| inst.kind.flow() == Flow::GradientCall);
    module.code.iter().all(|inst| match inst.kind {
        Kind::Accumulate { acc: Acc::Xor, .. } => true,
        Kind::Accumulate { acc, func, .. } => {
            let f = func.info();
            let doubles = f.ty == Ty::F || f.args.iter().any(|a| a.ty == Ty::F);
            !(f.ty == Ty::F && acc == Acc::Add) && !(lifts && doubles && f.partials > 0)
        }
        Kind::Row { row: Row::ZeroWithin | Row::Erase, .. } | Kind::Row { row: Row::Rot, ty: Ty::F, .. } => false,
        Kind::Row { .. } => true,
        // Its steps may round.
        Kind::Extension { .. } => false,
    })
}

fn per_instruction(counts: &Counts, len: usize) -> Vec<(Mode, Vec<u64>)> {
    counts.modes.iter().map(|mode| (mode.mode, counts.per_instruction(mode, len))).collect()
}

fn by_steps(m: &mut Machine) -> Outcome {
    for _ in 0..STEPS {
        match m.step() {
            StepOutcome::Executed(_) => {}
            StepOutcome::Finished => return Outcome::Finished,
            StepOutcome::Trap(trap) => return Outcome::Trap(trap),
        }
    }
    Outcome::Limit
}

/// Runs the module, if it can be run, within limits: by blocks and by steps alike, and back to where it began.
pub fn run(module: &Module) {
    let Ok(program) = Program::new(module.clone(), true) else { return };
    let config = Config { mem: Some(module.data.len() as u64 + MEMORY), ..Config::default() };
    let (Ok(mut blocks), Ok(mut steps)) = (Machine::new(&program, &config), Machine::new(&program, &config)) else {
        return;
    };
    let start = blocks.digest();
    let len = module.code.len();
    let mut executed = 0;
    // In the profile `pisa` a run may begin elsewhere than at a `start`, and pass by others; a run back ends at the one that it comes to first, or,
    // where there is none, has no instruction for it.
    let begins = |inst: &Inst| is_row(inst, Row::Start, false);
    let native = module.flags.profile == Profile::Native;
    let starts = module.code.iter().filter(|inst| begins(inst)).count();
    let mut at_start = native || (starts == 1 && module.code.get(module.flags.entry as usize).is_some_and(begins));
    for direction in [Direction::Forward, Direction::Backward] {
        for m in [&mut blocks, &mut steps] {
            m.begin(direction);
            // Gradient words that `zero` drops come back with the run.
            match direction {
                Direction::Forward => m.keep_dropped(),
                Direction::Backward => m.reverse_dropped(),
            }
        }
        let outcome = blocks.run(Some(STEPS));
        let stepped = by_steps(&mut steps);
        // At the limit, a run by blocks may know already what is next.
        if stepped != Outcome::Limit {
            assert_eq!(outcome, stepped);
        }
        assert_eq!(steps.digest(), blocks.digest());
        assert_eq!(steps.executed(), blocks.executed());
        assert_eq!(per_instruction(&steps.counts(), len), per_instruction(&blocks.counts(), len));
        match outcome {
            Outcome::Finished if direction == Direction::Forward => {
                executed = blocks.executed();
                let passed =
                    |(_, counts): &(Mode, Vec<u64>)| counts.get(module.flags.entry as usize).copied().unwrap_or(0);
                at_start &= native || per_instruction(&blocks.counts(), len).iter().map(passed).sum::<u64>() == 1;
            }
            Outcome::Finished => {}
            Outcome::Trap(trap) => {
                assert_eq!(blocks.run(None), Outcome::Trap(trap.clone()), "a trap comes again");
                let forward = direction == Direction::Forward;
                assert!(forward || !at_start || !is_exact(module), "on the way back: {trap:?}");
                return;
            }
            Outcome::Limit => {
                let forward = direction == Direction::Forward;
                assert!(forward || !at_start || !is_exact(module), "the way back is longer");
                return;
            }
        }
    }
    if is_exact(module) && (at_start || starts == 0) {
        assert_eq!(blocks.digest(), start);
        assert!(!at_start || blocks.executed() == 2 * executed);
    }
}

/// Text of PISA, in one of the ways in which it is read; what is a program runs both ways, and what is translated assembles.
pub fn pisa(text: &str) {
    let strange = text.starts_with("; bugs");
    let read = pisa::Options { pendvm_bugs: strange, strict: text.starts_with("; strict"), ..pisa::Options::default() };
    if let Some(module) = pisa::read("fuzz.pisa", text, &read).module {
        assert_eq!(object::read(&object::write(&module).expect("it can be written")).as_ref(), Ok(&module));
        check::check(&module);
        if let Ok(inverse) = invert::invert(&module) {
            assert_eq!(bare(&invert::invert(&inverse).expect("it was inverted once")), bare(&module));
        }
        run(&module);
    }
    let imported = import::import("fuzz.pisa", text, &import::Options { read, ..import::Options::default() });
    if let Some(text) = imported.text {
        let assembly = assembly(&text);
        // Cells that PISA has beyond the data may be more than is taken here.
        let too_large = assembly.diagnostics.iter().any(|d| d.code == "P0091");
        assert!(assembly.module.is_some() || too_large, "{:#?}\n{text}", assembly.diagnostics);
    }
}

/// Runs a module on the interpreter and in compiled code: they agree in everything, both ways, with gradient words and without.
pub fn engines(module: &Module) {
    let Ok(program) = Program::new(module.clone(), true) else { return };
    let mem = Some(module.data.len() as u64 + MEMORY);
    let plain = Config { mem, engine: Engine::Interpreter, ..Config::default() };
    for tier_up in [0, 3] {
        for ad_mode in [AdMode::Plain, AdMode::Gradient] {
            let jit = Config { engine: Engine::Jit, warm_up: 0, tier_up, ..plain };
            let (Ok(mut a), Ok(mut b)) = (Machine::new(&program, &plain), Machine::new(&program, &jit)) else { return };
            for direction in [Direction::Forward, Direction::Backward] {
                let outcomes = [&mut a, &mut b].map(|m| {
                    m.set_ad_mode(ad_mode);
                    m.begin(direction);
                    m.run(Some(STEPS))
                });
                assert_eq!(outcomes[0], outcomes[1], "{direction:?} {ad_mode:?}");
                assert_eq!(a.digest(), b.digest(), "{direction:?} {ad_mode:?}");
                assert_eq!(a.flags(), b.flags(), "{direction:?} {ad_mode:?}");
                let len = module.code.len();
                assert_eq!(per_instruction(&a.counts(), len), per_instruction(&b.counts(), len));
                if outcomes[0] != Outcome::Finished {
                    break;
                }
            }
        }
    }
}
