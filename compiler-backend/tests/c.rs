//! Programs written in C do what the evaluator says, to the last bit: forward, backward, and backward with gradients; and give up where it traps.

mod common;

use common::Random;
use common::generate::{Case, Profile, generate};
use pendula_compiler::c::{self, KERNELS, Mode};
use pendula_compiler::ir::eval::{Config, Direction as Way, EvalError, Evaluation, run};
use pendula_compiler::ir::text::print;
use pendula_compiler::ir::{Block, Stmt};
use pendula_compiler::lower::{Argument, ArgumentKind};
use pendula_isa::Ty;
use pendula_isa::adjoint::Carriage;
use pendula_isa::counts::Direction;
use pendula_native::cc::{self, Rounding, Settings};
use pendula_native::whole::Code;

const CONFIG: Config = Config { memory: 1 << 10, max_steps: 100_000, ieee: false };

/// The words of a run: memory, then parameters; then the same of what they carry.
#[derive(Debug, PartialEq)]
struct Words {
    values: Vec<u64>,
    gradients: Vec<u64>,
}

struct Compiled {
    case: Case,
    /// Words of memory before the parameters.
    given: usize,
    /// Where in memory each parameter is; that of a constant is nowhere.
    places: Vec<Option<usize>>,
    codes: Vec<(Mode, Code)>,
}

const MODES: [Mode; 4] = [
    Mode { direction: Direction::Forward, carriage: Carriage::Plain },
    Mode { direction: Direction::Backward, carriage: Carriage::Plain },
    Mode { direction: Direction::Forward, carriage: Carriage::Gradient },
    Mode { direction: Direction::Backward, carriage: Carriage::Gradient },
];

/// A directory of the test's own, and little optimising: the code is run once.
fn settings() {
    let directory = std::env::temp_dir().join(format!("pendula-c-{}", std::process::id()));
    cc::set(Settings { directory: Some(directory), options: vec!["-O1".into()] });
}

impl Compiled {
    fn new(mut case: Case) -> Compiled {
        settings();
        let given = case.memory.len().max(case.program.stack as usize);
        case.memory.resize(given, 0);
        // The program's memory from address 0 on is its stack, behind which the arguments lie.
        case.program.stack = given as u64;
        let function = &case.program.functions[case.program.entry.expect("an entry").0 as usize];
        let argument = |(n, (ty, value)): (usize, (&Ty, &u64))| {
            let param = function.params[n];
            // Addresses are constants, as those of data are.
            let address = !param.written && function.points(param.var).is_some();
            let word = ArgumentKind::Word { ty: *ty, value: *value };
            let kind = if address { ArgumentKind::Constant(*value) } else { word };
            Argument { name: format!("a{n}"), kind }
        };
        let arguments: Vec<Argument> = case.types.iter().zip(&case.params).enumerate().map(argument).collect();
        let in_data = |a: &Argument| !matches!(a.kind, ArgumentKind::Constant(_));
        let places = arguments.iter().scan(given, |at, a| {
            *at += usize::from(in_data(a));
            Some(in_data(a).then(|| *at - 1))
        });
        let places: Vec<Option<usize>> = places.collect();
        let codes = MODES.map(|mode| {
            let source = c::write(&case.program, &arguments, &[mode], false).expect("it can be written");
            let names = (KERNELS, mode.name());
            let code = Code::new(&source.text, &source.kernels, (names.0, &names.1), Rounding::Strict);
            (mode, code.unwrap_or_else(|e| panic!("{e}\n{}", source.text)))
        });
        Compiled { case, given, places, codes: codes.into() }
    }

    /// A run in C; `None` if it gave up.
    fn native(&self, mode: Mode, words: &Words) -> Option<Words> {
        let top = self.given + self.places.iter().flatten().count();
        let lay = |w: &[u64]| {
            let mut memory = w[..self.given].to_vec();
            memory.resize(CONFIG.memory + self.case.params.len(), 0);
            for (place, word) in self.places.iter().zip(&w[self.given..]) {
                if let Some(at) = place {
                    memory[*at] = *word;
                }
            }
            memory
        };
        let (mut memory, mut lane) = (lay(&words.values), lay(&words.gradients));
        let (_, code) = self.codes.iter().find(|(m, _)| *m == mode)?;
        let mut lanes: Vec<&mut [u64]> = if mode.carriage == Carriage::Plain { Vec::new() } else { vec![&mut lane] };
        if !code.run(&mut memory, &mut lanes, top) {
            return None;
        }
        assert!(memory[top..].iter().chain(&lane[top..]).all(|w| *w == 0), "what is not the program's is left zero");
        let pick = |memory: &[u64], before: &[u64]| {
            let mut out = memory[..self.given].to_vec();
            let words = self.places.iter().zip(&before[self.given..]);
            out.extend(words.map(|(at, word)| at.map_or(*word, |at| memory[at])));
            out
        };
        Some(Words { values: pick(&memory, &words.values), gradients: pick(&lane, &words.gradients) })
    }

