//! Tests about all files together: every code of an error has a file that expects it, every file belongs to a test, folders do not lose
//! their programs, and the reader of expectations refuses what it does not know.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pendula::asm::check;
use pendula::asm::pisa::{self as pisa_asm, MNEMONICS};
use pendula::compiler::{janus, nil};
use pendula::isa::Fault;

use libtest_mimic::{Failed, Trial};

use crate::expectations::{Expectations, Language};
use crate::pisa;
use crate::report::{TestFile, name};
use crate::{SUITES, files, pisa_import, root};

/// Codes that no file can show, and why not.
type Exempt = &'static [(&'static str, &'static str)];

const ASSEMBLY_EXEMPT: Exempt = &[
    ("P0045", "is a note without a place, after a thousand errors"),
    ("P0202", "is about definitions on the command line"),
    ("P0061", "needs a process with 65,535 different extensions"),
    ("P0110", "is a fault that verified code cannot raise"),
    ("P0229", "is about objects: in source, a `.mem` too small for the data is P0023"),
];

const NIL_EXEMPT: Exempt = &[("P0454", "needs a function of more than 2^22 operations, or as much of something else")];

const JANUS_EXEMPT: Exempt = &[("P0522", "needs a procedure of more than 1000 instances, or of 2^22 operations")];

const FUNCTIONAL_EXEMPT: Exempt = &[
    ("P0621", "needs as much memory as the limit allows"),
    ("P0623", "needs somebody who interrupts"),
    ("P0625", "needs an operator that neither the table nor the core differentiates, of which there is none"),
    ("P0645", "needs a size that neither an argument nor a type tells"),
];

const PISA_EXEMPT: Exempt = &[("P0341", "needs a file of more than 2^28 instructions")];

/// Traps that a program in Nil can raise.
const NIL_TRAPS: &[&str] = &["P0101", "P0102", "P0103", "P0109", "P0113", "P0114", "P0115", "P0118", "P0119"];

/// Traps that a program in Janus can raise.
const JANUS_TRAPS: &[&str] = &["P0101", "P0102", "P0103", "P0109", "P0113"];

/// Traps that a program in PISA can raise.
const PISA_TRAPS: &[Fault] = &[
    Fault::NoBranch,
    Fault::ExchangesCode,
    Fault::RunsData,
    Fault::OffCode,
    Fault::NoInput,
    Fault::NothingRead,
    Fault::NoOutput,
    Fault::UnemitInto,
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("set/codes/assembly", assembly_codes),
        Trial::test("set/codes/nil", nil_codes),
        Trial::test("set/codes/janus", janus_codes),
        Trial::test("set/codes/functional", functional_codes),
        Trial::test("set/codes/pisa", pisa_codes),
        Trial::test("set/codes/pisa-import", pisa_import_codes),
        Trial::test("set/files", files_are_tested),
        Trial::test("set/folders", folders_have_their_programs),
        Trial::test("set/pisa/mnemonics", every_mnemonic_has_a_program),
        Trial::test("set/pisa/dead", some_instructions_are_dead),
        Trial::test("set/pisa/translated-traps", some_traps_are_translated),
        Trial::test("set/expectations/read", expectations_are_read),
        Trial::test("set/expectations/refused", other_expectations_are_refused),
    ]
}

/// The codes that the programs of folders expect.
fn expected_codes(folders: &[&str]) -> Result<BTreeSet<String>, Failed> {
    let mut out = BTreeSet::new();
    for path in folders.iter().flat_map(|folder| files(folder, extensions(folder))) {
        out.extend(TestFile::read(&path)?.expected.problems.into_iter().map(|p| p.code));
    }
    Ok(out)
}

fn extensions(folder: &str) -> &'static [&'static str] {
    SUITES.iter().find(|s| s.folder == folder).map_or(&[], |s| s.extensions)
}

