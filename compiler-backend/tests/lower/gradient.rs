//! Gradients of lowered programs: against hand derivatives, and of random programs
//! against the same programs over dual numbers.

use crate::lower::common::random::Rng;
use crate::lower::common::*;
use pendula_compiler::ir::*;
use pendula_compiler::lower::Argument;
use pendula_isa::adjoint::SECOND;
use pendula_isa::module::SymbolKind;
use pendula_isa::table::{Row, TableFn, f_fn, l_fn, q_fn};
use pendula_isa::{Module, Ty};
use pendula_vm::gradient::{self, Cell, Variable};
use pendula_vm::{Config, Machine, Outcome, Program as Code};

fn module(p: &Program, arguments: &[Argument]) -> Module {
    lowered(p, arguments).unwrap_or_else(|e| panic!("{e}"))
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn a_product_by_an_ancilla() {
    // y += x² w, x² in an ancilla: dy/dx = 2 x w, dy/dw = x².
    for ty in [Ty::Q, Ty::F] {
        let mut b = Build::new("f");
        let (y, x) = (b.param("y", ty, true), b.param("x", ty, false));
        let w = b.param("w", ty, false);
        let t = b.var("t", ty);
        let mul = if ty == Ty::Q { QMUL } else { FMUL };
        let compute = vec![alloc(t, AncillaChecks::FULL), update(mul, Place::Var(t), &[v(x), v(x)])];
        let p = program(vec![b.body(vec![with("t", compute, vec![update(mul, Place::Var(y), &[v(t), v(w)])])])]);
        let number = |x: f64| if ty == Ty::Q { q(x) } else { x.to_bits() };
        let m = module(&p, &[word_of("y", ty, 0), word_of("x", ty, number(1.5)), word_of("w", ty, number(4.0))]);
        try_run(&m).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(gradient_of(&m, "y"), [1.0, 12.0, 2.25].map(number));
    }
}

#[test]
fn constants_and_copies_leak_no_gradient() {
    // g(z!, a, b): z += a b + 1, called with a constant, with one variable twice, with words that may be one.
    let mut g = Build::new("g");
    let (z, a, c_) = (g.param("z!", Ty::Q, true), g.param("a", Ty::Q, false), g.param("b", Ty::Q, false));
    let one = Operand::Const(q(1.0));
    let t = g.var("t", Ty::Q);
    let compute = vec![alloc(t, AncillaChecks::FULL), update(QMULADD, Place::Var(t), &[v(a), v(c_), one])];
    let g = g.body(vec![with("t", compute, vec![update(QID, Place::Var(z), &[v(t)])])]);
    let mut b = Build::new("f");
    let (y, x) = (b.param("y", Ty::Q, true), b.param("x", Ty::Q, false));
    let (p, i) = (b.param("p", Ty::Int, false), b.param("i", Ty::Int, false));
    let rp = b.region(Ty::Q);
    let at = |index| word(mem(rp, Some(p), index, 1));
    let body = vec![
        call(1, &[v(y), v(x), v(x)]),
        call(1, &[v(y), v(x), Operand::Const(q(3.0))]),
        call(1, &[v(y), at(None), at(Some(i))]),
        update(QMULADD, Place::Var(y), &[v(x), Operand::Const(q(2.0)), at(None)]),
    ];
    for i in [0, 1] {
        let arguments = [
            word_of("y", Ty::Q, 0),
            word_of("x", Ty::Q, q(1.5)),
            array("p", Ty::Q, &[q(9.0), q(2.0), q(5.0)], &[]),
            int("i", i),
        ];
        let mut f = b.0.clone();
        f.body = body.clone();
        let m = module(&program(vec![f, g.clone()]), &arguments);
        let ran = try_run(&m).unwrap_or_else(|e| panic!("{e}"));
        let other = if i == 0 { 2.0 } else { 5.0 };
        assert_eq!(of_q(ran.word("y").cast_unsigned()), 2.25 + 4.5 + 2.0 * other + 3.0 + 3.0 + 2.0);
        let gradient: Vec<f64> = gradient_of(&m, "y").into_iter().map(of_q).collect();
        let words = if i == 0 { [0.0, 4.0 + 1.0, 0.0] } else { [0.0, 5.0 + 1.0, 2.0] };
        assert_eq!(gradient[1], 3.0 + 3.0 + 2.0);
        assert_eq!(gradient[2..5], words);
    }
}

#[test]
fn arrays_drop_gradients() {
    // s = x², t = s·x by local arrays; y += t.
    let mut b = Build::new("f");
    let (y, x) = (b.param("y", Ty::F, true), b.param("x", Ty::F, false));
    let s = b.var("s", Ty::Int);
    let rs = b.region(Ty::F);
    let make = at(Stmt::Array { base: s, len: c(2), region: rs, ty: Ty::F, free: false, checks: AncillaChecks::FULL });
    let at = |n| mem(rs, Some(s), None, n);
    let compute =
        vec![make, update(FMUL, place(at(0)), &[v(x), v(x)]), update(FMUL, place(at(1)), &[word(at(0)), v(x)])];
    let p = program(vec![b.body(vec![with("s", compute, vec![update(FID, Place::Var(y), &[word(at(1))])])])]);
    let m = module(&p, &[word_of("y", Ty::F, 0), word_of("x", Ty::F, 2f64.to_bits())]);
    assert_eq!(gradient_of(&m, "y"), [1.0, 12.0].map(f64::to_bits));
}

#[test]
fn logarithmic_numbers() {
    // y *= (a + b)·a, on logarithms: d ln y / d ln a = a/(a + b) + 1.
    let mut b = Build::new("f");
    let y = b.param("y", Ty::L, true);
    let [a, p] = [("a", Ty::L), ("p", Ty::Int)].map(|(n, ty)| b.param(n, ty, false));
    let rp = b.region(Ty::L);
    let t = b.var("t", Ty::L);
    let plus = TableFn::L(l_fn::Name::Plus);
    let pb = word(mem(rp, Some(p), None, 0));
    let compute = vec![alloc(t, AncillaChecks::FULL), update(plus, Place::Var(t), &[v(a), pb])];
    let body = vec![update(LMUL, Place::Var(y), &[v(t), v(a)])];
    let m = module(
        &program(vec![b.body(vec![with("t", compute, body)])]),
        &[word_of("y", Ty::L, 0), word_of("a", Ty::L, 0), array("p", Ty::L, &[0], &[])],
    );
    try_run(&m).unwrap_or_else(|e| panic!("{e}"));
    let gradient: Vec<f64> = gradient_of(&m, "y").into_iter().map(of_q).collect();
    assert!(near(gradient[1], 1.5, 1e-8) && near(gradient[2], 0.5, 1e-8), "{gradient:?}");
}

/// The tangent of the loss along each data word of type `.f`, and its gradient.
fn compare(m: &Module, loss: &str) {
    let gradient = gradient_of(m, loss);
    let code = Code::new(m.clone(), true).expect("a program");
    let config = Config { mem: Some(m.data.len() as u64 + 10_000), ..Config::default() };
    let loss = m.symbol(loss).expect("the loss").value as usize;
    for symbol in &m.symbols {
        let SymbolKind::Data { ty: Ty::F, len, .. } = symbol.kind else { continue };
        let words = gradient.iter().enumerate().skip(symbol.value as usize).take(len as usize);
        for (at, &reverse) in words {
            let mut machine = Machine::new(&code, &config).expect("a machine");
            let of = Variable { cell: Cell::Word(at), ty: Ty::F };
            let mut run = |m: &mut Machine<'_>| match m.run(Some(10_000_000)) {
                Outcome::Finished => Ok(()),
                other => Err(format!("{other:?}")),
            };
            gradient::tangent(&mut machine, of, &mut run).unwrap_or_else(|e| panic!("{e}"));
            let tangent = f64::from_bits(machine.get(SECOND, Cell::Word(loss)));
            let reverse = f64::from_bits(reverse);
            assert!(near(tangent, reverse, 1e-7), "word {at}: {tangent} forward, {reverse} back\n{}", text(m));
        }
    }
}

