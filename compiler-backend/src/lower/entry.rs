//! The entry: the data segment with the program's arguments, and the code that passes them to the entry function.

use pendula_isa::Ty;
use pendula_isa::module::{Symbol, SymbolKind};
use pendula_isa::words::SparseWords;

use super::names::Names;
use super::{Argument, ArgumentKind, LowerError};
use crate::ir::{FunctionId, IrFunction, Mem, Operand, Program, Region, RegionInfo, Stmt};

/// The data segment.
#[derive(Debug, Default)]
pub(super) struct Data {
    pub(super) words: SparseWords,
    pub(super) symbols: Vec<Symbol>,
    /// The arguments of the call of the entry function.
    operands: Vec<Operand>,
    regions: Vec<RegionInfo>,
}

/// The most words of data that an object can hold.
const MAX_DATA: u64 = 1 << 27;

fn symbol(name: String, value: u64, kind: SymbolKind) -> Symbol {
    Symbol { name, kind, value, global: false, doc: String::new() }
}

impl Data {
    /// The words of all arguments, and those of the program's own stack before them.
    pub(super) fn new(program: &Program, arguments: &[Argument], names: &mut Names) -> Result<Data, LowerError> {
        let mut data = Data::default();
        let too_large = || LowerError::TooLarge("the data segment has more than 2^27 words");
        if program.stack > MAX_DATA {
            return Err(too_large());
        }
        // The names of arguments are fixed; other names must differ from them.
        for argument in arguments {
            if argument.is_in_data() && !names.exact(&argument.name) {
                return Err(LowerError::Name(argument.name.clone()));
            }
        }
        if program.stack > 0 {
            data.words.push_zeros(program.stack as usize);
            let kind = SymbolKind::Data { ty: Ty::Int, len: program.stack, import: false, export: false };
            data.symbols.push(symbol(names.like("stack"), 0, kind));
        }
        for argument in arguments {
            let at = data.words.len() as u64;
            let (ty, words) = match &argument.kind {
                ArgumentKind::Word { ty, value } => {
                    let region = Region(data.regions.len() as u32);
                    data.regions.push(RegionInfo { name: argument.name.clone(), ty: *ty });
                    let mem = Mem { base: None, index: None, offset: at.cast_signed(), region };
                    data.operands.push(Operand::Mem(mem));
                    (*ty, std::slice::from_ref(value))
                }
                ArgumentKind::Array { ty, words, lens } => {
                    data.operands.push(Operand::Const(at));
                    data.operands.extend(lens.iter().map(|n| Operand::Const(n.cast_unsigned())));
                    (*ty, words.as_slice())
                }
                ArgumentKind::Constant(c) => {
                    data.operands.push(Operand::Const(*c));
                    continue;
                }
            };
            data.words.extend(words.iter().copied());
            if data.words.len() as u64 > MAX_DATA {
                return Err(too_large());
            }
            let kind = SymbolKind::Data { ty, len: words.len() as u64, import: true, export: true };
            data.symbols.push(symbol(argument.name.clone(), at, kind));
        }
        Ok(data)
    }

    /// The function that calls the entry, to be emitted between `start` and `finish`.
    pub(super) fn main(&self, program: &Program, entry: FunctionId) -> Result<IrFunction, LowerError> {
        let Some(callee) = program.functions.get(entry.0 as usize) else {
            return Err(LowerError::Internal("the entry is not a function".into()));
        };
        if callee.params.len() != self.operands.len() {
            return Err(LowerError::Arguments {
                function: callee.name.clone(),
                expected: callee.params.len(),
                found: self.operands.len(),
            });
        }
        let call = Stmt::Call { func: entry, inverse: false, args: self.operands.clone() };
        let (regions, body) = (self.regions.clone(), vec![call.at(callee.loc)]);
        Ok(IrFunction { regions, body, ..IrFunction::new("main", callee.loc) })
    }
}