/// Checks that each code has a file that expects it, but for those that are exempt, which have none.
fn check_codes<'c>(folders: &[&str], codes: impl Iterator<Item = &'c str>, exempt: Exempt) -> Result<(), Failed> {
    let seen = expected_codes(folders)?;
    let exempt = |code: &str| exempt.iter().find(|(exempt, _)| *exempt == code);
    for code in codes {
        match exempt(code) {
            None if !seen.contains(code) => {
                return Err(format!("no file in {} expects {code}", folders.join(", ")).into());
            }
            Some((code, why)) if seen.contains(*code) => {
                return Err(format!("{code} has a file, although it {why}").into());
            }
            _ => {}
        }
    }
    Ok(())
}

fn assembly_codes() -> Result<(), Failed> {
    let assembler = pendula::asm::codes::codes().chain(check::codes()).map(|(code, _)| code);
    let machine = Fault::ALL.iter().map(|f| f.code());
    check_codes(&["asm", "check", "isa", "mistakes", "run", "trap"], assembler.chain(machine), ASSEMBLY_EXEMPT)
}

fn nil_codes() -> Result<(), Failed> {
    let codes = nil::codes::codes().map(|(code, _)| code).chain(NIL_TRAPS.iter().copied());
    check_codes(&["nil/run", "nil/error", "nil/trap"], codes, NIL_EXEMPT)
}

fn janus_codes() -> Result<(), Failed> {
    let codes = janus::codes::codes().map(|(code, _)| code).chain(JANUS_TRAPS.iter().copied());
    check_codes(&["janus/run", "janus/error", "janus/trap"], codes, JANUS_EXEMPT)
}

fn functional_codes() -> Result<(), Failed> {
    let codes = pendula_functional::errors::codes().map(|(code, _)| code);
    check_codes(&["functional/error"], codes, FUNCTIONAL_EXEMPT)
}

fn pisa_codes() -> Result<(), Failed> {
    // The entry of a program is an error of the assembler.
    check_codes(&["pisa/errors"], pisa_asm::codes().map(|(code, _)| code).chain(["P0082"]), PISA_EXEMPT)?;
    check_codes(&["pisa/traps"], PISA_TRAPS.iter().map(|f| f.code()), &[])
}

fn pisa_import_codes() -> Result<(), Failed> {
    let codes: BTreeSet<String> = pisa_asm::import::codes().map(|(code, _)| code.to_string()).collect();
    let found = expected_codes(&["pisa/import"])?;
    if found == codes { Ok(()) } else { Err(format!("expected files for {codes:?}, found {found:?}").into()) }
}

/// All files below a folder.
fn walk(folder: &Path, out: &mut Vec<PathBuf>) -> Result<(), Failed> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { walk(&path, out)? } else { out.push(path) }
    }
    Ok(())
}

/// Each file belongs to a test, or to a program: it is included, or holds what a program prints. No two tests have the same name.
fn files_are_tested() -> Result<(), Failed> {
    let (mut tested, mut names) = (BTreeSet::new(), BTreeSet::new());
    for suite in SUITES {
        for path in files(suite.folder, suite.extensions) {
            if !names.insert((suite.folder, path.file_stem().map(|s| s.to_owned()), suite.suffix)) {
                return Err(format!("{}: another program has the same name", name(&path)).into());
            }
            tested.insert(path);
        }
    }
    let mut all = Vec::new();
    walk(&root(), &mut all)?;
    for path in all {
        let belongs = match path.extension().and_then(|e| e.to_str()) {
            Some("inc") => path.starts_with(root().join("asm")),
            Some("rasm") => path.starts_with(root().join("asm/include")),
            Some("isa") => path.starts_with(root().join("isa/include")),
            Some("out") => path.with_extension("ja").is_file(),
            _ => false,
        };
        if !belongs && !tested.contains(&path) {
            return Err(format!("{}: no test runs this file", name(&path)).into());
        }
    }
    Ok(())
}

fn folders_have_their_programs() -> Result<(), Failed> {
    for suite in SUITES {
        let count = files(suite.folder, suite.extensions).len();
        if count < suite.least {
            let (folder, least) = (suite.folder, suite.least);
            return Err(format!("{folder}: expected at least {least} programs, found {count}").into());
        }
    }
    Ok(())
}

