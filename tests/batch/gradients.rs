//! Gradients of batches, and the machines that are made as new for every item.

use super::*;

#[test]
fn gradients_of_items_in_lines_blocks_and_files() {
    let folder = Folder::new("gradients");
    let z = format!("z={}", folder.npy("z.npy", &[2], &[1.0, 0.5]));
    let (code, out, _) = pendula(&["grad", "bessel.rasm", "--batch", &z]);
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    assert_eq!((code, lines[0], lines.len()), (0, "item  y                     ∂/∂z", 3));
    assert_eq!(lines[1], "0     0.11490348493190047   0.21024361588113255");
    let (code, out, _) = pendula(&["grad", "bessel.rasm", "--batch", &z, "--hessian"]);
    let alone = pendula(&["grad", "bessel.rasm", "--hessian"]).1;
    assert_eq!((code, out.starts_with(&format!("item 0\n{alone}\nitem 1\n"))), (0, true), "{out}");
    let at = |name: &str| folder.at(name);
    let save = [
        format!("y={}", at("y.npy")),
        format!("d/dz={}", at("d.npy")),
        format!("hessian={}", at("h.npy")),
        at("all.csv"),
    ];
    let save: Vec<&str> = save.iter().flat_map(|s| ["--save", s.as_str()]).collect();
    let (code, _, _) = pendula(&[&["grad", "bessel.rasm", "--batch", &z, "--hessian"], &save[..]].concat());
    let (y, d) = (folder.read::<f64>("y.npy"), folder.read::<f64>("d.npy"));
    assert_eq!((code, y.0, y.1[0], d.1[0]), (0, vec![2], 0.114_903_484_931_900_47, 0.210_243_615_881_132_55));
    assert_eq!(folder.read::<f64>("h.npy").0, [2, 1, 1]);
    let text = std::fs::read_to_string(at("all.csv")).expect("a file");
    assert!(
        text.starts_with("item,y,∂/∂z,\"hessian[z,z]\",error\n0,0.11490348493190047,0.21024361588113255,"),
        "{text}"
    );
    // A gradient word that overflows in one item only: what the item gives is no derivative.
    let source = " .data\n .import x\n .export y\nx: .fixed 0\ny: .fixed 0\n .text\nmain: start\n exch r1, [x]\n addmul.q [y], r1, r1\n exch r1, [x]\n finish\n";
    let program = folder.text("steep.rasm", source);
    let file = folder.text("steep.csv", "0.5\n3\n0.25\n");
    let all = at("steep-out.csv");
    let (code, out, err) = pendula(&["grad", &program, "--batch", &file, "--seed", "1e9", "--save", &all]);
    assert_eq!((code, out.as_str()), (1, ""));
    let (code, out, _) = pendula(&["grad", &program, "--batch", &file, "--seed", "1e9"]);
    assert_eq!((code, out.lines().nth(2)), (1, Some("1     error[P0131]: overflow of a gradient")), "{out}");
    assert!(
        err.contains("error[P0131]: item 1: a gradient word overflowed and wrapped: derivatives are wrong"),
        "{err}"
    );
    let text = std::fs::read_to_string(&all).expect("a file");
    assert!(text.lines().nth(2).is_some_and(|line| line.starts_with("1,,,") && line.contains("P0131")), "{text}");
    let (code, items) = as_json(&["grad", &program, "--batch", &file, "--seed", "1e9", "--json"]);
    let kinds: Vec<&Value> = (0..3).map(|n| &items["items"][n]["outcome"]["kind"]).collect();
    assert_eq!((code, kinds), (1, vec![&json!("finished"), &json!("overflow"), &json!("finished")]));
    // A seed that is too great for one item only.
    let source =
        " .data\n .import a\n .export y\na: .log 1\ny: .log 1\n .text\nmain: start\n mul.l [y], [a]\n finish\n";
    let program =
        folder.text("l.rasm", &source.replace("mul.l [y], [a]", "mul.l r1, [a]\n mul.l [y], r1\n div.l r1, [a]"));
    let file = folder.text("a.csv", "2\n1e200\n");
    let (code, all) = as_json(&["grad", &program, "--batch", &file, "--seed", "1e200", "--json"]);
    assert_eq!((code, &all["items"][0]["outcome"]["kind"]), (1, &json!("finished")), "{all}");
    assert_eq!(all["items"][1]["outcome"]["kind"], json!("refused"));
    assert!(all["items"][1]["outcome"]["message"].as_str().is_some_and(|m| m.contains("1.79e308")), "{all}");
}

/// All that a run may leave.
type FinalState = (Outcome, [u64; Reg::COUNT], Vec<u64>, Vec<u64>, u64, Value);

fn left(m: &Machine<'_>, outcome: Outcome) -> FinalState {
    // Beyond what was used there are zeros, of one machine more than of another.
    let used = m.memory().iter().rposition(|w| *w != 0).map_or(0, |at| at + 1);
    let more =
        format!("{:?} {:?} {:?}", m.flags(), m.counts(), (m.pc(), m.ad_mode(), m.words_read(), m.dropped_words()));
    (outcome, *m.registers(), m.memory()[..used].to_vec(), m.output().to_vec(), m.executed(), json!(more))
}

