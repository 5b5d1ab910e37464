//! The parts of programs: kinds of numbers, variables, lengths, functions.

/// A generator of random numbers, which gives the same numbers for the same seed.
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// The kind of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Bool,
    Fixed,
    Float,
    Log,
    Complex,
    ComplexFixed,
    Tropical,
    /// `struct Pair{T}` with `Float64`.
    Pair,
}

impl Kind {
    pub(super) const ALL: &'static [Kind] = &[
        Kind::Int,
        Kind::Bool,
        Kind::Fixed,
        Kind::Float,
        Kind::Log,
        Kind::Complex,
        Kind::ComplexFixed,
        Kind::Tropical,
        Kind::Pair,
    ];

    /// The type in the source.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Int => "Int",
            Kind::Bool => "Bool",
            Kind::Fixed => "Fixed",
            Kind::Float => "Float64",
            Kind::Log => "ULogarithmic",
            Kind::Complex => "Complex{Float64}",
            Kind::ComplexFixed => "Complex{Fixed}",
            Kind::Tropical => "Tropical{Float64}",
            Kind::Pair => "Pair{Float64}",
        }
    }

    /// The number kind of the parts of complex numbers and structs, and the names of the two parts.
    pub(super) fn parts(self) -> Option<(Kind, [&'static str; 2])> {
        match self {
            Kind::Complex => Some((Kind::Float, ["re", "im"])),
            Kind::ComplexFixed => Some((Kind::Fixed, ["re", "im"])),
            Kind::Pair => Some((Kind::Float, ["x", "y"])),
            Kind::Int | Kind::Bool | Kind::Fixed | Kind::Float | Kind::Log | Kind::Tropical => None,
        }
    }
}

/// The minimum length of arrays.
pub(super) const SHORTEST: usize = 2;

/// The length of an array in one dimension.
#[derive(Clone, Debug)]
pub(super) enum Len {
    /// A known length.
    Known(usize),
    /// A length that the caller decides, with the text for it in the source.
    Open(usize, String),
}

impl PartialEq for Len {
    fn eq(&self, other: &Len) -> bool {
        match (self, other) {
            (Len::Known(a), Len::Known(b)) | (Len::Open(a, _), Len::Open(b, _)) => a == b,
            (Len::Known(_), Len::Open(..)) | (Len::Open(..), Len::Known(_)) => false,
        }
    }
}

impl Len {
    pub(super) fn text(&self) -> String {
        match self {
            Len::Known(n) => n.to_string(),
            Len::Open(_, text) => text.clone(),
        }
    }

    /// The minimum of the length.
    pub(super) fn least(&self) -> usize {
        if let Len::Known(n) = self { *n } else { SHORTEST }
    }
}

/// An integer that is an index of arrays of this length, also after this number is added or subtracted.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) len: Len,
    pub(super) below: usize,
    pub(super) above: usize,
}

/// A name in scope.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The lengths of an array.
    pub(super) dims: Vec<Len>,
    /// Whether expressions may read it here.
    pub(super) read: bool,
    /// Whether statements may change it here.
    pub(super) write: bool,
    pub(super) index: Option<Index>,
}

impl Variable {
    pub(super) fn new(name: &str, kind: Kind, dims: Vec<Len>, write: bool) -> Variable {
        Variable { name: name.to_string(), kind, dims, read: true, write, index: None }
    }
}

/// A parameter of a generated function.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// For an array: which lengths are equal.
    pub(super) dims: Vec<usize>,
    pub(super) written: bool,
}

/// The use of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is called in statements.
    Plain,
    /// Its result is added to its first parameter, a number, and it changes no other parameter: it may be called in
    /// expressions.
    Adds,
    /// It defines the statement `y += f(x)`.
    Instruction,
    /// It calls itself as often as its last parameter, an integer, says.
    Recursive,
    /// Its first parameter is a function with the role [`Role::Adds`], which is called with the others.
    Applies,
}

/// A generated function.
#[derive(Clone, Debug)]
pub(super) struct Helper {
    pub(super) name: String,
    pub(super) params: Vec<Param>,
    pub(super) keyword: Option<(String, Kind)>,
    pub(super) role: Role,
}
