//! Programs written as C have the evaluator's results to the last bit: forward, backward, and backward with gradients. They
//! give up where it traps.

use crate::common;

use common::Random;
use common::generate::{Case, Profile, generate};
use std::ops::Range;

use pendula_codegen::cc::{self, Rounding, Settings};
use pendula_codegen::whole::{Code, End};
use pendula_compiler::c::{self, KERNELS, Mode};
use pendula_compiler::ir::eval::{Config, Direction as Way, EvalError, Evaluation, run};
use pendula_compiler::ir::text::print;
use pendula_compiler::ir::{Block, Stmt};
use pendula_compiler::lower::{Argument, ArgumentKind};
use pendula_compiler::passes::{Pass, Switches};
use pendula_isa::Ty;
use pendula_isa::adjoint::{ActiveArguments, AdMode};
use pendula_isa::counts::Direction;
use pendula_isa::sample::{all, in_turn, share};

const CONFIG: Config = Config { memory: 1 << 10, max_steps: 100_000, until: None, ieee: false, trap_overflow: false };

/// The words of a run: memory, then parameters; then their gradient words in the same order.
#[derive(Debug, PartialEq)]
struct Words {
    values: Vec<u64>,
    gradients: Vec<u64>,
}

struct Compiled {
    case: Case,
    /// Words of memory before the parameters.
    given: usize,
    /// The address of each parameter; `None` for a constant.
    places: Vec<Option<usize>>,
    codes: Vec<(Mode, Code)>,
    changes: Vec<Range<usize>>,
    results: Vec<Range<usize>>,
    carries: Vec<Range<usize>>,
}

const RUNS: [(Direction, AdMode); 4] = [
    (Direction::Forward, AdMode::Plain),
    (Direction::Backward, AdMode::Plain),
    (Direction::Forward, AdMode::Gradient),
    (Direction::Backward, AdMode::Gradient),
];

/// A directory of the test's own, and little optimization, since the code runs once.
fn compiler() {
    let directory = std::env::temp_dir().join(format!("pendula-c-{}", std::process::id()));
    cc::set(Settings { directory: Some(directory), options: vec!["-O1".into()] });
}