/// Compares a batch of the library, with one thread and with four, with a machine for each item.
fn compare_machines(
    program: &Program,
    config: &Config,
    items: usize,
    run: impl Fn(&mut Machine<'_>, usize, &mut dyn FnMut(&Outcome)) -> Outcome + Sync,
) -> Vec<FinalState> {
    let alone = |item| {
        let mut m = Machine::new(program, config).expect("a machine");
        let outcome = run(&mut m, item, &mut |_| ());
        left(&m, outcome)
    };
    let alone: Vec<FinalState> = (0..items).map(alone).collect();
    let batch = Batch::new(program, config, |_| Ok::<(), ConfigError>(())).expect("a batch");
    for jobs in [1, 4, 4] {
        let all = batch.run(items, NonZeroUsize::new(jobs), |m, room, item| {
            let outcome = run(m, item, &mut |outcome| room.saw(outcome));
            left(m, outcome)
        });
        for (item, (all, alone)) in all.expect("threads").into_iter().zip(&alone).enumerate() {
            assert_eq!(all, *alone, "item {item}, {jobs} jobs");
        }
    }
    alone
}

#[test]
fn machines_of_a_batch_are_as_new_for_every_item() {
    let (mut ended, mut trapped) = (0, 0);
    for seed in 0..80 {
        let module =
            RandomProgram::new(&mut Source::seeded(seed), 4 + seed as usize % 50).module().expect("sound operands");
        let program = Program::new(module, true).expect("verified");
        let engine = if seed % 8 == 0 { Engine::Jit } else { Engine::Interpreter };
        let config = Config { mem: Some(160), engine, warm_up: 0, ..Config::default() };
        let all = compare_machines(&program, &config, 12, |m, item, saw| {
            let mut s = Source::seeded(seed * 100 + item as u64);
            if s.once_in(2) {
                (1..12).filter_map(Reg::new).for_each(|r| m.set_register(r, word(&mut s)));
            }
            m.set_ad_mode(s.pick(&AdMode::ALL));
            if s.once_in(2) {
                m.keep_dropped();
            }
            let mut outcome = m.run(Some(2_000));
            saw(&outcome);
            if outcome == Outcome::Finished {
                m.begin(Direction::Backward);
                outcome = m.run(Some(2_000));
                saw(&outcome);
            }
            outcome
        });
        ended += all.iter().filter(|left| left.0 == Outcome::Finished).count();
        trapped += all.iter().filter(|left| matches!(left.0, Outcome::Trap(_))).count();
    }
    assert!(ended > 300 && trapped > 50, "{ended} {trapped}");
}

#[test]
fn an_item_has_as_much_memory_as_it_would_have_alone() {
    let program = |text: &str| {
        let assembly = assemble("memory.rasm", text.to_string(), &Default::default());
        Program::new(assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics)), true).expect("verified")
    };
    let r1 = Reg::new(1).expect("a register");
    let both = |text: &str, values: &[i64]| -> Vec<FinalState> {
        let program = program(text);
        let mut out = Vec::new();
        for (engine, mem) in [(Engine::Interpreter, None), (Engine::Jit, None), (Engine::Interpreter, Some(60_000))] {
            let config = Config { engine, mem, warm_up: 0, ..Config::default() };
            out.push(compare_machines(&program, &config, values.len(), |m, item, saw| {
                m.set_register(r1, values[item].cast_unsigned());
                let outcome = m.run(None);
                saw(&outcome);
                outcome
            }));
        }
        out.swap_remove(0)
    };
    let traps = |all: &[FinalState]| all.iter().filter(|left| matches!(left.0, Outcome::Trap(_))).count();
    // Words that are read at an address, and far beyond all memory.
    let read = "main: start\n add r2, [r1]\n add [r1], 5\n finish\n";
    let addresses = [0, 4_095, 4_096, 40_000, 3, 1_000_000, (1 << 20) - 1, 1 << 20, -1, 1 << 40, 7, i64::MIN];
    assert_eq!(traps(&both(read, &addresses)), 4);
    // A stack that grows with r1, by words and by calls.
    let push = "main: start\ntop: from.ne r2, r0, bottom\n inc r2\n add r3, 5\n push r3\nbottom: jmp.ne r2, r1, top\n finish\n";
    let depths = [3, 5_000, 1, 100_000, 2, 2_000_000, 40, 5, 300_000];
    assert_eq!(traps(&both(push, &depths)), 1);
    let call = "main: start\n call down\n finish\n proc down\n\
        over: jmp.eq r1, r0, out\n dec r1\n inc r2\n call down\n dec r2\n inc r1\nout: from.eq r1, r0, over\n ret down\n";
    assert_eq!(traps(&both(call, &depths)), 1);
    // As many words may be emitted as there is memory.
    let emit = "main: start\ntop: from.ne r2, r0, bottom\n inc r2\n add r3, 5\n emit r3\nbottom: jmp.ne r2, r1, top\n finish\n";
    assert_eq!(traps(&both(emit, &depths)), 1);
    // Fewer items than threads, and none.
    assert_eq!(both(read, &[5]).len(), 1);
    assert!(both(read, &[]).is_empty());
}
