//! Netlists in Verilog under Icarus Verilog and Verilator, with vectors of the kernels, and in Yosys.
//!
//! Without these tools the tests say so and do nothing, unless `PENDULA_REQUIRE_HDL=1` is set.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pendula_hw_model::export::{Format, export, testbench};
use pendula_hw_model::instruction::{Direction, InstructionCircuit, Sizes};
use pendula_hw_model::mapping::Mapping;
use pendula_isa::mnemonic;
use pendula_isa::sample::all;

/// Instructions of every kind, with a width.
const CIRCUITS: [(&str, usize); 40] = [
    // Logic, sums, differences, comparisons.
    ("not", 8),
    ("xorand", 8),
    ("xornor", 8),
    ("add", 64),
    ("sub", 8),
    ("dec", 5),
    ("neg", 8),
    ("xorplus", 8),
    ("addminus.q", 8),
    ("sub16", 32),
    ("xorlt", 8),
    ("subeq", 8),
    ("xormin.q", 8),
    ("assert.ltu", 8),
    // Moves, shifts, rotations.
    ("swap", 8),
    ("gswap", 8),
    ("xorshl", 16),
    ("xorsar", 8),
    ("rol", 16),
    ("ror32", 64),
    // Products, quotients, roots.
    ("addmul", 8),
    ("submul.q", 6),
    ("addmuladd.q", 4),
    ("xordiv", 6),
    ("xormod", 4),
    ("rmul", 4),
    ("xorsqrt.q", 8),
    // Functions by tables.
    ("xorexp.q", 8),
    ("addlog.q", 8),
    ("xorsin.q", 8),
    ("mulcvt.l.q", 8),
    // Floating point and logarithmic numbers.
    ("xorplus.f", 8),
    ("xormul.f", 8),
    ("mul.l", 8),
    // Memory and control.
    ("exch", 8),
    ("pop", 8),
    ("jmp.ne", 8),
    ("from.lt.f", 8),
    ("bra.ge", 5),
    ("call", 8),
];

fn circuit((name, width): (&str, usize)) -> InstructionCircuit {
    let kind = mnemonic::lookup(name).unwrap_or_else(|| panic!("there is no {name}"));
    let sizes = Sizes { width, frac: None, memory: 5 };
    InstructionCircuit::new(kind, sizes, Direction::Both).unwrap_or_else(|e| panic!("{e}"))
}

/// Whether the tools are there; if they are required, a missing one is an error.
fn has(tools: &[&str]) -> bool {
    let missing = |tool: &&&str| Command::new(tool).arg("--version").output().is_err();
    let missing: Vec<&&str> = tools.iter().filter(missing).collect();
    let required = std::env::var_os("PENDULA_REQUIRE_HDL").is_some_and(|v| v == "1");
    assert!(missing.is_empty() || !required, "PENDULA_REQUIRE_HDL is set, but there is no {missing:?}");
    if !missing.is_empty() {
        println!("skipped: there is no {missing:?} (apt-get install iverilog verilator yosys)");
    }
    missing.is_empty()
}

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run(folder: &Path, program: &str, args: &[&str]) -> Output {
    Command::new(program).args(args).current_dir(folder).output().unwrap_or_else(|e| panic!("{program}: {e}"))
}

/// What a program prints, which must end well.
fn output(folder: &Path, program: &str, args: &[&str]) -> String {
    let out = run(folder, program, args);
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{program} {args:?}: {text}");
    text
}

/// All netlists with their testbenches in a file `all.v`, under one module `all`. Returns the names.
fn write_all(folder: &Path) -> Vec<String> {
    write(folder, &CIRCUITS)
}

fn write(folder: &Path, circuits: &[(&str, usize)]) -> Vec<String> {
    let mut text = String::new();
    let mut names = Vec::new();
    let mut add = |circuit: &InstructionCircuit, mapping: Mapping| {
        let name = circuit.circuit.name().to_string();
        text += &testbench(circuit, mapping).unwrap_or_else(|e| panic!("{name}: {e}"));
        names.push(name);
    };
    for each in circuits {
        add(&circuit(*each), Mapping::Reversible);
    }
    for (mapping, width) in [(Mapping::Cascade, 9), (Mapping::Balanced, 10), (Mapping::Aqfp, 11)] {
        add(&circuit(("add", width)), mapping);
    }
    text += "`ifndef SYNTHESIS\nmodule all;\n";
    for name in &names {
        text += &format!("  {name}_tb #(.FINISH(0)) t_{name}();\n");
    }
    text += "  initial begin #1000000 $finish; end\nendmodule\n`endif\n";
    std::fs::write(folder.join("all.v"), text).expect("a file");
    names
}

