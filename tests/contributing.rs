//! CONTRIBUTING.md says that one edit adds an instruction. This makes exactly this edit to a copy of the crates
//! `isa` and `vm`, and tries the new instruction there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tests of the new instruction, which are put among the tests of `pendula-vm` in the copy.
const TRIAL: &str = r##"//! Written by `tests/contributing.rs` of the original.

use crate::common::{between, inst, kind, machine, mem, program, r, reg};
use pendula_isa::counts::Direction;
use pendula_isa::encode::{Pool, decode, encode};
use pendula_isa::inst::Inst;
use pendula_isa::manual;
use pendula_isa::operand::Operand;
use pendula_isa::table::{TableFn, f_fn};
use pendula_isa::text::{NoNames, display};
use pendula_isa::types::Ty;
use pendula_isa::Fault;
use pendula_vm::gradient::{Cell, Variable, forward, gradient, hessian_row, hessian_row_by_reversing_twice};
use pendula_vm::{Machine, Outcome};

const SOFTSIGN: TableFn = TableFn::F(f_fn::Name::Softsign);

fn constant(x: f64) -> Operand {
    Operand::Imm(x.to_bits(), Ty::F)
}

/// The instruction in every shape that a function of one argument has, with its text.
fn shapes(mnemonic: &str) -> Vec<(Inst, String)> {
    let at = mem(4, 5, 0);
    [
        (vec![reg(1), reg(2)], "r1, r2"),
        (vec![reg(1), constant(-0.75)], "r1, -0.75"),
        (vec![reg(1), mem(4, 5, 3)], "r1, [r4+r5+3]"),
        (vec![at, reg(2)], "[r4+r5], r2"),
        (vec![at, constant(3.0)], "[r4+r5], 3.0"),
    ]
    .into_iter()
    .map(|(operands, text)| (inst(mnemonic, &operands), format!("{mnemonic} {text}")))
    .collect()
}

#[test]
fn it_has_text_and_encoding_in_every_shape() {
    for mnemonic in ["addsoftsign.f", "subsoftsign.f", "xorsoftsign.f"] {
        assert_eq!(kind(mnemonic).mnemonic(), mnemonic);
        for (inst, text) in shapes(mnemonic) {
            let mut pool = Pool::default();
            let word = encode(&inst, &mut pool);
            assert_eq!(decode(word, pool.words(), pendula_isa::Profile::Native), Ok(inst), "{text}");
            assert_eq!(display(&inst, 0, &NoNames), text);
            let partner = inst.inverse().kind.mnemonic();
            let wanted = mnemonic.replace("add", "-").replace("sub", "add").replace('-', "sub");
            assert_eq!(partner, wanted);
        }
    }
}

#[test]
fn it_runs_there_and_back() {
    // Softsign by another formula: the sign, and one less the distance from the limit.
    let softsign = |x: f64| x.signum() * (1.0 - 1.0 / (1.0 + x.abs()));
    let arguments = [1.0, -1.0, 3.0, 0.1, -0.25, 1e-3, -12345.678, 1e300, f64::MAX];
    for x in arguments {
        for mnemonic in ["addsoftsign.f", "xorsoftsign.f"] {
            for (inst, text) in shapes(mnemonic) {
                let program = program(between([inst]));
                let mut m = machine(&program, 16);
                m.set_register(r(2), x.to_bits());
                m.set_register(r(4), 6);
                m.set_register(r(5), 2);
                m.memory_mut()[11] = x.to_bits();
                let before = m.digest();
                assert_eq!(m.run(None), Outcome::Finished, "{text}");
                let constant = inst.operands().find_map(|(_, o)| match o {
                    Operand::Imm(word, _) => Some(f64::from_bits(word)),
                    _ => None,
                });
                let wanted = softsign(constant.unwrap_or(x));
                let in_memory = matches!(inst.operands().next(), Some((_, Operand::Mem { .. })));
                let found = f64::from_bits(if in_memory { m.memory()[8] } else { m.registers()[1] });
                assert!((found - wanted).abs() <= 2.0 * f64::EPSILON, "{text}: {found}, not {wanted}");
                // The destination was 0: even a double comes back exactly.
                m.begin(Direction::Backward);
                assert_eq!(m.run(None), Outcome::Finished, "{text}");
                assert_eq!(m.digest(), before, "{text}");
            }
        }
    }
    let program = program(between([inst("addsoftsign.f", &[reg(1), reg(2)])]));
    let mut m = machine(&program, 16);
    m.set_register(r(2), f64::INFINITY.to_bits());
    assert!(matches!(m.run(None), Outcome::Trap(_)), "infinity over infinity is not a number");
}

