//! One accumulate in one effective direction: the locations of its operands, and sample points.

use pendula_isa::Env;
use pendula_isa::adjoint::{LANES, VALUE};
use pendula_isa::counts::Direction;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::{Operand, Shape, Slot};
use pendula_isa::sample::Source;
use pendula_isa::scalar;
use pendula_isa::table::TableFn;
use pendula_isa::types::{Acc, Ty};
use pendula_vm::Machine;
use pendula_vm::gradient::Cell;

use super::closed_forms::point;
use super::{MEMORY, addresses, nearest, real, signed, uniform};
use crate::common::{between, machine, mem, program, r, reg};

/// The differentiable functions with a property of their types.
pub(super) fn functions(wanted: impl Fn(Ty, Ty) -> bool) -> Vec<TableFn> {
    let all = TableFn::ALL.iter().copied().filter(|f| f.info().partials > 0);
    all.filter(|f| wanted(f.info().ty, f.info().from)).collect()
}

/// An accumulate of one shape, with fixed registers, in one effective direction.
pub(super) struct Site {
    pub(super) func: TableFn,
    pub(super) inst: Inst,
    /// The location of each operand, the destination first; `None` for constants.
    pub(super) cells: Vec<Option<Cell>>,
    /// The direction of the run.
    pub(super) direction: Direction,
    /// Whether the function is effectively subtracted.
    pub(super) minus: bool,
}

/// The type of an argument.
pub(super) fn argument(func: TableFn, n: usize) -> Ty {
    func.info().args[n].ty
}

impl Site {
    fn new(func: TableFn, shape: Shape, twice: bool, constant: u64, s: &mut Source) -> Site {
        let acc = if func.info().ty == Ty::L { Acc::Mul } else { Acc::Add };
        let (inverse, direction) = (s.once_in(2), s.pick(&[Direction::Forward, Direction::Backward]));
        let family = Kind::Accumulate { acc, inverse, func, shape };
        let (mut operands, mut cells) = (Vec::new(), Vec::new());
        let mut next = 5;
        for (n, slot) in shape.layout().into_iter().enumerate() {
            let (operand, cell) = match slot {
                Slot::None => continue,
                Slot::Target(_) => (reg(1), Some(Cell::Register(r(1)))),
                Slot::Reg(_) => {
                    let number = next;
                    next += u8::from(!twice);
                    (reg(number), Some(Cell::Register(r(number))))
                }
                Slot::Mem(_) | Slot::TargetMem(_) => (mem(8, 9, 5), Some(Cell::Word(12))),
                Slot::MemPlain(_) | Slot::TargetMemPlain(_) => (mem(8, 9, 0), Some(Cell::Word(7))),
                Slot::Imm => (Operand::Imm(constant, family.constant_type(n)), None),
                other => panic!("{shape:?} has {other:?}"),
            };
            operands.push(operand);
            cells.push(cell);
        }
        let inst = Inst::build(family, &operands).unwrap_or_else(|e| panic!("{family:?} {operands:?}: {e}"));
        assert!(matches!(inst.kind, Kind::Accumulate { shape: built, .. } if built == shape), "{inst:?}");
        let minus = inverse != (direction == Direction::Backward);
        Site { func, inst, cells, direction, minus }
    }

    /// The argument that is a constant.
    fn constant(&self) -> Option<usize> {
        self.cells[1..].iter().position(Option::is_none)
    }

    /// Writes an operand in a lane.
    pub(super) fn put(&self, m: &mut Machine, lane: usize, n: usize, word: u64) {
        if let Some(cell) = self.cells[n] {
            m.put(lane, cell, word);
        }
    }

    pub(super) fn get(&self, m: &Machine, lane: usize, n: usize) -> u64 {
        self.cells[n].map_or(0, |cell| m.get(lane, cell))
    }

    /// The distinct words among the differentiable arguments: the first argument in each word, with all arguments in it.
    pub(super) fn words(&self) -> Vec<(usize, Vec<usize>)> {
        let mut out: Vec<(usize, Vec<usize>)> = Vec::new();
        for n in 0..self.func.info().partials {
            if self.cells[n + 1].is_some() {
                match out.iter_mut().find(|(m, _)| self.cells[m + 1] == self.cells[n + 1]) {
                    Some((_, all)) => all.push(n),
                    None => out.push((n, vec![n])),
                }
            }
        }
        out
    }
}

