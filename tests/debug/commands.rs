//! The commands of `pendula debug`, as a person gives them.

use crate::common::command::run;

/// What the commands print.
fn debug(arguments: &[&str], commands: &[&str]) -> String {
    let mut all = vec!["debug"];
    all.extend(arguments);
    for command in commands {
        all.extend(["-x", command]);
    }
    all.push("--batch");
    let (code, out, err) = run(&all, "");
    assert!(code == 0 || out.contains("error"), "{code}\n{out}{err}");
    out + &err
}

#[track_caller]
fn has(out: &str, parts: &[&str]) {
    let mut rest = out;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("`{part}` is not there, or not in this order:\n{out}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn breakpoints_stop_in_both_directions() {
    let out = debug(
        &["examples/fib.rasm", "--set", "n=5"],
        &["break top if r4 == 3", "continue", "print r1", "continue", "rcontinue", "print r1 + r2", "rcontinue"],
    );
    has(
        &out,
        &[
            "breakpoint 1: top if r4 == 3",
            "breakpoint 1\n",
            "r1 = 2",
            "the end of the run",
            "breakpoint 1\n",
            "r1 + r2 = 5",
            "the start of the run",
        ],
    );
    let out = debug(
        &["examples/fib.rasm", "--set", "n=5"],
        &["tbreak 31", "ignore 1 2", "c", "p r4", "info breakpoints", "c", "delete 1", "delete 1"],
    );
    has(
        &out,
        &["r4 = 2", "no breakpoints", "the end", "error: there is no breakpoint 1", "error: there is no breakpoint 1"],
    );
}

#[test]
fn what_was_written_last() {
    let out =
        debug(&["examples/fib.rasm", "--set", "n=5"], &["end", "watch r1", "rc", "rc", "last r4", "return", "where"]);
    has(&out, &["the end of the run", "r1: 8 → 5", "r1: 3 → 8", "r4: 3 → 4", "step"]);
    // A variable of a function in Nil, by statements of this call.
    let out = debug(
        &["examples/power.nil", "--args", "0.0,2.0,3"],
        &["advance 48", "print out!", "last ly.log", "info variables", "return", "next", "print out!"],
    );
    has(
        &out,
        &["power.nil:48", "out! = 0.0", "ly.log: ", "45 > ly *= lx", "x = 2.0", "i = 3", "power.nil:48", "out! = 7.99"],
    );
}

#[test]
fn steps_go_over_calls_both_ways() {
    let out = debug(
        &["examples/fib.ja"],
        &["advance 9", "next", "info variables", "rnext", "info variables", "step", "backtrace", "finish", "rfinish"],
    );
    has(
        &out,
        &[
            "fib.ja:9 in fib",
            "fib.ja:10 in fib",
            "x1 = ",
            "fib.ja:9 in fib",
            "x1 = 0",
            "fib.ja:4 in fib",
            "0: fib",
            "1: fib",
        ],
    );
}

#[test]
fn variables_are_told_only_where_they_are() {
    // Optimised code has changed the function.
    let out = debug(&["examples/power.nil", "--args", "0.0,2.0,3", "-O2"], &["advance 45", "print x"]);
    has(&out, &["not here now"]);
    let out = debug(
        &["examples/power.nil", "--args", "0.0,2.0,3"],
        &["print x", "advance 43", "print lx", "print ly", "print i", "print nothing"],
    );
    has(&out, &["x = 2.0", "lx = (log = 0.0)", "ly = (log = 0.0)", "error: ", "error: "]);
}

#[test]
fn output_is_taken_back() {
    let text = "main: start\n print \"one\"\n inc r1\n print \"two\"\n finish\n";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shows.rasm");
    std::fs::write(&file, text).expect("written");
    let out = debug(&[file.to_str().expect("UTF-8")], &["end", "info output", "goto 2", "info output", "end"]);
    has(&out, &["one\ntwo\nthe end", "one\ntwo", "(output taken back)", "one\n", "two\nthe end"]);
}

#[test]
fn a_run_there_and_back_with_gradients() {
    let out = debug(
        &["examples/power.nil", "--args", "0.0,1.5,10", "--loss", "out!"],
        &["advance 47", "rc", "end", "info variables"],
    );
    has(&out, &["the end of the run", "x = 1.5   gradient 384.433"]);
    let out =
        debug(&["examples/fib.rasm", "--round-trip"], &["end", "info registers", "rcontinue", "goto 100", "where"]);
    has(&out, &["the end of the run, after 192", "sp = 1", "the start", "step 100 of 192, backward"]);
}

#[test]
fn traps_are_looked_at_from_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("stops.rasm");
    std::fs::write(&file, "main: start\n inc r1\n inc r2\n assert.eq r1, 2\n finish\n").expect("written");
    let out = debug(&[file.to_str().expect("UTF-8")], &["continue", "print r1", "last r1", "print r1", "print r2"]);
    has(&out, &["error[", "stops.rasm:4", "r1 = 1", "r1: 0 → 1", "stops.rasm:2", "r1 = 0", "r2 = 0"]);
}

