//! Kernels that are functions on words of the host, as terms. Reversibility depends on these: elsewhere both directions call the same kernel, of
//! which nothing need be known. Tests compare them with the kernels' own functions.

use easy_smt::SExpr;
use pendula_isa::arith::Arith;

use crate::terms::Terms;

/// A kernel's results, from four arguments.
type Define = fn(&mut Terms, [SExpr; 4]) -> [SExpr; 2];

/// A kernel with a definition here, and the one that undoes it.
#[derive(Clone, Copy)]
pub struct Defined {
    /// Its name.
    pub name: &'static str,
    /// The name of the kernel that undoes it.
    pub inverse: &'static str,
    /// How many arguments it has.
    pub arity: usize,
    /// How many of them, the first ones, it changes.
    pub changed: usize,
    /// How the others stand in the inverse.
    pub order: [usize; 4],
    /// The definition.
    pub define: Define,
}

/// The kernels with a definition here.
pub const DEFINED: [Defined; 6] = [
    Defined { name: "int_scale", inverse: "int_scale", arity: 4, changed: 2, order: [0, 1, 3, 2], define: scale },
    Defined { define: |t, x| log_product(t, x, true), ..plain("log_scale", "log_unscale", 2, 1) },
    Defined { define: |t, x| log_product(t, x, false), ..plain("log_unscale", "log_scale", 2, 1) },
    Defined { define: log_negative, ..plain("log_neg", "log_neg", 1, 1) },
    Defined { define: |t, x| rotation(t, x, false), ..plain("fixed_rot", "fixed_irot", 3, 2) },
    Defined { define: |t, x| rotation(t, x, true), ..plain("fixed_irot", "fixed_rot", 3, 2) },
];

const fn plain(name: &'static str, inverse: &'static str, arity: usize, changed: usize) -> Defined {
    Defined { name, inverse, arity, changed, order: [0, 1, 2, 3], define: scale }
}

/// The definition of a kernel, if there is one here.
pub(crate) fn defined(name: &str) -> Option<Defined> {
    DEFINED.into_iter().find(|kernel| kernel.name == name)
}

/// x and a buffer times num/den, exactly: buf₁ = buf·den + (x mod den); x' = ⌊x/den⌋·num + (buf₁ mod num); buf' = ⌊buf₁/num⌋.
fn scale(t: &mut Terms, x: [SExpr; 4]) -> [SExpr; 2] {
    let width = t.bits();
    // |buf·den| and |⌊x/den⌋·num| are less than 2^(2·width - 2).
    let bits = 2 * width + 1;
    let zero = t.number(width, 0);
    for factor in [x[2], x[3]] {
        let positive = t.build().bvsgt(factor, zero);
        t.demand(positive);
    }
    let [x, buffer, num, den] = x.map(|word| {
        let wide = t.widened(bits - width, word);
        t.named_bits(bits, wide)
    });
    let divided = |t: &mut Terms, a: SExpr, by: SExpr| {
        // The sign of the divisor, which is positive.
        let rest = t.build().bvsmod(a, by);
        let rest = t.named_bits(bits, rest);
        let quotient = t.build().bvsdiv(t.build().bvsub(a, rest), by);
        [t.named_bits(bits, quotient), rest]
    };
    let [quotient, rest] = divided(t, x, den);
    let grown = t.build().bvadd(t.build().bvmul(buffer, den), rest);
    let grown = t.named_bits(bits, grown);
    let [buffer, digit] = divided(t, grown, num);
    let x = t.build().bvadd(t.build().bvmul(quotient, num), digit);
    let x = t.named_bits(bits, x);
    [x, buffer].map(|wide| {
        let word = t.build().extract(width as i32 - 1, 0, wide);
        let word = t.named(word);
        let again = t.widened(bits - width, word);
        let fits = t.build().eq(again, wide);
        t.demand(fits);
        word
    })
}

/// The words that mean zero and no number, and the sign's bit.
fn log_words(t: &mut Terms) -> [SExpr; 3] {
    let width = t.bits();
    let (sign, zero) = (1 << (width - 1), 1 << (width - 2));
    [zero, sign | zero, sign].map(|word| t.number(width, word))
}

fn log_valid(t: &mut Terms, a: SExpr) {
    let [_, none, _] = log_words(t);
    let valid = t.build().not(t.build().eq(a, none));
    t.demand(valid);
}