#[derive(Debug)]
struct Stopped;

impl From<Fault> for Stopped {
    fn from(_: Fault) -> Stopped {
        Stopped
    }
}

#[test]
fn it_has_gradients() {
    let program = program(between([inst("addsoftsign.f", &[reg(1), reg(2)])]));
    let [loss, x] = [1, 2].map(|n| Variable { cell: Cell::Register(r(n)), ty: Ty::F });
    let mut run = |m: &mut Machine<'_>| match m.run(None) {
        Outcome::Finished => Ok(()),
        _ => Err(Stopped),
    };
    for at in [1.0, -1.0, 3.0, 0.1, -0.25, 12.5] {
        let mut m = machine(&program, 16);
        m.set_register(r(2), f64::to_bits(at));
        let size = 1.0 + f64::abs(at);
        let near = |word: u64, wanted: f64| {
            let found = f64::from_bits(word);
            assert!((found - wanted).abs() <= 1e-14 * wanted.abs(), "at {at}: {found}, not {wanted}");
        };
        forward(&mut m, &mut run).expect("a run forward");
        gradient(&mut m, loss, 1f64.to_bits(), &mut run).expect("a run backward");
        near(m.lane_register(1, r(2)), size.powi(-2));
        let second = -2.0 * f64::signum(at) * size.powi(-3);
        hessian_row(&mut m, loss, 1f64.to_bits(), x, &mut run).expect("runs over dual numbers");
        near(m.lane_register(3, r(2)), second);
        hessian_row_by_reversing_twice(&mut m, loss, 1f64.to_bits(), x, &mut run).expect("a run back over that");
        near(m.lane_register(1, r(2)), second);
    }
}

#[test]
fn it_is_counted() {
    let program = program(between([inst("addsoftsign.f", &[reg(1), reg(2)])]));
    let mut m = machine(&program, 16);
    assert_eq!(m.run(None), Outcome::Finished);
    let counts = m.counts();
    assert_eq!(counts.instructions(), 3);
    let classes = counts.classes(&counts.modes[0], &program.module().code);
    assert!(classes.iter().any(|(class, n)| class.key() == "float-divide" && *n == 1));
}

#[test]
fn it_stands_in_the_manual() {
    let entry = manual::find("addsoftsign.f").expect("an entry");
    assert_eq!(entry.inverse.as_deref(), Some("subsoftsign.f"));
    assert_eq!(entry.docs, "Softsign: x/(1 + |x|).");
    assert!(manual::markdown().contains("| `softsign` | `addsoftsign.f y, a` |"));
    // What the tests of `pendula-isa` compare with finite differences.
    assert_eq!(SOFTSIGN.info().partials, 1);
}
"##;

/// An edit that the document describes.
struct Edit {
    file: String,
    before: String,
    block: String,
}

/// The fenced blocks behind `<!-- edit: FILE, before: MARKER -->`.
fn edits(document: &str) -> Vec<Edit> {
    document
        .split("<!-- edit: ")
        .skip(1)
        .map(|part| {
            let (header, rest) = part.split_once(" -->").expect("the comment ends");
            let (file, before) = header.split_once(", before: ").expect("FILE, before: MARKER");
            let (_, rest) = rest.split_once("```rust\n").expect("a block of Rust");
            let (block, _) = rest.split_once("```").expect("the block ends");
            Edit { file: file.to_string(), before: before.to_string(), block: block.to_string() }
        })
        .collect()
}

/// Inserts the block before the first line that contains the marker.
fn apply(root: &Path, edit: &Edit) {
    let path = root.join(&edit.file);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", edit.file));
    let marker = text.find(&edit.before).unwrap_or_else(|| panic!("{}: no `{}`", edit.file, edit.before));
    let line = text[..marker].rfind('\n').map_or(0, |n| n + 1);
    fs::write(&path, format!("{}{}{}", &text[..line], edit.block, &text[line..])).expect("a file to write");
}