struct Gen<'r> {
    rng: &'r mut Rng,
    build: Build,
    array: (Region, Var),
    index: Vec<Var>,
    calls: bool,
}

impl Gen<'_> {
    fn operand(&mut self, read: &[Var], not: Option<Var>) -> Operand {
        let read: Vec<Var> = read.iter().copied().filter(|x| Some(*x) != not).collect();
        match self.rng.below(6) {
            0 => fl(0.25 * self.rng.below(8) as f64 - 0.75),
            1 | 2 => {
                let index =
                    if self.index.is_empty() || self.rng.chance(40) { None } else { Some(*self.rng.pick(&self.index)) };
                let offset = if index.is_some() { 0 } else { self.rng.below(4) as i64 };
                word(mem(self.array.0, Some(self.array.1), index, offset))
            }
            _ if !read.is_empty() => v(*self.rng.pick(&read)),
            _ => fl(0.5),
        }
    }

    fn block(&mut self, read: &[Var], write: &[Var], depth: usize) -> Block {
        let mut out = Vec::new();
        for _ in 0..2 + self.rng.below(4) {
            let Some(&dst) = write.get(self.rng.below(write.len())) else { break };
            let [a, b, c_] = [0; 3].map(|_| self.operand(read, Some(dst)));
            match self.rng.below(if depth == 0 { 6 } else { 9 }) {
                0 | 1 => out.push(update(FMUL, Place::Var(dst), &[a, b])),
                2 => out.push(update(FMULADD, Place::Var(dst), &[a, b, c_])),
                3 => out.push(update(TableFn::F(f_fn::Name::Sin), Place::Var(dst), &[a])),
                4 => {
                    let other = *self.rng.pick(write);
                    if other != dst {
                        out.push(swap(v(dst), v(other)));
                        out.push(permute(Row::Neg, Ty::F, &[v(dst)]));
                    }
                }
                5 if self.calls => {
                    let rest: Vec<Var> = read.iter().copied().filter(|x| *x != dst).collect();
                    let (a, b) = (self.operand(&rest, None), self.operand(&rest, None));
                    out.push(call(1, &[v(dst), a, b, v(self.array.1)]));
                }
                5 => out.push(update(FID, Place::Var(dst), &[a])),
                6 => {
                    let i = self.build.var("i", Ty::Int);
                    self.index.push(i);
                    let body = self.block(read, write, depth - 1);
                    self.index.pop();
                    out.push(each(i, c(0), c(2), Step::Const(1), body));
                }
                _ => {
                    let t = self.build.var("t", Ty::F);
                    let inside: Vec<Var> = read.iter().copied().filter(|x| !write.contains(x)).chain([t]).collect();
                    let mut compute =
                        vec![alloc(t, AncillaChecks::FULL), update(FMUL, Place::Var(t), &[fl(0.5), fl(0.75)])];
                    compute.extend(self.block(&inside, &[t], depth - 1));
                    let read: Vec<Var> = read.iter().copied().chain([t]).collect();
                    let body = self.block(&read, write, depth - 1);
                    out.push(with("t", compute, body));
                }
            }
        }
        out
    }
}

