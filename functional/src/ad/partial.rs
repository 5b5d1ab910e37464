//! The partial derivatives of functions of reals, as code. They are those of the table's rows, by a calculus that writes code; only the few
//! functions that the table does not have are differentiated here.

use pendula_isa::calculus::{Calculus, Constant};
use pendula_isa::table::f_fn::Name;
use pendula_isa::table::{ARITY, Function, FunctionVisitor, TableFn};
use pendula_isa::{Env, Ty};

use crate::core::{Binary, Builder, Compare, Op, Rhs, Unary, Var};
use crate::errors::{Failure, NO_DERIVATIVE};

/// A partial derivative.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partial {
    Zero,
    One,
    Minus,
    Is(Var),
}

/// The derivative of z = op(x), in terms of x and z.
pub(super) fn of_unary(b: &mut Builder<'_>, op: Unary, x: Var, z: Var) -> Result<Partial, Failure> {
    match (row(op.name()), op) {
        (Some(row), _) => of_row(b, row, 0, [x; ARITY], z),
        (None, Unary::Neg) => Ok(Partial::Minus),
        (None, Unary::Ceil | Unary::Round | Unary::Trunc) => Ok(Partial::Zero),
        (None, other) => Err(none(other.name())),
    }
}

/// The partial derivatives of z = op(x, y), each made only if it is wanted.
pub(super) fn of_binary(
    b: &mut Builder<'_>,
    op: Binary,
    (x, y, z): (Var, Var, Var),
    wanted: [bool; 2],
) -> Result<[Partial; 2], Failure> {
    let row = row(table_name(op));
    let mut partials = [Partial::Zero; 2];
    for n in (0..2).filter(|n| wanted[*n]) {
        partials[n] = match (row, op, n) {
            (Some(row), ..) => of_row(b, row, n, [x, y, y], z)?,
            (None, Binary::Rem, 0) => Partial::One,
            (None, Binary::Rem, _) => {
                let ratio = b.op(Op::Binary(Binary::Div), &[x, y]);
                let whole = b.op(Op::Unary(Unary::Trunc), &[ratio]);
                Partial::Is(b.op(Op::Unary(Unary::Neg), &[whole]))
            }
            (None, other, _) => return Err(none(other.name())),
        };
    }
    Ok(partials)
}

fn none(name: &str) -> Failure {
    Failure::new(NO_DERIVATIVE, format!("`{name}` has no derivative"))
}

/// What the core computes a row of the table by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Unary(Unary),
    Binary(Binary),
    Same,
    Reciprocal,
    MultiplyAdd,
}

/// The name that the table has for a function of two numbers; the core writes arithmetic with signs.
const fn table_name(op: Binary) -> &'static str {
    match op {
        Binary::Add => "plus",
        Binary::Sub => "minus",
        Binary::Mul => "mul",
        Binary::Div => "div",
        other => other.name(),
    }
}

/// How the core computes a row: as its function of the same name, or, for what it has none of, by others. `None` if it cannot.
fn code(row: Name) -> Option<Code> {
    let name = TableFn::F(row).info().name;
    let unary = || Unary::ALL.iter().find(|op| op.name() == name).map(|op| Code::Unary(*op));
    let binary = || Binary::ALL.iter().find(|op| table_name(**op) == name).map(|op| Code::Binary(*op));
    match row {
        Name::Id => Some(Code::Same),
        Name::Inv => Some(Code::Reciprocal),
        Name::Muladd => Some(Code::MultiplyAdd),
        _ => unary().or_else(binary),
    }
}

/// The row of the table with a name.
fn row(name: &str) -> Option<TableFn> {
    TableFn::ALL.iter().copied().find(|f| matches!(f, TableFn::F(_)) && f.info().name == name)
}

/// The partial derivative of a row with respect to argument `n`.
fn of_row(b: &mut Builder<'_>, row: TableFn, n: usize, x: [Var; ARITY], z: Var) -> Result<Partial, Failure> {
    if n >= row.info().partials {
        return Ok(Partial::Zero);
    }
    let derivative = row.visit(Derivative { writer: &mut Writer(b), n, x: x.map(Number::Is), z: Number::Is(z) })?;
    Ok(match derivative {
        Number::Known(0.0) => Partial::Zero,
        Number::Known(1.0) => Partial::One,
        Number::Known(-1.0) => Partial::Minus,
        Number::Known(c) => Partial::Is(b.real(c)),
        Number::Is(var) => Partial::Is(var),
    })
}

