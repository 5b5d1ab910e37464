//! Proofs, by SMT solvers, that what instructions do is undone.
//!
//! What is proved is the text of the table: its bodies and kernels are generic over [`Arith`](pendula_isa::arith::Arith) and
//! [`Domain`](pendula_isa::domain::Domain), and are run here on [terms] of bit vectors. A claim is the negation of a formula that no
//! state satisfies; what a solver does not decide in its time is undecided, and counts as nothing.
//!
//! | claim | says |
//! |---|---|
//! | [undone](Claim::Undone) | in every state in which an instruction does not trap, its inverse does not trap after it, and brings the state back; and the other way about |
//! | [kernel](Claim::Kernel) | a kernel that instructions rest on is undone by another |
//! | [control](Claim::Control) | a step over a jump, a call or the end of a procedure can be taken back |
//! | [circuit](Claim::Circuit) | the instruction's circuit does what the instruction does, signals where it traps, and leaves its ancillas clear |
//!
//! States are registers, memory, gradient words, cells and tapes, all unknown. All shapes of operands are tried, with every way in which registers may be the
//! same, with checks and without, and whether overflow of fixed point traps or not.
//!
//! Kernels that are functions of the host are *uninterpreted*: nothing is known of them but that they are functions. That suffices where both
//! directions call the same one with the same arguments. Six of which that is not so are [defined as terms](kernels::DEFINED).

pub mod cases;
pub mod circuits;
pub mod control;
pub mod integers;
pub mod kernels;
pub mod rows;
pub mod run;
pub mod solver;
mod state;
pub mod terms;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use easy_smt::{Response, SExpr};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::table::Flow;
use pendula_isa::types::Reg;
use rustc_hash::FxHashSet;

use rows::{Body, Machine, unclaimed};
use solver::{Solver, SolverError};
use state::{Named, State};
use terms::Terms;

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// An instruction's inverse undoes it, and it undoes its inverse.
    Undone,
    /// A kernel's inverse undoes it.
    Kernel,
    /// An instruction's circuit does what the instruction does.
    Circuit,
    /// Steps over instructions that direct control can be taken back.
    Control,
}

impl Claim {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Claim::Undone => "undone",
            Claim::Kernel => "kernel",
            Claim::Circuit => "circuit",
            Claim::Control => "control",
        }
    }
}

/// A state in which a claim does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The instruction.
    pub inst: Option<Inst>,
    /// Words before it, with their names.
    pub before: Vec<(String, u64)>,
    /// What happens.
    pub what: &'static str,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds in all states.
    Proved,
    /// It does not hold in one.
    Refuted(Counterexample),
    /// The solver did not decide it in its time.
    Undecided,
    /// It is not made, for this reason.
    NotClaimed(String),
}

/// A claim about an instruction, and what became of it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The instruction, with its partner if it has one.
    pub name: String,
    /// What is claimed.
    pub claim: Claim,
    /// Bits of a word; `None` if it is claimed for every width.
    pub width: Option<u32>,
    /// How many forms of operands were tried.
    pub cases: usize,
    /// The kernels that were left uninterpreted, in order.
    pub uninterpreted: Vec<&'static str>,
    /// What became of it.
    pub verdict: Verdict,
    /// The solver that was asked.
    pub solver: Solver,
    /// How long it took.
    pub time: Duration,
}

/// How claims are proved.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The solver.
    pub solver: Solver,
    /// Bits of a word, from 8 to 64.
    pub width: u32,
    /// Bits of a fixed-point number that are fraction.
    pub frac: u32,
    /// How long the solver may take for a claim.
    pub limit: Duration,
    /// Where what the solver is told is written, a file for each claim.
    pub scripts: Option<PathBuf>,
}

/// Proves claims with one solver process.
pub struct Prover {
    settings: Settings,
    terms: Option<Terms>,
    proved: FxHashSet<&'static str>,
}

/// A way in which a claim can fail, by which it is found when it has.
struct Failure {
    inst: Option<Inst>,
    condition: SExpr,
    /// The states of which anything is claimed.
    of: SExpr,
    before: Named,
    what: &'static str,
}

