//! The codes of what the front end says about Nil programs: the one list that messages, documentation and tests name.
//!
//! No messages are built here.

macro_rules! own_codes {
    ($( $Name:ident $code:literal $title:literal; )*) => {
        $( #[doc = $title] pub(crate) const $Name: &str = $code; )*

        /// The codes with their titles.
        const OWN: &[(&str, &str)] = &[$( ($code, $title), )*];
    };
}

own_codes! {
    CHARACTER "P0301" "a character that means nothing here";
    NUMBER "P0302" "a number that cannot be read";
    TEXT "P0303" "a text or comment that does not end, or an unknown escape in it";
    SYNTAX "P0304" "something else was expected here";
    NO_END "P0305" "a block without its end";
    STATEMENT "P0306" "not a statement";
    NESTING "P0307" "nested too deep";
    TOO_MANY "P0308" "more errors than are shown";
    STRAY "P0309" "an end or else without its block";
    IRREVERSIBLE "P0310" "an assignment that cannot be undone";
    MACRO "P0311" "an unknown macro before a statement";
    SPLAT "P0312" "arguments whose number is not known";
    ASSERTED_TYPE "P0313" "a type where only parameters have one";
    HOST_EXPRESSION "P0314" "an expression that only the host language has";
    CONDITIONS "P0315" "not one condition, nor a pair of conditions";
    HEADER "P0316" "the head of a function is faulty";
    CONTROL "P0317" "a host statement inside a reversible function";
    CHAIN "P0318" "a chain of comparisons inside another";
    ARGUMENT "P0319" "a positional argument after the keywords";
    UNKNOWN "P0330" "no such name";
    TYPE "P0331" "a value of another type";
    TYPE_NAME "P0332" "no such type, or one that is not settled";
    FUNCTION "P0333" "no such function";
    METHOD "P0334" "a function that is not for arguments of these types";
    ARGUMENTS "P0335" "too few or too many arguments";
    LITERAL "P0336" "a number that its type cannot hold";
    READS_TARGET "P0337" "a statement that reads what it writes";
    ENDED "P0338" "a variable that was deallocated before";
    REDEFINED "P0339" "a name that is in use already";
    DECISION "P0340" "a condition that is changed by what it decides";
    NO_POST "P0341" "a loop without postcondition";
    FORGETS "P0342" "a statement that would forget";
    ALIAS "P0343" "a variable given twice to what changes it";
    BRANCHES "P0344" "branches or turns that deallocate differently";
    ROUTINE "P0345" "routines that do not match";
    UNSUPPORTED "P0346" "something that has no meaning in a reversible program";
    NOT_ASSIGNABLE "P0347" "something that cannot be changed or allocated";
    TEMPORARY "P0348" "a value that is computed, where a variable is changed";
    DIMENSIONS "P0349" "indices or dimensions that do not fit";
    ORDER "P0350" "arrays deallocated in another order than they can be";
    RANGE "P0351" "a range without end";
    ENTRY "P0352" "an entry point or arguments that do not fit";
    TWICE "P0353" "something declared twice";
    LOWERING "P0354" "a program that the machine has no room for";
    FORGOTTEN "P0360" "a variable that is not deallocated";
    SKIPPED "P0361" "host code that is skipped";
    NO_MODULE "P0362" "a module that the library does not have";
}

/// Every code with its title, in the order of the codes.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    OWN.iter().copied()
}

#[cfg(test)]
mod tests {
    #[test]
    fn in_order_and_unique() {
        let all: Vec<_> = super::codes().map(|(code, _)| code).collect();
        assert!(all.is_sorted_by(|a, b| a < b));
    }
}