impl Compiled {
    fn new(mut case: Case, seed: u64, settings: c::Settings) -> Compiled {
        compiler();
        let given = case.memory.len().max(case.program.stack as usize);
        case.memory.resize(given, 0);
        // The program's memory begins with its stack; the arguments follow.
        case.program.stack = given as u64;
        let function = &case.program.functions[case.program.entry.expect("an entry").0 as usize];
        let argument = |(n, (ty, value)): (usize, (&Ty, &u64))| {
            let param = function.params[n];
            // Addresses are constants, like those of data.
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
        let modes = RUNS.map(|(direction, ad_mode)| Mode::Run(direction, ad_mode));
        let some = Mode::ForwardAndBack(some_arguments(&arguments, seed));
        let modes: Vec<Mode> = modes.into_iter().chain([Mode::ForwardAndBack(ActiveArguments::ALL), some]).collect();
        // All modes share one text, which is compiled once.
        let source = c::write(&case.program, &arguments, &modes, settings).expect("it can be written");
        let codes = modes.into_iter().map(|mode| {
            let code = Code::new(&source.text, &source.kernels, (KERNELS, &mode.name()), Rounding::Strict);
            (mode, code.unwrap_or_else(|e| panic!("{e}\n{}", source.text)))
        });
        let codes = codes.collect();
        let (changes, carries) = (c::changes(&case.program, &arguments), c::carries(&case.program, &arguments));
        let results = c::results(&case.program, &arguments);
        Compiled { case, given, places, codes, changes, results, carries }
    }

    /// A run in C; `None` if it gave up. A forward and backward run also returns the values in between.
    fn native(&self, mode: Mode, words: &Words) -> Option<(Words, Vec<u64>)> {
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
        let (before, lane_before) = (memory.clone(), lane.clone());
        let mut turned = vec![0; top + 1000];
        let lent: &mut [u64] = if matches!(mode, Mode::Run(_, AdMode::Plain)) { &mut [] } else { &mut lane };
        if code.run(&mut memory, [lent, &mut [], &mut []], top, &mut turned) != End::Reached {
            return None;
        }
        let ends = if matches!(mode, Mode::ForwardAndBack(_)) { vec![&turned, &memory] } else { vec![&memory] };
        let is_odd = |w: &u64| !f64::from_bits(*w).is_finite();
        if ends.iter().any(|words| self.results.iter().any(|at| words[at.clone()].iter().any(is_odd))) {
            return None;
        }
        let outside = |ranges: &[Range<usize>], at: usize| !ranges.iter().any(|r| r.contains(&at));
        for at in 0..top {
            assert!(memory[at] == before[at] || !outside(&self.changes, at), "word {at} changed");
            assert!(lane[at] == lane_before[at] || !outside(&self.carries, at), "what word {at} carries changed");
        }
        let turned: Vec<u64> =
            (0..top).map(|at| if outside(&self.changes, at) { before[at] } else { turned[at] }).collect();
        assert!(memory[top..].iter().chain(&lane[top..]).all(|w| *w == 0), "what is not the program's is left zero");
        let pick = |memory: &[u64], before: &[u64]| {
            let mut out = memory[..self.given].to_vec();
            let words = self.places.iter().zip(&before[self.given..]);
            out.extend(words.map(|(at, word)| at.map_or(*word, |at| memory[at])));
            out
        };
        let turned = if matches!(mode, Mode::ForwardAndBack(_)) { pick(&turned, &words.values) } else { Vec::new() };
        // A word to which nothing is added may stay −0, or become 0 if 0 is added.
        let plus = |w: u64| if w == (-0.0_f64).to_bits() { 0 } else { w };
        let gradients = pick(&lane, &words.gradients).into_iter().map(plus).collect();
        Some((Words { values: pick(&memory, &words.values), gradients }, turned))
    }

    fn evaluated(
        &self,
        (direction, ad_mode): (Direction, AdMode),
        words: &Words,
    ) -> Result<(Words, Evaluation), EvalError> {
        let way = if direction == Direction::Forward { Way::Forward } else { Way::Backward };
        let split = |w: &[u64]| (w[self.given..].to_vec(), w[..self.given].to_vec());
        let (params, memory) = split(&words.values);
        let gradients = (ad_mode == AdMode::Gradient).then(|| split(&words.gradients));
        let entry = self.case.program.entry.expect("an entry");
        let e = run(&self.case.program, entry, way, params, memory, gradients, &CONFIG)?;
        let join = |p: &[u64], m: &[u64]| m.iter().chain(p).copied().collect::<Vec<u64>>();
        let gradients = match &e.gradients {
            Some((p, m)) => join(p, m),
            None => words.gradients.clone(),
        };
        let plus = |w: u64| if w == (-0.0_f64).to_bits() { 0 } else { w };
        let gradients = gradients.into_iter().map(plus).collect();
        Ok((Words { values: join(&e.params, &e.memory), gradients }, e))
    }

    /// The types of words.
    fn types(&self) -> impl Iterator<Item = Ty> + '_ {
        let types = self.case.memory_types.iter().copied().chain(std::iter::repeat(Ty::Int));
        types.take(self.given).chain(self.case.types.iter().copied())
    }

    fn seeds(&self, seed: u64) -> Vec<u64> {
        let mut random = Random(seed);
        self.types()
            .map(|ty| match ty {
                Ty::Int => 0,
                Ty::Q | Ty::L => (random.word() >> 31).wrapping_sub(1 << 32),
                Ty::F => (random.unit() - 0.5).to_bits(),
            })
            .collect()
    }
}

/// The number of runs that agreed, and the number of them that ended.
#[derive(Default)]
struct Tally {
    agreed: usize,
    ended: usize,
    gradients: usize,
    turned: usize,
}

/// Independent and dependent variables by a seed. Parameters that are addresses are both: which memory is theirs is not told here.
fn some_arguments(arguments: &[Argument], seed: u64) -> ActiveArguments {
    let addresses = arguments.iter().enumerate().filter(|(_, a)| matches!(a.kind, ArgumentKind::Constant(_)));
    let always = addresses.fold(0, |mask, (n, _)| mask | ActiveArguments::bit(n));
    let mut random = Random(seed);
    ActiveArguments { independent: random.word() | always, dependent: random.word() | always }
}

