//! Uncomputing or erasing: what the energy report says of routines, and that `--uncompute auto` costs no more than the better of `always` and `never`.

use crate::common::{command, folder};

use std::fs;

use pendula::hw_model::Technology;
use pendula_isa::sample;
use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn json(args: &[&str]) -> Value {
    let (code, out, err) = command::run(args, "");
    assert_eq!(code, 0, "{args:?}: {err}");
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}: {out}"))
}

fn written(name: &str, text: &str) -> String {
    let path = folder("breakeven").join(name);
    fs::write(&path, text).expect("a file to write");
    path.to_str().expect("UTF-8").to_string()
}

/// A technology in which next to nothing costs but erasing and accesses to memory.
const ACCESSES: &str = r#"name = "accesses"

[operation_joule]
source = "made up"
int32_add = 1e-24
int32_mul = 1e-24
fp32_add = 1e-24
fp32_mul = 1e-24
level_second = 1e-12
leakage_ratio = 0.0
clock_tree_ratio = 0.0

[memory]
source = "made up"
size_byte = [1, 1000000000]
access_joule = [1e-9, 1e-9]
access_ticks = 1.0

[link]
source = "made up"
joule_per_bit = 1e-24

[conditions]
source = "made up"
temperature_kelvin = 300.0

[erasure]
source = "made up"
landauer_factor = 1e9
overwrite_ratio = 1.0
"#;

/// How often the routine of a program was undone, how many words it leaves each time, and what erasing them costs in all, in joules.
fn routine(name: &str, text: &str, set: &[&str]) -> (u64, u64, f64) {
    let file = written(name, text);
    let technology = written(&format!("{name}.toml"), ACCESSES);
    let report = json(&[&["energy", &file, "--tech", &technology, "--json"], set].concat());
    let [routine] = &report["technologies"][0]["routines"].as_array().expect("routines")[..] else {
        panic!("one routine: {report}")
    };
    let number = |key: &str| routine[key].as_u64().expect("a number");
    (number("times"), number("words"), routine["erase"].as_f64().expect("joules"))
}

/// Whether it is what words of 64 bits and accesses cost.
fn close(joules: f64, words: f64, accesses: f64) -> bool {
    let bit = 1e9 * 1.380649e-23 * 300.0 * std::f64::consts::LN_2;
    let expected = 64.0 * bit * words + 1e-9 * accesses;
    (joules / expected - 1.0).abs() < 1e-3
}

/// A routine that is a loop, and nothing else, is entered once, and a word to which it adds a hundred times is one word.
#[test]
fn a_loop_is_entered_once_and_a_word_is_one() {
    let sum = "        .data
w:      .word   0
        .text
main:   start
        .routine sum
top:    from.ne r4, r0, bottom
        add     [w], 7
        inc     r4
bottom: jmp.ne  r4, 100, top
        .endroutine
        add     r1, [w]
        .unroutine sum
        finish
";
    let (times, words, joules) = routine("sum.rasm", sum, &[]);
    assert_eq!((times, words), (1, 2));
    assert!(close(joules, 2.0, 1.0), "{joules}");
    // The counter is known to be a hundred, and taken back: then it is zero.
    let cleared = sum.replace("        .endroutine", "        sub     r4, 100\n        .endroutine");
    let (times, words, joules) = routine("cleared.rasm", &cleared, &[]);
    assert_eq!((times, words), (1, 1));
    assert!(close(joules, 1.0, 1.0), "{joules}");
}

/// A routine in a loop that begins with it, and a routine that begins with a loop under a condition.
#[test]
fn entries_of_what_begins_with_a_loop() {
    let within = "        .data
w:      .word   0
        .text
main:   start
again:  from.ne r5, r0, last
        .routine sum
top:    from.ne r4, r0, bottom
        add     [w], 7
        inc     r4
bottom: jmp.ne  r4, 100, top
        .endroutine
        add     r1, [w]
        .unroutine sum
        inc     r5
last:   jmp.ne  r5, 9, again
        finish
";
    let (times, words, joules) = routine("within.rasm", within, &[]);
    assert_eq!((times, words), (9, 2));
    assert!(close(joules, 18.0, 9.0), "{joules}");
    // How often instructions ran does not tell how often this one is entered: between a jump over the loop and one back.
    let guarded = "        .data
        .import n
w:      .word   0
n:      .word   5
        .text
main:   start
        add     r1, [n]
over:   jmp.eq  r1, r0, beyond
        .routine sum
top:    from.ne r4, r0, bottom
        add     [w], 7
        inc     r4
bottom: jmp.ne  r4, r1, top
        .endroutine
beyond: from.eq r1, r0, over
        add     r2, [w]
which:  jmp.eq  r1, r0, none
        .unroutine sum
none:   from.eq r1, r0, which
        finish
";
    let (times, words, _) = routine("guarded.rasm", guarded, &[]);
    assert_eq!((times, words), (1, 2));
}

