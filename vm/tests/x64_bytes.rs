//! The choice of x86-64 instructions by conditions and operations, and distances to labels. Bytes are those of GNU as. The assembler is not
//! part of the crate's interface; its file is compiled again here, because unit tests would compile the whole crate twice.

#![cfg(all(target_arch = "x86_64", unix))]

#[allow(dead_code)]
#[path = "../src/engine/x64/asm.rs"]
mod asm;

use asm::{Alu, Asm, Flag, Gpr, Mem, Shift, Xmm};
use pendula_codegen::ops::Float;

fn hex(code: &[u8]) -> String {
    code.iter().map(|b| format!("{b:02x}")).collect()
}

/// Distances count from the end of the instruction, forward and back; those of tables from the table.
#[test]
fn labels() {
    let mut a = Asm::default();
    let [back, on, table] = [a.label(), a.label(), a.label()];
    a.bind(back);
    a.ret();
    a.jump_if(Flag::Sign, on);
    a.jump(back);
    a.address(Gpr::R11, table);
    a.entry_of_table(Gpr::RAX, Gpr::R11, Gpr::RSI);
    a.table(table, &[back, on]);
    a.bind(on);
    a.ret();
    let expected = [
        "c3",
        // To the end: the rest has 5 + 7 + 4 + 8 bytes.
        "0f8818000000",
        // To the beginning: 12 bytes back.
        "e9f4ffffff",
        // To the table, behind the next instruction.
        "4c8d1d04000000",
        "496304b3",
        // 23 bytes back, and 8 on.
        "e9ffffff",
        "08000000",
        "c3",
    ];
    assert_eq!(hex(&a.finish()), expected.concat());
}

/// Each condition has its own number in the instructions that depend on it; the number of its opposite differs in the last bit.
#[test]
fn conditions() {
    use Flag::*;
    let numbers = [
        (Below, 2),
        (AboveOrEqual, 3),
        (Equal, 4),
        (NotEqual, 5),
        (BelowOrEqual, 6),
        (Above, 7),
        (Sign, 8),
        (NotSign, 9),
        (Unordered, 10),
        (Ordered, 11),
        (Less, 12),
        (GreaterOrEqual, 13),
        (LessOrEqual, 14),
        (Greater, 15),
    ];
    for (flag, number) in numbers {
        assert!(numbers.contains(&(flag.not(), number ^ 1)), "{flag:?}");
        let mut a = Asm::default();
        let here = a.label();
        a.jump_if(flag, here);
        a.bind(here);
        a.mov_if(flag, Gpr::RSI, Gpr(8));
        a.set(flag, Gpr::RCX);
        let expected = format!("0f8{number:x}00000000 490f4{number:x}f0 0f9{number:x}c1 0fb6c9");
        assert_eq!(hex(&a.finish()), expected.replace(' ', ""), "{flag:?}");
    }
}

/// Arithmetic, shifts, and addresses with special encodings.
#[test]
fn operands() {
    let mut a = Asm::default();
    for op in [Alu::Add, Alu::Or, Alu::And, Alu::Sub, Alu::Xor, Alu::Cmp] {
        a.alu(op, Gpr::RAX, Mem::at(Gpr::R12, 0));
        a.alu_constant(op, Mem { base: Gpr::R13, index: Some(Gpr(9)), offset: 0 }, -1);
        a.alu_constant(op, Gpr::RCX, 1000);
    }
    for op in [Shift::Rol, Shift::Ror, Shift::Shl, Shift::Shr, Shift::Sar] {
        a.shift(op, Gpr::RDX, Some(3));
        a.shift(op, Gpr::RDX, None);
    }
    for op in [Float::Add, Float::Mul, Float::Sub, Float::Div] {
        a.float(op, Xmm(1), Mem::at(Gpr::RSP, 8));
    }
    let expected = [
        "49030424 4b8344cd00ff 4881c1e8030000",
        "490b0424 4b834ccd00ff 4881c9e8030000",
        "49230424 4b8364cd00ff 4881e1e8030000",
        "492b0424 4b836ccd00ff 4881e9e8030000",
        "49330424 4b8374cd00ff 4881f1e8030000",
        "493b0424 4b837ccd00ff 4881f9e8030000",
        "48c1c203 48d3c2 48c1ca03 48d3ca 48c1e203 48d3e2 48c1ea03 48d3ea 48c1fa03 48d3fa",
        "f20f584c2408 f20f594c2408 f20f5c4c2408 f20f5e4c2408",
    ];
    assert_eq!(hex(&a.finish()), expected.concat().replace(' ', ""));
}
