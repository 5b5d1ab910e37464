//! Objects, the disassembler and the inverter, on random modules.

use pendula_asm::assemble::{Options, assemble};
use pendula_asm::check::check;
use pendula_asm::disasm::{disassemble, listing};
use pendula_asm::invert::invert;
use pendula_asm::object;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic;
use pendula_isa::module::{Flags, Loc, Module, Symbol, SymbolKind};
use pendula_isa::num::{Format, decimal};
use pendula_isa::operand::{Operand, OperandKind};
use pendula_isa::table::Flow;
use pendula_isa::types::{Cond, Profile, Reg, Ty};
use pendula_isa::verify::verify;
use proptest::prelude::*;

use super::modules::*;

/// Makes a valid module from bytes; shorter input gives a simpler module.
struct ModuleMaker<'a> {
    bytes: &'a [u8],
    at: usize,
    module: Module,
    calls: Vec<(usize, usize)>,
    families: Vec<Kind>,
}

impl ModuleMaker<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes.get(self.at - 1).copied().unwrap_or(0)
    }

    fn below(&mut self, n: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % n
    }

    fn word(&mut self) -> u64 {
        match self.byte() % 5 {
            0 => u64::from(self.byte()),
            1 => u64::from(self.byte()).wrapping_neg(),
            2 => f64::from(self.byte()).to_bits(),
            3 => {
                // Near a decimal with few digits, since its neighbours' texts are the hardest to distinguish from it.
                let short = format!("{}.{}", self.byte(), self.byte());
                let word = decimal::parse_q(&short, self.module.flags.format).expect("a number");
                word.wrapping_add(u64::from(self.byte() % 5)).wrapping_sub(2)
            }
            _ => (0..8).fold(0, |w, _| w << 8 | u64::from(self.byte())),
        }
    }

    fn reg(&mut self) -> Operand {
        r(self.byte() % 32)
    }

    fn mem(&mut self) -> Operand {
        let (base, index) = (Reg::new(self.byte() % 32).unwrap(), Reg::new(self.byte() % 4).unwrap());
        Operand::Mem { base, index, offset: i64::from(self.byte()) - 16 }
    }

    fn constant(&mut self, ty: Ty) -> Operand {
        Operand::Imm(self.word(), ty)
    }

    fn operand(&mut self, n: usize, family: Kind) -> Option<Operand> {
        let kind = family.operand_kind(n)?;
        let ty = family.constant_type(n);
        Some(match (kind, self.byte() % 3) {
            (OperandKind::Target | OperandKind::Source, _) => self.reg(),
            (OperandKind::Memory, _) | (OperandKind::TargetOrMemory, 0) => self.mem(),
            (OperandKind::Value, 0) if matches!(family, Kind::Accumulate { .. }) => self.mem(),
            (OperandKind::Value, 1) | (OperandKind::Tolerance | OperandKind::Constant, _) => self.constant(ty),
            (OperandKind::Amount, 0) => Operand::Imm(u64::from(self.byte() % 64), Ty::Int),
            (OperandKind::Factor, _) => Operand::Factor(u16::from(self.byte()) + 1),
            (OperandKind::Small, 0) => Operand::Small(i16::from(self.byte()) - 100),
            (OperandKind::Label, _) => to(0),
            (OperandKind::Text, _) => Operand::Text(u32::from(self.byte() % 2)),
            (OperandKind::TargetOrMemory | OperandKind::Value | OperandKind::Amount | OperandKind::Small, _) => {
                self.reg()
            }
        })
    }

    fn straight(&mut self) {
        for _ in 0..8 {
            let n = self.below(self.families.len());
            let family = self.families[n];
            let operands: Vec<Operand> = (0..4).map_while(|n| self.operand(n, family)).collect();
            if let Ok(inst) = Inst::build(family, &operands) {
                self.module.code.push(inst);
                return;
            }
        }
        self.module.code.push(i("inc", &[r(1)]));
    }

    fn half(&mut self, from: bool) -> usize {
        let conds: Vec<Cond> = [Cond::Always].into_iter().chain(Cond::TESTS).collect();
        let (cond, ty) = (conds[self.below(conds.len())], Ty::ALL[self.below(4)]);
        let name = if from { "from" } else { "jmp" };
        let ty = if cond == Cond::Always || !cond.accepts(ty) { Ty::Int } else { ty };
        let inst = match cond {
            Cond::Always => i(name, &[to(0)]),
            _ => {
                let a = self.reg();
                let b = if self.byte().is_multiple_of(2) {
                    self.reg()
                } else {
                    Operand::Small(i16::from(self.byte()) * 64 - 100)
                };
                i(&format!("{name}.{}{}", cond.name(), ty.suffix()), &[a, b, to(0)])
            }
        };
        self.module.code.push(inst);
        self.module.code.len() - 1
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..self.below(6) {
            if self.byte().is_multiple_of(5) {
                let name = format!("l{}", self.module.symbols.len());
                let mut label = symbol(&name, SymbolKind::Label, self.module.code.len() as u64);
                label.global = self.byte().is_multiple_of(4);
                self.module.symbols.push(label);
            }
            match self.byte() % 10 {
                0 if depth > 0 => {
                    let loops = self.byte().is_multiple_of(2);
                    let first = self.half(loops);
                    self.block(depth - 1);
                    let second = self.half(!loops);
                    let distance = (second - first) as i64;
                    self.module.code[first].imm = distance;
                    self.module.code[second].imm = -distance;
                }
                1 if depth > 0 => {
                    let n = self.module.spans.len();
                    let start = self.module.code.len() as u32;
                    let undo = self.byte().is_multiple_of(2);
                    let name = ["s", "t", "u", "v", "w"][depth % 5];
                    self.module.spans.push(span(name, undo, start, start));
                    self.block(depth - 1);
                    self.module.spans[n].end = self.module.code.len() as u32;
                }
                2 => {
                    let (name, callee) = (["call", "uncall", "gcall", "guncall"][self.below(4)], self.below(4));
                    self.calls.push((self.module.code.len(), callee));
                    self.module.code.push(i(name, &[to(0)]));
                }
                3 => {
                    let reg = r(self.byte() % 31);
                    self.module.code.push(i("callr", &[reg]));
                }
                _ => self.straight(),
            }
        }
    }
}

