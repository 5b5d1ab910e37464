//! A C file: its common declarations, and the functions of its units.

use std::fmt::Write as _;
use std::mem::offset_of;

use pendula_codegen::lift::LiftConfig;
use pendula_isa::num::float;

use super::emit;
use super::names::Names;
use crate::engine::Mode;
use crate::engine::frame::Frame;
use crate::engine::job::Job;
use crate::engine::plan::Plan;
use crate::program::Program;

/// A file, and the addresses of the kernels that it calls, in the order that it expects.
pub(super) struct File {
    pub(super) text: String,
    pub(super) kernels: Vec<usize>,
}

/// Types, and operations without an operator in C.
const HEAD: &str = r"#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t u64;
typedef int64_t i64;
typedef double f64;

/* The machine. */
struct frame {
    u64 *regs, *mem;
    u64 len;                            /* words of memory */
    u64 *lane_regs[3], *lane_mem[3];    /* what registers and memory carry */
    u64 *counters;                      /* of edges between blocks */
    const u64 *table;                   /* of units in other files */
    u64 stack;                          /* where no more is called */
    u64 out[2];                         /* results of kernels */
    u64 quiet;                          /* whether overflow is nothing to stop for */
    u64 budget;                         /* instructions that may still run */
};

typedef u64 unit(struct frame *, u64 entry, u64 link);
typedef u64 interpreter(struct frame *, u64 instruction);
typedef u64 kernel1(u64 env, u64 *out, u64);
typedef u64 kernel2(u64 env, u64 *out, u64, u64);
typedef u64 kernel3(u64 env, u64 *out, u64, u64, u64);
typedef u64 kernel4(u64 env, u64 *out, u64, u64, u64, u64);

#define UNIT(n) ((unit *)__atomic_load_n(&f->table[n], __ATOMIC_ACQUIRE))

/* Has the interpreter go on in a block of which k instructions have run, or before a block. */
#define LEAVE_AT(block, k) do { status = (u64)(block) << 32 | ((u64)(k) + 1); goto leave; } while (0)
#define LEAVE_BEFORE(block) do { status = (u64)1 << 63 | (u64)(block) << 32 | 1; goto leave; } while (0)
#define NEED(condition, block, k) do { if (__builtin_expect(!(condition), 0)) LEAVE_AT(block, k); } while (0)
#define CHECK_OVERFLOW(wrapped, block, k) \
    do { if (__builtin_expect((wrapped) != 0, 0) && !f->quiet) LEAVE_AT(block, k); } while (0)

static inline f64 as_f64(u64 a) { f64 x; memcpy(&x, &a, 8); return x; }
static inline u64 as_u64(f64 x) { u64 a; memcpy(&a, &x, 8); return a; }
static inline u64 sar(u64 a, u64 n) { return (u64)((i64)a >> (n & 63)); }
static inline u64 rol(u64 a, u64 n) { return a << (n & 63) | a >> (-n & 63); }
static inline u64 ror(u64 a, u64 n) { return a >> (n & 63) | a << (-n & 63); }
static inline u64 mulhigh(u64 a, u64 b) { return (u64)((__int128)(i64)a * (i64)b >> 64); }
static inline f64 from_int(u64 a) { return (f64)(i64)a; }
static inline int is_finite(f64 x) { return fabs(x) < INFINITY; }
static inline int ordered(f64 x, f64 y) { return !__builtin_isunordered(x, y); }
";

/// Emits the file of these units.
pub(super) fn file(program: &Program, plan: &Plan, mode: Mode, units: &[u32]) -> File {
    let _span = tracing::debug_span!("write C", units = units.len()).entered();
    let mut names = Names::default();
    let mut functions = String::new();
    for &n in units {
        let parts = (&program.module, &program.decoded, plan);
        let job = Job::new(parts, n as usize, mode, false);
        emit::unit(&job, n, units, &mut names, &mut functions);
    }
    let mut text = head(mode);
    for (kernel, name) in names.kernels() {
        let _ = writeln!(text, "static kernel{} *{name};", kernel.arity);
    }
    text.push('\n');
    for n in units {
        let _ = writeln!(text, "static unit unit_{n};");
    }
    text.push('\n');
    text.push_str(&functions);
    text.push_str(
        "void pendula_init(const void *const *kernels, u64 *units)\n{\n    interpret = (interpreter *)kernels[0];\n",
    );
    for (n, (kernel, name)) in names.kernels().enumerate() {
        let _ = writeln!(text, "    {name} = (kernel{} *)kernels[{}];", kernel.arity, n + 1);
    }
    for n in units {
        let _ = writeln!(text, "    units[{n}] = (u64)unit_{n};");
    }
    text.push_str("}\n");
    File { text, kernels: names.kernels().map(|(k, _)| k.address).collect() }
}

fn head(mode: Mode) -> String {
    let Mode { setting: LiftConfig { ad_mode, checks, trap_overflow, ieee, narrow: _ }, metered, .. } = mode;
    let flags = [("checks", checks), ("trap overflow", trap_overflow), ("ieee", ieee), ("metered", metered)];
    let flags: String = flags.iter().filter(|(_, on)| *on).map(|(name, _)| format!(", {name}")).collect();
    let mut text = format!("/* A program of Pendula's machine as C ({ad_mode:?}{flags}). */\n\n{HEAD}");
    let _ =
        writeln!(text, "static inline f64 canonical(f64 x) {{ return x != x ? as_f64(0x{:x}u) : x; }}\n", float::NAN);
    let fields = [
        ("regs", offset_of!(Frame, regs)),
        ("lane_mem", offset_of!(Frame, lane_mem)),
        ("table", offset_of!(Frame, table)),
        ("out", offset_of!(Frame, out)),
        ("budget", offset_of!(Frame, budget)),
    ];
    for (name, offset) in fields {
        let _ = writeln!(
            text,
            "_Static_assert(offsetof(struct frame, {name}) == {offset}, \"the machine is laid out so\");"
        );
    }
    text.push_str(
        "_Static_assert(FLT_EVAL_METHOD == 0, \"doubles are rounded to doubles\");\n\nstatic interpreter *interpret;\n",
    );
    text
}