/// Removes statements that show something, which C does not support.
fn silence(block: &mut Block) {
    block.retain(|s| !matches!(s.stmt, Stmt::Show { .. } | Stmt::Print(_)));
    for s in block {
        match &mut s.stmt {
            Stmt::If { pre, post, then, otherwise } => {
                [&mut pre.compute, &mut post.compute, then, otherwise].into_iter().for_each(silence);
            }
            Stmt::While { pre, post, first, body } => {
                [&mut pre.compute, &mut post.compute, first, body].into_iter().for_each(silence);
            }
            Stmt::For { body, .. } | Stmt::Span { body, .. } => silence(body),
            Stmt::With { compute, body, .. } => [compute, body].into_iter().for_each(silence),
            _ => {}
        }
    }
}

fn check(profile: Profile, seeds: Range<u64>, fast: bool, switches: Switches) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let case = generate(seed, profile);
        let mut case = case;
        case.program.functions.iter_mut().for_each(|f| silence(&mut f.body));
        let text = print(&case.program);
        let compiled =
            Compiled::new(case, seed, c::Settings { fast, certify: c::Certify::Everything, keep: true, switches });
        if fast {
            let start = Words {
                values: compiled.case.memory.iter().chain(&compiled.case.params).copied().collect(),
                gradients: compiled.seeds(seed),
            };
            tally.turned += usize::from(run_forward_and_back(&compiled, start, seed, fast));
            continue;
        }
        let mut start = Words {
            values: compiled.case.memory.iter().chain(&compiled.case.params).copied().collect(),
            gradients: vec![0; compiled.given + compiled.case.params.len()],
        };
        let first = Words { values: start.values.clone(), gradients: compiled.seeds(seed) };
        for (n, (direction, ad_mode)) in RUNS.into_iter().enumerate() {
            let mode = Mode::Run(direction, ad_mode);
            if ad_mode == AdMode::Gradient {
                start.gradients.clone_from(&first.gradients);
            }
            let native = compiled.native(mode, &start).map(|(words, _)| words);
            match compiled.evaluated((direction, ad_mode), &start) {
                Ok((words, e)) => {
                    // C need not detect what the evaluator counts as an error in the program, or what the machine would note.
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
                    tally.gradients += usize::from(n == 3);
                    // Backward from where it ended.
                    if direction == Direction::Forward {
                        start = words;
                    }
                }
                Err(EvalError::Steps { .. }) => continue,
                Err(error) => assert!(native.is_none(), "seed {seed}, {mode:?}: {error}, but it ended\n{text}"),
            }
            tally.agreed += 1;
        }
        for_some_arguments(&compiled, &first, seed);
        tally.turned += usize::from(run_forward_and_back(&compiled, first, seed, false));
    }
    tally
}

/// The gradient words of independent variables are the same to the last bit where those of others are not made.
fn for_some_arguments(compiled: &Compiled, start: &Words, seed: u64) {
    let Some((mode, active)) = compiled.codes.iter().find_map(|(mode, _)| match mode {
        Mode::ForwardAndBack(active) if *active != ActiveArguments::ALL => Some((*mode, *active)),
        _ => None,
    }) else {
        return;
    };
    let mut start = Words { values: start.values.clone(), gradients: start.gradients.clone() };
    for n in (0..compiled.places.len()).filter(|n| !active.is_dependent(*n)) {
        start.gradients[compiled.given + n] = 0;
    }
    let all = compiled.native(Mode::ForwardAndBack(ActiveArguments::ALL), &start);
    let some = compiled.native(mode, &start);
    let (Some((all, all_between)), Some((some, between))) = (&all, &some) else {
        // Only words that nobody asks for can make the one give up, and not the other.
        return assert!(all.is_none(), "seed {seed}: gave up\n{}", print(&compiled.case.program));
    };
    assert_eq!((&all.values, all_between), (&some.values, between), "seed {seed}: values");
    let wanted = |at: &usize| *at < compiled.given || active.is_independent(*at - compiled.given);
    for at in (0..all.gradients.len()).filter(wanted) {
        let [a, b] = [all.gradients[at], some.gradients[at]];
        assert_eq!(a, b, "seed {seed}: gradient word {at}, {active:?}\n{}", print(&compiled.case.program));
    }
}

