//! The native instructions for each PISA instruction: operations, registers and additional checks.

use std::collections::{BTreeMap, BTreeSet};

use pendula_isa::inst::Kind;
use pendula_isa::operand::Slot;
use pendula_isa::table::Row;
use pendula_isa::types::{Cond, Reg};
use pendula_isa::verify::is_row;
use pendula_isa::{Inst, OperandError};

use super::flow::Routine;
use super::problem;
use super::shape::{Code, Shape, Test};

/// A native instruction, or a few.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op {
    /// The counterpart of the PISA instruction, with its registers renamed.
    Inst(Inst),
    /// Exchanges a register with the cell whose address is in another register, with these checks.
    Exch(Reg, Reg, Checks),
    /// A check, which is its own inverse.
    Check(String),
    /// A call of the procedure with this entry. If the PISA program could observe the link, a register holds it: this
    /// distance.
    Call { entry: u32, back: bool, link: Option<(Reg, i32)> },
    /// A call of the procedure whose distance from the instruction at this address is in a register.
    Swap { reg: Reg, link: Reg, at: u32, back: bool },
    /// A `jmp` from one branch to another.
    Jump { to: u32, test: Test },
    /// A `from` at one branch, which another branch jumps to.
    Land { from: u32, test: Test },
    /// The start of the run.
    Start,
    /// The end of the run.
    Finish,
}

/// The checks of an exchange with a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Checks {
    /// That the address is one where a cell may be.
    pub(super) address: bool,
    /// Before the exchange, that the word is a valid PISA word: running backward, it comes from the cell.
    pub(super) before: bool,
    /// The same after the exchange.
    pub(super) after: bool,
}

/// The translation of a PISA instruction.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) at: u32,
    pub(super) ops: Vec<Op>,
}

/// The native registers of PISA's registers.
pub(super) struct Registers {
    native: BTreeMap<u8, Reg>,
    /// The register for the address of a procedure that is called by its distance.
    pub(super) callee: Option<Reg>,
}

impl Registers {
    /// Assigns a native register to each PISA register in use; `written` are those that are written. `callee` requests
    /// one more.
    pub(super) fn assign(used: &BTreeSet<u8>, written: &BTreeSet<u8>, callee: bool) -> Result<Registers, String> {
        // If `$0` is never written it is zero, like `r0`.
        let constant = |r: u8| r == 0 && !written.contains(&0);
        let plain = |r: u8| r != 0 && r != Reg::SP.number();
        let taken: BTreeSet<u8> = used.iter().copied().filter(|r| plain(*r)).collect();
        let mut free = (1..Reg::SP.number()).rev().filter(|r| !taken.contains(r)).filter_map(Reg::new);
        let mut native = BTreeMap::new();
        let count = used.iter().filter(|r| !constant(**r)).count();
        let refused = || problem::registers(count, usize::from(Reg::SP.number()) - 1 - usize::from(callee), callee);
        for &r in used {
            let reg = match r {
                r if constant(r) => Reg::ZERO,
                r if plain(r) => Reg::new(r).unwrap_or_default(),
                _ => free.next().ok_or_else(refused)?,
            };
            native.insert(r, reg);
        }
        let callee = if callee { Some(free.next().ok_or_else(refused)?) } else { None };
        Ok(Registers { native, callee })
    }

    pub(super) fn of(&self, reg: Reg) -> Reg {
        self.native.get(&reg.number()).copied().unwrap_or(reg)
    }

    /// The registers whose numbers differ from those in PISA.
    pub(super) fn renamed(&self) -> impl Iterator<Item = (u8, Reg)> + '_ {
        self.native.iter().filter(|(n, r)| **n != r.number()).map(|(n, r)| (*n, *r))
    }
}

/// The registers that a PISA instruction names, each with whether the instruction writes it.
pub(super) fn registers(inst: &Inst) -> impl Iterator<Item = (Reg, bool)> + '_ {
    let nothing = Code::is_nothing(inst);
    let slots = inst.kind.layout().into_iter().filter(move |_| !nothing);
    slots.flat_map(move |slot| slot.register_fields().map(move |f| (inst.regs[usize::from(f)], slot.is_written())))
}

/// How checks of cells recognize cells of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Only addresses below this one are cells of instructions.
    From(u32),
    /// Data is mixed with the instructions, whose cells hold a word that is not a PISA word.
    Marked,
}

/// The context of the translation of all routines.
pub(super) struct NativeTarget<'a> {
    pub(super) code: &'a Code<'a>,
    pub(super) registers: &'a Registers,
    /// The registers of links that are kept as in PISA, which are those of the `SWAPBR`s at the entries of procedures.
    pub(super) links: &'a BTreeMap<u32, Option<Reg>>,
    /// The register in which procedures that are called by their distance keep their links.
    pub(super) computed: Option<Reg>,
    pub(super) guard: Guard,
    /// Whether there are procedures, whose links lie after the cells.
    pub(super) stack: bool,
}

