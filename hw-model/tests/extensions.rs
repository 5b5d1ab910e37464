//! Functions by definition beside the functions of the table that they are made of.

use std::sync::Arc;

use pendula_hw_model::gate_counts::{Shape, gates};
use pendula_hw_model::mapping::Mapping;
use pendula_hw_model::work::CircuitKind;
use pendula_isa::extension::{
    Defines, Definition, Extension, Form, Parameter, Temporary, operand_register, sum_of, temporary_register,
};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::Shape as Operands;
use pendula_isa::sample::in_turn;
use pendula_isa::table::{TableFn, int_fn, q_fn};
use pendula_isa::{Acc, Reg};

const SHAPES: [Shape; 2] = [Shape { width: 16, frac: 8, memory: 0 }, Shape { width: 32, frac: 16, memory: 0 }];

const fn a(n: usize) -> Reg {
    operand_register(n + 1)
}

const fn t(n: usize) -> Reg {
    temporary_register(n)
}

/// The function whose value the last of these computes, each into a temporary of its own.
fn function(name: &str, arguments: usize, all: &[(TableFn, &[Reg])]) -> CircuitKind {
    let ty = all[0].0.info().ty;
    let step = |(n, (func, args)): (usize, &(TableFn, &[Reg]))| {
        let regs: Vec<Reg> = std::iter::once(t(n)).chain(args.iter().copied()).collect();
        let kind = Kind::Accumulate {
            acc: sum_of(ty),
            inverse: false,
            func: *func,
            shape: Operands::of_registers(args.len()),
        };
        Inst { kind, regs: Inst::registers(&regs), imm: 0, small: 0 }
    };
    let definition = Arc::new(Definition {
        name: format!("{name}{}", ty.suffix()),
        defines: Defines::Function { ty, value: t(all.len() - 1), expression: name.to_string() },
        docs: Vec::new(),
        parameters: (0..arguments).map(|n| Parameter { name: format!("a{n}"), ty, written: false }).collect(),
        temporaries: (0..all.len()).map(|n| Temporary { name: format!("t{n}"), ty }).collect(),
        steps: all.iter().enumerate().map(step).collect(),
    });
    let form = Form::Function { acc: Acc::Add, shape: Operands::of_registers(arguments) };
    CircuitKind::Defined { extension: Extension::new(&definition, form).expect("room").canonical(), xor: true }
}

#[test]
fn a_function_of_one_step_is_that_of_the_table() {
    let (q, int) = (TableFn::Q, TableFn::Int);
    let all: [(TableFn, usize); 7] = [
        (q(q_fn::Name::Mul), 2),
        (q(q_fn::Name::Sqrt), 1),
        (q(q_fn::Name::Div), 2),
        (q(q_fn::Name::Hypot), 2),
        (int(int_fn::Name::Mul), 2),
        (int(int_fn::Name::Shr), 2),
        (int(int_fn::Name::Min), 2),
    ];
    for (n, (func, arity)) in all.into_iter().enumerate() {
        let defined = function("same", arity, &[(func, &[a(0), a(1)][..arity])]);
        let own = CircuitKind::Function { func, xor: true };
        for &shape in in_turn(&SHAPES, n) {
            // What cancels is left out.
            let controlled = |unit| gates(unit, shape).toffoli + gates(unit, shape).cswap;
            let (one, other) = (controlled(defined), controlled(own));
            assert!(one > 0 && one <= other && one * 20 > other * 19, "{func:?}, {shape:?}: {one}, {other}");
            for mapping in [Mapping::Cascade, Mapping::Balanced, Mapping::Aqfp] {
                let (one, other) = (mapping.unit(defined, shape).forward, mapping.unit(own, shape).forward);
                let (cells, most) = (one.total(), other.total());
                assert!(cells <= most && cells * 2 > most, "{func:?}, {shape:?}, {mapping:?}: {cells}, {most}");
                let (levels, most) = (one.levels, other.levels);
                assert!(levels <= most && levels * 2 > most, "{func:?}, {shape:?}, {mapping:?}: {levels}, {most}");
            }
        }
    }
}

#[test]
fn what_a_function_computes_on_the_way_is_computed_and_undone_once() {
    let (mul, plus, sqrt) = (q_fn::Name::Mul, q_fn::Name::Plus, q_fn::Name::Sqrt);
    let steps: [(TableFn, &[Reg]); 4] = [
        (TableFn::Q(mul), &[a(0), a(0)]),
        (TableFn::Q(mul), &[a(1), a(1)]),
        (TableFn::Q(plus), &[t(0), t(1)]),
        (TableFn::Q(sqrt), &[t(2)]),
    ];
    let whole = function("dist", 2, &steps);
    for shape in SHAPES {
        let parts: Vec<CircuitKind> =
            steps.iter().map(|(func, _)| CircuitKind::Function { func: *func, xor: true }).collect();
        // Each is computed and undone in the circuit of its function. Equal words in both factors spare some gates.
        let most: u64 = parts.iter().map(|part| gates(*part, shape).toffoli).sum();
        let joined = gates(whole, shape).toffoli;
        assert!(joined <= most && joined * 2 > most, "{joined} of {most}, {shape:?}");
        for mapping in [Mapping::Cascade, Mapping::Balanced, Mapping::Aqfp] {
            let of = |unit| mapping.unit(unit, shape).forward;
            let all: Vec<_> = parts.iter().map(|part| of(*part)).collect();
            let joined = of(whole);
            // Both squares at once.
            let one_after_the_other: u64 = all.iter().map(|n| n.levels).sum();
            assert!(joined.levels < one_after_the_other, "{mapping:?}: {} of {one_after_the_other}", joined.levels);
            if mapping == Mapping::Cascade {
                let cells: u64 = all.iter().map(|n| n.total()).sum();
                assert!(joined.total() <= cells && joined.total() * 2 > cells, "{} of {cells}", joined.total());
            }
        }
    }
    // The last one for which as much is published as for any of them.
    assert_eq!(whole.class(), TableFn::Q(sqrt).info().class);
}

/// Doubles have functions without a circuit of their own, whose gates are those of others.
#[test]
fn a_function_without_a_circuit_counts_as_those_it_is_made_of() {
    let exp = TableFn::F(pendula_isa::table::f_fn::Name::Exp);
    let shape = Shape { width: 64, frac: 32, memory: 0 };
    let twice = function("twice", 1, &[(exp, &[a(0)]), (exp, &[t(0)])]);
    let own = CircuitKind::Function { func: exp, xor: true };
    let (one, two) = (gates(own, shape), gates(twice, shape));
    assert_eq!(two.total(), 4 * one.total(), "computed and undone");
    let of = |unit| Mapping::Cascade.unit(unit, shape).forward.total();
    assert_eq!(of(twice), 2 * of(own));
    assert_eq!(twice.class(), own.class());
    assert_eq!(twice.class(), exp.info().class);
}