impl Prover {
    /// A prover.
    pub fn new(settings: Settings) -> Prover {
        Prover { settings, terms: None, proved: FxHashSet::default() }
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where the script of a claim is kept, if they are.
    fn script(&self, name: &str) -> Option<PathBuf> {
        self.settings.scripts.as_deref().map(|folder| script(folder, name))
    }

    fn failed(&self, error: io::Error) -> SolverError {
        SolverError::Failed { program: self.settings.solver.program(), error }
    }

    /// Begins a claim: with a solver of its own if its script is kept.
    fn begin(&mut self, file: &str) -> Result<&mut Terms, SolverError> {
        let Settings { solver, width, frac, limit, ref scripts } = self.settings;
        let script = scripts.as_deref().map(|folder| script(folder, file));
        if self.terms.is_none() || script.is_some() {
            let context = solver.start(limit, script.as_deref(), "QF_UFBV")?;
            self.terms = Some(Terms::new(context, width, frac));
        }
        let program = solver.program();
        let terms = self.terms.get_or_insert_with(|| unreachable!("it was made"));
        terms.proved.clone_from(&self.proved);
        terms.begin().map_err(|error| SolverError::Failed { program, error })?;
        Ok(terms)
    }

    /// Asks whether one of these failures is possible, one group after the other.
    fn decide(&mut self, groups: Vec<Vec<Failure>>) -> Result<(Verdict, Vec<&'static str>), SolverError> {
        let begun = Instant::now();
        let Some(terms) = &mut self.terms else { return Ok((Verdict::Undecided, Vec::new())) };
        let mut run = || -> io::Result<Verdict> {
            for failures in &groups {
                match possible(terms, failures)? {
                    Verdict::Proved => {}
                    other => return Ok(other),
                }
            }
            says_something(terms, &groups)
        };
        let verdict = run();
        let mut uninterpreted: Vec<&'static str> = terms.uninterpreted.iter().copied().collect();
        uninterpreted.sort_unstable();
        match verdict {
            Ok(Verdict::Undecided) => {
                // A solver that was interrupted may not go on well.
                self.terms = None;
                Ok((Verdict::Undecided, uninterpreted))
            }
            Ok(verdict) => match terms.end() {
                Ok(()) => Ok((verdict, uninterpreted)),
                Err(_) if matches!(verdict, Verdict::Refuted(_)) => {
                    self.terms = None;
                    Ok((verdict, uninterpreted))
                }
                Err(error) => Err(self.failed(error)),
            },
            // Some end when their time is up.
            Err(_) if begun.elapsed() >= self.settings.limit => {
                self.terms = None;
                Ok((Verdict::Undecided, uninterpreted))
            }
            Err(error) => {
                self.terms = None;
                Err(self.failed(error))
            }
        }
    }

    /// Proves that a kernel is undone by its inverse, for the instructions that call them.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn kernel(&mut self, kernel: kernels::Defined) -> Result<Finding, SolverError> {
        if kernel.name == "int_scale" {
            return self.scale();
        }
        let Some(inverse) = kernels::defined(kernel.inverse) else {
            return Ok(self.not_claimed(kernel.name, Claim::Kernel, "its inverse has no definition"));
        };
        let begun = Instant::now();
        let t = self.begin(&format!("{}-kernel-{}", kernel.name, self.settings.width))?;
        let names = ["a", "b", "c", "d"];
        let x = names.map(|name| t.unknown(name));
        let before: Named = names.iter().map(|n| (*n).to_string()).zip(x).take(kernel.arity).collect();
        let mut groups = Vec::new();
        for case in kernels::cases(kernel) {
            t.case = case;
            t.restart();
            let [first, second] = (kernel.define)(t, x);
            let ok = t.ok;
            t.restart();
            let mut y = kernel.order.map(|n| x[n]);
            (y[0], y[kernel.changed - 1]) = (first, second);
            let [a, b] = (inverse.define)(t, y);
            let (again, c) = (t.ok, t.build());
            let same = c.and(c.eq(a, x[0]), c.eq(b, x[kernel.changed - 1]));
            let failure = |condition, what| Failure { inst: None, condition, of: ok, before: before.clone(), what };
            groups.push(vec![
                failure(c.and(ok, c.not(again)), "its inverse has no value of its results"),
                failure(c.and_many([ok, again, c.not(same)]), "its inverse gives others than its arguments"),
            ]);
        }
        t.case = None;
        let found = self.decide(groups)?;
        let name = format!("{}/{}", kernel.name, kernel.inverse);
        Ok(self.finding(&name, Claim::Kernel, (1, begun), found))
    }

