//! Expressions of C, and text with an indent.

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