/// Each netlist has passed.
fn passed(text: &str, names: &[String]) {
    for name in names {
        assert!(text.contains(&format!("PASS {name}: ")), "{name}: {text}");
    }
    assert!(!text.contains("FAIL"), "{text}");
}

#[test]
fn icarus_verilog_agrees_with_the_kernels() {
    if !has(&["iverilog"]) {
        return;
    }
    let folder = folder("hdl-icarus");
    // Those with many gates take seconds each.
    let some: Vec<(&str, usize)> = CIRCUITS.into_iter().step_by(if all() { 1 } else { 9 }).collect();
    let names = write(&folder, &some);
    output(&folder, "iverilog", &["-g2005", "-Wall", "-Wno-timescale", "-s", "all", "-o", "all.vvp", "all.v"]);
    passed(&output(&folder, "vvp", &["-n", "all.vvp"]), &names);
    // A wrong netlist fails.
    let text = testbench(&circuit(("add", 4)), Mapping::Reversible).expect("a testbench");
    let wrong = text.replacen("(c & d) ? ~a : a", "(c | d) ? ~a : a", 1);
    assert_ne!(wrong, text);
    std::fs::write(folder.join("wrong.v"), wrong).expect("a file");
    output(&folder, "iverilog", &["-g2005", "-o", "wrong.vvp", "wrong.v"]);
    let out = run(&folder, "vvp", &["-n", "wrong.vvp"]);
    assert!(!out.status.success() && String::from_utf8_lossy(&out.stdout).contains("FAIL add_4_both"));
}

/// Verilator makes programs of the circuits, which takes most of a second each.
fn verilate(circuits: &[(&str, usize)], folder: &str) {
    if !has(&["verilator"]) {
        return;
    }
    let folder = self::folder(folder);
    let names = write(&folder, circuits);
    // What it generates runs for a moment only: a compiler that does not optimise is done sooner.
    let quick = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0";
    let args = ["--binary", "-j", "1", "-MAKEFLAGS", quick, "--top-module", "all", "-o", "all", "all.v"];
    output(&folder, "verilator", &args);
    passed(&output(&folder, "obj_dir/all", &[]), &names);
}

#[test]
#[ignore = "takes half a minute, and Icarus Verilog has the same circuits: part of .ci/full"]
fn verilator_agrees_with_the_kernels() {
    let some: Vec<(&str, usize)> = CIRCUITS.into_iter().step_by(9).collect();
    verilate(&some, "hdl-verilator");
}

#[test]
#[ignore = "takes half a minute: part of .ci/full"]
fn verilator_agrees_with_the_kernels_of_all() {
    verilate(&CIRCUITS, "hdl-verilator-all");
}

#[test]
fn yosys_reads_the_netlists() {
    if !has(&["yosys"]) {
        return;
    }
    let folder = folder("hdl-yosys");
    let names = write_all(&folder);
    let text = output(&folder, "yosys", &["-p", "read_verilog all.v; hierarchy -check; proc; check -assert; stat"]);
    for name in names {
        assert!(text.contains(&format!("=== {name} ===")), "{name}: {text}");
    }
    // It says of the BLIF and of the Verilog, and of conventional logic, that they are equal.
    let circuit = circuit(("xormul", 4));
    let write = |mapping, format, file: &str| {
        let text = export(&circuit, mapping, format).expect("a text");
        std::fs::write(folder.join(file), text.replace("xormul_4_both", file.split('.').next().unwrap_or_default()))
            .expect("a file");
    };
    write(Mapping::Reversible, Format::Verilog, "gates.v");
    write(Mapping::Reversible, Format::Blif, "blif.blif");
    write(Mapping::Cascade, Format::Blif, "cells.blif");
    write(Mapping::Aqfp, Format::Verilog, "aqfp.v");
    let equal = |a: &str, b: &str| {
        format!(
            "read_verilog gates.v aqfp.v; read_blif -wideports blif.blif; read_blif -wideports cells.blif; flatten; \
         miter -equiv -flatten -ignore_gold_x -make_outputs {a} {b} miter; \
         sat -verify -prove trigger 0 -set-init-undef miter"
        )
    };
    output(&folder, "yosys", &["-p", &equal("gates", "blif")]);
    output(&folder, "yosys", &["-p", &equal("cells", "aqfp")]);
}