fn every_mnemonic_has_a_program() -> Result<(), Failed> {
    for mnemonic in MNEMONICS {
        let path = root().join(format!("pisa/opcodes/{}.pisa", mnemonic.name));
        let file = TestFile::read(&path)?;
        let uses = |line: &str| {
            let code = line.split(';').next().unwrap_or("");
            code.split_whitespace().any(|w| w.eq_ignore_ascii_case(mnemonic.name))
        };
        if !file.text.lines().any(uses) {
            return Err(format!("{}: the program does not use {}", name(&path), mnemonic.name).into());
        }
    }
    Ok(())
}

/// Programs in PISA have instructions that the checker calls dead; that they are not run is tested with each program.
fn some_instructions_are_dead() -> Result<(), Failed> {
    let mut dead = 0;
    for path in ["pisa/opcodes", "pisa/programs", "pisa/random"].iter().flat_map(|folder| files(folder, &["pisa"])) {
        dead += pisa::dead(&check::check(&pisa::read(&TestFile::read(&path)?)?)).len();
    }
    if dead > 5 { Ok(()) } else { Err(format!("expected more than 5 dead instructions, found {dead}").into()) }
}

/// The translations of some programs that trap are run; what each does is tested with the program.
fn some_traps_are_translated() -> Result<(), Failed> {
    let mut count = 0;
    for path in files("pisa/traps", &["pisa"]) {
        count += usize::from(pisa_import::is_translated_trap(&path)?);
    }
    if count >= 8 { Ok(()) } else { Err(format!("expected 8 translations that trap, found {count}").into()) }
}

fn expectations_are_read() -> Result<(), Failed> {
    let text = "x += 1 //! P0001 some text @ x ;//! //! P0002 //? try `//`\n    //!^ P0003\n    //!2 P0004 twice\n// plain\n/// plain\n\
        printf(\"//! no\") //shown:  two blanks \n//value: a = 5\n//classic\n";
    let found =
        Expectations::read(Language::Janus, text).map_err(|(line, message)| format!("line {line}: {message}"))?;
    let problems: Vec<String> = found.problems.iter().map(|p| format!("{}: {p}", p.line)).collect();
    let wanted =
        ["1: P0001 some text @ x ;//!", "1: P0002  ? try `//`", "1: P0003 ", "3: P0004 twice", "3: P0004 twice"];
    assert_eq!(problems, wanted);
    assert_eq!(found.shown(), [" two blanks "]);
    assert_eq!(found.values()?, [(7, "a", "5")]);
    assert!(found.has("classic") && !found.has("backward"));
    assert_eq!(Language::Janus.code("x += 1 //! P0001"), "x += 1");
    Ok(())
}

fn other_expectations_are_refused() -> Result<(), Failed> {
    for (language, text, wanted) in [
        (Language::Janus, "skip\n//classik\n", (2, "`//classik` is not a directive of Janus")),
        (Language::Assembly, ";classic\n", (1, "`;classic` is not a directive of Assembly")),
        (Language::Assembly, ";backward: 1\n", (1, "`backward` has no value")),
        (Language::Nil, "#args\n", (1, "`args` needs a value")),
        (Language::Nil, "#args: 1\n#args: 2\n", (2, "`args` stands twice")),
        (Language::Nil, "#!x P0400\n", (1, "`!x` is not a directive")),
        (Language::Nil, "#!^ P0400\n", (1, "no line stands there")),
        (Language::Nil, "#!P0400\n", (1, "an expectation without a code")),
        (Language::Pisa, ";? text\n", (1, "a help without a problem before it")),
        (Language::Pisa, "ADD $1 $2 ; adds ;! P0333\n", (1, "an expectation stands within an ordinary comment")),
    ] {
        match Expectations::read(language, text) {
            Err((line, message)) if line == wanted.0 && message.starts_with(wanted.1) => {}
            other => return Err(format!("{text:?}: expected {wanted:?}, found {other:?}").into()),
        }
    }
    Ok(())
}
