//! Stops deep in recursions.

use super::*;

#[test]
fn a_stop_deep_in_a_recursion_has_its_values() {
    let text = "procedure main()
    int n = 5000
    int y
    call down(n, y)
procedure down(int n, int y)
    if n > 0 then
        local int m = n - 1
        call down(m, y)
        delocal int m = n - 1
    else
        y += 1
    fi n > 1
";
    let text = text.replace("int n = 5000\n    int y", "int n\n    int y\n    n += 5000");
    let says = ["in `down`: n = 1, y = 1", "more lines", "`down` called by `main`"];
    check("recursion.ja", &text, &[], "error[P0109]: `fi n > 1` should be true", "13:8", &says);
}

#[test]
fn an_endless_recursion_is_told_in_short() {
    let path = place("endless.rasm");
    let file = path.to_str().unwrap();
    fs::write(&path, "main: start\n call f\n finish\n proc f\n call f\n ret f\n").unwrap();
    let (_, _, err) = run(&["run", file], "");
    assert!(
        err.contains(", 99999 times\n") && err.contains("these are the innermost 100000 calls; there are more"),
        "{err}"
    );
    let nil = path.with_extension("nil");
    fs::write(&nil, "@i function f(n!::Int)\n    n! += 1\n    f(n!)\nend\n").unwrap();
    for (file, deeper) in [(file, None), (nil.to_str().unwrap(), Some(true))] {
        let options: &[&str] = if deeper.is_some() { &["--args", "0"] } else { &[] };
        let (code, out, _) = run(&[&["run", file, "--json"], options].concat(), "");
        let value: Value = serde_json::from_str(&out).unwrap();
        let outcome = &value["outcome"];
        let holds = if deeper.is_some() { &outcome["stop"] } else { outcome };
        assert_eq!(code, 1);
        assert_eq!(holds["calls"].as_array().map(Vec::len), Some(1000), "{file}");
        assert!(holds["depth"].as_u64() > Some(90_000), "{}", holds["depth"]);
        assert_eq!(holds.get("deeper").and_then(Value::as_bool), deeper);
    }
}
