//! The codes of the front end's diagnostics for Janus programs. Messages, documentation and tests use this one list.
//!

pendula_isa::diagnostic_codes! {
    pub codes;
    CHARACTER "P0501" "a character that means nothing here";
    NUMBER "P0502" "a number that cannot be read";
    TEXT "P0503" "a text or comment that does not end, or an unknown escape in it";
    SYNTAX "P0504" "something else was expected here";
    MAIN "P0510" "not exactly one main procedure";
    TWICE "P0511" "a name that is in use already";
    UNKNOWN "P0512" "no such name";
    TYPE "P0513" "a value of another type";
    ARGUMENTS "P0514" "too few or too many arguments";
    ALIAS "P0515" "a statement that reads what it changes";
    CONSTANT "P0516" "something that cannot be changed";
    DELOCAL "P0517" "a `delocal` that does not fit its `local`";
    SIZE "P0518" "a size or an initial value that does not fit, or is not known";
    INDEX "P0519" "an index outside its array, or too many indices";
    LITERAL "P0520" "a number that its type cannot hold";
    FORMAT "P0521" "a format that does not fit its arguments";
    LOWERING "P0522" "a program that is too large for the machine";
    MIXED "P0530" "`&&` and `||` side by side without parentheses";
}
