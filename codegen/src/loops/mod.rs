//! The loop form: whole programs as functions with structured loops, between the compilers' representation and the generators of
//! machine code. It is data: it names nothing, and it is independent of any language that it is printed in.
//!
//! A function works on local variables and on the machine's memory. What its statements compute are [blocks](Block) of
//! [operations](crate::ops), whose operands are words: local variables, or words of memory at addresses that are sums of local
//! variables. Each word has a value, and in an AD mode words in further lanes, which the blocks also compute.
//!
//! # Giving up
//!
//! Code never traps. Where the program would, the function gives up: whoever called it restores the memory, and another engine runs
//! the program to that place. Checks of values need not be made where they stand: a function may *note* that one fails, and give up
//! when it ends, or in the next turn of a loop without a count. Checks of addresses come before the access.

mod block;
mod checks;
mod count;
mod if_convert;
mod implied;
mod inactive;
mod jam;
mod keep;
mod logs;
mod mentions;
mod merge;
mod products;
mod rename;
mod searches;
mod strips;
mod sum;
mod sums;
mod vectors;
mod watch;
mod zero_sums;

use std::ops::Range;

use pendula_isa::adjoint::{AdMode, MIXED, SECOND, VALUE};
use pendula_isa::types::Cond;
use pendula_isa::{Env, Ty};

use crate::ops::{Kernel, ValueId};

pub use block::{Block, Slot};
pub use checks::remove_implied_checks;
pub use count::{
    Added, Apart, Aside, BLOCK, Blocks, Bound, Check, Count, Course, Jammed, Kept, Look, Mark, Nest, NestWord, Product,
    Products, Scattered, Step, Strips, Turns,
};
pub use implied::remove_checks_implied_elsewhere;
pub use jam::jam_loops;
pub use keep::{Keep, Keeping};
pub use logs::give_room_for_logs;
pub use mentions::values_changed_in;
pub use products::{PRODUCT_TURNS, find_products};
pub use searches::{Search, find_searches};
pub use strips::{has_any_order, make_strips, writes_memory};
pub use sum::{Induction, Sum};
pub use sums::{check_sums_once, limited_sums};
pub use vectors::can_carry_vectors;
pub use watch::{TURNS, is_short, watch_outer_loops};
pub use zero_sums::remove_additions_to_zero;

/// The greatest magnitude of a floating-point word that counts as zero where its life ends.
pub const NEAR_ZERO: f64 = 1e-8;

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file that it comes from.
    pub file: Option<String>,
    /// The environment of kernels.
    pub env: Env,
    /// Whether numbers that are not finite are noted.
    pub checks_finite: bool,
    /// Whether sums in other lanes than that of values are not looked at where they are made: once one is not finite, it stays so, and
    /// what it flows to is not finite. They are looked at where they end.
    pub carried_late: bool,
    /// Whether tangents, and the tangents of gradient words, are vectors of [`TANGENTS`] doubles.
    ///
    /// [`TANGENTS`]: pendula_isa::adjoint::TANGENTS
    pub has_vector_tangents: bool,
    /// Whether it gives up where partial sums are too large for their rounding to be forgotten.
    pub limits: bool,
    /// Whether such a sum is one of a variable, and not of words of an array.
    pub limits_variables: bool,
    /// Whether it keeps values for the way back ([`Keep`]).
    pub keeps: bool,
    /// The kernels that blocks call.
    pub kernels: Vec<Kernel>,
    /// The functions, by [`FunctionId`].
    pub functions: Vec<Function>,
    /// The functions in an order in which they can be printed: callers tend to come first.
    pub order: Vec<FunctionId>,
    /// What is called from outside.
    pub entries: Vec<Entry>,
}

impl Program {
    /// How many operations its blocks have.
    pub fn operations(&self) -> usize {
        self.functions.iter().map(|f| operations(&f.body)).sum()
    }

    /// Whether words in a lane are vectors.
    pub fn is_vector(&self, lane: usize) -> bool {
        self.has_vector_tangents && matches!(lane, SECOND | MIXED)
    }
}

/// How many operations the blocks among statements have, those within them included, and those of turns that are made at once.
fn operations(statements: &[Stmt]) -> usize {
    let of = |s: &Stmt| {
        let own = match s {
            Stmt::Block(block) => block.ops.len(),
            Stmt::Count(count) => count.jammed.as_ref().map_or(0, |jammed| operations(&jammed.body)),
            _ => 0,
        };
        own + s.inner().into_iter().map(|inner| operations(inner)).sum::<usize>()
    };
    statements.iter().map(of).sum()
}

/// A function that is called from outside.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The symbol.
    pub name: String,
    /// The function that it calls, which has no parameters.
    pub function: FunctionId,
    /// The data of which it may change what the words carry.
    pub carried: Vec<Range<usize>>,
}