/// What runs longer than it is followed is entered as often all the same.
#[test]
#[ignore = "half a minute long: .ci/full"]
fn a_long_loop_is_entered_once() {
    let long = "        .data
w:      .word   0
        .text
main:   start
        add     r1, 3000000
        .routine sum
top:    from.ne r4, r0, bottom
        add     [w], 7
        inc     r4
bottom: jmp.ne  r4, r1, top
        .endroutine
        .unroutine sum
        finish
";
    let (times, words, _) = routine("long.rasm", long, &[]);
    assert_eq!((times, words), (1, 2));
}

/// Each word of an array is one, however often it is added to; a word that is taken back is none, and one that happens to be zero is one.
#[test]
fn words_are_those_that_are_left() {
    let array = "        .data
        .import n
n:      .word   5
a:      .space  10
t:      .word   0
        .text
main:   start
        add     r1, [n]
        .routine fill
turn:   from.ne r5, r0, turned
top:    from.ne r4, r0, bottom
        add     [t], r1             ; there and back
        add     [a+r4], r1
        sub     [t], r1
        inc     r4
bottom: jmp.ne  r4, 10, top
        sub     r4, 10
        inc     r5
turned: jmp.ne  r5, 4, turn
        sub     r5, 4
        addmul  r6, r1, r1
        sub     r7, r6
        add     r7, 25              ; zero in one run, and not in another
        .endroutine
        .unroutine fill
        sub     r1, [n]
        finish
";
    for set in [&["--set", "n=5"][..], &["--set", "n=6"], &["--round-trip"], &["--engine", "interp"]] {
        let (times, words, joules) = routine("array.rasm", array, set);
        assert_eq!((times, words), (1, 12), "{set:?}");
        assert!(close(joules, 12.0, 10.0), "{joules}");
    }
    // What an instruction has found to be zero is zero.
    let checked = array.replace("; zero in one run, and not in another\n", "\n        zero    r7\n");
    let (_, words, _) = routine("checked.rasm", &checked, &[]);
    assert_eq!(words, 11);
}

/// What the procedures that a routine calls leave is in it, and what they put back is not; neither is what runs backward.
#[test]
fn words_that_procedures_leave() {
    let calls = "        .data
w:      .word   0
        .text
        proc    twice
        push    r9
        addplus r9, r1, r1
        add     [w], r9
        subplus r9, r1, r1
        pop     r9
        ret     twice
main:   start
        inc     r1
        .routine doubling
        call    twice
        call    twice
        .endroutine
        .unroutine doubling
        finish
";
    let (times, words, joules) = routine("calls.rasm", calls, &[]);
    assert_eq!((times, words), (1, 1));
    assert!(close(joules, 1.0, 1.0), "{joules}");
}

/// A gradient is no other run forward.
#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn words_of_a_run_with_gradients() {
    let routines = |more: &[&str]| {
        let bessel = ["energy", "examples/bessel.rasm", "--tech", "cmos45", "--json"];
        json(&[&bessel[..], more].concat())["technologies"][0]["routines"].clone()
    };
    let forward = routines(&[]);
    assert_eq!(forward.as_array().map(Vec::len), Some(2), "{forward}");
    assert_eq!(routines(&["--grad"]), forward);
}

/// Joules of a run, by technology.
fn totals(file: &str, args: &[&str], uncompute: &[&str], technologies: &[&str]) -> Vec<f64> {
    let names = technologies.join(",");
    let report =
        json(&[&["energy", file, "--json", "--tech", &names, "--args"], args, &["--uncompute"], uncompute].concat());
    let all = report["technologies"].as_array().expect("technologies");
    all.iter().map(|t| t["total"]["total"].as_f64().expect("joules")).collect()
}

/// Checks that `auto` is as good as the better of the others, for each technology.
fn compare(file: &str, args: &str, technologies: &[&str]) {
    compare_with(file, &[args], technologies);
}

