//! The chain of active calls, as text.

use pendula_asm::diagnostic::plural;

use super::ActiveCall;

/// The number of calls shown from each end of a long chain.
const CALLS: usize = 8;

/// Variables with their values.
pub(super) fn listed(variables: &[(String, String)]) -> String {
    let values: Vec<String> = variables.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    values.join(", ")
}

/// The chain of calls, a line each; only both ends of a long chain.
pub(crate) fn chain(calls: &[ActiveCall]) -> Vec<String> {
    let lines = calls.iter().zip(calls.iter().skip(1)).map(|(call, by)| {
        let there = call.called.as_ref().map_or(String::new(), |(file, line)| format!(", at {file}:{line}"));
        // A call that runs in the same direction as its caller is a call in the source, otherwise an uncall.
        let how = if call.backward == by.backward { "called" } else { "uncalled" };
        let running = if by.backward { ", which is undone" } else { "" };
        // Parameters are the caller's variables. If the two lists are equal, the values have been shown already.
        let said = by.variables.is_empty() || by.variables == call.variables;
        let values = if said { String::new() } else { format!(": {}", listed(&by.variables)) };
        format!("`{}` {how} by `{}`{running}{there}{values}", call.name, by.name)
    });
    let lines = repeated(lines);
    let left_out = lines.len().saturating_sub(2 * CALLS);
    if left_out == 0 {
        return lines;
    }
    let more = format!("… {}", plural(left_out as u64, "more line"));
    let last = lines[lines.len() - CALLS..].iter().cloned();
    lines[..CALLS].iter().cloned().chain([more]).chain(last).collect()
}

/// Merges equal consecutive lines into one line that gives their number.
fn repeated(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<(String, usize)> = Vec::new();
    for line in lines {
        match out.last_mut() {
            Some((last, times)) if *last == line => *times += 1,
            _ => out.push((line, 1)),
        }
    }
    out.into_iter().map(|(line, n)| if n == 1 { line } else { format!("{line}, {n} times") }).collect()
}
