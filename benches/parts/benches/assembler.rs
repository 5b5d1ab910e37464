//! The assembler on a generated program of a million lines: assembling, writing, reading and disassembling it, in lines or
//! instructions a second; and memory a line, source and module included.

use std::fmt::Write;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pendula::asm::assemble::assemble;
use pendula::asm::{disasm, object};

const LINES: usize = 1_000_000;

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

fn assembler(c: &mut Criterion) {
    let text = program(LINES);
    assert_eq!(text.lines().count(), LINES);
    let before = peak();
    let assembly = assemble("generated.rasm", text.clone(), &Default::default());
    let module = assembly.module.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics.first()));
    // The source itself was there before; the assembly's copy of it counts.
    if let (Some(before), Some(after)) = (before, peak()) {
        println!("memory of the assembler: {:.0} bytes a line", (after - before) as f64 / LINES as f64);
    }
    let bytes = object::write(&module).expect("an object");
    assert_eq!(object::read(&bytes).expect("a sound object").code, module.code);

    let mut group = c.benchmark_group("assembler");
    group.sample_size(10);
    group.throughput(Throughput::Elements(LINES as u64));
    group.bench_function("assemble", |b| {
        let assemble = |text| assemble("generated.rasm", text, &Default::default());
        b.iter_batched(|| text.clone(), assemble, BatchSize::PerIteration);
    });
    group.throughput(Throughput::Elements(module.code.len() as u64));
    group.bench_function("write", |b| b.iter_with_large_drop(|| object::write(&module)));
    group.bench_function("read", |b| b.iter_with_large_drop(|| object::read(&bytes)));
    group.bench_function("disassemble", |b| b.iter_with_large_drop(|| disasm::disassemble(&module)));
}

criterion_group!(benches, assembler);
criterion_main!(benches);
