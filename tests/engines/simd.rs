//! `@simd for`: sums in blocks of eight turns. Every engine makes them in the same order, to the last bit, which is compared with sums that
//! are made by hand.

use pendula::arguments::parse;
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome};
use pendula_codegen::cc::Rounding;
use pendula_isa::sample;

use super::lockstep;
use super::nil::Call;
use super::whole::{compare, compare_there_and_back, program};

/// What is done to `y!` and `z!`, and the same by hand, forward or back.
struct Case {
    body: &'static str,
    by_hand: fn(&Data, [f64; 2], bool) -> [f64; 2],
}

struct Data {
    x: Vec<f64>,
    w: Vec<f64>,
    n: usize,
}

impl Data {
    fn new(n: usize) -> Data {
        let mut random = 7u64;
        let mut numbers = |scale: f64| {
            let number = |_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((random >> 11) as f64 / (1u64 << 53) as f64 - 0.3) * scale
            };
            (0..n.max(3)).map(number).collect::<Vec<f64>>()
        };
        Data { x: numbers(1.3), w: numbers(1.0), n }
    }

    fn call(&self, [y, z]: [f64; 2]) -> Call {
        let list = |v: &[f64]| v.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",");
        let args = format!("{y:?},{z:?},[{}],[{}],{}", list(&self.x), list(&self.w), self.n);
        Call { arguments: parse(&args).expect("arguments"), ..Call::default() }
    }

    /// What turns add, from first to last.
    fn each(&self, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        self.x.iter().zip(&self.w).take(self.n).map(|(x, w)| f(*x, *w)).collect()
    }
}

/// Adds to a word what the turns of a loop add, or undoes that: whole blocks from the first turn on, then the other turns.
fn add(mut to: f64, terms: &[f64], back: bool) -> f64 {
    let (whole, rest) = terms.split_at(terms.len() / 8 * 8);
    let block = |p: &[f64]| ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
    let mut parts: Vec<f64> = whole.chunks(8).map(block).chain(rest.iter().copied()).collect();
    if back {
        parts = parts.into_iter().rev().map(|p| -p).collect();
    }
    parts.into_iter().for_each(|p| to += p);
    to
}

fn negated(terms: Vec<f64>) -> Vec<f64> {
    terms.into_iter().map(|t| -t).collect()
}

fn reversed(mut terms: Vec<f64>) -> Vec<f64> {
    terms.reverse();
    terms
}

fn source(body: &str) -> String {
    let long = "y! += x[1] * x[2]\n    y! -= x[2] * x[1]\n    ".repeat(40);
    format!(
        "@i function times!(y!::T, a::T, b::T) where T
    y! += a * b
end

@i function dot!(y!::T, x::AbstractVector{{T}}, w::AbstractVector{{T}}, n::Int) where T
    @simd for i = 1:n
        y! += x[i] * w[i]
    end
end

# Not put in place of its calls.
@i function long!(y!::T, x::AbstractVector{{T}}, w::AbstractVector{{T}}, n::Int) where T
    {long}
    @simd for i = 1:n
        y! += x[i] * w[2] * w[1]
    end
end

@i function f!(y!::T, z!::T, x::AbstractVector{{T}}, w::AbstractVector{{T}}, n::Int) where T
    {body}
end
"
    )
}