fn make(bytes: &[u8]) -> Module {
    let families = mnemonic::families()
        .filter(|k| k.flow() == Flow::Straight && k.belongs_to(Profile::Native) && !k.is_irreversible())
        .collect();
    let mut m = ModuleMaker { bytes, at: 0, module: Module::default(), calls: Vec::new(), families };
    m.module.texts = vec!["one".to_string(), "zwö\u{7}\n".to_string()];
    m.module.flags = Flags {
        format: Format::ALL[m.below(3)],
        irreversible: false,
        mem: if m.byte().is_multiple_of(2) { None } else { Some(m.word() >> 24 | 4096) },
        ..Flags::default()
    };
    for n in 0..m.below(5) {
        let value = m.module.data.len() as u64;
        let len = m.below(20) + 1;
        for _ in 0..len {
            let word = if m.byte().is_multiple_of(3) { m.word() } else { 0 };
            m.module.data.push(word);
        }
        let bits = m.byte();
        let kind = data(Ty::ALL[usize::from(bits % 4)], len as u64, bits & 4 != 0, bits & 8 != 0);
        let global = bits & 16 != 0;
        m.module.symbols.push(Symbol { global, ..symbol(&format!("d{n}"), kind, value) });
    }
    let mut procs = Vec::new();
    let main = m.below(5);
    for n in 0..5 {
        if n == main {
            m.module.code.push(i("start", &[]));
            m.block(3);
            m.module.code.push(i("finish", &[]));
            continue;
        }
        let start = m.module.code.len();
        m.module.code.push(i("proc", &[to(0)]));
        m.block(2);
        let len = (m.module.code.len() - start) as i64;
        m.module.code[start].imm = len;
        m.module.code.push(i("ret", &[to(-len)]));
        procs.push(start);
        let mut proc = symbol(&format!("f{n}"), SymbolKind::Proc, start as u64);
        proc.global = m.byte().is_multiple_of(2);
        proc.doc = ["", "What it\ndoes."][m.below(2)].to_string();
        m.module.symbols.push(proc);
    }
    for (at, callee) in std::mem::take(&mut m.calls) {
        m.module.code[at].imm = procs[callee] as i64 - at as i64;
    }
    if m.byte().is_multiple_of(2) {
        m.module.files = vec!["a.rasm".to_string(), "b.rasm".to_string()];
        let mut line = 1;
        for _ in 0..m.module.code.len() {
            line += u32::from(m.byte() % 4);
            let loc = Loc { file: u16::from(m.byte().is_multiple_of(16)), column: u16::from(m.byte()), line };
            m.module.locs.push(loc);
        }
    }
    m.module
}

