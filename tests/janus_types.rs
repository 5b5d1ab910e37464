//! Casts of numbers and of variables in every place of a program in Janus where an integer may stand. A cast to the type that is expected there
//! is accepted; a cast to any other type is reported once, and causes no other message.

use pendula::asm::diagnostic::Severity;
use pendula::compiler::compile::{Options, compile_janus};

const TYPES: [&str; 9] = ["int", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];

/// Statements with a type `A` and an expression `E`, which ought to be of it.
const OF_A_TYPE: &[&str] = &[
    "m += E",
    "m -= E",
    "m ^= E",
    "m *= E",
    "m /= E",
    "a[1] += E",
    "a[1] ^= E",
    "m += 1 + E",
    "m += E - n",
    "m += n * E",
    "m ^= n ^ E",
    "m -= n - (2 - E)",
    "m += n / E",
    "m += n % E",
    "m += n & E",
    "m += n | E",
    "m += n ** E",
    "m += E << 1",
    "m ^= E >> n",
    "m += ~(E)",
    "m += (A) 1 + E",
    "m += E + (A) 1",
    "local A l = E skip delocal A l = E",
    "local A l[2] = {1, E} skip delocal A l[2] = {1, E}",
    "if n = E then m += 1 fi n = E",
    "if n < E && n != 3 then m += 1 fi n < E && n != 3",
    "from m = E do m += 1 until m = 5",
    "assert n >= E",
    "iterate A i = E to 9 m += i end",
    "iterate A i = 1 by E to 9 m += i end",
    "iterate A i = 1 to E m += i end",
    "call p(E, m)",
];

/// The same where an `int` is wanted, whatever `A` is.
const OF_INT: &[&str] = &["push(E, s)", "pop(E, s)", "z += E", "z += top(s) + E", "z += size(b) - E"];

/// The same where any type will do.
const OF_ANY: &[&str] = &[
    "m += n << E",
    "m += n >> E",
    "m += (A) (E)",
    "m += (A) ((E) + 1)",
    "a[E] += 1",
    "m += a[E]",
    "local A l[E] skip delocal A l[E]",
];

/// Values with which variables of `main` begin.
const VALUES: &[&str] = &["A i = D", "A i = 1 + D", "A i[2] = {1, D}", "constant A i = D * 2"];

/// A program with a declaration behind the others, then a statement.
fn program(declaration: &str, statement: &str, (ty, of): (&str, &str), e: &str) -> String {
    let declaration = declaration.replace('D', e);
    let statement = statement.replace('E', e).replace('A', ty);
    format!(
        "procedure p(A k, A m)\n    m += k\n\nprocedure main()\n    A m = 1\n    A n = 2\n    A a[4]\n    {of} o = 3\n    int z\n    \
         int b[3]\n    stack s\n    {declaration}\n    {statement}\n"
    )
    .replace("A ", &format!("{ty} "))
}

/// The codes of the errors of a program.
fn errors(text: &str) -> Vec<&'static str> {
    let compiled = compile_janus("types.ja", text, &Options::default());
    assert!(compiled.module.is_some() || !compiled.diagnostics.is_empty(), "nothing is said:\n{text}");
    compiled.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect()
}

/// Checks that a program has no errors, or errors about types only.
fn expect(right: bool, text: &str) {
    let found = errors(text);
    let fits = if right { found.is_empty() } else { found.contains(&"P0513") };
    assert!(fits && found.iter().all(|code| *code == "P0513"), "{found:?}:\n{text}");
}

#[test]
fn a_cast_is_of_the_type_that_is_wanted_or_told() {
    for ty in TYPES {
        for of in TYPES {
            for e in [format!("({of}) 3"), format!("({of}) o"), format!("({of}) ({ty}) 3"), format!("(({of}) 3 + o)")] {
                for (list, right) in [(OF_A_TYPE, ty == of), (OF_INT, of == "int"), (OF_ANY, true)] {
                    for statement in list {
                        expect(right, &program("", statement, (ty, of), &e));
                    }
                }
                for declaration in VALUES {
                    expect(ty == of, &program(declaration, "skip", (ty, of), &e));
                }
            }
        }
    }
}