impl NativeTarget<'_> {
    /// The instructions of a routine, in the order in which they are written.
    pub(super) fn unit(&self, unit: &Routine) -> Result<Vec<Item>, OperandError> {
        let mut items = Vec::new();
        let end = unit.ends.first().copied();
        let last = unit.order().last().map(|(at, _)| at);
        for (at, node) in unit.order() {
            let mut ops = Vec::new();
            match self.code.shape(at) {
                Ok(Shape::Finish) if Some(at) == last => {
                    if node.landed {
                        let from = self.ending(unit).unwrap_or(at);
                        ops.push(Op::Land { from, test: Test::of_always() });
                    }
                    ops.push(Op::Finish);
                }
                Ok(Shape::Finish) => {
                    if node.falls {
                        ops.push(Op::Jump { to: at, test: Test::of_always() });
                    }
                }
                Ok(Shape::Pair(to)) => {
                    let test = self.test(at);
                    if node.jumps {
                        ops.push(Op::Jump { to, test });
                    }
                    if node.landed {
                        ops.push(Op::Land { from: to, test });
                    }
                }
                Ok(Shape::End(to)) => ops.push(Op::Jump { to, test: Test::of_always() }),
                // A stretch with a `SHOW` becomes a procedure that is uncalled: output is produced in forward direction
                // only.
                Ok(Shape::Reversed(to)) if shows(self.code, at, to) => {
                    ops.push(Op::Call { entry: at, back: true, link: None })
                }
                Ok(Shape::Reversed(to)) => {
                    for inner in (at + 1..to).rev() {
                        let forward = self.straight(inner)?;
                        ops.extend(forward.into_iter().rev().map(inverse));
                    }
                }
                Ok(Shape::Call { .. }) if !self.test(at).is_always() => {
                    let test = Test { cond: self.test(at).cond.negated(), ..self.test(at) };
                    ops.push(Op::Jump { to: at, test });
                    ops.extend(self.straight(at)?);
                    ops.push(Op::Land { from: at, test });
                }
                _ => ops.extend(self.straight(at)?),
            }
            items.push(Item { at, ops });
        }
        // The end of the run is written last.
        if unit.main
            && let Some(end) = end
            && Some(end) != last
        {
            let from = self.ending(unit).unwrap_or(end);
            let land = Op::Land { from, test: Test::of_always() };
            items.push(Item { at: end, ops: vec![land, Op::Finish] });
        }
        remove_empty_jumps(&mut items);
        if unit.main {
            insert_start(&mut items, |at| self.code.shape(at) == Ok(Shape::Start));
        }
        self.guard(&mut items);
        Ok(items)
    }

    /// The branch that jumps to the end of the run, if there is one.
    fn ending(&self, unit: &Routine) -> Option<u32> {
        unit.nodes.keys().copied().find(|at| matches!(self.code.shape(*at), Ok(Shape::End(_))))
    }

    fn test(&self, at: u32) -> Test {
        let test = self.code.test(at);
        Test { a: self.registers.of(test.a), b: test.b.map(|b| self.registers.of(b)), ..test }
    }

    /// The translation of an instruction that control falls through.
    fn straight(&self, at: u32) -> Result<Vec<Op>, OperandError> {
        let Some(inst) = self.code.get(at) else { return Ok(Vec::new()) };
        Ok(match self.code.shape(at) {
            Ok(Shape::Call { entry, back }) => {
                let link = self.links.get(&entry).copied().flatten().map(|r| self.registers.of(r));
                let distance = entry.cast_signed().wrapping_sub(at.cast_signed());
                vec![Op::Call { entry, back, link: link.map(|r| (r, distance)) }]
            }
            Ok(Shape::Swap(reg)) => {
                let link = self.computed.map(|r| self.registers.of(r)).unwrap_or_default();
                vec![Op::Swap { reg: self.registers.of(reg), link, at, back: false }]
            }
            Ok(Shape::Straight) if Code::is_nothing(inst) || self.negates_link(at, inst) => Vec::new(),
            Ok(Shape::Straight) if is_row(inst, Row::Exch32, false) => {
                let [d, s, ..] = inst.regs;
                vec![Op::Exch(self.registers.of(d), self.registers.of(s), Checks::default())]
            }
            Ok(Shape::Straight) => {
                let mut native = *inst;
                for field in inst.kind.layout().into_iter().flat_map(Slot::register_fields) {
                    let field = usize::from(field);
                    native.regs[field] = self.registers.of(inst.regs[field]);
                }
                let mut ops = vec![Op::Inst(native)];
                if matches!(inst.kind, Kind::Row { row: Row::Read, .. }) {
                    // The words of the tape may have more than 32 bits.
                    let read = native.regs[0];
                    ops.push(Op::Check(format!("assert.ge {read}, -0x80000000")));
                    ops.push(Op::Check(format!("assert.lt {read}, 0x80000000")));
                }
                ops
            }
            _ => Vec::new(),
        })
    }

    /// Whether an instruction negates a link that is not kept.
    fn negates_link(&self, at: u32, inst: &Inst) -> bool {
        let entry = at.checked_sub(1).filter(|entry| self.links.get(entry) == Some(&None));
        let link = entry.and_then(|entry| self.code.get(entry)).map(|swap| swap.regs[0]);
        is_row(inst, Row::Neg32, false) && link == Some(inst.regs[0])
    }

    /// Adds the checks of exchanges with cells. If a register holds the same address throughout a stretch of straight
    /// code, the address is checked once per direction.
    fn guard(&self, items: &mut [Item]) {
        // The first and the last exchange of each such stretch.
        let mut groups: Vec<[(usize, usize); 2]> = Vec::new();
        let mut open: BTreeMap<Reg, usize> = BTreeMap::new();
        for (n, item) in items.iter().enumerate() {
            for (k, op) in item.ops.iter().enumerate() {
                match op {
                    Op::Exch(d, s, _) => {
                        let group = *open.entry(*s).or_insert_with(|| {
                            groups.push([(n, k); 2]);
                            groups.len() - 1
                        });
                        groups[group][1] = (n, k);
                        open.remove(d);
                    }
                    Op::Inst(inst) => {
                        for (reg, written) in registers(inst) {
                            if written {
                                open.remove(&reg);
                            }
                        }
                    }
                    Op::Check(_) => {}
                    Op::Call { .. } | Op::Swap { .. } | Op::Jump { .. } | Op::Land { .. } | Op::Start | Op::Finish => {
                        open.clear();
                    }
                }
            }
        }
        let marked = self.guard == Guard::Marked;
        let bounded = self.stack || matches!(self.guard, Guard::From(code) if code > 0);
        for [first, last] in groups {
            let mut at = |(n, k): (usize, usize), change: fn(&mut Checks)| {
                if let Some(Op::Exch(_, _, checks)) = items.get_mut(n).and_then(|i: &mut Item| i.ops.get_mut(k)) {
                    change(checks);
                }
            };
            if bounded {
                at(first, |c| c.address = true);
            }
            if marked {
                at(first, |c| c.after = true);
                at(last, |c| c.before = true);
            }
        }
    }
}