fn compare_with(file: &str, args: &[&str], technologies: &[&str]) {
    let (always, never) = (totals(file, args, &["always"], technologies), totals(file, args, &["never"], technologies));
    for (n, technology) in technologies.iter().enumerate() {
        let auto = totals(file, args, &["auto"], &[technology])[0];
        let best = always[n].min(never[n]);
        assert!(auto <= best * (1.0 + 1e-12), "{file} on {technology}: {auto:e}, not {best:e}");
    }
}

fn presets() -> Vec<&'static str> {
    Technology::presets().filter(|name| Technology::preset(name).is_some_and(|t| t.energy().is_some())).collect()
}

/// The programs in Nil of README's table, with the arguments that it gives them.
fn examples() -> Vec<(String, Vec<String>)> {
    let readme = fs::read_to_string(format!("{ROOT}/README.md")).expect("a page");
    let commands = readme.lines().filter_map(|line| line.split_once("`pendula run ")?.1.split('`').next());
    let of = |command: &str| {
        let words = command.split('"').enumerate().flat_map(|(n, part)| match n % 2 {
            0 => part.split_whitespace().map(str::to_string).collect(),
            _ => vec![part.to_string()],
        });
        let mut words: Vec<String> = words.collect();
        let file = words.remove(0);
        (format!("examples/{file}"), words)
    };
    commands.filter(|command| command.contains(".nil")).map(of).collect()
}

#[test]
#[ignore = "takes ten seconds: part of .ci/full"]
fn auto_is_never_worse_over_examples() {
    let technologies = ["landauer", "cmos45", "acmos22-pipelined", "nsquid"];
    let all = examples();
    let (file, args) = all.iter().find(|(file, _)| file.ends_with("exp.nil")).expect("README has it");
    compare(file, &args[1], &technologies);
}

/// Minutes long.
#[test]
#[ignore = "minutes long: .ci/full"]
fn auto_is_never_worse_over_all_examples_and_workloads_on_every_preset() {
    let technologies = presets();
    for (file, args) in examples() {
        let mut more = args.iter().map(String::as_str).skip_while(|word| *word != "--types");
        match (more.next(), more.next()) {
            (Some(_), Some(types)) => compare_with(&file, &[&args[1], "--types", types], &technologies),
            _ => compare(&file, &args[1], &technologies),
        }
    }
    let file = |name: &str| fs::read_to_string(format!("{ROOT}/tests/data/{name}")).expect("arguments");
    let (gmm, ba, sparse) = (file("gmm.args"), file("ba.args"), file("sparse-dot.args"));
    for (program, args) in [
        ("benches/workloads/gmm.nil", gmm.trim()),
        ("benches/workloads/ba.nil", ba.trim()),
        ("examples/sparse-dot.nil", sparse.trim()),
        ("benches/workloads/bessel.nil", "0.0,2,1.0"),
        ("benches/workloads/norm.nil", "0.0,0.0,[1.0,2.0,3.0,4.0,5.0,5.0,1.0]"),
    ] {
        compare(program, args, &technologies);
    }
}

/// A program in Nil of routines beside and within each other, by chance.
fn program(mut seed: u64) -> String {
    let mut below = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let mut text = "@i function f(y!::T, x::T) where T\n".to_string();
    for block in 0..1 + below(3) {
        let turns = [1, 3, 40][below(3) as usize];
        let term = ["exp(x / i)", "x * 0.5", "sqrt(x)", "x / i"][below(4) as usize];
        let sum = if below(2) == 0 {
            format!("        for i = 1:{turns}\n            s{block} += {term}\n        end\n")
        } else {
            format!(
                "        for i = 1:{turns}\n            @routine begin\n                t ← zero(T)\n                t += {term}\n            end\n            s{block} += t * x\n            ~@routine\n        end\n"
            )
        };
        text += &format!(
            "    @routine begin\n        s{block} ← zero(T)\n{sum}    end\n    y! += s{block}\n    ~@routine\n"
        );
    }
    text + "end\n"
}

#[test]
fn auto_is_never_worse_over_random_programs() {
    for seed in 1..=sample::share(16) {
        let file = written(&format!("random-{seed}.nil"), &program(seed));
        compare(&file, "0.0,1.5", &["landauer", "cmos45", "acmos22-fdsoi"]);
    }
}
