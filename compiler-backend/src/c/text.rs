//! Expressions of C, names, and text with an indent.

use std::collections::HashSet;

/// How tightly an expression holds together, from loose to tight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Prec {
    Other,
    Sum,
    Product,
    Unary,
    Literal,
    Atom,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ex {
    pub(super) text: String,
    pub(super) prec: Prec,
    /// Whether it is a double, not an `int64_t`.
    pub(super) double: bool,
}

impl Ex {
    pub(super) fn new(text: String, prec: Prec, double: bool) -> Ex {
        Ex { text, prec, double }
    }

    pub(super) fn atom(text: impl Into<String>, double: bool) -> Ex {
        Ex::new(text.into(), Prec::Atom, double)
    }

    pub(super) fn call(name: &str, args: &[&Ex], double: bool) -> Ex {
        let args: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
        Ex::atom(format!("{name}({})", args.join(", ")), double)
    }

    /// Its text, in parentheses where it stands beside something that holds as tightly as this.
    pub(super) fn at(&self, prec: Prec) -> String {
        let negative = self.prec == Prec::Literal && self.text.starts_with('-') && prec >= Prec::Product;
        if self.prec < prec || negative { format!("({})", self.text) } else { self.text.clone() }
    }

    pub(super) fn into_word(self) -> Ex {
        if self.double { Ex::call("bits", &[&self], false) } else { self }
    }

    pub(super) fn into_double(self) -> Ex {
        if self.double { self } else { Ex::call("real", &[&self], true) }
    }
}

/// A constant as an integer.
pub(super) fn word(k: u64) -> Ex {
    let k = k.cast_signed();
    let text = if k == i64::MIN { "INT64_MIN".to_string() } else { k.to_string() };
    Ex::new(text, Prec::Literal, false)
}

/// A constant as a double.
pub(super) fn double(k: u64) -> Ex {
    let x = f64::from_bits(k);
    if x.is_finite() {
        Ex::new(format!("{x:?}"), Prec::Literal, true)
    } else {
        Ex::atom(format!("real((int64_t){k:#x})"), true)
    }
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

/// Text that is written line by line.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) out: String,
    pub(super) indent: usize,
}

impl Text {
    pub(super) fn line(&mut self, text: &str) {
        if !text.is_empty() {
            for _ in 0..self.indent {
                self.out.push_str("    ");
            }
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        self.line(text);
    }
}
