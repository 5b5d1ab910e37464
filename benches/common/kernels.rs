//! Short programs whose loops are those of programs: registers, memory, fixed point, calls.

/// Names and sources.
pub(crate) const KERNELS: [(&str, &str); 5] = [
    (
        "registers",
        "main: start
               add r20, 2000000
         top:  from.ne r21, r0, end
               add r1, r2
               xor r3, r1
               swap r1, r4
               rol r3, 7
               add r5, r3
               addmul r6, r5, r4
               xor r7, r6
               sub r8, r7
               add r9, -1
               inc r21
         end:  jmp.ne r21, r20, top
               finish",
    ),
    (
        "fibonacci",
        "main: start
               add r3, 5000000
               inc r2
         top:  from.ne r4, r0, end
               add r1, r2
               swap r1, r2
               inc r4
         end:  jmp.ne r4, r3, top
               finish",
    ),
    (
        "memory",
        "      .data
         a:    .space 4096
               .text
         main: start
               add r20, 500
         out:  from.ne r21, r0, oute
         top:  from.ne r5, r0, end
               add [a+r5], r5
               add r1, [a+r5]
               xor r2, r1
               addmul r3, r2, [a+r5]
               inc r5
         end:  jmp.lt r5, 4095, top
               sub r5, 4095
               inc r21
         oute: jmp.ne r21, r20, out
               finish",
    ),
    (
        "fixed",
        "main: start
               add r20, 2000000
               add.q r1, 1
               add.q r3, 0.001
         top:  from.ne r21, r0, end
               submul.q r2, r1, r3
               addmul.q r1, r2, r3
               inc r21
         end:  jmp.ne r21, r20, top
               finish",
    ),
    (
        "calls",
        "proc step
               push r1
               add r2, r3
               pop r1
               ret step
         main: start
               add r20, 1000000
         top:  from.ne r21, r0, end
               call step
               inc r3
               uncall step
               inc r21
         end:  jmp.ne r21, r20, top
               finish",
    ),
];