    /// Takes as known that kernels are undone by their inverses, of which that has been [proved](Prover::kernel).
    pub fn take_as_proved(&mut self, kernels: impl IntoIterator<Item = &'static str>) {
        self.proved.extend(kernels);
    }

    /// Proves that an instruction's inverse undoes it, and the other way about, in these forms.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn undone(&mut self, name: &str, body: &impl Body, cases: &[Inst]) -> Result<Finding, SolverError> {
        let begun = Instant::now();
        let terms = self.begin(&format!("{name}-undone-{}", self.settings.width))?;
        let mut failures = Vec::new();
        for inst in cases {
            let mut registers: Vec<u8> = inst.regs.iter().map(|r| r.number()).collect();
            registers.extend([Reg::SP.number()]);
            registers.sort_unstable();
            registers.dedup();
            for back in [false, true] {
                failures.extend(undo_fails(terms, body, *inst, &registers, back));
            }
        }
        let found = self.decide(vec![failures])?;
        Ok(self.finding(name, Claim::Undone, (cases.len(), begun), found))
    }

    /// Proves that an instruction of the table is undone by its inverse.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn family(&mut self, family: Kind) -> Result<Finding, SolverError> {
        let name = pair(family);
        if let Some(why) = unclaimed(family) {
            return Ok(self.not_claimed(&name, Claim::Undone, why));
        }
        if self.settings.width < 64 && is_narrow(&name) {
            return Ok(self.not_claimed(&name, Claim::Undone, "it is of a part of a word of 64 bits: take --width 64"));
        }
        let mut found = self.undone(&name, &family, &cases::cases(family))?;
        // Steps between two kernels may hide that one undoes the other: a state in which any functions would fail need not be one of these.
        let refuted = matches!(found.verdict, Verdict::Refuted(_));
        if matches!(family, Kind::Extension { .. }) && refuted && !found.uninterpreted.is_empty() {
            found.verdict = Verdict::Undecided;
        }
        Ok(found)
    }

    /// What became of a claim on words of the prover's width, in so many forms.
    fn finding(
        &self,
        name: &str,
        claim: Claim,
        (cases, begun): (usize, Instant),
        (verdict, uninterpreted): (Verdict, Vec<&'static str>),
    ) -> Finding {
        let Settings { solver, width, .. } = self.settings;
        let time = begun.elapsed();
        Finding { name: name.to_string(), claim, width: Some(width), cases, uninterpreted, verdict, solver, time }
    }

    fn not_claimed(&self, name: &str, claim: Claim, why: impl Into<String>) -> Finding {
        let found = (Verdict::NotClaimed(why.into()), Vec::new());
        Finding { time: Duration::ZERO, ..self.finding(name, claim, (0, Instant::now()), found) }
    }
}

/// Each kind of failure must be of some state: what is claimed of none is not proved.
fn says_something(terms: &mut Terms, groups: &[Vec<Failure>]) -> io::Result<Verdict> {
    let mut claimed: BTreeMap<&'static str, SExpr> = BTreeMap::new();
    for failure in groups.iter().flatten() {
        let of = claimed.get(failure.what).map_or(failure.of, |all| terms.build().or(*all, failure.of));
        claimed.insert(failure.what, of);
    }
    let mut distinct: Vec<SExpr> = claimed.into_values().collect();
    distinct.dedup();
    for of in distinct {
        let found = terms.is_possible(of)?;
        terms.forget()?;
        match found {
            Response::Sat => {}
            Response::Unknown => return Ok(Verdict::Undecided),
            Response::Unsat => {
                let what = "it comes to its end in no state, so that nothing is claimed";
                return Ok(Verdict::Refuted(Counterexample { inst: None, before: Vec::new(), what }));
            }
        }
    }
    Ok(Verdict::Proved)
}

