//! The codes of errors in functional programs.

use pendula_isa::diagnostic::{Diagnostic, Place};

pendula_isa::diagnostic_codes! {
    pub codes;
    SYNTAX "P0600" "the text is not an expression";
    FORM "P0601" "a form has the wrong parts";
    UNBOUND "P0602" "a variable is not bound";
    DUPLICATE "P0603" "a variable is bound twice in one place";
    INCLUDE "P0604" "a file to include cannot be read";
    NOT_A_FUNCTION "P0610" "something that is not a function is applied";
    OPERAND "P0611" "an operator has operands it does not take";
    PATTERN "P0612" "a value does not have the shape of a pattern";
    LEVEL "P0613" "a value has other layers of derivatives than the code that uses it";
    SENSITIVITY "P0614" "a sensitivity does not match the result";
    CONFORM "P0615" "two values that are added have different shapes";
    TANGENT "P0616" "a tangent does not match its value";
    NESTING "P0617" "derivatives are nested too deep";
    INDEX "P0618" "an index is outside its array";
    SHAPE "P0619" "the sizes of arrays differ";
    INPUT "P0620" "there is no more input";
    MEMORY "P0621" "the memory does not suffice";
    STEPS "P0622" "the evaluation takes more steps than allowed";
    INTERRUPTED "P0623" "the evaluation was interrupted";
    DIVISION "P0624" "an integer is divided by zero";
    NO_DERIVATIVE "P0625" "an operator has no derivative";
    LADDER "P0626" "something that the ladder does not differentiate";
    ARGUMENT "P0627" "an argument or a seed does not fit";
    FUT_SYNTAX "P0640" "a Futhark program that cannot be read";
    FUT_NAME "P0641" "a name that is not defined in a Futhark program";
    FUT_TYPE "P0642" "types of a Futhark program that do not fit";
    FUT_UNREAD "P0643" "a feature of Futhark that is not read";
    FUT_IMPORT "P0644" "a file that a Futhark program imports cannot be read";
    FUT_SIZE "P0645" "a size of a Futhark program that cannot be told";
    FUT_VALUE "P0646" "a value in Futhark's notation that cannot be read";
    FUT_SINGLE "P0647" "a Futhark program uses numbers in single precision";
}

/// Why an evaluation stopped, in terms of the user's program. It is kept elsewhere, so that results stay as small as values.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure(Box<Cause>);

impl std::ops::Deref for Failure {
    type Target = Cause;

    fn deref(&self) -> &Cause {
        &self.0
    }
}

impl std::ops::DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Cause {
        &mut self.0
    }
}

/// What a failure says.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// A stable code.
    pub code: &'static str,
    /// One line that describes the problem.
    pub message: String,
    /// Where, if it is known.
    pub place: Option<Place>,
    /// The values that took part, as text.
    pub values: Vec<String>,
    /// A way out.
    pub help: Option<String>,
}

impl Failure {
    /// A failure without a place.
    pub fn new(code: &'static str, message: impl Into<String>) -> Failure {
        let message = message.into();
        Failure(Box::new(Cause { code, message, place: None, values: Vec::new(), help: None }))
    }

    /// Adds a value that took part.
    #[must_use]
    pub fn with(mut self, value: &crate::value::Value) -> Failure {
        self.values.push(value.brief());
        self
    }

    /// Sets the place, unless there is one.
    #[must_use]
    pub fn at(mut self, place: Option<&Place>) -> Failure {
        if self.place.is_none() {
            self.place = place.cloned();
        }
        self
    }

    /// Whether it was stopped from outside.
    pub fn is_interrupted(&self) -> bool {
        self.code == INTERRUPTED
    }

    /// Whether it reached the limit on steps.
    pub fn is_step_limit(&self) -> bool {
        self.code == STEPS
    }

    /// Whether it reached the limit on memory.
    pub fn is_memory_limit(&self) -> bool {
        self.code == MEMORY
    }

    /// Sets the way out.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Failure {
        self.help = Some(text.into());
        self
    }

    /// The failure as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut message = self.message.clone();
        if !self.values.is_empty() {
            message.push_str(": ");
            message.push_str(&self.values.join(", "));
        }
        let mut diagnostic = Diagnostic::error(self.code, message);
        if let Some(place) = &self.place {
            diagnostic = diagnostic.at(place.clone(), "");
        }
        match &self.help {
            Some(help) => diagnostic.help(help.clone()),
            None => helped(diagnostic),
        }
    }
}

/// A diagnostic with the help of its code, if it has none.
#[must_use]
pub fn helped(diagnostic: Diagnostic) -> Diagnostic {
    match HELP.iter().find(|(code, _)| *code == diagnostic.code) {
        Some((_, help)) if diagnostic.help.is_none() => diagnostic.help(*help),
        Some(_) | None => diagnostic,
    }
}

/// What to do about an error, where its message says nothing else.
const HELP: &[(&str, &str)] = &[
    (SYNTAX, "write forms as in Scheme: symbols, numbers, `#t`, `#f`, and lists in parentheses"),
    (FORM, "see the list of forms in the book, in the chapter on functions of functions"),
    (UNBOUND, "define it, or look for a misprint; a definition is known from its place on, and to those beside it"),
    (DUPLICATE, "give one of them another name"),
    (INCLUDE, "check the path, relative to the file that includes it"),
    (NOT_A_FUNCTION, "a list in parentheses applies its first element; write data with `list`, `cons` or a quote"),
    (OPERAND, "give it operands of the right kind, or test before with `real?`, `pair?`, `null?`"),
    (PATTERN, "give a value of that shape, as many arguments as it takes, or test before with `pair?` or `null?`"),
    (LEVEL, "give values the layers that the code expects: transform arguments as the function is transformed"),
    (SENSITIVITY, "a sensitivity has the shape of the result, made by `sensitize`"),
    (CONFORM, "add values of one shape only"),
    (TANGENT, "a tangent has the shape of its value, made by `perturb`"),
    (NESTING, "nest fewer derivatives inside each other"),
    (INDEX, "choose an index from 0 to one less than the length"),
    (SHAPE, "choose sizes that fit: arrays that are used together have one length, and no size is negative"),
    (INPUT, "give more numbers with `--input`"),
    (MEMORY, "keep less: a recursion that waits for results holds all of them"),
    (STEPS, "allow more steps, or look for a recursion without end"),
    (INTERRUPTED, "nothing needs to be done: somebody stopped it"),
    (DIVISION, "test the divisor before"),
    (NO_DERIVATIVE, "leave it out of what is differentiated, or give its derivative by `with_vjp`"),
    (LADDER, "use `--method transform`, which nests"),
    (ARGUMENT, "give arguments that the function takes"),
    (FUT_SYNTAX, "see Futhark's language reference"),
    (FUT_NAME, "define it before, import the file that does, or look for a misprint"),
    (FUT_TYPE, "give a value of the type that is expected; `f64.i64` and the like convert numbers"),
    (FUT_UNREAD, "rewrite it without this feature"),
    (FUT_IMPORT, "check the path, relative to the file"),
    (FUT_SIZE, "let a parameter's type name the size"),
    (FUT_VALUE, "write it as Futhark does: `1.5`, `[1, 2]`, `empty([0]f64)`"),
    (FUT_SINGLE, "write `f64` where that is what you want; results differ from Futhark's in the seventh digit"),
];
