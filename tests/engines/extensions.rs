//! Random definitions that programs in Nil call, in C for whole runs beside the interpreter, which runs them as one instruction each: values, the way
//! back, gradients and traps.

use std::sync::Arc;

use pendula::compiler::compile::{Options, compile};
use pendula::isa::extension::{Defines, Definition};
use pendula::isa::inst::Kind;
use pendula::isa::sample::{Source, extension};
use pendula::isa::types::Ty;

use super::functions::{STATES, compare_all};
use super::nil::Call;

const NAMES: [&str; 8] = ["a!", "b!", "c!", "d!", "e", "f", "g", "which"];

/// How many definitions of each type are tried.
const DEFINITIONS: usize = 24;

fn type_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Int => "Int",
        Ty::Q => "Fixed",
        Ty::L => "ULogarithmic",
        Ty::F => "Float64",
    }
}

/// The call of a definition, and whether it is one that all types of its operands allow here.
fn statement(definition: &Definition, ty: Ty, s: &mut Source) -> Option<String> {
    let stem = definition.name.split('.').next()?;
    if (0..definition.operands()).any(|n| definition.operand_type(n) != ty) {
        return None;
    }
    let mut read = NAMES[4..7].iter();
    if definition.is_function() {
        let operators: &[&str] = if ty == Ty::L { &["*=", "/="] } else { &["+=", "-="] };
        let args: Vec<&str> = read.take(definition.parameters.len()).copied().collect();
        return Some(format!("a! {} {stem}({})", s.pick(operators), args.join(", ")));
    }
    let mut written = NAMES[..4].iter();
    let next = |p: &pendula::isa::extension::Parameter| if p.written { written.next() } else { read.next() }.copied();
    let args: Option<Vec<&str>> = definition.parameters.iter().map(next).collect();
    let name = if s.once_in(2) { format!("(~{stem})") } else { stem.to_string() };
    Some(format!("{name}({})", args?.join(", ")))
}

/// A program that runs one of these statements.
fn source(ty: Ty, statements: &[String]) -> String {
    let name = type_name(ty);
    let parameters: Vec<String> = NAMES[..7].iter().map(|n| format!("{n}::{name}")).collect();
    let mut out = format!("@i function all!({}, which::Int)\n", parameters.join(", "));
    for (n, statement) in statements.iter().enumerate() {
        out += &format!("    if (which == {n}, ~)\n        {statement}\n    end\n");
    }
    out + "end\n"
}

fn call(ty: Ty, extensions: Vec<Arc<Definition>>) -> Call {
    let one = if ty == Ty::Int { "1" } else { "1.0" };
    let arguments = pendula::arguments::parse(&format!("{one},{one},{one},{one},{one},{one},{one},0"));
    Call { arguments: arguments.expect("arguments"), extensions, ..Call::default() }
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn random_definitions_called_from_nil() {
    let mut s = Source::seeded(11);
    for ty in [Ty::Int, Ty::Q, Ty::F, Ty::L] {
        let (mut definitions, mut statements) = (Vec::new(), Vec::new());
        for _ in 0..10_000 {
            if definitions.len() == DEFINITIONS {
                break;
            }
            let Some(Kind::Extension { extension, .. }) = extension(&mut s) else { continue };
            let mut own = (*extension.info().definition).clone();
            let stem = format!("d{}", definitions.len());
            own.name = format!("{stem}{}", ty.suffix());
            if let Defines::Instruction { partner } = &mut own.defines {
                *partner = Some(format!("un{stem}{}", ty.suffix()));
            }
            let Some(statement) = statement(&own, ty, &mut s) else { continue };
            let own = Arc::new(own);
            // Those with a tolerance that Nil has not are refused.
            let Call { arguments, extensions, .. } = call(ty, vec![Arc::clone(&own)]);
            let options = Options { arguments, extensions, ..Options::default() };
            if compile("one", source(ty, std::slice::from_ref(&statement)), &options).module.is_some() {
                definitions.push(own);
                statements.push(statement);
            }
        }
        assert_eq!(definitions.len(), DEFINITIONS, "{ty:?}");
        let [finished, in_c, trapped] =
            compare_all(ty, &source(ty, &statements), &call(ty, definitions), &NAMES, &statements);
        let total = DEFINITIONS * STATES as usize;
        assert!(
            finished > total / 10 && in_c * 10 >= finished * 9,
            "{ty:?}: {finished} of {total}, {in_c} in C, {trapped} trapped"
        );
    }
}
