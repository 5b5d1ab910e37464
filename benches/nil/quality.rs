//! Compiled loops beside the same loops written by hand: how many instructions each executes for a turn. Shared by a bench, which prints
//! the figures, and a test, which holds them.

use pendula::asm::assemble::assemble;
use pendula::compiler::compile::{Options, compile};
use pendula::compiler::nil::sema::{Argument, Number};
use pendula::isa::Module;
use pendula::vm::{Config, Machine, Outcome, Program};

/// Inputs of a size: the program's arguments, and data of the assembly by name.
type Inputs = (Vec<Argument>, Vec<(&'static str, String)>);

/// A loop in both forms.
pub(crate) struct Loop {
    /// Its name.
    pub(crate) name: &'static str,
    nil: &'static str,
    rasm: &'static str,
    types: &'static [&'static str],
    /// Its inputs for a size.
    inputs: fn(usize) -> Inputs,
    /// The results, which must agree: of the program, and of the assembly.
    results: (&'static str, &'static str),
}

/// Numbers as an argument.
fn numbers(shape: &[usize], items: &[String]) -> Argument {
    Argument::Array(shape.to_vec(), items.iter().cloned().map(Number::Text).collect())
}

fn number(text: &str) -> Argument {
    Argument::Number(Number::Text(text.to_string()))
}

fn fixed(items: &[String]) -> String {
    format!(".fixed {}", items.join(", "))
}

/// Numbers that are no powers of two, the same in each run.
fn some(count: usize, from: usize) -> Vec<String> {
    (0..count).map(|k| format!("{}.{}", (k * 7 + from) % 11, (k * 3 + from) % 10)).collect()
}

fn affine(n: usize) -> Inputs {
    let (w, b, x, y) = (some(n * n, 1), some(n, 2), some(n, 3), vec!["0".to_string(); n]);
    let arguments = vec![numbers(&[n], &y), numbers(&[n, n], &w), numbers(&[n], &b), numbers(&[n], &x)];
    let count = format!(".word {n}");
    let data = vec![
        ("rows", count.clone()),
        ("cols", count),
        ("y", fixed(&y)),
        ("W", fixed(&w)),
        ("b", fixed(&b)),
        ("x", fixed(&x)),
    ];
    (arguments, data)
}

fn leapfrog(n: usize) -> Inputs {
    let zero = vec!["0".to_string(); n];
    let x: Vec<String> = (0..n).map(|k| format!("{}.5", k)).collect();
    let y: Vec<String> = (0..n).map(|k| format!("{}.25", k * k % 13)).collect();
    let m = vec!["1.5".to_string(); n];
    let vector = |items: &[String]| numbers(&[n], items);
    let arguments = vec![vector(&zero), vector(&zero), vector(&x), vector(&y), vector(&m), number("0.125")];
    let data = vec![
        ("n", format!(".word {n}")),
        ("vx", fixed(&zero)),
        ("vy", fixed(&zero)),
        ("x", fixed(&x)),
        ("y", fixed(&y)),
        ("m", fixed(&m)),
    ];
    (arguments, data)
}

/// A sparse matrix of n columns: where columns begin, rows, values.
fn sparse(n: usize, step: usize) -> [Vec<String>; 3] {
    let (mut columns, mut rows) = (vec!["1".to_string()], Vec::new());
    for j in 0..n {
        rows.extend((0..n).filter(|i| (i * step + j * 5) % 7 < 3).map(|i| (i + 1).to_string()));
        columns.push((rows.len() + 1).to_string());
    }
    let values = some(rows.len(), step);
    [columns, rows, values]
}

fn sparse_dot(n: usize) -> Inputs {
    let matrix = |[columns, rows, values]: &[Vec<String>; 3]| {
        let size = number(&n.to_string());
        let parts = [columns, rows, values].map(|items| numbers(&[items.len()], items));
        Argument::Tuple([size.clone(), size].into_iter().chain(parts).collect())
    };
    let (a, b) = (sparse(n, 2), sparse(n, 3));
    let word = |items: &[String]| format!(".word {}", items.join(", "));
    let data = vec![
        ("n", format!(".word {n}")),
        ("colA", word(&a[0])),
        ("rowA", word(&a[1])),
        ("valA", fixed(&a[2])),
        ("colB", word(&b[0])),
        ("rowB", word(&b[1])),
        ("valB", fixed(&b[2])),
        ("keep", format!(".space {}", 2 * n)),
    ];
    (vec![number("0"), matrix(&a), matrix(&b)], data)
}

/// The loops.
pub(crate) const LOOPS: &[Loop] = &[
    Loop {
        name: "affine",
        nil: include_str!("affine.nil"),
        rasm: include_str!("affine.rasm"),
        types: &["Vector{Fixed}", "Matrix{Fixed}", "Vector{Fixed}", "Vector{Fixed}"],
        inputs: affine,
        results: ("y!", "y"),
    },
    Loop {
        name: "sparse dot",
        nil: include_str!("sparse-dot.nil"),
        rasm: include_str!("sparse-dot.rasm"),
        types: &["Fixed", "SparseMatrixCSC{Fixed}", "SparseMatrixCSC{Fixed}"],
        inputs: sparse_dot,
        results: ("r", "r"),
    },
    Loop {
        name: "leapfrog",
        nil: include_str!("leapfrog.nil"),
        rasm: include_str!("leapfrog.rasm"),
        types: &["Vector{Fixed}", "Vector{Fixed}", "Vector{Fixed}", "Vector{Fixed}", "Vector{Fixed}", "Fixed"],
        inputs: leapfrog,
        results: ("vx!", "vx"),
    },
];

/// How many instructions a run takes, and the words that it leaves in a data symbol.
fn run(module: Module, result: &str) -> (u64, Vec<u64>) {
    let program = Program::new(module, true).expect("a program");
    let mut machine = Machine::new(&program, &Config::default()).expect("a machine");
    assert_eq!(machine.run(None), Outcome::Finished);
    let place = pendula::values::find(program.module(), result).expect("a result");
    (machine.executed(), pendula::values::words(&machine, &place).to_vec())
}

impl Loop {
    fn compiled(&self, n: usize) -> (u64, Vec<u64>) {
        let (arguments, _) = (self.inputs)(n);
        let types = self.types.iter().map(|t| t.to_string()).collect();
        let options = Options { arguments, types, ..Options::default() };
        let c = compile(self.name, self.nil.to_string(), &options);
        let module = c.module.unwrap_or_else(|| panic!("{}: {:?}", self.name, c.diagnostics));
        run(module, self.results.0)
    }

    fn by_hand(&self, n: usize) -> (u64, Vec<u64>) {
        let (_, data) = (self.inputs)(n);
        let line = |text: &str| {
            let replaced = data.iter().find(|(name, _)| text.starts_with(&format!("{name}:")));
            replaced.map_or_else(|| text.to_string(), |(name, value)| format!("{name}: {value}"))
        };
        let text: Vec<String> = self.rasm.lines().map(line).collect();
        let assembly = assemble(self.name, text.join("\n"), &Default::default());
        let module = assembly.module.unwrap_or_else(|| panic!("{}: {:?}", self.name, assembly.diagnostics));
        run(module, self.results.1)
    }

    /// Instructions for a turn more: compiled, and by hand in the same unit. Both compute the same.
    pub(crate) fn instructions(&self) -> (u64, u64) {
        let (small, large) = (10, 24);
        let [a, b] = [small, large].map(|n| {
            let (compiled, hand) = (self.compiled(n), self.by_hand(n));
            assert_eq!(compiled.1, hand.1, "{} of size {n}", self.name);
            (compiled.0, hand.0)
        });
        (b.0 - a.0, b.1 - a.1)
    }
}