/// Copies a crate. Files that are the same already keep their times, so that nothing is compiled twice.
fn copy(from: &Path, to: &Path, keep: &dyn Fn(&Path) -> bool) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|e| e.expect("an entry").path()) {
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            if !entry.ends_with("target") {
                copy(&entry, &target, keep);
            }
        } else if !keep(&target) {
            put(&target, &fs::read(&entry).expect("a file"));
        }
    }
}

/// Writes a file unless it holds these bytes.
fn put(path: &Path, bytes: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        fs::write(path, bytes).expect("a file to write");
    }
}

/// The workspace's manifest without the root package and the members that are not copied, and with a profile that
/// compiles fast.
fn manifest(text: &str) -> String {
    let (workspace, _) = text.split_once("[package]").expect("the root package");
    let members = workspace.lines().find(|l| l.starts_with("members")).expect("the members");
    let workspace = workspace.replace(members, "members = [\"isa\", \"codegen\", \"vm\"]");
    format!("{workspace}[profile.dev]\nopt-level = 0\ndebug = false\n")
}

fn cargo(root: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(root).env("CARGO_TARGET_DIR", root.join("target"));
    // What belongs to the build of this test says nothing about the copy.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTDOCFLAGS"] {
        command.env_remove(name);
    }
    let output = command.output().expect("cargo");
    let text = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert!(output.status.success(), "cargo {}\n{}\n{}", arguments.join(" "), text[0], text[1]);
    assert!(!text[1].contains("\nwarning:"), "{}", text[1]);
}

#[test]
#[ignore = "builds three crates twice: part of .ci/full"]
fn the_edits_that_add_an_instruction_suffice() {
    let original = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(original.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let edits = edits(&document);
    assert_eq!(edits.len(), 1, "the document says one edit");

    let root: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    // Edited files are made anew each time, in a place apart, and put in place only if they changed.
    let scratch = root.join("edited");
    let _ = fs::remove_dir_all(&scratch);
    for edit in &edits {
        let copied = scratch.join(&edit.file);
        fs::create_dir_all(copied.parent().expect("a folder")).expect("a folder");
        if !copied.exists() {
            fs::copy(original.join(&edit.file), &copied).expect("a file to copy");
        }
        apply(&scratch, edit);
    }
    let edited = |path: &Path| path.strip_prefix(&root).is_ok_and(|p| scratch.join(p).is_file());
    for part in ["isa", "codegen", "vm"] {
        // What a colleague has deleted since the last run must not stay.
        for stale in ["src", "tests"] {
            prune(&root.join(part).join(stale), &original.join(part).join(stale));
        }
        copy(&original.join(part), &root.join(part), &edited);
    }
    for edit in &edits {
        put(&root.join(&edit.file), &fs::read(scratch.join(&edit.file)).expect("the edited file"));
    }
    let text = fs::read_to_string(original.join("Cargo.toml")).expect("Cargo.toml");
    put(&root.join("Cargo.toml"), manifest(&text).as_bytes());
    // The versions that this workspace has, which are at hand without a network.
    fs::copy(original.join("Cargo.lock"), root.join("Cargo.lock")).expect("Cargo.lock");
    put(&root.join("vm/tests/softsign.rs"), TRIAL.as_bytes());
    put(&root.join("vm/tests/main.rs"), b"//! What is tried.\n\nmod common;\nmod softsign;\n");

    cargo(&root, &["test", "--offline", "-p", "pendula-vm", "--test", "suite", "softsign::"]);
    let differences = "partial_derivatives_agree_with_differences";
    cargo(&root, &["test", "--offline", "-p", "pendula-isa", "--test", "suite", differences]);
}

/// Removes files that the original does not have.
fn prune(folder: &Path, original: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map(|e| e.expect("an entry").path()) {
        let there = original.join(entry.file_name().expect("a name"));
        match (entry.is_dir(), there.exists()) {
            (true, true) => prune(&entry, &there),
            (true, false) => fs::remove_dir_all(&entry).expect("a folder to remove"),
            (false, true) => {}
            (false, false) => fs::remove_file(&entry).expect("a file to remove"),
        }
    }
}
