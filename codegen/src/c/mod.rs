//! Prints programs in the [loop form](crate::loops) as C. No other place knows how they are written in C.
//!
//! `function` prints functions, `statement`, `call`, `count` and `searches` what is in them; `block` prints operations, [`expr`]
//! their expressions, for the machine's engine, too. `names` has names, `text` text.
//!
//! What runs a program is a C function on the machine's memory: `int64_t NAME(uint64_t *mem, uint64_t *const *lanes, uint64_t len,
//! uint64_t top, uint64_t *turned, uint64_t room, uint64_t stack, watch *asks)`. `mem` are `len` words of memory, of which those from `top` on are zero, and
//! may be used; `lanes` are what words carry, by lane from 1 on, as long as the memory. `turned` gets the data that the program
//! hands on where it turns round, and has `room` words; those from `top` on are for logs. If it gives up because a log needs more, word
//! `room` tells how many, and is zero otherwise. Calls take at most `stack` bytes of the host's stack. While it runs, it looks from time to time whether `asks` wants to know
//! where it is, and tells. It returns 0, or 1 if it gave up, which may
//! leave anything in all of them.

mod block;
mod call;
mod chains;
mod count;
mod elementary;
pub mod expr;
mod function;
mod names;
mod products;
mod searches;
mod statement;
mod strips;
mod text;

use std::cell::RefCell;
use std::fmt::Write as _;

use crate::kernel::pack;
use crate::loops::Program;
use crate::ops::Kernel;
use names::Names;
use text::Text;

/// The name of the C function that is to be called once after loading, with the addresses of the kernels: `void NAME(void *const *)`.
/// A kernel's is that of its `result`, where it has one.
pub const KERNELS: &str = "pendula_kernels";

/// What the machine adds up.
const PRODUCTS: &str = "\
/* Sums of products that the machine makes: the memories of X, Y and Z, where their words are, from row to row of X and Y, from column to
   column of X and Z, from product to product of Y and Z, how many there are of each, what is to be done, and the limit of sums. It
   gives 0 if it has made them, 1 if something is to be noted, too, and 2 if it has done nothing. */
typedef struct {
    word *memories[3];
    int64_t first[3], rows[2], columns[2], products[2];
    word counts[3], flags, limit;
} sums_of_products;
typedef word (*add_function)(const sums_of_products *all, word n, word len);
static add_function add_products;

";

const PRELUDE: &str = include_str!("prelude.h");

// Vectors have as many parts there.
const _: () = assert!(pendula_isa::adjoint::TANGENTS == 8);
// And it has these bits of the bound.
const _: () = assert!(crate::loops::NEAR_ZERO.to_bits() == 0x3e45_798e_e230_8c3a);

/// The names of what functions share.
struct Shared<'p> {
    program: &'p Program,
    functions: Vec<String>,
    kernels: Vec<String>,
    /// All of them.
    taken: Names,
    /// Numbers that are in a table, if there is one.
    table: Option<RefCell<Vec<i64>>>,
    /// How many searches there are.
    searches: RefCell<u32>,
}

/// A number below this is always a constant in C, which then may know how long a loop is.
const SMALL: u64 = 64;

/// Prints a program.
pub fn print(program: &Program) -> String {
    printed(program, None).0
}

/// Prints a program of which the text does not depend on where its data is, and how long it is, but where that are small numbers: these are in a table
/// ([`Code::with_table`](crate::whole::Code::with_table)).
pub fn print_with_table(program: &Program) -> (String, Vec<i64>) {
    printed(program, Some(RefCell::default()))
}

fn printed(program: &Program, table: Option<RefCell<Vec<i64>>>) -> (String, Vec<i64>) {
    let mut taken = Names::default();
    let functions = program.functions.iter().map(|f| taken.like(&f.name)).collect();
    let kernel_name = |kernel: &Kernel| {
        let base = taken.like(kernel.name);
        let results = if kernel.result.is_some() { "" } else { "pair_" };
        format!("{base}_{results}{}", kernel.arity)
    };
    let kernels = program.kernels.iter().map(kernel_name).collect();
    let shared = Shared { program, functions, kernels, taken, table, searches: RefCell::default() };
    let printed: Vec<(String, String)> = program.order.iter().map(|id| function::print(&shared, *id)).collect();
    let bodies: String = printed.iter().map(|(_, body)| body.as_str()).collect();
    let mut text = prelude(&shared, &bodies);
    for (head, _) in &printed {
        let _ = writeln!(text, "{head};");
    }
    for (_, body) in printed.iter().rev() {
        text.push('\n');
        text.push_str(body);
    }
    text.push_str(&entries(&shared));
    (text, shared.table.map_or_else(Vec::new, RefCell::into_inner))
}

