//! Emits functions: what they are given, what is local to them, words and addresses.

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AliasRegion, AliasRegionData, Block, InstBuilder, MemFlagsData, SigRef, StackSlot, StackSlotData, StackSlotKind,
    Type, Value as IrValue, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::Module as _;
use pendula_codegen::loops::{self, Function, Local, Param, Passed, Scope, flows_forward, lane_type, lanes_of};
use pendula_isa::Ty;
use pendula_isa::adjoint::{AdMode, LANES, VALUE};

use super::helpers::Helper;
use super::kernels::Hoisted;
use super::{Shared, signature};

/// What all functions of a run share, in bytes: its fields, and its size.
pub(super) struct FrameLayout {
    /// The lowest address of the host's stack at which calls may begin.
    pub(super) limit: i32,
    /// Where the run tells where it is.
    pub(super) watch: i32,
    /// What the last helper returned.
    pub(super) answer: i32,
    pub(super) size: u32,
}

/// Where a run tells that its calls were too deep for the stack: the seventh word of what it tells where it is.
const DEEP: i32 = 48;

pub(super) const FRAME: FrameLayout = FrameLayout { limit: 0, watch: 8, answer: 16, size: 24 };

/// How a word of a type has its place in code.
pub(super) fn type_of(ty: Ty) -> Type {
    if ty == Ty::F { types::F64 } else { types::I64 }
}

/// How the word that a word of a type has in a lane does.
pub(super) fn type_in(lane: usize, ty: Ty) -> Type {
    type_of(lane_type(lane, ty))
}

/// The parameters of a function.
pub(super) fn parameters(f: &Function) -> Vec<Type> {
    // The frame, the memory, its lanes, how long it is, where it is free.
    let mut out = vec![types::I64; 4 + f.ad_mode.lanes().len()];
    if f.has_room() {
        out.extend([types::I64; 3]);
    }
    for Param { local, passed } in &f.params {
        let ty = f.local(*local).ty;
        match passed {
            Passed::Address => out.push(types::I64),
            Passed::Value | Passed::Copy(_) => out.push(type_of(ty)),
        }
        if matches!(passed, Passed::Address) && f.turns {
            out.push(types::I64);
        }
        out.extend(f.lanes_of(ty).iter().map(|_| types::I64));
    }
    out
}

/// Emits one function.
pub(super) struct FunctionEmitter<'a, 'f> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) f: &'a Function,
    module: &'a mut JITModule,
    pub(super) b: FunctionBuilder<'f>,
    /// The lanes of the statements that are being emitted.
    pub(super) ad_mode: AdMode,
    variables: HashMap<(Local, usize), Variable>,
    /// What has been noted: `bad` is not zero then, `odd` is negative.
    bad: Variable,
    odd: Variable,
    /// Where memory is free, and how many words of logs are used.
    pub(super) top: Variable,
    pub(super) logged: Variable,
    pub(super) frame: IrValue,
    pub(super) mem: [IrValue; LANES],
    pub(super) len: IrValue,
    /// The words between the two halves of the run, and how many there are.
    pub(super) turned: IrValue,
    pub(super) room: IrValue,
    /// Where the caller has the words of parameters, by lane.
    pub(super) passed: HashMap<(Local, usize), IrValue>,
    /// Where it wants the values of parameters where the run turns round.
    pub(super) handed: HashMap<Local, IrValue>,
    /// The block that gives up.
    give_up: Block,
    /// What follows the loops that statements can leave.
    pub(super) after_loops: Vec<Block>,
    /// Where local variables are while others have their addresses.
    spilled: HashMap<(Local, usize), StackSlot>,
    /// Words that nobody reads.
    nowhere: Vec<StackSlot>,
    /// Where kernels write their results.
    out: Option<StackSlot>,
    /// Results of kernels that do not change in the loops around.
    pub(super) hoisted: Hoisted,
    pub(super) regions: [AliasRegion; LANES + 1],
    signatures: HashMap<usize, SigRef>,
}

