//! Searches: loops whose turns do nothing unless a condition holds that depends on what the last such turn has done. C code passes over turns that find
//! nothing; values and gradients are the interpreter's to the bit, and what traps there gives up here.

use pendula::compiler::c::{Certify, Mode, Settings, write};
use pendula::isa::adjoint::ActiveArguments;
use pendula_isa::sample;

use super::nil::Call;
use super::whole::{compare, compare_there_and_back, form_for_c};

/// The greatest elements of a vector by the library, and what it makes of them.
const GREATEST: &str = "
using statistics

@i function f!(y!::Float64, k!::Int, x::Vector{Float64})
    maximum!(y!, x)
    argmax!(k!, x)
    logsumexp!(y!, x)
end
";

/// Searches as users write them: from the end, for what is near, and for more than one thing.
const OWN: &str = "
@i function f!(y!::Float64, k!::Int, x::Vector{Float64})
    @routine begin
        n ← length(x)
        steps ← zeros(Int, n)
        best ← n
        for i = n - 1:-1:1
            if (x[i] < x[best], steps[i] != 0)
                steps[i] += best - i
                best -= steps[i]
            end
        end
        falls ← zeros(Int, n)
        times ← 1
        last ← 1
        for i = 2:n
            if (x[i] * x[i] < x[last] - 0.25, falls[i] != 0)
                falls[i] += i - last
                last += falls[i]
                times += 1
            end
        end
        found ← zeros(Int, n)
        c ← 0
        for i = 1:n
            if ((x[i] > 0.5) && (c < 3), found[i] != 0)
                found[i] += 1
                c += 1
            end
        end
    end
    y! += x[best] * x[last]
    k! += times + c
    ~@routine
end
";

/// Where something is found in vectors of so many elements.
fn vectors() -> Vec<(String, Vec<f64>)> {
    let mut out = Vec::new();
    for n in [1, 2, 9, 17, 18, 26, 75] {
        let wave = |i: usize| ((i * 37 + 11) % 64) as f64 / 64.0;
        out.push((format!("{n}, rising"), (0..n).map(|i| i as f64 / 64.0).collect()));
        out.push((format!("{n}, falling"), (0..n).map(|i| (n - i) as f64 / 64.0).collect()));
        out.push((format!("{n}, the same"), vec![0.5; n]));
        out.push((format!("{n}, zeros of both signs"), (0..n).map(|i| if i % 3 == 1 { 0.0 } else { -0.0 }).collect()));
        out.push((format!("{n}, up and down"), (0..n).map(wave).collect()));
        for at in [1, 7, 8, 9, 15, 16, 17, 24, 25, n - 1].into_iter().filter(|at| *at < n) {
            let one = |i: usize, other: f64| if i == at { other } else { 0.25 };
            out.push((format!("{n}, one more at {at}"), (0..n).map(|i| one(i, 0.75)).collect()));
            out.push((format!("{n}, one less at {at}"), (0..n).map(|i| one(i, -0.75)).collect()));
        }
    }
    out
}

fn call(before: &str, x: &[f64]) -> Call {
    let x: Vec<String> = x.iter().map(|x| format!("{x:?}")).collect();
    let args = format!("{before},[{}]", x.join(","));
    Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() }
}

/// How many functions pass over turns in C text, where rounding is as written, and where it is free.
fn passing(source: &str, call: &Call) -> [usize; 2] {
    let (ir, arguments, switches) = form_for_c(source, call);
    [false, true].map(|fast| {
        let settings = Settings { fast, certify: Certify::Everything, keep: true, switches };
        let code = write(&ir, &arguments, &[Mode::ForwardAndBack(ActiveArguments::ALL)], settings).expect("C");
        code.text.matches("SELDOM static int64_t passed_").count()
    })
}

#[test]
fn loops_that_are_searches() {
    let call = call("0.25,3", &[0.5; 80]);
    // For each of three calls, and back for two: the last need not be undone and done again. With free rounding, more is undone.
    assert_eq!(passing(GREATEST, &call), [5, 8]);
    // All three, and one of them back: the records of the others are forgotten. With free rounding, two of them, there and back: the second compares a
    // difference of products, which may be rounded otherwise in another place.
    assert_eq!(passing(OWN, &call), [4, 4]);
    let sum = "@i function f!(y!::Float64, k!::Int, x::Vector{Float64})
        for i = 1:length(x)
            if (x[i] > 0.5, ~)
                y! += x[i]
                k! += 1
            end
        end
    end";
    assert_eq!(passing(sum, &call), [0, 0]);
}

#[test]
fn what_searches_find() {
    for (what, x) in sample::some(vectors().iter()) {
        for (name, source) in [("greatest", GREATEST), ("own", OWN)] {
            let what = format!("{name}, {what}");
            let ran = compare(&what, source, &call("0.25,3", x));
            assert!(ran.whole && ran.finished, "{what}");
            compare_there_and_back(&what, source, &call("0.25,3", x));
        }
    }
}

/// The record is not empty, or says something else than the vector.
#[test]
fn searches_that_trap() {
    let source = "
using statistics

@i function f!(k!::Int, before!::Vector{Int}, x::Vector{Float64})
    greatest_record!(k!, before!, x)
end
";
    let x: Vec<f64> = (0..40).map(|i| if i == 20 { 0.75 } else { 0.5 }).collect();
    let record = |at: usize| {
        let words: Vec<&str> = (0..40).map(|i| if i == at { "7" } else { "0" }).collect();
        format!("0,[{}]", words.join(","))
    };
    for at in [1, 8, 9, 16, 17, 20, 30, 39] {
        let ran = compare(&format!("a record with a word at {at}"), source, &call(&record(at), &x));
        assert!(ran.whole && !ran.finished, "{at}");
    }
    let ran = compare("an empty record", source, &call(&record(40), &x));
    assert!(ran.whole && ran.finished);
}
