//! Words and their addresses.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value as IrValue, types};
use pendula_codegen::loops::{Address, Local, Place, Slot, Value, Word};
use pendula_isa::Ty;
use pendula_isa::adjoint::{LANES, VALUE};

use super::function::{FunctionEmitter, type_in};

/// The number of the region of the words between the two halves of a run, behind those of the lanes.
const TURNED: usize = LANES;

impl FunctionEmitter<'_, '_> {
    pub(super) fn flags(&self, region: usize) -> MemFlagsData {
        MemFlagsData::trusted().with_alias_region(Some(self.regions[region]))
    }

    /// An address, in words.
    pub(super) fn address(&mut self, at: Address) -> IrValue {
        let mut sum = None;
        for local in at.locals.into_iter().flatten() {
            let value = self.local(VALUE, local);
            sum = Some(match sum {
                None => value,
                Some(sum) => self.b.ins().iadd(sum, value),
            });
        }
        match sum {
            None => self.word(at.offset.cast_unsigned()),
            Some(sum) if at.offset == 0 => sum,
            Some(sum) => self.b.ins().iadd_imm_s(sum, at.offset),
        }
    }

    /// The address of a word, behind that of the first, and an offset, in bytes.
    pub(super) fn pointer(&mut self, base: IrValue, at: Address) -> (IrValue, i32) {
        let bytes = at.offset.checked_mul(8).and_then(|bytes| i32::try_from(bytes).ok());
        let (rest, bytes) = match bytes {
            Some(bytes) => (Address { offset: 0, ..at }, bytes),
            None => (at, 0),
        };
        if rest == (Address { locals: [None; 2], offset: 0 }) {
            return (base, bytes);
        }
        let words = self.address(rest);
        let words = self.b.ins().ishl_imm_u(words, 3);
        (self.b.ins().iadd(base, words), bytes)
    }

    /// The address of a word of memory in a lane, or of the words between the halves of a run, in bytes.
    pub(super) fn pointer_to(&mut self, base: IrValue, at: Address) -> IrValue {
        let (pointer, offset) = self.pointer(base, at);
        if offset == 0 { pointer } else { self.b.ins().iadd_imm_s(pointer, i64::from(offset)) }
    }

    /// Where a lane of memory begins.
    pub(super) fn memory(&self, lane: usize) -> IrValue {
        self.mem[lane]
    }

    /// How a word has its place in code.
    pub(super) fn word_type(&self, Word { place, ty, lane }: Word) -> Type {
        match place {
            Place::Log(_) => types::F64,
            Place::Local(_) | Place::Memory(_) => type_in(lane, self.f.ty(place, ty)),
        }
    }

    /// Reads a word.
    pub(super) fn read(&mut self, word: Word) -> IrValue {
        let ty = self.word_type(word);
        match word.place {
            Place::Local(local) => self.local(word.lane, local),
            Place::Memory(at) => {
                let (pointer, offset) = self.pointer(self.mem[word.lane], at);
                let flags = self.flags(word.lane);
                self.b.ins().load(ty, flags, pointer, offset)
            }
            Place::Log(at) => {
                let (pointer, offset) = self.pointer(self.turned, at);
                let flags = self.flags(TURNED);
                self.b.ins().load(ty, flags, pointer, offset)
            }
        }
    }

    /// Writes a word, from a value of its type.
    pub(super) fn write(&mut self, word: Word, value: IrValue) {
        match word.place {
            Place::Local(local) => self.set_local(word.lane, local, value),
            Place::Memory(at) => {
                let (pointer, offset) = self.pointer(self.mem[word.lane], at);
                let flags = self.flags(word.lane);
                self.b.ins().store(flags, value, pointer, offset);
            }
            Place::Log(at) => {
                let (pointer, offset) = self.pointer(self.turned, at);
                let flags = self.flags(TURNED);
                self.b.ins().store(flags, value, pointer, offset);
            }
        }
    }

    /// An integer.
    pub(super) fn integer(&mut self, value: Value) -> IrValue {
        match value {
            Value::Const(k) => self.word(k),
            Value::Place(place) => {
                let word = Word { place, ty: Ty::Int, lane: VALUE };
                let value = self.read(word);
                self.bits(value)
            }
        }
    }

    /// The bits of a word.
    pub(super) fn bits(&mut self, value: IrValue) -> IrValue {
        match self.b.func.dfg.value_type(value) {
            types::F64 => self.b.ins().bitcast(types::I64, MemFlagsData::new(), value),
            _ => value,
        }
    }

    /// Whether an operand of a block has a word in a lane.
    pub(super) fn has_lane(&self, slot: Slot, lane: usize) -> bool {
        lane == VALUE
            || match slot {
                Slot::Place(place, ty) => self.lanes_of(self.f.ty(place, ty)).contains(&lane),
                Slot::Word(_) | Slot::Passed(..) => false,
            }
    }

    /// How an operand's word has its place in code.
    pub(super) fn slot_type(&self, slot: Slot, lane: usize) -> Type {
        match slot {
            Slot::Place(place, ty) => self.word_type(Word { place, ty, lane }),
            Slot::Word(word) => self.word_type(word),
            Slot::Passed(local, of) => type_in(of, self.f.local(local).ty),
        }
    }

    /// Reads an operand's word in a lane that it has.
    pub(super) fn read_slot(&mut self, slot: Slot, lane: usize) -> IrValue {
        match slot {
            Slot::Place(place, ty) => self.read(Word { place, ty, lane }),
            Slot::Word(word) => self.read(word),
            Slot::Passed(local, of) => {
                let (ty, at) = (self.slot_type(slot, lane), self.passed_at(local, of));
                self.b.ins().load(ty, MemFlagsData::trusted(), at, 0)
            }
        }
    }

    /// Writes an operand's word in a lane that it has.
    pub(super) fn write_slot(&mut self, slot: Slot, lane: usize, value: IrValue) {
        match slot {
            Slot::Place(place, ty) => self.write(Word { place, ty, lane }, value),
            Slot::Word(word) => self.write(word, value),
            Slot::Passed(local, of) => self.write_passed(local, of, value),
        }
    }

    pub(super) fn passed_at(&self, local: Local, lane: usize) -> IrValue {
        self.passed.get(&(local, lane)).copied().unwrap_or(self.frame)
    }

    pub(super) fn write_passed(&mut self, local: Local, lane: usize, value: IrValue) {
        let at = self.passed_at(local, lane);
        self.b.ins().store(MemFlagsData::trusted(), value, at, 0);
    }
}
