//! Faults: the reasons why an instruction cannot run.
//!
//! A [`Fault`] is one byte, so that the interpreter's hot path passes it in a register. The values for a report are read from the
//! state, which is still the one before the instruction (crate `pendula-vm`, module `trap`).

/// Declares the faults with their codes and messages in one place.
macro_rules! faults {
    ($( $(#[doc = $doc:literal])+ $Name:ident $code:literal $title:literal $help:literal; )*) => {
        /// Why an instruction could not run. Nothing has been written when one is returned.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Fault { $( $(#[doc = $doc])+ $Name, )* }

        impl Fault {
            /// Every fault, in the order of the codes.
            pub const ALL: &'static [Fault] = &[$( Fault::$Name, )*];

            /// The code that messages and test files name, such as `P0107`.
            pub const fn code(self) -> &'static str { match self { $( Fault::$Name => $code, )* } }

            /// A one-line description.
            pub const fn title(self) -> &'static str { match self { $( Fault::$Name => $title, )* } }

            /// One line of advice.
            pub const fn help(self) -> &'static str { match self { $( Fault::$Name => $help, )* } }
        }
    };
}

faults! {
    /// An address outside the memory.
    Memory "P0101" "memory address out of range"
        "addresses run from 0 to the memory's size; enlarge it with `.mem` or `--mem`, or correct the address";
    /// `assert` did not hold.
    Assert "P0102" "assertion failed"
        "an `assert` must hold in both directions";
    /// `zero` on a register that is not clear.
    NotZero "P0103" "`zero` found a register that is not zero"
        "uncompute the register before this point; what cannot be uncomputed must be kept or exported";
    /// `push` onto a word that is in use.
    PushOnto "P0104" "`push` onto a stack word that is not zero"
        "the words from `sp` on must be zero; undo what was left there, or correct `sp`";
    /// `pop` into a register that is in use.
    PopInto "P0105" "`pop` into a register that is not zero"
        "uncompute the register first: `pop` exchanges it with the stack word";
    /// A `from` (backward: a `jmp`) reached by falling through although its condition says that it was jumped to.
    WrongEntry "P0107" "`from` was entered the wrong way"
        "the condition of a `from` must be false when it is reached by falling through";
    /// As `WrongEntry`, running backward.
    WrongEntryBack "P0106" "`jmp` was entered the wrong way, running backward"
        "running backward, the condition of a `jmp` must be false when it is reached by falling through";
    /// A taken jump whose landing place does not confirm it.
    WrongLanding "P0108" "the jump's landing place does not confirm it"
        "the condition of the landing place must be true after a jump to it";
    /// Control ran off the code, or into a region from outside. Verified code cannot.
    OffCode "P0110" "control left the code"
        "every path must end in `finish` (backward: in `start`)";
    /// The word popped as a return link is none, or belongs to a call of another procedure.
    BadLink "P0111" "the return link does not belong to a call of this procedure"
        "match each `push` with a `pop`; `sp`, the word below it, and the register of a `callr` must be what they were on entry to the procedure";
    /// `callr`/`uncallr` with a register that holds no procedure's address.
    NotProcedure "P0112" "the register does not hold the address of a procedure"
        "load it with the procedure's name: `add r1, name`";
    /// Division by zero.
    DivideByZero "P0113" "division by zero"
        "guard the division with a `jmp.eq` on the divisor";
    /// An argument for which the function has no value.
    Domain "P0114" "the function has no value at this argument"
        "guard it with a `jmp`: logarithms and roots need positive numbers, log1p numbers above -1, acosh numbers from 1 on, arc functions and atanh numbers from -1 to 1, negative bases whole exponents; the gamma function has poles at 0, -1, -2, and so on";
    /// A result that the number type cannot hold.
    Range "P0115" "the result lies outside the number type's range"
        "scale the values, or use a type with a wider range";
    /// Fixed-point overflow, when `--trap overflow` asks for a trap.
    FixedOverflow "P0116" "fixed-point overflow"
        "without `--trap overflow` the word wraps and the run goes on; choose a `.format` with more integer bits";
    /// A word that is no logarithmic number.
    BadLog "P0117" "the word is not a logarithmic number"
        "sign 1 with the reserved zero logarithm is not a number: the word was made by an instruction of another type";
    /// Multiplying or dividing a logarithmic number by zero.
    LogZero "P0118" "multiplication or division by a logarithmic zero"
        "multiplying by zero forgets the number; guard it with a `jmp.eq.l`";
    /// A float that is not finite.
    NotFinite "P0119" "the floating-point result is not finite"
        "`--ieee` lets infinities and NaN through";
    /// `rmul`/`rdiv` with a factor that is not positive.
    BadFactor "P0120" "a factor of `rmul`/`rdiv` is not positive"
        "both factors must be greater than zero";
    /// `rmul`/`rdiv` whose word or buffer overflows.
    FactorOverflow "P0121" "the word or the information buffer of `rmul`/`rdiv` overflows"
        "start a new buffer: push the full one on a stack and continue with a cleared register";
    /// `unemit` (or `emit` backward) into a register that is in use.
    UnemitInto "P0122" "a word taken back from the output tape meets a register that is not zero"
        "uncompute the register first";
    /// `unemit` with nothing on the tape.
    NoOutput "P0123" "the output tape is empty"
        "a backward run starts with the words that the forward run emitted: give them with `--output`";
    /// `read` past the end of the input tape.
    NoInput "P0124" "the input tape has no word left"
        "give more words with `--input`";
    /// `unread` with nothing read.
    NothingRead "P0125" "no word of the input tape has been read"
        "an `unread` gives back what a `read` took";
    /// The output tape has reached its limit.
    TapeFull "P0126" "the output tape is full"
        "the tape is limited to as many words as the memory; enlarge it with `--mem`";
    /// A gradient level that does not exist.
    GradientLevel "P0128" "the gradient level is already the highest"
        "levels are 0, 1 and 2, and a run with tangents has no level 2: a third `gcall` inside two others has no level left";
    /// A branch to a place where none ends it.
    NoBranch "P0134" "the branch leads to no branch instruction"
        "a branch must land on a `bra`, `rbra` or `swapbr` that returns the branch register to 0; `finish` does not";
    /// Control at a word of data.
    RunsData "P0135" "control came to a word of data"
        "end the code before it with a branch or `finish`";
    /// `exch32` on an instruction.
    ExchangesCode "P0136" "the cell holds an instruction"
        "instructions are not data here: correct the address";
    /// `erase` running backward.
    Irreversible "P0127" "an erased word cannot be restored"
        "a module that says `.irreversible` runs forward only";
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.title())
    }
}
