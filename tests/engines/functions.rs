//! Each function of the table in C code for whole runs, on random words, numbers of moderate size and words at the edges: the value that the interpreter gives, the
//! same way back, with the same gradient words, and a trap where the interpreter has one.

use pendula::compiler::compile::{Options, compile};
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::isa::sample::{Source, number, word};
use pendula::isa::table::TableFn;
use pendula::isa::types::Ty;
use pendula::values::{self, Location};
use pendula::vm::gradient::one;
use pendula::vm::{AdMode, Config, Engine, Machine, Outcome};
use pendula_codegen::cc::Rounding;

use super::nil::Call;
use super::whole::program;

/// How many states each function is tried in.
pub(super) const STATES: u64 = 60;

/// Words of memory.
const MEMORY: usize = 4096;

/// How Nil writes a function of the table that it has.
fn expression(name: &str, arity: usize) -> String {
    let operators = [("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"), ("pow", "^"), ("rem", "%"), ("quot", "÷")];
    if let Some((_, sign)) = operators.iter().find(|(n, _)| *n == name) {
        return format!("a {sign} b");
    }
    match (name, arity) {
        ("", 1) => "a".to_string(),
        ("neg", 1) => "-a".to_string(),
        (name, 1) => format!("{name}(a)"),
        (name, 2) => format!("{name}(a, b)"),
        (name, _) => format!("{name}(a, b, c)"),
    }
}

/// A program that adds one of these expressions to `y!`.
fn source(ty: Ty, expressions: &[String]) -> String {
    let name = match ty {
        Ty::Int => "Int",
        Ty::Q => "Fixed",
        Ty::L => "ULogarithmic",
        Ty::F => "Float64",
    };
    let operator = if ty == Ty::L { "*" } else { "+" };
    let mut out = format!("@i function f!(y!::{name}, a::{name}, b::{name}, c::{name}, which::Int)\n");
    for (n, expression) in expressions.iter().enumerate() {
        out += &format!("    if (which == {n}, ~)\n        y! {operator}= {expression}\n    end\n");
    }
    out + "end\n"
}

fn call(ty: Ty) -> Call {
    let zero = if ty == Ty::Int { "0" } else { "0.0" };
    let one = if ty == Ty::Int { "1" } else { "1.0" };
    let args = format!("{},{one},{one},{one},0", if ty == Ty::L { one } else { zero });
    Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() }
}

#[test]
fn each_on_random_words() {
    for (ty, least) in [(Ty::F, 41), (Ty::Q, 30), (Ty::L, 7), (Ty::Int, 24)] {
        let of_type = TableFn::ALL.iter().map(|f| f.info()).filter(|info| info.ty == ty && info.from == ty);
        let all = of_type.map(|info| expression(info.name, info.args.len()));
        // Those that this type has in Nil.
        let has = |text: &String| {
            let Call { arguments, .. } = call(ty);
            let options = Options { arguments, ..Options::default() };
            compile("one", source(ty, std::slice::from_ref(text)), &options).module.is_some()
        };
        let all: Vec<String> = all.filter(has).collect();
        assert!(all.len() >= least, "{ty:?}: {all:?}");
        compare(ty, &all);
    }
}

/// Runs there and back, and back with gradients, in the interpreter and in C.
fn compare(ty: Ty, all: &[String]) {
    let places = ["y!", "a", "b", "c", "which"];
    let [finished, in_c, trapped] = compare_all(ty, &source(ty, all), &call(ty), &places, all);
    let total = all.len() * STATES as usize;
    assert!(
        finished > total / 3 && in_c * 10 >= finished * 9,
        "{ty:?}: {finished} of {total} finished, {in_c} in C, {trapped} trapped"
    );
}

/// Compares what a program does for each number of a statement, which it is given at the last of these places. How often it finished, how often in
/// C, and how often it trapped.
pub(super) fn compare_all(ty: Ty, source: &str, call: &Call, places: &[&str], all: &[String]) -> [usize; 3] {
    let (program, code) = program(ty.name(), source, call, Rounding::Strict);
    assert!(code.is_some(), "{ty:?}: not in C");
    let symbols = values::marked(program.module(), |_, _| true);
    let at: Vec<usize> = places
        .iter()
        .map(|name| {
            let found = symbols.iter().find(|place| place.name == *name).unwrap_or_else(|| panic!("{name}"));
            let Location::Memory { start, .. } = found.at else { panic!("{name} is in no memory") };
            start as usize
        })
        .collect();
    let config = Config { mem: Some(MEMORY as u64), engine: Engine::Interpreter, ..Config::default() };
    let mut pair = [false, true].map(|whole| {
        let mut machine = Machine::new(&program, &config).expect("a machine");
        machine.allow_whole(whole);
        machine
    });
    let start = pair[0].snapshot();
    let mut s = Source::seeded(7);
    let (mut finished, mut in_c, mut trapped) = (0, 0, 0);
    for (which, text) in all.iter().enumerate() {
        for _ in 0..STATES {
            let wild = s.once_in(3);
            let words: Vec<u64> = (1..places.len())
                .map(|_| if wild { word(&mut s) } else { number(ty, program.module().flags.format, &mut s) })
                .collect();
            let what = format!("{ty:?}: {text} of {words:x?}");
            for m in &mut pair {
                m.reset(&start, MEMORY).expect("a machine");
                at.iter().zip(words.iter().chain([&(which as u64)])).for_each(|(at, word)| m.memory_mut()[*at] = *word);
                m.begin(Direction::Forward);
            }
            let run = |pair: &mut [Machine<'_>; 2], what: &str| {
                let before = pair[1].executed();
                let [a, b] = pair.each_mut().map(|m| m.run(None));
                assert_eq!(a, b, "{what}");
                for lane in 0..=usize::from(pair[0].ad_mode() != AdMode::Plain) {
                    let [a, b] =
                        pair.each_ref().map(|m| at.iter().map(|at| m.lane_word(lane, *at)).collect::<Vec<_>>());
                    assert_eq!(a, b, "{what}, lane {lane}");
                }
                (a == Outcome::Finished, pair[1].executed() == before)
            };
            let (done, whole) = run(&mut pair, &what);
            if !done {
                trapped += 1;
                continue;
            }
            finished += 1;
            in_c += usize::from(whole);
            for ad_mode in [AdMode::Plain, AdMode::Gradient] {
                let end = pair[0].snapshot();
                for m in &mut pair {
                    m.restore(&end);
                    m.set_ad_mode(ad_mode);
                    if let (AdMode::Gradient, Some(carried)) = (ad_mode, ty.gradient()) {
                        m.set_lane_word(GRADIENT, at[0], one(m.env(), carried));
                    }
                    m.begin(Direction::Backward);
                }
                if !run(&mut pair, &format!("{what}, {ad_mode:?}, back")).0 {
                    break;
                }
                for m in &mut pair {
                    m.set_ad_mode(AdMode::Plain);
                    m.restore(&end);
                }
            }
        }
    }
    [finished, in_c, trapped]
}
