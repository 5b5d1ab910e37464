//! The arithmetic in which kernels and bodies are written, on terms.

use easy_smt::SExpr;
use pendula_isa::Env;
use pendula_isa::arith::Arith;
use pendula_isa::fault::Fault;
use pendula_isa::kernels::{Faults, Kernel};
use pendula_isa::types::{Cond, Ty};

use crate::kernels;
use crate::terms::Terms;

/// The operations that are written alike.
macro_rules! operations {
    ($($method:ident $term:ident;)*) => {
        $(
            fn $method(&mut self, a: SExpr, b: SExpr) -> SExpr {
                let term = self.build().$term(a, b);
                self.named(term)
            }
        )*
    };
}

macro_rules! floats {
    ($($method:ident ($($x:ident),+);)*) => {
        $(
            fn $method(&mut self, $($x: SExpr),+) -> Result<SExpr, Fault> {
                Ok(self.float_operation(stringify!($method), &[$($x),+]))
            }
        )*
    };
}

impl Arith for Terms {
    type V = SExpr;
    type Stop = Fault;

    operations! {
        add bvadd;
        sub bvsub;
        mul bvmul;
        and bvand;
        or bvor;
        xor bvxor;
    }

    floats! {
        float_add(a, b);
        float_sub(a, b);
        float_mul(a, b);
        float_div(a, b);
        float_sqrt(a);
        float_abs(a);
    }

