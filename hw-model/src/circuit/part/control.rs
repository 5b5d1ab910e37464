//! Memory, jumps, calls and checks.

use pendula_isa::kernels::circuits::{compare, log};
use pendula_isa::{Cond, Ty};

use super::Half;
use crate::circuit::{Bit, Builder, Role, Word};

pub(super) fn memory(b: &mut Builder, words: usize, width: usize) {
    let a = b.register("a", Role::Operand, width);
    let r = b.register("r", Role::Target, width);
    let memory: Vec<Word> = (0..words).map(|i| b.register(&format!("m{i}"), Role::Target, width)).collect();
    let trap = b.register("trap_address", Role::Trap, 1);
    let bits = words.next_power_of_two().ilog2() as usize;
    if words.is_power_of_two() {
        b.xor_none(&a[bits..], trap[0]);
        b.not(trap[0]);
    } else {
        b.xor_less(&a, &Word::constant(words as u128, width), trap[0]);
        b.not(trap[0]);
    }
    b.exchange_memory(Bit::ONE, &a[..bits], &memory, &r);
}

/// The operands of a comparison.
fn operands(b: &mut Builder, names: [&str; 2], width: usize) -> [Word; 2] {
    names.map(|name| b.register(name, Role::Operand, width))
}

pub(super) fn branch(b: &mut Builder, half: Half, (ty, cond): (Ty, Cond), width: usize) {
    let [x, z] = operands(b, ["a", "b"], width);
    let taken = b.register("taken", Role::Target, 1);
    match ty {
        Ty::Int | Ty::Q => b.xor_condition(cond, &x, &z, taken[0]),
        Ty::L => log::COMPARISON.xor_into(b, cond, &x, &z, taken[0]),
        Ty::F => compare::COMPARISON.xor_into(b, cond, &x, &z, taken[0]),
    }
    if half == Half::Jump {
        let offset = b.register("offset", Role::Operand, width);
        let pc = b.register("pc", Role::Target, width);
        b.add_if(taken[0], &offset, &pc);
    }
}

pub(super) fn branch_pair(b: &mut Builder, jump: Cond, from: Cond, width: usize) {
    let [x, z] = operands(b, ["a", "b"], width);
    let offset = b.register("offset", Role::Operand, width);
    let [v, w] = operands(b, ["c", "d"], width);
    let pc = b.register("pc", Role::Target, width);
    let taken = b.register("trap_pair", Role::Trap, 1);
    b.xor_condition(jump, &x, &z, taken[0]);
    b.add_if(taken[0], &offset, &pc);
    b.xor_condition(from, &v, &w, taken[0]);
}

pub(super) fn branch_register(b: &mut Builder, cond: Cond, width: usize) {
    let [x, z] = operands(b, ["a", "b"], width);
    let offset = b.register("offset", Role::Operand, width);
    let br = b.register("br", Role::Target, width);
    let pc = b.register("pc", Role::Target, width);
    let holds = |b: &mut Builder| {
        let holds = b.bit();
        b.xor_condition(cond, &x, &z, holds);
        holds
    };
    b.with(holds, |b, holds| b.add_if(*holds, &offset, &br));
    b.add(&br, &pc);
}

pub(super) fn branch_turn(b: &mut Builder, width: usize) {
    let offset = b.register("offset", Role::Operand, width);
    let br = b.register("br", Role::Target, width);
    let pc = b.register("pc", Role::Target, width);
    let dir = b.register("dir", Role::Target, 1);
    b.add(&offset, &br);
    b.add(&br, &pc);
    b.not(dir[0]);
}

pub(super) fn branch_swap(b: &mut Builder, width: usize) {
    let r = b.register("r", Role::Target, width);
    let br = b.register("br", Role::Target, width);
    let pc = b.register("pc", Role::Target, width);
    b.swap(&r, &br);
    b.add(&br, &pc);
}

pub(super) fn call(b: &mut Builder, width: usize) {
    let to = b.register("to", Role::Operand, width);
    let pc = b.register("pc", Role::Target, width);
    let link = b.register("link", Role::Target, width);
    let trap = b.register("trap_link", Role::Trap, 1);
    b.xor_none(&link, trap[0]);
    b.not(trap[0]);
    b.xor(&to, &link);
    b.swap(&pc, &link);
    b.increment_if(Bit::ONE, &link);
}
