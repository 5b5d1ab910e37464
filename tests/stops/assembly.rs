//! Programs in assembly that stop.

use super::*;

#[test]
fn a_stop_in_assembly_has_its_chain_of_calls() {
    let text = "
main:   start
        add r1, 5
        add r2, 3
        call outer
        finish

        proc outer
        add sp, 2
        exch r2, [sp-1]
        call inner
        exch r2, [sp-1]
        sub sp, 2
        ret outer

        proc inner
        push r2
        add r1, 1
again:  jmp.gt r1, 9, base
        call inner
base:   from.gt r1, 9, again
        assert.eq r1, 77
        pop r2
        ret inner
";
    let path = place("chain.rasm");
    let file = path.to_str().unwrap();
    let said = |text: &str, options: &[&str]| {
        fs::write(&path, text).unwrap();
        let mut found = Vec::new();
        for engine in ["interp", "jit"] {
            let (code, _, err) = run(&[&["run", file, "--engine", engine], options].concat(), "");
            assert_eq!(code, 1, "{err}");
            let notes =
                err.lines().filter_map(|line| line.trim().strip_prefix("= note: ")).map(|l| l.replace(file, "F"));
            found.push(notes.collect::<Vec<String>>());
        }
        assert_eq!(found[0], found[1]);
        found.remove(0)
    };
    let outer = "`outer` called by `main`, at F:5";
    let inner = "`inner` called by `inner`, at F:20, 4 times";
    assert_eq!(said(text, &[]), [inner, "`inner` called by `outer`, at F:11", outer]);
    // The procedure runs backward: its `sub` is an `add`.
    let back = text.replace("call inner", "uncall inner").replace("add r1, 1", "sub r1, 1");
    assert_eq!(said(&back, &[]), ["`inner` uncalled by `outer`, at F:11", outer]);
    assert_eq!(said(&back, &["--max-steps", "9"]), ["`inner` uncalled by `outer`, at F:11", outer]);
    let (_, out, _) = run(&["run", file, "--json"], "");
    let value: Value = serde_json::from_str(&out).unwrap();
    let calls = value["outcome"]["calls"].as_array().unwrap();
    let names =
        calls.iter().map(|call| (call["name"].as_str(), call["direction"].as_str(), call["called"]["line"].as_u64()));
    let all = [("inner", "backward", Some(11)), ("outer", "forward", Some(5)), ("main", "forward", None)];
    assert_eq!(names.collect::<Vec<_>>(), all.map(|(name, way, line)| (Some(name), Some(way), line)));
    // From an object, which has no text to show.
    let object = file.replace(".rasm", ".o");
    assert_eq!(run(&["asm", file, "-o", &object], "").0, 0);
    let (_, _, err) = run(&["run", &object], "");
    assert!(err.contains("note: `inner` uncalled by `outer`, at "), "{err}");
    // Where the stack pointer has moved by who knows how much, nothing is guessed.
    let moved = text
        .replace("add sp, 2", "add sp, r2")
        .replace("sub sp, 2", "sub sp, r2")
        .replace("exch r2, [sp-1]", "add r9, 0");
    let unknown = "the stack does not say what called `outer`";
    assert_eq!(said(&moved, &[]), [inner, "`inner` called by `outer`, at F:11", unknown]);
}
