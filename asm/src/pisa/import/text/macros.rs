//! The macros that a translation defines: exchanges with checks, and calls that keep links as PISA does.

use std::collections::BTreeSet;

use super::super::native::{Checks, Guard, Op};
use super::Writer;

impl Writer<'_> {
    fn define(&mut self, head: &str, comment: &str, body: &[String]) {
        self.line("");
        self.statement(None, &format!(".macro  {head}"), Some(comment));
        for line in body {
            self.statement(None, line, None);
        }
        self.statement(None, ".endm", None);
    }

    /// Macros for exchanges with checks, and for calls that keep links as PISA does.
    pub(super) fn macros(&mut self) {
        let (mut linked, mut swapped) = ([false; 2], [false; 2]);
        let mut exchanges: BTreeSet<Checks> = BTreeSet::new();
        for op in self.translation.units.iter().flat_map(|(_, items)| items).flat_map(|i| &i.ops) {
            match op {
                Op::Call { back, link: Some(_), .. } => linked[usize::from(*back)] = true,
                Op::Swap { back, .. } => swapped[usize::from(*back)] = true,
                Op::Exch(_, _, checks) => drop(exchanges.insert(*checks)),
                _ => {}
            }
        }
        let longest = self.longest();
        for (n, name, unit, times) in
            [(10, "code10", ".word   MARK", 10), (100, "code100", "code10", 10), (1000, "code1000", "code100", 10)]
        {
            if longest >= n {
                let body: Vec<String> = match n {
                    10 => vec![format!("{unit}{}", ", MARK".repeat(times - 1))],
                    _ => vec![unit.to_string(); times],
                };
                self.define(name, &format!("{n} words that are not words of PISA"), &body);
            }
        }
        let callee = self.translation.registers.callee.unwrap_or_default();
        for checks in exchanges {
            let Some((name, comment)) = exchange(checks) else { continue };
            let mut body = Vec::new();
            if checks.address {
                if let Guard::From(code) = self.translation.guard
                    && code > 0
                {
                    body.push("assert.geu \\address, CODE".to_string());
                }
                if self.translation.stack {
                    body.push("assert.lt \\address, CELLS".to_string());
                }
            }
            let word = || "assert.lt \\word, MARK".to_string();
            body.extend(checks.before.then(word));
            body.push("exch    \\word, [cells+\\address]".to_string());
            body.extend(checks.after.then(word));
            self.define(&format!("{name} word, address"), comment, &body);
        }
        for (back, name, call, add) in [(0, "linkcall", "call", "add32"), (1, "linkuncall", "uncall", "sub32")] {
            if linked[back] {
                let body = [
                    "assert.eq \\link, 0".to_string(),
                    format!("{add:<7} \\link, \\distance"),
                    format!("{call:<7} \\name"),
                    format!("{add:<7} \\link, \\distance"),
                    "assert.eq \\link, 0".to_string(),
                ];
                self.define(&format!("{name} link, distance, name"), "the link is in a register, too", &body);
            }
        }
        let entry = |mnemonic: &str| format!("{mnemonic:<7} {callee}, [procedures+\\reg+\\at-FIRST]");
        let range = || ["assert.ge \\reg, FIRST-\\at".to_string(), "assert.le \\reg, LAST-\\at".to_string()];
        let there = |mnemonic: &str| {
            [
                "swap    \\link, \\reg".to_string(),
                format!("{mnemonic:<7} {callee}"),
                "swap    \\link, \\reg".to_string(),
            ]
        };
        let one = |text: &str| [text.to_string()];
        let (push, pop) = (format!("push    {callee}"), format!("pop     {callee}"));
        let (free, negate) = (one("assert.eq \\link, 0"), one("neg32   \\reg"));
        let mut forward: Vec<String> = Vec::new();
        for part in [&free[..], &range(), &[push.clone(), entry("add")], &there("callr"), &negate, &range()] {
            forward.extend_from_slice(part);
        }
        for part in [&[entry("sub")][..], &negate, std::slice::from_ref(&pop), &free] {
            forward.extend_from_slice(part);
        }
        let mut backward: Vec<String> = Vec::new();
        for part in [&free[..], &[push], &negate, &range(), &[entry("add")], &negate, &there("uncallr")] {
            backward.extend_from_slice(part);
        }
        for part in [&[entry("sub")][..], &[pop], &range(), &free] {
            backward.extend_from_slice(part);
        }
        for (back, name, body) in [(0, "distcall", forward), (1, "distuncall", backward)] {
            if swapped[back] {
                self.define(&format!("{name} reg, link, at"), "calls the procedure at a distance", &body);
            }
        }
    }
}

/// The macro for an exchange with these checks, and its comment.
pub(super) fn exchange(checks: Checks) -> Option<(&'static str, &'static str)> {
    match checks {
        Checks { address: false, before: false, after: false } => None,
        Checks { before: false, after: true, .. } => Some(("exchfirst", "the first of several at one address")),
        Checks { address: false, before: true, after: false } => {
            Some(("exchlast", "the last of several at one address"))
        }
        Checks { .. } => Some(("exchange", "with a cell")),
    }
}