#[test]
fn what_is_wrong_is_said() {
    let commands = [
        ("break nowhere", "no procedure or label `nowhere`"),
        ("break 400", "no code at or after line 400"),
        ("break *4000", "no instruction at 4000"),
        ("print r40", "r40"),
        ("print 1 +", "missing"),
        ("goto x", "neither a number"),
        ("frobnicate", "no command `frobnicate`"),
        ("re", "may be"),
        ("set q=1", "q"),
        ("condition 1 r1", "no breakpoint 1"),
        ("x 99999999", "outside"),
        ("info", "`info` shows"),
        ("finish", "nothing called it"),
    ];
    for (command, message) in commands {
        let out = debug(&["examples/fib.rasm"], &[command]);
        has(&out, &["error: ", message]);
    }
    let (code, _, err) = run(&["debug", "examples/functional/lists.vlad"], "");
    assert!(code == 2, "{err}");
}

#[test]
fn scripts_and_standard_input() {
    let (code, out, _) = run(&["debug", "examples/fib.rasm"], "break top\nc\np r2\nq\n");
    assert_eq!(code, 0, "{out}");
    has(&out, &["breakpoint 1", "r2 = 1"]);
    let (code, out, _) = run(&["debug", "examples/fib.rasm", "--script", "-"], "# a comment\n\nend\n");
    assert_eq!(code, 0, "{out}");
    has(&out, &["the end of the run"]);
}

#[test]
fn a_change_makes_another_run() {
    let out = debug(
        &["examples/fib.rasm"],
        &["advance top", "set r3=5", "goto 20", "print r4", "goto 2", "print r3", "goto 20", "print r4", "rc"],
    );
    // The checkpoint at the change is there to come back to.
    has(&out, &["the run is another one", "r4 = 3", "r3 = 18", "r4 = 3", "the start"]);
    let out =
        debug(&["examples/fib.rasm"], &["advance top", "set r3=2", "end", "print r4", "goto 2", "end", "print r4"]);
    has(&out, &["after 16 instructions", "r4 = 2", "27 > assert", "after 16 instructions", "r4 = 2"]);
}

