//! Any words as instructions: the first byte says how many words are the constant pool.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pendula_isa::encode::{Pool, decode, encode};
use pendula_isa::inst::Inst;
use pendula_isa::mnemonic::lookup;
use pendula_isa::Profile;
use pendula_isa::operand::Operand;
use pendula_isa::text::{NoNames, display};

fuzz_target!(|bytes: &[u8]| {
    let [count, bytes @ ..] = bytes else { return };
    let words: Vec<u64> = bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default())).collect();
    let (pool, words) = words.split_at(usize::from(*count).min(words.len()));
    for &word in words {
        let Ok(inst) = decode(word, pool, Profile::Native) else { continue };
        assert_eq!(inst.validate(Profile::Native), Ok(()));
        let mut own = Pool::default();
        let mut again = encode(&inst, &mut own);
        if let [constant] = own.words() {
            let index = word >> 36;
            assert_eq!(pool[index as usize], *constant);
            again |= index << 36;
        }
        assert_eq!(again, word, "{inst:?}");
        let operands: Vec<Operand> = inst.operands().map(|(_, operand)| operand).collect();
        let family = lookup(&inst.kind.mnemonic()).expect("a mnemonic for every instruction");
        assert_eq!(Inst::build(family, &operands), Ok(inst));
        assert_eq!(inst.inverse().inverse(), inst);
        assert!(!display(&inst, 0, &NoNames).is_empty());
    }
});
