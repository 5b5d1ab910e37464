//! The instructions of the evaluator's machine, on slots.

use std::cell::Cell;
use std::rc::Rc;

use pendula_isa::diagnostic::Place;

use crate::core::{Binary, Compare, GroupId, Op, Test, Unary};
use crate::value::{Value, Word};

/// Where an operand is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Src {
    /// In a slot, which keeps it.
    Local(u32),
    /// In a slot, for the last time.
    Last(u32),
    /// Among the values of the free variables.
    Env(u32),
}

/// An instruction. `dst` is a slot.
#[derive(Debug)]
pub(super) enum Instr {
    Const {
        dst: u32,
        value: Value,
    },
    Move {
        dst: u32,
        a: Src,
    },
    Unary {
        op: Unary,
        level: Word,
        dst: u32,
        a: Src,
    },
    Binary {
        op: Binary,
        level: Word,
        dst: u32,
        a: Src,
        b: Src,
    },
    Compare {
        op: Compare,
        level: Word,
        dst: u32,
        a: Src,
        b: Src,
    },
    Product {
        levels: Box<(Word, Word, Word)>,
        dst: u32,
        a: Src,
        b: Src,
    },
    Test {
        test: Test,
        level: Word,
        dst: u32,
        a: Src,
    },
    AsReal {
        level: Word,
        dst: u32,
        a: Src,
    },
    Op {
        op: Box<Op>,
        level: Word,
        dst: u32,
        args: Box<[Src]>,
    },
    View {
        word: Word,
        dst: u32,
        a: Src,
    },
    Bundle {
        level: Word,
        dst: u32,
        a: Src,
        b: Src,
    },
    Plus {
        dst: u32,
        a: Src,
        b: Src,
    },
    Pair {
        dst: u32,
        a: Src,
        b: Src,
    },
    Tuple {
        dst: u32,
        args: Box<[Src]>,
    },
    Part {
        dst: u32,
        a: Src,
        index: u32,
        of: u32,
    },
    Captured {
        dst: u32,
        a: Src,
        index: u32,
        of: u32,
    },
    Inject {
        dst: u32,
        constructor: u32,
        a: Src,
    },
    /// Goes on at the instruction of the constructor, with the payload in a slot.
    Case {
        a: Src,
        arms: Box<[(u32, u32, u32)]>,
    },
    Closure {
        dst: u32,
        group: GroupId,
        member: u16,
        args: Box<[Src]>,
    },
    Sibling {
        dst: u32,
        member: u16,
    },
    Apply {
        dst: u32,
        f: Src,
        x: Src,
    },
    TailApply {
        f: Src,
        x: Src,
    },
    /// Goes on at `no`, if the truth value is false.
    If {
        level: Word,
        a: Src,
        no: u32,
    },
    Jump {
        to: u32,
    },
    /// Forgets the values of slots.
    Forget {
        slots: Box<[u32]>,
    },
    Return {
        a: Src,
    },
}

/// A compiled function.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) name: Rc<str>,
    pub(super) instrs: Vec<Instr>,
    pub(super) places: Vec<Option<Place>>,
    /// Whether an instruction has a place. The basis has none in the user's program.
    pub(super) has_places: bool,
    /// How many slots a frame has; the first is the parameter.
    pub(super) slots: u32,
    /// How often it was called.
    pub(super) calls: Cell<u64>,
}

impl Code {
    /// The place of the instruction before another, if it has one.
    pub(super) fn place_before(&self, next: u32) -> Option<&Place> {
        self.places.get(next.saturating_sub(1) as usize)?.as_ref()
    }
}
