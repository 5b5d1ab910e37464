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
    "vector",
    "integers",
    "any_of",
    "odd_parts",
    "none_v",
    "PARTS",
    "ALL",
    "NONZERO",
    "S_V",
    "X_V",
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
    "ADD",
    "ALWAYS",
    "CHECK_IF",
    "CHECK_PARTS",
    "CHECK_PARTS_IF",
    "DEEP",
    "DATUM",
    "DIVIDED",
    "EIGHT_TIMES",
    "EXACT",
    "G_F",
    "G_I",
    "IN_ORDER",
    "in_order",
    "INLINED",
    "INSIDE",
    "IS_ZERO",
    "IVDEP",
    "LOGGED",
    "KEPT",
    "REREAD",
    "WORDS",
    "PASS",
    "REMOVE",
    "KEEP",
    "LOOSE",
    "MUL",
    "LOOK_FINITE",
    "LOOK_WITHIN",
    "NEAR_ZERO",
    "NO_LOOK",
    "PEAK",
    "PRODUCT",
    "ROLLED",
    "ROUNDS",
    "SUB",
    "S_F",
    "S_I",
    "UNLIKELY",
    "VECTORS",
    "WATCH",
    "WITHIN",
    "WRAPS",
    "X_F",
    "X_I",
    "add_function",
    "add_products",
    "add_turn",
    "add_turns",
    "all",
    "four_turns",
    "nothing",
    "apart",
    "asks",
    "asked",
    "bool",
    "eight",
    "end_doubles",
    "end_words",
    "four",
    "four_words",
    "inline_int_div",
    "inline_int_mod",
    "inline_int_quot",
    "inline_int_rem",
    "inline_int_udiv",
    "inline_int_umod",
    "lanes",
    "limit",
    "logged",
    "none_f",
    "not_finite",
    "nth",
    "room",
    "stack",
    "sum_of_block",
    "sums_of_products",
    "tell",
    "two",
    "watch",
    "watched",
    "watching",
    "BLOCK",
    "int64_t",
    "uint64_t",
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
    // So are names that begin so to what words carry, and to what is handed over.
    let ahead = |p: &&str| out.strip_prefix(*p).is_some_and(|rest| !rest.is_empty());
    if ["g_", "second_", "mixed_", "p_", "turned_"].iter().any(ahead) || out.ends_with("_before") {
        out.insert_str(0, "v_");
    }
    let first = out.chars().next();
    if first.is_none_or(|c| c.is_ascii_digit()) || is_given(&out) || RESERVED.contains(&out.as_str()) {
        out.push('_');
    }
    if first.is_none_or(|c| c.is_ascii_digit()) { format!("v{out}") } else { out }
}

/// Whether a name is of a kind that is given to values, to turns of loops and to sums.
fn is_given(name: &str) -> bool {
    let numbered =
        |begin: &str| name.strip_prefix(begin).is_some_and(|r| !r.is_empty() && r.chars().all(|c| c.is_ascii_digit()));
    let kinds = [
        "t", "begin_", "until_", "turn_", "at_", "strip_", "sums_", "noted_", "gone_", "turns_", "status_", "passed_",
        "look_", "wait_",
    ];
    kinds.into_iter().any(numbered)
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
            if is_given(&candidate) {
                candidate.push('_');
            }
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, RESERVED};
    use crate::c::PRELUDE;

    /// The names that a line of C defines: of macros, functions, types, and what each thread has.
    fn defined(line: &str) -> Vec<&str> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let first =
            |text: &'static str| line.strip_prefix(text).map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or(""));
        let last = |text: &'_ str| text.trim_end().rsplit(|c: char| !is_name(c)).next().map(str::len).unwrap_or(0);
        let end_of = |text: &str, end: usize| -> usize { end - last(&text[..end]) };
        let mut out: Vec<&str> = first("#define ").into_iter().collect();
        if line.starts_with("static") || line.starts_with("SELDOM static") {
            let end = line.find('(').or(line.find(';')).unwrap_or(0);
            out.push(&line[end_of(line, end)..end]);
        }
        if line.trim_start().starts_with("typedef") && !line.contains("(*") {
            let end = line.find(" __attribute__").or(line.rfind(';')).unwrap_or(0);
            out.push(&line[end_of(line, end)..end]);
        }
        out
    }

    #[test]
    fn what_is_defined_is_not_given_to_variables() {
        let names: Vec<&str> = PRELUDE.lines().flat_map(defined).filter(|name| !name.is_empty()).collect();
        assert!(
            ["WATCH", "watched", "watch", "apart", "vector", "sum_of_block"].iter().all(|n| names.contains(n)),
            "{names:?}"
        );
        let missing: Vec<&&str> = names.iter().filter(|name| !RESERVED.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for name in ["watch", "room", "begin_0", "t1", "turn_12", "vector"] {
            assert_ne!(Names::default().like(name), name);
        }
        // Nor are those of several variables with one name.
        let mut names = Names::default();
        let several: Vec<String> = ["at", "at", "sums", "sums", "at", "x", "x"].map(|name| names.like(name)).into();
        assert_eq!(several, ["at", "at_2_", "sums", "sums_2_", "at_3_", "x", "x_2"]);
        assert_eq!(Names::default().like("beginning"), "beginning");
    }
}
