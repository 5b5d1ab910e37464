//! The functions that every program knows.

use crate::core::{Binary, Builder, Compare, Op, Rhs, Test, Unary, Var, View};

/// A function of the basis.
#[derive(Clone, Debug)]
pub(super) enum Primitive {
    /// An operator.
    Op(Op),
    /// A comparison of a number with zero.
    Against(Compare),
    /// A view.
    View(View),
    /// `perturb` of the tangent.
    Tangent,
    /// A value and its perturbation.
    Bundle,
    /// The sum of two values of one shape.
    Plus,
    /// A part of a pair.
    Part(u32),
    /// A choice of two functions without parameters, applied.
    If,
}

impl Primitive {
    /// The function of a name.
    pub(super) fn of(name: &str) -> Option<Primitive> {
        let unary = |op| Some(Primitive::Op(Op::Unary(op)));
        let binary = |op| Some(Primitive::Op(Op::Binary(op)));
        let compare = |op| Some(Primitive::Op(Op::Compare(op)));
        let test = |test| Some(Primitive::Op(Op::Test(test)));
        let view = |view| Some(Primitive::View(view));
        match name {
            "+" => binary(Binary::Add),
            "-" => binary(Binary::Sub),
            "*" => binary(Binary::Mul),
            "/" => binary(Binary::Div),
            "atan" => binary(Binary::Atan2),
            "sqrt" => unary(Unary::Sqrt),
            "exp" => unary(Unary::Exp),
            "log" => unary(Unary::Log),
            "sin" => unary(Unary::Sin),
            "cos" => unary(Unary::Cos),
            "=" => compare(Compare::Eq),
            "<" => compare(Compare::Lt),
            ">" => compare(Compare::Gt),
            "<=" => compare(Compare::Le),
            ">=" => compare(Compare::Ge),
            "zero?" => Some(Primitive::Against(Compare::Eq)),
            "positive?" => Some(Primitive::Against(Compare::Gt)),
            "negative?" => Some(Primitive::Against(Compare::Lt)),
            "null?" => test(Test::Unit),
            "boolean?" => test(Test::Bool),
            "real?" => test(Test::Real),
            "pair?" => test(Test::Pair),
            "procedure?" => test(Test::Function),
            "perturbation?" => test(Test::Perturbation),
            "forward?" => test(Test::Forward),
            "sensitivity?" => test(Test::Sensitivity),
            "reverse?" => test(Test::Reverse),
            "car" => Some(Primitive::Part(0)),
            "cdr" => Some(Primitive::Part(1)),
            "if-procedure" => Some(Primitive::If),
            "read-real" => Some(Primitive::Op(Op::Read)),
            "real" => Some(Primitive::Op(Op::AsReal)),
            "write-real" | "write" => Some(Primitive::Op(Op::Write)),
            "zero" => view(View::Zero),
            "perturb" => view(View::Perturb),
            "unperturb" => view(View::Unperturb),
            "primal" => view(View::Primal),
            "tangent" => Some(Primitive::Tangent),
            "bundle" => Some(Primitive::Bundle),
            "sensitize" => view(View::Sense),
            "unsensitize" => view(View::Unsense),
            "plus" => Some(Primitive::Plus),
            "*j" => view(View::Reverse),
            "*j-inverse" => view(View::Unreverse),
            _ => None,
        }
    }

    /// How many parameters it has.
    pub(super) fn arity(&self) -> usize {
        match self {
            Primitive::Op(Op::Binary(_) | Op::Compare(_)) | Primitive::Bundle | Primitive::Plus => 2,
            Primitive::If => 3,
            Primitive::Op(_) | Primitive::Against(_) | Primitive::View(_) | Primitive::Tangent | Primitive::Part(_) => {
                1
            }
        }
    }

    /// Its value for as many arguments as it has parameters.
    pub(super) fn call(&self, b: &mut Builder<'_>, args: &[Var]) -> Var {
        match self {
            Primitive::Op(op) => b.op(op.clone(), args),
            Primitive::Against(compare) => {
                let zero = b.real(0.0);
                b.op(Op::Compare(*compare), &[args[0], zero])
            }
            Primitive::Part(index) => b.part(args[0], *index, 2),
            Primitive::View(view) => b.view(*view, args[0]),
            Primitive::Tangent => {
                let tangent = b.view(View::Tangent, args[0]);
                b.view(View::Perturb, tangent)
            }
            Primitive::Bundle => {
                let tangent = b.view(View::Unperturb, args[1]);
                b.bind("t", Rhs::Bundle(args[0], tangent))
            }
            Primitive::Plus => b.bind("t", Rhs::Plus(args[0], args[1])),
            Primitive::If => {
                let branch = |function: Var| {
                    move |b: &mut Builder<'_>| {
                        let unit = b.constant(crate::value::Value::UNIT);
                        b.apply(function, unit)
                    }
                };
                let (yes, no) = (b.block(branch(args[1])), b.block(branch(args[2])));
                b.bind("t", Rhs::If(args[0], Box::new(yes), Box::new(no)))
            }
        }
    }
}