impl Shared<'_> {
    /// A number that depends on where data is, or how long it is.
    fn datum(&self, number: i64) -> String {
        match &self.table {
            Some(table) if number.unsigned_abs() >= SMALL => {
                let mut table = table.borrow_mut();
                table.push(number);
                format!("DATUM({})", table.len() - 1)
            }
            Some(_) | None => number.to_string(),
        }
    }
}

fn entries(shared: &Shared<'_>) -> String {
    let mut text = Text::default();
    for entry in &shared.program.entries {
        let function = &shared.program.functions[entry.function.0 as usize];
        let name = &entry.name;
        text.line("");
        text.open(&format!(
            "int64_t {name}(word *mem, word *const *lanes, word len, word top, word *turned, word room, word stack, watch *asks)\n{{"
        ));
        text.line("(void)lanes, (void)turned, (void)room;");
        let lanes: String = function.ad_mode.lanes().iter().map(|lane| format!("lanes[{}], ", lane - 1)).collect();
        text.line("limit = (char *)__builtin_frame_address(0) - stack;");
        text.line("watched = asks;");
        if shared.program.keeps && function.has_room() {
            text.open("if (room < top + 2) {");
            text.line("turned[room] = top + 2;");
            text.line("return 1;");
            text.close("}");
            text.line("KEPT = room - 2;");
        }
        let turned = if function.has_room() { ", turned, top, room" } else { "" };
        let called = &shared.functions[entry.function.0 as usize];
        text.line(&format!("return {called}(mem, {lanes}len, top{turned});"));
        text.close("}");
    }
    text.out
}

fn prelude(shared: &Shared<'_>, bodies: &str) -> String {
    let program = shared.program;
    let from = program.file.as_ref().map_or(String::new(), |f| format!(" from {}", names::in_comment(f)));
    let mut out = format!(
        "/* Written by pendula{from}. A function returns 1 where it gives up:\n   where the program would trap. */\n\n"
    );
    out.push_str(PRELUDE);
    let _ = writeln!(
        out,
        "\n/* The fixed-point format, for functions of the machine. */\n#define ENV {}\n",
        pack(program.env)
    );
    out.push_str(&elementary::functions(program.kernels.iter().map(|k| k.name), bodies));
    // The others are the machine's. Their numbers are those of the program.
    let numbered = || program.kernels.iter().zip(&shared.kernels).enumerate();
    let called = || numbered().filter(|(_, (k, _))| elementary::name(k.name).is_none());
    let kernels = || called().map(|(_, kernel)| kernel);
    if kernels().any(|(k, _)| k.result.is_some()) {
        out.push_str("/* Functions of the machine: they give a word and, above it, 0 if they have any. */\n");
        for (kernel, name) in kernels().filter(|(k, _)| k.result.is_some()) {
            let _ = writeln!(out, "static pure_{} {name};", kernel.arity);
        }
        out.push('\n');
    }
    if kernels().any(|(k, _)| k.result.is_none()) {
        out.push_str("/* Functions of the machine with two results: they write them to `out`, and return 0 if they have any. */\n");
        for (kernel, name) in kernels().filter(|(k, _)| k.result.is_none()) {
            let _ = writeln!(out, "static word (*{name})(word env, word *out{});", ", word".repeat(kernel.arity));
        }
        out.push('\n');
    }
    let multiplies = bodies.contains("add_products(");
    if multiplies {
        out.push_str(PRODUCTS);
    }
    let _ = writeln!(out, "void {KERNELS}(void *const *functions)\n{{");
    out.push_str("    (void)functions;\n");
    if multiplies {
        // It comes after them.
        let _ = writeln!(out, "    add_products = (add_function)functions[{}];", program.kernels.len());
    }
    for (n, (kernel, name)) in called() {
        let args = ", word".repeat(kernel.arity);
        let cast = match kernel.result {
            Some(_) => format!("pure_{}", kernel.arity),
            None => format!("word (*)(word, word *{args})"),
        };
        let _ = writeln!(out, "    {name} = ({cast})functions[{n}];");
    }
    out.push_str("}\n\n");
    out
}