/// Emits a function.
pub(super) fn emit(
    shared: &Shared<'_>,
    f: &Function,
    module: &mut JITModule,
    func: &mut cranelift_codegen::ir::Function,
    context: &mut FunctionBuilderContext,
) {
    let config = module.target_config();
    let regions = ["memory", "lane 1", "lane 2", "lane 3", "turned"];
    let regions = std::array::from_fn(|n| {
        func.dfg.alias_regions.insert(AliasRegionData { user_id: n as u32, description: regions[n].into() })
    });
    let mut b = FunctionBuilder::new(func, context);
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    b.seal_block(start);
    let params = b.block_params(start).to_vec();
    let give_up = b.create_block();
    b.set_cold_block(give_up);
    let [bad, odd, top, logged] = std::array::from_fn(|_| b.declare_var(types::I64));
    let mut params = params.into_iter();
    let mut next = || params.next().unwrap_or(IrValue::from_u32(0));
    let frame = next();
    let mut mem = [next(); LANES];
    f.ad_mode.lanes().iter().for_each(|lane| mem[*lane] = next());
    let len = next();
    b.def_var(top, next());
    let mut turned = frame;
    let mut room = frame;
    if f.has_room() {
        turned = next();
        b.def_var(logged, next());
        room = next();
    }
    let rest: Vec<IrValue> = params.collect();
    let mut e = FunctionEmitter {
        shared,
        f,
        module,
        b,
        ad_mode: f.ad_mode,
        variables: HashMap::new(),
        bad,
        odd,
        top,
        logged,
        frame,
        mem,
        len,
        turned,
        room,
        passed: HashMap::new(),
        handed: HashMap::new(),
        give_up,
        after_loops: Vec::new(),
        spilled: HashMap::new(),
        nowhere: Vec::new(),
        out: None,
        hoisted: Hoisted::new(),
        regions,
        signatures: HashMap::new(),
    };
    let before = e.enter(rest);
    e.statements(&f.body);
    e.exit(&before);
    let noted = e.noted();
    let noted = e.b.ins().uextend(types::I64, noted);
    e.b.ins().return_(&[noted]);
    e.b.switch_to_block(give_up);
    let one = e.word(1);
    e.b.ins().return_(&[one]);
    e.b.seal_all_blocks();
    e.b.finalize(config);
}

