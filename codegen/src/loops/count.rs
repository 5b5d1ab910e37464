//! Loops that count: how they do, what is looked at before them, and how their turns are made.

use pendula_isa::Ty;
use pendula_isa::types::Cond;

use super::{Address, Induction, Local, Place, Search, Stmt, Sum, Value, Word};

/// A loop that counts.
#[derive(Clone, Debug)]
pub struct Count {
    /// The variable that counts. It is zero after the loop.
    pub var: Local,
    /// What it begins with.
    pub first: Bound,
    /// What it ends with.
    pub last: Bound,
    /// By how much it grows.
    pub step: Step,
    /// Gives up if one of these holds, and the loop has turns.
    pub checks: Vec<Check>,
    /// Words that local variables keep during the loop.
    pub kept: Vec<Kept>,
    /// Limits of partial sums to which more than one turn adds: each local variable is defined as the bits of a double of at most this one, divided by
    /// the number of turns.
    pub limits: Vec<(Local, Value)>,
    /// Floating-point local variables of which the magnitude is at most this after the loop; a larger one is noted.
    pub limits_after: Vec<(Local, Value)>,
    /// Whether no turn depends on another, but for sums.
    pub independent: bool,
    /// Where turns are not independent: how the words of memory go on of all regions that turns write, if they all go on by one word, and those of a region stay
    /// as far apart as they are.
    pub courses: Vec<Course>,
    /// Unless there are none: turns do nothing where all these words are zero. They have them before the loop, or keep them.
    pub flows_from: Vec<Word>,
    /// If the loop makes turns of the one around it at once, what each of these does, and the words that it flows from: where all of those are zero for one
    /// of them, but not for all, they are made one by one.
    pub one_by_one: Vec<(Vec<Word>, Vec<Stmt>)>,
    /// With a mark, the function tells in which turn it is if it is asked.
    pub mark: Option<Mark>,
    /// How turns of the loop within go on side by side, if they may at all.
    pub aside: Option<Aside>,
    /// What several turns do at once.
    pub jammed: Option<Jammed>,
    /// How the words of memory go on, if this is the outermost of three loops, one in the other.
    pub nest: Option<Nest>,
    /// The products of matrices that the nest adds up, if it does nothing else.
    pub products: Option<Products>,
    /// Whether turns are made one after the other, not by vectors: those of the loop around it go on side by side, through neighbouring words.
    pub one_turn: bool,
    /// How turns are made in strips, if they are.
    pub strips: Option<Strips>,
    /// How turns are looked at before they are made, if they are.
    pub search: Option<Search>,
    /// What a turn does.
    pub body: Vec<Stmt>,
    /// Whether turns are added up in blocks. Then the loop has a constant step.
    pub blocks: Option<Blocks>,
}

/// How turns of a loop go on side by side in the loop within.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// What must hold.
    pub apart: Vec<Apart>,
    /// Whether they go through words of memory that are neighbours, where the loop within goes on by larger steps.
    pub neighbours: bool,
}

/// What keeps words of different turns apart, in a loop and the loop within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    /// By how much a word goes on from turn to turn of one of the two loops.
    pub by: i64,
    /// Which loop that is; the words are apart if all its turns at once go on less far than one of the other.
    pub of: Turns,
    /// By how much the word goes on from turn to turn of the other loop.
    pub step: Sum,
}

/// Turns of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// Those of a loop within: what it begins with, and what it ends with.
    Within(Value, Value),
    /// Those that are made at once.
    AtOnce,
}

/// Several turns of a loop at once. The turns of the loop within go on side by side, and what comes before and after it is done for one
/// turn after the other.
#[derive(Clone, Debug)]
pub struct Jammed {
    /// What counts for the second and further turns.
    pub vars: Vec<Local>,
    /// What must hold.
    pub apart: Vec<Apart>,
    /// What they do.
    pub body: Vec<Stmt>,
}

/// How words go through memory in three loops, one in the other. Sums are of values before the outermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    /// What the two loops within begin and end with, the innermost last.
    pub ends: [[Value; 2]; 2],
    /// The words.
    pub words: Vec<NestWord>,
}

/// How a word of memory goes on in three loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestWord {
    /// The word's address, as turns have it.
    pub word: Address,
    /// What memory it is in: words of others are others.
    pub region: u32,
    /// Where it is in the first turn of all.
    pub first: Sum,
    /// By how much it goes on from turn to turn of each loop, the innermost last.
    pub steps: [Sum; 3],
}

/// Sums of products, `X[p, q] += Y[p, r] * Z[r, q]`, that three loops make: each word of `X` gets its products in the order of the
/// turns of that loop, `r`, in which it stays the same. None of them changes what another reads.
#[derive(Clone, Debug)]
pub struct Products {
    /// What the two loops within begin and end with, the innermost last, and whether they count down.
    pub within: [([Value; 2], bool); 2],
    /// What must hold for nothing else to happen in the loops, if all have turns.
    pub conditions: Vec<(Cond, Value, Value)>,
    /// What is added up.
    pub all: Vec<Product>,
}

