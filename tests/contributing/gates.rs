//! What `tests/contributing.rs` tries of the circuits of what CONTRIBUTING.md adds, among the tests of `pendula-hw-model` in the copy.

use pendula_hw_model::circuit::{GateCounts, Part, generate};
use pendula_hw_model::gate_counts::{Shape, gates};
use pendula_hw_model::work::CircuitKind;
use pendula_isa::table::{Row, TableFn, Variant, f_fn};
use pendula_isa::types::{Cond, Ty};

use crate::circuits::harness::{all, check};

const MACHINE: Shape = Shape { width: 64, frac: 32, memory: 0 };

#[test]
fn the_gray_code_is_a_chain_of_controlled_nots() {
    let variant = Variant { ty: Ty::Int, cond: Cond::Always, form: false };
    let kind = CircuitKind::Row { row: Row::Gray, ty: Ty::Int, cond: Cond::Always, form: false, inverse: false };
    assert_eq!(gates(kind, MACHINE), GateCounts { cnot: 63, ..GateCounts::default() });
    let circuit = generate(Part::Row { row: Row::Gray, variant, frac: 0 }, 8).expect("a circuit");
    check(&circuit, ["a"], &all(&[8]), |[a]| Some([a ^ a >> 1]));
}

#[test]
fn the_lorentz_function_is_a_product_an_addition_and_a_division() {
    let of = |name| gates(CircuitKind::Function { func: TableFn::F(name), xor: true }, MACHINE).total();
    let parts = of(f_fn::Name::Mul) + of(f_fn::Name::Plus) + of(f_fn::Name::Div);
    let lorentz = of(f_fn::Name::Lorentz);
    assert!(lorentz > of(f_fn::Name::Div) && lorentz <= parts, "{lorentz} gates, of {parts}");
}
