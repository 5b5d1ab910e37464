//! Definitions of extensions: every error, their text and objects in both directions.

use std::sync::Arc;

use crate::common;

use common::{fails, run};
use pendula_asm::assemble::{Options, assemble};
use pendula_asm::{definitions, disasm, object};
use pendula_isa::extension::Definition;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::num::Format;
use pendula_isa::sample::{Source, extension, fill};
use pendula_isa::types::Profile;

fn options() -> Options {
    Options::default()
}

#[test]
fn what_is_no_definition() {
    fails(".instr a / b x\n inc x\n", &[("P0062", ".instr")]);
    fails(".endinstr\n", &[("P0062", ".endinstr")]);
    fails(".instr f x\n jmp there\n.endinstr\n", &[("P0063", "jmp")]);
    fails(".instr f / g x | y\n add y, x\n.endinstr\n", &[("P0064", "y")]);
    fails(".instr f / g x | y\n add.q x, y\n add.f x, y\n.endinstr\n", &[("P0065", "x")]);
    fails(".instr f / g x | y\n .temp t\n add t, 1\n add x, t\n.endinstr\n", &[("P0066", ".instr f")]);
    fails(".instr f x\n inc x\n.endinstr\n", &[("P0067", ".instr f")]);
    fails(".instr f / g x\n g x\n.endinstr\n", &[("P0068", "g")]);
    fails(".instr add x\n not x\n.endinstr\n", &[("P0069", ".instr add")]);
    fails(".instr f / g x\n .repeat 99\n inc x\n .endrepeat\n.endinstr\n", &[("P0070", ".endrepeat")]);
    fails(".function f.q (a)\n a * 0.5\n.endfunction\n .format Q16.48\n", &[("P0071", ".function f.q")]);
    fails(
        ".instr f / g a, b, c, d, e | x\n add a, x\n.endinstr\n start\n f r1, r2, r3, r4, r5, 7\n finish\n",
        &[("P0060", "7")],
    );
    // P0061 needs a process with 65,535 extensions.
    let loader = |path: &std::path::Path| match path.to_str() {
        Some(name) if name.ends_with("d.isa") => Ok(" start\n".to_string()),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    let with =
        Options { extensions: vec!["d.isa".into(), "none.isa".into()], loader: Some(Box::new(loader)), ..options() };
    let codes: Vec<&str> =
        assemble("p.rasm", " start\n finish\n".into(), &with).diagnostics.iter().map(|d| d.code).collect();
    assert!(codes.contains(&"P0072") && codes.contains(&"P0027") && codes.len() == 2, "{codes:?}");
}

/// A definition under a name of its own, with names that can be written.
fn named(definition: &Definition, n: usize) -> Definition {
    use pendula_isa::extension::Defines;
    let mut out = definition.clone();
    let ty = definition.operand_type(0);
    match &mut out.defines {
        // A sample's expression says nothing.
        Defines::Function { .. } => out.name = format!("sample{n}{}", ty.suffix()),
        Defines::Instruction { partner } => {
            out.name = format!("sample{n}");
            *partner = Some(format!("back{n}"));
        }
    }
    out
}

#[test]
fn definitions_as_text_and_back() {
    let (mut same, mut tried) = (0, 0);
    for seed in 0..2000 {
        let mut s = Source::seeded(seed);
        let Some(Kind::Extension { extension, .. }) = extension(&mut s) else { continue };
        let definition = named(&extension.info().definition, 1);
        if definition.is_function() {
            continue;
        }
        tried += 1;
        let text = definitions::text(&definition, Format::default());
        match definitions::read("d.isa", text.clone(), Format::default(), &options()) {
            Ok(read) => {
                assert_eq!(read.len(), 1);
                assert_eq!(read[0].steps, definition.steps, "{text}");
                assert_eq!(definitions::text(&read[0], Format::default()), text);
                same += 1;
            }
            // Samples mix types, and leave temporaries as they are, now and then.
            Err((diagnostics, _)) => {
                let code = diagnostics[0].code;
                assert!(["P0065", "P0066"].contains(&code), "{code}\n{text}");
            }
        }
    }
    assert!(same * 3 > tried && same > 200, "{same} of {tried}");
}

const EXPRESSIONS: &str = "\
.function half.q (a)
;; Half of it.
        a / 2
.endfunction
.function norm.q (a, b)
        sqrt(a * a + half(b) * b - 0.25)
.endfunction
.function power.f (a, n: i)
        powi(a, n)
.endfunction
.function whole (a)
        mod(a + 1, 7)
.endfunction
.function both.l (a, b, c)
        mul(a, mul(b, c))
.endfunction
";

#[test]
fn functions_as_text_and_back() {
    let first =
        definitions::read("d.isa", EXPRESSIONS.to_string(), Format::default(), &options()).expect("definitions");
    assert_eq!(first.len(), 5);
    let text: String = first.iter().map(|d| definitions::text(d, Format::default())).collect();
    let again = definitions::read("d.isa", text.clone(), Format::default(), &options()).expect("definitions");
    assert_eq!(first, again, "{text}");
    // One within another stands for itself.
    assert!(text.contains("sqrt(minus(plus(mul(a, a), mul(div(b, 2.0), b)), 0.25))"), "{text}");
}

#[test]
fn objects_stand_alone() {
    let text = format!(
        "{EXPRESSIONS}.instr fma2.q / unfma2 x, y | a, b\n .temp t\n addmul.q t, a, b\n add.q x, t\n addmul.q y, a, x\n submul.q t, a, b\n.endinstr\n start\n \
         fma2.q r1, r2, r3, r4\n unfma2.q r1, r2, r3, 2.5\n addnorm.q [r1+3], r2, r3\n subnorm.q r5, [r6], r7\n addwhole r8, -12345678901\n finish\n"
    );
    let module = run(&text).module.expect("a program");
    let bytes = object::write(&module).expect("an object");
    let read = object::read(&bytes).expect("the object");
    assert_eq!(read.code, module.code);
    assert_eq!(object::write(&read).expect("an object"), bytes);
    let again = run(&disasm::disassemble(&read)).module.expect("what is disassembled");
    assert_eq!(again.code, module.code);
    // Damage is found, wherever it is.
    for at in 0..bytes.len() {
        for bit in [0, 5] {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            if let Ok(other) = object::read(&other) {
                let _ = object::write(&other).expect("what is read can be written");
            }
        }
    }
    let named: Vec<&str> = definitions::of_module(&module)
        .iter()
        .map(|d| d.name.as_str())
        .map(|n| match n {
            "fma2.q" => "fma2",
            "norm.q" => "norm",
            "whole" => "whole",
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(named, ["fma2", "norm", "whole"]);
}

#[test]
fn an_object_has_256_extensions_at_most() {
    let build = |count: usize| {
        let mut text = String::new();
        for n in 0..count {
            text.push_str(&format!(".instr f{n} / g{n} x\n add x, {n}\n.endinstr\n"));
        }
        text.push_str(" start\n");
        (0..count).for_each(|n| text.push_str(&format!(" f{n} r1\n")));
        run(&(text + " finish\n"))
    };
    let full = build(256).module.expect("a program");
    assert_eq!(object::read(&object::write(&full).expect("an object")).expect("the object").code, full.code);
    let codes: Vec<&str> = build(258).diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["P0070"]);
    let mut beyond = full.clone();
    let more =
        run(".instr more / less x\n add x, 1000\n.endinstr\n start\n more r1\n finish\n").module.expect("a program");
    beyond.code.insert(1, more.code[1]);
    assert_eq!(object::write(&beyond).expect_err("one too many").code(), "P0316");
}

#[test]
fn random_extensions_in_objects() {
    for seed in 0..300 {
        let mut s = Source::seeded(seed);
        let code: Vec<Inst> = (0..1 + s.below(6))
            .filter_map(|n| {
                let Kind::Extension { extension, inverse } = extension(&mut s)? else { return None };
                let info = extension.info();
                if info.definition.is_function() {
                    return None;
                }
                let definition = Arc::new(named(&info.definition, n as usize));
                let text = definitions::text(&definition, Format::default());
                let read = definitions::read("d.isa", text, Format::default(), &options()).ok()?;
                let extension = pendula_isa::Extension::new(&read[0], info.form).expect("an extension");
                Some(fill(Kind::Extension { extension, inverse }, &mut s))
            })
            .filter(|inst| inst.validate(Profile::Native).is_ok())
            .collect();
        let around = run(" start\n finish\n").module.expect("a program").code;
        let module = Module { code: [&around[..1], &code, &around[1..]].concat(), ..Module::default() };
        let read = object::read(&object::write(&module).expect("an object")).expect("the object");
        assert_eq!(read.code, module.code, "seed {seed}");
        let text = disasm::disassemble(&read);
        assert_eq!(run(&text).module.expect("what is disassembled").code, module.code, "{text}");
    }
}
