//! Folded stacks, the input of flamegraph.pl and inferno.

use std::collections::BTreeMap;

use super::{PricedRun, Program};
use crate::price::Cause;

/// Attojoules in a joule.
const ATTO: f64 = 1e18;

/// A bill as folded stacks, sorted: `phase;function;file:line;class;cause N`, with N in whole attojoules, rounded.
/// Lines with 0 are left out.
///
/// If a line is not known, its address is given, as in `file:@12`. Items without an instruction have the function
/// `(host)` and no place. The class of words that are transferred to or from the host is `traffic`, that of destroyed
/// information is `lost`. Under technologies that are cooled, each cause has a frame `cooling` above it, so that the sum of all lines is the energy at
/// the plug.
pub fn folded(program: &Program<'_>, priced: &PricedRun<'_>) -> String {
    let mut stacks: BTreeMap<String, f64> = BTreeMap::new();
    let cooling = priced.device.plug() - 1.0;
    for item in &priced.bill.items {
        let origin = program.origin(item);
        let mut frames = vec![frame(item.phase.name()), frame(origin.function.unwrap_or("(host)"))];
        match (item.at, origin.line) {
            (_, Some(line)) => frames.push(frame(&format!("{}:{line}", origin.file))),
            (Some(at), None) => frames.push(frame(&format!("{}:@{at}", origin.file))),
            (None, None) => {}
        }
        frames.push(item.subject.name().to_string());
        for cause in Cause::ALL {
            let joules = item.joules[cause];
            if joules != 0.0 {
                let stack = format!("{};{}", frames.join(";"), cause.name());
                if cooling > 0.0 {
                    *stacks.entry(format!("{stack};cooling")).or_default() += joules * cooling;
                }
                *stacks.entry(stack).or_default() += joules;
            }
        }
    }
    let mut out = String::new();
    for (stack, joules) in stacks {
        let atto = (joules * ATTO).round();
        if atto > 0.0 {
            out += &format!("{stack} {atto:.0}\n");
        }
    }
    out
}

/// A name without the characters that separate frames and counts.
fn frame(name: &str) -> String {
    name.chars().map(|c| if c == ';' || c.is_whitespace() { '_' } else { c }).collect()
}