fn bytes(n: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..n)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn write_then_read_is_the_identity(tape in bytes(1500)) {
        let module = make(&tape);
        prop_assert_eq!(verify(&module).1, vec![]);
        let file = object::write(&module).unwrap();
        prop_assert_eq!(object::read(&file), Ok(module));
    }

    #[test]
    fn disassembly_assembles_to_the_same(tape in bytes(1500)) {
        let module = make(&tape);
        let text = disassemble(&module);
        let assembly = assemble("module.rasm", text.clone(), &Options::default());
        let errors: Vec<_> = assembly.diagnostics.iter().map(|d| (&d.message, &d.primary)).collect();
        let Some(again) = assembly.module else { panic!("{errors:?}\n{text}") };
        // Texts are numbered in the order of their uses.
        let code = |m: &Module| m.code.iter().map(|i| if i.kind.mnemonic() == "print" { Inst { imm: 0, ..*i } } else { *i }).collect::<Vec<_>>();
        prop_assert_eq!(code(&again), code(&module));
        prop_assert_eq!(&again.data, &module.data);
        prop_assert_eq!(again.flags, module.flags);
        // Names that the disassembler made up are new.
        for symbol in &module.symbols {
            prop_assert_eq!(again.symbol(&symbol.name), Some(symbol));
        }
        let spans = |m: &Module| {
            let mut all: Vec<_> = m.spans.iter().map(|s| (s.start, s.end, s.undo, s.name.clone())).collect();
            all.sort();
            all
        };
        prop_assert_eq!(spans(&again), spans(&module));
        prop_assert_eq!(disassemble(&again), text);
    }

    #[test]
    fn inverting_twice_is_the_identity(tape in bytes(1500)) {
        let module = make(&tape);
        let inverse = invert(&module).unwrap();
        prop_assert_eq!(verify(&inverse).1, vec![]);
        prop_assert!(object::write(&inverse).is_ok());
        prop_assert_eq!(invert(&inverse), Ok(module));
    }

    #[test]
    fn random_bytes_do_no_harm(noise in bytes(600)) {
        let mut file = noise;
        prop_assert!(object::read(&file).is_err());
        let head = &object::write(&fib()).unwrap()[..64];
        file.splice(0..file.len().min(64), head.iter().copied());
        let _ = object::read(&file);
    }

    /// A damaged object is refused, or holds a valid module.
    #[test]
    fn damaged_objects_do_no_harm(tape in bytes(600), hits in proptest::collection::vec((any::<u32>(), any::<u8>()), 1..8), cut in any::<u16>()) {
        let mut file = object::write(&make(&tape)).unwrap();
        for (at, value) in hits {
            let len = file.len();
            file[at as usize % len] ^= value;
        }
        if cut.is_multiple_of(4) {
            file.truncate(usize::from(cut) % file.len());
        }
        if let Ok(module) = object::read(&file) {
            let again = object::write(&module).unwrap();
            let _ = (check(&module), disassemble(&module), invert(&module));
            prop_assert_eq!(object::read(&again), Ok(module));
        }
    }

    /// Nothing panics on invalid modules.
    #[test]
    fn broken_modules_do_no_harm(tape in bytes(600), hits in proptest::collection::vec((any::<u16>(), -9i64..9), 1..8)) {
        let mut module = make(&tape);
        for (n, by) in hits {
            let at = usize::from(n) % module.code.len();
            module.code[at].imm = if n.is_multiple_of(7) { 1 << 40 } else { module.code[at].imm + by };
            let at = usize::from(n) % module.symbols.len();
            module.symbols[at].value = module.symbols[at].value.wrapping_add_signed(by);
            if let Some(span) = module.spans.first_mut() {
                span.end = span.end.wrapping_add_signed(by as i32);
            }
        }
        let _ = (check(&module), disassemble(&module), invert(&module), object::write(&module));
        let _ = listing(&module, |_, line| (line.is_multiple_of(2)).then(String::new));
    }
}
