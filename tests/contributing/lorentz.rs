//! What `tests/contributing.rs` tries of the function that CONTRIBUTING.md adds, among the tests of `pendula-vm` in the copy.

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

const LORENTZ: TableFn = TableFn::F(f_fn::Name::Lorentz);

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
    for mnemonic in ["addlorentz.f", "sublorentz.f", "xorlorentz.f"] {
        assert_eq!(kind(mnemonic).mnemonic(), mnemonic);
        for (inst, text) in shapes(mnemonic) {
            let mut pool = Pool::default();
            let word = encode(&inst, &mut pool);
            assert_eq!(decode(word, pool.words(), &[], pendula_isa::Profile::Native), Ok(inst), "{text}");
            assert_eq!(display(&inst, 0, &NoNames), text);
            let partner = inst.inverse().kind.mnemonic();
            let wanted = mnemonic.replace("add", "-").replace("sub", "add").replace('-', "sub");
            assert_eq!(partner, wanted);
        }
    }
}

#[test]
fn it_runs_there_and_back() {
    // By another formula: the square of the cosine of the angle.
    let lorentz = |x: f64| x.atan().cos().powi(2);
    let arguments = [1.0, -1.0, 3.0, 0.1, -0.25, 1e-3, -12.25, 0.0];
    for x in arguments {
        for mnemonic in ["addlorentz.f", "xorlorentz.f"] {
            for (inst, text) in shapes(mnemonic) {
                let program = program(between([inst]));
                let mut m = machine(&program, 16);
                m.set_register(r(2), f64::to_bits(x));
                m.set_register(r(4), 6);
                m.set_register(r(5), 2);
                m.memory_mut()[11] = f64::to_bits(x);
                let before = m.digest();
                assert_eq!(m.run(None), Outcome::Finished, "{text}");
                let constant = inst.operands().find_map(|(_, o)| match o {
                    Operand::Imm(word, _) => Some(f64::from_bits(word)),
                    _ => None,
                });
                let wanted = lorentz(constant.unwrap_or(x));
                let in_memory = matches!(inst.operands().next(), Some((_, Operand::Mem { .. })));
                let found = f64::from_bits(if in_memory { m.memory()[8] } else { m.registers()[1] });
                assert!((found - wanted).abs() <= 4.0 * f64::EPSILON, "{text}: {found}, not {wanted}");
                // The destination was 0: even a double comes back exactly.
                m.begin(Direction::Backward);
                assert_eq!(m.run(None), Outcome::Finished, "{text}");
                assert_eq!(m.digest(), before, "{text}");
            }
        }
    }
    let program = program(between([inst("addlorentz.f", &[reg(1), reg(2)])]));
    let mut m = machine(&program, 16);
    m.set_register(r(2), f64::INFINITY.to_bits());
    assert!(matches!(m.run(None), Outcome::Trap(_)), "the square of infinity is not finite");
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
    let program = program(between([inst("addlorentz.f", &[reg(1), reg(2)])]));
    let [loss, x] = [1, 2].map(|n| Variable { cell: Cell::Register(r(n)), ty: Ty::F });
    let mut run = |m: &mut Machine<'_>| match m.run(None) {
        Outcome::Finished => Ok(()),
        _ => Err(Stopped),
    };
    for at in [1.0, -1.0, 3.0, 0.1, -0.25, 12.5] {
        let mut m = machine(&program, 16);
        m.set_register(r(2), f64::to_bits(at));
        let size = 1.0 + at * at;
        let near = |word: u64, wanted: f64| {
            let found = f64::from_bits(word);
            assert!((found - wanted).abs() <= 1e-14 * wanted.abs().max(0.1), "at {at}: {found}, not {wanted}");
        };
        forward(&mut m, &mut run).expect("a run forward");
        gradient(&mut m, loss, 1f64.to_bits(), &mut run).expect("a run backward");
        near(m.lane_register(1, r(2)), -2.0 * at * size.powi(-2));
        let second = (6.0 * at * at - 2.0) * size.powi(-3);
        hessian_row(&mut m, loss, 1f64.to_bits(), x, &mut run).expect("runs over dual numbers");
        near(m.lane_register(3, r(2)), second);
        hessian_row_by_reversing_twice(&mut m, loss, 1f64.to_bits(), x, &mut run).expect("a run back over that");
        near(m.lane_register(1, r(2)), second);
    }
}

#[test]
fn it_is_counted() {
    let program = program(between([inst("addlorentz.f", &[reg(1), reg(2)])]));
    let mut m = machine(&program, 16);
    assert_eq!(m.run(None), Outcome::Finished);
    let counts = m.counts();
    assert_eq!(counts.instructions(), 3);
    let classes = counts.classes(&counts.modes[0], &program.module().code);
    assert!(classes.iter().any(|(class, n)| class.key() == "float-divide" && *n == 1));
}

#[test]
fn it_stands_in_the_manual() {
    let entry = manual::find("addlorentz.f").expect("an entry");
    assert_eq!(entry.inverse.as_deref(), Some("sublorentz.f"));
    assert_eq!(entry.docs, "The Lorentz function 1/(1 + x²).");
    assert!(manual::markdown().contains("| `lorentz` | `addlorentz.f y, a` |"));
    // What the tests of `pendula-isa` compare with finite differences.
    assert_eq!(LORENTZ.info().partials, 1);
}