#[test]
fn what_fresh_eyes_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("written");
        file.to_str().expect("UTF-8").to_string()
    };
    // A variable whose end fails has the value that it has before the statement.
    let file = write("ends.nil", "@i function f(y!, x)\n    t ← 1\n    t += x\n    y! += t\n    t → 1\nend\n");
    let out = debug(&[&file, "--args", "0,3"], &["continue", "print t", "last t", "set t=1", "end", "info variables"]);
    has(&out, &["t = 4", "ends.nil:5", "t = 4", "t: 1 → 4", "ends.nil:3", "the run is another one", "x = 3"]);
    // Two variables of one name; arrays before they begin.
    let text = "@i function f(y!, x)\n    for i = 1:2\n        y! += i\n    end\n    v ← zeros(Int, 3)\n    for i = 5:6\n        y! += i\n    end\n    v → zeros(Int, 3)\nend\n";
    let file = write("twice.nil", text);
    let all = [
        "advance 3",
        "print i",
        "advance 5",
        "print v",
        "print i",
        "next",
        "print v",
        "advance 7",
        "print i",
        "finish",
        "radvance 3",
        "print i",
    ];
    let out = debug(&[&file, "--args", "0,3"], &all);
    has(
        &out,
        &["i = 1", "error: `v` is not here now", "error: `i` is not here now", "v = [0, 0, 0]", "i = 5", "i = 2"],
    );
    // `next` at the start goes to the first statement; conditions may name what is not there yet.
    let out = debug(&[&file, "--args", "0,3"], &["next", "break 7 if i == 6", "continue", "print i", "watch y!"]);
    has(&out, &["twice.nil:2 in f", "breakpoint 1\n", "i = 6", "error: `y!` has its place only while"]);
    // A breakpoint that does not stop hides no other one.
    let out = debug(&["examples/fib.rasm"], &["break top if r4==100", "break top if r4==2", "c", "end", "rc", "rc"]);
    has(&out, &["breakpoint 2\n", "the end", "breakpoint 2\n", "the start"]);
    let out = debug(&["examples/fib.rasm", "--max-steps", "20"], &["end", "stepi"]);
    has(&out, &["error: the run has come to --max-steps 20", "step 20\n", "error: the run has come"]);
}

#[test]
fn steps_over_calls_stop_at_breakpoints_within_them() {
    let out = debug(
        &["examples/fib.ja"],
        &[
            "advance 9",
            "break 4",
            "next",
            "backtrace",
            "delete",
            "finish",
            "break 5 if n == 0",
            "rnext",
            "print n",
            "delete",
            "rfinish",
        ],
    );
    has(
        &out,
        &[
            "fib.ja:9 in fib, step 13",
            "(pendula) next\nbreakpoint 1\n",
            "fib.ja:4 in fib, step 15",
            "0: fib at examples/fib.ja:4",
            "(pendula) finish\n",
            "fib.ja:10 in fib, step 48",
            "(pendula) rnext\nbreakpoint 2\n",
            "fib.ja:5 in fib",
            "n = 0",
            "(pendula) rfinish\n",
            "fib.ja:9 in fib",
        ],
    );
    // A watched place stops a step over a call, too, on both ways.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("calls.rasm");
    let text = "main: start\n call twice\n add r2, 1\n finish\n proc twice\n add r1, 3\n add r1, 4\n ret twice\n";
    std::fs::write(&file, text).expect("written");
    let file = file.to_str().expect("UTF-8");
    let out = debug(
        &[file],
        &["advance 2", "watch r1", "next", "next", "advance 3", "rnext", "info registers", "rstep", "delete", "rnext"],
    );
    has(
        &out,
        &[
            "breakpoint 1: r1: 0 → 3",
            "(pendula) next\nbreakpoint 1: r1: 3 → 7",
            "(pendula) advance 3",
            "(pendula) rnext\nbreakpoint 1: r1: 3 → 7",
            "r1 = 3",
            "(pendula) rstep\nbreakpoint 1: r1: 0 → 3",
            "calls.rasm:6",
            "(pendula) rnext\n",
            "calls.rasm:5",
        ],
    );
}

#[test]
fn a_procedure_is_entered_at_its_beginning_or_backward_at_its_end() {
    let out = debug(&["examples/fib.ja", "--round-trip"], &["break main", "continue", "continue", "continue"]);
    has(
        &out,
        &[
            "breakpoint 1\n",
            "fib.ja:18 in main",
            "breakpoint 1\n",
            "fib.ja:18 in main",
            ", backward",
            "the end of the run",
        ],
    );
    // Each of the calls of `fib` is entered once on the way there.
    let out = debug(&["examples/fib.ja"], &["break fib", "continue", "ignore 1 100", "continue", "info breakpoints"]);
    has(&out, &["the end of the run", "passed over 96 times more"]);
}

