//! The codes of the front end's diagnostics for Nil programs. Messages, documentation and tests use this one list.
//!

pendula_isa::diagnostic_codes! {
    pub codes;
    CHARACTER "P0401" "a character that means nothing here";
    NUMBER "P0402" "a number that cannot be read";
    TEXT "P0403" "a text or comment that does not end, or an unknown escape in it";
    SYNTAX "P0404" "something else was expected here";
    NO_END "P0405" "a block without its end";
    STATEMENT "P0406" "not a statement";
    TOO_MANY "P0408" "more errors than are shown";
    STRAY "P0409" "an end or else without its block";
    IRREVERSIBLE "P0410" "an assignment that cannot be undone";
    MACRO "P0411" "an unknown macro before a statement";
    SPLAT "P0412" "arguments whose number is not known";
    ASSERTED_TYPE "P0413" "a type where only parameters have one";
    HOST_EXPRESSION "P0414" "an expression that only the host language has";
    CONDITIONS "P0415" "not one condition, nor a pair of conditions";
    HEADER "P0416" "the head of a function is faulty";
    CONTROL "P0417" "a host statement inside a reversible function";
    CHAIN "P0418" "a chain of comparisons inside another";
    ARGUMENT "P0419" "a positional argument after the keywords";
    UNKNOWN "P0430" "no such name";
    TYPE "P0431" "a value of another type";
    TYPE_NAME "P0432" "no such type, or one that is not determined";
    FUNCTION "P0433" "no such function";
    METHOD "P0434" "a function that is not for arguments of these types";
    ARGUMENTS "P0435" "too few or too many arguments";
    LITERAL "P0436" "a number that its type cannot hold";
    READS_TARGET "P0437" "a statement that reads what it writes";
    ENDED "P0438" "a variable that was deallocated before";
    REDEFINED "P0439" "a name that is in use already";
    DECISION "P0440" "a condition that is changed by what it decides";
    NO_POST "P0441" "a loop without postcondition";
    FORGETS "P0442" "a statement that would forget";
    ALIAS "P0443" "a variable passed twice and changed";
    BRANCHES "P0444" "branches or iterations that deallocate differently";
    ROUTINE "P0445" "routines that do not match";
    UNSUPPORTED "P0446" "something that has no meaning in a reversible program";
    NOT_ASSIGNABLE "P0447" "something that cannot be changed or allocated";
    TEMPORARY "P0448" "a computed value where a variable is changed";
    DIMENSIONS "P0449" "indices or dimensions that do not fit";
    ORDER "P0450" "arrays deallocated in another order than they can be";
    RANGE "P0451" "a range without end";
    ENTRY "P0452" "an entry point or arguments that do not fit";
    TWICE "P0453" "something declared twice";
    LOWERING "P0454" "a program that is too large for the machine";
    AMBIGUOUS "P0455" "several functions match the same arguments";
    RECURSIVE "P0456" "a struct that holds itself";
    FORGOTTEN "P0460" "a variable that is not deallocated";
    SKIPPED "P0461" "host code that is skipped";
    NO_MODULE "P0462" "a module that the library does not have";
    LEFT_OUT "P0463" "a function that could not be read and is left out";
}
