//! Loops whose turns run forward and back one by one: what they add to results is logged, and summed in the written order. Everything
//! is as in the interpreter, to the last bit.

use pendula::arguments::parse;
use pendula_isa::sample;

use super::nil::Call;
use super::whole::{compare_there_and_back, there_and_back_in_c};

/// Whether there and back in C, turns of a loop are logged.
fn is_logged(source: &str, call: &Call) -> bool {
    let c = there_and_back_in_c(source, call);
    c.text.contains("LOGGED(addends")
}

/// A loop with a computation that is undone, what it adds, and what comes before and after it.
fn program(before: &str, turn: &str, after: &str) -> String {
    format!(
        "@i function term!(y!::T, u::T, w::T) where T
    y! += u * w
end

@i function f!(y!::T, z!::T, x::AbstractVector{{T}}, w::AbstractVector{{T}}, n::Int) where T
    {before}
    for i = 1:n
        @routine begin
            u ← 0.0
            v ← 0.0
            u += x[1 + i % 3] * w[i]
            v += sin(u)
        end
        {turn}
        ~@routine
    end
    {after}
end
"
    )
}

const LOOP: &str = "for k = 1:length(w)
        y! += w[k] * x[1]
    end";

#[test]
fn loops_whose_turns_are_logged() {
    // Before, in each turn, after, and whether it is logged.
    let cases = [
        ("", "y! -= v * w[i]", "", true),
        ("y! += x[1] / 3", "term!(y!, v, w[i])\n        z! += u / 3", "y! += x[2] / 7", true),
        ("", "y! += v", LOOP, true),
        ("", "y! += v", "term!(y!, x[1], x[2])\n    y! -= exp(w[1])", true),
        (
            "",
            "if (w[i] > 0.5, ~)\n            y! += v\n        else\n            y! += u * x[2]\n        end",
            "",
            true,
        ),
        // Several times in a turn.
        ("", "y! += v\n        y! += u", "", true),
        (
            "y! += x[1] / 3",
            "y! -= v * w[i]\n        z! += u / 3\n        term!(y!, v, w[i])\n        y! -= exp(u)",
            LOOP,
            true,
        ),
        (
            "",
            "if (w[i] > 0.5, ~)\n            y! += v\n            z! += u\n            y! -= u\n        else\n            y! += u * x[2]\n            \
             y! -= v\n            z! -= v\n        end\n        y! += w[i]",
            "y! -= x[2]",
            true,
        ),
        (
            "",
            "y! -= u\n        @routine begin\n            t ← 0.0\n            t += v * u\n        end\n        y! += t\n        y! -= v * t\n        ~@routine",
            "",
            true,
        ),
        // In some turns only, in a loop, or looked at.
        (
            "",
            "if (w[i] > 0.5, ~)\n            y! += v\n            y! += u\n        else\n            y! += v\n        end",
            "",
            false,
        ),
        ("", "if (w[i] > 0.5, ~)\n            y! += v\n        end", "", false),
        ("", "for k = 1:3\n            y! += v * x[k]\n        end", "", false),
        ("", "y! += v", "z! += y! * x[1]", false),
        ("", "y! += v * z!\n        z! += u", "", false),
    ];
    let mut random = 1u64;
    let numbers: Vec<String> = (0..40)
        .map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{}", (random >> 11) as f64 / (1u64 << 53) as f64 + 0.1)
        })
        .collect();
    for (k, (before, turn, after, logged)) in cases.into_iter().enumerate() {
        let source = program(before, turn, after);
        for &n in sample::in_turn(&[40, 1, 0], k) {
            for &start in sample::in_turn(&["0.1", "-0.0"], k / 3) {
                let args = format!("{start},0.7,[0.3,1.7,0.9],[{}],{n}", numbers.join(","));
                let call = Call { arguments: parse(&args).expect("arguments"), ..Call::default() };
                assert_eq!(is_logged(&source, &call), logged, "{source}");
                if logged {
                    compare_there_and_back(&format!("{source}\n{args}"), &source, &call);
                }
            }
        }
    }
}

/// The log grows with the loop.
#[test]
fn a_long_log() {
    let source = program("", "y! += v", "y! -= x[1]").replace("w[i]", "w[1 + i % 2]");
    let args = "0.1,0.7,[0.3,1.7,0.9],[0.5,0.25],5000";
    let call = Call { arguments: parse(args).expect("arguments"), ..Call::default() };
    assert!(is_logged(&source, &call));
    compare_there_and_back("a long log", &source, &call);
}