/// y times x, or divided by it: the sum or difference of the logarithms, with the product of the signs.
fn log_product(t: &mut Terms, [y, x, ..]: [SExpr; 4], times: bool) -> [SExpr; 2] {
    let width = t.bits();
    let [zero, ..] = log_words(t);
    log_valid(t, y);
    log_valid(t, x);
    let some = t.build().not(t.build().eq(x, zero));
    t.demand(some);
    // Logarithms have a bit less than words; that of zero is reserved.
    let bits = width - 1;
    let logarithm = |t: &mut Terms, word: SExpr| {
        let low = t.build().extract(bits as i32 - 1, 0, word);
        t.named_bits(bits, low)
    };
    let (log_y, log_x) = (logarithm(t, y), logarithm(t, x));
    let sum = if times { t.build().bvadd(log_y, log_x) } else { t.build().bvsub(log_y, log_x) };
    let sum = t.named_bits(bits, sum);
    // A sum that has wrapped has the sign of neither.
    let (one, other) = match times {
        true => (t.build().bvxor(log_y, sum), t.build().bvxor(log_x, sum)),
        false => (t.build().bvxor(log_y, log_x), t.build().bvxor(log_y, sum)),
    };
    let wraps = t.build().bvslt(t.build().bvand(one, other), t.number(bits, 0));
    let stays = t.build().eq(y, zero);
    let stays = t.condition(stays);
    let reserved = t.build().eq(sum, t.number(bits, 1 << (bits - 1)));
    let fits = t.build().or(stays, t.build().not(t.build().or(wraps, reserved)));
    t.demand(fits);
    let signs = t.build().bvxor(y, x);
    let signs = t.build().extract(bits as i32, bits as i32, signs);
    let product = t.build().ite(stays, y, t.build().concat(signs, sum));
    [t.named(product); 2]
}

/// The number with the opposite sign; zero stays.
fn log_negative(t: &mut Terms, [a, ..]: [SExpr; 4]) -> [SExpr; 2] {
    let [zero, _, sign] = log_words(t);
    log_valid(t, a);
    let negative = t.build().ite(t.build().eq(a, zero), a, t.build().bvxor(a, sign));
    [t.named(negative); 2]
}

/// A turn of a point by quarters and three shears. How many quarters an angle has, and what is added to one word for the other, is left open.
fn rotation(t: &mut Terms, [a, b, angle, _]: [SExpr; 4], back: bool) -> [SExpr; 2] {
    let width = t.bits();
    let word = t.sort(width);
    let quarters = t.apply("fixed_rot_quarters", &[angle], (&[word], t.sort(2)));
    let quarters = t.named_bits(2, quarters);
    let opposite = t.build().bvneg(quarters);
    let mut wrapped = Vec::new();
    let turn = |t: &mut Terms, [a, b]: [SExpr; 2], quarters: SExpr, wrapped: &mut Vec<SExpr>| {
        let zero = t.number(width, 0);
        let [minus_a, minus_b] = [a, b].map(|word| t.overflowing_sub(zero, word));
        let is = |t: &Terms, n: u64| t.build().eq(quarters, t.number(2, n));
        let choose = |t: &Terms, of: [SExpr; 4]| {
            if let Some(case) = t.case {
                let case = if back { case.wrapping_neg() } else { case };
                return of[case as usize & 3];
            }
            let upper = t.build().ite(is(t, 2), of[2], of[3]);
            t.build().ite(is(t, 0), of[0], t.build().ite(is(t, 1), of[1], upper))
        };
        let a_now = choose(t, [a, minus_b[0], minus_a[0], b]);
        let b_now = choose(t, [b, a, minus_b[0], minus_a[0]]);
        let both = t.build().bvor(minus_a[1], minus_b[1]);
        let flags = choose(t, [zero, minus_b[1], both, minus_a[1]]);
        wrapped.push(t.named(flags));
        [t.named(a_now), t.named(b_now)]
    };
    // A coefficient is at most 1, so that a shear adds at most the other word, rounded.
    let shear = |t: &mut Terms, to: SExpr, from: SExpr, coefficient: &str, wrapped: &mut Vec<SExpr>| {
        let added = t.apply(coefficient, &[angle, from], (&[word, word], t.sort(width + 1)));
        let added = t.named_bits(width + 1, added);
        let low = t.build().extract(width as i32 - 1, 0, added);
        let low = t.named(low);
        let sum = if back { t.sub(to, low) } else { t.add(to, low) };
        // It has not wrapped where the sum is right among wider words.
        let (less, more) = if back { (sum, to) } else { (to, sum) };
        let wide = t.build().bvadd(t.widened(2, less), t.widened(1, added));
        let differs = t.build().not(t.build().eq(wide, t.widened(2, more)));
        wrapped.push(t.flag(differs));
        sum
    };
    let (tangent, sine) = ("fixed_rot_tangent", "fixed_rot_sine");
    let [mut a, mut b] = if back { [a, b] } else { turn(t, [a, b], quarters, &mut wrapped) };
    a = shear(t, a, b, tangent, &mut wrapped);
    b = shear(t, b, a, sine, &mut wrapped);
    a = shear(t, a, b, tangent, &mut wrapped);
    let out = if back { turn(t, [a, b], opposite, &mut wrapped) } else { [a, b] };
    let any = wrapped.into_iter().reduce(|a, b| t.or(a, b)).unwrap_or_else(|| t.number(width, 0));
    // The only stop that a rotation has.
    let _ = t.overflow(any);
    out
}

/// The cases by which a kernel's claim is decided, one by one: what [`Terms::case`] is then.
pub(crate) fn cases(kernel: Defined) -> Vec<Option<u64>> {
    if kernel.name.starts_with("fixed_") { (0..4).map(Some).collect() } else { vec![None] }
}
