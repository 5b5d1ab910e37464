"""Writes isa/src/num/raw/coefficients.rs: the polynomials of the elementary functions of doubles.

    python3 accuracy/coefficients.py > isa/src/num/raw/coefficients.rs && cargo fmt

Each is the Chebyshev interpolation of a function that is analytic on the interval, computed with 60 digits and rounded to doubles. That is within a small
factor of the best polynomial. The degree is the least whose error, as `weight` takes it, is below the limit. Needs mpmath.
"""

import sys
from mpmath import mp, mpf, chebyfit, exp, log, sin, cos, atan, asin, erf, erfc, sqrt, pi, atanh, sinh, cosh, cbrt, loggamma, polyval, euler, bernoulli

mp.dps = 60


def root(f):
    """A function of x^2 as one of its square."""
    return lambda z: f(sqrt(z))


def fit(f, a, b, weight, limit, least=2):
    for degree in range(least, 40):
        c = chebyfit(f, [mpf(a), mpf(b)], degree + 1)
        worst = mpf(0)
        for k in range(201):
            x = mpf(a) + (mpf(b) - mpf(a)) * k / 200
            if abs(x) < mpf(2) ** -40:
                x = mpf(2) ** -40
            worst = max(worst, abs(polyval(c, x) - f(x)) * weight(x))
        if worst < mpf(2) ** -limit:
            break
    return list(reversed(c)), worst, degree


OUT = []


def emit(name, doc, coefficients, note=""):
    OUT.append(f"/// {doc}{note}")
    OUT.append(f"pub(super) const {name}: [f64; {len(coefficients)}] = [")
    for c in coefficients:
        OUT.append(f"    {float(c)!r},".replace("e-0", "e-"))
    OUT.append("];\n")


def polynomial(name, doc, f, a, b, weight, limit):
    c, worst, degree = fit(f, a, b, weight, limit)
    print(name, "degree", degree, "error 2^", float(log(worst, 2)), file=sys.stderr)
    emit(name, doc, c)


mp.dps = 80
R = log(2) / 2 * mpf("1.002")
polynomial("EXP", "(e^r − 1 − r)/r² for |r| ≤ ln 2/2.", lambda r: (exp(r) - 1 - r) / r**2 if abs(r) > 1e-15 else mpf(1) / 2 + r / 6, -R, R, lambda r: abs(r), 59)
polynomial("SINH", "(sinh r − r)/r³ for r² up to (ln 2/2)².", root(lambda r: (sinh(r) - r) / r**3 if r > 1e-15 else mpf(1) / 6), 0, R**2, lambda z: z, 60)
polynomial("COSH", "(cosh r − 1)/r² for r² up to (ln 2/2)².", root(lambda r: (cosh(r) - 1) / r**2 if r > 1e-15 else mpf(1) / 2), 0, R**2, lambda z: z, 60)
S = (sqrt(2) - 1) / (sqrt(2) + 1) * mpf("1.001")
polynomial("LOG", "(2 artanh(s)/s − 2)/s² for s² up to ((√2 − 1)/(√2 + 1))².", root(lambda s: (2 * atanh(s) / s - 2) / s**2 if s > 1e-15 else mpf(2) / 3), 0, S**2, lambda z: z, 60)
polynomial("LOG_TAIL", "(2 artanh(s)/s − 2 − 2/3 s² − 2/5 s⁴)/s⁶, on the same interval.", root(lambda s: (2 * atanh(s) / s - 2 - 2 * s**2 / 3 - 2 * s**4 / 5) / s**6 if s > 1e-9 else mpf(2) / 7), 0, S**2, lambda z: z**3, 72)
Q = pi / 4 * mpf("1.002")
polynomial("SIN", "(sin r − r)/r³ for r² up to (π/4)².", root(lambda r: (sin(r) - r) / r**3 if r > 1e-15 else -mpf(1) / 6), 0, Q**2, lambda z: z, 60)
polynomial("COS", "(cos r − 1 + r²/2)/r⁴, on the same interval.", root(lambda r: (cos(r) - 1 + r**2 / 2) / r**4 if r > 1e-12 else mpf(1) / 24), 0, Q**2, lambda z: z**2, 60)
T = (sqrt(2) - 1) * mpf("1.001")
polynomial("ATAN", "(arctan r − r)/r³ for r² up to (√2 − 1)².", root(lambda r: (atan(r) - r) / r**3 if r > 1e-15 else -mpf(1) / 3), 0, T**2, lambda z: z, 60)
polynomial("ASIN", "(arcsin r − r)/r³ for r² up to 1/4.", root(lambda r: (asin(r) - r) / r**3 if r > 1e-15 else mpf(1) / 6), 0, mpf("0.2501"), lambda z: z, 60)
C0 = 2 / sqrt(pi)
polynomial("ERF", "(erf(x)/x − 2/√π)/x² for x² up to (3/4)².", root(lambda x: (erf(x) / x - C0) / x**2 if x > 1e-15 else -C0 / 3), 0, mpf("0.5626"), lambda z: z, 60)