/// One sum of products.
#[derive(Clone, Debug)]
pub struct Product {
    /// Which of the three loops go through the rows of `Y`, the columns of `Z`, and the products of a word, 0 being the outermost.
    pub loops: [usize; 3],
    /// `X`, `Y` and `Z`: where their words are, and the lane.
    pub words: [(NestWord, usize); 3],
    /// Whether products are subtracted.
    pub subtracts: bool,
    /// What is looked at after each addition, if anything.
    pub look: Look,
    /// The loops whose numbers of turns divide a limit, one after the other.
    pub divided_by: Vec<usize>,
}

/// How a word of memory goes on from turn to turn of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// The word's address, as turns have it.
    pub word: Address,
    /// What memory it is in: words of others are others.
    pub region: u32,
    /// Where it is.
    pub at: Induction,
}

/// Turns that are made in strips of [`BLOCK`], as many as there are; the loop has a step of 1 or -1. After each strip, what its turns have computed is
/// added to local variables, in the order of the turns.
#[derive(Clone, Debug)]
pub struct Strips {
    /// What is added to local variables, in the order of a turn.
    pub added: Vec<Added>,
    /// What is added to words of memory: the first one for all turns, then the next.
    pub scattered: Vec<Scattered>,
    /// What a turn does in a strip.
    pub body: Vec<Stmt>,
}

/// What turns add to a word of memory, which is another one in each turn.
#[derive(Clone, Debug)]
pub struct Scattered {
    /// What is added.
    pub added: Added,
    /// What memory the word is in.
    pub region: u32,
    /// Where it is.
    pub at: Induction,
}

/// What turns add to a word.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// The word.
    pub to: Word,
    /// The variable that has what a turn adds, and those of a strip.
    pub parts: [Local; 2],
    /// What is looked at after each addition.
    pub look: Look,
}

/// What is looked at when something has been added, and noted if it is not so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing.
    No,
    /// Whether the sum is finite.
    Finite,
    /// Whether its magnitude is at most the double with these bits.
    Within(Value),
}

/// A number by which whoever made the program knows a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(pub u32);

/// Turns that are added up in blocks of [`BLOCK`]. Each turn of a block adds to variables of its own, and what it adds is added up as
/// ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)), in the order of turns of a loop whose blocks begin with the first turn. Where nothing is
/// added up, the turns of a block are run in the other order than blocks.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Whether blocks end with the last turn: the first turns are those beyond whole blocks, and the order of turns is the other one.
    pub from_last: bool,
    /// The variable to which a turn adds, and that has the sum of a block after it; what the turns of a block have added.
    pub parts: Vec<[Local; 2]>,
    /// The number of whole blocks, that of turns, and the turn.
    pub counters: [Local; 3],
    /// Adds the variables to where they belong, after a block, or after a turn of none.
    pub after: Vec<Stmt>,
}

/// The number of turns that are added up at a time.
pub const BLOCK: i64 = 8;

/// A bound of a loop.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// A constant.
    Const(u64),
    /// The value of a place before the loop, which is kept in a local variable. That it is the same after the loop is checked.
    Kept(Local, Place),
}

impl Bound {
    /// The value during the loop.
    pub fn value(self) -> Value {
        match self {
            Bound::Const(k) => Value::Const(k),
            Bound::Kept(local, _) => Value::Place(Place::Local(local)),
        }
    }
}

/// A loop's step.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A constant other than 0.
    Const(i64),
    /// The value of a local variable before the loop, or its negation, which is kept in another.
    Kept {
        /// The variable that keeps it.
        by: Local,
        /// The variable that has it.
        of: Local,
        /// Whether it is negated.
        negated: bool,
    },
}

/// Something that must not hold for a loop to be run. Sums are of values before the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// A comparison fails.
    Fails(Cond, Value, Value),
    /// A comparison of sums fails.
    SumsFail(Cond, Sum, Sum),
    /// An address lies outside the memory.
    Outside(Sum),
    /// An address leaves the memory in some turn: where it begins, and by how much it goes on.
    Leaves(Sum, i64),
    /// The same for steps of any size, and for as many words behind it.
    LeavesBy(Sum, i64, Sum),
}

impl Check {
    /// Whether it depends on how many turns there are.
    pub fn counts_turns(&self) -> bool {
        match self {
            Check::Fails(..) | Check::SumsFail(..) | Check::Outside(_) => false,
            Check::Leaves(..) | Check::LeavesBy(..) => true,
        }
    }
}

/// A word that stays where it is throughout a loop: it is read before the loop, kept in a local variable, and written after it.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The local variable.
    pub local: Local,
    /// Where the word is.
    pub place: Place,
    /// Its type.
    pub ty: Ty,
    /// Whether its value changes.
    pub written: bool,
}
