//! Random programs in Janus, as text. Most of them run to their end; a branch that is not taken may contain anything.

/// SplitMix64: a fixed stream, so that failures are reproducible.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.word() % n.max(1) as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Numbers with which most statements fail.
pub(crate) const EXTREME_VALUES: &[&str] = &[
    "0 - 4",
    "0",
    "0 - 1",
    "63",
    "64",
    "100",
    "-9223372036854775808",
    "9223372036854775807",
    "4294967296",
    "2147483648",
    "134217728",
    "67108864",
    "4611686018427387904",
];

/// Statements that use such a number `g`, in a scope with `x`, `y`, `a`, `s` and arrays of several sizes.
pub(crate) const FAULTY_STATEMENTS: &[&str] = &[
    "local int l[g] l[0] += 1 l[0] -= 1 delocal int l[g]",
    "local int l[g][g] l[0][0] += 1 l[0][0] -= 1 delocal int l[g][g]",
    "local int l[3] skip delocal int l[g]",
    "local int l[g] skip delocal int l[3]",
    "a[g] += 1",
    "a[g] <=> x",
    "x += a[g]",
    "x += a[g + 1] * a[g - 1]",
    "m[g][g] += a[g]",
    "x += 3 << g",
    "x += y >> g",
    "x ^= y << g",
    "x += y / g",
    "x += 7 % g",
    "x += y ** g",
    "x += 3 ** g",
    "x *= g",
    "x /= g",
    "x += g * g * g",
    "iterate int i = 1 by g to 10 x += i end",
    "iterate int i = g to g + 2 x += i end",
    "push(g + 0, s) pop(g + 0, s)",
    "pop(g + 0, s)",
    "x += top(s)",
    "assert g = 3",
    "u += (u8) g",
    "u += v << g",
    "u *= (u8) g",
    "u /= (u8) g",
    "u += v / ((u8) g)",
    "w += w1 / ((i32) g)",
    "w += w1 << g",
    "w *= (i32) g",
    "z += z1 / ((u64) g)",
    "z += z1 ** ((u64) g)",
    "z *= (u64) g",
    "call sized(g, x)",
    "uncall sized(g, x)",
    "call indexed(g, a)",
    "call indexed(g + 0, a)",
    "if g = 3 then x += 1 fi x = 1",
    "from g = 3 do x += 1 until g = 4",
    "local int l[2] = {g, g * g} skip delocal int l[2] = {g, g * g}",
    "local int h = g h += 1 delocal int h = g",
];

/// The procedures that [`FAULTY_STATEMENTS`] calls, and the variables of `main` that it names.
pub(crate) const PRELUDE: &str = "procedure sized(int n, int x)
    local int l[n]
        l[n - 1] += 1
        l[n - 1] -= 1
    delocal int l[n]

procedure indexed(int n, int a[])
    a[n] += a[n + 1]

procedure main()
    int x = 5
    int y = 9
    int k = 2
    int n = 3
    int a[4] = {1, 2, 3, 4}
    int m[3][4]
    u8 u = 3
    u8 v = 2
    i32 w
    i32 w1 = 7
    u64 z
    u64 z1 = 11
    stack s
";

/// Integers of `main` that are changed, and their types; no two of a type are written by one statement.
const CHANGED: &[(&str, &str)] = &[("x", "int"), ("y", "int"), ("u", "u8"), ("w", "i32"), ("z", "u64")];
/// Those that are not.
const KEPT: &[(&str, &str)] = &[("k", "int"), ("n", "int"), ("v", "u8"), ("w1", "i32"), ("z1", "u64")];

struct Generator {
    random: Random,
    out: String,
    /// Local variables that are not changed.
    locals: Vec<String>,
    /// Counters and variables so far.
    names: usize,
    budget: usize,
}

/// A program from a seed.
pub(crate) fn generate(seed: u64) -> String {
    let mut g = Generator { random: Random(seed), out: PRELUDE.to_string(), locals: Vec::new(), names: 0, budget: 14 };
    while g.budget > 0 {
        g.statement(1);
    }
    g.out
}