/// The shapes of a function, each with all registers different and, where there are two, with one register for all arguments
/// (if they are of one type).
pub(super) fn shapes(func: TableFn) -> Vec<(Shape, bool)> {
    let args = func.info().args;
    let mut out = Vec::new();
    for shape in Shape::ALL.into_iter().filter(|shape| shape.arity() == args.len()) {
        out.push((shape, false));
        let registers = shape.layout().iter().filter(|slot| matches!(slot, Slot::Reg(_))).count();
        if registers > 1 && args.iter().all(|a| a.ty == args[0].ty) {
            out.push((shape, true));
        }
    }
    out
}

/// Values for the operands of a site at which its function is smooth: words, and the numbers that they stand for.
pub(super) struct Values {
    pub(super) words: [u64; 3],
    pub(super) numbers: [f64; 3],
    /// The function's value.
    pub(super) y: f64,
}

/// A point for a function; all arguments are equal if `twice`, and `constant` fixes one of them.
pub(super) fn values(env: Env, func: TableFn, twice: bool, constant: Option<(usize, u64)>, s: &mut Source) -> Values {
    loop {
        let mut x = point(func, s);
        if twice {
            x = [if func.info().name == "pow" { uniform(s, 0.25, 3.0) } else { x[1] }; 3];
        }
        let mut words = [0; 3];
        for n in 0..func.info().args.len() {
            words[n] = nearest(env, argument(func, n), x[n]);
        }
        if let Some((n, word)) = constant {
            words[n] = word;
        }
        let mut numbers = [0.0; 3];
        for n in 0..func.info().args.len() {
            numbers[n] = real(env, argument(func, n), words[n]);
        }
        let Ok(y) = scalar::value(env, func, words) else { continue };
        let y = real(env, func.info().ty, y);
        if (func.info().ty != Ty::L || y.abs() > 0.1) && y.abs() < 1e4 {
            return Values { words, numbers, y };
        }
    }
}

/// Points that share a constant operand.
const PER_CONSTANT: usize = 25;

/// Calls a test for every shape of a function at many points, with a machine that holds the point's values, the destination's included.
pub(super) fn at_points(
    env: Env,
    func: TableFn,
    points: usize,
    seed: u64,
    mut test: impl FnMut(&mut Machine, &Site, &Values, &mut Source),
) {
    for (shape, twice) in shapes(func) {
        // The only function without a derivative where its arguments are the same: the logarithm of x − x.
        if twice && func.info().ty == Ty::L && func.info().name == "minus" {
            continue;
        }
        let mut s = Source::seeded(seed ^ (shape as u64) << 32 ^ u64::from(twice) << 40);
        for _ in 0..points / PER_CONSTANT {
            let fixed_words = values(env, func, twice, None, &mut s).words;
            let constant = Site::new(func, shape, twice, fixed_words[0], &mut s).constant();
            let constant = constant.map(|n| (n, fixed_words[n]));
            let site = Site::new(func, shape, twice, constant.map_or(0, |(_, w)| w), &mut s);
            let mut module = between([site.inst]);
            module.flags.format = env.format;
            let program = program(module);
            let mut m = machine(&program, MEMORY);
            for _ in 0..PER_CONSTANT {
                let v = values(env, func, twice, constant, &mut s);
                (1..LANES).for_each(|lane| m.clear_lane(lane));
                addresses(&mut m);
                let y = nearest(env, func.info().ty, signed(&mut s, 0.5, 4.0));
                site.put(&mut m, VALUE, 0, y);
                for n in 0..v.words.len().min(func.info().args.len()) {
                    site.put(&mut m, VALUE, n + 1, v.words[n]);
                }
                test(&mut m, &site, &v, &mut s);
            }
        }
    }
}

pub(super) fn name(func: TableFn) -> String {
    let info = func.info();
    let from = if info.from == info.ty { "" } else { info.from.source_suffix() };
    format!("{}{}{from}", info.name, info.ty.suffix())
}
