//! The assembler on a generated program of a million lines: lines a second on one core, and
//! memory a line, source and module included. `cargo bench --bench assembler`.

use std::fmt::Write;
use std::time::Instant;

use pendula::asm::assemble::assemble;
use pendula::asm::{disasm, object};

/// A program of `lines` lines such as a compiler writes: labels, loops, memory operands, constants, comments.
fn program(lines: usize) -> String {
    let mut text = String::from("        .data\na:      .space  4096\n        .text\nmain:   start\n");
    let mut n = 4;
    let mut k = 0;
    while n + 9 < lines {
        let _ = write!(
            text,
            "L{k}:     from.ne r20, r0, M{k}     ; loop {k}\n        add     r1, r2\n        addmul.q r3, r4, [a+r5]\n        \
             xor     r6, {k}\n        exch    r7, [a+{}]\n        swap    r8, r9\n        sub.q   r10, 1.5\n        inc     r20\nM{k}:     jmp.ne  r20, 8, L{k}\n",
            k % 4096
        );
        n += 9;
        k += 1;
    }
    while n + 1 < lines {
        text.push_str("        add     r1, 7\n");
        n += 1;
    }
    text.push_str("        finish\n");
    text
}

/// The process's peak memory in bytes, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn main() {
    let lines = 1_000_000;
    let text = program(lines);
    assert_eq!(text.lines().count(), lines);
    let before = peak();
    let mut times = Vec::new();
    let mut module = None;
    for round in 0..6 {
        let source = text.clone();
        let start = Instant::now();
        let assembly = assemble("generated.rasm", source, &Default::default());
        let seconds = start.elapsed().as_secs_f64();
        module = Some(assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics.first())));
        if round == 0 {
            // The source itself was there before; the assembly's copy of it counts.
            if let (Some(before), Some(after)) = (before, peak()) {
                println!("memory    {:>8.0} bytes a line", (after - before) as f64 / lines as f64);
            }
        } else {
            times.push(seconds);
        }
    }
    times.sort_by(f64::total_cmp);
    println!("assemble  {:>8.2} million lines a second ({} lines)", lines as f64 / times[times.len() / 2] / 1e6, lines);
    let module = module.expect("assembled");
    let start = Instant::now();
    let bytes = object::write(&module).expect("an object");
    println!(
        "write     {:>8.2} million instructions a second",
        module.code.len() as f64 / start.elapsed().as_secs_f64() / 1e6
    );
    let start = Instant::now();
    let again = object::read(&bytes).expect("a sound object");
    println!(
        "read      {:>8.2} million instructions a second",
        module.code.len() as f64 / start.elapsed().as_secs_f64() / 1e6
    );
    assert_eq!(again.code, module.code);
    let start = Instant::now();
    let disassembly = disasm::disassemble(&module);
    println!(
        "disasm    {:>8.2} million instructions a second",
        module.code.len() as f64 / start.elapsed().as_secs_f64() / 1e6
    );
    assert!(disassembly.lines().count() > module.code.len());
}