impl Generator {
    fn line(&mut self, depth: usize, text: &str) {
        self.out += &"    ".repeat(depth);
        self.out += text;
        self.out.push('\n');
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }

    /// An integer that is not changed.
    fn kept(&mut self, ty: &str) -> String {
        let mut names: Vec<String> = KEPT.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.to_string()).collect();
        if ty == "int" {
            names.extend_from_slice(&self.locals);
        }
        self.random.pick(&names).clone()
    }

    /// An expression of a type, which does not read what is named; of what is kept alone, if nothing is.
    fn expr(&mut self, ty: &str, not: Option<&str>, depth: usize) -> String {
        let pick = self.random.below(if depth == 0 { 4 } else { 12 });
        match pick {
            0 => self.random.below(9).to_string(),
            1 | 2 => self.kept(ty),
            3 => match (not, ty) {
                (Some(not), _) => {
                    let others: Vec<&str> =
                        CHANGED.iter().filter(|(n, t)| *t == ty && *n != not).map(|(n, _)| *n).collect();
                    if others.is_empty() { self.kept(ty) } else { self.random.pick(&others).to_string() }
                }
                (None, _) => self.kept(ty),
            },
            4..=8 => {
                let op = *self.random.pick(&["+", "-", "*", "&", "|", "^", "+", "-"]);
                let (a, b) = (self.expr(ty, not, depth - 1), self.expr(ty, not, depth - 1));
                format!("({a} {op} {b})")
            }
            9 => {
                let op = *self.random.pick(&["/", "%", "<<", ">>", "**"]);
                let a = self.expr(ty, not, depth - 1);
                format!("({a} {op} {})", 1 + self.random.below(3))
            }
            10 => {
                let of = *self.random.pick(&["int", "u8", "i32", "u64"]);
                format!("(({ty}) {})", self.expr(of, not, depth - 1))
            }
            _ if ty == "int" && not.is_some_and(|n| n != "a") => format!("a[{}]", self.random.below(4)),
            _ => format!("(~{})", self.expr(ty, not, depth - 1)),
        }
    }

    /// A condition on what is kept.
    fn condition(&mut self) -> String {
        let ty = *self.random.pick(&["int", "u8", "i32", "u64"]);
        let (a, b) = (self.expr(ty, None, 1), self.expr(ty, None, 1));
        let op = *self.random.pick(&["=", "!=", "<", "<=", ">", ">="]);
        if self.random.chance(20) { format!("{a} {op} {b} && k = 2") } else { format!("{a} {op} {b}") }
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(2) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        let pick = if depth > 3 || self.budget == 0 { self.random.below(5) } else { self.random.below(16) };
        match pick {
            0..=2 => {
                let (name, ty) = *self.random.pick(CHANGED);
                let op = *self.random.pick(&["+=", "-=", "^=", "+=", "-="]);
                let e = self.expr(ty, Some(name), 2);
                self.line(depth, &format!("{name} {op} {e}"));
            }
            3 => {
                let (at, e) = (self.random.below(4), self.expr("int", Some("a"), 1));
                self.line(depth, &format!("a[{at}] += {e}"));
            }
            4 => {
                let at = self.random.below(4);
                let text = self.random.pick(&["x <=> y", "print(\"so \\\"far\\\"\")", "skip", "y <=> a[AT]"]);
                self.line(depth, &text.replace("AT", &at.to_string()));
            }
            5 | 6 => self.dead(depth),
            7 => {
                let c = self.condition();
                self.line(depth, &format!("if {c} then"));
                self.block(depth + 1);
                if self.random.chance(50) {
                    self.line(depth, "else");
                    self.block(depth + 1);
                }
                self.line(depth, &format!("fi {c}"));
            }
            8 => {
                let (i, last) = (self.name(), 1 + self.random.below(3));
                self.line(depth, &format!("local int {i}"));
                let part = *self.random.pick(&["do", "loop"]);
                self.line(depth, &format!("from {i} = 0 {part}"));
                self.block(depth + 1);
                self.line(depth + 1, &format!("{i} += 1"));
                self.line(depth, &format!("until {i} = {last}"));
                self.line(depth, &format!("delocal int {i} = {last}"));
            }
            9 => {
                let i = self.name();
                let (ty, range) = *self.random.pick(&[
                    ("int", "0 to 3"),
                    ("int", "3 by 0 - 1 to 1"),
                    ("int", "8 by -k to 2"),
                    ("u8", "9 by 254 to 3"),
                    ("u8", "1 by v to 5"),
                    ("i32", "0 by -3 to -6"),
                    ("u64", "2 by 18446744073709551615 to 0"),
                    ("int", "k to n"),
                ]);
                let range = range.replace("-k", "0 - k");
                self.line(depth, &format!("iterate {ty} {i} = {range}"));
                self.block(depth + 1);
                self.line(depth, "end");
            }
            10 => {
                let (l, e) = (self.name(), self.expr("int", None, 1));
                self.line(depth, &format!("local int {l} = {e}"));
                self.locals.push(l.clone());
                self.block(depth + 1);
                self.locals.pop();
                self.line(depth, &format!("delocal int {l} = {e}"));
            }
            11..=13 => self.array(depth),
            14 => {
                let e = self.expr("int", None, 1);
                self.line(depth, &format!("push({e}, s)"));
                self.block(depth + 1);
                self.line(depth, &format!("pop({e}, s)"));
            }
            _ => {
                let how = *self.random.pick(&["call", "uncall"]);
                let what = *self.random.pick(&["sized(n, x)", "sized(k + 1, y)", "indexed(k, a)", "indexed(1, a)"]);
                self.line(depth, &format!("{how} {what}"));
            }
        }
    }

    /// An array whose size, or values, may be written in other ways where it ends.
    fn array(&mut self, depth: usize) {
        let l = self.name();
        let three = ["3", "n", "k + 1", "1 + 2"];
        let (begin, end) = match self.random.below(6) {
            0 => (format!("{l}[] = {{1, k}}"), format!("{l}[] = {{1, 2}}")),
            1 => (format!("{l}[] = {{k, 0, 0}}"), format!("{l}[{}] = {{2}}", self.random.pick(&three))),
            2 => (format!("{l}[{}][k]", self.random.pick(&three)), format!("{l}[][2]")),
            3 => (format!("{l}[{}] = {{k}}", self.random.pick(&three)), format!("{l}[] = {{2, 0, 0}}")),
            4 => (format!("{l} = a"), format!("{l} = a")),
            _ => (format!("{l}[{}]", self.random.pick(&three)), format!("{l}[{}]", self.random.pick(&three))),
        };
        self.line(depth, &format!("local int {begin}"));
        if begin.contains("= a") {
            self.line(depth + 1, "x += 1");
        } else {
            self.block(depth + 1);
        }
        self.line(depth, &format!("delocal int {end}"));
    }

    /// A branch that is not taken, in which anything may go wrong.
    fn dead(&mut self, depth: usize) {
        let condition = *self.random.pick(&["k = 77", "1 = 2", "n < 0", "k > 2 && n = 3"]);
        let (g, wild) = (self.name(), *self.random.pick(EXTREME_VALUES));
        // Not every letter is a name.
        let word = |w: &str| if w == "g" { g.clone() } else { w.to_string() };
        let planted = self.random.pick::<&str>(FAULTY_STATEMENTS);
        let planted: String = split(planted).map(word).collect();
        let i = self.name();
        let planted = planted.replace("int i ", &format!("int {i} ")).replace("+= i ", &format!("+= {i} "));
        self.line(depth, &format!("if {condition} then"));
        self.line(depth + 1, &format!("local int {g} = {wild}"));
        self.line(depth + 1, &planted);
        self.line(depth + 1, &format!("delocal int {g} = {wild}"));
        self.line(depth, &format!("fi {condition}"));
    }
}

/// The words of a text, and what lies between them.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let letter = |c: char| c.is_alphanumeric();
        let first = rest.chars().next()?;
        let end = rest.find(|c: char| letter(c) != letter(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}
