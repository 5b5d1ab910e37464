//! Names in C.

use std::collections::HashSet;

/// A name as it may stand in a comment. What might end that does not: `*/`, nor with a line's end between, which C takes away first, nor spelled by a
/// trigraph.
pub(super) fn in_comment(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ' | '/');
    name.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}

/// Words that mean something in the C that is written.
const RESERVED: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "typeof",
    "linux",
    "unix",
    "main",
    "mem",
    "g_mem",
    "second_mem",
    "mixed_mem",
    "len",
    "top",
    "bad",
    "odd",
    "NOTED",
    "out",
    "word",
    "real",
    "bits",
    "rol",
    "ror",
    "mulhigh",
    "canonical",
    "F",
    "I",
    "CHECK",
    "ENV",
    "turns",
    "outside",
    "outside_by",
    "SELDOM",
    "uneven",
    "fabs",
    "sqrt",
    "isunordered",
    "memset",
    "memcpy",
    "deep",
    "none",
    "result",
    "WORD",
    "STATUS",
    "PURE",
    "pure_1",
    "pure_2",
    "pure_3",
    "turned",
];

/// Letters that names in formulas are made of.
const LETTERS: &[(char, &str)] = &[
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "epsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('φ', "phi"),
    ('ϕ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Δ', "Delta"),
    ('Σ', "Sigma"),
    ('Ω', "Omega"),
    ('Θ', "Theta"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Λ', "Lambda"),
];

/// A name as C has them, like this one.
fn plain(name: &str) -> String {
    let mut out = String::new();
    for c in name.trim_end_matches('!').chars() {
        match LETTERS.iter().find(|(l, _)| *l == c) {
            Some((_, text)) => out.push_str(text),
            None if c.is_ascii_alphanumeric() || c == '_' => out.push(c),
            None if matches!(c, '.' | '!') => out.push('_'),
            None => out.push_str(&format!("u{:x}", u32::from(c))),
        }
    }
    // Names of one letter and a number are given to values.
    let given = out.strip_prefix('t').is_some_and(|r| !r.is_empty() && r.chars().all(|c| c.is_ascii_digit()));
    // So are names that begin so to what words carry, and to what is handed over.
    let ahead = |p: &&str| out.strip_prefix(*p).is_some_and(|rest| !rest.is_empty());
    if ["g_", "second_", "mixed_", "p_", "turned_"].iter().any(ahead) || out.ends_with("_before") {
        out.insert_str(0, "v_");
    }
    let first = out.chars().next();
    if first.is_none_or(|c| c.is_ascii_digit()) || given || RESERVED.contains(&out.as_str()) {
        out.push('_');
    }
    if first.is_none_or(|c| c.is_ascii_digit()) { format!("v{out}") } else { out }
}

/// Names that are taken.
#[derive(Debug, Default, Clone)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// A free name like this one.
    pub(super) fn like(&mut self, name: &str) -> String {
        let base = plain(name);
        let mut candidate = base.clone();
        let mut n = 1;
        while !self.0.insert(candidate.clone()) {
            n += 1;
            candidate = format!("{base}_{n}");
        }
        candidate
    }
}