#[test]
fn energy_is_that_of_the_run_up_to_here() {
    let file = "examples/fib.rasm";
    let out = debug(
        &[file],
        &[
            "end",
            "info energy landauer,cmos45",
            "goto 10",
            "info energy landauer",
            "info energy nothing",
            "info counts x",
        ],
    );
    has(
        &out,
        &[
            "96 instructions up to here, with a memory of 1 words billed (1 touched)",
            "landauer",
            "cmos45",
            "10 instructions up to here",
            "error: ",
            "nothing",
            "error: `x` is too much here",
        ],
    );
    // What the whole run costs, is what `energy` says without what goes to and from the host.
    let parts = |text: &str| {
        let head = text.lines().find(|line| line.starts_with("technology")).expect("a table");
        let row = text.lines().find(|line| line.starts_with("cmos45")).expect("a row");
        // An energy is two words.
        let names = head.split("  ").map(str::trim).filter(|name| !name.is_empty());
        let values = row.split("  ").map(str::trim).filter(|value| !value.is_empty());
        names.zip(values).map(|(n, v)| (n.to_string(), v.to_string())).collect::<std::collections::BTreeMap<_, _>>()
    };
    let (code, whole, err) = run(&["energy", file, "--tech", "cmos45", "--by", "phase"], "");
    assert_eq!(code, 0, "{err}");
    let (whole, own) = (parts(&whole), parts(&out));
    for part in ["logic", "control", "memory"] {
        assert!(own[part] == whole[part] && own[part] != "0 J", "{part}: {own:?} {whole:?}");
    }
    assert!(!own.contains_key("link") && whole.contains_key("link"), "{own:?} {whole:?}");
}

#[test]
fn outer_procedures_are_seen_as_they_were_at_their_calls() {
    let out = debug(
        &["examples/fib.ja"],
        &[
            "break 5 if n == 0",
            "continue",
            "print n",
            "up",
            "print n",
            "info variables",
            "set n=3",
            "up 2",
            "print n",
            "print x1",
            "down",
            "where",
            "frame 0",
            "print n",
            "frame 99",
            "up",
            "step",
            "print n",
            "down",
        ],
    );
    has(
        &out,
        &[
            "(pendula) print n\nn = 0\n",
            "1: fib\nexamples/fib.ja:9 in fib",
            "(pendula) print n\nn = 0\n",
            "n = 0",
            "error: only what the innermost procedure sees can be changed",
            "3: fib\nexamples/fib.ja:9 in fib",
            "n = 2",
            "2: fib",
            "(pendula) where\nexamples/fib.ja:5 in fib",
            "0: fib",
            "n = 0",
            "error: there is no procedure 99: `backtrace` shows 6",
            "1: fib",
            // A movement leads back to the innermost one.
            "(pendula) step\n",
            "(pendula) down\nerror: this is the innermost procedure",
        ],
    );
    // Also one that comes back to the same moment.
    let out = debug(&["examples/fib.ja"], &["goto 13", "up", "next", "rnext", "print n", "set n=9"]);
    has(&out, &["1: main", "(pendula) rnext\nexamples/fib.ja:9 in fib, step 13", "n = 3", "set: "]);
}

#[test]
fn displays_are_what_the_chosen_procedure_sees() {
    let out =
        debug(&["examples/fib.ja"], &["goto 40", "up 2", "print n", "display n", "frame 0", "print n", "display"]);
    let values: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("n = ")).collect();
    let shown: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("1: n = ")).collect();
    assert!(values.len() == 2 && values[0] != values[1], "{out}");
    // The second procedure outwards, then the innermost one.
    assert_eq!(shown, values, "{out}");
}

#[test]
fn what_is_missing_after_a_command_is_told() {
    let out = debug(&["examples/fib.rasm"], &["break top", "enable", "goto +", "ignore 1"]);
    let missing = "error: say which breakpoint: `info breakpoints` shows their numbers";
    has(&out, &[missing, "error: a whole number is missing", "error: say how often: `ignore 1 10`"]);
}