    fn env(&self) -> Env {
        Env::default()
    }
    fn bits(&self) -> u32 {
        self.width
    }
    fn frac(&self) -> u32 {
        self.frac
    }
    fn word(&mut self, k: u64) -> SExpr {
        self.number(self.width, k)
    }
    fn wide_mul(&mut self, a: SExpr, b: SExpr) -> [SExpr; 2] {
        let w = self.width as i32;
        let (a, b) = (self.widened(self.width, a), self.widened(self.width, b));
        let product = self.context.bvmul(a, b);
        let product = self.named_bits(2 * self.width, product);
        [(w - 1, 0), (2 * w - 1, w)].map(|(high, low)| {
            let part = self.context.extract(high, low, product);
            self.named(part)
        })
    }
    fn overflowing_add(&mut self, a: SExpr, b: SExpr) -> [SExpr; 2] {
        // It has the sign of neither.
        let sum = self.add(a, b);
        let (from_a, from_b) = (self.xor(a, sum), self.xor(b, sum));
        [sum, self.wrapped(from_a, from_b)]
    }
    fn overflowing_sub(&mut self, a: SExpr, b: SExpr) -> [SExpr; 2] {
        let difference = self.sub(a, b);
        let (apart, from_a) = (self.xor(a, b), self.xor(a, difference));
        [difference, self.wrapped(apart, from_a)]
    }
    fn not(&mut self, a: SExpr) -> SExpr {
        let term = self.context.bvnot(a);
        self.named(term)
    }
    fn shl(&mut self, a: SExpr, n: SExpr) -> SExpr {
        let n = self.amount(n);
        let term = self.context.bvshl(a, n);
        self.named(term)
    }
    fn shr(&mut self, a: SExpr, n: SExpr) -> SExpr {
        let n = self.amount(n);
        let term = self.context.bvlshr(a, n);
        self.named(term)
    }
    fn sar(&mut self, a: SExpr, n: SExpr) -> SExpr {
        let n = self.amount(n);
        let term = self.context.bvashr(a, n);
        self.named(term)
    }
    fn rol(&mut self, a: SExpr, n: SExpr) -> SExpr {
        self.rotated(a, n, "rotate_left")
    }
    fn ror(&mut self, a: SExpr, n: SExpr) -> SExpr {
        self.rotated(a, n, "rotate_right")
    }
    fn eq(&mut self, a: SExpr, b: SExpr) -> SExpr {
        let term = self.context.eq(a, b);
        self.flag(term)
    }
    fn ne(&mut self, a: SExpr, b: SExpr) -> SExpr {
        let term = self.context.not(self.context.eq(a, b));
        self.flag(term)
    }
    fn lt(&mut self, a: SExpr, b: SExpr) -> SExpr {
        let term = self.context.bvslt(a, b);
        self.flag(term)
    }
    fn ltu(&mut self, a: SExpr, b: SExpr) -> SExpr {
        let term = self.context.bvult(a, b);
        self.flag(term)
    }
    fn select(&mut self, c: SExpr, a: SExpr, b: SExpr) -> SExpr {
        let c = self.is_set(c);
        let term = self.context.ite(c, a, b);
        self.named(term)
    }
    fn float(&mut self, x: f64) -> SExpr {
        match self.width {
            64 => self.word(x.to_bits()),
            _ => {
                self.uninterpreted.insert("float_constant");
                self.unknown(&format!("float_{:x}", x.to_bits()))
            }
        }
    }
    fn float_from(&mut self, a: SExpr, frac: u32) -> SExpr {
        self.uninterpreted.insert("float_from");
        self.function(&format!("float_from_{frac}"), &[a])
    }
    fn compare(&mut self, c: Cond, ty: Ty, a: SExpr, b: SExpr) -> Result<SExpr, Fault> {
        if let Ty::Int | Ty::Q = ty {
            let term = match c {
                Cond::Always => self.context.true_(),
                Cond::Eq => self.context.eq(a, b),
                Cond::Ne => self.context.not(self.context.eq(a, b)),
                Cond::Lt => self.context.bvslt(a, b),
                Cond::Le => self.context.bvsle(a, b),
                Cond::Gt => self.context.bvsgt(a, b),
                Cond::Ge => self.context.bvsge(a, b),
                Cond::Ltu => self.context.bvult(a, b),
                Cond::Geu => self.context.bvuge(a, b),
            };
            return Ok(self.flag(term));
        }
        self.uninterpreted.insert(if ty == Ty::L { "log_order" } else { "float_order" });
        let name = format!("compare_{}_{}", ty.letter(), c.name());
        let ok = self.predicate(&format!("{name}_ok"), &[a, b]);
        self.demand(ok);
        let holds = self.predicate(&name, &[a, b]);
        Ok(self.flag(holds))
    }
    fn overflow(&mut self, wrapped: SExpr) -> Result<(), Fault> {
        let wrapped = self.is_set(wrapped);
        let stops = self.context.and(self.trap_overflow, wrapped);
        let passes = self.context.not(stops);
        self.demand(passes);
        Ok(())
    }
    fn require(&mut self, ok: SExpr, _: Fault) -> Result<(), Fault> {
        let ok = self.is_set(ok);
        self.demand(ok);
        Ok(())
    }
    fn call<K: Kernel>(&mut self, x: [SExpr; 4]) -> Result<[SExpr; 2], Fault> {
        let info = K::INFO;
        if let Some(defined) = kernels::defined(info.name) {
            return Ok(if self.proved.contains(info.name) {
                self.inverted(defined, x)
            } else {
                (defined.define)(self, x)
            });
        }
        self.uninterpreted.insert(info.name);
        let arguments = &x[..info.arity];
        match info.faults {
            Faults::Never => {}
            Faults::AtZero => {
                let some = self.is_set(arguments[info.arity - 1]);
                self.demand(some);
            }
            Faults::Possibly => {
                let ok = self.predicate(&format!("{}_ok", info.name), arguments);
                self.demand(ok);
            }
        }
        if info.wraps {
            let wraps = self.predicate(&format!("{}_wraps", info.name), arguments);
            let wraps = self.flag(wraps);
            self.overflow(wraps)?;
        }
        let first = self.function(info.name, arguments);
        let second = if info.results > 1 { self.function(&format!("{}_second", info.name), arguments) } else { first };
        Ok([first, second])
    }
}
