//! Code for whole runs by Cranelift: programs in the [loop form](pendula_codegen::loops), as functions of the host.
//!
//! `function` emits functions, `statement`, `call`, `count`, `blocks` and `products` what is in them, `words` reads and writes words, `block` emits operations and
//! `kernels` calls of kernels; `helpers` are what the code calls beside them. It computes
//! what C code for whole runs does ([`pendula_codegen::c`]), to the last bit, and takes milliseconds to make. It has no vectors, but calls what makes
//! [products of matrices](pendula_isa::num::products), and elementary functions are the machine's.
//!
//! The entry is called as that of C code ([`Code`]). Other functions are given a [`Frame`](function::FRAME) first, then the memory, the lanes that they
//! compute, their length, where memory is free, in functions that have room for logs the words between the two halves of the run, how many of
//! those for logs are used and how many there are, and their parameters. They return 0, or 1 if they give up.

#![expect(unsafe_code, reason = "the memory of compiled code is freed here, and what the code calls takes pointers")]

mod block;
mod blocks;
mod call;
mod count;
mod function;
mod helpers;
mod kernels;
mod products;
mod statement;
mod words;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, ModuleError, default_libcall_names};
use pendula_codegen::loops::{Entry, Program};
use pendula_codegen::whole::Code;

use super::clif::target;
use function::{FRAME, parameters};
use helpers::Helper;

/// Why there is no such code.
#[derive(Debug, thiserror::Error)]
pub enum WholeCodeError {
    /// Cranelift does not support the host.
    #[error("Cranelift does not support this host")]
    Host,
    /// The program has words that are vectors.
    #[error("its tangents are vectors")]
    Vectors,
    /// There is no entry.
    #[error("it has no entry")]
    NoEntry,
    /// Cranelift cannot compile it.
    #[error("Cranelift: {0}")]
    Cranelift(#[from] Box<ModuleError>),
}

/// Owns compiled code.
struct Owner(Mutex<Option<JITModule>>);

impl Drop for Owner {
    fn drop(&mut self) {
        let module = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(module) = module {
            // SAFETY: the code owns this, and nothing runs it any more.
            unsafe { module.free_memory() };
        }
    }
}

/// What functions share.
struct Shared<'p> {
    program: &'p Program,
    functions: Vec<FuncId>,
    /// Functions that call [helpers](Helper) and change no register, by helper.
    helpers: Vec<FuncId>,
    /// The helpers that are called.
    helped: RefCell<BTreeSet<Helper>>,
    convention: CallConv,
}

/// Compiles a program; its first entry is the one that is run. It makes no strips of turns.
///
/// # Errors
/// Cranelift does not support the host, or the program.
pub fn compile_whole(program: &Program) -> Result<Code, WholeCodeError> {
    if program.has_vector_tangents {
        return Err(WholeCodeError::Vectors);
    }
    let Some(entry) = program.entries.first() else { return Err(WholeCodeError::NoEntry) };
    let Some(target) = target() else { return Err(WholeCodeError::Host) };
    let mut module = JITModule::new(JITBuilder::with_isa(target, default_libcall_names()));
    let compiled = compile(&mut module, program, entry);
    let owner = Owner(Mutex::new(Some(module)));
    let address = compiled?;
    // SAFETY: the code at this address has the signature of entries, and lives as long as its owner.
    Ok(unsafe { Code::made(address, Box::new(owner)) })
}

fn compile(module: &mut JITModule, program: &Program, entry: &Entry) -> Result<usize, WholeCodeError> {
    let convention = module.target_config().default_call_conv;
    let mut functions = Vec::new();
    for (n, f) in program.functions.iter().enumerate() {
        let signature = signature(convention, parameters(f));
        let id = module.declare_function(&format!("function{n}"), Linkage::Local, &signature);
        functions.push(id.map_err(Box::new)?);
    }
    let mut helpers = Vec::new();
    for helper in Helper::ALL {
        let id = module.declare_function(&format!("{helper:?}"), Linkage::Local, &helper_signature(helper));
        helpers.push(id.map_err(Box::new)?);
    }
    let shared = Shared { program, functions, helpers, helped: RefCell::default(), convention };
    let mut context = module.make_context();
    let mut builder = FunctionBuilderContext::new();
    for (f, id) in program.functions.iter().zip(&shared.functions) {
        context.func.signature = signature(convention, parameters(f));
        function::emit(&shared, f, module, &mut context.func, &mut builder);
        let is_shown = tracing::enabled!(tracing::Level::TRACE);
        context.set_disasm(is_shown);
        module.define_function(*id, &mut context).map_err(Box::new)?;
        if is_shown {
            let code = context.compiled_code().and_then(|code| code.vcode.as_deref()).unwrap_or_default();
            tracing::trace!("`{}` by Cranelift:\n{}\n{code}", f.name, context.func.display());
        }
        module.clear_context(&mut context);
    }
    for helper in shared.helped.take() {
        context.func.signature = helper_signature(helper);
        emit_helper(helper, convention, module, FunctionBuilder::new(&mut context.func, &mut builder));
        module.define_function(shared.helpers[helper as usize], &mut context).map_err(Box::new)?;
        module.clear_context(&mut context);
    }
    context.func.signature = signature(convention, vec![types::I64; 8]);
    emit_entry(&shared, entry, module, FunctionBuilder::new(&mut context.func, &mut builder));
    let id = module.declare_function("entry", Linkage::Export, &context.func.signature).map_err(Box::new)?;
    module.define_function(id, &mut context).map_err(Box::new)?;
    module.clear_context(&mut context);
    module.finalize_definitions().map_err(Box::new)?;
    Ok(module.get_finalized_function(id).addr())
}