/// Whether words of a type are the same; doubles up to rounding, if rounding errors are allowed.
fn same(ty: Ty, a: u64, b: u64, fast: bool) -> bool {
    let [x, y] = [a, b].map(f64::from_bits);
    a == b || (fast && ty == Ty::F && (x - y).abs() <= 1e-7 * (1.0 + x.abs().max(y.abs())))
}

/// Forward and back at once ends as one run after the other does, but for the values at the end, which are whoever called's. Gives whether they end.
/// If rounding may be forgotten, checks are, too.
fn run_forward_and_back(compiled: &Compiled, start: Words, seed: u64, fast: bool) -> bool {
    let text = || print(&compiled.case.program);
    let native = compiled.native(Mode::ForwardAndBack(ActiveArguments::ALL), &start);
    let noted = |e: &Evaluation| e.overflow.is_some() || e.unchecked.is_some() || e.undropped.is_some();
    let between = match compiled.evaluated((Direction::Forward, AdMode::Plain), &start) {
        Ok((words, e)) if !noted(&e) => words,
        Ok(_) | Err(EvalError::Steps { .. }) => return false,
        Err(error) => {
            assert!(fast || native.is_none(), "seed {seed}: {error}, but it came back\n{}", text());
            return false;
        }
    };
    let turned = between.values.clone();
    let back = Words { values: between.values, gradients: start.gradients };
    let words = match compiled.evaluated((Direction::Backward, AdMode::Gradient), &back) {
        Ok((words, e)) if !noted(&e) => words,
        Ok(_) | Err(EvalError::Steps { .. }) => return false,
        Err(error) => {
            assert!(fast || native.is_none(), "seed {seed}: {error} on the way back, but it came back\n{}", text());
            return false;
        }
    };
    let Some((found, found_between)) = native else { panic!("seed {seed}: gave up\n{}", text()) };
    let all = [("gradients", &found.gradients, &words.gradients), ("values in between", &found_between, &turned)];
    for (what, found, wanted) in all {
        let words = found.iter().zip(wanted).zip(compiled.types()).enumerate();
        let carried = |ty: Ty| if what == "gradients" { ty.gradient().unwrap_or(ty) } else { ty };
        let differs = words.into_iter().find(|(_, ((a, b), ty))| !same(carried(*ty), **a, **b, fast));
        assert!(differs.is_none(), "seed {seed}: word {differs:?} of {what}\n{}", text());
    }
    true
}

#[test]
fn random_programs() {
    for (n, profile) in [Profile::ALL, Profile::EXACT, Profile::SMOOTH, Profile::RISKY].into_iter().enumerate() {
        let from = 1000 * n as u64;
        let tally = check(profile, from..from + share(20), false, Switches::default());
        let Tally { ended, gradients, turned, .. } = tally;
        assert!(
            ended >= share(10) && gradients >= 1 && turned >= 1,
            "{ended} ended, {gradients} with gradients, {turned} turned"
        );
    }
}

/// Where rounding may be forgotten, loops that only add go there and back turn by turn.
#[test]
fn random_programs_without_regard_to_rounding() {
    for (n, profile) in [Profile::ALL, Profile::EXACT, Profile::SMOOTH].into_iter().enumerate() {
        let from = 5000 + 1000 * n as u64;
        let tally = check(profile, from..from + share(24), true, Switches::default());
        assert!(tally.turned >= share(5), "{} came back", tally.turned);
    }
}

/// Each pass of C alone, none, and all but one.
#[test]
fn passes_of_c() {
    let passes: Vec<Pass> = Pass::ALL.iter().copied().filter(|p| p.is_of_c()).collect();
    let alone = passes.iter().map(|p| Switches::NONE.with(*p));
    let without = passes.iter().map(|p| Switches::default().without(*p));
    let mut turned = 0;
    for (n, switches) in alone.chain(without).chain([Switches::NONE]).enumerate().step_by(if all() { 1 } else { 2 }) {
        let from = 9000 + 100 * n as u64;
        for &fast in in_turn(&[false, true], n) {
            turned += check(Profile::ALL, from..from + if all() { 2 } else { 1 }, fast, switches).turned;
        }
        assert!(turned > n / 8, "{switches:?}");
    }
}