impl Test {
    /// The test that always holds.
    pub(super) const fn of_always() -> Test {
        Test { cond: Cond::Always, a: Reg::ZERO, b: None, k: 0 }
    }
}

/// Whether there is a `SHOW` between two addresses.
fn shows(code: &Code<'_>, at: u32, to: u32) -> bool {
    let shows = |i: &Inst| matches!(i.kind, Kind::Row { row: Row::Show, .. });
    (at + 1..to).any(|inner| code.get(inner).is_some_and(shows))
}

/// The reversed stretches of a routine that contain a `SHOW`. They become procedures that are uncalled: the `SHOW`
/// prints when the run, or the caller of the routine, goes backward.
pub(super) fn uncalled_stretches(code: &Code<'_>, unit: &Routine) -> impl Iterator<Item = (u32, u32)> {
    unit.reversed.iter().map(|(at, to)| (*at, *to)).filter(|(at, to)| shows(code, *at, *to))
}

/// The inverse of straight code or a call.
fn inverse(op: Op) -> Op {
    match op {
        Op::Inst(inst) => Op::Inst(inst.inverse()),
        Op::Call { entry, back, link } => Op::Call { entry, back: !back, link },
        Op::Swap { reg, link, at, back } => Op::Swap { reg, link, at, back: !back },
        op => op,
    }
}

/// Removes jumps to the next instruction.
fn remove_empty_jumps(items: &mut [Item]) {
    let mut before: Option<usize> = None;
    for n in 0..items.len() {
        if items[n].ops.is_empty() {
            continue;
        }
        if let Some(before) = before
            && let (Some(Op::Jump { to, test: jump }), Some(Op::Land { from, test: land })) =
                (items[before].ops.last(), items[n].ops.first())
            && jump.is_always()
            && land.is_always()
            && *to == items[n].at
            && *from == items[before].at
        {
            items[before].ops.pop();
            items[n].ops.remove(0);
        }
        if !items[n].ops.is_empty() {
            before = Some(n);
        }
    }
}

/// Inserts the start of the run before the first instruction, or at `START` if nothing comes before it.
fn insert_start(items: &mut [Item], is_start: impl Fn(u32) -> bool) {
    let first = items.iter().position(|i| !i.ops.is_empty()).unwrap_or(0);
    let at = items.iter().take(first + 1).position(|i| is_start(i.at)).unwrap_or(first);
    if let Some(item) = items.get_mut(at) {
        item.ops.insert(0, Op::Start);
    }
}
