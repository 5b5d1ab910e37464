//! A mistake is reported with the same code and at the same place at every optimisation level and by every engine. Each program, in Nil or Janus,
//! does one thing with a number `g` that it cannot do; it runs with many numbers, forward and backward.
//!
//! In a backward run, of two checks of the same words the second may be left out, and the first one reports. Then the code is the same, but the
//! place may differ.

use crate::common::janus as generator;

use std::fmt::Write as _;

use pendula::compiler::compile::{Compiled, Options, compile, compile_janus};
use pendula::compiler::passes::Switches;
use pendula::isa::counts::Direction;
use pendula::trap_text::trap_text;
use pendula::vm::{Config, Engine, Machine, Outcome, Program};

use pendula_isa::sample;

use generator::{EXTREME_VALUES, FAULTY_STATEMENTS, PRELUDE};

/// More than a program goes through whose arrays fill the memory.
const STEPS: u64 = 40_000_000;

/// Mistakes in Janus beside those that are planted elsewhere.
const JANUS: &[&str] = &[
    "if g = 3 then y += 1 else y += 2 fi y = 3",
    "if g = 3 then y += 1 else y += 0 fi g = 4",
    "if 1 = 1 then y += 1 fi g = 3",
    "if 1 = 2 then y += 1 else y -= 1 fi g != 3",
    "from g = 3 do y += 1 loop y += 2 until y > 20",
    "from y = 9 loop y += 1 until g = y",
    "local int l = g l += 1 delocal int l = g",
    "local int l = 3 skip delocal int l = g",
    "local int l[2] = {g, 1} skip delocal int l[2] = {g, 2}",
    "push(y, s) local int l pop(l, s) l -= g delocal int l = 0",
    "local stack t push(g + 0, t) delocal stack t = nil",
    "assert g > 5 && g < 50",
    "a[1] += a[g] a[2] -= a[g]",
    "local int i from i = 0 loop a[i] += g / (g - 1) i += 1 until i = 3 delocal int i = 3",
    "local int i from i = 0 loop a[i] += y i += 1 until i = g delocal int i = g",
    "m[1][g] += m[g][1]",
    "m[g] <=> m[0]",
    "local int b[g] b <=> a delocal int b[g]",
    "uncall indexed(g, a)",
];

/// Mistakes in Nil with the variables of [`nil`].
const NIL: &[&str] = &[
    "b ← zeros(Int, g); b → zeros(Int, g)",
    "b ← zeros(Int, g, g); b → zeros(Int, g, g)",
    "b ← zeros(Int, 3); b → zeros(Int, g)",
    "a[g] += 1",
    "x! += a[g]",
    "x! += a[g + 1] * a[g - 1]",
    "SWAP(a[g], x!)",
    "x! += 3 << g",
    "x! += k >> g",
    "x! += k ÷ g",
    "x! += 7 % g",
    "x! += length(a) ÷ g",
    "f! += h / zero",
    "f! += log(zero)",
    "y! += z / g",
    "for i = 1:g:10; x! += i; end",
    "for i = 10:g:1; x! += i; end",
    "for i = 1:3; x! += k ÷ g; end",
    "for i = 1:3; x! += a[g]; end",
    "for i = 1:3; a[i] += a[g]; end",
    "for i = 1:3; t ← 0; t += g; x! += a[t]; t -= g; t → 0; end",
    "sized(x!, g)",
    "(~sized)(x!, g)",
    "indexed(a, g)",
    "(~indexed)(a, g)",
    "added(a[g], a[1])",
    "added(x!, a[g])",
    "@safe @assert g == 3",
    "INC(a[g])",
    "a[g] += a[1]",
    "a[2] += a[g] * a[1]",
    "t ← g; t += 1; t → g",
    "t ← 0; t += g; t → 0",
    "t ← 1; t → 2",
    "b ← zeros(Int, 3); b[1] += g; b → zeros(Int, 3)",
    "b ← [1, g]; b[2] += 1; b → [1, g]",
    "b ← [1, 2]; b → [1, g]",
    "while (g != 3, g != 2); g += 1; end",
    "if (g == 3, g == 4); x! += 1; end",
    "if (g == 0, g == 1); g += 1; else; g += 0; end",
    "if (k == 9, x! == 9); x! += 1; end",
    "if (k == 9, false); x! += 1; end",
    "if (true, g == 3); x! += 1; end",
    "@routine begin; t ← 0; t += 12 ÷ g; end; x! += t; ~@routine",
    "@routine begin; t ← 0; t += a[g]; end; x! += t; ~@routine",
    "@routine begin; t ← 0; t += a[g]; end; t += 1; ~@routine",
];

/// Where a mistake is found out at another check in a run backward: what is known of `g` from the run forward decides the branch before the program
/// runs, and a run backward with other words meets that decision, or the value with which `g` begins, first.
const OTHERWISE_BACKWARD: &[&str] = &[
    "if (g == 0, g == 1); g += 1; else; g += 0; end",
    // A loop whose condition is computed goes on in this case where it is 0, until there are no more steps.
    "iterate int i = 1 by g to 10 x += i end",
];

