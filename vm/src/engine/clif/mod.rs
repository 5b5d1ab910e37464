//! The code generator of `--engine jit`: compiles units to functions with Cranelift.
//!
//! A unit's function takes the machine's [`Frame`](super::frame::Frame), the number of the entry, and the link that its return must
//! find (0 if it must take a side exit instead). It returns 0 if the procedure has returned, else the status of a
//! [side exit](super::frame::SideExit).

#![expect(unsafe_code, reason = "the memory of compiled code is freed here")]

mod calls;
mod edges;
mod emit;
mod leaf_loops;
mod memory;
mod ops;
mod values;
mod write_back_plan;

pub(super) use ops::{binary, float_condition, float_operation, int_condition};

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module as _, default_libcall_names};

use super::job::Job;

/// The host's instruction set; `None` if Cranelift does not support the host.
pub(super) fn target() -> Option<OwnedTargetIsa> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).ok()?;
    }
    cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
}

/// The alignment, in bytes, of code from other code generators.
const ALIGNMENT: u64 = 16;

/// Compiles units and owns their code.
pub(crate) struct Compiler {
    module: Option<JITModule>,
    context: Context,
    builder: FunctionBuilderContext,
    /// The number of functions so far.
    count: usize,
}

impl Compiler {
    /// Whether Cranelift supports the host.
    pub(crate) fn is_supported() -> bool {
        target().is_some()
    }

    pub(crate) fn new() -> Option<Compiler> {
        let module = JITModule::new(JITBuilder::with_isa(target()?, default_libcall_names()));
        Some(Compiler {
            context: module.make_context(),
            module: Some(module),
            builder: FunctionBuilderContext::new(),
            count: 0,
        })
    }

    /// Copies finished code of another code generator into executable memory; returns its address.
    pub(crate) fn place(&mut self, code: &[u8]) -> Option<usize> {
        let module = self.module.as_mut()?;
        let signature = module.make_signature();
        self.count += 1;
        let id = module.declare_function(&format!("baseline{}", self.count), Linkage::Export, &signature).ok()?;
        module.define_function_bytes(id, ALIGNMENT, code, &[]).ok()?;
        module.finalize_definitions().ok()?;
        Some(module.get_finalized_function(id).addr())
    }

    /// Compiles a unit; returns the address of its code, `None` on failure.
    pub(crate) fn compile(&mut self, job: &Job<'_>) -> Option<usize> {
        let module = self.module.as_mut()?;
        let mut signature = module.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 3]);
        signature.returns.push(AbiParam::new(types::I64));
        self.context.func.signature = signature;
        emit::unit(job, &mut self.context.func, &mut self.builder, module.target_config());
        self.count += 1;
        let id = module
            .declare_function(&format!("unit{}", self.count), Linkage::Export, &self.context.func.signature)
            .ok()?;
        let defined = module.define_function(id, &mut self.context);
        module.clear_context(&mut self.context);
        if let Err(error) = defined {
            debug_assert!(false, "{error:?}");
            return None;
        }
        module.finalize_definitions().ok()?;
        Some(module.get_finalized_function(id).addr())
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the program owns the compiler, and every machine that runs its code borrows the program.
            unsafe { module.free_memory() };
        }
    }
}
