//! C names of kernels, derived from their Rust names.

use pendula_codegen::ops::Kernel;

/// The kernels that a file calls, with their names, in the order of their first calls.
#[derive(Default)]
pub(super) struct Names {
    kernels: Vec<(Kernel, String)>,
}

/// Parts of paths that are omitted from names.
const SILENT: &[&str] = &[
    "pendula",
    "isa",
    "num",
    "native",
    "record",
    "Recorder",
    "as",
    "domain",
    "Domain",
    "table",
    "fn",
    "impl",
    "for",
    "instruction",
    "run",
    "value",
    "closure",
];

impl Names {
    /// A kernel's name.
    pub(super) fn kernel(&mut self, kernel: &Kernel) -> String {
        if let Some((_, name)) = self.kernels.iter().find(|(k, _)| k.address == kernel.address) {
            return name.clone();
        }
        let parts = kernel.name.split(|c: char| !c.is_ascii_alphanumeric());
        let mut words: Vec<&str> = parts.filter(|p| !p.is_empty() && !SILENT.contains(p)).collect();
        words.dedup();
        let plain = format!("k_{}", words.join("_"));
        // Closures of one function have the same name.
        let taken = |name: &String| self.kernels.iter().any(|(_, n)| n == name);
        let numbered = |n: u32| if n == 1 { plain.clone() } else { format!("{plain}_{n}") };
        let name = (1..).map(numbered).find(|name| !taken(name)).unwrap_or(plain.clone());
        self.kernels.push((*kernel, name.clone()));
        name
    }

    /// Every kernel with its name.
    pub(super) fn kernels(&self) -> impl Iterator<Item = (&Kernel, &str)> {
        self.kernels.iter().map(|(k, n)| (k, n.as_str()))
    }
}