/// Whether one of these failures is possible.
fn possible(terms: &mut Terms, failures: &[Failure]) -> io::Result<Verdict> {
    let any = failures.iter().map(|f| f.condition).reduce(|a, b| terms.build().or(a, b));
    let any = any.unwrap_or_else(|| terms.build().false_());
    let found = terms.is_possible(any)?;
    let verdict = match found {
        Response::Unsat => Verdict::Proved,
        Response::Unknown => Verdict::Undecided,
        Response::Sat => {
            let conditions: Vec<SExpr> = failures.iter().map(|f| f.condition).collect();
            // Refuted it is, whether or not the solver gives the words.
            let holds = terms.values(&conditions).unwrap_or_default();
            let failure = &failures[holds.iter().position(|holds| *holds == 1).unwrap_or(0)];
            let words: Vec<SExpr> = failure.before.iter().map(|(_, word)| *word).collect();
            let values = if words.is_empty() { Vec::new() } else { terms.values(&words).unwrap_or_default() };
            let names = failure.before.iter().map(|(name, _)| name.clone());
            let before = names.zip(values).collect();
            Verdict::Refuted(Counterexample { inst: failure.inst, before, what: failure.what })
        }
    };
    match (terms.forget(), verdict) {
        (_, refuted @ Verdict::Refuted(_)) => Ok(refuted),
        (done, verdict) => done.map(|()| verdict),
    }
}

/// The ways in which what an instruction does may not be undone.
fn undo_fails(t: &mut Terms, body: &impl Body, inst: Inst, registers: &[u8], back: bool) -> Vec<Failure> {
    let before = State::unknown(t, registers, cases::profile(inst.kind));
    let mut first = Machine::new(t, inst, before.clone());
    let known = first.known();
    first.t.restart();
    let stopped = body.run(&mut first, back).is_err();
    let (after, kept, ok) = (first.state, first.kept, first.t.ok);
    let mut second = Machine::new(t, inst, after);
    second.t.restart();
    let stopped = stopped || body.run(&mut second, !back).is_err();
    let (end, again) = (second.state, second.t.ok);
    let mut named = before.named();
    for constant in ["constant", "offset", "num", "den", "small"] {
        if t.is_declared(constant) {
            named.push((constant.to_string(), t.unknown(constant)));
        }
    }
    if stopped {
        let always = t.build().true_();
        let what = "the body needs what the proof has no model of";
        return vec![Failure { inst: Some(inst), condition: always, of: always, before: named, what }];
    }
    let same = end.is(t, &before);
    let runs = t.build().and_many([known, kept, ok]);
    let runs = t.condition(runs);
    let traps = t.build().and(runs, t.build().not(again));
    let traps = t.condition(traps);
    let differs = t.build().and_many([runs, again, t.build().not(same)]);
    let differs = t.condition(differs);
    let what = match back {
        false => ["its inverse traps after it", "its inverse does not bring the state back"],
        true => ["it traps after its inverse", "it does not bring back what its inverse has changed"],
    };
    let failure = |condition, what| Failure { inst: Some(inst), condition, of: runs, before: named.clone(), what };
    vec![failure(traps, what[0]), failure(differs, what[1])]
}

/// Whether an instruction is on so many bits of a word.
fn is_narrow(name: &str) -> bool {
    ["8", "16", "32"].iter().any(|bits| name.split('/').any(|one| one.trim_end_matches("u").ends_with(bits)))
}

/// The name of an instruction, with its partner.
pub fn pair(family: Kind) -> String {
    let (one, other) = (family.mnemonic(), family.inverse().mnemonic());
    if one == other { one } else { format!("{one}/{other}") }
}

/// The straight-line instructions of the table, one for each pair.
pub fn straight() -> impl Iterator<Item = Kind> {
    let inverse = |kind: &Kind| match *kind {
        Kind::Accumulate { inverse, .. } | Kind::Row { inverse, .. } | Kind::Extension { inverse, .. } => inverse,
    };
    families().filter(move |kind| kind.flow() == Flow::Straight && !inverse(kind))
}

/// Where the script of a claim is kept.
fn script(folder: &Path, name: &str) -> PathBuf {
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' }).collect();
    folder.join(format!("{safe}.smt2"))
}