#[test]
fn what_undoes_a_routine_is_marked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("routine.nil");
    let text = "@i function f(y!, x)\n    @routine begin\n        a ← 0.0\n        a += x * x\n    end\n    y! += a\n    ~@routine\nend\n";
    std::fs::write(&file, text).expect("written");
    let file = file.to_str().expect("UTF-8");
    let out = debug(
        &[file, "--args", "0.0,3.0", "--round-trip"],
        &["step 2", "step", "step", "step", "end", "rstep", "rstep 3"],
    );
    has(
        &out,
        &[
            "step 6\n    4 > a += x * x",
            "    6 > y! += a",
            ", undoing a routine\n    4 < a += x * x",
            ", undoing a routine\n    3 < a ← 0.0",
            "the end of the run",
            ", backward\n    3 < a ← 0.0",
            ", backward, redoing a routine\n    4 > a += x * x",
        ],
    );
}

#[test]
fn the_head_of_a_function_is_where_it_is_entered() {
    let out = debug(&["examples/fib.ja"], &["break 3", "break 13", "continue", "continue", "advance 14"]);
    has(
        &out,
        &[
            "breakpoint 1: fib\n",
            "breakpoint 2: main\n",
            "breakpoint 2\n",
            "fib.ja:18 in main",
            "breakpoint 1\n",
            "fib.ja:4 in fib",
        ],
    );
}

#[test]
fn the_way_back_from_the_end_leads_into_the_program() {
    let (file, args) = ("examples/fib.ja", &["examples/fib.ja", "--round-trip"][..]);
    let out = debug(&[file], &["end", "rnext", "end", "last x1", "last x1", "return", "return"]);
    has(
        &out,
        &[
            "the end of the run",
            "fib.ja:18 in main",
            "the end of the run",
            "x1: ",
            "fib.ja:18 in main",
            "the end of the run",
        ],
    );
    // Past the turn, it stays on the way back.
    let out = debug(args, &["end", "rnext"]);
    has(&out, &["the end of the run", "fib.ja:18 in main", ", backward"]);
    // The end is known where the run comes to it by steps, too.
    let out = debug(&["examples/fib.rasm", "--set", "n=1"], &["step 20", "start", "goto end"]);
    has(
        &out,
        &[
            "the end of the run, after 11 instructions\nstep 11 of 11",
            "step 0 of 11",
            "(pendula) goto end\nthe end of the run, after 11 instructions",
        ],
    );
}

#[test]
fn in_brackets_a_name_is_its_address() {
    let out = debug(&["examples/fib.rasm"], &["print [n]", "print [n + 0]", "watch [n]"]);
    has(&out, &["[n] = 18", "[n + 0] = 18", "breakpoint 1: [n] changes"]);
}

#[test]
fn breakpoints_are_passed_over_on_both_ways() {
    let all = [
        "break top",
        "ignore 1 2",
        "continue",
        "print r4",
        "end",
        "ignore 1 2",
        "rcontinue",
        "print r4",
        "info breakpoints",
        "rcontinue",
        "print r4",
    ];
    let out = debug(&["examples/fib.rasm", "--set", "n=8"], &all);
    has(
        &out,
        &[
            "breakpoint 1\n",
            "r4 = 2",
            "breakpoint 1\n",
            "r4 = 5",
            "1: top, stopped 2 times",
            "breakpoint 1\n",
            "r4 = 4",
        ],
    );
}

#[test]
fn a_stop_is_explained_as_a_run_explains_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("fi.ja");
    let text = "procedure main()\n    int n = 1\n    int m\n    if n = 1 then\n        n += 1\n    fi m = 2\n";
    std::fs::write(&file, text).expect("written");
    let file = file.to_str().expect("UTF-8");
    let explained = ["error[P0109]: `fi m = 2` should be true here", "fi.ja:6", "m = 0"];
    has(&debug(&[file], &["end"]), &explained);
    let (_, out, err) = run(&["run", file], "");
    has(&(out + &err), &explained);
    // A run that was changed is another one.
    let out = debug(&[file], &["break 5", "continue", "set m=3", "end"]);
    has(&out, &["set: ", "error[P0109]", "m = 3"]);
}
