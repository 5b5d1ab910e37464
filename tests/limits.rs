//! Limits that keep a process within bounds, whatever its input is.

use pendula_isa::sample;

use crate::common::{command, folder};

use command::run;

/// Touches every word of a gibibyte.
const TOUCHING: &str = " .data\na: .space 134217727\n .text\nmain: start\n add r2, 134217727\nl: from.ne r1, r0, b\n add [r1], 1\n inc r1\nb: jmp.ne r1, r2, l\n sub r2, 134217727\n finish\n";

/// Has as many, and touches the first and the last.
const SPARSE: &str = " .data\n .import x\nx: .double 2\na: .space 134217724\n .export y\ny: .double 0\n .text\nmain: start\n exch r1, [x]\n addmul.f [y], r1, r1\n exch r1, [x]\n finish\n";

#[test]
fn memory_that_a_program_touches_is_bounded() {
    for engine in ["interp", "jit", "native"] {
        let (code, out, err) = run(&["run", "-", "--engine", engine, "--memory-limit", "200M"], TOUCHING);
        assert_eq!((code, out.as_str()), (1, ""), "{engine}: {err}");
        assert!(err.contains("out of memory: more than 200 MiB") && err.contains("`--memory-limit`"), "{err}");
    }
}

#[test]
fn memory_that_nobody_touches_takes_none() {
    let commands: [&[&str]; 13] = [
        &["run", "-"],
        &["run", "-", "--engine", "interp", "--stats"],
        &["run", "-", "--reverse"],
        &["run", "-", "--round-trip", "--drift"],
        &["run", "-", "--json"],
        &["grad", "-"],
        &["grad", "-", "--hessian", "--check"],
        &["energy", "-"],
        &["energy", "-", "--grad", "--json"],
        &["level", "-"],
        &["check", "-"],
        &["invert", "-"],
        &["fmt", "-"],
    ];
    // Those that build circuits take most of a second each.
    let costly = |args: &&[&str]| !sample::all() && (args.contains(&"--grad") || args.contains(&"level"));
    for args in commands.into_iter().filter(|args| !costly(args)) {
        let (code, _, err) = run(&[args, &["--memory-limit", "150M"]].concat(), SPARSE);
        assert_eq!(code, 0, "{args:?}: {err}");
    }
}

#[test]
fn macros_within_macros_are_bounded() {
    let double = |n: i32| format!(" .macro m{n}\n m{}\n m{}\n .endm\n", n - 1, n - 1);
    let source = |n: i32| {
        let macros: String = (1..=n).map(double).collect();
        format!(" .macro m0\n inc r1\n .endm\n{macros}main: start\n m{n}\n finish\n")
    };
    let (code, _, err) = run(&["check", "-", "--memory-limit", "400M"], &source(40));
    assert_eq!(code, 1);
    assert!(err.contains("error[P0092]: what macros expand to is larger than 16777216 bytes"), "{err}");
    let (code, _, err) = run(&["check", "-"], &source(12));
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, _, err) = run(&["check", "-", "--max-expansion", "1000"], &source(12));
    assert_eq!(code, 1);
    assert!(err.contains("allow more with `--max-expansion`"), "{err}");
}

#[test]
fn a_technology_has_an_end() {
    let (code, _, err) = run(&["energy", "examples/fib.rasm", "--tech", "/dev/zero"], "");
    let said = "error[P0092]: `/dev/zero` is larger than 1048576 bytes\n |\n = help: no technology is that large: name one that is\n";
    assert_eq!((code, err.as_str()), (2, said));
}

#[test]
fn a_limit_is_a_size() {
    let (code, _, err) = run(&["run", "examples/fib.rasm", "--memory-limit", "4X"], "");
    assert_eq!(code, 2);
    assert!(err.contains("a number with a unit, such as 512M or 4G"), "{err}");
}

#[test]
fn of_a_file_no_more_is_read_than_fits() {
    let path = |name: &str| folder("limits").join(name);
    let text = path("limits-long.csv");
    std::fs::write(&text, "0\n".repeat(20_000_000)).unwrap();
    // 2^26 doubles, of which none takes room on the disk.
    let array = path("limits-long.npy");
    let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (67108864,), }");
    std::fs::write(&array, [&b"\x93NUMPY\x01\x00\x76\x00"[..], header.as_bytes()].concat()).unwrap();
    let file = std::fs::File::options().write(true).open(&array).unwrap();
    file.set_len(128 + (8 << 26)).unwrap();
    let source = " .data\n .import x\nx: .word 0, 0, 0, 0\n .text\nmain: start\n finish\n";
    for path in [&text, &array] {
        let set = format!("x=@{}", path.display());
        let (code, _, err) = run(&["run", "-", "--set", &set, "--memory-limit", "60M"], source);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("`x` has 4 words") && err.contains("limits-long") && err.contains("more values"), "{err}");
    }
    std::fs::remove_file(text).unwrap();
    std::fs::remove_file(array).unwrap();
}
