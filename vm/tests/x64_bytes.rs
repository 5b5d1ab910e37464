//! Encodings of x86-64 instructions, compared with those of GNU as. The encoder is not part of the crate's interface; its file is compiled
//! again here, because unit tests would compile the whole crate twice.

#![cfg(all(target_arch = "x86_64", unix))]

#[allow(dead_code)]
#[path = "../src/engine/x64/asm.rs"]
mod asm;

use asm::{Alu, Asm, Flag, Gpr, Mem, Shift, Xmm};

fn word(base: Gpr, index: Gpr, offset: i32) -> Mem {
    Mem { base, index: Some(index), offset }
}

fn hex(code: &[u8]) -> String {
    code.iter().map(|b| format!("{b:02x}")).collect()
}

macro_rules! bytes {
    ($( |$a:ident| $write:expr => $bytes:literal, $text:literal; )*) => { $({
        let mut $a = Asm::default();
        $write;
        assert_eq!(hex(&$a.finish()), $bytes, $text);
    })* };
}

/// Each form, and each base and index with a special encoding: `rsp` and `r12`, `rbp` and `r13`, offsets of one byte and of four.
#[test]
fn instructions() {
    bytes! {
        |a| a.mov(Gpr::RAX, Mem::at(Gpr::RBX, 0)) => "488b03", "mov rax,[rbx]";
        |a| a.mov(Gpr::R15, Mem::at(Gpr::RSP, 0)) => "4c8b3c24", "mov r15,[rsp]";
        |a| a.mov(Gpr::RAX, Mem::at(Gpr::RSP, 128)) => "488b842480000000", "mov rax,[rsp+128]";
        |a| a.mov(Gpr::RAX, Mem::at(Gpr::RBP, 0)) => "488b4500", "mov rax,[rbp]";
        |a| a.mov(Gpr::RAX, Mem::at(Gpr::RBP, 127)) => "488b457f", "mov rax,[rbp+127]";
        |a| a.mov(Gpr(8), Mem::at(Gpr::R12, 0)) => "4d8b0424", "mov r8,[r12]";
        |a| a.mov(Gpr(8), Mem::at(Gpr::R13, 0)) => "4d8b4500", "mov r8,[r13]";
        |a| a.mov(Gpr(9), word(Gpr::R12, Gpr(10), 0)) => "4f8b0cd4", "mov r9,[r12+r10*8]";
        |a| a.mov(Gpr::RCX, word(Gpr::R13, Gpr::RAX, 0)) => "498b4cc500", "mov rcx,[r13+rax*8]";
        |a| a.mov(Gpr::RCX, word(Gpr::RBP, Gpr(9), -128)) => "4a8b4ccd80", "mov rcx,[rbp+r9*8-128]";
        |a| a.mov(Gpr::RCX, word(Gpr::R11, Gpr::RSI, -129)) => "498b8cf37fffffff", "mov rcx,[r11+rsi*8-129]";
        |a| a.store(Mem::at(Gpr::R12, 8), Gpr::RDI) => "49897c2408", "mov [r12+8],rdi";
        |a| a.store(word(Gpr::R12, Gpr::RAX, 0), Gpr::RDX) => "498914c4", "mov [r12+rax*8],rdx";
        |a| a.store_constant(Mem::at(Gpr::RBP, 248), -2) => "48c785f8000000feffffff", "mov qword ptr [rbp+248],-2";
        |a| a.store_constant(word(Gpr::R12, Gpr(8), 0), 0x1234_5678) => "4bc704c478563412", "mov qword ptr [r12+r8*8],0x12345678";
        |a| a.constant(Gpr::RAX, 0) => "b800000000", "mov eax,0";
        |a| a.constant(Gpr(10), 0xffff_ffff) => "41baffffffff", "mov r10d,0xffffffff";
        |a| a.constant(Gpr::RDX, u64::MAX) => "48c7c2ffffffff", "mov rdx,-1";
        |a| a.constant(Gpr::R11, 1 << 63) => "49bb0000000000000080", "movabs r11,0x8000000000000000";
        |a| a.lea(Gpr::RSP, Mem::at(Gpr::RSP, 0x2008)) => "488da42408200000", "lea rsp,[rsp+0x2008]";
        |a| a.lea(Gpr::RSI, Mem::at(Gpr::RBX, 96)) => "488d7360", "lea rsi,[rbx+96]";
        |a| a.alu(Alu::Cmp, Gpr::RSP, Mem::at(Gpr::RBX, 88)) => "483b6358", "cmp rsp,[rbx+88]";
        |a| a.alu_constant(Alu::Sub, Gpr::RSP, 0x7fff_ffff) => "4881ecffffff7f", "sub rsp,0x7fffffff";
        |a| a.alu_constant(Alu::Cmp, word(Gpr::R12, Gpr::RAX, 0), 0) => "49833cc400", "cmp qword ptr [r12+rax*8],0";
        |a| a.alu_constant(Alu::And, Gpr(8), -128) => "4983e080", "and r8,-128";
        |a| a.alu_constant(Alu::Xor, Gpr(9), 128) => "4981f180000000", "xor r9,128";
        |a| a.test(Gpr(10)) => "4d85d2", "test r10,r10";
        |a| a.mul_wide(Gpr::R13) => "49f7ed", "imul r13";
        |a| a.mul_wide(Mem::at(Gpr::RSP, 8)) => "48f76c2408", "imul qword ptr [rsp+8]";
        |a| a.not(Gpr(9)) => "49f7d1", "not r9";
        |a| a.shift(Shift::Rol, Gpr(8), None) => "49d3c0", "rol r8,cl";
        |a| a.shift(Shift::Sar, Gpr::RDI, Some(63)) => "48c1ff3f", "sar rdi,63";
        |a| a.clear_sign(Gpr(9)) => "490fbaf13f", "btr r9,63";
        |a| a.mov_if(Flag::Unordered, Gpr::RSI, Gpr(8)) => "490f4af0", "cmovp rsi,r8";
        |a| a.step(Mem::at(Gpr::R14, 1024), 0) => "49ff8600040000", "inc qword ptr [r14+1024]";
        |a| a.step(Mem::at(Gpr::R11, 8), 1) => "49ff4b08", "dec qword ptr [r11+8]";
        |a| a.push(Gpr::R12) => "4154", "push r12";
        |a| a.pop(Gpr::RBX) => "5b", "pop rbx";
        |a| a.call(Gpr::RAX) => "ffd0", "call rax";
        |a| a.jump_to(Gpr::R11) => "41ffe3", "jmp r11";
        |a| a.double(Xmm(9), word(Gpr::R12, Gpr(10), 0)) => "f2470f100cd4", "movsd xmm9,[r12+r10*8]";
        |a| a.store_double(Mem::at(Gpr::R15, 8), Xmm(14)) => "f2450f117708", "movsd [r15+8],xmm14";
        |a| a.copy_double(Xmm(1), Xmm(8)) => "410f28c8", "movaps xmm1,xmm8";
        |a| a.word_to_double(Xmm(10), Gpr::R11) => "664d0f6ed3", "movq xmm10,r11";
        |a| a.double_to_word(Gpr::R11, Xmm(3)) => "66490f7edb", "movq r11,xmm3";
        |a| a.float(0x5c, Xmm(8), Xmm(7)) => "f2440f5cc7", "subsd xmm8,xmm7";
        |a| a.float(0x51, Xmm(0), Xmm(15)) => "f2410f51c7", "sqrtsd xmm0,xmm15";
        |a| a.float(0x5e, Xmm(2), Mem::at(Gpr::RSP, 16)) => "f20f5e542410", "divsd xmm2,[rsp+16]";
        |a| a.compare_doubles(Xmm(11), Mem::at(Gpr::R15, 0)) => "66450f2e1f", "ucomisd xmm11,qword ptr [r15]";
        |a| a.clear_double(Xmm(12)) => "450f57e4", "xorps xmm12,xmm12";
        |a| a.integer_to_double(Xmm(9), Gpr(10)) => "f24d0f2aca", "cvtsi2sd xmm9,r10";
        |a| a.set(Flag::Above, Gpr::RSI) => "400f97c6400fb6f6", "seta sil; movzx esi,sil";
        |a| a.set(Flag::Ordered, Gpr(8)) => "410f9bc0450fb6c0", "setnp r8b; movzx r8d,r8b";
    }
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
        // To the end: the rest has 5 + 7 + 5 + 8 bytes.
        "0f8819000000",
        // To the beginning: 12 bytes back.
        "e9f4ffffff",
        // To the table, behind the next instruction.
        "4c8d1d05000000",
        "496344b300",
        // 24 bytes back, and 8 on.
        "e8ffffff",
        "08000000",
        "c3",
    ];
    assert_eq!(hex(&a.finish()), expected.concat());
}

/// A condition and its opposite differ in the last bit.
#[test]
fn conditions() {
    use Flag::*;
    for flag in [Below, Equal, BelowOrEqual, Sign, Unordered, Less, LessOrEqual] {
        assert_eq!(flag.not() as u8, flag as u8 ^ 1);
        assert_eq!(flag.not().not(), flag);
    }
}
