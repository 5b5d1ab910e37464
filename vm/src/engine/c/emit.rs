//! Emits a unit as a C function: its frame, its blocks, and groups of instructions.

use std::fmt::{Arguments, Write as _};

use pendula_codegen::c::expr::{Expr, Kind};
use pendula_codegen::lift::bits;
use pendula_codegen::ops::{Body, InstructionOps, Op, ValueId};
use pendula_isa::Inst;
use pendula_isa::adjoint::{LANES, VALUE};
use pendula_isa::table::Flow;
use pendula_isa::text::{ModuleNames, Names as _, display};
use pendula_isa::types::Reg;

use super::names::Names;
use super::text::{PREFIX, WORDS, below, both, register};
use super::values::{Value, values};
use crate::decode::{Code, Exit};
use crate::engine::bounds::groups;
use crate::engine::job::{Facts, Job};
use crate::engine::plan::{EdgeKind, NONE};

/// The maximum number of counters in variables per unit: each is added to the machine's counter in the exits.
const FAST: usize = 8;

pub(super) struct UnitEmitter<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) facts: &'a Facts,
    pub(super) names: &'a mut Names,
    /// The units of the same file.
    pub(super) beside: &'a [u32],
    pub(super) out: &'a mut String,
    indent: usize,
    /// Registers that may be out of date in the machine anywhere in the unit.
    pub(super) written: [u32; LANES],
    /// Counters of edges in loops, which are kept in variables.
    fast: Vec<usize>,

    // State of the current block.
    pub(super) place: usize,
    pub(super) values: Vec<Value>,
    /// Values whose text has not been emitted, and those in registers.
    pub(super) waiting: Vec<ValueId>,
    pub(super) in_machine_registers: Vec<ValueId>,
    /// The number of instructions of the block that have run.
    pub(super) k: u32,
    /// The operations that have been emitted.
    pub(super) done: Vec<bool>,
    /// The number of instructions that have a comment already.
    pub(super) commented: usize,
    /// The number of enclosing conditionals.
    pub(super) depth: u32,
    /// Pending checks: doubles that must be finite, and fixed-point numbers that wrapped.
    pub(super) finite: Option<Expr>,
    pub(super) wrapped: Option<Expr>,
}

/// Emits a unit's function.
pub(super) fn unit(job: &Job<'_>, number: u32, beside: &[u32], names: &mut Names, out: &mut String) {
    let facts = Facts::new(job);
    let mut written = [0; LANES];
    for op in job.bodies.iter().flat_map(|b| &b.ops) {
        if let Op::Set(lane, reg, _) = *op {
            written[usize::from(lane)] |= 1 << reg;
        }
    }
    let moves = |b: &u32| matches!(job.decoded.code[*b as usize].exit, Exit::Call { .. } | Exit::Return { .. });
    if job.unit.blocks.iter().any(moves) {
        written[VALUE] |= 1 << Reg::SP.number();
    }
    let depth = |place: u32| job.unit.depth.get(place as usize).copied().unwrap_or(0);
    let mut looping: Vec<(u32, usize)> = Vec::new();
    for edge in job.unit.edges.iter().filter(|e| e.counter != NONE) {
        looping.push((depth(edge.from).min(depth(edge.to)), edge.counter as usize));
    }
    looping.retain(|(depth, _)| *depth > 0);
    looping.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
    let fast = looping.iter().map(|(_, counter)| *counter).take(FAST).collect();
    let mut e = UnitEmitter {
        job,
        facts: &facts,
        names,
        beside,
        out,
        indent: 0,
        written,
        fast,
        place: 0,
        values: Vec::new(),
        waiting: Vec::new(),
        in_machine_registers: Vec::new(),
        k: 0,
        done: Vec::new(),
        commented: 0,
        depth: 0,
        finite: None,
        wrapped: None,
    };
    e.function(number);
}

