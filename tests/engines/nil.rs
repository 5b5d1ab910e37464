//! The examples and the workloads in Nil.

use std::path::Path;
use std::sync::Arc;

use pendula::arguments;
use pendula::compiler::compile::{Options, compile};
use pendula::compiler::nil::sema::Argument;
use pendula::compiler::passes::Switches;
use pendula::isa::Module;
use pendula::isa::extension::Definition;
use pendula::vm::AdMode;

use pendula_isa::sample;

use super::lockstep;

use crate::inputs;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// One way of running a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    pub(crate) arguments: Vec<Argument>,
    pub(crate) types: Vec<String>,
    pub(crate) entry: Option<String>,
    pub(crate) extensions: Vec<Arc<Definition>>,
}

impl Call {
    pub(super) fn module(&self, what: &str, source: &str, level: u8) -> Module {
        let Call { arguments, types, entry, extensions } = self.clone();
        let options =
            Options { arguments, types, entry, extensions, switches: Switches::level(level), ..Options::default() };
        let compiled = compile(what, source.to_string(), &options);
        compiled.module.unwrap_or_else(|| panic!("{what}: {:#?}", compiled.diagnostics))
    }
}

/// A command's words; quotes hold blanks together.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    parts
        .flat_map(|(n, part)| match n % 2 {
            1 => vec![part.to_string()],
            _ => part.split_whitespace().map(String::from).collect(),
        })
        .collect()
}

/// The calls that the sessions in a program's header show.
fn calls(source: &str) -> Vec<Call> {
    let mut out: Vec<Call> = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let Some((_, command)) = line.split_once("  pendula ").filter(|_| line.starts_with('#')) else { continue };
        let mut command = command.to_string();
        while command.ends_with('\\') {
            let Some(next) = lines.next() else { break };
            command = command.trim_end_matches('\\').to_string() + next.trim_start_matches('#').trim();
        }
        let words = words(&command);
        let option = |name: &str| words.iter().position(|w| w == name).and_then(|at| words.get(at + 1));
        let types = option("--types").map(|t| arguments::split(t, ',').expect("types"));
        let call = Call {
            arguments: option("--args").map(|a| arguments::parse(a).expect("arguments")).unwrap_or_default(),
            types: types.unwrap_or_default().into_iter().map(String::from).collect(),
            entry: option("--entry").cloned(),
            ..Call::default()
        };
        if !out.contains(&call) {
            out.push(call);
        }
    }
    out
}

/// The examples: name, source, calls.
pub(crate) fn example_calls() -> Vec<(String, String, Vec<Call>)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(Path::new(ROOT).join("examples")).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "nil") {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let source = std::fs::read_to_string(&path).expect("a text");
            let calls = calls(&source);
            out.push((name, source, calls));
        }
    }
    out
}

#[test]
fn examples_in_nil() {
    let (mut seen, mut finished) = (0, 0);
    let examples = example_calls();
    assert!(examples.len() >= 15, "{} examples", examples.len());
    for (name, source, calls) in sample::some(examples) {
        for (n, call) in calls.iter().enumerate().take(if sample::all() { usize::MAX } else { 2 }) {
            // Further calls differ in their arguments.
            for level in if n == 0 && (seen == 0 || sample::all()) { &[0, 2][..] } else { &[2] } {
                let what = format!("{name}, call {n}, -O{level}");
                let module = call.module(&what, &source, *level);
                let every = n == 0 && sample::all();
                let ad_modes = if every { &AdMode::ALL[..] } else { &[AdMode::Plain, AdMode::Gradient] };
                finished += lockstep(&what, module, ad_modes);
            }
        }
        seen += 1;
    }
    assert!(finished >= 2 * seen, "{seen} examples, {finished} runs came to their ends");
}

/// The workloads on inputs of moderate size: name, source, call.
pub(crate) fn workload_calls() -> Vec<(&'static str, String, Call)> {
    let of = |data: Vec<inputs::Data>| data.iter().map(inputs::Data::argument).collect::<Vec<_>>();
    let file = |name: &str| {
        let text = std::fs::read_to_string(format!("{ROOT}/tests/data/{name}.args")).expect("arguments");
        arguments::parse(text.trim()).expect("arguments")
    };
    let all = [
        ("bessel", of(inputs::bessel(2, 5.0)), None),
        ("embedding", of(inputs::embedding(4)), None),
        ("norm", of(inputs::norm(60)), None),
        ("complex-log", of(inputs::complex_log()), None),
        ("sparse-dot", of(inputs::sparse_dot(40, 0.1)), None),
        ("sparse-matvec", of(inputs::sparse_matvec(40, 0.1)), None),
        ("unitary", of(inputs::unitary(3, 8)), None),
        ("leapfrog", of(inputs::leapfrog(5)), None),
        ("logsumexp", of(inputs::logsumexp(40)), None),
        ("k-means", of(inputs::k_means(12, 3, 5)), None),
        ("least-squares", of(inputs::least_squares(20, 6)), None),
        ("logistic", of(inputs::logistic(20, 6)), None),
        ("lstm", of(inputs::lstm(2, 3, 4)), None),
        ("attention", of(inputs::attention(5, 3)), None),
        ("matmul", of(inputs::matmul(5)), None),
        ("brusselator", of(inputs::brusselator(8, 3)), None),
        ("determinant", of(inputs::determinant(4)), None),
        ("gmm", file("gmm"), None),
        ("ba", file("ba"), None),
    ];
    let call = |(name, arguments, entry): (&'static str, Vec<Argument>, Option<String>)| {
        let source = std::fs::read_to_string(format!("{ROOT}/benches/workloads/{name}.nil")).expect("a workload");
        (name, source, Call { arguments, entry, ..Call::default() })
    };
    all.map(call).into()
}

#[test]
fn workloads() {
    for (name, source, call) in sample::some(workload_calls()) {
        for level in [0, 2] {
            let what = format!("workload {name}, -O{level}");
            let finished = lockstep(&what, call.module(&what, &source, level), &[AdMode::Plain, AdMode::Gradient]);
            assert_eq!(finished, 2, "{what}");
        }
    }
}
