//! A small interpreter of the representation, for comparison: integers and fixed
//! point, what is undone by `invert::block`.

use pendula_compiler::ir::*;
use pendula_isa::num::Env;
use pendula_isa::scalar;
use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Acc, Cond};

pub struct Interp<'p> {
    pub program: &'p Program,
    pub memory: Vec<u64>,
    pub top: usize,
    pub steps: u64,
}

type Done = Result<(), String>;

impl Interp<'_> {
    pub fn call(&mut self, func: FunctionId, inverse: bool, args: &mut [u64]) -> Done {
        let f = &self.program.functions[func.0 as usize];
        let mut frame = vec![0; f.vars.len()];
        let before = args.to_vec();
        for (p, a) in f.params.iter().zip(&*args) {
            frame[p.var.0 as usize] = *a;
        }
        let body = if inverse { invert::block(&f.body) } else { f.body.clone() };
        self.block(&body, &mut frame)?;
        for ((p, a), b) in f.params.iter().zip(&mut *args).zip(before) {
            *a = std::mem::take(&mut frame[p.var.0 as usize]);
            if !p.written && *a != b {
                return Err("an unwritten parameter is written".into());
            }
        }
        if frame.iter().any(|w| *w != 0) { Err(format!("{} leaves variables", f.name)) } else { Ok(()) }
    }

    fn address(&self, m: &Mem, frame: &[u64]) -> usize {
        let get = |v: Option<Var>| v.map_or(0, |v| frame[v.0 as usize]);
        get(m.base).wrapping_add(get(m.index)).wrapping_add(m.offset.cast_unsigned()) as usize
    }

    fn get(&self, o: &Operand, frame: &[u64]) -> Result<u64, String> {
        match o {
            Operand::Const(c) => Ok(*c),
            Operand::Var(v) => Ok(frame[v.0 as usize]),
            Operand::Mem(m) => self.memory.get(self.address(m, frame)).copied().ok_or("address".into()),
        }
    }

    fn set(&mut self, o: &Operand, word: u64, frame: &mut [u64]) -> Done {
        match o {
            Operand::Const(_) => return Err("a constant is set".into()),
            Operand::Var(v) => frame[v.0 as usize] = word,
            Operand::Mem(m) => {
                let at = self.address(m, frame);
                *self.memory.get_mut(at).ok_or("address")? = word;
            }
        }
        Ok(())
    }

    fn holds(&self, t: &Test, frame: &[u64]) -> Result<bool, String> {
        let (a, b) = (self.get(&t.a, frame)?.cast_signed(), self.get(&t.b, frame)?.cast_signed());
        Ok(match t.cond {
            Cond::Ltu => a.cast_unsigned() < b.cast_unsigned(),
            Cond::Geu => a.cast_unsigned() >= b.cast_unsigned(),
            other => other.holds(Some(a.cmp(&b))),
        })
    }

    fn decide(&mut self, c: &Condition, frame: &mut [u64]) -> Result<bool, String> {
        self.block(&c.compute, frame)?;
        let holds = self.holds(&c.test, frame)?;
        self.block(&invert::block(&c.compute), frame)?;
        Ok(holds)
    }

    pub fn block(&mut self, block: &[LocatedStmt], frame: &mut [u64]) -> Done {
        for at in block {
            self.steps += 1;
            if self.steps > 300_000 {
                return Err("too long".into());
            }
            self.stmt(&at.stmt, frame)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt, frame: &mut [u64]) -> Done {
        match stmt {
            Stmt::Update { acc, inverse, func, dst, args } => {
                self.update((*acc, *inverse, *func), (*dst).into(), args, frame)
            }
            Stmt::Permute { row, inverse, ty: _, args } => self.permute(*row, *inverse, args, frame),
            Stmt::Ancilla { var, .. } => {
                if frame[var.0 as usize] == 0 {
                    Ok(())
                } else {
                    Err("an ancilla is not zero".into())
                }
            }
            Stmt::Array { base, len, free, .. } => self.array(*base, len, *free, frame),
            Stmt::Call { func, inverse, args } => {
                let mut words = args.iter().map(|a| self.get(a, frame)).collect::<Result<Vec<_>, _>>()?;
                self.call(*func, *inverse, &mut words)?;
                let f = &self.program.functions[func.0 as usize];
                for ((p, a), w) in f.params.iter().zip(args).zip(words) {
                    if p.written {
                        self.set(a, w, frame)?;
                    }
                }
                Ok(())
            }
            Stmt::If { pre, post, then, otherwise } => {
                let holds = self.decide(pre, frame)?;
                self.block(if holds { then } else { otherwise }, frame)?;
                if self.decide(post, frame)? == holds { Ok(()) } else { Err("post".into()) }
            }
            Stmt::While { pre, post, first, body } => {
                let mut turned = false;
                loop {
                    if self.decide(post, frame)? != turned {
                        return Err("post of a loop".into());
                    }
                    self.block(first, frame)?;
                    if !self.decide(pre, frame)? {
                        return Ok(());
                    }
                    self.block(body, frame)?;
                    turned = true;
                }
            }
            Stmt::For { var, first, last, step, body, .. } => {
                let bounds = (self.get(first, frame)?.cast_signed(), self.get(last, frame)?.cast_signed());
                self.for_loop(*var, bounds, step, body, frame)
            }
            Stmt::With { compute, body, .. } => {
                self.block(compute, frame)?;
                self.block(body, frame)?;
                self.block(&invert::block(compute), frame)
            }
            Stmt::Span { body, .. } => self.block(body, frame),
            Stmt::Assert { test, .. } => {
                if self.holds(test, frame)? {
                    Ok(())
                } else {
                    Err("assert".into())
                }
            }
            Stmt::Show { .. } | Stmt::Print(_) => Ok(()),
        }
    }

    fn update(
        &mut self,
        (acc, inverse, func): (Acc, bool, TableFn),
        dst: Operand,
        args: &[Operand],
        frame: &mut [u64],
    ) -> Done {
        let mut x = [0; 3];
        for (x, a) in x.iter_mut().zip(args) {
            *x = self.get(a, frame)?;
        }
        let f = scalar::value(Env::default(), func, x).map_err(|e| format!("{e:?}"))?;
        let y = self.get(&dst, frame)?;
        let y = match (acc, inverse) {
            (Acc::Xor, _) => y ^ f,
            (Acc::Add, false) => y.wrapping_add(f),
            (Acc::Add, true) => y.wrapping_sub(f),
            (Acc::Mul, _) => return Err("mul".into()),
        };
        self.set(&dst, y, frame)
    }

    fn permute(&mut self, row: Row, inverse: bool, args: &[Operand], frame: &mut [u64]) -> Done {
        let a = self.get(&args[0], frame)?;
        let new = match (row, inverse) {
            (Row::Swap, _) => {
                let b = self.get(&args[1], frame)?;
                self.set(&args[1], a, frame)?;
                b
            }
            (Row::Neg, _) => a.wrapping_neg(),
            (Row::Not, _) => !a,
            (Row::Inc, false) => a.wrapping_add(1),
            (Row::Inc, true) => a.wrapping_sub(1),
            (Row::Rol, inverse) => {
                let n = (self.get(&args[1], frame)? & 63) as u32;
                if inverse { a.rotate_right(n) } else { a.rotate_left(n) }
            }
            _ => return Err("row".into()),
        };
        self.set(&args[0], new, frame)
    }

    fn array(&mut self, base: Var, len: &Operand, free: bool, frame: &mut [u64]) -> Done {
        let len = self.get(len, frame)? as usize;
        if free {
            self.top -= len;
            if frame[base.0 as usize] != self.top as u64 {
                return Err("arrays out of order".into());
            }
            frame[base.0 as usize] = 0;
        } else {
            frame[base.0 as usize] = self.top as u64;
            self.top += len;
            if self.memory.len() < self.top {
                self.memory.resize(self.top, 0);
            }
        }
        let words = self.memory.get(self.top..).unwrap_or(&[]);
        if words.iter().all(|w| *w == 0) { Ok(()) } else { Err("an array is not zero".into()) }
    }

    fn for_loop(&mut self, var: Var, bounds: (i64, i64), step: &Step, body: &[LocatedStmt], frame: &mut [u64]) -> Done {
        let (first, last) = bounds;
        let step = match step {
            Step::Const(k) => *k,
            Step::Var { var, negated } => {
                let k = frame[var.0 as usize].cast_signed();
                if *negated { -k } else { k }
            }
        };
        if (last - first) * step.signum() < 0 {
            return Ok(());
        }
        let mut i = first;
        loop {
            frame[var.0 as usize] = i.cast_unsigned();
            self.block(body, frame)?;
            if i == last {
                break;
            }
            i += step;
            if (last - i) * step.signum() < 0 {
                return Err("last is missed".into());
            }
        }
        frame[var.0 as usize] = 0;
        Ok(())
    }
}