/// The signature of functions with these parameters, which return a word.
fn signature(convention: CallConv, params: Vec<cranelift_codegen::ir::Type>) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(params.into_iter().map(AbiParam::new));
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// The signature of the function that calls a helper: it is given the frame, and the helper's words. It returns nothing.
fn helper_signature(helper: Helper) -> Signature {
    let (_, words) = helper.function();
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params.extend(std::iter::repeat_n(AbiParam::new(types::I64), 1 + words));
    signature
}

/// Emits the function that calls a helper, and writes what it returns to the frame.
fn emit_helper(helper: Helper, convention: CallConv, module: &JITModule, mut b: FunctionBuilder<'_>) {
    let (address, words) = helper.function();
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    b.seal_block(start);
    let params = b.block_params(start).to_vec();
    let of_helper = b.import_signature(signature(convention, vec![types::I64; words]));
    let callee = b.ins().iconst(types::I64, (address as u64).cast_signed());
    let call = b.ins().call_indirect(of_helper, callee, &params[1..]);
    let answer = b.inst_results(call)[0];
    b.ins().store(MemFlagsData::trusted(), answer, params[0], FRAME.answer);
    b.ins().return_(&[]);
    b.finalize(module.target_config());
}

/// Emits what is called from outside.
fn emit_entry(shared: &Shared<'_>, entry: &Entry, module: &mut JITModule, mut b: FunctionBuilder<'_>) {
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    b.seal_block(start);
    let [mem, lanes, len, top, turned, room, stack, watch] = std::array::from_fn(|n| b.block_params(start)[n]);
    let flags = MemFlagsData::trusted();
    let slot = b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, FRAME.size, 3));
    let frame = b.ins().stack_addr(types::I64, slot, 0);
    let here = b.ins().get_stack_pointer(types::I64);
    let limit = b.ins().isub(here, stack);
    b.ins().store(flags, limit, frame, FRAME.limit);
    b.ins().store(flags, watch, frame, FRAME.watch);
    let function = &shared.program.functions[entry.function.0 as usize];
    let mut arguments = vec![frame, mem];
    for lane in function.ad_mode.lanes() {
        arguments.push(b.ins().load(types::I64, flags, lanes, 8 * (*lane as i32 - 1)));
    }
    arguments.extend([len, top]);
    if shared.program.keeps && function.has_room() {
        let offset = b.ins().ishl_imm_u(room, 3);
        let end = b.ins().iadd(turned, offset);
        let enough = b.ins().iadd_imm_s(top, 2);
        let too_little = b.ins().icmp(IntCC::UnsignedLessThan, room, enough);
        let (ask, on) = (b.create_block(), b.create_block());
        b.ins().brif(too_little, ask, &[], on, &[]);
        b.set_cold_block(ask);
        b.switch_to_block(ask);
        b.seal_block(ask);
        b.ins().store(flags, enough, end, 0);
        let one = b.ins().iconst(types::I64, 1);
        b.ins().return_(&[one]);
        b.switch_to_block(on);
        b.seal_block(on);
        let kept = b.ins().iadd_imm_s(room, -2);
        b.ins().store(flags, kept, end, 8 * statement::KEPT as i32);
    }
    if function.has_room() {
        arguments.extend([turned, top, room]);
    }
    let callee = module.declare_func_in_func(shared.functions[entry.function.0 as usize], b.func);
    let call = b.ins().call(callee, &arguments);
    let status = b.inst_results(call)[0];
    b.ins().return_(&[status]);
    b.finalize(module.target_config());
}
