//! Jets of functions: against series by mpmath, against values of the functions themselves at nearby points, and second derivatives
//! against dual numbers.

use pendula_isa::calculus::{Calculus, Constant, Dual};
use pendula_isa::num::{Env, Format, convert, log};
use pendula_isa::sample::Source;
use pendula_isa::scalar::{ScalarDomain, value};
use pendula_isa::series::{MAX_ORDER, Series};
use pendula_isa::table::{ARITY, Function, FunctionVisitor, TableFn, f_fn};
use pendula_isa::types::Ty;

/// The order of most tests.
const ORDER: usize = 8;

/// Functions along a(t) = a₀ + t − t²/2 and b(t) = b₀ − t/2 + t³, with the coefficients that mpmath's `taylor` gives at 60 digits.
#[rustfmt::skip]
const KNOWN: &[(f_fn::Name, &[f64], [f64; ORDER + 1])] = &[
    (f_fn::Name::Exp, &[0.75], [2.117000016612675, 2.117000016612675, 0.0, -0.7056666722042249, -0.1764166680510562, 0.10585000083063373, 0.04704444481361499, -0.008400793716716964, -0.006930654816291494]),
    (f_fn::Name::Log, &[1.25], [0.22314355131420976, 0.8, -0.72, 0.49066666666666664, -0.4384, 0.398336, -0.382464, 0.3760713142857143, -0.37798912]),
    (f_fn::Name::Log2, &[1.25], [0.32192809488736235, 1.1541560327111706, -1.0387404294400537, 0.7078823667295181, -0.6324775059257216, 0.5746773718075461, -0.5517789161185565, 0.5425562201405948, -0.5453230289339833]),
    (f_fn::Name::Sqrt, &[1.5], [1.224744871391589, 0.408248290463863, -0.2721655269759087, 0.09072184232530289, -0.0604812282168686, 0.04032081881124573, -0.0302406141084343, 0.02352047763989334, -0.01904038666086604]),
    (f_fn::Name::Sin, &[0.75], [0.6816387600233341, 0.7316888688738209, -0.7066638144485775, 0.2188712351993636, 0.12611898721651071, -0.14216693137055694, 0.04165570200142598, 0.0037376957382772424, -0.008871836995063605]),
    (f_fn::Name::Cos, &[0.75], [0.7316888688738209, -0.6816387600233341, -0.02502505442524336, 0.47945089444079947, -0.23138376241198527, 0.018550449596570578, 0.044714319764511276, -0.02626037619599756, 0.004739750782893592]),
    (f_fn::Name::Tan, &[0.5], [0.5463024898437905, 1.2984464104095248, 0.06012130173069327, 0.11098763349690796, -0.36856442411911006, -0.07765039669276222, -0.15296005158719164, 0.08969207317558016, 0.001300204564693563]),
    (f_fn::Name::Asin, &[0.25], [0.25268025514207865, 1.0327955589886446, -0.378691704962503, 0.08262364471909156, -0.1736626606595721, 0.07189277135557498, -0.09235623404600217, 0.07751533709417335, -0.06630094815405303]),
    (f_fn::Name::Acos, &[0.25], [1.318116071652818, -1.0327955589886446, 0.378691704962503, -0.08262364471909156, 0.1736626606595721, -0.07189277135557498, 0.09235623404600217, -0.07751533709417335, 0.06630094815405303]),
    (f_fn::Name::Atan, &[0.75], [0.6435011087932844, 0.64, -0.6272, 0.3672746666666667, -0.11186176, -0.13039173632, 0.2672238701226667, -0.27107914977865144, 0.1524318676713472]),
    (f_fn::Name::Sinh, &[0.75], [0.82231673193583, 1.2946832846768448, -0.23618327637050734, -0.19537781852177422, -0.1866180325132395, 0.10409804362892679, -0.0014082345434127243, 0.006671531736474397, -0.007940625601277385]),
    (f_fn::Name::Cosh, &[0.75], [1.2946832846768448, 0.82231673193583, 0.23618327637050734, -0.5102888536824507, 0.010201364462183286, 0.0017519572017069402, 0.04845267935702772, -0.01507232545319136, 0.00100997078498589]),
    (f_fn::Name::Tanh, &[0.75], [0.6351489523872873, 0.5965858082813315, -0.6772137552796764, 0.42073009668387545, -0.05769222923030327, -0.23218300657524593, 0.303493682780566, -0.18532481534070103, -0.0036230859963019856]),
    (f_fn::Name::Inv, &[1.5], [0.6666666666666666, -0.4444444444444444, 0.5185185185185185, -0.49382716049382713, 0.5020576131687243, -0.4993141289437586, 0.5002286236854138, -0.49992379210486204, 0.5000254026317127]),
    (f_fn::Name::Mul, &[0.75, 1.5], [1.125, 1.125, -1.25, 1.0, 1.0, -0.5, 0.0, 0.0, 0.0]),
    (f_fn::Name::Div, &[0.75, 1.5], [0.5, 0.8333333333333334, -0.05555555555555555, -0.35185185185185186, -0.6728395061728395, -0.18724279835390947, 0.1721536351165981, 0.505944215820759, 0.29347660417619265]),
    (f_fn::Name::Pow, &[0.75, 1.5], [0.649519052838329, 1.392465599285382, -0.4559447118745474, -1.1566032653989653, 1.3858104395360928, 0.6785623187721896, -1.41737261668667, -0.04862471897253117, 1.2415158911155866]),
    (f_fn::Name::Atan2, &[0.75, 1.5], [0.4636476090008061, 0.6666666666666666, -0.26666666666666666, -0.2765432098765432, -0.2725925925925926, 0.17646090534979425, 0.10693004115226337, 0.022892677509961462, -0.10532638317329675]),
    (f_fn::Name::Hypot, &[0.75, 1.5], [1.6770509831248424, 0.0, 0.14907119849998599, 0.5962847939999439, -0.23023218434997836, -0.053003092799995016, 0.21260129445331333, 0.08657171823999185, -0.015855940647035546]),
    (f_fn::Name::Plus, &[0.75, 1.5], [2.25, 0.5, -0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    (f_fn::Name::Minus, &[0.75, 1.5], [-0.75, 1.5, -0.5, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
];

/// A jet by its function: arguments by type, with their coefficients from order 0 on.
fn jet(env: Env, func: TableFn, args: &[Vec<u64>]) -> Option<Vec<u64>> {
    let word = |n: usize| args.get(n).map_or(0, |a| a[0]);
    let value = value(env, func, [word(0), word(1), word(2)]).ok()?;
    let mut series = Series::default();
    series.begin(env, args[0].len() - 1);
    for (n, (arg, info)) in args.iter().zip(func.info().args).enumerate() {
        series.argument(info.ty, arg[0], n >= func.info().partials);
        if n < func.info().partials {
            series.coefficients_mut(n).copy_from_slice(&arg[1..]);
        }
    }
    let out = series.run(func, value).ok()?.to_vec();
    (!series.overflowed()).then(|| [&[value], &out[..]].concat())
}

fn doubles(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn jets_agree_with_known_series() {
    for (name, at, expected) in KNOWN {
        let mut args = vec![vec![0.0; ORDER + 1]; at.len()];
        for (n, x) in at.iter().enumerate() {
            args[n][0] = *x;
        }
        (args[0][1], args[0][2]) = (1.0, -0.5);
        if let Some(b) = args.get_mut(1) {
            (b[1], b[3]) = (-0.5, 1.0);
        }
        let args: Vec<Vec<u64>> = args.iter().map(|a| doubles(a)).collect();
        let found = jet(Env::default(), TableFn::F(*name), &args).expect("a series");
        for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
            let found = f64::from_bits(*found);
            assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{name:?} t^{k}: {found}, {expected}");
        }
    }
}

/// Whole powers and polynomials at zero, where quotients do not exist; and the highest order.
#[test]
fn powers_of_zero_and_high_orders() {
    let t = |order: usize| doubles(&(0..=order).map(|k| if k == 1 { 1.0 } else { 0.0 }).collect::<Vec<_>>());
    for n in 0..=9i64 {
        let exponent = vec![n.cast_unsigned(); ORDER + 1];
        let found = jet(Env::default(), TableFn::F(f_fn::Name::Powi), &[t(ORDER), exponent]).expect("a power");
        let expected: Vec<u64> =
            doubles(&(0..=ORDER).map(|k| if k as i64 == n { 1.0 } else { 0.0 }).collect::<Vec<_>>());
        assert_eq!(found, expected, "t^{n}");
    }
    // exp, and 1/(1 − t), whose coefficients are all 1.
    let found = jet(Env::default(), TableFn::F(f_fn::Name::Exp), &[t(MAX_ORDER)]).expect("a series");
    let mut factorial = 1.0;
    for (k, found) in found.iter().enumerate() {
        factorial *= k.max(1) as f64;
        assert!((f64::from_bits(*found) * factorial - 1.0).abs() < 1e-14, "{k}");
    }
    let mut less = vec![0.0; MAX_ORDER + 1];
    (less[0], less[1]) = (1.0, -1.0);
    let found = jet(Env::default(), TableFn::F(f_fn::Name::Inv), &[doubles(&less)]).expect("a series");
    assert_eq!(found, vec![1f64.to_bits(); MAX_ORDER + 1]);
}

/// Derivatives that do not exist stop the computation as those of tangents do; a constant argument has none.
#[test]
fn missing_derivatives() {
    let angle = TableFn::F(f_fn::Name::Asin);
    assert_eq!(jet(Env::default(), angle, &[doubles(&[1.0, 1.0])]), None);
    let mut series = Series::default();
    series.begin(Env::default(), 3);
    series.argument(Ty::F, 0, true);
    assert_eq!(series.run(angle, 0), Ok(&[0, 0, 0][..]));
}

/// The number that a word stands for; of a logarithmic number, the logarithm of its magnitude.
fn number(env: Env, ty: Ty, word: u64) -> Option<f64> {
    match ty {
        Ty::L => (word != log::ZERO)
            .then(|| log::logarithm(word) as f64 / f64::from(log::FRAC).exp2() / std::f64::consts::LOG2_E),
        ty => Some(convert::to_f64(env, ty, word)),
    }
}

fn word(env: Env, ty: Ty, x: f64) -> u64 {
    let unit = f64::from(env.format.frac()).exp2();
    match ty {
        Ty::F => x.to_bits(),
        Ty::Q => ((x * unit).round() as i64).cast_unsigned(),
        Ty::Int => (x.round() as i64).cast_unsigned(),
        Ty::L => {
            let scaled = x * std::f64::consts::LOG2_E * f64::from(log::FRAC).exp2();
            log::from_parts(false, scaled.round() as i64).unwrap_or(log::ONE)
        }
    }
}

/// Every differentiable row, the jet of order 6 against the function at points nearby: f(x(h)) is the sum of the coefficients times
/// powers of h, as long as no kink or pole is near.
#[test]
fn jets_of_all_functions_predict_values_nearby() {
    let env = Env { format: Format::Q32_32, ieee: false };
    let order = 6;
    for func in TableFn::ALL.iter().filter(|f| f.info().partials > 0) {
        let info = func.info();
        let floats = info.ty == Ty::F && info.args.iter().all(|a| matches!(a.ty, Ty::F | Ty::Int));
        let (mut met, mut s) = (0, Source::seeded(5));
        for _ in 0..400 {
            let uniform = |s: &mut Source| s.between(-1_000_000, 1_000_000) as f64 / 1e6;
            let mut args = Vec::new();
            for arg in info.args {
                let mut x: Vec<f64> = vec![1.5 + 1.4 * uniform(&mut s), uniform(&mut s), uniform(&mut s)];
                if s.once_in(2) && arg.ty != Ty::Int {
                    x[0] -= 1.5;
                }
                x.resize(order + 1, 0.0);
                args.push(x);
            }
            let gradient = |ty: Ty| ty.gradient().unwrap_or(Ty::Int);
            let words: Vec<Vec<u64>> = (args.iter().zip(info.args))
                .map(|(x, arg)| {
                    let first = word(env, arg.ty, x[0]);
                    let rest = x[1..].iter().map(|x| word(env, gradient(arg.ty), *x));
                    std::iter::once(first).chain(rest).collect()
                })
                .collect();
            let Some(found) = jet(env, *func, &words) else { continue };
            let Some(y) = number(env, info.ty, found[0]) else { continue };
            let coefficients: Vec<f64> =
                found[1..].iter().map(|w| convert::to_f64(env, gradient(info.ty), *w)).collect();
            // A wide circle of convergence, so that the rest is small.
            let h = 1.0 / 64.0;
            if coefficients.iter().zip(1..).any(|(c, k)| c.abs() > 3f64.powi(k) * (1.0 + y.abs())) {
                continue;
            }
            let at = |h: f64| {
                let there = |(x, arg): (&Vec<f64>, &pendula_isa::table::Arg)| {
                    let moved = if arg.ty == Ty::Int { x[0] } else { x[0] + x[1] * h + x[2] * h * h };
                    word(env, arg.ty, moved)
                };
                let mut words: Vec<u64> = args.iter().zip(info.args).map(there).collect();
                words.resize(ARITY, 0);
                let value = value(env, *func, [words[0], words[1], words[2]]).ok()?;
                number(env, info.ty, value)
            };
            let sum = |h: f64| y + coefficients.iter().zip(1..).map(|(c, k)| c * h.powi(k)).sum::<f64>();
            // A large fourth difference shows a kink, a pole or a logarithmic zero.
            let (Some(up), Some(down)) = (at(h), at(-h)) else { continue };
            let (Some(half_up), Some(half_down)) = (at(h / 2.0), at(-h / 2.0)) else { continue };
            let fourth = up - 4.0 * half_up + 6.0 * y - 4.0 * half_down + down;
            if fourth.abs() > 1e-5 * (1.0 + y.abs()) {
                continue;
            }
            let bound = if floats { 1e-9 } else { 1e-7 } * (1.0 + y.abs());
            for (there, h) in [(up, h), (down, -h)] {
                assert!((there - sum(h)).abs() < bound, "{func:?} {args:?}: {there}, {}", sum(h));
            }
            met += 1;
        }
        assert!(met > 20, "{func:?}: {met}");
    }
}

/// First and second derivatives as numbers, against dual numbers over the same table.
struct AgainstDual<'a> {
    env: Env,
    x: [u64; ARITY],
    series: &'a mut Series,
}

impl FunctionVisitor for AgainstDual<'_> {
    type Out = Option<()>;

    fn visit<F: Function>(self) -> Option<()> {
        let AgainstDual { env, x, series } = self;
        let info = F::INFO;
        let mut scalar = ScalarDomain::new(env);
        let y = F::value(&mut scalar, x).ok()?;
        series.begin(env, 2);
        for (n, arg) in info.args.iter().enumerate() {
            series.argument(arg.ty, x[n], n >= info.partials);
        }
        let found = series.derivatives(info.func, y, true).ok()?;
        let unit = if info.calculus() == Ty::F { 1e-12 } else { 1e-6 };
        for m in 0..info.partials {
            let one = Constant::ONE.word(env, info.args[m].ty.gradient()?);
            let dual = [0, 1, 2].map(|k| [x[k], if k == m { one } else { 0 }]);
            let mut calculus = Dual(&mut scalar);
            let value = calculus.apply::<F>(dual).ok()?;
            for n in 0..info.partials {
                let [p, dp] =
                    F::partial(&mut calculus, n, dual, value).ok()?.map(|w| convert::to_f64(env, info.calculus(), w));
                let scale = 1.0 + p * p + dp.abs();
                assert!((found.first[n] - p).abs() <= unit * scale, "{:?} {x:?} {n}", info.func);
                assert!(
                    (found.second[n][m] - dp).abs() <= unit * scale,
                    "{:?} {x:?} {n} {m}: {found:?} {dp}",
                    info.func
                );
            }
        }
        (!scalar.overflowed && !series.overflowed()).then_some(())
    }
}

#[test]
fn second_derivatives_agree_with_dual_numbers() {
    let env = Env::default();
    let mut series = Series::default();
    for func in TableFn::ALL.iter().filter(|f| f.info().partials > 0) {
        let (mut met, mut s) = (0, Source::seeded(3));
        for _ in 0..300 {
            let mut x = [0; ARITY];
            for (x, arg) in x.iter_mut().zip(func.info().args) {
                let at = 0.25 + s.between(0, 1_500_000) as f64 / 1e6;
                *x = word(env, arg.ty, if s.once_in(3) { -at } else { at });
            }
            met += usize::from(func.visit(AgainstDual { env, x, series: &mut series }).is_some());
        }
        assert!(met > 50, "{func:?}: {met}");
    }
}