impl FunctionEmitter<'_, '_> {
    /// What is done at the beginning; the values of parameters that are passed as copies.
    fn enter(&mut self, params: Vec<IrValue>) -> HashMap<Local, IrValue> {
        let mut before = HashMap::new();
        if self.f.checks_stack {
            let here = self.b.ins().get_stack_pointer(types::I64);
            let limit = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.frame, FRAME.limit);
            let deep = self.b.ins().icmp(IntCC::UnsignedLessThan, here, limit);
            // It tells of that.
            let (watch, flags) = (self.watch(), MemFlagsData::trusted());
            let (was, is) = (self.b.ins().load(types::I64, flags, watch, DEEP), self.b.ins().uextend(types::I64, deep));
            let tells = self.b.ins().bor(was, is);
            self.b.ins().store(flags, tells, watch, DEEP);
            self.give_up_if(deep);
        }
        let zero = self.word(0);
        for variable in [self.bad, self.odd] {
            self.b.def_var(variable, zero);
        }
        for (n, info) in self.f.locals.iter().enumerate().filter(|(_, info)| info.scope == Scope::Function) {
            self.clear(Local(n as u32), info.ty, self.f.ad_mode);
        }
        let mut params = params.into_iter();
        for Param { local, passed } in &self.f.params {
            let ty = self.f.local(*local).ty;
            let Some(given) = params.next() else { return before };
            match passed {
                Passed::Address => {
                    self.passed.insert((*local, VALUE), given);
                    let value = self.b.ins().load(type_of(ty), MemFlagsData::trusted(), given, 0);
                    self.set_local(VALUE, *local, value);
                }
                Passed::Value => self.set_local(VALUE, *local, given),
                Passed::Copy(_) => {
                    self.set_local(VALUE, *local, given);
                    before.insert(*local, given);
                }
            }
            if matches!(passed, Passed::Address)
                && self.f.turns
                && let Some(to) = params.next()
            {
                self.handed.insert(*local, to);
            }
            for &lane in self.f.lanes_of(ty) {
                let Some(at) = params.next() else { return before };
                self.passed.insert((*local, lane), at);
                let of = type_in(lane, ty);
                let zero = matches!(passed, Passed::Copy(_)) && !flows_forward(self.f.ad_mode, lane);
                let value = if zero { self.zero(of) } else { self.b.ins().load(of, MemFlagsData::trusted(), at, 0) };
                self.set_local(lane, *local, value);
            }
        }
        before
    }

    /// What is done with parameters at the end.
    fn exit(&mut self, before: &HashMap<Local, IrValue>) {
        let f = self.f;
        for Param { local, passed } in &f.params {
            let ty = f.local(*local).ty;
            let now = self.local(VALUE, *local);
            match passed {
                Passed::Address => self.write_passed(*local, VALUE, now),
                Passed::Copy(_) => {
                    if let Some(before) = before.get(local) {
                        if ty == Ty::F {
                            let rest = self.b.ins().fsub(now, *before);
                            self.note_not_near_zero(rest);
                        } else {
                            let differs = self.b.ins().icmp(IntCC::NotEqual, now, *before);
                            self.note(differs);
                        }
                    }
                }
                Passed::Value => {}
            }
            for &lane in f.lanes_of(ty) {
                match passed {
                    Passed::Address | Passed::Value => {
                        let now = self.local(lane, *local);
                        self.write_passed(*local, lane, now);
                    }
                    Passed::Copy(sums) => {
                        for (_, sum) in sums.iter().filter(|(of, _)| *of == lane) {
                            self.block(sum, None);
                        }
                    }
                }
            }
        }
    }

    /// A word that is a constant.
    pub(super) fn word(&mut self, k: u64) -> IrValue {
        self.b.ins().iconst(types::I64, k.cast_signed())
    }

    /// What is zero.
    pub(super) fn zero(&mut self, ty: Type) -> IrValue {
        if ty == types::F64 { self.b.ins().f64const(0.0) } else { self.b.ins().iconst(ty, 0) }
    }

    /// Sets the words of a local variable to zero, in all lanes of an AD mode.
    pub(super) fn clear(&mut self, local: Local, ty: Ty, ad_mode: AdMode) {
        for &lane in std::iter::once(&VALUE).chain(lanes_of(ad_mode, ty)) {
            let zero = self.zero(type_in(lane, ty));
            self.set_local(lane, local, zero);
        }
    }

    /// The lanes beside values in which a word of a type has words.
    pub(super) fn lanes_of(&self, ty: Ty) -> &'static [usize] {
        lanes_of(self.ad_mode, ty)
    }

    fn variable(&mut self, lane: usize, local: Local) -> Variable {
        let ty = type_in(lane, self.f.local(local).ty);
        let b = &mut self.b;
        *self.variables.entry((local, lane)).or_insert_with(|| b.declare_var(ty))
    }

    /// A local variable's word in a lane.
    pub(super) fn local(&mut self, lane: usize, local: Local) -> IrValue {
        let variable = self.variable(lane, local);
        self.b.use_var(variable)
    }

    pub(super) fn set_local(&mut self, lane: usize, local: Local, value: IrValue) {
        let variable = self.variable(lane, local);
        self.b.def_var(variable, value);
    }

    /// Where a local variable's word is while others have its address.
    pub(super) fn spill(&mut self, local: Local, lane: usize) -> StackSlot {
        let slot = match self.spilled.get(&(local, lane)) {
            Some(slot) => *slot,
            None => {
                let slot = self.slot(8);
                self.spilled.insert((local, lane), slot);
                slot
            }
        };
        let value = self.local(lane, local);
        self.b.ins().stack_store(types::I64, value, slot, 0);
        slot
    }

    /// The `n`-th word that nobody reads.
    pub(super) fn nowhere(&mut self, n: usize) -> StackSlot {
        while self.nowhere.len() <= n {
            let slot = self.slot(8);
            self.nowhere.push(slot);
        }
        self.nowhere[n]
    }

    /// A place on the host's stack, of so many bytes.
    pub(super) fn slot(&mut self, bytes: u32) -> StackSlot {
        self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3))
    }

    /// Where kernels write their results.
    pub(super) fn out(&mut self) -> StackSlot {
        match self.out {
            Some(slot) => slot,
            None => {
                let slot = self.slot(16);
                *self.out.insert(slot)
            }
        }
    }

    /// Gives up if a condition holds, which is seldom.
    pub(super) fn give_up_if(&mut self, condition: IrValue) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, self.give_up, &[], on, &[]);
        self.go_on(on);
    }

    /// Gives up unless a condition holds.
    pub(super) fn give_up_unless(&mut self, condition: IrValue) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], self.give_up, &[]);
        self.go_on(on);
    }

    /// Gives up if a condition holds, and goes to a block otherwise.
    pub(super) fn give_up_to(&mut self, condition: IrValue, on: Block) {
        self.b.ins().brif(condition, self.give_up, &[], on, &[]);
    }

    /// Gives up.
    pub(super) fn give_up(&mut self) {
        self.b.ins().jump(self.give_up, &[]);
    }

    /// Writes a value to an address.
    pub(super) fn store(&mut self, value: IrValue, to: IrValue) {
        self.b.ins().store(MemFlagsData::trusted(), value, to, 0);
    }

    pub(super) fn load_word(&mut self, from: IrValue) -> IrValue {
        self.b.ins().load(types::I64, MemFlagsData::trusted(), from, 0)
    }

    /// Whether somebody asks where the run is. It is read anew each time.
    pub(super) fn load_asked(&mut self, watch: IrValue) -> IrValue {
        self.b.ins().atomic_load(types::I64, MemFlagsData::trusted(), watch)
    }

    /// Goes on in a block to which nothing leads any more.
    pub(super) fn go_on(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    /// Notes that a condition holds.
    pub(super) fn note(&mut self, condition: IrValue) {
        let condition = match self.b.func.dfg.value_type(condition) {
            types::I64 => condition,
            _ => self.b.ins().uextend(types::I64, condition),
        };
        let bad = self.b.use_var(self.bad);
        let bad = self.b.ins().bor(bad, condition);
        self.b.def_var(self.bad, bad);
    }

    /// Notes that a word is negative.
    fn note_negative(&mut self, word: IrValue) {
        let odd = self.b.use_var(self.odd);
        let odd = self.b.ins().bor(odd, word);
        self.b.def_var(self.odd, odd);
    }

    /// Notes that a double is not finite: where its exponent is all ones, one more carries into the sign.
    pub(super) fn note_not_finite(&mut self, x: IrValue) {
        let bits = self.bits(x);
        let exponent = self.word(0x7ff0_0000_0000_0000);
        let exponent = self.b.ins().band(bits, exponent);
        let one = self.word(0x0010_0000_0000_0000);
        let word = self.b.ins().iadd(exponent, one);
        self.note_negative(word);
    }

    /// Notes that the magnitude of a double is above that of these bits, or that it is no number: without signs, doubles are in the order of their bits.
    pub(super) fn note_beyond(&mut self, x: IrValue, limit: IrValue) {
        let bits = self.bits(x);
        let all = self.word(u64::MAX >> 1);
        let magnitude = self.b.ins().band(bits, all);
        let word = self.b.ins().isub(limit, magnitude);
        self.note_negative(word);
    }

    /// Notes that a double is to be zero and is not close to it.
    pub(super) fn note_not_near_zero(&mut self, x: IrValue) {
        let limit = self.word(loops::NEAR_ZERO.to_bits());
        self.note_beyond(x, limit);
    }

    /// Whether something has been noted.
    pub(super) fn noted(&mut self) -> IrValue {
        let (bad, odd) = (self.b.use_var(self.bad), self.b.use_var(self.odd));
        let bad = self.b.ins().icmp_imm_s(IntCC::NotEqual, bad, 0);
        let odd = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, odd, 0);
        self.b.ins().bor(bad, odd)
    }

    /// Calls a function of the host at an address, which returns a word.
    pub(super) fn call_at(&mut self, address: usize, arguments: &[IrValue]) -> IrValue {
        let convention = self.shared.convention;
        let b = &mut self.b;
        let signature = *self
            .signatures
            .entry(arguments.len())
            .or_insert_with(|| b.import_signature(signature(convention, vec![types::I64; arguments.len()])));
        let address = self.word(address as u64);
        let call = self.b.ins().call_indirect(signature, address, arguments);
        self.b.inst_results(call)[0]
    }

    /// Calls a helper. No register is changed: loops around keep what they have there.
    pub(super) fn help(&mut self, helper: Helper, arguments: &[IrValue]) -> IrValue {
        self.shared.helped.borrow_mut().insert(helper);
        let callee = self.module.declare_func_in_func(self.shared.helpers[helper as usize], self.b.func);
        let all: Vec<IrValue> = std::iter::once(self.frame).chain(arguments.iter().copied()).collect();
        self.b.ins().call(callee, &all);
        self.b.ins().load(types::I64, MemFlagsData::trusted(), self.frame, FRAME.answer)
    }

    /// Calls a function of the program.
    pub(super) fn call_function(&mut self, function: loops::FunctionId, arguments: &[IrValue]) -> IrValue {
        let callee = self.module.declare_func_in_func(self.shared.functions[function.0 as usize], self.b.func);
        let call = self.b.ins().call(callee, arguments);
        self.b.inst_results(call)[0]
    }

    /// Where the run tells where it is.
    pub(super) fn watch(&mut self) -> IrValue {
        let flags = MemFlagsData::trusted().with_readonly().with_can_move();
        self.b.ins().load(types::I64, flags, self.frame, FRAME.watch)
    }
}
