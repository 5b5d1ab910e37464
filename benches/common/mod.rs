//! Times taken in one run, interleaved, so that their ratios mean something on
//! a machine whose speed drifts.

use std::time::Instant;

/// One thing to time: a closure that returns how many units of work it did.
pub(crate) struct Subject<'a> {
    pub(crate) run: Box<dyn FnMut() -> u64 + 'a>,
}

/// Runs the subjects in turn, `rounds` times each, and returns each one's median seconds per unit of work.
pub(crate) fn medians(subjects: &mut [Subject<'_>], rounds: usize) -> Vec<f64> {
    let mut times = vec![Vec::new(); subjects.len()];
    for round in 0..=rounds {
        for (subject, times) in subjects.iter_mut().zip(&mut times) {
            let start = Instant::now();
            let units = (subject.run)();
            let seconds = start.elapsed().as_secs_f64();
            // The first round warms up.
            if round > 0 {
                times.push(seconds / units as f64);
            }
        }
    }
    times
        .iter_mut()
        .map(|t| {
            t.sort_by(f64::total_cmp);
            t[t.len() / 2]
        })
        .collect()
}
