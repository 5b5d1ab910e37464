//! The claim about `int_scale`, over the integers, and so for words of every width: the kernel computes where nothing overflows, and has no value
//! where a result is no word.

use std::io;
use std::time::Instant;

use easy_smt::{Context, Response, SExpr};

use crate::solver::{Solver, SolverError};
use crate::{Claim, Counterexample, Finding, Prover, Verdict};

/// A division with a positive divisor: `of = quotient·by + rest`, and `rest` is from 0 to less than `by`.
struct Division {
    of: SExpr,
    by: SExpr,
    quotient: SExpr,
    rest: SExpr,
}

impl Division {
    fn new(c: &mut Context, name: &str, of: SExpr, by: SExpr) -> io::Result<Division> {
        let int = c.int_sort();
        let quotient = c.declare_const(format!("quotient_{name}"), int)?;
        let rest = c.declare_const(format!("rest_{name}"), int)?;
        let division = Division { of, by, quotient, rest };
        let holds = division.holds(c);
        c.assert(holds)?;
        Ok(division)
    }

    /// What defines quotient and rest.
    fn holds(&self, c: &Context) -> SExpr {
        let sum = c.plus(c.times(self.quotient, self.by), self.rest);
        c.and_many([c.eq(self.of, sum), c.lte(c.numeral(0), self.rest), c.lt(self.rest, self.by)])
    }

    /// That these are the quotient and the rest if they are some: the lemma, for these numbers.
    fn are(&self, c: &Context, quotient: SExpr, rest: SExpr) -> SExpr {
        let other = Division { of: self.of, by: self.by, quotient, rest };
        let equal = c.and(c.eq(self.quotient, quotient), c.eq(self.rest, rest));
        c.imp(c.and(self.holds(c), other.holds(c)), equal)
    }
}

impl Prover {
    /// Proves that scaling by `den/num` undoes scaling by `num/den`, for integers of any size: first that a division has one quotient and one
    /// rest, then, with that, the claim.
    ///
    /// # Errors
    /// The solver does not work.
    pub fn scale(&mut self) -> Result<Finding, SolverError> {
        const NAME: &str = "int_scale/int_scale";
        let begun = Instant::now();
        let (solver, limit) = (self.settings().solver, self.settings().limit);
        if solver == Solver::Bitwuzla {
            // It has no integers; another may decide.
            let finding = self.not_claimed(NAME, Claim::Kernel, "");
            return Ok(Finding { width: None, cases: 1, verdict: Verdict::Undecided, ..finding });
        }
        let script = self.script("int_scale-kernel");
        let mut c = solver.start(limit, script.as_deref(), "QF_NIA")?;
        let verdict = decide(&mut c).map_err(|error| self.failed(error))?;
        Ok(Finding { width: None, ..self.finding(NAME, Claim::Kernel, (1, begun), (verdict, Vec::new())) })
    }
}

fn decide(c: &mut Context) -> io::Result<Verdict> {
    let int = c.int_sort();
    let verdict = |found: Response, what| match found {
        Response::Unsat => Verdict::Proved,
        Response::Unknown => Verdict::Undecided,
        Response::Sat => Verdict::Refuted(Counterexample { inst: None, before: Vec::new(), what }),
    };
    // The lemma.
    c.push()?;
    let [of, by] = ["a", "b"].map(|name| c.declare_const(name, int));
    let (of, by) = (of?, by?);
    let one = Division::new(c, "one", of, by)?;
    let other = Division::new(c, "other", of, by)?;
    let differ = c.not(c.and(c.eq(one.quotient, other.quotient), c.eq(one.rest, other.rest)));
    c.assert(differ)?;
    let lemma = verdict(c.check()?, "a division has two quotients");
    c.pop()?;
    if lemma != Verdict::Proved {
        return Ok(lemma);
    }
    let [x, buffer, num, den] = ["x", "buffer", "num", "den"].map(|name| c.declare_const(name, int));
    let (x, buffer, num, den) = (x?, buffer?, num?, den?);
    let positive = c.and(c.gt(num, c.numeral(0)), c.gt(den, c.numeral(0)));
    c.assert(positive)?;
    let forward = scaled(c, "forward", [x, buffer, num, den])?;
    let back = scaled(c, "back", [forward.x, forward.buffer, den, num])?;
    // What divides the scaled number and buffer again, are what they were made of.
    let facts = [
        back.first.are(c, forward.first.quotient, forward.second.rest),
        back.second.are(c, buffer, forward.first.rest),
    ];
    for fact in facts {
        c.assert(fact)?;
    }
    let differs = c.not(c.and(c.eq(back.x, x), c.eq(back.buffer, buffer)));
    c.assert(differs)?;
    Ok(verdict(c.check()?, "its inverse gives others than its arguments"))
}

struct Scaled {
    first: Division,
    second: Division,
    x: SExpr,
    buffer: SExpr,
}

/// buf₁ = buf·den + (x mod den); x' = ⌊x/den⌋·num + (buf₁ mod num); buf' = ⌊buf₁/num⌋.
fn scaled(c: &mut Context, name: &str, [x, buffer, num, den]: [SExpr; 4]) -> io::Result<Scaled> {
    let first = Division::new(c, &format!("{name}_1"), x, den)?;
    let grown = c.plus(c.times(buffer, den), first.rest);
    let second = Division::new(c, &format!("{name}_2"), grown, num)?;
    let x = c.plus(c.times(first.quotient, num), second.rest);
    let buffer = second.quotient;
    Ok(Scaled { first, second, x, buffer })
}
