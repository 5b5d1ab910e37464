//! What statements read and write, as far as conditions and erasing depend on it.

use std::collections::HashSet;

use pendula_isa::operand::OperandKind;

use crate::ir::{Condition, LocatedStmt, Mem, Operand, Place, Program, Step, Stmt, Test};

/// The effects of a block, with variables and regions by their numbers.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Variables that occur in the block.
    pub(super) mentions: HashSet<u32>,
    /// Variables that are written, begin or end.
    pub(super) writes: HashSet<u32>,
    pub(super) ends: HashSet<u32>,
    /// Regions that are read or written.
    pub(super) regions: HashSet<u32>,
    pub(super) writes_regions: HashSet<u32>,
    /// The regions and bases of arrays that begin.
    pub(super) arrays: HashSet<(u32, u32)>,
    pub(super) frees: HashSet<u32>,
    pub(super) calls: Vec<(u32, Vec<Operand>)>,
    /// What stays changed, without what is computed and undone.
    pub(super) net: Net,
    /// The number of enclosing computations that will be undone.
    undone: u32,
}

/// What a block leaves changed.
#[derive(Debug, Default)]
pub(super) struct Net {
    pub(super) writes: HashSet<u32>,
    pub(super) regions: HashSet<u32>,
    pub(super) calls: Vec<(u32, Vec<Operand>)>,
}

impl Effects {
    pub(super) fn of(program: &Program, block: &[LocatedStmt]) -> Effects {
        let mut out = Effects::default();
        out.block(program, block);
        out
    }

    pub(super) fn of_condition(program: &Program, condition: &Condition) -> Effects {
        let mut out = Effects::default();
        out.condition(program, condition);
        out
    }

    /// Whether this computation has the same result after any of the blocks, and its result may stay live during them.
    pub(super) fn is_kept_by(&self, program: &Program, blocks: &[&[LocatedStmt]]) -> bool {
        let mut other = Effects::default();
        blocks.iter().for_each(|b| other.block(program, b));
        self.mentions.is_disjoint(&other.writes)
            && self.regions.is_disjoint(&other.writes_regions)
            && (other.calls.is_empty() || (self.calls.is_empty() && self.regions.is_empty()))
            && (self.calls.is_empty() || other.writes_regions.is_empty())
            && (self.arrays.is_empty() || other.arrays.is_empty())
    }

    fn mem(&mut self, mem: &Mem) {
        self.regions.insert(mem.region.0);
        self.mentions.extend([mem.base, mem.index].into_iter().flatten().map(|v| v.0));
    }

    fn read(&mut self, operand: &Operand) {
        match operand {
            Operand::Const(_) => {}
            Operand::Var(v) => {
                self.mentions.insert(v.0);
            }
            Operand::Mem(m) => self.mem(m),
        }
    }

    fn write(&mut self, operand: &Operand) {
        self.read(operand);
        match operand {
            Operand::Const(_) => {}
            Operand::Var(v) => {
                self.writes.insert(v.0);
                if self.undone == 0 {
                    self.net.writes.insert(v.0);
                }
            }
            Operand::Mem(m) => {
                self.writes_regions.insert(m.region.0);
                if self.undone == 0 {
                    self.net.regions.insert(m.region.0);
                }
            }
        }
    }

    fn test(&mut self, test: &Test) {
        self.read(&test.a);
        self.read(&test.b);
    }

    fn condition(&mut self, program: &Program, condition: &Condition) {
        self.computed(program, &condition.compute);
        self.test(&condition.test);
    }

    fn computed(&mut self, program: &Program, block: &[LocatedStmt]) {
        self.undone += 1;
        self.block(program, block);
        self.undone -= 1;
    }

    fn block(&mut self, program: &Program, block: &[LocatedStmt]) {
        block.iter().for_each(|s| self.stmt(program, &s.stmt));
    }

    fn stmt(&mut self, program: &Program, stmt: &Stmt) {
        match stmt {
            Stmt::Update { dst, args, acc: _, inverse: _, func: _ } => {
                args.iter().for_each(|a| self.read(a));
                match dst {
                    Place::Var(v) => self.write(&Operand::Var(*v)),
                    Place::Mem(m) => self.write(&Operand::Mem(*m)),
                }
            }
            Stmt::Permute { row, args, inverse: _, ty: _ } => {
                let mut kinds = row.info().operands.iter();
                for arg in args {
                    match kinds.next() {
                        Some(OperandKind::Target | OperandKind::TargetOrMemory | OperandKind::Memory) => {
                            self.write(arg);
                        }
                        Some(
                            OperandKind::Source
                            | OperandKind::Amount
                            | OperandKind::Constant
                            | OperandKind::Value
                            | OperandKind::Small
                            | OperandKind::Tolerance
                            | OperandKind::Factor
                            | OperandKind::Label
                            | OperandKind::Text,
                        )
                        | None => self.read(arg),
                    }
                }
            }
            Stmt::Ancilla { var, free, checks: _ } => {
                self.write(&Operand::Var(*var));
                if *free {
                    self.ends.insert(var.0);
                }
            }
            Stmt::Array { base, len, region, free, ty: _, checks: _ } => {
                self.write(&Operand::Var(*base));
                self.read(len);
                self.regions.insert(region.0);
                self.writes_regions.insert(region.0);
                if *free {
                    self.frees.insert(region.0);
                } else {
                    self.arrays.insert((region.0, base.0));
                }
            }
            Stmt::Call { func, args, inverse: _ } => {
                let params = program.functions.get(func.0 as usize).map_or(&[][..], |f| &f.params);
                for (n, arg) in args.iter().enumerate() {
                    if params.get(n).is_none_or(|p| p.written) { self.write(arg) } else { self.read(arg) }
                }
                if self.undone == 0 {
                    self.net.calls.push((func.0, args.clone()));
                }
                self.calls.push((func.0, args.clone()));
            }
            Stmt::If { pre, post, then, otherwise } => {
                self.condition(program, pre);
                self.condition(program, post);
                self.block(program, then);
                self.block(program, otherwise);
            }
            Stmt::While { pre, post, first, body } => {
                self.condition(program, pre);
                self.condition(program, post);
                self.block(program, first);
                self.block(program, body);
            }
            Stmt::For { var, first, last, step, body, .. } => {
                self.write(&Operand::Var(*var));
                self.ends.insert(var.0);
                self.read(first);
                self.read(last);
                match step {
                    Step::Const(_) => {}
                    Step::Var { var, negated: _ } => self.read(&Operand::Var(*var)),
                }
                self.block(program, body);
            }
            Stmt::With { compute, body, name: _ } => {
                self.computed(program, compute);
                self.block(program, body);
            }
            Stmt::Span { body, name: _, undo: _ } => self.block(program, body),
            Stmt::Assert { test, why: _, reason: _ } => self.test(test),
            Stmt::Show { value, ty: _ } => self.read(value),
            Stmt::Print(_) => {}
        }
    }
}