const CASES: &[Case] = &[
    Case {
        body: "@simd for i = 1:n
        y! += x[i] * w[i]
    end",
        by_hand: |d, [y, z], back| [add(y, &d.each(|x, w| x * w), back), z],
    },
    Case {
        body: "@inbounds @simd for i = n:-1:1
        y! -= x[i]
        z! += x[i] / (1.5 + w[i])
    end",
        by_hand: |d, [y, z], back| {
            let [a, b] = [d.each(|x, _| x), d.each(|x, w| x / (1.5 + w))].map(reversed);
            [add(y, &negated(a), back), add(z, &b, back)]
        },
    },
    Case {
        body: "@simd for i = 1:2:n
        y! += x[i] / 3
        z! += i * w[i]
    end",
        by_hand: |d, [y, z], back| {
            let odd = |terms: Vec<f64>| terms.into_iter().step_by(2).collect::<Vec<f64>>();
            let numbers = odd((1..=d.n).map(|i| i as f64).collect());
            let products: Vec<f64> = numbers.iter().zip(odd(d.each(|_, w| w))).map(|(i, w)| i * w).collect();
            [add(y, &odd(d.each(|x, _| x / 3.0)), back), add(z, &products, back)]
        },
    },
    Case {
        body: "@simd for i = 1:n
        if (w[i] > 0.1, ~)
            y! += x[i]
        else
            y! += x[i] * w[i]
        end
        if (x[i] > 0.2, ~)
            z! -= w[i]
        end
    end",
        by_hand: |d, [y, z], back| {
            let first = d.each(|x, w| if w > 0.1 { x } else { x * w });
            let second = d.each(|x, w| if x > 0.2 { w } else { 0.0 });
            [add(y, &first, back), add(z, &negated(second), back)]
        },
    },
    Case {
        body: "@simd for i = 1:n
        @routine begin
            t ← 0.0
            u ← 0.0
            times!(t, x[i], w[i])
            u += t * t
        end
        y! += u * x[i]
        z! -= t
        ~@routine
    end",
        by_hand: |d, [y, z], back| {
            let cubes = d.each(|x, w| (x * w) * (x * w) * x);
            [add(y, &cubes, back), add(z, &negated(d.each(|x, w| x * w)), back)]
        },
    },
    // In functions, undone, and in loops.
    Case {
        body: "dot!(y!, x, w, n)
    ~dot!(z!, w, x, n)",
        by_hand: |d, [y, z], back| {
            let products = d.each(|x, w| x * w);
            [add(y, &products, back), add(z, &products, !back)]
        },
    },
    Case {
        body: "long!(y!, x, w, n)
    ~long!(z!, x, w, n)",
        by_hand: |d, [y, z], back| {
            let products = d.each(|x, _| x * d.w[1] * d.w[0]);
            let around = |to: f64| (0..40).fold(to, |to, _| to + d.x[0] * d.x[1] - d.x[1] * d.x[0]);
            let long = |to: f64, back| match back {
                false => add(around(to), &products, false),
                true => around(add(to, &products, true)),
            };
            [long(y, back), long(z, !back)]
        },
    },
    Case {
        body: "for k = 1:3
        @simd for i = 1:n
            y! += x[i] * x[k]
        end
        ~@simd for i = 1:n
            z! += x[i] * w[k]
        end
    end",
        by_hand: |d, [mut y, mut z], back| {
            for k in if back { [2, 1, 0] } else { [0, 1, 2] } {
                z = add(z, &d.each(|x, _| x * d.w[k]), !back);
                y = add(y, &d.each(|x, _| x * d.x[k]), back);
            }
            [y, z]
        },
    },
    // A sum that is undone, and an element of an array.
    Case {
        body: "@routine begin
        s ← 0.0
        v ← zeros(T, 3, n + 1)
        @simd for i = 1:n
            s += x[i] * w[i]
            v[2, n + 1] += x[i]
        end
    end
    y! += s / 2
    z! += s * v[2, n + 1]
    ~@routine",
        by_hand: |d, [y, z], back| {
            let (s, v) = (add(0.0, &d.each(|x, w| x * w), false), add(0.0, &d.each(|x, _| x), false));
            [add(y, &[s / 2.0], back), add(z, &[s * v], back)]
        },
    },
    // A loop that looks at its sum runs as without the mark, and so does one that adds twice, or changes something else.
    Case {
        body: "@simd for i = 1:n
        y! += x[i]
        z! += x[i]
        z! += w[i]
    end",
        by_hand: |d, [y, z], back| {
            let [once, twice] = [d.each(|x, _| x), d.each(|x, _| x)];
            let twice: Vec<f64> = twice.into_iter().zip(d.each(|_, w| w)).flat_map(|(a, b)| [a, b]).collect();
            let in_turn = |mut to: f64, terms: Vec<f64>| {
                let terms = if back { negated(reversed(terms)) } else { terms };
                terms.into_iter().for_each(|t| to += t);
                to
            };
            [in_turn(y, once), in_turn(z, twice)]
        },
    },
];

