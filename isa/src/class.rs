//! Gate classes: the kinds of circuit that instructions are built from. A
//! technology gives each class a latency (and, in the energy model, a cost).

macro_rules! classes {
    ($( $(#[doc = $doc:literal])+ $Name:ident $key:literal; )*) => {
        /// A kind of circuit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum GateClass { $( $(#[doc = $doc])+ $Name, )* }

        impl GateClass {
            /// Every class.
            pub const ALL: &'static [GateClass] = &[$( GateClass::$Name, )*];

            /// The key by which technology files name the class.
            pub const fn key(self) -> &'static str { match self { $( GateClass::$Name => $key, )* } }

            /// What the class stands for.
            pub const fn doc(self) -> &'static str {
                match self { $( GateClass::$Name => concat!($($doc),+).trim_ascii(), )* }
            }
        }
    };
}

classes! {
    /// Wiring only: an operand passed on unchanged.
    Wire "wire";
    /// Bitwise exclusive or into a word.
    Xor "xor";
    /// Bitwise and, or, nor of two words.
    Logic "logic";
    /// Bitwise complement.
    Not "not";
    /// Ripple adder in place, add or subtract by direction.
    Add "add";
    /// Increment or decrement in place.
    Increment "increment";
    /// Less-than into a bit.
    Compare "compare";
    /// Equality into a bit.
    Equal "equal";
    /// A comparison that selects one of two words.
    Select "select";
    /// Integer multiplication, low word.
    Multiply "multiply";
    /// Integer division with remainder.
    Divide "divide";
    /// Shift by a variable amount.
    Shift "shift";
    /// Rotation of the bits of a word, by a constant (wiring) or a variable amount.
    Rotate "rotate";
    /// Exchange of two words.
    Swap "swap";
    /// Multiplication by a ratio with an information buffer.
    Scale "scale";
    /// Fixed-point multiplication.
    FixedMultiply "fixed-multiply";
    /// Fixed-point division.
    FixedDivide "fixed-divide";
    /// Elementary function of a fixed-point number: CORDIC, or a table and a polynomial.
    Elementary "elementary";
    /// Square root of a fixed-point number, or of a sum of squares.
    Root "root";
    /// Power of a fixed-point number: logarithm, multiplication, exponential.
    Power "power";
    /// Rotation by lifting: three shears.
    Rotation "rotation";
    /// Gaussian logarithm: the sum or difference of logarithmic numbers, by a table.
    LogSum "log-sum";
    /// Addition of logarithms with overflow check.
    LogAdd "log-add";
    /// Floating-point addition.
    FloatAdd "float-add";
    /// Floating-point multiplication.
    FloatMultiply "float-multiply";
    /// Floating-point division.
    FloatDivide "float-divide";
    /// Elementary function of a floating-point number.
    FloatElementary "float-elementary";
    /// Conversion between number types.
    Convert "convert";
    /// Conversion to or from logarithms.
    LogConvert "log-convert";
    /// Access to a memory word.
    Memory "memory";
    /// One half of a branch pair: compare and update the program counter.
    Branch "branch";
    /// Procedure call, return and entry.
    Call "call";
    /// A check that raises a trap.
    Check "check";
    /// Traffic with the host.
    Host "host";
    /// Erasure of a word.
    Erase "erase";
}

impl std::fmt::Display for GateClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key())
    }
}