    fn evaluated(&self, mode: Mode, words: &Words) -> Result<(Words, Evaluation), EvalError> {
        let way = if mode.direction == Direction::Forward { Way::Forward } else { Way::Backward };
        let split = |w: &[u64]| (w[self.given..].to_vec(), w[..self.given].to_vec());
        let (params, memory) = split(&words.values);
        let gradients = (mode.carriage == Carriage::Gradient).then(|| split(&words.gradients));
        let entry = self.case.program.entry.expect("an entry");
        let e = run(&self.case.program, entry, way, params, memory, gradients, &CONFIG)?;
        let join = |p: &[u64], m: &[u64]| m.iter().chain(p).copied().collect::<Vec<u64>>();
        let gradients = match &e.gradients {
            Some((p, m)) => join(p, m),
            None => words.gradients.clone(),
        };
        Ok((Words { values: join(&e.params, &e.memory), gradients }, e))
    }

    fn seeds(&self, seed: u64) -> Vec<u64> {
        let mut random = Random(seed);
        let types = self.case.memory_types.iter().copied().chain(std::iter::repeat(Ty::Int));
        let types = types.take(self.given).chain(self.case.types.iter().copied());
        types
            .map(|ty| match ty {
                Ty::Int => 0,
                Ty::Q | Ty::L => (random.word() >> 31).wrapping_sub(1 << 32),
                Ty::F => (random.unit() - 0.5).to_bits(),
            })
            .collect()
    }
}

/// How many runs agreed, and how many of them ended.
#[derive(Default)]
struct Tally {
    agreed: usize,
    ended: usize,
    gradients: usize,
}

/// Takes away what is shown: programs that show something are not written in C.
fn silence(block: &mut Block) {
    block.retain(|s| !matches!(s.stmt, Stmt::Show { .. } | Stmt::Print(_)));
    for s in block {
        match &mut s.stmt {
            Stmt::If { pre, post, then, otherwise } => {
                [&mut pre.compute, &mut post.compute, then, otherwise].into_iter().for_each(silence);
            }
            Stmt::While { pre, post, body } => {
                [&mut pre.compute, &mut post.compute, body].into_iter().for_each(silence);
            }
            Stmt::For { body, .. } | Stmt::Span { body, .. } => silence(body),
            Stmt::With { compute, body, .. } => [compute, body].into_iter().for_each(silence),
            _ => {}
        }
    }
}

fn check(profile: Profile, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let case = generate(seed, profile);
        let mut case = case;
        case.program.functions.iter_mut().for_each(|f| silence(&mut f.body));
        let text = print(&case.program);
        let compiled = Compiled::new(case);
        let mut start = Words {
            values: compiled.case.memory.iter().chain(&compiled.case.params).copied().collect(),
            gradients: vec![0; compiled.given + compiled.case.params.len()],
        };
        for (n, mode) in MODES.into_iter().enumerate() {
            if mode.carriage == Carriage::Gradient {
                start.gradients = compiled.seeds(seed);
            }
            let native = compiled.native(mode, &start);
            match compiled.evaluated(mode, &start) {
                Ok((words, e)) => {
                    // What the evaluator counts as wrong in the program, or the machine would note, C need not tell.
                    if e.overflow.is_some() || e.unchecked.is_some() || e.undropped.is_some() {
                        continue;
                    }
                    let Some(native) = native else { panic!("seed {seed}, {mode:?}: gave up\n{text}") };
                    for (what, found, wanted) in
                        [("values", &native.values, &words.values), ("gradients", &native.gradients, &words.gradients)]
                    {
                        let differs = found.iter().zip(wanted).enumerate().find(|(_, (a, b))| a != b);
                        assert!(
                            differs.is_none(),
                            "seed {seed}, {mode:?}: word {differs:?} of {what} ({} words of memory)\n{text}",
                            compiled.given
                        );
                    }
                    tally.ended += 1;
                    tally.gradients += usize::from(mode.carriage == Carriage::Gradient && n == 3);
                    // Backward from where it ended.
                    if mode.direction == Direction::Forward {
                        start = words;
                    }
                }
                Err(EvalError::Steps { .. }) => continue,
                Err(error) => assert!(native.is_none(), "seed {seed}, {mode:?}: {error}, but it ended\n{text}"),
            }
            tally.agreed += 1;
        }
    }
    tally
}

#[test]
fn random_programs() {
    for (n, profile) in [Profile::ALL, Profile::EXACT, Profile::SMOOTH, Profile::RISKY].into_iter().enumerate() {
        let from = 1000 * n as u64;
        let tally = check(profile, from..from + 16);
        assert!(tally.ended >= 8 && tally.gradients >= 1, "{} ended, {} with gradients", tally.ended, tally.gradients);
    }
}