/// A number: one that is known as the code is written, or a variable.
#[derive(Clone, Copy, Debug)]
enum Number {
    Known(f64),
    Is(Var),
}

/// The calculus that writes code.
struct Writer<'a, 'b>(&'a mut Builder<'b>);

struct Derivative<'w, 'a, 'b> {
    writer: &'w mut Writer<'a, 'b>,
    n: usize,
    x: [Number; ARITY],
    z: Number,
}

impl FunctionVisitor for Derivative<'_, '_, '_> {
    type Out = Result<Number, Failure>;

    fn visit<F: Function>(self) -> Result<Number, Failure> {
        F::partial(self.writer, self.n, self.x, self.z)
    }
}

impl Writer<'_, '_> {
    fn var(&mut self, number: Number) -> Var {
        match number {
            Number::Known(c) => self.0.real(c),
            Number::Is(var) => var,
        }
    }

    fn unary(&mut self, op: Unary, x: Number) -> Number {
        match x {
            Number::Known(c) => Number::Known(op.of(c)),
            Number::Is(x) => Number::Is(self.0.op(Op::Unary(op), &[x])),
        }
    }

    fn binary(&mut self, op: Binary, x: Number, y: Number) -> Number {
        match (op, x, y) {
            (_, Number::Known(x), Number::Known(y)) => Number::Known(op.of(x, y)),
            (Binary::Mul, Number::Known(1.0), y) => y,
            (Binary::Mul, Number::Known(-1.0), y) => self.unary(Unary::Neg, y),
            _ => {
                let (x, y) = (self.var(x), self.var(y));
                Number::Is(self.0.op(Op::Binary(op), &[x, y]))
            }
        }
    }

    /// a·b + c. The core has no operation that rounds once.
    fn multiply_add(&mut self, [a, b, c]: [Number; ARITY]) -> Number {
        if let Number::Known(-1.0) = a {
            return self.binary(Binary::Sub, c, b);
        }
        let product = self.binary(Binary::Mul, a, b);
        self.binary(Binary::Add, product, c)
    }

    fn row(&mut self, row: TableFn, x: [Number; ARITY]) -> Result<Number, Failure> {
        let name = match row {
            TableFn::F(name) => name,
            TableFn::Int(_) | TableFn::Q(_) | TableFn::L(_) => return Err(unwritten(row)),
        };
        Ok(match code(name).ok_or_else(|| unwritten(row))? {
            Code::Unary(op) => self.unary(op, x[0]),
            Code::Binary(op) => self.binary(op, x[0], x[1]),
            Code::Same => x[0],
            Code::Reciprocal => self.binary(Binary::Div, Number::Known(1.0), x[0]),
            Code::MultiplyAdd => self.multiply_add(x),
        })
    }
}

fn unwritten(row: TableFn) -> Failure {
    Failure::new(NO_DERIVATIVE, format!("internal error: `{}` in a derivative", row.info().name))
}

impl Calculus for Writer<'_, '_> {
    type V = Number;
    type Stop = Failure;

    fn apply<F: Function>(&mut self, x: [Number; ARITY]) -> Result<Number, Failure> {
        self.row(F::INFO.func, x)
    }

    fn constant(&mut self, ty: Ty, c: Constant) -> Number {
        // An integer is the order of a polygamma function, which the core takes as a real.
        let word = c.word(Env::default(), ty);
        Number::Known(if ty == Ty::F { f64::from_bits(word) } else { word.cast_signed() as f64 })
    }

    fn offset(&mut self, n: Number, k: i64) -> Number {
        self.binary(Binary::Add, n, Number::Known(k as f64))
    }

    fn if_le(&mut self, _: Ty, a: Number, b: Number, then: Number, other: Number) -> Result<Number, Failure> {
        if let (Number::Known(a), Number::Known(b)) = (a, b) {
            return Ok(if a <= b { then } else { other });
        }
        let (a, b) = (self.var(a), self.var(b));
        let below = self.0.op(Op::Compare(Compare::Le), &[a, b]);
        let yes = self.0.block(|b| Writer(b).var(then));
        let no = self.0.block(|b| Writer(b).var(other));
        Ok(Number::Is(self.0.bind("d", Rhs::If(below, Box::new(yes), Box::new(no)))))
    }
}
