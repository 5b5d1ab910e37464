//! Many claims, on as many threads as there are processors, by one solver after the other until one decides.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pendula_isa::inst::Kind;

use crate::kernels::{DEFINED, Defined};
use crate::solver::{Solver, SolverError};
use crate::{Finding, Prover, Settings, Verdict};

/// A claim that is to be proved.
#[derive(Clone, Copy)]
pub enum Job {
    /// That a kernel's inverse undoes it.
    Kernel(Defined),
    /// That an instruction's inverse undoes it.
    Undone(Kind),
    /// That its circuit does what it does.
    Circuit(Kind),
    /// That steps over jumps, or over calls and procedures, can be taken back.
    Control(bool),
}

/// The provers of a thread, one for each solver.
struct Provers(Vec<Prover>);

impl Provers {
    fn new(settings: &Settings, solvers: &[Solver], proved: &[&'static str]) -> Provers {
        let prover = |solver: &Solver| {
            let mut prover = Prover::new(Settings { solver: *solver, ..settings.clone() });
            prover.take_as_proved(proved.iter().copied());
            prover
        };
        Provers(solvers.iter().map(prover).collect())
    }

    fn find(&mut self, job: Job) -> Result<Finding, SolverError> {
        let (mut last, mut failure, mut time): (Option<Finding>, _, _) = (None, None, Duration::ZERO);
        for prover in &mut self.0 {
            let found = match job {
                Job::Kernel(kernel) => prover.kernel(kernel),
                Job::Undone(kind) => prover.family(kind),
                Job::Circuit(kind) => prover.circuit(kind),
                Job::Control(procedures) => prover.control(procedures),
            };
            // Where one fails, another may decide.
            match found {
                Ok(mut finding) => {
                    time += finding.time;
                    finding.time = time;
                    if finding.verdict != Verdict::Undecided {
                        return Ok(finding);
                    }
                    last = Some(finding);
                }
                Err(error) => failure = Some(error),
            }
        }
        last.ok_or_else(|| failure.unwrap_or(SolverError::None))
    }
}

/// Proves what instructions rest on, and then claims about them. Each finding is told in the order of the jobs, as soon as it and those before it are
/// there; no more claims are proved once `tell` says false.
///
/// # Errors
/// A solver does not work.
pub fn run(
    settings: &Settings,
    solvers: &[Solver],
    jobs: &[Job],
    mut tell: impl FnMut(&Finding) -> bool + Send,
) -> Result<Vec<Finding>, SolverError> {
    let mut kernels = Provers::new(settings, solvers, &[]);
    let mut findings = Vec::new();
    if jobs.iter().any(|job| matches!(job, Job::Undone(_))) {
        for kernel in DEFINED {
            let finding = kernels.find(Job::Kernel(kernel))?;
            let goes_on = tell(&finding);
            findings.push((kernel, finding));
            if !goes_on {
                return Ok(findings.into_iter().map(|(_, finding)| finding).collect());
            }
        }
    }
    let is_proved = |name: &str| findings.iter().any(|(k, f)| k.name == name && f.verdict == Verdict::Proved);
    // Each of a pair undoes the other.
    let both = DEFINED.into_iter().filter(|k| is_proved(k.name) && is_proved(k.inverse));
    let proved: Vec<&'static str> = both.map(|k| k.name).collect();
    let next = AtomicUsize::new(0);
    let (tell, failure) = (Mutex::new((tell, BTreeMap::new(), 0)), Mutex::new(None));
    let work = || {
        let mut provers = Provers::new(settings, solvers, &proved);
        while let Some((at, job)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            jobs.get(at).map(|job| (at, *job))
        } {
            match provers.find(job) {
                Ok(finding) => {
                    let mut told = tell.lock().unwrap_or_else(PoisonError::into_inner);
                    let (tell, found, upto) = &mut *told;
                    found.insert(at, finding);
                    while let Some(finding) = found.get(upto) {
                        if !tell(finding) {
                            next.store(jobs.len(), Ordering::Relaxed);
                        }
                        *upto += 1;
                    }
                }
                Err(error) => {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    next.store(jobs.len(), Ordering::Relaxed);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let found = tell.into_inner().unwrap_or_else(PoisonError::into_inner).1;
    Ok(findings.into_iter().map(|(_, finding)| finding).chain(found.into_values()).collect())
}