fn janus(mistake: &str, g: &str) -> String {
    format!("{PRELUDE}    local int g = {g}\n        {mistake}\n    delocal int g = {g}\n")
}

fn nil(mistake: &str, g: &str) -> String {
    let mistake = mistake.replace("; ", "\n        ");
    format!(
        "@i function sized(x!::Int, n::Int)
    b ← zeros(Int, n)
    b[n] += 1
    x! += b[n]
    b[n] -= 1
    b → zeros(Int, n)
end
@i function indexed(a::Vector{{Int}}, n::Int)
    a[n] += a[n + 1]
end
@i function added(u!::Int, v!::Int)
    u! += v!
end
@i function main(x!::Int, k::Int, a::Vector{{Int}}, f!::Float64, zero::Float64, y!::Fixed43, z::Fixed43, h::Float64)
    g ← {g}
        {mistake}
    g → {g}
end
"
    )
}

fn compiled(text: &str, nil: bool, level: u8) -> Compiled {
    let switches = Switches::level(level);
    if !nil {
        return compile_janus("mistake.ja", text, &Options { switches, ..Options::default() });
    }
    let arguments = pendula::arguments::parse("5,9,[1,2,3],0.5,0.0,0.5,0.25,1.0").expect("arguments");
    compile("mistake.nil", text.to_string(), &Options { switches, arguments, ..Options::default() })
}

/// How a run ends: nothing is wrong, or a code, and where.
fn ends(program: &Program, engine: Engine, direction: Direction) -> Option<(&'static str, (u32, u16))> {
    let mut m = Machine::new(program, &Config { engine, ..Config::default() }).expect("a machine");
    m.begin(direction);
    match m.run(Some(STEPS)) {
        Outcome::Finished => None,
        Outcome::Trap(trap) => {
            let module = program.module();
            let place = module.loc(trap.at as usize).map_or((0, 0), |(_, loc)| (loc.line, loc.column));
            Some((trap_text(&trap, module).code, place))
        }
        Outcome::Limit => Some(("no end", (0, 0))),
    }
}

/// Runs mistakes at all levels, and tells those that differ. Says how many programs stopped.
fn differences(mistakes: &[&str], is_nil: bool, told: &mut String) -> usize {
    let mut stopped = 0;
    for mistake in sample::some(mistakes) {
        for g in EXTREME_VALUES {
            let text = if is_nil { nil(mistake, &g.replace("0 - ", "-")) } else { janus(mistake, g) };
            let programs: Option<Vec<Program>> = (0..=2)
                .map(|level| {
                    compiled(&text, is_nil, level).module.map(|m| Program::new(m, true).expect("verified code"))
                })
                .collect();
            let Some(programs) = programs else {
                let one = compiled(&text, is_nil, 0);
                let refused = |level| !compiled(&text, is_nil, level).diagnostics.is_empty();
                assert!(
                    one.module.is_none() && (0..=2).all(refused),
                    "only some levels refuse it: {:?}\n{text}",
                    one.diagnostics
                );
                continue;
            };
            for direction in [Direction::Forward, Direction::Backward] {
                let first = ends(&programs[0], Engine::Jit, direction);
                stopped += usize::from(first.is_some());
                for (level, program) in programs.iter().enumerate() {
                    for engine in [Engine::Jit, Engine::Interpreter] {
                        if engine == Engine::Interpreter && level != 2 {
                            continue;
                        }
                        let found = ends(program, engine, direction);
                        let back =
                            direction == Direction::Backward || mistake.contains("(~") || mistake.contains("uncall");
                        let code = |end: Option<(&'static str, (u32, u16))>| end.map(|(code, _)| code);
                        let same = if back { code(found) == code(first) } else { found == first };
                        let allowed = back && OTHERWISE_BACKWARD.contains(mistake);
                        if !same && !allowed {
                            let (d, e) = (direction.name(), engine.name());
                            let _ = writeln!(
                                told,
                                "`{mistake}`, {g}, {d}: {first:?} at -O0, {found:?} at -O{level} by {e}"
                            );
                        }
                    }
                }
            }
        }
    }
    stopped
}

#[test]
fn mistakes_in_janus_are_told_alike_at_all_levels() {
    let mut told = String::new();
    let stopped = differences(FAULTY_STATEMENTS, false, &mut told) + differences(JANUS, false, &mut told);
    assert!(told.is_empty(), "\n{told}");
    assert!(stopped > sample::share(500u64) as usize, "only {stopped} runs stopped");
}

#[test]
fn mistakes_in_nil_are_told_alike_at_all_levels() {
    let mut told = String::new();
    let stopped = differences(NIL, true, &mut told);
    assert!(told.is_empty(), "\n{told}");
    assert!(stopped > sample::share(500u64) as usize, "only {stopped} runs stopped");
}