impl UnitEmitter<'_> {
    pub(super) fn line(&mut self, text: Arguments<'_>) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 4 * self.indent);
    }

    /// The length of the emitted text.
    pub(super) fn written_so_far(&self) -> usize {
        self.out.len()
    }

    /// Removes the text emitted since.
    pub(super) fn take_back(&mut self, length: usize) {
        self.out.truncate(length);
    }

    /// Opens a pair of braces.
    pub(super) fn open(&mut self, text: Arguments<'_>) {
        self.line(format_args!("{text} {{"));
        self.indent += 1;
    }

    pub(super) fn close(&mut self) {
        self.indent -= 1;
        self.line(format_args!("}}"));
    }

    fn comment(&mut self, text: &str) {
        let text = text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ");
        self.line(format_args!("/* {text} */"));
    }

    pub(super) fn body(&self) -> &Body {
        &self.job.bodies[self.place]
    }

    /// The number of the block.
    pub(super) fn number(&self) -> u32 {
        self.job.unit.blocks[self.place]
    }

    pub(super) fn code(&self) -> &Code {
        &self.job.decoded.code[self.number() as usize]
    }

    fn function(&mut self, number: u32) {
        let job = self.job;
        self.head();
        self.line(format_args!("static u64 unit_{number}(struct frame *f, u64 entry, u64 link)"));
        self.line(format_args!("{{"));
        self.indent += 1;
        self.prologue();
        for place in 0..job.unit.blocks.len() {
            self.block(place);
        }
        self.indent -= 1;
        self.line(format_args!("leave:"));
        self.indent += 1;
        self.write_back(self.written);
        for n in self.fast.clone() {
            self.line(format_args!("counters[{n}] += n{n};"));
        }
        if job.metered {
            self.line(format_args!("f->budget = budget;"));
        }
        self.line(format_args!("return status;"));
        self.indent -= 1;
        self.line(format_args!("}}\n"));
    }

    /// Emits a comment on the unit's place in the program.
    fn head(&mut self) {
        let job = self.job;
        let (first, last) = (job.unit.blocks[0], job.unit.blocks[job.unit.blocks.len() - 1]);
        let forward = job.decoded.is_forward(first);
        let span = |b: u32| job.decoded.blocks[b as usize % job.decoded.blocks.len()];
        let (low, high) = if forward { (first, last) } else { (last, first) };
        let (start, end) = (span(low).start, span(high).end);
        let name = ModuleNames(job.module).label(i64::from(start));
        let name = if name.starts_with('@') { String::new() } else { format!("{name}: ") };
        let direction = if forward { "forward" } else { "backward" };
        self.comment(&format!("{name}instructions {start} to {}, {direction}", end - 1));
    }

    /// Loads invariant fields of the frame and the registers; jumps to the entry.
    fn prologue(&mut self) {
        let job = self.job;
        let lanes = |n: usize| if n == VALUE { String::new() } else { format!("[{}]", n - 1) };
        for lane in job.lanes() {
            let (prefix, lane_of) = (PREFIX[lane], if lane == VALUE { "" } else { "lane_" });
            self.line(format_args!("u64 *const {prefix}regs = f->{lane_of}regs{};", lanes(lane)));
            self.line(format_args!("u64 *const {prefix}mem = f->{lane_of}mem{};", lanes(lane)));
        }
        self.line(format_args!("const u64 len = f->len;"));
        self.line(format_args!("u64 *const counters = f->counters;"));
        for (lane, used) in self.facts.used.into_iter().enumerate() {
            for reg in bits(used | self.written[lane]) {
                let kind = self.register_kind(lane as u8, reg);
                let ty = if kind == Kind::Double { "f64" } else { "u64" };
                let word = Expr::atom(format!("{}regs[{reg}]", PREFIX[lane]), Kind::Word);
                let word = WORDS.convert(word, kind);
                self.line(format_args!("{ty} {} = {};", register(lane as u8, reg), word.text));
            }
        }
        for n in self.fast.clone() {
            self.line(format_args!("u64 n{n} = 0;"));
        }
        if job.metered {
            self.line(format_args!("u64 budget = f->budget;"));
        }
        if job.unit.blocks.iter().any(|b| matches!(job.decoded.code[*b as usize].exit, Exit::Call { lift: false, .. }))
        {
            self.line(format_args!("char here;"));
        }
        self.line(format_args!("u64 status;\n"));
        let entries = &job.unit.entries;
        self.open(format_args!("switch (entry)"));
        for (n, &place) in entries.iter().enumerate() {
            let block = job.unit.blocks[place as usize];
            if n + 1 == entries.len() {
                self.line(format_args!("default:"));
            } else {
                self.line(format_args!("case {n}:"));
            }
            self.indent += 1;
            // The machine counts the other entries.
            if place == 0 {
                self.count(0, EdgeKind::Enter);
            }
            self.line(format_args!("goto block_{block};"));
            self.indent -= 1;
        }
        self.close();
    }

    /// Increments the counter of an edge, if it has one.
    pub(super) fn count(&mut self, place: usize, kind: EdgeKind) {
        if let Some(n) = self.job.unit.counter(place, kind) {
            if self.fast.contains(&n) {
                self.line(format_args!("n{n}++;"));
            } else {
                self.line(format_args!("counters[{n}]++;"));
            }
        }
    }

    fn block(&mut self, place: usize) {
        let job = self.job;
        let body = &job.bodies[place];
        self.place = place;
        self.values = values(body, &job.kernels);
        self.waiting.clear();
        self.in_machine_registers.clear();
        self.done = vec![false; body.ops.len()];
        (self.k, self.commented) = (0, 0);
        self.indent -= 1;
        let number = self.number();
        self.out.push('\n');
        self.open(format_args!("block_{number}:"));
        if job.metered {
            let len = self.code().len;
            self.line(format_args!("budget -= {len};"));
            self.need(format_args!("budget + {len} >= {len}"));
        }
        if self.code().head > 0 {
            self.instruction(0);
        }
        self.hoist(body);
        for part in &body.parts {
            self.part(body, part);
        }
        self.exit(body);
        self.close();
        self.indent += 1;
    }

    /// The instruction before which `k` of the block run, as a comment.
    pub(super) fn instruction(&mut self, k: u32) {
        let block = self.number();
        let at = self.job.decoded.address(block, k);
        let inst = self.job.module.code[at as usize];
        let undone = inst.kind.flow() == Flow::Straight && !self.job.decoded.is_forward(block);
        let inst = if undone { Inst { kind: inst.kind.inverse(), ..inst } } else { inst };
        let text = display(&inst, u64::from(at), &ModuleNames(self.job.module));
        self.comment(&format!("{at}: {text}"));
    }

    /// Checks addresses at the beginning of the block, if they can be computed there.
    fn hoist(&mut self, body: &Body) {
        let (places, groups) = groups(body, self.job.module.data.len() as u64);
        let mut all: Option<Expr> = None;
        for group in &groups {
            self.demand(body, group.at);
        }
        for n in places {
            self.done[n] = true;
            let Op::Bound(at) = body.ops[n] else { continue };
            match groups.iter().find(|g| g.at == at) {
                Some(group) => {
                    let at = self.take(at, Kind::Word);
                    // The memory has more words than that, because the data segment has.
                    let spread = group.spread();
                    let inside = if spread == 0 { below(&at, "len") } else { below(&at, &format!("len - {spread}")) };
                    all = Some(match all {
                        None => inside,
                        Some(all) => both('&', &all, &inside),
                    });
                }
                None => self.drop_use(at),
            }
        }
        if let Some(all) = all {
            self.need(format_args!("{}", all.text));
        }
    }

    /// Emits a value with everything that it needs.
    fn demand(&mut self, body: &Body, v: ValueId) {
        if !self.done[v.0 as usize] {
            for used in body.ops[v.0 as usize].uses() {
                self.demand(body, used);
            }
            self.op(v.0 as usize);
        }
    }

    pub(super) fn part(&mut self, body: &Body, part: &InstructionOps) {
        self.k = part.k;
        // Registers keep their values before the group until no more side exits are possible.
        let (mut depth, mut inner, mut last) = (0, false, None);
        for n in part.range() {
            match body.ops[n] {
                Op::If(_) => depth += 1,
                Op::End => {
                    depth -= 1;
                    if depth == 0 && std::mem::take(&mut inner) {
                        last = Some(n);
                    }
                }
                op if op.may_exit() && !self.done[n] => {
                    inner |= depth > 0;
                    last = if depth > 0 { last } else { Some(n) };
                }
                _ => {}
            }
        }
        let mut sets = Vec::new();
        for n in part.range() {
            self.say(n as u32);
            match body.ops[n] {
                Op::Set(lane, reg, v) if last.is_some() => {
                    // A later instruction of the group may overwrite the write of an earlier one.
                    if let Some(at) = sets.iter().position(|&(l, r, _)| (l, r) == (lane, reg)) {
                        let (.., over): (u8, u8, ValueId) = sets.remove(at);
                        self.drop_use(over);
                    }
                    sets.push((lane, reg, v));
                }
                _ => self.op(n),
            }
            if last.is_some_and(|l| l <= n) {
                last = None;
                self.check();
                for (lane, reg, v) in std::mem::take(&mut sets) {
                    self.assign(lane, reg, v);
                }
            }
        }
    }

    /// Emits comments for the instructions that begin up to an operation.
    pub(super) fn say(&mut self, n: u32) {
        let job = self.job;
        while let Some(part) = job.instructions[self.place].get(self.commented).filter(|p| p.first <= n) {
            self.instruction(part.k);
            self.commented += 1;
        }
    }

    /// Emits the pending checks.
    pub(super) fn check(&mut self) {
        if let Some(all) = self.finite.take() {
            self.need(format_args!("{}", all.text));
        }
        if let Some(any) = self.wrapped.take() {
            self.leave_on_overflow(&any);
        }
    }
}