/// A function, by its index in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(pub u32);

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// A name for readers; names need not be unique.
    pub name: String,
    /// Which lanes it computes.
    pub ad_mode: AdMode,
    /// Whether the run turns round in it: it then hands on what the data is like there.
    pub turns: bool,
    /// Whether it, or what it calls, writes logs ([`give_room_for_logs`]).
    pub writes_logs: bool,
    /// Whether it looks for room on the host's stack before it calls anything.
    pub checks_stack: bool,
    /// The local variables, by [`Local`].
    pub locals: Vec<LocalInfo>,
    /// The parameters.
    pub params: Vec<Param>,
    /// The statements.
    pub body: Vec<Stmt>,
}

impl Function {
    /// The lanes beside values in which a word of a type has words.
    pub fn lanes_of(&self, ty: Ty) -> &'static [usize] {
        lanes_of(self.ad_mode, ty)
    }

    /// Whether it is given the words between the two halves of the run, and those after them, which are for logs.
    pub fn has_room(&self) -> bool {
        self.turns || self.writes_logs
    }

    /// A local variable.
    pub fn local(&self, local: Local) -> &LocalInfo {
        &self.locals[local.0 as usize]
    }

    /// Changes the statements; what does it may add local variables.
    fn change_body(&mut self, change: impl FnOnce(&mut Function, &mut Vec<Stmt>)) {
        let mut body = std::mem::take(&mut self.body);
        change(self, &mut body);
        self.body = body;
    }

    /// Adds a local variable.
    fn add(&mut self, local: LocalInfo) -> Local {
        self.locals.push(local);
        Local(self.locals.len() as u32 - 1)
    }

    /// The type of a place that is read as `ty`: local variables have types of their own.
    pub fn ty(&self, place: Place, ty: Ty) -> Ty {
        match place {
            Place::Local(local) => self.local(local).ty,
            Place::Memory(_) | Place::Log(_) => ty,
        }
    }
}

/// The lanes beside values in which a word of a type has words.
pub fn lanes_of(ad_mode: AdMode, ty: Ty) -> &'static [usize] {
    if ty.gradient().is_some() { ad_mode.lanes() } else { &[] }
}

/// The type of the word that a word of a type has in a lane.
pub fn lane_type(lane: usize, ty: Ty) -> Ty {
    if lane == VALUE { ty } else { ty.gradient().unwrap_or(Ty::Int) }
}

/// Whether a lane goes where values go: a copy of a word has what the word has there. Otherwise what flows to the copy flows on to
/// the word.
pub fn flows_forward(ad_mode: AdMode, lane: usize) -> bool {
    match ad_mode {
        AdMode::Tangent | AdMode::GradientTangent => lane == SECOND,
        AdMode::Plain | AdMode::Gradient | AdMode::SecondGradient => lane == MIXED,
    }
}

/// A local variable, by its index in the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(pub u32);

/// A local variable. It has a word in each lane of its type.
#[derive(Clone, Debug)]
pub struct LocalInfo {
    /// A name for readers; names need not be unique.
    pub name: String,
    /// The type of its value.
    pub ty: Ty,
    /// The lane of the words that it is for. Those of variables of the program are values.
    pub lane: usize,
    /// Where its life begins.
    pub scope: Scope,
}

/// Where the life of a local variable begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// With the function, as a parameter.
    Param,
    /// With the function, as zero.
    Function,
    /// With the statement that defines it.
    Stmt,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// The local variable that has its words in the function.
    pub local: Local,
    /// How the caller passes it.
    pub passed: Passed,
}

/// How a parameter's value is passed. Its words in other lanes are passed by address in any case.
#[derive(Clone, Debug)]
pub enum Passed {
    /// By address: the function changes it.
    Address,
    /// By value: nothing changes it.
    Value,
    /// By value. The function changes it and restores it, which is checked. In these lanes, what has flowed to it is added to the
    /// caller's word by a block, of which the first operand is that word and the second the local variable's.
    Copy(Vec<(usize, Block)>),
}

/// An address in memory: a sum of local variables and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The local variables.
    pub locals: [Option<Local>; 2],
    /// The constant.
    pub offset: i64,
}

/// A place that has a word in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A local variable.
    Local(Local),
    /// A word of memory.
    Memory(Address),
    /// A floating-point word of a log.
    Log(Address),
}

/// An integer that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// A constant.
    Const(u64),
    /// The value of a place.
    Place(Place),
}