def scaled(t):
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x) if x < 1000 else (1 + 2 * x) / (x * sqrt(pi)) * (1 - 1 / (2 * x**2) + 3 / (4 * x**4) - 15 / (8 * x**6))


LO, HI = (mpf("0.49") - 4) / (mpf("0.49") + 4), (mpf(28) - 4) / (mpf(28) + 4)
C, worst, degree = fit(scaled, LO, HI, lambda t: 1, 59)
print("ERFC degree", degree, "error 2^", float(log(worst, 2)), file=sys.stderr)
emit("ERFC", "(1 + 2x)·exp(x²)·erfc(x) by t = (x − 4)/(x + 4), for x from 0.49 to 28, without the constant term.", C[1:])
emit("ERFC_FIRST", "The constant term, in two parts.", [C[0], C[0] - mpf(float(C[0]))])
emit("ERFC_SLOPE", "The derivative of that polynomial, to 2^-7.", [n * C[n] for n in range(1, 13)])
polynomial("CBRT", "∛x for x from 1 to 2, to 20 bits.", lambda x: x ** (mpf(1) / 3), 1, 2, lambda x: 1, 20)
for name, n, start, end, first in [("LGAMMA_1", 1, "-0.26", "0.51", -euler), ("LGAMMA_2", 2, "-0.51", "0.51", 1 - euler)]:
    C, worst, degree = fit(lambda u: loggamma(n + u) / u if abs(u) > 1e-20 else first, mpf(start), mpf(end), lambda u: 1, 60)
    print(name, "degree", degree, "error 2^", float(log(worst, 2)), file=sys.stderr)
    emit(name, f"ln Γ({n} + u)/u for u from {start} to {end}, from u² on.", C[2:])
    emit(name + "_FIRST", "Its constant term and that of u, each in two parts.", [x for c in C[:2] for x in (c, c - mpf(float(c)))])
emit("STIRLING", "B₂ₖ/(2k(2k − 1)), the coefficients of Stirling's series.", [bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 13)])
emit("BERNOULLI", "B₂ₖ from k = 1 on.", [bernoulli(2 * k) for k in range(1, 13)])


def parts(name, doc, x, count=2, bits=None):
    values, rest = [], x
    for n in range(count):
        if bits and n == 0:
            e = int(mp.floor(log(abs(rest), 2)))
            h = mp.floor(rest * mpf(2) ** (bits - 1 - e)) / mpf(2) ** (bits - 1 - e)
            h = float(h)
        else:
            h = float(rest)
        values.append(h)
        rest = rest - mpf(h)
    emit(name, doc, values)


parts("LN_2_SHORT", "ln 2 in two parts, of which the first has 42 bits: its products with whole numbers below 2^11 are exact.", log(2), 2, 42)
parts("LN_2", "ln 2 in two parts.", log(2))
parts("LOG2_E", "1/ln 2 in two parts.", 1 / log(2))
parts("HALF_PI", "π/2 in three parts.", pi / 2, 3)
parts("LN_PI", "ln π in two parts.", log(pi))
parts("HALF_LN_TWO_PI", "ln(2π)/2 in two parts.", log(2 * pi) / 2)
parts("PI", "π in three parts.", pi, 3)
parts("TWO_OVER_ROOT_PI", "2/√π in two parts.", C0)
parts("TWO_THIRDS", "2/3 in two parts.", mpf(2) / 3)
parts("TWO_FIFTHS", "2/5 in two parts.", mpf(2) / 5)
emit("CBRT_OF", "The cube roots of 1/2 and of 2.", [cbrt(mpf(1) / 2), cbrt(mpf(2))])
mp.prec = 1400
digits = int(mp.floor(2 / pi * mpf(2) ** 1280))
words = [(digits >> (1280 - 64 * (k + 1))) & (2**64 - 1) for k in range(20)]
OUT.append("/// The first 1280 bits of 2/π behind the point.")
OUT.append("pub(super) const TWO_OVER_PI: [u64; 20] = [")
for w in words:
    OUT.append(f"    {w:#018x},")
OUT.append("];")

print("//! Written by `accuracy/coefficients.py`, which says how. Polynomials by ascending powers.")
print("#![expect(clippy::approx_constant, reason = \"the script writes every digit\")]\n")
print("\n".join(OUT))