fn random(rng: &mut Rng, name: &str, locals: usize, calls: bool) -> IrFunction {
    let mut b = Build::new(name);
    let y = b.param("y", Ty::F, true);
    let inputs = [b.param("x", Ty::F, false), b.param("z", Ty::F, false)];
    let base = b.param("p", Ty::Int, false);
    let region = b.region(Ty::F);
    let mut g = Gen { rng, build: b, array: (region, base), index: Vec::new(), calls };
    let own: Vec<Var> = (0..locals).map(|_| g.build.var("l", Ty::F)).collect();
    let mut compute: Block = own.iter().map(|l| alloc(*l, AncillaChecks::FULL)).collect();
    let read: Vec<Var> = own.iter().copied().chain(inputs).collect();
    for l in &own {
        let a = g.operand(&inputs, None);
        compute.push(update(FMUL, Place::Var(*l), &[a, fl(0.5)]));
    }
    compute.extend(g.block(&read, &own, 2));
    let mut body: Block = own.iter().map(|l| update(FMUL, Place::Var(y), &[v(*l), fl(0.25)])).collect();
    body.extend(g.block(&read, &[y], 2));
    g.build.body(vec![with("all", compute, body)])
}

#[test]
fn gradients_agree_with_tangents() {
    let words = [0.5f64, -0.25, 0.75, 0.3].map(f64::to_bits);
    let mut compared = 0;
    for seed in 0..150u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let locals = if seed % 3 == 0 { 40 } else { 4 };
        let f = random(&mut rng, "f", locals, true);
        let g = random(&mut rng, "g", 2, false);
        let arguments = [
            word_of("y", Ty::F, 0),
            word_of("x", Ty::F, 0.7f64.to_bits()),
            word_of("z", Ty::F, (-0.4f64).to_bits()),
            array("p", Ty::F, &words, &[]),
        ];
        let m = module(&program(vec![f, g]), &arguments);
        // Programs whose words change too fast are left out.
        let code = Code::new(m.clone(), true).expect("a program");
        let mut machine = Machine::new(&code, &Config::default()).expect("a machine");
        if machine.run(Some(10_000_000)) != Outcome::Finished {
            continue;
        }
        let y = f64::from_bits(machine.memory()[0]);
        if y.abs() < 100.0 {
            compare(&m, "y");
            compared += 1;
        }
    }
    assert!(compared > 80, "only {compared} programs");
}

#[test]
fn a_cvt_keeps_its_types() {
    // y (.f) += x (.q), and an exponent that is an integer in memory.
    let mut b = Build::new("f");
    let (y, x) = (b.param("y", Ty::F, true), b.param("x", Ty::Q, false));
    let n = b.param("n", Ty::Int, false);
    let rn = b.region(Ty::Int);
    let t = b.var("t", Ty::Q);
    let exponent = word(mem(rn, Some(n), None, 1));
    let powi = TableFn::Q(q_fn::Name::Powi);
    let compute = vec![alloc(t, AncillaChecks::FULL), update(powi, Place::Var(t), &[v(x), exponent])];
    let body = vec![update(TableFn::F(f_fn::Name::CvtQ), Place::Var(y), &[v(t)])];
    let p = program(vec![b.body(vec![with("t", compute, body)])]);
    let m = module(&p, &[word_of("y", Ty::F, 0), word_of("x", Ty::Q, q(1.5)), ints("n", &[0, 3], &[])]);
    assert_eq!(try_run(&m).expect("a run").float("y"), 3.375);
    assert!(near(of_q(gradient_of(&m, "y")[1]), 6.75, 1e-8));
}