/// A place's word in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The place.
    pub place: Place,
    /// The type of its value.
    pub ty: Ty,
    /// The lane.
    pub lane: usize,
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Test {
    /// Whether a local variable that [`Stmt::Flag`] defines is set.
    Flag(Local),
    /// A comparison of integers.
    Integers(Cond, Value, Value),
    /// Whether a value that a block computes is not zero.
    Block(Block, ValueId),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Operations.
    Block(Block),
    /// Gives up if an address lies outside the memory.
    Inside(Address),
    /// Gives up if two addresses are the same.
    Apart(Address, Address),
    /// Does one of two things.
    IfSame {
        /// Two addresses.
        addresses: [Address; 2],
        /// What is done if they are the same.
        then: Vec<Stmt>,
        /// What is done otherwise.
        otherwise: Vec<Stmt>,
    },
    /// Defines a local variable that is not zero if a test holds.
    Flag(Local, Test),
    /// Does one of two things; `flag` is whether the test holds.
    If {
        /// The test.
        test: Test,
        /// Defined as its result.
        flag: Local,
        /// What is done if it holds.
        then: Vec<Stmt>,
        /// What is done otherwise.
        otherwise: Vec<Stmt>,
    },
    /// Notes that a test does not agree with a flag.
    Agree(Test, Local),
    /// Gives up if whether a test holds is this.
    GiveUp {
        /// The test.
        test: Test,
        /// Its result.
        holds: bool,
    },
    /// Statements in another AD mode: they leave lanes as they are that it does not have.
    InMode(AdMode, Vec<Stmt>),
    /// Repeats statements until one leaves the loop. With a mark, the function tells in which turn it is if it is asked.
    Loop(Option<Mark>, Vec<Stmt>),
    /// Leaves the innermost loop unless a test holds. Before that, notes numbers that are not finite.
    Leave {
        /// The test.
        unless: Test,
        /// Floating-point numbers that it compares.
        finite: Vec<Word>,
    },
    /// Gives up unless a test holds, or if something has been noted. Numbers that are not finite might keep a loop going.
    Proceed(Test),
    /// A loop that counts.
    Count(Box<Count>),
    /// Sets a local variable's words to zero in each lane.
    Clear(Local),
    /// Notes that a local variable's value, which ends, is not zero.
    CheckZero(Local),
    /// Notes that a floating-point word in another lane of a local variable, which ends, is not finite.
    CheckCarried(Local),
    /// The same for data, which are floating-point numbers.
    CheckCarriedData(Range<usize>),
    /// Allocates words of memory: the address, and how many.
    Allocate(Local, Value),
    /// Frees the words that were allocated last.
    Free {
        /// Their address, which becomes zero.
        base: Local,
        /// How many they are.
        len: Value,
        /// How their values are read.
        ty: Ty,
        /// What is done about their values.
        values: Freed,
    },
    /// Frees the words that were allocated last, whatever they are, values alone.
    Forget(Local, Value),
    /// Defines a local variable as a copy of a word, or as zero.
    Define(Local, Option<Word>),
    /// Begins a log of this many words: a local variable is defined as where it begins. Only functions in which the run turns round
    /// have logs. Gives up if there is no room.
    Log(Local, Value),
    /// Ends the log that was begun last.
    EndLog(Local),
    /// Something about values that are kept for the way back. Functions that do so have room for logs.
    Keep(Keep),
    /// Defines a local variable for what is to be added to another: its value is the neutral element of sums, -0, and it has the
    /// other's words in other lanes.
    Addend(Local, Local),
    /// Writes a local variable's value to a word.
    Write(Word, Local),
    /// Calls a function; gives up if it does.
    Call(FunctionId, Vec<Argument>),
    /// Hands on a parameter's value: the run turns round here.
    HandParam(Local),
    /// Hands on data.
    HandData(Range<usize>),
}

impl Stmt {
    /// The lists of statements within it.
    fn lists(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::InMode(_, inner) | Stmt::Loop(_, inner) => vec![inner],
            Stmt::IfSame { then, otherwise, .. } | Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Count(count) => {
                let after = count.blocks.as_mut().map(|blocks| &mut blocks.after);
                std::iter::once(&mut count.body).chain(after).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The same, to be read.
    pub(crate) fn inner(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Stmt::InMode(_, inner) | Stmt::Loop(_, inner) => vec![inner],
            Stmt::IfSame { then, otherwise, .. } | Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Count(count) => {
                let after = count.blocks.as_ref().map(|blocks| &blocks.after);
                std::iter::once(&count.body).chain(after).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// What is done about the values of words that are freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freed {
    /// They are set to zero.
    Clear,
    /// They are zero; floating-point numbers become zero if they are close to it. What is not is noted.
    Check,
    /// They are zero for certain.
    Zero,
}

/// What a call passes.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A constant, as a word of a type.
    Const(u64, Ty),
    /// A word.
    Value(Word),
    /// The address of a local variable's word.
    Address(Word),
    /// The address of a word that nobody reads, and that is zero; its type and its lane.
    Nowhere(Ty, usize),
    /// Where the callee hands on the value of a word of memory, as a word of a type.
    HandMemory(Address, Ty),
    /// Where the callee hands on the value of a parameter.
    HandParam(Local),
}