/// The first two words of the data, which are `y!` and `z!`.
fn results(m: &Machine<'_>) -> [f64; 2] {
    let [y, z] = [0, 1].map(|at| f64::from_bits(m.memory()[at]));
    [y, z]
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn sums_are_made_in_the_order_of_blocks() {
    const LENGTHS: [usize; 11] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 1000];
    for (k, case) in CASES.iter().enumerate() {
        let source = source(case.body);
        for &n in LENGTHS.chunks(4).flat_map(|four| sample::in_turn(four, k)) {
            let data = Data::new(n);
            let start = [0.1, -0.7];
            let (program, _) = program(case.body, &source, &data.call(start), Rounding::Strict);
            let config = Config { engine: Engine::Interpreter, ..Config::default() };
            let mut machine = Machine::new(&program, &config).expect("a machine");
            machine.allow_whole(false);
            assert_eq!(machine.run(None), Outcome::Finished, "{source}");
            let there = (case.by_hand)(&data, start, false);
            assert_eq!(results(&machine), there, "{n} turns of {source}");
            machine.begin(Direction::Backward);
            assert_eq!(machine.run(None), Outcome::Finished, "{source}");
            assert_eq!(results(&machine), (case.by_hand)(&data, there, true), "back, {n} turns of {source}");
        }
    }
}

#[test]
fn engines_agree() {
    // Every other loop, unless all are to be tried.
    let half = |k: &usize| sample::all() || k.is_multiple_of(2);
    const STARTS: [(usize, [f64; 2]); 4] = [(0, [-0.0, 0.0]), (7, [0.1, -0.7]), (8, [-0.0, 0.0]), (41, [0.1, -0.7])];
    let all = sample::all();
    for (k, case) in CASES.iter().enumerate().filter(|(k, _)| half(k)) {
        let source = source(case.body);
        for (m, (n, start)) in STARTS.into_iter().enumerate() {
            let call = Data::new(n).call(start);
            let what = format!("{n} turns of {source}");
            // The C compiler takes longest: a length for every sixth loop, unless all are to be tried.
            let length = if k % 4 == 1 { m == k / 4 % 3 } else { n > 8 };
            let in_c = length && (all || k % 6 == 0);
            if in_c {
                let ran = compare(&what, &source, &call);
                assert!(ran.whole && ran.finished, "{what}");
                compare_there_and_back(&what, &source, &call);
            }
            for level in if all { 0..3 } else { 2..3 } {
                lockstep(&what, call.module(&what, &source, level), sample::in_turn(&AdMode::ALL, k + m));
            }
        }
    }
}

/// The gradient of y! + z! by the numbers.
#[test]
fn gradients_are_derivatives() {
    for (k, case) in CASES.iter().enumerate() {
        let source = source(case.body);
        for &n in sample::in_turn(&[7, 8, 9, 20], k) {
            let data = Data::new(n);
            let (program, _) = program(case.body, &source, &data.call([0.1, -0.7]), Rounding::Strict);
            let mut machine = Machine::new(&program, &Config::default()).expect("a machine");
            machine.allow_whole(false);
            assert_eq!(machine.run(None), Outcome::Finished, "{source}");
            machine.set_ad_mode(AdMode::Gradient);
            [0, 1].into_iter().for_each(|at| machine.set_lane_word(GRADIENT, at, 1f64.to_bits()));
            machine.begin(Direction::Backward);
            assert_eq!(machine.run(None), Outcome::Finished, "{source}");
            for i in 0..n {
                let slope = |of: fn(&mut Data) -> &mut Vec<f64>| {
                    let h = 1e-5;
                    let [more, less] = [h, -h].map(|h| {
                        let mut moved = Data::new(n);
                        of(&mut moved)[i] += h;
                        (case.by_hand)(&moved, [0.1, -0.7], false).iter().sum::<f64>()
                    });
                    (more - less) / (2.0 * h)
                };
                let slopes = [slope(|d| &mut d.x), slope(|d| &mut d.w)];
                for (wanted, at) in slopes.into_iter().zip([2 + i, 2 + n + i]) {
                    let found = f64::from_bits(machine.lane_word(GRADIENT, at));
                    assert!((found - wanted).abs() < 1e-6 * (1.0 + wanted.abs()), "{at}: {found}, {wanted}, {source}");
                }
            }
        }
    }
}
