//! C names of kernels.

use pendula_codegen::ops::Kernel;

/// The kernels that a file calls, with their names, in the order of their first calls.
#[derive(Default)]
pub(super) struct Names {
    kernels: Vec<(Kernel, String)>,
}

impl Names {
    /// A kernel's name.
    pub(super) fn kernel(&mut self, kernel: &Kernel) -> String {
        if let Some((_, name)) = self.kernels.iter().find(|(k, _)| k.name == kernel.name) {
            return name.clone();
        }
        let name = format!("k_{}", kernel.name);
        self.kernels.push((*kernel, name.clone()));
        name
    }

    /// Every kernel with its name.
    pub(super) fn kernels(&self) -> impl Iterator<Item = (&Kernel, &str)> {
        self.kernels.iter().map(|(k, n)| (k, n.as_str()))
    }
}
